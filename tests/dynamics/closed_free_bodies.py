"""All bodies of a closed mechanism cut free: what its joints and loops must give them for a motion, by NumPy alone.

Unknown are the wrench of every joint (on the child, at its origin and in its axes), of every loop (on the second frame)
and rod, the forces of drives, and of couplings. Newton's and Euler's equations of every body, and that a joint gives
nothing along its directions but the force of its drive, are one linear system; what its null space moves, the motion
does not tell.
"""

from typing import NamedTuple

import numpy as np

from cayley.model.constraint_kinds import Coupling, Loop, Rod
from cayley.model.constraints import constraints_of


class Cut(NamedTuple):
    """Wrenches (rows, 6) of the moving joints, loops and rods, forces tau (nv), and which of them are determined."""

    wrenches: np.ndarray
    known: np.ndarray
    tau: np.ndarray
    tau_known: np.ndarray
    residual: float


def hat(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0.0]])


def felt(pose, about):
    """(6, 6): a wrench in the axes and at the origin of a frame, as force and moment about a point in the world."""
    R, p = pose[:3, :3], pose[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [hat(p - about) @ R, R]])


def cut_free(arm, q, qd, qdd, *, tau=None):
    """`tau`: the forces of the drives, if they are not asked for."""
    joints, tree = arm.joints, arm.tree

    def pose(frame):
        return np.asarray(arm.pose.of(frame).reference(q), dtype=float)

    joining = [each for each in constraints_of(tree) if isinstance(each, Loop | Rod)]
    couplings = [each for each in constraints_of(tree) if isinstance(each, Coupling)]
    wrench_at = {("joint", j.name): 6 * k for k, j in enumerate(joints)}
    wrench_at |= {("join", each.name): 6 * (len(joints) + k) for k, each in enumerate(joining)}
    first_drive = 6 * len(wrench_at)
    drives = list(tree.actuated_velocities) if tau is None else []
    first_coupling = first_drive + len(drives)
    size = first_coupling + len(couplings)
    rows, right = [], []

    def equation(blocks, value):
        row = np.zeros((len(np.atleast_1d(value)), size))
        for place, block in blocks:
            row[:, place:place + block.shape[1]] += block
        rows.append(row)
        right.append(np.atleast_1d(value))

    for body in arm.bodies[1:]:
        T = pose(body.name)
        R, center = T[:3, :3], T[:3, :3] @ body.center + T[:3, 3]
        w = arm.twist.of(body.name, axes="world").reference(q, qd)[3:]
        a, dw = np.split(arm.acceleration.of(body.name, axes="world").reference(q, qd, qdd), 2)
        arc = center - T[:3, 3]
        inertia = R @ body.inertia @ R.T
        needed = np.concatenate([
            body.mass * (a + np.cross(dw, arc) + np.cross(w, np.cross(w, arc)) - arm.gravity),
            inertia @ dw + np.cross(w, inertia @ w)])
        blocks = [(wrench_at["joint", j.name], sign * felt(pose(j.child), center))
                  for j in joints for name, sign in ((j.child, 1), (j.parent, -1)) if name == body.name]
        for each in joining:
            for frame, sign in ((each.second, 1), (each.first, -1)):
                if arm.tree.frame(frame).body == body.name:
                    blocks.append((wrench_at["join", each.name], sign * felt(pose(each.second), center)))
        equation(blocks, needed)
    for joint, place, own in zip(joints, tree.q_slices, tree.v_slices, strict=True):
        S = np.asarray(joint.motion.subspace(q[place]), dtype=float)
        given = np.zeros(joint.motion.nv) if tau is None else np.asarray(tau)[own]
        blocks = [(wrench_at["joint", joint.name], S.T)]
        blocks += [(first_drive + drives.index(k), -np.eye(joint.motion.nv)[:, [k - own.start]])
                   for k in range(own.start, own.stop) if k in drives]
        blocks += [(first_coupling + n, -np.full((1, 1), dict(zip(c.joints, c.coefficients, strict=True))[joint.name]))
                   for n, c in enumerate(couplings) if joint.name in c.joints]
        if joint.motion.nv:
            equation(blocks, given)
    for each in joining:
        place = wrench_at["join", each.name]
        if isinstance(each, Loop):
            S = np.asarray(each.motion.subspace(each.motion.neutral), dtype=float)
            if S.size:
                equation([(place, S.T)], np.zeros(S.shape[1]))
        else:
            T = pose(each.second)
            along = T[:3, :3].T @ (T[:3, 3] - pose(each.first)[:3, 3])
            across = np.linalg.svd(along[None])[2][1:]
            equation([(place, np.block([[across, np.zeros((2, 3))], [np.zeros((3, 3)), np.eye(3)]]))], np.zeros(5))
    E, r = np.concatenate(rows), np.concatenate(right)
    U, values, V = np.linalg.svd(E)
    rank = int((values > 1e-9 * values[0]).sum())
    x = V[:rank].T @ ((U[:, :rank].T @ r) / values[:rank])
    known = np.abs(V[rank:]).max(axis=0, initial=0.0) < 1e-7
    moving = [k for k, joint in enumerate(joints) if joint.motion.nv] + [
        len(joints) + k for k, _ in enumerate(joining)]
    forces, forces_known = np.zeros(tree.nv), np.ones(tree.nv, dtype=bool)
    forces[drives], forces_known[drives] = x[first_drive:first_coupling], known[first_drive:first_coupling]
    return Cut(x[:first_drive].reshape(-1, 6)[moving], known[:first_drive].reshape(-1, 6)[moving], forces,
               forces_known, float(np.abs(E @ x - r).max()))
