"""TOML in and out: exact round trips of everything a mechanism can hold, every error with its line and key."""

import tomllib
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cayley.errors import ModelError
from cayley.model.constraint_kinds import Coupling, Polynomial, PrescribedMotion, Rod
from cayley.model.formats.toml_format import KINDS, dump_toml, load_toml
from cayley.model.formats.toml_places import Places
from cayley.model.joint_kinds import (
    Curvilinear,
    Cylindrical,
    Floating,
    Helical,
    JointKind,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Loop, Mimic, Rotor
from cayley.model.tree import Tree
from model.elementary import rot, row_pose, tran
from model.random_trees import KINDS as RANDOM_KINDS
from model.random_trees import random_parts


def same(one, other):
    """Equal in every field, arrays to the last bit."""
    assert type(one) is type(other)
    for part in fields(one):
        a, b = getattr(one, part.name), getattr(other, part.name)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)
        elif isinstance(a, tuple) and a and not isinstance(a[0], float):
            assert len(a) == len(b)
            for x, y in zip(a, b, strict=True):
                same(x, y)
        else:
            assert a == b, (part.name, a, b)


def everything():
    motions = {
        "revolute": Revolute((0.6, 0.0, 0.8)), "continuous": Revolute((0.0, 1.0, 0.0), continuous=True),
        "prismatic": Prismatic(), "helical": Helical((1.0, 0.0, 0.0), -0.05), "universal": Universal(
            (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), "spherical": Spherical(), "planar": Planar(
                (0.0, 0.6, 0.8)), "floating": Floating(), "fixed": JointKind(), "cylindrical": Cylindrical(
                    (0.6, 0.0, 0.8)), "curvilinear": Curvilinear((0.1, 1.0), (), (0.0, 0.0, -1 / 3))}
    assert set(motions) == set(KINDS)
    bodies = [
        Body("root"),
        Body("known", 1 / 3, [0.1, -2e-17, 1e29], np.diag([0.1, 0.2, 0.25])),
        Body("full", 0.0, [0, 0, 1], [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 2.5]]),
        Body("not quite", 1.0, inertia=[[1, 0.1, 0], [0.1 + 1e-12, 2, 0], [0, 0, 2]]),
        *[Body(f"body {i}") for i in range(8)]]
    joints = [
        Joint(f'joint "{kind}" \u00e4\U0001f916\\', bodies[i].name, bodies[i + 1].name, motion,
              tran(0.1, 1 / 3, 0) @ rot("x", 0.1 * i) @ rot("z", i))
        for i, (kind, motion) in enumerate(motions.items())]
    joints[0] = Joint("turn", "root", "known", motions["revolute"], rot("x", -np.pi / 2),
                      Limits((-1.0,), (2.0,), (3.0,), (4.0,)), Friction(0.1, 0.2), Rotor(1e-4, 100.0))
    joints[4] = Joint("cross", joints[4].parent, joints[4].child, motions["universal"], rot("z", np.pi),
                      Limits((-1.0, -np.inf), (2.0, 0.5), (), (7.0, np.inf)))
    joints[2] = Joint("slide", joints[2].parent, joints[2].child, Prismatic(), mimic=Mimic("turn", -2.0, 0.25),
                      friction=Friction(coulomb=1.0))
    frames = [Frame("tool", "full", tran(z=0.1)), Frame("eye", "body 5", rot("y", 0.3))]
    return Tree.of(
        "all things", bodies, joints, frames=frames, gravity=(0.0, -1.62, 1 / 7), source="line one\nline two \x07\x7f",
        loops=[
            Loop("closing", "tool", "eye", Helical((0.0, 1.0, 0.0), 0.3)),
            Loop("ball", "tool", "root", Spherical())])


def test_everything_comes_back_to_the_last_bit():
    tree = everything()
    text = dump_toml(tree)
    same(load_toml(text), tree)
    assert dump_toml(load_toml(text)) == text
    assert 'rpy = ["-pi/2", 0.0, 0.0]' in text and 'rpy = [0.0, 0.0, "pi"]' in text
    assert "mimic = { joint = \"turn\", multiplier = -2.0, offset = 0.25 }" in text


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.lists(st.sampled_from(RANDOM_KINDS), min_size=0, max_size=9))
def test_random_trees_come_back_to_the_last_bit(seed, kinds):
    bodies, joints, frames = random_parts(np.random.default_rng(seed), kinds)
    tree = Tree.of("random", bodies, joints, frames=frames)
    same(load_toml(dump_toml(tree)), tree)


