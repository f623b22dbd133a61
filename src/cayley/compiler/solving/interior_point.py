"""Steps of an interior-point method for convex programs, written out.

    minimise x'P x / 2 + q'x    with  A x = b,   factor (G x)[row] + s = side, s >= 0,   F x + g = s in a cone
A cone is that of all t with t[0] >= |t[1:]|. The homogeneous embedding asks for x, multipliers y of equations, z of
sides and cones, and two numbers tau and kappa, of which one ends at zero: tau > 0 gives the solution x / tau, kappa > 0
a certificate that there is none. It has a strict interior whatever the data are, so the steps need no start that is
feasible, and their number hardly depends on the data. Each step takes one factorisation and three solves: a constant
one, Mehrotra's prediction, and the correction.
Sources: Goulart & Chen, Clarabel, arXiv 2405.12762 (2024); Nesterov & Todd 1997 (the scaling of cones)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.quasidefinite import factored, squared, times
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, Scalar

_OF_THE_WAY = 0.99  # to the boundary
_SHORT = 1e-30


class ConeProgram(NamedTuple):
    """The data. `rows`: the row of G that each side bounds. `cones`: for each, F and g. `regular` and `flat`
    are what is added to the diagonals of equations and of P, small beside one."""

    P: Array
    q: Array
    A: Array
    b: Array
    G: Array
    rows: Sequence[int]
    factor: Array
    side: Array
    cones: Sequence[tuple[Array, Array]]
    regular: Scalar
    flat: Scalar

    def across(self, x: Array) -> Array:
        """The distance to which each side is approached: factor (G x)[row]."""
        return self.factor * times(self.G, x)[list(self.rows)] if len(self.rows) else np.zeros(0)

    def on_rows(self, values: Array) -> Array:
        """The sums of values of sides, for each row of G."""
        sums: list[Any] = [0.0] * len(self.G)
        for row, value in zip(self.rows, values, strict=True):
            sums[row] = sums[row] + value
        return symbols(sums)

    def pulled(self, z: Array) -> Array:
        """The forces on x of the multipliers of sides."""
        return times(self.G.T, self.on_rows(self.factor * z)) if len(self.rows) else np.zeros(len(self.q))


    def without_opposites(self, z: Array) -> Array:
        """The multipliers of sides, less what the two sides of a row take from each other."""
        net = self.on_rows(self.factor * z)
        return symbols([np.maximum(factor * net[row], 0.0) for factor, row in zip(self.factor, self.rows, strict=True)])


class Place(NamedTuple):
    """A point of the method, or a direction in which it goes; `cones` are pairs of a slack s and a multiplier z."""

    x: Array
    y: Array
    z: Array
    s: Array
    cones: tuple[tuple[Array, Array], ...]
    tau: Scalar
    kappa: Scalar

    def moved(self, way: Place, step: Scalar) -> Place:
        """After a step along the way."""
        return Place(self.x + step * way.x, self.y + step * way.y, self.z + step * way.z, self.s + step * way.s,
                     tuple((s + step * ds, z + step * dz)
                           for (s, z), (ds, dz) in zip(self.cones, way.cones, strict=True)),
                     self.tau + step * way.tau, self.kappa + step * way.kappa)


class Right(NamedTuple):
    """A right-hand side or a residual: of x, of equations, of sides and of cones."""

    x: Array
    y: Array
    z: Array
    cones: Sequence[Array]


class StepEquations:
    """P x + A'y + factor G'z - F'w = right.x, A x = right.y, factor G x - z / weights = right.z, and
    -F x - w / weights = right.cones: factors of what is left when z and w are eliminated."""

    def __init__(self, program: ConeProgram, weights: Array, cone_weights: Sequence[Array]) -> None:
        self.program = program
        self.weights = weights
        self.cone_weights = cone_weights
        n, p = len(program.q), len(program.b)
        whole = np.zeros((n + p, n + p), dtype=object)
        whole[:n, :n] = program.P + program.flat * np.eye(n) + squared(
            program.G, program.on_rows(weights * program.factor * program.factor))
        for (F, _), weight in zip(program.cones, cone_weights, strict=True):
            whole[:n, :n] = whole[:n, :n] + F.T @ weight @ F
        whole[n:, :n] = program.A
        whole[:n, n:] = program.A.T
        whole[n:, n:] = -program.regular * np.eye(p)
        self.factors = factored(whole)

    def mapped(self, function: Callable[[Array], Array]) -> StepEquations:
        """The same equations and factors, each number replaced by a function of it."""
        made = object.__new__(StepEquations)
        own = self.program
        made.program = own._replace(G=function(own.G), factor=function(own.factor),
                                    cones=[(function(F), g) for F, g in own.cones])
        made.weights, made.cone_weights = function(self.weights), [function(w) for w in self.cone_weights]
        made.factors = self.factors.mapped(function)
        return made

    def solve(self, right: Right) -> Right:
        program, n = self.program, len(self.program.q)
        x = right.x + program.pulled(self.weights * right.z)
        for (F, _), weight, part in zip(program.cones, self.cone_weights, right.cones, strict=True):
            x = x - (weight @ part) @ F
        both = self.factors.solve(symbols([*x, *right.y]))
        x = both[:n]
        return Right(x, both[n:], self.weights * (program.across(x) - right.z),
                     [weight @ (-(F @ x) - part) for (F, _), weight, part
                      in zip(program.cones, self.cone_weights, right.cones, strict=True)])


class Cone:
    """The scaling W of a cone at a slack s and a multiplier z within it, W z = W^-1 s."""

    def __init__(self, s: Array, z: Array) -> None:
        size_s, size_z = np.sqrt(reflected(s) @ s), np.sqrt(reflected(z) @ z)
        s, z = s / size_s, z / size_z
        gamma = np.sqrt((1.0 + s @ z) / 2.0)
        self.w = (s + reflected(z)) / (2.0 * gamma)
        self.eta = np.sqrt(size_s / size_z)

    def weight(self, regular: Scalar) -> Array:
        """(W^2 + regular)^-1."""
        square = self.eta * self.eta
        length = np.sqrt(self.w[1:] @ self.w[1:])
        far = (self.w[0] + length) * (self.w[0] + length)
        return _by_directions(self.w[1:] / np.maximum(length, _SHORT), square * far + regular, square / far + regular,
                              square + regular)

    def scaled(self, v: Array) -> Array:
        """W v."""
        return self.eta * _boosted(self.w, v)

    def unscaled(self, v: Array) -> Array:
        """W^-1 v."""
        return _boosted(reflected(self.w), v) / self.eta


def weight_at_solution(s: Array, z: Array, regular: Scalar) -> Array:
    """(W^2 + regular)^-1 as it is in the limit, where s and z are at right angles."""
    apart = z[0] * s[1:] - s[0] * z[1:]
    n = apart / np.maximum(np.sqrt(apart @ apart), _SHORT)
    return _by_directions(n, (s[0] + s[1:] @ n) / (z[0] + z[1:] @ n) + regular,
                          (s[0] - s[1:] @ n) / (z[0] - z[1:] @ n) + regular, s[0] / z[0] + regular)


def _by_directions(n: Array, one: Scalar, other: Scalar, across: Scalar) -> Array:
    """The inverse of the matrix that has these values along (1, n), (1, -n) and across both."""
    half, corner = (1.0 / one + 1.0 / other) / 2.0, (1.0 / one - 1.0 / other) / 2.0 * n
    return np.concatenate([np.concatenate([np.stack([half]), corner])[None], np.concatenate(
        [corner[:, None], np.eye(len(n)) / across + (half - 1.0 / across) * np.outer(n, n)], axis=1)])


def reflected(v: Array) -> Array:
    """(v0, -v1)."""
    return np.concatenate([v[:1], -v[1:]])


def _boosted(w: Array, v: Array) -> Array:
    across = w[1:] @ v[1:]
    return np.concatenate([np.stack([w[0] * v[0] + across]), v[1:] + (v[0] + across / (1.0 + w[0])) * w[1:]])


def _product(u: Array, v: Array) -> Array:
    """The product of the cone's algebra."""
    return np.concatenate([np.stack([u @ v]), u[0] * v[1:] + v[0] * u[1:]])


