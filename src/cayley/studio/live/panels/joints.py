"""Panel with sliders for the joints, with their limits and units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.geometry.rotations.euler import quaternion_from_roll_pitch_yaw, roll_pitch_yaw_from_quaternion
from cayley.studio.live.panels.panel import Panel
from cayley.studio.sliders import Slider, sliders

if TYPE_CHECKING:
    from viser import GuiSliderHandle

_STEPS = 1000  # of a slider, about
_DEGREES = 0.1
_LATER = 0.5  # s


class Joints(Panel):
    """One slider for each coordinate that moves by itself. Its ends are the limits; turns are in degrees."""

    folder = "Joints"
    expanded = True

    def build(self) -> None:
        self._sliders: list[tuple[Slider, GuiSliderHandle[float]]] = []
        for slider in sliders(self.robot.arm.tree, self.robot.rest):
            control = self._made(slider)
            self._sliders.append((slider, control))
            self.on(control, lambda slider=slider, control=control: self._set(slider, control.value))  # type: ignore[misc]
        if not self._sliders:
            self.gui.add_markdown("No joint can be moved by a slider.")
            return
        buttons = self.gui.add_button_group("Pose", ("rest", "random"), hint="Go to the resting or to a random pose")
        buttons.on_click(lambda event: self.robot.view.post((self, "pose"), lambda: self._go(event.target.value)))

    def moved(self) -> None:
        q = self.robot.q if self.robot.target is None else self.robot.target
        left = False
        for slider, control in self._sliders:
            value = q[slider["place"]] if slider["attitude"] is None else self._turns(slider)[slider["attitude"]]
            left |= not self.follow(control, _shown(slider, float(value)))
        if left:
            self.robot.view.post((self, "left"), self.moved, _LATER)

    def value_of(self, name: str) -> float:
        """Value that a slider shows, in degrees or metres."""
        return next(control.value for slider, control in self._sliders if slider["name"] == name)

    def _made(self, slider: Slider) -> GuiSliderHandle[float]:
        lower = _shown(slider, slider["lower"])
        upper = _shown(slider, slider["upper"])
        step = _DEGREES if slider["turns"] else _round_step(upper - lower)
        low = round(round(lower / step) * step, 9)
        high = max(round(round(upper / step) * step, 9), low + step)
        unit = "°" if slider["turns"] else "[m]"
        start = min(max(round(round(_shown(slider, slider["value"]) / step) * step, 9), low), high)
        return self.gui.add_slider(
            f"{slider['name']} {unit}", min=low, max=high, step=step, initial_value=start,
            hint=f"Joint {slider['name']}: {lower:.6g} to {upper:.6g} {'degrees' if slider['turns'] else 'metres'}")

    def _set(self, slider: Slider, value: float) -> None:
        control = next(control for each, control in self._sliders if each is slider)
        wanted = np.radians(value) if slider["turns"] else value
        if abs(value - control.min) < 1e-9:
            wanted = slider["lower"]
        elif abs(value - control.max) < 1e-9:
            wanted = slider["upper"]
        if slider["attitude"] is None:
            self.robot.lead({slider["place"]: float(wanted)})
            return
        angles = self._turns(slider)
        angles[slider["attitude"]] = wanted
        quaternion = quaternion_from_roll_pitch_yaw(angles[::-1])
        self.robot.lead({slider["place"] + k: float(x) for k, x in enumerate(quaternion)})

    def _turns(self, slider: Slider) -> list[float]:
        """Yaw, pitch and roll of an attitude."""
        q = self.robot.q if self.robot.target is None else self.robot.target
        quaternion = q[slider["place"]:slider["place"] + 4]
        found = roll_pitch_yaw_from_quaternion(quaternion)
        return [float(x) for x in found.angles[::-1]]

    def _go(self, where: str) -> None:
        robot = self.robot
        robot.go(robot.rest.copy() if where == "rest" else robot.arm.random_configuration())


def _shown(slider: Slider, value: float) -> float:
    return float(np.degrees(value)) if slider["turns"] else value


def _round_step(span: float) -> float:
    """A power of ten, of which a span [m] has a thousand, about."""
    return float(10.0 ** np.floor(np.log10(max(span, 1e-9) / _STEPS * 2)))
