"""Dual vector-parameters and dual quaternions, chains of joints through half-turns, the dual Jacobian."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cayley.errors import GeometryError, ModelError, SingularityError
from cayley.geometry import motions as cm
from geometry import formulas_of_motions as fm
from geometry.strategies import axes, matrix_of, rotation_matrices, signed_angles, vectors

WE_06 = np.array([[0.3, 0.4, 0.5, 0.6], [-0.7, 0.2, 1.1, 0.3], [0.9, -0.1, -0.4, 0.5]])


def close(found, expected, size=1.0, tolerance=1e-14):
    np.testing.assert_allclose(found, expected, rtol=0,
                               atol=tolerance * max(size, np.max(np.abs(expected), initial=0.0)))


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def poses():
    return st.tuples(rotation_matrices(), vectors()).map(lambda pair: pose(*pair))


def joint(theta, d, alpha, a):
    """The classical Denavit-Hartenberg matrix, Ruggiu (2.39)."""
    ct, st_, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -ca * st_, sa * st_, a * ct], [st_, ca * ct, -sa * ct, a * st_], [0, sa, ca, d], [0, 0, 0,
                                                                                                            1]])


def frames(table):
    """The poses of all frames of a chain, the base first."""
    T = [np.eye(4)]
    for row in table:
        T.append(T[-1] @ joint(*row))
    return T


def tables():
    row = st.tuples(signed_angles(), st.floats(-2, 2), signed_angles(), st.floats(-2, 2))
    return st.integers(1, 4).flatmap(lambda n: st.lists(row, min_size=n, max_size=n)).map(np.array)


@pytest.mark.spec("S0-34")
def test_worked_example():
    """Spec WE-06, and the one-joint check."""
    real, dual = fm.dual_vector_parameter_of_chain(WE_06)
    np.testing.assert_allclose(real, [0.5495049568, -0.3720223252, 0.0461216502], atol=1e-9)
    np.testing.assert_allclose(dual, [1.0000996341, 0.0232667974, 0.1569568125], atol=1e-9)
    np.testing.assert_allclose(cm.pose_of_chain(WE_06)[:3, 3], [1.3041883434, -0.0233701160, 0.7512064003], atol=1e-9)
    singles = [(0.2553419212, 0.0385911569, 0.1511352181), (0.6131052133, -0.2238008732, -0.3650284948),
               (-0.2027100355, -0.0979201095, 0.4830550656)]
    for row, c in zip(WE_06, singles, strict=True):
        np.testing.assert_allclose(fm.dual_vector_parameter_of_chain([row])[0], c, atol=1e-9)
    found = fm.dual_vector_parameter_of_chain([[0.7, 0.3, -0.4, 0.9]])
    np.testing.assert_allclose(found, [[-0.20271004, -0.07399494, 0.36502849], [0.46849111, 0.13655456, 0.16998687]],
                               atol=1e-8)


@pytest.mark.spec("S0-34")
@given(st.tuples(vectors(2), vectors(), vectors(2), vectors()))
def test_composition_is_the_product_of_poses(drawn):
    """The rational law over dual numbers, away from half-turns."""
    c1, p1, c2, p2 = drawn
    assume(abs(1 - c1 @ c2) > 0.2)
    A, B = (pose(matrix_of(np.array([1.0, *c])), p) for c, p in ((c1, p1), (c2, p2)))
    a, b = cm.dual_vector_parameter_from_pose(A), cm.dual_vector_parameter_from_pose(B)
    found = cm.compose_dual_vector_parameters(a, b)
    close(cm.pose_from_dual_vector_parameter(found), A @ B, 1e3)
    close(found, cm.dual_vector_parameter_from_pose(A @ B), 1e5)
    c, p = a[0], A[:3, 3]
    close(a[1], (p + c * (c @ p) - np.cross(c, p)) / 2, 1e3)
    close(cm.pose_from_dual_vector_parameter(a), A, 1e3)
    close(fm.dual_vector_parameter_from_dual_quaternion(cm.dual_quaternion_from_pose(A)), a, 1e3)


@pytest.mark.spec("S0-34")
@given(tables())
def test_chains_through_half_turns(table):
    """The product of matrices, whatever half-turns there are among the joints; c^' wherever it is finite."""
    T = frames(table)[-1]
    q = cm.dual_quaternion_of_chain(table)
    close(cm.pose_of_chain(table), T, 10)
    close(cm.pose_from_dual_quaternion(q), T, 10)
    close(np.linalg.norm(q[0]), 1.0)
    close(q[0] @ q[1], 0.0, 10)
    if abs(q[0, 0]) > 1e-2:
        c = fm.dual_vector_parameter_of_chain(table)
        close(cm.pose_from_dual_vector_parameter(c), T, 1e6)
    residual = fm.chain_closure(table)
    close(cm.pose_from_twist(residual), T, 20, tolerance=1e-13)


