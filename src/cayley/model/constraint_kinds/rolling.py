"""Parts of the rolling and sliding constraints: checks, the relative motion of two frames, rows without slip."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, is_finite_number
from cayley.errors import ModelError
from cayley.model.joint_kinds.held import FrameMotion, Row
from cayley.model.joint_kinds.motion import Axis, plane_across
from cayley.wording import shown

_UNIT = 1e-9
_CORNERS = 32


def checked_axis(given: Axis, whose: str) -> Axis:
    """A unit vector as numbers; raises an error that names its owner otherwise."""
    try:
        axis = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{whose} is {shown(given)}: it must be a unit vector (3)") from None
    if axis.shape != (3,) or not abs(float(axis @ axis) - 1) < _UNIT:
        raise ModelError(f"{whose} is {shown(given)}: it must be a unit vector (3)")
    x, y, z = axis.tolist()
    return x, y, z


def check_radius(word: str, name: str, radius: float) -> None:
    """Raise an error that names a wheel or ball whose radius is not a positive number."""
    if not is_finite_number(radius) or radius <= 0:
        raise ModelError(f"the {word} {name!r} has the radius {shown(radius)}: it must be positive and finite")


def slip(along: Array, along_rate: Array, v: Array, dv: Array) -> Row:
    """The row of a velocity that has no part along a direction; both have their rates."""
    return Row(0.0, along @ v, along @ dv + along_rate @ v)


def circle(axis: Axis, radius: float) -> Array:
    """A closed line (k, 3) about an axis."""
    angles = np.linspace(0.0, 2 * np.pi, _CORNERS + 1)
    return radius * np.stack([np.cos(angles), np.sin(angles)], axis=1) @ plane_across(axis)


def seen_from(first: FrameMotion, second: FrameMotion) -> FrameMotion:
    """The motion of the second frame relative to the first, in the axes of the first, which may turn."""
    R = first.R.T
    d = second.p - first.p
    u = second.u - first.u - np.cross(first.w, d)
    w = second.w - first.w
    du = (second.du - first.du - np.cross(first.dw, d) - np.cross(first.w, np.cross(first.w, d))
          - 2 * np.cross(first.w, u))
    dw = second.dw - first.dw - np.cross(first.w, w)
    return FrameMotion(R @ second.R, R @ d, R @ u, R @ w, R @ du, R @ dw)
