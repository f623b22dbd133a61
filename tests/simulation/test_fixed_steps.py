"""Orders of convergence, time reversal, energy and momentum of the fixed-step methods; another library's steps."""

import mujoco
import numpy as np
import pytest

from cayley.dynamics.rigid_links.energies import momentum
from cayley.dynamics.rigid_links.links import links_of
from cayley.geometry.rotations import matrix_from_quaternion
from cayley.model.catalogue import load_robot
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.joint_kinds import Floating, Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree
from cayley.simulation import rollout, simulate
from cayley.simulation.fixed_steps import METHODS
from simulation.mechanisms import floating_arm, free_body, pendulum, random_state, top

QUICK = tuple(method for method in METHODS if "gauss" not in method)  # compiled for long with floating bodies
ORDERS = {"rk4": 4, "semi-implicit-euler": 1, "lie-midpoint": 2, "implicit-midpoint": 2, "gauss": 4, "gauss-energy": 4,
          "variational": 2}


def error(roll, step, exact, q, qd, span):
    found = roll(q, qd, step=step, steps=round(span / step), every=round(span / step))
    assert found.finished
    return max(np.abs(found.q[-1] - exact.q[-1]).max(), np.abs(found.qd[-1] - exact.qd[-1]).max())


@pytest.mark.spec("S3-37")
@pytest.mark.parametrize(("make", "method"), [
    *[(lambda: load_robot("planar2r"), method) for method in METHODS],
    *[(lambda: floating_arm((1.0, 2.0, -9.0)), method) for method in (*QUICK, "gauss")]])
def test_errors_shrink_with_the_step_as_the_order_says(make, method):
    tree = make()
    q, qd = random_state(tree, 1)
    span = 0.4
    exact = simulate(tree, q, qd, times=[0.0, span], rtol=1e-13, atol=1e-14)
    steps = np.array([0.02, 0.01, 0.005, 0.0025]) / {"rk4": 1, "gauss": 1.5, "gauss-energy": 1.5}.get(method, 4)
    roll = rollout(tree, method=method)
    errors = [error(roll, h, exact, q, qd, span) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert abs(slope - ORDERS[method]) < 0.12


@pytest.mark.parametrize("method", ["lie-midpoint", "variational"])
@pytest.mark.parametrize("make", [lambda: load_robot("puma560"), floating_arm, top], ids=["arm", "floating", "top"])
def test_symmetric_methods_run_backwards_to_where_they_began(make, method):
    tree = make()
    q, qd = random_state(tree, 2)
    roll = rollout(tree, method=method, iterations=16)
    forth = roll(q, qd, step=2e-3, steps=500, every=500)
    back = roll(forth.q[-1], forth.qd[-1], step=-2e-3, steps=500, every=500)
    assert np.abs(forth.q[-1] - q).max() > 0.1
    assert np.abs(back.q[-1] - q).max() < 1e-10
    assert np.abs(back.qd[-1] - qd).max() < 1e-10


def test_runge_kutta_runs_backwards_to_its_order():
    tree, (q, qd) = floating_arm(), random_state(floating_arm(), 3)
    roll = rollout(tree)
    forth = roll(q, qd, step=1e-3, steps=1000, every=1000)
    back = roll(forth.q[-1], forth.qd[-1], step=-1e-3, steps=1000, every=1000)
    assert np.abs(back.q[-1] - q).max() < 1e-8


def test_the_midpoint_rule_keeps_the_energy_of_a_free_body_exactly():
    body = free_body(center=(0.1, -0.2, 0.05))
    q, qd = random_state(body, 4)
    found = rollout(body, method="lie-midpoint", iterations=24)(q, qd, step=0.02, steps=20000, every=100)
    assert np.abs(found.energy_drift).max() < 1e-11 * found.energy[0]
    explicit = rollout(body, method="rk4")(q, qd, step=0.02, steps=20000, every=100)
    assert np.abs(explicit.energy_drift).max() > 1e3 * np.abs(found.energy_drift).max()


@pytest.mark.parametrize(("make", "method"), [(top, "lie-midpoint"), (lambda: load_robot("planar2r"), "lie-midpoint"),
                                              (top, "variational"), (lambda: load_robot("planar2r"), "variational"),
                                              (lambda: floating_arm(hand=Revolute), "variational")])
def test_the_energy_of_symmetric_methods_does_not_drift(make, method):
    tree = make()
    q, qd = random_state(tree, 5)
    found = rollout(tree, method=method)(q, qd, step=1e-3, steps=40000, every=40)
    assert found.finished
    quarter = len(found) // 4
    early, late = np.abs(found.energy_drift[:quarter]).max(), np.abs(found.energy_drift[-quarter:]).max()
    assert late < 2 * early
    assert late < 1e-3 * np.abs(found.kinetic).max()


def test_the_variational_method_keeps_momentum_to_rounding_over_a_long_time():
    tree = floating_arm(hand=Revolute)
    q, qd = random_state(tree, 6)
    found = rollout(tree, method="variational")(q, qd, step=2e-3, steps=50000, every=500)
    links = links_of(tree)
    about_origin = np.array([momentum(links, *state) for state in zip(found.q, found.qd, strict=True)])
    assert np.abs(about_origin
                  - about_origin[0]).max() < 1e-9 * np.abs(about_origin).max() * np.abs(found.q[-1, :3]).max()
    other = rollout(tree, method="lie-midpoint")(q, qd, step=2e-3, steps=50000, every=500)
    assert np.abs(other.momentum_drift).max() > 1e-4
    assert np.abs(found.energy_drift).max() < 1e-4 * found.energy[0]


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (1.0, -2.0, -9.81)])
def test_the_figure_of_momentum_is_about_a_point_that_does_not_move(gravity):
    """A body whose centre is off its frame: the variational method keeps momentum to rounding where nothing acts; under
    gravity along it, and all of it to its order."""
    body = Body("body", 1.5, [0.3, -0.2, 0.1], np.diag([0.3, 0.2, 0.4]))
    tree = Tree.of("free", [Body("world"), body], [Joint("free", "world", "body", Floating())], gravity=gravity)
    q, qd = random_state(tree, 6)
    drifts = {}
    for method, step in (("variational", 2e-3), ("variational", 4e-3), ("lie-midpoint", 4e-3), ("rk4", 2e-3)):
        found = rollout(tree, method=method)(np.stack([q, q]), qd, step=step, steps=round(4 / step), every=100)
        drifts[method, step] = found.momentum_drift[0]
        lost = momentum(links_of(tree), found.q[0, -1], found.qd[0, -1]) - momentum(links_of(tree), q, qd)
        np.testing.assert_allclose(drifts[method, step][-1, :3], lost[:3] - 1.5 * 4 * np.array(gravity), rtol=0,
                                   atol=1e-10)
    coarse, fine = drifts["variational", 4e-3], drifts["variational", 2e-3]
    assert np.abs(drifts["rk4", 2e-3]).max() < 1e-8 and np.abs(drifts["lie-midpoint", 4e-3]).max() > 1e-6
    assert np.abs(coarse[:, :3]).max() < 1e-10
    if any(gravity):
        assert np.abs(coarse[:, 3:] @ gravity).max() < 1e-9 * np.abs(found.momentum).max()
        assert np.abs(coarse).max() == pytest.approx(4 * np.abs(fine).max(), rel=0.05)
    else:
        assert np.abs(coarse).max() < 2e-10


