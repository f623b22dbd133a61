"""The picture of a singular locus: its curves in the plane of a planar arm, or in the section through the first axis of
another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from cayley.compiler.kernel import kernel
from cayley.drawing.canvas import BLUE, GREY, INK, PALE, RED, flat_style
from cayley.drawing.views import View
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.bounds import bounds_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cayley.kinematics.singular.singular_loci import Kind, SingularLocus

_CLOUD = 20_000
_KINDS: tuple[Kind, ...] = ("interior", "boundary")


def draw_singular_locus(locus: SingularLocus, ax: Axes | None = None) -> Axes:
    """The singular curves of a point: boundaries drawn out, interior ones dashed, over the places that random postures
    reach. In the plane of a planar arm; of another in the section through its first axis.

    >>> import cayley as cy
    >>> draw_singular_locus(cy.load("planar2r").dexterity.singular_locus("tool")).name
    'rectilinear'
    """
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.6), layout="constrained").add_subplot()
    flat_style(ax, *_names(locus))
    ax.set_aspect("equal", adjustable="datalim")
    tree = locus.tree
    place = kernel(f"({tree.nq})->(3)", name="position")(lambda q: frame_pose(tree, q, locus.frame).p)
    reached = place(bounds_of(tree, locus.frame, limits=True).scattered(_CLOUD, 0, tree.neutral))
    ax.plot(*locus.section(reached).T, ".", ms=1.5, mew=0, color=PALE, zorder=1, rasterized=True, label="_reached")
    for kind in _KINDS:
        inside = kind == "interior"
        color = RED if inside else BLUE
        for number, piece in enumerate(locus.pieces(kind)):
            line = locus.section(piece)
            label = f"singular, {kind}" if number == 0 else "_more"
            if np.ptp(line, axis=0).max() < 1e-9:  # folded onto the first axis
                ax.plot(*line[0], "o", ms=4, color=color, zorder=5, label=label)
            else:
                ax.plot(*line.T, "--" if inside else "-", color=color, lw=1.2 if inside else 2.2,
                        zorder=4 if inside else 5, label=label)
    if not locus.planar and _turns(locus):
        ax.axvline(0.0, color=GREY, lw=0.8, ls="-.", zorder=2)
    ax.set_title(f"{locus.tree.name}: singular postures of {locus.frame}", fontsize=10, color=INK, loc="left", pad=22)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False,
              fontsize=9, borderaxespad=0.1)
    return ax


def _turns(locus: SingularLocus) -> bool:
    screw = locus.tree.joints[locus.first].motion.screw
    return screw is not None and bool(screw.turn)


def _names(locus: SingularLocus) -> tuple[str, str]:
    if not locus.planar and _turns(locus):
        return "distance from the first axis [m]", "height along it [m]"
    right, up = View(locus.section(np.eye(3)).T).names
    return right, up
