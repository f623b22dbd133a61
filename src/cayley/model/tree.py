"""A mechanism as data: an immutable tree of bodies and joints, in an order in which parents come first.

Bodies are numbered by that order; body 0 is the root, and body k + 1 is the child of joint k. The configuration `q`
strings the coordinates of the joints together in that order, the velocity `qd` their velocities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import count, islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, commands_terminal, did_you_mean, shown
from cayley.explained_calls import with_explained_calls
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.constraint_kinds import Constraint
from cayley.model.contacts import ContactPair, contacts_of
from cayley.model.findings import Remark, in_number
from cayley.model.motors import ELASTIC, GEARED, REDUCED, MotorParts, has_motor, motor_name, motor_parts, rotor_again
from cayley.model.parts import Body, Frame, Friction, Immutable, Joint, Loop, Mimic, NamedConfiguration, Rotor, frozen
from cayley.model.physical_bodies import check_possible
from cayley.model.spring_kinds import LinearSpring, SpringKind
from cayley.model.winding import Winding
from cayley.words import what_it_is_here

GRAVITY = (0.0, 0.0, -9.81)
TERMS = {
    "armature": "the inertia of rotors",
    "friction": "that of the joints",
    "springs": "those of the joints, with their motors held at zero",
    ELASTIC: "motors that drive through springs, with their angles as coordinates",
    REDUCED: "the same with rotors that only spin",
    GEARED: "rotors as bodies that turn with their joints",
}
_REFERENCE_FRAMES = {"LOCAL": 'axes="body"', "LOCAL_WORLD_ALIGNED": 'axes="world"', "WORLD": 'axes="world", at="world"'}
_NEEDED = {ELASTIC: "a spring", REDUCED: "a spring", GEARED: "a rotor with a mass and no spring"}


class Follower(NamedTuple):
    """Leader of a mimic joint: the coordinate is multiplier q + offset, with q that of the joint `leader`, which mimics
    no other."""

    leader: int
    multiplier: float
    offset: float


class _Added(NamedTuple):
    """The names of bodies and joints that motors have added, each with the joint that it drives."""

    bodies: dict[str, str]
    joints: dict[str, str]


class Coordinate(NamedTuple):
    """Place of a coordinate: the number of its joint, its index in q, and that of its rate in qd."""

    joint: int
    q: int
    qd: int


@with_explained_calls
@dataclass(frozen=True, eq=False)
class Tree(Immutable):
    """Bodies joined into a tree. Made by `Tree.of`, which checks and sorts."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    # acceleration of free fall in the root's frame [m/s^2]
    gravity: Array = field(default_factory=lambda: np.array(GRAVITY))
    loops: tuple[Loop, ...] = ()
    source: str = ""
    notes: tuple[str | Remark, ...] = ()  # what was found odd, or worth saying, when it was read, for the report
    included: frozenset[str] = frozenset()  # of the drives, in the dynamics: "armature", "friction", ...
    constraints: tuple[Constraint, ...] = ()  # what ties joints together besides loops and mimic joints
    actuated: tuple[str, ...] | None = None  # the joints that have a drive; None where nothing was said
    named: tuple[NamedConfiguration, ...] = ()  # configurations that have names
    arguments: tuple[tuple[str, str], ...] = ()  # by name, those that the macros of its source were expanded with
    contacts: tuple[ContactPair, ...] = ()  # what may touch what

    @staticmethod
    def of(name: str, bodies: Iterable[Body], joints: Iterable[Joint], *, frames: Iterable[Frame] = (),
           gravity: ArrayLike = GRAVITY, loops: Iterable[Loop] = (), constraints: Iterable[Constraint] = (),
           wheels: Iterable[CarriedWheel] = (), actuated: Iterable[str] | None = None, source: str = "",
           notes: Iterable[str | Remark] = ()) -> Tree:
        """A checked mechanism from its parts, in any order.

        name         the name of the mechanism
        bodies       `Body("link1", mass, center, inertia)` [kg, m, kg m^2]; the root is the child of no joint
        joints       `Joint("joint1", parent, child, Revolute(), placement)`, of the kinds in `cayley.model.joint_kinds`
        frames       named frames on bodies, such as a tool: `Frame("tool", "link1", pose)`
        gravity      acceleration of free fall in the axes of the root [m/s^2]
        loops        joints that close loops: `Loop("ring", frame, other frame, Revolute())`
        constraints  rods, couplings and prescribed motions of joints, of the kinds in `cayley.model.constraint_kinds`
        wheels       `CarriedWheel("left", "chassis", position, radius)`, with bodies, joints and constraints
        actuated     the names of the joints that have a drive; see `actuated_joints` for the default
        source       the origin of the model
        notes        sentences for the report

        To change a mechanism, do not build it anew from its parts: `with_joints`, `with_actuated`, `with_gravity`,
        `with_frame` and `with_payload` keep all else, and so do the functions of `changed_parts`, `locking`,
        `attaching`, `subtrees` and `reducing`.

        >>> from cayley.model.joint_kinds import Prismatic
        >>> rail = Tree.of("rail", [Body("ground"), Body("cart", 2.0)], [Joint("slide", "ground", "cart", Prismatic())])
        >>> rail
        <rail: 2 bodies, 1 joint, nq = 1, nv = 1>
        """
        wheels = tuple(wheels)
        for wheel in wheels:
            if not isinstance(wheel, CarriedWheel):
                raise ModelError(f"the wheels of {name} must be CarriedWheel(name, on, position, radius), not "
                                 f"{shown(wheel)}")
        own = [wheel.parts for wheel in wheels]
        bodies = (*bodies, *[body for part in own for body in part.bodies])
        joints = (*joints, *[joint for part in own for joint in part.joints])
        frames = tuple(frames)
        loops = tuple(loops)
        constraints = (*constraints, *[part.constraint for part in own])
        _check_name(name, "a mechanism has")
        _check_names(name, bodies, joints, frames, (*loops, *constraints))
        by_name = {b.name: b for b in bodies}
        ordered = _sorted_joints(name, by_name, joints)
        root = _root(name, by_name, joints)
        sorted_bodies = (by_name[root], *[by_name[j.child] for j in ordered])
        made = Tree(name, sorted_bodies, ordered, frames, frozen(gravity, (3,), "gravity"), loops, source, tuple(notes),
                    constraints=constraints)
        for frame in frames:
            made.body_number(frame.body)
        for joint in joints:
            _check_carrier(made, joint)
        for constraint in (*loops, *constraints):
            check_constraint(made, constraint)
        _check_followers(name, {joint.name: joint for joint in joints})
        return made if actuated is None else replace(made, actuated=_checked_drives(made, actuated))

    # Sizes and places

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """For each joint the number of its parent body."""
        return tuple(self._body_numbers[joint.parent] for joint in self.joints)

    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        """Slices of q that hold the coordinates of each joint."""
        return slices([j.motion.nq for j in self.joints])

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        """Slices of qd that hold the velocities of each joint."""
        return slices([j.motion.nv for j in self.joints])

    @cached_property
    def mimic_joints(self) -> dict[int, Follower]:
        """Mimic joints by number, each with the joint at the end of the chain that it follows."""
        found: dict[int, Follower] = {}
        for number in range(len(self.joints)):
            chain: list[tuple[int, Mimic]] = []
            while number not in found and (mimic := self.joints[number].mimic) is not None:
                chain.append((number, mimic))
                number = self._joint_numbers[mimic.joint]
            leader, multiplier, offset = found.get(number, Follower(number, 1.0, 0.0))
            for follower, mimic in reversed(chain):
                multiplier = mimic.multiplier * multiplier
                offset = mimic.multiplier * offset + mimic.offset
                found[follower] = Follower(leader, multiplier, offset)
        return dict(sorted(found.items()))

    @property
    def is_constrained(self) -> bool:
        """True if loops, mimic joints or other constraints tie the joints together."""
        return bool(self.loops or self.constraints or self.mimic_joints)

    @property
    def is_timed(self) -> bool:
        """True if a constraint depends on time; functions that involve the constraints then depend on t too."""
        return any(constraint.timed for constraint in self.constraints)

    @cached_property
    def nq(self) -> int:
        """The number of coordinates: one for a revolute or prismatic joint, seven for a floating base."""
        return sum(j.motion.nq for j in self.joints)

    @cached_property
    def nv(self) -> int:
        """The number of velocities, and of joint torques and forces."""
        return sum(j.motion.nv for j in self.joints)

    @cached_property
    def _body_numbers(self) -> dict[str, int]:
        return {body.name: number for number, body in enumerate(self.bodies)}

    @cached_property
    def _joint_numbers(self) -> dict[str, int]:
        return {joint.name: number for number, joint in enumerate(self.joints)}

    @cached_property
    def _named_frames(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.frames}

    def body_number(self, name: str) -> int:
        """The place of a body in `bodies`, by its name."""
        return _number(name, self._body_numbers, "body", self.name)

    def joint_number(self, name: str) -> int:
        """The place of a joint in `joints`, by its name."""
        return _number(name, self._joint_numbers, "joint", self.name)

    def coordinate(self, name: str) -> Coordinate:
        """A coordinate by the name of its joint, or, of a joint with several, by both names: "cart.angle"."""
        joint, _, own = (name, "", "") if name in self._joint_numbers else str(name).rpartition(".")
        number = self.joint_number(joint or name)
        motion = self.joints[number].motion
        if motion.nq != motion.nv or own not in motion.coordinate_names:
            names = ", ".join(f"{joint}.{each}" for each in motion.coordinate_names)
            there = f"it has {names}" if motion.nq == motion.nv > 1 else "it has none to tie"
            raise ModelError(f"{self.name} has no coordinate {name!r}: it names joint {joint!r}, which is "
                             f"{motion.word}; only joints of one coordinate have one of that name, {there}")
        place = motion.coordinate_names.index(own)
        return Coordinate(number, self.q_slices[number].start + place, self.v_slices[number].start + place)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that move, in the order of their coordinates.

        >>> cy.load("planar2r").tree.joint_names
        ('joint1', 'joint2')
        """
        return tuple(joint.name for joint in self.joints if joint.motion.nv)

    @cached_property
    def actuated_joints(self) -> tuple[str, ...]:
        """The joints that have a drive, in the order of their coordinates. Where nothing was said, all that move but
        mimic and floating joints: they have none.

        >>> cy.load("panda_hand").tree.actuated_joints[-1]
        'panda_finger_joint1'
        >>> cy.load("slider_crank").tree.actuated_joints
        ('crank',)
        """
        if self.actuated is not None:
            return tuple(name for name in self.joint_names if name in self.actuated)
        return tuple(joint.name for joint in self.joints
                     if joint.motion.nv and joint.mimic is None and not joint.motion.free)

    @cached_property
    def actuated_velocities(self) -> tuple[int, ...]:
        """The places among the velocities of those of the actuated joints."""
        names = set(self.actuated_joints)
        return tuple(place for joint, places in zip(self.joints, self.v_slices, strict=True) if joint.name in names
                     for place in range(places.start, places.stop))

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies, parents first; the first is the root.

        >>> cy.load("planar2r").tree.body_names
        ('base', 'link1', 'link2')
        """
        return tuple(body.name for body in self.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The names of all frames; bodies are frames, too.

        >>> cy.load("planar2r").tree.frame_names
        ('frame0', 'frame1', 'frame2', 'tool', 'base', 'link1', 'link2')
        """
        return tuple(dict.fromkeys([*self._named_frames, *self._body_numbers]))

    def frame(self, name: str) -> Frame:
        """A frame by name; the name of a body means the frame of the body."""
        if isinstance(name, str) and name in self._named_frames:
            return self._named_frames[name]
        if isinstance(name, str) and name in self._body_numbers:
            return Frame(name, name)
        if str(name) in _REFERENCE_FRAMES:
            raise ModelError(f"{self.name} has no frame or body {name}: {name} of Pinocchio is "
                             f"{_REFERENCE_FRAMES[str(name)]} here")
        if not isinstance(name, str):
            known = "tool" if "tool" in self.frame_names else self.frame_names[-1]
            raise ModelError(f"{self.name} has no frame or body {shown(name)}: a frame is named by a text, such as "
                             f"{known!r}, and arrays come before the frame, as in pose(q, frame)")
        raise ModelError(f"{self.name} has no frame or body {shown(name)}{_nearest(name, self.frame_names)}")

    def path(self, body: int) -> tuple[int, ...]:
        """The joints from the root to a body, outwards."""
        joints: list[int] = []
        while body > 0:
            joints.append(body - 1)
            body = self.parents[body - 1]
        return tuple(reversed(joints))

    # Configurations

    @property
    def neutral(self) -> Array:
        """The configuration in which every joint is at its zero, whatever its limits: where those exclude zero, as in
        joint 4 of the panda, it is not one that the robot can take, and `check_configuration` says so;
        `cayley.kinematics.loops.closing.neutral_within_limits` is."""
        return np.concatenate([j.motion.neutral for j in self.joints] or [np.zeros(0)])

    @property
    def lower(self) -> Array:
        """The lower limits of the coordinates (nq) [rad, m]."""
        return np.concatenate([np.array(j.limits.lower, dtype=float) for j in self.joints] or [np.zeros(0)])

    @property
    def upper(self) -> Array:
        """The upper limits of the coordinates (nq) [rad, m]."""
        return np.concatenate([np.array(j.limits.upper, dtype=float) for j in self.joints] or [np.zeros(0)])

    # Changes give a new mechanism

    def with_gravity(self, gravity: ArrayLike) -> Tree:
        """Mechanism with another acceleration of free fall (3), in the axes of the root [m/s^2]."""
        return replace(self, gravity=frozen(gravity, (3,), "gravity"))

    def with_frame(self, name: str, body: str, pose: ArrayLike | None = None) -> Tree:
        """Mechanism with one more named frame."""
        _check_names(self.name, self.bodies, self.joints, (*self.frames, Frame(name, body, pose)))
        self.body_number(body)
        return replace(self, frames=(*self.frames, Frame(name, body, pose)))

    def with_payload(self, frame: str, mass: float, *, center: ArrayLike = (0.0, 0.0, 0.0),
                     inertia: ArrayLike | None = None, name: str | None = None) -> Tree:
        """Mechanism with a body of `mass` [kg], a load or a tool, fixed to a frame. `center` and `inertia` about it
        (zero for a point load) are in the frame's axes. The default `name` is "payload1" and so on."""
        held = self.frame(frame)
        taken = {*self.frame_names, *self._joint_numbers}
        number = next(k for k in count(1) if not {f"payload{k}", f"grasp{k}"} & taken)
        body = Body(name or f"payload{number}", mass, center, np.zeros((3, 3)) if inertia is None else inertia)
        check_possible(body)
        joint = Joint(f"grasp of {name}" if name else f"grasp{number}", held.body, body.name, placement=held.pose)
        return self.with_parts([*self.bodies, body], [*self.joints, joint])

    def with_joints(self, *joints: Joint) -> Tree:
        """Mechanism with these joints in the places of those of their names: other limits, friction, armature,
        another kind.

        >>> from cayley.model.parts import Rotor
        >>> arm = cy.load("planar2r").tree
        >>> geared = arm.with_joints(replace(arm.joints[1], rotor=Rotor(1e-4, gear=100.0)))
        >>> geared.joints[1].rotor.reflected, geared.gravity
        (1.0, array([ 0.  , -9.81,  0.  ]))
        """
        given = {joint.name: joint for joint in joints}
        _check_names(self.name, (), joints, ())
        for name in given:
            self.joint_number(name)
        return self.with_parts(self.bodies, [given.get(joint.name, joint) for joint in self.joints])

    def with_actuated(self, *joints: str) -> Tree:
        """Mechanism with drives in these joints, and in no others.

        >>> cy.load("planar2r").tree.with_actuated("joint1").actuated_joints
        ('joint1',)
        """
        return replace(self, actuated=_checked_drives(self, joints))

    def with_drive(self, joint: str, *, stiffness: float | None = None, damping: float = 0.0, gear: float = 1.0,
                   inertia: float = 0.0, mass: float | None = None, center: ArrayLike = (0.0, 0.0, 0.0),
                   tensor: ArrayLike | None = None, carrier: str | None = None, place: ArrayLike | None = None,
                   spring: SpringKind | None = None, friction: Friction | None = None,
                   winding: Winding | None = None) -> Tree:
        """Mechanism with another drive of one joint; see `Mechanism.with_drive`."""
        driven = self.joints[self.joint_number(joint)]
        if spring is not None and (stiffness is not None or damping):
            raise ModelError(f"the drive of joint {joint!r} is given a spring, and a stiffness or a damping: give one")
        if stiffness is None and damping:
            raise ModelError(f"the drive of joint {joint!r} is given a damping and no stiffness: the damper is beside "
                             "a spring, give it a stiffness; the friction of a rigid drive is `with_friction`")
        if gear == 0.0:
            raise ModelError(f"the gear of joint {joint!r} is 0: its motor would not drive it; give the turns of the "
                             "motor for one of the joint")
        try:
            rotor = Rotor(inertia, gear, mass, center, tensor, carrier, place,  # type: ignore[arg-type]  # made tuples
                          Friction() if friction is None else friction, winding)
            behind = spring if stiffness is None else LinearSpring(stiffness, damping)
        except ModelError as error:
            raise ModelError(f"the drive of joint {joint!r}: {error}") from None
        return self.with_joints(replace(driven, rotor=rotor, spring=behind))

    def with_parts(self, bodies: Iterable[Body], joints: Iterable[Joint]) -> Tree:
        """Mechanism of other bodies and joints, with the same frames, gravity, loops and included effects. Motors are
        built again from the data of the joints."""
        added = self._motor_parts
        bare = self.without_motors()
        bodies = tuple(bodies)
        joints = tuple(joints)
        _check_motors_stay(self, bodies, joints)
        made = Tree.of(self.name, [body for body in bodies if body.name not in added.bodies],
                       [joint for joint in joints if joint.name not in added.joints],
                       frames=bare.frames, gravity=self.gravity, loops=bare.loops, constraints=bare.constraints,
                       actuated=bare.actuated, source=self.source, notes=self.notes)
        contacts = contacts_of(bare.contacts, [body.name for body in made.bodies])
        made = replace(made, named=self.named, arguments=self.arguments, contacts=contacts).including(*self.included)
        return made if bare is self else replace(made, frames=self.frames, loops=self.loops,
                                                 constraints=self.constraints,
                                                 contacts=contacts_of(self.contacts, made.body_names))

    def without_motors(self) -> Tree:
        """Mechanism without the motors that elastic and geared drives add to it, and nothing included; the
        drives are data of its joints again, with the numbers of the motors. What hangs on their rotors is left out.

        >>> soft = cy.load("planar2r").tree.with_drive("joint1", stiffness=9.0, inertia=0.1).including("elastic drives")
        >>> soft.nv, soft.without_motors().nv
        (3, 2)
        """
        added = self._motor_parts
        if not added.joints:
            return self
        actuated = tuple(added.joints.get(name, name) for name in self.actuated_joints)
        bare = replace(
            self, bodies=tuple(body for body in self.bodies if body.name not in added.bodies),
            joints=tuple(self._with_rotor(joint) for joint in self.bare_joints), included=frozenset(),
            frames=tuple(frame for frame in self.frames if frame.body not in added.bodies), actuated=None,
            contacts=contacts_of(self.contacts, [name for name in self.body_names if name not in added.bodies]))
        by_name = {*bare.frame_names, *bare.joint_names}
        bare = replace(bare, loops=tuple(each for each in self.loops if by_name.issuperset(each.frames)),
                       constraints=tuple(each for each in self.constraints
                                         if by_name.issuperset((*each.frames, *each.coordinates))))
        return bare if set(actuated) == set(bare.actuated_joints) else replace(bare, actuated=actuated)

    @cached_property
    def motors(self) -> dict[int, int]:
        """Numbers of the motors by those of the joints that they drive through a spring or a gear, where motors are
        parts of the mechanism: joints themselves, after all others.

        >>> arm = cy.load("planar2r").tree.with_drive("joint2", stiffness=100.0, inertia=0.1, gear=10.0)
        >>> arm.including("elastic drives").motors, arm.motors
        ({1: 2}, {})
        """
        return {number: self._joint_numbers[motor_name(joint.name)] for number, joint in enumerate(self.joints)
                if has_motor(joint, self.included) and motor_name(joint.name) in self._joint_numbers}

    def _with_rotor(self, joint: Joint) -> Joint:
        """A joint with the numbers of its motor, if it has one."""
        added = self._motor_parts
        if joint.name not in added.joints.values():
            return joint
        parts = MotorParts(tuple(body for body in self.bodies if added.bodies.get(body.name) == joint.name),
                           tuple(each for each in self.joints if added.joints.get(each.name) == joint.name))
        on_root = parts.joints[-1].parent == self.bodies[0].name
        rotor = rotor_again(joint, self.included, parts, on_root=on_root)
        return joint if rotor is joint.rotor else replace(joint, rotor=rotor)

    @property
    def bare_joints(self) -> tuple[Joint, ...]:
        """The joints that are not of motors."""
        return tuple(joint for joint in self.joints if joint.name not in self._motor_parts.joints)

    @cached_property
    def _motor_parts(self) -> _Added:
        """Names of the bodies and joints that motors have added, the joints with those that they drive."""
        bodies: dict[str, str] = {}
        joints: dict[str, str] = {}
        for number in self.motors:
            driven = self.joints[number]
            parts = motor_parts(driven, self.included)
            bodies |= {body.name: driven.name for body in parts.bodies}
            joints |= {joint.name: driven.name for joint in parts.joints}
        return _Added(bodies, joints)

    def _with_motors(self) -> Tree:
        """Tree with the motors of what is included, after all other joints, so that q is (q, motor angles)."""
        for term in sorted({ELASTIC, REDUCED, GEARED} & self.included):
            if not any(has_motor(joint, frozenset([term])) for joint in self.joints):
                raise ModelError(f"{self.name} has no {term}: no joint has {_NEEDED[term]}; `with_drive` gives it one")
        driven = [joint for joint in self.joints if has_motor(joint, self.included)]
        parts = [motor_parts(joint, self.included) for joint in driven]
        bodies = (*self.bodies, *[body for each in parts for body in each.bodies])
        joints = (*self.joints, *[joint for each in parts for joint in each.joints])
        _check_names(self.name, bodies, joints, ())
        moved = {joint.name: motor_name(joint.name) for joint in driven}
        return replace(self, bodies=bodies, joints=joints,
                       actuated=tuple(moved.get(name, name) for name in self.actuated_joints))

    def with_constraints(self, loops: Iterable[Loop], constraints: Iterable[Constraint] = ()) -> Tree:
        """Mechanism with these loops and other constraints in the place of its own."""
        loops = tuple(loops)
        constraints = tuple(constraints)
        _check_names(self.name, (), (), (), (*loops, *constraints))
        for constraint in (*loops, *constraints):
            check_constraint(self, constraint)
        return replace(self, loops=loops, constraints=constraints)

    def with_more_constraints(self, *constraints: Constraint) -> Tree:
        """Mechanism with constraints besides its own; one of the same name takes the place of the old one."""
        new = {each.name: each for each in constraints}
        if len(new) < len(constraints):
            raise ModelError(f"two of the constraints for {self.name} have the same name: "
                             f"{', '.join(repr(each.name) for each in constraints)}")
        loops = [new.pop(each.name, each) for each in self.loops]
        others = [new.pop(each.name, each) for each in self.constraints]
        every = [*loops, *others, *new.values()]
        return self.with_constraints([each for each in every if isinstance(each, Loop)],
                                     [each for each in every if not isinstance(each, Loop)])

    def without_constraints(self, *names: str) -> Tree:
        """Mechanism without the constraints and loops of these names."""
        known = [each.name for each in (*self.loops, *self.constraints)]
        for name in names:
            if name not in known:
                raise ModelError(f"{self.name} has no constraint {name!r}{did_you_mean(name, known)}")
        return self.with_constraints([each for each in self.loops if each.name not in names],
                                     [each for each in self.constraints if each.name not in names])

    def spanning_tree(self) -> Tree:
        """Mechanism without its constraints: loops are open, mimic joints move on their own.

        >>> cy.load("panda_hand").tree.spanning_tree().mimic_joints
        {}
        """
        if not self.is_constrained:
            return self
        return replace(self, loops=(), constraints=(),
                       joints=tuple(replace(joint, mimic=None) for joint in self.joints))

    def including(self, *terms: str) -> Tree:
        """Mechanism with parts of its drives in all its dynamics, and no others; see `Mechanism.including`."""
        unknown = set(terms) - set(TERMS)
        if unknown:
            known = ", ".join(f"{term!r} ({words})" for term, words in TERMS.items())
            first = min(unknown)
            raise ModelError(f"dynamics can include {known}, not {', '.join(map(repr, sorted(unknown)))}"
                             f"{what_it_is_here(str(first))}")
        if {ELASTIC, REDUCED} <= set(terms):
            raise ModelError(f"dynamics include {ELASTIC!r} or {REDUCED!r}, not both")
        made = replace(self.without_motors(), included=frozenset(terms))
        return made._with_motors() if {ELASTIC, REDUCED, GEARED} & set(terms) else made

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the data alone, without what was computed from them."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def sizes(self) -> str:
        """The numbers of bodies, joints, coordinates and velocities in words."""
        bodies = in_number(f"{len(self.bodies)} [body|bodies]", len(self.bodies))
        joints = in_number(f"{len(self.joints)} joint[|s]", len(self.joints))
        return f"{bodies}, {joints}, nq = {self.nq}, nv = {self.nv}"

    def __repr__(self) -> str:
        return f"<{self.name}: {self.sizes}>"


def slices(sizes: Sequence[int]) -> tuple[slice, ...]:
    """Places of parts of the given sizes, one after the other."""
    ends = np.cumsum([0, *sizes])
    return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))


