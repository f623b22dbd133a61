"""Velocities and accelerations of points, angular velocity from a point, frames on moving frames, the instantaneous
screw axis.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError, SingularityError
from cayley.geometry import rates as cr
from cayley.geometry.tensors.cross import vee
from cayley.machines import integrate_attitude
from geometry import exact_motions as em
from geometry import formulas_of_rates as fr
from geometry.exact_rotations import MP, attitude, matrix_of
from geometry.strategies import axes, homogeneous_forms, vectors


def close(found, expected, size=1.0, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0,
                               atol=tolerance * max(size, np.max(np.abs(expected), initial=0.0)))


CURVE = em.curve(attitude((1, -2, 0.5), 2.2))


def origin(t):
    return [1 + t + t * t, MP.sin(t), 2 - 3 * t * t]


def inner_point(t):
    return [MP.mpf("0.3") + MP.cos(2 * t), -t, MP.mpf("0.5") + t * t * 4]


def composite(t):
    """The point in the base frame: origin + R p."""
    p = MP.matrix(matrix_of(CURVE.at(t))) * MP.matrix(inner_point(t))
    return [a + b for a, b in zip(origin(t), p, strict=True)]


@pytest.mark.spec("S2-23", "S2-24", "S3-22")
def test_a_point_moving_in_a_moving_frame():
    """The derivatives of an exact composite motion, by differences in 60 digits."""
    R = em.rates(lambda t: matrix_of(CURVE.at(t)))[0]
    (_, v_q, a_q), (p, dp, ddp), (w, dw) = em.rates(origin), em.rates(inner_point), CURVE.world
    _, v, a = em.rates(composite)
    close(fr.velocity_of_moving_point(R, v_q, w, p, dp), v)
    found = cr.acceleration_of_moving_point(R, a_q, w, dw, p, dp, ddp)
    close(found.total, a)
    close(found.origin + found.tangential + found.centripetal + found.coriolis + found.relative, a)
    close(found.coriolis, 2 * np.cross(w, R @ dp))
    close(found.relative, R @ ddp)
    arm = R @ p
    close(found.tangential + found.centripetal, cr.acceleration_matrix(w, dw) @ arm)
    close(fr.rate_from_rotating_frame(w, arm, R @ dp), v - v_q)


@pytest.mark.spec("S2-24")
@given(vectors(), vectors(), vectors(), vectors())
def test_acceleration_matrix(a_q, w, dw, arm):
    W = cr.acceleration_matrix(w, dw)
    close(vee(W), dw, 1 + w @ w)
    close(W + W.T, 2 * (np.outer(w, w) - (w @ w) * np.eye(3)), 1 + w @ w)
    close(cr.acceleration_of_body_point(a_q, w, dw, arm), a_q + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)),
          1 + 10 * (w @ w))


@pytest.mark.spec("S2-23")
@given(vectors(), vectors(), vectors(), vectors())
def test_two_theorems_of_rigid_velocities(v_q, w, p, q):
    """Equal components along w, (2.17); relative velocity normal to the segment, (2.18)."""
    v_p, v_r = cr.velocity_of_body_point(v_q, w, p), cr.velocity_of_body_point(v_q, w, q)
    size = 1e3 * (1 + np.linalg.norm(w)) ** 2
    assert abs(v_p @ w - v_r @ w) <= 1e-15 * size
    assert abs((v_p - v_r) @ (p - q)) <= 1e-14 * size


@pytest.mark.spec("S3-22")
def test_frames_on_moving_frames():
    """The composed rotation R_ab(t) R_bc(t), differentiated in 60 digits; and the shared chain of three by two routes.
    """
    second = em.curve(attitude((0, 1, 1), short_of_half_turn=0))

    def product(t):
        return (MP.matrix(matrix_of(CURVE.at(t))) * MP.matrix(matrix_of(second.at(2 * t + t * t)))).tolist()

    R, dR, ddR = em.rates(product)
    spin = dR @ R.T
    R_ab = em.rates(lambda t: matrix_of(CURVE.at(t)))[0]
    w_bc, rest = second.world
    w, dw = cr.compose_angular_rates(R_ab, *CURVE.world, 2 * w_bc, 4 * rest + 2 * w_bc)
    close(w, vee(spin))
    close(dw, vee(ddR @ R.T - spin @ spin))


@pytest.mark.spec("S3-18")
@given(axes(), vectors(), vectors())
def test_angular_velocity_from_one_point(axis, w, p):
    """Only the part normal to the point's arm comes back; the rest is said to be free."""
    assume(np.linalg.norm(p) > 1e-3)
    close(fr.angular_velocity_about_axis(axis, 2.5), 2.5 * axis)
    found = cr.angular_velocity_from_point(p, np.cross(w, p))
    e = p / np.linalg.norm(p)
    close(found.normal, w - e * (e @ w), 10)
    close(found.free, e)
    assert abs(found.defect) < 1e-13 * (1 + np.linalg.norm(np.cross(w, p)))
    close(found.normal + found.free * (e @ w), w, 10)


