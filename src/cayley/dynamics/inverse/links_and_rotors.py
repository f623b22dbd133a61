"""Inverse dynamics of links and of the rotors of their drives: outwards along the links, with the rotors that each
carries; inwards, forces of rotors and links together.

    V, W     velocity and acceleration (w; v) of a link, in its own frame; gravity is in W as -g of the root
    Vm, Wm   those of a rotor, from the link that carries it and its motor's own velocity: the gyroscopic coupling
    t, tm    force (n; f) that moves a link with all that it carries, and a rotor
Operators and their frames are those of `cayley.dynamics.rigid_links.spatial_operators`. The forces of springs are the
drives'. Source: Mladenova (261)-(268), with spec E-43: a rotor moves with the link before its joint, and by its own
velocity; spec R-49."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links import spatial_operators as spatial
from cayley.dynamics.rigid_links.links import ROOT
from cayley.dynamics.rigid_links.spatial_operators import LinksAndRotors, Operators


class Outward(NamedTuple):
    """The operators of each body, its velocity (6), and its accelerations (6) and forces (6) by velocities alone."""

    of: list[Operators]
    V: list[Array]
    a: list[Array]
    b: list[Array]


def outward(arm: LinksAndRotors, q: Array, qd: Array) -> Outward:
    """Velocities, from the root along the links; then those of the rotors."""
    of = [spatial.operators(link, q) for link in arm.links.links]
    V: list[Array] = [np.zeros(6)] * len(of)
    a: list[Array] = [np.zeros(6)] * len(of)
    for k in (*arm.bars, *arm.rotors):
        carrier = np.zeros(6) if of[k].carrier == ROOT else V[of[k].carrier]
        rates = qd[of[k].columns]
        V[k] = of[k].Phi @ carrier + of[k].E @ rates                                         # (261), (262)
        a[k] = spatial.velocity_acceleration(arm.links.links[k], of[k], carrier, q, rates)
    return Outward(of, V, a, [spatial.velocity_force(body, velocity) for body, velocity in zip(of, V, strict=True)])


def inverse_dynamics(arm: LinksAndRotors, q: Array, qd: Array, qdd: Array) -> Array:
    """Forces (nv) of joints and motors, without those of springs."""
    moved = outward(arm, q, qd)
    rest = np.concatenate([np.zeros(3), -arm.links.gravity])
    W: list[Array] = [np.zeros(6)] * len(moved.of)
    for k in (*arm.bars, *arm.rotors):
        body = moved.of[k]
        carrier = rest if body.carrier == ROOT else W[body.carrier]
        W[k] = body.Phi @ carrier + body.E @ qdd[body.columns] + moved.a[k]                 # (263), (264)
    t = [body.M @ acceleration + b for body, acceleration, b in zip(moved.of, W, moved.b, strict=True)]
    tau: list[Scalar] = [0.0] * arm.links.nv
    for k in (*arm.rotors, *reversed(arm.bars)):
        body = moved.of[k]
        if body.carrier != ROOT:
            t[body.carrier] = t[body.carrier] + body.Phi.T @ t[k]                            # (265), (266)
        tau[body.columns] = body.E.T @ t[k]                                                  # (267), (268)
    return np.array(tau)
