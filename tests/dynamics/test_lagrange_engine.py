"""The general Lagrange engine against SymPy, closed forms and the other methods."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.mechanics.lagrange import lagrange_system
from cayley.dynamics.mechanics.particle_systems import ParticleSystem, constrained_particles
from cayley.dynamics.rigid_links.energies import kinetic_energy, potential_energy
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import ModelError, SignatureError, UnsupportedError
from dynamics.chains import random_chain, random_state

g = 9.81


class Pendulum:
    """m = 1.3, l = 0.7."""

    names = "a"

    def lagrangian(self, q, qd, f):
        return 1.3 * 0.7**2 * qd[0] ** 2 / 2 + 1.3 * g * 0.7 * f.cos(q[0])


class DoublePendulum:
    names = "a b"

    def lagrangian(self, q, qd, f):
        (a, b), (da, db) = q, qd
        x, y = 0.5 * f.cos(a) * da + 0.4 * f.cos(b) * db, 0.5 * f.sin(a) * da + 0.4 * f.sin(b) * db
        K = (2.0 * 0.25 * da**2 + 1.5 * (x**2 + y**2)) / 2
        return K + 2.0 * g * 0.5 * f.cos(a) + 1.5 * g * (0.5 * f.cos(a) + 0.4 * f.cos(b))


class CartPole:
    names = "x a"

    def lagrangian(self, q, qd, f):
        (_, a), (dx, da) = q, qd
        return (3.0 * dx**2 + 0.8 *
                (dx**2 + 2 * 0.6 * f.cos(a) * dx * da + 0.36 * da**2)) / 2 + 0.8 * g * 0.6 * f.cos(a)


class SphericalPendulum:
    names = "a b"

    def lagrangian(self, q, qd, f):
        return 0.49 * (qd[0] ** 2 + f.sin(q[0]) ** 2 * qd[1] ** 2) / 2 + 0.7 * g * f.cos(q[0])


class BeadOnHoop:
    """A hoop that turns about the vertical by the angle t^2 + 3 t: rheonomic."""

    names = "a"
    rheonomic = True

    def lagrangian(self, q, qd, f, t):
        return 0.25 * (qd[0] ** 2 + (f.sin(q[0]) * (2 * t + 3)) ** 2) / 2 + 0.5 * g * f.cos(q[0])


class PendulumOnDrivenPivot:
    """The pivot goes up and down as cos(5 t) / 10: the velocity of the mass has a part that depends on time alone."""

    names = "a"
    rheonomic = True

    def lagrangian(self, q, qd, f, t):
        x, y = 0.7 * f.cos(q[0]) * qd[0], 0.7 * f.sin(q[0]) * qd[0] - 0.5 * f.sin(5 * t)
        return (x**2 + y**2) / 2 - g * (0.1 * f.cos(5 * t) - 0.7 * f.cos(q[0]))


SYSTEMS = [Pendulum(), DoublePendulum(), CartPole(), SphericalPendulum(), BeadOnHoop(), PendulumOnDrivenPivot()]


def engine(example):
    if getattr(example, "rheonomic", False):
        return lagrange_system(lambda q, qd, t: example.lagrangian(q, qd, np, t))
    return lagrange_system(lambda q, qd: example.lagrangian(q, qd, np))


def in_sympy(example):
    """M and the bias (mass matrix and minus forcing) of SymPy's Lagrange's method, as a function of (q, qd, t)."""
    t, n = dynamicsymbols._t, len(example.names.split())
    q = dynamicsymbols(example.names, 0)
    q = list(q) if isinstance(q, (tuple, list)) else [q]
    qd = [x.diff(t) for x in q]
    time = [t] if getattr(example, "rheonomic", False) else []
    method = LagrangesMethod(example.lagrangian(q, qd, sp, *time), q)
    method.form_lagranges_equations()
    plain = sp.symbols(f"q:{n} w:{n}")
    swap = dict(zip([*qd, *q], [*plain[n:], *plain[:n]], strict=True))
    return sp.lambdify([*plain, t], [method.mass_matrix.subs(swap), -method.forcing.subs(swap)])


@pytest.mark.spec("S3-29", "S2-53")
@pytest.mark.parametrize("example", SYSTEMS, ids=lambda e: type(e).__name__)
def test_agrees_with_sympy(example):
    system, oracle = engine(example), in_sympy(example)
    n = len(example.names.split())
    assert system.rheonomic is getattr(example, "rheonomic", False)
    rng = np.random.default_rng(0)
    for q, qd, qdd in rng.normal(size=(4, 3, n)):
        t = rng.uniform(0, 2)
        time = [t] if system.rheonomic else []
        M, bias = (np.array(x, dtype=float) for x in oracle(*q, *qd, t))
        assert np.abs(system.inertia_matrix(q, qd, *time) - M).max() < 1e-13
        assert np.abs(system.bias(q, qd, *time) - bias[:, 0]).max() < 1e-12
        tau = M @ qdd + bias[:, 0]
        assert np.abs(system.generalized_forces(q, qd, qdd, *time) - tau).max() < 1e-12
        assert np.abs(system.accelerations(q, qd, tau, *time) - qdd).max() < 1e-11


def test_equations_are_there_to_read():
    pendulum = lagrange_system(lambda q, qd: qd[0] ** 2 / 2 + g * np.cos(q[0]))
    text = str(pendulum.generalized_forces.equations(n=1))
    assert "sin(q" in text and "qdd" in text


@pytest.mark.spec("S2-53")
def test_link_of_variable_length():
    """WE-21: theta and rho free; then theta = W t prescribed, one coordinate less."""
    m, L = 2.0, 0.5

    def kinetic(q, qd):
        return m * (qd[0] ** 2 + ((L + q[0]) * qd[1]) ** 2) / 2

    free = lagrange_system(kinetic, lambda q: m * g * (L + q[0]) * np.sin(q[1]))
    assert not free.rheonomic
    assert free.generalized_forces([0.3, 0.4], [0.2, 1.5], [0.1, -0.7]) == pytest.approx([4.2403878761, 14.5209733619],
                                                                                         abs=1e-9)

    W = 1.5
    driven = ParticleSystem([m], lambda q, t: [[(L + q[0]) * np.cos(W * t), (L + q[0]) * np.sin(W * t), 0.0]],
                            potential=lambda x: m * g * x[0, 1])
    assert driven.rheonomic
    for rho, rd, rdd, t in np.random.default_rng(1).normal(size=(5, 4)):
        force = m * (rdd - (L + rho) * W**2 + g * np.sin(W * t))
        assert driven.equations.generalized_forces([rho], [rd], [rdd], t)[0] == pytest.approx(force, abs=1e-12)
        # the driving torque, which the single equation does not contain, is that of the free link; its power changes K
        # + U
        rest = [rho, W * t], [rd, W], [rdd, 0.0]
        F, torque = free.generalized_forces(*rest)
        assert pytest.approx(force, abs=1e-12) == F

        def energy(s, rho=rho, rd=rd, rdd=rdd, t=t):
            return float(free.energy_function([rho + rd * s + rdd * s * s / 2, W * (t + s)], [rd + rdd * s, W]))

        rate = (energy(1e-5) - energy(-1e-5)) / 2e-5
        assert rate == pytest.approx(F * rd + torque * W, rel=1e-6, abs=1e-6)
        assert abs(rate - F * rd) > 1e-3


@pytest.mark.spec("S2-53")
def test_virtual_and_effective_displacements():
    """They are the same where time does not enter, and differ by dr/dt dt where it does; forces do work on virtual ones
    only.
    """
    def moving(q, t):
        return [[np.cos(q[0] + t), np.sin(q[0] + t) * q[1], t * t * q[1]], [q[1] * np.exp(t), 0.0, q[0]]]

    bound = ParticleSystem([1.0, 2.0], moving, forces=lambda x, xd, t: [[x[1, 0], 1.0, t], [0.0, xd[0, 1], 2.0]])
    q, dq, t, dt = np.array([0.3, -0.8]), np.array([0.7, 0.2]), 0.6, 0.05
    h = 1e-6
    x = bound.positions
    virtual = (x(q + h * dq, t) - x(q - h * dq, t)) / (2 * h)
    effective = (x(q + h * dq, t + h * dt) - x(q - h * dq, t - h * dt)) / (2 * h)
    assert np.abs(bound.virtual_displacement(q, dq, t) - virtual).max() < 1e-9
    assert np.abs(bound.effective_displacement(q, dq, dt, t) - effective).max() < 1e-9
    assert np.abs(virtual - effective).max() > 1e-2
    assert np.abs(bound.velocities(q, dq, t) - (x(q + h * dq, t + h) - x(q - h * dq, t - h)) / (2 * h)).max() < 1e-8

    applied = np.array([[x(q, t)[1, 0], 1.0, t], [0.0, bound.velocities(q, dq, t)[0, 1], 2.0]])
    free = ParticleSystem([1.0, 2.0], moving)
    Q = free.equations.bias(q, dq, t) - bound.equations.bias(q, dq, t)
    assert Q @ dq == pytest.approx((applied * virtual).sum(), rel=1e-8)

    still = ParticleSystem([1.0], lambda q: [[np.cos(q[0]), np.sin(q[0]), q[1]]])
    assert np.abs(still.effective_displacement(q, dq, dt) - still.virtual_displacement(q, dq)).max() == 0


@pytest.mark.spec("S3-29")
def test_time_in_the_embedding_keeps_its_term():
    """d'Alembert on particles whose places depend on q and t, by differences: Q_i = sum m a.dr/dq_i."""
    def places(q, t):
        return [[q[0] * np.cos(t) + t, np.sin(q[1] * t), q[0] * q[1]], [np.exp(q[1]) * t, q[0] ** 2, np.cos(3 * t)]]

    masses = np.array([1.5, 0.7])
    system = ParticleSystem(masses, places)
    q, qd, qdd, t, h = np.array([0.4, -0.2]), np.array([1.1, 0.6]), np.array([-0.5, 0.9]), 0.8, 1e-4

    def at(s):
        return system.positions(q + qd * s + qdd * s * s / 2, t + s)

    acceleration = (-at(2 * h) + 16 * at(h) - 30 * at(0) + 16 * at(-h) - at(-2 * h)) / (12 * h * h)
    slopes = [system.virtual_displacement(q, e, t) for e in np.eye(2)]
    wanted = [(masses[:, None] * acceleration * slope).sum() for slope in slopes]
    assert system.equations.generalized_forces(q, qd, qdd, t) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.spec("S3-29")
