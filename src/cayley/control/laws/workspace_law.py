"""PD control in the workspace with gravity compensation, by the transposed Jacobian: a spring from the frame to its
target, and damping in the joints.

    tau = J^T (kp e + ki z) - kd qd + g(q)        V = qd^T M qd / 2 + e^T kp e / 2        V' = -qd^T kd qd
No matrix is inverted: the law is defined at singular postures and for targets out of reach. There it may come to rest
with an error, where J^T kp e = 0: an outstretched arm that points at its target, or away from it.
Source: Yamamoto (6.47), with a Jacobian that fits its error as in spec E3-33; S3-46."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, gains_of, integral_action
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.laws.gravity_law import Lyapunov
from cayley.control.task_space.task_error import FrameTask
from cayley.dynamics.rigid_links.drives import viscous_frictions
from cayley.dynamics.state_kernels import gravity_forces_kernel, kinetic_energy_kernel
from cayley.kinematics.frame_kernels import sized
from cayley.systems import Record, State, System

_WHAT = "workspace control"


def workspace_pd(arm: ArmLike, frame: str, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                 task: str | Sequence[bool] = "pose", wind_up: ArrayLike | None = None,
                 name: str = "workspace control") -> System:
    """PD control of a frame by the transposed Jacobian: a spring from the frame to its target.

    Inputs: `q`, `qd` and `target`, a pose (4, 4), or a point (3) if the `task` is of positions only. Output: `tau`.
    `kp` and `ki` are of the m rows of the task [N/m, N m], `kd` (nv) of the joints; the state `integral` (m) is there
    with `ki`. Forces are zero where they depend on what is not finite.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> plane = [True, True, False, False, False, False]
    >>> law = workspace_pd(arm, "tool", kp=200.0, kd=8.0, task=plane)
    >>> run = cy.connect(arm, law).simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, until=20.0,
    ...                                     inputs={"target": [0.5, 0.35, 0.0]})
    >>> arm.pose(run.end["q"], "tool")[:2, 3].round(6)
    array([0.5 , 0.35])
    """
    asked = FrameTask.of(arm, frame, task, _WHAT)
    tree = asked.tree
    n = tree.nv
    m = asked.size
    gravity = gravity_forces_kernel(tree)
    drives = DriveDynamics.of(tree, _WHAT)
    memory = integral_action(ki, wind_up, m, lambda u, p: asked.error(u.q, u.target))

    def law(x: State, u: Record, p: Record) -> Array:
        error = asked.error(u.q, u.target)
        pull = asked.pull(error, memory.added(p.kp * error, x, p))
        here = drives.at(u.q)
        return finite_or(here.spread(asked.jacobian(u.q).T @ pull) - p.kd * u.qd + here.spread(gravity(u.q)), 0.0)

    return System(
        name, state=memory.state, inputs=asked.ports("q qd target"), outputs={"tau": n}, derivative=memory.derivative,
        parameters={"kp": gains_of(kp, m, "kp"), "kd": drives.is_driven * gains_of(kd, n, "kd"), **memory.gains},
        output=lambda t, x, u, p: law(x, u, p))


def workspace_pd_lyapunov(arm: ArmLike, frame: str, kp: ArrayLike, kd: ArrayLike, *,
                          task: str | Sequence[bool] = "pose") -> Kernel[Lyapunov]:
    """`lyapunov(q, qd, target)`: V [J] of the arm under the law without integral action, and its rate [W]."""
    asked = FrameTask.of(arm, frame, task, _WHAT)
    tree = asked.tree
    stiffness = gains_of(kp, asked.size, "kp")
    damping = DriveDynamics.of(tree, _WHAT).is_driven * gains_of(kd, tree.nv, "kd") + viscous_frictions(tree)
    kinetic = kinetic_energy_kernel(tree)

    def lyapunov(q: Array, qd: Array, target: Array) -> Lyapunov:
        error = asked.error(q, target)
        return Lyapunov(kinetic(q, qd) + error @ (stiffness * error) / 2, -qd @ (damping * qd))

    target = ",".join(map(str, asked.target.shape))
    return kernel(sized(tree, f"(q),(v),({target})->(),()"), outputs=Lyapunov._fields)(lyapunov)
