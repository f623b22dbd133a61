"""Files that are no descriptions of robots, by mischance or on purpose: each is a `ModelError`, at once."""

import os
import socket
import struct
import subprocess
import sys
import time
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError
from cayley.model.configurations import random_configuration
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.urdf_text import dump_urdf
from cayley.model.report import ModelWarning

ENDINGS = (".urdf", ".xacro", ".sdf", ".xml", ".toml")
QUICK = 4.0  # seconds, on a machine that does other things


@pytest.fixture(autouse=True)
def quick():
    start = time.process_time()
    yield
    assert time.process_time() - start < QUICK


# Things that are not files


def fifo(path):
    os.mkfifo(path)


def listening(path):
    socket.socket(socket.AF_UNIX).bind(os.path.relpath(path))  # the names of sockets are short


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("make", "words"), [
    (fifo, "it is a pipe, not a file"), (os.mkdir, "it is a folder, not a file"), (listening, "cannot be read"),
    (lambda path: os.symlink("/dev/zero", path), "it is a device, not a file"),
    (lambda path: os.symlink(path, path), "cannot be read"),
    (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 2**40), "is larger than"),
], ids=["pipe", "folder", "socket", "zero", "ring", "large"])
def test_only_plain_files_of_bounded_size_are_read(tmp_path, make, words, ending, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"robot{ending}"
    make(path)
    for given in (path, str(path)):
        with pytest.raises(ModelError, match=words):
            cy.load(given)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["a\0b", "\udcff", "x" * 5000, "no/such/folder"])
def test_paths_that_cannot_be(ending, name):
    with pytest.raises(ModelError, match="cannot be read"):
        cy.load(name + ending)


@pytest.mark.parametrize(("given", "words"), [
    (None, "not NoneType"), (b"arm.urdf", "not bytes"), (7, "not int"), (["panda"], "not list"), ("", "no robot ''"),
])
def test_what_is_no_name_and_no_path(given, words):
    with pytest.raises(ModelError, match=words):
        cy.load(given)


@pytest.mark.parametrize(("name", "words"), [
    ("arm.usd", "USD"),
    ("arm.stl", "ends in '.stl': mechanisms are read from files that end in"),
    ("some/folder", "has no ending"),
])
def test_formats_that_are_not_read_are_named(name, words, tmp_path):
    for given in (name, tmp_path / name):
        with pytest.raises(ModelError, match=words):
            cy.load(given)


def test_bytes_that_are_no_text(tmp_path):
    for ending in ENDINGS:
        path = tmp_path / f"robot{ending}"
        for data in (b"\xff\xfe", b"\x00" * 100, b'name = "\xe4"', "name = 'ä'".encode("utf-16")):
            path.write_bytes(data)
            with pytest.raises(ModelError, match=rf"robot{ending}, line 1"):
                cy.load(path)


# TOML


BODY = 'name = "m"\n[[bodies]]\nname = "a"\n'
DEEP = 5000
HUGE = "9" * 400


