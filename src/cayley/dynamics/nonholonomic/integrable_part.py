"""The level functions of what is integrable in constraints on velocities: h(q) = c, whatever the motion.

    h = sum ck phik(q),   grad h . x = 0 for every direction x that the constraints allow
is linear in c. The phik are products of coordinates, of their sines and cosines; integrating factors and combinations
of rows need not be known, for only the directions are used. How many there are at all, in products or not, is what
brackets leave. Source: Mladenova (215), (216)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import rank_of, relative_rank
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.identification.structure import echelon
from cayley.dynamics.nonholonomic.accessibility import accessibility, accessibility_of_frame
from cayley.dynamics.nonholonomic.moving_frame import MovingFrame
from cayley.errors import ModelError, UnsupportedError, shown
from cayley.kinematics.constraints.rows import jacobian_kernel
from cayley.kinematics.constraints.structure import constraint_structure, generic_configurations
from cayley.model.coordinate_labels import coordinate_labels
from cayley.model.tree import Tree
from cayley.showing import brief

_TRUE = 1e-7  # slopes along a motion below this part of the gradient are rounding
_SPREAD = 0.7  # of the configurations looked at

Product = tuple[int, ...]  # of factors by their places: coordinates, then sines, then cosines


@dataclass(frozen=True)
class LevelFunction:
    """A function of coordinates that every motion keeps."""

    names: tuple[str, ...]
    terms: tuple[tuple[float, Product], ...]

    def __call__(self, q: ArrayLike) -> Array:
        """Values (...) of the function at configurations (..., n)."""
        factors = _factors(np.asarray(q, dtype=float))
        return np.sum([c * np.prod(factors[..., list(product)], axis=-1) for c, product in self.terms], axis=0)

    def __str__(self) -> str:
        words = [*self.names, *[f"sin({name})" for name in self.names], *[f"cos({name})" for name in self.names]]
        text = " + ".join(("" if c == 1 else f"{c:.6g}*") + "*".join(words[k] for k in product)
                          for c, product in self.terms)
        return text.replace("+ -1*", "- ").replace("+ -", "- ")


@dataclass(frozen=True)
class LevelFunctions:
    """Independent level functions, and how many combinations of the constraints are integrable."""

    functions: tuple[LevelFunction, ...]
    integrable: int

    __repr__ = brief

    @property
    def complete(self) -> bool:
        """True if there is a function for each integrable constraint; others are no sums of such products."""
        return len(self.functions) == self.integrable


def level_functions(frame: MovingFrame, at: ArrayLike, *, names: Sequence[str] = (), degree: int = 2) -> LevelFunctions:
    """The level functions of a frame's constraints, sought near a configuration (n) among products of up to `degree`
    factors.

    >>> from cayley.dynamics.nonholonomic.moving_frame import completed_frame
    >>> circle = completed_frame(lambda q: [[q[0], q[1], 0.0]], at=[1.0, 0.5, 0.0])
    >>> found = level_functions(circle, [1.0, 0.5, 0.0], names=["x", "y", "z"])
    >>> [str(h) for h in found.functions], found.integrable
    (['x*x + y*y'], 1)
    """
    near = np.asarray(at, dtype=float)
    if near.ndim != 1 or not np.isfinite(near).all():
        raise ModelError(f"level functions must be sought near a configuration of n numbers, not {shown(at)}")
    if degree < 1:
        raise ModelError(f"level functions have products of at least one factor, not {degree}")
    n = len(near)
    known = tuple(names) or tuple(f"q{k + 1}" for k in range(n))
    if len(known) != n:
        raise ModelError(f"level functions of {n} coordinates need {n} names, not {len(known)}")
    return _found(frame, near, known, accessibility_of_frame(frame, _samples(near, 3, seed=0)).integrable, degree)


def level_functions_of(tree: Tree, *, degree: int = 2) -> LevelFunctions:
    """The level functions of what is integrable in the constraints of a mechanism, on velocities and on positions, of
    its coordinates by their names.

    >>> from cayley.model.catalogue import load_robot
    >>> [str(h) for h in level_functions_of(load_robot("two_wheel_robot"), degree=1).functions]
    ['base.angle + 0.25*left - 0.25*right']
    """
    turning = [joint.name for joint in tree.joints if joint.motion.nq != joint.motion.nv]
    if turning:
        raise UnsupportedError(f"level functions are of coordinates, and joint {turning[0]!r} of {tree.name} has "
                               f"velocities that are not their rates")
    if degree < 1:
        raise ModelError(f"level functions have products of at least one factor, not {degree}")
    reached = accessibility(tree)
    integrable = reached.integrable + reached.positions
    near = generic_configurations(tree)[0].q
    names = tuple(name for name, _ in coordinate_labels(tree))
    return _found(_Rows(tree), near, names, integrable, degree)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The independent constraints of a mechanism as those of a frame."""

    tree: Tree

    def count(self, q: Array) -> int:
        return len(constraint_structure(self.tree).leading)

    def matrix(self, q: Array) -> Array:
        A = kept(self.tree, "constraint Jacobian", lambda: jacobian_kernel(self.tree))(q)
        rows = np.asarray(A)[list(constraint_structure(self.tree).leading)]
        return np.concatenate([np.zeros((len(q) - len(rows), len(q))), rows])


