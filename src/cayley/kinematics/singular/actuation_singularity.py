"""Input and output of a mechanism with constraints, the rates of its actuated joints and the motion of a frame, and
postures that are singular for them.

    A qd = 0      xd = T J qd  output (k)      qd_a = S qd  input (m)      Jx xd = Jq qd_a
    w = Jx^T s, tau = Jq^T s     wrenches (k) that the frame's body exerts and actuator forces (m) in balance, at rest
    inverse       the frame loses motions xd that it has elsewhere, while actuators may move and it stands still
    direct        with all actuators held the frame gains a motion, whose wrenches no actuator holds
    constraint    the constraints depend on each other and allow more velocities than elsewhere (a bifurcation)
    combined      inverse and direct
    passive       joints move that neither the actuators nor the frame see
With N a basis of the allowed velocities, the rows of (Jx, -Jq) are an orthonormal basis of what is across the range of
(T J N; S N). Source: Gosselin & Angeles 1990; Zlatanov, Fenton & Benhabib 1994."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis, row_space
from cayley.compiler.solving.rounding import least_singular, rank_of, relative_rank
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import CayleyError, ConventionError, SingularityError, UnreachableError
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.closure import closed_samples
from cayley.kinematics.constraints.rows import check_closed, constraint_jacobian, length_unit, lengths
from cayley.kinematics.constraints.space import allowed_velocities, held_velocities
from cayley.kinematics.constraints.structure import ConfigurationSingularity, configuration_singularity, mobility
from cayley.kinematics.frame_kernels import frame_kernel
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.singular.indices import ROW_UNITS
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.showing import brief

Kind = Literal["regular", "inverse", "direct", "combined", "constraint", "passive"]


@dataclass(frozen=True, eq=False)
class ActuationSingularity:
    """The motions that one closed configuration loses and gains beside others."""

    kind: Kind
    lost: Array  # (l, k): motions of the task, each of length one, that the frame cannot have here
    gained: Array  # (g, k): motions of the task that the frame has with all actuators held
    gained_velocities: Array  # (g, nv): the joint velocities of these
    passive: Array  # (p, nv): joint velocities that move neither the actuators nor the frame
    idle: Array  # (i, m): rates of the actuators with which the frame stands still
    impossible: Array  # (j, m): directions of actuator rates that the constraints do not allow here
    moving: tuple[str, ...]  # the joints that move with the actuators held
    actuators: tuple[str, ...]  # the actuated joints that can move while the frame stands still
    configuration: ConfigurationSingularity  # dead centres and bifurcations, whatever is actuated

    __repr__ = brief

    @property
    def unbalanced(self) -> Array:
        """Wrenches (g, k) of the task that no force of the actuators balances: those along the gained motions."""
        return self.gained

    @property
    def mobility(self) -> int:
        """The number of independent velocities here."""
        return int(self.configuration.mobility)

    def __str__(self) -> str:
        def listed(rows: Array) -> str:
            return "; ".join(np.array2string(row + 0.0, precision=4, suppress_small=True) for row in rows)

        lost = f"; lost {listed(self.lost)}" if len(self.lost) else ""
        gained = f"; gained {listed(self.gained)}, by {', '.join(self.moving)}" if len(self.gained) else ""
        return f"{self.kind}, mobility {self.mobility}{lost}{gained}"


def actuation_singularity(tree: Tree, q: ArrayLike, frame: str, *, task: str | Sequence[bool], axes: str,
                          characteristic_length: float | None = None,
                          tolerance: float | None = None) -> ActuationSingularity:
    """The class of one closed configuration (nq) for a task of a frame and the actuated joints. `characteristic_length`
    [m] weighs radians against metres, by default about the size of the machine. `tolerance` is the relative size below
    which a singular value counts as zero, by default the one of all functions.

    >>> from cayley.model.catalogue import load_robot
    >>> engine = load_robot("slider_crank").with_actuated("slider")  # driven by the piston, crank and rod in a row
    >>> found = actuation_singularity(engine, [-np.pi / 2, np.arctan2(0.09, 0.4) + np.pi / 2, 0.1], "crank",
    ...                               task=[0, 0, 0, 0, 0, 1], axes="world")
    >>> print(found)
    direct, mobility 1; gained [1.], by crank, rod
    """
    at = closed(tree, q)
    if at.shape != (tree.nq,):
        raise ConventionError(f"a singularity is looked for at one configuration ({tree.nq}), not {at.shape}")
    length = length_unit(tree) if characteristic_length is None else characteristic_length
    if not 0 < length < np.inf:
        raise ConventionError(f"the characteristic length must be positive and finite, not {length}")
    places = list(tree.actuated_velocities)
    names = velocity_labels(tree)
    rows = task_rows(tree, frame, task, axes)
    chosen = [k for k, asked in enumerate(Task.of(tree, task, axes).rows) if asked]
    worth = np.array([length if ROW_UNITS[k] == "rad" else 1.0 for k in chosen])
    scale = np.array([length if unit == "rad" else 1.0 for _, unit in names])
    least = least_singular(tree.nv) if tolerance is None else tolerance
    here = _parts(tree, at, rows, places, worth, scale, least)
    elsewhere = _elsewhere(tree, rows, places, (frame, axes, tuple(chosen), tuple(places)), worth, scale, least)
    config = configuration_singularity(tree, at, tolerance=tolerance)
    held = _held(here, scale[:, None] * held_velocities(tree, constraint_jacobian(tree, at), tolerance), least)
    lost = _complement(here.X, elsewhere.span, least) if _rank(here.X, least) < elsewhere.output else None
    stands = here.N @ _null(here.X, least)
    idle = row_space(stands[places].T / scale[places], least) if lost is not None else np.zeros((0, len(places)))
    more = len(held.gained) + len(held.passive) > elsewhere.held
    blocked = more and _rank(here.Q, least) < elsewhere.input
    none = np.zeros((0, len(worth)))
    return ActuationSingularity(
        kind=_kind(config.kind == "bifurcation", lost is not None, more, len(held.gained)),
        lost=_normal((none if lost is None else lost) / worth),
        gained=_normal(held.gained / worth) if more else none,
        gained_velocities=(held.gained_velocities / scale)[:len(held.gained) if more else 0],
        passive=held.passive / scale if more else np.zeros((0, tree.nv)),
        idle=_normal(idle),
        impossible=_normal(_complement(here.Q, np.eye(len(places)), least) / scale[places]) if blocked
        else np.zeros((0, len(places))),
        moving=_named(names, held.all, least) if more else (),
        actuators=tuple(names[places[k]][0] for k in np.flatnonzero(np.abs(idle).max(axis=0, initial=0.0) > least)),
        configuration=config)


class _Parts(NamedTuple):
    """Allowed velocities N (nv, d), in metres, and the output X (k, d) and the input Q (m, d) of each."""

    N: Array
    X: Array
    Q: Array


class _Held(NamedTuple):
    """Motions with the actuators held: gained motions (g, k) with their velocities (g, nv), passive ones (p, nv)."""

    gained: Array
    gained_velocities: Array
    passive: Array
    all: Array


class _Elsewhere(NamedTuple):
    """The ranks of output and input, how many velocities are left with the actuators held, and the motions of the task
    that occur at all, as columns."""

    output: int
    input: int
    held: int
    span: Array


def _parts(tree: Tree, q: Array, rows: Callable[[Array], Array], places: Sequence[int], worth: Array, scale: Array,
           tolerance: float) -> _Parts:
    N = allowed_velocities(tree, q, tolerance)
    N = np.linalg.qr(scale[:, None] * N)[0]
    return _Parts(N, worth[:, None] * (rows(q) / scale) @ N, N[list(places)])


def _elsewhere(tree: Tree, rows: Callable[[Array], Array], places: Sequence[int], key: tuple[object, ...],
               worth: Array, scale: Array, tolerance: float) -> _Elsewhere:
    def look() -> _Elsewhere:
        left = mobility(tree)
        samples = [closure.configuration for sample in closed_samples(tree) if sample.mobility == left
                   for closure in sample.closures]
        found = [_parts(tree, q, rows, places, worth, scale, tolerance) for q in samples]
        generic = [each for each in found if each.N.shape[1] == left] or found
        span = row_space(np.concatenate([each.X for each in generic], axis=1).T, tolerance).T
        return _Elsewhere(max(_rank(each.X, tolerance) for each in generic),
                          max(_rank(each.Q, tolerance) for each in generic),
                          min(left - _rank(each.Q, tolerance) for each in generic), span)

    return kept(tree, ("elsewhere", key, tuple(worth), tolerance), look)


def _held(here: _Parts, motions: Array, tolerance: float) -> _Held:
    free = here.N.T @ np.linalg.qr(motions)[0]
    U, values, V = np.linalg.svd(here.X @ free)
    rank = int(np.count_nonzero(values > tolerance * max(float(np.linalg.norm(here.X)), 1e-300)))
    velocities = (here.N @ free @ V.T).T
    return _Held(U[:, :rank].T, velocities[:rank], velocities[rank:], here.N @ free)


def _kind(bifurcates: bool, loses: bool, more: bool, gained: int) -> Kind:
    if bifurcates:
        return "constraint"
    if more and not gained:
        return "passive"
    if more and loses:
        return "combined"
    return "direct" if more else "inverse" if loses else "regular"


def _rank(A: Array, tolerance: float) -> int:
    """Beside the largest entry that unit velocities could have, not beside the largest that is there."""
    return int(rank_of(A, tolerance * max(1.0, float(np.linalg.norm(A, 2)) if A.size else 0.0)))


def _null(A: Array, tolerance: float) -> Array:
    return null_basis(A, tolerance=tolerance * max(1.0, float(np.linalg.norm(A, 2)) if A.size else 0.0))


def _complement(A: Array, span: Array, tolerance: float) -> Array:
    """The part of a space (k, s) that is across the columns of A (k, d), as rows."""
    return (span @ _null((span.T @ A).T, tolerance)).T


def _normal(rows: Array) -> Array:
    if not len(rows):
        return rows
    signs = np.sign(np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1))
    return signs * rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _named(names: Sequence[tuple[str, str]], motions: Array, tolerance: float) -> tuple[str, ...]:
    sizes = np.abs(motions).max(axis=1, initial=0.0)
    return tuple(name for (name, _), size in zip(names, sizes, strict=True) if size > tolerance)


_AGREES = 1e-8
ROW_LENGTHS = np.arange(6) < 3  # of a twist, (v; w): which rows are lengths


@dataclass(frozen=True, eq=False)
class InputOutput:
    """Jx (..., r, k) and Jq (..., r, m), and what follows: motions and rates, forces and wrenches, each way. Where
    there is no answer, or more than one, it is NaN in a batch, and an error for one configuration that says which."""

    Jx: Array
    Jq: Array
    task_sizes: Array = field(repr=False)
    """(k): what the rows of the task are measured in where ranks are decided: the size of the machine, or a radian."""
    rate_sizes: Array = field(repr=False)  # (m): the same of the actuated rates

    __repr__ = brief

    @property
    def _scaled(self) -> tuple[Array, Array]:
        return self.Jx * self.task_sizes, self.Jq * self.rate_sizes

    def motion(self, rates: ArrayLike) -> Array:
        """The motion (..., k) of the frame by the rates (..., m) of the actuated joints."""
        Jx, Jq = self._scaled
        return self.task_sizes * _solved(
            Jx, Jq, _columns(rates, self.rate_sizes) / self.rate_sizes,
            "the motion of the frame does not follow from the actuated joints",
            "rates of the actuated joints that the constraints do not allow")

    def rates(self, motion: ArrayLike) -> Array:
        """The rates (..., m) of the actuated joints for a motion (..., k) of the frame."""
        Jx, Jq = self._scaled
        return self.rate_sizes * _solved(
            Jq, Jx, _columns(motion, self.task_sizes) / self.task_sizes,
            "the rates of the actuated joints do not follow from this task",
            "a motion of the frame that the mechanism cannot have")

    def forces(self, wrench: ArrayLike) -> Array:
        """Forces (..., m) of the actuated joints with which the frame's body exerts a wrench (..., k), at rest and
        without gravity; the least of them if there are more actuators than freedoms."""
        Jx, Jq = self._scaled
        return _balanced(Jx, Jq, _columns(wrench, self.task_sizes) * self.task_sizes,
                         "a wrench that no actuator holds") / self.rate_sizes

    def wrench(self, forces: ArrayLike) -> Array:
        """The wrench (..., k) that forces (..., m) of the actuated joints exert with the frame's body, at rest; the
        least of them if the structure carries others by itself."""
        Jx, Jq = self._scaled
        return _balanced(Jq, Jx, _columns(forces, self.rate_sizes) * self.rate_sizes,
                         "forces that no wrench of this task balances") / self.task_sizes


def input_output(tree: Tree, q: ArrayLike, frame: str, *, task: str | Sequence[bool], axes: str) -> InputOutput:
    """Jx and Jq at closed configurations (..., nq), for a task of a frame: "pose", "position", "orientation", or six
    truth values for (x, y, z; x, y, z), linear first, along the axes.

    >>> from cayley.model.catalogue import load_robot
    >>> both = input_output(load_robot("four_bar"), np.zeros(3), "rocker", task=[0, 0, 0, 0, 0, 1], axes="world")
    >>> both.motion([1.6]).round(12)
    array([1.])
    """
    at = closed(tree, q)
    N = allowed_velocities(tree, at)
    places = list(tree.actuated_velocities)
    unit = length_unit(tree)
    asked = Task.of(tree, task, axes).rows
    task_sizes = np.where(ROW_LENGTHS, unit, 1.0)[np.asarray(asked, dtype=bool)]
    rate_sizes = lengths(tree, unit)[places]
    X = task_rows(tree, frame, task, axes)(at) @ N / task_sizes[:, None]
    units = lengths(tree, unit)[:, None]
    held = np.swapaxes(N / units, -1, -2) @ (held_velocities(tree, constraint_jacobian(tree, at)) / units)
    Q = N[..., places, :] / rate_sizes[:, None]
    Jx, Jq = across(_without_rounding(X, least_singular(tree.nv)), Q - Q @ held @ np.swapaxes(held, -1, -2))
    return InputOutput(Jx / task_sizes, Jq / rate_sizes, task_sizes, rate_sizes)


def closed(tree: Tree, q: ArrayLike) -> Array:
    """Configurations (..., nq) that keep all constraints, or an error that says that one does not."""
    check_untimed(tree)
    at = np.asarray(q, dtype=float)
    if at.shape[-1:] != (tree.nq,):
        raise ConventionError(f"a configuration of {tree.name} must be (..., {tree.nq}), not {at.shape}")
    check_closed(tree, at)
    return at


def task_rows(tree: Tree, frame: str, task: str | Sequence[bool], axes: str) -> Callable[[Array], Array]:
    """The rows (..., k, nv) of a frame's Jacobian that a task asks for, by the configuration."""
    tree.frame(frame)
    if axes is None:
        raise ConventionError('say in which axes the task is: axes="world", "body", or the name of a frame')
    chosen = [k for k, asked in enumerate(Task.of(tree, task, axes).rows) if asked]
    made: Kernel = kept(tree, ("task rows", frame, axes),
                        lambda: frame_kernel(tree, general_jacobian, "(q)->(6,v)", frame, axes=axes))
    return lambda q: made(q)[..., chosen, :]