def _quotient(u: Array, v: Array) -> Array:
    """The d with u d = v."""
    first = (reflected(u) @ v) / (reflected(u) @ u)
    return np.concatenate([np.stack([first]), (v[1:] - first * u[1:]) / u[0]])


def _shrinking(v: Array, way: Array) -> Scalar:
    """The inverse of the step along the way that leaves the cone."""
    size = np.sqrt(reflected(v) @ v)
    along = (reflected(v) @ way) / size
    across = way[1:] - (along + way[0]) / (v[0] / size + 1.0) * v[1:] / size
    return (np.sqrt(across @ across) - along) / size


def start(program: ConeProgram) -> Place:
    """The point at which the method begins."""
    n, p, k = len(program.q), len(program.b), len(program.side)
    return Place(np.zeros(n), np.zeros(p), np.ones(k), np.ones(k),
                 tuple((np.eye(len(g))[0], np.eye(len(g))[0]) for _, g in program.cones), 1.0, 1.0)


class Residuals(NamedTuple):
    """The residuals at a place: of the equations of the embedding, P x, and the sums that decide."""

    right: Right
    tau: Scalar
    Px: Array
    cost: Scalar  # q'x
    support: Scalar  # b'y + side'z + g'w


def residuals(program: ConeProgram, at: Place) -> Residuals:
    """The residuals at a place."""
    Px = times(program.P, at.x)
    x = Px + times(program.A.T, at.y) + program.pulled(at.z) + at.tau * program.q
    cost, support = program.q @ at.x, program.b @ at.y + program.side @ at.z
    missing = []
    for (F, g), (s, z) in zip(program.cones, at.cones, strict=True):
        x = x - z @ F
        support = support + g @ z
        missing.append(s - F @ at.x - at.tau * g)
    right = Right(x, times(program.A, at.x) - at.tau * program.b,
                  program.across(at.x) + at.s - at.tau * program.side, missing)
    return Residuals(right, at.x @ Px / at.tau + cost + support + at.kappa, Px, cost, support)