def _found(frame: MovingFrame | _Rows, near: Array, known: tuple[str, ...], integrable: int,
           degree: int) -> LevelFunctions:
    n = len(near)
    found: list[LevelFunction] = []
    for highest in range(1, degree + 1):
        for kinds in (1, 3):  # coordinates alone, then sines and cosines as well: fewer products are better conditioned
            if len(found) < integrable:
                tried = _sought(frame, near, known, _products(n, kinds, highest))
                found = _independent([*found, *[h for h in tried if _kept(frame, near, h)]], near)
    return LevelFunctions(tuple(found), integrable)


def _samples(near: Array, count: int, seed: int) -> Array:
    """Configurations (count, n) that have nothing special about them."""
    return near + _SPREAD * np.maximum(1.0, np.abs(near)) * np.random.default_rng(seed).normal(size=(count, len(near)))


def _products(n: int, kinds: int, degree: int) -> list[Product]:
    """Products of up to `degree` factors; without squares of cosines, which those of sines say."""
    found = [p for size in range(1, degree + 1) for p in combinations_with_replacement(range(kinds * n), size)]
    return [p for p in found if not any(k >= 2 * n and p.count(k) > 1 for k in p)]


def _slopes(frame: MovingFrame | _Rows, products: list[Product], samples: Array) -> Array:
    """The slopes of products along the directions allowed (equations, k)."""
    equations = []
    for q in samples:
        rows = np.asarray(frame.matrix(q), dtype=float)[len(q) - frame.count(q):]
        if np.isfinite(rows).all():  # elsewhere the constraints are not defined
            equations.append(null_basis(rows, len(rows)).T @ _gradients(q, products).T)
    if not equations:
        raise ModelError("the constraints are not finite near the configuration given")
    return np.concatenate(equations)


def _sought(frame: MovingFrame | _Rows, near: Array, names: tuple[str, ...],
            products: list[Product]) -> list[LevelFunction]:
    directions = max(len(near) - frame.count(near), 1)
    samples = _samples(near, 3 * len(products) // directions + 20, seed=1)
    slopes = _slopes(frame, products, samples)
    scales = np.linalg.norm([_gradients(q, products) for q in samples], axis=(0, 2))
    own = slopes / scales
    combinations = null_basis(own, relative_rank(own))
    return [LevelFunction(names, tuple((float(c), products[k]) for k, c in enumerate(row) if c))
            for row in _echelon(combinations.T / scales * scales.max())]


def _kept(frame: MovingFrame | _Rows, near: Array, function: LevelFunction) -> bool:
    products = [product for _, product in function.terms]
    coefficients = np.array([c for c, _ in function.terms])
    samples = _samples(near, 20, seed=2)
    slopes = _slopes(frame, products, samples) @ coefficients
    whole = [np.linalg.norm(coefficients @ _gradients(q, products)) for q in samples]
    return float(np.abs(slopes).max(initial=0.0)) <= _TRUE * float(np.median(whole))


def _factors(q: Array) -> Array:
    return np.concatenate([q, np.sin(q), np.cos(q)], axis=-1)


def _gradients(q: Array, products: list[Product]) -> Array:
    n = len(q)
    factors = _factors(q)
    slopes = np.concatenate([np.ones(n), np.cos(q), -np.sin(q)])
    gradients = np.zeros((len(products), n))
    for row, product in zip(gradients, products, strict=True):
        for place, factor in enumerate(product):
            rest = [*product[:place], *product[place + 1:]]
            row[factor % n] += slopes[factor] * np.prod(factors[rest])
    return gradients


def _echelon(rows: Array) -> Array:
    """The same space by rows that begin with 1, so that they read as formulas."""
    rows = echelon(rows[:, ::-1], tolerance=1e-6)[::-1, ::-1]
    shift = 10.0 ** np.ceil(-np.log10(np.clip(np.abs(rows), 1e-8, 1.0)))  # nine digits, of small numbers as of others
    return np.where(np.abs(rows) < 1e-8, 0.0, np.round(rows * shift, 9) / shift)


def _independent(functions: list[LevelFunction], near: Array) -> list[LevelFunction]:
    """Functions whose gradients are not combinations of those of the functions before."""
    q = near + _SPREAD * np.random.default_rng(99).normal(size=len(near))
    kept: list[LevelFunction] = []
    gradients: list[Array] = []
    for function in functions:
        coefficients = [c for c, _ in function.terms]
        gradient = coefficients @ _gradients(q, [product for _, product in function.terms])
        if rank_of(np.array([*gradients, gradient])) > len(kept):
            kept.append(function)
            gradients.append(gradient)
    return kept
