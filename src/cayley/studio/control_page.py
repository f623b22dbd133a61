"""`write_control_page`: the trial of a controller on one self-contained page: step response, tracking of a motion,
joint forces beside their limits, and stability of the loop."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from pathlib import Path

import numpy as np

from cayley.control.law_trial import Trial
from cayley.drawing.played import played
from cayley.mechanism import Mechanism
from cayley.studio.report import facts_html, page_html, page_place, player
from cayley.studio.scene import embedded, scene_parts
from cayley.studio.trial_sections import control_sections, trial_facts

_STEP = 0.02  # s between configurations; the page goes on evenly between them
_DIGITS = 6


def write_control_page(arm: Mechanism, trial: Trial, path: str | os.PathLike[str], *,
                       settings: Mapping[str, str] | None = None) -> Path:
    """Write the page and return its path. `path` is the file, or a folder in which it is to be `<name>.html`.
    `settings` of the controller are listed."""
    place = page_place(Path(path), f"{arm.name}_control")
    times, way = played(arm.tree, (trial.tracking.t, trial.tracking["q"]), _STEP)
    data = {"step": float(times[1] - times[0]), "q": np.round(way, _DIGITS).tolist()}
    sections = control_sections(trial, settings)
    parts = {
        "source": escape(f"Source of the model: {Path(arm.tree.source).name}. ") if arm.tree.source else "",
        **scene_parts(arm.tree, way=way), "fall": embedded(data), "reach": "",
        "player": player(), "facts": facts_html(trial_facts(trial)),
        "links": "".join(f'<a href="#{name}">{title}</a>' for name, title, _ in sections),
        "sections": "".join(f'<section id="{name}"><h2>{title}</h2>{body}</section>' for name, title, body in sections)}
    place.write_text(page_html(f"{arm.name}, {trial.law.name}", parts), encoding="utf-8")
    return place
