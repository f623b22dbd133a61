"""Augmented and generalized links against direct sums over links and particles, and the equivalences of the methods."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from cayley.dynamics.closed_form import gravity_forces
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import composite_bodies
from cayley.dynamics.inverse import (
    augmented_bodies,
    augmented_links,
    base_frame_newton_euler,
    luh_walker_paul,
    tensor_newton_euler,
)
from cayley.dynamics.inverse.augmented_bodies import LinkPayload
from cayley.dynamics.inverse.passes import FREE, STILL
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.model.catalogue import load_robot
from dynamics.chains import EVERY_SHORT_PATTERN, random_chain, random_state
from dynamics.particles import along, body_poses, derivatives, exact, particle_forces
from dynamics.test_newton_euler_methods import METHODS, check_all, close

PATTERNS = ("R", "P", "RP", "PR", "RRPRRR", "PRRPRR", "PPP", "RRRRRR")


def skew(v):
    return np.cross(np.eye(3), v)


def chain_and_state(pattern, seed=1):
    tree = random_chain(pattern, seed)
    return tree, serial_chain(tree), random_state(tree, seed + 1)


# Moments


@pytest.mark.spec("S1-38")
def test_constants_of_the_catalogue():
    found = augmented_bodies.augmented_constants(serial_chain(load_robot("s1_f4")))
    assert all(link.is_rigid for link in found)
    close([link.mass for link in found], [33.45, 23.45, 6.05, 1.25, 0.43, 0.09])
    close([link.first[0] for link in found], [(0, 3.5175, 1), (3.7847, 0.1044, -0.2784), (0.025, 0.2015, 0.0672),
                                              (0, 0, -0.01558), (0, 0, 0.0034), (0, 0, 0.00288)])
    expected = [(0.175, 0.702625, 0.325, -0.01, -0.02, 0.01),
                (1.6656026, 0.0731264, 0.0619544, -0.0029008, 0.0010688, -0.0066704),
                (0.00875, 0.316395, 0.0051908, 0.00875, 0, -0.005704)]
    places = ([0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])
    close([link.second[0][places] for link in found[:3]], expected)


@pytest.mark.spec("S1-38")
@pytest.mark.parametrize("pattern", [*EVERY_SHORT_PATTERN, "RRPRRR"])
def test_augmented_links_are_links_with_a_particle(pattern):
    """By the definitions (5.3.9)-(5.3.11), (5.3.28), with and without a payload; constant exactly where the next joint
    turns.
    """
    _, chain, (q, _, _) = chain_and_state(pattern)
    for payload in (None, LinkPayload(1.3, np.array([0.2, -0.4, 0.1]))):
        found = augmented_bodies.augmented_links(chain, q, payload)
        constants = augmented_bodies.augmented_constants(chain, payload)
        for i, link in enumerate(chain.links):
            m, r, I_c = link.moments.mass, link.moments.center, link.moments.inertia_about_center
            last = i + 1 == len(chain.links)
            s = (np.zeros(3) if payload is None else payload.at) if last else chain.links[i + 1].offset(q)
            beyond = sum(other.moments.mass for other in chain.links[i + 1:]) + (payload.mass if payload else 0)
            K = I_c - m * skew(r) @ skew(r) - beyond * skew(s) @ skew(s)
            mb, u, Kh = found.links[i].moments
            close(mb, m + beyond)
            close(u, m * r + beyond * s)
            close(found.links[i].moments.inertia, K)
            close(Kh, np.trace(K) / 2 * np.eye(3) - K)
            assert np.linalg.eigvalsh(Kh).min() > -1e-14
            assert constants[i].is_rigid == (last or chain.links[i + 1].is_revolute)


def first_moments(chain, q):
    """U of the links from each to the last, by Lemma 5.1."""
    no_slides = [np.zeros(3)] * len(chain.links)
    return first_moment_accelerations(chain, q, [np.eye(3)] * len(chain.links), no_slides)


def first_moment_accelerations(chain, q, tensors, slides):
    """Udd, the second derivatives of U in the inertial frame, by Lemma 5.2."""
    found, beyond = [], np.zeros(3)
    for link, Om, zeta in reversed(list(zip(augmented_bodies.augmented_links(chain, q).links, tensors, slides,
                                            strict=True))):
        found.append(Om @ link.moments.first + beyond)  # (5.3.40)
        beyond = link.inwards(found[-1] + link.moments.mass * zeta, q)
    return found[::-1]


@pytest.mark.spec("S1-38")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_generalized_links_are_sums_over_links(pattern):
    tree, chain, (q, _, _) = chain_and_state(pattern, 3)
    poses = [np.array(pose, dtype=float) for pose in body_poses(tree, exact(q), exact(np.eye(4)))[1:]]
    by_lemma = first_moments(chain, q)
    for i, whole in enumerate(composite_bodies(chain, q)):
        U, E = np.zeros(3), np.zeros((3, 3))
        for body, pose in zip(tree.bodies[1 + i:], poses[i:], strict=True):
            R = poses[i][:3, :3].T @ pose[:3, :3]
            r = poses[i][:3, :3].T @ (pose[:3, :3] @ body.center + pose[:3, 3] - poses[i][:3, 3])
            U += body.mass * r
            E += R @ body.inertia @ R.T - body.mass * skew(r) @ skew(r)
        close(whole.mass, sum(body.mass for body in tree.bodies[1 + i:]))
        close(whole.first, U)
        close(by_lemma[i], U)
        close(whole.inertia, E)


@pytest.mark.spec("S1-38")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_recursion_of_the_inertia_of_generalized_links(pattern):
    """Spec R-32: E from that of the next generalized link."""
    _, chain, (q, _, _) = chain_and_state(pattern, 4)
    found = composite_bodies(chain, q)
    for i, link in enumerate(chain.links[1:]):
        A, s, after = link.rotation(q), link.offset(q), found[i + 1]
        U, E = A @ after.first, A @ after.inertia @ A.T
        moved = E + 2 * (U @ s) * np.eye(3) - np.outer(s, U) - np.outer(
            U, s) + after.mass * (s @ s * np.eye(3) - np.outer(s, s))
        close(found[i].inertia, moved + chain.links[i].moments.inertia)


@pytest.mark.spec("S1-38")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_accelerations_of_first_moments(pattern):
    """Lemma 5.2 against the second derivatives of the sums themselves."""
    tree, chain, values = chain_and_state(pattern, 5)
    _, states, sums = augmented_links.passes(chain, *values, STILL, FREE, None)
    found = first_moment_accelerations(chain, values[0], [state.Om for state in states],
                                       [state.zeta for state in states])

    def moments(t):
        poses = body_poses(tree, along(*values, t), exact(np.eye(4)))[1:]
        bodies = zip(tree.bodies[1:], poses, strict=True)
        centers = [(mpmath.mpf(body.mass), (pose @ exact([*body.center, 1]))[:3]) for body, pose in bodies]
        return np.array([sum(m * (c - poses[i][:3, 3]) for m, c in centers[i:]) for i in range(len(poses))])

    U, _, Udd = derivatives(moments)
    axes = [state.R for state in base_frame_newton_euler.movements(chain, *values)]
    close([R @ x for R, x in zip(axes, found, strict=True)], Udd)
    close([own.Udd for own in sums], found)
    close([R @ x for R, x in zip(axes, first_moments(chain, values[0]), strict=True)], U)


# Torques


@pytest.mark.spec("S1-40")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_torque_of_an_augmented_link(pattern):
    _, chain, values = chain_and_state(pattern, 6)
    made, states, sums = augmented_links.passes(chain, *values, STILL, FREE, None)
    q = values[0]
    for i, (link, own, state) in enumerate(zip(chain.links, made.links, states, strict=True)):
        m, r, I_c = link.moments.mass, link.moments.center, link.moments.inertia_about_center
        M_c = I_c @ state.wd + np.cross(state.w, I_c @ state.w)
        torque = M_c + m * np.cross(r, state.Om @ r)
        if i + 1 < len(chain.links):
            after, zeta = made.links[i + 1], states[i + 1].zeta
            s, beyond = after.offset(q), after.moments.mass
            moving = state.Om @ s + after.inwards(zeta, q)  # (5.3.31)
            # (5.3.36)
            close(state.mu + beyond * np.cross(s, after.inwards(zeta, q)), torque + beyond * np.cross(s, moving))
            torque = torque + beyond * np.cross(s, state.Om @ s)  # (5.3.18)
        K = own.moments.inertia
        close(K @ state.wd + np.cross(state.w, K @ state.w), torque)  # (5.3.20)
        close(state.mu, torque)
    close([own.eta for own in sums], luh_walker_paul.reactions(chain, *values)[:, 3:])
    close(augmented_links.reactions(chain, *values), luh_walker_paul.reactions(chain, *values))


@pytest.mark.spec("S1-41")
@pytest.mark.parametrize("pattern", ["R", "RR", "RRR", "RRRRRR"])
def test_lagrange_and_kane_lead_to_the_same_moments(pattern):
    """(5.4.12) and (5.4.19) as sums, and (5.4.13) as a recursion: v_i = h_i = eta_i in base axes, with E-23."""
    _, chain, values = chain_and_state(pattern, 7)
    states = base_frame_newton_euler.movements(chain, *values)
    made, own_states, sums = augmented_links.passes(chain, *values, STILL, FREE, None)
    for i, state in enumerate(states):
        v, h = np.zeros(3), np.zeros(3)
        for link, other in zip(chain.links[i:], states[i:], strict=True):
            I_o = other.R @ link.moments.inertia @ other.R.T
            M_o = I_o @ other.wd + np.cross(other.w, I_o @ other.w)
            v += np.cross(other.p - state.p, other.F) + link.moments.mass * np.cross(other.s, other.vd) + M_o
            h += other.N + np.cross(other.p + other.s - state.p, other.F)
        eta = state.R @ sums[i].eta
        close(v, eta)
        close(h, eta)
        stepped = own_states[i].mu + np.cross(made.links[i].moments.first, own_states[i].sdd)
        if i + 1 < len(states):
            after = made.links[i + 1]
            stepped = stepped + np.cross(after.offset(values[0]), after.inwards(sums[i + 1].Udd, values[0]))
            stepped = stepped + after.inwards(sums[i + 1].eta, values[0])
        close(stepped, sums[i].eta)


def rotations(tree, q):
    return np.array([pose[:3, :3] for pose in body_poses(tree, q, exact(np.eye(4)))[1:]])


@pytest.mark.spec("S1-42")
@pytest.mark.parametrize("pattern", ["R", "RRR", "RPRPR", "RRRRRR"])
def test_moments_are_traces_of_rotations(pattern):
    """(B.1): z_i . M_oj = tr(dW_j/dq_i J_oj W_j''^T) for revolute joints i <= j."""
    tree, chain, values = chain_and_state(pattern, 8)
    states = base_frame_newton_euler.movements(chain, *values)
    _, _, Wdd = derivatives(lambda t: rotations(tree, along(*values, t)))
    for i, link in enumerate(chain.links):
        if link.is_revolute:
            _, slope, _ = derivatives(
                lambda t, i=i: rotations(tree,
                                         exact(values[0]) + t * exact(np.eye(len(chain.links))[i])))
            for j in range(i, len(chain.links)):
                other, moments = states[j], chain.links[j].moments
                close(slope[j], skew(states[i].z) @ other.R)  # (B.3)
                I_o = other.R @ moments.inertia @ other.R.T
                M_o = I_o @ other.wd + np.cross(other.w, I_o @ other.w)
                close(np.trace(slope[j] @ moments.second @ Wdd[j].T), states[i].z @ M_o)


# Gravity as a term of its own


@pytest.mark.spec("S1-45")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_explicit_gravity(pattern):
    tree, chain, (q, qd, qdd) = chain_and_state(pattern, 9)
    explicit = gravity_forces(chain, q)
    close(explicit, particle_forces(tree, q, 0 * q, 0 * q))
    afloat = replace(chain, gravity=np.zeros(3))
    assert not gravity_forces(afloat, q).any()
    for module in METHODS.values():
        close(module.inverse_dynamics(afloat, q, qd, qdd) + explicit, module.inverse_dynamics(chain, q, qd, qdd), 1e-12)
    check_all(chain, (q, 0 * q, 0 * q), explicit, 1e-12)


@pytest.mark.spec("S1-45")
def test_elimination_of_the_potential():
    """(5.4.5): m g . dW_i/dq_i r_ij = tr(m ds_0j/dq_i g^T) + tr(m dW_j/dq_i r_jj g^T), whence a base that accelerates
    by -g.
    """
    tree, chain, (q, _, _) = chain_and_state("RRRR", 10)
    states = base_frame_newton_euler.movements(chain, q, 0 * q, 0 * q)
    for i, state in enumerate(states):
        _, origins, _ = derivatives(lambda t, i=i: np.array([pose[:3, 3] for pose in body_poses(
            tree, exact(q) + t * exact(np.eye(4)[i]), exact(np.eye(4)))[1:]]))
        _, slope, _ = derivatives(lambda t, i=i: rotations(tree, exact(q) + t * exact(np.eye(4)[i])))
        for j in range(i, 4):
            body, other, g = tree.bodies[j + 1], states[j], tree.gravity
            r_ij = state.R.T @ (other.p + other.s - state.p)
            left = body.mass * g @ slope[i] @ r_ij
            close(left, body.mass * (np.trace(np.outer(origins[j], g)) + np.trace(np.outer(slope[j] @ body.center, g))))


def test_tensor_torque_is_the_vector_torque():
    random = np.random.default_rng(11)
    w, wd, half = random.normal(size=3), random.normal(size=3), random.normal(size=(3, 3))
    J = half @ half.T
    I = np.trace(J) * np.eye(3) - J
    Om = skew(wd) + skew(w) @ skew(w)
    close(tensor_newton_euler.euler_torque(Om, J), I @ wd + np.cross(w, I @ w))
