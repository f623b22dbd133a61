"""Tables in both conventions, trees from them and back; oracles: products of elementary matrices, golden poses of the
catalogue.
"""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayley as cy
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.geometry.inertia.consistency import physical_consistency
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.model.angle_texts import angle_of
from cayley.model.denavit_hartenberg.conversion import dh_from_tree, tree_from_dh
from cayley.model.denavit_hartenberg.table import (
    DHRow,
    DHTable,
    convert_dh,
    dh_frames,
    dh_tool_pose,
    modified_dh_pose,
    rows_from_numbers,
    standard_dh_pose,
)
from cayley.model.joint_kinds import Helical, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Mimic, Rotor
from cayley.model.tree import Tree
from compiler.parity import check_parity
from model.elementary import rot, row_pose, table_poses, tran, tree_poses

CATALOGUE = Path(cy.__file__).parent / "model/catalogue"
POSES = {"standard": standard_dh_pose, "modified": modified_dh_pose}
RIGHT = np.pi / 2
lengths = st.one_of(st.sampled_from([0.0, 1e-9, -0.3]), st.floats(-2, 2))
angles = st.one_of(st.sampled_from([0.0, RIGHT, -RIGHT, np.pi, -np.pi]), st.floats(-np.pi, np.pi))
rows = st.builds(DHRow, angles, lengths, lengths, angles, st.sampled_from(["revolute", "prismatic"]))
poses = st.builds(lambda a, b, c, x, y, z: tran(x, y, z) @ rot("z", a) @ rot("y", b) @ rot("x", c), *[angles] * 3,
                  *[lengths] * 3)
conventions = st.sampled_from(["standard", "modified"])
clear_angles = angles.filter(lambda angle: abs(np.sin(angle)) > 1e-2 or abs(np.sin(angle)) < 1e-15)
clear_rows = st.builds(DHRow, angles, lengths, lengths, clear_angles, st.sampled_from(["revolute", "prismatic"]))
clear_tables = st.builds(DHTable, st.lists(clear_rows, min_size=1, max_size=8).map(tuple), conventions, poses, poses)
tables = st.builds(DHTable, st.lists(rows, min_size=1, max_size=8).map(tuple), conventions, poses, poses)


def other(convention):
    return "modified" if convention == "standard" else "standard"


def coordinates(table, seed=0):
    return np.random.default_rng(seed).uniform(-3, 3, len(table.rows))


# One row


@pytest.mark.spec("S1-07", "S3-12")
@given(conventions, angles, lengths, lengths, angles)
def test_a_row_is_the_product_of_four_elementary_transforms(convention, theta, d, a, alpha):
    pose = POSES[convention](theta, d, a, alpha)
    np.testing.assert_allclose(pose, row_pose(convention, theta, d, a, alpha), rtol=0, atol=2e-15)
    np.testing.assert_allclose(pose[:3, :3].T @ pose[:3, :3], np.eye(3), rtol=0, atol=1e-15)
    if convention == "modified":                                                   # (2.3.4)
        np.testing.assert_allclose(pose[:3, 3], [a, -d * np.sin(alpha), d * np.cos(alpha)], rtol=0, atol=1e-15)
        np.testing.assert_allclose(pose[:3, :3], (rot("x", alpha) @ rot("z", theta))[:3, :3], rtol=0, atol=2e-15)


@pytest.mark.spec("S1-07", "S3-12")
@pytest.mark.parametrize("alpha", [0.0, RIGHT, -RIGHT, np.pi])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_the_coordinate_enters_theta_or_d_and_adds_to_the_offset(kind, alpha):
    row = DHRow(theta=0.3, d=0.2, a=0.4, alpha=alpha, kind=kind)
    theta, d = (0.3 + 0.7, 0.2) if kind == "revolute" else (0.3, 0.2 + 0.7)
    for convention, pose in POSES.items():
        found = dh_tool_pose(DHTable((row,), convention), [0.7])
        np.testing.assert_allclose(found, row_pose(convention, theta, d, 0.4, alpha), rtol=0, atol=2e-15)
        np.testing.assert_array_equal(found, pose(theta, d, 0.4, alpha))
        tree = tree_from_dh([row], convention=convention)
        assert isinstance(tree.joints[0].motion, Revolute if kind == "revolute" else Prismatic)
        np.testing.assert_allclose(tree_poses(tree, np.array([0.7]))["frame1"], found, rtol=0, atol=2e-15)


