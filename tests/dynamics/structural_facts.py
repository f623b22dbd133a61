"""What holds for the sensitivity matrices of every mechanism, or of every open chain, as checks of a model or of
matrices from elsewhere.

    D = D^T > 0         v_nn = 0         V qd = 2 C(q, qd)         V + V^T = 2 D'         at rest V = 0 and P = P^T
The first column of P is zero if joint 1 turns about the direction of gravity, or slides; then that of V is zero too.
All this is for joints whose velocities are rates of coordinates. Source: Balafoutis & Patel (7.3.5)-(7.3.10), spec
R8.4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.dynamics.closed_form import velocity_forces
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities, sensitivities
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.model.tree import Tree


class StructuralFacts(NamedTuple):
    """Whether each fact holds.

    The first six do for open chains whose links have mass; the last three tell of joint 1 and of the state.
    """

    D_is_symmetric: bool
    D_is_positive_definite: bool
    last_entry_of_V_is_zero: bool
    V_gives_twice_the_velocity_forces: bool
    V_and_its_transpose_give_twice_the_rate_of_D: bool
    D_is_the_inertia_matrix: bool
    first_column_of_V_is_zero: bool
    first_column_of_P_is_zero: bool
    P_is_symmetric: bool


def structural_facts(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, matrices: Sensitivities | None = None, *,
                     tolerance: float = 1e-12) -> StructuralFacts:
    """The facts of an open chain at a state, of its own matrices or of some that were found elsewhere, to a part of the
    largest entry.
    """
    chain = serial_chain(tree)
    q, qd, qdd = (np.asarray(x, dtype=float) for x in (q, qd, qdd))
    D, V, P = (np.asarray(x, dtype=float) for x in (sensitivities(chain, q, qd, qdd) if matrices is None else matrices))
    size = [max(1.0, np.abs(x).max(initial=0.0)) for x in (D, V, P)]

    def vanishes(x: ArrayLike, beside: float) -> bool:
        return bool((np.abs(x) <= tolerance * beside).all())

    rate = inertia_matrix(chain, q + 1e-30j * qd).imag / 1e-30  # a complex step: no digit is lost
    twice = 2 * velocity_forces(chain, q, qd)
    return StructuralFacts(vanishes(D - D.T, size[0]), bool((np.linalg.eigvalsh(D) > 0).all()),
                           vanishes(V[-1:, -1:], size[1]),
                           vanishes(V @ qd - twice, max(size[1],
                                                        np.abs(twice).max(initial=0.0))),
                           vanishes(V + V.T - 2 * rate, size[1]), vanishes(D - inertia_matrix(chain, q), size[0]),
                           vanishes(V[:, :1], size[1]), vanishes(P[:, :1], size[2]), vanishes(P - P.T, size[2]))
