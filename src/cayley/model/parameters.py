"""The numbers of a mechanism that may be inputs of its kernels, by name.

    link2.mass                    [kg]
    link2.center.x                of mass, in the body's frame [m]
    link2.inertia.xy              about the centre of mass, in the body's axes [kg m^2]
    link2.moments.m  .ux  .Jxy    mass, first moment and Euler tensor about the origin of the body's frame, in which
                                  forces are linear: m, u = m c, J = integral r r^T dm; in place of mass, centre and
                                  inertia [kg, kg m, kg m^2]
    joint2.length.x               of the joint's place in its parent's frame; of a named frame on its body [m]
    joint2.turn.x                 of that place about its own axes, x first, on top of what the model says [rad]
    joint2.armature               what the joint feels of its rotor, inertia gear^2 [kg m^2, kg], if they are included;
                                  of a motor whose rotor only spins, its inertia
    joint2.friction.viscous  .coulomb                                        if friction is included
    joint2.spring.stiffness  .damping  .rest  .cubic  .backlash, joint2.gear  if elastic drives are included
    gravity.z                     [m/s^2]
A choice is made in words: `"mass"` is that of every moving body, `"link2.inertia"` are those of one, `"link2"` all of a
part. What is zero in the model is structure, and stays zero, unless its full name is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import in_general_position, is_symbolic
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, did_you_mean
from cayley.model.parts import Body, BodyByMoments, Frame, Friction, Joint, Rotor
from cayley.model.spring_kinds import SpringKind
from cayley.model.tree import Tree

_AXES = "xyz"
_TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")
_MOMENTS = ("m", "ux", "uy", "uz", *[f"J{entry}" for entry in _TENSOR])
_UNITS = {"stiffness": ("N m/rad", "N/m"), "damping": ("N m s", "N s/m"), "rest": ("rad", "m"),
          "cubic": ("N m/rad^3", "N/m^3"), "backlash": ("rad", "m")}
_WORDS = ("mass", "center", "inertia", "moments", "length", "turn", "armature", "friction", "spring", "gear", "gravity")


class Parameter(NamedTuple):
    """A number of a mechanism: of which part, of which kind, which entry; its value in the model and its unit."""

    part: str
    kind: str
    entry: str
    nominal: float
    unit: str

    @property
    def name(self) -> str:
        return ".".join(filter(None, (self.part, self.kind, self.entry)))

    def is_meant_by(self, word: str) -> bool:
        """True if a word other than the full name chooses this parameter: by kind, by part, or by both."""
        by_part = word == self.part and self.kind != "moments"
        return bool(self.nominal) and (word in (self.kind, f"{self.part}.{self.kind}") or by_part)


@dataclass(frozen=True, eq=False)
class Parameters:
    """Chosen parameters of a mechanism, in the order of the array that a kernel takes.

    >>> chosen = chosen_parameters(cy.load("s1_f2").tree, ["mass", "link2.center"])
    >>> chosen.names
    ('link1.mass', 'link2.mass', 'link2.center.x')
    >>> chosen.with_values({"link2.mass": 3.0})
    array([2.  , 3.  , 0.2])
    """

    tree: Tree
    entries: tuple[Parameter, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)

    @property
    def nominal(self) -> Array:
        """The values (p) that the model has."""
        return np.array([entry.nominal for entry in self.entries])

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(entry.unit for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        return "\n".join(f"{k:3d}  {e.name:32s} {e.nominal:12.6g}  {e.unit}" for k, e in enumerate(self.entries))

    def index(self, name: str) -> int:
        """The place of a parameter in the array."""
        if name not in self.names:
            raise ConventionError(f"{name!r} is not among the chosen parameters{did_you_mean(name, self.names)}")
        return self.names.index(name)

    def with_values(self, values: Mapping[str, ArrayLike]) -> Array:
        """The array (..., p) of the nominal values with the given ones in their places. Given values broadcast."""
        given = {self.index(name): np.asarray(value, dtype=float) for name, value in values.items()}
        batch = np.broadcast_shapes(*[value.shape for value in given.values()])
        found = np.array(np.broadcast_to(self.nominal, (*batch, len(self))))
        for place, value in given.items():
            found[..., place] = value
        return found

    def samples(self) -> Array:
        """Values (k, p) in general position about the nominal ones, which come first."""
        return in_general_position(self.nominal)

    def tree_with(self, values: Sequence[Scalar] | Array) -> Tree:
        """The mechanism with these values (p), numbers or symbols, for its own."""
        given = dict(zip(self.names, values, strict=True))
        tree = self.tree
        return replace(tree, bodies=tuple(_body(body, given) for body in tree.bodies),
                       joints=tuple(_joint(joint, given) for joint in tree.joints),
                       frames=tuple(_frame(frame, _frame_part(tree, frame), given) for frame in tree.frames),
                       gravity=_entries("gravity", _AXES, tree.gravity, given))


def chosen_parameters(tree: Tree, words: Sequence[str]) -> Parameters:
    """The parameters that are meant by words: kinds, parts, "part.kind", full names; word by word, in the order of the
    model."""
    every = list(all_parameters(tree))
    by_name = {entry.name: entry for entry in every}
    chosen: dict[str, Parameter] = {}
    for word in words:
        found = [by_name[word]] if word in by_name else [entry for entry in every if entry.is_meant_by(word)]
        if not found:
            raise ConventionError(_unknown(tree, word, every))
        chosen.update((entry.name, entry) for entry in found)
    if not chosen:
        raise ConventionError(f"say which parameters of {tree.name} are to be inputs: {', '.join(_WORDS)}, or names "
                              f"such as {every[0].name!r}" if every else f"{tree.name} has no parameters")
    for part in {entry.part for entry in chosen.values() if entry.kind == "moments"}:
        double = {e.kind for e in chosen.values() if e.part == part} & {"mass", "center", "inertia"}
        if double:
            raise ConventionError(f"the moments of {part!r} say its mass, centre and inertia already: leave out "
                                  f"{', '.join(sorted(double))}, or the moments")
    return Parameters(tree, tuple(chosen.values()))


def all_parameters(tree: Tree) -> Iterator[Parameter]:
    """Every number that may become an input, those that are zero too."""
    for number, body in enumerate(tree.bodies):
        if body.mass is not None and any(tree.joints[k].motion.nv for k in tree.path(number)):
            yield from _of_body(body)
    motors = set(tree.motors.values())
    for number, joint in enumerate(tree.joints):
        yield from _of_place(joint.name, np.asarray(joint.placement))
        if joint.motion.nv:
            yield from _of_drive(joint, tree.included, is_motor=number in motors, has_motor=number in tree.motors)
    for frame in tree.frames:
        yield from _of_place(_frame_part(tree, frame), np.asarray(frame.pose))
    for axis, value in zip(_AXES, tree.gravity, strict=True):
        yield Parameter("", "gravity", axis, float(value), "m/s^2")


def _of_body(body: Body) -> Iterator[Parameter]:
    mass, first, second = body.moments
    yield Parameter(body.name, "mass", "", float(mass), "kg")
    for axis, value in zip(_AXES, body.center, strict=True):
        yield Parameter(body.name, "center", axis, float(value), "m")
    for entry in _TENSOR:
        yield Parameter(body.name, "inertia", entry, float(body.inertia[_place(entry)]), "kg m^2")
    numbers = [mass, *first, *[second[_place(entry)] for entry in _TENSOR]]
    units = ["kg", *["kg m"] * 3, *["kg m^2"] * 6]
    for entry, value, unit in zip(_MOMENTS, numbers, units, strict=True):
        yield Parameter(body.name, "moments", entry, float(value), unit)


def _of_place(part: str, placement: Array) -> Iterator[Parameter]:
    for axis, value in zip(_AXES, placement[:3, 3], strict=True):
        yield Parameter(part, "length", axis, float(value), "m")
    for axis in _AXES:
        yield Parameter(part, "turn", axis, 0.0, "rad")


def _of_drive(joint: Joint, included: frozenset[str], *, is_motor: bool, has_motor: bool) -> Iterator[Parameter]:
    turns = not joint.motion.slides
    if is_motor or ("armature" in included and not has_motor):
        yield Parameter(joint.name, "armature", "", joint.rotor.reflected, "kg m^2" if turns else "kg")
    if "friction" in included:
        yield Parameter(joint.name, "friction", "viscous", joint.friction.viscous, "N m s" if turns else "N s/m")
        yield Parameter(joint.name, "friction", "coulomb", joint.friction.coulomb, "N m" if turns else "N")
    if joint.spring is not None and (has_motor or "springs" in included):
        for entry in joint.spring.numbers:
            yield Parameter(joint.name, "spring", entry, float(getattr(joint.spring, entry)), _UNITS[entry][not turns])
        if has_motor:
            yield Parameter(joint.name, "gear", "", joint.rotor.gear, "" if turns else "rad/m")


def _frame_part(tree: Tree, frame: Frame) -> str:
    """Name of a frame among the parameters, marked as a frame where a joint has the same name."""
    return f"frame {frame.name}" if any(joint.name == frame.name for joint in tree.joints) else frame.name


def _unknown(tree: Tree, word: str, every: Sequence[Parameter]) -> str:
    meant = [entry.name for entry in every if word in (entry.part, entry.kind, f"{entry.part}.{entry.kind}")]
    if meant:
        return (f"all that {word!r} means in {tree.name} is zero, and so is not an input; to make one of them an input "
                f"nevertheless, name it: {', '.join(meant[:6])}")
    if word in ("spring", "gear") or word.endswith((".spring", ".gear")):
        return f"{tree.name} includes no springs of drives: take `including('elastic drives')` of it"
    if word in ("armature", "friction") or word.endswith((".armature", ".friction")):
        drive = "armature" if word.endswith("armature") else "friction"
        return f"{tree.name} does not include {drive}: take `including({drive!r})` of it"
    body = next((b for b in tree.bodies if word == b.name or word.startswith(f"{b.name}.")), None)
    if body is not None:
        why = "has no known mass" if body.mass is None else "does not move"
        return f"body {body.name!r} of {tree.name} {why}: it has no inertial parameters"
    known = [*_WORDS, *[entry.name for entry in every]]
    return f"{tree.name} has no parameter {word!r}{did_you_mean(word, known)} The kinds are {', '.join(_WORDS)}"


def has_symbols(tree: Tree) -> bool:
    """True if masses or placements of a mechanism are inputs."""
    numbers = [*[m for body in tree.bodies for m in body.moments], *[joint.placement for joint in tree.joints],
               *[joint.rotor.inertia for joint in tree.joints]]
    return any(map(is_symbolic, numbers))


# Parts with other numbers


def _body(body: Body, given: Mapping[str, Scalar]) -> Body:
    if any(f"{body.name}.moments.{entry}" in given for entry in _MOMENTS):
        mass, first, second = body.moments
        own = f"{body.name}.moments"
        mass = given.get(f"{own}.m", mass)
        first = _entries(own, ("ux", "uy", "uz"), first, given)
        return BodyByMoments.of(body.name, mass, first, _tensor(f"{own}.J", second, given))
    names = (f"{body.name}.mass", *[f"{body.name}.center.{axis}" for axis in _AXES],
             *[f"{body.name}.inertia.{entry}" for entry in _TENSOR])
    if not any(name in given for name in names):
        return body
    return Body(body.name, given.get(f"{body.name}.mass", body.mass),
                _entries(f"{body.name}.center", _AXES, body.center, given),
                _tensor(f"{body.name}.inertia.", body.inertia, given))


def _joint(joint: Joint, given: Mapping[str, Scalar]) -> Joint:
    placement = _placed(joint.name, np.asarray(joint.placement), given)
    own = f"{joint.name}.friction"
    friction = Friction(given.get(f"{own}.viscous", joint.friction.viscous),
                        given.get(f"{own}.coulomb", joint.friction.coulomb))
    armature = given.get(f"{joint.name}.armature")
    rotor = joint.rotor if armature is None else Rotor(armature, 1.0)
    if f"{joint.name}.gear" in given:
        rotor = replace(rotor, gear=given[f"{joint.name}.gear"])
    return replace(joint, placement=placement, friction=friction, rotor=rotor, spring=_spring(joint, given))


def _spring(joint: Joint, given: Mapping[str, Scalar]) -> SpringKind | None:
    own = f"{joint.name}.spring."
    numbers = {name.removeprefix(own): value for name, value in given.items() if name.startswith(own)}
    return replace(joint.spring, **numbers) if joint.spring is not None and numbers else joint.spring


def _frame(frame: Frame, part: str, given: Mapping[str, Scalar]) -> Frame:
    return replace(frame, pose=_placed(part, np.asarray(frame.pose), given))


def _placed(part: str, placement: Array, given: Mapping[str, Scalar]) -> Array:
    """A place (4, 4) with other lengths, and turned about its own axes, x first."""
    R = placement[:3, :3]
    for k, axis in enumerate(_AXES):
        if f"{part}.turn.{axis}" in given:
            R = R @ _turn(k, given[f"{part}.turn.{axis}"])
    p = _entries(f"{part}.length", _AXES, placement[:3, 3], given)
    return _assembled([*[[*R[i], p[i]] for i in range(3)], [0.0, 0.0, 0.0, 1.0]])


def _turn(axis: int, angle: Scalar) -> Array:
    c = np.cos(angle)
    s = np.sin(angle)
    j = (axis + 1) % 3
    k = (axis + 2) % 3
    rows: list[list[Scalar]] = np.eye(3).tolist()
    rows[j][j] = rows[k][k] = c
    rows[j][k] = -s
    rows[k][j] = s
    return _assembled(rows)


def _entries(own: str, entries: Sequence[str], values: Array, given: Mapping[str, Scalar]) -> Array:
    return _assembled([given.get(f"{own}.{entry}", value) for entry, value in zip(entries, values, strict=True)])


def _tensor(own: str, values: Array, given: Mapping[str, Scalar]) -> Array:
    def entry(i: int, j: int) -> Scalar:
        low, high = sorted((i, j))
        return given.get(f"{own}{_AXES[low]}{_AXES[high]}", values[i, j])

    return _assembled([[entry(i, j) for j in range(3)] for i in range(3)])


def _place(entry: str) -> tuple[int, int]:
    return _AXES.index(entry[0]), _AXES.index(entry[1])


def _assembled(values: list[Any]) -> Array:
    """Numbers as an array of floats, and as symbols if there is one among them."""
    array = np.array(values, dtype=object)
    return symbols(array) if is_symbolic(array) else array.astype(float)
