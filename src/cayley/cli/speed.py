"""Speed of inverse dynamics on this machine: compiled, as plain NumPy, and by Pinocchio if it is installed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import cayley as cy
from cayley.compiler.typing import Array
from cayley.errors import CayleyError

if TYPE_CHECKING:
    from types import ModuleType

    from cayley.mechanism import Mechanism

ROUNDS = 3
VECTORISED = 10_000  # states for NumPy at once: more do not fit the cache, and are slower
PATIENCE = 0.1  # seconds a round


@dataclass
class Speed:
    """Seconds a state by what computes them, the slowest first; remarks."""

    seconds: dict[str, float]
    notes: list[str] = field(default_factory=list)

    @property
    def slowest(self) -> str:
        return next(iter(self.seconds))


def measure(arm: Mechanism, states: tuple[Array, ...]) -> Speed:
    """The medians of a few rounds, all on the same states (count, ...)."""
    kernel = arm.inverse_dynamics
    one = [x[0].copy() for x in states]
    count = len(states[0])
    out = np.empty((count, arm.nv))
    some = [x[:VECTORISED] for x in states]
    found = Speed({"the Python text on NumPy arrays, one state": seconds(lambda: kernel.reference(*one))})
    found.seconds[f"its graph in NumPy, {VECTORISED:,} states at once"] = seconds(
        lambda: kernel.evaluate(cy.NUMPY, *some)) / VECTORISED
    _pinocchio(arm, states, found)
    found.seconds["Cayley, one state"] = seconds(lambda: kernel(*one))
    found.seconds[f"Cayley, {count:,} states at once"] = seconds(lambda: kernel(*states, out=out)) / count
    threads = os.cpu_count() or 1
    if threads > 1:
        together = kernel.parallel(threads)
        found.seconds[f"Cayley, the same on {threads} threads"] = seconds(lambda: together(*states, out=out)) / count
    return found


def seconds(work: Callable[[], Any]) -> float:
    """Seconds a call: the median of rounds that are long enough for the clock."""
    work()
    start = time.perf_counter()
    work()
    repeats = max(1, int(PATIENCE / max(time.perf_counter() - start, 1e-9)))
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        times.append((time.perf_counter() - start) / repeats)
    return float(np.median(times))


def _pinocchio(arm: Mechanism, states: tuple[Array, ...], found: Speed) -> None:
    """Pinocchio reads the robot as URDF, which Cayley writes; its forces must be the same before its time counts."""
    try:
        pinocchio = import_module("pinocchio")
    except ImportError:
        found.notes.append("Pinocchio is not installed (pip install pin): not compared.")
        return
    try:
        model, order = _model(pinocchio, arm)
    except (CayleyError, ValueError) as error:
        found.notes.append(f"Pinocchio is not compared: {error}")
        return
    data = model.createData()
    q, qd, qdd = (np.ascontiguousarray(x[:, order]) for x in states)
    expected = arm.inverse_dynamics(*[x[:50] for x in states])[:, order]
    largest = 0.0
    for k in range(50):
        largest = max(largest, float(np.abs(pinocchio.rnea(model, data, q[k], qd[k], qdd[k]) - expected[k]).max()))
    difference = largest / max(1.0, float(np.abs(expected).max()))
    if difference > 1e-9:
        found.notes.append(
            f"Pinocchio is not compared: its forces differ by {difference:.1g}; it may have read another robot")
        return
    one = (q[0], qd[0], qdd[0])
    found.seconds["Pinocchio, one state"] = seconds(lambda: pinocchio.rnea(model, data, *one))
    found.notes.append(f"Pinocchio {pinocchio.__version__} finds the same forces, to {difference:.0e} of the largest.")


def _model(pinocchio: ModuleType, arm: Mechanism) -> tuple[Any, list[int]]:
    """The robot in Pinocchio, and where its coordinates are in Cayley's."""
    from cayley.model.formats.urdf_text import dump_urdf
    moving = [joint for joint in arm.joints if joint.motion.nv]
    if any(joint.motion.urdf not in ("revolute", "prismatic") for joint in moving) or arm.tree.included:
        raise ValueError("only revolute and prismatic joints with limits are handed over")
    model = pinocchio.buildModelFromXML(dump_urdf(arm.tree, leave_out=True))
    model.gravity.linear = np.array(arm.gravity)
    return model, [arm.tree.q_slices[arm.tree.joint_number(name)].start for name in list(model.names)[1:]]
