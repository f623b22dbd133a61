"""The parts of a mechanism: bodies, joints, frames, and what is known about them. Plain immutable data."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Scalar
from cayley.errors import ModelError, shown
from cayley.geometry.batch import tolerance_of
from cayley.geometry.rotations.matrix import rotation_defect
from cayley.model.constraint_kinds import Loop
from cayley.model.finite import LARGEST, check_finite, frozen
from cayley.model.joint_kinds import JointKind, check_motion
from cayley.model.rotor import Friction, Rotor
from cayley.model.spring_kinds import SpringKind
from cayley.showing import brief

NO_LIMIT = 1e300  # what is beyond is how some formats write that there is none

_ROUNDING = 1e-15  # entries of a pose this near to 0, and of its rotation to 1, are that

__all__ = ["LARGEST", "NO_LIMIT", "Body", "BodyByMoments", "Frame", "Friction", "Immutable", "Joint", "Limits",
           "Locked", "Loop", "Mimic", "NamedConfiguration", "Rotor", "frozen", "frozen_pose"]


class Immutable:
    """Data whose arrays stay read-only in copies and after pickling, which would make them writable."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)


def frozen_pose(pose: ArrayLike | None, what: str) -> Array:
    array = frozen(np.eye(4) if pose is None else pose, (4, 4), what)
    if is_symbolic(array):
        return array
    # without the compiler: reading a robot compiles nothing
    defect = max(float(rotation_defect.reference(array[:3, :3])), float(np.abs(array[3] - (0.0, 0.0, 0.0, 1.0)).max()))
    if not defect <= tolerance_of(pose):
        raise ModelError(f"{what} is not a pose: it fails by {defect:.2g}; the upper left 3x3 must be a rotation, the "
                         "last row 0 0 0 1")
    return _exact(array)


def _exact(pose: Array) -> Array:
    """Entries that only rounding keeps from 0 and 1 made exact, so that they vanish from compiled code."""
    exact = np.where(np.abs(pose) < _ROUNDING, 0.0, pose)
    exact[:3, :3] = np.where(np.abs(np.abs(exact[:3, :3]) - 1) < _ROUNDING, np.sign(exact[:3, :3]), exact[:3, :3])
    exact.flags.writeable = False
    return exact


@dataclass(frozen=True, eq=False)
class Body(Immutable):
    """A rigid body. Its mass properties may be unknown: `mass` is None, and dynamics raise an error that names it."""

    name: str
    mass: float | None = None  # [kg]
    center: FieldArray = field(default_factory=lambda: np.zeros(3))  # of mass, in the body's frame [m], (3,)
    # about the center, in the body's axes [kg m^2], (3, 3)
    inertia: FieldArray = field(default_factory=lambda: np.zeros((3, 3)))

    __repr__ = brief

    def __post_init__(self) -> None:
        if not (self.mass is None or is_symbolic(self.mass)
                or (isinstance(self.mass, Real) and 0.0 <= self.mass <= LARGEST)):
            raise ModelError(f"body {self.name!r} has the mass {shown(self.mass)}: a mass is a finite number that is "
                             "not negative, and not absurdly large")
        object.__setattr__(self, "center", frozen(self.center, (3,), f"the centre of mass of body {self.name!r}"))
        inertia = frozen(self.inertia, (3, 3), f"the inertia of body {self.name!r}")
        if not (is_symbolic(inertia)
                or np.abs(inertia - inertia.T).max() <= tolerance_of(inertia) * np.abs(inertia).max()):
            raise ModelError(f"the inertia of body {self.name!r} is not symmetric: {inertia.tolist()}")
        object.__setattr__(self, "inertia", inertia)

    @property
    def moments(self) -> tuple[Scalar, Array, Array]:
        """Mass, first moment (3) and Euler tensor (3, 3), integral r r^T dm, about the origin of the body's frame; an
        unknown mass counts as none."""
        mass = 0.0 if self.mass is None else self.mass
        own = np.trace(self.inertia) / 2 * np.eye(3) - self.inertia
        return mass, mass * self.center, own + mass * np.outer(self.center, self.center)


@dataclass(frozen=True, eq=False)
class BodyByMoments(Body):
    """A body of which the moments about its origin are known: symbols, or those of no real body."""

    first: Array = field(default_factory=lambda: np.zeros(3))
    second: Array = field(default_factory=lambda: np.zeros((3, 3)))

    __repr__ = brief

    @staticmethod
    def of(name: str, mass: Scalar, first: Array, second: Array) -> BodyByMoments:
        """Body from its moments; the centre of a body without mass is at the origin."""
        known = is_symbolic(mass) or mass != 0.0
        center = first / mass if known else np.zeros(3)
        own = second - mass * np.outer(center, center)
        return BodyByMoments(name, mass, center, np.trace(own) * np.eye(3) - own, first, second)

    @property
    def moments(self) -> tuple[Scalar, Array, Array]:
        return self.mass, self.first, self.second


