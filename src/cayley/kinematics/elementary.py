"""Joints as sequences of elementary motions. After each the twist (v; w) of the moved frame, relative to the frame
before it, is `subspace @ qd`. Where the `subspace` is constant, as of most kinds, rates and Hessians of Jacobians need
to know only how the moved frame turns; where it is not, they are differentiated."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.geometry.pose import Pose
from cayley.model.elementary_motions import ElementaryMotion, elementary_motions
from cayley.model.tree import Tree


class Step(NamedTuple):
    """One elementary motion on the way to a frame; the last step, from the last joint to the frame, moves nothing."""

    columns: slice  # its entries in the velocity
    subspace: Array  # (6, m), in the axes and at the origin of the frame after it
    pose: Pose  # of the frame after it, in the frame before it
    # of its own velocities: (6), the rate of the subspace times them; None if that is constant
    bias: Callable[[Any], Any] | None = None

    def twist_rate(self, qd: Array, qdd: Array) -> Array:
        """The rate (6) of the components of subspace @ qd, for the velocities (nv) of the mechanism."""
        given = self.subspace @ qdd[self.columns]
        return given if self.bias is None else given + self.bias(qd[self.columns])


def way_to(tree: Tree, frame: str) -> tuple[list[ElementaryMotion], Pose]:
    """The elementary motions from the root to a named frame, outwards, and the pose of the frame after the last of
    them. What is fixed is part of the placement after it."""
    wanted = tree.frame(frame)
    motions, bodies = elementary_motions(tree, tree.path(tree.body_number(wanted.body)))
    return motions, bodies[wanted.body][1].then(Pose.of(wanted.pose))


def ways_between(tree: Tree, first: str, second: str) -> list[tuple[list[ElementaryMotion], Pose]]:
    """The ways to two frames from the body from which both hang."""
    one = way_to(tree, first)
    other = way_to(tree, second)
    places = [(a.columns, b.columns) for a, b in zip(one[0], other[0], strict=False)]
    shared = next((k for k, (a, b) in enumerate(places) if a != b), len(places))
    return [(links[shared:], end) for links, end in (one, other)]


def pairs_to(tree: Tree, frame: str) -> tuple[list[ElementaryMotion], Pose]:
    """The same for texts that know motions about one axis and attitudes; other kinds of joints raise an error."""
    links, end = way_to(tree, frame)
    for number in tree.path(tree.body_number(tree.frame(frame).body)):
        for motion in tree.joints[number].motion.elementary:
            if motion.nv and motion.screw is None and motion.attitude is None:
                raise UnsupportedError(
                    f"joint {tree.joints[number].name!r} of {tree.name} is {motion.word}: it neither moves about one "
                    "axis nor has an attitude of its own")
    return links, end


def steps_to(tree: Tree, q: Array, frame: str) -> list[Step]:
    """The elementary motions from the root to a named frame at a configuration, and a last step without motion."""
    return steps_of(*way_to(tree, frame), q)


def steps_of(links: list[ElementaryMotion], end: Pose, q: Array) -> list[Step]:
    """Elementary motions at a configuration, and a last step without motion, to the pose `end` after them."""
    return [*[_step(link, q[link.coordinates]) for link in links], Step(slice(0, 0), np.zeros((6, 0)), end)]


def _step(link: ElementaryMotion, q: Array) -> Step:
    motion = link.motion
    pose = link.placement.then(Pose(*link.motion.pose(q)))
    if motion.constant_subspace:
        return Step(link.columns, motion.subspace(np.zeros(motion.nq)), pose)
    return Step(link.columns, motion.subspace(q), pose, partial(motion.bias, q))
