"""The reachable workspace of a frame: where its origin gets to over random configurations within the limits, and how
far.

The nearest and farthest reach are searched for from the best samples, and are exact where the search finds the extreme.
The volume (or the area, of a planar mechanism) is the mean of the cells of a grid that hold points, and of those whose
neighbours do too: if every cell that the body touches held a point, the first would be too many and the second too few
by the same amount. Single empty cells inside are taken for accidents of sampling, and thin parts are missed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import ndimage
from scipy.optimize import minimize

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.sampling import (
    Branch,
    JointLimits,
    coordinates_of,
    free_directions,
    is_tied_between,
    joints_between,
    leaders,
    random_configurations,
    ranges,
)
from cayley.drawing.views import SPACE, ViewAxes, view_of
from cayley.errors import ConventionError, ModelError, SignatureError, UnsupportedError
from cayley.kinematics.constraints.space import allowed_velocities
from cayley.kinematics.forward import body_poses, frame_pose
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.model.configurations import with_mimic_joints
from cayley.model.constraints import ties
from cayley.model.coordinate_labels import coordinate_labels
from cayley.model.tree import Tree
from cayley.progress import PatientBar
from cayley.showing import Pictured
from cayley.tabulated import Tabulated, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from trimesh import Trimesh

_SAMPLES = 300_000
_CLOSED_SAMPLES = 20_000
_MESHES = (".stl", ".ply", ".obj", ".glb", ".off")
_BEST = 6  # samples to start a search from
_VERTICAL = 1e-6


class Axis(NamedTuple):
    """The line of the first joint: a point and a direction, in the frame that the workspace is in."""

    point: Array
    direction: Array


@dataclass(frozen=True, eq=False, repr=False)
class Workspace(Pictured, Tabulated):
    """Points that a frame reaches, and the figures of its reach. As a table: the points, and configurations there."""

    tree: Tree
    frame: str
    relative_to: str | None
    points: Array  # (n, 3), in the root's frame or in that of `relative_to` [m]
    configurations: Array  # (n, nq) that reach them
    center: Array  # (3), from which distances are measured
    nearest: float  # smallest and
    farthest: float  # largest distance from the center [m]
    dimension: int  # of the set of points: 1 a curve, 2 a surface, 3 a volume
    axis: Axis | None  # of the first joint, if it turns about a vertical line
    view: ViewAxes
    _room: Extent | None
    limits: JointLimits | None = None  # instead of those of the model

    @property
    def lowest(self) -> Array:
        """The lower corner (3) of the box around the points."""
        return self.points.min(axis=0)

    @property
    def highest(self) -> Array:
        """The upper corner (3) of the box around the points."""
        return self.points.max(axis=0)

    @property
    def volume(self) -> float:
        """An estimate [m^3]; zero if the points lie on a surface or a curve."""
        return self._room.measure if self._room is not None and not self.view.flat else 0.0

    @property
    def area(self) -> float | None:
        """An estimate of the area that a planar mechanism reaches [m^2]; None for other mechanisms."""
        if not self.view.flat:
            return None
        return self._room.measure if self._room is not None else 0.0

    @property
    def uncertainty(self) -> float:
        """About how far the volume or area may be off where the edge is thinly sampled [m^3, m^2]."""
        return self._room.uncertainty if self._room is not None else 0.0

    @property
    def section(self) -> tuple[Array, Array, tuple[str, str]]:
        """Coordinates (k, 2) of points in the plane that shows the workspace best, their places among the points, and
        two names.

        It lies in the plane of a planar mechanism. If the first axis is vertical, it has the distance from that axis
        and the height, otherwise x and z of a slice through the middle, a tenth of the workspace thick."""
        chosen = self._in_slice(self.points)
        return self._flattened(self.points[chosen]), chosen, self._section_names

    def section_of(self, q: Array) -> Array:
        """The places of configurations (n, nq) in the section, (k, 2); those outside a slice are left out."""
        points = position_kernel(self.tree, self.frame, self.relative_to)(q).reshape(-1, 3)
        return self._flattened(points[self._in_slice(points)])

    @property
    def _section_names(self) -> tuple[str, str]:
        if self.view.flat:
            return self.view.names[0], self.view.names[1]
        return ("x [m]", "z [m]") if self.axis is None else ("distance from the first axis [m]", "z [m]")

    def _in_slice(self, points: Array) -> Array:
        if self.view.flat or self.axis is not None:
            return np.arange(len(points))
        middle = 0.5 * (self.lowest + self.highest)[1]
        thick = 0.05 * float(np.ptp(self.points, axis=0).max())
        return np.flatnonzero(np.abs(points[:, 1] - middle) <= thick)

    def _flattened(self, points: Array) -> Array:
        if self.view.flat:
            return self.view(points)
        if self.axis is None:
            return points[:, [0, 2]]
        return np.stack([np.hypot(*(points[:, :2] - self.axis.point[:2]).T), points[:, 2]], axis=1)

    def contains(self, points: ArrayLike, *, tolerance: float = 1e-6) -> Array:
        """True where points (..., 3) are reached, to the tolerance [m]: a configuration that brings the frame there is
        searched for within the limits. True is sure; false says that none was found, as of a point in a corner that no
        sample is near.

        >>> from cayley.model.catalogue import load_robot
        >>> found = workspace(load_robot("planar2r"), "tool", samples=2000)
        >>> found.contains([[0.8999, 0, 0], [0.9001, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0.1]])
        array([ True, False,  True, False])
        """
        from cayley.drawing.workspace_membership import contains
        return contains(self, points, tolerance)

    def mesh(self) -> Trimesh:
        """The surface of the volume, or the area of a planar mechanism, as a mesh of trimesh, in metres: that of the
        cells that hold points, so small parts and sharp corners are rounded off."""
        from cayley.drawing.workspace_membership import surface
        return surface(self)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the mesh as .stl, .ply, .obj, .glb or .off, or the points and configurations as .csv."""
        place = Path(path)
        if place.suffix.lower() == ".csv":
            return self.to_csv(place)
        if place.suffix.lower() not in _MESHES:
            raise UnsupportedError(f"a workspace is written as {', '.join(_MESHES)} or .csv, not as {place.suffix!r}")
        if not place.absolute().parent.is_dir():
            raise ModelError(f"the folder {place.parent} does not exist: create it, or write the mesh elsewhere")
        self.mesh().export(place)
        return place

    def to_columns(self) -> dict[str, Array]:
        """The points and the configurations that reach them."""
        labels = [f"q.{name} [{unit}]" if unit else f"q.{name}" for name, unit in coordinate_labels(self.tree)]
        return dict(zip(("x [m]", "y [m]", "z [m]", *labels), (*self.points.T, *self.configurations.T), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The figures of the workspace, as plain numbers; the points are the table."""
        return plain({"mechanism": self.tree.name, "frame": self.frame, "relative_to": self.relative_to,
                      "center": self.center, "nearest": self.nearest, "farthest": self.farthest,
                      "lowest": self.lowest, "highest": self.highest, "dimension": self.dimension,
                      "volume": self.volume, "area": self.area, "uncertainty": self.uncertainty,
                      "points": len(self.points)})

    def plot(self, *, figure: Figure | None = None) -> Figure:
        """A Matplotlib figure: the points with the robot, and the section; of a planar workspace its plane."""
        from cayley.drawing.workspace_pictures import draw_workspace
        return draw_workspace(self, figure)

    def __repr__(self) -> str:
        size = f"area {self.area:.4g} m^2" if self.area is not None else f"volume {self.volume:.4g} m^3"
        size = "along a curve" if self.dimension == 1 else size
        return (f"<workspace of {self.frame!r}: reach {round(self.nearest, 6):.4g} to {round(self.farthest, 6):.4g} m, "
                f"{size}, {len(self.points)} points>")


def workspace(tree: Tree, frame: str, *, samples: int | None = None, seed: int = 0, limits: JointLimits | None = None,
              relative_to: str | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
              start: ArrayLike | None = None) -> Workspace:
    """The reachable workspace of a frame's origin; of a mechanism with loops, on one branch.

    samples       random configurations, uniform in the range of each joint, by default 300000; turns without
                  limits are drawn from one turn. If loops tie the joints on the way together: of its actuated joints,
                  20000
    limits        by joint, instead of those of the model: {"slider": (0.0, 1.0)}. A slide that has none is an error
    relative_to   the frame in which the points are; the root's by default. Only joints between the two are moved
    center        the point (3) of that frame from which the reach is measured
    start         a closed configuration (nq) of the branch, if there are loops; by default one near rest

    >>> from cayley.model.catalogue import load_robot
    >>> found = workspace(load_robot("planar2r"), "tool", samples=20000)
    >>> round(found.farthest, 6), found.dimension
    (0.9, 2)
    """
    if samples is not None and samples < 100:
        raise SignatureError(f"a workspace needs at least 100 samples, not {samples}")
    place = position_kernel(tree, frame, relative_to)
    middle = np.asarray(center, dtype=float)
    view = SPACE if relative_to is not None else view_of(tree)
    if is_tied_between(tree, frame, relative_to):
        branch = Branch.of(tree, start, limits)
        q = branch.sample(samples or _CLOSED_SAMPLES, seed)
        free = list(allowed_velocities(branch.tree, q[:20]))
        nearest, farthest = (branch.extreme(place, middle, q, sign) for sign in (1.0, -1.0))
        axis = _free_axis(tree, frame, relative_to)
    elif start is not None:
        raise ConventionError(f"no loop of {tree.name} ties the joints on the way to {frame!r}: there is no branch to "
                              "start on")
    else:
        joints = joints_between(tree, frame, relative_to)
        q = random_configurations(tree, joints, samples or _SAMPLES, seed, limits)
        free = [free_directions(tree, joints, limits)] * 20
        nearest, farthest = (ReachSearch(tree, joints, place, middle, limits).search(q, sign) for sign in (1.0, -1.0))
        axis = _vertical_axis(tree, joints, frame, relative_to)
    points = place(q)
    dimension = max(_dimension(tree, one, frame, relative_to, N) for one, N in zip(q, free, strict=False))
    measured = room(view(points)) if dimension == len(view.rows) else None
    return Workspace(tree, frame, relative_to, points, q, middle, nearest, farthest, dimension, axis, view, measured,
                     limits)


def _free_axis(tree: Tree, frame: str, relative_to: str | None) -> Axis | None:
    """The vertical line of the first joint on the way, if no loop ties it: all that is reached is round about it."""
    way = [number for number in tree.path(tree.body_number(tree.frame(frame).body)) if tree.joints[number].motion.nv]
    if relative_to is not None or any(way[0] in tie.joints for tie in ties(tree)):
        return None
    return _vertical_axis(tree, way, frame, relative_to)


def position_kernel(tree: Tree, frame: str, relative_to: str | None) -> Kernel:
    """The origin (3) of a frame by the configuration, compiled."""
    return kernel(f"({tree.nq})->(3)", name="position")(lambda q: frame_pose(tree, q, frame, relative_to).p)


class ReachSearch(NamedTuple):
    """A search for the extreme distances of a frame from a point."""

    tree: Tree
    joints: list[int]
    place: Kernel
    center: Array
    limits: JointLimits | None

    def search(self, q: Array, sign: float) -> float:
        """The smallest distance (sign 1) or the largest (-1), from the best of the samples on."""
        distance = np.linalg.norm(self.place(q) - self.center, axis=1)
        searched = leaders(self.tree, self.joints)
        free = coordinates_of(self.tree, searched)
        found = distance[np.argsort(sign * distance)[:_BEST]]
        best = float((sign * found).min())
        if not len(free):
            return sign * best
        low, high = ranges(self.tree, searched, self.limits)
        starts = q[np.argsort(sign * distance)[:_BEST]]
        with PatientBar(f"reach of {self.tree.name}", len(starts)) as bar:
            for number, start in enumerate(starts, 1):
                def squared(x: Array, start: Array = start) -> float:
                    trial = start.copy()
                    trial[free] = x
                    return float(sign * np.sum((self.place(with_mimic_joints(self.tree, trial)) - self.center) ** 2))

                solved = minimize(squared, start[free], method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10},
                                  bounds=list(zip(low[free], high[free], strict=True)))
                best = min(best, sign * float(np.sqrt(abs(solved.fun))))
                bar.reached(number)
        return sign * best


def _dimension(tree: Tree, q: Array, frame: str, relative_to: str | None, free: Array) -> int:
    """The rank of the position's Jacobian at a configuration, by the directions that are free."""
    seen_from = "world" if relative_to is None else relative_to
    J = np.asarray(general_jacobian(tree, q, frame, axes=seen_from, relative_to=seen_from), dtype=float)[:3]
    return int(rank_of(J @ free / max(np.abs(J).max(), 1e-300))) if free.size else 0


def _vertical_axis(tree: Tree, joints: list[int], frame: str, relative_to: str | None) -> Axis | None:
    """The line of the first joint outwards, if it is a turn about a vertical line in the frame of the workspace."""
    first = tree.joints[joints[0]]
    base = 0 if relative_to is None else tree.body_number(tree.frame(relative_to).body)
    outward = set(tree.path(base)) <= set(tree.path(tree.body_number(tree.frame(frame).body)))
    screw = first.motion.screw
    if screw is None or not screw.turn or screw.slide or not outward:
        return None
    seen = frame_pose(tree, tree.neutral, relative_to).inverse if relative_to is not None else body_poses(
        tree, tree.neutral)[0]
    child = seen.then(body_poses(tree, tree.neutral)[joints[0] + 1])
    direction = child.R @ np.asarray(screw.axis)
    return Axis(child.p, direction) if abs(direction[2]) > 1 - _VERTICAL else None


_POINTS_PER_CELL = 24
_MISSED = 0.15  # of the difference between the two, for points of even density
_FLAT = 1e-4  # thinner than this part of its length, it fills nothing


class Extent(NamedTuple):
    """An area [m^2] or a volume [m^3], about how far it may be off, and the width of the cells [m]."""

    measure: float
    uncertainty: float
    cell: float


def room(points: Array) -> Extent:
    """The area or volume that points (n, 2 or 3) fill."""
    n, dimensions = points.shape
    extents = np.ptp(points, axis=0)
    if extents.min() <= _FLAT * extents.max():
        return Extent(0.0, 0.0, 0.0)
    width = float(np.prod(extents) * _POINTS_PER_CELL / n) ** (1 / dimensions)
    filled, _ = filled_cells(points, width)
    inner = ndimage.binary_erosion(filled, np.ones((3,) * dimensions))
    outside, inside = (float(cells.sum()) * width**dimensions for cells in (filled, inner))
    return Extent(0.5 * (outside + inside), _MISSED * (outside - inside), width)


def gridded(places: Array, resolution: int) -> tuple[Array, Array, Array]:
    """The cells (n, 2) of places (n, 2) in a square grid of a given length in cells, and the middles of columns and
    rows."""
    width = float(np.ptp(places, axis=0).max()) / resolution or 1.0
    corner = places.min(axis=0) - 0.5 * width
    cells = np.floor((places - corner) / width).astype(int)
    across, up = (corner[k] + (np.arange(cells[:, k].max() + 1) + 0.5) * width for k in range(2))
    return cells, across, up


def filled_cells(points: Array, width: float) -> tuple[Array, Array]:
    """A grid of truth values with an empty rim, and the lower corner of its first cell."""
    corner = points.min(axis=0) - 2.5 * width
    places = np.floor((points - corner) / width).astype(int)
    shape = tuple(places.max(axis=0) + 3)
    counts = np.bincount(np.ravel_multi_index(tuple(places.T), shape), minlength=int(np.prod(shape))).reshape(shape)
    return ndimage.binary_closing(counts > 0), corner
