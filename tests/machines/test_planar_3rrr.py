"""The planar 3-RRR: worked values of the specification, random machines, postures that are built to be singular."""

import numpy as np
import pytest

from cayley.errors import ModelError, SingularityError, UnreachableError
from cayley.machines.parallel import Planar3RRR, actuation
from cayley.machines.parallel.legs import crank_angles

MACHINE = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
SIX = Planar3RRR([(0.0, 0.0), (1.5, 0.0), (1.2, 1.7)], cranks=[1.2, 0.6, 1.3], rods=[1.3, 1.6, 1.8], side=1.2)
POSE = np.array([1.25, 0.62, 0.2])


def unit(degrees):
    return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=-1)


def built(pose, rods, theta, cranks=(0.8, 0.7, 0.9), side=0.7):
    """A machine that stands at a pose with these rods (3, 2) and crank angles."""
    corners = Planar3RRR(np.zeros((3, 2)), [1.0] * 3, [1.0] * 3, side).vertices(pose)
    pivots = corners - rods - np.array(cranks)[:, None] * unit(np.degrees(theta))
    return Planar3RRR(pivots, cranks, np.linalg.norm(rods, axis=1), side)


def random_machine(rng):
    return Planar3RRR(rng.normal(size=(3, 2)), rng.uniform(0.4, 1.4, 3), rng.uniform(0.4, 1.6, 3),
                      rng.uniform(0.2, 1.2))


@pytest.mark.spec("S2-59")
def test_actuators_are_as_many_as_freedoms_or_not():
    assert actuation(actuators=3, freedoms=3).kind == "fully actuated"
    assert actuation(actuators=4, freedoms=3).kind == "redundantly actuated"
    assert actuation(actuators=2, freedoms=3) == ("under-actuated", 2, 3)
    assert actuation(actuators=2, freedoms=3).surplus == -1
    with pytest.raises(ModelError, match="-1 actuators"):
        actuation(actuators=-1, freedoms=3)


@pytest.mark.spec("S2-60")
def test_all_working_modes_of_the_worked_example():
    np.testing.assert_allclose(MACHINE.vertices(POSE), [(.9471223248, .3524211383), (1.6331689293, .4914896699),
                                                        (1.1697087459, 1.0160891918)], atol=1e-10)
    modes = np.degrees(MACHINE.inverse_position(POSE))
    first = [78.6432306843, -149.5684674758, -35.9874723903]
    second = [-37.8230899621, 84.2539195323, -147.2788553635]
    np.testing.assert_allclose(modes[0], first, atol=1e-9)
    np.testing.assert_allclose(modes[-1], second, atol=1e-9)
    assert len({tuple(mode) for mode in modes.round(6)}) == 8
    for leg in range(3):
        assert set(modes[:, leg].round(8)) == {round(first[leg], 8), round(second[leg], 8)}


@pytest.mark.spec("S2-60")
def test_every_mode_of_random_machines_has_rods_of_their_length():
    rng = np.random.default_rng(0)
    for _ in range(5):
        machine = random_machine(rng)
        poses = rng.normal(size=(200, 3))
        modes = machine.inverse_position(poses)
        lengths = machine.rod_lengths(poses[:, None], modes)
        reached = np.isfinite(modes)
        gaps = np.abs(lengths - machine.rods)
        assert np.nanmax(np.where(reached, gaps, 0.0)) < 1e-13 * 10
        d = np.linalg.norm(machine.vertices(poses) - machine.pivots, axis=-1)
        within = (d >= np.abs(machine.cranks - machine.rods)) & (d <= machine.cranks + machine.rods)
        np.testing.assert_array_equal(reached, np.broadcast_to(within[:, None], reached.shape))


@pytest.mark.spec("S2-60")
def test_half_turns_unreachable_poses_and_cranks_of_no_length():
    np.testing.assert_allclose(np.degrees(crank_angles(-1.0, 1.0, 1.0, 1.0)), [180.0, 90.0], atol=1e-12)  # e3 = e2
    with pytest.raises(UnreachableError, match=r"leg 1 .* reaches from 0\.1 m to 1\.7 m"):
        MACHINE.inverse_position([9.0, 0.0, 0.0])
    assert np.isnan(MACHINE.inverse_position([[9.0, 0.0, 0.0]])).any()
    with pytest.raises(ModelError, match="crank 2 has the length 0"):
        Planar3RRR(MACHINE.pivots, [0.8, 0.0, 0.8], MACHINE.rods, 0.7)
    with pytest.raises(ModelError, match=r"pivots .* of the shape \(3, 2\), not \(2, 2\)"):
        Planar3RRR(np.zeros((2, 2)), [1.0] * 3, [1.0] * 3, 1.0)


