"""Mesh files: every format, where they are looked for, and what is refused by name."""

import json
import os
import re
import struct

import numpy as np
import pytest
import trimesh

import cayley as cy
from cayley.errors import ModelError
from cayley.model.formats.search import FileSearch
from cayley.shapes.mesh_files import READERS, read_mesh

HALF = np.array([0.1, 0.2, 0.3])
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n"


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("CAYLEY_CACHE", "off")
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)


def box_file(folder, ending):
    scene = trimesh.Scene(trimesh.creation.box(2 * HALF))
    found = scene.export(file_type=ending) if ending in ("gltf", "glb") else trimesh.creation.box(2 * HALF).export(
        file_type=ending)
    if isinstance(found, dict):
        for name, data in found.items():
            (folder / name).write_bytes(data)
        return folder / "model.gltf"
    place = folder / f"box.{ending}"
    place.write_bytes(found if isinstance(found, bytes) else found.encode())
    return place


@pytest.mark.parametrize("ending", ["stl", "stl_ascii", "obj", "dae", "gltf", "glb", "ply"])
def test_every_format_is_read(tmp_path, ending):
    place = box_file(tmp_path, ending)
    if ending == "stl_ascii":
        place = place.rename(place.with_suffix(".stl"))
    surface = read_mesh(place)[0]
    assert f".{ending.partition('_')[0]}" in READERS and len(surface.triangles) == 12 and surface.closed
    np.testing.assert_allclose([surface.points.min(axis=0), surface.points.max(axis=0)], [-HALF, HALF], atol=1e-6)


def test_a_dae_file_has_a_unit_and_needs_no_materials(tmp_path):
    place = box_file(tmp_path, "dae")
    text = place.read_text().replace("<asset>", '<asset><unit name="inch" meter="0.0254"/>')
    assert "<bind_material>" in text
    place.write_text(text.replace('target="#', 'target="#lost_'))
    np.testing.assert_allclose(read_mesh(place)[0].points.max(axis=0), 0.0254 * HALF, atol=1e-7)


# Where they are looked for


def model_in(folder, *meshes):
    folder.mkdir(parents=True, exist_ok=True)
    visuals = "".join(f'<visual><geometry><mesh filename="{name}" scale="2 2 2"/></geometry></visual>'
                      for name in meshes)
    place = folder / "arm.urdf"
    place.write_text(f'<robot name="arm"><link name="base">{visuals}</link></robot>')
    return place


def put(place):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(TRIANGLE)
    return place


def test_packages_are_looked_for_above_beside_and_in_the_search_path(tmp_path, monkeypatch):
    put(tmp_path / "ws/arm_description/meshes/a.obj")
    put(tmp_path / "ws/hand_description/meshes/b.obj")
    put(tmp_path / "ws/not_a_package/meshes/c.obj")
    put(tmp_path / "elsewhere/tool/d.obj")
    put(tmp_path / "prefix/share/foot/e.obj")
    put(tmp_path / "ws/arm_description/urdf/f g.obj")
    (tmp_path / "ws/hand_description/package.xml").write_text("<package/>")
    model = model_in(tmp_path / "ws/arm_description/urdf")
    search = FileSearch(model)
    for name, found in (("package://arm_description/meshes/a.obj", "ws/arm_description/meshes/a.obj"),
                        ("package:///arm_description/meshes/a.obj", "ws/arm_description/meshes/a.obj"),
                        ("package://hand_description/meshes/b.obj", "ws/hand_description/meshes/b.obj"),
                        ("../meshes/a.obj", "ws/arm_description/meshes/a.obj"),
                        (f"file://{model.parent}/f%20g.obj", "ws/arm_description/urdf/f g.obj")):
        assert search.found(name) == tmp_path / found
    for name in ("package://not_a_package/meshes/c.obj", "package://tool/d.obj"):
        with pytest.raises(ModelError, match="set ROS_PACKAGE_PATH"):
            search.found(name)
    with pytest.raises(ModelError, match=r"'package://arm_description/none.obj' is not there: looked in '.*arm_desc"):
        search.found("package://arm_description/none.obj")
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join([str(tmp_path / "void"), str(tmp_path / "elsewhere")]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    assert search.found("package://tool/d.obj") == tmp_path / "elsewhere/tool/d.obj"
    assert search.found("package://foot/e.obj") == tmp_path / "prefix/share/foot/e.obj"


@pytest.mark.parametrize("name", ["../secret.obj", "{top}/secret.obj", "file://{top}/secret.obj", "link.obj",
                                  "inner/../../secret.obj"])
def test_what_lies_outside_of_the_models_folder_is_not_read(tmp_path, name):
    put(tmp_path / "secret.obj")
    model = model_in(tmp_path / "sent", name.format(top=tmp_path))
    (model.parent / "link.obj").symlink_to(tmp_path / "secret.obj")
    shapes = cy.load(model).shapes
    assert len(shapes) == 0 and "lies outside of" in shapes.missing[0] and "arm.urdf, line 1" in shapes.missing[0]


@pytest.mark.parametrize("top", ["models", "models/inner", "models/urdf", "models/inner/hand/.."])
def test_a_folder_above_is_no_package_by_its_name_alone(tmp_path, top):
    """`package://` with the name of any folder above read what lies beside the model's folder."""
    put(tmp_path / top / "secret.obj")
    model = model_in(tmp_path / top / "hand")
    for folder in model.parent.parent.resolve().relative_to(tmp_path.resolve()).parts:
        with pytest.raises(ModelError, match=r"with a package\.xml holds|lies outside"):
            FileSearch(model).found(f"package://{folder}/secret.obj")
    (tmp_path / top / "package.xml").write_text("<package/>")
    name = (tmp_path / top).resolve().name
    assert FileSearch(model).found(f"package://{name}/secret.obj") == (tmp_path / top / "secret.obj").resolve()
    (tmp_path / top / "package.xml").unlink()
    assert FileSearch(model, trusted=True).found("../secret.obj") == (tmp_path / top / "secret.obj").resolve()


def test_folders_of_the_environment_may_be_named_by_paths(tmp_path, monkeypatch):
    put(tmp_path / "shared/a.obj")
    model = model_in(tmp_path / "hand")
    with pytest.raises(ModelError, match="lies outside"):
        FileSearch(model).found("../shared/a.obj")
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "shared"))
    assert FileSearch(model).found("../shared/a.obj") == tmp_path / "shared/a.obj"


