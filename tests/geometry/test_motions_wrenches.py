"""Twists and wrenches between frames and points, joint forces, projections and reflections."""

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cayley.errors import GeometryError
from cayley.geometry import motions as cm
from cayley.geometry.tensors.projections import plane_projection
from geometry import formulas_of_motions as fm
from geometry.strategies import axes, rotation_matrices, vectors


def close(found, expected, size=1.0, tolerance=1e-14):
    np.testing.assert_allclose(found, expected, rtol=0,
                               atol=tolerance * max(size, np.max(np.abs(expected), initial=0.0)))


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def poses():
    return st.tuples(rotation_matrices(), vectors()).map(lambda pair: pose(*pair))


def six():
    return st.tuples(vectors(), vectors()).map(np.concatenate)


@pytest.mark.spec("S3-24")
@given(poses(), poses(), six(), six())
def test_transforms_of_twists_and_wrenches(A, B, twist, wrench):
    """Against Pinocchio; a group; and the power is the same in every frame."""
    M = pinocchio.SE3(A[:3, :3].copy(), A[:3, 3].copy())
    moved, load = cm.transform_twist(A, twist), cm.transform_wrench(A, wrench)
    close(moved, (M * pinocchio.Motion(twist)).vector, 300)
    close(load, (M * pinocchio.Force(wrench)).vector, 300)
    close(cm.twist_transform(A) @ twist, moved, 300)
    close(cm.wrench_transform(A) @ wrench, load, 300)
    close(cm.wrench_transform(A), np.linalg.inv(cm.twist_transform(A)).T, 20, tolerance=1e-13)
    close(cm.twist_transform(A) @ cm.twist_transform(B), cm.twist_transform(A @ B), 300)
    close(cm.power(load, moved), cm.power(wrench, twist), 1e5)
    close(cm.power(wrench, twist), wrench @ twist)


@pytest.mark.spec("S3-24")
@given(six(), six(), vectors(), rotation_matrices())
def test_reference_points_and_axes(twist, wrench, shift, R):
    there, load = fm.twist_at(twist, shift), cm.wrench_at(wrench, shift)
    close(there, cm.transform_twist(pose(np.eye(3), -shift), twist), 300)
    close(load, cm.transform_wrench(pose(np.eye(3), -shift), wrench), 300)
    close(cm.power(load, there), wrench @ twist, 1e5)
    close(fm.twist_at(there, -shift), twist, 300)
    close(cm.turn_axes(R, wrench), cm.transform_wrench(pose(R, np.zeros(3)), wrench), 20)
    close(cm.turn_axes(R, twist), cm.transform_twist(pose(R, np.zeros(3)), twist), 20)


def modified_joint(a, alpha, d, theta):
    ct, st_, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -st_, 0, a], [ca * st_, ca * ct, -sa, -d * sa], [sa * st_, sa * ct, ca, d * ca], [0, 0, 0,
                                                                                                            1]])


@pytest.mark.spec("S3-24")
def test_hand_wrench_to_joint_forces():
    """Spec W3-08: a mixed arm, the wrench given in hand axes at the hand.

    The moment's point and the Jacobian's must be the same, E3-11.
    """
    rows = [(0, 0, 0.40 + 0, 0.4), (0.10, np.pi / 2, 0.20 + 0.15, 0.3), (0.30, -np.pi / 3, 0.05, -0.7),
            (0.25, np.pi / 2, 0.10, 0.2 + 1.1)]
    kinds = "RTRR"
    T, axes_, points = np.eye(4), [], []
    for row in rows:
        T = T @ modified_joint(*row)
        axes_.append(T[:3, 2])
        points.append(T[:3, 3])
    np.testing.assert_allclose(T[0], [0.2220757890, -0.9532717520, -0.2048299557, 0.7143301231], atol=1e-9)
    p = T[:3, 3]
    turning = [np.array([*np.cross(z, p - o), *z]) for z, o in zip(axes_, points, strict=True)]
    J = np.stack([turning[i] if k == "R" else np.array([*axes_[i], 0, 0, 0]) for i, k in enumerate(kinds)], axis=1)
    # the Jacobian of the body point at the base origin
    at_base = np.stack([fm.twist_at(column, -p) for column in J.T], axis=1)
    hand = np.array([1.0, -2, 3, 0.1, 0.2, -0.3])
    expected = [-1.3979874915, 3.4257938702, -0.3806828958, -0.3]
    np.testing.assert_allclose(cm.joint_forces_that_exert(J, cm.turn_axes(T[:3, :3], hand)), expected, atol=1e-9)
    np.testing.assert_allclose(cm.joint_forces_that_exert(at_base, cm.transform_wrench(T, hand)), expected, atol=1e-9)
    np.testing.assert_allclose(cm.joint_forces_that_resist(J, cm.turn_axes(T[:3, :3], hand)), -np.array(expected),
                               atol=1e-9)
    mixed = cm.joint_forces_that_exert(J, cm.transform_wrench(T, hand))  # what (2.7) prints
    np.testing.assert_allclose(mixed, [-3.100, 3.426, -2.849, -1.153], atol=1e-3)


