"""The constraints of a mechanism as `equality` elements of MJCF, with the sites and tendons that they need.

A loop that a spherical joint closes is a `connect`, a fixed one a `weld`; a revolute one is two `connect`, at its point
and one metre along its axis, so that it comes back from `load_mjcf` as two spherical loops. A mimic joint is a `joint`
equality, and so is a polynomial of up to the fourth degree; a rod is a spatial tendon between two sites, and a coupling
a fixed tendon, whose length is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.errors import UnsupportedError
from cayley.geometry.pose import Pose
from cayley.model.chains import chain_pose
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraint_kinds.constraint import Tendon
from cayley.model.formats.xml_elements import quoted
from cayley.model.joint_kinds.motion import Axis
from cayley.model.parts import Frame, Joint, Loop
from cayley.model.tree import Tree

_DEGREE = 4  # the highest power of a `joint` equality


@dataclass(frozen=True, eq=False)
class EqualityText:
    """The lines of the elements <equality> and <tendon>, and the frames that become sites because constraints end
    there."""

    tree: Tree

    def __post_init__(self) -> None:
        for loop in self.tree.loops:
            if loop.motion.mjcf_loop is None:
                raise UnsupportedError(
                    f"MJCF has no form for the loop {loop.name!r} of {self.tree.name}, which is {loop.motion.word}: it "
                    "has those that fixed, spherical and revolute joints close")
        for constraint in self.tree.constraints:
            _check(constraint, self.tree.name)

    @cached_property
    def equalities(self) -> list[str]:
        return [*[_mimic(joint) for joint in self.tree.joints if joint.mimic is not None],
                *[line for loop in self.tree.loops for line in self._loop(loop)],
                *[_equality(constraint, self._rest(constraint)) for constraint in self.tree.constraints]]

    @cached_property
    def tendons(self) -> list[str]:
        return [line for constraint in self.tree.constraints if (tendon := constraint.mjcf_tendon) is not None
                for line in self._tendon(constraint.name, tendon)]

    @cached_property
    def sites(self) -> dict[tuple[str, Axis], Frame]:
        """By the name of a frame and a point in it, the frames that the constraints need beside the named ones."""
        taken = {*self.tree.frame_names}
        found: dict[tuple[str, Axis], Frame] = {}
        for name, point in self._ends():
            if (name, point) in found or (name in self._named and not any(point)):
                continue
            fresh = f"{name}/{'axis' if any(point) else 'origin'}"
            while fresh in taken:
                fresh += "_"
            taken.add(fresh)
            frame = self.tree.frame(name)
            found[name, point] = Frame(fresh, frame.body, frame.pose @ Pose(np.eye(3), np.array(point)).matrix)
        return found

    @cached_property
    def _named(self) -> set[str]:
        return {frame.name for frame in self.tree.frames}

    def _ends(self) -> Iterator[tuple[str, Axis]]:
        origin: Axis = (0.0, 0.0, 0.0)
        for loop in self.tree.loops:
            yield from ((end, point) for point in loop.motion.mjcf_loop or (origin,) for end in loop.frames)
        for constraint in self.tree.constraints:
            yield from ((end, origin) for end in constraint.frames)

    def _site(self, end: str, point: Axis = (0.0, 0.0, 0.0)) -> str:
        return quoted(self.sites[end, point].name if (end, point) in self.sites else end)

    def _loop(self, loop: Loop) -> Iterator[str]:
        points = loop.motion.mjcf_loop or ()
        if not points:
            yield f"<weld name={quoted(loop.name)} site1={self._site(loop.first)} site2={self._site(loop.second)}/>"
        taken = {each.name for each in (*self.tree.loops, *self.tree.constraints)}
        for point in points:
            name = loop.name if not any(point) else f"{loop.name}/axis"
            while any(point) and name in taken:
                name += "_"
            yield (f"<connect name={quoted(name)} site1={self._site(loop.first, point)} "
                   f"site2={self._site(loop.second, point)}/>")

    def _tendon(self, name: str, tendon: Tendon) -> Iterator[str]:
        yield f"<{tendon.kind} name={quoted(name)}>"
        for part, number in tendon.parts:
            yield (f"  <site site={self._site(part)}/>" if number is None else
                   f"  <joint joint={quoted(part)} coef=\"{number!r}\"/>")
        yield f"</{tendon.kind}>"

    def _rest(self, constraint: Constraint) -> float:
        """The distance between its frames while every joint is at its zero, from which MuJoCo counts."""
        if not constraint.frames:
            return 0.0
        first, second = (chain_pose(self.tree, end, self.tree.neutral) for end in constraint.frames)
        return float(np.linalg.norm(second[:3, 3] - first[:3, 3]))


def _check(constraint: Constraint, name: str) -> None:
    powers = constraint.mjcf_polynomial
    if constraint.mjcf_tendon is None and powers is None:
        raise UnsupportedError(f"MJCF has no form for the {constraint.word} {constraint.name!r} of {name}")
    if powers is not None and len(powers) > _DEGREE + 1:
        raise UnsupportedError(f"the {constraint.word} {constraint.name!r} of {name} is of degree {len(powers) - 1}: "
                               f"MJCF has polynomials of up to degree {_DEGREE}")


def _equality(constraint: Constraint, rest: float) -> str:
    tendon = constraint.mjcf_tendon
    name = quoted(constraint.name)
    if tendon is not None:
        return f"<tendon name={name} tendon1={name} polycoef=\"{tendon.length - rest!r} 0 0 0 0\"/>"
    follower, leader = constraint.coordinates
    powers = [*(constraint.mjcf_polynomial or ()), *[0.0] * _DEGREE][:_DEGREE + 1]
    return (f"<joint name={name} joint1={quoted(follower)} joint2={quoted(leader)} "
            f"polycoef=\"{' '.join(map(repr, powers))}\"/>")


def _mimic(joint: Joint) -> str:
    assert joint.mimic is not None
    powers = (float(joint.mimic.offset), float(joint.mimic.multiplier), 0.0, 0.0, 0.0)
    return (f"<joint joint1={quoted(joint.name)} joint2={quoted(joint.mimic.joint)} "
            f"polycoef=\"{' '.join(map(repr, powers))}\"/>")
