"""Base class of all kinds of joints: the interface that a kind implements, and the fixed joint.

A kind lets the child's frame move in the joint's frame. It gives the pose of the child, and the twist (v; w) of the
child relative to the parent, at the child's origin and in the child's axes: twist = subspace(q) @ qd, with the rate
subspace(q) @ qdd + bias(q, qd) of its components. `q` has `nq` entries, the velocity `qd` has `nv`; they differ where a
unit quaternion (w, x, y, z) is among the coordinates. The text is scalar-agnostic: it runs on floats and on symbols.

A new kind must define `nq`, `nv`, `word`, `pose` and `subspace`, and where the subspace depends on q also
`constant_subspace = False` and `bias`. Everything else has a default that is right for every kind. Defining more makes
the library faster, or its pictures better. No other code tests which class a joint has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, UnsupportedError
from cayley.geometry.tensors.cross import skew
from cayley.model.joint_kinds.held import ATTITUDE, POINT, HeldDirection

Axis = tuple[float, float, float]
Z: Axis = (0.0, 0.0, 1.0)
AXIS = {"form": "axis"}  # metadata of fields that are kept in files: a unit vector,
NUMBER = {"form": "number"}  # a number, which must be said,
LIST = {"form": "list"}  # a list of numbers of any length


class Screw(NamedTuple):
    """A motion of one coordinate about and along an axis through the joint's origin: by q it turns `turn` q and slides
    `slide` q."""

    axis: Axis
    turn: float
    slide: float


class Attitude(NamedTuple):
    """The places of a unit quaternion among the coordinates, of the angular velocity in the child's axes among the
    velocities, and, in both, of a position whose velocity is in the child's axes."""

    q: slice
    v: slice
    position: slice | None = None


class SharedMoments(NamedTuple):
    """Moments of a link that move with its parent whatever the joint does: factors of the mass, of the first (3) and of
    the second moments (3, 3), about the joint's origin, in the axes of the child, or for a screw in axes whose z is the
    screw's."""

    mass: float
    first: Array
    second: Array


class MarkAxis(NamedTuple):
    """A direction of a mark, fixed to the parent's side of the joint or to the child."""

    direction: Axis
    on_parent: bool


class Mark(NamedTuple):
    """The mark with which a joint is drawn: a shape along each axis, at the joint's origin or, `on_child`, at the
    child's."""

    shape: Literal["cylinder", "sleeve", "plate", "ball"]
    color: Literal["turn", "slide", "screw", "ball"]
    axes: tuple[MarkAxis, ...]
    on_child: bool = False

    @property
    def lines(self) -> tuple[MarkAxis, ...]:
        """The axes as lines on which links end: none for balls and plates."""
        return self.axes if self.shape in ("cylinder", "sleeve") else ()


