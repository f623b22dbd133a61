"""Checks and tables at edges: tolerances that know the precision of numbers, and arguments that cannot be answered."""

import numpy as np
import pytest

import cayley as cy
from cayley.control.linearisation.global_linearisation import ResolvedAcceleration, error_matrix
from cayley.dynamics.approximate import tabulate
from cayley.dynamics.cartesian.model import CartesianMechanism
from cayley.dynamics.inverse.augmented_bodies import augmented_constants
from cayley.dynamics.inverse.newton_euler import Movement, own_load_about_center
from cayley.dynamics.nonholonomic.integrable_part import level_functions
from cayley.dynamics.nonholonomic.moving_frame import completed_frame
from cayley.dynamics.rigid_links.links import links_of, serial_chain
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.errors import (
    ConventionError,
    GeometryError,
    ModelError,
    SignatureError,
    SingularityError,
)
from cayley.geometry.inertia.tensors import inertia_symmetry
from cayley.geometry.motions import fixed_points, turn_about_line
from cayley.geometry.rotations.frames import Orientation
from cayley.geometry.tensors import dyad, minimal_dyads, tensor_of_map, tensor_rank
from cayley.geometry.tensors.frames import dyads_with_antecedents
from cayley.geometry.tensors.projections import oblique_projection
from cayley.kinematics.inverse.tracking import resolved_rates
from cayley.kinematics.singular.indices import indices
from cayley.kinematics.singular.redundancy import (
    general_solution,
    joint_velocities,
    manipulability_gradient,
    projected_rates,
)
from cayley.kinematics.singular.singularities import singularity
from cayley.kinematics.statics import wrench_from_joint_forces
from cayley.kinematics.subspaces import subspaces
from cayley.machines.parallel.delta import TranslationalDelta
from cayley.machines.parallel.stewart import StewartPlatform
from cayley.machines.walking.planar_biped import PlanarBiped
from cayley.model.parts import Body
from dynamics.symbol_names import counterpart
from geometry.formulas_of_tensors import dyad_basis
from kinematics.arms import standard_arm


@pytest.mark.spec("S1-10")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_rank_of_a_dyad_is_one_in_every_precision(dtype):
    random = np.random.default_rng(10)
    u, v = (random.normal(size=(2, 200, 3)) * 10.0**random.integers(-12, 12, (2, 200, 1))).astype(dtype)
    assert (tensor_rank(dyad(u, v)) == 1).all()
    assert all(len(minimal_dyads(T).antecedents) == 1 for T in dyad(u, v)[:20])
    assert (tensor_rank(dyad(u, v) + np.abs(dyad(u, v)).max(axis=(1, 2), keepdims=True) * np.eye(3, dtype=dtype)) == 3
            ).mean() > 0.95
    assert tensor_rank(np.zeros((3, 3), dtype)) == 0


@pytest.mark.spec("S1-10")
def test_frames_of_components_are_orthonormal():
    turned = cy.geometry.rotations.rotation_z(0.3) @ cy.geometry.rotations.rotation_x(0.7)
    np.testing.assert_allclose(tensor_of_map(lambda r: r, turned), np.eye(3), atol=1e-15)
    assert dyad_basis(turned.astype(np.float32)).shape == (3, 3, 3, 3)
    sheared = np.array([[1.0, 1, 0], [0, 1, 0], [0, 0, 1]])
    for frame in (2 * np.eye(3), sheared, np.full((3, 3), np.nan), np.ones((3, 2))):
        for made in (dyad_basis, lambda frame: tensor_of_map(lambda r: r, frame)):
            with pytest.raises(GeometryError):
                made(frame)


