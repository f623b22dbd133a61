"""The gizmo that drags a frame: inverse kinematics from where the robot is, and the choice of its branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.views import view_of
from cayley.errors import CayleyError, UnsupportedError
from cayley.geometry.motions.homogeneous import check_pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_from_matrix
from cayley.studio.live.panels.panel import Panel

if TYPE_CHECKING:
    from viser import TransformControlsEvent

    from cayley.studio.live.robot import Robot

_TOLERANCE = 1e-6  # [m, rad], of a hand
_ITERATIONS = 60
_SIZE = 0.2  # of the robot's
_POSE = 6  # velocities from which on a frame has any pose
_ACROSS = 0.99  # of an axis along which nothing moves
_QUIET = 0.2  # s after which the robot counts as standing
_NO_BRANCH = "as it is"


class EndEffector(Panel):
    """A frame with a gizmo: dragging it moves the robot on the branch where it is; a list has the other branches."""

    folder = "End effector"
    expanded = True

    @classmethod
    def refusal(cls, robot: Robot) -> str:
        if robot.arm.tree.is_timed:
            return "A prescribed motion leads this mechanism: nothing of it can be dragged."
        return "" if robot.arm.nv else "No joint moves."

    def build(self) -> None:
        arm = self.robot.arm
        names = list(dict.fromkeys([self.robot.frame, *[frame.name for frame in arm.frames],
                                    *[joint.child for joint in arm.joints if joint.motion.nv]]))
        self._frame = self.gui.add_dropdown("Frame", names, initial_value=self.robot.frame,
                                            hint="The frame that the gizmo drags")
        self._task = self.gui.add_dropdown("Task", ("pose", "position"), initial_value=self._usual_task(),
                                           hint="Position alone, or position and orientation")
        self._shown = self.gui.add_checkbox("Gizmo", True, hint="Arrows and arcs that drag the frame")
        self._branch = self.gui.add_dropdown("Branch", (_NO_BRANCH,), initial_value=_NO_BRANCH,
                                             hint="Other postures that reach the same pose")
        self._words = self.gui.add_text("Reached", "yes", disabled=True)
        self._gizmo = self.scene.add_transform_controls(
            self.robot.node("gizmo"), scale=_SIZE * self.robot.size, line_width=3.0, depth_test=False)
        self.held = False
        seen = view_of(arm.tree)
        self._plane = seen.normal if seen.flat else None
        self._closed_form_lacks: set[str] = set()
        self._branches: dict[str, Array] = {}
        self._gizmo.on_update(self._dragged)
        self.on(self._frame, self._choose_frame)
        self.on(self._task, self._choose_task)
        self.on(self._shown, lambda: setattr(self._gizmo, "visible", self._shown.value))
        self.on(self._branch, self._choose_branch)
        self._choose_task()

    @property
    def gizmo(self) -> Array:
        """Pose of the gizmo (4, 4), in the root's frame."""
        pose = np.eye(4)
        pose[:3, :3] = matrix_from_quaternion.unchecked(self._gizmo.wxyz)
        pose[:3, 3] = self._gizmo.position
        return pose

    @property
    def words(self) -> str:
        """Message on whether the frame has reached where it was dragged to."""
        return self._words.value

    @property
    def branches(self) -> tuple[str, ...]:
        """The names of the postures that reach the pose where the frame is, where they are known in closed form."""
        return tuple(self._branches)

    def reach(self, pose: Array, frame: str | None = None) -> bool:
        """Bring the frame to a pose, or as near as it gets."""
        check_pose(pose)
        with self.robot.view.update():
            if frame is not None:
                self.put(self._frame, self.robot.arm.tree.frame(frame).name)
                self._choose_frame()
            return self._solve(pose)

    def moved(self) -> None:
        if self.held:
            return
        pose = self.robot.pose()
        self._gizmo.wxyz = quaternion_from_matrix.unchecked(pose[:3, :3])
        self._gizmo.position = pose[:3, 3]
        self._branches = {}  # of another pose
        if self.robot.frame not in self._closed_form_lacks:
            self.robot.view.post((self, "branches"), self._list_branches, _QUIET)

    def _dragged(self, event: TransformControlsEvent) -> None:
        self.held = True
        self.robot.view.post((self, "drag"), self._let_go if event.phase == "end" else self._follow)

    def _follow(self) -> None:
        self._solve(self.gizmo)

    def _let_go(self) -> None:
        self._solve(self.gizmo)
        self.held = False
        self.moved()

    def _solve(self, pose: Array) -> bool:
        if self._plane is not None:  # a planar mechanism is dragged in its plane
            pose = pose.copy()
            pose[:3, 3] -= self._plane * (self._plane @ (pose[:3, 3] - self.robot.pose()[:3, 3]))
        start = self.robot.q if self.robot.target is None else self.robot.target
        found = self.robot.arm.inverse_kinematics(pose, self.robot.frame, start=start, tolerance=_TOLERANCE,
                                                  task=self._task.value, restarts=0, iterations=_ITERATIONS)
        away = _distance(float(found.position_error), float(found.angle_error))
        self.put(self._words, "yes" if found.solved else away)
        if float(np.max(found.opening)) < _TOLERANCE:
            self.robot.go(found.q)
        return bool(found.solved)

    def _usual_task(self) -> str:
        """"pose" if the joints on the path can give the frame any pose, else "position"."""
        tree = self.robot.arm.tree
        path = tree.path(tree.body_number(tree.frame(self.robot.frame).body))
        free = self.robot.arm.loops.mobility if tree.is_constrained else sum(tree.joints[k].motion.nv for k in path)
        return "pose" if free >= _POSE else "position"

    def _choose_frame(self) -> None:
        self.robot.frame = self._frame.value
        self._branch.visible = self.robot.frame not in self._closed_form_lacks
        self.put(self._task, self._usual_task())
        self._choose_task()
        self.robot.place(self.robot.q)

    def _choose_task(self) -> None:
        self._gizmo.disable_rotations = self._task.value == "position"
        if self._plane is not None:
            across = np.abs(self.robot.pose()[:3, :3].T @ self._plane)
            x, y, z = (bool(part < _ACROSS) for part in across)
            self._gizmo.active_axes = (x, y, z)

    def _choose_branch(self) -> None:
        wanted = self._branch.value
        if not self._branches:
            self._list_branches()
        chosen = self._branches.get(wanted)
        if chosen is not None:
            self.robot.go(chosen)

    def _list_branches(self) -> None:
        """The postures that reach the pose where the frame is."""
        try:
            found = self.robot.arm.all_inverse_kinematics(self.robot.pose(), self.robot.frame, reference=self.robot.q)
        except UnsupportedError:
            self._closed_form_lacks.add(self.robot.frame)
            self._branch.visible = False
            return
        except CayleyError:
            return
        self._branch.visible = True
        usable = found.found & found.within_limits
        self._branches = {f"{k + 1}: {name}": q for k, (name, q) in
                          enumerate(zip(found.branches[usable], found.q[usable], strict=True))}
        names = tuple(self._branches) or (_NO_BRANCH,)
        if names != tuple(self._branch.options):
            self._branch.options = names
        if self._branches:
            here = self.robot.q
            nearest = min(self._branches, key=lambda name: float(np.abs(self._branches[name] - here).max()))
            if self._branch.value != nearest:
                self.put(self._branch, nearest)


def _distance(position: float, angle: float) -> str:
    words = [f"{1000 * position:.3g} mm" if position > _TOLERANCE else "",
             f"{np.degrees(angle):.3g}°" if angle > _TOLERANCE else ""]
    return f"no, {' and '.join(filter(None, words)) or 'not yet'} away"
