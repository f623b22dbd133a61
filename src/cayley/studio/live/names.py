"""Names of nodes in the scene: whatever a part is called, it is one step of a path, and no other part's."""

from __future__ import annotations

_LONGEST = 40


def node_name(number: int, name: str) -> str:
    """A number and a name as one step of a path: slashes, which would make steps of their own, and what cannot be
    printed are replaced.

    >>> node_name(3, "left/arm")
    '3 left∕arm'
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in name.replace("/", "∕"))
    return f"{number} {plain[:_LONGEST]}".strip()
