"""The one object of a robot: its functions are kernels, its mistakes are named."""

import hashlib
import inspect
import pickle
import pydoc
import re
from dataclasses import replace
from functools import cache
from importlib.metadata import files

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
import cayley.drawing
from cayley.compiler.kernel_family import GIVEN, family
from cayley.errors import ConventionError, GeometryError, ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.model.floating_base import on_floating_base
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits, Mimic, Rotor
from cayley.model.tree import Tree
from compiler.parity import compiled_c
from programs import needs

PANDA = next(str(f.locate()) for f in files("example-robot-data") if f.name == "panda.urdf")
AXES = {"world": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, "body": pin.ReferenceFrame.LOCAL}


@cache
def panda():
    """Here and in Pinocchio, with the number of the frame in question there."""
    model = pin.buildModelFromUrdf(PANDA)
    return cy.load(PANDA), model, model.getFrameId("panda_link8")


def test_poses_and_jacobians_of_a_urdf_against_pinocchio():
    random = np.random.default_rng(1)
    path = next(str(f.locate()) for f in files("example-robot-data") if f.name == "panda.urdf")
    arm, model = cy.load(path), pin.buildModelFromUrdf(path)
    data = model.createData()
    q = random.uniform(-1, 1, size=(5, arm.nq))
    poses, jacobians = arm.pose(q, "panda_link8"), arm.jacobian(q, "panda_link8", axes="world")
    number = model.getFrameId("panda_link8")
    for k in range(5):
        pin.computeJointJacobians(model, data, q[k])
        pin.updateFramePlacements(model, data)
        np.testing.assert_allclose(poses[k], data.oMf[number].homogeneous, atol=1e-13)
        found = pin.getFrameJacobian(model, data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(jacobians[k], found, atol=1e-13)


def test_what_a_user_types():
    arm = cy.load("puma560")
    q = np.random.default_rng(0).uniform(arm.lower, arm.upper, size=(7, 6))
    assert arm.pose(q, "tool").shape == (7, 4, 4) and arm.pose.of("tool") is arm.pose.of("tool")
    relative = arm.pose(q, "tool", relative_to="frame3")
    np.testing.assert_allclose(arm.pose(q, "frame3") @ relative, arm.pose(q, "tool"), atol=1e-14)
    found = arm.inverse_kinematics(arm.pose(q, "tool"), "tool")
    assert found.solved.all()
    np.testing.assert_allclose(arm.pose(found.q, "tool"), arm.pose(q, "tool"), atol=1e-9)
    velocity = np.random.default_rng(1).normal(size=6)
    np.testing.assert_allclose(arm.difference(q, arm.integrate(q, velocity)), np.broadcast_to(velocity, (7, 6)),
                               atol=1e-14)
    assert "void" in arm.pose.of("tool").c_source("puma_pose").source


def test_mistakes_are_named():
    arm = cy.load("panda")
    with pytest.raises(ConventionError, match='axes="world"'):
        arm.jacobian(arm.neutral, "panda_link8")
    with pytest.raises(ModelError, match="no frame or body 'tol'"):
        arm.pose(arm.neutral, "tol")
    with pytest.raises(ModelError, match="no frame or body 'wrold'"):
        arm.jacobian(arm.neutral, "panda_link8", axes="wrold")
    with pytest.raises(ModelError, match="did you mean 'puma560'"):
        cy.load("puma650")
    with pytest.raises(TypeError):
        cy.Mechanism.from_dh([(0, 0, 1, 0)])
    chain = cy.Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard", name="two")
    np.testing.assert_allclose(chain.pose([np.pi / 2, -np.pi / 2], "tool")[:3, 3], [1, 1, 0], atol=1e-15)


@pytest.mark.parametrize("axes", AXES)
def test_velocities_accelerations_and_rates_of_jacobians_against_pinocchio(axes):
    arm, model, number = panda()
    random, data = np.random.default_rng(3), model.createData()
    q = arm.random_configuration(4, seed=random)
    v, vd = random.normal(size=(2, 4, arm.nv))
    twists, accelerations = arm.twist(q, v, "panda_link8",
                                      axes=axes), arm.acceleration(q, v, vd, "panda_link8", axes=axes)
    rates, hessians = arm.jacobian_rate(q, v, "panda_link8", axes=axes), arm.hessian(q, "panda_link8", axes=axes)
    np.testing.assert_allclose(np.einsum("kabc,kc->kab", hessians, v), rates, atol=1e-12)
    for k in range(4):
        pin.computeJointJacobiansTimeVariation(model, data, q[k], v[k])
        pin.forwardKinematics(model, data, q[k], v[k], vd[k])
        pin.updateFramePlacements(model, data)
        np.testing.assert_allclose(twists[k], pin.getFrameVelocity(model, data, number, AXES[axes]).vector, atol=1e-12)
        np.testing.assert_allclose(accelerations[k],
                                   pin.getFrameClassicalAcceleration(model, data, number, AXES[axes]).vector,
                                   atol=1e-12)
        np.testing.assert_allclose(rates[k], pin.getFrameJacobianTimeVariation(model, data, number, AXES[axes]),
                                   atol=1e-12)


def test_points_that_change_from_call_to_call_share_one_kernel():
    arm, _, _ = panda()
    random = np.random.default_rng(4)
    q, points, v = arm.random_configuration(3, seed=random), random.normal(size=(3, 3)), random.normal(size=(3, arm.nv))
    wrench = random.normal(size=(3, 6))
    J = arm.jacobian(q, "panda_hand", axes="world", at=points)
    np.testing.assert_allclose(J[1], arm.jacobian(q[1], "panda_hand", axes="world", at=points[1].tolist()), atol=1e-15)
    np.testing.assert_allclose(J[2], arm.jacobian.of("panda_hand", axes="world", at=GIVEN)(q[2], points[2]), atol=0)
    np.testing.assert_allclose(arm.twist(q, v, "panda_hand", axes="world", at=points), np.einsum("kab,kb->ka", J, v),
                               atol=1e-13)
    exerted = arm.dexterity.joint_forces_that_exert(q, wrench, "panda_hand", axes="world", at=points)
    np.testing.assert_allclose(exerted, np.einsum("kab,ka->kb", J, wrench), atol=1e-13)
    resisting = arm.dexterity.joint_forces_that_resist(q, wrench, "panda_hand", axes="world", at=points)
    np.testing.assert_allclose(resisting, -exerted, atol=0)
    before, after = (arm.point(arm.integrate(q, s * v), points, "panda_hand") for s in (-1e-6, 1e-6))
    np.testing.assert_allclose((after - before) / 2e-6, np.einsum("kab,kb->ka", J, v)[:, :3], atol=1e-8)
    np.testing.assert_allclose(
        arm.jacobian(q, "panda_hand", axes="world", at="panda_link4")[:, 3:], J[:, 3:], atol=1e-15)
    with pytest.raises(SignatureError, match="GIVEN"):
        arm.jacobian.of("panda_hand", axes="world", at=[0.0, 0.0, 0.1])
    with pytest.raises(SignatureError):
        arm.jacobian(q, "panda_hand", axes="world", at=[0.0, 0.1])


def test_coordinates_and_analytic_jacobian():
    arm = cy.load("puma560")
    q, v = arm.random_configuration(5, seed=2), np.random.default_rng(5).normal(size=(5, 6))
    J = arm.dexterity.analytic_jacobian(q, "tool", orientation="zyx moving")
    before, after = (arm.coordinates(q + s * v, "tool", orientation="zyx moving") for s in (-1e-6, 1e-6))
    np.testing.assert_allclose((after - before) / 2e-6, np.einsum("kab,kb->ka", J, v), atol=1e-7)
    target = arm.coordinates(q[0], "tool", orientation="rotation vector")
    np.testing.assert_allclose(target[:3], arm.pose(q[0], "tool")[:3, 3], atol=1e-15)
    planar = cy.load("planar2r")
    with pytest.raises(SingularityError, match="singular for 'tool' in configuration 1 of the batch"):
        planar.dexterity.analytic_jacobian([[0.1, 0.0], [np.pi, 0.0]], "tool", orientation="vector-parameter")


def test_indices_and_singularities():
    arm = cy.load("ur5")
    q = arm.random_configuration(6, seed=1)
    found = arm.dexterity.indices(q, "tool", task="position", axes="world")
    singular_values = np.linalg.svd(arm.jacobian(q, "tool", axes="world")[:, :3], compute_uv=False)
    np.testing.assert_allclose(found.condition_number, singular_values[:, 0] / singular_values[:, 2], rtol=1e-10)
    np.testing.assert_allclose(arm.dexterity.manipulability(q, "tool", task="position", axes="world"),
                               found.manipulability,
                               rtol=1e-10)
    with pytest.raises(ConventionError, match="characteristic_length="):
        arm.dexterity.indices(q, "tool", task="pose", axes="world")
    with pytest.raises(ConventionError, match="characteristic_length="):
        arm.dexterity.manipulability(q, "tool", task="pose", axes="world")
    assert arm.dexterity.indices(q, "tool", task="pose", axes="world",
                                 characteristic_length=0.3).condition_number.shape == (6,)
    stretched = arm.dexterity.singularity([0.1, -0.4, 0.0, 0.3, 0.5, 0.2], "tool", task="pose", axes="world")
    assert stretched.singular and stretched.rank == 5 and stretched.lost.shape == (6, 1)
    assert not arm.dexterity.singularity([0.1, -0.4, 0.9, 0.3, 0.5, 0.2], "tool", task="pose", axes="world").singular


def floating_gripper():
    bodies = [Body(name) for name in ("world", "base", "ball", "left", "right")]
    joints = [Joint("free", "world", "base", Floating()), Joint("socket", "base", "ball", Spherical()),
              Joint("open", "base", "left", Prismatic(), limits=Limits((0.0,), (0.04,))),
              Joint("follow", "base", "right", Prismatic(), mimic=Mimic("open", -1.0, 0.01)),
              Joint("half", "left", "tip", Revolute(), limits=Limits((0.5,), ()))]
    return cy.Mechanism.of("gripper", [*bodies, Body("tip")], joints)


def test_random_configurations_are_valid_and_others_are_refused_by_name():
    robot = floating_gripper()
    q = robot.random_configuration((50, 4), seed=np.random.default_rng(0))
    assert q.shape == (50, 4, robot.nq)
    robot.configurations.check(q)
    np.testing.assert_allclose(robot.configurations.normalized(q), q, atol=1e-15)
    lead, follower = (robot.tree.q_slices[robot.tree.joint_number(name)] for name in ("open", "follow"))
    np.testing.assert_array_equal(q[..., follower], 0.01 - q[..., lead])
    np.testing.assert_array_equal(robot.random_configuration(seed=7), robot.random_configuration(seed=7))
    assert np.ptp(q[..., :3], axis=(0, 1)).min() > 1.5
    assert np.abs(np.mean(q[..., 3:7], axis=(0, 1))).max() < 0.15  # all rotations are as likely
    longer = q.copy()
    longer[3, 1, 3:7] *= 1.001
    with pytest.raises(GeometryError,
                       match=r"quaternion of joint 'free' of gripper has the length 1.001 in configuration \(3, 1\)"):
        robot.configurations.check(longer)
    np.testing.assert_allclose(robot.configurations.normalized(longer), q, atol=1e-15)
    beyond = q[0, 0].copy()
    beyond[lead] = 0.05
    with pytest.raises(
            ModelError,
            match=r"joint 'open' of gripper is at 0.05 in the configuration: beyond its limits, from 0 to 0.04"):
        robot.configurations.check(beyond)
    robot.configurations.check(beyond, limits=False)
    with pytest.raises(SignatureError, match=r"\(..., 14\)"):
        robot.configurations.check(np.zeros(3))
    with pytest.raises(GeometryError, match="not finite"):
        robot.configurations.check(np.full(robot.nq, np.nan))
    with pytest.raises(GeometryError, match="is zero"):
        robot.configurations.normalized(np.zeros(robot.nq))


def test_a_number_of_random_configurations_cannot_be_taken_for_a_seed():
    arm = cy.load("panda")
    assert arm.random_configuration(1000).shape == (1000, 7)
    assert not np.array_equal(arm.random_configuration(), arm.random_configuration())
    for call in (lambda: arm.random_configuration(np.random.default_rng(0)), lambda: arm.random_configuration(-1),
                 lambda: arm.random_configuration(1.5), lambda: arm.random_configuration(None),
                 lambda: arm.random_configuration("3")):
        with pytest.raises(SignatureError, match=r"random_configuration\(1000, seed=0\)"):
            call()
    with pytest.raises(TypeError):
        arm.random_configuration(0, 1000)


def test_the_neutral_configuration_is_zero_even_where_limits_exclude_it():
    panda = cy.load("panda")
    np.testing.assert_array_equal(panda.neutral, np.zeros(7))
    panda.configurations.check(panda.neutral, limits=False)
    with pytest.raises(ModelError, match="'panda_joint4' of panda is at 0 in the configuration: beyond its limits"):
        panda.configurations.check(panda.neutral)


def test_a_mechanism_travels_as_its_data():
    arm = cy.load("ur5")
    q = arm.random_configuration(3, seed=0)
    poses = arm.pose(q, "tool")
    arm.all_inverse_kinematics(poses, "tool")
    again = pickle.loads(pickle.dumps(arm))
    np.testing.assert_array_equal(again.pose(q, "tool"), poses)


def test_a_family_of_kernels_behaves_as_a_function():
    arm = cy.load("planar2r")
    out = np.zeros((4, 6, 2))
    assert arm.jacobian(np.ones((4, 2)), "tool", axes="body", out=out) is out
    assert arm.jacobian([0.0, 0.0], frame="tool", axes="body").shape == (6, 2)
    assert arm.jacobian(np.zeros(2, dtype=np.float32), "tool", axes="body").dtype == np.float32
    assert arm.jacobian.of("tool", axes="body") is arm.jacobian.of(frame="tool", axes="body", at=None)
    assert arm.jacobian.__name__ == "jacobian" and "relative_to" in arm.jacobian.__doc__
    with pytest.raises(SignatureError, match="no option 'axis'; it has frame, axes, at, relative_to"):
        arm.jacobian([0.0, 0.0], "tool", axis="world")
    with pytest.raises(SignatureError, match="needs `frame`"):
        arm.jacobian([0.0, 0.0], axes="world")
    with pytest.raises(SignatureError):
        arm.jacobian([0.0, 0.0, 0.0], "tool", axes="world")


def test_a_choice_may_be_a_list_or_an_array():
    arm, rows = cy.load("planar2r"), (True, True, False, False, False, False)
    wanted = arm.dexterity.manipulability([0.3, 0.5], "tool", task=rows, axes="world")
    for task in (list(rows), np.array(rows), np.array(rows, dtype=float)):
        assert arm.dexterity.manipulability([0.3, 0.5], "tool", task=task, axes="world") == wanted
        assert arm.dexterity.manipulability.of("tool", task=task,
                                     axes="world") is arm.dexterity.manipulability.of("tool", task=rows, axes="world")


def test_vector_parameters_of_half_turns_are_refused_and_not_infinite():
    arm = cy.load("panda")
    with pytest.raises(SingularityError, match="'vector-parameter' is singular for 'tool'"):
        arm.coordinates(np.zeros((2, 7)), "tool", orientation="vector-parameter")
    assert np.isfinite(arm.coordinates(np.full(7, 0.1), "tool", orientation="vector-parameter")).all()
    assert np.isfinite(arm.coordinates(np.zeros(7), "tool", orientation="rotation vector")).all()


def test_changed_joints_keep_everything_else():
    """Gravity of the planar arm is along -y: an arm that was built anew from its parts would have lost it."""
    tool = Frame("camera", "link2", np.diag([1.0, -1.0, -1.0, 1.0]))
    tree = cy.load("planar2r").tree
    arm = cy.Mechanism(replace(tree, frames=(*tree.frames, tool), notes=("a note", )).including("friction"))
    rubbing = arm.with_friction("joint2", viscous=0.3, coulomb=0.2)
    geared = arm.variants.with_joints(replace(arm.joints[0], rotor=Rotor(1e-4, gear=50.0)), arm.joints[1])
    for changed in (rubbing, geared):
        assert isinstance(changed, cy.Mechanism)
        for name in ("name", "bodies", "frames", "loops", "source", "notes", "included"):
            assert getattr(changed.tree, name) == getattr(arm.tree, name), name
        np.testing.assert_array_equal(changed.gravity, [0.0, -9.81, 0.0])
        np.testing.assert_array_equal(changed.gravity_forces([0.3, 0.4]), arm.gravity_forces([0.3, 0.4]))
    state = [0.3, 0.4], [1.0, -2.0], [0.0, 0.0]
    np.testing.assert_allclose(
        rubbing.inverse_dynamics(*state) - arm.inverse_dynamics(*state), [0.0, -0.3 * 2.0 - 0.2], atol=1e-14)
    assert geared.joints[0].rotor.reflected == pytest.approx(0.25) and geared.joints[1] == arm.joints[1]


def test_joints_that_a_mechanism_does_not_have_are_named():
    arm = cy.load("planar2r")
    with pytest.raises(ModelError, match=r"no joint 'joint3'.*did you mean 'joint2'"):
        arm.with_friction("joint3", viscous=1.0)
    with pytest.raises(ModelError, match="no joint 'elbow'"):
        arm.variants.with_joints(replace(arm.joints[0], name="elbow"))
    with pytest.raises(ModelError, match="two joints named 'joint1'"):
        arm.variants.with_joints(arm.joints[0], arm.joints[0])
    assert arm.including("armature", "friction").tree.included == {"armature", "friction"}


def test_what_a_user_sees_of_the_package():
    """`dir` and `help` show what there is to use, also of what is loaded only when it is used."""
    assert {"load", "Mechanism", "catalogue", "kernel"} < set(dir(cy)) == {*cy.__all__, "__version__"}
    assert dir(cy.drawing) == sorted(cy.drawing.__all__) and "workspace" in dir(cy.drawing)
    assert all(hasattr(module, name) for module in (cy, cy.drawing) for name in module.__all__)
    text = pydoc.plain(pydoc.render_doc(cy))
    assert -1 < text.find("cy.load(") < text.find("cy.kernel(") and "class Mechanism(" in text
    assert "TYPE_CHECKING" not in dir(cy) and "Any" not in dir(cy)


def test_help_shows_how_functions_of_frames_are_called():
    arm = cy.load("planar2r")
    for shown in (pydoc.plain(pydoc.render_doc(cy.Mechanism.pose)), pydoc.plain(pydoc.render_doc(cy.Mechanism))):
        assert "pose(self, q: 'ArrayLike', frame: 'str', *, relative_to: 'str' = 'world') -> numpy.ndarray" in shown
    assert ("pose(q: 'ArrayLike', frame: 'str', *, relative_to: 'str' = "
            "'world')" in pydoc.plain(pydoc.render_doc(arm.pose)))
    for name, one in inspect.getmembers(cy.Mechanism, lambda member: isinstance(member, family)):
        first, *_ = inspect.signature(getattr(arm, name)).parameters
        assert first == "q" and one.__doc__.startswith(f"`{name}(q"), name


def header(kernel):
    """The comment at the head of exported C, in one line."""
    return " ".join(line.strip(" *")
                    for line in kernel.c_source().header.partition("*/")[0].splitlines()).replace("  ", " ")


def test_exported_c_says_of_which_mechanism_and_in_which_units_it_is():
    arm = cy.load("stanford").with_gravity([0.0, 9.81, 0.0])
    for kernel in (arm.inverse_dynamics, arm.inverse_dynamics.using("kane"), arm.gravity_forces, arm.inertia_matrix,
                   arm.jacobian.of("tool", axes="world")):
        comment = " ".join(header(kernel).split())
        assert ("Mechanism: stanford (Paul 1972, 1981; Bejczy 1974). Gravity (0, 9.81, 0) m/s^2 in the axes of the "
                "root, 'base'." in comment)
        rows = [f"q[{k}] qd[{k}] joint{k + 1} {'prismatic [m]' if k == 2 else 'revolute [rad]'}" for k in range(6)]
        assert " ".join(rows) in comment
    assert "tau vector of 6 [N m or N]" in header(arm.inverse_dynamics) and "out vector of 6 [N m or N]" in header(
        arm.gravity_forces)
    assert "qdd vector of 6 [rad/s^2]" in " ".join(header(cy.load("puma560").inverse_dynamics).split())
    assert "Method: kane." in header(arm.inverse_dynamics.using("kane"))
    pushed = header(arm.inverse_dynamics.with_inputs(wrenches=["tool"], axes="world"))
    assert "act ON the mechanism at the origins of 'tool', each in the axes of the root" in pushed
    assert "Mechanism: stanford" in header(arm.gravity_forces.jacobian("q"))


def test_exported_c_says_which_frame_and_axes_were_chosen():
    arm = cy.load("planar2r")
    assert "Here: frame 'tool' (on body 'link2'); relative to 'link1'." in header(
        arm.pose.of("tool", relative_to="link1"))
    world, body, other = (header(arm.jacobian.of("tool", axes=axes)) for axes in ("world", "body", "link1"))
    assert "axes 'world': those of the root, 'base'; at the origin of the frame" in world and "`axes`" not in world
    assert "axes 'body': those of the frame itself" in body and "axes 'link1'; at" in other
    assert "at a given point" in header(arm.jacobian.of("tool", axes="world", at=GIVEN))
    assert "at the point of the body that is at 'link1'" in header(arm.jacobian.of("tool", axes="world", at="link1"))


def test_exported_c_names_the_file_and_the_coordinates_of_a_floating_base():
    floating = cy.load(PANDA, floating_base=True)
    comment = " ".join(header(floating.center_of_mass).split())
    assert "(panda.urdf). Gravity" in comment and PANDA not in comment
    assert ("q[0..6] qd[0..5] root_joint floating x y z [m], qw qx qy qz; velocities vx vy vz [m/s], wx wy wz "
            "[rad/s]" in comment)
    assert "q[7] qd[6] panda_joint1 revolute [rad]" in comment


@needs("cc")
@pytest.mark.parametrize(
    "word", ["*/ int x; /*", "a // b", "C:\\arm\\", "???/", '"quoted" \'twice\'', "θ 関節 é", "*" * 120 + "/"])
def test_exported_c_holds_any_name(word):
    bodies = [Body(f"base {word}", 0.0), Body(f"link {word}", 1.0, (1.0, 0.0, 0.0))]
    arm = cy.Mechanism.of(word, bodies, [Joint(word, bodies[0].name, bodies[1].name, Revolute((0.0, 1.0, 0.0)))],
                          frames=[Frame(word, bodies[1].name)], source=f"{word}.urdf")
    for made in (arm.gravity_forces.c_source(word), arm.jacobian.of(word, axes=word,
                                                                    relative_to=bodies[0].name).c_source()):
        compiled_c(made)


def test_a_loaded_floating_base_against_the_free_flyer_of_pinocchio():
    robot, model = cy.load(PANDA, floating_base=True), pin.buildModelFromUrdf(PANDA, pin.JointModelFreeFlyer())
    robot = robot.variants.with_missing_masses(0.0).variants.spanning_tree()
    data, rng = model.createData(), np.random.default_rng(5)
    q, v, vd = robot.random_configuration(seed=6), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    there = q[[0, 1, 2, 4, 5, 6, 3, *range(7, robot.nq)]]
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, vd), pin.rnea(model, data, there, v, vd), rtol=0,
                               atol=1e-11)
    np.testing.assert_allclose(robot.integrate(q, v)[:3], pin.integrate(model, there, v)[:3], rtol=0, atol=1e-13)
    pin.framesForwardKinematics(model, data, there)
    np.testing.assert_allclose(robot.pose(q, "panda_link8"), data.oMf[model.getFrameId("panda_link8")].homogeneous,
                               atol=1e-13)
    assert robot.tree.source == PANDA and robot.bodies[0].name == "world"


