"""Configurations that have names, from every place that has them, and the neutral one that a robot can take."""

from dataclasses import replace
from importlib.metadata import files

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import ModelError, UnreachableError
from cayley.model.catalogue import catalogue_names
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.toml_text import dump_toml
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint, Limits

PATHS = {file.name: str(file.locate()) for file in files("example-robot-data") if file.suffix in (".urdf", ".srdf")}
READY = [0, -np.pi / 4, 0, -3 * np.pi / 4, 0, np.pi / 2, np.pi / 4]
KEYS = """<mujoco model="arm"><worldbody><body name="rod"><joint name="a" axis="0 1 0"/><geom size="0.1" mass="1"/>
<body name="ball" pos="0 0 1"><joint name="b" type="ball"/><geom size="0.1" mass="1"/></body></body></worldbody>
<keyframe><key name="home" qpos="0.5 0 1 0 0"/><key qpos="-1 1 0 0 0"/></keyframe></mujoco>"""


def test_the_catalogue_has_them():
    arm = cy.load("panda")
    assert list(arm.configurations) == ["ready"] and "ready" in arm.configurations and len(arm.configurations) == 1
    np.testing.assert_allclose(arm.configurations["ready"], READY, atol=1e-15)
    for name in catalogue_names():
        robot = cy.load(name)
        for q in robot.configurations.values():
            robot.configurations.check(q)
            np.testing.assert_allclose(robot.loops.residual(q), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["panda.urdf", "xarm7.urdf", "go2.urdf", "talos_reduced.urdf"])
@pytest.mark.filterwarnings("ignore::cayley.errors.ModelWarning")
def test_srdf_beside_urdf_gives_what_pinocchio_reads(name):
    floating = name in ("go2.urdf", "talos_reduced.urdf")
    srdf = PATHS["talos.srdf" if "talos" in name else name.replace("urdf", "srdf")]
    model = pin.buildModelFromUrdf(PATHS[name], *([pin.JointModelFreeFlyer()] if floating else []))
    pin.loadReferenceConfigurations(model, srdf, False)
    robot = cy.load(PATHS[name], floating_base=floating)
    theirs = dict(model.referenceConfigurations.todict()) if hasattr(model.referenceConfigurations, "todict") else {
        each.key(): each.data() for each in model.referenceConfigurations}
    assert set(robot.configurations) == set(theirs)
    for key, q in theirs.items():
        ours = robot.configurations[key]
        for joint, place in zip(robot.joints, robot.tree.q_slices, strict=True):
            if not joint.motion.nq or joint.mimic is not None:
                continue
            own = model.joints[model.getJointId(joint.name)]
            expected = q[own.idx_q:own.idx_q + own.nq]
            if own.nq == 7:
                expected = expected[[0, 1, 2, 6, 3, 4, 5]]
            if own.nq == joint.motion.nq:
                np.testing.assert_allclose(ours[place], expected, atol=1e-12)


def test_srdf_that_names_other_joints_or_is_broken_is_told_and_the_robot_is_read(tmp_path):
    cy.load("planar2r").save(tmp_path / "arm.urdf", leave_out=True)
    (tmp_path / "arm.srdf").write_text('<robot name="x"><group_state name="home" group="g"><joint name="joint1" '
                                       'value="0.5"/><joint name="elbow" value="1"/></group_state></robot>')
    arm = cy.load(tmp_path / "arm.urdf")
    assert arm.configurations["home"].tolist() == [0.5, 0.0] and arm.summary().about("configurations") == ("elbow",)
    (tmp_path / "arm.srdf").write_text("<robot><group_state/></robot>")
    arm = cy.load(tmp_path / "arm.urdf")
    assert len(arm.configurations) == 0 and "its configurations are not read: arm.srdf, line 1" in str(arm.summary())


def test_keyframes_of_mjcf(tmp_path):
    (tmp_path / "arm.xml").write_text(KEYS)
    arm = cy.load(tmp_path / "arm.xml")
    assert list(arm.configurations) == ["home", "key1"]
    np.testing.assert_array_equal(arm.configurations["home"], [0.5, 0, 1, 0, 0])
    arm.save(tmp_path / "again.xml", leave_out=True)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))
    np.testing.assert_array_equal(model.key("key1").qpos, [-1, 1, 0, 0, 0])


