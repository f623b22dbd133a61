"""Obstacles around a robot: `Scene`. They are arrays, which kernels take as inputs."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike, FieldArray
from cayley.errors import ModelError, check_known
from cayley.explained_calls import with_explained_calls
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.model.formats.files import read_bytes

Obstacles: TypeAlias = Sequence[Sequence[ArrayLike]] | Array

_SIZES = {"center": 3, "half_sizes": 3, "radius": 1, "height": 1, "quaternion": 4, "point": 3, "normal": 3}
_KINDS = {
    "boxes": ("center", "half_sizes", "quaternion"), "cylinders": ("center", "radius", "height", "quaternion"),
    "spheres": ("center", "radius"), "capsules": ("center", "radius", "height", "quaternion"),
    "half_spaces": ("point", "normal")}
WORDS = {"boxes": "box", "cylinders": "cylinder", "spheres": "sphere", "capsules": "capsule",
         "half_spaces": "half-space"}
_UNIT = 1e-6
"""By how much the length of a quaternion or normal may differ from one."""
_FAR = 1e9
"""Where obstacles are that only fill up an array [m]."""


@with_explained_calls
@dataclass(frozen=True, eq=False)
class Scene:
    """Obstacles in the frame of the root [m]. Each is a tuple:

    boxes        (center, half_sizes, quaternion)
    cylinders    (center, radius, height, quaternion), along z of the quaternion
    spheres      (center, radius)
    capsules     (center, radius, height, quaternion), along z; the height is between the centers of both ends
    half_spaces  (point, normal): all below the plane through a point, whose unit normal points out of it

    Quaternions are (w, x, y, z); an obstacle without one is not turned. Each field is an array with a row for each
    obstacle, of these numbers one after the other, and may be given as such.

    >>> scene = Scene(boxes=[([0.5, 0.0, 0.2], [0.1, 0.3, 0.02])], spheres=[([0.3, 0.3, 0.5], 0.1)])
    >>> scene
    <scene: 1 box, 1 sphere>
    >>> scene.boxes.shape, scene.spheres
    ((1, 10), array([[0.3, 0.3, 0.5, 0.1]]))
    """

    boxes: FieldArray = ()
    cylinders: FieldArray = ()
    spheres: FieldArray = ()
    capsules: FieldArray = ()
    half_spaces: FieldArray = ()

    def __post_init__(self) -> None:
        for kind in _KINDS:
            object.__setattr__(self, kind, _rows(kind, getattr(self, kind)))

    def __repr__(self) -> str:
        counts = [(len(getattr(self, kind)), word) for kind, word in WORDS.items()]
        words = [f"{n} {word if n == 1 else f'{word}es' if word == 'box' else f'{word}s'}" for n, word in counts if n]
        return f"<scene: {', '.join(words) or 'no obstacles'}>"

    def __len__(self) -> int:
        return sum(len(getattr(self, kind)) for kind in _KINDS)

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each obstacle, "box 0", in the order of the kinds above."""
        return tuple(f"{word} {k}" for kind, word in WORDS.items() for k in range(len(getattr(self, kind))))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scene:
        """The scene of a TOML file, which has a table for each obstacle: `[[boxes]]` with center, half_sizes,
        quaternion, and the other kinds with the names above."""
        place = os.fspath(path)
        try:
            found = tomllib.loads(read_bytes(place).decode("utf-8"))
            check_known(found, _KINDS, f"{place!r} has", "a scene has")
            return Scene(**{kind: [_written(kind, k, row) for k, row in enumerate(rows)]
                            for kind, rows in found.items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise error if place in str(error) else ModelError(f"{place!r} is no scene: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scene as a TOML file, to the last bit."""
        tables = [f"[[{kind}]]\n{_as_toml(kind, row)}" for kind in _KINDS for row in getattr(self, kind).tolist()]
        Path(path).write_text("\n".join(tables), encoding="utf-8")

    @property
    def inputs(self) -> tuple[Array, ...]:
        """The arrays that kernels take: a row for each obstacle of a kind, those that are there, filled up with
        obstacles far away to one of a few numbers of rows, so that not every scene needs a kernel of its own.

        boxes       rotation (9) into their axes, offset (3) there: x' = R x + o; half sizes (3)
        cylinders   rotation, offset, radius, half the height
        spheres     center (3), radius
        capsules    rotation, offset, radius, half the height
        half-spaces normal (3), and how far the plane is along it"""
        return kept(self, "inputs", lambda: tuple(_filled(kind, _packed(kind, rows)) for kind in _KINDS
                                                  if len(rows := getattr(self, kind))))

    @property
    def rows(self) -> tuple[tuple[str, int], ...]:
        """The kinds of the `inputs`, and their numbers of rows."""
        there = [kind for kind in _KINDS if len(getattr(self, kind))]
        return tuple((kind, len(rows)) for kind, rows in zip(there, self.inputs, strict=True))

    @property
    def reach(self) -> float:
        """A distance [m] of the origin beyond which no center of an obstacle is."""
        return max((float(np.abs(getattr(self, kind)[:, :3]).max(initial=0.0)) for kind in _KINDS), default=0.0) * 1.8


def width_of(kind: str) -> int:
    """The length of a row of the inputs of a kind."""
    return {"boxes": 15, "cylinders": 14, "spheres": 4, "capsules": 14, "half_spaces": 4}[kind]


def _rows(kind: str, given: Obstacles) -> Array:
    names = _KINDS[kind]
    rows = [_row(kind, k, each) for k, each in enumerate(given)]
    made = np.array(rows, dtype=float).reshape(len(rows), sum(_SIZES[name] for name in names))
    made.flags.writeable = False
    return made


def _row(kind: str, k: int, given: Sequence[ArrayLike]) -> Array:
    names = _KINDS[kind]
    said = f"{WORDS[kind]} {k} of the scene"
    try:
        flat = np.asarray(given, dtype=float)
    except (ValueError, TypeError):
        flat = None
    if flat is not None and flat.ndim == 1 and len(flat) == sum(_SIZES[name] for name in names):
        parts = np.split(flat, np.cumsum([_SIZES[name] for name in names])[:-1])
    else:
        parts = _parts(said, names, given)
    for name, values in zip(names, parts, strict=True):
        if values.size != _SIZES[name]:
            raise ModelError(f"the {name} of {said} has {_SIZES[name]} numbers, not {values.size}")
        if not np.isfinite(values).all():
            raise ModelError(f"the {name} of {said} is {values.ravel()}: it must be finite")
        if name in ("half_sizes", "radius", "height") and not (values > 0).all():
            raise ModelError(f"the {name} of {said} is {values.ravel()}: a size is positive")
        if name in ("quaternion", "normal") and abs(float(np.linalg.norm(values)) - 1.0) > _UNIT:
            raise ModelError(f"the {name} of {said} is {values.ravel()}, of length {np.linalg.norm(values):.6g}: "
                             f"its length is one{' (w, x, y, z)' if name == 'quaternion' else ''}")
    return np.concatenate([np.ravel(part) for part in parts])


def _parts(said: str, names: Sequence[str], given: Sequence[ArrayLike]) -> list[Array]:
    try:
        parts = [np.asarray(part, dtype=float) for part in given]
    except (ValueError, TypeError) as error:
        raise ModelError(f"{said} is no row of numbers ({', '.join(names)}): {error}") from error
    if names[-1] == "quaternion" and len(parts) == len(names) - 1:
        parts.append(np.array([1.0, 0.0, 0.0, 0.0]))
    if len(parts) != len(names):
        raise ModelError(f"{said} has {len(parts)} parts: it is ({', '.join(names)})")
    return parts


def _written(kind: str, k: int, row: Mapping[str, Any]) -> list[ArrayLike]:
    """The parts of an obstacle by the names that a file has."""
    names = _KINDS[kind]
    check_known(row, names, f"{WORDS[kind]} {k} has", f"a {WORDS[kind]} has")
    lacking = [name for name in names if name not in row and name != "quaternion"]
    if lacking:
        raise ModelError(f"{WORDS[kind]} {k} has no {lacking[0]}")
    return [row[name] for name in names if name in row]


def _as_toml(kind: str, row: Sequence[float]) -> str:
    lines, place = [], 0
    for name in _KINDS[kind]:
        values, place = row[place:place + _SIZES[name]], place + _SIZES[name]
        lines.append(f"{name} = {values if len(values) > 1 else values[0]}\n")
    return "".join(lines)


def _packed(kind: str, rows: Array) -> Array:
    if kind == "spheres":
        return rows
    if kind == "half_spaces":
        normals = rows[:, 3:] / np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
        return np.column_stack([normals, (normals * rows[:, :3]).sum(axis=1)])
    turned = np.swapaxes(matrix_from_quaternion.unchecked(
        rows[:, -4:] / np.linalg.norm(rows[:, -4:], axis=1, keepdims=True)), 1, 2)
    offsets = -(turned @ rows[:, :3, None])[..., 0]
    sizes = rows[:, 3:6] if kind == "boxes" else rows[:, 3:5] * [1.0, 0.5]
    return np.column_stack([turned.reshape(-1, 9), offsets, sizes])


def _filled(kind: str, rows: Array) -> Array:
    count = len(rows)
    step = max(1, 2 ** max(0, (count - 1).bit_length() - 3))  # 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
    more = -count % step
    far = np.zeros(width_of(kind))
    far[{"spheres": 2, "half_spaces": 3}.get(kind, 11)] = -_FAR
    if kind == "half_spaces":
        far[2] = 1.0
    made = np.concatenate([rows, np.tile(far, (more, 1))])
    made.flags.writeable = False
    return made
