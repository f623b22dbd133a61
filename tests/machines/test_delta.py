"""The translational machine of three legs: worked values of the specification, random machines, singular postures."""

import numpy as np
import pytest

from cayley.errors import ModelError, SingularityError, UnreachableError
from cayley.machines.parallel import TranslationalDelta

MACHINE = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
PLACE = np.array([0.05, -0.04, 0.55])


@pytest.mark.spec("S2-69")
def test_all_working_modes_of_the_worked_example():
    modes = np.degrees(MACHINE.inverse_position(PLACE))
    near = [20.5637525731, 36.5405179035, 26.6835362761]
    far = [-175.9477209383, -171.2166037041, -174.1742030678]
    np.testing.assert_allclose(modes[-1], near, atol=1e-9)
    np.testing.assert_allclose(modes[0], far, atol=1e-9)
    assert len({tuple(mode) for mode in modes.round(6)}) == 8
    angles = np.degrees(MACHINE.leg_angles(PLACE, np.radians(near)))
    np.testing.assert_allclose(angles[:, 1], [111.4748153756, 105.1843464594, 109.2079128252], atol=1e-8)
    np.testing.assert_allclose(angles[:, 2], [93.8225537293, 92.2256670934, 83.94390357], atol=1e-8)


@pytest.mark.spec("S2-69")
def test_every_mode_of_random_places_has_rods_of_their_length_and_the_leg_angles_rebuild_it():
    rng = np.random.default_rng(1)
    places = rng.uniform(-0.6, 0.6, (500, 3))
    modes = MACHINE.inverse_position(places)
    gaps = np.abs(MACHINE.rod_lengths(places[:, None], modes) - 0.6)
    assert np.isfinite(modes).all(axis=(1, 2)).sum() > 50
    assert np.nanmax(gaps) < 1e-14 * 10
    a, b, offset = 0.3, 0.6, 0.08 - 0.25
    whole = np.isfinite(modes).all(axis=(1, 2))
    t1, t2, t3 = np.moveaxis(MACHINE.leg_angles(places[whole], modes[whole][:, 3]), -1, 0)
    c = np.stack([a * np.cos(t1) + b * np.sin(t3) * np.cos(t1 + t2), b * np.cos(t3),
                  a * np.sin(t1) + b * np.sin(t3) * np.sin(t1 + t2)], axis=-1)
    for leg, phi in enumerate(MACHINE.directions):
        x, y, z = places[whole].T
        seen = np.stack([np.cos(phi) * x + np.sin(phi) * y + offset, np.cos(phi) * y - np.sin(phi) * x, z], axis=-1)
        np.testing.assert_allclose(c[:, leg], seen, atol=1e-13)


@pytest.mark.spec("S2-69")
def test_a_rod_along_the_axis_of_its_crank_and_places_out_of_reach():
    reach = np.array([0.25 - 0.08 + 0.3, 0.6, 0.0])  # c = (a, b, 0): theta3 = 0 in leg 1, and its crank is level
    both = np.degrees(MACHINE.inverse_position.unchecked(reach)[[0, -1], 0])
    np.testing.assert_allclose(both, 0.0, atol=1e-6)
    with pytest.raises(UnreachableError, match=r"leg 1 of the Delta: the platform is 0\.7 m beside its plane"):
        MACHINE.inverse_position([0.0, 0.7, 0.0])
    with pytest.raises(UnreachableError, match=r"leg 1 of the Delta reaches from 0\.3 m to 0\.9 m"):
        MACHINE.inverse_position([0.0, 0.0, 3.0])  # |mu| > 1
    with pytest.raises(ModelError, match="rod 1 has the length 0"):
        TranslationalDelta(crank=0.3, rod=0.0, base=0.2, platform=0.1)
    with pytest.raises(ModelError, match="three legs, not 2"):
        TranslationalDelta(0.3, 0.6, 0.2, 0.1, directions=(0.0, 1.0))


@pytest.mark.spec("S2-70")
def test_both_assembly_modes_equal_cranks_too():
    theta = np.radians([20.5637525731, 36.5405179035, 26.6835362761])
    np.testing.assert_allclose(MACHINE.direct_position(theta), [PLACE, (-.0145541211, .0103260933, -.2731224564)],
                               atol=1e-9)
    np.testing.assert_allclose(MACHINE.direct_position([0.6] * 3), [(0, 0, .6002171475), (0, 0, -.2614316634)],
                               atol=1e-9)


@pytest.mark.spec("S2-70")
def test_the_direct_problem_finds_the_place_of_every_working_mode():
    rng = np.random.default_rng(2)
    machine = TranslationalDelta(0.35, 0.7, 0.3, 0.1, directions=(0.1, 2.0, 4.4))
    places = rng.uniform(-0.5, 0.5, (300, 3))
    modes = machine.inverse_position(places)
    whole = np.isfinite(modes).all(axis=(1, 2))
    assert whole.sum() > 30
    found = machine.direct_position(modes[whole])
    gap = np.abs(found - places[whole][:, None, None]).max(axis=-1).min(axis=-1)
    assert gap.max() < 1e-7 and np.median(gap) < 1e-14


