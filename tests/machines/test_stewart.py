"""The Stewart-Gough platform: lengths by definition, rates against differences, poses found again, singular postures.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ModelError, SingularityError
from cayley.machines.parallel import StewartPlatform
from cayley.model.parts import Body

ANGLES = np.radians([0, 60, 120, 180, 240, 300])


def ring(radius, angles):
    return radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)


MACHINE = StewartPlatform(ring(0.8, ANGLES), ring(0.4, ANGLES + np.radians([25, -25, 25, -25, 25, -25])))


PARTS = {"platform": Body("plate", 5.0, [0.02, -0.01, 0.03], [[0.1, 0.01, 0], [0.01, 0.12, 0], [0, 0, 0.2]]),
         "cylinder": Body("lower", 1.0, [0, 0, 0.2], np.diag([0.02, 0.02, 0.003])),
         "piston": Body("upper", 0.7, [0, 0, -0.25], np.diag([0.01, 0.01, 0.002]))}


def pose_of(rotation, place):
    made = np.eye(4)
    made[:3, :3] = rotation.as_matrix()
    made[:3, 3] = place
    return made


def some_poses(count, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([pose_of(Rotation.from_rotvec(0.4 * rng.normal(size=3)), [0, 0, 0.9] + 0.15 * rng.normal(size=3))
                     for _ in range(count)])


def test_lengths_are_distances_of_the_joints():
    poses = some_poses(50)
    joints = np.einsum("kij,lj->kli", poses[:, :3, :3], MACHINE.platform) + poses[:, None, :3, 3]
    np.testing.assert_allclose(MACHINE.leg_lengths(poses), np.linalg.norm(joints - MACHINE.base, axis=-1), rtol=1e-14)


@pytest.mark.spec("S2-107")
def test_rates_of_the_lengths_against_differences():
    twist = np.array([0.2, -0.1, 0.3, 0.5, -0.4, 0.6])
    step = 1e-6
    for pose in some_poses(5):
        ends = [
            MACHINE.leg_lengths(
                pose_of(
                    Rotation.from_rotvec(s * step * twist[3:]) * Rotation.from_matrix(pose[:3, :3]),
                    pose[:3, 3] + s * step * twist[:3])) for s in (-1, 1)]
        np.testing.assert_allclose(MACHINE.jacobian(pose) @ twist, (ends[1] - ends[0]) / (2 * step), atol=1e-8)


@pytest.mark.spec("S2-107")
def test_a_batch_of_poses_is_found_again_from_guesses_nearby():
    poses = some_poses(200)
    guesses = poses.copy()
    guesses[:, :3, 3] += 0.01
    found = MACHINE.direct_position(MACHINE.leg_lengths(poses), guess=guesses)
    assert found.status == "assembled" and found.iterations < 10
    np.testing.assert_allclose(found.pose, poses, atol=1e-9)


def test_all_poses_close_the_legs_and_a_planar_machine_has_mirror_images():
    pose = some_poses(1, seed=4)[0]
    lengths = MACHINE.leg_lengths(pose)
    found = MACHINE.direct_positions(lengths)
    assert len(found) % 2 == 0 and len(found) >= 4
    np.testing.assert_allclose(MACHINE.leg_lengths(found), np.broadcast_to(lengths, (len(found), 6)), atol=1e-9)
    assert min(np.abs(found - pose).max(axis=(1, 2))) < 1e-9
    np.testing.assert_allclose(sorted(found[:, 2, 3]), -np.array(sorted(found[:, 2, 3]))[::-1], atol=1e-7)
    np.testing.assert_allclose(np.linalg.det(found[:, :3, :3]), 1.0, atol=1e-12)


def test_legs_that_cannot_meet_are_said():
    found = MACHINE.direct_position([0.1, 5.0, 0.1, 5.0, 0.1, 5.0], guess=some_poses(1)[0])
    assert found.status == "not found" and found.residual > 0.1
    assert MACHINE.direct_positions([0.1, 5.0, 0.1, 5.0, 0.1, 5.0], starts=20).shape == (0, 4, 4)
    with pytest.raises(ModelError, match=r"joints on the base of a Stewart platform must be .* of the shape \(6, 3\)"):
        StewartPlatform(np.zeros((5, 3)), np.zeros((6, 3)))


@pytest.mark.spec("S2-107")
def test_a_platform_like_its_base_turned_by_a_quarter_is_singular():
    similar = StewartPlatform(ring(0.8, ANGLES), ring(0.4, ANGLES))
    quarter = pose_of(Rotation.from_rotvec([0, 0, np.pi / 2]), [0, 0, 0.9])  # Fichter 1986
    found = similar.singularity(quarter)
    assert found.kind == "direct" and len(found.gained) >= 1
    np.testing.assert_allclose(similar.jacobian(quarter) @ found.gained.T, 0.0, atol=1e-9)
    assert MACHINE.singularity(some_poses(1)[0]).kind == "regular"


def moved(pose, twist, acceleration, t):
    """The pose after a short time t, to second order; the rate of the twist is `acceleration`."""
    turn = Rotation.from_rotvec(t * twist[3:] + t**2 / 2 * acceleration[3:])
    return pose_of(turn * Rotation.from_matrix(pose[:3, :3]), pose[:3, 3] + t * twist[:3] + t**2 / 2 * acceleration[:3])


@pytest.mark.spec("S2-107")
def test_rates_and_accelerations_of_the_legs_both_ways():
    rng = np.random.default_rng(1)
    step = 1e-4
    for pose in some_poses(3, seed=2):
        twist, acceleration, wrench = rng.normal(size=(3, 6))
        before, here, after = (MACHINE.leg_lengths(moved(pose, twist, acceleration, t)) for t in (-step, 0.0, step))
        np.testing.assert_allclose(MACHINE.leg_rates(pose, twist), (after - before) / (2 * step), atol=1e-7)
        np.testing.assert_allclose(MACHINE.leg_accelerations(pose, twist, acceleration),
                                   (after - 2 * here + before) / step**2, atol=1e-5)
        np.testing.assert_allclose(MACHINE.platform_twist(pose, MACHINE.leg_rates(pose, twist)), twist, atol=1e-11)
        forces = MACHINE.leg_forces(pose, wrench)
        np.testing.assert_allclose(forces @ MACHINE.leg_rates(pose, twist), wrench @ twist, atol=1e-11)


@pytest.mark.spec("S2-107")
@pytest.mark.parametrize("piston", [PARTS["piston"], Body("bent", 1.0, [0.1, 0.02, -0.2], np.diag([0.02, 0.03, 0.01]))])
def test_dynamics_are_those_of_the_closed_mechanism(piston):
    gravity = (0.4, -0.3, -9.7)
    parts = {**PARTS, "piston": piston}
    dynamics = MACHINE.dynamics(**parts, gravity=gravity)
    arm = cy.Mechanism(MACHINE.tree(**parts, gravity=gravity))
    rng = np.random.default_rng(5)
    drives = list(arm.tree.actuated_velocities)
    for pose in some_poses(2, seed=3):
        twist, forces = rng.normal(size=(2, 6)) * [[1.0], [20.0]]
        q = MACHINE.configuration(pose)
        own = np.concatenate([pose[:3, :3].T @ twist[:3], pose[:3, :3].T @ twist[3:]])
        A = arm.loops.jacobian(q)
        qd = np.concatenate([own, np.linalg.solve(A[:, 6:], -A[:, :6] @ own)])
        tau = np.zeros(arm.nv)
        tau[drives] = forces
        qdd = arm.forward_dynamics.reference(q, qd, tau)  # which need not be compiled
        J = arm.jacobian(q, "platform", axes="world")
        expected = J @ qdd + arm.jacobian_rate(q, qd, "platform", axes="world") @ qd
        found = dynamics.forward_dynamics(pose, twist, forces)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(dynamics.inverse_dynamics(pose, twist, found), forces, atol=1e-9)
        np.testing.assert_allclose(qd[drives], MACHINE.leg_rates(pose, twist), atol=1e-12)
        np.testing.assert_allclose(qdd[drives], MACHINE.leg_accelerations(pose, twist, found), atol=1e-9)
        kinetic = twist @ dynamics.mass_matrix(pose) @ twist / 2
        np.testing.assert_allclose(kinetic, arm.kinetic_energy(q, qd), rtol=1e-12)


@pytest.mark.spec("S2-107")
@pytest.mark.parametrize("legs", [True, False])
def test_the_power_of_the_legs_is_the_rate_of_the_energy(legs):
    dynamics = MACHINE.dynamics(**(PARTS if legs else {"platform": PARTS["platform"]}))
    pose = some_poses(1, seed=8)[0]
    twist, acceleration = np.random.default_rng(6).normal(size=(2, 6))
    step = 1e-5

    def energy(t):
        at = moved(pose, twist, acceleration, t)
        rate = twist + t * acceleration
        place = at[:3, 3] + at[:3, :3] @ PARTS["platform"].center
        height = 5.0 * place[2]
        if legs:
            tops = np.einsum("ij,kj->ki", at[:3, :3], MACHINE.platform) + at[:3, 3]
            up = (tops - MACHINE.base) / MACHINE.leg_lengths(at)[:, None]
            height += np.sum(1.0 * 0.2 * up[:, 2] + 0.7 * (tops - 0.25 * up)[:, 2])
        return rate @ dynamics.mass_matrix(at) @ rate / 2 + 9.81 * height

    power = dynamics.inverse_dynamics(pose, twist, acceleration) @ MACHINE.leg_rates(pose, twist)
    np.testing.assert_allclose(power, (energy(step) - energy(-step)) / (2 * step), rtol=1e-7)


@pytest.mark.spec("S2-107")
def test_batches_and_what_dynamics_cannot_say():
    dynamics = MACHINE.dynamics(**PARTS)
    poses = some_poses(6)
    twists, forces = np.random.default_rng(0).normal(size=(2, 6, 6))
    together = dynamics.forward_dynamics(poses, twists, forces)
    for k in range(6):
        np.testing.assert_allclose(together[k], dynamics.forward_dynamics(poses[k], twists[k], forces[k]), atol=1e-11)
    assert dynamics.inverse_dynamics(poses[:0], twists[:0], forces[:0]).shape == (0, 6)
    similar = StewartPlatform(ring(0.8, ANGLES), ring(0.4, ANGLES))
    quarter = pose_of(Rotation.from_rotvec([0, 0, np.pi / 2]), [0, 0, 0.9])
    loose = similar.dynamics(platform=PARTS["platform"])
    with pytest.raises(SingularityError, match="do not hold it at this pose: it is free to move along"):
        loose.inverse_dynamics(quarter, np.zeros(6), np.zeros(6))
    assert np.isnan(loose.inverse_dynamics([quarter], np.zeros(6), np.zeros(6))).all()
    with pytest.raises(ModelError, match="the platform has no mass"):
        MACHINE.dynamics(platform=Body("plate"))
    with pytest.raises(ModelError, match="the piston of a leg has an unknown mass"):
        MACHINE.dynamics(platform=PARTS["platform"], piston=Body("unknown"))


@pytest.mark.spec("S2-107")
def test_base_and_platform_of_the_same_form_hold_no_pose():
    turned = ANGLES + np.radians([0, 17, -8, 3, 11, -20])  # any flat hexagon, and its image
    for seed in range(3):
        image = ring(0.45, turned) @ Rotation.from_rotvec([0, 0, 0.7 * seed]).as_matrix().T + [0.1, -0.05, 0.0]
        similar = StewartPlatform(ring(0.8, turned), image)
        assert similar.unheld_motions == 1
        for pose in some_poses(3, seed=seed):
            assert similar.singularity(pose).kind == "direct"
    assert MACHINE.unheld_motions == 0
    with pytest.raises(SingularityError, match="leave it 1 free motions at every pose"):
        similar.direct_positions(similar.leg_lengths(some_poses(1)[0]))
    line = StewartPlatform(np.linspace([0.0, 0, 0], [1.0, 0, 0], 6), np.linspace([0.0, 0, 0], [0.5, 0, 0], 6))
    assert line.unheld_motions >= 2  # it turns about the line of its joints, too


@pytest.mark.spec("S2-107")
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(4))
def test_where_the_legs_do_not_hold_the_platform_there_are_no_rates_and_no_forces(seed, size):
    """Any machine at a pose at which all legs meet a line, about which the platform turns freely; beside it the
    equations hold. A batch has NaN where a single pose is refused, and there alone."""
    random = np.random.default_rng(seed)
    pose = pose_of(Rotation.from_rotvec(random.normal(size=3)), size * random.normal(size=3))
    platform = random.normal(size=(6, 3)) * size
    joints = platform @ pose[:3, :3].T + pose[:3, 3]
    point, axis = size * random.normal(size=3), random.normal(size=3)
    on_line = point + np.outer(size * random.normal(size=6), axis)
    machine = StewartPlatform(joints + random.uniform(1.2, 3.0, (6, 1)) * (on_line - joints), platform)
    turning = np.concatenate([np.cross(axis, pose[:3, 3] - point), axis])
    assert np.abs(machine.leg_rates(pose, turning)).max() < 1e-12 * np.abs(turning[:3]).max()
    beside = pose @ pose_of(Rotation.from_rotvec([0.1, 0.2, -0.1]), [0.1 * size, 0.2 * size, 0.0])
    rates, wrench = size * random.normal(size=6), random.normal(size=6) * np.repeat([1.0, size], 3)
    for solve, given in ((machine.platform_twist, rates), (machine.leg_forces, wrench)):
        with pytest.raises(SingularityError, match="actuators of the Stewart platform do not hold its platform"):
            solve(pose, given)
        found = solve(np.array([[beside, pose], [pose, beside]]), given)
        assert np.isnan(found[[0, 1], [1, 0]]).all() and np.array_equal(found[0, 0], found[1, 1])
        assert np.array_equal(solve(beside, given), found[0, 0])
    J = machine.jacobian(beside)
    np.testing.assert_allclose(J @ machine.platform_twist(beside, rates), rates, atol=1e-9 * size)
    np.testing.assert_allclose((J.T @ machine.leg_forces(beside, wrench) - wrench) / np.repeat([1.0, size], 3), 0.0,
                               atol=1e-9)
    assert np.isnan(machine.platform_twist(np.nan * pose, rates)).all()
