"""`animate`: a motion as a page that plays it in 3-D, as a moving picture, or in a notebook, by what the path says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cayley.drawing import animate as write_pictures
from cayley.drawing.played import MotionLike, moving_part
from cayley.errors import ConventionError
from cayley.model.tree import Tree
from cayley.showing import PAGES, Player
from cayley.studio.motion_page import motion_page
from cayley.systems.trajectory import Trajectory

_PICTURES = (".gif", ".mp4")

def animate(tree: Tree, motion: MotionLike, path: str | os.PathLike[str] | None = None, *, speed: float = 1.0,
            frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
            shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path | Player:
    """Show the motion of a mechanism: the run of a simulation, a planned motion, or a pair (times, configurations).

    path      .html: one self-contained page that plays it in 3-D; .gif, .mp4: a moving picture, the latter where the
              program ffmpeg is installed. Without a path it is a `Player`, which a notebook shows
    speed     how many times as fast as it is, 2 for twice as fast
    frames, trail, ground, shapes, size     of moving pictures, as in `cayley.drawing.animate`; the page has switches
              for them

    >>> from cayley.model.catalogue import load_robot
    >>> animate(load_robot("planar2r"), ([0.0, 0.1], [[0.0, 0.0], [0.3, 0.5]]))
    <player of a motion of planar2r: a notebook shows it, save("motion.html") writes it>
    """
    place = None if path is None else Path(path)
    if place is not None and place.suffix.lower() not in PAGES:
        if place.suffix.lower() not in _PICTURES:
            raise ConventionError(f"a motion is written as .html, .gif or .mp4, not as {place.name!r}")
        return write_pictures(tree, motion, place, speed=speed, frames=frames, trail=trail, ground=ground,
                              shapes=shapes, size=size)
    if (frames, trail, ground, shapes, size) != ("ends", True, True, "visual", None):
        raise ConventionError("frames, trail, ground, shapes and size are of moving pictures (.gif, .mp4): on a page "
                              "whoever looks at it chooses")
    player = Player(tree.name, motion_page(tree, motion, speed))
    return player if place is None else player.save(place)


def animate_states(trajectory: Trajectory, path: str | os.PathLike[str] | None = None, *, speed: float = 1.0,
                   frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
                   shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path | Player:
    """The same for the mechanism of a system."""
    return animate(*moving_part(trajectory), path, speed=speed, frames=frames, trail=trail, ground=ground,
                   shapes=shapes, size=size)
