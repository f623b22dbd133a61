"""The equations of motion of a mechanism as formulas to read: M(q) qdd + C(q, qd) qd + G(q) = tau.

The texts of inertia matrix and gravity forces run on exact sums of sines and cosines (`closed_form`). What would be too
long to read is a list of intermediate values instead, found by the compiler (`recursive_form`). Source: Ruggiu (3.58),
(3.59); spec S2-57.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from cayley.dynamics.equations.closed_form import closed_form
from cayley.dynamics.equations.recursive_form import recursive_form
from cayley.dynamics.equations.result import EquationsOfMotion
from cayley.dynamics.equations.trigonometric_sums import TooLong
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.errors import ConventionError, UnsupportedError
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.dynamics.equations.closed_mechanisms import Formulation


def equations_of_motion(tree: Tree, *, parameters: Literal["numbers", "symbols"] = "numbers",
                        simplify: Callable[[Any], Any] | None = None, shared: bool | None = None,
                        formulation: Formulation | None = None,
                        independent: Sequence[str] | None = None) -> EquationsOfMotion:
    """The equations of motion of a mechanism whose joints have as many coordinates as velocities.

    `parameters`: the "numbers" of the model, or "symbols" for them: m_i mass of link i, c_i its centre, I_i inertia
    about it, l_i where link i carries the next (x, y, z after the number where there are several), g gravity; J_i, b_i,
    f_i of rotors and friction that the mechanism includes. Zeros of the model are zeros. `shared`: intermediate
    symbols, all (True), none (False), or as many as it takes to be readable. `simplify`: a function of SymPy to apply
    to every entry. Of a mechanism with constraints they are `ClosedEquations`, in a `formulation` of
    `closed_mechanisms`, "augmented", "projection" or "minimal", the last two in the coordinates of `independent`
    joints.

    >>> from cayley.model.catalogue import load_robot
    >>> print(equations_of_motion(load_robot("planar2r"), parameters="symbols"))
    M qdd + V + G = tau, V = C qd
    h = m_2*l_1*c_2*sin(q_2)
    M_11 = I_1 + I_2 + m_1*c_1**2 + m_2*(l_1**2 + c_2**2 + 2*l_1*c_2*cos(q_2))
    M_12 = M_21 = I_2 + m_2*(c_2**2 + l_1*c_2*cos(q_2))
    M_22 = I_2 + m_2*c_2**2
    V_1 = -h*(2*qd_1*qd_2 + qd_2**2)
    V_2 = h*qd_1**2
    G_1 = (m_1*c_1 + m_2*l_1)*g*cos(q_1) + m_2*c_2*g*cos(q_1 + q_2)
    G_2 = m_2*c_2*g*cos(q_1 + q_2)
    """
    if parameters not in ("numbers", "symbols"):
        raise ConventionError(f'parameters are "numbers" or "symbols", not {parameters!r}')
    links = links_of(tree.spanning_tree())
    _check_coordinates(tree, links)
    if tree.is_constrained:
        from cayley.dynamics.equations.closed_mechanisms import closed_equations
        closed = closed_equations(tree, with_letters=parameters == "symbols", shared=shared,
                                  formulation=formulation or "augmented", independent=independent)
        return closed if simplify is None else _simplified(closed, simplify)
    if formulation is not None or independent is not None:
        raise ConventionError(f"{tree.name} has no constraints: its equations have one formulation, in all coordinates")
    found = _found(tree, links, parameters == "symbols", shared)
    return found if simplify is None else _simplified(found, simplify)


def _found(tree: Tree, links: Links, with_letters: bool, shared: bool | None) -> EquationsOfMotion:
    try:
        return closed_form(tree, links, with_letters=with_letters, shared=shared)
    except TooLong as long:
        if shared is False:
            raise UnsupportedError(
                f"{long}: leave `shared` to its default, and they are lines of intermediate values") from None
    return recursive_form(tree, links, with_letters=with_letters)


def _check_coordinates(tree: Tree, links: Links) -> None:
    for link in links.links:
        if link.motion.nq != link.motion.nv:
            raise UnsupportedError(
                f"joint {link.name!r} of {tree.name} is {link.motion.word}: a quaternion's rates are not its "
                "velocities, and Christoffel's "
                "symbols do not apply; replace it by revolute and prismatic joints, or read the recursion, "
                "inverse_dynamics.equations()"
            )
        if link.motion.screw is None:
            raise UnsupportedError(
                f"joint {link.name!r} of {tree.name} is {link.motion.word}: equations are written for motions about "
                "and along axes; read the recursion, inverse_dynamics.equations()")


def _simplified(found: EquationsOfMotion, simplify: Callable[[Any], Any]) -> EquationsOfMotion:
    written = {name: [simplify(entry.doit()) for entry in entries] for name, entries in found.written.items()}
    return replace(found, written=written, lines=tuple((s, simplify(e)) for s, e in found.intermediates), order=None)
