"""An estimate that bodies can have: every pseudo-inertia P positive definite, frictions and rotors positive. A convex
problem in pi:

    |R pi - z|^2 / 2  +  pull [ sum over links of  tr(P0^-1 P) - log det P  +  sum over terms of joints of  x / x0 - log
    x ]
The first part is the fit, in standard deviations of the noise. The second is the entropic divergence from a prior P0:
it grows without bound before a mass, a moment or a friction can become negative, does not depend on frames or units,
and decides what measurements cannot. With a small pull the fit is nearly as good as that of any body. Newton's method,
from a pull as strong as the prior's misfit to the weak one. Source: Lee, Wensing & Park 2020; Wensing, Kim & Slotine
2018; Boyd & Vandenberghe 9, 11."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.base_parameters import BaseParameters
from cayley.dynamics.identification.estimate import Estimate, Measured, stacked
from cayley.dynamics.identification.regressor import RegressorModel
from cayley.dynamics.rigid_links.moments import MOMENT_NAMES, LinkMoments, moments_from_vector, vector_from_moments
from cayley.errors import SignatureError, SingularityError

_UNKNOWN_BODY = np.array([1.0, 0.0, 0.0, 0.0, 0.01, 0.0, 0.0, 0.01, 0.0, 0.01])  # 1 kg, 10 cm in each direction
_UNKNOWN_TERM = 0.1
_SMALLEST = 1e-3  # eigenvalues of a prior's pseudo-inertia, as a part of those of the unknown body
_DONE = 1e-6  # of the pull: what a step may still promise at the end
_ROUNDING = 1e-14  # of the misfit: no step can promise less
_SHARE = 0.5  # of the way to where bodies end, the most that a step goes
_MOST_STEPS = 100  # for each pull; five to ten are usual


def pseudo_inertia_of(ten: ArrayLike) -> Array:
    """(4, 4): second moments, first moments and mass in one.

    >>> pseudo_inertia_of(_UNKNOWN_BODY).diagonal()
    array([0.01, 0.01, 0.01, 1.  ])
    """
    m, u, J = moments_from_vector(np.asarray(ten, dtype=float))
    return np.block([[J, u[:, None]], [u[None], np.full((1, 1), m)]])


_DIRECTIONS = np.stack([pseudo_inertia_of(unit) for unit in np.eye(10)])


def nearest_body(ten: ArrayLike) -> Array:
    """The moments, small and negative eigenvalues of the pseudo-inertia raised to a small body's; zeros unknown."""
    if not np.any(ten):
        return _UNKNOWN_BODY
    unknown = np.sqrt(np.diagonal(pseudo_inertia_of(_UNKNOWN_BODY)))
    sizes, axes = np.linalg.eigh(pseudo_inertia_of(ten) / np.outer(unknown, unknown))
    P = (axes * np.maximum(sizes, _SMALLEST)) @ axes.T * np.outer(unknown, unknown)
    return vector_from_moments(LinkMoments(P[3, 3], P[:3, 3], P[:3, :3]))


def physical_estimate(base: BaseParameters, measured: Measured, *, prior: ArrayLike | None = None,
                      pull: float = 1e-3, noise: str = "residuals") -> Estimate:
    """All parameters, physically consistent, that fit the measurements nearly as well as any.

    `prior`: parameters (size) to lean on where the measurements say nothing; those of the mechanism, if not given,
    bodies of 1 kg where it has no masses. `pull`: how strongly, against residuals in standard deviations of `noise`
    ("residuals", or one for each force). The covariance of the base values is that of the fit near its solution.
    `SingularityError` as `least_squares`.

    >>> from cayley.dynamics.identification import base_parameters, linear_model, simulate_measurements
    >>> model = linear_model(cy.load("planar2r").tree)
    >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> found = physical_estimate(base_parameters(model), simulate_measurements(model, q, qd, qdd, noise=0.01))
    >>> found.tree.bodies[1].center[:2].round(2)
    array([0.25, 0.  ])
    """
    if not pull > 0:
        raise SignatureError(
            f"the pull towards the prior must be positive, not {pull}: measurements alone do not determine all "
            "parameters"
        )
    system = stacked(base, measured).weighted_by(noise)
    R, z = system.compact
    full = R @ base.combinations
    divergence = Divergence.of(base.model, base.model.values if prior is None else np.asarray(prior, dtype=float))
    parameters, weight = _followed(full, z, pull, divergence)
    root = np.linalg.qr(np.concatenate([full, np.sqrt(weight) * divergence.root_of_curvature(parameters)]), mode="r")
    spread = solve_triangular(root, base.combinations.T, trans="T")
    return system.estimate("physically consistent least squares", base.values(parameters), spread.T @ spread,
                           parameters)


def _followed(R: Array, z: Array, pull: float, divergence: Divergence) -> tuple[Array, float]:
    """The parameters as the pull becomes weak, and the pull at the end. Where no bodies explain the measurements, what
    they leave is far more than the noise, and the pull is measured by that."""
    x = divergence.prior
    weight = max(pull, _misfit(R, x, z))
    while True:
        x = _descended(R, z, weight, divergence, x)
        end = pull * max(1.0, _misfit(R, x, z) / max(len(z), 1))
        if weight <= end:
            return x, weight
        weight = max(weight / 3, end)


