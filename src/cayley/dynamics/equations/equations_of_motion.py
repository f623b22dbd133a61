"""The equations of motion of a mechanism as formulas to read: M(q) qdd + C(q, qd) qd + G(q) = tau.

The texts of inertia matrix and gravity forces run on exact sums of sines and cosines (`closed_form`). What would be too
long to read is a recursion of named values instead (`named_recursion`). Source: Ruggiu (3.58),
(3.59); spec S2-57."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from cayley.dynamics.equations.closed_form import closed_form
from cayley.dynamics.equations.named_recursion import named_recursion
from cayley.dynamics.equations.result import EquationsOfMotion
from cayley.dynamics.equations.symbolic_links import parameters_of
from cayley.dynamics.equations.trigonometric_sums import TooLong
from cayley.dynamics.rigid_links.links import Link, Links, links_of
from cayley.errors import ConventionError, UnsupportedError
from cayley.model.masses import unknown_masses, with_masses_for_letters
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.equations.closed_mechanisms import Formulation


def equations_of_motion(tree: Tree, *, parameters: Literal["numbers", "symbols"] = "numbers",
                        simplify: Callable[[Any], Any] | None = None, shared: bool | None = None,
                        formulation: Formulation | None = None,
                        independent: Sequence[str] | None = None) -> EquationsOfMotion:
    """The equations of motion of a mechanism; written out, if they are short enough and its joints turn about and
    slide along axes, and otherwise a recursion of named values, in groups.

    `parameters`: the "numbers" of the model, or "symbols" for them: m_i mass of link i, r_i its centre, I_i inertia
    about it, l_i where link i carries the next (x, y, z after the number where there are several), g gravity; J_i, b_i,
    f_i of rotors and friction that the mechanism includes. Zeros of the model are zeros. Links whose masses are unknown
    have letters too, without values: m_i, a centre r_i on the line to the next joint, principal inertias. `shared`:
    intermediate symbols, all (True), none (False), or as many as it takes to be readable. `simplify`: a function of
    SymPy to apply to every entry. Of a mechanism with constraints they are `ClosedEquations`, in a `formulation` of
    `closed_mechanisms`, "augmented", "projection" or "minimal", the last two in the coordinates of `independent`
    joints.

    >>> from cayley.model.catalogue import load_robot
    >>> print(equations_of_motion(load_robot("planar2r"), parameters="symbols"))
    M qdd + V + G = tau, V = C qd
    h = m_2*l_1*r_2*sin(q_2)
    M_11 = I_1 + I_2 + m_1*r_1**2 + m_2*(l_1**2 + r_2**2 + 2*l_1*r_2*cos(q_2))
    M_12 = M_21 = I_2 + m_2*(r_2**2 + l_1*r_2*cos(q_2))
    M_22 = I_2 + m_2*r_2**2
    V_1 = -h*(2*qd_1*qd_2 + qd_2**2)
    V_2 = h*qd_1**2
    G_1 = (m_1*r_1 + m_2*l_1)*g*cos(q_1) + m_2*r_2*g*cos(q_1 + q_2)
    G_2 = m_2*r_2*g*cos(q_1 + q_2)
    """
    if parameters not in ("numbers", "symbols"):
        raise ConventionError(f'parameters must be "numbers" or "symbols", not {parameters!r}')
    if parameters == "symbols" and unknown_masses(tree):
        return _without_values(tree, equations_of_motion(
            with_masses_for_letters(tree), parameters="symbols", simplify=simplify, shared=shared,
            formulation=formulation, independent=independent))
    links = links_of(tree.spanning_tree())
    if tree.is_constrained or parameters == "symbols" or shared is False:
        _check_coordinates(tree, links)
    if tree.is_constrained:
        from cayley.dynamics.equations.closed_mechanisms import closed_equations
        closed = closed_equations(tree, with_letters=parameters == "symbols", shared=shared,
                                  formulation=formulation or "augmented", independent=independent)
        return closed if simplify is None else _simplified(closed, simplify)
    if formulation is not None or independent is not None:
        raise ConventionError(f"{tree.name} has no constraints: its equations have one formulation, in all coordinates")
    found = _found(tree, links, parameters == "symbols", shared) if all(map(_has_axis, links.links)) else (
        named_recursion(tree, links, with_letters=False))
    return found if simplify is None else _simplified(found, simplify)


def _without_values(tree: Tree, found: EquationsOfMotion) -> EquationsOfMotion:
    """The same with NaN for the values of letters that stand for what is unknown: those that a choice would change."""
    free = tree.spanning_tree()
    chosen, other = (parameters_of(links_of(with_masses_for_letters(free, size))) for size in (1.0, 2.0))
    places = "|".join({p.place for name, p in chosen.items() if p.value != other[name].value})
    unknown = re.compile(rf"[mrI]_({places})[xyz]*")
    return replace(found, parameters={symbol: float("nan") if unknown.fullmatch(symbol.name) else value
                                      for symbol, value in found.parameters.items()})


def _found(tree: Tree, links: Links, with_letters: bool, shared: bool | None) -> EquationsOfMotion:
    try:
        return closed_form(tree, links, with_letters=with_letters, shared=shared)
    except TooLong as long:
        if shared is False:
            raise UnsupportedError(
                f"{long}: leave `shared` to its default, and they are lines of intermediate values") from None
    return named_recursion(tree, links, with_letters=with_letters)


def _has_axis(link: Link) -> bool:
    return link.motion.nq == link.motion.nv and link.motion.screw is not None


def _check_coordinates(tree: Tree, links: Links) -> None:
    for link in links.links:
        if not _has_axis(link):
            raise UnsupportedError(
                f"joint {link.name!r} of {tree.name} is {link.motion.word}: equations with constraints, in letters or "
                "without intermediate values are written for motions about and along axes; replace it by revolute and "
                "prismatic joints, or ask for " + ("the equations of its spanning_tree()" if tree.is_constrained else
                                                   "numbers and leave `shared` to its default"))


def _simplified(found: EquationsOfMotion, simplify: Callable[[Any], Any]) -> EquationsOfMotion:
    written = {name: [simplify(entry.doit()) for entry in entries] for name, entries in found.written.items()}
    return replace(found, written=written, lines=tuple((s, simplify(e)) for s, e in found.intermediates), order=None)
