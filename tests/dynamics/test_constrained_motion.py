"""Motion under constraints: slider-crank and Delta of the specification in every formulation, redundant constraints."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.null_space import null_space as null_space_by_qr
from cayley.dynamics.mechanics.constrained import (
    augmented,
    basis_of_coordinates,
    block_inverse,
    check_independent,
    constrained_motion,
    multipliers,
    null_space,
    projection,
)
from cayley.dynamics.mechanics.lagrange import lagrange_system
from cayley.errors import ConventionError, SingularityError
from cayley.model.parts import Rotor

r, L, G = 0.1, 0.35, 9.81
M1, M2, M3 = 1.2, 0.8, 0.6
L1, I1, L2, I2 = 0.04, 0.002, 0.2, 0.009
LOADS = np.array([3.0, 0.0, -15.0])
THETA, RATE = np.radians(50.0), 12.0


def slider_crank(q, qd):
    """M, f, A and drift of the slider-crank with the rod's centre seen from the slider."""
    th, ga, _ = q
    s, c = np.sin(ga), np.cos(ga)
    M = np.array([[I1 + M1 * L1**2, 0, 0], [0, I2 + M2 * L2**2, -M2 * L2 * s], [0, -M2 * L2 * s, M2 + M3]])
    V = np.array([0, 0, -M2 * L2 * c * qd[1]**2])
    gravity = np.array([M1 * G * L1 * np.cos(th), M2 * G * L2 * c, 0])
    A = np.array([[r * np.cos(th), -L * c, 0], [-r * np.sin(th), L * s, -1]])
    drift = np.array([-r * np.sin(th) * qd[0]**2 + L * s * qd[1]**2, -r * np.cos(th) * qd[0]**2 + L * c * qd[1]**2])
    return M, LOADS - V - gravity, A, drift


def posture(theta, rate):
    gamma = np.pi - np.arcsin(r / L * np.sin(theta))
    x = r * np.cos(theta) - L * np.cos(gamma)
    N = np.array([1.0, r * np.cos(theta) / (L * np.cos(gamma)), r * np.sin(gamma - theta) / np.cos(gamma)])
    return np.array([theta, gamma, x]), N * rate


Q, QD = posture(THETA, RATE)
QDD = np.array([186.8772824283, -4.0173538022, -25.6216832599])
LAM = np.array([6.8107933518, -19.9332542528])


def one_coordinate_acceleration(theta, rate):
    """Lagrange's equation of the crank angle alone, from the kinetic energy by differences of complex steps."""
    def energy(th, thd):
        s = r / L * np.sin(th)
        ga = np.pi - np.arcsin(s)
        gad = r * np.cos(th) / (L * np.cos(ga)) * thd
        xd = r * np.sin(ga - th) / np.cos(ga) * thd
        vx, vy = xd - L2 * np.sin(ga) * gad, L2 * np.cos(ga) * gad
        return ((I1 + M1 * L1**2) * thd**2 + I2 * gad**2 + M2 * (vx**2 + vy**2) + M3 * xd**2) / 2

    def inertia(th):
        return 2 * energy(th, 1.0)

    slope = np.imag(inertia(theta + 1e-20j)) / 1e-20
    N = posture(theta, 1.0)[1]
    f = LOADS - np.array([M1 * G * L1 * np.cos(theta), M2 * G * L2 * np.cos(posture(theta, 0.0)[0][1]), 0])
    return (N @ f - slope * rate**2 / 2) / inertia(theta)


