"""The motion of a gyroscope in precession psi, nutation theta and spin phi under moments about nodal or fixed axes.

The angles of `gyroscope` serve as long as the axis is not upright; where it becomes so the motion is refused, and
`simulate_attitude` goes through. A top has three integrals, its momentum about its axis, that about the vertical, and
its energy: how well they keep is how good the motion is. Source: Ruggiu (3.30)-(3.33), solved for the accelerations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, SingularityError
from cayley.geometry.inertia.attitude import finite_vector
from cayley.geometry.inertia.gyroscope import gyroscope_accelerations, gyroscope_moments, nodal_from_fixed
from cayley.ordinary_equations import integrate
from cayley.showing import brief

Axes = Literal["nodal", "fixed"]
Moments = Callable[[float, Array, Array], ArrayLike]
"""moments(t, angles, rates): the moments [N m] about the point that is held."""

_UPRIGHT = 1e-6  # sin(theta): nearer, steps would only become smaller


@dataclass(frozen=True, eq=False)
class GyroscopeTrajectory:
    """The motion at `times` (k); the angles are (psi, theta, phi), of the axis z of Rz(psi) Rx(theta)."""

    I0: float
    I: float
    times: Array
    angles: Array
    """(k, 3) [rad]."""
    rates: Array
    """(k, 3) [rad/s]."""
    accelerations: Array
    """(k, 3) [rad/s^2]."""

    __repr__ = brief

    @property
    def moments(self) -> Array:
        """About the nodal axes (k, 3) [N m]: those that acted."""
        return gyroscope_moments(self.I0, self.I, self.angles[:, 1], self.rates, self.accelerations)

    @property
    def axial_momentum(self) -> Array:
        """About its own axis (k) [kg m^2/s]: constant if no moment acts about w."""
        return self.I * (self.rates[:, 0] * np.cos(self.angles[:, 1]) + self.rates[:, 2])

    @property
    def vertical_momentum(self) -> Array:
        """About the fixed z (k) [kg m^2/s]: constant if no moment acts about z, as of weight."""
        theta = self.angles[:, 1]
        return self.I0 * self.rates[:, 0] * np.sin(theta) ** 2 + self.axial_momentum * np.cos(theta)

    @property
    def kinetic_energy(self) -> Array:
        """(k) [J]."""
        across = self.rates[:, 1] ** 2 + (self.rates[:, 0] * np.sin(self.angles[:, 1])) ** 2
        return (self.I0 * across + self.axial_momentum**2 / self.I) / 2


def simulate_gyroscope(I0: float, I: float, angles: ArrayLike, rates: ArrayLike, times: ArrayLike, *,
                       moments: ArrayLike | Moments, axes: Axes, rtol: float = 1e-11,
                       atol: float = 1e-13) -> GyroscopeTrajectory:
    """The motion from times[0] on, from `angles` (3) and `rates` (3) of psi, theta and phi.

    `moments` (3) are constant, or a function of (t, angles, rates), about the `axes`: "nodal" (u, v, w) or "fixed" (x,
    y, z). Where the axis becomes upright (sin theta = 0) a `SingularityError` says when.

    >>> def weight(t, angles, rates):  # of a top: m g l sin(theta) about the line of nodes
    ...     return [0.24525 * np.sin(angles[1]), 0.0, 0.0]
    >>> top = simulate_gyroscope(0.02, 0.01, [0.0, np.pi / 6, 0.0], [0.1226901809, 0.0, 200.0], [0.0, 0.5, 1.0],
    ...                          moments=weight, axes="nodal")
    >>> top.angles[:, :2].round(6)  # steady precession, WE-18
    array([[0.      , 0.523599],
           [0.061345, 0.523599],
           [0.12269 , 0.523599]])
    """
    if axes not in ("nodal", "fixed"):
        raise ConventionError(f'the moments of a gyroscope are about "nodal" or "fixed" axes, not {axes!r}')
    given = moments if callable(moments) else _constant(finite_vector(moments, "moments"))
    start = np.concatenate([finite_vector(angles, "angles"), finite_vector(rates, "rates")])

    def accelerated(t: float, y: Array) -> Array:
        acting = finite_vector(given(t, y[:3].copy(), y[3:].copy()), f"moments at t = {t:.6g}")
        nodal = nodal_from_fixed(y[:3], acting) if axes == "fixed" else acting
        return gyroscope_accelerations(I0, I, y[1], y[3:], nodal)

    side = np.sign(np.sin(start[1]))
    near = min(_UPRIGHT, abs(np.sin(start[1])) / 2)
    found = integrate(lambda t, y: np.concatenate([y[3:], accelerated(t, y)]), start, times, rtol=rtol, atol=atol,
                      stop=lambda t, y: side * np.sin(y[1]) - near).checked("the motion of the gyroscope")
    if found.status == "stopped":
        raise SingularityError(f"the axis of the gyroscope becomes upright at t = {found.end:.6g} (sin theta = 0): "
                               "there precession and spin turn about the same axis; simulate_attitude needs no angles")
    y = found.states
    rate = np.stack([accelerated(t, one) for t, one in zip(found.times, y, strict=True)])
    return GyroscopeTrajectory(float(I0), float(I), found.times, y[:, :3], y[:, 3:], rate)


def _constant(value: Array) -> Moments:
    return lambda t, angles, rates: value
