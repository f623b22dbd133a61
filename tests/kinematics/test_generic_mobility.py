"""Machines whose closed configurations fall into pieces of different mobility."""

import numpy as np
import pytest

import cayley as cy
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop


def at(x, y=0.0):
    pose = np.eye(4)
    pose[:2, 3] = x, y
    return pose


def link(name, length):
    return Body(name, 1.0, [length / 2, 0.0, 0.0], length**2 / 12 * np.diag([0.01, 1.0, 1.0]))


def scissor_lift(stages, length=1.0):
    """Pairs of links, pinned at their middles; one foot of the first pair is on the ground, the other slides."""
    bodies = [Body("ground"), Body("foot", 1.0)]
    joints = [Joint("foot", "ground", "foot", Prismatic((1.0, 0.0, 0.0)))]
    frames = []
    below = ("ground", "foot", at(0.0))
    for k in range(stages):
        names = f"left {k}", f"right {k}"
        bodies += [link(name, length) for name in names]
        joints += [Joint(name, parent, name, Revolute(), below[2]) for name, parent in zip(names, below, strict=False)]
        frames += [Frame(f"middle of {name}", name, at(length / 2)) for name in names]
        below = (names[1], names[0], at(length))
    loops = [Loop(f"pin {k}", f"middle of left {k}", f"middle of right {k}", Revolute()) for k in range(stages)]
    frames.append(Frame("top", below[0], at(length)))
    return cy.Mechanism.of("scissor lift", bodies, joints, frames=frames, loops=loops, gravity=(0.0, -9.81, 0.0),
                           actuated=["foot"])


def peaucellier(arm=1.0, side=0.5, crank=0.4):
    """Two arms from the origin, a rhombus between their ends, and a crank that leads one of its corners round a circle
    through the origin: the corner across from it goes along a line."""
    sides = ("near 1", "near 2", "far 1", "far 2")
    bodies = [Body("ground"), link("arm 1", arm), link("arm 2", arm), link("crank", crank),
              *[link(name, side) for name in sides]]
    joints = [Joint("arm 1", "ground", "arm 1", Revolute()), Joint("arm 2", "ground", "arm 2", Revolute()),
              Joint("crank", "ground", "crank", Revolute(), at(crank)),
              *[Joint(name, f"arm {name[-1]}", name, Revolute(), at(arm)) for name in sides]]
    frames = [Frame("lead", "crank", at(crank)), *[Frame(f"end of {name}", name, at(side)) for name in sides]]
    loops = [Loop("corner 1", "lead", "end of near 1", Revolute()),
             Loop("corner 2", "lead", "end of near 2", Revolute()),
             Loop("pen", "end of far 1", "end of far 2", Revolute())]
    return cy.Mechanism.of("peaucellier", bodies, joints, frames=frames, loops=loops, actuated=["crank"])


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
def test_a_scissor_lift_is_driven_by_its_foot(stages):
    lift = scissor_lift(stages)
    assert lift.loops.mobility == 1 and str(lift.loops.actuation) == "fully actuated by foot"
    bend = np.arccos(0.8)
    sketch = {"foot": 0.8, "left 0": bend, "right 0": np.pi - bend}
    for k in range(1, stages):  # a left link begins where the right one below it ends
        sketch |= {f"left {k}": 2 * bend - np.pi, f"right {k}": np.pi - 2 * bend}
    guess = np.array([sketch[name] for name in lift.joint_names])
    closed = lift.loops.close(guess, fixed=["foot"])
    assert closed.status == "closed" and np.abs(closed.configuration - guess).max() < 1e-9
    rate = lift.loops.actuated_jacobian(closed.configuration, "top", axes="world")[1, 0]
    assert rate == pytest.approx(-stages * 0.8 / 0.6, rel=1e-9)  # of the height, stages sqrt(1 - x^2)


def test_the_pen_of_peaucellier_goes_along_a_line():
    linkage = peaucellier()
    assert linkage.loops.mobility == 1 and str(linkage.loops.actuation) == "fully actuated by crank"
    assert str(linkage.loops.structure.redundant[0]) == "corner 1: z"
    closed = linkage.loops.close([0.6, -0.6, 0.0, -2.2, 2.2, -0.9, 0.9], fixed=["crank"])
    path = linkage.loops.follow_inputs({"crank": np.linspace(0.0, 1.2, 20)}, start=closed.configuration)
    assert closed.status == "closed" and path.status == "followed"
    x, y = linkage.pose(path.configuration, "end of far 1")[:, :2, 3].T
    assert np.abs(x - (1.0 - 0.25) / 0.8).max() < 1e-10 and np.ptp(y) > 0.3
    turning = linkage.loops.actuated_motion(path.configuration, np.ones((20, 1)))
    assert np.abs(np.einsum("kij,kj->ki", linkage.loops.jacobian(path.configuration), turning)).max() < 1e-10


def test_a_parallelogram_with_a_spare_rocker_moves_on_a_turntable_too():
    bodies = [Body(name) for name in ("ground", "table", "left", "bar", "middle", "right")]
    joints = [Joint("table", "ground", "table", Revolute((0.0, 1.0, 0.0))), Joint("left", "table", "left", Revolute()),
              Joint("bar", "left", "bar", Revolute(), at(0.3)), Joint("middle", "table", "middle", Revolute(), at(0.5)),
              Joint("right", "table", "right", Revolute(), at(1.0))]
    frames = [Frame("half", "bar", at(0.5)), Frame("end", "bar", at(1.0)),
              Frame("top of middle", "middle", at(0.3)), Frame("top of right", "right", at(0.3))]
    loops = [Loop("one", "half", "top of middle", Revolute()), Loop("two", "end", "top of right", Revolute())]
    machine = cy.Mechanism.of("rockers", bodies, joints, frames=frames, loops=loops)
    assert machine.loops.mobility == 2
