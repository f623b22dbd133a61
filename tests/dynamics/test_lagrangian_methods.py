"""The Lagrangian methods of inverse dynamics, and what is special to each."""

from dataclasses import replace
from functools import cache

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.compiler.kernel import kernel
from cayley.dynamics import approximate
from cayley.dynamics.closed_form import velocity_forces
from cayley.dynamics.inverse import (
    center_jacobians,
    generalized_links,
    hollerbach_3x3,
    hollerbach_4x4,
    newton_euler,
    trace_lagrange,
    uicker_kahn,
    waters,
)
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.rigid_links.energies import kinetic_energy
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.rigid_links.transforms import moving_transforms, pseudo_inertia, transform, transform_derivatives
from cayley.errors import SignatureError, UnsupportedError
from dynamics.chains import EVERY_SHORT_PATTERN, LONG_PATTERNS, random_chain, random_state
from dynamics.particles import particle_forces
from kinematics.pinocchio_trees import PinocchioTree

FOR_BOTH = [uicker_kahn, waters, hollerbach_4x4, hollerbach_3x3, trace_lagrange, center_jacobians]
METHODS = {m.__name__.split(".")[-1]: m for m in [*FOR_BOTH, generalized_links]}
CLOSED_FORMS = [trace_lagrange, center_jacobians]
EVERY_METHOD = pytest.mark.parametrize("name", METHODS)
SPECS = {
    "uicker_kahn": "S1-28", "waters": "S1-29", "hollerbach_4x4": "S1-30", "hollerbach_3x3": "S1-31",
    "generalized_links": "S1-32", "trace_lagrange": "S3-32", "center_jacobians": "S3-33"}
CLAIMED = pytest.mark.parametrize("name",
                                  [pytest.param(name, marks=pytest.mark.spec(row)) for name, row in SPECS.items()])


def closed_form_terms(module, chain, q, qd):
    if module is trace_lagrange:
        return trace_lagrange.trace_terms(chain, q, qd)
    return module.inertia_matrix(chain, q), module.velocity_forces(chain, q, qd), module.gravity_forces(chain, q)


# q, qd, qdd, tau and the gravity part of the fixtures of the catalogue
FIXTURES = {
    "s1_f2": ([0.3, -0.7], [1.1, -0.4], [0.5, 2], [15.2000996773, 2.87612015916], None),
    "s1_f3": ([0.3, 0.8], [1.1, -0.4], [0.5, 2], [2.36805322735, -12.5097764375], None),
    "s1_f4": ([0.1, -0.6, 0.9, 0.4, -0.8, 1.2], [0.5, -0.3, 0.7, -1.1, 0.9, 0.2], [1, 0.4, -0.5, 0.6, -0.2, 0.8],
              [1.73738309068, -30.790852254, 0.258326770294, -0.00678462650312, -0.0135210901962,
               -2.2339118969e-05], [0, -30.9409999747, 0.280270473559, -0.00674631346191, -0.0140043016384, 0]),
    "s1_f5": ([0.2, -0.5, 0.6, 0.3, 0.7, -0.4], [0.4, 0.3, -0.25, 0.9, -0.6, 0.5], [-0.7, 0.8, 0.35, 0.2, 0.1, -1],
              [-1.15873657538, 9.0330746653, 57.4150551297, 0.610236172696, -1.03949994505,
               -0.000330741356347], [0, 6.32411438929, 55.700779511, 0.56852805717, -0.903790098577, 0]),
    "s1_f6": ([0.6, 0.35, -1.1,
               0.8], [0.9, -0.5, 1.3,
                      -0.7], [-0.4, 1.1, 0.6,
                              2], [6.06276326781, 44.784590242, 0.825464119896,
                                   0.1876313288], [5.28380466764, 39.3742842264, 0.531346097479, 0.136969476483]), }


def methods_for(pattern):
    return [m for m in METHODS.values() if m is not generalized_links or "P" not in pattern]


def near(found, wanted, tolerance=1e-12):
    assert np.abs(found - wanted).max() <= tolerance * max(1e-300, np.abs(wanted).max())


