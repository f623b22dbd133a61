"""Bodies joined without loops, as one component: a port a joint and the open terminals, in all the readings of its
terminal equations.

The motion of the joints that moves the open terminals of a network as it is asked, the least one if there are many.

    x = W^-1 A^T (A W^-1 A^T)^-1 x_e,   A = K' S of six-freedom joints, or K' S N of joints of any kind
Without a weight W the norm adds squares of metres and radians a second, and the answer depends on the units (spec
E4-24). Source: Tokad 2.3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np

from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Scalar
from cayley.dynamics.forward.singular_inertia import explanation
from cayley.dynamics.open_tree import TreeConfigurations, TreeMechanics
from cayley.errors import GeometryError, ModelError
from cayley.kinematics.singular.redundancy import RateSolutions, general_solution
from cayley.kinematics.subspaces import subspaces
from cayley.machines.arguments import compiled
from cayley.machines.networks.hybrid_solve import (
    OpenEquations,
    PowerBalance,
    Reduced,
    open_equations,
    power_received,
    power_stored,
    reduced,
)
from cayley.machines.networks.instant import (
    Attachment,
    Convention,
    Instant,
    JointMap,
    NetworkJoint,
    body_motions,
    instant,
    inward,
    joint_map,
    outward,
)
from cayley.machines.networks.rigid_body import RigidBody, given_array, given_rotation
from cayley.model.joint_kinds import check_motion
from cayley.model.tree import Tree
from cayley.showing import shown_briefly
from cayley.systems.layout import Record
from cayley.systems.ports import Block, Port
from cayley.systems.system import System


class TerminalMatrices(NamedTuple):
    """y = P x' + Q x - tip^T y_e + u, with P and Q (6m, 6m); x_G = S x, with S (6m, 6m); x_e = tip x, tip (6e, 6m)."""

    P: Array
    Q: Array
    S: Array
    tip: Array
    u: Array


@shown_briefly
class JointVariables(NamedTuple):
    """Across variables of the joints, x (6m), and their rates."""

    x: Array
    xd: Array


