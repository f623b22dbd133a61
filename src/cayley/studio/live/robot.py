"""A robot in a scene: its nodes, its configuration, and its panels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing import solids
from cayley.drawing.canvas import GREY
from cayley.drawing.played import MotionLike
from cayley.drawing.skeleton import (
    DrawnRod,
    Skeleton,
    floats,
    largest_mark,
    resting,
    skeleton,
    slides_and_rods,
    stands_on_legs,
)
from cayley.drawing.stick_figures import COLORS, PLATE, SLIDE, joint_solid
from cayley.drawing.views import view_of
from cayley.errors import GeometryError, UnsupportedError
from cayley.extras import optional_imports
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_from_matrix
from cayley.kinematics.frame_kernels import body_pose_kernel
from cayley.model.configurations import check_configuration, with_mimic_joints
from cayley.model.tree import Tree
from cayley.shapes import Shapes, Surface, shapes_of
from cayley.shapes.kinds import CylinderShape
from cayley.shapes.seen import seen_shapes
from cayley.studio.scene import main_frame
from cayley.studio.sliders import keeps_closed, moved_alone

with optional_imports():
    from matplotlib.colors import to_rgb

if TYPE_CHECKING:
    from viser import MeshHandle

    from cayley.mechanism import Mechanism
    from cayley.studio.live.panels.panel import Panel
    from cayley.studio.live.view import View

P = TypeVar("P", bound="Panel")

_STEP = 0.05  # rad, or parts of the robot's size, of a closed machine on its way
_SAME = 1e-7
_CHANCES = 100
_LONGEST = 40  # letters of a name


def node_name(number: int, name: str) -> str:
    """A number and a name as one step of a path: slashes, which would make steps of their own, and what cannot be
    printed are replaced.

    >>> node_name(3, "left/arm")
    '3 left∕arm'
    """
    plain = "".join(letter if letter.isprintable() else " " for letter in name.replace("/", "∕"))
    return f"{number} {plain[:_LONGEST]}".strip()


class Robot:
    """A mechanism in a view: `q` is where it is, and setting it moves it there."""

    def __init__(self, view: View, arm: Mechanism, number: int, placement: Array) -> None:
        self.view = view
        self.arm = arm
        self.number = number
        self.placement = placement
        self.rest = resting(arm.tree)
        self.figure: Skeleton = skeleton(arm.tree, self.rest)
        self.frame = main_frame(arm.tree)
        self.target: Array | None = None  # to where a law leads it, while it is simulated
        self.panels: list[Panel] = []
        self._poses = body_pose_kernel(arm.tree)
        self._q = self.rest.copy()
        self._seen = np.full((len(arm.bodies), 7), np.nan)
        self._base = f"/{node_name(number, arm.name)}"
        self.size = max(self.figure.size, float(np.ptp(self.room(), axis=0).max()))  # with all that it reaches [m]
        self._looks: dict[str, list[MeshHandle]] = {}
        self._rods: list[tuple[DrawnRod, MeshHandle]] = []
        self._build()
        self.place(self._q)

    def __repr__(self) -> str:
        return f"<{self.arm.name} in {self.view.url}>"

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self.arm.name

    @property
    def q(self) -> Array:
        """The configuration (nq)."""
        return self._q.copy()

    @q.setter
    def q(self, q: ArrayLike) -> None:
        wanted = self._checked(q)
        with self.view.update():
            self.halt()
            self.place(wanted)

    def show(self, motion: MotionLike, *, speed: float = 1.0, play: bool = True) -> Robot:
        """Play a motion: the run of a simulation, a planned motion, or a pair (times, configurations)."""
        from cayley.studio.live.panels.motions import Motions
        self.panel(Motions).show(motion, speed=speed, play=play)
        return self

    def reach(self, pose: ArrayLike, frame: str | None = None) -> bool:
        """Bring a frame to a pose (4, 4) in the root's frame, or as near as it gets; True if it got there."""
        from cayley.studio.live.panels.end_effector import EndEffector
        return self.panel(EndEffector).reach(np.asarray(pose, dtype=float), frame)

    def pose(self, frame: str | None = None) -> Array:
        """Current pose (4, 4) of a frame, in the root's frame."""
        return self.arm.pose(self._q, frame or self.frame)

    def node(self, *steps: str) -> str:
        """The name of a node on it."""
        return "/".join([self._base, *steps])

    def body_node(self, body: int) -> str:
        """The name of the node that moves with a body."""
        return self.node(node_name(body, self.arm.bodies[body].name))

    def panel(self, kind: type[P]) -> P:
        """Panel of a kind."""
        found = next((panel for panel in self.panels if isinstance(panel, kind)), None)
        if found is None:
            raise UnsupportedError(f"{self.name}: {kind.refusal(self) or 'the view was closed'}")
        return found

    def go(self, q: Array) -> None:
        """Move as a hand wants it: at once, or by the law that holds it while it is simulated."""
        for panel in self.panels:
            if panel.takes(q):
                return
        self.place(q)

    def lead(self, values: dict[int, float]) -> None:
        """Move coordinates, by their places in q; constraints are kept on the way, as far as the machine goes."""
        wanted = (self._q if self.target is None else self.target).copy()
        for place, value in values.items():
            wanted[place] = value
        self.go(self.kept_closed(wanted))

    def kept_closed(self, wanted: Array) -> Array:
        """Closed configuration nearest to the values of the sliders, on the current branch."""
        tree = self.arm.tree
        if not keeps_closed(tree):
            return with_mimic_joints(tree, wanted)
        names = {k: tree.joints[k].name for k in moved_alone(tree, self.rest)}
        here = {k: float(self._q[tree.q_slices[k].start]) for k in names}
        there = {k: float(wanted[tree.q_slices[k].start]) for k in names}
        most = max((abs(there[k] - here[k]) / (1.0 if tree.joints[k].motion.coordinate_units[0] == "rad"
                                               else self.figure.size) for k in names), default=0.0)
        shares = np.linspace(0.0, 1.0, int(np.ceil(most / _STEP)) + 1)[1:]
        if not len(shares):
            return self._q
        path = self.arm.loops.follow_inputs({names[k]: here[k] + shares * (there[k] - here[k]) for k in names},
                                      start=self._q)
        return np.asarray(path.end, dtype=float)

    def halt(self) -> None:
        """Stop whatever moves it."""
        for panel in [] if self.view.closed else self.panels:
            panel.halt()

    def place(self, q: Array, seen: Array | None = None) -> None:
        """Put all its bodies where a configuration has them: only those that moved are sent. `seen` are the quaternions
        and origins (b, 7), if they are known."""
        with self.view.update():
            self._q = np.array(q, dtype=float)
            if self.view.closed:
                return
            now = self.seen(q) if seen is None else seen
            for body in np.flatnonzero(~(np.abs(now - self._seen) < _SAME).all(axis=1)):
                node = self._bodies[body]
                node.wxyz = now[body, :4]
                node.position = now[body, 4:]
            self._seen = now
            self._stretch_rods(now)
            for panel in self.panels:
                panel.moved()

    def seen(self, q: Array) -> Array:
        """Quaternions and origins (..., b, 7) of all bodies at configurations (..., nq), all at once."""
        poses = self._poses(q)
        return np.concatenate([quaternion_from_matrix.unchecked(poses[..., :3, :3]), poses[..., :3, 3]], axis=-1)

    def look(self, how: str) -> Figure:
        """Show the "visual" shapes, the "collision" shapes or "sticks"; the figure returned lists what is missing."""
        figure = shaped(self.arm.tree, how) if how != "sticks" else Figure([])
        chosen = how if figure.parts else "sticks"
        with self.view.update():
            if chosen not in self._looks:
                self._looks[chosen] = self._drawn(chosen, figure)
            for word, nodes in self._looks.items():
                for node in nodes:
                    node.visible = word == chosen
            for _, rod in self._rods:
                rod.visible = chosen == "sticks"
        return figure

    def outline(self) -> Array:
        """Points (k, 3) around it at rest, in the scene."""
        poses = self._poses(self.rest)
        return self._in_scene(np.concatenate([self.figure.points,
                                              corners(shaped(self.arm.tree, "visual").parts, poses)]))

    def room(self) -> Array:
        """Points (k, 3) that its bodies get to, in the scene: most of them, by chance configurations."""
        tree = self.arm.tree
        if keeps_closed(tree) or floats(tree) or not tree.nv:
            return self.outline()
        chance = self._poses(self.arm.random_configuration(_CHANCES, seed=0))[..., :3, 3].reshape(-1, 3)
        usual = np.quantile(chance, (0.05, 0.95), axis=0)
        return np.concatenate([self.outline(), self._in_scene(usual)])

    def _build(self) -> None:
        scene = self.view.server.scene
        with self.view.update():
            scene.add_frame(self._base, show_axes=False, position=self.placement[:3, 3],
                            wxyz=quaternion_from_matrix.unchecked(self.placement[:3, :3]))
            self._bodies = [scene.add_frame(self.body_node(body), show_axes=False)
                            for body in range(len(self.arm.bodies))]
            surface = CylinderShape(rod_radius(self.figure), 1.0).surface()
            for k, rod in enumerate(slides_and_rods(self.arm.tree)):
                self._rods.append((rod, scene.add_mesh_simple(
                    self.node(f"rod {k}"), surface.points, surface.triangles, color=ROD_COLOR, flat_shading=True)))
        self.look("visual")

    def _in_scene(self, points: Array) -> Array:
        return points @ self.placement[:3, :3].T + self.placement[:3, 3]

    def _drawn(self, how: str, figure: Figure) -> list[MeshHandle]:
        parts = figure.parts if how != "sticks" else sticks(self.figure)
        if figure.bare and how != "sticks":
            parts = [*parts, *sticks(self.figure, figure.bare)]
        scene = self.view.server.scene
        return [scene.add_mesh_simple(
            f"{self.body_node(part.body)}/{how} {k}", part.surface.points, part.surface.triangles, color=part.color,
            flat_shading=True, side="front" if part.surface.closed else "double") for k, part in enumerate(parts)]

    def _stretch_rods(self, seen: Array) -> None:
        for rod, node in self._rods:
            a, b = (seen[body, 4:] + matrix_from_quaternion.unchecked(seen[body, :4]) @ end
                    for body, end in zip(rod.bodies, rod.ends, strict=True))
            node.position = 0.5 * (a + b)
            node.wxyz = _upright(b - a)
            node.scale = (1.0, 1.0, max(float(np.linalg.norm(b - a)), 1e-6))

    def _checked(self, q: ArrayLike) -> Array:
        given = np.asarray(q, dtype=float)
        if given.shape != (self.arm.nq,):
            raise GeometryError(f"a configuration of {self.name} must have the shape ({self.arm.nq},), not "
                                f"{given.shape}")
        check_configuration(self.arm.tree, given, limits=False)
        return given


