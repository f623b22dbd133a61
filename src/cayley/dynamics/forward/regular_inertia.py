"""Whether accelerations follow from forces: only where the inertia matrix is positive definite, and not by rounding
alone.

Eliminated from the tips inwards, the matrix has one pivot for each velocity: the inertia that it feels when all that it
carries gives way. Every pivot must be positive (`compiler.solving.definite`). Most mechanisms need no test: they are
regular everywhere (`cayley.dynamics.inertia_matrix.always_regular`); only the others pay for one at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cayley.compiler.solving.definite import is_definite, is_definite_by_pivots, only_where
from cayley.compiler.solving.linear import ldl
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.forward.articulated_bodies import forward_dynamics, joint_inertias
from cayley.dynamics.forward.methods import default_method
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import diagonal, inertia_matrix
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SingularityError
from cayley.model.tree import Tree


def guarded(tree: Tree, compute: Callable[..., Any], shapes: Sequence[tuple[int, ...]]) -> Callable[..., Any]:
    """A text `(q, ...)` of results of the given shapes, all of them NaN where the inertia matrix of the mechanism is
    singular.

    Of a mechanism that is regular everywhere it is the text itself, and costs no more.
    """
    if always_regular(tree):
        return compute
    is_regular = regular_text(tree)

    def text(q: Array, *others: Array) -> Scalar:
        regular = is_regular(q)
        try:
            found = compute(q, *others)
        except SingularityError:  # at all configurations, as a method saw by itself
            return np.full(shapes[0], np.nan) if len(shapes) == 1 else tuple(np.full(shape, np.nan) for shape in shapes)
        return only_where(regular, found) if len(shapes) == 1 else tuple(only_where(regular, value) for value in found)

    text.__doc__ = compute.__doc__
    text.__module__ = compute.__module__
    return text


def regular_text(tree: Tree) -> Callable[[Any], Any]:
    """The text `(q) -> truth value`, in the terms of the default method of forward dynamics, which has most of them
    already.
    """
    links = minimal_links(tree)
    rotors = rotor_inertias(tree)
    return partial(_short_is_regular if default_method(tree) == "composite-bodies" else _deep_is_regular, links, rotors)


def _short_is_regular(links: Links, rotors: Array, q: Array) -> Scalar:
    return is_definite((inertia_matrix(links, q) + np.diag(rotors))[::-1, ::-1])


def _deep_is_regular(links: Links, rotors: Array, q: Array) -> Array:
    pivots = [pivot for D in joint_inertias(links, q, rotors=rotors) for pivot in ldl(D[::-1, ::-1])[1]]
    at_rest = partial(forward_dynamics, replace(links, gravity=np.zeros(3)), q, np.zeros(links.nv), rotors=rotors)
    return is_definite_by_pivots(pivots, diagonal(links, q) + rotors, at_rest)
