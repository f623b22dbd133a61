"""How two feet share a load: relations that a walker in double support needs besides its equations.

Each is a function of the time and of q and qd that gives a row (9) over (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z)
and its value. The angular acceleration of the trunk and the share of the vertical load are tied by the moments: one of
them may be given, and a horizontal force besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError
from cayley.wording import shown

Relation: TypeAlias = Callable[[Scalar, Array, Array], tuple[Array, Scalar]]
UNKNOWNS = ("thetadd", "u1", "u2", "q1", "q2", "R1x", "R1z", "R2x", "R2z")


def led_trunk(angle: Callable[[Scalar], Scalar] | float, stiffness: float = 200.0, damping: float = 28.0) -> Relation:
    """The trunk is led to an angle [rad], which may be a function of the time:
    thetadd = angledd + stiffness (angle - theta) + damping (angled - thetad)."""
    _check_number("the angle of a trunk", angle)
    for word, value in (("stiffness", stiffness), ("damping", damping)):
        if not is_finite_number(value) or value < 0:
            raise ModelError(f"a trunk is led by a finite {word}, not negative, not by {shown(value)}")

    def text(t: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        now = independent(t)
        wanted = np.stack([(angle(now) if callable(angle) else angle) + 0.0 * now])
        rate = jacobian(wanted, np.stack([now]))[:, 0]
        return wanted[0], rate[0], jacobian(rate, np.stack([now]))[0, 0]

    trunk = kernel("()->(),(),()", name="trunk", inputs=("t",))(text)

    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        wanted, rate, second = trunk(t)
        return _row(thetadd=1.0), second + stiffness * (wanted - q[2]) + damping * (rate - qd[2])

    return relation


def shared_load(share: Callable[[Scalar], Scalar] | float) -> Relation:
    """The first foot bears this share of the vertical load, which may be a function of the time."""
    _check_number("the share of a load", share)

    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        part = share(t) if callable(share) else share
        return _row(R1z=1.0 - part, R2z=-part), 0.0

    return relation


def shared_thrust(share: Callable[[Scalar], Scalar] | float) -> Relation:
    """The first foot bears this share of the horizontal force, which may be a function of the time."""
    _check_number("the share of a thrust", share)

    def relation(t: Scalar, q: Array, qd: Array) -> tuple[Array, Scalar]:
        part = share(t) if callable(share) else share
        return _row(R1x=1.0 - part, R2x=-part), 0.0

    return relation


def _check_number(what: str, given: Callable[[Scalar], Scalar] | float) -> None:
    if not callable(given) and not is_finite_number(given):
        raise ModelError(f"{what} is a finite number or a function of the time, not {shown(given)}")


def _row(**entries: Scalar) -> Array:
    return np.stack([entries.get(name, 0.0) for name in UNKNOWNS])
