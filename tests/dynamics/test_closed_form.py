"""M vd + V + G = tau for trees of every joint kind."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.compiler.kernel import kernel
from cayley.compiler.solving.linear import ldl_solve
from cayley.dynamics import closed_form
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse import center_jacobians, newton_euler
from cayley.dynamics.rigid_links import energies
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from dynamics.chains import random_chain, random_state
from dynamics.mechanisms import near, random_mechanism

EVERY_KIND = pytest.mark.parametrize("seed", range(5))


def inverse_dynamics(links, q, qd, qdd):
    """M qdd + V + G, (3.59)."""
    bias = closed_form.velocity_forces(links, q, qd) + closed_form.gravity_forces(links, q)
    return inertia_matrix(links, q) @ qdd + bias


def forward_dynamics(links, q, qd, tau):
    """Accelerations that the forces tau give, (3.59)."""
    bias = closed_form.velocity_forces(links, q, qd) + closed_form.gravity_forces(links, q)
    return ldl_solve(inertia_matrix(links, q), tau - bias)


@EVERY_KIND
def test_agrees_with_pinocchio(seed):
    _, links, (q, v, vd), there = random_mechanism(seed)
    model, data, place, T = there.model, there.model.createData(), there.q(q), there.velocity_map(q)
    rate = there.velocity_map_rate(q, v)
    M = np.triu(pin.crba(model, data, place))
    M = M + np.triu(M, 1).T
    near(inertia_matrix(links, q), T.T @ M @ T)
    near(closed_form.gravity_forces(links, q), T.T @ pin.computeGeneralizedGravity(model, data, place))
    bias = T.T @ (pin.nonLinearEffects(model, data, place, T @ v) + M @ rate @ v)
    near(closed_form.velocity_forces(links, q, v) + closed_form.gravity_forces(links, q), bias)
    near(inverse_dynamics(links, q, v, vd), T.T @ M @ T @ vd + bias)
    C = pin.computeCoriolisMatrix(model, model.createData(), place, T @ v)
    near(closed_form.coriolis_matrix(links, q, v) @ v, T.T @ (C @ T + M @ rate) @ v, 1e-11)


@pytest.mark.spec("S2-57")
@EVERY_KIND
def test_direct_and_inverse_dynamics_undo_each_other(seed):
    _, links, (q, v, vd), _ = random_mechanism(seed)
    tau = inverse_dynamics(links, q, v, vd)
    near(tau, newton_euler.inverse_dynamics(links, q, v, vd))
    near(forward_dynamics(links, q, v, tau), vd, 1e-9)
    M = inertia_matrix(links, q)
    near(M, M.T, 1e-13)
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.spec("S2-57")
@pytest.mark.parametrize(("fixture", "state", "M", "V", "G", "tau"), [
    ("s2_we19", [[0.3, 0.7], [0.5, -1.2], [1, 2]], [[3.4044772914, 0.7789053124], [0.7789053124, 0.32]], [
        -0.092767347, 0.0966326531], [26.6098467681, 3.1802193723], [31.4793673373, 4.6957573378]),
    ("s2_we20", [[0.4, 0.9, 0.5], [0.7, -0.6, 0.3], [0.2, 0.5, -0.4]], [[
        0.1809627682, -0.0397082481, -0.1597986896], [-0.0397082481, 0.155, 0], [-0.1597986896, 0, 1.2]], [
            0.1000157299, -0.1631906609, -0.2378392248], [0, -3.3494234088, 7.3175925465], [
                0.1802736353, -3.4430557194, 6.5677935838])])
def test_worked_examples(fixture, state, M, V, G, tau):
    links, (q, v, vd) = links_of(cy.load(fixture).tree), np.array(state)
    for found, wanted in [(inertia_matrix(links, q), M), (closed_form.velocity_forces(links, q, v), V),
                          (closed_form.gravity_forces(links, q), G), (inverse_dynamics(links, q, v,
                                                                                                   vd), tau),
                          (forward_dynamics(links, q, v, np.array(tau)), vd)]:
        assert np.abs(found - wanted).max() < 1e-8


@EVERY_KIND
def test_coriolis_matrix(seed):
    """V = C v; dM/dt - 2 C is skew: the joints do no work that is not kinetic energy."""
    tree, links, (q, v, _), _ = random_mechanism(seed)
    C = closed_form.coriolis_matrix(links, q, v)
    near(C @ v, closed_form.velocity_forces(links, q, v))
    h = 1e-4
    M = [inertia_matrix(links, tree.integrate.reference(q, v * t)) for t in (-2 * h, -h, h, 2 * h)]
    rate = (8 * (M[2] - M[1]) - (M[3] - M[0])) / (12 * h)
    near(rate, C + C.T, 1e-8)
    near(closed_form.coriolis_matrix(links, q, 2 * v), 2 * C, 1e-14)


@EVERY_KIND
def test_coriolis_matrix_is_that_of_the_levi_civita_connection(seed):
    """C(v) w - C(w) v = M [v, w], and the bracket of two velocities is zero but for turning in one's own axes and
    floating.
    """
    tree, links, (q, v, _), _ = random_mechanism(seed)
    w = np.random.default_rng(seed).normal(size=tree.nv)
    torsion = closed_form.coriolis_matrix(links, q, v) @ w - closed_form.coriolis_matrix(links, q, w) @ v
    bracket = np.zeros(tree.nv)
    for joint, own in zip(tree.joints, tree.tree.v_slices, strict=True):
        a, b = v[own], w[own]
        if joint.motion.word == "spherical":
            bracket[own] = np.cross(a, b)
        elif joint.motion.word == "floating":
            bracket[own] = np.concatenate([np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:]), np.cross(a[3:], b[3:])])
    near(torsion, inertia_matrix(links, q) @ bracket, 1e-11)


@pytest.mark.parametrize("pattern", ["RRR", "PRP", "RPRR", "RRPRRR"])
def test_coriolis_matrix_of_chains_is_christoffels(pattern):
    tree = random_chain(pattern, 3, frames="any")
    chain, (q, v, _) = serial_chain(tree), random_state(tree, 3)
    near(closed_form.coriolis_matrix(chain, q, v), center_jacobians.coriolis_matrix(chain, q, v))


@EVERY_KIND
def test_gravity_forces_are_the_gradient_of_the_potential(seed):
    tree, links, (q, v, _), _ = random_mechanism(seed)
    G, h = closed_form.gravity_forces(links, q), 1e-4
    near(G, newton_euler.inverse_dynamics(links, q, np.zeros(tree.nv), np.zeros(tree.nv)))
    P = [energies.potential_energy(links, tree.integrate.reference(q, v * t)) for t in (-2 * h, -h, h, 2 * h)]
    assert (8 * (P[2] - P[1]) - (P[3] - P[0])) / (12 * h) == pytest.approx(G @ v, rel=1e-7, abs=1e-7 * np.abs(G).max())


def test_gravity_forces_by_differentiation():
    tree = random_chain("RPRRP", 2)
    links, (q, _, _) = links_of(tree), random_state(tree, 2)
    P = kernel("(n)->()", inputs=["q"])(lambda q: energies.potential_energy(links, q))
    near(P.jacobian("q")(q), closed_form.gravity_forces(links, q), 1e-13)


@EVERY_KIND
def test_velocity_coefficients(seed):
    _, links, (q, v, _), _ = random_mechanism(seed)
    c = closed_form.velocity_coefficients(links, q)
    near(c, c.swapaxes(1, 2), 1e-15)
    near(c @ v @ v, closed_form.velocity_forces(links, q, v), 1e-11)


@EVERY_KIND
def test_passivity_and_time_scaling(seed):
    """v.(dM/dt - 2 C) v = 0; forces of velocities grow with the square of the speed."""
    tree, links, (q, v, _), _ = random_mechanism(seed)
    h = 1e-4
    K = [energies.kinetic_energy(links, tree.integrate.reference(q, v * t), v) for t in (-2 * h, -h, h, 2 * h)]
    rate = (8 * (K[2] - K[1]) - (K[3] - K[0])) / (12 * h)  # at constant v: v.dM/dt v / 2
    power = v @ closed_form.velocity_forces(links, q, v)
    assert rate == pytest.approx(power, rel=1e-6, abs=1e-8 * np.abs(K).max())
    near(closed_form.velocity_forces(links, q, 3 * v), 9 * closed_form.velocity_forces(links, q, v))


def test_compiled():
    tree, links, (q, v, _), _ = random_mechanism(2)
    n = tree.nv
    compiled = kernel(f"({tree.nq}),({n})->({n},{n})")(lambda q, v: closed_form.coriolis_matrix(links, q, v))
    near(compiled(q, v), closed_form.coriolis_matrix(links, q, v), 1e-13)
    arm = links_of(cy.load("planar2r").tree)
    forward = kernel("(n),(n),(n)->(n)")(lambda q, v, tau: forward_dynamics(arm, q, v, tau))
    states = np.random.default_rng(0).normal(size=(3, 6, 2))
    near(forward(*states), np.stack([forward_dynamics(arm, *state) for state in states.swapaxes(0, 1)]),
         1e-12)
