"""An arm made ready for a closed form: a standard table, with what is constant at its ends taken off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError
from cayley.geometry.pose import Pose
from cayley.model.denavit_hartenberg.table import DHTable, convert_dh, standard_dh_pose

FLAT = 1e-12  # sines and relative lengths below this are zero in a description of an arm


@dataclass(frozen=True, eq=False)
class Arm:
    """A table made ready: standard, with the constants of a last revolute row moved to the tool."""

    table: DHTable
    offsets: Array
    turns: Array
    size: float

    @staticmethod
    def of(table: DHTable, joints: str) -> Arm:
        """`joints` are the kinds wanted, such as "RRPR"."""
        table = convert_dh(table, convention="standard")
        if kinds_of(table) != joints:
            raise ModelError(f"this solution is for an arm with the joints {joints}, not {kinds_of(table)}")
        last = table.rows[-1]
        fixed = standard_dh_pose(0.0, last.d, last.a, last.alpha)
        table = replace(table, rows=(*table.rows[:-1], replace(last, d=0.0, a=0.0, alpha=0.0)), tool=fixed @ table.tool)
        turns = np.array([row.kind == "revolute" for row in table.rows])
        offsets = np.array([row.theta if row.kind == "revolute" else row.d for row in table.rows])
        lengths = sum(abs(row.a) + abs(row.d) for row in table.rows)
        return Arm(table, offsets, turns, lengths or 1.0)  # a slide between axes that meet has no length: metres, then

    def column(self, name: str) -> Array:
        return np.array([getattr(row, name) for row in self.table.rows])

    def moving(self, reference: ArrayLike | None) -> Array:
        """The moving numbers at the reference, zero joint coordinates if it is None."""
        q = np.zeros(len(self.offsets)) if reference is None else np.asarray(reference, dtype=np.float64)
        if q.shape != self.offsets.shape:
            raise ModelError(f"the reference must have the shape {self.offsets.shape}, not {q.shape}")
        return self.offsets + q

    def row(self, number: int, moving: Scalar) -> Pose:
        """A_i at its moving number, the rows counted from 0."""
        row = self.table.rows[number]
        theta, d = (moving, row.d) if self.turns[number] else (row.theta, moving)
        ct = np.cos(theta)
        st = np.sin(theta)
        ca = np.cos(row.alpha)
        sa = np.sin(row.alpha)
        R = np.array([[ct, -ca * st, sa * st], [st, ca * ct, -sa * ct], [0.0 * ct, sa, ca]])
        return Pose(R, np.array([row.a * ct, row.a * st, d]))

    def inner(self, target: Array) -> Pose:
        """The pose of the last frame in frame 0, where the tool is to be at `target` (4, 4)."""
        before, after = self._ends
        return before.then(Pose.of(target)).then(after)

    @cached_property
    def _ends(self) -> tuple[Pose, Pose]:
        return Pose.of(self.table.base).inverse, Pose.of(self.table.tool).inverse

    def require(self, zero: Mapping[str, Any], family: str) -> None:
        """Refuse an arm in which one of the named values, sines or lengths, is not zero."""
        for name, value in zero.items():
            if not abs(value) <= FLAT * max(1.0, self.size):
                raise ModelError(f"this is no {family}: {name} should be zero, and is {value:.3g}")


def kinds_of(table: DHTable) -> str:
    """The joints of a table as letters, such as "RRPR"."""
    return "".join(row.kind[0].upper() for row in table.rows)


def check_target(target: ArrayLike) -> Array:
    """A pose (4, 4) whose rotation is one to 1e-8."""
    target = np.asarray(target, dtype=np.float64)
    if target.shape != (4, 4) or not np.isfinite(target).all():
        raise ModelError(f"the target is one finite pose (4, 4), not an array of the shape {target.shape}")
    defect = float(rotation_defect(target))
    if defect > 1e-8 or np.linalg.det(target[:3, :3]) < 0 or np.any(target[3] != (0, 0, 0, 1)):
        raise ModelError(
            f"the target is not a pose: its rotation is {defect:.2g} from orthonormal, or the last row is not 0 0 0 1")
    return target


def rotation_defect(target: Array) -> Scalar:
    """How far the rotations of poses (..., 4, 4) are from orthonormal (...)."""
    R = target[..., :3, :3]
    return np.abs(np.swapaxes(R, -2, -1) @ R - np.eye(3)).max(axis=(-2, -1))


def wrap(angle: ArrayLike) -> Array:
    """Into (-pi, pi]."""
    return np.pi - np.mod(np.pi - np.asarray(angle), 2 * np.pi)
