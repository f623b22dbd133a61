"""The vector-parameter from angles and back: Mladenova's Eulerian angles with their closed composition law, and
Bryant's angles; and the composition of these, and of the angles of any sequence, through it.

    Eulerian (psi, theta, phi)      O(c) = Rz(-psi) Rx(-theta) Rz(-phi): the z-x-z angles about fixed axes of the
                                    inverse rotation
    Bryant (phi1, phi2, phi3)       O(c) = Rz(phi3) Ry(phi2) Rx(phi1): roll, pitch, yaw

The homogeneous form [w : v], c = v / w, is reached without division and passes through half-turns, where c is infinite.
A composition of angles goes through it, so that no intermediate half-turn matters. The sines and cosines of doubles are
rarely an exact half-turn: next to one, c has a length of 1e16 or so and still the right attitude; where w is zero, what
would return c raises `SingularityError`. Angles are found as both triples, [rad].

Source: Mladenova 2.5, (71)-(74), corrected as in spec E-14 to E-16.

>>> vector_parameter_from_eulerian([0.4, 1.1, -0.7])      # spec WE-03
array([-0.5286231 ,  0.32410158,  0.15113522])
>>> eulerian_from_vector_parameter([-0.5286230964822666, 0.3241015763177948, 0.15113521805829505]).angles
array([ 0.4,  1.1, -0.7])
>>> vector_parameter_from_bryant(2 * np.arctan([1 / 2, 1 / 3, 1 / 4]))      # spec WE-03: (2/5, 11/25, 2/25)
array([0.4 , 0.44, 0.08])
>>> bryant_from_vector_parameter([0.4, 0.44, 0.08]).angles
array([0.92729522, 0.64350111, 0.48995733])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.formula import formula
from cayley.geometry.rotations.euler import (
    Axes,
    EulerSolutions,
    euler_from_quaternion,
    quaternion_from_euler,
    quaternion_from_roll_pitch_yaw,
    roll_pitch_yaw_from_quaternion,
)
from cayley.geometry.rotations.homogeneous import compose_homogeneous, inverse_homogeneous, normalize_homogeneous
from cayley.geometry.rotations.vector_parameter import check_not_half_turn, quaternion_from_vector_parameter


def _finite(name: str, form: Kernel[Array], says: str) -> Kernel[Array]:
    """c = v / w of the angles of a form [w : v]."""
    def found(*angles: Array) -> Array:
        h = form(*angles)
        return h[1:] / h[0]

    found.__doc__ = says
    return kernel(str(form.signature).replace("->(4)", "->(3)"), name=name, inputs=form.inputs,
                  check=lambda *angles: check_not_half_turn(form(*angles)))(found)


@kernel("(3)->(4)")
def homogeneous_from_eulerian(angles: Array) -> Array:
    """The unit homogeneous form [w : v] of the Eulerian angles (psi, theta, phi) [rad]; never singular.

    Mladenova (71), multiplied out by its denominators; the third component is negative (spec E-14).

    >>> homogeneous_from_eulerian([np.pi, 0.0, 0.0]).round(15) + 0.0      # a half-turn about z
    array([ 0.,  0.,  0., -1.])
    """
    psi, theta, phi = angles
    half_sum, half_difference = (psi + phi) / 2, (psi - phi) / 2
    S, C = np.sin(theta / 2), np.cos(theta / 2)
    return np.stack([
        C * np.cos(half_sum), -S * np.cos(half_difference), S * np.sin(half_difference), -C * np.sin(half_sum)])


def eulerian_from_homogeneous(h: ArrayLike) -> EulerSolutions:
    """The triples (psi, theta, phi) of [w : v] (..., 4), of any length; theta >= 0 in `angles`, theta <= 0 in `other`.

    Where theta = 0 (v1 = v2 = 0) only psi + phi is determined, where theta = pi (w = v3 = 0) only psi - phi:
    `singular`, with psi = 0. Mladenova, the inverse of (71).

    >>> eulerian_from_homogeneous([0.0, 0.0, 0.0, -2.0]).combined
    np.float64(3.141592653589793)
    """
    return euler_from_quaternion(inverse_homogeneous(normalize_homogeneous(h)), sequence="zxz", axes="fixed")


def eulerian_from_vector_parameter(c: ArrayLike) -> EulerSolutions:
    """The triples (psi, theta, phi) of vector-parameters (..., 3), as `eulerian_from_homogeneous`."""
    return euler_from_quaternion(inverse_homogeneous(quaternion_from_vector_parameter(c)), sequence="zxz", axes="fixed")


@kernel("(3),(3)->(4)")
def homogeneous_of_composed_eulerian(a: Array, b: Array) -> Array:
    """The unit homogeneous form of O(c) O(c'), c and c' from the Eulerian angles a = (psi, theta, phi) and b.

    Mladenova, after (71), multiplied out by its denominators: c'' = <c, c'> (spec E-15), signs corrected (spec E-16).

    >>> homogeneous_of_composed_eulerian([0.1, 0.0, 0.2], [0.3, 0.0, 0.4]) - homogeneous_from_eulerian([1.0, 0.0, 0.0])
    array([0., 0., 0., 0.])
    """
    psi, theta, phi = a
    psi_, theta_, phi_ = b
    S, C = np.sin(theta / 2), np.cos(theta / 2)
    S_, C_ = np.sin(theta_ / 2), np.cos(theta_ / 2)
    both, neither = (psi + phi + psi_ + phi_) / 2, (psi - phi - psi_ + phi_) / 2
    left, right = (psi - phi - psi_ - phi_) / 2, (psi + phi + psi_ - phi_) / 2
    return np.stack([C * C_ * np.cos(both) - S * S_ * np.cos(neither),
                     -S * C_ * np.cos(left) - C * S_ * np.cos(right),
                     S * C_ * np.sin(left) + C * S_ * np.sin(right),
                     -C * C_ * np.sin(both) + S * S_ * np.sin(neither)])


def compose_eulerian(a: ArrayLike, b: ArrayLike) -> EulerSolutions:
    """The Eulerian angles of O(c) O(c') from those of O(c) and of O(c'): the closed composition law, any half-turn.

    >>> compose_eulerian([0.1, 0.0, 0.2], [0.3, 0.0, 0.4]).combined.round(15)
    np.float64(1.0)
    """
    return eulerian_from_homogeneous(homogeneous_of_composed_eulerian(a, b))


def bryant_from_homogeneous(h: ArrayLike) -> EulerSolutions:
    """The triples of Bryant's angles of [w : v] (..., 4), of any length; `singular` where phi2 = +-pi/2, with phi1 = 0.

    >>> bryant_from_homogeneous([0.0, 3.0, 0.0, 0.0]).angles
    array([3.14159265, 0.        , 0.        ])
    """
    return roll_pitch_yaw_from_quaternion(normalize_homogeneous(h))


def bryant_from_vector_parameter(c: ArrayLike) -> EulerSolutions:
    """The triples of Bryant's angles of vector-parameters (..., 3), as `bryant_from_homogeneous`."""
    return roll_pitch_yaw_from_quaternion(quaternion_from_vector_parameter(c))


homogeneous_from_bryant = formula(
    "homogeneous_from_bryant", "(3)->(4)", lambda angles: quaternion_from_roll_pitch_yaw(angles),
    "The unit form [w : v] of Bryant's angles (phi1, phi2, phi3) [rad]; never singular. Mladenova (73), (74).")
homogeneous_of_composed_bryant = formula(
    "homogeneous_of_composed_bryant", "(3),(3)->(4)", lambda a, b: compose_homogeneous.unchecked(
        homogeneous_from_bryant(a), homogeneous_from_bryant(b)),
    "The unit form of O(c) O(c'), c and c' from Bryant's angles; never singular.")
vector_parameter_from_eulerian = _finite(
    "vector_parameter_from_eulerian", homogeneous_from_eulerian,
    "c of the Eulerian angles (psi, theta, phi) [rad]. Mladenova (71), corrected (E-14).")
vector_parameter_of_composed_eulerian = _finite(
    "vector_parameter_of_composed_eulerian", homogeneous_of_composed_eulerian,
    "c'' = <c, c'> from two triples of Eulerian angles. Mladenova, after (71) (E-15, E-16).")
vector_parameter_from_bryant = _finite(
    "vector_parameter_from_bryant", homogeneous_from_bryant,
    "(t1 - t2 t3, t2 + t1 t3, t3 - t1 t2) / (1 + t1 t2 t3), t = tan(angle / 2); an angle may be pi. Mladenova (74).")
vector_parameter_of_composed_bryant = _finite(
    "vector_parameter_of_composed_bryant", homogeneous_of_composed_bryant,
    "c'' = <c, c'> from two triples of Bryant's angles [rad].")


def compose_bryant(a: ArrayLike, b: ArrayLike) -> EulerSolutions:
    """Bryant's angles of O(c) O(c') from those (..., 3) of O(c) and of O(c'); `singular` where phi2 = +-pi/2.

    >>> compose_bryant([0.0, 0.0, 0.3], [0.0, 0.0, 0.4]).angles
    array([0. , 0. , 0.7])
    """
    return bryant_from_homogeneous(homogeneous_of_composed_bryant(a, b))


def compose_euler(a: ArrayLike, b: ArrayLike, *, sequence: str, axes: Axes) -> EulerSolutions:
    """The Euler angles of R(a) R(b), the rotation b, then a, from the angles (..., 3) of both in one of the twelve
    sequences about moving or fixed axes, and what is left of them at a gimbal lock.

    >>> compose_euler([0.1, 0.0, 0.2], [0.3, 0.0, 0.4], sequence="zyz", axes="moving").combined.round(15)
    np.float64(1.0)
    >>> compose_euler([np.pi, 0.0, 0.0], [0.0, 0.3, 0.0], sequence="zyx", axes="moving").angles
    array([3.14159265, 0.3       , 0.        ])
    """
    forms = [quaternion_from_euler(angles, sequence=sequence, axes=axes) for angles in (a, b)]
    return euler_from_quaternion(normalize_homogeneous(compose_homogeneous(*forms)), sequence=sequence, axes=axes)
