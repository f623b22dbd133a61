"""The fixed-step methods by name.

    rk4                   explicit, order 4: the most accurate for its price, over times that are not long
    semi-implicit-euler   explicit, order 1: the cheapest step
    lie-midpoint          implicit, symmetric, order 2: keeps the energy of single free bodies exactly
    implicit-midpoint     implicit, symmetric, order 2, solved by Newton's method: stiff springs cost no step size
                          and no energy
    gauss                 the same of order 4
    gauss-energy          the same, with the balance of energy exact
A system may have others of its own, as mechanisms have a variational one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from cayley.errors import ConventionError, did_you_mean
from cayley.systems.fixed_steps.gauss import MIDPOINT, TWO_NODES, gauss, gauss_energy
from cayley.systems.fixed_steps.lie_midpoint import lie_midpoint
from cayley.systems.fixed_steps.protocol import FixedStep
from cayley.systems.fixed_steps.runge_kutta import RK4, SEMI_IMPLICIT_EULER

EXPLICIT = {"rk4": RK4, "semi-implicit-euler": SEMI_IMPLICIT_EULER}
IMPLICIT: dict[str, Callable[..., FixedStep]] = {
    "lie-midpoint": lie_midpoint, "implicit-midpoint": partial(gauss, MIDPOINT), "gauss": partial(gauss, TWO_NODES),
    "gauss-energy": gauss_energy}


def fixed_step(name: str, iterations: int | None = None,
               own: Mapping[str, Callable[..., FixedStep]] | None = None) -> FixedStep:
    """A method by its name, with the `iterations` of an implicit one; a system's `own` are implicit.

    >>> fixed_step("rk4").order
    4
    """
    implicit = IMPLICIT | dict(own or {})
    names = (*EXPLICIT, *implicit)
    if name not in names:
        advice = did_you_mean(name, names, otherwise=".")
        raise ConventionError(f"there is no method {name!r}{advice} The methods are {', '.join(names)}")
    if iterations is not None and (name in EXPLICIT or not isinstance(iterations, int) or iterations < 1):
        raise ConventionError(
            f"iterations, at least one, are an option of the methods {', '.join(implicit)}, not of {name!r}")
    if name in EXPLICIT:
        return EXPLICIT[name]
    return implicit[name]() if iterations is None else implicit[name](iterations)
