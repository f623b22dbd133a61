"""The states that a system can reach under constraints on velocities: the brackets of the directions that they allow.

    D1 = the directions allowed,   D(k+1) = Dk + [D1, Dk]
The ranks of D1, D2, ... are the growth. It ends with the dimension of what can be reached: with n the system gets
everywhere (a unicycle: 2, 3); otherwise n less that rank combinations of the constraints are integrable, and keep to
level surfaces. Ranks are those at configurations that have nothing special about them. In velocities v(q) of any joints
the bracket is [x, y] = Dy x - Dx y - N(x) y, N being how small changes of a motion turn with it. Source: Mladenova
(223), 7.5; Chow's theorem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.mechanics.constrained import basis_of_coordinates
from cayley.dynamics.nonholonomic.moving_frame import MovingFrame
from cayley.dynamics.open_tree import TreeConfigurations
from cayley.errors import UnsupportedError
from cayley.geometry.vector_fields.distributions import growth
from cayley.geometry.vector_fields.fields import Fields, nearby
from cayley.geometry.vector_fields.generated_algebra import generated_algebra
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.space import ConstraintSpace
from cayley.kinematics.constraints.structure import constraint_structure, generic_configurations
from cayley.model.tree import Tree
from cayley.showing import brief

_BESIDE = 6  # configurations at which it is looked beside those given


@dataclass(frozen=True)
class Accessibility:
    """The dimensions that brackets of the allowed motions reach."""

    velocities: int
    growth: tuple[int, ...]
    """The ranks of the directions allowed, of these with their brackets, and so on until nothing is new."""
    positions: int
    """The number of constraints on positions, and so of dimensions that are out of reach anyway."""

    __repr__ = brief

    @property
    def reached(self) -> int:
        """The dimension of what can be reached."""
        return self.growth[-1]

    @property
    def integrable(self) -> int:
        """The number of independent combinations of the constraints on velocities that are rates of functions of
        positions."""
        return self.velocities - self.positions - self.reached

    @property
    def accessible(self) -> bool:
        """True if all that the constraints on positions leave can be reached."""
        return self.integrable == 0

    def __str__(self) -> str:
        steps = ", ".join(map(str, self.growth))
        held = f", {self.integrable} constraints on velocities are integrable" if self.integrable else ""
        return f"brackets reach {self.reached} of {self.velocities - self.positions} dimensions (growth {steps}){held}"


def accessibility(tree: Tree) -> Accessibility:
    """The accessibility of a mechanism with constraints, at configurations that are not special; found once.

    >>> from cayley.model.catalogue import load_robot
    >>> print(accessibility(load_robot("four_bar")))
    brackets reach 1 of 1 dimensions (growth 1)
    """
    return kept(tree, "accessibility", lambda: _of_tree(tree))


def _of_tree(tree: Tree) -> Accessibility:
    if tree.is_timed:
        raise UnsupportedError(f"a constraint of {tree.name} depends on time: brackets are of constraints that do not")
    structure = constraint_structure(tree)
    if not structure.by_structure:
        raise UnsupportedError(
            f"the constraints of {tree.name} are redundant in a way that changes with its configuration: there are no "
            "rows of them whose brackets could be looked at")
    manifold = TreeConfigurations(tree)
    generic = generic_configurations(tree)

    def basis(q: Array) -> Array:
        return ConstraintSpace.of(tree, q).followers(structure.independent).N

    samples = np.array([each.q for each in generic])
    fields = Fields(tree.nq, tree.nv, basis, structure.mobility, manifold.rate, manifold.perturbation_rate)
    held = int(constraints.hold_positions(tree)[list(structure.used)].sum())
    return Accessibility(tree.nv, growth(fields, samples, tree.nv - held, least_singular(tree.nv)), held)


def accessibility_of_frame(frame: MovingFrame, samples: ArrayLike) -> Accessibility:
    """The accessibility of what a frame allows, at configurations (..., n). Where all of these are special, so that
    brackets are zero there which are not beside them, the growth is that at them, by deeper brackets (2, 2, 3 of dz -
    y^2 dx at y = 0), and if these do not bring it about in 2 n + 2 steps, that beside them.

    >>> from cayley.dynamics.nonholonomic.moving_frame import completed_frame
    >>> unicycle = completed_frame(lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]], at=[0.0, 0.0, 0.3])
    >>> accessibility_of_frame(unicycle, [[0.1, 0.2, 0.4]]).growth
    (2, 3)
    """
    at = np.asarray(samples, dtype=float)
    n = at.shape[-1]
    at = at.reshape(-1, n)
    m = n - frame.count(at[0])
    from scipy.linalg import qr  # with pivots
    best = max(at, key=lambda q: np.linalg.svd(np.asarray(frame.matrix(q), dtype=float), compute_uv=False).min())
    free = qr(np.asarray(frame.matrix(best), dtype=float)[m:], pivoting=True, mode="r")[1][n - m:].tolist()
    fields = Fields(n, n, lambda q: basis_of_coordinates(frame.matrix(q)[m:], np.zeros(n - m), sorted(free))[0], m)
    least = least_singular(n)
    here, near = (growth(fields, where, n, least) for where in (at, np.concatenate([at, nearby(at, _BESIDE)])))
    if here[-1] < near[-1]:
        deeper = generated_algebra(fields, at, (), least, None).growth.max(axis=-1)
        here = tuple(int(rank) for rank in deeper) if deeper[-1] == near[-1] else near
    return Accessibility(n, here, 0)

