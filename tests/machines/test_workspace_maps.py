"""Maps of workspaces: what is reached against the inverse position, areas against closed forms, singular curves against
the geometry of the legs, none of them missed."""

import matplotlib
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cayley.errors import ConventionError
from cayley.machines import FiveBar, Planar3RRR, StewartPlatform, TranslationalDelta

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FIVE = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
THREE = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
DELTA = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
ANGLES = np.radians([0, 60, 120, 180, 240, 300])


def ring(radius, angles):
    return radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)


STEWART = StewartPlatform(ring(0.8, ANGLES), ring(0.4, ANGLES + np.radians([25, -25] * 3)))


def lens(radius, distance):
    """What two circles have in common."""
    return 2 * radius**2 * np.arccos(distance / (2 * radius)) - distance / 2 * np.sqrt(4 * radius**2 - distance**2)


def points_of(curves):
    return np.concatenate(curves) if curves else np.zeros((0, 2))


def determinants(J):
    return np.where(np.isfinite(J).all(axis=(-2, -1)), np.linalg.det(np.nan_to_num(J)), np.nan)


def missed(found, signed):
    """Neighbours on the grid, both reached, between which a signed quantity (k, l) changes, and that are far from every
    direct curve: how many."""
    P = np.stack(np.meshgrid(found.horizontal, found.vertical), axis=-1)
    curve = points_of(found.direct)
    far = 0
    for a, b in ((np.s_[:-1, :], np.s_[1:, :]), (np.s_[:, :-1], np.s_[:, 1:])):
        changes = found.reachable[a] & found.reachable[b] & (signed[a] * signed[b] < 0)
        for p in (P[a] + P[b])[changes] / 2:
            far += not len(curve) or np.linalg.norm(curve - p, axis=1).min() > 2 * (P[0, 1, 0] - P[0, 0, 0])
    return far


@pytest.fixture(scope="module")
def five():
    return FIVE.workspace(mode=1, resolution=160)


def test_a_five_bar_reaches_what_both_legs_reach(five):
    P = np.stack(np.meshgrid(five.horizontal, five.vertical), axis=-1)
    np.testing.assert_array_equal(five.reachable, np.isfinite(FIVE.inverse_position(P)).all(axis=(-2, -1)))
    exact = lens(0.7, 0.5) - 2 * np.pi * 0.1**2
    assert abs(five.area - exact) < 0.01 * exact
    theta = FIVE.inverse_position(P)[..., 1, :]
    Jx, Jq = FIVE.jacobians(P, theta)
    k, l = 40, 60
    assert five.reachable[k, l]
    np.testing.assert_allclose(five.values[k, l], 1 / np.linalg.cond(Jx[k, l] / Jq[k, l][:, None]), rtol=1e-9)


def test_inverse_curves_of_a_five_bar_are_circles_about_its_pivots(five):
    curve = points_of(five.inverse)
    distances = np.linalg.norm(curve[:, None] - FIVE.pivots, axis=-1)
    off = np.abs(distances[..., None] - [0.1, 0.7]).min(axis=-1)
    assert off.min(axis=1).max() < 1e-12
    assert distances.max() < 0.7 + 1e-9 and distances.min() > 0.1 - 1e-9  # only where the other leg reaches
    corner = np.array([0.25, np.sqrt(0.49 - 0.0625)])  # where both legs are straight
    assert np.linalg.norm(curve - corner, axis=1).min() < 1e-7
    turned = sum(np.linalg.norm(np.diff(part, axis=0), axis=1).sum() for part in five.inverse)
    half = np.arccos(0.25 / 0.7)
    assert abs(turned - (2 * 0.7 * 2 * half + 2 * 2 * np.pi * 0.1)) < 2e-3