@pytest.mark.spec("S2-70")
def test_no_intersection_and_parallel_planes_are_said():
    with pytest.raises(UnreachableError, match="do not meet in a point"):
        TranslationalDelta(0.3, 0.2, 0.9, 0.1).direct_position([0.0, 0.0, 0.0])
    flat = TranslationalDelta(0.3, 0.6, 0.25, 0.08, directions=(0.0, np.pi, 0.0))
    with pytest.raises(SingularityError, match="in line"):
        flat.direct_position([0.4, 0.4, 0.4])
    assert np.isnan(MACHINE.direct_position(np.array([[0.0, 0.0, np.pi]]) * np.nan)).all()


@pytest.mark.spec("S2-71")
def test_rates_both_ways_against_differences():
    theta = MACHINE.inverse_position(PLACE)[-1]
    Jx, Jq = MACHINE.jacobians(PLACE, theta)
    assert abs(np.linalg.det(Jx) - .9380113899) < 1e-9
    np.testing.assert_allclose(Jq, [.278552496, .2893080139, .2817182118], atol=1e-9)
    _, t2, t3 = MACHINE.leg_angles(PLACE, theta).T
    np.testing.assert_allclose(Jq, 0.3 * np.sin(t2) * np.sin(t3), atol=1e-15)
    v = np.array([.2, .1, -.3])
    rates = MACHINE.crank_rates(PLACE, theta, v)
    np.testing.assert_allclose(rates, [-1.3017562457, -.5755574647, -.2179667792], atol=1e-9)
    np.testing.assert_allclose(MACHINE.velocity(PLACE, theta, rates), v, atol=1e-14)
    step = 1e-6
    ends = [MACHINE.inverse_position(PLACE + s * step * v)[-1] for s in (-1, 1)]
    np.testing.assert_allclose(rates, (ends[1] - ends[0]) / (2 * step), atol=1e-8)


@pytest.mark.spec("S2-105")
def test_rates_of_the_passive_angles():
    theta = MACHINE.inverse_position(PLACE)[-1]
    v = np.array([.2, .1, -.3])
    step = 1e-6
    ends = []
    for s in (-1, 1):
        p = PLACE + s * step * v
        ends.append(MACHINE.leg_angles(p, MACHINE.inverse_position(p)[-1]))
    rates = MACHINE.leg_rates(PLACE, theta, v, MACHINE.crank_rates(PLACE, theta, v))
    np.testing.assert_allclose(rates, (ends[1] - ends[0]) / (2 * step), atol=1e-8)


@pytest.mark.spec("S2-71", "S2-102")
def test_coplanar_and_parallel_rods_gain_a_motion():
    machine = TranslationalDelta(0.3, 0.4, 0.35, 0.1)
    flat = np.radians([60.0] * 3)
    found = machine.singularity(machine.direct_position.unchecked(flat)[0], flat)
    assert found.kind == "direct"
    np.testing.assert_allclose(found.singular_values, [1.2247448714, 1.2247448714, 0.0], atol=1e-7)
    np.testing.assert_allclose(np.abs(found.gained), [[0.0, 0.0, 1.0]], atol=1e-7)
    meeting = np.arccos(-0.25 / 0.3)
    assert abs(np.degrees(meeting) - 146.4426902381) < 1e-9
    # C_1 = C_2: their rods are one, and p may turn about C_3 C_1
    theta = np.array([meeting, meeting, np.radians(60.0)])
    C = np.array([0.0, 0.0, 0.3 * np.sin(meeting)])
    D = np.array([(0.15 + 0.25) * np.cos(np.radians(240)), (0.15 + 0.25) * np.sin(np.radians(240)),
                  0.3 * np.sin(np.radians(60))])
    middle = (C + D) / 2
    along = (D - C) / np.linalg.norm(D - C)
    up = np.array([0.0, 0.0, 1.0]) - along[2] * along
    p = middle + up / np.linalg.norm(up) * np.sqrt(0.16 - np.linalg.norm(D - C)**2 / 4)
    np.testing.assert_allclose(machine.rod_lengths(p, theta), 0.4, atol=1e-14)
    found = machine.singularity(p, theta)
    assert found.kind == "direct"
    np.testing.assert_allclose(np.abs(found.gained @ [-.8660254038, .5, 0.0]), [1.0], atol=1e-9)


