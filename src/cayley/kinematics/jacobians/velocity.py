"""Geometric Jacobians, twists (v; w) and accelerations (a; dw) of frames and points of a tree, relative to its root.

    u, w     velocity of an origin, angular velocity; du, dw their rates: true accelerations, also in axes that turn
    t, s     what a joint adds to w and to u
Three texts give the same numbers. "link": outwards in the axes of the links; the cheapest in the frame's own axes.
"running": in the root's axes, u = sum (w_i x p_i,i+1 + s_i); the cheapest in those. "sum": joint by joint, u = sum (t_i
x p_i,n + s_i). Given axes and origins, both sums cost 9n multiplications and 12n - 6 additions for n revolute joints.
Source: Ruggiu (2.55), (2.56), 2.3.2; spec S2-35, S2-36; (K-3) of docs/developers/theory/kinematics.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.errors import ConventionError
from cayley.geometry.pose import HERE, Pose
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.elementary import Step, steps_to
from cayley.kinematics.forward import frame_pose, joint_pose
from cayley.model.tree import Tree

Method = Literal["link", "running", "sum"]
_REST = np.zeros(3)


class JointRate(NamedTuple):
    """The motion of a joint now: the angular velocity and the velocity of its child's origin that it adds, and that
    origin; each (3)."""

    turn: Array
    slide: Array
    origin: Array


class Moving(NamedTuple):
    """A frame in motion: its pose, its velocities and accelerations, each (3), all in the root's axes."""

    pose: Pose
    u: Array = _REST
    w: Array = _REST
    du: Array = _REST
    dw: Array = _REST

    def carried_to(self, point: Array) -> Moving:
        """The same body's motion at another point."""
        r = point - self.pose.p
        wr = np.cross(self.w, r)
        return self._replace(pose=Pose(self.pose.R, point), u=self.u + wr,
                             du=self.du + np.cross(self.dw, r) + np.cross(self.w, wr))


def twist(tree: Tree, q: Array, qd: Array, frame: str, *, axes: str, at: Array | FrameName | None = None,
          method: Method | None = None) -> Array:
    """The twist (6) of a frame's body at the frame's origin, or `at` a point: coordinates (3) in the frame, or the name
    of a frame, for the point of the body that is at that frame's origin now ("world": the root's).

    `axes`: "world" (the root's), "body" (the frame's own), or the name of a frame."""
    if _chosen(method, axes) == "link":
        u, w, _, _ = in_own_axes(steps_to(tree, q, frame), qd, np.zeros(tree.nv))
        return _resolved(tree, q, u + np.cross(w, point_in(tree, q, frame, at)), w, frame, axes)
    end = frame_pose(tree, q, frame)
    u, w = _VELOCITY[_chosen(method, axes)](joint_rates(tree, q, qd, frame),
                                            end.p + end.R @ point_in(tree, q, frame, at))
    turn = axes_in_root(tree, q, axes, end).T
    return np.concatenate([turn @ u, turn @ w])


def acceleration(tree: Tree, q: Array, qd: Array, qdd: Array, frame: str, *, axes: str,
                 at: Array | FrameName | None = None, method: Method | None = None) -> Array:
    """The acceleration (6) of a point of a frame's body and the angular acceleration of the body, at the velocity `qd`
    and with `qdd`.

    These are true accelerations, resolved in the axes: in the axes of a turning frame they are not the rates of the
    twist's components. Without gravity. Points and axes as in `twist`."""
    if _chosen(method, axes) == "link":
        _, w, du, dw = in_own_axes(steps_to(tree, q, frame), qd, qdd)
        point = point_in(tree, q, frame, at)
        return _resolved(tree, q, du + np.cross(dw, point) + np.cross(w, np.cross(w, point)), dw, frame, axes)
    steps = steps_to(tree, q, frame)
    motions = moving(steps, qd, qdd)
    end = motions[-1].carried_to(motions[-1].pose.p + motions[-1].pose.R @ point_in(tree, q, frame, at))
    du, dw = (end.du,
              end.dw) if _chosen(method, axes) == "running" else _summed_accelerations(steps, motions, qd, qdd, end)
    turn = axes_in_root(tree, q, axes, end.pose).T
    return np.concatenate([turn @ du, turn @ dw])


def frame_bias(tree: Tree, q: Array, qd: Array, frame: str, *, axes: str, at: Array | FrameName | None = None) -> Array:
    """The acceleration (6) that the velocity `qd` gives a point of a frame's body by itself, Jdot qd: what is left of
    `acceleration` where qdd is zero, so that acceleration = jacobian @ qdd + frame_bias in whatever axes."""
    return acceleration(tree, q, qd, np.zeros(tree.nv), frame, axes=axes, at=at)


def point_in(tree: Tree, q: Array, frame: str, at: Array | FrameName | None) -> Array:
    """The reference point (3) in the frame's own coordinates."""
    if at is None:
        return np.zeros(3)
    if not isinstance(at, str):
        return at
    here = frame_pose(tree, q, frame)
    return here.inverse.p if at == "world" else here.inverse.then(frame_pose(tree, q, at)).p


# Velocities of joints whose axes are known


def joint_rates(tree: Tree, q: Array, qd: Array, frame: str) -> list[JointRate]:
    """The motion of each joint on the way to a frame, in the root's axes."""
    pose = HERE
    rates = []
    for step in steps_to(tree, q, frame)[:-1]:
        pose = pose.then(step.pose)
        rate = step.subspace @ qd[step.columns]
        rates.append(JointRate(pose.R @ rate[3:], pose.R @ rate[:3], pose.p))
    return rates


