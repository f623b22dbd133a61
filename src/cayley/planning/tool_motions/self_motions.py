"""What a redundant arm does with the joints that its task leaves free: purposes, and motions with the tool held.

    qd = J^+ (G e) + (1 - J^+ J) qd0      qd0 = k grad w for a w that is to grow
Source: Ruggiu (2.72)-(2.76), corrected as in spec E-31.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnreachableError, UnsupportedError
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.bounds import bounds_of
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.inverse.rates import resolved_rates
from cayley.kinematics.inverse.tracking import follow_path, moment_kernel
from cayley.kinematics.singular.redundancy import manipulability_gradient
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.planning.splines.cubic_splines import cubic_spline
from cayley.planning.timing.limits import Machine

_NEWTON = 4


def better_manipulability(machine: Machine, frame: str, gain: float = 1.0, *, task: str | Sequence[bool] = "pose"
                          ) -> Callable[[Array], Array]:
    """The secondary purpose of `follow_path` that makes the manipulability of a task grow: its gradient, times the
    gain; none where it has no gradient, at singular configurations."""
    tree = machine.tree
    slope = kernel(f"({tree.nq})->({tree.nv})", name="manipulability_gradient")(
        lambda q: manipulability_gradient(tree, q, frame, task=task, axes="world"))
    return lambda q: gain * np.nan_to_num(slope(q))


def away_from_limits(machine: Machine, frame: str, gain: float = 1.0) -> Callable[[Array], Array]:
    """The secondary purpose of `follow_path` that keeps joints near the middle of their ranges: against the gradient of
    half the sum of ((q - middle)/range)^2."""
    tree = machine.tree
    if tree.nq != tree.nv:
        raise UnsupportedError(f"{tree.name} has joints with quaternions, which have no middle of a range")
    bounds = bounds_of(tree, frame, limits=True)
    bounded = np.isfinite(bounds.lower) & np.isfinite(bounds.upper)
    width = np.where(bounded, bounds.upper - bounds.lower, np.inf)
    middle = np.where(bounded, (np.where(bounded, bounds.upper, 0.0) + np.where(bounded, bounds.lower, 0.0)) / 2, 0.0)
    return lambda q: -gain * (q - middle) / width**2


def self_motion(machine: Machine, start: ArrayLike, frame: str, secondary: Callable[[Array], Array], *,
                duration: float, steps: int = 400, task: str | Sequence[bool] = "pose") -> Motion:
    """The motion of a redundant arm from a configuration (nq) for a secondary purpose, its frame held where it is.

    >>> import cayley as cy
    >>> arm = cy.load("planar3r")
    >>> plane = (True, True, False, False, False, False)
    >>> q = np.array([0.3, 1.5, -1.2])
    >>> better = better_manipulability(arm, "tool", task=plane)
    >>> move = self_motion(arm, q, "tool", better, duration=4.0, task=plane)
    >>> off = arm.pose(move(4.0).q, "tool")[:2, 3] - arm.pose(q, "tool")[:2, 3]
    >>> bool(np.abs(off).max() < 1e-6)
    True
    >>> arm.dexterity.manipulability([q, move(4.0).q], "tool", task=plane, axes="world").round(3)
    array([1.041, 1.325])
    """
    tree = machine.tree
    if tree.nq != tree.nv:
        raise UnsupportedError(f"{tree.name} has joints with quaternions, which are no splines: follow_path moves them")
    if not (duration > 0 and steps >= 4):
        raise SignatureError(f"a motion takes a time > 0 in four steps or more, not {duration} s in {steps}")
    q = np.asarray(start, dtype=float)
    step = duration / steps
    hold = frame_pose(tree, q, frame).matrix
    found = follow_path(tree, np.tile(hold, (steps + 1, 1, 1)), frame, q, time_step=step, gain=0.5 / step, task=task,
                        secondary=secondary)
    if found.status != "followed":
        raise UnreachableError(f"the self-motion ends at t = {step * int(np.argmin(found.followed)):.6g} s: "
                               f"{found.status}")
    rows = _onto(tree, found.q, hold, frame, task)
    return cubic_spline(np.linspace(0.0, duration, steps + 1), rows, "not-a-knot")


def _onto(tree: Tree, q: Array, pose: Array, frame: str, task: str | Sequence[bool]) -> Array:
    """Configurations (k, nq) near those given, with the frame exactly there: Newton's method, by the shortest steps."""
    wanted = Task.of(tree, task, "world")
    look = kept(tree, ("moment", frame, wanted, "rotation vector"),
                lambda: moment_kernel(tree, frame, wanted, "rotation vector"))
    for _ in range(_NEWTON):
        here = look(q, pose, np.zeros(6))
        q = q + resolved_rates(here.jacobian, here.error).velocity
    return q
