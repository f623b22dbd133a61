"""Laws that are tried on an arm: figures of steps and motions beside closed forms, gains, verdicts, what is refused."""

import numpy as np
import pytest
from scipy.optimize import brentq

import cayley as cy
from cayley.control import computed_torque, joint_control, pd_with_gravity, resolved_acceleration
from cayley.control.law_trial import gains_for, ordinary_step, try_law
from cayley.control.targets import FrameAim, JointAim
from cayley.control.task_space.task_error import FrameTask
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.systems import System
from systems.plants import rods

PLANE = [True, True, False, False, False, False]
START, TARGET = np.array([0.2, 1.0]), np.array([0.6, 0.7])


@pytest.fixture(scope="module")
def arm():
    return rods()


def test_the_figures_of_computed_torque_are_those_of_its_equation(arm):
    """Twice -10: no overshoot, settled when (1 + 10 t) exp(-10 t) is 2 %, forces of inverse dynamics at the start."""
    found = try_law(arm, computed_torque(arm, 100.0, 20.0), JointAim(arm.tree), start=START, target=TARGET)
    settled = brentq(lambda t: (1 + 10 * t) * np.exp(-10 * t) - 0.02, 0.1, 2.0)
    for response, size in zip(found.responses, TARGET - START, strict=True):
        assert response.size == pytest.approx(size) and response.overshoot == 0.0
        assert settled <= response.settling <= settled + 2 * np.diff(found.step.t).max()
    assert found.step["tau"][0] == pytest.approx(arm.inverse_dynamics(START, np.zeros(2), 100 * (TARGET - START)))
    assert np.abs(found.tracking_error).max() < 1e-9 and found.finished
    assert found.verdict.nature == "asymptotically stable" and found.verdict.basis == "proved"
    assert np.abs(found.verdict.poles + 10).max() < 1e-5 and np.abs(found.offset).max() < 1e-9
    assert not found.shares.any()  # there are no limits


def test_a_law_with_a_wrong_model_late_and_limited(arm):
    """The offset of a payload, by its equation; forces at their limits; the digital loop at its rest."""
    plant = arm.with_payload("tool", 0.5)
    limits = np.array([40.0, 12.0])
    found = try_law(plant, pd_with_gravity(arm, [400.0, 150.0], [60.0, 20.0]), JointAim(arm.tree), start=START,
                    target=TARGET, limits=limits, period=1e-3, late=1)
    rest = found.rest["q"]
    held = plant.gravity_forces(rest) - arm.gravity_forces(rest)
    assert np.array([400.0, 150.0]) * (TARGET - rest) == pytest.approx(held, rel=1e-8)
    assert found.offset == pytest.approx(TARGET - rest)
    assert found.step_error[-1] == pytest.approx(found.offset, rel=0.05)
    assert found.shares.max() == 1.0 and (np.abs(found.step["tau"]) <= limits).all()
    assert found.verdict.nature == "asymptotically stable" and np.abs(found.verdict.poles).max() < 1.0


def test_gains_for_a_frequency(arm):
    """Of accelerations exactly w^2 and 2 zeta w; of forces those of each joint with the other free to move."""
    aim = JointAim(arm.tree)
    gains = gains_for(lambda g: computed_torque(arm, **g), arm.system(), aim, TARGET, frequency=8.0, damping_ratio=0.7)
    assert gains["kp"] == pytest.approx([64.0, 64.0]) and gains["kd"] == pytest.approx([11.2, 11.2])
    gains = gains_for(lambda g: joint_control(2, **g), arm.system(), aim, TARGET, frequency=8.0)
    inertias = 1 / np.diag(np.linalg.inv(arm.inertia_matrix(TARGET)))
    assert gains["kp"] == pytest.approx(64 * inertias) and gains["kd"] == pytest.approx(16 * inertias)
    with pytest.raises(SignatureError, match="positive"):
        gains_for(lambda g: joint_control(2, **g), arm.system(), aim, TARGET, frequency=-1.0)


def test_a_frame_follows_the_way_that_joints_would_bring_it(arm):
    aim = FrameAim(FrameTask.of(arm, "tool", PLANE, "a test"))
    law = resolved_acceleration(arm, "tool", 100.0, 20.0, task=PLANE)
    gains = gains_for(lambda g: resolved_acceleration(arm, "tool", **g, task=PLANE), arm.system(), aim, TARGET)
    assert gains["kp"] == pytest.approx([100.0, 100.0]) and gains["kd"] == pytest.approx([20.0, 20.0])
    found = try_law(arm, law, aim, start=START, target=TARGET)
    way = (arm.pose(TARGET, "tool") - arm.pose(START, "tool"))[:2, 3]
    assert [response.size for response in found.responses] == pytest.approx(way)
    assert np.abs(found.tracking_error).max() < 1e-8 and found.labels == [("x", "m"), ("y", "m")]
    with pytest.raises(SignatureError, match="number 3 does not feel it"):
        every = FrameAim(FrameTask.of(arm, "tool", "position", "a test"))
        gains_for(lambda g: cy.control.workspace_pd(arm, "tool", **g, task="position"), arm.system(), every, TARGET)


