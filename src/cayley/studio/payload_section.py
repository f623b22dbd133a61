"""The payload chart of a page: which load each position of the workspace can carry at rest, against the limits of the
drives, and which of them give way first."""

from __future__ import annotations

from html import escape

from matplotlib.figure import Figure

from cayley.compiler.typing import ArrayLike
from cayley.drawing import payload_map
from cayley.drawing.payload_maps import PayloadMap
from cayley.drawing.workspaces import Workspace
from cayley.errors import CayleyError
from cayley.studio.pictures import picture

_NAMED = 4  # joints


def payload_section(space: Workspace, effort: ArrayLike | None) -> str:
    """The chart over a workspace; a sentence that says why, where there is none."""
    try:
        found = payload_map(space.tree, space.frame, effort=effort, space=space)
    except CayleyError as why:
        return f'<p class="note">No payload chart: {escape(str(why))}.</p>'
    figure = Figure(figsize=(9.4, 4.6), layout="constrained")
    found.draw(figure=figure)
    shown = picture(figure, f"Payload of {space.frame} of {space.tree.name} over its workspace")
    return f'<p>{escape(_words(found))}</p><div class="pictures">{shown}</div>'


def _words(found: PayloadMap) -> str:
    if found.everywhere > 0.0:
        carried = f"The drives hold {found.everywhere:.3g} kg at {found.frame} in every posture that was tried."
    else:
        carried = "In some postures the drives cannot hold the mechanism itself."
    first = [f"{name} ({100 * share:.0f} %)" for name, share in found.first.items() if share >= 0.005][:_NAMED]
    return (f"{carried} First to reach its limit is, in so many of them, {', '.join(first)}. A point load at rest, "
            "besides what the mechanism carries already: motion asks for more.")
