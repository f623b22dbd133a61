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

from typing import TYPE_CHECKING

import numpy as np

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
    def dynamics(x: State, u: Record, on: Array, qd: Array) -> tuple[Array, Array]:
        at = equations.posture_of_angles(x.q)
        f = equations.DRIVES @ u.tau - equations.bias(biped, at, qd[2:])
        return contacts(biped, x.q, on).held(f, -equations.feet_drift(biped, at, qd[2:]))

    def derivative(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        lost = np.logical_or(*[x.is_in(foot, "slips") for foot in FEET])
        return {"qd": where(lost, np.nan, dynamics(x, u, _on(x), x.qd)[0]), "places": 0.0 * x.places}

    def rises(x: State, u: Record, on: Array, qd: Array, foot: int, lift: Scalar) -> Scalar:
        """Whether a foot that the ground lets go moves up, under what is left of its normal force."""
        at = equations.posture_of_angles(x.q)
        J = equations.feet_jacobian(biped, at)
        drift = equations.feet_drift(biped, at, qd[2:])
        row = 2 * foot + 1
        f = equations.DRIVES @ u.tau - equations.bias(biped, at, qd[2:]) + J[row] * lift
        acceleration = contacts(biped, x.q, on).held(f, -drift)[0]
        return (J @ acceleration + drift)[row] > -_SLOW

    def output(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        return {"q": x.q, "qd": x.qd, "feet": equations.feet(biped, x.q, equations.posture_of_angles(x.q)),
                "reactions": dynamics(x, u, _on(x), x.qd)[1]}

    def project(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        q = x.q
        for _ in range(2):
            opening = equations.feet(biped, q, equations.posture_of_angles(q)) - x.places
            q = q + contacts(biped, q, _on(x)).held(np.zeros(7), -opening)[0]
        return {"q": q, "qd": impact(biped, q, x.qd, _on(x))[0]}

    def touch_down(foot: int) -> list[Transition]:
        own, second = FEET[foot], FEET[1 - foot]
        alone = np.repeat(np.eye(2)[foot], 2)

        def normal(x: State, u: Record, on: Array, qd: Array, which: int) -> Scalar:
            return dynamics(x, u, on, qd)[1][2 * which + 1]

        def met(x: State, u: Record, beside: bool) -> tuple[Array, Scalar, Scalar, Scalar]:
            """The velocity afterwards, whether this foot and the other one then stand, and whether this one rises."""
            single, _ = impact(biped, x.q, x.qd, alone)
            if not beside:
                stands = normal(x, u, alone, single, foot) >= 0.0
                return single, stands, np.False_, rises(x, u, np.zeros(4), single, foot, 0.0)
            together, impulse = impact(biped, x.q, x.qd, np.ones(4))
            presses = impulse[3 - 2 * foot] >= 0.0
            qd = where(presses, together, single)
            other = np.logical_and(presses, normal(x, u, np.ones(4), qd, 1 - foot) >= 0.0)
            pressing = where(other, normal(x, u, np.ones(4), qd, foot), normal(x, u, alone, qd, foot))
            left = (1.0 - alone) * where(other, 1.0, 0.0)
            return qd, pressing >= 0.0, other, rises(x, u, left, qd, foot, 0.0)

        def height(x: State) -> Scalar:
            """Of the foot, where it comes down."""
            at = equations.posture_of_angles(x.q)
            row = 2 * foot + 1
            falls = (equations.feet_jacobian(biped, at) @ x.qd)[row] < -_SLOW
            return where(falls, equations.feet(biped, x.q, at)[row], 1.0)

        def outcome(name: str, beside: bool, own_after: str, second_after: str) -> Transition:
            def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
                _, stands, other_stands, up = met(x, u, beside)
                lifted = up if own_after == "air" else np.logical_not(up)
                mine = stands if own_after == "ground" else np.logical_and(np.logical_not(stands), lifted)
                as_meant = np.logical_and(mine, other_stands == (second_after == "ground"))
                return where(as_meant, height(x), 1.0)

            def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
                here = equations.feet(biped, x.q, equations.posture_of_angles(x.q))
                new = [here[2 * foot], 0.0 * here[0]]
                kept = list(x.places)
                places = [*new, *kept[2:]] if foot == 0 else [*kept[:2], *new]
                return {"qd": met(x, u, beside)[0], "places": np.stack(places)}

            return Transition(name.format(own, second), guard, jump=jump,
                              during={own: "air", second: "ground" if beside else "air"},
                              to={own: own_after, second: second_after})

        return [outcome("touch-down of {}", False, "ground", "air"), outcome("bounce of {}", False, "air", "air"),
                outcome("slip of {}", False, "slips", "air"),
                outcome("touch-down of {} beside {}", True, "ground", "ground"),
                outcome("touch-down of {} in place of {}", True, "ground", "air"),
                outcome("bounce of {} beside {}", True, "air", "ground"),
                outcome("bounce of {} off {}", True, "air", "air"),
                outcome("slip of {} beside {}", True, "slips", "ground"),
                outcome("slip of {} off {}", True, "slips", "air")]

    def release(foot: int) -> list[Transition]:
        others = np.repeat(1.0 - np.eye(2)[foot], 2)

        def normal_if(up: bool) -> Text:
            def guard(t: Scalar, x: State, u: Record, p: Record) -> Scalar:
                normal = dynamics(x, u, _on(x), x.qd)[1][2 * foot + 1]
                lifted = rises(x, u, others * _on(x), x.qd, foot, normal)
                return where(lifted if up else np.logical_not(lifted), normal, 1.0)

            return guard

        own = FEET[foot]
        return [Transition(f"take-off of {own}", normal_if(True), during={own: "ground"}, to={own: "air"}),
                Transition(f"slip of {own} from standing", normal_if(False), during={own: "ground"}, to={own: "slips"})]

    def standing_still(t: Scalar, x: State, u: Record, p: Record) -> Array:
        at = equations.posture_of_angles(x.q)
        opening = equations.feet(biped, x.q, at) - x.places
        return np.concatenate([_on(x) * opening, _on(x) * (equations.feet_jacobian(biped, at) @ x.qd)])

    def pulling(t: Scalar, x: State, u: Record, p: Record) -> Array:
        normal = dynamics(x, u, _on(x), x.qd)[1][1::2]
        return where(normal < 0.0, normal, 0.0)

    def explain(x: State) -> str | None:
        for foot in FEET:
            if x[foot] == _LOST:
                return f"{foot} would have to slide, which is not modelled: its normal force ends, a horizontal one not"
        rows = np.repeat([x[foot] == 1 for foot in FEET], 2)
        J = equations.feet_jacobian(biped, equations.posture_of_angles(np.asarray(x.q, dtype=float)))[rows]
        if np.linalg.matrix_rank(J) == len(J):
            return None
        return "both legs are straight and parallel: how the feet share the load is not determined"

    return System(
        "walker", state={"q": Block((7,), velocity="qd"), "qd": Block((7,)), "places": Block((4,), "m")},
        inputs={"tau": Port((4,), "N m", default=0.0)},
        outputs={"q": 7, "qd": 7, "feet": (4, "m"), "reactions": (4, "N")}, modes=dict.fromkeys(FEET, _WORDS),
        derivative=derivative, output=output, project=project,
        constraints={"feet that stand": standing_still, "ground that would have to pull": pulling},
        energy=lambda t, x, u, p: equations.energy(biped, x.q, x.qd), explain=explain,
        power=lambda t, x, u, p: u.tau @ (equations.DRIVES.T @ x.qd),
        transitions=[*touch_down(0), *touch_down(1), *release(0), *release(1)])


def _on(x: State) -> Array:
    return np.stack([where(x.is_in(foot, "ground"), 1.0, 0.0) for foot in FEET for _ in range(2)])
