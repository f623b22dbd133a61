"""Collision models: their spheres contain the shapes, collisions of the original meshes are found; files; corrections
by hand."""

from functools import cache
from importlib.metadata import files
from itertools import combinations
from pathlib import Path

import coal
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import CayleyError, ModelError
from cayley.kinematics.forward import body_poses
from cayley.planning.collision.balls import ball_around_balls, union_volume
from cayley.planning.collision.sphere_model import CollisionModel, LinkSpheres
from cayley.shapes.kinds import BoxShape, CapsuleShape, CylinderShape, EllipsoidShape, SphereShape
from cayley.shapes.sphere_fitting import fitted_spheres, parted
from planning.obstacles import in_coal, random_scene

pytestmark = pytest.mark.filterwarnings("ignore::cayley.errors.ModelWarning")

ROBOTS = {"panda": "panda_description/urdf/panda.urdf", "ur5": "ur_description/urdf/ur5_robot.urdf",
          "z1": "z1_description/urdf/z1.urdf"}
TWO_LINKS = """<robot name="two"><link name="base"/><link name="rod"><collision><origin xyz="0.2 0 0" rpy="0 1.57 0"/>
<geometry><cylinder radius="0.05" length="0.4"/></geometry></collision></link><link name="ball"><collision><geometry>
<sphere radius="0.1"/></geometry></collision></link><joint name="a" type="revolute"><parent link="base"/>
<child link="rod"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="b" type="revolute"><parent link="rod"/><child link="ball"/><origin xyz="0.5 0 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


class OnMeshes:
    """A robot's original collision geometry as Pinocchio reads it, for coal; pairs of links but neighbours and those of
    the SRDF file."""

    def __init__(self, name):
        urdf = next(Path(f.locate()).resolve() for f in files("example-robot-data") if str(f).endswith(ROBOTS[name]))
        share = next(parent for parent in urdf.parents if parent.name == "share")
        self.arm = cy.load(urdf)
        self.model = pin.buildModelFromUrdf(str(urdf))
        self.geometry = pin.buildGeomFromUrdf(self.model, str(urdf), pin.GeometryType.COLLISION, [
            str(share), str(share / "example-robot-data" / "robots"), str(share.parent)])
        self.objects = self.geometry.geometryObjects
        self.owners = [self.model.frames[g.parentFrame].name for g in self.objects]
        joints = [self.model.frames[g.parentFrame].parentJoint for g in self.objects]
        apart = {frozenset(pair) for pair in self.arm.shapes.apart}
        self.pairs = [(i, j) for i, j in combinations(range(len(joints)), 2)
                      if joints[i] != joints[j] and self.model.parents[joints[i]] != joints[j]
                      and self.model.parents[joints[j]] != joints[i]
                      and frozenset((self.owners[i], self.owners[j])) not in apart]

    def placed(self, q):
        data, placements = self.model.createData(), pin.GeometryData(self.geometry)
        pin.updateGeometryPlacements(self.model, data, self.geometry, placements, q)
        return [(g.geometry, coal.Transform3s(M.rotation, M.translation))
                for g, M in zip(self.objects, placements.oMg, strict=True)]

    def collides(self, q, obstacles):
        placed = self.placed(q)
        return (any(touch(*link, *obstacle) for link in placed for obstacle in obstacles)
                or any(touch(*placed[i], *placed[j]) for i, j in self.pairs))


def touch(*shapes):
    return bool(coal.collide(*shapes, coal.CollisionRequest(), coal.CollisionResult()))


@cache
def on_meshes(name):
    return OnMeshes(name)


@pytest.mark.parametrize("name", ROBOTS)
def test_no_collision_of_the_meshes_is_missed(name):
    robot = on_meshes(name)
    scene = random_scene(np.random.default_rng(3), 5, apart=0.6)
    obstacles = in_coal(scene)
    q = robot.arm.random_configuration(300, seed=4)
    found = robot.arm.collision.collides(q, scene)
    true = np.array([robot.collides(each, obstacles) for each in q])
    assert found[true].all() and true.any()
    assert found[~true].mean() < 0.25, found[~true].mean()  # false alarms


@pytest.mark.parametrize("name", ROBOTS)
def test_spheres_contain_every_corner_of_the_meshes(name):
    """As Pinocchio places them, in the frames of the links."""
    robot = on_meshes(name)
    model, q = robot.arm.collision.model, robot.arm.neutral
    poses = dict(zip(robot.arm.tree.body_names, body_poses(robot.arm.tree, q), strict=True))
    spheres = {link.body: link for link in model.links}
    for (shape, place), owner in zip(robot.placed(q), robot.owners, strict=True):
        if not isinstance(shape, coal.BVHModelBase):
            continue
        corners = np.array([shape.vertex(k) for k in range(shape.num_vertices)])
        link, pose = spheres[owner], poses[owner].inverse
        own = (corners @ place.getRotation().T + place.getTranslation()) @ pose.R.T + pose.p
        for balls in (link.spheres, link.coarse[None]):
            outside = np.linalg.norm(own[:, None] - balls[:, :3], axis=2) - balls[:, 3]
            assert outside.min(axis=1).max() <= 1e-6
        around = np.linalg.norm(link.spheres[:, :3] - link.coarse[:3], axis=1) + link.spheres[:, 3]
        assert around.max() <= link.coarse[3] + 1e-12
    assert max(robot.arm.collision.sticking_out().values()) == 0.0


def test_volumes_are_bounds():
    link = on_meshes("ur5").arm.collision.model.links[2]
    low, high = link.spheres[:, :3].min(axis=0) - 0.2, link.spheres[:, :3].max(axis=0) + 0.2
    points = np.random.default_rng(0).uniform(low, high, (200_000, 3))
    inside = (np.linalg.norm(points[:, None] - link.spheres[:, :3], axis=2) < link.spheres[:, 3]).any(axis=1)
    union = inside.mean() * np.prod(high - low)
    assert 0 < link.volume < union < link.volume + link.excess < 1.3 * union
    assert union_volume(np.array([[0, 0, 0, 1.0]])) == pytest.approx(4 / 3 * np.pi, rel=0.1)


@pytest.mark.parametrize("kind", [BoxShape((1.0, 2.0, 0.3)), CylinderShape(0.3, 2.0), CapsuleShape(0.2, 0.7),
                                  EllipsoidShape((0.2, 0.5, 1.0)), SphereShape(0.4)], ids=lambda kind: kind.word)
def test_spheres_contain_round_shapes_between_the_corners_of_their_pictures(kind):
    rng = np.random.default_rng(1)
    ways = rng.normal(size=(4000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    if isinstance(kind, BoxShape):
        points = ways / np.abs(2 * ways / kind.size).max(axis=1, keepdims=True)
    elif isinstance(kind, CapsuleShape):
        points = kind.radius * ways + [0, 0, kind.length / 2] * np.sign(ways[:, 2:])
    elif isinstance(kind, CylinderShape):
        flat = ways[:, :2] / np.linalg.norm(ways[:, :2], axis=1, keepdims=True)
        points = np.column_stack([kind.radius * flat, rng.uniform(-1, 1, len(flat)) * kind.length / 2])
    else:
        points = ways * (kind.semi_axes if isinstance(kind, EllipsoidShape) else kind.radius)
    surface = kind.around()
    (balls,) = fitted_spheres([surface.points[surface.triangles]], 12)
    outside = np.linalg.norm(points[:, None] - balls[:, :3], axis=2) - balls[:, 3]
    assert outside.min(axis=1).max() <= 0.0
    assert len(balls) == (1 if isinstance(kind, SphereShape) else 12)


def test_triangles_are_cut_without_gaps():
    corners = np.array([[[0, 0, 0], [4, 0, 0], [0, 3, 0.0]]])
    small = parted(corners)
    areas = np.linalg.norm(np.cross(small[:, 1] - small[:, 0], small[:, 2] - small[:, 0]), axis=1) / 2
    assert areas.sum() == pytest.approx(6.0) and len(small) > 50 and areas.min() > 0


def test_a_ball_around_balls_is_nearly_the_smallest():
    balls = np.array([[1.0, 0, 0, 0.5], [-1.0, 0, 0, 0.1], [0.0, 0.3, 0, 0.2]])
    assert ball_around_balls(balls)[3] == pytest.approx(1.3, rel=2e-2)
    assert ball_around_balls(balls[:1]).tolist() == balls[0].tolist()


def test_files_and_corrections_by_hand(tmp_path):
    (tmp_path / "two.urdf").write_text(TWO_LINKS)
    arm = cy.load(tmp_path / "two.urdf")
    model = arm.collision.fitted(spheres=6)
    assert repr(model) == "<collision model of two: 6 spheres on 2 links, 0 pairs of links>"
    path = tmp_path / "spheres.toml"
    model.with_pairs(("rod", "ball")).save(path)
    path.write_text(path.read_text().replace("spheres = [\n", "spheres = [\n    [0.2, 0.0, 0.0, 0.3],\n", 1))
    read = CollisionModel.load(path)
    assert len(read.links[0].spheres) == 6 and read.pairs == (("rod", "ball"),) and read.bodies[0] == "rod"
    assert np.array_equal(read.links[1].spheres, model.links[1].spheres)
    assert read.links[0].excess == model.links[0].excess
    assert read.without_pairs(("ball", "rod")).pairs == ()
    thin = arm.collision.using(model.with_spheres("rod", [[0.2, 0, 0, 0.06]]))
    assert 0.1 < thin.sticking_out()["rod"] < 0.2 and thin.sticking_out()["ball"] == 0.0
    scene = cy.Scene(spheres=[([0.0, 0.2, 0.0], 0.05)])
    assert arm.collision.using(read).collides(arm.neutral, scene) and not thin.collides(arm.neutral, scene)


@pytest.mark.parametrize("make, said", [
    (lambda: LinkSpheres("rod", [[0, 0, 0]]), r"\(n, 4\), not \(1, 3\)"),
    (lambda: LinkSpheres("rod", [[0, 0, 0, 1], [0, 0, 0, -1]]), "sphere 1 of 'rod' .* positive radius"),
    (lambda: CollisionModel("arm", [LinkSpheres("rod", [[0, 0, 0, 1]])], [("rod", "bar")]), "no spheres on 'bar'"),
    (lambda: CollisionModel("arm", [LinkSpheres("rod", [[0, 0, 0, 1]])] * 2), "'rod' twice"),
    (lambda: cy.load("planar2r").collision.model, "planar2r has no shapes")])
def test_what_is_wrong_is_named(make, said):
    with pytest.raises(CayleyError, match=said):
        make()


def test_missing_meshes_are_an_error(tmp_path):
    (tmp_path / "two.urdf").write_text(TWO_LINKS.replace('<sphere radius="0.1"/>', '<mesh filename="away.stl"/>'))
    with pytest.raises(ModelError, match=r"(?s)what hits .* would be missed.*away.stl"):
        cy.load(tmp_path / "two.urdf").collision.fitted()
    (tmp_path / "model.toml").write_text('robot = "two"\n[[links]]\nbody = "rod"\nspheres = [[0, 0, 0, -1]]')
    with pytest.raises(ModelError, match=r"model\.toml.* sphere 0 of 'rod'"):
        CollisionModel.load(tmp_path / "model.toml")
