"""The one object of a robot: its functions are kernels, its mistakes are named."""

from importlib.metadata import files

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import ConventionError, ModelError


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
    np.testing.assert_allclose(arm.difference(q, arm.integrate(q, velocity)), np.broadcast_to(velocity, (7, 6)), atol=1e-14)
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
