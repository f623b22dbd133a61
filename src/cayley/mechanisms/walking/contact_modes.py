"""A biped whose feet stand or do not: contacts that are switched by events.

    touch-down    a foot meets the ground z = 0 and stays: H (qd+ - qd-) = J^T P,  J qd+ = 0 of the feet that stand
    bounce        it meets the ground, with the same impulse, and would have to be pulled afterwards: it leaves at once
    take-off      the normal force of a foot that stands ends, and it rises
    slip          the normal force ends while a horizontal force holds the foot, without which it would go down: it
                  would have to slide. Sliding is not modelled, and the motion ends there
At a touch-down the foot that stood takes part with an impulse of its own, unless that would have to pull: then it
leaves the ground, as it does where it would have to pull just afterwards. A start where the ground would have to pull
is refused. What friction the feet need is in `reactions`. Rows of feet in the air are replaced by R = 0, so that one
text serves all modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.mechanisms.walking import biped_equations as equations
from cayley.mechanisms.walking.contacts import contacts, impact
from cayley.systems.layout import State
from cayley.systems.ports import Block, Port
from cayley.systems.record import Record
from cayley.systems.system import System
from cayley.systems.transitions import Transition

if TYPE_CHECKING:
    from cayley.mechanisms.walking.planar_biped import PlanarBiped

FEET = ("foot1", "foot2")
_WORDS = ("air", "ground", "slips")
_LOST = 2  # the number of the last
_SLOW = 1e-6  # m/s: a foot that has just left the ground comes down as fast by rounding, and does not meet it


def walking_system(biped: PlanarBiped) -> System:
    """State q, qd and the places (4) of the feet that stand; modes foot1 and foot2, "air" or "ground"."""
    walker = _Walker(biped)
    steps = [each for foot in (0, 1) for each in _TouchDown(walker, foot).transitions()]
    return System(
        "walker", state={"q": Block((7,), velocity="qd"), "qd": Block((7,)), "places": Block((4,), "m", default=0.0)},
        inputs={"tau": Port((4,), "N m", default=0.0)},
        outputs={"q": 7, "qd": 7, "feet": (4, "m"), "reactions": (4, "N")}, modes=dict.fromkeys(FEET, _WORDS),
        derivative=walker.derivative, output=walker.output, project=walker.project,
        constraints={"feet that stand": walker.standing_still, "ground that would have to pull": walker.pulling},
        energy=lambda t, x, u, p: equations.energy(biped, x.q, x.qd), explain=walker.explain,
        power=lambda t, x, u, p: u.tau @ (equations.DRIVES.T @ x.qd),
        transitions=[*steps, *_releases(walker, 0), *_releases(walker, 1)], timed=False)


@dataclass(frozen=True, eq=False)
class _Walker:
    """The texts of a biped whose feet stand or do not."""

    biped: PlanarBiped

    def dynamics(self, x: State, u: Record, on: Array, qd: Array) -> tuple[Array, Array]:
        """Accelerations (7), and the forces (4) of the ground on the feet that are `on` it."""
        at = equations.posture_of_angles(x.q)
        f = equations.DRIVES @ u.tau - equations.bias(self.biped, at, qd[2:])
        return contacts(self.biped, x.q, on).held(f, -equations.feet_drift(self.biped, at, qd[2:]))

    def normal(self, x: State, u: Record, on: Array, qd: Array, foot: int) -> Scalar:
        return self.dynamics(x, u, on, qd)[1][2 * foot + 1]

    def rises(self, x: State, u: Record, on: Array, qd: Array, foot: int, lift: Scalar) -> Scalar:
        """Whether a foot that the ground lets go moves up, under what is left of its normal force."""
        at = equations.posture_of_angles(x.q)
        J = equations.feet_jacobian(self.biped, at)
        drift = equations.feet_drift(self.biped, at, qd[2:])
        row = 2 * foot + 1
        f = equations.DRIVES @ u.tau - equations.bias(self.biped, at, qd[2:]) + J[row] * lift
        acceleration = contacts(self.biped, x.q, on).held(f, -drift)[0]
        return (J @ acceleration + drift)[row] > -_SLOW

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

    def explain(self, x: State) -> str | None:
        for foot in FEET:
            if x[foot] == _LOST:
                return f"{foot} would have to slide, which is not modelled: its normal force ends, a horizontal one not"
        rows = np.repeat([x[foot] == 1 for foot in FEET], 2)
        J = equations.feet_jacobian(self.biped, equations.posture_of_angles(np.asarray(x.q, dtype=float)))[rows]
        if np.linalg.matrix_rank(J) == len(J):
            return None
        return "both legs are straight and parallel: how the feet share the load is not determined"


@dataclass(frozen=True, eq=False)
class _TouchDown:
    """What may happen when a foot meets the ground."""

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
                self.outcome("slip of {} off {}", True, "slips", "air")]

    def outcome(self, name: str, beside: bool, own_after: str, second_after: str) -> Transition:
        """One outcome, with the other foot standing `beside` or not."""
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            _, stands, other_stands, up = self.met(x, u, beside)
            lifted = up if own_after == "air" else np.logical_not(up)
            mine = stands if own_after == "ground" else np.logical_and(np.logical_not(stands), lifted)
            as_meant = np.logical_and(mine, other_stands == (second_after == "ground"))
            return where(as_meant, self.height(x), 1.0)

        def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
            here = equations.feet(self.walker.biped, x.q, equations.posture_of_angles(x.q))
            new = [here[2 * self.foot], 0.0 * here[0]]
            kept = list(x.places)
            places = [*new, *kept[2:]] if self.foot == 0 else [*kept[:2], *new]
            return {"qd": self.met(x, u, beside)[0], "places": np.stack(places)}

        own, second = FEET[self.foot], FEET[1 - self.foot]
        return Transition(name.format(own, second), guard, jump=jump,
                          during={own: "air", second: "ground" if beside else "air"},
                          to={own: own_after, second: second_after})

    def met(self, x: State, u: Record, beside: bool) -> tuple[Array, Scalar, Scalar, Scalar]:
        """The velocity afterwards, whether this foot and the other one then stand, and whether this one rises: what all
        outcomes ask of a state, which is traced once."""
        return kept(x, (self, u, beside), lambda: self._met(x, u, beside))

    def _met(self, x: State, u: Record, beside: bool) -> tuple[Array, Scalar, Scalar, Scalar]:
        walker = self.walker
        foot = self.foot
        alone = np.repeat(np.eye(2)[foot], 2)
        single, _ = impact(walker.biped, x.q, x.qd, alone)
        if not beside:
            stands = walker.normal(x, u, alone, single, foot) >= 0.0
            return single, stands, np.False_, walker.rises(x, u, np.zeros(4), single, foot, 0.0)
        together, impulse = impact(walker.biped, x.q, x.qd, np.ones(4))
        presses = impulse[3 - 2 * foot] >= 0.0
        qd = where(presses, together, single)
        other = np.logical_and(presses, walker.normal(x, u, np.ones(4), qd, 1 - foot) >= 0.0)
        pressing = where(other, walker.normal(x, u, np.ones(4), qd, foot), walker.normal(x, u, alone, qd, foot))
        left = (1.0 - alone) * where(other, 1.0, 0.0)
        return qd, pressing >= 0.0, other, walker.rises(x, u, left, qd, foot, 0.0)

    def height(self, x: State) -> Scalar:
        """Of the foot, where it comes down."""
        at = equations.posture_of_angles(x.q)
        row = 2 * self.foot + 1
        falls = (equations.feet_jacobian(self.walker.biped, at) @ x.qd)[row] < -_SLOW
        return where(falls, equations.feet(self.walker.biped, x.q, at)[row], 1.0)


def _releases(walker: _Walker, foot: int) -> list[Transition]:
    """What may happen where the normal force of a foot that stands ends."""
    others = np.repeat(1.0 - np.eye(2)[foot], 2)

    def normal_if(up: bool) -> Text:
        def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
            normal = walker.normal(x, u, _on(x), x.qd, foot)
            lifted = walker.rises(x, u, others * _on(x), x.qd, foot, normal)
            return where(lifted if up else np.logical_not(lifted), normal, 1.0)

        return guard

    own = FEET[foot]
    return [Transition(f"take-off of {own}", normal_if(True), during={own: "ground"}, to={own: "air"}),
            Transition(f"slip of {own} from standing", normal_if(False), during={own: "ground"}, to={own: "slips"})]


def _on(x: State) -> Array:
    return np.stack([where(x.is_in(foot, "ground"), 1.0, 0.0) for foot in FEET for _ in range(2)])
