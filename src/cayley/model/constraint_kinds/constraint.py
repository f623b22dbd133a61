"""Base class of all kinds of constraints: the interface that a kind implements.

A constraint is one or more functions that are zero while it is kept, of the motions of two frames, of coordinates of
joints that have one each, and maybe of the time, which is then the last of the coordinates, with the rate 1. It gives
each as a `Row`: the value, its rate, which is linear in the velocities (and in the rate of the time), and the rate of
that. Rows that are on velocities alone (a wheel that does not slip), after those that are not, have the value 0. The
motions are relative to the body from which both frames hang, in its axes. The text is scalar-agnostic: it
runs on floats and on symbols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

from cayley.compiler.typing import Array, Scalar
from cayley.errors import UnsupportedError
from cayley.model.joint_kinds.held import FrameMotion, Row

WORD = {"form": "word"}  # metadata of fields that are kept in files: a name,
WORDS = {"form": "words"}  # a list of names,
NUMBER = {"form": "number"}  # a number, which must be said,
ANGLE = {"form": "angle"}  # an angle, which must be said,
OFFSET = {"form": "number or default"}  # a number, which need not be said,
LIST = {"form": "list"}  # a list of numbers,
FORMULA = {"form": "formula"}  # a formula, which must be said,
OPTIONAL_FORMULA = {"form": "formula or default"}  # one that need not be said,
FORMULAS = {"form": "formulas"}  # several of them,
AXIS = {"form": "axis or default"}  # a unit vector, which need not be said


class Tendon(NamedTuple):
    """A tendon of MJCF: its kind, its parts with their coefficients, and the length that it keeps [m, rad]."""

    kind: str
    parts: tuple[tuple[str, float | None], ...]
    length: float


@dataclass(frozen=True)
class Constraint(ABC):
    """A constraint with a name; the kinds are made from it."""

    name: str
    word: ClassVar[str] = ""
    straight: ClassVar[bool] = False  # whether it is a rod between its frames, which is drawn
    presses: ClassVar[bool] = False  # whether its first row is a contact, and the others hold it along the ground
    of_frames: ClassVar[tuple[str, ...]] = ()  # the fields that name frames,
    of_coordinates: ClassVar[tuple[str, ...]] = ()  # and those that name joints
    says: ClassVar[str] = "{0.word} {0.name!r}"  # the sentence, as a format of the constraint

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the two frames whose motions enter the constraint, or none: the fields that `of_frames` names."""
        return tuple(getattr(self, name) for name in self.of_frames)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the joints, of one coordinate each, whose coordinates enter the constraint: `of_coordinates`."""
        return tuple(getattr(self, name) for name in self.of_coordinates)

    @property
    def turns(self) -> bool:
        """True if the first three rows are a vector along the axes in which the motions are given, and the other rows
        do not depend on those axes. Such a constraint may be given motions in other axes."""
        return False

    @property
    def rim(self) -> Array | None:
        """A closed line (k, 3) to draw, in the axes of the second frame: the rim of a wheel."""
        return None

    @property
    def timed(self) -> bool:
        """True if the constraint depends on time, which is then the last of the coordinates given to `rows`."""
        return False

    @property
    @abstractmethod
    def row_names(self) -> tuple[str, ...]:
        """Name of each row."""

    @property
    def row_units(self) -> tuple[str, ...]:
        """Unit of each row, "m" or "rad"; "" for rows on coordinates alone, which have the units of the coordinates."""
        return ("m" if self.frames else "",) * len(self.row_names)

    @property
    def positions(self) -> int:
        """Number of rows, the first ones, that constrain positions; the others constrain velocities alone."""
        return len(self.row_names)

    @abstractmethod
    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        """The rows, of the motions of `frames` and of the `coordinates` with their rates."""

    def senses(self, frames: Sequence[FrameMotion]) -> list[Scalar]:
        """Numbers that are positive where the constraint holds in the intended sense. The rows are also zero in the
        opposite sense, for example with an axis that points back."""
        return []

    def margin(self, frames: Sequence[FrameMotion]) -> Scalar | None:
        """A number that is positive where the rows are defined and falls to zero where they stop being so, or None if
        they are defined everywhere."""
        return None

    def passed(self, frames: Sequence[FrameMotion]) -> Scalar | None:
        """True if a time step has crossed the point where the margin vanishes and the rows change; None if the rows
        never change."""
        return None

    @property
    def where_lost(self) -> str:
        """Description of the state in which the margin vanishes."""
        return f"{self.word} {self.name!r} has no directions"

    @property
    def sentence(self) -> str:
        """The constraint in words, for errors and reports."""
        return self.says.format(self)

    @property
    def mjcf_tendon(self) -> Tendon | None:
        """Equivalent tendon of fixed length in MJCF, or None."""
        return None

    @property
    def mjcf_polynomial(self) -> tuple[float, ...] | None:
        """The coefficients by which the first of its `coordinates` follows the second; None if it does not."""
        return None

    @property
    def keys(self) -> dict[str, Any]:
        """Fields of the constraint as they are written in files."""
        found = {entry.name: getattr(self, entry.name) for entry in fields(self) if "form" in entry.metadata}
        for key, value in found.items():
            if callable(value):
                raise UnsupportedError(f"{key} of the {self.word} {self.name!r} is a function in Python, which no file "
                                       "can hold: write it as a formula")
        return found
