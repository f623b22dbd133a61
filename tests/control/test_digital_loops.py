"""Laws that look once a period, act late, saturate and have a wrong model: beside the same loop in MuJoCo."""

import mujoco
import numpy as np
import pytest
from scipy.optimize import brentq

import cayley as cy
from cayley.control import computed_torque, digital, digital_matrix, joint_control, sample_and_hold, saturation
from cayley.errors import SignatureError, UnsupportedError
from cayley.systems import Block, System
from systems.plants import ball, rods

T = 1e-3
KP, KD, KI, WIND_UP = 100.0, 20.0, 150.0, 8.0
LIMITS = np.array([30.0, 25.0, 9.0])
TARGET = np.array([0.8, -0.5, 0.9])
ARM = """<mujoco><compiler angle="radian"/><option timestep="1e-3" integrator="RK4" gravity="0 0 -9.81"/><worldbody>
<body name="column" pos="0 0 0.4"><joint name="pan" axis="0 0 1"/>
  <inertial pos="0.02 0 0.05" mass="3" diaginertia="0.02 0.02 0.015"/>
  <body name="upper" pos="0 0 0.1"><joint name="lift" axis="0 1 0"/>
    <inertial pos="0.2 0.01 0" mass="2.2" fullinertia="0.004 0.03 0.031 0.001 0 0.0005"/>
    <body name="fore" pos="0.4 0 0"><joint name="elbow" axis="0 1 0"/>
      <inertial pos="0.15 0 0.02" mass="1.3" diaginertia="0.002 0.011 0.011"/>%s</body></body></body>
</worldbody></mujoco>"""
LOAD = '<body name="load" pos="0.3 0 0"><inertial pos="0.02 0 0" mass="0.7" diaginertia="0.001 0.001 0.001"/></body>'


def in_mujoco(steps, late):
    """The loop as firmware has it: MuJoCo moves the arm with its load, its inverse dynamics without are the law's."""
    plant = mujoco.MjModel.from_xml_string(ARM % LOAD)
    model = mujoco.MjModel.from_xml_string(ARM % "")
    world, known = mujoco.MjData(plant), mujoco.MjData(model)
    z, queue, states = np.zeros(3), [np.zeros(3)] * (late + 1), []
    for k in range(steps):
        states.append([*world.qpos, *world.qvel])
        if k:
            error = TARGET - world.qpos
            known.qpos[:], known.qvel[:] = world.qpos, world.qvel
            known.qacc[:] = KP * error - KD * world.qvel + KI * z
            mujoco.mj_inverse(model, known)
            queue = [known.qfrc_inverse.copy(), *queue[:-1]]
            winds_on = (np.abs(KI * z) < WIND_UP) | (error * z <= 0)
            z = z + T * np.where(winds_on, error, 0.0)
        world.qfrc_applied[:] = np.clip(queue[-1], -LIMITS, LIMITS)
        mujoco.mj_step(plant, world)
    return np.array([*states, [*world.qpos, *world.qvel]])


def test_a_digital_loop_is_that_of_mujoco(tmp_path, late=1):
    """1 kHz, late, saturated, with a load that the law does not know: two thousand looks, the same states."""
    for name, load in (("model", ""), ("plant", LOAD)):
        (tmp_path / f"{name}.xml").write_text(ARM % load)
    model, plant = (cy.load(tmp_path / f"{name}.xml") for name in ("model", "plant"))
    law = computed_torque(model, KP, KD, KI, wind_up=WIND_UP).renamed({"tau": "wanted_tau"})
    loop = cy.connect(plant, digital(law, T, late=late), saturation("tau", LIMITS))
    run = loop.rollout()({"q": np.zeros(3), "qd": np.zeros(3)}, step=T, steps=2000, inputs={"target": TARGET})
    known = in_mujoco(2000, late)
    assert np.abs(np.hstack([run["q"], run["qd"]]) - known).max() < 1e-8
    shares = np.abs(run["tau"]) / LIMITS
    assert shares.max() == 1.0 and shares[-1].max() < 1.0  # at its limits on the way
    assert np.abs(KI * run["integral"]).max() > 0.5 * WIND_UP


def test_delay_makes_a_loop_unstable_where_its_discrete_poles_say():
    """One joint without gravity, PD, an acceleration held for a period and one late: the matrix by hand, and from both
    sides of the largest gain in simulation."""
    arm = rods((0.5,), (2.0,)).with_gravity([0.0, 0.0, 0.0])
    inertia = arm.inertia_matrix([0.0])[0, 0]
    period = 0.02
    rest = {"q": [0.0], "qd": [0.0], "target": [0.0], "tau": [0.0]}

    def radius(kd):
        by_hand = np.array([[1.0, period, period**2 / 2 / inertia], [0.0, 1.0, period / inertia],
                            [-3.0 * kd, -kd, 0.0]])
        found = digital_matrix(arm.system(), joint_control(1, 3.0 * kd, kd), period, late=1, at=rest, inputs=rest)
        assert np.abs(found - by_hand).max() < 1e-12
        return np.abs(np.linalg.eigvals(found)).max()

    largest = brentq(lambda kd: radius(kd) - 1.0, 0.3 * inertia / period, 3.0 * inertia / period)
    kd = largest * np.array([[0.97], [1.03]])
    roll = cy.connect(arm, digital(joint_control(1, 1.0, 1.0), period, late=1)).rollout(parameters=["kp", "kd"])
    run = roll({"q": [0.1], "qd": [0.0]}, step=period / 4, steps=2000, every=4, inputs={"target": [0.0]},
               parameters={"kp": 3.0 * kd, "kd": kd})
    size = np.abs(run["q"][..., 0])
    assert (size[:, -50:].max(axis=1) < size[:, :50].max(axis=1)).tolist() == [True, False]


