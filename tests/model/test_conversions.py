"""Every description of a chain into every other, and back: the poses stay.

What a description cannot hold is refused by name.
"""

from itertools import permutations

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError
from cayley.model.denavit_hartenberg.axis_lines import lines_from_tree
from cayley.model.denavit_hartenberg.conversion import dh_from_tree, tree_from_axis_lines, tree_from_dh
from cayley.model.denavit_hartenberg.screw_axes import screw_axes_from_tree, tree_from_screw_axes
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.mjcf_text import dump_mjcf
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.toml_text import dump_toml
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.urdf_text import dump_urdf
from cayley.model.joint_kinds import Floating, Helical, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Limits, Mimic
from cayley.model.tree import Tree
from model.plain_forward import frame_poses
from model.random_trees import random_pose, unit

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")


def through_dh(convention):
    def convert(tree):
        table = dh_from_tree(tree, convention=convention, frame="tool").table
        return tree_from_dh(table.rows, convention=convention, base=table.base, tool=table.tool)
    return convert


def through_urdf(tree):
    """URDF has links for frames: the frame is named anew."""
    back = load_urdf(dump_urdf(tree))
    return Tree.of(back.name, back.bodies, back.joints, frames=[Frame("tip", "tool")])


def renamed(tree, name):
    """The tip of a converted chain as the frame "tool" again, and none besides."""
    poses = {f.name: f for f in tree.frames}
    tip = poses.get(name) or Frame(name, name)
    if tip.body == "tool":  # URDF's link of the frame
        joint = next(j for j in tree.joints if j.child == "tool")
        return Tree.of(tree.name, [b for b in tree.bodies if b.name != "tool"],
                       [j for j in tree.joints if j.child != "tool"],
                       frames=[Frame("tool", joint.parent, joint.placement @ tip.pose)])
    return Tree.of(tree.name, tree.bodies, tree.joints, frames=[Frame("tool", tip.body, tip.pose)])


WAYS = {
    "standard table": lambda tree: renamed(through_dh("standard")(tree), "tool"),
    "modified table": lambda tree: renamed(through_dh("modified")(tree), "tool"),
    "axis lines": lambda tree: renamed(tree_from_axis_lines(lines_from_tree(tree, "tool"), convention="modified",
                                                            tool=frame_poses(tree, np.zeros(tree.nq))["tool"]), "tool"),
    "screw axes": lambda tree: renamed(tree_from_screw_axes(screw_axes_from_tree(tree, "tool")), "tool"),
    "URDF": lambda tree: renamed(through_urdf(tree), "tip"),
    "TOML": lambda tree: load_toml(dump_toml(tree)),
    "MJCF": lambda tree: renamed(load_mjcf(dump_mjcf(tree, leave_out=True)), "tool"),
}


def random_chain(seed):
    random = np.random.default_rng(seed)
    motions = [
        Revolute(tuple(unit(random))) if random.random() < 0.7 else Prismatic(tuple(unit(random))) for _ in range(5)]
    joints = [Joint(f"joint{k + 1}", f"b{k}", f"b{k + 1}", motion, random_pose(random), Limits((-2.0,), (2.0,)))
              for k, motion in enumerate(motions)]
    return Tree.of("chain", [Body(f"b{k}") for k in range(6)], joints,
                   frames=[Frame("tool", "b5", random_pose(random))])


@pytest.mark.parametrize(("first", "second"), list(permutations(WAYS, 2)))
def test_poses_and_limits_survive_any_two_conversions(first, second):
    for seed in range(2):
        tree = random_chain(seed)
        converted = WAYS[second](WAYS[first](tree))
        moving = [joint for joint in converted.joints if joint.motion.nq]
        assert [(joint.name, joint.limits.lower, joint.limits.upper) for joint in moving] == [
            (joint.name, joint.limits.lower, joint.limits.upper) for joint in tree.joints]
        for q in np.random.default_rng(seed).uniform(-2, 2, size=(3, 5)):
            np.testing.assert_allclose(
                frame_poses(converted, q)["tool"],
                frame_poses(tree, q)["tool"], rtol=0, atol=1e-12)


REFUSED = {
    "standard table": (Helical(pitch=0.1), Universal(), Spherical(), Planar(), Floating()),
    "modified table": (Helical(pitch=0.1), Universal(), Spherical(), Planar(), Floating()),
    "axis lines": (Helical(pitch=0.1), Universal(), Spherical(), Planar(), Floating()),
    "screw axes": (Universal(), Spherical(), Planar(), Floating()),
    "URDF": (Helical(pitch=0.1), Universal(), Spherical()),
    "MJCF": (Helical(pitch=0.1),),
}


@pytest.mark.parametrize(("way", "motion"), [(way, motion) for way, motions in REFUSED.items() for motion in motions],
                         ids=lambda x: x if isinstance(x, str) else x.word)
def test_what_a_description_cannot_hold_is_refused_by_name(way, motion):
    joints = [Joint("first", "a", "b", Revolute()), Joint("odd one", "b", "c", motion)]
    tree = Tree.of("odd", [Body(name) for name in "abc"], joints, frames=[Frame("tool", "c")])
    with pytest.raises(CayleyError, match=rf"'odd one'.*{motion.word}|{motion.word}.*'odd one'"):
        WAYS[way](tree)


def test_branches_followers_and_fixed_frames_have_no_table_lines_or_screws():
    joints = [Joint("left", "a", "b", Revolute()), Joint("right", "a", "c", Revolute())]
    fork = Tree.of("fork", [Body(name) for name in "abc"], joints)
    follower = Tree.of("pair", [Body(name) for name in "abc"],
                       [joints[0], Joint("right", "b", "c", Revolute(), mimic=Mimic("left"))])
    for convert in (lambda tree: dh_from_tree(tree, convention="standard"), lines_from_tree, screw_axes_from_tree):
        with pytest.raises(CayleyError, match=r"fork has 2 ends \(b, c\): name the frame"):
            convert(fork)
        with pytest.raises(CayleyError, match="joint 'right' mimics 'left'"):
            convert(follower)
    with pytest.raises(CayleyError, match="no joint moves between the root of fork and 'a'"):
        dh_from_tree(fork, convention="standard", frame="a")


@pytest.mark.parametrize("ending", [".toml", ".urdf", ".xml"])
def test_a_mechanism_is_saved_and_loaded(tmp_path, ending):
    arm = cy.load("panda")
    path = tmp_path / f"panda{ending}"
    arm.save(path, leave_out=True)
    q = arm.random_configuration(4, seed=0)
    np.testing.assert_allclose(cy.load(path).pose(q, "tool"), arm.pose(q, "tool"), rtol=0, atol=1e-12)
    table = arm.dh_table(convention="modified")
    again = cy.Mechanism.from_dh(table.rows, convention="modified", base=table.base, tool=table.tool)
    np.testing.assert_allclose(again.pose(q, "tool"), arm.pose(q, "tool"), rtol=0, atol=1e-12)
