"""The catalogue against its sources: Pinocchio on the files of example-robot-data, published tables and constants, the
worked examples.
"""

import re
import xml.etree.ElementTree as ElementTree
from importlib.metadata import PackageNotFoundError
from importlib.resources import files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import ModelError
from cayley.geometry.inertia.consistency import physical_consistency
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.model import catalogue
from cayley.model.catalogue import catalogue_names, load_robot
from cayley.model.catalogue.packaged import PACKAGED
from cayley.model.denavit_hartenberg.conversion import dh_from_tree
from cayley.model.formats.toml_format import dump_toml, load_toml
from cayley.model.tree import Tree
from model.elementary import row_pose, tran, tree_poses

RIGHT = np.pi / 2
ROBOTS, FIXTURES = catalogue_names(), catalogue_names(fixtures=True)
EXAMPLES = Path(pin.__file__).parents[4] / "share/example-robot-data/robots"
FILES = {"panda": "panda_description/urdf/panda.urdf", "panda_hand": "panda_description/urdf/panda.urdf",
         **{name: f"ur_description/urdf/{name}_robot.urdf" for name in ("ur3", "ur5", "ur10")}}


def urdf_text(name):
    """The file with its right angles, printed to 12 digits, made exact."""
    text = (EXAMPLES / FILES[name]).read_text()
    return text.replace("1.57079632679 ", f"{RIGHT!r} ").replace('1.57079632679"',
                                                                 f'{RIGHT!r}"').replace("3.14159265359", repr(np.pi))


# All of them


@pytest.mark.parametrize("name", ROBOTS + FIXTURES)
def test_every_file_says_where_its_numbers_are_from_and_round_trips(name):
    tree = load_robot(name)
    folder = files(catalogue) / ("fixtures" if name in FIXTURES else ".")
    text = (folder / f"{name}.toml").read_text(encoding="utf-8")
    assert text.startswith("# ") and tree.source and tree.name == name
    again = load_toml(dump_toml(tree))
    assert dump_toml(again) == dump_toml(tree)
    assert tree.frame("tool").name == "tool"
    assert not any(f.name == name for f in tree.frames)


@pytest.mark.parametrize("name", ROBOTS + FIXTURES)
def test_links_are_physically_possible(name):
    """Except links 1 and 3 of the PUMA: of the first one moment is known, those of the other are as measured."""
    for body in load_robot(name).bodies[1:]:
        if body.mass is not None and (name, body.name) not in (("puma560", "link1"), ("puma560", "link3")):
            assert physical_consistency(MassProperties(body.mass, body.center, body.inertia)), body.name


def test_names_and_errors():
    assert set(ROBOTS) >= {
        "puma560", "stanford", "panda", "iiwa14", "ur3", "ur5", "ur10", "scara", "planar2r", "planar3r",
        "four_bar", "slider_crank", "five_bar", "three_rrr", "delta", "stewart", "gripper", "excavator",
        "two_wheel_robot", "biped"}
    assert isinstance(load_robot("ur5"), Tree)
    with pytest.raises(ModelError, match=r"no robot 'UR55': did you mean"):
        load_robot("UR55")
    with pytest.raises(ModelError, match="did you mean 'stanford'"):
        load_robot("stamford")
    with pytest.raises(ModelError, match=r"no robot '\.\./x'; it has a1, abb_irb120, anymal_b"):
        load_robot("../x")


# The makers' own tables