@pytest.mark.parametrize("kernel", POSES.values(), ids=POSES)
def test_rows_are_the_same_in_every_back_end(kernel):
    check_parity(kernel, *np.random.default_rng(3).uniform(-2, 2, (4, 3)))


# Whole tables


@pytest.mark.spec("S2-30")
@given(tables)
def test_frames_are_the_running_product(table):
    q = coordinates(table)
    frames, tool = table_poses(table, q)
    np.testing.assert_allclose(dh_frames(table, q), frames, rtol=0, atol=1e-13)
    np.testing.assert_allclose(dh_tool_pose(table, q), tool, rtol=0, atol=1e-13)
    many = np.stack([q, 2 * q, 0 * q])
    np.testing.assert_array_equal(dh_frames(table, many)[0], dh_frames(table, q))


WE_10 = rows_from_numbers([(0, -RIGHT, 0), (0.4318, 0, 0.1491), (-0.0203, RIGHT, 0), (0, -RIGHT, 0.4331), (0, RIGHT, 0),
                           (0, 0, 0.0563)], order="a alpha d")


@pytest.mark.spec("S2-30")
def test_worked_example_10():
    q = [0.3, -0.7, 0.5, 1.1, 0.9, -0.4]
    golden = [[0.606447113, -0.795079513, 0.008394423,
               0.17071145], [0.536806888, 0.417192189, 0.733341013, 0.250018808],
              [-0.586566504, -0.440226356, 0.679809158, 0.7368803]]
    table = DHTable(WE_10, "standard")
    np.testing.assert_allclose(dh_tool_pose(table, q)[:3], golden, rtol=0, atol=1e-8)
    np.testing.assert_allclose(
        dh_frames(table, q)[4, :3, 3], [0.170238844, 0.208731709, 0.698607045], rtol=0, atol=1e-8)


@pytest.mark.spec("S2-30")
def test_worked_example_13_with_a_slide():
    arm = rows_from_numbers([(0, -RIGHT, 0.412, 0), (0, RIGHT, 0.154, 0), (0, 0, 0, -RIGHT, "prismatic"),
                             (0, -RIGHT, 0, 0), (0, RIGHT, 0, 0), (0, 0, 0.263, 0)], order="a alpha d theta kind")
    place = dh_tool_pose(DHTable(arm, "standard"), [0.3, -0.5, 0.6, 0.2, 0.7, -0.9])[:3, 3]
    np.testing.assert_allclose(place, [-0.3351564638, -0.1162914383, 1.1312159903], rtol=0, atol=1e-9)


@pytest.mark.spec("S3-12")
def test_w3_08_mixed_arm_with_offsets():
    arm = rows_from_numbers([(0, 0, 0.4, 0, "revolute"), (0.1, RIGHT, 0.2, 0.3, "prismatic"),
                             (0.3, -np.pi / 3, 0.05, 0, "revolute"), (0.25, RIGHT, 0.1, 0.2, "revolute")],
                            order="a alpha d theta kind")
    golden = [[0.2220757890, -0.9532717520, -0.2048299557, 0.7143301231],
              [-0.5912080560, 0.0354012939, -0.8057417595, -0.3284703691],
              [0.7753421042, 0.3000328569, -0.5557201690, 0.4540273259]]
    np.testing.assert_allclose(
        dh_tool_pose(DHTable(arm, "modified"), [0.4, 0.15, -0.7, 1.1])[:3], golden, rtol=0, atol=1e-10)


