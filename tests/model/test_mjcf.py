"""MJCF against MuJoCo: poses of bodies and sites, masses, inertias, loops, on random configurations; what is left out
is said.
"""

import builtins
from pathlib import Path

import mujoco
import numpy as np
import pytest

from cayley.errors import ModelError
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.joint_kinds import JointKind, Spherical
from cayley.model.masses import check_has_masses
from cayley.model.parts import Limits, Mimic
from cayley.model.report import ModelWarning, report
from model.plain_forward import body_poses, frame_poses, random_configuration

TEST_MODEL = Path(mujoco.__file__).parent / "testdata" / "model.xml"

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")


@pytest.fixture(autouse=True)
def no_log_is_written(tmp_path, monkeypatch):
    """MuJoCo writes a log into the current folder where it is surprised."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


def model_text(bodies, more=""):
    return f'<mujoco model="small"><compiler angle="radian"/><default><geom size="0.1 0.2 0.3" type="box" mass="1.5"/></default>' \
           f"<worldbody>{bodies}</worldbody>{more}</mujoco>"


MODELS = {
    "hinge": '<body name="a" pos="1 2 3" euler="1 2 3"><joint axis="1 2 -1"/><geom pos="0.1 0 0.4"/><site name="s" '
    'pos="1 0 0"/></body>',
    "hinge off the "
    "origin": '<body name="a" pos="1 2 3" quat="1 1 0 0.3"><joint pos="0.3 -0.2 0.7" axis="1 2 -1"/><geom/></body>',
    "slide": '<body name="a" pos="1 2 3" quat="1 1 0 0.3"><joint type="slide" pos="5 5 5" axis="0 3 4"/><geom/></body>',
    "ball": '<body name="a" pos="1 2 3" quat="1 1 0 0.3"><joint type="ball"/><geom/></body>',
    "ball off the "
    "origin": '<body name="a" pos="1 2 3" quat="1 1 0 0.3"><joint type="ball" pos="0.3 -0.2 0.7"/><geom/></body>',
    "free": '<body name="a" pos="1 2 3" quat="1 1 0 0.3"><freejoint/><geom/><site name="s" pos="0 0 1" euler="1 2 '
    '3"/></body>',
    "references": """<body name="a" pos="1 0 0" euler="0.3 0.2 0.1"><joint ref="0.4" axis="1 1 0" pos="0.1 0 0"/><geom/>
        <body name="b" pos="0 1 0"><joint type="slide" ref="-0.3" axis="0 0.6 0.8"/><geom/></body></body>""",
    "several joints": """<body name="a" pos="1 2 3" quat="1 1 0 0.3"><joint type="slide" axis="1 0 0"/>
        <joint axis="0 1 0" pos="0.1 0.2 0.3" ref="0.2"/><joint axis="0 1 1" pos="-0.5 0.2 0.3"/>
        <joint type="ball" pos="0 0 -0.4"/><geom pos="0.1 0.2 0"/>
        <body name="b" pos="0 0 1"><joint axis="1 0 0" pos="0 0 0.5"/><joint axis="0 1 0"/><geom/></body></body>""",
    "fixed bodies": """<body name="a" pos="1 2 3" quat="1 1 0 0.3"><geom/><body name="b" pos="0 0 1"><joint axis="0 1 0"/><geom/>
        <body name="c" pos="0 1 0" euler="1 0 0"><geom mass="0.3"/></body></body></body>""",
    "branches": """<body name="a"><freejoint/><geom/><body name="b" pos="0 0 1"><joint axis="0 1 0" pos="0 0 0.1"/><geom/></body>
        <body name="c" pos="0 1 0"><joint type="ball"/><geom/><body name="d"><joint axis="1 0 0"/><geom/></body></body></body>
        <body name="e" pos="-1 0 0"><joint type="slide"/><geom/></body>""",
    "inertial "
    "frame": """<body name="a"><inertial pos="0.1 0.2 0.3" quat="1 0.2 0.3 0.4" mass="2" diaginertia="0.3 0.2 0.15"/>
        <joint axis="1 0 0"/></body>""",
    "inertial "
    "products": """<body name="a"><inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.3 0.2 0.15 0.01 -0.02 0.03"/>
        <joint axis="1 0 0"/></body>""",
    "no names": "<body><joint/><geom/><site/><body><joint/><geom/></body><body><joint "
                "type='ball'/><geom/></body></body>",
    "names that "
    "clash": """<body name="a"><joint name="x" pos="1 0 0"/><joint name="a/fixed" pos="1 0 0" axis="1 0 0"/><geom/>
        <site name="a"/>
        <body name="a/x"><joint name="joint4"/><geom/></body><body name="a/a/fixed"><joint pos="1 0 0"/><geom/>
        <site name="a/site" pos="1 0 0"/></body></body>""", }


def check_against_mujoco(model, tree, *, seed=0, states=5, atol=1e-10):
    """Every body and site: pose; every body: mass, centre, inertia, in the axes of the world."""
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    assert tree.nq == model.nq
    assert tree.nv == model.nv
    assert sum(body.mass for body in tree.bodies) == pytest.approx(model.body_mass.sum(), rel=1e-13)
    own = [body for body in tree.bodies if _is_of(model, body.name)]
    assert len(own) == model.nbody
    assert sum(body.mass for body in tree.bodies if body not in own) == 0.0
    sites = list(tree.frames)[: model.nsite]
    for _ in range(states):
        q = random_configuration(tree, rng)
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        bodies, frames = body_poses(tree, q), frame_poses(tree, q)
        for k, body in enumerate(own):
            pose = bodies[body.name]
            np.testing.assert_allclose(pose[:3, :3], data.xmat[k].reshape(3, 3), rtol=0, atol=atol)
            np.testing.assert_allclose(pose[:3, 3], data.xpos[k], rtol=0, atol=atol)
            np.testing.assert_allclose(pose[:3, :3] @ body.center + pose[:3, 3], data.xipos[k], rtol=0, atol=atol)
            R = data.ximat[k].reshape(3, 3)
            np.testing.assert_allclose(pose[:3, :3] @ body.inertia @ pose[:3, :3].T,
                                       R @ np.diag(model.body_inertia[k]) @ R.T, rtol=0, atol=atol)
        for k, site in enumerate(sites):
            np.testing.assert_allclose(frames[site.name][:3, :3], data.site_xmat[k].reshape(3, 3), rtol=0, atol=atol)
            np.testing.assert_allclose(frames[site.name][:3, 3], data.site_xpos[k], rtol=0, atol=atol)


def _is_of(model, name):
    """Whether the body is one of the file's; those without a name are called by their number."""
    if name.startswith("body") and name[4:].isdigit():
        return True
    return mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) >= 0


