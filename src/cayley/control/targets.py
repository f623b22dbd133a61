"""Targets of laws: a configuration of the joints or the pose of a frame, at rest or along a planned motion.

Both are given by configurations, so that one motion of the joints is a target for any law; the target of a frame is
where that motion brings it. Laws of elastic drives also ask for the jerk and the snap, its derivative by the time on
the graph of the motion's text. Where the jerk jumps there is none: use smooth motions for elastic drives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, Scalar
from cayley.control.arms import ArmLike, tree_of
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.task_space.task_error import FrameTask
from cayley.dynamics.elastic_drives.motor_motion import MotorMotion, motor_motion_kernel
from cayley.errors import SignatureError, UnsupportedError
from cayley.kinematics.forward import frame_pose
from cayley.model.configuration_space import configuration_difference
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.systems import Port, Record, State, System

_ROWS = (("x", "m"), ("y", "m"), ("z", "m"), ("about x", "rad"), ("about y", "rad"), ("about z", "rad"))


def check_gives_forces(law: System) -> None:
    """Refuse a law that gives out something else."""
    if "tau" not in law.outputs:
        raise UnsupportedError(f"{law.name} gives out {', '.join(law.outputs)}, not joint forces `tau`: connect it "
                               f"with a system that outputs them")


class Aim(ABC):
    """Base class of the kinds of targets."""

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
        """The rate (m, nv) at which errors fall by the velocities; a text."""

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
    """A configuration of the joints. Of a mechanism with constraints the errors are those of its drives."""

    tree: Tree

    names = ("target", "target_qd", "target_qdd")
    what = "joints"

    @cached_property
    def drives(self) -> DriveDynamics:
        return DriveDynamics.of(self.tree, "a target of joints")

    @property
    def labels(self) -> list[tuple[str, str]]:
        names = velocity_labels(self.tree)
        return [names[k] for k in self.drives.leading]

    def targets(self, q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
        return dict(zip(self.names, (q, qd, qdd), strict=True))

    def lacking(self, q: Array, goal: Array) -> Array:
        return self.drives.picked(configuration_difference(self.tree, q, goal))

    def jacobian(self, q: Array) -> Array:
        return np.eye(self.tree.nv)[list(self.drives.leading)]


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


_RATES = ("", "_qd", "_qdd", "_jerk", "_snap")


def up_to_snap(move: Motion, t: Scalar) -> list[Array]:
    """Position, velocity, acceleration, jerk and snap (nq) at a time, which is a symbol of a traced function."""
    if move.attitudes:
        raise UnsupportedError("the snap is that of coordinates that are vectors; this motion has unit quaternions")
    at = independent(t)
    found = [symbols(x) for x in move.derivatives(at)]
    return [*found, slope_along(found[3], np.array([at], dtype=object), np.ones(1))]


def motion_target(move: Motion, name: str = "target") -> System:
    """A system whose outputs are a motion and its first four derivatives: `target`, `target_qd`, `target_qdd`,
    `target_jerk` and `target_snap`, to be connected with a law. Another name renames them all.

    >>> from cayley.planning import FunctionOfTime
    >>> motion_target(FunctionOfTime(lambda t: np.stack([np.sin(t)])))
    <system target: outputs target, target_qd, target_qdd, target_jerk, target_snap>
    """
    names = [name + rate for rate in _RATES]
    return System(name, outputs=dict.fromkeys(names, move.nq), timed=True,
                  output=lambda t, x, u, p: dict(zip(names, up_to_snap(move, t), strict=True)))


def motor_motion_along(arm: ArmLike, move: Motion) -> Kernel[MotorMotion]:
    """`motor_motion(t)`: configuration, velocity, acceleration and forces of an arm with elastic drives, its motors
    among them, along a motion of its joints."""
    tree = tree_of(arm)
    motors = motor_motion_kernel(tree)
    if move.nq != motors.signature.inputs[0][0]:
        raise SignatureError(f"a motion of {move.nq} coordinates does not fit {tree.name}, which has "
                             f"{motors.signature.inputs[0][0]} joints besides its motors")

    def motor_motion(t: Scalar) -> MotorMotion:
        return motors(*up_to_snap(move, t))

    size = tree.nv
    return kernel(f"()->({size}),({size}),({size}),({size})", outputs=MotorMotion._fields)(motor_motion)