@pytest.mark.spec("S1-07")
def test_fixture_f6_general_twists():
    arm = rows_from_numbers([(0.3, 0.1, 0.2, 0, "revolute"), (-0.7, 0.4, 0, 0.4, "prismatic"),
                             (1.1, -0.2, -0.1, 0, "revolute"), (0.5, 0.3, 0.15, 0, "revolute")],
                            order="alpha a d theta kind")
    place = dh_tool_pose(DHTable(arm, "modified"), [0.6, 0.35, -1.1, 0.8])[:3, 3]
    np.testing.assert_allclose(place, [0.437200452707, -0.00468146987161, 0.421205925371], rtol=0, atol=1e-12)


@given(tables)
def test_conversion_keeps_the_tool(table):
    q = coordinates(table)
    converted = convert_dh(table, convention=other(table.convention))
    assert converted.convention != table.convention
    np.testing.assert_allclose(table_poses(converted, q)[1], table_poses(table, q)[1], rtol=0, atol=1e-13)
    again = convert_dh(converted, convention=table.convention)
    np.testing.assert_allclose(table_poses(again, q)[1], table_poses(table, q)[1], rtol=0, atol=1e-13)
    bare = DHTable(table.rows, "standard")
    back = convert_dh(convert_dh(bare, convention="modified"), convention="standard")
    np.testing.assert_allclose(back.tool, np.eye(4), rtol=0, atol=1e-15)
    np.testing.assert_allclose(back.base, np.eye(4), rtol=0, atol=0)


# Trees


@given(tables)
@pytest.mark.spec("S1-05")
def test_the_tree_has_the_frames_of_the_convention(table):
    tree = tree_from_dh(table.rows, convention=table.convention, base=table.base, tool=table.tool)
    q = coordinates(table)
    frames, tool = table_poses(table, q)
    found = tree_poses(tree, q)
    for i, frame in enumerate(frames):
        np.testing.assert_allclose(found[f"frame{i}"], frame, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found["tool"], tool, rtol=0, atol=1e-13)
    assert [j.parent for j in tree.joints] == [b.name for b in tree.bodies[:-1]]
    assert [j.child for j in tree.joints] == [b.name for b in tree.bodies[1:]]