def test_a_floating_base_of_what_is_not_urdf(tmp_path):
    """Of the catalogue and of TOML the whole arm is moved; what says itself that it floats is refused."""
    arm, floating = cy.load("panda_hand"), cy.load("panda_hand", floating_base=True)
    # by a third of a turn about (-1, 1, 1)
    q, base = arm.random_configuration(seed=1), np.array([0.3, -0.2, 0.5, 0.5, -0.5, 0.5, 0.5])
    moved = np.array([[0.0, -1.0, 0.0, 0.3], [0.0, 0.0, 1.0, -0.2], [-1.0, 0.0, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]])
    for frame in ("tool", "frame0"):
        np.testing.assert_allclose(floating.pose([*base, *q], frame), moved @ arm.pose(q, frame), atol=1e-14)
    assert (floating.name, floating.loops.mobility) == (arm.name, arm.loops.mobility + 6)
    np.testing.assert_array_equal(floating.gravity, arm.gravity)
    floating.save(tmp_path / "floating.toml")
    again = cy.load(tmp_path / "floating.toml")
    assert again.joint_names == floating.joint_names
    with pytest.raises(
            ModelError,
            match="panda_hand has a floating base already: joint 'root_joint' on 'world'; leave floating_base out"):
        cy.load(tmp_path / "floating.toml", floating_base=True)
    file = tmp_path / "drone.xml"
    file.write_text('<mujoco><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>')
    with pytest.raises(UnsupportedError,
                       match=r"drone\.xml: MJCF says itself what floats; leave floating_base out, and .* <freejoint/>"):
        cy.load(file, floating_base=True)
    assert cy.load(file).nq == 7


