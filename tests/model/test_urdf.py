"""URDF against Pinocchio on real robots and on all joint types; faulty files against the line of the fault; text and
back.
"""

import random
import warnings
from functools import cache
from importlib.metadata import files

import numpy as np
import pinocchio as pin
import pytest

from cayley.errors import ModelError, UnsupportedError
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, jacobian_rate
from cayley.model import configurations
from cayley.model.formats import xml_elements
from cayley.model.formats.urdf import dump_urdf, load_urdf
from cayley.model.joint_kinds import Floating, Helical, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Loop, Mimic, Rotor
from cayley.model.report import ModelWarning, report
from cayley.model.tree import Tree
from model.plain_forward import body_poses, frame_poses, random_configuration

ROBOTS = {"/".join(f.parts[-3:]): str(f.locate()) for f in sorted(files("example-robot-data")) if f.suffix == ".urdf"}
REFUSED_BY_PINOCCHIO = {
    "falcon_description/urdf/falcon.urdf": r"falcon.urdf, line 182, <child> of <joint name=\"top_propeller_joint\">: "
    r"there is no link",
    "ur_description/urdf/ur3.urdf": "ur3.urdf, line 6, <robot>: the attribute name is missing", }
ACCEPTED = [name for name in ROBOTS if name not in REFUSED_BY_PINOCCHIO]

loaded_robot = cache(lambda name: load_urdf(ROBOTS[name]))
pinocchio_robot = cache(lambda name: pin.buildModelFromUrdf(ROBOTS[name]))

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")


def pinocchio_coordinates(tree, model, q):
    """The same configuration as Pinocchio orders and writes it."""
    theirs = pin.neutral(model)
    for joint, place in zip(tree.joints, tree.q_slices, strict=True):
        if joint.motion.nq:
            start = model.joints[model.getJointId(joint.name)].idx_q
            mapped = _mapped(joint.motion.word, q[place])
            theirs[start : start + len(mapped)] = mapped
    return theirs


def _mapped(word, q):
    if word == "continuous":
        return [np.cos(q[0]), np.sin(q[0])]
    if word == "planar":
        return [q[0], q[1], np.cos(q[2]), np.sin(q[2])]
    return [*q[:3], *q[4:], q[3]] if word == "floating" else q


def check_poses(tree, model, *, seed=0, states=3):
    """Every frame that Pinocchio knows, on random configurations."""
    data, rng = model.createData(), np.random.default_rng(seed)
    children = {joint.name: joint.child for joint in tree.joints}
    for _ in range(states):
        q = random_configuration(tree, rng)
        pin.framesForwardKinematics(model, data, pinocchio_coordinates(tree, model, q))
        ours, compared = body_poses(tree, q), set()
        for frame, theirs in zip(model.frames, data.oMf, strict=True):
            if frame.name == "universe":
                continue
            body = frame.name if frame.type == pin.FrameType.BODY else children[frame.name]
            np.testing.assert_allclose(ours[body], theirs.homogeneous, rtol=0, atol=1e-12, err_msg=frame.name)
            compared.add(body)
        assert compared | {tree.bodies[0].name} == set(ours)


def rigid_inertias(tree):
    """Mass, and first moments and inertia about the origins, of all bodies on the frames of the joints that move them.
    """
    total = {}
    carrier = {tree.bodies[0].name: ("", np.eye(4))}
    for joint in tree.joints:
        name, pose = carrier[joint.parent]
        carrier[joint.child] = (joint.name, np.eye(4)) if joint.motion.nv else (name, pose @ joint.placement)
    for body in tree.bodies:
        name, pose = carrier[body.name]
        R, c, m = pose[:3, :3], pose[:3, :3] @ body.center + pose[:3, 3], body.mass or 0.0
        moments = R @ body.inertia @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
        total[name] = total.get(name, 0.0) + np.array([m, *(m * c), *moments.ravel()])
    return total


@pytest.mark.parametrize("name", ACCEPTED)
def test_robot_agrees_with_pinocchio(name):
    tree, model = loaded_robot(name), pinocchio_robot(name)
    assert tree.nv == model.nv
    assert tree.source == ROBOTS[name]
    check_poses(tree, model)