@pytest.mark.spec("S0-34")
@given(axes(), vectors(), signed_angles(), st.floats(-3, 3))
def test_dual_vector_parameter_of_a_screw(e, x, angle, distance):
    """tan((th + mu d)/2) e^, spec R-34."""
    assume(abs(angle) < 3)
    line = cm.line_through_point(x, e)
    found = fm.dual_vector_parameter_from_screw(line, angle, distance)
    t = np.tan(angle / 2)
    close(found, [t * e, t * line[3:] + distance / 2 * (1 + t * t) * e], 1e4)
    close(cm.pose_from_dual_vector_parameter(found), cm.pose_from_screw(e, x, angle, distance), 1e4)
    close(cm.pose_from_dual_quaternion(cm.dual_quaternion_from_screw(line, angle, distance)),
          cm.pose_from_screw(e, x, angle, distance), 50)


@pytest.mark.spec("S0-34")
def test_half_turns_are_refused_only_where_the_answer_is_infinite():
    """Two finite parameters with the product of spec WE-02; a chain of half-turn joints; the homogeneous form has the
    pose.
    """
    a, b = np.array([[1.0, 2, 0], [0.1, 0, 0]]), np.array([[1.0, 0, 3], [0, 0.2, 0]])
    with pytest.raises(SingularityError, match="half-turn"):
        cm.compose_dual_vector_parameters(a, b)
    q = [cm.dual_quaternion_from_pose(cm.pose_from_dual_vector_parameter(c)) for c in (a, b)]
    both = cm.dual_quaternion_product(*q)
    close(both[0, 0], 0.0)
    close(cm.pose_from_dual_quaternion(both),
          cm.pose_from_dual_vector_parameter(a) @ cm.pose_from_dual_vector_parameter(b), 10)
    half = np.diag([-1.0, -1.0, 1.0, 1.0])
    with pytest.raises(SingularityError, match="half-turn"):
        cm.dual_vector_parameter_from_pose(half)
    with pytest.raises(SingularityError, match="half-turn"):
        fm.dual_vector_parameter_from_dual_quaternion(cm.dual_quaternion_from_pose(half))
    with pytest.raises(GeometryError, match="unit"):
        fm.dual_vector_parameter_from_screw([0, 0, 2.0, 0, 0, 0], 0.3, 0.1)
    turns = np.array([[np.pi, 0.3, 0.4, 0.5], [np.pi, -0.2, -0.4, 0.1]])
    close(cm.pose_from_dual_vector_parameter(fm.dual_vector_parameter_of_chain(turns)), frames(turns)[-1], 10)


@pytest.mark.spec("S0-34")
def test_closed_chains():
    """A square, an open chain, and Bennett's linkage, a spatial loop of four joints that moves: twists and lengths in
    proportion.
    """
    close(fm.chain_closure([[np.pi / 2, 0.0, 0.0, 1.0]] * 4), 0.0, 10)
    assert np.linalg.norm(fm.chain_closure(WE_06)) > 1
    alpha, beta = 0.6, 1.1
    a, b = np.sin(alpha), np.sin(beta)
    for theta1 in (0.4, 1.0, 2.5, -1.3):
        # tan(theta1/2) tan(theta2/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2); theta3 = -theta1, theta4 = -theta2
        # modulo a turn
        ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
        theta2 = 2 * np.arctan2(ratio, np.tan(theta1 / 2))
        table = [[theta1, 0.0, alpha, a], [theta2, 0.0, beta, b], [2 * np.pi - theta1, 0.0, alpha, a],
                 [2 * np.pi - theta2, 0.0, beta, b]]
        close(fm.chain_closure(table), 0.0, 10)


# Dual quaternions


@given(poses(), poses(), vectors(), axes())
def test_dual_quaternions_are_poses(A, B, x, e):
    a, b = cm.dual_quaternion_from_pose(A), cm.dual_quaternion_from_pose(B)
    close(cm.pose_from_dual_quaternion(a), A, 20)
    close(cm.pose_from_dual_quaternion(-a), A, 20)
    close(cm.pose_from_dual_quaternion(cm.dual_quaternion_product(a, b)), A @ B, 50)
    close(cm.pose_from_dual_quaternion(cm.dual_quaternion_conjugate(a)), np.linalg.inv(A), 50)
    close(fm.dual_quaternion_norm(a), [1.0, 0.0], 20)
    close(fm.displace_by_dual_quaternion(a, x), A[:3, :3] @ x + A[:3, 3], 50)
    line = cm.line_through_point(x, e)
    close(fm.displace_line_by_dual_quaternion(a, line), cm.transform_line(A, line), 1e3)


@given(poses(), st.floats(0.1, 5), st.floats(-5, 5))
def test_any_dual_multiple_is_the_same_pose(A, real, dual):
    """The homogeneous form [w^ : v^]."""
    q = cm.dual_quaternion_from_pose(A)
    multiple = np.stack([real * q[0], real * q[1] + dual * q[0]])
    close(fm.dual_quaternion_norm(multiple), [real, dual], 50)
    close(cm.normalize_dual_quaternion(multiple), q, 1e3)
    inverse = fm.dual_quaternion_inverse(multiple)
    close(cm.dual_quaternion_product(multiple, inverse), [[1, 0, 0, 0], [0, 0, 0, 0]], 1e4)
    if abs(dual) > 1e-3:
        with pytest.raises(GeometryError, match=r"norm is|r\.d ="):
            cm.pose_from_dual_quaternion(multiple)


