"""The shapes of a mechanism's bodies in pictures: triangles in the light, in place of the sticks of the bodies that
have them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb

from cayley.compiler.typing import Array
from cayley.drawing import solids
from cayley.drawing.canvas import GREY
from cayley.errors import ModelWarning, UnsupportedError
from cayley.shapes import Surfaces, shapes_of
from cayley.wording import did_you_mean

if TYPE_CHECKING:
    from cayley.drawing.skeleton import Skeleton
    from cayley.model.tree import Tree

MOST_TRIANGLES = 12_000  # of a picture; of several configurations together
_NAMED = 5


@dataclass(frozen=True, eq=False)
class Skins:
    """The surfaces of a mechanism, and where its bodies are in each of several configurations."""

    figures: Sequence[Skeleton]
    surfaces: Surfaces

    @cached_property
    def corners(self) -> list[list[Array]]:
        """The triangles (n, 3, 3) of each surface, in the root's frame, for each configuration."""
        return [[self._placed(figure, shape.body, surface.points)[surface.triangles]
                 for shape, surface in self.surfaces.parts] for figure in self.figures]

    @property
    def points(self) -> Array:
        """The corners (8, 3) of the box around all of them."""
        every = [extreme for one in self.corners for part in one for extreme in (part.min((0, 1)), part.max((0, 1)))]
        ends = np.min(every, axis=0), np.max(every, axis=0)
        return np.array([[ends[i][0], ends[j][1], ends[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])

    def polygons(self, k: int, fade: float) -> tuple[solids.Polygons, Array]:
        """The surfaces at one configuration, as quadrangles two of whose corners are one, and their colours (n, 3)."""
        parts = list(zip(self.surfaces.parts, self.corners[k], strict=True))
        lit = np.concatenate([solids.brightness(corners, surface.closed)[:, None]
                              * to_rgb(GREY if shape.color is None else shape.color)
                              for (shape, surface), corners in parts])
        return list(np.concatenate(self.corners[k])[:, [0, 1, 2, 2]]), (1 - fade) * np.clip(lit, 0, 1) + fade

    @staticmethod
    def _placed(figure: Skeleton, body: str, points: Array) -> Array:
        pose = figure.poses[figure.tree.body_number(body)]
        return points @ pose.R.T + pose.p


def skins(tree: Tree, figures: Sequence[Skeleton], wanted: str | None, most: int = MOST_TRIANGLES) -> Skins | None:
    """The shapes in some configurations, of no more triangles in all, about, or None where there are none, or none are
    wanted. A `ModelWarning` names the files that are missing."""
    if wanted is None:
        return None
    if wanted not in ("visual", "collision"):
        raise UnsupportedError(f"shapes are 'visual' or 'collision', or None for sticks, not {wanted!r}"
                               f"{did_you_mean(str(wanted), ('visual', 'collision'))}")
    shapes = shapes_of(tree)
    chosen = (shapes.seen if wanted == "visual" else shapes.of("collision")).surfaces(most // len(figures))
    if chosen.missing:
        more = len(chosen.missing) - _NAMED
        named = [*chosen.missing[:_NAMED], *([f"and {more} more"] if more > 0 else [])]
        warnings.warn(f"{tree.name} is drawn without some of its shapes: {'; '.join(named)}", ModelWarning,
                      stacklevel=4)
    return Skins(figures, chosen) if chosen.parts else None
