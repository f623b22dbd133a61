"""`write_motion`: a motion on one self-contained page, played in 3-D, for any browser, without a network."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from cayley.drawing.played import MotionLike, played
from cayley.errors import ModelError
from cayley.mechanism import Mechanism
from cayley.model.tree import Tree
from cayley.studio.report import facts_html, page_html, page_place, player, template
from cayley.studio.scene import embedded, scene_parts
from cayley.wording import shown

_STEP = 0.02  # s between configurations; the page goes on evenly between them
_DIGITS = 6


def write_motion(arm: Mechanism, motion: MotionLike, path: str | os.PathLike[str]) -> Path:
    """Write the page of a motion, and return where it is: the run of a simulation, a planned motion, or a pair (times,
    configurations). `path` is the file, or a folder in which it is to be `<name>.html`. `arm.animate` does it too.

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
    """The page, which at first plays so many times as fast as it is."""
    if not (np.isfinite(speed) and speed > 0):
        raise ModelError(f"the speed of a motion that is played is positive, not {shown(speed)}")
    times, way = played(tree, motion, _STEP)
    data = {"step": float(times[1] - times[0]), "q": np.round(way, _DIGITS).tolist()}
    facts = [("from", f"{times[0]:.4g} s"), ("to", f"{times[-1]:.4g} s")]
    parts = {"source": "", **scene_parts(tree, way=way), "fall": embedded(data), "reach": "",
             "player": player(float(speed)), "facts": facts_html(facts), "links": "", "sections": ""}
    return page_html(tree.name, parts, template("motion.css"))
