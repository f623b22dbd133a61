"""Shapes of URDF and MJCF files: as Pinocchio and MuJoCo see them, and read when they are looked at."""

import json
import subprocess
import sys
from importlib.metadata import files

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.kinematics.forward import body_poses
from cayley.shapes.kinds import KINDS, BoxShape, CapsuleShape, CylinderShape, EllipsoidShape, SphereShape
from cayley.shapes.surface import SIDES, Surface, kept_levels

pytestmark = pytest.mark.filterwarnings("ignore::cayley.errors.ModelWarning")

N = SIDES
HYQ = "hyq_description/robots/hyq_no_sensors.urdf"
URDF = """<robot name="arm"><material name="paint"><color rgba="0.1 0.2 0.3 1"/></material>
<link name="base"><visual><geometry><box size="1 2 3"/></geometry><material name="paint"/></visual></link>
<link name="rod"><visual><origin xyz="1 2 3" rpy="0.3 -0.4 1.2"/><geometry><cylinder radius="0.1" length="0.7"/></geometry>
<material name="own"><color rgba="2 0 0 1"/></material></visual>
<visual><geometry><capsule radius="0.1" length="0.5"/></geometry></visual>
<collision><geometry><sphere radius="0.4"/></geometry></collision></link>
<joint name="pivot" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path):
    place = tmp_path / "arm.urdf"
    place.write_text(URDF)
    return cy.load(place)


def volume(surface):
    a, b, c = np.moveaxis(surface.points[surface.triangles], 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


@pytest.mark.parametrize(("kind", "half", "least", "most"), [
    (BoxShape((1.0, 2.0, 3.0)), (0.5, 1.0, 1.5), 6.0, 6.0),
    (CylinderShape(0.3, 0.8), (0.3, 0.3, 0.4), *[N / 2 * np.sin(2 * np.pi / N) * 0.3**2 * 0.8] * 2),
    (SphereShape(0.5), (0.5, 0.5, 0.5), 0.93 * np.pi / 6, np.pi / 6),
    (EllipsoidShape((0.1, 0.2, 0.3)), (0.1, 0.2, 0.3), 0.93 * 0.008 * np.pi, 0.008 * np.pi),
    (CapsuleShape(0.2, 1.0), (0.2, 0.2, 0.7), 0.93 * np.pi * (0.04 + 4 / 3 * 0.008), np.pi * (0.04 + 4 / 3 * 0.008))])
def test_solids_enclose_their_volume_seen_from_outside(kind, half, least, most):
    surface = kind.surface()
    assert surface.closed
    np.testing.assert_allclose([-surface.points.min(axis=0), surface.points.max(axis=0)], [half, half], atol=1e-12)
    assert least * (1 - 1e-12) <= volume(surface) <= most * (1 + 1e-12)


def test_a_mirror_image_and_a_surface_inside_out_are_seen_from_outside():
    box = BoxShape((1.0, 2.0, 3.0)).surface()
    assert volume(box.scaled(np.array([-1.0, 1.0, 1.0]))) == pytest.approx(6.0)
    assert volume(Surface.of(box.points, box.triangles[:, ::-1])) == pytest.approx(6.0)
    assert not Surface.of(box.points, box.triangles[1:]).closed


def test_a_file_says_what_where_and_in_which_colour(arm):
    box, rod, capsule, ball = arm.shapes
    assert [shape.roles for shape in arm.shapes] == [("visual",)] * 3 + [("collision",)]
    assert (box.kind, box.color) == (BoxShape((1.0, 2.0, 3.0)), (0.1, 0.2, 0.3))
    assert (rod.kind, rod.color, rod.body) == (CylinderShape(0.1, 0.7), (1.0, 0.0, 0.0), "rod")
    expected = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.4, 1.2), np.array([1.0, 2.0, 3.0])).homogeneous
    np.testing.assert_allclose(rod.pose, expected, atol=1e-14)
    assert (capsule.kind, ball.kind, capsule.color) == (CapsuleShape(0.1, 0.5), SphereShape(0.4), None)
    assert len(arm.shapes.of("collision")) == 1 and arm.shapes.missing == ()
    assert repr(arm.shapes) == "<shapes: 1 box, 1 cylinder, 1 capsule, 1 sphere>"
    assert len(cy.load("puma560").shapes) == 0 and len(cy.Mechanism(arm.tree).shapes) == 4


def test_a_robot_has_the_shapes_that_pinocchio_has():
    path = next(str(file.locate()) for file in files("example-robot-data") if "/".join(file.parts).endswith(HYQ))
    arm = cy.load(path, exact_angles=False)
    model = pin.buildModelFromUrdf(path)
    packages = path[:path.index("example-robot-data/robots")]
    for role, kind in (("visual", pin.GeometryType.VISUAL), ("collision", pin.GeometryType.COLLISION)):
        geometry = pin.buildGeomFromUrdf(model, path, kind, None, [packages])
        data = model.createData()
        placed = geometry.createData()
        pin.forwardKinematics(model, data, pin.neutral(model))
        pin.updateGeometryPlacements(model, data, geometry, placed)
        shapes = {}
        for shape in arm.shapes.of(role):
            shapes.setdefault(shape.body, []).append(shape)
        assert sum(map(len, shapes.values())) == len(geometry.geometryObjects) and arm.shapes.missing == ()
        poses = body_poses(arm.tree, arm.tree.neutral)
        for found, theirs in zip(geometry.geometryObjects, placed.oMg, strict=True):
            shape = shapes[model.frames[found.parentFrame].name][int(found.name.rsplit("_", 1)[1])]
            pose = poses[arm.tree.body_number(shape.body)]
            np.testing.assert_allclose(pose.R @ shape.pose[:3, :3], theirs.rotation, atol=1e-12)
            np.testing.assert_allclose(pose.R @ shape.pose[:3, 3] + pose.p, theirs.translation, atol=1e-12)
            points = shape.kind.surface().points
            found.geometry.computeLocalAABB()
            box = found.geometry.aabb_local
            np.testing.assert_allclose([points.min(axis=0), points.max(axis=0)], [box.min_, box.max_], atol=1e-3)


def test_a_model_has_the_shapes_that_mujoco_has(tmp_path):
    (tmp_path / "wedge.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    place = tmp_path / "arm.xml"
    place.write_text("""<mujoco><asset><mesh name="wedge" file="wedge.obj"/></asset><worldbody>
      <geom type="plane" size="1 1 1"/><body name="a" pos="0 1 0" euler="20 30 40"><joint axis="0 1 0"/>
      <geom type="box" size=".1 .2 .3" pos="1 0 0" euler="10 0 5" rgba="1 0 0 1"/>
      <geom type="capsule" size=".1" fromto="0 0 0 1 1 1" group="3"/><body name="b"><joint type="slide"/>
      <geom type="mesh" mesh="wedge" contype="0" conaffinity="0"/><geom type="ellipsoid" size=".1 .2 .3"/>
      <geom type="cylinder" size=".1 .5"/><geom type="sphere" size=".5"/></body></body></worldbody></mujoco>""")
    arm = cy.load(place)
    model = mujoco.MjModel.from_xml_path(str(place))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert [shape.kind.word for shape in arm.shapes] == ["box", "capsule", "triangles", "ellipsoid", "cylinder",
                                                         "sphere"]
    poses = body_poses(arm.tree, arm.tree.neutral)
    for k, shape in enumerate(arm.shapes, start=1):
        pose = poses[arm.tree.body_number(shape.body)]
        np.testing.assert_allclose(pose.R @ shape.pose[:3, :3], data.geom_xmat[k].reshape(3, 3), atol=1e-12)
        np.testing.assert_allclose(pose.R @ shape.pose[:3, 3] + pose.p, data.geom_xpos[k], atol=1e-12)
    seen = arm.shapes[2].surface.points
    np.testing.assert_allclose([seen.min(axis=0), seen.max(axis=0)], [[0, 0, 0], [1, 2, 3]], atol=1e-6)
    assert arm.shapes[0].roles == ("visual", "collision")
    assert arm.shapes[1].roles == ("collision",) and arm.shapes[2].roles == ("visual",)
    assert arm.shapes[0].color == (1.0, 0.0, 0.0) and arm.shapes[0].kind == BoxShape((0.2, 0.4, 0.6))


def test_nothing_is_read_before_it_is_looked_at(arm):
    code = (f"import cayley, sys, json\ncayley.load({arm.tree.source!r})\n"
            "print(json.dumps([name for name in sys.modules if name.startswith(('trimesh', 'cayley.shapes'))]))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout) == []


def test_a_file_that_is_gone_or_changed_is_told_and_not_raised(arm, tmp_path):
    place = tmp_path / "arm.urdf"
    place.write_text(URDF.replace('length="0.7"', 'length="-0.7"').replace("sphere", "cone"))
    assert len(arm.shapes) == 2
    negative, cone = arm.shapes.missing
    assert "arm.urdf, line 3" in negative and "a length is positive" in negative
    assert "line 6" in cone and "0 shapes in it" in cone
    place.unlink()
    assert len(arm.shapes) == 0 and "cannot be read again" in arm.shapes.missing[0]


def test_details_are_shared_out_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("CAYLEY_CACHE", str(tmp_path))
    turn = np.linspace(0, 2 * np.pi, 101)[:-1]
    rings = np.stack([np.stack([(1 + 0.1 * np.cos(8 * turn)) * np.cos(turn), np.sin(turn), np.full(100, z)], axis=1)
                      for z in np.linspace(0, 1, 101)])
    k, j = np.meshgrid(np.arange(100) * 100, np.arange(100), indexing="ij")
    after = (j + 1) % 100
    triangles = np.concatenate([np.stack([k + j, k + after, k + 100 + after], axis=-1).reshape(-1, 3),
                                np.stack([k + j, k + 100 + after, k + 100 + j], axis=-1).reshape(-1, 3)])
    whole = Surface.of(rings.reshape(-1, 3), triangles)
    made = []
    first = kept_levels("test", lambda: made.append(1) or whole)
    again = kept_levels("test", lambda: made.append(1) or whole)
    assert made == [1] and len(first) == len(again) == 5
    for levels in (first, again):
        counts = [len(level.triangles) for level in levels]
        assert counts[0] <= 1.25 * 4000 and counts[-1] <= 1.25 * 100 and counts == sorted(counts, reverse=True)
        assert [level.area for level in levels[:3]] == pytest.approx([whole.area] * 3, rel=0.05)
        np.testing.assert_allclose([levels[1].points.min(axis=0), levels[1].points.max(axis=0)],
                                   [whole.points.min(axis=0), whole.points.max(axis=0)], atol=0.02)


def test_the_table_of_kinds_is_that_of_their_names():
    assert {word: kind.word for word, kind in KINDS.items()} == {word: word for word in KINDS}
