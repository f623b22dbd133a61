"""Plain products of elementary matrices, written out by hand: the oracle of the tests of tables and axes."""

import numpy as np
from scipy.linalg import expm


def rot(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    T = np.eye(4)
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def tran(x=0.0, y=0.0, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def row_pose(convention, theta, d, a, alpha):
    if convention == "standard":
        return rot("z", theta) @ tran(z=d) @ tran(x=a) @ rot("x", alpha)
    return tran(x=a) @ rot("x", alpha) @ tran(z=d) @ rot("z", theta)


def table_poses(table, q):
    """Frames 0 to n and the tool, by elementary products, at one configuration."""
    frames = [np.array(table.base)]
    for row, q_i in zip(table.rows, q, strict=True):
        theta, d = (row.theta + q_i, row.d) if row.kind == "revolute" else (row.theta, row.d + q_i)
        frames.append(frames[-1] @ row_pose(table.convention, theta, d, row.a, row.alpha))
    return frames, frames[-1] @ table.tool


def hat_twist(twist):
    v, (x, y, z) = twist[:3], twist[3:]
    out = np.zeros((4, 4))
    out[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    out[:3, 3] = v
    return out


def exponentials(twists, home, q):
    """The product of exponentials by SciPy's matrix exponential, (..., 4, 4)."""
    q = np.asarray(q, dtype=float)
    T = np.eye(4)
    for i, twist in enumerate(twists):
        T = T @ expm(hat_twist(np.asarray(twist)) * q[..., i, None, None])
    return T @ home


def twist_of_line(line):
    point, e = np.asarray(line.point), np.asarray(line.direction)
    return np.concatenate([np.cross(point, e), e] if line.kind == "revolute" else [e, np.zeros(3)])


def tree_poses(tree, q):
    """The pose of every body and frame by name, with turns from SciPy's matrix exponential."""
    where = {tree.bodies[0].name: np.eye(4)}
    for joint, part in zip(tree.joints, tree.q_slices, strict=True):
        moved = np.eye(4)
        word = joint.motion.word
        if word in ("revolute", "continuous"):
            moved = expm(hat_twist(np.concatenate([np.zeros(3), joint.motion.axis])) * q[part][0])
        elif word == "prismatic":
            moved = tran(*(np.asarray(joint.motion.axis) * q[part][0]))
        else:
            assert word == "fixed", word
        where[joint.child] = where[joint.parent] @ joint.placement @ moved
    return where | {f.name: where[f.body] @ f.pose for f in tree.frames}
