"""Forward dynamics of trees by articulated bodies: work that grows with the number of joints, for long chains.

The articulated body of a link is all that it carries, with joints that give way. To accelerate it by (a; dw) at its
origin takes

    (f; n) = (m, H; H^T, I) (a; dw) + (f0; n0)
    U = inertia times the joint's directions
    D = what they ask of the joint itself
    rest = what is left of the joint's force
Source: Featherstone 1983; Balafoutis & Patel, section 6.2.3; spec S1-60. The accelerations are true ones of the
origins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array
from cayley.dynamics.inverse.newton_euler import JointLoad, Movement, acceleration_tensor, at_rest, turning_moment
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.geometry.tensors.cross import skew


class Articulated(NamedTuple):
    """The inertia of an articulated body: blocks m, H, I (3, 3), m and I symmetric; and the force and moment that it
    takes anyway."""

    m: Array
    H: Array
    I: Array
    f: Array
    n: Array

    def plus(self, other: Articulated) -> Articulated:
        return Articulated(*[a + b for a, b in zip(self, other, strict=True)])

    @property
    def matrix(self) -> Array:
        return np.concatenate([np.concatenate([self.m, self.H], axis=1), np.concatenate([self.H.T, self.I], axis=1)])

    @property
    def bias(self) -> Array:
        return np.concatenate([self.f, self.n])


class Acceleration(NamedTuple):
    """The acceleration of the origin of a link, and of its turning, in its own axes."""

    a: Array
    dw: Array


class JointFactor(NamedTuple):
    """The effect of a joint on the articulated body behind it."""

    U: Array
    D: Array
    rest: Array


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
                     base: Movement | None = None, loads: Iterable[tuple[int, JointLoad]] = ()) -> Array:
    """The accelerations (nv) that the forces `tau` give at the state (`q`, `qd`); the options are those of `solve`."""
    root = at_rest(links, base)
    w, c = _velocities(links, q, qd, root)
    bodies = [_own_body(link, w_i) for link, w_i in zip(links.links, w, strict=True)]
    for number, load in loads:
        if number != ROOT:
            bodies[number] = bodies[number]._replace(f=bodies[number].f - load.f, n=bodies[number].n - load.n)
    return _accelerations(links, q, root, c, _swept(links, q, bodies, c, tau, rotors))


def joint_inertias(links: Links, q: Array, *, rotors: Array | float = 0.0) -> list[Any]:
    """D of each joint: what it feels of the articulated body behind it.

    Their pivots are those of the inertia matrix."""
    bodies = [_own_body(link, np.zeros(3)) for link in links.links]
    none = [np.zeros(6) for _ in links.links]
    return [factor.D for factor in _swept(links, q, bodies, none, np.zeros(links.nv), rotors)]


def _swept(links: Links, q: Array, bodies: list[Articulated], c: list[Any], tau: Array,
           rotors: Array | float) -> list[JointFactor]:
    """From the tips inwards, what each joint does to the articulated body behind it; `bodies` are the links' own at
    first."""
    extra = np.zeros(links.nv) + rotors
    factors: list[Any] = [None] * len(bodies)
    for number in reversed(range(len(bodies))):
        link = links.links[number]
        factors[number] = _joint_factor(link, q, bodies[number], tau[link.columns], extra[link.columns])
        if link.parent != ROOT:
            seen = _through_joint(bodies[number], factors[number], c[number])
            bodies[link.parent] = bodies[link.parent].plus(_in_parent(link, seen, q))
    return factors


def _velocities(links: Links, q: Array, qd: Array, root: Movement) -> tuple[list[Any], list[Any]]:
    """The angular velocity of each link, and the acceleration (a; dw) that velocities alone give it beyond its
    parent's."""
    w: list[Any] = []
    c: list[Any] = []
    for link in links.links:
        parent = root.w if link.parent == ROOT else w[link.parent]
        slide, turn = np.split(link.twist(q, qd[link.columns]), 2)
        before = link.outwards(parent, q)
        swung = link.outwards(acceleration_tensor(parent, np.zeros(3)) @ link.offset(q), q)
        own = np.concatenate([swung + np.cross(2 * before + turn, slide), np.cross(before, turn)])
        c.append(own if link.motion.constant_subspace
                 else own + link.motion.bias(q[link.coordinates], qd[link.columns]))
        w.append(before + turn)
    return w, c


def _own_body(link: Link, w: Array) -> Articulated:
    m, u, _ = link.moments
    W = acceleration_tensor(w, np.zeros(3))
    n = turning_moment(Movement(w, np.zeros(3), W, None), link.moments.second)
    return Articulated(m * np.eye(3), -skew(u), link.moments.inertia, W @ u, n)


def _joint_factor(link: Link, q: Array, body: Articulated, tau: Array, rotors: Array | float) -> JointFactor:
    S = link.subspace(q)
    U = body.matrix @ S
    return JointFactor(U, S.T @ U + np.diag(rotors), tau - S.T @ body.bias)


def _through_joint(body: Articulated, factor: JointFactor, c: Array) -> Articulated:
    """The body as its parent feels it, through the joint that gives way."""
    U, D, rest = factor
    matrix = body.matrix - U @ ldl_solve(D, U.T)
    bias = body.bias + matrix @ c + U @ ldl_solve(D, rest)
    return Articulated(matrix[:3, :3], matrix[:3, 3:], matrix[3:, 3:], bias[:3], bias[3:])


def _in_parent(link: Link, body: Articulated, q: Array) -> Articulated:
    """The body about the origin of the parent, in the parent's axes."""
    s = skew(link.offset(q))
    m = link.inwards_both(body.m, q)
    f = link.inwards(body.f, q)
    turned = np.stack([link.inwards(row, q) for row in np.stack([link.inwards(h, q) for h in body.H.T], axis=1)])
    H = turned - m @ s
    I = link.inwards_both(body.I, q) - turned.T @ s + s @ H
    return Articulated(m, H, I, f, link.inwards(body.n, q) + s @ f)


def _accelerations(links: Links, q: Array, root: Movement, c: list[Any], factors: list[JointFactor]) -> Array:
    found: list[Acceleration] = []
    vd = []
    for link, c_i, factor in zip(links.links, c, factors, strict=True):
        a, dw = Acceleration(root.a, root.dw) if link.parent == ROOT else found[link.parent]
        before = np.concatenate([link.outwards(a + np.cross(dw, link.offset(q)), q), link.outwards(dw, q)]) + c_i
        vd.append(ldl_solve(factor.D, factor.rest - factor.U.T @ before))
        moved = before + link.subspace(q) @ vd[-1]
        found.append(Acceleration(moved[:3], moved[3:]))
    return np.concatenate(vd or [np.zeros(0)])
