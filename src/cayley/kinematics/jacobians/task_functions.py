"""Jacobians of any functions of the configuration: the functions are written as texts, the compiler differentiates
them.

With joints whose coordinates are more than their velocities (quaternions), dF/dt = (dF/dq) G qd with the matrix G of q'
= G v. Source: Ruggiu 2.3.3; Yamamoto (1.20)-(1.23); spec S2-38, S3-15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.graph import Node
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.model.tree import Tree


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
    Jacobian times qd.
    """
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
