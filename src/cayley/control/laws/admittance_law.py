"""Admittance control: what is measured of the forces moves the target of an arm that is controlled by position.

    inertia x'' + damping x' + stiffness x = w        target = nominal moved by x,    w the wrench ON the frame
The outer loop of any law with `target`, `target_rate` and `target_acceleration` of a frame: what the inner loop tracks
exactly gives way exactly so, with all the friction that it hides. x is a displacement and a rotation vector in the
root's axes, R_target = exp(x_turn) R_nominal; turns that reach 2 pi have no rotation vector. Against stiff walls the
inner loop must be fast. Source: Siciliano and Villani 1999, 3.1.3 (position-based impedance control)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, matrix_of
from cayley.control.task_space.task_error import FrameTask
from cayley.dynamics.inverse.external_loads import check_axes, wrench_unit
from cayley.geometry.rates.charts import chart
from cayley.geometry.rotations.rotation_vector import matrix_from_rotation_vector
from cayley.kinematics.forward import frame_pose
from cayley.systems import Block, Record, State, System


def admittance_control(arm: ArmLike, frame: str, stiffness: ArrayLike, damping: ArrayLike, inertia: ArrayLike, *,
                       task: str | Sequence[bool] = "pose", axes: str = "body", name: str = "admittance") -> System:
    """Admittance control: measured forces move the target of a position controller.

    Inputs: `q`, `wrench_<frame>` (6), the measured force and moment ON the frame in its own `axes` or the root's,
    "world", `nominal`, a pose (4, 4), or a point (3) if the `task` is of positions only, and `nominal_rate` and
    `nominal_acceleration` (m). State: `offset` (m) and `offset_rate`. Outputs: `target`, `target_rate` and
    `target_acceleration`, as laws of frames take them. `stiffness`, `damping` and `inertia` are of the m rows: one for
    all, each its own (m), or matrices (m, m). A force that is not finite counts as none.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> plane = [True, True, False, False, False, False]
    >>> outer = admittance_control(arm, "tool", stiffness=200.0, damping=40.0, inertia=2.0, task=plane)
    >>> inner = arm.control.resolved_acceleration("tool", 2500.0, 100.0, task=plane)
    >>> cy.connect(arm.system(wrenches=["tool"]), outer, inner)
    <system planar2r + admittance + resolved acceleration: state q, qd, offset, offset_rate; ...>
    """
    asked = FrameTask.of(arm, frame, task, "admittance control", pushes=False)
    tree = asked.tree
    m = asked.size
    check_axes(axes)
    wrench = f"wrench_{frame}"

    def pushed(x: State, u: Record, p: Record) -> Array:
        """x'' (m)."""
        six = finite_or(u[wrench], 0.0)
        if axes == "body":
            R = frame_pose(tree, u.q, frame).R
            six = np.concatenate([R @ six[:3], R @ six[3:]])
        force = finite_or(six, 0.0)[list(asked.rows)]
        return ldl_solve(p.offset_inertia, force - p.offset_damping @ x.offset_rate - p.offset_stiffness @ x.offset)

    def moved(x: State, u: Record, p: Record) -> dict[str, Array]:
        acceleration = pushed(x, u, p)
        rates = [u.nominal_rate + x.offset_rate, u.nominal_acceleration + acceleration]
        place = u.nominal[:3, 3] if asked.turns else u.nominal
        steps = dict(zip(asked.rows, x.offset, strict=True))
        point = place + np.stack([steps.get(k, 0.0) for k in range(3)])
        if not asked.turns:
            return {"target": point, "target_rate": rates[0], "target_acceleration": rates[1]}
        turn = matrix_from_rotation_vector.unchecked(x.offset[-3:])
        w = turn @ u.nominal_rate[-3:]
        dw = turn @ u.nominal_acceleration[-3:]
        own = chart("rotation_vector").velocity.unchecked(x.offset[-3:], x.offset_rate[-3:]).world
        change = chart("rotation_vector").acceleration.unchecked(
            x.offset[-3:], x.offset_rate[-3:], acceleration[-3:]).world
        pose = np.concatenate([np.concatenate([turn @ u.nominal[:3, :3], point[:, None]], axis=1),
                               np.array([[0.0, 0.0, 0.0, 1.0]])])
        return {"target": pose, "target_rate": np.concatenate([rates[0][:-3], own + w]),
                "target_acceleration": np.concatenate([rates[1][:-3], change + dw + np.cross(own, w)])}

    return System(
        name, state={"offset": Block((m,), velocity="offset_rate", default=0.0),
                     "offset_rate": Block((m,), default=0.0)},
        inputs={**asked.ports("q"), wrench: (6, wrench_unit(axes)),
                **asked.ports("nominal nominal_rate nominal_acceleration")},
        outputs={"target": asked.target, "target_rate": m, "target_acceleration": m},
        parameters={"offset_stiffness": matrix_of(stiffness, m, "stiffness"),
                    "offset_damping": matrix_of(damping, m, "damping"),
                    "offset_inertia": matrix_of(inertia, m, "inertia", definite=True)},
        derivative=lambda t, x, u, p: pushed(x, u, p), output=lambda t, x, u, p: moved(x, u, p))
