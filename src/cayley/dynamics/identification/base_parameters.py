"""Base parameters: the smallest set of combinations of the parameters that forces depend on.

    pi_base = G pi         Y_base = the kept columns of Y         Y pi = Y_base pi_base.
Numerically, from the regressor at random states, closed ones of a mechanism with constraints: a column that depends on
those before it is dropped, and its parameter regrouped with theirs. Structurally, without any state (`structure`): from
the tips inwards each link keeps what only it can have and hands the rest to its parent. Both keep the same parameters.
Source: Gautier, Numerical calculation of the base inertial parameters of robots, 1991; Gautier & Khalil 1990."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.algebras.protocol import package
from cayley.compiler.made_once import kept as kept_with
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.regressor import RegressorModel
from cayley.dynamics.identification.structure import (
    Hidden,
    Units,
    hidden_moments,
    independent_columns,
    moved_in,
    tidy,
    triangular,
    words,
)
from cayley.dynamics.rigid_links.links import ROOT, Link
from cayley.dynamics.rigid_links.moments import moved
from cayley.kinematics.constraints.rows import drift_kernel, jacobian_kernel
from cayley.kinematics.constraints.structure import constraint_structure, generic_configurations
from cayley.kinematics.frame_kernels import integrate_kernel
from cayley.kinematics.loops.closing import close
from cayley.model.configurations import random_configuration
from cayley.model.constraints import check_independent
from cayley.model.parts import Limits
from cayley.model.tree import Tree
from cayley.showing import brief

if TYPE_CHECKING:
    import sympy


_CHOICE = 4  # how many times as many closed configurations are looked at as are taken
_WALKS = 16  # at once, through closed configurations,
_REACH = 0.2  # by steps of this length [rad, or the mechanism's own unit of length]


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Kept columns (size) of a linear model and combinations G (b, size): base values are `G @ values`."""

    model: RegressorModel
    kept: Array  # bool
    combinations: Array

    __repr__ = brief

    @property
    def size(self) -> int:
        return len(self.combinations)

    @cached_property
    def expressions(self) -> tuple[str, ...]:
        """Each base parameter in words: "Jxx(link1) + Jyy(link1) + 0.19 m(link2)"."""
        return tuple(words(row, self.model.names) for row in self.combinations)

    @property
    def names(self) -> tuple[str, ...]:
        """The kept parameter by which each is called."""
        return tuple(name for name, kept in zip(self.model.names, self.kept, strict=True) if kept)

    @property
    def unfelt(self) -> tuple[str, ...]:
        """Parameters that no force depends on."""
        felt = np.abs(self.combinations).max(axis=0, initial=0.0) > 0
        return tuple(name for name, seen in zip(self.model.names, felt, strict=True) if not seen)

    def values(self, parameters: ArrayLike) -> Array:
        """Base values (..., b) of full parameters (..., size)."""
        return np.asarray(parameters, dtype=float) @ self.combinations.T

    def regressor(self, q: ArrayLike, qd: Array, qdd: Array) -> Array:
        """Y_base (..., nv, b)."""
        return self.model.regressor(q, qd, qdd)[..., self.kept]

    def __str__(self) -> str:
        lines = [f"{self.model.tree.name}: {self.size} base parameters of {self.model.size}"]
        return "\n".join([*lines, *[f"{k:4d}  {text}" for k, text in enumerate(self.expressions, 1)]])


def base_parameters(model: RegressorModel, *, seed: int = 0) -> BaseParameters:
    """Base parameters from the regressor at random states, beyond the limits of joints as well.

    >>> from cayley.dynamics.identification.regressor import linear_model
    >>> from cayley.model.catalogue import load_robot
    >>> print(base_parameters(linear_model(load_robot("planar2r"))))
    planar2r: 6 base parameters of 20
       1  ux(link1) + 0.5 m(link2)
       2  uy(link1)
       3  Jxx(link1) + Jyy(link1) + 0.25 m(link2)
       4  ux(link2)
       5  uy(link2)
       6  Jxx(link2) + Jyy(link2)
    """
    Y = random_regressor(model, seed=seed)
    compact = triangular(Y)
    kept = independent_columns(compact)
    shares = np.linalg.lstsq(compact[:, kept], compact[:, ~kept], rcond=None)[0]
    combinations = np.zeros((int(kept.sum()), model.size))
    combinations[:, kept] = np.eye(len(combinations))
    combinations[:, ~kept] = tidy(shares)
    return BaseParameters(model, kept, combinations * _own_units(model, kept))


