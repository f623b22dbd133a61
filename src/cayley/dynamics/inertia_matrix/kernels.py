"""The kernels of the inertia matrix of a mechanism and of its inverse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.dynamics.forward.regular_inertia import always_regular, guarded
from cayley.dynamics.forward.singular_inertia import explanation
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.methods import DEFAULT, METHODS
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.methods import Alternatives
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.model.tree import Tree


def inertia_matrix_kernel(tree: Tree) -> Alternatives:
    """`inertia_matrix(q)` (..., nv, nv) by the default method, with all others by name."""
    made = _by_method(tree, DEFAULT, Alternatives)
    made.offering(tree, METHODS, lambda method: _by_method(tree, method, Kernel))
    return made


def inverse_inertia_matrix_kernel(tree: Tree) -> Kernel:
    """`inverse_inertia_matrix(q)` (..., nv, nv)."""
    links = minimal_links(tree)
    rotors = np.diag(rotor_inertias(tree))

    def inverse_inertia_matrix(q: Any) -> Any:
        return solve(inertia_matrix(links, q) + rotors, np.eye(tree.nv))

    described(tree, inverse_inertia_matrix, "The inverse of the mass matrix (inertia matrix) M(q).")
    return kernel(sized(tree, "(q)->(v,v)"), name="inverse_inertia_matrix", inputs=("q",), units=units_of(tree),
                  explain=explanation(tree))(guarded(tree, inverse_inertia_matrix, [(tree.nv, tree.nv)]))


def _by_method(tree: Tree, method: str, kind: Any) -> Any:
    text = METHODS[method].text(tree, "inertia_matrix")
    rotors = np.diag(rotor_inertias(tree))
    options = {"regular": always_regular(replace(tree, included=frozenset()))} if METHODS[method].takes(
        "regular", "inertia_matrix") else {}

    def inertia_matrix(q: Any) -> Any:
        return text(q, **options) + rotors

    described(tree, inertia_matrix, "The mass matrix (inertia matrix) M(q).", f"Method: {method}.")
    return kernel(sized(tree, "(q)->(v,v)"), name="inertia_matrix", outputs=("M", ), units=units_of(tree),
                  kind=kind)(inertia_matrix)
