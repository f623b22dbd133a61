"""Impulses of contacts with Coulomb friction, and impulses within bounds: one problem, solved inside a kernel.

    v = free + W r           velocities of the rows; W (m, m) positive semidefinite
    contact (t1, t2, n)      r_n >= 0, v_n >= 0, r_n v_n = 0;  |r_t| <= mu r_n;  r_t = -mu r_n v_t / |v_t| if it slides
    lower <= r <= upper      v = 0 between the bounds, v >= 0 at the lower one, v <= 0 at the upper one
    r = P(r - s v)           the same as an equation: P projects on r_n >= 0, on discs of radius mu r_n, and on bounds

Each round takes steps of Newton's method on this equation (semismooth; Alart & Curnier 1991) and keeps the best of
them, and then sweeps of Gauss-Seidel: contact after contact is solved as if the others were known. The friction of one
contact that slides is a root of one number k, S r_t + b = -k r_t, |r_t| = mu r_n, which always exists (the cone is
exact: no pyramid, no smoothing); a sweep comes nearer to it by one step. From the last impulses, one step of Newton's
method is exact as long as no contact changes between open, sticking and sliding. Where rows depend on each other (a box
on four corners) impulses are not unique: steps are damped, more or less from round to round, and end near the start.
Derivatives are those of the solution where no contact is about to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import Elimination, eliminated_in_order, is_zero
from cayley.compiler.solving.loops import graph_of, repeat
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.implied_values import implied
from cayley.compiler.tracing.symbols import rounding, symbols, where
from cayley.compiler.typing import Array, Scalar

ROUNDS = 30
_STEPS = 6  # of Newton's method in a round
_SWEEPS = 16
_ROOTS = 4  # steps towards the root of a contact in each of these
_DAMPINGS = (1e-7, 1e-3, 1e-2)  # of these steps, round by round
_TOLERANCE = 1e-11  # of the largest free velocity
_ROUNDING = 512.0  # units of it that are asked for at least: 6e-5 in float32
_REFINED = 3  # solves, which take the damping out of derivatives
_HELD = 1e-7  # of the largest of W: what a direction has that nothing moves
_LARGE = 20.0  # of a + d: a k at which hardly any friction is left
_TINY = 1e-30


class ContactRows(NamedTuple):
    """The rows of a contact problem: `friction` (c) of the contacts, whose 3 c rows come first; `lower` and `upper` (k)
    of the others."""

    W: Array
    free: Array
    friction: Array
    lower: Array
    upper: Array


class Impulses(NamedTuple):
    """The impulses (m), the velocities of their rows (m), and the largest violation of their law with what is allowed
    [m/s]."""

    r: Array
    v: Array
    residual: Scalar
    tolerance: Scalar


def contact_impulses(rows: ContactRows, start: Array, rounds: int = ROUNDS) -> Impulses:
    """The impulses of contacts, found from those of a `start` (m).

    >>> ball = ContactRows(np.eye(3), np.array([0.3, 0.0, -1.0]), np.array([0.2]), np.zeros(0), np.zeros(0))
    >>> contact_impulses(ball, np.zeros(3)).r.round(9) + 0.0
    array([-0.2,  0. ,  1. ])
    """
    scales = _scales(rows)
    whole = _largest(rows)
    allowed = np.maximum(_TOLERANCE, _ROUNDING * rounding(whole - whole + 1.0)) * whole

    def swept(best: _Try) -> _Try:
        r = _swept(rows, scales, best.r, lambda c, free, last: _alone(
            rows.W[3 * c:3 * c + 3, 3 * c:3 * c + 3], free, rows.friction[c], last, _ROOTS))
        return _Try(r, _residual(rows, scales, r))

    def improved(best: _Try, turn: Scalar) -> tuple[_Try, Scalar]:
        damping = reduce(lambda found, k: where(turn == float(k), _DAMPINGS[k], found), range(3), 0.0 * turn)
        steps = repeat(lambda x: _newton(rows, scales, x, damping), _Steps(best, best), _STEPS,
                       until=lambda x: x.best.residual <= allowed)
        best = repeat(swept, steps.best, _SWEEPS, until=lambda x: x.residual <= allowed)
        return best, where(turn == len(_DAMPINGS) - 1.0, 0.0, turn + 1.0)

    begun = _Try(start, _residual(rows, scales, start)), 0.0 * whole
    found, _ = repeat(lambda x: improved(*x), begun, rounds, until=lambda x: x[0].residual <= allowed)
    r = _with_derivatives(rows, scales, found.r)
    return Impulses(r, rows.free + rows.W @ r, found.residual, allowed)


def _with_derivatives(rows: ContactRows, scales: Array, r: Array) -> Array:
    """The same impulses, whose derivatives are those of the solution and not those of the steps to it."""
    if graph_of(r) is None:
        return r

    def law(places: list[Any], hold: Callable[[Any], Any]) -> list[Any]:
        at = symbols(np.array(places, dtype=object))
        found = _projected(rows, at - scales * (rows.free + rows.W @ at))
        A = [[hold(x) if isinstance(x, Node) else x for x in row]
             for row in _derivative(rows, scales, found, _DAMPINGS[0])]
        factors, left = _eliminated(A), found.value - at
        step = np.zeros(len(r))
        for _ in range(_REFINED):  # takes the damping out
            step = symbols(np.array(factors.solve(list(left + _DAMPINGS[0] * step)), dtype=object))
        return list(at + step)

    return symbols(np.array(implied([*r], law).values, dtype=object))


def swept_impulses(rows: ContactRows, start: Array, sweeps: int, tolerance: float = 1e-4) -> Impulses:
    """The impulses of contacts after so many sweeps of Gauss-Seidel at most, which end when the last one changed no
    velocity by more than `tolerance` of the largest free one: less work and memory than `contact_impulses`, as a GPU
    likes it. A contact that slides comes nearer to the root of k by two steps of Newton's method in each sweep.

    >>> ball = ContactRows(np.eye(3), np.array([0.3, 0.0, -1.0]), np.array([0.2]), np.zeros(0), np.zeros(0))
    >>> swept_impulses(ball, np.zeros(3), 5).r.round(9) + 0.0
    array([-0.2,  0. ,  1. ])
    """
    scales = _scales(rows)
    contacts = [_Closed.of(rows.W[3 * c:3 * c + 3, 3 * c:3 * c + 3], mu) for c, mu in enumerate(rows.friction)]
    allowed = np.maximum(tolerance * _largest(rows), _TINY)

    def sweep(now: _Sweep) -> _Sweep:
        drags: list[Any] = []

        def alone(c: int, free: Sequence[Any], _: Sequence[Any]) -> list[Any]:
            impulse, drag = contacts[c].impulse(free, now.drags[c])
            drags.append(drag)
            return impulse

        r = _swept(rows, scales, now.r, alone)
        return _Sweep(r, np.array(drags), reduce(np.maximum, [abs(x) for x in (r - now.r) / scales]))

    begun = _Sweep(start, 0.0 * rows.friction, 2.0 * allowed)
    r = repeat(sweep, begun, sweeps, until=lambda now: now.change <= allowed).r
    r = _with_derivatives(rows, scales, r)
    v = rows.free + rows.W @ r
    return Impulses(r, v, _distance(scales, r, _projected(rows, r - scales * v).value), allowed)


class _Sweep(NamedTuple):
    """The impulses after a sweep, the roots k of contacts, and how much the sweep has changed [m/s]."""

    r: Array
    drags: Array
    change: Scalar


class _Closed(NamedTuple):
    """One contact with its normal closed: per tangential impulse its tangents move by S = [[a, b], [b, d]], and its
    normal impulse changes by -`lever`. Numbers that all sweeps divide by are here as their reciprocals."""

    lever: tuple[Scalar, Scalar]
    a: Scalar
    b: Scalar
    d: Scalar
    per_area: Scalar
    per_normal: Scalar
    friction: Scalar

    @staticmethod
    def of(W: Array, friction: Scalar) -> _Closed:
        per_normal = 1.0 / where(W[2][2] > 0.0, W[2][2], 1.0)
        p, q = W[0][2] * per_normal, W[1][2] * per_normal
        a, b, d = W[0][0] - p * W[0][2], W[0][1] - p * W[1][2], W[1][1] - q * W[1][2]
        largest = np.maximum(np.maximum(a, d), _TINY)  # where a plane holds a point, nothing moves it across
        a, d = (where(x > _HELD * largest, x, largest) for x in (a, d))
        return _Closed((p, q), a, b, d, 1.0 / (a * d - b * b), per_normal, friction)

    def impulse(self, free: Sequence[Any], drag: Scalar) -> tuple[list[Any], Scalar]:
        """The impulse (3) of this contact, which moves with `free` (3) without it, and the k for the next sweep."""
        push = -free[2] * self.per_normal
        rest = free[0] - self.lever[0] * free[2], free[1] - self.lever[1] * free[2]
        stuck = self._at(0.0, rest, push, self.per_area)
        drag = self._nearer(drag, self._at(drag, rest, push))
        slid = self._at(drag, rest, push)
        n = np.maximum(slid.n, 0.0)
        share = np.minimum(1.0, self.friction * n / slid.size)
        lost = n <= 0.0  # k is too small
        sliding = (where(lost, 0.0, share * slid.x), where(lost, 0.0, share * slid.y), where(lost, push, n))
        touches, sticks = free[2] < 0.0, (stuck.n > 0.0) & (stuck.square <= (self.friction * stuck.n) ** 2)
        found = [where(touches, where(sticks, one, other), 0.0)
                 for one, other in zip((stuck.x, stuck.y, stuck.n), sliding, strict=True)]
        return found, where(touches & ~sticks, self._nearer(drag, slid), 0.0)

    def _at(self, k: Scalar, rest: Sequence[Any], push: Scalar, per_area: Scalar | None = None) -> _Pull:
        (p, q), a, b, d = self.lever, self.a + k, self.b, self.d + k
        per_area = 1.0 / (a * d - b * b) if per_area is None else per_area
        x, y = (b * rest[1] - d * rest[0]) * per_area, (b * rest[0] - a * rest[1]) * per_area
        return _Pull(x, y, push - p * x - q * y, x * x + y * y + _TINY, per_area)

    def _nearer(self, k: Scalar, at: _Pull) -> Scalar:
        """The root of mu r_n = |r_t| by a step of Newton's method on mu r_n / |r_t| = 1, or a larger k if there is none
        on this side of it."""
        (p, q), a, b, d = self.lever, self.a + k, self.b, self.d + k
        dx, dy = (b * at.y - d * at.x) * at.per_area, (b * at.x - a * at.y) * at.per_area
        slope = self.friction * (-(p * dx + q * dy) * at.square - at.n * (at.x * dx + at.y * dy))
        step = (at.size - self.friction * at.n) * at.square / where(slope > 0.0, slope, 1.0)
        return where(slope > 0.0, where(step > -k, k + step, 0.5 * k), 2.0 * k + _LARGE * (self.a + self.d))


class _Pull(NamedTuple):
    """The impulse of a closed contact at some k, the square of its tangential length, and 1 / det(S + k)."""

    x: Scalar
    y: Scalar
    n: Scalar
    square: Scalar
    per_area: Scalar

    @property
    def size(self) -> Scalar:
        return np.sqrt(self.square)


class _Try(NamedTuple):
    """Impulses, and how far they are from a solution [m/s]."""

    r: Array
    residual: Scalar


class _Steps(NamedTuple):
    """The impulses after the last step of Newton's method, and the best of all."""

    last: _Try
    best: _Try


