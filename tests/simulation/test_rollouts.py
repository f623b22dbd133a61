"""Compiled rollouts: batches, controllers and parameters inside the loop, each beside the same thing done step by step
in Python.
"""

import re
import warnings

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.kernel import kernel
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.errors import CayleyError, ConventionError, GeometryError, ModelError, SignatureError
from cayley.model.catalogue import load_robot
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree
from cayley.simulation import inertia_parameters, rollout, simulate
from cayley.simulation.fixed_steps import METHODS
from simulation.mechanisms import floating_arm, random_state, slider


@kernel("(),(n),(n),(n),()->(n)")
def servo(t, q, qd, target, gain):
    return gain * (target - q) - 0.2 * gain * qd + np.sin(3 * t)


def states(tree, count, seed=0):
    made = [random_state(tree, seed + k) for k in range(count)]
    return np.array([q for q, _ in made]), np.array([v for _, v in made])


@pytest.mark.parametrize("steps", [2**31, 2**63 - 1, 2**63, 2**64, 10**30, -1, -2**63, 2.5, 3.0, np.nan, "3", True,
                                   None, [3], np.uint64(2**63), np.float32(4)])
def test_numbers_of_steps_that_are_none_are_refused(steps):
    arm = cy.load("planar2r")
    state = {"q": [0.1, 0.2], "qd": [0.0, 0.0]}
    for roll in (lambda **how: arm.rollout()([0.1, 0.2], [0.0, 0.0], step=1e-3, **how),
                 lambda **how: arm.system().rollout()(state, inputs={"tau": [0.0, 0.0]}, step=1e-3, **how)):
        with pytest.raises(ConventionError, match="steps"):
            roll(steps=steps)
        with pytest.raises(ConventionError, match="every"):
            roll(steps=6, every=steps if steps != 3.0 else 4)


