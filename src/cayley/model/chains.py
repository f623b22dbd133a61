"""One chain out of a mechanism: the moving joints from the root to a frame, as they stand at the zero of the
coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError
from cayley.geometry.pose import Pose
from cayley.model.constraints import check_independent
from cayley.model.parts import Joint
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Chain:
    """Moving `joints` outwards, the pose of each joint's frame in the root at zero (n, 4, 4), and the pose of the `tip`
    there (4, 4)."""

    joints: tuple[Joint, ...]
    homes: Array
    tip: Array
    tip_name: str

    @property
    def reach(self) -> float:
        """A length of the size of the chain [m], at least 1e-3: what distances are small or large against."""
        points = np.concatenate([self.homes[:, :3, 3], self.tip[None, :3, 3]])
        return max(float(np.linalg.norm(np.diff(points, axis=0, prepend=np.zeros((1, 3))), axis=1).sum()), 1e-3)


def chain_to(tree: Tree, frame: str | None = None) -> Chain:
    """The chain from the root to a frame; without a name, to the frame "tool" or to the only end that the mechanism
    has.

    Fixed joints on the way are folded away. A mimic joint or a loop on the way is refused."""
    tip = tree.frame(_only_end(tree) if frame is None else frame)
    check_independent(tree, "a description as a chain", tip.name)
    joints = []
    homes = []
    here = np.eye(4)
    for number in tree.path(tree.body_number(tip.body)):
        joint = tree.joints[number]
        here = here @ np.asarray(joint.placement)
        if joint.motion.nq == 0:
            continue
        joints.append(joint)
        homes.append(here)
        here = here @ Pose(*joint.motion.pose(joint.motion.neutral)).matrix
    if not joints:
        raise ModelError(f"no joint moves between the root of {tree.name} and {tip.name!r}")
    return Chain(tuple(joints), np.stack(homes), here @ np.asarray(tip.pose), tip.name)


def chain_pose(tree: Tree, frame: str, q: ArrayLike) -> Array:
    """The pose (4, 4) of a frame in the root at one configuration `q` (nq): the plain product, for checks of
    conversions."""
    tip = tree.frame(frame)
    here = np.eye(4)
    for number in tree.path(tree.body_number(tip.body)):
        joint = tree.joints[number]
        moved = Pose(*joint.motion.pose(np.asarray(q)[tree.q_slices[number]]))
        here = here @ np.asarray(joint.placement) @ moved.matrix
    return here @ np.asarray(tip.pose)


def _only_end(tree: Tree) -> str:
    if any(f.name == "tool" for f in tree.frames):
        return "tool"
    carrying = {joint.parent for joint in tree.bare_joints}
    ends = [joint.child for joint in tree.bare_joints if joint.child not in carrying] or [tree.bodies[0].name]
    if len(ends) != 1:
        raise ModelError(
            f"{tree.name} has {len(ends)} ends ({', '.join(ends[:10])}): name the frame that the chain leads to")
    return ends[0]
