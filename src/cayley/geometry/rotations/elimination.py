"""Rodrigues parameters from a rotation matrix by Sylvester's dialytic elimination: polynomials, no trigonometry.

The diagonal of Q is three equations, linear in the squares x_i = b_i^2. One square is hidden in the coefficients: H(x3)
(x1, x2, 1)^T = 0 has a solution only where det H(x3) = 0. The squares leave the signs open; the off-diagonal elements
of Q decide them.

Source: Ruggiu 1.2.4, (1.32)-(1.35)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.batch import float_array, place, refuse
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.vector_parameter import matrix_from_vector_parameter
from cayley.geometry.tensors.cross import vee

ROUNDING = 64 * np.finfo(np.float64).eps
"""1 + tr Q below this is rounding, and so are the parameters."""


@dataclass(frozen=True, eq=False)
class RodriguesElimination:
    """Every step of the elimination for one rotation.

    `equations` (3, 4): the rows (A, B, C, D) of A x1 + B x2 + C x3 + D = 0. `constant` + x3 `linear` is H(x3), each (3,
    3). `determinant` = (constant, slope): det H = constant + slope x3. `squares` (3,) solve the equations. `candidates`
    (m, 3) are the vectors with these squares and `mismatch` (m,) the largest difference of their off-diagonal elements
    from those of Q: all but one of the candidates are extraneous. `delta` = 1 + b . b, and `parameters` (3,) are those
    of (1.35): the candidate of least mismatch, with the digits that a square root of a small number loses."""

    equations: Array
    constant: Array
    linear: Array
    determinant: tuple[float, float]
    squares: Array
    candidates: Array
    mismatch: Array
    delta: float
    parameters: Array


def rodrigues_by_elimination(Q: ArrayLike) -> RodriguesElimination:
    """The Rodrigues parameters b = tan(phi/2) e of one rotation matrix, with every step of the elimination.

    Their relative error is about rounding / (1 + tr Q). `SingularityError` at a half-turn, where the slope of the
    determinant, -4 (1 + tr Q), is zero and b is infinite. Ruggiu (1.32)-(1.35).

    >>> found = rodrigues_by_elimination([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> found.parameters, found.determinant
    (array([0., 0., 1.]), (8.0, -8.0))
    """
    Q = np.asarray(Q, dtype=np.float64)
    if Q.ndim != 2:
        raise GeometryError(
            f"the elimination takes one matrix (3, 3), not shape {Q.shape}: vector_parameter_from_matrix takes batches")
    check_rotation_matrix(Q)
    equations = diagonal_equations(np.diagonal(Q))
    A, B, C, D = equations.T
    constant, linear = np.column_stack([A, B, D]), np.column_stack([0 * A, 0 * B, C])
    at_zero = np.cross(A, B) @ D
    slope = np.cross(A, B) @ C
    if abs(slope) <= 4 * ROUNDING:
        raise SingularityError(
            f"the rotation is a half-turn (1 + tr Q = {1 + np.trace(Q):.1e}): det H has no term in b3^2, the Rodrigues "
            "parameters are infinite; homogeneous_from_matrix(Q) carries them")
    third = -at_zero / slope
    first, second = np.linalg.lstsq(np.column_stack([A, B]), -(C * third + D), rcond=None)[0]
    squares = np.array([first, second, third])
    candidates = _with_signs(squares)
    delta = 1 + squares.sum()
    return RodriguesElimination(equations, constant, linear, (float(at_zero), float(slope)), squares, candidates,
                                _off_diagonal_mismatch(candidates, Q), float(delta), delta / 2 * vee(Q))


def diagonal_equations(diagonal: ArrayLike) -> Array:
    """The rows (A, B, C, D) of A x1 + B x2 + C x3 + D = 0 in the squares of the parameters. Ruggiu (1.32).

    >>> diagonal_equations([0.0, 0.0, 1.0])
    array([[ 1., -1., -1.,  1.],
           [-1.,  1., -1.,  1.],
           [-2., -2.,  0.,  0.]])
    """
    q = np.asarray(diagonal, dtype=np.float64)[:, None]
    return np.hstack([np.where(np.eye(3, dtype=bool), 1 - q, -(1 + q)), 1 - q])


def _check_finite(Q: ArrayLike) -> None:
    check_rotation_matrix(Q)
    Q = float_array(Q)
    left = 1 + np.trace(Q, axis1=-2, axis2=-1)
    refuse(np.abs(left) > 64 * np.finfo(Q.dtype).eps, lambda bad: f"the rotation{place(bad)} is a half-turn (1 + tr Q "
           f"= {left[bad]:.1e}): its parameters are infinite", SingularityError)


@kernel("(3,3)->(3)", check=_check_finite)
def rodrigues_squares(Q: Array) -> Array:
    """b_i^2 = (1 + 2 Q_ii - tr Q) / (1 + tr Q), the elimination's result; `SingularityError` at a half-turn.

    >>> rodrigues_squares([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([0., 0., 1.])
    """
    trace = np.trace(Q)
    return np.stack([(1 + 2 * Q[i, i] - trace) / (1 + trace) for i in range(3)])


def _with_signs(squares: Array) -> Array:
    """All vectors with the given squares; a square below zero is the rounding of zero."""
    roots = np.sqrt(np.maximum(squares, 0.0))
    return np.array(list(product(*[(root, -root) if root > 0 else (0.0,) for root in roots])))


def _off_diagonal_mismatch(candidates: Array, Q: Array) -> Array:
    off = ~np.eye(3, dtype=bool)
    return np.abs(matrix_from_vector_parameter(candidates) - Q)[..., off].max(axis=-1)
