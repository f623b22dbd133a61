"""Residuals, Jacobian and drift of the constraints of a mechanism: loops, rods, couplings, mimic joints, prescribed
motions.

    phi(q, t)       the residual (h), zero while all constraints are kept
    A(q, t)         the constraint Jacobian (h, nv)
    rates           A qd + the derivative of phi by t (h), the rate of phi
    drift(q, qd, t) what of the rate of that is not A qdd (h): A qdd + drift = 0 keeps the rates zero
Each constraint sees its two frames from the body from which both hang. Rows are in the order of `constraints_of(tree)`;
`row_names` says what each holds. The time t is an argument of mechanisms with constraints that depend on it, and of no
others. Rows on velocities alone, as of wheels, take part in all but phi. A force of a row, whose rate is linear in the
velocities u, w of its frames, acts on each with d rate / du and the moment d rate / dw, at its origin.

Lengths are measured in the size of the machine, to the nearest power of ten, which for machines of some metres is a
metre; angles in radians; rows on coordinates alone (gears, mimic joints) in what a unit of these adds to them. What is
zero is then decided in one place, `cayley.compiler.solving.rounding`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, UnsupportedError
from cayley.geometry.batch import first_failure, place
from cayley.geometry.pose import HERE, Pose
from cayley.kinematics.elementary import Step, steps_of, ways_between
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.velocity import moving
from cayley.kinematics.mechanism_kernel import MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_of
from cayley.model.joint_kinds import FrameMotion, Row
from cayley.model.tree import Coordinate, Tree

_REST = np.zeros(3)


class RowName(NamedTuple):
    """A row: the constraint that it belongs to, and what of it the row holds."""

    constraint: str
    holds: str

    def __str__(self) -> str:
        return f"{self.constraint}: {self.holds}"


def row_names(tree: Tree) -> tuple[RowName, ...]:
    """The rows of all constraints, in their order.

    >>> from cayley.model.catalogue import load_robot
    >>> [str(row) for row in row_names(load_robot("panda_hand"))]
    ['mimic panda_finger_joint2: coordinates']
    """
    return tuple(RowName(each.name, holds) for each in constraints_of(tree) for holds in each.row_names)


def hold_positions(tree: Tree) -> Array:
    """Flags (h) of the rows that hold positions; the others are on velocities alone."""
    return np.array([k < each.positions for each in constraints_of(tree) for k in range(len(each.row_names))],
                    dtype=bool)


def check_holonomic(tree: Tree, what: str) -> None:
    """Refuse constraints on velocities: where a mechanism is depends on the way that it came."""
    rolling = [each.name for each in constraints_of(tree) if each.positions < len(each.row_names)]
    if rolling:
        raise UnsupportedError(
            f"{what}: {', '.join(map(repr, rolling))} of {tree.name} is on velocities, so that its joints do not "
            "follow from the values of some of them")


def residual(tree: Tree, q: Array, t: Scalar = None) -> Array:
    """phi (h), of rows that are on velocities alone 0."""
    found = [residual_of(tree, each, q, t) for each in constraints_of(tree)]
    return np.concatenate(found) if found else np.zeros(0)


def least_sense(tree: Tree, q: Array, constraints: Sequence[Constraint]) -> Scalar:
    """A number that is positive where none of some constraints is kept the wrong way round.

    Where its rows are zero, a constraint has the sense 1. It has -1 where an axis points back, and 0 where three axes
    have changed places, which leaves the rows of a sliding joint zero as well."""
    found: Scalar = 1.0
    for each in constraints:
        for sense in each.senses(_at_rest(_ways(tree, each, q))):
            found = np.minimum(found, sense)
    return found - 0.5


def margins(tree: Tree, q: Array) -> dict[str, Scalar]:
    """The distances of constraints from where they lose their directions, by what has happened there, in words."""
    found = {each.where_lost: each.margin(_at_rest(_ways(tree, each, q))) for each in constraints_of(tree)}
    return {words: margin for words, margin in found.items() if margin is not None}


def passed(tree: Tree, q: Array, qd: Array) -> list[Scalar]:
    """True where a step has led past where constraints lose their directions, for those that can."""
    found = [each.passed([_end(steps, qd) for steps in _ways(tree, each, q)]) for each in constraints_of(tree)]
    return [one for one in found if one is not None]


def lost_directions(tree: Tree, q: Array, near: float = 0.0) -> str | None:
    """A sentence that names a constraint without directions at a configuration (nq), its margin being below `near`;
    None if there is none."""
    return next((f"{words} at this configuration of {tree.name}" for words, margin in margins(tree, q).items()
                 if float(margin) <= near), None)


def rates(tree: Tree, q: Array, qd: Array, t: Scalar = None) -> Array:
    """A qd, and what the time adds to it (h)."""
    return _stacked([row.rate for each in constraints_of(tree) for row in _rows(tree, each, q, qd, t)])


def drift(tree: Tree, q: Array, qd: Array, t: Scalar = None) -> Array:
    """The second rates of phi without accelerations (h)."""
    return _stacked([row.second for each in constraints_of(tree) for row in _rows(tree, each, q, qd, t)])


def jacobian(tree: Tree, q: Array, t: Scalar = None) -> Array:
    """A (h, nv)."""
    found = [jacobian_of(tree, each, q, t) for each in constraints_of(tree)]
    return np.concatenate(found) if found else np.zeros((0, tree.nv))


@of_a_mechanism
def residual_kernel(tree: Tree) -> MechanismKernel:
    """`constraint_residual(q)` (..., h)."""
    return _kernel(tree, residual, "(q)->(h)", ("q", ), "By how much the constraints are open.", "m or rad")


@of_a_mechanism
def rates_kernel(tree: Tree) -> MechanismKernel:
    """`constraint_rates(q, qd)` (..., h)."""
    return _kernel(tree, rates, "(q),(v)->(h)", ("q", "qd"), "How fast the constraints open.", "m/s or rad/s")


@of_a_mechanism
def jacobian_kernel(tree: Tree) -> MechanismKernel:
    """`constraint_jacobian(q)` (..., h, nv)."""
    return _kernel(tree, jacobian, "(q)->(h,v)", ("q", ),
                   "The constraint Jacobian A: A qd is what the velocities add to the rate of the residual.")


@of_a_mechanism
def drift_kernel(tree: Tree) -> MechanismKernel:
    """`constraint_drift(q, qd)` (..., h)."""
    return _kernel(tree, drift, "(q),(v)->(h)", ("q", "qd"),
                   "The rate of the constraint Jacobian, times qd, and what the time adds to it.", "m/s^2 or rad/s^2")


def _kernel(tree: Tree, text: Callable[..., Array], signature: str, inputs: tuple[str, ...], sentence: str,
            unit: str = "") -> MechanismKernel:
    """The kernel of one of these texts; it has the time as its last input if a constraint depends on it."""
    def of_one_state(*state: Array) -> Array:
        return text(tree, *state)

    described(tree, of_one_state, sentence)
    sizes = signature.replace("h", str(len(row_names(tree)))).replace("->", f"{',()' if tree.is_timed else ''}->")
    return kernel(sized(tree, sizes), name=f"constraint_{text.__name__}", inputs=timed(tree, inputs),
                  units=units_of(tree) | {"t": "s", "out": unit}, kind=MechanismKernel)(of_one_state)


def timed(tree: Tree, inputs: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the inputs of a kernel, and t if a constraint of the mechanism depends on it."""
    return (*inputs, "t") if tree.is_timed else inputs