NUMBERS = st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-9)
AXES = st.sampled_from([(1.0, 0.0, 0.0), (0.0, 0.6, 0.8), (0.0, 0.0, -1.0)])
CLOSING = st.one_of(
    st.builds(Revolute, AXES, st.booleans()), st.builds(Prismatic, AXES), st.builds(Helical, AXES, NUMBERS),
    st.builds(Cylindrical, AXES), st.builds(Planar, AXES), st.sampled_from([Spherical(), JointKind(), Universal()]))
ENDS = st.permutations(["root", "b0", "eye"]).map(lambda ends: ends[:2]) | st.sampled_from([("b0", "b1"), ("tip \u00e4", "root")])
TIED = st.permutations(["j0", "j1", "j2"])


@st.composite
def constraints(draw, name):
    kind = draw(st.sampled_from(["rod", "coupling", "polynomial", "prescribed motion"]))
    joints = draw(TIED)
    if kind == "rod":
        return Rod(name, *draw(ENDS), abs(draw(NUMBERS)))
    if kind == "polynomial":
        return Polynomial(name, joints[0], joints[1], draw(st.lists(NUMBERS, min_size=1, max_size=7)))
    if kind == "coupling":
        count = draw(st.integers(1, 3))
        return Coupling(name, joints[:count], draw(st.lists(NUMBERS, min_size=count, max_size=count)), draw(NUMBERS))
    return PrescribedMotion(name, joints[0], "0.5*sin(3*t)")


@given(st.data())
def test_loops_and_constraints_on_positions_come_back_to_the_last_bit(data):
    bodies = [Body("root"), *[Body(f"b{k}", 1.0) for k in range(3)]]
    joints = [Joint(f"j{k}", "root", f"b{k}", Revolute()) for k in range(3)]
    frames = [Frame("tip \u00e4", "b1", tran(0.1, 1 / 3, 0)), Frame("eye", "b2", rot("y", 0.3))]
    loops = [Loop(f"loop {k}", *data.draw(ENDS), data.draw(CLOSING))
             for k in range(data.draw(st.integers(0, 3)))]
    others = [data.draw(constraints(f"tie {k}")) for k in range(data.draw(st.integers(0, 4)))]
    tree = Tree.of("closed", bodies, joints, frames=frames, loops=loops, constraints=others)
    again = load_toml(dump_toml(tree))
    assert again.loops == tree.loops and again.constraints == tree.constraints


def test_all_24_rotations_that_keep_the_axes_are_written_as_angles():
    seen = set()
    for x in range(4):
        for y in range(4):
            for z in range(4):
                R = rot("z", z * np.pi / 2) @ rot("y", y * np.pi / 2) @ rot("x", x * np.pi / 2)
                tree = Tree.of("turned", [Body("a"), Body("b")], [Joint("j", "a", "b", placement=R)])
                text = dump_toml(tree)
                assert "rotation" not in text
                same(load_toml(text), tree)
                seen.add(text)
    assert len(seen) == 24


def test_files_are_read(tmp_path):
    path = tmp_path / "stone.toml"
    path.write_text('name = "stone"\n[[bodies]]\nname = "stone"\n', encoding="utf-8")
    for given_path in (path, str(path)):
        made = load_toml(given_path)
        assert isinstance(made, Tree) and made.source == str(path) and made.bodies[0].mass is None
    with pytest.raises(ModelError, match=r"missing.toml' cannot be read: No such file"):
        load_toml(tmp_path / "missing.toml")
    with pytest.raises(ModelError, match="a path or a text, not int"):
        load_toml(7)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match=r"stone.toml, line 1: the text is not UTF-8"):
        load_toml(path)


