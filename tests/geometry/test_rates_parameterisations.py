"""Angular velocity and acceleration of every parameterisation and back, against curves in 60 digits, half-turns
included.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError, SingularityError
from cayley.geometry import rates as cr
from cayley.geometry.rotations import rotate_by_spinor
from cayley.geometry.tensors.cross import hat, vee
from geometry import exact_motions as em
from geometry.exact_rotations import MP, attitude, half_turns, matrix_of
from geometry.strategies import homogeneous_forms, rotation_matrices, unit_quaternions, vectors

AXES = [(0, 0, 1), (1, 1, -1), (0.3, -0.5, 0.7)]
ORDINARY = [attitude(axis, angle) for axis in AXES for angle in (0.0, 1e-300, 1e-16, 1e-8, 1e-4, 0.3, 0.99, 1.01, 2.0)]
NEAR_HALF_TURNS = [attitude(axis, short_of_half_turn=short) for axis in AXES
                   for short in (1e-16, 1e-8, 1e-3)] + half_turns()[:5]
WHOLE_GROUP = ORDINARY + NEAR_HALF_TURNS

CHARTS = {
    "matrix": matrix_of,
    "quaternion": list,
    "homogeneous": lambda q: em.homogeneous(q, 3),
    "spinor": em.spinor,
    "rotation_vector": em.rotation_vector,
    "vector_parameter": em.vector_parameter,
}


def close(found, expected, size=1.0, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(size, np.max(np.abs(expected))))


def functions(name):
    found = cr.chart(name)
    return (found.velocity, found.acceleration, {"world": found.rates_from_world, "body": found.rates_from_body},
            {"world": found.accelerations_from_world, "body": found.accelerations_from_body})


@pytest.mark.spec("S0-03", "S0-06", "S0-10", "S2-21")
@pytest.mark.parametrize("chart", ["matrix", "quaternion", "homogeneous", "spinor", "rotation_vector"])
def test_rates_on_the_whole_group(chart):
    velocity, acceleration, rate_from, second_from = functions(chart)
    for start in WHOLE_GROUP:
        curve = em.curve(start)
        x, dx, ddx = em.rates(lambda t, at=curve.at: CHARTS[chart](at(t)))
        for frame in ("world", "body"):
            w, dw = getattr(curve, frame)
            close(getattr(velocity(x, dx), frame), w)
            close(getattr(acceleration(x, dx, ddx), frame), dw)
            close(rate_from[frame](x, w), dx)
            close(second_from[frame](x, w, dw), ddx)


@pytest.mark.spec("S0-19")
def test_rates_of_the_vector_parameter():
    """Short of a half-turn c and dc, as doubles, tell the angular velocity only to rounding times |c|: not the
    formula's fault.
    """
    velocity, acceleration, rate_from, second_from = functions("vector_parameter")
    for start in [
            *ORDINARY, *[attitude(axis, short_of_half_turn=short) for axis in AXES for short in (1e-6, 1e-3, 0.1)]]:
        curve = em.curve(start)
        c, dc, ddc = em.rates(lambda t, at=curve.at: em.vector_parameter(at(t)))
        size = 1 + np.linalg.norm(c)
        for frame in ("world", "body"):
            w, dw = getattr(curve, frame)
            close(getattr(velocity(c, dc), frame), w, size)
            close(getattr(acceleration(c, dc, ddc), frame), dw, size**2)
            close(rate_from[frame](c, w), dc)
            close(second_from[frame](c, w, dw), ddc)


@pytest.mark.spec("S0-06", "S0-19")
def test_a_changing_norm_has_no_part_in_the_rotation():
    curve = em.curve(half_turns()[7])
    h, dh, ddh = em.rates(lambda t: em.homogeneous(curve.at(t), 2 + MP.sin(3 * t)))
    found = cr.chart("homogeneous").velocity(h, dh)
    close(found.world, curve.world[0])
    close(found.stretch, 1.5)
    close(cr.chart("homogeneous").acceleration(h, dh, ddh).body, curve.body[1])


@pytest.mark.spec("S0-06", "S0-10")
@given(unit_quaternions(), vectors())
def test_the_norm_is_kept_and_the_frames_agree(q, w):
    dq = cr.chart("quaternion").rates_from_world(q, w)
    assert abs(q @ dq) <= 1e-14 * (1 + np.linalg.norm(w))
    R = Rotation.from_quat(q, scalar_first=True).as_matrix()
    close(cr.chart("quaternion").rates_from_body(q, R.T @ w), dq)
    back = cr.chart("quaternion").velocity(q, dq)
    close(back.world, w)
    close(back.body, R.T @ w)
    psi = np.array([[q[3], q[0]], [q[1], q[2]]])
    close(cr.chart("spinor").rates_from_world(psi, w), [[dq[3], dq[0]], [dq[1], dq[2]]])
    close(rotate_by_spinor(psi, w), R @ w)


@given(homogeneous_forms(), vectors(), vectors())
def test_homogeneous_forms_of_every_size(h, w, dw):
    size = np.linalg.norm(h)
    dh, ddh = cr.chart("homogeneous").rates_from_world(h, w), cr.chart("homogeneous").accelerations_from_world(h, w, dw)
    found = cr.chart("homogeneous").velocity(h, dh)
    close(found.world, w)
    assert abs(found.stretch) <= 1e-14 * (1 + np.linalg.norm(w))
    close(cr.chart("homogeneous").acceleration(h, dh, ddh).world, dw, 1 + w @ w)
    close(cr.chart("homogeneous").rates_from_world(h / size, w), dh / size)


@pytest.mark.spec("S0-03")
@given(vectors(), vectors())
def test_hat_and_vee(a, b):
    np.testing.assert_array_equal(vee(hat(a)), a)
    np.testing.assert_allclose(
        hat(a) @ b, np.cross(a, b), rtol=0, atol=1e-14 * (1 + np.linalg.norm(a) * np.linalg.norm(b)))


@pytest.mark.spec("S0-03", "S2-21")
@given(rotation_matrices(), vectors(), st.tuples(*[st.floats(-1, 1)] * 9))
def test_measured_rates_of_matrices(R, w, noise):
    """What is not tangent is reported, and what is projected away is exactly that."""
    dR = np.cross(w, R.T).T
    found = cr.chart("matrix").velocity(R, dR)
    close(found.world, w)
    close(R @ found.body, w)
    assert found.defect <= 1e-13 * (1 + np.linalg.norm(w))
    cr.check_matrix_rate(R, dR)

    symmetric = np.reshape(noise, (3, 3)) + np.reshape(noise, (3, 3)).T
    noisy = dR + symmetric @ R
    found = cr.chart("matrix").velocity(R, noisy)
    close(found.world, w)
    close(found.defect, np.max(np.abs(symmetric)))
    close(cr.tangent_matrix_rate(R, noisy), dR)
    if np.max(np.abs(symmetric)) > 1e-3:
        with pytest.raises(GeometryError, match="symmetric part of dR R\\^T"):
            cr.check_matrix_rate(R, noisy)


@pytest.mark.spec("S0-03", "S2-21")
def test_angular_velocity_by_differences():
    """R(t) = exp(t u) Rz(t^2): central differences of SciPy's rotations, as data from a sensor would be."""
    def R(t):
        return (Rotation.from_rotvec(np.array([0.3, -0.8, 0.5]) * t) * Rotation.from_rotvec([0, 0, t * t])).as_matrix()
    t, h = 0.7, 1e-5
    dR = (R(t + h) - R(t - h)) / (2 * h)
    found = cr.chart("matrix").velocity(R(t), dR)
    exact = np.array([0.3, -0.8, 0.5
                      ]) + Rotation.from_rotvec(np.array([0.3, -0.8, 0.5]) * t).as_matrix() @ [0, 0, 2 * t]
    np.testing.assert_allclose(found.world, exact, atol=1e-9)
    np.testing.assert_allclose(R(t) @ found.body, found.world, atol=1e-9)
    assert found.defect < 1e-9