class _Projection(NamedTuple):
    """P(y), and its derivative by y: of each contact a block (3, 3), of each other row a number."""

    value: Array
    blocks: list[Array]
    slopes: list[Scalar]


def _scales(rows: ContactRows) -> Array:
    """The lengths s (m) of steps along velocities: one for all rows of a contact, so that discs stay discs."""
    own = [rows.W[k][k] for k in range(len(rows.W))]
    size = 3 * len(rows.friction)
    largest = [reduce(np.maximum, own[k:k + 3]) for k in range(0, size, 3) for _ in range(3)]
    return np.stack([1.0 / where(x > 0.0, x, 1.0) for x in (*largest, *own[size:])])


def _largest(rows: ContactRows) -> Scalar:
    """The largest free velocity that impulses may have to change: not that of points which are apart or part."""
    size = 3 * len(rows.friction)
    return reduce(np.maximum, [-x if k < size and k % 3 == 2 else abs(x) for k, x in enumerate(rows.free)], 0.0)


def _residual(rows: ContactRows, scales: Array, r: Array) -> Scalar:
    y = r - scales * (rows.free + rows.W @ r)
    return _distance(scales, r, _projected(rows, y).value)


def _distance(scales: Array, r: Array, projected: Array) -> Scalar:
    return reduce(np.maximum, [abs(x) for x in (r - projected) / scales])