def test_particles_with_constraints_are_the_pendulum():
    """N = 2, h = 4, n = 2: a double pendulum in its own six coordinates, against angles."""
    lengths, masses = (0.5, 0.4), [2.0, 1.5]

    def bound(x):
        return [x[0] @ x[0] - lengths[0] ** 2, (x[1] - x[0]) @ (x[1] - x[0]) - lengths[1] ** 2, x[0, 2], x[1, 2]]

    def weight(x):
        return g * (masses[0] * x[0, 1] + masses[1] * x[1, 1])

    def places(q):
        first = [lengths[0] * np.sin(q[0]), -lengths[0] * np.cos(q[0]), 0.0]
        return [first, [first[0] + lengths[1] * np.sin(q[1]), first[1] - lengths[1] * np.cos(q[1]), 0.0]]

    in_angles = ParticleSystem(masses, places, potential=weight)
    in_places = constrained_particles(masses, bound, potential=weight)
    a, da = np.array([0.7, -1.1]), np.array([1.3, 0.4])
    x, xd = in_angles.positions(a).ravel(), in_angles.velocities(a, da).ravel()
    assert in_places.degrees_of_freedom(x) == 3 * 2 - 4
    dda = in_angles.equations.accelerations(a, da, np.zeros(2))
    found = in_places.accelerations(x, xd, np.zeros(6))
    h = 1e-4

    def at(s):
        return in_angles.positions(a + da * s + dda * s * s / 2).ravel()

    assert np.abs(found - (-at(2 * h) + 16 * at(h) - 30 * at(0) + 16 * at(-h) - at(-2 * h)) / (12 * h * h)).max() < 1e-5
    # Newton: what the weight does not explain, the constraints do
    pull = np.repeat(masses, 3) * found - np.array([0, -masses[0] * g, 0, 0, -masses[1] * g, 0])
    A, lam = in_places.constraint_jacobian(x), in_places.multipliers(x, xd, np.zeros(6))
    assert np.abs(pull + A.T @ lam).max() < 1e-12


