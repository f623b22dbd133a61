"""The friction of a joint or of a motor."""

from __future__ import annotations

from dataclasses import dataclass

from cayley.model.finite import check_finite


@dataclass(frozen=True)
class Friction:
    """Joint friction: -(viscous v + coulomb sign v) [N m s, N m, or N s/m, N]; at rest any force up to coulomb, against
    the motion that would begin."""

    viscous: float = 0.0
    coulomb: float = 0.0

    def __post_init__(self) -> None:
        check_finite(self, "friction")
