"""Chains in vector-parameters and in dual numbers: pairs, poses, Jacobians, limits, half-turns, and WE-06."""

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.errors import SingularityError
from cayley.geometry.motions.dual_vector_parameter import active_jacobian
from cayley.geometry.rotations import compose_vector_parameters, matrix_from_homogeneous, matrix_from_vector_parameter
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.analytic import analytic_jacobian, coordinates
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.vector_parameter_chain import (
    JointPairs,
    active_columns,
    attitude_jacobian,
    chain_pose,
    check_chain,
    dual_jacobian,
    joint_lines,
    joint_pairs,
    pair_limits,
    pair_rate_map,
    vector_parameter_jacobian,
    within_limits,
)
from cayley.kinematics.jacobians.velocity import jacobian
from cayley.kinematics.orientation import orientation
from cayley.kinematics.subspaces import subspaces
from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Helical, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint, Limits
from compiler.parity import check_parity
from kinematics.arms import modified_arm, standard_arm
from kinematics.exact_motion import derivatives
from kinematics.motions import KINDS_AND_MORE, around, close, everything, of_q, random_state

ROWS = [(0.6, 0.5, 0.4, 0.0), (0.3, 1.1, 0.2, 0.0), (0.5, -0.4, -0.1, 0.0)]  # WE-06: a, alpha, d; the angles are q
ANGLES = np.array([0.3, -0.7, 0.9])
TREES = [pytest.param(lambda kind=kind: around(kind), id=kind)
         for kind in KINDS_AND_MORE] + [pytest.param(everything, id="everything")]


@pytest.mark.parametrize("make", TREES)
def test_poses_and_jacobians_in_pairs_are_the_usual_ones(make):
    """Poses against products of 4 x 4 matrices; J(q) = J_V dc/dq; the pairs' own rates and c' against 50 digits."""
    tree = make()
    q, v, vd = random_state(tree)
    pairs = joint_pairs(tree.tree, q, "frame4")
    pose = chain_pose(tree.tree, *pairs, "frame4")
    R, p = frame_pose(tree.tree, q, "frame4")
    close(pose.position, p)
    close(matrix_from_homogeneous(pose.attitude), R)
    rates = pair_rate_map(tree.tree, q, "frame4")
    close(vector_parameter_jacobian(tree.tree, *pairs, "frame4") @ rates,
          jacobian(tree.tree, q, "frame4", axes="world"))
    asked = {"orientation": "vector-parameter", "relative_to": "world"}
    close(attitude_jacobian(tree.tree, *pairs, "frame4") @ rates,
          analytic_jacobian(tree.tree, q, "frame4", **asked)[3:])
    of_time = [
        derivatives(of_q(tree, lambda q, k=k: joint_pairs(tree.tree, q, "frame4")[k], pairs[k].shape), tree, q, v,
                    vd)[1]
        for k in (0, 1)]
    moving = np.concatenate([
        np.concatenate([c for c in (of_time[0][k], of_time[1][k]) if np.any(c)]) for k in range(len(pairs.c))
        if np.any(of_time[0][k]) or np.any(of_time[1][k])])
    close(rates @ v, moving)