@pytest.mark.spec("S1-02")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fixed_points_in_every_precision(dtype):
    random = np.random.default_rng(2)
    for _ in range(100):
        point, axis = random.normal(size=(2, 3))
        axis /= np.linalg.norm(axis)
        found = fixed_points(turn_about_line(point, axis, random.uniform(0.1, 3.0)).astype(dtype))
        assert found.kind == "line" and np.abs(np.cross(found.direction, axis)).max() < 1e3 * np.finfo(dtype).eps
    assert fixed_points(np.eye(4, dtype=dtype)).kind == "all"


@pytest.mark.spec("S1-48")
def test_tables_take_empty_batches_and_refuse_what_is_no_grid():
    chain = links_of(cy.load("s2_we19").tree)
    table = tabulate(chain, [np.linspace(-1, 1, 5)] * 2)
    assert table.inverse_dynamics(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2))).shape == (0, 2)
    for axis in ([1.0, 0.0, -1.0], [], [0.0], [0.0, 0.0, 1.0], [0.0, np.nan, 1.0], [[0.0, 1.0]]):
        with pytest.raises(SignatureError, match="axis 1 of the table has to be two or more increasing numbers"):
            tabulate(chain, [np.linspace(-1, 1, 5), axis])
    for place, qd in (([0.0, np.nan], [0.0, 0.0]), ([0.0], [0.0, 0.0]), ([0.0, 0.0, 0.0], [0.0, 0.0]),
                      (0.0, [0.0, 0.0]), ([0.0, 0.0], [0.0]), ([0.0, 2.0], [0.0, 0.0])):
        with pytest.raises(SignatureError):
            table.inverse_dynamics(place, qd, [0.0, 0.0])


@pytest.mark.spec("S1-80")
def test_resolved_acceleration_takes_poses_only_and_refuses_singular_postures_in_every_precision():
    puma = cy.load("puma560")
    frame = puma.frame_names[-1]
    law = ResolvedAcceleration(puma.tree, frame, 100.0, 20.0)
    q, rest = np.array([0.1, 0.4, -0.3, 0.2, 0.5, 0.7]), np.zeros(6)
    pose = puma.pose(q, frame)
    for wrong in (2 * pose, np.diag([1.0, 1, -1, 1]) @ pose, np.full((4, 4), np.nan)):
        with pytest.raises(GeometryError):
            law.forces(q, rest, wrong, rest, rest)
    for dtype in (np.float64, np.float32):
        for wrist in (0.0, np.pi):
            at = np.array([0.1, 0.4, -0.3, 0.2, wrist, 0.7], dtype)
            with pytest.raises(SingularityError, match="Jacobian is singular"):
                law.forces(at, rest.astype(dtype), pose.astype(dtype), rest.astype(dtype), rest.astype(dtype))
    for Kp, Kv in (([1.0, 2.0], [1.0]), (np.ones((2, 3)), np.ones((2, 3))), (np.eye(2), np.ones(3))):
        with pytest.raises(SignatureError, match="gains Kp and Kv"):
            error_matrix(Kp, Kv)


@pytest.mark.spec("S1-101")
def test_symbols_of_the_appendix_are_what_they_are_said_to_be():
    """J_ci has the trace and the tensor of I_ci; a link that does not turn needs no moment about its centre."""
    random = np.random.default_rng(101)
    A = random.normal(size=(3, 3))
    body = Body("b", 2.0, random.normal(size=3), np.trace(A @ A.T) * np.eye(3) - A @ A.T)
    moments = LinkMoments.of(body)
    J = counterpart("J_ci").fget(moments)
    np.testing.assert_allclose(J, A @ A.T, atol=1e-13)
    np.testing.assert_allclose(np.trace(J) * np.eye(3) - J, counterpart("I_ci").fget(moments), atol=1e-13)
    link = links_of(cy.load("puma560").tree).links[2]
    a = np.array([0.3, -0.2, 0.9])
    load = counterpart("F_ci, M_ci")(link, Movement(np.zeros(3), np.zeros(3), np.zeros((3, 3)), a))
    assert counterpart("F_ci, M_ci") is own_load_about_center
    np.testing.assert_allclose(load.f, link.moments.mass * a, atol=1e-13)
    np.testing.assert_allclose(load.n, 0.0, atol=1e-13)
    np.testing.assert_array_equal(counterpart("1")(3), np.eye(3))
    first, *_ = augmented_constants(serial_chain(cy.load("s1_f4").tree))
    for K, second in zip(counterpart("K_oi").fget(first), first.second, strict=True):
        np.testing.assert_allclose(K, np.trace(second) * np.eye(3) - second, atol=1e-13)