@dataclass(frozen=True)
class JointKind:
    """A joint that holds its child fast; the other kinds are made from it."""

    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    word = "fixed"
    constant_subspace: ClassVar[bool] = True  # the same for every q, None included; then there is no bias
    attitude: ClassVar[Attitude | None] = None  # where the unit quaternion is that makes nq larger than nv
    shared_moments: ClassVar[SharedMoments] = SharedMoments(0.0, np.zeros(3), np.zeros((3, 3)))  # without effect on it

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        own = {name for kind in cls.__mro__[:-1] if kind.__name__ != "JointKind" for name in vars(kind)}
        if cls.nv and not {"pose", "subspace"} <= own:
            raise TypeError(f"the joint kind {cls.__name__} moves, so it must define `pose` and `subspace`")
        if not cls.constant_subspace and "bias" not in own:
            raise TypeError(f"the joint kind {cls.__name__} has a subspace that depends on q, so it must define `bias`")
        if "word" not in own:
            cls.word = cls.__name__.lower()

    def __post_init__(self) -> None:
        for entry in fields(self):
            if entry.metadata.get("form") == "axis":
                object.__setattr__(self, entry.name, _unit(getattr(self, entry.name), self.word))

    # Motion

    def pose(self, q: Array) -> tuple[Any, Any]:
        """Rotation (3, 3) and origin (3) of the child's frame in the joint's frame."""
        return np.eye(3), np.zeros(3)

    def subspace(self, q: Array) -> Array:
        """The directions (6, nv) of motion, in the child's axes."""
        return np.zeros((6, 0))

    def driving_wrenches(self, q: Array) -> Array:
        """Wrenches (6, nv), (f; m), that unit forces of the drives exert on the child, at its origin and in its axes: a
        moment about a turning axis, a force along one that only slides. subspace^T driving_wrenches = 1: each works on
        its own velocity alone."""
        if not self.nv:
            return np.zeros((6, 0))
        S = self.subspace(q)
        known = [np.asarray(self.subspace(each))[3:] for each in ([self.neutral] if self.constant_subspace
                                                                  else self.samples)]
        none = np.zeros(3)
        along = np.stack([np.concatenate([none, S[3:, k]] if any(w[:, k].any() for w in known) else [S[:3, k], none])
                          for k in range(self.nv)], axis=1)
        return along @ np.linalg.inv(wrapped(S.T @ along))

    def bias(self, q: Array, qd: Array) -> Array:
        """The acceleration (6) that is left when qdd is zero: the rate of the subspace, times qd."""
        return np.zeros(6)

    def subspace_rate(self, q: Array, qd: Array) -> Array:
        """The rate (6, nv) of the subspace. Of its part that is symmetric in qd and a direction the bias says all; the
        other part is the bracket of the two twists (Maurer-Cartan). Where velocities are rates of the coordinates."""
        if self.constant_subspace:
            return np.zeros((6, self.nv))
        units = np.eye(self.nv)
        alone = [self.bias(q, unit) for unit in units]
        S = self.subspace(q)
        columns = []
        for k, unit in enumerate(units):
            both = [
                alone[k] if j == k else (self.bias(q, units[j] + unit) - alone[j] - alone[k]) / 2
                for j in range(self.nv)]
            symmetric = np.stack(both, axis=1) @ qd
            columns.append(symmetric if self.nv == 1 else symmetric - _bracket(S @ qd, S[:, k]) / 2)
        return np.stack(columns, axis=1)

    def turning(self, qd: Array) -> Array:
        """N (nv, nv), skew: qdd + N qd is how fast a velocity really changes that is given in axes which turn with it;
        zero for rates."""
        return np.zeros((self.nv, self.nv))

    def perturbation_rate(self, qd: Array) -> Array:
        """N (..., nv, nv) of (dq)' = dv + N dq for a small change of motion along the velocities; zero for rates."""
        return np.zeros((*np.shape(qd), self.nv))

    def rate(self, q: Array, qd: Array) -> Array:
        """dq/dt (nq)."""
        return qd

    def step(self, q: Array, qd: Array) -> Array:
        """The coordinates (nq) to which the constant velocity `qd` leads from `q` in unit time."""
        return q + qd

    def straight(self, q: Array, qd: Array, h: Scalar) -> tuple[Array, Array]:
        """The coordinates (nq) after a time `h` with a velocity that does not turn, and that velocity (nv) in the axes
        that it has there."""
        return self.step(q, h * qd), qd

    def difference(self, start: Array, end: Array) -> Array:
        """The constant velocity (nv) that leads from `start` to `end` in unit time, by the shorter way."""
        return end - start

    @property
    def neutral(self) -> Array:
        """The coordinates (nq) of its zero."""
        return np.zeros(self.nq)

    @property
    def velocity_is_rate(self) -> bool:
        """True if dq/dt = v."""
        return type(self).rate is JointKind.rate

    # What it is made of

    @property
    def elementary(self) -> tuple[JointKind, ...]:
        """Motions that make this one when they follow one another, the one nearest to the parent first: itself, if it
        is elementary."""
        return (self,)

    @property
    def screw(self) -> Screw | None:
        """The axis of a motion of one coordinate about and along it; None for all others."""
        return None

    @property
    def free(self) -> bool:
        """True if the joint constrains nothing: all six velocities are free."""
        return self.nv == 6

    @property
    def endless(self) -> bool:
        """True if the joint turns without limits by design."""
        return False

    @property
    def slides(self) -> bool:
        """True if the child's origin moves relative to the joint's."""
        return bool(np.asarray(self.subspace(self.neutral))[:3].any())

    @property
    def turns(self) -> bool:
        """True if the child's axes turn relative to the joint's."""
        return bool(np.asarray(self.subspace(self.neutral))[3:].any())

    @property
    def held(self) -> tuple[HeldDirection, ...]:
        """Constraints of a loop that this joint closes: 6 - nv functions of the two frames that it joins.

        A kind that does not define them can be any joint of the tree, but cannot close a loop."""
        if self.nv == 0:
            return (*POINT, *ATTITUDE)
        if self.free:
            return ()
        raise UnsupportedError(f"a {self.word} joint cannot close a loop: its kind does not define its constraints, "
                               "`held`. Make it a joint of the tree, and close the loop with another of its joints")

    # In other frames and units

    def turned(self, R: Array) -> JointKind:
        """The same motion in the axes that are the columns of R (3, 3).

        Motions with a screw must be able to; others are never asked."""
        if np.array_equal(R, np.eye(3)):
            return self
        raise UnsupportedError(f"a {self.word} joint cannot be expressed in other axes: its kind does not define "
                               "`turned`")

    def in_units(self, length: float) -> JointKind:
        """The same motion with lengths counted in units of `length` [m]."""
        return self if not self.nv or self.attitude is not None else InUnits(self, length)

    @property
    def length(self) -> float:
        """The largest of its own lengths [m]."""
        return 0.0

    # Coordinates

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Suffixes that name the coordinates of the joint; a single coordinate needs none."""
        return ("",) if self.nq == 1 else tuple(str(k + 1) for k in range(self.nq))

    @property
    def velocity_names(self) -> tuple[str, ...]:
        return self.coordinate_names

    @property
    def velocity_units(self) -> tuple[str, ...]:
        """"rad" for velocities that turn (their forces are in N m), "m" for those that only slide (N), without the "per
        second"."""
        S = np.asarray(self.subspace(self.neutral))
        return tuple("rad" if S[3:, k].any() else "m" for k in range(self.nv))

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """ "rad", "m", or "" for the entries of a quaternion."""
        return self.velocity_units

    @property
    def wraps(self) -> tuple[bool, ...]:
        """Per coordinate (nq), True if a full turn leads back to the same pose."""
        return (False,) * self.nq

    def reach(self, lower: Array, upper: Array) -> float:
        """No coordinates between the limits (nq) take the child's origin farther from the joint's than this [m]."""
        return np.inf if self.nv else 0.0

    @property
    def samples(self) -> list[Array]:
        """Coordinates (nq) that stand for all, its zero first: what holds of the moments at these holds everywhere."""
        random = np.random.default_rng(0)
        return [
            self.neutral, *[self.step(self.neutral, random.uniform(-1.5, 1.5, self.nv)) for _ in range(16 * self.nv)]]

    # Files and pictures

    @classmethod
    def from_keys(cls, word: str, **values: ArrayLike) -> Self:
        """The joint of a file, from the word for its kind and the values of `keys`."""
        return cls(**values)

    @property
    def keys(self) -> dict[str, Any]:
        """Fields of the motion as they are written in files."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if "form" in entry.metadata}

    @property
    def urdf(self) -> str | None:
        """Joint type in URDF; None if URDF has none."""
        return None if self.nv else "fixed"

    @property
    def mjcf(self) -> tuple[tuple[str, Axis | None], ...] | None:
        """MuJoCo's joints that make it, with their axes; None if there are none."""
        return None if self.nv else ()

    @property
    def mjcf_loop(self) -> tuple[Axis, ...] | None:
        """Points, the same in both frames, that `connect` of MJCF keeps together to close a loop; empty for one that
        `weld` closes, and None if MJCF has no form for it."""
        return None if self.nv else ()

    @property
    def letter(self) -> str:
        """One letter for tables."""
        return self.word[0].upper()

    @property
    def mark(self) -> Mark | None:
        """The shape of the joint in drawings, or None if it is not drawn."""
        return None if not self.nv or self.free else Mark("ball", "ball", (MarkAxis(Z, False),))


