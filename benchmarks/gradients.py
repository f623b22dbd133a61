"""Gradients through rollouts beside the rollouts themselves and JAX's own reverse mode, in one run. `make bench`."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import cayley as cy
import page
from tables import Requirement, Table, required
from timing import Contestant, OtherPrograms, agree, race

STEP = 1e-3
METHODS = ("semi-implicit-euler", "rk4")
AGREEMENT = 1e-10


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="times that every contestant is measured")
    options.add_argument("--batch", type=int, default=256, help="trajectories")
    options.add_argument("--steps", type=int, default=100, help="steps of each")
    chosen = options.parse_args()
    console, others, missing = Console(), OtherPrograms(), []
    arm = cy.load("panda")
    rng = np.random.default_rng(0)
    given = {"q": arm.random_configuration(chosen.batch, seed=1), "qd": 0.1 * rng.normal(size=(chosen.batch, arm.nv)),
             "tau": rng.normal(size=(chosen.batch, chosen.steps, arm.nv))}
    contestants = [c for method in METHODS for c in ours(arm, given, chosen.steps, method)]
    try:
        contestants.append(jax(arm, given, chosen.steps))
    except ImportError as error:
        missing.append(f"JAX: {error}")
    check(contestants)
    ns: dict[str, float] = {}
    for medians in track(race(contestants, chosen.rounds), "panda", total=chosen.rounds, console=console,
                         transient=True):
        ns = medians
    requirements = [Requirement(f"{method}: a rollout is at least a sixth of its gradient",
                                6 * ns[method] / ns[f"gradient, {method}"], 1, "times") for method in METHODS]
    if "jax" in ns:
        requirements.append(Requirement("beside JAX, semi-implicit-euler", ns["jax"] / ns[f"gradient, {METHODS[0]}"], 1,
                                        "times"))
    rows = [[c.title, f"{ns[c.key]:.0f}", f"{ns[c.key] / ns[METHODS[1] if 'rk4' in c.key else METHODS[0]]:.1f}"]
            for c in contestants]
    tables = [required(requirements),
              Table("All", ["", "ns a step", "rollouts"], rows)]
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing)


def check(contestants: list[Contestant]) -> None:
    """The gradients by all forces, those of JAX beside ours."""
    found = {c.key: c.torques() for c in contestants}
    if "jax" in found:
        right = found[f"gradient, {METHODS[0]}"]
        error = np.abs(found["jax"] - right).max() / np.abs(right).max()
        agree("JAX", error, AGREEMENT)


def ours(arm: Any, given: dict[str, np.ndarray], steps: int, method: str) -> list[Contestant]:
    loss = cy.kernel("(7)->()", inputs=["q"])(lambda q: q @ q)
    names = {"roll": arm.rollout(method=method, changing=["tau"]), "given": given, "loss": loss,
             "run": {"step": STEP, "steps": steps, "every": steps},
             "along": {"tau": given["tau"]}}
    count = len(given["q"]) * steps
    calls = {method: (f"rollout, {method}", "roll(**given, **run)", lambda r: r.q[:, -1]),
             f"gradient, {method}": (f"its gradient by q, qd and all forces, {method}",
                                     "roll.gradient(**given, terminal=loss, **run)", lambda r: r["tau"]),
             f"jvp, {method}": (f"along one direction, {method}", "roll.jvp(**given, tangents=along, **run)",
                                lambda r: r["q"])}
    return [Contestant(key, f"Cayley, {title}", call, names, count,
                       lambda call=call, read=read: read(eval(call, names)))
            for key, (title, call, read) in calls.items()]


def jax(arm: Any, given: dict[str, np.ndarray], steps: int) -> Contestant:
    """The same semi-implicit steps of the same expressions, as XLA compiles and differentiates them."""
    import jax as library
    library.config.update("jax_enable_x64", True)
    dynamics = arm.forward_dynamics

    def loss(q: Any, qd: Any, tau: Any) -> Any:
        def step(x: Any, u: Any) -> Any:
            at, speed = x
            speed = speed + STEP * dynamics.evaluate(cy.JAX, at, speed, u)
            return (at + STEP * speed, speed), None
        (last, _), _ = library.lax.scan(step, (q, qd), library.numpy.moveaxis(tau, 1, 0))
        return (last * last).sum()
    gradient = library.jit(library.grad(loss, argnums=(0, 1, 2)))
    names = {"gradient": gradient, "given": given, "wait": library.block_until_ready}
    call = "wait(gradient(*given.values()))"
    return Contestant("jax", "JAX, the same gradient, semi-implicit-euler, `jit(grad(scan))`", call, names,
                      len(given["q"]) * steps, lambda: np.asarray(eval(call, names)[2]))


if __name__ == "__main__":
    main()
