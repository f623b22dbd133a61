"""Rates, second rates and Hessians of Jacobians by differentiation, where directions of joints change in the axes of
what they move.

Derivatives by the coordinates are taken of the graph of the Jacobian, and followed along the velocities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.algebras.interpret import NUMPY
from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.inline import with_own_variables
from cayley.compiler.typing import Array
from cayley.model.configuration_space import configuration_rate
from cayley.model.parameters import has_symbols
from cayley.model.tree import Tree

Text = Callable[..., Any]  # of q, or of more arrays, to an array


def has_changing_directions(tree: Tree) -> bool:
    """Whether a joint has an elementary motion whose subspace depends on its coordinates."""
    return not all(motion.constant_subspace for joint in tree.joints for motion in joint.motion.elementary)


def rate_of(tree: Tree, text: Text, q: Array, qd: Array) -> Array:
    """The time derivative of a Jacobian `text(q)` (6, nv) at the velocity `qd`."""
    return derivatives(text, (6, tree.nv), q, inside=has_symbols(tree))[0] @ configuration_rate(tree, q, qd)


def second_rate_of(tree: Tree, text: Text, q: Array, qd: Array, qdd: Array) -> Array:
    """The second time derivative of `text(q)` at the velocity `qd` and the acceleration `qdd`."""
    by_q, by_v = derivatives(lambda q, qd: rate_of(tree, text, q, qd), (6, tree.nv), q, qd, inside=has_symbols(tree))
    return by_q @ configuration_rate(tree, q, qd) + by_v @ qdd


def changes_of(tree: Tree, text: Text, q: Array) -> Array:
    """The changes (..., nv) of `text(q)` by unit velocities."""
    along = np.stack([configuration_rate(tree, q, unit) for unit in np.eye(tree.nv)], axis=1)
    return derivatives(text, (6, tree.nv), q, inside=has_symbols(tree))[0] @ along


def derivatives(text: Text, shape: tuple[int, ...], *arrays: Array, inside: bool = False) -> tuple[Any, ...]:
    """The derivatives (*shape, n) of a text by each of its arrays (n); on numbers, or inside a trace. `inside`: the
    text itself holds symbols of that trace.
    """
    sizes = [len(array) for array in arrays]

    def of_its_own_variables(*variables: Array) -> Array:
        return jacobian(np.reshape(text(*variables), (-1,)), np.concatenate(variables))

    found = on_its_own_variables(of_its_own_variables, (int(np.prod(shape)), sum(sizes)), *arrays, inside=inside)
    return tuple(np.split(np.reshape(found, (*shape, sum(sizes))), np.cumsum(sizes)[:-1], axis=-1))


def on_its_own_variables(text: Text, shape: tuple[int, ...], *arrays: Array, inside: bool = False) -> Array:
    """A text that differentiates by its arrays (n), on numbers or inside a trace: it is given variables of its own, as
    those of the caller may be constants, or equal to one another. Its result has the `shape`."""
    if inside:
        return with_own_variables(text, arrays)
    names = [f"x{k}" for k in range(len(arrays))]
    signature = ",".join(f"({len(array)})" for array in arrays) + f"->({','.join(map(str, shape))})"
    traced = kernel(signature, name="derivatives", inputs=names)(text)
    symbolic = any(isinstance(x, Node) for array in arrays for x in np.asarray(array, dtype=object))
    return traced(*arrays) if symbolic else traced.evaluate(NUMPY, *arrays)
