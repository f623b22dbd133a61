"""Frames from axis lines, all degenerate pairs, and screw axes; oracle: the product of exponentials by SciPy's matrix
exponential.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cayley.errors import ConventionError, ModelError
from cayley.model.denavit_hartenberg.axis_lines import AxisLine, assign_frames, lines_from_tree
from cayley.model.denavit_hartenberg.conversion import dh_from_tree, tree_from_axis_lines, tree_from_dh
from cayley.model.denavit_hartenberg.screw_axes import ScrewAxes, screw_axes_from_tree, tree_from_screw_axes
from cayley.model.denavit_hartenberg.table import DHTable, dh_frames, rows_from_numbers
from cayley.model.joint_kinds import Helical, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits
from cayley.model.tree import Tree
from model.elementary import exponentials, hat_twist, rot, table_poses, tran, tree_poses, twist_of_line

CONVENTIONS = ("standard", "modified")
RIGHT = np.pi / 2
Z = np.array([0.0, 0.0, 1.0])


def unit(random):
    v = random.normal(size=3)
    return v / np.linalg.norm(v)


def random_lines(random, kinds):
    return [AxisLine(random.normal(size=3), unit(random), kind) for kind in kinds]


R6 = ["revolute"] * 6
SCARA = [
    AxisLine([0, 0, 0], Z),
    AxisLine([0.4, 0, 0], Z),
    AxisLine([0.7, 0, 0], Z),
    AxisLine([0.7, 0, 0], Z, "prismatic")]
SHOULDER_OFFSET = [
    AxisLine([0, 0, 0], Z),
    AxisLine([0, 0, 0], [0, 1, 0]),
    AxisLine([0.43, 0.15, 0], [0, 1, 0]),
    AxisLine([0.45, 0.15, 0.43], Z),
    AxisLine([0.45, 0.15, 0.43], [0, 1, 0]),
    AxisLine([0.45, 0.15, 0.43], Z)]
ONE_LINE = [
    AxisLine([0, 0, 0], Z),
    AxisLine([0, 0, 1], Z),
    AxisLine([0, 0, 0.3], -Z, "prismatic"),
    AxisLine([0, 0, 0.7], Z),
    AxisLine([0, 0, 2], -Z)]
ANTIPARALLEL = [
    AxisLine([0, 0, 0], Z),
    AxisLine([0.3, 0.4, 1], -Z),
    AxisLine([1, 0, 2], Z),
    AxisLine([1, 2, 2], [1, 0, 0])]
MEETING_SKEW_PARALLEL = [
    AxisLine([0, 0, 0], Z),
    AxisLine([0, 0, 0.4], [0, 0.6, 0.8]),
    AxisLine([0.3, 0.1, 0.2], [0.8, 0.6, 0]),
    AxisLine([0.1, 0.9, 0.2], [0.8, 0.6, 0]),
    AxisLine([0.1, 0.9, 0.2], [0.8, 0.6, 0], "prismatic")]
CASES = {
    "random": random_lines(np.random.default_rng(7),
                           ["revolute", "revolute", "prismatic", "revolute", "prismatic", "revolute"]),
    "scara": SCARA,
    "shoulder offset": SHOULDER_OFFSET,
    "one line": ONE_LINE,
    "antiparallel": ANTIPARALLEL,
    "mixed": MEETING_SKEW_PARALLEL,
    "alone": [AxisLine([0.1, 0.2, 0.3], [0.6, 0, 0.8])],
    "alone, slide": [AxisLine([0.1, 0.2, 0.3], [0.6, 0, 0.8], "prismatic")],
    "twenty": random_lines(np.random.default_rng(8), ["revolute", "prismatic"] * 10), }
TOOLS = {
    "no tool": None, "on axis": "on axis",
    "general": tran(0.9, -0.3, 0.5) @ rot("x", 0.4) @ rot("y", 1.1) @ rot("z", -2.0)}


def tool_of(lines, which):
    if isinstance(which, str):
        last = lines[-1]
        return tran(*(last.point + 0.3 * last.direction)) @ rot("x", 0.3) @ rot("y", 0.2)
    return which


@pytest.mark.spec("S1-06", "S3-10", "S3-11", "S2-29")
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("sense", ["feet", "cross"])
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("case", CASES)
def test_the_chain_is_the_product_of_exponentials(case, tool, sense, convention):
    lines, tool = CASES[case], tool_of(CASES[case], TOOLS[tool])
    found = assign_frames(lines, convention=convention, tool=tool, sense=sense)
    assert found.residual < 1e-13
    home = dh_frames(found.table, np.zeros(len(lines)))[-1] @ found.table.tool
    if tool is not None:
        np.testing.assert_allclose(home, tool, rtol=0, atol=1e-13)
    twists = [twist_of_line(line) for line in lines]
    q = np.random.default_rng(1).uniform(-2, 2, (20, len(lines)))
    tolerance = 1e-12 if case == "twenty" else 1e-13
    for q_k, expected in zip(q, exponentials(twists, home, q), strict=True):
        np.testing.assert_allclose(table_poses(found.table, q_k)[1], expected, rtol=0, atol=tolerance)


@pytest.mark.spec("S1-06", "S3-10", "S3-11", "S2-29")
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("case", CASES)
def test_frames_are_where_the_convention_wants_them(case, convention):
    """z on the axes, x along common normals, from axis to axis; parameters re-composed give the frames."""
    lines = CASES[case]
    found = assign_frames(lines, convention=convention)
    frames = found.frames
    np.testing.assert_allclose(dh_frames(found.table, np.zeros(len(lines))), frames, rtol=0, atol=1e-13)
    for i, line in enumerate(lines):
        frame = frames[i] if convention == "standard" else frames[i + 1]
        np.testing.assert_allclose(frame[:3, 2], line.direction, rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.cross(frame[:3, 3] - line.point, line.direction), 0, rtol=0, atol=1e-12)
    for i in range(1, len(lines)):
        one, other, x, origin = lines[i - 1], lines[i], frames[i][:3, 0], frames[i][:3, 3]
        assert abs(x @ one.direction) < 1e-13 and abs(x @ other.direction) < 1e-13
        # the line through the origin along x meets both axes
        for line in (one, other):
            normal = np.cross(x, line.direction)
            assert abs((line.point - origin) @ normal) < 1e-12
    for row in found.table.rows:
        assert -np.pi < row.alpha <= np.pi and -np.pi < row.theta <= np.pi
        assert row.a >= 0                                                      # sense "feet"


@pytest.mark.spec("S3-10", "S3-11")
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_sense_cross_fixes_alpha_and_lets_a_be_negative(convention):
    found = assign_frames(CASES["random"], convention=convention, sense="cross")
    inner = found.table.rows[:-1] if convention == "standard" else found.table.rows[1:]
    assert all(0 < row.alpha < np.pi for row in inner)
    assert min(row.a for row in inner) < 0
    for i, (one, other) in enumerate(itertools.pairwise(CASES["random"]), 1):
        cross = np.cross(one.direction, other.direction)
        np.testing.assert_allclose(found.frames[i][:3, 0], cross / np.linalg.norm(cross), rtol=0, atol=1e-14)


@pytest.mark.spec("S3-10", "S3-11")
def test_w3_18_scara_rows():
    found = assign_frames(SCARA, convention="modified")
    expected = [(0, 0, 0, 0), (0, 0, 0.4, 0), (0, 0, 0.3, 0), (0, 0, 0, 0)]
    np.testing.assert_allclose([row.numbers for row in found.table.rows], expected, rtol=0, atol=1e-16)
    np.testing.assert_array_equal(found.table.base, np.eye(4))


@pytest.mark.spec("S1-06", "S2-29", "S3-10")
@pytest.mark.parametrize(("second", "kind", "angle", "distance"), [
    (AxisLine([0.3, 0.4, 9], Z), "parallel", 0, 0.5), (AxisLine([0.3, 0.4, 9], -Z), "antiparallel", np.pi, 0.5),
    (AxisLine([0, 0, 9], Z), "coincident", 0, 0), (AxisLine([0, 0, 9], -Z), "anticoincident", np.pi, 0),
    (AxisLine([0, 0, 9], [0, 0.6, 0.8]), "intersecting", np.arccos(0.8), 0),
    (AxisLine([2, 0, 9], [0, 0.6, 0.8]), "skew", np.arccos(0.8), 2)])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_kind_of_pair_is_reported_with_its_choice(convention, second, kind, angle, distance):
    found = assign_frames([AxisLine([0, 0, 0], Z), AxisLine([0, 0, 1], Z), second], convention=convention)
    pair = found.pairs[1]
    assert (pair.first, pair.second, pair.kind) == ("axis 2", "axis 3", kind)
    assert pair.angle == pytest.approx(angle, abs=1e-14) and pair.distance == pytest.approx(distance, abs=1e-14)
    assert (pair.choice == "") == (kind == "skew")
    assert kind in found.report()
    if kind != "skew":
        assert "free" in pair.choice


@pytest.mark.spec("S1-06", "S2-29")
def test_parallel_axes_get_the_normal_through_the_foot_before():
    lines = [
        AxisLine([0, 0, 0], [1, 0, 0]),
        AxisLine([0, 0.2, 0.5], Z),
        AxisLine([0.3, 0.6, -7], Z),
        AxisLine([3, 0.6, 11], -Z)]
    for convention in CONVENTIONS:
        found = assign_frames(lines, convention=convention)
        assert [row.d for row in found.table.rows[1:3]] == [0.0, 0.0]
        np.testing.assert_allclose(found.frames[2][:3, 3],
                                   [0, 0.2, 0.0] if convention == "modified" else [0.3, 0.6, 0.0], atol=1e-15)


@pytest.mark.spec("S2-29", "S3-11")
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_random_table_with_a_skew_a_meeting_and_a_parallel_pair_is_recovered(convention):
    random = np.random.default_rng(11)
    for _ in range(20):
        numbers = random.uniform([-3, -1, 0.1, 0.2], [3, 1, 1, 3], (6, 4))
        meeting, parallel = (2, 4) if convention == "standard" else (2, 3)
        numbers[meeting, 2] = 0.0
        numbers[parallel, 3] = 0.0
        d_after = parallel if convention == "standard" else parallel - 1
        numbers[d_after, 1] = 0.0                                # the one that the rule for parallel axes makes zero
        # frame 0 on axis 1 and the last x as before: the free choices
        if convention == "modified":
            numbers[0, 2:] = 0.0
            numbers[-1, :2] = 0.0
        table = DHTable(rows_from_numbers(numbers), convention)
        frames, tool = table_poses(table, np.zeros(6))
        on_axis = frames[:-1] if convention == "standard" else frames[1:]
        lines = [AxisLine(f[:3, 3] + random.normal() * f[:3, 2], f[:3, 2]) for f in on_axis]
        found = assign_frames(lines, convention=convention, base=np.eye(4), tool=tool)
        np.testing.assert_allclose([row.numbers for row in found.table.rows], numbers, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.table.tool, np.eye(4), rtol=0, atol=1e-14)


@pytest.mark.spec("S2-29")
def test_base_x_and_hints_choose_what_is_free():
    found = assign_frames(ONE_LINE, convention="standard", base_x=[0, 2, 5],
                          x_hints=[None, [1, 0, 3], None, [0, -1, 0]])
    np.testing.assert_allclose(found.frames[0][:3, 0], [0, 1, 0], atol=1e-15)
    np.testing.assert_allclose(found.frames[2][:3, 0], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(found.frames[4][:3, 0], [0, -1, 0], atol=1e-15)
    flipped = assign_frames(SCARA, convention="standard", x_hints=[[-1, 0, 0], None, None])
    assert flipped.table.rows[0].a == -0.4 and flipped.table.rows[1].a == pytest.approx(0.3, abs=1e-16)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_base_that_the_convention_cannot_have_is_refused(convention):
    with pytest.raises(ConventionError, match=f"in the {convention} convention the . axis of frame 0"):
        assign_frames(CASES["random"], convention=convention, base=np.eye(4))
    with pytest.raises(ConventionError, match="not both"):
        assign_frames(SCARA, convention=convention, base=np.eye(4), base_x=[1, 0, 0])


def test_a_base_off_the_first_axis_is_fine_where_the_convention_allows_it():
    lines = [AxisLine([0.5, 0, 0], [0, 0.6, 0.8]), AxisLine([0.9, 0, 0], [0, 0.6, 0.8])]
    found = assign_frames(lines, convention="modified", base=np.eye(4))
    first = found.table.rows[0]
    assert (first.a, first.theta) == (0.5, 0.0) and first.alpha == pytest.approx(-np.arccos(0.8), abs=1e-15)
    np.testing.assert_array_equal(found.table.base, np.eye(4))


def test_bad_lines_are_refused():
    with pytest.raises(ModelError, match="'elbow' has the length 2: it must be of length one"):
        AxisLine([0, 0, 0], [0, 0, 2], joint="elbow")
    with pytest.raises(ModelError, match="must not be zero"):
        AxisLine([0, 0, 0], [0, 0, 0])
    with pytest.raises(ModelError, match="finite"):
        AxisLine([0, 0, np.inf], Z)
    with pytest.raises(ModelError, match="revolute or prismatic"):
        AxisLine([0, 0, 0], Z, "helical")
    with pytest.raises(ModelError, match="no axes"):
        assign_frames([], convention="standard")
    with pytest.raises(ModelError, match="3 common normals"):
        assign_frames(SCARA, convention="standard", x_hints=[None])
    with pytest.raises(ModelError, match=r"base_x .* parallel"):
        assign_frames(SCARA, convention="standard", base_x=[0, 0, 1])
    with pytest.raises(ConventionError, match="sense"):
        assign_frames(SCARA, convention="standard", sense="left")
    with pytest.raises(ConventionError, match="must be named"):
        assign_frames(SCARA, convention="distal")


@given(st.integers(0, 10**6), st.floats(-15.5, -0.5), st.sampled_from(CONVENTIONS), st.booleans())
def test_nearly_parallel_axes_cost_no_more_than_they_must(seed, exponent, convention, opposite):
    """A tilt s costs about min(s, rounding / s): never more than 1e-7, and the residual tells."""
    random = np.random.default_rng(seed)
    tilt, direction = 10.0**exponent, unit(random)
    across = np.cross(direction, unit(random))
    tilted = np.cos(tilt) * direction + np.sin(tilt) * across / np.linalg.norm(across)
    lines = [
        AxisLine(random.normal(size=3), direction),
        AxisLine(random.normal(size=3), -tilted if opposite else tilted)]
    found = assign_frames(lines, convention=convention, tool=TOOLS["general"])
    q = random.uniform(-2, 2, 2)
    error = np.abs(
        table_poses(found.table, q)[1] - exponentials([twist_of_line(line)
                                                       for line in lines], TOOLS["general"], q)).max()
    cost = min(tilt, 2.3e-16 / tilt)
    assert error < 1e-13 + 300 * cost and found.residual < 1e-13 + 300 * cost


def test_a_tolerance_makes_tilted_axes_parallel_on_demand():
    lines = [AxisLine([0, 0, 0], Z), AxisLine([0.4, 0.3, 0], [0, np.sin(1e-6), np.cos(1e-6)])]
    strict, loose = (assign_frames(lines, convention="modified", tolerance=t) for t in (None, 1e-5))
    assert strict.pairs[0].kind == "skew" and strict.residual < 1e-9
    assert loose.pairs[0].kind == "parallel" and "1e-06 rad from parallel" in loose.pairs[
        0].choice and 1e-7 < loose.residual < 1e-5


# Trees


@pytest.mark.parametrize("case", ["random", "scara", "shoulder offset", "one line", "antiparallel", "mixed"])
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_lines_to_tree_and_back(case, convention):
    lines = CASES[case]
    tree = tree_from_axis_lines(lines, convention=convention, tool=TOOLS["general"])
    for given_line, line in zip(lines, lines_from_tree(tree), strict=True):
        assert line.kind == given_line.kind
        np.testing.assert_allclose(line.direction, given_line.direction, rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.cross(line.point - given_line.point, line.direction), 0, rtol=0, atol=1e-13)
    q = np.random.default_rng(2).uniform(-2, 2, len(lines))
    expected = exponentials([twist_of_line(line) for line in lines], TOOLS["general"], q)
    np.testing.assert_allclose(tree_poses(tree, q)["tool"], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("case", CASES)
def test_screw_axes_to_tree_and_back(case):
    lines = CASES[case]
    screws = ScrewAxes([twist_of_line(line) for line in lines], TOOLS["general"])
    tree = tree_from_screw_axes(screws)
    again = screw_axes_from_tree(tree)
    np.testing.assert_allclose(again.twists, screws.twists, rtol=0, atol=2e-15)
    np.testing.assert_allclose(again.home, screws.home, rtol=0, atol=2e-15)
    q = np.random.default_rng(3).uniform(-2, 2, len(lines))
    np.testing.assert_allclose(
        tree_poses(tree, q)["tool"], exponentials(screws.twists, screws.home, q), rtol=0, atol=1e-12)
    assert [j.motion.word for j in tree.joints] == [line.kind for line in lines]
    table = dh_from_tree(tree, convention="modified").table
    q = np.linspace(-1, 1, len(lines))
    np.testing.assert_allclose(
        table_poses(table, q)[1], exponentials(screws.twists, screws.home, q), rtol=0, atol=1e-12)


def test_screw_axes_of_a_table_by_hand():
    rows = rows_from_numbers([(0, 0, 0.4, 0), (0, 0.2, 0.3, RIGHT), (0, 0.1, 0, 0)], order="theta d a alpha")
    tree = tree_from_dh(rows, convention="standard", base=tran(z=1.0))
    screws = screw_axes_from_tree(tree, "frame3")
    np.testing.assert_allclose(screws.twists, [[0, 0, 0, 0, 0, 1], [0, -0.4, 0, 0, 0, 1], [1.2, 0, -0.7, 0, -1, 0]],
                               rtol=0, atol=1e-15)


def test_helical_axes_have_a_pitch():
    e = np.array([0.6, 0.0, 0.8])
    point = np.array([0.2, -0.3, 0.4])
    screws = ScrewAxes([np.concatenate([np.cross(point, e) + 0.05 * e, e])], tran(x=1.0), ("screw", ), (Limits(
        (-1.0,), (1.0,)), ))
    tree = tree_from_screw_axes(screws)
    joint = tree.joints[0]
    assert isinstance(joint.motion, Helical) and joint.motion.pitch == pytest.approx(
        0.05, abs=1e-16) and joint.limits.upper == (1.0,)
    np.testing.assert_allclose(screw_axes_from_tree(tree).twists, screws.twists, rtol=0, atol=1e-16)
    R, p = joint.motion.pose([0.7])
    moved = np.eye(4)
    moved[:3, :3], moved[:3, 3] = R, p
    found = joint.placement @ moved @ tree.frame("tool").pose
    np.testing.assert_allclose(found, exponentials(screws.twists, screws.home, [0.7]), rtol=0, atol=1e-15)


@pytest.mark.parametrize("far", [0.1, 1.0, 100.0, 1e4])
def test_rounding_makes_no_screw_of_a_turn(far):
    """Axes far from the origin, and axes through it whose given points are far; and the smallest pitch that can be
    meant stays.
    """
    random = np.random.default_rng(8)
    for _ in range(50):
        e = random.normal(size=3)
        e /= np.linalg.norm(e)
        across = np.cross(e, random.normal(size=3))
        for point in (far * across, 100 * e, 100 * e + far * across):
            turn, screw = (np.concatenate([np.cross(point, e) + pitch * e, e]) for pitch in (0.0, 1e-8 * max(far, 1.0)))
            kinds = [type(joint.motion) for joint in tree_from_screw_axes(ScrewAxes([turn, screw], np.eye(4))).joints]
            assert kinds == [Revolute, Helical]


def test_what_has_no_screw_axis_or_line_is_refused():
    tree = Tree.of("ball", [Body("a"), Body("b")], [Joint("hip", "a", "b", Spherical())])
    with pytest.raises(ModelError, match="'hip' is spherical"):
        screw_axes_from_tree(tree)
    with pytest.raises(ModelError, match="'hip' is spherical"):
        lines_from_tree(tree)
    helical = Tree.of("screw", [Body("a"), Body("b")], [Joint("jack", "a", "b", Helical(pitch=0.1))])
    with pytest.raises(ModelError, match="'jack' is helical"):
        lines_from_tree(helical)
    for twist, why in (([0, 0, 2, 0, 0, 0], "linear part of length one"), ([0, 0, 0, 0, 0,
                                                                            2], "zero or of length one")):
        with pytest.raises(ModelError, match=why):
            tree_from_screw_axes(ScrewAxes([twist], np.eye(4)))
    with pytest.raises(ModelError, match="no screw axes"):
        ScrewAxes(np.zeros((0, 6)), np.eye(4))
    with pytest.raises(ModelError, match="join 2 bodies"):
        tree_from_screw_axes(ScrewAxes([[0, 0, 1, 0, 0, 0]], np.eye(4)), bodies=[Body("a")])


def test_a_general_tree_gives_lines_and_screws_in_the_root():
    joints = [Joint("turn", "floor", "arm", Revolute((0.0, 0.6, 0.8)), tran(1, 2, 3) @ rot("x", 0.3)),
              Joint("weld", "arm", "bracket", placement=rot("y", 0.7) @ tran(y=0.2)),
              Joint("slide", "bracket", "hand", Prismatic((1.0, 0.0, 0.0)), tran(z=0.5))]
    bodies = [Body(n) for n in ("floor", "arm", "bracket", "hand")]
    tree = Tree.of("general", bodies, joints, frames=[Frame("grip", "hand", tran(0.1, 0.2, 0.3))])
    home = tree_poses(tree, np.zeros(2))
    lines, screws = lines_from_tree(tree, "grip"), screw_axes_from_tree(tree, "grip")
    np.testing.assert_allclose(lines[0].direction, home["arm"][:3, :3] @ [0, 0.6, 0.8], rtol=0, atol=1e-15)
    np.testing.assert_allclose(lines[1].point, home["hand"][:3, 3], rtol=0, atol=1e-15)
    q = np.array([0.4, -0.3])
    np.testing.assert_allclose(exponentials(screws.twists, screws.home, q),
                               tree_poses(tree, q)["grip"], rtol=0, atol=1e-14)
    assert np.abs(hat_twist(screws.twists[1])[:3, :3]).max() == 0.0
