"""Quick-return machines, precision points, dyads, guidance and slider-cranks: what comes out does what was asked, by
its own closure; SciPy and brute force find nothing better."""

from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

import cayley as cy
from cayley.errors import ModelError, SignatureError, SingularityError, UnreachableError
from cayley.machines import FourBar, SliderCrank
from cayley.planning import (
    best_generator,
    best_quick_return,
    body_guidance,
    burmester_links,
    chebyshev_generator,
    chebyshev_points,
    dyads,
    path_generator,
    quick_return,
    quick_return_slider,
    slider_crank_generator,
    slider_dyads,
    slotted_quick_return,
    time_ratio_of,
)
from cayley.planning.synthesis.dyads import body_points
from cayley.planning.synthesis.freudenstein import freudenstein_parameters, output_angles
from cayley.planning.synthesis.quick_return import worst_transmission


def e(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


# Quick return


@pytest.mark.spec("S2-108")
@pytest.mark.parametrize("ratio", [1.0, 1.1, 1.25, 1.5])
@pytest.mark.parametrize("first, swing", [(70.0, 40.0), (110.0, 35.0), (-100.0, 30.0), (95.0, 50.0)])
def test_crank_and_coupler_are_in_line_at_both_dead_centres(first, swing, ratio):
    ends = np.radians([first, first + swing])
    try:
        machines = quick_return(*ends, ratio, ground=0.4)
    except UnreachableError as error:
        assert "no crank-rocker" in str(error)
        assert not any_crank_rocker(ends, ratio)
        return
    for machine in machines:
        linkage = machine.linkage
        pin = linkage.crank * e(machine.inputs)
        end = [0.4, 0.0] + linkage.rocker * e(machine.outputs)
        np.testing.assert_allclose(np.linalg.norm(end - pin, axis=1), linkage.coupler, rtol=1e-10)
        line = np.cross(np.pad(end, [(0, 0), (0, 1)]), np.pad(pin, [(0, 0), (0, 1)]))[:, 2]
        assert np.abs(line).max() < 1e-12  # pivot, pin and end in line
        assert machine.structural_error().largest < 1e-7 and machine.defects().none
        # a turn of the crank: the rocker swings between these angles, and takes the ratio of times
        mode = machine.structural_error().modes[0]
        theta = np.linspace(0, 2 * np.pi, 20001)
        phi = np.unwrap(linkage.position(theta)[:, mode, 1])
        assert np.ptp(phi) == pytest.approx(np.radians(swing), abs=1e-6)
        rising = np.count_nonzero(np.diff(phi) > 0) / 20000
        assert max(rising, 1 - rising) / min(rising, 1 - rising) == pytest.approx(ratio, abs=2e-3)
        assert time_ratio_of(linkage) == pytest.approx(ratio, abs=1e-9)


def any_crank_rocker(ends, ratio):
    """By brute force: a pivot of the crank on the ground line from which the ends are seen at the angle."""
    alpha = np.pi * (ratio - 1) / (ratio + 1)
    for d in np.geomspace(0.05, 30, 4000):
        seen = e(ends) + np.array([d, 0.0])
        reach = np.linalg.norm(seen, axis=1)
        angle = abs(np.arctan2(np.cross([*seen[0], 0], [*seen[1], 0])[2], seen[0] @ seen[1]))
        sides = seen[:, 0] * e(ends)[:, 1] - seen[:, 1] * e(ends)[:, 0]
        a, b = abs(np.diff(reach)[0]) / 2, reach.sum() / 2
        lengths = sorted([a, b, 1.0, d])
        turns = lengths[0] == a and lengths[0] + lengths[3] < lengths[1] + lengths[2]
        if abs(angle - alpha) < 1e-4 and sides[0] * sides[1] > 0 and turns:
            return True
    return False


@pytest.mark.spec("S2-108")
def test_a_slotted_lever_is_the_limit_with_k3_zero():
    machine = slotted_quick_return(1.8, ground=0.3)
    alpha = np.pi * 0.8 / 2.8
    assert machine.kind == "RRRP" and np.diff(machine.outputs)[0] == pytest.approx(alpha)
    assert machine.structural_error().largest < 1e-12 and machine.defects().none
    psi = np.linspace(-np.pi, np.pi, 20001)
    phi = machine.output_angles(psi)
    lever = np.unwrap(phi[:, machine.structural_error().modes[0]])
    assert np.ptp(lever) == pytest.approx(alpha, abs=1e-6)
    rising = np.count_nonzero(np.diff(lever) > 0) / 20000
    assert max(rising, 1 - rising) / min(rising, 1 - rising) == pytest.approx(1.8, abs=2e-3)
    # at the dead centres the crank is at right angles to the slot, as coupler and crank in line with the far pin
    for p, f in zip(machine.inputs, machine.outputs, strict=True):
        assert abs(e(p) @ e(f)) == pytest.approx(1.0, abs=1e-12)
    system = cy.Mechanism(machine.tree())
    assert np.abs(system.loops.residual(machine.configuration(0.4))).max() < 1e-12
    with pytest.raises(UnreachableError, match="ask for more than 1"):
        slotted_quick_return(1.0)


@pytest.mark.spec("S2-108")
def test_quick_return_of_a_slider():
    machine = quick_return_slider(0.2, 1.3, 0.05)
    theta = np.linspace(0, 2 * np.pi, 40001)
    x = machine.position(theta)[:, 0, 1]
    assert np.ptp(x) == pytest.approx(0.2, abs=1e-8)
    back = np.count_nonzero(np.diff(x) < 0) / 40000
    assert max(back, 1 - back) / min(back, 1 - back) == pytest.approx(1.3, abs=1e-3)
    for offset, ratio in ((0.0, 1.2), (0.05, 1.0), (0.9, 1.3), (0.05, 5.0)):
        with pytest.raises(UnreachableError, match="no slider-crank has the time ratio"):
            quick_return_slider(0.2, ratio, offset)
    with pytest.raises(UnreachableError, match="every rod does"):
        quick_return_slider(0.2, 1.0, 0.0)
    with pytest.raises(ModelError, match="stroke must be positive"):
        quick_return_slider(-0.2, 1.2, 0.1)


@pytest.mark.spec("S2-108")
def test_quick_return_that_cannot_be_is_refused():
    with pytest.raises(ModelError, match="leave no swing"):
        quick_return(1.0, 1.0, 1.2)
    with pytest.raises(ModelError, match="take its inverse"):
        quick_return(1.0, 1.5, 0.8)
    with pytest.raises(UnreachableError, match="different assembly modes"):
        quick_return(0.0, 2.967, 2.0)
    with pytest.raises(UnreachableError, match="ask for a smaller one"):
        best_quick_return(np.radians(5.0), 3.0)
    with pytest.raises(ModelError, match="less than pi"):
        best_quick_return(3.3, 1.2)
    with pytest.raises(UnreachableError, match="double rocker has no time ratio"):
        time_ratio_of(FourBar(crank=0.4, coupler=0.1, rocker=0.35, ground=0.3))


def test_the_best_quick_return_has_the_best_transmission():
    swing, ratio = np.radians(50.0), 1.15
    best = best_quick_return(swing, ratio)
    assert np.diff(best.outputs)[0] == pytest.approx(swing) and time_ratio_of(best.linkage) == pytest.approx(ratio)
    others = []
    for first in np.linspace(-np.pi, np.pi, 1500):
        with suppress(UnreachableError):
            others += [worst_transmission(m.linkage) for m in quick_return(first, first + swing, ratio)]
    assert len(others) > 20 and worst_transmission(best.linkage) >= max(others) - 1e-9
    angles = best.transmission_angles(np.linspace(0, 2 * np.pi, 2001))
    assert np.minimum(angles, np.pi - angles).min() == pytest.approx(worst_transmission(best.linkage), abs=1e-5)


# Precision points


LOGARITHM = {"psi": tuple(np.radians([45.0, 105.0])), "phi": tuple(np.radians([135.0, 225.0]))}


def test_chebyshev_points_are_the_roots_of_his_polynomial():
    for n in (1, 2, 3, 5):
        roots = np.polynomial.chebyshev.Chebyshev.basis(n, domain=[1.0, 2.5]).roots()
        np.testing.assert_allclose(chebyshev_points(1.0, 2.5, n), np.sort(roots.real), atol=1e-12)
    with pytest.raises(SignatureError, match="precision points must be one or more"):
        chebyshev_points(1.0, 1.0)


def test_the_best_precision_points_have_equal_extremes():
    first = chebyshev_generator(np.log10, (1.0, 2.0), **LOGARITHM)
    np.testing.assert_allclose(first.precision_points, chebyshev_points(1.0, 2.0), atol=1e-9)
    best = best_generator(np.log10, (1.0, 2.0), **LOGARITHM)
    assert best.largest_error < 0.6 * first.largest_error
    x = np.linspace(1.0, 2.0, 4001)
    error = best.error(x)
    assert np.abs(error).max() == pytest.approx(best.largest_error, rel=1e-3)
    lobes = np.split(np.abs(error), np.searchsorted(x, best.precision_points))
    assert len(lobes) == 4
    np.testing.assert_allclose([lobe.max() for lobe in lobes], best.largest_error, rtol=2e-3)

    def largest(k):  # an independent search does not find better
        both = output_angles.unchecked(k, best.dials.inputs(x[::20])) - best.dials.outputs(x[::20])[:, None]
        off = np.abs(np.arctan2(np.sin(both), np.cos(both))).max(axis=0).min()
        return off if np.isfinite(off) else 10.0

    found = minimize(largest, first.design.parameters, method="Nelder-Mead",
                     options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000, "maxfev": 4000})
    assert best.largest_error < found.fun * 1.002
    assert best.design.structural_error().largest < 1e-9 and len(best.precision_points) == 3


