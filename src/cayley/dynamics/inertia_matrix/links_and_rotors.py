"""The inertia matrix of links and of the rotors of their drives: inertias of links with all that they carry, inwards,
and what a unit of each acceleration needs at the joints before it.

A rotor is felt by the joints of the links that carry it, and by no other rotor: B is diagonal among motors. Operators
and their frames are those of `cayley.dynamics.rigid_links.spatial_operators`. Source: Mladenova, section 7.4.1, spec
R-50, R-60.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import ROOT
from cayley.dynamics.rigid_links.spatial_operators import LinksAndRotors, operators


def inertia_matrix(arm: LinksAndRotors, q: Array) -> Array:
    """M (nv, nv), without the inertia of rotors that only spin."""
    of = [operators(link, q) for link in arm.links.links]
    carried = [body.M for body in of]
    found: list[list[Scalar]] = [[0.0] * arm.links.nv for _ in range(arm.links.nv)]

    def enter(rows: slice, columns: slice, block: Array) -> None:
        for i, row in enumerate(range(arm.links.nv)[rows]):
            for j, column in enumerate(range(arm.links.nv)[columns]):
                found[row][column] = found[column][row] = block[i, j]

    for k in (*arm.rotors, *reversed(arm.bars)):
        body = of[k]
        needed = carried[k] @ body.E
        enter(body.columns, body.columns, body.E.T @ needed)
        at = body
        while at.carrier != ROOT:
            needed = at.Phi.T @ needed
            at = of[at.carrier]
            enter(at.columns, body.columns, at.E.T @ needed)
        if body.carrier != ROOT:
            carried[body.carrier] = carried[body.carrier] + body.Phi.T @ carried[k] @ body.Phi
    return np.array(found)
