"""All solutions of a mechanism: random configurations of every arm, limits and whole turns, special poses in a batch,
and refusals.
"""

from functools import cache

import numpy as np
import pytest

import cayley as cy
from cayley.errors import SignatureError, UnsupportedError
from cayley.kinematics.inverse.analytic import analytic_inverse_kinematics
from cayley.model.denavit_hartenberg.conversion import dh_from_tree
from cayley.model.denavit_hartenberg.table import DHRow
from cayley.model.joint_kinds import Helical, Revolute
from cayley.model.parts import Body, Frame, Joint, Limits, Mimic

ARMS = ("planar2r", "planar3r", "puma560", "scara", "stanford", "ur3", "ur5", "ur10")
RIGHT = np.pi / 2
load = cache(cy.load)


def poses_differ(arm, found, targets):
    """The largest entry of pose minus target over all solutions; of the position alone if only that is asked."""
    poses = arm.pose(np.where(found.found[..., None], found.q, 0.0), "tool") - targets[..., None, :, :]
    errors = np.abs(poses[..., :3,
                          3] if found.task == "position" else poses[..., :3, :].reshape(*found.found.shape, -1)).max(
                              axis=-1)
    return errors[found.found].max()


def nearest(found, q, *, whole_turns):
    """For each pose the distance of the generating configuration from the nearest solution."""
    difference = found.q - np.asarray(q)[..., None, :]
    if whole_turns:
        difference = np.where(found.turns, np.mod(difference + np.pi, 2 * np.pi) - np.pi, difference)
    return np.nanmin(np.where(found.found, np.abs(difference).max(axis=-1), np.nan), axis=-1)


@pytest.mark.parametrize("name", ARMS)
def test_random_configurations_are_among_the_solutions_and_all_solutions_close(name):
    arm = load(name)
    q = arm.random_configuration(2000, seed=11)
    targets = arm.pose(q, "tool")
    found = arm.all_inverse_kinematics(targets, "tool")
    assert poses_differ(arm, found, targets) < 1e-12
    assert nearest(found, q, whole_turns=True).max() < 1e-8
    assert (found.status == "solved").all()
    assert found.residual[found.found].max() < 1e-12
    assert np.isnan(found.q[~found.found]).all()
    assert found.task == ("position" if name == "planar2r" else "pose")


@pytest.mark.parametrize("name", ARMS)
def test_with_a_reference_nearby_the_very_configuration_is_found(name):
    arm = load(name)
    q = arm.random_configuration(200, seed=5)
    found = arm.all_inverse_kinematics(arm.pose(q, "tool"), "tool", reference=q + 0.01)
    assert nearest(found, q, whole_turns=False).max() < 1e-8


@pytest.mark.parametrize("name", ARMS)
def test_a_batch_gives_what_the_careful_way_gives_pose_by_pose(name):
    arm = load(name)
    table = dh_from_tree(arm.tree, convention="standard").table
    wrist = arm.random_configuration(1, seed=4) * (np.arange(arm.nq) != 4)
    q = np.concatenate([arm.random_configuration(30, seed=3), np.zeros((1, arm.nq)), wrist])
    targets = arm.pose(q, "tool")
    found = arm.all_inverse_kinematics(targets, "tool")
    for k, alone in enumerate(analytic_inverse_kinematics(table, targets)):
        count = len(alone.solutions)
        assert found.count[k] == count
        assert list(found.branches[k, :count]) == [", ".join(branch) for branch in alone.branches]
        difference = np.where(found.turns, np.mod(found.q[k, :count] - alone.solutions + np.pi, 2 * np.pi) - np.pi,
                              found.q[k, :count] - alone.solutions)
        assert np.abs(difference).max() < 1e-6
        assert [c.free for c in found.continua.get((k,), ())] == [c.free for c in alone.degenerate]
        one = arm.all_inverse_kinematics(targets[k], "tool")
        np.testing.assert_array_equal(one.q, found.q[k])
        np.testing.assert_array_equal(found[k].q, one.q)
        assert str(found[k]) == str(one)