def _without_rounding(X: Array, least: float) -> Array:
    """Motions X (..., k, d) of unit velocities, zero for the velocities that move the task no more than rounding."""
    U, values, V = np.linalg.svd(X, full_matrices=False)
    counts = values > least * np.maximum(1.0, values.max(axis=-1, keepdims=True, initial=0.0))
    return (U * (values * counts)[..., None, :]) @ V


def across(X: Array, Q: Array) -> tuple[Array, Array]:
    """Jx (..., r, k) and Jq (..., r, m) with Jx X = Jq Q, of X (..., k, d) and Q (..., m, d); r is the most of all
    configurations, and rows that are too many are zero."""
    both = np.concatenate([X, Q], axis=-2)
    rank = relative_rank(both, tolerance=_least_of(both))
    rows = np.swapaxes(null_basis(np.swapaxes(both, -1, -2), rank), -1, -2)
    k = X.shape[-2]
    return rows[..., :k], -rows[..., k:]


def _solved(left: Array, right: Array, values: Array, undetermined: str, impossible: str) -> Array:
    """x (..., n) of left x = right given, if there is just one."""
    side = (right @ values[..., None])[..., 0]
    found, rank, _ = _least(left, side)
    off = np.linalg.norm((left @ found[..., None])[..., 0] - side, axis=-1)
    size = np.linalg.norm(values, axis=-1)
    return _answers(found, {undetermined: rank < left.shape[-1], impossible: off > _AGREES * size}, SingularityError)


