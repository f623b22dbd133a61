"""Springs far stiffer than the step: nothing grows, nothing is lost, and what is slow moves as it should."""

import mujoco
import numpy as np
import pytest
from scipy.linalg import expm

import cayley as cy
from cayley.errors import ConventionError
from cayley.systems import Block, System
from dynamics.elastic_arms import planar_arm

STIFF = ("implicit-midpoint", "gauss")
M1, M2, L1, C1, C2, I1, I2 = 2.0, 1.5, 1.0, 0.5, 0.4, 0.1, 0.08  # masses, length, centres of mass, inertias
ROTORS = np.array([0.5, 0.25])


def inertia(angle):
    coupling = M2 * L1 * C2 * np.cos(angle)
    a = I1 + I2 + M1 * C1**2 + M2 * (L1**2 + C2**2) + 2 * coupling
    b = I2 + M2 * C2**2 + coupling
    return np.array([[a, b], [b, I2 + M2 * C2**2 + 0.0 * coupling]])


def weight(q):
    return np.array([M1 * C1 + M2 * L1, M2 * C2]) * 9.81, np.stack([q[0], q[0] + q[1]])


def elastic_arm(k, damping=0.0):
    """Two links, each driven through a spring by a rotor that turns on its own, gravity along -y."""

    def derivative(t, x, u, p):
        bend = M2 * L1 * C2 * np.sin(x.q[1])
        forces, angles = weight(x.q)
        heavy = forces * np.cos(angles)
        spring = k * (x.m - x.q) + damping * (x.w - x.v)
        rest = spring - np.stack([heavy[0] + heavy[1] - bend * x.v[1] * (2 * x.v[0] + x.v[1]),
                                  heavy[1] + bend * x.v[0]**2])
        return {"v": np.linalg.solve(inertia(x.q[1]), rest), "w": -spring / ROTORS}

    def energy(t, x, u, p):
        forces, angles = weight(x.q)
        return (x.v @ (inertia(x.q[1]) @ x.v) + (ROTORS * x.w) @ x.w + k * (x.m - x.q) @ (x.m - x.q)) / 2 + (
            forces @ np.sin(angles))

    return System("elastic arm", state={"q": Block((2,), "rad", velocity="v"), "v": (2, "rad/s"),
                                        "m": Block((2,), "rad", velocity="w"), "w": (2, "rad/s")},
                  derivative=derivative, energy=energy)


def wound_up(k, torque=50.0):
    q = np.array([0.3, 0.5])
    return {"q": q, "v": np.zeros(2), "m": q + np.array([1.0, -0.3]) * torque / k, "w": np.zeros(2)}


@pytest.mark.parametrize("k", [1e1, 1e5, 1e7])
def test_an_elastic_arm_keeps_its_energy_for_a_minute_whatever_its_stiffness(k):
    """60 000 steps of 1 ms; at 1e7 N m/rad a vibration has a period of a tenth of a step."""
    arm = elastic_arm(k)
    start = wound_up(k)
    heavy = 9.81 * (M1 * C1 + M2 * (L1 + C2))  # J, half of what is between hanging and standing
    scale = heavy + k / 2 * ((start["q"] - start["m"])**2).sum()
    for method, allowed in (("implicit-midpoint", 1e-3), ("gauss", 1e-6), ("gauss-energy", 1e-10)):
        fallen = arm.rollout(method=method)(start, step=1e-3, steps=60_000, every=20)
        assert fallen.finished and np.abs(fallen.energy_drift).max() < allowed * scale
        in_springs = k / 2 * ((fallen["q"] - fallen["m"])**2).sum(-1)
        if k >= 1e5:  # the vibration is a tenth of a joule or less, and it does not die
            assert abs(in_springs[-1000:].mean() / in_springs[:1000].mean() - 1) < 0.3


def test_a_mechanism_with_elastic_drives_keeps_its_energy_for_a_minute():
    """Rotors as bodies behind gears, springs of 1e5 N m/rad, steps of 1 ms; and in `simulate`, for a while."""
    arm = planar_arm()
    for joint in arm.joint_names:
        arm = arm.with_drive(joint, stiffness=1e5, gear=10.0, mass=0.5, tensor=np.diag([5e-3, 5e-3, 1e-4]))
    soft = arm.including("elastic drives")
    q = np.array([0.3, 0.5, 3.0 + 10 * 50 / 1e5, 5.0 - 10 * 20 / 1e5])
    fallen = soft.rollout(method="gauss")(q, np.zeros(4), step=1e-3, steps=60_000, every=100)
    assert fallen.finished and np.abs(fallen.energy_drift).max() < 1e-4
    followed = soft.simulate(q, np.zeros(4), until=0.1, method="gauss", max_step=1e-3)
    assert np.abs(followed.q[-1] - fallen.q[1]).max() < 1e-10 and np.abs(followed.energy_drift).max() < 1e-4


