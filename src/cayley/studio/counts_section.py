"""Operation counts of a page beside the published tables, and times on the machine that makes the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.dynamics.accounting import method_table, operation_tables
from cayley.dynamics.inverse.compare import Comparison, MethodRow
from cayley.dynamics.inverse.methods import DEFAULT
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.report import Table
from cayley.studio.tables import html_table, listed

STATES = 2048
# joints
_SMALLEST_TABLE = 2
_LARGEST_TABLE = 9


def compared(arm: Mechanism) -> Comparison:
    """Every method on the same random states."""
    random = np.random.default_rng(0)
    q = arm.random_configuration(100, seed=random)
    return arm.formulations.compare_inverse_dynamics(q, *random.normal(size=(2, 100, arm.nv)))


def counts_section(arm: Mechanism, comparison: Comparison) -> str:
    """Operation counts of each method for this robot, beside published and measured counts of arms with as many joints.
    """
    refused = [row for row in comparison.rows if row.operations is None]
    note = f'<p class="note">{len(refused)} methods do not apply: {escape(refused[0].refused)}.</p>' if refused else ""
    if not _is_arm(arm):
        words = "<p>The published tables are about arms of two joints and more; this mechanism is not one.</p>"
        return f"{words}{_own_counts(arm, comparison)}{note}"
    n = min(arm.nv, _LARGEST_TABLE)
    words = (
        "<p>M are multiplications, A additions. A robot's zeros, ones and right angles are folded into its own code; "
        "the published "
        f"figures are for any arm of n revolute joints, with general twists: here as printed, and for n = {n}. Beside "
        "them is "
        "what this package counts for such an arm: with operations on zeros and ones left out, and compiled. The "
        "tables below "
        "have the counts by the rules of the source as well.</p>")
    parts = [
        f"<details><summary>{escape(table.title)}</summary>{html_table(table.table)}{listed(table.notes)}</details>"
        for table in operation_tables(n)]
    return f"{words}{_beside_published(arm, comparison, n)}{note}{''.join(parts)}"


def _own_counts(arm: Mechanism, comparison: Comparison) -> str:
    rows = tuple((row.method, *_figures(row), row.source) for row in comparison.rows if row.operations is not None)
    return html_table(Table(f"Operations of inverse dynamics, {arm.name}", ("method", "M", "A", "source"), rows))


def _beside_published(arm: Mechanism, comparison: Comparison, n: int) -> str:
    """The table of all methods, with the figures of this robot in front."""
    general = method_table(n)
    words = {line[0]: line[1:] for line in general.table.rows}
    folded = {name: figures["zeros folded"](n) for name, figures in general.rows.items()}
    rows = tuple((row.method, *_figures(row), *words[row.method][:2], *map(str, folded[row.method]),
                  *words[row.method][6:], row.source) for row in comparison.rows)
    heads = general.table.columns
    columns = ("method", f"{arm.name}: M", "A", *heads[1:3], *heads[5:], "source")
    return html_table(Table(f"Operations of inverse dynamics (n = {n})", columns, rows))


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
    methods = Table("Methods of inverse dynamics", ("method", "ns per state", "distance from the first"), rows)
    verdict = "agree" if comparison.agrees else "do not agree"
    functions = Table("Functions", ("function", "multiplications", "additions", "ns per state"),
                      tuple(_functions(arm, frame)))
    return (
        f"<p>Measured while this page was made, in batches of {STATES} states on one thread. All methods {verdict}: "
        "the largest "
        f"distance, beside the largest force, is {comparison.spread:.1g}.</p>"
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


def headline(comparison: Comparison) -> tuple[str, str]:
    """Operations and time of the default method, in words."""
    row = next(row for row in comparison.rows if row.method == DEFAULT)
    assert row.operations is not None and row.seconds is not None
    return f"{row.operations.multiplications} × and {row.operations.additions} +", f"{1e9 * row.seconds:.0f} ns"
