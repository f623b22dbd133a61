"""Random numbers that depend on a seed, an episode and a place alone, not on how many lanes are drawn for.

They are the outputs of Philox (Salmon, Moraes, Dror and Shaw 2011), which mixes a counter: any number is had without
those before it. Its words have 12 bits here in place of 32, and sums in place of exclusive or, so that all of its
arithmetic is of whole numbers below 2^24. Those are exact in float32: the numbers drawn inside compiled kernels are the
same, bit for bit, in both precisions, on every processor and on a GPU. Keys are seeds mixed by SplitMix64 (Steele, Lea
and Flood 2014)."""

from __future__ import annotations

import numpy as np

from cayley.compiler.solving.loops import graph_of, repeat
from cayley.compiler.typing import Array, ArrayLike, Scalar

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_WORD = 2.0**12
_TURNS = 16  # with 10, as Philox takes with wider words, numbers of neighbouring episodes go together
_MULTIPLIERS = 3373.0, 2741.0  # odd
_STEPS = 2531.0, 2989.0  # of the keys between rounds
EPISODES = 2.0**24  # that have numbers of their own


def uniform(seeds: ArrayLike, episodes: ArrayLike, count: int) -> Array:
    """Numbers in [0, 1) (..., count) for each of the `seeds` and its number of `episodes`.

    >>> uniform([7, 8], 0, 3).round(3)
    array([[0.25 , 0.547, 0.918],
           [0.918, 0.375, 0.012]])
    >>> (uniform(8, 0, 3) == uniform([7, 8], 0, 3)[1]).all()
    np.True_
    """
    found = keys(seeds)
    drawn = draws(found[..., 0], found[..., 1], np.asarray(episodes, float), count)
    return np.stack(np.broadcast_arrays(*drawn), axis=-1) if drawn else np.zeros((*found.shape[:-1], 0))


def keys(seeds: ArrayLike) -> Array:
    """The keys (..., 2) of seeds: two whole numbers of 24 bits each."""
    with np.errstate(over="ignore"):  # the mixing is arithmetic modulo 2^64
        mixed = _mixed(np.asarray(seeds).astype(np.uint64))
    return np.stack([mixed >> np.uint64(40), mixed >> np.uint64(16) & np.uint64(0xFFFFFF)], axis=-1).astype(float)


def draws(first: Scalar, second: Scalar, episode: Scalar, count: int) -> list[Scalar]:
    """The numbers of an episode, from the two numbers of its key, on numbers or on symbols."""
    places = np.arange(0.0, -(-count // 2)).reshape(-1, *[1] * np.ndim(first + episode))
    if not count:
        return []
    k, l = _words(first)
    begin = [places * 0.0 + x for x in (*_words(second), *_words(episode), l)]
    a, b, c, d, *_ = _mixed_by_turns((*begin[:4], _low(places + k), begin[4]))
    return [x for pair in zip((a * _WORD + b) / EPISODES, (c * _WORD + d) / EPISODES, strict=True)
            for x in pair][:count]


def _mixed_by_turns(state: tuple[Array, ...]) -> tuple[Array, ...]:
    if graph_of(*state):
        return repeat(lambda x: _turn(*x), state, _TURNS)
    for _ in range(_TURNS):
        state = _turn(*state)
    return state


def _turn(a: Array, b: Array, c: Array, d: Array, k: Array, l: Array) -> tuple[Array, ...]:
    (high, low), (other_high, other_low) = _words(_MULTIPLIERS[0] * a), _words(_MULTIPLIERS[1] * c)
    return _low(other_high + b + k), other_low, _low(high + d + l), low, _low(k + _STEPS[0]), _low(l + _STEPS[1])


def _words(x: Scalar) -> tuple[Scalar, Scalar]:
    """The upper and the lower 12 bits of a whole number."""
    high = np.floor(x / _WORD)
    return high, x - _WORD * high


def _low(x: Scalar) -> Scalar:
    return _words(x)[1]


def _mixed(x: Array) -> Array:
    z = x + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
