"""Hybrid control of force and position: along some axes of a task's frame the arm presses, along the others it moves.

    moved      r'' = r_d'' + kd (r_d' - r') + kp e               then  e'' + kd e' + kp e = 0
    pressed    r'' = kf (f_d - f) + ki z - kd r'                  f = f_d at rest, as in `force_law`
Which is which is a `Selection`: artificial constraints, complementary to the natural ones of the contact. The rows do
not disturb each other, as the inertia that the frame feels is in between (`task_dynamics`).
Source: Mason 1981; Raibert and Craig 1981; Khatib 1987, (26)-(45), with the selection in the axes of the task."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, gains_of, integral_action
from cayley.control.laws.force_law import force_error
from cayley.control.task_space.task_dynamics import AXES, Selection, TaskDynamics, axes_of
from cayley.control.task_space.task_error import FrameTask
from cayley.errors import SignatureError, shown
from cayley.systems import Record, State, System


def hybrid_control(arm: ArmLike, frame: str, selection: Selection, kp: ArrayLike, kd: ArrayLike, kf: ArrayLike,
                   ki: ArrayLike | None = None, *, task_axes: ArrayLike | None = None,
                   wind_up: ArrayLike | None = None, axes: str = "body", near: float = 1e-3,
                   null_damping: float = 10.0, name: str = "hybrid control") -> System:
    """Hybrid control: a frame exerts forces along some axes and moves along the others.

    Inputs: `q`, `qd`, `wrench_<frame>` (6), the measured force and moment ON the frame in its own `axes` or the root's,
    "world", `target_force` (k), the force to exert along the axes of force, and `target`, a point (3), or a pose (4, 4)
    where turns are positions, with `target_rate` and `target_acceleration` (3 or 6), all of these in the root's axes,
    of which the axes of position count, and for a redundant arm, `null_tau`. Output: `tau`. Axes are those of the root,
    or of `task_axes` (3, 3), whose columns they are. `kp` is of the axes of position, `kf` and `ki` of those of force,
    `kd` of all. A force that is not finite has no error.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> floor = arm.control.wall("tool", [0.0, -0.2, 0.0], [0.0, 1.0, 0.0], 1e4)
    >>> contact = Selection.in_contact(velocity=["y"], force=["x"])
    >>> law = hybrid_control(arm, "tool", contact, kp=900.0, kd=60.0, kf=0.1, ki=0.5, wind_up=5.0)
    >>> loop = cy.connect(arm.system(wrenches=["tool"]), floor, law)
    >>> run = loop.rollout()({"q": [0.4, -1.2], "qd": [0.0, 0.0]}, step=1e-3, steps=3000,
    ...                      inputs={"target": [0.55, 0.0, 0.0], "target_force": [-25.0]})
    >>> arm.pose(run.end["q"], "tool")[:2, 3].round(6)
    array([ 0.55  , -0.2025])
    """
    if not isinstance(selection, Selection):
        raise SignatureError(f"hybrid control takes a `Selection` of axes, not {shown(selection)}")
    if not selection.position or not selection.force:
        raise SignatureError("hybrid control has axes of position and of force: of one kind alone there are "
                             "`operational_space` and `force_control`")
    turns = any(AXES.index(axis) >= 3 for axis in selection.position)
    asked = FrameTask.of(arm, frame, "pose" if turns else "position", "hybrid control")
    tree = asked.tree
    turned = axes_of(task_axes)
    felt = TaskDynamics.of(tree, frame, selection.rows, near, null_damping, "hybrid control", axes, turned)
    moved = list(selection.moved)
    pressed = list(selection.pressed)
    m = len(selection.rows)
    memory = integral_action(ki, wind_up, len(pressed), lambda u, p: force_error(felt, u, p.task_axes, pressed))

    def in_moved(rows: Array, task_axes: Array) -> Array:
        six = rows if turns else np.concatenate([rows, np.zeros(3)])
        return felt.in_rows(six, task_axes)[moved]

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        braked = -p.kd * (felt.jacobian(u.q, p.task_axes) @ u.qd)
        error = p.kf * force_error(felt, u, p.task_axes, pressed)
        moving = (in_moved(u.target_acceleration, p.task_axes) + p.kd[moved] * in_moved(u.target_rate, p.task_axes)
                  + p.kp * in_moved(asked.error(u.q, u.target), p.task_axes) + braked[moved])
        pressing = braked[pressed] + memory.added(error, x, p)
        wanted = dict(zip([*moved, *pressed], [*moving, *pressing], strict=True))
        return felt.forces(u, np.stack([wanted[k] for k in range(m)]), wrench=felt.measured(u), turned=p.task_axes)

    return System(
        name, output=law, state=memory.state, outputs={"tau": tree.nv}, derivative=memory.derivative,
        inputs={**asked.ports("q qd"), **felt.sensed,
                **asked.ports("target target_rate target_acceleration target_force", rows=6 if turns else 3,
                              pressed=len(pressed)), **felt.besides},
        parameters={"kp": gains_of(kp, len(moved), "kp"), "kd": gains_of(kd, m, "kd"),
                    "kf": gains_of(kf, len(pressed), "kf"), **memory.gains, "task_axes": turned})
