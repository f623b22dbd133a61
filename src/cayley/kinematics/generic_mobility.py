"""The mobility of a mechanism: how many velocities its constraints leave independent, at closed configurations that
have nothing special about them.

The space of all closed configurations may fall into pieces that differ in it:
- Links of equal lengths may lie upon each other and turn about one pin, free for more than they are meant to (a scissor
  lift, Peaucellier's linkage). The mobility is that of the pieces where it is just what is left by all rows that say
  something where nothing is closed.
- Links that move only by their special lengths may stand still on another piece (a parallelogram with two rockers,
  crossed). Such a piece does not count, and the mobility is the largest.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.kinematics.closure import ClosedSample, closed_samples, left_by_rows, rank_of
from cayley.kinematics.constraints import jacobian_kernel
from cayley.model.tree import Tree

_INDEPENDENT = 1e-8  # singular values below this part of the largest are zero


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
    samples = closed_samples(tree)
    largest = max(sample.mobility for sample in samples)
    if all(sample.mobility == largest for sample in samples):
        return largest
    left = left_by_rows(tree, samples)
    moved = _moved(tree, [sample for sample in samples if sample.mobility == largest])
    usual = _moved(tree, [sample for sample in samples if sample.mobility == left])
    stands_still = (usual <= moved).all() and (usual < moved).any()
    return left if 0 < left < largest and usual.any() and not stands_still else largest


def _moved(tree: Tree, samples: list[ClosedSample]) -> Array:
    """Which velocities (nv) some motion from one of the samples has, where nothing is special about them."""
    jacobian = kept(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))
    found = [(np.asarray(jacobian(closure.configuration, *sample.time)), tree.nv - sample.mobility)
             for sample in samples for closure in sample.closures]
    usual = [moving_velocities(A) for A, rank in found if rank_of(A) == rank]
    return np.any([np.zeros(tree.nv, dtype=bool), *usual], axis=0)


def moving_velocities(A: Array, tolerance: float = _INDEPENDENT) -> Array:
    """Which velocities (n) some motion with A qd = 0 has."""
    _, values, V = np.linalg.svd(A)
    allowed = V[np.count_nonzero(values > tolerance * values.max(initial=0.0)):]
    sizes = np.abs(allowed).max(axis=0, initial=0.0)
    return sizes > tolerance * sizes.max(initial=0.0)
