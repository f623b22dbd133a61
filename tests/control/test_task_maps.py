"""Maps of a frame and the joints both ways, and the linear model along a motion."""

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import SignatureError, UnsupportedError
from cayley.systems.text_kernels import output_kernel
from systems.plants import rods

PLANE = [True, True, False, False, False, False]


@pytest.fixture(scope="module", params=["puma560", "planar2r", "stanford"])
def hand(request):
    arm = cy.load(request.param)
    return arm, arm.control.task("tool", task=PLANE if arm.nv == 2 else "pose")


@pytest.mark.spec("S3-50")
def test_all_ways_there_and_back(hand):
    """At random regular postures; the ways down beside differences of places, the ways back beside the ways down."""
    arm, task = hand
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(0.3, 0.9, size=(3, 8, arm.nv))
    m = task.asked.size
    h = 1e-5
    ends = [arm.pose(q + s * h * qd + h**2 / 2 * qdd, "tool") for s in (-1, 0, 1)]
    rates = (ends[2] - ends[0])[..., :3, 3] / (2 * h)
    spin = Rotation.from_matrix(ends[2][:, :3, :3] @ np.swapaxes(ends[0][:, :3, :3], 1, 2)).as_rotvec() / (2 * h)
    known = np.concatenate([rates, spin], axis=-1)[:, list(task.asked.rows)]
    assert np.allclose(task.velocity(q, qd), known, atol=1e-7)
    after, before = (task.velocity(q + s * h * qd + h**2 / 2 * qdd, qd + s * h * qdd) for s in (1, -1))
    assert np.allclose(task.acceleration(q, qd, qdd), (after - before) / (2 * h), atol=1e-6)
    back = task.joint_velocity(q, task.velocity(q, qd))
    assert np.allclose(back.velocities, qd, atol=1e-9) and (back.status == "one").all()
    again = task.joint_acceleration(q, qd, task.acceleration(q, qd, qdd)).velocities
    assert np.allclose(again, qdd, atol=1e-8)
    wrench = rng.normal(size=(8, m))
    assert np.allclose(task.wrench(q, task.joint_forces(q, wrench)).wrench, wrench, atol=1e-8)
    power = np.sum(wrench * task.velocity(q, qd), axis=-1)
    assert np.allclose(np.sum(task.joint_forces(q, wrench) * qd, axis=-1), power)
    acceleration = rng.normal(size=(8, m))
    assert np.allclose(task.acceleration_under(q, qd, task.forces_for(q, qd, acceleration)), acceleration, atol=1e-7)
    found = task.configuration(task.place(q[0]), start=q[0] + 0.05, limits=False)
    assert found.solved and np.abs(task.error(found.q, task.place(q[0]))).max() < 1e-9


@pytest.mark.spec("S3-50")
def test_singular_postures_say_what_cannot_be_done():
    arm = rods()
    task = arm.control.task("tool", task=PLANE)
    stretched = [0.0, 0.0]
    along = task.joint_velocity(stretched, [1.0, 0.0])
    assert along.status == "none" and along.residual == pytest.approx(1.0)
    across = task.joint_velocity(stretched, [0.0, 1.0])
    assert across.status == "many" and np.allclose(task.velocity(stretched, across.velocities), [0.0, 1.0])
    held = task.wrench(stretched, task.joint_forces(stretched, [5.0, 2.0]))  # the arm carries what pulls along it
    assert not held.unique and held.wrench == pytest.approx([0.0, 2.0], abs=1e-12)
    assert np.isfinite(task.forces_for(stretched, [0.1, 0.2], [1.0, 1.0])).all()
    assert not task.configuration([2.0, 0.0, 0.0]).solved
    with pytest.raises(SignatureError, match="a target of this task must have the shape"):
        task.configuration([2.0, 0.0])
    with pytest.raises(UnsupportedError):
        cy.load("four_bar").control.task("tool")


@pytest.mark.spec("S3-50")
def test_errors_of_orientation_are_rotation_vectors():
    """Beside SciPy's, through gimbal lock of every triple of angles and across -pi, pi."""
    arm = cy.load("puma560")
    task = arm.control.task("tool", task="orientation")
    rng = np.random.default_rng(1)
    q = rng.uniform(-np.pi, np.pi, size=(200, 6))
    turn = Rotation.random(200, random_state=2)
    target = arm.pose(q, "tool")
    target[:, :3, :3] = turn.as_matrix() @ target[:, :3, :3]
    assert np.allclose(task.error(q, target), turn.as_rotvec(), atol=1e-7)
    assert np.abs(task.error(q + 2 * np.pi, arm.pose(q, "tool"))).max() < 1e-7


