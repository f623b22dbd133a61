"""Constraints in MJCF files: MuJoCo's residuals and constraint Jacobians of what is written and read are those of the
mechanism.
"""

import mujoco
import numpy as np
import pytest
from scipy.linalg import null_space, subspace_angles

import cayley as cy
from cayley.errors import ModelError, UnsupportedError
from cayley.model.constraint_kinds import Coupling, Polynomial, Rod
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.mjcf_text import dump_mjcf
from cayley.model.joint_kinds import JointKind, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Loop, Mimic
from cayley.model.tree import Tree
from model.plain_forward import body_poses, frame_poses, random_configuration

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
CLOSED = ("four_bar", "delta", "stewart", "gripper", "excavator")


def equalities(model, q):
    """MuJoCo's residuals and Jacobian of the equalities."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    J = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        J[:] = data.efc_J.reshape(data.nefc, model.nv)
    return data.efc_pos[:data.ne].copy(), J[:data.ne]


def pose(x=0.0, y=0.0, z=0.0, turn=0.0):
    made = np.eye(4)
    made[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    made[:3, 3] = x, y, z
    return made


def tree(joints=4, **more):
    """A chain of slides and turns beside another."""
    bodies = [Body("world"), *[Body(f"b{k}", 1.0, [0.1, 0, 0.1], np.eye(3)) for k in range(joints)]]
    parents = ["world", "b0", "world", "b2"]
    motions = [Revolute((0.0, 0.6, 0.8)), Prismatic((1.0, 0.0, 0.0)), Spherical(), Revolute((0.0, 1.0, 0.0))]
    made = [Joint(f"j{k}", parents[k], f"b{k}", motions[k], pose(0.3 * k, 0.2, 0.1, 0.4 * k)) for k in range(joints)]
    frames = [Frame("left", "b1", pose(0.2, 0.1, 0.3, 0.5)), Frame("right", "b3", pose(-0.1, 0.4, 0.2, -0.8))]
    mimics = more.pop("mimics", {})
    made = [Joint(j.name, j.parent, j.child, j.motion, j.placement, mimic=mimics.get(j.name)) for j in made]
    return Tree.of("pair", bodies, made, frames=frames, **more)


@pytest.mark.parametrize("made", [
    tree(loops=[Loop("pin", "left", "right", Spherical())]),
    tree(loops=[Loop("pin", "b1", "right", Spherical())]),
    tree(constraints=[Coupling("sum", ("j0", "j1", "j3"), (2.0, -0.5, 1.5), 0.3)]),
    tree(constraints=[Coupling("held", ("j1",), (1.0,), 0.3)]),
    tree(constraints=[Polynomial("cam", "j1", "j0", (0.1, 0.2, -0.3, 0.4, 0.5))]),
    tree(mimics={"j1": Mimic("j0", -2.0, 0.3), "j3": Mimic("j1", 0.5, -0.1)})], ids=lambda one: one.name)
def test_residuals_and_jacobians_are_mujocos_at_any_configuration(made):
    arm = cy.Mechanism(made)
    for text in (dump_mjcf(made), dump_mjcf(load_mjcf(dump_mjcf(made)))):
        model = mujoco.MjModel.from_xml_string(text)
        again = cy.Mechanism(load_mjcf(text))
        rng = np.random.default_rng(1)
        for _ in range(4):
            q = random_configuration(made, rng)
            theirs, J = equalities(model, q)
            sign = -1.0 if made.loops else 1.0  # first less second
            if made.mimic_joints:  # ours follow the leader, whatever is between
                theirs[1] += 0.5 * theirs[0]
                J[1] += 0.5 * J[0]
            for one in (arm, again):
                np.testing.assert_allclose(one.loops.residual(q), sign * theirs, atol=1e-12)
                np.testing.assert_allclose(one.loops.jacobian(q), sign * J, atol=1e-12)


@pytest.mark.parametrize("kind", [JointKind(), Revolute((0.0, 0.6, 0.8)), Spherical()])
def test_loops_hold_the_points_and_axes_of_their_frames(kind):
    made = tree(loops=[Loop("ring", "left", "b3", kind)])
    model = mujoco.MjModel.from_xml_string(dump_mjcf(made))
    for _ in range(3):
        q = random_configuration(made, np.random.default_rng(4))
        theirs, _ = equalities(model, q)
        poses = {**body_poses(made, q), **frame_poses(made, q)}
        first, second = poses["left"], poses["b3"]
        np.testing.assert_allclose(theirs[:3], (first - second)[:3, 3], atol=1e-12)
        if isinstance(kind, Revolute):
            np.testing.assert_allclose(theirs[3:], (first - second)[:3] @ [*kind.axis, 1.0], atol=1e-12)
        elif not isinstance(kind, Spherical):
            turn = second[:3, :3].T @ first[:3, :3]
            half = np.sqrt(max(0.0, 3 - np.trace(turn))) / 2
            np.testing.assert_allclose(np.linalg.norm(theirs[3:]), half, atol=1e-12)


def test_a_rod_is_a_tendon_of_its_length():
    made = tree(constraints=[Rod("link", "left", "b3", 0.7)])
    text = dump_mjcf(made)
    model = mujoco.MjModel.from_xml_string(text)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q = random_configuration(made, rng)
        theirs, _ = equalities(model, q)
        poses = {**body_poses(made, q), **frame_poses(made, q)}
        distance = np.linalg.norm((poses["left"] - poses["b3"])[:3, 3])
        np.testing.assert_allclose(theirs, distance - 0.7, atol=1e-12)
    back, = load_mjcf(text).constraints
    assert isinstance(back, Rod) and back.name == "link" and back.length == pytest.approx(0.7, abs=1e-15)


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_machine_moves_in_mujoco_as_it_does_here(name):
    """At a closed configuration what MuJoCo's equalities leave free is what the constraints leave free, and the file
    comes back as a machine of the same mobility."""
    arm = cy.load(name)
    text = dump_mjcf(arm.tree, leave_out=True)
    model = mujoco.MjModel.from_xml_string(text)
    theirs, J = equalities(model, arm.neutral)
    assert np.abs(theirs).max() < 2e-15 and (model.nq, model.nv) == (arm.nq, arm.nv)
    free = null_space(arm.loops.jacobian(arm.neutral), rcond=1e-9)
    assert subspace_angles(null_space(J, rcond=1e-9), free).max() < 1e-9
    back = cy.Mechanism(load_mjcf(text))
    assert back.loops.mobility == arm.loops.mobility and back.actuated_joints == arm.actuated_joints
    np.testing.assert_allclose(back.pose(arm.neutral, "tool"), arm.pose(arm.neutral, "tool"), atol=1e-14)


TWO = """<body name="a"><joint name="x" ref="0.4"/><geom size="1"/></body>
<body name="b"><joint name="y" type="slide" ref="-0.2"/><geom size="1"/><site name="s"/></body>
<body name="c"><joint name="z"/><geom size="1"/><site name="t" pos="0 0 1"/></body>"""


def model_text(equality, more=""):
    return f"<mujoco>\n<worldbody>{TWO}</worldbody>\n{more}\n<equality>\n{equality}\n</equality></mujoco>"


@pytest.mark.parametrize(("equality", "more"), [
    ('<joint joint1="y" joint2="x" polycoef="0.3 -2 0.5 0.25 -1"/>', ""),
    ('<joint joint1="y" polycoef="0.3 7 0 0 0"/>', ""),
    ('<joint joint1="y" joint2="x" polycoef="0.3 0 0 0 0"/>', ""),
    ('<joint joint1="y" joint2="x" polycoef="0.3 2 0 0 0"/><joint joint1="y" joint2="z" polycoef="0.1 -1 0 0 0"/>', ""),
    ('<joint joint1="y" joint2="x" polycoef="0.3 2 0 0 0"/><joint joint1="x" joint2="y" polycoef="0.1 -1 0 0 0"/>', ""),
    ('<tendon tendon1="f" polycoef="0.1 0 0 0 0"/>',
     '<tendon><fixed name="f"><joint joint="x" coef="2"/><joint joint="y" coef="-3"/></fixed></tendon>'),
    ('<tendon tendon1="f" tendon2="g" polycoef="0.1 2 0 0 0"/>',
     '<tendon><fixed name="f"><joint joint="x" coef="2"/></fixed><fixed name="g"><joint joint="y" coef="-3"/>'
     '<joint joint="x" coef="0.5"/></fixed></tendon>')])
def test_equalities_of_joints_and_fixed_tendons_are_read(equality, more):
    text = model_text(equality, more)
    arm = cy.Mechanism(load_mjcf(text))
    model = mujoco.MjModel.from_xml_string(text)
    for q in np.random.default_rng(3).normal(size=(4, 3)):
        theirs, J = equalities(model, q)
        order = np.argsort(theirs)
        ours = arm.loops.residual(q)
        np.testing.assert_allclose(np.sort(ours), theirs[order], atol=1e-12)
        np.testing.assert_allclose(arm.loops.jacobian(q)[np.argsort(ours)], J[order], atol=1e-12)


def test_a_weld_without_torques_lets_its_bodies_turn():
    loop, = load_mjcf(model_text('<weld name="w" body1="a" body2="b" torquescale="0"/>')).loops
    assert loop.motion == Spherical()


def test_what_has_no_form_is_refused_with_its_line():
    bent = '<tendon><spatial name="f"><site site="s"/><geom geom="g"/><site site="t"/></spatial></tendon>'
    text = model_text('<tendon name="rope" tendon1="f"/>', bent).replace('<geom size="1"/></body>',
                                                                        '<geom name="g" size="1"/></body>', 1)
    with pytest.raises(UnsupportedError, match=r"^text, line 7, <tendon name=\"rope\">: the equality 'rope' of tend"):
        load_mjcf(text)
    curved = '<tendon><fixed name="f"><joint joint="x" coef="2"/></fixed><fixed name="g"><joint joint="y" coef="3"/>' \
             "</fixed></tendon>"
    with pytest.raises(UnsupportedError, match="straight line"):
        load_mjcf(model_text('<tendon tendon1="f" tendon2="g" polycoef="0 1 2 0 0"/>', curved))
    with pytest.raises(UnsupportedError, match="'cam' of pair is of degree 5"):
        dump_mjcf(tree(constraints=[Polynomial("cam", "j1", "j0", (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))]))
    with pytest.raises(UnsupportedError, match="no form for the prescribed motion"):
        dump_mjcf(tree(constraints=[cy.model.constraint_kinds.PrescribedMotion("drive", "j0", "sin(t)")]))


def test_a_polynomial_needs_two_joints_and_numbers():
    for wrong in (lambda: Polynomial("p", "a", "a", (1.0,)), lambda: Polynomial("p", "a", "b", ()),
                  lambda: Polynomial("p", "a", "b", (np.nan,))):
        with pytest.raises(ModelError, match="two different joints and a list of finite coefficients"):
            wrong()
