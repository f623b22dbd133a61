"""Random numbers that depend on a seed, an episode and a place alone, not on how many lanes are drawn for.

They are the outputs of SplitMix64 (Steele, Lea and Flood 2014), which is a mixing of a counter: any number of the
sequence is had without those before it, for a whole batch in a few operations of NumPy."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def uniform(seeds: ArrayLike, episodes: ArrayLike, count: int) -> Array:
    """Numbers in [0, 1) (..., count) for each of the `seeds` and its number of `episodes`.

    >>> uniform([7, 8], 0, 3).round(3)
    array([[0.409, 0.997, 0.101],
           [0.409, 0.327, 0.083]])
    >>> (uniform(8, 0, 3) == uniform([7, 8], 0, 3)[1]).all()
    np.True_
    """
    places = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
    with np.errstate(over="ignore"):  # the mixing is arithmetic modulo 2^64
        lanes = _mixed(np.asarray(seeds).astype(np.uint64))
        key = _mixed(lanes + np.asarray(episodes).astype(np.uint64) * _GOLDEN)
        return (_mixed(key[..., None] + places) >> np.uint64(11)) * 2.0**-53


def _mixed(x: Array) -> Array:
    z = x + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
