"""Closed machines as mechanisms, beside the classes of `cayley.machines` that have them in closed form."""

from functools import cache

import numpy as np

import cayley as cy
from cayley.model.joint_kinds import Floating, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Limits, Loop

X, Y, Z = np.eye(3)


def shift(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def link(name, x=0.1):
    return Body(name, 0.5, [x / 2, 0, 0], 0.01 * np.eye(3))


@cache
def four_bar(a=0.12, b=0.41, c=0.29, d=0.37, limits=None):
    """Angles of crank, of the coupler after it, and of the rocker."""
    joints = [Joint("crank", "base", "a", Revolute()), Joint("coupler", "a", "b", Revolute(), shift(a)),
              Joint("rocker", "base", "c", Revolute(), shift(d), limits=limits or Limits())]
    return cy.Mechanism.of("four-bar", [Body("base"), *[link(name) for name in "abc"]], joints,
                           frames=[Frame("tip of b", "b", shift(b)), Frame("tip of c", "c", shift(c))],
                           loops=[Loop("ring", "tip of b", "tip of c", Revolute())])


@cache
def slider_crank(r=0.1, L=0.35, e=0.02):
    """Angle of the crank, of the rod after it, and place of the slider."""
    joints = [Joint("crank", "base", "a", Revolute()), Joint("rod", "a", "b", Revolute(), shift(r)),
              Joint("slider", "base", "c", Prismatic(tuple(X)), shift(0, e))]
    return cy.Mechanism.of("slider-crank", [Body("base"), *[link(name) for name in "abc"]], joints,
                           frames=[Frame("end", "b", shift(L))], loops=[Loop("pin", "end", "c", Revolute())])


@cache
def five_bar(d=0.5, a=0.3, b=0.4):
    joints = [Joint("left", "base", "a", Revolute()), Joint("left rod", "a", "b", Revolute(), shift(a)),
              Joint("right", "base", "c", Revolute(), shift(d)), Joint("right rod", "c", "d", Revolute(), shift(a))]
    return cy.Mechanism.of("five-bar", [Body("base"), *[link(name) for name in "abcd"]], joints,
                           frames=[Frame("point", "b", shift(b)), Frame("other", "d", shift(b))],
                           loops=[Loop("pin", "point", "other", Revolute())])


@cache
def planar_3rrr(pivots, tops, cranks, rods):
    """A plate that moves in the plane, with a crank and a rod to each of three joints."""
    bodies, joints, frames, loops = [Body("base"), link("plate")], [Joint("plate", "base", "plate", Planar())], [], []
    for k in range(3):
        bodies += [link(f"crank{k}"), link(f"rod{k}")]
        joints += [Joint(f"crank{k}", "base", f"crank{k}", Revolute(), shift(*pivots[k])),
                   Joint(f"rod{k}", f"crank{k}", f"rod{k}", Revolute(), shift(cranks[k]))]
        frames += [Frame(f"end{k}", f"rod{k}", shift(rods[k])), Frame(f"top{k}", "plate", shift(*tops[k]))]
        loops.append(Loop(f"pin{k}", f"end{k}", f"top{k}", Revolute()))
    return cy.Mechanism.of("3-RRR", bodies, joints, frames=frames, loops=loops)


@cache
def delta(crank=0.3, rod=0.6, base=0.25, platform=0.08):
    """A plate that moves along, three cranks, and a rod with two universal joints for each parallelogram."""
    from cayley.model.constraint_kinds import Rod
    bodies, joints, frames, rods = [Body("base"), link("x"), link("y"), link("plate")], [], [], []
    joints += [Joint("x", "base", "x", Prismatic(tuple(X))), Joint("y", "x", "y", Prismatic(tuple(Y))),
               Joint("z", "y", "plate", Prismatic(tuple(Z)))]
    for k, angle in enumerate(np.radians([0.0, 120.0, 240.0])):
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        across = np.cross(out, Z)
        bodies.append(link(f"crank{k}"))
        joints.append(Joint(f"crank{k}", "base", f"crank{k}", Revolute(tuple(across)), shift(*(base * out))))
        frames += [Frame(f"end{k}", f"crank{k}", shift(*(crank * out))),
                   Frame(f"top{k}", "plate", shift(*(platform * out)))]
        rods.append(Rod(f"rod{k}", f"end{k}", f"top{k}", rod))
    return cy.Mechanism.of("delta", bodies, joints, frames=frames, constraints=rods)


def rings():
    feet = np.radians(60.0 * np.arange(6))
    tops = feet + np.radians(np.where(np.arange(6) % 2 == 0, 25.0, -25.0))
    return [radius * np.stack([np.cos(at), np.sin(at), 0 * at], axis=1) for radius, at in ((0.8, feet), (0.4, tops))]


@cache
def stewart(stroke=None):
    """A plate that floats, on six legs with a universal joint, a slide and a ball; rings of `rings`."""
    base, platform = rings()
    bodies = [Body("base"), link("plate")]
    joints, frames, loops = [Joint("plate", "base", "plate", Floating())], [], []
    limits = Limits() if stroke is None else Limits(*[(x,) for x in stroke])
    for k in range(6):
        bodies += [link(f"cylinder{k}"), link(f"piston{k}")]
        joints += [Joint(f"foot{k}", "base", f"cylinder{k}", Universal(), shift(*base[k])),
                   Joint(f"slide{k}", f"cylinder{k}", f"piston{k}", Prismatic(), limits=limits)]
        frames.append(Frame(f"top{k}", "plate", shift(*platform[k])))
        loops.append(Loop(f"ball{k}", f"piston{k}", f"top{k}", Spherical()))
    return cy.Mechanism.of("Stewart", bodies, joints, frames=frames, loops=loops)


SLIDES = [f"slide{k}" for k in range(6)]


def stewart_guess(height=0.9):
    q = stewart().neutral.copy()
    q[2] = height
    q[9::3] = height
    return q
