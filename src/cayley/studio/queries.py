"""The subjects of a report besides a mechanism: a load, other limits of the drives, a motion, a law."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.law_trial import Trial, ordinary_step, try_law
from cayley.control.targets import Aim, JointAim
from cayley.drawing.played import MotionLike
from cayley.drawing.skeleton import resting
from cayley.dynamics.payload_capacity import effort_limits
from cayley.errors import ConventionError, SignatureError, UnsupportedError, shown
from cayley.mechanism import Mechanism
from cayley.planning import cubic_spline
from cayley.planning.motion import Motion
from cayley.simulation import Trajectory
from cayley.systems import System

_FEWEST = 4  # points of a motion that ends without a knot


Planned: TypeAlias = Motion | Trajectory | tuple[Array, Array] | None


@dataclass(frozen=True, eq=False)
class Asked:
    """Options of a report: a motion, a load [kg] and its frame, the maximum forces of the drives, a controller or the
    trial of one with its settings, and the controller's aim, the joints by default."""

    motion: MotionLike | None = None
    payload: float = 0.0
    frame: str | None = None
    effort: ArrayLike | None = None
    law: System | Trial | None = None
    settings: Mapping[str, str] | None = None
    aim: Aim | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.law, System | Trial | None):
            raise ConventionError("`law` must be a controller, such as arm.control.computed_torque(100, 20), or a "
                                  f"`Trial` of one, not {shown(self.law)}")

    def loaded(self, arm: Mechanism, frame: str) -> Mechanism:
        """The mechanism with the load and with the limits."""
        if not isinstance(self.payload, int | float | np.number) or not 0.0 <= self.payload < np.inf:
            raise ConventionError(f"`payload` must be a mass [kg], zero or more, not {shown(self.payload)}")
        mass = float(self.payload)
        if self.effort is not None:
            limits = effort_limits(arm.tree, self.effort)
            arm = arm.variants.with_joints(*[
                replace(joint, limits=replace(joint.limits, effort=tuple(map(float, limits[place]))))
                for joint, place in zip(arm.joints, arm.tree.v_slices, strict=True) if joint.motion.nv])
        return arm.with_payload(frame, mass) if mass else arm

    def planned(self, arm: Mechanism) -> Planned:
        """The motion; times and configurations become a spline, unless coordinates are rotations."""
        given = self.motion
        if given is None or isinstance(given, Motion | Trajectory):
            if isinstance(given, Motion) and given.nq != arm.nq:
                raise SignatureError(f"a motion of {arm.name} has {arm.nq} coordinates; this one has {given.nq}")
            return given
        if not (isinstance(given, tuple | list) and len(given) == 2):
            raise SignatureError("`motion` must be a planned motion, the run of a simulation, or a pair (times, "
                                 f"configurations), not {shown(given)}")
        t, q = (np.asarray(part, dtype=float) for part in given)
        if q.ndim != 2 or t.ndim != 1 or q.shape != (len(t), arm.nq):
            raise SignatureError(f"a motion of {arm.name} must be times (k) and configurations (k, {arm.nq}), not "
                                 f"{t.shape} and {q.shape}")
        if arm.nq != arm.nv:
            return t, q
        return cubic_spline(t, q, "not-a-knot" if len(t) >= _FEWEST else "natural")

    def tried(self, arm: Mechanism, motion: Planned) -> Trial | None:
        """Trial of the controller on the mechanism with its load: along the motion, or on a step."""
        if self.law is None or isinstance(self.law, Trial):
            return self.law
        goal = self.goal(arm, motion)
        ends: dict[str, Any] = {"start": resting(arm.tree), "target": goal}
        if isinstance(motion, Motion):
            ends = {"move": motion}
        return try_law(arm, self.law, self.aim or JointAim(arm.tree), limits=effort_limits(arm.tree), **ends)

    def goal(self, arm: Mechanism, motion: Planned) -> Array:
        """Target configuration of the controller."""
        if isinstance(motion, Motion):
            return motion.position(motion.end)
        if motion is not None:
            raise UnsupportedError("a controller is tried on a planned motion, or on times and configurations without "
                                   "rotations: this is the run of a simulation, or contains rotations")
        return ordinary_step(arm.tree, resting(arm.tree))

    def words(self, frame: str) -> list[tuple[str, str]]:
        """Facts about the load."""
        return [("payload", f"{float(self.payload):g} kg at {frame}")] if self.payload else []