def random_regressor(model: RegressorModel, *, seed: int = 0) -> Array:
    """The regressor at random states, one below the other, with twice as many rows as columns; in the mechanism's own
    units. Of a mechanism with constraints, N^T Y of its tree: whatever drives it, its motions feel no more."""
    units = Units.of(model.links)
    along = units.velocities(model.links)
    states = random_states(model, 4 + model.size // max(model.freedoms, 1), seed=seed)
    free = replace(model, tree=model.tree.spanning_tree())
    Y = free.regressor(*states) * (along * units.time**2 / units.length**2)[:, None] * units.parameters(model)
    if model.tree.is_constrained:
        Y = np.swapaxes(_allowed(model.tree, states[0], along), -1, -2) @ Y
    return Y.reshape(Y.shape[0] * Y.shape[1], model.size)


def _allowed(tree: Tree, q: Array, along: Array) -> Array:
    """Orthonormal bases N (..., nv, m) of the velocities that the constraints allow, in units `along`."""
    A = np.asarray(kept_with(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))(q)) * along
    return null_basis(A, constraint_structure(tree).rank)


def random_states(model: RegressorModel, count: int, *, seed: int = 0) -> tuple[Array, Array, Array]:
    """Configurations (2 count, nq), velocities and accelerations (2 count, nv) that the mechanism can have, beyond its
    limits as well, in its own units; each velocity forth and back. They excite: no parameter that can be felt hides."""
    random = np.random.default_rng(seed)
    units = Units.of(model.links)
    along = units.velocities(model.links)
    if model.driven is not None:
        q = _closed_configurations(model.driven, count, along, random)
    else:
        q = random_configuration(_without_limits(model.tree), 2 * count, seed=random) * units.coordinates(model.links)
    qd, qdd = random.normal(size=(2, 2 * count, model.links.nv)) * along
    qd[count:] = -qd[:count]  # so that every joint goes both ways, and friction shows
    qd = qd / units.time
    qdd = qdd / units.time**2
    return (q, qd, qdd) if model.driven is None else _kept_by_constraints(model.tree, q, qd, qdd, along)


