"""Mechanisms as readable TOML, in and out; what is written is read back to the last bit. Every key, by examples:
docs/robots/toml.md.

Unknown keys are refused. Errors name the file, the line and the key."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.inertia.tensors import inertia_about_center
from cayley.geometry.rotations.matrix import rotation_x, rotation_y, rotation_z
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.model.budget import Budget
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.constraint_kinds import KINDS as CONSTRAINT_KINDS
from cayley.model.constraint_kinds import Constraint
from cayley.model.denavit_hartenberg.conversion import About, tree_from_dh
from cayley.model.denavit_hartenberg.table import Convention, DHRow, Kind
from cayley.model.formats.files import read_bytes
from cayley.model.formats.format import error_of
from cayley.model.formats.toml_section import Section, document
from cayley.model.formats.toml_text import KEYS_IN_LOOPS, dump_toml
from cayley.model.joint_kinds import KINDS, JointKind
from cayley.model.named_configurations import with_configuration
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Loop, Mimic, Rotor, frozen_pose
from cayley.model.source import source_file
from cayley.model.spring_kinds import KINDS as SPRING_KINDS
from cayley.model.spring_kinds import SpringKind
from cayley.model.tree import GRAVITY, Tree, check_constraint
from cayley.model.winding import Winding

Made = TypeVar("Made")

__all__ = ["KINDS", "dump_toml", "load_toml"]

_UNIT = 1e-9
_NO_OTHER_KEYS: Mapping[str, str] = {}


def load_toml(path_or_text: str | os.PathLike[str]) -> Tree:
    """The mechanism of a TOML file (a `Path`, or a string of one line that ends in .toml) or of a TOML text.

    >>> load_toml('''
    ... name = "pendulum"
    ... dh = { convention = "modified", rows = [{ mass = 1.5, center = [0.2, 0, 0] }] }
    ... ''')
    <pendulum: 2 bodies, 1 joint, nq = 1, nv = 1>
    """
    top = document(path_or_text)
    head = _head(top)
    arm = top.section("dh")
    with top.placed("bodies"):
        Budget().spend("bodies", len(top.sections("bodies")))
    table = None if arm is None else _arm(arm)
    bodies = [*(table.bodies if table else ()), *map(_body, top.sections("bodies"))]
    joints = [*(table.joints if table else ()), *map(_joint, top.sections("joints"))]
    frames = [*(table.frames if table else ()), *map(_frame, top.sections("frames"))]
    loops = [(section, _loop(section)) for section in top.sections("loops")]
    constraints = [(section, _constraint(section)) for section in top.sections("constraints")]
    wheels = [(section, _part(section, CarriedWheel).parts) for section in top.sections("wheels")]
    named = top.section("configurations")
    bodies += [body for _, wheel in wheels for body in wheel.bodies]
    joints += [joint for _, wheel in wheels for joint in wheel.joints]
    constraints += [(section, wheel.constraint) for section, wheel in wheels]
    top.finish()
    with top.placed():
        made = Tree.of(head.name, bodies, joints, frames=frames, gravity=head.gravity, source=head.source,
                       notes=table.notes if table else ())
    for section, constraint in (*loops, *constraints):
        with section.placed():
            check_constraint(made, constraint)
    with top.placed():
        made = made.with_constraints([loop for _, loop in loops], [each for _, each in constraints])
    with top.placed("actuated"):
        made = made if head.actuated is None else made.with_actuated(*head.actuated)
    return made if named is None else _with_configurations(made, named)


class _Head(NamedTuple):
    """The keys above the tables."""

    name: str
    gravity: list[float]
    source: str
    actuated: tuple[str, ...] | None


def _head(top: Section) -> _Head:
    name = top.word("name")
    gravity = top.numbers("gravity", 3, GRAVITY)
    words = top.word("source", top.file)
    source = source_file(top.file, read_bytes(top.file), words) if top.file else words
    return _Head(name, gravity, source, top.words("actuated") if top.has("actuated") else None)


def errors_of_parts(path: Path) -> Iterator[list[str]]:
    """Errors in what stands above the tables, in who names whom, and in each table of a body, joint or frame alone.
    The other tables are left to the reading of the whole."""
    top = document(path)
    yield error_of(lambda: _check_head(top))
    if top.data.get("bodies") and not top.data.keys() & {"dh", "wheels"}:
        yield error_of(lambda: _check_references(top))
    for key, read in _TABLES.items():
        for section in top.sections(key):
            yield error_of(partial(read, section))


def _check_head(top: Section) -> None:
    _head(top)
    for key in _KEYS:
        top.get(key)
    top.finish()


def _check_references(top: Section) -> None:
    bodies = [Body(each.word("name")) for each in top.sections("bodies")]
    joints = [Joint(each.word("name"), each.word("parent"), each.word("child"), KINDS["revolute"]())
              for each in top.sections("joints")]
    frames = [Frame(each.word("name"), each.word("body")) for each in top.sections("frames")]
    with top.placed():
        made = Tree.of(top.word("name", "mechanism"), bodies, joints, frames=frames)
    with top.placed("actuated"):
        made.with_actuated(*top.words("actuated") if top.has("actuated") else ())


# Configurations


def _with_configurations(tree: Tree, named: Section) -> Tree:
    """A list of all coordinates, or a table of those of some joints; angles in any form."""
    for name, value in named.data.items():
        own = named.section(name) if isinstance(value, dict) else None
        q: Any = named.limits(name, angle=True) if own is None else {
            joint: own.limits(joint, angle=True) for joint in own.data}
        with named.placed(name):
            tree = with_configuration(tree, name, q)
    return tree


# Bodies and frames


def _body(section: Section) -> Body:
    mass, center, inertia = _mass_properties(section, section.choice("inertia_about", get_args(About), "center"))
    return _made(section, Body, section.word("name"), mass, center, inertia)


def _mass_properties(section: Section, about: str) -> tuple[float | None, Any, Any]:
    mass = section.number("mass") if section.has("mass") else None
    center = np.array(section.numbers("center", 3, (0.0, 0.0, 0.0)))
    inertia = _inertia(section)
    return mass, center, inertia if about == "center" else inertia_about_center.reference(mass or 0.0, center, inertia)


def _inertia(section: Section) -> Array:
    value = section.get("inertia")
    if value is None:
        return np.zeros((3, 3))
    if isinstance(value, list) and len(value) == 3 and all(isinstance(row, list) for row in value):
        return np.array(section.rows("inertia"))
    if not isinstance(value, list) or len(value) not in (3, 6):
        section.fail("inertia is 3 numbers (xx yy zz), 6 numbers (xx yy zz xy xz yz) or three rows", "inertia")
    xx, yy, zz, xy, xz, yz = [*section.numbers("inertia", len(value)), 0.0, 0.0, 0.0][:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _pose(section: Section) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = section.numbers("position", 3, (0.0, 0.0, 0.0))
    said = [key for key in ("rpy", "quaternion", "rotation") if section.has(key)]
    if len(said) > 1:
        section.fail(f"{' and '.join(said)} both give the rotation: write one of them", said[1])
    if "rpy" in said:
        roll, pitch, yaw = section.numbers("rpy", 3, angle=True)
        pose[:3, :3] = rotation_z.reference(yaw) @ rotation_y.reference(pitch) @ rotation_x.reference(roll)
    elif "quaternion" in said:
        quaternion = section.numbers("quaternion", 4)
        with section.placed("quaternion"):
            pose[:3, :3] = matrix_from_quaternion(quaternion)
    elif "rotation" in said:
        pose[:3, :3] = section.rows("rotation")
    with section.placed(*said):
        return frozen_pose(pose, "the placement")


def _inner_pose(section: Section, key: str) -> Array | None:
    inner = section.section(key)
    if inner is None:
        return None
    pose = _pose(inner)
    inner.finish()
    return pose


def _frame(section: Section) -> Frame:
    return _made(section, Frame, section.word("name"), section.word("body"), _pose(section))


# Joints


def _joint(section: Section) -> Joint:
    motion = _motion(section)
    return _made(section, Joint, section.word("name"), section.word("parent"), section.word("child"), motion,
                 _pose(section), _limits(section, motion), _inner(section, "friction", Friction) or Friction(),
                 _rotor(section), _inner(section, "mimic", Mimic), _spring(section))


def _motion(section: Section, keys: Mapping[str, str] = _NO_OTHER_KEYS) -> JointKind:
    """Motion of a joint; `keys` are the names in the file of fields that are called differently there."""
    kind = section.choice("kind", tuple(KINDS))
    values = _values(section, KINDS[kind], keys)
    with section.placed():
        return KINDS[kind].from_keys(kind, **values)


def _axis(section: Section, key: str, default: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = section.numbers(key, 3, default)
    size = float(np.linalg.norm([x, y, z]))
    if size == 0.0 or not np.isfinite(size):
        section.fail(f"{key} must be a unit vector, not {[x, y, z]}", key)
    if abs(size - 1) > _UNIT:
        section.fail(
            f"{key} has the length {size:.6g} and must be a unit vector: write {[x / size, y / size, z / size]}", key)
    return x, y, z


_READERS: dict[str, Callable[[Section, str, Any], Any]] = {
    "axis": _axis,
    "axis or default": _axis,
    "vector": lambda section, key, _: section.numbers(key, 3),
    "number": lambda section, key, _: section.number(key),
    "number or default": lambda section, key, default: section.number(key, default),
    "number or none": lambda section, key, _: section.number(key) if section.has(key) else None,
    "angle": lambda section, key, _: section.number(key, angle=True),
    "angle or default": lambda section, key, default: section.number(key, default, angle=True),
    "angle or none": lambda section, key, _: section.number(key, angle=True) if section.has(key) else None,
    "list": lambda section, key, _: section.limits(key),
    "word": lambda section, key, _: section.word(key),
    "word or default": lambda section, key, default: section.word(key, default),
    "words": lambda section, key, _: section.words(key),
    "formula": lambda section, key, _: section.formulas(key, [section.need(key)])[0],
    "formula or default": lambda section, key, default: section.formulas(key, [section.data.get(key, default)])[0],
    "formulas": lambda section, key, _: section.formulas(key, section.need(key)),
}
_FORMS: dict[type, dict[str, str]] = {  # of the parts whose fields do not say theirs
    Friction: {"viscous": "number or default", "coulomb": "number or default"},
    Winding: {"resistance": "number", "torque_constant": "number", "inductance": "number or default",
              "back_emf": "number or none"},
    Mimic: {"joint": "word", "multiplier": "number or default", "offset": "angle or default"},
    CarriedWheel: {"name": "word", "on": "word", "position": "vector", "radius": "number", "mass": "number or default",
                   "pivot": "number or none", "bracket": "number or default", "rollers": "angle or none",
                   "ground": "word or default", "heading": "angle or default"}}


def _values(section: Section, kind: type[Any], keys: Mapping[str, str] = _NO_OTHER_KEYS) -> dict[str, Any]:
    """The fields of a part as their forms say."""
    entries = {entry.name: entry for entry in fields(kind)}
    forms = _FORMS.get(kind) or {name: entry.metadata["form"] for name, entry in entries.items()
                                 if "form" in entry.metadata}
    return {name: _READERS[form](section, keys.get(name, name), entries[name].default) for name, form in forms.items()}


def _part(section: Section, kind: type[Made]) -> Made:
    return _made(section, partial(kind, **_values(section, kind)))


def _inner(section: Section, key: str, kind: type[Made]) -> Made | None:
    """The part that an inner table is, if there is one."""
    inner = section.section(key)
    return None if inner is None else _part(inner, kind)


def _limits(section: Section, motion: JointKind) -> Limits:
    limits = section.section("limits")
    if limits is None:
        return Limits()
    angle = set(motion.velocity_units) != {"m"}
    made = Limits(limits.limits("lower", angle=angle), limits.limits("upper", angle=angle),
                  limits.limits("velocity", angle=angle), limits.limits("effort"))
    limits.finish()
    return made


def _rotor(section: Section) -> Rotor:
    rotor = section.section("rotor")
    if rotor is None:
        return Rotor()
    gear = rotor.number("gear", 1.0)
    tensor = _inertia(rotor) if isinstance(rotor.get("inertia"), list) else None
    inertia = rotor.number("inertia", 0.0) if tensor is None else 0.0
    if rotor.has("reflected"):
        if rotor.has("inertia"):
            rotor.fail("reflected and inertia both give the rotor's inertia: write one of them", "reflected")
        if gear == 0.0:
            rotor.fail("a gear of 0 reflects nothing", "gear")
        inertia = rotor.number("reflected") / gear**2
    mass = rotor.number("mass") if rotor.has("mass") else None
    center = rotor.numbers("center", 3, (0.0, 0.0, 0.0))
    carrier = rotor.word("carrier") if rotor.has("carrier") else None
    pose = _pose(rotor)
    place = pose if any(map(rotor.has, ("position", "rpy", "quaternion", "rotation"))) else None
    return _made(rotor, Rotor, inertia, gear, mass, center, tensor, carrier, place,
                 _inner(rotor, "friction", Friction) or Friction(), _inner(rotor, "winding", Winding))


def _spring(section: Section) -> SpringKind | None:
    spring = section.section("spring")
    if spring is None:
        return None
    return _part(spring, SPRING_KINDS[spring.choice("kind", tuple(SPRING_KINDS), "linear")])


def _loop(section: Section) -> Loop:
    return _made(section, Loop, section.word("name"), section.word("first"), section.word("second"),
                 _motion(section, KEYS_IN_LOOPS))


def _constraint(section: Section) -> Constraint:
    kind = CONSTRAINT_KINDS[section.choice("kind", tuple(CONSTRAINT_KINDS))]
    values = _values(section, kind)
    return _made(section, partial(kind, section.word("name"), **values))


def _made(section: Section, kind: Callable[..., Made], *values: object) -> Made:
    """Build the part, after every key of its table has been read."""
    section.finish()
    with section.placed():
        return kind(*values)


_TABLES: dict[str, Callable[[Section], object]] = {"bodies": _body, "joints": _joint, "frames": _frame}
_KEYS = ("dh", *_TABLES, "loops", "constraints", "wheels", "configurations")


# Denavit-Hartenberg rows


def _arm(section: Section) -> Tree:
    convention: Any = section.choice("convention", get_args(Convention))
    about = section.choice("inertia_about", get_args(About), "center")
    base = _inner_pose(section, "base")
    tool = _inner_pose(section, "tool")
    given = section.section("root")
    root = _body(given) if given is not None else Body("base")
    tables = section.sections("rows")
    masses = [_mass_properties(table, about) for table in tables]
    rows = [_row(table) for table in tables]
    section.finish()
    with section.placed():
        return tree_from_dh(rows, convention=convention, base=base, tool=tool, base_body=root, gravity=GRAVITY,
                            masses=[m for m, _, _ in masses], centers=[c for _, c, _ in masses],
                            inertias=[i for _, _, i in masses])


def _row(section: Section) -> DHRow:
    kind: Any = section.choice("kind", get_args(Kind), "revolute")
    row = DHRow(section.number("theta", 0.0, angle=True), section.number("d", 0.0), section.number("a", 0.0),
                section.number("alpha", 0.0, angle=True), kind, section.word("joint", ""), section.word("body", ""))
    row = replace(row, limits=_limits(section, KINDS[kind].from_keys(kind)), rotor=_rotor(section),
                  friction=_inner(section, "friction", Friction) or Friction(), spring=_spring(section))
    section.finish()
    return row
