"""A robot that is simulated while it is watched: one compiled loop of the mechanism, a law and stops at the limits.

Gravity and payload are parameters of the loop; of a mechanism with constraints they are constants, and another loop is
made for other values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.arms import check_driven, check_rigid_drives
from cayley.errors import UnsupportedError
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.systems import Port, Record, State, System, connect

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.systems.rollouts import Rollout

STEP = 1e-3  # s
_PAYLOAD = "payload of the studio"
_STOP = 80.0  # rad/s, of a joint in its stop
_DAMPED = 0.7


class Settings(NamedTuple):
    """Values of the sliders: gains [1/s^2, 1/s] per unit of inertia, gravity (3) [m/s^2], payload [kg]."""

    kp: float
    kd: float
    gravity: tuple[float, float, float]
    payload: float


def _pd(arm: Mechanism) -> System:
    """Each actuated joint by its own error and its rate; the others are left to the constraints, or to fall."""
    tree = arm.tree
    driven = [(place.start, own.start) for joint, place, own in zip(tree.joints, tree.q_slices, tree.v_slices,
                                                                   strict=True)
              if joint.motion.nq == joint.motion.nv == 1 and joint.name in tree.actuated_joints]
    if len(driven) == tree.nv:
        return arm.control.pd(1.0, 1.0)

    def law(t: object, x: State, u: Record, p: Record) -> Array:
        tau = [0.0 * p.kp[0]] * tree.nv
        for place, own in driven:
            tau[own] = p.kp[own] * (u.target[place] - u.q[place]) - p.kd[own] * u.qd[own]
        return np.array(tau)

    return System("pd of the actuated joints", inputs={"q": tree.nq, "qd": tree.nv, "target": tree.nq},
                  outputs={"tau": tree.nv}, parameters={"kp": np.ones(tree.nv), "kd": np.ones(tree.nv)}, output=law)


class Choice(NamedTuple):
    """A controller: its maker, whether its gains are per unit of inertia, and whether it works for all mechanisms or
    only for arms with a drive at every joint."""

    make: Callable[[Mechanism], System] | None
    by_inertia: bool = False
    for_all: bool = False


LAWS = {"computed torque": Choice(lambda arm: arm.control.computed_torque(1.0, 1.0), by_inertia=True),
        "PD with gravity compensation": Choice(lambda arm: arm.control.pd_with_gravity(1.0, 1.0)),
        "PD": Choice(_pd, for_all=True),
        "none: it falls": Choice(None, for_all=True)}


def laws_for(arm: Mechanism) -> tuple[str, ...]:
    """The names of the laws that a robot can have."""
    try:
        for check in (check_independent, check_driven, check_rigid_drives):
            check(arm.tree, "a law")
        is_arm = True
    except UnsupportedError:
        is_arm = False
    return tuple(name for name, law in LAWS.items() if law.for_all or is_arm)


class Running:
    """A robot from a configuration on; `advance` brings `q` and `qd` on."""

    def __init__(self, arm: Mechanism, frame: str, law: str, q: Array, settings: Settings) -> None:
        self.name = law
        self.law = LAWS[law]
        self.q = np.array(q, dtype=float)
        self.qd = np.zeros(arm.nv)
        self.time = 0.0
        self._arm = arm
        self._frame = frame
        self._inertia = _inertias(arm, self.q)
        self._made_for = settings
        self._roll = self._compiled(settings)
        self.advance(STEP, self.q, settings)  # compiled before anybody watches
        self.place(q)

    def fits(self, settings: Settings) -> bool:
        """True if the compiled loop can take these settings."""
        fixed = self._arm.tree.is_constrained
        return not fixed or (settings.gravity, settings.payload) == (self._made_for.gravity, self._made_for.payload)

    def place(self, q: Array) -> None:
        """Put it somewhere, at rest."""
        self.q = np.array(q, dtype=float)
        self.qd = np.zeros(self._arm.nv)

    def advance(self, seconds: float, target: Array, settings: Settings) -> bool:
        """Go on, towards a target (nq); whether all numbers are finite still."""
        steps = max(1, round(seconds / STEP))
        given: dict[str, Array] = {}
        if self.law.make is not None:
            unit = np.ones(self._arm.nv) if self.law.by_inertia else self._inertia * np.isin(
                np.arange(self._arm.nv), self._arm.tree.actuated_velocities)
            given = {"kp": settings.kp * unit, "kd": settings.kd * unit}
        if not self._arm.tree.is_constrained:
            given["parameters"] = np.array([settings.payload, *settings.gravity])
        inputs = {} if self.law.make is None else {"target": target}
        end = self._roll({"q": self.q, "qd": self.qd}, step=STEP, steps=steps, every=steps, inputs=inputs,
                         parameters=given, progress=False).end
        if not (np.isfinite(end["q"]).all() and np.isfinite(end["qd"]).all()):
            return False
        self.q = np.array(end["q"])
        self.qd = np.array(end["qd"])
        self.time += steps * STEP
        return True

    def _compiled(self, settings: Settings) -> Rollout:
        arm = self._arm
        if arm.tree.is_constrained:
            heavy = arm.with_payload(self._frame, settings.payload, name=_PAYLOAD) if settings.payload else arm
            plant = heavy.with_gravity(settings.gravity).system()
        else:
            words = [f"{_PAYLOAD}.mass", "gravity.x", "gravity.y", "gravity.z"]
            plant = arm.with_payload(self._frame, 1.0, name=_PAYLOAD).system(parameters=words)
        parts = [plant, _stops(arm.tree, self._inertia)]
        if self.law.make is not None:
            parts.append(self.law.make(arm).renamed({"tau": "wanted"}))
        loop = connect(*parts, name=f"{arm.name} in the studio")
        return loop.rollout(method="rk4", parameters=list(loop.parameters))


def _inertias(arm: Mechanism, q: Array) -> Array:
    """Effective inertia at each joint (nv), the other joints being free to move."""
    M = np.asarray(arm.variants.spanning_tree().inertia_matrix(q), dtype=float)
    return 1 / np.diag(np.linalg.pinv(M, hermitian=True))


def _stops(tree: Tree, inertia: Array) -> System:
    """The forces of a law, and those of stops at the limits of joints of one coordinate."""
    limited = [(place.start, own.start, float(joint.limits.lower[0]), float(joint.limits.upper[0]))
               for joint, place, own in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True)
               if joint.motion.nq == joint.motion.nv == 1
               and (np.isfinite(joint.limits.lower[0]) or np.isfinite(joint.limits.upper[0]))]

    def forces(t: object, x: State, u: Record, p: Record) -> Array:
        tau = list(u.wanted)
        for place, own, lower, upper in limited:
            k = float(inertia[own]) * _STOP**2
            d = 2 * _DAMPED * float(inertia[own]) * _STOP
            q = u.q[place]
            for side, end in ((1.0, upper), (-1.0, lower)):
                if np.isfinite(end):
                    deep = side * (q - end)
                    push = np.sign(np.maximum(deep, 0.0)) * (k * deep + side * d * u.qd[own])
                    tau[own] = tau[own] - side * np.maximum(0.0, push)
        return np.array(tau)

    return System("stops", inputs={"q": tree.nq, "qd": tree.nv, "wanted": Port((tree.nv,), default=0.0)},
                  outputs={"tau": tree.nv}, output=forces)
