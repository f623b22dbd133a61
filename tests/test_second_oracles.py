"""A second, independent proof for capabilities that had one (S2-110)."""

import mpmath as mp
import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from cayley.dynamics.mechanics.equilibrium import Potential
from cayley.errors import ConventionError
from cayley.geometry import inertia as ci
from cayley.geometry import rotations as rot
from cayley.geometry.tensors import hat
from cayley.kinematics.singular.indices import (
    condition_number,
    force_ellipsoid,
    joint_velocity_ellipsoid,
    velocity_ellipsoid,
)
from cayley.machines import RobotMasses, RollingRobot
from kinematics.arms import planar_arm

pytestmark = pytest.mark.spec("S2-110")


def test_a_double_pendulum_has_four_equilibria_and_one_is_stable():
    """The potential's own verdict, and that of the motion: M w'' + H w = 0 has as many growing solutions as H has
    negative directions, M from one half of the kinetic energy by particles."""
    m, l, g = (1.3, 0.7), (0.6, 0.5), 9.81
    U = Potential(lambda q: -(m[0] + m[1]) * g * l[0] * np.cos(q[0]) - m[1] * g * l[1] * np.cos(q[0] + q[1]))
    found = U.equilibria([(-1.0, 4.0), (-1.0, 4.0)]).found
    assert sorted(tuple((e.q.round(9) / np.pi).round(6) + 0.0) for e in found) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    growing = {}
    for e in found:
        c = np.cos(e.q[1])
        M = np.array([[m[0] * l[0]**2 + m[1] * (l[0]**2 + l[1]**2 + 2 * l[0] * l[1] * c),
                       m[1] * (l[1]**2 + l[0] * l[1] * c)], [m[1] * (l[1]**2 + l[0] * l[1] * c), m[1] * l[1]**2]])
        step = 1e-4
        H = np.array([[(U.value(e.q + step * (a + b)) - U.value(e.q + step * (a - b)) - U.value(e.q - step * (a - b))
                        + U.value(e.q - step * (a + b))) / (4 * step**2) for b in np.eye(2)] for a in np.eye(2)])
        place = tuple((e.q / np.pi).round(6) + 0.0)
        growing[place] = int(np.sum(np.linalg.eigvals(np.linalg.solve(M, H)).real < 0))
        assert (e.nature == "stable") == (growing[place] == 0)
    assert growing == {(0, 0): 0, (0, 1): 1, (1, 0): 2, (1, 1): 1}
    assert [e.nature for e in found].count("stable") == 1


def test_continuous_bodies_by_exact_integrals():
    """A box whose density is a polynomial, term by term in fractions; a cone as a pile of discs."""
    x, y, z = place = sp.symbols("x y z")
    ranges = ((0, 1), (-1, 1), (0, sp.Rational(3, 2)))
    density = 1 + x + 2 * x * y + z**2

    def integral(f):
        terms = sp.Poly(f * density, *place).terms()
        return float(sum(c * sp.prod([(high**(k + 1) - low**(k + 1)) / sp.Integer(k + 1)
                                      for k, (low, high) in zip(powers, ranges, strict=True)]) for powers, c in terms))

    m = integral(sp.Integer(1))
    center = np.array([integral(p) for p in place]) / m
    about = np.array([[integral((x**2 + y**2 + z**2 if p == w else 0) - p * w) for p in place] for w in place])
    body = ci.mass_properties_of_density(lambda x, y, z: 1 + x + 2 * x * y + z**2, (0, -1, 0), (1, 1, 1.5), points=4)
    np.testing.assert_allclose([body.mass, *body.center], [m, *center], rtol=1e-13)
    np.testing.assert_allclose(body.inertia + m * (center @ center * np.eye(3) - np.outer(center, center)), about,
                               rtol=1e-12, atol=1e-13)
    wide, high, rho = 0.4, 1.2, 3.0
    disc = lambda z: rho * np.pi * (wide * (1 - z / high)) ** 2  # noqa: E731
    m, first, second, polar = (quad(f, 0, high)[0] for f in (
        disc, lambda z: z * disc(z), lambda z: z * z * disc(z), lambda z: (wide * (1 - z / high)) ** 2 / 2 * disc(z)))
    cone = ci.cone(wide, high, density=rho)
    across = polar / 2 + second - first**2 / m
    np.testing.assert_allclose([cone.mass, *np.diag(cone.inertia)], [m, across, across, polar], rtol=1e-12)


def test_both_branches_of_z_x_z():
    """Both triples rebuild the matrix in SciPy; its own triple is the first; at sin(theta) = 0 only a sum is known."""
    rng = np.random.default_rng(0)
    R = Rotation.random(50, random_state=1)
    found = rot.euler_from_matrix(R.as_matrix(), sequence="zxz", axes="moving")
    np.testing.assert_allclose(found.angles, R.as_euler("ZXZ"), atol=1e-12)
    for branch, sign in ((found.angles, 1), (found.other, -1)):
        np.testing.assert_allclose(Rotation.from_euler("ZXZ", branch).as_matrix(), R.as_matrix(), atol=1e-14)
        assert (sign * branch[:, 1] > 0).all()
    for theta, sign in ((0.0, 1), (np.pi, -1)):
        psi, phi = rng.uniform(-1, 1, 2)
        flat = rot.euler_from_matrix(Rotation.from_euler("ZXZ", [psi, theta, phi]).as_matrix(), sequence="zxz",
                                     axes="moving")
        assert flat.singular and flat.sign == sign and flat.combined == pytest.approx(psi + sign * phi, abs=1e-12)