def _upright(direction: Array) -> Array:
    """The quaternion that turns z into a direction, by the shortest way."""
    length = float(np.linalg.norm(direction))
    if length < 1e-12:
        return np.array([1.0, 0.0, 0.0, 0.0])
    x, y, z = direction / length
    if z < -1 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    found = np.array([1 + z, -y, x, 0.0])
    return found / np.linalg.norm(found)


MOST_TRIANGLES = 60_000  # of all shapes: more is not seen, and a processor without a graphics card is slow to draw it

Color = tuple[int, int, int]


class ColouredMesh(NamedTuple):
    """Triangles of one colour on a body."""

    body: int
    surface: Surface
    color: Color


class Figure(NamedTuple):
    """Parts of a figure, the bodies that lack their shapes, and what is missing, in words."""

    parts: list[ColouredMesh]
    missing: tuple[str, ...] = ()
    bare: frozenset[str] = frozenset()


def shaped(tree: Tree, role: str) -> Figure:
    """The shapes that are seen ("visual"), or those that collide; without parts where there are none."""
    chosen: Shapes = seen_shapes(tree) if role == "visual" else shapes_of(tree).of("collision")
    surfaces = chosen.surfaces(MOST_TRIANGLES)
    parts: dict[tuple[int, Color], list[Surface]] = {}
    for shape, surface in surfaces.parts:
        key = tree.body_number(shape.body), _color(GREY if shape.color is None else shape.color)
        parts.setdefault(key, []).append(surface)
    return Figure([ColouredMesh(body, _joined(group), color) for (body, color), group in parts.items()],
                  surfaces.missing,
                  surfaces.bare)


