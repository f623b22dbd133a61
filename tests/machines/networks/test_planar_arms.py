"""Planar arms of uniform rods: the tables of the source, in numbers and in symbols, and their motion."""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.errors import ModelError
from cayley.machines.networks.planar_rods import planar_arm, planar_tables
from cayley.machines.networks.rigid_body import RigidBody

ARM = planar_arm([2.0, 1.5, 0.8], [0.5, 0.4, 0.3])
THETA = np.array([0.3, -0.5, 0.8])
OMEGA = np.array([0.7, -0.4, 1.1])


@pytest.fixture(scope="module")
def tables():
    return planar_tables(3)


def numbers(table, m, l, theta, w):
    symbols = [sympy.symbols(f"{letter}_1:{len(m) + 1}", real=True) for letter in ("theta", "w", "m", "l")]
    names = [symbol for group in symbols for symbol in group]
    values = [*theta, *w, *m, *l]
    return np.array(table.subs(dict(zip(names, values, strict=True))).subs("g", 9.81), dtype=float)


@pytest.mark.spec("S4-28")
def test_three_links_in_numbers(tables):
    """W4-03: c, d, delta, beta, torques and tip; c' = d + d^T; delta is singular where the second angle is 0."""
    c = [[1.699292077831, 0.628254627631, 0.114762111396], [0.628254627631, 0.298883844097, 0.057441922049],
         [0.114762111396, 0.057441922049, 0.024]]
    d = [[-0.109737017066, -0.018113523869, -0.073030026668], [-0.129499894797, -0.037876401599, -0.048206329308],
         [0.022741776389, 0.010329927709, 0]]
    delta = [[-0.237685113031, 1.117295560172, 1], [-0.089925009700, 0.639627315609, 1],
             [-0.169392742019, 0.247600684473, 1]]
    beta = [22.396100106849, 6.932546025618, 0.971585085872]
    given = ([2.0, 1.5, 0.8], [0.5, 0.4, 0.3], THETA, OMEGA)
    for table, values in zip(tables, (c, d, delta, np.array(beta)[:, None]), strict=True):
        assert np.abs(numbers(table, *given) - values).max() < 1e-11
    load = np.zeros((1, 6))
    load[0, [0, 1, 5]] = 3, -2, 0.5
    qdd = np.array([0.2, 0.5, -0.3])
    assert np.abs(ARM.inverse_dynamics(THETA, OMEGA, qdd, load) - [25.313400130516, 8.110909628941, 1.531225336565]
                  ).max() < 1e-11
    tip = ARM.tip_motion(THETA, OMEGA)[0]
    assert np.abs(tip[[0, 1, 5]] - [-0.316741591462, 0.798616718797, 1.4]).max() < 1e-11
    M, h, gravity, _ = ARM.reduced(THETA, OMEGA)
    assert np.abs(M - c).max() < 1e-11 and np.abs(gravity - beta).max() < 1e-11
    assert np.abs(h - [-0.149903531734, -0.128526327957, 0.011787272389]).max() < 1e-11
    theta, w = (sympy.symbols(f"{letter}_1:4", real=True) for letter in ("theta", "w"))
    rate = sum((tables.c.diff(angle) * speed for angle, speed in zip(theta, w, strict=True)), sympy.zeros(3, 3))
    assert (rate - tables.d - tables.d.T).applyfunc(sympy.simplify) == sympy.zeros(3, 3)
    christoffel = sympy.Matrix(3, 3, lambda p, q: sum(
        (tables.c[p, q].diff(theta[k]) + tables.c[p, k].diff(theta[q]) - tables.c[q, k].diff(theta[p])) * w[k] / 2
        for k in range(3)))
    assert (tables.d - christoffel).applyfunc(lambda entry: sympy.simplify(sympy.expand(entry))) == sympy.zeros(3, 3)
    l1, l2, theta2 = sympy.symbols("l_1 l_2 theta_2", real=True)
    assert sympy.simplify(tables.delta.det() - l1 * l2 * sympy.sin(theta2)) == 0
    straight = tables.delta.subs(theta2, 0)
    assert sympy.simplify(straight.det()) == 0