@pytest.mark.spec("S2-71", "S2-102")
def test_straight_and_folded_legs_and_rods_along_the_cranks_axis_lose_a_motion():
    straight = np.array([0.25 - 0.08 + 0.9 * np.cos(0.7), 0.0, 0.9 * np.sin(0.7)])  # theta2 = 0 in leg 1
    theta = MACHINE.inverse_position.unchecked(straight)[-1]
    theta = np.where(np.isfinite(theta), theta, 0.3)
    theta[0] = 0.7
    found = MACHINE.singularity(straight, theta)
    assert 1 in found.legs and found.kind in ("inverse", "combined")
    np.testing.assert_allclose(np.abs(found.lost[0] @ [np.cos(0.7), 0.0, np.sin(0.7)]), 1.0, atol=1e-9)
    along = np.array([0.25 - 0.08 + 0.3 * np.cos(0.4), 0.6, 0.3 * np.sin(0.4)])  # theta3 = 0 in leg 1
    found = MACHINE.singularity(along, [0.4, 0.2, 0.1])
    assert found.legs == (1,)
    np.testing.assert_allclose(np.abs(found.lost), [[0.0, 1.0, 0.0]], atol=1e-12)


@pytest.mark.spec("S2-71", "S2-102")
@pytest.mark.parametrize("bend, swing", [(np.pi, np.pi / 2), (0.0, 1.1), (np.pi, 1.1), (0.8, 0.0), (0.8, np.pi)])
def test_folded_legs_and_rods_along_the_axis_either_way(bend, swing):
    """theta2 and theta3 are multiples of pi: Jq of the leg is zero, and the platform cannot go along the rod."""
    first = 0.5
    c = np.array([0.3 * np.cos(first) + 0.6 * np.sin(swing) * np.cos(first + bend), 0.6 * np.cos(swing),
                  0.3 * np.sin(first) + 0.6 * np.sin(swing) * np.sin(first + bend)])
    place = c + np.array([0.25 - 0.08, 0.0, 0.0])
    theta = np.array([first, 0.2, 0.1])
    Jx, Jq = MACHINE.jacobians(place, theta)
    assert abs(Jq[0]) < 1e-15 and np.abs(Jq[1:]).min() > 1e-3
    found = MACHINE.singularity(place, theta)
    assert found.legs == (1,) and found.kind in ("inverse", "combined")
    np.testing.assert_allclose(np.abs(found.lost[0] @ Jx[0]), 1.0, atol=1e-12)


@pytest.mark.spec("S2-102")
def test_no_actuator_balances_a_force_along_a_gained_motion():
    machine = TranslationalDelta(0.3, 0.4, 0.35, 0.1)
    flat = np.radians([60.0] * 3)
    place = machine.direct_position.unchecked(flat)[0]
    found = machine.singularity(place, flat)
    Jx, _ = machine.jacobians(place, flat)
    force = found.unbalanced[0]
    rods = np.linalg.lstsq(Jx.T, force, rcond=1e-6)[0]
    assert np.linalg.norm(Jx.T @ rods - force) > 0.99
    across = np.array([1.0, 0.4, 0.0])
    np.testing.assert_allclose(Jx.T @ np.linalg.lstsq(Jx.T, across, rcond=1e-6)[0], across, atol=1e-6)


@pytest.mark.spec("S2-71")
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_singular_postures_have_no_rates(size):
    """Rods in one plane, and a leg that is straight: refused, NaN in batches, where others are as alone."""
    machine = TranslationalDelta(0.3 * size, 0.4 * size, 0.35 * size, 0.1 * size)
    flat = np.radians([60.0] * 3)
    p = np.array([0.0, 0.0, 0.3 * size * np.sin(flat[0])])  # in the plane of the ends of the cranks
    with pytest.raises(SingularityError, match="actuators of the delta do not hold its platform"):
        machine.velocity(p, flat, [1.0, 2.0, 3.0])
    place = np.array([0.02, 0.03, -0.3]) * size
    theta = machine.inverse_position(place)[-1]
    found = machine.velocity([p, place], [flat, theta], [1.0, 2.0, 3.0])
    assert np.isnan(found[0]).all() and np.array_equal(found[1], machine.velocity(place, theta, [1.0, 2.0, 3.0]))
    along = 0.7 * size * np.array([np.cos(0.4), 0.0, np.sin(0.4)]) + [0.25 * size, 0.0, 0.0]  # the first leg straight
    straight = np.array([0.4, 1.0, 1.3])
    with pytest.raises(SingularityError, match="leg 1 of the delta is straight"):
        machine.crank_rates(along, straight, [size, size, size])
    both = machine.crank_rates(along, [straight, straight + 0.5], [size, size, size])
    assert np.isnan(both).tolist() == [[True, False, False], [False] * 3]


@pytest.mark.spec("S2-70")
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_spheres_about_one_point_leave_the_platform_undetermined(size):
    machine = TranslationalDelta(crank=0.3 * size, rod=0.7 * size, base=0.2 * size, platform=0.2 * size)
    with pytest.raises(SingularityError, match="continuum"):
        machine.direct_position([np.pi / 2] * 3)
    found = machine.direct_position([[np.pi / 2] * 3, [np.pi / 2 + 1e-3, 1.5, 1.6]])
    assert np.isnan(found[0]).all() and np.isfinite(found[1]).all()
