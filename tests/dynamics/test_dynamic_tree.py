"""What a user calls on a mechanism: the parts of the equations of motion, the comparison of methods, reactions."""

from dataclasses import replace

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.forward.methods import METHODS as FORWARD
from cayley.dynamics.inertia_matrix.methods import METHODS as INERTIA
from cayley.dynamics.inverse.methods import METHODS
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.model.joint_kinds import Floating, Helical, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint
from dynamics.chains import random_chain
from dynamics.robots import state_here
from dynamics.test_inverse_dynamics import random_tree


def mechanism(tree):
    return cy.Mechanism.of(tree.name, tree.bodies, tree.joints, frames=tree.frames, gravity=tree.gravity)


@pytest.mark.spec("S1-01")
@pytest.mark.parametrize("make",
                         [lambda: cy.load("puma560"), lambda: cy.load("s1_f1"), lambda: mechanism(random_tree(2))])
def test_the_parts_make_the_whole(make):
    """tau = M qdd + C qd + G, in batches and for one state; nothing moves: gravity alone."""
    arm = make()
    q, v, a = state_here(arm, 1, states=6)
    tau = np.einsum("bij,bj->bi", arm.inertia_matrix(q), a) + arm.bias_forces(q, v)
    np.testing.assert_allclose(arm.inverse_dynamics(q, v, a), tau, rtol=0, atol=1e-11 * np.abs(tau).max())
    bias = np.einsum("bij,bj->bi", arm.coriolis_matrix(q, v), v) + arm.gravity_forces(q)
    np.testing.assert_allclose(arm.bias_forces(q, v), bias, rtol=0, atol=1e-11 * np.abs(bias).max())
    np.testing.assert_array_equal(arm.inverse_dynamics(q[0], v[0], a[0]), arm.inverse_dynamics(q, v, a)[0])
    np.testing.assert_allclose(arm.inverse_dynamics(q, 0 * v, 0 * a), arm.gravity_forces(q), rtol=0, atol=1e-12)
    probed = np.stack([arm.inverse_dynamics(q, v, e) - arm.bias_forces(q, v) for e in np.eye(arm.nv)], axis=-1)
    np.testing.assert_allclose(probed, arm.inertia_matrix(q), rtol=0, atol=1e-11 * np.abs(probed).max())


@pytest.mark.parametrize("seed", range(4))
def test_power_is_the_rate_of_energy(seed):
    arm = mechanism(random_tree(seed))
    q, v, a = (x[0] for x in state_here(arm, seed))
    h = 1e-5

    def energy(t):
        moved = arm.integrate(q, v * t)  # true to the first order, which is all that a central difference keeps
        return arm.kinetic_energy(moved, v + a * t) + arm.potential_energy(moved)
    power = arm.inverse_dynamics(q, v, a) @ v
    assert (energy(h) - energy(-h)) / (2 * h) == pytest.approx(power, rel=1e-6, abs=1e-6)


@pytest.mark.spec("S1-47")
def test_comparison_of_all_methods():
    arm = cy.load("planar3r")
    state = np.random.default_rng(0).normal(size=(3, 4, 3))
    compared = arm.formulations.compare_inverse_dynamics(*state)
    assert [row.method for row in compared.rows] == list(METHODS)
    assert compared.agrees
    assert compared.spread <= 1e-12
    assert all(row.operations.multiplications and row.seconds > 0 for row in compared.rows)
    assert min(compared.rows, key=lambda row: row.operations.multiplications).method == "newton-euler"
    assert "The methods agree" in str(compared)


def test_methods_for_chains_alone_say_so():
    arm = cy.load("s1_f5")  # it has a prismatic joint
    compared = arm.formulations.compare_inverse_dynamics(*np.zeros((3, 6)), methods=["renaud", "waters"])
    assert compared.rows[0].refused.startswith("this method is for revolute joints, and joint 'joint3'")
    assert compared.rows[1].distance < 1e-12
    with pytest.raises(UnsupportedError, match="branches at joint"):
        mechanism(random_tree(0, ["revolute"] * 6)).inverse_dynamics.using("luh-walker-paul")


def test_comparison_of_a_light_arm_is_relative_to_its_own_forces():
    """Masses a power of two times smaller change no digit but the exponents of the forces."""
    heavy = mechanism(random_chain("RRR", 3))
    light = heavy.of(heavy.name, [scaled(body, 2.0**-40) for body in heavy.bodies], heavy.joints, gravity=heavy.gravity)
    state = np.random.default_rng(0).normal(size=(3, 3))
    rows = [arm.formulations.compare_inverse_dynamics(*state, methods=["kane", "waters"]).rows
            for arm in (heavy, light)]
    assert rows[0][0].distance > 0
    assert [row.distance for row in rows[0]] == [row.distance for row in rows[1]]
    assert light.formulations.compare_inverse_dynamics(*np.zeros((3, 3)), methods=["kane"]).agrees


def scaled(body, factor):
    return replace(body, mass=None if body.mass is None else body.mass * factor,
                   inertia=np.asarray(body.inertia) * factor)


