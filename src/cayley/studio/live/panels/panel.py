"""Base class of panels: controls on the page and their effect on a robot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from viser import GuiApi, GuiEvent, SceneApi

    from cayley.studio.live.robot import Robot

_IN_HAND = 0.4  # s after which a hand has left a control


class Panel(ABC):
    """Base class of the panels. Controls are made by `build`; `moved` is called whenever the robot has moved."""

    folder: ClassVar[str]
    expanded: ClassVar[bool] = False
    without_motion: ClassVar[str] = ""
    """Reason why a robot without moving joints has no such panel."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._touched: dict[int, float] = {}  # when a hand was on a control
        self._waiting: set[int] = set()  # controls whose change is still to be seen to
        self.build()

    @classmethod
    def refusal(cls, robot: Robot) -> str:
        """Reason why a robot has no such panel, or an empty text."""
        return "" if robot.arm.nv else cls.without_motion

    @abstractmethod
    def build(self) -> None:
        """Make the controls."""

    def moved(self) -> None:  # noqa: B027 (most have nothing to do)
        """The robot is elsewhere."""

    def takes(self, q: Array) -> bool:
        """True if this panel moves the robot to q itself."""
        return False

    def halt(self) -> None:  # noqa: B027 (most move nothing)
        """Stop moving the robot."""

    @property
    def gui(self) -> GuiApi:
        return self.robot.view.server.gui

    @property
    def scene(self) -> SceneApi:
        return self.robot.view.server.scene

    def on(self, control: Any, action: Callable[[], None]) -> None:  # noqa: ANN401 (of any control that has a value)
        """Do something whenever somebody changes a control on the page, not when the studio does."""
        def run() -> None:
            self._waiting.discard(id(control))
            action()

        def changed(event: GuiEvent[Any]) -> None:
            if event.client_id is not None:
                self._touched[id(control)] = monotonic()
                self._waiting.add(id(control))
                self.robot.view.post((self, id(control)), run)
        control.on_update(changed)

    def put(self, control: Any, value: object) -> None:  # noqa: ANN401 (of any control that has a value)
        """Set the value of a control."""
        control.value = value

    def follow(self, control: Any, value: float) -> bool:  # noqa: ANN401 (of any slider)
        """Move a slider with the robot, unless it is being dragged; True if it shows the value."""
        if abs(value - control.value) <= 0.5 * control.step:
            return True
        lately = monotonic() - self._touched.get(id(control), -_IN_HAND) < _IN_HAND
        if lately or id(control) in self._waiting:
            return False
        control.value = min(max(value, control.min), control.max)
        return True

    def on_click(self, button: Any, action: Callable[[], None]) -> None:  # noqa: ANN401 (of any button)
        """Do something whenever a button is pressed."""
        button.on_click(lambda _: self.robot.view.post((self, id(button)), action))