def test_dials_that_may_begin_anywhere_do_better():
    asked = {"psi": (0.0, np.radians(60.0)), "phi": (0.0, np.radians(90.0))}
    for function, x in ((np.log10, (1.0, 2.0)), (np.square, (0.0, 1.0)), (np.sin, (0.0, np.pi / 2))):
        free = best_generator(function, x, **asked, free_dials=True)
        lengths = np.abs(free.design.signed_lengths)
        assert free.largest_error < np.radians(0.2) and free.design.feasible and free.design.defects().none
        assert 0.2 - 1e-9 <= lengths[1] / lengths[0] <= 5 + 1e-9
        assert np.ptp(free.dials.psi) == pytest.approx(np.radians(60.0))
        at = np.linspace(*x, 50)
        off = free.design.structural_error(free.dials.inputs(at), free.dials.outputs(at))
        assert off.largest <= free.largest_error * (1 + 1e-6)


def test_a_beginning_is_found_where_chebyshevs_points_have_none():
    asked = {"psi": tuple(np.radians([30.0, 120.0])), "phi": tuple(np.radians([60.0, 150.0]))}
    first = chebyshev_generator(np.exp, (0.0, 1.0), **asked)
    assert np.isnan(first.largest_error)  # it cannot be assembled on the whole range
    best = best_generator(np.exp, (0.0, 1.0), **asked)
    assert best.largest_error < np.radians(0.82) and best.design.defects().none
    for function in (np.log, np.reciprocal, np.square):  # never worse than the first choice
        pair = [make(function, (1.0, 2.0), **asked) for make in (chebyshev_generator, best_generator)]
        assert not pair[1].largest_error > pair[0].largest_error
    with pytest.raises(UnreachableError, match="allow longer links"):  # input and output would turn alike
        best_generator(lambda x: 2 * x, (0.0, 1.0), **asked, free_dials=True)
    with pytest.raises(SignatureError, match="must be more than 1"):
        best_generator(np.exp, (0.0, 1.0), **asked, longest=0.5)


