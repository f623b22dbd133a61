"""Motions that are played: by a button, at several speeds, or through a slider of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.contact_arrows import arrow_ends, rims, touching_spots
from cayley.drawing.played import MotionLike, Played, forces_at, played
from cayley.errors import ConventionError, shown
from cayley.studio.live.panels.panel import Panel
from cayley.studio.opening_motion import demonstration

if TYPE_CHECKING:
    from viser import LineSegmentsHandle

_FORCE = (194, 37, 92)
_STEP = 1 / 60  # s between poses, all of which are computed at once
_SPEEDS = {"¼ ×": 0.25, "½ ×": 0.5, "1 ×": 1.0, "2 ×": 2.0, "4 ×": 4.0}


class Motions(Panel):
    """Play, pause and scrub a motion."""

    folder = "Motion"
    expanded = True
    without_motion = "No joint moves."

    def build(self) -> None:
        self.motion: Played | None = None
        self._seen: Array = np.zeros((0, 0, 7))
        self._forces: Array | None = None
        self._contacts: list[LineSegmentsHandle] = []
        self._time = 0.0
        self._speed = 1.0
        self._play = self.gui.add_button("Play", disabled=True, hint="Play the motion, or pause it")
        self._scrub = self.gui.add_slider("Time [s]", min=0.0, max=1.0, step=0.01, initial_value=0.0, disabled=True)
        self._pace = self.gui.add_dropdown("Speed", tuple(_SPEEDS), initial_value="1 ×")
        self._repeat = self.gui.add_checkbox("Repeat", True)
        demonstrate = self.gui.add_button("Demonstration", hint="A motion within the limits of the joints")
        self.on_click(self._play, self._toggle)
        self.on(self._scrub, lambda: self.seek(self._scrub.value))
        self.on(self._pace, self._choose_pace)
        self.on_click(demonstrate, lambda: self.show(demonstration(self.robot.arm, self.robot.rest), speed=1.0,
                                                     play=True))

    @property
    def time(self) -> float:
        """Time of the motion [s]."""
        return self._time

    @property
    def playing(self) -> bool:
        """True if the motion is being played."""
        return self.robot.view.is_running(self)

    def show(self, motion: MotionLike, *, speed: float, play: bool) -> None:
        """Take a motion, and play it."""
        if not (np.isfinite(speed) and speed > 0):
            raise ConventionError(f"the playback speed of a motion must be positive, not {shown(speed)}")
        found = played(self.robot.arm.tree, motion, _STEP)
        seen = self.robot.seen(found.q)
        with self.robot.view.update():
            self.robot.halt()
            self.motion = found
            self._forces = forces_at(motion, found.t)
            self._seen = seen
            self._speed = float(speed)
            start = float(found.t[0])
            end = float(found.t[-1])
            self._scrub.min = start
            self._scrub.max = end
            self._scrub.step = round(max((end - start) / 1000, 1e-4), 4)
            for control in (self._play, self._scrub):
                control.disabled = False
            self.put(self._pace, next((word for word, value in _SPEEDS.items() if value == speed), self._pace.value))
            self.seek(start)
            if play:
                self.play()

    def play(self) -> None:
        """Go on from where it is, or from the start where it is at its end."""
        if self.motion is None:
            raise ConventionError(f"{self.robot.name} has no motion to play: give it one with `show`")
        with self.robot.view.update():
            self.robot.halt()
            if self._time >= self.motion.t[-1]:
                self._time = float(self.motion.t[0])
            self._play.label = "Pause"
            self.robot.view.start(self, self._tick)

    def seek(self, time: float) -> None:
        """Show the motion at a time [s]."""
        if self.motion is None:
            return
        t = self.motion.t
        with self.robot.view.update():
            self._time = float(np.clip(time, t[0], t[-1]))
            k = round(float((self._time - t[0]) / (t[1] - t[0])))
            self.robot.place(self.motion.q[k], self._seen[k])
            self._show_contacts(k)
            self.follow(self._scrub, self._time)

    def takes(self, q: Array) -> bool:
        """A hand on the robot pauses it."""
        self.halt()
        self._hide_contacts()
        return False

    def _show_contacts(self, k: int) -> None:
        """Forces of contacts at a sample of the motion, as lines."""
        self._hide_contacts()
        if self.motion is None or self._forces is None:
            return
        spots = touching_spots(self.robot.arm.tree, self.motion.q[k], self._forces[k])
        if spots:
            size = self.robot.figure.size
            largest = float(np.linalg.norm(self._forces, axis=-1).max())
            arrows = np.stack([[spot.point for spot in spots], arrow_ends(spots, size, largest)], axis=1)
            sides = np.concatenate([np.stack([rim, np.roll(rim, -1, axis=0)], axis=1) for rim in rims(spots, size)])
            scene = self.robot.view.server.scene
            self._contacts = [
                scene.add_line_segments(self.robot.node("contact forces"), arrows, _FORCE, thickness=0.01 * size),
                scene.add_line_segments(self.robot.node("friction cones"), sides, _FORCE, thickness=0.002 * size)]

    def _hide_contacts(self) -> None:
        for node in self._contacts:
            node.remove()
        self._contacts = []

    def halt(self) -> None:
        if self.playing:
            self.robot.view.finish(self)
            self._play.label = "Play"

    def _tick(self, elapsed: float) -> None:
        assert self.motion is not None
        start = float(self.motion.t[0])
        end = float(self.motion.t[-1])
        time = self._time + self._speed * elapsed
        if time > end and self._repeat.value:
            time = start + (time - end) % (end - start)
        self.seek(time)
        if time >= end:
            self.halt()

    def _toggle(self) -> None:
        if self.playing:
            self.halt()
        else:
            self.play()

    def _choose_pace(self) -> None:
        self._speed = _SPEEDS[self._pace.value]
