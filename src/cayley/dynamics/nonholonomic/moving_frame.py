"""A moving frame: pseudo-velocities, the directions that they measure, and how these fail to commute.

    pid = A(q) qd          n independent forms; the last of them are the constraints, zero in every motion
    B = A^-1               column k is the direction Pi_k, of the motion in which pid_k alone is one
    gamma_kij              [Pi_k, Pi_j] = sum_i gamma_kij Pi_i
    gamma_kij = sum_sl b_sk b_lj (d a_is / d q_l - d a_il / d q_s)
Constraints are integrable if gamma_kij = 0 for all constraints i and all directions k, j that they allow. Where the
forms depend on each other there is no frame: NaN, and `SingularityError` for one configuration. Source: Mladenova
(214)-(223), (231), corrected as in spec E-41d."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.identification.structure import independent_columns
from cayley.errors import ConventionError, SingularityError, shown
from cayley.geometry.vector_fields.fields import nearby

_BESIDE = 8  # configurations at which it is looked beside those given
_WELL = 10.0  # by how much directions may be longer than at the best of them

Rows = Iterable[Iterable[Scalar]]
Forms = Callable[[Array], Rows]


@dataclass(frozen=True, eq=False)
class MovingFrame(HoldsFunctions):
    """Pseudo-velocities A1(q) qd (m) and constraints A2(q) qd (r), which are zero in every motion, n together.

    >>> disc = MovingFrame(lambda q: [[0, 0, 1, 0], [0, 0, 0, 1]],
    ...                    lambda q: [[1, 0, 0, -0.25 * np.cos(q[2])], [0, 1, 0, -0.25 * np.sin(q[2])]])
    >>> disc.structure_coefficients([0.0, 0.0, np.pi / 2, 0.0])[:, 2].round(12)[:2, :2] + 0.0
    array([[ 0.  , -0.25],
           [ 0.25,  0.  ]])
    """

    free: Forms
    constraints: Forms
    name: str = "frame"

    def matrix(self, q: Array) -> Array:
        """A (n, n): the text."""
        given = [*self.free(q), *self.constraints(q)]
        try:
            entries = [list(row) for row in given]
        except TypeError:
            raise ConventionError(f"the forms of {self.name} are rows of {len(q)} entries, one list a row, as [[...], "
                                  "[...]]; one of them is a number") from None
        rows = [np.stack([np.asarray(entry) for entry in row]) for row in entries]
        if len(rows) != len(q) or any(row.shape != (len(q),) for row in rows):
            raise ConventionError(
                f"{self.name} has {len(rows)} forms, of {sorted({len(row) for row in rows})} velocities, for {len(q)} "
                "coordinates: constraints and pseudo-velocities together are as many as coordinates")
        return wrapped(np.stack(rows))

    def count(self, q: Array) -> int:
        """r, how many constraints there are."""
        return len(list(self.constraints(q)))

    def inverse(self, q: Array) -> Array:
        """B (n, n), the directions as columns: the text."""
        A = self.matrix(q)
        try:
            B = np.linalg.solve(A, np.eye(len(A)))
        except (np.linalg.LinAlgError, SingularityError):
            raise SingularityError(f"the forms of {self.name} depend on each other at every configuration: constraints "
                                   "that are redundant, or pseudo-velocities that they, or others, determine already"
                                   ) from None
        return only_where(is_definite(A @ A.T), B)

    def coefficients(self, q: Array) -> Array:
        """gamma (n, n, n), in the order k, i, j: the text."""
        A = self.matrix(q)
        B = self.inverse(q)
        by_q = jacobian(A, q)  # i, s, l
        return np.stack([B.T @ (slopes - slopes.T) @ B for slopes in by_q], axis=1)

    @cached_property
    def pseudo_velocities(self) -> Kernel:
        """`(q, qd)` -> pid (..., n)."""
        return self._kernel("(n),(n)->(n)", lambda q, qd: self.matrix(q) @ qd, "pseudo_velocities", ("q", "qd"))

    @cached_property
    def directions(self) -> Kernel:
        """`(q)` -> B (..., n, n): column k is Pi_k."""
        return self._kernel("(n)->(n,n)", self.inverse, "directions", ("q",))

    @cached_property
    def structure_coefficients(self) -> Kernel:
        """`(q)` -> gamma (..., n, n, n), in the order k, i, j."""
        return self._kernel("(n)->(n,n,n)", self.coefficients, "structure_coefficients", ("q",))

    @cached_property
    def brackets(self) -> Kernel:
        """`(q)` -> [Pi_k, Pi_j] (..., n, n, n), in the order k, j, component: the directions differentiated."""
        def text(q: Array) -> Array:
            B = self.inverse(q)
            along = jacobian(B, q) @ B  # s, j, k: of Pi_j along Pi_k
            return np.transpose(along, (2, 1, 0)) - np.transpose(along, (1, 2, 0))

        return self._kernel("(n)->(n,n,n)", text, "brackets", ("q",))

    def is_holonomic(self, q: ArrayLike, *, tolerance: float = 1e-9) -> bool:
        """True if the constraints are integrable near configurations (..., n): none of the brackets of what they allow
        has a part along a constraint, beyond `tolerance`, there or beside them: at a special configuration, as y = 0 of
        dz - y^2 dx, all may be zero.

        >>> circle = MovingFrame(lambda q: [[-q[1], q[0]]], lambda q: [[q[0], q[1]]])
        >>> circle.is_holonomic([0.6, 0.8])
        True
        """
        gamma = np.asarray(self.structure_coefficients(q))
        n = gamma.shape[-1]
        near = nearby(np.asarray(q, dtype=float), _BESIDE)
        sizes = np.abs(self.directions(near)).max(axis=(-2, -1), initial=0.0)
        well = near[sizes <= _WELL * min(sizes[np.isfinite(sizes)], default=0.0)]  # far from where there is no frame
        beside = np.asarray(self.structure_coefficients(well))
        free = n - self.count(np.zeros(n))
        return all((np.abs(one[:free, free:, :free]) <= tolerance * (1 + np.abs(one).max(initial=0.0))).all()
                   for one in (*gamma.reshape(-1, n, n, n), *beside))

    def _kernel(self, signature: str, text: Callable[..., Array], name: str, inputs: tuple[str, ...]) -> Kernel:
        return kernel(signature, name=name, inputs=inputs, explain=self.explain)(text)

    def explain(self, *state: Array) -> None:
        raise SingularityError(
            f"the forms of {self.name} depend on each other at this configuration: constraints that are redundant, or "
            "pseudo-velocities that they determine already")


def completed_frame(constraints: Forms, at: ArrayLike, name: str = "frame") -> MovingFrame:
    """The frame of constraints A2(q) (r, n) and of rates of coordinates, such as is regular at a configuration `at`
    (n): of rows that depend on each other some are left out, and the first coordinates are taken from which the others
    follow. A configuration at which they say less than beside it, as where a row is zero, has none: `SingularityError`.

    >>> skate = completed_frame(lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]], at=[0.0, 0.0, 0.3])
    >>> skate.directions([0.0, 0.0, 0.0]).round(12)[:, 0] + 0.0
    array([1., 0., 0.])
    """
    q = np.asarray(at, dtype=float)
    rows, *beside = (_rows(constraints, each, name) for each in (q, *nearby(q, _BESIDE)))
    kept = _first_independent(rows)
    most = max((len(_first_independent(each)) for each in beside if np.isfinite(each).all()), default=0)
    if len(kept) < most:
        raise SingularityError(f"the constraints of {name} have the rank {len(kept)} at the configuration "
                               f"{shown(q.tolist())}, and {most} beside it: complete the frame elsewhere")
    followers = _first_independent(rows[kept].T[::-1])
    others = [len(q) - 1 - k for k in followers]
    independent = [k for k in range(len(q)) if k not in others]

    def chosen(q: Array) -> Rows:
        given = list(constraints(q))
        return [given[k] for k in kept]

    return MovingFrame(lambda q: np.eye(len(q))[independent], chosen, name)


def _rows(constraints: Forms, q: Array, name: str) -> Array:
    rows = [np.atleast_1d(np.asarray(row, dtype=float)) for row in constraints(q)]
    wrong = [row.shape for row in rows if row.shape != (len(q),)]
    if wrong:
        raise ConventionError(f"the constraints of {name} are rows of {len(q)} numbers, one list a row, as [[...], "
                              f"[...]]; one of them has the shape {wrong[0]}")
    return np.array(rows).reshape(-1, len(q))


def _first_independent(rows: Array) -> list[int]:
    """The places of the first rows that do not depend on those before."""
    return np.flatnonzero(independent_columns(rows.T, tolerance=least_singular(rows.shape[1]))).tolist()
