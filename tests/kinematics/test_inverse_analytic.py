"""Analytic inverse kinematics: every solution of every family, the worked examples, and the poses with infinitely many
solutions.
"""

from functools import cache

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.errors import ModelError, UnsupportedError
from cayley.kinematics.inverse.analytic import (
    analytic_inverse_kinematics,
    count_pose_equations,
    decoupled_6r,
    elbow_discriminant,
    parallel_6r,
    planar_2r,
    planar_3r,
    scara,
    stanford_arm,
)
from cayley.kinematics.inverse.tracking import newton_iteration
from cayley.mechanism import Mechanism
from cayley.model.catalogue import load_robot
from cayley.model.denavit_hartenberg.conversion import dh_from_tree
from cayley.model.denavit_hartenberg.table import DHTable, convert_dh, dh_frames, dh_tool_pose, rows_from_numbers

ARMS = {"planar2r": planar_2r, "planar3r": planar_3r, "puma560": decoupled_6r, "scara": scara, "stanford": stanford_arm,
        "ur3": parallel_6r, "ur5": parallel_6r, "ur10": parallel_6r}
RIGHT = np.pi / 2


@cache
def table_of(name, convention="standard"):
    return dh_from_tree(load_robot(name), convention=convention).table


def table_from_degrees(a, alpha, d):
    return DHTable(rows_from_numbers(zip(a, np.radians(alpha), d, strict=True), order="a alpha d"), "standard")


WE10 = table_from_degrees((0, 0.4318, -0.0203, 0, 0, 0), (-90, 0, 90, -90, 90, 0), (0, 0.1491, 0, 0.4331, 0, 0.0563))
WE11 = table_from_degrees((0.2, 0.6, 0.13, 0, 0, 0), (90, 0, 90, -90, 90, 0), (0.81, 0, 0.03, 0.55, 0, 0.1))
WE12 = table_from_degrees((0.2, 0.6, 0.13, 0, 0, 0.02), (80, 20, -75, 70, -85, 0), (0.5, 0.1, 0.05, 0.55, 0, 0.1))
Q11 = np.array([0.4, 0.9, -0.5, 0.3, 0.8, -1.2])


def random_configuration(random, table):
    turns = np.array([row.kind == "revolute" for row in table.rows])
    return np.where(turns, random.uniform(-np.pi, np.pi, len(turns)), random.uniform(-0.8, 0.8, len(turns)))


def gap(table, solutions, q):
    """The distance of q from the nearest solution, turns left out."""
    turns = np.array([row.kind == "revolute" for row in table.rows])
    difference = solutions - q
    return np.abs(np.where(turns, np.mod(difference + np.pi, 2 * np.pi) - np.pi, difference)).max(axis=-1).min()


def closing(table, q, target, point=False):
    """Computed here, not by the code under test: the largest entry of the difference of poses."""
    difference = dh_tool_pose(table, q) - target
    return np.abs(difference[..., :3, 3] if point else difference).max()


def check(solve, table, q, **options):
    target = dh_tool_pose(table, q)
    found = solve(table, target, **options)
    assert found.status == "solved"
    assert closing(table, found.solutions, target, solve is planar_2r) < 1e-12
    assert found.residuals.max() < 1e-12
    assert len(set(found.branches)) == len(found.solutions) == len(found.residuals)
    return found


# Random configurations


@pytest.mark.parametrize("name", ARMS)
def test_the_generating_configuration_is_among_the_solutions(name):
    random, table, solve = np.random.default_rng(7), table_of(name), ARMS[name]
    counts = set()
    for _ in range(300):
        q = random_configuration(random, table)
        found = check(solve, table, q)
        assert gap(table, found.solutions, q) < 1e-8
        assert not found.degenerate
        counts.add(len(found.solutions))
    assert counts <= ({2, 4, 6, 8} if name.startswith("ur") else {8} if len(table.rows) == 6 else {2})


@pytest.mark.parametrize("name", ["ur3", "ur10"])
def test_branches_of_the_ur_family_are_what_their_names_say(name):
    """Left if axis 1, the crossing of axes 5 and 6, and axis 2 turn so; the others are the signs of sin(theta5) and
    sin(theta3).
    """
    random, table = np.random.default_rng(5), table_of(name)
    offsets = np.array([row.theta for row in table.rows])
    for _ in range(10):
        found = parallel_6r(table, dh_tool_pose(table, random_configuration(random, table)))
        for q, branch in zip(found.solutions, found.branches, strict=True):
            frames, sines = dh_frames(table, q), np.sin(q + offsets)
            crossing, axis = frames[5, :3, 3] - frames[0, :3, 3], frames[1, :3, 2]
            left = frames[0, :3, 2] @ np.cross(crossing, axis) > 0
            assert branch == ("shoulder left" if left else "shoulder right",
                              "wrist up" if sines[4] > 0 else "wrist down",
                              "elbow up" if sines[2] > 0 else "elbow down")


