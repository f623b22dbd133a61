"""Forward dynamics of mechanisms with constraints: loops, rods, couplings, mimic joints and prescribed motions.

    M qdd = tau - bias + A^T forces,   A qdd + drift = 0
M and the bias forces are those of the spanning tree. Rows that are redundant by structure are left out; where what is
redundant moves with the mechanism, as many rows as are independent are chosen anew at each state. Where the constraints
depend on each other only at a configuration (a dead centre that bifurcates), accelerations do not follow from forces:
they are NaN, and a call for one state raises `SingularityError` with the names of the constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import ExplanationBeside, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.definite import are_definite, only_where
from cayley.compiler.solving.null_space import null_basis, null_space
from cayley.compiler.solving.rounding import Scale
from cayley.compiler.solving.singular_vectors import LARGEST
from cayley.compiler.tracing.symbols import where, wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.dynamics.forward.singular_inertia import explanation, guarded
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.external_loads import NO_LOADS, ExternalLoads
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.mechanics.constrained import (
    ConstrainedMotion,
    augmented,
    multipliers,
    null_space_of_rank,
    projection,
    unit_accelerations,
)
from cayley.dynamics.rigid_links import drives
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.methods import KernelWithMethods, Method, MethodKernel
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SingularityError, UnsupportedError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.closure_checks import check_closed_alone, is_closed_alone
from cayley.kinematics.constraints.space import check_rank, determines
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure, dependent_rows
from cayley.kinematics.constraints.turned_loops import TurnedLoop, turned_loops
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

_NEAR = 0.1  # of the largest singular value: constraints that nearly depend on each other
_LIGHT = 1e-3  # of the largest inertia: next to none
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
def constrained_dynamics_kernel(tree: Tree, structure: ConstraintStructure, method: str, kind: type[Made],
                                external: ExternalLoads = NO_LOADS) -> Made:
    """`forward_dynamics(q, qd, tau, ...)` (..., nv) by one of the formulations of `METHODS`, with wrenches and the
    motion of the base as inputs."""
    solve = _solution(tree, method, structure, external)

    def forward_dynamics(q: Array, qd: Array, tau: Array, *more: Scalar) -> Array:
        return solve(q, qd, tau, *more).qdd

    described(tree, forward_dynamics, _SENTENCE, f"{external.words} Formulation: {method}.".strip())
    time = ",()" if tree.is_timed else ""
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}{time}->(v)"), name="forward_dynamics", outputs=("qdd", ),
                  inputs=constraints.timed(tree, ("q", "qd", "tau", *external.names)), kind=kind,
                  units=units_of(tree) | {"t": "s"}, explain=_explanation(tree, structure, method),
                  alone=is_closed_alone(tree))(_guarded(tree, method, forward_dynamics, (tree.nv,)))


@of_a_mechanism
def compliance_kernel(tree: Tree) -> MechanismKernel:
    """`inverse_inertia_matrix(q)` (..., nv, nv) under constraints: what unit forces add to the accelerations."""
    structure = constraint_structure(tree)
    equations = equations_text(tree, structure)

    def text(q: Array, *t: Scalar) -> Array:
        found = equations(q, np.zeros(tree.nv), np.zeros(tree.nv), *t)
        return unit_accelerations(found.M, found.A, rank=structure.rank, scale=structure.scale(structure.used))

    described(tree, text, "What unit forces add to the accelerations, N (N^T M N)^-1 N^T: under constraints it takes "
              "the place of the inverse of the mass matrix.")
    return kernel(sized(tree, f"(q){',()' if tree.is_timed else ''}->(v,v)"), name="inverse_inertia_matrix",
                  inputs=constraints.timed(tree, ("q",)), units=units_of(tree) | {"t": "s"}, kind=MechanismKernel,
                  explain=explanation_of_constraints(tree, structure))(text)


def constraint_forces_kernel(tree: Tree) -> KernelWithMethods[Array]:
    """`constraint_forces(q, qd, tau)` (..., h), by the multipliers, and by the other formulations by name."""
    structure = constraint_structure(tree)
    default = forces_by_method(tree, structure, "multipliers", KernelWithMethods)
    return default.with_methods(tree, METHODS, lambda method: forces_by_method(tree, structure, method,
                                                                                MethodKernel),
                                made_by=constraint_forces_kernel)


@of_a_mechanism
def forces_by_method(tree: Tree, structure: ConstraintStructure, method: str, kind: type[Made]) -> Made:
    solve = _solution(tree, method, structure)
    known = np.where(structure.determined, 0.0, np.nan)

    def text(q: Array, qd: Array, tau: Array, *t: Scalar) -> Array:
        forces = -solve(q, qd, tau, *t).lam
        found = dict(zip(structure.used, forces, strict=True))
        return np.array([found.get(k, 0.0) for k in range(len(structure.rows))]) + known

    described(tree, text, "The forces of the constraints: A^T forces is what they do to the joints.",
              f"NaN where other constraints could do the same, so that the motion does not tell. By: {method}.")
    explain = ExplanationBeside(_explanation(tree, structure, method), ~np.array(structure.determined, dtype=bool))
    return kernel(sized(tree, f"{state_signature(tree)}->({len(structure.rows)})"), name="constraint_forces",
                  outputs=("forces", ),
                  inputs=constraints.timed(tree, ("q", "qd", "tau")), kind=kind, explain=explain,
                  alone=is_closed_alone(tree),
                  units=units_of(tree) | {"forces": "N or N m", "t": "s"})(
                      _guarded(tree, method, text, (len(structure.rows),)))


def _guarded(tree: Tree, method: str, text: Text, shape: tuple[int, ...]) -> Text:
    """NaN where the spanning tree has no accelerations, unless the constraints can hold links without mass."""
    return text if method in _WITHOUT_MASS else guarded(tree.spanning_tree(), text, [shape])


def state_signature(tree: Tree) -> str:
    """The signature of q, qd, tau, and t if a constraint depends on it."""
    return f"(q),(v),(v){',()' if tree.is_timed else ''}"


class ConstrainedEquations(NamedTuple):
    """M qdd + A^T lam = f, A qdd = -drift."""

    M: Array
    f: Array
    A: Array
    drift: Array


def equations_text(tree: Tree, structure: ConstraintStructure,
                   external: ExternalLoads = NO_LOADS) -> Callable[..., ConstrainedEquations]:
    """The text `(q, qd, tau)`, with external loads behind, and t last if a constraint depends on it, of the equations
    of motion, with the rows that are kept; those of loops that are `turned` along the axes of a body."""
    free = tree.spanning_tree()
    links = minimal_links(free, loaded=external.frames)
    rotors = drives.rotor_inertias(free)
    rows = list(structure.used)

    def text(q: Array, qd: Array, tau: Array, *more: Scalar, turned: Sequence[TurnedLoop] = ()) -> ConstrainedEquations:
        loads, t = (more[:-1], more[-1:]) if tree.is_timed else (more, ())
        M = inertia_matrix(links, q) + np.diag(np.zeros(tree.nv) + rotors)
        acting = external.at_links(links, free, q, loads) if loads else {}
        bias = inverse_dynamics(links, q, qd, np.zeros(tree.nv), **acting)
        f = tau - bias - drives.rotor_velocity_forces(free, qd) - drives.passive_forces(free, q, qd)
        A = constraints.jacobian(tree, q, *t)
        drift = constraints.drift(tree, q, qd, *t)
        for loop in turned:
            A[loop.rows] = loop.held.A
            drift[loop.rows] = loop.held.drift
        return ConstrainedEquations(M, f, wrapped(A[rows]), drift[rows])

    return text


def _solution(tree: Tree, method: str, structure: ConstraintStructure,
              external: ExternalLoads = NO_LOADS) -> Callable[..., ConstrainedMotion]:
    if method == "projection" and not structure.by_structure:
        raise UnsupportedError(
            f"the constraints of {tree.name} are redundant in a way that changes with its configuration: no rows of "
            "them can be left out for a projection; use the default")
    if method == "null space by svd" and tree.nv > LARGEST:
        raise UnsupportedError(
            f"{tree.name} has {tree.nv} velocities, and singular vectors are written out for {LARGEST} at most: use "
            "\"null space\", which is by QR")
    equations = equations_text(tree, structure, external)
    rows = list(structure.used)
    coulomb = dry_frictions(tree, structure)

    def text(q: Array, qd: Array, tau: Array, *more: Scalar) -> ConstrainedMotion:
        turned = turned_loops(tree, rows, q, qd)
        found = equations(q, qd, tau, *more, turned=turned)
        if coulomb is not None:
            found = found._replace(f=found.f + friction_at_rest(found, coulomb, qd, structure).forces)
        solved = _solved(method, structure, *found)
        return solved._replace(lam=_turned_back(rows, turned, solved.lam))

    return text


def dry_frictions(tree: Tree, structure: ConstraintStructure) -> Array | None:
    """The dry friction (nv) of a mechanism with constraints, if it has some; only of one of mobility one is it known
    which joints it holds."""
    coulomb = drives.coulomb_frictions(tree.spanning_tree())
    if not drives.rubbing(coulomb).any():
        return None
    if structure.mobility != 1:
        raise UnsupportedError(
            f"{tree.name} includes dry friction, and its mobility is {structure.mobility}: which of its joints it "
            "holds at rest only `simulate` finds. Leave it out, or include \"armature\" alone")
    return coulomb


@shown_briefly
class FrictionAtRest(NamedTuple):
    """The `forces` (nv) of dry friction of joints at rest, and whether they hold the mechanism."""

    forces: Array
    holds: Scalar


def friction_at_rest(found: ConstrainedEquations, coulomb: Array, qd: Array,
                     structure: ConstraintStructure) -> FrictionAtRest:
    """The dry friction of the joints at rest, in a mechanism of mobility one: all of them hold, as long as they can,
    and share the load in proportion, or all give way. The friction of joints that move is in f already."""
    factors = null_space(found.A, structure.rank, structure.scale(structure.used))
    n = factors.basis[:, 0]
    pull = n @ (found.f + found.M @ factors.shortest(found.drift))
    resting = where(qd == 0, coulomb, 0.0)
    most = resting @ np.abs(n)
    holds = np.abs(pull) < most
    share = where(holds, pull / where(most > 0, most, 1.0), np.sign(pull))
    return FrictionAtRest(-resting * np.sign(n) * share, holds)


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
    scale = structure.scale(structure.used)
    if method == "projection":
        return projection(M, f, A, drift, independent=structure.independent, scale=scale)
    if method in ("null space", "null space by svd"):
        basis = "qr" if method == "null space" else "svd"
        return null_space_of_rank(M, f, A, drift, rank=structure.rank, basis=basis, scale=scale)
    if not structure.by_structure:
        return _solved_redundantly(method, structure.rank, scale, M, f, A, drift)
    if method == "augmented":
        return augmented(M, f, A, drift, scale=scale)
    backwards = multipliers(M[::-1, ::-1], f[::-1], A[:, ::-1], drift,
                            scale=Scale(scale.sizes, scale.lengths[::-1]))
    return ConstrainedMotion(backwards.qdd[::-1], backwards.lam)


def _solved_redundantly(method: str, rank: int, scale: Scale, M: Array, f: Array, A: Array,
                        drift: Array) -> ConstrainedMotion:
    """The motion with rows of which others are chosen at each configuration, or all of them at once."""
    if method == "multipliers":
        return null_space_of_rank(M, f, A, drift, rank=rank, scale=scale)
    own = np.outer(scale.lengths, scale.lengths)
    found = augmented(own * M, scale.lengths * f, scale.of(A), drift / scale.sizes, redundant=True)
    there = null_space(A, rank, scale).is_full
    return ConstrainedMotion(only_where(there, scale.lengths * found.qdd), only_where(there, found.lam / scale.sizes))


def explanation_of_constraints(tree: Tree, structure: ConstraintStructure, chosen: Sequence[int] | None = None, *,
                               free_masses: bool = False) -> Callable[..., None]:
    """Why there is no answer at a state: constraints that depend on each other there, joints that the others do not
    follow there (`chosen`), motions without mass (with `free_masses` also those that the constraints do not allow)."""
    of_tree = explanation(tree.spanning_tree()) if free_masses else None

    def explain(q: ArrayLike, *others: Array) -> None:
        if of_tree is not None:
            try:
                of_tree(q, *others)
            except SingularityError as error:
                raise SingularityError(f"{error}; or, if the constraints hold it, `.using(\"augmented\")`") from error
        t = others[-1:] if tree.is_timed else ()
        with np.errstate(all="ignore"):
            A = np.asarray(constraints.jacobian(tree, np.asarray(q, dtype=float), *t), dtype=float)
        if not all(np.isfinite(given).all() for given in (np.asarray(q), *others)):
            return
        check_rank(tree, structure, q, A, "accelerations do not follow from forces there")
        if chosen is not None and not determines(structure, A, chosen):
            names = ", ".join(structure.velocities[k] for k in chosen)
            raise SingularityError(
                f"the others do not follow from the velocities of {names} at this configuration of {tree.name} (a "
                "dead centre): use another formulation, or other independent joints")
        N = np.array(structure.lengths)[:, None] * null_basis(structure.scaled(A), structure.rank)
        free = tree.spanning_tree()
        M = np.asarray(inertia_matrix(links_of(free), np.asarray(q, dtype=float)), dtype=float)
        if not are_definite(N.T @ (M + np.diag(drives.rotor_inertias(free))) @ N):
            raise SingularityError(
                f"a motion that the constraints of {tree.name} allow moves no mass at this configuration: give its "
                "links mass and inertia")

    return explain


def near_singularity(tree: Tree, t: Array, q: Array) -> str:
    """The reason, in words, why motions may break off near a configuration (nq) at a time, if there is one."""
    structure = constraint_structure(tree)
    A = np.asarray(kept(tree, "constraint Jacobian", lambda: constraints.jacobian_kernel(tree))(
        q, *((t,) if tree.is_timed else ())))
    rows = A[list(structure.leading)]
    values = np.linalg.svd(rows, compute_uv=False)
    if structure.by_structure and values.min(initial=np.inf) <= _NEAR * values.max(initial=0.0):
        near = dependent_rows(rows, _NEAR)
        names = dict.fromkeys(structure.rows[k].constraint for k, one in zip(structure.leading, near, strict=True)
                              if one)
        return (f"; near t = {float(t):.6g} the constraints {', '.join(map(repr, names))} depend on each other, and "
                "branches of motions meet: smaller steps pass there")
    N = np.array(structure.lengths)[:, None] * null_basis(structure.scaled(A))
    M = inertia_matrix_kernel(tree.spanning_tree())(q)
    inertias, motions = np.linalg.eigh(N.T @ M @ N)
    if inertias.size and inertias[0] <= _LIGHT * np.abs(M).max():
        shares = np.abs(N @ motions[:, 0])
        moved = [name for name, share in zip(structure.velocities, shares, strict=True) if share > 0.1 * shares.max()]
        return (f"; near t = {float(t):.6g} the motion of {', '.join(moved)} that the constraints allow moves next to "
                "no mass")
    return ""


def _explanation(tree: Tree, structure: ConstraintStructure, method: str) -> Callable[..., None]:
    explained = explanation_of_constraints(tree, structure, structure.independent if method == "projection" else None,
                                           free_masses=method not in _WITHOUT_MASS)

    def explain(*state: Array) -> None:
        check_closed_alone(tree, *state)
        explained(*state)
        if all(np.isfinite(given).all() for given in state):
            raise SingularityError(
                f"the equations of {tree.name} have no answer in this precision at this state: masses, lengths, "
                "velocities or forces are too large, or of too different sizes. Another formulation, `.using(...)`, "
                "may have one")

    return explain
