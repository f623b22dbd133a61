"""An open network of bodies at an instant, in inertial axes: its parts, its joints, and its motion from body to body.

Body j has an inner terminal B_j; joint j joins it to a terminal A_j of its parent, or of the reference. What is between
the two, xi_j = B_j - A_j, is part of the joint. In which terms its across variable x_j is given:
    "relative"    x_j is the velocity of B_j against the point of the parent that is there: the terminal A_j is carried
                  to B_j, and the through variable y_j is the wrench of the joint, about B_j, on both bodies
    "inertial"    v_j = v_(B j) - v_(A j), as the source has it: the same wherever xi_j is zero
    x = N(q) q'   N (6m, nv): a revolute joint turns about n, (0; n); a prismatic one slides along it, (n; 0); every
                  other kind by its own subspace. A displaced joint is carried by those before it, if "inertial"
    x_Gj = K_bj^-T (K_a^T x_G(parent) + x_j)                                       outwards     (40)
    y_j = K_bj^-1 (W_Gj x_Gj + sum K_a y_(child) + u_Gj - loads)                   inwards      (41)
Source: Tokad 2.2, 2.4, (29), (37)-(39), corrected as in spec E4-10, E4-14 to E4-16, E4-21."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.geometry.tensors.cross import skew
from cayley.machines.networks.rigid_body import Operator, RigidBody, TurningMass
from cayley.model.joint_kinds import JointKind

Convention = Literal["relative", "inertial"]


class TerminalArm(NamedTuple):
    """A vector (3) from the mass centre of a body to a terminal, and its rate."""

    r: Array
    rate: Array


class External(NamedTuple):
    """A terminal that is open to the outside: the number of its body, and where it is."""

    body: int
    arm: TerminalArm


class Instant(NamedTuple):
    """The bodies (m) of a network at one instant: the parents, numbers before their own or -1; masses, inertias (3, 3)
    in the axes of each, these axes (3, 3), absolute angular velocities (3), where the inner terminals are, and on the
    parents those to which they are joined, from the origin on the reference; what is open, and gravity."""

    parents: Sequence[int]
    masses: Sequence[Scalar]
    inertias: Sequence[Array]
    axes: Sequence[Array]
    turning: Sequence[Array]
    inner: Sequence[TerminalArm]
    carrying: Sequence[TerminalArm]
    open: Sequence[External]
    gravity: Array

    @property
    def size(self) -> int:
        """The number of bodies, m."""
        return len(self.masses)

    def J(self, j: int) -> Array:
        """The inertia (3, 3) of body j about its mass centre, in inertial axes."""
        return self.axes[j] @ self.inertias[j] @ self.axes[j].T

    def mass(self, j: int) -> TurningMass:
        """The active part of body j."""
        return TurningMass(self.masses[j], self.J(j), self.turning[j], self.gravity)

    def W(self, j: int) -> Operator:
        """The operator of the active part of body j, at its mass centre."""
        return self.mass(j).active.W

    def u(self, j: int) -> Array:
        """The driver (6) of its weight."""
        return self.mass(j).active.u

    def path(self, j: int) -> list[int]:
        """The bodies from the reference to body j, itself the last."""
        found: list[int] = []
        while j >= 0:
            found.append(j)
            j = self.parents[j]
        return found[::-1]

    def centres(self) -> list[Array]:
        """The places of the mass centres (3), in the relative convention."""
        found: list[Array] = []
        for j, parent in enumerate(self.parents):
            start = found[parent] if parent >= 0 else np.zeros(3)
            found.append(start + self.carrying[j].r - self.inner[j].r)
        return found

    def arm(self, q: int, j: int) -> TerminalArm:
        """From the inner terminal B_q to the mass centre G_j, of a body q on the way to j. (29)."""
        r = -self.inner[j].r
        rate = -self.inner[j].rate
        while j != q:
            parent = self.parents[j]
            r = r + self.carrying[j].r - self.inner[parent].r
            rate = rate + self.carrying[j].rate - self.inner[parent].rate
            j = parent
        return TerminalArm(r, rate)


class BodyMotion(NamedTuple):
    """The axes of a body, R (3, 3), its angular velocity w (3), and the place of its joint with its rate, xi and xid
    (3): B_j from A_j."""

    R: Array
    w: Array
    xi: Array
    xid: Array


class Attachment(NamedTuple):
    """The body and the port of a joint or of an open terminal."""

    body: int
    port: str


def instant(bodies: Sequence[RigidBody], inner: Sequence[str], attachments: Sequence[Attachment],
            motions: Sequence[BodyMotion], tips: Sequence[Attachment], gravity: Array,
            convention: Convention = "relative", reference: Mapping[str, ArrayLike] = MappingProxyType({})) -> Instant:
    """The network of bodies, each with its inner terminal attached to another or to a port of the reference, that move
    so."""
    carrying = [_carrying(bodies, motions, attached, own, convention, reference)
                for attached, own in zip(attachments, motions, strict=True)]
    return Instant(
        [attached.body for attached in attachments], [body.mass for body in bodies],
        [body.inertia for body in bodies], [motion.R for motion in motions], [motion.w for motion in motions],
        [_arm(body, motion, port) for body, motion, port in zip(bodies, motions, inner, strict=True)], carrying,
        [External(tip.body, _arm(bodies[tip.body], motions[tip.body], tip.port)) for tip in tips], gravity)


def _carrying(bodies: Sequence[RigidBody], motions: Sequence[BodyMotion], attached: Attachment, own: BodyMotion,
              convention: Convention, reference: Mapping[str, ArrayLike]) -> TerminalArm:
    if attached.body < 0:
        return TerminalArm(np.asarray(reference.get(attached.port, np.zeros(3))) + own.xi, own.xid)
    arm = _arm(bodies[attached.body], motions[attached.body], attached.port)
    return arm if convention == "inertial" else TerminalArm(arm.r + own.xi, arm.rate + own.xid)


def _arm(body: RigidBody, motion: BodyMotion, port: str) -> TerminalArm:
    r = motion.R @ body.point(port)
    return TerminalArm(r, np.cross(motion.w, r))


class CentreMotion(NamedTuple):
    """Across variables of the mass centres and their rates, m of (6) each."""

    x: list[Array]
    xd: list[Array]

    def at(self, body: int, arm: TerminalArm) -> tuple[Array, Array]:
        """The motion of another terminal of a body, (6) each."""
        return _moved(self.x[body], arm.r), _moved_rate(self.x[body], self.xd[body], arm)


def outward(network: Instant, x: Sequence[Array], xd: Sequence[Array]) -> CentreMotion:
    """From the across variables of the joints and their rates, m of (6) each, to those of the mass centres."""
    found = CentreMotion([], [])
    for j, parent in enumerate(network.parents):
        inner = x[j]
        inner_rate = xd[j]
        if parent >= 0:
            carried, carried_rate = found.at(parent, network.carrying[j])
            inner = carried + inner
            inner_rate = carried_rate + inner_rate
        back = TerminalArm(-network.inner[j].r, -network.inner[j].rate)
        found.x.append(_moved(inner, back.r))
        found.xd.append(_moved_rate(inner, inner_rate, back))
    return found


def inward(network: Instant, motion: CentreMotion, loads: Sequence[Array],
           loads_at_centres: Sequence[Array] | None = None) -> list[Array]:
    """The wrenches y_j (6) on each body at its inner terminal, of what acts at open terminals and at the centres."""
    at_centre = [_taken(network, j, motion) for j in range(network.size)]
    for terminal, load in zip(network.open, loads, strict=True):
        at_centre[terminal.body] = at_centre[terminal.body] - _force_moved(load, terminal.arm.r)
    if loads_at_centres is not None:
        at_centre = [own - load for own, load in zip(at_centre, loads_at_centres, strict=True)]
    found: list[Array] = [np.zeros(6)] * network.size
    for j in reversed(range(network.size)):
        found[j] = _force_moved(at_centre[j], -network.inner[j].r)
        parent = network.parents[j]
        if parent >= 0:
            at_centre[parent] = at_centre[parent] + _force_moved(found[j], network.carrying[j].r)
    return found


def _taken(network: Instant, j: int, motion: CentreMotion) -> Array:
    """W_G x_G + u_G (6) of a body: the change of its momentum, less its weight. That of its spin is found in the axes
    of the body, in which its inertia stands still."""
    R = network.axes[j]
    J = network.inertias[j]
    w = R.T @ motion.x[j][3:]
    moment = R @ (J @ (R.T @ motion.xd[j][3:]) + np.cross(w, J @ w))
    return np.concatenate([network.masses[j] * (motion.xd[j][:3] - network.gravity), moment])


def _moved(x: Array, r: Array) -> Array:
    """K(r)^T x."""
    return np.concatenate([x[:3] + np.cross(x[3:], r), x[3:]])


def _moved_rate(x: Array, xd: Array, arm: TerminalArm) -> Array:
    """The rate of K(r)^T x."""
    return np.concatenate([xd[:3] + np.cross(xd[3:], arm.r) + np.cross(x[3:], arm.rate), xd[3:]])


def _force_moved(y: Array, r: Array) -> Array:
    """K(r) y."""
    return np.concatenate([y[:3], y[3:] + np.cross(r, y[:3])])


class NetworkJoint(NamedTuple):
    """A joint of a body to its parent: its kind, the axes (3, 3) of its frame on the parent's side, and the port of the
    body that it moves."""

    motion: JointKind
    axes: Array
    inner: str = "B"


class JointMap(NamedTuple):
    """N (6m, nv) of x = N q', and its rate."""

    N: Array
    Nd: Array


