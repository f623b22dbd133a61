"""Parallel machines as trees of bodies and joints with loops or rods: for dynamics, reactions, motion.

    planar 3-RRR     cranks and rods as slender rods, the platform a thin plate; it hangs on the first leg
    Delta            the platform on three slides, which say that it does not turn; a rod for each parallelogram, with
                     half of its mass at either end, as Ruggiu 4.4.5 does
    Stewart          the platform floats; legs of a universal joint on the base, a slide, and a ball on the platform
Bodies without a mass in `masses` have an unknown one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from cayley.compiler.typing import Array, ArrayLike
from cayley.machines.arguments import Masses, batch_of, check_masses, mass_of, names_of, place, rod
from cayley.model.constraint_kinds import Rod
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Loop
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.machines.parallel.delta import TranslationalDelta
    from cayley.machines.parallel.planar_3rrr import Planar3RRR
    from cayley.machines.parallel.stewart import StewartPlatform

_AXES = np.eye(3)
_CRANKS = ("crank1", "crank2", "crank3")


def planar_3rrr_tree(machine: Planar3RRR, masses: Masses | None, gravity: ArrayLike) -> Tree:
    """Joints "crank1" (theta), "rod1" (relative to it), "platform" (relative to rod 1), "crank2", "rod2", ..."""
    h = machine.side
    bodies = [Body("base")]
    joints = []
    frames = []
    for leg, ((x, y), a, b) in enumerate(zip(machine.pivots, machine.cranks, machine.rods, strict=True), start=1):
        bodies += [rod(f"crank{leg}", a, masses), rod(f"rod{leg}", b, masses)]
        joints += [Joint(f"crank{leg}", "base", f"crank{leg}", Revolute(), place(x, y)),
                   Joint(f"rod{leg}", f"crank{leg}", f"rod{leg}", Revolute(), place(a))]
        frames.append(Frame(f"end of rod{leg}", f"rod{leg}", place(b)))
    mass = mass_of("platform", masses)
    corners = machine.vertices([0.0, 0.0, 0.0])
    center = (*-corners[0], 0.0)
    plate = mass if mass is None else mass * h**2 / 24
    bodies.append(Body("platform") if plate is None else Body("platform", mass, center, plate * np.diag([1, 1, 2.0])))
    check_masses(masses, names_of(bodies))
    joints.insert(2, Joint("platform", "rod1", "platform", Revolute(), place(machine.rods[0])))
    frames += [Frame(f"vertex{leg}", "platform", place(*corners[leg - 1] - corners[0])) for leg in (2, 3)]
    frames.append(Frame("tool", "platform", place(*center)))
    loops = [Loop(f"pin{leg}", f"end of rod{leg}", f"vertex{leg}", Revolute()) for leg in (2, 3)]
    return Tree.of("planar 3-RRR", bodies, joints, frames=frames, gravity=gravity, loops=loops,
                   actuated=_CRANKS)


def planar_3rrr_configuration(machine: Planar3RRR, pose: ArrayLike, theta: ArrayLike) -> Array:
    """q (..., 7) of poses (..., 3) and crank angles (..., 3), in the order of the tree's joints."""
    angles = batch_of("crank angles", theta, (3,))
    rods = machine.vertices(pose) - machine.crank_ends(angles)
    turned = np.arctan2(rods[..., 1], rods[..., 0]) - angles
    phi = batch_of("poses", pose, (3,))[..., 2]
    columns = [angles[..., 0], turned[..., 0], phi - angles[..., 0] - turned[..., 0], angles[..., 1], turned[..., 1],
               angles[..., 2], turned[..., 2]]
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def delta_tree(machine: TranslationalDelta, masses: Masses | None, gravity: ArrayLike) -> Tree:
    """Joints "x", "y", "z" of the platform, "crank1" to "crank3"; "rod" in `masses` is a whole parallelogram."""
    check_masses(masses, ["platform", *[f"{part}{leg}" for part in ("crank", "rod") for leg in (1, 2, 3)]])
    bars = [mass_of(f"rod{leg}", masses) or 0.0 for leg in (1, 2, 3)]
    platform = mass_of("platform", masses)
    bodies = [Body("base"), Body("x slide", 0.0), Body("y slide", 0.0),
              Body("platform", platform if platform is None else platform + sum(bars) / 2)]
    parents = ["base", "x slide", "y slide"]
    joints = [Joint(name, parent, child.name, Prismatic(tuple(axis)))
              for name, parent, child, axis in zip("xyz", parents, bodies[1:], _AXES, strict=True)]
    frames = []
    rods = []
    for leg, phi in enumerate(machine.directions, start=1):
        foot = place(machine.base * np.cos(phi), machine.base * np.sin(phi), turn=float(phi))
        bodies.append(_with_point(rod(f"crank{leg}", machine.crank, masses), bars[leg - 1] / 2, machine.crank))
        joints.append(Joint(f"crank{leg}", "base", f"crank{leg}", Revolute((0.0, -1.0, 0.0)), foot))
        frames += [Frame(f"end of crank{leg}", f"crank{leg}", place(machine.crank)),
                   Frame(f"corner{leg}", "platform", place(machine.platform * np.cos(phi),
                                                           machine.platform * np.sin(phi)))]
        rods.append(Rod(f"rod{leg}", f"end of crank{leg}", f"corner{leg}", machine.rod))
    return Tree.of("Delta", bodies, joints, frames=frames, gravity=gravity, constraints=rods, actuated=_CRANKS)