def sticks(figure: Skeleton, only: Iterable[str] | None = None) -> list[ColouredMesh]:
    """The stick figure, or of some bodies only their sticks."""
    tree = figure.tree
    size = largest_mark(tree) * figure.size
    rod = 0.3 * size
    kept = None if only is None else set(only)
    found = [(tree.body_number(line.body), GREY, solids.tube(line.points, rod if line.carries else 0.45 * rod, np.inf))
             for line in figure.lines if kept is None or line.body in kept]
    if kept is None:
        found += _foot(figure, size)
        found += [(body, PLATE, solids.plate(corners, np.inf)) for body, corners in figure.plates.items()]
        found += [(mark.bodies[0 if axis.on_parent else 1], COLORS[mark.mark.color],
                   joint_solid(mark._replace(axes=mark.axes[k:k + 1])))
                  for mark in figure.marks for k, axis in enumerate(mark.mark.axes)]
    groups: dict[tuple[int, Color], solids.Polygons] = {}
    for body, color, polygons in found:
        groups.setdefault((body, _color(color)), []).extend(polygons)
    return [ColouredMesh(body, _triangles(polygons, figure.poses[body]), color) for (body, color),
            polygons in groups.items()
            if polygons]


def rod_radius(figure: Skeleton) -> float:
    """Radius [m] of slides and rods."""
    return 0.225 * largest_mark(figure.tree) * figure.size