def _number(name: str, numbers: Mapping[str, int], kind: str, mechanism: str) -> int:
    if not isinstance(name, str) or name not in numbers:
        raise ModelError(f"{mechanism} has no {kind} {shown(name)}{_nearest(name, numbers)}")
    return numbers[name]


def _nearest(name: object, names: Iterable[str]) -> str:
    return did_you_mean(name, names, otherwise=f"; it has {', '.join(islice(names, 20))}")


def _check_name(name: object, whose: str) -> None:
    if not isinstance(name, str) or not name or any(map(commands_terminal, name)):
        raise ModelError(f"{whose} the name {shown(name)}: a name is a text without control characters, and not empty")


def _check_carrier(tree: Tree, joint: Joint) -> None:
    carrier = joint.rotor.carrier
    if carrier is not None and carrier not in tree._body_numbers:
        raise ModelError(f"the rotor of joint {joint.name!r} is carried by {shown(carrier)}, which is no body of "
                         f"{tree.name}{_nearest(carrier, tree._body_numbers)}")


def _check_motors_stay(tree: Tree, bodies: Sequence[Body], joints: Sequence[Joint]) -> None:
    """Raise an error if a part that belongs to a motor is replaced: motors are rebuilt from the drives."""
    for parts, own, of in ((bodies, tree.bodies, tree._motor_parts.bodies), (joints, tree.joints,
                                                                            tree._motor_parts.joints)):
        kept = {id(part) for part in own}
        for part in parts:
            if part.name in of and id(part) not in kept:
                driven = of[part.name]
                raise ModelError(f"{part.name!r} of {tree.name} is made of the drive of joint {driven!r}: change that "
                                 f"one's `rotor` and `spring`, or take `with_drive({driven!r}, ...)`")


