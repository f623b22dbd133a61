"""The pose of a body with a given twist, integrated in dual vector-parameters through any number of half-turns.

The pose is a reference together with c^, whose equation is polynomial; after a quarter turn the reference moves on and
c^ starts at zero again (`cayley.geometry.rates.centred_charts`). In the axes of the world c^ comes after the reference,
in those of the body before it, so that each equation is used as it stands. Source: Mladenova (157), spec S0-73.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, GeometryError
from cayley.geometry.motions.dual_quaternion import (
    dual_quaternion_from_pose,
    dual_quaternion_product,
    normalize_dual_quaternion,
    pose_from_dual_quaternion,
)
from cayley.geometry.motions.dual_vector_parameter import (
    dual_vector_parameter_rate_from_body_velocity,
    dual_vector_parameter_rate_from_world_velocity,
)
from cayley.geometry.rates.centred_charts import ChartSpan, evaluate, half_turns, walk_centred
from cayley.ordinary_equations import Rate, instants_of, integrate
from cayley.showing import brief


@dataclass(frozen=True)
class IntegratedPoses:
    """The poses (n, 4, 4) at `times` (n), and at any other time of the interval through `at`.

    `dual_quaternions` (n, 2, 4) are unit [w^ : v^] whose sign is continuous in time; c^ = v^ / w^ passes through
    infinity at the times `half_turns`. `recentrings` are the times at which the chart was moved, `evaluations` the
    calls of the twist.
    """

    times: Array
    poses: Array
    dual_quaternions: Array
    spans: tuple[ChartSpan, ...]
    recentrings: Array
    half_turns: Array
    evaluations: int

    __repr__ = brief

    def at(self, time: ArrayLike) -> Array:
        """The pose (..., 4, 4) at times of the interval."""
        return pose_from_dual_quaternion(evaluate(self.spans, np.asarray(time, dtype=np.float64), "the pose"))


def integrate_pose(twist: Callable[[float], ArrayLike], start: ArrayLike, times: Sequence[float] | Array, *,
                   axes: Literal["world", "body"], rtol: float = 1e-11, atol: float = 1e-13,
                   method: str = "DOP853") -> IntegratedPoses:
    """The pose at increasing or decreasing `times` [s] of a body with `twist(t)` (6), (v; w) [m/s; rad/s], from the
    pose `start` (4, 4) at times[0] on.

    `axes="world"`: v is the velocity of the point of the body at the origin of the world. `axes="body"`: v is that of
    the body's own origin, in the body's axes. Half-turns are ordinary points of the way. `IntegrationError` when the
    integrator gives up.

    >>> turning = [0.0, 0.0, 0.5, 0.0, 0.0, 1.0]   # about z, and up
    >>> path = integrate_pose(lambda t: turning, np.eye(4), [0.0, np.pi, 6.0], axes="world")
    >>> path.half_turns.round(9), path.poses[2, :3, 3].round(9) + 0.0
    (array([3.14159265]), array([0., 0., 3.]))
    """
    if axes not in ("world", "body"):
        raise ConventionError(f"axes={axes!r}: say whether the twist is given in the axes of the 'world' or the 'body'")
    instants = instants_of(times)
    carried = _carried_after if axes == "world" else _carried_before
    solve = partial(integrate, rtol=rtol, atol=atol, method=method)
    walk = walk_centred(dual_quaternion_from_pose(start), lambda reference: _rate(twist, axes), carried, 6,
                        instants[0], instants[-1], solve, "the pose")
    spans = tuple(walk.spans)
    forms = evaluate(spans, instants, "the pose")
    found = half_turns(spans, lambda t: np.asarray(twist(t), dtype=float)[3:], rtol, "the pose")
    return IntegratedPoses(instants, pose_from_dual_quaternion(forms), forms, spans,
                           np.array([s.start for s in spans[1:]]), found, walk.evaluations)


def _rate(twist: Callable[[float], ArrayLike], axes: str) -> Rate:
    equation = (dual_vector_parameter_rate_from_world_velocity if axes == "world"
                else dual_vector_parameter_rate_from_body_velocity)

    def rate(t: float, c: Array) -> Array:
        given = np.asarray(twist(t), dtype=np.float64)
        if given.shape != (6,) or not np.all(np.isfinite(given)):
            raise GeometryError(f"the twist at t = {t:.6g} is {given}: six finite numbers, (v; w), are needed")
        return equation(c.reshape(2, 3), given.reshape(2, 3)[::-1]).reshape(6)

    return rate


def _carried_after(reference: Array, c: Array) -> Array:
    return normalize_dual_quaternion(dual_quaternion_product(_form(c), reference))


def _carried_before(reference: Array, c: Array) -> Array:
    return normalize_dual_quaternion(dual_quaternion_product(reference, _form(c)))


def _form(c: Array) -> Array:
    """[1 : c^] (..., 2, 4)."""
    parts = c.reshape(*c.shape[:-1], 2, 3)
    return np.concatenate([np.broadcast_to([[1.0], [0.0]], (*parts.shape[:-1], 1)), parts], axis=-1)
