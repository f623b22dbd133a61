"""Direct-current motors, one for each joint, as a system, the dynamics of an arm that they drive by voltages; gears.

    L di/dt = V - R i - ke N qd        tau = k N i
    M' qdd + h + g + D' qd = K_hat V
    M' = M + N Jm N        D' = D + N k ke N / R        K_hat = N k / R
Without an inductance the current is that of the instant, i = (V - ke N qd) / R, and there is no state. D is the
friction of the arm, as far as it is included. Forces that a law asks for become voltages:

    V = (tau + N k ke N qd / R) / K_hat            without inductance: tau is there at once
    V = R i + ke N qd + L w (tau / (N k) - i)      with it, from measured currents i: di/dt = w (wanted i - i)
Gears: q_M = Gamma q and tau = Gamma^T tau_M, as tau_M . dq_M = tau . dq for every dq. The gear ratio is turns of the
motor for one of the joint; wrists whose motors turn several joints have a Gamma that is not diagonal.
Source: Yamamoto (6.1)-(6.17), spec S3-38 to S3-40, S3-52, E3-26."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, numbers_of, tree_for, tree_of
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.rigid_links.drives import viscous_frictions
from cayley.errors import ModelError, SignatureError, shown
from cayley.kinematics.frame_kernels import sized
from cayley.model.tree import Tree
from cayley.showing import brief
from cayley.systems import Block, Record, State, System
from cayley.systems.ports import PortLike

_MAY_BE_ZERO = ("inductance", "back_emf")


def dc_motors(resistance: ArrayLike, inductance: ArrayLike, torque_constant: ArrayLike, *, gear: ArrayLike = 1.0,
              back_emf: ArrayLike | None = None, name: str = "motors") -> System:
    """Motors that turn voltages into joint forces: inputs `voltage` and `qd`, output `tau`, each (n), and the state
    `current` of those with an inductance, which can be measured.

    The resistance R [ohm], the inductance L [H], the torque constant k [N m/A] and the ratio N of the gear, turns of
    the rotor to one of the joint, are (n) or numbers, and parameters of the system. `back_emf` ke [V s/rad] is that of
    an ideal motor, k, if it is not given. The inertia of rotors belongs to the mechanism (`including("armature")`). Its
    energy is that of the magnetic fields.

    >>> import cayley as cy
    >>> cy.connect(cy.load("planar2r"), dc_motors([1.0, 1.5], 0.01, 0.05, gear=100.0))
    <system planar2r + motors: state q, qd, current; inputs voltage; outputs q, qd, tau, current;
     parameters R, L, k, N>
    >>> dc_motors([1.0, 1.5], 0.0, 0.05, gear=100.0)
    <system motors: inputs voltage, qd; outputs tau; parameters R, k, N>
    """
    given = {"resistance": resistance, "inductance": inductance, "torque_constant": torque_constant, "gear": gear,
             **({} if back_emf is None else {"back_emf": back_emf})}
    arrays = [np.atleast_1d(numbers_of(value, f"the {word} of motors")) for word, value in given.items()]
    if len({len(array) for array in arrays if array.shape != (1,)}) > 1 or any(array.ndim > 1 for array in arrays):
        told = ", ".join(f"{word} {array.shape}" for word, array in zip(given, arrays, strict=True))
        raise SignatureError(f"the numbers of motors must be one for all or one for each motor, not {told}")
    alike = np.broadcast_arrays(*arrays)
    values = dict(zip(given, map(np.array, alike), strict=True))
    for word, value in values.items():
        right = value != 0 if word == "gear" else value >= 0 if word in _MAY_BE_ZERO else value > 0
        if value.ndim != 1 or not (np.isfinite(value) & right).all():
            raise SignatureError(f"the {word} of motors is positive and finite, a number or one for each: {value}")
    n = len(alike[0])
    lagging = np.flatnonzero(values["inductance"])
    parameters = {"R": values["resistance"], "L": values["inductance"][lagging], "k": values["torque_constant"],
                  "N": values["gear"], **({} if back_emf is None else {"ke": values["back_emf"]})}

    def driving(u: Record, p: Record) -> Array:
        """The voltage minus the back-EMF at the present speed."""
        return u.voltage - (p.k if back_emf is None else p.ke) * p.N * u.qd

    def current(x: State, u: Record, p: Record) -> Array:
        found = symbols(driving(u, p) / p.R).copy()
        if lagging.size:
            found[lagging] = x.current
        return found

    def rise(x: State, u: Record, p: Record) -> Array:
        return (driving(u, p) - p.R * current(x, u, p))[lagging]

    inputs: dict[str, PortLike] = {"voltage": (n, "V"), "qd": n}
    if not lagging.size:
        del parameters["L"]
        return System(name, inputs=inputs, outputs={"tau": n}, parameters=parameters, acts=True,
                      output=lambda t, x, u, p: p.k * p.N * driving(u, p) / p.R)
    return System(
        name, state={"current": Block((len(lagging),), "A", default=0.0)}, inputs=inputs,
        outputs={"tau": n, "current": (len(lagging), "A")}, parameters=parameters, acts=True,
        derivative=lambda t, x, u, p: rise(x, u, p) / p.L,
        output=lambda t, x, u, p: {"tau": p.k * p.N * current(x, u, p), "current": x.current},
        power=lambda t, x, u, p: x.current @ rise(x, u, p),
        energy=lambda t, x, u, p: x.current @ (p.L * x.current) / 2)


def motors_of(arm: ArmLike, *, name: str = "motors") -> System:
    """The motors of an arm, one for each joint, as its drives say: gear and `winding`.

    >>> import cayley as cy
    >>> from cayley.model.winding import Winding
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
    >>> cy.connect(arm.including("armature"), motors_of(arm))
    <system planar2r + motors: state q, qd; inputs voltage; outputs q, qd, tau; parameters R, k, N, ke>
    """
    found = windings_of(tree_of(arm), "a system of motors")
    return dc_motors(found.resistance, found.inductance, found.torque_constant, gear=found.gear,
                     back_emf=found.back_emf, name=name)


class Windings(NamedTuple):
    """Each (n): resistance [ohm], inductance [H], torque constant [N m/A], back-EMF constant [V s/rad], gear, and the
    inertia of the rotor [kg m^2] before it."""

    resistance: Array
    inductance: Array
    torque_constant: Array
    back_emf: Array
    gear: Array
    rotor: Array

    @property
    def gain(self) -> Array:
        """K_hat = N k / R [N m/V]: the force at a joint that stands, by the voltage. (6.17)"""
        return self.gear * self.torque_constant / self.resistance

    @property
    def induced_damping(self) -> Array:
        """N^2 k ke / R [N m s]: what the induced voltage does to a joint that moves. (6.16)"""
        return self.gain * self.back_emf * self.gear


def windings_of(tree: Tree, what: str) -> Windings:
    """The motors of a tree whose joints all have one; `what` asks for them. A joint without one is named."""
    tree_for(tree, what, independent=True, single=True, driven=False)
    rows = []
    for joint in tree.joints:
        if not joint.motion.nv:
            continue
        winding = joint.rotor.winding
        if winding is None or not joint.rotor.gear:
            lacks = "motor has no winding" if winding is None else "gear is 0"
            raise ModelError(f"{what} needs the motors of {tree.name}, but the {lacks} at joint {joint.name!r}: "
                             "`with_drive(joint, inertia=..., gear=..., winding=Winding(resistance, torque_constant))`")
        rows.append((winding.resistance, winding.inductance, winding.torque_constant, winding.induced,
                     joint.rotor.gear, joint.rotor.inertia))
    return Windings(*np.array(rows, dtype=float).reshape(-1, 6).T.copy())


@dataclass(frozen=True, eq=False)
class VoltageDynamics:
    """Dynamics of an arm driven by voltages, made by `voltage_dynamics`; its `tree` includes the rotors."""

    tree: Tree
    windings: Windings

    @property
    def gain(self) -> Array:
        """K_hat (n) [N m/V]."""
        return self.windings.gain

    @property
    def damping(self) -> Array:
        """D' (n) [N m s]: viscous friction, and what induced voltages do."""
        return viscous_frictions(self.tree) + self.windings.induced_damping

    @property
    def rotor_inertia(self) -> Array:
        """N Jm N (n) [kg m^2]."""
        return self.windings.rotor * self.windings.gear**2

    @cached_property
    def inertia_matrix(self) -> Kernel:
        """`inertia_matrix(q)`: M' (..., n, n)."""
        return inertia_matrix_kernel(self.tree)

    @cached_property
    def voltages(self) -> Kernel:
        """`voltages(q, qd, qdd)`: V (..., n) that a motion needs."""
        forces = inverse_dynamics_kernel(self.tree)
        return kernel(sized(self.tree, "(q),(v),(v)->(v)"), name="voltages")(
            lambda q, qd, qdd: (forces(q, qd, qdd) + self.windings.induced_damping * qd) / self.gain)

    @cached_property
    def accelerations(self) -> Kernel:
        """`accelerations(q, qd, V)`: qdd (..., n)."""
        forward = forward_dynamics_kernel(self.tree)
        return kernel(sized(self.tree, "(q),(v),(v)->(v)"), name="accelerations")(
            lambda q, qd, V: forward(q, qd, self.gain * V - self.windings.induced_damping * qd))