def test_a_rollout_that_leaves_the_numbers_warns_where_it_was_called():
    arm = cy.load("planar2r").with_gravity([0.0, 0.0, 0.0])
    roll = arm.rollout(method="semi-implicit-euler", controller=lambda t, q, qd: 1e6 * qd)
    with pytest.warns(RuntimeWarning, match=r"rollout of planar2r: 1 of 2 trajectories left the numbers, the first.* "
                                            r"step (\d+): ") as caught:
        run = roll(np.zeros((2, 2)), [[0.0, 0.0], [0.1, 0.2]], step=1e-2, steps=500, every=5)
    assert caught[0].filename == __file__ and run.status == "not finite" and "not finite" in repr(run)
    step = int(re.search(r"step (\d+)", run.message)[1])
    assert step % 5 == 0 and np.isfinite(run.q[1, step // 5]).all() and not np.isfinite(run.qd[1, step // 5 + 1]).all()
    with warnings.catch_warnings(action="error"):
        assert roll(np.zeros(2), np.zeros(2), step=1e-2, steps=500).finished


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_gives_each_trajectory_bit_for_bit(method):
    tree = floating_arm((0.0, 0.0, -9.81))
    roll = rollout(tree, method=method)
    q, qd = states(tree, 7)
    tau = np.zeros((7, tree.nv))
    tau[:, 6:] = np.random.default_rng(1).normal(size=(7, 4)) * 0.2
    together = roll(q, qd, tau, step=1e-3, steps=60, every=20)
    threaded = roll(q, qd, tau, step=1e-3, steps=60, every=20, threads=2)
    pieces = roll(together.q[:, 1], together.qd[:, 1], tau, step=1e-3, steps=40, every=40)
    assert together.q.shape == (7, 4, tree.nq) and together.finished
    assert (together.q[:, 0] == q).all() and (together.t == [0.0, 0.02, 0.04, 0.06]).all()
    assert (threaded.q == together.q).all() and (threaded.qd == together.qd).all()
    assert (pieces.q[:, -1] == together.q[:, -1]).all() and (pieces.qd[:, -1] == together.qd[:, -1]).all()
    for k in range(7):
        alone = roll(q[k], qd[k], tau[k], step=1e-3, steps=60, every=20)
        assert (alone.q == together.q[k]).all() and (alone.qd == together.qd[k]).all() and (alone.work
                                                                                            == together.work[k]).all()


def python_rk4(dynamics, q, qd, force, h, steps):
    """For joints whose rates are their velocities."""
    kept = [np.concatenate([q, qd])]
    for k in range(steps):
        x = kept[-1]
        tau = force(k, x)

        def slope(x, tau=tau):
            return np.concatenate([x[len(q):], dynamics(x[:len(q)].copy(), x[len(q):].copy(), tau)])

        a = slope(x)
        b = slope(x + h / 2 * a)
        c = slope(x + h / 2 * b)
        d = slope(x + h * c)
        kept.append(x + h / 6 * (a + 2 * b + 2 * c + d))
    return np.array(kept)


@pytest.mark.spec("S3-37")
def test_a_controller_inside_the_loop_is_a_controller_in_a_python_loop():
    arm, h, steps = load_robot("puma560"), 2e-3, 100
    q, qd = states(arm, 3)
    targets, gains = np.linspace(-0.5, 0.5, 18).reshape(3, 6), np.array([0.02, 0.05, 0.1])
    roll = rollout(arm, controller=servo)
    found = roll(q, qd, step=h, steps=steps, target=targets, gain=gains)
    dynamics = forward_dynamics_kernel(arm)
    for k in range(3):
        looped = python_rk4(dynamics, q[k], qd[k], lambda i, x, k=k: servo(i * h, x[:6], x[6:], targets[k], gains[k]),
                            h, steps)
        assert np.abs(np.hstack([found.q[k], found.qd[k]]) - looped).max() < 1e-10
        assert np.abs(found.tau[k, 5] - servo(5 * h, found.q[k, 5], found.qd[k, 5], targets[k], gains[k])).max() < 1e-12


def test_forces_for_every_step():
    arm, h, steps = load_robot("planar2r"), 1e-3, 60
    forces = np.random.default_rng(0).normal(size=(4, steps, 2))
    roll = rollout(arm, changing=["tau"])
    found = roll([0.3, 0.7], [0.6, -0.8], forces, step=h, steps=steps, every=3)
    assert found.q.shape == (4, 21, 2)
    for k in range(4):
        looped = python_rk4(forward_dynamics_kernel(arm), np.array([0.3, 0.7]), np.array([0.6, -0.8]),
                            lambda i, x, k=k: forces[k, i], h, steps)
        assert np.abs(np.hstack([found.q[k], found.qd[k]]) - looped[::3]).max() < 1e-12
        assert (found.tau[k, :-1] == forces[k, ::3]).all()
    with pytest.raises(SignatureError, match=r"changes in 30 steps, has the shape \(..., 30, 2\)"):
        roll([0.3, 0.7], [0.6, -0.8], forces, step=h, steps=30)


def test_a_continuous_controller_is_followed_to_the_order_of_the_method():
    arm = load_robot("planar2r")
    parameters = {"target": np.array([0.5, -0.2]), "gain": 5.0}
    exact = simulate(arm, [0.0, 0.0], [0.0, 0.0], controller=servo_2, parameters=parameters, times=[0.0, 0.5],
                     rtol=1e-12, atol=1e-13)
    errors = {}
    for control in ("continuous", "sampled"):
        roll = rollout(arm, controller=servo_2, control=control)
        errors[control] = [
            np.abs(roll([0.0, 0.0], [0.0, 0.0], step=h, steps=round(0.5 / h), **parameters).q[-1] - exact.q[-1]).max()
            for h in (0.01, 0.005)]
    assert 12 < errors["continuous"][0] / errors["continuous"][1] < 20
    assert 1.7 < errors["sampled"][0] / errors["sampled"][1] < 2.3


@kernel("(),(2),(2),(2),()->(2)")
def servo_2(t, q, qd, target, gain):
    return gain * (target - q) - 0.2 * gain * qd + np.sin(3 * t)


@pytest.mark.parametrize("method", [method for method in METHODS if "gauss" not in method])  # compiled for long
def test_wrenches_and_their_work(method):
    tree = floating_arm((0.0, 0.0, -9.81))
    q, qd = random_state(tree, 2)
    wrench = np.array([0.3, -0.2, 0.5, 0.05, 0.1, -0.04])
    exact = simulate(tree, q, qd, wrenches={"hand": wrench}, axes="world", times=[0.0, 0.2], rtol=1e-11, atol=1e-12)
    found = rollout(tree, method=method, wrenches=["hand"], axes="world")(q, qd, step=1e-4, steps=2000, every=2000,
                                                                          wrench_hand=wrench)
    allowed = {"rk4": 1e-10, "semi-implicit-euler": 3e-3}.get(method, 1e-6)
    assert np.abs(found.q[-1] - exact.q[-1]).max() < allowed
    assert abs(found.work[-1] - exact.work[-1]) < allowed
    assert np.abs(found.energy_drift).max() < 20 * allowed


@pytest.mark.parametrize("method", METHODS)
def test_inertias_are_inputs(method):
    """One kernel for a batch of arms: each beside the mechanism made with that inertia."""
    arm = load_robot("planar2r")
    own = inertia_parameters(arm, "link2")
    tens = np.stack([own, own * 1.5])
    found = rollout(arm, method=method, inertias=["link2"])([0.3, 0.7], [0.6, -0.8], step=1e-3, steps=100, every=100,
                                                            inertia_link2=tens)
    plain = rollout(arm, method=method)([0.3, 0.7], [0.6, -0.8], step=1e-3, steps=100, every=100)
    assert np.abs(found.q[0] - plain.q).max() < 1e-12 and np.abs(found.qd[0] - plain.qd).max() < 1e-11
    from dataclasses import replace
    bodies = tuple(
        replace(b, mass=1.5 * b.mass, inertia=1.5 * b.inertia) if b.name == "link2" else b for b in arm.bodies)
    heavier = replace(arm, bodies=bodies)
    other = rollout(heavier, method=method)([0.3, 0.7], [0.6, -0.8], step=1e-3, steps=100, every=100)
    assert np.abs(found.q[1] - other.q).max() < 1e-12 and np.abs(found.q[1] - found.q[0]).max() > 1e-3
    with pytest.raises(ModelError, match="does not move"):
        rollout(arm, inertias=[arm.bodies[0].name])


def test_steps_of_several_lengths_in_one_batch():
    roll = rollout(load_robot("planar2r"))
    found = roll([0.3, 0.7], [0.6, -0.8], step=[1e-3, 2e-3], steps=10)
    assert (found.q[1] == roll([0.3, 0.7], [0.6, -0.8], step=2e-3, steps=10).q).all()


def test_float32_stays_float32():
    roll = rollout(load_robot("puma560"), method="semi-implicit-euler")
    q = np.zeros((5, 6), np.float32)
    found = roll(q, q, step=1e-3, steps=50, every=10)
    assert found.q.dtype == np.float32
    assert np.abs(found.q - roll(q.astype(float), q.astype(float), step=1e-3, steps=50, every=10).q).max() < 1e-4


@pytest.mark.parametrize("method", ["lie-midpoint", "variational"])
def test_a_step_is_too_large_if_it_is_so_for_one_joint(method):
    """Three pendulums beside each other, of which one moves."""
    bob = [Body(f"bob{k}", 1.0, [0.0, 0.0, -0.5], np.zeros((3, 3))) for k in range(3)]
    hinges = [Joint(f"hinge{k}", "base", f"bob{k}", Revolute((0.0, 1.0, 0.0))) for k in range(3)]
    roll = rollout(Tree.of("pendulums", [Body("base"), *bob], hinges), method=method, iterations=3)
    fast = [roll(np.zeros(3), 4.0 * np.eye(3)[k], step=0.1, steps=5) for k in range(3)]
    assert [found.status for found in fast] == ["not converged"] * 3
    assert len({found.message for found in fast}) == 1
    assert roll(np.zeros(3), np.zeros(3), step=0.1, steps=5).finished


def test_a_step_that_is_too_large_is_reported():
    tree = floating_arm()
    q, qd = random_state(tree, 1)
    assert rollout(tree, method="lie-midpoint")(q, 30 * qd, step=0.05,
                                                steps=20).status in ("not converged", "not finite")
    assert rollout(tree, method="variational")(q, 30 * qd, step=0.05,
                                               steps=20).status in ("not converged", "not finite")
    stiff = rollout(slider(), controller=lambda t, q, qd: -1e6 * q)
    found = stiff([[1.0], [0.0]], [0.0], step=0.1, steps=400)
    assert found.status == "not finite" and "step is too large" in found.message
    assert (found.good < 401).all() and np.isfinite(found.q[0, :found.good[0]]).all()


def test_wrong_calls_are_named():
    arm = load_robot("planar2r")
    with pytest.raises(
            ConventionError,
            match=r"did you mean 'rk4'\? The methods are rk4, semi-implicit-euler, lie-midpoint, implicit-midpoint, "
                  "gauss, gauss-energy, variational"):
        rollout(arm, method="rk45")
    with pytest.raises(ConventionError, match="iterations"):
        rollout(arm, iterations=3)
    with pytest.raises(SignatureError, match="no input 'taus'"):
        rollout(arm, changing=["taus"])
    with pytest.raises(ConventionError, match="multiple"):
        rollout(arm)([0.0, 0.0], [0.0, 0.0], step=1e-3, steps=10, every=3)
    with pytest.raises(ConventionError, match="not zero"):
        rollout(arm)([0.0, 0.0], [0.0, 0.0], step=0.0, steps=10)
    with pytest.raises(GeometryError, match="not finite"):
        rollout(arm)([np.nan, 0.0], [0.0, 0.0], step=1e-3, steps=10)
    with pytest.raises(SignatureError, match="gain is missing"):
        rollout(arm, controller=servo_2)([0.0, 0.0], [0.0, 0.0], step=1e-3, steps=10, target=[0, 0])
    with pytest.raises(ConventionError, match="has a controller"):
        rollout(arm, controller=servo_2)([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], step=1e-3, steps=10, target=[0, 0], gain=1)
    with pytest.raises(SignatureError, match="leaves the dimension 'm' open"):
        rollout(arm, controller=kernel("(n),(n),(m)->(n)")(lambda q, qd, extra: q))


def test_wrong_inputs_of_rollouts_are_named():
    arm = load_robot("planar2r")
    roll = rollout(arm)
    with pytest.raises(SignatureError, match=r"do not go together: q \(7,\), qd \(3,\)"):
        roll(np.zeros((7, 2)), np.zeros((3, 2)), step=0.01, steps=10)
    assert "input tau is not finite" in roll(np.zeros(2), np.zeros(2), [np.nan, 0.0], step=0.01, steps=10).message
    with pytest.raises(CayleyError, match="forces of the shape"):
        rollout(arm, controller=lambda t, q, qd: q[:1])(np.zeros(2), np.zeros(2), step=0.01, steps=10)
    with pytest.raises(ModelError, match="no frame or body 'nowhere'"):
        rollout(arm, wrenches=["nowhere"])


@pytest.mark.parametrize(("given", "said"), [
    *[({"steps": steps}, "`steps` is a whole number") for steps in (10.0, "a", None, True)],
    *[({"every": every}, "`every` is a whole number") for every in (2.0, None)],
    *[({"step": step}, "a number of seconds that is not zero") for step in ("a", None, np.inf)],
    *[({"start": start}, "the start is one time in seconds") for start in ("a", None, np.nan, [0.0, 1.0])],
    ({"q": ["a", "b"]}, "q of planar2r must be real numbers, not <U1"),
    ({"qd": np.zeros(2, complex)}, "qd of planar2r must be real numbers, not complex128"),
    ({"tau": np.zeros(3)}, r"tau of planar2r has the shape \(..., 2\), not \(3,\)"),
    ({"tau": 1.0}, r"tau of planar2r has the shape \(..., 2\), not \(\)")])
def test_arguments_of_another_kind_are_named(given, said):
    """By rollouts, and by their derivatives."""
    roll = rollout(load_robot("planar2r"), method="semi-implicit-euler")
    whole = {"q": np.zeros(2), "qd": np.zeros(2), "step": 1e-3, "steps": 10} | given
    with pytest.raises((ConventionError, SignatureError), match=said):
        roll(**whole)
    with pytest.raises((ConventionError, SignatureError), match=said):
        roll.jvp(**whole, tangents={"q": np.ones(2)})


@pytest.mark.parametrize("made", [
    lambda arm: rollout(arm, changing="tau"), lambda arm: rollout(arm, wrenches="tool"),
    lambda arm: rollout(arm, inertias="link2"), lambda arm: rollout(arm, controller=3),
    lambda arm: rollout(arm, method="gauss", iterations=1.5)])
def test_a_name_for_a_list_and_what_is_no_law_are_named(made):
    with pytest.raises((ConventionError, SignatureError), match=r"a list of names|a controller is|iterations, at"):
        made(load_robot("planar2r"))
