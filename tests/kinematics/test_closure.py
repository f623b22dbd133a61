"""Closing of loops and mobility beside closed forms of linkages."""

import numpy as np
import pytest

from cayley.errors import ConventionError, UnreachableError
from cayley.geometry.motions.homogeneous import pose_from_quaternion
from cayley.kinematics.constraints.structure import mobility
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.loops.closing import close
from cayley.model.catalogue import load_robot
from cayley.model.constraint_kinds import Rod
from cayley.model.joint_kinds import JointKind, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Loop, Mimic
from cayley.model.tree import Tree

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def shift(x, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def four_bar(a=0.3, b=0.8, c=0.6, d=0.9, *, motion=None):
    """Crank a, coupler b, rocker c on a base d; the loop joins the ends of coupler and rocker."""
    joints = [Joint("crank", "base", "a", Revolute()), Joint("coupler", "a", "b", Revolute(), shift(a)),
              Joint("rocker", "base", "c", Revolute(), shift(d))]
    return Tree.of("four-bar", [Body(name) for name in ("base", "a", "b", "c")], joints,
                   frames=[Frame("tip of b", "b", shift(b)), Frame("tip of c", "c", shift(c))],
                   loops=[Loop("ring", "tip of b", "tip of c", motion or Revolute())])


def bennett(a=1.0, b=0.6, alpha=0.9):
    """The spatial four-bar that moves although Gruebler's count forbids it: sin(alpha) / a = sin(beta) / b."""
    beta = np.arcsin(np.sin(alpha) * b / a)

    def link(length, twist):
        return shift(length) @ pose_from_quaternion([np.cos(twist / 2), np.sin(twist / 2), 0, 0], [0, 0, 0])

    joints = [Joint("1", "base", "p", Revolute()), Joint("2", "p", "q", Revolute(), link(a, alpha)),
              Joint("3", "q", "r", Revolute(), link(b, beta))]
    return Tree.of("Bennett", [Body(name) for name in ("base", "p", "q", "r")], joints,
                   frames=[Frame("end", "r", link(a, alpha)), Frame("start", "base", np.linalg.inv(link(b, beta)))],
                   loops=[Loop("ring", "end", "start", Revolute())])


@pytest.mark.parametrize("motion", [Revolute(), Spherical(), Prismatic(X)], ids=["revolute", "spherical", "prismatic"])
def test_mobility_of_planar_loops_in_space_is_that_of_the_plane(motion):
    # three parallel axes less the two directions of the plane, or one and the turn
    assert mobility(four_bar(motion=motion)) == 1


def test_a_closed_four_bar_has_the_rocker_angle_of_the_cosine_rule():
    a, b, c, d = 0.3, 0.8, 0.6, 0.9
    found = close(four_bar(a, b, c, d), np.array([0.7, 0.4, 2.0]))
    assert found.status == "closed" and found.residual < 1e-12 and found.independent == 1
    crank, _, rocker = found.configuration
    end = np.array([d + c * np.cos(rocker), c * np.sin(rocker)]) - a * np.array([np.cos(crank), np.sin(crank)])
    assert np.hypot(*end) == pytest.approx(b, abs=1e-12)


def test_bennett_linkage_moves_with_one_degree_of_freedom_and_not_with_other_twists():
    assert mobility(bennett()) == 1
    tree = bennett()
    found = close(tree, np.array([0.8, -1.0, 0.5]))
    assert found.status == "closed" and found.independent == 1
    between = frame_pose(tree, found.configuration, "start", "end")
    np.testing.assert_allclose(between.R[:, 2], Z, atol=1e-11)
    np.testing.assert_allclose(between.p, 0.0, atol=1e-11)


def test_a_stewart_platform_has_six_degrees_of_freedom_and_six_more_for_the_spin_of_its_legs():
    angles = np.deg2rad([0, 60, 120, 180, 240, 300])
    feet = [shift(np.cos(t), np.sin(t)) for t in angles]
    tops = [shift(0.5 * np.cos(t + 0.3), 0.5 * np.sin(t + 0.3)) for t in angles]
    bodies, joints, frames, loops = [Body("base"), Body("plate")], [], [], []
    from cayley.model.joint_kinds import Floating
    joints.append(Joint("free", "base", "plate", Floating()))
    for k in range(6):
        bodies += [Body(f"cylinder{k}"), Body(f"piston{k}")]
        joints += [Joint(f"ball{k}", "base", f"cylinder{k}", Spherical(), feet[k]),
                   Joint(f"leg{k}", f"cylinder{k}", f"piston{k}", Prismatic())]
        frames.append(Frame(f"top{k}", "plate", tops[k]))
        loops.append(Loop(f"loop{k}", f"piston{k}", f"top{k}", Spherical()))
    assert mobility(Tree.of("platform", bodies, joints, frames=frames, loops=loops)) == 12


def test_mimic_joints_take_one_velocity_each_and_stay_where_they_belong_in_a_loop():
    joints = [
        Joint("a", "base", "one", Prismatic(X)),
        Joint("b", "base", "two", Prismatic(X), mimic=Mimic("a", 2.0, 0.1))]
    assert mobility(Tree.of("pair", [Body(n) for n in ("base", "one", "two")], joints)) == 1
    closed = Tree.of("pair", [Body(n) for n in ("base", "one", "two")], joints,
                     loops=[Loop("weld", "one", "two", JointKind())])
    found = close(closed, np.array([0.3, 0.3]))
    assert found.status == "closed" and found.independent == 0
    np.testing.assert_allclose(found.configuration, [-0.1, -0.1], atol=1e-12)


def test_a_loop_that_cannot_be_closed_is_said_to_be_open():
    impossible = four_bar(0.1, 0.1, 0.1, 5.0)
    assert close(impossible, np.zeros(3)).status == "open"
    with pytest.raises(UnreachableError, match=r"no configuration of four-bar .*ring.* 4\.7"):
        mobility(impossible)


def test_a_batch_of_guesses_is_closed_one_by_one_and_says_where_it_jumped():
    tree = four_bar()
    guesses = np.array([[[0.7, 0.4, 2.0], [0.2, 1.0, 1.5]], [[0.0, 0.0, 0.0], [1.0, 0.3, 1.9]]])
    found = close(tree, guesses)
    assert found.status.shape == (2, 2) and (found.status == "closed").all() and found.configuration.shape == (2, 2, 3)
    np.testing.assert_array_equal(found.configuration[0, 1], close(tree, guesses[0, 1]).configuration)
    assert found.by_chance.tolist() == [[False, False], [True, False]]  # links in a row: every small step is across
    with pytest.raises(ConventionError, match="configuration of finite numbers"):
        close(tree, np.array([0.0, np.nan, 0.0]))


def test_rods_close_a_four_bar_as_a_coupler_does():
    a, b, c, d = 0.3, 0.8, 0.6, 0.9
    joints = [Joint("crank", "base", "a", Revolute()), Joint("rocker", "base", "c", Revolute(), shift(d))]
    tree = Tree.of("rod four-bar", [Body(name) for name in ("base", "a", "c")], joints,
                   frames=[Frame("tip of a", "a", shift(a)), Frame("tip of c", "c", shift(c))],
                   constraints=[Rod("coupler", "tip of a", "tip of c", b)])
    assert mobility(tree) == 1
    found = close(tree, np.array([0.7, 2.0]))
    crank, rocker = found.configuration
    end = np.array([d + c * np.cos(rocker), c * np.sin(rocker)]) - a * np.array([np.cos(crank), np.sin(crank)])
    assert np.hypot(*end) == pytest.approx(b, abs=1e-12)
    with pytest.raises(UnreachableError, match="coupler"):
        mobility(Tree.of("torn", tree.bodies, tree.joints, frames=tree.frames,
                         constraints=[Rod("coupler", "tip of a", "tip of c", 5.0)]))


def test_an_open_tree_is_closed_everywhere_and_all_its_velocities_are_independent():
    arm = load_robot("planar2r")
    closure = close(arm, np.array([0.3, -0.2]))
    assert mobility(arm) == 2 and closure.status == "closed" and (closure.configuration == [0.3, -0.2]).all()
