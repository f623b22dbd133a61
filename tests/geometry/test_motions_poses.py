"""Poses: homogeneous coordinates, the group, what is refused, composition about fixed and moving axes, displacement
fields.
"""

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from cayley.errors import ConventionError, GeometryError, SingularityError
from cayley.geometry import motions as cm
from cayley.geometry.rotations import rotation_x, rotation_y, rotation_z
from geometry import exact_motions as em
from geometry import formulas_of_motions as fm
from geometry.exact_rotations import attitude, half_turns
from geometry.exact_rotations import matrix_of as exact_matrix
from geometry.strategies import axes, homogeneous_forms, matrix_of, rotation_matrices, signed_angles, vectors


def close(found, expected, size=1.0, tolerance=1e-14):
    np.testing.assert_allclose(found, expected, rtol=0,
                               atol=tolerance * max(size, np.max(np.abs(expected), initial=0.0)))


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def poses(size=10.0):
    return st.tuples(rotation_matrices(), vectors(size)).map(lambda pair: pose(*pair))


@pytest.mark.spec("S1-03", "S2-19", "S3-09")
@given(rotation_matrices(), vectors(), vectors(), st.sampled_from([1.0, -2.0, 0.5, 1e-3]))
def test_homogeneous_coordinates(R, p, x, scale):
    """The 4x4 result is R x + p; a scale other than one is divided out; a direction does not see the translation."""
    T = cm.pose_from_matrix(R, p)
    np.testing.assert_array_equal(T, pose(R, p))
    moved = cm.transform_point(T, x)
    close(moved, R @ x + p, 40)
    h = fm.homogeneous_from_point(x, scale)
    np.testing.assert_array_equal(h, [*(scale * x), scale])
    close(fm.transform_homogeneous(T, h), T @ h, 40)
    close(fm.point_from_homogeneous(fm.transform_homogeneous(T, h)), moved, 40)
    close(fm.point_from_homogeneous(h), x)
    close(fm.transform_homogeneous(T, [*x, 0.0]), [*(R @ x), 0.0], 20)
    close(cm.transform_vector(T, x), R @ x, 20)
    parts = fm.parts_of_pose(T)
    np.testing.assert_array_equal(parts.rotation, R)
    np.testing.assert_array_equal(parts.translation, p)


@pytest.mark.spec("S1-03", "S2-19")
def test_points_at_infinity_are_not_points():
    with pytest.raises(SingularityError, match=r"\[1.0, 0.0, 0.0, 0.0\] 1 of the batch have the scale 0"):
        fm.point_from_homogeneous([[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0]])


@pytest.mark.spec("S1-02", "S1-03", "S2-19", "S3-09")
@given(poses(), poses(), poses(), vectors())
def test_group_of_poses(A, B, C, x):
    close(cm.compose_poses(A, B), A @ B, 30)
    close(cm.compose_poses(cm.compose_poses(A, B), C), cm.compose_poses(A, cm.compose_poses(B, C)), 100)
    close(cm.compose_all_poses([A, B, C]), A @ B @ C, 100)
    back = cm.inverse_pose(A)
    close(back, np.linalg.inv(A), 30, tolerance=1e-13)
    close(cm.compose_poses(A, back), np.eye(4), 30)
    close(cm.relative_pose(A, B), np.linalg.inv(A) @ B, 40, tolerance=1e-13)
    close(cm.transform_point(cm.compose_poses(A, B), x), cm.transform_point(A, cm.transform_point(B, x)), 60)
    np.testing.assert_array_equal(cm.compose_poses(A, B)[3], [0, 0, 0, 1])


@pytest.mark.spec("S1-02", "S2-19")
@given(poses(), vectors(), vectors(), vectors(), st.floats(-2, 2))
def test_displacements_keep_distances_angles_and_affine_combinations(T, x, y, z, t):
    moved = [cm.transform_point(T, p) for p in (x, y, z)]
    close(np.linalg.norm(moved[0] - moved[1]), np.linalg.norm(x - y), 100)
    close((moved[0] - moved[1]) @ (moved[2] - moved[1]), (x - y) @ (z - y), 1e3)
    close(cm.transform_point(T, x + t * (y - x)), moved[0] + t * (moved[1] - moved[0]), 100)


