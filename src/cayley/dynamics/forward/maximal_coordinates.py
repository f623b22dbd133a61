"""Forward dynamics of trees with joints of every kind from free bodies: Newton's and Euler's laws for each, and what
the joints demand.

Everything is in the root's axes, and nothing is shared with the recursive methods. Bodies that fixed joints hold
together are one.

    c, m, I, w     of a body, as in `cayley.dynamics.forward.maximal_coordinates`
    a, e       acceleration of the centre, angular acceleration         o       origin of the child's frame of a joint
    f, n       force and moment about o that the joint gives the child  qdd     accelerations of the joint

    angular    e - e_p - turn qdd                 = what velocities give
    origin     (a at o) - (a_p at o) - slide qdd  = what velocities give
    Newton     m a - f + sum of f that children take                                = m g + what acts from outside
    Euler      I e - n - (o - c) x f + sum of n + (o' - c) x f that children take   = - w x I w + what acts from outside
    power      slide.f + turn.n + rotor qdd       = tau
The unknowns f and n are the multipliers of the first two rows. In this order of the rows, from the tips inwards,
elimination meets 1, 1, -1, -1 and what the joint feels of the bodies beyond it. Source: spec S1-62, R4.6, for every
kind of joint.

The bodies of a tree, each by itself: where they are in the root's axes, and how their joints let them move.

    c, m, I    centre of mass, mass and central inertia of a body       w       its angular velocity
    o          origin of the child's frame of its joint
Bodies that fixed joints hold together are one. Nothing here is shared with the recursive methods: it is what they are
tested with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import Row, solve_rows
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.rigid_links.links import joined_moments
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import skew
from cayley.kinematics.forward import body_poses
from cayley.model.constraints import check_independent
from cayley.model.masses import check_has_masses, rigid_groups
from cayley.model.tree import Tree

_SAME = np.eye(3)


class Solution(NamedTuple):
    """Accelerations (nv); of each body that moves the accelerations (N, 6), (a; e), of its centre of mass; and the
    wrenches (N, 6), (f; n), that its joint gives it, about the origin of the joint's child: all in the root's axes."""

    qdd: Array
    accelerations: Array
    joint_wrenches: Array


class Equations(NamedTuple):
    """Rows by column, and right-hand sides; `places` has for each body the columns of e, a, f, n and qdd."""

    rows: list[Row]
    right: list[Any]
    places: list[tuple[int, int, int, int, int]]

    @property
    def matrix(self) -> Array:
        """Of numbers, the zeros included."""
        found = np.zeros((len(self.rows), len(self.rows)))
        for i, row in enumerate(self.rows):
            found[i, list(row)] = list(row.values())
        return found


def forward_dynamics(tree: Tree, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
                     wrenches: Iterable[tuple[int, Any]] = ()) -> Array:
    """The accelerations (nv) that the forces `tau` give at the state (`q`, `qd`).

    Raises `SingularityError` that names the joint, if one moves no inertia. `rotors`: inertia (nv) that the velocities
    of the joints have beside that of the bodies. `wrenches`: the numbers of bodies of the tree, and what acts on them
    from outside: (f; m) about the body's origin, in the root's axes.
    """
    return solution(tree, q, qd, tau, rotors=rotors, wrenches=wrenches).qdd


def solution(tree: Tree, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
             wrenches: Iterable[tuple[int, Any]] = ()) -> Solution:
    """The same, with the accelerations of the bodies and the wrenches in the joints."""
    bodies = free_bodies(tree, q, qd)
    system = equations(tree, bodies, q, tau, np.zeros(tree.nv) + rotors, wrenches)
    found = solve_rows(system.rows, system.right, named=lambda k: _unknown(tree, system, k))
    qdd: list[Any] = [0.0] * tree.nv
    for body, (*_, start) in zip(bodies, system.places, strict=True):
        qdd[body.columns] = found[start:start + body.columns.stop - body.columns.start]
    moved = [[*found[a:a + 3], *found[e:e + 3]] for e, a, *_ in system.places]
    given = [[*found[f:f + 3], *found[n:n + 3]] for _, _, f, n, _ in system.places]
    return Solution(np.array(qdd), np.array(moved), np.array(given))


def _unknown(tree: Tree, system: Equations, k: int) -> str:
    # the first body is the last in the order of the rows
    number = next(i for i, (first, *_) in enumerate(system.places) if first <= k)
    joint = tree.joints[rigid_groups(tree)[number + 1][0] - 1]
    return (f"the acceleration of joint {joint.name!r} of {tree.name}: it moves no inertia. Give mass to what it "
            f"carries, or fix it")


# The equations


def equations(tree: Tree, bodies: list[FreeBody], q: Array, tau: Array, rotors: Array,
              wrenches: Iterable[tuple[int, Any]] = ()) -> Equations:
    """All equations, the outermost bodies first."""
    check_independent(tree, "equations of free bodies")
    places = _places(bodies)
    system = Equations([{} for _ in range(12 * len(bodies) + tree.nv)], [0.0] * (12 * len(bodies) + tree.nv), places)
    outside = _outside(tree, bodies, q, wrenches)
    for number, body in enumerate(bodies):
        above = None if body.parent == ROOT else (bodies[body.parent], places[body.parent])
        _joint_equations(system, body, places[number], above)
        _motion_equations(system, body, places[number], tree.gravity, outside[number])
        _power_equations(system, body, places[number], tau[body.columns], rotors[body.columns])
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


def _joint_equations(system: Equations, body: FreeBody, at: tuple[int, ...],
                     above: tuple[FreeBody, tuple[int, ...]] | None) -> None:
    """How the joint lets the body move in its parent, differentiated twice; and the joint's wrench on the parent."""
    e, a, f, n, qdd = at
    arm = body.o - body.c
    _put(system, e, e, _SAME)
    _put(system, a, a, _SAME)
    _put(system, a, e, -skew(arm))
    _put(system, e, qdd, -body.turn)
    _put(system, a, qdd, -body.slide)
    swung = -np.cross(body.w, np.cross(body.w, arm))
    if above is None:
        _right(system, e, body.drift[1])
        _right(system, a, body.drift[0] + swung)
        return
    parent, (e_p, a_p, f_p, n_p, _) = above
    arm = body.o - parent.c
    _put(system, e, e_p, -_SAME)
    _put(system, a, a_p, -_SAME)
    _put(system, a, e_p, skew(arm))
    _right(system, e, body.drift[1])
    _right(system, a, body.drift[0] + swung + np.cross(parent.w, np.cross(parent.w, arm) + body.speed))
    _put(system, f_p, f, _SAME)
    _put(system, n_p, n, _SAME)
    _put(system, n_p, f, skew(arm))


