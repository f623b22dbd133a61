"""xacro files, expanded by the tool itself; the URDF that its own command line makes of them is the oracle."""

import builtins
import subprocess
import sys

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, ModelWarning, UnsupportedError
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.xacro_text import expanded
from cayley.model.formats.xml_elements import read_xml

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
    assert arm.joint_names == ("a_one_joint", "a_two_joint") and arm.tree.source == str(arm_file)
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


# Files that nobody vouches for

SECRET = "hunter2"
SYSTEM = "[c for c in ().__class__.__base__.__subclasses__() if c.__name__=='_wrap_close'][0].__init__.__globals__"


def attacks():
    """Expressions that would run something, or read what is outside."""
    shell = "['system']('touch {pwned}')"
    yield from (f"(lambda: {SYSTEM}{shell})()", f"{SYSTEM}{shell}", f"[{SYSTEM}{shell} for i in [1]][0]",
                f"max([1], key=lambda i: {SYSTEM}{shell})", "__import__('os').system('touch {pwned}')",
                "xacro.load_yaml.__globals__['os'].system('touch {pwned}')", "str.__class__.__mro__", "''.__class__",
                "'{{0.__class__}}'.format(1)", "python.type(1)", "python.vars()", "math.__loader__", "xacro.__class__",
                "open('{secret}').read()", "load_yaml('{secret}')['password']", "xacro.load_yaml('../SECRET.yaml')",
                "xacro.load_yaml('{secret}')['password']", "[].append(1)", "f'{{1}}'", "(x := 1)", "dict(**python)",
                "xacro.load_yaml(xacro.abs_filename('../SECRET.yaml'))['password']", "map(python.vars, [1])",
                "sorted([1], key=str)", "getattr(1, 'real')", "eval('1')", "exec('1')", "globals()", "print(1)")


@pytest.mark.parametrize("text", [*attacks()])
def test_expressions_run_nothing_and_read_nothing_outside(arm_file, tmp_path, text):
    secret, pwned = tmp_path / "SECRET.yaml", tmp_path / "pwned"
    secret.write_text(f"password: {SECRET}")
    expression = text.format(secret=secret, pwned=pwned).replace("<", "&lt;").replace('"', "&quot;")
    for place in (f'<link name="x${{{expression}}}"/>', f'<xacro:property name="e" value="${{{expression}}}"/>'
                  '<xacro:if value="${e == 1}"><a/></xacro:if>'):
        arm_file.write_text(ARM.replace('<link name="base"/>', f'{place}<link name="base"/>'))
        with pytest.raises(ModelError) as refused:
            cy.load(arm_file)
        assert not pwned.exists() and SECRET not in str(refused.value)


@pytest.mark.parametrize("inner", [
    '<xacro:include filename="../../../SECRET.xacro"/>', '<xacro:include filename="{top}/SECRET.xacro"/>',
    '<xacro:include filename="file://{top}/SECRET.xacro"/>', '<xacro:include filename="link.xacro"/>',
    '<xacro:include filename="{top}/SECRET*"/>', '<xacro:include filename="{top}/*/../SECRET.xacro"/>',
    '<xacro:include filename="$(find rods)/../SECRET.xacro"/>', '<xacro:include filename="$(find ..)/SECRET.xacro"/>',
    '<xacro:include filename="package://rods/../SECRET.xacro"/>', '<link name="$(env HOME)"/>',
    '<link name="x$(optenv HOME none)"/>', '<link name="$(cwd)"/>', '<link name="$(eval [].__class__)"/>'])
def test_files_outside_and_the_environment_need_trust(arm_file, tmp_path, inner, monkeypatch):
    monkeypatch.setenv("HOME", SECRET)
    (tmp_path / "SECRET.xacro").write_text(f'<robot><link name="{SECRET}"/></robot>')
    (arm_file.parent / "link.xacro").symlink_to(tmp_path / "SECRET.xacro")
    arm_file.write_text(ARM.replace('<link name="base"/>', inner.format(top=tmp_path) + '<link name="base"/>'))
    with pytest.raises(ModelError, match=r"trust=True|names no package|a pattern of names") as refused:
        cy.load(arm_file)
    assert SECRET not in str(refused.value)


