"""Arms without special numbers, for counting: what costs nothing here costs nothing in any arm with the same twists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ConventionError, SignatureError
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree

GENERAL = 0.7  # [rad], a twist like any other


def generic_arm(twists: Sequence[float], kinds: str = "", *, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> Tree:
    """An arm with the given twists (n) [rad]; all other numbers are arbitrary, none is 0 or 1.

    The offsets between the links have three components, as the published counts assume; in Denavit-Hartenberg frames a
    twist of 0 or 90 degrees makes one of them zero. `kinds` has a letter for each joint, R or P; by default all are
    revolute.

    >>> generic_arm([GENERAL, 0.0, np.pi / 2], "RPR").nv
    3
    """
    check_kinds(kinds, len(twists) if kinds else 0)
    random = np.random.default_rng(len(twists))
    bodies = [Body("base")]
    joints = []
    for number, (twist, kind) in enumerate(zip(twists, kinds or "R" * len(twists), strict=True), 1):
        spread = random.uniform(0.1, 0.9, (3, 3))
        inertia = spread @ spread.T + np.diag(random.uniform(0.1, 0.9, 3))
        bodies.append(Body(f"link{number}", random.uniform(1.2, 3.0), random.uniform(0.1, 0.8, 3), inertia))
        motion = Revolute() if kind == "R" else Prismatic()
        joints.append(
            Joint(f"joint{number}", bodies[-2].name, bodies[-1].name, motion,
                  _twisted(twist, random.uniform(0.2, 0.9, 3))))
    return Tree.of(f"generic arm of {len(joints)} joints", bodies, joints, gravity=tuple(gravity))


def check_joints(n: int) -> None:
    """That operations are counted of an arm with a joint or more."""
    if not isinstance(n, int) or n < 1:
        raise SignatureError(f"operations are counted of an arm with one joint or more, not of {n!r}")


def check_kinds(kinds: str, n: int) -> None:
    """That there is a letter, R or P, for each of n joints."""
    if len(kinds) != n or set(kinds) - set("RP"):
        raise ConventionError(f"joints that are counted are R, revolute, or P, prismatic, a letter for each of {n}: "
                              f"not {kinds!r}")


def _twisted(twist: float, offset: Array) -> Array:
    pose = np.eye(4)
    c = np.cos(twist)
    s = np.sin(twist)
    pose[1:3, 1:3] = [[c, -s], [s, c]]
    pose[:3, 3] = offset
    return pose