@pytest.mark.spec("S3-29")
def test_moving_constraint():
    """A bead on a straight wire that turns by W t, by a constraint that depends on time: r'' = W^2 r, pushed sideways
    by 2 m W r'.
    """
    W, m = 2.0, 0.3
    wire = constrained_particles([m], lambda x, t: [x[0, 1] * np.cos(W * t) - x[0, 0] * np.sin(W * t), x[0, 2]])
    r, rd, t = 0.7, -0.4, 0.9
    along, across = np.array([np.cos(W * t), np.sin(W * t), 0]), np.array([-np.sin(W * t), np.cos(W * t), 0])
    x, xd = r * along, rd * along + r * W * across
    assert wire.rheonomic and wire.degrees_of_freedom(x, t) == 1
    found = wire.accelerations(x, xd, np.zeros(3), t)
    assert np.abs(found - 2 * W * rd * across).max() < 1e-12  # r'' - W^2 r = 0 along the wire
    A, lam = wire.constraint_jacobian(x, t), wire.multipliers(x, xd, np.zeros(3), t)
    assert np.abs(-A.T @ lam - 2 * m * W * rd * across).max() < 1e-12


def test_dissipation_and_forces():
    """Rayleigh's function takes power 2 R; applied forces are on the right side."""
    system = lagrange_system(lambda q, qd: qd @ qd / 2, lambda q: q @ q, dissipation=lambda q, qd:
                             (qd[0]**2 + 3 * qd[1]**2) / 2, forces=lambda q, qd: [np.sin(q[0]), q[0] * qd[1]])
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 2))
    wanted = qdd + 2 * q + [qd[0], 3 * qd[1]] - np.array([np.sin(q[0]), q[0] * qd[1]])
    assert system.generalized_forces(q, qd, qdd) == pytest.approx(wanted, rel=1e-13)
    assert system.accelerations(q, qd, wanted) == pytest.approx(qdd, rel=1e-12)
    driven = lagrange_system(lambda q, qd: qd @ qd / 2, forces=lambda q, qd, t: [np.sin(t), 0.0])
    assert driven.rheonomic and driven.accelerations(q, qd, np.zeros(2), 0.5) == pytest.approx([np.sin(0.5), 0.0])


