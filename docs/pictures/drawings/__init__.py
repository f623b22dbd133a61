"""The pictures of the documentation, by what they show; `PICTURES` has all by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from drawings import arms, control, conventions, front, machines, planning

PICTURES: dict[str, Callable[[], Any]] = {
    made.__name__: made for room in (front, conventions, arms, machines, control, planning) for made in room.PICTURES}
