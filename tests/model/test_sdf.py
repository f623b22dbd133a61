"""SDF files: robots whose link poses Pinocchio wrote, and small models with values by hand."""

from importlib.metadata import files

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import ModelError, ModelWarning
from cayley.model.formats.sdf import load_sdf

PATHS = {file.name: str(file.locate()) for file in files("example-robot-data") if file.suffix == ".urdf"}
INERTIAL = """<inertial><pose>{}</pose><mass>{}</mass><inertia><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz><ixy>{}</ixy>
<ixz>{}</ixz><iyz>{}</iyz></inertia></inertial>"""
BODY = INERTIAL.format("0.1 0 0 0 0 0", 2, 0.01, 0.02, 0.03, 0, 0, 0)


def words(values):
    return " ".join(repr(float(value)) for value in np.ravel(values))


def pose_words(placement):
    return f"{words(placement.translation)} {words(pin.rpy.matrixToRpy(placement.rotation))}"


def sdf_of(model, q):
    """A robot of revolute joints as SDF, each link where Pinocchio has it in the model at a configuration."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    parts = []
    for k in range(1, model.njoints):
        inertia = model.inertias[k]
        I = inertia.inertia
        body = INERTIAL.format(f"{words(inertia.lever)} 0 0 0", inertia.mass, *(
            repr(float(x)) for x in (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])))
        parts.append(f'<link name="body{k}"><pose>{pose_words(data.oMi[k])}</pose>{body}</link>')
        parent = "world" if model.parents[k] == 0 else f"body{model.parents[k]}"
        axis = {"RX": "1 0 0", "RY": "0 1 0", "RZ": "0 0 1"}[model.joints[k].shortname()[-2:]]
        parts.append(f'<joint name="{model.names[k]}" type="revolute"><parent>{parent}</parent><child>body{k}</child>'
                     f"<axis><xyz>{axis}</xyz></axis></joint>")
    return f'<sdf version="1.7"><model name="arm">{"".join(parts)}</model></sdf>'


@pytest.mark.parametrize("name", ["ur5_robot.urdf", "xarm7.urdf"])
def test_an_arm_agrees_with_pinocchio(name):
    model = pin.buildModelFromUrdf(PATHS[name])
    arm = cy.Mechanism(load_sdf(sdf_of(model, pin.neutral(model))))
    assert arm.joint_names == tuple(model.names)[1:]
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, model.nv))
    expected = pin.rnea(model, model.createData(), q, qd, qdd)
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd), expected, rtol=1e-9, atol=1e-9)


def read(inside, version="1.9", **options):
    return cy.Mechanism(load_sdf(f'<sdf version="{version}"><model name="m">{inside}</model></sdf>', **options))


def link(name, pose="", more=""):
    return f'<link name="{name}">{pose}{BODY}{more}</link>'


def joint(name, parent, child, kind="revolute", pose="", axis="<axis><xyz>0 0 1</xyz></axis>"):
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{pose}{axis}</joint>'


def test_poses_are_relative_to_what_they_say():
    arm = read(link("a", "<pose>1 0 0 0 0 1.5708</pose>") + link("b", '<pose relative_to="j">0 2 0 0 0 0</pose>')
               + '<frame name="f" attached_to="b"><pose relative_to="a">0 0 3 0 0 0</pose></frame>'
               + '<frame name="g" attached_to="f"><pose degrees="true">0 0 1 90 0 0</pose></frame>'
               + joint("fix", "world", "a", "fixed", axis="")
               + joint("j", "a", "b", pose='<pose relative_to="a">0.5 0 0 0 0 0</pose>'), exact_angles=True)
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(arm.pose([0.0], "a")[:3, 3], [1, 0, 0], atol=1e-15)
    np.testing.assert_array_equal(arm.pose([0.0], "a")[:3, :3], R)
    np.testing.assert_allclose(arm.pose([0.0], "b")[:3, 3], [1, 0, 0] + R @ [0.5, 2, 0], atol=1e-15)
    np.testing.assert_allclose(arm.pose([0.0], "f")[:3, 3], [1, 0, 3], atol=1e-15)
    np.testing.assert_allclose(arm.pose([0.0], "g")[:3, :3], R @ [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-15)
    turned = arm.pose([np.pi / 2], "b")  # about the joint's frame, at (0.5, 0, 0) of a
    np.testing.assert_allclose(turned[:3, 3], [1, 0, 0] + R @ [0.5 - 2, 0, 0], atol=1e-15)
    assert arm.tree.body_names == ("world", "a", "b/j", "b") and arm.joint_names == ("j",)
    assert arm.bodies[-1].mass == 2.0 and arm.summary().about("exact angles") == ("1.5708",)


def test_quaternions_and_axes_in_other_frames():
    turned = '<pose rotation_format="quat_xyzw">0 0 0 0 0 0.7071067811865476 0.7071067811865476</pose>'
    for version, axis, expected in (
            ("1.9", "<axis><xyz>1 0 0</xyz></axis>", (1, 0, 0)),
            ("1.9", '<axis><xyz expressed_in="__model__">1 0 0</xyz></axis>', (0, -1, 0)),
            ("1.9", '<axis><xyz expressed_in="base">0 3 0</xyz></axis>', (1, 0, 0)),
            ("1.6", "<axis><xyz>1 0 0</xyz><use_parent_model_frame>true</use_parent_model_frame></axis>", (0, -1, 0)),
            ("1.6", "<axis><xyz>1 0 0</xyz></axis>", (1, 0, 0)), ("1.4", "<axis><xyz>1 0 0</xyz></axis>", (0, -1, 0)),
            ("1.9", "", (0, 0, 1))):
        arm = read(link("base") + link("a", turned) + joint("j", "base", "a", axis=axis), version)
        np.testing.assert_allclose(arm.joints[0].motion.axis, expected, atol=1e-15)


def test_limits_friction_springs_and_mimic_joints():
    axis = """<axis><xyz>0 1 0</xyz>
