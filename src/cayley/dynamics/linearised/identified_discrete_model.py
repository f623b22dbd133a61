"""The discrete linear model of a mechanism from samples of its perturbations: x_(k+1) = A x_k + B u_k, by least
squares.

All samples at once, or one after the other with forgetting (`forgetting` 1: none), which follows coefficients that
change slowly:
    K = S f / (l + f^T S f)         T += K (y - T^T f)^T
    S = (S - K f^T S) / l           f = (x_k, u_k), y = x_(k+1), T = [A B]^T
Directions that the samples do not move in cannot be known: `excitation` says how far the samples were from that.
The model of a mechanism goes back to its coefficients by the logarithm of the discrete one, `continuous`:
    A = [[N, 1], [A21, A22]]    B = [[0], [B2]]    D = B2^-1, symmetrised    P = -D A21    V = -D A22
Source: Balafoutis & Patel 7.2.2 a), spec R8.7, S1-115."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import logm

from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.linearised.state_space import StateSpace
from cayley.errors import SignatureError, SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A model of samples, the root mean square of what it leaves, and how well it was excited (1 at best)."""

    model: StateSpace
    residual: float
    excitation: float

    @property
    def excited(self) -> bool:
        """True if the samples determine the model."""
        return _determines(self.excitation, sum(self.model.B.shape[-2:]))


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
        raise SignatureError(f"samples must have the shapes (k, n), (k, m), (k, n), not {x.shape}, {u.shape}, "
                             f"{y.shape}")
    if not 0 < dt < np.inf:
        raise SignatureError(f"samples must be a time dt > 0 [s] apart, not {dt}")
    known = np.concatenate([x, u], axis=1)
    if not (np.isfinite(known).all() and np.isfinite(y).all()):
        raise SignatureError("samples must be finite numbers: leave out those that are not")
    scale = np.linalg.norm(known, axis=0) + 1e-300
    values = np.linalg.svd(known / scale, compute_uv=False)
    excitation = float(values[-1] / values[0]) if len(known) >= known.shape[1] else 0.0
    if not _determines(excitation, known.shape[1]):
        raise SingularityError(
            f"{len(known)} samples do not determine {known.shape[1]} coefficients a row: excite every state and force, "
            "each in its own way")
    coefficients = np.linalg.lstsq(known / scale, y, rcond=None)[0] / scale[:, None]
    residual = float(np.sqrt(np.mean((known @ coefficients - y) ** 2)))
    return FittedModel(_model(coefficients.T, x.shape[1], dt), residual, excitation)


def _determines(excitation: float, columns: int) -> bool:
    """True if samples, known to the root of rounding, have as many independent columns."""
    return excitation > least_singular(columns)


class RecursiveFit:
    """The same, sample after sample: `update(x, u, x_next)`, then `model`. `forgetting` in (0, 1]: the weight that a
    sample loses with each new one. `spread`: how little is known at the start, beside what the first sample says; a
    larger one is forgotten sooner, and rounds more."""

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
        """The model of the samples so far; `SignatureError` while there are none that say anything."""
        if not self._started:
            raise SignatureError("a model is fitted to samples, and there are none yet, or all are zero: "
                                 "update(x, u, x_next)")
        return _model(self._T.T, self._states, self.dt)


def continuous(model: StateSpace) -> StateSpace:
    """The model in continuous time of a discrete one: the inverse of `discretised`, (..., n, n) and (..., n, m). The
    step must be short beside the fastest motion. A model with a pole at or below zero is the model of no continuous
    one."""
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


@dataclass(frozen=True, eq=False)
class IdentifiedCoefficients(StateSpace):
    """A model in continuous time with the matrices (..., nv, nv) of dtau = D dqdd + V dqd + P dq that it means.
    `asymmetry`: how far B2^-1 was from symmetric, beside its largest entry; `kinematic_error`: how far the upper rows
    of A and B were from dq' = N dq + dqd. Both are zero of a mechanism, and say how good the samples were."""

    D: Array = None  # type: ignore[assignment]
    V: Array = None  # type: ignore[assignment]
    P: Array = None  # type: ignore[assignment]
    asymmetry: Scalar = 0.0
    kinematic_error: Scalar = 0.0

    __repr__ = brief


