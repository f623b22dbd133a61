"""What a page needs to keep a mechanism closed while sliders move some of its joints: the residual and the Jacobian of
its constraints as a program, and which joints have a slider.

Whatever the sliders leave free stays about where it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.kinematics.constraints import hold_positions, jacobian, residual
from cayley.model.tree import Tree
from cayley.studio.sliders import moved_alone


def closing(tree: Tree, rest: Array) -> dict[str, Any]:
    """The program, of q to the rows of the residual and then of the Jacobian, and the numbers of the joints that have a
    slider, for a mechanism that rests at `rest` (nq)."""
    rows = np.flatnonzero(hold_positions(tree))

    def opening(q: Array) -> tuple[Array, Array]:
        return residual(tree, q)[rows], jacobian(tree, q)[rows]

    made = kernel(f"({tree.nq})->({len(rows)}),({len(rows)},{tree.nv})", name="opening", inputs=("q",))(opening)
    return {"rows": len(rows), "nv": tree.nv, "driven": moved_alone(tree, rest), **as_steps(made)}


def as_steps(made: Kernel[Any]) -> dict[str, Any]:
    """A kernel as steps: [operation, places of its operands], a number, or null for the next of its inputs; and the
    places of the results.
    """
    program = made.program()
    places = {node.index: k for k, node in enumerate(program.nodes)}
    steps = [None if node.op == "input" else float(node.value) if node.op == "constant" else
             [node.op, *[places[operand.index] for operand in node.args]] for node in program.nodes]
    return {"steps": steps, "results": [places[node.index] for node in program.results]}
