"""A biped whose feet stand or do not: contacts that are switched by events.

    touch-down    a foot meets the ground z = 0 and stays: H (qd+ - qd-) = J^T P,  J qd+ = 0 of the feet that stand
    bounce        it meets the ground, with the same impulse, and would have to be pulled afterwards: it leaves at once
    take-off      the normal force of a foot that stands ends, and it rises
    slip          the normal force ends while a horizontal force holds the foot, without which it would go down, or
                  friction, |Rx| <= mu Rz, does not hold it, of an impulse as well: it would have to slide. Sliding is
                  not modelled, and the motion ends there
At a touch-down the foot that stood takes part with an impulse of its own, unless that would have to pull, by more than
an impact of a millimetre a second does (feet that are set down do not chatter): then it leaves the ground, as it does
where it would have to pull just afterwards. A start where the ground would have to pull, friction does not hold a foot,
or one is below the ground, is refused. Without a coefficient of friction feet do not slip otherwise; what friction they
need is in `reactions`. Rows of feet in the air are replaced by R = 0, so that one text serves all modes.

Feet of a planar biped that are held by the ground: forces and impulses.

    H a = f + J^T R,    and of each row of J either R = 0 (in the air), or J a as given (on the ground)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.machines.walking import biped_equations as equations
from cayley.systems.layout import State
from cayley.systems.ports import Block, Port
from cayley.systems.record import Record
from cayley.systems.system import System
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped


FEET = ("foot1", "foot2")
_WORDS = ("air", "ground", "slips")
_LOST = 2  # the number of the last
_GRAZE = 1e-3  # m/s: feet that a slower impact would part do not chatter, but stay
_SLOW = 1e-6  # m/s: a foot that has just left the ground comes down as fast by rounding, and does not meet it


def walking_system(biped: PlanarBiped, friction: float | None = None) -> System:
    """State q, qd and the places (4) of the feet that stand; modes foot1 and foot2, "air" or "ground"."""
    walker = _Walker(biped, friction)
    steps = [each for foot in (0, 1) for each in _TouchDown(walker, foot).transitions()]
    constraints: dict[str, Text] = {"feet that stand": walker.standing_still}
    for foot, name in enumerate(FEET):
        constraints[f"ground that would have to pull {name} [N]"] = _of_foot(foot, walker.pulling)
        if friction is not None:
            constraints[f"force [N] by which friction does not hold {name}"] = _of_foot(foot, walker.sliding)
    constraints["foot that is below the ground"] = walker.buried
    return System(
        "walker", state={"q": Block((7,), velocity="qd"), "qd": Block((7,)), "places": Block((4,), "m", default=0.0)},
        inputs={"tau": Port((4,), "N m", default=0.0)},
        outputs={"q": 7, "qd": 7, "feet": (4, "m"), "reactions": (4, "N")}, modes=dict.fromkeys(FEET, _WORDS),
        derivative=walker.derivative, output=walker.output, project=walker.project,
        constraints=constraints,
        energy=lambda t, x, u, p: equations.energy(biped, x.q, x.qd), explain=walker.explain,
        power=lambda t, x, u, p: u.tau @ (equations.DRIVES.T @ x.qd),
        transitions=[*steps, *_releases(walker, 0), *_releases(walker, 1)], timed=False)


@dataclass(frozen=True, eq=False)
class _Walker:
    """The texts of a biped whose feet stand or do not."""

    biped: PlanarBiped
    friction: float | None

    def dynamics(self, x: State, u: Record, on: Array, qd: Array) -> tuple[Array, Array]:
        """Accelerations (7), and the forces (4) of the ground on the feet that are `on` it."""
        at = equations.posture_of_angles(x.q)
        f = equations.DRIVES @ u.tau - equations.bias(self.biped, at, qd[2:])
        return contacts(self.biped, x.q, on).held(f, -equations.feet_drift(self.biped, at, qd[2:]))

    def grip(self, reactions: Array, foot: int) -> Scalar:
        """How much more friction could give than a foot needs of it."""
        if self.friction is None:
            return 1.0 + 0.0 * reactions[0]
        return self.friction * reactions[2 * foot + 1] - np.abs(reactions[2 * foot]) + self.slight

    @property
    def slight(self) -> float:
        """A force [N] that is none, beside the weight."""
        return 1e-9 * self.biped.mass * abs(self.biped.gravity)

    def rises(self, x: State, u: Record, on: Array, qd: Array, foot: int, lift: Scalar) -> tuple[Scalar, Scalar]:
        """Tell if a foot that the ground lets go moves up, under what is left of its normal force, and whether friction
        still holds the other, if that stands."""
        at = equations.posture_of_angles(x.q)
        J = equations.feet_jacobian(self.biped, at)
        drift = equations.feet_drift(self.biped, at, qd[2:])
        row = 2 * foot + 1
        f = equations.DRIVES @ u.tau - equations.bias(self.biped, at, qd[2:]) + J[row] * lift
        acceleration, reactions = contacts(self.biped, x.q, on).held(f, -drift)
        return (J @ acceleration + drift)[row] > -_SLOW, self.grip(reactions, 1 - foot) >= 0.0

    def derivative(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        lost = np.logical_or(*[x.is_in(foot, "slips") for foot in FEET])
        return {"qd": where(lost, np.nan, self.dynamics(x, u, _on(x), x.qd)[0]), "places": 0.0 * x.places}

    def output(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        return {"q": x.q, "qd": x.qd, "feet": equations.feet(self.biped, x.q, equations.posture_of_angles(x.q)),
                "reactions": self.dynamics(x, u, _on(x), x.qd)[1]}

    def project(self, t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        q = x.q
        for _ in range(2):
            opening = equations.feet(self.biped, q, equations.posture_of_angles(q)) - x.places
            q = q + contacts(self.biped, q, _on(x)).held(np.zeros(7), -opening)[0]
        return {"q": q, "qd": impact(self.biped, q, x.qd, _on(x))[0]}

    def standing_still(self, t: Scalar, x: State, u: Record, p: Record) -> Array:
        at = equations.posture_of_angles(x.q)
        opening = equations.feet(self.biped, x.q, at) - x.places
        return np.concatenate([_on(x) * opening, _on(x) * (equations.feet_jacobian(self.biped, at) @ x.qd)])

    def pulling(self, t: Scalar, x: State, u: Record, p: Record) -> Array:
        normal = self.dynamics(x, u, _on(x), x.qd)[1][1::2]
        return where(normal < 0.0, normal, 0.0)

    def buried(self, t: Scalar, x: State, u: Record, p: Record) -> Array:
        """How far feet that do not stand are below the ground (2)."""
        heights = equations.feet(self.biped, x.q, equations.posture_of_angles(x.q))[1::2]
        return where(heights < 0.0, (1.0 - _on(x)[1::2]) * heights, 0.0)

    def sliding(self, t: Scalar, x: State, u: Record, p: Record) -> Array:
        reactions = self.dynamics(x, u, _on(x), x.qd)[1]
        left = np.stack([self.grip(reactions, foot) for foot in range(2)])
        return where(left < 0.0, left, 0.0)

    def explain(self, x: State) -> str | None:
        for foot in FEET:
            if x[foot] == _LOST:
                return (f"{foot} would have to slide, which is not modelled: friction does not hold it, or its normal "
                        "force ends and a horizontal one not")
        rows = np.repeat([x[foot] == 1 for foot in FEET], 2)
        J = equations.feet_jacobian(self.biped, equations.posture_of_angles(np.asarray(x.q, dtype=float)))[rows]
        if np.linalg.matrix_rank(J) == len(J):
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
            lifted = met.rises if own_after == "air" else np.logical_not(met.rises)
            mine = met.stands if own_after == "ground" else np.logical_and(np.logical_not(met.stands), lifted)
            if second_after == "slips":
                return where(met.other_slips, self.height(x), 1.0)
            as_meant = np.logical_and(mine, met.other_stands == (second_after == "ground"))
            return where(np.logical_and(as_meant, np.logical_not(met.other_slips)), self.height(x), 1.0)

        def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
            here = equations.feet(self.walker.biped, x.q, equations.posture_of_angles(x.q))
            new = [here[2 * self.foot], 0.0 * here[0]]
            kept = list(x.places)
            places = [*new, *kept[2:]] if self.foot == 0 else [*kept[:2], *new]
            return {"qd": self.met(x, u, beside).qd, "places": np.stack(places)}

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
        presses = reactions[2 * foot + 1] >= 0.0
        if self.walker.friction is None:
            return presses
        slack = _GRAZE * self.walker.biped.mass
        grips = [self.walker.grip(reactions, foot) >= 0.0, self.walker.grip(impulses, foot) >= -slack]
        return np.logical_and(presses, np.logical_and(*grips))

    def height(self, x: State) -> Scalar:
        """Of the foot, where it comes down."""
        at = equations.posture_of_angles(x.q)
        row = 2 * self.foot + 1
        falls = (equations.feet_jacobian(self.walker.biped, at) @ x.qd)[row] < -_SLOW
        return where(falls, equations.feet(self.walker.biped, x.q, at)[row], 1.0)


def _releases(walker: _Walker, foot: int) -> list[Transition]:
    """The outcomes for a foot that stands: its normal force ends, or friction does not hold it."""
    others = np.repeat(1.0 - np.eye(2)[foot], 2)

    def normal_if(up: bool, other_grips: bool) -> Text:
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            normal = walker.dynamics(x, u, _on(x), x.qd)[1][2 * foot + 1]
            rises, grips = walker.rises(x, u, others * _on(x), x.qd, foot, normal)
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
                             lambda t, x, u, p: walker.grip(walker.dynamics(x, u, _on(x), x.qd)[1], foot),
                             during=during, to={own: "slips"})]
    return found


def _on(x: State) -> Array:
    return np.stack([where(x.is_in(foot, "ground"), 1.0, 0.0) for foot in FEET for _ in range(2)])


def _of_foot(foot: int, values: Text) -> Text:
    """One of the two values of a text."""
    return lambda t, x, u, p: values(t, x, u, p)[foot]


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
