"""Joints of an open network: which motions they let the bodies have, x = N(q) q', and what this makes of its equations.

    N        (6m, nv): a revolute joint turns about n, (0; n); a prismatic one slides along it, (n; 0); every other kind
             of joint by its own subspace. In the inertial convention a displaced joint is carried by those before it
    M = N^T P N,   h = N^T (P N' + Q N) q',   gravity = N^T u,   tau = N^T y = M q'' + h + gravity - N^T tip^T y_e
The components of y outside of N are the reactions of the joints. Source: Tokad 2.2 after (36), (38), (39), corrected as
in spec E4-14, E4-15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.tensors.cross import skew
from cayley.machines.networks.hybrid_solve import OpenEquations
from cayley.machines.networks.instant import BodyMotion, Convention
from cayley.model.joint_kinds import Motion


class NetworkJoint(NamedTuple):
    """A joint of a body to its parent: its kind, the axes (3, 3) of its frame on the parent's side, and the port of the
    body that it moves."""

    motion: Motion
    axes: Array
    inner: str = "B"


class JointMap(NamedTuple):
    """N (6m, nv) of x = N q', and its rate."""

    N: Array
    Nd: Array


class Reduced(NamedTuple):
    """tau = M qdd + h + gravity - jacobian^T y_e, and x_e = jacobian qd."""

    M: Array
    h: Array
    gravity: Array
    jacobian: Array


def body_motions(parents: Sequence[int], joints: Sequence[NetworkJoint], q: Sequence[Array], qd: Sequence[Array]
                 ) -> list[BodyMotion]:
    """How the bodies stand and turn, and where their joints are, of the coordinates and velocities of each joint."""
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


def reduced(equations: OpenEquations, joints: JointMap, qd: Array) -> Reduced:
    """The equations of motion in the coordinates of the joints."""
    N, Nd = joints
    P, Q = equations.W
    return Reduced(N.T @ P @ N, N.T @ ((P @ Nd + Q @ N) @ qd), N.T @ equations.u, equations.tip @ N)


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
