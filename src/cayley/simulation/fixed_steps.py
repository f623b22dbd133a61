"""Mechanisms as systems, with dry friction and stops, and their fixed-step methods: those of all systems, and a
variational one.

    rk4                   explicit, order 4: the most accurate for its price, over times that are not long
    semi-implicit-euler   explicit, order 1: the cheapest step
    lie-midpoint          implicit, symmetric, order 2: keeps the energy of single free bodies exactly
    implicit-midpoint     implicit, symmetric, order 2, solved by Newton's method: stiff springs cost no step size
                          and no energy
    gauss                 the same of order 4
    gauss-energy          the same, with the balance of energy exact
    variational           implicit, symplectic, symmetric, order 2: keeps momenta exactly, and energy without drift: for
                          long times"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.typing import Array
from cayley.dynamics.constrained_mechanics import ConstrainedMechanics
from cayley.dynamics.open_tree import TreeMechanics, parametric_system, tree_system
from cayley.dynamics.rigid_links.drives import coulomb_frictions, without_dry_friction
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.kinematics.constraints import rows as constraints
from cayley.model.constraints import check_independent
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.parameters import chosen_parameters
from cayley.model.tree import Tree
from cayley.simulation.contacts import with_contacts
from cayley.simulation.variational import variational
from cayley.systems.fixed_steps.methods import EXPLICIT, IMPLICIT
from cayley.systems.friction_and_stops import FrictionAndStops, Stop
from cayley.systems.layout import Record
from cayley.systems.system import System

METHODS = (*EXPLICIT, *IMPLICIT, "variational")
LIMITS = {"ignore": 0.0, "end": 0.0, "inelastic": 0.0, "elastic": 1.0}


def mechanism_system(tree: Tree, wrenches: Sequence[str] = (), axes: str = "body", inertias: Sequence[str] = (),
                     base_motion: bool = False, limits: str | float = "ignore",
                     parameters: Sequence[str] = ()) -> System:
    """The system of a mechanism, open or with constraints, with its dry friction, its joint limits as stops, and the
    methods of mechanisms; made once. `parameters` are words for numbers of the tree that are parameters of the system.
    """
    key = ("system", tuple(wrenches), axes, tuple(inertias), base_motion, limits, tuple(parameters))
    return kept(tree, key, lambda: _made(tree, ConstrainedMechanics.of(
        without_dry_friction(tree), tuple(wrenches), axes, tuple(inertias), base_motion), limits, parameters))


def _made(tree: Tree, mechanics: TreeMechanics, limits: str | float, parameters: Sequence[str]) -> System:
    if parameters:
        check_independent(tree, "a system with numbers of the mechanism as parameters")
        dry = [each.name for each in chosen_parameters(tree, parameters).entries
               if each.kind == "friction" and each.entry == "coulomb"]
        if dry and coulomb_frictions(tree).any():
            raise UnsupportedError(f"{dry[0]} of {tree.name} cannot be a parameter of its system: dry friction is a "
                                   "constant of the compiled steps; choose other parameters")
        made, at = parametric_system(mechanics, parameters)
    else:
        made, at = replace(tree_system(mechanics), methods={"variational": partial(variational, mechanics)}), None
    holds = _friction_and_stops(tree, mechanics, limits, at)
    return with_contacts(replace(made, holds=holds), tree) if tree.contacts else replace(made, holds=holds)


def _friction_and_stops(tree: Tree, mechanics: TreeMechanics, limits: str | float,
                        at: Callable[[Record], TreeMechanics] | None) -> list[FrictionAndStops]:
    """The dry friction and the stops of a mechanism, if it has any."""
    restitution = float(limits) if isinstance(limits, Real) else LIMITS.get(str(limits))
    if restitution is None or not 0 <= restitution <= 1:
        raise ConventionError(f"limits are {', '.join(map(repr, LIMITS))}, or a coefficient of restitution from 0 to "
                              f"1, not {limits!r}")
    friction = _checked_friction(tree)
    stops = () if limits == "ignore" else tuple(stops_of(tree))
    if not stops and not friction.any() and not tree.contacts:
        return []

    def balance(t: Array, x: Record, u: Record, p: Record) -> tuple[Array, Array]:
        here = mechanics.at(t) if at is None else at(p)
        return here.balance(x["q"], x["qd"], *[u[name] for name in u])

    made = FrictionAndStops(
        "qd", "q", tuple(name for name, _ in velocity_labels(tree)), friction, balance,
        stops=() if limits == "end" else stops, restitution=restitution, ends=stops if limits == "end" else ())
    return [_tied(made, mechanics) if isinstance(mechanics, ConstrainedMechanics) else made]


def _tied(made: FrictionAndStops, mechanics: ConstrainedMechanics) -> FrictionAndStops:
    """The same with the constraints that tie joints together."""
    whole = mechanics.whole
    assert whole is not None

    def yielding(t: Array, x: Record, u: Record, p: Record, forces: Array) -> Array:
        here = mechanics.at(t)
        A = here.jacobian(x["q"])
        M, _ = here.balance(x["q"], x["qd"], *[u[name] for name in u])
        return here.solved_within(A, M, forces, np.zeros(len(A)))

    def basis(A: Array) -> Array:
        lengths = np.array(mechanics.structure.lengths)
        own = A * lengths
        return lengths[:, None] * null_basis(own / np.linalg.norm(own, 2))  # rows of zeros are left out of A

    return replace(made, tied=len(mechanics.structure.rows), basis=basis,
                   rows=lambda t, x, u, p: constraints.jacobian(whole, x["q"], mechanics.at(t).t), yielding=yielding)


def _checked_friction(tree: Tree) -> Array:
    """The dry friction (nv) of a mechanism, if it is one that can be simulated."""
    friction = coulomb_frictions(tree)
    negative = [name for (name, _), c in zip(velocity_labels(tree), friction, strict=True) if c < 0]
    if negative:
        raise ModelError(f"joint {negative[0]!r} of {tree.name} has a negative dry friction: it would push, and "
                         "nothing says where to from rest; leave friction out, or correct it")
    return friction


def stops_of(tree: Tree) -> list[Stop]:
    """The finite limits of a mechanism; attitudes and positions of floating bodies have none."""
    found = []
    for joint, place, columns in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.attitude is not None:
            continue
        for k in range(joint.motion.nq):
            for limit, n in ((joint.limits.lower[k], 1), (joint.limits.upper[k], -1)):
                if np.isfinite(limit):
                    found.append(Stop(joint.name, place.start + k, columns.start + k, float(limit), n))
    return found
