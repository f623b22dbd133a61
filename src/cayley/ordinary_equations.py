"""Ordinary differential equations x' = rate(t, x), integrated with error control by SciPy's solvers.

What comes back says whether the end was reached and, if not, how far it went and why: a step that would have to be
smaller than the spacing of numbers, or a rate that is no number at the start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import CayleyError, SignatureError, did_you_mean

Rate = Callable[[float, np.ndarray], ArrayLike]
Status = Literal["finished", "stopped", "failed"]
METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")


class IntegrationError(CayleyError, RuntimeError):
    """The integrator gave up."""


@dataclass(frozen=True, eq=False)
class Integrated(HoldsFunctions):
    """The states (k, size) at those of the asked times (k) that were reached, and at any time before `end` by
    `dense(t)`."""

    status: Status
    reason: str
    times: Array
    states: Array
    end: float
    end_state: Array
    steps: Array
    """The times of the solver's own steps, the first and the last included."""
    evaluations: int
    """How often the rate was asked for."""
    dense: Callable[[ArrayLike], Array]
    """`dense(t)`: the states (..., size) at times of the interval."""

    def checked(self, what: str) -> Integrated:
        """The solution, or `IntegrationError` that says how far `what` went and why it went no farther."""
        if self.status == "failed":
            raise IntegrationError(f"{what} could not be integrated beyond t = {self.end:.6g}: {self.reason}")
        return self


def integrate(rate: Rate, start: ArrayLike, times: ArrayLike, *, rtol: float, atol: float, method: str = "DOP853",
              stop: Callable[[float, Array], float] | None = None) -> Integrated:
    """The solution from `start` (size) at times[0] on, at `times` that increase or decrease.

    `rtol`, `atol`: the error of a step, beside the state and absolute. `method`: one of SciPy's, "RK23", "RK45",
    "DOP853", or for stiff equations "Radau", "BDF", "LSODA". Where `stop(t, x)` changes its sign, the solution ends.

    >>> found = integrate(lambda t, x: -x, [1.0], [0.0, 1.0, 2.0], rtol=1e-10, atol=1e-12)
    >>> found.status, found.states[:, 0].round(9)
    ('finished', array([1.        , 0.36787944, 0.13533528]))
    >>> integrate(lambda t, x: x**2, [1.0], [0.0, 2.0], rtol=1e-8, atol=1e-8).checked("x' = x^2")
    Traceback (most recent call last):
    cayley.ordinary_equations.IntegrationError: x' = x^2 could not be integrated beyond t = 1: ...
    """
    instants = instants_of(times)
    initial = np.asarray(start, dtype=float)
    if method not in METHODS:
        raise SignatureError(f"there is no integrator {method!r}{did_you_mean(method, METHODS, otherwise='.')} "
                             f"The integrators are {', '.join(METHODS)}")
    first = np.asarray(rate(float(instants[0]), initial.copy()), dtype=float)
    if first.shape != initial.shape:
        raise SignatureError(f"the state has the shape {initial.shape}, its rate {first.shape}: they must be the same")
    if not np.isfinite(first).all():
        return _at_the_start(instants, initial, "the rate is not finite there")
    from scipy.integrate import solve_ivp  # only those who integrate should wait for it
    found = solve_ivp(rate, (instants[0], instants[-1]), initial, method=method, dense_output=True, rtol=rtol,
                      atol=atol,
                      events=_ending(stop))
    if len(found.t) < 2:
        return _at_the_start(instants, initial, str(found.message))
    end = float(found.t[-1])
    reached = instants[np.abs(instants - instants[0]) <= abs(end - instants[0])]
    status: Status = "failed" if found.status < 0 else "stopped" if found.status else "finished"
    return Integrated(status, str(found.message), reached, found.sol(reached).T, end, found.y[:, -1], found.t,
                      found.nfev + 1, lambda t: np.moveaxis(found.sol(t), 0, -1))


def instants_of(times: ArrayLike) -> Array:
    """Times as an array (k), if they are two or more and increase or decrease."""
    instants = np.asarray(times, dtype=float)
    steps = np.diff(instants) if instants.ndim == 1 else np.zeros(0)
    if len(steps) < 1 or not (np.all(steps > 0) or np.all(steps < 0)):
        raise SignatureError("times are two or more instants that increase or decrease; the first is that of the start")
    return instants


def _at_the_start(instants: Array, initial: Array, reason: str) -> Integrated:
    start = float(instants[0])
    return Integrated("failed", reason, instants[:1], initial[None], start, initial, instants[:1], 1,
                      lambda t: np.broadcast_to(initial, (*np.shape(t), len(initial))))


def _ending(stop: Callable[[float, Array], float] | None) -> Callable[[float, Array], float] | None:
    if stop is None:
        return None

    def ending(t: float, x: Array) -> float:
        return stop(t, x)

    ending.terminal = True  # type: ignore[attr-defined]
    return ending
