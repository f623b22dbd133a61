"""Dynamics in Cartesian space beside inverse dynamics, finite differences and the worked values of the catalogue."""

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.cartesian.linearised import CartesianLinearised, perturbation_map
from cayley.dynamics.cartesian.model import CartesianCoordinates, CartesianMechanism, operational_space_kernel
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import ConventionError, SignatureError, SingularityError, UnsupportedError
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_matrix
from cayley.model.joint_kinds import JointKind, Revolute
from cayley.model.parts import Body, Joint
from dynamics.chains import random_chain, random_state
from dynamics.test_inverse_dynamics import random_tree

PATTERNS = ("RRRRRR", "RRPRRR", "PRRRPR")
PLANE = (True, True, False, False, False, False)
ATTITUDE = "zyx moving"


def arm_and_state(pattern, seed=3):
    """A chain in a state that is far from singular."""
    for attempt in range(50):
        tree = random_chain(pattern, seed)
        q, qd, qdd = random_state(tree, seed + 100 * attempt)
        arm = cy.Mechanism.of(tree.name, tree.bodies, tree.joints, frames=tree.frames, gravity=tree.gravity)
        margin = min(
            np.linalg.cond(CartesianCoordinates(arm.tree, "tool", orientation).jacobian(q))**-1
            for orientation in (None, ATTITUDE))
        if margin > 0.02:
            return arm, 0.4 * qd, 0.4 * qdd, q
    raise AssertionError("no regular state found")


@pytest.mark.spec("S1-95", "S1-96")
@pytest.mark.parametrize("pattern, orientation", [("RRRRRR", None), ("RRPRRR", ATTITUDE)])
def test_the_model_is_inverse_dynamics_seen_from_the_tool(pattern, orientation):
    arm, qd, qdd, q = arm_and_state(pattern)
    seen = CartesianMechanism(arm.tree, "tool", orientation)
    J, dJ, _ = seen.coordinates.jacobians(q, qd, qdd)
    acceleration, tau = J @ qdd + dJ @ qd, inverse_dynamics_kernel(arm.tree)(q, qd, qdd)
    model = seen.at(q, qd)
    force = np.linalg.solve(J.T, tau)
    np.testing.assert_allclose(model.force(acceleration), force, rtol=0, atol=1e-12 * np.abs(force).max())
    np.testing.assert_allclose(seen.joint_forces(q, qd, acceleration), tau, rtol=0, atol=1e-12 * np.abs(tau).max())
    np.testing.assert_allclose(model.acceleration(force), acceleration, rtol=1e-7,
                               atol=1e-7 * np.abs(acceleration).max())
    D = inertia_matrix_kernel(arm.tree)(q)
    np.testing.assert_allclose(J.T @ model.inertia @ J, D, rtol=0, atol=1e-11 * np.abs(D).max())
    gravity = inverse_dynamics_kernel(arm.tree)(q, 0 * qd, 0 * qd)
    np.testing.assert_allclose(J.T @ model.gravity_forces, gravity, rtol=0,
                               atol=1e-11 * max(1.0,
                                                np.abs(gravity).max()))
    compiled = operational_space_kernel(arm.tree, "tool", orientation=orientation)(q, qd, 0.0)
    for ours, other in zip(compiled[:3], (model.inertia, model.velocity_forces, model.gravity_forces), strict=True):
        np.testing.assert_allclose(ours, other, rtol=0, atol=1e-8 * np.abs(other).max())
    np.testing.assert_allclose(J @ compiled.inverse, np.eye(6), atol=1e-8)


def test_redundant_arms_and_rows_of_a_task():
    arm, rng = cy.load("panda").tree, np.random.default_rng(0)
    q, qd, acceleration = rng.normal(size=7), 0.1 * rng.normal(size=7), rng.normal(size=6)
    seen = CartesianMechanism(arm, "tool")
    tau = seen.joint_forces(q, qd, acceleration)
    qdd = np.linalg.solve(inertia_matrix_kernel(arm)(q), tau - inverse_dynamics_kernel(arm)(q, qd, np.zeros(7)))
    J, dJ, _ = seen.coordinates.jacobians(q, qd, qdd)
    np.testing.assert_allclose(J @ qdd + dJ @ qd, acceleration, atol=1e-8)
    assert CartesianMechanism(arm, "tool", task="position").at(np.zeros((2, 4, 7)) + q,
                                                               qd).inertia.shape == (2, 4, 3, 3)


