"""The laws of an arm, by their names: `arm.control`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.actuators.motors import VoltageDynamics, motors_of, voltage_dynamics
from cayley.control.compensators.iterative_learning import IterativeLearning, iterative_learning
from cayley.control.environment import Gap, surface, wall
from cayley.control.laws.adaptive_law import adaptive
from cayley.control.laws.admittance_law import admittance_control
from cayley.control.laws.computed_torque_law import computed_torque
from cayley.control.laws.decoupled_law import decoupled_control
from cayley.control.laws.disturbance_law import disturbance_rejection
from cayley.control.laws.force_law import force_control
from cayley.control.laws.gravity_law import pd_with_gravity
from cayley.control.laws.hybrid_law import hybrid_control
from cayley.control.laws.impedance_law import impedance_control
from cayley.control.laws.joint_law import joint_pd, joint_pid
from cayley.control.laws.lqr_law import lqr
from cayley.control.laws.null_space_law import null_space_control
from cayley.control.laws.operational_space_law import operational_space
from cayley.control.laws.passivity_law import passivity_based
from cayley.control.laws.resolved_acceleration_law import resolved_acceleration
from cayley.control.laws.sliding_mode_law import sliding_mode
from cayley.control.laws.table import Law, law_named, laws_of
from cayley.control.laws.voltage_law import voltage_commands
from cayley.control.laws.workspace_law import workspace_pd
from cayley.control.stability.joint_errors import (
    JointErrors,
    JointGains,
    joint_equilibrium,
    joint_error_model,
    joint_gains,
)
from cayley.control.stability.motion_sensitivity import LinearMotion, linear_along
from cayley.control.task_space.task_maps import TaskMap, task_map
from cayley.control.tracking import Reference
from cayley.errors import ModelWarning
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.systems import System


@dataclass(frozen=True, repr=False)
class ArmControl:
    """Laws and motors of an arm as systems, to be connected with it: `cy.connect(arm, arm.control.pd(100.0, 20.0))`."""

    tree: Tree

    # The table of laws: one line each
    pd = Law(joint_pd)
    pid = Law(joint_pid)
    pd_with_gravity = Law(pd_with_gravity)
    computed_torque = Law(computed_torque)
    decoupled = Law(decoupled_control)
    workspace_pd = Law(workspace_pd)
    resolved_acceleration = Law(resolved_acceleration)
    passivity_based = Law(passivity_based)
    adaptive = Law(adaptive)
    operational_space = Law(operational_space)
    force = Law(force_control)
    hybrid = Law(hybrid_control)
    impedance = Law(impedance_control)
    admittance = Law(admittance_control)
    null_space = Law(null_space_control)
    sliding_mode = Law(sliding_mode)
    disturbance_rejection = Law(disturbance_rejection)
    lqr = Law(lqr)

    def __repr__(self) -> str:
        return f"<control of {self.tree.name}: {', '.join(self.laws)}>"

    @property
    def laws(self) -> dict[str, Law[...]]:
        """The laws by name: what each is about, what it asks for, and what makes it.

        >>> import cayley as cy
        >>> arm = cy.load("planar2r")
        >>> print(arm.control.laws["computed_torque"].about)
        Inverse dynamics in the loop, with the arm as the model.
        """
        return laws_of(type(self))

    def law(self, name: str) -> Callable[..., System]:
        """The function that makes the law of a name, "computed-torque" or "computed_torque", for this arm; the error
        for an unknown name lists the known ones."""
        return law_named(type(self), name).__get__(self, type(self))

    def wall(self, frame: str, point: ArrayLike, normal: ArrayLike, stiffness: float, *, damping: float = 0.0,
             friction: float = 0.0, creep: float = 1e-3, axes: str = "body") -> System:
        """A flat wall that a frame may press against, through a point, with a normal that leads out of it; see
        `surface`."""
        return wall(self.tree, frame, point, normal, stiffness, damping=damping, friction=friction, creep=creep,
                    axes=axes)

    def surface(self, frame: str, gap: Gap, stiffness: float, *, damping: float = 0.0, friction: float = 0.0,
                creep: float = 1e-3, axes: str = "body") -> System:
        """The same of any shape: `gap(p)` grows away from the surface; `sphere_gap` and `plane_gap` are two."""
        return surface(self.tree, frame, gap, stiffness, damping=damping, friction=friction, creep=creep, axes=axes)

    def iterative_learning(self, law: System, move: Motion, periods: int, kp: ArrayLike, kd: ArrayLike, *,
                           cutoff: float | None = None, limits: ArrayLike | None = None) -> IterativeLearning:
        """A motion that the arm learns by repeating it, held by a law; see `IterativeLearning`."""
        return iterative_learning(self.tree, law, move, periods, kp, kd, cutoff=cutoff, limits=limits)

    def motors(self) -> System:
        """The motors of the drives, from voltages to joint forces. The inertia of their rotors is that of the arm
        `including("armature")`; a warning says if it is left out."""
        heavy = [joint.name for joint in self.tree.joints if joint.rotor.inertia]
        if heavy and "armature" not in self.tree.included:
            warnings.warn(f"the rotors of {self.tree.name}, that of {heavy[0]!r} first, are left out of its inertia: "
                          'take arm.including("armature"), and the motors of that', ModelWarning, stacklevel=2)
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

    def equilibrium(self, kp: ArrayLike, target: ArrayLike) -> Array:
        """Where the arm stands under PD control in volts, not to first order; see `joint_equilibrium`."""
        return joint_equilibrium(self.tree, kp, target)

    def task(self, frame: str, *, task: str | Sequence[bool] = "pose") -> TaskMap:
        """The map between what a frame does and what the joints do; see `task_map`."""
        return task_map(self.tree, frame, task=task)

    def linear_along(self, reference: Reference) -> LinearMotion:
        """The linear time-varying model along a motion `reference(t) -> (q, qd, qdd)`."""
        return linear_along(self.tree, reference)
