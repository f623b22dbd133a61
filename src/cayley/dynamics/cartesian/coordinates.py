"""What Cartesian-space dynamics are written in: the rows of a frame's motion that a task asks for, and their Jacobians.

    geometric    x' = (v; w), the twist of a frame in the root's axes: there is no x whose rate w is
    analytic     x = (position; parameters of the orientation), x' = dx/dt; singular where the parameters are
x' = J qd, x'' = J qdd + J' qd. Source: Balafoutis & Patel (7.4.1), (7.4.6), (7.4.7), spec R9.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.errors import ConventionError
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.analytic import (
    analytic_jacobian,
    analytic_jacobian_rate,
    analytic_jacobian_second_rate,
    check_orientation,
)
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, jacobian_rate, jacobian_second_rate
from cayley.kinematics.orientation import orientation as orientation_named
from cayley.model.tree import Tree


class Jacobians(NamedTuple):
    """J, J' and J'' (m, nv)."""

    J: Array
    dJ: Array
    ddJ: Array


@dataclass(frozen=True)
class CartesianCoordinates:
    """The rows of a frame's motion. `orientation` None: geometric; a name of `kinematics.orientation`: analytic.

    `task`: "pose", "position", "orientation", or six truth values for (x, y, z; x, y, z).

    >>> from cayley.model.catalogue import load_robot
    >>> plane = (True, True, False, False, False, False)
    >>> CartesianCoordinates(load_robot("planar2r"), "tool", task=plane).size
    2
    """

    tree: Tree
    frame: str
    orientation: str | None = None
    task: str | Sequence[bool] = "pose"

    def __post_init__(self) -> None:
        self.tree.frame(self.frame)
        if self.orientation is not None and orientation_named(self.orientation).size != 3:
            raise ConventionError(
                f"{self.orientation!r} has four parameters, which are not independent: take three angles, a rotation "
                "vector or a vector-parameter")

    @cached_property
    def rows(self) -> tuple[int, ...]:
        return tuple(k for k, asked in enumerate(Task.of(self.tree, self.task, "world").rows) if asked)

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def is_geometric(self) -> bool:
        """Whether rows are of the twist: some turn, and no parameters of the orientation stand for it."""
        return self.orientation is None and any(k > 2 for k in self.rows)

    def jacobian(self, q: Array) -> Array:
        """J (m, nv)."""
        self._check(q)
        if self.orientation is None:
            return general_jacobian(self.tree, q, self.frame, axes="world")[list(self.rows)]
        return analytic_jacobian(self.tree, q, self.frame, orientation=self.orientation,
                                 relative_to="world")[list(self.rows)]

    def jacobian_rate(self, q: Array, qd: Array) -> Array:
        """J' (m, nv)."""
        self._check(q)
        if self.orientation is None:
            return jacobian_rate(self.tree, q, qd, self.frame, axes="world")[list(self.rows)]
        return analytic_jacobian_rate(self.tree, q, qd, self.frame, orientation=self.orientation,
                                      relative_to="world")[list(self.rows)]

    def jacobian_second_rate(self, q: Array, qd: Array, qdd: Array) -> Array:
        """J'' (m, nv)."""
        self._check(q)
        if self.orientation is None:
            return jacobian_second_rate(self.tree, q, qd, qdd, self.frame, axes="world")[list(self.rows)]
        return analytic_jacobian_second_rate(self.tree, q, qd, qdd, self.frame, orientation=self.orientation,
                                             relative_to="world")[list(self.rows)]

    @cached_property
    def jacobians(self) -> Kernel[Jacobians]:
        """`jacobians(q, qd, qdd)`: J, J' and J''. `SingularityError` where the parameters of the orientation are
        singular.
        """
        def jacobians(q: Array, qd: Array, qdd: Array) -> Jacobians:
            return Jacobians(self.jacobian(q), self.jacobian_rate(q, qd), self.jacobian_second_rate(q, qd, qdd))

        m = self.size
        return kernel(sized(self.tree, f"(q),(v),(v)->({m},v),({m},v),({m},v)"), outputs=Jacobians._fields,
                      check=self._singular_orientation)(jacobians)

    @cached_property
    def _singular_orientation(self) -> Callable[..., None] | None:
        if self.orientation is None:
            return None
        return check_orientation(self.tree, self.frame, orientation=self.orientation, relative_to="world")

    def _check(self, q: Array) -> None:
        """Of numbers, that the parameters of the orientation are not singular; kernels have a check of their own."""
        if self._singular_orientation is not None and np.asarray(q).dtype != object:
            self._singular_orientation(np.asarray(q))
