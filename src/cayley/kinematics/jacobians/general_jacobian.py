"""General Jacobians: the twist (v; w) of any body at any point in any axes, relative to any other; their rates, second
rates and Hessians; and Jacobians of functions of the configuration, by differentiation.

    a, s   angular velocity and velocity of the origin p of the moved frame by a unit velocity of a joint; r from p to P
    column (s + a x r; a)     rate   (s' + a' x r + a x r'; a')     a' = w x a, a'' = dw x a + w x (w x a), s likewise
    Hessian       (a_j x l_i + a_i x (P_j - l_j); a_j x a_i) if joint j carries joint i, otherwise (a_i x P_j; 0)
    in the frame's own axes, P_i = sum over j > i of J_j v_j, [(a; b), (c; d)] = (b x c + a x d; b x d), much cheaper:
    J_i' = [J_i, P_i]        J_i'' = [J_i', P_i] + [J_i, P_i']        dJ_i by joint j: [J_i, J_j] if j lies beyond i
    dF/dt = (dF/dq) G qd      q' = G v, where coordinates are more than velocities (quaternions)
with l_i the linear part of a column and P_j the velocity of the point P under joint j. In turning axes a rate is that
of the components. Source: Balafoutis & Patel (7.4.6), (7.4.7), spec R9.1; Ruggiu (2.57), (2.58), 2.3.3; Yamamoto
(1.20)-(1.23); spec S2-38, S3-15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.algebras.interpret import NUMPY, interpret
from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.implied_values import plain
from cayley.compiler.tracing.inline import with_own_variables
from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.errors import SignatureError
from cayley.geometry.pose import HERE, Pose
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.elementary import Step, steps_to
from cayley.kinematics.jacobians.formed_jacobian import jacobian_seen_from
from cayley.kinematics.jacobians.velocity import Moving, moving
from cayley.model.configuration_space import configuration_rate
from cayley.model.parameters import has_symbols
from cayley.model.tree import Tree


class Column(NamedTuple):
    """The effect of a unit velocity of a joint, in the root's axes."""

    turn: Array  # a
    slide: Array  # s
    moved: Moving  # the frame after the joint
    last: int  # the first velocity that is not of this step: of those on the way, the ones before it carry this one


class FramePath(NamedTuple):
    """The way from the root to a frame: its columns by their places in the velocity, and the motion of the frame."""

    columns: dict[int, Column]
    end: Moving


class JacobianParts(NamedTuple):
    """The parts of a Jacobian: columns of the body and, with opposite sign, of the reference; the point and the axes,
    with their ways."""

    columns: list[tuple[int, float, Column, FramePath]]
    point: Moving
    point_way: FramePath
    axes: Moving
    axes_way: FramePath


def general_jacobian(tree: Tree, q: Array, frame: str, *, axes: str, at: Array | FrameName | None = None,
                     relative_to: str = "world") -> Array:
    """The Jacobian (6, nv): the twist of a frame's body relative to the body of another, by the velocities.

    The reference point is the frame's origin, or `at` a point: coordinates (3) in the frame, or the name of a frame,
    for the point of the body that is at that frame's origin now. `axes`: "world", "body" (the frame's own), or the name
    of a frame."""
    if _is_own(axes, at, relative_to):
        return own_jacobian(tree, q, frame, _own_point(at))
    if relative_to == "world" and (at is None or isinstance(at, str)):
        return jacobian_seen_from(tree, q, frame, at=at, axes=None if axes == "body" else axes)
    view = _view(tree, q, None, None, frame, axes, at, relative_to)
    return _assembled(tree, view, {i: _column(view, sign, c) for i, sign, c, _ in view.columns})


def jacobian_rate(tree: Tree, q: Array, qd: Array, frame: str, *, axes: str, at: Array | FrameName | None = None,
                  relative_to: str = "world") -> Array:
    """The time derivative (6, nv) of `general_jacobian` at the velocity `qd`.

    In the root's axes, rate @ qd + jacobian @ qdd is the acceleration of a point that is fixed to the body (`at` not a
    name)."""
    if has_changing_directions(tree):
        return rate_of(tree, _of_q(tree, frame, axes, at, relative_to), q, qd)
    if _is_own(axes, at, relative_to):
        return own_jacobian_rate(tree, q, qd, frame, _own_point(at))
    view = _view(tree, q, qd, None, frame, axes, at, relative_to)
    rates = {
        i: _column_rate(view, sign, c) - _spun(view.axes.w, _column(view, sign, c))
        for i, sign, c, _ in view.columns}
    return _assembled(tree, view, rates)


