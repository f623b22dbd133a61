"""Mass properties of the solid inside a closed triangle mesh, by exact integrals over its triangles.

Every triangle spans a tetrahedron with a reference point; volume, first and second moments of the tetrahedra, with
their signs, add up to those of the solid, whatever its shape. The mesh must be closed, and its triangles must all turn
counter-clockwise seen from outside: both are checked. (That triangles do not cut through each other is not.)
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.geometry.inertia.solids import mass_or_density


def mass_properties_of_mesh(vertices: ArrayLike, triangles: ArrayLike, *, mass: float | None = None,
                            density: float | None = None) -> MassProperties:
    """Of the uniform solid bounded by triangles (n, 3), indices into vertices (m, 3) [m]; of a given mass or density.

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
    """Raise `GeometryError`, with the first offending edge or triangle, if a mesh is open, badly turned, flat or inside
    out.
    """
    points = np.asarray(vertices, dtype=float)
    faces = np.asarray(triangles)
    if points.ndim != 2 or points.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
        raise GeometryError(f"a mesh is vertices (m, 3) and triangles (n, 3), not {points.shape} and {faces.shape}")
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
