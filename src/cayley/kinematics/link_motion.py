"""Motions of all links of a tree and of points fixed to them: without gravity, in space or as another link sees them.

    w, dw    angular velocity, angular acceleration          Omega    the tensor dw~ + w~ w~ by which points accelerate
    u, du    velocity and acceleration of a point            r        from the origin of the observer to the point
Outwards from the root, joint by joint, as (5.2.23a-d), which start with -g. Seen from a frame that moves (index o):
    w - w_o,  dw - dw_o - w_o x (w - w_o),  u' = u - u_o - w_o x r,  du - du_o - Omega_o r - 2 w_o x u'
A point of a grasped object has its coordinates in the frame of the tool, or in a frame of its own,
`tree.with_frame(name, body, pose)`. Source: Balafoutis & Patel (4.2.19), (4.2.20), (5.2.23a-d), (6.3.38), (6.3.39);
Yamamoto (1.19), corrected as in spec E3-08."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.errors import ConventionError
from cayley.geometry.pose import HERE
from cayley.geometry.tensors.frames import angular_acceleration_from_vectors
from cayley.kinematics.elementary import steps_of, steps_to
from cayley.kinematics.frame_kernels import frame_kernel, sized_kernel
from cayley.kinematics.jacobians.analytic import relative_pose
from cayley.kinematics.jacobians.velocity import Moving, acceleration, axes_in_root, moving, moving_on, point_in, twist
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.elementary_motions import ROOT, elementary_motions
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

PARENT = "parent"
WORLD = "world"


@shown_briefly
class LinkMotion(NamedTuple):
    """Angular velocity (..., 3) [rad/s], angular acceleration (..., 3) and angular acceleration tensor (..., 3, 3)
    [rad/s^2], velocity (..., 3) [m/s] and acceleration (..., 3) [m/s^2] of a point; of all bodies, (..., bodies, 3)."""

    angular_velocity: Array
    angular_acceleration: Array
    tensor: Array
    velocity: Array
    acceleration: Array


def point_motion(tree: Tree, q: Array, qd: Array, qdd: Array, frame: str, *, axes: str,
                 at: Array | FrameName | None = None, relative_to: str = WORLD) -> LinkMotion:
    """The motion of a frame's body and of its point at the frame's origin, or `at` a point: coordinates (3) in the
    frame, or the name of a frame; in space, or as the body of another frame sees it."""
    own = moving(steps_to(tree, q, frame), qd, qdd)[-1]
    point = own.carried_to(own.pose.p + own.pose.R @ point_in(tree, q, frame, at))
    observer = Moving(HERE) if relative_to == WORLD else moving(steps_to(tree, q, relative_to), qd, qdd)[-1]
    return _resolved(tree, q, seen_from(observer, point), axes)


def body_motions(tree: Tree, q: Array, qd: Array, qdd: Array) -> list[Moving]:
    """The motions of the origins of all bodies, the root first, in its axes."""
    motions, bodies = elementary_motions(tree)
    found: list[Moving] = []
    for motion in motions:
        before = Moving(HERE) if motion.parent == ROOT else found[motion.parent]
        found.append(moving_on(before, steps_of([motion], HERE, q)[0], qd, qdd))
    last = [(Moving(HERE) if number == ROOT else found[number], pose) for number, pose in bodies.values()]
    return [moving_on(before, steps_of([], pose, q)[0], qd, qdd) for before, pose in last]


def seen_from(observer: Moving, point: Moving) -> Moving:
    """The motion as an observer finds it who moves himself, still in the root's axes."""
    r = point.pose.p - observer.pose.p
    o = observer.w
    w = point.w - o
    u = point.u - observer.u - np.cross(o, r)
    du = point.du - observer.du - np.cross(observer.dw, r) - np.cross(o, np.cross(o, r)) - 2 * np.cross(o, u)
    return point._replace(w=w, dw=point.dw - observer.dw - np.cross(o, w), u=u, du=du)


def _resolved(tree: Tree, q: Array, motion: Moving, axes: str) -> LinkMotion:
    turn = axes_in_root(tree, q, axes, motion.pose).T
    w = turn @ motion.w
    dw = turn @ motion.dw
    return LinkMotion(w, dw, angular_acceleration_from_vectors(w, dw), turn @ motion.u, turn @ motion.du)


def point_motion_kernel(tree: Tree, frame: str, axes: str | None, at: ArrayLike | FrameName | None,
                        relative_to: str) -> MechanismKernel[LinkMotion]:
    """`point_motion(q, qd, qdd)` of one frame."""
    made = frame_kernel(tree, point_motion, "(q),(v),(v)->(3),(3),(3,3),(3),(3)", frame, axes=axes, at=at,
                        relative_to=relative_to)
    return cast("MechanismKernel[LinkMotion]", made)


@of_a_mechanism
def link_motion_kernel(tree: Tree, axes: str, relative_to: str) -> MechanismKernel[LinkMotion]:
    """`link_motion(q, qd, qdd)` of all bodies, in the order of `tree.bodies`."""
    for name in {axes, relative_to} - {"body", WORLD, PARENT}:
        tree.frame(name)
    if axes == PARENT or relative_to == "body":
        raise ConventionError('axes are "world", "body" (of each link) or those of a frame; motions are relative to '
                              '"world", "parent" (of each link) or a frame')

    def text(q: Array, qd: Array, qdd: Array) -> LinkMotion:
        found = body_motions(tree, q, qd, qdd)
        observers = _observers(tree, q, qd, qdd, found, relative_to)
        seen = [_resolved(tree, q, seen_from(observer, motion), axes)
                for observer, motion in zip(observers, found, strict=True)]
        return LinkMotion(*map(np.stack, zip(*seen, strict=True)))

    n = len(tree.bodies)
    made = sized_kernel(tree, f"(q),(v),(v)->({n},3),({n},3),({n},3,3),({n},3),({n},3)", text, "link_motion",
                        sentence="Angular velocities and accelerations of all bodies, velocities and accelerations of "
                        f"their origins, without gravity; axes {axes!r}, relative to {relative_to!r}.")
    return cast("MechanismKernel[LinkMotion]", made)


def _observers(tree: Tree, q: Array, qd: Array, qdd: Array, found: list[Moving],
               relative_to: str) -> list[Moving]:
    """For each body what it is seen from; the root, which nothing carries, from itself."""
    if relative_to == PARENT:
        return [found[0], *[found[parent] for parent in tree.parents]]
    observer = found[0] if relative_to == WORLD else moving(steps_to(tree, q, relative_to), qd, qdd)[-1]
    return [observer] * len(found)


def point_position(tree: Tree, q: Array, point: Array, frame: str, *, relative_to: str) -> Array:
    """The place of a point (3) of a frame, seen from another frame or from the root ("world") [m]: R point + p."""
    pose = relative_pose(tree, q, frame, relative_to)
    return pose.R @ point + pose.p


def point_velocity(tree: Tree, q: Array, qd: Array, point: Array, frame: str, *, axes: str) -> Array:
    """The velocity (3) of a point of a frame relative to the root, in the named axes [m/s]."""
    return twist(tree, q, qd, frame, axes=axes, at=point)[:3]


def point_acceleration(tree: Tree, q: Array, qd: Array, qdd: Array, point: Array, frame: str, *, axes: str) -> Array:
    """The acceleration (3) of a point of a frame relative to the root, without gravity, in the named axes [m/s^2]."""
    return acceleration(tree, q, qd, qdd, frame, axes=axes, at=point)[:3]
