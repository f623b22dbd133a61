"""The inertia matrix of links and of the rotors of their drives: inertias of links with all that they carry, inwards,
and what a unit of each acceleration needs at the joints before it.

A rotor is felt by the joints of the links that carry it, and by no other rotor: B is diagonal among motors. Operators
and their frames are those of `cayley.dynamics.rigid_links.spatial_operators`. Source: Mladenova, section 7.4.1, spec
R-50, R-60."""

from __future__ import annotations

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.spatial_composites import composite_matrix
from cayley.dynamics.rigid_links.spatial_operators import LinksAndRotors, operators


def inertia_matrix(arm: LinksAndRotors, q: Array) -> Array:
    """M (nv, nv), without the inertia of rotors that only spin."""
    of = [operators(link, q) for link in arm.links.links]
    return composite_matrix(of, (*arm.rotors, *reversed(arm.bars)), arm.links.nv)
