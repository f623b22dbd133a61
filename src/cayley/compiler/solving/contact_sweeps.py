"""Sweeps of Gauss-Seidel over contacts: one after another is solved as if the others were known (`contact_law`).

The friction of one contact that slides is a root of one number k, S r_t + b = -k r_t, |r_t| = mu r_n, which always
exists (the cone is exact: no pyramid, no smoothing); a sweep comes nearer to it by some steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.contact_law import (
    TINY,
    ContactRows,
    Impulses,
    largest_speed,
    residual,
    step_lengths,
    with_derivatives,
)
from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar

_HELD = 1e-7  # of the largest of W: what a direction has that nothing moves
_LARGE = 20.0  # of a + d: a k at which hardly any friction is left


def swept_impulses(rows: ContactRows, start: Array, sweeps: int, tolerance: float = 1e-4) -> Impulses:
    """The impulses of contacts after so many sweeps of Gauss-Seidel at most, which end when the last one changed no
    velocity by more than `tolerance` of the largest free one: less work and memory than `contact_impulses`, as a GPU
    likes it. A contact that slides comes nearer to the root of k by two steps of Newton's method in each sweep.

    >>> ball = ContactRows(np.eye(3), np.array([0.3, 0.0, -1.0]), np.array([0.2]), np.zeros(0), np.zeros(0))
    >>> swept_impulses(ball, np.zeros(3), 5).r.round(9) + 0.0
    array([-0.2,  0. ,  1. ])
    """
    scales = step_lengths(rows)
    contacts = [_Closed.of(rows.W[3 * c:3 * c + 3, 3 * c:3 * c + 3], mu) for c, mu in enumerate(rows.friction)]
    allowed = np.maximum(tolerance * largest_speed(rows), TINY)

    def sweep(now: _Sweep) -> _Sweep:
        drags: list[Any] = []

        def alone(c: int, free: Sequence[Any], _: Sequence[Any]) -> list[Any]:
            impulse, drag = contacts[c].impulse(free, now.drags[c])
            drags.append(drag)
            return impulse

        r = swept(rows, scales, now.r, alone)
        return _Sweep(r, np.array(drags), reduce(np.maximum, [abs(x) for x in (r - now.r) / scales]))

    begun = _Sweep(start, 0.0 * rows.friction, 2.0 * allowed)
    r = repeat(sweep, begun, sweeps, until=lambda now: now.change <= allowed).r
    r = with_derivatives(rows, scales, r)
    v = rows.free + rows.W @ r
    return Impulses(r, v, residual(rows, scales, r), allowed)


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
        largest = np.maximum(np.maximum(a, d), TINY)  # where a plane holds a point, nothing moves it across
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
        return _Pull(x, y, push - p * x - q * y, x * x + y * y + TINY, per_area)

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


def swept(rows: ContactRows, scales: Array, start: Array, alone: Callable[[int, list[Any], list[Any]], list[Any]]
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
        largest = np.maximum(np.maximum(self.a, self.d), TINY)  # where a plane holds a point, nothing moves it across
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
        return x, y, n, np.sqrt(x * x + y * y + TINY), area

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


def solved_alone(W: Array, free: Sequence[Any], mu: Scalar, last: Sequence[Any], steps: int) -> list[Any]:
    """The impulse (3) of one contact that sticks; of one that slides, some steps nearer from the `last` tangential one,
    whose k is the one that it would have if it were the root."""
    contact = _Sliding(W, free, mu)
    _, _, n, size, _ = contact.at(0.0)
    x, y = last
    square = x * x + y * y
    pulled = x * (contact.a * x + contact.b * y + contact.rest[0]) + y * (
        contact.b * x + contact.d * y + contact.rest[1])
    is_known = square > TINY
    k = where(is_known, np.maximum(-pulled / where(is_known, square, 1.0), 0.0), contact.large)
    for _ in range(steps):
        root, is_one = contact.nearer(k)
        k = where(is_one, where(root > 0.0, root, 0.5 * k), np.maximum(contact.large, 2.0 * k))
    found = contact.within(where(contact.sticks(n, size), 0.0, k))
    lost = contact.touches & (found[2] <= 0.0)  # k is too small: the next sweep begins with a large one
    return [where(lost, value, old) for value, old in zip((0.0, 0.0, contact.push), found, strict=True)]