E_SERIES = {"ur3e": (0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921),
            "ur5e": (0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
            "ur10e": (0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
            "ur16e": (0.1807, -0.4784, -0.36, 0.17415, 0.11985, 0.11655)}
E_SERIES_MASSES = {"ur3e": 8.7985, "ur5e": 17.7, "ur10e": 29.104, "ur16e": 27.26}


def chain_pose(thetas, rows):
    """The product of standard rows (d, a, alpha)."""
    pose = np.eye(4)
    for theta, (d, a, alpha) in zip(thetas, rows, strict=True):
        (c, s), (ca, sa) = ((np.cos(angle), np.sin(angle)) for angle in (theta, alpha))
        pose = pose @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    return pose


def test_there_are_thirty_robots_and_more_and_each_says_whose_it_is():
    assert len(cy.catalogue()) >= 45 and len(set(cy.catalogue())) == len(cy.catalogue())
    for name in ROBOTS:
        source = load_robot(name).source
        assert re.search(r"\((BSD|Apache|MIT)[\w.-]*\)|made for teaching|own design|19\d\d|20\d\d|Corke", source), name


@pytest.mark.parametrize("name", E_SERIES)
def test_the_e_series_is_the_makers_table(name):
    d1, a2, a3, d4, d5, d6 = E_SERIES[name]
    rows = [(d1, 0, RIGHT), (0, a2, 0), (0, a3, 0), (d4, 0, RIGHT), (d5, 0, -RIGHT), (d6, 0, 0)]
    arm = cy.load(name)
    for q in np.random.default_rng(3).uniform(-np.pi, np.pi, (20, 6)):
        np.testing.assert_allclose(arm.pose(q, "tool"), chain_pose(q, rows), atol=2e-15)
    assert sum(body.mass for body in arm.bodies[1:]) == pytest.approx(E_SERIES_MASSES[name], abs=1e-12)
    assert int(arm.all_inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool").count) == 8


def test_centres_and_inertias_of_the_e_series_are_the_makers_in_his_frames():
    """The UR5e's as printed, in the Denavit-Hartenberg frames."""
    tensor = np.array([[0.0070021, 7.3e-7, -1.053e-5], [7.3e-7, 0.00648091, 0.00049994],
                       [-1.053e-5, 0.00049994, 0.00657286]])
    arm = cy.load("ur5e")
    frame = chain_pose([0.3], [(0.1625, 0, RIGHT)])
    shoulder, pose = arm.bodies[1], arm.pose([0.3, 0, 0, 0, 0, 0], "shoulder_link")
    into = frame[:3, :3].T @ pose[:3, :3]
    np.testing.assert_allclose(into @ shoulder.center, [0.0, -0.02561, 0.00193], atol=1e-15)
    np.testing.assert_allclose(into @ shoulder.inertia @ into.T, tensor, atol=1e-15)


def test_kinova_gen3_is_the_table_of_its_guide():
    d = [-(0.1564 + 0.1284), -(0.0054 + 0.0064), -(0.2104 + 0.2104), -(0.0064 + 0.0064), -(0.2084 + 0.1059), 0.0,
         -(0.1059 + 0.0615)]
    arm, rows = cy.load("kinova_gen3"), [(0, 0, np.pi), *[(length, 0, RIGHT) for length in d[:6]], (d[6], 0, np.pi)]
    for q in np.random.default_rng(4).uniform(-2, 2, (20, 7)):
        thetas = [0, q[0], *(q[1:] + np.pi)]
        np.testing.assert_allclose(arm.pose(q, "tool"), chain_pose(thetas, rows), atol=4e-4)  # four digits of print
    assert sum(body.mass for body in arm.bodies) == pytest.approx(8.2, abs=0.05)  # the guide's, with its base


def test_sawyer_stretches_as_far_as_its_links():
    arm = cy.load("sawyer")
    np.testing.assert_allclose(arm.pose(np.zeros(7), "tool")[:3, 3],
                               [0.081 + 0.4 + 0.4 + 0.1345, 0.1925 - 0.1685 + 0.1363, 0.317], atol=1e-15)
    axes = arm.jacobian(np.zeros(7), "tool", axes="world")[3:]
    x, y, z = np.eye(3)
    expected = np.transpose([z, y, x, y, x, y])
    np.testing.assert_allclose(axes[:, :6], expected * np.sign((axes[:, :6] * expected).sum(axis=0)), atol=1e-15)
    assert sum(body.mass for body in arm.bodies) == pytest.approx(19, abs=2)  # the data sheet's


@pytest.mark.parametrize("name, reach, wrist",
                         [("kuka_kr6_r900", 0.9015, "link_5"), ("abb_irb120", 0.58, "link_5")])
def test_reach_is_the_data_sheets(name, reach, wrist):
    arm = cy.load(name)
    q = np.zeros((2000, 6))
    q[:, 1:3] = np.random.default_rng(5).uniform(arm.lower[1:3], arm.upper[1:3], (2000, 2))
    q[:1000, 2] = np.linspace(arm.lower[2], arm.upper[2], 1000)
    found = arm.point(q, np.zeros(3), wrist)
    shoulder = arm.point(q, np.zeros(3), "link_2")
    far = np.linalg.norm(found - shoulder, axis=-1) + (0.025 if name.startswith("kuka") else 0.0)
    assert far.max() == pytest.approx(reach, abs=5e-4)


def test_named_configurations_are_within_the_limits():
    for name in ("ur3e", "ur5e", "ur10e", "ur16e", "kinova_gen3", "sawyer", "kuka_kr6_r900", "abb_irb120"):
        arm = cy.load(name)
        arm.configurations.check(arm.configurations["home"])


def test_kinematics_of_an_arm_without_masses_and_nothing_else():
    arm = cy.load("kuka_kr6_r900")
    q = np.array([0.3, -1.0, 0.8, 0.4, 0.6, -0.2])
    found = arm.inverse_kinematics(arm.pose(q, "tool"), "tool", start=q + 0.1)
    np.testing.assert_allclose(arm.pose(found.q, "tool"), arm.pose(q, "tool"), atol=1e-9)
    with pytest.raises(ModelError, match="mass"):
        arm.gravity_forces(q)


# Robots of the other package


@pytest.mark.parametrize("name", PACKAGED)
def test_packaged_robots_are_pinocchios_and_say_the_licence_of_their_folder(name):
    robot, arm = PACKAGED[name], cy.load(name)
    model = pin.buildModelFromUrdf(str(EXAMPLES / robot.file))
    moving = sum(joint.motion.nv for joint in arm.joints)
    assert moving == model.nv and robot.licence in robot.source
    masses = sum(body.mass or 0.0 for body in arm.bodies)
    assert masses == pytest.approx(sum(inertia.mass for inertia in model.inertias), rel=1e-12)
    notes = EXAMPLES / robot.file.split("/")[0] / "README.md"
    if notes.exists():
        said = next(line for line in notes.read_text().splitlines() if line.lower().startswith("license"))
        assert said.split(":")[1].replace("License", "").replace("ASL", "Apache").strip(" \n.").split()[0].split(
            "-")[0] == robot.licence.split("-")[0]


def test_a_packaged_robot_without_its_package_names_the_extra(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    with pytest.raises(ModelError, match=r"pip install 'cayley\[robots\]'"):
        cy.load("go2")
    assert cy.load("panda").nq == 7


def test_a_quadruped_floats_by_one_argument_and_has_its_meshes():
    dog = cy.load("go2", floating_base=True)
    assert (dog.nq, dog.nv) == (19, 18) and dog.shapes.of("visual")


# Against Pinocchio


@pytest.mark.parametrize("name", FILES)
def test_poses_are_pinocchios(name):
    tree = load_robot(name)
    model = pin.buildModelFromXML(urdf_text(name))
    data = model.createData()
    joints = [j.name for j in tree.joints if j.motion.nq]
    for q in np.random.default_rng(4).uniform(-3, 3, (10, len(joints))):
        full = np.zeros(model.nq)
        for joint, value in zip(joints, q, strict=True):
            full[model.joints[model.getJointId(joint)].idx_q] = value
        pin.framesForwardKinematics(model, data, full)
        where = tree_poses(tree, q)
        names = [b.name
                 for b in tree.bodies] + [f.name for f in tree.frames if not re.fullmatch(r"frame\d|tool", f.name)]
        assert len(names) >= 8
        for frame in names:
            assert model.existFrame(frame), frame
            np.testing.assert_allclose(where[frame], data.oMf[model.getFrameId(frame)].homogeneous, rtol=0, atol=1e-12)
    tip = {"panda": "panda_link8", "panda_hand": "panda_hand_tcp"}.get(name, "tool0")
    np.testing.assert_allclose(where["tool"], data.oMf[model.getFrameId(tip)].homogeneous, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", FILES)
def test_masses_and_limits_are_those_of_the_file(name):
    tree = load_robot(name)
    root = ElementTree.fromstring(urdf_text(name))
    links = {link.get("name"): link.find("inertial") for link in root.iter("link")}
    joints = {joint.get("name"): joint for joint in root.iter("joint") if joint.find("child") is not None}
    for body in tree.bodies:
        inertial = links[body.name]
        tensor = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}
        assert body.mass == float(inertial.find("mass").get("value"))
        np.testing.assert_array_equal(body.center, np.array(inertial.find("origin").get("xyz").split(), dtype=float))
        np.testing.assert_array_equal(body.inertia, [[tensor["ixx"], tensor["ixy"], tensor["ixz"]],
                                                     [tensor["ixy"], tensor["iyy"], tensor["iyz"]],
                                                     [tensor["ixz"], tensor["iyz"], tensor["izz"]]])
    for joint in tree.joints:
        if joint.motion.nq:
            limit = joints[joint.name].find("limit")
            for key, (value,) in vars(joint.limits).items():
                assert value == pytest.approx(float(limit.get(key)), abs=1e-11)
    if name != "panda":
        total = pin.computeTotalMass(pin.buildModelFromXML(urdf_text(name)))
        base = tree.bodies[0].mass                                       # Pinocchio leaves the fixed base out
        assert sum(b.mass for b in tree.bodies) - base == pytest.approx(total, rel=1e-14)


# Against published tables


@pytest.mark.parametrize(("name", "d", "a"), [
    ("ur3", (0.1519, 0, 0, 0.11235, 0.08535, 0.0819), (0, -0.24365, -0.21325, 0, 0, 0)),
    ("ur5", (0.089159, 0, 0, 0.10915, 0.09465, 0.0823), (0, -0.425, -0.39225, 0, 0, 0)),
    ("ur10", (0.1273, 0, 0, 0.163941, 0.1157, 0.0922), (0, -0.612, -0.5723, 0, 0, 0))])
def test_universal_robots_have_the_makers_table(name, d, a):
    tree = load_robot(name)
    base = np.array(tree.frame("base").pose)
    found = dh_from_tree(tree, convention="standard", base=base, x_hints=[base[:3, 0]] * 5)
    expected = np.transpose([np.zeros(6), d, a, [RIGHT, 0, 0, RIGHT, -RIGHT, 0]])
    np.testing.assert_allclose([row.numbers for row in found.table.rows], expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.table.tool, np.eye(4), rtol=0, atol=1e-15)
    assert found.residual < 1e-14


def product(convention, rows, q):
    T = np.eye(4)
    for (theta, d, a, alpha), q_i in zip(rows, q, strict=True):
        T = T @ row_pose(convention, theta + q_i, d, a, alpha)
    return T


def test_iiwa_has_the_makers_lengths():
    """LBR iiwa 14 R820: 360, 420, 400 and 126 mm between base, shoulder, elbow, wrist and flange; all axes meet at
    right angles.
    """
    d, alpha = (0.36, 0, 0.42, 0, 0.4, 0, 0.126), (-RIGHT, RIGHT, RIGHT, -RIGHT, -RIGHT, RIGHT, 0)
    rows = [(0.0, d_i, 0.0, alpha_i) for d_i, alpha_i in zip(d, alpha, strict=True)]
    tree = load_robot("iiwa14")
    assert sum(b.mass for b in tree.bodies) == pytest.approx(22.5, rel=1e-14)
    for q in np.random.default_rng(5).uniform(-2, 2, (5, 7)):
        np.testing.assert_allclose(tree_poses(tree, q)["tool"], product("standard", rows, q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.rad2deg(tree.upper), [170, 120, 170, 120, 170, 120, 175], rtol=1e-15)


def test_puma_has_the_constants_of_its_paper():
    """Armstrong, Khatib and Burdick's constants of the explicit model, computed there from the same table and printed
    to three digits.
    """
    tree = load_robot("puma560")
    m = [b.mass for b in tree.bodies]
    r = [b.center for b in tree.bodies]
    I = [b.inertia.diagonal() for b in tree.bodies]
    a2, a3, d2, d3, d4, g = 0.4318, -0.0203, 0.2435, -0.0934, 0.4331, 9.81
    wrist = m[4] + m[5] + m[6]
    gravity = [
        -g * ((m[3] + wrist) * a2 + m[2] * r[2][0]), g * (m[3] * r[3][1] - wrist * d4 - m[4] * r[4][2]),
        g * m[2] * r[2][1], -g * wrist * a3, -g * m[6] * r[6][2]]
    np.testing.assert_allclose(gravity, [-37.2, -8.44, 1.02, 0.249, -0.0282], rtol=5e-3)
    # I2
    shoulder = I[2][2] + m[2] * (r[2][0]**2 + r[2][1]**2) + (m[3] + wrist) * a2**2
    elbow = (
        I[3][2] + m[3] * r[3][1]**2 + wrist * a3**2 + m[4] * (d4 + r[4][2])**2 + I[4][1] + m[5] * d4**2 + I[5][2]
        # I6
        + m[6] * (d4**2 + r[6][2]**2) + I[6][0])
    np.testing.assert_allclose([shoulder, elbow], [1.75, 0.333], rtol=3e-3)
    zero = tree_poses(tree, np.zeros(6))["tool"]
    np.testing.assert_allclose(zero[:3, 3], [a2 + a3, d2 + d3, d4], rtol=0, atol=1e-15)
    np.testing.assert_allclose([j.rotor.reflected for j in tree.joints], [1.14, 4.75, 0.862, 0.202, 0.181, 0.206],
                               rtol=3e-3)


def test_stanford_arm_and_scara():
    stanford = load_robot("stanford")
    place = tree_poses(stanford, np.array([0.3, -0.5, 0.6, 0.2, 0.7, -0.9]))["tool"][:3, 3]
    # WE-13
    np.testing.assert_allclose(place, [-0.3351564638, -0.1162914383, 1.1312159903], rtol=0, atol=1e-9)
    assert sum(b.mass for b in stanford.bodies[1:]) == pytest.approx(20.77, rel=1e-12)
    slide = stanford.bodies[3]
    assert slide.inertia[0, 0] == pytest.approx(2.51 - 4.25 * 0.6447**2, rel=1e-12)
    scara = load_robot("scara")
    q = np.array([0.3, -0.7, 0.1, 0.4])
    tool = tree_poses(scara, q)["tool"]
    reach = [0.325 * np.cos(0.3) + 0.275 * np.cos(-0.4), 0.325 * np.sin(0.3) + 0.275 * np.sin(-0.4), 0.387 - 0.1]
    np.testing.assert_allclose(tool[:3, 3], reach, rtol=0, atol=1e-15)
    assert {b.mass for b in scara.bodies} == {None}


def test_planar_arms_reach_as_drawn():
    q = np.array([0.3, 0.5])
    place = [0.5 * np.cos(0.3) + 0.4 * np.cos(0.8), 0.5 * np.sin(0.3) + 0.4 * np.sin(0.8), 0]
    np.testing.assert_allclose(tree_poses(load_robot("planar2r"), q)["tool"][:3, 3], place, rtol=0, atol=1e-15)
    q = np.deg2rad([20, 40, 30])
    sums = np.cumsum(q)
    place = [np.array([1, 0.8, 0.5]) @ np.cos(sums), np.array([1, 0.8, 0.5]) @ np.sin(sums), 0]
    np.testing.assert_allclose(tree_poses(load_robot("planar3r"), q)["tool"][:3, 3], place, rtol=0, atol=1e-15)


# The fixtures, against the golden values of the catalogue


@pytest.mark.parametrize(("name", "q", "frame", "place", "tolerance"), [
    ("s1_f4", (0.1, -0.6, 0.9, 0.4, -0.8, 1.2), "frame6", (0.230718734577, 0.173902226338, -0.173908830897), 1e-12),
    ("s1_f6", (0.6, 0.35, -1.1, 0.8), "frame4", (0.437200452707, -0.00468146987161, 0.421205925371), 1e-12),
    ("s0_we06", (0, 0, 0), "tool", (1.3041883434, -0.0233701160, 0.7512064003), 1e-9),
    ("s2_we10", (0.3, -0.7, 0.5, 1.1, 0.9, -0.4), "frame4", (0.170238844, 0.208731709, 0.698607045), 1e-8),
    ("s2_we11", (0.4, 0.9, -0.5, 0.3, 0.8, -1.2), "frame4", (0.846978027, 0.325525434, 0.824036984), 1e-8),
    ("s2_we12", (0.4, 0.9, -0.5, 0.3, 0.8, -1.2), "frame4", (0.608652, -0.01070868, 1.51215493), 1e-8),
    ("s2_we13", (0.3, -0.5, 0.6, 0.2, 0.7, -0.9), "tool", (-0.3351564638, -0.1162914383, 1.1312159903), 1e-9),
    ("s3_w06", (0.5, 0.6, -0.9), "tool", (0.6136660648, 0.3352472991, 0.5936651747), 1e-9),
    ("s3_w07", (0.2, -0.5, 0.3, 0.6, 0.9, -0.4), "tool", (0.4451504323, 0.2433383036, -0.2121438133), 1e-9),
    ("s3_w08", (0.4, 0.15, -0.7, 1.1), "tool", (0.7143301231, -0.3284703691, 0.4540273259), 1e-9)])
def test_places_of_the_fixtures(name, q, frame, place, tolerance):
    np.testing.assert_allclose(
        tree_poses(load_robot(name), np.array(q, dtype=float))[frame][:3, 3], place, rtol=0, atol=tolerance)


def pinocchio_model(tree):
    """The same mechanism in Pinocchio, from the bodies and joints of the tree."""
    model, numbers = pin.Model(), {tree.bodies[0].name: 0}
    model.gravity.linear = np.array(tree.gravity)
    for joint, body in zip(tree.joints, tree.bodies[1:], strict=True):
        kind = pin.JointModelRZ() if joint.motion.word == "revolute" else pin.JointModelPZ()
        assert joint.motion.axis == (0.0, 0.0, 1.0)
        number = model.addJoint(numbers[joint.parent], kind, pin.SE3(np.array(joint.placement)), joint.name)
        model.appendBodyToJoint(number, pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia)),
                                pin.SE3.Identity())
        numbers[body.name] = number
    return model


G = [(0.2 * i - 0.5, 0.3 - 0.1 * i, 0.05 * i * i - 0.3) for i in range(1, 7)]
TORQUES = [
    ("s1_f2", [(0.3, 1.1, 0.5), (-0.7, -0.4, 2)], (15.2000996773, 2.87612015916)),
    ("planar2r", [(0.3, 1.1, 0.5), (-0.7, -0.4, 2)], (15.2000996773, 2.87612015916)),
    ("s1_f3", [(0.3, 1.1, 0.5), (0.8, -0.4, 2)], (2.36805322735, -12.5097764375)),
    ("s1_f4",
     list(
         zip((0.1, -0.6, 0.9, 0.4, -0.8, 1.2), (0.5, -0.3, 0.7, -1.1, 0.9, 0.2), (1, 0.4, -0.5, 0.6, -0.2, 0.8),
             strict=True)), (1.73738309068, -30.790852254, 0.258326770294, -0.00678462650312, -0.0135210901962,
                             -2.2339118969e-05)),
    ("s1_f5",
     list(
         zip((0.2, -0.5, 0.6, 0.3, 0.7, -0.4), (0.4, 0.3, -0.25, 0.9, -0.6, 0.5), (-0.7, 0.8, 0.35, 0.2, 0.1, -1),
             strict=True)), (-1.15873657538, 9.0330746653, 57.4150551297, 0.610236172696, -1.03949994505,
                             -0.000330741356347)),
    ("s1_f6", list(zip((0.6, 0.35, -1.1, 0.8), (0.9, -0.5, 1.3, -0.7), (-0.4, 1.1, 0.6, 2),
                       strict=True)), (6.06276326781, 44.784590242, 0.825464119896, 0.1876313288)),
    ("s1_g1", [(0.3, 0.5, -0.4), (-0.7, 1.2, 0.8)], (29.1474332231, 5.2571702327)),
    ("s1_g2", G[:3], (12.7844172563, -4.2327152123, 0.8437578426)),
    ("s1_g3", G, (34.5071442651, 44.2929454138, 5.5386851529, -17.3186186158, 2.5323280843, 1.4898591443)),
    ("s1_g4", G, (28.0717035035, 39.2803898811, -41.4632792057, -17.7336852203, 1.1219924789, 1.7672776598)),
    ("s2_we19", [(0.3, 0.5, 1), (0.7, -1.2, 2)], (31.4793673373, 4.6957573378)),
    ("s2_we20", [(0.4, 0.7, 0.2), (0.9, -0.6, 0.5), (0.5, 0.3, -0.4)], (0.1802736353, -3.4430557194, 6.5677935838)),
    ("s3_w08", [(0.4, 0.5, 1.0), (0.15, -0.3, 0.4), (-0.7, 0.8, -0.6),
                (1.1, -1.2, 0.9)], (0.5322560903, -0.6038819870, 2.1908408705, 0.2702896202)),
    ("s3_w09", [(0.3, 0.6, 1), (0.7, -0.8, -0.5)], (14.0896019919, 1.7796237694)), ]


@pytest.mark.parametrize(("name", "states", "torques"), TORQUES)
def test_masses_of_the_fixtures_give_their_torques(name, states, torques):
    model = pinocchio_model(load_robot(name))
    q, qd, qdd = np.transpose(np.array(states, dtype=float))
    np.testing.assert_allclose(pin.rnea(model, model.createData(), q, qd, qdd), torques, rtol=0, atol=1e-9)


def test_the_pendulum_and_the_plane_arm_of_seed_0():
    pendulum = load_robot("s1_f1")
    (body,) = pendulum.bodies[1:]
    model = pinocchio_model(pendulum)
    closed = (body.inertia[2, 2] + body.mass * 0.4**2) * 0.7 + body.mass * 9.81 * 0.4 * np.cos(0.3)
    assert pin.rnea(model, model.createData(), np.array([0.3]), np.array([0.9]),
                    np.array([0.7]))[0] == pytest.approx(closed, rel=1e-14)
    model = pinocchio_model(load_robot("s0_we07"))
    inertia = pin.crba(model, model.createData(), np.array([0.3, 0.5]))
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    np.testing.assert_allclose(inertia, [[3.5930990743, 0.8665495371], [0.8665495371, 0.34]], rtol=0, atol=1e-10)


def test_the_tool_of_panda_is_the_flange():
    tool = tree_poses(load_robot("panda"), np.zeros(7))["tool"]
    np.testing.assert_allclose(tool, tran(0.088, 0, 0.926) @ np.diag([1.0, -1.0, -1.0, 1.0]), rtol=0, atol=1e-15)
