"""Charts of one kind that follow a motion: c = 0 at a reference, integrated until a quarter turn away, where the
reference is moved to the present place and c starts at zero again. Translations of one chart: it is the same equation
all the way, and half-turns away from the first reference are ordinary places. Attitudes and poses are integrated so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array
from cayley.errors import GeometryError
from cayley.geometry.rates.half_turns import half_turns_of
from cayley.ordinary_equations import Integrated, Rate

Carried = Callable[[Array, Array], Array]  # reference, c (..., k) -> form (..., of the reference's shape)


@dataclass(frozen=True)
class ChartSpan(HoldsFunctions):
    """One stretch of time, `start` to `end`, in one chart: the attitude or pose is c or c^ seen from `reference`."""

    start: float
    end: float
    reference: Array
    form: Callable[[Array], Array] = field(repr=False)
    steps: Array = field(repr=False)


class Walk(NamedTuple):
    """The charts on the way, how far a norm that should stay one went from it, and the calls of the velocity."""

    spans: list[ChartSpan]
    drift: float
    evaluations: int


def walk_centred(reference: Array, rate_from: Callable[[Array], Rate], carried: Carried, size: int, start: float,
                 end: float, solve: Callable[..., Integrated], what: str, *, turning: int = 3) -> Walk:
    """From a reference, with the rate of c (size) that `rate_from` gives for it; the first `turning` numbers of c turn.
    `carried` is the form, of length one, that c has seen from a reference."""
    def quarter_turn(t: float, c: Array) -> float:
        return float(c[:turning] @ c[:turning] - 1.0)

    spans: list[ChartSpan] = []
    evaluations = 0
    time = start
    while time != end:
        found = solve(rate_from(reference), np.zeros(size), (time, end), stop=quarter_turn).checked(what)
        spans.append(ChartSpan(time, found.end, reference, _seen_from(reference, carried, found.dense), found.steps))
        time = found.end
        evaluations = evaluations + found.evaluations
        reference = carried(reference, found.end_state)
    return Walk(spans, 0.0, evaluations)


def evaluate(spans: Sequence[ChartSpan], times: Array, what: str) -> Array:
    """The forms at times of the interval; `what` was integrated."""
    forward = 1.0 if spans[-1].end >= spans[0].start else -1.0
    if np.any(forward * (times - spans[0].start) < 0) or np.any(forward * (times - spans[-1].end) > 0):
        raise GeometryError(
            f"{what} was integrated from {spans[0].start} to {spans[-1].end}; it is not known outside")
    number = np.searchsorted([forward * s.start for s in spans[1:]], forward * times, side="right")
    forms = np.empty((*times.shape, *spans[0].reference.shape))
    for k in np.unique(number):
        chosen = number == k
        forms[chosen] = spans[k].form(times[chosen])
    return forms


def half_turns(spans: Sequence[ChartSpan], velocity: Callable[[float], Array], rtol: float, what: str) -> Array:
    """The zeros of the scalar part, looked for between the steps of the integrator and four points within each; those
    that are only touched are zeros of its rate under the angular velocity."""
    def turned(t: Array) -> Array:
        return evaluate(spans, t, what).reshape(len(t), -1)[:, :4]

    steps = np.concatenate([[spans[0].start], *(span.steps[1:] for span in spans)])
    grid = np.append((steps[:-1, None] + np.diff(steps)[:, None] * np.arange(0, 1, 0.2)).ravel(), steps[-1])
    return half_turns_of(lambda t: turned(t)[:, 0], grid, nearest=1e-9 + 100 * rtol,
                         rate=lambda t: -float(turned(np.array([t]))[0, 1:] @ velocity(t)) / 2)


def _seen_from(reference: Array, carried: Carried, solution: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda t: carried(reference, solution(t))