@pytest.mark.parametrize("late", [0, 2])
def test_poles_of_a_loop_with_memory_are_those_of_its_motion(late):
    """Small errors after a period, by differences of rolled periods, are those of the matrix: states, memory, queue."""
    arm = rods()
    law = computed_torque(arm, KP, KD, KI)
    rest = {"q": np.array([0.4, 0.7]), "qd": np.zeros(2), "integral": np.zeros(2)}
    tau = arm.gravity_forces(rest["q"])
    matrix = digital_matrix(arm.system(), law, 0.01, late=late, at=rest,
                            inputs={**rest, "target": rest["q"], "tau": tau})
    roll = cy.connect(arm, digital(law, 0.01, late=late)).rollout()
    n = len(matrix)

    def period(s):
        """From just before a look to just before the next."""
        held = np.concatenate([s[6:].reshape(late, 2) + tau, np.tile(tau, (1, 1))])
        start = {"q": rest["q"] + s[:2], "qd": s[2:4], "integral": s[4:6], "clock": 0.01 - 1e-9, "held_tau": held}
        end = roll(start, step=0.0025, steps=4, inputs={"target": rest["q"]}).end
        return np.concatenate([end["q"] - rest["q"], end["qd"], end["integral"],
                               (end["held_tau"][:late] - tau).ravel()])

    slopes = np.stack([(period(e) - period(-e)) / 2e-4 for e in 1e-4 * np.eye(n)], axis=1)
    assert np.abs(slopes - matrix).max() < 1e-4 * np.abs(matrix).max()


def test_without_memory_it_is_sample_and_hold():
    arm = rods()
    law = computed_torque(arm, KP, KD)
    start = {"q": [0.1, -0.2], "qd": [0.0, 0.3]}
    apart = cy.connect(arm, law.renamed({"tau": "wanted_tau"}), sample_and_hold("tau", 2, T, late=1))
    whole = cy.connect(arm, digital(law, T, late=1))
    runs = [loop.rollout()(start, step=T, steps=500, inputs={"target": [0.5, -0.3]})["q"] for loop in (apart, whole)]
    assert np.abs(runs[0] - runs[1]).max() < 1e-13
    found = whole.simulate(start, until=0.02, inputs={"target": [0.5, -0.3]}).end["q"]
    assert np.abs(found - runs[0][20]).max() < 1e-9


def test_looks_of_a_clock_are_no_storm_of_events():
    """More looks than a simulation may have events, at the limit of the discrete loop y' = y + T u(y)."""
    lag = System("lag", state={"y": ""}, inputs={"u": ""}, derivative=lambda t, x, u, p: u.u)
    law = System("law", inputs={"y": ""}, outputs={"u": ""}, output=lambda t, x, u, p: -u.y)
    run = cy.connect(lag, digital(law, 1e-3)).simulate({"y": 1.0}, until=1.1005, max_events=1000, max_step=1e-3,
                                                       progress=False)
    assert run.finished and len(run.happened) == 1100
    assert run.end["y"] == pytest.approx((1 - 1e-3) ** 1098 * (1 - 1e-3) * (1 - 0.5e-3), rel=1e-9)


def test_what_is_held_and_what_is_refused():
    """A look at NaN leaves what was held; several outputs of any shape; names that are taken."""
    law = System("two", state={"n": Block((), default=0.0)}, inputs={"u": ""}, outputs={"a": "", "b": (2, 2)},
                 derivative=lambda t, x, u, p: 1.0,
                 output=lambda t, x, u, p: {"a": u.u + x.n, "b": np.array([[x.n, u.u], [1.0, 2.0]])})
    seen = digital(law, 0.1)
    u = np.where(np.arange(10) == 5, np.nan, np.arange(10.0))
    run = seen.rollout(changing=["u"])({}, step=0.1, steps=10, inputs={"u": u})
    assert np.isfinite(run["a"]).all() and run["b"].shape == (11, 2, 2)
    assert run.end["n"] == pytest.approx(0.1 * len(run.happened))
    for period, late in ((0.0, 0), (np.inf, 0), (1e-3, -1), (1e-3, 0.5)):
        with pytest.raises(SignatureError, match="the period must be more than 0 s"):
            digital(law, period, late=late)
    with pytest.raises(UnsupportedError, match="modes, transitions"):
        digital(ball(), 1e-3)
    with pytest.raises(UnsupportedError, match="'clock'"):
        digital(law.renamed({"n": "clock"}), 1e-3)