@pytest.mark.spec("S1-02", "S2-19")
def test_the_transpose_is_not_the_inverse_and_rotations_do_not_commute():
    T = cm.pose_from_matrix(rotation_z(0.3), [1.0, 2.0, 3.0])
    assert np.max(np.abs(T @ T.T - np.eye(4))) > 1
    A, B = fm.rotation_pose(rotation_x(0.4)), fm.rotation_pose(rotation_y(0.7))
    assert np.max(np.abs(A @ B - B @ A)) > 0.1
    s, t = cm.translation_pose([1.0, 2.0, 3.0]), cm.translation_pose([-4.0, 0.5, 2.0])
    np.testing.assert_array_equal(cm.compose_poses(s, t), cm.compose_poses(t, s))


@pytest.mark.spec("S1-02", "S3-09")
@given(rotation_matrices(), vectors())
def test_splitting(R, p):
    """W = T_d A: translation first keeps p and R; the other order has another translation."""
    T = pose(R, p)
    first, second = fm.split_translation_first(T), fm.split_rotation_first(T)
    np.testing.assert_array_equal(first.translation, cm.translation_pose(p))
    np.testing.assert_array_equal(first.rotation, fm.rotation_pose(R))
    close(first.translation @ first.rotation, T)
    close(second.rotation @ second.translation, T, 30)
    close(second.translation[:3, 3], R.T @ p, 20)
    close(cm.compose_poses(cm.inverse_pose(first.translation), T), first.rotation)


@pytest.mark.spec("S1-02", "S1-03", "S2-19", "S3-09")
@pytest.mark.parametrize("broken, message", [
    (np.diag([1.0, 1.0, -1.0, 1.0]), "reflection"),
    (np.diag([2.0, 2.0, 2.0, 2.0]), "divide the matrix by its last element"),
    (np.diag([1.1, 1.1, 1.1, 1.0]), "scaled"),
    (np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1e-3, 1]]), "last row"),
    (np.full((4, 4), np.nan), "last row"),
    (pose(np.eye(3), [np.inf, 0, 0]), "translation"),
    (pose(np.full((3, 3), np.nan), [0, 0, 0]), "NaN"), ])
def test_what_is_not_a_pose_is_refused(broken, message):
    good = np.eye(4)
    for call in (lambda: cm.transform_point(broken, np.ones(3)), lambda: cm.inverse_pose([good, broken]),
                 lambda: cm.compose_poses(good, broken), lambda: cm.compose_poses(broken, good),
                 lambda: cm.screw_from_pose(broken), lambda: cm.twist_from_pose(broken),
                 lambda: cm.sequence_of_moves([(broken, "fixed")]), lambda: cm.transform_plane(broken, np.ones(4))):
        with pytest.raises(GeometryError, match=message):
            call()
    with pytest.raises(GeometryError, match="matrix 1 of the batch"):
        cm.inverse_pose([good, broken])
    if np.all(np.isfinite(broken)):
        assert cm.pose_defect(broken) > 1e-4
    with pytest.raises(GeometryError, match="shape"):
        cm.check_pose(np.eye(3))
    assert cm.pose_defect(good) == 0


