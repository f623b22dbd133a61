"""From how many joints on a method of forward dynamics takes fewer operations than another, from counts of their texts.

    conjugate gradients    75 n^2 for n steps: no matrix, but inverse dynamics at each step
    composite bodies       n^3 / 6 to solve for the accelerations, and fewer n^2
    articulated bodies     320 n: nothing else grows
The source says that conjugate gradients pay from about n = 12 against composite bodies. With the n steps that they take
without rounding, counts do not bear that out: they pay from some hundred joints. They pay from n = 12 if a guess, as
that of the time step before, leaves them three steps (`steps_that_pay`). Source: Balafoutis & Patel 6.2; spec S1-119.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from cayley.compiler.typing import Array
from cayley.dynamics.accounting.counted_run import GENERAL, total
from cayley.dynamics.accounting.counting_scalar import Cost
from cayley.dynamics.accounting.formulas import Figures, fitted
from cayley.dynamics.accounting.forward_tables import by_parts, count_forward_dynamics
from cayley.dynamics.forward import articulated_bodies, composite_bodies, conjugate_gradients, generalized_links
from cayley.dynamics.rigid_links.links import Links, links_of, serial_chain
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import ConventionError, did_you_mean
from cayley.model.tree import Tree


def _conjugate_gradients(links: Links, q: Array, qd: Array, tau: Array) -> Array:
    return conjugate_gradients.forward_dynamics(links, q, qd, tau, steps=links.nv)


class Contender(NamedTuple):
    """A text of forward dynamics, and the links it is counted on."""

    text: Callable[..., Any]
    links: Callable[[Tree], Links]


CONTENDERS: dict[str, Contender] = {
    "conjugate-gradients": Contender(_conjugate_gradients, serial_chain),  # n steps
    "walker-orin-1": Contender(by_parts("walker_orin", "luh_walker_paul"), serial_chain),
    "walker-orin-3": Contender(by_parts("walker_orin_3", "luh_walker_paul"), serial_chain),
    "generalized-links": Contender(generalized_links.forward_dynamics, serial_chain),
    "plain-articulated-bodies": Contender(articulated_bodies.forward_dynamics, links_of),
    "articulated-bodies": Contender(articulated_bodies.forward_dynamics, minimal_links),
    "composite-bodies": Contender(composite_bodies.forward_dynamics, minimal_links)}
_FARTHEST = 10_000


def forward_figures(method: str, *, twist: float = GENERAL, kind: str = "R") -> Figures:
    """Multiplications and additions of a method of forward dynamics (`CONTENDERS`) as formulas of n, zeros folded, for
    arms whose joints are all of one `kind`, R or P, with the same twist. Divisions count as multiplications.

    >>> print(forward_figures("conjugate-gradients"))
    75n^2+7n-126, 60n^2-116
    """
    _check(method)
    return _figures(method, twist, kind)


@cache
def _figures(method: str, twist: float, kind: str) -> Figures:
    """Numbers that cancel but for rounding count in some arms and not in others: the least of several is taken."""
    text, links = CONTENDERS[method]

    def least(n: int) -> dict[str, Cost]:
        counted = [total(count_forward_dynamics(text, n, twist, links=links, kind=kind, seed=seed))
                   for seed in (range(2) if links is minimal_links else [0])]
        return {"": Cost(*map(min, zip(*counted, strict=True)))}

    return fitted(least)[""]


def break_even(first: str, second: str, *, twist: float = GENERAL, kind: str = "R") -> int | None:
    """The number of joints from which on the first method takes fewer multiplications and additions together than the
    second, for all longer arms; None if there is none.

    >>> break_even("articulated-bodies", "composite-bodies")  # O(n) against O(n^3)
    15
    """
    figures = [forward_figures(method, twist=twist, kind=kind) for method in (first, second)]
    start = max(max(f.multiplications.start, f.additions.start) for f in figures)
    costs = [sum(f(_FARTHEST)) for f in figures]
    if not costs[0] < costs[1]:
        return None
    last = max((n for n in range(start, _FARTHEST) if not sum(figures[0](n)) < sum(figures[1](n))), default=start - 1)
    return last + 1


def steps_that_pay(n: int, against: str = "walker-orin-3", *, twist: float = GENERAL) -> int:
    """The number of steps up to which conjugate gradients take fewer operations than another method, for n joints.

    >>> steps_that_pay(12)
    3
    """
    _check(against)
    if n < 1:
        raise ConventionError(f"an arm must have one joint or more, not {n}")
    text, links = CONTENDERS[against]
    other = _sum(count_forward_dynamics(text, n, twist, links=links))

    def of_steps(steps: int) -> int:
        return _sum(count_forward_dynamics(
            lambda chain, q, qd, tau: conjugate_gradients.forward_dynamics(chain, q, qd, tau, steps=steps), n, twist))

    first = of_steps(2)
    each = of_steps(3) - first
    return max(0, 2 + (other - 1 - first) // each)


def _sum(costs: dict[str, Any]) -> int:
    cost = total(costs)
    return cost.multiplications + cost.additions


def _check(method: str) -> None:
    if method not in CONTENDERS:
        advice = did_you_mean(method, CONTENDERS, otherwise=".")
        raise ConventionError(f"{method!r} is not counted{advice} These are: {', '.join(CONTENDERS)}")
