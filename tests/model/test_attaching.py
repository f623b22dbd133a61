"""One mechanism on another: beside the same machine put together by hand, and what cannot be mounted."""

from dataclasses import replace

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError
from cayley.model.parts import Body


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


TURNED = at(0.1, 0.2, 0.3)
TURNED[:2, :2] = [[0.0, -1.0], [1.0, 0.0]]


def test_an_arm_on_a_cart_is_one_mechanism():
    robot, arm = cy.load("two_wheel_robot"), cy.load("puma560")
    tool = next(frame for frame in robot.frames if frame.name == "tool")
    both = robot.attached(arm, "tool", pose=TURNED)
    assert "two_wheel_robot tool" in both.frame_names
    first = replace(arm.joints[0], parent="chassis", placement=tool.pose @ TURNED @ arm.joints[0].placement)
    by_hand = cy.Mechanism.of("both", [*robot.bodies, *arm.bodies[1:]], [*robot.joints, first, *arm.joints[1:]],
                              frames=[frame for frame in arm.frames if frame.body != arm.bodies[0].name],
                              constraints=robot.tree.constraints)
    random = np.random.default_rng(0)
    q, tau = random.normal(size=13), random.normal(size=13)
    qd = by_hand.loops.consistent_velocity(q, random.normal(size=13))
    np.testing.assert_allclose(both.pose(q, "tool"), by_hand.pose(q, "tool"), atol=1e-14)
    expected = by_hand.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(both.forward_dynamics(q, qd, tau), expected, rtol=1e-9, atol=1e-9)
    assert both.actuated_joints == ("left", "right", *arm.actuated_joints)
    platform, mount = both.pose(q, "chassis"), both.pose(q, arm.bodies[0].name)
    np.testing.assert_allclose(mount, platform @ tool.pose @ TURNED, atol=1e-14)


def test_a_root_with_mass_is_a_body_and_loops_come_along():
    bar = cy.load("four_bar")
    heavy = cy.Mechanism(replace(bar.tree, bodies=(Body(bar.bodies[0].name, 3.0, [0.1, 0, 0], 0.01 * np.eye(3)),
                                                   *bar.bodies[1:])))
    cart = cy.load("planar2r")
    both = cart.attached(heavy, "tool")
    assert both.loops.mobility == cart.loops.mobility + bar.loops.mobility
    total = sum(body.mass or 0.0 for body in (*cart.bodies, *heavy.bodies))
    assert sum(body.mass or 0.0 for body in both.bodies) == pytest.approx(total)
    q = np.concatenate([[0.3, 0.4], np.zeros(3)])
    np.testing.assert_allclose(both.loops.residual(q), 0.0, atol=1e-9)


def test_names_that_are_there_already_are_refused():
    with pytest.raises(ModelError, match="both have a 'link1'"):
        cy.load("puma560").attached(cy.load("puma560"), "tool")
    with pytest.raises(ModelError, match="no frame or body 'roof'"):
        cy.load("two_wheel_robot").attached(cy.load("scara"), "roof")
