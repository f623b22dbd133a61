"""What a page needs to keep a mechanism closed while sliders move some of its joints: the residual and the Jacobian of
its constraints as a program, and which joints have a slider.

The sliders are those of actuated joints, as far as they are independent; where these are too few, other joints of one
coordinate follow. Whatever is then still free stays about where it is. A mechanism that does not close has no sliders.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.kinematics.constraints import hold_positions, jacobian, residual
from cayley.model.tree import Tree

_INDEPENDENT = 1e-7  # of the largest singular value
_CLOSED = 1e-6  # [m, rad]


def keeps_closed(tree: Tree) -> bool:
    """Whether loops, rods or other constraints on positions tie the joints, besides mimic joints."""
    return any(each.positions for each in (*tree.loops, *tree.constraints))


def closing(tree: Tree, rest: Array) -> dict[str, Any]:
    """The program, of q to the rows of the residual and then of the Jacobian, and the numbers of the joints that have a
    slider, for a mechanism that rests at `rest` (nq)."""
    rows = np.flatnonzero(hold_positions(tree))

    def opening(q: Array) -> tuple[Array, Array]:
        return residual(tree, q)[rows], jacobian(tree, q)[rows]

    made = kernel(f"({tree.nq})->({len(rows)}),({len(rows)},{tree.nv})", name="opening", inputs=("q",))(opening)
    left, A = made(rest)
    closes = np.abs(left).max(initial=0.0) < _CLOSED
    return {"rows": len(rows), "nv": tree.nv, "driven": _driven(tree, A) if closes else [], **as_steps(made)}


def as_steps(made: Kernel[Any]) -> dict[str, Any]:
    """A kernel as steps: [operation, places of its operands], a number, or null for the next of its inputs; and the
    places of the results.
    """
    program = made.program()
    places = {node.index: k for k, node in enumerate(program.nodes)}
    steps = [None if node.op == "input" else float(node.value) if node.op == "constant" else
             [node.op, *[places[operand.index] for operand in node.args]] for node in program.nodes]
    return {"steps": steps, "results": [places[node.index] for node in program.results]}


def _driven(tree: Tree, A: Array) -> list[int]:
    """The joints that can be moved at will, while those that are left follow: the constraints still have their rank
    without them."""
    single = [k for k, joint in enumerate(tree.joints) if joint.motion.nq == joint.motion.nv == 1]
    wanted = sorted(single, key=lambda k: tree.joints[k].name not in tree.actuated_joints)
    left = np.ones(tree.nv, dtype=bool)
    rank = np.linalg.matrix_rank(A, tol=_INDEPENDENT * np.linalg.norm(A))
    found = []
    for k in wanted:
        left[tree.v_slices[k]] = False
        if np.linalg.matrix_rank(A[:, left], tol=_INDEPENDENT * np.linalg.norm(A)) == rank:
            found.append(k)
        else:
            left[tree.v_slices[k]] = True
    return sorted(found)