def _check_names(name: str, bodies: Sequence[Body], joints: Sequence[Joint], frames: Sequence[Frame],
                 constraints: Sequence[Constraint] = ()) -> None:
    for kind, parts in (("bodies", bodies), ("joints", joints), ("frames", frames), ("constraints", constraints)):
        seen: set[str] = set()
        for part in parts:
            _check_name(part.name, f"among the {kind} of {name} is one with")
            if part.name in seen:
                raise ModelError(f"{name} has two {kind} named {part.name!r}")
            seen.add(part.name)


def check_constraint(tree: Tree, constraint: Constraint) -> None:
    """Raise if a constraint names what does not exist, two frames of one body, or joints without a coordinate of their
    own."""
    bodies = [tree.frame(frame).body for frame in constraint.frames]
    if len(set(bodies)) < len(bodies):
        raise ModelError(
            f"the {constraint.word} {constraint.name!r} joins {' and '.join(map(repr, constraint.frames))}, which are "
            f"both on body {bodies[0]!r}: nothing moves between them. Name a frame of another body")
    for name in constraint.coordinates:
        try:
            tree.coordinate(name)
        except ModelError as error:
            raise ModelError(f"the {constraint.word} {constraint.name!r}: {error}") from None


def _checked_drives(tree: Tree, joints: Iterable[str]) -> tuple[str, ...]:
    """The names of joints that are to have a drive, each of them once."""
    names = [joints] if isinstance(joints, str) else list(joints)
    for place, name in enumerate(names):
        if not tree.joints[tree.joint_number(name)].motion.nv:
            raise ModelError(f"joint {name!r} of {tree.name} is fixed: it cannot be actuated")
        if name in names[:place]:
            raise ModelError(f"joint {name!r} of {tree.name} is named twice as actuated")
    return tuple(names)