def test_energy_of_a_free_motion_stays():
    system = engine(DoublePendulum())
    motion = solve_ivp(lambda _, y: np.concatenate([y[2:], system.accelerations(y[:2], y[2:], np.zeros(2))]), (0, 3),
                       [2.0, 1.0, 0.0, 0.5], rtol=1e-11, atol=1e-11)
    energy = system.energy_function(motion.y[:2].T, motion.y[2:].T)
    assert np.ptp(energy) < 1e-8


def test_jacobi_integral_of_the_driven_bead():
    """With a constant rate of the hoop L does not contain t: p.qd - L stays, K + U does not."""
    w = 4.0

    def kinetic(q, qd):
        return (qd[0] ** 2 + (w * np.sin(q[0])) ** 2) / 2

    system = lagrange_system(kinetic, lambda q: -g * np.cos(q[0]))
    motion = solve_ivp(lambda _, y: [y[1], system.accelerations(y[:1], y[1:], [0.0])[0]], (0, 3), [1.5, 0.3],
                       rtol=1e-11, atol=1e-11)
    q, qd = motion.y[:1].T, motion.y[1:].T
    assert np.ptp(system.energy_function(q, qd)) < 1e-8
    assert np.ptp([kinetic(*s) - g * np.cos(s[0][0]) for s in zip(q, qd, strict=True)]) > 1
    assert np.abs(system.momenta(q, qd) - qd).max() < 1e-14