ARM = """
name = "arm"      # a comment with [brackets] = and "quotes
gravity = [0, 0, -1.62]

[dh]
convention = "standard"
inertia_about = "origin"
base = { position = [0, 0, 0.3], rpy = [0, 0, "pi/2"] }
tool = { position = [0, 0, 0.1] }
root = { name = "floor", mass = 10 }
rows = [
    { d = 0.4, a = 0.1, alpha = "-pi/2", mass = 2, center = [0, 0, 0.1], inertia = [1, 1, 0.1], joint = "waist", body = "trunk" },
    { theta = "-90 deg", a = 0.5, kind = "prismatic", limits = { lower = 0.1, upper = 0.6 }, rotor = { reflected = 2, gear = 10 } },
    { alpha = "2*pi/3", limits = { lower = "-170 deg", upper = "pi" }, friction = { viscous = 0.1 } },
]

[[bodies]]
name = "hand"
mass = 0.5

[[joints]]
name = "hold"
kind = "fixed"
parent = "link3"
child = "hand"
quaternion = [0, 0, 0, 1]

[[frames]]
name = "finger"
body = "hand"
rotation = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
"""


def test_the_short_form_is_a_denavit_hartenberg_table():
    arm = load_toml(ARM)
    assert [j.motion.word for j in arm.joints] == ["revolute", "prismatic", "revolute", "fixed"]
    assert [b.name for b in arm.bodies] == ["floor", "trunk", "link2", "link3", "hand"]
    assert [f.name for f in arm.frames] == ["frame0", "frame1", "frame2", "frame3", "tool", "finger"]
    here = tran(z=0.3) @ rot("z", np.pi / 2)
    rows = [(0, 0.4, 0.1, -np.pi / 2), (-np.pi / 2, 0, 0.5, 0), (0, 0, 0, 2 * np.pi / 3)]
    where = np.eye(4)
    for i, (joint, row) in enumerate(zip(arm.joints, rows, strict=False)):
        here, where = here @ row_pose("standard", *row), where @ joint.placement
        np.testing.assert_allclose(where @ arm.frame(f"frame{i + 1}").pose, here, rtol=0, atol=1e-15)
    np.testing.assert_allclose(where @ arm.frame("tool").pose, here @ tran(z=0.1), rtol=0, atol=1e-15)
    trunk = arm.bodies[1]                                         # frame 1: z points along -y of the body's frame
    np.testing.assert_allclose(trunk.center, [0.1, 0.1, 0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(trunk.inertia, np.diag([0.98, 0.1, 0.98]), rtol=0, atol=1e-15)
    assert arm.joints[1].rotor.reflected == 2.0 and arm.joints[1].limits.upper == (0.6,)
    assert arm.joints[2].limits.lower == (np.deg2rad(-170),) and arm.joints[2].limits.upper == (np.pi,)
    np.testing.assert_array_equal(arm.frame("finger").pose, rot("z", np.pi / 2).round(15))
    same(load_toml(dump_toml(arm)), arm)


@pytest.mark.parametrize(("text", "value"), [("pi", np.pi), ("-pi", -np.pi), ("pi/2", np.pi / 2),
                                             (" - pi / 2 ", -np.pi / 2), ("2 pi", 2 * np.pi), ("3*pi/4", 3 * np.pi / 4),
                                             ("30 deg", np.deg2rad(30)), ("-12.5deg", -np.deg2rad(12.5)),
                                             ("1e1 deg", np.deg2rad(10))])
def test_angles_may_be_written_as_people_write_them(text, value):
    arm = load_toml(
        f'name = "a"\ndh = {{ convention = "modified", rows = [{{ limits = {{ upper = "{text}", lower = -10 }} }}] }}')
    assert arm.joints[0].limits.upper == (value,)


def test_rpy_turns_about_the_fixed_axes_x_then_y_then_z():
    text = 'name = "a"\n[[bodies]]\nname = "b"\n[[frames]]\nname = "f"\nbody = "b"\nrpy = [0.1, 0.2, 0.3]\n'
    np.testing.assert_allclose(
        load_toml(text).frame("f").pose,
        rot("z", 0.3) @ rot("y", 0.2) @ rot("x", 0.1), rtol=0, atol=1e-16)


HEAD = 'name = "m"\n[[bodies]]\nname = "a"\n[[bodies]]\nname = "b"\n[[joints]]\nname = "j"\nparent = "a"\nchild = "b"\n'
FAULTS = {
    'name = "m"\nname = "n"': "line 2: not TOML",
    "name = ": "not TOML",
    "[[bodies]]\nname = 'a'": "the TOML text: name is missing",
    "name = 3": "line 1, name: name must be a text, not 3",
    "name = 'm'\nbodys = []": "line 2, bodys: unknown key 'bodys': did you mean 'bodies'",
    "name = 'm'\nzzz = 1": "unknown key 'zzz': known are name, gravity",
    "name = 'm'\nbodies = 3": r"line 2, bodies: bodies must be a list of tables, each begun with \[\[bodies\]\]",
    "name = 'm'\ngravity = [0, 0]": "line 2, gravity: gravity must be a list of 3 numbers",
    "name = 'm'\ngravity = [0,\n0,\n'down']": r"line 4, gravity\[3\]: must be a number, not 'down'",
    "name = 'm'\ngravity = [0, 0, nan]": "not nan",
    "name = 'm'\ngravity = [0, 0, true]": "must be a number, not True",
    "name = 'm'\ngravity = [0, 0, inf]\n[[bodies]]\nname = 'a'": r"gravity\[3\]: must be a finite number, not inf",
    "name = 'm'\n[[bodies]]\nmass = 1": r"line 2, bodies\[1\]: name is missing",
    "name = 'm'\n[[bodies]]\nname = 'a'\nmas = 1": r"line 4, bodies\[1\].mas: unknown key 'mas': did you mean 'mass'",
    "name = 'm'\n[[bodies]]\nname = 'a'\nmass = -1": r"line 2, bodies\[1\]: body 'a' has the mass -1",
    "name = 'm'\n[[bodies]]\nname = 'a'\ninertia = [1, 2]": r"line 4, bodies\[1\].inertia: inertia is 3 numbers",
    "name = 'm'\n[[bodies]]\nname = 'a'\ninertia = [[1, 2, 3], [2, 1, 0], [0, 0]]": "three rows of three numbers",
    "name = 'm'\n[[bodies]]\nname = 'a'\ninertia = [[1, 2, 3], [2, 1, 'x'], [0, 0, "
    "1]]": r"inertia\[2\]\[3\]: must be a number, not 'x'",
    "name = 'm'\n[[bodies]]\nname = 'a'\ninertia = [[1, 2, 0], [0, 1, 0], [0, 0, 1]]": "not symmetric",
    "name = 'm'\n[[bodies]]\nname = 'a'\ninertia_about = 'com'": "inertia_about is one of center, origin",
    "name = 'm'\n[[bodies]]\nname = 'a'\n[[bodies]]\nname = 'a'": "m has two bodies named 'a'",
    HEAD: r"line 6, joints\[1\]: kind is missing",
    HEAD + "kind = 'revolut'": r"line 10, joints\[1\].kind: kind is one of .* not 'revolut': did you mean 'revolute'",
    HEAD
    + "kind = 'revolute'\naxis = [0, "
    "0, 2]": r"line 11, joints\[1\].axis: axis has the length 2 .* write \[0.0, 0.0, 1.0\]",
    HEAD + "kind = 'revolute'\naxis = [0, 0, 0]": "axis must be a unit vector",
    HEAD + "kind = 'helical'": "pitch is missing",
    HEAD + "kind = 'spherical'\naxis = [0, 0, 1]": "unknown key 'axis'",
    HEAD + "kind = 'fixed'\nrpy = [0, 0, 0]\nquaternion = [1, 0, 0, 0]": "rpy and quaternion both give the rotation",
    HEAD + "kind = 'fixed'\nquaternion = [2, 0, 0, 0]": r"joints\[1\].quaternion: .*quaternion",
    HEAD + "kind = 'fixed'\nrotation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]": "not a pose",
    HEAD + "kind = 'fixed'\nrpy = ['pie', 0, 0]": r"joints\[1\].rpy\[1\]: 'pie' is not an angle",
    HEAD + "kind = 'fixed'\nrpy = ['pi/0', 0, 0]": "'pi/0' is not an angle",
    HEAD + "kind = 'prismatic'\nlimits = { upper = '1 deg' }": r"joints\[1\].limits.upper: must be a number",
    HEAD + "kind = 'revolute'\nlimits = { uper = 1 }": r"line 11, joints\[1\].limits.uper: .*did you mean 'upper'",
    HEAD + "kind = 'revolute'\nlimits = { lower = 1, upper = -1 }": "crossed",
    HEAD + "kind = 'revolute'\nlimits = { lower = [1, 2] }": "needs 1 lower limits, not 2",
    HEAD + "kind = 'revolute'\nlimits = 3": "limits must be a table",
    HEAD + "kind = 'revolute'\nrotor = { inertia = 1, reflected = 2 }": "reflected and inertia both",
    HEAD + "kind = 'revolute'\nrotor = { reflected = 2, gear = 0 }": "gear of 0",
    HEAD + "kind = 'revolute'\nmimic = { multiplier = 2 }": r"joints\[1\].mimic: joint is missing",
    HEAD + "kind = 'revolute'\n[[frames]]\nname = 'f'\nbody = 'c'": "m has no body 'c'",
    HEAD + "kind = 'revolute'\n[[loops]]\nname = 'l'\nfirst = 'a'\nsecond = 'x'\nkind = 'fixed'": r"line 11, "
                                                                             r"loops\[1\]: m has no frame or body 'x'",
    HEAD + "kind = 'revolute'\n[[constraints]]\nname = 'l'\nfirst = 'a'\nsecond = 'x'\nkind = 'rod'\nlength = "
    "1": r"line 11, constraints\[1\]: .*m has no frame or body 'x'",
    HEAD + "kind = 'revolute'\n[[constraints]]\nname = 'l'\nfollower = 'j'\nleader = 'k'\ncoefficients = [1, 2]\n"
    "kind = 'polynomial'": r"line 11, constraints\[1\]: .*m has no joint 'k'",
    "name = 'm'\n[dh]\nrows = []": "line 2, dh: convention is missing",
    "name = 'm'\n[dh]\nconvention = 'craig'\nrows = [{}]": "line 3, dh.convention: convention is one of standard, "
                                                           "modified",
    "name = 'm'\n[dh]\nconvention = 'modified'\nrows = []": "at least one row",
    "name = 'm'\n[dh]\nconvention = 'modified'\nrows = [\n{},\n{ a = 1, alfa = "
    "2 }]": r"line 6, dh.rows\[2\].alfa: .*did you mean 'alpha'",
    "name = 'm'\n[dh]\nconvention = 'modified'\n[[dh.rows]]\n[[dh.rows]]\na = "
    "'1'": r"line 6, dh.rows\[2\].a: must be a number, not '1'",
    "name = 'm'\n[dh]\nconvention = 'modified'\nrows = [{ kind = 'helical' }]": "kind is one of revolute, prismatic",
    "name = 'm'\n[dh]\nconvention = 'modified'\nrows = [{ a = inf }]": "finite",
    "name = 'm'\n[dh]\nconvention = 'modified'\nbase = { rpi = [0, 0, 0] }\nrows = [{}]": "dh.base.rpi: .*did you mean "
                                                                                          "'rpy'",
    "name = 'm'\ndh = 3": "dh must be a table", }


@pytest.mark.parametrize("text", FAULTS, ids=range(len(FAULTS)))
def test_faults_are_named_with_their_place(text):
    with pytest.raises(ModelError, match=FAULTS[text]):
        load_toml(text + "\n")


def test_faults_of_a_file_name_the_file(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("name = 'm'\n\n[[bodies]]\nname = 'a'\nmas = 1\n")
    with pytest.raises(ModelError, match=r"bad.toml, line 5, bodies\[1\].mas: unknown key"):
        load_toml(path)


def test_places_of_awkward_texts():
    text = '''# [[bodies]] = not here
a.b = 1
"quoted key" = "x = 1 # no comment"
long = """
[[no]]
key = 3
"""
[x."y z"]
c = [ # comment ] }
  1, [2,
  3], {d = 4, e = {f = [5]}},
]
[[t]]
[[t]]
u = 1
[t.v]
w = 2
[[t.s]]
[[t.s]]
r = 1
'''
    data, places = tomllib.loads(text), Places(text)
    expected = {("a", "b"): 2, ("quoted key", ): 3, ("long", ): 4, ("x", "y z"): 8, ("x", "y z", "c"): 9,
                ("x", "y z", "c", 0): 10, ("x", "y z", "c", 1, 1): 11, ("x", "y z", "c", 2, "d"): 11,
                ("x", "y z", "c", 2, "e", "f", 0): 11, ("t", 0): 13, ("t", 1): 14, ("t", 1, "u"): 15,
                ("t", 1, "v", "w"): 17, ("t", 1, "s", 1, "r"): 20}
    for path, line in expected.items():
        value = data
        for part in path:
            value = value[part]
        assert places.line(path) == line, path
    assert places.line(("t", 1, "absent")) == 14 and places.line(("absent",)) is None
