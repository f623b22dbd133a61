"""SDF files: one model read into a mechanism, with the line of every fault.

What the format leaves open, or has otherwise than URDF, is settled here:
- A file has one model, in `<sdf>` or in its `<world>`. Nested models are read, their parts called `arm::link`;
  `<include>` of `model://NAME` or of a file is read as a nested model, found as meshes are (`search`).
- The root is the world if a joint holds the model to it, and else the link that no joint carries: a simulator lets such
  a model float, here `floating_base=True` does.
- A link without `<inertial>` has the mass 1 kg and the moments 1 kg m^2, the default of the format; the report says so.
- Where the frame of a joint is not that of its child, a massless body on the joint carries the child by a fixed joint,
  so that every link keeps its own frame.
- A link that two joints carry closes a loop: the second joint is a `Loop`.
- `effort` and `velocity` below zero, and limits of 1e16 and more, are none.
- Screws, gearboxes, joints of two parallel axes, `placement_frame` and merged includes raise an error; sensors,
  plugins, contact and damping of the solver are not read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError, did_you_mean, warn_user
from cayley.model.findings import Remark, counted
from cayley.model.formats.sdf_frames import MODEL, WORLD, SdfFrames, inverse, number, outside, texts, word
from cayley.model.formats.search import FileSearch
from cayley.model.formats.urdf import MOMENTS, placed_body
from cayley.model.formats.written_angles import WrittenAngles
from cayley.model.formats.xml_elements import XmlElement, located, read_xml, source_of, source_words, version_of
from cayley.model.joint_kinds import JointKind, Prismatic, Revolute, Spherical, Universal
from cayley.model.joint_kinds.motion import Axis
from cayley.model.parts import Body, Frame, Friction, Joint, Limits, Loop, Mimic, Rotor
from cayley.model.spring_kinds import LinearSpring
from cayley.model.tree import GRAVITY, Tree

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "ball", "universal")
_OTHER_TYPES = ("screw", "gearbox", "revolute2")
_AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "universal": 2}
_NO_LIMIT = 1e16
_MOST_NESTED = 20
_MOST_MODELS = 500
_EXPRESSED_IN_MODEL = (1, 4)  # up to this version axes are in the axes of the model
_SAME = 1e-12


@dataclass
class _Model:
    """Elements of a model and of the models nested in it, with the scopes of their names."""

    frames: SdfFrames
    links: dict[str, XmlElement] = field(default_factory=dict)
    joints: dict[str, tuple[XmlElement, str]] = field(default_factory=dict)
    named: dict[str, XmlElement] = field(default_factory=dict)
    notes: list[Remark] = field(default_factory=list)
    models: int = 0
    read: dict[Path, XmlElement] = field(default_factory=dict)  # models of the files that are included


def load_sdf(path_or_text: str | os.PathLike[str], *, exact_angles: bool = False, trust: bool = False) -> Tree:
    """The mechanism of an SDF file, or of the text of one; angles are as they are written, or with `exact_angles` the
    fractions of pi that their digits stand for, see `written_angles`. With `trust` it may include any file.

    >>> load_sdf('''<sdf version="1.9"><model name="pendulum"><link name="rod"><inertial/></link>
    ...   <joint name="pivot" type="revolute"><parent>world</parent><child>rod</child><axis/></joint>
    ... </model></sdf>''').joint_names
    ('pivot',)
    """
    search = FileSearch(source_of(path_or_text) or Path("model.sdf"), trusted=trust)
    root = read_xml(path_or_text, budget=search.budget)
    version = _version(root)
    angles = WrittenAngles(exact_angles)
    element, gravity = _one_model(root)
    model = _Model(SdfFrames(angles))
    _gather(model, element, "", search, 0)
    place = _place(model, element)
    made = _tree(model, element, place, gravity, version, source_words(path_or_text))
    doubtful = [note.text for note in model.notes if note.doubtful]
    if doubtful:
        warn_user("\n".join(doubtful))
    return made


def links_of_sdf(search: FileSearch) -> dict[str, XmlElement]:
    """The elements of the links of a file, with those of nested and included models, by their names."""
    element, _ = _one_model(read_xml(search.model, budget=search.budget))
    model = _Model(SdfFrames(WrittenAngles(exact=False)))
    _gather(model, element, "", search, 0)
    return model.links


def _version(root: XmlElement) -> tuple[int, int]:
    if root.tag != "sdf":
        raise root.error("an SDF file has <sdf> as its root")
    said = root.word("version")
    return version_of(root, said, f"the version of SDF is {said!r}; it is like 1.9")


def _one_model(root: XmlElement) -> tuple[XmlElement, Array]:
    """The only model of a file, and the gravity of its world."""
    world = root.only("world")
    holder = root if world is None else world
    models = holder.all("model")
    if len(models) != 1:
        names = ", ".join(repr(each.attributes.get("name", "")) for each in models) or "none"
        included = " and what it includes" if holder.all("include") else ""
        raise holder.error(f"a mechanism is one model; here there are: {names}{included}. Save the one that is meant "
                           "in a file of its own")
    gravity = None if world is None else world.only("gravity")
    return models[0], np.array(GRAVITY if gravity is None else [float(each) for each in texts(gravity, 3)])


def _place(model: _Model, element: XmlElement) -> Array:
    """Pose of the model in the world."""
    if "placement_frame" in element.attributes:
        raise element.error("placement_frame is not supported: give the <pose> of the model itself")
    return model.frames.pose(element.only("pose"))


# What there is


def _gather(model: _Model, element: XmlElement, scope: str, search: FileSearch, depth: int) -> str:
    """Links, joints, frames and nested models, with their outer names, and the link that carries the model's frame."""
    model.models += 1
    if depth > _MOST_NESTED or model.models > _MOST_MODELS:
        raise element.error(f"models are nested more than {_MOST_NESTED} deep, or are more than {_MOST_MODELS}: does "
                            "one include itself?")
    frames = model.frames
    whole = outside(MODEL, scope)
    with located(element):
        search.budget.spend("bodies", len(element.all("link")))
        search.budget.spend("objects", len(element.all("frame")))
    for link in element.all("link"):
        name = outside(_name(link), scope)
        frames.add(name, link, scope, relative_to=whole, attached_to=name)
        model.links[name] = link
    for joint in element.all("joint"):
        name = outside(_name(joint), scope)
        child = outside(word(joint, "child"), scope)
        frames.add(name, joint, scope, relative_to=child, attached_to=child)
        model.joints[name] = joint, scope
    for frame in element.all("frame"):
        name = outside(_name(frame), scope)
        on = outside(frame.word("attached_to", MODEL), scope)
        frames.add(name, frame, scope, relative_to=on, attached_to=on)
        model.named[name] = frame
    first = next((outside(_name(link), scope) for link in element.all("link")), "")
    for inner in [*element.all("model"), *element.all("include")]:
        inner = _included(inner, model, search) if inner.tag == "include" else inner
        name = outside(_name(inner), scope)
        _place(model, inner)
        canonical = _gather(model, inner, f"{name}::", search, depth + 1)
        frames.add(name, inner, scope, relative_to=whole, attached_to=canonical)
        first = first or canonical
    said = element.attributes.get("canonical_link", "").strip()
    if not said and not first:
        raise element.error("there is no <link> in it")
    canonical = outside(said, scope) if said else first
    if scope == "":
        frames.add(MODEL, element, scope, relative_to=MODEL, attached_to=canonical)
    _note_what_is_left_out(model, element, scope)
    return canonical


