"""A text of inverse dynamics, run once on counting scalars: what it costs, equation by equation, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.accounting.counting_scalar import Cost, Tape, values
from cayley.dynamics.accounting.formulas import Figures, fitted
from cayley.dynamics.inverse.methods import METHODS
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.methods import Method
from cayley.errors import ConventionError, SignatureError
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree
from cayley.showing import brief

GENERAL = 0.7  # [rad], a twist like any other


def generic_arm(twists: Sequence[float], kinds: str = "", *, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> Tree:
    """An arm with the given twists (n) [rad]; all other numbers are arbitrary, none is 0 or 1. The offsets between the
    links have three components, as the published counts assume; in Denavit-Hartenberg frames a twist of 0 or 90 degrees
    makes one of them zero. `kinds` has a letter for each joint, R or P; by default all are revolute.

    >>> generic_arm([GENERAL, 0.0, np.pi / 2], "RPR").nv
    3
    """
    check_kinds(kinds, len(twists) if kinds else 0)
    random = np.random.default_rng(len(twists))
    bodies = [Body("base")]
    joints = []
    for number, (twist, kind) in enumerate(zip(twists, kinds or "R" * len(twists), strict=True), 1):
        spread = random.uniform(0.1, 0.9, (3, 3))
        inertia = spread @ spread.T + np.diag(random.uniform(0.1, 0.9, 3))
        bodies.append(Body(f"link{number}", random.uniform(1.2, 3.0), random.uniform(0.1, 0.8, 3), inertia))
        motion = Revolute() if kind == "R" else Prismatic()
        joints.append(
            Joint(f"joint{number}", bodies[-2].name, bodies[-1].name, motion,
                  _twisted(twist, random.uniform(0.2, 0.9, 3))))
    return Tree.of(f"generic arm of {len(joints)} joints", bodies, joints, gravity=tuple(gravity))


def check_joints(n: int) -> None:
    """Check that an arm whose operations are counted has a joint."""
    if not isinstance(n, int) or n < 1:
        raise SignatureError(f"operations are counted of an arm with one joint or more, not of {n!r}")


def check_kinds(kinds: str, n: int) -> None:
    """Check that there is a letter, R or P, for each of n joints."""
    if len(kinds) != n or set(kinds) - set("RP"):
        raise ConventionError(f"joints that are counted are R, revolute, or P, prismatic, a letter for each of {n}: "
                              f"not {kinds!r}")


def _twisted(twist: float, offset: Array) -> Array:
    pose = np.eye(4)
    c = np.cos(twist)
    s = np.sin(twist)
    pose[1:3, 1:3] = [[c, -s], [s, c]]
    pose[:3, 3] = offset
    return pose


Text = Callable[[Links, Any, Any, Any], Any]


@dataclass(frozen=True, eq=False)
class CountedRun:
    """Operations by equation of a text for one chain: `written`, all that the text does, and `needed`, what its result
    depends on. `tau` (n) is the result of the counted run itself."""

    written: dict[str, Cost]
    needed: dict[str, Cost]
    tau: Array

    __repr__ = brief


def count_operations(inverse_dynamics: Text, links: Links, state: Sequence[ArrayLike] | None = None) -> CountedRun:
    """Run a text of `cayley.dynamics.inverse` on counting scalars. `state`: q, qd, qdd; counts do not depend on it
    (unless the text selects by value), so by default it is one without accidental zeros.

    >>> import cayley as cy
    >>> from cayley.dynamics.inverse import screws
    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> total(count_operations(screws.inverse_dynamics, serial_chain(cy.load("s1_f2").tree)).needed)
    Cost(multiplications=29, additions=18, divisions=0, functions=4)
    """
    return _counted(partial(inverse_dynamics, links), generic_state(links.nv) if state is None else state)


def operations_by_equation(method: str, tree: Tree, *, written: bool = False) -> dict[str, Cost]:
    """The cost of each equation of a method for one mechanism, its zeros, ones and right angles used. `method` is a
    name of `arm.inverse_dynamics.methods`. `written`: with all that the text does, needed or not."""
    run = _counted(named(method).text(tree, "inverse_dynamics"), generic_state(tree.nv))
    return run.written if written else run.needed


def nothing_idle(method: str, *, twist: float = GENERAL, kind: str = "R") -> dict[str, Figures]:
    """The cost of each equation of a method, as formulas of n, with nothing computed that is zero or not needed. All
    joints are of one `kind`, R or P, and have the same twist. For other arms there are numbers, by
    `operations_by_equation`, but no formulas of n. A division counts as a multiplication.

    >>> str(nothing_idle("tensor-newton-euler")["5.3.7a"])
    '8n-12, 5n-9'
    """
    return dict(_nothing_idle(method, twist, kind))


@cache
def _nothing_idle(method: str, twist: float, kind: str) -> dict[str, Figures]:
    return fitted(lambda n: with_divisions(operations_by_equation(method, generic_arm([twist] * n, kind * n))))


def named(method: str) -> Method:
    """The method of a name; an unknown name is an error that lists the known ones."""
    if method not in METHODS:
        raise ConventionError(
            f"there is no method {method!r} of inverse dynamics: the methods are {', '.join(METHODS)}")
    return METHODS[method]


def generic_state(n: int) -> tuple[Array, Array, Array]:
    """A state (q, qd, qdd) without zeros."""
    k = np.arange(1, n + 1)
    return np.sin(1.7 * k) + 0.1, np.cos(2.3 * k) + 0.05, np.sin(3.1 * k + 0.4) - 0.07


def total(costs: Mapping[str, Cost]) -> Cost:
    """The sum over the equations."""
    return Cost(*map(sum, zip(*costs.values(), strict=True))) if costs else Cost()


def _counted(text: Callable[[Any, Any, Any], Any], state: Sequence[ArrayLike] | Array) -> CountedRun:
    tape = Tape()
    tau: Array = np.asarray(text(*[tape.inputs(x) for x in state]), dtype=object)
    return CountedRun(tape.costs(), tape.costs(tau), values(tau))


def with_divisions(costs: Mapping[str, Cost]) -> dict[str, Cost]:
    """The costs, divisions counted as multiplications."""
    return {
        equation: cost._replace(multiplications=cost.multiplications + cost.divisions)
        for equation, cost in costs.items()}