def identified_coefficients(model: StateSpace) -> IdentifiedCoefficients:
    """D, V and P of a mechanism from its model, discrete or continuous, with the states (dq, dqd) and a force at every
    velocity; leading axes are a batch. Models that no mechanism has are refused.

    >>> from cayley.dynamics.linearised.state_space import LinearisedMechanism
    >>> from cayley.model.catalogue import load_robot
    >>> near = LinearisedMechanism(load_robot("s1_g1")).at([0.3, -0.7], np.array([0.5, 1.2]), np.array([-0.4, 0.8]))
    >>> found = identified_coefficients(near.discretised(0.01))
    >>> all(np.allclose(ours, true) for ours, true in zip((found.D, found.V, found.P), (near.D, near.V, near.P)))
    True
    """
    states, inputs = model.B.shape[-2:]
    if states != 2 * inputs:
        raise SignatureError(
            f"the model has {states} states and {inputs} inputs: coefficients are those of a model with the states "
            "(dq, dqd) and a force at every velocity, twice as many states as inputs")
    found = continuous(model)
    n = inputs
    force = found.B[..., n:, :]
    sizes = np.linalg.svd(force, compute_uv=False)
    lost = first_failure(significant(sizes, n).all(axis=-1))
    if lost is not None:
        raise SingularityError(f"the model{place(lost)} has a force that accelerates nothing: its inertia is infinite")
    inverse = np.linalg.inv(force)
    mirrored = np.swapaxes(inverse, -1, -2)
    D = (inverse + mirrored) / 2
    heavy = first_failure(np.linalg.eigvalsh(D)[..., 0] > 0)
    if heavy is not None:
        raise SingularityError(
            f"the inertia matrix of the model{place(heavy)} is not positive definite, so it is that of no mechanism: "
            "the samples have too much noise, or are not perturbations (dq, dqd) of its state")
    kinematic = np.concatenate([found.A[..., :n, n:] - np.eye(n), found.B[..., :n, :]], axis=-1)
    return IdentifiedCoefficients(
        found.A, found.B, None, D, -D @ found.A[..., n:, n:], -D @ found.A[..., n:, :n],
        np.abs(inverse - mirrored).max(axis=(-2, -1)) / np.abs(inverse).max(axis=(-2, -1)),
        np.abs(kinematic).max(axis=(-2, -1)))


def fit_coefficients(tree: Tree, states: ArrayLike, forces: ArrayLike, next_states: ArrayLike,
                     dt: float) -> IdentifiedCoefficients:
    """D, V and P of a mechanism near a nominal motion, from samples: perturbations (k, 2 nv) of the state (q, qd),
    those (k, nv) of the forces held from then on, and the perturbations (k, 2 nv) of the state `dt` [s] later."""
    check_independent(tree, "the fit of D, V and P")
    if not tree.nv:
        raise SignatureError(f"{tree.name} has no joint that moves, and so no D, V and P")
    shapes = [np.shape(x)[1:] for x in (states, forces, next_states)]
    if shapes != [(2 * tree.nv,), (tree.nv,), (2 * tree.nv,)]:
        raise SignatureError(
            f"samples of {tree.name} must be perturbations (k, {2 * tree.nv}) of the state and (k, {tree.nv}) of the "
            f"forces, not {', '.join(str(np.shape(x)) for x in (states, forces, next_states))}")
    return identified_coefficients(fit_state_space(states, forces, next_states, dt).model)


def _model(coefficients: Array, states: int, dt: float) -> StateSpace:
    return StateSpace(coefficients[:, :states], coefficients[:, states:], dt)