ROD_COLOR: Color = tuple(round(255 * x) for x in to_rgb(SLIDE))  # type: ignore[assignment]


def corners(parts: Sequence[ColouredMesh], poses: Array) -> Array:
    """The corners (k, 3) of the boxes around parts, whose bodies have poses (b, 4, 4)."""
    boxes = [np.array([[x, y, z] for x in low_high[:, 0] for y in low_high[:, 1] for z in low_high[:, 2]])
             @ poses[body, :3, :3].T + poses[body, :3, 3]
             for body, low_high in ((part.body, np.stack([part.surface.points.min(0), part.surface.points.max(0)]))
                                    for part in parts if len(part.surface.points))]
    return np.concatenate(boxes) if boxes else np.zeros((0, 3))


def _foot(figure: Skeleton, size: float) -> list[tuple[int, str, solids.Polygons]]:
    """A plate below the root of what stands on it."""
    if stands_on_legs(figure.tree) or figure.plates or view_of(figure.tree).flat:
        return []
    up = np.array([0.0, 0.0, 1.0])
    return [(0, PLATE, solids.cylinder(0.15 * size * up, up, 1.6 * size, 0.15 * size))]


def _color(color: str | tuple[float, float, float]) -> Color:
    r, g, b = (round(255 * x) for x in to_rgb(color))
    return r, g, b


def _triangles(polygons: solids.Polygons, pose: Pose) -> Surface:
    """Quadrangles of the root's frame as triangles of a body's."""
    points = (np.concatenate(polygons) - pose.p) @ pose.R
    first = 4 * np.arange(len(polygons))[:, None]
    return Surface(points, np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])]))


def _joined(surfaces: Sequence[Surface]) -> Surface:
    starts = np.cumsum([0, *[len(surface.points) for surface in surfaces]])
    return Surface(np.concatenate([surface.points for surface in surfaces]),
                   np.concatenate([surface.triangles + start
                                   for surface, start in zip(surfaces, starts[:-1], strict=True)]),
                   all(surface.closed for surface in surfaces))
