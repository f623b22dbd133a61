"""Force control: a frame presses with the force that is wanted, exactly, against walls of any stiffness.

    r'' = kf (f_d - f) + ki z - kd r'        z' = f_d - f        f what the frame exerts, measured
Against a wall f = K r + c r' along a direction this is, with the law's forces of `task_dynamics`, which take what is
measured off, the linear equation
    s^3 + (kd + kf c) s^2 + (kf K + ki c) s + ki K = 0, stable if kd kf > ki, however stiff the wall is: Routh
and the force is f_d at rest, whatever the model does not know; without ki an acceleration d that it does not know of
leaves f - f_d = d / kf. Away from the wall the frame moves with (kf f_d + ki z) / kd: `wind_up` limits ki z [m/s^2].
Source: Khatib 1987, (34)-(45); Siciliano and Villani, Robot Force Control, 1999, 3.2."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, finite_or, gains_of, integral_action, law_ports, tree_for
from cayley.control.task_space.task_dynamics import Selection, TaskDynamics, axes_of
from cayley.systems import Record, State, System


def force_error(felt: TaskDynamics, u: Record, task_axes: Array, places: Sequence[int]) -> Array:
    """f_d - f (k), zero where the one or the other is not finite; a text."""
    six = felt.in_root_axes(u.q, u[felt.wrench])
    exerted = -felt.in_rows(six, task_axes)[list(places)]
    return finite_or(u.target_force - exerted, 0.0)


def force_control(arm: ArmLike, frame: str, along: str | Sequence[str], kf: ArrayLike, kd: ArrayLike,
                  ki: ArrayLike | None = None, *, task_axes: ArrayLike | None = None, wind_up: ArrayLike | None = None,
                  axes: str = "body", near: float = 1e-3, null_damping: float = 10.0,
                  name: str = "force control") -> System:
    """Force control: a frame exerts the wanted force along some axes.

    Inputs: `q`, `qd`, `wrench_<frame>` (6), the measured force and moment ON the frame in its own `axes` or the root's,
    "world", and `target_force` (k), the force to exert `along` the axes "x", "y", "z", "rx", "ry", "rz" of the root, or
    of `task_axes` (3, 3), whose columns they are, and for a redundant arm, `null_tau`. Output: `tau`. Gains are of the
    k axes: kf [1/kg, 1/(kg m^2)], kd [1/s]. A force that is not finite has no error.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> floor = arm.control.wall("tool", [0.0, -0.2, 0.0], [0.0, 1.0, 0.0], 1e4)
    >>> law = force_control(arm, "tool", "y", kf=0.1, kd=60.0, ki=0.5, wind_up=5.0)
    >>> loop = cy.connect(arm.system(wrenches=["tool"]), floor, law)
    >>> run = loop.rollout()({"q": [0.4, -1.2], "qd": [0.0, 0.0]}, step=1e-3, steps=3000,
    ...                      inputs={"target_force": [-25.0]})
    >>> run["depth"][-1].round(6)
    np.float64(0.0025)
    """
    tree = tree_for(arm, "force control")
    tree.frame(frame)
    chosen = Selection(force=along)
    turned = axes_of(task_axes)
    felt = TaskDynamics.of(tree, frame, chosen.rows, near, null_damping, "force control", axes, turned)
    k = len(chosen.rows)
    memory = integral_action(ki, wind_up, k, lambda u, p: force_error(felt, u, p.task_axes, chosen.pressed))

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        error = force_error(felt, u, p.task_axes, chosen.pressed)
        wanted = p.kf * error - p.kd * (felt.jacobian(u.q, p.task_axes) @ u.qd)
        return felt.forces(u, memory.added(wanted, x, p), wrench=felt.measured(u), turned=p.task_axes)

    return System(
        name, output=law, state=memory.state, outputs={"tau": tree.nv}, derivative=memory.derivative,
        inputs={**law_ports(tree, "q qd"), **felt.sensed, **law_ports(tree, "target_force", pressed=k), **felt.besides},
        parameters={"kf": gains_of(kf, k, "kf"), "kd": gains_of(kd, k, "kd"), **memory.gains, "task_axes": turned})