@dataclass(frozen=True, eq=False)
class OpenNetwork:
    """Bodies with an inner terminal each, joined to terminals of others (`attachments`, -1 for the reference), and
    the terminals that are open, by name. Joint j moves body j.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = OpenNetwork.of(load_robot("s1_f2"))
    >>> arm
    <network s1_f2: 2 bodies, open at tool>
    >>> arm.inverse_dynamics([0.3, -0.7], [1.1, -0.4], [0.5, 2.0], np.zeros((1, 6))).round(6)
    array([15.2001 ,  2.87612])
    """

    name: str
    bodies: tuple[RigidBody, ...]
    joints: tuple[NetworkJoint, ...]
    attachments: tuple[Attachment, ...]
    open: Mapping[str, Attachment]
    gravity: FieldArray
    convention: Convention = "relative"
    reference: Mapping[str, ArrayLike] = field(default_factory=dict)  # where on the reference its ports are, (3) each

    def __post_init__(self) -> None:
        if not self.bodies:
            raise ModelError(f"the network {self.name} has no bodies")
        counts = {"bodies": len(self.bodies), "joints": len(self.joints), "attachments": len(self.attachments)}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{count} {word}" for word, count in counts.items())
            raise ModelError(f"the network {self.name} has {listed}: a joint and what it is attached to belong to each")
        names = [body.name for body in self.bodies]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ModelError(f"the network {self.name} has two bodies named {twice[0]!r}")
        if self.convention not in get_args(Convention):
            raise ModelError(f"the convention of {self.name} is {self.convention!r}: it is relative or inertial")
        given_array(self.gravity, (3,), f"gravity of the network {self.name}")
        for body, joint in zip(self.bodies, self.joints, strict=True):
            check_motion(joint.motion, f"the joint of body {body.name!r}")
            given_rotation(joint.axes, f"the axes of the joint of body {body.name!r}")
        for j, attached in enumerate(self.attachments):
            if not -1 <= attached.body < j:
                raise ModelError(f"body {self.bodies[j].name!r} of {self.name} is joined to body number "
                                 f"{attached.body}: the body that carries it stands before it")
            if attached.body >= 0:
                self.bodies[attached.body].point(attached.port)
            self.bodies[j].point(self.joints[j].inner)
        for name, tip in self.open.items():
            if not 0 <= tip.body < len(self.bodies):
                raise ModelError(f"the open terminal {name!r} of {self.name} is on body number {tip.body}: there are "
                                 f"0 to {len(self.bodies) - 1}")
            self.bodies[tip.body].point(tip.port)

    def __repr__(self) -> str:
        return f"<network {self.name}: {len(self.bodies)} bodies, open at {', '.join(self.open) or 'nothing'}>"

    @staticmethod
    def chain(name: str, bodies: Sequence[RigidBody], joints: Sequence[NetworkJoint], *,
              gravity: Sequence[float] = (0.0, 0.0, -9.81), convention: Convention = "relative") -> OpenNetwork:
        """Bodies in a row, each from `B` to `A`, open at the outer terminal of the last one."""
        attachments = tuple(Attachment(j - 1, "A") for j in range(len(bodies)))
        return OpenNetwork(name, tuple(bodies), tuple(joints), attachments, {"tip": Attachment(len(bodies) - 1, "A")},
                           np.asarray(gravity), convention)

    @staticmethod
    def of(tree: Tree, open_at: Sequence[str] = (), convention: Convention = "relative") -> OpenNetwork:
        """A mechanism as a network, open at named frames; see `cayley.machines.networks.bridge`."""
        from cayley.machines.networks.bridge import network_of
        return network_of(tree, open_at, convention)

    def tree(self) -> Tree:
        """The network as a mechanism."""
        from cayley.machines.networks.bridge import tree_of
        return tree_of(self)

    # Sizes

    @cached_property
    def nq(self) -> int:
        return sum(joint.motion.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        return sum(joint.motion.nv for joint in self.joints)

    @property
    def size(self) -> int:
        """The number of bodies, m."""
        return len(self.bodies)

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the arrays of kernels, by letter."""
        m, e = len(self.bodies), len(self.open)
        return {"q": self.nq, "v": self.nv, "m": m, "e": e, "x": 6 * m, "t": 6 * e}

    # Texts, for one state

    def instant(self, q: Array, qd: Array) -> Instant:
        """The network at a state, in inertial axes."""
        own_q, own_qd = self._each(q, qd)
        motions = body_motions(self._parents, self.joints, own_q, own_qd)
        inner = [joint.inner for joint in self.joints]
        return instant(self.bodies, inner, self.attachments, motions, tuple(self.open.values()), self.gravity,
                       self.convention, self.reference)

    def joint_map(self, q: Array, qd: Array) -> JointMap:
        """N (6m, nv) with x = N qd, and its rate."""
        own_q, own_qd = self._each(q, qd)
        motions = body_motions(self._parents, self.joints, own_q, own_qd)
        return joint_map(self._parents, self.joints, own_q, own_qd, motions, self.convention)

    def joint_motion(self, q: Array, qd: Array, qdd: Array) -> JointVariables:
        """x (6m) and its rate."""
        N, Nd = self.joint_map(q, qd)
        return JointVariables(N @ qd, N @ qdd + Nd @ qd)

    # Kernels

    @compiled("({q}),({v})->({x},{x}),({x},{x}),({x},{x}),({t},{x}),({x})")
    def terminal_equations(self, q: Array, qd: Array) -> TerminalMatrices:
        """`terminal_equations(q, qd)`: P and Q (6m, 6m), S (6m, 6m), tip (6e, 6m) and u (6m). (20), (21)."""
        W, S, tip, u = self.equations(q, qd)
        return TerminalMatrices(W.P, W.Q, S, tip, u)

    def equations(self, q: Array, qd: Array) -> OpenEquations:
        """The terminal equations at a state."""
        return open_equations(self.instant(q, qd))

    @compiled("({q}),({v})->({v},{v}),({v}),({v}),({t},{v})")
    def reduced(self, q: Array, qd: Array) -> Reduced:
        """`reduced(q, qd)`: M (nv, nv), h (nv), gravity (nv), jacobian (6e, nv), of tau = M qdd + h + gravity -
        jacobian^T y_e."""
        return reduced(self.equations(q, qd), self.joint_map(q, qd), qd)

    @compiled("({q}),({v}),({v}),({e},6)->({m},6)")
    def wrenches(self, q: Array, qd: Array, qdd: Array, loads: Array) -> Array:
        """`wrenches(q, qd, qdd, loads)`: y (m, 6), on each body at its inner terminal, in inertial axes, from body to
        body; loads (e, 6) act at the open terminals. (40), (41)."""
        network = self.instant(q, qd)
        x, xd = self.joint_motion(q, qd, qdd)
        motion = outward(network, list(np.reshape(x, (-1, 6))), list(np.reshape(xd, (-1, 6))))
        return np.stack(inward(network, motion, list(loads)))

    @compiled("({q}),({v}),({v}),({e},6)->({v})")
    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array, loads: Array) -> Array:
        """`inverse_dynamics(q, qd, qdd, loads)`: the forces of the joints (nv), N^T y."""
        return self.joint_map(q, qd).N.T @ self.wrenches(q, qd, qdd, loads).reshape(-1)

    @compiled("({q}),({v}),({v}),({e},6)->({v})", explain="_explain")
    def forward_dynamics(self, q: Array, qd: Array, tau: Array, loads: Array) -> Array:
        """`forward_dynamics(q, qd, tau, loads)`: the accelerations (nv) that the terminal equations leave; NaN where a
        motion of the joints moves no mass, which is named where one state is asked for."""
        M, h, gravity, jacobian = reduced(self.equations(q, qd), self.joint_map(q, qd), qd)
        return only_where(is_definite(M), ldl_solve(M, tau - h - gravity + jacobian.T @ loads.reshape(-1)))

    @property
    def _explain(self) -> Callable[..., None] | None:
        return explanation(self.tree())

    @compiled("({q}),({v})->({e},6)")
    def tip_motion(self, q: Array, qd: Array) -> Array:
        """`tip_motion(q, qd)`: across variables (e, 6) of the open terminals, whatever their loads. (35), (36)."""
        network = self.instant(q, qd)
        x = list(np.reshape(self.joint_map(q, qd).N @ qd, (-1, 6)))
        motion = outward(network, x, [np.zeros(6)] * self.size)
        return np.stack([motion.at(tip.body, tip.arm)[0] for tip in network.open])

    def joint_rates(self, q: ArrayLike, x: ArrayLike, *, rows: Sequence[int] | None = None,
                    weight: ArrayLike | None = None) -> RateSolutions:
        """The least velocities of the joints with which the open terminals have the across variables x (6e), or
        those of its `rows`. (2.3)."""
        jacobian = self.reduced(np.asarray(q, dtype=float), np.zeros(self.nv))[3]
        chosen = list(range(len(jacobian)) if rows is None else rows)
        wrong = [row for row in chosen if not 0 <= row < len(jacobian)]
        if wrong:
            raise ModelError(f"there is no row {wrong[0]}: the open terminals of {self.name} have 0 to "
                             f"{len(jacobian) - 1}, six each")
        return least_motion(jacobian[chosen], given_array(x, (len(chosen),), "the across variables"), weight)

    def power_balance(self, q: Array, qd: Array, qdd: Array, loads: Array) -> PowerBalance:
        """The power that joints and loads (e, 6) put into the network at a state, and the power that it stores."""
        qdd = given_array(qdd, (self.nv,), f"the accelerations of {self.name}")
        loads = given_array(loads, (len(self.open), 6), f"the loads at the open terminals of {self.name}")
        network = self.instant(q, qd)
        x, xd = (list(np.reshape(each, (-1, 6))) for each in self.joint_motion(q, qd, qdd))
        motion = outward(network, x, xd)
        tips = [motion.at(terminal.body, terminal.arm)[0] for terminal in network.open]
        received = power_received([*x, *tips], [*inward(network, motion, list(loads)), *list(loads)])
        masses = [network.mass(j) for j in range(network.size)]
        return PowerBalance(received, sum(map(power_stored, masses, motion.x, motion.xd)))

    def system(self) -> System:
        """The network as a system: state `q`, `qd`; inputs `tau`, and the `loads` (e, 6) at its open terminals."""
        place = Block((self.nq,), manifold=TreeConfigurations(self.tree()), velocity="qd")
        inputs = {"tau": Port((self.nv,), default=0.0)}
        if self.open:
            inputs["loads"] = Port((len(self.open), 6), default=0.0)

        def acceleration(t: Scalar, x: Record, u: Record, p: Record) -> Array:
            return self.forward_dynamics(x.q, x.qd, u.tau, u["loads"] if self.open else np.zeros((0, 6)))

        def power(t: Scalar, x: Record, u: Record, p: Record) -> Scalar:
            received = u.tau @ x.qd
            return received + (self.tip_motion(x.q, x.qd) * u["loads"]).sum() if self.open else received

        mechanics = TreeMechanics(self.tree())
        return System(self.name, state={"q": place, "qd": Block((self.nv,))}, inputs=inputs, derivative=acceleration,
                      power=power, energy=lambda t, x, u, p: mechanics.energy(x.q, x.qd),
                      explain=lambda x: mechanics.why_singular(x.q))

    # How

    @property
    def _parents(self) -> list[int]:
        return [attached.body for attached in self.attachments]

    def _each(self, q: Array, qd: Array) -> tuple[list[Array], list[Array]]:
        if np.asarray(q).dtype != object:  # symbols are as they are
            q = given_array(q, (self.nq,), f"the coordinates of {self.name}")
        if np.asarray(qd).dtype != object:
            qd = given_array(qd, (self.nv,), f"the velocities of {self.name}")
        places = np.cumsum([0, *[joint.motion.nq for joint in self.joints]])
        rates = np.cumsum([0, *[joint.motion.nv for joint in self.joints]])
        return ([q[start:end] for start, end in pairwise(places)],
                [qd[start:end] for start, end in pairwise(rates)])


def least_motion(A: ArrayLike, x: ArrayLike, weight: ArrayLike | None = None) -> RateSolutions:
    """The motions (n) with A (m, n) times them = x (m) for which their square, weighted by a positive definite matrix
    (n, n) or the numbers on its diagonal (n), is least.

    >>> least_motion([[1.0, 1.0]], [1.0], weight=[1.0, 3.0]).velocities.round(12)
    array([0.75, 0.25])
    """
    A = np.asarray(A, dtype=float)
    if weight is None:
        return general_solution(A, x)
    root = _root(np.asarray(weight, dtype=float), A.shape[-1])
    found = general_solution(np.linalg.solve(root, A.T).T, x)  # in z = root^T velocities the norm is the plain one
    return RateSolutions(np.linalg.solve(root.T, found.velocities), found.residual, found.solved, found.unique,
                         subspaces(A))


def _root(weight: Array, size: int) -> Array:
    """L with L L^T = W."""
    full = np.diag(weight) if weight.ndim == 1 else weight
    if full.shape != (size, size) or not np.allclose(full, full.T):
        raise GeometryError(f"a weight of {size} rates is a symmetric matrix ({size}, {size}) or its diagonal")
    try:
        return np.linalg.cholesky(full)
    except np.linalg.LinAlgError:
        raise GeometryError("a weight must be positive definite") from None
