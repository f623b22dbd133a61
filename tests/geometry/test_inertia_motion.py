"""Motion of one body: gyroscope, attitude through half-turns, thrusters, direct and inverse dynamics (S0-23, S0-24,
S2-49, S2-50).
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipkinc

from cayley.errors import GeometryError, SignatureError, SingularityError
from cayley.geometry import inertia as ci
from cayley.geometry.rates import chart
from cayley.geometry.tensors import hat
from cayley.machines import integrate_attitude
from geometry import formulas_of_inertia as fi
from geometry import simulated_bodies as fs

RNG = np.random.default_rng(23)
SEEDS = st.integers(0, 2**32 - 1)
TUMBLING = np.diag([1.0, 2.0, 3.0]), np.array([0.4, 1.0, -0.3])  # WE-05 of seed 0


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


def moments_of_a_body(rng):
    """Three different principal moments that a body has, ascending: sums of two of three mean squares of coordinates.
    """
    x, y, z = np.sort(rng.uniform(0.2, 1.0, size=3)) + np.array([0.0, 0.1, 0.2])
    return np.array([x + y, x + z, y + z])


def jacobi(moments, w0, times):
    """The angular velocity of a free body in principal axes, I1 < I2 < I3,, by elliptic functions (Landau & Lifshitz,
    section 37).
    """
    I1, I2, I3 = moments
    E, L = np.sum(moments * w0**2), np.sum((moments * w0) ** 2)
    low, high = E * I3 - L, L - E * I1
    a1, a3 = np.sqrt(low / (I1 * (I3 - I1))), np.sqrt(high / (I3 * (I3 - I1)))
    if L >= E * I2:  # the momentum circles the axis of the largest moment
        a2, m = np.sqrt(low / (I2 * (I3 - I2))), (I2 - I1) * low / ((I3 - I2) * high)
        rate, side, start = np.sqrt((I3 - I2) * high / (I1 * I2 * I3)), np.sign(w0[2]), w0[0] / a1
    else:
        a2, m = np.sqrt(high / (I2 * (I2 - I1))), (I3 - I2) * high / ((I2 - I1) * low)
        rate, side, start = np.sqrt((I2 - I1) * low / (I1 * I2 * I3)), np.sign(w0[0]), w0[2] / a3
    sn, cn, dn, _ = ellipj(ellipkinc(np.arctan2(w0[1] / a2, side * start), m) + rate * np.asarray(times), m)
    first, third = (cn, dn) if L >= E * I2 else (dn, cn)
    return np.stack([side * a1 * first, a2 * sn, side * a3 * third], axis=-1)


# Torque-free


@pytest.mark.spec("S0-23")
def test_worked_example_05_crosses_its_half_turn():
    found = fs.simulate_attitude(*TUMBLING, [0.0, 1.0, 2.0, 3.0, 10.0])
    close(found.angular_velocity[1], [0.741918466897, 0.780741307014, -0.469198966865], 1e-9)
    close(found.angular_velocity[2], [1.042989627155, 0.268649655960, -0.631882732357], 1e-9)
    close(found.angular_velocity[3], [0.997396631928, -0.406447977753, -0.606849800577], 1e-9)
    c = found.vector_parameter
    close(c[1], [0.305674727197, 0.508843969782, -0.233691524249], 1e-9)
    close(c[2], [1.153620661255, 1.338493830170, -1.221364866728], 1e-9)
    np.testing.assert_allclose(c[3], [-10.46595152, -9.54970298, 22.38880028], rtol=0, atol=1e-6)
    assert len(found.half_turns) == 1
    close(found.half_turns, [2.9034749037], 1e-9)
    close(found.energy, np.full(5, 1.215))
    close(found.momentum, np.tile([0.4, 2, -0.9], (5, 1)), 1e-11)
    assert found.norm_drift < 1e-10
    w, h = found.at(found.half_turns[0])
    close(h[0], 0, 1e-9)
    close(w, jacobi(np.diag(TUMBLING[0]), TUMBLING[1], found.half_turns)[0], 1e-10)


@pytest.mark.spec("S0-23", "S2-49")
@settings(max_examples=12)
@given(SEEDS)
def test_free_body_against_jacobi_and_the_kinematic_integrator(seed):
    rng = np.random.default_rng(seed)
    moments, w0 = moments_of_a_body(rng), rng.normal(size=3)
    times = np.linspace(0, 6, 7)
    found = fs.simulate_attitude(np.diag(moments), w0, times)
    close(found.angular_velocity, jacobi(moments, w0, times), 1e-8)
    close(found.energy, np.full(7, found.energy[0]), 1e-11)
    close(found.momentum, np.tile(moments * w0, (7, 1)), 1e-10)
    path = integrate_attitude(lambda t: jacobi(moments, w0, t), np.eye(3), times, frame="body", rtol=1e-9, atol=1e-10)
    close(found.matrices, path.matrices, 1e-6)


@pytest.mark.spec("S2-49")
def test_worked_example_17():
    moments, w0 = np.array([0.02, 0.03, 0.045]), np.array([0.1, 5.0, 0.1])
    found = fs.simulate_attitude(np.diag(moments), w0, np.linspace(0, 2, 21))
    close(found.angular_velocity[-1], [-2.3239823848, 4.3600593619, 1.2677941327], 1e-7)
    close(found.energy, np.full(21, 0.375325), 1e-11)
    close(np.linalg.norm(found.momentum, axis=1), np.full(21, 0.150080811565), 1e-11)
    close(found.angular_velocity, jacobi(moments, w0, found.times), 1e-7)


@pytest.mark.spec("S0-23")
@pytest.mark.parametrize("axial", [0.5, 1.0, 1.9])
def test_axisymmetric_and_spherical_bodies_in_closed_form(axial):
    start = Rotation.random(rng=RNG).as_matrix()
    w0, J = np.array([0.7, -0.4, 1.3]), np.diag([1.0, 1.0, axial])
    times = np.linspace(0, 8, 9)
    found = fs.simulate_attitude(J, w0, times, start=start)
    L, axis = start @ J @ w0, np.array([0, 0, 1.0])
    expected = [expm(t * hat(L)) @ start @ expm(t * (1 - axial) * w0[2] * hat(axis)) for t in times]
    close(found.matrices, expected, 1e-10)
    assert len(found.half_turns) >= 1


@pytest.mark.spec("S0-23")
def test_general_axes_equal_principal_axes():
    R = Rotation.random(rng=RNG).as_matrix()
    J, w0 = TUMBLING
    turned = fs.simulate_attitude(R @ J @ R.T, R @ w0, [0, 3.5])
    plain = fs.simulate_attitude(J, w0, [0, 3.5])
    close(turned.angular_velocity, plain.angular_velocity @ R.T, 1e-10)
    close(turned.matrices, R @ plain.matrices @ R.T, 1e-10)
    close(turned.half_turns, plain.half_turns, 1e-10)


@pytest.mark.spec("S0-23")
def test_rest_backward_time_and_starts_at_a_half_turn():
    still = fs.simulate_attitude(np.eye(3), np.zeros(3), [0, 5.0], start=[0.3, -0.2, 0.1])
    close(still.vector_parameter, np.tile([0.3, -0.2, 0.1], (2, 1)))
    forth = fs.simulate_attitude(*TUMBLING, [0, 4.0])
    back = fs.simulate_attitude(TUMBLING[0], forth.angular_velocity[-1], [4.0, 0], start=forth.homogeneous[-1])
    close(back.angular_velocity[-1], TUMBLING[1], 1e-10)
    close(back.matrices[-1], np.eye(3), 1e-10)
    close(back.half_turns, forth.half_turns, 1e-9)
    flipped = fs.simulate_attitude(np.eye(3), [0, 0, 1.0], [0, 7.0], start=[0, 0, 0, 2.0])
    close(flipped.half_turns, [0, 2 * np.pi], 1e-10)
    assert np.isinf(flipped.vector_parameter[0]).any() and np.isfinite(flipped.matrices).all()
    close(flipped.matrices[-1], Rotation.from_rotvec([0, 0, 7 + np.pi]).as_matrix(), 1e-10)


@pytest.mark.spec("S0-23")
def test_controlled_about_one_axis_in_closed_form():
    J = np.diag([2.0, 3.0, 4.0])
    found = fs.simulate_attitude(J, np.zeros(3), np.linspace(0, 6, 13), torque=lambda t, w, h: [0, 0, 2.0])
    angle = found.times**2 / 4
    close(found.angular_velocity[:, 2], found.times / 2, 1e-10)
    close(found.matrices, Rotation.from_rotvec(np.outer(angle, [0, 0, 1])).as_matrix(), 1e-9)
    close(found.half_turns, np.sqrt(4 * np.pi * np.array([1])), 1e-9)


@pytest.mark.spec("S0-23")
def test_feedback_brings_a_tumbling_body_to_rest_through_half_turns():
    def hold(t, w, h):
        return -4 * w - 6 * h[1:] * np.sign(h[0])

    found = fs.simulate_attitude(TUMBLING[0], [3.0, -4.0, 5.0], [0, 60.0], start=[0.0, 1.0, 0.0, 0.0], torque=hold,
                                 rtol=1e-9, atol=1e-10)
    assert found.energy[0] > 50 and found.energy[-1] < 1e-8
    close(np.abs(found.homogeneous[-1]), [1, 0, 0, 0], 1e-3)


@pytest.mark.spec("S0-23")
def test_simulation_refuses_what_has_no_answer():
    J, w = TUMBLING
    for call, error, message in [
        (lambda: fs.simulate_attitude(ci.rod(1.0, mass=1.0).inertia, w, [0, 1]), SingularityError, "thin rod"),
        (lambda: fs.simulate_attitude(J, [1.0, np.nan, 0], [0, 1]), GeometryError, "angular velocity is"),
        (lambda: fs.simulate_attitude(J, w, [0, 1, 0.5]), SignatureError, "increase or decrease"),
        (lambda: fs.simulate_attitude(J, w, [0, 1], start=np.zeros(4)), GeometryError, "no direction"),
        (lambda: fs.simulate_attitude(J, w, [0, 1], start=np.zeros(5)), GeometryError, "rotation matrix"),
        (lambda: fs.simulate_attitude(J, w, [0, 1], start=np.diag([1.0, 1, -1])), GeometryError, "reflection"),
        (lambda: fs.simulate_attitude(J, w, [0, 1], torque=lambda *_: [np.inf] * 3), GeometryError, "torque at")]:
        with pytest.raises(error, match=message):
            call()


UNPHYSICAL = [((-1.0, 1.0, 3.0), r"smallest principal moment is -1 kg m\^2"),
              ((1.0, 1.0, 3.0), r"exceeds the sum of the others by 1 kg m\^2"),
              ((-3.0, -2.0, -1.0), "smallest principal moment is -3"), ((np.nan, 1.0, 1.0), "NaN or infinite")]


@pytest.mark.spec("S0-23", "S0-24")
@pytest.mark.parametrize(("moments", "reason"), UNPHYSICAL)
def test_bodies_that_cannot_exist_are_neither_simulated_nor_inverted(moments, reason):
    R = Rotation.random(rng=RNG).as_matrix()
    I, B, three = R @ np.diag(moments) @ R.T, np.eye(3)[:, :2], np.array([0.1, 0.2, 0.3])
    I = (I + I.T) / 2
    for refuse in (lambda: fs.simulate_attitude(I, three, [0.0, 1.0]), lambda: ci.inverse_inertia(I),
                   lambda: ci.angular_acceleration_from_torque(I, three, three),
                   lambda: ci.attitude_rates(I, B, three, three, [1.0, 2.0]), lambda: ci.momentum_drift(I, three),
                   lambda: ci.momentum_state_rates(I, B, three, three, [1.0, 2.0]),
                   lambda: ci.vector_parameter_acceleration(I, B, three, three, [1.0, 2.0]),
                   lambda: ci.principal_inertia(I), lambda: ci.inertia_symmetry(I),
                   lambda: ci.inverse_inertia(np.stack([np.eye(3), I]))):
        with pytest.raises(GeometryError, match=reason):
            refuse()
    body = ci.MassProperties(1.0, np.zeros(3), I)
    rest = fs.BodyState(np.zeros(3), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))
    with pytest.raises(GeometryError, match="not physical"):
        fs.simulate_body(body, rest, [0.0, 1.0])


@pytest.mark.spec("S0-23")
def test_a_body_at_the_edge_of_what_can_exist():
    flat = np.diag([1.0, 2.0, 3.0 + 2e-8])  # the rounding of a plate
    assert fs.simulate_attitude(flat, [0.1, 0.2, 0.3], [0.0, 1.0]).norm_drift < 1e-10
    with pytest.raises(GeometryError, match="exceeds"):
        fs.simulate_attitude(np.diag([1.0, 2.0, 3.0 + 1e-6]), [0.1, 0.2, 0.3], [0.0, 1.0])
    with pytest.raises(SingularityError, match="thin rod"):
        fs.simulate_attitude(np.diag([0.0, 1.0, 1.0]), [0.1, 0.2, 0.3], [0.0, 1.0])
    with pytest.raises(GeometryError, match="the mass of a solid is -2 at element 1"):
        ci.sphere_inertia([1.0, -2.0], 1.0)
    with pytest.raises(GeometryError, match="the size of a solid is -1"):
        ci.box_inertia(1.0, [1.0, -1.0, 1.0])
    with pytest.raises(GeometryError, match="not symmetric"):
        ci.inertia_rate([0.0, 0.0, 1.0], [[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.spec("S0-20", "S0-23")
def test_half_turns_that_are_touched_are_reported():
    """Half a turn out and back, angle pi sin t about z: a touch at pi/2, 3 pi/2, ...; w never changes its sign there.
    """
    def swing(t, w, h):
        return [0.0, 0.0, -np.pi * np.sin(t)]

    found = fs.simulate_attitude(np.eye(3), [0.0, 0.0, np.pi], [0.0, 8.0], torque=swing)
    close(found.half_turns, np.pi * np.array([0.5, 1.5, 2.5]), 1e-5)


# Thrusters


@pytest.mark.spec("S0-24")
@given(SEEDS, st.integers(1, 3))
def test_three_forms_of_the_controlled_attitude_agree(seed, m):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    J, B, u = axes @ np.diag(moments_of_a_body(rng)) @ axes.T, rng.normal(size=(3, m)), rng.normal(size=m)
    assume(np.linalg.svd(B)[1][-1] > 1e-3)
    w, c = rng.normal(size=(2, 3))
    velocity = ci.attitude_rates(J, B, w, c, u)
    close(J @ velocity.angular_acceleration, -np.cross(w, J @ w) + B @ u)
    momentum = ci.momentum_state_rates(J, B, J @ w, c, u)
    close(momentum.momentum_rate, J @ velocity.angular_acceleration)  # the sign of (97), spec E-24
    close(momentum.momentum_rate, ci.momentum_drift(J, J @ w) + B @ u)
    close(momentum.vector_parameter_rate, velocity.vector_parameter_rate)
    dc = velocity.vector_parameter_rate
    ddc = ci.vector_parameter_acceleration(J, B, c, dc, u)
    step = 1e-6  # dc along the motion: its derivative is ddc
    ahead, behind = (chart("vector_parameter").rates_from_body(c + h * dc, w + h * velocity.angular_acceleration)
                     for h in (step, -step))
    close((ahead - behind) / (2 * step), ddc, 1e-6)


@pytest.mark.spec("S0-24")
def test_formula_of_the_second_form_in_world_axes():
    J, B, u = TUMBLING[0], np.eye(3)[:, :2], np.array([0.3, -0.7])
    c, dc = RNG.normal(size=(2, 3))
    O = ((1 - c @ c) * np.eye(3) + 2 * np.outer(c, c) + 2 * hat(c)) / (1 + c @ c)
    w = 2 / (1 + c @ c) * (dc + np.cross(c, dc))
    w_b = O.T @ w
    eps = O @ np.linalg.solve(J, B @ u - np.cross(w_b, J @ w_b))
    expected = np.linalg.solve(np.eye(3) + hat(c), (1 + c @ c) / 2 * eps + (c @ dc) * w)  # spec R-24
    close(ci.vector_parameter_acceleration(J, B, c, dc, u), expected)


@pytest.mark.spec("S0-24")
def test_three_forms_give_the_same_motion():
    J, B = TUMBLING[0], np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    w0, c0, span = np.array([0.2, -0.1, 0.3]), np.array([0.1, 0.0, -0.2]), (0.0, 2.0)

    def u(t):
        return np.array([0.3 * np.cos(t), -0.2])

    def solved(rate, y):
        return solve_ivp(rate, span, y, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]

    free = fs.simulate_attitude(J, w0, span, start=c0, torque=lambda t, w, h: B @ u(t))
    by_velocity = solved(lambda t, y: np.concatenate(ci.attitude_rates.unchecked(J, B, y[:3], y[3:], u(t))),
                         np.concatenate([w0, c0]))
    by_momentum = solved(lambda t, y: np.concatenate(ci.momentum_state_rates.unchecked(J, B, y[:3], y[3:], u(t))),
                         np.concatenate([J @ w0, c0]))
    dc0 = chart("vector_parameter").rates_from_body(c0, w0)
    by_rates = solved(
        lambda t, y: np.concatenate([y[3:], ci.vector_parameter_acceleration.unchecked(J, B, y[:3], y[3:], u(t))]),
        np.concatenate([c0, dc0]))
    close(by_velocity[3:], free.vector_parameter[-1], 1e-9)
    close(by_velocity[:3], free.angular_velocity[-1], 1e-9)
    close(by_momentum[3:], free.vector_parameter[-1], 1e-9)
    close(by_momentum[:3], J @ free.angular_velocity[-1], 1e-9)
    close(by_rates[:3], free.vector_parameter[-1], 1e-9)


@pytest.mark.spec("S0-24")
def test_thrusters_must_be_independent_and_may_be_few():
    assert ci.is_underactuated(np.eye(3)[:, :1]) and ci.is_underactuated(
        np.eye(3)[:, 1:]) and not ci.is_underactuated(np.eye(3))
    dependent = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]])
    for kernel in (ci.attitude_rates, ci.momentum_state_rates, ci.vector_parameter_acceleration):
        with pytest.raises(GeometryError, match=r"thruster axis 1 = \[2.0, 0.0, 2.0\] depends on those before it"):
            kernel(TUMBLING[0], dependent, np.ones(3), np.ones(3), np.ones(2))
    with pytest.raises(GeometryError, match="thruster axis 3"):
        ci.check_thrusters(np.hstack([np.eye(3), np.ones((3, 1))]))
    with pytest.raises(GeometryError, match=r"thruster axis 0 .* depends"):
        ci.check_thrusters(np.zeros((3, 1)))
    with pytest.raises(GeometryError, match="finite columns"):
        ci.check_thrusters(np.full((3, 1), np.nan))
    # one thruster along a principal axis leaves the momentum across it to the drift alone
    rate = ci.momentum_state_rates(TUMBLING[0], np.eye(3)[:, :1], [1.0, 2.0, 3.0], np.zeros(3), [100.0]).momentum_rate
    close(rate[1:], ci.momentum_drift(TUMBLING[0], [1.0, 2.0, 3.0])[1:])


# Direct and inverse dynamics of a free body


@pytest.mark.spec("S2-49")
def test_thrown_and_spinning_body():
    body = ci.box((0.2, 0.3, 0.4), mass=2.0)
    start = fs.BodyState(np.array([0, 0, 1.0]), np.array([3.0, 0, 4.0]), np.array([1.0, 0, 0, 0]),
                         np.array([0.5, 6.0, -1.0]))
    times = np.linspace(0, 1, 11)
    found = fs.simulate_body(body, start, times, force=lambda t, s: [0, 0, -9.81 * body.mass])
    close(found.states.position,
          start.position + np.outer(times, start.velocity) + np.outer(times**2, [0, 0, -9.81 / 2]), 1e-9)
    alone = fs.simulate_attitude(body.inertia, start.angular_velocity, times)
    close(found.matrices, alone.matrices, 1e-9)
    close(found.angular_momentum, np.tile(body.inertia @ start.angular_velocity, (11, 1)), 1e-11)
    close(np.linalg.norm(found.matrices.transpose(0, 2, 1) @ found.matrices - np.eye(3), axis=(1, 2)), np.zeros(11),
          1e-14)
    close(found.momentum[:, 0], np.full(11, 6.0))
    potential = 9.81 * body.mass * found.states.position[:, 2]
    close(found.energy + potential, np.full(11, found.energy[0] + potential[0]), 1e-10)


@pytest.mark.spec("S2-49")
def test_inverse_dynamics_returns_the_forces_of_the_direct():
    body = ci.ellipsoid((0.2, 0.3, 0.5), mass=1.5)

    def force(t, state):
        return np.array([np.sin(3 * t), -0.5 * state.velocity[1], 1.0])

    def torque(t, state):
        return np.array([0.1 * np.cos(2 * t), 0.05, -0.02 * state.angular_velocity[2]])

    start = fs.BodyState(np.zeros(3), np.ones(3), np.array([0.5, 0.5, -0.5, 0.5]), np.array([1.0, -2.0, 0.5]))
    step, middle = 1e-3, 0.7
    around = fs.simulate_body(body, start, [0, *(middle + step * np.arange(-2, 3))], force=force, torque=torque)
    v, w = around.states.velocity[1:], around.states.angular_velocity[1:]
    five = np.array([1, -8, 0, 8, -1]) / (12 * step)  # fourth-order difference
    wrench = ci.newton_euler_by_vectors(body.mass, body.inertia, np.zeros(3), w[2], five @ w, np.zeros(3))
    at = fs.BodyState(*[part[3] for part in around.states])
    close(body.mass * (five @ v), force(middle, at), 1e-7)
    close(wrench.moment, torque(middle, at), 1e-8)


@pytest.mark.spec("S2-49")
def test_bodies_that_cannot_move_so():
    start = fs.BodyState(np.zeros(3), np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3))
    with pytest.raises(GeometryError, match="triangle inequality fails"):
        fs.simulate_body(ci.MassProperties(1.0, np.zeros(3), np.diag([1.0, 1, 3])), start, [0, 1])
    with pytest.raises(GeometryError, match="no mass"):
        fs.simulate_body(ci.MassProperties(0.0, np.zeros(3), np.eye(3)), start, [0, 1])
    with pytest.raises(SingularityError, match="thin rod"):
        fs.simulate_body(ci.rod(1.0, mass=1.0), start, [0, 1])
    ball = ci.sphere(1.0, mass=1.0)
    with pytest.raises(GeometryError, match="force at t = 0 is"):
        fs.simulate_body(ball, start, [0, 1], force=lambda t, state: [np.nan, 0, 0])
    with pytest.raises(GeometryError, match="velocity is"):
        fs.simulate_body(ball, start._replace(velocity=np.full(3, np.nan)), [0, 1])
    with pytest.raises(SignatureError, match="increase or decrease"):
        fs.simulate_body(ball, start, [0.0])


# Gyroscope


def rotation(psi, theta, phi):
    return Rotation.from_euler("ZXZ", [psi, theta, phi]).as_matrix()


@pytest.mark.spec("S2-50")
def test_worked_example_18():
    rates, accelerations = [1.1, 0.4, 5.0], [-0.7, 0.3, 0.2]
    close(ci.gyroscope_moments(0.02, 0.01, 0.6, rates, accelerations), [0.0314164996, -0.0170105645, -0.0062617762],
          1e-9)
    close(ci.gyroscope_angular_velocity([0.9, 0.6, 0.0], rates), [2.4601422060, -1.4416061860, 5.2266780745], 1e-9)
    steady = ci.steady_precession(0.02, 0.01, np.pi / 6, 200.0, 0.24525)
    close(steady.slow, 0.1226901809, 1e-9)
    close(steady.fast, 230.817417495, 1e-9)


@pytest.mark.spec("S2-50")
@given(SEEDS)
def test_moments_are_the_rate_of_angular_momentum(seed):
    rng = np.random.default_rng(seed)
    angles, rates, accelerations = rng.uniform(-3, 3, size=3), *rng.normal(size=(2, 3))
    I0 = rng.uniform(0.5, 2)
    I = rng.uniform(0.1, 2 * I0)

    def momentum(t):
        R = rotation(*(angles + rates * t + accelerations * t * t / 2))
        w = ci.gyroscope_angular_velocity(angles + rates * t + accelerations * t * t / 2, rates + accelerations * t)
        return R @ np.diag([I0, I0, I]) @ R.T @ w

    step = 1e-5
    numeric = (momentum(step) - momentum(-step)) / (2 * step)
    nodal = rotation(angles[0], angles[1], 0.0)
    moments = ci.gyroscope_moments(I0, I, angles[1], rates, accelerations)
    close(nodal @ moments, numeric, 1e-7)
    ahead, behind = (rotation(*(angles + h * rates)) for h in (step, -step))
    close(hat(ci.gyroscope_angular_velocity(angles, rates)), (ahead - behind) / (2 * step) @ rotation(*angles).T, 1e-7)
    if abs(np.sin(angles[1])) > 0.05:
        close(ci.gyroscope_accelerations(I0, I, angles[1], rates, moments), accelerations, 1e-9)


@pytest.mark.spec("S2-50")
@given(st.floats(0.5, 2), st.floats(0.1, 2), st.floats(0.05, 3.1), st.floats(-50, 50), st.floats(-5, 5))
def test_steady_precession_needs_just_the_moment(I0, share, theta, spin, tilting):
    I = share * I0  # at most twice: the moments of a flat disc
    found = ci.steady_precession(I0, I, theta, spin, tilting)
    for rate in (found.slow, found.fast):
        if rate is not None and abs(rate) < 1e100:
            size = 1e-14 * ((I + I0) * rate**2 + abs(I * spin * rate) + abs(tilting)) + 1e-300
            assert abs((I - I0) * np.cos(theta) * rate**2 + I * spin * rate - tilting) <= size
            moments = ci.gyroscope_moments(I0, I, theta, [rate, 0, spin], np.zeros(3))
            np.testing.assert_allclose(moments, [tilting * np.sin(theta), 0, 0], rtol=0, atol=size)
            np.testing.assert_allclose(fi.steady_precession_moment(I0, I, theta, rate, spin), moments[0], rtol=0,
                                       atol=size)
    if found.discriminant < 0:
        assert found.slow is None and found.fast is None
    elif abs(I * spin) > 1e-9:
        assert found.slow is not None


@pytest.mark.spec("S2-50")
def test_a_top_precesses_steadily():
    I0, I, theta, spin, tilting = 0.02, 0.01, np.pi / 6, 200.0, 0.24525
    for rate in (ci.steady_precession(I0, I, theta, spin,
                                      tilting).slow, ci.steady_precession(I0, I, theta, spin, tilting).fast):
        start = rotation(0.0, theta, 0.0)
        w = start.T @ ci.gyroscope_angular_velocity([0, theta, 0], [rate, 0, spin])

        def weight(t, w, h):  # m g l up x axis, in body axes
            up = matrix(h).T @ [0, 0, 1.0]
            return tilting * np.cross(up, [0, 0, 1.0])

        times = np.linspace(0, 0.05, 6)
        found = fs.simulate_attitude(np.diag([I0, I0, I]), w, times, start=start, torque=weight, rtol=1e-11, atol=1e-12)
        tips = found.matrices[:, :, 2]
        close(tips[:, 2], np.full(6, np.cos(theta)), 1e-9)
        expected = np.stack([np.sin(theta) * np.sin(rate * times), -np.sin(theta) * np.cos(rate * times)], axis=1)
        close(tips[:, :2], expected, 1e-8)


def matrix(h):
    return Rotation.from_quat(h, scalar_first=True).as_matrix()


@pytest.mark.spec("S2-50")
def test_upright_level_and_too_slow_tops():
    with pytest.raises(SingularityError, match="upright"):
        ci.gyroscope_accelerations(0.02, 0.01, 0.0, [1.0, 0, 5.0], np.zeros(3))
    moments = ci.gyroscope_moments(0.02, 0.01, 0.0, [1.0, 0.0, 5.0], [2.0, 0.0, 3.0])
    close(moments, [0, 0, 0.01 * 5])  # precession and spin about one axis
    level = ci.steady_precession(0.02, 0.01, np.pi / 2, 200.0, 0.24525)
    assert level.fast is None and level.slow == pytest.approx(0.24525 / 2, rel=1e-15)
    ball = ci.steady_precession(0.02, 0.02, 0.4, 100.0, 0.3)
    assert ball.fast is None and ball.slow == pytest.approx(0.15)
    slow = ci.steady_precession(0.02, 0.01, 0.4, 1.0, 0.24525)
    assert slow.slow is None and slow.fast is None and slow.discriminant < 0
    hanging = ci.steady_precession(0.02, 0.01, np.pi - 0.4, 1.0, 0.24525)
    assert hanging.slow is not None and hanging.fast is not None
    free = ci.steady_precession(0.02, 0.01, 0.4, 30.0, 0.0)
    # I phd / ((I0 - I) cos theta)
    assert free.slow == 0 and free.fast == pytest.approx(0.01 * 30 / (0.01 * np.cos(0.4)))
    assert ci.steady_precession(0.02, 0.01, np.pi / 2, 0.0, 0.1).slow is None
    with pytest.raises(GeometryError, match="I0 of a gyroscope across its axis is 0"):
        ci.steady_precession(0.0, 0.01, 0.4, 1.0, 0.1)
    with pytest.raises(GeometryError, match=r"no body has the moments of a gyroscope.*by 0.01 kg m\^2"):
        ci.gyroscope_accelerations(0.02, 0.05, 0.6, [1.0, 0, 5.0], np.zeros(3))
    with pytest.raises(SingularityError, match="spin undetermined"):
        ci.gyroscope_accelerations(0.02, 0.0, 0.6, [1.0, 0, 5.0], np.zeros(3))
    # printed, spec E-02
    assert ci.gyroscope_moments(0.02, 0.01, 0.6, [1.1, 0.4, 5], [-0.7, 0.3, 0.2])[0] != pytest.approx(0.0597088880)
