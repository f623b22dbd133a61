"""`cayley check` finds every problem, where it is, and never falls over."""

import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayley as cy
from cayley.cli.check import examine
from cayley.model.formats.toml_text import dump_toml
from cayley.model.formats.urdf_text import dump_urdf
from cli.processes import call, data

URDF, TOML = dump_urdf(cy.load("ur5").tree, leave_out=True), dump_toml(cy.load("planar3r").tree)
BAD_URDF = """<robot name="bad">
  <link name="base"/>
  <link name="a">
    <inertial><mass value="heavy"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <link name="b">
    <inertial><mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" izz="1"/></inertial>
  </link>
  <joint name="j1" type="revolut"><parent link="base"/><child link="a"/></joint>
  <joint name="j2" type="revolute"><parent link="a"/><child link="bb"/>
    <axis xyz="0 0 0"/></joint>
</robot>
"""
BAD_TOML = """name = "bad"
gravity = [0, 0, -9.81]
[[bodies]]
name = "base"
[[bodies]]
name = "rod"
mass = -1.5
[[bodies]]
name = "tip"
mas = 1
[[joints]]
name = "hinge"
kind = "revolut"
parent = "base"
child = "rod"
[[joints]]
name = "wrist"
kind = "revolute"
parent = "rod"
child = "tip"
axis = [0, 0]
[[frames]]
name = "tool"
body = "tipp"
"""


def lines_of(errors):
    return [int(found.group(1)) for error in errors if (found := re.search(r"line (\d+)", error))]


def test_every_problem_of_a_urdf_file_with_its_line(tmp_path):
    (tmp_path / "bad.urdf").write_text(BAD_URDF)
    found = data(call("check", tmp_path / "bad.urdf", "--json", code=1))
    assert not found["usable"] and lines_of(found["errors"]) == [4, 8, 10, 11, 12]
    assert "'revolute'" in found["errors"][2] and "'b'" in found["errors"][3]
    shown = call("check", tmp_path / "bad.urdf", code=1).stdout
    assert "5 errors" in shown


def test_every_problem_of_a_toml_file_with_its_line(tmp_path):
    (tmp_path / "bad.toml").write_text(BAD_TOML)
    errors = data(call("check", tmp_path / "bad.toml", "--json", code=1))["errors"]
    assert "tipp" in errors[0] and lines_of(errors) == [5, 10, 13, 21]
    assert "bodies[2]" in errors[1] and "'mass'" in errors[2] and "joints[2]" in errors[4]


def test_a_broken_mjcf_file_is_explained(tmp_path):
    (tmp_path / "bad.xml"
     ).write_text('<mujoco><worldbody><body><joint type="hing"/><geom size="0.1"/></body></worldbody></mujoco>')
    done = call("check", tmp_path / "bad.xml", code=1)
    assert "hing" in done.stdout and "check again" in " ".join(done.stdout.split())


def test_good_files_and_warnings(tmp_path):
    cy.load("ur5").save(tmp_path / "good.toml")
    assert data(call("check", tmp_path / "good.toml", "--json")) == {
        "file": str(tmp_path / "good.toml"), "usable": True, "errors": [], "warnings": [], "notes": [],
        "mechanism": "ur5: 7 bodies, 6 joints, nq = 6, nv = 6"}
    cy.load("puma560").save(tmp_path / "odd.toml")
    assert "triangle inequality" in call("check", tmp_path / "odd.toml").stdout
    call("check", tmp_path / "odd.toml", "--strict", code=1)


@pytest.mark.parametrize("name, text", [("no.urdf", None), ("a.json", "{}"), ("empty.urdf", ""), ("empty.toml", ""),
                                        ("bits.urdf", "\x01")])
def test_what_is_no_mechanism_at_all(tmp_path, name, text):
    if text is not None:
        (tmp_path / name).write_text(text)
    found = examine(tmp_path / name)
    assert len(found.errors) == 1 and name in found.errors[0]


