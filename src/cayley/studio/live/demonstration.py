"""A motion to look at where nobody has given one: through chance configurations within the limits, or, of a machine
with loops, its inputs to and fro."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.configuration_space import configuration_difference, configuration_step
from cayley.studio.sliders import keeps_closed, sliders

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism

_PLACES = 4
_PAUSE = 1.6  # s from one place to the next
_SAMPLES = 40  # between two places
_WAY = 0.35  # of a range, or of a turn, to either side


def demonstration(arm: Mechanism, rest: Array) -> tuple[Array, Array]:
    """Times (k) and configurations (k, nq), which come back to where they begin."""
    way = _inputs_to_and_fro(arm, rest) if keeps_closed(arm.tree) else _through_places(arm, rest)
    return np.linspace(0.0, _PAUSE * len(way) / _SAMPLES, len(way)), way


def _through_places(arm: Mechanism, rest: Array) -> Array:
    tree = arm.tree
    chance = arm.random_configuration(_PLACES, seed=2)
    ranges = np.isfinite(tree.lower) & np.isfinite(tree.upper)
    middle = 0.5 * (rest + chance)  # half the way is enough to see
    places = [rest, *np.where(ranges, middle, chance * _WAY if not _has_attitudes(arm) else rest), rest]
    share = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, _SAMPLES, endpoint=False))
    return np.stack([np.asarray(configuration_step(tree, a, s * np.asarray(configuration_difference(tree, a, b))))
                     for a, b in pairwise(places) for s in share] + [rest])


def _has_attitudes(arm: Mechanism) -> bool:
    return any(joint.motion.attitude is not None for joint in arm.joints)


def _inputs_to_and_fro(arm: Mechanism, rest: Array) -> Array:
    """Every slider's joint in turn to one side and to the other, as far as the machine goes."""
    names = {slider["place"]: joint.name for slider in sliders(arm.tree, rest)
             for joint, place in zip(arm.joints, arm.tree.q_slices, strict=True) if place.start == slider["place"]}
    found = [rest]
    for slider in sliders(arm.tree, rest):
        span = _WAY * min(slider["upper"] - slider["lower"], 2.0 if slider["turns"] else np.inf)
        for side in (span, -span):
            samples = slider["value"] + side * np.sin(np.linspace(0.0, np.pi / 2, _SAMPLES // 2))
            inputs = {name: np.full(len(samples), rest[place]) for place, name in names.items()}
            inputs[names[slider["place"]]] = samples
            path = arm.loops.follow_inputs(inputs, start=rest)
            there = path.configuration[np.isfinite(path.configuration).all(axis=1)]
            found += [*there, *there[::-1]]
    return np.stack([*found, rest])
