"""Singular loci: in closed form for planar arms, sampled and continued for others; boundary or interior (S2-101)."""

from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest

import cayley as cy
from cayley.drawing import draw_singular_locus
from cayley.errors import CayleyError, ModelError, SignatureError, UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Spherical
from cayley.model.parts import Body, Joint, Limits
from kinematics.arms import ELBOW, H, modified_arm, planar_arm, translation

ORTHOGONAL = [(0, 0, 0, 0), (1.0, -H, 0, 0), (2.0, H, 1.0, 0)]  # three axes, each at right angles to the one before


@pytest.fixture(scope="module")
def orthogonal():
    arm = modified_arm(ORTHOGONAL, tool=translation(1.5, 0, 0))
    return arm, arm.dexterity.singular_locus("tool")


def limited(arm, **ranges):
    joints = [replace(j, limits=Limits(*((end,) for end in ranges[j.name]))) if j.name in ranges else j
              for j in arm.joints]
    return Mechanism.of("limited", arm.bodies, joints, frames=arm.frames)


def by_differences(arm, q, frame="tool"):
    """The Jacobian (3, n) of the point, from forward kinematics alone."""
    step = 1e-6
    ends = [arm.pose(q + side * step * np.eye(len(q)), frame)[:, :3, 3] for side in (1, -1)]
    return ((ends[0] - ends[1]) / (2 * step)).T


@pytest.mark.spec("S2-101")
def test_the_circles_of_planar_arms():
    """+-a1 +-a2 +-a3 of the tool, a1 +- a2 of the third joint; the outermost, and the hole, are boundaries."""
    for lengths, frame, boundary in (((1.0, 0.8, 0.5), "tool", {2.3}), ((1.0, 0.8, 0.5), "link3", {1.8, 0.2}),
                                     ((1.0, 0.4, 0.3), "tool", {1.7, 0.3}), ((0.3, 1.0, 0.4), "tool", {1.7, 0.3})):
        arm = planar_arm(*lengths)
        found = arm.dexterity.singular_locus(frame, points=9)
        links = lengths if frame == "tool" else lengths[:2]
        expected = [abs(links[0] + np.dot(signs, links[1:])) for signs in product((1, -1), repeat=len(links) - 1)]
        np.testing.assert_allclose(sorted(curve.radius for curve in found.curves), sorted(expected), atol=1e-14)
        assert found.planar and {round(c.radius, 9) for c in found.curves if "boundary" in c.kind} == boundary
        for curve in found.curves:
            assert len(set(curve.kind)) == 1 and np.ptp(curve.configurations[:, 0]) == pytest.approx(2 * np.pi)
            np.testing.assert_allclose(np.linalg.norm(curve.points, axis=1), curve.radius, atol=1e-13)
            for q, u in zip(curve.configurations, curve.lost, strict=True):
                J = by_differences(arm, q, frame)
                assert np.abs(u @ J).max() < 1e-9 and np.linalg.svd(J)[1][1] < 1e-9
    folded = planar_arm(1.0,
                        1.0).dexterity.singular_locus("tool").curves  # equal links: the inner circle is a point, passed
    assert [(round(c.radius, 12), c.kind[0]) for c in folded] == [(2.0, "boundary"), (0.0, "interior")]


@pytest.mark.spec("S2-101")
def test_planar_arms_as_they_come():
    """A bent tool, axes upside down, a joint that turns with the next, a plane that stands upright, limits."""
    turned = translation(0.3, 0.4, 0)  # a tool to the side: a link of 0.5
    rows = [(0, 0, 0, 0), (1.0, np.pi, 0.2, 0), (0.8, 0.0, 0.1, 0.3)]
    arm = modified_arm([(0, H, 0, 0.7), *rows[1:]], tool=turned)
    found = arm.dexterity.singular_locus("tool", points=5)
    np.testing.assert_allclose(sorted(c.radius for c in found.curves), [0.3, 0.7, 1.3, 2.3], atol=1e-9)
    for curve in found.curves:
        for q in curve.configurations:
            assert np.linalg.svd(by_differences(arm, q))[1][1] < 1e-8
    twice = planar_arm(1.0, 0.0, 0.5).dexterity.singular_locus("tool", points=5)  # joints 2 and 3 on one axis
    assert [(round(c.radius, 12), c.kind[0]) for c in twice.curves] == [(1.5, "boundary"), (0.5, "boundary")]
    small = limited(planar_arm(1.0, 0.8, 0.5), joint1=(-1, 2), joint2=(-0.5, 0.5), joint3=(-1, 4))
    kept = small.dexterity.singular_locus("tool", points=13)
    assert [round(c.radius, 12) for c in kept.curves] == [2.3, 1.3]  # joint 2 cannot fold
    assert set(kept.curves[0].kind) == {"boundary"} and kept.curves[0].configurations[[0, -1], 0].tolist() == [-1, 2]
    assert len(small.dexterity.singular_locus("tool", points=13, limits=False).curves) == 4


