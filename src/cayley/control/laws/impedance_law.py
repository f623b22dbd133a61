"""Impedance control: pushed away from its target, a frame gives way as a mass, a damper and a spring do.

    with what is measured       inertia x'' + damping x' + stiffness x = w        x = r - r_d, w the wrench ON the frame
    without                     Lambda(q) x'' + damping x' + stiffness x = w      the inertia is the one that it feels
Both are exact for positions and for turns about one axis; of other turns the moment of the spring is the one of its
energy x^T stiffness x / 2, x their rotation vector (`task_error`), and x'' and x' are rates of the angular velocity.
At rest a wrench w moves the frame by stiffness^-1 w, and against a wall of stiffness K it presses with (1/stiffness +
1/K)^-1 times how far the target is behind it. Near singular postures the equation does not hold in the direction that
the frame cannot move in; forces stay bounded, and the arm stretches to targets out of reach.
Source: Hogan 1985; Siciliano and Villani 1999, 2.3, 3.1; Ott 2008."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, matrix_of
from cayley.control.task_space.task_dynamics import TaskDynamics
from cayley.control.task_space.task_error import FrameTask
from cayley.systems import Record, State, System


def impedance_control(arm: ArmLike, frame: str, stiffness: ArrayLike, damping: ArrayLike,
                      inertia: ArrayLike | None = None, *, task: str | Sequence[bool] = "pose", axes: str = "body",
                      near: float = 1e-3, null_damping: float = 10.0, name: str = "impedance control") -> System:
    """Impedance control: a frame responds to forces like a mass, a damper and a spring.

    Inputs: `q`, `qd`, `target`, a pose (4, 4), or a point (3) if the `task` is of positions only, `target_rate` and
    `target_acceleration` (m) of its rows in the root's axes, and, with an `inertia`, `wrench_<frame>` (6), the measured
    force and moment ON the frame in its own `axes` or the root's, "world", and for a redundant arm, `null_tau`. Output:
    `tau`. `stiffness`, `damping` and `inertia` are of the m rows: one for all, each its own (m), or matrices (m, m).
    Without an inertia the frame has its own, and nothing is measured. A force that is not finite counts as none.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> plane = [True, True, False, False, False, False]
    >>> law = impedance_control(arm, "tool", stiffness=200.0, damping=40.0, inertia=2.0, task=plane, axes="world")
    >>> loop = cy.connect(arm.system(wrenches=["tool"], axes="world"), law)
    >>> push = {"target": [0.5, 0.35, 0.0], "wrench_tool": [0.0, -10.0, 0.0, 0.0, 0.0, 0.0]}
    >>> run = loop.simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, until=5.0, inputs=push)
    >>> arm.pose(run.end["q"], "tool")[:2, 3].round(6)
    array([0.5, 0.3])
    """
    asked = FrameTask.of(arm, frame, task, "impedance control")
    tree = asked.tree
    m = asked.size
    felt = TaskDynamics.of(tree, frame, asked.rows, near, null_damping, "impedance control", axes)
    matrices = {"stiffness": matrix_of(stiffness, m, "stiffness"), "damping": matrix_of(damping, m, "damping")}
    if inertia is not None:
        matrices["inertia"] = matrix_of(inertia, m, "inertia", definite=True)

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        error = asked.error(u.q, u.target)
        push = (asked.pull(error, p.stiffness @ error)
                + p.damping @ (u.target_rate - felt.jacobian(u.q) @ u.qd))
        if inertia is None:
            return felt.forces(u, u.target_acceleration, push=push)
        wrench = felt.measured(u)
        wanted = u.target_acceleration + ldl_solve(p.inertia, push + felt.in_rows(wrench))
        return felt.forces(u, wanted, wrench=wrench)

    return System(
        name, output=law, outputs={"tau": tree.nv}, parameters=matrices,
        inputs={**asked.ports("q qd target target_rate target_acceleration"),
                **({} if inertia is None else felt.sensed), **felt.besides})
