"""All dead centres of a linkage: its closed configurations followed all the way round, and where joints turn back.

    A t = 0, |t| = 1       the tangent t(q), on the side of the one before
The curve is followed by its length, so that no joint is preferred. A joint is at its dead centre where its entry of t
goes through zero, which is found to rounding. At a bifurcation, where another curve crosses, the way goes straight on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import least_singular, rank_of
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import UnsupportedError
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import jacobian_kernel, lengths, machine_size, residual_kernel
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.continuation import corrected, whole_curve, zero_ahead
from cayley.kinematics.frame_kernels import difference_kernel, integrate_kernel
from cayley.kinematics.singular.actuation_singularity import closed
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.showing import brief

_STEP = 0.05  # of the length of the curve [rad, sizes of the machine]
_MOST_STEPS = 20_000
_SHORTEST = 1e-9
_NEWTON = 13
_CLOSED = 1e-13  # in the size of the machine, and radians
_SAME = 1e-7  # dead centres that are nearer than this are one
_MOVES = 1e-9


@dataclass(frozen=True, eq=False)
class DeadCentres:
    """The dead centres on the curve of closed configurations through a start, in the order of the curve."""

    configurations: Array  # (n, nq)
    stopped: tuple[tuple[str, ...], ...]  # of each, the velocities that go through zero there
    closes: bool  # whether the curve comes back to its start; otherwise it ends at limits of the joints, or goes on
    path: Array  # (m, nq): the configurations that were passed

    __repr__ = brief

    def of(self, joint: str) -> Array:
        """The configurations (k, nq) at which one velocity goes through zero."""
        places = [k for k, names in enumerate(self.stopped) if joint in names]
        return self.configurations[places]


def dead_centres(tree: Tree, q: ArrayLike, *, held: Sequence[str] = ()) -> DeadCentres:
    """The dead centres of a mechanism that has one degree of freedom, or has it with the joints `held` fixed, on the
    curve of a closed configuration (nq), within the limits.

    >>> from cayley.model.catalogue import load_robot
    >>> found = dead_centres(load_robot("slider_crank"), [0.0, 0.0, 0.0])
    >>> found.closes, sorted(found.of("slider")[:, 2].round(6).tolist())  # 0.09 m and 0.41 m in a row, less 0.4 m
    (True, [-0.08, 0.1])
    """
    at = closed(tree, q)
    curve = _Curve(tree, held)
    free = tree.nv - constraint_structure(tree).rank - len(curve.held)
    if at.shape != (tree.nq,) or free != 1:
        raise UnsupportedError(
            f"dead centres are looked for from one closed configuration ({tree.nq}), with one degree of freedom left: "
            f"this is {at.shape}, and {tree.name} has {free} of them left. Name joints that are `held`")
    tangent = curve.tangent(at, None)
    path, closes = whole_curve(at, tangent, curve.advanced, longest=_STEP, shortest=_SHORTEST, straight=0.98,
                               most=_MOST_STEPS,
                               back=lambda q, t: curve.apart(q, at) if t @ tangent > 0.9 else np.inf)
    found, stopped = curve.turning(path)
    return DeadCentres(found, stopped, closes, path)


class _Curve:
    def __init__(self, tree: Tree, held: Sequence[str]) -> None:
        self.tree = tree
        self.held = Inputs.of(tree, held).velocities
        self._A = kept(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))
        self._phi = kept(tree, "constraint residual", lambda: residual_kernel(tree))
        self._moved = kept(tree, "integrate", lambda: integrate_kernel(tree))
        self._difference = kept(tree, "difference", lambda: difference_kernel(tree))
        self._scale = lengths(tree, machine_size(tree))
        self._sizes = np.array(constraint_structure(tree).sizes)
        self._still = np.eye(tree.nv)[self.held]

    @cached_property
    def _turns(self) -> Array:
        return np.array([wraps and joint.motion.nv == 1 for joint in self.tree.joints
                         for wraps in (joint.motion.wraps if joint.motion.nq == 1 else (False,) * joint.motion.nv)])

    def _rows(self, q: Array) -> Array:
        return np.concatenate([np.asarray(self._A(q)) / self._sizes[:, None], self._still]) * self._scale

    def tangent(self, q: Array, before: Array | None) -> Array:
        """t (nv), in units of the scale; of several the one that goes on as `before`."""
        rows = self._rows(q)
        N = null_basis(rows, min(int(rank_of(rows)), self.tree.nv - 1)).T
        t = N[0] if before is None else N.T @ (N @ before)
        return t / np.linalg.norm(t)

    def advanced(self, q: Array, t: Array, h: float) -> tuple[Array, Array] | None:
        """The configuration a length h beyond q, predicted along t, and the tangent there; None if it is not closed, or
        beyond a limit."""
        zeros = np.zeros((1, len(self._still) + 1))

        def equations(x: Array) -> tuple[Array, Array]:
            missing = -np.asarray(self._phi(x)) / self._sizes
            return np.concatenate([self._rows(x[0]), t[None]])[None], np.concatenate([missing, zeros], axis=1)

        found = corrected(equations, lambda x, step: self._moved(x, step * self._scale),
                          self._moved(q, h * t * self._scale)[None], iterations=_NEWTON, tolerance=_CLOSED,
                          least=least_singular(self.tree.nv))
        there = found.points[0]
        if found.missing[0] > 1e3 * _CLOSED or not self._is_within(there):
            return None
        return there, self.tangent(there, t)

    def turning(self, path: Array) -> tuple[Array, tuple[tuple[str, ...], ...]]:
        """The places where entries of the tangent change their sign along a path, and the names of the velocities."""
        names = [name for name, _ in velocity_labels(self.tree)]
        tangents = [self.tangent(path[0], None)]
        for q in path[1:]:
            tangents.append(self.tangent(q, tangents[-1]))
        T = np.array(tangents)
        moving = np.abs(T).max(axis=0, initial=0.0) > _MOVES
        found: list[Array] = []
        stopped: list[list[str]] = []
        for k, v in np.argwhere((T[:-1] * T[1:] <= 0) & moving & (T[:-1] != 0)):
            def speed(_: Array, t: Array, place: int = int(v)) -> float:
                return float(t[place])

            q = zero_ahead(speed, path[k], T[k], self.advanced, 1.001 * self.apart(path[k], path[k + 1]))
            if q is None:
                continue
            near = next((j for j, other in enumerate(found) if self.apart(other, q) < _SAME), None)
            if near is None:
                found.append(q)
                stopped.append([names[v]])
            elif names[v] not in stopped[near]:
                stopped[near].append(names[v])
        return np.array(found).reshape(-1, self.tree.nq), tuple(map(tuple, stopped))

    def apart(self, one: Array, other: Array) -> float:
        return float(np.linalg.norm(self._wrapped(self._difference(one, other))))

    def _wrapped(self, d: Array) -> Array:
        return np.where(self._turns, np.arctan2(np.sin(d), np.cos(d)), d) / self._scale

    def _is_within(self, q: Array) -> bool:
        return bool(((q >= self.tree.lower) & (q <= self.tree.upper)).all())
