"""Semi-inverse gait in time: the angles of the legs are functions of the time, the body follows, events switch feet.

    touch-down    a foot comes down and stays; its impulse changes the velocity of the body, while the legs follow their
                  program. A foot that stood then rises: the legs part them
    bounce        it comes down, with the same impulse, and would have to be pulled afterwards: it leaves at once
    take-off      the normal force of the foot that stands ends, and it rises
    slip          friction does not hold it, or its normal force ends under a horizontal one: the motion ends there
Without a ground to meet, feet that fly go where the program leads them, and every end of a normal force is a take-off.
A start where the ground would have to pull is refused. Feet that come to rest on the ground without a velocity are a
matter of plans, not of events: see `stride`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.machines.walking import biped_equations as equations
from cayley.machines.walking.leg_motion import Legs, in_flight, leg_motion, on_one_foot, touch_down
from cayley.machines.walking.programmed_body import (
    FEET,
    FIRST,
    FLIGHT,
    OUTPUTS,
    SECOND,
    STATE,
    TROUBLES,
    ProgrammedBody,
    explain,
)
from cayley.systems.layout import State
from cayley.systems.record import Record
from cayley.systems.system import System
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped

SUPPORT = (FIRST, SECOND)
_SLOW = 1e-6  # m/s: a foot that has just left the ground comes down as fast by rounding, and does not meet it


def programmed_gait(biped: PlanarBiped, legs: Legs, ground: float | None, friction: float | None) -> System:
    """State `body` with its velocity `rates`, and `places`; modes `phase` and `trouble`."""
    body = ProgrammedBody(biped, leg_motion(legs), {word: partial(_is_in, word) for word in (FLIGHT, *SUPPORT)})

    def output(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        q, qd, _ = body.coordinates(t, x)
        gait = body.gait(t, x)
        return {"q": q, "qd": qd, "torques": gait.torques, "reactions": gait.reactions, "feet": body.feet(t, x)[0]}

    events = [each for foot in range(2) for each in _releases(body, foot, ground, friction)]
    if ground is not None:
        events += [each for foot in range(2) for each in _Meeting(body, foot, ground, friction).transitions()]
    constraints: dict[str, Text] = {"foot that stands": lambda t, x, u, p: body.resting(t, x)}
    for foot, name in enumerate(FEET):
        constraints[f"ground that would have to pull {name} [N]"] = (
            lambda t, x, u, p, foot=foot: body.pulling(t, x)[foot])
        if friction is not None:
            constraints[f"force [N] by which friction does not hold {name}"] = (
                lambda t, x, u, p, foot=foot: body.sliding(t, x, friction)[foot])
    if ground is not None:
        constraints["foot that is below the ground"] = lambda t, x, u, p: body.buried(t, x, ground)
    return System(
        "gait", state=STATE, modes={"phase": (FLIGHT, *SUPPORT), "trouble": TROUBLES}, outputs=OUTPUTS, output=output,
        derivative=lambda t, x, u, p: {"rates": body.accelerations(t, x), "places": 0.0 * x.places},
        power=lambda t, x, u, p: body.power(t, x), project=lambda t, x, u, p: body.project(t, x),
        constraints=constraints,
        energy=lambda t, x, u, p: body.energy(t, x), explain=explain, transitions=events, timed=True)


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
    ground: float
    friction: float | None

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
            return where(is_it(self.met(t, x)), self.height(t, x), 1.0)

        def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
            place = self.body.feet(t, x)[0][2 * self.foot]
            new = np.stack([place, self.ground + 0.0 * place])
            places = (new, x.places[2:]) if self.foot == 0 else (x.places[:2], new)
            return {"rates": self.met(t, x).rates, "places": np.concatenate(places)}

        return Transition(name, guard, during={"phase": phase, "trouble": "none"}, jump=jump, to=to)

    def height(self, t: Scalar, x: State) -> Scalar:
        """Of the foot, where it comes down."""
        position, velocity = self.body.feet(t, x)
        row = 2 * self.foot + 1
        return where(velocity[row] < -_SLOW, position[row] - self.ground, 1.0)

    def met(self, t: Scalar, x: State) -> _Met:
        return kept(x, (self, id(t)), lambda: (t, self._met(t, x)))[1]

    def _met(self, t: Scalar, x: State) -> _Met:
        biped = self.body.biped
        q, qd, legs = self.body.coordinates(t, x)
        change, _, impulses = touch_down(biped, q, qd, self.foot)
        after = qd + change
        reactions = on_one_foot(biped, q, after, legs, self.foot).reactions
        held = self._is_held(impulses)
        leaves = np.logical_and(reactions[2 * self.foot + 1] < 0.0, _rises(biped, q, after, legs, self.foot, 0.0))
        return _Met(after[:3], np.logical_and(held, self._is_held(reactions)), np.logical_and(held, leaves))

    def _is_held(self, reactions: Array) -> Scalar:
        along = reactions[2 * self.foot]
        up = reactions[2 * self.foot + 1]
        presses = up >= 0.0
        return presses if self.friction is None else np.logical_and(presses, np.abs(along) <= self.friction * up)


def _releases(body: ProgrammedBody, foot: int, ground: float | None, friction: float | None) -> list[Transition]:
    """The outcomes for a foot that stands."""
    def normal(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
        return body.gait(t, x).reactions[2 * foot + 1]

    def rising(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
        up = normal(t, x, u, p)
        return where(_rises(body.biped, *body.coordinates(t, x), foot, up), up, 1.0)

    def sinking(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
        up = normal(t, x, u, p)
        return where(_rises(body.biped, *body.coordinates(t, x), foot, up), 1.0, up)

    own = FEET[foot]
    during = {"phase": SUPPORT[foot], "trouble": "none"}
    lost = {"trouble": f"{own} slides"}
    leaving = normal if ground is None else rising
    found = [Transition(f"take-off of {own}", leaving, during=during, to={"phase": FLIGHT})]
    if ground is not None:
        found.append(Transition(f"slip of {own} from standing", sinking, during=during, to=lost))
    if friction is not None:
        grip = lambda t, x, u, p: body.grip(t, x, foot, friction) + body.slight  # noqa: E731
        found.append(Transition(f"slip of {own} by friction", grip, during=during, to=lost))
    return found


def _rises(biped: PlanarBiped, q: Array, qd: Array, legs: Array, foot: int, lift: Scalar) -> Scalar:
    at = equations.posture_of_angles(q)
    row = 2 * foot + 1
    J = equations.feet_jacobian(biped, at)[row]
    qdd = in_flight(biped, q, qd, legs, J * lift).qdd
    return J @ qdd + equations.feet_drift(biped, at, qd[2:])[row] > -_SLOW
