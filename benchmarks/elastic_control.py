"""The linearising law of arms with elastic joints, from Python, in C and in a batch, beside CasADi. `make bench`."""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import page
from cayley.control import FeedbackLinearisation
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from peers import COMPILER_FLAGS, MissingPeer, compiled_c
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, check, race

JOINTS = 6
CHECKED = 20
CALLS = 1000  # of the C function, in a loop of its own
LOOP = """
#include "law.h"
void loop(const double *q, const double *qd, const double *v, double *tau)
{
    for (int k = 0; k < %d; k++) law(q + %d * k, qd + %d * k, v + %d * k, tau + %d * k);
}
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=15, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=10_000, help="states of a batch")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), set()
    rows, requirements = [], []
    for name, arm in (("Puma 560", cy.load("puma560")), ("6R, full inertia tensors", general_arm())):
        soft = elastic(arm)
        law = FeedbackLinearisation(soft, [-10.0] * 4).law
        state = states(chosen.states)
        contestants = [*ours(law, *state), in_c(law, *state)]
        try:
            contestants.append(casadi(arm, *state))
        except (ImportError, MissingPeer) as error:
            missing.add(f"CasADi: {error}")
        expected = law(*state)
        for contestant in contestants:
            check(contestant, np.arange(CHECKED), expected)
        ns: dict[str, float] = {}
        for medians in track(race(contestants, chosen.rounds), name, total=chosen.rounds, console=console,
                             transient=True):
            ns = medians
        rows += [[name, c.title, f"{ns[c.key]:.0f}"] for c in contestants]
        rows.append([name, f"operations: {law.operations()}", ""])
        requirements += [Requirement(f"{name}, {words}", ns[key] / 1000, 5.0, "us")
                         for key, words in (("call", "one call from Python"), ("C", "one call in C"))]
    tables = [required(requirements),
              Table("All", ["", "", "ns a state"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def general_arm() -> cy.Mechanism:
    """Six revolute joints about skew axes, with full tensors of inertia."""
    rng = np.random.default_rng(6)
    bodies, joints = [Body("base")], []
    for i in range(JOINTS):
        points = rng.normal(size=(4, 3)) * 0.2
        bodies.append(Body(f"link{i}", 2.0, rng.normal(size=3) * 0.2,
                           sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)))
        pose = np.eye(4)
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        pose[:3, :3] = R * np.sign(np.linalg.det(R))
        pose[:3, 3] = rng.normal(size=3) * 0.3
        joints.append(Joint(f"joint{i}", bodies[-2].name, bodies[-1].name, Revolute(), pose))
    return cy.Mechanism.of("general", bodies, joints)


def elastic(arm: cy.Mechanism) -> cy.Mechanism:
    for k, joint in enumerate(arm.joint_names):
        arm = arm.with_drive(joint, stiffness=stiffness(k), inertia=1e-3, gear=gear(k))
    return arm.including("reduced elastic drives")


def stiffness(k: int) -> float:
    return 1000.0 + 500.0 * k


def gear(k: int) -> float:
    return (-1) ** k * 50.0


def states(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of springs that pull up to about 20 N m, and a wished snap."""
    rng = np.random.default_rng(2026)
    q, qd = rng.uniform(-1, 1, (2, count, JOINTS))
    gears = np.array([gear(k) for k in range(JOINTS)])
    away = rng.uniform(-20, 20, (2, count, JOINTS)) / [stiffness(k) for k in range(JOINTS)]
    return (np.concatenate([q, gears * (q + away[0])], axis=1), np.concatenate([qd, gears * (qd + away[1])], axis=1),
            rng.normal(size=(count, JOINTS)))