def residual_of(tree: Tree, constraint: Constraint, q: Array, t: Scalar = None) -> Array:
    """The residual of one constraint (rows)."""
    rows = constraint.rows(_at_rest(_ways(tree, constraint, q)), coordinates_at_rest(tree, constraint, q, t))
    return _stacked([row.value for row in rows])


def _rows(tree: Tree, constraint: Constraint, q: Array, qd: Array, t: Scalar) -> list[Row]:
    """The rows of one constraint, their second rates those without accelerations."""
    ends = [_end(steps, qd) for steps in _ways(tree, constraint, q)]
    named = [Row(q[at.q], qd[at.qd], 0.0) for at in _named(tree, constraint)]
    return constraint.rows(ends, [*named, *_time(tree, constraint, t, 1.0)])


def _time(tree: Tree, constraint: Constraint, t: Scalar, rate: float) -> list[Row]:
    """The time as the last coordinate of a constraint that depends on it."""
    if not constraint.timed:
        return []
    if t is None:
        raise UnsupportedError(
            f"{constraint.sentence} of {tree.name}: this depends on the time t, which must be given; what does not "
            "take it does not know such constraints yet")
    return [Row(t, rate, 0.0)]


def jacobian_of(tree: Tree, constraint: Constraint, q: Array, t: Scalar = None) -> Array:
    """The Jacobian of one constraint (rows, nv): the rates of its rows by unit velocities. Only the joints that take
    part are looked at."""
    ways = _ways(tree, constraint, q)
    at_rest = _at_rest(ways)
    named = _named(tree, constraint)
    still = coordinates_at_rest(tree, constraint, q, t)
    columns: dict[int, Any] = {}
    for side, steps in enumerate(ways):
        for column, end in _columns(steps):
            ends = [end if k == side else other for k, other in enumerate(at_rest)]
            columns[column] = _stacked([row.rate for row in constraint.rows(ends, still)])
    for k, at in enumerate(named):
        unit = [row._replace(rate=1.0) if k == other else row for other, row in enumerate(still)]
        own = _stacked([row.rate for row in constraint.rows(at_rest, unit)])
        columns[at.qd] = own + columns[at.qd] if at.qd in columns else own
    none = np.zeros(len(constraint.row_names))
    return np.stack([columns.get(k, none) for k in range(tree.nv)], axis=1)


