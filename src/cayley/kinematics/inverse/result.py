"""What a search for a configuration gives back. One type for one pose and for a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, Scalar

WITHIN_TOLERANCE, LOCAL_MINIMUM, ITERATION_LIMIT, BEYOND_REACH = range(4)
REASONS = np.array(["within tolerance", "local minimum", "iteration limit", "beyond the reach of the chain"])
_STATUS = np.array(["solved", "not found", "not found", "unreachable"])


@dataclass(frozen=True, eq=False)
class InverseKinematicsResult(HoldsFunctions):
    """The configuration found, how well it does, and why the search ended. Every field has the batch axes of the
    targets.

    The residuals are those of `q` itself, computed anew: `residual` is the norm of all asked rows, metres and radians
    together. What is not solved is the best of all attempts, never a success.
    """

    q: Array  # (..., nq)
    solved: Scalar  # truth values (...)
    position_error: Scalar  # [m] (...), zero where no position is asked
    angle_error: Scalar  # [rad] (...), zero where no orientation is asked
    residual: Scalar  # (...)
    opening: Scalar  # of loops and other constraints, part of the residual; zero where there are none (...)
    iterations: Scalar  # of the attempt that gave q (...)
    restarts: Scalar  # number of that attempt: 0 is the first start (...)
    length: float  # [m]; in which lengths are measured for `singular_values`
    _reason: Scalar = field(repr=False)
    _limits: Callable[[Array], Array] = field(repr=False)
    _jacobian: Callable[[], Array] = field(repr=False)
    _is_free: bool = field(default=True, repr=False)

    @property
    def status(self) -> str | Array:
        """"solved"; "unreachable", where the target is provably too far; "not found" otherwise (it may be unreachable
        all the same).
        """
        return _words(_STATUS, self._reason)

    @property
    def reason(self) -> str | Array:
        """Why the search stopped: "within tolerance", "local minimum" (of every attempt), "iteration limit" (of at
        least one attempt), or "beyond the reach of the chain"."""
        return _words(REASONS, self._reason)

    @cached_property
    def limits_hit(self) -> Array:
        """Which coordinates are at a limit, to 1e-9 (..., nq)."""
        return self._limits(self.q)

    @cached_property
    def singular_values(self) -> Array:
        """Of the task's Jacobian at q (..., min(rows, nv)), largest first, with lengths measured in `length`: they have
        no unit. Under constraints, of its action on the velocities that they allow.
        """
        return np.linalg.svd(self._jacobian(), compute_uv=False)

    @property
    def smallest_singular_value(self) -> Array:
        """How far q is from a singular configuration (...)."""
        return self.singular_values[..., -1]

    @cached_property
    def branch(self) -> Scalar:
        """The sign of the determinant of the task's Jacobian (...): a singular configuration lies between solutions of
        different signs. Zero where the Jacobian is not square, and of mechanisms with constraints, whose allowed
        velocities have no order."""
        J = self._jacobian()
        is_square = J.shape[-2] == J.shape[-1] and self._is_free
        return np.sign(np.linalg.det(J)) if is_square else np.zeros(J.shape[:-2])

    def __getitem__(self,
                    index: int | slice | list[int] | Array
                    | tuple[int | slice | Array, ...]) -> InverseKinematicsResult:
        """The result of one or some of the batch."""
        arrays = ("q", "solved", "position_error", "angle_error", "residual", "opening", "iterations", "restarts",
                  "_reason")
        return replace(self, **{name: getattr(self, name)[index]
                                for name in arrays}, _jacobian=lambda: self._jacobian()[index])

    def __repr__(self) -> str:
        if np.ndim(self.solved):
            return f"<inverse kinematics: {np.count_nonzero(self.solved)} of {np.size(self.solved)} solved>"
        q = np.array2string(self.q, precision=6)
        return f"<inverse kinematics: {self.status} ({self.reason}), residual {self.residual:.1e}, q = {q}>"


def _words(words: Array, codes: Array) -> str | Array:
    return str(words[codes]) if np.ndim(codes) == 0 else words[codes]
