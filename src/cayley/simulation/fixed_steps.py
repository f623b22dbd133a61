"""The fixed-step methods by name.

    rk4                   explicit, order 4: the most accurate for its price, over times that are not long
    semi-implicit-euler   explicit, order 1: the cheapest step
    lie-midpoint          implicit, symmetric, order 2: keeps the energy of single free bodies exactly
    variational           implicit, symplectic, symmetric, order 2: keeps momenta exactly, and energy without drift: for long times
"""

from __future__ import annotations

from cayley.errors import ConventionError
from cayley.simulation.fixed_step_protocol import FixedStep
from cayley.simulation.lie_midpoint import lie_midpoint
from cayley.simulation.runge_kutta import RK4
from cayley.simulation.semi_implicit_euler import SEMI_IMPLICIT_EULER
from cayley.simulation.variational import variational
from cayley.wording import did_you_mean

EXPLICIT = {"rk4": RK4, "semi-implicit-euler": SEMI_IMPLICIT_EULER}
IMPLICIT = {"lie-midpoint": lie_midpoint, "variational": variational}
METHODS = (*EXPLICIT, *IMPLICIT)
ITERATIONS = 6


def fixed_step(name: str, iterations: int | None = None) -> FixedStep:
    """A method by its name; `iterations` of an implicit one.

    >>> fixed_step("rk4").order
    4
    """
    if name not in METHODS:
        advice = did_you_mean(name, METHODS, otherwise=".")
        raise ConventionError(f"there is no method {name!r}{advice} The methods are {', '.join(METHODS)}")
    if iterations is not None and (name in EXPLICIT or iterations < 1):
        raise ConventionError(
            f"iterations, at least one, are an option of the methods {', '.join(IMPLICIT)}, not of {name!r}")
    return EXPLICIT[name] if name in EXPLICIT else IMPLICIT[name](iterations or ITERATIONS)