@pytest.mark.parametrize(("name", "why"), [
    ("http://host/a.stl", "nothing is fetched"), ("package://", "names no package"),
    ("package://../secret.obj", "names no package"), ("package://sent/../secret.obj", "lies outside"),
    ("package://sent/../../etc/passwd", "not there|lies outside"), ("none.stl", "is not there"),
    ("x" * 5000, "not the name of a file"), (".", "is not there")])
def test_names_that_lead_nowhere_are_told(tmp_path, name, why):
    put(tmp_path / "secret.obj")
    with pytest.raises(ModelError, match=why):
        FileSearch(model_in(tmp_path / "sent")).found(name)


def test_missing_files_are_named_and_the_others_are_read(tmp_path):
    put(tmp_path / "arm/there.obj")
    arm = cy.load(model_in(tmp_path / "arm", "gone.stl", "there.obj", "broken.stl"))
    (tmp_path / "arm/broken.stl").write_text("this is no mesh")
    found = arm.shapes.seen.surfaces(1000)
    assert len(found.parts) == 1 and found.bare == {"base"} and len(found.missing) == 2
    np.testing.assert_allclose(found.parts[0][1].points.max(axis=0), [2, 4, 0])
    assert "gone.stl" in found.missing[0] and "'broken.stl' has no triangles" in found.missing[1]


# Hostile files


def refused(place, data, why):
    if isinstance(data, str):
        place.write_text(data)
    elif data is not None:
        place.write_bytes(data)
    with pytest.raises(ModelError, match=why):
        read_mesh(place)


def test_files_that_are_too_large_or_no_files_are_refused_at_once(tmp_path):
    huge = tmp_path / "huge.stl"
    huge.touch()
    os.truncate(huge, 2**30)
    refused(huge, None, r"huge.stl' is larger than 64 MiB")
    os.mkfifo(tmp_path / "pipe.stl")
    refused(tmp_path / "pipe.stl", None, "it is a pipe")
    refused(tmp_path / "a.py", "import os", r"ends in '.py': meshes are read from .stl, .obj, .dae")