def _misfit(R: Array, x: Array, z: Array) -> float:
    return float(np.sum((R @ x - z) ** 2))


def _descended(R: Array, z: Array, pull: float, divergence: Divergence, start: Array) -> Array:
    """Newton's method, with steps that keep away from where bodies end, halved until they go down as they should."""

    def cost(x: Array) -> float:
        return _misfit(R, x, z) / 2 + pull * divergence.value(x)

    x = start
    for _ in range(_MOST_STEPS):
        slope = R.T @ (R @ x - z) + pull * divergence.slope(x)
        root = np.linalg.qr(np.concatenate([R, np.sqrt(pull) * divergence.root_of_curvature(x)]), mode="r")
        step = -solve_triangular(root, solve_triangular(root, slope, trans="T"))
        promised = float(-slope @ step)
        here = cost(x)
        length = min(1.0, _SHARE * divergence.distance(x, step))
        if promised < max(_DONE * pull, _ROUNDING * abs(here), float(np.sum((_ROUNDING * z) ** 2))):
            return x
        while not cost(x + length * step) <= here - 0.1 * length * promised:
            length /= 2
            if length < 1e-12:
                return x  # rounding is all that is left
        x = x + length * step
    raise SingularityError(
        f"the physically consistent estimate did not settle in {_MOST_STEPS} steps: take a larger `pull`, now {pull:g}")


@dataclass(frozen=True, eq=False)
class Divergence:
    """The entropic divergence of parameters from a prior, with its derivatives; infinite where no body is."""

    prior: Array
    blocks: tuple[slice, ...]  # of ten moments
    positive: Array  # bool: rotors and frictions
    free: Array  # bool: offsets, which are pulled by a spring

    @classmethod
    def of(cls, model: RegressorModel, prior: Array) -> Divergence:
        if prior.shape != (model.size,) or not np.isfinite(prior).all():
            raise SignatureError(f"a prior for {model.tree.name} must be {model.size} finite numbers, not "
                                 f"{prior.shape}")
        words = np.array([word for _, word in model.columns])
        blocks = tuple(slice(k, k + 10) for k in np.flatnonzero(words == MOMENT_NAMES[0]))
        positive = ~np.isin(words, [*MOMENT_NAMES, "offset"])
        free = words == "offset"
        near = np.where(positive & (prior <= 0), _UNKNOWN_TERM, prior)
        for block in blocks:
            near[block] = nearest_body(prior[block])
        return cls(near, blocks, positive, free)

    def value(self, x: Array) -> float:
        try:
            factors = [np.linalg.cholesky(pseudo_inertia_of(x[block])) for block in self.blocks]
        except np.linalg.LinAlgError:
            return np.inf
        if (x[self.positive] <= 0).any():
            return np.inf
        logs = sum(2 * np.log(np.diagonal(L)).sum() for L in factors) + np.log(x[self.positive]).sum()
        return float(self._linear @ x - logs + np.sum((x - self.prior)[self.free] ** 2) / 2)

    def slope(self, x: Array) -> Array:
        slope = self._linear.copy()
        for block in self.blocks:
            slope[block] -= _traces(np.linalg.inv(pseudo_inertia_of(x[block])))
        slope[self.positive] -= 1 / x[self.positive]
        slope[self.free] += (x - self.prior)[self.free]
        return slope

    def root_of_curvature(self, x: Array) -> Array:
        """A matrix whose square A^T A is the second derivative."""
        rows = [np.diag(np.where(self.positive, 1 / np.where(self.positive, x, 1.0), self.free * 1.0))]
        for block in self.blocks:
            inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia_of(x[block])))
            rows.append(np.zeros((16, len(x))))
            rows[-1][:, block] = (inverse @ _DIRECTIONS @ inverse.T).reshape(10, 16).T
        return np.concatenate(rows)

    def distance(self, x: Array, step: Array) -> float:
        """The number of steps that lead from a body to the limit of possible bodies."""
        shrinking = [-(step / np.where(self.positive, x, 1.0))[self.positive]]
        for block in self.blocks:
            inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia_of(x[block])))
            shrinking.append(-np.linalg.eigvalsh(inverse @ pseudo_inertia_of(step[block]) @ inverse.T))
        fastest = np.concatenate(shrinking).max(initial=0.0)
        return float(1 / fastest) if fastest > 0 else np.inf

    @property
    def _linear(self) -> Array:
        linear = np.where(self.positive, 1 / np.where(self.positive, self.prior, 1.0), 0.0)
        for block in self.blocks:
            linear[block] = _traces(np.linalg.inv(pseudo_inertia_of(self.prior[block])))
        return linear


def _traces(inverse: Array) -> Array:
    return np.einsum("ij,aji->a", inverse, _DIRECTIONS)