@pytest.mark.spec("S2-61")
def test_six_assembly_modes_and_two():
    found = SIX.direct_position(np.radians([-90.0, 170.0, -150.0]))
    expected = [(.2261942921, -.5154906485, -91.9972306249), (1.7504657374, -.2475332574, -1.5707390610),
                (-.8171629424, -.9958418191, 20.5749499359), (1.4644990033, -1.0147346251, 38.9302074311),
                (-1.0284964967, .4148576308, 70.2543652524), (-.2449063014, -.0172771759, 153.1490681823)]
    np.testing.assert_allclose(found.poses * [1, 1, 180 / np.pi], expected, atol=1e-8)
    assert found.residual.max() < 1e-12
    two = MACHINE.direct_position(MACHINE.inverse_position(POSE)[0])
    assert two.count == 2
    np.testing.assert_allclose(two.poses[:2] * [1, 1, 180 / np.pi],
                               [(1.2863669569, .6643665858, -81.6661006042), (1.25, .62, 11.4591559026)], atol=1e-8)


@pytest.mark.spec("S2-61")
def test_random_machines_have_0_2_4_or_6_assembly_modes_and_the_one_that_they_stand_in():
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(6):
        machine = random_machine(rng)
        poses = rng.normal(size=(1000, 3)) * 0.6
        theta = machine.inverse_position(poses)[:, 0]
        stands = np.isfinite(theta).all(axis=-1)
        if not stands.any():
            continue
        found = machine.direct_position(theta[stands])
        seen |= set(found.count.tolist())
        gap = found.poses - poses[stands][:, None]
        gap[..., 2] = np.angle(np.exp(1j * gap[..., 2]))
        assert np.nanmin(np.abs(gap).max(axis=-1), axis=-1).max() < 1e-7
        assert np.nanmax(found.residual) < 1e-11
    assert {2, 4, 6} <= seen
    assert all(count % 2 == 0 for count in seen), seen
    with_none = MACHINE.direct_position(np.radians([180.0, 0.0, 90.0]))
    assert with_none.count == 0 and with_none.status == "cannot be assembled"


@pytest.mark.spec("S2-61")
def test_a_platform_turned_by_half_and_rods_whose_circles_have_their_centres_in_line():
    pose = np.array([0.3, -0.2, np.pi])
    machine = built(pose, np.array([(0.9, 0.2), (-0.5, 0.8), (0.1, -0.7)]), np.radians([20.0, 130.0, -60.0]))
    found = machine.direct_position(np.radians([20.0, 130.0, -60.0]))
    assert min(np.abs(np.exp(1j * found.poses[:found.count, 2]) + 1)) < 1e-12
    rods = np.array([(0.9, 0.3), (0.9, -0.5), (0.9, 0.8)])  # delta = 0: the centres are A_1 minus the rods
    pose = np.array([0.1, 0.4, 0.7])
    machine = built(pose, rods, np.radians([10.0, 100.0, -120.0]))
    found = machine.direct_position(np.radians([10.0, 100.0, -120.0]))
    at_pose = found.poses[np.abs(found.poses[:, 2] - 0.7) < 1e-6]
    np.testing.assert_allclose(sorted(at_pose[:, 0]), [0.1 - 1.8, 0.1], atol=1e-6)
    np.testing.assert_allclose(at_pose[:, 1], 0.4, atol=1e-6)


