"""Contacts of a whole-body controller: a point or a patch of a frame that stands, and the forces that it may pass on.

    point    force f on the mechanism:  n.f >= least,  d_k . f <= mu cos(pi / sides) n.f
             d_k the directions of the sides around n: a pyramid within Coulomb's cone |f_t| <= mu n.f
    patch    force and moment about the frame's origin (f; m), in the frame's axes with z out of the ground; |x| <= X,
             |y| <= Y is what touches. What forces of four corners, each in its own pyramid of four sides, can do:
             |fx|, |fy| <= c fz,   |mx| <= Y fz,   |my| <= X fz,   |mz - ...| <= ..., with c = mu / sqrt(2)
Source of the patch: Caron, Pham & Nakamura, Stability of surface contacts for humanoid robots, 2015, (14)-(18)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.control.arms import numbers_of
from cayley.errors import GeometryError, SignatureError, shown
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.velocity import frame_bias
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Contact(ABC):
    """Base class of the kinds of contacts, of a `frame` with a coefficient of `friction`.

    The input `contact_<frame>` is 1 where nothing drives it, and 0 where the contact is lifted. A contact that moves
    is braked at the rate `gain` [1/s]. Squares of its forces [N, N m] cost `weight`, which shares a load out among
    contacts that could share it in many ways. `least` is the force along the normal that is kept [N]."""

    frame: str
    friction: float = 0.6
    gain: float = 20.0
    weight: float = 1e-5
    least: float = 0.0

    def __post_init__(self) -> None:
        wrong = [name for name in ("friction", "gain", "weight", "least")
                 if not is_finite_number(getattr(self, name)) or getattr(self, name) < 0]
        if wrong:
            raise SignatureError(f"{wrong[0]} of the contact of {self.frame!r} is a number that is not negative, not "
                                 f"{shown(getattr(self, wrong[0]))}")

    @property
    def label(self) -> str:
        return "".join(c if c.isalnum() else "_" for c in self.frame)

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of rows: 3 of forces, 6 with moments."""

    @abstractmethod
    def sides(self, tree: Tree, q: Array) -> Array:
        """The rows (k, size): sides @ force >= 0, in the root's axes; the first is the normal. A text."""

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """The words of the sides (k)."""

    def jacobian(self, tree: Tree, q: Array) -> Array:
        """The rows (size, nv) that stand still, in the root's axes; a text."""
        return general_jacobian(tree, q, self.frame, axes="world")[:self.size]

    def drift(self, tree: Tree, q: Array, qd: Array) -> Array:
        """The acceleration (size) of these rows at qdd = 0; a text."""
        return frame_bias(tree, q, qd, self.frame, axes="world")[:self.size]


@dataclass(frozen=True, eq=False)
class PointContact(Contact):
    """The origin of a frame on the ground, with the `normal` (3) out of the ground in the root's axes.

    >>> from cayley.control import PointContact
    >>> PointContact("foot", friction=0.8, sides_of_pyramid=8).words[0]
    'foot presses'
    """

    normal: ArrayLike = (0.0, 0.0, 1.0)
    sides_of_pyramid: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        n = numbers_of(self.normal, f"the normal of the contact of {self.frame!r}")
        if n.shape != (3,) or not np.linalg.norm(n) > 1e-12 or not np.isfinite(n).all():
            raise GeometryError(f"the normal of the contact of {self.frame!r} must be a direction (3), not "
                                f"{shown(self.normal)}")
        if not isinstance(self.sides_of_pyramid, int) or self.sides_of_pyramid < 3:
            raise SignatureError(f"the pyramid of the contact of {self.frame!r} has 3 sides at least, not "
                                 f"{shown(self.sides_of_pyramid)}")

    @property
    def size(self) -> int:
        return 3

    @property
    def words(self) -> tuple[str, ...]:
        return (f"{self.frame} presses", *[f"{self.frame} slips" for _ in range(self.sides_of_pyramid)])

    def sides(self, tree: Tree, q: Array) -> Array:
        n = np.array(self.normal, dtype=float) / np.linalg.norm(self.normal)
        first = np.cross(n, np.eye(3)[int(np.abs(n).argmin())])
        first /= np.linalg.norm(first)
        turns = 2 * np.pi * np.arange(self.sides_of_pyramid) / self.sides_of_pyramid
        around = np.outer(np.cos(turns), first) + np.outer(np.sin(turns), np.cross(n, first))
        around[np.abs(around) < 1e-15] = 0.0
        return np.vstack([n, self.friction * np.cos(np.pi / self.sides_of_pyramid) * n - around])


@dataclass(frozen=True, eq=False)
class PatchContact(Contact):
    """A rectangle of a frame's plane on the ground, as a sole: |x| <= `half_length`, |y| <= `half_width` [m] in the
    frame's axes, whose z points out of the ground."""

    half_length: float = 0.1
    half_width: float = 0.05

    @property
    def size(self) -> int:
        return 6

    @property
    def words(self) -> tuple[str, ...]:
        words = {"presses": 1, "slips": 4, "tips": 4, "twists": 8}
        return tuple(f"{self.frame} {word}" for word, count in words.items() for _ in range(count))

    def sides(self, tree: Tree, q: Array) -> Array:
        R = frame_pose(tree, q, self.frame).R
        own = self._own_sides()
        return np.concatenate([own[:, :3] @ R.T, own[:, 3:] @ R.T], axis=1)

    def _own_sides(self) -> Array:
        """The rows (17, 6) in the frame's axes."""
        X, Y, c = self.half_length, self.half_width, self.friction / np.sqrt(2)
        rows: list[list[float]] = [[0, 0, 1, 0, 0, 0]]
        rows += [[s, 0, c, 0, 0, 0] for s in (-1, 1)] + [[0, s, c, 0, 0, 0] for s in (-1, 1)]
        rows += [[0, 0, Y, s, 0, 0] for s in (-1, 1)] + [[0, 0, X, 0, s, 0] for s in (-1, 1)]
        # mz between -c (X + Y) fz + |Y fx - c mx| + |X fy - c my| and c (X + Y) fz - |Y fx + c mx| - |X fy + c my|
        rows += [[-a * Y, -b * X, c * (X + Y), a * c, b * c, 1] for a, b in product((-1, 1), repeat=2)]
        rows += [[-a * Y, -b * X, c * (X + Y), -a * c, -b * c, -1] for a, b in product((-1, 1), repeat=2)]
        return np.array(rows, dtype=float)