def test_files_that_promise_more_than_they_have_are_refused(tmp_path):
    refused(tmp_path / "a.stl", bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50), "is too short for them")
    refused(tmp_path / "a.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "'a.obj'")
    refused(tmp_path / "b.obj", "v 1e30 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "absurdly far")
    refused(tmp_path / "c.obj", "", "'c.obj'")
    refused(tmp_path / "d.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 2\nf 1 1 1\n", "no triangle with an area")
    refused(tmp_path / "e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 999999999999\n", "'e.obj'")
    head = "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n" \
           "element face {}\nproperty list uchar int vertex_indices\nend_header\n"
    refused(tmp_path / "a.ply", head.format("binary_little_endian", 10**12, 10**12).encode() + bytes(99), "'a.ply'")
    refused(tmp_path / "b.ply", head.format("ascii", 10**12, 10**12) + "0 0 0\n", "'b.ply'")
    gltf = {"asset": {"version": "2.0"}, "accessors": [{"count": 10**12, "componentType": 5126, "type": "VEC3"}]}
    refused(tmp_path / "a.gltf", json.dumps(gltf), "more than 20000000 numbers")
    ring = {"asset": {"version": "2.0"}, "nodes": [{"children": [1, 2]}, {"children": [2]}, {"children": []}]}
    refused(tmp_path / "b.gltf", json.dumps(ring), "in two others")
    refused(tmp_path / "c.glb", b"glTF", "not binary glTF")
    refused(tmp_path / "d.gltf", "[" * 100_000, "is not glTF")


TRIANGLE_OF_GLTF = {
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "accessors": [{"bufferView": 0, "count": 3, "componentType": 5126, "type": "VEC3"}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}],
    "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,"
                                          "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}]}
DAMAGE = ("", "-1", "1e400", "99999999999999999999", "nan", "0", "x", "null", "[]", "MAT4", "2", "\0", "v 0 0",
          "1 1 1 1", "f 1 2 3 4 5\n", "\n", '"', "<", "{", "0.5", "VEC2", "true", "f 0 0 0\n", "-0", "1/2/3")


@pytest.mark.parametrize("ending", ["stl_ascii", "stl", "obj", "dae", "gltf", "glb", "ply"])
def test_damaged_meshes_are_meshes_or_errors_of_models(tmp_path, ending):
    """Whatever a reader of meshes makes of a damaged file: a `ModelError` that names it, and no other error."""
    random = np.random.default_rng(sum(map(ord, ending)))
    place = tmp_path / f"damaged.{ending.partition('_')[0]}"
    sound = json.dumps(TRIANGLE_OF_GLTF).encode() if ending == "gltf" else box_file(tmp_path, ending).read_bytes()
    refused = 0
    for _ in range(150):
        data = bytearray(sound)
        for _ in range(random.integers(1, 4)):
            start = int(random.integers(len(data) + 1))
            words = re.compile(rb"[\w.+-]+")
            found = words.search(bytes(data), start)
            if random.random() < 0.6 and found:
                data[found.start():found.end()] = DAMAGE[random.integers(len(DAMAGE))].encode()
            elif random.random() < 0.5:
                data[start:start + int(random.geometric(0.1))] = random.bytes(int(random.integers(4)))
            else:
                data = data[:start] if random.random() < 0.2 else data[:start] + data[start // 2:]
        place.write_bytes(bytes(data))
        try:
            read_mesh(place)
        except ModelError as error:
            refused += 1
            assert "damaged." in str(error), error
    assert 5 < refused < 150


@pytest.mark.parametrize(("name", "text"), [
    ("a.obj", "v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n"), ("b.gltf", '{"accessors": [{"count": 1e400}]}'),
    ("c.gltf", json.dumps(TRIANGLE_OF_GLTF).replace("VEC3", "MAT4"))])
def test_damage_that_once_escaped(tmp_path, name, text):
    refused(tmp_path / name, text, name)


def test_many_equal_triangles_are_one_shape(tmp_path):
    (tmp_path / "a.obj").write_text(TRIANGLE + "f 1 2 3\n" * 100_000)
    assert read_mesh(tmp_path / "a.obj")[0].points.shape == (3, 3)


def test_nodes_place_what_they_hold(tmp_path):
    """A chain of nodes, each moved from the one before: the same points as by hand."""
    said = json.loads(json.dumps(TRIANGLE_OF_GLTF))
    said["nodes"] = [{"mesh": 0, "translation": [1, 0, 0], "rotation": [0, 0, 2**-0.5, 2**-0.5], "children": [k + 1]}
                     for k in range(6)] + [{"mesh": 0, "scale": [2, 2, 2]}]
    (tmp_path / "a.gltf").write_text(json.dumps(said))
    step = np.array([[0, -1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    corners = np.array([[0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 1.0]])
    poses = [np.linalg.matrix_power(step, k) for k in range(1, 7)]
    wanted = np.concatenate([corners @ pose.T for pose in [*poses, poses[-1] @ np.diag([2, 2, 2, 1])]])[:, :3]
    assert {tuple(row) for row in read_mesh(tmp_path / "a.gltf")[0].points.round(5) + 0.0} == {
        tuple(row) for row in wanted.round(5) + 0.0}


def test_a_gltf_file_reads_nothing_from_outside_of_its_folder(tmp_path):
    (tmp_path / "in").mkdir()
    place = box_file(tmp_path / "in", "gltf")
    said = json.loads(place.read_text())
    for k, buffer in enumerate(said["buffers"]):
        (tmp_path / f"out{k}.bin").write_bytes((tmp_path / "in" / buffer["uri"]).read_bytes())
        buffer["uri"] = f"../out{k}.bin"
    refused(place, json.dumps(said), "lies outside of its folder")


def test_xml_that_grows_is_refused(tmp_path):
    refused(tmp_path / "a.dae", '<!DOCTYPE x [<!ENTITY a "aaaa">]><COLLADA>&a;</COLLADA>', "declarations and entities")
    nodes = "".join(f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>'
                    for k in range(40))
    refused(tmp_path / "b.dae", f"<COLLADA><library_nodes>{nodes}<node id='n40'/></library_nodes></COLLADA>",
            "more than 4000 parts")
    refused(tmp_path / "c.dae", "<COLLADA><library_nodes><node id='a'><instance_node url='#a'/></node></library_nodes>"
            "</COLLADA>", "in a ring")
    refused(tmp_path / "d.dae", "<robot/>", "has <COLLADA> as its root")


def test_shapes_are_counted(tmp_path):
    visual = '<visual><geometry><sphere radius="1"/></geometry></visual>'
    place = tmp_path / "arm.urdf"
    place.write_text(f'<robot name="arm"><link name="base">{3000 * visual}</link></robot>')
    shapes = cy.load(place).shapes
    assert len(shapes) == 2000 and "more than 2000 shapes" in shapes.missing[0]
