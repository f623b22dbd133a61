"""The sensitivity matrices of open chains from the vector Newton-Euler equations, each line differentiated: a baseline.

The equations of Luh, Walker & Paul are evaluated together with their derivatives by every coordinate, velocity and
acceleration, about n^3 + 2 n^2 terms in all; the graph of the equations is differentiated column by column. Source:
after Vukobratovic & Kircanski 1985, reference 14 of Balafoutis & Patel 7.2.2 b)."""

from __future__ import annotations

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.luh_walker_paul import inverse_dynamics
from cayley.dynamics.linearised.by_differentiation import derivatives
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.rigid_links.links import Links


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array) -> Sensitivities:
    """D, V and P (n, n) of an open chain of revolute and prismatic joints."""
    P, V, D = derivatives(inverse_dynamics, links, q, qd, qdd)
    return Sensitivities(D, V, P)
