"""Whether points are reached: a configuration within the limits is searched for that brings the frame there, from those
of the nearest samples on, by damped least squares for all points at once. True is a proof, by the configuration; false
says that none was found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.sampling import is_tied_between, joints_between, leaders, ranges
from cayley.errors import ConventionError
from cayley.kinematics.inverse import inverse_kinematics
from cayley.model.configurations import quaternion_places, with_mimic_joints

if TYPE_CHECKING:
    from cayley.drawing.workspaces import Workspace

_NEAREST = 8  # samples to start from
_STEPS = 80
_DAMPING = 1e-3  # of the error [m], beside the Jacobian


def contains(workspace: Workspace, points: ArrayLike, tolerance: float) -> Array:
    """See `Workspace.contains`."""
    given = np.asarray(points, dtype=float)
    if given.shape[-1:] != (3,):
        raise ConventionError(f"points have the shape (..., 3), not {given.shape}")
    flat = given.reshape(-1, 3)
    found = np.zeros(len(flat), dtype=bool)
    inside = np.flatnonzero(np.isfinite(flat).all(axis=1))
    count = min(_NEAREST, len(workspace.points))
    _, nearest = cKDTree(workspace.points).query(flat[inside], k=count)
    nearest = np.asarray(nearest).reshape(len(inside), count)
    search = _Closed(workspace, tolerance) if is_tied_between(
        workspace.tree, workspace.frame, workspace.relative_to) else _Open(workspace, tolerance)
    for k in range(count):
        left = np.flatnonzero(~found[inside])
        if len(left):
            starts = workspace.configurations[nearest[left, k]]
            found[inside[left]] = search.reached(flat[inside[left]], starts)
    return found.reshape(given.shape[:-1])[()]


class _Open:
    """By the coordinates of the joints on the way, those that follow others with them; turned balls stay."""

    def __init__(self, workspace: Workspace, tolerance: float) -> None:
        from cayley.drawing.workspaces import position_kernel
        tree = workspace.tree
        joints = leaders(tree, joints_between(tree, workspace.frame, workspace.relative_to))
        turned = [k for _, place in quaternion_places(tree) for k in range(place.start, place.stop)]
        self.tree = tree
        self.tolerance = tolerance
        self.place = position_kernel(tree, workspace.frame, workspace.relative_to)
        self.free = np.setdiff1d(np.concatenate([np.r_[tree.q_slices[k]] for k in joints]).astype(int), turned)
        low, high = ranges(tree, joints, workspace.limits)
        self.low = low[self.free]
        self.high = high[self.free]
        for number in joints:
            joint = tree.joints[number]
            held = joint.name in (workspace.limits or {})
            for k, wraps in zip(np.r_[tree.q_slices[number]], joint.motion.wraps, strict=True):
                if wraps and not held and k in self.free:  # one turn was drawn; there is no end to it
                    at = int(np.searchsorted(self.free, k))
                    self.low[at] = joint.limits.lower[k - tree.q_slices[number].start]
                    self.high[at] = joint.limits.upper[k - tree.q_slices[number].start]
        self.followed = np.zeros((tree.nq, len(self.free)))
        self.followed[self.free, np.arange(len(self.free))] = 1.0
        for number, follower in tree.mimic_joints.items():
            leader = tree.q_slices[follower.leader].start
            if leader in self.free:
                self.followed[tree.q_slices[number].start, np.searchsorted(self.free, leader)] = follower.multiplier

    def reached(self, points: Array, starts: Array) -> Array:
        """Which of the points (n, 3) are reached from configurations (n, nq)."""
        q = starts.copy()
        slope = self.place.jacobian("q")
        for _ in range(_STEPS):
            off = points - self.place(q)
            far = np.linalg.norm(off, axis=1)
            if (far <= self.tolerance).all():
                break
            J = slope(q) @ self.followed
            x = q[:, self.free]
            step = self._step(J, off, far)
            blocked = ((x <= self.low) & (step < 0)) | ((x >= self.high) & (step > 0))
            step = self._step(np.where(blocked[:, None], 0.0, J), off, far)
            q[:, self.free] = np.clip(x + np.where(blocked, 0.0, step), self.low, self.high)
            q = with_mimic_joints(self.tree, q)
        return np.linalg.norm(points - self.place(q), axis=1) <= self.tolerance

    @staticmethod
    def _step(J: Array, off: Array, far: Array) -> Array:
        damped = J @ J.mT + (_DAMPING * np.minimum(far, 1.0) ** 2 + 1e-12)[:, None, None] * np.eye(3)
        step = (J.mT @ np.linalg.solve(damped, off[..., None]))[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True, initial=1e-300)
        return step * np.minimum(1.0, 0.5 / longest)


class _Closed:
    """By inverse kinematics of the closed mechanism, near the samples of its branch."""

    def __init__(self, workspace: Workspace, tolerance: float) -> None:
        if workspace.relative_to is not None:
            raise ConventionError("points of a mechanism with loops are looked for in the frame of its root: ask the "
                                  "workspace without relative_to")
        self.tree = workspace.tree
        if workspace.limits:
            joints = [self.tree.joints[self.tree.joint_number(name)] for name in workspace.limits]
            self.tree = self.tree.with_joints(*[
                replace(joint, limits=replace(joint.limits, lower=(float(workspace.limits[joint.name][0]),),
                                              upper=(float(workspace.limits[joint.name][1]),))) for joint in joints])
        self.frame = workspace.frame
        self.tolerance = tolerance

    def reached(self, points: Array, starts: Array) -> Array:
        targets = np.tile(np.eye(4), (len(points), 1, 1))
        targets[:, :3, 3] = points
        found = inverse_kinematics(self.tree, targets, self.frame, start=starts, task="position", limits=True,
                                   tolerance=self.tolerance, restarts=0)
        return np.asarray(found.residual) <= self.tolerance
