"""Sections of a report: operation counts beside the published tables, times, and the mobility of closed mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.drawing.skeleton import resting
from cayley.dynamics.accounting import method_table, operation_tables
from cayley.dynamics.inverse.compare import Comparison, MethodRow
from cayley.dynamics.inverse.methods import DEFAULT
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import CayleyError, UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.report import TextTable
from cayley.studio.pictures import html_table, listed

STATES = 2048
# joints
_SMALLEST_TABLE = 2
_LARGEST_TABLE = 9
_LARGE = 16  # velocities up to which every formulation is compiled,
_SLOW = "null space by svd"  # but this one, which is for small mechanisms


def compared(arm: Mechanism) -> Comparison:
    """Every method on the same random states."""
    random = np.random.default_rng(0)
    q = arm.random_configuration(100, seed=random)
    return arm.formulations.compare_inverse_dynamics(q, *random.normal(size=(2, 100, arm.nv)))


def counts_section(arm: Mechanism, comparison: Comparison) -> str:
    """Operation counts of each method for this robot, beside published and measured ones of arms as long."""
    refused = [row for row in comparison.rows if row.operations is None]
    note = (f'<p class="note">Some methods do not apply ({len(refused)}), as {escape(refused[0].method)}: '
            f"{escape(refused[0].refused)}.</p>" if refused else "")
    if not _is_arm(arm):
        words = "<p>The published tables are for serial arms of two or more joints, which this mechanism is not.</p>"
        return f"{words}{_own_counts(arm, comparison)}{note}"
    n = min(arm.nv, _LARGEST_TABLE)
    words = (
        "<p>M counts multiplications, A additions. Code for a specific robot exploits its zeros, ones and right "
        "angles. The published figures are for any arm of n revolute joints with general twist angles, as printed and "
        f"for n = {n}. Beside them are the counts of this package for such an arm, with operations on zeros and ones "
        "left out, and compiled. The tables below also have the counts by the rules of the source.</p>")
    parts = [
        f"<details><summary>{escape(table.title)}</summary>{html_table(table.table)}{listed(table.notes)}</details>"
        for table in operation_tables(n)]
    return f"{words}{_beside_published(arm, comparison, n)}{note}{''.join(parts)}"


def _own_counts(arm: Mechanism, comparison: Comparison) -> str:
    rows = tuple((row.method, *_figures(row), row.source) for row in comparison.rows if row.operations is not None)
    return html_table(TextTable(f"Operations of inverse dynamics, {arm.name}", ("method", "M", "A", "source"), rows))


def _beside_published(arm: Mechanism, comparison: Comparison, n: int) -> str:
    """The table of all methods, with the figures of this robot in front."""
    general = method_table(n)
    words = {line[0]: line[1:] for line in general.table.rows}
    folded = {name: figures["zeros folded"](n) for name, figures in general.rows.items()}
    rows = tuple((row.method, *_figures(row), *words[row.method][:2], *map(str, folded[row.method]),
                  *words[row.method][6:], row.source) for row in comparison.rows)
    heads = general.table.columns
    columns = ("method", f"{arm.name}: M", "A", *heads[1:3], *heads[5:], "source")
    return html_table(TextTable(f"Operations of inverse dynamics (n = {n})", columns, rows))


def _figures(row: MethodRow) -> tuple[str, str]:
    return ("", "") if row.operations is None else (str(row.operations.multiplications), str(row.operations.additions))


def _is_arm(arm: Mechanism) -> bool:
    try:
        serial_chain(arm.tree)
    except UnsupportedError:
        return False
    return arm.nv >= _SMALLEST_TABLE


def timing_section(arm: Mechanism, frame: str, comparison: Comparison) -> str:
    """Times a state of every method and of other functions, in batches, on one core of this machine."""
    rows = tuple((row.method, f"{1e9 * row.seconds:.0f}", f"{row.distance:.1g}") for row in comparison.rows
                 if row.seconds is not None)
    methods = TextTable("Methods of inverse dynamics", ("method", "ns per state", "difference from the first"), rows)
    verdict = "agree" if comparison.agrees else "do not agree"
    functions = TextTable("Functions", ("function", "multiplications", "additions", "ns per state"),
                      tuple(_functions(arm, frame)))
    return (
        f"<p>Measured while this page was made, in batches of {STATES} states on one thread. All methods {verdict}: "
        f"the largest relative difference of the joint forces is {comparison.spread:.1g}.</p>"
        f'<div class="pair">{html_table(methods, bars=1)}{html_table(functions, bars=3)}</div>')


def _functions(arm: Mechanism, frame: str) -> list[tuple[str, str, str, str]]:
    random = np.random.default_rng(0)
    q = arm.random_configuration(STATES, seed=random)
    qd, qdd = random.normal(size=(2, STATES, arm.nv))
    kernels: dict[str, tuple[Kernel, tuple[Any, ...]]] = {
        f"forward kinematics, pose of {frame}": (arm.pose.of(frame), (q,)),
        f"Jacobian of {frame}": (arm.jacobian.of(frame, axes="world"), (q,)),
        "inverse dynamics": (arm.inverse_dynamics, (q, qd, qdd)), "gravity forces": (arm.gravity_forces, (q,)),
        "mass matrix": (arm.inertia_matrix, (q,)), "forward dynamics": (arm.forward_dynamics, (q, qd, qdd))}
    return [(name, str(kernel.operations().multiplications), str(kernel.operations().additions),
             f"{1e9 * seconds(kernel, state):.0f}") for name, (kernel, state) in kernels.items()]


def seconds(kernel: Kernel, state: Sequence[Any]) -> float:
    """The median time of a state in a batch."""
    kernel(*state)
    times = []
    for _ in range(7):
        start = perf_counter()
        kernel(*state)
        times.append(perf_counter() - start)
    return median(times) / STATES


def headline(comparison: Comparison) -> str:
    """Time of the default method, in words."""
    row = next(row for row in comparison.rows if row.method == DEFAULT)
    assert row.seconds is not None
    return f"{1e9 * row.seconds:.0f} ns per state"


def mobility_section(arm: Mechanism) -> str:
    """Mobility, redundant rows and actuation in sentences."""
    structure = arm.loops.structure
    spare = ", ".join(map(str, structure.redundant))
    sentences = [
        f"{len(structure.rows)} constraint rows on {len(structure.velocities)} velocities: mobility "
        f"{structure.mobility}. Gruebler's formula gives {structure.gruebler}.",
        f"Redundant constraint rows: {spare}." if spare else "No constraint row is redundant.",
        f"Independent velocities: {', '.join(structure.velocities[k] for k in structure.independent) or 'none'}.",
        f"The mechanism is {arm.loops.actuation}."]
    return listed(sentences)


def cost_section(arm: Mechanism) -> str:
    """Operation counts and times of the formulations of forward dynamics, of the constraints and of their Jacobian."""
    rest = resting(arm.tree)
    t = [np.zeros(STATES)] if arm.tree.is_timed else []
    state = [np.broadcast_to(x, (STATES, len(x))).copy() for x in (rest, np.zeros(arm.nv), np.zeros(arm.nv))]
    methods = [name for name in arm.forward_dynamics.methods if name != _SLOW] if arm.nv <= _LARGE else ["multipliers"]
    wanted: dict[str, tuple[Callable[[], Kernel], list[Array]]] = {
        f"forward dynamics, {name}": (partial(arm.forward_dynamics.using, name), [*state, *t]) for name in methods}
    wanted |= {"constraint residual": (lambda: arm.loops.residual, [state[0], *t]),
               "constraint Jacobian": (lambda: arm.loops.jacobian, [state[0], *t])}
    rows = []
    refused = []
    for name, (make, given) in wanted.items():
        try:
            kernel = make()
            count = kernel.operations()
            rows.append((name, str(count.multiplications), str(count.additions), f"{1e9 * seconds(kernel, given):.0f}"))
        except CayleyError as why:
            refused.append(f"{name}: {why}.")
    table = TextTable("Functions of the closed mechanism", ("function", "multiplications", "additions", "ns per state"),
                  tuple(rows))
    words = f"<p>Measured while this page was made, in batches of {STATES} states on one thread.</p>"
    return words + html_table(table, bars=3) + "".join(f'<p class="note">{escape(each)}</p>' for each in refused)