@cache
def by_particles(pattern, seed, frames):
    tree = random_chain(pattern, seed, frames=frames)
    state = random_state(tree, seed)
    return serial_chain(tree), state, particle_forces(tree, *state)


@CLAIMED
def test_every_method_agrees_with_particles_on_every_short_chain(name):
    for pattern in EVERY_SHORT_PATTERN:
        chain, state, wanted = by_particles(pattern, len(pattern), "any" if len(pattern) == 3 else "modified")
        if METHODS[name] in methods_for(pattern):
            near(METHODS[name].inverse_dynamics(chain, *state), wanted)


@pytest.mark.parametrize("pattern", LONG_PATTERNS)
def test_every_method_agrees_with_pinocchio_on_long_chains(pattern):
    tree = random_chain(pattern, 3, twists="special" if len(pattern) % 2 else "general")
    there = PinocchioTree.of(tree)
    there.model.gravity.linear = np.array(tree.gravity)
    state = random_state(tree, 5)
    wanted = pin.rnea(there.model, there.model.createData(), *state)
    for method in methods_for(pattern):
        if len(pattern) < 8 or method not in (uicker_kahn, trace_lagrange, center_jacobians):
            near(method.inverse_dynamics(serial_chain(tree), *state), wanted)


@EVERY_METHOD
@pytest.mark.parametrize("fixture", FIXTURES)
def test_golden_values(name, fixture):
    q, qd, qdd, tau, gravity = FIXTURES[fixture]
    chain = serial_chain(cy.load(fixture).tree)
    if METHODS[name] not in methods_for("P" if any(link.is_prismatic for link in chain.links) else "R"):
        with pytest.raises(UnsupportedError, match="prismatic"):
            METHODS[name].inverse_dynamics(chain, np.array(q), np.array(qd), np.array(qdd))
        return
    found = METHODS[name].inverse_dynamics(chain, np.array(q), np.array(qd), np.array(qdd))
    assert np.abs(found - tau).max() < 1e-10
    if gravity is not None:
        rest = np.zeros(len(q))
        assert np.abs(METHODS[name].inverse_dynamics(chain, np.array(q), rest, rest) - gravity).max() < 1e-10


@EVERY_METHOD
def test_pendulum_in_closed_form(name):
    tree = cy.load("s1_f1").tree
    m, c, I = tree.bodies[1].mass, tree.bodies[1].center[0], tree.bodies[1].inertia[2, 2]
    for q, qd, qdd in np.random.default_rng(0).normal(size=(5, 3)):
        wanted = (I + m * c**2) * qdd - m * tree.gravity[1] * c * np.cos(q)
        assert METHODS[name].inverse_dynamics(serial_chain(tree),
                                              *np.array([[q], [qd], [qdd]]))[0] == pytest.approx(wanted, rel=1e-13)


@EVERY_METHOD
def test_compiled_on_a_batch_is_the_text(name):
    chain = serial_chain(random_chain("RRR", 8))
    compiled = kernel("(n),(n),(n)->(n)",
                      name=name)(lambda q, qd, qdd: METHODS[name].inverse_dynamics(chain, q, qd, qdd))
    states = np.random.default_rng(1).normal(size=(3, 2, 4, 3))
    found = compiled(*states)
    for i, j in np.ndindex(2, 4):
        near(found[i, j], newton_euler.inverse_dynamics(chain, *states[:, i, j]))


@EVERY_METHOD
def test_time_scaling(name):
    """tau(q, c qd, c^2 qdd) - G = c^2 (tau - G)."""
    chain, (q, qd, qdd), _ = by_particles("RRRR", 4, "modified")
    tau, rest = METHODS[name].inverse_dynamics, np.zeros(4)
    G = tau(chain, q, rest, rest)
    near(tau(chain, q, 3 * qd, 9 * qdd) - G, 9 * (tau(chain, q, qd, qdd) - G))