@dataclass(frozen=True)
class Limits:
    """Limits of a joint's coordinates, velocities and efforts; infinite where unknown. Values of 1e300 and beyond
    become infinite in a joint."""

    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()


@dataclass(frozen=True)
class Mimic:
    """A mimic joint, one that follows another: its coordinate is multiplier q + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        check_finite(self, "coupling")


class Locked(NamedTuple):
    """Record of a locked joint: the joint, its coordinates, and whether it was actuated."""

    joint: Joint
    q: tuple[float, ...]
    actuated: bool


@dataclass(frozen=True, eq=False)
class Joint(Immutable):
    """Joint between a parent and a child. The child's frame is the joint's frame, moved by the joint's coordinates."""

    name: str
    parent: str
    child: str
    motion: JointKind = field(default_factory=JointKind)
    placement: FieldArray = None  # of the joint's frame in the parent's, (4, 4)
    limits: Limits = field(default_factory=Limits)
    friction: Friction = field(default_factory=Friction)
    rotor: Rotor = field(default_factory=Rotor)
    mimic: Mimic | None = None
    spring: SpringKind | None = None  # between the gear of its motor and the joint; None where the drive is rigid
    locked: Locked | None = None  # what it was, if it is fixed because it was locked

    def __repr__(self) -> str:
        return f"<joint {self.name}: {self.motion.word}, {self.parent} -> {self.child}>"

    def __post_init__(self) -> None:
        check_motion(self.motion, f"joint {self.name!r}")
        object.__setattr__(self, "placement", frozen_pose(self.placement, f"the placement of joint {self.name!r}"))
        object.__setattr__(self, "limits", self._full_limits())
        if self.rotor.place is not None:
            frozen_pose(self.rotor.place, f"the place of the rotor of joint {self.name!r}")
        elif self.rotor.carrier not in (None, self.parent):
            raise ModelError(f"the rotor of joint {self.name!r} is carried by {self.rotor.carrier!r}, which is not the "
                             "joint's parent: give its place there")
        if not (self.spring is None or isinstance(self.spring, SpringKind)):
            raise ModelError(f"the spring of joint {self.name!r} is {shown(self.spring)}: give one of the kinds in "
                             "cayley.model.spring_kinds, LinearSpring(stiffness) for one")
        if self.spring is not None and self.motion.screw is None:
            raise ModelError(f"joint {self.name!r} is {self.motion.word} and has a spring: only joints of one "
                             "coordinate about or along an axis have elastic drives")

    def _full_limits(self) -> Limits:
        """Limits with one entry for each coordinate or velocity, infinite where none was given."""
        sizes = {"lower": (self.motion.nq, -np.inf), "upper": (self.motion.nq, np.inf),
                 "velocity": (self.motion.nv, np.inf), "effort": (self.motion.nv, np.inf)}
        said = {key: getattr(self.limits, key) or (default,) * size for key, (size, default) in sizes.items()}
        for key, (size, _) in sizes.items():
            if len(said[key]) != size:
                raise ModelError(
                    f"joint {self.name!r} is {self.motion.word} and needs {size} {key} limits, not {len(said[key])}")
        if np.isnan([*said["velocity"], *said["effort"]]).any():
            raise ModelError(
                f"a velocity or effort limit of joint {self.name!r} is not a number; leave it out where there is none")
        for low, high in zip(said["lower"], said["upper"], strict=True):
            if not low <= high:
                raise ModelError(f"the limits of joint {self.name!r} are crossed: lower {low}, upper {high}")
        return Limits(**{key: tuple(x if abs(x) < NO_LIMIT else float(np.copysign(np.inf, x)) for x in values)
                         for key, values in said.items()})


@dataclass(frozen=True)
class NamedConfiguration:
    """A configuration with a name: coordinates of joints, by their names; the others are at their zero."""

    name: str
    coordinates: tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True, eq=False)
class Frame(Immutable):
    """A named frame fixed to a body."""

    name: str
    body: str
    pose: FieldArray = None  # in the body's frame, (4, 4)

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", frozen_pose(self.pose, f"the pose of frame {self.name!r}"))