def _closed_configurations(tree: Tree, count: int, along: Array, random: np.random.Generator) -> Array:
    """Configurations (2 count, nq), each twice, at which the drives command the motion best, of walks by small steps
    from one that is known: they stay in one way of being assembled, as the mechanism does."""
    step = kept_with(tree, "integrate", lambda: integrate_kernel(tree))
    at = np.repeat(generic_configurations(tree)[0].q[None], _WALKS, axis=0)
    found = []
    for _ in range(-(-_CHOICE * count // _WALKS)):
        N = _allowed(tree, at, along)
        along_walk = along * _times(N, _REACH * random.normal(size=(_WALKS, N.shape[-1])))
        closed = close(tree, step(at, along_walk))
        near = (np.asarray(closed.status) == "closed") & ~np.asarray(closed.by_chance)
        at = np.where(near[:, None], closed.configuration, at)
        found.append(at)
    q = np.concatenate(found)
    commands = _allowed(tree, q, along)[..., list(tree.actuated_velocities), :]
    least = np.linalg.svd(commands, compute_uv=False).min(axis=-1, initial=1.0)
    best = np.sort(np.argsort(-least, kind="stable")[:count])
    return np.concatenate([q[best], q[best]])


def _kept_by_constraints(tree: Tree, q: Array, qd: Array, qdd: Array, along: Array) -> tuple[Array, Array, Array]:
    """The state with the velocities and accelerations that the constraints allow, and that differ least."""
    N = _allowed(tree, q, along)
    qd = along * _times(N, _times(np.swapaxes(N, -1, -2), qd / along))
    A = np.asarray(kept_with(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))(q))
    left = _times(A, qdd) + kept_with(tree, "constraint drift", lambda: drift_kernel(tree))(q, qd)
    return q, qd, qdd - along * _times(np.linalg.pinv(A * along, least_singular(tree.nv)), left)


def _times(matrices: Array, vectors: Array) -> Array:
    return (matrices @ vectors[..., None])[..., 0]


def structural_base_parameters(model: RegressorModel) -> BaseParameters:
    """Base parameters from the structure of the mechanism alone.

    >>> from cayley.dynamics.identification.regressor import linear_model
    >>> from cayley.model.catalogue import load_robot
    >>> structural_base_parameters(linear_model(load_robot("puma560"))).size
    36
    """
    check_independent(model.tree, "the structure of base parameters")
    kept, rows = _regrouped(model, hidden_moments(model), np.eye(model.size), moved_in, np.asarray)
    units = _own_units(model, kept)
    return BaseParameters(model, kept, tidy(rows / units) * units)


def _own_units(model: RegressorModel, kept: Array) -> Array:
    """The units (b, size) of the entries of combinations, if the mechanism has its own."""
    units = Units.of(model.links).parameters(model)
    return units[kept][:, None] / units


@dataclass(frozen=True)
class BaseExpressions:
    """Base parameters in SymPy: m_k, ux_k, .. of link k; the geometry a_k, d_k, .. has the values `constants`."""

    expressions: tuple[sympy.Expr, ...]
    constants: dict[sympy.Symbol, float]

    __repr__ = brief

    def __str__(self) -> str:
        return "\n".join(map(str, self.expressions))


def symbolic_base_parameters(model: RegressorModel) -> BaseExpressions:
    """The structural base parameters with the geometry as symbols: a, d and alpha of modified Denavit-Hartenberg
    frames, where the frames are such, otherwise the origin x, y, z of a link in its parent's frame and the entries R of
    its axes. Zeros and ones stay what they are.

    >>> from cayley.dynamics.identification.regressor import linear_model
    >>> from cayley.model.catalogue import load_robot
    >>> print(symbolic_base_parameters(linear_model(load_robot("planar2r"))))
    a_2*m_2 + ux_1
    uy_1
    Jxx_1 + Jyy_1 + a_2**2*m_2
    ux_2
    uy_2
    Jxx_2 + Jyy_2
    """
    sympy = package("sympy")
    check_independent(model.tree, "the structure of base parameters")
    geometry = {id(link): SymbolicPlacement(link, number) for number, link in enumerate(model.links.links, 1)}
    symbols = np.array([sympy.Symbol(f"{word}_{number + 1}") for number, word in model.columns], dtype=object)
    _, rows = _regrouped(model, hidden_moments(model), symbols, lambda link: geometry[id(link)].moved_in, exact)
    constants = {symbol: value for placement in geometry.values() for symbol, value in placement.constants.items()}
    return BaseExpressions(tuple(sympy.expand(row) for row in rows), constants)


def _regrouped(model: RegressorModel, hidden: list[Hidden], parameters: Array, moved_in: Callable[[Link], Array],
               number_of: Callable[[Array], Array]) -> tuple[Array, Array]:
    """From the tips inwards: which parameters, symbols or unit vectors, are kept, and what they become."""
    values = parameters.copy()
    kept = np.ones(model.size, dtype=bool)
    places = {number: np.flatnonzero([n == number for n, _ in model.columns]) for number in model.movers}
    for found in reversed(hidden):
        own = places[found.number]
        handed = number_of(found.directions).T @ values[own[found.pivots]]
        values[own] = values[own] - handed
        kept[own[found.pivots]] = False
        if found.parent != ROOT:
            taken = handed[:10]
            for passed in found.way:
                taken = moved_in(model.links.links[passed]) @ taken
            values[places[found.parent][:10]] = values[places[found.parent][:10]] + taken
    return kept, values[kept]


def _without_limits(tree: Tree) -> Tree:
    return replace(tree, joints=tuple(replace(joint, limits=Limits(), mimic=None) for joint in tree.joints))


_ROUNDING = 1e-12  # entries of a placement this near to 0 or 1 are exact


class SymbolicPlacement:
    """Axes R (3, 3) and origin p (3) of a link in its parent; `constants` are the values of their symbols."""

    def __init__(self, link: Link, number: int) -> None:
        self.number = number
        self.constants: dict[sympy.Symbol, float] = {}
        R = link.placement[:3, :3]
        p = link.placement[:3, 3]
        slide = R[1, 2] * p[1] + R[2, 2] * p[2]
        if abs(R[0, 0] - 1) < _ROUNDING and abs(p[1:] - slide * R[1:, 2]).max() < _ROUNDING:
            self.R, self.p = self._denavit_hartenberg(R, p[0], slide)
        else:
            self.R = np.array([[self._symbol(f"R_{self.number}_{'xyz'[i]}{'xyz'[j]}", R[i, j]) for j in range(3)]
                               for i in range(3)])
            self.p = np.array([
                self._symbol(f"{word}_{self.number}", value) for word, value in zip("xyz", p, strict=True)])

    @cached_property
    def moved_in(self) -> Array:
        """(10, 10): the moments of the link as its parent's, at the joint's zero."""
        return moved(self.R, self.p)

    def _denavit_hartenberg(self, R: Array, a: float, d: float) -> tuple[Array, Array]:
        c, s = self._turn(R[2, 2], R[2, 1])
        axes = np.array([[1, 0, 0], [0, c, -s], [0, s, c]], dtype=object)
        return axes, self._symbol(f"a_{self.number}", a) * axes[:, 0] + self._symbol(f"d_{self.number}", d) * axes[:, 2]

    def _turn(self, c: float, s: float) -> tuple[sympy.Expr, sympy.Expr]:
        sympy = package("sympy")
        if min(abs(c), abs(s)) < _ROUNDING:
            return sympy.Integer(round(c)), sympy.Integer(round(s))
        alpha = sympy.Symbol(f"alpha_{self.number}")
        self.constants[alpha] = float(np.arctan2(s, c))
        return sympy.cos(alpha), sympy.sin(alpha)

    def _symbol(self, name: str, value: float) -> sympy.Expr:
        sympy = package("sympy")
        if (name.startswith("R") and abs(abs(value) - 1) < _ROUNDING) or abs(value) < _ROUNDING:
            return sympy.Integer(round(value))
        symbol = sympy.Symbol(name)
        self.constants[symbol] = float(value)
        return symbol


def exact(values: Array) -> Array:
    """Numbers as SymPy numbers: integers where they are such."""
    sympy = package("sympy")
    return np.vectorize(lambda x: sympy.Integer(round(x)) if x == round(x) else sympy.Float(x), otypes=[object])(values)