def test_a_chain_without_joints_needs_no_forces():
    chain = replace(serial_chain(random_chain("R", 0)), links=(), nq=0, nv=0)
    for method in METHODS.values():
        assert method.inverse_dynamics(chain, *np.zeros((3, 0))).shape == (0,)


# The coefficients of the closed forms


@pytest.mark.spec("S1-28", "S1-32")
@pytest.mark.parametrize("pattern", ["RRR", "RPR", "PRRP"])
def test_coefficients_of_uicker_and_kahn(pattern):
    """D is symmetric and positive definite, C are the Christoffel symbols of D, from numerical derivatives of D."""
    tree = random_chain(pattern, 2, frames="any")
    chain, (q, _, _) = serial_chain(tree), random_state(tree, 2)
    D, C, G = uicker_kahn.closed_form(chain, q)
    near(D, D.T, 1e-14)
    assert np.linalg.eigvalsh(D).min() > 0
    h = 1e-5
    dD = np.stack([(uicker_kahn.closed_form(chain, q + h * e).D - uicker_kahn.closed_form(chain, q - h * e).D) / (2 * h)
                   for e in np.eye(len(q))], axis=2)
    christoffel = (dD + dD.swapaxes(1, 2) - np.moveaxis(dD, 2, 0)) / 2
    assert np.abs(C - christoffel).max() < 1e-8 * np.abs(D).max()
    if "P" not in pattern:
        d, c, g = generalized_links.closed_form(chain, q)
        near(d, D), near(c, C), near(g, G)


def test_puma_inertia_row():
    D = uicker_kahn.closed_form(serial_chain(cy.load("s1_f4").tree), np.array(FIXTURES["s1_f4"][0])).D
    assert np.abs(D[0] - [2.04800878707, -0.306943489363, 0.0236718327848, -0.00282721512242, 0.000461120957963,
                          -3.44339211123e-05]).max() < 1e-10
    assert np.abs(
        D.diagonal()
        - [2.04800878707, 1.94352441659, 0.316304531034, 0.0017745555558, 0.000648914631806, 4e-05]).max() < 1e-10


@pytest.mark.spec("S1-31")
@pytest.mark.parametrize("pattern", ["RRRR", "RPRR", "PRPR"])
def test_derivation_of_hollerbachs_recursion(pattern):
    """Appendix A: the forces as sums over links (A.11), the partial derivatives (A.8), (A.9), and the sums of
    (A.13)-(A.15).
    """
    tree = random_chain(pattern, 12)
    chain, (q, qd, qdd) = serial_chain(tree), random_state(tree, 12)
    moved, first = moving_transforms(chain, q, qd, qdd), transform_derivatives(chain, q).first
    found = hollerbach_3x3.sums_beyond(chain, q, qd, qdd)
    tau = np.zeros(len(pattern))
    for i, link in enumerate(chain.links):
        R, s = moved[i].W[:3, :3], moved[i].W[:3, 3]
        D, e, c, mass = np.zeros((3, 3)), np.zeros(3), np.zeros(3), 0.0
        for j in range(i, len(pattern)):
            m, n, J = chain.links[j].moments
            dW, ds, ddW, dds = first[j][i][:3, :3], first[j][i][:3, 3], moved[j].ddW[:3, :3], moved[j].ddW[:3, 3]
            W_ij, s_ij = R.T @ moved[j].W[:3, :3], R.T @ (moved[j].W[:3, 3] - s)
            if link.is_revolute:
                near(ds + 1, first[i][i][:3, :3] @ s_ij + 1), near(dW, first[i][i][:3, :3] @ W_ij)  # (A.8), (A.9)
            terms = m * np.outer(ds, dds) + np.outer(ds, ddW @ n) + np.outer(dW @ n, dds) + dW @ J @ ddW.T
            tau[i] += np.trace(terms) - tree.gravity @ (m * ds + dW @ n)  # (A.6), (A.7)
            D = D + np.outer(s_ij, m * dds + ddW @ n) + np.outer(W_ij @ n, dds) + W_ij @ J @ ddW.T
            e, c, mass = e + m * dds + ddW @ n, c + m * s_ij + W_ij @ n, mass + m
        near(found[i].D, D), near(found[i].e, e), near(found[i].c, c), near(found[i].mass, mass)  # (A.13)-(A.15)
    near(hollerbach_3x3.inverse_dynamics(chain, q, qd, qdd), tau)


