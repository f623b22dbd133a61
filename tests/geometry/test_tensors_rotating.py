"""Angular velocity and acceleration tensors in three and in n dimensions, and motion of body points (S1-19 to S1-21).
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from cayley.compiler.algebras.counts import Operations
from cayley.errors import GeometryError, SignatureError
from cayley.geometry import tensors as ct
from geometry import formulas_of_tensors as ft

RNG = np.random.default_rng(21)
VECTORS = arrays(float, 3, elements=st.one_of(st.sampled_from([0.0, 1e-8, 1.0, -2.0]), st.floats(-10, 10)))
STEP = 1e-5


def close(found, expected, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


class Turning:
    """Q(t) = exp(A t) exp(B t^2) in n dimensions, with its two derivatives by the product rule: the closed form."""

    def __init__(self, n):
        raw = RNG.normal(size=(2, n, n))
        self.A, self.B = raw - np.swapaxes(raw, 1, 2)

    def __call__(self, t):
        return expm(self.A * t) @ expm(self.B * t * t)

    def rates(self, t):
        A, B, left, right = self.A, self.B, expm(self.A * t), expm(self.B * t * t)
        right_d, right_dd = 2 * t * B @ right, (2 * B + 4 * t * t * B @ B) @ right
        return (left @ right, A @ left @ right + left @ right_d,
                A @ A @ left @ right + 2 * A @ left @ right_d + left @ right_dd)


@pytest.mark.spec("S1-19")
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_angular_velocity_tensor_in_n_dimensions(n):
    motion, t = Turning(n), 0.37
    Q, Qd, _ = motion.rates(t)
    Phi = ct.angular_velocity_tensor(Q, Qd)
    # what the product rule gives by hand
    close(Phi, motion.A + expm(motion.A * t) @ (2 * t * motion.B) @ expm(-motion.A * t))
    close(Phi + Phi.T, np.zeros((n, n)))
    close(Phi @ Q, Qd)
    numeric = (motion(t + STEP) - motion(t - STEP)) / (2 * STEP)
    close(ct.skew_part(numeric @ Q.T), Phi, 1e-8)


@pytest.mark.spec("S1-19")
@given(VECTORS, st.integers(0, 2**32 - 1))
def test_angular_velocity_vector_of_a_rotation(w, seed):
    R = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    Phi = ct.angular_velocity_tensor(R, ct.hat(w) @ R)
    close(ct.dual_vector(Phi), w)
    close(R @ (ct.hat(w) @ R).T + ct.hat(w) @ R @ R.T, np.zeros((3, 3)))


@pytest.mark.spec("S1-19")
def test_no_vector_in_other_dimensions_and_drift_is_refused():
    Q, Qd, _ = Turning(4).rates(0.2)
    with pytest.raises(SignatureError):
        ct.dual_vector(ct.angular_velocity_tensor(Q, Qd))
    R = Rotation.random(3, rng=RNG).as_matrix()
    w = ct.hat(RNG.normal(size=(3, 3)))
    drifted = R.copy()
    drifted[1] *= 1 + 1e-4
    with pytest.raises(
            GeometryError,
            match=r"not orthogonal at element 1 of the batch: Q\^T Q - 1 reaches 0.0002; .*nearest_rotation"):
        ct.angular_velocity_tensor(drifted, w @ R)
    with pytest.raises(GeometryError,
                       match=r"does not keep the matrix orthogonal: Qd Q\^T \+ Q Qd\^T reaches 0.02.*skew_part"):
        ct.angular_velocity_tensor(R[0], (w[0] + 0.01 * np.eye(3)) @ R[0])
    with pytest.raises(GeometryError, match="not orthogonal"):
        ft.angular_acceleration_tensor(drifted, w @ R)
    close(ct.skew_part(ct.angular_velocity_tensor.unchecked(drifted, w @ drifted)), w, 3e-4)


@pytest.mark.spec("S1-20")
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_angular_acceleration_tensor_in_n_dimensions(n):
    motion, t = Turning(n), -0.29
    Q, Qd, Qdd = motion.rates(t)
    Psi = ft.angular_acceleration_tensor(Q, Qdd)
    close(Psi @ Q, Qdd)
    close((motion(t + 1e-4) - 2 * Q + motion(t - 1e-4)) / 1e-8, Qdd, 1e-6)
    Phi = ct.angular_velocity_tensor(Q, Qd)
    split = ft.split_angular_acceleration(Psi)
    close(split.centripetal, Phi @ Phi)
    close(ft.angular_acceleration_from_tensors(Phi, split.turning), Psi)
    later, earlier = (ct.skew_part(b @ a.T) for a, b, _ in (motion.rates(t + STEP), motion.rates(t - STEP)))
    close((later - earlier) / (2 * STEP), split.turning, 1e-7)
    assert n == 2 or (np.abs(Psi - Psi.T).max() > 1e-3 and np.abs(Psi + Psi.T).max() > 1e-3)


@pytest.mark.spec("S1-20")
@given(VECTORS, VECTORS)
def test_angular_acceleration_tensor_of_vectors(w, wd):
    Omega = ct.angular_acceleration_from_vectors(w, wd)
    close(Omega, ct.hat(wd) + ct.hat(w) @ ct.hat(w))
    close(Omega, ft.angular_acceleration_from_tensors(ct.hat(w), ct.hat(wd)))
    close(ct.skew_part(Omega), ct.hat(wd), 1e-14 * (1 + np.abs(Omega).max()))
    close(ct.symmetric_part(Omega), ct.hat(w) @ ct.hat(w))
    close(ct.vee(Omega), wd, 1e-14 * (1 + np.abs(Omega).max()))


@pytest.mark.spec("S1-20")
def test_cheap_evaluation_and_its_refusals():
    assert ct.angular_acceleration_from_vectors.operations() == Operations(multiplications=6, additions=9)
    with pytest.raises(GeometryError, match="not skew"):
        ft.angular_acceleration_from_tensors(np.eye(3), ct.hat([1.0, 0, 0]))
    with pytest.raises(GeometryError, match="not skew"):
        ft.angular_acceleration_from_tensors(ct.hat([1.0, 0, 0]), np.eye(3))


@pytest.mark.spec("S1-21")
@given(VECTORS, VECTORS, VECTORS, VECTORS, VECTORS)
def test_tensor_form_equals_the_cross_products(sd, sdd, w, wd, r):
    close(ft.point_velocity_by_tensor(sd, ct.hat(w), r), sd + np.cross(w, r))
    Omega = ct.angular_acceleration_from_vectors(w, wd)
    expected = sdd + np.cross(wd, r) + np.cross(w, np.cross(w, r))
    close(ft.point_acceleration_by_tensor(sdd, Omega, r), expected, 1e-13 * (1 + np.abs(w).max())**2 *
          (1 + np.abs(r).max()))


@pytest.mark.spec("S1-21")
@pytest.mark.parametrize("n", [2, 3, 4])
def test_points_of_a_moving_body(n):
    motion, t, offset = Turning(n), 0.41, RNG.normal(size=n)
    a, b, c = RNG.normal(size=(3, n))

    def place(t):
        return a * np.sin(t) + b * t * t + c + motion(t) @ offset

    Q, Qd, Qdd = motion.rates(t)
    sd, sdd = a * np.cos(t) + 2 * b * t, -a * np.sin(t) + 2 * b
    velocity = ft.point_velocity_by_tensor(sd, ct.angular_velocity_tensor(Q, Qd), Q @ offset)
    acceleration = ft.point_acceleration_by_tensor(sdd, ft.angular_acceleration_tensor(Q, Qdd), Q @ offset)
    close((place(t + STEP) - place(t - STEP)) / (2 * STEP), velocity, 1e-8)
    close((place(t + 1e-4) - 2 * place(t) + place(t - 1e-4)) / 1e-8, acceleration, 1e-6)


@pytest.mark.spec("S1-21")
def test_pure_translation_and_pure_rotation():
    sd, r, zero = RNG.normal(size=3), RNG.normal(size=3), np.zeros(3)
    np.testing.assert_array_equal(ft.point_velocity_by_tensor(sd, np.zeros((3, 3)), r), sd)
    np.testing.assert_array_equal(ft.point_acceleration_by_tensor(sd, np.zeros((3, 3)), r), sd)
    w = np.array([0.0, 0.0, 2.0])
    close(ft.point_velocity_by_tensor(zero, ct.hat(w), [1.0, 0.0, 5.0]), [0, 2, 0])
    close(ft.point_acceleration_by_tensor(zero, ct.angular_acceleration_from_vectors(w, zero), [1.0, 0.0, 5.0]),
          [-4, 0, 0])
    # section 4.3.4
    assert ft.point_acceleration_by_tensor.operations(n=3) == Operations(multiplications=9, additions=9)
