"""`animate` and `write_motion`: a motion as a page that plays it in 3-D, as a moving picture, or in a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cayley.drawing import animate as write_pictures
from cayley.drawing.played import MotionLike, forces_at, played
from cayley.errors import ConventionError, ModelError, shown
from cayley.mechanism import Mechanism
from cayley.model.tree import Tree
from cayley.progress import working
from cayley.showing import PAGES, Player
from cayley.studio.report import STEP, contact_data, facts_html, motion_data, page_html, page_place, player, template
from cayley.studio.scene import embedded, scene_parts

_PICTURES = (".gif", ".mp4")


def animate(tree: Tree, motion: MotionLike, path: str | os.PathLike[str] | None = None, *, speed: float = 1.0,
            frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
            shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path | Player:
    """Show the motion of a mechanism: the run of a simulation, a planned motion, or a pair (times, configurations).

    path      .html: one self-contained page that plays it in 3-D; .gif, .mp4: a moving picture, the latter where the
              program ffmpeg is installed. Without a path it is a `Player`, which a notebook shows
    speed     how many times as fast as it is, 2 for twice as fast

    The other arguments are those of `cayley.drawing.animate`, for moving pictures; the page has switches for them.

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
        raise ConventionError("frames, trail, ground, shapes and size are options of moving pictures (.gif, .mp4), "
                              "not of a page, which has switches for them")
    made = Player(tree.name, motion_page(tree, motion, speed))
    return made if place is None else made.save(place)


def write_motion(arm: Mechanism, motion: MotionLike, path: str | os.PathLike[str]) -> Path:
    """Write a page that plays a motion, and return its path. `motion` is the run of a simulation, a planned motion, or
    a pair (times, configurations). `path` is the file, or a folder in which it is to be `<name>.html`.

    >>> import tempfile
    >>> from cayley.mechanism import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_motion(load("scara"), ([0.0, 1.0], np.eye(2, 4)), folder).name
    'scara.html'
    """
    place = page_place(Path(path), arm.name)
    place.write_text(motion_page(arm.tree, motion), encoding="utf-8")
    return place


def motion_page(tree: Tree, motion: MotionLike, speed: float = 1.0) -> str:
    """HTML page that plays a motion, at first at `speed` times its own."""
    if not (np.isfinite(speed) and speed > 0):
        raise ModelError(f"the playback speed of a motion must be positive, not {shown(speed)}")
    with working() as say:
        say(f"{tree.name}: the page of a motion")
        times, way = played(tree, motion, STEP)
        scene = scene_parts(tree, way=way)
    facts = [("from", f"{times[0]:.4g} s"), ("to", f"{times[-1]:.4g} s")]
    parts = {"source": "", **scene, "motion": embedded({
        **motion_data(times, way), **contact_data(tree, way, forces_at(motion, times))}), "reach": "",
             "player": player(float(speed)), "facts": facts_html(facts), "links": "", "sections": ""}
    return page_html(tree.name, parts, template("motion.css"))