@pytest.mark.spec("S2-101")
def test_slides_in_a_plane():
    """R-P: the slide at the foot of the perpendicular, a circle that is the edge of a hole. P-R-R: lines."""
    arm = limited(modified_arm([(0, 0, 0, 0), (0.3, -H, 0, 0)], "RP", tool=translation(0, 0, 0.2)), joint2=(-0.6, 0.5))
    hole, = arm.dexterity.singular_locus("tool", points=21).curves
    np.testing.assert_allclose(np.linalg.norm(hole.points, axis=1), 0.3, atol=1e-12)
    np.testing.assert_allclose(hole.configurations[:, 1], -0.2, atol=1e-9)
    assert set(hole.kind) == {"boundary"}
    rows = [(0, 0, 0, 0), (0, H, 0, 0), (0.5, 0, 0, 0)]
    gantry = limited(modified_arm(rows, "PRR", tool=translation(0.3, 0, 0)), joint1=(0, 1))
    lines = gantry.dexterity.singular_locus("tool", points=5)
    across = sorted((round(float(c.points[0, 0]), 9), c.kind[2]) for c in lines.curves)
    assert across == [(-0.8, "boundary"), (-0.2, "interior"), (0.2, "interior"), (0.8, "boundary")]


@pytest.mark.spec("S2-101")
def test_an_elbow_in_space():
    """Two spheres about the shoulder, stretched and folded, both boundaries; the first axis, interior."""
    arm = modified_arm(ELBOW, tool=translation(0.3, 0, 0))
    found = arm.dexterity.singular_locus("tool")
    seen = []
    for curve in found.curves:
        place = found.section(curve.points) - [0.0, 0.4]
        distance = np.linalg.norm(place, axis=1)
        np.testing.assert_allclose(curve.configurations[:, 0], 0.0)
        assert all(np.abs(u @ by_differences(arm, q)).max() < 1e-8
                   for q, u in zip(curve.configurations[::9], curve.lost[::9], strict=True))
        if np.ptp(distance) < 1e-9:
            seen.append((round(distance[0], 9), curve.kind[0]))
            assert len(set(curve.kind)) == 1 and np.ptp(place[:, 1]) > 1.99 * distance[0]  # all the way round
        else:
            assert np.abs(place[:, 0]).max() < 1e-9 and set(curve.kind) == {"interior"}
            assert np.ptp(np.abs(place[:, 1])) > 0.19  # from 0.2, folded, to 0.4 (a right angle), above or below
    assert sorted(seen) == [(0.2, "boundary"), (0.8, "boundary")]


@pytest.mark.spec("S2-101")
def test_boundaries_of_an_orthogonal_arm_enclose_what_it_reaches(orthogonal):
    """By forward kinematics in NumPy at many random postures: a boundary has nothing on one side, an interior curve
    something on both; and every place lies within the boundary."""
    arm, found = orthogonal
    q2, q3 = np.random.default_rng(0).uniform(-np.pi, np.pi, (2, 400_000))
    along = 2 + 1.5 * np.cos(q3)  # in the plane of link 2, whose axis is along y at q1 = 0
    reached = np.stack([np.hypot(1 + along * np.cos(q2) + np.sin(q2), 1.5 * np.sin(q3)),
                        -along * np.sin(q2) + np.cos(q2)], axis=1)
    some = arm.pose(np.stack([0 * q2, q2, q3], axis=1)[:50], "tool")[:, :3, 3]
    np.testing.assert_allclose(found.section(some), reached[:50], atol=1e-12)

    from scipy.spatial import cKDTree
    cloud = cKDTree(reached)
    step = 0.03
    checked = {"boundary": 0, "interior": 0}
    for curve in found.curves:
        place = found.section(curve.points)
        tangent = np.gradient(place, axis=0)
        tangent = tangent / np.linalg.norm(tangent, axis=1, keepdims=True)
        normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
        sides = [cloud.query(place + side * step * normal)[0] < step / 2 for side in (1, -1)]
        steady = np.array([len(set(curve.kind[max(k - 6, 0):k + 7])) == 1 for k in range(len(place))])
        for kind in checked:  # away from where the label changes, from cusps, and from the axis
            where = steady & (curve.kind == kind) & (place[:, 0] > 0.3)
            agreed = (sides[0] & sides[1]) == (kind == "interior")
            assert np.sum(agreed[where]) >= 0.97 * where.sum()
            checked[kind] += int(where.sum())
    assert min(checked.values()) > 100
    edge = np.concatenate([found.section(piece) for piece in found.pieces("boundary")])
    assert reached.max(axis=0) == pytest.approx(edge.max(axis=0), abs=1e-2)
    assert (reached.max(axis=0) < edge.max(axis=0) + 1e-3).all()


