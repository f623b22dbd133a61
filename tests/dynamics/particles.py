"""Inverse dynamics of trees from forward kinematics alone, in 60-digit arithmetic.

Every body is a handful of particles with its mass, centre and inertia. With their accelerations along q + qd t + qdd
t^2 / 2 and their derivatives by the joint coordinates, both by central differences, d'Alembert's principle gives

    tau_i = sum over particles of m (p'' - g) . dp/dq_i
The particles may have negative masses: the law is linear in them, so bodies that nature does not make are covered too.
"""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from cayley.model.joint_kinds import Helical, JointKind, Prismatic, Revolute
from cayley.model.parts import Body
from cayley.model.tree import Tree

DIGITS = 60
STEP = mpmath.mpf(10) ** -15  # differences of the second order are then right to 30 digits


def particle_forces(tree: Tree, q: Any, qd: Any, qdd: Any, *, root: Callable[[Any], Any] | None = None,
                    payload: Any = None) -> np.ndarray:
    """Generalised forces (nv) of a tree of turning, sliding, screwing and fixed joints.

    `root(t)` is the pose (4, 4) of the root in an inertial frame at the time t, if it moves; gravity is then given in
    that frame. `payload` is (mass, frame, point in it).
    """
    with mpmath.workdps(DIGITS):
        q, qd, qdd = exact(q), exact(qd), exact(qdd)
        masses, places = particles(tree, payload)
        moved = root or (lambda t: np.eye(4))

        def at(t):
            return positions(tree, q + qd * t + qdd * t * t / 2, exact(moved(t)), places)

        def beside(i, h):
            return positions(tree, q + h * exact(np.eye(len(q))[i]), exact(moved(mpmath.mpf(0))), places)

        weighed = masses * ((at(STEP) - 2 * at(mpmath.mpf(0)) + at(-STEP)) / STEP**2 - exact(tree.gravity)[:, None])
        slopes = [(beside(i, STEP) - beside(i, -STEP)) / (2 * STEP) for i in range(len(q))]
        return np.array([float((weighed * slope).sum()) for slope in slopes])


def derivatives(function: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The value of a function of time at 0, and its first and second derivatives there, as floats."""
    with mpmath.workdps(DIGITS):
        before, now, after = (function(t) for t in (-STEP, mpmath.mpf(0), STEP))
        found = now, (after - before) / (2 * STEP), (after - 2 * now + before) / STEP**2
    return tuple(np.asarray(x, dtype=float) for x in found)


def along(q: Any, qd: Any, qdd: Any, t: Any) -> Any:
    """Where the motion q + qd t + qdd t^2 / 2 is."""
    return exact(q) + exact(qd) * t + exact(qdd) * t * t / 2


def exact(values: Any) -> Any:
    """Numbers as an array of mpmath numbers."""
    return np.array([mpmath.mpf(x) for x in np.ravel(values)], dtype=object).reshape(np.shape(values))


def particles(tree: Tree, payload: Any) -> tuple[Any, list[Any]]:
    """The masses of all particles, body after body, and for each body the positions (4, k) of its own."""
    masses, places = [], []
    for body in tree.bodies:
        own, at = particles_of(body)
        if payload is not None and tree.frame(payload[1]).body == body.name:
            point = exact(tree.frame(payload[1]).pose) @ exact([*payload[2], 1.0])
            own, at = np.append(own, mpmath.mpf(payload[0])), np.column_stack([at, point])
        masses.append(own)
        places.append(at)
    return np.concatenate(masses), places


def particles_of(body: Body) -> tuple[Any, Any]:
    """Seven particles of a body: pairs on the principal axes, a metre to both sides of the centre, and what is left in
    the centre.
    """
    inertia, center = exact(body.inertia), exact(body.center)
    second = (inertia[0, 0] + inertia[1, 1] + inertia[2, 2]) / 2 * exact(np.eye(3)) - inertia
    values, vectors = mpmath.eigsy(mpmath.matrix((second + second.T) / 2))
    axes = np.array(vectors.tolist(), dtype=object).reshape(3, 3)
    halves = np.array(list(values), dtype=object) / 2
    at = np.column_stack([center[:, None] + axes, center[:, None] - axes, center])
    masses = np.concatenate([halves, halves, [mpmath.mpf(body.mass or 0) - 2 * halves.sum()]])
    return masses, np.vstack([at, exact(np.ones((1, 7)))])


def positions(tree: Tree, q: Any, root: Any, places: list[Any]) -> Any:
    """Where the particles (3, all) are."""
    return np.concatenate([(pose @ at)[:3] for pose, at in zip(body_poses(tree, q, root), places, strict=True)], axis=1)


def body_poses(tree: Tree, q: Any, root: Any) -> list[Any]:
    """The poses (4, 4) of the bodies."""
    poses = [root]
    for joint, parent, own in zip(tree.joints, tree.parents, tree.q_slices, strict=True):
        poses.append(poses[parent] @ exact(joint.placement) @ joint_pose(joint.motion, q[own]))
    return poses


def joint_pose(motion: JointKind, q: Any) -> Any:
    pose = exact(np.eye(4))
    if type(motion) is JointKind:
        return pose
    if not isinstance(motion, (Revolute, Prismatic, Helical)):
        raise NotImplementedError(f"the particle oracle does not know {motion.word} joints")
    axis = exact(motion.axis)
    axis = axis / mpmath.sqrt((axis * axis).sum())
    if not isinstance(motion, Prismatic):
        x, y, z = axis
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], dtype=object)
        pose[:3, :3] = pose[:3, :3] + mpmath.sin(q[0]) * skew + (1 - mpmath.cos(q[0])) * (skew @ skew)
    if not isinstance(motion, Revolute):
        pose[:3, 3] = axis * q[0] * (motion.pitch if isinstance(motion, Helical) else 1)
    return pose