def test_comparison_says_which_method_does_not_exist():
    arm = cy.load("planar2r")
    with pytest.raises(ConventionError, match="no method 'kan': did you mean 'kane'"):
        arm.formulations.compare_inverse_dynamics(*np.zeros((3, 2)), methods=["waters", "kan"])
    assert [row.method for row in arm.formulations.compare_inverse_dynamics(*np.zeros((3, 2)),
                                                                            methods="kane").rows] == ["kane"]
    assert arm.formulations.compare_inverse_dynamics(*np.zeros((3, 2)), methods=[]).agrees


@pytest.mark.spec("S1-50")
def test_every_method_of_forward_dynamics_behind_one_name():
    arm = mechanism(random_chain("RRPR", 3))
    q, v, a = np.random.default_rng(1).normal(size=(3, 4))
    tau = arm.inverse_dynamics(q, v, a)
    for method in FORWARD:  # their plain texts; each is compiled in its own tests
        np.testing.assert_allclose(
            arm.forward_dynamics.using(method).reference(q, v, tau), a, rtol=0, atol=1e-10, err_msg=method)
    M = arm.inertia_matrix(q)
    for method in INERTIA:
        np.testing.assert_allclose(arm.inertia_matrix.using(method).reference(q), M, rtol=0, atol=1e-11, err_msg=method)


def test_reactions_hold_what_the_joints_carry():
    """A hanging chain of two bodies: the upper joint carries both weights, the lower one its own."""
    along = np.eye(4)
    along[0, 3] = 0.5
    arm = cy.Mechanism.of("two", [Body("base"), Body("a", 2.0), Body("b", 3.0, (0.1, 0.0, 0.0))],
                          [Joint("one", "base", "a", Revolute()), Joint("two", "a", "b", Revolute(), placement=along)])
    still = np.zeros(2)
    wrenches = arm.joint_reactions(still, still, still)
    np.testing.assert_allclose(wrenches[:, 2], [5.0 * 9.81, 3.0 * 9.81], rtol=1e-14)
    np.testing.assert_allclose(wrenches[1, 3:], [0.0, -0.1 * 3.0 * 9.81, 0.0], atol=1e-14)
    np.testing.assert_allclose(wrenches[0, 3:], [0.0, -0.6 * 3.0 * 9.81, 0.0], atol=1e-13)


@pytest.mark.parametrize("axes", ["body", "world"])
def test_reactions_of_wrenches_and_a_moving_base_are_the_forces_along_the_joints(axes):
    arm = mechanism(random_tree(4))
    q, v, a = state_here(arm, 4, states=2)
    random = np.random.default_rng(6)
    inputs = (*random.normal(size=(2, 2, 6)), random.normal(size=(2, 3)), random.normal(size=(2, 6)))
    options = {"wrenches": ["frame3", "frame7"], "axes": axes, "base_motion": True}
    tau = arm.inverse_dynamics.with_inputs(**options)(q, v, a, *inputs)
    wrenches = arm.joint_reactions.with_inputs(**options)(q, v, a, *inputs)
    moving = [(joint, place) for joint, place in zip(arm.joints, arm.tree.v_slices, strict=True) if joint.motion.nv]
    for k, (joint, place) in enumerate(moving):
        if isinstance(joint.motion, (Revolute, Prismatic, Helical, Spherical, Floating)):
            along = wrenches[:, k] @ joint.motion.subspace(None)
            np.testing.assert_allclose(along, tau[:, place], rtol=0, atol=1e-12 * np.abs(tau).max())


def test_a_pushed_body_at_rest_gives_the_push_to_its_joint():
    arm = cy.Mechanism.of("one", [Body("base"), Body("a", 2.0)], [Joint("one", "base", "a", Revolute())],
                          gravity=(0.0, 0.0, 0.0))
    pushed = arm.joint_reactions.with_inputs(wrenches=["a"])
    np.testing.assert_array_equal(pushed([0.3], [0.0], [0.0], np.arange(6.0))[0], -np.arange(6.0))
    with pytest.raises(ModelError, match="no frame or body 'b'"):
        arm.joint_reactions.with_inputs(wrenches=["b"])


def test_an_ill_conditioned_arm_still_closes():
    """Masses over six decades."""
    rows = [(0.0, 0.0, 0.4, 0.7)] * 6
    masses = [10.0 ** (3 - k) for k in range(6)]
    arm = cy.Mechanism.from_dh(rows, convention="standard", masses=masses, centers=np.full((6, 3), 0.05),
                               inertias=[m * 0.01 * np.diag([1.0, 1.2, 0.9]) for m in masses])
    q, v, a = np.random.default_rng(2).normal(size=(3, 6))
    again = arm.inverse_dynamics(q, v, arm.forward_dynamics(q, v, arm.inverse_dynamics(q, v, a)))
    np.testing.assert_allclose(again, arm.inverse_dynamics(q, v, a), rtol=0, atol=1e-12 * np.abs(again).max())
    assert 1.0 < arm.formulations.inertia_condition(q) < np.linalg.cond(arm.inertia_matrix(q))