def nominal(t):
    q = np.stack([0.5 * np.sin(t), 0.8 * np.cos(2 * t)], axis=-1)
    qd = np.stack([0.5 * np.cos(t), -1.6 * np.sin(2 * t)], axis=-1)
    return q, qd, np.stack([-0.5 * np.sin(t), -3.2 * np.cos(2 * t)], axis=-1)


@pytest.mark.spec("S1-109")
def test_perturbations_along_a_motion_are_differences_of_simulations_to_second_order():
    arm = rods()
    along = arm.control.linear_along(nominal)
    times = np.linspace(0.0, 0.6, 4)
    direction = np.array([0.3, -0.2, 0.5, 0.1])

    def push(t):
        return np.array([np.sin(5 * t), 0.5 * np.cos(3 * t)])

    linear = along.perturbations(direction, times, forces=push)
    start = np.concatenate(nominal(0.0)[:2])
    errors = []
    for size in (1e-3, 1e-4):
        def slope(t, y, size=size):
            tau = arm.inverse_dynamics(*nominal(t)) + size * push(t)
            return np.concatenate([y[2:], arm.forward_dynamics(y[:2], y[2:], tau)])

        found = solve_ivp(slope, (0, 0.6), start + size * direction, t_eval=times, method="DOP853", rtol=1e-12,
                          atol=1e-13).y.T
        known = np.stack([np.concatenate(nominal(t)[:2]) for t in times])
        errors.append(np.abs(found - known - size * linear).max())
    assert errors[0] < 2e-4 and 80 < errors[0] / errors[1] < 120
    Phi = along.transition(times)
    free = along.perturbations(direction, times)
    assert np.allclose(Phi @ direction, free, atol=1e-8) and np.array_equal(Phi[0], np.eye(4))
    later = along.transition(times[1:])
    assert np.allclose(later[-1] @ Phi[1], Phi[-1], atol=1e-7)
    A = along.at(0.2).A
    assert np.linalg.slogdet(Phi[-1])[0] > 0 and A.shape == (4, 4)
    with pytest.raises(SignatureError, match="shape"):
        along.perturbations([1.0], times)
    with pytest.raises(SignatureError, match="rise"):
        along.transition([0.0, 0.0])
    with pytest.raises(UnsupportedError):
        cy.load("four_bar").control.linear_along(nominal)


def test_the_same_loop_in_mujoco(tmp_path):
    """Computed torque from our model, the arm simulated by MuJoCo: the closed-form decay."""
    arm = rods()
    arm.save(tmp_path / "rods.xml", leave_out=True)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "rods.xml"))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1e-3
    data = mujoco.MjData(model)
    law = arm.control.computed_torque(100.0, 20.0)
    forces = output_kernel(law)
    target = np.array([0.3, -0.2])

    def control(_, now):
        now.qfrc_applied[:] = forces(0.0, np.zeros(0), now.qpos, now.qvel, target, np.zeros(2), np.zeros(2),
                                     *law.parameters.values())

    mujoco.set_mjcb_control(control)
    try:
        for _ in range(300):
            mujoco.mj_step(model, data)
    finally:
        mujoco.set_mjcb_control(None)
    assert data.qpos == pytest.approx((1 - np.exp(-3.0) * 4.0) * target, abs=2e-5)


def test_the_laws_of_an_arm_by_name():
    arm = rods()
    made = [arm.control.pd(10.0, 1.0), arm.control.pid(10.0, 2.0, 1.0), arm.control.pd_with_gravity(10.0, 1.0),
            arm.control.computed_torque(10.0, 1.0), arm.control.workspace_pd("tool", 10.0, 1.0, task=PLANE),
            arm.control.resolved_acceleration("tool", 10.0, 1.0, task=PLANE)]
    for law in made:
        loop = cy.connect(arm, law)
        assert "target" in loop.inputs and list(law.outputs) == ["tau"]
    with pytest.raises(UnsupportedError, match="one coordinate each"):
        cy.load("panda", floating_base=True).control.pd(1.0, 1.0)
