"""Forward dynamics of trees with joints of every kind from free bodies: Newton's and Euler's laws for each, and what
the joints demand.

Everything is in the root's axes. Bodies that fixed joints hold together are one. Nothing is shared with the recursive
methods: it is what they are tested with.

    c, m, I    centre of mass, mass and central inertia of a body       w       its angular velocity
    a, e       acceleration of the centre, angular acceleration         o       origin of the child's frame of a joint
    f, n       force and moment about o that the joint gives the child  qdd     accelerations of the joint

    angular    e - e_p - turn qdd                 = what velocities give
    origin     (a at o) - (a_p at o) - slide qdd  = what velocities give
    Newton     m a - f + sum of f that children take                                = m g + what acts from outside
    Euler      I e - n - (o - c) x f + sum of n + (o' - c) x f that children take   = - w x I w + what acts from outside
    power      slide.f + turn.n + rotor qdd       = tau
The unknowns f and n are the multipliers of the first two rows. In this order of the rows, from the tips inwards,
elimination meets 1, 1, -1, -1 and what the joint feels of the bodies beyond it. Source: spec S1-62, R4.6."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import Row, solve_rows
from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import joined_moments
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import skew
from cayley.kinematics.forward import body_poses
from cayley.model.constraints import check_independent
from cayley.model.masses import check_has_masses, rigid_groups
from cayley.model.tree import Tree

ROOT = -1
_SAME = np.eye(3)


class MaximalMotion(NamedTuple):
    """Accelerations (nv); of each body that moves the accelerations (N, 6), (a; e), of its centre of mass; and the
    wrenches (N, 6), (f; n), that its joint gives it, about the origin of the joint's child: all in the root's axes."""

    qdd: Array
    accelerations: Array
    joint_wrenches: Array


class SparseEquations(NamedTuple):
    """Rows by column, and right-hand sides; `places` has for each body the columns of e, a, f, n and qdd."""

    rows: list[Row]
    right: list[Any]
    places: list[tuple[int, int, int, int, int]]


def forward_dynamics(tree: Tree, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
                     wrenches: Iterable[tuple[int, Any]] = ()) -> Array:
    """The accelerations (nv) that the forces `tau` give at the state (`q`, `qd`).

    Raises `SingularityError` that names the joint, if one moves no inertia. `rotors`: inertia (nv) that the velocities
    of the joints have beside that of the bodies. `wrenches`: the numbers of bodies of the tree, and what acts on them
    from outside: (f; m) about the body's origin, in the root's axes."""
    return solution(tree, q, qd, tau, rotors=rotors, wrenches=wrenches).qdd


def solution(tree: Tree, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
             wrenches: Iterable[tuple[int, Any]] = ()) -> MaximalMotion:
    """The same, with the accelerations of the bodies and the wrenches in the joints."""
    bodies = free_bodies(tree, q, qd)
    system = equations(tree, bodies, q, tau, np.zeros(tree.nv) + rotors, wrenches)
    found = solve_rows(system.rows, system.right, named=lambda k: _unknown(tree, system, k))
    qdd: list[Any] = [0.0] * tree.nv
    for body, (*_, start) in zip(bodies, system.places, strict=True):
        qdd[body.columns] = found[start:start + body.columns.stop - body.columns.start]
    moved = [[*found[a:a + 3], *found[e:e + 3]] for e, a, *_ in system.places]
    given = [[*found[f:f + 3], *found[n:n + 3]] for _, _, f, n, _ in system.places]
    return MaximalMotion(np.array(qdd), np.array(moved), np.array(given))


def _unknown(tree: Tree, system: SparseEquations, k: int) -> str:
    # the first body is the last in the order of the rows
    number = next(i for i, (first, *_) in enumerate(system.places) if first <= k)
    joint = tree.joints[rigid_groups(tree)[number + 1][0] - 1]
    return (f"the acceleration of joint {joint.name!r} of {tree.name}: it moves no inertia. Give mass to what it "
            f"carries, or fix it")


def equations(tree: Tree, bodies: list[FreeBody], q: Array, tau: Array, rotors: Array,
              wrenches: Iterable[tuple[int, Any]] = ()) -> SparseEquations:
    """All equations, the outermost bodies first."""
    check_independent(tree, "equations of free bodies")
    places = _places(bodies)
    size = 12 * len(bodies) + tree.nv
    system = SparseEquations([{} for _ in range(size)], [0.0] * size, places)
    for body, outside, (e, a, f, n, qdd) in zip(bodies, _outside(tree, bodies, q, wrenches), places, strict=True):
        arm = body.o - body.c
        gained = body.drift[0] - np.cross(body.w, np.cross(body.w, arm))
        blocks = [(e, e, _SAME), (e, qdd, -body.turn), (a, a, _SAME), (a, e, -skew(arm)), (a, qdd, -body.slide),
                  (f, a, body.m * _SAME), (f, f, -_SAME), (n, e, body.I), (n, n, -_SAME), (n, f, -skew(arm)),
                  (qdd, f, body.slide.T), (qdd, n, body.turn.T), (qdd, qdd, np.diag(rotors[body.columns]))]
        if body.parent != ROOT:
            parent, (e_p, a_p, f_p, n_p, _) = bodies[body.parent], places[body.parent]
            arm = body.o - parent.c
            gained = gained + np.cross(parent.w, np.cross(parent.w, arm) + body.speed)
            blocks += [(e, e_p, -_SAME), (a, a_p, -_SAME), (a, e_p, skew(arm)), (f_p, f, _SAME), (n_p, n, _SAME),
                       (n_p, f, skew(arm))]
        for row, column, block in blocks:
            _put(system, row, column, block)
        turned = outside[3:] - np.cross(body.w, body.I @ body.w)
        for row, values in ((e, body.drift[1]), (a, gained), (f, body.m * tree.gravity + outside[:3]), (n, turned),
                            (qdd, tau[body.columns])):
            system.right[row:row + len(values)] = list(values)
    return system


def _places(bodies: list[FreeBody]) -> list[tuple[int, int, int, int, int]]:
    """The columns of e, a, f, n and qdd of each body, and the rows that belong to them: angular, origin, Newton, Euler,
    power."""
    found = []
    start = 0
    for body in reversed(bodies):
        found.append((start, start + 3, start + 6, start + 9, start + 12))
        start += 12 + body.columns.stop - body.columns.start
    return found[::-1]


def _outside(tree: Tree, bodies: list[FreeBody], q: Array, wrenches: Iterable[tuple[int, Any]]) -> list[Any]:
    """For each free body the wrench (f; m) about its centre of mass that acts on it."""
    found: list[Any] = [np.zeros(6) for _ in bodies]
    number = {body: g - 1 for g, group in enumerate(rigid_groups(tree)) for body in group}
    poses = body_poses(tree, q)
    for body, wrench in wrenches:
        if number[body] != ROOT:
            arm = poses[body].p - bodies[number[body]].c
            found[number[body]] = found[number[body]] + np.concatenate([
                wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])
    return found


def _put(system: SparseEquations, row: int, column: int, block: Array) -> None:
    """A block of coefficients; constants that are zero are left out."""
    for (i, j), entry in np.ndenumerate(block):
        if not (isinstance(entry, float) and entry == 0.0):
            system.rows[row + i][column + j] = entry


class FreeBody(NamedTuple):
    """A rigid body, its joint and how it moves, in the root's axes."""

    parent: int  # number of the free body, or ROOT
    columns: slice  # of its joint in the velocity
    o: Array
    c: Array
    m: Array
    I: Array
    w: Array
    slide: Array  # (3, k): velocity of o, in the parent, for unit velocities of the joint
    turn: Array  # (3, k)
    speed: Array  # velocity of o in the parent
    drift: tuple[Any, Any]  # acceleration of o and angular acceleration, in the parent, by the joint's own velocities