def test_shapes_follow_the_batch():
    arm = load("scara")
    q = arm.random_configuration((2, 3), seed=0)
    found = arm.all_inverse_kinematics(arm.pose(q, "tool"), "tool", reference=arm.random_configuration(3, seed=1))
    assert found.q.shape == (2, 3, 8, 4) and found.status.shape == (2, 3)
    assert found[1, -1].solutions.shape[-1] == 4
    assert nearest(found, q, whole_turns=True).max() < 1e-9
    with pytest.raises(SignatureError, match="2 whole numbers name one pose"):
        found[0]
    with pytest.raises(SignatureError, match=r"found\[3\]"):
        found.solutions  # noqa: B018
    with pytest.raises(SignatureError, match="4 finite numbers"):
        arm.all_inverse_kinematics(np.eye(4), "tool", reference=[0.0, np.nan, 0.0, 0.0])


def limited(lower, upper):
    rows = [DHRow(a=1.0, limits=Limits((lower,), (upper,))), DHRow(a=0.8, limits=Limits((-3.0,), (3.0,)))]
    return cy.Mechanism.from_dh(rows, convention="standard")


def test_solutions_outside_the_limits_are_flagged_and_whole_turns_are_offered():
    free = limited(-np.inf, np.inf)
    target = free.pose([2.8, 0.9], "tool")
    for lower, upper, turned in ((0.0, 3.0, 0), (-6.0, 0.0, -1), (6.5, 11.0, 1)):
        found = limited(lower, upper).all_inverse_kinematics(target, "tool")
        own = np.abs(found.q[:, 0] - (2.8 + 2 * np.pi * turned)) < 1e-9
        assert own.sum() == 1 and found.within_limits[own].all()
    beyond = limited(-1.0, 1.0).all_inverse_kinematics(target, "tool")
    assert beyond.count == 2 and beyond.status == "outside limits" and not beyond.within_limits.any()
    assert beyond.solutions.shape == (0, 2) and "outside the limits" in repr(beyond)
    wide = limited(-7.0, 10.0).all_inverse_kinematics(target, "tool")
    number = int(np.nanargmin(np.abs(wide.q[:, 1] - 0.9)))
    turns = wide.with_turns(number)
    np.testing.assert_allclose(turns, [[2.8 - 2 * np.pi, 0.9], [2.8, 0.9], [2.8 + 2 * np.pi, 0.9]], atol=1e-9)
    with pytest.raises(SignatureError, match="there are 2 solutions, and none has the number 2"):
        wide.with_turns(2)
    near = limited(-7.0, 10.0).all_inverse_kinematics(target, "tool", reference=[8.0, 0.0])
    assert np.nanmin(np.abs(near.q[:, 0] - (2.8 + 2 * np.pi))) < 1e-9
    far = free.pose([0.0, 0.0], "tool")
    far[0, 3] = 5.0
    assert free.all_inverse_kinematics(far, "tool").status == "unreachable"


def test_axes_of_opposite_sense_base_and_tool_offsets_and_other_joints():
    ur = load("ur5")
    random = np.random.default_rng(8)
    joints = []
    # every second axis points the other way, and everything stands on a tilted, shifted base
    for k, joint in enumerate(ur.joints):
        axis = tuple((-1.0 if k % 2 else 1.0) * np.array(joint.motion.axis))
        placement = load("puma560").pose(random.normal(size=6), "tool") @ joint.placement if k == 0 else joint.placement
        joints.append(Joint(joint.name, joint.parent, joint.child, Revolute(axis), placement, joint.limits))
    finger = Joint("finger", ur.bodies[-1].name, "finger", Revolute())
    pose = load("puma560").pose(random.normal(size=6), "tool")
    arm = cy.Mechanism.of("other", [*ur.bodies, Body("finger")], [*joints, finger],
                          frames=[Frame("tool", ur.bodies[-1].name, pose)])
    q = arm.random_configuration(300, seed=0)
    targets = arm.pose(q, "tool")
    found = arm.all_inverse_kinematics(targets, "tool", reference=q[0])
    assert poses_differ(arm, found, targets) < 1e-12
    assert nearest(found, np.where(np.arange(7) < 6, q, q[0]), whole_turns=True).max() < 1e-8
    assert (found.q[found.found][:, 6] == q[0, 6]).all()