def _motion_equations(system: Equations, body: FreeBody, at: tuple[int, ...], gravity: Array, outside: Array) -> None:
    """Newton's and Euler's laws."""
    e, a, f, n, _ = at
    _put(system, f, a, body.m * _SAME)
    _put(system, f, f, -_SAME)
    _put(system, n, e, body.I)
    _put(system, n, n, -_SAME)
    _put(system, n, f, -skew(body.o - body.c))
    _right(system, f, body.m * gravity + outside[:3])
    _right(system, n, outside[3:] - np.cross(body.w, body.I @ body.w))


def _power_equations(system: Equations, body: FreeBody, at: tuple[int, ...], tau: Array, rotors: Array) -> None:
    """The joint's wrench does the work of the joint's force."""
    _, _, f, n, qdd = at
    _put(system, qdd, f, body.slide.T)
    _put(system, qdd, n, body.turn.T)
    _put(system, qdd, qdd, np.diag(rotors))
    _right(system, qdd, tau)


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


def _put(system: Equations, row: int, column: int, block: ArrayLike) -> None:
    """A block of coefficients; constants that are zero are left out."""
    for (i, j), entry in np.ndenumerate(np.asarray(block)):
        if not (isinstance(entry, float) and entry == 0.0):
            system.rows[row + i][column + j] = entry


def _right(system: Equations, row: int, values: Array) -> None:
    for i, value in enumerate(values):
        system.right[row + i] = value


ROOT = -1


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