def test_toml_keeps_them_to_the_last_bit():
    tree = cy.load("panda_hand").variants.with_configuration("a name", {"panda_joint4": -1 / 3}).tree
    back = cy.Mechanism(load_toml(dump_toml(tree)))
    assert list(back.configurations) == ["ready", "a name"]
    for key, q in cy.Mechanism(tree).configurations.items():
        np.testing.assert_array_equal(back.configurations[key], q)
    text = dump_toml(cy.load("planar2r").tree) + 'bent = ["pi/2", "30 deg"]\nfolded = {joint2 = VALUE}\n'
    made = cy.Mechanism(load_toml(text.replace("VALUE", '"pi"')))
    assert list(made.configurations) == ["ready", "bent", "folded"]
    np.testing.assert_allclose(made.configurations["bent"], [np.pi / 2, np.pi / 6])
    np.testing.assert_array_equal(made.configurations["folded"], [0.0, np.pi])
    with pytest.raises(ModelError, match=r"line \d+, configurations\.folded.*2 coordinates|has 1 coordinates"):
        load_toml(text.replace("VALUE", "[1, 2]"))
    with pytest.raises(ModelError, match=r"line \d+, configurations\.folded.*no joint 'joint3'"):
        load_toml(text.replace("joint2 = VALUE", "joint3 = 1"))


def test_unknown_names_and_wrong_values_are_refused():
    arm = cy.load("panda")
    with pytest.raises(ModelError, match="panda has no configuration 'redy': did you mean 'ready'"):
        arm.configurations["redy"]
    with pytest.raises(KeyError):
        arm.configurations["home"]
    assert arm.configurations.get("home") is None
    for wrong in ([0.0] * 6, {"panda_joint1": [1.0, 2.0]}, {"panda_joint9": 1.0}, {"panda_joint1": "a"}):
        with pytest.raises(ModelError):
            arm.variants.with_configuration("home", wrong)
    with pytest.raises(ValueError, match="not finite"):
        arm.variants.with_configuration("home", [np.nan] * 7)


def test_a_floating_base_and_mimic_joints_have_their_places():
    robot = cy.load("panda_hand", floating_base=True)
    q = robot.configurations["ready"]
    assert q.shape == (16,)
    np.testing.assert_array_equal(q[:7], [0, 0, 0, 1, 0, 0, 0])
    hand = cy.load("panda_hand").variants.with_configuration("open", {"panda_finger_joint1": 0.03})
    np.testing.assert_array_equal(hand.configurations["open"][7:], [0.03, 0.03])


@pytest.mark.parametrize("name", catalogue_names())
def test_the_neutral_one_within_limits_can_be_taken(name):
    robot = cy.load(name)
    q = robot.configurations.neutral_within_limits
    robot.configurations.check(q)
    np.testing.assert_allclose(robot.loops.residual(q), 0.0, atol=1e-9)
    if (robot.neutral >= robot.lower).all() and (robot.neutral <= robot.upper).all():
        np.testing.assert_allclose(q, robot.neutral, atol=1e-9)


def test_one_sided_limits_and_none_that_closes():
    arm = cy.Mechanism.of("arm", [Body("a"), Body("b")], [Joint("j", "a", "b", Revolute(), limits=Limits((1.0,)))])
    assert arm.configurations.neutral_within_limits.tolist() == [1.0] and arm.neutral.tolist() == [0.0]
    bar = cy.load("four_bar")
    stuck = bar.variants.with_joints(replace(bar.joints[0], limits=Limits((1.0,), (1.1,))),
                            replace(bar.joints[2], limits=Limits((-1.1,), (-1.0,))))
    with pytest.raises(UnreachableError, match="no configuration within the limits of four_bar"):
        _ = stuck.configurations.neutral_within_limits


def test_a_file_has_the_coordinates_of_the_joints_that_are_left(tmp_path):
    held = cy.load("panda").locked({"panda_joint1": 0.0})
    held.save(tmp_path / "held.toml")
    np.testing.assert_array_equal(cy.load(tmp_path / "held.toml").configurations["ready"], READY[1:])
    cy.load(PATHS["go2.urdf"]).save(tmp_path / "go2.toml")
    assert set(cy.load(tmp_path / "go2.toml").configurations) == set(cy.load(PATHS["go2.urdf"]).configurations)