def test_the_variational_method_keeps_the_spin_of_a_heavy_top():
    tree = top()
    q, qd = random_state(tree, 8)
    found = rollout(tree, method="variational", iterations=10)(q, qd + np.array([0.0, 0.0, 30.0]), step=2e-3,
                                                               steps=20000, every=100)
    vertical = np.einsum("nj,nj->n", matrix_from_quaternion(found.q)[:, 2, :],
                         found.qd * np.diag(links_of(tree).links[0].moments.inertia))
    assert np.ptp(vertical) < 1e-11
    assert np.ptp(found.qd[:, 2]) < 1e-9


@pytest.mark.parametrize("method", QUICK)
def test_a_floating_arm_keeps_its_momentum_and_balances_its_work(method):
    tree = floating_arm((0.0, 0.0, -9.81))
    q, qd = random_state(tree, 6)
    tau = np.array([0, 0, 0, 0, 0, 0, 0.3, -0.2, 0.4, 1.0])
    found = rollout(tree, method=method)(q, qd, tau, step=2.5e-4, steps=2000, every=100)
    allowed = {"rk4": 1e-11, "gauss": 1e-11, "semi-implicit-euler": 5e-3}.get(method, 1e-6)
    assert np.abs(found.momentum_drift).max() < allowed * np.abs(found.momentum).max()
    assert np.abs(found.energy_drift).max() < allowed * np.abs(found.kinetic).max()
    assert np.abs(found.work).max() > 0.1


def test_attitudes_stay_of_length_one():
    tree = floating_arm()
    q, qd = random_state(tree, 7)
    for method in QUICK:
        found = rollout(tree, method=method)(q, 5 * qd, step=1e-3, steps=3000, every=100)
        for own in (slice(3, 7), slice(7, 11)):
            assert np.abs(np.linalg.norm(found.q[:, own], axis=1) - 1).max() < 1e-12


ARM = """
<mujoco>
  <compiler angle="radian" autolimits="false"/>
  <option timestep="0.002" integrator="{integrator}" gravity="0.5 -1 -9.5"><flag contact="disable"/></option>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 1 0"/>
      <inertial pos="0.1 0.02 -0.2" mass="2" diaginertia="0.02 0.03 0.01"/>
      <body name="lower" pos="0 0 -0.5" euler="0.3 0 0.2">
        <joint name="elbow" type="hinge" axis="1 0 0"/>
        <inertial pos="0 0.05 -0.15" mass="1" diaginertia="0.01 0.008 0.005"/>
        <body name="hand" pos="0.02 0 -0.3">
          <joint name="slide" type="slide" axis="0 0.6 0.8"/>
          <inertial pos="0.01 0 -0.05" mass="0.4" diaginertia="0.001 0.002 0.0015"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize(("integrator", "method"), [("RK4", "rk4"), ("Euler", "semi-implicit-euler")])
def test_steps_are_those_of_mujoco(tmp_path, integrator, method):
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(integrator=integrator))
    tree = load_mjcf(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = [0.4, -0.7, 0.05], [0.5, 1.0, -0.3]
    tau = np.array([0.5, -0.2, 4.0])
    data.qfrc_applied[:] = tau
    found = rollout(tree, method=method)(data.qpos, data.qvel, tau, step=0.002, steps=500)
    theirs = [np.concatenate([data.qpos, data.qvel])]
    for _ in range(500):
        mujoco.mj_step(model, data)
        theirs.append(np.concatenate([data.qpos, data.qvel]))
    ours = np.concatenate([found.q, found.qd], axis=1)
    assert np.abs(np.array(theirs)).max() > 1
    assert np.abs(ours - theirs).max() < 1e-9


def test_pendulum_energy_over_a_long_time():
    found = rollout(pendulum(), method="semi-implicit-euler")([2.0], [0.0], step=1e-3, steps=100000, every=100)
    quarter = len(found) // 4
    assert np.abs(found.energy_drift[-quarter:]).max() < 1.2 * np.abs(found.energy_drift[:quarter]).max()
