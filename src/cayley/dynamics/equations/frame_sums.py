"""Frames on links with exact scalars: where they are, by letters l_i, and how they move with the coordinates.

Where link i has a frame, and carries no other link, it is at l_i, as the next link would be; of several the second,
third, ... frame is at l_i_b, l_i_c. Directions of frames are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.equations.symbolic_links import Parameter, Scalars
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.model.joint_kinds import FrameMotion
from cayley.model.tree import Tree

_ROUNDING = 1e-14
_REST = np.zeros(3)


class End(NamedTuple):
    """A frame: the link that carries it (or ROOT), where it is there, and its directions (3, 3)."""

    link: int
    origin: tuple[Parameter, ...]
    rotation: Array


def ends_of(tree: Tree, links: Links, frames: Sequence[str]) -> dict[str, End]:
    """Where frames are on links. Of a link that carries no other the first is at l_i, as the next link would be."""
    size = max([np.abs(link.placement[:3, 3]).max() for link in links.links], default=0.0)
    found: dict[str, End] = {}
    letters: dict[int, Any] = {}
    for frame in dict.fromkeys(frames):
        number, pose = links.place(tree, frame)
        alone = not (links.children[number] if number != ROOT else links.links)
        names = letters.setdefault(number, count(0 if alone else 1))
        place = str(number + 1)
        if np.abs(pose[:3, 3]).max() > _ROUNDING * size:
            which = next(names)
            place = f"{place}_{chr(ord('a') + which)}" if which else place
        values = [value if abs(value) > _ROUNDING * size else 0.0 for value in pose[:3, 3]]
        origin = tuple(Parameter("l", place, axis, float(value)) for axis, value in zip("xyz", values, strict=True))
        found[frame] = End(number, origin, np.where(np.abs(pose[:3, :3]) < _ROUNDING, 0.0, pose[:3, :3]))
    return found


def way_to_root(links: Links, number: int) -> list[int]:
    """The links from one inwards to the root."""
    found = [number]
    while number != ROOT:
        number = links.links[number].parent
        found.append(number)
    return found


def frame_motion(links: Links, end: End, stop: int, q: Array, scalars: Scalars) -> FrameMotion:
    """The pose of a frame, at rest, seen from a link inwards."""
    x: Any = np.array([scalars.number(p) if p.value else 0.0 for p in end.origin])
    R: Any = end.rotation
    number = end.link
    while number != stop:
        link = links.links[number]
        x = link.offset(q) + link.inwards(x, q)
        R = np.stack([link.inwards(R[:, k], q) for k in range(3)], axis=1)
        number = link.parent
    return FrameMotion(R, x, _REST, _REST, _REST, _REST)

