"""The kernel of the inertia matrix of a mechanism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.methods import DEFAULT, METHODS
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.methods import KernelWithMethods, MethodKernel
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import Made, described, of_a_mechanism, units_of
from cayley.model.tree import Tree


def inertia_matrix_kernel(tree: Tree) -> KernelWithMethods:
    """`inertia_matrix(q)` (..., nv, nv) by the default method, with all others by name."""
    default = _by_method(tree, DEFAULT, KernelWithMethods)
    return default.with_methods(tree, METHODS, lambda method: _by_method(tree, method, MethodKernel),
                                made_by=inertia_matrix_kernel)


@of_a_mechanism
def _by_method(tree: Tree, method: str, kind: type[Made]) -> Made:
    free = tree.spanning_tree()
    text = METHODS[method].text(free, "inertia_matrix")
    rotors = np.diag(rotor_inertias(free))
    options = {"regular": always_regular(replace(free, included=frozenset()))} if METHODS[method].takes(
        "regular", "inertia_matrix") else {}

    def inertia_matrix(q: Array) -> Array:
        return text(q, **options) + rotors

    described(tree, inertia_matrix, "The mass matrix (inertia matrix) M(q).", f"Method: {method}.")
    return kernel(sized(tree, "(q)->(v,v)"), name="inertia_matrix", outputs=("M", ), units=units_of(tree),
                  kind=kind)(inertia_matrix)