@pytest.mark.spec("S2-63", "S2-102")
def test_direct_curves_of_a_five_bar_have_the_rods_in_line(five):
    curve = points_of(five.direct)
    assert len(curve) > 100
    theta = FIVE.inverse_position(curve)[:, 1]
    inner = np.isfinite(theta).all(axis=-1)  # ends are on the boundary but for rounding
    assert inner.mean() > 0.97
    first, second = np.moveaxis(curve[inner][:, None] - FIVE.crank_ends(theta[inner]), 1, 0)
    sine = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])
    bent = np.abs(FIVE.jacobians(curve[inner], theta[inner]).Jq).min(axis=-1)
    assert (sine * bent).max() < 1e-14  # where a leg is nearly straight its crank turns fast
    kinds = [FIVE.singularity(p, t).kind for p, t in zip(curve[inner][::25], theta[inner][::25], strict=True)]
    assert set(kinds) <= {"direct", "combined"} and kinds.count("direct") > 3
    P = np.stack(np.meshgrid(five.horizontal, five.vertical), axis=-1)
    assert missed(five, determinants(FIVE.jacobians(P, FIVE.inverse_position(P)[..., 1, :])[0])) == 0


@pytest.mark.spec("S2-63")
def test_direct_curves_of_a_planar_3rrr_have_rods_through_one_point():
    found = THREE.workspace(phi=0.9, mode=3, resolution=90)
    curve = points_of(found.direct)
    assert len(curve) > 30
    poses = np.column_stack([curve, np.full(len(curve), 0.9)])
    theta = THREE.inverse_position(poses)[:, 3]
    inner = np.isfinite(theta).all(axis=-1)
    corners, ends = THREE.vertices(poses[inner]), THREE.crank_ends(theta[inner])
    rods = corners - ends
    lines = np.concatenate([rods, (corners[..., :1] * rods[..., 1:] - corners[..., 1:] * rods[..., :1])], axis=-1)
    assert np.abs(np.linalg.det(lines)).max() < 1e-9  # Pluecker coordinates in the plane depend on each other
    other = THREE.workspace(phi=0.2, mode=0, resolution=60)
    P = np.stack(np.meshgrid(other.horizontal, other.vertical), axis=-1)
    poses = np.concatenate([P, np.full((*P.shape[:-1], 1), 0.2)], axis=-1)
    np.testing.assert_array_equal(other.reachable, np.isfinite(THREE.inverse_position(poses)).all(axis=(-2, -1)))
    assert not other.direct
    assert missed(other, determinants(THREE.jacobians(poses, THREE.inverse_position(poses)[..., 0, :])[0])) == 0
    straight = points_of(other.inverse)
    d = np.linalg.norm(THREE.vertices(np.column_stack([straight, np.full(len(straight), 0.2)])) - THREE.pivots, axis=-1)
    assert np.abs(d[..., None] - [0.1, 1.7]).min(axis=(1, 2)).max() < 1e-12


@pytest.mark.spec("S2-71")
def test_slices_of_a_delta():
    found = DELTA.workspace(height=0.55, mode=7, resolution=80)
    P = np.stack(np.meshgrid(found.horizontal, found.vertical), axis=-1)
    places = np.concatenate([P, np.full((*P.shape[:-1], 1), 0.55)], axis=-1)
    np.testing.assert_array_equal(found.reachable, np.isfinite(DELTA.inverse_position(places)).all(axis=(-2, -1)))
    edge = points_of(found.inverse)
    off = []
    for phi in DELTA.directions:  # a leg is a crank and a rod of the length sqrt(b^2 - across^2) in its plane
        x, across = edge @ [np.cos(phi), np.sin(phi)] - 0.17, edge @ [-np.sin(phi), np.cos(phi)]
        rod = np.sqrt(0.36 - across**2)
        off += [np.hypot(x, 0.55) - abs(0.3 - rod), 0.3 + rod - np.hypot(x, 0.55)]
    assert np.abs(off).min(axis=0).max() < 1e-12 and np.min(off) > -1e-9
    low = DELTA.workspace(height=0.55, mode=7, crank_limits=np.radians([-20.0, 60.0]), resolution=80)
    theta = DELTA.inverse_position(places)[..., 7, :]
    inside = ((theta >= np.radians(-20.0)) & (theta <= np.radians(60.0))).all(axis=-1)
    np.testing.assert_array_equal(low.reachable, inside)
    ends = points_of(low.limits)
    at = DELTA.inverse_position(np.column_stack([ends, np.full(len(ends), 0.55)]))[:, 7]
    assert np.abs(at[..., None] - np.radians([-20.0, 60.0])).min(axis=(1, 2)).max() < 1e-9
    assert low.area < found.area


