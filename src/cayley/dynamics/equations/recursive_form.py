"""Equations of motion as lines of intermediate values, in the order in which a recursion computes them: for mechanisms
whose entries are too long to be written out. The compiler finds what is shared."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from cayley.compiler.equations import equations
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.closed_form import coriolis_matrix, gravity_forces, velocity_forces
from cayley.dynamics.equations.parameter_symbols import drive_parameters, parameter_symbols, parameter_values, passive
from cayley.dynamics.equations.result import EquationsOfMotion
from cayley.dynamics.equations.symbolic_links import Parameter, parameters_of, symbolic_links
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
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


def recursive_form(tree: Tree, links: Links, *, with_letters: bool) -> EquationsOfMotion:
    """The equations as lines; numbers are those of the links in their leanest form."""
    n = tree.nv
    drives = drive_parameters(tree)
    parameters = parameters_of(links) | drives
    symbols = parameter_symbols(parameters.values()) if with_letters else {}
    rotors = {name: p for name, p in drives.items() if p.kind == "J"}
    lean = minimal_links(tree)

    def text(q: Array, qd: Array, *values: Scalar) -> tuple[Array, ...]:
        given = dict(zip(symbols, values, strict=True))
        moved = symbolic_links(links, _Inputs(given)) if with_letters else lean
        added = [
            sum([given.get(name, p.value) for name, p in rotors.items() if p.place == str(k + 1)], 0.0)
            for k in range(n)]
        M = inertia_matrix(moved, q) + np.diag(added)
        return M, coriolis_matrix(moved, q, qd), velocity_forces(moved, q, qd), gravity_forces(moved, q)

    signature = f"({n}),({n}){',()' * len(symbols)}->({n},{n}),({n},{n}),({n}),({n})"
    inputs = ("q", "qd", *[symbol.name for symbol in symbols.values()])
    program = kernel(signature, name="equations_of_motion", inputs=inputs, outputs=("M", "C", "V", "G"))(text).program()
    found = equations(program, shared=True)
    q = tuple(found.inputs["q"])
    qd = tuple(found.inputs["qd"])
    written = {name: list(found.outputs[name]) for name in ("M", "C", "V", "G")} | {
        "F": passive(tree, drives, symbols, q, qd)}
    return EquationsOfMotion(tree.name, q, qd, tuple(sympy.Symbol(f"qdd_{k + 1}") for k in range(n)),
                             parameter_values(symbols, parameters), written, tuple(found.lines))
