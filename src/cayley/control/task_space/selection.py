"""Which directions of a frame are moved and which are pressed: natural and artificial constraints.

A contact imposes natural constraints: no velocity into a wall, no force along it without friction. What a law may
impose are the artificial ones, and they are complementary: forces where the velocity is given, positions where the
force is. Nobody can impose both in one direction. Directions that are in neither are left to the arm.
Source: Mason 1981; Raibert and Craig 1981.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import numbers_of
from cayley.errors import GeometryError, SignatureError, UnsupportedError
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.showing import brief
from cayley.wording import did_you_mean, shown

AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Selection:
    """Artificial constraints: the axes of the task's frame, "x", "y", "z" and turns about them "rx", "ry", "rz", along
    which a law controls the `position`, and those along which it controls the `force`; each in this order.

    >>> Selection.in_contact(velocity=["z"], force=["x", "y"])
    Selection(position=('x', 'y'), force=('z',))
    >>> Selection(position=["x", "z"], force=["z"])
    Traceback (most recent call last):
    cayley.errors.UnsupportedError: position and force clash along z: what touches gives one of them, ...
    """

    position: Sequence[str] = ()
    force: Sequence[str] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        for word in ("position", "force"):
            object.__setattr__(self, word, _axes(getattr(self, word), word))
        both = [axis for axis in AXES if axis in self.position and axis in self.force]
        if both:
            raise UnsupportedError(f"position and force clash along {', '.join(both)}: what touches gives one of them, "
                                   "and a law can impose the other only")
        if not self.position and not self.force:
            raise SignatureError("a selection has an axis at least, of which the position or the force is controlled")

    @classmethod
    def in_contact(cls, velocity: Iterable[str] = (), force: Iterable[str] = ()) -> Selection:
        """What a law may impose where a contact gives `velocity` along some axes and `force` along others."""
        natural = Selection(position=tuple(velocity), force=tuple(force))
        return cls(position=natural.force, force=natural.position)

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows of (x, y, z; turn about x, y, z) that are controlled, in their order."""
        return tuple(k for k, axis in enumerate(AXES) if axis in self.position or axis in self.force)

    @property
    def pressed(self) -> tuple[int, ...]:
        """The places among the rows where the force is controlled."""
        return tuple(k for k, row in enumerate(self.rows) if AXES[row] in self.force)

    @property
    def moved(self) -> tuple[int, ...]:
        """The places among the rows where the position is controlled."""
        return tuple(k for k, row in enumerate(self.rows) if AXES[row] in self.position)


def _axes(given: Iterable[str], word: str) -> tuple[str, ...]:
    """The axes, each once and in their order, in which gains and forces are given as well."""
    if not isinstance(given, Iterable):
        raise SignatureError(f"the {word} is controlled along axes out of {', '.join(AXES)}, not {shown(given)}")
    named = [given] if isinstance(given, str) else list(given)
    for axis in named:
        if axis not in AXES:
            raise SignatureError(f"the {word} is controlled along {', '.join(AXES)}, not {shown(axis)}"
                                 f"{did_you_mean(axis, AXES)}")
    if len(set(named)) < len(named):
        raise SignatureError(f"an axis is named twice among those of {word}: {', '.join(named)}")
    ordered = tuple(axis for axis in AXES if axis in named)
    if tuple(named) != ordered:
        raise SignatureError(f"axes are named in the order {', '.join(AXES)}, in which gains and forces are given too: "
                             f"{word}={list(ordered)}, not {shown(named)}")
    return ordered


def axes_of(task_axes: ArrayLike | None) -> Array:
    """The axes of a task (3, 3), the columns of a rotation; those of the root if none are given."""
    if task_axes is None:
        return np.eye(3)
    given = numbers_of(task_axes, "the axes of a task")
    if given.shape != (3, 3) or not np.isfinite(given).all():
        raise GeometryError(f"the axes of a task are the columns of a rotation (3, 3), not {shown(task_axes)}")
    check_rotation_matrix(given)
    return given
