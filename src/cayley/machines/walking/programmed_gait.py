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
    SLOW,
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


def programmed_gait(biped: PlanarBiped, legs: Legs, ground: float | None, friction: float | None) -> System:
    """State `body` with its velocity `rates`, and `places`; modes `phase` and `trouble`."""
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
