"""URDF files: read into a mechanism, with the line of every fault.

Read with the standard library's XML parser, not with yourdfpy, which knows no lines, repairs silently and asks for
meshes.

What the format leaves open is settled here:
- A `<link>` without `<inertial>` has a mass that is unknown, not zero (`cayley.model.masses.check_has_masses` decides
  when it matters).
- A joint with `<mimic>` keeps its own coordinate; what it follows is kept as data, the report says so, and
  `with_mimic_joints(q)` of the mechanism puts it where it belongs. A joint that follows a follower gives a warning. A
  `<mimic>` that cannot be meant (of a joint that does not exist, of or by one with several coordinates) is left out
  with a warning; that of a fixed joint says nothing and is not read.
- Axes are made unit vectors. `<limit>` counts for joints of one coordinate; a `continuous` one has no lower and upper
  limit, and a number of +-1e300 or more is no limit.
- Some files that other readers take raise an error, since their meaning would be a guess: crossed limits (Bullet reads
  lower > upper as no limit), two elements where the format has one (others take the first, or the last), and whatever
  is not XML, such as a comment before the XML declaration. The message says what to write instead.
- Shapes, meshes and materials are read by `cayley.shapes`, when they are looked at; sensors, transmissions and
  elements unknown to the format are not read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError, did_you_mean, warn_user
from cayley.geometry.motions.homogeneous import pose_from_matrix
from cayley.geometry.rotations.euler import matrix_from_roll_pitch_yaw
from cayley.geometry.tensors.frames import tensor_in_frame
from cayley.model.budget import Budget
from cayley.model.findings import Remark, counted
from cayley.model.floating_base import on_floating_base
from cayley.model.formats.format import error_of
from cayley.model.formats.urdf_text import dump_urdf
from cayley.model.formats.written_angles import WrittenAngles
from cayley.model.formats.xml_elements import (
    THIS_IS_XACRO,
    XmlElement,
    located,
    read_xml,
    rotation_of_xyzw,
    source_words,
    version_of,
)
from cayley.model.joint_kinds import KINDS, JointKind
from cayley.model.parts import Body, Friction, Joint, Limits, Mimic, NamedConfiguration
from cayley.model.tree import Tree, first_ring

__all__ = ["dump_urdf", "load_urdf"]

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_POSE = 7  # numbers of a joint of SRDF that floats
_MOST_ADVICE = 10  # names offered for joints to follow that do not exist: looking for them takes time
# [m], [kg]
_LONGEST = 1e3
_HEAVIEST = 1e6
_ROBOT = ("link", "joint", "material", "transmission", "gazebo", "sensor")
_LINK = ("inertial", "visual", "collision")
_INERTIAL = ("origin", "mass", "inertia")
_JOINT = ("origin", "parent", "child", "axis", "calibration", "dynamics", "limit", "mimic", "safety_controller")
_TYPES = {word: kind for word, kind in KINDS.items() if kind.from_keys(word).urdf == word}


def load_urdf(path_or_text: str | os.PathLike[str], *, floating_base: bool = False, exact_angles: bool = False,
              source: str | None = None, called: str = "text", arguments: Mapping[str, str] | None = None) -> Tree:
    """The mechanism of a URDF file, or of the text of one; with `floating_base` its root moves freely in a body named
    `world` (`universe`, if the file has a `world`). Angles are as they are written, or, with `exact_angles`, the
    fractions of pi that their digits stand for (`written_angles`; `cayley.load` asks for it). A text may come from a
    `source`, have been made with `arguments`, and be `called` something in messages.

    Raises `ModelError` with file, line and element; nothing is loaded by halves.
    Oddities that the format allows give a `ModelWarning` here, and stand in the mechanism's report.

    >>> load_urdf('''<robot name="pendulum"><link name="base"/><link name="rod"/>
    ...   <joint name="pivot" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 0 0"/></joint>
    ... </robot>''')
    Traceback (most recent call last):
    cayley.errors.ModelError: text, line 2, <axis> of <joint name="pivot">: the axis has no length...
    """
    budget = Budget()
    robot = read_xml(path_or_text, called=called, budget=budget)
    version = _checked_version(robot)
    links = robot.all("link")
    with located(robot):
        budget.spend("bodies", len(links))
    joint_elements = robot.all("joint")
    _check_names(robot, links, joint_elements)
    notes: list[str] = []
    angles = WrittenAngles(exact_angles)
    bodies = [_body(link, version, angles) for link in links]
    joints = [_joint(joint, version, angles, notes) for joint in joint_elements]
    _check_one_root(robot, links, joint_elements, joints)
    notes += _absurd_numbers([*joint_elements, *[inertial for link in links for inertial in link.all("inertial")]])
    joints = _with_sound_mimics(joint_elements, joints, notes)
    made = Tree.of(robot.word("name"), bodies, joints, source=source_words(path_or_text) if source is None else source,
                   notes=[*notes, *angles.findings, *_left_out(robot)])
    if arguments:
        made = replace(made, arguments=tuple(arguments.items()))
    if notes:
        warn_user("\n".join(notes))
    return on_floating_base(made) if floating_base else made


def errors_of_parts(path: Path) -> Iterator[list[str]]:
    """Errors in the references between links and joints, and in each link and joint alone."""
    robot = read_xml(path)
    version = _checked_version(robot)
    links = robot.all("link")
    joints = robot.all("joint")
    angles = WrittenAngles(exact=False)
    yield error_of(lambda: _check_references(robot, links, joints))
    for link in links:
        yield error_of(partial(_body, link, version, angles))
    for joint in joints:
        yield error_of(partial(_joint, joint, version, angles, []))


def _check_references(robot: XmlElement, links: Sequence[XmlElement], joints: Sequence[XmlElement]) -> None:
    _check_names(robot, links, joints)
    _check_one_root(robot, links, joints, [Joint(joint.word("name"), *_ends(joint)) for joint in joints])


def _checked_version(robot: XmlElement) -> tuple[int, int]:
    if robot.tag == "mujoco":
        raise robot.error("this is MJCF, not URDF: load_mjcf reads it")
    if robot.tag != "robot":
        raise robot.error("a URDF file has <robot> as its root")
    for element in robot.walk():
        if element.tag.startswith("xacro:"):
            raise element.error(THIS_IS_XACRO)
    robot.check_children(_ROBOT)
    robot.word("name")
    said = robot.word("version", "1.0")
    known = f"the version of URDF is {said!r}; 1.0, 1.1 and 1.2 are known"
    version = version_of(robot, said, known)
    if version[0] != 1:
        raise robot.error(known)
    return version


def _check_names(robot: XmlElement, links: Sequence[XmlElement], joints: Sequence[XmlElement]) -> None:
    if not links:
        raise robot.error("there is no <link> in it")
    for elements in (links, joints):
        seen: dict[str, XmlElement] = {}
        for element in elements:
            first = seen.setdefault(element.word("name"), element)
            if first is not element:
                raise element.error(f"there is a <{element.tag}> of this name already, in line {first.line}")


# Parts


def pose_of_origin(owner: XmlElement, version: tuple[int, int], angles: WrittenAngles) -> Array:
    """The pose (4, 4) of the `<origin>`; the identity without one."""
    origin = owner.only("origin")
    if origin is None:
        return np.eye(4)
    return np.array(pose_from_matrix.unchecked(_rotation(origin, version, angles),
                                               origin.numbers("xyz", 3, np.zeros(3))))


def _rotation(origin: XmlElement, version: tuple[int, int], angles: WrittenAngles) -> Array:
    if "quat_xyzw" not in origin.attributes:
        return matrix_from_roll_pitch_yaw(angles.of(origin, "rpy", 3, np.zeros(3)))
    if "rpy" in origin.attributes:
        raise origin.error("both rpy and quat_xyzw are given; there may be only one")
    if version < (1, 1):
        raise origin.error('quat_xyzw needs <robot version="1.1">')
    return rotation_of_xyzw(origin, "quat_xyzw", origin.numbers("quat_xyzw", 4))


def _body(link: XmlElement, version: tuple[int, int], angles: WrittenAngles) -> Body:
    link.check_children(_LINK)
    name = link.word("name")
    inertial = link.only("inertial")
    if inertial is None:
        return Body(name)
    inertial.check_children(_INERTIAL)
    mass_element = inertial.required("mass")
    tensor = inertial.required("inertia")
    mass = mass_element.number("value")
    if mass < 0:
        raise mass_element.error(f"the mass is negative: {mass:g} kg")
    pose = pose_of_origin(inertial, version, angles)
    return placed_body(name, inertial, mass, pose, [tensor.number(key) for key in MOMENTS])


def placed_body(name: str, inertial: XmlElement, mass: float, pose: Array, moments: Iterable[float]) -> Body:
    """A body whose six `MOMENTS` are about its centre of mass, in the axes of a pose (4, 4) that it is at."""
    xx, xy, xz, yy, yz, zz = moments
    inertia = tensor_in_frame(pose[:3, :3], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    with located(inertial):
        return Body(name, mass, pose[:3, 3], (inertia + inertia.T) / 2)


def _joint(joint: XmlElement, version: tuple[int, int], angles: WrittenAngles, notes: list[str]) -> Joint:
    joint.check_children(_JOINT)
    motion = _motion(joint, notes)
    limits = _limits(joint, motion)
    friction = _friction(joint)
    mimic = _mimic(joint) if motion.nq else None
    ends = _ends(joint)
    placement = pose_of_origin(joint, version, angles)
    with located(joint):
        return Joint(joint.word("name"), *ends, motion, placement, limits, friction, mimic=mimic)


def _ends(joint: XmlElement) -> tuple[str, str]:
    return joint.required("parent").word("link"), joint.required("child").word("link")


def _motion(joint: XmlElement, notes: list[str]) -> JointKind:
    kind = joint.word("type")
    if kind not in _TYPES:
        known = list(_TYPES)
        raise joint.error(f"the joint type {kind!r} is "
                          f"unknown{did_you_mean(kind, known, otherwise=': URDF has ' + ', '.join(known))}")
    has_axis = "axis" in _TYPES[kind].from_keys(kind).keys
    return _TYPES[kind].from_keys(kind, axis=_axis(joint, notes)) if has_axis else _TYPES[kind].from_keys(kind)


def _axis(joint: XmlElement, notes: list[str]) -> tuple[float, float, float]:
    """The unit axis; (1, 0, 0), the default of the format, if there is none."""
    element = joint.only("axis")
    if element is None:
        notes.append(str(joint.error("there is no <axis>; the default of URDF, 1 0 0, is taken")))
        return 1.0, 0.0, 0.0
    axis = element.numbers("xyz", 3)
    size = float(np.linalg.norm(axis))
    if not size > 1e-6:
        raise element.error(f"the axis has no length: {' '.join(f'{x:g}' for x in axis)}; give a direction")
    x, y, z = axis / size
    return float(x), float(y), float(z)


def _limits(joint: XmlElement, motion: JointKind) -> Limits:
    limit = joint.only("limit")
    if limit is None or motion.nq != 1:
        return Limits()
    # the defaults of the format
    lower = _limit(limit, "lower", 0.0)
    upper = _limit(limit, "upper", 0.0)
    velocity = (_limit(limit, "velocity", np.inf),)
    effort = (_limit(limit, "effort", np.inf),)
    if motion.endless:
        return Limits(velocity=velocity, effort=effort)
    if lower > upper:
        raise limit.error(f"the limits are crossed: lower {lower:g}, upper {upper:g}; if there are none, leave <limit> "
                          "out, or make the joint continuous")
    return Limits((lower,), (upper,), velocity, effort)


def _limit(limit: XmlElement, key: str, default: float) -> float:
    return limit.number(key, default, largest=float(np.finfo(float).max))


def _friction(joint: XmlElement) -> Friction:
    dynamics = joint.only("dynamics")
    return Friction() if dynamics is None else Friction(dynamics.number("damping", 0.0), dynamics.number(
        "friction", 0.0))


def _absurd_numbers(elements: Iterable[XmlElement]) -> Iterator[str]:
    """Warnings of lengths and masses that no robot has, of joints and of `<inertial>`."""
    for element in elements:
        for origin in element.all("origin"):
            xyz = origin.numbers("xyz", 3, np.zeros(3))
            if np.abs(xyz).max() > _LONGEST:
                far = " ".join(f"{x:g}" for x in xyz)
                yield str(origin.error(f"xyz is {far}, which is absurdly far; lengths are in metres"))
        for mass in element.all("mass"):
            if (heavy := mass.number("value")) > _HEAVIEST:
                yield str(mass.error(f"the mass is {heavy:g}, which is absurdly large; masses are in kg"))


def _left_out(robot: XmlElement) -> Iterator[Remark]:
    """Sensors and transmissions, for which a mechanism has no place."""
    for tag in ("sensor", "transmission"):
        names = [element.attributes.get("name", "") for element in robot.walk() if element.tag == tag]
        yield from counted(f"{tag}s left out", names, f"{tag}[|s] [is|are] left out", doubtful=False)


def _mimic(joint: XmlElement) -> Mimic | None:
    mimic = joint.only("mimic")
    return None if mimic is None else Mimic(mimic.word("joint"), mimic.number("multiplier", 1.0),
                                            mimic.number("offset", 0.0))


# The whole


def _check_one_root(robot: XmlElement, links: Sequence[XmlElement], elements: Sequence[XmlElement],
                    joints: Sequence[Joint]) -> None:
    """Raise if the links are not one tree. The mechanism checks this too, but without lines."""
    by_name = {link.attributes["name"].strip(): link for link in links}
    owner: dict[str, XmlElement] = {}
    for element, joint in zip(elements, joints, strict=True):
        for tag, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in by_name:
                raise element.required(tag).error(f"there is no link {name!r}{did_you_mean(name, by_name)}")
        first = owner.setdefault(joint.child, element)
        if first is not element:
            raise element.error(f"the link {joint.child!r} is already the child of {first} in line {first.line}; URDF "
                                "has no closed loops")
    roots = [name for name in by_name if name not in owner]
    if len(roots) > 1:
        found = ", ".join(f"{name!r} (line {by_name[name].line})" for name in roots[:8])
        raise by_name[roots[1]].error(
            f"there are {len(roots)} links that no joint carries, {found}; there must be exactly one, the root")
    ring = first_ring({joint.child: joint.parent for joint in joints})
    if ring:
        raise owner[ring[0]].error("the joint is part of a ring of joints that is connected to no root")


def _with_sound_mimics(elements: Sequence[XmlElement], joints: Sequence[Joint], notes: list[str]) -> list[Joint]:
    """The joints, without what they cannot follow; a ring of joints that follow each other is an error."""
    by_name = {joint.name: joint for joint in joints}
    sound: list[Joint] = []
    faults = 0
    for element, joint in zip(elements, joints, strict=True):
        fault = _mimic_fault(joint, by_name, advise=faults < _MOST_ADVICE)
        if fault:
            faults += 1
            notes.append(str(element.required("mimic").error(f"the joint is treated as if it followed none: {fault}")))
        sound.append(replace(joint, mimic=None) if fault else joint)
    followers = {joint.name: joint.mimic.joint for joint in sound if joint.mimic is not None}
    ring = first_ring(followers)
    if ring:
        element = next(element for element, joint in zip(elements, joints, strict=True) if joint.name == ring[0])
        raise element.required("mimic").error(f"the joints {', '.join(map(repr, ring))} follow each other in a ring")
    for element, joint in zip(elements, sound, strict=True):
        if joint.mimic is not None and joint.mimic.joint in followers:
            notes.append(str(element.required("mimic").error(
                f"the joint {joint.mimic.joint!r} that is followed itself follows another")))
    return sound


def _mimic_fault(joint: Joint, by_name: dict[str, Joint], *, advise: bool) -> str:
    if joint.mimic is None:
        return ""
    if joint.motion.nq != 1:
        return f"a {joint.motion.word} joint cannot follow another"
    followed = by_name.get(joint.mimic.joint)
    if followed is None:
        return f"there is no joint {joint.mimic.joint!r}{did_you_mean(joint.mimic.joint, by_name if advise else ())}"
    return ("" if followed.motion.nq == 1
            else f"the joint {followed.name!r} is {followed.motion.word} and cannot be followed")


# Named configurations


def with_srdf(tree: Tree, urdf: Path) -> Tree:
    """The mechanism of a URDF file with the configurations, `<group_state>`, that the SRDF file beside it names. Errors
    of that file are in the report: the robot is that of the URDF file.

    Looked for are `NAME.srdf` beside NAME.urdf and in the folder `srdf` beside that of NAME.urdf, then the first file
    of these folders whose robot has the same name. A joint with seven numbers floats: a position, and a quaternion
    (x, y, z, w), which is (w, x, y, z) here."""
    path = srdf_beside(urdf, tree.name)
    if path is None:
        return tree
    try:
        states = list(_states(read_xml(path)))
    except ModelError as error:
        return replace(tree, notes=(*tree.notes, Remark("SRDF", (), f"its configurations are not read: {error}")))
    named = {state.name: state for state in states}
    return replace(tree, named=tuple(named.values()), notes=(*tree.notes, *_unknown(tree, path, states)))


def srdf_beside(urdf: Path, robot: str) -> Path | None:
    """The SRDF file of a URDF file and the name of its robot; see `with_srdf`."""
    folders = [urdf.parent, urdf.parent.parent / "srdf"]
    stem = urdf.name.split(".")[0]
    for folder in folders:
        if (folder / f"{stem}.srdf").is_file():
            return folder / f"{stem}.srdf"
    for path in (path for folder in folders for path in sorted(folder.glob("*.srdf"))):
        try:
            if read_xml(path).attributes.get("name", "").strip() == robot:
                return path
        except ModelError:
            continue
    return None


def _states(robot: XmlElement) -> Iterator[NamedConfiguration]:
    for state in robot.all("group_state"):
        yield NamedConfiguration(state.word("name"), tuple((joint.word("name"), _values(joint))
                                                           for joint in state.all("joint")))


def _values(joint: XmlElement) -> tuple[float, ...]:
    values = joint.numbers("value", len(joint.word("value").split())).tolist()
    if len(values) == _POSE:
        *position, x, y, z, w = values
        return (*position, w, x, y, z)
    return tuple(values)


def _unknown(tree: Tree, path: Path, states: list[NamedConfiguration]) -> Iterator[Remark]:
    """Joints that the robot has not; one with a pose may be that of its base, which floats or not."""
    known = {joint.name for joint in tree.joints}
    names = tuple(dict.fromkeys(name for state in states for name, values in state.coordinates
                                if name not in known and len(values) != _POSE))
    if names:
        yield Remark("configurations", names, f"{path.name} has configurations of joints that are not there: "
                      f"{', '.join(map(repr, names))}")
