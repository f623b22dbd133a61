"""Mechanisms written as MJCF: MuJoCo has the same poses, `load_mjcf` gives poses, masses and joints back, and what is
lost is named.
"""

import re
import warnings
from importlib.metadata import files

import mujoco
import numpy as np
import pytest

from cayley.errors import UnsupportedError
from cayley.model.catalogue import load_robot
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.mjcf_text import dump_mjcf
from cayley.model.formats.urdf import load_urdf
from cayley.model.joint_kinds import Floating, Helical, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Loop, Mimic, Rotor
from cayley.model.tree import Tree
from model.plain_forward import body_poses, frame_poses, random_configuration
from model.random_trees import random_parts

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
KINDS = ("revolute", "continuous", "prismatic", "universal", "spherical", "planar", "fixed")
NAMES = ("panda.urdf", "talos_reduced.urdf", "icub.urdf", "puma560", "anymal.urdf", "baxter.urdf",
         "double_pendulum.urdf", "scara", "hyq_no_sensors.urdf")


def physical(body):
    """The same body with an inertia that a body can have."""
    return Body(body.name, body.mass, body.center, np.trace(body.inertia) * np.eye(3) - body.inertia)


def check(tree, **options):
    """MuJoCo's poses of bodies and sites at qpos = q, and its masses, are those of the tree."""
    model = mujoco.MjModel.from_xml_string(dump_mjcf(tree, **options))
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    assert (model.nq, model.nv) == (tree.nq, tree.nv)
    for _ in range(3):
        q = random_configuration(tree, rng)
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        compared = 0
        for name, pose in body_poses(tree, q).items():
            number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
            if number >= 0:
                theirs = np.column_stack([data.xmat[number].reshape(3, 3), data.xpos[number]])
                np.testing.assert_allclose(theirs, pose[:3], rtol=0, atol=1e-12)
                compared += 1
        assert compared >= len(tree.bodies) - 1
        for name, pose in frame_poses(tree, q).items():
            site = data.site(name)
            np.testing.assert_allclose(np.column_stack([site.xmat.reshape(3, 3), site.xpos]), pose[:3], rtol=0,
                                       atol=1e-12)
    return model


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_and_back(seed):
    random = np.random.default_rng(seed)
    bodies, joints, frames = random_parts(random, random.permutation([*KINDS, *KINDS]).tolist())
    tree = Tree.of("random", map(physical, bodies), joints, frames=frames, gravity=(1.0, 2.0, 3.0))
    model = check(tree)
    again = load_mjcf(dump_mjcf(tree))
    q = random_configuration(tree, random)
    theirs = body_poses(again, q)
    for name, pose in body_poses(tree, q).items():
        np.testing.assert_allclose(theirs[name], pose, rtol=0, atol=1e-12)
    for name, pose in frame_poses(tree, q).items():
        np.testing.assert_allclose(frame_poses(again, q)[name], pose, rtol=0, atol=1e-12)
    mine, back = ({body.name: body for body in t.bodies} for t in (tree, again))
    for name, body in mine.items():
        assert back[name].mass == (body.mass or 0.0)
        if body.mass:
            np.testing.assert_allclose(back[name].center, body.center, rtol=0, atol=1e-14)
            np.testing.assert_allclose(back[name].inertia, body.inertia, rtol=0,
                                       atol=1e-12 * np.abs(body.inertia).max())
    assert model.opt.gravity.tolist() == again.gravity.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", NAMES)
