"""Singular postures of any arm of joints with one coordinate: found from samples and continued along their curves.

    J(q)^T u = 0,   u.u = 1        J (d, n) of a point's velocity, u the direction that is lost
With the first joint held these are as many equations as unknowns (q, u) in a plane (d = 2), where singular postures are
single ones, and one less in space (d = 3), where they are curves, followed until they close or a joint comes to its
limit. Joints that do not move the point are left out. Source: Ruggiu 2.3.4; spec S2-101."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.kinematics.continuation import corrected, whole_curve
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.bounds import Bounds
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, hessian
from cayley.model.tree import Tree

_NEWTON = 40
_CONVERGED = 1e-11
_LOOSE = 1e-7  # a derivative of less rank: more than curves
_STEP = 0.04
_SHORTEST = 1e-5
_MOST_STEPS = 6000
_TRIED = 8  # samples without a new curve after which there is none


def point_and_jacobian(tree: Tree, frame: str) -> Kernel:
    """The origin of a frame and the Jacobian of its velocity, (..., 3, 1 + nv), in the root's axes."""
    return kept(tree, ("point and jacobian", frame), lambda: kernel(
        f"({tree.nq})->(3,{tree.nv + 1})", name="point_and_jacobian")(lambda q: np.concatenate(
            [frame_pose(tree, q, frame).p[:, None], general_jacobian(tree, q, frame, axes="world")[:3]], axis=1)))