def velocity_places(tree, model):
    """For each of our velocities, its place in Pinocchio's (nv); planar joints, whose velocities differ, are left out
    by the caller.
    """
    moving = [model.joints[model.getJointId(joint.name)] for joint in tree.joints if joint.motion.nv]
    return np.array([place for joint in moving for place in range(joint.idx_v, joint.idx_v + joint.nv)], dtype=int)


def branch_ends(tree):
    """One body behind each joint behind which no joint moves."""
    last = {}
    for body in range(len(tree.bodies)):
        way = [number for number in tree.path(body) if tree.joints[number].motion.nv]
        last[way[-1] if way else None] = (body, way)
    inner = {number for _, way in last.values() for number in way[:-1]} | {None}
    return [tree.bodies[body].name
            for number, (body, _) in last.items() if number not in inner] or [tree.bodies[-1].name]


def check_jacobians(tree, model, *, seed=0):
    """Jacobians and their time derivatives of the ends of all branches, in the root's and in their own axes, to 1e-12
    of their size.
    """
    data, rng = model.createData(), np.random.default_rng(seed)
    q, v, places = random_configuration(tree, rng), rng.normal(size=tree.nv), velocity_places(tree, model)
    theirs = np.zeros(model.nv)
    theirs[places] = v
    pin.computeJointJacobiansTimeVariation(model, data, pinocchio_coordinates(tree, model, q), theirs)
    pin.updateFramePlacements(model, data)
    for body in branch_ends(tree):
        frame = model.getFrameId(body, pin.FrameType.BODY)
        for axes, reference in (("world", pin.LOCAL_WORLD_ALIGNED), ("body", pin.LOCAL)):
            for ours, expected in ((general_jacobian(tree, q, body,
                                                     axes=axes), pin.getFrameJacobian(model, data, frame, reference)),
                                   (jacobian_rate(tree, q, v, body, axes=axes),
                                    pin.getFrameJacobianTimeVariation(model, data, frame, reference))):
                size = max(1.0, np.abs(expected).max(initial=0.0))
                np.testing.assert_allclose(ours, expected[:, places], rtol=0, atol=1e-12 * size,
                                           err_msg=f"{body} in the axes {axes}")


@pytest.mark.parametrize("name", ACCEPTED)
def test_jacobians_and_their_rates_agree_with_pinocchio(name):
    tree = loaded_robot(name)
    if tree.nv:
        check_jacobians(tree, pinocchio_robot(name))
    else:  # Pinocchio itself does not survive a Jacobian without columns
        assert general_jacobian(tree, tree.neutral, tree.bodies[-1].name, axes="world").shape == (6, 0)
        assert jacobian_rate(tree, tree.neutral, np.zeros(0), tree.bodies[-1].name, axes="body").shape == (6, 0)


@pytest.mark.parametrize("name", ACCEPTED)
def test_limits_and_friction_agree_with_pinocchio(name):
    tree, model = loaded_robot(name), pinocchio_robot(name)
    for joint in tree.joints:
        if joint.motion.nv != 1:
            continue
        theirs = model.joints[model.getJointId(joint.name)]
        if joint.motion.word != "continuous":
            assert joint.limits.lower[0] == model.lowerPositionLimit[theirs.idx_q]
            assert joint.limits.upper[0] == model.upperPositionLimit[theirs.idx_q]
        assert joint.limits.velocity[0] == model.upperVelocityLimit[theirs.idx_v]
        assert joint.limits.effort[0] == model.upperEffortLimit[theirs.idx_v]
        assert joint.friction.viscous == model.damping[theirs.idx_v]
        assert joint.friction.coulomb == model.upperDryFrictionLimit[theirs.idx_v]


@pytest.mark.parametrize("name", ACCEPTED)
def test_masses_agree_with_pinocchio(name):
    tree = loaded_robot(name)
    model = pin.buildModelFromUrdf(ROBOTS[name], pin.JointModelFreeFlyer())
    assert sum(body.mass or 0.0 for body in tree.bodies) == pytest.approx(pin.computeTotalMass(model), rel=1e-13)
    for joint, ours in rigid_inertias(tree).items():
        theirs = model.inertias[model.getJointId(joint or "root_joint")]
        expected = [theirs.mass, *(theirs.mass * theirs.lever), *theirs.matrix()[3:, 3:].ravel()]
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()), err_msg=joint)


