"""A mechanism with several sets of constraints, one of which holds at a time: brakes, clutches, wheels set down.

    M qdd = f + A^T z,   A qdd + drift = 0             with the rows A of the set that holds
    M (qd+ - qd-) = A^T P,   A qd+ = 0                 where another set begins to hold: the impulse of its constraints
The sets are words of one mode; what switches them are guards in the state and in time, found to the last digits. An
impulse moves nothing: where a constraint is open that is to begin to hold, a run ends, as it would not start there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.dynamics.constrained_mechanics import ConstrainedMechanics
from cayley.dynamics.open_tree import TreeConfigurations, TreeMechanics
from cayley.errors import ConventionError, ModelError, did_you_mean, shown
from cayley.model.tree import Tree
from cayley.systems.layout import Record, State
from cayley.systems.ports import Block, Port
from cayley.systems.system import System
from cayley.systems.transitions import Transition

MODE = "constraints"
_OPEN = 1e-5  # of a row, in radians and parts of the machine: open by more, it cannot begin to hold; float32 locates so


@dataclass(frozen=True)
class Switch(HoldsFunctions):
    """From one set of constraints to another, by their names, when `guard(t, x, u, p)` goes through zero, "rising",
    "falling" or "both"."""

    name: str
    guard: Text
    start: str
    to: str
    direction: str = "rising"


def switched_system(tree: Tree, sets: Mapping[str, Sequence[str]], switches: Sequence[Switch] = ()) -> System:
    """The system of a mechanism of which one of several `sets` of constraints holds at a time: by the name of a set,
    the names of those of its constraints and loops that are in it. The mode `constraints` says which, the first at
    first. Where a set begins to hold, its constraints stop what they do not allow, as the plastic impact that it is. If
    one of them is open then, by more than 1e-5 of its size, the run ends, "not finite", and says which."""
    _check(tree, sets, switches)
    every = [each.name for each in (*tree.loops, *tree.constraints)]
    whole = {word: tree.without_constraints(*[name for name in every if name not in names])
             for word, names in sets.items()}
    mechanics = {word: ConstrainedMechanics.of(part) for word, part in whole.items()}
    first = next(iter(mechanics.values()))
    timed = any(each.is_timed for each in mechanics.values())

    def chosen(x: State, values: Mapping[str, Array]) -> Array:
        found: Array | None = None
        for word, value in values.items():
            found = value if found is None else where(x.is_in(MODE, word), value, found)
        assert found is not None
        return found

    def project(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        states = {word: _projected(each.at(t), x["q"], x["qd"]) for word, each in mechanics.items()}
        return {"q": chosen(x, {word: q for word, (q, _) in states.items()}),
                "qd": chosen(x, {word: qd for word, (_, qd) in states.items()})}

    def explain(x: State) -> str | None:
        word = list(sets)[int(np.ravel(x[MODE])[0])]
        return _why_open(mechanics[word], word, x["q"]) or mechanics[word].why_singular(x["q"])

    return System(
        tree.name,
        state={"q": Block((tree.nq,), manifold=TreeConfigurations(tree), velocity="qd"), "qd": Block((tree.nv,))},
        inputs={"tau": Port((tree.nv,), default=0.0)}, modes={MODE: tuple(sets)},
        derivative=lambda t, x, u, p: chosen(x, {word: each.at(t).acceleration(x.q, x.qd, u.tau)
                                                 for word, each in mechanics.items()}),
        power=lambda t, x, u, p: chosen(x, {word: each.at(t).power(x.q, x.qd, u.tau)
                                            for word, each in mechanics.items()}),
        energy=lambda t, x, u, p: first.energy(x.q, x.qd), project=project,
        constraints=_residuals(mechanics), explain=explain, timed=timed,
        transitions=[Transition(switch.name, switch.guard, switch.direction, during={MODE: switch.start},
                                jump=_impact(mechanics[switch.to]), to={MODE: switch.to}) for switch in switches])


def _check(tree: Tree, sets: Mapping[str, Sequence[str]], switches: Sequence[Switch]) -> None:
    if len(sets) < 1:
        raise ModelError(f"{tree.name} needs a set of constraints at least, an empty one perhaps")
    for switch in switches:
        if not isinstance(switch, Switch) or not callable(switch.guard):
            raise ConventionError(f"the constraints of {tree.name} are switched by Switch(name, guard, start, to), "
                                  f"whose guard is a function (t, x, u, p), not by {shown(switch)}")
        for word in (switch.start, switch.to):
            if word not in sets:
                raise ConventionError(f"switch {switch.name!r} names the constraints {word!r} of {tree.name}"
                                      f"{did_you_mean(word, list(sets))}")
    known = [each.name for each in (*tree.loops, *tree.constraints)]
    for word, names in sets.items():
        for name in names:
            if name not in known:
                raise ModelError(f"the set {word!r} has the constraint {name!r}, which {tree.name} has not"
                                 f"{did_you_mean(name, known)}")


def _projected(mechanics: TreeMechanics, q: Array, qd: Array) -> tuple[Array, Array]:
    return mechanics.projected(q, qd) if isinstance(mechanics, ConstrainedMechanics) else (q, qd)


def _residuals(mechanics: Mapping[str, TreeMechanics]) -> dict[str, Text]:
    return {f"{name}, of {word}": lambda t, x, u, p, text=text, word=word: where(
        x.is_in(MODE, word), np.asarray(text(t, x, u, p)), 0.0)
            for word, each in mechanics.items() for name, text in each.constraints.items()}


def _why_open(mechanics: TreeMechanics, word: str, q: Array) -> str | None:
    """The constraint of a set that is open where it should begin to hold; one that depends on time is not asked."""
    if not isinstance(mechanics, ConstrainedMechanics) or mechanics.is_timed:
        return None
    opening = np.abs(mechanics.relative_residual(np.asarray(q, dtype=float)))
    if not opening.max(initial=0.0) > _OPEN:
        return None
    row = mechanics.used_rows[int(opening.argmax())]
    left = abs(float(mechanics.residual(np.asarray(q, dtype=float))[int(opening.argmax())]))
    return (f"the constraint {row.constraint!r} is open by {left:.3g} ({row.holds}) where the set {word!r} begins to "
            "hold: switch where it is closed")


def _impact(mechanics: TreeMechanics) -> Text | None:
    """The velocities after the impulse of the constraints that begin to hold; NaN where one of them is open."""
    if not isinstance(mechanics, ConstrainedMechanics):
        return None

    def jump(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        at = mechanics.at(t)
        M = at.inertia(x.q)
        qd = at.solved_within(at.jacobian(x.q), M, M @ x.qd, -at.rates(x.q, np.zeros(at.tree.nv)))
        for opening in at.relative_residual(x.q):
            qd = where(np.abs(opening) > _OPEN, np.nan, qd)
        return {"qd": qd}

    return jump
