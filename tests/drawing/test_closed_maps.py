"""Maps of any mechanism with loops: beside the closed forms of five-bar, planar 3-RRR and Delta."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest

import cayley as cy
from cayley.errors import ConventionError, UnreachableError, UnsupportedError
from cayley.machines import FiveBar, Planar3RRR, TranslationalDelta
from cayley.model.parts import Limits

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FIVE = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
THREE = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
DELTA = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
START = FIVE.configuration([0.25, 0.4], FIVE.inverse_position([0.25, 0.4])[1])


def points_of(curves):
    return np.concatenate(curves)


def inner(mask):
    """Places whose neighbours are reached, too: on the boundary rounding decides."""
    return mask & np.roll(mask, 1, 0) & np.roll(mask, -1, 0) & np.roll(mask, 1, 1) & np.roll(mask, -1, 1)


@pytest.fixture(scope="module")
def five():
    return cy.Mechanism(FIVE.tree())


def test_a_five_bar_as_any_mechanism_has_the_map_of_its_closed_form(five):
    box = ((-0.25, -0.7), (0.75, 0.7))
    found = five.pictures.workspace_map("point", start=START, box=box, resolution=60)
    exact = FIVE.workspace(mode=1, box=box, resolution=60)
    assert np.mean(found.reachable != exact.reachable) < 0.005
    both = found.reachable & exact.reachable
    np.testing.assert_allclose(found.values[both], exact.values[both], atol=1e-7)
    direct = points_of(found.direct)
    theta = FIVE.inverse_position(direct)[:, 1]
    fine = np.isfinite(theta).all(axis=1)
    assert fine.mean() > 0.9
    first, second = np.moveaxis(direct[fine][:, None] - FIVE.crank_ends(theta[fine]), 1, 0)
    bent = np.abs(FIVE.jacobians(direct[fine], theta[fine]).Jq).min(axis=-1)
    assert (np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) * bent).max() < 1e-11
    for p in points_of(exact.direct)[::5]:  # none is missed
        assert np.linalg.norm(direct - p, axis=1).min() < 0.05
    edge = np.linalg.norm(points_of(found.inverse)[:, None] - FIVE.pivots, axis=-1)
    assert np.abs(edge[..., None] - [0.1, 0.7]).min(axis=(1, 2)).max() < 1e-9
    assert len(found.inverse) == 3  # the outline, and a hole about each pivot
    found.plot()
    plt.close("all")


def test_limits_of_joints_bound_a_map(five):
    cranks = [replace(five.joints[five.tree.joint_number(name)], limits=Limits((0.2,), (2.9,)))
              for name in ("crank1", "crank2")]
    box = ((-0.25, 0.2), (0.75, 0.7))
    found = five.variants.with_joints(*cranks).pictures.workspace_map("point", start=START, box=box, resolution=40)
    exact = FIVE.workspace(mode=1, crank_limits=(0.2, 2.9), box=box, resolution=40)
    assert np.mean(found.reachable != exact.reachable) < 0.01
    assert found.area < 0.95 * FIVE.workspace(mode=1, box=box).area
    at = FIVE.inverse_position(points_of(found.limits))[:, 1]
    assert len(at) > 10 and np.abs(at[..., None] - [0.2, 2.9]).min(axis=(1, 2)).max() < 1e-8


def test_a_planar_3rrr_with_its_orientation_held():
    arm = cy.Mechanism(THREE.tree())
    pose = [1.3, 0.6, 0.9]
    box = ((0.4, 0.0), (1.9, 1.6))
    length = 0.7 / np.sqrt(3)
    found = arm.pictures.workspace_map("tool", start=THREE.configuration(pose, THREE.inverse_position(pose)[3]),
                                       box=box,
                              resolution=40, characteristic_length=length)
    exact = THREE.workspace(phi=0.9, mode=3, box=box, resolution=40)
    assert np.mean(found.reachable != exact.reachable) < 0.01
    both = found.reachable & exact.reachable
    np.testing.assert_allclose(found.values[both], exact.values[both], atol=1e-7)
    direct = points_of(found.direct)
    poses = np.column_stack([direct, np.full(len(direct), 0.9)])
    theta = THREE.inverse_position(poses)[:, 3]
    fine = np.isfinite(theta).all(axis=1)
    assert np.abs(np.linalg.det(THREE.jacobians(poses[fine], theta[fine]).Jx)).max() < 1e-8
    with pytest.raises(ConventionError, match="different units"):
        arm.pictures.workspace_map("tool", start=THREE.configuration(pose, THREE.inverse_position(pose)[3]), box=box)


def test_a_slice_of_a_delta_in_a_plane_that_is_named():
    arm = cy.Mechanism(DELTA.tree())
    place = [0.05, -0.04, 0.55]
    start = DELTA.configuration(place, DELTA.inverse_position(place)[-1])
    upright = arm.pictures.workspace_map("platform", start=start, plane="xz", box=((-0.3, 0.3), (0.3, 0.8)),
                                         resolution=24)
    P = np.stack(np.meshgrid(upright.horizontal, upright.vertical), axis=-1)
    places = np.stack([P[..., 0], np.full(P.shape[:2], -0.04), P[..., 1]], axis=-1)
    reached = np.isfinite(DELTA.inverse_position(places)).all(axis=(-2, -1))
    assert (upright.reachable <= reached).all() and upright.reachable[inner(reached)].mean() > 0.98
    assert upright.names == ("x [m]", "z [m]")
    with pytest.raises(ConventionError, match='does not move in a plane of its axes: name one'):
        arm.pictures.workspace_map("platform", start=start, box=((-0.3, 0.3), (0.3, 0.8)))


def test_what_a_map_cannot_be_of_is_said(five):
    box = ((0.0, 0.0), (0.5, 0.5))
    with pytest.raises(UnsupportedError, match="as many drives as degrees of freedom"):
        five.variants.with_actuated("crank1").pictures.workspace_map("point", start=START, box=box)
    with pytest.raises(UnreachableError, match="does not get into the box from there"):
        five.pictures.workspace_map("point", start=START, box=((3.0, 3.0), (4.0, 4.0)), resolution=10)
    with pytest.raises(ConventionError, match="the task of a map has the two rows of its plane"):
        five.pictures.workspace_map("point", start=START, box=box, task="position")
    with pytest.raises(ConventionError, match='a plane must be two axes of the root, as "xy"'):
        five.pictures.workspace_map("point", start=START, box=box, plane="xx")
    with pytest.raises(UnreachableError, match=r"a map starts at one closed configuration \(4\)"):
        five.pictures.workspace_map("point", start=[START, START], box=box)
