"""An arm whose tool goes through poses: its rotations on cubics in vector-parameters, its point on polynomials, and its
joints at knots from inverse kinematics, with the rates that the tool has.

    O(t) = O_i O(c(t))        rotations between poses, c a cubic: two poses, or all at once with continuous rates
    p(t)                      splines of degree five, at rest at both ends
    q(t)                      at knots: (v; w) = J qd,   (vd; wd) = J qdd + Jd qd; degree five between them
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import SingularityError, UnreachableError
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.kinematics.frame_kernels import pose_matrix
from cayley.kinematics.inverse.bounds import bounds_of
from cayley.kinematics.inverse.numeric import inverse_kinematics
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.velocity import acceleration
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.planning.poses.vector_parameter_curves import rotation_cubic, rotation_cubics
from cayley.planning.splines.polynomials import through_knots
from cayley.planning.splines.splines import quintic_spline

_KNOTS = 32  # between two poses
_TURN = 2 * np.pi
_SINGULAR = 1e-6  # of the largest singular value of J: what a motion asks of it in that direction is out of reach
_LEFT = 1e-7  # of the tool's rates that the joints do not give


def follow_tool(tree: Tree, poses: Array, times: Array, frame: str, start: Array) -> Motion:
    """The motion of an arm from a configuration (nq), whose tool is then at poses (k, 4, 4) in the root's frame, at
    times (k + 1) [s], the first of them that of the start; at rest at both ends."""
    here = np.asarray(pose_matrix(tree, start, frame, relative_to="world"), dtype=float)
    goals = np.concatenate([here[None], poses])
    turning = (rotation_cubic if len(goals) == 2 else rotation_cubics)(times, goals[:, :3, :3])
    going = quintic_spline(times, goals[:, :3, 3])
    t = np.concatenate([*[np.linspace(a, b, _KNOTS, endpoint=False) for a, b in pairwise(times)], times[-1:]])
    q, qd, qdd = [start], [], []
    for k, time in enumerate(t):
        R, w, wd = turning(float(time))
        p, v, vd = going(float(time))
        O = np.asarray(matrix_from_quaternion(R))
        if k:
            q.append(_solved(tree, O, p, frame, q[-1], time))
        J = np.asarray(general_jacobian(tree, q[-1], frame, axes="world"), dtype=float)
        qd.append(_rates(tree, J, np.concatenate([v, O @ w]), frame, time))
        carried = np.asarray(acceleration(tree, q[-1], qd[-1], np.zeros(tree.nv), frame, axes="world"), dtype=float)
        qdd.append(_rates(tree, J, np.concatenate([vd, O @ wd]) - carried, frame, time))
    return through_knots(t, np.array(q), np.array(qd), np.array(qdd))


def _solved(tree: Tree, R: Array, p: Array, frame: str, before: Array, time: float) -> Array:
    pose = np.eye(4)
    pose[:3, :3] = R
    pose[:3, 3] = p
    found = inverse_kinematics(tree, pose, frame, start=before, tolerance=1e-12, restarts=0)
    if not found.solved:
        raise UnreachableError(f"{frame!r} of {tree.name} does not reach the pose at t = {time:.6g} s, {found.reason}: "
                               f"{found.residual:.2g} away; move the poses, or the platform nearer")
    bounds = bounds_of(tree, frame, limits=True)
    nearer = np.where(bounds.turns, found.q - _TURN * np.round((found.q - before) / _TURN), found.q)
    return np.where((nearer >= bounds.lower) & (nearer <= bounds.upper), nearer, found.q)


def _rates(tree: Tree, J: Array, wanted: Array, frame: str, time: float) -> Array:
    """The least rates (nv) of the joints that give the tool its own (6)."""
    found = np.linalg.lstsq(J, wanted, rcond=_SINGULAR)[0]
    if np.abs(J @ found - wanted).max() > _LEFT * (1.0 + np.abs(wanted).max()):
        raise SingularityError(f"{tree.name} is at a singular posture at t = {time:.6g} s, where its joints do not "
                               f"move {frame!r} as the poses ask: move the poses")
    return found
