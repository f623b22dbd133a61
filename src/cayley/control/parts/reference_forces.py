"""What the model of an arm needs to follow a reference velocity v while it moves with another, qd: the forces of laws
that rely on passivity.

    M(q) a + C(q, qd) v + g(q)        v = target' + slope e        a = v'        s = v - qd = e' + slope e
C is that of Christoffel's symbols, so that M' - 2 C is skew and C(q, x) y = C(q, y) x. Velocity forces c(q, x) =
C(q, x) x then give it by polarisation, C(q, qd) v = c(q, (qd + v)/2) - c(q, (qd - v)/2): two sweeps of the recursion
that is there, or two regressors, and no matrix. Joints of one coordinate each: of others, velocities are no rates of
coordinates. Source: Slotine & Li, On the adaptive control of robot manipulators, 1987, (5), (6).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.control.arms import HasTree, check_driven, check_rigid_drives, check_single_coordinates, gains_of, tree_of
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import drive_forces
from cayley.dynamics.rigid_links.inertial_parameters import MOMENT_NAMES
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import SignatureError
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree
from cayley.systems.ports import Port
from cayley.systems.record import Record
from cayley.wording import shown

if TYPE_CHECKING:
    from cayley.dynamics.identification import LinearModel

_CREEP = 1e-3  # [rad/s, m/s] at which dry friction changes its sign


class Reference(NamedTuple):
    """The error, the reference velocity and its rate, and s, each (nv); a text."""

    e: Array
    v: Array
    a: Array
    s: Array


def reference(u: Record, slope: Array) -> Reference:
    """From what a law gets: `q`, `qd`, `target`, `target_qd`, `target_qdd`."""
    e = u.target - u.q
    v = u.target_qd + slope * e
    return Reference(e, v, u.target_qdd + slope * (u.target_qd - u.qd), v - u.qd)


def tracking_ports(count: int) -> dict[str, Port]:
    """The inputs of a law that follows a target in joint space: what moves it is zero if nothing drives it."""
    still = Port((count,), default=0.0)
    return {"q": Port((count,)), "qd": Port((count,)), "target": Port((count,)), "target_qd": still,
            "target_qdd": still}


def arm_of_single_coordinates(arm: Tree | HasTree, what: str) -> Tree:
    """The tree of an arm whose velocities are rates of its coordinates, free and with rigid drives; others are refused
    by name."""
    tree = tree_of(arm)
    check_independent(tree, what)
    check_rigid_drives(tree, what)
    check_single_coordinates(tree, what)
    check_driven(tree, what)
    return tree


def positive_gains_of(values: ArrayLike, count: int, name: str, *, zero: bool = False) -> Array:
    """Gains (count) on which a proof of stability rests: more than zero, or at least zero."""
    given = gains_of(values, count, name, signed=True)
    if not ((given >= 0) if zero else (given > 0)).all():
        raise SignatureError(f"the gains {name} are {'not negative' if zero else 'positive'}, not {shown(values)}")
    return given


def reference_forces(tree: Tree) -> Text:
    """The text `(q, qd, v, a)` of the forces (nv), with the friction and the rotors that the arm includes."""
    links = minimal_links(tree)
    weightless = replace(links, gravity=np.zeros(3))
    rest = np.zeros(tree.nv)

    def forces(q: Array, qd: Array, v: Array, a: Array) -> Array:
        half = (qd - v) / 2
        return inverse_dynamics(links, q, qd - half, a) - inverse_dynamics(weightless, q, half, rest) + drive_forces(
            tree, q, qd, a)

    return forces


def reference_regressor(model: LinearModel) -> Text:
    """The text `(q, qd, v, a)` of Y (nv, size): the same forces are Y times the parameters. Dry friction is smooth
    within 0.001 rad/s or m/s, that no estimate chatters at rest."""
    weightless = replace(model, links=replace(model.links, gravity=np.zeros(3)))
    of_mass = np.array([word in MOMENT_NAMES for _, word in model.columns])
    rest = np.zeros(model.links.nv)

    def regressor(q: Array, qd: Array, v: Array, a: Array) -> Array:
        half = (qd - v) / 2
        polarised = model.text(q, qd - half, a) - weightless.text(q, half, rest)
        of_joints = model.text(q, qd, a, sign=lambda x: np.tanh(x / _CREEP))
        return np.stack([(polarised if mass else of_joints)[:, k] for k, mass in enumerate(of_mass)], axis=1)

    return regressor