def _projected(rows: ContactRows, y: Array) -> _Projection:
    value: list[Any] = []
    blocks = []
    for c, mu in enumerate(rows.friction):
        t1, t2, n = y[3 * c], y[3 * c + 1], y[3 * c + 2]
        on = where(n > 0.0, 1.0, 0.0)
        radius = mu * np.maximum(n, 0.0)
        length = np.sqrt(t1 * t1 + t2 * t2 + _TINY)
        sticks = length <= radius
        share = where(sticks, on, radius / length)
        u1, u2 = where(sticks, 0.0, t1 / length), where(sticks, 0.0, t2 / length)
        value += [share * t1, share * t2, np.maximum(n, 0.0)]
        blocks.append(np.array([[share * (1.0 - u1 * u1), -share * u1 * u2, mu * on * u1],
                                [-share * u1 * u2, share * (1.0 - u2 * u2), mu * on * u2],
                                [0.0, 0.0, on]], dtype=object))
    rest = y[3 * len(rows.friction):]
    clipped = [np.minimum(np.maximum(x, a), b) for x, a, b in zip(rest, rows.lower, rows.upper, strict=True)]
    slopes = [where((x > a) & (x < b), 1.0, 0.0) for x, a, b in zip(rest, rows.lower, rows.upper, strict=True)]
    return _Projection(np.stack([*value, *clipped]), blocks, slopes)