def _check_followers(name: str, joints: dict[str, Joint]) -> None:
    """Raise an error if a joint follows one that does not exist, one of several coordinates, or itself."""
    follows = {joint.name: joint.mimic.joint for joint in joints.values() if joint.mimic is not None}
    for follower, followed in follows.items():
        if followed not in joints:
            raise ModelError(f"joint {follower!r} of {name} follows {shown(followed)}, which does not "
                             f"exist{_nearest(followed, joints)}")
        for one in (joints[follower], joints[followed]):
            if one.motion.nq != 1:
                raise ModelError(f"joint {follower!r} of {name} follows {followed!r}, but {one.name!r} is "
                                 f"{one.motion.word}: only joints of one coordinate follow each other")
    ring = first_ring(follows)
    if ring:
        raise ModelError(f"the joints {', '.join(map(repr, ring))} of {name} follow each other in a ring")


def first_ring(follows: Mapping[str, str]) -> list[str]:
    """The first names that lead into a ring, each followed by the one that it follows; none if there is no ring."""
    done: set[str] = set()
    for at in follows:
        seen: dict[str, None] = {}
        while at in follows and at not in seen and at not in done:
            seen[at] = None
            at = follows[at]
        if at in seen:
            return list(seen)
        done.update(seen)
    return []