def voltage_dynamics(arm: ArmLike) -> VoltageDynamics:
    """The dynamics of an arm whose drives have windings, driven by voltages. The rotors are included; friction is if
    the arm includes it. As a system it is `cy.connect(arm.including("armature"), motors_of(arm))`, which knows
    inductances, too.

    >>> import cayley as cy
    >>> from cayley.model.winding import Winding
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
    >>> driven = voltage_dynamics(arm)
    >>> driven.gain, driven.damping, driven.rotor_inertia
    (array([5., 5.]), array([25., 25.]), array([0.1, 0.1]))
    """
    given = tree_of(arm)
    tree = given.including(*given.included, "armature")
    return VoltageDynamics(tree, windings_of(tree, "dynamics from voltages"))


def voltage_commands(arm: ArmLike, *, bandwidth: float | None = None, name: str = "amplifiers") -> System:
    """Inputs: `wanted_tau` and `qd`, output `voltage`, each (n); with a `bandwidth` w [rad/s] the current is
    controlled, and `current` (n) is an input: all motors have an inductance then. What is not finite goes out as zero
    volts.

    Without a bandwidth inductances are left out: the force then lags behind by L / R.

    >>> import cayley as cy
    >>> from cayley.control import computed_torque, motors_of
    >>> from cayley.model.winding import Winding
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
    >>> arm = arm.including("armature")
    >>> law = computed_torque(arm, 100.0, 20.0).renamed({"tau": "wanted_tau"})
    >>> loop = cy.connect(arm, law, voltage_commands(arm), motors_of(arm))
    >>> loop.simulate({"q": [0.0, 0.0], "qd": [0.0, 0.0]}, until=3.0, inputs={"target": [0.5, -0.3]}).end["q"].round(6)
    array([ 0.5, -0.3])
    """
    windings = windings_of(tree_of(arm), "a law of voltages")
    n = len(windings.gain)
    if bandwidth is None:
        return System(name, inputs={"wanted_tau": n, "qd": n}, outputs={"voltage": (n, "V")}, acts=True,
                      output=lambda t, x, u, p: finite_or(
                          (u.wanted_tau + windings.induced_damping * u.qd) / windings.gain, 0.0))
    if not 0 < bandwidth < np.inf or not windings.inductance.all():
        raise SignatureError(f"current control needs a positive bandwidth, not {shown(bandwidth)}, and motors "
                             f"with an inductance each, not {windings.inductance}")

    def voltage(u: Record, p: Record) -> Array:
        wanted = u.wanted_tau / (windings.gear * windings.torque_constant)
        return finite_or(windings.resistance * u.current + windings.back_emf * windings.gear * u.qd
                         + windings.inductance * p.bandwidth * (wanted - u.current), 0.0)

    return System(name, inputs={"wanted_tau": n, "qd": n, "current": (n, "A")}, outputs={"voltage": (n, "V")},
                  parameters={"bandwidth": bandwidth}, acts=True, output=lambda t, x, u, p: voltage(u, p))


