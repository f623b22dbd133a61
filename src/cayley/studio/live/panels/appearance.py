"""Panel that chooses how the robot is drawn: visual shapes, collision shapes or sticks."""

from __future__ import annotations

from cayley.showing import escape
from cayley.studio.live.panels.panel import Panel

_NAMED = 6
_WAYS = {"shapes": "visual", "collision shapes": "collision", "sticks": "sticks"}


class Appearance(Panel):
    """A choice of looks; files that are missing are named."""

    folder = "Show"

    def build(self) -> None:
        shapes = self.robot.arm.shapes
        ways = [word for word, role in _WAYS.items()
                if role == "sticks" or any(role in shape.roles or role == "visual" for shape in shapes)]
        self._way = self.gui.add_dropdown("Robot", ways, initial_value=ways[0], hint="How the robot is drawn")
        self._missing = self.gui.add_html("", visible=False)
        self.on(self._way, self._choose)
        self._choose()

    def _choose(self) -> None:
        missing = self.robot.look(_WAYS[self._way.value]).missing
        more = [f"and {len(missing) - _NAMED} more"] if len(missing) > _NAMED else []
        words = "".join(f"<li>{escape(word)}</li>" for word in [*missing[:_NAMED], *more])
        self._missing.content = f"<ul style='font-size:.75em;overflow-wrap:anywhere'>{words}</ul>"
        self._missing.visible = bool(missing)