@pytest.mark.spec("S2-107")
def test_slices_of_a_stewart_platform_end_where_legs_do():
    rotation = Rotation.from_rotvec([0.1, -0.2, 0.3]).as_matrix()
    found = STEWART.workspace(height=0.9, lengths=(0.8, 1.2), rotation=rotation, resolution=60)
    P = np.stack(np.meshgrid(found.horizontal, found.vertical), axis=-1)
    poses = np.broadcast_to(np.eye(4), (*P.shape[:-1], 4, 4)).copy()
    poses[..., :3, :3] = rotation
    poses[..., :2, 3] = P
    poses[..., 2, 3] = 0.9
    lengths = STEWART.leg_lengths(poses)
    np.testing.assert_array_equal(found.reachable, ((lengths >= 0.8) & (lengths <= 1.2)).all(axis=-1))
    edge = points_of(found.limits)
    poses = np.broadcast_to(poses[0, 0], (len(edge), 4, 4)).copy()
    poses[:, :2, 3] = edge
    lengths = STEWART.leg_lengths(poses)
    assert np.abs(lengths[..., None] - [0.8, 1.2]).min(axis=(1, 2)).max() < 1e-12
    assert lengths.min() > 0.8 - 1e-8 and lengths.max() < 1.2 + 1e-8
    turned = Rotation.from_rotvec([0.2, 0, 1.5]).as_matrix()
    quarter = STEWART.workspace(height=0.9, lengths=(0.2, 3.0), rotation=turned, resolution=60)
    assert quarter.direct
    poses = np.broadcast_to(np.eye(4), (len(quarter.direct[0]), 4, 4)).copy()
    poses[:, :3, :3] = turned
    poses[:, :2, 3], poses[:, 2, 3] = quarter.direct[0], 0.9
    assert np.linalg.svd(STEWART.jacobian(poses), compute_uv=False)[:, -1].max() < 1e-9
    assert STEWART.singularity(poses[3]).kind == "direct"


def test_maps_are_drawn_and_wrong_choices_said(five):
    ax = five.plot()
    assert ax.get_xlabel() == "x [m]" and len(ax.lines) == len(five.inverse) + len(five.direct) + 2 * len(five.sketch)
    plt.close("all")
    with pytest.raises(ConventionError, match="working mode must be a place in `inverse_position`, 0 to 3, not 4"):
        FIVE.workspace(mode=4)
    with pytest.raises(ConventionError, match="limits of cranks are"):
        FIVE.workspace(crank_limits=(1.0, -1.0))
    with pytest.raises(ConventionError, match="a box must be"):
        FIVE.workspace(box=(0.0, 1.0))
    with pytest.raises(ConventionError, match="at least 8 places"):
        FIVE.workspace(resolution=4)
    with pytest.raises(ConventionError, match="shortest comes first"):
        STEWART.workspace(height=1.0, lengths=(1.0, 0.5))
    apart = FiveBar([(0.0, 0.0), (5.0, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
    with pytest.raises(ConventionError, match="reach no point together"):
        apart.workspace()
    empty = DELTA.workspace(height=5.0, resolution=20)
    assert empty.area == 0.0 and not empty.direct
    empty.plot()
    plt.close("all")
