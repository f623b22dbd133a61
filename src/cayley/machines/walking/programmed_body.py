"""The texts of a biped while feet stand or do not, and of a body whose legs move by a program.

The state of the latter is `body` (x, z, theta) with its velocity `rates`, and the `places` (4) of the feet that stand.
The hip follows from a foot that stands; in flight it moves by its momentum. The mode `trouble` tells what stops it.
In a gait events switch feet:
    touch-down    a foot comes down and stays; its impulse changes the velocity of the body, while the legs follow their
                  program. A foot that stood then rises: the legs part them
    bounce        it comes down, with the same impulse, and would have to be pulled afterwards: it leaves at once
    take-off      the normal force of the foot that stands ends, and it rises
    slip          friction does not hold it, or its normal force ends under a horizontal one: the motion ends there
Without a ground to meet, feet that fly go where the program leads them, and every end of a normal force is a take-off.
A start where the ground would have to pull is refused. Feet that come to rest on the ground without a velocity are a
matter of plans, not of events: see `stride`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text, is_finite_number
from cayley.errors import ModelError, SignatureError, shown
from cayley.machines.walking import biped_equations as equations
from cayley.machines.walking.leg_motion import (
    Gait,
    Legs,
    Relation,
    in_flight,
    leg_motion,
    on_both_feet,
    on_one_foot,
    touch_down,
)
from cayley.systems.layout import Record, State
from cayley.systems.ports import Block, PortLike
from cayley.systems.system import System
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped

FLIGHT = "flight"
FIRST = "first support"
SECOND = "second support"
DOUBLE = "double support"
SUPPORT = (FIRST, SECOND)
CONTACTS = {FLIGHT: (False, False), FIRST: (True, False), SECOND: (False, True), DOUBLE: (True, True)}
FEET = ("foot1", "foot2")
SLOW = 1e-6  # m/s: a foot that has just left the ground comes down as fast by rounding, and does not meet it
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
class Grounded(HoldsFunctions, ABC):
    """A biped on a ground, of a height [m] or None if feet that fly meet nothing, with a coefficient of `friction`, or
    None for feet that do not slip; `own` picks the value of foot1 or foot2 from those of the first and second leg."""

    biped: PlanarBiped
    friction: float | None = None
    ground: float | None = 0.0
    own: Callable[[State, Array, int], Scalar] = lambda x, values, foot: values[foot]

    @abstractmethod
    def coordinates(self, t: Scalar, x: State) -> tuple[Array, ...]:
        """q, qd, and what else there is."""

    @abstractmethod
    def reactions(self, t: Scalar, x: State, u: Record) -> Array:
        """The forces (4) of the ground."""

    @abstractmethod
    def stands(self, x: State, foot: int) -> Scalar:
        """True if the foot of this index stands."""

    def at(self, x: State) -> Array:
        """The places (4) of the feet that stand."""
        return x.places

    def on(self, x: State) -> Array:
        """1 in the rows (4) of feet that stand, else 0."""
        return np.repeat([where(self.stands(x, foot), 1.0, 0.0) for foot in range(2)], 2)

    def feet(self, t: Scalar, x: State) -> tuple[Array, Array]:
        """Positions and velocities (4)."""
        q, qd, *_ = self.coordinates(t, x)
        at = equations.posture_of_angles(q)
        return equations.feet(self.biped, q, at), equations.feet_jacobian(self.biped, at) @ qd

    def resting(self, t: Scalar, x: State) -> Array:
        """The residuals of feet that stand: how far they are from their places (4), and their velocities (4)."""
        position, velocity = self.feet(t, x)
        return np.concatenate([self.on(x) * (position - self.at(x)), self.on(x) * velocity])

    def coming_down(self, t: Scalar, x: State, foot: int) -> Scalar:
        """The height of a foot above the ground, where it comes down."""
        position, velocity = self.feet(t, x)
        row = 2 * foot + 1
        return where(velocity[row] < -SLOW, position[row] - (self.ground or 0.0), 1.0)

    def places_with(self, t: Scalar, x: State, foot: int) -> Array:
        """The places (4) after a foot has come down where it is."""
        place = self.feet(t, x)[0][2 * foot]
        new = np.stack([place, (self.ground or 0.0) + 0.0 * place])
        return np.concatenate([new, x.places[2:]] if foot == 0 else [x.places[:2], new])

    def grip(self, reactions: Array, foot: int) -> Scalar:
        """The friction [N] that could act beyond what a foot needs."""
        if self.friction is None:
            return 1.0 + 0.0 * reactions[0]
        return self.friction * reactions[2 * foot + 1] - np.abs(reactions[2 * foot]) + self.slight

    def holds(self, reactions: Array, foot: int) -> Scalar:
        """True if a foot presses, and friction holds it."""
        return np.logical_and(reactions[2 * foot + 1] >= 0.0, self.grip(reactions, foot) >= 0.0)

    @property
    def slight(self) -> float:
        """A force [N] that is none, beside the weight."""
        return 1e-9 * self.biped.mass * abs(self.biped.gravity)

    @property
    def constraints(self) -> dict[str, Text]:
        """The conditions of a start: feet at rest, a ground that presses, friction that holds, no foot below it."""
        def pulling(t: Scalar, x: State, u: Record) -> Array:
            normal = self.reactions(t, x, u)[1::2]
            return where(normal < -self.slight, normal, 0.0)

        def sliding(t: Scalar, x: State, u: Record) -> Array:
            left = np.stack([self.grip(self.reactions(t, x, u), foot) for foot in range(2)])
            return where(left < 0.0, left, 0.0)

        def buried(t: Scalar, x: State, u: Record, p: Record) -> Array:
            heights = self.feet(t, x)[0][1::2] - (self.ground or 0.0)
            return where(heights < 0.0, (1.0 - self.on(x)[1::2]) * heights, 0.0)

        found: dict[str, Text] = {"feet that stand": lambda t, x, u, p: self.resting(t, x)}
        for foot, name in enumerate(FEET):
            found[f"ground that would have to pull {name} [N]"] = (
                lambda t, x, u, p, foot=foot: self.own(x, pulling(t, x, u), foot))
            if self.friction is not None:
                found[f"force [N] by which friction does not hold {name}"] = (
                    lambda t, x, u, p, foot=foot: self.own(x, sliding(t, x, u), foot))
        return found if self.ground is None else found | {"foot that is below the ground": buried}

    def energy(self, t: Scalar, x: State, u: Record, p: Record) -> Scalar:
        q, qd, *_ = self.coordinates(t, x)
        return equations.energy(self.biped, q, qd)


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgrammedBody(Grounded):
    """`legs` is the motion of the legs in time, `contacts` the words of `CONTACTS` that occur, each with a condition,
    `places(x)` the places of the feet on the ground, and `clock(t, x)` the time of the program."""

    legs: Callable[[Scalar], tuple[Array, ...]]
    contacts: Mapping[str, Callable[[State], Scalar]]
    places: Callable[[State], Array] = lambda x: x.places
    clock: Callable[[Scalar, State], Scalar] = lambda t, x: t
    relations: Sequence[Relation] = ()

    def at(self, x: State) -> Array:
        return self.places(x)

    def reactions(self, t: Scalar, x: State, u: Record) -> Array:
        return self.gait(t, x).reactions

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
        those = [is_present(x) for word, is_present in self.contacts.items() if CONTACTS[word][foot]]
        return reduce(np.logical_or, those) if those else np.False_

    def project(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        """The hip where the first foot that stands has it."""
        left = self.resting(t, x)
        first = self.stands(x, 0)
        none = np.zeros(1)
        return {"body": x.body - np.concatenate([where(first, left[:2], left[2:4]), none]),
                "rates": x.rates - np.concatenate([where(first, left[4:6], left[6:]), none])}

    def power(self, t: Scalar, x: State, u: Record, p: Record) -> Scalar:
        return self.gait(t, x).torques @ (equations.DRIVES.T @ self.coordinates(t, x)[1])

    def output(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        """The outputs of the first and second leg."""
        q, qd, _ = self.coordinates(t, x)
        gait = self.gait(t, x)
        return {"q": q, "qd": qd, "torques": gait.torques, "reactions": gait.reactions, "feet": self.feet(t, x)[0]}

    def accelerations(self, t: Scalar, x: State) -> Array:
        """The accelerations of the body (3); none where there is trouble."""
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
        raise ModelError(f"a coefficient of friction must be finite and not negative, not {shown(friction)}")


def programmed_gait(biped: PlanarBiped, legs: Legs, ground: float | None, friction: float | None) -> System:
    """State: `body` with its velocity `rates`, and `places`. Modes: `phase` and `trouble`."""
    body = ProgrammedBody(biped, friction, ground, legs=leg_motion(legs),
                          contacts={word: partial(_is_in, word) for word in (FLIGHT, *SUPPORT)})
    events = [each for foot in range(2) for each in _releases(body, foot)]
    if ground is not None:
        events += [each for foot in range(2) for each in _Meeting(body, foot).transitions()]
    return System(
        "gait", state=STATE, modes={"phase": (FLIGHT, *SUPPORT), "trouble": TROUBLES}, outputs=OUTPUTS,
        derivative=lambda t, x, u, p: {"rates": body.accelerations(t, x), "places": 0.0 * x.places},
        output=body.output, power=body.power, project=body.project, constraints=body.constraints, energy=body.energy,
        explain=explain, transitions=events, timed=True)


def _is_in(phase: str, x: State) -> Scalar:
    return x.is_in("phase", phase)


class _Met(NamedTuple):
    """After a foot has met the ground: rates (3) of the body, whether it stands, and whether it leaves at once."""

    rates: Array
    stands: Scalar
    leaves: Scalar


@dataclass(frozen=True, eq=False)
class _Meeting:
    """The outcomes when a foot meets the ground, in flight or while the other stands."""

    body: ProgrammedBody
    foot: int

    def transitions(self) -> list[Transition]:
        own = FEET[self.foot]
        second = FEET[1 - self.foot]
        found = []
        for phase, besides in ((FLIGHT, ""), (SUPPORT[1 - self.foot], f" off {second}")):
            instead = f" in place of {second}" if besides else ""
            found += [self._outcome(f"touch-down of {own}{instead}", phase, lambda met: met.stands,
                                    {"phase": SUPPORT[self.foot]}),
                      self._outcome(f"bounce of {own}{besides}", phase, lambda met: met.leaves, {"phase": FLIGHT}),
                      self._outcome(f"slip of {own}{besides}", phase,
                                    lambda met: np.logical_not(np.logical_or(met.stands, met.leaves)),
                                    {"trouble": f"{own} slides"})]
        return found

    def _outcome(self, name: str, phase: str, is_it: Text, to: dict[str, str]) -> Transition:
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            return where(is_it(self.met(t, x)), self.body.coming_down(t, x, self.foot), 1.0)

        def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
            return {"rates": self.met(t, x).rates, "places": self.body.places_with(t, x, self.foot)}

        return Transition(name, guard, during={"phase": phase, "trouble": "none"}, jump=jump, to=to)

    def met(self, t: Scalar, x: State) -> _Met:
        return kept(x, (self, id(t)), lambda: (t, self._met(t, x)))[1]

    def _met(self, t: Scalar, x: State) -> _Met:
        biped = self.body.biped
        q, qd, legs = self.body.coordinates(t, x)
        change, _, impulses = touch_down(biped, q, qd, self.foot)
        after = qd + change
        reactions = on_one_foot(biped, q, after, legs, self.foot).reactions
        held, stays = (self.body.holds(forces, self.foot) for forces in (impulses, reactions))
        leaves = np.logical_and(reactions[2 * self.foot + 1] < 0.0, _rises(biped, q, after, legs, self.foot, 0.0))
        return _Met(after[:3], np.logical_and(held, stays), np.logical_and(held, leaves))


def _releases(body: ProgrammedBody, foot: int) -> list[Transition]:
    """The outcomes for a foot that stands."""
    def normal_if(up: bool | None) -> Text:
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            normal = body.gait(t, x).reactions[2 * foot + 1]
            if up is None:
                return normal
            rises = _rises(body.biped, *body.coordinates(t, x), foot, normal)
            return where(rises if up else np.logical_not(rises), normal, 1.0)

        return guard

    own = FEET[foot]
    during = {"phase": SUPPORT[foot], "trouble": "none"}
    lost = {"trouble": f"{own} slides"}
    found = [Transition(f"take-off of {own}", normal_if(None if body.ground is None else True), during=during,
                        to={"phase": FLIGHT})]
    if body.ground is not None:
        found.append(Transition(f"slip of {own} from standing", normal_if(False), during=during, to=lost))
    if body.friction is not None:
        found.append(Transition(f"slip of {own} by friction",
                                lambda t, x, u, p: body.grip(body.gait(t, x).reactions, foot), during=during, to=lost))
    return found


def _rises(biped: PlanarBiped, q: Array, qd: Array, legs: Array, foot: int, lift: Scalar) -> Scalar:
    at = equations.posture_of_angles(q)
    row = 2 * foot + 1
    J = equations.feet_jacobian(biped, at)[row]
    qdd = in_flight(biped, q, qd, legs, J * lift).qdd
    return J @ qdd + equations.feet_drift(biped, at, qd[2:])[row] > -SLOW