def test_a_body_with_a_mass_that_carries_what_floats_may_float_itself():
    station = Tree.of("station", [Body("hull", 5.0), Body("drone", 1.0)],
                      [Joint("flight", "hull", "drone", Floating())])
    assert on_floating_base(station).nv == 12
    bare = Tree.of("empty", [Body("ground"), Body("drone", 1.0)], [Joint("flight", "ground", "drone", Floating())])
    with pytest.raises(ModelError, match="already"):
        on_floating_base(bare)
    assert on_floating_base(Tree.of("stone", [Body("stone", 1.0)], [])).nv == 6


@pytest.mark.parametrize("ending, beginning", [(".toml", "name = "), (".urdf", "<?xml"), (".URDF", "<?xml"),
                                               (".xml", "<mujoco"), (".mjcf", "<mujoco")])
def test_what_is_saved_is_in_the_format_of_its_ending_and_the_same_mechanism(tmp_path, ending, beginning):
    arm, path = cy.load("scara"), tmp_path / f"arm{ending}"
    arm.save(path, leave_out=True)
    again = cy.load(path)
    assert path.read_text().startswith(beginning) and again.joint_names == arm.joint_names
    q = arm.random_configuration(5, seed=2)
    np.testing.assert_allclose(again.pose(q, "tool"), arm.pose(q, "tool"), rtol=0, atol=1e-14)