@pytest.mark.spec("S0-25")
def test_the_chain_of_the_worked_example():
    """WE-06: c_i, c', p; the chain at a half-turn though no joint is; prismatic joints; limits as sets Q and Q_ct."""
    arm = standard_arm(ROWS)
    asked = {"orientation": "vector-parameter"}
    links = [coordinates(arm.tree, ANGLES, f"frame{k + 1}", relative_to=f"frame{k}", **asked)[3:] for k in range(3)]
    close(links, [[0.2553419212, 0.0385911569, 0.1511352181], [0.6131052133, -0.2238008732, -0.3650284948],
                  [-0.2027100355, -0.0979201095, 0.4830550656]], 1e-9)
    pairs = joint_pairs(arm.tree, ANGLES, "frame3")
    close(pairs.c, np.outer(np.tan(ANGLES / 2), [0, 0, 1]), 1e-15)
    close(pairs.t, np.zeros((3, 3)))
    pose = chain_pose(arm.tree, *pairs, "frame3")
    close(pose.position, [1.3041883434, -0.0233701160, 0.7512064003], 1e-9)
    close(pose.attitude[1:] / pose.attitude[0], [0.5495049568, -0.3720223252, 0.0461216502], 1e-9)
    close(pose.attitude[1:] / pose.attitude[0],
          compose_vector_parameters(compose_vector_parameters(links[0], links[1]), links[2]), 1e-13)  # <c_1, c_2, c_3>
    elbow = modified_arm([(0, 0, 0, 0), (0.5, 0, 0, 0), (0.4, 0, 0, 0)])
    half = joint_pairs(elbow.tree, np.array([np.pi / 2, np.pi / 4, np.pi / 4]), "link3")
    pose = chain_pose(elbow.tree, *half, "link3")  # each joint far from a half-turn, together exactly one
    close(np.abs(pose.attitude), [0, 0, 0, 1], 1e-15)
    close(matrix_from_homogeneous(pose.attitude), np.diag([-1.0, -1, 1]), 1e-15)
    close(pose.position, frame_pose(elbow.tree, np.array([np.pi / 2, np.pi / 4, np.pi / 4]), "link3").p, 1e-14)
    mixed = standard_arm(ROWS, "RPR")
    q = np.array([0.3, 0.25, 0.9])
    pairs = joint_pairs(mixed.tree, q, "frame3")
    close(pairs.t, [[0, 0, 0], [0, 0, 0.25], [0, 0, 0]])
    close(pairs.c[1], np.zeros(3))
    close(chain_pose(mixed.tree, *pairs, "frame3").position, frame_pose(mixed.tree, q, "frame3").p)


@pytest.mark.spec("S0-25")
def test_pairs_may_come_from_a_table():
    """A kernel of the pairs has no trigonometry; the readings of encoders can index a table of tan(q/2)."""
    arm = standard_arm(ROWS)
    of_pairs = kernel("(3,3),(3,3)->(3),(4)", name="pose_of_pairs")(lambda c, t: chain_pose(arm.tree, c, t, "frame3"))
    assert of_pairs.operations().trigonometric == 0
    readings = np.array([[100, 3000, 512], [7, 8, 9]])
    table = np.outer(np.tan(np.pi * (np.arange(4096) / 4096 - 0.5)), [0, 0, 1.0])
    poses = of_pairs(table[readings], np.zeros((2, 3, 3)))
    angles = 2 * np.pi * (readings / 4096 - 0.5)
    close(poses.position, arm.pose(angles, "frame3")[:, :3, 3])
    check_parity(of_pairs, np.random.default_rng(0).normal(size=(3, 3, 3)), np.zeros((3, 3, 3)))


def limited(motion, lower, upper):
    bodies, joints = [Body("base"),
                      Body("link")], [Joint("joint", "base", "link", motion, limits=Limits((lower,), (upper,)))]
    return Mechanism.of("one joint", bodies, joints)


@pytest.mark.spec("S0-25")
def test_limits_as_sets():
    axis = (0.0, 0.6, -0.8)
    tree = limited(Revolute(axis), -1.0, 2.0)
    found = pair_limits(tree.tree, "link")
    close(found.lower.c, [[0, 0.6 * np.tan(-0.5), -0.8 * np.tan(1.0)]])
    close(found.upper.c, [[0, 0.6 * np.tan(1.0), -0.8 * np.tan(-0.5)]])
    q = np.array([[-1.01], [-0.99], [0.5], [1.99], [2.01]])
    assert within_limits(tree.tree, q).tolist() == [False, True, True, True, False]
    pairs = JointPairs(*[np.stack(part) for part in zip(*[joint_pairs(tree.tree, x, "link") for x in q], strict=True)])
    assert found.contain(pairs).tolist() == [False, True, True, True, False]
    # passes a half-turn: c is unbounded along the axis
    far = pair_limits(limited(Revolute(axis), -4.0, 0.0).tree, "link")
    assert np.isinf(far.lower.c).tolist() == [[False, True, True]] and np.all(far.lower.t == 0)
    slide = pair_limits(limited(Prismatic(axis), -0.1, 0.3).tree, "link")
    close(slide.lower.t, [[0, -0.06, -0.24]])
    close(slide.upper.t, [[0, 0.18, 0.08]])
    assert np.all(slide.lower.c == 0)
    screw = pair_limits(limited(Helical((0.0, 0.0, 1.0), -0.5), -1.0, 2.0).tree, "link")
    close(screw.lower.t, [[0, 0, -1.0]])
    close(screw.upper.c, [[0, 0, np.tan(1.0)]])
    ball = Mechanism.of("ball", [Body("base"), Body("link")], [Joint("joint", "base", "link", Spherical())]).tree
    assert np.all(pair_limits(ball, "link").upper.c == np.inf)


