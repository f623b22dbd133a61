"""Independent-joint control: each joint by its own error alone, PD or PID.

    u = kp e + kd (target' - qd) + ki z        e = target - q        dz/dt = e
u are forces or, with motors, voltages. Behind high gears the motor's inertia is more than the arm's and each joint is
a system of second, or with ki of third order: `joint_error_model` has its poles, limits and offsets.
Source: Yamamoto (6.18), (6.28), with the signs of spec E3-27 and E3-29; S3-41, S3-43.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, finite_or, gains_of, integral_action, tree_for
from cayley.errors import SignatureError, UnsupportedError
from cayley.systems import Port, Record, State, System

_WHAT = "independent-joint control"


def joint_control(count: int, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                  wind_up: ArrayLike | None = None, output: str = "tau", name: str = "joint control") -> System:
    """The law of `count` joints: inputs `q`, `qd`, `target`, and `target_qd`, zero if nothing drives it; the output
    goes by the name `output`, "voltage" for motors. With `ki` it has a memory, the state `integral`, of which no more
    than `wind_up` acts.

    A joint whose measurement or target is not finite gets zero; the others do not feel it. Coordinates just subtract.

    >>> joint_control(2, kp=[20.0, 15.0], kd=1.0, ki=5.0, output="voltage")
    <system joint control: state integral; inputs q, qd, target, target_qd; outputs voltage;
     parameters kp, kd, ki, wind_up>
    """
    signed = output == "voltage"  # behind a negative gear the gains in volts are negative
    memory = integral_action(ki, wind_up, count, lambda u, p: u.target - u.q, signed=signed)
    parameters = {"kp": gains_of(kp, count, "kp", signed=signed), "kd": gains_of(kd, count, "kd", signed=signed),
                  **memory.gains}

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        return finite_or(memory.added(p.kp * (u.target - u.q) + p.kd * (u.target_qd - u.qd), x, p), 0.0)

    return System(
        name, output=law, state=memory.state, parameters=parameters, outputs={output: count}, acts=True,
        inputs={"q": count, "qd": count, "target": count, "target_qd": Port((count,), default=0.0)},
        derivative=memory.derivative)


def joint_pd(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, *, output: str = "tau") -> System:
    """Each joint by its own error and its rate.

    See `joint_control`. Of a mechanism with constraints the gains of joints without drives are zero.
    """
    count, own = _of_drives(arm, output, kp=kp, kd=kd)
    return joint_control(count, own["kp"], own["kd"], output=output, name="pd")


def joint_pid(arm: ArmLike, kp: ArrayLike, ki: ArrayLike, kd: ArrayLike, *, wind_up: ArrayLike | None = None,
              output: str = "tau") -> System:
    """Each joint by its own error, its rate and its integral.

    See `joint_control`. Of a mechanism with constraints the gains of joints without drives are zero.
    """
    count, own = _of_drives(arm, output, kp=kp, kd=kd, ki=ki)
    return joint_control(count, own["kp"], own["kd"], own["ki"], wind_up=wind_up, output=output, name="pid")


def _of_drives(arm: ArmLike, output: str, **gains: ArrayLike) -> tuple[int, dict[str, Array]]:
    """The number of joints, and gains that are zero where a mechanism with constraints has no drive."""
    tree = tree_for(arm, _WHAT, rigid=False, single=True)
    if tree.nq != tree.nv:
        raise UnsupportedError(f"{_WHAT} subtracts coordinates, and {tree.name} has {tree.nq} for {tree.nv} velocities")
    is_driven = np.isin(np.arange(tree.nv), tree.actuated_velocities) | (not tree.is_constrained)
    return tree.nv, {name: np.where(is_driven, gains_of(value, tree.nv, name, signed=output == "voltage"), 0.0)
                     for name, value in gains.items()}


def pid(kp: ArrayLike, ki: ArrayLike = 0.0, kd: ArrayLike = 0.0, *, bandwidth: ArrayLike = 1000.0,
        name: str = "pid") -> System:
    """PID control with a filtered derivative: inputs `q` and `target`, output `tau`, states `integral` and `filtered`,
    each (n).

        e = target - q        dz/dt = e        df/dt = w (e - f)        tau = kp e + ki z + kd w (e - f)
    with the gains (n), or a number for all, and the bandwidth w [rad/s] of the filter of the derivative; all are
    parameters of the system, so that a batch can have a gain for each trajectory. Coordinates just subtract: it is for
    joints without quaternions.

    >>> pid([100.0, 50.0], 10.0)
    <system pid: state integral, filtered; inputs q, target; outputs tau; parameters kp, ki, kd, bandwidth>
    """
    gains = np.broadcast_arrays(*[np.atleast_1d(np.asarray(value, dtype=float)) for value in (kp, ki, kd, bandwidth)])
    if gains[0].ndim != 1 or not np.isfinite(gains).all() or not (gains[3] > 0).all():
        listed = ", ".join(str(gain.tolist()) for gain in gains)
        raise SignatureError("the gains of a PID controller are finite numbers, (n) or one for all, and the bandwidth "
                             f"of its filter is positive; given were kp, ki, kd, bandwidth = {listed}")
    n = len(gains[0])
    return System(
        name, state={"integral": n, "filtered": n}, inputs={"q": n, "target": n}, outputs={"tau": n},
        parameters=dict(zip(("kp", "ki", "kd", "bandwidth"), map(np.array, gains), strict=True)),
        derivative=lambda t, x, u, p: {"integral": u.target - u.q,
                                       "filtered": p.bandwidth * (u.target - u.q - x.filtered)},
        output=lambda t, x, u, p: p.kp * (u.target - u.q) + p.ki * x.integral + p.kd * p.bandwidth * (
            u.target - u.q - x.filtered))