def body_motions(parents: Sequence[int], joints: Sequence[NetworkJoint], q: Sequence[Array], qd: Sequence[Array]
                 ) -> list[BodyMotion]:
    """The motion of the bodies and the places of their joints, by the coordinates and velocities of each joint."""
    found: list[BodyMotion] = []
    for parent, joint, own, rates in zip(parents, joints, q, qd, strict=True):
        R_parent, w_parent = (found[parent].R, found[parent].w) if parent >= 0 else (np.eye(3), np.zeros(3))
        turned, moved = joint.motion.pose(own)
        frame = R_parent @ joint.axes
        R = frame @ turned
        twist = joint.motion.subspace(own) @ rates
        xi = frame @ moved
        found.append(BodyMotion(R, w_parent + R @ twist[3:], xi, np.cross(w_parent, xi) + R @ twist[:3]))
    return found


def joint_map(parents: Sequence[int], joints: Sequence[NetworkJoint], q: Sequence[Array], qd: Sequence[Array],
              motions: Sequence[BodyMotion], convention: Convention = "relative") -> JointMap:
    """N and its rate: the directions of every joint, in inertial axes."""
    sizes = [joint.motion.nv for joint in joints]
    starts = np.cumsum([0, *sizes])
    rows: list[list[Array]] = []
    rate_rows: list[list[Array]] = []
    for j, joint in enumerate(joints):
        own = _turned(motions[j].R, joint.motion.subspace(q[j]))
        own_rate = _turned(motions[j].R, joint.motion.subspace_rate(q[j], qd[j])) + _crossed(motions[j].w, own)
        rows.append([own if k == j else np.zeros((6, size)) for k, size in enumerate(sizes)])
        rate_rows.append([own_rate if k == j else np.zeros((6, size)) for k, size in enumerate(sizes)])
    N = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    Nd = np.concatenate([np.concatenate(row, axis=1) for row in rate_rows])
    if convention == "relative" or not starts[-1]:
        return JointMap(N, Nd)
    return _with_displacements(parents, motions, N, Nd)


