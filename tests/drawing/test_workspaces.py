"""Workspaces against closed forms: annulus, spherical shell, cylinder sector; limits, couplings and errors by name."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import cayley as cy
from cayley.drawing import workspace
from cayley.drawing.sampling import joints_between, random_configurations
from cayley.drawing.workspaces import room
from cayley.errors import ModelError, SignatureError, UnsupportedError
from cayley.kinematics.forward import frame_pose
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits, Mimic
from cayley.model.tree import Tree

Y = (0.0, 1.0, 0.0)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def shift(*step):
    pose = np.eye(4)
    pose[:3, 3] = step
    return pose


def arm(*joints, tool=(0.0, 0.0, 0.0)):
    """Joints (motion, step before it, limits) one after the other."""
    names = ["root", *[f"b{k}" for k in range(len(joints))]]
    made = [
        Joint(f"j{k}", names[k], names[k + 1], motion, shift(*step), Limits(*(((x,)
                                                                               for x in limits) if limits else ())))
        for k, (motion, step, limits) in enumerate(joints)]
    return Tree.of("arm", map(Body, names), made, frames=[Frame("tool", names[-1], shift(*tool))])


def spherical_arm(first, second):
    """A yaw, a pitch and an elbow: its tool reaches a spherical shell."""
    return arm((Revolute(), (0, 0, 0), None), (Revolute(Y), (0, 0, 0), None), (Revolute(Y), (first, 0, 0), None),
               tool=(second, 0, 0))


@pytest.mark.parametrize(("first", "second"), [(1.0, 0.4), (0.5, 0.5)])
def test_a_planar_arm_reaches_an_annulus(first, second):
    tree = arm((Revolute(), (0, 0, 0), None), (Revolute(), (first, 0, 0), None), tool=(second, 0, 0))
    found = workspace(tree, "tool")
    assert found.farthest == pytest.approx(first + second, abs=1e-9)
    assert found.nearest == pytest.approx(abs(first - second), abs=1e-6)
    exact = np.pi * ((first + second) ** 2 - (first - second) ** 2)
    assert found.area == pytest.approx(exact, rel=0.01)
    assert found.dimension == 2 and found.volume == 0.0


def test_a_spherical_arm_reaches_a_shell():
    found = workspace(spherical_arm(1.0, 0.4), "tool", samples=1_000_000)
    exact = 4 / 3 * np.pi * (1.4**3 - 0.6**3)
    assert found.volume == pytest.approx(exact, rel=0.02) and found.area is None
    assert (found.nearest, found.farthest) == (pytest.approx(0.6, abs=1e-8), pytest.approx(1.4, abs=1e-9))
    assert np.allclose(found.highest, 1.4, atol=0.01) and found.dimension == 3
    distance = np.linalg.norm(found.points, axis=1)
    assert distance.min() >= 0.6 - 1e-12 and distance.max() <= 1.4 + 1e-12


def test_limits_are_kept_to():
    tree = arm((Revolute(), (0, 0, 0), (-0.5, 0.7)), (Prismatic((1.0, 0.0, 0.0)), (0, 0, 0), (0.4, 1.0)),
               (Prismatic(), (0, 0, 0), (-0.1, 0.3)))
    found = workspace(tree, "tool", samples=300_000)
    angle = np.arctan2(found.points[:, 1], found.points[:, 0])
    assert -0.5 <= angle.min() < -0.49 and 0.69 < angle.max() <= 0.7
    assert found.volume == pytest.approx(0.5 * 1.2 * (1.0**2 - 0.4**2) * 0.4, rel=0.03)
    assert (found.nearest, found.farthest) == (pytest.approx(0.4,
                                                             abs=1e-9), pytest.approx(np.hypot(1.0, 0.3), abs=1e-9))
    narrow = workspace(tree, "tool", samples=1000, limits={"j0": (0.0, 0.0), "j2": (0.0, 0.0)})
    assert np.abs(narrow.points[:, 1:]).max() < 1e-15


def test_the_farthest_reach_of_real_arms_is_found():
    """Stretched: along the links in a line. Panda, within its limits: no sample of many more reaches farther."""
    ur5 = cy.load("ur5").tree
    assert workspace(ur5, "tool",
                     samples=20_000).farthest == pytest.approx(workspace(ur5, "tool", seed=3).farthest, abs=1e-6)
    panda = cy.load("panda")
    found = workspace(panda.tree, "tool", samples=50_000)
    many = random_configurations(panda.tree, list(range(7)), 400_000, 9)
    distance = np.linalg.norm(panda.pose(many, "tool")[:, :3, 3], axis=1)
    assert found.farthest >= distance.max() and found.nearest <= distance.min()


def test_points_are_where_the_configurations_lead():
    scara = cy.load("scara")
    found = workspace(scara.tree, "tool", samples=500)
    assert np.allclose(found.points, scara.pose(found.configurations, "tool")[:, :3, 3], atol=1e-13)
    assert ((found.configurations >= np.maximum(scara.lower, -np.pi)) &
            (found.configurations <= np.minimum(scara.upper, np.pi))).all()
    assert np.array_equal(found.points, workspace(scara.tree, "tool", samples=500).points)
    places, chosen, names = found.section
    assert np.allclose(places[:, 0], np.hypot(*found.points[:, :2].T)) and len(chosen) == 500 and names[1] == "z [m]"
    assert np.allclose(found.section_of(found.configurations[:5]), places[:5], atol=1e-12)


def test_curves_and_surfaces_have_no_volume():
    assert workspace(arm((Revolute(), (0, 0, 0), None), tool=(1, 0, 0)), "tool", samples=1000).dimension == 1
    torus = workspace(arm((Revolute(), (0, 0, 0), None), (Revolute(Y), (1, 0, 0), None), tool=(0.2, 0, 0)), "tool",
                      samples=1000)
    assert torus.dimension == 2 and torus.volume == 0.0 and torus.area is None
    torus.plot()


def test_a_leg_is_seen_from_its_body():
    free = Tree.of("leg", map(Body, ["ground", "trunk", "hip", "shank"]), [
        Joint("free", "ground", "trunk", Floating()),
        Joint("turn", "trunk", "hip", Revolute(Y), shift(0.3, 0, 0), Limits((-1.0,), (1.0,))),
        Joint("knee", "hip", "shank", Revolute(Y), shift(0, 0, -0.4), Limits((0.0,), (2.0,)))],
        frames=[Frame("foot", "shank", shift(0, 0, -0.4))])
    found = workspace(free, "foot", relative_to="trunk", samples=5000, center=(0.3, 0, 0))
    assert found.farthest == pytest.approx(0.8, abs=1e-9) and found.nearest == pytest.approx(
        0.8 * np.cos(1.0), abs=1e-9)
    assert joints_between(free, "foot", "trunk") == [1, 2]
    found.plot()
    with pytest.raises(ModelError, match="joint 'free' of leg is floating and has no end"):
        workspace(free, "foot")


def test_a_joint_that_follows_another_does_so():
    tree = Tree.of("coupled", map(Body, ["root", "a", "b"]), [
        Joint("lead", "root", "a", Prismatic((1.0, 0.0, 0.0)), limits=Limits((0.0,), (1.0,))),
        Joint("follow", "a", "b", Prismatic(Y), mimic=Mimic("lead", 2.0, 0.5))])
    found = workspace(tree, "b", samples=2000)
    assert np.allclose(found.points[:, 1], 2 * found.points[:, 0] + 0.5)
    assert found.farthest == pytest.approx(np.hypot(1.0, 2.5), abs=1e-9)


def test_wrong_input_is_named():
    slider = arm((Prismatic(), (0, 0, 0), None), (Revolute(Y), (1, 0, 0), None))
    with pytest.raises(ModelError,
                       match=r"joint 'j0' of arm is prismatic and has no end.*limits=\{'j0': \(lower, upper\)\}"):
        workspace(slider, "tool")
    assert workspace(slider, "tool", limits={"j0": (0.0, 1.0)},
                     samples=200).farthest == pytest.approx(np.sqrt(2), abs=1e-9)
    with pytest.raises(ModelError, match="has no joint 'j9'"):
        workspace(slider, "tool", limits={"j9": (0, 1)})
    with pytest.raises(ModelError, match="limits of joint 'j0' are crossed"):
        workspace(slider, "tool", limits={"j0": (1.0, 0.0)})
    with pytest.raises(ModelError, match="no joint of arm moves 'root'"):
        workspace(slider, "root")
    with pytest.raises(SignatureError, match="100 samples"):
        workspace(slider, "tool", samples=3)
    ball = Tree.of("ball", [Body("a"), Body("b")],
                   [Joint("j", "a", "b", Spherical(), limits=Limits((0.0,) * 4, (1.0,) * 4))])
    with pytest.raises(UnsupportedError, match="joint 'j' of ball is spherical and has limits"):
        workspace(ball, "b")


def test_ball_joints_turn_all_ways_alike():
    ball = Tree.of("ball", [Body("a"), Body("b")], [Joint("j", "a", "b", Spherical())],
                   frames=[Frame("tip", "b", shift(1, 0, 0))])
    found = workspace(ball, "tip", samples=50_000)
    assert np.allclose(np.linalg.norm(found.points, axis=1), 1.0) and np.abs(found.points.mean(axis=0)).max() < 0.02
    assert np.allclose(found.points.T @ found.points / 50_000, np.eye(3) / 3, atol=0.01)


@pytest.mark.parametrize("name", ["planar3r", "scara", "stanford"])
def test_pictures_of_workspaces(name, tmp_path):
    found = workspace(cy.load(name).tree, "tool", samples=20_000)
    figure = found.plot()
    figure.savefig(tmp_path / "w.png", dpi=50)
    assert matplotlib.image.imread(tmp_path / "w.png")[..., :3].std() > 0.02
    section = next(ax for ax in figure.axes if any(c.get_label() == "_density" for c in ax.collections))
    mesh = next(c for c in section.collections if c.get_label() == "_density")
    corners, density = mesh.get_coordinates(), np.ma.filled(mesh.get_array(), 0.0)
    (x, y) = np.diff(corners[0, :, 0]), np.diff(corners[:, 0, 1])
    share = density * x[None, :] * y[:, None]
    if name != "planar3r":
        share = share * np.pi * (corners[0, 1:, 0] + corners[0, :-1, 0])[None, :]
        cloud = next(c for c in figure.axes[0].collections if c.get_label() == "_cloud")
        assert np.isin(np.stack(cloud._offsets3d, axis=1), found.points).all()
    assert share.sum() == pytest.approx(1.0, abs=1e-9)     # every configuration is somewhere


def test_room_of_known_shapes():
    rng = np.random.default_rng(0)
    disc = rng.uniform(-1, 1, size=(200_000, 2))
    assert room(disc[np.hypot(*disc.T) < 1]).measure == pytest.approx(np.pi, rel=0.01)
    turned = disc @ np.array([[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]])
    assert room(turned).measure == pytest.approx(4.0, rel=0.01)
    cube = rng.uniform(-1, 1, size=(600_000, 3))
    ball = room(cube[np.linalg.norm(cube, axis=1) < 1])
    assert ball.measure == pytest.approx(4 / 3 * np.pi, abs=ball.uncertainty) and ball.uncertainty < 0.06 * ball.measure
    assert room(cube * [1.0, 1.0, 0.0]).measure == 0.0


@pytest.mark.parametrize("make", [
    lambda: arm((Revolute(), (0, 0, 0), None)),
    lambda: arm((Revolute(), (0, 0, 1), None), (Revolute(Y), (0, 0, 0), None)),
    lambda: arm((Spherical(), (1, 0, 0), None)),
    lambda: arm((Prismatic(Y), (0, 0, 1), (0.5, 0.5))), ])
def test_a_frame_that_stays_where_it_is_has_a_workspace_of_one_point(make):
    tree = make()
    found = workspace(tree, "tool", samples=200)
    place = frame_pose(tree, found.configurations[0], "tool").p
    assert found.dimension == 0
    np.testing.assert_allclose(found.points, np.broadcast_to(place, (200, 3)), atol=1e-15)
    np.testing.assert_allclose([found.nearest, found.farthest], np.linalg.norm(place), atol=1e-15)
    figure = found.plot()
    figure.canvas.draw()
    assert any(line.get_label() == "_point" for ax in figure.axes for line in ax.lines)


def test_joints_that_follow_add_no_dimension():
    tree = Tree.of("cross", map(Body, "abc"), [
        Joint("x", "a", "b", Prismatic((1.0, 0.0, 0.0)), limits=Limits((0.0,), (1.0,))),
        Joint("y", "b", "c", Prismatic(Y), mimic=Mimic("x", 2.0))])
    found = workspace(tree, "c", samples=200)
    assert found.dimension == 1
    assert found.area == 0
    np.testing.assert_allclose(found.farthest, np.sqrt(5), rtol=1e-9)
    np.testing.assert_allclose(found.points[:, 1], 2 * found.points[:, 0], rtol=1e-15)


def test_a_follower_reaches_what_its_leader_elsewhere_lets_it():
    tree = Tree.of("fork", map(Body, "abc"), [
        Joint("x", "a", "b", Prismatic((1.0, 0.0, 0.0)), limits=Limits((0.0,), (1.0,))),
        Joint("y", "a", "c", Prismatic(Y), mimic=Mimic("x", 2.0, 0.5))])
    found = workspace(tree, "c", samples=200)
    np.testing.assert_allclose([found.nearest, found.farthest], [0.5, 2.5], rtol=1e-9)


def test_limits_of_a_floating_joint_are_those_of_its_position():
    tree = arm((Floating(), (0, 0, 0), None), tool=(0.5, 0, 0))
    found = workspace(tree, "tool", samples=2000, limits={"j0": (-1.0, 1.0)})
    q = found.configurations
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:], axis=1), 1.0, rtol=1e-14)
    assert np.abs(q[:, :3]).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(found.points - q[:, :3], axis=1), 0.5, rtol=1e-13)
    assert found.farthest <= np.sqrt(3) + 0.5 + 1e-12