@pytest.mark.spec("S1-05")
@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("about", ["center", "origin"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_mass_properties_are_those_given_in_the_frames_of_the_convention(convention, about, n):
    """Oracle: a cloud of point masses fixed to frame i; its second moments about the base are the same in the tree."""
    random = np.random.default_rng(n)
    arm = [DHRow(*random.uniform(-1, 1, 4), kind=kind) for kind in random.choice(["revolute", "prismatic"], n)]
    clouds, weights = random.normal(size=(n, 5, 3)), random.uniform(0.1, 1, (n, 5))
    masses = weights.sum(axis=1)
    centers = np.einsum("nk,nki->ni", weights, clouds) / masses[:, None]
    spread = clouds - (centers[:, None] if about == "center" else 0.0)
    second = np.einsum("nk,nki,nkj->nij", weights, spread, spread)
    inertias = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    tree = tree_from_dh(arm, convention=convention, masses=masses, centers=centers, inertias=inertias,
                        inertia_about=about)
    where = tree_poses(tree, random.uniform(-2, 2, n))
    for i, body in enumerate(tree.bodies[1:]):
        frame, link = where[f"frame{i + 1}"], where[body.name]
        points = clouds[i] @ frame[:3, :3].T + frame[:3, 3]
        center = weights[i] @ points / masses[i]
        np.testing.assert_allclose(link[:3, :3] @ body.center + link[:3, 3], center, rtol=0, atol=1e-13)
        about_center = points - center
        moments = np.einsum("k,ki,kj->ij", weights[i], about_center, about_center)
        expected = np.trace(moments) * np.eye(3) - moments
        np.testing.assert_allclose(link[:3, :3] @ body.inertia @ link[:3, :3].T, expected, rtol=0, atol=1e-13)
        # J_c positive semidefinite
        assert physical_consistency(MassProperties(body.mass, body.center, body.inertia))


@pytest.mark.spec("S1-05")
def test_unknown_and_zero_masses_and_no_tool():
    tree = tree_from_dh([DHRow(a=1.0), DHRow(a=0.5)], convention="modified", masses=[None, 0.0])
    assert [b.mass for b in tree.bodies] == [None, None, 0.0]
    np.testing.assert_array_equal(tree.frame("tool").pose, np.eye(4))


@pytest.mark.spec("S1-05")
def test_what_is_wrong_with_a_description_is_said():
    row = DHRow(a=1.0)
    with pytest.raises(ModelError, match="at least one row"):
        tree_from_dh([], convention="modified")
    with pytest.raises(ModelError, match="revolute or prismatic, not 'helical'"):
        DHRow(kind="helical")
    with pytest.raises(ModelError, match="finite"):
        DHRow(a=np.nan)
    with pytest.raises(ModelError, match="finite"):
        DHRow(a="0.5")
    with pytest.raises(ModelError, match="1 rows, but there are 2 masses"):
        tree_from_dh([row], convention="modified", masses=[1.0, 2.0])
    with pytest.raises(ModelError, match="without masses"):
        tree_from_dh([row], convention="modified", inertias=[np.eye(3)])
    with pytest.raises(ModelError, match="mass -1"):
        tree_from_dh([row], convention="modified", masses=[-1.0])
    with pytest.raises(ModelError, match="not symmetric"):
        tree_from_dh([row], convention="modified", masses=[1.0], inertias=[[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]])
    with pytest.raises(ModelError, match="two bodies named"):
        tree_from_dh([DHRow(body="link"), DHRow(body="link")], convention="modified")
    with pytest.raises(ModelError, match=r"base.*not a pose"):
        tree_from_dh([row], convention="modified", base=np.diag([1, 1, -1, 1]))


def test_the_convention_is_named_never_assumed():
    with pytest.raises(TypeError, match="convention"):
        tree_from_dh([DHRow()])
    for wrong in ("distal", "", None, "Standard"):
        with pytest.raises(ConventionError, match="must be named"):
            tree_from_dh([DHRow()], convention=wrong)
        with pytest.raises(ConventionError, match="must be named"):
            convert_dh(DHTable((DHRow(),), "standard"), convention=wrong)
    with pytest.raises(ConventionError, match="inertia_about"):
        tree_from_dh([DHRow()], convention="standard", inertia_about="com")
    with pytest.raises(ConventionError, match="columns"):
        rows_from_numbers([(0, 0)], order="a beta")
    with pytest.raises(ModelError, match=r"shape \(..., 1\)"):
        dh_frames(DHTable((DHRow(),), "standard"), [0.0, 1.0])


def test_joints_keep_what_the_rows_say():
    row = DHRow(a=1.0, joint="shoulder", body="upper arm", limits=Limits((-1.0,), (2.0,)), friction=Friction(0.1, 0.2),
                rotor=Rotor(1e-4, 50.0))
    arm = tree_from_dh([row], convention="standard", base_body=Body("floor",
                                                                    7.0), frames=[Frame("camera", "upper arm")],
                       gravity=(0, -9.81, 0), source="here", name="one")
    joint = arm.joints[0]
    assert isinstance(arm, Tree) and arm.name == "one" and arm.source == "here" and arm.bodies[0].mass == 7.0
    assert (joint.name, joint.child, joint.limits.lower) == ("shoulder", "upper arm", (-1.0,))
    assert (joint.friction, joint.rotor) == (row.friction, row.rotor)
    assert "camera" in [f.name for f in arm.frames]
    np.testing.assert_array_equal(arm.gravity, [0, -9.81, 0])


# Back


@given(clear_tables, conventions)
def test_a_tree_made_from_a_table_gives_a_table_with_the_same_poses(table, convention):
    tree = tree_from_dh(table.rows, convention=table.convention, base=table.base, tool=table.tool)
    found = dh_from_tree(tree, convention=convention)
    assert found.table.convention == convention and found.tip == "tool" and found.residual < 2e-13
    q = coordinates(table, 5)
    np.testing.assert_allclose(table_poses(found.table, q)[1], table_poses(table, q)[1], rtol=0, atol=1e-12)
    assert [row.kind for row in found.table.rows] == [row.kind for row in table.rows]


@given(tables)
def test_rows_come_back_as_they_were_given(table):
    arm = cy.Mechanism(tree_from_dh(table.rows, convention=table.convention, base=table.base, tool=table.tool))
    found = arm.dh_table(convention=table.convention)
    turn = np.array([2 * np.pi, 0, 0, 2 * np.pi])
    numbers = np.array([row.numbers for row in found.rows])
    apart = numbers - [row.numbers for row in table.rows]
    assert np.abs(apart - turn * np.round(apart / (2 * np.pi))).max() < 1e-12
    assert (numbers[:, [0, 3]] >= -np.pi).all() and (numbers[:, [0, 3]] <= np.pi).all()
    assert [row.kind for row in found.rows] == [row.kind for row in table.rows]
    np.testing.assert_allclose(found.base, table.base, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.tool, table.tool, rtol=0, atol=1e-11)
    q = coordinates(table)
    same = arm.dh_table(convention=other(table.convention))
    np.testing.assert_allclose(table_poses(same, q)[1], table_poses(table, q)[1], rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["puma560", "stanford", "panda", "scara", "planar3r"])
def test_the_rows_of_a_file_come_back_to_the_last_digit_that_is_printed(name, tmp_path):
    file = tomllib.loads((CATALOGUE / f"{name}.toml").read_text(encoding="utf-8"))["dh"]
    given = [[angle_of(x) if isinstance(x := row.get(key, 0.0), str) else x for key in ("theta", "d", "a", "alpha")]
             for row in file["rows"]]
    arm = cy.load(name)
    arm.save(tmp_path / "arm.toml")
    for read in (arm, cy.load(tmp_path / "arm.toml"), arm.with_payload("tool", 1.0)):
        rows = read.dh_table(convention=file["convention"], frame="tool").rows
        np.testing.assert_allclose([row.numbers for row in rows], given, rtol=1e-14, atol=1e-15)
    canonical = arm.dh_table(convention=file["convention"], canonical=True)
    assert all(row.a >= 0 for row in canonical.rows)


def test_a_table_that_no_longer_holds_gives_way_to_the_axes():
    arm = cy.Mechanism.from_dh([(0, 0.3, -0.2, RIGHT), (0, 0, 0.4, 0.0), (0.5, 0, 0.1, 0)], convention="standard")
    moved = arm.with_joint("joint2", placement=np.asarray(arm.joints[1].placement) @ tran(y=0.1))
    q = np.random.default_rng(0).uniform(-1, 1, (5, 3))
    for changed in (moved, arm.locked({"joint2": 0.3})):
        table = changed.dh_table(convention="standard")
        np.testing.assert_allclose(dh_tool_pose(table, q[:, :changed.nq]), changed.pose(q[:, :changed.nq], "tool"),
                                   atol=1e-13)


def test_a_published_table_comes_back_number_by_number():
    for convention in ("standard", "modified"):
        puma = rows_from_numbers([(0, 0.67, 0.1, RIGHT), (0, 0, 0.43, 0), (0.2, 0.15, 0.02, -RIGHT),
                                  (0, 0.43, 0.1, RIGHT), (0, 0.1, 0.3, -1.0), (0, 0, 0.2, 0.7)])
        table = DHTable(puma, convention)
        tree = tree_from_dh(puma, convention=convention)
        hints = [tree_poses(tree, np.zeros(6))[f"frame{i}"][:3, 0] for i in range(1, 6)]
        found = dh_from_tree(tree, convention=convention, base=np.eye(4) if convention == "standard" else None,
                             base_x=None if convention == "standard" else [1, 0, 0], x_hints=hints)
        expected = [row.numbers for row in table.rows]
        # frame 0 was asked to be on axis 1: a_1 and alpha_1 are in the base
        if convention == "modified":
            expected[0] = (0.0, 0.0, 0.0, 0.0)
            np.testing.assert_allclose(found.table.base, row_pose("modified", 0, 0.67, 0.1, RIGHT), atol=1e-15)
        np.testing.assert_allclose([row.numbers for row in found.table.rows], expected, rtol=0, atol=1e-14)


def test_fixed_joints_are_folded_and_branches_chosen_by_name():
    joints = [
        Joint("mount", "floor", "base", placement=tran(z=1.0)),
        Joint("turn", "base", "arm", Revolute((0.0, 0.6, 0.8)), tran(x=0.1)),
        Joint("hold", "arm", "hand", placement=rot("x", 0.4)),
        Joint("other", "base", "camera", Revolute(), tran(y=1.0))]
    tree = Tree.of("two", [Body(n) for n in ("floor", "base", "arm", "hand", "camera")], joints)
    with pytest.raises(ModelError, match=r"2 ends \(hand, camera\)"):
        dh_from_tree(tree, convention="standard")
    found = dh_from_tree(tree, convention="standard", frame="hand")
    assert [row.joint for row in found.table.rows] == ["turn"]
    np.testing.assert_allclose(
        table_poses(found.table, [0.3])[1],
        tree_poses(tree, np.array([0.3, 0.0]))["hand"], atol=1e-15)
    with pytest.raises(ModelError, match="no joint moves"):
        dh_from_tree(tree, convention="standard", frame="base")


def test_what_has_no_table_is_refused_by_name():
    def chain(motion, **more):
        return Tree.of("odd", [Body("a"), Body("b"), Body("c")], [
            Joint("first", "a", "b", Revolute(),
                  rot("y", 0.7) @ rot("x", 0.4)),
            Joint("second", "b", "c", motion, **more)])

    for motion in (Helical(pitch=0.1), Spherical()):
        with pytest.raises(ModelError, match=f"'second' is {motion.word}"):
            dh_from_tree(chain(motion), convention="modified")
    with pytest.raises(UnsupportedError, match="'second' mimics 'first'"):
        dh_from_tree(chain(Revolute(), mimic=Mimic("first")), convention="modified")
    tilted = chain(Revolute(), placement=tran(x=0.4, y=0.3) @ rot("x", 1e-7))
    with pytest.raises(ModelError, match="first and second are 1e-07 rad from parallel"):
        dh_from_tree(tilted, convention="modified")
    allowed = dh_from_tree(tilted, convention="modified", tolerance=1e-6)
    q = np.array([0.3, -0.8])
    error = np.abs(table_poses(allowed.table, q)[1] - tree_poses(tilted, q)["c"]).max()
    assert 1e-12 < error <= 10 * allowed.residual < 1e-7


def test_the_axes_that_are_nearly_parallel_are_named_among_others():
    """Neither those at right angles, nor those that are parallel, of the same or of opposite sense."""
    places = [
        tran(z=0.2),
        tran(x=0.3) @ rot("x", np.pi),
        tran(x=0.4) @ rot("y", RIGHT),
        tran(x=0.4, y=0.3) @ rot("x", 1e-7),
        tran(x=0.2)]
    names = ["root", "one", "two", "three", "four", "five"]
    joints = [Joint(f"to {b}", a, b, Revolute(), place) for a, b, place in zip(names, names[1:], places, strict=False)]
    with pytest.raises(ModelError,
                       match="axes of to three and to four are 1e-07 rad from parallel: make them parallel"):
        dh_from_tree(Tree.of("arm", map(Body, names), joints), convention="modified")


def test_a_tolerance_below_rounding_is_told_as_it_is():
    """There is no pair of axes to blame."""
    arm = Tree.of("door", [Body("wall"), Body("leaf")],
                  [Joint("hinge", "wall", "leaf", Revolute(),
                         tran(0.1, 0.2, 0.3) @ rot("y", 0.7))])
    assert 0 < dh_from_tree(arm, convention="modified").residual < 1e-15
    with pytest.raises(ModelError, match=r"'leaf' to 0: the best is \S+ off\. Allow the difference with tolerance=$"):
        dh_from_tree(arm, convention="modified", tolerance=0.0)


def test_the_printed_table_names_the_moving_number():
    text = str(
        DHTable(rows_from_numbers([(0.5, 1, 2, 3), (0, 0.25, 0, 0, "prismatic")], order="theta d a alpha kind"),
                "modified"))
    assert "modified" in text and "q1 + 0.5" in text and "q2 + 0.25" in text


def printed_pose(text, q):
    """The pose of the tool from the numbers of a printed table alone, multiplied by hand."""
    def number(word):
        return float(eval(re.sub(r"(\d) pi", r"\1*pi", word), {"pi": np.pi}))
    def moved(word):
        coordinate = re.match(r"q(\d+)\s*(.*)", word)
        return number(word) if coordinate is None else q[int(coordinate[1]) - 1] + number(coordinate[2] or "0")
    head, *lines = text.splitlines()
    assert head.split() == ["i", "joint", "theta", "[rad]", "d", "[m]", "a", "[m]", "alpha", "[rad]", "modified"]
    pose = np.eye(4)
    for line in lines:
        end = re.fullmatch(r"(?:base|tool): x, y, z = (\S+), (\S+), (\S+) m(?:, roll, pitch, yaw = (.*) rad)?", line)
        if end:
            turned = [number(word) for word in (end[4] or "0, 0, 0").split(", ")]
            pose = pose @ tran(*map(float,
                                    end.groups()[:3])) @ rot("z", turned[2]) @ rot("y", turned[1]) @ rot(
                                        "x", turned[0])
        else:
            theta, d, a, alpha = (moved(word.strip()) for word in (line[15:29], line[30:42], line[43:55], line[56:70]))
            pose = pose @ tran(x=a) @ rot("x", alpha) @ tran(z=d) @ rot("z", theta)
    return pose


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560", "stanford", "scara"])
def test_the_printed_table_holds_all_of_the_pose(name):
    """With its base and its tool, and parts of pi by their names: the last digits that are not printed are all that is
    lost.
    """
    arm = cy.load(name)
    q = np.random.default_rng(3).uniform(-1.0, 1.0, arm.nq)
    text = repr(arm.dh_table(convention="modified", frame="tool"))
    np.testing.assert_allclose(printed_pose(text, q), arm.pose(q, "tool"), atol=2e-6)
    assert "1.5708" not in text and "3.1416" not in text


@pytest.mark.parametrize("row", [(0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0, "prismatic", 1), 1.0])
def test_rows_with_too_few_or_too_many_entries_are_refused(row):
    with pytest.raises(ModelError, match=r"row 2 of the table has \d entries"):
        rows_from_numbers([(0.0, 0.0, 1.0, 0.0), row])


@pytest.mark.parametrize("kind", ["prismatic", "revolute", "fixed"])
def test_a_kind_is_not_taken_for_the_name_of_a_joint(kind):
    with pytest.raises(ModelError, match=f"is its name, and '{kind}' is a kind: write kind='{kind}'"):
        DHRow(a=1.0, joint=kind)
    with pytest.raises(ModelError, match="must be revolute or prismatic, not 'slide'"):
        DHRow(kind="slide")
    assert DHRow(joint="slide", kind="prismatic").kind == "prismatic"


@pytest.mark.parametrize("value", [1e31, np.inf, np.nan, "1", 10**400])
def test_numbers_that_are_none_or_absurd_are_refused(value):
    with pytest.raises(ModelError, match="must be finite numbers that are not absurdly large"):
        DHRow(a=value)