@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_branches_of_arms_with_a_spherical_wrist_are_what_their_names_say(name):
    """The wrist's centre is the origin of frame 4; the elbow is up where it leaves that of frame 1 as joint 3 grows."""
    random, table = np.random.default_rng(6), table_of(name)
    for _ in range(10):
        found = ARMS[name](table, dh_tool_pose(table, random_configuration(random, table)))
        for q, branch in zip(found.solutions, found.branches, strict=True):
            frames = dh_frames(table, q + 1e-6 * np.array([[0.0], [1.0], [-1.0]]) * (np.arange(6) == 2))
            front = frames[0, 1, :3, 0] @ (frames[0, 4, :3, 3] - frames[0, 0, :3, 3]) > 0
            far = np.linalg.norm(frames[:, 4, :3, 3] - frames[:, 1, :3, 3], axis=-1)
            flips = np.sin(q[4] + table.rows[4].theta) < 0
            assert branch == ("shoulder front" if front else "shoulder back",
                              "elbow up" if far[1] > far[2] else "elbow down",
                              "wrist flip" if flips else "wrist no flip")


@pytest.mark.parametrize("name", ARMS)
def test_the_modified_convention_gives_the_same(name):
    q = random_configuration(np.random.default_rng(3), table_of(name))
    target = dh_tool_pose(table_of(name), q)
    standard, modified = (ARMS[name](convert_dh(table_of(name), convention=c), target)
                          for c in ("standard", "modified"))
    assert np.abs(standard.solutions - modified.solutions).max() < 1e-10
    assert standard.branches == modified.branches


@pytest.mark.parametrize("name", ARMS)
def test_beyond_reach_there_is_no_solution(name):
    table, random = table_of(name), np.random.default_rng(5)
    for _ in range(20):
        target = dh_tool_pose(table, random_configuration(random, table))
        target[:2, 3] += 50.0 * np.array([1.0, 0.3])
        found = ARMS[name](table, target)
        if name != "stanford":  # its slide has no end: limits are not looked at
            assert found.status == "unreachable"
            assert found.solutions.shape == (0, len(table.rows))


@pytest.mark.spec("S2-32", "S2-33")
@pytest.mark.parametrize(("table", "counts"), [(WE10, {8}), (WE11, {4, 8}), (WE12, {2, 4, 6, 8})])
def test_decoupled_arms_of_all_kinds(table, counts):
    random, seen = np.random.default_rng(11), set()
    for _ in range(300):
        q = random_configuration(random, table)
        found = check(decoupled_6r, table, q)
        assert gap(table, found.solutions, q) < 1e-8
        seen.add(len(found.solutions))
    assert seen == counts


def test_the_stanford_arm_with_a_shoulder_offset_needs_the_quartic():
    table = DHTable(
        rows_from_numbers([(0.1, 1.4, 0.412, 0, "revolute"), (0.05, 1.6, 0.154, 0, "revolute"),
                           (0.02, 0.1, 0, -1.5, "prismatic"), (0, -RIGHT, 0, 0, "revolute"),
                           (0, RIGHT, 0, 0, "revolute"), (0, 0, 0.263, 0, "revolute")], order="a alpha d theta kind"),
        "standard")
    random = np.random.default_rng(2)
    for _ in range(100):
        q = random_configuration(random, table)
        assert gap(table, check(stanford_arm, table, q).solutions, q) < 1e-8


# Worked examples


@kernel("(2)->(2)")
def tip(q):
    return np.array([0.5 * np.cos(q[0]) + 0.4 * np.cos(q[0] + q[1]), 0.5 * np.sin(q[0]) + 0.4 * np.sin(q[0] + q[1])])


@pytest.mark.spec("S3-17")
def test_two_links_agree_with_newtons_method():
    found = planar_2r((0.5, 0.4), (0.6, 0.3)).solutions
    for start, q in (([0.0, 1.0], found[0]), ([1.0, -1.0], found[1])):
        assert np.abs(newton_iteration(tip, [0.6, 0.3], start).q - q).max() < 1e-11
    for unreachable in ((1.0, 0.0), (0.05, 0.0), (0.9 + 1e-9, 0.0), (0.0, 0.1 - 1e-9)):
        assert planar_2r((0.5, 0.4), unreachable).status == "unreachable"
    for boundary in ((0.9, 0.0), (0.1, 0.0), (0.0, -0.9)):
        assert planar_2r((0.5, 0.4), boundary).branches == (("elbow at its limit",),)
    assert [c.free for c in planar_2r((0.5, 0.5), (0.0, 0.0)).degenerate] == [0]


