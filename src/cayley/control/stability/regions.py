"""Boxes of displacements from an equilibrium, and states in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.stability.error_dynamics import ErrorDynamics
from cayley.errors import SignatureError
from cayley.wording import did_you_mean, shown

# By the label of an entry, or the name of a block for all of its entries: how far from the equilibrium, (low, high) or
# one number for both sides
RegionLike: TypeAlias = Mapping[str, float | tuple[float, float]]


def box_of(about: ErrorDynamics, region: RegionLike | None) -> Array:
    """The lower and upper ends (2, n) of a region: one to either side where nothing is said."""
    box = np.outer([-1.0, 1.0], np.ones(about.size))
    known = dict.fromkeys([*about.labels, *[label.partition("[")[0] for label in about.labels]])
    if region is not None and not isinstance(region, Mapping):
        raise SignatureError(f"a region is given by labels, {{{about.labels[0]!r}: 2.0}}, not {shown(region)}")
    for name, ends in (region or {}).items():
        if name not in known:
            raise SignatureError(f"{about.name} has no entry {name!r}{did_you_mean(name, known)}; it has "
                                 f"{', '.join(about.labels)}")
        low, high = ends if isinstance(ends, (tuple, list)) else (-ends, ends)
        if not -np.inf < low <= 0 <= high < np.inf or low == high:
            raise SignatureError(f"a region of displacements has the equilibrium, 0, inside: {name!r} goes from "
                                 f"{shown(low)} to {shown(high)}")
        columns = [k for k, label in enumerate(about.labels) if name in (label, label.partition("[")[0])]
        box[:, columns] = np.array([[low], [high]], dtype=float)
    return box


def named_box(about: ErrorDynamics, box: Array) -> dict[str, tuple[float, float]]:
    return {label: (float(low), float(high)) for label, low, high in zip(about.labels, *box, strict=True)}


def states_in(box: Array, samples: int, seed: int) -> Array:
    """Displacements (samples, n): half of them everywhere, half nearer and nearer to the equilibrium."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(box[0], box[1], size=(samples, box.shape[1]))
    d[samples // 2:] *= 10.0 ** rng.uniform(-4, 0, size=(samples - samples // 2, 1))
    return d