@pytest.mark.parametrize("name", REFUSED_BY_PINOCCHIO)
def test_what_pinocchio_refuses_is_refused_with_its_line(name):
    with pytest.raises(ModelError, match=REFUSED_BY_PINOCCHIO[name]):
        load_urdf(ROBOTS[name])


EVERY_TYPE = """<?xml version="1.0"?>
<robot name="every" version="1.1">
  <link name="base"/>
  <link name="a"/> <link name="b"/> <link name="c"/> <link name="d"/> <link name="e"/> <link name="f"/> <link name="g"/>
  <joint name="ab" type="continuous"><origin xyz="1 2 -3" rpy="0.3 -1.1 2"/><parent link="a"/><child link="b"/>
    <axis xyz="1 -2 0.5"/><limit effort="3" velocity="4"/></joint>
  <joint name="bc" type="prismatic"><origin rpy="0 1.5707963267948966 0.7"/><parent link="b"/><child link="c"/>
    <axis xyz="0.6 0 0.8"/><limit lower="-1" upper="2" effort="5" velocity="6"/><dynamics damping="0.5" friction="0.25"/></joint>
  <joint name="cd" type="fixed"><origin xyz="0 0 .1" quat_xyzw="0.5 -0.5 0.5 0.5"/><parent link="c"/><child link="d"/>
    <axis xyz="0 0 0"/></joint>
  <joint name="basea" type="floating"><origin xyz="0.1 0 0" rpy="0 0.2 0"/><parent link="base"/><child link="a"/></joint>
  <joint name="ce" type="planar"><origin xyz="1e-3 +2. 0" rpy="1 2 3"/><parent link="c"/><child link="e"/><axis xyz="0 0 2"/></joint>
  <joint name="ef" type="revolute"><parent link="e"/><child link="f"/><limit lower="-1" upper="1" effort="2" velocity="3"/></joint>
  <joint name="eg" type="revolute"><parent link="e"/><child link="g"/><axis xyz="0 0 -1"/>
    <limit lower="-1" upper="1" effort="2" velocity="3"/><mimic joint="ef" multiplier="-2" offset="0.5"/></joint>
  <vendor:extension anything="goes"/>
</robot>
"""


def test_every_joint_type_agrees_with_pinocchio():
    tree = load_urdf(EVERY_TYPE)
    words = {joint.name: joint.motion.word for joint in tree.joints}
    assert words == {
        "basea": "floating", "ab": "continuous", "bc": "prismatic", "cd": "fixed", "ce": "planar", "ef": "revolute",
        "eg": "revolute"}
    check_poses(tree, pin.buildModelFromXML(EVERY_TYPE), states=20)


def test_data_of_joints_is_kept():
    joints = {joint.name: joint for joint in load_urdf(EVERY_TYPE).joints}
    assert joints["bc"].limits == Limits((-1.0,), (2.0,), (6.0,), (5.0,))
    assert joints["bc"].friction == Friction(0.5, 0.25)
    assert joints["ab"].limits == Limits((-np.inf,), (np.inf,), (4.0,), (3.0,))
    assert joints["eg"].mimic == Mimic("ef", -2.0, 0.5)
    assert joints["ef"].motion.axis == (1.0, 0.0, 0.0)
    with pytest.warns(
            ModelWarning,
            match=r'text, line \d+, <joint name="ef">: there is no <axis>; the default of URDF, 1 0 0, is taken'):
        load_urdf(EVERY_TYPE)


def test_inertia_is_turned_into_the_axes_of_the_body():
    tree = load_urdf(
        """<robot name="r"><link name="a"><inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><mass value="4"/>
        <inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="2.5"/></inertial></link></robot>""")
    body = tree.bodies[0]
    assert body.mass == 4.0
    assert body.center.tolist() == [1, 2, 3]
    np.testing.assert_allclose(body.inertia, [[2, -0.1, -0.3], [-0.1, 1, 0.2], [-0.3, 0.2, 2.5]], rtol=0, atol=1e-15)


def test_link_without_inertial_has_an_unknown_mass():
    assert [body.mass for body in load_urdf(EVERY_TYPE).bodies] == [None] * 8