def test_two_links_with_negative_lengths_and_a_bent_tool():
    random = np.random.default_rng(8)
    for l1, l2 in ((-0.5, 0.4), (0.5, -0.4), (-0.5, -0.4)):
        tool = dh_tool_pose(DHTable(rows_from_numbers([(0.3,)], order="a"), "standard"), [0.8])
        arm = DHTable(rows_from_numbers([(l1,), (l2,)], order="a"), "standard", tool=tool)
        for q in random.uniform(-np.pi, np.pi, (20, 2)):
            assert gap(arm, check(planar_2r, arm, q).solutions, q) < 1e-8
        plain = DHTable(arm.rows, "standard")
        for q in random.uniform(-np.pi, np.pi, (20, 2)):
            assert gap(plain, check(planar_2r, plain, q).solutions, q) < 1e-8


@pytest.mark.spec("S2-31")
def test_the_count_of_equations():
    count = count_pose_equations(6)
    assert (count.equations, count.trivial, count.nontrivial, count.independent, count.freedom) == (16, 4, 12, 6, 0)
    words = {n: count_pose_equations(n).inverse_problem for n in (1, 5, 6, 7)}
    assert words == {1: "overdetermined", 5: "overdetermined", 6: "finitely many solutions", 7: "continuum"}
    with pytest.raises(ModelError):
        count_pose_equations(0)
    # the rank of the derivative of the twelve entries is the number of independent ones
    for n in (3, 5, 6, 7, 9):
        random = np.random.default_rng(n)
        arm = DHTable(rows_from_numbers(random.uniform(-1, 1, (n, 4))), "standard")
        q, steps = random.uniform(-1, 1, n), 1e-5 * np.eye(n)
        slopes = (dh_tool_pose(arm, q + steps) - dh_tool_pose(arm, q - steps)) / 2e-5
        assert np.abs(slopes[:, 3]).max() == 0
        assert np.linalg.matrix_rank(slopes[:, :3].reshape(n, 12), tol=1e-6) == min(n,
                                                                                    count_pose_equations(n).independent)


@pytest.mark.spec("S3-17")
def test_two_links_of_the_worked_example():
    found = planar_2r((0.5, 0.4), (0.6, 0.3))
    assert np.abs(found.solutions - [[-0.1714994227, 1.4706289056], [1.0987946407, -1.4706289056]]).max() < 1e-10
    assert found.branches == (("elbow left",), ("elbow right",))
    k2 = elbow_discriminant([0.6, 0.9, 0.1, 1.0, 0.05], [0.3, 0.0, 0.0, 0.0, 0.0], 0.5, 0.4)
    assert np.abs(k2 - [0.1584, 0.0, 0.0, -0.1881, -0.00605625]).max() < 1e-15


def degrees(found):
    return np.degrees(found.solutions)


def holds_all(found, wanted):
    return max(np.abs(found - row).max(axis=-1).min() for row in np.asarray(wanted)) < 1e-6


@pytest.mark.spec("S2-32", "S2-33")
def test_the_arm_like_a_puma_of_the_worked_example():
    q = np.array([0.3, -0.7, 0.5, 1.1, 0.9, -0.4])
    target = np.array([[0.606447113, -0.795079513, 0.008394423, 0.17071145],
                       [0.536806888, 0.417192189, 0.733341013, 0.250018808],
                       [-0.586566504, -0.440226356, 0.679809158, 0.7368803], [0, 0, 0, 1]])
    assert np.abs(dh_tool_pose(WE10, q) - target).max() < 1e-8
    assert np.abs(dh_frames(WE10, q)[5, :3, 3] - [0.170238844, 0.208731709, 0.698607045]).max() < 1e-8
    found = check(decoupled_6r, WE10, q)
    assert len(found.solutions) == 8
    assert holds_all(
        degrees(found)[:, :3], [(17.188733854, -40.107045659, 28.647889757),
                                (-95.589200737, -75.710262595, 28.647889757),
                                (17.188733854, -104.289737405, 156.719248055),
                                (-95.589200737, -139.892954341, 156.719248055)])
    assert holds_all(
        degrees(found)[:, 3:], [(63.025357464, 51.566201562, -22.918311805),
                                (-116.974642536, -51.566201562, 157.081688195)])


@pytest.mark.spec("S2-32", "S2-33")
def test_the_arm_with_a_shoulder_offset_of_the_worked_example():
    found = check(decoupled_6r, WE11, Q11)
    assert len(found.solutions) == 8
    assert holds_all(
        degrees(found)[:, :3], [(22.918311805, 51.566201562, -28.647889757),
                                (22.918311805, -49.290993097, -177.949250904),
                                (-160.871030179, 161.645164671, 113.084104651),
                                (-160.871030179, -163.098283168, 40.318754688)])


@pytest.mark.spec("S2-32", "S2-33")
def test_the_general_decoupled_arm_of_the_worked_example():
    found = check(decoupled_6r, WE12, Q11)
    other = (-3.304581246, 90.688349567, -119.855416031)
    given = tuple(np.degrees(Q11[:3]))
    assert len(found.solutions) == 4
    assert holds_all(degrees(found), [(*given, 17.188733854, 45.83662361, -68.754935416),
                                      (*given, 172.639617024, -45.83662361, 156.887751385),
                                      (*other, 34.175121204, 95.738752017, -57.620183363),
                                      (*other, -132.478531667, -95.738752017, 163.307990617)])