def test_four_planes_are_not_mistaken_for_a_pose():
    planes = np.arange(16.0).reshape(4, 4)
    T = pose(np.eye(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(cm.transform_plane(T, planes), planes @ np.linalg.inv(T), atol=1e-13)
    np.testing.assert_allclose(fm.transform_homogeneous(T, planes), planes @ T.T, atol=1e-13)


@given(poses(), vectors(), vectors(), st.floats(-5, 5))
def test_planes(T, n, x, offset):
    """A point of the plane stays a point of it: n.x + d is the same before and after."""
    plane = np.array([*n, offset])
    value = cm.transform_plane(T, plane) @ [*cm.transform_point(T, x), 1.0]
    close(value, n @ x + offset, 1e3)
    close(cm.transform_plane(T, plane), np.linalg.inv(T).T @ plane, 300, tolerance=1e-13)


@pytest.mark.spec("S0-18")
@given(homogeneous_forms(), vectors(), vectors())
def test_every_way_to_make_a_pose(h, p, x):
    scaled = h / np.max(np.abs(h))
    R = matrix_of(scaled)
    q = scaled / np.linalg.norm(scaled)
    close(cm.pose_from_homogeneous(h, p), pose(R, p))
    close(cm.pose_from_quaternion(q, p), pose(R, p))
    if abs(q[0]) > 1e-3:
        close(cm.pose_from_vector_parameter(q[1:] / q[0], p), pose(R, p), tolerance=1e-13)
    close(fm.displace_point(h, p, x), R @ x + p, 40)
    back = fm.displacement_from_pose(pose(R, p))
    close(matrix_of(back.rotation), R)
    close(back.translation, p)


@pytest.mark.spec("S0-18")
@given(st.tuples(homogeneous_forms(), vectors()), st.tuples(homogeneous_forms(), vectors()), vectors())
def test_group_of_displacements(one, two, x):
    """(O1, p1)(O2, p2) = (O1 O2, O1 p2 + p1), with half-turns and translations."""
    one, two = (one[0] / np.max(np.abs(one[0])), one[1]), (two[0] / np.max(np.abs(two[0])), two[1])
    both = fm.compose_displacements(*one, *two)
    close(fm.displace_point(*both, x), fm.displace_point(*one, fm.displace_point(*two, x)), 60)
    close(cm.pose_from_homogeneous(*both), cm.pose_from_homogeneous(*one) @ cm.pose_from_homogeneous(*two), 30)
    back = fm.inverse_displacement(*one)
    close(fm.displace_point(*back, fm.displace_point(*one, x)), x, 60)
    with pytest.raises(GeometryError):
        fm.compose_displacements(*one, np.zeros(4), two[1])


@pytest.mark.spec("S0-18")
@pytest.mark.parametrize("start", [attitude((1, -2, 0.5), 2.2), attitude((0, 0, 1), 0.0), *half_turns()[:3]])
def test_velocity_and_acceleration_fields(start):
    """A body point along a motion in 60 digits, half-turns included."""
    curve = em.curve(start)

    def origin(t):
        return [1 + t + t * t, 5 * t, 2 - 3 * t * t]

    def point(t):
        R = exact_matrix(curve.at(t))
        return [sum(R[i][j] * x for j, x in enumerate((1, -2, 0.5))) + origin(t)[i] for i in range(3)]

    h, dh, ddh = em.rates(lambda t: em.homogeneous(curve.at(t), 2 + t))
    p, dp, ddp = em.rates(origin)
    found = cm.motion_of_point(h, dh, ddh, p, dp, ddp, [1.0, -2.0, 0.5])
    for value, exact in zip(found, em.rates(point), strict=True):
        close(value, exact, 10)
    if abs(h[0]) > 0.1:
        c = em.rates(lambda t: em.vector_parameter(curve.at(t)))
        for value, exact in zip(fm.motion_of_point_from_vector_parameter(*c, p, dp, ddp, [1.0, -2.0, 0.5]),
                                em.rates(point), strict=True):
            close(value, exact, 100)


@given(poses(), poses(), vectors())
def test_against_pinocchio_and_scipy(A, B, x):
    first, second = (pinocchio.SE3(T[:3, :3].copy(), T[:3, 3].copy()) for T in (A, B))
    close(cm.compose_poses(A, B), (first * second).homogeneous, 30)
    close(cm.inverse_pose(A), first.inverse().homogeneous, 30)
    close(cm.transform_point(A, x), first.act(x), 30)
    close(cm.compose_poses(A, B), (RigidTransform.from_matrix(A) * RigidTransform.from_matrix(B)).as_matrix(), 30,
          tolerance=1e-13)


# Moves about fixed and moving axes


@pytest.mark.spec("S2-20")
def test_four_patterns():
    """Spec WE-07, and the coincident start."""
    R, s = fm.rotation_pose(rotation_z(np.pi / 2)), cm.translation_pose([1.0, 2.0, 3.0])
    start = cm.pose_from_matrix(rotation_x(np.pi / 2), [4.0, 5.0, 6.0])
    expected = {  # moves in the order in which they are made: origin of the frame
        (("R", "fixed"), ("s", "fixed")): (-4, 6, 9), (("s", "moving"), ("R", "moving")): (5, 2, 8),
        (("s", "fixed"), ("R", "fixed")): (-7, 5, 9), (("R", "moving"), ("s", "moving")): (2, 2, 7),
    }
    for moves, origin in expected.items():
        T = cm.sequence_of_moves([({"R": R, "s": s}[name], about) for name, about in moves], start=start)
        np.testing.assert_allclose(T[:3, 3], origin, rtol=0, atol=1e-12)
    np.testing.assert_allclose(cm.sequence_of_moves([(s, "fixed"), (R, "fixed")])[:3, 3], [-2, 1, 3], atol=1e-12)
    np.testing.assert_allclose(cm.sequence_of_moves([(R, "fixed"), (s, "fixed")])[:3, 3], [1, 2, 3], atol=1e-12)
    Rb, po, Rz, shift = start[:3, :3], start[:3, 3], R[:3, :3], s[:3, 3]
    moving, fixed = ([(a, about), (b, about)] for a, b, about in ((R, s, "moving"), (s, R, "fixed")))
    np.testing.assert_allclose(cm.sequence_of_moves(moving, start=start), pose(Rb @ Rz, Rb @ Rz @ shift + po),
                               atol=1e-12)
    np.testing.assert_allclose(cm.sequence_of_moves(fixed, start=start), pose(Rz @ Rb, Rz @ (shift + po)), atol=1e-12)


@pytest.mark.spec("S2-20")
@given(st.lists(st.tuples(poses(3.0), st.sampled_from(["fixed", "moving"])), max_size=5), poses(3.0))
def test_mixed_sequences(moves, start):
    """Fixed moves pile up on the left, moving ones on the right, whatever the order between them; orders of one kind
    matter.
    """
    left, right = np.eye(4), np.eye(4)
    for T, about in moves:
        left, right = (T @ left, right) if about == "fixed" else (left, right @ T)
    close(cm.sequence_of_moves(moves, start=start), left @ start @ right, 100)
    close(cm.sequence_of_moves([cm.Move(*m) for m in moves]), left @ right, 100)


@pytest.mark.spec("S2-20")
@given(vectors(), axes(), signed_angles(), vectors())
def test_turns_about_displaced_axes(point, axis, angle, x):
    T = cm.turn_about_line(point, axis, angle)
    close(cm.transform_point(T, point + 3 * axis), point + 3 * axis, 30)
    turn = fm.rotation_pose(Rotation.from_rotvec(axis * angle).as_matrix())
    close(
        T,
        cm.sequence_of_moves([(cm.translation_pose(-point), "fixed"), (turn, "fixed"),
                              (cm.translation_pose(point), "fixed")]), 50)


def test_conventions_of_moves():
    with pytest.raises(ConventionError, match="move 1 is about 'body'"):
        cm.sequence_of_moves([(np.eye(4), "fixed"), (np.eye(4), "body")])
    batch = np.stack([np.eye(4), pose(rotation_z(0.3), [1.0, 0.0, 0.0])])
    assert cm.sequence_of_moves([(batch, "fixed"), (np.eye(4), "moving")]).shape == (2, 4, 4)
    with pytest.raises(GeometryError, match="unit vector"):
        cm.turn_about_line([0.0, 0.0, 0.0], [0.0, 0.0, 2.0], 1.0)
