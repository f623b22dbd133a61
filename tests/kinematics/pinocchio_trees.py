"""The same tree in Pinocchio: its own joints, its own order of coordinates, its own velocity of a planar joint.

There quaternions are (x, y, z, w), a planar joint has (x, y, cos, sin) and its velocity is that of the moved body in
the body's axes. `velocity_map` T and its rate turn velocities and accelerations from here into those there, and
Jacobians from there into those here.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from cayley.model.joint_kinds import Floating, Helical, JointKind, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree

AXES = {"world": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, "body": pin.ReferenceFrame.LOCAL}


def se3(pose):
    return pin.SE3(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


def across(axis, plane):
    """The frame whose z is the axis of a planar joint, and x and y the axes of its plane."""
    return pin.SE3(np.column_stack([*plane, axis]), np.zeros(3))


def joint_model(motion):
    if isinstance(motion, Revolute):
        return pin.JointModelRevoluteUnaligned(np.array(motion.axis))
    if isinstance(motion, Prismatic):
        return pin.JointModelPrismaticUnaligned(np.array(motion.axis))
    if isinstance(motion, Helical):
        return pin.JointModelHelicalUnaligned(np.array(motion.axis), motion.pitch)
    if isinstance(motion, Universal):
        return pin.JointModelUniversal(np.array(motion.axis), np.array(motion.second))
    return {Spherical: pin.JointModelSpherical, Planar: pin.JointModelPlanar,
            Floating: pin.JointModelFreeFlyer}[type(motion)]()


def without_universal_joints(tree):
    """The same mechanism with two revolute joints in place of each universal one: the same q, v, frames and bodies."""
    bodies, joints = list(tree.bodies), []
    for joint in tree.joints:
        if isinstance(joint.motion, Universal):
            between = f"cross of {joint.name}"
            bodies.append(Body(between))
            joints.append(
                Joint(f"{joint.name} first", joint.parent, between, Revolute(joint.motion.axis), joint.placement))
            joints.append(Joint(f"{joint.name} second", between, joint.child, Revolute(joint.motion.second)))
        else:
            joints.append(joint)
    return Tree.of(tree.name, bodies, joints, frames=tree.frames)


@dataclass
class PinocchioTree:
    tree: Tree
    model: pin.Model
    frames: dict[str, int]

    @classmethod
    def of(cls, tree):
        tree = getattr(tree, "tree", tree)  # of a mechanism its own
        model = pin.Model()
        model.gravity.setZero()
        # of each body: its joint there, and its frame in that joint's
        places = {tree.bodies[0].name: (0, pin.SE3.Identity())}
        for joint in tree.joints:
            parent, offset = places[joint.parent]
            placement = offset * se3(joint.placement)
            if type(joint.motion) is JointKind:
                places[joint.child] = parent, placement
                continue
            basis = across(joint.motion.axis, joint.motion.plane) if isinstance(joint.motion,
                                                                                Planar) else pin.SE3.Identity()
            number = model.addJoint(parent, joint_model(joint.motion), placement * basis, joint.name)
            places[joint.child] = number, basis.inverse()
        frames = {}
        for frame in [*tree.frames, *[tree.frame(b.name) for b in tree.bodies]]:
            number, offset = places[frame.body]
            added = pin.Frame(frame.name, number, 0, offset * se3(frame.pose), pin.FrameType.OP_FRAME)
            frames[frame.name] = model.addFrame(added)
        for body in tree.bodies:
            if body.mass is not None and places[body.name][0]:
                number, offset = places[body.name]
                model.appendBodyToJoint(number, pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia)),
                                        offset)
        return cls(tree, model, frames)

    def moving_joints(self):
        return [(j.motion, a, b)
                for j, a, b in zip(self.tree.joints, self.tree.q_slices, self.tree.v_slices, strict=True)
                if j.motion.nq]

    def q(self, q):
        parts = []
        for motion, place, _ in self.moving_joints():
            own = q[place]
            if isinstance(motion, Planar):
                own = np.array([own[0], own[1], np.cos(own[2]), np.sin(own[2])])
            elif isinstance(motion, (Spherical, Floating)):
                own = np.concatenate([own[:-4], own[-3:], own[-4:-3]])
            parts.append(own)
        return np.concatenate(parts or [np.zeros(0)])

    def velocity_map(self, q):
        T = np.eye(self.tree.nv)
        for motion, place, columns in self.moving_joints():
            if isinstance(motion, Planar):
                c, s = np.cos(q[place][2]), np.sin(q[place][2])
                T[columns, columns][:2, :2] = [[c, s], [-s, c]]
        return T

    def velocity_map_rate(self, q, v):
        rate = np.zeros((self.tree.nv, self.tree.nv))
        for motion, place, columns in self.moving_joints():
            if isinstance(motion, Planar):
                c, s = np.cos(q[place][2]), np.sin(q[place][2])
                rate[columns, columns][:2, :2] = v[columns][2] * np.array([[-s, c], [-c, -s]])
        return rate

    def pose(self, q, frame):
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, self.q(q))
        return data.oMf[self.frames[frame]].homogeneous

    def jacobian(self, q, frame, axes):
        data = self.model.createData()
        J = pin.computeFrameJacobian(self.model, data, self.q(q), self.frames[frame], AXES[axes])
        return J.reshape(6, -1) @ self.velocity_map(q)  # of one column Pinocchio makes a vector

    def jacobian_rate(self, q, v, frame, axes):
        """Right for trees without universal joints: Pinocchio leaves the change of their axes with the second angle
        out.
        """
        assert not any(isinstance(joint.motion, Universal) for joint in self.tree.joints)
        data, T = self.model.createData(), self.velocity_map(q)
        pin.computeJointJacobiansTimeVariation(self.model, data, self.q(q), T @ v)
        pin.updateFramePlacements(self.model, data)
        J = pin.getFrameJacobian(self.model, data, self.frames[frame], AXES[axes])
        rate = pin.getFrameJacobianTimeVariation(self.model, data, self.frames[frame], AXES[axes])
        return rate @ T + J @ self.velocity_map_rate(q, v)

    def _moving(self, q, v, vd):
        data, T = self.model.createData(), self.velocity_map(q)
        pin.forwardKinematics(self.model, data, self.q(q), T @ v, T @ vd + self.velocity_map_rate(q, v) @ v)
        pin.updateFramePlacements(self.model, data)
        return data

    def twist(self, q, v, frame, axes):
        return pin.getFrameVelocity(self.model, self._moving(q, v, 0 * v), self.frames[frame], AXES[axes]).vector

    def acceleration(self, q, v, vd, frame, axes):
        return pin.getFrameClassicalAcceleration(self.model, self._moving(q, v, vd), self.frames[frame],
                                                 AXES[axes]).vector

    def joint_forces(self, q, wrench, frame):
        """With which the tree at rest, without gravity, resists a wrench that acts on a frame, in its axes and about
        its origin.
        """
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        placed = self.model.frames[self.frames[frame]]
        forces[placed.parentJoint] = placed.placement.act(pin.Force(np.array(wrench)))
        zero = np.zeros(self.tree.nv)
        return self.velocity_map(q).T @ pin.rnea(self.model, self.model.createData(), self.q(q), zero, zero, forces)
