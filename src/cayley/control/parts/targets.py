"""What a law is given to aim at: a configuration of the joints, or the place of a frame; at rest, or moving.

Both are said by configurations, so that one motion of the joints is a target for any law; a frame's is where they bring
it. The ports that a law may have are `target`, `target_qd` and `target_qdd` of joints, and `target`, `target_rate` and
`target_acceleration` of frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, Scalar
from cayley.control.task_space.task_error import FrameTask
from cayley.errors import UnsupportedError
from cayley.kinematics.forward import frame_pose
from cayley.model.configuration_space import configuration_difference
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.systems.layout import State
from cayley.systems.ports import Port
from cayley.systems.record import Record
from cayley.systems.system import System

_ROWS = (("x", "m"), ("y", "m"), ("z", "m"), ("about x", "rad"), ("about y", "rad"), ("about z", "rad"))


def check_gives_forces(law: System) -> None:
    """Refuse a law that gives out something else."""
    if "tau" not in law.outputs:
        raise UnsupportedError(f"{law.name} gives out {', '.join(law.outputs)}, not joint forces `tau`: connect it "
                               "with what makes forces of it")


class Aim(ABC):
    """What a kind of target is."""

    tree: Tree

    @property
    @abstractmethod
    def labels(self) -> list[tuple[str, str]]:
        """Names and units of the errors (m)."""

    @abstractmethod
    def targets(self, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
        """The values of all ports of a target that moves; a text."""

    @abstractmethod
    def lacking(self, q: Array, goal: Array) -> Array:
        """The error (m) of one configuration beside another; a text."""

    @abstractmethod
    def jacobian(self, q: Array) -> Array:
        """How fast errors fall (m, nv) by the velocities; a text."""

    @cached_property
    def error(self) -> Kernel:
        """`error(q, goal)` (..., m)."""
        size = self.tree.nq
        return kernel(f"({size}),({size})->({len(self.labels)})", name="error")(self.lacking)

    def ports(self, law: System) -> dict[str, Port]:
        """The targets that a law takes; one that asks for more than is aimed at is refused."""
        mine = self.names
        unknown = [name for name, port in law.ports.items()
                   if name not in ("q", "qd", *mine) and port.default is None]
        if unknown:
            raise UnsupportedError(f"{law.name} has an input {unknown[0]!r}, which is no target of {self.what}: "
                                   "connect what gives it by hand")
        return {name: port for name, port in law.ports.items() if name in mine}

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The ports, in the order of their derivatives."""

    @property
    @abstractmethod
    def what(self) -> str: ...

    def still(self, law: System, goal: Array) -> dict[str, Array]:
        """The inputs of a law for a target at rest."""
        rest = [0.0] * self.tree.nv
        text = kernel(f"({self.tree.nq})->" + ",".join(
            f"({','.join(map(str, port.shape))})" for port in self.ports(law).values()), name="targets")(
                lambda q: self._chosen(law, symbols(q), symbols(rest), symbols(rest)))
        found = text(goal)
        return dict(zip(self.ports(law), found if len(self.ports(law)) > 1 else (found,), strict=True))

    def moving(self, law: System, move: Motion) -> System:
        """The target along a motion of the joints, as a system."""
        def output(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
            q, qd, qdd, _ = (symbols(part) for part in move.derivatives(t))
            found = self._chosen(law, q, qd, qdd)
            return dict(zip(self.ports(law), found if isinstance(found, tuple) else (found,), strict=True))

        return System("target", outputs=self.ports(law), output=output, timed=True)

    def _chosen(self, law: System, q: Array, qd: Array, qdd: Array) -> tuple[Array, ...] | Array:
        found = self.targets(q, qd, qdd)
        chosen: Sequence[Array] = [found[name] for name in self.ports(law)]
        return tuple(chosen) if len(chosen) > 1 else chosen[0]


@dataclass(frozen=True, eq=False)
class JointAim(Aim):
    """A configuration of the joints."""

    tree: Tree

    names = ("target", "target_qd", "target_qdd")
    what = "joints"

    @property
    def labels(self) -> list[tuple[str, str]]:
        return velocity_labels(self.tree)

    def targets(self, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
        return dict(zip(self.names, (q, qd, qdd), strict=True))

    def lacking(self, q: Array, goal: Array) -> Array:
        return configuration_difference(self.tree, q, goal)

    def jacobian(self, q: Array) -> Array:
        return np.eye(self.tree.nv)


@dataclass(frozen=True, eq=False)
class FrameAim(Aim):
    """The place of a frame."""

    task: FrameTask

    names = ("target", "target_rate", "target_acceleration")

    @property
    def tree(self) -> Tree:  # type: ignore[override]
        return self.task.tree

    @property
    def what(self) -> str:
        return f"the frame {self.task.frame!r}"

    @property
    def labels(self) -> list[tuple[str, str]]:
        return [_ROWS[row] for row in self.task.rows]

    def targets(self, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
        place = frame_pose(self.tree, q, self.task.frame)
        J = self.task.jacobian(q)
        return {"target": place.matrix if self.task.turns else place.p, "target_rate": J @ qd,
                "target_acceleration": J @ qdd + self.task.bias(q, qd)}

    def lacking(self, q: Array, goal: Array) -> Array:
        place = frame_pose(self.tree, goal, self.task.frame)
        return self.task.error(q, place.matrix if self.task.turns else place.p)

    def jacobian(self, q: Array) -> Array:
        return self.task.jacobian(q)