def jacobian_second_rate(tree: Tree, q: Array, qd: Array, qdd: Array, frame: str, *, axes: str,
                         at: Array | FrameName | None = None, relative_to: str = "world") -> Array:
    """The second time derivative (6, nv) of `general_jacobian` at the velocity `qd` and the acceleration `qdd`."""
    if has_changing_directions(tree):
        return second_rate_of(tree, _of_q(tree, frame, axes, at, relative_to), q, qd, qdd)
    if _is_own(axes, at, relative_to):
        return own_jacobian_second_rate(tree, q, qd, qdd, frame, _own_point(at))
    view = _view(tree, q, qd, qdd, frame, axes, at, relative_to)
    w = view.axes.w
    dw = view.axes.dw
    found = {}
    for i, sign, c, _ in view.columns:
        column = _column(view, sign, c)
        rate = _column_rate(view, sign, c)
        found[i] = _column_second_rate(view, sign, c) - 2 * _spun(w, rate) + _spun(w, _spun(w, column)) - _spun(
            dw, column)
    return _assembled(tree, view, found)


def hessian(tree: Tree, q: Array, frame: str, *, axes: str, at: Array | FrameName | None = None,
            relative_to: str = "world") -> Array:
    """H (6, nv, nv): H[:, i, j] is the change of column i of `general_jacobian` when velocity j is one and the others
    are zero.

    So H @ qd is the rate of the Jacobian. Where velocities are rates of coordinates (all joints but spherical and
    floating ones), the linear part for a point of the body in the root's axes is symmetric in i and j."""
    if has_changing_directions(tree):
        return changes_of(tree, _of_q(tree, frame, axes, at, relative_to), q)
    if _is_own(axes, at, relative_to):
        return own_hessian(tree, q, frame, _own_point(at))
    view = _view(tree, q, None, None, frame, axes, at, relative_to)
    plain = {i: _column(view, sign, c) for i, sign, c, _ in view.columns}
    directions = {
        j: c
        for way in (view.point_way, view.axes_way, *[way for *_, way in view.columns])
        for j, c in way.columns.items()}
    layers = [np.zeros((6, tree.nv)) for _ in range(tree.nv)]
    for j, along in directions.items():
        turned = along.turn if j in view.axes_way.columns else np.zeros(3)
        changes = {
            i: _column_change(view, sign, c, way, j, along) - _spun(turned, plain[i])
            for i, sign, c, way in view.columns}
        layers[j] = _assembled(tree, view, changes)
    return np.stack(layers, axis=2) if layers else np.zeros((6, 0, 0))


def _of_q(tree: Tree, frame: str, axes: str, at: Array | FrameName | None, relative_to: str) -> Callable[[Any], Any]:
    return lambda q: general_jacobian(tree, q, frame, axes=axes, at=at, relative_to=relative_to)


def _own_point(at: Array | FrameName | None) -> Array:
    return np.zeros(3) if at is None else np.asarray(at)


def _is_own(axes: str, at: Array | FrameName | None, relative_to: str) -> bool:
    """True if point and axes are those of the frame itself, for which `own_axes` has the shorter texts."""
    return axes == "body" and relative_to == "world" and not isinstance(at, str)


# Columns, in the root's axes


def _column(view: JacobianParts, sign: float, c: Column) -> Array:
    return sign * np.concatenate([c.slide + np.cross(c.turn, view.point.pose.p - c.moved.pose.p), c.turn])


def _column_rate(view: JacobianParts, sign: float, c: Column) -> Array:
    r = view.point.pose.p - c.moved.pose.p
    dr = view.point.u - c.moved.u
    turn = np.cross(c.moved.w, c.turn)
    slide = np.cross(c.moved.w, c.slide)
    return sign * np.concatenate([slide + np.cross(turn, r) + np.cross(c.turn, dr), turn])