def test_with_trust_it_is_what_xacro_makes_of_it(arm_file, tmp_path, monkeypatch):
    monkeypatch.setenv("ROD", "a_rod")
    (tmp_path / "far.xacro").write_text(MACROS)
    inner = f'<xacro:include filename="{tmp_path}/far.xacro"/><xacro:property name="f" value="${{(lambda: 0.5)()}}"/>'
    arm_file.write_text(ARM.replace('<link name="base"/>', f'{inner}<link name="base"/>')
                        .replace('name="$(arg prefix)one"', 'name="$(env ROD)"').replace('"0.5"', '"${f}"'))
    with pytest.raises(ModelError, match=r"lies outside .* trust=True"):
        cy.load(arm_file)
    arm = cy.load(arm_file, trust=True)
    assert arm.joint_names == ("a_rod_joint",) and arm.tree.source.trusted
    assert [shape.body for shape in arm.shapes] == ["a_rod"] and not arm.shapes.missing


PLAIN = """<robot name="plain" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="kind" default="long"/><xacro:arg name="count" default="3"/>
  <xacro:property name="sizes" value="${xacro.load_yaml('sizes.yaml')}"/>
  <xacro:property name="half" value="${sizes.rods[0]['length']/2 + sizes.tilt}"/>
  <xacro:property name="names" value="${['n%d_%s' % (i, chr) for i, chr in python.enumerate('ab'.upper().lower())]}"/>
  <xacro:property name="rows" value="${[[i*j for j in range(3)] for i in range(2)]}"/>
  <xacro:macro name="tower" params="name n:=2 *at **more">
    <link name="${name}_${n}"><visual><xacro:insert_block name="at"/><geometry><box size="1 ${n} 1"/></geometry>
      </visual><xacro:insert_block name="more"/></link>
    <xacro:unless value="${n == 0 or not name}"><xacro:tower name="${name}" n="${n - 1}"><origin xyz="0 0 ${n}"/>
      <more/></xacro:tower></xacro:unless>
  </xacro:macro>
  <xacro:property name="sum_of" value="${python.sum(rows[1]) + abs_of}" lazy_eval="true"/>
  <xacro:property name="abs_of" value="${radians(180)/pi + math.sqrt(4) + python.abs(-1)}"/>
  <xacro:tower name="${names[1]}"><origin xyz="${half} ${max(1, 2)**2 % 3} ${-pi if half &lt; 1 else round(2.567, 1)}"/>
    <more><a b="${len(names) + int('2') + sum_of}" c="$(eval count + 1)"/></more></xacro:tower>
  <xacro:property name="text" value="${'_'.join([str(x) for x in rows[1]])}${dict(a=1)['a']}$${x}"/>
  <c text="${text}" in="${'a' in 'abc' and 2 in [1, 2]}" kind="$(arg kind)" eq="${'$(arg kind)' == 'long'}"
     slice="${'abcdef'[1:3]}" none="${None}" dot="${xacro.dotify(dict(x=2)).x}" low="${'AB'.lower().replace('a', 'c')}"
     words="${xacro.tokenize('1,2')[0].count('1')}"/>
  <xacro:call macro="${'tow' + 'er'}" name="last" n="0"><origin xyz="0 0 0"/><more/></xacro:call>
  <xacro:if value="${names}"><xacro:element xacro:name="${names[0]}" name="x"><xacro:attribute name="d" value="1"/>
  </xacro:element></xacro:if>
</robot>
"""


def test_what_files_of_robots_use_is_expanded_as_the_tool_does_it(tmp_path):
    """Everything of xacro's language that runs nothing; the tool itself is the oracle, element by element."""
    place = tmp_path / "plain.xacro"
    place.write_text(PLAIN)
    (tmp_path / "sizes.yaml").write_text("rods: [{length: 2.0}, {length: 1}]\ntilt: !degrees 90\nother: {a: [1, x]}\n")
    script = ("import sys, xacro, os; os.chdir(os.path.dirname(sys.argv[1])); "
              "print(xacro.process_file(sys.argv[1]).documentElement.toprettyxml())")
    theirs = subprocess.run([sys.executable, "-c", script, str(place)], capture_output=True, text=True, check=True)
    ours = expanded(place, {})

    def shape(text):
        return [(each.tag, each.attributes, each.text.split()) for each in read_xml(text).walk()]

    assert shape(ours) == shape(theirs.stdout) and len(shape(ours)) > 15


def test_threads_and_failures_leave_xacro_as_it_was(arm_file):
    import xacro
    before = dict(vars(xacro))
    with pytest.raises(ModelError):
        expanded(arm_file, {"prefx": "1"})
    assert {key for key, value in vars(xacro).items() if before.get(key) is not value} <= {
        "filestack", "macrostack", "verbosity"}


def test_without_the_package_the_extra_is_named(arm_file, monkeypatch):
    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda name, *rest: (_ for _ in ()).throw(ImportError(name))
                        if name == "xacro" else imported(name, *rest))
    with pytest.raises(ModelError, match=r"pip install 'cayley\[xacro\]'"):
        cy.load(arm_file)