@pytest.mark.parametrize("bad, message", [(np.diag([1.0, 1.0, -1.0]), "reflection"), (1.1 * np.eye(3), "scaled"),
                                          (np.full((3, 3), np.nan), "NaN")])
def test_what_is_not_a_rotation_is_refused(bad, message):
    for function, arguments in ((cr.chart("matrix").velocity,
                                 [np.eye(3)]), (cr.chart("matrix").rates_from_world, [np.ones(3)]),
                                (cr.chart("matrix").acceleration, [np.eye(3), np.eye(3)])):
        with pytest.raises(GeometryError, match=message):
            function(bad, *arguments)


def test_the_element_of_a_batch_is_named():
    R, dR = np.tile(np.eye(3), (4, 1, 1)), np.zeros((4, 3, 3))
    dR[2] = np.eye(3)
    with pytest.raises(GeometryError, match=r"dR 2 of the batch .* is 1, 1e-08 is allowed"):
        cr.check_matrix_rate(R, dR)
    with pytest.raises(GeometryError, match="quaternion 1 of the batch"):
        cr.chart("quaternion").rates_from_world([[1, 0, 0, 0], [2, 0, 0, 0]], [0, 0, 1])
    with pytest.raises(GeometryError):
        cr.chart("homogeneous").rates_from_world(np.zeros(4), np.ones(3))
    with pytest.raises(GeometryError, match="spinor"):
        cr.chart("spinor").rates_from_body(np.ones((2, 2)), np.ones(3))


@pytest.mark.parametrize("angle", [2 * np.pi, 4 * np.pi, -2 * np.pi])
def test_full_turns_of_the_rotation_vector_are_singular(angle):
    l = angle * np.array([1.0, 2.0, 2.0]) / 3
    for function, arguments in ((cr.chart("rotation_vector").rates_from_world,
                                 1), (cr.chart("rotation_vector").rates_from_body,
                                      1), (cr.chart("rotation_vector").accelerations_from_world, 2),
                                (cr.world_velocity_map_inverse, 0)):
        with pytest.raises(SingularityError, match="full turn"):
            function(l, *[np.ones(3)] * arguments)
    close(cr.chart("rotation_vector").velocity(l, l).world, l)


@given(st.tuples(*[st.floats(-3.5, 3.5)] * 3).map(np.array))
def test_rate_map_of_the_rotation_vector_and_its_inverse(l):
    if abs(np.linalg.norm(l) - 2 * np.pi) > 0.3:
        close(cr.world_velocity_map(l) @ cr.world_velocity_map_inverse(l), np.eye(3), tolerance=2e-13)
