"""Loops and other constraints of a mechanism: `arm.loops`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import family, one_kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import ArrayLike, FrameName
from cayley.mechanism import functions
from cayley.mechanism.room import Room, forwarded
from cayley.model.parts import Loop

if TYPE_CHECKING:
    from cayley.dynamics.minimal_dynamics import MinimalDynamics
    from cayley.dynamics.rigid_links.methods import KernelWithMethods
    from cayley.kinematics.constraints.rows import RowName
    from cayley.kinematics.constraints.space import Actuation
    from cayley.kinematics.constraints.structure import ConstraintStructure
    from cayley.machines.rolling.slipping import SlipCheck
    from cayley.simulation import Trajectory


class Loops(Room, Sequence[Loop]):
    """Loops of a mechanism, and what its constraints (loops, rods, couplings, mimic joints, wheels) leave free.

    As a sequence it has the `Loop` parts of the tree: `len(arm.loops)`, `arm.loops[0]`."""

    @overload
    def __getitem__(self, place: int) -> Loop: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Loop, ...]: ...

    def __getitem__(self, place: int | slice) -> Loop | tuple[Loop, ...]:
        return self.tree.loops[place]

    def __len__(self) -> int:
        return len(self.tree.loops)

    def __eq__(self, other: object) -> bool:
        return self.tree.loops == (tuple(other) if isinstance(other, Loops) else other)

    def __hash__(self) -> int:
        return hash(self.tree.loops)

    # Configurations and velocities that keep the constraints

    close = forwarded(lambda: functions.close)
    follow_inputs = forwarded(lambda: functions.follow_inputs)
    consistent_velocity = forwarded(lambda: functions.consistent_velocity)
    assemblies = forwarded(lambda: functions.assemblies)
    dead_centres = forwarded(lambda: functions.dead_centres)

    # The rows of the constraints

    @property
    def rows(self) -> tuple[RowName, ...]:
        """The rows of the constraints: the name of each one's loop, rod, coupling or mimic joint, and what it holds.

        >>> cy.load("panda_hand").loops.rows
        (RowName(constraint='mimic panda_finger_joint2', holds='coordinates'),)
        """
        return functions.row_names(self.tree)

    @one_kernel("q")
    def residual(self) -> Kernel:
        """`residual(q)`: by how much the constraints are open (..., h) [m, rad]; `constraint_rows` names
        them. Where a constraint depends on time, the last argument of this and of all others is t [s].

        >>> cy.load("panda_hand").loops.residual(np.arange(9.0))
        array([1.])
        """
        return functions.residual_kernel(self.tree)

    @one_kernel("q", "qd")
    def rates(self) -> Kernel:
        """`rates(q, qd)`: the rates (..., h) of `constraint_residual` [m/s, rad/s]: A qd, and what
        prescribed motions add to it.

        >>> cy.load("panda_hand").loops.rates(np.zeros(9), np.arange(9.0))
        array([1.])
        """
        return functions.rates_kernel(self.tree)

    @one_kernel("q")
    def jacobian(self) -> Kernel:
        """`jacobian(q)`: A (..., h, nv), with A qd the rate of `constraint_residual`.

        >>> cy.load("panda_hand").loops.jacobian(np.zeros(9))[:, -2:]
        array([[-1.,  1.]])
        """
        return functions.jacobian_kernel(self.tree)

    @one_kernel("q", "qd")
    def drift(self) -> Kernel:
        """`drift(q, qd)`: the rate of `constraint_jacobian`, times qd (..., h): accelerations with A qdd + drift = 0
        keep the constraints."""
        return functions.drift_kernel(self.tree)

    @one_kernel("q", "qd", "tau")
    def forces(self) -> KernelWithMethods:
        """`forces(q, qd, tau)`: the forces (..., h) of the rows of the constraints [N, N m]; A^T forces is what they do
        to the joints. Of a loop they act on the second frame's body, and against them on the first's. NaN where
        redundant rows could do the same, so that the motion does not tell. `.using(formulation)`."""
        return functions.constraint_forces_kernel(self.tree)

    # How the mechanism is built, and where it is singular

    @property
    def mobility(self) -> int:
        """The degrees of freedom that loops and mimic joints leave, at configurations that have nothing special about
        them.

        >>> cy.load("panda_hand").nv, cy.load("panda_hand").loops.mobility
        (9, 8)
        """
        return kept(self, "mobility", lambda: functions.mobility(self.tree))

    @property
    def structure(self) -> ConstraintStructure:
        """Mobility and Gruebler's count, redundant rows by name, and velocities from which the others follow; see
        `cayley.kinematics.constraints.structure`.

        >>> cy.load("panda_hand").loops.structure.mobility
        8
        """
        return functions.constraint_structure(self.tree)

    singularity = forwarded(lambda: functions.configuration_singularity)

    @property
    def actuation(self) -> Actuation:
        """Actuation by the joints that have a drive: fully, redundantly or under-actuated, and what they do
        not drive; see `cayley.kinematics.constraints.space`.

        >>> print(cy.load("slider_crank").loops.actuation)
        fully actuated by crank
        """
        return functions.actuation(self.tree)

    actuation_singularity = forwarded(lambda: functions.actuation_singularity)

    # From actuated joints to the motion of a frame, and back

    @family("q", given=["at"])
    def actuated_jacobian(self, frame: str, *, axes: str,
                          at: ArrayLike | FrameName | None = None) -> Kernel:
        """`actuated_jacobian(q, frame, axes=..., at=None)`: the twist of a frame by the velocities of the actuated
        joints, (..., 6, m), all constraints kept; see `cayley.kinematics.constraints.actuated_motion`.

        >>> cy.load("four_bar").loops.actuated_jacobian([0.0, 0.0, 0.0], "rocker", axes="world")[5].round(6)
        array([0.625])
        """
        return functions.actuated_jacobian_kernel(self.tree, frame, axes=axes, at=at)

    @one_kernel("q", "rates")
    def actuated_motion(self) -> Kernel:
        """`actuated_motion(q, rates)`: the velocities (..., nv) of all joints that follow from those (..., m) of the
        actuated ones.

        >>> cy.load("four_bar").loops.actuated_motion([0.0, 0.0, 0.0], [1.6]).round(6)
        array([ 1.6, -1.6,  1. ])
        """
        return functions.actuated_motion_kernel(self.tree)

    @one_kernel("q", "rates", "accelerations")
    def actuated_acceleration(self) -> Kernel:
        """`actuated_acceleration(q, rates, accelerations)`: the accelerations (..., nv) of all joints that follow from
        the velocities and accelerations (..., m) of the actuated ones.

        >>> cy.load("four_bar").loops.actuated_acceleration([0.0, 0.0, 0.0], [0.0], [1.6]).round(6)
        array([ 1.6, -1.6,  1. ])
        """
        return functions.actuated_acceleration_kernel(self.tree)

    input_output = forwarded(lambda: functions.input_output)

    def minimal_dynamics(self, *independent: str) -> MinimalDynamics:
        """The equations in the coordinates of independent joints, which all others follow: mass matrix and bias (...,
        m), and the `motion` of all joints; see `cayley.dynamics.minimal_dynamics`. The actuated joints, if none are
        named and they are as many as it takes.

        >>> bar = cy.load("four_bar").loops.minimal_dynamics("crank")
        >>> bar.motion([0.0, 0.0, 0.0], [1.6], [0.0]).qd.round(6)
        array([ 1.6, -1.6,  1. ])
        """
        return kept(self, ("minimal dynamics", independent), lambda: functions.minimal_dynamics(self.tree, independent))

    # Wheels, discs and balls

    @one_kernel("q", "qd", "tau")
    def needed_friction(self) -> Kernel:
        """`needed_friction(q, qd, tau)`: how much friction (..., contacts) it takes to roll, of each wheel, disc and
        ball, in the order of `constraints`: the force along the ground by that across it. Where it exceeds the
        coefficient of friction the wheel slips. It is infinite where the wheel would have to pull, and NaN where it is
        statically indeterminate, as for two wheels on one axle: see `slip_check`."""
        return functions.needed_friction_kernel(self.tree)

    def slip_check(self, run: Trajectory, friction: float) -> SlipCheck:
        """Check that wheels, discs and balls of a run could roll with a coefficient of friction, and when they first
        could not; see `cayley.machines.slip_check`."""
        return functions.slip_check(self.tree, run.t, run.q, run.qd,
                                    np.zeros_like(run.qd) if run.tau is None else run.tau, friction)

    switched = forwarded(lambda: functions.switched_system)
