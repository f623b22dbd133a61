"""The `equality` constraints of MJCF and the loops, mimic joints and constraints of a mechanism, both ways.

    connect         a loop that a spherical joint closes; weld: one that a fixed joint closes, or, where its torquescale
                    is 0, a spherical one
    joint           y - y0 = a0 + a1 (x - x0) + ...: a mimic joint if it is a straight line, a polynomial otherwise
    tendon          of a spatial tendon between two sites a rod, of fixed tendons, which are sums of coordinates, a
                    coupling
What is not active is left out; what is of another form raises an error.

Written are the same. A revolute loop is two `connect`, at its point and one metre along its axis, so that it comes back
from `load_mjcf` as two spherical loops; a rod is a spatial tendon between two sites, a coupling a fixed tendon."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.geometry.motions.homogeneous import pose_from_quaternion
from cayley.geometry.pose import Pose
from cayley.model.chains import chain_pose
from cayley.model.constraint_kinds import Constraint, Coupling, Polynomial, Rod
from cayley.model.constraint_kinds.constraint import Tendon
from cayley.model.formats.xml_elements import XmlElement, quoted
from cayley.model.joint_kinds import JointKind, Spherical
from cayley.model.joint_kinds.motion import Axis
from cayley.model.parts import Frame, Joint, Loop, Mimic
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from mujoco import MjModel

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
_SITE = 6  # mjtObj
_WRAPS_JOINT = 1  # mjtWrap
_WRAPS_SITE = 3
_DEGREE = 4  # the highest power of a `joint` equality


class Equalities:
    """Active equalities of a model as mimic joints and constraints, by the names of bodies, joints and sites."""

    def __init__(self, model: MjModel, names: Sequence[str], places: Sequence[str], bodies: Sequence[str],
                 joints: Sequence[str], sites: Sequence[str], fresh_frame: Callable[[str], str]) -> None:
        self.model = model
        self.names = names
        self.places = places
        self.bodies = bodies
        self.joints = joints
        self.sites = sites
        self.fresh_frame = fresh_frame
        self.mimics: dict[int, Mimic] = {}
        self.loops: list[Loop] = []
        self.constraints: list[Constraint] = []
        self.frames: list[Frame] = []
        self.tendons: set[int] = set()
        """The tendons that are constraints here."""
        kinds = {CONNECT: self._add_loop, WELD: self._add_loop, JOINT: self._add_joint, TENDON: self._add_tendon}
        for k in range(model.neq):
            if model.eq_active0[k] and int(model.eq_type[k]) in kinds:
                kinds[int(model.eq_type[k])](k)

    def _add_loop(self, k: int) -> None:
        model = self.model
        data = model.eq_data[k]
        connects = model.eq_type[k] == CONNECT
        free_to_turn = connects or data[10] == 0.0
        motion = Spherical() if free_to_turn else JointKind()
        ends = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        if model.eq_objtype[k] == _SITE:
            self.loops.append(Loop(self.names[k], self.sites[ends[0]], self.sites[ends[1]], motion))
            return
        poses = (_pose(data[:3]), _pose(data[3:6])) if connects else (_pose(data[3:6], data[6:10]), _pose(data[:3]))
        made = [Frame(self.fresh_frame(f"{self.names[k]}/{word}"), self.bodies[end], pose)
                for word, end, pose in zip(("first", "second"), ends, poses, strict=True)]
        self.frames += made
        self.loops.append(Loop(self.names[k], made[0].name, made[1].name, motion))

    def _add_joint(self, k: int) -> None:
        model = self.model
        y = int(model.eq_obj1id[k])
        x = int(model.eq_obj2id[k])
        name = self.names[k]
        y0 = model.qpos0[model.jnt_qposadr[y]]
        a = model.eq_data[k, :5]
        if x < 0:  # held where it is
            self.constraints.append(Coupling(name, (self.joints[y],), (1.0,), float(a[0] + y0)))
            return
        absolute = _shifted(a, float(model.qpos0[model.jnt_qposadr[x]]))
        offset = float(absolute[0] + y0)
        if a[2:].any():
            self.constraints.append(Polynomial(name, self.joints[y], self.joints[x], (offset, *absolute[1:])))
        elif y not in self.mimics and not self._follows(x, y):
            self.mimics[y] = Mimic(self.joints[x], float(a[1]), offset)
        elif a[1] == 0.0:
            self.constraints.append(Coupling(name, (self.joints[y],), (1.0,), offset))
        else:
            self.constraints.append(Coupling(name, (self.joints[y], self.joints[x]), (1.0, float(-a[1])), offset))

    def _follows(self, joint: int, other: int) -> bool:
        """True if a joint is another, or mimics it directly or through others."""
        while joint in self.mimics and joint != other:
            joint = self.joints.index(self.mimics[joint].joint)
        return joint == other

    def _add_tendon(self, k: int) -> None:
        model = self.model
        a = model.eq_data[k, :5]
        first = int(model.eq_obj1id[k])
        second = int(model.eq_obj2id[k])
        pair = [tendon for tendon in (first, second) if tendon >= 0]
        self.tendons.update(pair)
        wraps = [self._wraps(tendon) for tendon in pair]
        if len(pair) == 1 and set(wraps[0][0]) == {_WRAPS_SITE} and len(wraps[0][0]) == 2:
            ends = [self.sites[number] for number in wraps[0][1]]
            self.constraints.append(Rod(self.names[k], ends[0], ends[1], float(model.tendon_length0[first] + a[0])))
            return
        summed = all(set(kinds) == {_WRAPS_JOINT} for kinds, _, _ in wraps)
        if not summed or (len(pair) == 2 and a[2:].any()):
            raise UnsupportedError(
                f"{self.places[k]}the equality {self.names[k]!r} of tendons has no form in a mechanism: it has those "
                "of one spatial tendon between two sites, a rod, and of fixed tendons in a straight line, a coupling")
        weights: dict[str, float] = {}
        for (_, numbers, coefficients), factor in zip(wraps, (1.0, -float(a[1])), strict=False):
            for number, coefficient in zip(numbers, coefficients, strict=True):
                weights[self.joints[number]] = weights.get(self.joints[number], 0.0) + factor * float(coefficient)
        value = model.tendon_length0[first] + a[0]
        if len(pair) == 2:
            value -= a[1] * model.tendon_length0[second]
        kept = {joint: weight for joint, weight in weights.items() if weight}
        self.constraints.append(Coupling(self.names[k], tuple(kept), tuple(kept.values()), float(value)))

    def _wraps(self, tendon: int) -> tuple[list[int], list[int], list[float]]:
        """Parts of a tendon: kinds, numbers of objects, coefficients."""
        model = self.model
        start = model.tendon_adr[tendon]
        places = range(start, start + model.tendon_num[tendon])
        return ([int(model.wrap_type[i]) for i in places], [int(model.wrap_objid[i]) for i in places],
                [float(model.wrap_prm[i]) for i in places])


def places_of(model: MjModel, root: XmlElement | None) -> list[str]:
    """Place of each equality in the file, for errors; empty where files are included or parts replicated."""
    found = [each for element in (root.children if root else ()) if element.tag == "equality"
             for each in element.children]
    known = len(found) == model.neq
    return [f"{each.file}, line {each.line}, {each}: " for each in found] if known else [""] * model.neq


def _shifted(coefficients: Array, start: float) -> Array:
    """The coefficients (5) of the polynomial of x that this one is of x - start."""
    total = np.zeros(5)
    for c in coefficients[::-1]:
        total = np.append(0.0, total[:-1]) - start * total
        total[0] += c
    return total


def _pose(position: Array, quaternion: Array | None = None) -> Array:
    unit = np.array([1.0, 0.0, 0.0, 0.0]) if quaternion is None else quaternion / np.linalg.norm(quaternion)
    return np.array(pose_from_quaternion.unchecked(unit, np.asarray(position, dtype=float)))


# Writing


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
        """The frames that the constraints need beside the named ones, by the name of a frame and a point in it."""
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
