"""Wheels as ready-made parts, in Python and in TOML: beside the same cart written out, body by body."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.constraint_kinds import RollerWheel, Wheel
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Joint

Y = (0.0, 1.0, 0.0)
CHASSIS = Body("chassis", 20.0, [-0.1, 0, 0], np.diag([1, 1, 2]))


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


BASE = Joint("base", "floor", "chassis", Planar(), at(z=0.1))
WHEELS = [CarriedWheel("left", "chassis", (0, 0.25, 0), 0.1, 1.5),
          CarriedWheel("right", "chassis", (0, -0.25, 0), 0.1, 1.5),
          CarriedWheel("castor", "chassis", (-0.4, 0, -0.04), 0.06, 0.3, pivot=0.08, bracket=0.4)]
TEXT = """
name = "cart"
actuated = ["left", "right"]
bodies = [{ name = "floor" }, { name = "chassis", mass = 20, center = [-0.1, 0, 0], inertia = [1, 1, 2] }]
joints = [{ name = "base", kind = "planar", parent = "floor", child = "chassis", position = [0, 0, 0.1] }]
wheels = [
    { name = "left", on = "chassis", position = [0, 0.25, 0], radius = 0.1, mass = 1.5 },
    { name = "right", on = "chassis", position = [0, -0.25, 0], radius = 0.1, mass = 1.5 },
    { name = "castor", on = "chassis", position=[-0.4,0,-0.04], radius = 0.06, pivot = 0.08, mass = 0.3, bracket=0.4 },
]
"""


def cart():
    return cy.Mechanism.of("cart", [Body("floor"), CHASSIS], [BASE], wheels=WHEELS, actuated=["left", "right"])


def written_out():
    def disc(name, mass, radius):
        return Body(name, mass, inertia=mass * radius**2 / 4 * np.diag([1, 2, 1]))

    bodies = [Body("floor"), CHASSIS, disc("l", 1.5, 0.1), disc("r", 1.5, 0.1),
              Body("bracket", 0.4, [-0.04, 0, 0], 0.4 * 0.08**2 / 12 * np.diag([0, 1, 1])), disc("small", 0.3, 0.06)]
    joints = [BASE, Joint("left", "chassis", "l", Revolute(Y), at(0, 0.25)),
              Joint("right", "chassis", "r", Revolute(Y), at(0, -0.25)),
              Joint("pivot", "chassis", "bracket", Revolute(), at(-0.4, 0, -0.04)),
              Joint("castor", "bracket", "small", Revolute(Y), at(-0.08))]
    return cy.Mechanism.of("cart", bodies, joints, actuated=["left", "right"], constraints=[
        Wheel("lt", "floor", "l", 0.1), Wheel("rt", "floor", "r", 0.1), Wheel("ct", "floor", "small", 0.06)])


def test_a_cart_of_ready_made_wheels_is_the_one_that_is_written_out(tmp_path):
    (tmp_path / "cart.toml").write_text(TEXT, encoding="utf-8")
    read = cy.load(tmp_path / "cart.toml")
    read.save(tmp_path / "again.toml")
    expected = written_out()
    random = np.random.default_rng(0)
    q = random.normal(size=7)
    qd, tau = expected.loops.actuated_motion(q, [8.0, 5.0]), random.normal(size=7)
    for made in (cart(), read, cy.load(tmp_path / "again.toml")):
        assert made.joint_names == ("base", "left", "right", "castor pivot", "castor")
        np.testing.assert_allclose(made.forward_dynamics(q, qd, tau), expected.forward_dynamics(q, qd, tau), rtol=1e-12)


def test_forks_and_rollers():
    fork = CarriedWheel("front", "chassis", (0.6, 0, 0), 0.1, 2.0, pivot=0.0, bracket=0.5).parts
    assert [joint.name for joint in fork.joints] == ["front pivot", "front"]
    np.testing.assert_array_equal(fork.joints[1].placement, np.eye(4))
    omni = CarriedWheel("omni", "chassis", (0.6, 0, 0), 0.1, rollers=np.pi / 2, ground="hall").parts
    assert omni.constraint == RollerWheel("omni tyre", "hall", "omni wheel", 0.1, Y, np.pi / 2)


def test_three_omni_wheels_go_anywhere():
    """A wheel at p that heads along d rolls at d . (v + w x p) / r."""
    places = {f"wheel {k}": (0.2 * np.array([np.cos(a), np.sin(a)]), a + np.pi / 2)
              for k, a in enumerate(2 * np.pi / 3 * np.arange(3))}
    arm = cy.Mechanism.of("omni", [Body("floor"), CHASSIS], [BASE], wheels=[
        CarriedWheel(name, "chassis", (*p, 0.0), 0.1, 0.3, rollers=np.pi / 2, heading=heading)
        for name, (p, heading) in places.items()])
    assert arm.loops.mobility == 3
    heading, v, w = 0.4, np.array([0.3, -0.2]), 0.7
    c, s = np.cos(heading), np.sin(heading)
    rates = [np.array([np.cos(a), np.sin(a)]) @ (v + w * np.array([-p[1], p[0]])) / 0.1 for p, a in places.values()]
    q = np.array([0.1, 0.2, heading, 0.3, 0.1, 0.2])
    found = arm.variants.with_actuated(*places).loops.actuated_motion(q, rates)
    np.testing.assert_allclose(found[:3], [c * v[0] - s * v[1], s * v[0] + c * v[1], w], atol=1e-13)


@pytest.mark.parametrize(("made", "said"), [
    (lambda: CarriedWheel("w", "c", (0, 0), 0.1), "'w' must be three"),
    (lambda: CarriedWheel("w", "c", (0, 0, np.nan), 0.1), "'w' must be three"),
    (lambda: CarriedWheel("w", "c", (0, 0, 0), 0.1, heading=np.inf), "finite angle"),
    (lambda: CarriedWheel("w", "c", (0, 0, 0), -0.1), "'w' has the radius"),
    (lambda: CarriedWheel("w", "c", (0, 0, 0), 0.1, bracket=1.0), "no pivot"),
    (lambda: CarriedWheel("w", "c", (0, 0, 0), 0.1, pivot=-0.1), "`pivot` of the wheel 'w' must be 0"),
    (lambda: CarriedWheel("w", "c", (0, 0, 0), 0.1, mass=-1.0), "mass"),
    (lambda: cy.Mechanism.of("c", [Body("floor")], [], wheels=[WHEELS[0]]), "chassis")])
def test_wheels_that_cannot_be_are_named(made, said):
    with pytest.raises(ModelError, match=said):
        made()


@pytest.mark.parametrize(("old", "new", "said"), [
    ("radius = 0.06", "radius = 0", "line 9.*wheels.*radius"), ("pivot = 0.08", "trail = 0.08", "line 9.*trail"),
    ('on = "chassis", position=[-0.4', 'on = "chasis", position=[-0.4', "chasis"),
    ("pivot = 0.08", 'ground = "hall", pivot = 0.08', "hall")])
def test_faults_in_a_file_have_their_line(tmp_path, old, new, said):
    (tmp_path / "cart.toml").write_text(TEXT.replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match=said):
        cy.load(tmp_path / "cart.toml")


def test_sets_of_constraints_are_chosen_by_name():
    whole = cart()
    lifted = whole.variants.without_constraints("left tyre", "right tyre")
    assert [each.name for each in lifted.tree.constraints] == ["castor tyre"] and lifted.loops.mobility == 5
    again = lifted.variants.with_constraints(*[wheel.parts.constraint for wheel in WHEELS[:2]])
    q = np.random.default_rng(1).normal(size=7)
    qd = whole.loops.actuated_motion(q, [1.0, 2.0])
    np.testing.assert_allclose(again.forward_dynamics(q, qd, np.ones(7)), whole.forward_dynamics(q, qd, np.ones(7)),
                               rtol=1e-11)
    small = whole.variants.with_constraints(Wheel("left tyre", "floor", "left wheel", 0.2))
    assert len(small.tree.constraints) == 3 and small.tree.constraints[0].radius == 0.2
    bar = cy.load("four_bar")
    assert bar.variants.without_constraints(bar.loops[0].name).loops.mobility == 3
    with pytest.raises(ModelError, match="did you mean 'left tyre'"):
        whole.variants.without_constraints("left tire")
    with pytest.raises(ModelError, match="same name"):
        whole.variants.with_constraints(Wheel("a", "floor", "left wheel", 0.2), Wheel("a", "floor", "left wheel", 0.3))