def test_what_is_no_orientation_and_no_friction_is_refused():
    turn = Orientation(np.eye(3), of="tool", in_="base")
    with pytest.raises(ConventionError, match="not by ndarray"):
        turn @ np.eye(3)
    arm = cy.load("planar2r")
    for friction in ({"viscous": -1.0}, {"coulomb": -0.1}, {"viscous": np.nan}, {"coulomb": np.nan}):
        with pytest.raises(ModelError, match=r"friction of joint 'joint1' is .* is not negative"):
            arm.with_friction("joint1", **friction)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_singular_postures_are_refused_in_every_precision(dtype):
    """Numbers as near to a gimbal lock, a full turn or a locked joint as they can be."""
    rates = cy.geometry.rates
    with pytest.raises(SingularityError, match="outer axes are parallel"):
        rates.euler_chart("zyz", axes="moving").rates_from_world(np.array([0.3, np.pi, 0.1], dtype), np.ones(3, dtype))
    with pytest.raises(SingularityError, match="full turn"):
        rates.world_velocity_map_inverse(np.array([0.0, 0.0, 2 * np.pi], dtype))
    with pytest.raises(SingularityError, match="locked"):
        cy.geometry.motions.universal_joint_angle(dtype(np.pi / 2), dtype(0.3))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ranks_of_jacobians_know_the_precision_and_not_the_unit(dtype, scale):
    """Products of random factors have the rank of the narrower one, and what a Jacobian gives is in its range."""
    random = np.random.default_rng(26)
    for m, n, k in ((6, 6, 5), (6, 7, 5), (3, 3, 2), (6, 6, 6), (2, 4, 2)) * 10:
        J = (scale * random.normal(size=(m, k)) @ random.normal(size=(k, n))).astype(dtype)
        v = (J @ random.normal(size=n)).astype(dtype)
        full = k == min(m, n)
        assert subspaces(J).rank == k and singularity(J).singular == (not full)
        assert np.isfinite(indices(J).condition_number) == full == bool(resolved_rates(J, v).regular)
        found = general_solution(J, v)
        assert found.solved and np.abs(found.velocities).max() < 1e3
        assert wrench_from_joint_forces(J, (J.T @ v).astype(dtype)).balanced
        if m == n and not full:
            with pytest.raises(SingularityError):
                joint_velocities(J, v)
    assert subspaces(np.diag([1.0, 1e-8]).astype(dtype), tolerance=1e-9).rank == 2  # what is asked is done


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_singular_configurations_are_found_in_every_precision(dtype):
    puma = cy.load("puma560")
    for wrist, singular in ((0.0, True), (np.pi, True), (0.01, False)):
        at = np.array([0.1, 0.4, -0.3, 0.2, wrist, 0.7], dtype)
        assert puma.dexterity.singularity(at, puma.frame_names[-1], task="pose", axes="world", limits=False,
                                reachable=lambda pose: True).singular == singular


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_spaces_of_tensors_know_the_precision_and_not_the_unit(dtype, scale):
    random = np.random.default_rng(27)
    for _ in range(20):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        for moments, kind in (((2, 2, 3), "axisymmetric"), ((2, 2, 2), "spherical"), ((2, 2.001, 3), "triaxial")):
            I = (scale * turn @ np.diag(moments) @ turn.T).astype(dtype)
            assert inertia_symmetry(np.tril(I) + np.tril(I, -1).T).kind == kind
        onto = (scale * random.normal(size=(3, 2))).astype(dtype)
        with pytest.raises(GeometryError, match="do not make up the whole space"):
            oblique_projection(onto, (onto @ random.normal(size=(2, 1))).astype(dtype))
        with pytest.raises(GeometryError, match="depend on each other"):
            dyads_with_antecedents(I, (random.normal(size=(3, 2)) @ onto.T).astype(dtype))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_deltas_of_every_size_and_precision_know_what_is_determined(dtype, scale):
    delta = TranslationalDelta(0.2 * scale, 0.5 * scale, 0.15 * scale, 0.05 * scale)
    place = np.array([0.05, -0.04, 0.55]) * scale
    cranks = delta.inverse_position(place.astype(dtype))[-1]
    np.testing.assert_allclose(delta.direct_position(cranks.astype(dtype))[0] / place, 1, atol=99 * np.finfo(dtype).eps)
    with pytest.raises(SingularityError, match="one point"):
        TranslationalDelta(0.2 * scale, 0.5 * scale, 0.05 * scale, 0.15 * scale).direct_position(
            np.full(3, np.pi / 3, dtype))
    in_plane = TranslationalDelta(0.2 * scale, 0.5 * scale, 0.15 * scale, 0.05 * scale, (0.3, 0.3 + np.pi, 0.3))
    for angle in (0.3, 0.7, 1.1):
        cranks = np.array([angle, angle, np.pi - angle], dtype)
        assert np.isnan(in_plane.direct_position(cranks[None])).all()
        with pytest.raises(SingularityError, match="in line"):
            in_plane.direct_position(cranks)