def _name(element: XmlElement) -> str:
    name = element.word("name")
    if name in (WORLD, MODEL) or "::" in name or (name.startswith("__") and name.endswith("__")):
        raise element.error(f"the name {name!r} is one that SDF keeps for itself")
    return name


def _included(include: XmlElement, model: _Model, search: FileSearch) -> XmlElement:
    """Included model, with the name and the pose given by the including one."""
    if include.attributes.get("merge", "false").strip() in ("true", "1"):
        raise include.error("models that are merged are not read: write its links and joints where they belong")
    if include.all("placement_frame"):
        raise include.error("placement_frame is not supported: give the <pose> of the model itself")
    uri = word(include, "uri")
    try:
        path = search.included_model(uri)
        if path in model.read:
            search.budget.spend("elements", sum(1 for _ in model.read[path].walk()))
        else:
            model.read[path] = _one_model(read_xml(path, budget=search.budget))[0]
    except ModelError as error:
        raise include.error(str(error)) from None
    inner = model.read[path]
    name = include.only("name")
    pose = include.only("pose")
    own = ("static", "pose") if pose is not None else ("static",)
    named = {} if name is None else {"name": name.text.strip()}
    return replace(inner, attributes={**inner.attributes, **named},
                   children=[*[child for child in inner.children if child.tag not in own], *([pose] if pose else [])])


def _note_what_is_left_out(model: _Model, element: XmlElement, scope: str) -> None:
    sensors = [sensor.attributes.get("name", "") for sensor in element.walk() if sensor.tag == "sensor"]
    if scope == "":
        model.notes += counted("sensors left out", sensors, "sensor[|s] [is|are] left out", doubtful=False)
    static = element.only("static")
    if static is not None and static.text.strip() in ("true", "1"):
        model.notes.append(Remark("static", (), str(element.error("the model is static, and is read as if its joints "
                                                                   "moved")), doubtful=False))


