"""A biped whose feet stand or do not: contacts that are switched by events.

    touch-down    a foot meets the ground z = 0 and stays: H (qd+ - qd-) = J^T P,  J qd+ = 0 of the feet that stand
    bounce        it meets the ground, with the same impulse, and would have to be pulled afterwards: it leaves at once
    take-off      the normal force of a foot that stands ends, and it rises
    slip          the normal force ends while a horizontal force holds the foot, without which it would go down, or
                  friction, |Rx| <= mu Rz, does not hold it, of an impulse as well: it would have to slide. Sliding is
                  not modelled, and the motion ends there
    H a = f + J^T R,    and of each row of J either R = 0 (in the air), or J a as given (on the ground)
At a touch-down the foot that stood takes part with an impulse of its own, unless that would have to pull, by more than
an impact of a millimetre a second does (feet that are set down do not chatter): then it leaves the ground, as it does
where it would have to pull just afterwards. A start where the ground would have to pull, friction does not hold a foot,
or one is below the ground raises an error. Without a coefficient of friction feet do not slip otherwise; what friction
they need is in `reactions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.machines.walking import biped_equations as equations
from cayley.machines.walking.programmed_body import FEET, SLOW, Grounded
from cayley.systems.layout import Record, State
from cayley.systems.ports import Block, Port
from cayley.systems.system import System
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped


_WORDS = ("air", "ground", "slips")
_LOST = 2  # the number of the last
_GRAZE = 1e-3  # m/s: feet that a slower impact would part do not chatter, but stay


def walking_system(biped: PlanarBiped, friction: float | None = None) -> System:
    """State q, qd and the places (4) of the feet that stand. Modes foot1 and foot2, "air" or "ground"."""
    walker = _Walker(biped, friction)
    return System(
        "walker", state={"q": Block((7,), velocity="qd"), "qd": Block((7,)), "places": Block((4,), "m", default=0.0)},
        inputs={"tau": Port((4,), "N m", default=0.0)},
        outputs={"q": 7, "qd": 7, "feet": (4, "m"), "reactions": (4, "N")}, modes=dict.fromkeys(FEET, _WORDS),
        derivative=walker.derivative, output=walker.output, project=walker.project, constraints=walker.constraints,
        energy=walker.energy, explain=walker.explain, power=lambda t, x, u, p: u.tau @ (equations.DRIVES.T @ x.qd),
        transitions=[*[each for foot in (0, 1) for each in _TouchDown(walker, foot).transitions()],
                     *_releases(walker, 0), *_releases(walker, 1)], timed=False)


@dataclass(frozen=True, eq=False)
class _Walker(Grounded):
    """The texts of a biped under torques."""

    def coordinates(self, t: Scalar, x: State) -> tuple[Array, ...]:
        return x.q, x.qd

    def stands(self, x: State, foot: int) -> Scalar:
        return x.is_in(FEET[foot], "ground")

    def reactions(self, t: Scalar, x: State, u: Record) -> Array:
        return self.dynamics(x, u, self.on(x), x.qd)[1]

    def dynamics(self, x: State, u: Record, on: Array, qd: Array, pushed: Array | float = 0.0) -> tuple[Array, Array]:
        """Accelerations (7), and the forces (4) of the ground on the feet that are `on` it; `pushed`: other generalised
        forces (7)."""
        at = equations.posture_of_angles(x.q)
        f = equations.DRIVES @ u.tau - equations.bias(self.biped, at, qd[2:]) + pushed
        return contacts(self.biped, x.q, on).held(f, -equations.feet_drift(self.biped, at, qd[2:]))

    def rises(self, x: State, u: Record, on: Array, qd: Array, foot: int, lift: Scalar) -> tuple[Scalar, Scalar]:
        """Tell if a foot that the ground lets go moves up, under what is left of its normal force, and whether friction
        still holds the other, if that stands."""
        at = equations.posture_of_angles(x.q)
        row = 2 * foot + 1
        J = equations.feet_jacobian(self.biped, at)[row]
        acceleration, reactions = self.dynamics(x, u, on, qd, J * lift)
        up = J @ acceleration + equations.feet_drift(self.biped, at, qd[2:])[row]
        return up > -SLOW, self.grip(reactions, 1 - foot) >= 0.0

    def derivative(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        lost = np.logical_or(*[x.is_in(foot, "slips") for foot in FEET])
        return {"qd": where(lost, np.nan, self.dynamics(x, u, self.on(x), x.qd)[0]), "places": 0.0 * x.places}

    def output(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        return {"q": x.q, "qd": x.qd, "feet": self.feet(t, x)[0], "reactions": self.reactions(t, x, u)}

    def project(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        q = x.q
        for _ in range(2):
            opening = equations.feet(self.biped, q, equations.posture_of_angles(q)) - x.places
            q = q + contacts(self.biped, q, self.on(x)).held(np.zeros(7), -opening)[0]
        return {"q": q, "qd": impact(self.biped, q, x.qd, self.on(x))[0]}

    def explain(self, x: State) -> str | None:
        for foot in FEET:
            if x[foot] == _LOST:
                return (f"{foot} would have to slide, which is not modelled: friction does not hold it, or its normal "
                        "force ends and a horizontal one not")
        rows = np.repeat([x[foot] == 1 for foot in FEET], 2)
        J = equations.feet_jacobian(self.biped, equations.posture_of_angles(np.asarray(x.q, dtype=float)))[rows]
        if relative_rank(J) == len(J):
            return None
        return "both legs are straight and parallel: how the feet share the load is not determined"


class _Met(NamedTuple):
    """After a foot has met the ground: the velocity, whether this foot and the other one then stand, whether this one
    rises without having slid, and whether friction does not hold the other."""

    qd: Array
    stands: Scalar
    other_stands: Scalar
    rises: Scalar
    other_slips: Scalar


@dataclass(frozen=True, eq=False)
class _TouchDown:
    """The outcomes when a foot meets the ground."""

    walker: _Walker
    foot: int

    def transitions(self) -> list[Transition]:
        return [self.outcome("touch-down of {}", False, "ground", "air"),
                self.outcome("bounce of {}", False, "air", "air"),
                self.outcome("slip of {}", False, "slips", "air"),
                self.outcome("touch-down of {} beside {}", True, "ground", "ground"),
                self.outcome("touch-down of {} in place of {}", True, "ground", "air"),
                self.outcome("bounce of {} beside {}", True, "air", "ground"),
                self.outcome("bounce of {} off {}", True, "air", "air"),
                self.outcome("slip of {} beside {}", True, "slips", "ground"),
                self.outcome("slip of {} off {}", True, "slips", "air"),
                *([self.outcome("touch-down of {} from which {} slips", True, "ground", "slips")]
                  if self.walker.friction is not None else [])]

    def outcome(self, name: str, beside: bool, own_after: str, second_after: str) -> Transition:
        """One outcome, with the other foot standing `beside` or not."""
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            met = self.met(x, u, beside)
            height = self.walker.coming_down(t, x, self.foot)
            lifted = met.rises if own_after == "air" else np.logical_not(met.rises)
            mine = met.stands if own_after == "ground" else np.logical_and(np.logical_not(met.stands), lifted)
            if second_after == "slips":
                return where(met.other_slips, height, 1.0)
            as_meant = np.logical_and(mine, met.other_stands == (second_after == "ground"))
            return where(np.logical_and(as_meant, np.logical_not(met.other_slips)), height, 1.0)

        def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
            return {"qd": self.met(x, u, beside).qd, "places": self.walker.places_with(t, x, self.foot)}

        own, second = FEET[self.foot], FEET[1 - self.foot]
        return Transition(name.format(own, second), guard, jump=jump,
                          during={own: "air", second: "ground" if beside else "air"},
                          to={own: own_after, second: second_after})

    def met(self, x: State, u: Record, beside: bool) -> _Met:
        """Quantities of a state that all outcomes use, traced once."""
        return kept(x, (self, u, beside), lambda: self._met(x, u, beside))

    def _met(self, x: State, u: Record, beside: bool) -> _Met:
        walker = self.walker
        foot = self.foot
        alone = np.repeat(np.eye(2)[foot], 2)
        single, thrust = impact(walker.biped, x.q, x.qd, alone)
        if not beside:
            rises, _ = walker.rises(x, u, np.zeros(4), single, foot, 0.0)
            held = self._is_held(walker.dynamics(x, u, alone, single)[1], thrust, foot)
            return _Met(single, held, np.False_, np.logical_and(rises, walker.grip(thrust, foot) >= 0.0), np.False_)
        together, impulse = impact(walker.biped, x.q, x.qd, np.ones(4))
        presses = impulse[3 - 2 * foot] >= -_GRAZE * walker.biped.mass
        qd = where(presses, together, single)
        on_both = walker.dynamics(x, u, np.ones(4), qd)[1]
        other = np.logical_and(presses, on_both[3 - 2 * foot] >= 0.0)
        reactions = where(other, on_both, walker.dynamics(x, u, alone, qd)[1])
        left = (1.0 - alone) * where(other, 1.0, 0.0)
        rises, grips = walker.rises(x, u, left, qd, foot, 0.0)
        own = where(presses, impulse, thrust)
        stands = self._is_held(reactions, own, foot)
        held = np.logical_and(self._is_held(on_both, impulse, 1 - foot), np.logical_or(stands, grips))
        leaves = np.logical_and(rises, walker.grip(own, foot) >= 0.0)
        return _Met(qd, stands, other, leaves, np.logical_and(other, np.logical_not(held)))

    def _is_held(self, reactions: Array, impulses: Array, foot: int) -> Scalar:
        slack = _GRAZE * self.walker.biped.mass
        return np.logical_and(self.walker.holds(reactions, foot), self.walker.grip(impulses, foot) >= -slack)


def _releases(walker: _Walker, foot: int) -> list[Transition]:
    """The outcomes for a foot that stands: its normal force ends, or friction does not hold it."""
    others = np.repeat(1.0 - np.eye(2)[foot], 2)

    def normal_if(up: bool, other_grips: bool) -> Text:
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            normal = walker.reactions(t, x, u)[2 * foot + 1]
            rises, grips = walker.rises(x, u, others * walker.on(x), x.qd, foot, normal)
            lifted = rises if up else np.logical_not(rises)
            if walker.friction is not None and up:
                lifted = np.logical_and(lifted, grips if other_grips else np.logical_not(grips))
            return where(lifted, normal, 1.0)

        return guard

    own = FEET[foot]
    second = FEET[1 - foot]
    during = {own: "ground"}
    found = [Transition(f"take-off of {own}", normal_if(True, True), during=during, to={own: "air"}),
             Transition(f"slip of {own} from standing", normal_if(False, True), during=during, to={own: "slips"})]
    if walker.friction is not None:
        found += [Transition(f"take-off of {own} from which {second} slips", normal_if(True, False),
                             during={**during, second: "ground"}, to={own: "air", second: "slips"}),
                  Transition(f"slip of {own} by friction",
                             lambda t, x, u, p: walker.grip(walker.reactions(t, x, u), foot),
                             during=during, to={own: "slips"})]
    return found


class Contacts(NamedTuple):
    """The mechanics at one configuration with some feet on the ground: `on` (4) is 1 in the rows of those, else 0."""

    H: Array
    J: Array
    on: Array

    def held(self, f: Array, rates: Array) -> tuple[Array, Array]:
        """a (7) and R (4) of H a = f + J^T R with J a = rates for feet on the ground, R = 0 for those in the air."""
        J = self.on[:, None] * self.J
        # from the shanks to the hip no zero of H is filled
        columns = ldl_solve(self.H[::-1, ::-1], np.concatenate([f[:, None], J.T], axis=1)[::-1])[::-1]
        free = columns[:, 0]
        yielding = columns[:, 1:]
        softness = J @ yielding + np.diag(np.ones(4)) * (1.0 - self.on)
        R = ldl_solve(softness, self.on * (rates - self.J @ free))
        return free + yielding @ R, R


def impact(biped: PlanarBiped, q: Array, qd: Array, on: Array) -> tuple[Array, Array]:
    """The velocity after an impact at which the feet with `on` (4) = 1 come to rest, and the impulses (4) [N s]."""
    held = contacts(biped, q, on)
    change, impulse = held.held(np.zeros(7), -(held.J @ qd))
    return qd + change, impulse


def contacts(biped: PlanarBiped, q: Array, on: Array) -> Contacts:
    at = equations.posture_of_angles(q)
    return Contacts(equations.inertia(biped, at), equations.feet_jacobian(biped, at), on)