@dataclass(frozen=True)
class InUnits(JointKind):
    """The motion of a joint whose velocities are rates, its lengths in units of `unit` [m]."""

    motion: JointKind
    unit: float
    word = "rescaled"

    def pose(self, q: Array) -> tuple[Any, Any]:
        R, p = self.motion.pose(q * self._lengths)
        return R, p / self.unit

    def subspace(self, q: Array) -> Array:
        return self.motion.subspace(None if q is None else q * self._lengths) * self._lengths / self._rows[:, None]

    def bias(self, q: Array, qd: Array) -> Array:
        return self.motion.bias(q * self._lengths, qd * self._lengths) / self._rows

    @property
    def nq(self) -> int:  # type: ignore[override]
        return self.motion.nq

    @property
    def nv(self) -> int:  # type: ignore[override]
        return self.motion.nv

    @property
    def constant_subspace(self) -> bool:  # type: ignore[override]
        return self.motion.constant_subspace

    @property
    def _lengths(self) -> Array:
        return np.where(np.array(self.motion.velocity_units) == "m", self.unit, 1.0)

    @property
    def _rows(self) -> Array:
        return np.repeat([self.unit, 1.0], 3)


def turn(axis: Sequence[float] | Array, angle: Scalar) -> Array:
    """The rotation about a constant unit axis by an angle (Rodrigues)."""
    across = skew(axis)
    return np.eye(3) + np.sin(angle) * across + (1 - np.cos(angle)) * (across @ across)