def _column_second_rate(view: JacobianParts, sign: float, c: Column) -> Array:
    r = view.point.pose.p - c.moved.pose.p
    dr = view.point.u - c.moved.u
    ddr = view.point.du - c.moved.du
    rate = np.cross(c.moved.w, c.turn)
    turn, slide = (np.cross(c.moved.dw, x) + np.cross(c.moved.w, np.cross(c.moved.w, x)) for x in (c.turn, c.slide))
    return sign * np.concatenate([slide + np.cross(turn, r) + 2 * np.cross(rate, dr) + np.cross(c.turn, ddr), turn])


def _column_change(view: JacobianParts, sign: float, c: Column, way: FramePath, j: int, along: Column) -> Array:
    """The change of a column with a unit velocity j."""
    point = view.point.pose.p
    own = along.slide + np.cross(along.turn, point - along.moved.pose.p)  # of what j carries, at the point
    moved = own if j in view.point_way.columns else np.zeros(3)
    if not (j in way.columns and j < c.last):
        return sign * np.concatenate([np.cross(c.turn, moved), np.zeros(3)])
    linear = np.cross(along.turn, c.slide + np.cross(c.turn, point - c.moved.pose.p)) + np.cross(c.turn, moved - own)
    return sign * np.concatenate([linear, np.cross(along.turn, c.turn)])


def _spun(w: Array, column: Array) -> Array:
    return np.concatenate([np.cross(w, column[:3]), np.cross(w, column[3:])])


def _assembled(tree: Tree, view: JacobianParts, columns: dict[int, Any]) -> Array:
    """The matrix of the columns, in the asked axes."""
    turn = view.axes.pose.R.T
    turned = [
        np.concatenate([turn @ columns[i][:3], turn @ columns[i][3:]]) if i in columns else np.zeros(6)
        for i in range(tree.nv)]
    return np.stack(turned, axis=1) if turned else np.zeros((6, 0))


# Ways


def branch(tree: Tree, q: Array, qd: Array | None, qdd: Array | None, frame: str) -> FramePath:
    """The way to a frame, moving with `qd` and `qdd`."""
    steps = steps_to(tree, q, frame)
    still = np.zeros(tree.nv)
    motions = moving(steps, still if qd is None else qd, still if qdd is None else qdd)
    columns = {}
    for step, moved in zip(steps, motions, strict=True):
        slides = moved.pose.R @ step.subspace[:3]
        turns = moved.pose.R @ step.subspace[3:]
        for k, place in enumerate(range(step.columns.start, step.columns.stop)):
            columns[place] = Column(turns[:, k], slides[:, k], moved, step.columns.stop)
    return FramePath(columns, motions[-1])


def reference(tree: Tree, q: Array, qd: Array | None, qdd: Array | None, name: str) -> FramePath:
    """The way to what things are seen from: a frame, or the root, which is "world" even if a frame has that name."""
    return FramePath({}, Moving(HERE)) if name == "world" else branch(tree, q, qd, qdd, name)


def _view(tree: Tree, q: Array, qd: Array | None, qdd: Array | None, frame: str, axes: str,
          at: Array | FrameName | None, relative_to: str) -> JacobianParts:
    own = branch(tree, q, qd, qdd, frame)
    other = reference(tree, q, qd, qdd, relative_to)
    columns = [(i, 1.0, c, own) for i, c in own.columns.items() if i not in other.columns]
    columns += [(i, -1.0, c, other) for i, c in other.columns.items() if i not in own.columns]
    turning = own if axes == "body" else reference(tree, q, qd, qdd, axes)
    if isinstance(at, str):
        way = reference(tree, q, qd, qdd, at)
        return JacobianParts(columns, way.end, way, turning.end, turning)
    point = own.end if at is None else own.end.carried_to(own.end.pose.p + own.end.pose.R @ at)
    return JacobianParts(columns, point, own, turning.end, turning)


class OwnColumns(NamedTuple):
    """The share of an elementary motion in a Jacobian: columns (6, m), and their first place in the velocity."""

    first: int
    matrix: Array


def own_columns(tree: Tree, q: Array, frame: str, point: Array) -> list[OwnColumns]:
    """The columns of the joints on the way, from the frame inwards."""
    return columns_of_steps(steps_to(tree, q, frame), point)


