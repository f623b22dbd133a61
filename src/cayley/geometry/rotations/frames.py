"""Frames: direction cosines, components of vectors, sequences of turns, and orientations that know their frames.

The axes of frame b, written in frame a, are the columns of R_ab. The product R_ab v has two readings, with a name each
here: `components_in` (one vector, seen from two frames) and `turned` (one frame, a vector before and after a rotation).

Sources: Ruggiu 1.1, 1.2.1 (1.1)-(1.4), 1.2.2 (1.8)-(1.15), 1.2.8; Yamamoto 1.2 (1.1)-(1.4).

>>> turned([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 0.0, 0.0])
array([0., 1., 0.])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError
from cayley.geometry.batch import float_array
from cayley.geometry.formula import formula
from cayley.geometry.rotations.matrix import check_rotation_matrix, compose_rotations


def _check_axes(x: Array, y: Array, z: Array) -> None:
    check_rotation_matrix(np.stack(np.broadcast_arrays(x, y, z), axis=-1))


@kernel("(3),(3),(3)->(3,3)", check=_check_axes)
def matrix_from_axes(x: Array, y: Array, z: Array) -> Array:
    """R_ab of the axes of frame b, unit vectors in frame a: its columns. Ruggiu (1.1), Yamamoto (1.1).

    Triads that are not orthonormal, or left-handed, are refused; `nearest_rotation` projects them.

    >>> matrix_from_axes([0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    return np.stack([x, y, z], axis=1)


@kernel("(3,3),(3)->(3)", check=check_rotation_matrix)
def components_in(R_ab: Array, components_b: Array) -> Array:
    """Passive reading of R_ab v: a vector's components in frame a from those in frame b. Ruggiu (1.14).

    >>> components_in([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [1.0, 0.0, 0.0])
    array([0., 1., 0.])
    """
    return R_ab @ components_b


turned = formula(
    "turned", "(3,3),(3)->(3)", lambda R, vector: R @ vector,
    "Active reading of R v: the vector after the rotation R, in the frame of the vector before it. Ruggiu (1.15).",
    check_rotation_matrix)


class Turn(NamedTuple):
    """One rotation of a moving frame, about axes of the fixed frame or about its own."""

    rotation: Array
    """The matrix (..., 3, 3) of the turn, in the components of the frame that it is about."""
    about: Literal["fixed", "moving"]


def sequence_of_turns(turns: Iterable[Turn | tuple[Any, str]], *, start: ArrayLike | None = None) -> Array:
    """R_ab of a frame b after turns in the given order; a is fixed, and b starts on it, or at `start`. Ruggiu 1.2.8.

    A turn about fixed axes multiplies on the left, one about moving axes on the right. Batches broadcast.

    >>> from cayley.geometry.rotations import rotation_x, rotation_z
    >>> both = sequence_of_turns([(rotation_x(0.3), "fixed"), (rotation_z(0.7), "moving")])
    >>> np.array_equal(both, rotation_x(0.3) @ rotation_z(0.7))
    True
    """
    total = np.eye(3) if start is None else np.asarray(start)
    check_rotation_matrix(total)
    for number, (rotation, about) in enumerate(turns):
        check_rotation_matrix(rotation)
        if about not in ("fixed", "moving"):
            raise ConventionError(f"turn {number} is about {about!r}: say 'fixed' or 'moving'")
        total = compose_rotations(rotation, total) if about == "fixed" else compose_rotations(total, rotation)
    return total


@dataclass(frozen=True, eq=False)
class Orientation:
    """The orientation of a named frame in another, as matrices (..., 3, 3): combining wrong frames is an error.

    `Orientation(R, of="b", in_="a")` holds R_ab. `@` composes and checks that the inner names agree. Two are equal if
    the names and all the numbers are.

    >>> from cayley.geometry.rotations import rotation_z
    >>> tool_in_hand, hand_in_base = Orientation(rotation_z(0.1), of="tool", in_="hand"), Orientation(np.eye(3),
    ...                                                                                               of="hand",
    ...                                                                                               in_="base")
    >>> (hand_in_base @ tool_in_hand).of, (hand_in_base @ tool_in_hand).in_
    ('tool', 'base')
    >>> tool_in_hand @ hand_in_base
    Traceback (most recent call last):
    cayley.errors.ConventionError: 'tool in hand' cannot be followed by 'hand in base': ...
    """

    matrix: Array
    of: str
    in_: str

    def __post_init__(self) -> None:
        matrix = float_array(self.matrix).copy()
        check_rotation_matrix(matrix)
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Orientation):
            return NotImplemented
        return (self.of, self.in_) == (other.of, other.in_) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.of, self.in_, self.matrix.shape, *self.matrix.ravel().tolist()))

    def __matmul__(self, other: Orientation) -> Orientation:
        if not isinstance(other, Orientation):
            raise ConventionError(
                f"an orientation is followed by another Orientation, not by {type(other).__name__}: "
                "`.matrix @ array` is a product of matrices, `.components(vector, of=...)` turns a vector")
        if self.of != other.in_:
            raise ConventionError(
                f"'{self.of} in {self.in_}' cannot be followed by '{other.of} in {other.in_}': the orientation of "
                f"{other.of!r} must be given in {self.of!r}")
        return Orientation(compose_rotations(self.matrix, other.matrix), of=other.of, in_=self.in_)

    def inverse(self) -> Orientation:
        """The other frame seen from this one: the transpose."""
        return Orientation(np.swapaxes(self.matrix, -2, -1), of=self.in_, in_=self.of)

    def components(self, vector: ArrayLike, *, of: str) -> Array:
        """The components in frame `in_` of a vector given by its components in the frame `of`, which must be named."""
        if of != self.of:
            raise ConventionError(
                f"the vector is given in {of!r}, and this is the orientation of {self.of!r} in {self.in_!r}")
        return components_in(self.matrix, vector)
