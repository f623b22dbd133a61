"""Joints of any kind as free bodies in Pinocchio: all that is used of a kind is its pose, differentiated in time.

Every body floats freely in its parent there. Along the motion q(t) of a joint the pose of its child is differentiated,
which gives the twist of the body and its rate; Pinocchio gives the wrench that the body needs from its parent; and the
joint feels what of it does power.
"""

from functools import cached_property

import numpy as np
import pinocchio as pin

from cayley.model.tree import Tree

_STEP = 0.02
_FIRST = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}  # sixth order, of differences f(k h) - f(-k h)
_SECOND = {1: 3 / 2, 2: -3 / 20, 3: 1 / 90}


class FreeBodies:
    """A tree at a state, with accelerations."""

    def __init__(self, tree: Tree, q, v, vd, *, gravity=None):
        tree = getattr(tree, "tree", tree)  # of a mechanism its own
        self.tree, self.q, self.v, self.vd = tree, np.asarray(q), np.asarray(v), np.asarray(vd)
        self.model = pin.Model()
        self.model.gravity.linear = np.array(tree.gravity if gravity is None else gravity)
        numbers = {tree.bodies[0].name: 0}
        for joint, body in zip(tree.joints, tree.bodies[1:], strict=True):
            placement = pin.SE3(np.array(joint.placement[:3, :3]), np.array(joint.placement[:3, 3]))
            number = self.model.addJoint(numbers[joint.parent], pin.JointModelFreeFlyer(), placement, joint.name)
            numbers[body.name] = number
            self.model.appendBodyToJoint(number, pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia)),
                                         pin.SE3.Identity())

    def path(self, number, v, vd, t):
        """The pose (4, 4) of a child in its joint at a time, along a motion with this velocity and acceleration at
        zero.
        """
        motion, own = self.tree.joints[number].motion, self.q[self.tree.q_slices[number]]
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = motion.pose(motion.step(own, v * t + vd * t * t / 2) if motion.nq else own)
        return pose

    def derivatives(self, number, v, vd):
        """The pose and its first two derivatives in time."""
        at = {k: self.path(number, v, vd, k * _STEP) for k in range(-3, 4)}
        first = sum(c * (at[k] - at[-k]) for k, c in _FIRST.items()) / _STEP
        second = sum(c * (at[k] + at[-k] - 2 * at[0]) for k, c in _SECOND.items()) / _STEP**2
        return at[0], first, second

    def twist(self, number, v, vd):
        """The twist (6) of a child in its joint, in its axes, and the rate of its components."""
        X, dX, ddX = self.derivatives(number, v, vd)
        R, dR, ddR = X[:3, :3], dX[:3, :3], ddX[:3, :3]
        W, dW = R.T @ dR, dR.T @ dR + R.T @ ddR
        u, du = R.T @ dX[:3, 3], dR.T @ dX[:3, 3] + R.T @ ddX[:3, 3]
        return np.concatenate([u, _vee(W)]), np.concatenate([du, _vee(dW)])

    @cached_property
    def directions(self):
        """S (6 n, nv): the twists of all children for unit velocities."""
        S = np.zeros((6 * len(self.tree.joints), self.tree.nv))
        for number, own in enumerate(self.tree.v_slices):
            for k, unit in enumerate(np.eye(own.stop - own.start)):
                S[6 * number:6 * number + 6, own.start + k] = self.twist(number, unit, 0 * unit)[0]
        return S

    @cached_property
    def state(self):
        """q, v and vd there."""
        poses, twists, rates = [], [], []
        for number, own in enumerate(self.tree.v_slices):
            X = pin.SE3(self.path(number, 0 * self.v[own], 0 * self.vd[own], 0.0))
            poses.append(pin.SE3ToXYZQUAT(X))
            twist, rate = self.twist(number, self.v[own], self.vd[own])
            twists.append(twist)
            rates.append(rate)
        return np.concatenate(poses), np.concatenate(twists), np.concatenate(rates)

    @cached_property
    def wrenches(self):
        """(n, 6): what each body needs from its parent, in its own axes at its origin."""
        return pin.rnea(self.model, self.model.createData(), *self.state).reshape(-1, 6)

    @property
    def forces(self):
        return self.directions.T @ self.wrenches.ravel()

    @property
    def inertia_matrix(self):
        M = pin.crba(self.model, self.model.createData(), self.state[0])
        M = np.triu(M) + np.triu(M, 1).T
        return self.directions.T @ M @ self.directions

    @property
    def kinetic_energy(self):
        return pin.computeKineticEnergy(self.model, self.model.createData(), *self.state[:2])

    @property
    def potential_energy(self):
        return pin.computePotentialEnergy(self.model, self.model.createData(), self.state[0])


def _vee(W):
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
