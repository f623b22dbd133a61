"""Forward dynamics of mechanisms with constraints: loops, rods, couplings, mimic joints and prescribed motions.

    M qdd = tau - bias + A^T forces,   A qdd + drift = 0
M and the bias forces are those of the spanning tree. Rows that are redundant by structure are left out; where what is
redundant moves with the mechanism, the forces are those of least norm. Where the constraints depend on each other only
at a configuration (a dead centre that bifurcates), accelerations do not follow from forces: they are NaN, and a call
for one state raises `SingularityError` with the names of the constraints.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.definite import is_definite, only_where
from cayley.compiler.kernel import kernel
from cayley.compiler.singular_vectors import LARGEST
from cayley.compiler.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.dynamics.forward.regular_inertia import guarded
from cayley.dynamics.forward.singular_inertia import explanation
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.mechanics.constrained import (
    ConstrainedMotion,
    augmented,
    multipliers,
    null_space_of_rank,
    projection,
)
from cayley.dynamics.rigid_links.drives import coulomb_frictions, friction_forces, rotor_inertias, rotor_velocity_forces
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.methods import KernelWithMethods, Method
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SingularityError, UnsupportedError
from cayley.kinematics import constraints
from cayley.kinematics.constraint_structure import ConstraintStructure, constraint_structure, dependent_rows
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, of_a_mechanism
from cayley.kinematics.turned_loops import TurnedLoop, turned_loops
from cayley.model.tree import Tree

_HERE = "cayley.dynamics.mechanics.constrained"
_SENTENCE = "Forward dynamics under constraints: the accelerations qdd that the joint forces tau give at (q, qd)."

METHODS: dict[str, Method] = {
    "multipliers": Method(_HERE, "Ruggiu (4.21), (4.22): the forces of the constraints first; the default", links_of),
    "augmented": Method(_HERE, "Ruggiu (4.20): accelerations and forces as one system", links_of),
    "projection": Method(_HERE, "Ruggiu (4.23)-(4.29): on independent coordinates", links_of),
    "null space": Method(_HERE, "Ruggiu (4.30), (4.31): on the velocities that are allowed, by QR of A^T", links_of),
    "null space by svd": Method(_HERE, "the same by SVD, for small mechanisms", links_of), }
_WITHOUT_MASS = ("augmented", "null space", "null space by svd")  # links without mass may be held by the constraints


@of_a_mechanism
def constrained_dynamics_kernel(tree: Tree, structure: ConstraintStructure, method: str, kind: type[Made]) -> Made:
    """`forward_dynamics(q, qd, tau)` (..., nv) by one of the formulations of `METHODS`."""
    solve = _solution(tree, method, structure)

    def forward_dynamics(q: Array, qd: Array, tau: Array, *t: Scalar) -> Array:
        return solve(q, qd, tau, *t).qdd

    described(tree, forward_dynamics, _SENTENCE, f"Formulation: {method}.")
    return kernel(_signature(tree, "v"), name="forward_dynamics", outputs=("qdd", ),
                  inputs=constraints.timed(tree, ("q", "qd", "tau")), units=units_of(tree) | {"t": "s"}, kind=kind,
                  explain=_explanation(tree, structure, method))(_guarded(tree, method, forward_dynamics, (tree.nv,)))


def constraint_forces_kernel(tree: Tree) -> KernelWithMethods[Array]:
    """`constraint_forces(q, qd, tau)` (..., h), by the multipliers, and by the other formulations by name."""
    structure = constraint_structure(tree)
    default = _forces_by_method(tree, structure, "multipliers", KernelWithMethods)
    return default.with_methods(tree, METHODS, lambda method: _forces_by_method(tree, structure, method,
                                                                                MechanismKernel),
                                made_by=constraint_forces_kernel)


@of_a_mechanism
def _forces_by_method(tree: Tree, structure: ConstraintStructure, method: str, kind: type[Made]) -> Made:
    solve = _solution(tree, method, structure)
    known = np.where(structure.determined, 0.0, np.nan)

    def text(q: Array, qd: Array, tau: Array, *t: Scalar) -> Array:
        forces = -solve(q, qd, tau, *t).lam
        if structure.by_structure:
            found = dict(zip(structure.leading, forces, strict=True))
            forces = np.array([found.get(k, 0.0) for k in range(len(structure.rows))])
        return forces + known

    described(tree, text, "The forces of the constraints: A^T forces is what they do to the joints.",
              f"NaN where other constraints could do the same, so that the motion does not tell. By: {method}.")
    explain = _explanation(tree, structure, method) if all(structure.determined) else None
    return kernel(_signature(tree, str(len(structure.rows))), name="constraint_forces", outputs=("forces", ),
                  inputs=constraints.timed(tree, ("q", "qd", "tau")), kind=kind, explain=explain,
                  units=units_of(tree) | {"forces": "N or N m", "t": "s"})(
                      _guarded(tree, method, text, (len(structure.rows),)))


def _guarded(tree: Tree, method: str, text: Text, shape: tuple[int, ...]) -> Text:
    """NaN where the spanning tree has no accelerations, unless the constraints can hold links without mass."""
    return text if method in _WITHOUT_MASS else guarded(tree.spanning_tree(), text, [shape])


def _signature(tree: Tree, result: str) -> str:
    return sized(tree, f"(q),(v),(v){',()' if tree.is_timed else ''}->({result})")


def _solution(tree: Tree, method: str, structure: ConstraintStructure) -> Callable[..., ConstrainedMotion]:
    free = tree.spanning_tree()
    links = minimal_links(free)
    rotors = rotor_inertias(free)
    if coulomb_frictions(free).any():
        raise UnsupportedError(
            f"{tree.name} includes dry friction, which forward dynamics under constraints does not know: leave it out, "
            "or include \"rotors\" alone")
    if method == "projection" and not structure.by_structure:
        raise UnsupportedError(
            f"the constraints of {tree.name} are redundant in a way that changes with its configuration: no rows of "
            "them can be left out for a projection; use the default")
    if method == "null space by svd" and tree.nv > LARGEST:
        raise UnsupportedError(
            f"{tree.name} has {tree.nv} velocities, and singular vectors are written out for {LARGEST} at most: use "
            "\"null space\", which is by QR")
    leading = list(structure.leading) if structure.by_structure else list(range(len(structure.rows)))

    def text(q: Array, qd: Array, tau: Array, *t: Scalar) -> ConstrainedMotion:
        M = inertia_matrix(links, q) + np.diag(np.zeros(tree.nv) + rotors)
        bias = inverse_dynamics(links, q, qd, np.zeros(tree.nv))
        f = tau - bias - rotor_velocity_forces(free, qd) - friction_forces(free, qd)
        A = constraints.jacobian(tree, q, *t)
        drift = constraints.drift(tree, q, qd, *t)
        turned = turned_loops(tree, leading, q, qd)
        for loop in turned:
            A[loop.rows] = loop.A
            drift[loop.rows] = loop.drift
        found = _solved(method, structure, M, f, A[leading], drift[leading])
        return found._replace(lam=_turned_back(leading, turned, found.lam))

    return text


def _turned_back(leading: list[int], turned: list[TurnedLoop], lam: Array) -> Array:
    """Multipliers of all rows that count along the axes of the constraints themselves."""
    whole = np.array(lam)
    for loop in turned:
        axes = [k for k in range(3) if loop.rows.start + k in leading]
        places = [leading.index(loop.rows.start + k) for k in axes]
        whole[places] = loop.R[np.ix_(axes, axes)] @ lam[places]
    return whole


def _solved(method: str, structure: ConstraintStructure, M: Array, f: Array, A: Array,
            drift: Array) -> ConstrainedMotion:
    redundant = not structure.by_structure
    if method == "projection":
        others = wrapped(A)[:, [k for k in range(len(M)) if k not in structure.independent]]
        there = is_definite(others @ others.T)
        found = projection(M, f, wrapped(A), drift, independent=structure.independent)
        return ConstrainedMotion(only_where(there, found.qdd), only_where(there, found.lam))
    if method in ("null space", "null space by svd"):
        basis = "qr" if method == "null space" else "svd"
        return null_space_of_rank(M, f, wrapped(A), drift, rank=structure.rank, basis=basis)
    if method == "augmented":
        return augmented(M, f, wrapped(A), drift, redundant=redundant)
    backwards = multipliers(M[::-1, ::-1], f[::-1], wrapped(A)[:, ::-1], drift, redundant=redundant)
    return ConstrainedMotion(backwards.qdd[::-1], backwards.lam)


def _explanation(tree: Tree, structure: ConstraintStructure, method: str) -> Callable[..., None]:
    explained = None if method in _WITHOUT_MASS else explanation(tree.spanning_tree())
    of_inertia: Callable[..., None] = explained or (lambda *state: None)

    def explain(q: ArrayLike, *others: Array) -> None:
        try:
            of_inertia(q, *others)
        except SingularityError as error:
            raise SingularityError(f"{error}; or, if the constraints hold it, `.using(\"augmented\")`") from error
        t = others[-1:] if tree.is_timed else ()
        A = np.asarray(constraints.jacobian(tree, np.asarray(q, dtype=float), *t), dtype=float)
        if not all(np.isfinite(given).all() for given in (A, *others)):
            return
        rows = A[list(structure.leading)]
        if np.linalg.matrix_rank(A, tol=1e-7 * np.abs(A).max(initial=0.0)) < structure.rank:
            dependent = dependent_rows(rows)
            names = dict.fromkeys(structure.rows[k].constraint
                                  for k, bad in zip(structure.leading, dependent, strict=True) if bad)
            raise SingularityError(
                f"the constraints {', '.join(map(repr, names))} of {tree.name} depend on each other at this "
                "configuration (a dead centre): accelerations do not follow from forces there")
        if method == "projection":
            chosen = ", ".join(structure.velocities[k] for k in structure.independent)
            raise SingularityError(
                f"the others do not follow from the velocities of {chosen} at this configuration of {tree.name} (a "
                "dead centre): use another formulation")

    return explain
