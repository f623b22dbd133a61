"""Whether a mechanism can be accelerated at all: the inertia matrix must be positive definite."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.dynamics.drives import rotor_inertias
from cayley.dynamics.inertia_matrix.composite_bodies import inertia_matrix
from cayley.dynamics.links import links_of
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree

_ROUNDING = 1e-14


def singular_inertia(tree: Tree, q: Any) -> str | None:
    """Why the inertia matrix at `q` (nq) cannot be inverted, or None if it can: the joint that moves no mass, in a sentence.

    Rows and columns are scaled to a diagonal of ones before, so that masses of very different sizes are no reason.
    """
    M = inertia_matrix(links_of(tree), np.asarray(q, dtype=float)) + np.diag(rotor_inertias(tree))
    if not np.isfinite(M).all():
        return f"the inertia matrix of {tree.name} is not finite"
    largest = M.diagonal().max(initial=0.0)
    names = [name for name, _ in velocity_labels(tree)]
    for name, own in zip(names, M.diagonal(), strict=True):
        if own <= _ROUNDING * largest * _ROUNDING or own <= 0:
            return _sentence(tree, name)
    scale = 1 / np.sqrt(M.diagonal())
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    if len(values) and values[0] < _ROUNDING * len(values):
        return _sentence(tree, names[int(np.argmax(np.abs(vectors[:, 0])))])
    return None


def _sentence(tree: Tree, name: str) -> str:
    return (f"the inertia matrix of {tree.name} is singular: a motion of joint {name!r} moves no mass; give its link mass and inertia, "
            "include rotors, or fix the joint")
