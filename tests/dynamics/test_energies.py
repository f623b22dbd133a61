"""Energies and momentum of trees of every joint kind."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.compiler.kernel import kernel
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.rigid_links import energies
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.rigid_links.transforms import pseudo_inertia, transform_derivatives
from cayley.geometry.tensors.cross import hat
from cayley.mechanism import Mechanism
from dynamics.chains import random_chain, random_state
from dynamics.mechanisms import near, random_mechanism
from model.random_trees import KINDS, random_configuration, random_parts

SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
def test_energies_and_momentum_agree_with_pinocchio(seed):
    _, links, (q, v, _), there = random_mechanism(seed)
    model, data, place, speed = there.model, there.model.createData(), there.q(q), there.velocity_map(q) @ v
    near(energies.kinetic_energy(links, q, v), pin.computeKineticEnergy(model, data, place, speed))
    near(energies.potential_energy(links, q), pin.computePotentialEnergy(model, data, place))
    near(energies.total_energy(links, q, v), pin.computeMechanicalEnergy(model, data, place, speed))
    center = pin.centerOfMass(model, data, place)
    near(energies.center_of_mass(links, q), center)
    near(energies.total_mass(links), pin.computeTotalMass(model))
    near(energies.centroidal_momentum(links, q, v),
         pin.computeCentroidalMomentum(model, data, place, speed).vector, 1e-11)
    p, l = np.split(energies.momentum(links, q, v), 2)
    near(p, data.hg.linear, 1e-11)
    near(l, data.hg.angular + np.cross(center, data.hg.linear), 1e-11)


def moving_links(links, q, qd):
    return zip(links.links, energies.link_poses(links, q), energies.link_twists(links, q, qd), strict=True)


def kinetic_energy_4x4(links, q, qd):
    """K by the rates of the homogeneous transforms and the pseudo-inertias."""
    total = np.float64(0.0)
    for link, pose, (u, w) in moving_links(links, q, qd):
        rate = pose.matrix @ np.concatenate([np.concatenate([hat(w), np.stack([u], axis=1)], axis=1), np.zeros((1, 4))])
        total = total + np.trace(rate @ pseudo_inertia(link.moments) @ rate.T) / 2      # (5.2.4), (3.16)
    return total


def kinetic_energy_3x3(links, q, qd):
    """K by the rates of the rotations and of the origins."""
    total = np.float64(0.0)
    for link, (W, _), (u, w) in moving_links(links, q, qd):
        m, n, J = link.moments
        dW = W @ hat(w)
        ds = W @ u
        total = total + (m * ds @ ds + 2 * (dW @ n) @ ds + np.trace(dW @ J @ dW.T)) / 2    # (A.3)
    return total


def potential_energy_4x4(links, q):
    """P by the homogeneous transforms and the pseudo-inertias."""
    g = np.array([*links.gravity, 0.0])
    total = np.float64(0.0)
    for link, pose in zip(links.links, energies.link_poses(links, q), strict=True):
        total = total - g @ (pose.matrix @ pseudo_inertia(link.moments)[:, 3])          # (5.2.5b), (3.26)
    return total


@pytest.mark.spec("S1-27", "S3-31")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_forms_of_the_sources_are_equal(seed):
    """(5.2.4) equals (A.3); 2 K = v.M v; L = K - P."""
    _, links, (q, v, _), _ = random_mechanism(seed)
    K, P = energies.kinetic_energy(links, q, v), energies.potential_energy(links, q)
    near(kinetic_energy_4x4(links, q, v), K), near(kinetic_energy_3x3(links, q, v), K)
    near(potential_energy_4x4(links, q), P, 1e-11)
    near(v @ inertia_matrix(links, q) @ v / 2, K)
    near(energies.generalized_momentum(links, q, v), inertia_matrix(links, q) @ v)
    near(energies.lagrangian(links, q, v), K - P, 1e-11)


@pytest.mark.spec("S1-27")
@pytest.mark.parametrize("pattern", ["RRR", "RPR", "PRRP"])
def test_double_sum_of_traces(pattern):
    """(5.2.4) with the derivatives of the transforms, as printed."""
    tree = random_chain(pattern, 4)
    chain, (q, qd, _) = serial_chain(tree), random_state(tree, 4)
    total = 0.0
    for link, dW in zip(chain.links, transform_derivatives(chain, q).first, strict=True):
        for j in range(len(qd)):
            for k in range(len(qd)):
                total += np.trace(dW[j] @ pseudo_inertia(link.moments) @ dW[k].T) * qd[j] * qd[k] / 2
    near(energies.kinetic_energy(chain, q, qd), total)


@pytest.mark.spec("S1-27")
@pytest.mark.parametrize("seed", SEEDS)
def test_power_balance(seed):
    """v.tau = d(K + P)/dt, along a motion with the accelerations vd."""
    tree, links, (q, v, vd), _ = random_mechanism(seed)
    tau = newton_euler.inverse_dynamics(links, q, v, vd)
    h = 1e-5

    def energy(t):
        return energies.total_energy(links, tree.integrate.reference(q, v * t + vd * t * t / 2), v + vd * t)

    rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    assert rate == pytest.approx(v @ tau, rel=1e-6, abs=1e-6 * np.abs(v * tau).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_of_a_free_mechanism_stays(seed):
    """A mechanism that hangs on the root by a floating joint without force keeps its momentum, whatever its inner
    forces.
    """
    rng = np.random.default_rng(seed)
    bodies, joints, frames = random_parts(rng, ["floating", *rng.permutation(KINDS)[:4]])
    joints = [
        j if j.parent != "root" or j.name == "joint0" else type(j)(j.name, "body0", j.child, j.motion, j.placement)
        for j in joints]
    tree = Mechanism.of("free", bodies, joints, frames=frames, gravity=(0, 0, 0))
    links = links_of(tree.tree)
    q, v = random_configuration(rng, tree), rng.normal(size=tree.nv)
    M, rest = inertia_matrix(links, q), newton_euler.inverse_dynamics(links, q, v, np.zeros(tree.nv))
    inner = np.concatenate([np.zeros(6), rng.normal(size=tree.nv - 6)])
    vd = np.linalg.solve(M, inner - rest)
    h = 1e-4
    later, before = (energies.momentum(links, tree.integrate.reference(q, v * t + vd * t * t / 2), v + vd * t)
                     for t in (h, -h))
    assert np.abs(later - before).max() / (2 * h) < 1e-5 * (1 + np.abs(later).max())


@pytest.mark.spec("S3-31")
def test_energies_of_the_mixed_arm():
    """W3-08, signs as in E3-19."""
    links = links_of(cy.load("s3_w08").tree)
    q, v = np.array([[0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2]])
    assert energies.kinetic_energy(links, q, v) == pytest.approx(0.8055062549, abs=1e-10)
    assert energies.potential_energy(links, q) == pytest.approx(30.6960754414, abs=1e-10)


def test_compiled():
    tree, links, (q, v, _), _ = random_mechanism(1)
    for text in (energies.kinetic_energy, kinetic_energy_4x4, energies.lagrangian):
        compiled = kernel(f"({tree.nq}),({tree.nv})->()")(lambda q, v, text=text: text(links, q, v))
        near(compiled(np.stack([q, q]), np.stack([v, -v])), np.array([text(links, q, v), text(links, q, -v)]), 1e-13)
