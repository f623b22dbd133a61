"""Dynamics in vector-parameters against particles in 60 digits, Pinocchio, closed forms, conserved energy and the
catalogue's values.
"""

import mpmath
import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

from cayley.compiler.algebras.interpret import MPMATH, interpret
from cayley.compiler.kernel import kernel
from cayley.dynamics.accounting.counted_run import generic_arm
from cayley.dynamics.inverse import newton_euler, vector_parameter_lagrange, vector_parameter_newton_euler
from cayley.dynamics.inverse.vector_parameter_lagrange import (
    body_velocities,
    check_finite,
    free_links,
    joint_coordinates,
    joint_values,
    rate_map,
    rotation,
    vector_parameter_bias,
    vector_parameter_inverse,
)
from cayley.dynamics.rigid_links.energies import kinetic_energy, potential_energy
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.vector_parameter_model import (
    vector_parameter_forward,
    vector_parameter_inertia,
    vector_parameter_model,
)
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.rotations import quaternion_from_matrix
from cayley.geometry.tensors.cross import skew
from cayley.model.catalogue import load_robot
from cayley.model.joint_kinds import Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree
from compiler.parity import check_parity
from dynamics.chains import EVERY_SHORT_PATTERN, LONG_PATTERNS, random_body, random_chain, random_state
from dynamics.particles import particle_forces
from dynamics.vector_parameters import joint_space_model
from kinematics.pinocchio_trees import PinocchioTree
from model.random_trees import random_pose

METHODS = (vector_parameter_lagrange.inverse_dynamics, vector_parameter_newton_euler.inverse_dynamics)


def close(found, expected, tolerance):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def planar(lengths=(1.0,), masses=(2.0, 1.5), centers=(0.5, 0.4), inertias=(0.2, 0.1)):
    """WE-07 of the catalogue."""
    bodies = [Body("base"), *[Body(f"link{k}", m, np.array([c, 0, 0]), np.diag([0.03, i, i]))
                              for k, (m, c, i) in enumerate(zip(masses, centers, inertias, strict=True))]]
    ahead = np.eye(4)
    ahead[0, 3] = lengths[0]
    joints = [Joint("joint0", "base", "link0", Revolute()), Joint("joint1", "link0", "link1", Revolute(), ahead)]
    return Tree.of("planar", bodies, joints, gravity=(0.0, -9.81, 0.0))


def spherical_chain(seed, kinds="SSS"):
    """Random ball joints (S) and joints that slide (P), in Pinocchio too."""
    random = np.random.default_rng(seed)
    bodies = [Body("root"), *[random_body(f"link{k}", random) for k in range(len(kinds))]]
    joints = [
        Joint(f"joint{k}", bodies[k].name, bodies[k + 1].name,
              Spherical() if kind == "S" else Prismatic(), random_pose(random)) for k, kind in enumerate(kinds)]
    return Tree.of("balls", bodies, joints, gravity=(1.0, -2.0, -9.0))


# Joint coordinates


@pytest.mark.parametrize("pattern", [*EVERY_SHORT_PATTERN, *LONG_PATTERNS])
@pytest.mark.parametrize("frames", ["modified", "any"])
def test_forces_agree_with_the_reference(pattern, frames):
    for seed, twists in ((1, "general"), (2, "special")):
        tree = random_chain(pattern, seed, twists=twists, frames=frames)
        chain, state = serial_chain(tree), random_state(tree, seed)
        for method in METHODS:
            close(method(chain, *state), newton_euler.inverse_dynamics(chain, *state), 1e-12)


@pytest.mark.parametrize("pattern", ["R", "P", "RPR", "RRPRRR"])
def test_forces_are_those_of_particles(pattern):
    tree = random_chain(pattern, 3, frames="any")
    state = random_state(tree, 4)
    expected = particle_forces(tree, *state)
    for method in METHODS:
        close(method(serial_chain(tree), *state), expected, 1e-13)