@pytest.mark.spec("S2-64", "S2-68")
def test_the_slider_crank_in_every_formulation():
    np.testing.assert_allclose(Q[1:], [2.9209365756, .4057926832], atol=1e-10)
    np.testing.assert_allclose(QD, [12, -2.2586052319, -1.0922725305], atol=1e-10)
    assert abs(one_coordinate_acceleration(THETA, RATE) - QDD[0]) < 1e-8
    state = slider_crank(Q, QD)
    for found in (augmented(*state), multipliers(*state), projection(*state, independent=[0]),
                  projection(*state, independent=[1]), projection(*state, independent=[2]),
                  null_space(*state, basis="qr"), null_space(*state, basis="svd")):
        np.testing.assert_allclose(found.qdd, QDD, rtol=1e-10)
        np.testing.assert_allclose(found.lam, LAM, rtol=1e-9)


@pytest.mark.spec("S2-65")
def test_the_block_inverse_is_the_inverse():
    M, f, A, drift = slider_crank(Q, QD)
    blocks = block_inverse(M, A)
    whole = np.block([[M, A.T], [A, np.zeros((2, 2))]])
    np.testing.assert_allclose(blocks.whole @ whole, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(blocks.C11 @ f - blocks.C12 @ drift, QDD, rtol=1e-10)
    np.testing.assert_allclose(blocks.C12.T @ f - blocks.C22 @ drift, LAM, rtol=1e-9)
    wrong = blocks.C11 @ f + blocks.C12 @ drift  # the signs as printed
    assert np.abs(wrong - QDD).max() > 50


@pytest.mark.spec("S2-66", "S2-68")
def test_a_bad_choice_of_coordinates_is_refused_at_the_dead_centres_and_elsewhere_is_none():
    for theta in (0.0, np.pi):
        q, qd = posture(theta, RATE)
        M, f, A, drift = slider_crank(q, qd)
        with pytest.raises(SingularityError, match="the coordinates x do not determine the others"):
            check_independent(A, [2], names=["theta", "gamma", "x"])
        with pytest.raises(SingularityError, match="the coordinates q3 do not determine the others"):
            projection(M, f, A, drift, independent=[2])
        check_independent(A, [0])
        np.testing.assert_allclose(
            projection(M, f, A, drift, independent=[0]).qdd,
            augmented(M, f, A, drift).qdd, rtol=1e-10)
        assert abs(projection(M, f, A, drift, independent=[0]).qdd[0] - one_coordinate_acceleration(theta, RATE)) < 1e-8
    N, _ = basis_of_coordinates(*slider_crank(Q, QD)[2:], [0])
    np.testing.assert_allclose(N[:, 0] * RATE, QD, rtol=1e-12)
    with pytest.raises(ConventionError, match="leave 1 independent coordinates, not 2"):
        projection(*slider_crank(Q, QD), independent=[0, 1])


@pytest.mark.spec("S2-68")
def test_a_rod_that_stands_upright_has_no_speed_of_its_own():
    """With r > L the crank cannot turn past cos(gamma) = 0: theta does not determine the others there, gamma does."""
    q = np.array([np.arcsin(L / 0.4), np.pi / 2, 0.4 * np.cos(np.arcsin(L / 0.4))])
    A = np.array([[0.4 * np.cos(q[0]), -L * np.cos(q[1]), 0], [-0.4 * np.sin(q[0]), L * np.sin(q[1]), -1]])
    with pytest.raises(SingularityError):
        check_independent(A, [0])
    check_independent(A, [1])


@pytest.mark.spec("S2-64", "S2-65")
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
def test_rows_that_contradict_each_other_have_no_motion(seed, size):
    """Random redundant rows: those that agree have the motion of the independent ones; one that asks for another
    acceleration than the others is refused in every formulation that takes redundant rows."""
    random = np.random.default_rng(seed)
    half, rows = random.normal(size=(5, 5)), size * random.normal(size=(2, 5))
    M, f, drift, mix = half @ half.T + np.eye(5), random.normal(size=5), size * random.normal(size=2), random.normal(
        size=(2, 2))
    A, agreeing = np.concatenate([rows, mix @ rows]), np.concatenate([drift, mix @ drift])
    expected = multipliers(M, f, rows, drift).qdd
    for solved in (lambda *given: multipliers(*given, redundant=True),
                   lambda *given: augmented(*given, redundant=True), null_space):
        np.testing.assert_allclose(solved(M, f, A, agreeing).qdd, expected, rtol=1e-8, atol=1e-8)
        with pytest.raises(SingularityError, match="contradict each other"):
            solved(M, f, A, agreeing + size * np.array([0.0, 0.0, 0.0, 0.01]))


@pytest.mark.spec("S2-67")
def test_bases_by_qr_and_svd_span_the_same_velocities_and_are_not_differentiated():
    A = slider_crank(Q, QD)[2]
    for N in (null_space_by_qr(A, len(A)).basis, null_basis(A)):
        np.testing.assert_allclose(A @ N, 0.0, atol=1e-15)
        np.testing.assert_allclose(np.abs(N[:, 0] @ QD), np.linalg.norm(QD), rtol=1e-13)
    signs, accelerations = set(), []
    for theta in np.linspace(0, 2 * np.pi, 200):  # whatever the sign of the basis is, the accelerations are continuous
        q, qd = posture(theta, RATE)
        state = slider_crank(q, qd)
        signs.add(np.sign(null_basis(state[2])[0, 0]))
        accelerations.append(null_space(*state, basis="svd").qdd[0] - one_coordinate_acceleration(theta, RATE))
    assert np.abs(accelerations).max() < 1e-8
    assert signs == {-1.0, 1.0}
    with pytest.raises(ConventionError, match="'lu'"):
        null_space(*slider_crank(Q, QD), basis="lu")


@pytest.mark.spec("S2-64")
def test_redundant_constraints_have_their_accelerations_and_multipliers_of_least_norm():
    M, f, A, drift = slider_crank(Q, QD)
    twice = np.concatenate([A, A[:1] + A[1:]])
    again = np.concatenate([drift, drift[:1] + drift[1:]])
    for found in (augmented(M, f, twice, again, redundant=True), multipliers(M, f, twice, again, redundant=True),
                  null_space(M, f, twice, again), constrained_motion(M, f, twice, again, redundant=True)):
        np.testing.assert_allclose(found.qdd, QDD, rtol=1e-9)
        np.testing.assert_allclose(found.lam, np.linalg.pinv(twice.T) @ (A.T @ LAM), rtol=1e-7)
    with np.errstate(all="ignore"):
        assert np.isnan(multipliers(M, f, twice, again).qdd).all()  # not asked for: no answer
        assert np.isnan(augmented(M, f, twice, again).qdd).all()
    with pytest.raises(ConventionError, match="did you mean 'multipliers'"):
        constrained_motion(M, f, A, drift, formulation="multiplier")


@pytest.mark.spec("S2-64")
def test_a_second_of_motion_drifts_little_and_ends_where_the_crank_alone_does():
    def rate(_, x):
        return np.concatenate([x[3:], augmented(*slider_crank(x[:3], x[3:])).qdd])

    found = solve_ivp(rate, (0, 1), np.concatenate([Q, QD]), method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    th, ga, x = found[:3]
    drift = np.array([r * np.sin(th) - L * np.sin(ga), r * np.cos(th) - L * np.cos(ga) - x])
    assert 0 < np.abs(drift).max() < 1e-6
    alone = solve_ivp(lambda _, y: [y[1], one_coordinate_acceleration(y[0], y[1])], (0, 1), [THETA, RATE],
                      method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(alone, [140.277779, 247.20545], rtol=1e-6)
    np.testing.assert_allclose([found[0], found[3]], alone, rtol=1e-6)


def rod_centre(q, qd, via_crank):
    th, ga, x = q
    thd, gad, xd = qd
    if via_crank:
        return np.array([r * np.cos(th) - (L - L2) * np.cos(ga), r * np.sin(th) - (L - L2) * np.sin(ga)]), np.array(
            [-r * np.sin(th) * thd + (L - L2) * np.sin(ga) * gad, r * np.cos(th) * thd - (L - L2) * np.cos(ga) * gad])
    return np.array([x + L2 * np.cos(ga),
                     L2 * np.sin(ga)]), np.array([xd - L2 * np.sin(ga) * gad, L2 * np.cos(ga) * gad])


@pytest.mark.spec("S2-68", "S2-103")
@pytest.mark.parametrize("via_crank, lam", [(False, LAM), (True, [-1.485755305, -.373009956])])
def test_from_energies_and_the_closure_alone_whichever_way_the_rod_is_seen(via_crank, lam):
    def kinetic(q, qd):
        v = rod_centre(q, qd, via_crank)[1]
        return ((I1 + M1 * L1**2) * qd[0]**2 + I2 * qd[1]**2 + M2 * v @ v + M3 * qd[2]**2) / 2

    def potential(q):
        return G * (M1 * L1 * np.sin(q[0]) + M2 * rod_centre(q, 0 * q, via_crank)[0][1])

    machine = lagrange_system(kinetic, potential, constraints=lambda q: [r * np.sin(q[0]) - L * np.sin(q[1]),
                                                                         r * np.cos(q[0]) - L * np.cos(q[1]) - q[2]])
    np.testing.assert_allclose(machine.accelerations(Q, QD, LOADS), QDD, rtol=1e-9)
    np.testing.assert_allclose(machine.multipliers(Q, QD, LOADS), lam, rtol=1e-7)


def test_the_texts_compile():
    @cy.kernel("(3),(3)->(3),(3),(3)")
    def accelerations(q, qd):
        state = slider_crank(q, qd)
        return augmented(*state).qdd, multipliers(*state).qdd, projection(*state, independent=[0]).qdd

    many = np.array([posture(theta, RATE) for theta in np.linspace(0.1, 6.0, 50)])
    for found in accelerations(many[:, 0], many[:, 1]):
        expected = [one_coordinate_acceleration(theta, RATE) for theta in np.linspace(0.1, 6.0, 50)]
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9, atol=1e-9)


# The translational machine of three legs

a, b, base, platform = 0.3, 0.6, 0.25, 0.08
PHI = np.radians([0.0, 120.0, 240.0])
MP, ML, MU, IM = 1.0, 0.5, 0.2, 0.01


def delta():
    """Lagrange's system of p and the crank angles: half of each parallelogram at either end."""
    def centers(th):
        out = a * np.cos(th) + base - platform
        return np.stack([out * np.cos(PHI), out * np.sin(PHI), a * np.sin(th)], axis=1)

    def closure(q):
        w = [q[:3] - center for center in centers(q[3:])]
        return [x @ x - b**2 for x in w]

    return lagrange_system(
        lambda q, qd: ((MP + 3 * MU) * qd[:3] @ qd[:3] + (IM + ML * a**2 / 3 + MU * a**2) * qd[3:] @ qd[3:]) / 2,
        lambda q: G * ((MP + 3 * MU) * q[2] +
                       (ML / 2 + MU) * a * np.sum(np.sin(q[3:]))), constraints=closure, name="Delta")


@pytest.mark.spec("S2-72", "S2-103")
def test_the_delta_forward_and_inverse_from_its_energies():
    from cayley.machines.parallel import TranslationalDelta

    machine = TranslationalDelta(a, b, base, platform)
    p, v = np.array([.05, -.04, .55]), np.array([.2, .1, -.3])
    theta = machine.inverse_position(p)[-1]
    rates = machine.crank_rates(p, theta, v)
    q, qd = np.concatenate([p, theta]), np.concatenate([v, rates])
    system = delta()
    tau = np.array([0, 0, 0, .5, -.2, 1.0])
    qdd = system.accelerations(q, qd, tau)
    np.testing.assert_allclose(qdd[:3], [-.133513297, 1.2247732754, -8.8250244774], atol=1e-7)
    np.testing.assert_allclose(qdd[3:], [-24.00778586, -21.446662682, -18.7407285355], atol=1e-6)
    np.testing.assert_allclose(system.multipliers(q, qd, tau), [-.8746699863, .9846022784, -1.8415091293], atol=1e-7)
    # inverse: the platform's acceleration is given, the cranks follow, the multipliers carry the platform
    A = system.constraint_jacobian(q)
    zero = system.accelerations(q, qd, tau)
    drift = -A @ zero
    pdd = np.array([.5, -.3, .2])
    thdd = np.linalg.solve(A[:, 3:], -drift - A[:, :3] @ pdd)
    np.testing.assert_allclose(thdd, [-1.1528576957, 2.2729479724, 1.3792822418], atol=1e-6)
    needed = system.generalized_forces(q, qd, np.concatenate([pdd, thdd]))
    lam = np.linalg.solve(A[:, :3].T, -needed[:3])
    np.testing.assert_allclose(lam, [-7.0713866557, -5.6213235763, -6.6851580918], atol=1e-6)
    torques = needed[3:] + A[:, 3:].T @ lam
    np.testing.assert_allclose(torques, [3.5540949858, 3.1133200048, 3.5026134128], atol=1e-6)
    M, bias = system.inertia_matrix(q, qd), system.bias(q, qd)
    assert abs(qd @ (M @ qdd + bias) - qd @ tau) < 1e-12  # the power of what acts is the rate of the energies
    N = np.concatenate([
        np.eye(3), np.linalg.solve(np.diag(machine.jacobians(p, theta).Jq),
                                   machine.jacobians(p, theta).Jx)])
    np.testing.assert_allclose(A @ N, 0.0, atol=1e-13)
    np.testing.assert_allclose(np.linalg.solve(N.T @ M @ N, N.T @ (tau - bias - M @ (zero - N @ zero[:3]))), zero[:3],
                               atol=1e-10)


@pytest.mark.spec("S2-72")
def test_the_delta_as_a_mechanism_with_rods_has_the_same_motion_and_forces():
    """The masses of E-11: m_p, m_u at each end of a parallelogram, and the rotor's I_m beside that of the arm."""
    from cayley.machines.parallel import TranslationalDelta

    machine = TranslationalDelta(a, b, base, platform)
    tree = machine.tree(masses={"platform": MP, "crank": ML, "rod": 2 * MU})
    arm = cy.Mechanism(tree.with_joints(*[replace(joint, rotor=Rotor(IM)) for joint in tree.joints
                                          if joint.name.startswith("crank")])).including("armature")
    p, v = np.array([.05, -.04, .55]), np.array([.2, .1, -.3])
    theta = machine.inverse_position(p)[-1]
    q = machine.configuration(p, theta)
    qd = arm.loops.actuated_motion(q, machine.crank_rates(p, theta, v))
    np.testing.assert_allclose(qd[:3], v, atol=1e-12)
    qdd = arm.forward_dynamics(q, qd, [0, 0, 0, .5, -.2, 1.0])
    np.testing.assert_allclose(qdd[:3], [-.133513297, 1.2247732754, -8.8250244774], atol=1e-7)
    np.testing.assert_allclose(qdd[3:], [-24.00778586, -21.446662682, -18.7407285355], atol=1e-6)
    pdd = np.array([.5, -.3, .2])
    given = np.concatenate([pdd, [-1.1528576957, 2.2729479724, 1.3792822418]])
    torques = arm.inverse_dynamics(q, qd, given)
    np.testing.assert_allclose(torques, [0, 0, 0, 3.5540949858, 3.1133200048, 3.5026134128], atol=1e-6)
    length = arm.loops.forces(q, qd, torques)  # along the rods, where Psi has the square of their length
    np.testing.assert_allclose(np.abs(length), 2 * b * np.abs([-7.0713866557, -5.6213235763, -6.6851580918]), atol=1e-5)
