"""The laws of an arm, by their names: `arm.control`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cayley.compiler.typing import ArrayLike
from cayley.control.arms import check_single_coordinates
from cayley.control.computed_torque_law import computed_torque
from cayley.control.gravity_law import pd_with_gravity
from cayley.control.joint_errors import JointErrors, JointGains, joint_error_model, joint_gains
from cayley.control.joint_law import joint_control
from cayley.control.linear_motion import LinearMotion, linear_along
from cayley.control.motors import motors_of
from cayley.control.resolved_acceleration_law import resolved_acceleration
from cayley.control.task_maps import TaskMap, task_map
from cayley.control.tracking import Reference
from cayley.control.voltage_driven import VoltageDynamics, voltage_dynamics
from cayley.control.voltage_law import voltage_commands
from cayley.control.workspace_law import workspace_pd
from cayley.model.tree import Tree
from cayley.systems.system import System


@dataclass(frozen=True)
class ArmControl:
    """Laws and motors of an arm as systems, to be connected with it: `cy.connect(arm, arm.control.pd(100.0, 20.0))`."""

    tree: Tree

    def pd(self, kp: ArrayLike, kd: ArrayLike, *, output: str = "tau") -> System:
        """Each joint by its own error; see `joint_control`."""
        check_single_coordinates(self.tree, "independent-joint control")
        return joint_control(self.tree.nv, kp, kd, output=output, name="pd")

    def pid(self, kp: ArrayLike, ki: ArrayLike, kd: ArrayLike, *, wind_up: ArrayLike | None = None,
            output: str = "tau") -> System:
        """Each joint by its own error and its integral; see `joint_control`."""
        check_single_coordinates(self.tree, "independent-joint control")
        return joint_control(self.tree.nv, kp, kd, ki, wind_up=wind_up, output=output, name="pid")

    def pd_with_gravity(self, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                        wind_up: ArrayLike | None = None, output: str = "tau") -> System:
        """PD with gravity compensation."""
        return pd_with_gravity(self.tree, kp, kd, ki, wind_up=wind_up, output=output)

    def computed_torque(self, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                        wind_up: ArrayLike | None = None) -> System:
        """Inverse dynamics in the loop, with this arm as the model."""
        return computed_torque(self.tree, kp, kd, ki, wind_up=wind_up)

    def workspace_pd(self, frame: str, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                     task: str | Sequence[bool] = "pose", wind_up: ArrayLike | None = None) -> System:
        """A spring from a frame to its target, by the transposed Jacobian."""
        return workspace_pd(self.tree, frame, kp, kd, ki, task=task, wind_up=wind_up)

    def resolved_acceleration(self, frame: str, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                              task: str | Sequence[bool] = "pose", wind_up: ArrayLike | None = None) -> System:
        """The error of a frame obeys a linear equation."""
        return resolved_acceleration(self.tree, frame, kp, kd, ki, task=task, wind_up=wind_up)

    def motors(self) -> System:
        """The motors of the drives, from voltages to joint forces."""
        return motors_of(self.tree)

    def amplifiers(self, *, bandwidth: float | None = None) -> System:
        """From the forces that a law asks for, `wanted_tau`, to voltages; see `voltage_commands`."""
        return voltage_commands(self.tree, bandwidth=bandwidth)

    def voltage_dynamics(self) -> VoltageDynamics:
        """M', D' and K_hat of the arm with its motors."""
        return voltage_dynamics(self.tree)

    def error_model(self, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike = 0.0, *, target: ArrayLike | None = None,
                    links: bool = False) -> JointErrors:
        """Poles, offset and Routh's limit of independent joints with gains in volts; see `joint_error_model`."""
        return joint_error_model(self.tree, kp, kd, ki, target=target, links=links)

    def gains(self, frequency: ArrayLike, damping_ratio: ArrayLike = 1.0) -> JointGains:
        """kp and kd in volts for natural frequencies and damping ratios; see `joint_gains`."""
        return joint_gains(self.tree, frequency, damping_ratio)

    def task(self, frame: str, *, task: str | Sequence[bool] = "pose") -> TaskMap:
        """The map between what a frame does and what the joints do; see `task_map`."""
        return task_map(self.tree, frame, task=task)

    def linear_along(self, reference: Reference) -> LinearMotion:
        """The linear time-varying model along a motion `reference(t) -> (q, qd, qdd)`."""
        return linear_along(self.tree, reference)