@pytest.mark.parametrize(("text", "words"), [
    ("name = " + "[" * DEEP + "]" * DEEP, "line 1: lists, tables or dotted keys are nested more than 20 deep"),
    ("name = 1\nx = " + "{a=" * DEEP + "1" + "}" * DEEP, "line 2: lists, tables"),
    ("a." * 50_000 + "a = 1", "line 1: lists, tables"),
    ("[" + "a." * 50_000 + "a]", "line 1: lists, tables"),
    ('a = [""""\\""""", {' + "b." * 50_000 + 'c = "1"}]', "line 1: lists, tables"),
    ("name = " + "[" * 19 + "0x" + "f" * 5000 + "]" * 19,
     "name must be a text, not a list that is too large to be shown"),
    ("name = " + "[" * 21 + "]" * 21, "line 1: lists, tables"),
    (BODY + "mass = " + "9" * 5000, "not TOML"),
    (BODY + "mass = " + HUGE, r"line 4, bodies\[1\].mass: is an integer of very many digits"),
    (BODY + "mass = 0x" + "f" * 5000, "integer of very many digits"),
    (BODY + "mass = 1e400", "must be a finite number, not inf"),
    (BODY + "mass = nan", "must be a finite number, not nan"),
    (BODY + "mass = true", "must be a number, not True"),
    (BODY + "mass = 1979-05-27", "must be a number, not datetime.date"),
    (BODY + "mass = [1]", r"must be a number, not \[1\]"),
    (BODY + f"inertia = [[1, 0, 0], [0, {HUGE}, 0], [0, 0, 1]]",
     r"line 4, bodies\[1\].inertia\[2\]\[2\]: is an integer of very many"),
    (BODY + "inertia = [[1, 0, 0], [0, true, 0], [0, 0, 1]]", r"inertia\[2\]\[2\]: must be a number, not True"),
    (BODY + f"inertia = [1, 1, {HUGE}]", r"bodies\[1\].inertia\[3\]"),
    (BODY + "center = [0, 0, 1e308]", "1e\\+308, which is absurdly"),
    ("name = 'm'\ngravity = [0, 0, 1180591620717411303424]", r"^(?!.*gravity)"),  # 1.2e21 is a number
    ("name = 'm'\ngravity = [0, 0, 1e31]", r"line 2, gravity\[3\]: is 1e\+31, which is absurdly large"),
    ("name = 'm'\n[dh]\nconvention = 'modified'\nrows = [{ theta = '1e400 deg' }]",
     r"dh.rows\[1\].theta: must be a finite number"),
    ("name = 'm'\n[dh]\nconvention = 'modified'\nrows = [{ theta = '1" + " " * 100_000 + "x' }]", "is not an angle"),
    ("name = 'm'\n[dh]\nconvention = 'modified'\nrows = [{ rotor = { inertia = 1, gear = 1e31 } }]", "absurdly large"),
    ('name = "a\\u001b]0;title\\u0007"\n[[bodies]]\nname = "a"', "control characters"),
    ('name = ""\n[[bodies]]\nname = "a"', "not empty"),
    ('name = "m"\n[[bodies]]\nname = "a\\u202eb"', r"'a\\u202eb': a name is a text without control characters"),
    ("name = 'm'\n" + "#" * 5 * 2**20, "is longer than 4 MiB"), ], ids=range(28))
def test_toml(text, words):
    with pytest.raises(ModelError, match=words):
        load_toml(text)