@pytest.mark.parametrize("name", MODELS)
def test_small_models_agree_with_mujoco(name):
    text = model_text(MODELS[name])
    tree = load_mjcf(text)
    check_against_mujoco(mujoco.MjModel.from_xml_string(text), tree)
    check_has_masses(tree)
    assert str(report(tree))


def test_model_of_the_package_agrees_with_mujoco():
    model, tree = mujoco.MjModel.from_xml_path(str(TEST_MODEL)), load_mjcf(TEST_MODEL)
    check_against_mujoco(model, tree)
    assert tree.source == str(TEST_MODEL)
    check_against_mujoco(model, load_mjcf(model))


def test_random_models_agree_with_mujoco():
    rng = np.random.default_rng(3)
    for seed in range(12):
        text = model_text(_random_body(rng, depth=4))
        check_against_mujoco(mujoco.MjModel.from_xml_string(text), load_mjcf(text), seed=seed, states=2)


def _random_body(rng, depth):
    def words(count):
        return " ".join(map(repr, rng.normal(size=count).tolist()))

    kinds = rng.choice(["hinge", "slide"], rng.integers(0, 4)).tolist()
    kinds.append(str(rng.choice(["ball", "hinge"])))  # MuJoCo wants a ball last, and at most 6 velocities in one body
    joints = "".join(f'<joint type="{kind}" pos="{words(3)}"'
                     + ("/>" if kind == "ball" else f' axis="{words(3)}" ref="{words(1)}"/>') for kind in kinds)
    inside = "".join(_random_body(rng, depth - 1) for _ in range(rng.integers(0, 3))) if depth else ""
    return (f'<body pos="{words(3)}" quat="{words(4)}">{joints}<geom pos="{words(3)}" quat="{words(4)}"/>'
            f'<site pos="{words(3)}" quat="{words(4)}"/>{inside}</body>')


def test_data_of_joints():
    tree = load_mjcf(model_text("""<body><joint name="j" range="-1 2" damping="0.5" frictionloss="0.25" armature="0.125"
        actuatorfrcrange="-7 7"/><geom/><body><joint name="k" type="slide"/><geom/></body>
        <body><joint name="turns"/><geom/></body></body>""",
        '<option gravity="0 1 -2"/>'))
    joints = {joint.name: joint for joint in tree.joints}
    assert joints["j"].limits == Limits((-1.0,), (2.0,), (np.inf,), (7.0,))
    assert joints["j"].friction.viscous == 0.5
    assert joints["j"].friction.coulomb == 0.25
    assert joints["j"].rotor.reflected == 0.125
    assert joints["j"].motion.word == "revolute"
    assert joints["turns"].motion.word == "continuous"
    assert joints["k"].limits.upper == (np.inf,)
    assert tree.gravity.tolist() == [0, 1, -2]
    assert tree.name == "small"
    assert load_mjcf(model_text("", '<option><flag gravity="disable"/></option>')).gravity.tolist() == [0, 0, 0]


