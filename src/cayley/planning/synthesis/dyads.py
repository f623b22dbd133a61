"""Dyads: a link between a fixed and a moving pivot that lets a body take given poses in the plane. Burmester's problem.

    (|p|^2, 2 p.e, 2 p.n, 2 px, 2 py, 2 cos, 2 sin, 1) . q = 0        e = R (1, 0), n = R (0, 1)
    q = (a0, a0 wx, a0 wy, ax, ay, a.w, ay wx - ax wy, a0 |w|^2 + a3)
A point w of the body, at P = p + R(angle) w, stays on a circle or a line, a0 |P|^2 + 2 a . P + a3 = 0, just if this
holds with q0 q5 = q1 q3 + q2 q4 and q0 q6 = q1 q4 - q2 q3. That a pivot is on a given line is linear too. Five poses
and lines leave two conics: at most four dyads. q0 = 0 is a slider on a line: four conditions leave one. Sources:
Burmester 1888; Ravani and Roth 1983; the linear form is that of Ge, Purwar and Zhao 2012."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import least_singular, rank_of, relative_rank
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError
from cayley.showing import brief

_REAL = 1e-7
_SAME = 1e-8
_FINITE = 1e-9
_NEWTON = 8
_MET = 1e-6


@dataclass(frozen=True, eq=False)
class Dyad:
    """A link from the fixed pivot `fixed` (2) to the moving pivot `moving` (2), a point of the body in its own axes. As
    a slider, `fixed` is none and the moving pivot stays on the line through `point` (2) along `direction` (2)."""

    moving: Array
    fixed: Array | None
    length: float = np.inf
    point: Array | None = None
    direction: Array | None = None

    __repr__ = brief

    @property
    def slides(self) -> bool:
        return self.fixed is None

    def misses(self, poses: ArrayLike) -> Array:
        """The distances (n) [m] of the moving pivot from its circle or line at poses (n, 3)."""
        places = body_points(poses, self.moving)
        if self.fixed is not None:
            return np.linalg.norm(places - self.fixed, axis=-1) - self.length
        assert self.direction is not None
        return (places - self.point) @ np.array([-self.direction[1], self.direction[0]])


def check_poses(poses: ArrayLike, least: int) -> Array:
    """Poses (n, 3) of a plane: x, y [m] and an angle [rad]."""
    given = np.asarray(poses, dtype=float)
    if given.ndim != 2 or given.shape[1] != 3 or not np.isfinite(given).all():
        raise SignatureError(f"poses in the plane must be finite numbers x, y, angle, of shape (n, 3), not "
                             f"{given.shape}")
    if not least <= len(given) <= 5:
        raise SignatureError(f"{len(given)} poses: a linkage can be made to take {least} to 5")
    for k in range(len(given)):
        for other in range(k):
            off = given[k] - given[other]
            if np.hypot(off[0], off[1]) + abs(np.sin(off[2] / 2)) < _FINITE:
                raise SignatureError(f"poses {other + 1} and {k + 1} are the same: leave one out")
    return given


def body_points(poses: ArrayLike, moving: ArrayLike) -> Array:
    """The places of the point `moving` (2) of a body at poses (n, 3): (n, 2)."""
    x, y, angle = np.asarray(poses, dtype=float).T
    wx, wy = np.asarray(moving, dtype=float)
    return np.stack([x + np.cos(angle) * wx - np.sin(angle) * wy, y + np.sin(angle) * wx + np.cos(angle) * wy], axis=-1)


def dyads(poses: ArrayLike, *, fixed_on: Sequence[ArrayLike] = (), moving_on: Sequence[ArrayLike] = ()
          ) -> tuple[Dyad, ...]:
    """All links that let a body take poses (n, 3), x, y and angle [m, rad]; at most four. Five conditions determine
    them: five poses, or fewer with lines a x + b y = c, given as (a, b, c), on which the fixed pivot (`fixed_on`, in
    the plane) or the moving pivot (`moving_on`, in the body's axes) is to be. Two lines are a point. A link whose
    moving pivot does not move, because the poses only turn the body about it, is none.

    >>> poses = np.array([[0.0, 0.0, 0.0], [0.2, 0.1, 0.3], [0.35, 0.25, 0.5]])
    >>> link, = dyads(poses, moving_on=[(1.0, 0.0, 0.1), (0.0, 1.0, -0.2)])
    >>> link.fixed.round(6), bool(np.abs(link.misses(poses)).max() < 1e-12)
    (array([-0.202704,  0.659943]), True)
    """
    given = check_poses(poses, 2)
    count = len(given) + len(fixed_on) + len(moving_on)
    if count != 5:
        raise SignatureError(f"{len(given)} poses and {count - len(given)} lines are {count} conditions: five "
                             "determine the links; give as many lines for their pivots")
    scale, centre, rows = _scaled_rows(given)
    rows += _line_rows(fixed_on, centre, scale, "fixed")
    rows += _line_rows(moving_on, np.zeros(2), scale, "moving")
    A = np.array([row / np.linalg.norm(row) for row in rows])
    if rank_of(A) < len(A):
        raise SingularityError("the poses and lines depend on each other and leave infinitely many links: change one")
    basis = null_basis(A, len(A))
    found: list[Dyad] = []
    for q in [basis[:, 0]] if basis.shape[1] == 1 else _on_both_conics(basis):
        link = _dyad(q, centre, scale)
        if link is None or (link.slides and count > len(given)):  # a pivot at infinity is on every such line
            continue
        if np.abs(link.misses(given)).max() < _MET * scale and not any(_alike(link, other, scale) for other in found):
            found.append(link)
    return tuple(sorted(found, key=lambda link: link.length))


def burmester_links(poses: ArrayLike, *, through: ArrayLike | None = None, lines: int = 180) -> tuple[Dyad, ...]:
    """Links for four poses (4, 3), of which there is a whole curve: those whose fixed pivots are on lines in even
    directions through a point (2), the middle of the poses if not given. Their fixed pivots sample Burmester's curve of
    centers, their moving pivots that of circle points; any two are a linkage.

    >>> poses = np.array([[0.0, 0.0, 0.0], [0.2, 0.1, 0.3], [0.35, 0.25, 0.5], [0.4, 0.5, 0.6]])
    >>> links = burmester_links(poses, lines=12)
    >>> len(links) >= 12, bool(max(np.abs(link.misses(poses)).max() for link in links) < 1e-9)
    (True, True)
    """
    given = check_poses(poses, 4)
    if len(given) != 4 or lines < 1:
        raise SignatureError(f"the curves are of four poses and one line or more, not of {len(given)} and {lines}")
    x, y = given[:, :2].mean(axis=0) if through is None else np.asarray(through, dtype=float)
    found: list[Dyad] = []
    for angle in np.pi * np.arange(lines) / lines:
        normal = np.array([-np.sin(angle), np.cos(angle)])
        found += dyads(given, fixed_on=[(*normal, normal @ [x, y])])
    return tuple(found)


def slider_dyads(poses: ArrayLike, *, moving_on: Sequence[ArrayLike] = ()) -> tuple[Dyad, ...]:
    """The points of a body that stay on a line at poses (n, 3): of four poses there is one; of three there is a circle
    of them, of which a line in the body's axes, (a, b, c) with a x + b y = c, leaves two at most.

    >>> poses = np.array([[0.0, 0.0, 0.0], [0.2, 0.1, 0.3], [0.35, 0.25, 0.5], [0.4, 0.5, 0.6]])
    >>> slide, = slider_dyads(poses)
    >>> slide.moving.round(4), bool(np.abs(slide.misses(poses)).max() < 1e-12)
    (array([0.6971, 0.7403]), True)
    """
    given = check_poses(poses, 3)
    if len(given) + len(moving_on) != 4:
        raise SignatureError(f"{len(given)} poses and {len(moving_on)} lines: four determine a slider")
    scale, centre, rows = _scaled_rows(given)
    own = np.array(rows)[:, 3:]  # a, a.w, a x w, a3
    basis = null_basis(own, relative_rank(own))
    if basis.shape[1] != 5 - len(given):
        raise SingularityError("the poses leave infinitely many points that stay on a line: change one")
    if not moving_on:
        return tuple(link for link in [_dyad(np.concatenate([np.zeros(3), basis[:, 0]]), centre, scale)] if link)
    a, b, c = _line(moving_on[0])
    # (a, b) . w = c with w = ((ax, ay; ay, -ax)^-1 (a.w, a x w)) is a quadratic in the two free numbers
    def gap(v: Array) -> float:
        ax, ay, dot, cross = v[:4]
        return float(a * (ax * dot + ay * cross) + b * (ay * dot - ax * cross) - c / scale * (ax * ax + ay * ay))

    first, second = basis.T
    mixed = (gap(first + second) - gap(first - second)) / 4
    found = []
    for root in np.roots([gap(first), 2 * mixed, gap(second)]):
        if abs(root.imag) < _REAL * max(1.0, abs(root)):
            link = _dyad(np.concatenate([np.zeros(3), root.real * first + second]), centre, scale)
            found += [link] if link is not None else []
    return tuple(found)


def _scaled_rows(poses: Array) -> tuple[float, Array, list[Array]]:
    """Rows (8) of poses about their middle, in units of how far they are apart."""
    centre = poses[:, :2].mean(axis=0)
    scale = float(np.abs(poses[:, :2] - centre).max()) or 1.0
    rows = []
    for x, y, angle in np.column_stack([(poses[:, :2] - centre) / scale, poses[:, 2]]):
        c = np.cos(angle)
        s = np.sin(angle)
        rows.append(np.array([x * x + y * y, 2 * (x * c + y * s), 2 * (y * c - x * s),
                              2 * x, 2 * y, 2 * c, 2 * s, 1.0]))
    return scale, centre, rows


def _line(line: ArrayLike) -> Array:
    values = np.asarray(line, dtype=float)
    if values.shape != (3,) or not np.isfinite(values).all() or not np.any(values[:2]):
        raise SignatureError(f"a line a x + b y = c must be three numbers (a, b, c), a and b not both zero, not "
                             f"{values}")
    return values / np.hypot(values[0], values[1])


def _line_rows(lines: Sequence[ArrayLike], origin: Array, scale: float, pivot: str) -> list[Array]:
    """Rows (8) for a pivot on lines. On two lines it is a point, and both conditions on q are linear as well."""
    rows = []
    scaled = [(a, b, (c - a * origin[0] - b * origin[1]) / scale) for a, b, c in map(_line, lines)]
    for a, b, c in scaled:
        row = np.zeros(8)
        row[[0, 3, 4] if pivot == "fixed" else [0, 1, 2]] = (c, a, b) if pivot == "fixed" else (-c, a, b)
        rows.append(row)
    if len(scaled) < 2:
        return rows
    normals = np.array(scaled)[:, :2]
    if len(scaled) > 2 or rank_of(normals) < 2:
        raise SignatureError(f"the {pivot} pivot is on one line, or on two that cross; {len(scaled)} lines were given")
    x, y = np.linalg.solve(normals, np.array(scaled)[:, 2])
    i, j = (1, 2) if pivot == "fixed" else (3, 4)
    sign = 1.0 if pivot == "fixed" else -1.0
    dot = np.zeros(8)
    dot[[5, i, j]] = 1.0, sign * x, sign * y
    cross = np.zeros(8)
    cross[[6, i, j]] = 1.0, y, -x
    return [*rows, dot, cross]


_FORMS = np.zeros((2, 8, 8))
for _number, _terms in enumerate((((0, 5, 1), (1, 3, -1), (2, 4, -1)), ((0, 6, 1), (1, 4, -1), (2, 3, 1)))):
    for _i, _j, _sign in _terms:
        _FORMS[_number, _i, _j] = _FORMS[_number, _j, _i] = _sign / 2


def _on_both_conics(basis: Array) -> list[Array]:
    """q (8) of the span of a basis (8, 3) that are on both conics, by the resultant of the two quadratics, in turned
    coordinates so that no root is at infinity."""
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    N = basis @ turn
    C, D = (N.T @ form @ N for form in _FORMS)
    (c0, c1, c2), (d0, d1, d2) = _quadratic(C), _quadratic(D)
    found = []
    for y in ((c2 * d0 - d2 * c0)**2 - (c2 * d1 - d2 * c1) * (c1 * d0 - d1 * c0)).roots():
        below = (c2 * d1 - d2 * c1)(y)
        z = (d2 * c0 - c2 * d0)(y) / below if abs(below) > 1e-300 else np.nan
        v = np.array([1.0, y, z])
        if np.isfinite(v).all() and np.abs(v.imag).max() < 1e-4 * np.abs(v).max():
            polished = _polished(C, D, v.real / np.linalg.norm(v.real))
            if polished is not None:
                found.append(N @ polished)
    return found


def _quadratic(C: Array) -> list[Polynomial]:
    """A conic in (1, y, z) as a quadratic in z whose coefficients, lowest first, are polynomials in y."""
    return [Polynomial([C[0, 0], 2 * C[0, 1], C[1, 1]]), Polynomial([2 * C[0, 2], 2 * C[1, 2]]), Polynomial([C[2, 2]])]


def _polished(C: Array, D: Array, v: Array) -> Array | None:
    """Newton's method on both conics and the unit sphere; nothing if it does not come to rest there."""
    for _ in range(_NEWTON):
        value = np.array([v @ C @ v, v @ D @ v, (v @ v - 1) / 2])
        slope = np.array([2 * C @ v, 2 * D @ v, v])
        step = np.linalg.lstsq(slope, value, rcond=least_singular(3, exact=True))[0]
        v = v - step
        if np.abs(step).max() < 1e-15:
            break
    return v if np.abs([v @ C @ v, v @ D @ v]).max() < 1e-12 else None


def _dyad(q: Array, centre: Array, scale: float) -> Dyad | None:
    """The link of a q (8); nothing if it is none (a pivot at infinity, or no length)."""
    q = q / np.linalg.norm(q)
    if abs(q[0]) < _FINITE:
        size = q[3] ** 2 + q[4] ** 2
        if np.hypot(q[1], q[2]) > _SAME or size < _FINITE**2:
            return None
        w = np.array([q[3] * q[5] + q[4] * q[6], q[4] * q[5] - q[3] * q[6]]) / size
        normal = q[3:5] / np.sqrt(size)
        foot = -q[7] / (2 * np.sqrt(size)) * normal
        return Dyad(w * scale, None, np.inf, centre + foot * scale, np.array([-normal[1], normal[0]]))
    w = q[1:3] / q[0]
    m = -q[3:5] / q[0]
    square = m @ m - (q[7] / q[0] - w @ w)
    if not square > _SAME**2:
        return None
    return Dyad(w * scale, centre + m * scale, float(np.sqrt(square)) * scale)


def _alike(one: Dyad, other: Dyad, scale: float) -> bool:
    if one.fixed is None or other.fixed is None:
        return one.slides == other.slides
    return float(np.abs(one.moving - other.moving).max() + np.abs(one.fixed - other.fixed).max()) < _SAME * scale