@pytest.mark.spec("S0-26")
def test_jacobians_of_the_chain():
    """N_V, M_V with the factor 2 of E-26, N_CV by (124) and (125), dc/dq of Denavit-Hartenberg links, and the rank
    test.
    """
    arm = standard_arm(ROWS)
    pairs = joint_pairs(arm.tree, ANGLES, "frame3")
    J = vector_parameter_jacobian(arm.tree, *pairs, "frame3")
    assert J.shape == (6, 9)
    end, whole = frame_pose(arm.tree, ANGLES, "frame3"), attitude_jacobian(arm.tree, *pairs, "frame3")
    O = end.R
    for k in range(3):
        c, before = pairs.c[k], frame_pose(arm.tree, ANGLES, f"frame{k}")
        cross = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
        N = 2 / (1 + c @ c) * (np.eye(3) + cross)
        block = slice(3 * k, 3 * k + 3)
        close(J[3:, block], before.R @ N, 1e-14)  # (116)
        s = end.p - frame_pose(arm.tree, ANGLES, f"link{k + 1}").p
        close(J[:3, block], np.cross(J[3:, block].T, s).T, 1e-14)  # (120)
        back = O.T @ before.R  # <-c_n, ..., -c_k> with the constant turns
        close(whole[:, block], (back @ N + J[3:, block]) / (1 + np.trace(O)), 1e-13)  # (125) = (124)
    close(J @ pair_rate_map(arm.tree, ANGLES, "frame3"), general_jacobian(arm.tree, ANGLES, "frame3", axes="world"),
          1e-13)
    h, rates = 1e-4, np.random.default_rng(0).normal(size=(3, 3))
    ahead = [chain_pose(arm.tree, pairs.c + x * h * rates, pairs.t, "frame3") for x in (-2, -1, 1, 2)]
    numeric = [(8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h)
               for f in ([a.position for a in ahead], [a.attitude[1:] / a.attitude[0] for a in ahead])]
    close(J[:3] @ rates.ravel(), numeric[0], 1e-8)
    close(whole @ rates.ravel(), numeric[1], 1e-8)
    for sign, link in ((1, "standard"), (-1, "modified")):
        t, a = np.tan(0.35), np.tan(0.25)
        turned = {"standard": lambda x, a=a: compose_vector_parameters([0, 0, np.tan(x / 2)], [a, 0, 0]),
                  "modified": lambda x, a=a: compose_vector_parameters([a, 0, 0], [0, 0, np.tan(x / 2)])}[link]
        close(turned(0.7), [a, sign * a * t, t], 1e-14)
        close((turned(0.7 + 1e-6) - turned(0.7 - 1e-6)) / 2e-6, (1 + t * t) / 2 * np.array([0, sign * a, 1]), 1e-8)
    planar = modified_arm([(0, 0, 0, 0), (0.5, 0, 0, 0), (0.4, 0, 0, 0)])
    for q, singular in ((np.array([0.3, 0.0, 0.4]), True), (np.array([0.3, 0.5, 0.4]), False)):
        own = joint_pairs(planar.tree, q, "link3")
        task = (vector_parameter_jacobian(planar.tree, *own, "link3")
                @ pair_rate_map(planar.tree, q, "link3"))[[0, 1, 5]]
        assert subspaces(task).singular == singular
    half = joint_pairs(planar.tree, np.array([np.pi / 2, np.pi / 4, np.pi / 4]), "link3")
    assert np.isfinite(vector_parameter_jacobian(planar.tree, *half, "link3")).all()
    nearly = joint_pairs(planar.tree, np.array([np.pi / 2, np.pi / 4, np.pi / 4 - 1e-5]), "link3")
    assert np.abs(attitude_jacobian(planar.tree, *nearly, "link3")).max() > 1e10
    refused = kernel("(3,3),(3,3)->(3,9)",
                     check=check_chain(planar.tree, "link3"))(lambda c,
                                                              t: attitude_jacobian(planar.tree, c, t, "link3"))
    assert np.isfinite(refused(*nearly)).all()
    with pytest.raises(SingularityError, match="half-turn about"):
        refused(*half)