def ours(law: Any, q: np.ndarray, qd: np.ndarray, v: np.ndarray) -> list[Contestant]:
    one = {"law": law, "q": q[0].copy(), "qd": qd[0].copy(), "v": v[0].copy()}
    batch = {"law": law, "q": q, "qd": qd, "v": v, "out": np.empty_like(q)}
    return [Contestant("call", "Cayley, `law(q, qd, v)`, one call from Python", "law(q, qd, v)", one, 1,
                       lambda: law(q, qd, v)),
            Contestant("batch", "Cayley, a batch, one thread", "law(q, qd, v, out=out)", batch, len(q),
                       lambda: law(q, qd, v))]


def in_c(law: Any, q: np.ndarray, qd: np.ndarray, v: np.ndarray) -> Contestant:
    """The exported function, called in a loop in C."""
    folder = tempfile.TemporaryDirectory()
    home = Path(folder.name)
    law.c_source("law").write(home)
    (home / "loop.c").write_text(LOOP % (CALLS, q.shape[1], qd.shape[1], v.shape[1], q.shape[1]))
    subprocess.run(["gcc", *COMPILER_FLAGS, "-shared", "-fPIC", home / "law.c", home / "loop.c", "-o", home / "law.so",
                    "-lm"], check=True)
    library = ctypes.CDLL(str(home / "law.so"))
    tau = np.zeros((CALLS, q.shape[1]))
    pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (q, qd, v, tau)]

    def found() -> np.ndarray:
        library.loop(*pointers)
        return tau

    names = {"loop": library.loop, "p": pointers, "keep": (folder, q, qd, v, tau)}
    return Contestant("C", "Cayley, the exported C, in a loop in C", "loop(*p)", names, CALLS, found, 1e-8)


def casadi(arm: cy.Mechanism, q: np.ndarray, qd: np.ndarray, v: np.ndarray) -> Contestant:
    """The same law from CasADi's derivatives of the rigid arm's torques, generated as C, with the loop inside."""
    import casadi as ca
    n = JOINTS
    x = [ca.SX.sym(name, n) for name in ("q", "qd", "a", "j", "s")]
    torques = arm.inverse_dynamics.evaluate(cy.CASADI, *x[:3])
    inverse = ca.Function("inverse", x[:3], [torques])
    first = ca.jtimes(torques, ca.vertcat(*x[:3]), ca.vertcat(*x[1:4]))
    second = ca.jtimes(first, ca.vertcat(*x[:4]), ca.vertcat(*x[1:]))
    rates = ca.Function("rates", x, [first, second])
    K, N = (ca.DM([f(k) for k in range(n)]) for f in (stiffness, gear))
    whole, rate, snap = ca.SX.sym("q", 2 * n), ca.SX.sym("qd", 2 * n), ca.SX.sym("v", n)
    at, going = whole[:n], rate[:n]
    M = arm.inertia_matrix.evaluate(cy.CASADI, at)
    P = K * (whole[n:] / N - at)
    a = ca.solve(M, P - inverse(at, going, ca.DM.zeros(n)))
    without = rates(at, going, a, ca.DM.zeros(n), ca.DM.zeros(n))[0]
    j = ca.solve(M, K * (rate[n:] / N - going) - without)
    motors = N * (a + rates(at, going, a, j, snap)[1] / K)
    tau = ca.vertcat(ca.DM.zeros(n), 1e-3 * motors + P / N)
    law = ca.Function("law", [whole, rate, snap], [ca.cse(tau)])
    function = compiled_c(ca, law.map(CALLS))
    buffer, run = function.buffer()
    out = np.zeros((CALLS, 2 * n))
    given = [np.ascontiguousarray(each[:CALLS]) for each in (q, qd, v)]
    for place, array in enumerate(given):
        buffer.set_arg(place, memoryview(array))
    buffer.set_res(0, memoryview(out))

    def found() -> np.ndarray:
        run()
        return out

    return Contestant("CasADi", "CasADi, generated C of the same law, its own derivatives", "run()",
                      {"run": run, "keep": (buffer, function, given, out)}, CALLS, found, 1e-7)


if __name__ == "__main__":
    main()