def test_functions_that_cannot_be_shown_are_refused():
    with pytest.raises(SignatureError, match="constant"):
        best_generator(lambda x: 0 * x + 2.0, (0.0, 1.0), **LOGARITHM)
    with np.errstate(all="ignore"), pytest.raises(SignatureError, match="not finite everywhere from -1 to 1"):
        best_generator(np.log, (-1.0, 1.0), **LOGARITHM)
    with pytest.raises(SignatureError, match="psi must be a range"):
        best_generator(np.log, (1.0, 2.0), psi=(1.0, 1.0), phi=(0.0, 1.0))
    falling = chebyshev_generator(lambda x: 1 / x, (1.0, 2.0), **LOGARITHM)  # the dial begins with the first value
    np.testing.assert_allclose(falling.dials.outputs([1.0, 2.0]), LOGARITHM["phi"])


# Dyads and guidance


def poses_of(linkage, theta, mode, point=(0.2, 0.1), tilt=0.4):
    places = linkage.coupler_point(theta, point)[:, mode]
    return np.column_stack([places, linkage.position(theta)[:, mode, 0] + tilt])


CRANK_ROCKER = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)


def test_five_poses_have_none_two_or_four_links_and_all_of_them_fit():
    rng = np.random.default_rng(0)
    seen = {0: 0, 2: 0, 4: 0}
    for _ in range(120):
        poses = np.column_stack([rng.normal(size=(5, 2)), rng.uniform(-2, 2, 5)])
        found = dyads(poses)
        seen[len(found)] += 1
        for link in found:
            places = body_points(poses, link.moving)
            np.testing.assert_allclose(np.linalg.norm(places - link.fixed, axis=1), link.length, rtol=1e-9)
    assert min(seen.values()) > 5


