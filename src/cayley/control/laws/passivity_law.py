"""Passivity-based control: it shapes the energy of an arm, and cancels nothing that does no work.

    tau = M a + C(q, qd) v + g + kd s + kp e        v = target' + slope e        a = v'        s = v - qd
    M s' + C s + kd s + kp e = 0        V = s^T M s / 2 + e^T kp e / 2        V' = -s^T kd s - e^T slope kp e
With slope = 0 it is PD+ of Paden & Panja: V' = -e'^T kd e', and the error goes to zero by LaSalle's theorem (that of
Matrosov for targets that move); with slope > 0 and kp = 0 that of Slotine & Li, of which s dies exponentially. Of a
model that is wrong by d the loop is M s' + C s + kd s + kp e = d, bounded for bounded d. Sources: Paden & Panja,
Globally asymptotically stable PD+ controller, 1988; Slotine & Li 1987; spec S3-48.

C is that of Christoffel's symbols, so that M' - 2 C is skew and C(q, x) y = C(q, y) x. Velocity forces c(q, x) =
C(q, x) x then give it by polarisation, C(q, qd) v = c(q, (qd + v)/2) - c(q, (qd - v)/2): two sweeps of the recursion,
or two regressors, and no matrix. Parameters that a law takes for unknown add Y theta to the forces of the model; an
unknown payload adds its ten moments about a frame, (m, ux, .., Jzz), to those of the link that carries the frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.control.arms import ArmLike, finite_or, law_ports, positive_gains_of, tree_for
from cayley.control.compensators.compensation import Compensator, compensated
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.laws.gravity_law import Lyapunov
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import drive_forces, rotor_inertias
from cayley.dynamics.rigid_links.links import ROOT
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.moments import MOMENT_NAMES, moved
from cayley.dynamics.state_kernels import kinetic_energy_kernel
from cayley.errors import SignatureError, did_you_mean
from cayley.geometry.pose import Pose
from cayley.model.tree import Tree
from cayley.systems import Record, System

if TYPE_CHECKING:
    from cayley.dynamics.identification import RegressorModel

_WHAT = "passivity-based control"


def passivity_based(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, slope: ArrayLike = 0.0, *,
                    compensator: Compensator | None = None, name: str = "passivity-based") -> System:
    """Passivity-based tracking: PD+ of Paden and Panja, or with a slope that of Slotine and Li.

    Inputs: `q`, `qd`, `target`, and its `target_qd` and `target_qdd`, zero if nothing drives them. Output: `tau`. kd [N
    m s/rad, N s/m] is positive, kp [N m/rad, N/m] and slope [1/s] are not negative, and not both zero. Forces are zero
    where their inputs are not finite. The controller has no memory. A `compensator` adds to it; see `compensated`.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> loop = cy.connect(arm, passivity_based(arm, kp=0.0, kd=20.0, slope=5.0))
    >>> run = loop.simulate({"q": [0.0, 0.0], "qd": [0.0, 0.0]}, until=4.0, inputs={"target": [0.5, -0.3]})
    >>> run.end["q"].round(6)
    array([ 0.5, -0.3])
    """
    tree = tree_for(arm, _WHAT, single=True)
    drives = DriveDynamics.of(tree, _WHAT)
    forces = reference_forces(drives)

    def law(u: Record, p: Record) -> Array:
        kp, kd, slope = map(drives.picked, (p.kp, p.kd, p.slope))
        found = reference(drives, u, slope)
        return finite_or(drives.spread(forces(u.q, u.qd, found.v, found.a) + kd * found.s + kp * found.e), 0.0)

    made = System(name, inputs=law_ports(tree, "q qd target target_qd target_qdd"), outputs={"tau": tree.nv},
                  parameters=passive_gains(tree, kp, kd, slope), output=lambda t, x, u, p: law(u, p))
    return made if compensator is None else compensated(made, compensator)


def passive_gains(tree: Tree, kp: ArrayLike, kd: ArrayLike, slope: ArrayLike) -> dict[str, Array]:
    """The parameters of the laws for which V falls."""
    gains = {"kp": positive_gains_of(kp, tree.nv, "kp", zero=True), "kd": positive_gains_of(kd, tree.nv, "kd"),
             "slope": positive_gains_of(slope, tree.nv, "slope", zero=True)}
    free = np.flatnonzero(gains["kp"] + gains["slope"] == 0)
    if len(free):
        raise SignatureError(f"with neither kp nor slope nothing brings joint {tree.joint_names[free[0]]!r} back to "
                             "its target: one of them is positive")
    return gains


def passivity_based_lyapunov(arm: ArmLike, kp: ArrayLike, kd: ArrayLike,
                             slope: ArrayLike = 0.0) -> Kernel[Lyapunov]:
    """`lyapunov(q, qd, target, target_qd)`: V [J] of the arm under the law, and its rate [W], never positive.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> passivity_based_lyapunov(arm, 50.0, 10.0)([0.1, 0.2], [0.0, 1.0], [0.1, 0.3], [0.0, 0.0]).rate
    np.float64(-10.0)
    """
    tree = tree_for(arm, _WHAT, single=True)
    drives = DriveDynamics.of(tree, _WHAT)
    kp, kd, slope = map(drives.picked, passive_gains(tree, kp, kd, slope).values())
    kinetic = kinetic_energy_kernel(tree)

    def lyapunov(q: Array, qd: Array, target: Array, target_qd: Array) -> Lyapunov:
        e = drives.picked(target - q)
        s = drives.picked(target_qd - qd) + slope * e
        return Lyapunov(kinetic(q, drives.at(q).velocity(s)) + e @ (kp * e) / 2, -s @ (kd * s) - e @ (slope * kp * e))

    n = tree.nv
    return kernel(f"({n}),({n}),({n}),({n})->(),()", outputs=Lyapunov._fields)(lyapunov)


_CREEP = 1e-3  # [rad/s, m/s] at which dry friction changes its sign


class Reference(NamedTuple):
    """The error, the reference velocity and its rate, and s, each (m) of the drives; a text."""

    e: Array
    v: Array
    a: Array
    s: Array


def reference(drives: DriveDynamics, u: Record, slope: Array) -> Reference:
    """The reference from the inputs `q`, `qd`, `target`, `target_qd`, `target_qdd` of a law."""
    qd, target_qd, target_qdd = map(drives.picked, (u.qd, u.target_qd, u.target_qdd))
    e = drives.picked(u.target - u.q)
    v = target_qd + slope * e
    return Reference(e, v, target_qdd + slope * (target_qd - qd), v - qd)


def in_drives(drives: DriveDynamics, text: Text) -> Text:
    """A text `(q, qd, v, a)` of forces (nv, ...) of all joints as one (m, ...) of the drives, by their v and a (m)."""
    def of_drives(q: Array, qd: Array, v: Array, a: Array) -> Array:
        here = drives.at(q)
        return here.forces(text(q, qd, here.velocity(v), here.reference_acceleration(q, qd, v, a)))

    return text if drives.is_open else of_drives


def reference_forces(drives: DriveDynamics) -> Text:
    """The text `(q, qd, v, a)` of the forces (m), with the friction and the rotors that the arm includes."""
    tree = drives.tree.spanning_tree() if drives.tree.is_constrained else drives.tree
    links = minimal_links(tree)
    weightless = replace(links, gravity=np.zeros(3))
    rest = np.zeros(tree.nv)

    def forces(q: Array, qd: Array, v: Array, a: Array) -> Array:
        half = (qd - v) / 2
        return inverse_dynamics(links, q, qd - half, a) - inverse_dynamics(weightless, q, half, rest) + drive_forces(
            tree, q, qd, a)

    return in_drives(drives, forces)


def reference_regressor(model: RegressorModel) -> Text:
    """The text `(q, qd, v, a)` of Y (nv, size): the same forces are Y times the parameters. Dry friction is smooth
    within 0.001 rad/s or m/s, that no estimate chatters at rest."""
    weightless = replace(model, links=replace(model.links, gravity=np.zeros(3)))
    of_mass = np.array([word in MOMENT_NAMES for _, word in model.columns])
    rest = np.zeros(model.links.nv)

    def regressor(q: Array, qd: Array, v: Array, a: Array) -> Array:
        half = (qd - v) / 2
        polarised = model.text(q, qd - half, a) - weightless.text(q, half, rest)
        of_joints = model.text(q, qd, a, sign=lambda x: np.tanh(x / _CREEP))
        return np.stack([(polarised if mass else of_joints)[:, k] for k, mass in enumerate(of_mass)], axis=1)

    return regressor


@dataclass(frozen=True, eq=False)
class UnknownParameters:
    """Names (k), their values (k) in the model, and what the parameters of a linear model are by each (size, k)."""

    model: RegressorModel
    names: tuple[str, ...]
    values: Array
    shares: Array

    @property
    def size(self) -> int:
        return len(self.names)

    def regressor(self, drives: DriveDynamics) -> Text:
        """The text `(q, qd, v, a)` of Y (m, k); see `reference_regressor`."""
        whole = reference_regressor(self.model)
        felt = np.flatnonzero(np.abs(self.shares).any(axis=1))
        return in_drives(drives, lambda q, qd, v, a: whole(q, qd, v, a)[:, felt] @ self.shares[felt])


def unknown_parameters(tree: Tree, parameters: str | Sequence[str] | None, payload: str | None,
                       joint_terms: Sequence[str]) -> UnknownParameters:
    """`parameters`: "base" (the default), "all", or names out of `linear_model(...).names`; with a frame that carries a
    `payload`, names out of m, ux, uy, uz, Jxx .. Jzz, all ten by default."""
    from cayley.dynamics.identification import linear_model, structural_base_parameters
    model = linear_model(tree.spanning_tree() if tree.is_constrained else tree, joint_terms=joint_terms)
    if payload is not None:
        return _of_payload(model, payload, parameters)
    own = np.where([_is_included(tree, word) for _, word in model.columns], model.values, 0.0)
    if parameters is None or parameters == "base":
        base = structural_base_parameters(model)
        return UnknownParameters(model, base.names, base.values(own), np.eye(model.size)[:, base.kept])
    names = model.names if parameters == "all" else _names(parameters, model.names, tree.name)
    chosen = [model.names.index(name) for name in names]
    return UnknownParameters(model, tuple(names), own[chosen], np.eye(model.size)[:, chosen])


def _is_included(tree: Tree, word: str) -> bool:
    """True unless a parameter belongs to a drive that the tree does not include."""
    if word in ("viscous", "coulomb"):
        return "friction" in tree.included
    return word != "rotor" or bool(rotor_inertias(tree).any())


def _of_payload(model: RegressorModel, frame: str, parameters: str | Sequence[str] | None) -> UnknownParameters:
    number, pose = model.links.place(model.tree, frame)
    if number == ROOT:
        raise SignatureError(f"the frame {frame!r} of {model.tree.name} does not move: no joint force depends on a "
                             f"load there")
    names = MOMENT_NAMES if parameters in (None, "all") else _names(parameters, MOMENT_NAMES, "a payload")
    shares = np.zeros((model.size, 10))
    shares[[k for k, (link, word) in enumerate(model.columns) if link == number and word in MOMENT_NAMES]] = moved(
        *Pose.of(pose))
    chosen = [MOMENT_NAMES.index(name) for name in names]
    return UnknownParameters(model, tuple(names), np.zeros(len(chosen)), shares[:, chosen])


def _names(given: str | Sequence[str] | None, known: Sequence[str], whose: str) -> list[str]:
    names = [given] if isinstance(given, str) else list(given or ())
    for name in names:
        if name not in known:
            raise SignatureError(f"{whose} has no parameter {name!r}{did_you_mean(name, known)}")
    if not names or len(set(names)) < len(names):
        raise SignatureError(f"the unknown parameters of {whose} are named once each, and there is one at least")
    return names
