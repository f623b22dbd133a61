"""Where a system rests: not to first order, but where its rates are zero.

Damped least squares in displacements from a start: also where the linear model is singular, as of a mechanism that may
rest anywhere along a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.stability.error_dynamics import Dynamics, displaced
from cayley.errors import UnreachableError
from cayley.showing import brief
from cayley.systems.layout import StateLike

_REST = 1e-10  # rates, where the largest entry of A is one


@dataclass(frozen=True, eq=False)
class SystemEquilibrium:
    """A state of rest, by the names of its blocks, what is left of its rates, and how it was found."""

    state: dict[str, Array]
    residual: float
    evaluations: int
    message: str

    __repr__ = brief


def find_equilibrium(dynamics: Dynamics, near: StateLike | None = None, *,
                     inputs: Mapping[str, ArrayLike] | None = None,
                     parameters: Mapping[str, ArrayLike] | None = None, discrete: bool = False) -> SystemEquilibrium:
    """The equilibrium that is found from the state `near`; `UnreachableError` if there is none to be found.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> loop = cy.connect(arm, arm.control.pd(200.0, 40.0))
    >>> rest = find_equilibrium(loop, {"q": [0.5, -0.3], "qd": [0.0, 0.0]}, inputs={"target": [0.5, -0.3]})
    >>> rest.state["q"].round(4)
    array([ 0.4296, -0.3146])
    """
    about = displaced(dynamics, near, inputs=inputs, parameters=parameters, discrete=discrete)
    jacobian = about.rate.jacobian("d")
    less = np.eye(about.size) if discrete else np.zeros((about.size, about.size))

    def moves(d: Array) -> Array:
        rates = about.rate(d) - less @ d
        return rates if about.constraints is None else np.concatenate([rates, about.constraints(d)])

    def slopes(d: Array) -> Array:
        rates = jacobian(d) - less
        return rates if about.constraints is None else np.concatenate([rates, about.constraints.jacobian("d")(d)])

    found = least_squares(moves, np.zeros(about.size), jac=slopes, method="lm" if about.size else "trf", xtol=1e-15,
                          ftol=1e-15, gtol=1e-15)
    residual = float(np.abs(found.fun).max(initial=0.0))
    if not residual <= _REST * max(1.0, float(np.abs(found.jac).max(initial=0.0))):
        names = [*[f"the rate of {label}" for label in about.labels], *["a constraint"] * len(found.fun)]
        worst = names[int(np.argmax(np.abs(found.fun)))]
        raise UnreachableError(f"no equilibrium of {about.name} was found from there: {worst} is still {residual:.3g} "
                               f"where the search ended ({found.message})")
    return SystemEquilibrium(about.states(found.x), residual, int(found.nfev), str(found.message))
