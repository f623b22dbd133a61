"""Inertia tensors of uniform solids, shells and thin bodies about their centres of mass, [kg m^2] from mass [kg] and
sizes [m].

Axes of symmetry lie along z. Each follows from the mean squares <x^2>, <y^2>, <z^2> of the coordinates: the diagonal of
J / m.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.tensors.checks import refuse_where


def _check_solid(mass: Array, *sizes: Array) -> None:
    """Raise `GeometryError` where a mass or a size is negative: no solid has it."""
    for name, values in (("mass", mass), *(("size", size) for size in sizes)):
        values = np.asarray(values)
        refuse_where(
            values < 0,
            f"the {name} of a solid is {{defect:.6g}}{{element}}: it is not negative; cut holes out with body - part",
            values)


def _of_mean_squares(mass: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Array:
    zero = 0 * mass
    return np.array([[mass * (y + z), zero, zero], [zero, mass * (x + z), zero], [zero, zero, mass * (x + y)]])


@kernel("(),(3)->(3,3)", check=_check_solid)
def box_inertia(mass: Scalar, size: Array) -> Array:
    """Of a box with the three side lengths `size`.

    >>> box_inertia(12.0, [1.0, 2.0, 3.0]).diagonal()
    array([13., 10.,  5.])
    """
    return _of_mean_squares(mass, *(size * size / 12))


@kernel("(),(3)->(3,3)", check=_check_solid)
def ellipsoid_inertia(mass: Scalar, semi_axes: Array) -> Array:
    """Of an ellipsoid with the three semi-axes.

    >>> ellipsoid_inertia(5.0, [1.0, 2.0, 3.0]).diagonal()
    array([13., 10.,  5.])
    """
    return _of_mean_squares(mass, *(semi_axes * semi_axes / 5))


@kernel("(),()->(3,3)", check=_check_solid)
def sphere_inertia(mass: Scalar, radius: Scalar) -> Array:
    """Of a solid sphere: 2/5 m r^2.

    >>> sphere_inertia(5.0, 1.0).diagonal()
    array([2., 2., 2.])
    """
    square = radius * radius / 5
    return _of_mean_squares(mass, square, square, square)


@kernel("(),()->(3,3)", check=_check_solid)
def spherical_shell_inertia(mass: Scalar, radius: Scalar) -> Array:
    """Of a thin spherical shell: 2/3 m r^2.

    >>> spherical_shell_inertia(3.0, 1.0).diagonal()
    array([2., 2., 2.])
    """
    square = radius * radius / 3
    return _of_mean_squares(mass, square, square, square)


@kernel("(),()->(3,3)", check=_check_solid)
def hemisphere_inertia(mass: Scalar, radius: Scalar) -> Array:
    """Of a solid hemisphere, about its centre of mass, which lies 3/8 r from the flat face.

    >>> hemisphere_inertia(320.0, 1.0).diagonal()
    array([ 83.,  83., 128.])
    """
    square = radius * radius
    return _of_mean_squares(mass, square / 5, square / 5, square * (1 / 5 - 9 / 64))


@kernel("(),(),()->(3,3)", check=_check_solid)
def cylinder_inertia(mass: Scalar, radius: Scalar, length: Scalar) -> Array:
    """Of a solid cylinder.

    >>> cylinder_inertia(12.0, 1.0, 2.0).diagonal()
    array([7., 7., 6.])
    """
    return tube_inertia(mass, 0.0, radius, length)


@kernel("(),(),(),()->(3,3)", check=_check_solid)
def tube_inertia(mass: Scalar, inner: Scalar, outer: Scalar, length: Scalar) -> Array:
    """Of a hollow cylinder; with equal radii it is a thin cylindrical shell.

    >>> tube_inertia(12.0, 1.0, 1.0, 2.0).diagonal()
    array([10., 10., 12.])
    """
    square = (inner * inner + outer * outer) / 4
    return _of_mean_squares(mass, square, square, length * length / 12)


@kernel("(),(),()->(3,3)", check=_check_solid)
def cone_inertia(mass: Scalar, radius: Scalar, height: Scalar) -> Array:
    """Of a solid cone, about its centre of mass, which lies a quarter of the height from the base.

    >>> cone_inertia(80.0, 1.0, 2.0).diagonal()
    array([24., 24., 24.])
    """
    square = 3 / 20 * radius * radius
    return _of_mean_squares(mass, square, square, 3 / 80 * height * height)


@kernel("(),(),()->(3,3)", check=_check_solid)
def capsule_inertia(mass: Scalar, radius: Scalar, length: Scalar) -> Array:
    """Of a cylinder of the given length between two half balls; without length it is a sphere.

    >>> capsule_inertia(5.0, 1.0, 0.0).diagonal()
    array([2., 2., 2.])
    """
    # volumes, up to pi r^2
    middle = length
    ends = 4 / 3 * radius
    whole = middle + ends
    across = (middle / 4 + ends / 5) / whole * radius * radius
    along = (middle * length * length / 12 + ends *
             (radius * radius / 5 + length * length / 4 + 3 / 8 * radius * length)) / whole
    return _of_mean_squares(mass, across, across, along)


@kernel("(),(),()->(3,3)", check=_check_solid)
def torus_inertia(mass: Scalar, ring: Scalar, tube: Scalar) -> Array:
    """Of a solid torus: `ring` is the radius of the circle in the middle of the tube, `tube` that of the tube.

    >>> torus_inertia(8.0, 2.0, 1.0).diagonal()
    array([21., 21., 38.])
    """
    across = ring * ring / 2 + 3 / 8 * tube * tube
    return _of_mean_squares(mass, across, across, tube * tube / 4)


@kernel("(),()->(3,3)", check=_check_solid)
def rod_inertia(mass: Scalar, length: Scalar) -> Array:
    """Of a thin rod along z: nothing about its own axis.

    >>> rod_inertia(12.0, 2.0).diagonal()
    array([4., 4., 0.])
    """
    return _of_mean_squares(mass, 0.0, 0.0, length * length / 12)


@kernel("(),(2)->(3,3)", check=_check_solid)
def plate_inertia(mass: Scalar, sides: Array) -> Array:
    """Of a thin rectangular plate across z: the moment about z is the sum of the other two.

    >>> plate_inertia(12.0, [1.0, 2.0]).diagonal()
    array([4., 1., 5.])
    """
    x, y = sides * sides / 12
    return _of_mean_squares(mass, x, y, 0.0)


@kernel("(),()->(3,3)", check=_check_solid)
def disc_inertia(mass: Scalar, radius: Scalar) -> Array:
    """Of a thin disc across z.

    >>> disc_inertia(4.0, 1.0).diagonal()
    array([1., 1., 2.])
    """
    square = radius * radius / 4
    return _of_mean_squares(mass, square, square, 0.0)


@kernel("(),()->(3,3)", check=_check_solid)
def ring_inertia(mass: Scalar, radius: Scalar) -> Array:
    """Of a thin ring across z.

    >>> ring_inertia(2.0, 1.0).diagonal()
    array([1., 1., 2.])
    """
    square = radius * radius / 2
    return _of_mean_squares(mass, square, square, 0.0)
