"""Linkages that have pieces on which links lie upon each other, and those of other kinds, of all sizes: their mobility
is that of the motion from where they are assembled, and everything that follows from it."""

import numpy as np
import pytest

import cayley as cy
from cayley.machines import FiveBar, FourBar, Planar3RRR
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Loop
from kinematics import linkages

SIZES = (1e-6, 1e-3, 0.3, 1.0, 1e3)


@pytest.mark.spec("S2-59")
@pytest.mark.parametrize("kind", linkages.KINDS)
def test_the_mobility_is_that_of_the_motion_from_where_it_is_assembled(kind):
    number = list(linkages.KINDS).index(kind)
    random = np.random.default_rng(number)
    points, axes = linkages.KINDS[kind](random)
    assert np.abs(linkages.closure(points, axes, np.zeros(len(points)))).max() < 1e-12
    known = linkages.known_mobility(points, axes)
    assembled = linkages.ring(points, axes, size=SIZES[number % 5])
    apart = linkages.ring(points, axes, size=SIZES[(number + 2) % 5], start=random.uniform(-2, 2, len(points) - 1))
    assert known == assembled.loops.mobility == apart.loops.mobility == 1
    assert assembled.loops.close(np.zeros(len(points) - 1)).independent == 1
    assert assembled.variants.with_actuated("j0").loops.actuation.kind == "fully actuated"


@pytest.mark.spec("S2-67")
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_an_equal_sarrus_linkage_falls_as_its_closure_says(size):
    random = np.random.default_rng(5)
    points, axes = linkages.sarrus(random, True, 1.3)
    arm = linkages.ring(points, axes, size=size, random=random)
    rest = np.zeros(5)
    known = linkages.falling(points, axes, [body.mass for body in arm.bodies], size=size)
    for method in (arm.forward_dynamics, arm.forward_dynamics.using("null space")):
        np.testing.assert_allclose(method(rest, rest, rest), known, rtol=1e-9)
    own = arm.loops.minimal_dynamics("j0")
    np.testing.assert_allclose(np.linalg.solve(own.inertia_matrix(rest), -own.bias_forces(rest, [0.0])), known[:1],
                               rtol=1e-9)
    assert [part.shape for part in arm.linearize(rest, rest, known)] == [(1, 1)] * 3
    along = arm.variants.with_actuated("j0").loops.actuated_motion(rest, [1.0])
    np.testing.assert_allclose(along * known[0], known, rtol=1e-9)  # the only motion
    if size == 1.0:
        run = arm.simulate(rest, rest, until=0.1)
        assert run.status == "finished" and np.abs(run.energy_drift).max() < 1e-8
        steps = arm.rollout(method="rk4")(rest, rest, step=1e-3, steps=100)
        np.testing.assert_allclose(steps.q[-1], run.q[-1], atol=1e-8)


def six_bar(size):
    """Watt's: a four-bar, and a dyad upon its coupler and its rocker."""
    names = ("base", "crank", "coupler", "rocker", "arm", "link")
    joints = [("crank", "base", (0, 0)), ("coupler", "crank", (0.3, 0)), ("rocker", "base", (0.9, 0)),
              ("arm", "coupler", (0.5, 0.3)), ("link", "rocker", (0.2, 0.5))]
    made = [Joint(name, parent, name, Revolute(), linkages.at([size * p[0], size * p[1], 0]))
            for name, parent, p in joints]
    places = {"a": ("coupler", (0.8, 0)), "b": ("rocker", (0.6, 0)), "c": ("arm", (0.7, 0)), "d": ("link", (0.6, 0))}
    frames = [Frame(name, body, linkages.at([size * p[0], size * p[1], 0])) for name, (body, p) in places.items()]
    return cy.Mechanism.of("six-bar", [Body(name) for name in names], made, frames=frames,
                           loops=[Loop("one", "a", "b", Revolute()), Loop("two", "c", "d", Revolute())],
                           actuated=["crank"])


def three_rrr(size):
    pivots = size * np.array([[0.0, 0.0], [2.4, 0.0], [1.2, 2.1]])
    return cy.Mechanism(Planar3RRR(pivots, [0.8 * size] * 3, [0.9 * size] * 3, 0.7 * size).tree())


MACHINES = {
    "four-bar": (lambda s: cy.Mechanism(FourBar(0.12 * s, 0.41 * s, 0.29 * s, 0.37 * s).tree()), [0.4]),
    "five-bar": (lambda s: cy.Mechanism(FiveBar([(0.0, 0.0), (0.5 * s, 0.0)], cranks=[0.3 * s] * 2,
                                               rods=[0.45 * s] * 2).tree()), [1.9, 0.9]),
    "six-bar": (six_bar, [0.7]), "3-RRR": (three_rrr, [1.37, -2.61, -0.63])}


@pytest.mark.parametrize("name", MACHINES)
def test_a_machine_of_any_size_has_the_same_ways_to_be_assembled(name):
    make, values = MACHINES[name]
    found = []
    for size in (1e-6, 1.0, 1e3):
        machine = make(size)
        inputs = dict(zip(machine.tree.actuated_joints, values, strict=False))
        modes = machine.loops.assemblies(inputs)
        assert modes.unseen == 0.0 and modes.residual.max() < 2e-12 * max(size, 1e-6)
        found.append(modes.configuration[np.lexsort(modes.configuration.T.round(6))])
        assert (machine.loops.singularity(found[-1]).kind == "regular").all()
    assert len(found[1]) >= 2
    for other in found:
        np.testing.assert_allclose(np.exp(1j * other), np.exp(1j * found[1]), atol=1e-9)
