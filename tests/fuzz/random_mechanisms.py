"""Random mechanisms beside Pinocchio: any mixture of joints, branches, right and odd angles, massless links and point
masses, far and near, heavy and light; poses, Jacobians, forces, mass matrix and accelerations by the default and some
other methods, compiled.

`check(seed)` makes one mechanism and compares; a method that refuses it must say so with an error of its own.
"""

import numpy as np
import pinocchio as pin

from cayley.dynamics.forward.methods import METHODS as FORWARD
from cayley.dynamics.inertia_matrix.methods import METHODS as INERTIA
from cayley.dynamics.inverse.methods import METHODS as INVERSE
from cayley.errors import CayleyError
from cayley.geometry.rotations import matrix_from_quaternion
from cayley.mechanism import Mechanism
from cayley.model.parts import Body, Frame, Joint
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints
from model.random_trees import KINDS, random_configuration, random_motion, unit

STATES = 3
OTHERS = 2  # methods beside the default


def random_pose(random):
    """Often as files write it: no shift, one along an axis, quarter and half turns."""
    pose = np.eye(4)
    turn = random.integers(4)
    if turn == 1:
        pose[:3, :3] = matrix_from_quaternion(unit(random, 4))
    elif turn > 1:
        axes = np.eye(3)[random.permutation(3)] * random.choice([-1.0, 1.0], size=3)[:, None]
        pose[:3, :3] = axes if np.linalg.det(axes) > 0 else -axes
    pose[:3, 3] = random.normal(size=3) * random.choice([0.0, 1.0, 1.0], size=3) * random.choice([0.1, 1.0, 10.0])
    return pose


def random_body(random, name, *, light):
    """A body, a point mass, or, if `light` is allowed, none at all."""
    kind = random.integers(5)
    if light and kind == 0:
        return Body(name, 0.0)
    mass = float(random.choice([1e-3, 1.0, 1.0, 100.0])) * random.uniform(0.5, 2)
    spread = random.normal(size=(3, 3))
    inertia = np.zeros(
        (3, 3)) if kind == 1 else mass * 0.1 * (np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T)
    return Body(name, mass, random.normal(size=3) * random.choice([0.0, 1.0]), inertia)


def random_mechanism(random):
    count = int(random.integers(1, 8))
    bodies, joints = [Body("root")], []
    for k in range(count):
        parent = bodies[random.integers(0, k + 1)].name if random.random() < 0.3 else bodies[-1].name
        bodies.append(random_body(random, f"body{k}", light=True))
        motion = random_motion(random, random.choice(["revolute", "prismatic", *KINDS]))
        joints.append(Joint(f"joint{k}", parent, f"body{k}", motion, random_pose(random)))
    frames = [Frame("end", f"body{count - 1}", random_pose(random))]
    return Mechanism.of("random", bodies, joints, frames=frames, gravity=random.normal(size=3) * 9.81)


def check(seed):
    random = np.random.default_rng(seed)
    arm = random_mechanism(random)
    q = np.stack([random_configuration(random, arm) for _ in range(STATES)])
    qd, qdd = random.normal(size=(2, STATES, arm.nv))
    there = PinocchioTree.of(without_universal_joints(arm))
    there.model.gravity.linear = np.array(arm.gravity)
    check_kinematics(arm, there, q, qd)
    if not arm.nv:
        return
    tau, M = (np.stack([function(there, *state) for state in zip(q, qd, qdd, strict=True)])
              for function in (forces_there, matrix_there))
    force = np.abs(M).max() * (1 + np.abs(qdd).max()) + np.abs(tau).max()  # what rounding is measured against
    for name, compute in methods(random, arm.inverse_dynamics, INVERSE):
        near(compute(q, qd, qdd), tau, force, f"inverse dynamics by {name}")
    for name, compute in methods(random, arm.inertia_matrix, INERTIA):
        near(compute(q), M, np.abs(M).max(), f"mass matrix by {name}")
    check_accelerations(random, arm, q, qd, qdd, tau, M)


def check_kinematics(arm, there, q, qd):
    size = 1 + np.abs(arm.pose(q, "end")[:, :3, 3]).max()
    for k, one in enumerate(q):
        near(arm.pose(q, "end")[k], there.pose(one, "end"), size, "pose")
        for axes in ("world", "body"):
            near(
                arm.jacobian(q, "end", axes=axes)[k], there.jacobian(one, "end", axes), size,
                f"Jacobian in axes of {axes}")
            near(arm.twist(one, qd[k], "end", axes=axes), there.twist(one, qd[k], "end", axes),
                 size * np.abs(qd).max(initial=1), "twist")


def check_accelerations(random, arm, q, qd, qdd, tau, M):
    """Where the mass matrix is regular, the accelerations come back; where it is singular, no method has an answer."""
    values = np.linalg.eigvalsh(M / np.sqrt(np.einsum("kii,kjj->kij", M, M) + 1e-300))
    regular = (values[:, 0] > 1e-9 * values[:, -1]).all()
    if not regular and (values[:, 0] > 1e-15 * values[:, -1]).any():
        return  # between the two, rounding decides
    for name, compute in methods(random, arm.forward_dynamics, FORWARD):
        found = compute(q, qd, tau)
        if regular and name == "conjugate-gradients":
            check_iterated(found, qdd, M)
        elif regular:
            near(found, qdd,
                 np.linalg.cond(M).max() * (1 + np.abs(qdd).max()), f"forward dynamics by {name}", tolerance=1e-11)
        else:
            assert np.isnan(
                found).all(), f"forward dynamics by {name} has an answer although the mass matrix is singular: {found}"


def check_iterated(found, qdd, M):
    """Conjugate gradients stop at a residual: where they do not get there, no joint has an answer."""
    there = np.isfinite(found).all(axis=-1)
    assert not np.isfinite(found[~there]).any()
    near(found[there], qdd[there],
         np.linalg.cond(M).max() * (1 + np.abs(qdd).max()), "conjugate gradients", tolerance=1e-9)


def methods(random, function, table):
    """The default, and those of some named methods that do not refuse the mechanism."""
    yield "default", function
    for name in random.choice(list(table), size=OTHERS, replace=False).tolist():
        try:
            yield name, function.using(name)
        except CayleyError as refused:
            assert str(refused)


def forces_there(there, q, qd, qdd):
    T = there.velocity_map(q)
    motion = T @ qd, T @ qdd + there.velocity_map_rate(q, qd) @ qd
    return T.T @ pin.rnea(there.model, there.model.createData(), there.q(q), *motion)


def matrix_there(there, q, _qd, _qdd):
    T = there.velocity_map(q)
    M = pin.crba(there.model, there.model.createData(), there.q(q))
    return T.T @ (np.triu(M) + np.triu(M, 1).T) @ T


def near(found, wanted, size, what, tolerance=2e-13):
    worst = np.abs(found - wanted).max(initial=0.0)
    assert worst <= tolerance * size, f"{what}: off by {worst:.3g} beside {size:.3g}"
