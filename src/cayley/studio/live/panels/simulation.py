"""Panel that simulates the robot, with gravity, a controller, its gains and a payload on sliders."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.arms import check_driven, check_rigid_drives
from cayley.drawing.canvas import round_number
from cayley.errors import UnsupportedError
from cayley.model.constraints import check_independent
from cayley.model.masses import unknown_masses
from cayley.model.tree import Tree
from cayley.studio.live.panels.panel import Panel
from cayley.systems import Port, Record, State, System, connect

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.studio.live.robot import Robot
    from cayley.systems.rollouts.rollout import Rollout

class Simulation(Panel):
    """Simulation of the robot. Sliders and gizmo set the target of the controller, or the state if there is none."""

    folder = "Simulation"

    @classmethod
    def refusal(cls, robot: Robot) -> str:
        tree = robot.arm.tree
        unknown = unknown_masses(tree)
        if unknown:
            return f"Nothing to simulate: the mass of {tree.bodies[unknown[0]].name} is not known."
        if tree.is_timed:
            return "A prescribed motion leads this mechanism: it is not simulated here."
        return "" if tree.nv else "No joint moves."

    def build(self) -> None:
        laws = laws_for(self.robot.arm)
        mass = sum(body.mass or 0.0 for body in self.robot.arm.bodies[1:])
        heaviest = float(round_number(max(0.4 * mass, 1.0)))
        self._run = self.gui.add_button("Run", hint="Simulate the robot from where it is, or stop")
        self._law = self.gui.add_dropdown("Controller", laws, initial_value=laws[0],
                                          hint="Holds the robot at its target")
        self._gravity = self.gui.add_slider("Gravity [m/s²]", min=0.0, max=20.0, step=0.01, initial_value=self._usual())
        self._kp = self.gui.add_slider("kp [1/s²]", min=0.0, max=400.0, step=1.0, initial_value=100.0,
                                       hint="Stiffness per unit of a joint's inertia")
        self._kd = self.gui.add_slider("kd [1/s]", min=0.0, max=60.0, step=0.5, initial_value=20.0,
                                       hint="Damping per unit of a joint's inertia")
        self._payload = self.gui.add_slider("Payload [kg]", min=0.0, max=heaviest, step=heaviest / 100,
                                            initial_value=0.0, hint="A load at the end effector, unknown to the "
                                                                    "controller")
        self._words = self.gui.add_text("State", "stopped", disabled=True)
        self._running: Running | None = None
        self._preparing = False
        self.on_click(self._run, lambda: self.halt() if self.running else self.run())
        for control in (self._law, self._gravity, self._payload):
            self.on(control, self._changed)

    @property
    def running(self) -> bool:
        """True if the simulation is running."""
        return self.robot.view.is_running(self)

    @property
    def state(self) -> tuple[float, Array, Array]:
        """The time since it was begun, q and qd."""
        if self._running is None:
            return 0.0, self.robot.q, np.zeros(self.robot.arm.nv)
        return self._running.time, self._running.q, self._running.qd

    def set(self, *, law: str | None = None, kp: float | None = None, kd: float | None = None,
            gravity: float | None = None, payload: float | None = None) -> None:
        """Set the controls."""
        given = ((self._law, law), (self._kp, kp), (self._kd, kd), (self._gravity, gravity), (self._payload, payload))
        with self.robot.view.update():
            for control, value in given:
                if value is not None:
                    self.put(control, value)
            self._changed()

    def run(self) -> None:
        """Begin, from where the robot is."""
        with self.robot.view.update():
            self.robot.halt()
            self._prepare(self.robot.q, self.robot.q)

    def halt(self) -> None:
        if self.running:
            self.robot.view.finish(self)
        self._preparing = False
        self._run.label = "Run"
        self.put(self._words, "stopped")
        self.robot.target = None

    def takes(self, q: Array) -> bool:
        if not self.running or self._running is None:
            return False
        if self._running.law.make is None:
            self._running.place(q)
            return False
        self.robot.target = np.array(q)
        self.robot.place(self.robot.q)
        return True

    def _prepare(self, q: Array, target: Array) -> None:
        """Compile the loop in the background, and then run it."""
        arm = self.robot.arm
        frame = self.robot.frame
        law = self._law.value
        settings = self._settings()
        self._preparing = True
        self._run.label = "Stop"
        self.put(self._words, "being compiled")

        def work() -> Callable[[], None]:
            try:
                made = Running(arm, frame, law, q, settings)
            except Exception:
                self.robot.view.post((self, "halt"), self.halt)
                raise
            return lambda: self._begin(made, target)

        self.robot.view.aside(work)

    def _begin(self, made: Running, target: Array) -> None:
        if not self._preparing:
            return
        self._preparing = False
        self._running = made
        self.robot.target = None if made.law.make is None else np.array(target)
        self.robot.view.start(self, self._tick)

    def _tick(self, elapsed: float) -> None:
        made = self._running
        assert made is not None
        target = made.q if self.robot.target is None else self.robot.target
        if not made.advance(elapsed, target, self._settings()):
            self.halt()
            self.put(self._words, "it left the numbers")
            return
        self.robot.place(made.q)
        self.put(self._words, f"running, {made.time:.1f} s")

    def _changed(self) -> None:
        """Another law, or settings that the compiled loop cannot have."""
        if self.running and self._running is not None:
            made = self._running
            if self._law.value != made.name or not made.fits(self._settings()):
                self.robot.view.finish(self)
                self._prepare(made.q, made.q if self.robot.target is None else self.robot.target)

    def _settings(self) -> Settings:
        down = self._direction() * self._gravity.value
        x, y, z = (float(x) for x in down)
        return Settings(self._kp.value, self._kd.value, (x, y, z), self._payload.value)

    def _direction(self) -> Array:
        gravity = np.asarray(self.robot.arm.gravity, dtype=float)
        size = float(np.linalg.norm(gravity))
        return gravity / size if size else np.array([0.0, 0.0, -1.0])

    def _usual(self) -> float:
        return round(min(float(np.linalg.norm(np.asarray(self.robot.arm.gravity, dtype=float))), 20.0), 2)


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
