"""Whether points are reached, and the surface around them."""

import numpy as np
import pytest
import trimesh

import cayley as cy
from cayley.drawing import workspace
from cayley.drawing.workspace_membership import zero_surface
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint, Limits

PLANAR = cy.load("planar2r")


@pytest.fixture(scope="module")
def planar():
    return PLANAR.pictures.workspace("tool", samples=3000)


@pytest.fixture(scope="module")
def spatial():
    return cy.load("ur5").pictures.workspace("tool", samples=20_000)


def test_an_annulus_to_the_tolerance(planar):
    """Links of 0.5 and 0.4 m: from 0.1 to 0.9 m, whatever the samples are."""
    turn = np.linspace(0.0, 2 * np.pi, 60)
    for radius, inside in [(0.1 - 1e-4, False), (0.1 + 1e-4, True), (0.9 - 1e-4, True), (0.9 + 1e-4, False)]:
        points = radius * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=-1).reshape(4, 15, 3)
        found = planar.contains(points)
        assert found.shape == (4, 15) and (found == inside).all()
    assert planar.contains([0.3, 0.2, 0.0]) and not planar.contains([0.3, 0.2, 1e-3])
    assert planar.contains([0.9 + 1e-4, 0.0, 0.0], tolerance=1e-3)
    assert not planar.contains([np.nan, 0.0, 0.0]) and planar.contains(np.zeros((0, 3))).shape == (0,)


def test_limits_of_the_model_and_of_the_call():
    joints = [Joint("turn", "base", "arm", Revolute(), limits=Limits((-0.5,), (0.5,))),
              Joint("slide", "arm", "tip", Prismatic((1.0, 0.0, 0.0)), limits=Limits((0.2,), (0.6,)))]
    polar = cy.Mechanism.of("polar", [Body("base"), Body("arm"), Body("tip")], joints)
    random = np.random.default_rng(0)
    points = random.uniform(-0.7, 0.7, (120, 3)) * (1, 1, 0)
    radius, angle = np.hypot(*points[:, :2].T), np.arctan2(points[:, 1], points[:, 0])
    for limits, least, most in [(None, 0.2, 0.6), ({"slide": (0.3, 0.4)}, 0.3, 0.4)]:
        found = polar.pictures.workspace("tip", samples=500, limits=limits).contains(points)
        np.testing.assert_array_equal(found, (np.abs(angle) <= 0.5) & (radius >= least) & (radius <= most))


def test_mimic_joints_and_other_frames():
    from cayley.model.parts import Mimic
    joints = [Joint("lift", "base", "low", Prismatic((0.0, 0.0, 1.0)), limits=Limits((0.0,), (1.0,))),
              Joint("again", "low", "high", Prismatic((0.0, 0.0, 1.0)), mimic=Mimic("lift", 2.0, 0.1))]
    mast = cy.Mechanism.of("mast", [Body("base"), Body("low"), Body("high")], joints)
    heights = np.array([0.05, 0.1, 1.0, 3.1, 3.2])
    points = np.stack([0 * heights, 0 * heights, heights], axis=1)
    assert mast.pictures.workspace("high", samples=200).contains(points).tolist() == [False, True, True, True, False]
    seen = workspace(PLANAR.tree, "tool", relative_to="link1", samples=500)  # a circle about the second joint
    turn = np.linspace(-2.0, 2.0, 9)
    circle = np.stack([0.5 + 0.4 * np.cos(turn), 0.4 * np.sin(turn), 0 * turn], axis=1)
    assert seen.contains(circle).all() and not seen.contains(1.01 * circle).any()


def test_every_point_of_other_configurations_is_found(spatial):
    arm = cy.load("ur5")
    assert spatial.contains(arm.pose(arm.random_configuration(500, seed=9), "tool")[:, :3, 3]).all()
    away = spatial.points[:50] / np.linalg.norm(spatial.points[:50], axis=1, keepdims=True) * (spatial.farthest + 0.01)
    assert not spatial.contains(away).any()


def test_a_machine_with_loops():
    """A five-bar: its tool is where both arms reach; the oracle is its configurations, moved on by a little."""
    reached = cy.load("five_bar").pictures.workspace("tool", samples=300)
    assert reached.contains(reached.points[::60]).all()
    assert not reached.contains([reached.farthest + 0.05, 0.0, 0.0])


def test_the_surface_is_closed_and_has_the_volume(spatial, tmp_path):
    made = spatial.mesh()
    assert made.is_watertight and made.is_winding_consistent
    assert made.volume == pytest.approx(spatial.volume, rel=0.05)
    np.testing.assert_allclose(made.bounds, [spatial.lowest, spatial.highest], atol=2 * spatial._room.cell)
    for ending in (".stl", ".ply", ".obj", ".glb", ".off"):
        loaded = trimesh.load(spatial.save(tmp_path / f"reach{ending}"), force="mesh")
        assert loaded.volume == pytest.approx(made.volume, rel=1e-4)
    lines = spatial.save(tmp_path / "reach.csv").read_text().splitlines()
    assert len(lines) == 1 + len(spatial.points) and lines[0].startswith("x [m],y [m],z [m],q.")
    for name, error in [("reach.step", UnsupportedError), ("no/reach.stl", ModelError)]:
        with pytest.raises(error):
            spatial.save(tmp_path / name)


def test_the_area_of_a_plane(planar):
    made = planar.mesh()
    assert made.area == pytest.approx(planar.area, rel=0.05) and np.ptp(made.vertices[:, 2]) < 1e-12
    assert planar.to_dict()["farthest"] == pytest.approx(0.9) and planar.to_dict()["volume"] == 0.0


def test_what_has_no_surface_is_refused():
    slide = cy.Mechanism.of("slide", [Body("base"), Body("cart")],
                            [Joint("x", "base", "cart", Prismatic(), limits=Limits((0.0,), (1.0,)))])
    with pytest.raises(UnsupportedError, match="reaches is a curve"):
        slide.pictures.workspace("cart", samples=200).mesh()
    with pytest.raises(ConventionError, match=r"shape \(..., 3\)"):
        slide.pictures.workspace("cart", samples=200).contains([0.0, 0.0])


def test_the_surface_of_any_field_is_closed():
    """Noise has every case of signs in a cube."""
    field = np.pad(np.random.default_rng(0).normal(size=(9, 10, 11)), 1, constant_values=-1.0)
    vertices, faces = zero_surface(field)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] % 2 == 0).all()
    made = trimesh.Trimesh(vertices, faces, process=False)
    assert made.volume > 0 and made.is_winding_consistent
