"""Armature on joints whose velocities are not rates of coordinates, against MuJoCo: it adds to the diagonal of its mass
matrix, in which the velocity of a free joint is linear in the world and angular in the body."""

import mujoco
import numpy as np
import pytest

from cayley.dynamics.cartesian.model import CartesianMechanism
from cayley.dynamics.forward.methods import METHODS
from cayley.mechanism import Mechanism
from cayley.model.formats.mjcf import load_mjcf

TUMBLING = """<mujoco><option gravity="0 0 -3"/><worldbody>
  <body name="a" pos="0 0 1"><joint name="root" type="free" armature="1"/><inertial pos=".1 .2 -.1" mass="1.3" diaginertia=".2 .3 .4"/>
    <body name="b" pos=".3 0 0"><joint name="ball" type="ball" armature=".3"/><inertial pos=".1 0 .2" mass=".7" diaginertia=".02 .03 .04"/>
      <body name="c" pos="0 .3 0"><joint name="hinge" axis="1 0 0" armature=".2"/>
        <inertial pos=".1 0 .1" mass=".4" diaginertia=".02 .03 .04"/></body></body></body></worldbody></mujoco>"""
FLYING = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="free" armature="1"/>
  <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def tumbling():
    return loaded(TUMBLING)


def loaded(text):
    return Mechanism(load_mjcf(text)).including("armature")


def state(arm):
    random = np.random.default_rng(0)
    q = arm.configurations.normalized(random.normal(size=arm.nq))
    return q, random.normal(size=arm.nv), random.normal(size=arm.nv)


def there(text, q, v, a=None):
    """MuJoCo's data at the same state, and its rotation of the free body."""
    model = mujoco.MjModel.from_xml_string(text)
    data, R = mujoco.MjData(model), np.zeros(9)
    mujoco.mju_quat2Mat(R, q[3:7])
    R = R.reshape(3, 3)
    data.qpos[:], data.qvel[:] = q, np.concatenate([R @ v[:3], v[3:]])
    if a is not None:
        data.qacc[:] = np.concatenate([R @ (a[:3] + np.cross(v[3:6], v[:3])), a[3:]])
    return model, data, R


def test_inverse_and_forward_dynamics_and_the_matrix_are_those_of_mujoco(tumbling):
    q, v, a = state(tumbling)
    model, data, R = there(TUMBLING, q, v, a)
    mujoco.mj_inverse(model, data)
    expected = np.concatenate([R.T @ data.qfrc_inverse[:3], data.qfrc_inverse[3:]])
    tau = tumbling.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-13)
    turned = np.eye(tumbling.nv)
    turned[:3, :3] = R
    M = np.zeros((tumbling.nv, tumbling.nv))
    mujoco.mj_fullM(model, data, M) if mujoco.mj_versionString() >= "3.5" else mujoco.mj_fullM(model, M, data.qM)
    np.testing.assert_allclose(tumbling.inertia_matrix(q), turned.T @ M @ turned, rtol=0, atol=1e-13)
    for method in METHODS:
        # for chains of revolute and prismatic joints
        if method not in ("operator-factors", "filter-and-smoother", "generalized-links"):
            np.testing.assert_allclose(
                tumbling.forward_dynamics.using(method).reference(q, v, tau), a, rtol=0, atol=1e-11, err_msg=method)
    pushed = tumbling.forward_dynamics.with_inputs(wrenches=["c"])
    np.testing.assert_allclose(pushed.reference(q, v, tau, np.zeros(6)), a, rtol=0, atol=1e-11)


def test_parts_and_derivatives_agree(tumbling):
    q, v, a = state(tumbling)
    tau = tumbling.inverse_dynamics(q, v, a)
    M, C, G = tumbling.inertia_matrix(q), tumbling.coriolis_matrix(q, v), tumbling.gravity_forces(q)
    np.testing.assert_allclose(M @ a + C @ v + G, tau, rtol=0, atol=1e-12)
    np.testing.assert_allclose(M @ a + tumbling.bias_forces(q, v), tau, rtol=0, atol=1e-12)
    h = 1e-6
    columns = [(tumbling.inverse_dynamics(q, v + h * e, a) - tumbling.inverse_dynamics(q, v - h * e, a)) / (2 * h)
               for e in np.eye(tumbling.nv)]
    np.testing.assert_allclose(tumbling.linearize(q, v, a).V, np.stack(columns, axis=1), rtol=0, atol=1e-8)
    found = tumbling.forward_derivatives(q, v, tau)
    np.testing.assert_allclose(found.qdd, a, rtol=0, atol=1e-11)
    columns = [(tumbling.forward_dynamics(q, v + h * e, tau) - tumbling.forward_dynamics(q, v - h * e, tau)) / (2 * h)
               for e in np.eye(tumbling.nv)]
    np.testing.assert_allclose(found.by_qd, np.stack(columns, axis=1), rtol=0, atol=1e-7)


def test_the_model_in_cartesian_space_has_the_rotors_and_the_friction(tumbling):
    """Forces for an acceleration of the last body give it, by the forward dynamics that MuJoCo has checked; with
    friction too.
    """
    q, v, _ = state(tumbling)
    wanted = np.random.default_rng(1).normal(size=6)
    rubbing = tumbling.with_friction("hinge", viscous=0.4, coulomb=0.3).including("armature", "friction")
    for arm in (tumbling, rubbing):
        tau = CartesianMechanism(arm.tree, "c").joint_forces(q, v, wanted)
        found = arm.acceleration(q, v, arm.forward_dynamics.reference(q, v, tau), "c", axes="world")
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method, error", [("rk4", 1e-8), ("lie-midpoint", 1e-4), ("variational", 1e-12)])
def test_a_body_flies_straight_and_keeps_its_energy(method, error):
    """As exactly as a method of its order does; without the armature's part it flew a circle."""
    body = loaded(FLYING)
    start, velocity = body.neutral, np.array([1.0, 0, 0, 0, 0, 2.0])
    found = body.rollout(method=method)(start, velocity, step=1e-2, steps=100)
    np.testing.assert_allclose(found.q[-1, :3], start[:3] + np.array([1.0, 0.0, 0.0]), rtol=0, atol=error)
    assert np.abs(found.energy_drift).max() < 1e-8


def test_a_tumbling_mechanism_moves_as_in_mujoco(tumbling):
    q, v, _ = state(tumbling)
    model, data, _ = there(TUMBLING, q, v)
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_RK4
    for _ in range(300):
        mujoco.mj_step(model, data)
    found = tumbling.simulate(q, v, until=0.3, progress=False)
    np.testing.assert_allclose(found.q[-1], data.qpos, rtol=0, atol=1e-8)
    assert np.abs(found.energy_drift).max() < 1e-7
