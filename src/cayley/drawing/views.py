"""Choice of the view of a mechanism: in space, or along the normal of the planes in which all of it moves.

A mechanism is planar if every axis of a turn is parallel to one direction, and every slide is across it. The picture of
a plane has z up if the plane contains it nearly, otherwise y. For a planar mechanism the task "position" has two rows,
to the right and up, "orientation" has one, about the normal, and "pose" has all three."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError
from cayley.kinematics.forward import body_poses
from cayley.kinematics.singular.indices import ROW_UNITS, column_units, made_uniform, uniform_jacobian
from cayley.model.constraints import constraints_on, is_tied
from cayley.model.joint_kinds import Screw
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.drawing.canvas import Canvas

_PARALLEL = 1e-5  # files give right angles as 1.5708


@dataclass(frozen=True, eq=False)
class ViewAxes:
    """Directions of the picture as rows: (3, 3) in space, (2, 3) in a plane, to the right and up."""

    rows: Array

    @property
    def flat(self) -> bool:
        return len(self.rows) == 2

    @property
    def normal(self) -> Array:
        """Towards the eye, of a view of a plane."""
        return np.cross(*self.rows[:2])

    def __call__(self, points: ArrayLike) -> Array:
        """Coordinates (..., 2 or 3) in the picture of points (..., 3)."""
        return np.asarray(points, dtype=float) @ self.rows.T

    @property
    def names(self) -> list[str]:
        """The labels of the axes of the picture."""
        return [
            next((f"{letter} [m]" for letter, unit in zip("xyz", np.eye(3), strict=True) if row @ unit > 1 - _PARALLEL),
                 f"along ({', '.join(f'{x:.3g}' for x in row)}) [m]") for row in self.rows]


SPACE = ViewAxes(np.eye(3))


def view_of(tree: Tree) -> ViewAxes:
    """The view of a plane for a planar mechanism, otherwise that of space."""
    normal = plane_normal(tree)
    return SPACE if normal is None else plane_view(normal)


def view_for(tree: Tree, ax: Canvas) -> ViewAxes:
    """The view that fits the Matplotlib axes `ax`, or the mechanism if there are none yet."""
    if ax is None:
        return view_of(tree)
    if ax.name == "3d":
        return SPACE
    view = view_of(tree)
    if not view.flat:
        raise ConventionError(
            f'{tree.name} is not planar and needs axes in space: plt.figure().add_subplot(projection="3d")')
    return view


def plane_view(normal: Array) -> ViewAxes:
    """The picture of the planes across a unit vector."""
    above = np.array([0.0, 0.0, 1.0]) if abs(normal[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    up = above - (above @ normal) * normal
    up = up / np.linalg.norm(up)
    right = np.cross(up, normal)
    right = right * np.sign(right[np.argmax(np.abs(right))])
    return ViewAxes(np.stack([right, up]) + 0.0)


def plane_normal(tree: Tree) -> Array | None:
    """The unit normal of the planes in which all bodies move, or None."""
    turns: list[np.ndarray] = []
    slides: list[np.ndarray] = []
    for screw, axis in _axes(tree):
        if screw is None or (screw.turn and screw.slide):
            return None
        (turns if screw.turn else slides).append(axis)
    candidates = turns or [np.cross(a, b) for a, b in combinations(slides, 2)]
    longest = max(candidates, key=np.linalg.norm, default=np.zeros(3))
    if np.linalg.norm(longest) < 0.01:
        return None
    normal = longest / np.linalg.norm(longest)
    across = all(np.linalg.norm(np.cross(normal, axis)) < _PARALLEL for axis in turns)
    inside = all(abs(normal @ axis) < _PARALLEL for axis in slides)
    return normal if across and inside else None


def _axes(tree: Tree) -> Iterator[tuple[Screw | None, Array]]:
    """The elementary motions of a mechanism that stands at its zeros, with the directions of their axes."""
    poses = body_poses(tree, tree.neutral)
    for joint, pose in zip(tree.joints, poses[1:], strict=True):
        if joint.motion.nv:
            for motion in joint.motion.elementary:
                yield motion.screw, pose.R @ (np.zeros(3) if motion.screw is None else np.asarray(motion.screw.axis))


_PARTS = {"position": ("linear",), "orientation": ("angular",), "pose": ("linear", "angular")}


def task_rows(tree: Tree, task: str) -> tuple[Array, list[str]]:
    """The rows (m, 6) that pick a task out of a twist (v; w), and the unit of each, "m" or "rad"."""
    if task not in _PARTS:
        raise ConventionError(f'the task must be "position", "orientation" or "pose", not {task!r}')
    view = view_of(tree)
    blocks = {"linear": view.rows, "angular": view.normal[None] if view.flat else view.rows}
    rows = [
        np.concatenate([row, np.zeros(3)] if part == "linear" else [np.zeros(3), row]) for part in _PARTS[task]
        for row in blocks[part]]
    units = [ROW_UNITS[0] if part == "linear" else ROW_UNITS[3] for part in _PARTS[task] for _ in blocks[part]]
    return np.stack(rows), units


def task_jacobian(tree: Tree, q: Array, frame: str, task: str, characteristic_length: float | None) -> Array:
    """The Jacobian (m, n) of a task in the root's axes, by the velocities of `drive_units`."""
    rows, units = task_rows(tree, task)
    columns = drive_units(tree, frame)
    whole = uniform_jacobian(tree, q, frame, task="pose", axes="world", characteristic_length=1.0)
    return made_uniform((rows @ whole)[:, whole.shape[1] - len(columns):], rows=units, columns=columns,
                        characteristic_length=characteristic_length)


def drive_units(tree: Tree, frame: str) -> list[str]:
    """The units, "m" or "rad", of the velocities that a picture's Jacobian is by: of the joints on the way to the
    frame; of the actuated joints, if constraints tie these together. A free base without wheels is held.

    >>> from cayley.model.catalogue import load_robot
    >>> drive_units(load_robot("four_bar"), "rocker")
    ['rad']
    """
    units = column_units(tree, frame)
    base = free_base(tree, frame)
    return units if base is None or is_tied(tree, frame) else units[tree.joints[base].motion.nv:]


def free_base(tree: Tree, frame: str) -> int | None:
    """The number of the joint that lets the whole mechanism move about, as on wheels or afloat: the first on the way to
    a frame, if it has several velocities, no drive, and no constraint that holds positions."""
    way = tree.path(tree.body_number(tree.frame(frame).body))
    if not way or tree.joints[way[0]].motion.nv < 2 or tree.joints[way[0]].name in tree.actuated_joints:
        return None
    return None if any(each.positions for each in constraints_on(tree, way[:1])) else way[0]


def task_jacobian_kernel(tree: Tree, frame: str, task: str, characteristic_length: float | None) -> Kernel:
    """The Jacobian of a task, compiled, for many configurations at once."""
    rows, units = task_rows(tree, task)
    columns = drive_units(tree, frame)
    made_uniform(np.zeros((len(rows), len(columns))), rows=units, columns=columns,
                 characteristic_length=characteristic_length)
    return kernel(f"({tree.nq})->({len(rows)},{len(columns)})", name="task_jacobian")(
        lambda q: task_jacobian(tree, q, frame, task, characteristic_length))