# What it makes


def _tree(model: _Model, element: XmlElement, place: Array, gravity: Array, version: tuple[int, int],
          source: str) -> Tree:
    frames = model.frames
    bodies = [_body(model, name, link) for name, link in model.links.items()]
    joints: list[Joint] = []
    loops: list[Loop] = []
    on_loops: list[Frame] = []
    carried: dict[str, XmlElement] = {}
    for name, (joint, scope) in model.joints.items():
        parent, child = _ends(frames, joint, scope)
        at_parent = place @ frames.in_model(name, joint) if parent == WORLD else frames.between(parent, name, joint)
        at_child = frames.between(child, name, joint)
        motion = _motion(frames, joint, name, scope, version)
        if child in carried:
            ends = Frame(f"{name}/parent", parent, at_parent), Frame(f"{name}/child", child, at_child)
            on_loops += ends
            loops.append(Loop(name, ends[0].name, ends[1].name, motion))
            continue
        carried[child] = joint
        with located(joint):
            made, own = _on_its_frame(Joint(name, parent, child, motion, at_parent, *_drive(joint, motion, scope)),
                                      at_child)
        joints += made
        bodies += own
    if WORLD in {joint.parent for joint in joints} | {frame.body for frame in on_loops}:
        bodies.insert(0, Body(WORLD, 0.0))
    _check_roots(element, model, carried, held=bodies[0].name == WORLD)
    named = [Frame(name, link, frames.between(link, name, frame)) for name, frame in model.named.items()
             for link in [frames.link_of(name, frame)]]
    turned = np.eye(3) if bodies[0].name == WORLD else (place @ frames.in_model(
        next(name for name in model.links if name not in carried), element))[:3, :3]
    with located(element):
        return Tree.of(element.word("name"), bodies, joints, frames=[*named, *on_loops], loops=loops,
                       gravity=turned.T @ gravity, source=source,
                       notes=[*model.notes, *frames.angles.findings, *_floats(bodies)])


def _floats(bodies: list[Body]) -> Iterator[Remark]:
    if bodies[0].name != WORLD:
        yield Remark("held by nothing", (bodies[0].name,), "no joint holds the model to the world: its root is fixed "
                      "here, and floats with cy.load(path, floating_base=True)", doubtful=False)


def _body(model: _Model, name: str, link: XmlElement) -> Body:
    inertial = link.only("inertial")
    if inertial is None:
        model.notes.append(Remark("mass of the format", (name,), str(link.error(
            "there is no <inertial>; the default of SDF, 1 kg and 1 kg m^2 about its origin, is taken"))))
        return Body(name, 1.0, np.zeros(3), np.eye(3))
    mass = number(inertial, "mass", 1.0)
    if mass < 0:
        raise inertial.required("mass").error(f"the mass is negative: {mass:g} kg")
    pose = model.frames.pose(inertial.only("pose"))
    tensor = inertial.only("inertia")
    defaults = {key: float(key in ("ixx", "iyy", "izz")) for key in MOMENTS}
    moments = [default if tensor is None else number(tensor, key, default) for key, default in defaults.items()]
    return placed_body(name, inertial, mass, pose, moments)


def _ends(frames: SdfFrames, joint: XmlElement, scope: str) -> tuple[str, str]:
    """The links, or the world, that a joint joins; it may name frames on them."""
    parent = outside(word(joint, "parent"), scope)
    child = outside(word(joint, "child"), scope)
    if child == WORLD:
        raise joint.error("the child of a joint is the world: exchange parent and child")
    ends = parent if parent == WORLD else frames.link_of(parent, joint), frames.link_of(child, joint)
    if ends[0] == ends[1]:
        raise joint.error(f"its parent and its child are both on the link {ends[0]!r}")
    return ends


def _motion(frames: SdfFrames, joint: XmlElement, name: str, scope: str, version: tuple[int, int]) -> JointKind:
    kind = joint.word("type")
    if kind in _OTHER_TYPES:
        raise joint.error(f"joints of the type {kind!r} are not read; write the mechanism as TOML, with a joint of a "
                          "kind in docs/robots/toml.md")
    if kind not in _TYPES:
        raise joint.error(f"the joint type {kind!r} is unknown"
                          f"{did_you_mean(kind, _TYPES, otherwise=': known are ' + ', '.join(_TYPES))}")
    axes = [_axis(frames, joint, tag, name, scope, version) for tag in ("axis", "axis2")[:_AXES.get(kind, 0)]]
    if kind == "universal":
        return Universal(axes[0], axes[1])
    if kind == "prismatic":
        return Prismatic(axes[0])
    if kind in ("ball", "fixed"):
        return Spherical() if kind == "ball" else JointKind()
    return Revolute(axes[0], continuous=kind == "continuous")


