"""Manipulability maps against closed forms of the planar arm; ellipsoids against the Jacobian, flat and endless ones
included.
"""

from itertools import pairwise

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import cayley as cy
from cayley.drawing import draw_ellipsoids, manipulability_map
from cayley.drawing.skeleton import resting, skeleton
from cayley.errors import ConventionError, ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.kinematics.singular.indices import manipulability
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree

L1, L2 = 0.5, 0.4  # of planar2r


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


# Maps


def test_the_map_of_a_planar_arm_over_its_joints():
    found = manipulability_map(cy.load("planar2r").tree, "tool", over=("joint1", "joint2"), resolution=61)
    assert np.allclose(found.values, L1 * L2 * np.abs(np.sin(found.vertical))[:, None], atol=1e-14)
    assert found.unit == "m²" and found.names == ("joint1 [rad]", "joint2 [rad]")
    bent = found.singular[:, 1]
    assert np.abs(np.sin(bent)).max() < 1e-6 and {round(float(x), 3) for x in bent + 0.0} >= {0.0, 3.142, -3.142}
    assert len(np.unique(found.singular[:, 0].round(9))) >= 61     # all along the curve
    ax = found.plot()
    plt.gcf().canvas.draw()
    mesh = ax.collections[0]
    assert np.allclose(np.asarray(mesh.get_array()).reshape(found.values.shape), found.values)
    assert np.allclose(np.stack(ax.lines[0].get_data(), axis=1), found.singular)


def test_the_map_of_a_planar_arm_over_the_plane():
    found = manipulability_map(cy.load("planar2r").tree, "tool", over="section", resolution=80)
    x, y = np.meshgrid(found.horizontal, found.vertical)
    radius, half = np.hypot(x, y), 0.5 * np.hypot(1, 1) * np.diff(found.horizontal)[0]
    in_cell = radius[..., None] + half * np.linspace(-1, 1, 21)
    cosine = (in_cell**2 - L1**2 - L2**2) / (2 * L1 * L2)
    exact = L1 * L2 * np.sqrt(np.maximum(1 - cosine**2, 0.0))
    reached = np.isfinite(found.values)
    assert reached.sum() > 4000 and (found.values[reached] <= exact.max(axis=-1)[reached] + 1e-5).all()
    assert (found.values[reached] >= exact.min(axis=-1)[reached] - 1e-12).all()
    radius = np.hypot(*found.singular.T)
    on_outer, on_inner = np.abs(radius - (L1 + L2)) < 1e-6, np.abs(radius - (L1 - L2)) < 1e-6
    assert (on_outer | on_inner).all() and on_outer.sum() > 100 and on_inner.sum() > 100
    found.plot()
    plt.gcf().canvas.draw()


def test_the_map_of_puma_is_that_of_the_indices_and_its_curves_are_singular():
    puma = cy.load("puma560")
    found = manipulability_map(puma.tree, "tool", over=("joint2", "joint3"), q=[0.2, 0, 0, 0.1, 0.3, 0.0],
                               resolution=41)
    for k, l in ((0, 0), (7, 30), (40, 12)):
        q = np.array([0.2, found.horizontal[l], found.vertical[k], 0.1, 0.3, 0.0])
        assert found.values[k,
                            l] == pytest.approx(float(manipulability(puma.tree, q, "tool", task="position",
                                                                     axes="world")),
                                                rel=1e-9)
    J = puma.jacobian(found.singular_configurations, "tool", axes="world")[:, :3, :3]
    assert len(J) > 80 and np.abs(np.linalg.det(J)).max() < 1e-7
    crossings = 0
    for q2 in found.horizontal[::10]:       # between neighbours of different sign there is a singular place
        q = np.stack([[0.2, q2, q3, 0.1, 0.3, 0.0] for q3 in found.vertical])
        signs = np.sign(np.linalg.det(puma.jacobian(q, "tool", axes="world")[:, :3, :3]))
        for (low, a), (high, b) in pairwise(zip(found.vertical, signs, strict=True)):
            if a != b:
                there = found.singular[np.abs(found.singular[:, 0] - q2) < 1e-9][:, 1]
                assert ((there >= low) & (there <= high)).any()
                crossings += 1
    assert crossings >= 5


def test_the_condition_number_and_a_redundant_arm():
    found = manipulability_map(cy.load("panda").tree, "tool", over=("panda_joint2", "panda_joint4"),
                               index="inverse_condition_number", resolution=15)
    assert ((found.values >= 0) & (found.values <= 1)).all() and found.unit == "" and len(found.singular) == 0
    found.plot()
    posed = manipulability_map(cy.load("planar3r").tree, "tool", over=("joint2", "joint3"), task="pose",
                               characteristic_length=0.5, resolution=21)
    assert np.allclose(posed.values, 1.0 * 0.8 * np.abs(np.sin(posed.horizontal))[None, :] / 0.5**2, atol=1e-12)