@pytest.mark.parametrize(("turned", "iterations"), [(0.01, 6), (0.1, 10)])
def test_violent_vibrations_keep_their_energy_too(turned, iterations):
    """Springs of 1e5 N m/rad, wound by a thousand newton metres and more: the balance is exact, and what is slow
    moves as in steps that resolve everything, but for the vibration itself."""
    arm = elastic_arm(1e5)
    start = {"q": [0.3, 0.5], "v": [1.0, -0.4], "m": [0.3 + turned, 0.5 - turned], "w": [0.0, 0.0]}
    fallen = arm.rollout(method="gauss-energy", iterations=iterations)(start, step=1e-3, steps=60_000, every=50)
    assert fallen.finished and np.abs(fallen.energy_drift).max() < 1e-8 * fallen.energy[0]
    resolved = arm.rollout(method="rk4")(start, step=1e-5, steps=20_000, every=20_000)
    assert np.abs(fallen["q"][4] - resolved.end["q"]).max() < turned


def test_dampers_take_what_they_take_from_an_exact_balance():
    """The balance is that of the equations: dampers that `power` does not speak of are not made good."""
    arm = elastic_arm(1e4, damping=5.0)
    start = wound_up(1e4, 300.0)
    damped, resolved = (arm.rollout(method=method)(start, step=step, steps=round(0.5 / step), every=round(0.05 / step))
                        for method, step in (("gauss-energy", 5e-4), ("rk4", 1e-5)))
    np.testing.assert_allclose(damped.energy, resolved.energy, atol=2e-2)
    assert resolved.energy[0] - resolved.energy[-1] > 1.0


def test_a_system_without_energy_has_no_balance_of_it():
    lag = System("lag", state={"y": "V"}, derivative=lambda t, x, u, p: -x.y)
    with pytest.raises(ConventionError, match=r'lag does not say its energy.*the method for it is "gauss"'):
        lag.rollout(method="gauss-energy")({"y": 1.0}, step=0.1, steps=1)


def test_where_explicit_steps_and_those_of_mujoco_fail_these_do_not():
    """At 1e4 N m/rad and 2 ms MuJoCo's implicit integrators let the vibration grow or take its energy away."""
    k = 1e4
    arm, start = elastic_arm(k), wound_up(k)
    explicit = arm.rollout(method="rk4")(start, step=2e-2, steps=200)
    assert explicit.status == "not finite" or np.abs(explicit.energy_drift).max() > 1e3
    two_discs = f"""<mujoco><option timestep="0.002" gravity="0 0 0" integrator="implicitfast"/><worldbody>
      <body><joint name="a" axis="0 0 1"/><geom type="sphere" size="0.1" mass="1"/></body>
      <body><joint name="b" axis="0 0 1"/><geom type="sphere" size="0.1" mass="1"/></body></worldbody>
      <tendon><fixed stiffness="{k}"><joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed></tendon>
      </mujoco>"""
    model = mujoco.MjModel.from_xml_string(two_discs)
    data = mujoco.MjData(model)
    data.qpos[:] = 1e-3, -1e-3
    for _ in range(500):
        mujoco.mj_step(model, data)
    theirs = np.abs(data.qpos).max()
    J = 0.4 * 0.1**2
    discs = System("discs", state={"q": Block((2,), velocity="v"), "v": (2, "rad/s")},
                   derivative=lambda t, x, u, p: -k / J * (x.q[0] - x.q[1]) * np.array([1.0, -1.0]))
    ours = discs.rollout(method="gauss")({"q": [1e-3, -1e-3], "v": [0.0, 0.0]}, step=2e-3, steps=500)
    assert not 1e-4 < theirs < 1e-2, "MuJoCo has learned it"
    assert 0.5e-3 < np.abs(ours["q"][-100:]).max() < 1.0001e-3


@pytest.mark.parametrize("method", STIFF)
@pytest.mark.parametrize("frequency", [1.0, 1e3, 1e6])
def test_masses_on_springs_keep_their_energy_to_rounding(method, frequency):
    """Energy that is a quadratic form is kept exactly, and the step is the rational function of the theory."""
    w2 = frequency**2
    chain = System("chain", state={"x": Block((2,), velocity="v"), "v": 2},
                   derivative=lambda t, x, u, p: -w2 * (np.array([[2.0, -1.0], [-1.0, 2.0]]) @ x.x),
                   energy=lambda t, x, u, p: (x.v @ x.v + w2 * x.x @ (np.array([[2.0, -1.0], [-1.0, 2.0]]) @ x.x)) / 2)
    rung = chain.rollout(method=method, iterations=2)({"x": [1.0, -0.4], "v": [0.0, 0.3]}, step=1e-2, steps=2000)
    assert rung.finished and np.abs(rung.energy_drift / rung.energy[0]).max() < 1e-9
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-w2 * np.array([[2.0, -1.0], [-1.0, 2.0]]), np.zeros((2, 2))]]) * 1e-2
    one, square = np.eye(4), A @ A / 12
    upper, lower = (one + A / 2, one - A / 2) if method == STIFF[0] else (one + A / 2 + square, one - A / 2 + square)
    state = np.linalg.solve(lower, upper @ np.array([1.0, -0.4, 0.0, 0.3]))
    scale = np.array([1.0, 1.0, frequency, frequency])
    assert (np.abs(np.concatenate([rung.x[1], rung.v[1]]) - state) / np.maximum(scale, 1.0)).max() < 1e-9


