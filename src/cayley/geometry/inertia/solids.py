"""Mass properties of uniform bodies, of a given mass or density.

Solids are centred at the origin with their axis along z; a cone and a hemisphere stand with their flat face on z = 0
and point up. Put them elsewhere with `in_frame`, join them with `+`, drill with `-`.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.geometry.inertia.solid_moments import (
    box_inertia,
    capsule_inertia,
    cone_inertia,
    cylinder_inertia,
    disc_inertia,
    ellipsoid_inertia,
    hemisphere_inertia,
    plate_inertia,
    ring_inertia,
    rod_inertia,
    sphere_inertia,
    spherical_shell_inertia,
    torus_inertia,
    tube_inertia,
)


def box(size: ArrayLike, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A box with three side lengths [m].

    >>> box((1.0, 2.0, 3.0), density=2.0).mass
    12.0
    """
    size = _sizes("size", size)
    return _uniform(box_inertia, float(np.prod(size)), mass, density, size)


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid sphere.

    >>> sphere(1.0, mass=5.0).inertia.diagonal()
    array([2., 2., 2.])
    """
    return _uniform(sphere_inertia, 4 / 3 * np.pi * _size("radius", radius) ** 3, mass, density, radius)


def ellipsoid(semi_axes: ArrayLike, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """An ellipsoid with three semi-axes [m].

    >>> ellipsoid((1.0, 2.0, 3.0), mass=5.0).inertia.diagonal()
    array([13., 10.,  5.])
    """
    semi_axes = _sizes("semi_axes", semi_axes)
    return _uniform(ellipsoid_inertia, 4 / 3 * np.pi * np.prod(semi_axes), mass, density, semi_axes)


def cylinder(radius: float, length: float, *, mass: float | None = None,
             density: float | None = None) -> MassProperties:
    """A solid cylinder along z.

    >>> cylinder(1.0, 2.0, mass=12.0).inertia.diagonal()
    array([7., 7., 6.])
    """
    return _uniform(cylinder_inertia,
                    np.pi * _size("radius", radius)**2 * _size("length", length), mass, density, radius, length)


def tube(inner: float, outer: float, length: float, *, mass: float | None = None,
         density: float | None = None) -> MassProperties:
    """A hollow cylinder along z.

    >>> tube(1.0, 1.0, 2.0, mass=12.0).inertia.diagonal()
    array([10., 10., 12.])
    """
    if _size("inner", inner) > _size("outer", outer):
        raise GeometryError(f"the inner radius {inner} m of a tube is larger than the outer, {outer} m")
    return _uniform(tube_inertia,
                    np.pi * (outer**2 - inner**2) * _size("length", length), mass, density, inner, outer, length)


def cone(radius: float, height: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid cone, its base on z = 0, its tip at z = height.

    >>> cone(1.0, 2.0, mass=80.0).inertia.diagonal()
    array([24., 24., 24.])
    """
    volume = np.pi / 3 * _size("radius", radius) ** 2 * _size("height", height)
    return _uniform(cone_inertia, volume, mass, density, radius, height, up=height / 4)


def hemisphere(radius: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid half ball, its flat face on z = 0, above it.

    >>> hemisphere(1.0, mass=320.0).inertia.diagonal()
    array([ 83.,  83., 128.])
    """
    return _uniform(hemisphere_inertia, 2 / 3 * np.pi * _size("radius", radius)**3, mass, density, radius,
                    up=3 / 8 * radius)


def capsule(radius: float, length: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A cylinder of the given length along z with a half ball at each end.

    >>> capsule(1.0, 0.0, mass=5.0).inertia.diagonal()
    array([2., 2., 2.])
    """
    volume = np.pi * _size("radius", radius) ** 2 * (_size("length", length) + 4 / 3 * radius)
    if volume == 0:  # the proportion of middle and ends is lost
        return rod(length, mass=mass_or_density(0.0, mass, density))
    return _uniform(capsule_inertia, volume, mass, density, radius, length)


def torus(ring: float, tube: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid ring across z; `ring` is the radius of its middle circle, `tube` that of the tube.

    >>> torus(2.0, 1.0, mass=8.0).inertia.diagonal()
    array([21., 21., 38.])
    """
    if _size("tube", tube) > _size("ring", ring):
        raise GeometryError(
            f"the tube radius {tube} m of a torus is larger than its ring radius, {ring} m: it cuts itself")
    return _uniform(torus_inertia, 2 * np.pi**2 * ring * tube**2, mass, density, ring, tube)


def spherical_shell(radius: float, *, mass: float) -> MassProperties:
    """A thin spherical shell.

    >>> spherical_shell(1.0, mass=3.0).inertia.diagonal()
    array([2., 2., 2.])
    """
    return _uniform(spherical_shell_inertia, 0.0, mass, None, _size("radius", radius))


def rod(length: float, *, mass: float) -> MassProperties:
    """A thin rod along z.

    >>> rod(2.0, mass=12.0).inertia.diagonal()
    array([4., 4., 0.])
    """
    return _uniform(rod_inertia, 0.0, mass, None, _size("length", length))


def plate(sides: ArrayLike, *, mass: float) -> MassProperties:
    """A thin rectangular plate across z with two side lengths [m].

    >>> plate((1.0, 2.0), mass=12.0).inertia.diagonal()
    array([4., 1., 5.])
    """
    return _uniform(plate_inertia, 0.0, mass, None, _sizes("sides", sides, 2))


def disc(radius: float, *, mass: float) -> MassProperties:
    """A thin disc across z.

    >>> disc(1.0, mass=4.0).inertia.diagonal()
    array([1., 1., 2.])
    """
    return _uniform(disc_inertia, 0.0, mass, None, _size("radius", radius))


def ring(radius: float, *, mass: float) -> MassProperties:
    """A thin ring across z.

    >>> ring(1.0, mass=2.0).inertia.diagonal()
    array([1., 1., 2.])
    """
    return _uniform(ring_inertia, 0.0, mass, None, _size("radius", radius))


def _uniform(inertia: Kernel, volume: float, mass: float | None, density: float | None, *sizes: ArrayLike,
             up: float = 0.0) -> MassProperties:
    total = mass_or_density(volume, mass, density)
    return MassProperties(total, np.array([0.0, 0.0, up]), inertia(total, *sizes))


def mass_or_density(volume: float, mass: float | None, density: float | None) -> float:
    """The mass [kg] of a body of the given volume [m^3], of which either the mass or the density is known."""
    if (mass is None) == (density is None):
        raise GeometryError("say either the mass [kg] or the density [kg/m^3] of a solid, one of them")
    value = float(mass) if mass is not None else float(density) * float(volume)  # type: ignore[arg-type]
    if not (value >= 0 and np.isfinite(value)):
        raise GeometryError(
            f"the mass of a solid is {value} kg: it is finite and not negative; cut holes out with body - part")
    return value


def _size(name: str, value: float) -> float:
    if not (value >= 0 and np.isfinite(value)):
        raise GeometryError(f"{name} is {value} m: a size is finite and not negative")
    return float(value)


def _sizes(name: str, values: ArrayLike, count: int = 3) -> Array:
    array = np.asarray(values, dtype=float)
    if array.shape != (count,):
        raise GeometryError(f"{name} has the shape {array.shape}: {count} numbers are needed")
    for value in array:
        _size(name, value)
    return array