def _root(name: str, bodies: dict[str, Body], joints: Sequence[Joint]) -> str:
    children = {j.child for j in joints}
    roots = [b for b in bodies if b not in children]
    if len(roots) != 1:
        found = ("no body without a parent" if not roots
                 else f"{len(roots)} bodies without a parent: {', '.join(roots[:10])}")
        raise ModelError(f"{name} is not a tree: there is {found}; there must be exactly one, the root")
    return roots[0]


def _sorted_joints(name: str, bodies: dict[str, Body], joints: Sequence[Joint]) -> tuple[Joint, ...]:
    """Parents first; among siblings in the given order, each branch to its end."""
    children: dict[str, list[Joint]] = {}
    owner: dict[str, Joint] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in bodies:
                raise ModelError(f"joint {joint.name!r} of {name} names the body {end!r}, which does not exist"
                                 f"{_nearest(end, bodies)}")
        if joint.child in owner:
            raise ModelError(f"body {joint.child!r} of {name} is the child of two joints, {owner[joint.child].name!r} "
                             f"and {joint.name!r}: a tree has one; describe the second as a loop")
        owner[joint.child] = joint
        children.setdefault(joint.parent, []).append(joint)
    ordered: list[Joint] = []
    pending = [_root(name, bodies, joints)]
    while pending:
        body = pending.pop()
        if body in owner:
            ordered.append(owner[body])
        pending.extend(j.child for j in reversed(children.get(body, [])))
    if len(ordered) != len(joints):
        reached = {j.name for j in ordered}
        left = [j.name for j in joints if j.name not in reached]
        raise ModelError(
            f"{name} is not a tree: joints {', '.join(left[:10])} form a ring that the root does not reach")
    return tuple(ordered)
