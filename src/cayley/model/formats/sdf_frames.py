"""The frames of an SDF model: links, joints, frames and nested models by name, and where each is in the model.

A pose is relative to another frame (`relative_to`), by default to the model for links, frames and nested models, to the
child for joints, and to its body for a frame with `attached_to`. What is in a nested model `arm` is called `arm::link`
outside of it, and `link` inside."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import radians

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import did_you_mean
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.euler import matrix_from_roll_pitch_yaw
from cayley.model.formats.written_angles import WrittenAngles
from cayley.model.formats.xml_elements import XmlElement, rotation_of_xyzw

MODEL = "__model__"
WORLD = "world"


@dataclass(frozen=True)
class Placed:
    """A frame: its pose relative to another, its element, and the frame that it is attached to; a link to itself."""

    element: XmlElement
    relative_to: str
    pose: Array
    attached_to: str


@dataclass
class SdfFrames:
    """The frames of a model, by their names seen from outside."""

    angles: WrittenAngles
    placed: dict[str, Placed] = field(default_factory=dict)
    _poses: dict[str, Array] = field(default_factory=dict)
    _links: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, element: XmlElement, scope: str, *, relative_to: str, attached_to: str) -> None:
        """Add a frame whose element may have a pose, by default relative to the outer name `relative_to`."""
        if name in self.placed:
            first = self.placed[name].element
            raise element.error(f"there is a <{first.tag}> of this name already, in line {first.line}")
        pose = element.only("pose")
        said = "" if pose is None else pose.attributes.get("relative_to", "").strip()
        self.placed[name] = Placed(element, outside(said, scope) if said else relative_to, self.pose(pose), attached_to)

    def pose(self, element: XmlElement | None) -> Array:
        """The pose (4, 4) that stands in a `<pose>`."""
        made = np.eye(4)
        if element is None or not element.text.strip():
            return made
        quaternion = element.attributes.get("rotation_format", "euler_rpy") == "quat_xyzw"
        words = texts(element, 7 if quaternion else 6)
        made[:3, 3] = [float(word) for word in words[:3]]
        if quaternion:
            made[:3, :3] = rotation_of_xyzw(element, "the pose", map(float, words[3:]))
        else:
            degrees = element.attributes.get("degrees", "false").strip() in ("true", "1")
            angles = [radians(float(word)) if degrees else self.angles.one(word, element.line) for word in words[3:]]
            made[:3, :3] = matrix_from_roll_pitch_yaw(np.array(angles))
        return made

    def in_model(self, name: str, by: XmlElement) -> Array:
        """Pose (4, 4) of a frame in the model."""
        chain: dict[str, None] = {}
        while name != MODEL and name not in self._poses:
            if name in chain:
                raise by.error(f"the frames {', '.join(map(repr, chain))} are relative to each other in a ring")
            chain[name] = None
            name = self.get(name, by).relative_to
        pose = np.eye(4) if name == MODEL else self._poses[name]
        for each in reversed(list(chain)):
            pose = pose @ self.placed[each].pose
            self._poses[each] = pose
        return pose

    def between(self, first: str, second: str, by: XmlElement) -> Array:
        """Pose (4, 4) of the second frame in the first."""
        return inverse(self.in_model(first, by)) @ self.in_model(second, by)

    def link_of(self, name: str, by: XmlElement) -> str:
        """The link that a frame is attached to, maybe by way of others."""
        seen: dict[str, None] = {}
        while (attached := self._links.get(name) or self.get(name, by).attached_to) != name:
            if name in seen:
                raise by.error(f"the frames {', '.join(map(repr, seen))} are attached to each other in a ring")
            seen[name] = None
            name = attached
        self._links |= dict.fromkeys(seen, name)
        return name

    def get(self, name: str, by: XmlElement) -> Placed:
        if name not in self.placed:
            raise by.error(f"there is no link, joint, frame or model {name!r}{did_you_mean(name, self.placed)}")
        return self.placed[name]


def inverse(pose: Array) -> Array:
    """Inverse of a pose, without the compiler: reading a robot compiles nothing."""
    return Pose.of(pose).inverse.matrix


def outside(name: str, scope: str) -> str:
    """A name in a nested model as it is seen from outside: the scope is empty, or the model's name and `::`.

    >>> outside("link", "arm::"), outside("__model__", "arm::"), outside("world", "arm::")
    ('arm::link', 'arm', 'world')
    """
    if name == WORLD:
        return WORLD
    return scope + name if name != MODEL else scope.removesuffix("::") or MODEL


def texts(element: XmlElement, count: int) -> list[str]:
    """The numbers that stand in an element, as they are written."""
    element.attributes = {**element.attributes, TEXT: element.text}
    element.numbers(TEXT, count)
    return element.text.split()


def number(owner: XmlElement, tag: str, default: float | None = None) -> float:
    """The number that stands in the child of this tag."""
    child = owner.only(tag) if default is not None else owner.required(tag)
    return float(texts(child, 1)[0]) if child is not None else float(default or 0.0)


def word(owner: XmlElement, tag: str) -> str:
    """The word that stands in the child of this tag."""
    child = owner.required(tag)
    if not child.text.strip():
        raise child.error("it is empty")
    return child.text.strip()


TEXT = "text"
