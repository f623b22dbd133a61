"""Planar linkages: closure, rates against differences, ranges and classes against what a search finds."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, UnreachableError
from cayley.machines import TranslationalDelta
from cayley.machines.linkages import FiveBar, FourBar, SliderCrank, SlottedLever


def e(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def four_bar_gap(linkage, theta, angles):
    return (linkage.crank * e(theta)[..., None, :] + linkage.coupler * e(angles[..., 0]) - [linkage.ground, 0]
            - linkage.rocker * e(angles[..., 1]))


FOUR = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)


def test_both_modes_of_a_four_bar_close_it_all_the_way_round():
    theta = np.linspace(-np.pi, np.pi, 721)
    angles = FOUR.position(theta)
    assert np.isfinite(angles).all()
    assert np.abs(four_bar_gap(FOUR, theta, angles)).max() < 1e-15
    assert (np.abs(angles[:, 0] - angles[:, 1]).max(axis=-1) > 0.1).all()
    step = 1e-6
    ends = [FOUR.position(0.7 + s * step) for s in (-1, 1)]
    for mode in range(2):
        found = FOUR.rates(0.7, FOUR.position(0.7)[mode])
        np.testing.assert_allclose(found, (ends[1] - ends[0])[mode] / (2 * step), atol=1e-8)


@pytest.mark.spec("S2-105")
def test_the_coupler_angle_of_a_change_point_a_parallelogram_and_a_half_turn():
    square = FourBar(crank=0.2, coupler=0.5, rocker=0.2, ground=0.5)
    assert square.kind == "change point" and square.grashof
    psi, phi = square.position(1.1)[np.argmin(np.abs(square.position(1.1)[:, 0]))]
    np.testing.assert_allclose([psi, phi], [0.0, 1.1], atol=1e-12)  # the parallelogram: the coupler stays as it is
    angles = FOUR.position(np.pi)
    assert np.abs(four_bar_gap(FOUR, np.array(np.pi), angles)).max() < 1e-15


def test_classes_are_what_a_search_finds():
    rng = np.random.default_rng(0)
    full = np.linspace(-np.pi, np.pi, 2001)
    seen = set()
    for _ in range(12):
        lengths = rng.uniform(0.1, 1.0, 4)
        if 2 * lengths.max() > lengths.sum():
            continue
        linkage = FourBar(*lengths)
        turns = bool(np.isfinite(linkage.position(full)).all())
        seen.add(linkage.kind)
        assert turns == (linkage.kind in ("crank-rocker", "double crank")), (linkage, linkage.kind)
        limits = linkage.crank_limits()
        inside = np.linspace(limits[0] + 1e-9, limits[1] - 1e-9, 101)
        assert np.isfinite(linkage.position(inside)).all()
        if not turns:
            assert np.isnan(linkage.position(limits + np.array([-1e-6, 1e-6]))).all()
    assert len(seen) >= 3


def test_dead_centres_are_where_crank_or_rocker_turn_back():
    rng = np.random.default_rng(4)
    full = np.linspace(-np.pi, np.pi, 40001)
    seen = [0, 0]
    for lengths in [(0.12, 0.41, 0.29, 0.37), *rng.uniform(0.1, 1.0, (6, 4))]:
        if 2 * max(lengths) >= sum(lengths):
            continue
        linkage = FourBar(*lengths)
        found = linkage.dead_centres()
        for theta in found.crank:
            end = np.hypot(linkage.crank * np.cos(theta) - linkage.ground, linkage.crank * np.sin(theta))
            in_line = [abs(linkage.coupler - linkage.rocker), linkage.coupler + linkage.rocker]
            assert np.abs(end - in_line).min() < 1e-12
        angles = linkage.position(full)
        stands = np.isfinite(angles).all(axis=(1, 2))
        assert np.count_nonzero(np.diff(stands.astype(int))) == len(found.crank)
        speed = linkage.rates(np.repeat(full[stands], 2), angles[stands].reshape(-1, 2)).rocker.reshape(-1, 2)
        gaps = np.diff(full[stands]) > 3e-4
        turns = (speed[1:] * speed[:-1] < 0) & ~gaps[:, None] & (np.abs(speed[1:]) < 1) & (np.abs(speed[:-1]) < 1)
        crossings = np.sort(full[stands][1:][turns.any(axis=1)])
        np.testing.assert_allclose(crossings, found.rocker, atol=4e-4)
        seen[0] += len(found.crank)
        seen[1] += len(found.rocker)
    assert min(seen) > 4


def test_a_coupler_curve_keeps_its_distances():
    theta = np.linspace(-3, 3, 50)
    places = FOUR.coupler_point(theta, [0.2, 0.1])
    ends = FOUR.crank * e(theta)
    np.testing.assert_allclose(np.linalg.norm(places - ends[:, None], axis=-1), np.hypot(0.2, 0.1), rtol=1e-14)
    pins = FOUR.coupler_point(theta, [FOUR.coupler, 0.0])
    np.testing.assert_allclose(np.linalg.norm(pins - [FOUR.ground, 0.0], axis=-1), FOUR.rocker, rtol=1e-13)
    with pytest.raises(UnreachableError, match="cannot stand at 3 rad"):
        FourBar(crank=0.3, coupler=0.2, rocker=0.25, ground=0.4).coupler_point(3.0, [0.1, 0.0])


def test_what_cannot_be_assembled_or_stand_is_said():
    with pytest.raises(UnreachableError, match="its coupler of 2 m is longer than the others together"):
        FourBar(crank=0.2, coupler=2.0, rocker=0.3, ground=0.4)
    with pytest.raises(ModelError, match="rocker 1 has the length -1"):
        FourBar(crank=0.2, coupler=2.0, rocker=-1.0, ground=0.4)
    rocker = FourBar(crank=0.3, coupler=0.2, rocker=0.25, ground=0.4)
    with pytest.raises(UnreachableError, match=r"cannot stand at 3 rad: its end is 0\.69\d* m"):
        rocker.position(3.0)
    assert np.isnan(rocker.position([3.0, 0.5])[0]).all() and np.isfinite(rocker.position([3.0, 0.5])[1]).all()


def test_transmission_angle_is_that_of_coupler_and_rocker():
    theta = np.linspace(0, 6, 50)
    angles = FOUR.position(theta)[:, 0]
    ends = FOUR.ground**2 + FOUR.crank**2 - 2 * FOUR.ground * FOUR.crank * np.cos(theta)
    expected = np.arccos((FOUR.coupler**2 + FOUR.rocker**2 - ends) / (2 * FOUR.coupler * FOUR.rocker))
    np.testing.assert_allclose(FOUR.transmission_angle(angles), expected, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 0.05, -0.12])
def test_the_slider_crank_closes_both_ways_and_its_rates_are_differences(offset):
    machine = SliderCrank(crank=0.1, rod=0.35, offset=offset)
    theta = np.linspace(-3, 3, 100)
    gamma, x = np.moveaxis(machine.position(theta), -1, 0)
    assert np.abs(0.1 * np.sin(theta)[:, None] - offset - 0.35 * np.sin(gamma)).max() < 1e-15
    assert np.abs(x - 0.1 * np.cos(theta)[:, None] + 0.35 * np.cos(gamma)).max() < 1e-15
    assert (x[:, 0] > x[:, 1]).all()
    step = 1e-6
    ends = [machine.position(theta + s * step)[:, 0] for s in (-1, 1)]
    np.testing.assert_allclose(machine.rates(theta, gamma[:, 0]), (ends[1] - ends[0]) / (2 * step), atol=1e-8)
    back = machine.crank_position(x[:, 0])
    assert np.abs(np.exp(1j * back[..., 0]) - np.exp(1j * theta)[:, None]).min(axis=1).max() < 1e-7
    far, near = machine.dead_centres()
    xs = machine.position([far, near])[:, 0, 1]
    dense = machine.position(np.linspace(-np.pi, np.pi, 20001))[:, 0, 1]
    np.testing.assert_allclose(xs, [dense.max(), dense.min()], atol=1e-7)


def test_a_slider_crank_that_cannot_turn_round():
    short = SliderCrank(crank=0.4, rod=0.3)
    assert np.isnan(short.dead_centres()[1])
    with pytest.raises(UnreachableError, match=r"its end is 0\.4 m from the slider's line"):
        short.position(np.pi / 2)
    with pytest.raises(UnreachableError, match="crank and rod together"):
        SliderCrank(crank=0.1, rod=0.2, offset=0.5)


def ends_of_reach(seed):
    """Machines of any lengths with straight and with folded legs: what is asked of which, and the crank's angle."""
    random = np.random.default_rng(seed)
    a, b = random.uniform(0.1, 2.0, 2) * 10.0 ** random.integers(-5, 4)
    way = random.uniform(-np.pi, np.pi)
    along, across = np.array([np.cos(way), np.sin(way)]), np.array([-np.sin(way), np.cos(way)])
    delta = TranslationalDelta(a, b, 0.3 * a, 0.1 * a, directions=(way, way, way))
    for reach, turn in ((a + b, 0.0), (abs(a - b), 0.0 if a > b else np.pi)):
        yield SliderCrank(crank=a, rod=b, offset=reach * along[1]).crank_position, reach * along[0], way + turn
        both = FiveBar([[0.0, 0.0], 2 * reach * along], cranks=[a, a], rods=[b, b])  # both legs at their ends at once
        yield both.inverse_position, reach * along, [way + turn, way + turn + np.pi]
        yield delta.inverse_position, np.array([*(0.2 * a * along), reach]), np.pi / 2 + turn
    yield delta.inverse_position, np.array([*(0.2 * a * along + b * across), a]), np.pi / 2  # rods across the cranks


