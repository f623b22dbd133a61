"""The operational-space law: an arm driven by a force at its frame, with the inertia that the frame feels.

    tau = J^T (Lambda a + mu + p) + N^T (h + tau0)        a = r'' + kd (r' - J qd) + kp e + ki z
Then e'' + kd e' + kp e + ki z = 0, exactly for positions and for turns about one axis, for other turns to first order
in the error, whatever tau0 does (`task_dynamics`). A redundant arm has the input `null_tau`, any law of the joints;
what it does besides dies out with `null_damping`. Near singular postures and for targets out of reach the frame is
taken to be lighter than it is: forces stay bounded, and the arm stretches.
Source: Khatib, A unified approach for motion and force control, 1987, (12)-(17), (51)."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, gains_of, integral_action
from cayley.control.task_space.task_dynamics import TaskDynamics
from cayley.control.task_space.task_error import FrameTask
from cayley.systems import Record, State, System


def operational_space(arm: ArmLike, frame: str, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                      task: str | Sequence[bool] = "pose", wind_up: ArrayLike | None = None, near: float = 1e-3,
                      null_damping: float = 10.0, name: str = "operational space") -> System:
    """Operational-space control: a force at the frame, scaled by the inertia that is felt there.

    Inputs: `q`, `qd`, `target`, a pose (4, 4), or a point (3) if the `task` is of positions only, and `target_rate` and
    `target_acceleration` (m) of its rows in the root's axes, zero if nothing drives them, and for a redundant arm,
    `null_tau` (nv), forces that do not affect the task. Output: `tau`. The gains are of the m rows. Forces are zero
    where they depend on what is not finite.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> plane = [True, True, False, False, False, False]
    >>> loop = cy.connect(arm, operational_space(arm, "tool", kp=100.0, kd=20.0, task=plane))
    >>> run = loop.simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, until=3.0, inputs={"target": [0.5, 0.35, 0.0]})
    >>> arm.pose(run.end["q"], "tool")[:2, 3].round(6)
    array([0.5 , 0.35])
    """
    asked = FrameTask.of(arm, frame, task, "the operational-space law")
    felt = TaskDynamics.of(asked.tree, frame, asked.rows, near, null_damping,
                           "the operational-space law")
    m = asked.size
    memory = integral_action(ki, wind_up, m, lambda u, p: asked.error(u.q, u.target))

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        rate = u.target_rate - asked.jacobian(u.q) @ u.qd
        wanted = u.target_acceleration + p.kd * rate + p.kp * asked.error(u.q, u.target)
        return felt.forces(u, memory.added(wanted, x, p))

    return System(
        name, output=law, state=memory.state, outputs={"tau": asked.tree.nv}, derivative=memory.derivative,
        inputs={**asked.ports("q qd target target_rate target_acceleration"), **felt.besides},
        parameters={"kp": gains_of(kp, m, "kp"), "kd": gains_of(kd, m, "kd"), **memory.gains})
