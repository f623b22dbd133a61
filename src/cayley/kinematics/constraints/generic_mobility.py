"""The mobility of a mechanism: how many velocities its constraints leave independent, at closed configurations that
have nothing special about them.

The space of all closed configurations may fall into pieces that differ in it:
- Links of equal lengths may lie upon each other and turn about one pin, free for more than they are meant to (a scissor
  lift, Peaucellier's linkage, the plates of Sarrus's). Such a piece, on which axes of joints are one that are not on
  another piece that moves, does not count.
- Of the others, that of the neutral configuration decides, if that is closed, has nothing special and can move.
- If not, the mobility is that of the pieces where it is just what is left by all rows that say something where nothing
  is closed; but links that move only by their special lengths may stand still on another piece (a parallelogram with
  two rockers, crossed). Where no piece is of that kind the mobility is the largest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular, null_basis, rank_of
from cayley.compiler.typing import Array
from cayley.kinematics.constraints.closure import ClosedSample, closed_samples, left_by_rows
from cayley.kinematics.constraints.scale import scaled_jacobian
from cayley.model.tree import Tree


def mobility(tree: Tree) -> int:
    """The mobility; `UnreachableError` if no configuration was found in which the constraints are kept.

    >>> from cayley.model.catalogue import load_robot
    >>> mobility(load_robot("panda_hand"))
    8
    """
    if not tree.loops and not tree.constraints:
        return tree.nv - len(tree.mimic_joints)
    return kept(tree, "mobility", lambda: _mobility(tree))


def _mobility(tree: Tree) -> int:
    every = closed_samples(tree)
    samples = [sample for sample in every if not _is_folded(sample, every)]
    largest = max(sample.mobility for sample in samples)
    if all(sample.mobility == largest for sample in samples):
        return largest
    if _is_reference(tree, samples[0]):
        return samples[0].mobility
    left = left_by_rows(tree, samples)
    moved = _moved(tree, [sample for sample in samples if sample.mobility == largest])
    usual = _moved(tree, [sample for sample in samples if sample.mobility == left])
    stands_still = (usual <= moved).all() and (usual < moved).any()
    return left if 0 < left < largest and usual.any() and not stands_still else largest


def _is_folded(sample: ClosedSample, every: Sequence[ClosedSample]) -> bool:
    """Whether joints are upon each other that are not on another piece, which moves, and less freely."""
    return any(other.coincident < sample.coincident and 0 < other.mobility < sample.mobility for other in every)


def _is_reference(tree: Tree, sample: ClosedSample) -> bool:
    """Whether a sample is the neutral configuration itself, where it can move and has nothing special."""
    closure = sample.closures[0]
    return bool(np.array_equal(closure.configuration, tree.neutral)) and closure.independent == sample.mobility > 0


def _moved(tree: Tree, samples: list[ClosedSample]) -> Array:
    """Which velocities (nv) some motion from one of the samples has, where nothing is special about them."""
    found = [(scaled_jacobian(tree, closure.configuration, *sample.time), tree.nv - sample.mobility)
             for sample in samples for closure in sample.closures]
    usual = [moving_velocities(A) for A, rank in found if rank_of(A) == rank]
    return np.any([np.zeros(tree.nv, dtype=bool), *usual], axis=0)


def moving_velocities(A: Array, tolerance: float | None = None) -> Array:
    """Which velocities (n) some motion with A qd = 0 has, of a matrix (h, n) whose rows are about one long."""
    sizes = np.abs(null_basis(A, tolerance=tolerance)).max(axis=1, initial=0.0)
    return sizes > (least_singular(A.shape[1]) if tolerance is None else tolerance) * sizes.max(initial=0.0)