def angles_miss(found, kernel, expected):
    angles = np.asarray(found, dtype=float)[..., 0] if kernel.__name__ == "crank_position" else np.asarray(found, float)
    return np.abs(np.exp(1j * angles) - np.exp(1j * np.asarray(expected))).max()


@pytest.mark.spec("S2-60", "S2-68", "S2-69")
def test_legs_at_the_very_end_of_their_reach_are_not_refused_by_rounding():
    """They close to the root of rounding; a little beyond they are refused, and named where one is asked for."""
    for seed in range(60):
        for kernel, at, expected in ends_of_reach(seed):
            assert angles_miss(kernel.reference(at), kernel, expected) < 1e-6
    for kernel, at, expected in ends_of_reach(1):
        for dtype, near in ((np.float64, 1e-6), (np.float32, 1e-2)):
            assert angles_miss(kernel(np.asarray(at, dtype=dtype)), kernel, expected) < near
    beyond = SliderCrank(crank=0.1, rod=0.35)
    with pytest.raises(UnreachableError, match=r"cannot be at 0\.451 m: .* from 0\.25 m to 0\.45 m"):
        beyond.crank_position(0.451)
    assert np.isnan(beyond.crank_position([0.451, 0.45 + 1e-9, 0.2])).all()
    assert np.isfinite(beyond.crank_position([0.45, 0.25, 0.3])).all()
    assert np.isfinite(SliderCrank(crank=0.3, rod=0.7, offset=-0.4).position(np.pi / 2)).all()  # upright


