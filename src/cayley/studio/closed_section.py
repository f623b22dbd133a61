"""Of a mechanism with loops: what its constraints leave free, and what its functions cost, on the machine that makes
the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.drawing.skeleton import resting
from cayley.errors import CayleyError
from cayley.mechanism import Mechanism
from cayley.model.report import Table
from cayley.studio.counts_section import STATES, seconds
from cayley.studio.tables import html_table, listed

_LARGE = 16  # velocities up to which every formulation is compiled,
_SLOW = "null space by svd"  # but this one, which is for small mechanisms


def mobility_section(arm: Mechanism) -> str:
    """Mobility, redundant rows and actuation in sentences."""
    structure = arm.loops.structure
    spare = ", ".join(map(str, structure.redundant))
    sentences = [
        f"Of {len(structure.velocities)} velocities the constraints, {len(structure.rows)} rows, leave "
        f"{structure.mobility}; Gruebler's count is {structure.gruebler}.",
        f"Redundant rows, which others imply: {spare}." if spare else "No row is redundant.",
        f"Independent velocities: {', '.join(structure.velocities[k] for k in structure.independent) or 'none'}.",
        f"It is {arm.loops.actuation}."]
    return listed(sentences)


def cost_section(arm: Mechanism) -> str:
    """Operations and times of the formulations of forward dynamics, and of what they are made of."""
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
    table = Table("Functions of the closed mechanism", ("function", "multiplications", "additions", "ns per state"),
                  tuple(rows))
    words = f"<p>Measured while this page was made, in batches of {STATES} states on one thread.</p>"
    return words + html_table(table, bars=3) + "".join(f'<p class="note">{escape(each)}</p>' for each in refused)
