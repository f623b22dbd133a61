"""Mixed (c, t) chains against Pinocchio's ball joints and free slides, values of the catalogue and differences."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import CayleyError, SingularityError, UnsupportedError
from cayley.geometry.rotations import quaternion_from_vector_parameter
from cayley.geometry.tensors.cross import skew
from cayley.model.denavit_hartenberg.table import DHRow
from dynamics.chains import random_chain, random_state
from kinematics.pinocchio_trees import PinocchioTree, se3

pytestmark = pytest.mark.spec("S0-71")


def scara():
    """RRPR with masses."""
    rows = [DHRow(a=0.4, d=0.3), DHRow(a=0.3, alpha=np.pi), DHRow(kind="prismatic", d=0.1), DHRow(d=0.05)]
    return cy.Mechanism.from_dh(rows, convention="standard", name="scara", masses=[3.0, 2.0, 1.0, 0.5],
                                centers=[[-0.2, 0.01, 0.0], [-0.15, 0.0, 0.02], [0.0, 0.0, -0.1], [0.01, 0.0, 0.0]],
                                inertias=[np.diag(d) for d in ([0.02, 0.05, 0.06], [0.01, 0.03, 0.03],
                                                               [0.01, 0.01, 0.002], [0.001, 0.002, 0.002])])


ARMS = {"RPR": lambda: cy.Mechanism(random_chain("RPR", 3, frames="any")), "SCARA": scara,
        "R-T-R-R": lambda: cy.load("s3_w08"),
        "load amidships": lambda: cy.Mechanism(random_chain("PRR", 4)).with_payload("link1", 0.7, inertia=np.eye(3))}


@pytest.fixture(scope="module", params=ARMS)
def arm(request):
    return ARMS[request.param]()


def close(found, expected, tolerance=1e-11):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def free_joints(tree):
    """The same bodies on ball joints and free slides, in Pinocchio."""
    model, places = pin.Model(), {tree.bodies[0].name: (0, pin.SE3.Identity())}
    model.gravity.linear = np.array(tree.gravity)
    for joint in tree.joints:
        parent, place = places[joint.parent]
        place = place * se3(joint.placement)
        if joint.motion.nv:
            kind = pin.JointModelSpherical() if joint.motion.turns else pin.JointModelTranslation()
            parent, place = model.addJoint(parent, kind, place, joint.name), pin.SE3.Identity()
        places[joint.child] = parent, place
        body = tree.bodies[tree.body_number(joint.child)]
        if body.mass is not None and parent:
            inertia = pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia))
            model.appendBodyToJoint(parent, inertia, place)
    return model


def of_pinocchio(tree, x, xd, xdd):
    """q, v, a there, and the matrices by which forces along x follow from those there."""
    q, v, a, maps = [], [], [], []
    moving = [joint for joint in tree.joints if joint.motion.nv]
    for joint, c, dc, ddc in zip(moving, x, xd, xdd, strict=True):
        if joint.motion.turns:
            B = 2 / (1 + c @ c) * (np.eye(3) - skew(c))  # the body's angular velocity by dc
            dB = -2 / (1 + c @ c) * ((c @ dc) * B + skew(dc))
            q.append(np.roll(quaternion_from_vector_parameter(c), -1))
            v.append(B @ dc)
            a.append(B @ ddc + dB @ dc)
            maps.append(B)
        else:
            q.append(c)
            v.append(dc)
            a.append(ddc)
            maps.append(np.eye(3))
    return np.concatenate(q), np.concatenate(v), np.concatenate(a), maps


def test_all_components_are_those_of_ball_joints_and_free_slides(arm):
    """J_V, H_V, h_V and P_V with x off the axes too, against Pinocchio. (The texts.)"""
    model, there = arm.formulations.vector_parameter_model(), free_joints(arm.tree)
    n = arm.nv
    x, xd, xdd = np.random.default_rng(1).normal(size=(3, n, 3)) * 0.7
    q, v, a, maps = of_pinocchio(arm.tree, x, xd, xdd)
    data = there.createData()
    tau = pin.rnea(there, data, q, v, a)
    forces = np.stack([m.T @ part for m, part in zip(maps, tau.reshape(n, 3), strict=True)])
    found = model.inverse_dynamics.reference(x, xd, xdd)
    close(found, forces)
    close(model.inertia_matrix.reference(x) @ xdd.ravel() + model.bias_forces.reference(x, xd), forces.ravel())
    close(model.forward_dynamics.reference(x, xd, found), xdd, 1e-9)
    pin.forwardKinematics(there, data, q, v)
    tip = [joint for joint in arm.joints if joint.motion.nv][-1]
    pose = model.pose(tip.child).reference(x)
    close(pose.position, data.oMi[n].translation)
    twist = pin.getVelocity(there, data, n, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    close(model.jacobian(tip.child).reference(x) @ xd.ravel(), np.concatenate([twist.linear, twist.angular]))
    middle = [joint for joint in arm.joints if joint.motion.nv][1].child
    between = model.jacobian(middle).reference(x)
    assert between.shape == (6, 3 * n) and not between[:, 6:].any()
    seen = pin.getVelocity(there, data, 2, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    close(between @ xd.ravel(), np.concatenate([seen.linear, seen.angular]))


def test_along_the_axes_it_is_the_arm(arm):
    """Poses, Jacobian, mass matrix and joint forces of the arm; its recursions in spatial operators; Pinocchio."""
    model, (q, qd, qdd) = arm.formulations.vector_parameter_model(), random_state(arm.tree, 2)
    tip, n = arm.joints[-1].child, arm.nv
    rates = model.rates.reference
    x, E = model.coordinates.reference(q), np.stack([rates(q, unit).ravel() for unit in np.eye(n)], axis=1)
    close(model.pose(tip).reference(x).position, arm.pose(q, tip)[:3, 3])
    close(model.jacobian(tip).reference(x) @ E, arm.jacobian(q, tip, axes="world"))
    here = PinocchioTree.of(arm.tree)
    here.model.gravity.linear = np.array(arm.gravity)
    data = here.model.createData()
    tau = pin.rnea(here.model, data, here.q(q), qd, qdd)
    mass = pin.crba(here.model, data, here.q(q))
    close(E.T @ model.inertia_matrix.reference(x) @ E, np.triu(mass) + np.triu(mass, 1).T)
    step = 1e-6
    bent = (rates(q + step * qd, qd) - rates(q - step * qd, qd)) / (2 * step)  # c'' without q''
    forces = model.inverse_dynamics.reference(x, rates(q, qd), rates(q, qdd) + bent)
    close(E.T @ forces.ravel(), tau, 1e-7)
    for method in ("vector-parameter-lagrange", "vector-parameter-newton-euler", "links-and-rotors",
                   "base-frame-newton-euler"):
        close(arm.inverse_dynamics.using(method).reference(q, qd, qdd), tau)
    close(arm.forward_dynamics.using("links-and-rotors").reference(q, qd, tau), qdd, 1e-9)


def test_the_worked_example():
    """W3-08: forces of the R-T-R-R arm by every recursion here, and gravity and inertia through H_V and h_V."""
    arm = cy.load("s3_w08")
    q, qd, qdd = np.array([[0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2], [1.0, 0.4, -0.6, 0.9]])
    tau = [0.5322560903, -0.6038819870, 2.1908408705, 0.2702896202]
    for method in ("vector-parameter-lagrange", "vector-parameter-newton-euler", "links-and-rotors", "screws"):
        close(arm.inverse_dynamics.using(method).reference(q, qd, qdd), np.array(tau), 1e-10)
    model = arm.formulations.vector_parameter_model()
    x, E = model.coordinates(q), np.stack([model.rates(q, unit).ravel() for unit in np.eye(4)], axis=1)
    close(E.T @ model.bias_forces.reference(x, 0 * x), np.array([0, 0, 2.0993180904, 0.2354657861]), 1e-10)
    H = E.T @ model.inertia_matrix.reference(x) @ E
    close(H[1], np.array([-1.2412973875, 4.3, -0.2039484794, -0.0323062605]), 1e-10)
    assert model.jacobian("link4").operations().trigonometric == 0
    assert model.jacobian("link4")(np.stack([x, x])).shape == (2, 6, 12)
    close(model.inertia_matrix(x), model.inertia_matrix.reference(x), 1e-13)


def test_half_turns_and_other_mechanisms_are_named():
    model = cy.load("s3_w08").formulations.vector_parameter_model()
    x = np.zeros((2, 4, 3))
    x[1, 2, 1] = np.inf
    with pytest.raises(SingularityError, match="joint3"):
        model.inertia_matrix(x)
    for name, words in (("biped", "branches"), ("four_bar", "four_bar"), ("panda_hand", "panda_hand")):
        with pytest.raises(CayleyError, match=words):
            cy.load(name).formulations.vector_parameter_model()
    with pytest.raises(UnsupportedError, match="armature"):
        cy.load("planar2r").with_drive("joint1",
                                       inertia=0.1).including("armature").formulations.vector_parameter_model()
    bare = cy.load("scara").formulations.vector_parameter_model()  # kinematics need no masses
    assert bare.jacobian("tool")(bare.coordinates([0.1, 0.2, 0.05, 0.3])).shape == (6, 12)
    with pytest.raises(CayleyError, match="mass"):
        _ = bare.inertia_matrix