def velocity_by_sum(joints: Sequence[JointRate], point: ArrayLike) -> tuple[Any, Any]:
    """Velocity of a point of the last body, and its angular velocity: Ruggiu (2.56)."""
    u = sum((np.cross(j.turn, point - j.origin) + j.slide for j in joints), start=_REST)
    return u, sum((j.turn for j in joints), start=_REST)


def velocity_by_running(joints: Sequence[JointRate], point: Array) -> tuple[Any, Any]:
    """The same by the forward computation, Ruggiu 2.3.2."""
    u = _REST
    w = _REST
    here = _REST
    for j in joints:
        u = u + np.cross(w, j.origin - here) + j.slide
        w = w + j.turn
        here = j.origin
    return u + np.cross(w, point - here), w


_VELOCITY = {"sum": velocity_by_sum, "running": velocity_by_running}


def _chosen(method: str | None, axes: str) -> str:
    """The method that was asked for, or the cheapest in these axes."""
    if method not in (None, "link", *_VELOCITY):
        raise ConventionError(
            f"there is no method {method!r} for velocities: the methods are 'link', 'running' and 'sum'")
    return method or ("link" if axes == "body" else "running")


# Motions step by step


def moving(steps: Sequence[Step], qd: Array, qdd: Array) -> list[Moving]:
    """The motions of the frames after each step, in the root's axes."""
    motions = [Moving(HERE)]
    for step in steps:
        motions.append(moving_on(motions[-1], step, qd, qdd))
    return motions[1:]


def moving_on(parent: Moving, step: Step, qd: Array, qdd: Array) -> Moving:
    """The motion of the frame after a step from that of the frame before it."""
    pose = parent.pose.then(step.pose)
    s, t = np.split(_turned(pose.R, step.subspace @ qd[step.columns]), 2)
    ds, dt = np.split(_turned(pose.R, step.twist_rate(qd, qdd)), 2)
    carried = parent.carried_to(pose.p)
    du = carried.du + np.cross(2 * parent.w + t, s) + ds
    return Moving(pose, carried.u + s, parent.w + t, du, parent.dw + np.cross(parent.w, t) + dt)


def _summed_accelerations(steps: Sequence[Step], motions: Sequence[Moving], qd: Array, qdd: Array,
                          end: Moving) -> tuple[Any, Any]:
    du = _REST
    dw = _REST
    for step, m in zip(steps, motions, strict=True):
        s, t = np.split(_turned(m.pose.R, step.subspace @ qd[step.columns]), 2)
        ds, dt = np.split(_turned(m.pose.R, step.twist_rate(qd, qdd)), 2)
        turned = dt + np.cross(m.w, t)
        du = du + ds + np.cross(m.w, s) + np.cross(turned, end.pose.p - m.pose.p) + np.cross(t, end.u - m.u)
        dw = dw + turned
    return du, dw


def in_own_axes(steps: Sequence[Step], qd: Array, qdd: Array) -> tuple[Any, Any, Any, Any]:
    """u, w, du, dw of the frame after the last step, in its own axes."""
    u = w = du = dw = _REST
    for step in steps:
        R, p = step.pose
        s, t = np.split(step.subspace @ qd[step.columns], 2)
        ds, dt = np.split(step.twist_rate(qd, qdd), 2)
        wp = np.cross(w, p)
        before = R.T @ w
        du = R.T @ (du + np.cross(dw, p) + np.cross(w, wp)) + np.cross(2 * before + t, s) + ds
        dw = R.T @ dw + np.cross(before, t) + dt
        u = R.T @ (u + wp) + s
        w = before + t
    return u, w, du, dw


def _resolved(tree: Tree, q: Array, linear: Array, angular: Array, frame: str, axes: str) -> Array:
    if axes != "body":
        own = frame_pose(tree, q, frame)
        turn = own.R if axes == "world" else axes_in_root(tree, q, axes, own).T @ own.R
        linear = turn @ linear
        angular = turn @ angular
    return np.concatenate([linear, angular])


def _turned(R: Array, pair: Array) -> Array:
    return np.concatenate([R @ pair[:3], R @ pair[3:]])


def jacobian(tree: Tree, q: Array, frame: str, *, axes: str) -> Array:
    """The Jacobian (6, nv) of a frame: its twist is J @ v."""
    wanted = tree.frame(frame)
    poses = poses_on_the_way(tree, q, tree.body_number(wanted.body))
    end = (poses[-1][1] if poses else HERE).then(Pose.of(wanted.pose))
    turn = axes_in_root(tree, q, axes, end).T
    columns = [np.zeros((6, joint.motion.nv)) for joint in tree.joints]
    for number, pose in poses:
        columns[number] = _columns(tree.joints[number].motion.subspace(q[tree.q_slices[number]]), pose, end.p, turn)
    return np.concatenate(columns, axis=1) if columns else np.zeros((6, 0))


def poses_on_the_way(tree: Tree, q: Array, body: int) -> list[tuple[int, Pose]]:
    """For each joint from the root to a body, its number and the pose of its child."""
    pose = HERE
    found = []
    for number in tree.path(body):
        pose = pose.then(joint_pose(tree, number, q))
        found.append((number, pose))
    return found


def axes_in_root(tree: Tree, q: Array, axes: str, own: Pose) -> Array:
    """The rotation of the asked axes in the root's frame."""
    if axes == "world":
        return np.eye(3)
    return own.R if axes == "body" else frame_pose(tree, q, axes).R


def _columns(subspace: Array, child: Pose, point: Array, turn: Array) -> Array:
    """The velocities that a joint's directions give to a point, in the asked axes."""
    angular = child.R @ subspace[3:]
    linear = child.R @ subspace[:3] - hat(point - child.p) @ angular
    return np.concatenate([turn @ linear, turn @ angular])