def test_maps_refuse_what_has_no_meaning():
    planar, scara = cy.load("planar2r").tree, cy.load("scara").tree
    with pytest.raises(ConventionError, match="different units"):
        manipulability_map(scara, "tool", over=("joint1", "joint2"))
    assert manipulability_map(scara, "tool", over=("joint1", "joint2"), characteristic_length=0.3,
                              resolution=9).values.shape == (9, 9)
    with pytest.raises(ConventionError, match="different units"):
        manipulability_map(cy.load("puma560").tree, "tool", over=("joint2", "joint3"), task="pose")
    with pytest.raises(SingularityError, match="3 rows, and only 2 velocities"):
        manipulability_map(planar, "tool", over=("joint1", "joint2"), task="pose", characteristic_length=1.0)
    with pytest.raises(ModelError, match="no joint 'elbow'"):
        manipulability_map(planar, "tool", over=("joint1", "elbow"))
    with pytest.raises(SignatureError, match="two different joints"):
        manipulability_map(planar, "tool", over=("joint1", "joint1"))
    with pytest.raises(ConventionError, match='over "section", not \'plane\''):
        manipulability_map(planar, "tool", over="plane")
    with pytest.raises(ConventionError, match="the index must be"):
        manipulability_map(planar, "tool", over="section", index="dexterity")
    with pytest.raises(ConventionError, match='the task must be "position"'):
        manipulability_map(planar, "tool", over="section", task="place")
    slides = Tree.of("slides", map(Body, "abc"), [Joint("x", "a", "b", Prismatic((1.0, 0.0, 0.0))),
                                                  Joint("y", "b", "c", Prismatic((0.0, 1.0, 0.0)))])
    with pytest.raises(ModelError, match="joint 'x' of slides is prismatic and has no end"):
        manipulability_map(slides, "c", over=("x", "y"))
    with pytest.raises(SingularityError, match="every configuration of this map is singular"):
        twice = Tree.of("twice", map(Body, "abcd"), [Joint("j", "a", "b", Revolute()), Joint("k", "b", "c", Revolute()),
                                                    Joint("l", "c", "d", Revolute())])
        manipulability_map(twice, "d", over=("j", "k"), resolution=9)


# Ellipsoids


def drawn(ax, label):
    return [np.stack(line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data(), axis=1)
            for line in ax.lines if line.get_label() == label]


def test_the_ellipses_of_a_planar_arm_satisfy_their_equations():
    arm, q = cy.load("planar2r"), np.array([0.4, 0.9])
    ax = draw_ellipsoids(arm.tree, q, "tool", velocity_scale=0.3, force_scale=0.07)
    J, center = arm.jacobian(q, "tool", axes="world")[:2], arm.pose(q, "tool")[:2, 3]
    (velocity,), (force,) = drawn(ax, "_velocity ellipse"), drawn(ax, "_force ellipse")
    rates = np.linalg.solve(J, (velocity - center).T / 0.3)
    torques = J.T @ (force - center).T / 0.07
    assert np.allclose(np.linalg.norm(rates, axis=0), 1.0) and np.allclose(np.linalg.norm(torques, axis=0), 1.0)
    directions = [[np.diff(axis, axis=0)[0] / np.linalg.norm(np.diff(axis)) for axis in drawn(ax, f"_{kind} axis")]
                  for kind in ("velocity", "force")]
    dots = np.abs(np.array(directions[0]) @ np.array(directions[1]).T)
    assert abs(dots[0, 1]) < 1e-12 * 100 and abs(dots[1, 0]) < 1e-12 * 100     # the same axes
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "velocity for |q̇| = 1 rad/s: 1 m/s is 0.3 m", "force for |τ| = 1 N m: 1 N is 0.07 m"]