TWO = """<body name="a" pos="1 0 0" euler="0.1 0.2 0.3"><joint axis="1 1 0" pos="0.1 0 0"/><geom/><site name="sa" pos="0.1 0.2 0.3"/>
         <body name="b" pos="0 1 0" euler="0.5 0 0"><joint name="y" axis="0 1 1" ref="0.2"/><geom/></body></body>
         <body name="c" pos="0 0 1" euler="0 0.4 0"><joint name="x" type="slide" axis="0 0 1" ref="0.7"/><geom/>
         <joint type="ball"/><site name="sc" pos="-1 0 0" euler="1 0 0"/></body>"""


def test_connect_is_a_spherical_loop():
    text = model_text(TWO, """<equality><connect name="e" body1="b" body2="c" anchor="0.3 0.2 0.1"/>
        <connect site1="sa" site2="sc"/></equality>""")
    model, tree = mujoco.MjModel.from_xml_string(text), load_mjcf(text)
    assert [loop.motion for loop in tree.loops] == [Spherical(), Spherical()]
    assert [loop.first for loop in tree.loops] == ["e/first", "sa"]
    check_against_mujoco(model, tree)
    for gap, residual in _gaps(model, tree):
        np.testing.assert_allclose(gap[:3, 3], residual[:3], rtol=0, atol=1e-10)


def test_weld_is_a_fixed_loop():
    text = model_text(
        TWO, """<equality><weld name="e" body1="b" body2="c" relpose="0.1 0.2 0.3 1 0.5 0.2 0.1" anchor="0.4 0.5 -0.6"/>
        <weld body1="a"/><weld body1="a" body2="c"/><weld site1="sa" site2="sc"/></equality>""")
    model, tree = mujoco.MjModel.from_xml_string(text), load_mjcf(text)
    assert [loop.motion for loop in tree.loops] == [JointKind()] * 4
    assert tree.loops[1].name == "equality1"
    assert tree.frame(tree.loops[1].second).body == "world"
    for gap, residual in _gaps(model, tree):
        np.testing.assert_allclose(gap[:3, 3], residual[:3], rtol=0, atol=1e-10)
        half_sine = np.sqrt(max(0.0, 3 - np.trace(gap[:3, :3]))) / 2
        assert np.linalg.norm(residual[3:6]) == pytest.approx(half_sine, abs=1e-10)


def _gaps(model, tree):
    """For each loop in random states: the displacement between its frames in axes of the world, and MuJoCo's residuals.
    """
    data, rng = mujoco.MjData(model), np.random.default_rng(5)
    for _ in range(5):
        q = random_configuration(tree, rng)
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        poses = {**body_poses(tree, q), **frame_poses(tree, q)}
        rows = 3 if isinstance(tree.loops[0].motion, Spherical) else 6
        residuals = data.efc_pos[: data.ne].reshape(len(tree.loops), rows)
        for loop, residual in zip(tree.loops, residuals, strict=True):
            first, second = poses[loop.first], poses[loop.second]
            gap = np.eye(4)
            gap[:3, :3], gap[:3, 3] = first[:3, :3].T @ second[:3, :3], first[:3, 3] - second[:3, 3]
            yield gap, residual


def test_straight_joint_equality_is_a_follower():
    text = model_text(TWO, '<equality><joint joint1="y" joint2="x" polycoef="0.3 -2 0 0 0"/></equality>')
    tree, model = load_mjcf(text), mujoco.MjModel.from_xml_string(text)
    mimic = tree.joints[tree.joint_number("y")].mimic
    assert mimic == Mimic("x", -2.0, pytest.approx(0.3 + 0.2 + 2 * 0.7))
    data = mujoco.MjData(model)
    y, x = (model.jnt_qposadr[model.joint(name).id] for name in "yx")
    data.qpos[x] = 1.234
    data.qpos[y] = mimic.multiplier * 1.234 + mimic.offset
    mujoco.mj_forward(model, data)
    assert abs(data.efc_pos[0]) < 1e-14