def test_generalized_links_refuse_a_sliding_joint_by_name():
    with pytest.raises(UnsupportedError, match="'joint2' of random RPR is prismatic"):
        generalized_links.inverse_dynamics(serial_chain(random_chain("RPR", 0)), *np.zeros((3, 3)))


@pytest.mark.parametrize("module", CLOSED_FORMS)
def test_mixed_arm_of_the_catalogue(module):
    """W3-08."""
    chain = serial_chain(cy.load("s3_w08").tree)
    q, qd, qdd = np.array([[0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2], [1.0, 0.4, -0.6, 0.9]])
    M = [[1.5958403434, -1.2412973875, 0.2886445169, -0.0313365062], [-1.2412973875, 4.3, -0.2039484794, -0.0323062605],
         [0.2886445169, -0.2039484794, 0.1146855094, -0.0090574469],
         [-0.0313365062, -0.0323062605, -0.0090574469, 0.0130000000]]
    found, h, g = closed_form_terms(module, chain, q, qd)
    assert np.abs(found - M).max() < 1e-9
    assert np.abs(h - [-0.3656757323, -1.1758780528, -0.0385793372, 0.0619483763]).max() < 1e-9
    assert np.abs(g - [0, 0, 2.0993180904, 0.2354657861]).max() < 1e-9
    assert np.abs(
        module.inverse_dynamics(chain, q, qd, qdd)
        - [0.5322560903, -0.6038819870, 2.1908408705, 0.2702896202]).max() < 1e-9
    H = [[0.0336, -0.0023, 0.0072, 0.18], [-0.0023, 0.00415, -0.0002, -0.015], [0.0072, -0.0002, 0.0084, 0.06],
         [0.18, -0.015, 0.06, 1.5]]
    assert np.abs(pseudo_inertia(chain.links[2].moments) - H).max() < 1e-15


@pytest.mark.spec("S2-55")
@pytest.mark.parametrize(("fixture", "q", "M", "G"), [
    ("s2_we19", [0.3, 0.7], [[3.4044772914, 0.7789053124], [0.7789053124, 0.32]], [26.6098467681, 3.1802193723]),
    ("s2_we20", [0.4, 0.9, 0.5], [[0.1809627682, -0.0397082481, -0.1597986896], [-0.0397082481, 0.155, 0],
                                  [-0.1597986896, 0, 1.2]], [0, -3.3494234088, 7.3175925465])])
def test_inertia_matrix_from_link_jacobians(fixture, q, M, G):
    """WE-19 and WE-20; symmetric and positive definite; 2 K = qd.M qd."""
    chain = serial_chain(cy.load(fixture).tree)
    found = center_jacobians.inertia_matrix(chain, np.array(q))
    assert np.abs(found - M).max() < 1e-8 and np.linalg.eigvalsh(found).min() > 0
    qd = np.arange(1.0, len(q) + 1)
    near(qd @ found @ qd / 2, kinetic_energy(chain, np.array(q), qd))
    assert np.abs(center_jacobians.gravity_forces(chain, np.array(q)) - G).max() < 1e-8


@pytest.mark.parametrize("pattern", EVERY_SHORT_PATTERN)
def test_inertia_matrices_agree_with_pinocchio(pattern):
    tree = random_chain(pattern, 6)
    q, qd, _ = random_state(tree, 6)
    there = PinocchioTree.of(tree)
    there.model.gravity.linear = np.array(tree.gravity)
    data = there.model.createData()
    M = np.triu(pin.crba(there.model, data, q))
    M = M + np.triu(M, 1).T
    bias = pin.nonLinearEffects(there.model, data, q, qd)
    C = pin.computeCoriolisMatrix(there.model, there.model.createData(), q, qd)
    for module in CLOSED_FORMS:
        found, h, g = closed_form_terms(module, serial_chain(tree), q, qd)
        near(found, M), near(found, found.T, 1e-14)
        near(h + g, bias)
    assert np.abs(center_jacobians.coriolis_matrix(serial_chain(tree), q, qd) @ qd
                  - C @ qd).max() < 1e-12 * (1 + np.abs(bias).max())