@pytest.mark.spec("S2-62")
def test_rates_both_ways_against_differences():
    theta = MACHINE.inverse_position(POSE)[0]
    Jx, Jq = MACHINE.jacobians(POSE, theta)
    np.testing.assert_allclose(Jq, [-.6873438052, -.6497487778, -.7019554489], atol=1e-10)
    assert abs(np.linalg.det(Jx) - .6903787284) < 1e-10
    rates = MACHINE.crank_rates(POSE, theta, [.1, -.2, .3])
    np.testing.assert_allclose(rates, [-.3898633297, .1338024347, -.2072631749], atol=1e-10)
    np.testing.assert_allclose(MACHINE.pose_rate(POSE, theta, rates), [.1, -.2, .3], atol=1e-13)
    step = 1e-6
    moved = np.array([.1, -.2, .3]) * step
    for mode in range(8):
        before, after = (MACHINE.inverse_position(POSE + sign * moved)[mode] for sign in (-1, 1))
        theta = MACHINE.inverse_position(POSE)[mode]
        np.testing.assert_allclose(MACHINE.crank_rates(POSE, theta, [.1, -.2, .3]), (after - before) / (2 * step),
                                   atol=1e-8)


@pytest.mark.spec("S2-105")
def test_passive_angles_and_their_rates():
    theta = MACHINE.inverse_position(POSE)[0]
    np.testing.assert_allclose(np.degrees(MACHINE.rod_angles(POSE, theta)),
                               [-107.3224563591, -115.5208105144, -102.8545133389], atol=1e-9)
    rate = np.array([.1, -.2, .3])
    step = 1e-6
    ends = [
        MACHINE.rod_angles(POSE + s * rate * step,
                           MACHINE.inverse_position(POSE + s * rate * step)[0]) for s in (-1, 1)]
    np.testing.assert_allclose(MACHINE.rod_rates(POSE, theta, rate), (ends[1] - ends[0]) / (2 * step), atol=1e-8)


@pytest.mark.spec("S2-63", "S2-102")
def test_straight_legs_lose_motions():
    pose = np.array([0.2, 0.1, 0.3])
    for stuck in ((0,), (0, 2), (0, 1, 2)):
        directions = np.array([unit(d) for d in (20.0, 140.0, 250.0)])
        theta = np.radians([-40.0, 60.0, 170.0])
        for leg in stuck:
            theta[leg] = np.radians([20.0, 140.0, 250.0][leg]) + (np.pi if leg == 2 else 0.0)  # straight, or folded
        machine = built(pose, directions * [[0.9], [0.8], [1.0]], theta)
        found = machine.singularity(pose, theta)
        assert found.kind == "inverse" and found.legs == tuple(leg + 1 for leg in stuck)
        assert len(found.lost) == len(stuck) and not len(found.gained)
    with pytest.raises(SingularityError, match="leg 1, 2, 3 of the 3-RRR is straight or folded"):
        machine.crank_rates(pose, theta, [1.0, 2.0, 3.0])


@pytest.mark.spec("S2-63", "S2-102")
def test_parallel_rods_give_a_translation_and_concurrent_rods_a_rotation():
    pose = np.array([0.2, 0.1, 0.3])
    theta = np.radians([-40.0, 60.0, 170.0])
    parallel = built(pose, np.array([unit(25.0)] * 3) * [[0.9], [0.8], [1.1]], theta).singularity(pose, theta)
    assert parallel.kind == "direct"
    np.testing.assert_allclose(np.abs(parallel.gained[0] @ [*unit(115.0), 0.0]), 1.0, atol=1e-12)
    probe = Planar3RRR(np.zeros((3, 2)), [1.0] * 3, [1.0] * 3, 0.7)
    through_P = built(pose, -1.3 * (probe.vertices(pose) - pose[:2]), theta).singularity(pose, theta)
    assert through_P.kind == "direct"
    np.testing.assert_allclose(np.abs(through_P.gained[0]), [0.0, 0.0, 1.0], atol=1e-12)
    point = np.array([0.7, -0.4])  # anywhere: the platform turns about it
    elsewhere = built(pose, 0.8 * (point - probe.vertices(pose)), theta).singularity(pose, theta)
    assert elsewhere.kind == "direct"
    vx, vy, w = elsewhere.gained[0]
    np.testing.assert_allclose([vx - w * (point - pose[:2])[1], vy + w * (point - pose[:2])[0]], 0.0, atol=1e-12)
    np.testing.assert_allclose(elsewhere.unbalanced, elsewhere.gained)