def test_the_five_bar_both_ways():
    rng = np.random.default_rng(2)
    linkage = FiveBar([(0.0, 0.0), (0.5, 0.1)], cranks=[0.3, 0.35], rods=[0.4, 0.45])
    points = rng.uniform(-0.6, 0.9, (2000, 2))
    modes = linkage.inverse_position(points)
    whole = np.isfinite(modes).all(axis=(1, 2))
    assert 100 < whole.sum() < 2000
    both = linkage.direct_position(modes[whole])
    gap = np.linalg.norm(both - points[whole][:, None, None], axis=-1).min(axis=-1)
    assert gap.max() < 1e-7 and np.median(gap) < 1e-15
    P, theta = points[whole][0], modes[whole][0, 1]
    Jx, Jq = linkage.jacobians(P, theta)
    step = 1e-7
    for v in np.eye(2):
        rate = (linkage.inverse_position(P + step * v)[1] - linkage.inverse_position(P - step * v)[1]) / (2 * step)
        np.testing.assert_allclose(Jx @ v, Jq * rate, atol=1e-7)
    assert linkage.singularity(P, theta).kind == "regular"


def test_five_bars_in_singular_postures():
    linkage = FiveBar([(0.0, 0.0), (0.9, 0.0)], cranks=[0.3, 0.3], rods=[0.3, 0.3])
    straight = linkage.singularity([0.6, 0.0], [0.0, 2 * np.pi / 3])
    assert straight.kind == "inverse" and straight.legs == (1,)
    np.testing.assert_allclose(np.abs(straight.lost), [[1.0, 0.0]], atol=1e-12)
    wide = FiveBar([(0.0, 0.0), (0.6, 0.0)], cranks=[0.2, 0.2], rods=[0.3, 0.3])
    level = wide.singularity([0.3, 0.2], [np.pi / 2, np.pi / 2])  # both rods on one line
    assert level.kind == "direct"
    np.testing.assert_allclose(np.abs(level.gained), [[0.0, 1.0]], atol=1e-12)
    with pytest.raises(UnreachableError, match="do not meet"):
        wide.direct_position([np.pi, 0.0])
    with pytest.raises(UnreachableError, match="leg 2 of the five-bar"):
        wide.inverse_position([-0.3, 0.0])
    with pytest.raises(ModelError, match="two pivots"):
        FiveBar([(0.0, 0.0)], [0.1, 0.1], [0.1, 0.1])


