"""A ball that rolls on a plane or on another surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import NUMBER, OPTIONAL_FORMULA, WORD, Constraint
from cayley.model.constraint_kinds.formula import formula
from cayley.model.constraint_kinds.rolling import check_radius, circle, seen_from, slip
from cayley.model.joint_kinds.held import FrameMotion, Row

PLANE = "z"
_SAMPLES = 20
_UNIT = 1e-9
_AGAINST = 1e-9  # of 1 + the height of the normal


class _Under(NamedTuple):
    """The surface under a point: its distance, the normal and two tangents (2, 3), and their rates."""

    distance: Scalar
    normal: Array
    normal_rate: Array
    tangents: Array
    tangent_rates: Array


@dataclass(frozen=True)
class Ball(HoldsFunctions, Constraint):
    """A ball of `radius` [m] about the origin of the frame `ball` that rolls on a surface fixed to the frame `ground`,
    without slip; it may spin about the normal.

    `surface` is the distance of a point (x, y, z) of the ground's frame from it, as a formula: "z" is the plane x, y,
    "1 - sqrt(x*x + y*y + z*z)" the inside of a sphere, "sqrt(y*y + z*z) - 0.2" a pipe. Where its normal points against
    z the rows are not numbers: turn the frame."""

    ground: str = field(metadata=WORD)
    ball: str = field(metadata=WORD)
    radius: float = field(metadata=NUMBER)
    surface: str = field(default=PLANE, metadata=OPTIONAL_FORMULA)
    word = "ball"
    presses = True
    of_frames = ("ground", "ball")
    row_names = ("contact", "slip 1", "slip 2")
    positions = 1
    says = "ball {0.name!r} rolls on {0.ground!r}"

    def __post_init__(self) -> None:
        check_radius(self.word, self.name, self.radius)
        formula(self.surface, ["x", "y", "z"], f"the surface of {self.name!r}")
        if self.surface != PLANE:
            self._check_distance()

    def _check_distance(self) -> None:
        normals = self._under(np.random.default_rng(0).normal(size=(_SAMPLES, 3)), np.zeros(3))[1]
        off = np.abs(np.linalg.norm(normals, axis=-1) - 1)
        if not np.nanmax(off, initial=-1.0) < _UNIT or np.isnan(off).all():
            raise ModelError(f"the surface of {self.name!r} is {self.surface!r}, which is not the distance from a "
                             "surface: its gradient must have the length 1 everywhere")

    @property
    def rim(self) -> Array | None:
        return circle((0.0, 1.0, 0.0), self.radius)

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        ball = seen_from(*frames)
        at = _Under(*self._under(ball.p, ball.u))
        v = ball.u - self.radius * np.cross(ball.w, at.normal)
        dv = ball.du - self.radius * (np.cross(ball.dw, at.normal) + np.cross(ball.w, at.normal_rate))
        away = Row(at.distance - self.radius, at.normal @ ball.u, at.normal @ ball.du + at.normal_rate @ ball.u)
        slips = zip(at.tangents, at.tangent_rates, strict=True)
        return [away, *[slip(along, rate, v, dv) for along, rate in slips]]

    @property
    def _under(self) -> Kernel[tuple[Array, ...]]:
        """The surface under a point (3) that moves with a velocity (3)."""
        return kept(self, "under", lambda: kernel("(3),(3)->(),(3),(3),(2,3),(2,3)", name="surface")(self._text))

    def _text(self, p: Array, u: Array) -> _Under:
        distance = formula(self.surface, ["x", "y", "z"], self.name)(*p)
        n = jacobian(distance, p)
        lean = 1 / (1 + n[2])
        tangents = np.stack([np.stack([1 - n[0] * n[0] * lean, -n[0] * n[1] * lean, -n[0]]),
                             np.stack([-n[0] * n[1] * lean, 1 - n[1] * n[1] * lean, -n[1]])])
        return _Under(distance, n, jacobian(n, p) @ u, tangents, jacobian(tangents, p) @ u)

    def margin(self, frames: Sequence[FrameMotion]) -> Scalar | None:
        ball = seen_from(*frames)
        return 1 + self._under(ball.p, ball.u)[1][2] - _AGAINST

    @property
    def where_lost(self) -> str:
        return f"ball {self.name!r} is where the normal of its surface points against z of {self.ground!r}"
