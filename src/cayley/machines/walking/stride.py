"""A stride by plan: which feet stand when, legs that move by a program, and legs that change their parts from one
stride to the next.

`legs(s)` is the program over one stride, s the time in it; its "first" leg is leg 1 in the first stride, leg 2 in the
second, and so on. Phases follow each other at their times. Where a foot begins to stand with a velocity, there is an
impulse; the hip follows from the first foot that stands, and the body moves as in `leg_programs`. In double support the
program must close: the second foot, seen from the first, does not move. A plan that cannot be is refused when it is
made, and names the instant; a motion in which the load of a foot vanishes, or friction does not hold it, ends there.
Source: Mladenova 10.1, 10.2; spec S0-67, S0-80."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.errors import UnsupportedError
from cayley.machines.walking.leg_motion import LegMotion, Legs, Relation, leg_motion, on_both_feet, touch_down
from cayley.machines.walking.programmed_body import (
    CONTACTS,
    DOUBLE,
    FEET,
    FIRST,
    FLIGHT,
    OUTPUTS,
    SECOND,
    STATE,
    TROUBLES,
    ProgrammedBody,
    check_friction,
    explain,
)
from cayley.machines.walking.stride_checks import StrideClosure, check_plan, closure
from cayley.showing import brief
from cayley.systems.layout import Record, State
from cayley.systems.ports import Block
from cayley.systems.system import System
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped
    from cayley.machines.walking.stride_checks import RepeatingStride

LEADS = ("leg1", "leg2")
OPPOSITE = {FLIGHT: FLIGHT, FIRST: SECOND, SECOND: FIRST, DOUBLE: DOUBLE}
_PAIRS = np.array([2, 3, 0, 1])  # of the values of the second leg, then of the first
_FEET = np.array([1, 0])
_TORQUES = np.array([1, 0, 3, 2])
_BODY = np.array([0, 1, 2, 5, 6, 3, 4])
_NEAR = 1e-9  # m: a foot that is on the ground


@dataclass(frozen=True, eq=False)
class Stride(HoldsFunctions):
    """A plan for a biped: `legs`, and `phases` of a contact ("flight", "first support", "second support" or "double
    support") and its duration [s]. `relations`: at most two, how the feet share the load in double support, see
    `load_sharing`; `friction`: a coefficient, or None for feet that do not slip. With `repeats` the legs change their
    parts after each stride; without, the last phase goes on."""

    biped: PlanarBiped
    legs: Legs
    phases: Sequence[tuple[str, float]]
    relations: Sequence[Relation] = ()
    friction: float | None = None
    repeats: bool = True
    motion: Kernel[tuple[Array, ...]] = field(init=False, repr=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "motion", leg_motion(self.legs))
        check_friction(self.friction)
        check_plan(self)

    @property
    def duration(self) -> float:
        """The duration of one stride [s]."""
        return self.ends[-1]

    @cached_property
    def ends(self) -> list[float]:
        """The times at which the phases end."""
        return np.cumsum([duration for _, duration in self.phases]).tolist()

    @cached_property
    def starts(self) -> list[float]:
        return [0.0, *self.ends[:-1]]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Names of the phases: their contacts, numbered where one comes again."""
        contacts = [contact for contact, _ in self.phases]
        return tuple(contact if contacts.index(contact) == k else f"{contact} {contacts[:k + 1].count(contact)}"
                     for k, contact in enumerate(contacts))

    def closure(self, samples: int = 65) -> StrideClosure:
        """The precision with which the program closes in double support: what is left of position, velocity and
        acceleration of the second foot, seen from the first, at instants of the stride."""
        return closure(self, samples)

    def start(self, theta: float, rate: float = 0.0, *, at: float = 0.0) -> dict[str, Array]:
        """The state at the start of a stride that begins with a foot on the ground, at x = `at`: the trunk has the
        angle `theta` and its `rate`, all else follows from the program."""
        contact = self.phases[0][0]
        if contact == FLIGHT:
            raise UnsupportedError("a stride that begins in flight has no start that follows from its legs: give "
                                   "`body` and `rates`")
        foot = 2 if contact == SECOND else 1
        stance = self.biped.stance(self.legs, theta=theta, rate=rate, foot=foot, at=at)
        return {name: np.asarray(stance[name]) for name in ("body", "rates", "places")}

    def repeating(self, theta: float = 0.0, rate: float = 0.0) -> RepeatingStride:
        """The angle of the trunk and its rate with which a stride begins that ends as it began, legs exchanged, sought
        from these; see `RepeatingStride`."""
        from cayley.machines.walking.stride_checks import repeating_stride
        return repeating_stride(self, theta, rate)

    # The plan as a system

    @cached_property
    def system(self) -> System:
        """The walk: state `body` (x, z, theta), `rates`, the `places` (4) of the feet that stand and the `clock` of the
        stride. Modes: `phase`, `lead`, the leg that has the first part, and `trouble`. Outputs q, qd, torques,
        reactions and feet, of leg 1 and leg 2 whichever leads."""
        constraints = {**self._body.constraints, **self.held_system.constraints}
        return replace(self.held_system, constraints=constraints, transitions=[*self._changes(), *self._troubles()])

    @cached_property
    def held_system(self) -> System:
        """The same with feet that the ground holds whatever the forces are."""
        body = self._body
        return System(
            "stride", state={**STATE, "clock": Block((), "s", default=0.0)},
            modes={"phase": self.words, "lead": LEADS, "trouble": TROUBLES}, outputs=OUTPUTS, output=self._output,
            derivative=lambda t, x, u, p: {"rates": body.accelerations(t, x), "places": 0.0 * x.places,
                                           "clock": 1.0 + 0.0 * x.clock},
            power=body.power, project=body.project, energy=body.energy, explain=self._explain, timed=False,
            constraints={"feet that stand": lambda t, x, u, p: body.resting(t, x)}, transitions=self._changes())

    @cached_property
    def _body(self) -> ProgrammedBody:
        """The body in the parts of the program: what it calls its first leg is first here."""
        contacts = {contact: self._in_contact(contact) for contact, _ in self.phases}
        return ProgrammedBody(
            self.biped, self.friction, None, lambda x, values, foot: _by_lead(x, values, _FEET)[foot],
            legs=self._within, contacts=contacts, places=lambda x: _by_lead(x, x.places, _PAIRS),
            clock=lambda t, x: x.clock, relations=self.relations)

    def _within(self, s: Scalar) -> LegMotion:
        """The motion of the legs; steps that look beyond the end of a stride find them going on, though the program may
        not."""
        if not self.repeats:
            return LegMotion(*self.motion(s))
        inside = np.minimum(s, self.duration)
        beyond = s - inside
        angles, rates, accelerations = self.motion(inside)
        return LegMotion(angles + beyond * (rates + beyond / 2 * accelerations), rates + beyond * accelerations,
                         accelerations)

    def _explain(self, x: State) -> str | None:
        """The reason why a motion stopped; two relations are to blame where the load could be shared without them."""
        trouble = explain(x)
        is_double = self.phases[int(x["phase"])][0] == DOUBLE
        if trouble or not is_double or len(self.relations) < 2:
            return trouble
        if np.isfinite(self._body.gait_in(DOUBLE, 0.0, x).torques).all():
            return None
        alone = on_both_feet(self.biped, *self._body.coordinates(0.0, x), np.zeros((0, 9)), np.zeros(0))
        if not np.isfinite(alone.torques).all():
            return None
        return ("the two relations do not say how the feet share the load: they are the same, or tied by the moments, "
                "as the trunk's angle and the share of the vertical load are on level ground. Give one of them, and a "
                "horizontal force such as `shared_thrust`")

    def _in_contact(self, contact: str) -> Text:
        words = [word for word, (each, _) in zip(self.words, self.phases, strict=True) if each == contact]
        return lambda x: reduce(np.logical_or, [x.is_in("phase", word) for word in words])

    def _output(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        orders = {"q": _BODY, "qd": _BODY, "torques": _TORQUES, "reactions": _PAIRS, "feet": _PAIRS}
        return {name: _by_lead(x, value, orders[name]) for name, value in self._body.output(t, x, u, p).items()}

    # From phase to phase

    def _changes(self) -> list[Transition]:
        found = [self._change(k, k + 1, self.words[k + 1], {}) for k in range(len(self.phases) - 1)]
        if self.repeats:
            found += [self._change(len(self.phases) - 1, 0, f"stride of {following}", {"lead": (lead, following)})
                      for lead, following in zip(LEADS, reversed(LEADS), strict=True)]
        return found

    def _change(self, before: int, after: int, name: str, leads: Mapping[str, tuple[str, str]]) -> Transition:
        """From one phase to another; feet that begin to stand do so where they are."""
        contact = OPPOSITE[self.phases[after][0]] if leads else self.phases[after][0]
        during = {"phase": self.words[before], "trouble": "none"} | {mode: one for mode, (one, _) in leads.items()}
        to = {"phase": self.words[after]} | {mode: other for mode, (_, other) in leads.items()}
        standing = CONTACTS[self.phases[before][0]]
        landing = [foot for foot in range(2) if CONTACTS[contact][foot] and not standing[foot]]

        def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
            q, qd, _ = self._body.coordinates(t, x)
            here = self._body.feet(t, x)[0]
            places = list(self._body.places(x))
            for foot in landing:
                height = here[2 * foot + 1]
                places[2 * foot:2 * foot + 2] = [here[2 * foot], where(np.abs(height) <= _NEAR, 0.0, height)]
            rates = x.rates
            if any(CONTACTS[contact]):
                alone = None if contact == DOUBLE else 0 if contact == FIRST else 1
                rates = rates + touch_down(self.biped, q, qd, alone).qdd[:3]
            return {"rates": rates, "places": _by_lead(x, np.stack(places), _PAIRS),
                    "clock": self.starts[after] + 0.0 * x.clock}

        return Transition(name, lambda t, x, u, p: self.ends[before] - x.clock, during=during, jump=jump, to=to)

    # What ends a motion

    def _troubles(self) -> list[Transition]:
        found = []
        for foot in range(2):
            found.append(self._trouble(foot, "is unloaded", self._load))
            if self.friction is not None:
                found.append(self._trouble(foot, "slides", self._grip))
            if FLIGHT in self._body.contacts:
                found.append(self._trouble(foot, "meets the ground", self._height))
                found.append(self._trouble(foot, "is off the ground", self._level))
        return found

    def _trouble(self, foot: int, word: str, value: Text) -> Transition:
        """The transition to trouble of a foot. What is wrong at once in a phase is found just after its beginning."""
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            began = sum(where(x.is_in("phase", each), start, 0.0)
                        for each, start in zip(self.words, self.starts, strict=True))
            here = where(x.is_in("lead", LEADS[0]), value(t, x, foot), value(t, x, 1 - foot))
            return where(x.clock > began, here, 1.0)

        return Transition(f"{FEET[foot]} {word}", guard, during={"trouble": "none"},
                          to={"trouble": f"{FEET[foot]} {word}"})

    def _load(self, t: Scalar, x: State, foot: int) -> Scalar:
        load = self._body.gait(t, x).reactions[2 * foot + 1] + self._body.slight
        return where(self._body.stands(x, foot), load, 1.0)

    def _grip(self, t: Scalar, x: State, foot: int) -> Scalar:
        return where(self._body.stands(x, foot), self._body.grip(self._body.gait(t, x).reactions, foot), 1.0)

    def _level(self, t: Scalar, x: State, foot: int) -> Scalar:
        off = np.abs(self._body.places(x)[2 * foot + 1]) > _NEAR
        return where(np.logical_and(self._body.stands(x, foot), off), -1.0, 1.0)

    def _height(self, t: Scalar, x: State, foot: int) -> Scalar:
        return where(self._body.contacts[FLIGHT](x), self._body.feet(t, x)[0][2 * foot + 1] + _NEAR, 1.0)


def _by_lead(x: State, values: Array, exchanged: Array) -> Array:
    """Values by the parts of the program as those of leg 1 and leg 2, or the other way round."""
    return where(x.is_in("lead", LEADS[0]), values, values[exchanged])
