"""The discrete linear model of a mechanism from samples of its perturbations: x_(k+1) = A x_k + B u_k, by least
squares.

All samples at once, or one after the other with forgetting (`forgetting` 1: none), which follows coefficients that
change slowly:
    K = S f / (l + f^T S f)         T += K (y - T^T f)^T
    S = (S - K f^T S) / l           f = (x_k, u_k), y = x_(k+1), T = [A B]^T
Directions that the samples do not move in cannot be known: `excitation` says how far the samples were from that.
Source: Balafoutis & Patel 7.2.2 a), spec R8.7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import logm

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.linearised.state_space import StateSpace
from cayley.errors import SignatureError, SingularityError
from cayley.geometry.batch import first_failure, place

_UNEXCITED = 1e-10


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A model found from samples: the model, the root mean square of what it does not explain, and how well it was
    excited (1 at best).
    """

    model: StateSpace
    residual: float
    excitation: float

    @property
    def excited(self) -> bool:
        """Whether the samples determine the model."""
        return self.excitation > _UNEXCITED


def fit_state_space(states: ArrayLike, inputs: ArrayLike, next_states: ArrayLike, dt: float) -> FittedModel:
    """The model of samples (k, n), (k, m), (k, n), a step `dt` [s] apart. Samples that leave coefficients undetermined
    are an error.

    >>> x, u = np.random.default_rng(0).normal(size=(2, 20, 1))
    >>> found = fit_state_space(x, u, 0.9 * x + 0.1 * u, 0.01)
    >>> float(found.model.A[0, 0].round(12)), float(found.model.B[0, 0].round(12))
    (0.9, 0.1)
    """
    x, u, y = (np.asarray(a, dtype=float) for a in (states, inputs, next_states))
    if not (x.ndim == u.ndim == y.ndim == 2 and len(x) == len(u) and x.shape == y.shape):
        raise SignatureError(f"samples have the shapes (k, n), (k, m), (k, n), not {x.shape}, {u.shape}, {y.shape}")
    known = np.concatenate([x, u], axis=1)
    if not (np.isfinite(known).all() and np.isfinite(y).all()):
        raise SignatureError("samples must be finite numbers: leave out those that are not")
    scale = np.linalg.norm(known, axis=0) + 1e-300
    values = np.linalg.svd(known / scale, compute_uv=False)
    excitation = float(values[-1] / values[0]) if len(known) >= known.shape[1] else 0.0
    if excitation <= _UNEXCITED:
        raise SingularityError(
            f"{len(known)} samples do not determine {known.shape[1]} coefficients a row: excite every state and force, "
            "each in its own way")
    coefficients = np.linalg.lstsq(known / scale, y, rcond=None)[0] / scale[:, None]
    residual = float(np.sqrt(np.mean((known @ coefficients - y) ** 2)))
    return FittedModel(_model(coefficients.T, x.shape[1], dt), residual, excitation)


class RecursiveFit:
    """The same, sample after sample: `update(x, u, x_next)`, then `model`.

    `forgetting` in (0, 1]: the weight that a sample loses with each new one. `spread`: how little is known at the
    start, beside what the first sample says; a larger one is forgotten sooner, and rounds more.
    """

    def __init__(self, states: int, inputs: int, dt: float, *, forgetting: float = 1.0, spread: float = 1e8) -> None:
        if not 0.0 < forgetting <= 1.0:
            raise SignatureError(f"forgetting must be in (0, 1], not {forgetting}")
        self.dt = dt
        self.forgetting = forgetting
        self._states = states
        self._T = np.zeros((states + inputs, states))
        self._S = spread * np.eye(states + inputs)
        self._started = False

    def update(self, x: Array, u: Array, x_next: ArrayLike) -> Array:
        """Take one sample in; what the model so far did not foresee of it (n) comes back."""
        f = np.concatenate([x, u])
        y = np.asarray(x_next, dtype=float)
        if not self._started and f.any():
            self._S = self._S / (f @ f)
            self._started = True
        surprise = y - self._T.T @ f
        gain = self._S @ f / (self.forgetting + f @ self._S @ f)
        self._T = self._T + np.outer(gain, surprise)
        S = (self._S - np.outer(gain, f @ self._S)) / self.forgetting
        self._S = (S + S.T) / 2
        return surprise

    @property
    def model(self) -> StateSpace:
        return _model(self._T.T, self._states, self.dt)


def continuous(model: StateSpace) -> StateSpace:
    """The model in continuous time of a discrete one: the inverse of `discretised`, (..., n, n) and (..., n, m).

    The step must be short beside the fastest motion. A model with a pole at or below zero is the model of no continuous
    one.
    """
    if model.dt is None:
        return model
    poles = model.poles
    n, m = model.B.shape[-2:]
    bad = first_failure(~((poles.real <= 0) & (np.abs(poles.imag) <= 1e-12 * np.abs(poles))).any(axis=-1))
    if bad is not None:
        raise SingularityError(
            f"the model{place(bad)} has a pole at or below zero: no continuous model has these steps of {model.dt} s")
    joined = np.zeros((*model.A.shape[:-2], n + m, n + m))
    joined[..., :n, :n] = model.A
    joined[..., :n, n:] = model.B
    joined[..., n:, n:] = np.eye(m)
    rates = np.real(logm(joined)) / model.dt
    return StateSpace(rates[..., :n, :n], rates[..., :n, n:])


def _model(coefficients: Array, states: int, dt: float) -> StateSpace:
    return StateSpace(coefficients[:, :states], coefficients[:, states:], dt)
