"""Mechanisms as their trajectories ask them: energy and momentum, and how far these are from what forces and gravity
account for; constraint forces; states between samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.dynamics.constrained_mechanics import projection_kernel
from cayley.dynamics.forward.constrained import constraint_forces_kernel, near_singularity
from cayley.dynamics.open_tree import TreeConfigurations
from cayley.dynamics.state_kernels import balance_kernel, floats, momentum_drift
from cayley.geometry.batch import place, tolerance_of
from cayley.kinematics.constraints.rows import residual_kernel, row_names
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.model.configurations import normalized
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.tree import Tree
from cayley.systems.trajectory_parts import Balance, JointNames

_LOOKED_AT = 50  # samples before the end
_BROKEN = ("not finite", "step too small")


def closed_outcome(tree: Tree, t: Array, q: Array, status: str, message: str) -> tuple[str, str]:
    """The word and the sentence for trajectories q (..., samples, nq) at the times t (..., samples), given those by the
    numbers alone: "open" if a constraint is, and what is special about the configuration where a trajectory broke off.
    """
    if not q.size:
        return status, message
    times = np.broadcast_to(t, q.shape[:-1])
    if status in _BROKEN:
        *trajectory, last = _last_number(q)
        before = [(*trajectory, k) for k in range(last, max(last - _LOOKED_AT, -1), -1)]
        return status, message + next(filter(None, (near_singularity(tree, times[at], q[at]) for at in before)), "")
    if status not in ("finished", "not converged"):
        return status, message
    left = np.abs(kept(tree, "constraint residual", lambda: residual_kernel(tree))(q, *([t] if tree.is_timed else [])))
    wide = np.argwhere(left.max(-1, initial=0.0) > tolerance_of(q))
    if not len(wide):
        return status, message
    first = tuple(wide[0])
    row = row_names(tree)[int(np.argmax(left[first]))]
    return "open", (
        f"the constraint {row.constraint!r} of {tree.name} is open by {left[first].max():.3g} ({row.holds}) at t = "
        f"{times[first]:.6g}{place(first[:-1])}: the step is too large{near_singularity(tree, times[first], q[first])}")


def _last_number(q: Array) -> tuple[int, ...]:
    """The last sample that is a number, of the first trajectory that left them, or of the first."""
    fine = np.asarray(np.isfinite(q).all(-1))
    broken = np.argwhere(~fine.all(-1))
    if not len(broken):
        return (*[0] * (q.ndim - 2), q.shape[-2] - 1)
    trajectory = tuple(broken[0])
    return (*trajectory, max(int(np.argmin(fine[trajectory])) - 1, 0))


@dataclass(frozen=True)
class MechanismMotion(JointNames):
    """A mechanism as its trajectories ask it: energy and momentum, constraint forces, and states between samples."""

    tree: Tree

    def balance(self, q: Array, qd: Array) -> Balance:
        return Balance(*balance_kernel(self.tree)(q, qd))

    def momentum_drift(self, t: Array, q: Array, qd: Array) -> Array | None:
        return momentum_drift(self.tree, t, q, qd) if floats(self.tree) else None

    def constraint_forces(self, t: Array, q: Array, qd: Array, tau: Array) -> Array:
        time = [t] if self.tree.is_timed else []
        return np.asarray(constraint_forces_kernel(self.tree)(q, qd, tau, *time))

    def interpolated(self, t: Array, q: Array, qd: Array, times: Array) -> tuple[Array, Array]:
        """States at other times, by cubics through states and their rates."""
        rate = sized_kernel(self.tree, "(q),(v)->(q)", TreeConfigurations(self.tree).rate, "rate")(q, qd)
        if len(t) == 1:
            return q + 0 * times[:, None], qd + 0 * times[:, None]
        from scipy.interpolate import CubicHermiteSpline, CubicSpline
        onwards = slice(None, None, 1 if t[-1] > t[0] else -1)
        there = CubicHermiteSpline(t[onwards], q[..., onwards, :], rate[..., onwards, :], axis=-2)(times)
        return normalized(self.tree, there), CubicSpline(t[onwards], qd[..., onwards, :], axis=-2)(times)

    def closed(self, t: Array, q: Array, qd: Array) -> tuple[Array, Array]:
        if not self.tree.is_constrained:
            return q, qd
        return projection_kernel(self.tree)(q, qd, *([t] if self.tree.is_timed else []))

    def outcome(self, t: Array, q: Array, status: str, message: str) -> tuple[str, str]:
        return closed_outcome(self.tree, t, q, status, message) if self.tree.is_constrained else (status, message)


def mechanism_motion(tree: Tree) -> MechanismMotion:
    """The mechanism of a trajectory, made once for each tree."""
    return kept(tree, "mechanism motion", lambda: MechanismMotion(
        tree.name, tuple(coordinate_labels(tree)), tuple(velocity_labels(tree)), tree))
