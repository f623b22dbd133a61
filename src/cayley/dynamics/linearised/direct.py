"""The sensitivity matrices of open chains entry by entry: nothing is recursive but the nominal motion.

An entry is the derivative of one joint's moment or force (`partials`) along its own axis. The second way to D, V and P,
beside Algorithm 7.1. Source: Balafoutis & Patel (7.3.2)-(7.3.4), dots restored as in spec E-19, prismatic joints as in
spec R10."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.linearised.partials import PartialDerivatives, partial_derivatives
from cayley.dynamics.rigid_links.links import Links


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array) -> Sensitivities:
    """D, V and P (n, n) of an open chain of revolute and prismatic joints."""
    library = partial_derivatives(links, q, qd, qdd)
    n = len(links.links)
    rows = [[_entry(library, i, j) for j in range(n)] for i in range(n)]
    P, V, D = (np.array([[entry[k] for entry in row] for row in rows]).reshape(n, n) for k in range(3))
    return Sensitivities(D, V, P)


def _entry(library: PartialDerivatives, i: int, j: int) -> list[Any]:
    if library.motion.links[i].link.is_revolute:
        return [x[2] for x in library.moment(i, j)]
    m = library.motion.carried[i].m
    return [(m * a + U)[2] for a, U in zip(library.origin(i, j), library.first_moment(i, j), strict=True)]
