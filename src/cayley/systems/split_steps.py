"""A step that is cut at known instants, as a text of fixed length.

On to the instant, the jump, on to the next instant, and to the end of the step. The instants move with all else. Where
y is the end of a stretch of length l, and g the guard there,

    dl = -dg / (g_y y_l + g_t)      y moves by y_l dl besides, and what follows begins later by dl
That is one step of Newton's method from the instant that was found: its value is nought, its derivative that of the
instant. With the jump it is the saltation matrix (Hiskens & Pai 2000; Leine & Nijmeijer 2004, 7.3), for the steps that
are made: y_l is the method's. It and the rate of the guard are found beforehand, as numbers. A guard that only touches
zero has no such derivative; it becomes infinite or NaN. Of several transitions at one instant the first says when that
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.signature import spell
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.systems.compiled_transitions import Watching
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point, Stage, Table
from cayley.systems.layout import Layout, State, as_vector, joined
from cayley.systems.record import Record
from cayley.systems.rollout_derivatives import RolloutDerivatives
from cayley.systems.system import System

LENGTHS, HAPPENED = "lengths of stretches", "transitions at their ends"
ALONG, RATES = "ends by their lengths", "rates of guards there"


class CutSteps:
    """Steps of a system with transitions, of which at most `most` happen in one; `smooth` has the step without any."""

    def __init__(self, system: System, watching: Watching, smooth: RolloutDerivatives, most: int) -> None:
        self._system = system
        self._watching = watching
        self._smooth = smooth
        self._most = most

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of what `crossings` takes."""
        return {**self._smooth.arguments, LENGTHS: (self._most,), HAPPENED: (self._most,)}

    @cached_property
    def crossings(self) -> Kernel:
        """Of each stretch of a step, how its end moves with its length, and how fast the guard then goes through zero.
        """
        size = self._smooth.rollout.size
        signature = f"{','.join(map(spell, self.shapes.values()))}->({self._most},{size}),({self._most})"
        return kernel(signature, name=f"{self._system.name} crossings", inputs=[*self.shapes],
                      outputs=["along", "rates"])(self._crossings_text)

    def _crossings_text(self, *arguments: Scalar) -> Any:  # noqa: ANN401 (a tuple of arrays)
        given = dict(zip(self.shapes, arguments, strict=True))
        system = self._system
        u = system.input_record({n: given[f"u.{n}"] for n in system.inputs})
        p = system.parameter_record({n: given[f"p.{n}"] for n in self._smooth.rollout.parameters})
        flow = Flow(system, given["t"], p, lambda t, x: u)
        vector: Array = given["x"]
        since: Scalar = 0.0
        found: list[Array] = []
        rates: list[Scalar] = []
        for length, happened in zip(given[LENGTHS], given[HAPPENED], strict=True):
            own = self._arguments(vector, length, flow.t + since, u, p)
            vector = self._smooth.step(*own)
            found.append(self._smooth.step.jvp("h")(*own, 1.0))
            since = since + length
            then = flow.later(since)
            ends = [Point.of(v, flow.layout).x for v in (vector, found[-1])]
            rates.append(_chosen(happened, self._guard_rates(then, u, *ends)))
            vector = self._jumped(then, u, vector, happened)
        return np.stack(found), np.stack(rates)

    @property
    def method(self) -> FixedStep:
        """The cut step, as a method of one stage; what is known of its instants is among its inputs."""
        def text(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
            flow = stage.flow
            u = flow.inputs(point.x)
            vector = point.vector(flow.layout)
            since: Scalar = 0.0
            for k in range(self._most):
                happened = u[HAPPENED][k]
                length = where(happened >= 0.0, u[LENGTHS][k], stage.h - since)
                end = self._smooth.step(*self._arguments(vector, length, flow.t + since, u, flow.p))
                since = since + length
                late = self._late(flow.later(since), u, Point.of(end, flow.layout).x, k)
                since = since + late
                vector = self._jumped(flow.later(since), u, end + late * u[ALONG][k], happened)
            last = self._arguments(vector, stage.h - since, flow.t + since, u, flow.p)
            return Point.of(self._smooth.step(*last), flow.layout), carried

        return FixedStep(self._smooth.rollout.order, Table(first=[True], last=[True], time=[0.0]), _nothing, text)

    def _arguments(self, x: Array, h: Scalar, t: Scalar, u: Record, p: Record) -> list[Any]:
        given = {"x": x, "h": h, "t": t, **{f"u.{n}": u[n] for n in self._smooth.rollout.inputs},
                 **{f"p.{n}": p[n] for n in self._smooth.rollout.parameters}}
        return [given[name] for name in self._smooth.step.inputs]

    def _late(self, flow: Flow, u: Record, x: State, k: int) -> Scalar:
        """By how much later than `flow` says the guard of a stretch is zero; its value is nought, or nearly."""
        guards = [transition.guard(flow.t, x, u, flow.p) for transition in self._system.transitions]
        own = u[HAPPENED][k] >= 0.0
        if k:  # at once with what was before
            own = np.logical_and(own, u[LENGTHS][k] > 0.0)
        return where(own, -_chosen(u[HAPPENED][k], guards) / u[RATES][k], 0.0)

    def _guard_rates(self, flow: Flow, u: Record, x: State, along: State) -> list[Scalar]:
        blocks = flow.layout.blocks
        here = x.replaced({name: independent(x[name]) for name in blocks})
        now = independent(flow.t)
        variables = joined([np.stack([now]), *[as_vector(here[name]) for name in blocks]])
        rates = joined([np.ones(1), *[as_vector(along[name]) for name in blocks]])
        return [slope_along(np.stack([transition.guard(now, here, u, flow.p)]), variables, rates)[0]
                for transition in self._system.transitions]

    def _jumped(self, flow: Flow, u: Record, vector: Array, happened: Scalar) -> Array:
        """The point after a transition; the same, if none happened."""
        system = self._system
        arrived = Point.of(vector, flow.layout)
        now = replace(flow, driven=lambda t, x: u)
        for k, transition in enumerate(system.transitions):
            jumped = system.jumped(transition, now.t, arrived.x, u, flow.p)
            after = Point(jumped, self._watching.booked(now, arrived, jumped), arrived.defect)
            vector = where(happened == float(k), after.vector(flow.layout), vector)
        return vector


def _chosen(happened: Scalar, values: Sequence[Scalar]) -> Scalar:
    """The value of the transition that happened; 0 if none did."""
    found: Scalar = 0.0
    for k, value in enumerate(values):
        found = where(happened == float(k), value, found)
    return found


def _nothing(points: Array, layout: Layout) -> Array:
    return points[..., :0]