@dataclass(frozen=True, eq=False)
class GearTrain:
    """Gears with a matrix Gamma (n, n), or ratios (n) if it is diagonal. All maps broadcast over leading axes.

    >>> gears = GearTrain([100.0, 80.0])
    >>> gears.motor_angles([0.1, 0.2]), gears.joint_forces([0.5, 0.25]), gears.reduction_ratios
    (array([10., 16.]), array([50., 20.]), array([0.01 , 0.0125]))
    """

    matrix: Array

    __repr__ = brief

    def __init__(self, ratios: ArrayLike) -> None:
        given = np.asarray(ratios, dtype=float)
        matrix = np.diag(given) if given.ndim == 1 else given
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise SignatureError(f"gears must be ratios (n) or a matrix (n, n) of finite numbers, not {shown(ratios)}")
        if matrix.size and relative_rank(matrix, exact=True) < len(matrix):
            raise SignatureError(f"gears {shown(ratios)} leave a joint that no motor turns: the matrix is singular")
        object.__setattr__(self, "matrix", matrix)

    @classmethod
    def from_reduction(cls, ratios: ArrayLike) -> GearTrain:
        """A gear train with reduction ratios (n), turns of a joint for one of its motor.

        >>> GearTrain.from_reduction([0.01]).matrix
        array([[100.]])
        """
        given = np.asarray(ratios, dtype=float)
        if given.ndim != 1 or not (np.isfinite(given) & (given != 0)).all():
            raise SignatureError(f"reduction ratios (n) must be finite and not 0, not {shown(ratios)}")
        return cls(1 / given)

    @classmethod
    def of(cls, arm: ArmLike) -> GearTrain:
        """The gears of the drives of an arm."""
        tree = tree_for(arm, "a gear train", rigid=False, single=True, driven=False)
        return cls([joint.rotor.gear for joint in tree.joints if joint.motion.nv])

    @property
    def reduction_ratios(self) -> Array:
        """1 / ratios (n), of a train with one motor a joint."""
        if (self.matrix != np.diag(np.diagonal(self.matrix))).any():
            raise SignatureError("a train whose motors turn several joints each has no reduction ratios: see `matrix`")
        return 1 / np.diagonal(self.matrix)

    def motor_angles(self, q: ArrayLike) -> Array:
        """q_M (..., n); of velocities and accelerations likewise."""
        return np.asarray(q, dtype=float) @ self.matrix.T

    def joint_angles(self, motors: ArrayLike) -> Array:
        """q (..., n); of velocities and accelerations likewise."""
        return np.linalg.solve(self.matrix, np.asarray(motors, dtype=float)[..., None])[..., 0]

    def joint_forces(self, motors: ArrayLike) -> Array:
        """tau (..., n) of the torques of the motors."""
        return np.asarray(motors, dtype=float) @ self.matrix

    def motor_forces(self, tau: ArrayLike) -> Array:
        """tau_M (..., n) of the forces at the joints."""
        return np.linalg.solve(self.matrix.T, np.asarray(tau, dtype=float)[..., None])[..., 0]

    def joint_inertia(self, rotors: ArrayLike) -> Array:
        """Gamma^T J Gamma (n, n): what the joints feel of the inertias (n) of rotors."""
        return self.matrix.T @ (np.asarray(rotors, dtype=float)[:, None] * self.matrix)
