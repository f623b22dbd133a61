"""Arms with elastic drives for tests, and the same arms in Pinocchio, put together joint by joint."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import cayley as cy
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint

PLANAR = {"bodies": [Body("base"), Body("link1", 2.0, (0.5, 0.0, 0.0), np.diag([0.0, 0.0, 0.2])),
                     Body("link2", 1.5, (0.4, 0.0, 0.0), np.diag([0.0, 0.0, 0.1]))],
          "gravity": (0.0, -9.81, 0.0)}


def shifted(*position):
    pose = np.eye(4)
    pose[:3, 3] = position
    return pose


def planar_arm():
    """The arm of WE-07, with the rotors of WE-13; stiffness and damping are zero in none of them."""
    joints = [Joint("joint1", "base", "link1", Revolute()),
              Joint("joint2", "link1", "link2", Revolute(), shifted(1.0, 0.0, 0.0))]
    arm = cy.Mechanism.of("planar", PLANAR["bodies"], joints, gravity=PLANAR["gravity"])
    return (arm.with_drive("joint1", stiffness=200.0, mass=0.5, tensor=np.diag([0.0, 0.0, 0.01]))
            .with_drive("joint2", stiffness=150.0, mass=0.4, tensor=np.diag([0.0, 0.0, 0.02])))


def random_pose(rng):
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    pose = np.eye(4)
    pose[:3, :3] = R * np.sign(np.linalg.det(R))
    pose[:3, 3] = rng.normal(size=3) * 0.3
    return pose


def random_tensor(rng, size=0.1):
    points = rng.normal(size=(4, 3))
    return size * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)


def spatial_arm(kinds="RPRR", seed=0, springs=True, gears=(7.0, -20.0, 1.0, -3.0)):
    """A random arm: rotors of any shape, off their axes, beside their joints, some carried by other links."""
    rng = np.random.default_rng(seed)
    n = len(kinds)
    bodies = [Body("base")] + [Body(f"link{i + 1}", rng.uniform(0.5, 2.0), rng.normal(size=3) * 0.2, random_tensor(rng))
                               for i in range(n)]
    joints = []
    for i, kind in enumerate(kinds):
        axis = rng.normal(size=3)
        motion = (Revolute if kind == "R" else Prismatic)(tuple((axis / np.linalg.norm(axis)).tolist()))
        joints.append(Joint(f"joint{i + 1}", bodies[i].name, bodies[i + 1].name, motion, random_pose(rng)))
    arm = cy.Mechanism.of("arm", bodies, joints, gravity=rng.normal(size=3) * 5)
    for i in range(n):
        carrier = bodies[max(i - 1, 0)].name if i % 2 else bodies[i].name
        arm = arm.with_drive(joints[i].name, stiffness=rng.uniform(10, 1000) if springs else None,
                             damping=rng.uniform(0, 3) if springs else 0.0, gear=gears[i % len(gears)],
                             mass=rng.uniform(0.1, 0.5), center=rng.normal(size=3) * 0.05,
                             tensor=random_tensor(rng, 0.01), carrier=carrier, place=random_pose(rng))
    return arm


def placed(pose):
    return pin.SE3(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


def pinocchio_arm(arm):
    """The arm of links and rotors as Pinocchio's: rotors after links, by joints about z of their places."""
    model = pin.Model()
    model.gravity.linear = np.array(arm.gravity)
    ids = {arm.bodies[0].name: 0}
    for joint, body in zip(arm.joints, arm.bodies[1:], strict=True):
        kind = pin.JointModelRevoluteUnaligned if joint.motion.word == "revolute" else pin.JointModelPrismaticUnaligned
        ids[body.name] = model.addJoint(ids[joint.parent], kind(*joint.motion.axis), placed(joint.placement),
                                        joint.name)
        model.appendBodyToJoint(ids[body.name], pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia)),
                                pin.SE3.Identity())
    for joint in arm.joints:
        rotor = joint.rotor
        number = model.addJoint(ids[rotor.carrier], pin.JointModelRZ(), placed(np.array(rotor.place)),
                                f"{joint.name} motor")
        model.appendBodyToJoint(number, pin.Inertia(rotor.mass, np.array(rotor.center), np.array(rotor.tensor)),
                                pin.SE3.Identity())
    return model


def spring_torques(arm, q, qd):
    """What the springs need, by the laws as they are written in books: at joints, then at motors."""
    n = len(arm.joints)
    gear = np.array([joint.rotor.gear for joint in arm.joints])
    K, Z = (np.array([getattr(joint.spring, key) for joint in arm.joints]) for key in ("stiffness", "damping"))
    P = K * (q[..., n:] / gear - q[..., :n]) + Z * (qd[..., n:] / gear - qd[..., :n])
    return np.concatenate([-P, P / gear], axis=-1)


def inertia_by_columns(model, q):
    """M by unit accelerations: Pinocchio's own sum over subtrees wants them numbered one after the other."""
    data = model.createData()
    still = np.zeros(model.nv)
    bias = pin.rnea(model, data, q, still, still).copy()
    return np.stack([pin.rnea(model, data, q, still, unit) - bias for unit in np.eye(model.nv)], axis=1)
