"""The heaviest load that the drives of a mechanism can hold at rest, besides their present loads.

Forces at rest are affine in the mass m of a load at a frame: tau = G + m w, w being what one more kilogram asks for.
With |tau_k| <= L_k the greatest mass is the least of (L_k - G_k) / w_k where w_k > 0, and of (L_k + G_k) / -w_k where
w_k < 0. Of a mechanism with loops tau are the forces of its drives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.space import actuation
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree

_NOTHING = 1e-12  # [m] of a lever, or the sine of a slope


class Capacity(NamedTuple):
    """The greatest mass (...) [kg], and the velocity (...) whose drive gives way first, -1 for none."""

    mass: Array
    first: Array


def effort_limits(tree: Tree, effort: ArrayLike | None = None) -> Array:
    """The greatest forces (nv) of the drives: those that are given, one for all or one for each velocity, or those of
    the description, in which zero says nothing. Infinity is no limit.

    >>> from cayley.model.catalogue import load_robot
    >>> effort_limits(load_robot("panda"))
    array([87., 87., 87., 87., 12., 12., 12.])
    """
    if effort is None:
        said = np.array([limit for joint in tree.joints
                         for limit in (*joint.limits.effort, *[np.inf] * joint.motion.nv)[:joint.motion.nv]])
        return np.where(said > 0.0, said, np.inf)
    given = np.asarray(effort, dtype=float)
    if given.shape not in ((), (tree.nv,)):
        raise SignatureError(f"limits of effort are one number, or one for each of the {tree.nv} velocities of "
                             f"{tree.name}; given was the shape {given.shape}")
    if not (given > 0.0).all():
        raise ConventionError(f"limits of effort are positive, to both sides; given were {effort!r}")
    return np.broadcast_to(given, (tree.nv,)).astype(float)


def payload_capacity(tree: Tree, q: ArrayLike, frame: str, effort: ArrayLike | None = None) -> Capacity:
    """The greatest point load at a frame's origin that the drives hold at rest, at configurations (..., nq).

    Zero where they cannot hold the mechanism itself, infinite where no limited drive feels the load. `effort` are the
    greatest forces of the drives, those of the model unless given. A mechanism with more drives than degrees of freedom
    is refused: how they share a load is free.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = load_robot("planar2r")
    >>> payload_capacity(arm, [[0.0, 0.0], [0.0, np.pi / 2]], "tool", effort=[40.0, 15.0]).mass.round(4)
    array([2.8083, 5.6549])
    """
    limits = effort_limits(tree, effort)
    if not np.isfinite(limits).any():
        raise UnsupportedError(f"no joint of {tree.name} has a limit of effort: a payload needs some. Give `effort`, "
                               "one number for all drives or one for each")
    check_untimed(tree)
    if tree.is_constrained and actuation(tree).kind != "fully actuated":
        raise UnsupportedError(f"the forces that hold a load on {tree.name} do not follow from the load: it is "
                               f"{actuation(tree)}")
    at = np.asarray(q, dtype=float)
    still = np.zeros((*at.shape[:-1], tree.nv))
    G = inverse_dynamics_kernel(tree)(at, still, still)
    w = inverse_dynamics_kernel(tree.with_payload(frame, 1.0))(at, still, still) - G
    return _greatest(G, w, limits, _NOTHING * float(np.linalg.norm(tree.gravity)))


def check_felt(tree: Tree, capacity: Capacity, frame: str) -> None:
    """Refuse a mechanism on which a load weighs nothing."""
    if np.isinf(capacity.mass).all():
        names = ", ".join(name for name, _ in velocity_labels(tree))
        raise UnsupportedError(f"no drive of {tree.name} with a limit ({names}) feels a load at {frame!r}: gravity "
                               "does not pull along its motions")


def _greatest(G: Array, w: Array, limits: Array, nothing: float) -> Capacity:
    felt = ~(np.abs(w) <= nothing)
    room = limits - np.sign(w) * G
    each = np.where(felt, room / np.where(felt, np.abs(w), 1.0), np.inf)
    mass = each.min(axis=-1, initial=np.inf)
    held = ~(np.abs(G) > limits).any(axis=-1)
    first = np.where(np.isfinite(mass), each.argmin(axis=-1), -1) if each.shape[-1] else np.full(mass.shape, -1)
    over = (np.abs(G) - limits).argmax(axis=-1) if each.shape[-1] else first
    return Capacity(np.where(held, np.maximum(mass, 0.0), 0.0), np.where(held, first, over))