def test_what_toml_accepts_its_urdf_can_be_read_back():
    """The largest that is read is the largest that is read back."""
    text = 'name = "m"\n[[bodies]]\nname = "a"\n[[bodies]]\nname = "b"\nmass = 1e30\ncenter = [1e30, 0, 0]\n' \
           'inertia = [1e30, 1e30, 1e30]\n' \
           '[[joints]]\nname = "j"\nkind = "prismatic"\nparent = "a"\nchild = "b"\nposition = [0, 1e30, 0]\n' \
           'limits = { lower = -1e308, upper = 1e308 }\n'
    tree = load_toml(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        again = load_urdf(dump_urdf(tree))
    assert again.bodies[1].mass == tree.bodies[1].mass and (again.joints[0].placement == tree.joints[0].placement).all()
    assert tree.joints[0].limits == again.joints[0].limits and np.isfinite(random_configuration(tree, 3)).all()
    with pytest.raises(ModelError, match="absurdly large"):
        load_toml(text.replace("position = [0, 1e30", "position = [0, 1.1e30"))


# URDF


def chain(count, mimic):
    """A chain of joints whose names are much alike."""
    link = '<link name="a_rather_long_name_of_a_link_{0}"/>'
    joint = (
        '<joint name="a_rather_long_name_of_a_joint_{0}" type="revolute"><parent '
        'link="a_rather_long_name_of_a_link_{0}"/>'
        '<child link="a_rather_long_name_of_a_link_{1}"/><axis xyz="0 0 1"/><limit lower="-1" upper="1"/>{2}</joint>')
    return ('<robot name="r">' + "".join(link.format(k) for k in range(count + 1))
            + "".join(joint.format(k, k + 1, mimic(k)) for k in range(count)) + "</robot>")


def test_many_joints_that_follow_what_does_not_exist_are_read_in_linear_time():
    text = chain(800, lambda k: f'<mimic joint="a_rather_long_name_of_a_join_{k}"/>')
    with pytest.warns(ModelWarning) as caught:
        assert load_urdf(text).nq == 800
    lines = str(caught[0].message).split("\n")
    assert len(lines) == 800 and all("there is no joint" in line for line in lines)
    assert sum("did you mean" in line for line in lines) == 10


def test_a_long_chain_of_followers_is_read_in_linear_time():
    text = chain(1500, lambda k: f'<mimic joint="a_rather_long_name_of_a_joint_{k + 1}"/>' if k < 1499 else "")
    with pytest.warns(ModelWarning):
        tree = load_urdf(text)
    assert len(tree.mimic_joints) == 1499 and {found.leader for found in tree.mimic_joints.values()} == {1499}


def test_a_floating_base_finds_a_name():
    taken = ["world", "universe", "ground beneath", "world_2"]
    links = "".join(f'<link name="{name}"/>' for name in taken)
    names = ["root_joint", "floating_base", "free_joint"]
    joints = "".join(f'<joint name="{name}" type="fixed"><parent link="{a}"/><child link="{b}"/></joint>'
                     for name, a, b in zip(names, taken, taken[1:], strict=False))
    tree = load_urdf(f'<robot name="r">{links}{joints}</robot>', floating_base=True)
    assert (tree.bodies[0].name, tree.joints[0].name, tree.nv) == ("world_3", "root_joint_2", 6)


def test_what_other_readers_take_is_refused_with_what_to_write():
    link = '<link name="a"/><link name="b"/>'
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{}</joint>'
    for text, words in (
        (joint.format('<axis xyz="0 0 1"/><limit lower="1" upper="-1"/>'),
         "lower 1, upper -1; if there are none, leave <limit> out"),
        (joint.format('<axis xyz="0 0 1"/><axis xyz="0 0 1"/>'), "has a <axis> already"),
    ):
        with pytest.raises(ModelError, match=words):
            load_urdf(f'<robot name="r">{link}{text}</robot>')
    with pytest.raises(ModelError, match=r"nothing may stand before <\?xml"):
        load_urdf(f'<!-- made by hand -->\n<?xml version="1.0"?>\n<robot name="r">{link}</robot>')


# MJCF


def world(inner, more=""):
    return f"<mujoco>{more}<worldbody>{inner}</worldbody></mujoco>"


ATTACH = '<attach model="m" body="b" prefix="{}"/>'


@pytest.mark.parametrize(("text", "words"), [
    (world('\n<replicate count="1000000"><body><geom size="1"/></body></replicate>'),
     "line 2, <body>: .*more than 20000 objects"),
    (world('<replicate count="200">' * 4 + '<geom size="1"/>' + "</replicate>" * 4), "more than 20000 objects"),
    (world('<replicate count="1e9"><geom size="1"/></replicate>'), "more than 20000 objects"),
    (world('<flexcomp name="f" type="grid" count="300 300 300" spacing="1 1 1" dim="3"/>'), "more than 20000 objects"),
    (world("", '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>'),
     "<hfield name=\"h\">: .*20000000 numbers"),
    (world("", '<asset><texture name="t" type="2d" builtin="flat" width="100000" height="100000"/></asset>'),
     "20000000 numbers"),
    (world("", '<asset><texture name="t" type="cube" builtin="flat" width="100000"/></asset>'), "20000000 numbers"),
    (world("", '<asset><mesh name="w" builtin="wedge" params="10000 10000 90 90 0"/></asset>'), "800000 triangles"),
    (world("", '<size nuser_body="2000000000"/>'), "<size>: .*20000000 numbers"),
    (world("", '<size nkey="200000000"/>'), "20000000 numbers"),
    (world("", '<size nuserdata="2000000000"/>'), "20000000 numbers"),
    (world("", '<size nuser_geom="1000000"/>' + "<option/>" * 30), "<option>: .*20000000 numbers"),
    (world("", '<sensor><user dim="2000000000"/></sensor>'), "20000000 numbers"),
    (world("", '<compiler><lengthrange inttotal="1e9"/></compiler>'), "<lengthrange>: .*20000000 numbers"),
    (world("", '<compiler><lengthrange timestep="1e-300"/></compiler>'), "20000000 numbers"),
    (world("", '<compiler><lengthrange timestep="0"/></compiler>'), "20000000 numbers"),
    (world("<body>" * 3000 + "</body>" * 3000), "MuJoCo cannot read it"),
    (world("", '<include file=""/>'), "the attribute file is empty"),
    (world("", "<include/>"), "the attribute file is missing"), ], ids=range(19))
def test_mjcf(text, words):
    with pytest.raises(ModelError, match=words):
        load_mjcf(text)


WITH_LITTLE_MEMORY = """
import resource
from cayley.model.budget import MOST
from cayley.model.formats.mjcf import load_mjcf
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
MOST["numbers"] = 10**15
load_mjcf('<mujoco><size nuser_body="2000000000"/></mujoco>')
"""


def test_unknown_errors_of_mujoco_are_errors_of_the_model():
    """What MuJoCo says of a want of memory has no kind of its own."""
    ended = subprocess.run([sys.executable, "-c", WITH_LITTLE_MEMORY], capture_output=True, text=True, timeout=60)
    assert "ModelError: text: MuJoCo cannot read it: Caught an unknown exception!" in ended.stderr


@pytest.mark.parametrize(("inner", "words"), [
    ('<mujoco>\n<worldbody><geom size="1" pos="nan 0 0"/></worldbody></mujoco>',
     "part.xml, line 2, <geom>: pos is 'nan 0 0'"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><mujoco/>', "document type declarations and entities are not supported"),
    ("<mujoco>", "this is not XML"),
    ("\0", "this is not XML"),
    ('<mujoco><include file="robot.xml"/></mujoco>', "already included|more than 20000 objects"),
    (world('<replicate count="100000"><geom size="1"/></replicate>'),
     "part.xml, line 1, <geom>: .*more than 20000 objects"), ])
def test_included_files_pass_the_same_gate(tmp_path, inner, words):
    (tmp_path / "below").mkdir()
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco>\n<include file="below/part.xml"/></mujoco>')
    (tmp_path / "below" / "part.xml").write_text(inner)
    with pytest.raises(ModelError, match=words):
        load_mjcf(path)


@pytest.mark.parametrize("element", [
    '<include file="{}"/>', '<asset><mesh name="m" file="{}"/></asset>', '<asset><model name="m" file="{}"/></asset>',
    '<asset><texture type="cube" fileright="{}"/></asset>', '<asset><hfield name="h" file="{}"/></asset>'])
def test_files_outside_of_the_models_folder_need_trust(tmp_path, element, monkeypatch):
    (tmp_path / "below").mkdir()
    path = tmp_path / "below" / "robot.xml"
    (tmp_path / "part.xml").write_text(world('<body name="part"/>'))
    (path.parent / "link.xml").symlink_to("../part.xml")
    for name in ("../part.xml", str(tmp_path / "part.xml"), "link.xml", "../below/../part.xml"):
        path.write_text(f"<mujoco>\n{element.format(name)}</mujoco>")
        with pytest.raises(ModelError, match=r"robot.xml, line 2, .* lies outside of .*trust=True"):
            cy.load(path)
    for trust in (True, False):
        with nullcontext() if "include" in element or "model" in element else pytest.raises(
                ModelError, match="MuJoCo cannot read it"):
            assert cy.load(path, trust=trust).bodies[-1].name == ("part" if "include" in element else "world")
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))


