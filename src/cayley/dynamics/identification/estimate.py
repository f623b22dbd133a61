"""Base parameters from measurements by least squares, with standard deviations, and how well they predict.

    W pi_base = tau + noise         one row for each force of each sample
Ordinary least squares takes every force as equally noisy; weighted least squares divides the rows of each joint by its
own standard deviation, given, or found from the residuals of an ordinary fit. Source: Swevers, Verdonck & De Schutter
2007; Gautier & Poignet 2001."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.base_parameters import BaseParameters
from cayley.dynamics.identification.measurements import Measurements, SummedMeasurements, summed_measurements
from cayley.dynamics.identification.structure import independent_columns, tidy, triangular, words
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.model.report import TextTable
from cayley.model.tree import Tree
from cayley.showing import brief

Measured = Measurements | Iterable[Measurements] | SummedMeasurements
_ROUNDS = 4  # of weighting by residuals
_LEAST_NOISE = 1e-9  # of the largest force: what stands for no noise at all


@dataclass(frozen=True)
class Fit:
    """Errors of predicted forces (nv): root mean square [N m or N], and relative to that of the force."""

    error: Array
    relative: Array

    __repr__ = brief


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Estimated base values; `parameters`, all of them, only if the estimate is physically consistent."""

    base: BaseParameters
    method: str
    base_values: Array  # (b,)
    covariance: Array  # of the base values, (b, b)
    noise: Array  # standard deviation of each force, (nv,)
    condition: float  # of the stacked regressor of the base parameters
    samples: int
    fit: Fit  # to the measurements themselves
    parameters: Array | None = None  # (size,)

    def __repr__(self) -> str:
        return (
            f"<estimate by {self.method}: {len(self.base_values)} base parameters from {self.samples} samples, "
            f"condition {self.condition:.3g}>")

    @property
    def standard_deviations(self) -> Array:
        """The standard deviations of the base values, (b,)."""
        return np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))

    def forces(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Predicted generalised forces (..., nv)."""
        return self.base.regressor(q, qd, qdd) @ self.base_values

    def validate(self, measured: Measurements) -> Fit:
        """The prediction error on other measurements."""
        felt = self.base.model.felt(measured.q, measured.tau)
        return fit_of(self.forces(measured.q, measured.qd, measured.qdd), felt)

    @cached_property
    def tree(self) -> Tree:
        """The mechanism with the estimated bodies, frictions and rotors."""
        if self.parameters is None:
            raise UnsupportedError(
                "least squares finds combinations of parameters, not bodies: use `physical_estimate`")
        return self.base.model.tree_with(self.parameters)

    def report(self, validation: Measurements | None = None) -> EstimateReport:
        """Tables of the base parameters with their standard deviations, and of the errors by joint."""
        fits = {"error": self.fit} if validation is None else {
            "error": self.fit, "validation error": self.validate(validation)}
        heading = (
            f"{self.base.model.tree.name}: {self.base.size} base parameters from {self.samples} samples by "
            f"{self.method}, condition number {self.condition:.4g}")
        return EstimateReport(heading, self._parameter_table(), self._fit_table(fits))

    def _parameter_table(self) -> TextTable:
        deviations = self.standard_deviations
        rows = tuple((text, f"{value:.6g}", f"{sigma:.2g}", f"{100 * sigma / abs(value):.2g} %" if value else "")
                     for text, value, sigma in zip(self.base.expressions, self.base_values, deviations, strict=True))
        return TextTable("Base parameters", ("combination", "value", "deviation", "relative"), rows)

    def _fit_table(self, fits: dict[str, Fit]) -> TextTable:
        columns = ("force", "noise", *[word for name in fits for word in (name, "relative")])
        names = [f"{joint.name}{f'[{k}]' if joint.motion.nv > 1 else ''}"
                 for joint in self.base.model.tree.joints for k in range(joint.motion.nv)]
        rows = tuple(
            (name, f"{self.noise[k]:.3g}",
             *[word for fit in fits.values() for word in (f"{fit.error[k]:.3g}", f"{100 * fit.relative[k]:.2g} %")])
            for k, name in enumerate(names))
        return TextTable("Errors, root mean square", columns, rows)


@dataclass(frozen=True, repr=False)
class EstimateReport:
    """Prints as plain text; its tables print on a Rich console."""

    heading: str
    parameters: TextTable
    errors: TextTable

    def __str__(self) -> str:
        return "\n\n".join([self.heading, str(self.parameters), str(self.errors)])

    def __repr__(self) -> str:
        return str(self)


def least_squares(base: BaseParameters, measured: Measured, *, noise: ArrayLike | str | None = None) -> Estimate:
    """Base values by least squares: ordinary, or weighted by `noise`, the standard deviation of each force (nv), or
    "residuals". A log that is larger than memory is given as an iterator of measurements, which is gone through once,
    or summed beforehand (`summed_measurements`).

    `SingularityError` if there are too few samples, or if the movement does not excite: it names the combinations that
    cannot be seen.

    >>> from cayley.dynamics.identification import base_parameters, linear_model, simulate_measurements
    >>> model = linear_model(cy.load("planar2r").tree)
    >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> found = least_squares(base_parameters(model), simulate_measurements(model, q, qd, qdd, noise=0.01))
    >>> found.base_values.round(2)
    array([1.25, 0.  , 0.55, 0.3 , 0.  , 0.09])
    """
    system = stacked(base, measured)
    return system.solved("ordinary least squares") if noise is None else system.weighted_by(noise).solved(
        "weighted least squares")


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The rows of the measurements for each force, and their divisors."""

    base: BaseParameters
    measured: SummedMeasurements
    deviations: Array | None = None  # (nv,)

    def weighted_by(self, noise: ArrayLike | str | None) -> ScaledRows:
        """The rows weighted by given standard deviations of the forces, or by those of the "residuals" of an
        ordinary fit."""
        if isinstance(noise, str) and noise != "residuals":
            raise SignatureError(f"noise must be 'residuals' or one standard deviation for each force, not {noise!r}")
        if isinstance(noise, str):
            return self._weighted_by_residuals()
        deviations = np.broadcast_to(np.asarray(noise, dtype=float), (len(self.measured.triangles),))
        if not (np.isfinite(deviations) & (deviations > 0)).all():
            raise SignatureError(f"standard deviations of noise must be positive, not {deviations.tolist()}")
        return ScaledRows(self.base, self.measured, deviations)

    def _weighted_by_residuals(self) -> ScaledRows:
        """The noise of one force leaks into the residuals of others, less so the better the weights: repeated."""
        system = self
        for _ in range(_ROUNDS):
            system = ScaledRows(self.base, self.measured, system.solved("").noise)
        return system

    @property
    def _units(self) -> Array:
        return np.ones(len(self.measured.triangles)) if self.deviations is None else self.deviations

    @cached_property
    def compact(self) -> tuple[Array, Array]:
        """R (b, b) and z (b) with the same least-squares solutions as the weighted rows."""
        b = self.base.size
        R = triangular((self.measured.triangles / self._units[:, None, None]).reshape(-1, b + 1))
        return R[:b, :b], R[:b, b]

    @cached_property
    def condition(self) -> float:
        rows = self.measured.regressors.reshape(-1, self.base.size)
        return float(np.linalg.cond(rows)) if self.base.size else 1.0

    @cached_property
    def freedom(self) -> Array:
        """The number of samples (nv) of each force that the parameters leave: N minus the leverage of its rows."""
        spread = self.measured.regressors @ np.linalg.inv(self.compact[0])
        return len(self.measured) - np.sum(spread**2, axis=(1, 2)) / self._units**2

    def solved(self, method: str) -> Estimate:
        R, z = self.compact
        values = np.linalg.solve(R, z)
        inverse = np.linalg.inv(R)
        return self.estimate(method, values, inverse @ inverse.T)

    def estimate(self, method: str, values: Array, covariance: Array, parameters: Array | None = None) -> Estimate:
        """The estimate, with the covariance for rows of unit deviation, which is scaled by the residuals of an ordinary
        fit."""
        left = self.measured.squares_left(values)
        noise = np.sqrt(left / np.maximum(self.freedom, 1.0))
        noise = np.maximum(noise, _LEAST_NOISE * max(self.measured.largest, 1e-300))
        samples = len(self.measured)
        rows = samples * self.base.model.freedoms
        scale = np.sum(left) / max(rows - self.base.size, 1) if self.deviations is None else 1.0
        return Estimate(self.base, method, values, covariance * scale, noise, self.condition, samples,
                        _fit(left / max(samples, 1), self.measured.squares / max(samples, 1)), parameters)


def stacked(base: BaseParameters, measured: Measured) -> ScaledRows:
    """All samples, checked for what they cannot see."""
    summed = measured if isinstance(measured, SummedMeasurements) else summed_measurements(base, measured)
    nv = base.model.freedoms
    if summed.triangles.shape != (base.model.links.nv, base.size + 1, base.size + 1):
        raise SignatureError(f"these measurements were summed for {summed.base.size} base parameters of "
                             f"{summed.base.model.tree.name}, not for the {base.size} of {base.model.tree.name}")
    if len(summed) * nv < base.size:
        raise SingularityError(
            f"{len(summed)} samples of {nv} forces are too few for the {base.size} base parameters of "
            f"{base.model.tree.name}: at least {-(-base.size // max(nv, 1))} are needed, and many more to average noise"
        )
    check_excited(base, summed.regressors)
    return ScaledRows(base, summed)


def check_excited(base: BaseParameters, W: Array, *, tolerance: float | None = None) -> None:
    """`SingularityError` that names combinations of base parameters that no force of W (..., b) shows."""
    compact = triangular(W.reshape(-1, base.size))
    seen = independent_columns(compact, tolerance=tolerance)
    if seen.all():
        return
    shares = np.linalg.lstsq(compact[:, seen], compact[:, ~seen], rcond=None)[0]
    unseen = np.zeros((int((~seen).sum()), base.size))
    unseen[:, ~seen] = np.eye(len(unseen))
    unseen[:, seen] = -tidy(shares, tolerance=1e-6).T
    listed = "; ".join(words(row, base.names, digits=3) for row in unseen[:8])
    more = f"; and {len(unseen) - 8} more" if len(unseen) > 8 else ""
    raise SingularityError(
        f"the movement does not excite {len(unseen)} of the {base.size} base parameters of {base.model.tree.name}: "
        f"these changes of them cannot be seen in any force: {listed}{more}. Move all joints, together and with "
        "varying speeds (`exciting_trajectory`)")


def fit_of(predicted: Array, tau: Array) -> Fit:
    return _fit(np.mean((predicted - tau) ** 2, axis=0), np.mean(tau**2, axis=0))


def _fit(left: Array, all_of_it: Array) -> Fit:
    error = np.sqrt(left)
    size = np.sqrt(all_of_it)
    return Fit(error, error / np.where(size > 0, size, 1.0))
