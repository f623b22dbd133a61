"""A task: the rows of a motion that a whole-body controller is to bring about, what they should do, and how much.

    r = J qd,  r' = J qdd + drift      the m rows of the motion, e what is missing to the target: e' = rate - r nearby
    velocities      r  = rate + gain e                                                     e' + gain e = 0
    accelerations   r' = acceleration + 2 ratio gain (rate - J qd) + gain^2 e     e'' + 2 ratio gain e' + gain^2 e = 0
One gain [1/s] is meant at both levels: errors decay as exp(-gain t), without overshoot where the damping ratio is 1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.control.arms import numbers_of, positive_gains_of
from cayley.errors import SignatureError, shown
from cayley.model.tree import Tree
from cayley.showing import brief
from cayley.systems import Port, Record


@dataclass(frozen=True, eq=False, kw_only=True)
class ControlTask(ABC):
    """Base class of the kinds of tasks.

    `gain` [1/s] and `weight`, of the squared error, are numbers or one for each row; the weight of metres beside
    radians is theirs to say. Tasks of a higher `priority` are not disturbed by those of a lower one: 0 is the highest.
    A `target` that is not given is an input `target_<name>`; the inputs `rate_<name>` and `acceleration_<name>` of the
    rows are zero where nothing drives them. The `name` is that of the frame, or of the kind of task."""

    gain: ArrayLike = 10.0
    weight: ArrayLike = 1.0
    priority: int = 0
    damping_ratio: float = 1.0
    target: ArrayLike | None = None
    name: str = ""

    word: ClassVar[str]

    __repr__ = brief

    @property
    def subject(self) -> str:
        """The subject of the task, by which it is named if no name is given."""
        return self.word

    @property
    def label(self) -> str:
        """The name, as a part of the names of ports."""
        return "".join(c if c.isalnum() else "_" for c in self.name or self.subject)

    @abstractmethod
    def rows(self, tree: Tree) -> tuple[str, ...]:
        """The words of the m rows; an error tells if the mechanism has no such task."""

    @abstractmethod
    def shape(self, tree: Tree) -> tuple[int, ...] | None:
        """The shape of the target; None if there is none."""

    @abstractmethod
    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        """e (m); a text."""

    @abstractmethod
    def jacobian(self, tree: Tree, q: Array, target: Array) -> Array:
        """J (m, nv); a text."""

    @abstractmethod
    def drift(self, tree: Tree, q: Array, qd: Array, target: Array) -> Array:
        """r' (m) without accelerations; a text."""

    # What all kinds have in common

    def checked_target(self, tree: Tree) -> Array | None:
        """The target in numbers, or None where it is an input or there is none."""
        shape = self.shape(tree)
        if self.target is None:
            return None
        given = numbers_of(self.target, f"the target of the task {self.label!r}")
        if shape is None or given.shape != shape or not np.isfinite(given).all():
            wanted = "takes no target" if shape is None else f"has a target of finite numbers of the shape {shape}"
            raise SignatureError(f"the task {self.label!r} {wanted}, not {shown(self.target)}")
        return given

    def ports(self, tree: Tree, *, accelerates: bool) -> dict[str, Port]:
        """The inputs of the controller for this task."""
        m, shape = len(self.rows(tree)), self.shape(tree)
        if shape is None:
            return {}
        moving = {f"rate_{self.label}": Port((m,), default=0.0)} | (
            {f"acceleration_{self.label}": Port((m,), default=0.0)} if accelerates else {})
        return ({f"target_{self.label}": Port(shape)} if self.target is None else {}) | moving

    def parameters(self, tree: Tree) -> dict[str, Array]:
        """Gain and weight of the rows, as parameters of the controller."""
        m = len(self.rows(tree))
        if not is_finite_number(self.damping_ratio) or self.damping_ratio < 0:
            raise SignatureError(f"the damping ratio of the task {self.label!r} is not negative, not "
                                 f"{shown(self.damping_ratio)}")
        if not isinstance(self.priority, int) or self.priority < 0:
            raise SignatureError(f"the priority of the task {self.label!r} is 0 for the highest, 1 for the next and so "
                                 f"on, not {shown(self.priority)}")
        return {f"{what}_{self.label}": positive_gains_of(values, m, f"{what} of the task {self.label!r}", zero=True)
                for what, values in (("gain", self.gain), ("weight", self.weight))}

    def aim(self, tree: Tree, u: Record) -> Array:
        """The target; a text."""
        if self.shape(tree) is None:
            return np.zeros(0)
        given = self.checked_target(tree)
        return u[f"target_{self.label}"] if given is None else given

    def velocity(self, tree: Tree, u: Record, p: Record) -> Array:
        """The velocity (m) that the rows should have; a text."""
        return self._given(tree, u, "rate") + p[f"gain_{self.label}"] * self.error(tree, u.q, self.aim(tree, u))

    def acceleration(self, tree: Tree, u: Record, p: Record, velocity: Array) -> Array:
        """The acceleration (m) that the rows should have where they move at a velocity (m); a text."""
        gain = p[f"gain_{self.label}"]
        towards = self._given(tree, u, "rate") - velocity
        return (self._given(tree, u, "acceleration") + 2.0 * self.damping_ratio * gain * towards
                + gain**2 * self.error(tree, u.q, self.aim(tree, u)))

    def _given(self, tree: Tree, u: Record, what: str) -> Array:
        port = f"{what}_{self.label}"
        return u[port] if port in u else np.zeros(len(self.rows(tree)))