def test_the_ellipsoids_of_panda_satisfy_their_equations():
    arm = cy.load("panda")
    q = np.array([0.3, 0.4, 0.2, -1.8, 0.1, 2.0, 0.5])
    J, center = arm.jacobian(q, "tool", axes="world")[:3], arm.pose(q, "tool")[:3, 3]
    ax = draw_ellipsoids(arm.tree, q, "tool", velocity_scale=0.2, force_scale=0.1)
    surface = next(c for c in ax.collections if c.get_label() == "_ellipsoids")
    points = (np.reshape(surface._faces, (-1, 3)) if hasattr(surface, "_faces") else surface._vec[:3].T) - center
    half = len(points) // 2
    velocity, force = points[:half] / 0.2, points[half:] / 0.1
    assert np.allclose(np.einsum("ki,ij,kj->k", velocity, np.linalg.inv(J @ J.T), velocity), 1.0)
    assert np.allclose(np.einsum("ki,ij,kj->k", force, J @ J.T, force), 1.0)
    assert len(drawn(ax, "_velocity axis")) == 3 and len(drawn(ax, "_force ellipse")) == 3
    plt.gcf().canvas.draw()


def test_a_stretched_arm_has_a_flat_and_an_endless_ellipse():
    arm, q = cy.load("planar2r").tree, np.array([0.4, 0.0])
    ax = draw_ellipsoids(arm, q, "tool")
    along, across = np.array([np.cos(0.4), np.sin(0.4)]), np.array([-np.sin(0.4), np.cos(0.4)])
    center = 0.9 * along
    (velocity,) = drawn(ax, "_velocity ellipse")
    assert np.abs((velocity - center) @ along).max() < 1e-12 and np.abs((velocity - center) @ across).max() > 0.05
    edges = drawn(ax, "_force ellipse")
    assert len(edges) == 2 and all(np.ptp((edge - center) @ across) < 1e-12 for edge in edges)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[0].endswith(", flat") and words[1].endswith(", no end along dashes")
    plt.gcf().canvas.draw()


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_flat_and_endless_ellipsoids_in_space(lost, tmp_path):
    """PUMA's tool on a singular place, a point that only one of two joints moves, and one that neither does."""
    if lost == 1:
        tree, frame = cy.load("puma560").tree, "tool"
        curve = manipulability_map(tree, frame, over=("joint2", "joint3"), resolution=9)
        q = curve.singular_configurations[0]
    else:
        tree = Tree.of("two", map(Body, "abc"),
                       [Joint("j", "a", "b", Revolute()),
                        Joint("k", "b", "c", Revolute((1.0, 0.0, 0.0)))])
        tree = tree.with_frame(
            "tip", "c", np.array([[1, 0, 0, 0.5 if lost == 2 else 0.0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
        frame, q = "tip", resting(tree)
    ax = draw_ellipsoids(tree, q, frame)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[0].endswith("flat") and words[1].endswith("no end along dashes")
    dashed = [line for line in ax.lines if line.get_label() == "_force axis" and line.get_linestyle() == "--"]
    assert len(dashed) == lost
    plt.savefig(tmp_path / "flat.png", dpi=50)


def test_the_default_scale_fits_the_robot():
    postures = {
        "panda": [0.3, 0.4, 0.2, -1.8, 0.1, 2.0, 0.5], "planar3r": [0.2, 0.5, 0.6],
        "ur5": [0.1, -1.2, 1.0, 0.2, 0.7, 0.0]}
    for name, q in postures.items():
        arm = cy.load(name).tree
        ax = draw_ellipsoids(arm, q, "tool")
        for kind in ("velocity", "force"):
            longest = max(np.linalg.norm(np.diff(axis, axis=0)) for axis in drawn(ax, f"_{kind} axis")) / 2
            assert 0.18 < longest / skeleton(arm, np.array(q)).size < 0.29


def test_orientation_and_other_words():
    arm = cy.load("panda").tree
    q = resting(arm)
    ax = draw_ellipsoids(arm, q, "tool", kinds=["force"], task="orientation")
    assert ax.get_legend().get_texts()[0].get_text().startswith("force for |τ| = 1 N m: 1 N m is")
    draw_ellipsoids(cy.load("planar3r").tree, [0.1, 0.2, 0.3], "tool", task="orientation")
    plt.gcf().canvas.draw()
    with pytest.raises(UnsupportedError, match="more than three dimensions"):
        draw_ellipsoids(arm, q, "tool", task="pose")
    with pytest.raises(ConventionError, match="not of 'power'"):
        draw_ellipsoids(arm, q, "tool", kinds=["power"])
    with pytest.raises(ConventionError, match="different units"):
        draw_ellipsoids(cy.load("scara").tree, [0.4, 0.8, 0.1, 0], "tool")
    with pytest.raises(ConventionError, match="scale of the velocity ellipsoid"):
        draw_ellipsoids(arm, q, "tool", velocity_scale=-1.0)
    scaled = draw_ellipsoids(cy.load("scara").tree, [0.4, 0.8, 0.1, 0], "tool", characteristic_length=0.3)
    assert "rad" not in scaled.get_legend().get_texts()[0].get_text()