@pytest.mark.spec("S3-29")
@pytest.mark.parametrize("pattern", ["RR", "RPR", "PRR"])
def test_lagrange_of_the_energies_is_newton_and_euler(pattern):
    """(5.2.6): the engine on the energies of an arm gives the forces of inverse dynamics."""
    tree = random_chain(pattern, 4, frames="any")
    links = links_of(tree)
    arm = lagrange_system(lambda q, qd: kinetic_energy(links, q, qd), lambda q: potential_energy(links, q))
    state = random_state(tree, 4)
    wanted = newton_euler.inverse_dynamics(links, *state)
    assert np.abs(arm.generalized_forces(*state) - wanted).max() < 1e-12 * np.abs(wanted).max()


def test_batches():
    system = engine(CartPole())
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, 4, 5, 2))
    tau = system.generalized_forces(q, qd, qdd)
    assert tau.shape == (4, 5, 2) and np.abs(system.accelerations(q, qd, tau) - qdd).max() < 1e-11


@pytest.mark.spec("S3-29")
@pytest.mark.parametrize(("n", "given"), [(2, 1), (2, 3), (1, 2), (3, 1)])
def test_forces_of_the_wrong_size_are_refused(n, given):
    def kinetic(q, qd):
        return qd @ qd / 2

    system = lagrange_system(kinetic, forces=lambda q, qd: np.arange(1.0, given + 1))
    with pytest.raises(SignatureError, match=f"one for each of the {n} coordinates"):
        system.generalized_forces(*np.ones((3, n)))
    with pytest.raises(SignatureError, match=f"one for each of the {n} coordinates"):
        system.accelerations(*np.ones((3, n)))
    right = lagrange_system(kinetic, forces=lambda q, qd: np.arange(1.0, n + 1))
    np.testing.assert_allclose(right.accelerations(np.ones(n), np.ones(n), np.zeros(n)), np.arange(1.0, n + 1))


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (2, 2)])
def test_forces_on_particles_are_one_for_each(shape):
    both = ParticleSystem([1.0, 2.0], lambda q: [[q[0], 0, 0], [q[0] + 1.0, q[1], 0]],
                          forces=lambda x, xd: np.ones(shape))
    with pytest.raises(SignatureError, match="forces on 2 particles"):
        both.equations.generalized_forces(*np.ones((3, 2)))
    held = constrained_particles([1.0, 2.0], lambda x: [(x[1] - x[0]) @ (x[1] - x[0]) - 1.0],
                                 forces=lambda x, xd: np.ones(shape))
    with pytest.raises(SignatureError, match="forces on 2 particles"):
        held.generalized_forces(*np.ones((3, 6)))


def test_wrong_input():
    with pytest.raises(SignatureError, match="takes 1 arguments"):
        lagrange_system(lambda q: q @ q)
    with pytest.raises(UnsupportedError, match="has no constraints"):
        _ = lagrange_system(lambda q, qd: qd @ qd, name="it").multipliers
    with pytest.raises(ModelError, match="2 masses"):
        ParticleSystem([1.0, 1.0], lambda q: [[q[0], 0.0, 0.0]]).positions([0.0])
    with pytest.raises(ModelError, match="3 coordinates, not 2"):
        constrained_particles([1.0], lambda x: [x[0, 0]]).accelerations([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