def _newton(rows: ContactRows, scales: Array, steps: _Steps, damping: Scalar) -> _Steps:
    """One more step of Newton's method, from the best impulses if the last ones are not numbers."""
    r = steps.last.r
    found = _projected(rows, r - scales * (rows.free + rows.W @ r))
    r = r + np.stack(_eliminated(_derivative(rows, scales, found, damping)).solve(list(found.value - r)))
    residual = _residual(rows, scales, r)
    last = _where(residual < np.inf, _Try(r, residual), steps.best)
    return _Steps(last, _where(last.residual < steps.best.residual, last, steps.best))


def _where(condition: Scalar, one: _Try, other: _Try) -> _Try:
    return _Try(where(condition, one.r, other.r), where(condition, one.residual, other.residual))


def _derivative(rows: ContactRows, scales: Array, found: _Projection, damping: Scalar) -> list[list[Any]]:
    """I - P'(I - s W), damped."""
    m = len(rows.W)
    along = [[scales[i] * rows.W[i][j] - (1.0 if i == j else 0.0) for j in range(m)] for i in range(m)]
    made: list[list[Any]] = []
    for c, block in enumerate(found.blocks):
        for row in block:
            parts = [(slope, along[3 * c + k]) for k, slope in enumerate(row) if not is_zero(slope)]
            made.append([sum(slope * line[j] for slope, line in parts) for j in range(m)])
    made += [[slope * x for x in along[3 * len(found.blocks) + k]] for k, slope in enumerate(found.slopes)]
    for i in range(m):
        made[i][i] = made[i][i] + (1.0 + damping)
    return made


def _eliminated(A: Sequence[Sequence[Any]]) -> Elimination:
    return eliminated_in_order([{j: x for j, x in enumerate(row) if not is_zero(x)} for row in A])


