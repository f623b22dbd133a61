"""Jacobians of functions of the configuration that are written as texts, and rates, second rates and Hessians of
Jacobians, by differentiation of their graphs: where directions of joints change in the axes of what they move.

With joints whose coordinates are more than their velocities (quaternions), dF/dt = (dF/dq) G qd with the matrix G of q'
= G v. Source: Ruggiu 2.3.3; Yamamoto (1.20)-(1.23); spec S2-38, S3-15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.algebras.interpret import NUMPY
from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.inline import with_own_variables
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.model.configuration_space import configuration_rate
from cayley.model.parameters import has_symbols
from cayley.model.tree import Tree

Text = Callable[..., Any]  # of q, or of more arrays, to an array


def has_changing_directions(tree: Tree) -> bool:
    """True if a joint has an elementary motion whose subspace depends on its coordinates."""
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
    text itself holds symbols of that trace."""
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


def configuration_rate_map(tree: Tree, q: Array) -> Array:
    """G (nq, nv) of q' = G v."""
    rows = []
    for joint, place, columns in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.nq:
            own = np.stack([joint.motion.rate(q[place], unit) for unit in np.eye(joint.motion.nv)], axis=1)
            after = np.zeros((joint.motion.nq, tree.nv - columns.stop))
            rows.append(np.concatenate([np.zeros((joint.motion.nq, columns.start)), own, after], axis=1))
    return np.concatenate(rows) if rows else np.zeros((0, 0))


def task_jacobian(tree: Tree, q: Array, function: Callable[[Any], Any]) -> Array:
    """The Jacobian (..., nv) of `function(q)`, which has any shape and is a text that can be traced: its rate is the
    Jacobian times qd."""
    if not any(isinstance(x, Node) for x in np.asarray(q, dtype=object).flat):
        return _on_floats(tree, q, function)
    declared = independent(q)
    values = function(declared)
    if not any(isinstance(x, Node) for x in np.asarray(values, dtype=object).flat):
        return np.zeros((*np.shape(values), tree.nv))
    return jacobian(values, declared) @ configuration_rate_map(tree, q)


def _on_floats(tree: Tree, q: ArrayLike, function: Callable[[Any], Any]) -> Array:
    q = np.asarray(q, dtype=np.float64)
    if q.shape != (tree.nq,):
        raise SignatureError(
            f"one configuration has shape ({tree.nq},), not {q.shape}; for many, make a kernel of this text")
    shape = (*np.shape(function(q)), tree.nv)
    return kernel(f"({tree.nq})->({','.join(map(str, shape))})",
                  name="task_jacobian")(lambda x: task_jacobian(tree, x, function))(q)
