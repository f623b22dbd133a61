"""Planar linkages as trees of bodies and joints with loops, in the plane of x and y: for dynamics, reactions, motion.

The coordinates are the angles of the closed forms, those of a body that hangs on another relative to it. Rods are
slender and uniform; bodies without a mass in `masses` have an unknown one. Loops are closed by revolute joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.machines.arguments import Masses, check_masses, mass_of, names_of, place, rod
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.machines.linkages.five_bar import FiveBar
    from cayley.machines.linkages.four_bar import FourBar
    from cayley.machines.linkages.slider_crank import SliderCrank

DOWN = (0.0, -9.81, 0.0)
AT_ORIGIN = place()


def four_bar_tree(linkage: FourBar, masses: Masses | None, gravity: ArrayLike, base: Array = AT_ORIGIN,
                  tool: Array | None = None) -> Tree:
    """Joints "crank" (theta), "coupler" (psi - theta), "rocker" (phi); the ground link lies along the x axis of the
    pose `base`, and `tool` is the pose of that frame on the coupler."""
    bodies = [Body("base"), rod("crank", linkage.crank, masses), rod("coupler", linkage.coupler, masses),
              rod("rocker", linkage.rocker, masses)]
    check_masses(masses, names_of(bodies))
    joints = [Joint("crank", "base", "crank", Revolute(), base),
              Joint("coupler", "crank", "coupler", Revolute(), place(linkage.crank)),
              Joint("rocker", "base", "rocker", Revolute(), base @ place(linkage.ground))]
    frames = [Frame("end of coupler", "coupler", place(linkage.coupler)),
              Frame("end of rocker", "rocker", place(linkage.rocker)), *_tool_on("coupler", tool)]
    return Tree.of("four-bar", bodies, joints, frames=frames, gravity=gravity,
                   loops=[Loop("pin", "end of coupler", "end of rocker", Revolute())], actuated=["crank"])


def four_bar_configuration(theta: ArrayLike, angles: ArrayLike) -> Array:
    """q (..., 3) of a crank's angle (...) and those (..., 2) of coupler and rocker."""
    crank = np.asarray(theta, dtype=float)
    psi, phi = np.moveaxis(np.asarray(angles, dtype=float), -1, 0)
    return np.stack(np.broadcast_arrays(crank, psi - crank, phi), axis=-1)


def _tool_on(body: str, tool: Array | None) -> list[Frame]:
    return [] if tool is None else [Frame("tool", body, tool)]


def slider_crank_tree(machine: SliderCrank, masses: Masses | None, gravity: ArrayLike, base: Array = AT_ORIGIN,
                      tool: Array | None = None) -> Tree:
    """Joints "crank" (theta), "rod" (gamma + pi - theta), "slider" (x); the slider moves along the x axis of the pose
    `base`, and `tool` is the pose of that frame on the rod."""
    slider = mass_of("slider", masses)
    bodies = [Body("base"), rod("crank", machine.crank, masses), rod("rod", machine.rod, masses),
              Body("slider", slider)]
    check_masses(masses, names_of(bodies))
    joints = [Joint("crank", "base", "crank", Revolute(), base),
              Joint("rod", "crank", "rod", Revolute(), place(machine.crank)),
              Joint("slider", "base", "slider", Prismatic((1.0, 0.0, 0.0)), base @ place(0.0, machine.offset))]
    frames = [Frame("end of rod", "rod", place(machine.rod)), *_tool_on("rod", tool)]
    return Tree.of("slider-crank", bodies, joints, frames=frames, gravity=gravity,
                   loops=[Loop("pin", "end of rod", "slider", Revolute())], actuated=["crank"])


def slider_crank_configuration(theta: ArrayLike, posture: ArrayLike) -> Array:
    """q (..., 3) of a crank's angle (...) and of gamma and x (..., 2)."""
    crank = np.asarray(theta, dtype=float)
    gamma, x = np.moveaxis(np.asarray(posture, dtype=float), -1, 0)
    return np.stack(np.broadcast_arrays(crank, gamma + np.pi - crank, x), axis=-1)


def five_bar_tree(linkage: FiveBar, masses: Masses | None, gravity: ArrayLike) -> Tree:
    """Joints "crank1", "rod1", "crank2", "rod2"; the frame "point" is at the end of the first rod."""
    bodies = [Body("base")]
    joints = []
    for leg, ((x, y), a, b) in enumerate(zip(linkage.pivots, linkage.cranks, linkage.rods, strict=True), start=1):
        bodies += [rod(f"crank{leg}", a, masses), rod(f"rod{leg}", b, masses)]
        joints += [Joint(f"crank{leg}", "base", f"crank{leg}", Revolute(), place(x, y)),
                   Joint(f"rod{leg}", f"crank{leg}", f"rod{leg}", Revolute(), place(a))]
    check_masses(masses, names_of(bodies))
    frames = [Frame("point", "rod1", place(linkage.rods[0])), Frame("end of rod2", "rod2", place(linkage.rods[1]))]
    return Tree.of("five-bar", bodies, joints, frames=frames, gravity=gravity,
                   loops=[Loop("pin", "point", "end of rod2", Revolute())], actuated=["crank1", "crank2"])


def five_bar_configuration(linkage: FiveBar, P: ArrayLike, theta: ArrayLike) -> Array:
    """q (..., 4) of points (..., 2) and crank angles (..., 2)."""
    angles = np.asarray(theta, dtype=float)
    rods = np.asarray(P, dtype=float)[..., None, :] - linkage.crank_ends(angles)
    turned = np.arctan2(rods[..., 1], rods[..., 0]) - angles
    return np.stack(np.broadcast_arrays(angles[..., 0], turned[..., 0], angles[..., 1], turned[..., 1]), axis=-1)
