"""Lagrange's equations of a chain whose coordinates are the vector-parameters of its joints, and their reduction to
joint coordinates.

    c          (n, 3), for each joint its vector-parameter, or its translation if it slides: 3n coordinates
    M_i^k      velocity of the mass centre of link i by the rate of c_k
    N_k        angular velocity by the rate of c_k
    T, H_V     kinetic energy 1/2 dc.H_V dc         h_V   Y_V + dT/dc - dH_V/dt dc          Y_V    forces of gravity
    H_V ddc = P_V + h_V
The model is that of spherical joints, and exact for them; revolute joints keep one component of each c. All is rational
in c. Source: Mladenova (126)-(140), corrected as in spec E-27 to E-30 (R-28, R-29); the derivatives are written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.vector_parameters import joint_coordinates, rate_map, reduced, rotation
from cayley.dynamics.rigid_links.links import Links
from cayley.geometry.tensors.cross import skew


class Place(NamedTuple):
    """A link and its joint in the root's axes, moving as the rates dc say."""

    slides: bool
    axes: Scalar  # those in which the joint's coordinates are components
    O: Scalar  # attitude of the link
    p: Scalar  # its origin
    G: Scalar  # its mass centre
    N: Scalar  # N_k
    rotated: Scalar  # the derivative of N(c) dc by c, in the root's axes
    dN: Scalar  # the time derivative of N_k
    w: Scalar
    v: Scalar  # of the origin
    u: Scalar  # of the mass centre


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) of a chain of revolute and prismatic joints, by way of H_V and h_V."""
    if not links.links:
        return np.zeros(0)
    H, h = joint_space_model(links, q, qd)
    return H @ qdd - h  # (140)


def joint_space_model(links: Links, q: Array, qd: Array, *, whole: bool = False) -> tuple[Any, Any]:
    """H(q) (n, n) and h(q, qd) (n), gravity included: H qdd = tau + h. `whole`: by the coordinates of the source, see
    `joint_coordinates`.

    >>> import cayley as cy
    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> joint_space_model(serial_chain(cy.load("s1_f2").tree), np.zeros(2), np.zeros(2))[0].round(4)
    array([[0.94, 0.24],
           [0.24, 0.09]])
    """
    S = joint_coordinates(links, q, whole=whole)
    dc = np.stack([row * rate for row, rate in zip(S.first, qd, strict=True)])
    return reduced(S, vector_parameter_inertia(links, S.c, fixed=S.fixed),
                   vector_parameter_bias(links, S.c, dc, fixed=S.fixed), qd)


def vector_parameter_inertia(links: Links, c: Array, *, fixed: Sequence[Any] | None = None) -> Array:
    """H_V (3n, 3n). `fixed`: the rotations before the joints, if other than those of their placements. Mladenova
    (126)-(132).

    H_V loses rank as a c grows without bound: there the joint is at a half-turn.
    """
    places = _places(links, c, 0 * c, fixed)
    of_links = [_of_link(links, i, _M(places, i), _N_bar(places, i)) for i in range(len(places))]
    return sum(of_links[1:], start=of_links[0])  # (132)


def vector_parameter_bias(links: Links, c: Array, dc: Array, *, fixed: Sequence[Any] | None = None) -> Array:
    """h_V (3n). Mladenova (138), (139)."""
    places = _places(links, c, dc, fixed)
    total = _gravity_force(links, places) - _changing_inertia(links, places) @ np.concatenate(list(dc))  # (139)
    return total + np.concatenate([_energy_slope(links, places, k) for k in range(len(places))])  # (139)


def vector_parameter_inverse(links: Links, c: Array, dc: Array, ddc: Array) -> Array:
    """P_V (n, 3): the generalised forces for c that give the accelerations ddc. Mladenova (140)."""
    return (vector_parameter_inertia(links, c) @ np.concatenate(list(ddc))
            - vector_parameter_bias(links, c, dc)).reshape(-1, 3)


def vector_parameter_forward(links: Links, c: Array, dc: Array, P: Array) -> Array:
    """ddc (n, 3) under the generalised forces P_V (n, 3).

    The condition of H_V grows with the square of c. So the equations are taken for the joints' angular accelerations
    e, whose inertia does not know of c: N^-T H_V N^-1 e = N^-T P_V + ..., ddc = N^-1 (e - dN/dt dc), with N^-1 = (1 + c
    c^T - c~)/2. Not defined where H_V is singular: massless spherical links, c infinite.
    """
    places = _places(links, c, dc, None)
    turning = [place._replace(N=place.axes) for place in places]
    H = sum((_of_link(links, i, _M(turning, i), _N_bar(turning, i)) for i in range(len(places))), start=0.0)
    forces = [own if place.slides else 0.5 * (own + (x @ own) * x + np.cross(x, own))
              for place, x, own in zip(places, c, P, strict=True)]
    e = ldl_solve(H, np.concatenate(forces) - _forces_at_rest(links, places, dc)).reshape(-1, 3)
    return np.stack([own if place.slides else
                     0.5 * (own + (x @ own) * x - np.cross(x, own)) + 2 / (1 + x @ x) * (x @ rate) * rate
                     for place, x, rate, own in zip(places, c, dc, e, strict=True)])


def _forces_at_rest(links: Links, places: list[Place], dc: Array) -> Array:
    """The forces (3n) in the axes of the joints, gravity included, that let none of them gain speed: Newton and
    Euler."""
    turn, gain = np.zeros(3), -np.asarray(links.gravity)  # accelerations: angular, and of the origin
    w = np.zeros(3)
    before = np.zeros(3)
    loads = []
    for link, place, rate in zip(links.links, places, dc, strict=True):
        arm = place.p - before
        gain = gain + np.cross(turn, arm) + np.cross(w, np.cross(w, arm))
        across = np.cross(w, place.N @ rate)
        gain, turn = (gain + 2 * across, turn) if place.slides else (gain, turn + across)
        w, before = place.w, place.p
        r = place.G - place.p
        J = place.O @ link.moments.inertia_about_center @ place.O.T
        loads.append((link.moments.mass * (gain + np.cross(turn, r) + np.cross(w, np.cross(w, r))),
                      J @ turn + np.cross(w, J @ w)))
    found = []
    for k, own in enumerate(places):
        beyond = list(zip(places[k:], loads[k:], strict=True))
        along = (sum(force for _, (force, _) in beyond) if own.slides
                 else sum(moment + np.cross(place.G - own.p, force) for place, (force, moment) in beyond))
        found.append(own.axes.T @ along)
    return np.concatenate(found)


def vector_parameter_energies(links: Links, c: Array, dc: Array) -> tuple[Any, Any]:
    """Kinetic energy (130), corrected as in spec E-29, and potential energy of gravity [J]."""
    places = _places(links, c, dc, None)
    kinetic = 0.0
    potential = 0.0
    for link, place in zip(links.links, places, strict=True):
        w = place.O.T @ place.w
        kinetic = kinetic + link.moments.mass * (place.u @ place.u) / 2 + w @ (link.moments.inertia_about_center
                                                                               @ w) / 2
        potential = potential - link.moments.mass * (links.gravity @ place.G)
    return kinetic, potential


def _places(links: Links, c: Array, dc: Array, fixed: Sequence[Any] | None) -> list[Place]:
    O = np.eye(3)
    p = np.zeros(3)
    w = np.zeros(3)
    v = np.zeros(3)
    found = []
    for k, link in enumerate(links.links):
        axes = O @ (link.placement[:3, :3] if fixed is None else fixed[k])  # (108)
        arm = O @ link.placement[:3, 3]  # (108)
        if link.is_prismatic:
            arm = arm + axes @ c[k]
            own = axes @ dc[k]
            p = p + arm  # (127)
            v = v + np.cross(w, arm) + own  # (127)
            O = axes
            N = axes
            dN = np.stack([np.cross(w, column) for column in axes.T], axis=1)
            rotated = None
        else:
            p = p + arm  # (127)
            v = v + np.cross(w, arm)  # (127)
            N = axes @ rate_map(c[k])  # (117)
            rotated = axes @ _rate_slope(c[k], dc[k])  # (117)
            dN = skew(w) @ N + axes @ _rate_change(c[k], dc[k])  # (134)
            O = axes @ rotation(c[k])  # (64)
            w = w + N @ dc[k]  # (64)
        r = O @ link.moments.center  # (127)
        found.append(Place(link.is_prismatic, axes, O, p, p + r, N, rotated, dN, w, v, v + np.cross(w, r)))
    return found


def _rate_change(c: Array, dc: Array) -> Array:
    """The time derivative of N(c)."""
    return 2 / (1 + c @ c) * (skew(dc) - (c @ dc) * rate_map(c))


def _rate_slope(c: Array, dc: Array) -> Array:
    """The derivative (3, 3) of N(c) dc by c, dc held."""
    return -2 / (1 + c @ c) * (skew(dc) + np.outer(rate_map(c) @ dc, c))


def _M(places: list[Place], i: int) -> Array:
    """(126), (127), corrected as in spec E-27: the arms start at the joints."""
    blocks = [np.zeros((3, 3))] * len(places)
    for k in range(i + 1):
        blocks[k] = places[k].N if places[k].slides else -skew(places[i].G - places[k].p) @ places[k].N  # (127)
    return np.concatenate(blocks, axis=1)


def _N_bar(places: list[Place], i: int) -> Array:
    """(128), (129), corrected as in spec E-28."""
    blocks = [np.zeros((3, 3))] * len(places)
    for k in range(i + 1):
        if not places[k].slides:
            blocks[k] = places[i].O.T @ places[k].N  # (129)
    return np.concatenate(blocks, axis=1)


def _M_change(places: list[Place], i: int) -> Array:
    blocks = [np.zeros((3, 3))] * len(places)
    for k in range(i + 1):
        own = places[k]
        link = places[i]
        blocks[k] = own.dN if own.slides else -skew(link.u - own.v) @ own.N - skew(link.G - own.p) @ own.dN  # (134)
    return np.concatenate(blocks, axis=1)


def _N_bar_change(places: list[Place], i: int) -> Array:
    blocks = [np.zeros((3, 3))] * len(places)
    for k in range(i + 1):
        if not places[k].slides:
            blocks[k] = places[i].O.T @ (places[k].dN - skew(places[i].w) @ places[k].N)  # (134)
    return np.concatenate(blocks, axis=1)


def _of_link(links: Links, i: int, M: Array, N: Array) -> Array:
    """Z_Vi, (131)."""
    moments = links.links[i].moments
    return moments.mass * (M.T @ M) + N.T @ (moments.inertia_about_center @ N)  # (131)


def _changing_inertia(links: Links, places: list[Place]) -> Array:
    """dH_V/dt."""
    total: Any = 0.0
    for i in range(len(places)):
        moments = links.links[i].moments
        half = moments.mass * (_M(places, i).T @ _M_change(places, i))  # (134)
        half = half + _N_bar(places, i).T @ (moments.inertia_about_center @ _N_bar_change(places, i))  # (134)
        total = total + half + half.T  # (134)
    return total


def _energy_slope(links: Links, places: list[Place], k: int) -> Array:
    """dT/dc_k (3): a change of c_k turns or shifts all links from k on, and N(c_k) with them."""
    own = places[k]
    total = np.zeros(3)
    for i in range(k, len(places)):
        link = places[i]
        moments = links.links[i].moments
        if own.slides:
            velocity = skew(own.w) @ own.N  # (133)
        else:
            r = link.G - own.p
            beyond = link.u - own.v - np.cross(own.w, r)  # (133)
            velocity = -skew(beyond) @ own.N - skew(own.w) @ (skew(r) @ own.N) - skew(r) @ own.rotated  # (133)
            turned = link.O.T @ (skew(own.w) @ own.N + own.rotated)  # (133)
            total = total + turned.T @ (moments.inertia_about_center @ (link.O.T @ link.w))  # (133)
        total = total + moments.mass * (velocity.T @ link.u)  # (133)
    return total


def _gravity_force(links: Links, places: list[Place]) -> Array:
    """Y_V (3n): (138), for vector-parameters, as in spec E-30."""
    forces = []
    for k, own in enumerate(places):
        pulls = [link.moments.mass * (links.gravity if own.slides else np.cross(place.G - own.p, links.gravity))
                 for link, place in zip(links.links[k:], places[k:], strict=True)]
        forces.append(own.N.T @ sum(pulls))  # (138)
    return np.concatenate(forces)
