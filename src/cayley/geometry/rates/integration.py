"""The attitude of a body with a given angular velocity, integrated through any number of half-turns.

Two charts. `"vector-parameter"`: the rotation is written as reference times O(c) and dc = (1 + c c^T + hat(c)) w_b / 2
is integrated (polynomial, no trigonometry); whenever |c| reaches 1, a quarter turn, the reference is moved to the
present attitude and c starts at zero again. These are translations of one chart, so it is the same equation all the
way. `"homogeneous"`: dh = h (0; w_b) / 2 for the four numbers [w : v], which have no singularity; their norm drifts
with the error of the integrator and is reported. Source: Mladenova (81), (101)-(102), spec R-20.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, GeometryError
from cayley.geometry.rates.centred_charts import ChartSpan, Walk, evaluate, half_turns, walk_centred
from cayley.geometry.rates.charts import chart
from cayley.geometry.rotations.homogeneous import (
    compose_homogeneous,
    homogeneous_from_matrix,
    matrix_from_homogeneous,
    normalize_homogeneous,
    rotate_by_homogeneous,
)
from cayley.ordinary_equations import Integrated, instants_of, integrate
from cayley.showing import brief

Chart = Literal["vector-parameter", "homogeneous"]
Frame = Literal["world", "body"]
AngularVelocity = Callable[[float], Array]


@dataclass(frozen=True)
class AttitudePath:
    """The attitudes at `times` (n), and at any other time of the interval through `at`.

    `matrices` (n, 3, 3); `homogeneous` (n, 4), unit [w : v] whose sign is continuous in time, so that c = v / w passes
    through infinity where w is zero; `half_turns` are the times of that, where a half-turn is crossed or only touched
    (to 1e-9, and the error of the integration). `spans` are the charts used, and `recentrings` the times between them.
    `norm_drift` is how far the norm of the integrated form went from one (zero in the vector-parameter chart, which has
    no norm to lose). `evaluations` counts calls of the angular velocity.
    """

    times: Array
    homogeneous: Array
    matrices: Array
    spans: tuple[ChartSpan, ...]
    recentrings: Array
    half_turns: Array
    norm_drift: float
    evaluations: int

    __repr__ = brief

    def at(self, time: ArrayLike) -> Array:
        """The homogeneous vector-parameter (..., 4), unit and continuous, at times of the interval."""
        return _evaluate(self.spans, np.asarray(time, dtype=np.float64))


def integrate_attitude(angular_velocity: Callable[..., ArrayLike], start: ArrayLike, times: Sequence[float] | Array, *,
                       frame: Frame, chart: Chart = "vector-parameter", rtol: float = 1e-11, atol: float = 1e-13,
                       method: str = "DOP853") -> AttitudePath:
    """The attitude at `times` [s], in either direction, of a body with `angular_velocity(t)` [rad/s] in the `frame`.

    `start` is the attitude at times[0]: a rotation matrix (3, 3), or a homogeneous vector-parameter [w : v] of any
    norm. Half-turns are ordinary points of the way in both charts. `IntegrationError` when the integrator gives up.

    >>> path = integrate_attitude(lambda t: [0.0, 0.0, 1.0], np.eye(3), [0.0, np.pi, 6.0], frame="world")   # spec WE-04
    >>> path.half_turns.round(9), path.homogeneous[1].round(9)
    (array([3.14159265]), array([0., 0., 0., 1.]))
    """
    if frame not in ("world", "body"):
        raise ConventionError(
            f"frame={frame!r}: say whether the angular velocity is given in the 'world' or in the 'body' frame")
    if chart not in ("vector-parameter", "homogeneous"):
        raise ConventionError(f"chart={chart!r}: 'vector-parameter' or 'homogeneous'")
    instants = instants_of(times)
    h = _form_of(start)
    velocity = _checked(angular_velocity)
    solve = partial(integrate, rtol=rtol, atol=atol, method=method)
    if chart == "homogeneous":
        spans, drift, evaluations = _walk_homogeneous(velocity, h, instants[0], instants[-1], frame, solve)
    else:
        spans, drift, evaluations = walk_centred(h, lambda reference: _centred_rate(velocity, reference, frame),
                                                 _carried, 3, instants[0], instants[-1], solve, "the attitude")
    forms = _evaluate(spans, instants)
    found = half_turns(spans, velocity, rtol, "the attitude")
    return AttitudePath(instants, forms, matrix_from_homogeneous(forms), tuple(spans),
                        np.array([s.start for s in spans[1:]]), found, drift, evaluations)


def _form_of(start: ArrayLike) -> Array:
    attitude = np.asarray(start, dtype=np.float64)
    if attitude.shape not in ((3, 3), (4,)):
        raise GeometryError("the start is a rotation matrix (3, 3) or a homogeneous vector-parameter (4), not of shape "
                            f"{attitude.shape}")
    return homogeneous_from_matrix(attitude) if attitude.ndim == 2 else normalize_homogeneous(attitude)


def _checked(angular_velocity: Callable[..., ArrayLike]) -> Callable[[float], Array]:
    def velocity(t: float) -> Array:
        w = np.asarray(angular_velocity(t), dtype=np.float64)
        if w.shape != (3,) or not np.all(np.isfinite(w)):
            raise GeometryError(f"the angular velocity at t = {t:.6g} is {w}: three finite numbers are needed")
        return w

    return velocity


def _walk_homogeneous(velocity: AngularVelocity, h: Array, start: float, end: float, frame: Frame,
                      solve: Callable[..., Integrated]) -> Walk:
    form = chart("homogeneous")
    rate = (form.rates_from_world if frame == "world" else form.rates_from_body).unchecked
    found = solve(lambda t, y: rate(y, velocity(t)), h, (start, end)).checked("the attitude")
    span = ChartSpan(start, end, h, found.dense, found.steps)
    drift = np.max(np.abs(np.linalg.norm(found.dense(found.steps), axis=-1) - 1))
    return Walk([span], float(drift), found.evaluations)


def _centred_rate(velocity: AngularVelocity, reference: Array, frame: Frame) -> Callable[[float, Array], Array]:
    back = reference * np.array([1.0, -1.0, -1.0, -1.0])

    def rate(t: float, c: Array) -> Array:
        w = velocity(t)
        if frame == "world":  # to the axes of the reference, then to the body's
            w = rotate_by_homogeneous.unchecked(np.concatenate([[1.0], -c]), rotate_by_homogeneous.unchecked(back, w))
        return chart("vector_parameter").rates_from_body(c, w)

    return rate


def _carried(reference: Array, c: Array) -> Array:
    one = np.concatenate([np.ones((*c.shape[:-1], 1)), c], axis=-1)
    return normalize_homogeneous(compose_homogeneous.unchecked(reference, one))


def _evaluate(spans: Sequence[ChartSpan], times: Array) -> Array:
    return normalize_homogeneous(evaluate(spans, times, "the attitude"))
