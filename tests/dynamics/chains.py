"""Random serial chains of turning (R) and sliding (P) joints, and random states of them."""

from itertools import product

import numpy as np

from cayley.model.denavit_hartenberg.table import DHRow, DHTable, dh_row_poses
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Friction, Joint
from cayley.model.tree import Tree
from model.random_trees import random_pose, unit

EVERY_SHORT_PATTERN = tuple("".join(kinds) for n in (1, 2, 3, 4) for kinds in product("RP", repeat=n))
LONG_PATTERNS = ("RRRRR", "PRPRP", "RRRRRR", "RRPRRR", "PRRPRR", "RPRPPR", "PPPRRR", "PPPPPP", "RRRRRRR", "RPRPRPRP",
                 "R" * 9)
SPECIAL_TWISTS = (0.0, np.pi / 2, -np.pi / 2, np.pi)


def random_chain(pattern: str, seed: int, *, twists: str = "general", frames: str = "modified",
                 friction: bool = False) -> Tree:
    """A chain with one joint for each letter of the pattern: full inertias, gravity in any direction, and a frame
    "tool" on the last link.

    `twists`: "general", in (-pi, pi), or "special", multiples of 90 degrees. `frames`: "modified" puts the bodies'
    frames where the modified Denavit-Hartenberg convention puts them; "any" puts them, and the axes of the joints,
    anywhere.
    """
    random = np.random.default_rng([seed, *map(ord, pattern)])
    n = len(pattern)
    twist = random.choice(SPECIAL_TWISTS, n) if twists == "special" else random.uniform(-np.pi, np.pi, n)
    rows = [
        DHRow(kind="revolute" if letter == "R" else "prismatic", theta=random.uniform(-np.pi, np.pi),
              d=random.uniform(-0.5, 0.5), a=random.uniform(-0.5, 0.5), alpha=alpha)
        for letter, alpha in zip(pattern, twist, strict=True)]
    placements = dh_row_poses(DHTable(tuple(rows), "modified"), np.zeros(n))
    axes = [(0.0, 0.0, 1.0)] * n
    if frames == "any":
        placements = [random_pose(random) for _ in pattern]
        axes = [tuple(unit(random)) for _ in pattern]
    motions = [(Revolute if letter == "R" else Prismatic)(axis) for letter, axis in zip(pattern, axes, strict=True)]
    rubs = [Friction(*random.uniform(0.1, 2.0, 2)) if friction else Friction() for _ in pattern]
    joints = [
        Joint(f"joint{i + 1}", f"link{i}", f"link{i + 1}", motions[i], placements[i], friction=rubs[i])
        for i in range(n)]
    bodies = [Body("link0"), *[random_body(f"link{i + 1}", random) for i in range(n)]]
    return Tree.of(f"random {pattern}", bodies, joints, frames=[Frame("tool", f"link{n}", random_pose(random))],
                   gravity=9.81 * unit(random))


def random_body(name: str, random: np.random.Generator) -> Body:
    """A body of a dozen particles: any centre, any principal axes."""
    at, masses = random.normal(scale=0.2, size=(12, 3)), random.uniform(0.05, 0.4, 12)
    center = masses @ at / masses.sum()
    second = (masses[:, None] * (at - center)).T @ (at - center)
    return Body(name, masses.sum(), center, np.trace(second) * np.eye(3) - second)


def random_state(tree: Tree, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, qd and qdd."""
    q, qd, qdd = np.random.default_rng(seed).uniform(-1, 1, size=(3, tree.nv)) * np.array([[np.pi], [2.0], [3.0]])
    return q, qd, qdd