<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>
<dynamics><damping>0.5</damping><friction>0.25</friction><spring_stiffness>100</spring_stiffness>
<spring_reference>0.1</spring_reference></dynamics></axis>"""
    follows = """<axis><mimic joint="j"><multiplier>2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic>
<limit><lower>-1e16</lower><upper>inf</upper><effort>-1</effort><velocity>-1</velocity></limit></axis>"""
    arm = read(link("base") + link("a") + link("b") + joint("j", "base", "a", axis=axis)
               + joint("k", "a", "b", "prismatic", axis=follows))
    first, second = arm.joints
    assert (first.limits.lower, first.limits.upper, first.limits.effort, first.limits.velocity) == (
        (-1.0,), (2.0,), (30.0,), (4.0,))
    assert (first.friction.viscous, first.friction.coulomb) == (0.5, 0.25)
    assert (first.spring.stiffness, first.spring.rest) == (100.0, 0.1)
    assert second.limits.lower == (-np.inf,) and second.limits.effort == (np.inf,)
    assert (second.mimic.joint, second.mimic.multiplier) == ("j", 2.0) and second.mimic.offset == pytest.approx(0.1)


def test_every_kind_of_joint_and_those_that_are_not_read():
    kinds = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed",
             "ball": "spherical", "universal": "universal"}
    for kind, word in kinds.items():
        both = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
        arm = read(link("base") + link("a") + joint("j", "base", "a", kind, axis=both))
        assert arm.joints[0].motion.word == word
    for kind in ("screw", "gearbox", "revolute2"):
        with pytest.raises(ModelError, match=rf"line \d+, .*joints of the type '{kind}' are not read"):
            read(link("base") + link("a") + joint("j", "base", "a", kind))
    with pytest.raises(ModelError, match="'revolut' is unknown: did you mean 'revolute'"):
        read(link("base") + link("a") + joint("j", "base", "a", "revolut"))


def test_a_link_that_two_joints_carry_closes_a_loop():
    """A parallelogram of links 1 m and 0.5 m long."""
    bars = (link("crank") + link("coupler", "<pose>0 0.5 0 0 0 0</pose>") + link("rocker", "<pose>1 0 0 0 0 0</pose>")
            + joint("a", "world", "crank") + joint("b", "crank", "coupler") + joint("c", "world", "rocker")
            + joint("d", "coupler", "rocker", pose="<pose>0 0.5 0 0 0 0</pose>"))
    bar = read(bars)
    assert [loop.name for loop in bar.loops] == ["d"] and bar.loops.mobility == 1
    q = np.array([0.7, -0.7, 0.7])
    np.testing.assert_allclose(bar.loops.residual(q), 0.0, atol=1e-14)
    assert np.abs(bar.loops.residual([0.7, -0.7, 0.2])).max() > 0.1


def test_nested_models_and_includes_have_names_of_their_own(tmp_path, monkeypatch):
    inner = (link("a") + link("b", "<pose>0 0 1 0 0 0</pose>") + joint("j", "a", "b")
             + '<frame name="tip" attached_to="b"/>')
    nested = read(link("base") + f'<model name="arm"><pose>1 0 0 0 0 0</pose>{inner}</model>'
                  + joint("mount", "base", "arm::a"))
    assert nested.joint_names == ("mount", "arm::j") and "arm::tip" in nested.frame_names
    np.testing.assert_allclose(nested.pose([0.0, 0.0], "arm::tip")[:3, 3], [1, 0, 1], atol=1e-15)
    np.testing.assert_allclose(nested.pose([np.pi / 2, 0.0], "arm::b")[:3, 3], [1, 0, 1], atol=1e-15)
    whole = (link("base") + "<include><uri>model://two_links</uri><name>arm</name><pose>1 0 0 0 0 0</pose></include>"
             + joint("mount", "base", "arm::a"))
    (tmp_path / "models" / "two_links").mkdir(parents=True)
    (tmp_path / "models" / "two_links" / "model.sdf").write_text(
        f'<sdf version="1.9"><model name="other"><pose>9 9 9 0 0 0</pose>{inner}</model></sdf>')
    path = tmp_path / "robot.sdf"
    path.write_text(f'<sdf version="1.9"><model name="m">{whole}</model></sdf>')
    with pytest.raises(ModelError, match=r"robot\.sdf, line 2, <include>.*'model://two_links/model\.sdf' is not there"):
        cy.load(path)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    included = cy.load(path)
    q = [0.4, 0.6]
    np.testing.assert_allclose(included.pose(q, "arm::tip"), nested.pose(q, "arm::tip"), atol=1e-15)
    monkeypatch.delenv("GZ_SIM_RESOURCE_PATH")
    (tmp_path / "models" / "two_links" / "model.config").write_text("<model/>")
    path.rename(tmp_path / "models" / "robot.sdf")
    assert cy.load(tmp_path / "models" / "robot.sdf").nv == 2
    for wrong, said in (('<include merge="true"><uri>model://two_links</uri></include>', "merged are not read"),
                        ("<include><uri>https://there/model</uri></include>", "nothing is fetched"),
                        ("<include><uri>model://two_links</uri><placement_frame>a</placement_frame></include>",
                         "placement_frame is not supported")):
        (tmp_path / "models" / "robot.sdf").write_text(
            f'<sdf version="1.9"><model name="m">{link("base")}{wrong}</model></sdf>')
        with pytest.raises(ModelError, match=said):
            cy.load(tmp_path / "models" / "robot.sdf")


def test_gravity_is_that_of_the_world_in_the_axes_of_the_root():
    inside = link("a", "<pose>0 0 0 0 1.5707963267948966 0</pose>") + link("b") + joint("j", "a", "b")
    world = '<sdf version="1.9"><world name="w"><gravity>0 0 -1.62</gravity><model name="m">{}</model></world></sdf>'
    np.testing.assert_allclose(load_sdf(world.format(inside)).gravity, [1.62, 0, 0], atol=1e-15)
    held = load_sdf(world.format("<pose>0 0 2 0 0 0</pose>" + inside + joint("hold", "world", "a", "fixed", axis="")))
    np.testing.assert_array_equal(held.gravity, [0, 0, -1.62])
    assert held.joints[0].placement[2, 3] == 2.0
    assert cy.Mechanism(held).summary().about("held by nothing") == ()
    assert cy.Mechanism(load_sdf(world.format(inside))).summary().about("held by nothing") == ("a",)


def test_a_floating_base_and_the_options_of_load(tmp_path):
    path = tmp_path / "m.sdf"
    path.write_text(f'<sdf version="1.9"><model name="m">{link("a", "<pose>0 0 0 1.5708 0 0</pose>")}{link("b")}'
                    f'{joint("j", "a", "b")}</model></sdf>')
    assert cy.load(path).nq == 1 and cy.load(path, floating_base=True, gravity=[0, 0, -1.0]).nq == 8
    assert np.isin(cy.load(path).joints[0].placement[:3, :3], (-1, 0, 1)).all()
    assert not np.isin(cy.load(path, exact_angles=False).joints[0].placement[:3, :3], (-1, 0, 1)).all()


def test_the_mass_of_the_format_is_told():
    with pytest.warns(ModelWarning, match=r"<link name=\"a\">: there is no <inertial>; the default of SDF, 1 kg"):
        arm = read('<link name="a"/>' + link("b") + joint("j", "a", "b"))
    assert arm.bodies[0].mass == 1.0 and arm.summary().about("mass of the format") == ("a",)
    sensed = read(link("a", more='<sensor name="imu" type="imu"/>') + link("b") + joint("j", "a", "b"))
    assert sensed.summary().about("sensors left out") == ("imu",)


@pytest.mark.parametrize(("inside", "said"), [
    ("", "there is no <link> in it"),
    (link("a") + link("a"), "there is a <link> of this name already"),
    (link("a") + link("b"), "no joint carries the links 'a', 'b'"),
    (link("a") + joint("j", "a", "b"), "no link, joint, frame or model 'b'"),
    (link("a") + joint("j", "world", "aa"), "no link, joint, frame or model 'aa': did you mean 'a'"),
    (link("a") + joint("j", "a", "world"), "the child of a joint is the world"),
    (link("a") + '<frame name="f" attached_to="a"/>' + joint("j", "f", "a"), "are both on the link 'a'"),
    (link("a") + link("b") + joint("j", "a", "b") + joint("k", "b", "a"), "form a ring that is connected to no root"),
    (link("a", '<pose relative_to="f"/>') + '<frame name="f"><pose relative_to="a"/></frame>' + link("b")
     + joint("j", "a", "b"), "relative to each other in a ring"),
    (link("a", '<pose relative_to="f">0 0 0 0 0 0</pose>') + link("b") + joint("j", "a", "b")
     + '<frame name="f"><pose relative_to="a">0 0 0 0 0 0</pose></frame>', "relative to each other in a ring"),
    (link("a", "<pose>0 0 0 0 0</pose>"), "has 5 entries; it needs 6"),
    (link("a", "<pose>0 0 x 0 0 0</pose>"), "is not a finite number"),
    (link("world"), "is one that SDF keeps for itself"),
    (link("a::b"), "is one that SDF keeps for itself"),
    (link("a") + link("b") + joint("j", "a", "b", axis="<axis><xyz>0 0 0</xyz></axis>"), "the axis has no length"),
    (link("a") + link("b") + joint("j", "a", "b", axis="<axis><limit><lower>2</lower><upper>1</upper></limit></axis>"),
     "the limits are crossed"),
    (link("a").replace("<mass>2</mass>", "<mass>-2</mass>"), "the mass is negative"),
])
def test_what_is_wrong_is_named_with_its_line(inside, said):
    with pytest.raises(ModelError, match=said) as error:
        read(inside)
    assert str(error.value).startswith("text, line ")


@pytest.mark.parametrize(("text", "said"), [
    ("<robot/>", "an SDF file has <sdf> as its root"), ("<sdf/>", "the attribute version is missing"),
    ('<sdf version="one"/>', "it is like 1.9"),
    ('<sdf version="1.9"/>', "a mechanism is one model; here there are: none"),
    ('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>', "here there are: 'a', 'b'"),
    ('<sdf version="1.9"><model name="a" placement_frame="f"><link name="l"/></model></sdf>', "placement_frame"),
])
def test_files_that_are_no_single_model_are_refused(text, said):
    with pytest.raises(ModelError, match=said):
        load_sdf(text)


def test_shapes_are_seen(tmp_path):
    looks = """<visual name="v"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
<material><diffuse>1 0.5 0 1</diffuse></material></visual><visual name="m"><geometry><mesh><uri>none.stl</uri></mesh>
</geometry></visual><visual name="p"><geometry><plane/></geometry></visual>
<collision name="c"><geometry><cylinder><radius>0.1</radius><length>0.5</length></cylinder></geometry></collision>"""
    path = tmp_path / "m.sdf"
    path.write_text(f'<sdf version="1.9"><model name="m">{link("a", more=looks)}{link("b")}{joint("j", "a", "b")}'
                    "</model></sdf>")
    shapes = cy.load(path).shapes
    box, = shapes.of("visual")
    assert (box.body, box.kind.size, box.pose[2, 3], box.color) == ("a", (1.0, 2.0, 3.0), 1.0, (1.0, 0.5, 0.0))
    assert len(shapes.of("collision")) == 1 and len(shapes.missing) == 2
    assert "m.sdf, line 3" in shapes.missing[0] and "'none.stl' is not there" in shapes.missing[0]