def _balanced(left: Array, right: Array, values: Array, impossible: str) -> Array:
    """right^T s with left^T s = given, of least length: forces for a wrench, or a wrench for forces."""
    s, _, free = _least(np.swapaxes(left, -1, -2), values)
    found = (s[..., None, :] @ right)[..., 0, :]
    spare = np.swapaxes(free, -1, -2) @ right  # what can be added without a change of the given side
    shorter = found - (np.linalg.pinv(spare, rcond=_least_of(spare)) @ (spare @ found[..., None]))[..., 0]
    off = np.linalg.norm((s[..., None, :] @ left)[..., 0, :] - values, axis=-1)
    return _answers(shorter, {impossible: off > _AGREES * np.linalg.norm(values, axis=-1)}, UnreachableError)


def _least(A: Array, b: Array) -> tuple[Array, Array, Array]:
    """The shortest x (..., n) with the least |A x - b|, the ranks of A (...), and its null vectors as columns (..., n,
    n), those that are none zero."""
    U, s, V = np.linalg.svd(A)
    n = s.shape[-1]
    counts = s > _least_of(A)
    part = np.einsum("...ik,...i->...k", U[..., :n], b) * np.where(counts, 1 / np.where(counts, s, 1.0), 0.0)
    rank = counts.sum(axis=-1)
    null = np.arange(V.shape[-1]) >= rank[..., None]
    return np.einsum("...ki,...k->...i", V[..., :n, :], part), rank, np.swapaxes(V * null[..., None], -1, -2)


def _least_of(A: Array) -> float:
    return least_singular(max(A.shape[-2:]), exact=True)  # `input_output` has taken rounding out already


def _columns(given: ArrayLike, sizes: Array) -> Array:
    values = np.asarray(given, dtype=float)
    if values.shape[-1:] != sizes.shape:
        raise ConventionError(f"expected numbers (..., {len(sizes)}), not of the shape {values.shape}")
    return values


def _answers(found: Array, faults: dict[str, Array], error: type[CayleyError]) -> Array:
    if found.ndim == 1:
        for words, bad in faults.items():
            if bad:
                raise error(f"{words} at this configuration: see `actuation_singularity`")
    return np.where(np.any([np.asarray(bad) for bad in faults.values()], axis=0)[..., None], np.nan, found)