def test_poses_of_a_known_linkage_give_it_back():
    rng = np.random.default_rng(2)
    for _ in range(12):
        theta = np.sort(rng.uniform(-3, 3, 5))
        poses = poses_of(CRANK_ROCKER, theta, 1) * [1, 1, 1] + [0.5, -0.2, 0.0]
        found = dyads(poses)
        for fixed, length in (([0.5, -0.2], 0.12), ([0.87, -0.2], 0.29)):
            assert any(np.allclose(link.fixed, fixed, atol=1e-7) and abs(link.length - length) < 1e-7 for link in found)
        # four poses and a line through one of its pivots; three and the pivot itself; two and lines for both
        four = dyads(poses[:4], fixed_on=[(1.0, 2.0, 0.5 - 0.4)])
        assert any(np.allclose(link.fixed, [0.5, -0.2], atol=1e-7) for link in four)
        moving = next(link for link in found if np.allclose(link.fixed, [0.5, -0.2], atol=1e-7)).moving
        across = dyads(poses[:4], moving_on=[(2.0, 1.0, 2 * moving[0] + moving[1])])
        assert any(np.allclose(link.fixed, [0.5, -0.2], atol=1e-6) for link in across)
        three, = dyads(poses[:3], fixed_on=[(1.0, 0.0, 0.5), (0.0, 1.0, -0.2)])
        np.testing.assert_allclose(three.moving, moving, atol=1e-7)
        three, = dyads(poses[:3], moving_on=[(1.0, 0.0, moving[0]), (1.0, 1.0, moving.sum())])
        np.testing.assert_allclose(three.fixed, [0.5, -0.2], atol=1e-7)
        mixed = dyads(poses[:3], fixed_on=[(1.0, 0.0, 0.5)], moving_on=[(0.0, 1.0, moving[1])])
        assert any(np.allclose(link.fixed, [0.5, -0.2], atol=1e-5) for link in mixed)


def test_two_lines_are_a_point_until_they_are_parallel_to_rounding():
    """A point far away is one as long as ranks tell the lines apart."""
    poses = np.array([[0.0, 0.0, 0.0], [0.2, 0.1, 0.3], [0.35, 0.25, 0.5]])
    for slope in (1e-2, 1e-4):
        link, = dyads(poses, fixed_on=[(0.0, 1.0, 0.1), (slope, 1.0, 0.1 + slope)])
        np.testing.assert_allclose(link.fixed, [1.0, 0.1], atol=1e-6)
    with pytest.raises(SignatureError, match="the fixed pivot is on one line, or on two that cross; 2 lines"):
        dyads(poses, fixed_on=[(0.0, 1.0, 0.1), (2e-8, 1.0, 0.1)])


def test_the_curves_of_four_poses_pass_through_what_is_known_of_them():
    """All links fit; the curve of centers is a cubic, and passes through the pivots of the linkage the poses are of and
    through the poles, the points about which one pose turns into another."""
    theta = np.array([0.3, 0.8, 1.4, 1.9])
    poses = poses_of(CRANK_ROCKER, theta, 1)
    links = burmester_links(poses, lines=60)
    assert max(np.abs(link.misses(poses)).max() / max(1.0, link.length) for link in links) < 1e-9
    centers = np.array([link.fixed for link in links])
    powers = [(i, j) for i in range(4) for j in range(4 - i)]

    def terms(points):
        x, y = (points - poses[:, :2].mean(axis=0)).T / 0.2
        rows = np.stack([x**i * y**j for i, j in powers], axis=1)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    _, values, basis = np.linalg.svd(terms(centers))
    assert values[-1] < 1e-6 * values[0] and values[-2] > 1e-4 * values[0]  # one cubic, and no curve of lower degree
    known = [[0.0, 0.0], [0.37, 0.0]]
    for (a, b) in ((0, 1), (1, 2), (0, 3)):
        turn = poses[b, 2] - poses[a, 2]
        R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        known.append(np.linalg.solve(np.eye(2) - R, poses[b, :2] - R @ poses[a, :2]))
    assert np.abs(terms(np.array(known)) @ basis[-1]).max() < 1e-6
    through = burmester_links(poses, through=[0.0, 0.0], lines=3)
    assert sum(np.allclose(link.fixed, 0.0, atol=1e-7) for link in through) == 3
    with pytest.raises(SignatureError, match="of four poses"):
        burmester_links(np.random.default_rng(0).normal(size=(5, 3)))


