"""Mass properties of uniform bodies, of a given mass or density.

Solids are centred at the origin with their axis along z; a cone and a hemisphere stand with their flat face on z = 0
and point up. Put them elsewhere with `in_frame`, join them with `+`, drill with `-`.

The solid inside a closed triangle mesh: every triangle spans a tetrahedron with a reference point; volume, first and
second moments of the tetrahedra, with their signs, add up to those of the solid, whatever its shape. The mesh must be
closed, and its triangles must all turn counter-clockwise seen from outside: both are checked. (That triangles do not
cut through each other is not.)"""

from __future__ import annotations

from collections import Counter

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.inertia import solid_moments as moments
from cayley.geometry.inertia.mass_properties import MassProperties


def box(size: ArrayLike, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A box with three side lengths [m].

    >>> box((1.0, 2.0, 3.0), density=2.0).mass
    12.0
    """
    size = _sizes("size", size)
    return _uniform(moments.box_inertia, float(np.prod(size)), mass, density, size)


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid sphere.

    >>> sphere(1.0, mass=5.0).inertia.diagonal()
    array([2., 2., 2.])
    """
    return _uniform(moments.sphere_inertia, 4 / 3 * np.pi * _size("radius", radius) ** 3, mass, density, radius)


def ellipsoid(semi_axes: ArrayLike, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """An ellipsoid with three semi-axes [m].

    >>> ellipsoid((1.0, 2.0, 3.0), mass=5.0).inertia.diagonal()
    array([13., 10.,  5.])
    """
    semi_axes = _sizes("semi_axes", semi_axes)
    return _uniform(moments.ellipsoid_inertia, 4 / 3 * np.pi * np.prod(semi_axes), mass, density, semi_axes)


def cylinder(radius: float, length: float, *, mass: float | None = None,
             density: float | None = None) -> MassProperties:
    """A solid cylinder along z.

    >>> cylinder(1.0, 2.0, mass=12.0).inertia.diagonal()
    array([7., 7., 6.])
    """
    return _uniform(moments.cylinder_inertia,
                    np.pi * _size("radius", radius)**2 * _size("length", length), mass, density, radius, length)


def tube(inner: float, outer: float, length: float, *, mass: float | None = None,
         density: float | None = None) -> MassProperties:
    """A hollow cylinder along z.

    >>> tube(1.0, 1.0, 2.0, mass=12.0).inertia.diagonal()
    array([10., 10., 12.])
    """
    if _size("inner", inner) > _size("outer", outer):
        raise GeometryError(f"the inner radius {inner} m of a tube is larger than the outer, {outer} m")
    return _uniform(moments.tube_inertia,
                    np.pi * (outer**2 - inner**2) * _size("length", length), mass, density, inner, outer, length)


def cone(radius: float, height: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid cone, its base on z = 0, its tip at z = height.

    >>> cone(1.0, 2.0, mass=80.0).inertia.diagonal()
    array([24., 24., 24.])
    """
    volume = np.pi / 3 * _size("radius", radius) ** 2 * _size("height", height)
    return _uniform(moments.cone_inertia, volume, mass, density, radius, height, up=height / 4)


def hemisphere(radius: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid half ball, its flat face on z = 0, above it.

    >>> hemisphere(1.0, mass=320.0).inertia.diagonal()
    array([ 83.,  83., 128.])
    """
    return _uniform(moments.hemisphere_inertia, 2 / 3 * np.pi * _size("radius", radius)**3, mass, density, radius,
                    up=3 / 8 * radius)


def capsule(radius: float, length: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A cylinder of the given length along z with a half ball at each end.

    >>> capsule(1.0, 0.0, mass=5.0).inertia.diagonal()
    array([2., 2., 2.])
    """
    volume = np.pi * _size("radius", radius) ** 2 * (_size("length", length) + 4 / 3 * radius)
    if volume == 0:  # the proportion of middle and ends is lost
        return rod(length, mass=mass_or_density(0.0, mass, density))
    return _uniform(moments.capsule_inertia, volume, mass, density, radius, length)


def torus(ring: float, tube: float, *, mass: float | None = None, density: float | None = None) -> MassProperties:
    """A solid ring across z; `ring` is the radius of its middle circle, `tube` that of the tube.

    >>> torus(2.0, 1.0, mass=8.0).inertia.diagonal()
    array([21., 21., 38.])
    """
    if _size("tube", tube) > _size("ring", ring):
        raise GeometryError(
            f"the tube radius {tube} m of a torus is larger than its ring radius, {ring} m: it cuts itself")
    return _uniform(moments.torus_inertia, 2 * np.pi**2 * ring * tube**2, mass, density, ring, tube)


def spherical_shell(radius: float, *, mass: float) -> MassProperties:
    """A thin spherical shell.

    >>> spherical_shell(1.0, mass=3.0).inertia.diagonal()
    array([2., 2., 2.])
    """
    return _uniform(moments.spherical_shell_inertia, 0.0, mass, None, _size("radius", radius))


def rod(length: float, *, mass: float) -> MassProperties:
    """A thin rod along z.

    >>> rod(2.0, mass=12.0).inertia.diagonal()
    array([4., 4., 0.])
    """
    return _uniform(moments.rod_inertia, 0.0, mass, None, _size("length", length))


def plate(sides: ArrayLike, *, mass: float) -> MassProperties:
    """A thin rectangular plate across z with two side lengths [m].

    >>> plate((1.0, 2.0), mass=12.0).inertia.diagonal()
    array([4., 1., 5.])
    """
    return _uniform(moments.plate_inertia, 0.0, mass, None, _sizes("sides", sides, 2))


def disc(radius: float, *, mass: float) -> MassProperties:
    """A thin disc across z.

    >>> disc(1.0, mass=4.0).inertia.diagonal()
    array([1., 1., 2.])
    """
    return _uniform(moments.disc_inertia, 0.0, mass, None, _size("radius", radius))


def ring(radius: float, *, mass: float) -> MassProperties:
    """A thin ring across z.

    >>> ring(1.0, mass=2.0).inertia.diagonal()
    array([1., 1., 2.])
    """
    return _uniform(moments.ring_inertia, 0.0, mass, None, _size("radius", radius))


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


def mass_properties_of_mesh(vertices: ArrayLike, triangles: ArrayLike, *, mass: float | None = None,
                            density: float | None = None) -> MassProperties:
    """The mass properties of the uniform solid bounded by triangles (n, 3), indices into vertices (m, 3) [m]; of a
    given mass or density.

    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> mass_properties_of_mesh(corners, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], density=6.0).center
    array([0.25, 0.25, 0.25])
    """
    check_mesh(vertices, triangles)
    points = np.asarray(vertices, dtype=float)
    faces = np.asarray(triangles)
    volume, center, second = _moments(points, faces)
    total = mass_or_density(volume, mass, density)
    euler = second * (total / volume)
    return MassProperties(total, center, np.trace(euler) * np.eye(3) - euler)


def mesh_volume(vertices: ArrayLike, triangles: ArrayLike) -> float:
    """The volume [m^3] inside a closed mesh.

    >>> mesh_volume([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 6)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    1.0
    """
    check_mesh(vertices, triangles)
    return _moments(np.asarray(vertices, dtype=float), np.asarray(triangles))[0]


def check_mesh(vertices: ArrayLike, triangles: ArrayLike) -> None:
    """Raise `GeometryError`, naming an edge or triangle, if a mesh is open, badly turned, flat or inside out."""
    points = np.asarray(vertices, dtype=float)
    faces = np.asarray(triangles)
    if points.ndim != 2 or points.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
        raise GeometryError(f"a mesh must be vertices (m, 3) and triangles (n, 3), not {points.shape} and "
                            f"{faces.shape}")
    if faces.dtype.kind not in "iu" or faces.min() < 0 or faces.max() >= len(points):
        raise GeometryError(
            f"the triangles name vertices by numbers from 0 to {len(points) - 1}; there are others among them")
    if not np.isfinite(points).all():
        raise GeometryError(f"vertex {np.flatnonzero(~np.isfinite(points).all(axis=1))[0]} is not finite")
    _check_closed(faces)
    volume = _moments(points, faces)[0]
    extent = np.ptp(points[faces.ravel()], axis=0).max()
    if not volume > 1e-14 * extent**3:
        raise GeometryError(f"the mesh encloses {volume:.3g} m^3: "
                            + ("it is flat" if abs(volume) <= 1e-14
                               * extent**3 else "it is inside out; swap two columns of the triangles"))


def _check_closed(faces: Array) -> None:
    repeated = np.flatnonzero((faces[:, 0] == faces[:, 1]) | (faces[:, 1] == faces[:, 2])
                              | (faces[:, 2] == faces[:, 0]))
    if len(repeated):
        raise GeometryError(f"triangle {repeated[0]} has a vertex twice: {faces[repeated[0]].tolist()}")
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    count = Counter(map(tuple, edges.tolist()))
    open_edges = [e for e in count if e[::-1] not in count and count[e] == 1]
    if open_edges:
        raise GeometryError(
            f"the mesh is not watertight: {len(open_edges)} edges bound only one triangle, the first from vertex "
            f"{open_edges[0][0]} to {open_edges[0][1]}; merge double vertices and close the holes")
    badly = [e for e, often in count.items() if often != count.get(e[::-1], 0)]
    if badly:
        raise GeometryError(
            f"neighbouring triangles are turned against each other along {len(badly)} edges, the first from vertex "
            f"{badly[0][0]} to {badly[0][1]}; turn the triangles so that all are counter-clockwise from outside")


def _moments(points: Array, faces: Array) -> tuple[float, Array, Array]:
    """Volume, centre, and second moments about the centre, [i, j] = integral of r_i r_j dV."""
    middle = points[np.unique(faces)].mean(axis=0)  # near the solid, so that little cancels
    corners = points[faces] - middle
    volumes = np.linalg.det(corners) / 6
    total = corners.sum(axis=1)
    volume = volumes.sum()
    if volume == 0:
        return 0.0, middle, np.zeros((3, 3))
    offset = volumes @ total / 4 / volume
    second = (np.einsum("n,nki,nkj->ij", volumes, corners, corners)
              + np.einsum("n,ni,nj->ij", volumes, total, total)) / 20
    return float(volume), middle + offset, second - volume * np.outer(offset, offset)