@pytest.mark.spec("S3-18")
def test_angular_velocity_from_one_point_worked_example():
    """Spec E3-09, and what cannot be."""
    found = cr.angular_velocity_from_point([0.3, -0.2, 0.5], np.cross([1, 2, -0.5], [0.3, -0.2, 0.5]))
    np.testing.assert_allclose(found.normal, [1.2763, 1.8158, -0.0395], atol=5e-5)
    assert cr.angular_velocity_from_point([0.0, 0.0, 2.0], [0.0, 0.0, 3.0]).defect == 3.0
    with pytest.raises(SingularityError, match="point 1 of the batch is the fixed point"):
        cr.angular_velocity_from_point([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [0.0, 0.0, 1.0])
    with pytest.raises(GeometryError, match="unit vector"):
        fr.angular_velocity_about_axis([0.0, 0.0, 2.0], 1.0)


@pytest.mark.spec("S3-18")
def test_a_turning_point_and_no_orientation_vector():
    """v = w x p against differences; and two motions with the same integral of w end in different attitudes."""
    axis, speed, p0, h = np.array([2.0, -1.0, 2.0]) / 3, 1.7, np.array([0.3, 0.8, -0.2]), 1e-5
    def at(t):
        return Rotation.from_rotvec(axis * speed * t).apply(p0)
    w = fr.angular_velocity_about_axis(axis, speed)
    np.testing.assert_allclose(cr.velocity_of_body_point(np.zeros(3), w, at(0.4)), (at(0.4 + h) - at(0.4 - h)) /
                               (2 * h), atol=1e-9)

    def first_x(t):
        return np.array([1.0, 0, 0]) if t < 1 else np.array([0, 1.0, 0])
    def first_y(t):
        return first_x(t)[[1, 0, 2]]
    ends = []
    for first in (first_x, first_y):
        half = integrate_attitude(lambda t, f=first: f(0.5), np.eye(3), [0, 1], frame="world").matrices[-1]
        ends.append(integrate_attitude(lambda t, f=first: f(1.5), half, [1, 2], frame="world").matrices[-1])
    np.testing.assert_allclose(ends[0], Rotation.from_euler("xy", [1, 1]).as_matrix(), atol=1e-10)
    assert np.max(np.abs(ends[0] - ends[1])) > 0.5


# The instantaneous screw axis


@pytest.mark.spec("S2-22", "S0-31")
@given(vectors(), vectors(), vectors())
def test_instantaneous_screw(w, v, q):
    """All points of the axis move along it; the whole velocity field is that of the screw."""
    assume(not np.any(w) or np.linalg.norm(w) > 1e-2)
    screw = cr.instantaneous_screw(w, v, q)
    assert abs(np.linalg.norm(screw.direction) - 1) < 1e-15
    close(screw.moment, np.cross(screw.point, screw.direction), 1e4)
    speed = np.linalg.norm(w)
    close(screw.angular_speed, speed)
    for s in (-2.0, 0.0, 3.0):
        on_axis = screw.point + s * screw.direction
        close(v + np.cross(w, on_axis - q), screw.linear_speed * screw.direction, 1e4)
    if speed:
        close(screw.direction * speed, w)
        close(screw.pitch, (w @ v) / (w @ w), 1e3)
        close((screw.point - q) @ w, 0.0, 1e4)
    elif np.any(v):
        assert screw.pitch == np.inf and np.array_equal(screw.point, q)
        close(screw.linear_speed * screw.direction, v)
    else:
        assert screw.pitch == 0 and screw.linear_speed == 0


@pytest.mark.spec("S2-22")
def test_instantaneous_screw_worked_example():
    """Spec WE-09; components of w that are zero, where the ratios (2.9) divide by zero; a rotation about the origin."""
    screw = cr.instantaneous_screw([1.0, 2.0, 2.0], [3.0, 1.0, -2.0], [1.0, 0.0, -1.0])
    np.testing.assert_allclose(screw.point, [1 / 3, 8 / 9, -14 / 9], atol=1e-12)
    np.testing.assert_allclose(screw.pitch, 1 / 9, atol=1e-12)
    screw = cr.instantaneous_screw([0.0, 0.0, 2.0], [0.0, 6.0, 1.0], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(screw.point, [-3.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose([screw.pitch, screw.angular_speed, screw.linear_speed], [0.5, 2.0, 1.0])
    screw = cr.instantaneous_screw([0.0, 3.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(screw.point, 0.0)
    assert screw.pitch == 0
    np.testing.assert_allclose(screw.direction, [0.0, 0.6, 0.8])


@pytest.mark.spec("S0-31")
@given(vectors(3), vectors(), vectors(), vectors())
def test_instantaneous_screw_from_vector_parameters(c, dc, p, dp):
    """The formulas of spec R-31, and the same motion in homogeneous form."""
    assume(np.linalg.norm(dc) > 1e-2)
    screw = fr.instantaneous_screw_from_vector_parameter(c, dc, p, dp)
    w0 = dc + np.cross(c, dc)
    w = 2 * w0 / (1 + c @ c)
    square = dc @ dc + (c @ c) * (dc @ dc) - (c @ dc) ** 2
    sigma = (1 + c @ c) / 2 * (w0 @ dp) / square
    close(screw.pitch, sigma, 1e3)
    close(screw.direction * screw.angular_speed, w)
    size = 1 + np.linalg.norm(screw.moment) * np.linalg.norm(w)
    close(screw.moment * screw.angular_speed, dp - np.cross(w, p) - sigma * w, 1e2 * size)
    scaled = fr.instantaneous_screw_from_homogeneous(3 * np.array([1, *c]), 3 * np.array([0, *dc]), p, dp)
    close(scaled.moment, screw.moment, 1e4)


@pytest.mark.spec("S0-31")
@given(homogeneous_forms(), vectors(), vectors(), vectors())
def test_instantaneous_screw_through_half_turns(h, w, p, dp):
    dh = cr.chart("homogeneous").rates_from_world(h, w)
    assume(np.linalg.norm(w) > 1e-2)
    found, right = fr.instantaneous_screw_from_homogeneous(h, dh, p, dp), cr.instantaneous_screw(w, dp, p)
    close(found.point, right.point, 1e4)
    close(found.pitch, right.pitch, 1e4)
    still = fr.instantaneous_screw_from_homogeneous(h, np.zeros(4), p, dp)
    assert still.angular_speed == 0 and (still.pitch == np.inf or not np.any(dp))
