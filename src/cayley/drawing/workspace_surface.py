"""The surface of a workspace as a mesh: cells of a grid that hold points, smoothed a little, and the surface around as
many of them as the volume asks for.

Each cube between eight places of the grid is six tetrahedra about its diagonal; in each the surface is a triangle or
two, with vertices on the edges. Neighbours share edges, so that the mesh is closed whatever the field is. Source: Doi
and Koide, "An efficient method of triangulating equi-valued surfaces by using tetrahedral cells", 1991.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from cayley.compiler.typing import Array
from cayley.drawing.cells import Room, filled_cells
from cayley.errors import UnsupportedError

if TYPE_CHECKING:
    from trimesh import Trimesh

    from cayley.drawing.workspaces import Workspace

_SMOOTHING = 0.7  # cells
_WORDS = ("a point", "a curve", "a surface", "of no volume")


def surface(workspace: Workspace) -> Trimesh:
    """See `Workspace.mesh`."""
    from trimesh import Trimesh
    room = workspace._room
    if room is None or not room.cell:
        raise UnsupportedError(f"what {workspace.frame!r} reaches is {_WORDS[workspace.dimension]}: a mesh is of an "
                               "area in a plane, or of a volume")
    field, corner = _field(workspace.view(workspace.points), room)
    if not workspace.view.flat:
        vertices, faces = zero_surface(field)
        return Trimesh(corner + room.cell * (vertices + 0.5), faces, process=False)
    vertices, faces = _cells(field > 0)
    plane = (corner + room.cell * vertices) @ workspace.view.rows
    normal = workspace.view.normal
    return Trimesh(plane + normal * (normal @ workspace.points.mean(axis=0)), faces, process=False)


def _field(points: Array, room: Room) -> tuple[Array, Array]:
    """Positive in cells that are filled, as many as the measure asks for; and the lower corner of the first."""
    filled, corner = filled_cells(points, room.cell)
    inner = ndimage.binary_erosion(filled, np.ones((3,) * filled.ndim))
    smooth = ndimage.gaussian_filter(0.5 * (filled + inner.astype(float)), _SMOOTHING, mode="constant")
    wanted = max(1, round(room.measure / room.cell**filled.ndim))
    level = np.sort(smooth, axis=None)[-wanted - 1:][:2].mean()
    field = np.pad(smooth, 1) - level
    return field, corner - room.cell


def zero_surface(field: Array) -> tuple[Array, Array]:
    """Vertices (v, 3) and triangles (f, 3) of the surface on which a field (i, j, k) is zero, counter-clockwise seen
    from where it is negative, as its rim is; vertices are counted in places of the field.

    >>> x = np.linspace(-1.3, 1.3, 27)
    >>> ball = 1.0 - np.sqrt(sum(np.square(np.meshgrid(x, x, x, indexing="ij"))))
    >>> vertices, faces = zero_surface(ball)
    >>> places = x[0] + (x[1] - x[0]) * vertices
    >>> bool(np.abs(np.linalg.norm(places, axis=1) - 1.0).max() < 0.01)
    True
    """
    corners = np.concatenate([_tetrahedra(field.shape, order) for order in permutations(range(3))])
    flat = field.ravel()
    inside = flat[corners] > 0
    count = inside.sum(axis=1)
    corners = np.take_along_axis(corners, np.argsort(~inside, axis=1, kind="stable"), axis=1)  # those inside first
    one, two, three = (corners[count == k] for k in (1, 2, 3))
    edges = np.concatenate([
        one[:, [[0, 1], [0, 2], [0, 3]]], three[:, [[0, 3], [1, 3], [2, 3]]],
        two[:, [[0, 2], [0, 3], [1, 2]]], two[:, [[1, 2], [0, 3], [1, 3]]]])  # (f, 3, 2): from inside to outside
    kept, number = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True)
    start, end = (np.stack(np.unravel_index(kept[:, k], field.shape), axis=1) for k in (0, 1))
    share = flat[kept[:, 0]] / (flat[kept[:, 0]] - flat[kept[:, 1]])
    vertices = start + share[:, None] * (end - start)
    faces = number.reshape(-1, 3)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    outward = (end - start)[faces].sum(axis=1)
    turned = np.einsum("ij,ij->i", np.cross(b - a, c - a), outward) < 0
    return vertices, np.where(turned[:, None], faces[:, ::-1], faces)


def _tetrahedra(shape: tuple[int, ...], order: tuple[int, ...]) -> Array:
    """The places (n, 4) in the flattened field of the tetrahedra whose corners go along the axes in this order."""
    first = np.stack(np.meshgrid(*[np.arange(n - 1) for n in shape], indexing="ij"), axis=-1).reshape(-1, 3)
    steps = np.cumsum([np.zeros(3, dtype=int), *np.eye(3, dtype=int)[list(order)]], axis=0)
    return np.stack([np.ravel_multi_index(tuple((first + step).T), shape) for step in steps], axis=1)


def _cells(filled: Array) -> tuple[Array, Array]:
    """Two triangles a filled cell of a plane, with vertices (v, 2) that neighbours share."""
    places = np.argwhere(filled)
    corners = np.stack([places + step for step in ((0, 0), (1, 0), (1, 1), (0, 1))], axis=1)
    kept, number = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
    a, b, c, d = number.reshape(-1, 4).T
    return kept.astype(float), np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
