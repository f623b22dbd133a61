"""Samples of the values of inputs, which a text may use while it is traced; the first sample is the nominal one.

A text must not branch on values that are inputs. It may branch on *structure*: on what holds whatever the values are.
An expression that is zero for all samples is zero, up to rounding, for all values (Schwartz 1980: that a polynomial
which is not zero vanishes at a point taken at random has probability none), and one of several ways that are all right
may be chosen by the nominal value. Numbers are their own only sample, so that the same text decides about constants as
it always did."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from cayley.compiler.algebras.packages import NUMPY
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.typing import Array, Scalar
from cayley.errors import TraceError

_SAMPLES = 4
_KNOWN: WeakKeyDictionary[Graph, dict[int, np.ndarray]] = WeakKeyDictionary()


def suppose(inputs: Array, samples: Array) -> None:
    """Let samples (k, ...) be known of an array (...) of inputs."""
    for node, values in zip(np.asarray(inputs, dtype=object).flat, samples.reshape(len(samples), -1).T, strict=True):
        _KNOWN.setdefault(node.graph, {})[node.index] = values


def in_general_position(values: Array) -> Array:
    """Samples (k, n) of inputs whose nominal values (n) are given: these first, and some that are taken at random."""
    spread = np.random.default_rng(1980).uniform(0.1, 0.5, (_SAMPLES, len(values)))
    spread[0] = 0.0
    return values + spread * np.where(values == 0.0, 1.0, values)


def is_symbolic(values: Array | Scalar) -> bool:
    """True if there are symbols among numbers.

    >>> is_symbolic(np.eye(3))
    False
    """
    if isinstance(values, Node):
        return True
    return getattr(values, "dtype", None) == np.dtype(object) and any(isinstance(x, Node) for x in values.flat)


def samples(values: Array | Scalar) -> Array:
    """The samples (k, ...) of an array (...); k = 1 of numbers.

    >>> samples(np.zeros(3)).shape
    (1, 3)
    """
    if not is_symbolic(values):
        return np.asarray(values, dtype=float)[None]
    array = np.asarray(values, dtype=object)
    sampled = [_sampled(x) if isinstance(x, Node) else np.float64(x) for x in array.flat]
    return np.stack(np.broadcast_arrays(*sampled), axis=-1).reshape(-1, *array.shape)


def nominal(values: Array | Scalar) -> Array:
    """The nominal values (...) of an array (...)."""
    return samples(values)[0]


def is_present(values: Array | Scalar) -> Array:
    """Flags of the entries of an array (...) that are something else than zero, for some value of the inputs.

    >>> is_present(np.array([0.0, 2.0]))
    array([False,  True])
    """
    return (samples(values) != 0).any(axis=0)


def cleared(values: Array | Scalar, bounds: np.ndarray) -> Array:
    """An array (...) with zeros for what is, in every sample, less than that sample's bound (k): rounding.

    >>> cleared(np.array([1e-17, 2.0]), np.array([1e-15]))
    array([0., 2.])
    """
    sampled = samples(values)
    small = np.abs(sampled) < bounds.reshape(-1, *[1] * (sampled.ndim - 1))
    return np.where(small.all(axis=0), 0.0, values)


def _sampled(node: Node) -> Array:
    known = _KNOWN.get(node.graph, {})
    pending = [node]
    while pending:
        one = pending[-1]
        missing = [a for a in one.args if a.index not in known]
        pending.extend(missing)
        if not missing:
            pending.pop()
            if one.index not in known:
                known[one.index] = _value(one, [known[a.index] for a in one.args])
    return known[node.index]


def _value(node: Node, operands: list[Array]) -> Array:
    if node.op == "input":
        raise TraceError(f"a text cannot decide by the value of the input {node.value}: use cy.where(condition, a, b)")
    with np.errstate(all="ignore"):
        return np.asarray(node.value if node.op == "constant" else NUMPY.function(node.op)(*operands))