def _with_point(body: Body, mass: float, at: float) -> Body:
    """A rod along x with a point mass on it."""
    if body.mass is None or not mass:
        return body
    total = body.mass + mass
    center = (body.mass * body.center[0] + mass * at) / total
    across = body.inertia[1, 1] + body.mass * (body.center[0] - center)**2 + mass * (at - center)**2
    return Body(body.name, total, (center, 0.0, 0.0), across * np.diag([0.0, 1.0, 1.0]))


def delta_configuration(p: ArrayLike, theta: ArrayLike) -> Array:
    """q (..., 6) of places (..., 3) of the platform and crank angles (..., 3)."""
    at, angles = np.broadcast_arrays(batch_of("places", p, (3,)), batch_of("crank angles", theta, (3,)))
    return np.concatenate([at, angles], axis=-1)


def stewart_tree(machine: StewartPlatform, platform: Body, cylinder: Body, piston: Body, gravity: ArrayLike) -> Tree:
    """Joints "platform", and for each leg "foot1" (two angles) and "leg1" (its length), ..."""
    bodies = [Body("base"), replace(platform, name="platform")]
    joints = [Joint("platform", "base", "platform", Floating())]
    frames = []
    loops = []
    for k, (foot, top) in enumerate(zip(machine.base, machine.platform, strict=True), start=1):
        bodies += [replace(cylinder, name=f"cylinder{k}"), replace(piston, name=f"piston{k}")]
        joints += [Joint(f"foot{k}", "base", f"cylinder{k}", Universal(), place(*foot)),
                   Joint(f"leg{k}", f"cylinder{k}", f"piston{k}", Prismatic())]
        frames.append(Frame(f"joint{k}", "platform", place(*top)))
        loops.append(Loop(f"ball{k}", f"piston{k}", f"joint{k}", Spherical()))
    return Tree.of("Stewart platform", bodies, joints, frames=frames, gravity=gravity, loops=loops,
                   actuated=[f"leg{k}" for k in range(1, 7)])


def stewart_configuration(machine: StewartPlatform, pose: ArrayLike) -> Array:
    """q (..., 25) of poses (..., 4, 4) of the platform."""
    T = batch_of("poses", pose, (4, 4))
    w = Rotation.from_matrix(T[..., :3, :3].reshape(-1, 3, 3)).as_quat(scalar_first=True).reshape(*T.shape[:-2], 4)
    legs = T[..., None, :3, 3] + np.einsum("...ij,kj->...ki", T[..., :3, :3], machine.platform) - machine.base
    length = np.linalg.norm(legs, axis=-1)
    second = np.arcsin(legs[..., 0] / length)  # Rx(a) Ry(b) z = (sin b, -sin a cos b, cos a cos b)
    first = np.arctan2(-legs[..., 1], legs[..., 2])
    own = np.stack([first, second, length], axis=-1).reshape(*T.shape[:-2], 18)
    return np.concatenate([T[..., :3, 3], w, own], axis=-1)