def test_real_robots(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = next((f for f in sorted(files("example-robot-data")) if f.name == name), None)
        tree = load_robot(name) if path is None else load_urdf(str(path.locate()))
    check(tree, leave_out=True)


def rod(*joints, bodies=None, **more):
    made = [Body("world"), *[Body(f"b{k}", 1.0, [0, 0, 0.1], np.eye(3)) for k in range(1, len(joints) + 1)]]
    return Tree.of("rod", bodies or made, joints, **more)


def test_data_of_joints_comes_back():
    first = Joint("j1", "world", "b1", Revolute(), limits=Limits((-1.0,), (2.0,), (), (5.0,)),
                  friction=Friction(0.1, 0.2), rotor=Rotor(1e-4, 100.0))
    second = Joint("j2", "b1", "b2", Prismatic(), limits=Limits((-1.0,), (1.0,)), mimic=Mimic("j1", -2.0, 0.5))
    ring = [Frame("left", "b2"), Frame("right", "world"), Frame("top", "b1")]
    tree = rod(first, second, frames=ring,
               loops=[Loop("pin", "left", "right", Spherical()),
                      Loop("glue", "top", "left")])
    again = load_mjcf(dump_mjcf(tree))
    one, two = again.joints
    assert (one.limits == first.limits and one.friction == first.friction
            and one.rotor.reflected == first.rotor.reflected)
    assert two.mimic == second.mimic and isinstance(two.motion, Prismatic)
    assert [(loop.name, loop.first, loop.second, loop.motion.word) for loop in again.loops] == [
        ("pin", "left", "right", "spherical"), ("glue", "top", "left", "fixed")]


def test_a_floating_base_and_a_root_of_its_own_name():
    floating = rod(Joint("free", "world", "b1", Floating()), Joint("j", "b1", "b2", Revolute()))
    check(floating)
    named = Tree.of("arm", [Body("pedestal", 3.0, [0, 0, 0.1], np.eye(3)), Body("link", 1.0, [0, 0, 0.1], np.eye(3))],
                    [Joint("j", "pedestal", "link", Revolute())])
    model = check(named)
    assert model.body("pedestal").mass[0] == 3.0


def test_a_floating_joint_elsewhere_has_the_same_coordinates():
    shifted = np.eye(4)
    shifted[:3] = [[0, -1, 0, 0.3], [1, 0, 0, -0.2], [0, 0, 1, 0.5]]
    check(rod(Joint("j", "world", "b1", Floating(), shifted)))
    check(rod(Joint("j", "world", "b1", Revolute()), Joint("j2", "b1", "b2", Floating(), shifted)))
    back = load_mjcf(dump_mjcf(rod(Joint("j", "world", "b1", Floating(), shifted)).with_actuated("j")))
    assert [joint.name for joint in back.joints] == ["j/1", "j/2", "j/3", "j/4"] and len(back.actuated) == 4


def test_moments_of_plates_are_those_of_a_body_to_the_last_digit():
    """The two axes across a plate sum to that through it, a = b + c: rounding makes it more in every other file, which
    MuJoCo refuses.
    """
    random = np.random.default_rng(7)
    for _ in range(40):
        across = np.sort(random.uniform(0.01, 1.0, 2))
        moments = np.array([*across, across.sum()])
        turned = np.linalg.qr(random.normal(size=(3, 3)))[0]
        inertia = turned @ np.diag(moments) @ turned.T
        plate = Tree.of("plate", [Body("world"), Body("plate", 1.0, [0, 0, 0], (inertia + inertia.T) / 2)],
                        [Joint("j", "world", "plate", Revolute())])
        text = dump_mjcf(plate)
        least, middle, most = sorted(map(float, re.search('diaginertia="(.*?)"', text)[1].split()))
        np.testing.assert_allclose([least, middle, most], moments, rtol=1e-14)
        assert least + middle >= most
        mujoco.MjModel.from_xml_string(text)


def test_a_thin_rod_and_a_plate_are_physical_in_spite_of_rounding():
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for moments in ((1.0, 1.0, 1e-9), (0.1, 0.2, 0.30000000000000004)):
        inertia = turned @ np.diag(moments) @ turned.T
        check(
            rod(Joint("j", "world", "b1", Revolute()),
                bodies=[Body("world"), Body("b1", 1.0, [0, 0, 0], (inertia + inertia.T) / 2)]))


def test_what_mjcf_cannot_hold_is_said():
    with pytest.raises(UnsupportedError, match="'j' of rod, which is helical"):
        dump_mjcf(rod(Joint("j", "world", "b1", Helical(pitch=0.1))), leave_out=True)
    with pytest.raises(UnsupportedError, match="loop 'l' of rod, which is prismatic: it has those that fixed, sph"):
        dump_mjcf(rod(Joint("j", "world", "b1", Revolute()), loops=[Loop("l", "b1", "world", Prismatic())]))
    with pytest.raises(UnsupportedError, match="'b1' of rod has the name of a body"):
        dump_mjcf(rod(Joint("j", "world", "b1", Revolute()), frames=[Frame("b1", "world")]))
    odd = [Limits((-1.0,), (), (2.0,), (0.0,)), Limits((1.0,), (1.0,))]
    tree = rod(
        Joint("j1", "world", "b1", Revolute(), limits=odd[0]), Joint("j2", "b1", "b2", Revolute(), limits=odd[1]),
        Joint("j3", "b2", "b3", Universal()),
        bodies=[Body("world"),
                Body("b1"),
                Body("b2", 1.0),
                Body("b3", 1.0, [0, 0, 0], np.diag([1.0, 1.0, 3.0]))])
    with pytest.raises(UnsupportedError) as error:
        dump_mjcf(tree)
    for part in ("velocity limits of joint 'j1'", "limit on one side of joint 'j1'",
                 "effort limit of zero of joint 'j1'", "empty range of joint 'j2'",
                 "missing mass or inertia of body 'b1'", "missing mass or inertia of body 'b2'",
                 "inertia of body 'b3', which is not physical"):
        assert part in str(error.value)
    text = dump_mjcf(tree, leave_out=True)
    assert "<!-- not in MJCF: the empty range of joint 'j2' -->" in text
    check(tree, leave_out=True)