def test_points_that_stay_on_a_line():
    slider_crank = SliderCrank(crank=0.1, rod=0.35, offset=0.03)
    theta = np.array([0.2, 0.9, 1.7, 2.5, 3.3])
    rod = slider_crank.position(theta)[:, 0, 0] + np.pi
    poses = np.column_stack([0.1 * e(theta) + 0.2 * e(rod), rod])
    slide, = slider_dyads(poses[:4])
    np.testing.assert_allclose(slide.moving, [0.15, 0.0], atol=1e-9)
    assert abs(slide.direction[1]) < 1e-9 and abs(slide.point[1] - 0.03) < 1e-9 and slide.slides
    assert any(link.slides and np.allclose(link.moving, [0.15, 0.0], atol=1e-6) for link in dyads(poses))
    for link in slider_dyads(poses[:3], moving_on=[(0.0, 1.0, 0.0)]):
        places = body_points(poses[:3], link.moving)
        assert abs(np.linalg.det(np.column_stack([places, np.ones(3)]))) < 1e-10 and abs(link.moving[1]) < 1e-12
    crank = dyads(poses[:4], fixed_on=[(0.0, 1.0, 0.0)])
    found = body_guidance(poses[:4], [*crank, slide])
    made = next(each for each in found if isinstance(each.linkage, SliderCrank) and each.linkage.crank < 0.11)
    np.testing.assert_allclose([made.linkage.crank, made.linkage.rod, abs(made.linkage.offset)], [0.1, 0.35, 0.03],
                               atol=1e-8)
    check_guidance(made, poses[:4])
    assert made.defects.none


def check_guidance(made, poses):
    """The linkage as a mechanism brings its tool to the poses, its loop closed."""
    machine = cy.Mechanism(made.tree())
    assert np.abs(machine.loops.residual(made.configurations)).max() < 1e-8
    tool = machine.pose(made.configurations, "tool")
    np.testing.assert_allclose(tool[:, :2, 3], poses[:, :2], atol=1e-8)
    np.testing.assert_allclose(tool[:, :2, 0], e(poses[:, 2]), atol=1e-8)
    np.testing.assert_allclose(made.body_poses(made.configurations)[:, :2], poses[:, :2], atol=1e-8)
    for q, mode, pose in zip(made.configurations, made.modes, poses, strict=True):
        np.testing.assert_allclose(made.body_poses(made.configuration(q[0], int(mode)))[:2], pose[:2], atol=1e-7)


def test_guidance_carries_a_body_through_its_poses():
    theta = np.linspace(0.3, 1.9, 5)
    poses = poses_of(CRANK_ROCKER, theta, 1)
    found = body_guidance(poses)
    assert len(found) == 12  # every two of four links, either as the crank
    for made in (found[0], found[-1]):
        check_guidance(made, poses)
    assert found[0].defects.none and found[0].linkage.kind == "crank-rocker"
    # what is said of defects is what the motion of the crank does
    for made in found:
        angles = np.unwrap(made.crank_angles)
        way = np.concatenate([np.linspace(a, b, 60) for a, b in pairwise(angles)])
        four = made.linkage
        k = freudenstein_parameters([four.ground, four.crank, four.coupler, four.rocker])
        there = output_angles.unchecked(k, way)
        if made.defects.none and len(set(np.sign(np.diff(angles)))) == 1:
            assert np.isfinite(there).all()
        assert (made.defects.branch == ()) == (len(set(made.modes)) == 1)
    with pytest.raises(SignatureError, match="leave a choice of links"):
        body_guidance(poses[:3])
    with pytest.raises(SignatureError, match="link 1 does not let"):
        body_guidance(poses + np.arange(5)[:, None] * 0.1, found[0].links)
    with pytest.raises(UnreachableError, match="a linkage needs two"):
        body_guidance(poses, [found[0].links[0]])


