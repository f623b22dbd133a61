"""Lengths and directions of vectors of every size, in both precisions; to be traced.

What is squared is first multiplied by a power of two, so that nothing overflows or vanishes; powers of two change no
digit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar


def largest_component(v: Sequence[Scalar] | Array) -> Scalar:
    """The size of the component of largest size."""
    sizes = [np.abs(x) for x in v]
    while len(sizes) > 1:
        sizes = [
            np.maximum(*pair) if len(pair) == 2 else pair[0]
            for pair in (sizes[k:k + 2] for k in range(0, len(sizes), 2))]
    return sizes[0]


def shrinking(size: Scalar) -> Scalar:
    """A power of two that brings a large size where its square is a number, in both precisions; 1 for the others.

    (2^500 is infinite in float32, and no size is beyond it.)"""
    return where(size > 2.0**500, 2.0**-600, where(size > 2.0**50, 2.0**-100, 1.0))


def scaling(size: Scalar) -> Scalar:
    """A power of two that brings a size where its square and its reciprocal are numbers to all digits."""
    return where(size < 2.0**-500, 2.0**600, where(size < 2.0**-50, 2.0**100, shrinking(size)))


def direction(v: Array) -> tuple[Scalar, ...]:
    """The unit vector along v, z where v is zero, and the length of v, for every size; the length's slope at 0 is 0."""
    size = largest_component(v)
    is_zero = size == 0
    scale = scaling(size)
    u = where(is_zero, np.array([0.0, 0.0, 1.0]), scale * v)
    scaled = np.sqrt(u @ u)
    return u / scaled, where(is_zero, 0.0, scaled / scale)


def length(v: Array) -> Scalar:
    """|v| of a vector that can be squared, zero below 1e-162 (float32: 1e-23); its slope at zero, a corner, is 0."""
    square = v @ v
    return where(square == 0, 0.0, np.sqrt(where(square == 0, 1.0, square)))


def length_of_any(v: Array) -> Scalar:
    """|v| of a vector of every size, with the same slope at zero."""
    scale = scaling(largest_component(v))
    return length(scale * v) / scale


def divisible(size: Scalar) -> Scalar:
    """A power of two that brings a divisor of this size where its reciprocal is a number to all digits, in both
    precisions; what it divides is to be multiplied by it too."""
    return where(size < 2.0**-100, 2.0**100, where(size > 2.0**100, 2.0**-20, 1.0))


def unsigned(w: Scalar) -> Scalar:
    """|w|, with the slope of w >= 0 at zero: so that what is written for w >= 0 keeps its slope where it begins."""
    return where(w < 0, -w, w)


def nearly_unit(v: Array) -> Array:
    """v / |v| of a length that is one but for rounding or what a check admits: one step of Newton's, no root."""
    return (1.5 - 0.5 * (v @ v)) * v