def test_singular_configurations_are_refused_or_damped():
    arm = cy.load("planar2r").tree
    stretched, rest = [0.3, 0.0], [0.0, 0.0]
    with pytest.raises(SingularityError, match="Declare a damping"):
        CartesianMechanism(arm, "tool", task=PLANE).at(stretched, rest)
    with pytest.raises(SingularityError, match="Declare a damping"):
        operational_space_kernel(arm, "tool", task=PLANE)(stretched, rest, 0.0)
    with pytest.raises(SingularityError, match="Declare a damping"):
        CartesianMechanism(arm, "tool").at([0.3, 1.0], rest)  # six rows, two joints
    k = 0.1
    damped = CartesianMechanism(arm, "tool", task=PLANE, damping=k).at(stretched, rest)
    assert np.linalg.eigvalsh(damped.inertia).max() == pytest.approx(1 / k**2)
    assert np.isinf(damped.condition) or damped.condition > 1e14
    compiled = operational_space_kernel(arm, "tool", task=PLANE)(stretched, rest, k)
    np.testing.assert_allclose(compiled.inertia, damped.inertia, rtol=1e-9, atol=1e-9)
    regular = [0.3, 1.2]
    exact = CartesianMechanism(arm, "tool", task=PLANE).at(regular, rest).inertia
    nearly = CartesianMechanism(arm, "tool", task=PLANE, damping=1e-4).at(regular, rest).inertia
    np.testing.assert_allclose(nearly, exact, rtol=1e-5)


def test_one_state_of_a_batch_does_not_spoil_the_others():
    arm = cy.load("planar2r").tree
    law, rest = operational_space_kernel(arm, "tool", task=PLANE), np.zeros(2)
    states = np.array([[0.3, 1.2], [0.3, 0.0]])
    mixed = law(states, rest, [0.0, 0.1])  # the singular state is damped
    np.testing.assert_array_equal(mixed.inertia[0], law(states[0], rest, 0.0).inertia)
    with pytest.raises(SingularityError, match="1 of the batch"):
        law(states, rest, [0.1, 0.0])
    states[1] = np.nan
    seen, coordinates = CartesianMechanism(arm, "tool", task=PLANE), CartesianCoordinates(arm, "tool", task=PLANE)
    for found in (law(states, rest,
                      0.0).inertia, seen.at(states,
                                            rest).inertia, CartesianLinearised(coordinates).at(states, rest, rest).P):
        assert np.isfinite(found[0]).all() and np.isnan(found[1]).all()
    assert CartesianLinearised(coordinates).at(states[:0], states[:0], states[:0]).P.shape == (0, 2, 2)


def test_a_mechanism_without_joints():
    post, none = cy.Mechanism.of("post", [Body("ground"), Body("post", 1.0)],
                                 [Joint("weld", "ground", "post", JointKind())]).tree, np.zeros(0)
    with pytest.raises(SingularityError, match="singular"):
        CartesianMechanism(post, "post").at(none, none)
    np.testing.assert_allclose(CartesianMechanism(post, "post", damping=0.1).at(none, none).inertia, 100 * np.eye(6))


