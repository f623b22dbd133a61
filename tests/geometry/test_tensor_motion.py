"""Orthogonal tensors and rigid bodies in time, in tensor form: exponentials, the symmetric top in closed form, what is
conserved, a pendulum, and four dimensions."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.special

from cayley.errors import ConventionError, GeometryError
from cayley.geometry.inertia import MassProperties, steady_precession
from cayley.geometry.rotations import homogeneous_from_matrix, matrix_from_homogeneous
from cayley.geometry.tensors import angular_velocity_tensor, dual_vector, hat
from cayley.machines import integrate_orthogonal, simulate_by_tensors
from geometry.formulas_of_tensors import angular_acceleration_from_tensors
from geometry.simulated_bodies import BodyState, simulate_body

DIMENSIONS = (2, 3, 4, 5)


def random_skew(n, seed):
    T = np.random.default_rng(seed).normal(size=(n, n))
    T[1, 0] += 2.0  # never slow
    return T - T.T


def random_orthogonal(n, seed, *, reflected=False):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    return Q if (np.linalg.det(Q) < 0) == reflected else Q * np.append(-1.0, np.ones(n - 1))


def random_euler_tensor(n, seed):
    half = np.random.default_rng(seed).normal(size=(n, n + 3))
    return half @ half.T / n


def near(found, wanted, tolerance):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def torque_tensor(J, Psi):
    """(4.3.42), in any number of dimensions."""
    return Psi @ J - (Psi @ J).T


def defect(Q):
    return np.abs(np.swapaxes(Q, -1, -2) @ Q - np.eye(Q.shape[-1])).max()


# Q' = Phi Q


@pytest.mark.spec("S1-105")
@pytest.mark.parametrize("n", DIMENSIONS)
def test_constant_angular_velocity_is_an_exponential(n):
    """In fixed axes and in body axes, forth and back in time, of rotations and reflections."""
    Phi, reflected = random_skew(n, n), n % 2 == 0
    Q0 = random_orthogonal(n, n + 1, reflected=reflected)
    times = [0.0, 0.3, 1.5]
    world = integrate_orthogonal(lambda t: Phi, Q0, times, frame="world")
    body = integrate_orthogonal(lambda t: Phi, Q0, times, frame="body")
    for t, Q, P in zip(times, world.tensors, body.tensors, strict=True):
        near(Q, scipy.linalg.expm(Phi * t) @ Q0, 1e-10)
        near(P, Q0 @ scipy.linalg.expm(Phi * t), 1e-10)
    assert max(defect(world.tensors), defect(body.tensors)) < 1e-14
    assert world.recentrings > 0 and np.linalg.det(world.tensors[-1]) * (-1) ** reflected > 0
    near(body.angular_velocity[-1], body.tensors[-1] @ Phi @ body.tensors[-1].T, 1e-12)
    back = integrate_orthogonal(lambda t: Phi, world.tensors[-1], [1.5, 0.7, 0.0], frame="world")
    near(back.tensors[-1], Q0, 1e-10)


@pytest.mark.spec("S1-105")
def test_changing_angular_velocity_and_acceleration_in_four_dimensions():
    """Against SciPy on the sixteen entries, which drift; orthogonality is kept over many turns; Q'' = Psi Q."""
    A, B = random_skew(4, 1), random_skew(4, 2)

    def Phi(t):
        return A * np.cos(t) + B * np.sin(2 * t)

    times = np.linspace(0.0, 6.0, 13)
    path = integrate_orthogonal(Phi, np.eye(4), times, frame="world")
    free = scipy.integrate.solve_ivp(lambda t, y: (Phi(t) @ y.reshape(4, 4)).ravel(), (0, 6), np.eye(4).ravel(),
                                     t_eval=times, method="DOP853", rtol=1e-12, atol=1e-13)
    near(path.tensors, free.y.T.reshape(-1, 4, 4), 1e-9)
    assert defect(path.tensors) < 1e-14
    t, h = 3.0, 1e-3
    three = integrate_orthogonal(Phi, path.tensors[6], [t, t + h, t + 2 * h], frame="world").tensors
    near(three[2] - 2 * three[1] + three[0],
         h * h * angular_acceleration_from_tensors(Phi(t + h), -A * np.sin(t + h) + 2 * B * np.cos(2 * (t + h)))
         @ three[1], 1e-10)
    near(angular_velocity_tensor(three[1], Phi(t + h) @ three[1]), Phi(t + h), 1e-12)


# One body


@pytest.mark.spec("S1-105")
def test_symmetric_top_without_moments_in_closed_form():
    """Q = exp(L t / I1) exp((1 - I3 / I1) w3 t about the axis), both in fixed axes at the start."""
    I1, I3 = 0.8, 0.5
    J = np.diag([I3 / 2, I3 / 2, I1 - I3 / 2])
    w = np.array([0.7, -0.4, 2.5])
    times = np.linspace(0.0, 3.0, 7)
    run = simulate_by_tensors(1.3, J, times, orientation=np.eye(3), angular_velocity=w)
    L = np.diag([I1, I1, I3]) @ w
    for t, Q in zip(times, run.orientation, strict=True):
        near(Q, scipy.linalg.expm(hat(L / I1) * t) @ scipy.linalg.expm(hat([0, 0, (1 - I3 / I1) * w[2]]) * t), 1e-9)
    near(dual_vector(run.angular_momentum[-1]), L, 1e-9)


@pytest.mark.spec("S1-105")
def test_heavy_top_on_a_pivot_precesses_steadily():
    """The tilt stays, the azimuth grows at the rate of the closed form, and the pivot bears what moves the centre."""
    m, l, g, theta, spin = 0.5, 0.2, 9.81, 0.6, 120.0
    I0_c, I = 0.003, 0.004
    J = np.diag([I / 2, I / 2, I0_c - I / 2])
    I0 = I0_c + m * l * l
    rate = steady_precession(I0, I, theta, spin, m * g * l).slow
    Q0 = scipy.linalg.expm(hat([0.0, theta, 0.0]))
    axis = Q0[:, 2]
    w = rate * np.array([0.0, 0.0, 1.0]) + spin * axis
    times = np.linspace(0.0, 0.3, 4)
    run = simulate_by_tensors(m, J, times, orientation=Q0, angular_velocity=w, pivot=[0.0, 0.0, -l], position=[1, 2, 3],
                              force=lambda t, state: [0.0, 0.0, -m * g])
    for t, Q, r in zip(times, run.orientation, run.position, strict=True):
        near(Q[:, 2], scipy.linalg.expm(hat([0.0, 0.0, rate * t])) @ axis, 1e-8)
        near(r, np.array([1, 2, 3]) + l * Q[:, 2], 1e-13)
    inwards = -(rate**2) * l * np.sin(theta)
    near(run.reaction[0], [m * inwards, 0.0, m * g], 1e-8)
    near(run.acceleration[0], [inwards, 0.0, 0.0], 1e-8)
    assert defect(run.orientation) < 1e-14


@pytest.mark.spec("S1-105")
def test_a_pendulum_on_a_pivot_has_the_period_of_the_elliptic_integral():
    m, l, I_c, start = 2.0, 0.4, 0.05, 2.0
    J = np.diag([I_c / 2, I_c / 2, 0.001])  # turns about z
    k = np.sin(start / 2)
    period = 4 * np.sqrt((I_c + m * l * l) / (m * 9.81 * l)) * scipy.special.ellipk(k * k)
    run = simulate_by_tensors(m, J, [0.0, period / 2, period], orientation=scipy.linalg.expm(hat([0.0, 0.0, start])),
                              angular_velocity=np.zeros((3, 3)), pivot=[0.0, l, 0.0],
                              force=lambda t, state: [0.0, -m * 9.81, 0.0])
    near(run.orientation[1], scipy.linalg.expm(hat([0.0, 0.0, -start])), 1e-8)
    near(run.orientation[2], run.orientation[0], 1e-8)
    near(run.energy[2], 0.0, 1e-7)


@pytest.mark.spec("S1-105")
@pytest.mark.parametrize("n", DIMENSIONS)
def test_what_a_free_body_keeps(n):
    """Momenta and energy; in body axes the spectrum of M + k J^2 (Manakov), which ties all of them together; and the
    moment that its motion needs is none."""
    J = random_euler_tensor(n, n)
    run = simulate_by_tensors(1.7, J, np.linspace(0.0, 1.0, 6), orientation=random_orthogonal(n, n + 1),
                              angular_velocity=random_skew(n, n + 2), velocity=np.arange(1.0, n + 1))
    near(run.angular_momentum, np.broadcast_to(run.angular_momentum[0], run.angular_momentum.shape), 1e-9)
    near(run.energy, np.full(6, run.energy[0]), 1e-9)
    near(run.position[-1], np.arange(1.0, n + 1), 1e-10)
    assert defect(run.orientation) < 1e-14 and not run.reaction.any()
    turned = np.swapaxes(run.orientation, -1, -2)
    spectra = [np.poly(Q @ M @ Q.T + 0.7 * J @ J) for Q, M in zip(turned, run.angular_momentum, strict=True)]
    near(spectra, np.broadcast_to(spectra[0], (6, n + 1)), 1e-8)
    for Q, Psi in zip(run.orientation, run.angular_acceleration, strict=True):
        near(torque_tensor(Q @ J @ Q.T, Psi), np.zeros((n, n)), 1e-9)  # (4.3.42)


@pytest.mark.spec("S1-105")
def test_forces_and_moments():
    """In space against the vector form; in four dimensions the moment that was given comes back from the motion."""
    J, m = random_euler_tensor(3, 1), 1.4
    w, Q0 = np.array([0.4, -1.2, 0.8]), random_orthogonal(3, 2)
    times = [0.0, 0.7, 2.0]

    def force(t, state):
        return np.array([np.cos(t), 0.3, -state.position[2]])

    def moment(t, state):
        return np.array([0.2, -0.1 * t, 0.5]) - 0.1 * dual_vector(state.angular_velocity)

    run = simulate_by_tensors(m, J, times, orientation=Q0, angular_velocity=w, velocity=[1.0, 0.0, -1.0], force=force,
                              moment=moment)

    def torque(t, state):
        R = matrix_from_homogeneous(state.homogeneous)
        return R.T @ (np.array([0.2, -0.1 * t, 0.5]) - 0.1 * R @ state.angular_velocity)

    other = simulate_body(MassProperties(m, np.zeros(3), np.trace(J) * np.eye(3) - J),
                          BodyState(np.zeros(3), np.array([1.0, 0.0, -1.0]), homogeneous_from_matrix(Q0), Q0.T @ w),
                          times, force=force, torque=torque)
    near(run.orientation, other.matrices, 1e-8)
    near(run.position, other.states.position, 1e-8)
    near(run.velocity, other.states.velocity, 1e-8)

    J, M = random_euler_tensor(4, 3), random_skew(4, 4)
    run = simulate_by_tensors(m, J, times, orientation=np.eye(4), angular_velocity=np.zeros((4, 4)),
                              force=lambda t, state: [0.0, 0.0, 0.0, 2.8], moment=lambda t, state: M * np.cos(t))
    near(run.position[:, 3], np.square(times), 1e-10)
    for t, Q, Psi in zip(times, run.orientation, run.angular_acceleration, strict=True):
        near(torque_tensor(Q @ J @ Q.T, Psi), M * np.cos(t), 1e-9)
    # the rate of the angular momentum is the moment: its integral
    near(run.angular_momentum[-1], M * np.sin(2.0), 1e-9)
    held = simulate_by_tensors(m, J, [0.0, 1.0], orientation=np.eye(4), angular_velocity=random_skew(4, 5),
                               pivot=[0.1, 0.2, 0.3, 0.4])
    p = np.array([0.1, 0.2, 0.3, 0.4])
    near([r + Q @ p for r, Q in zip(held.position, held.orientation, strict=True)], np.zeros((2, 4)), 1e-13)
    near(held.energy[1], held.energy[0], 1e-9)


@pytest.mark.spec("S1-105")
def test_a_body_goes_back_the_way_it_came():
    """Under forces and moments of the time and of the state, friction among them; of one dimension, too."""
    J, w = random_euler_tensor(4, 3), random_skew(4, 5)
    acting = {"force": lambda t, state: np.array([t, 0.3, -0.2, 0.0]) - 0.4 * state.velocity,
              "moment": lambda t, state: w * np.cos(t) - 0.3 * state.angular_velocity}
    there = simulate_by_tensors(1.4, J, [0.5, 1.0, 1.7], orientation=random_orthogonal(4, 2), angular_velocity=w,
                                position=[1.0, 0.0, 0.0, 2.0], velocity=[1.0, -1.0, 0.0, 0.5], **acting)
    back = simulate_by_tensors(1.4, J, [1.7, 1.0, 0.5], orientation=there.orientation[-1],
                               angular_velocity=there.angular_velocity[-1], position=there.position[-1],
                               velocity=there.velocity[-1], **acting)
    for name in ("position", "velocity", "acceleration", "orientation", "angular_velocity", "angular_acceleration"):
        near(getattr(back, name)[::-1], getattr(there, name), 1e-9)
    line = simulate_by_tensors(2.0, [[0.3]], [0.0, 1.0], orientation=[[-1.0]], angular_velocity=[[0.0]],
                               velocity=[1.0], force=lambda t, state: [2.0])
    near(line.position[:, 0], [0.0, 1.5], 1e-12)
    near(line.orientation[:, 0, 0], [-1.0, -1.0], 1e-15)


def test_what_is_no_motion_of_a_body():
    J, still = np.diag([0.1, 0.2, 0.3]), np.zeros(3)
    with pytest.raises(ConventionError, match="frame='space'"):
        integrate_orthogonal(lambda t: np.zeros((3, 3)), np.eye(3), [0, 1], frame="space")
    with pytest.raises(GeometryError, match="not orthogonal"):
        integrate_orthogonal(lambda t: np.zeros((3, 3)), 2 * np.eye(3), [0, 1], frame="world")
    with pytest.raises(GeometryError, match=r"angular velocity at t = 0 has the shape \(3,\).*\(4, 4\)"):
        integrate_orthogonal(lambda t: still, np.eye(4), [0, 1], frame="world")
    with pytest.raises(GeometryError, match="skew"):
        integrate_orthogonal(lambda t: np.eye(3), np.eye(3), [0, 1], frame="world")
    for wrong, words in (({"mass": 0.0}, "mass of the body"), ({"J": np.diag([0.3, 0.2, -0.1])}, "no body has"),
                         ({"J": np.diag([0.0, 0.0, 0.2])}, "no inertia against a turn"),
                         ({"orientation": np.eye(4)}, "shape"), ({"position": [1.0, np.nan, 0.0]}, "position"),
                         ({"pivot": still, "velocity": still}, "leave the velocity out"),
                         ({"force": lambda t, s: [1.0]}, "force at t = 0"),
                         ({"moment": lambda t, s: np.eye(3)}, "skew")):
        given = {"mass": 1.0, "J": J, "orientation": np.eye(3), "angular_velocity": still, **wrong}
        with pytest.raises(GeometryError, match=words):
            simulate_by_tensors(given.pop("mass"), given.pop("J"), [0.0, 1.0], **given)