@pytest.mark.parametrize("name", ["puma560", "ur5", "planar3r"])
def test_a_pose_that_was_rounded_is_reached_as_nearly_as_it_can_be(name):
    arm = load(name)
    q = np.concatenate([arm.random_configuration(20, seed=9), np.zeros((1, arm.nq))])
    found = arm.all_inverse_kinematics(arm.pose(q, "tool").round(9), "tool")
    assert (found.status == "solved").all()
    assert nearest(found, q, whole_turns=True)[:-1].max() < 1e-6
    assert 1e-12 < np.nanmax(found.residual) < 5e-9


def test_a_continuum_is_told_in_the_coordinates_of_the_mechanism():
    arm = load("puma560")
    q = np.array([0.4, 0.9, 0.5, 0.3, 0.0, -1.2])
    found = arm.all_inverse_kinematics(arm.pose(q, "tool"), "tool", reference=q)
    assert nearest(found, q, whole_turns=False) < 1e-6
    assert found.continua[()]
    for c in found.continua[()]:
        moved = found.q[c.solution] + 0.4 * c.tangent
        assert np.abs(arm.pose(moved, "tool") - arm.pose(q, "tool")).max() < 1e-12
        assert c.free == 3 and c.tangent[3] == 1
        assert abs(c.weights @ found.q[c.solution] - c.value) < 1e-12


def test_a_general_wrist_arm_that_needs_the_quartic():
    rows = [(0, 0.5, 0.2, 1.4), (0, 0.1, 0.6, 0.35), (0, 0.05, 0.13, -1.3), (0, 0.55, 0, 1.2), (0, 0, 0, -1.5),
            (0, 0.1, 0.02, 0)]
    arm = cy.Mechanism.from_dh(rows, convention="standard")
    q = arm.random_configuration(40, seed=2)
    found = arm.all_inverse_kinematics(arm.pose(q, "tool"), "tool")
    assert poses_differ(arm, found, arm.pose(q, "tool")) < 1e-12
    assert nearest(found, q, whole_turns=True).max() < 1e-8


def test_parallel_first_axes_have_sheets_with_names_of_their_own():
    rows = [(0, 0.3, 0.4, 0), (0, 0, 0.3, RIGHT), (0, 0.05, 0.1, RIGHT), (0, 0.4, 0, -RIGHT), (0, 0, 0, RIGHT),
            (0, 0.1, 0, 0)]
    arm = cy.Mechanism.from_dh(rows, convention="standard")
    q = arm.random_configuration(100, seed=6)
    found = arm.all_inverse_kinematics(arm.pose(q, "tool"), "tool")
    assert nearest(found, q, whole_turns=True).max() < 1e-8
    for k in range(100):
        names = found.branches[k][found.found[k]]
        assert len(set(names)) == len(names)


def chain(*joints):
    bodies = [Body(f"b{k}") for k in range(len(joints) + 1)]
    made = [Joint(f"j{k}", f"b{k}", f"b{k + 1}", motion, None, mimic=mimic) for k, (motion, mimic) in enumerate(joints)]
    return cy.Mechanism.of("odd", bodies, made)


def test_what_has_no_closed_form_is_refused_with_the_reason():
    for name, reason in (("iiwa14", "joints RRRRRRR: no family has these joints"), ("panda", "RRRRRRR")):
        with pytest.raises(UnsupportedError, match=reason):
            load(name).all_inverse_kinematics(np.eye(4), "tool")
    general = cy.Mechanism.from_dh(np.random.default_rng(0).uniform(0.1, 1, (6, 4)), convention="standard")
    with pytest.raises(UnsupportedError, match=r"spherical wrist: a_4 should be zero.*UR family"):
        general.all_inverse_kinematics(np.eye(4), "tool")
    with pytest.raises(UnsupportedError, match="'j0' is helical"):
        chain((Helical(pitch=0.1), None), (Revolute(), None)).all_inverse_kinematics(np.eye(4), "b2")
    with pytest.raises(UnsupportedError, match="'j1' mimics 'j0'"):
        chain((Revolute(), None), (Revolute(), Mimic("j0"))).all_inverse_kinematics(np.eye(4), "b2")
    with pytest.raises(UnsupportedError, match="no joint moves"):
        load("ur5").all_inverse_kinematics(np.eye(4), "base")
    with pytest.raises(cy.ModelError, match="no frame or body 'tol'"):
        load("ur5").all_inverse_kinematics(np.eye(4), "tol")
    with pytest.raises(cy.CayleyError):
        load("ur5").all_inverse_kinematics(2 * np.eye(4), "tool")
