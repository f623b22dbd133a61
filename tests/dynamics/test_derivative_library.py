"""The library of partial derivatives with forces, asked of a mechanism (S1-111), and the sums over augmented links that
its proofs are made of (S1-119)."""

from itertools import product

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import composite_bodies
from cayley.dynamics.linearised.nominal import nominal
from cayley.dynamics.linearised.partials import PartialDerivatives
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import SignatureError, UnsupportedError
from dynamics.chains import random_chain, random_state
from dynamics.moment_sums import moment_sums
from dynamics.test_linearised import quantities

PATTERNS = ("RRRR", "RPRR", "PRPR")
STEP = 1e-30j


def close(ours, true, tolerance):
    np.testing.assert_allclose(ours, true, rtol=0, atol=tolerance * max(1.0, np.abs(true).max(initial=0.0)))


def series_rotation(A, axis, q):
    """A exp(q axis~) for q = (q0, q1, q2), coefficients of 1, t, t^2."""
    c, s = np.cos(q[0]), np.sin(q[0])
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    R = np.eye(3) + s * K + (1 - c) * K @ K
    first = R @ K  # d/dq
    return [A @ R, A @ first * q[1], A @ (first * q[2] + first @ K * q[1] ** 2 / 2)]


def times(a, b):
    """The product of two series."""
    return [a[0] @ b[0], a[0] @ b[1] + a[1] @ b[0], a[0] @ b[2] + a[1] @ b[1] + a[2] @ b[0]]


def moved(tree, q, qd, qdd):
    """Rotation and origin of every link in the root, as series in time to the second order."""
    R, p, found = [np.eye(3), 0 * np.eye(3), 0 * np.eye(3)], [np.zeros(3)] * 3, []
    for k, joint in enumerate(tree.joints):
        own = (q[k], qd[k], qdd[k] / 2)
        axis, A, offset = np.array(joint.motion.axis), joint.placement[:3, :3], joint.placement[:3, 3]
        way = [offset + 0 * q[k], 0 * offset, 0 * offset]
        if joint.motion.word == "prismatic":
            way = [offset + A @ axis * own[0], A @ axis * own[1], A @ axis * own[2]]
            turn = [A, 0 * A, 0 * A]
        else:
            turn = series_rotation(A, axis, own)
        p = [a + b for a, b in zip(p, times(R, way), strict=True)]
        R = times(R, turn)
        found.append((R, p))
    return found


def particles(body):
    """Six point masses with the mass, centre and inertia of a body."""
    J = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia  # second moments about the centre
    values, axes = np.linalg.eigh(J)
    reach = np.sqrt(np.maximum(values, 0.0) / (2 * body.mass / 6))
    return [(body.mass / 6, body.center + side * reach[k] * axes[:, k]) for k in range(3) for side in (1, -1)]


def needed(tree, q, qd, qdd):
    """f_i and eta_i in the axes of link i from accelerations of particles."""
    chain = moved(tree, q, qd, qdd)
    loads = []
    for body, (R, p) in zip(tree.bodies[1:], chain, strict=True):
        for mass, point in particles(body):
            at = p[0] + R[0] @ point
            loads.append((body.name, at, mass * (2 * (p[2] + R[2] @ point) - tree.gravity)))
    names = [body.name for body in tree.bodies[1:]]
    found = []
    for i, (R, p) in enumerate(chain):
        mine = [(at, f) for name, at, f in loads if names.index(name) >= i]
        found.append((R[0].T @ sum(f for _, f in mine), R[0].T @ sum(np.cross(at - p[0], f) for at, f in mine)))
    return found


@pytest.mark.spec("S1-111")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_forces_and_moments_beside_particles(pattern):
    """Complex steps of sums over particles, which share nothing with the library."""
    tree = random_chain(pattern, 11)
    state = random_state(tree, 11)
    library = cy.Mechanism(tree).formulations.partial_derivatives(*state)
    for i, (f, eta) in enumerate(needed(tree, *state)):
        R = library.motion.links[i].R
        close(R.T @ library.motion.carried[i].F, f, 1e-13)
        close(R.T @ library.motion.carried[i].n, eta, 1e-13)
    for place, j in product(range(3), range(len(pattern))):
        shifted = [np.asarray(x, dtype=complex) for x in state]
        shifted[place][j] += STEP
        for i, (f, eta) in enumerate(needed(tree, *shifted)):
            close(library.force(i, j)[place], f.imag / STEP.imag, 1e-14)
            close(library.moment(i, j)[place], eta.imag / STEP.imag, 1e-14)