# Continua: the reference gives the value of the free joint, so the generating configuration is found


def check_continuum(solve, table, q, free):
    found = check(solve, table, q, reference=q)
    assert gap(table, found.solutions, q) < 1e-6
    mine = int(np.argmin([gap(table, s[None], q) for s in found.solutions]))
    continua = [c for c in found.degenerate if c.solution == mine]
    assert free in [c.free for c in continua]
    target = dh_tool_pose(table, q)
    for c in found.degenerate:
        start = found.solutions[c.solution]
        if c.straight:
            assert closing(table, start + np.array([[0.3], [-2.0]]) * c.tangent, target, solve is planar_2r) < 1e-12
            if c.weights.any():
                assert c.weights @ c.tangent == 0
                assert "fixed: " in str(c)
        else:
            assert closing(table, start + 1e-6 * c.tangent, target, solve is planar_2r) < 1e-10
        assert f"q{c.free + 1} is free" in str(c)
    elsewhere = q.copy()
    elsewhere[free] += 0.1
    other = check(solve, table, q, reference=elsewhere)
    assert gap(table, other.solutions, q) > 1e-3
    return found


@pytest.mark.spec("S2-33")
@pytest.mark.parametrize("theta5", [0.0, np.pi])
@pytest.mark.parametrize("table", [WE10, WE11])
def test_aligned_wrist(table, theta5):
    check_continuum(decoupled_6r, table, np.array([0.4, 0.9, -0.5, 0.3, theta5, -1.2]), 3)


def test_aligned_wrist_of_the_catalogue():
    for name, solve in (("puma560", decoupled_6r), ("stanford", stanford_arm)):
        found = check_continuum(solve, table_of(name), np.array([0.4, 0.9, 0.5, 0.3, 0.0, -1.2]), 3)
        assert "wrist at its limit" in {b[-1] for b in found.branches}


@pytest.mark.spec("S2-32")
def test_wrist_centre_on_the_first_axis():
    arm = table_from_degrees((0, 0.43, 0, 0, 0, 0), (-90, 0, 90, -90, 90, 0), (0.2, 0, 0, 0.43, 0, 0.0563))
    fold = 1.1  # the elbow's bend; the triangle of two equal links stands upright on axis 1
    for q3 in (RIGHT + fold, RIGHT - fold):
        start = np.array([0.5, 0.0, q3, 0.4, 0.7, -0.3])
        x, z = np.linalg.norm(dh_frames(arm, start)[4, :2, 3]), dh_frames(arm, start)[4, 2, 3] - 0.2
        ahead = dh_frames(arm, start)[4, :2, 3] @ [np.cos(0.5), np.sin(0.5)]
        q = start + np.array([0.0, np.arctan2(z, np.copysign(x, ahead)) - RIGHT, 0.0, 0.0, 0.0, 0.0])
        assert np.hypot(*dh_frames(arm, q)[4, :2, 3]) < 1e-12
        check_continuum(decoupled_6r, arm, q, 0)
        for near in (1e-6, 1e-8, 1e-9, 1e-10, 1e-11):
            beside = q + near * np.eye(6)[1]
            assert gap(arm, check(decoupled_6r, arm, beside, reference=beside).solutions, beside) < 1e-5


def test_wrist_centre_on_the_second_axis():
    arm = table_from_degrees((0, 0.43, 0, 0, 0, 0), (-90, 0, 90, -90, 90, 0), (0.2, 0.1, 0, 0.43, 0, 0.0563))
    q = np.array([0.5, 0.3, -RIGHT, 0.4, 0.7, -0.3])
    assert np.abs(dh_frames(arm, q)[4, :3, 3] - [-0.1 * np.sin(0.5), 0.1 * np.cos(0.5), 0.2]).max() < 1e-12
    check_continuum(decoupled_6r, arm, q, 1)
    # nearer, theta1 is also next to its own double root: solutions close, angles are known to 1e-4
    for near in (1e-3, 1e-4, 1e-5):
        beside = q + near * np.eye(6)[2]
        assert gap(arm, check(decoupled_6r, arm, beside, reference=beside).solutions, beside) < 1e-5


SPHERICAL = [(0, 0.4, 0, -RIGHT), (0, 0, 0, RIGHT), (0, 0.1, 0, 0)]  # theta, d, a, alpha


def arm_of_rows(*rows, slide=False):
    kinds = ["revolute", "revolute", "prismatic" if slide else "revolute", *["revolute"] * 3]
    return DHTable(rows_from_numbers([(*row, kind) for row, kind in zip(rows, kinds, strict=True)],
                                     order="theta d a alpha kind"), "standard")