def test_floating_base():
    name = "panda_description/urdf/panda.urdf"
    tree = load_urdf(ROBOTS[name], floating_base=True)
    assert tree.nq == 9 + 7
    assert tree.joints[0].name == "root_joint"
    assert tree.joints[0].parent == "world"
    for check in (check_poses, check_jacobians):
        check(tree, pin.buildModelFromUrdf(ROBOTS[name], pin.JointModelFreeFlyer()))
    assert load_urdf('<robot name="r"><link name="world"/></robot>', floating_base=True).bodies[0].name == "universe"
    with pytest.raises(ModelError, match="every has a floating base already: joint 'basea' on 'base'"):
        load_urdf(EVERY_TYPE, floating_base=True)


def test_text_bytes_and_paths(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_bytes(
        '<?xml version="1.0" encoding="iso-8859-1"?><robot name="Käfer"><link name="a"/></robot>'.encode("latin-1"))
    assert load_urdf(path).name == "Käfer"
    assert load_urdf(str(path)).source == str(path)
    path.write_text('<?xml version="1.0"?><robot name="Käfer"><link name="a"/></robot>', encoding="utf-16")
    assert load_urdf(path).name == "Käfer"
    path.write_bytes(b'<?xml version="1.0" encoding="no-such"?><robot name="r"/>')
    with pytest.raises(ModelError, match=r"r\.urdf, line 1"):
        load_urdf(path)
    for missing in (tmp_path / "none.urdf", str(tmp_path / "none.urdf"), tmp_path, "a\0b"):
        with pytest.raises(ModelError, match="cannot be read"):
            load_urdf(missing)
    for wrong in ("", "\n\n", 3, b"<robot/>"):
        with pytest.raises(ModelError):
            load_urdf(wrong)


# Faults: a good file, one change, and the line and words of the error

GOOD = """<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
  </link>
  <link name="fore"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0 0 0"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/>
    <child link="fore"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="shoulder"/>
  </joint>
</robot>
"""
FAULTS = [
    ("<robot ", "<robots ", 25, "this is not XML: mismatched tag"),
    ("</robot>", "", 26, "this is not XML: no element found, in <robot name=\"arm\"> of line 1"),
    ('value="2"', "value=2", 6, "this is not XML: not well-formed"),
    ('xyz="0 0 1" rpy', 'xyz="0 0 1" xyz="0 0 1" rpy', 12, "this is not XML: duplicate attribute"),
    (' name="arm"', "", 1, "<robot>: the attribute name is missing"),
    (' name="arm"', ' name=" "', 1, "the attribute name is empty"),
    (' name="arm"', ' name="arm" version="2.0"', 1, "the version of URDF is '2.0'"),
    ('<link name="base"/>', "<link/>", 2, "<link>: the attribute name is missing"),
    ('<link name="fore"/>', '<link name="upper"/>', 10, "there is a <link> of this name already, in line 3"),
    ('name="elbow"', 'name="shoulder"', 18, "there is a <joint> of this name already, in line 11"),
    ('type="revolute"', 'type="revolut"', 11, "the joint type 'revolut' is unknown: did you mean 'revolute'?"),
    ('type="revolute"', 'type="ball"', 11, "the joint type 'ball' is unknown: URDF has revolute"),
    (' type="revolute"', "", 11, "the attribute type is missing"),
    ('<parent link="base"/>', "", 11, "there is no <parent> in it"),
    ('<parent link="base"/>', '<parent link="bas"/>', 13,
     "<parent> of <joint name=\"shoulder\">: there is no link 'bas': did you mean"),
    ('<child link="fore"/>', '<child link="hand"/>', 20, "there is no link 'hand'"),
    ('<child link="fore"/>', '<child link="upper"/>', 18,
     "the link 'upper' is already the child of <joint name=\"shoulder\"> in line 11"),
    ('<child link="upper"/>', '<child link="base"/>', 11,
     "the joint is part of a ring of joints that is connected to no root"),
    ('<link name="fore"/>', '<link name="fore"/><link name="spare"/>', 10,
     "there are 2 links that no joint carries, 'base' (line 2), 's"),
    ('<parent link="upper"/>', '<parent link="fore"/>', 18,
     "the joint is part of a ring of joints that is connected to no root"),
    ('<parent link="base"/>', '<parent link="fore"/>', 11,
     "the joint is part of a ring of joints that is connected to no root"),
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 0 0"/>', 21,
     "<axis> of <joint name=\"elbow\">: the axis has no length: 0 0 0"),
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 1"/>', 21, "has 2 entries; it needs 3 numbers"),
    ('<axis xyz="0 1 0"/>', "<axis/>", 21, "the attribute xyz is missing"),
    ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><axis xyz="0 1 0"/>', 21, "has a <axis> already, in line 21"),
    ('xyz="0 0 1" rpy="0 0 0"', 'xyz="0 0 1" rpy="0 0 0 0"', 12, "rpy=\"0 0 0 0\" has 4 entries; it needs 3 numbers"),
    ('xyz="0 0 1" rpy', 'xyz="0 nan 1" rpy', 12, "xyz is 'nan', which is not a finite number"),
    ('xyz="0 0 1" rpy', 'xyz="0 -inf 1" rpy', 12, "xyz is '-inf', which is not a finite number"),
    ('xyz="0 0 1" rpy', 'xyz="0 1e400 1" rpy', 12, "xyz is 1e400, which is absurdly large"),
    ('xyz="0 0 1" rpy', 'xyz="0 1e200 1" rpy', 12, "xyz is 1e200, which is absurdly large"),
    ('xyz="0 0 1" rpy', 'xyz="0 1_0 1" rpy', 12, "xyz is '1_0', which is not a finite number"),
    ('xyz="0 0 1" rpy', 'xyz="0 0x1 1" rpy', 12, "xyz is '0x1', which is not a finite number"),
    ('xyz="0 0 1" rpy', 'xyz="${a} 0 1" rpy', 12, "this is xacro: call the file"),
    ('rpy="0 0 0"/>\n    <parent', 'quat_xyzw="0 0 0 1"/>\n    <parent', 12, 'quat_xyzw needs <robot version="1.1">'),
    ('value="2"', 'value="-2"', 6, "<mass> of <link name=\"upper\">: the mass is negative: -2 kg"),
    ('value="2"', 'value="two"', 6, "value is 'two'"),
    ('<mass value="2"/>', "", 4, "<inertial> of <link name=\"upper\">: there is no <mass> in it"),
    (' iyz="0"', "", 7, "the attribute iyz is missing"),
    ('lower="-1" upper="1"', 'lower="1" upper="-1"', 16, "the limits are crossed: lower 1, upper -1"),
    ('effort="1"', 'effort="much"', 16, "effort is 'much'"),
    ('effort="1"', 'effort="1e999"', 16, "effort is 1e999, which is absurdly large"),
    ('<mimic joint="shoulder"/>', '<mimic joint="elbow"/>', 23, "the joints 'elbow' follow each other in a ring"),
    ('<mimic joint="shoulder"/>', "<mimic/>", 23, "the attribute joint is missing"),
    ('<origin xyz="0 0 1"', '<orgin xyz="0 0 1"', 12, "did you mean <origin>?"),
    ("<limit lower", "<Limit lower", 16, "did you mean <limit>?"),
    ("<limit lower", "<limit lowr", 16, "the attribute lower is missing; is it the one written 'lowr'?"),
    ('<link name="base"/>', '<Link name="base"/>', 2, "did you mean <link>?"),
    ('<link name="base"/>', '<xacro:macro name="base"/>', 2, "this is xacro: call the file"),
    ('<link name="base"/>', '<link name="base"><visual><xacro:box/></visual></link>', 2,
     "this is xacro: call the file"),
    ('<link name="base"/>', '<link name="base">&amp;&nbsp;</link>', 2, "this is not XML: undefined entity"), ]