def test_what_does_not_move_has_configurations_of_no_coordinates():
    stone = cy.Mechanism.of("stone", [Body("stone", 1.0)], [])
    for shape in ((0,), (3, 0)):
        assert stone.integrate(np.zeros(shape), np.zeros(shape)).shape == stone.difference(
            np.zeros(shape), np.zeros(shape)).shape == shape


def test_choices_that_are_missing_are_named():
    arm = cy.load("planar2r")
    q = [0.0, 0.0]
    with pytest.raises(SignatureError,
                       match=r"pose needs `frame`: it is called pose\(q, frame, \*, relative_to='world'\)"):
        arm.pose(q)
    with pytest.raises(SignatureError, match="coordinates needs `frame` and `orientation`"):
        arm.coordinates(q)
    with pytest.raises(SignatureError, match=r"pose\.of: missing a required argument: 'frame'"):
        arm.pose.of()
    with pytest.raises(ModelError, match="no frame or body 3: a frame is named by a text"):
        arm.pose(q, 3)


def test_what_only_a_kernel_has_says_which_kernel_to_ask():
    arm = cy.load("planar2r")
    for ask in (lambda: arm.pose.c_source("fk"), lambda: arm.pose.evaluate(cy.NUMPY, [0.0, 0.0]),
                lambda: arm.pose.unchecked([0.0, 0.0])):
        with pytest.raises(AttributeError, match=r"pose\.of\(frame=\.\.\.\)"):
            ask()
    with pytest.raises(AttributeError, match=r"jacobian\.operations\(frame=\.\.\., axes=\.\.\.\)"):
        arm.jacobian.operations()
    assert "pose.c_source(frame=...)" in repr(arm.pose.c_source)