@pytest.mark.spec("S2-32")
@pytest.mark.parametrize("twists", [(-RIGHT, RIGHT), (0.7, 0.7)])
@pytest.mark.parametrize("theta1", [0.5, -2.0])
def test_axes_1_and_3_on_one_line(twists, theta1):
    """The quartic vanishes: joints 1 and 3 turn against each other. Elsewhere there are solutions as ever."""
    arm = arm_of_rows((0, 0, 0.3, twists[0]), (0, 0, 0.3, twists[1]), (0, 0, 0.25, RIGHT), *SPHERICAL)
    q = np.array([theta1, np.pi, 0.7, 0.3, 0.8, -0.4])
    found = check_continuum(decoupled_6r, arm, q, 2)
    assert any(c.straight and c.weights[0] and c.weights[2] for c in found.degenerate)
    for off in (1.0, 1e-3, 1e-5):  # the last singular value is of its square: rounding is felt by its reciprocal
        q[1] = np.pi - off
        found = check(decoupled_6r, arm, q, reference=q)
        assert gap(arm, found.solutions, q) < 1e-14 / off**2 + 1e-9 and not found.degenerate


@pytest.mark.spec("S2-32")
@pytest.mark.parametrize(("al1", "al2", "theta1", "d4"), [(0.6, 1.3, 0.9, 0.0), (0.6, 1.3, -2.0, 0.3),
                                                          (1.9, 0.5, 0.4, 0.2)])
def test_a_wrist_centre_on_the_fourth_axis_of_a_bennett_linkage(al1, al2, theta1, d4):
    """Links of the lengths a and the twists al with one a / sin(al) for both close by tan(t1/2) tan(t2/2) = const."""
    a1, a2 = 0.4 * np.sin([al1, al2])
    theta2 = 2 * np.arctan2(np.sin((al2 + al1) / 2) / np.sin((al2 - al1) / 2), np.tan(theta1 / 2))
    arm = arm_of_rows((0, 0, a1, al1), (0, 0, a2, al2), (0, 0, a1, al1), (0, d4, 0, -RIGHT), *SPHERICAL[1:])
    found = check_continuum(decoupled_6r, arm, np.array([theta1, theta2, -theta1, 0.3, 0.8, -0.4]), 2)
    assert any(c.free == 2 and not c.straight for c in found.degenerate)


@pytest.mark.spec("S2-32")
@pytest.mark.parametrize("d2", [0.0, 0.16])
def test_a_slide_between_axes_that_meet(d2):
    """Regular poses, the wrist centre on axis 1, and the slide at zero, also as a mechanism: no division by zero."""
    arm = arm_of_rows((0, 0.4, 0, -RIGHT), (0, d2, 0, RIGHT), (-RIGHT, 0, 0, 0), (0, 0, 0, -RIGHT), (0, 0, 0, RIGHT),
                      (0, 0.25, 0, 0), slide=True)
    mechanism = Mechanism.from_dh(arm.rows, convention="standard")
    for q, free in (((0.3, 0.5, 0.6, 0.2, 0.7, -0.9), set()), ((0.3, 0.0, 0.6, 0.2, 0.7, -0.9), set() if d2 else {0}),
                    ((0.3, 0.4, 0.0, 0.2, 0.7, -0.9), {1} if d2 else {0, 1})):
        target = dh_tool_pose(arm, q)
        with np.errstate(all="raise"):
            found = mechanism.all_inverse_kinematics(target, "tool", reference=q)
            alone = check(stanford_arm, arm, q, reference=q)
        assert gap(arm, alone.solutions, q) < 1e-7 and gap(arm, found.q[found.found], q) < 1e-7
        continua = found.continua.get((), ())
        assert {c.free for c in continua} == {c.free for c in alone.degenerate} == free
        assert len(alone.solutions) == 8 or q != (0.3, 0.5, 0.6, 0.2, 0.7, -0.9)


@pytest.mark.spec("S2-32", "S2-33")
@pytest.mark.parametrize("turn", [0.0, 0.3, -1.0, 3.0])
@pytest.mark.parametrize("tilt", [0.05, 0.2, 0.31])
def test_the_limit_of_the_wrist_with_its_centre_on_axis_1(tilt, turn):
    """Axis 6 is 0.4 from axis 4 or more, and axis 4 goes round axis 1, at the angle `tilt`. Axis 6 at 0.4 - tilt on the
    other side is reached from one place, next to that from a short stretch; at 0.4 + tilt two continua cross, and
    elsewhere axis 1 turns back. The reference does not matter.
    """
    arm = arm_of_rows((0, 0.2, 0.3, 0), (0, 0, 0, 0.6), (0, 0, 0, tilt - 0.6), (0, 0.3, 0, 0.7), (0, 0, 0, -1.1),
                      (0, 0, 0, 0), slide=True)
    slide = -(0.3 + 0.3 * np.sin(tilt)) / np.sin(0.6)
    for q4, q5, free in ((0.0, 0.0, None), (0.0, 0.05, 0), (np.pi, 0.0, 0), (1.0, 0.0, 3)):
        q = np.array([0.5, RIGHT, slide, q4, q5, 0.3])
        found = check(stanford_arm, arm, q, reference=q + turn * np.eye(6)[0])
        assert len(found.solutions) and bool(found.degenerate) == (free is not None)
        assert free is not None or gap(arm, found.solutions, q) < 1e-6
        if not turn and free is not None:
            assert gap(arm, found.solutions, q) < 1e-6 and free in [c.free for c in found.degenerate]
        for c in found.degenerate:
            way = c.tangent / np.abs(c.tangent).max()
            off = [np.abs(dh_tool_pose(arm, found.solutions[c.solution] + h * way) - dh_tool_pose(arm, q)).max()
                   for h in (1e-3, 1e-4)]
            assert off[1] < 0.02 * off[0] < 2e-7  # the square of the step