def test_dual_quaternions_that_are_none():
    with pytest.raises(SingularityError, match="no inverse"):
        fm.dual_quaternion_inverse([[0, 0, 0, 0], [1, 0, 0, 0]])
    with pytest.raises(SingularityError, match="dual quaternion 1 of the batch"):
        cm.normalize_dual_quaternion([[[1, 0, 0, 0], [1, 0, 0, 0]], [[0, 0, 0, 0], [1, 0, 0, 0]]])
    with pytest.raises(GeometryError, match="shape"):
        cm.check_unit_dual_quaternion(np.zeros(8))
    with pytest.raises(GeometryError, match="unit"):
        cm.dual_quaternion_from_screw([0, 0, 2.0, 0, 0, 0], 0.3, 0.1)


@given(poses(), poses(), st.floats(0, 1))
def test_interpolation_along_a_screw(A, B, t):
    a, b = cm.dual_quaternion_from_pose(A), cm.dual_quaternion_from_pose(B)
    close(cm.pose_from_dual_quaternion(cm.interpolate_screw(a, b, 0.0)), A, 50)
    close(cm.pose_from_dual_quaternion(cm.interpolate_screw(a, b, 1.0)), B, 100)
    whole = cm.twist_from_pose(np.linalg.inv(A) @ B)
    part = cm.pose_from_dual_quaternion(cm.interpolate_screw(a, b, t))
    if np.linalg.norm(whole[3:]) < 3.1:
        close(part, A @ cm.pose_from_twist(t * whole), 1e3)


# The dual Jacobian


@pytest.mark.spec("S0-35")
def test_joint_lines_of_the_worked_example():
    """Spec WE-06."""
    lines = cm.joint_lines(WE_06)
    np.testing.assert_allclose(lines.directions, [[0, 0, 1], [0.1416799342, -0.4580127108, 0.8775825619],
                                                  [-0.3074463425, -0.9488922536, 0.0712757846]], atol=1e-9)
    np.testing.assert_allclose(lines.moments, [[0, 0, 0], [0.3388111124, -0.4463600125, -0.2876553232],
                                               [0.4575754812, -0.2105251462, -0.8289740004]], atol=1e-9)


@pytest.mark.spec("S0-35")
@given(tables(), st.lists(st.floats(-2, 2), min_size=8, max_size=8))
def test_dual_angular_velocity_is_the_twist_at_the_base(table, numbers):
    """Against differences of the pose, T' T^-1, when every joint turns and slides."""
    n, h = len(table), 1e-6
    rates = np.array(numbers).reshape(2, 4)[:, :n]

    def at(t):
        moved = table.copy()
        moved[:, 0] += t * rates[0]
        moved[:, 1] += t * rates[1]
        return frames(moved)[-1]

    spin = (at(h) - at(-h)) / (2 * h) @ np.linalg.inv(at(0.0))
    found = cm.dual_angular_velocity(table, rates[0], rates[1])
    np.testing.assert_allclose(found.angular, [spin[2, 1], spin[0, 2], spin[1, 0]], rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.linear, spin[:3, 3], rtol=0, atol=1e-7)
    whole = cm.dual_jacobian(table)
    assert whole.shape == (6, 2 * n)
    close(whole @ np.concatenate(rates), np.concatenate([found.linear, found.angular]), 100)
    # w* is the velocity of the body point at the base origin
    p, dp = at(0.0)[:3, 3], (at(h) - at(-h))[:3, 3] / (2 * h)
    np.testing.assert_allclose(found.linear, dp - np.cross(found.angular, p), rtol=0, atol=1e-6)


@pytest.mark.spec("S0-35")
def test_selection_of_active_columns():
    """Cylindric, revolute and prismatic joints."""
    whole = cm.dual_jacobian(WE_06)
    active = cm.active_jacobian(WE_06, "RPC")
    assert active.coordinates == ("theta 1", "d 2", "theta 3", "d 3")
    np.testing.assert_array_equal(active.matrix, whole[:, [0, 4, 2, 5]])
    T = frames(WE_06)
    z, p = T[1][:3, 2], T[1][:3, 3]
    np.testing.assert_allclose(cm.active_jacobian(WE_06, "RRR").matrix[:, 1], [*np.cross(p, z), *z], atol=1e-14)
    np.testing.assert_allclose(active.matrix[:, 1], [*z, 0, 0, 0], atol=1e-14)
    batch = cm.active_jacobian(np.stack([WE_06, 2 * WE_06]), ["R", "R", "P"])
    assert batch.matrix.shape == (2, 6, 3)
    for wrong in ("RR", "RRRR", "RRX"):
        with pytest.raises(ModelError, match="the table has 3 rows"):
            cm.active_jacobian(WE_06, wrong)
