"""Workspaces and payload charts of a mechanism: `arm.pictures`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.mechanism import functions
from cayley.mechanism.room import Room, forwarded

if TYPE_CHECKING:
    pass


class Pictures(Room):
    """Workspaces, payload charts and maps of a mechanism, each with a method `plot`."""

    workspace = forwarded(lambda: functions.workspace)
    workspace_map = forwarded(lambda: functions.workspace_map_of)
    payload_map = forwarded(lambda: functions.payload_map)
