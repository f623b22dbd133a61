"""The kernel of the inverse of the inertia matrix of a mechanism, where it has one."""

from __future__ import annotations

from typing import cast

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.dynamics.forward.regular_inertia import guarded
from cayley.dynamics.forward.singular_inertia import explanation
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.tree import Tree


@of_a_mechanism
def inverse_inertia_matrix_kernel(tree: Tree) -> MechanismKernel:
    """`inverse_inertia_matrix(q)` (..., nv, nv)."""
    if tree.is_constrained:
        from cayley.dynamics.forward.constrained import compliance_kernel  # which few mechanisms need
        return compliance_kernel(tree)
    links = minimal_links(tree)
    rotors = np.diag(rotor_inertias(tree))

    def inverse_inertia_matrix(q: Array) -> Array:
        return solve(inertia_matrix(links, q) + rotors, np.eye(tree.nv))

    described(tree, inverse_inertia_matrix, "The inverse of the mass matrix (inertia matrix) M(q).")
    made = kernel(sized(tree, "(q)->(v,v)"), name="inverse_inertia_matrix", inputs=("q",), units=units_of(tree),
                  kind=MechanismKernel, explain=explanation(tree))(
                      guarded(tree, inverse_inertia_matrix, [(tree.nv, tree.nv)]))
    return cast(MechanismKernel, made)
