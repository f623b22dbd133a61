"""A mechanism in time: controlled, simulated, swept over states."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import ArrayLike
from cayley.errors import warn_user
from cayley.mechanism.data import Data

if TYPE_CHECKING:
    from cayley.control.arm_control import ArmControl
    from cayley.control.tasks.contacts import Contact
    from cayley.control.tasks.controller import TaskController
    from cayley.control.tasks.task import ControlTask
    from cayley.control.tracking import Reference, Weights
    from cayley.planning.timing.limits import DrivenMechanism, MotionLimits
    from cayley.scale.points import Points
    from cayley.scale.reductions import Reduction
    from cayley.scale.sweeping import Swept
    from cayley.scale.tasks import Workers
    from cayley.simulation import Event, Rollout, Trajectory
    from cayley.simulation.controllers import BaseMotion, Controller, Wrench
    from cayley.simulation.tracking_run import ErrorSources, TrackingRun
    from cayley.systems import System


class MotionMethods(Data):
    """A mechanism in time: controlled, simulated, swept over states."""

    # Motion in time

    @property
    def control(self) -> ArmControl:
        """Controllers, motors and error models of this arm.

        >>> cy.load("planar2r").control.computed_torque(100.0, 20.0)
        <system computed torque: inputs q, qd, target, target_qd, target_qdd; outputs tau; parameters kp, kd>
        """
        from cayley.control.arm_control import ArmControl
        return ArmControl(self.tree)

    def tasks(self, tasks: Sequence[ControlTask], *, limits: MotionLimits | None = None,
              contacts: Sequence[Contact] = (), level: str = "velocity", approach: float = 10.0,
              period: float | None = None, name: str = "tasks") -> TaskController:
        """A whole-body controller for several tasks at once, within limits, as a system; see
        docs/motion_and_control/whole_body.md.

        tasks      such as `PoseTask("tool")`, from `cayley.control`; their targets are inputs `target_<name>`
        limits     of velocities, accelerations and torques (`effort`), `cayley.planning.MotionLimits`; those of the
                   model if none are given. Limits of position are those of the model
        contacts   `PointContact` and `PatchContact`; the inputs `contact_<frame>` lift them with 0
        level      "velocity": the output is `qd`; "acceleration": it is `tau`, with `qdd` and `force_<frame>`
        approach   the rate at which a limit of position is approached at most [1/s]
        period     [s] between two velocities, where they have limits of acceleration

        Further outputs: `residual_<task>`, `active` limits (-1, 0, 1; `limit_names` are their names), `excess`, the
        share by which limits that contradict each other are relaxed, `status`, and `iterations`. `controller.at(...)`
        explains these in words.

        >>> from cayley.control import DampingTask, PoseTask
        >>> arm = cy.load("panda")
        >>> hand = arm.tasks([PoseTask("tool", gain=5.0), DampingTask()])
        >>> ready = arm.configurations["ready"]
        >>> hand.at(ready, arm.pose(ready, "tool")).qd.round(6).tolist()
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        """
        from cayley.control.tasks.controller import task_controller
        from cayley.planning.timing.limits import MotionLimits
        given = MotionLimits.of(cast("DrivenMechanism", self)) if limits is None else limits
        return task_controller(self.tree, tasks, given, contacts=contacts, level=level, approach=approach,
                               period=period, name=name, says=limits is None)

    def system(self, *, wrenches: Sequence[str] = (), axes: str = "body", parameters: Sequence[str] = (),
               limits: str | float = "ignore") -> System:
        """The mechanism as a system, with the state (`q`, `qd`), the input `tau` and, for each frame of `wrenches`, the
        input `wrench_<frame>` (6): to be connected with motors, controllers and other systems. `parameters`, words as
        in `with_parameters`, become the parameter `parameters` (p), which may differ between the trajectories of a
        rollout: `system.rollout(parameters=["parameters"])` takes `parameters={"parameters": numbers}` (..., p), and
        `start` of an environment of `cayley.learning` may return them (docs/robots/parameters.md).

        Dry friction that the mechanism includes belongs to the system: joints stick and slip, in `simulate` and in
        compiled rollouts. `limits` of joints: "ignore" them, "inelastic" or "elastic" stops, the coefficient of
        restitution of stops, from 0 to 1, or "end", which ends a simulation there.

        Of a mechanism with constraints it is brought back onto them after each step.

        >>> cy.load("planar2r").system()
        <system planar2r: state q, qd; inputs tau; outputs q, qd>
        """
        from cayley.simulation.fixed_steps import mechanism_system
        self._say_without_friction()
        return mechanism_system(self.tree, wrenches, axes, limits=limits, parameters=parameters)

    def simulate(self, q: ArrayLike, qd: ArrayLike, *, tau: ArrayLike | None = None,
                 controller: Controller | None = None, until: float | None = None, times: ArrayLike | None = None,
                 start: float = 0.0, wrenches: Mapping[str, Wrench] | None = None, axes: str = "body",
                 base: BaseMotion | None = None, limits: str | float = "ignore", events: Event | Sequence[Event] = (),
                 method: str | type = "DOP853", rtol: float = 1e-9, atol: float = 1e-10, max_step: float = np.inf,
                 max_events: int = 1000, max_evaluations: int | None = None, control_period: float | None = None,
                 parameters: Mapping[str, Any] | None = None, progress: bool = True) -> Trajectory:
        """Simulate the motion from a state `until` a time [s], or at given `times`, with error control, events and
        joint stops; see `cayley.simulation.simulate`. A `ModelWarning` tells once if the model has friction that is not
        included.

        >>> cy.load("planar2r").simulate([0.0, 0.0], [0.0, 0.0], until=0.5, progress=False).status
        'finished'
        """
        from cayley.simulation import simulate
        self._say_without_friction()
        return simulate(self.tree, q, qd, tau=tau, controller=controller, until=until, times=times, start=start,
                        wrenches=wrenches, axes=axes, base=base, limits=limits, events=events, method=method, rtol=rtol,
                        atol=atol, max_step=max_step, max_events=max_events, max_evaluations=max_evaluations,
                        control_period=control_period, parameters=parameters, progress=progress)

    def track(self, reference: Reference, times: ArrayLike, *, weights: Weights | None = None,
              poles: Sequence[complex] | None = None, errors: ErrorSources | None = None, feedback: bool = True,
              control_period: float | None = None, tolerance: float = 1e-8) -> TrackingRun:
        """Simulate a controller that tracks a nominal motion `reference(t) -> (q, qd, qdd)`. It is designed on the
        linearised model at the `times`, and drives the mechanism with `errors` that the design does not know: friction,
        backlash, sensors, actuators, a payload. See `cayley.simulation.tracking_run`.

        >>> still = [0.3, 0.4], [0.0, 0.0], [0.0, 0.0]
        >>> cy.load("planar2r").track(lambda t: still, [0.0, 0.2], poles=[-8, -9, -10, -11]).largest < 1e-9
        True
        """
        from cayley.simulation.tracking_run import track
        return track(self.tree, reference, times, weights=weights, poles=poles, errors=errors, feedback=feedback,
                     control_period=control_period, tolerance=tolerance)

    def rollout(self, *, method: str | None = None, controller: Controller | None = None, control: str = "sampled",
                wrenches: Sequence[str] = (), axes: str = "body", inertias: Sequence[str] = (),
                base_motion: bool = False, changing: Sequence[str] = (), iterations: int | None = None,
                limits: str | float = "ignore") -> Rollout:
        """Compiled fixed-step simulation for batches of states; see `cayley.simulation.rollout`.

        >>> cy.load("planar2r").rollout(method="rk4")(np.zeros((3, 2)), np.zeros(2), step=1e-3, steps=100,
        ...                                        every=50).q.shape
        (3, 3, 2)
        """
        from cayley.simulation import rollout
        self._say_without_friction()
        key = ("rollout", method, controller, control, tuple(wrenches), axes, tuple(inertias), base_motion,
               tuple(changing), iterations, limits)
        return kept(self, key, lambda: rollout(
            self.tree, method=method, controller=controller, control=control, wrenches=wrenches, axes=axes,
            inertias=inertias, base_motion=base_motion, changing=changing, iterations=iterations, limits=limits))

    def sweep(self, compute: str | Callable[..., Any], points: Points | Mapping[str, Any], *,
              into: str | os.PathLike[str] | None = None, chunk: int = 65536,
              reduce: Mapping[str, Sequence[Reduction]] | None = None, on: Workers = None,
              progress: bool = True) -> Swept:
        """Evaluate a function for many states, parameters or gains, here or on many machines, and store the results in
        Zarr or reduce them. `compute` is the name of a kernel of this mechanism, or any function of the columns of the
        points; see `cayley.scale.sweeping`.

        >>> cy.load("planar2r").sweep("gravity_forces", {"q": np.zeros((10, 2))}, chunk=4)["result"].shape
        (10, 2)
        """
        from cayley.scale.sweeping import kernel_named, sweep
        return sweep(kernel_named(self, compute), points, into=into, chunk=chunk, reduce=reduce, on=on,
                     progress=progress)

    def _say_without_friction(self) -> None:
        """Once: the joints whose friction is known, if nothing was said of what is included."""
        from cayley.model.report import friction_left_out, joints_in_words
        names = () if self.tree.included else friction_left_out(self.tree)

        def say() -> bool:
            warn_user(f"{self.name} moves without the friction and damping of {joints_in_words(names)}: "
                      '`arm.including("friction")` has them, `arm.with_friction(arm.joint_names)` takes them away')
            return True

        if names:
            kept(self, "friction left out", say)
