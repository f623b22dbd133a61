"""A robot drawn with the dots of Braille letters, for terminals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.skeleton import skeleton
from cayley.drawing.views import view_of
from cayley.model.tree import Tree

_AZIMUTH = np.radians(-60.0)
_ELEVATION = np.radians(22.0)
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # of one letter, by rows


def sketch(tree: Tree, q: Array, *, columns: int = 26, rows: int = 11) -> str:
    """The stick figure at a configuration (nq), joints as small squares, in so many letters at most."""
    figure = skeleton(tree, q)
    rows_of_view = view_of(tree).rows
    axes = rows_of_view if len(rows_of_view) == 2 else _screen_axes()
    points = figure.points @ axes.T
    low = points.min(axis=0)
    size = np.ptp(points, axis=0)
    scale = min((2 * columns - 5) / max(size[0], 1e-9), (4 * rows - 5) / max(size[1], 1e-9))
    shape = np.ceil((size * scale + 5) / (2, 4)).astype(int)
    dots = np.zeros((4 * shape[1], 2 * shape[0]), dtype=bool)

    def places(x: Array) -> Array:
        return np.round((x @ axes.T - low) * scale).astype(int) + 2

    for path in figure.paths:
        for a, b in pairwise(path):
            _mark(dots, places(np.linspace(a, b, 400)))
    for mark in figure.marks:
        _mark(dots, places(mark.center) + np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]))
    return _letters(dots)


def _screen_axes() -> Array:
    """To the right and up on the screen, as rows."""
    right = np.array([-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0])
    towards = np.array([
        np.cos(_AZIMUTH) * np.cos(_ELEVATION),
        np.sin(_AZIMUTH) * np.cos(_ELEVATION),
        np.sin(_ELEVATION)])
    return np.stack([right, np.cross(towards, right)])


def _mark(dots: Array, places: Array) -> None:
    inside = (places >= 0).all(axis=-1) & (places < dots.shape[::-1]).all(axis=-1)
    dots[dots.shape[0] - 1 - places[inside, 1], places[inside, 0]] = True


def _letters(dots: Array) -> str:
    blocks = dots.reshape(dots.shape[0] // 4, 4, dots.shape[1] // 2, 2).transpose(0, 2, 1, 3)
    return "\n".join("".join(chr(0x2800 + int(_DOTS[block].sum())) for block in line) for line in blocks)