def _with_displacements(parents: Sequence[int], motions: Sequence[BodyMotion], N: Array, Nd: Array) -> JointMap:
    """The velocity that the turning parent adds to a displaced joint: w x xi."""
    added = [N[6 * j:6 * j + 6] for j in range(len(parents))]
    added_rates = [Nd[6 * j:6 * j + 6] for j in range(len(parents))]
    turning = [np.zeros((3, N.shape[1]))] * len(parents)
    turning_rates = list(turning)
    for j, parent in enumerate(parents):
        if parent >= 0:
            xi = motions[j].xi
            xid = motions[j].xid
            linear = _crossed_with(turning[parent], xi)
            linear_rate = _crossed_with(turning_rates[parent], xi) + _crossed_with(turning[parent], xid)
            added[j] = np.concatenate([added[j][:3] + linear, added[j][3:]])
            added_rates[j] = np.concatenate([added_rates[j][:3] + linear_rate, added_rates[j][3:]])
        before, before_rate = (turning[parent], turning_rates[parent]) if parent >= 0 else (0.0, 0.0)
        turning[j] = before + added[j][3:]
        turning_rates[j] = before_rate + added_rates[j][3:]
    return JointMap(np.concatenate(added), np.concatenate(added_rates))


def _turned(R: Array, S: Array) -> Array:
    return np.concatenate([R @ S[:3], R @ S[3:]])


def _crossed(w: Array, S: Array) -> Array:
    """w x each column, of both halves (6, k)."""
    return np.concatenate([skew(w) @ S[:3], skew(w) @ S[3:]])


def _crossed_with(columns: Array, r: Array) -> Array:
    """Each column (3) x r."""
    return -skew(r) @ columns
