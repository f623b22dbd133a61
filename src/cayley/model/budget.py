"""Limits on the size that one model file may expand to, checked before it is built, so that a small file cannot use
gigabytes or hours."""

from __future__ import annotations

from cayley.errors import ModelError

MOST: dict[str, int] = {
    "bytes": 256 * 2**20,  # of all files
    "elements": 200_000,  # of XML, each as often as it is included or expanded
    "bodies": 4_000,  # of one mechanism
    "objects": 20_000,  # of MJCF, four for each that is replicated; frames of SDF
    "numbers": 20_000_000,  # heights, pixels, entries of tables
    "triangles": 800_000,  # of one mesh, each as often as it is placed
    "parts": 4_000,  # nodes of one mesh that place something, each as often as it is placed
    "steps": 500_000,  # of the macros and expressions of xacro
}


class Budget:
    """Remaining allowance of one model, shared by all that it includes, expands and instantiates.

    >>> budget = Budget()
    >>> budget.spend("elements", 150_000)
    >>> budget.spend("elements", 60_000)
    Traceback (most recent call last):
    cayley.errors.ModelError: the model needs more than 200000 elements in all: simplify it
    """

    def __init__(self) -> None:
        self.spent: dict[str, float] = dict.fromkeys(MOST, 0.0)

    def spend(self, what: str, amount: float) -> None:
        """Count something before it is built, and raise a `ModelError` if it exceeds the limit."""
        self.spent[what] += amount
        if not self.spent[what] <= MOST[what]:
            raise ModelError(f"the model needs more than {MOST[what]} {what} in all: simplify it")