def test_wrong_coordinates_are_refused():
    arm = cy.load("planar2r").tree
    with pytest.raises(ConventionError, match="four parameters"):
        CartesianCoordinates(arm, "tool", "quaternion")
    with pytest.raises(SignatureError, match="as many rows"):
        CartesianLinearised(CartesianCoordinates(arm, "tool")).at([0.3, 1.2], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(SingularityError, match="singular"):
        CartesianLinearised(CartesianCoordinates(arm, "tool", task=PLANE)).at([0.3, 0.0], [0.0, 0.0], [0.0, 0.0])
    floating = random_tree(1, ("floating",))
    with pytest.raises(UnsupportedError, match="floating"):
        perturbation_map(CartesianCoordinates(floating, "frame0"), floating.neutral, np.zeros(6), np.zeros(6))


@pytest.mark.spec("S1-94")
@pytest.mark.parametrize(("orientation", "axes", "middle"), [
    ("zyx moving", "zyx", np.pi / 2), ("zyx moving", "zyx", -np.pi / 2), ("xyz fixed", "zyx", np.pi / 2),
    ("zyz moving", "zyz", 0.0), ("zyz moving", "zyz", np.pi)])
def test_coordinates_at_a_singular_orientation_are_refused_by_every_entry(orientation, axes, middle):
    """Axes that meet, in the order of the angles: the middle one is where its sequence is singular."""
    bodies = [Body(f"b{k}", 1.0) for k in range(4)]
    joints = [Joint(f"j{k}", f"b{k}", f"b{k + 1}", Revolute({"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[axis]))
              for k, axis in enumerate(axes)]
    coordinates = CartesianCoordinates(cy.Mechanism.of("eye", bodies, joints).tree, "b3", orientation)
    qd = np.ones(3)
    for off in (0.0, 1e-3):
        q = np.array([0.3, middle + off, 0.5])
        for entry in (coordinates.jacobian, lambda q: coordinates.jacobian_rate(q, qd),
                      lambda q: coordinates.jacobian_second_rate(q, qd, qd),
                      lambda q: coordinates.jacobians(q, qd, qd)):
            if off:
                assert np.isfinite(np.concatenate([np.ravel(x) for x in np.atleast_1d(entry(q))])).all()
                continue
            with pytest.raises(SingularityError, match="singular for 'b3'"):
                entry(q)


def test_negative_damping_is_refused():
    for damping in (-0.01, np.nan):
        with pytest.raises(SignatureError, match="damping"):
            CartesianMechanism(cy.load("planar2r").tree, "tool", task=PLANE, damping=damping)


# Perturbations


def motion(arm, orientation, q, qd, qdd):
    """x (coordinates, or the pose), x' and x'' of the tool."""
    if orientation is None:
        return arm.pose(q, "tool"), arm.twist(q, qd, "tool",
                                              axes="world"), arm.acceleration(q, qd, qdd, "tool", axes="world")
    J, dJ, _ = CartesianCoordinates(arm.tree, "tool", orientation).jacobians.unchecked(q, qd, qdd)
    return arm.coordinates(q, "tool", orientation=orientation), J @ qd, J @ qdd + dJ @ qd


def between(orientation, start, end):
    if orientation is None:
        return np.concatenate([end[:3, 3] - start[:3, 3], rotation_vector_from_matrix(end[:3, :3] @ start[:3, :3].T)])
    return end - start


def measured(arm, orientation, state, direction, h=1e-5):
    """dx, dx', dx'' by differences of fourth order."""
    found = []
    for step in (h, 2 * h):
        ends = [
            motion(arm, orientation, *[x + s * d for x, d in zip(state, direction, strict=True)])
            for s in (-step, step)]
        found.append([
            between(orientation, ends[0][0], ends[1][0]) / (2 * step),
            *[(b - a) / (2 * step) for a, b in zip(ends[0][1:], ends[1][1:], strict=True)]])
    return [(4 * a - b) / 3 for a, b in zip(*found, strict=True)]


@pytest.mark.spec("S1-97")
@pytest.mark.parametrize("pattern, orientation", [("RRRRRR", None), ("PRRRPR", None), ("RRPRRR", ATTITUDE)])
def test_perturbations_go_to_the_tool_and_back(pattern, orientation):
    arm, qd, qdd, q = arm_and_state(pattern)
    direction = np.random.default_rng(1).normal(size=(3, 6))
    maps = perturbation_map(CartesianCoordinates(arm.tree, "tool", orientation), q, qd, qdd)
    there = maps.to_cartesian(*direction)
    for ours, true in zip(there, measured(arm, orientation, (q, qd, qdd), direction), strict=True):
        np.testing.assert_allclose(ours, true, rtol=0, atol=1e-8 * max(1.0, np.abs(true).max()))
    np.testing.assert_allclose(maps.to_joints(*there), direction, atol=1e-9)


@pytest.mark.spec("S1-98")
@pytest.mark.parametrize("pattern", ["RRRRRR", "RRPRRR"])
def test_linearised_model_in_coordinates(pattern):
    check_linearised_model(pattern, ATTITUDE)


@pytest.mark.spec("S1-99")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_linearised_model_for_twists(pattern):
    check_linearised_model(pattern, None)


def test_the_form_of_the_source_is_right_for_twists_at_rest_alone():
    arm, qd, qdd, q = arm_and_state("RRRRRR", 8)
    coordinates = CartesianCoordinates(arm.tree, "tool")
    J, dJ, ddJ = coordinates.jacobians(q, qd, qdd)
    model = CartesianLinearised(coordinates).at(q, qd, qdd)
    _, V, P = CartesianLinearised(coordinates).sensitivities(q, qd, qdd)
    back = np.linalg.inv(J)
    V_printed = (V - 2 * model.D @ dJ) @ back
    P_printed = (P - V_printed @ dJ - model.D @ ddJ) @ back
    dx, dxd, dxdd = model.map.to_cartesian(*np.random.default_rng(3).normal(size=(3, 6)))
    true, printed = model.force_change(dx, dxd, dxdd), model.D @ dxdd + V_printed @ dxd + P_printed @ dx
    assert np.linalg.norm(printed - true) > 0.01 * np.linalg.norm(true)
    _, dJ, ddJ = coordinates.jacobians(q, 0 * qd, 0 * qdd)
    still = perturbation_map(coordinates, q, 0 * qd, 0 * qdd)
    np.testing.assert_allclose(still.N, dJ, atol=1e-14)
    np.testing.assert_allclose(still.dN, ddJ, atol=1e-14)


def check_linearised_model(pattern, orientation, seed=3):
    """dtau of inverse dynamics beside the model applied to true perturbations of the tool's motion."""
    arm, qd, qdd, q = arm_and_state(pattern, seed)
    model, inverse = CartesianLinearised(CartesianCoordinates(arm.tree, "tool",
                                                              orientation)).at(q, qd,
                                                                               qdd), inverse_dynamics_kernel(arm.tree)
    for direction in np.random.default_rng(2).normal(size=(3, 3, 6)):
        ends = {
            s: inverse(*[x + s * d for x, d in zip((q, qd, qdd), direction, strict=True)])
            for s in (-2e-3, -1e-3, 1e-3, 2e-3)}
        true = (8 * (ends[1e-3] - ends[-1e-3]) - (ends[2e-3] - ends[-2e-3])) / 12e-3
        ours = model.force_change(*measured(arm, orientation, (q, qd, qdd), direction, h=1e-3))
        np.testing.assert_allclose(ours, true, rtol=0, atol=1e-8 * max(1.0, np.abs(true).max()))
        dx, dxd, dxdd = model.map.to_cartesian(*direction)
        np.testing.assert_allclose(model.force_change(dx, dxd, dxdd), true, rtol=0,
                                   atol=1e-8 * max(1.0,
                                                   np.abs(true).max()))
        space = model.state_space
        slope = space.A @ np.concatenate([dx, dxd]) + space.B @ model.force_change(dx, dxd, dxdd)
        np.testing.assert_allclose(slope[6:], dxdd, atol=1e-8 * np.abs(dxdd).max())
        J, dJ, _ = CartesianCoordinates(arm.tree, "tool", orientation).jacobians(q, qd, qdd)
        # (J dq)'
        np.testing.assert_allclose(slope[:6], dJ @ direction[0] + J @ direction[1], atol=1e-8 * np.abs(slope).max())


@pytest.mark.parametrize("name, norms, trace, geometric, uncorrected",
                         [("s1_g3", (3.98895231, 0.87192070, 1.66371107), 1351.85485875,
                           (40.117093, 118.468600, 611.309743), (118.703297, 610.827000)),
                          ("s1_g4", (3.66169220, 0.80087573, 1.52186178), 24.42914308, (10.932856, 7.603200, 57.934781),
                           (7.506923, 58.360563))])
def test_worked_values(name, norms, trace, geometric, uncorrected):
    arm, i = cy.load(name).tree, np.arange(1, 7)
    q, qd, qdd = 0.2 * i - 0.5, 0.3 - 0.1 * i, 0.05 * i**2 - 0.3
    coordinates = CartesianCoordinates(arm, arm.bodies[-1].name)
    J, dJ, ddJ = coordinates.jacobians(q, qd, qdd)
    np.testing.assert_allclose([np.linalg.norm(x) for x in (J, dJ, ddJ)], norms, rtol=1e-5)
    assert np.trace(CartesianMechanism(arm, arm.bodies[-1].name).at(q, qd).inertia) == pytest.approx(trace, rel=1e-5)
    model = CartesianLinearised(coordinates).at(q, qd, qdd)
    np.testing.assert_allclose([np.linalg.norm(x) for x in (model.D, model.V, model.P)], geometric, rtol=1e-5)
    V = (CartesianLinearised(coordinates).sensitivities(q, qd, qdd).V - 2 * model.D @ dJ) @ np.linalg.inv(J)
    assert np.linalg.norm(V) == pytest.approx(uncorrected[0], rel=1e-5)