def plane_across(axis: ArrayLike) -> Array:
    """Two unit vectors (2, 3) that make a right-handed frame with a unit axis: x and y themselves for z."""
    return _plane_across(*np.asarray(axis, dtype=float).tolist())


@lru_cache(maxsize=1000)
def _plane_across(*axis: float) -> Array:
    n = np.array(axis)
    nearest = np.eye(3)[np.argmin(np.abs(n))] if abs(n[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    first = nearest - (nearest @ n) * n
    first = first / np.linalg.norm(first)
    plane = np.stack([first, np.cross(n, first)])
    plane.flags.writeable = False
    return plane


def split(motions: tuple[JointKind, ...], q: Array, sizes: Literal["nq", "nv"]) -> Iterator[Any]:
    """The entries of a vector that belong to each of several motions."""
    start = 0
    for motion in motions:
        size = getattr(motion, sizes)
        yield q[start:start + size]
        start += size


def _bracket(one: Array, other: Array) -> Array:
    """[one, other] (6) of twists (v; w)."""
    u, w = np.split(one, 2)
    s, t = np.split(other, 2)
    return np.concatenate([np.cross(w, s) + np.cross(u, t), np.cross(w, t)])


def _unit(axis: ArrayLike, kind: str) -> Axis:
    """A unit axis, to the last digit if it is one to 1e-6."""
    values = np.asarray(axis, dtype=float)
    length = float(np.linalg.norm(values)) if values.shape == (3,) else float("nan")
    if not abs(length - 1) < 1e-6:
        raise ModelError(f"the axis {values} of a {kind} joint is not a unit vector: its length is {length:.6g}")
    exact = values if abs(length - 1) < 1e-15 else values / length
    return tuple(exact.tolist())