@pytest.mark.parametrize("name", ["s1_f4", "s1_f5", "panda", "ur5"])
@pytest.mark.parametrize("angle", [np.pi, -np.pi, np.pi / 2, 0.0, np.nextafter(np.pi, 0), 3 * np.pi])
def test_half_turns_cost_no_digits(name, angle):
    chain = serial_chain(load_robot(name))
    q, (qd, qdd) = np.full(chain.nv, angle), np.random.default_rng(5).normal(size=(2, chain.nv))
    for method in METHODS:
        close(method(chain, q, qd, qdd), newton_euler.inverse_dynamics(chain, q, qd, qdd), 1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_the_texts_compile(method):
    tree = random_chain("RPR", 6, twists="general")
    chain = serial_chain(tree)
    made = kernel("(3),(3),(3)->(3)", name="forces")(lambda q, qd, qdd: method(chain, q, qd, qdd))
    states = [np.stack(parts) for parts in zip(*[random_state(tree, seed) for seed in range(4)], strict=True)]
    check_parity(made, *states, tolerance=1e-12, single=1e-3, jacobians=False)


def test_an_arm_without_joints_needs_no_forces():
    chain = serial_chain(Tree.of("nothing", [Body("root")], []))
    for method in METHODS:
        assert method(chain, np.zeros(0), np.zeros(0), np.zeros(0)).shape == (0,)


# Reduction


@pytest.mark.spec("S0-29")
def test_planar_arm_has_the_inertia_of_the_catalogue():
    tree, q = planar(), np.array([0.3, 0.5])
    for whole in (False, True):
        H, _ = joint_space_model(serial_chain(tree), q, np.zeros(2), whole=whole)
        assert np.abs(H - [[3.5930990743, 0.8665495371], [0.8665495371, 0.34]]).max() < 1e-10
        m1, m2, l1, c1, c2, I1, I2 = 2.0, 1.5, 1.0, 0.5, 0.4, 0.2, 0.1
        cross = m2 * l1 * c2 * np.cos(q[1])
        closed = [[m1 * c1**2 + I1 + m2 * (l1**2 + c2**2) + 2 * cross + I2, m2 * c2**2 + cross + I2],
                  [m2 * c2**2 + cross + I2, m2 * c2**2 + I2]]
        assert np.abs(H - closed).max() < 1e-12


@pytest.mark.spec("S0-29")
@pytest.mark.parametrize("pattern", ["R", "RR", "RPR", "RRRR", "RRPRRR"])
@pytest.mark.parametrize("frames", ["modified", "any"])
def test_both_kinds_of_coordinates_reduce_to_the_same_model(pattern, frames):
    """With frames anywhere, the rotation before a joint is not perpendicular to its axis: c(q) is rational."""
    tree = random_chain(pattern, 7, frames=frames)
    chain, (q, qd, qdd) = serial_chain(tree), random_state(tree, 8)
    expected = newton_euler.inverse_dynamics(chain, q, qd, qdd)
    (H, h), (H_whole, h_whole) = joint_space_model(chain, q, qd), joint_space_model(chain, q, qd, whole=True)
    close(H @ qdd - h, expected, 1e-12)
    close(H_whole @ qdd - h_whole, expected, 1e-12)
    columns = [newton_euler.inverse_dynamics(chain, q, 0 * q, e) for e in np.eye(len(q))]
    rest = newton_euler.inverse_dynamics(chain, q, 0 * q, 0 * q)
    close(H, np.stack(columns, axis=1) - rest[:, None], 1e-12)


@pytest.mark.spec("S0-29")
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("frames", ["modified", "any"])
def test_the_derivatives_of_the_coordinates(whole, frames):
    tree = random_chain("RPR", 9, frames=frames)
    chain, (q, *_), step = serial_chain(tree), random_state(tree, 10), 1e-5
    q = np.abs(q) % 1.2
    now, after, before = (joint_coordinates(chain, q + x, whole=whole) for x in (0.0, step, -step))
    assert np.abs((after.c - before.c) / (2 * step) - now.first).max() < 1e-6 * np.abs(now.first).max()
    assert np.abs((after.first - before.first) / (2 * step)
                  - now.second).max() < 1e-6 * max(1.0,
                                                   np.abs(now.second).max())
    for link, c, fixed in zip(chain.links, now.c, now.fixed, strict=True):
        if link.is_revolute:
            assert np.abs(fixed @ rotation(c) - link.rotation(q)).max() < 1e-13


@pytest.mark.spec("S0-29")
def test_whole_rotations_of_a_table_are_affine_in_the_tangent():
    chain = serial_chain(generic_arm([0.7, -1.2, np.pi / 2]))
    c = [joint_coordinates(chain, 2 * np.arctan(np.full(3, t)), whole=True).c for t in (-0.7, 0.2, 1.1)]
    assert np.abs((c[1] - c[0]) - (c[2] - c[1])).max() < 1e-14
    for row, twist in zip(c[2], (0.7, -1.2, np.pi / 2), strict=True):  # spec R-26
        assert np.abs(row - [np.tan(twist / 2), -np.tan(twist / 2) * 1.1, 1.1]).max() < 1e-14


@pytest.mark.spec("S0-29")
def test_parameters_off_the_axis_have_no_joint_coordinates():
    chain = serial_chain(load_robot("s1_f4"))
    q = np.array([0.1, -0.6, 0.9, 0.4, -0.8, 1.2])
    c = np.zeros((6, 3))
    c[:, 2] = np.tan(q / 2)
    assert np.abs(joint_values(chain, c) - q).max() < 1e-15
    c[3, 0] = 0.1
    with pytest.raises(GeometryError, match="joint4"):
        joint_values(chain, c)
    c[3, 0] = np.inf
    with pytest.raises(SingularityError, match="joint4"):
        joint_values(chain, c)


# All components


def vector_parameter_energies(links, c, dc):
    """Kinetic energy (130), corrected as in spec E-29, and potential energy of gravity [J]."""
    free = free_links(links)
    return kinetic_energy(free, c.ravel(), body_velocities(links, c, dc)), potential_energy(free, c.ravel())


def of_pinocchio(tree, c, dc, ddc):
    """P_V from Pinocchio's own recursion: a ball joint there has the body's angular velocity B dc and the quaternion of
    c.
    """
    here, there, v, vd, maps = PinocchioTree.of(tree), [], [], [], []
    for joint, x, dx, ddx in zip(tree.joints, c, dc, ddc, strict=True):
        if isinstance(joint.motion, Spherical):
            scale = 2 / (1 + x @ x)
            B = scale * (np.eye(3) - skew(x))
            dB = -scale * (x @ dx) * B - scale * skew(dx)
            there.append(quaternion_from_matrix(rotation(x)))
            v.append(B @ dx)
            vd.append(B @ ddx + dB @ dx)
            maps.append(B)
        else:
            there.append(x[2:])
            v.append(dx[2:])
            vd.append(ddx[2:])
            maps.append(np.eye(3)[2:])
    q = here.q(np.concatenate(there))
    here.model.gravity.linear = np.array(tree.gravity)
    tau = pin.rnea(here.model, here.model.createData(), q, np.concatenate(v), np.concatenate(vd))
    parts = np.split(tau, np.cumsum([len(m) for m in maps])[:-1])
    return np.stack([m.T @ part for m, part in zip(maps, parts, strict=True)])


@pytest.mark.spec("S0-28")
@pytest.mark.parametrize("kinds", ["S", "SS", "SSS", "SPS", "PSSP"])
def test_forces_for_all_components_are_those_of_pinocchio(kinds):
    tree, random = spherical_chain(12, kinds), np.random.default_rng(13)
    c, dc, ddc = random.normal(size=(3, len(kinds), 3))
    for k, kind in enumerate(kinds):
        if kind == "P":  # Pinocchio's joint slides along one axis only
            c[k, :2] = dc[k, :2] = ddc[k, :2] = 0.0
    found = vector_parameter_inverse(links_of(tree), c, dc, ddc)
    expected = of_pinocchio(tree, c, dc, ddc)
    for k, kind in enumerate(kinds):
        own = slice(None) if kind == "S" else slice(2, 3)
        close(found[k, own], expected[k, own], 1e-12)


@pytest.mark.spec("S0-28")
@pytest.mark.parametrize("kinds", ["S", "SSS", "PSSP"])
def test_forward_undoes_inverse(kinds):
    chain, random = links_of(spherical_chain(14, kinds)), np.random.default_rng(15)
    c, dc, ddc = random.normal(size=(3, len(kinds), 3))
    close(vector_parameter_forward(chain, c, dc, vector_parameter_inverse(chain, c, dc, ddc)), ddc, 1e-9)


@pytest.mark.spec("S0-28")
def test_energies_and_forces_belong_together():
    """H_V is the Hessian of T, gravity is minus the slope of V, and h_V has dT/dc and the rate of H_V, by differences.
    """
    chain, random, step = links_of(spherical_chain(16, "SPS")), np.random.default_rng(17), 1e-6
    c, dc = random.normal(size=(2, 3, 3))
    H = vector_parameter_inertia(chain, c)
    assert np.abs(H - H.T).max() < 1e-13
    flat = dc.reshape(-1)
    close(np.array(vector_parameter_energies(chain, c, dc)[0]), flat @ H @ flat / 2, 1e-13)
    units = step * np.eye(9).reshape(9, 3, 3)
    slopes = np.array([
        np.subtract(vector_parameter_energies(chain, c + e, dc), vector_parameter_energies(chain, c - e, dc)) /
        (2 * step) for e in units])
    rate = (vector_parameter_inertia(chain, c + step * dc) - vector_parameter_inertia(chain, c - step * dc)) / (2
                                                                                                                * step)
    close(vector_parameter_bias(chain, c, dc), slopes[:, 0] - slopes[:, 1] - rate @ flat, 1e-7)
    close(vector_parameter_bias(chain, c, 0 * dc), -slopes[:, 1], 1e-7)


@pytest.mark.spec("S0-28")
def test_a_falling_chain_of_ball_joints_keeps_its_energy():
    chain, random = links_of(spherical_chain(18)), np.random.default_rng(19)
    forward = kernel("(3,3),(3,3)->(3,3)",
                     name="falling")(lambda c, dc: vector_parameter_forward(chain, c, dc, np.zeros((3, 3))))
    start = np.concatenate([random.uniform(-0.3, 0.3, 9), random.uniform(-0.5, 0.5, 9)])

    def rates(_, state):
        c, dc = state.reshape(2, 3, 3)
        return np.concatenate([dc, forward(c, dc)]).reshape(-1)

    end = solve_ivp(rates, (0.0, 0.2), start, rtol=1e-12, atol=1e-12, method="DOP853").y[:, -1]
    before, after = (sum(vector_parameter_energies(chain, *state.reshape(2, 3, 3))) for state in (start, end))
    assert np.abs(end - start).max() > 0.01
    assert abs(after - before) < 1e-11 * max(1.0, abs(before))


@pytest.mark.spec("S0-28")
def test_the_model_ends_at_half_turns():
    """The inertia of a component shrinks like 1/c^4 along c; an infinite c is refused by the joint's name."""
    chain = links_of(spherical_chain(20, "S"))
    along = np.array([0.6, 0.0, 0.8])
    least = [np.linalg.eigvalsh(vector_parameter_inertia(chain, size * along[None]))[0] for size in (1e3, 1e4)]
    assert 0.9e4 < least[0] / least[1] < 1.1e4
    with pytest.raises(SingularityError, match="joint0"):
        check_finite([link.name for link in chain.links], np.array([[np.inf, 0.0, 0.0]]), [False])


@pytest.mark.spec("S0-28")
@pytest.mark.parametrize("kinds", ["S", "SPS"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6, 1e9, 1e12, 1e40])
def test_forward_dynamics_in_long_vector_parameters(kinds, size):
    """Off the axes of joints, beside H_V that is formed and solved in 400 digits."""
    chain, random, n = links_of(spherical_chain(22, kinds)), np.random.default_rng(23), len(kinds)
    c, dc, P = random.normal(size=(3, n, 3))
    c[0] = c[0] * size
    dc[0] = dc[0] * max(size, 1.0)

    def equations(c, dc, P):
        return vector_parameter_inertia(chain, c), np.concatenate(list(P)) + vector_parameter_bias(chain, c, dc)

    text = kernel(f"({n},3),({n},3),({n},3)->({3 * n},{3 * n}),({3 * n})", name="equations")(equations)
    with mpmath.workdps(400):
        H, h = interpret(text.program(), MPMATH, c, dc, P)
        exact = mpmath.lu_solve(mpmath.matrix(H.tolist()), mpmath.matrix(h.tolist()))
        exact = np.array([exact[k] for k in range(3 * n)]).reshape(n, 3)
    forward = kernel(f"({n},3),({n},3),({n},3)->({n},3)", name="forward")(
        lambda c, dc, P: vector_parameter_forward(chain, c, dc, P))
    for found, right in zip(forward(c, dc, P), exact, strict=True):
        unit = max(abs(right))
        assert max(abs(mpmath.mpf(float(a)) - b) / unit for a, b in zip(found, right, strict=True)) < 1e-12


@pytest.mark.spec("S0-28")
def test_what_is_no_vector_parameter_is_named_for_what_it_is():
    model = vector_parameter_model(load_robot("s1_g2"))  # joint2 slides
    x = np.array(model.coordinates(np.full(3, 0.3)))
    for joint, value, error, words in (
            (0, np.nan, GeometryError, "vector-parameter of joint 'joint1' is nan"),
            (1, np.nan, GeometryError, "translation of joint 'joint2' is nan"),
            (1, np.inf, GeometryError, "translation of joint 'joint2' is inf"),
            (0, np.inf, SingularityError, "'joint1' is infinite, or beyond 1e.150: the joint is at a half-turn"),
            (2, 1e160, SingularityError, "'joint3' is infinite, or beyond 1e.150: the joint is at a half-turn")):
        bad = np.stack([x, x])
        bad[1, joint, 1] = value
        with pytest.raises(error, match=words):
            model.inertia_matrix(bad)


def test_rate_map_is_the_angular_velocity():
    random, step = np.random.default_rng(21), 1e-6
    c, dc = random.normal(size=(2, 3))
    turning = (rotation(c + step * dc) - rotation(c - step * dc)) / (2 * step) @ rotation(c).T
    assert np.abs(turning - skew(rate_map(c) @ dc)).max() < 1e-8
