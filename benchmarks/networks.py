"""Chains of bodies as networks beside the default inverse dynamics, for 1 to 50 bodies, in one run. `make bench`."""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import page
from cayley.machines.networks import OpenNetwork
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, check, race

BODIES = (1, 2, 5, 10, 20, 50)
MOST = 3.0  # times the default


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=1000, help="states of a batch")
    chosen = options.parse_args()
    console, others = Console(), OtherPrograms()
    rows, requirements = [], []
    for bodies in BODIES:
        arm = chain(bodies)
        ns: dict[str, float] = {}
        for medians in track(race(line_up(arm, chosen.states), chosen.rounds), f"{bodies} bodies", total=chosen.rounds,
                             console=console, transient=True):
            ns = medians
        ratio = ns["network"] / ns["default"]
        rows.append([str(bodies), f"{ns['default']:.1f}", f"{ns['network']:.1f}", f"{ns['network'] / bodies:.1f}",
                     f"{ratio:.2f}"])
        requirements.append(
            Requirement(f"{bodies} bodies, network beside the default", ratio, MOST, "times the time"))
    headings = ["bodies", "default, ns a state", "network, ns a state", "network, ns a body", "ratio"]
    page.write(__file__, [required(requirements), Table("All", headings, rows)], rounds=chosen.rounds,
               others=others.cores())


def chain(bodies: int) -> cy.Mechanism:
    """A chain of revolute joints with axes and inertias of any kind."""
    rng = np.random.default_rng(bodies)
    parts = [Body("base")]
    joints = []
    for k in range(bodies):
        half = rng.normal(size=(3, 3))
        alpha = rng.uniform(-1.4, 1.4)
        pose = np.eye(4)
        pose[1:3, 1:3] = [[np.cos(alpha), -np.sin(alpha)], [np.sin(alpha), np.cos(alpha)]]
        pose[:3, 3] = [0.3, *rng.uniform(-0.3, 0.3, 2)]
        parts.append(Body(f"link{k}", rng.uniform(0.5, 2.0), rng.normal(size=3), half @ half.T + np.eye(3)))
        joints.append(Joint(f"joint{k}", parts[-2].name, parts[-1].name, Revolute(), pose))
    return cy.Mechanism.of(f"chain of {bodies}", parts, joints)


def line_up(arm: cy.Mechanism, count: int) -> list[Contestant]:
    rng = np.random.default_rng(2026)
    q, qd, qdd = rng.normal(size=(3, count, arm.nv))
    network = OpenNetwork.of(arm.tree)
    names = {"default": arm.inverse_dynamics, "network": network.inverse_dynamics, "q": q, "qd": qd, "qdd": qdd,
             "none": np.zeros((count, 0, 6)), "out": np.empty_like(q)}

    def ours() -> np.ndarray:
        return arm.inverse_dynamics(q, qd, qdd)

    def theirs() -> np.ndarray:
        return network.inverse_dynamics(q, qd, qdd, names["none"])

    scale = np.abs(ours()).max()
    found = [Contestant("default", "the default", "default(q, qd, qdd, out=out)", names, count, ours),
             Contestant("network", "as a network", "network(q, qd, qdd, none, out=out)", names, count, theirs,
                        1e-12 * scale)]
    check(found[1], np.arange(count), ours())
    return found


if __name__ == "__main__":
    main()
