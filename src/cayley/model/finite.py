"""Numbers of parts that must be finite, and not absurdly large."""

from __future__ import annotations

from cayley.errors import ModelError
from cayley.wording import shown

LARGEST = 1e30  # nothing in a robot has this size in SI units


def check_finite(part: object, what: str) -> None:
    """Raise if a number among the fields of a part is not finite, or absurdly large; `what` it is."""
    for name, value in vars(part).items():
        if isinstance(value, (int, float)) and not -LARGEST <= value <= LARGEST:
            raise ModelError(
                f"the {name} of a {what} is {shown(value)}: it must be a finite number that is not absurdly large")
