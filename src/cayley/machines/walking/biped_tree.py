"""The planar biped as a tree on a planar joint; feet that stand are loops closed by pins on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, is_finite_number
from cayley.errors import ModelError
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree
from cayley.wording import shown

if TYPE_CHECKING:
    from cayley.machines.walking.planar_biped import PlanarBiped

_ACROSS = (0.0, 1.0, 0.0)  # about which clockwise turns, seen with x to the right and z up, are positive


def biped_tree(biped: PlanarBiped, standing: Mapping[int, float]) -> Tree:
    """Bodies "ground", "trunk", "thigh1", "shank1", "thigh2", "shank2"; frames "head", "foot1" and "foot2"."""
    if not isinstance(standing, Mapping):
        raise ModelError("the feet of a biped that stand are given with their x, as {1: 0.0}, not as "
                         f"{shown(standing)}")
    a = biped.half_thigh
    b = biped.half_shank
    upper = biped.hip_mass + biped.trunk_mass
    center = biped.trunk_mass * biped.trunk_center / upper if upper else 0.0
    trunk = _link("trunk", upper, center, biped.trunk_inertia)
    bodies = [Body("ground"), trunk]
    joints = [Joint("hip", "ground", "trunk", Planar(_ACROSS))]
    frames = [Frame("head", "trunk", _at(0.0, 2 * biped.trunk_center))]
    for leg in (1, 2):
        bodies += [_link(f"thigh{leg}", biped.thigh_mass, -a, biped.thigh_inertia),
                   _link(f"shank{leg}", biped.shank_mass, -b, biped.shank_inertia)]
        joints += [Joint(f"hip{leg}", "trunk", f"thigh{leg}", Revolute(_ACROSS)),
                   Joint(f"knee{leg}", f"thigh{leg}", f"shank{leg}", Revolute(_ACROSS), _at(0.0, -2 * a))]
        frames.append(Frame(f"foot{leg}", f"shank{leg}", _at(0.0, -2 * b)))
    loops = []
    for foot, x in standing.items():
        if foot not in (1, 2):
            raise ModelError(f"a biped stands on foot 1, 2 or both, not on {foot!r}")
        if not is_finite_number(x):
            raise ModelError(f"foot{foot} of a biped stands at a finite x, not at {shown(x)}")
        frames.append(Frame(f"place{foot}", "ground", _at(x, 0.0)))
        loops.append(Loop(f"contact{foot}", f"place{foot}", f"foot{foot}", Revolute(_ACROSS)))
    return Tree.of("planar_biped", bodies, joints, frames=frames, gravity=(0.0, 0.0, -biped.gravity), loops=loops,
                   actuated=["hip1", "knee1", "hip2", "knee2"])


def _link(name: str, mass: float, center: float, inertia: float) -> Body:
    """A link whose moment of inertia across the plane is given about its upper joint; those about other axes, which do
    not matter, are the same."""
    own = inertia - mass * center**2
    return Body(name, mass, [0.0, 0.0, center], own * np.eye(3))


def _at(x: float, z: float) -> Array:
    pose = np.eye(4)
    pose[0, 3] = x
    pose[2, 3] = z
    return pose