def free_bodies(tree: Tree, q: Array, qd: Array) -> list[FreeBody]:
    """The bodies that move, each with the fixed ones on it, and how they move."""
    check_has_masses(tree)
    poses = body_poses(tree, q)
    groups = rigid_groups(tree)
    number = {body: g - 1 for g, group in enumerate(groups) for body in group}
    found: list[FreeBody] = []
    for group in groups[1:]:
        parent = number[tree.parents[group[0] - 1]]
        before = np.zeros(3) if parent == ROOT else found[parent].w
        found.append(_free_body(tree, q, qd, poses[group[0]], group, parent, before))
    return found


def _free_body(tree: Tree, q: Array, qd: Array, pose: Pose, group: tuple[int, ...], parent: int,
               before: Array) -> FreeBody:
    joint = group[0] - 1
    (R, o) = pose
    motion = tree.joints[joint].motion
    own = q[tree.q_slices[joint]]
    columns = tree.v_slices[joint]
    directions = motion.subspace(own)
    rest = motion.bias(own, qd[columns])
    slide = R @ directions[:3]
    turn = R @ directions[3:]
    speed = slide @ qd[columns]
    spin = turn @ qd[columns]
    w = before + spin
    drift = (R @ rest[:3] + np.cross(w, speed), R @ rest[3:] + np.cross(w, spin))
    body = joined_moments(tree, group)
    return FreeBody(parent, columns, o, o + R @ body.center, body.mass, R @ body.inertia_about_center @ R.T, w, slide,
                    turn, speed, drift)