def _swept(rows: ContactRows, scales: Array, start: Array, alone: Callable[[int, list[Any], list[Any]], list[Any]]
           ) -> Array:
    """One sweep over all contacts and rows: `alone(contact, free, last tangential impulse)` is one as if the others
    were known."""
    r = list(start)
    m = len(r)
    size = 3 * len(rows.friction)
    for c in range(0, size, 3):
        others = [*range(c + 3, m), *range(c)]  # what has changed last enters a sum last
        free = [rows.free[k] + sum(rows.W[k][j] * r[j] for j in others) for k in range(c, c + 3)]
        r[c:c + 3] = alone(c // 3, free, r[c:c + 2])
    for k in range(size, m):
        v = rows.free[k] + sum(rows.W[k][j] * r[j] for j in range(m))
        r[k] = np.minimum(np.maximum(r[k] - scales[k] * v, rows.lower[k - size]), rows.upper[k - size])
    return np.stack(r)


class _Sliding:
    """One contact that has W (3, 3) and moves with `free` (3) without its impulse: the impulses that leave it closed
    and sliding against themselves, as functions of k."""

    def __init__(self, W: Array, free: Sequence[Any], mu: Scalar) -> None:
        self.mu = mu
        self.lever = [W[0][2] / W[2][2], W[1][2] / W[2][2]]
        self.a, self.b = W[0][0] - self.lever[0] * W[0][2], W[0][1] - self.lever[0] * W[1][2]
        self.d = W[1][1] - self.lever[1] * W[1][2]
        largest = np.maximum(np.maximum(self.a, self.d), _TINY)  # where a plane holds a point, nothing moves it across
        self.a, self.d = (where(x > _HELD * largest, x, largest) for x in (self.a, self.d))
        self.rest = [free[k] - self.lever[k] * free[2] for k in range(2)]
        self.push = -free[2] / W[2][2]
        self.unit = 0.5 * (self.a + self.d)
        self.touches = free[2] < 0.0

    @property
    def large(self) -> Scalar:
        """A k at which the contact pushes, and about the root where friction is small."""
        size = np.sqrt(self.rest[0] ** 2 + self.rest[1] ** 2)
        levers = np.sqrt(self.lever[0] ** 2 + self.lever[1] ** 2)
        return size * (1.0 / np.maximum(self.mu, 1e-6) + levers) / where(self.touches, self.push, 1.0)

    def at(self, k: Scalar) -> tuple[Any, Any, Any, Any, Any]:
        """The impulse, its tangential length, and the determinant."""
        area = (self.a + k) * (self.d + k) - self.b * self.b
        x = (self.b * self.rest[1] - (self.d + k) * self.rest[0]) / area
        y = (self.b * self.rest[0] - (self.a + k) * self.rest[1]) / area
        n = self.push - self.lever[0] * x - self.lever[1] * y
        return x, y, n, np.sqrt(x * x + y * y + _TINY), area

    def nearer(self, k: Scalar) -> tuple[Scalar, Scalar]:
        """The root of mu n / |r_t| = 1 by a step of Newton's method from k, and whether there is one."""
        x, y, n, size, area = self.at(k)
        dx = (self.b * y - (self.d + k) * x) / area
        dy = (self.b * x - (self.a + k) * y) / area
        dn = -self.lever[0] * dx - self.lever[1] * dy
        slope = self.mu * (dn * size - n * (x * dx + y * dy) / size)
        return k + (size - self.mu * n) * size / where(slope > 0.0, slope, 1.0), slope > 0.0

    def sticks(self, n: Scalar, size: Scalar) -> Scalar:
        """True if an impulse is in the cone."""
        return size <= self.mu * n

    def within(self, k: Scalar) -> list[Any]:
        """The impulse (3) at k, in the cone."""
        x, y, n, size, _ = self.at(k)
        n = np.maximum(n, 0.0)
        share = np.minimum(1.0, self.mu * n / size)
        return [where(self.touches, value, 0.0) for value in (share * x, share * y, n)]


def _alone(W: Array, free: Sequence[Any], mu: Scalar, last: Sequence[Any], steps: int) -> list[Any]:
    """The impulse (3) of one contact that sticks; of one that slides, some steps nearer from the `last` tangential one,
    whose k is the one that it would have if it were the root."""
    contact = _Sliding(W, free, mu)
    _, _, n, size, _ = contact.at(0.0)
    x, y = last
    square = x * x + y * y
    pulled = x * (contact.a * x + contact.b * y + contact.rest[0]) + y * (
        contact.b * x + contact.d * y + contact.rest[1])
    is_known = square > _TINY
    k = where(is_known, np.maximum(-pulled / where(is_known, square, 1.0), 0.0), contact.large)
    for _ in range(steps):
        root, is_one = contact.nearer(k)
        k = where(is_one, where(root > 0.0, root, 0.5 * k), np.maximum(contact.large, 2.0 * k))
    found = contact.within(where(contact.sticks(n, size), 0.0, k))
    lost = contact.touches & (found[2] <= 0.0)  # k is too small: the next sweep begins with a large one
    return [where(lost, value, old) for value, old in zip((0.0, 0.0, contact.push), found, strict=True)]
