"""The operator of an active component: W = P d/dt + Q, from an across variable to the through variable that it takes.

    W x = P x' + Q x
    T^T W T = (T^T P T) d/dt + T^T (P T' + Q T)        seen through a transformer x = T z, which may change with time
The derivative stands on the right of every matrix: T' is left over when it is moved past T (the product rule).
Source: Tokad (4), (22)-(24).
"""

from __future__ import annotations

from typing import NamedTuple

from cayley.compiler.typing import Array


class Operator(NamedTuple):
    """P d/dt + Q, with P (n, n) and Q (n, n).

    >>> import numpy as np
    >>> spin = Operator(np.diag([2.0, 1.0]), np.zeros((2, 2)))
    >>> spin(np.array([1.0, 3.0]), np.array([0.5, 0.0]))
    array([1., 0.])
    """

    P: Array
    Q: Array

    def __call__(self, x: Array, xd: Array) -> Array:
        """W x of an across variable (n) and its rate."""
        return self.P @ xd + self.Q @ x

    def through(self, T: Array, Td: Array) -> Operator:
        """T^T W T, for a transformer T (n, k) and its rate."""
        return Operator(T.T @ self.P @ T, T.T @ (self.P @ Td + self.Q @ T))