@pytest.mark.spec("S4-28", "S4-33")
def test_table_1_in_symbols(tables):
    """The corrected entries of the table (E4-12), and the printed ones that are wrong."""
    theta, w, m, l = (sympy.symbols(f"{letter}_1:4", real=True) for letter in ("theta", "w", "m", "l"))
    S2, S3, S23 = sympy.sin(theta[1]), sympy.sin(theta[2]), sympy.sin(theta[1] + theta[2])
    C2, C3, C23 = sympy.cos(theta[1]), sympy.cos(theta[2]), sympy.cos(theta[1] + theta[2])
    C12, C123 = sympy.cos(theta[0] + theta[1]), sympy.cos(sum(theta))
    m2, m3 = m[1:]
    l1, l2, l3 = l
    w1, w2, w3 = w
    half = sympy.Rational(1, 2)
    everything = w1 + w2 + w3
    expected = {
        (0, 0): -m2 * l1 * l2 * S2 * w2 / 2 - m3 * (l1 * l2 * S2 * w2 + l2 * l3 * S3 * w3 / 2
                                                    + l1 * l3 * S23 * (w2 + w3) / 2),
        (0, 1): -m2 * l1 * l2 * S2 * (w1 + w2) / 2 - m3 * (l2 * l3 * S3 * w3 / 2 + l1 * l2 * S2 * (w1 + w2)
                                                           + l1 * l3 * S23 * everything / 2),
        (0, 2): -m3 * (l2 * l3 * S3 / 2 + l1 * l3 * S23 / 2) * everything,
        (1, 0): m2 * l1 * l2 * S2 * w1 / 2 + m3 * ((l1 * l2 * S2 + l1 * l3 * S23 / 2) * w1 - l2 * l3 * S3 * w3 / 2),
        (1, 1): -m3 * l2 * l3 * S3 * w3 / 2, (1, 2): -m3 * l2 * l3 * S3 * everything / 2,
        (2, 0): m3 * (l1 * l3 * S23 * w1 / 2 + l2 * l3 * S3 * (w1 + w2) / 2),
        (2, 1): m3 * l2 * l3 * S3 * (w1 + w2) / 2, (2, 2): 0}
    for place, entry in expected.items():
        assert sympy.expand(tables.d[place] - entry) == 0, place
    c01 = m2 * (l2**2 / 3 + l1 * l2 * C2 / 2)
    c01 += m3 * (l2**2 + l3**2 / 3 + l2 * l3 * C3 + l1 * l2 * C2 + l1 * l3 * C23 / 2)
    assert sympy.expand(tables.c[0, 1] - c01) == 0
    g = sympy.Symbol("g")
    assert sympy.expand(tables.beta[1] - g * (m2 * l2 * C12 * half + m3 * (l2 * C12 + l3 * C123 * half))) == 0
    assert str(tables.c[1, 2]) == "m_3*(l_2*l_3*cos(theta_3)/2 + l_3**2/3)"


@pytest.mark.spec("S4-29", "S4-33")
def test_two_links():
    """W4-04 and Table 2, which is right as printed; the same as the arm of the third source (W3-09)."""
    arm = planar_arm([2.0, 1.5], [0.5, 0.4])
    found = arm.inverse_dynamics([0.3, 0.7], [0.6, -0.8], [1.0, -0.5], np.zeros((1, 6)))
    assert np.abs(found - [14.0896019919, 1.7796237694]).max() < 1e-9
    table = planar_tables(2)
    theta, w, m, l = (sympy.symbols(f"{letter}_1:3", real=True) for letter in ("theta", "w", "m", "l"))
    g = sympy.Symbol("g")
    C1, C2, C12 = sympy.cos(theta[0]), sympy.cos(theta[1]), sympy.cos(theta[0] + theta[1])
    S2 = sympy.sin(theta[1])
    across = m[1] * (l[1]**2 / 3 + l[0] * l[1] * C2 / 2)
    c = [[m[0] * l[0]**2 / 3 + m[1] * (l[0]**2 + l[0] * l[1] * C2 + l[1]**2 / 3), across],
         [across, m[1] * l[1]**2 / 3]]
    k = m[1] * l[0] * l[1] * S2 / 2
    d = [[-k * w[1], -k * (w[0] + w[1])], [k * w[0], 0]]
    beta = [m[0] * g * l[0] * C1 / 2 + m[1] * g * (l[0] * C1 + l[1] * C12 / 2), m[1] * g * l[1] * C12 / 2]
    for ours, theirs in ((table.c, c), (table.d, d), (table.beta, beta)):
        assert (ours - sympy.Matrix(theirs)).applyfunc(sympy.expand) == sympy.zeros(*ours.shape)


