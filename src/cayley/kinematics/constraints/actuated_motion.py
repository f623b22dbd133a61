"""The motion of a mechanism with constraints as it follows from its actuated joints.

    A qd = 0,  S qd = qd_a     A the constraint Jacobian, S picks the m actuated velocities
    qd = R qd_a                R (nv, m);   twist = J R qd_a,   J R (6, m) a frame's Jacobian by the actuated joints
With more actuators than freedoms R is that of least squares: rates which agree give their motion, and (J R)^T the least
actuator forces that balance. With fewer the motion does not follow: an error. NaN where actuated joints do not
determine the motion (a direct singularity), and an error for one configuration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.derivatives.derivative import slope_along
from cayley.compiler.typing import Array, ArrayLike, FrameName
from cayley.errors import SingularityError, UnsupportedError
from cayley.kinematics import statics
from cayley.kinematics.constraints.rows import drift, jacobian, residual
from cayley.kinematics.constraints.space import ConstraintSpace, actuation
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import frame_kernel, sized_kernel
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.configuration_space import configuration_rate, configuration_step
from cayley.model.constraints import constraints_of, is_tied
from cayley.model.tree import Tree


def passive_motion(tree: Tree, q: Array) -> Array:
    """R (nv, m): the velocities of all joints by those of the actuated ones."""
    check_determined(tree)
    return ConstraintSpace.of(tree, q, turned=True).followers(tree.actuated_velocities).N


def passive_acceleration(tree: Tree, q: Array, rates: Array, accelerations: Array) -> Array:
    """qdd (nv) by the velocities and accelerations (m) of the actuated joints: A qdd + drift = 0, S qdd = qdd_a."""
    return _displacement(tree, q, accelerations, -drift(tree, q, passive_motion(tree, q) @ rates))


def passive_correction(tree: Tree, q: Array) -> Array:
    """Newton's step (nv) towards a closed configuration, actuated joints where they are: A x = -phi, S x = 0."""
    return _displacement(tree, q, np.zeros(len(tree.actuated_velocities)), -residual(tree, q))


def _displacement(tree: Tree, q: Array, given: Array, right: Array) -> Array:
    """x (nv) of A x = right (h), S x = given (m)."""
    check_determined(tree)
    used = list(constraint_structure(tree).used)
    return ConstraintSpace.of(tree, q).followed(tree.actuated_velocities, given, right[used])


def actuated_jacobian(tree: Tree, q: Array, frame: str, *, axes: str, at: Array | FrameName | None = None) -> Array:
    """The Jacobian (6, m) of a frame by the actuated joints: the twist of its body by their velocities, all constraints
    kept."""
    return general_jacobian(tree, q, frame, axes=axes, at=at) @ passive_motion(tree, q)


def joint_forces_that_exert(tree: Tree, q: Array, wrench: Array, frame: str, *, axes: str,
                            at: Array | FrameName | None = None) -> Array:
    """Joint forces [N] and torques [N m] (nv) with which a mechanism at rest, without gravity, exerts a wrench (6) with
    a frame's body; if constraints tie the joints on the way to it, forces of the actuated joints alone."""
    if not is_tied(tree, frame):
        return statics.joint_forces_that_exert(tree, q, wrench, frame, axes=axes, at=at)
    forces = actuated_jacobian(tree, q, frame, axes=axes, at=at).T @ wrench
    return np.eye(tree.nv)[:, list(tree.actuated_velocities)] @ forces


def joint_forces_that_resist(tree: Tree, q: Array, wrench: Array, frame: str, *, axes: str,
                             at: Array | FrameName | None = None) -> Array:
    """Joint forces (nv) that hold a mechanism at rest, without gravity, against a wrench (6) that acts on a frame's
    body."""
    return -joint_forces_that_exert(tree, q, wrench, frame, axes=axes, at=at)


def actuated_jacobian_kernel(tree: Tree, frame: str, *, axes: str | None,
                             at: ArrayLike | FrameName | None) -> MechanismKernel:
    """`actuated_jacobian(q)` (..., 6, m) of one frame."""
    check_determined(tree)
    return frame_kernel(tree, actuated_jacobian, f"(q)->(6,{len(tree.actuated_velocities)})", frame, axes=axes, at=at,
                        explain=_explanation(tree))