@pytest.mark.spec("S2-32", "S2-33")
@pytest.mark.parametrize("q5", [0.4, -0.8, 1.5, 2.4])
def test_both_stretches_of_axis_1_are_shown(q5):
    """Axis 6 is 0.4 to 1.8 from axis 4, which goes round axis 1 at an angle of 1; where axis 6 is 0.8 to 1.4 from axis
    1, axis 4 is too near to it on one side, and too far from it on the other.
    """
    arm = arm_of_rows((0, 0.2, 0.3, 0), (0, 0, 0, 0.6), (0, 0, 0, 0.4), (0, 0.3, 0, 0.7), (0, 0, 0, -1.1),
                      (0, 0, 0, 0), slide=True)
    counts = set()
    for q4 in np.linspace(-3.0, 3.0, 13):
        q = np.array([0.5, RIGHT, -(0.3 + 0.3 * np.sin(1.0)) / np.sin(0.6), q4, q5, 0.3])
        found = check(stanford_arm, arm, q, reference=q)
        axis4, axis6 = (dh_frames(arm, found.solutions)[:, i, :3, 2] for i in (3, 6))
        sides = set(np.sign(np.cross(axis4, axis6)[:, 2]))
        away = np.arccos(axis6[0, 2])
        assert min(abs(away - x) for x in (0.6, 0.8, 1.4)) > 1e-3
        assert len(sides) == (2 if 0.8 < away < 1.4 else 1)
        assert gap(arm, found.solutions, q) < 1e-9 and len(found.degenerate) == len(found.solutions) == 2 * len(sides)
        counts.add(len(sides))
    assert counts == {1, 2}


def test_axis_6_parallel_to_the_elbow_of_the_ur():
    for name in ("ur3", "ur5", "ur10"):
        for theta5 in (0.0, np.pi):
            check_continuum(parallel_6r, table_of(name), np.array([0.4, 0.9, 0.5, 0.3, theta5, -1.2]), 5)


def test_a_continuum_is_found_also_where_the_reference_is_not_on_it():
    table = table_of("ur5")
    q = np.array([0.4, 0.9, 0.05, 0.3, 0.0, -1.2])  # nearly stretched: most values of q6 are out of reach
    found = [check(parallel_6r, table, q, reference=q + np.eye(6)[5] * turn) for turn in np.linspace(-3, 3, 9)]
    assert all(5 in [c.free for c in f.degenerate] for f in found)
    assert max(abs(c.tangent[5] - 1) for f in found for c in f.degenerate) == 0


def test_meeting_point_on_the_first_axis_of_a_ur_without_offsets():
    numbers = [(0, RIGHT, 0.1), (0.4, 0, 0), (0.4, 0, 0), (0, RIGHT, 0), (0, -RIGHT, 0.1), (0, 0, 0.08)]
    arm = DHTable(rows_from_numbers(numbers, order="a alpha d"), "standard")
    for q4 in np.linspace(-np.pi, np.pi, 5):
        q = np.array([0.3, 0.0, 1.2, q4, 0.6, 0.2])
        point = dh_frames(arm, q)[5, :3, 3] - [0, 0, 0.1]
        # the meeting point of axes 5 and 6 goes to axis 1
        q[1] = RIGHT - np.arctan2(point[2], point[:2] @ [np.cos(0.3), np.sin(0.3)])
        assert np.hypot(*dh_frames(arm, q)[5, :2, 3]) < 1e-12
        check_continuum(parallel_6r, arm, q, 0)


def test_links_of_one_length_folded_onto_each_other():
    two, three = (DHTable(rows_from_numbers([(0.5,)] * n, order="a"), "standard") for n in (2, 3))
    assert check_continuum(planar_2r, two, np.array([0.7, np.pi]), 0).branches == (("elbow at its limit",),)
    check_continuum(planar_3r, three, np.array([0.7, np.pi, 0.2]), 0)
    numbers = [(0.3, 0, 0.1, "revolute"), (0.3, np.pi, 0, "revolute"), (0, 0, 0, "prismatic"), (0, 0, 0, "revolute")]
    folded = DHTable(rows_from_numbers(numbers, order="a alpha d kind"), "standard")
    check_continuum(scara, folded, np.array([0.7, np.pi, 0.1, 0.4]), 0)