def test_included_files_are_found_as_mujoco_finds_them(tmp_path):
    (tmp_path / "parts").mkdir()
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco><include file="parts/a.xml"/></mujoco>')
    (tmp_path / "parts" / "a.xml").write_text('<mujoco><include file="b.xml"/></mujoco>')
    beside = tmp_path / "parts" / "b.xml"
    beside.write_text(world('<body name="beside"/>'))
    assert load_mjcf(path).bodies[1].name == "beside"
    (tmp_path / "b.xml").write_text(world('<body name="main"/>'))
    beside.write_text(world('<geom pos="nan"/>'))
    assert load_mjcf(path).bodies[1].name == "main"


@pytest.mark.parametrize("element", [
    '<include file="{}"/>', '<asset><mesh name="m" file="{}"/></asset>', '<asset><model name="m" file="{}"/></asset>',
    '<asset><texture type="cube" fileright="{}"/></asset>', '<asset><hfield name="h" file="{}"/></asset>'])
def test_files_that_mjcf_names_are_plain_ones(tmp_path, element):
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "below").mkdir()
    os.mkfifo(tmp_path / "below" / "other.png")
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco>\n{element.format('pipe.xml')}</mujoco>")
    with pytest.raises(ModelError, match=r"robot.xml, line 2, .*it is a pipe, not a file"):
        load_mjcf(path)
    if "include" not in element and "model" not in element:
        path.write_text(f'<mujoco>\n{element.format("other.png")}<compiler assetdir="below"/></mujoco>')
        with pytest.raises(ModelError, match=r"robot.xml, line 2, .*it is a pipe, not a file"):
            load_mjcf(path)


