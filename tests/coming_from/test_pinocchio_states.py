"""States that go over from Pinocchio and back: frames, torques and mass matrices of both agree on random states, with
limbs in another order, floating bases, balls, continuous joints and mimic joints."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import ModelError, SignatureError, UnsupportedError

BALLS = """<robot name="balls"><link name="trunk"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0.01" izz="0.2"/></inertial></link>{limbs}</robot>"""
LIMB = """<joint name="{name}" type="{kind}"><parent link="trunk"/><child link="{name} link"/>
    <origin xyz="0 {y} 0.1" rpy="0.1 0.2 0.3"/><axis xyz="0 0.6 0.8"/></joint>
  <link name="{name} link"><inertial><origin xyz="0.2 0 0.1"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0.001" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>"""
ROBOTS = [("panda", False), ("anymal_b", True), ("anymal_c", True), ("solo12", True), ("talos", True), ("talos", False),
          ("kinova_gen2", False), ("kinova_gen3", False), ("iris", True), ("tiago", True), ("limbs", True),
          ("limbs", False)]


def both(name, floating, folder, **options):
    """A robot in both libraries, from one file, with angles as the file has them."""
    if name == "limbs":
        kinds = {"right": "continuous", "left": "continuous", "antenna": "continuous"}
        path = folder / "limbs.urdf"
        path.write_text(BALLS.format(limbs="".join(LIMB.format(name=each, kind=kind, y=0.1 * k)
                                                   for k, (each, kind) in enumerate(kinds.items()))))
    else:
        path = cy.load(name).tree.source
        if not path.endswith(".urdf"):
            path = folder / f"{name}.urdf"
            cy.load(name).save(path, leave_out=True)
    arm = cy.load(path, floating_base=floating, exact_angles=False)
    free = [pin.JointModelFreeFlyer()] if floating else []
    return arm, pin.buildModelFromUrdf(str(path), *free, **options)


def random_state(model, seed, count=3):
    random = np.random.default_rng(seed)
    q = np.array([pin.integrate(model, pin.neutral(model), random.uniform(-3.0, 3.0, model.nv)) for _ in range(count)])
    return q, *random.normal(size=(2, count, model.nv))


@pytest.mark.parametrize("name, floating", ROBOTS)
def test_frames_and_torques_agree(name, floating, tmp_path):
    arm, model = both(name, floating, tmp_path)
    data = model.createData()
    theirs = random_state(model, 7)
    go = arm.configurations
    q, qd, qdd = go.q_from_pinocchio(model, theirs[0]), *(go.v_from_pinocchio(model, v) for v in theirs[1:])
    arm.configurations.check(q, limits=False)
    tau, M = arm.inverse_dynamics(q, qd, qdd), arm.inertia_matrix(q)
    for k, state in enumerate(zip(*theirs, strict=True)):
        pin.framesForwardKinematics(model, data, state[0])
        for frame in model.frames:
            if frame.type == pin.BODY and frame.name in arm.frame_names:
                expected = data.oMf[model.getFrameId(frame.name, pin.BODY)].homogeneous
                np.testing.assert_allclose(arm.pose(q[k], frame.name), expected, atol=1e-12)
        expected = go.v_from_pinocchio(model, pin.rnea(model, data, *state))
        np.testing.assert_allclose(tau[k], expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        upper = np.triu(pin.crba(model, data, state[0]))
        full = go.v_from_pinocchio(model, go.v_from_pinocchio(model, upper + np.triu(upper, 1).T).T)
        np.testing.assert_allclose(M[k], full, atol=1e-12 * np.abs(full).max())


@pytest.mark.parametrize("name, floating", ROBOTS)
def test_states_come_back(name, floating, tmp_path):
    arm, model = both(name, floating, tmp_path)
    go = arm.configurations
    q, v, _ = random_state(model, 8)
    np.testing.assert_allclose(go.q_to_pinocchio(model, go.q_from_pinocchio(model, q)), q, atol=1e-15)
    np.testing.assert_array_equal(go.v_to_pinocchio(model, go.v_from_pinocchio(model, v)), v)


def test_the_order_matters_where_it_is_tested():
    dog, model = both("anymal_b", True, None)
    assert (dog.configurations.v_from_pinocchio(model, np.arange(18.0)) != np.arange(18.0)).any()


def test_balls_of_a_model_that_is_not_from_a_file():
    """A ball is in no URDF file: one is built by hand in both."""
    from cayley.model.joint_kinds import Spherical
    from cayley.model.parts import Body, Joint
    inertia = np.diag([0.02, 0.03, 0.04])
    arm = cy.Mechanism.of("ball", [Body("base"), Body("link", 2.0, (0.1, 0.2, 0.3), inertia)],
                          [Joint("hip", "base", "link", Spherical())])
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "hip")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.array([0.1, 0.2, 0.3]), inertia), pin.SE3.Identity())
    q, v, a = (found[0] for found in random_state(model, 3, 1))
    go = arm.configurations
    np.testing.assert_allclose(arm.inverse_dynamics(go.q_from_pinocchio(model, q), v, a),
                               pin.rnea(model, model.createData(), q, v, a), atol=1e-13)
    assert (go.q_to_pinocchio(model, go.q_from_pinocchio(model, q)) == q).all()


