"""Curves that follow the robot: over the time of a motion, with a line where it is, or over the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.extras import optional_imports
from cayley.model.masses import unknown_masses
from cayley.studio.live.panels.motions import Motions
from cayley.studio.live.panels.panel import Panel
from cayley.studio.sliders import sliders

if TYPE_CHECKING:
    from viser import GuiUplotHandle

    from cayley.studio.live.robot import Robot

_OFTEN = 0.1  # s between two pictures
_WINDOW = 10.0  # s
_POINTS = 300
_MOST = 12  # curves
_NOTHING = "nothing"
_COLORS = ("#1b6ca8", "#d1495b", "#3a8d5c", "#e08b3e", "#8f5db7", "#5b8c96", "#a3781e", "#c2547f", "#4f6d2f",
           "#7a7f87", "#2f4b7c", "#b0413e")


class Curves(NamedTuple):
    """Data of a plot: names of curves, a unit, and values (k, n) at configurations (k, nq)."""

    names: list[str]
    unit: str
    values: Callable[[Array], Array]


def joint_positions(robot: Robot) -> Curves:
    """Coordinates of the joints that have sliders, angles in degrees."""
    chosen = [one for one in sliders(robot.arm.tree, robot.rest) if one["attitude"] is None][:_MOST]
    places = [one["place"] for one in chosen]
    scale = np.array([180 / np.pi if one["turns"] else 1.0 for one in chosen])
    unit = "° and m" if len({one["turns"] for one in chosen}) > 1 else "°" if chosen and chosen[0]["turns"] else "m"
    return Curves([one["name"] for one in chosen], unit, lambda q: q[:, places] * scale)


def end_effector(robot: Robot) -> Curves:
    """Position of the chosen frame."""
    frame = robot.frame
    return Curves(["x", "y", "z"], "m", lambda q: robot.arm.pose(q, frame)[..., :3, 3])


def holding_forces(robot: Robot) -> Curves:
    """Joint forces that hold the robot against gravity."""
    tree = robot.arm.tree
    chosen = [(joint.name, place.start) for joint, place in zip(tree.joints, tree.v_slices, strict=True)
              if joint.motion.nv == 1][:_MOST]
    return Curves([name for name, _ in chosen], "N m or N",
                  lambda q: robot.arm.gravity_forces(q)[:, [place for _, place in chosen]])


QUANTITIES: dict[str, Callable[[Robot], Curves]] = {
    "joint positions": joint_positions, "end effector": end_effector, "holding forces": holding_forces}


class Plots(Panel):
    """A choice of curves."""

    folder = "Plots"
    without_motion = "No joint moves."

    def build(self) -> None:
        arm = self.robot.arm
        hidden = {"holding forces"} if arm.tree.is_constrained or unknown_masses(arm.tree) else set()
        words = (_NOTHING, *[word for word in QUANTITIES if word not in hidden])
        self._which = self.gui.add_dropdown("Plot", words, initial_value=_NOTHING,
                                            hint="Curves that follow the robot")
        self._folder = self.gui.add_folder(None)
        self._plot: GuiUplotHandle | None = None
        self._curves: Curves | None = None
        self._past: deque[tuple[float, Array]] = deque(maxlen=_POINTS)
        self._begun = monotonic()
        self._last = 0.0
        self._of: tuple[int, str] = (0, "")
        self.on(self._which, self.choose)

    def choose(self, word: str | None = None) -> None:
        """Plot a quantity, or nothing."""
        with self.robot.view.update():
            if word is not None:
                self.put(self._which, word)
            if self._plot is not None:
                self._plot.remove()
                self._plot = None
            self._past.clear()
            self._of = 0, ""
            self._curves = None
            if self._which.value != _NOTHING:
                self._curves = QUANTITIES[self._which.value](self.robot)
                self._draw()

    @property
    def data(self) -> tuple[Array, ...]:
        """Times, and the curves; the last is one where a motion is, and zero elsewhere."""
        return () if self._plot is None else tuple(self._plot.data)

    def moved(self) -> None:
        if self._plot is None:
            return
        now = monotonic()
        self._past.append((now - self._begun, self.robot.q))
        if now - self._last >= _OFTEN:
            self._last = now
            self._draw()
        else:
            self.robot.view.post((self, "last picture"), self._draw, _OFTEN)

    def _draw(self) -> None:
        if self._curves is None:
            return
        data = self._along_motion() or self._lately()
        if self._plot is not None:
            self._plot.data = data
            return
        with optional_imports():
            from viser import uplot
        series = (uplot.Series(label="t [s]"), *[uplot.Series(label=_plain(name), stroke=color, width=1.5)
                                                 for name, color in zip(self._curves.names, _COLORS, strict=False)],
                  uplot.Series(label="now", stroke="#333333", width=1.0, scale="now"))
        axes = (uplot.Axis(label="t [s]", labelSize=18, size=34),
                uplot.Axis(label=f"[{self._curves.unit}]", labelSize=18, size=48))
        with self._folder:
            scales = {"x": uplot.Scale(time=False), "now": uplot.Scale(range=(0.0, 1.0))}
            self._plot = self.gui.add_uplot(data, series, scales=scales, axes=axes, aspect=1.5,
                                            title=_plain(f"{self.robot.name}: {self._which.value}"))

    def _along_motion(self) -> tuple[Array, ...] | None:
        """All of the motion that is played, with a line at its time."""
        motions = next((panel for panel in self.robot.panels if isinstance(panel, Motions)), None)
        if motions is None or motions.motion is None or not self._follows(motions):
            return None
        assert self._curves is not None
        key = id(motions.motion), self._which.value
        if self._of != key:
            every = max(1, len(motions.motion.t) // _POINTS)
            t = motions.motion.t[::every]
            self._whole = (t, np.atleast_2d(self._curves.values(motions.motion.q[::every])))
            self._of = key
        t, values = self._whole
        now = np.clip(motions.time, t[0], t[-1])
        place = int(np.searchsorted(t, now))
        here = np.array([np.interp(now, t, column) for column in values.T])
        brief = 1e-6 * (t[-1] - t[0])
        times = np.insert(t, place, now - brief * np.array([3.0, 2.0, 1.0]))
        columns = [np.insert(column, place, [x, x, x]) for column, x in zip(values.T, here, strict=True)]
        line = np.zeros(len(times))  # on a scale of its own, from the bottom to the top where the motion is
        line[place + 1] = 1.0
        return times, *columns, line

    def _follows(self, motions: Motions) -> bool:
        """True if the robot is where the motion has it."""
        assert motions.motion is not None
        return motions.playing or not any(self.robot.view.is_running(panel) for panel in self.robot.panels)

    def _lately(self) -> tuple[Array, ...]:
        assert self._curves is not None
        past = [one for one in self._past if one[0] > monotonic() - self._begun - _WINDOW]
        if len(past) < 2:
            now = monotonic() - self._begun
            past = [(now - 0.1, self.robot.q), (now, self.robot.q)]
        values = np.atleast_2d(self._curves.values(np.stack([q for _, q in past])))
        return np.array([t for t, _ in past]), *values.T, np.zeros(len(past))


def _plain(name: str) -> str:
    """A name without characters that HTML would interpret."""
    return name.replace("<", "‹").replace(">", "›").replace("&", "＆")
