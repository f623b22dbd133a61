"""A knot of optimal control of the Panda, its dynamics discretised and linearised, beside Crocoddyl, in one run."""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import elsewhere
import page
import robots
from dynamics import figure, flat
from peers import MissingPeer
from summary import times
from tables import Table
from timing import Contestant, Disagreement, OtherPrograms, agree, race

STEP = 1e-2
KNOTS = 100  # of the peer's problem
TOLERANCE = 1e-9


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=10_000, help="knots of a batch")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), []
    arm = cy.load("panda")
    states = robots.random_states(arm, chosen.states)
    contestants = ours(arm, states)
    try:
        contestants += crocoddyl(arm, states, contestants[0].torques())
    except (MissingPeer, Disagreement) as reason:
        missing.append(str(reason))
    ns: dict[str, float] = {}
    for medians in track(race(contestants, chosen.rounds), "rounds", total=chosen.rounds, console=console,
                         transient=True):
        ns = medians
    rows = [[c.title, figure(ns[c.key]), times(ns[c.key] / ns["batch"])] for c in contestants]
    page.write(__file__, [Table("A knot, ns", ["", "ns a knot", "times Cayley, batch"], rows)], rounds=chosen.rounds,
               others=others.cores(), missing=missing, versions=elsewhere.versions())


def ours(arm: cy.Mechanism, states: tuple[np.ndarray, ...]) -> list[Contestant]:
    """The Jacobians of a step of semi-implicit Euler, q + h (v + h a), v + h a, by the state and by the forces."""
    one = np.eye(7)

    @cy.kernel("(7),(7),(7)->(14,14),(14,7)")
    def knot(q, qd, tau):
        _, P, V, D = arm.forward_derivatives(q, qd, tau)
        of_q = np.concatenate([one + STEP**2 * P, STEP * one + STEP**2 * V], axis=1)
        of_v = np.concatenate([STEP * P, one + STEP * V], axis=1)
        return np.concatenate([of_q, of_v]), np.concatenate([STEP**2 * D, STEP * D])

    out = knot(*states)
    batch = {"knot": knot, "x": states, "out": out}
    single = {"knot": knot, "x": tuple(x[0] for x in states)}
    return [
        Contestant("batch", "Cayley, batch", "knot(*x, out=out)", batch, len(states[0]), lambda: flat(out)),
        Contestant("call", "Cayley, one call", "knot(*x)", single, 1, lambda: flat(out))]


def crocoddyl(arm: cy.Mechanism, states: tuple[np.ndarray, ...], expected: np.ndarray) -> list[Contestant]:
    given = {name: x[:KNOTS] for name, x in zip(("q", "v", "a"), states, strict=True)}
    found = elsewhere.process("Crocoddyl").contestants("knot", given, TOLERANCE, step=STEP, **robots.urdf_file(arm))
    for c in found:
        agree(c.title, float(np.abs(c.torques() - expected[:KNOTS]).max()), c.tolerance)
    return found


if __name__ == "__main__":
    main()
