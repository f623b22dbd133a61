"""Random closed machines that are built to be singular at one state, and closed states at any distance from it.

A machine is made of the lines that its links have where it is singular: nothing of the library decides where that is.
`at(distance)` [rad] is a configuration that keeps the constraints to rounding, by triangles.
"""

from typing import NamedTuple

import numpy as np

import cayley as cy
from cayley.model.joint_kinds import Floating, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Loop


class Singular(NamedTuple):
    """A machine, its states by their distance [rad] from the singular one, the frame and the rows of a task that its
    actuated joints command elsewhere."""

    machine: cy.Mechanism
    at: object
    frame: str
    task: tuple


def shift(p):
    pose = np.eye(4)
    pose[:len(p), 3] = p
    return pose


def link(name, size):
    return Body(name, 0.5, [0.2 * size, 0, 0], 0.05 * size**2 * np.eye(3))


def unit(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def triangle(a, b, distance):
    """The angle between the sides of lengths a and `distance`."""
    return np.arccos((a * a + distance * distance - b * b) / (2 * a * distance))


def four_bar(random, size=1.0):
    """Driven by its rocker, crank and coupler in a row: the crank may turn while the rocker stands."""
    a, b, c = size * random.uniform([0.2, 0.6, 0.5], [0.3, 0.8, 0.7])
    start = random.uniform(0.5, 1.5)
    bend = start - random.uniform(1.5, 2.2)
    ground = (a + b) * unit(start) + c * unit(bend)
    joints = [Joint("crank", "base", "a", Revolute()), Joint("coupler", "a", "b", Revolute(), shift([a])),
              Joint("rocker", "base", "c", Revolute(), shift(ground))]
    machine = cy.Mechanism.of("four-bar", [Body("base"), *[link(name, size) for name in "abc"]], joints,
                              frames=[Frame("tip of b", "b", shift([b])), Frame("tip of c", "c", shift([c]))],
                              loops=[Loop("ring", "tip of b", "tip of c", Revolute())])

    def at(distance):
        crank = start + distance
        rocker, _ = reached(ground, c, b, (a + b) * unit(start), a * unit(crank))
        along = ground + c * unit(rocker) - a * unit(crank)
        return np.array([crank, np.arctan2(along[1], along[0]) - crank, rocker])

    return Singular(machine.variants.with_actuated("rocker"), at, "a", (0, 0, 0, 0, 0, 1))


def slider_crank(random, size=1.0):
    """Driven by its slider, crank and rod in a row."""
    r, L, e = size * random.uniform([0.2, 0.6, 0.01], [0.3, 0.8, 0.1])
    start = np.arcsin(e / (r + L))
    joints = [Joint("crank", "base", "a", Revolute()), Joint("rod", "a", "b", Revolute(), shift([r])),
              Joint("slider", "base", "c", Prismatic((1.0, 0.0, 0.0)), shift([0, e]))]
    machine = cy.Mechanism.of("slider-crank", [Body("base"), *[link(name, size) for name in "abc"]], joints,
                              frames=[Frame("end", "b", shift([L]))], loops=[Loop("pin", "end", "c", Revolute())])

    def at(distance):
        crank = start + distance
        rod = np.arcsin((e - r * np.sin(crank)) / L)
        return np.array([crank, rod - crank, r * np.cos(crank) + L * np.cos(rod)])

    return Singular(machine.variants.with_actuated("slider"), at, "a", (0, 0, 0, 0, 0, 1))


def legs_in_the_plane(random, size, count):
    """Pivots, cranks, rods and joints on a plate whose rods meet in one point, and the signs of their elbows."""
    tops = size * random.uniform(0.2, 0.4, (count, 1)) * np.array([unit(2.1 * k + random.uniform(-0.3, 0.3))
                                                                  for k in range(count)])
    meeting = size * random.uniform(-0.1, 0.1, 2)
    rods = size * random.uniform(0.5, 0.7, count)
    cranks = size * random.uniform(0.3, 0.4, count)
    along = (tops - meeting) / np.linalg.norm(tops - meeting, axis=1, keepdims=True)
    elbows = tops + rods[:, None] * along
    angles = np.arctan2(along[:, 1], along[:, 0]) + random.choice([-1.0, 1.0], count) * random.uniform(0.9, 1.6, count)
    pivots = elbows + cranks[:, None] * np.array([unit(angle) for angle in angles])
    return tops, pivots, cranks, rods, elbows


def reached(pivot, crank, rod, elbow, top):
    """The angles of a crank and of the rod after it to a point, with the elbow on the side of the one given."""
    to = top - pivot
    across = np.linalg.norm(to)
    bend = triangle(crank, rod, across)
    towards = np.arctan2(to[1], to[0])
    first = min((towards + bend, towards - bend), key=lambda x: np.linalg.norm(pivot + crank * unit(x) - elbow))
    rest = top - pivot - crank * unit(first)
    return first, np.arctan2(rest[1], rest[0]) - first


def planar_3rrr(random, size=1.0):
    """Its three rods meet in a point, about which the plate may turn while the cranks stand."""
    tops, pivots, cranks, rods, elbows = legs_in_the_plane(random, size, 3)
    bodies, joints = [Body("base"), link("plate", size)], [Joint("plate", "base", "plate", Planar())]
    frames, loops = [], []
    for k in range(3):
        bodies += [link(f"crank{k}", size), link(f"rod{k}", size)]
        joints += [Joint(f"crank{k}", "base", f"crank{k}", Revolute(), shift(pivots[k])),
                   Joint(f"rod{k}", f"crank{k}", f"rod{k}", Revolute(), shift([cranks[k]]))]
        frames += [Frame(f"end{k}", f"rod{k}", shift([rods[k]])), Frame(f"top{k}", "plate", shift(tops[k]))]
        loops.append(Loop(f"pin{k}", f"end{k}", f"top{k}", Revolute()))
    machine = cy.Mechanism.of("3-RRR", bodies, joints, frames=frames, loops=loops)

    def at(distance):
        turned = np.array([[np.cos(distance), -np.sin(distance)], [np.sin(distance), np.cos(distance)]])
        legs = [reached(pivots[k], cranks[k], rods[k], elbows[k], turned @ tops[k]) for k in range(3)]
        return np.array([0.0, 0.0, distance, *np.ravel(legs)])

    return Singular(machine.variants.with_actuated("crank0", "crank1", "crank2"), at, "plate", (1, 1, 0, 0, 0, 1))


def five_bar(random, size=1.0):
    """Its two rods are in a row: the point between them may move across while the cranks stand."""
    a, b, c, d = size * random.uniform([0.3, 0.4, 0.4, 0.3], [0.4, 0.5, 0.5, 0.4])
    left, row = random.uniform([1.6, 0.1], [2.2, 0.4])
    elbow = a * unit(left)
    other = elbow + (b + c) * unit(row)
    pivot = other - d * unit(random.uniform(0.9, 1.5))
    joints = [Joint("left", "base", "a", Revolute()), Joint("left rod", "a", "b", Revolute(), shift([a])),
              Joint("right", "base", "c", Revolute(), shift(pivot)),
              Joint("right rod", "c", "d", Revolute(), shift([d]))]
    machine = cy.Mechanism.of("five-bar", [Body("base"), *[link(name, size) for name in "abcd"]], joints,
                              frames=[Frame("point", "b", shift([b])), Frame("other", "d", shift([c]))],
                              loops=[Loop("pin", "point", "other", Revolute())])

    def at(distance):
        right, rod = reached(pivot, d, c, other, elbow + b * unit(row + distance))
        return np.array([left, row + distance - left, right, rod])

    return Singular(machine.variants.with_actuated("left", "right"), at, "point", (1, 1, 0, 0, 0, 0))


def stewart(random, size=1.0):
    """A twist of the plate leaves the lengths of its six legs as they are: all legs are across the velocities of it."""
    platform = size * (np.array([[*(0.4 * unit(k * np.pi / 3)), 0.0] for k in range(6)]) +
                       random.uniform(-0.05, 0.05, (6, 3)))
    w, v = random.normal(size=(2, 3))
    velocity = size * 0.3 * v / np.linalg.norm(v) + np.cross(w / np.linalg.norm(w), platform)
    down = np.array([[*(0.4 * unit((k + 0.4 * (-1)**k) * np.pi / 3)), -1.0] for k in range(6)])
    legs = down - velocity * (np.sum(velocity * down, axis=1) / np.sum(velocity**2, axis=1))[:, None]
    legs *= size * random.uniform(0.8, 1.0, (6, 1)) / np.linalg.norm(legs, axis=1, keepdims=True)
    base = platform + legs
    axis = random.normal(size=3)
    axis /= np.linalg.norm(axis)
    bodies, joints = [Body("base"), link("plate", size)], [Joint("plate", "base", "plate", Floating())]
    frames, loops = [], []
    for k in range(6):
        bodies += [link(f"cylinder{k}", size), link(f"piston{k}", size)]
        joints += [Joint(f"foot{k}", "base", f"cylinder{k}", Universal(), shift(base[k])),
                   Joint(f"slide{k}", f"cylinder{k}", f"piston{k}", Prismatic())]
        frames.append(Frame(f"top{k}", "plate", shift(platform[k])))
        loops.append(Loop(f"ball{k}", f"piston{k}", f"top{k}", Spherical()))
    machine = cy.Mechanism.of("Stewart", bodies, joints, frames=frames, loops=loops)

    def at(distance):
        quaternion = np.array([np.cos(distance / 2), *(np.sin(distance / 2) * axis)])
        turn, across = np.sin(distance), np.cross(axis, platform)
        tops = platform + turn * across + (1 - np.cos(distance)) * np.cross(axis, across)
        along = tops - base
        slides = np.linalg.norm(along, axis=1)
        x, y, z = (along / slides[:, None]).T  # the axis of the slide: about x, and then about y
        feet = np.stack([np.arctan2(-y, z), np.arcsin(x), slides], axis=1)
        return np.concatenate([np.zeros(3), quaternion, feet.ravel()])

    return Singular(machine.variants.with_actuated(*[f"slide{k}" for k in range(6)]), at, "plate", (1,) * 6)


MACHINES = {make.__name__: make for make in (four_bar, slider_crank, five_bar, planar_3rrr, stewart)}