@given(poses(), six())
def test_poses_that_change(T, twist):
    """A pose moved by a small twist on either side."""
    h = 1e-6
    world = (cm.pose_from_twist(h * twist) @ T - cm.pose_from_twist(-h * twist) @ T) / (2 * h)
    body = (T @ cm.pose_from_twist(h * twist) - T @ cm.pose_from_twist(-h * twist)) / (2 * h)
    np.testing.assert_allclose(fm.pose_rate_from_world_twist(T, twist), world, rtol=0, atol=2e-6)
    np.testing.assert_allclose(fm.pose_rate_from_body_twist(T, twist), body, rtol=0, atol=2e-6)
    found = cm.twist_from_pose_rate(T, fm.pose_rate_from_world_twist(T, twist))
    close(found.world, twist, 300)
    close(cm.transform_twist(T, found.body), twist, 300)
    assert found.defect < 1e-12
    found = cm.twist_from_pose_rate(T, fm.pose_rate_from_body_twist(T, twist))
    close(found.body, twist, 300)


def test_rates_that_are_none_are_measured():
    dT = np.zeros((4, 4))
    dT[0, 0], dT[3, 1] = 0.25, 0.5
    assert cm.twist_from_pose_rate(np.eye(4), dT).defect == 0.5
    with pytest.raises(GeometryError):
        cm.transform_wrench(np.diag([1.0, 1.0, -1.0, 1.0]), np.ones(6))
    with pytest.raises(GeometryError):
        cm.turn_axes(np.diag([1.0, 1.0, -1.0]), np.ones(6))


# Planes through the origin


@pytest.mark.spec("S2-17", "S2-18")
@given(axes(), vectors())
def test_projection_and_reflection(n, p):
    P, T = plane_projection(n), fm.plane_reflection(n)
    close(P @ P, P)
    close(P @ n, 0.0)
    close(P, P.T)
    close(np.linalg.eigvalsh(P), [0.0, 1.0, 1.0])
    assert np.linalg.matrix_rank(P, tol=1e-10) == 2
    close(fm.project_on_plane(n, p), P @ p, 20)
    close(n @ fm.project_on_plane(n, p), 0.0, 20)
    close(T @ T, np.eye(3))
    close(np.linalg.inv(T), T)
    close(np.linalg.det(T), -1.0)
    close(fm.reflect_in_plane(n, p), T @ p, 20)
    close((fm.reflect_in_plane(n, p) + p) / 2, fm.project_on_plane(n, p), 20)
    with pytest.raises(GeometryError, match="reflection"):
        cm.pose_from_matrix(T, p)


@pytest.mark.spec("S2-17", "S2-18")
def test_projection_worked_example():
    """Spec WE-06 of Ruggiu's catalogue; a normal that is not a unit vector is refused."""
    n, p = np.array([1.0, 2, 2]) / 3, np.array([3.0, -1, 2])
    np.testing.assert_allclose(fm.project_on_plane(n, p), [22 / 9, -19 / 9, 8 / 9], atol=1e-12)
    np.testing.assert_allclose(fm.reflect_in_plane(n, p), [17 / 9, -29 / 9, -2 / 9], atol=1e-12)
    for function, arguments in ((fm.project_on_plane, (p,)), (fm.reflect_in_plane, (p,)), (fm.plane_reflection, ()),
                                (plane_projection, ())):
        with pytest.raises(GeometryError, match="unit vector"):
            function(3 * n, *arguments)
