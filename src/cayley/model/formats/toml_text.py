"""Mechanisms written as TOML; see `toml_format` for what the keys mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.model.constraint_kinds import KINDS as CONSTRAINT_KINDS
from cayley.model.constraint_kinds import Constraint
from cayley.model.joint_kinds import KINDS, JointKind
from cayley.model.parts import Body, Joint, NamedConfiguration, Rotor
from cayley.model.spring_kinds import KINDS as SPRING_KINDS
from cayley.model.tree import Tree

KEYS_IN_LOOPS = {"second": "second_axis"}  # of a universal joint, since the second frame has that name there


def dump_toml(tree: Tree) -> str:
    """The mechanism as TOML text, bodies and joints one by one; `load_toml` gives the same mechanism back, to the last
    bit.

    >>> print(dump_toml(Tree.of("stone", [Body("stone", 2.0)], [])))
    name = "stone"
    gravity = [0.0, 0.0, -9.81]
    <BLANKLINE>
    [[bodies]]
    name = "stone"
    mass = 2.0
    <BLANKLINE>
    """
    loops = [{"name": loop.name, "first": loop.first, "second": loop.second} | _closing_out(loop.motion)
             for loop in tree.loops]
    head = {"name": tree.name, "source": tree.source or None, "gravity": tree.gravity, "actuated": tree.actuated}
    parts = [("", head), *[("bodies", _body_out(body)) for body in tree.bodies], *[
        ("joints", _joint_out(joint)) for joint in tree.joints], *[
            ("frames", {"name": frame.name, "body": frame.body} | _pose_out(frame.pose)) for frame in tree.frames],
             *[("loops", loop) for loop in loops], *[
                 ("constraints", _constraint_out(constraint)) for constraint in tree.constraints]]
    named = [["[configurations]", *[_named_out(tree, each) for each in tree.named], ""]] if tree.named else []
    return "\n".join([*[_table(kind, values) for kind, values in parts], *map("\n".join, named)])


def _named_out(tree: Tree, named: NamedConfiguration) -> str:
    """One named configuration, with the names of joints and configurations quoted, since they may contain blanks."""
    sizes = {joint.name: joint.motion.nq for joint in tree.joints}
    values = ", ".join(f"{_value(joint)} = {_value(own[0] if len(own) == 1 else np.array(own))}"
                       for joint, own in named.coordinates if sizes.get(joint) == len(own))
    return f"{_value(named.name)} = {{ {values} }}"


def _table(kind: str, values: dict[str, Any]) -> str:
    lines = [f"[[{kind}]]"] if kind else []
    return "\n".join([*lines, *[f"{key} = {_value(value)}"
                                for key, value in values.items() if value is not None]]) + "\n"


def _value(value: Array | float | str) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, np.ndarray | list | tuple):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    return repr(float(value))


def _body_out(body: Body) -> dict[str, Any]:
    inertia = body.inertia
    six = np.array([*inertia.diagonal(), inertia[0, 1], inertia[0, 2], inertia[1, 2]])
    shown: Any = inertia if not np.array_equal(inertia, inertia.T) else six if six[3:].any() else six[:3]
    return {"name": body.name, "mass": body.mass, "center": body.center if body.center.any() else None,
            "inertia": shown if inertia.any() else None}


def _joint_out(joint: Joint) -> dict[str, Any]:
    limits = {
        key: values[0] if len(values) == 1 else values
        for key, values in asdict(joint.limits).items() if np.isfinite(values).any()}
    friction = {key: value for key, value in asdict(joint.friction).items() if value}
    return {
        "name": joint.name, **_motion_out(joint.motion), "parent": joint.parent, "child": joint.child,
        **_pose_out(joint.placement), "limits": limits or None, "friction": friction or None,
        "rotor": _rotor_out(joint.rotor) or None, "spring": _spring_out(joint),
        "mimic": None if joint.mimic is None else asdict(joint.mimic)}


def _rotor_out(rotor: Rotor) -> dict[str, Any]:
    if rotor == Rotor():
        return {}
    inertia = rotor.inertia if rotor.tensor is None else rotor.tensor
    more = {"mass": rotor.mass, "center": rotor.center if any(rotor.center) else None, "carrier": rotor.carrier,
            **({} if rotor.place is None else {"position": [row[3] for row in rotor.place[:3]],
                                               "rotation": [row[:3] for row in rotor.place[:3]]}),
            "friction": {key: value for key, value in asdict(rotor.friction).items() if value} or None,
            "winding": None if rotor.winding is None else _given(asdict(rotor.winding))}
    return {"inertia": inertia, "gear": rotor.gear} | _given(more)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _spring_out(joint: Joint) -> dict[str, Any] | None:
    spring = joint.spring
    if spring is None:
        return None
    if SPRING_KINDS.get(spring.word) is not type(spring):
        raise UnsupportedError(f"the spring of joint {joint.name!r} is of the kind {type(spring).__name__}, which is "
                               "not in `cayley.model.spring_kinds.KINDS`: no file of it could be read")
    try:
        return {"kind": spring.word} | spring.keys
    except UnsupportedError as error:
        raise UnsupportedError(f"joint {joint.name!r}: {error}") from None


def _constraint_out(constraint: Constraint) -> dict[str, Any]:
    if CONSTRAINT_KINDS.get(constraint.word) is not type(constraint):
        raise UnsupportedError(f"the constraint {constraint.name!r} is of the kind {type(constraint).__name__}, which "
                               "is not in `cayley.model.constraint_kinds.KINDS`: no file of it could be read")
    return {"name": constraint.name, "kind": constraint.word} | constraint.keys


def _check_known(part: object, word: str, kinds: Mapping[str, type], what: str, module: str) -> None:
    if kinds.get(word) is not type(part):
        raise UnsupportedError(f"{what} is of the kind {type(part).__name__}, which is not in "
                               f"`cayley.model.{module}.KINDS`: no file of it could be read")


def _motion_out(motion: JointKind) -> dict[str, Any]:
    _check_known(motion, motion.word, KINDS, "a joint or loop", "joint_kinds")
    return {"kind": motion.word} | motion.keys


def _closing_out(motion: JointKind) -> dict[str, Any]:
    return {KEYS_IN_LOOPS.get(key, key): value for key, value in _motion_out(motion).items()}


def _pose_out(pose: Array) -> dict[str, Any]:
    R = pose[:3, :3]
    p = pose[:3, 3]
    rotation: dict[str, Any] = {} if np.array_equal(R, np.eye(3)) else _quarter_turns(R) or {"rotation": R}
    return ({"position": p} if p.any() else {}) | rotation


def _quarter_turns(R: Array) -> dict[str, Any] | None:
    """Rotations that leave the axes on the axes read best as angles; theirs are exact on every machine."""
    if not np.isin(R, (-1.0, 0.0, 1.0)).all():
        return None
    if abs(R[2, 0]) == 1.0:
        angles = [0, -int(R[2, 0]), round(2 * np.arctan2(-R[0, 1], R[1, 1]) / np.pi)]
    else:
        angles = [round(2 * np.arctan2(y, x) / np.pi) for y, x in ((R[2, 1], R[2, 2]), (0.0, 1.0), (R[1, 0], R[0, 0]))]
    return {"rpy": [0.0 if n == 0 else {1: "pi/2", -1: "-pi/2"}.get(n, "pi") for n in angles]}
