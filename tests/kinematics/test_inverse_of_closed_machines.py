"""Inverse kinematics of mechanisms with loops: the frame at the target, the loops closed, beside closed forms."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.kinematics.inverse import distinct_solutions
from cayley.machines.linkages import FiveBar, SliderCrank
from cayley.machines.parallel import StewartPlatform
from cayley.model.joint_kinds import Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Loop
from kinematics.machines import five_bar, four_bar, rings, shift, slider_crank, stewart, stewart_guess

PLANE = (True, True, False, False, False, False)
ALONG = (True, False, False, False, False, False)


def places(points):
    return np.stack([shift(*point) for point in points])


def test_a_five_bar_reaches_points_in_its_working_modes():
    arm = five_bar()
    points = np.array([[0.25, 0.5], [0.1, 0.4], [0.4, 0.45], [0.3, -0.4]])
    found = arm.inverse_kinematics(places(points), "point", task=PLANE)
    assert (found.status == "solved").all() and found.opening.max() < 1e-14
    modes = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4]).inverse_position(points)
    off = np.abs(np.exp(1j * modes) - np.exp(1j * found.q[:, None, [0, 2]])).max(axis=-1).min(axis=-1)
    assert off.max() < 1e-8
    np.testing.assert_allclose(arm.pose(found.q, "other")[:, :2, 3], points, atol=1e-9)
    all_modes = distinct_solutions(arm.tree, shift(0.25, 0.5), "point", task=PLANE, starts=60)
    assert len(all_modes.q) == 4
    assert (found.smallest_singular_value > 1e-3).all() and (found.branch == 0).all()


def test_a_slider_is_brought_to_its_place_by_the_crank_of_the_closed_form():
    arm = slider_crank()
    found = arm.inverse_kinematics(places([(0.38, 0), (0.3, 0)]), "c", task=ALONG, start=[0.5, -0.6, 0.4])
    assert (found.status == "solved").all()
    crank = SliderCrank(0.1, 0.35, 0.02).crank_position([0.38, 0.3])[..., 0]
    assert np.abs(np.exp(1j * crank) - np.exp(1j * found.q[:, :1])).min(axis=1).max() < 1e-8
    beyond = arm.inverse_kinematics(shift(0.6), "c", task=ALONG, restarts=5)
    assert beyond.status == "not found" and beyond.residual > 0.1
    assert np.abs(arm.loops.residual(found.q)).max() < 1e-10


def test_a_pose_of_a_stewart_platform_has_the_legs_of_the_formula_within_their_strokes():
    arm = stewart((0.8, 1.3))
    random = np.random.default_rng(2)
    targets = np.broadcast_to(np.eye(4), (20, 4, 4)).copy()
    targets[:, :3, :3] = Rotation.from_rotvec(0.15 * random.normal(size=(20, 3))).as_matrix()
    targets[:, :3, 3] = [0, 0, 0.9] + 0.05 * random.normal(size=(20, 3))
    found = arm.inverse_kinematics(targets, "plate", start=stewart_guess())
    assert found.solved.all() and (found.restarts == 0).all()
    np.testing.assert_allclose(found.q[:, 9::3], StewartPlatform(*rings()).leg_lengths(targets), atol=1e-9)
    np.testing.assert_allclose(arm.pose(found.q, "plate"), targets, atol=1e-9)
    assert np.abs(arm.loops.residual(found.q)).max() < 1e-9
    high = arm.inverse_kinematics(shift(0, 0, 1.5), "plate", start=stewart_guess(), restarts=2)
    assert high.status == "not found" and (high.q[9::3] <= 1.3).all()
    assert stewart().inverse_kinematics(shift(0, 0, 1.5), "plate", start=stewart_guess()).solved


def test_fingers_that_mimic_each_other_go_to_a_target_together():
    hand = cy.load("panda_hand")
    q = hand.random_configuration(5, seed=1)
    targets = hand.pose(q, "panda_rightfinger")
    found = hand.inverse_kinematics(targets, "panda_rightfinger")
    assert found.solved.all()
    np.testing.assert_allclose(found.q[:, 7], found.q[:, 8], atol=1e-9)
    np.testing.assert_allclose(hand.pose(found.q, "panda_rightfinger"), targets, atol=1e-8)
    arm_alone = hand.inverse_kinematics(hand.pose(q, "panda_hand"), "panda_hand", start=q)
    assert (arm_alone.opening == 0).all() and arm_alone.solved.all()


def test_loops_elsewhere_do_not_take_part_and_a_loop_is_not_closed_the_wrong_way_round():
    joints = [Joint("base", "base", "turret", Revolute()), *[
        Joint(joint.name, joint.parent if joint.parent != "base" else "turret", joint.child, joint.motion,
              joint.placement) for joint in four_bar().joints]]
    arm = cy.Mechanism.of("turret", [*four_bar().bodies, Body("turret", 1.0)], joints, frames=four_bar().frames,
                          loops=four_bar().loops)
    assert arm.inverse_kinematics(np.eye(4), "turret").opening == 0
    ball = cy.Mechanism.of("ball", [Body("base"), Body("body", 1.0)], [Joint("ball", "base", "body", Spherical())],
                           frames=[Frame("side", "body", shift(0.2, 0.0, 0.0))],
                           loops=[Loop("tie", "base", "body", Revolute())])
    found = ball.inverse_kinematics(places([(0.0, 0.2), (0.2, 0.0)]), "side", task="position",
                                    start=[0.1, np.sqrt(0.99), 0.0, 0.0])
    assert found.solved.all()
    np.testing.assert_allclose(ball.pose(found.q, "body")[:, 2, 2], 1.0, atol=1e-10)


def test_no_targets_and_targets_that_are_no_poses():
    assert five_bar().inverse_kinematics(np.zeros((0, 4, 4)), "point", task=PLANE).q.shape == (0, 4)
    with pytest.raises(cy.CayleyError, match="pose"):
        five_bar().inverse_kinematics(np.full((4, 4), np.nan), "point", task=PLANE)