def test_a_family_hands_on_what_a_kernel_has_once_the_choice_is_named():
    arm = cy.load("planar2r")
    assert arm.pose.c_source("fk", frame="tool", dtype="float32") == arm.pose.of("tool").c_source("fk", dtype="float32")
    assert arm.jacobian.operations(frame="tool", axes="body") == arm.jacobian.of("tool", axes="body").operations()
    assert arm.jacobian.jacobian("q", frame="tool", axes="world")([0.0, 0.0]).shape == (6, 2, 2)
    assert arm.pose.unchecked(frame="tool") is arm.pose.of("tool").unchecked
    assert arm.pose.inputs(frame="tool") == ("q",)
    for asked, error, words in [(lambda: arm.pose.c_source(frame="toll"), ModelError, "did you mean 'tool'"),
                                (lambda: arm.jacobian.c_source(frame="tool"), ConventionError, 'axes="world"'),
                                (lambda: arm.jacobian.c_source(axes="world"), SignatureError, "frame")]:
        with pytest.raises(error, match=words):
            asked()


def test_exported_c_names_its_file_and_the_digests(tmp_path):
    """No folder of this machine; what is changed after reading keeps the file and has other numbers."""
    file = tmp_path / "arm.toml"
    cy.load("planar2r").save(file)
    arm = cy.load(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    heavier = arm.with_payload("tool", mass=1.0)
    texts = [header(one.gravity_forces) for one in (arm, heavier, cy.load(file))]
    for text in texts:
        assert f"File: arm.toml, SHA-256 {digest}" in text and str(tmp_path) not in text
    numbers = [re.search(r"Numbers as they are here: SHA-256 (\w{64})", text)[1] for text in texts]
    assert numbers[0] == numbers[2] != numbers[1]
    assert pickle.loads(pickle.dumps(arm)).tree.source.sha256 == digest
    built = cy.Mechanism.of("rail", [Body("ground"), Body("cart", 2.0)],
                            [Joint("slide", "ground", "cart", Prismatic())], source=r"C:\Users\me\rail.urdf")
    assert "Users" not in header(built.gravity_forces) and "(rail.urdf)" in header(built.gravity_forces)
    assert "File:" not in header(built.gravity_forces)


def test_laws_in_c_say_whose_they_are():
    law = cy.load("planar2r").control.computed_torque(100.0, 20.0, 50.0, wind_up=30.0)
    text = law.with_parameters({"kp": [7.0, 8.0]}).c_source("law").header
    words = " ".join(line.strip(" *") for line in text.partition("*/")[0].splitlines())
    assert "kp = [7., 8.]" in words and "File: planar2r.toml" in words
    assert "q[1] qd[1] joint2" in " ".join(words.split())
    assert "tau [N m]" in words and "[s, the period]" in words


def test_results_read_well_in_a_terminal():
    """What the prompt shows is no dump of fields."""
    arm = cy.load("planar2r")
    plane = (True, True, False, False, False, False)
    report, comparison = arm.summary(), arm.formulations.compare_inverse_dynamics([0.3, 0.1], [0.0, 0.0], [0.0, 0.0],
                                                                    methods=["kane"])
    stretched, bent = (arm.dexterity.singularity([0.3, elbow], "tool", task=plane, axes="world") for elbow in (0.0,
                                                                                                               1.0))
    shown = [(report, "lower [rad]"), (report.joints, "armature [kg m^2]"), (comparison, "The methods agree"),
             (arm.dh_table(convention="standard"), "theta [rad]"),
             (arm.gravity_forces.c_source("hold"), "<C99 function hold, "),
             (arm.dexterity.indices([0.3, 1.0], "tool", task=plane,
                          axes="world"), "<manipulability 0.1683, condition number 4.446")]
    for result, words in shown:
        assert words in repr(result) and "(name=" not in repr(result) and "array(" not in repr(
            result) and "rows=(" not in repr(result)
    assert repr(stretched) == "<boundary singularity: rank 1 of 2, lost velocities [0.9553 0.2955]>"
    assert repr(bent).startswith("<regular configuration: rank 2")
    assert "<td>joint1</td>" in report._repr_html_() and "<th>method</th>" in comparison._repr_html_()
    folding = cy.Mechanism.from_dh([(0, 0, 0.5, 0), (0, 0, 0.5, 0)], convention="standard")
    assert "reach 0 to 1 m" in repr(folding.pictures.workspace("tool", samples=500))


def test_missing_masses_may_be_said_to_be_none():
    """A body whose mass is unknown is refused by name, until the user says that it has none; what is known, fixed or
    the root stays.
    """
    bodies = [
        Body("base"),
        Body("dummy"),
        Body("flange"),
        Body("link", 2.0, (0.5, 0.0, 0.0),
             np.eye(3) / 10),
        Body("tool")]
    joints = [Joint("turn", "base", "dummy", Revolute()), Joint("weld", "dummy", "flange"),
              Joint("lift", "flange", "link", Revolute((0.0, 1.0, 0.0))), Joint("hold", "link", "tool")]
    arm = cy.Mechanism.of("arm", bodies, joints, gravity=(0.0, -1.0, 0.0)).including("armature")
    with pytest.raises(ModelError, match=r"'dummy' \(moved by 'turn'\).*with_missing_masses"):
        _ = arm.inertia_matrix
    said = arm.variants.with_missing_masses(0.0)
    assert [body.mass for body in said.bodies] == [None, 0.0, None, 2.0,
                                                   None] and said.tree.included == arm.tree.included
    assert (said.gravity == arm.gravity).all() and said.frames == arm.frames
    np.testing.assert_allclose(said.inertia_matrix([0.3, 0.0]), np.diag([0.6, 0.6]), atol=1e-15)
    heavy = arm.variants.with_missing_masses(1.5)
    assert heavy.bodies[1].mass == 1.5
    with pytest.raises(ModelError, match="mass"):
        arm.variants.with_missing_masses(-1.0)


@pytest.mark.filterwarnings("ignore:.*former name:DeprecationWarning")
def test_a_mechanism_where_a_tree_is_wanted_and_a_misspelt_name_are_said():
    arm = cy.load("planar2r")
    with pytest.raises(cy.TraceError, match=r"give this function arm\.tree, not arm"):
        cy.simulation.simulate(arm, [0.0, 0.0], [0.0, 0.0], until=0.1, progress=False)
    with pytest.raises(AttributeError, match=r"here it is `arm\.inverse_dynamics"):
        arm.inverse_dynamic  # noqa: B018
    assert not hasattr(arm, "__array_interface__")