@pytest.mark.parametrize("scale", [1e-7, 1.0, 1e3])
def test_stewart_platforms_of_every_size_have_the_same_poses_and_legs(scale):
    angles = np.radians([0, 60, 120, 180, 240, 300])
    base, platform = (r * np.stack([np.cos(angles + off), np.sin(angles + off), 0 * angles], axis=1)
                      for r, off in ((1.0, np.array([-0.2, 0.2] * 3)), (0.5, np.array([0.3, -0.3] * 3))))
    machine = StewartPlatform(scale * base, scale * platform)
    pose = np.eye(4)
    pose[2, 3] = 0.9 * scale
    lengths = machine.leg_lengths(pose)
    found = machine.direct_positions(lengths, starts=100)
    np.testing.assert_allclose(machine.leg_lengths(found) / lengths, 1.0, atol=1e-9)
    heights = found[:, 2, 3] / scale
    assert len(heights) == 8 and (np.diff(heights) > -1e-6).all()  # the mirror images of four, in order
    np.testing.assert_allclose(heights, -heights[::-1], atol=1e-9)
    np.testing.assert_allclose(heights[-1], 0.9, atol=1e-9)
    I = scale**2 * np.diag([1.0, 1.0, 0.3])
    plate, straight, bent = (Body("b", 2.0, scale * np.array([x, 0.0, 0.4]), I) for x in (0.0, 0.0, 1e-4))
    still = np.zeros(6)
    forces = [machine.dynamics(platform=plate, piston=piston).inverse_dynamics(pose, still, still)
              for piston in (straight, bent)]
    np.testing.assert_allclose(*forces, rtol=1e-3)  # whatever the size, legs that are nearly round do nearly the same


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bipeds_of_every_size_and_precision_stand_on_both_feet(dtype, scale):
    units = {"half_thigh": 0.22, "half_shank": 0.21, "trunk_center": 0.3}
    moments = {"trunk_inertia": 5.1, "thigh_inertia": 0.4872, "shank_inertia": 0.2536}
    biped = PlanarBiped(**{k: x * scale for k, x in units.items()}, **{k: x * scale**2 for k, x in moments.items()})
    q = np.array([0.0, 0.8 * scale, 0.1, 0.3, 0.1, -0.3, -0.35])
    legs = np.array([0.5, -0.4, 0.0, 0.0])
    J = biped.feet_jacobian(q)
    legs[2:] = np.linalg.solve(J[2:, 5:], J[:2, 3:5] @ legs[:2])
    assert np.isfinite(biped.forward_dynamics(q, np.zeros(7), np.zeros(4), np.zeros(4))).all()
    rest = np.zeros(7, dtype)
    biped.double_support_with_least_torques(q.astype(dtype), rest, legs.astype(dtype))
    with pytest.raises(GeometryError, match="moves the feet apart"):
        biped.double_support_with_least_torques(q.astype(dtype), rest, (legs + 0.01 * np.eye(4)[3]).astype(dtype))
    with pytest.raises(SingularityError, match="half-turn"):
        biped.tangents(np.array([0, 1, np.pi, 0, 0, 0, 0], dtype))
    for wrong in (0.99, 1 - 1e-9):
        with pytest.raises(ModelError, match="less than what its mass has there"):
            PlanarBiped(half_thigh=0.22 * scale, half_shank=0.22 * scale, trunk_center=0.0,
                        thigh_inertia=wrong * 8 * (0.22 * scale)**2, shank_inertia=0.3 * scale**2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_kernels_of_redundant_arms_give_no_numbers_at_singular_postures_in_every_precision(scale, dtype):
    """A planar arm that is stretched or folded along any direction, to the rounding of its angles."""
    arm = standard_arm([(scale * a, 0.0, 0.0, 0.0) for a in (1.0, 0.8, 0.5)])
    asked = {"task": (True, True, False, False, False, False), "axes": "world"}
    rates = cy.kernel("(3),(2),(3)->(3)")(
        lambda q, v, start: projected_rates(arm.tree, q, v, start, "frame3", **asked))
    slope = cy.kernel("(3)->(3)")(lambda q: manipulability_gradient(arm.tree, q, "frame3", **asked))
    first = np.random.default_rng(3).uniform(-3, 3, 50)
    for second, third, singular in ((0.0, 0.0, True), (np.pi, 0.0, True), (0.0, np.pi, True), (0.01, 0.0, False)):
        q = np.stack([first, 0 * first + second, 0 * first + third], axis=1).astype(dtype)
        v = np.array([0.3, 0.2], dtype) * dtype(scale)
        assert (np.isnan(rates(q, v, np.zeros(3, dtype))).any(axis=1) == singular).all()
        assert (np.isnan(slope(q)).any(axis=1) == singular).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cartesian_models_refuse_singular_postures_in_every_precision(dtype):
    puma = cy.load("puma560")
    model = CartesianMechanism(puma.tree, puma.frame_names[-1], orientation=None)
    rest = np.zeros(6, dtype)
    for wrist in (0.0, np.pi):
        with pytest.raises(SingularityError, match="is singular"):
            model.at(np.array([0.1, 0.4, -0.3, 0.2, wrist, 0.7], dtype), rest)
    assert np.isfinite(model.at(np.array([0.1, 0.4, -0.3, 0.2, 0.1, 0.7], dtype), rest).inertia).all()


@pytest.mark.parametrize("r", [1.2345678e-6, 0.0512345678901, 0.5, 512.345678901])
def test_level_functions_have_the_digits_of_wheels_of_every_size(r):
    """x - r phi and y - r phi^2 are what dx = r dphi and dy = 2 r phi dphi keep."""
    at = [0.1, 0.2, 0.3]
    frame = completed_frame(lambda q: [[1.0, 0.0, -r], [0.0, 1.0, -2 * r * q[2]]], at=at)
    assert frame.is_holonomic(at)
    first, second = level_functions(frame, at).functions
    assert first.terms == ((1.0, (0,)), (pytest.approx(-r, rel=1e-7), (2,)))
    assert second.terms == ((1.0, (1,)), (pytest.approx(-r, rel=1e-7), (2, 2)))
