"""Lagrange's operator and Kane's equations on whole mechanisms, and how both lead to Algorithm 5.7, prismatic joints
included: term by term, beside derivatives in 60 digits, Algorithm 5.3 and Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.compiler.algebras.interpret import NUMPY
from cayley.dynamics.inverse import augmented_links, base_frame_newton_euler, luh_walker_paul
from cayley.dynamics.inverse.passes import FREE, STILL
from cayley.dynamics.mechanics.lagrange import lagrange_system
from cayley.dynamics.rigid_links.energies import link_poses, link_twists
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.errors import ConventionError, SingularityError, UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.parts import Body, Friction
from dynamics.chains import random_chain, random_state
from dynamics.mechanisms import random_mechanism
from dynamics.particles import along, body_poses, derivatives, exact

CHAINS = [("R", {}), ("P", {}), ("PRPR", {}), ("RPRR", {}), ("PRPR", {"frames": "any"})]


def near(found, wanted, tolerance=1e-12):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def skew(v):
    return np.cross(np.eye(3), v)


class Derived:
    """Of a chain along a motion, in the root's axes and in 60 digits: W_j and s_0j of all links, their second
    derivatives by time, and their derivatives by the coordinates."""

    def __init__(self, tree, state):
        units = np.eye(len(state[0]))

        def poses(q):
            return np.array(body_poses(tree, q, exact(np.eye(4)))[1:])

        T, _, Tdd = derivatives(lambda t: poses(along(*state, t)))
        slopes = np.array([derivatives(lambda t, e=e: poses(exact(state[0]) + t * exact(e)))[1] for e in units])
        self.W, self.s = T[:, :3, :3], T[:, :3, 3]
        self.Wdd, self.sdd = Tdd[:, :3, :3], Tdd[:, :3, 3]
        self.dW, self.ds = slopes[:, :, :3, :3], slopes[:, :, :3, 3]  # i, j


def terms_of(tree, d):
    """The four sums of (A.6) and that of (A.7), each (n)."""
    chain = serial_chain(tree)
    m, n, J = (np.array(x) for x in zip(*[link.moments for link in chain.links], strict=True))
    return (np.einsum("j,ija,ja->i", m, d.ds, d.sdd), np.einsum("ija,jab,jb->i", d.ds, d.Wdd, n),
            np.einsum("ijab,jb,ja->i", d.dW, n, d.sdd), np.einsum("ijab,jbc,jac->i", d.dW, J, d.Wdd),
            -np.einsum("a,j,ija->i", tree.gravity, m, d.ds) - np.einsum("a,ijab,jb->i", tree.gravity, d.dW, n))


# The operator of Euler and Lagrange


@pytest.mark.spec("S1-114")
@pytest.mark.parametrize(("pattern", "made"), [("R", {}), ("P", {}), ("RPP", {}), ("PRPR", {})])
def test_parts_of_lagranges_equations_term_by_term(pattern, made):
    """(A.5) in its two parts, (A.6) and (A.7); and the operator on each of the three sums of the kinetic energy (A.3)
    gives its own terms of (A.6)."""
    tree = random_chain(pattern, 1, **made)
    state = random_state(tree, 2)
    chain = serial_chain(tree)
    found = Mechanism(tree).formulations.euler_lagrange.evaluate(NUMPY, *state)
    a, b, c, d, weight = terms_of(tree, Derived(tree, state))
    near(found.tau, luh_walker_paul.inverse_dynamics(chain, *state))
    near(Mechanism(tree).formulations.euler_lagrange.reference(*state).tau, found.tau)  # on numbers, too
    near(found.kinetic, a + b + c + d)
    near(found.potential_slope, weight)
    near(found.tau, found.momentum_rate - found.kinetic_slope + found.potential_slope)
    assert not found.dissipation.any()

    def energies(q, qd):
        """The sums of (A.3), one after the other."""
        slid, both, turned = 0.0, 0.0, 0.0
        for link, (W, _), (u, w) in zip(chain.links, link_poses(chain, q), link_twists(chain, q, qd), strict=True):
            m, n, J = link.moments
            sd = W @ u
            Wd = W @ np.stack([np.cross(w, e) for e in np.eye(3)], axis=1)
            slid = slid + m * sd @ sd / 2
            both = both + (Wd @ n) @ sd
            turned = turned + np.trace(Wd @ J @ Wd.T) / 2
        return slid, both, turned

    for k, wanted in enumerate((a, b + c, d)):
        if pattern.strip("P") or k == 0:  # what only slides has no other energies
            near(lagrange_system(lambda q, qd, k=k: energies(q, qd)[k]).generalized_forces.evaluate(NUMPY, *state),
                 wanted)
    afloat = Mechanism(tree.with_gravity((0, 0, 0))).formulations.euler_lagrange.evaluate(NUMPY, *state)
    near(afloat.kinetic, found.kinetic)
    assert not afloat.potential_slope.any()


@pytest.mark.spec("S1-114")
def test_lagranges_equations_of_trees_with_every_kind_of_joint():
    """With ball joints and a floating base, whose velocities are no rates of coordinates."""
    arm, _, (q, qd, qdd), there = random_mechanism(0)
    found = arm.formulations.euler_lagrange.evaluate(NUMPY, q, qd, qdd)
    data = there.model.createData()
    T = there.velocity_map(q)
    wanted = T.T @ pin.rnea(there.model, data, there.q(q), T @ qd, T @ qdd + there.velocity_map_rate(q, qd) @ qd)
    near(found.tau, wanted, 1e-11)
    near(found.potential_slope, T.T @ pin.computeGeneralizedGravity(there.model, data, there.q(q)), 1e-11)


@pytest.mark.spec("S1-114")
def test_what_drives_add():
    arm = cy.load("planar2r").with_friction("joint1", viscous=0.7, coulomb=0.3)
    arm = arm.with_drive("joint2", stiffness=40.0, damping=0.2, gear=10.0, inertia=1e-3)
    state = [0.3, -0.7], [1.1, -0.4], [0.5, 2.0]
    for included in ((), ("armature",), ("friction",), ("springs",), ("elastic drives", "friction")):
        real = arm.including(*included)
        own = [[*x, 0.1][:real.nv] for x in state]
        found = real.formulations.euler_lagrange.evaluate(NUMPY, *own)
        near(found.tau, real.inverse_dynamics.reference(*map(np.array, own)))
        friction = Friction(0.7, 0.3)
        if included == ("friction",):
            near(found.dissipation, [friction.viscous * 1.1 + friction.coulomb, 0.0])
    batch = np.random.default_rng(0).normal(size=(3, 4, 2))
    assert arm.formulations.euler_lagrange(*batch).tau.shape == (4, 2)
    near(arm.formulations.euler_lagrange(*batch).tau, arm.inverse_dynamics(*batch))


# Kane's equations

SPEEDS = {
    "velocities": lambda n: None,
    "constant": lambda n: np.random.default_rng(3).normal(size=(n, n)),
    "of the configuration": lambda n: lambda q: [
        [(2.0 + np.cos(q[i])) * (i == j) + 0.3 * np.sin(q[j] + i) * q[i] for j in range(n)] for i in range(n)]}


@pytest.mark.spec("S1-113")
@pytest.mark.parametrize(("pattern", "choice"), [
    ("R", "of the configuration"), ("P", "constant"), ("RPR", "velocities"), ("RPR", "constant"),
    ("RPR", "of the configuration"), ("PRPR", "constant")])
def test_kanes_equations_do_not_depend_on_the_speeds(pattern, choice):
    tree = random_chain(pattern, 4)
    q, qd, qdd = random_state(tree, 5)
    Y = SPEEDS[choice](len(q))
    kane = Mechanism(tree).formulations.kane_equations(Y)
    matrix = (lambda q: np.eye(len(q))) if Y is None else (lambda q: np.array(Y(q) if callable(Y) else Y))
    u = matrix(q) @ qd
    change = (matrix(q + 1e-6 * qd) - matrix(q - 1e-6 * qd)) / 2e-6
    ud = matrix(q) @ qdd + change @ qd
    tau = luh_walker_paul.inverse_dynamics(serial_chain(tree), q, qd, qdd)
    tolerance = 1e-8 if callable(Y) else 1e-11  # that of the difference
    near(kane.speeds_of.evaluate(NUMPY, q, qd), u)
    near(kane.velocities.evaluate(NUMPY, q, u), qd, 1e-11)
    near(kane.joint_forces.evaluate(NUMPY, q, u, ud), tau, tolerance)
    near(kane.rates.evaluate(NUMPY, q, u, tau), ud, 100 * tolerance)
    F, inertial = kane.active_forces.evaluate(NUMPY, q, u, tau), kane.inertia_forces.evaluate(NUMPY, q, u, ud)
    near(F + inertial, np.zeros(len(q)), tolerance * max(1.0, np.abs(F).max()))
    # by the definitions: unit speeds one by one, and each joint's force on the link and against the one before it
    partial = kane.partial_velocities.evaluate(NUMPY, q)
    motion = Mechanism(tree).formulations.link_motion.of()
    poses = [pose.R for pose in link_poses(links_of(tree), q)]
    own = [np.zeros(3), *[R @ np.array([0.0, 0.0, 1.0]) for R in poses]]
    for r, rates in enumerate(np.linalg.inv(matrix(q)).T):
        moved = motion.reference(q, rates, np.zeros(len(q)))
        origins = base_frame_newton_euler.movements(serial_chain(tree), q, rates, np.zeros(len(q)))
        active = 0.0
        for k, (link, state) in enumerate(zip(serial_chain(tree).links, origins, strict=True), 1):
            w, before = moved.angular_velocity[k], moved.angular_velocity[k - 1]
            v = moved.velocity[k] + np.cross(w, state.s)
            near(partial.angular[r, k - 1], w, 1e-11)
            near(partial.linear[r, k - 1], v, 1e-11)
            active += link.moments.mass * tree.gravity @ v
            gap = state.p - (origins[k - 2].p if k > 1 else np.zeros(3))
            slip = moved.velocity[k] - moved.velocity[k - 1] - np.cross(before, gap)
            active += tau[k - 1] * own[k] @ ((w - before) if link.is_revolute else slip)
        near(F[r], active, 1e-10)
    assert kane.link_names == tree.joint_names


@pytest.mark.spec("S1-113")
def test_kanes_equations_of_trees_and_drives():
    arm, _, (q, qd, qdd), _ = random_mechanism(6)
    n = arm.nv
    mixed = np.random.default_rng(7).normal(size=(n, n)) + 4 * np.eye(n)
    tau = arm.inverse_dynamics.reference(q, qd, qdd)
    near(arm.formulations.kane_equations(mixed).joint_forces.evaluate(NUMPY, q, mixed @ qd, mixed @ qdd), tau, 1e-10)
    real = cy.load("s1_f2").with_friction("joint1", viscous=0.7).with_drive("joint2", inertia=1e-3, gear=20.0)
    real = real.including("armature", "friction")
    state = np.array([[0.3, -0.7], [1.1, -0.4], [0.5, 2.0]])
    kane = real.formulations.kane_equations(mixed[:2, :2])
    speeds = [mixed[:2, :2] @ x for x in state[1:]]
    near(kane.joint_forces.evaluate(NUMPY, state[0], *speeds), real.inverse_dynamics.reference(*state))
    near(kane.rates.evaluate(NUMPY, state[0], speeds[0], real.inverse_dynamics.reference(*state)), speeds[1], 1e-11)
    rough = real.with_friction("joint1", coulomb=0.5)
    near(rough.formulations.kane_equations().joint_forces.evaluate(NUMPY, *state),
         rough.inverse_dynamics.reference(*state))
    with pytest.raises(UnsupportedError, match="s1_f2 includes dry friction, which holds joints at rest"):
        _ = rough.formulations.kane_equations().rates


def test_speeds_that_are_none():
    arm = cy.load("s1_f2")
    kane = arm.formulations.kane_equations(lambda q: [[1.0, np.cos(q[0])], [0.0, np.sin(q[1])]])
    state = np.array([[0.3, 0.5], [1.0, 0.2], [0.1, 0.3]])
    assert np.isfinite(kane.joint_forces(*state)).all()
    with pytest.raises(SingularityError, match="depend on each other"):
        kane.joint_forces([0.3, 0.0], *state[1:])
    batch = kane.joint_forces([[0.3, 0.5], [0.3, 0.0]], *state[1:])
    assert np.isfinite(batch[0]).all() and np.isnan(batch[1]).all()
    with pytest.raises(ConventionError, match="rock has no joint that moves"):
        cy.Mechanism.of("rock", [Body("ground")], []).formulations.kane_equations()
    for Y in (np.eye(3), [[1.0, np.nan], [0.0, 1.0]], [1.0, 2.0]):
        with pytest.raises(ConventionError, match=r"Y \(2, 2\)"):
            arm.formulations.kane_equations(Y)
    with pytest.raises(ConventionError, match=r"Y \(2, 2\)"):
        arm.formulations.kane_equations(lambda q: np.eye(3)).joint_forces(*state)
    for Y in (np.ones((2, 2)), np.diag([1.0, 0.0])):
        with pytest.raises(SingularityError, match="speeds of s1_f2 depend on each other: Y is singular"):
            arm.formulations.kane_equations(Y)
    small = np.diag([1e-9, 1e9])  # in other units, and none the worse
    near(arm.formulations.kane_equations(small).joint_forces.evaluate(NUMPY, state[0], small @ state[1],
                                                                      small @ state[2]),
         arm.inverse_dynamics.reference(*state))


# How both lead to Algorithm 5.7


@pytest.mark.spec("S1-112")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_lagrange_and_kane_lead_to_algorithm_5_7_with_prismatic_joints(pattern, made):
    """Each step of sections 5.4.1 and 5.4.2, and of appendices A and B, in base axes; what is printed for revolute
    joints and what stands in its place for prismatic ones."""
    tree = random_chain(pattern, 8, **made)
    values = random_state(tree, 9)
    chain, d = serial_chain(tree), Derived(tree, values)
    turned = [chain.bodies[body.name][1][:3, :3] for body in tree.bodies[1:]]  # axes of bodies in those of links
    states = base_frame_newton_euler.movements(chain, *values)  # with -g
    augmented, own, sums = augmented_links.passes(chain, *values, STILL, FREE, None)
    tau = augmented_links.inverse_dynamics(chain, *values)
    n, g = len(pattern), tree.gravity
    by_terms = np.zeros((4, n))
    for i, link in enumerate(chain.links):
        z, v, h, f = states[i].z, np.zeros(3), np.zeros(3), np.zeros(3)
        for j in range(i, n):
            other, at = chain.links[j], states[j]
            m, J = other.moments.mass, other.moments.second
            s_ij = at.p - states[i].p
            dW = d.dW[i, j] @ turned[j].T
            Wdd = d.Wdd[j] @ turned[j].T
            near(d.ds[i, j], np.cross(z, s_ij) if link.is_revolute else z)  # (5.4.7), and for prismatic joints z
            near(dW, skew(z) @ at.R if link.is_revolute else np.zeros((3, 3)))  # (5.4.8), and for prismatic joints 0
            I_o = at.R @ other.moments.inertia @ at.R.T
            M_o = I_o @ at.wd + np.cross(at.w, I_o @ at.w)  # (B.1)
            near(np.trace(dW @ J @ Wdd.T), z @ M_o if link.is_revolute else 0.0)  # (5.4.9), (B.4)
            near(at.vd, d.sdd[j] - g)
            r = other.moments.center
            r_ij = states[i].R.T @ (s_ij + at.s)
            lifted = d.dW[i, i] @ turned[i].T @ r_ij if link.is_revolute else z  # (A.10), and for prismatic joints z
            near(m * g @ lifted, m * g @ d.ds[i, j] + m * g @ dW @ r)  # (5.4.4)
            by_terms[0, i] += np.trace(m * np.outer(d.ds[i, j], at.sdd))  # (5.4.6), term by term
            by_terms[1, i] += np.trace(m * np.outer(dW @ r, at.vd))
            by_terms[2, i] += np.trace(dW @ J @ Wdd.T)
            by_terms[3, i] += z @ (np.cross(s_ij, at.F) + m * np.cross(at.s, at.vd) + M_o) if link.is_revolute else (
                z @ at.F)  # (5.4.10)
            v += np.cross(s_ij, at.F) + m * np.cross(at.s, at.vd) + M_o  # (5.4.12)
            h += at.N + np.cross(s_ij + at.s, at.F)  # (5.4.19)
            f += at.F
        eta = states[i].R @ sums[i].eta
        near(v, eta)
        near(h, eta)
        near(f, states[i].R @ (augmented.links[i].moments.mass * own[i].sdd + sums[i].Udd))  # (5.3.38)
        near(z @ (eta if link.is_revolute else f), tau[i])  # (5.4.2), and for prismatic joints z . f
        mu, u, sdd = own[i].mu, augmented.links[i].moments.first, own[i].sdd
        stepped = mu + np.cross(u, sdd)
        if i + 1 < n:
            after, q = augmented.links[i + 1], values[0]
            zeta = own[i + 1].zeta
            assert zeta.any() != after.is_revolute
            s = after.offset(q)
            mb = after.moments.mass
            # (5.4.15): what all links beyond need, with the slide of the next joint
            beyond = states[i].R.T @ sum((at.F for at in states[i + 1:]), start=np.zeros(3))
            near(beyond, mb * (sdd + own[i].Om @ s + after.inwards(zeta, q)) + after.inwards(sums[i + 1].Udd, q))
            # (5.4.17), (5.4.20): B = Udd + mb zeta in place of Udd
            B = after.inwards(sums[i + 1].Udd + mb * zeta, q)
            stepped = stepped + np.cross(s, B) + after.inwards(sums[i + 1].eta, q)
        near(stepped, sums[i].eta)
    near(by_terms[:3].sum(axis=0), tau)
    near(by_terms[3], tau)
    if not made:  # the frames of the bodies are those of the links
        near(sum(terms_of(tree, d)), tau)  # (5.4.1), (A.11)


def test_speeds_that_are_no_numbers_are_named():
    with pytest.raises(ConventionError, match=r"a matrix Y.*or a function of q, not 'absolute'"):
        cy.load("planar2r").formulations.kane_equations("absolute")
