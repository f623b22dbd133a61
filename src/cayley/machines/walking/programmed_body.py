"""The texts of a body whose legs move by a program, while feet stand or do not.

Its state is `body` (x, z, theta) with its velocity `rates`, and the `places` (4) of the feet that stand. The hip
follows from a foot that stands; in flight it moves by its momentum. What stops a motion is told by the mode `trouble`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError, SignatureError
from cayley.machines.walking import biped_equations as equations
from cayley.machines.walking.leg_motion import Gait, Relation, in_flight, on_both_feet, on_one_foot
from cayley.systems.layout import State
from cayley.systems.ports import Block, PortLike
from cayley.wording import shown

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped

FLIGHT = "flight"
FIRST = "first support"
SECOND = "second support"
DOUBLE = "double support"
CONTACTS = {FLIGHT: (False, False), FIRST: (True, False), SECOND: (False, True), DOUBLE: (True, True)}
FEET = ("foot1", "foot2")
STATE = {"body": Block((3,), velocity="rates"), "rates": Block((3,)), "places": Block((4,), "m", default=0.0)}
OUTPUTS: dict[str, PortLike] = {"q": 7, "qd": 7, "torques": (4, "N m"), "reactions": (4, "N"), "feet": (4, "m")}
_REASONS = {
    "slides": "{} would have to slide, which is not modelled: friction does not hold it, or nothing presses it",
    "is unloaded": "the load of {} vanishes while it is to stand",
    "meets the ground": "{} meets the ground while it is to fly",
    "is off the ground": "{} is not on the ground where it is to stand"}
TROUBLES = ("none", *[f"{foot} {word}" for word in _REASONS for foot in FEET])

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class ProgrammedBody(HoldsFunctions):
    """`legs` is their motion in time, `contacts` the words of `CONTACTS` that occur, each with a text that says whether
    it is the present one; `places(x)` where the feet stand that do; `clock(t, x)` the time of the program."""

    biped: PlanarBiped
    legs: Callable[[Scalar], tuple[Array, ...]]
    contacts: Mapping[str, Callable[[State], Scalar]]
    places: Callable[[State], Array] = lambda x: x.places
    clock: Callable[[Scalar, State], Scalar] = lambda t, x: t
    relations: Sequence[Relation] = ()

    def coordinates(self, t: Scalar, x: State) -> tuple[Array, Array, Array]:
        """q, qd, and the accelerations (4) of the legs."""
        return self._once("coordinates", t, x, self._coordinates)

    def _coordinates(self, t: Scalar, x: State) -> tuple[Array, Array, Array]:
        angles, rates, accelerations = self.legs(self.clock(t, x))
        return np.concatenate([x.body, angles]), np.concatenate([x.rates, rates]), accelerations

    def gait(self, t: Scalar, x: State) -> Gait:
        return self._once("gait", t, x, self._gait)

    def _gait(self, t: Scalar, x: State) -> Gait:
        found = None
        for word, is_present in self.contacts.items():
            here = self.gait_in(word, t, x)
            found = here if found is None else Gait(*[where(is_present(x), a, b)
                                                      for a, b in zip(here, found, strict=True)])
        assert found is not None
        return found

    def gait_in(self, contact: str, t: Scalar, x: State) -> Gait:
        """The motion that follows from the program with these feet on the ground."""
        q, qd, legs = self.coordinates(t, x)
        if contact == FLIGHT:
            return in_flight(self.biped, q, qd, legs)
        if contact == DOUBLE:
            given = [_checked(relation(self.clock(t, x), q, qd)) for relation in self.relations]
            rows = np.stack([row for row, _ in given]) if given else np.zeros((0, 9))
            values = np.stack([value for _, value in given]) if given else np.zeros(0)
            return on_both_feet(self.biped, q, qd, legs, rows, values)
        return on_one_foot(self.biped, q, qd, legs, 0 if contact == FIRST else 1)

    def stands(self, x: State, foot: int) -> Scalar:
        """True if the foot of this index stands."""
        those = [is_present(x) for word, is_present in self.contacts.items() if CONTACTS[word][foot]]
        return reduce(np.logical_or, those) if those else np.False_

    def feet(self, t: Scalar, x: State) -> tuple[Array, Array]:
        """Positions and velocities (4)."""
        q, qd, _ = self.coordinates(t, x)
        at = equations.posture_of_angles(q)
        return equations.feet(self.biped, q, at), equations.feet_jacobian(self.biped, at) @ qd

    def resting(self, t: Scalar, x: State) -> Array:
        """The residuals of feet that stand: how far they are from their places (4), and their velocities (4)."""
        on = np.repeat([where(self.stands(x, foot), 1.0, 0.0) for foot in range(2)], 2)
        position, velocity = self.feet(t, x)
        return np.concatenate([on * (position - self.places(x)), on * velocity])

    def project(self, t: Scalar, x: State) -> dict[str, Array]:
        """The hip where the first foot that stands has it."""
        left = self.resting(t, x)
        first = self.stands(x, 0)
        none = np.zeros(1)
        return {"body": x.body - np.concatenate([where(first, left[:2], left[2:4]), none]),
                "rates": x.rates - np.concatenate([where(first, left[4:6], left[6:]), none])}

    def pulling(self, t: Scalar, x: State) -> Array:
        normal = self.gait(t, x).reactions[1::2]
        return where(normal < -self.slight, normal, 0.0)

    def buried(self, t: Scalar, x: State, ground: float) -> Array:
        """How far feet that do not stand are below the ground (2)."""
        off = np.stack([where(self.stands(x, foot), 0.0, 1.0) for foot in range(2)])
        heights = self.feet(t, x)[0][1::2] - ground
        return where(heights < 0.0, off * heights, 0.0)

    def grip(self, t: Scalar, x: State, foot: int, friction: float) -> Scalar:
        """How much more friction could give than a foot needs [N]."""
        reactions = self.gait(t, x).reactions
        return friction * reactions[2 * foot + 1] - np.abs(reactions[2 * foot])

    def sliding(self, t: Scalar, x: State, friction: float) -> Array:
        """The forces (2) beyond friction."""
        left = np.stack([where(self.stands(x, foot), self.grip(t, x, foot, friction), 0.0) for foot in range(2)])
        return where(left < -self.slight, left, 0.0)

    @property
    def slight(self) -> float:
        """A force [N] that is none, beside the weight."""
        return 1e-9 * self.biped.mass * abs(self.biped.gravity)

    def power(self, t: Scalar, x: State) -> Scalar:
        return self.gait(t, x).torques @ (equations.DRIVES.T @ self.coordinates(t, x)[1])

    def energy(self, t: Scalar, x: State) -> Scalar:
        return equations.energy(self.biped, *self.coordinates(t, x)[:2])

    def accelerations(self, t: Scalar, x: State) -> Array:
        """Of the body (3); none where there is trouble."""
        return where(x.is_in("trouble", "none"), self.gait(t, x).qdd[:3], np.nan)

    def _once(self, what: str, t: Scalar, x: State, make: Callable[[Scalar, State], Found]) -> Found:
        return kept(x, (self, what, id(t)), lambda: (t, make(t, x)))[1]


def _checked(given: tuple[Array, Scalar]) -> tuple[Array, Scalar]:
    if not isinstance(given, tuple) or [np.shape(part) for part in given] != [(9,), ()]:
        raise SignatureError("a relation of loads gives a row (9) over (thetadd, u1, u2, q1, q2, R1x, R1z, R2x, R2z), "
                             "and its value")
    return given


def explain(x: State) -> str | None:
    """The reason why a motion stopped."""
    trouble = TROUBLES[int(x["trouble"])]
    if trouble == "none":
        return None
    foot, word = trouble.split(" ", 1)
    return _REASONS[word].format(foot)


def check_friction(friction: float | None) -> None:
    if friction is not None and not (is_finite_number(friction) and friction >= 0):
        raise ModelError(f"a coefficient of friction is finite and not negative, not {shown(friction)}")
