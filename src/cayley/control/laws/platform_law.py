"""The drives of a platform with an arm, from its task and where it is: back to the path by steering, the arm back to
its joints' motion, and the forces that give these accelerations to the whole mechanism.

    vd, phidd, qdd of the arm      those of the task, and corrections for what is off
    A qdd = - drift                all other accelerations: wheels that roll
    tau                            inverse dynamics of platform, wheels and arm together, at the driven joints
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.control.path_stabiliser import PathStabiliser
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import ModelError
from cayley.kinematics.constraints.rows import drift_kernel, jacobian_kernel
from cayley.model.tree import Tree
from cayley.planning.tool_motions.mobile_tasks import PlatformTask
from cayley.wording import shown


@dataclass(frozen=True, eq=False)
class PlatformLaw:
    """A controller for `arm.simulate(..., controller=PlatformLaw(task))`: `rate` [1/m] by which the platform comes back
    to its path, `along` [1/s] along it; `drives` [1/s], the rate at which errors of the drives and of the arm die out.
    """

    task: PlatformTask
    rate: float = 2.0
    along: float = 1.0
    drives: float = 10.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.drives) and self.drives > 0):
            raise ModelError(f"the rate of the drives of a platform is positive, not {shown(self.drives)}")
        _ = self.path

    @cached_property
    def path(self) -> PathStabiliser:
        limits = None if self.task.steering is None else self._tree.joints[
            self._tree.joint_number(self.task.steering)].limits
        limit = np.pi / 2 if limits is None else min(np.pi / 2, -limits.lower[0], limits.upper[0])
        return PathStabiliser(self.task.program, self.rate, self.along, limit)

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """The joint forces (nv)."""
        return np.asarray(self._inverse_dynamics(q, qd, self.acceleration(t, q, qd)))

    def acceleration(self, t: float, q: Array, qd: Array) -> Array:
        """The accelerations (nv) that the law asks for, which the wheels allow."""
        rows, wanted = self._asked(t, q, qd)
        A = np.asarray(kept(self._tree, "constraint Jacobian", lambda: jacobian_kernel(self._tree))(q))
        drift = np.asarray(kept(self._tree, "constraint drift", lambda: drift_kernel(self._tree))(q, qd))
        return np.linalg.lstsq(np.concatenate([A, rows]), np.concatenate([-drift, wanted]), rcond=1e-9)[0]

    def _asked(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """Rows (k, nv) of accelerations that are asked for, and their values (k)."""
        task = self.task
        tree = self._tree
        base = tree.v_slices[tree.joint_number(task.base)]
        pose = q[tree.q_slices[tree.joint_number(task.base)]]
        ahead = np.array([np.cos(pose[2]), np.sin(pose[2]), 0.0])
        told = task.program(t)
        back = self.path(t, pose)
        unit = np.eye(tree.nv)
        v = float(ahead @ qd[base])
        vd = told.roll_acceleration + self.drives * (back.speed - v)
        rows, wanted = [unit[base].T @ ahead], [vd]
        if task.steering is None:
            bend = np.tan(back.steering) / task.program.path.wheelbase
            rows.append(unit[base][2])
            wanted.append(bend * vd + self.drives * (bend * v - qd[base][2]))
        else:
            at = tree.v_slices[tree.joint_number(task.steering)].start
            angle = q[tree.q_slices[tree.joint_number(task.steering)].start]
            rows.append(unit[at])
            wanted.append(told.steering_acceleration + 2 * self.drives * (told.steering_rate - qd[at])
                          + self.drives**2 * (back.steering - angle))
        goal = self._arm(t)
        for k, place in enumerate(task.arm_places):
            rows.append(unit[place])
            wanted.append(goal[2][k] + 2 * self.drives * (goal[1][k] - qd[place])
                          + self.drives**2 * (goal[0][k] - q[place]))
        return np.stack(rows), np.array(wanted, dtype=float)

    def _arm(self, t: float) -> tuple[Array, Array, Array]:
        """Where the arm's joints are to be, before, during and after its own task."""
        if self.task.arm is None or t < self.task.hand_over:
            still = np.zeros(len(self.task.arm_places))
            return self.task.start[self.task.arm_places], still, still
        found = self.task.arm(min(t, self.task.arm.end))
        return found if t <= self.task.arm.end else (found.q, 0 * found.qd, 0 * found.qdd)

    @property
    def _tree(self) -> Tree:
        return self.task.tree

    @cached_property
    def _inverse_dynamics(self) -> Callable[..., Array]:
        return inverse_dynamics_kernel(self._tree)
