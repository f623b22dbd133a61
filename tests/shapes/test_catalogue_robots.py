"""Robots of the catalogue as they are shown: in a ready pose, and with the meshes of another package, whose link frames
must be theirs."""

from dataclasses import replace

import numpy as np
import pytest

import cayley as cy
from cayley.drawing.skeleton import resting
from cayley.model.catalogue import catalogue_names, packaged
from cayley.model.named_configurations import near_zero
from cayley.model.source import Source
from cayley.shapes import shapes_of

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
MESHED = {"panda": 8, "panda_hand": 11, "ur3": 7, "ur5": 7, "ur10": 7}


@pytest.mark.parametrize("name", [*catalogue_names(), "anymal_c", "talos", "xarm7", "iris"])
def test_every_robot_has_a_ready_pose_within_its_limits_in_which_it_is_shown(name):
    arm = cy.load(name)
    q = arm.configurations["ready"]
    assert (q >= arm.lower).all() and (q <= arm.upper).all()
    np.testing.assert_allclose(resting(arm.tree), q, atol=1e-9)
    if arm.tree.is_constrained:
        assert np.abs(arm.loops.residual(q)).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("name", ["abb_irb120", "iiwa14", "kuka_kr6_r900", "panda", "sawyer", "ur5", "ur16e"])
def test_the_tool_of_an_arm_that_is_ready_points_down(name):
    arm = cy.load(name)
    pose = arm.pose(arm.configurations["ready"], "tool")
    np.testing.assert_allclose(pose[:3, 2], [0.0, 0.0, -1.0], atol=1e-2)
    assert abs(np.linalg.det(arm.jacobian(arm.configurations["ready"], "tool", axes="world") @ arm.jacobian(
        arm.configurations["ready"], "tool", axes="world").T)) > 1e-6  # and it is not singular


def test_a_robot_without_names_is_shown_near_zero():
    tree = replace(cy.load("panda").tree, named=())
    np.testing.assert_array_equal(resting(tree), near_zero(tree))


@pytest.mark.parametrize("name", MESHED)
def test_the_meshes_are_on_the_link_frames(name):
    arm = cy.load(name)
    assert len(arm.shapes.seen) == MESHED[name] and not arm.shapes.missing
    other = cy.load(packaged.packaged_shapes(arm.tree.source))
    q = arm.random_configuration(seed=3)
    theirs = other.neutral
    for joint in arm.tree.joints:
        if joint.motion.nq and joint.name in other.joint_names:
            places = (tree.q_slices[tree.joint_number(joint.name)] for tree in (other.tree, arm.tree))
            mine, own = places
            theirs[mine] = q[own]
    for body in {shape.body for shape in arm.shapes}:
        np.testing.assert_allclose(arm.pose(q, body), other.pose(theirs, body), atol=1e-9)


def test_a_file_of_the_same_name_and_a_missing_package_have_no_meshes(monkeypatch, tmp_path):
    tree = cy.load("ur5").tree
    assert len(shapes_of(tree)) and len(shapes_of(tree.with_gravity([0.0, 0.0, 9.81])))
    stranger = replace(tree, source=Source("mine", "ur5.toml", "0" * 64))
    assert not len(shapes_of(stranger)) and not len(shapes_of(replace(tree, source="")))
    monkeypatch.setattr(packaged, "PACKAGE", "no-such-package")
    assert not len(shapes_of(tree)) and not shapes_of(tree).missing