@pytest.mark.parametrize(("old", "new", "line", "words"), FAULTS,
                         ids=[f"{k}-{fault[3][-40:]}" for k, fault in enumerate(FAULTS)])
def test_fault_is_named_with_its_line(old, new, line, words, tmp_path):
    assert load_urdf(GOOD).nv == 2
    assert old in GOOD
    path = tmp_path / "arm.urdf"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ModelError) as error:
        load_urdf(path)
    assert str(error.value).startswith(f"arm.urdf, line {line}, ")
    assert words in str(error.value)


def test_mimic_that_cannot_be_meant_is_a_warning():
    lost = GOOD.replace('mimic joint="shoulder"', 'mimic joint="sholder"')
    with pytest.warns(
            ModelWarning,
            match=r"line 23, .*<joint name=.elbow.>: .* there is no joint 'sholder': did you mean 'shoulder'\?"):
        assert load_urdf(lost).joints[1].mimic is None
    with pytest.warns(ModelWarning, match="'shoulder' is fixed and cannot be followed"):
        assert load_urdf(GOOD.replace('"revolute"', '"fixed"', 1)).joints[1].mimic is None
    with pytest.warns(ModelWarning, match="a planar joint cannot follow another"):
        assert load_urdf(GOOD.replace('"elbow" type="revolute"', '"elbow" type="planar"')).joints[1].mimic is None
    assert load_urdf(GOOD.replace('"elbow" type="revolute"', '"elbow" type="fixed"')).joints[1].mimic is None