@pytest.mark.spec("S4-23", "S4-30")
@pytest.mark.parametrize(("start", "at_one"), [
    ((*THETA, *OMEGA), (-3.273614206, -0.055951077, 1.795263877, -0.698726482, -1.860486637, 10.700142069)),
    ((0, 0, 0, 0, 0, 0), (-3.222662271, 0.220803932, 0.519942287, 1.029377384, -3.851498654, 4.431021938))])
def test_motion_in_time(start, at_one):
    """W4-05: as a system, in a compiled rollout, and by SciPy on the forward dynamics; the energy stays."""
    if not any(start):
        first = ARM.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((1, 6)))
        assert np.abs(first - [-25.690276243, 35.988066298, -15.717679558]).max() < 1e-8
    q, qd = np.split(np.array(start, dtype=float), 2)
    run = ARM.system().simulate({"q": q, "qd": qd}, until=1.0, rtol=1e-11, atol=1e-12)
    end = np.concatenate([run["q"][-1], run["qd"][-1]])
    assert np.abs(end - at_one).max() < 1e-7
    rolled = ARM.system().rollout(method="rk4")({"q": q, "qd": qd}, step=2e-4, steps=5000, every=5000)
    assert np.abs(np.concatenate([rolled["q"][-1], rolled["qd"][-1]]) - at_one).max() < 1e-6

    def rate(_, x):
        return [*x[3:], *ARM.forward_dynamics(x[:3], x[3:], np.zeros(3), np.zeros((1, 6)))]

    other = solve_ivp(rate, (0, 1), start, rtol=1e-11, atol=1e-12)
    assert np.abs(other.y[:, -1] - end).max() < 1e-8
    arm = cy.Mechanism(ARM.tree())
    energy = arm.kinetic_energy(run["q"], run["qd"]) + arm.potential_energy(run["q"])
    assert np.ptp(energy) < 1e-8
    if any(start):
        height = arm.potential_energy(q) - arm.potential_energy(np.zeros(3))
        assert abs(arm.kinetic_energy(q, qd) + height - 4.5817266920) < 1e-9


@pytest.mark.spec("S4-33")
def test_terminal_equations_in_symbols():
    """The operator of a chain as expressions in q and q', beside numbers."""
    arm = planar_arm([2.0, 1.5], [0.5, 0.4])
    q, qd = (sympy.symbols(f"{letter}1:3") for letter in ("q", "v"))
    P, Q, _, tip, u = arm.terminal_equations.evaluate(cy.SYMPY, q, qd)
    values = dict(zip([*q, *qd], [0.3, 0.7, 0.6, -0.8], strict=True))
    compiled = arm.terminal_equations([0.3, 0.7], [0.6, -0.8])
    for symbolic, numeric in zip((P, Q, tip, u), [compiled[k] for k in (0, 1, 3, 4)], strict=True):
        found = np.array(sympy.Matrix(symbolic).subs(values), dtype=float).reshape(np.shape(numeric))
        assert np.abs(found - numeric).max() < 1e-14
    mass = sympy.Symbol("m")
    body = RigidBody("b", mass, sympy.eye(3) * mass, {"A": sympy.symbols("x y z")})
    weight = body.terminal_equations(form="A", gravity=[0, 0, -sympy.Symbol("g")]).u[2]
    assert sympy.nsimplify(weight) == mass * sympy.Symbol("g")


def test_a_rod_has_a_mass_and_a_length():
    with pytest.raises(ModelError, match="2 masses and 1 lengths"):
        planar_arm([1.0, 2.0], [1.0])