def test_what_is_slow_does_not_feel_the_step_of_what_is_fast():
    """At rest against the spring, the arm of 1e7 N m/rad moves as the one whose rotors sit on its joints."""
    stiff = elastic_arm(1e7).rollout(method="gauss")(wound_up(1e7, 0.0), step=1e-3, steps=500, every=100)

    def derivative(t, x, u, p):
        bend = M2 * L1 * C2 * np.sin(x.q[1])
        forces, angles = weight(x.q)
        heavy = forces * np.cos(angles)
        rest = -np.stack([heavy[0] + heavy[1] - bend * x.v[1] * (2 * x.v[0] + x.v[1]), heavy[1] + bend * x.v[0]**2])
        return np.linalg.solve(inertia(x.q[1]) + np.diag(ROTORS), rest)

    rigid = System("arm", state={"q": Block((2,), velocity="v"), "v": 2}, derivative=derivative)
    exact = rigid.simulate({"q": [0.3, 0.5], "v": [0.0, 0.0]}, times=np.linspace(0.0, 0.5, 6))
    assert np.abs(stiff["q"] - exact["q"]).max() < 1e-5


def test_damping_takes_what_it_should():
    """Energy goes as the damper takes it; what vibrates dies, what is slow does not."""
    arm = elastic_arm(1e5, damping=200.0)
    for method in STIFF:
        fallen = arm.rollout(method=method)(wound_up(1e5, 500.0), step=1e-3, steps=2000, every=10)
        assert fallen.finished and (np.diff(fallen.energy) < 1e-4).all()
        assert np.abs(fallen["w"] - fallen["v"])[-50:].max() < 0.1


@pytest.mark.parametrize("k", [1e2, 1e7])
def test_simulate_makes_the_same_steps(k):
    arm, start = elastic_arm(k), wound_up(k)
    followed = arm.simulate(start, until=0.25, method="gauss", max_step=1e-3)
    rolled = arm.rollout(method="gauss", iterations=5)(start, step=1e-3, steps=250)
    assert followed.finished and followed.facts["steps"] == 250
    for name in ("q", "m"):
        assert np.abs(followed.end[name] - rolled.end[name]).max() < 1e-10
    assert np.abs(followed.energy_drift).max() < 1e-3
    between = followed.at(0.1004)["q"]
    assert (np.abs(between - rolled["q"][100]) < 0.05).all()


def test_a_simulation_in_steps_of_one_length_says_its_step_and_stops_at_events():
    fall = System("fall", state={"y": Block((), "m", velocity="v"), "v": "m/s"}, derivative=lambda t, x, u, p: -9.81)
    with pytest.raises(ConventionError, match="max_step=1e-3"):
        fall.simulate({"y": 1.0, "v": 0.0}, until=1.0, method="gauss")
    ground = cy.simulation.Event("ground", lambda t, y, v: y, action="end")
    down = fall.simulate({"y": 1.0, "v": 0.0}, until=1.0, method="gauss", max_step=0.03, events=ground)
    assert down.status == "event" and abs(down.t[-1] - np.sqrt(2 / 9.81)) < 1e-9
    back = System("decay", state={"x": ""}, derivative=lambda t, x, u, p: -3.0 * x.x + np.sin(t))
    exact = back.simulate({"x": 1.0}, until=2.0)
    assert abs(back.simulate({"x": 1.0}, until=2.0, method="gauss", max_step=7e-3).end.x - exact.end.x) < 1e-9


def test_a_step_that_newtons_method_cannot_solve_is_told():
    runaway = System("runaway", state={"x": ""}, derivative=lambda t, x, u, p: x.x**2)
    ended = runaway.rollout(method="gauss")({"x": 1.0}, step=0.3, steps=10)
    assert ended.status in ("not converged", "not finite")
    assert runaway.simulate({"x": 1.0}, until=3.0, method="gauss", max_step=0.3).status != "finished"


def test_linear_decay_is_followed_at_any_rate():
    """Beside the exponential of the matrix where the step resolves it, and stable where it does not."""
    A = np.array([[-1.0, 0.5], [0.0, -2e6]])
    mixed = System("mixed", state={"x": 2}, derivative=lambda t, x, u, p: A @ x.x)
    for method, allowed in (("implicit-midpoint", 1e-4), ("gauss", 1e-6)):
        end = mixed.rollout(method=method)({"x": [1.0, 0.0]}, step=1e-2, steps=100).end["x"]
        assert np.abs(end - expm(A[:1, :1])[0, 0] * np.array([1.0, 0.0])).max() < allowed