@pytest.mark.parametrize(("bodies", "more", "words"), [
    ('<body><joint name="j" type="ball" stiffness="3"/><geom/></body>', "", "the spring of joint 'j' is left out"),
    ('<body><joint name="j" type="ball" limited="true" range="0 1"/><geom/></body>', "",
     "the range of the ball joint 'j'"),
    ('<body><joint name="j" actuatorfrcrange="-1 2"/><geom/></body>', "",
     "the smaller side of actuatorfrcrange of joint 'j'"),
    ('<body gravcomp="1"><joint/><geom/></body>', "", "1 gravity compensation is left out"),
    ('<body mocap="true"><geom/></body>', "", "1 mocap motion, whose body is fixed here, is left out"),
    ("", '<option density="1"/>', "1 property of the fluid around it is left out"),
    (TWO, '<tendon><fixed><joint joint="x" coef="1"/></fixed></tendon>', "1 tendon is left out"),
    (TWO, '<actuator><motor joint="x" gear="3"/><position joint="y"/></actuator>',
     "gains, gears and ranges of 2 actuators are left out"),
    (TWO, '<tendon><fixed name="t"><joint joint="x" coef="1"/></fixed></tendon><actuator><motor tendon="t"/></actuator>',
     "1 actuator drives no joint and is left out"),
    ('<body><joint name="j" type="ball"/><geom/></body>', '<actuator><motor joint="j" gear="0 1 0"/></actuator>',
     "the actuators of joint 'j' do not drive all that it does"),
    (TWO, '<sensor><jointpos joint="x"/></sensor>', "1 sensor is left out"),
    (TWO, '<equality><weld body1="a" active="false"/></equality>', "1 equality that is not active is left out"), ])
def test_what_has_no_place_is_named(bodies, more, words):
    with pytest.warns(ModelWarning, match="^small is read without elements that a mechanism does not have: ") as caught:
        load_mjcf(model_text(bodies, more))
    assert words in str(caught[0].message)


@pytest.mark.parametrize(("text", "words"), [
    ("<mujoco>\n<worldbody>", r"^text, line 2, .*this is not XML"),
    ("<mujoco>\n<worldbody>\n<bodi/></worldbody></mujoco>",
     r"^text: MuJoCo cannot read it: .*unrecognized element.*line 3"),
    ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
     "mass and inertia of moving bodies must be larger"),
    ('<mujoco>\n<option gravity="nan 0 0"/></mujoco>',
     r"^text, line 2, <option>: gravity is 'nan 0 0', which is not a finite number"),
    ('<mujoco>\n<option gravity="1e400 0 0"/></mujoco>', "MuJoCo cannot read it"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><mujoco model="&b;"/>', "document type declarations and entities are not supported"),
    ('<mujoco><asset><mesh name="m" file="missing.stl"/></asset></mujoco>', "MuJoCo cannot read it"),
    ("<robot/>", "this is URDF, not MJCF: load_urdf reads it"),
    ("<sdf/>", "an MJCF file has <mujoco> as its root"),
    ("", "this is not XML"),
    ("no/such/file.xml", "cannot be read"),
    (3, "give a path or the text of the file, not int"), ])
def test_faults(text, words):
    with pytest.raises(ModelError, match=words):
        load_mjcf(text)


@pytest.mark.skipif(
    tuple(map(int,
              mujoco.__version__.split(".")[:2])) < (3, 13), reason="MuJoCo kept these to itself before 3.13")
def test_warnings_of_mujoco_are_passed_on():
    with pytest.warns(ModelWarning, match="^small: MuJoCo warns: Inertia matrix is too close to singular"):
        load_mjcf(model_text("<body><joint/><joint/><geom/></body>"))


def test_without_mujoco(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name == "mujoco":
            raise ImportError("no mujoco here")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModelError, match=r"which is not installed: pip install 'cayley\[mjcf\]'"):
        load_mjcf("<mujoco/>")


def test_sensors_and_actuators_that_are_dropped_are_named():
    text = """<mujoco model="arm"><worldbody><site name="s"/><body name="rod"><joint name="a" axis="0 1 0"/>
<geom size="0.1" mass="1"/><site name="tip"/></body></worldbody>
<actuator><position name="servo" joint="a" kp="20"/><general name="jet" site="tip"/></actuator>
<sensor><jointpos name="angle" joint="a"/><gyro site="tip"/></sensor></mujoco>"""
    with pytest.warns(ModelWarning, match="1 actuator drives no joint and is left out: 'jet'"):
        tree = load_mjcf(text)
    found = report(tree)
    assert found.about("sensors left out") == ("angle", "sensor1")
    assert found.about("actuators left out") == ("jet", "servo") and tree.actuated_joints == ("a",)
    assert "gains, gears and ranges of 1 actuator are left out: 'servo'" in str(found)
