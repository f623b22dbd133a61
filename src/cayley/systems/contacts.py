"""Contacts of a system: where its parts touch each other or the ground, and the surfaces there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, Text
from cayley.errors import SignatureError

if TYPE_CHECKING:
    from cayley.systems.layout import Layout


@dataclass(frozen=True, eq=False)
class TouchingPoints(HoldsFunctions):
    """Points (c) that may touch, with their friction, restitution and compliance.

    `points(t, x, u, p)` gives the gaps (c) [m] and the rows (c, 3, n), which map the velocity to those of the contacts
    along two tangents and the normal. `friction(t, x, u, p)` gives the coefficients (c). `restitution` (c) is between 0
    and 1, `compliance` (c) [m/N] zero where a contact is rigid. `forces` names the block (c, 3) of the state with the
    forces [N] of the last step along the same directions.
    """

    forces: str
    names: tuple[str, ...]
    points: Text
    friction: Text
    restitution: Array
    compliance: Array

    def __post_init__(self) -> None:
        for name in ("restitution", "compliance"):
            values = np.asarray(getattr(self, name), dtype=float)
            object.__setattr__(self, name, values)
            if values.shape != (len(self.names),):
                raise SignatureError(f"the {name} of contacts has a number for each of the {len(self.names)} points, "
                                     f"not the shape {values.shape}")

    def within(self, text: Callable[[Text], Text]) -> TouchingPoints:
        """The same of a part of another system, whose texts `text` rewrites."""
        return replace(self, points=text(self.points), friction=text(self.friction))

    def renamed(self, names: Mapping[str, str]) -> TouchingPoints:
        """The same with another name of its block."""
        return replace(self, forces=names.get(self.forces, self.forces))

    def check(self, layout: Layout) -> None:
        """Raise an error if the block of forces does not exist, or has another shape."""
        block = layout.blocks.get(self.forces)
        if block is None or block.shape != (len(self.names), 3):
            raise SignatureError(f"the contacts of {layout.whose} have {len(self.names)} points: their forces are a "
                                 f"block {self.forces!r} of the shape ({len(self.names)}, 3)")