@pytest.mark.spec("S3-33")
@pytest.mark.parametrize("pattern", ["RRR", "RPR", "PRR"])
def test_christoffel_matrix(pattern):
    """dM/dq is right, h = C qd, M' - 2 C is skew."""
    tree = random_chain(pattern, 9, frames="any")
    chain, (q, qd, _) = serial_chain(tree), random_state(tree, 9)
    M = kernel("(n)->(n,n)")(lambda q: center_jacobians.inertia_matrix(chain, q))
    dM, C = center_jacobians.inertia_derivatives(chain, q), center_jacobians.coriolis_matrix(chain, q, qd)
    near(dM, M.jacobian("q")(q))
    near(C @ qd, center_jacobians.velocity_forces(chain, q, qd))
    skew = dM @ qd - 2 * C
    near(skew + skew.T + dM.max(), np.full(skew.shape, dM.max()))


# Derivatives of transforms


@pytest.mark.spec("S3-30")
@pytest.mark.parametrize("pattern", ["RRR", "PRP", "RPR"])
def test_derivatives_of_transforms_by_insertion(pattern):
    tree = random_chain(pattern, 5, frames="any")
    chain, (q, _, _) = serial_chain(tree), random_state(tree, 5)
    n = len(pattern)

    def transforms(q):
        found = [np.eye(4)]
        for link in chain.links:
            found.append(found[-1] @ transform(link, q))
        return np.stack(found[1:])

    W = kernel(f"(n)->({n},4,4)")(transforms)
    first, second = transform_derivatives(chain, q)
    near(np.moveaxis(np.stack(first), 1, -1), W.jacobian("q")(q))
    near(np.moveaxis(np.stack(second), [1, 2], [-2, -1]), W.jacobian("q").jacobian("q")(q))
    h = 1e-6
    for j in range(n):
        e = h * np.eye(n)[j]
        assert np.abs((W(q + e) - W(q - e)) / (2 * h) - np.stack(first)[:, j]).max() < 1e-8
        for i in range(j):
            assert not first[i][j].any() and not second[i][j].any() and not second[i][:, j].any()


# A trajectory


@pytest.mark.spec("S3-36")
def test_torques_along_a_trajectory():
    """W3-08 as one of many samples; every sample by another method."""
    tree = cy.load("s3_w08").tree
    chain = serial_chain(tree)
    t = np.linspace(0, 2, 50)[:, None]
    amplitude, rate = np.array([0.5, 0.1, 0.7, 0.9]), np.array([1.0, 2.0, 1.5, 0.7])
    q, qd, qdd = amplitude * np.sin(rate * t), amplitude * rate * np.cos(rate * t), -amplitude * rate**2 * np.sin(
        rate * t)
    q[17], qd[17], qdd[17] = [0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2], [1.0, 0.4, -0.6, 0.9]
    tau = inverse_dynamics_kernel(tree)(q, qd, qdd)
    assert tau.shape == (50, 4)
    assert np.abs(tau[17] - [0.5322560903, -0.6038819870, 2.1908408705, 0.2702896202]).max() < 1e-9
    for sample in range(0, 50, 7):
        near(tau[sample], trace_lagrange.inverse_dynamics(chain, q[sample], qd[sample], qdd[sample]))


# Approximations


@pytest.mark.spec("S1-48")
def test_without_velocity_terms_is_right_for_slow_motion():
    tree = random_chain("RPRR", 1)
    links, (q, qd, qdd) = links_of(tree), random_state(tree, 1)

    def error(slowness):
        slow = newton_euler.inverse_dynamics(links, q, slowness * qd, qdd)
        return slow - approximate.inverse_dynamics_without_velocities(links, q, slowness * qd, qdd)

    near(error(1.0), velocity_forces(links, q, qd), 1e-11)
    for slowness in (1.0, 1e-1, 1e-2):
        near(error(slowness), slowness**2 * error(1.0), 1e-9)
    assert not error(0.0).any()