def test_the_velocity_matrix_of_the_rolling_robot():
    """C of (4.54), corrected: I' - 2 C is skew along every motion, so that power is the rate of the energy."""
    robot = RollingRobot(0.1, 0.5, 0.12, 0.3, 0.08, RobotMasses(1.5, 0.8, 0.4, 20.0, 0.003, 1.1))
    rng = np.random.default_rng(2)
    psi, u = rng.uniform(-3, 3, 20), rng.normal(size=(20, 2))
    step = 1e-5
    slope = (robot.inertia_matrix(psi + step) - robot.inertia_matrix(psi - step)) / (2 * step)
    rate = slope * robot.castor_rates(psi, u)[:, 1, None, None]
    N = rate - 2 * robot.velocity_matrix(psi, u)
    size = np.abs(rate).max()
    assert size > 0.01 and np.abs(N + np.swapaxes(N, 1, 2)).max() < 1e-7 * size
    tau = rng.normal(size=(20, 2))
    ud = robot.forward_dynamics(psi, u, tau)
    power = np.einsum("ki,kij,kj->k", u, robot.inertia_matrix(psi), ud) + np.einsum("ki,kij,kj->k", u, rate, u) / 2
    np.testing.assert_allclose(power, np.sum(u * tau, axis=1), rtol=1e-6, atol=1e-7)


def test_condition_numbers_in_other_norms():
    rng = np.random.default_rng(3)
    J = rng.normal(size=(30, 3, 3))
    for norm, order in (("2", 2), ("frobenius", "fro"), ("1", 1), ("inf", np.inf)):
        np.testing.assert_allclose(condition_number(J, norm=norm), np.linalg.cond(J, order), rtol=1e-9)
        wide = rng.normal(size=(3, 7))
        expected = np.linalg.norm(wide, order) * np.linalg.norm(np.linalg.pinv(wide), order)
        assert condition_number(wide, norm=norm) == pytest.approx(expected, rel=1e-12)
        assert condition_number(np.diag([1.0, 0.0]), norm=norm) == np.inf
    two = condition_number(J, norm="2")
    for norm in ("1", "inf"):  # equivalent norms
        assert (condition_number(J, norm=norm) <= 3 * two * (1 + 1e-12)).all()
        assert (two <= 3 * condition_number(J, norm=norm) * (1 + 1e-12)).all()
    with pytest.raises(ConventionError, match="nuclear"):
        condition_number(J, norm="nuclear")


def test_ellipsoids_of_one_unit():
    """A Jacobian of metres and radians has no ellipsoid; with a characteristic length its axes and the ratios of its
    lengths do not depend on the unit of length. Where the arm is isotropic all three are spheres."""
    rows = (True, True, False, False, False, True)
    q = np.array([0.3, 0.7, -0.4])
    arms = [planar_arm(1.0 * unit, 0.8 * unit, 0.5 * unit) for unit in (1.0, 1000.0)]
    with pytest.raises(ConventionError, match="different units"):
        arms[0].dexterity.task_jacobian(q, "tool", task=rows, axes="world")
    one, milli = (velocity_ellipsoid(arm.dexterity.task_jacobian(q, "tool", task=rows, axes="world",
                                                                 characteristic_length=L))
                  for arm, L in zip(arms, (0.6, 600.0), strict=True))
    np.testing.assert_allclose(milli.lengths, one.lengths, rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(milli.axes * one.axes, axis=0)), 1.0, rtol=1e-12)
    isotropic = np.array([[0.3, -0.4], [0.4, 0.3]])
    for ellipsoid, length in ((velocity_ellipsoid, 0.5), (joint_velocity_ellipsoid, 2.0), (force_ellipsoid, 2.0)):
        np.testing.assert_allclose(ellipsoid(isotropic).lengths, length, rtol=1e-14)


def test_derivatives_of_every_order_of_a_rotation():
    """d^k Q / dphi^k = E^k Q: 40 digits of numerical derivatives of the entries of Q, from its definition."""
    e = np.array([2.0, -3.0, 6.0]) / 7
    angle = 0.9
    Q = rot.matrix_by_cayley_hamilton(e, angle)
    with mp.workdps(40):
        exact = [mp.mpf(k) / 7 for k in (2, -3, 6)]

        def entry(i, j):
            skew = {(0, 1): -exact[2], (0, 2): exact[1], (1, 2): -exact[0], (1, 0): exact[2], (2, 0): -exact[1],
                    (2, 1): exact[0]}.get((i, j), 0)
            along = exact[i] * exact[j]
            return lambda f: along + mp.cos(f) * ((i == j) - along) + mp.sin(f) * skew

        for k in range(6):
            numeric = np.array([[float(mp.diff(entry(i, j), mp.mpf(angle), k)) for j in range(3)] for i in range(3)])
            np.testing.assert_allclose(rot.skew_power(hat(e), power=k) @ Q, numeric, rtol=0, atol=1e-14)


def test_a_turned_vector_and_the_one_before():
    """p' - p = b x (p' + p) with Rodrigues' parameters b, SciPy turning p; near half-turns too, where b is long."""
    rng = np.random.default_rng(4)
    for angle in (1e-9, 0.4, 2.0, 3.1, np.pi - 1e-6):
        e = rng.normal(size=3)
        e = e / np.linalg.norm(e)
        turn = Rotation.from_rotvec(angle * e)
        b = rot.vector_parameter_from_matrix(turn.as_matrix())
        p = rng.normal(size=(5, 3))
        after = turn.apply(p)
        np.testing.assert_allclose(after - p, np.cross(b, after + p), rtol=0, atol=1e-15 * (1 + b @ b) * 10)
        near = 1e-9 if angle > 3.14 else 1e-14
        np.testing.assert_allclose(p @ rot.matrix_from_vector_parameter(b).T, after, atol=near)
