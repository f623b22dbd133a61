"""Panel that simulates the robot, with gravity, a controller, its gains and a payload on sliders."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.canvas import round_number
from cayley.model.masses import unknown_masses
from cayley.studio.live.panels.panel import Panel
from cayley.studio.live.running import Running, Settings, laws_for

if TYPE_CHECKING:
    from cayley.studio.live.robot import Robot


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