def coordinates_at_rest(tree: Tree, constraint: Constraint, q: Array, t: Scalar = None) -> list[Row]:
    """The coordinates that a constraint asks for, and the time if it depends on it, standing still."""
    return [*[Row(q[at.q], 0.0, 0.0) for at in _named(tree, constraint)], *_time(tree, constraint, t, 0.0)]


def _named(tree: Tree, constraint: Constraint) -> list[Coordinate]:
    return [tree.coordinate(name) for name in constraint.coordinates]


def _ways(tree: Tree, constraint: Constraint, q: Array) -> list[list[Step]]:
    return [steps_of(*way, q) for way in ways_between(tree, *constraint.frames)] if constraint.frames else []


def _end(steps: list[Step], qd: Array) -> FrameMotion:
    end = moving(steps, qd, np.zeros(len(qd)))[-1]
    return FrameMotion(end.pose.R, end.pose.p, end.u, end.w, end.du, end.dw)


def _at_rest(ways: list[list[Step]]) -> list[FrameMotion]:
    return [_seen(_poses(steps)[-1]) for steps in ways]


def _seen(pose: Pose) -> FrameMotion:
    return FrameMotion(pose.R, pose.p, _REST, _REST, _REST, _REST)


def _poses(steps: list[Step]) -> list[Pose]:
    """The poses of the frames after each step."""
    return list(accumulate((step.pose for step in steps), Pose.then, initial=HERE))[1:]


def _columns(steps: list[Step]) -> Iterator[tuple[int, FrameMotion]]:
    poses = _poses(steps)
    end = poses[-1]
    for step, (R, p) in zip(steps, poses, strict=True):
        for k, column in enumerate(range(step.columns.start, step.columns.stop)):
            turn = R @ step.subspace[3:, k]
            yield column, _seen(end)._replace(u=R @ step.subspace[:3, k] + np.cross(turn, end.p - p), w=turn)


def _stacked(entries: list[Any]) -> Array:
    return np.stack(entries) if entries else np.zeros(0)


def joining(tree: Tree) -> list[tuple[Constraint, slice]]:
    """The constraints that join two frames, with the places of their rows."""
    found = []
    first = 0
    for each in constraints_of(tree):
        rows = slice(first, first + len(each.row_names))
        first = rows.stop
        if each.frames:
            found.append((each, rows))
    return found