@pytest.mark.parametrize("make", TREES)
@pytest.mark.spec("S0-35")
def test_lines_of_the_joints_of_a_tree(make):
    tree = make()
    q, _, _ = random_state(tree)
    found = dual_jacobian(tree.tree, q, "frame4") @ active_columns(tree.tree, "frame4")
    close(found, general_jacobian(tree.tree, q, "frame4", axes="world", at="world"))


@pytest.mark.spec("S0-35")
def test_the_dual_jacobian_of_the_worked_example():
    """WE-06: K and K* of the three joints; the twist at the base origin against 50 digits; R, P and C joints choose
    their columns.
    """
    arm = standard_arm(ROWS)
    lines = joint_lines(arm.tree, ANGLES, "frame3")
    close(lines.directions,
          [[0, 0, 1], [0.1416799342, -0.4580127108, 0.8775825619], [-0.3074463425, -0.9488922536, 0.0712757846]], 1e-9)
    close(lines.moments,
          [[0, 0, 0], [0.3388111124, -0.4463600125, -0.2876553232], [0.4575754812, -0.2105251462, -0.8289740004]], 1e-9)
    assert dual_jacobian(arm.tree, ANGLES, "frame3").shape == (6, 6)
    mixed = standard_arm(ROWS, "RPR")
    q, v = np.array([0.3, 0.2, 0.9]), np.array([0.5, -0.7, 1.1])
    table = [(t, d, alpha, a) for (a, alpha, d, _), t in zip(ROWS, ANGLES, strict=True)]
    close(
        dual_jacobian(arm.tree, ANGLES, "frame3") @ active_columns(arm.tree, "frame3"),
        active_jacobian(table, "RRR").matrix, 1e-13)
    pose = of_q(mixed, lambda q: frame_pose(mixed.tree, q, "frame3").matrix, (4, 4))
    now, rate, _ = derivatives(pose, mixed, q, v, 0 * v)
    spin = rate[:3, :3] @ now[:3, :3].T
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    expected = np.concatenate([rate[:3, 3] - np.cross(w, now[:3, 3]), w])
    close(dual_jacobian(mixed.tree, q, "frame3") @ active_columns(mixed.tree, "frame3") @ v, expected)
    # the second joint slides and turns: two joints of a tree
    cylindric = [ROWS[0], (0.0, 0.0, 0.2, 0.0), (0.3, 1.1, 0.0, 0.0), ROWS[2]]
    both = standard_arm(cylindric, "RPRR")
    q = np.array([0.3, 0.15, -0.7, 0.9])
    table = [(0.3, 0.4, 0.5, 0.6), (-0.7, 0.35, 1.1, 0.3), (0.9, -0.1, -0.4, 0.5)]
    expected = active_jacobian(table, "RCR")
    assert expected.coordinates == ("theta 1", "theta 2", "d 2", "theta 3")
    close((dual_jacobian(both.tree, q, "frame4") @ active_columns(both.tree, "frame4"))[:, [0, 2, 1, 3]],
          expected.matrix, 1e-13)


def test_parameters_of_the_attitude_agree_with_the_chain():
    arm = standard_arm(ROWS)
    R = frame_pose(arm.tree, ANGLES, "frame3").R
    close(matrix_from_vector_parameter(orientation("vector-parameter").parameters(R)), R)