@pytest.mark.spec("S1-48")
def test_table_look_up_converges_with_the_grid():
    links = links_of(cy.load("s1_f3").tree)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-0.9, 0.9, (40, 2)), rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    exact = np.stack([newton_euler.inverse_dynamics(links, *state) for state in zip(q, qd, qdd, strict=True)])

    def error(points):
        table = approximate.tabulate(links, [np.linspace(-1, 1, points)] * 2)
        assert table.numbers == points**2 * (4 + 8 + 2)
        return np.abs(table.inverse_dynamics(q, qd, qdd) - exact).max()

    errors = np.array([error(points) for points in (9, 17, 33, 65)])
    assert ((errors[:-1] / errors[1:] > 3) & (errors[:-1] / errors[1:] < 5.5)).all()  # the square of the grid's width
    assert errors[-1] < 1e-2 * np.abs(exact).max()


@pytest.mark.spec("S1-48")
def test_table_along_a_trajectory():
    links = links_of(cy.load("s2_we20").tree)

    def path(s):
        return s * np.array([0.3, -0.5, 0.9])

    table = approximate.tabulate(links, [np.linspace(0, 1, 101)], configuration=path)
    rng = np.random.default_rng(0)
    for s in (0.0, 0.25, 0.4, 1.0):  # at the points of the table it is exact
        qd, qdd = rng.normal(size=(2, 3))
        near(table.inverse_dynamics([s], qd, qdd), newton_euler.inverse_dynamics(links, path(s), qd, qdd))
    between = newton_euler.inverse_dynamics(links, path(0.333), qd, qdd)
    assert 0 < np.abs(table.inverse_dynamics([0.333], qd, qdd) - between).max() < 1e-3 * np.abs(between).max()
    with pytest.raises(SignatureError, match="goes from 0 to 1"):
        table.inverse_dynamics([1.01], qd, qdd)
    with pytest.raises(SignatureError, match="has 3 coordinates"):
        approximate.tabulate(links, [[0.0, 1.0]])


@pytest.mark.spec("S1-48")
def test_approximations_of_a_mechanism():
    """From a mechanism: with its drives, or refused where a table would leave them out."""
    arm = cy.load("s1_f3")
    q, qd, qdd = np.array([0.3, 0.4]), np.array([0.7, -0.2]), np.array([1.0, 2.0])
    near(arm.formulations.inverse_dynamics_without_velocities(q, qdd), arm.inverse_dynamics(q, np.zeros(2), qdd))
    near(arm.formulations.inverse_dynamics_without_velocities(np.stack([q, 2 * q]), qdd)[1],
         arm.inverse_dynamics(2 * q, np.zeros(2), qdd))
    table = arm.formulations.dynamics_table([np.linspace(-1, 1, 41)] * 2)
    exact = arm.inverse_dynamics(q, qd, qdd)
    assert np.abs(table.inverse_dynamics(q, qd, qdd) - exact).max() < 1e-2 * np.abs(exact).max()
    driven = arm.with_drive("joint1", gear=50.0, inertia=1e-3).including("armature")
    with_rotor, without = (one.formulations.inverse_dynamics_without_velocities(q, qdd) for one in (driven, arm))
    near(with_rotor - without, np.array([2.5, 0.0]), 1e-11)
    with pytest.raises(UnsupportedError, match="armature"):
        driven.formulations.dynamics_table([np.linspace(-1, 1, 3)] * 2)
    with pytest.raises(UnsupportedError, match="four_bar"):
        cy.load("four_bar").formulations.dynamics_table([[0.0, 1.0]] * 3)
    with pytest.raises(UnsupportedError, match="four_bar"):
        cy.load("four_bar").formulations.inverse_dynamics_without_velocities  # noqa: B018
