"""From one pose to another: both by inverse kinematics on one posture, then from rest to rest in joint coordinates.

Velocities and accelerations of the joints are zero at both ends, and so are those of the frame. On one posture the way
between the ends does not have to pass through a singular one, where postures meet. Source: Ruggiu 5.1; spec S2-81.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError, UnreachableError, UnsupportedError
from cayley.kinematics.inverse import inverse_kinematics
from cayley.kinematics.inverse.analytic import AllSolutions, all_solutions
from cayley.planning.motion import Motion
from cayley.planning.rest_to_rest.two_points import point_to_point
from cayley.planning.timing.limits import Machine, MotionLimits


class JointPair(NamedTuple):
    """The configurations (nq) at both poses, and the posture that both are in ("" where it has no name)."""

    first: Array
    last: Array
    posture: str


def pick_and_place(machine: Machine, first: ArrayLike, last: ArrayLike, frame: str, *, posture: str = "",
                   start: ArrayLike | None = None, law: str = "3-4-5", duration: float | None = None,
                   limits: MotionLimits | None = None) -> Motion:
    """The motion that brings `frame` from rest at one pose (4, 4) to rest at another; configurations as of
    `joint_pair`, law, duration and limits as of `point_to_point`. Without limits,
    those of the machine's description hold.

    >>> import cayley as cy
    >>> arm = cy.load("puma560")
    >>> poses = arm.pose([[0.1, -0.6, 0.4, 0.2, 0.5, -0.3], [0.9, -0.4, 0.1, 0.5, 0.8, 0.0]], "tool")
    >>> move = pick_and_place(arm, *poses, "tool", posture="shoulder back, elbow up", duration=1.2)
    >>> bool(abs(arm.pose(move(1.2).q, "tool") - poses[1]).max() < 1e-12)
    True
    """
    found = joint_pair(machine, first, last, frame, posture=posture, start=start)
    return point_to_point(found.first, found.last, law=law, duration=duration,
                          limits=limits or (None if duration else MotionLimits.of(machine)))


def joint_pair(machine: Machine, first: ArrayLike, last: ArrayLike, frame: str, *, posture: str = "",
               start: ArrayLike | None = None) -> JointPair:
    """Configurations within the limits of the joints at two poses (4, 4), on one posture: the one whose name holds the
    words `posture`, or that with the shortest way, which joint by joint is that of the farthest moved. Arms that have
    no closed form are searched from `start` (nq), and then from what was found at the first pose.
    """
    poses = np.array(first, dtype=float), np.array(last, dtype=float)
    try:
        found = all_solutions(machine.tree, poses[0], frame, reference=start)
    except UnsupportedError:
        if posture:
            raise
        return _searched(machine, poses, frame, start)
    pairs = _on_one_posture(machine, found, poses, frame)
    if not pairs:
        raise UnreachableError(f"no posture of {machine.tree.name} reaches both poses of {frame!r} within the limits "
                               "of its joints")
    words = [word.strip() for word in posture.split(",") if word.strip()]
    chosen = [pair for pair in pairs if all(word in pair.posture.split(", ") for word in words)]
    if not chosen:
        raise PlanningError(f"no posture {posture!r} of {machine.tree.name} reaches both poses within the limits of "
                            f"its joints; these do: {'; '.join(pair.posture for pair in pairs)}")
    return min(chosen, key=lambda pair: np.abs(pair.last - pair.first).max())


def _on_one_posture(machine: Machine, found: AllSolutions, poses: tuple[Array, Array], frame: str) -> list[JointPair]:
    pairs = []
    for k in np.flatnonzero(found.found & found.within_limits):
        there = all_solutions(machine.tree, poses[1], frame, reference=found.q[k])
        if there.found[k] and there.within_limits[k]:
            pairs.append(JointPair(found.q[k], there.q[k], found.branches[k]))
    return pairs


def _searched(machine: Machine, poses: tuple[Array, Array], frame: str, start: ArrayLike | None) -> JointPair:
    before = start
    both = []
    for place, pose in zip(("first", "last"), poses, strict=True):
        found = inverse_kinematics(machine.tree, pose, frame, start=before)
        if not found.solved:
            raise UnreachableError(f"no configuration of {machine.tree.name} found that brings {frame!r} to the "
                                   f"{place} pose: {found.reason}")
        before = found.q
        both.append(found.q)
    return JointPair(both[0], both[1], "")
