"""Dynamics of real robots beside the peers, in one run: inverse and forward dynamics, inertia matrix, derivatives.
`make bench`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import elsewhere
import page
import robots
from cayley.compiler.algebras.packages import CASADI, JAX
from peers import MissingPeer, compiled_c
from summary import times
from tables import Requirement, Table, required
from timing import Contestant, Disagreement, OtherPrograms, agree, race

LOOP_STATES = 500
ARMS = ("panda", "puma560")
FLOATING = ("anymal", "talos")
NAMES = {"panda": "Panda", "puma560": "PUMA 560", "anymal": "ANYmal", "talos": "Talos"}
FUNCTIONS = {
    "inverse_dynamics": "inverse dynamics", "forward_dynamics": "forward dynamics", "inertia_matrix": "inertia matrix",
    "linearize": "derivatives of inverse dynamics", "forward_derivatives": "derivatives of forward dynamics"}

WITH_PARAMETERS = {
    "shared": ("all inertial parameters inputs, one set", 1.6),
    "own": ("all inertial parameters inputs, a set for each state", 1 + 70 / 28)}  # numbers read and written, beside


@dataclass(frozen=True)
class Event:
    """One function of one robot, on a batch of states."""

    robot: str
    function: str
    count: int

    @property
    def title(self) -> str:
        return f"{self.robot}, {FUNCTIONS[self.function]}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=9, help="times that every contestant is measured")
    options.add_argument("--states", type=int, default=100_000, help="states of a batch of an arm")
    options.add_argument("--only", default="", help="part of the title of the events to run")
    chosen = options.parse_args()
    console = Console()
    found: dict[Event, dict[str, float]] = {}
    titles: dict[Event, dict[str, str]] = {}
    missing: set[str] = set()
    others = OtherPrograms()
    for event in [e for e in events(chosen.states) if chosen.only in e.title]:
        contestants, absent = line_up(event)
        missing |= absent
        for medians in track(race(contestants, chosen.rounds), event.title, total=chosen.rounds, console=console,
                             transient=True):
            found[event] = medians
        titles[event] = {c.key: c.title for c in contestants}
        for c in contestants:
            console.print(event.title, c.title, figure(found[event][c.key]), sep=" | ", soft_wrap=True)
    tables = [required(requirements(found)), *(table(robot, found, titles) for robot in (*ARMS, *FLOATING)),
              ]
    if chosen.only in "chains":
        tables.append(
            Table("Chains of n turning joints, inverse and forward dynamics, ns a state",
                  ["n", "Cayley, inverse", "Pinocchio, inverse", "Cayley, forward", "Pinocchio, forward"],
                  list(growth(chosen.rounds))))
    page.write(__file__, tables, rounds=chosen.rounds, others=others.cores(), missing=missing, whole=not chosen.only,
               versions=elsewhere.versions())


def requirements(found: dict[Event, dict[str, float]]) -> Iterator[Requirement]:
    """The ratios that are required, for the robots of a kind together."""
    together: dict[tuple[str, float], list[float]] = {}
    for event, ns in found.items():
        kind = "arms" if event.robot in ARMS else "floating robots"
        for (mine, theirs), bound in _bounds(event).items():
            title = f"{FUNCTIONS[event.function]} of {kind}, {mine}, beside {theirs}"
            together.setdefault((title, bound), []).extend([ns[theirs] / ns[mine]] if theirs in ns else [])
        for key, (title, bound) in WITH_PARAMETERS.items():
            if key in ns:
                yield Requirement(f"{event.title}, {title}, beside constants", ns[key] / ns["batch"], bound,
                                  "times as long")
    for (title, bound), ratios in together.items():
        yield Requirement(title, min(ratios, default=None), bound, "times", max(ratios, default=None))


def table(robot: str, found: dict[Event, dict[str, float]], titles: dict[Event, dict[str, str]]) -> Table:
    """A row for each contestant, a column for each function; in brackets, times Cayley."""
    mine = [event for event in found if event.robot == robot]
    names = dict.fromkeys(title for event in mine for title in titles[event].values())
    rows = []
    for name in names:
        cells = []
        for event in mine:
            ns = found[event]
            key = next((key for key, title in titles[event].items() if title == name), None)
            own = ns["call" if "one call" in name else "batch"]
            cells.append("" if key is None else f"{figure(ns[key])} ({times(ns[key] / own)})")
        rows.append([name, *cells])
    return Table(f"{NAMES[robot]}: ns a state, and in brackets times Cayley",
                 ["", *(FUNCTIONS[event.function] for event in mine)], rows)


def events(count: int) -> Iterator[Event]:
    for function in FUNCTIONS:
        for name in ARMS:
            yield Event(name, function, count if function in ("inverse_dynamics", "forward_dynamics") else count // 10)
    for function in ("inverse_dynamics", "forward_dynamics"):
        for name in FLOATING:
            yield Event(name, function, count // 10)


def _bounds(event: Event) -> dict[tuple[str, str], float]:
    if event.robot in FLOATING:
        return {("batch", "pinocchio batch"): 10 if event.function == "inverse_dynamics" else 8}
    theirs, bound = {"inverse_dynamics": ("pinocchio batch", 30), "forward_dynamics": ("pinocchio batch", 25),
                     "inertia_matrix": ("pinocchio loop", 25), "linearize": ("pinocchio loop", 12),
                     "forward_derivatives": ("pinocchio loop", 12)}[event.function]
    return {("batch", theirs): bound, ("call", "pinocchio call"): 2}


def figure(ns: float) -> str:
    return f"{ns:.0f}" if ns >= 100 else f"{ns:.1f}"


def line_up(event: Event) -> tuple[list[Contestant], set[str]]:
    tree = robots.robot(event.robot)
    states = robots.random_states(tree, event.count)
    if event.function == "inertia_matrix":
        states = states[:1]
    entered, missing = own_contestants(tree, event.function, states), set()
    expected = entered[0].torques()
    if event.robot == "panda" and event.function == "inverse_dynamics":
        entered += with_parameters(tree, states)
        for c in entered[-2:]:
            check(c, expected)
    for peer in (pinocchio, codegen, casadi, jax, frax, adam, drake, mujoco, toolbox):
        try:
            contestants = peer(tree, event.function, states)
            for c in contestants:
                check(c, expected)
        except (MissingPeer, Disagreement) as reason:
            missing.add(f"{event.title}: {reason}")
            continue
        entered += contestants
    return entered, missing


def check(contestant: Contestant, expected: np.ndarray) -> None:
    found = np.asarray(contestant.torques())
    expected = expected[:, expected.shape[1] - found.shape[1]:]  # derivatives may come without the acceleration
    rows = min(len(found), len(expected), 200)
    error = np.abs(found[:rows] - expected[:rows]).max() / max(1.0, np.abs(expected[:rows]).max())
    agree(contestant.title, float(error), contestant.tolerance)


# Cayley


def own_contestants(tree: Any, function: str, states: tuple) -> list[Contestant]:
    kernel = getattr(tree, function)
    arguments = [f"x{k}" for k in range(len(states))]
    batch = {"kernel": kernel, **dict(zip(arguments, states, strict=True))}
    results = kernel(*states)
    batch["out"] = tuple(results) if isinstance(results, tuple) else results
    one = {"kernel": kernel, **{name: x[0] for name, x in zip(arguments, states, strict=True)}}
    call = f"kernel({', '.join(arguments)})"
    return [
        Contestant("batch", "Cayley, batch", f"kernel({', '.join(arguments)}, out=out)", batch, len(states[0]),
                   lambda: flat(kernel(*[x[:LOOP_STATES] for x in states]))),
        Contestant("call", "Cayley, one call", call, one, 1, lambda: flat(kernel(*[x[:LOOP_STATES] for x in states])))]


def with_parameters(tree: Any, states: tuple) -> list[Contestant]:
    """The same with masses, centres and inertias as inputs: one set of them for the batch, and one for each state."""
    kernel = tree.inverse_dynamics.with_parameters("mass", "center", "inertia")
    one = kernel.parameters.nominal
    own = np.ascontiguousarray(np.broadcast_to(one, (len(states[0]), len(one))))
    out = np.empty_like(states[2])
    return [
        Contestant(key, f"Cayley, batch, {WITH_PARAMETERS[key][0]}", "kernel(*states, values, out=out)",
                   {"kernel": kernel, "states": states, "values": values, "out": out}, len(out),
                   lambda values=values: kernel(*states, values)) for key, values in (("shared", one), ("own", own))]


def flat(results: Any) -> np.ndarray:
    parts = results if isinstance(results, tuple) else (results,)
    return np.concatenate([np.asarray(p).reshape(len(p), -1) for p in parts], axis=1)


# Peers


def pinocchio(tree: Any, function: str, states: tuple) -> list[Contestant]:
    try:
        import pinocchio as pin
    except ImportError as error:
        raise MissingPeer(f"Pinocchio (package pin): {error}") from error
    model = robots.pinocchio_model(tree)
    data = model.createData()
    configured = (robots.pinocchio_configurations(tree, states[0]), *states[1:])
    some = [tuple(x[k].copy() for x in configured) for k in range(min(LOOP_STATES, len(states[0])))]
    compute, read = _pinocchio_function(pin, function)
    names = {"f": compute, "model": model, "data": data, "some": some, "x": some[0]}

    def results() -> np.ndarray:
        return np.stack([read(compute(model, data, *x), data) for x in some])

    found = [
        Contestant("pinocchio call", "Pinocchio, one call", "f(model, data, *x)", names, 1, results),
        Contestant("pinocchio loop", "Pinocchio, Python loop", "for x in some: f(model, data, *x)", names, len(some),
                   results)]
    together = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}.get(function)
    if together:
        columns = [np.asfortranarray(x.T) for x in configured]
        out = np.zeros((model.nv, len(states[0])), order="F")
        pool = {"f": getattr(pin, together), "pool": pin.ModelPool(model, 1), "x": columns, "out": out}

        def pooled() -> np.ndarray:
            pool["f"](1, pool["pool"], *columns, out)
            return out.T

        found.append(
            Contestant("pinocchio batch", "Pinocchio, `rneaInParallel` or `abaInParallel`, one thread",
                       "f(1, pool, *x, out)", pool, len(out.T), pooled))
    return found


def _pinocchio_function(pin: Any, function: str) -> tuple[Callable, Callable]:
    def symmetric(M: np.ndarray) -> np.ndarray:
        return np.triu(M) + np.triu(M, 1).T

    def sensitivities(result: Any, _: Any) -> np.ndarray:
        P, V, D = result
        return np.concatenate([symmetric(D).ravel(), V.ravel(), P.ravel()])

    def forward(result: Any, data: Any) -> np.ndarray:
        P, V, D = result
        return np.concatenate([data.ddq, P.ravel(), V.ravel(), symmetric(D).ravel()])

    return {
        "inverse_dynamics": (pin.rnea, lambda tau, _: tau.copy()), "forward_dynamics": (pin.aba, lambda a, _: a.copy()),
        "inertia_matrix": (pin.crba, lambda M, _: symmetric(M).ravel()),
        "linearize": (pin.computeRNEADerivatives, sensitivities),
        "forward_derivatives": (pin.computeABADerivatives, forward)}[function]


def casadi(tree: Any, function: str, states: tuple) -> list[Contestant]:
    """C that CasADi generates from the same text, mapped over the batch."""
    if function not in ("inverse_dynamics", "forward_dynamics", "inertia_matrix") or tree.nv > 10:
        return []
    try:
        import casadi as ca
    except ImportError as error:
        raise MissingPeer(f"CasADi: {error}") from error
    inputs = [ca.SX.sym(f"x{k}", x.shape[1]) for k, x in enumerate(states)]
    result = ca.vec(getattr(tree, function).evaluate(CASADI, *inputs).T)
    mapped = compiled_c(ca, ca.Function("text", inputs, [ca.cse(result)]).map(len(states[0])))
    buffer, run = mapped.buffer()
    out = np.zeros((len(states[0]), result.numel()))
    for position, x in enumerate(states):
        buffer.set_arg(position, memoryview(x))
    buffer.set_res(0, memoryview(out))

    def results() -> np.ndarray:
        run()
        return out

    return [
        Contestant("casadi", "CasADi, generated C of Cayley's text, mapped, one thread", "run()",
                   {"run": run, "keep": (buffer, mapped, out)}, len(states[0]), results)]


def jax(tree: Any, function: str, states: tuple) -> list[Contestant]:
    """The same text under `jit(vmap(...))`, in double precision."""
    if function not in ("inverse_dynamics", "forward_dynamics", "inertia_matrix") or tree.nv > 10:
        return []
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        raise MissingPeer(f"JAX: {error}") from error
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    kernel = getattr(tree, function)
    compiled = jax.jit(jax.vmap(lambda *x: jnp.asarray(kernel.evaluate(JAX, *x))))
    arrays = [jnp.asarray(x) for x in states]
    names = {"f": compiled, "x": arrays}
    return [
        Contestant("jax", "JAX, Cayley's text under `jit(vmap)`, its own threads", "f(*x).block_until_ready()", names,
                   len(states[0]), lambda: flat(np.asarray(compiled(*arrays))))]


def mujoco(tree: Any, function: str, states: tuple) -> list[Contestant]:
    """Its own functions in a Python loop, with the state written before each."""
    if function not in ("inverse_dynamics", "forward_dynamics") or tree.nv > 10:
        return []
    try:
        import mujoco
    except ImportError as error:
        raise MissingPeer(f"MuJoCo: {error}") from error
    try:
        model = robots.mujoco_model(tree)
    except ValueError as error:
        raise MissingPeer(f"MuJoCo does not take {tree.name}: {' '.join(str(error).split())}") from error
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(model)
    some = [tuple(x[k].copy() for x in states) for k in range(LOOP_STATES)]
    inverse = function == "inverse_dynamics"

    def each(x: tuple) -> np.ndarray:
        data.qpos, data.qvel = x[0], x[1]
        if inverse:
            data.qacc = x[2]
            mujoco.mj_inverse(model, data)
            return data.qfrc_inverse
        data.qfrc_applied = x[2]
        mujoco.mj_forward(model, data)
        return data.qacc

    names = {"each": each, "some": some}
    return [
        Contestant("mujoco", "MuJoCo, `mj_inverse` or `mj_forward`, Python loop", "for x in some: each(x)", names,
                   len(some), lambda: np.stack([each(x).copy() for x in some]), tolerance=1e-6)]


def toolbox(tree: Any, function: str, states: tuple) -> list[Contestant]:
    if function != "inverse_dynamics" or tree.nv > 10:
        return []
    try:
        arm = robots.toolbox_robot(tree)
    except ImportError as error:
        raise MissingPeer(f"Robotics Toolbox: {error}") from error
    some = [tuple(x[k].copy() for x in states) for k in range(LOOP_STATES)]
    return [
        Contestant("toolbox", "Robotics Toolbox, compiled `rne`, Python loop", "for x in some: rne(*x)",
                   {"rne": arm.rne, "some": some}, len(some), lambda: np.stack([arm.rne(*x) for x in some]),
                   tolerance=1e-8)]


# Peers in processes of their own


def codegen(tree: Any, function: str, states: tuple) -> list[Contestant]:
    """Pinocchio in C++, and the C that CppADCodeGen makes of it, which for Talos gcc compiles for many minutes."""
    if tree.nv > 20:
        return []
    q, v, a = (*states, *[np.zeros((len(states[0]), tree.nv))] * (3 - len(states)))
    given = {**robots.pinocchio_arrays(tree), "q": robots.pinocchio_configurations(tree, q), "v": v, "a": a}
    contestants = elsewhere.process("CppADCodeGen").contestants(function, given, 1e-10, robot=tree.name)
    if function not in ("linearize", "forward_derivatives"):
        return contestants

    def in_order(results: Callable[[], np.ndarray]) -> Callable[[], np.ndarray]:
        def ordered() -> np.ndarray:
            P, V, D = np.moveaxis(results().reshape(-1, 3, tree.nv, tree.nv), 1, 0)
            D = np.triu(D) + np.triu(D, 1).swapaxes(1, 2)
            return flat((D, V, P) if function == "linearize" else (P, V, D))

        return ordered

    return [replace(c, torques=in_order(c.torques)) for c in contestants]


def frax(tree: Any, function: str, states: tuple) -> list[Contestant]:
    return of_an_arm("frax", tree, function, states)


def adam(tree: Any, function: str, states: tuple) -> list[Contestant]:
    return of_an_arm("adam", tree, function, states)


def drake(tree: Any, function: str, states: tuple) -> list[Contestant]:
    return of_an_arm("Drake", tree, function, states)


def of_an_arm(peer: str, tree: Any, function: str, states: tuple) -> list[Contestant]:
    """The Panda only: URDF does not hold the rotors of the PUMA, and floating bases have other coordinates in each."""
    if function not in ("inverse_dynamics", "forward_dynamics", "inertia_matrix") or tree.name != "panda":
        return []
    given = dict(zip(("q", "v", "a"), states, strict=False))
    return elsewhere.process(peer).contestants(function, given, 1e-10, **robots.urdf_file(tree))


# Growth with the number of joints


def growth(rounds: int) -> Iterator[list[str]]:
    for n in (1, 2, 5, 10, 20, 50, 100):
        tree = chain(n)
        states = robots.random_states(tree, 2000)
        figures = []
        for function in ("inverse_dynamics", "forward_dynamics"):
            contestants = [own_contestants(tree, function, states)[0],
                           *[c for c in pinocchio(tree, function, states) if c.key == "pinocchio batch"]]
            ns: dict[str, float] = {}
            for medians in race(contestants, max(3, rounds // 3)):
                ns = medians
            figures += [figure(ns["batch"]), figure(ns["pinocchio batch"])]
        yield [str(n), *figures]


def chain(n: int) -> Any:
    import cayley as cy

    rng = np.random.default_rng(n)
    rows = [
        (0.0, *row)
        for row in np.stack([*rng.uniform(-0.3, 0.3, (2,
                                                      n)), rng.uniform(-2.0, 2.0, n)], axis=1).tolist()]
    spread = rng.normal(size=(n, 3, 3))
    moments = 0.005 * (np.einsum("nij,nkj->nik", spread, spread) + np.eye(3))  # second moments of mass
    inertias = np.einsum("nii->n", moments)[:, None, None] * np.eye(3) - moments
    return cy.Mechanism.from_dh(rows, convention="modified", masses=list(rng.uniform(0.5, 2.0, n)),
                                centers=rng.uniform(-0.1, 0.1, (n, 3)), inertias=inertias)


if __name__ == "__main__":
    main()