@pytest.mark.spec("S2-101")
def test_more_joints_than_the_point_needs():
    """Four joints in space; and seven with a spherical shoulder, of which one is held."""
    wrist = modified_arm([*ORTHOGONAL, (0.7, H, 0.2, 0)], tool=translation(0.4, 0, 0))  # four joints: redundant
    curves = wrist.dexterity.singular_locus("tool", samples=40).curves
    assert len(curves) >= 2
    for curve in curves:
        for q, u in zip(curve.configurations[::40], curve.lost[::40], strict=True):
            assert np.abs(u @ by_differences(wrist, q)).max() < 1e-8
    panda = cy.load("panda")
    with pytest.raises(UnsupportedError, match="held="):
        panda.dexterity.singular_locus("panda_link7")
    found = panda.dexterity.singular_locus("panda_link7", held=["panda_joint3"], samples=60)
    assert found.curves and all(not curve.configurations[:, 2].any() for curve in found.curves)
    farthest = panda.pictures.workspace("panda_link7", samples=2000, center=(0, 0, 0.333)).farthest
    about = [np.linalg.norm(piece - [0, 0, 0.333], axis=1) for piece in found.pieces("boundary")]
    np.testing.assert_allclose(np.concatenate(about), farthest, rtol=1e-6)


@pytest.mark.spec("S2-101")
def test_what_has_no_singular_curves_is_refused_by_name():
    with pytest.raises(ModelError, match="'joint2' of arm slides without an end"):
        modified_arm([(0, 0, 0, 0), (0.3, -H, 0, 0)], "RP").dexterity.singular_locus("tool")
    with pytest.raises(UnsupportedError, match="1 of the joints of arm move 'tool'"):
        planar_arm(1.0).dexterity.singular_locus("tool")
    with pytest.raises(UnsupportedError, match="2 of the joints of arm move 'tool': it stays on a surface"):
        modified_arm([(0, 0, 0, 0), (0.2, H, 0.1, 0)], tool=translation(0.3, 0, 0)).dexterity.singular_locus("tool")
    with pytest.raises(UnsupportedError, match="loop 'pin'"):
        cy.load("four_bar").dexterity.singular_locus("coupler")
    ball = Mechanism.of("ball", [Body("base"), Body("link")], [Joint("ball", "base", "link", Spherical())])
    with pytest.raises(UnsupportedError, match="'ball'"):
        ball.dexterity.singular_locus("link")
    with pytest.raises(SignatureError, match="points 2 or more"):
        planar_arm(1.0, 0.5).dexterity.singular_locus("tool", points=1)
    with pytest.raises(CayleyError, match="shoulder"):
        planar_arm(1.0, 0.5).dexterity.singular_locus("tool", held=["shoulder"])
    with pytest.raises(UnsupportedError, match="2\\^n"):
        planar_arm(*np.full(14, 0.1)).dexterity.singular_locus("tool")


def test_the_picture_has_both_kinds(orthogonal):
    for found in (orthogonal[1], planar_arm(1.0, 0.8, 0.5).dexterity.singular_locus("tool")):
        ax = draw_singular_locus(found)
        words = [text.get_text() for text in ax.get_legend().get_texts()]
        assert sorted(words) == ["singular, boundary", "singular, interior"]
        for kind in ("boundary", "interior"):
            first = next(line for line in ax.lines if line.get_label() == f"singular, {kind}")
            np.testing.assert_allclose(first.get_xydata(), found.section(found.pieces(kind)[0]))
        plt.close(ax.figure)