@pytest.mark.parametrize(("table", "solve"), [(table_of("puma560"), decoupled_6r), (WE10, decoupled_6r),
                                              (WE11, decoupled_6r), (table_of("stanford"), stanford_arm),
                                              (table_of("ur5"), parallel_6r)])
def test_right_angles_everywhere(table, solve):
    random = np.random.default_rng(6)
    continua = 0
    for _ in range(100):
        q = random.choice([0.0, RIGHT, -RIGHT, np.pi], 6)
        q[2] = random.choice([-0.5, 0.0, 0.5]) if solve is stanford_arm else q[2]
        found = check(solve, table, q, reference=q)
        assert gap(table, found.solutions, q) < 1e-6
        continua += bool(found.degenerate)
    assert 30 < continua < 80


# Where branches meet


@pytest.mark.parametrize(("name", "q", "count"), [("planar2r", [0.4, 0.0], 1), ("planar2r", [0.4, np.pi], 1),
                                                  ("planar3r", [0.4, 0.0, 0.3], 1), ("scara", [0.4, 0.0, 0.1, 0.2], 1)])
def test_straight_elbow_of_planar_arms(name, q, count):
    table = table_of(name)
    found = check(ARMS[name], table, np.array(q))
    assert gap(table, found.solutions, np.array(q)) < 1e-6
    assert len(found.solutions) == count
    assert found.branches == (("elbow at its limit",),)
    assert not found.degenerate


def test_straight_elbow_of_arms_in_space():
    ur = np.array([0.4, 0.9, 0.0, 0.3, 0.8, -1.2])
    found = check(parallel_6r, table_of("ur5"), ur)
    assert gap(table_of("ur5"), found.solutions, ur) < 1e-6
    assert "elbow at its limit" in {b[-1] for b in found.branches}
    for table in (WE10, table_of("puma560")):
        rows = table.rows
        straight = np.arctan2(rows[3].d * np.sin(rows[2].alpha), rows[2].a) - rows[2].theta
        for elbow in (straight, straight + np.pi):
            q = np.array([0.4, 0.9, elbow, 0.3, 0.8, -1.2])
            found = check(decoupled_6r, table, q)
            assert gap(table, found.solutions, q) < 1e-6
            assert len(found.solutions) == 4
            assert {b[1] for b in found.branches} == {"elbow at its limit"}


@pytest.mark.parametrize("near", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11])
def test_near_the_singular_poses_solutions_still_close(near):
    for table, solve, q in ((WE10, decoupled_6r, [0.4, 0.9, -0.5, 0.3, near, -1.2]),
                            (WE11, decoupled_6r, [0.4, 0.9, -0.5, 0.3, near, -1.2]),
                            (table_of("ur5"), parallel_6r, [0.4, 0.9, near, 0.3, 0.8, -1.2]),
                            (table_of("ur5"), parallel_6r, [0.4, 0.9, 0.5, 0.3, near, -1.2]),
                            (table_of("planar2r"), planar_2r, [0.4, near])):
        found = check(solve, table, np.array(q), reference=q)
        assert gap(table, found.solutions, np.array(q)) < 1e-5


@pytest.mark.spec("S2-32")
def test_the_third_angle_of_half_a_turn_is_a_root():
    q = np.array([0.4, 0.9, np.pi, 0.3, 0.8, -1.2])
    for table in (WE10, WE11, WE12):
        assert gap(table, check(decoupled_6r, table, q).solutions, q) < 1e-8


@pytest.mark.spec("S2-32")
def test_parallel_first_axes():
    arm = table_from_degrees((0.4, 0.3, 0.1, 0, 0, 0), (0, 90, 90, -90, 90, 0), (0.3, 0, 0.05, 0.4, 0, 0.1))
    random = np.random.default_rng(4)
    for _ in range(50):
        q = random_configuration(random, arm)
        assert gap(arm, check(decoupled_6r, arm, q).solutions, q) < 1e-8


@pytest.mark.spec("S2-33")
def test_an_orientation_that_the_wrist_cannot_give():
    narrow = table_from_degrees((0, 0.43, 0.02, 0, 0, 0), (-90, 0, 90, 20, 20, 0), (0, 0.15, 0, 0.43, 0, 0.05))
    target = dh_tool_pose(narrow, Q11)
    target[:3, :3] = target[:3, :3] @ np.diag([1.0, -1.0, -1.0])
    target[:3, 3] = dh_frames(narrow, Q11)[5, :3, 3] + 0.05 * target[:3, 2]
    assert decoupled_6r(narrow, target).status == "unreachable"