@of_a_mechanism
def actuated_motion_kernel(tree: Tree) -> MechanismKernel:
    """`actuated_motion(q, rates)` (..., nv): the velocities of all joints by those of the actuated."""
    return _kernel(tree, 1, lambda q, rates: passive_motion(tree, q) @ rates, "actuated_motion", "qd",
                   "The velocities of all joints that follow from those of the actuated ones.")


@of_a_mechanism
def actuated_acceleration_kernel(tree: Tree) -> MechanismKernel:
    """`actuated_acceleration(q, rates, accelerations)` (..., nv): the accelerations of all joints by the velocities and
    accelerations of the actuated."""
    return _kernel(tree, 2, lambda q, rates, accelerations: passive_acceleration(tree, q, rates, accelerations),
                   "actuated_acceleration", "qdd",
                   "The accelerations of all joints that follow from the motion of the actuated ones.")


@of_a_mechanism
def actuated_jerk_kernel(tree: Tree) -> MechanismKernel:
    """`actuated_jerk(q, rates, accelerations, jerks)` (..., nv): the third derivatives of the motion of all joints by
    the first three of that of the actuated ones."""
    def text(q: Array, rates: Array, accelerations: Array, jerks: Array) -> Array:
        found = passive_acceleration(tree, q, rates, accelerations)
        moving = configuration_rate(tree, q, passive_motion(tree, q) @ rates)
        return slope_along(found, np.concatenate([q, rates, accelerations]),
                           np.concatenate([moving, accelerations, jerks]))

    return _kernel(tree, 3, text, "actuated_jerk", "",
                   "The jerks of all joints that follow from the motion of the actuated ones.")


@of_a_mechanism
def closing_kernel(tree: Tree) -> MechanismKernel:
    """`closing(q)` (..., nq): the configuration after one of Newton's steps towards a closed one, with the actuated
    joints where they are."""
    return _kernel(tree, 0, lambda q: configuration_step(tree, q, passive_correction(tree, q)), "closing", "q",
                   "A step towards a closed configuration, the actuated joints held.")


def _kernel(tree: Tree, given: int, text: Callable[..., Array], name: str, unit: str, sentence: str) -> MechanismKernel:
    """The kernel of a text of q and a number of derivatives of the coordinates of the actuated joints."""
    check_determined(tree)
    signature = f"(q){f',({len(tree.actuated_velocities)})' * given}->({'q' if unit == 'q' else 'v'})"
    return sized_kernel(tree, signature, text, name, unit=unit, sentence=sentence, explain=_explanation(tree))


def check_untimed(tree: Tree) -> None:
    """Refuse constraints that depend on time: what follows from the actuated joints is not all that moves."""
    timed = [constraint.name for constraint in constraints_of(tree) if constraint.timed]
    if timed:
        raise UnsupportedError(
            f"{', '.join(map(repr, timed))} of {tree.name} depends on time: the motion does not follow from the "
            "actuated joints alone. Leave it out, and take its joint as actuated")


def check_determined(tree: Tree) -> None:
    """Raise `UnsupportedError` if the motion does not follow from the actuated joints anywhere."""
    check_untimed(tree)
    found = actuation(tree)
    if found.kind == "under-actuated":
        raise UnsupportedError(
            f"the motion of {tree.name} does not follow from its actuated joints: it is {found}. "
            "`with_actuated(...)` names others")


def _explanation(tree: Tree) -> Callable[..., None]:
    def explain(q: ArrayLike, *_: Array) -> None:
        A = np.asarray(jacobian(tree, np.asarray(q, dtype=float)), dtype=float)
        if np.isfinite(A).all():
            raise SingularityError(
                f"the motion of {tree.name} does not follow from {', '.join(tree.actuated_joints)} at this "
                "configuration (a direct singularity): `actuation_singularity` says what moves while they are held")

    return explain
