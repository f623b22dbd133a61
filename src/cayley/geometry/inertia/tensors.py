"""The second moments of a body in three forms, the parallel-axis theorem, principal moments and axes.

    I = integral of (r.r 1 - r (x) r) dm     inertia tensor, moments on the diagonal, minus the products of inertia
                                             beside it
    J = integral of r (x) r dm               Euler tensor
    H = integral of (r, 1) (x) (r, 1) dm     pseudo-inertia, 4 by 4: J, the first moment and the mass in one

All about one point, in one frame; units kg m^2, kg m, kg. `tensor_in_frame(R_ab, I_b)` turns I and J to other axes.
Sources: Balafoutis & Patel (4.3.3)-(4.3.19), (5.2.3), signs as in spec E-34; Yamamoto (3.8)-(3.17), (D.1)-(D.15), spec
E3-13.

The parallel-axis theorem: tables hold tensors about the centre of mass; every other point is reached from there or by
way of it. `r` is the vector from the point to the centre of mass (its sign does not matter). Sources: Balafoutis &
Patel (4.3.8)-(4.3.12); Yamamoto (E.1)-(E.10), corrected as in spec E3-41; the products of inertia of seed 2, section
3.1.3, corrected as in spec E-01.

Principal moments and axes: seed 2, section 3.1.4. Eigenvalues are by LAPACK; the closed forms by rotations are in
`cayley.geometry.principal_axes`.

>>> inertia_from_euler_tensor(np.diag([1.0, 2.0, 3.0])).diagonal()
array([5., 4., 3.])
>>> euler_tensor_about_center(2.0, [1.0, 0.0, 0.0], np.diag([5.0, 1.0, 1.0])).diagonal()
array([3., 1., 1.])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.tensors.checks import check_symmetric, refuse_where
from cayley.geometry.tensors.products import vector_triple_matrix
from cayley.geometry.tensors.projections import eigenspaces, spectral_decomposition
from cayley.showing import brief


class MassMoments(NamedTuple):
    mass: Scalar
    center: Array
    inertia: Array


euler_tensor_from_inertia = formula("euler_tensor_from_inertia", "(3,3)->(3,3)",
                                    lambda I: np.trace(I) / 2 * np.eye(3) - I,
                                    "J = tr(I) 1 / 2 - I, (4.3.6), by components (4.3.13).", check_symmetric)
inertia_from_euler_tensor = formula("inertia_from_euler_tensor", "(3,3)->(3,3)", lambda J: np.trace(J) * np.eye(3) - J,
                                    "I = tr(J) 1 - J, (4.3.7), by components (4.3.14).", check_symmetric)


@kernel("(),(3),(3,3)->(4,4)", check=lambda mass, center, inertia: check_symmetric(inertia))
def pseudo_inertia(mass: Scalar, center: Array, inertia: Array) -> Array:
    """H = [[J, m s], [m s^T, m]] from the mass, the centre of mass s and the inertia about the origin.

    >>> pseudo_inertia(2.0, [1.0, 0.0, 0.0], np.diag([5.0, 6.0, 5.0])).tolist()
    [[3.0, -0.0, -0.0, 2.0], [-0.0, 2.0, -0.0, 0.0], [-0.0, -0.0, 3.0, 0.0], [2.0, 0.0, 0.0, 2.0]]
    """
    first = mass * center
    return np.block([[euler_tensor_from_inertia(inertia), first[:, None]], [first[None, :], np.reshape(mass, (1, 1))]])


@kernel("(4,4)->(),(3),(3,3)")
def moments_from_pseudo_inertia(H: Array) -> MassMoments:
    """Mass, centre of mass and inertia tensor about the origin; without mass the centre is the origin.

    >>> moments_from_pseudo_inertia(pseudo_inertia(2.0, [1.0, 0.0, 0.0], np.diag([5.0, 6.0, 5.0]))).center
    array([1., 0., 0.])
    """
    mass = H[3, 3]
    center = where(mass == 0, 0.0, H[:3, 3] / where(mass == 0, 1.0, mass))
    return MassMoments(mass, center, inertia_from_euler_tensor(H[:3, :3]))


@kernel("(3),(3,3)->(3,3)", check=lambda w, I: check_symmetric(I))
def inertia_rate(w: Array, I: Array) -> Array:
    """The rate of an inertia or Euler tensor of a body that turns with w, in fixed axes: hat(w) I - I hat(w).

    The tensor is symmetric: another one is refused. The two rates are opposite: dI = -dJ. (4.3.16)-(4.3.19)

    >>> inertia_rate([0.0, 0.0, 1.0], np.diag([1.0, 3.0, 5.0]))
    array([[ 0., -2.,  0.],
           [-2.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    turned = np.stack([np.cross(w, I[:, k]) for k in range(3)], axis=1)  # hat(w) I
    return turned + turned.T


def check_physical_inertia(I: ArrayLike, *_: object) -> None:
    """Raise `GeometryError` if no body has one of the inertia tensors (..., 3, 3): not symmetric, a moment negative, or
    a moment larger than the sum of the other two.

    What fails by less than the tolerance of symmetry (1e-8 of the largest moment; float32: 1e-4) is taken for rounding.

    >>> check_physical_inertia(np.diag([1.0, 1.0, 3.0]))
    Traceback (most recent call last):
    cayley.errors.GeometryError: no body has an inertia tensor: its largest principal moment exceeds the sum of the ...
    """
    _physical_moments(I)


def _physical_moments(I: ArrayLike) -> Array:
    """The principal moments, ascending, of tensors that a body can have."""
    I = shaped(I, (3, 3), "an inertia tensor")
    check_symmetric(I)
    moments = np.linalg.eigvalsh(I.astype(float))
    rounding = tolerance_of(I) * np.abs(moments).max(axis=-1)
    least = moments[..., 0]
    excess = moments[..., 2] - moments[..., 1] - moments[..., 0]
    repair = "; nearest_physical_inertia offers a repair"
    refuse_where(
        least < -rounding,
        "no body has an inertia tensor{element}: its smallest principal moment is {defect:.6g} kg m^2" + repair, least)
    refuse_where(
        excess > rounding,
        "no body has an inertia tensor{element}: its largest principal moment exceeds the sum of the others by "
        "{defect:.6g} kg m^2" + repair, excess)
    return moments


def check_invertible_inertia(I: Array, *_: object) -> None:
    """Raise if no body has an inertia tensor (..., 3, 3), or if no torque fixes the acceleration about an axis."""
    moments = _physical_moments(I)
    least = moments[..., 0]
    refuse_where(
        ~(least > 1e-14 * moments[..., 2]),
        "an inertia tensor is singular{element} (a thin rod, a point, no mass at all): "
        "its smallest principal moment is {defect:.3g} kg m^2, and the angular acceleration about that axis is not "
        "determined",
        least, SingularityError)


@kernel("(3,3)->(3,3)", check=check_invertible_inertia)
def inverse_inertia(I: Array) -> Array:
    """I^-1 [1/(kg m^2)] of an inertia tensor, by its minors. A singular one, and one that no body has, raise an error.

    >>> inverse_inertia(np.diag([2.0, 4.0, 5.0])).diagonal()
    array([0.5 , 0.25, 0.2 ])
    """
    a, b, c = I[0, 0], I[1, 1], I[2, 2]
    d, e, f = I[0, 1], I[0, 2], I[1, 2]
    p, q, r = b * c - f * f, e * f - d * c, d * f - e * b
    minors = np.array([[p, q, r], [q, a * c - e * e, d * e - a * f], [r, d * e - a * f, a * b - d * d]])
    return minors / (a * p + d * q + e * r)


inertia_about_point = formula("inertia_about_point", "(),(3),(3,3)->(3,3)",
                              lambda mass, r, inertia: inertia + mass * vector_triple_matrix(r, r),
                              "I_o = I_c + m (r.r 1 - r r^T): from the centre of mass to a point.")
inertia_about_center = formula("inertia_about_center", "(),(3),(3,3)->(3,3)",
                               lambda mass, r, inertia: inertia - mass * vector_triple_matrix(r, r),
                               "I_c = I_o - m (r.r 1 - r r^T): from a point to the centre of mass.")
euler_tensor_about_center = formula("euler_tensor_about_center", "(),(3),(3,3)->(3,3)",
                                    lambda mass, r, euler: euler - mass * np.outer(r, r), "J_c = J_o - m r (x) r.")


@dataclass(frozen=True)
class PrincipalInertia:
    """I = axes diag(moments) axes^T. Leading axes are a batch."""

    moments: Array
    """Principal moments [kg m^2], ascending, (..., 3)."""
    axes: Array
    """Unit vectors along the principal axes as columns, (..., 3, 3), right-handed: a rotation from principal to given
    axes."""

    __repr__ = brief


@dataclass(frozen=True)
class InertiaSymmetry:
    """The symmetry of an inertia tensor: which principal axes it fixes, and which may be chosen."""

    kind: Literal["triaxial", "axisymmetric", "spherical"]
    axis: Array | None
    """The axis of symmetry of an axisymmetric inertia; None for the other kinds."""
    axial: float
    """The moment about the axis of symmetry (triaxial: the largest moment)."""
    transverse: float
    """The moment about every axis across it (triaxial: the smallest moment)."""


def principal_inertia(I: ArrayLike) -> PrincipalInertia:
    """Principal moments and axes of inertia tensors (..., 3, 3); of equal moments, one choice of axes of many.

    A tensor that no body has is refused; `spectral_decomposition` takes any symmetric one.

    >>> principal_inertia([[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 5.0]]).moments
    array([2., 4., 5.])
    """
    check_physical_inertia(I)
    found = spectral_decomposition(I)
    return PrincipalInertia(found.values, found.vectors)


def inertia_symmetry(I: ArrayLike, *, tolerance: float | None = None) -> InertiaSymmetry:
    """The kind of one inertia tensor; moments within `tolerance` (1e-9, float32 2e-6) of the largest are equal.

    >>> inertia_symmetry(np.diag([2.0, 3.0, 2.0])).axis
    array([0., 1., 0.])
    """
    check_physical_inertia(I)
    spaces = eigenspaces(I, tolerance=tolerance)
    if len(spaces) == 1:
        return InertiaSymmetry("spherical", None, spaces[0].value, spaces[0].value)
    if len(spaces) == 3:
        return InertiaSymmetry("triaxial", None, spaces[-1].value, spaces[0].value)
    single, double = sorted(spaces, key=lambda s: s.multiplicity)
    column = single.projection[:, np.argmax(single.projection.diagonal())]
    return InertiaSymmetry("axisymmetric", column / np.linalg.norm(column), single.value, double.value)
