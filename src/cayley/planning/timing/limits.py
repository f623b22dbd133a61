"""Limits of the joints along a motion: velocity, acceleration, jerk and effort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FieldArray
from cayley.errors import PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.model.coordinate_labels import velocity_labels
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.model.tree import Tree

_FORCELESS = 1e-9  # of the greatest force
KINDS = ("velocity", "acceleration", "jerk", "effort")


class Machine(Protocol):
    """A machine with joints and forces at them: a `Mechanism`."""

    @property
    def tree(self) -> Tree: ...

    @property
    def inverse_dynamics(self) -> Callable[..., Array]: ...

    @property
    def jacobian(self) -> Callable[..., Array]: ...

    @property
    def jacobian_rate(self) -> Callable[..., Array]: ...


def tree_of(mechanism: Machine | Tree) -> Tree:
    """The tree of a mechanism, or the tree itself."""
    return getattr(mechanism, "tree", mechanism)  # type: ignore[arg-type]


class Duration(NamedTuple):
    """The least time of a motion [s], the joint that does not allow a shorter one, and which of its limits that is."""

    seconds: float
    joint: str
    limit: str


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """The greatest velocity, acceleration and jerk of each joint (n) [rad/s or m/s, ...], to both sides, and the
    greatest force or torque, `effort` [N or N m], which needs the `machine` whose dynamics say it. A number is for all
    joints; infinity, which all are unless said, is no limit; a joint with a limit of zero must stand still.

    >>> MotionLimits(velocity=[2.0, 1.0], acceleration=10.0).resized(2).acceleration
    array([10., 10.])
    """

    velocity: FieldArray = np.inf
    acceleration: FieldArray = np.inf
    jerk: FieldArray = np.inf
    effort: FieldArray = np.inf
    names: Sequence[str] = ()
    machine: Machine | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        sizes = set()
        for kind in KINDS:
            values = numbers(getattr(self, kind), f"limits of {kind}")
            if values.ndim > 1:
                raise SignatureError(f"the limits of {kind} are a number or one for each joint, (n); given was the "
                                     f"shape {values.shape}")
            wrong = np.atleast_1d(~(values >= 0.0))
            if wrong.any():
                joint = int(wrong.argmax())
                raise PlanningError(f"the limit of {kind} of joint {self._name(joint)} is "
                                    f"{np.atleast_1d(values)[joint]:g}: limits are to both sides, and not negative")
            sizes |= set(values.shape)
            values.flags.writeable = False
            object.__setattr__(self, kind, values)
        sizes |= {len(self.names)} if self.names else set()
        if len(sizes) > 1:
            raise SignatureError(f"limits of {', '.join(map(str, sorted(sizes)))} joints do not fit together")
        if np.isfinite(self.effort).any() and self.machine is None:
            raise PlanningError("limits of effort need the machine whose dynamics say the efforts: "
                                "MotionLimits.of(arm, ...)")

    @staticmethod
    def of(machine: Machine, *, velocity: ArrayLike | None = None, acceleration: ArrayLike = np.inf,
           jerk: ArrayLike = np.inf, effort: ArrayLike | None = None) -> MotionLimits:
        """The limits of the joints of a machine: velocities and efforts are those of its description unless others are
        given (infinity: none), accelerations and jerks are said here, as no description has them.

        >>> import cayley as cy
        >>> MotionLimits.of(cy.load("panda"), acceleration=10.0).velocity[:2]
        array([2.175, 2.175])
        """
        tree = machine.tree
        said = {kind: [x for joint in tree.joints for x in getattr(joint.limits, kind)]
                for kind in ("velocity", "effort")}
        has_drive = np.isin(np.arange(tree.nv), tree.actuated_velocities)
        driven = np.where(has_drive | (not tree.is_constrained), said["effort"], np.inf)
        return MotionLimits(said["velocity"] if velocity is None else velocity, acceleration, jerk,
                            driven if effort is None else effort,
                            tuple(name for name, _ in velocity_labels(tree)), machine).resized(tree.nv)

    def resized(self, n: int) -> MotionLimits:
        """The same limits as arrays of n joints."""
        if n not in self._sized:
            self._sized[n] = self._made_for(n)
        return self._sized[n]

    @cached_property
    def _sized(self) -> dict[int, MotionLimits]:
        return {}

    def _made_for(self, n: int) -> MotionLimits:
        if all(getattr(self, kind).shape == (n,) for kind in KINDS):
            return self
        if any(getattr(self, kind).shape not in ((), (n,)) for kind in KINDS) or len(self.names) not in (0, n):
            raise SignatureError(f"the limits are not those of {n} joints")
        velocity, acceleration, jerk, effort = (np.broadcast_to(getattr(self, kind), (n,)) for kind in KINDS)
        return MotionLimits(velocity, acceleration, jerk, effort, self.names, self.machine)

    @property
    def ties_joints(self) -> bool:
        """True for the limits of a machine with constraints, whose joints do not move on their own."""
        return self.machine is not None and self.machine.tree.is_constrained

    def of_velocities(self, places: Sequence[int]) -> MotionLimits:
        """The limits of velocity, acceleration and jerk of some joints, without those of effort."""
        own = self.resized(self.machine.tree.nv) if self.machine is not None else self
        velocity, acceleration, jerk = (getattr(own, kind)[list(places)] for kind in KINDS[:3])
        return MotionLimits(velocity, acceleration, jerk, names=[own.name(k) for k in places])

    def name(self, joint: int) -> str:
        """The name of a joint, by its number from 0."""
        return self.names[joint] if self.names else f"number {joint + 1}"

    def _name(self, joint: int) -> str:
        return repr(self.names[joint]) if joint < len(self.names) else f"number {joint + 1}"

    @cached_property
    def has_efforts(self) -> bool:
        return bool(np.isfinite(self.effort).any())

    @cached_property
    def lets_all_move(self) -> bool:
        """True if every joint has limits with which it can move, and one of acceleration."""
        return bool(all((getattr(self, kind) > 0.0).all() for kind in KINDS) and np.isfinite(self.acceleration).all())

    def inverse(self, kind: str) -> Array:
        """One over the limits (n); 0 where there is none, and of a joint that must stand still."""
        if kind not in self._inverses:
            bounds = np.array(getattr(self, kind))
            self._inverses[kind] = np.divide(1.0, bounds, out=np.zeros_like(bounds), where=bounds > 0.0)
        return self._inverses[kind]

    @cached_property
    def _inverses(self) -> dict[str, Array]:
        return {}

    def check_can_move(self, moves: Array) -> None:
        """Raise if a joint that moves, by truth values (n), has a limit of zero."""
        for kind in KINDS[:3]:
            stuck = moves & (getattr(self, kind) == 0.0)
            if stuck.any():
                raise PlanningError(f"joint {self._name(int(stuck.argmax()))} moves, but its limit of {kind} is 0: "
                                    "raise the limit, or let the joint stay where it is")

    def forces(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """The forces of the machine."""
        if self.machine is None:
            raise PlanningError("these limits have no machine: MotionLimits.of(arm, ...)")
        return self.machine.inverse_dynamics(q, qd, qdd)

    def checked_forces(self, t: Array, q: Array, qd: Array, qdd: Array) -> Array:
        """The forces (k, nv) of the machine at times (k) of a motion; an error if it has none, or would need one at a
        joint without a drive, that says when and where."""
        tau = self.forces(q, qd, qdd)
        missing = ~np.isfinite(tau).all(axis=1)
        if missing.any():
            k = int(missing.argmax())
            self.forces(q[k], qd[k], qdd[k])  # which says why
        check_undriven(self, t, tau)
        return tau


def check_undriven(limits: MotionLimits, t: Array, tau: Array) -> None:
    """Raise if forces (k, nv) at times (k) are needed at joints without a drive."""
    tree = limits.machine.tree  # type: ignore[union-attr]
    driven = np.isin(np.arange(tree.nv), tree.actuated_velocities)
    needed = np.where(driven, 0.0, np.abs(tau))
    if needed.max(initial=0.0) <= _FORCELESS * (1.0 + np.abs(tau).max(initial=0.0)):
        return
    row, place = (int(k) for k in np.unravel_index(int(needed.argmax()), needed.shape))
    raise PlanningError(
        f"the motion needs {tau[row, place]:.6g} at {limits.name(place)!r} of {tree.name} at t = {t[row]:.6g} s, where "
        "there is no drive: fix the base (`floating_base=False`), add what holds it as a constraint, or name the joint "
        "among the drives with `variants.with_actuated(...)`")


def checked_configuration(value: ArrayLike, what: str, n: int | None = None) -> Array:
    """Finite numbers (n), or an error that says which are not."""
    q = numbers(value, f"the numbers of {what}")
    if q.ndim != 1 or q.size == 0 or (n is not None and len(q) != n):
        raise SignatureError(f"{what} is ({'n' if n is None else n}); given was the shape {q.shape}")
    if not np.isfinite(q).all():
        raise PlanningError(f"{what} [{int((~np.isfinite(q)).argmax())}] is not a finite number")
    return q
