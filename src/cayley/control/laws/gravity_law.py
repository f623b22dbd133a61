"""PD with gravity compensation: the arm rests at the target only, and its energy proves that it gets there.

    tau = kp (target - q) - kd qd + g(q)                        V = qd^T M qd / 2 + e^T kp e / 2        V' = -qd^T kd qd
    voltage = kp (target - q) - kd qd + g(q) / K_hat            the same with K_hat kp and K_hat (ke N + kd)
The arm reaches the target by LaSalle's theorem, as it can stand nowhere else. V is that of PD: integral action, which
takes away the offset of a wrong model, is stable for small ki. Source: Yamamoto (6.34)-(6.39), with the signs of spec
E3-31, E3-32; S3-44."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.actuators.motors import windings_of
from cayley.control.arms import ArmLike, finite_or, gains_of, integral_action, law_ports, tree_for
from cayley.control.compensators.compensation import Compensator, compensated
from cayley.control.drive_dynamics import DriveDynamics
from cayley.dynamics.rigid_links.drives import viscous_frictions
from cayley.dynamics.state_kernels import gravity_forces_kernel, kinetic_energy_kernel
from cayley.errors import ConventionError
from cayley.kinematics.frame_kernels import sized
from cayley.model.configuration_space import configuration_difference
from cayley.model.tree import Tree
from cayley.showing import shown_briefly
from cayley.systems import Record, State, System

_WHAT = "PD with gravity compensation"


@shown_briefly
class Lyapunov(NamedTuple):
    """V and its rate along the motion of the closed loop."""

    value: Array
    rate: Array


def pd_with_gravity(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike | None = None, *,
                    wind_up: ArrayLike | None = None, output: str = "tau", compensator: Compensator | None = None,
                    name: str = "pd with gravity") -> System:
    """PD with gravity compensation.

    Inputs: `q`, `qd` and `target` (nq). Output: `tau`, or "voltage" of its motors, and then the gains are volts. Of a
    mechanism with constraints the errors of its drives count. Where a measurement or the target is not finite, the
    forces that depend on it are zero. A `compensator` adds to the forces; see `compensated`.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    >>> loop = cy.connect(arm, pd_with_gravity(arm, kp=50.0, kd=12.0))
    >>> run = loop.simulate({"q": [0.0, 0.0], "qd": [0.0, 0.0]}, until=8.0, inputs={"target": [0.5, -0.3]})
    >>> run.end["q"].round(6)
    array([ 0.5, -0.3])
    """
    tree = tree_for(arm, _WHAT)
    n = tree.nv
    gravity = gravity_forces_kernel(tree)
    gain = _gain(tree, output)
    signed = output == "voltage"
    drives = DriveDynamics.of(tree, _WHAT)
    memory = integral_action(ki, wind_up, n, lambda u, p: configuration_difference(tree, u.q, u.target), signed=signed)
    gains = {"kp": gains_of(kp, n, "kp", signed=signed), "kd": gains_of(kd, n, "kd", signed=signed), **memory.gains}

    def law(t: Scalar, x: State, u: Record, p: Record) -> Array:
        held = drives.at(u.q).spread(gravity(u.q))
        wanted = p.kp * configuration_difference(tree, u.q, u.target) - p.kd * u.qd + held / gain
        return finite_or(memory.added(wanted, x, p), 0.0)

    made = System(
        name, output=law, state=memory.state, inputs=law_ports(tree, "q qd target"), outputs={output: n},
        parameters={word: value if word == "wind_up" else drives.is_driven * value for word, value in gains.items()},
        derivative=memory.derivative)
    return made if compensator is None else compensated(made, compensator)


def pd_with_gravity_lyapunov(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, *,
                             output: str = "tau") -> Kernel[Lyapunov]:
    """`lyapunov(q, qd, target)`: the energy V [J] of the arm under the law and its rate [W], never positive. The arm is
    as it is driven: of voltages its rotors are included. Viscous friction that is included takes its part.

    Joints of one coordinate each, or gains that are one for all: of quaternions the error is a rotation vector.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> pd_with_gravity_lyapunov(arm, 50.0, 10.0)([0.1, 0.2], [0.0, 1.0], [0.1, 0.3]).rate
    np.float64(-10.0)
    """
    tree = tree_for(arm, _WHAT)
    if output == "voltage":
        tree = tree.including(*tree.included, "armature")
    gain = _gain(tree, output)
    induced = windings_of(tree, _WHAT).induced_damping if output == "voltage" else 0.0
    signed = output == "voltage"
    driven = gain * DriveDynamics.of(tree, _WHAT).is_driven
    stiffness = driven * gains_of(kp, tree.nv, "kp", signed=signed)
    damping = driven * gains_of(kd, tree.nv, "kd", signed=signed) + induced + viscous_frictions(tree)
    kinetic = kinetic_energy_kernel(tree)

    def lyapunov(q: Array, qd: Array, target: Array) -> Lyapunov:
        error = configuration_difference(tree, q, target)
        return Lyapunov(kinetic(q, qd) + error @ (stiffness * error) / 2, -qd @ (damping * qd))

    return kernel(sized(tree, "(q),(v),(q)->(),()"), outputs=Lyapunov._fields)(lyapunov)


def _gain(tree: Tree, output: str) -> Scalar:
    """The force at each joint (n) by what the law gives out."""
    if output not in ("tau", "voltage"):
        raise ConventionError(f'{_WHAT} gives out "tau" or "voltage", not {output!r}')
    return windings_of(tree, _WHAT).gain if output == "voltage" else np.ones(tree.nv)
