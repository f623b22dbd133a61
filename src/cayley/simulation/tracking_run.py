"""A law that tracks a nominal motion, run on a mechanism that is not quite the one it was designed for: each source of
error that its model leaves out is a switch.

    friction     of the joints of the description, which the model of the law may be without
    backlash     of gears: motors that drive their joints through teeth with play
    sensors      offsets, resolution and noise of what the law sees
    actuators    gain, offset and limit of what comes of what the law asks for
    payload      a body on a frame that the model does not know
With all of them off, the run keeps to the nominal motion; with `feedback=False` it shows what forces alone would do.
Source: Balafoutis & Patel 7.1; spec S1-116."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.signals import ActuatorErrors, SensorErrors, counted_as_rigid, digital, through_springs
from cayley.control.tracking import Reference, Tracking, Weights, tracking_control
from cayley.errors import ConventionError, SignatureError
from cayley.model.motors import ELASTIC
from cayley.model.rotor import Rotor
from cayley.model.spring_kinds import BacklashSpring
from cayley.model.tree import Tree
from cayley.showing import shown_briefly
from cayley.simulation.simulate import simulate
from cayley.systems import connect
from cayley.systems.trajectory import Trajectory


@dataclass(frozen=True)
class Play:
    """Teeth between a motor and its joint: `play`, the whole of it at the joint [rad, m], the `stiffness` and `damping`
    of teeth that touch [N m/rad, N m s/rad], and the `inertia` of the motor at a gear of 1, if not that of the joint's
    own rotor behind its gear."""

    play: float
    stiffness: float
    damping: float = 0.0
    inertia: float | None = None


@dataclass(frozen=True)
class Payload:
    """A body on a frame, as of `with_payload`."""

    frame: str
    mass: float
    center: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike | None = None


@dataclass(frozen=True)
class ErrorSources:
    """Sources of error that the controller's model does not include, all off by default. `backlash` by the names of
    joints; the law sees these `measured` at the "joints" or at their "motors", which do not see the play."""

    friction: bool = False
    backlash: Mapping[str, Play] = field(default_factory=dict)
    sensors: SensorErrors = field(default_factory=SensorErrors)
    actuators: ActuatorErrors = field(default_factory=ActuatorErrors)
    payload: Payload | None = None
    measured: Literal["joints", "motors"] = "joints"


@shown_briefly
class TrackingRun(NamedTuple):
    """The `trajectory` of the mechanism with its errors (its motors follow the joints, where backlash makes them parts
    of it), and how far it was from the nominal motion at its times: `error` and `rate_error` (samples, nv), of a
    mechanism with constraints those of its independent joints."""

    trajectory: Trajectory
    error: Array
    rate_error: Array

    @property
    def largest(self) -> float:
        """The largest error of any coordinate [rad, m]."""
        return float(np.abs(self.error).max(initial=0.0))


def track(tree: Tree, reference: Reference, times: ArrayLike, *, weights: Weights | None = None,
          poles: Sequence[complex] | None = None, errors: ErrorSources | None = None, feedback: bool = True,
          control_period: float | None = None, tolerance: float = 1e-8) -> TrackingRun:
    """Design a law for the nominal motion `reference(t) -> (q, qd, qdd)` at the times (points), as `tracking_control`
    does, and run it from the first of them to the last with `errors`, as `tracking_run` does.

    >>> from cayley.model.catalogue import load_robot
    >>> def swing(t):
    ...     return 0.5 * np.sin([t, t]), 0.5 * np.cos([t, t]), -0.5 * np.sin([t, t])
    >>> heavy = ErrorSources(payload=Payload("tool", 0.5))
    >>> runs = [track(load_robot("planar2r"), swing, np.linspace(0, 1, 6), poles=[-8, -9, -10, -11], errors=heavy,
    ...               feedback=feedback) for feedback in (False, True)]
    >>> bool(runs[1].largest < 0.3 * runs[0].largest)
    True
    """
    law = tracking_control(tree, reference, times, weights=weights, poles=poles)
    return tracking_run(law, times, errors=errors, feedback=feedback, control_period=control_period,
                        tolerance=tolerance)


def tracking_run(law: Tracking, times: ArrayLike, *, errors: ErrorSources | None = None, feedback: bool = True,
                 control_period: float | None = None, tolerance: float = 1e-8) -> TrackingRun:
    """Run a law on its mechanism with `errors` from its nominal state at the first of the times, sampled at all.

    `feedback`: False lets the nominal forces act alone. With a `control_period` [s] the law is a digital controller.
    `tolerance`: of the integration."""
    made = errors or ErrorSources()
    instants = np.atleast_1d(np.asarray(times, dtype=float))
    _check(made, control_period)
    tree, plant = law.model.tree, plant_with(law.model.tree, made)
    known = {tree.joints[joint].name for joint in tree.motors}
    loose = [plant.joints[joint].name for joint in plant.motors if plant.joints[joint].name not in known]
    springs, own = counted_as_rigid(plant, loose)
    q, qd = np.zeros(plant.nq), np.zeros(plant.nv)
    q[own.q], qd[own.qd] = law.reference(instants[0])[:2]
    for tie in springs:  # motors are where their joints are
        q[tie.qm], qd[tie.qmd] = tie.gear * q[tie.q], tie.gear * qd[tie.qd]
    controller = connect(made.sensors.system(tree),
                         law.system().renamed({"q": "measured_q", "qd": "measured_qd", "tau": "wanted_tau"}),
                         made.actuators.system(tree))
    if springs:
        controller = through_springs(plant, controller, measured=made.measured, joints=loose)
    given = law.nominal_inputs(feedback=feedback)
    if control_period is not None:
        controller = digital(controller, control_period, at_once=True)
        given |= made.sensors.draws(tree.nv, control_period, instants[0])
    # High gains and teeth are stiff, forces that are held between looks are not; and nothing between samples is stepped
    # over.
    method = "LSODA" if control_period is None else "Radau" if made.backlash else "DOP853"
    longest = float(np.diff(instants).max(initial=0.0)) or np.inf
    found = simulate(plant, q, qd, controller=controller, parameters=given, times=instants, progress=False,
                     method=method, rtol=tolerance, atol=tolerance / 10, max_step=longest)
    away = np.array([law.error(*state) for state in zip(found.t, found.q[:, own.q], found.qd[:, own.qd], strict=True)])
    half = away.shape[-1] // 2
    return TrackingRun(found, away[:, :half], away[:, half:])


def plant_with(tree: Tree, errors: ErrorSources) -> Tree:
    """The mechanism that a law is run on: its own, with friction, backlash and payload as they are switched on."""
    plant = tree
    if errors.payload is not None:
        held = errors.payload
        plant = plant.with_payload(held.frame, held.mass, center=held.center, inertia=held.inertia)
    for name, teeth in errors.backlash.items():
        joint = plant.joints[plant.joint_number(name)]
        if joint.spring is not None:
            raise ConventionError(f"joint {name!r} of {tree.name} is driven through a spring already: give that spring "
                                  "the play, as a BacklashSpring")
        rotor = joint.rotor if teeth.inertia is None else Rotor(teeth.inertia)
        if not rotor.inertia > 0:
            raise ConventionError(f"the motor of joint {name!r} of {tree.name} turns freely within the play and has no "
                                  "inertia: give it one, Play(..., inertia=...)")
        spring = BacklashSpring(stiffness=teeth.stiffness, damping=teeth.damping, backlash=teeth.play)
        plant = plant.with_joints(replace(joint, rotor=rotor, spring=spring))
    terms = (["friction"] if errors.friction else []) + ([ELASTIC] if errors.backlash else [])
    return plant.including(*plant.included.union(terms)) if terms else plant


def _check(errors: ErrorSources, period: float | None) -> None:
    if errors.measured not in ("joints", "motors"):
        raise ConventionError(f'what the law sees is measured at the "joints" or the "motors", not {errors.measured!r}')
    if errors.sensors.digital and period is None:
        raise SignatureError("noise and resolution are those of looks: give the control_period [s] of the controller")
