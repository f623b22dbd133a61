"""Membership of points in a workspace: a configuration within the limits that brings the frame there is searched for,
from those of the nearest samples on, by damped least squares for all points at once. False says that none was found.

Each cube between eight places of the grid is six tetrahedra about its diagonal; in each the surface is a triangle or
two, with vertices on the edges. Neighbours share edges, so that the mesh is closed whatever the field is. Source: Doi
and Koide, "An efficient method of triangulating equi-valued surfaces by using tetrahedral cells", 1991."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.sampling import coordinates_of, is_tied_between, joints_between, leaders, limited, ranges
from cayley.drawing.workspaces import Extent, filled_cells
from cayley.errors import ConventionError, UnsupportedError
from cayley.extras import optional_imports
from cayley.kinematics.inverse import inverse_kinematics
from cayley.model.configurations import with_mimic_joints

if TYPE_CHECKING:
    from trimesh import Trimesh

    from cayley.drawing.workspaces import Workspace


_NEAREST = 8  # samples to start from
_STEPS = 80
_DAMPING = 1e-3  # of the error [m], beside the Jacobian


def contains(workspace: Workspace, points: ArrayLike, tolerance: float) -> Array:
    """See `Workspace.contains`."""
    given = np.asarray(points, dtype=float)
    if given.shape[-1:] != (3,):
        raise ConventionError(f"points must have the shape (..., 3), not {given.shape}")
    flat = given.reshape(-1, 3)
    found = np.zeros(len(flat), dtype=bool)
    inside = np.flatnonzero(np.isfinite(flat).all(axis=1))
    count = min(_NEAREST, len(workspace.points))
    _, nearest = cKDTree(workspace.points).query(flat[inside], k=count)
    nearest = np.asarray(nearest).reshape(len(inside), count)
    search = _Closed(workspace, tolerance) if is_tied_between(
        workspace.tree, workspace.frame, workspace.relative_to) else _Open(workspace, tolerance)
    for k in range(count):
        left = np.flatnonzero(~found[inside])
        if len(left):
            starts = workspace.configurations[nearest[left, k]]
            found[inside[left]] = search.reached(flat[inside[left]], starts)
    return found.reshape(given.shape[:-1])[()]


class _Open:
    """Membership by the coordinates of the joints on the way, those that follow others with them; turned balls stay."""

    def __init__(self, workspace: Workspace, tolerance: float) -> None:
        from cayley.drawing.workspaces import position_kernel
        tree = workspace.tree
        joints = leaders(tree, joints_between(tree, workspace.frame, workspace.relative_to))
        self.tree = tree
        self.tolerance = tolerance
        self.place = position_kernel(tree, workspace.frame, workspace.relative_to)
        self.free = coordinates_of(tree, joints)
        low, high = ranges(tree, joints, workspace.limits)
        self.low = low[self.free]
        self.high = high[self.free]
        for number in joints:
            joint = tree.joints[number]
            held = joint.name in (workspace.limits or {})
            for k, wraps in zip(np.r_[tree.q_slices[number]], joint.motion.wraps, strict=True):
                if wraps and not held and k in self.free:  # one turn was drawn; there is no end to it
                    at = int(np.searchsorted(self.free, k))
                    self.low[at] = joint.limits.lower[k - tree.q_slices[number].start]
                    self.high[at] = joint.limits.upper[k - tree.q_slices[number].start]
        self.followed = np.zeros((tree.nq, len(self.free)))
        self.followed[self.free, np.arange(len(self.free))] = 1.0
        for number, follower in tree.mimic_joints.items():
            leader = tree.q_slices[follower.leader].start
            if leader in self.free:
                self.followed[tree.q_slices[number].start, np.searchsorted(self.free, leader)] = follower.multiplier

    def reached(self, points: Array, starts: Array) -> Array:
        """Truth values (n) of the points (n, 3) that are reached from configurations (n, nq)."""
        q = starts.copy()
        slope = self.place.jacobian("q")
        for _ in range(_STEPS):
            off = points - self.place(q)
            far = np.linalg.norm(off, axis=1)
            if (far <= self.tolerance).all():
                break
            J = slope(q) @ self.followed
            x = q[:, self.free]
            step = self._step(J, off, far)
            blocked = ((x <= self.low) & (step < 0)) | ((x >= self.high) & (step > 0))
            step = self._step(np.where(blocked[:, None], 0.0, J), off, far)
            q[:, self.free] = np.clip(x + np.where(blocked, 0.0, step), self.low, self.high)
            q = with_mimic_joints(self.tree, q)
        return np.linalg.norm(points - self.place(q), axis=1) <= self.tolerance

    @staticmethod
    def _step(J: Array, off: Array, far: Array) -> Array:
        damped = J @ J.mT + (_DAMPING * np.minimum(far, 1.0) ** 2 + 1e-12)[:, None, None] * np.eye(3)
        step = (J.mT @ np.linalg.solve(damped, off[..., None]))[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True, initial=1e-300)
        return step * np.minimum(1.0, 0.5 / longest)


class _Closed:
    """Membership by inverse kinematics of the closed mechanism, near the samples of its branch."""

    def __init__(self, workspace: Workspace, tolerance: float) -> None:
        if workspace.relative_to is not None:
            raise ConventionError("points of a mechanism with loops are looked for in the frame of its root: ask the "
                                  "workspace without relative_to")
        self.tree = limited(workspace.tree, workspace.limits)
        self.frame = workspace.frame
        self.tolerance = tolerance

    def reached(self, points: Array, starts: Array) -> Array:
        targets = np.tile(np.eye(4), (len(points), 1, 1))
        targets[:, :3, 3] = points
        found = inverse_kinematics(self.tree, targets, self.frame, start=starts, task="position", limits=True,
                                   tolerance=self.tolerance, restarts=0)
        return np.asarray(found.residual) <= self.tolerance


_SMOOTHING = 0.7  # cells
_WORDS = ("a point", "a curve", "a surface", "of no volume")


def surface(workspace: Workspace) -> Trimesh:
    """See `Workspace.mesh`."""
    with optional_imports():
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


def _field(points: Array, room: Extent) -> tuple[Array, Array]:
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
