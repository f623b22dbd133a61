"""Principal moments and axes of inertia tensors, and what coinciding moments say of the body.

Source: seed 2, section 3.1.4. Eigenvalues by LAPACK; the closed forms by rotations are in
`cayley.geometry.principal_axes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.inertia.tensors import check_physical_inertia
from cayley.geometry.tensors.projections import eigenspaces, spectral_decomposition
from cayley.showing import brief


@dataclass(frozen=True)
class PrincipalInertia:
    """I = axes diag(moments) axes^T. Leading axes are a batch."""

    moments: Array
    """Principal moments [kg m^2], ascending, (..., 3)."""
    axes: Array
    """Unit vectors along the principal axes as columns, (..., 3, 3), right-handed: a rotation from principal to given
    axes.
    """

    __repr__ = brief


@dataclass(frozen=True)
class InertiaSymmetry:
    """Which principal axes are fixed by the inertia tensor, and which may be chosen."""

    kind: Literal["triaxial", "axisymmetric", "spherical"]
    axis: Array | None
    """The axis of symmetry of an axisymmetric inertia; None for the other kinds."""
    axial: float
    """The moment about the axis of symmetry; the largest of a triaxial tensor; the one of a spherical."""
    transverse: float
    """The moment about every axis across it; the smallest of a triaxial tensor; the one of a spherical."""


def principal_inertia(I: ArrayLike) -> PrincipalInertia:
    """Principal moments and axes of inertia tensors (..., 3, 3). Where moments coincide, the axes are one of many good
    choices.

    A tensor that no body has is refused; `spectral_decomposition` takes any symmetric one.

    >>> principal_inertia([[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 5.0]]).moments
    array([2., 4., 5.])
    """
    check_physical_inertia(I)
    found = spectral_decomposition(I)
    return PrincipalInertia(found.values, found.vectors)


def inertia_symmetry(I: ArrayLike, *, tolerance: float | None = None) -> InertiaSymmetry:
    """The kind of one inertia tensor; moments closer than `tolerance` times the largest count as equal, by default
    1e-9 and in float32 2e-6.

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
