"""Gains of linear-quadratic regulators, continuous and discrete, with integrals of errors; what no force reaches is
named.

    A^T X + X A - X B R^-1 B^T X + Q = 0        K = R^-1 B^T X
    X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q        K = (R + B^T X B)^-1 B^T X A        of steps
Integrals of states are states besides, dz/dt = x of their places. Source: Anderson & Moore, Optimal Control, 1990, 3.1,
2.4; the test of Popov, Belevitch and Hautus.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.control.arms import numbers_of
from cayley.control.tracking import Weights, regulator_gain
from cayley.dynamics.linearised.state_space import StateSpace
from cayley.errors import SignatureError, SingularityError
from cayley.wording import shown

_NEGLIGIBLE = 1e-9  # [1/s], of the unit circle, and of the largest singular value of [A - s, B]
_SHARE = 0.01  # of the largest part: a joint that takes part


class LostMode(NamedTuple):
    """A pole, and the combination of states that goes with it."""

    pole: complex
    shape: Array


def lost_mode(A: Array, B: Array, dt: float | None) -> LostMode | None:
    """A mode that does not die by itself and that B does not reach, w^T [A - s, B] = 0, if there is one; by the test of
    Popov, Belevitch and Hautus. With transposes, one that is not seen."""
    for pole in np.linalg.eigvals(A):
        left, sizes, _ = np.linalg.svd(np.concatenate([A - pole * np.eye(len(A)), B], axis=1))
        lasts = pole.real >= -_NEGLIGIBLE if dt is None else abs(pole) >= 1 - _NEGLIGIBLE
        if lasts and sizes.min(initial=np.inf) <= _NEGLIGIBLE * sizes.max(initial=0.0):
            return LostMode(pole, left[:, -1])
    return None


def check_stabilisable(model: StateSpace, joints: Sequence[str]) -> None:
    """`SingularityError` that names a mode that no force reaches: its pole, and the joints of its combination."""
    lost = lost_mode(model.A, model.B, model.dt)
    if lost is not None:
        n = len(joints)
        parts = np.abs(lost.shape[:n]) + np.abs(lost.shape[n:2 * n])
        named = [repr(name) for name, much in zip(joints, parts, strict=True) if much > _SHARE * parts.max(initial=0.0)]
        what = f"a motion of {', '.join(named)}" if named else "the integral of an error"
        raise SingularityError(f"there is no regulator: {what} with the pole {lost.pole:.4g} "
                               f"{'1/s' if model.dt is None else 'a step'} does not die, and no drive reaches it")


def optimal_gain(model: StateSpace, state: ArrayLike, force: ArrayLike, integral: Array) -> Array:
    """K (m, states) for weights of states, forces and integrals, the last of the states."""
    size = len(model.A) - len(integral)
    Q = block_diag(_matrix(state, size, "state"), np.diag(integral)) if len(integral) else _matrix(state, size, "state")
    R = _matrix(force, model.B.shape[1], "force")
    if np.linalg.eigvalsh(R).min() <= 0 or np.linalg.eigvalsh(Q).min() < -_NEGLIGIBLE * np.abs(Q).max():
        raise SignatureError("the weights of forces are positive definite, and those of states not negative")
    unseen = lost_mode(model.A.T, Q, model.dt)
    if unseen is not None:
        raise SingularityError(f"there is no regulator: the mode with the pole {unseen.pole:.4g} does not die, and has "
                               "no weight: weigh all states")
    return regulator_gain(model, Weights(Q, R))


def with_integrals(model: StateSpace, places: Sequence[int]) -> StateSpace:
    """With the integrals of some of the states as states besides."""
    m = len(places)
    size = len(model.A)
    A = np.block([[model.A, np.zeros((size, m))], [np.eye(size)[list(places)], np.zeros((m, m))]])
    return StateSpace(A, np.concatenate([model.B, np.zeros((m, model.B.shape[1]))]))


def discrete_with_integrals(model: StateSpace, places: Sequence[int], period: float) -> StateSpace:
    """Steps of a period; integrals are Euler's, as a controller takes them."""
    if not is_finite_number(period) or period <= 0:
        raise SignatureError(f"the period of a controller is more than 0 s, not {shown(period)}")
    step = model.discretised(period)
    m = len(places)
    size = len(step.A)
    A = np.block([[step.A, np.zeros((size, m))], [period * np.eye(size)[list(places)], np.eye(m)]])
    return StateSpace(A, np.concatenate([step.B, np.zeros((m, step.B.shape[1]))]), period)


def _matrix(weight: ArrayLike, size: int, what: str) -> Array:
    given = numbers_of(weight, f"the weights of {what}")
    if given.shape not in ((), (size,), (size, size)) or not np.isfinite(given).all():
        raise SignatureError(f"the weights of {what} are a number, a diagonal ({size}) or a matrix ({size}, {size}), "
                             f"not {shown(weight)}")
    return (given + given.T) / 2 if given.ndim == 2 else np.diag(np.broadcast_to(given, (size,)))