def columns_of_steps(steps: Sequence[Step], point: Array) -> list[OwnColumns]:
    """The same of the steps on a way."""
    # the frame after a step, seen from the frame's axes at the point
    R = np.eye(3)
    p = -point
    found = []
    for step in reversed(steps):
        if step.subspace.size:
            turns = R @ step.subspace[3:]
            found.append(OwnColumns(step.columns.start, np.concatenate([R @ step.subspace[:3] + hat(p) @ turns,
                                                                        turns])))
        R, p = _before(R, p, step.pose)
    return found


def own_jacobian(tree: Tree, q: Array, frame: str, point: Array) -> Array:
    """The Jacobian (6, nv) in the frame's axes at a point (3) of the frame."""
    return _own_assembled(tree, {c.first: c.matrix for c in own_columns(tree, q, frame, point)})


def own_jacobian_rate(tree: Tree, q: Array, qd: Array, frame: str, point: Array) -> Array:
    """The time derivative of the Jacobian (6, nv) at the velocity `qd`."""
    beyond = np.zeros(6)
    rates = {}
    for first, matrix in own_columns(tree, q, frame, point):
        rates[first] = _brackets(matrix, beyond)
        beyond = beyond + matrix @ qd[first:first + matrix.shape[1]]
    return _own_assembled(tree, rates)


def own_jacobian_second_rate(tree: Tree, q: Array, qd: Array, qdd: Array, frame: str, point: Array) -> Array:
    """The second time derivative of the Jacobian (6, nv) at the velocity `qd` and the acceleration `qdd`."""
    beyond = np.zeros(6)
    beyond_rate = np.zeros(6)
    found = {}
    for first, matrix in own_columns(tree, q, frame, point):
        own = slice(first, first + matrix.shape[1])
        rate = _brackets(matrix, beyond)
        found[first] = _brackets(rate, beyond) + _brackets(matrix, beyond_rate)
        beyond = beyond + matrix @ qd[own]
        beyond_rate = beyond_rate + rate @ qd[own] + matrix @ qdd[own]
    return _own_assembled(tree, found)


def own_hessian(tree: Tree, q: Array, frame: str, point: Array) -> Array:
    """The changes of the Jacobian (6, nv, nv) by unit velocities."""
    columns = own_columns(tree, q, frame, point)
    layers = [np.zeros((6, tree.nv)) for _ in range(tree.nv)]
    for k, (first, matrix) in enumerate(columns):
        for place in range(matrix.shape[1]):
            layers[first + place] = _own_assembled(
                tree, {c.first: _brackets(c.matrix, matrix[:, place])
                       for c in columns[k + 1:]})
    return np.stack(layers, axis=2) if layers else np.zeros((6, 0, 0))


def _before(R: Array, p: Array, pose: Pose) -> tuple[Any, Any]:
    before = R @ pose.R.T
    return before, p - before @ pose.p


def _brackets(matrix: Array, twist: Array) -> Array:
    linear = hat(twist[:3])
    angular = hat(twist[3:])
    return -np.concatenate([linear @ matrix[3:] + angular @ matrix[:3], angular @ matrix[3:]])


def _own_assembled(tree: Tree, parts: dict[int, Any]) -> Array:
    columns = [np.zeros(6)] * tree.nv
    for first, matrix in parts.items():
        columns[first:first + matrix.shape[1]] = list(matrix.T)
    return np.stack(columns, axis=1) if columns else np.zeros((6, 0))


Text = Callable[..., Any]  # of q, or of more arrays, to an array


def has_changing_directions(tree: Tree) -> bool:
    """True if a joint has an elementary motion whose subspace depends on its coordinates."""
    return not all(motion.constant_subspace for joint in tree.joints for motion in joint.motion.elementary)


def rate_of(tree: Tree, text: Text, q: Array, qd: Array) -> Array:
    """The time derivative of a Jacobian `text(q)` (6, nv) at the velocity `qd`."""
    return derivatives(text, (6, tree.nv), q, inside=has_symbols(tree))[0] @ configuration_rate(tree, q, qd)


def second_rate_of(tree: Tree, text: Text, q: Array, qd: Array, qdd: Array) -> Array:
    """The second time derivative of `text(q)` at the velocity `qd` and the acceleration `qdd`."""
    by_q, by_v = derivatives(lambda q, qd: rate_of(tree, text, q, qd), (6, tree.nv), q, qd, inside=has_symbols(tree))
    return by_q @ configuration_rate(tree, q, qd) + by_v @ qdd