@pytest.mark.parametrize(("good", "absurd", "said"), [
    ('xyz="0 0 1" rpy', 'xyz="0 1e29 1" rpy',
     r"line 12, <origin> of <joint name=.shoulder.>: xyz is 0 1e\+29 1, which is absurdly far"),
    ('xyz="0 0 0.1"', 'xyz="0 0 -5000"',
     r"line 5, <origin> of <link name=.upper.>: xyz is 0 0 -5000, which is absurdly far"),
    ('value="2"', 'value="1e29"',
     r"line 6, <mass> of <link name=.upper.>: the mass is 1e\+29, which is absurdly large"), ])
def test_lengths_and_masses_that_no_robot_has_are_told(good, absurd, said):
    with pytest.warns(ModelWarning, match=said):
        tree = load_urdf(GOOD.replace(good, absurd))
    assert any("absurdly" in str(finding) for finding in report(tree).warnings)


def test_ring_of_followers_and_long_chain():
    links = "".join(f'<link name="l{k}"/>' for k in range(501))
    joint = ('<joint name="j{0}" type="prismatic"><parent link="l{0}"/><child link="l{1}"/>'
             '<axis xyz="1 0 0"/><mimic joint="j{2}"/></joint>')
    chain = "".join(joint.format(k, k + 1, k + 1)
                    for k in range(499)) + joint.format(499, 500, 0).replace('<mimic joint="j0"/>', "")
    with pytest.warns(
            ModelWarning,
            match=r"line 1, <mimic> of <joint name=.j0.>: the joint 'j1' that is followed itself follows another"):
        tree = load_urdf(f'<robot name="r">{links}{chain}</robot>')
    assert len(report(tree).about("mimic chain")) == 498
    assert np.ptp(configurations.random_configuration(tree, seed=0)) == 0
    with pytest.raises(ModelError, match="follow each other in a ring"):
        load_urdf(
            f'<robot name="r">{links}{"".join(joint.format(k, k + 1, (k + 1) % 500) for k in range(500))}</robot>')


def test_entities_are_refused():
    laughs = '<!ENTITY a "ha">' + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">'
                                          for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    for inside in (f"[{laughs}]", '[<!ENTITY i SYSTEM "file:///etc/hostname">]', 'SYSTEM "http://localhost/robot.dtd"'):
        with pytest.raises(ModelError,
                           match="text, line 2, <!DOCTYPE>: document type declarations and entities are not supported"):
            load_urdf(f'<?xml version="1.0"?>\n<!DOCTYPE robot {inside}>\n<robot name="&i;"><link name="a"/></robot>')


def test_huge_and_deep_files(tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="more than 200000 elements"):
        load_urdf('<robot name="r">' + "<a/>" * 200_001)
    with pytest.raises(ModelError, match="no element found"):
        load_urdf('<robot name="r">' + "<a>" * 50_000)
    path = tmp_path / "huge.urdf"
    with open(path, "wb") as file:
        file.truncate(40 * 2**20)
    with pytest.raises(ModelError, match=r"huge\.urdf' is larger than 32 MiB"):
        load_urdf(path)
    monkeypatch.setattr(xml_elements, "MOST_BYTES", 100)
    with pytest.raises(ModelError, match="larger than"):
        load_urdf(GOOD)


def test_other_files_get_a_hint():
    with pytest.raises(ModelError, match="this is MJCF, not URDF: load_mjcf reads it"):
        load_urdf("<mujoco/>")
    with pytest.raises(ModelError, match="a URDF file has <robot> as its root"):
        load_urdf("<sdf/>")


# Faults without a plan