def test_a_path_with_the_crank_at_given_angles():
    theta = np.linspace(0.3, 3.9, 5)
    points = CRANK_ROCKER.coupler_point(theta, [0.2, 0.1])[:, 1]
    found = path_generator(points, theta)
    for made in found:
        turned = made.crank_angles - made.crank_angles[0] - (theta - theta[0])
        assert np.abs(np.sin(turned / 2)).max() < 1e-8
        np.testing.assert_allclose(made.body_poses(made.configurations)[:, :2], points, atol=1e-8)
    assert any(np.allclose([m.linkage.crank, m.linkage.coupler, m.linkage.rocker, m.linkage.ground],
                           [0.12, 0.41, 0.29, 0.37], atol=1e-8) for m in found)
    check_guidance(found[0], np.column_stack([points, found[0].poses[:, 2]]))
    few = path_generator(points[:3], theta[:3], crank_pivot_on=[(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)],
                         rocker_pivot_on=[(1.0, 0.0, 0.37), (0.0, 1.0, 0.0)])
    assert any(np.allclose([m.linkage.crank, m.linkage.ground], [0.12, 0.37], atol=1e-8) for m in few)


def test_poses_that_do_not_determine_a_link_are_refused():
    with pytest.raises(SignatureError, match="poses 1 and 2 are the same"):
        dyads(np.zeros((5, 3)))
    with pytest.raises(SignatureError, match="6 poses"):
        dyads(np.random.default_rng(0).normal(size=(6, 3)))
    with pytest.raises(SignatureError, match=r"shape \(n, 3\)"):
        dyads(np.zeros((5, 2)))
    with pytest.raises(SignatureError, match="are 4 conditions"):
        dyads(np.random.default_rng(0).normal(size=(4, 3)))
    with pytest.raises(SignatureError, match="two that cross"):
        dyads(np.random.default_rng(0).normal(size=(3, 3)), fixed_on=[(1.0, 0.0, 0.1), (1.0, 0.0, 0.2)])
    shifts = np.column_stack([np.arange(5.0), np.arange(5.0) ** 2, np.zeros(5)])  # without turning: no link is special
    with pytest.raises(SingularityError, match="infinitely many links"):
        dyads(shifts)


# Slider-cranks


def test_slider_crank_from_pairs():
    known = SliderCrank(crank=0.1, rod=0.35, offset=-0.03)
    psi = np.array([0.2, 1.1, 2.4])
    x = known.position(psi)[:, 0, 1]
    found = slider_crank_generator(psi, x)
    np.testing.assert_allclose([found.linkage.crank, found.linkage.rod, found.linkage.offset], [0.1, 0.35, -0.03],
                               atol=1e-12)
    assert found.structural_error().largest < 1e-12 and found.feasible
    turned = slider_crank_generator(psi + np.pi, x)  # the crank is negative: as long, and half a turn ahead
    assert turned.input_shift == np.pi and turned.linkage.crank == pytest.approx(0.1)
    assert turned.structural_error().largest < 1e-12
    machine = cy.Mechanism(turned.tree())
    assert np.abs(machine.loops.residual(turned.configuration(psi + np.pi))).max() < 1e-12
    many = np.linspace(0.2, 2.6, 9)
    noisy = known.position(many)[:, 0, 1] + 1e-4 * np.cos(7 * many)
    fitted = slider_crank_generator(many, noisy)
    T = np.stack([noisy * np.cos(many), np.sin(many), np.ones(9)], axis=1)
    np.testing.assert_allclose(fitted.parameters, np.linalg.lstsq(T, noisy**2)[0], atol=1e-12)
    assert fitted.structural_error().largest < 1e-3
    with pytest.raises(SignatureError, match="three or more"):
        slider_crank_generator(psi[:2], x[:2])
    with pytest.raises(SingularityError, match="depend on each other"):
        slider_crank_generator([0.2, 0.2, 1.0], [0.4, 0.4, 0.3])
    nothing = slider_crank_generator([0.0, 1.0, 2.0], [0.4, 0.4, 0.4])
    assert not nothing.feasible
    with pytest.raises(UnreachableError, match="cannot be built"):
        _ = nothing.linkage


def test_freudenstein_of_a_long_rocker_is_the_slider_crank():
    """As the output's pivot goes away the four-bar becomes the slider-crank: the same places to first order."""
    machine = SliderCrank(crank=0.1, rod=0.35)
    far = 1e5
    k = freudenstein_parameters([np.hypot(0.4, far), 0.1, 0.35, far])
    turn = np.arctan2(-far, 0.4)  # the pivot is at (0.4, -far)
    psi = np.array([0.3, 1.2, 2.2])
    phi = output_angles(k, psi - turn) + turn
    x = 0.4 + far * np.cos(phi)
    for place, row in zip(machine.position(psi)[:, 0, 1], x, strict=True):
        assert np.abs(row - place).min() < 1e-5
