"""Jacobians formed at one frame and referred to another, jJi: the twist (v; w) of a body, v the velocity of its point
that is at the origin of frame i now, in the axes of frame j; by rotation matrices, or by vector-parameters.

    0J0   both the root (Waldron)              0JE   of the end effector, in the root's axes (Ribble)
    kJk   both a frame in the middle (Renaud)  EJE   both the end effector (Paul; Orin and Schrader)
All is seen from frame j, outwards and inwards. By vector-parameters the turns are homogeneous forms [w : v] of length
one, composed by <c, c'> and applied as O(c) x = x + 2 v x (w x + v x x). Source: Mladenova, Table 2; spec S0-76."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array
from cayley.errors import ConventionError
from cayley.geometry.pose import HERE, Pose
from cayley.geometry.rotations.quaternion import quaternion_conjugate, quaternion_from_matrix, quaternion_product
from cayley.kinematics.elementary import pairs_to, steps_of, way_to
from cayley.model.elementary_motions import ElementaryMotion
from cayley.model.tree import Tree

By = Literal["matrices", "vector-parameters"]
_ROUNDING = 1e-15  # of a constant unit form: what keeps its zeros from being zeros


class MatrixTurn(NamedTuple):
    """The turn of a frame, seen from another, by a matrix (3, 3): `before` and `after` a step, and `of` a vector."""

    R: Array

    def before(self, step: MatrixTurn) -> MatrixTurn:
        return MatrixTurn(self.R @ step.R.T)

    def after(self, step: MatrixTurn) -> MatrixTurn:
        return MatrixTurn(self.R @ step.R)

    def of(self, x: Array) -> Array:
        return self.R @ x


class ParameterTurn(NamedTuple):
    """The same by a homogeneous vector-parameter [w : v] (4) of length one."""

    h: Array

    def before(self, step: ParameterTurn) -> ParameterTurn:
        return ParameterTurn(quaternion_product(self.h, quaternion_conjugate(step.h)))  # <c, -c'>

    def after(self, step: ParameterTurn) -> ParameterTurn:
        return ParameterTurn(quaternion_product(self.h, step.h))  # <c, c'>

    def of(self, x: Array) -> Array:
        v = self.h[1:]
        return x + np.cross(v + v, self.h[0] * x + np.cross(v, x))  # (65)


Turn = Any  # MatrixTurn or ParameterTurn


class JacobianStep(NamedTuple):
    """One step on a way: its turn, its offset and directions, and its places in the velocity."""

    turn: Turn
    p: Array
    subspace: Array
    columns: slice


class Seen(NamedTuple):
    """A frame as seen from another."""

    turn: Turn
    p: Array

    def before(self, step: JacobianStep) -> Seen:
        turn = self.turn.before(step.turn)
        return Seen(turn, self.p - turn.of(step.p))

    def after(self, step: JacobianStep) -> Seen:
        return Seen(self.turn.after(step.turn), self.p + self.turn.of(step.p))


def formed_jacobian(tree: Tree, q: Array, frame: str, *, formed_in: str, referred_to: str, by: By) -> Array:
    """The Jacobian (6, nv) of a frame, formed at the origin of one frame and referred to the axes of another."""
    at, axes = (None if name == "body" else name for name in (formed_in, referred_to))
    return jacobian_seen_from(tree, q, frame, at=at, axes=axes, by=by)


def jacobian_seen_from(tree: Tree, q: Array, frame: str, *, at: str | None, axes: str | None,
                       by: By = "matrices") -> Array:
    """The same with None for the frame itself, whatever it is called, and "world" for the root."""
    if by not in _MOVES:
        raise ConventionError(f"by={by!r}: turns are made by 'matrices' or by 'vector-parameters'")
    moves, here = _MOVES[by]
    way = moves(tree, q, frame)

    def way_of(name: str | None) -> list[JacobianStep]:
        return way if name is None else moves(tree, q, None if name == "world" else name)

    origin = way_of(axes)
    point = np.zeros(3) if at == axes else _along(way_of(at), origin, here)[-1].p
    columns = [np.zeros(6)] * tree.nv
    for move, seen in zip(way, _along(way, origin, here), strict=True):
        for place, column in zip(range(move.columns.start, move.columns.stop), move.subspace.T, strict=True):
            turns = seen.turn.of(column[3:])
            columns[place] = np.concatenate([seen.turn.of(column[:3]) + np.cross(turns, point - seen.p), turns])
    return np.stack(columns, axis=1) if columns else np.zeros((6, 0))


def _along(way: list[JacobianStep], origin: list[JacobianStep], here: Turn) -> list[Seen]:
    """The frames after the steps of a way from the root, seen from the end of another: inwards along that one to where
    they part, from there inwards and outwards along this one."""
    pairs = zip(way[:-1], origin[:-1], strict=False)
    shared = next((k for k, (a, b) in enumerate(pairs) if a.columns != b.columns), min(len(way), len(origin)) - 1)
    parting = Seen(here, np.zeros(3))
    for move in reversed(origin[shared:]):
        parting = parting.before(move)
    inner = [parting] * min(shared, 1)
    for move in reversed(way[1:shared]):
        inner.append(inner[-1].before(move))
    outer = [parting]
    for move in way[shared:]:
        outer.append(outer[-1].after(move))
    return [*reversed(inner), *outer[1:]]


def _by_matrices(tree: Tree, q: Array, frame: str | None) -> list[JacobianStep]:
    links, end = ([], HERE) if frame is None else way_to(tree, frame)
    return [JacobianStep(MatrixTurn(step.pose.R), step.pose.p, step.subspace, step.columns)
            for step in steps_of(links, end, q)]


def _by_parameters(tree: Tree, q: Array, frame: str | None) -> list[JacobianStep]:
    links, end = ([], HERE) if frame is None else pairs_to(tree, frame)
    turns = [*[_form(link, q[link.coordinates]) for link in links], _constant(end)]
    return [JacobianStep(ParameterTurn(turn), step.pose.p, step.subspace, step.columns)
            for turn, step in zip(turns, steps_of(links, end, q), strict=True)]


def _form(link: ElementaryMotion, q: Array) -> Array:
    fixed = _constant(link.placement)
    attitude = link.motion.attitude
    if attitude is not None:
        return quaternion_product(fixed, q[attitude.q])
    screw = link.motion.screw
    if screw is None or not screw.turn:
        return fixed
    half = screw.turn * q[0] / 2
    return quaternion_product(fixed, np.concatenate([[np.cos(half)], np.sin(half) * np.asarray(screw.axis)]))


def _constant(pose: Pose) -> Array:
    h = quaternion_from_matrix.unchecked(pose.R)
    return h if is_symbolic(h) else np.where(np.abs(h) < _ROUNDING, 0.0, h)


_MOVES: dict[str, tuple[Callable[[Tree, Array, str | None], list[JacobianStep]], Turn]] = {
    "matrices": (_by_matrices, MatrixTurn(np.eye(3))),
    "vector-parameters": (_by_parameters, ParameterTurn(np.array([1.0, 0.0, 0.0, 0.0])))}