@pytest.mark.parametrize("mimic", [True, False])
def test_mimic_joints_follow_where_pinocchio_has_removed_them_and_are_taken_where_not(mimic, tmp_path):
    arm, model = both("panda_hand", False, tmp_path, mimic=mimic)
    assert model.nq == (8 if mimic else 9)
    q, v, _ = random_state(model, 5)
    go = arm.configurations
    ours, rates = go.q_from_pinocchio(model, q), go.v_from_pinocchio(model, v)
    data = model.createData()
    for k in range(len(q)):
        pin.framesForwardKinematics(model, data, q[k])
        np.testing.assert_allclose(arm.pose(ours[k], "panda_rightfinger"),
                                   data.oMf[model.getFrameId("panda_rightfinger")].homogeneous, atol=1e-12)
    if mimic:
        np.testing.assert_allclose(go.with_mimic_joints(ours), ours)
        np.testing.assert_allclose(rates[:, 8], rates[:, 7])
    np.testing.assert_allclose(go.q_to_pinocchio(model, ours), q)
    np.testing.assert_allclose(go.v_to_pinocchio(model, rates), v)


def test_a_base_of_another_name_is_found():
    dog = cy.load("anymal_b", floating_base=True)
    model = pin.buildModelFromUrdf(dog.tree.source, pin.JointModelFreeFlyer(), "floating")
    assert model.existJointName("floating")
    q = random_state(model, 1, 1)[0][0]
    assert (dog.configurations.q_from_pinocchio(model, q)[:3] == q[:3]).all()


def test_robots_that_differ_are_refused_by_the_joint(tmp_path):
    dog, model = both("anymal_b", True, tmp_path)
    fixed = cy.load("anymal_b")
    with pytest.raises(ModelError, match=r"a joint 'root_joint' that anymal does not have; load it with floating_base"):
        fixed.configurations.q_from_pinocchio(model, pin.neutral(model))
    standing = pin.buildModelFromUrdf(dog.tree.source)
    with pytest.raises(ModelError, match=r"anymal has a joint 'root_joint' that the .*JointModelFreeFlyer\(\)"):
        dog.configurations.v_from_pinocchio(standing, np.zeros(12))
    with pytest.raises(ModelError, match="a joint 'LF_HAA' that panda does not have"):
        cy.load("panda").configurations.q_to_pinocchio(standing, np.zeros(7))
    with pytest.raises(SignatureError, match=r"q must have the shape \(..., 19\), not \(19, 4\).*transposed"):
        dog.configurations.q_from_pinocchio(model, np.zeros((19, 4)))
    with pytest.raises(SignatureError, match=r"^q_from_pinocchio needs `q`. It is called q_from_pinocchio\(model, q\)"):
        dog.configurations.q_from_pinocchio(model)


def test_joints_whose_coordinates_mean_something_else_are_refused():
    cart = cy.load("two_wheel_robot")
    rows = [(joint.name, own) for joint, own in zip(cart.joints, cart.tree.q_slices, strict=True) if joint.motion.nv]
    odd = next(name for name, own in rows if own.stop - own.start == 3)
    model = SimpleNamespace(names=["universe", odd], nqs=[0, 4], nvs=[0, 3], idx_qs=[0, 0], idx_vs=[0, 0], nq=4, nv=3)
    with pytest.raises(UnsupportedError, match=f"joint '{odd}' of .* is planar, and in the Pinocchio model it has 4"):
        cart.configurations.q_from_pinocchio(model, np.zeros(4))


def test_pinocchio_is_not_needed():
    """Whatever has names and places is a model."""
    text = ("import sys, cayley as cy; from types import SimpleNamespace as M; sys.modules['pinocchio'] = None; "
            "m = M(names=['universe', 'joint2', 'joint1'], nqs=[0, 1, 1], nvs=[0, 1, 1], idx_qs=[0, 0, 1], "
            "idx_vs=[0, 0, 1], nq=2, nv=2); "
            "print(cy.load('planar2r').configurations.q_from_pinocchio(m, [[1.0, 2.0]]).tolist())")
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[[2.0, 1.0]]"