def test_models_that_attach_each_other_are_bounded(tmp_path):
    for k in range(5):
        (tmp_path / f"m{k}.xml").write_text(
            f'<mujoco><asset><model name="m" file="m{k + 1}.xml"/></asset><worldbody><body name="b">'
            + "".join(ATTACH.format(f"p{i}") for i in range(40)) + "</body></worldbody></mujoco>")
    (tmp_path / "m5.xml").write_text(world('<body name="b"/>'))
    with pytest.raises(ModelError, match="more than 4000 bodies"):
        load_mjcf(tmp_path / "m0.xml")


def repeated(count, element, where="asset"):
    return world("", f"<{where}>{''.join(element.format(k) for k in range(count))}</{where}>")


@pytest.mark.parametrize(("text", "words"), [
    (repeated(60, '<hfield name="h{}" nrow="4400" ncol="4400" size="1 1 1 1"/>'), '"h1">: .*20000000 numbers'),
    (repeated(60, '<texture name="t{}" type="2d" builtin="flat" width="4400" height="4400"/>'), "20000000 numbers"),
    (repeated(9, '<mesh name="m{}" builtin="supersphere" params="150 1 1"/>'), '"m2">: .*800000 triangles'),
    (repeated(1, '<mesh name="m{}" builtin="supersphere" params="4000 1 1"/>'), "800000 triangles"),
    (world('<flexcomp name="f" type="grid" count="25 25 25" spacing=".1 .1 .1" dim="3"/>'), "20000 objects"),
    (world("<body/>" * 4500), "4000 bodies"),
    (world('<body><joint/><geom size="1"/></body>' * 900, f"<keyframe>{'<key/>' * 900}</keyframe>"),
     "for every object"), ], ids=range(7))
def test_what_an_mjcf_file_asks_for_counts_in_all(text, words):
    with pytest.raises(ModelError, match=words):
        load_mjcf(text)


@pytest.mark.parametrize(("ending", "text"), [
    (".urdf", '<robot name="r">' + "".join(f'<link name="l{k}"/>' for k in range(6000)) + "</robot>"),
    (".sdf", '<sdf version="1.9"><model name="m">' + "".join(f'<link name="l{k}"/>' for k in range(6000))
     + "</model></sdf>"),
    (".toml", 'name = "m"\n' + "".join(f'[[bodies]]\nname = "b{k}"\n' for k in range(6000)))])
def test_bodies_are_counted_in_every_format(tmp_path, ending, text):
    (tmp_path / f"robot{ending}").write_text(text)
    with pytest.raises(ModelError, match=rf"robot{ending}, .*more than 4000 bodies"):
        cy.load(tmp_path / f"robot{ending}")


def test_a_small_file_with_a_picture_of_all_memory(tmp_path):
    header = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 100_000, 100_000)
    (tmp_path / "sky.png").write_bytes(header + bytes(20))
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco><asset><texture name="t" type="2d" file="sky.png"/></asset></mujoco>')
    with pytest.raises(ModelError, match="a picture of more than"):
        load_mjcf(path)