def advanced(program: ConeProgram, at: Place) -> Place:
    """The place after one step."""
    left = residuals(program, at)
    cones = [Cone(s, z) for s, z in at.cones]
    sizes = [cone.scaled(z) for cone, (_, z) in zip(cones, at.cones, strict=True)]
    equations = StepEquations(program, at.z / (at.s + program.regular * at.z),
                          [cone.weight(program.regular) for cone in cones])
    fixed = equations.solve(Right(-program.q, program.b, program.side, [g for _, g in program.cones]))
    slope = 2.0 * left.Px / at.tau + program.q
    apart = at.x / at.tau - fixed.x
    steep = (apart @ times(program.P, apart) + program.flat * (fixed.x @ fixed.x)
             + program.regular * (fixed.y @ fixed.y)
             + fixed.z @ (fixed.z / equations.weights) + at.kappa / at.tau)
    for cone, z in zip(cones, fixed.cones, strict=True):
        scaled = cone.scaled(z)
        steep = steep + scaled @ scaled + program.regular * (z @ z)

    def way(share: Scalar, slack: Array, cone_slacks: Sequence[Array], product: Scalar) -> Place:
        """The direction that takes a share of the residuals away, and changes the products of slacks by as much."""
        r = left.right
        one = equations.solve(Right(-share * r.x, -share * r.y, slack - share * r.z,
                                    [d - share * m for d, m in zip(cone_slacks, r.cones, strict=True)]))
        rest = share * left.tau - product / at.tau + slope @ one.x + program.b @ one.y + program.side @ one.z
        for (_, g), z in zip(program.cones, one.cones, strict=True):
            rest = rest + g @ z
        tau = rest / steep
        z = one.z + tau * fixed.z
        x = one.x + tau * fixed.x
        # by W^2 the slacks would have the rounding of 1 / regular
        both = tuple((F @ x + tau * g - share * m, u + tau * v)
                     for (F, g), m, u, v in zip(program.cones, r.cones, one.cones, fixed.cones, strict=True))
        return Place(x, one.y + tau * fixed.y, z, -slack - z * at.s / at.z, both, tau,
                     -(product + at.kappa * tau) / at.tau)

    ahead = way(1.0, at.s, [s for s, _ in at.cones], at.kappa * at.tau)
    shorter = 1.0 - _longest(at, ahead)
    centring = shorter * shorter * shorter
    target = centring * _mean_product(at)
    corrected = []
    for cone, size, (ds, dz) in zip(cones, sizes, ahead.cones, strict=True):
        second = _product(cone.unscaled(ds), cone.scaled(dz))
        wanted = _product(size, size) + second - target * np.eye(len(ds))[0]
        corrected.append(cone.scaled(_quotient(size, wanted)))
    final = way(1.0 - centring, at.s + (ahead.s * ahead.z - target) / at.z, corrected,
                at.kappa * at.tau + ahead.kappa * ahead.tau - target)
    return at.moved(final, _OF_THE_WAY * _longest(at, final))


def _mean_product(at: Place) -> Scalar:
    total = at.s @ at.z + at.tau * at.kappa
    for s, z in at.cones:
        total = total + s @ z
    return total / (len(at.s) + len(at.cones) + 1)


def _longest(at: Place, way: Place) -> Scalar:
    """The longest step, at most 1 (a little less than 1/0.99, so that a full one is kept), that stays within."""
    over = [-way.tau / at.tau, -way.kappa / at.kappa, *(-way.s / at.s), *(-way.z / at.z)]
    for (s, z), (ds, dz) in zip(at.cones, way.cones, strict=True):
        over += [_shrinking(s, ds), _shrinking(z, dz)]
    return 1.0 / reduce(np.maximum, over, 1.0)
