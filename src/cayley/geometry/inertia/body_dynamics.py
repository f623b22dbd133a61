"""Momentum, energy and the equations of Newton and Euler of one rigid body, with vectors and with tensors.

    m, I, J   mass, inertia tensor, Euler tensor          w, wd     angular velocity and acceleration
    r         from the reference point to the centre
    Omega     angular acceleration tensor, `angular_acceleration_from_vectors`
    s, sd, sdd  place, velocity, acceleration of the reference point

Euler's equation has one form for the centre of mass and for a point at rest, in fixed axes and in body axes: what
matters is that inertia, velocity and acceleration are all about that point and all in those axes. SI units. Sources:
Balafoutis & Patel (4.3.1)-(4.3.44); seed 2, (3.4)-(3.29); Yamamoto (F.1)-(F.16), spec E3-42.

`published` are the numbers of Balafoutis & Patel, section 4.3.4. `text` counts the operations of the very texts in
`body_dynamics`, each as it is written. `compiled` is what is left when the compiler knows that the inertia is
symmetric, six numbers.

>>> angular_momentum(np.diag([1.0, 2.0, 3.0]), [1.0, 1.0, 0.0])
array([1., 2., 0.])
>>> float(kinetic_energy(2.0, [1.0, 0.0, 0.0], np.eye(3), [0.0, 2.0, 0.0]))
3.0

>>> euler_torque(np.diag([1.0, 2.0, 3.0]), [0.0, 1.0, 1.0], [0.0, 0.0, 0.0])
array([1., 0., 0.])
>>> angular_acceleration_from_torque(np.diag([1.0, 2.0, 3.0]), [0.0, 1.0, 1.0], [1.0, 0.0, 0.0])
array([0., 0., 0.])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.algebras.counts import Operations, count
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, Scalar, Text
from cayley.geometry.formula import formula
from cayley.geometry.inertia.tensors import check_invertible_inertia, inverse_inertia
from cayley.geometry.tensors.checks import check_symmetric, refuse_where


class Wrench(NamedTuple):
    force: Array
    moment: Array


# Momentum and energy


angular_momentum = formula("angular_momentum", "(3,3),(3)->(3)", lambda I, w: I @ w,
                           "L = I w [kg m^2/s] about the centre of mass or a point at rest, (4.3.22).")
kinetic_energy = formula("kinetic_energy", "(),(3),(3,3),(3)->()",
                         lambda mass, velocity, I, w: (mass * (velocity @ velocity) + w @ (I @ w)) / 2,
                         "m v.v / 2 + w.I w / 2 [J], with velocity and inertia of the centre of mass. Seed 2 (3.20).")

# Euler's equation


euler_torque = formula(
    "euler_torque", "(3,3),(3),(3)->(3)", lambda I, w, wd: I @ wd + np.cross(w, I @ w),
    "M = I wd + w x I w [N m], (4.3.2), (4.3.35): about the centre of mass or a point at rest, in any axes.")
angular_acceleration_from_torque = formula(
    "angular_acceleration_from_torque", "(3,3),(3),(3)->(3)",
    lambda I, w, torque: inverse_inertia(I) @ (torque - np.cross(w, I @ w)),
    "wd = I^-1 (M - w x I w) [rad/s^2]; an inertia that is singular, or that no body has, is refused.",
    check_invertible_inertia)

# Newton and Euler together


@kernel("(),(3,3),(3),(3),(3),(3)->(3),(3)")
def newton_euler_by_vectors(mass: Scalar, I: Array, r: Array, w: Array, wd: Array, sdd: Array) -> Wrench:
    """Force on the body and moment about its centre of mass: m (sdd + wd x r + w x (w x r)) and I wd + w x I w.

    The text of (4.3.1), (4.2.24), (4.3.2): 45 multiplications and 33 additions.

    >>> newton_euler_by_vectors(2.0, np.eye(3), [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0],
    ...                         [0.0, 0.0, 0.0]).force
    array([-2.,  2.,  0.])
    """
    return Wrench(mass * (sdd + np.cross(wd, r) + np.cross(w, np.cross(w, r))), I @ wd + np.cross(w, I @ w))


@kernel("(),(3,3),(3),(3,3),(3)->(3),(3)")
def newton_euler_by_tensors(mass: Scalar, J: Array, r: Array, Omega: Array, sdd: Array) -> Wrench:
    """Force on the body and moment about its centre of mass: m (sdd + Omega r) and the vector of Omega J - (Omega J)^T.

    The text of (4.3.1), (4.2.20), (4.3.44), (3.3.31), with only the products that the vector needs: 30 multiplications
    and 24 additions, Omega given.

    >>> turning = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> newton_euler_by_tensors(2.0, np.eye(3) / 2, [1.0, 0.0, 0.0], turning, [0.0, 0.0, 0.0]).moment
    array([0., 0., 1.])
    """
    moment = [Omega[i] @ J[:, k] - Omega[k] @ J[:, i] for i, k in ((2, 1), (0, 2), (1, 0))]
    return Wrench(mass * (sdd + Omega @ r), np.stack(moment))


@kernel("(),(3,3),(3),(3,3),(3)->(3),(3)", check=lambda mass, J, r, Omega, sdd: check_symmetric(J))
def newton_euler_by_symmetric_tensors(mass: Scalar, J: Array, r: Array, Omega: Array, sdd: Array) -> Wrench:
    """The same with the symmetry of J used once more, spec R-19...25: 27 multiplications and 24 additions, Omega given.

    >>> turning = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> newton_euler_by_symmetric_tensors(2.0, np.eye(3) / 2, [1.0, 0.0, 0.0], turning, [0.0, 0.0, 0.0]).moment
    array([0., 0., 1.])
    """
    O = Omega
    moment = [
        O[2, 0] * J[0, 1] + O[2, 1] * J[1, 1] - O[1, 0] * J[0, 2] - O[1, 2] * J[2, 2] + (O[2, 2] - O[1, 1]) * J[1, 2],
        O[0, 1] * J[1, 2] + O[0, 2] * J[2, 2] - O[2, 0] * J[0, 0] - O[2, 1] * J[0, 1] + (O[0, 0] - O[2, 2]) * J[0, 2],
        O[1, 0] * J[0, 0] + O[1, 2] * J[0, 2] - O[0, 1] * J[1, 1] - O[0, 2] * J[1, 2] + (O[1, 1] - O[0, 0]) * J[0, 1]]
    return Wrench(mass * (sdd + O @ r), np.stack(moment))


class LinkWrench(NamedTuple):
    """Force, and moment about the centre of mass and about the origin."""

    force: Array
    moment_about_center: Array
    moment_about_origin: Array


def _check_center(mass: Array, U: Array, *_: Array) -> None:
    lost = (np.asarray(mass) == 0) & np.asarray(U).any(axis=-1)
    refuse_where(lost, "a body without mass has a first moment{element}: there is no centre of mass to take the moment "
                 "about", lost)


@kernel("(),(3),(3,3),(3),(3),(3)->(3),(3),(3)", check=_check_center)
def newton_euler_by_moments(mass: Scalar, U: Array, E: Array, w: Array, wd: Array, a: Array) -> LinkWrench:
    """Force and moments of a body that is known by its moments about an origin that accelerates by `a`: mass, first
    moment U = m r and inertia tensor E, as of a link with all that it carries (`arm.formulations.generalized_links`).

    F = m a + wd x U + w x (w x U), about the origin M_o = E wd + w x E w + U x a, and about the centre of mass
    M_c = E wd + w x E w + (U~ U~ wd + w~ U~ U~ w) / m, (6.3.13), (6.3.14). Without mass the last term is zero, its
    limit for a body that gets lighter where it is; a first moment without mass is refused.

    >>> found = newton_euler_by_moments(2.0, [2.0, 0.0, 0.0], np.diag([1.0, 3.0, 3.0]), [0.0, 0.0, 0.0],
    ...                                 [0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    >>> found.force, found.moment_about_center, found.moment_about_origin
    (array([0., 2., 0.]), array([0., 0., 1.]), array([0., 0., 3.]))
    """
    r = U / np.where(mass == 0, 1.0, mass)
    turned = E @ wd + np.cross(w, E @ w)
    about_center = turned + np.cross(U, np.cross(r, wd)) + np.cross(w, np.cross(U, np.cross(r, w)))
    return LinkWrench(mass * a + np.cross(wd, U) + np.cross(w, np.cross(w, U)), about_center, turned + np.cross(U, a))


@dataclass(frozen=True)
class BodyCost:
    """Multiplications and additions of one way to compute force and moment of a body."""

    formulation: str
    published: Operations
    text: Operations
    compiled: Operations


def body_costs() -> tuple[BodyCost, ...]:
    """The three formulations of section 4.3.4, the angular acceleration tensor taken as given.

    >>> for cost in body_costs():
    ...     print(f"{cost.formulation}: {cost.published}; the text has {cost.text}")
    vectors: 45 multiplications, 33 additions; the text has 45 multiplications, 33 additions
    tensors: 30 multiplications, 24 additions; the text has 30 multiplications, 24 additions
    symmetric tensors: 27 multiplications, 24 additions; the text has 27 multiplications, 24 additions
    """
    rows = (("vectors", 45, 33, newton_euler_by_vectors), ("tensors", 30, 24, newton_euler_by_tensors),
            ("symmetric tensors", 27, 24, newton_euler_by_symmetric_tensors))
    return tuple(BodyCost(name, Operations(m, a), _of_text(text), _compiled(text)) for name, m, a, text in rows)


def _of_text(text: Kernel[Any]) -> Operations:
    function = text.__wrapped__
    assert function is not None
    return count(trace(function, text.signature, {}, name=text.__name__, inputs=text.inputs))


def _compiled(text: Kernel[Any]) -> Operations:
    return kernel(str(text.signature).replace("(),(3,3)", "(),(6)", 1))(_with_six_moments(text)).operations()


def _with_six_moments(text: Kernel[Any]) -> Text:
    if len(text.inputs) == 6:
        return lambda mass, moments, r, w, wd, sdd: text(mass, _symmetric(moments), r, w, wd, sdd)
    return lambda mass, moments, r, Omega, sdd: text(mass, _symmetric(moments), r, Omega, sdd)


def _symmetric(moments: Array) -> Array:
    a, b, c, d, e, f = moments
    return np.array([[a, d, e], [d, b, f], [e, f, c]])