@pytest.mark.spec("S1-111")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_row_of_the_library_beside_the_complex_step(pattern):
    """All quantities of Appendix C with joints of both kinds before, at and after a link; f_i as m_i s_0i'' + U_i''."""
    tree = random_chain(pattern, 12)
    chain, state = serial_chain(tree), random_state(tree, 12)
    library, n = cy.Mechanism(tree).formulations.partial_derivatives(*state), len(pattern)
    assert isinstance(library, PartialDerivatives)
    for place, j in product(range(3), range(n)):
        shifted = [np.asarray(x, dtype=complex) for x in state]
        shifted[place][j] += STEP
        found = quantities(chain, *shifted)
        masses = [part.m for part in library.motion.carried]
        found["force"] = [m * s + U for m, s, U in zip(masses, found["origin"], found["first_moment"], strict=True)]
        for (name, values), i in product(found.items(), range(n)):
            method, _, rate = name.partition(" ")
            ours = getattr(library, method)(i, j)
            close((ours[int(rate)] if rate else ours)[place], values[i].imag / STEP.imag, 1e-14)
    if "P" in pattern[1:]:  # the rows before a prismatic joint change with it
        i = pattern.index("P", 1) - 1
        assert np.abs(library.augmented_torque(i, i + 1).by_q).max() > 1e-3
        assert np.abs(library.way_to_next(i, i + 1).by_qdd).max() > 1e-3


@pytest.mark.spec("S1-111")
@pytest.mark.parametrize("pattern", ["R", "P", "RP", "PR", "PRPR"])
def test_rows_of_prismatic_joints_are_rows_of_the_sensitivity_matrices(pattern):
    tree = random_chain(pattern, 13)
    arm, state, n = cy.Mechanism(tree), random_state(tree, 13), len(pattern)
    library = arm.formulations.partial_derivatives(*state)
    D, V, P = arm.linearize(*state)
    for i, j in product(range(n), range(n)):
        row = library.force(i, j) if pattern[i] == "P" else library.moment(i, j)
        close([x[2] for x in row], [P[i, j], V[i, j], D[i, j]], 1e-12)


@pytest.mark.spec("S1-111")
def test_what_the_library_is_not_for():
    arm = cy.load("planar2r")
    with pytest.raises(SignatureError, match=r"one state and acceleration, q, qd and qdd \(2\), not \(3, 2\)"):
        arm.formulations.partial_derivatives(np.zeros((3, 2)), np.zeros(2), np.zeros(2))
    library = arm.formulations.partial_derivatives(*np.ones((3, 2)))
    for i, j in ((0, -1), (-1, 0), (2, 0), (0, 2), (0.5, 0)):  # none is counted from the end
        for asked in (library.force, library.origin, library.rotation):
            with pytest.raises(SignatureError, match="they are numbered from 0 to 1"):
                asked(i, j)
    with pytest.raises(UnsupportedError, match="four_bar"):
        cy.load("four_bar").formulations.partial_derivatives(*np.zeros((3, 3)))
    with pytest.raises(UnsupportedError, match="panda_finger_joint2"):
        cy.load("panda_hand").formulations.partial_derivatives(*np.zeros((3, 9)))
    with pytest.raises(UnsupportedError, match="floating"):
        floating = cy.load("planar2r", floating_base=True).variants.with_missing_masses(1.0)
        floating.formulations.partial_derivatives(*np.zeros((3, 8)))


@pytest.mark.spec("S1-119")
@pytest.mark.parametrize("pattern", ["R", "P", "RRRR", "RPRR", "PRPR", "PPRRP"])
def test_sums_over_augmented_links(pattern):
    """(C.16), (C.17) and the sum of L_i beside the definitions over links, and the recursion (6.3.6) beside them."""
    tree = random_chain(pattern, 14)
    chain, (q, qd, qdd) = serial_chain(tree), random_state(tree, 14)
    motion, recursion = nominal(chain, q, qd, qdd), composite_bodies(chain, q)
    for i, found in enumerate(moment_sums(chain, q, qd)):
        R, whole = motion.links[i].R, motion.carried[i]
        for ours, true in ((R @ found.E @ R.T, whole.E), (R @ found.U, whole.U), (R @ found.L @ R.T, whole.L),
                           (found.E, recursion[i].inertia), (found.U, recursion[i].first)):
            close(ours, true, 1e-13)