def wrenches_of(tree: Tree, constraint: Constraint, q: Array, forces: Array, *t: Scalar) -> list[Array]:
    """For each of its two frames the wrench (6), (f; m), on its body at the frame's origin and in the frame's axes, by
    the `forces` of its rows; at the time `t` if it depends on it.

    >>> from cayley.model.catalogue import load_robot
    >>> engine = load_robot("slider_crank")
    >>> pin = engine.loops[0]
    >>> _, on_slider = wrenches_of(engine, pin, np.zeros(3), np.array([1.0, 2.0, 0.0, 0.0, 0.0]))
    >>> on_slider.round(12) + 0.0
    array([1., 2., 0., 0., 0., 0.])
    """
    poses = []
    for way in ways_between(tree, *constraint.frames):
        pose = HERE
        for step in steps_of(*way, q):
            pose = pose.then(step.pose)
        poses.append(pose)
    at_rest = [FrameMotion(pose.R, pose.p, _REST, _REST, _REST, _REST) for pose in poses]
    still = coordinates_at_rest(tree, constraint, q, *t)
    found = []
    for side, own in enumerate(at_rest):
        moved = [own._replace(u=unit[:3], w=unit[3:]) for unit in np.eye(6)]
        ends = [[motion if k == side else other for k, other in enumerate(at_rest)] for motion in moved]
        felt = np.array([sum(force * row.rate for force, row in zip(forces, constraint.rows(end, still), strict=True))
                         for end in ends])
        R = own.R
        found.append(np.concatenate([R.T @ felt[:3], R.T @ felt[3:]]))
    return found


CLOSED = 1e-7  # in the size of the machine, and radians: what is open by more is not closed


def machine_size(tree: Tree) -> float:
    """The largest distance of a joint or frame from its body, or 1 [m]."""
    places = [joint.placement for joint in tree.joints] + [frame.pose for frame in tree.frames]
    return float(max((np.linalg.norm(np.asarray(pose)[:3, 3]) for pose in places if pose is not None), default=0.0)
                 ) or 1.0


def length_unit(tree: Tree) -> float:
    """The size of the machine, to the nearest power of ten [m]."""
    return kept(tree, "unit of length", lambda: float(10.0**round(np.log10(machine_size(tree)))))


def lengths(tree: Tree, size: float) -> Array:
    """The unit of each velocity (nv): `size` for slides, a radian for turns."""
    return np.array([size if unit == "m" else 1.0 for joint in tree.joints for unit in joint.motion.velocity_units])


def row_sizes(tree: Tree) -> Array:
    """The unit of each row (h) of the constraints."""
    return kept(tree, "sizes of rows", lambda: _row_sizes(tree))


def _row_sizes(tree: Tree) -> Array:
    unit = length_unit(tree)
    known = {"m": unit, "rad": 1.0}
    units = [unit for each in constraints_of(tree) for unit in each.row_units]
    A = constraint_jacobian(tree, tree.neutral, *((0.0,) if tree.is_timed else ())) * lengths(tree, unit)
    own = np.linalg.norm(np.where(np.isfinite(A), A, 0.0), axis=-1)
    return np.array([known.get(word, length or 1.0) for word, length in zip(units, own, strict=True)])


def scaled(tree: Tree, A: Array) -> Array:
    """Constraint Jacobians (..., h, nv) without units, their rows about one long."""
    return A * lengths(tree, length_unit(tree)) / row_sizes(tree)[:, None]


def scaled_jacobian(tree: Tree, q: ArrayLike, *time: ArrayLike) -> Array:
    """The constraint Jacobian (..., h, nv) at configurations (..., nq), without units."""
    return scaled(tree, constraint_jacobian(tree, q, *time))


def scaled_opening(tree: Tree, q: ArrayLike, *time: ArrayLike) -> Array:
    """The openings of the rows (..., h) of the constraints, without units."""
    left = np.asarray(kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *time))
    return np.abs(left) / row_sizes(tree)


def check_closed(tree: Tree, q: Array, time: Sequence[ArrayLike] = (), tolerance: float = CLOSED) -> None:
    """Refuse configurations (..., nq) at which a constraint is open, by its name and by how much."""
    left = scaled_opening(tree, q, *time)
    bad = first_failure(left.max(axis=-1, initial=0.0) <= tolerance)
    if bad is not None:
        row = int(np.argmax(np.where(np.isnan(left[bad]), np.inf, left[bad])))
        name = row_names(tree)[row]
        raise ConventionError(
            f"the constraints of {tree.name} are open by {left[bad][row] * row_sizes(tree)[row]:.3g} ({name}) at this "
            f"configuration{place(bad)}: bring it to one with `close(q)`")


def constraint_jacobian(tree: Tree, q: ArrayLike, *time: ArrayLike) -> Array:
    """The constraint Jacobian (..., h, nv) at configurations (..., nq), and at a time if a constraint depends on it."""
    return np.asarray(kept(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))(q, *time))
