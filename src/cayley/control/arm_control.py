"""The laws of an arm, by their names: `arm.control`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from cayley.control.actuators.motors import motors_of, voltage_commands, voltage_dynamics
from cayley.control.compensators.iterative_learning import iterative_learning
from cayley.control.environment import surface, wall
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
from cayley.control.laws.table import Law, OfArm, law_named, laws_of
from cayley.control.laws.workspace_law import workspace_pd
from cayley.control.stability.joint_errors import joint_equilibrium, joint_error_model, joint_gains
from cayley.control.stability.motion_sensitivity import linear_along
from cayley.control.task_space.task_error import task_map
from cayley.errors import did_you_mean, warn_user
from cayley.explained_calls import with_explained_calls
from cayley.model.tree import Tree
from cayley.systems import System
from cayley.words import what_it_is_here


@with_explained_calls
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

    # What an arm has besides, for laws and with them
    wall = OfArm(wall)
    surface = OfArm(surface)
    iterative_learning = OfArm(iterative_learning)
    amplifiers = OfArm(voltage_commands)
    voltage_dynamics = OfArm(voltage_dynamics)
    error_model = OfArm(joint_error_model)
    gains = OfArm(joint_gains)
    equilibrium = OfArm(joint_equilibrium)
    task = OfArm(task_map)
    linear_along = OfArm(linear_along)

    if not TYPE_CHECKING:  # which would then take every name for one of these

        def __getattr__(self, name: str) -> NoReturn:
            known = [each for each in dir(type(self)) if not each.startswith("_")]
            advice = "" if name.startswith("_") else did_you_mean(name, known) or what_it_is_here(name)
            raise AttributeError(f"`arm.control` has no {name!r}{advice}", name=name, obj=self)

    def __repr__(self) -> str:
        return f"<control of {self.tree.name}: {', '.join(self.laws)}>"

    @property
    def laws(self) -> dict[str, Law[...]]:
        """The laws by name: what each is about, what it asks for, and what makes it.

        >>> import cayley as cy
        >>> arm = cy.load("planar2r")
        >>> print(arm.control.laws["computed_torque"].about)
        Computed-torque control: inverse dynamics in the loop, with the arm as the model.
        """
        return laws_of(type(self))

    def law(self, name: str) -> Callable[..., System]:
        """The function that makes the law of a name, "computed-torque" or "computed_torque", for this arm; the error
        for an unknown name lists the known ones."""
        return law_named(type(self), name).__get__(self, type(self))

    def motors(self) -> System:
        """The motors of the drives, from voltages to joint forces. The inertia of their rotors is that of the arm
        `including("armature")`; a warning says if it is left out."""
        heavy = [joint.name for joint in self.tree.joints if joint.rotor.inertia]
        if heavy and "armature" not in self.tree.included:
            warn_user(f"the rotors of {self.tree.name}, that of {heavy[0]!r} first, are left out of its inertia: "
                      'take arm.including("armature"), and the motors of that')
        return motors_of(self.tree)
