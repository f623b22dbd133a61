"""Formulas of momentum, torque and inertia that follow from those of `cayley.geometry.inertia` in one line."""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.inertia.gyroscope import nodal_axes
from cayley.geometry.tensors.cross import hat
from cayley.geometry.tensors.products import vector_triple_matrix


@kernel("(3,3),(3)->(3)")
def angular_momentum_from_euler_tensor(J: Array, w: Array) -> Array:
    """L = tr(J) w - J w, (4.3.26)."""
    return np.trace(J) * w - J @ w


@kernel("(),(3),(3),(3)->(3)")
def angular_momentum_about_point(mass: Scalar, r: Array, velocity: Array, momentum: Array) -> Array:
    """h_O = h_C + m r x v: about a point at rest from that about the centre of mass, which has the place r from it and
    the velocity v.
    """
    return momentum + mass * np.cross(r, velocity)


@kernel("(),(3),(3),(3),(3,3),(3)->(3)")
def angular_momentum_of_moving_body(mass: Scalar, s: Array, sd: Array, r: Array, I: Array, w: Array) -> Array:
    """About the origin, when the body is known about a point of it that moves: m s x (sd + w x r) + m r x sd + I w,
    (4.3.20).

    s and sd are place and velocity of that point, r leads from it to the centre of mass, I is the inertia tensor about
    it.
    """
    return mass * (np.cross(s, sd + np.cross(w, r)) + np.cross(r, sd)) + I @ w


@kernel("(3,3),(3)->(3,3)")
def angular_momentum_tensor(J: Array, w: Array) -> Array:
    """The skew tensor of the angular momentum: J hat(w) + hat(w) J = J hat(w) - (J hat(w))^T, (4.3.30)."""
    product = J @ hat(w)
    return product - product.T


@kernel("(3,3),(3)->(3,3)")
def angular_momentum_tensor_from_inertia(I: Array, w: Array) -> Array:
    """The skew tensor of the angular momentum: (hat(w) I)^T - hat(w) I + tr(I) hat(w), (4.3.28)."""
    product = hat(w) @ I
    return product.T - product + np.trace(I) * hat(w)


@kernel("(3),(3),(3)->(3)")
def euler_torque_principal(moments: Array, w: Array, wd: Array) -> Array:
    """The same in principal axes: M_x = I_x wd_x - w_y w_z (I_y - I_z), and so on. Seed 2, after (3.29)."""
    x, y, z = moments
    return moments * wd - np.stack([w[1] * w[2] * (y - z), w[2] * w[0] * (z - x), w[0] * w[1] * (x - y)])


@kernel("(3,3),(3),(3)->(3)")
def euler_torque_from_euler_tensor(J: Array, w: Array, wd: Array) -> Array:
    """M = -(J wd + w x J w) + tr(J) wd, (4.3.38)."""
    return -(J @ wd + np.cross(w, J @ w)) + np.trace(J) * wd


@kernel("(3,3),(3,3)->(3,3)")
def torque_tensor(J: Array, Omega: Array) -> Array:
    """The skew tensor of the torque: Omega J - (Omega J)^T, (4.3.42); its vector is `dual_vector` of it."""
    product = Omega @ J
    return product - product.T


@kernel("(3,3),(3,3),(3)->(3,3)")
def torque_tensor_from_inertia(I: Array, Omega: Array, wd: Array) -> Array:
    """The skew tensor of the torque: (Omega I)^T - Omega I + tr(I) hat(wd), (4.3.41)."""
    product = Omega @ I
    return product.T - product + np.trace(I) * hat(wd)


@kernel("(3),(3),(3)->(3)")
def moment_about_point(moment: Array, r: Array, force: Array) -> Array:
    """n_O = n_C + r x f: about another point, from which r leads to the centre of mass. (4.3.36), seed 2 (3.25)."""
    return moment + np.cross(r, force)


@kernel("(),(3),(3),(3)->(3)")
def force_in_body_axes(mass: Scalar, w: Array, velocity: Array, rate: Array) -> Array:
    """f = m (rate + w x v): Newton's law when the velocity of the centre of mass is given in axes that turn with w, and
    `rate` is the derivative of its components there.
    """
    return mass * (rate + np.cross(w, velocity))


@kernel("(3),(3)->(3)")
def fixed_from_nodal(angles: Array, vector: Array) -> Array:
    """Components along the fixed axes from those along the nodal axes u, v, w."""
    return nodal_axes(angles) @ vector


@kernel("(),(),(),(),()->()")
def steady_precession_moment(I0: Scalar, I: Scalar, theta: Scalar, precession: Scalar, spin: Scalar) -> Scalar:
    """The moment about the line of nodes [N m] that keeps a steady precession psd with the spin phd: (3.33), with phdd
    = 0, spec E-03.
    """
    cos = np.cos(theta)
    return precession * np.sin(theta) * (I * (precession * cos + spin) - I0 * precession * cos)


@kernel("(),(3),(3),(3,3)->(3,3)")
def inertia_moved(mass: Scalar, r_a: Array, r_b: Array, inertia: Array) -> Array:
    """From any point a to any point b, by way of the centre of mass; `r_a` and `r_b` lead from each to the centre."""
    return inertia + mass * (vector_triple_matrix(r_b, r_b) - vector_triple_matrix(r_a, r_a))


@kernel("(),(3),(3,3)->(3,3)")
def euler_tensor_about_point(mass: Scalar, r: Array, euler: Array) -> Array:
    """J_o = J_c + m r (x) r, (4.3.10)."""
    return euler + mass * np.outer(r, r)


@kernel("(),(3),(6)->(6)")
def moments_about_point(mass: Scalar, r: Array, moments: Array) -> Array:
    """The theorem element by element, for (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) as they stand in the tensor.

    Moments grow by m (y^2 + z^2) and so on; the products, which carry their minus sign in the tensor, change by -m x y
    and so on.
    """
    x, y, z = r
    return moments + mass * np.stack([y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z])