def changes_of(tree: Tree, text: Text, q: Array) -> Array:
    """The changes (..., nv) of `text(q)` by unit velocities."""
    along = np.stack([configuration_rate(tree, q, unit) for unit in np.eye(tree.nv)], axis=1)
    return derivatives(text, (6, tree.nv), q, inside=has_symbols(tree))[0] @ along


def derivatives(text: Text, shape: tuple[int, ...], *arrays: Array, inside: bool = False) -> tuple[Any, ...]:
    """The derivatives (*shape, n) of a text by each of its arrays (n); on numbers, or inside a trace. `inside`: the
    text itself holds symbols of that trace."""
    sizes = [len(array) for array in arrays]

    def of_its_own_variables(*variables: Array) -> Array:
        return jacobian(np.reshape(text(*variables), (-1,)), np.concatenate(variables))

    found = on_its_own_variables(of_its_own_variables, (int(np.prod(shape)), sum(sizes)), *arrays, inside=inside)
    return tuple(np.split(np.reshape(found, (*shape, sum(sizes))), np.cumsum(sizes)[:-1], axis=-1))


def on_its_own_variables(text: Text, shape: tuple[int, ...], *arrays: Array, inside: bool = False) -> Array:
    """A text that differentiates by its arrays (n), on numbers or inside a trace: it is given variables of its own, as
    those of the caller may be constants, or equal to one another. Its result has the `shape`."""
    return of_own_variables(text, shape, [len(array) for array in arrays], inside=inside)(*arrays)


def of_own_variables(text: Text, shape: tuple[int, ...], sizes: Sequence[int], *, inside: bool = False) -> Text:
    """The function that calls such a text on arrays of these sizes, traced once."""
    if inside:
        return lambda *arrays: with_own_variables(text, arrays)
    names = [f"x{k}" for k in range(len(sizes))]
    signature = ",".join(f"({size})" for size in sizes) + f"->({','.join(map(str, shape))})"
    traced = kernel(signature, name="derivatives", inputs=names)(text)

    def called(*arrays: Array) -> Array:
        symbolic = any(isinstance(x, Node) for array in arrays for x in np.asarray(array, dtype=object))
        return traced(*arrays) if symbolic else interpret(plain(traced.traced()), NUMPY, *arrays)[0]

    return called


def configuration_rate_map(tree: Tree, q: Array) -> Array:
    """G (nq, nv) of q' = G v."""
    rows = []
    for joint, place, columns in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.nq:
            own = np.stack([joint.motion.rate(q[place], unit) for unit in np.eye(joint.motion.nv)], axis=1)
            after = np.zeros((joint.motion.nq, tree.nv - columns.stop))
            rows.append(np.concatenate([np.zeros((joint.motion.nq, columns.start)), own, after], axis=1))
    return np.concatenate(rows) if rows else np.zeros((0, 0))


def task_jacobian(tree: Tree, q: Array, function: Callable[[Any], Any]) -> Array:
    """The Jacobian (..., nv) of `function(q)`, which has any shape and is a text that can be traced: its rate is the
    Jacobian times qd."""
    if not any(isinstance(x, Node) for x in np.asarray(q, dtype=object).flat):
        return _on_floats(tree, q, function)
    declared = independent(q)
    values = function(declared)
    if not any(isinstance(x, Node) for x in np.asarray(values, dtype=object).flat):
        return np.zeros((*np.shape(values), tree.nv))
    return jacobian(values, declared) @ configuration_rate_map(tree, q)


def _on_floats(tree: Tree, q: ArrayLike, function: Callable[[Any], Any]) -> Array:
    q = np.asarray(q, dtype=np.float64)
    if q.shape != (tree.nq,):
        raise SignatureError(
            f"one configuration must have shape ({tree.nq},), not {q.shape}; for many, make a kernel of this text")
    shape = (*np.shape(function(q)), tree.nv)
    return kernel(f"({tree.nq})->({','.join(map(str, shape))})",
                  name="task_jacobian")(lambda x: task_jacobian(tree, x, function))(q)