def loads_or_says_why(text):
    """Loads whole, or raises a ModelError with the place; no NumPy warning, no other error.

    Returns whether it loaded.
    """
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            tree = load_urdf(text)
        except ModelError as error:
            assert "line" in str(error) or "cannot be read" in str(error)
            return False
        assert str(report(tree))
        for joint in tree.joints:
            assert np.isfinite(joint.placement).all()
        return True


def test_truncations():
    with open(ROBOTS["double_pendulum_description/urdf/double_pendulum.urdf"]) as file:
        text = file.read()
    assert loads_or_says_why(text)
    assert not any(loads_or_says_why(text[:k]) for k in range(len(text.rstrip())))


VALUES = [
    "nan", "inf", "-inf", "1e400", "-1e308", "1e-400", "1e25", "-1", "0", "0 0 0", "a b c d", "1,5", "0x10", "١", "é",
    "\ud800", "\0", "$(x)", "", " "]
CHARACTERS = ["", "<", ">", '"', "&", "/", "0", "-", "e", " ", "\x00", "\x7f", "ü", "\U0001f916"]


@pytest.mark.parametrize("name", [
    "double_pendulum_description/urdf/double_pendulum.urdf", "bravo7_description/urdf/bravo7_gripper.urdf",
    "panda_description/urdf/panda.urdf"])
def test_mutations(name):
    with open(ROBOTS[name]) as file:
        text = file.read()
    chance, loaded = random.Random(name), 0
    for _ in range(400):
        mutated = text
        for _ in range(chance.randint(1, 3)):
            mutated = chance.choice([_character, _value, _without_line, _line_twice, _lines_swapped, _word])(mutated,
                                                                                                             chance)
        loaded += loads_or_says_why(mutated)
    assert 20 < loaded < 380


def _character(text, chance):
    k = chance.randrange(len(text))
    return text[:k] + chance.choice(CHARACTERS) + text[k + 1 :]


def _value(text, chance):
    """Another value for one attribute."""
    pieces = text.split('"')
    pieces[chance.randrange(len(pieces))] = chance.choice([*VALUES, chance.choice(pieces)])
    return '"'.join(pieces)


def _without_line(text, chance):
    lines = text.splitlines()
    del lines[chance.randrange(len(lines))]
    return "\n".join(lines)


def _line_twice(text, chance):
    lines = text.splitlines()
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return "\n".join(lines)


def _lines_swapped(text, chance):
    lines = text.splitlines()
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def _word(text, chance):
    """One word of the text for another, everywhere: names of elements, attributes, links."""
    words = sorted({
        word
        for word in text.replace('"', " ").replace("<", " ").replace("/", " ").split() if word.isidentifier()})
    return text.replace(chance.choice(words), chance.choice(words))


# To text and back


def same(a, b):
    assert [x.name for x in a.bodies] == [x.name for x in b.bodies]
    assert [(x.name, x.motion, x.limits, x.friction, x.mimic) for x in a.joints] == [
        (x.name, x.motion, x.limits, x.friction, x.mimic) for x in b.joints]
    for x, y in zip(a.bodies, b.bodies, strict=True):
        assert x.mass == y.mass
        np.testing.assert_array_equal(x.center, y.center)
        np.testing.assert_array_equal(x.inertia, y.inertia)


@pytest.mark.parametrize("name", [
    "panda_description/urdf/panda.urdf", "tiago_description/robots/tiago_dual.urdf",
    "talos_data/robots/talos_full_v2.urdf", "bluevolta_description/urdf/bluevolta_bravo7_gripper.urdf"])
def test_text_and_back(name):
    tree = load_urdf(ROBOTS[name])
    text = dump_urdf(tree)
    back, rng = load_urdf(text), np.random.default_rng(1)
    same(tree, back)
    for _ in range(3):
        q = random_configuration(tree, rng)
        for body, pose in body_poses(tree, q).items():
            np.testing.assert_allclose(body_poses(back, q)[body], pose, rtol=0, atol=1e-12)
    check_poses(tree, pin.buildModelFromXML(text), states=1)


def test_every_type_as_text_and_back():
    for tree in (load_urdf(EVERY_TYPE), load_urdf(ROBOTS["panda_description/urdf/panda.urdf"], floating_base=True)):
        same(tree, load_urdf(dump_urdf(tree)))


