"""Forces within bounds that hold velocities still: the text of dry friction and of stops.

    M a = f + r     M the inertia (n, n), f the forces (n), a the accelerations, r the reactions
    lower <= r <= upper,  a = 0 where r is between its bounds, a > 0 only where r = lower, a < 0 only where r = upper
    going           how a velocity goes: 1 forwards, -1 backwards, 0 it is held
A reaction that cannot change (lower = upper) holds nothing. M is positive definite, so there is one solution, the
minimum of a'M a / 2 - a'f + sum of bound |a|. It is found by guesses: each round solves for the velocities that go,
holds those that went against their bound, and lets go those whose reaction left its bounds.
Sources: Moreau 1966 (the principle); Kunisch & Rendl 2003 (the rounds)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array


def corrected(M: Array, forces: Array, lower: Array, upper: Array, going: Array) -> tuple[Any, Any]:
    """One round: the accelerations (n) if the velocities go as guessed, and a better guess, the same if it was right.
    """
    acceleration = held_solve(M, forces + where(going > 0, lower, upper), going)
    reaction = M @ acceleration - forces
    freed = where(reaction > upper, -1.0, where(reaction < lower, 1.0, 0.0))
    kept = where(going * acceleration > 0, going, 0.0)
    return acceleration, where(lower < upper, where(going == 0, freed, kept), going)


def after_rounds(M: Array, forces: Array, lower: Array, upper: Array, going: Array, rounds: int) -> Array:
    """The accelerations (n) after some rounds from a guess."""
    found = forces
    for _ in range(rounds):
        found, going = corrected(M, forces, lower, upper, going)
    return found


def held_solve(M: Array, forces: Array, going: Array | float) -> Array:
    """The accelerations (n) of the velocities that go; those that are held have none."""
    moves = going * going
    return inertia_solve(M * np.outer(moves, moves) + np.diag(1.0 - moves), where(going == 0, 0.0, forces))


def inertia_solve(M: Array, forces: Array) -> Array:
    """M^-1 forces, eliminated from the tips of a tree inwards."""
    return ldl_solve(M[::-1, ::-1], forces[::-1])[::-1]
