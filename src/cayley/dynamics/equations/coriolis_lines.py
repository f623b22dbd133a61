"""The matrix C of Christoffel's symbols as lines of intermediate values, which the compiler finds: for mechanisms
whose entries are too long to be written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.algebras.equations import equations
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.closed_form import coriolis_matrix
from cayley.dynamics.equations.printing import Line
from cayley.dynamics.equations.symbolic_links import Parameter, symbolic_links
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.planar_rotations import Turn
from cayley.model.tree import Tree


class _Inputs:
    """Inputs of a traced text, by the names of parameters."""

    def __init__(self, inputs: dict[str, Any]) -> None:
        self.inputs = inputs

    def number(self, parameter: Parameter) -> Scalar:
        return self.inputs[parameter.name]

    def turn(self, parameter: Parameter) -> Turn:
        return Turn(np.cos(self.inputs[parameter.name]), np.sin(self.inputs[parameter.name]))

    def shift(self, parameter: Parameter) -> Scalar:
        return self.inputs[parameter.name]


def coriolis_lines(tree: Tree, links: Links, symbols: dict[str, Any]) -> tuple[list[Any], list[Line]]:
    """The entries of C (by rows), and the lines; in letters, if there are symbols of parameters."""
    lean = minimal_links(tree)

    def text(q: Array, qd: Array, *values: Scalar) -> Array:
        given = dict(zip(symbols, values, strict=True))
        return coriolis_matrix(symbolic_links(links, _Inputs(given)) if symbols else lean, q, qd)

    signature = f"({tree.nq}),({tree.nv}){',()' * len(symbols)}->({tree.nv},{tree.nv})"
    inputs = ("q", "qd", *[symbol.name for symbol in symbols.values()])
    program = kernel(signature, name="coriolis_matrix", inputs=inputs, outputs=("C",))(text).program()
    found = equations(program, shared=True)
    return list(found.outputs["C"]), list(found.lines)
