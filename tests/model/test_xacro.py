"""xacro files, expanded by the tool itself; the URDF that its own command line makes of them is the oracle."""

import builtins
import subprocess
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, ModelWarning, UnsupportedError
from cayley.model.formats.urdf import load_urdf

MACROS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="half" value="${pi/2}"/>
  <xacro:macro name="rod" params="name parent length">
    <link name="${name}">
      <inertial><origin xyz="${length/2} 0 0"/><mass value="${2*length}"/>
        <inertia ixx="0.001" ixy="0" ixz="0" iyy="${length**2/6}" iyz="0" izz="${length**2/6}"/></inertial>
      <visual><geometry><box size="${length} 0.02 0.02"/></geometry></visual>
    </link>
    <joint name="${name}_joint" type="revolute">
      <parent link="${parent}"/><child link="${name}"/><origin rpy="${half} 0 0"/><axis xyz="0 0 1"/>
      <limit lower="-1" upper="1" velocity="2" effort="3"/>
    </joint>
  </xacro:macro>
</robot>
"""
ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default=""/>
  <xacro:arg name="long" default="false"/>
  <xacro:include filename="$(find rods)/macros/rod.xacro"/>
  <link name="base"/>
  <xacro:rod name="$(arg prefix)one" parent="base" length="0.5"/>
  <xacro:if value="$(arg long)"><xacro:rod name="$(arg prefix)two" parent="$(arg prefix)one" length="0.25"/></xacro:if>
</robot>
"""


@pytest.fixture
def arm_file(tmp_path):
    package = tmp_path / "rods"
    for folder in ("macros", "urdf"):
        (package / folder).mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    (package / "macros" / "rod.xacro").write_text(MACROS)
    path = package / "urdf" / "arm.urdf.xacro"
    path.write_text(ARM)
    return path


def test_it_is_the_urdf_that_the_tool_makes(arm_file, monkeypatch):
    arm = cy.load(arm_file, arguments={"prefix": "a_", "long": True})
    assert arm.joint_names == ("a_one_joint", "a_two_joint") and arm.source == str(arm_file)
    script = ("import sys, types; m = types.ModuleType('ament_index_python.packages'); "
              f"m.get_package_share_directory = lambda name: {str(arm_file.parents[1])!r}; "
              "sys.modules['ament_index_python'] = types.ModuleType('a'); sys.modules[m.__name__] = m; "
              "import xacro; print(xacro.process_file(sys.argv[1], mappings={'prefix': 'a_', 'long': 'true'}).toxml())")
    text = subprocess.run([sys.executable, "-c", script, str(arm_file)], capture_output=True, text=True,
                          check=True).stdout
    theirs = cy.Mechanism(load_urdf(text[text.index("<?xml"):]))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_array_equal(arm.inverse_dynamics(q, qd, qdd), theirs.inverse_dynamics(q, qd, qdd))


def test_arguments_have_defaults_and_are_checked(arm_file):
    assert cy.load(str(arm_file)).joint_names == ("one_joint",)
    with pytest.raises(ModelError, match=r"arm\.urdf\.xacro has no argument 'prefx': did you mean 'prefix'"):
        cy.load(arm_file, arguments={"prefx": "a_"})
    with pytest.raises(ModelError, match="arguments are given by name"):
        cy.load(arm_file, arguments=["prefix:=a_"])
    with pytest.raises(UnsupportedError, match="planar2r: arguments are those of xacro files"):
        cy.load("planar2r", arguments={"prefix": "a_"})
    arm_file.write_text(ARM.replace('<xacro:arg name="prefix" default=""/>', ""))
    with pytest.raises(ModelError, match=r'Undefined substitution argument .*prefix.*arguments=\{"prefix": \.\.\.\}'):
        cy.load(arm_file)


def test_shapes_are_those_of_the_arguments(arm_file):
    arm = cy.load(arm_file, arguments={"prefix": "a_"})
    assert [shape.body for shape in arm.shapes] == ["a_one"] and not arm.shapes.missing


def test_packages_are_looked_for_where_meshes_are(arm_file, tmp_path, monkeypatch):
    arm_file.write_text(ARM.replace("$(find rods)", "$(find elsewhere)"))
    with pytest.raises(ModelError, match=r"the package 'elsewhere' is not there.*ROS_PACKAGE_PATH"):
        cy.load(arm_file)
    other = tmp_path / "far" / "elsewhere"
    (other / "macros").mkdir(parents=True)
    (other / "macros" / "rod.xacro").write_text(MACROS)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "far"))
    assert cy.load(arm_file).nv == 1


@pytest.mark.parametrize(("old", "new", "words"), [
    ('length="0.5"', 'length="${nothing}"', r"arm\.urdf\.xacro: xacro cannot expand it: .*nothing"),
    ('length="0.5"', "", r"cannot expand it: .*length"),
    ("rod.xacro", "none.xacro", r"cannot expand it: .*No such file"),
    ("</robot>", "", r"arm\.urdf\.xacro, line \d+.* this is not XML"),
    ("<robot", "<!DOCTYPE robot><robot", "document type declarations"),
    ('parent="base"', 'parent="bas"', r"arm\.urdf\.xacro \(expanded\), line \d+, .*no link 'bas': did you mean 'base'"),
])
def test_what_is_wrong_is_named(arm_file, old, new, words):
    arm_file.write_text(ARM.replace(old, new, 1))
    with pytest.raises(ModelError, match=words):
        cy.load(arm_file)


def test_what_xacro_says_is_a_warning(arm_file):
    arm_file.write_text(ARM.replace('<link name="base"/>', '<xacro:property name="pi" value="3"/><link name="base"/>'))
    with pytest.warns(ModelWarning, match="xacro says: .*redefining global symbol: pi"):
        cy.load(arm_file)


def test_without_the_package_the_extra_is_named(arm_file, monkeypatch):
    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda name, *rest: (_ for _ in ()).throw(ImportError(name))
                        if name == "xacro" else imported(name, *rest))
    with pytest.raises(ModelError, match=r"pip install 'cayley\[xacro\]'"):
        cy.load(arm_file)