def test_the_four_bar_of_the_catalogue_is_closed_at_the_angles_of_the_closed_form():
    arm = cy.load("four_bar")
    linkage = FourBar(crank=0.15, coupler=0.41, rocker=0.24, ground=0.4)
    assert linkage.kind == "crank-rocker"
    for theta in np.linspace(0.0, 6.0, 7):
        for angles in linkage.position(theta):
            psi, phi = angles
            crank = theta - np.pi / 2
            q = np.array([crank, psi - np.arctan2(0.09, 0.4) - crank, phi - np.pi / 2])
            np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-15)
            coupler, rocker = linkage.rates(theta, angles)
            np.testing.assert_allclose(arm.loops.jacobian(q) @ [1.0, coupler - 1.0, rocker], 0.0, atol=1e-14)


def test_the_slider_crank_of_the_catalogue_is_closed_at_the_places_of_the_closed_form():
    arm = cy.load("slider_crank")
    machine = SliderCrank(crank=0.09, rod=0.41)
    for theta in np.linspace(0.0, 6.0, 7):
        gamma, x = machine.position(theta)[0]
        crank = theta - np.pi / 2
        q = np.array([crank, gamma - np.pi + np.arctan2(0.09, 0.4) - crank, x - 0.4])
        np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-15)


def test_a_slotted_lever_closes_and_says_what_it_cannot_be():
    for slot_on in ("input", "output"):
        lever = SlottedLever(crank=0.2, ground=0.5, offset=0.1, slot_on=slot_on)
        crank = 0.9
        pin = (np.array([0.5, 0.0]) if slot_on == "input" else np.zeros(2)) + 0.2 * e(crank)
        away = pin - ([0.0, 0.0] if slot_on == "input" else [0.5, 0.0])
        slot = np.arctan2(away[1], away[0]) - np.arccos(0.1 / np.linalg.norm(away))  # away . e(slot) = 0.1
        angles = (slot, crank) if slot_on == "input" else (crank, slot)
        machine = cy.Mechanism(lever.tree())
        assert np.abs(machine.loops.residual(lever.configuration(*angles))).max() < 1e-14
        assert abs(lever.along_slot(*angles)) == pytest.approx(np.sqrt(away @ away - 0.01))
        assert machine.loops.mobility == 1 and machine.actuated_joints == ("input",)
    with pytest.raises(ModelError, match='slot is on the "input" or on the "output"'):
        SlottedLever(crank=0.2, ground=0.5, slot_on="rocker")
    with pytest.raises(UnreachableError, match=r"no farther from it than 0\.7 m"):
        SlottedLever(crank=0.2, ground=0.5, offset=-0.8)
    with pytest.raises(ModelError, match="crank 1 has the length 0"):
        SlottedLever(crank=0.0, ground=0.5)