@pytest.mark.parametrize("name", ARMS)
def test_the_family_is_found_and_batches_give_lists(name):
    table, random = table_of(name), np.random.default_rng(1)
    q = np.stack([random_configuration(random, table) for _ in range(3)])
    found = analytic_inverse_kinematics(table, dh_tool_pose(table, q))
    assert [gap(table, f.solutions, k) < 1e-8 for f, k in zip(found, q, strict=True)] == [True] * 3
    one = analytic_inverse_kinematics(table, dh_tool_pose(table, q[0]))
    assert one.branches == found[0].branches == ARMS[name](table, dh_tool_pose(table, q[0])).branches


# What is refused


@pytest.mark.spec("S2-33")
@pytest.mark.parametrize("joint", [3, 4])
def test_a_wrist_with_parallel_axes(joint):
    alpha = [-90, 0, 90, -90, 90, 0]
    alpha[joint] = 0
    arm = table_from_degrees((0, 0.4318, -0.0203, 0, 0, 0), alpha, (0, 0.1491, 0, 0.4331, 0, 0.0563))
    with pytest.raises(ModelError, match=f"axes {joint + 1} and {joint + 2} are parallel"):
        decoupled_6r(arm, np.eye(4))


@pytest.mark.spec("S2-32")
@pytest.mark.parametrize(("reason", "first", "slide"), [
    ("axes 1 and 2 coincide", [(0, 0.3, 0, 0), (0, 0.1, 0.4, RIGHT), (0, 0, 0.2, RIGHT)], False),
    ("axes 2 and 3 coincide", [(0, 0.3, 0.2, RIGHT), (0, 0, 0, 0), (0, 0, 0.2, RIGHT)], False),
    ("the wrist centre lies on axis 3", [(0, 0.3, 0.2, RIGHT), (0, 0, 0.4, 0.3), (0, 0, 0, 0)], False),
    ("axes 1, 2 and 3 are parallel", [(0, 0.3, 0.4, 0), (0, 0, 0.3, np.pi), (0, 0, 0.2, RIGHT)], False),
    ("axes 1, 2 and 3 meet in one point", [(0, 0.3, 0, 0.5), (0, 0, 0, -RIGHT), (0, 0.1, 0.2, RIGHT)], False),
    ("axes 1 and 2 coincide", [(0, 0.3, 0, np.pi), (0, 0.1, 0.4, RIGHT), (0, 0, 0.2, RIGHT)], True),
    ("the wrist centre slides along axis 2", [(0, 0.3, 0.2, RIGHT), (0, 0.1, 0, 0), (RIGHT, 0, 0, 0)], True),
    ("axes 1 and 2 are parallel and at right angles to the slide",
     [(0, 0.3, 0.2, 0), (0, 0.1, 0.4, -RIGHT), (0, 0, 0.2, RIGHT)], True)])
def test_arms_that_do_not_place_their_wrist_centre_in_space(reason, first, slide):
    arm = arm_of_rows(*first, *SPHERICAL, slide=slide)
    with pytest.raises(ModelError, match=reason):
        (stanford_arm if slide else decoupled_6r)(arm, np.eye(4))
    with pytest.raises(UnsupportedError, match=rf"{reason}.*Use the numeric inverse_kinematics"):
        Mechanism.from_dh(arm.rows, convention="standard").all_inverse_kinematics(np.eye(4), "tool")


def test_an_arm_of_no_family():
    with pytest.raises(UnsupportedError, match="no family has these joints"):
        analytic_inverse_kinematics(table_of("iiwa14"), np.eye(4))
    general = DHTable(rows_from_numbers(np.random.default_rng(0).uniform(0.1, 1, (6, 4))), "standard")
    with pytest.raises(UnsupportedError, match=r"spherical wrist.*UR family"):
        analytic_inverse_kinematics(general, np.eye(4))


def test_arms_of_another_family_and_targets_that_are_no_poses():
    with pytest.raises(ModelError, match="spherical wrist"):
        decoupled_6r(table_of("ur5"), np.eye(4))
    with pytest.raises(ModelError, match="UR family"):
        parallel_6r(table_of("puma560"), np.eye(4))
    with pytest.raises(ModelError, match="RRPR"):
        scara(table_of("planar3r"), np.eye(4))
    with pytest.raises(ModelError, match="not a pose"):
        decoupled_6r(WE10, 2 * np.eye(4))
    with pytest.raises(ModelError, match="no length"):
        planar_2r((0.5, 0.0), (0.1, 0.1))


def test_a_tilted_pose_is_out_of_reach_of_a_scara_arm():
    target = dh_tool_pose(table_of("scara"), [0.3, 0.4, 0.1, 0.2])
    target[:3, :3] = target[:3, :3] @ [[1, 0, 0], [0, np.cos(0.1), -np.sin(0.1)], [0, np.sin(0.1), np.cos(0.1)]]
    assert scara(table_of("scara"), target).status == "unreachable"