def _axis(frames: SdfFrames, joint: XmlElement, tag: str, name: str, scope: str, version: tuple[int, int]) -> Axis:
    """The unit axis in the axes of the joint."""
    axis = joint.only(tag)
    xyz = None if axis is None else axis.only("xyz")
    if axis is None or xyz is None:
        return 0.0, 0.0, 1.0
    vector = np.array([float(each) for each in texts(xyz, 3)])
    size = float(np.linalg.norm(vector))
    if not size > 1e-6:
        raise xyz.error("the axis has no length; give a direction")
    said = xyz.attributes.get("expressed_in", "").strip()
    old = axis.only("use_parent_model_frame")
    in_model = version <= _EXPRESSED_IN_MODEL or (old is not None and old.text.strip() in ("true", "1"))
    other = outside(said, scope) if said else outside(MODEL, scope) if in_model else name
    if other != name:
        vector = frames.between(name, other, xyz)[:3, :3] @ vector
    x, y, z = (vector / size).tolist()
    return x, y, z


_Drive = tuple[Limits, Friction, Rotor, Mimic | None, LinearSpring | None]


def _drive(joint: XmlElement, motion: JointKind, scope: str) -> _Drive:
    """Limits, friction, rotor, mimicked joint and spring of a joint."""
    axes = [axis for tag in ("axis", "axis2") if (axis := joint.only(tag)) is not None][:motion.nq]
    if not motion.nq or len(axes) != motion.nq:
        return Limits(), Friction(), Rotor(), None, None
    limits = [axis.only("limit") for axis in axes]
    dynamics = axes[0].only("dynamics")
    friction = Friction() if dynamics is None or motion.nq > 1 else Friction(number(dynamics, "damping", 0.0),
                                                                            number(dynamics, "friction", 0.0))
    stiffness = 0.0 if dynamics is None else number(dynamics, "spring_stiffness", 0.0)
    spring = LinearSpring(stiffness, 0.0, number(dynamics, "spring_reference", 0.0)) if (
        dynamics is not None and stiffness and motion.screw is not None) else None
    lower, upper, velocity, effort = (tuple(_bound(each, tag) for each in limits)
                                      for tag in ("lower", "upper", "velocity", "effort"))
    if motion.endless:
        lower, upper = (-np.inf,), (np.inf,)
    for low, high, limit in zip(lower, upper, limits, strict=True):
        if low > high and limit is not None:
            raise limit.error(f"the limits are crossed: lower {low:g}, upper {high:g}")
    velocity, effort = (tuple(x if x >= 0 else np.inf for x in bounds) for bounds in (velocity, effort))
    return Limits(lower, upper, velocity, effort), friction, Rotor(), _mimic(axes[0], scope), spring


def _bound(limit: XmlElement | None, tag: str) -> float:
    default = -np.inf if tag == "lower" else np.inf
    child = None if limit is None else limit.only(tag)
    text = "" if child is None else child.text.strip().lower()
    if child is None or text in ("inf", "+inf", "-inf"):
        return float(text) if text else default
    value = float(texts(child, 1)[0])
    return value if abs(value) < _NO_LIMIT else float(np.copysign(np.inf, value))


def _mimic(axis: XmlElement, scope: str) -> Mimic | None:
    """follower = multiplier (leader - reference) + offset."""
    mimic = axis.only("mimic")
    if mimic is None:
        return None
    multiplier = number(mimic, "multiplier", 1.0)
    offset = number(mimic, "offset", 0.0) - multiplier * number(mimic, "reference", 0.0)
    return Mimic(outside(mimic.word("joint"), scope), multiplier, offset)


def _on_its_frame(joint: Joint, at_child: Array) -> tuple[list[Joint], list[Body]]:
    """The joint, with a massless body between it and a child whose frame is another than its own."""
    if np.abs(at_child - np.eye(4)).max() <= _SAME:
        return [joint], []
    between = f"{joint.child}/{joint.name}"
    held = Joint(f"{joint.child}/fixed", between, joint.child, placement=inverse(at_child))
    return [replace(joint, child=between), held], [Body(between, 0.0)]


def _check_roots(element: XmlElement, model: _Model, carried: dict[str, XmlElement], *, held: bool) -> None:
    free = [name for name in model.links if name not in carried]
    if held and free:
        raise model.links[free[0]].error(f"no joint carries the links {', '.join(map(repr, free))}, while others are "
                                         "held to the world: one mechanism has one root")
    if len(free) > 1:
        raise model.links[free[1]].error(f"no joint carries the links {', '.join(map(repr, free))}: there must be "
                                         "exactly one such link, the root")
    if not held and not free:
        raise element.error("every link is carried by a joint: the joints form a ring that is connected to no root")