@given(st.sets(st.integers(0, 12), min_size=1, max_size=6))
@settings(max_examples=25)
def test_each_of_several_broken_parts_is_named(tmp_path_factory, numbers):
    """Parts of a good URDF file are broken in different ways, one attribute each; each is reported at its own line, and
    nothing else is.
    """
    lines, broken = URDF.split("\n"), []
    places = [k for k, line in enumerate(lines) if re.search(r"<(mass |axis )", line)]
    for number in numbers:
        k = places[number % len(places)]
        lines[k] = re.sub(r'(value|xyz)="[^"]*"', r'\1="?"', lines[k])
        broken.append(k + 1)
    path = tmp_path_factory.mktemp("broken") / "arm.urdf"
    path.write_text("\n".join(lines))
    found = examine(path)
    assert lines_of(found.errors) == sorted(set(broken)) and found.all_found


@pytest.mark.parametrize("ending, text", [(".urdf", URDF), (".toml", TOML), (".urdf", BAD_URDF), (".toml", BAD_TOML)])
def test_damaged_files_never_raise(tmp_path, ending, text):
    """Cut off, scribbled over, lines swapped: an explanation, or a mechanism."""
    random, data = np.random.default_rng(8), text.encode()
    path = tmp_path / f"damaged{ending}"
    for _ in range(40):
        damaged = bytearray(data)
        for place in random.integers(0, len(data), random.integers(1, 4)):
            damaged[place] = random.integers(0, 256)
        cut = random.integers(len(data) // 2, 2 * len(data))
        path.write_bytes(bytes(damaged[:cut]))
        found = examine(path)
        assert found.errors or found.summary


def test_files_of_many_and_of_deep_parts_are_checked_in_bounded_time(tmp_path):
    deep, many, said = tmp_path / "deep.urdf", tmp_path / "many.toml", tmp_path / "said.toml"
    deep.write_text('<robot name="r"><link name="a"><visual>' + "<a>" * 5000 + "</a>" * 5000
                    + '</visual></link>\n<link name="a"/></robot>')
    assert "deep.urdf, line 2" in data(call("check", deep, "--json", code=1))["errors"][0]
    many.write_text('name = "m"\n' + "".join(f'[[bodies]]\nname = "b{k}"\nmass = -1\n' for k in range(2000)))
    start = time.process_time()
    shown = call("check", many, code=1).stdout
    assert "bodies[2]" in shown and "There may be more errors" in " ".join(
        shown.split()) and time.process_time() - start < 10
    said.write_text('source = """\n[[bodies]]\n[[bodies]]\n"""\nname = "m"\n[[bodies]]\nname = "a"\nmass = -1\n')
    assert len(data(call("check", said, "--json", code=1))["errors"]) == 1


def test_what_mjcf_says_beyond_a_mechanism_is_told_in_sentences(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><worldbody><body><joint name="j" stiffness="3" range="-90 90"/><geom size="1"/></body></worldbody>'
        '<actuator><motor joint="j" gear="2"/></actuator>'
        '<sensor><jointpos joint="j"/><jointvel joint="j"/></sensor></mujoco>')
    found = data(call("check", path, "--json"))["warnings"]
    for sentence in ("gains, gears and ranges of 1 actuator are left out", "2 sensors are left out"):
        assert sentence in found


def test_degrees_are_told(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child '
        'link="b"/>'
        '<axis xyz="0 0 1"/><limit lower="-90" upper="90" velocity="1" effort="1"/></joint></robot>')
    found = data(call("check", path, "--json"))["warnings"]
    assert "joint 'j' is revolute and turns from -90 to 90 rad: if these are degrees, write radians" in found


@pytest.mark.parametrize("name, words", [("arm.usd", "USD is not read"), ("arm.zip", "archives")])
def test_formats_that_are_not_read(name, words, tmp_path):
    (tmp_path / name).write_text("<robot/>")
    assert words in data(call("check", tmp_path / name, "--json", code=1))["errors"][0]
