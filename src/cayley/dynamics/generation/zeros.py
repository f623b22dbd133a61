"""Which entries of the inertia matrix are zero whatever the arm does.

Two accelerations are coupled only if one of the bodies carries the other, and an actuator carries none: with actuators
first the matrix is [[B11, B12], [B12^T, B22]], B11 diagonal, B12 strictly lower triangular, B22 full; of N elastic
joints at most N + N (N - 1) + N^2 entries are not zero, 72 of 144 for N = 6. Axes that are parallel or perpendicular,
and prismatic joints, make more of them zero: these are found in the generated text. Source: Mladenova 8.3, Table 4,
(358)-(360) (spec R-60).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.graph import is_constant
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Array
from cayley.dynamics.generation.trace_form import path
from cayley.dynamics.rigid_links.links import Links
from cayley.model.tree import Tree


def structural_pattern(links: Links) -> Array:
    """(n, n) truth values: where B may differ from zero, by who carries whom."""
    found = np.zeros((links.nv, links.nv), dtype=bool)
    for j, link in enumerate(links.links):
        for s in path(links, j):
            found[links.links[s].columns.start, link.columns.start] = True
    return found | found.T


def generated_pattern(program: Program, output: str = "B") -> Array:
    """Where an output of a generated text is not the number zero."""
    variable = next(v for v in program.outputs if v.name == output)
    return np.array([not is_constant(node, 0.0) for node in variable.nodes]).reshape(variable.shape)


def actuators_first(tree: Tree) -> Array:
    """The places in q of the actuators, in the order of the joints that they drive, and then of all joints: the
    permutation of (360)."""
    motors = [tree.v_slices[motor].start for motor in tree.motors.values()]
    return np.array([*motors, *[k for k in range(tree.nv) if k not in motors]], dtype=int)