def test_limits_that_are_missing_survive():
    axis, half = (0.0, 0.0, 1.0), Limits((-np.inf,), (2.0,), (), (7.0,))
    tree = Tree.of(
        'a "quoted" <name> & more', [Body("a"), Body("b", 1.0), Body("c", 0.0)],
        [Joint("j", "a", "b", Revolute(axis), limits=half),
         Joint("k", "b", "c", Revolute(axis, continuous=True))])
    back = load_urdf(dump_urdf(tree))
    same(tree, back)
    assert back.name == tree.name
    assert pin.buildModelFromXML(dump_urdf(tree)).nv == 2


def test_frames_become_links_near_the_singular_pitch_too():
    rng, frames = np.random.default_rng(2), []
    for k, pitch in enumerate([np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1e-5 - np.pi / 2, 0.3]):
        pose = np.eye(4)
        pose[:3, :3] = pin.rpy.rpyToMatrix(rng.uniform(-3, 3), pitch, rng.uniform(-3, 3))
        pose[:3, 3] = rng.normal(size=3)
        frames.append(Frame(f"tool{k}", "b", pose))
    tree = Tree.of("r", [Body("a"), Body("b")], [Joint("j", "a", "b", Prismatic())], frames=frames)
    q = np.array([0.7])
    back = body_poses(load_urdf(dump_urdf(tree)), q)
    for name, pose in frame_poses(tree, q).items():
        np.testing.assert_allclose(back[name], pose, rtol=0, atol=1e-12)


def test_what_urdf_cannot_hold():
    bodies = [Body("a"), Body("b", 1.0)]
    for motion, word in ((Helical(pitch=0.1), "helical"), (Universal(), "universal"), (Spherical(), "spherical")):
        with pytest.raises(UnsupportedError, match=rf"no form for these joints of r: 'j' \({word}\)"):
            dump_urdf(Tree.of("r", bodies, [Joint("j", "a", "b", motion)]), leave_out=True)
    odd = Tree.of("r", bodies, [Joint("j", "a", "b", Revolute(), rotor=Rotor(1e-4, 100.0))], gravity=(0, 0, -1.62),
                  loops=[Loop("ring", "a", "b")])
    with pytest.raises(UnsupportedError,
                       match=r"the loop 'ring'; the rotor of joint 'j'; the gravity \[0.0, 0.0, -1.62\]"):
        dump_urdf(odd)
    limited = [(Planar(), Limits(lower=(-1.0,) * 3, upper=(1.0,) * 3)),
               (Revolute(continuous=True), Limits((-1.0,), (1.0,))), (Floating(), Limits(velocity=(1.0,) * 6))]
    for motion, limits in limited:
        with pytest.raises(UnsupportedError, match=rf"the limits of joint 'j', which is {motion.word}"):
            dump_urdf(Tree.of("r", bodies, [Joint("j", "a", "b", motion, limits=limits)]))
    with pytest.raises(UnsupportedError, match="centre or inertia of body 'b', whose mass is unknown"):
        dump_urdf(Tree.of("r", [Body("a"), Body("b", None, (0, 0, 1))], [Joint("j", "a", "b", Revolute())]))
    assert dump_urdf(
        Tree.of("r", bodies, [Joint("j", "a", "b", Revolute(continuous=True), limits=Limits(velocity=(2.0,)))]))
    text = dump_urdf(odd, leave_out=True)
    assert "<!-- not in URDF: the rotor of joint 'j' -->" in text
    assert load_urdf(text).nv == 1
    with pytest.raises(UnsupportedError, match="frame 'b' of r becomes a link"):
        dump_urdf(Tree.of("r", bodies, [Joint("j", "a", "b", Revolute())], frames=[Frame("b", "a")]))


def test_sensors_and_transmissions_that_are_not_read_are_named():
    found = report(load_urdf('<robot name="r"><link name="a"/><gazebo reference="a"><sensor name="eye"/></gazebo>'
                             '<transmission name="t1"/><transmission name="t2"/></robot>'))
    assert found.about("sensors left out") == ("eye",) and found.about("transmissions left out") == ("t1", "t2")
    assert [str(fact) for fact in found.facts] == ["1 sensor is left out: 'eye'",
                                                   "2 transmissions are left out: 't1', 't2'"]