@dataclass(frozen=True, eq=False)
class Folding:
    """The equations of the singular postures of a point, in lengths of the arm."""

    tree: Tree
    bounds: Bounds
    rows: Array  # (d, 3): what can move
    coordinates: Array  # (n) of the joints that move the point
    velocities: Array  # (n)
    free: Array  # which of these (n) move along the curves: not the first
    scale: Array  # (n): a radian, or the size of the arm
    point: Kernel
    hessian: Kernel

    @staticmethod
    def of(tree: Tree, frame: str, bounds: Bounds, rows: Array, joints: list[int], held: Collection[str]) -> Folding:
        coordinates = np.array([tree.q_slices[k].start for k in joints])
        velocities = np.array([tree.v_slices[k].start for k in joints])
        free = np.array([k > 0 and tree.joints[number].name not in held for k, number in enumerate(joints)])
        scale = np.where(bounds.lengths[coordinates], bounds.size, 1.0)
        second = kernel(f"({tree.nq})->(3,{tree.nv},{tree.nv})", name="hessian_of_point")(
            lambda q: hessian(tree, q, frame, axes="world")[:3])
        return Folding(tree, bounds, rows, coordinates, velocities, free, scale, point_and_jacobian(tree, frame),
                       second)

    def postures(self, starts: Array) -> list[tuple[Array, Array]]:
        """Of starts (s, nq): the single singular postures (1, nq) of a plane, or the curves (k, nq) of space, with the
        directions (k, d) that are lost."""
        starts = starts.copy()
        still = self.coordinates[~self.free]
        starts[:, still] = self.bounds.kept(self.tree.neutral)[still]
        q, u, tangent, converged = self.onto(starts, self._least(starts))
        inside = converged & self._inside(q)
        q, u, tangent = q[inside], u[inside], tangent[inside]
        lines: list[tuple[Array, Array]] = []
        known = self._marks(q[:0], u[:0])
        idle = 0
        for one, lost, along in zip(q, u, tangent, strict=True):
            distance = np.linalg.norm(known - self._marks(one[None], lost[None]), axis=1).min(initial=np.inf)
            if distance > (2 * _STEP if len(self.rows) == 3 else 1e-6):
                idle = 0
                lines.append((one[None], lost[None]) if len(self.rows) == 2 else self._curve(one, lost, along))
                known = np.concatenate([known, self._marks(*lines[-1])])
            else:
                idle += 1
            if idle >= _TRIED * (1 + len(lines)):
                break
        return lines

    def equations(self, q: Array, u: Array) -> tuple[Array, Array]:
        """The residuals (s, n + 1) of the equations at configurations (s, nq) and directions (s, d), and their
        derivative by the free coordinates, and by u, (s, n + 1, m + d)."""
        J = self._jacobian(q)
        by = self.scale[self.free]
        H = self.hessian(q)[:, :, self.velocities][..., self.velocities[self.free]] * self.scale[:, None] * by
        H = np.einsum("rc,scij->srij", self.rows, H) / self.bounds.size
        left = np.concatenate([np.einsum("sdi,sd->si", J, u), (np.sum(u * u, axis=1, keepdims=True) - 1) / 2], axis=1)
        upper = np.concatenate([np.einsum("sdij,sd->sij", H, u), np.swapaxes(J, 1, 2)], axis=2)
        lower = np.concatenate([np.zeros((len(q), 1, len(by))), u[:, None]], axis=2)
        return left, np.concatenate([upper, lower], axis=1)

    def onto(self, q: Array, u: Array, most: int = _NEWTON) -> tuple[Array, Array, Array, Array]:
        """Configurations and directions brought to the locus by Newton's method, the tangents there, and which came."""
        n = self.tree.nq

        def equations(x: Array) -> tuple[Array, Array]:
            left, M = self.equations(x[:, :n], x[:, n:])
            return M, -left

        found = corrected(equations, self._moved, np.concatenate([q, u], axis=1), iterations=most,
                          tolerance=_CONVERGED, longest=0.25, least=_LOOSE)
        converged = found.missing < 1e3 * _CONVERGED
        rank = found.tangent.shape[-1] - (len(self.rows) == 3)
        if converged.sum() > 2 and np.mean(found.singular_values[converged, rank - 1] < _LOOSE) > 0.5:
            raise UnsupportedError(
                f"the singular postures of {self.tree.name} fill more than curves: some joints, as those of a "
                "spherical shoulder, move one on to others that are reached as well by the rest. Name one of these "
                "joints in held=, and it stays at rest")
        return found.points[:, :n], found.points[:, n:], found.tangent, converged

    def _curve(self, q: Array, u: Array, tangent: Array) -> tuple[Array, Array]:
        """The curve (k, nq) through a posture, in both directions unless it closes, and the directions lost."""
        n = self.tree.nq
        begin = self._marks(q[None], u[None])[0]

        def advance(x: Array, t: Array, h: float) -> tuple[Array, Array] | None:
            guess = self._moved(x[None], h * t[None])
            trial, lost, along, converged = self.onto(guess[:, :n], guess[:, n:], most=9)
            if not converged[0] or not self._inside(trial)[0]:
                return None
            return np.concatenate([trial[0], lost[0]]), along[0] * np.sign(along[0] @ t)

        line, _ = whole_curve(np.concatenate([q, u]), tangent, advance, longest=_STEP, shortest=_SHORTEST, straight=0.8,
                              most=_MOST_STEPS, back=lambda x, _: float(np.linalg.norm(
                                  self._marks(x[None, :n], x[None, n:])[0] - begin)))
        return self.bounds.kept(self.bounds.unwound(line[:, :n])), line[:, n:]

    def _least(self, q: Array) -> Array:
        """The directions (s, d) in which the point moves least."""
        return np.linalg.svd(self._jacobian(q))[0][:, :, -1]

    def _jacobian(self, q: Array) -> Array:
        J = self.point(q)[:, :, 1:][:, :, self.velocities] * self.scale / self.bounds.size
        return np.einsum("rc,scj->srj", self.rows, J)

    def _moved(self, x: Array, step: Array) -> Array:
        """Postures and directions (s, nq + d) after a step of the free coordinates and the directions."""
        moved = x.copy()
        n = int(self.free.sum())
        moved[:, self.coordinates[self.free]] += step[:, :n] * self.scale[self.free]
        moved[:, self.tree.nq:] += step[:, n:]
        return moved

    def _inside(self, q: Array) -> Array:
        x = self.bounds.unwound(q)
        inside = (x >= self.bounds.lower - 1e-9) & (x <= self.bounds.upper + 1e-9)
        return np.all((inside | ~self.bounds.blocks)[:, self.coordinates], axis=1)

    def _marks(self, q: Array, u: Array) -> Array:
        """Numbers (s, k) that tell postures and what they lose apart, the first joint, whole turns and the sign of u
        left out."""
        x = q[:, self.coordinates[self.free]] / self.scale[self.free]
        turns = self.bounds.turns[self.coordinates[self.free]]
        return np.concatenate([np.cos(x[:, turns]), np.sin(x[:, turns]), x[:, ~turns],
                               (u[:, :, None] * u[:, None]).reshape(len(u), u.shape[1] ** 2)], axis=1)