def test_what_cannot_be_tried(arm):
    aim = JointAim(arm.tree)
    law = joint_control(2, 50.0, 10.0)
    with pytest.raises(SignatureError, match="the same configuration"):
        try_law(arm, law, aim, start=START, target=START)
    with pytest.raises(SignatureError, match="configuration of 2 finite numbers"):
        try_law(arm, law, aim, start=START, target=[0.1, np.nan])
    with pytest.raises(SignatureError, match="give the period"):
        try_law(arm, law, aim, start=START, target=TARGET, late=1)
    with pytest.raises(UnsupportedError, match="gives out voltage"):
        try_law(arm, joint_control(2, 50.0, 10.0, output="voltage"), aim, start=START, target=TARGET)
    with pytest.raises(UnsupportedError, match="an input 'wind'"):
        try_law(arm, System("pushed", inputs={"q": 2, "wind": 2}, outputs={"tau": 2},
                            output=lambda t, x, u, p: u.wind - u.q), aim, start=START, target=TARGET)
    bar = cy.load("four_bar")
    with pytest.raises(ConventionError, match=r"are open by .* bring it to one with"):
        try_law(bar, law, JointAim(bar.tree), start=np.zeros(3) + 0.3, target=np.zeros(3))
    with pytest.raises(UnsupportedError, match="springs of"):
        soft = arm.with_drive("joint1", stiffness=500.0, inertia=1e-5, gear=100.0).including("elastic drives")
        try_law(soft, joint_control(3, 1.0, 1.0), JointAim(soft.tree), start=np.zeros(3), target=np.ones(3))
    with pytest.raises(UnsupportedError, match="steps of"):
        try_law(arm, joint_control(2, 1e12, 1e9), aim, start=START, target=TARGET, duration=1.0)


@pytest.mark.parametrize("digital", [{}, {"period": 1e-3, "late": 1}])
def test_an_arm_that_its_drives_cannot_hold_has_no_verdict_of_stability(digital):
    arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    law = arm.control.pd_with_gravity(100.0, 20.0)
    target = np.array([0.5, -0.3])
    weight = arm.gravity_forces(target)
    weak = try_law(arm, law, JointAim(arm.tree), start=[0.0, 0.0], target=target, limits=0.9 * abs(weight),
                   duration=1.0, **digital)
    assert weak.verdict is None and "'joint1'" in weak.doubt and "hold 13.65" in weak.doubt
    assert abs(weak.responses[0].left) > 0.1  # it falls
    strong = try_law(arm, law, JointAim(arm.tree), start=[0.0, 0.0], target=target, limits=3.0 * abs(weight),
                     duration=1.0, **digital)
    assert strong.verdict.nature == "asymptotically stable" and not strong.doubt


@pytest.mark.parametrize("digital", [{}, {"period": 1e-2, "late": 1}])
def test_forces_that_jump_at_rest_have_no_linear_model(digital):
    arm = cy.load("planar2r")
    law = arm.control.sliding_mode(5.0, 8.0, 1.0, layer=0.0)
    found = try_law(arm, law, JointAim(arm.tree), start=[0.0, 0.0], target=[0.5, -0.3], duration=0.5, **digital)
    assert (found.verdict.nature, found.verdict.basis) == ("undecided", "nothing")


def test_a_law_is_tried_on_a_four_bar():
    """The step of its drive is that of a double pole; a digital law has no verdict."""
    bar = cy.load("four_bar")
    start = bar.loops.close([0.5, 0.0, 0.0]).configuration
    goal = ordinary_step(bar.tree, start)
    law = bar.control.computed_torque(100.0, 20.0)
    found = try_law(bar, law, JointAim(bar.tree), start=start, target=goal)
    assert found.labels == [("crank", "rad")] and found.verdict.nature == "asymptotically stable"
    t = found.step.t
    np.testing.assert_allclose(found.step_error[:, 0], (goal - start)[0] * (1 + 10 * t) * np.exp(-10 * t), atol=1e-6)
    assert found.responses[0].settling == pytest.approx(0.583, abs=5e-3)
    late = try_law(bar, law, JointAim(bar.tree), start=start, target=goal, period=1e-3, late=1)
    assert late.verdict is None and "mechanism with constraints" in late.doubt and late.responses[0].left < 1e-3
    with pytest.raises(ConventionError, match="pin"):
        try_law(bar, law, JointAim(bar.tree), start=start, target=goal + 0.1)
