"""Coordinates of a frame, r = (position; parameters of the orientation), and analytic Jacobians: r' = J v.

    J = (J_v; B J_w)      J' = (J_v'; B J_w' + B' J_w)      J'' = (J_v''; B J_w'' + 2 B' J_w' + B'' J_w)      f' = B w
The pose is that of the frame seen from another ("world": the root), in whose axes the position is. J fails where B
does: the parameters are at fault then. Sources: Balafoutis & Patel (7.4.6), (7.4.7), spec R9.1; Yamamoto (1.20)-(1.23),
(1.36), (1.37).

    T' T^-1 = [[hat(w), v_O], [0, 0]]; of a link in its parent [[t' Z, d' z], [0, 0]] in Denavit-Hartenberg frames
Seen from another frame a twist matrix becomes T M T^-1; those of a chain add up. Ruggiu (2.46)-(2.55), spec E-30."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.general_jacobian import (
    branch,
    general_jacobian,
    hessian,
    jacobian_rate,
    jacobian_second_rate,
    reference,
)
from cayley.kinematics.jacobians.velocity import Moving
from cayley.kinematics.orientation import ROUNDING, OrientationParameters
from cayley.kinematics.orientation import orientation as orientation_named
from cayley.model.tree import Tree


def coordinates(tree: Tree, q: Array, frame: str, *, orientation: str, relative_to: str) -> Array:
    """r (6, or 7 with quaternions): position [m] and orientation of a frame as seen from another."""
    pose = relative_pose(tree, q, frame, relative_to)
    return np.concatenate([pose.p, orientation_named(orientation).parameters(pose.R)])


def analytic_jacobian(tree: Tree, q: Array, frame: str, *, orientation: str, relative_to: str) -> Array:
    """dr/dt by the velocities: (6 or 7, nv).

    Infinite or NaN where the parameters are singular: see `check_orientation`."""
    named = orientation_named(orientation)
    R = relative_pose(tree, q, frame, relative_to).R
    return _over(general_jacobian(tree, q, frame, axes=relative_to, relative_to=relative_to), named.rate_map(R))


def analytic_jacobian_rate(tree: Tree, q: Array, qd: Array, frame: str, *, orientation: str, relative_to: str) -> Array:
    """The time derivative of `analytic_jacobian` at the velocity `qd`; so r'' = J qdd + J' qd."""
    named = orientation_named(orientation)
    J = general_jacobian(tree, q, frame, axes=relative_to, relative_to=relative_to)
    rate = jacobian_rate(tree, q, qd, frame, axes=relative_to, relative_to=relative_to)
    R = relative_pose(tree, q, frame, relative_to).R
    return _over(rate, named.rate_map(R), (named.rate_map_rate(R, J[3:] @ qd), J))


def analytic_jacobian_second_rate(tree: Tree, q: Array, qd: Array, qdd: Array, frame: str, *, orientation: str,
                                  relative_to: str) -> Array:
    """The second time derivative of `analytic_jacobian` at the velocity `qd` and the acceleration `qdd`."""
    named = orientation_named(orientation)
    J = general_jacobian(tree, q, frame, axes=relative_to, relative_to=relative_to)
    rate = jacobian_rate(tree, q, qd, frame, axes=relative_to, relative_to=relative_to)
    second = jacobian_second_rate(tree, q, qd, qdd, frame, axes=relative_to, relative_to=relative_to)
    R = relative_pose(tree, q, frame, relative_to).R
    w = J[3:] @ qd
    dw = J[3:] @ qdd + rate[3:] @ qd
    return _over(second, named.rate_map(R), (2 * named.rate_map_rate(R, w), rate),
                 (named.rate_map_second_rate(R, w, dw), J))


def analytic_hessian(tree: Tree, q: Array, frame: str, *, orientation: str, relative_to: str) -> Array:
    """H (6 or 7, nv, nv): H[:, i, j] is the change of column i of `analytic_jacobian` when velocity j is one and the
    others are zero."""
    named = orientation_named(orientation)
    J = general_jacobian(tree, q, frame, axes=relative_to, relative_to=relative_to)
    H = hessian(tree, q, frame, axes=relative_to, relative_to=relative_to)
    R = relative_pose(tree, q, frame, relative_to).R
    B = named.rate_map(R)
    turned = [named.rate_map_rate(R, unit) for unit in np.eye(3)]
    layers = [
        _over(H[:, :, j], B, (sum(x * layer for x, layer in zip(J[3:, j], turned, strict=True)), J))
        for j in range(tree.nv)]
    return np.stack(layers, axis=2) if layers else np.zeros((3 + named.size, 0, 0))


def relative_pose(tree: Tree, q: Array, frame: str, relative_to: str) -> Pose:
    """The pose of a frame in another, or in the root ("world")."""
    return frame_pose(tree, q, frame, None if relative_to == "world" else relative_to)


def check_orientation(tree: Tree, frame: str, *, orientation: str, relative_to: str) -> Callable[..., None]:
    """A function that raises `SingularityError` for configurations where the parameters are singular: the `check` of
    kernels of this module."""
    named: OrientationParameters = orientation_named(orientation)
    margin_of = kernel(f"({tree.nq})->()",
                       name="margin")(lambda q: named.margin(relative_pose(tree, q, frame, relative_to).R))

    def check(q: ArrayLike, *_: object) -> None:
        margin = np.asarray(margin_of(q))
        bad = first_failure(~(margin <= ROUNDING))
        if bad is not None:
            raise SingularityError(
                f"{orientation!r} is singular for {frame!r} in configuration{place(bad)} (margin {margin[bad]:.0e}): "
                "its rates are not determined there. The mechanism may be regular: use the geometric Jacobian, a "
                "quaternion, or another sequence")

    return check


def _over(J: Array, B: Array, *more: tuple[Any, Any]) -> Array:
    return np.concatenate([J[:3], sum((C @ K[3:] for C, K in more), start=B @ J[3:])])


def pose_rate(tree: Tree, q: Array, qd: Array, frame: str, *, relative_to: str) -> Array:
    """T' (4, 4) of the pose of a frame in another, or in the root ("world")."""
    return twist_matrix(tree, q, qd, frame, relative_to=relative_to) @ relative_pose(tree, q, frame, relative_to).matrix


def twist_matrix(tree: Tree, q: Array, qd: Array, frame: str, *, relative_to: str) -> Array:
    """T' T^-1 (4, 4) of the pose of a frame in another, or in the root ("world"), in the axes of that other."""
    own = branch(tree, q, qd, None, frame).end
    other = reference(tree, q, qd, None, relative_to).end
    return similar_twist_matrix(other.pose.inverse, absolute_twist_matrix(own) - absolute_twist_matrix(other))


def absolute_twist_matrix(body: Moving) -> Array:
    """[[hat(w), u - w x p], [0, 0]] in the root's axes."""
    return _matrix(hat(body.w), body.u - np.cross(body.w, body.pose.p))


def similar_twist_matrix(pose: Pose, matrix: Array) -> Array:
    """T M T^-1: the same twist, seen from the frame in which the one it was seen from has the pose T.

    Ruggiu (2.51)-(2.53)."""
    turned = pose.R @ matrix[:3, :3] @ pose.R.T
    return _matrix(turned, pose.R @ matrix[:3, 3] - turned @ pose.p)


def _matrix(spin: Array, velocity: Array) -> Array:
    return np.concatenate([np.concatenate([spin, np.stack([velocity], axis=1)], axis=1), np.zeros((1, 4))])
