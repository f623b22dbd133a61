"""Independent-joint control: each joint by its own error alone, PD or PID.

    u = kp e + kd (target' - qd) + ki z        e = target - q        dz/dt = e
u are forces or, with motors, voltages. Behind high gears the motor's inertia is more than the arm's and each joint is
a system of second, or with ki of third order: `joint_error_model` has its poles, limits and offsets.
Source: Yamamoto (6.18), (6.28), with the signs of spec E3-27 and E3-29; S3-41, S3-43."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, finite_or, gains_of, integral_action, law_ports, tree_for
from cayley.errors import SignatureError
from cayley.model.configuration_space import configuration_difference
from cayley.systems import Port, Record, State, System


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
    return _law({"q": count, "qd": count, "target": count, "target_qd": Port((count,), default=0.0)},
                lambda q, target: target - q, np.ones(count), kp, kd, ki, wind_up=wind_up, output=output, name=name)


def _law(inputs: Mapping[str, Port | int], difference: Callable[[Array, Array], Array], is_driven: Array,
         kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None, *, wind_up: ArrayLike | None, output: str,
         name: str) -> System:
    """The law for velocities of which some are driven (nv): the gains of the others are zero."""
    count = len(is_driven)
    signed = output == "voltage"  # behind a negative gear the gains in volts are negative
    memory = integral_action(ki, wind_up, count, lambda u, p: difference(u.q, u.target), signed=signed)
    gains = {"kp": gains_of(kp, count, "kp", signed=signed), "kd": gains_of(kd, count, "kd", signed=signed),
             **memory.gains}

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        wanted = p.kp * difference(u.q, u.target) + p.kd * (u.target_qd - u.qd)
        return finite_or(memory.added(wanted, x, p), 0.0)

    return System(
        name, output=law, state=memory.state, outputs={output: count}, acts=True, inputs=inputs,
        parameters={word: value if word == "wind_up" else is_driven * value for word, value in gains.items()},
        derivative=memory.derivative)


def joint_pd(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, *, output: str = "tau") -> System:
    """Each joint by its own error and its rate.

    See `joint_control`. Of a mechanism with constraints the gains of joints without drives are zero."""
    return _law_of(arm, kp, kd, None, wind_up=None, output=output, name="pd")


def joint_pid(arm: ArmLike, kp: ArrayLike, ki: ArrayLike, kd: ArrayLike, *, wind_up: ArrayLike | None = None,
              output: str = "tau") -> System:
    """Each joint by its own error, its rate and its integral.

    See `joint_control`. Of a mechanism with constraints the gains of joints without drives are zero."""
    return _law_of(arm, kp, kd, ki, wind_up=wind_up, output=output, name="pid")


def _law_of(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None, *, wind_up: ArrayLike | None,
            output: str, name: str) -> System:
    tree = tree_for(arm, "independent-joint control", rigid=False, single=True)
    is_driven = np.isin(np.arange(tree.nv), tree.actuated_velocities) | (not tree.is_constrained)
    return _law(law_ports(tree, "q qd target target_qd"), lambda q, target: configuration_difference(tree, q, target),
                is_driven.astype(float), kp, kd, ki, wind_up=wind_up, output=output, name=name)


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