@pytest.mark.spec("S2-63", "S2-102")
def test_a_posture_may_be_singular_in_both_ways_or_in_none():
    pose = np.array([0.2, 0.1, 0.3])
    theta = np.radians([25.0, 60.0, 170.0])
    both = built(pose, np.array([unit(25.0)] * 3) * [[0.9], [0.8], [1.1]], theta).singularity(pose, theta)
    assert both.kind == "combined" and both.legs == (1,) and len(both.gained) == 1 and len(both.lost) == 1
    assert MACHINE.singularity(POSE, MACHINE.inverse_position(POSE)[0]).kind == "regular"


@pytest.mark.spec("S2-62", "S2-63")
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(4))
def test_singular_postures_have_no_rates(seed, size):
    """Rods through one point, and legs that are straight or folded, of machines of any size: refused; NaN in batches.
    """
    random = np.random.default_rng(seed)
    pose, theta, lengths = np.array([*size * random.normal(size=2), 0.3]), random.uniform(-3, 3, 3), size * np.array(
        [0.8, 0.7, 0.9])
    corners = Planar3RRR(np.zeros((3, 2)), [1.0] * 3, [1.0] * 3, 0.7 * size).vertices(pose)
    held = size * random.normal(size=(3, 2))
    common = 0.8 * (size * random.normal(size=2) - corners)
    machine = built(pose, common, theta, lengths, 0.7 * size)
    assert machine.singularity(pose, theta).kind == "direct"
    with pytest.raises(SingularityError, match="actuators of the 3-RRR do not hold its platform"):
        machine.pose_rate(pose, theta, [1.0, 2.0, 3.0])
    assert np.isnan(machine.pose_rate([pose], [theta], [1.0, 2.0, 3.0])).all()
    straight = theta.copy()
    straight[1] = np.arctan2(held[1, 1], held[1, 0]) + np.pi * (seed % 2)
    machine = built(pose, held, straight, lengths, 0.7 * size)
    assert machine.singularity(pose, straight).legs == (2,)
    with pytest.raises(SingularityError, match="leg 2 of the 3-RRR is straight or folded"):
        machine.crank_rates(pose, straight, [size, 0.0, 1.0])
    both = machine.crank_rates(pose, [straight, straight + 0.3], [size, 0.0, 1.0])
    assert np.isnan(both).tolist() == [[False, True, False], [False] * 3]
    regular = built(pose, held, theta, lengths, 0.7 * size)
    rates = regular.crank_rates(pose, theta, [size, -size, 1.0])
    np.testing.assert_allclose(regular.pose_rate(pose, theta, rates) / [size, size, 1.0], [1.0, -1.0, 1.0], rtol=1e-9)


def test_batches_have_the_values_of_single_machines():
    rng = np.random.default_rng(7)
    theta = rng.uniform(-np.pi, np.pi, (40, 3))
    together = SIX.direct_position(theta)
    for k in range(40):
        alone = SIX.direct_position(theta[k])
        np.testing.assert_allclose(together.poses[k], alone.poses, atol=1e-9)
    assert str(together).startswith("<assemblies of 40 machines")


@pytest.mark.spec("S2-61")
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_a_platform_that_fits_upon_the_crank_ends_has_a_continuum_of_poses(size):
    random = np.random.default_rng(3)
    for _ in range(5):
        side, crank, rod, angle, turned = random.uniform(0.3, 1.0, size=5)
        corners = side / np.sqrt(3) * np.exp(1j * (turned + np.radians([-150.0, -30.0, 90.0])))
        pivots = size * np.stack([corners.real, corners.imag], axis=-1)
        machine = Planar3RRR(pivots, [size * crank] * 3, [size * rod] * 3, size * side)
        with pytest.raises(SingularityError, match="continuum"):
            machine.direct_position([angle] * 3)
        with pytest.raises(SingularityError, match="1 of the batch"):
            machine.direct_position([[angle, angle + 0.3, angle - 0.2], [angle] * 3])
        assert machine.direct_position([angle, angle + 0.3, angle - 0.2]).count <= 6
        other = Planar3RRR(pivots, [size * crank] * 3, size * rod * np.array([1.0, 1.1, 1.0]), size * side)
        assert other.direct_position([angle] * 3).count <= 6  # circles about one point, not one circle
