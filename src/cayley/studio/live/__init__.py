"""Robots in the browser, live: `arm.view()`, and `cayley studio ROBOT`. Drawn by viser (the extra `studio`)."""

from cayley.studio.live.robot import Robot
from cayley.studio.live.view import View

__all__ = ["Robot", "View"]
