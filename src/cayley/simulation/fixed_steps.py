"""The fixed-step methods of mechanisms by name: those of all systems, and a variational one.

    rk4                   explicit, order 4: the most accurate for its price, over times that are not long
    semi-implicit-euler   explicit, order 1: the cheapest step
    lie-midpoint          implicit, symmetric, order 2: keeps the energy of single free bodies exactly
    implicit-midpoint     implicit, symmetric, order 2, solved by Newton's method: stiff springs cost no step size
                          and no energy
    gauss                 the same of order 4
    gauss-energy          the same, with the balance of energy exact
    variational           implicit, symplectic, symmetric, order 2: keeps momenta exactly, and energy without drift: for
                          long times
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Axes
from cayley.dynamics.constrained_mechanics import ConstrainedMechanics
from cayley.dynamics.open_tree import TreeMechanics, parametric_system, tree_system
from cayley.dynamics.rigid_links.drives import coulomb_frictions
from cayley.errors import UnsupportedError
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.simulation.variational import variational
from cayley.systems.fixed_steps.methods import EXPLICIT, IMPLICIT
from cayley.systems.system import System

METHODS = (*EXPLICIT, *IMPLICIT, "variational")


def mechanism_system(mechanics: TreeMechanics) -> System:
    """The system of a mechanism, open or with constraints, with the methods of mechanisms."""
    return replace(tree_system(mechanics), methods={"variational": partial(variational, mechanics)})


def connectable_system(tree: Tree, wrenches: tuple[str, ...], axes: Axes, parameters: Sequence[str] = ()) -> System:
    """The system of a mechanism whose forces are all smooth: dry friction holds joints, which only `simulate` and
    `rollout` of a mechanism know of. `parameters` are words for numbers of the tree that are parameters of the system.
    """
    if coulomb_frictions(tree).any():
        raise UnsupportedError(
            f"{tree.name} includes dry friction, which holds joints at rest: only `arm.simulate` and `arm.rollout` "
            "know when. In a connected system its smooth stand-in takes that place, "
            '`cy.control.dry_friction("tau", coulomb)` between law and arm, with the viscous friction alone in the '
            'arm: `arm.with_friction(arm.joint_names, viscous=...).including("friction")` '
            "(docs/motion_and_control/control.md)")
    if parameters:
        check_independent(tree, "a system with numbers of the mechanism as parameters")

    def made() -> System:
        mechanics = ConstrainedMechanics.of(tree, wrenches, axes)
        return parametric_system(mechanics, parameters) if parameters else mechanism_system(mechanics)

    return kept(tree, ("system", wrenches, axes, tuple(parameters)), made)
