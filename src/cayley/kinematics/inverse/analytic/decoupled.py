"""Arms whose last three axes meet in one point, the wrist centre: three joints place the centre, three turn the tool.

    c                                wrist centre in frame 0;
    v = A_3 (0, 0, d4) in frame 2;   w = (a2, 0, d2) + Rx(alpha2) v: the centre in frame 1 at theta2 = 0
    |A_1^-1 c|^2 = |w|^2,    (A_1^-1 c)_z = w_z
are free of theta2 and linear in cos and sin of theta1, and of theta3 (or in d3, d3^2): a quartic in tan(theta3/2), or
two quadratics where axes 1 and 2 meet or are parallel. The quartic vanishes where the three joints can move with the
centre at rest (axes 1 and 3 on one line, a Bennett linkage): any theta3 will do. Branches: shoulder "front" if the
centre has x > 0 in frame 1 before its shift; elbow "up" if the distance from axis 1's point grows with joint 3; wrist
"no flip" for sin(theta5) > 0. Source: Ruggiu 2.2.2, (2.42)-(2.45); spec S2-32, S2-33."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError, UnsupportedError
from cayley.geometry.pose import Pose
from cayley.kinematics.inverse.analytic.candidates import (
    FLAT,
    LAST,
    SAME,
    TRIED,
    Candidate,
    Choice,
    DHArm,
    Free,
    OnePose,
    Sign,
    Special,
    angles_of,
)
from cayley.kinematics.inverse.analytic.verification import Family

SHOULDER = ("shoulder front", "shoulder back", "shoulder at its limit")
ELBOW = ("elbow up", "elbow down", "elbow at its limit")
WRIST = ("wrist no flip", "wrist flip", "wrist at its limit")
_NEARLY_REAL = 1e-3
_ON_AXIS = 1e-9
_NEARLY_ALIGNED = 1e-7
_ROUNDING = 1e-15  # of the arm's size: a wrist this near to the first axis is on it


_STILL = Free(2, "joints 1, 2 and 3 move with the wrist centre at rest; the wrist follows")


class Posture(NamedTuple):
    """The moving numbers of the first three joints, their branch, and what is free."""

    moving: tuple[Any, Any, Any]
    branch: tuple[Sign, ...]
    free: tuple[Free, ...]
    choices: tuple[Choice, ...]


class Wrist(NamedTuple):
    """The angles of the last three joints, their branch, and what is free."""

    angles: tuple[Any, Any, Any]
    branch: Sign
    free: tuple[Free, ...]


def check_wrist(arm: DHArm) -> None:
    """Refuse an arm without a spherical wrist, and one that cannot take the wrist's centre anywhere in space."""
    rows = arm.table.rows
    arm.require({"a_4": rows[3].a, "a_5": rows[4].a, "d_5": rows[4].d}, "arm with a spherical wrist")
    for i in (3, 4):
        if abs(np.sin(rows[i].alpha)) <= FLAT:
            raise ModelError(
                f"axes {i + 1} and {i + 2} are parallel: this wrist does not turn the end effector in all directions")
    reason = _lost_freedom(arm)
    if reason:
        raise ModelError(f"{reason}: this arm does not place its wrist centre in space")


def _lost_freedom(arm: DHArm) -> str:
    """Why the first three joints move the wrist centre on a surface only; empty if they do not. Joint 1 adds nothing
    where the surface of revolution about axis 2 is one about axis 1 too: a plane across both axes, a sphere about their
    point."""
    (a1, a2, a3), (d2, d4) = arm.column("a")[:3], arm.column("d")[[1, 3]]
    sines, (_, across, _) = np.sin(arm.column("alpha")[:3]), np.cos(arm.column("alpha")[:3])
    parallel, second_parallel = abs(sines[0]) <= FLAT, abs(sines[1]) <= FLAT
    c3, s3 = np.cos(arm.table.rows[2].theta), np.sin(arm.table.rows[2].theta)
    slide = np.hypot(a2 + a3 * c3 + sines[2] * d4 * s3, a3 * s3 - sines[2] * d4 * c3)

    def vanish(*lengths: Scalar) -> bool:
        return bool(np.abs(lengths).max() <= FLAT * arm.size)

    reasons = {"axes 1 and 2 coincide": parallel and vanish(a1)}
    if arm.turns[2]:
        reasons |= {"axes 2 and 3 coincide": second_parallel and vanish(a2),
                    "the wrist centre lies on axis 3": vanish(a3, sines[2] * d4),
                    "axes 1, 2 and 3 are parallel": parallel and second_parallel,
                    "axes 1, 2 and 3 meet in one point": vanish(a1, a2, d2)}
    else:
        reasons |= {"the wrist centre slides along axis 2": second_parallel and vanish(slide),
                    "axes 1 and 2 are parallel and at right angles to the slide": parallel and abs(across) <= FLAT}
    return next((reason for reason, holds in reasons.items() if holds), "")


def decoupled_candidates(arm: DHArm, target: Array, special: Special) -> list[Candidate]:
    """Every posture with every wrist; the third joint may be prismatic."""
    inner = arm.inner(target)
    placed = postures(arm, inner.p, special)
    if isinstance(special, OnePose):  # the wrist is judged by them: whether it is aligned
        placed = [more for posture in placed for more in _within_reach(arm, inner.R, posture)]
        placed = [posture._replace(moving=_placed(arm, inner.p, np.array(posture.moving))) for posture in placed]
    return [
        Candidate(np.array([*posture.moving, *wrist.angles]), (*posture.branch, wrist.branch),
                  posture.free + wrist.free, (*posture.choices, (number, 0 if wrist.free else 1)))
        for number, posture in enumerate(placed)
        for wrist in wrists(arm,
                            _rotation(arm, posture.moving).T @ inner.R, special)]


def _within_reach(arm: DHArm, R: Array, posture: Posture) -> list[Posture]:
    """The posture, if the wrist can turn axis 6 to z of R there, cos(alpha4 + alpha5) <= z3 . z6 <= cos(alpha4 -
    alpha5); and with its first value of a free joint 1 or 2 those in the middle of the two stretches where it can."""
    reached, middles = True, []
    for joint in [f.joint for f in posture.free if f.joint < 2]:
        turns = [arm.row(i, 0.0 if i == joint else x).R for i, x in enumerate(posture.moving)]
        axis = np.linalg.multi_dot([*turns[joint:], np.eye(3)])[:, 2]
        wanted = (turns[0].T if joint else np.eye(3)) @ R[:, 2]
        size = np.hypot(*axis[:2]) * np.hypot(*wanted[:2])
        if size <= _NEARLY_ALIGNED:
            continue
        al4, al5 = arm.column("alpha")[3:5]
        least, most = np.sort((np.cos([al4 - al5, al4 + al5]) - axis[2] * wanted[2]) / size)
        middle = np.arctan2(wanted[1], wanted[0]) - np.arctan2(axis[1], axis[0])
        here = posture.moving[joint] - middle
        reached = reached and least - _NEARLY_ALIGNED < np.cos(here) < most + _NEARLY_ALIGNED
        apart = joint == 0 and max(-least, most) < 1 - _NEARLY_ALIGNED
        key, number = posture.choices[joint + 1]
        if apart:
            posture = _at(posture, 0, posture.moving[0], ((key, bool(np.sin(here) > 0)), number))
        if number == 0:
            away = np.arccos(np.clip([least, most], -1.0, 1.0)).mean()
            middles += [_at(posture, joint, middle + side * away, ((key, side > 0) if apart else key, place))
                        for place, side in enumerate((1, -1), start=TRIED)]
    return [posture, *middles] if reached else middles


def _at(posture: Posture, joint: int, value: Scalar, choice: Choice) -> Posture:
    moving, choices = list(posture.moving), list(posture.choices)
    moving[joint] = value
    choices[2] = (("theta2", moving[0], moving[2]), choices[2][1])
    choices[joint + 1] = choice
    return posture._replace(moving=(moving[0], moving[1], moving[2]), choices=tuple(choices))


def _rotation(arm: DHArm, moving: tuple[Any, Any, Any]) -> Array:
    return arm.row(0, moving[0]).R @ arm.row(1, moving[1]).R @ arm.row(2, moving[2]).R


def _placed(arm: DHArm, c: Array, moving: Array) -> tuple[Any, Any, Any]:
    """The first three joints brought nearer to the wrist centre c by Newton steps, where they are next to it."""
    off, J = _centre_off(arm, c, moving)
    for _ in range(4):
        if not _ROUNDING * arm.size < np.linalg.norm(off) < 1e-3 * arm.size:
            break
        trial = moving + np.linalg.pinv(J, rcond=least_singular(len(moving))) @ off
        new, new_J = _centre_off(arm, c, trial)
        if np.linalg.norm(new) >= np.linalg.norm(off):
            break
        moving, off, J = trial, new, new_J
    return tuple(moving)


def _centre_off(arm: DHArm, c: Array, moving: Array) -> tuple[Array, Array]:
    """The distance of the wrist centre from c (3), and its Jacobian (3, 3)."""
    axes = [Pose(np.eye(3), np.zeros(3))]
    for i, x in enumerate(moving):
        axes.append(axes[-1].then(arm.row(i, x)))
    centre = axes[3].p + axes[3].R[:, 2] * arm.table.rows[3].d
    columns = [np.cross(axis.R[:, 2], centre - axis.p) if turns else axis.R[:, 2]
               for axis, turns in zip(axes, arm.turns[:3], strict=False)]
    return c - centre, np.stack(columns, axis=1)


# Orienting


def wrists(arm: DHArm, R: Array, special: Special) -> list[Wrist]:
    """The angles of joints 4 to 6 that give the tool the rotation R in frame 3. (2.43)-(2.45). Where axis 6 lies on
    axis 4, the two turn as one: theta4 is that of the reference."""
    al4 = arm.table.rows[3].alpha
    al5 = arm.table.rows[4].alpha
    w = R[:, 2]
    a = -np.sin(al4) * w[1]
    b = np.sin(al4) * w[0]
    c = np.cos(al5) - np.cos(al4) * w[2]
    found = [_wrist(arm, R, theta4, ()) for theta4 in angles_of(a, b, c)]
    if special.near(np.maximum(np.hypot(a, b), abs(c)), _NEARLY_ALIGNED):
        sense = 1.0 if w[2] > 0 else -1.0
        free = Free(3, "axes 4 and 6 lie on one line", ((3, 1.0), (5, sense)))
        found.insert(0, _wrist(arm, R, special.values(3)[0][1], (free,)))
    return found


def _wrist(arm: DHArm, R: Array, theta4: Scalar, free: tuple[Free, ...]) -> Wrist:
    H = arm.row(3, theta4).R.T @ R
    sa5 = np.sin(arm.table.rows[4].alpha)
    theta5 = np.arctan2(H[0, 2] / sa5, -H[1, 2] / sa5)
    last = arm.row(4, theta5).R.T @ H
    return Wrist((theta4, theta5, np.arctan2(last[1, 0], last[0, 0])), Sign(np.sin(theta5), WRIST), free)


# Positioning


class _Equations(NamedTuple):
    """L + M (cos theta1, sin theta1) = N b, with b = (1, cos theta3, sin theta3) or (1, d3, d3^2); norms first, third
    row second."""

    L: Array  # (2)
    M: Array  # (2, 2)
    N: Array  # (2, 3), of the arm alone


_Pair = tuple[Any, Any, tuple[Free, ...], int]  # theta1, joint 3, what is free, and the number of its value


def postures(arm: DHArm, c: Array, special: Special) -> list[Posture]:
    """All ways of the first three joints to bring the wrist centre to c; beyond reach the nearest, which will not
    close."""
    equations = _equations(arm, c)
    row = arm.table.rows[0]
    flat = (abs(row.a) <= FLAT * arm.size, abs(np.sin(row.alpha)) <= FLAT)
    pairs: list[_Pair] = []
    off_axis = np.hypot(c[0], c[1]) / arm.size
    if special.near(off_axis, _ON_AXIS):
        on_axis = Free(0, "the wrist centre lies on axis 1; the wrist follows", followers=(3, 4, 5))
        thirds = [x for i in (0, 1) for x in _third(arm, equations, i)]
        pairs = [(theta1, x, (on_axis,), number) for number, theta1 in special.values(0) for x in thirds]
    if not special.near(off_axis, _ROUNDING):  # near the axis, but not on it, theta1 is determined
        if any(flat):
            pairs += [(theta1, x, (), LAST) for theta1, x in _two_quadratics(arm, equations, flat)]
        else:
            pairs += _quartic(arm, equations, special)
    return [
        posture for theta1, x, free, number in pairs
        for posture in _postures(arm, equations, c, theta1, x, special, free, number)]


def _equations(arm: DHArm, c: Array) -> _Equations:
    (a1, a2, a3) = arm.column("a")[:3]
    (al1, al2, al3) = arm.column("alpha")[:3]
    (d1, d2, d3, d4) = arm.column("d")[:4]
    sa1 = np.sin(al1)
    ca1 = np.cos(al1)
    sa2 = np.sin(al2)
    ca2 = np.cos(al2)
    sa3 = np.sin(al3)
    ca3 = np.cos(al3)
    p = np.array([a2, d2 * sa2, d2 * ca2])
    L = np.array([c @ c + a1 * a1 + d1 * d1 - 2 * d1 * c[2], ca1 * (c[2] - d1)])
    M = np.array([[-2 * a1 * c[0], -2 * a1 * c[1]], [-sa1 * c[1], sa1 * c[0]]])
    if arm.turns[2]:
        z = d3 + ca3 * d4
        norm = [p @ p + a3 * a3 + (sa3 * d4) ** 2 + z * z + 2 * p[2] * z, 2 * (p[0] * a3 - p[1] * sa3 * d4),
                2 * (p[0] * sa3 * d4 + p[1] * a3)]
        return _Equations(L, M, np.array([norm, [d2 + ca2 * z, -sa2 * sa3 * d4, sa2 * a3]]))
    theta3 = arm.table.rows[2].theta
    c3 = np.cos(theta3)
    s3 = np.sin(theta3)
    x = p[0] + a3 * c3 + sa3 * d4 * s3
    y = p[1] + a3 * s3 - sa3 * d4 * c3
    z = p[2] + ca3 * d4
    return _Equations(L, M, np.array([[x * x + y * y + z * z, 2 * z, 1.0], [sa2 * y + ca2 * z, ca2, 0.0]]))


def _basis(arm: DHArm, x: Scalar) -> Array:
    return np.array([1.0, np.cos(x), np.sin(x)]) if arm.turns[2] else np.array([1.0, x, x * x])


def _third(arm: DHArm, equations: _Equations, i: int) -> tuple[Any, ...]:
    """Joint 3 from equation i, where that is free of theta1."""
    k0 = equations.N[i, 0] - equations.L[i]
    k1 = float(equations.N[i, 1])
    k2 = float(equations.N[i, 2])
    unit = 1.0 if arm.turns[2] else arm.size
    if not max(abs(k1) * unit, abs(k2) * unit ** 2) > FLAT * arm.size ** (2 - i):
        return ()
    if arm.turns[2]:
        return angles_of(k1, k2, -k0)
    if k2 == 0:
        return (-k0 / k1,)
    square = k1 * k1 - 4 * k0 * k2
    root = np.where(square > (2 * k2 * SAME) ** 2, np.sqrt(np.maximum(square, 0.0)), 0.0)
    return (-k1 + root) / (2 * k2), (-k1 - root) / (2 * k2)


def _first(arm: DHArm, equations: _Equations, i: int, x: Scalar) -> tuple[Any, Any]:
    """theta1 from equation i at joint 3."""
    a, b = equations.M[i]
    return angles_of(a, b, equations.N[i] @ _basis(arm, x) - equations.L[i])


def _two_quadratics(arm: DHArm, equations: _Equations, flat: tuple[bool, bool]) -> list[tuple[Any, Any]]:
    """theta1 and joint 3 where axes 1 and 2 meet (the norms are free of theta1) or are parallel (the third row is)."""
    first, second = (0, 1) if flat[0] else (1, 0)
    return [(theta1, x) for x in _third(arm, equations, first) for theta1 in _first(arm, equations, second, x)]


def _quartic(arm: DHArm, equations: _Equations, special: Special) -> list[_Pair]:
    """theta1 and joint 3 of the general arm: cos^2 + sin^2 = 1 with both solved for, a quartic. Where it vanishes, any
    joint 3 will do."""
    if not isinstance(special, OnePose):
        raise UnsupportedError("the roots of a quartic are found for one pose at a time")
    L, M, N = equations
    basis = np.array([[1.0, 0, 1], [-1, 0, 1], [0, 2, 0]] if arm.turns[2] else [[0.0, 0, 1], [0, 1, 0], [1, 0, 0]])
    scale = np.linalg.norm(M, axis=1)
    solve = (M / scale[:, None]).T  # the rows of M are at right angles
    known = solve @ ((N - np.stack([L, [0.0, 0.0], [0.0, 0.0]], axis=1)) / scale[:, None])
    squares = [np.convolve(row, row) for row in (*known @ basis, basis[0])]
    quartic = squares[0] + squares[1] - squares[2]
    size = float(np.abs(squares).max())

    def first(x: float) -> float:
        cosine, sine = known @ _basis(arm, x)
        return float(np.arctan2(sine, cosine))

    if float(np.abs(quartic).max()) <= SAME * SAME * size:
        return [(first(x), x, (_STILL,), number) for number, x in special.values(2)]
    roots = [_polished(arm, known, x) for x in _real_roots(quartic, bool(arm.turns[2]))]
    return [(first(x), x, (), LAST) for x in roots]


def _real_roots(quartic: Array, tangents: bool) -> list[float]:
    """The real roots, multiple ones once; those that are tangents of half an angle as the angle."""
    size = np.abs(quartic).max()
    known = np.trim_zeros(np.where(np.abs(quartic) > SAME * SAME * size, quartic, 0.0), "f")
    roots = _merged(np.roots(known))
    roots = np.unique(roots.real[np.abs(roots.imag) <= _NEARLY_REAL * (1 + np.abs(roots.real))])
    if not tangents:
        return roots.tolist()
    at_infinity = abs(quartic[0]) <= 1e-6 * size
    return [*(2 * np.arctan(roots)).tolist(), *([np.pi] if at_infinity else [])]


def _merged(roots: Array) -> Array:
    """Roots of which k are so near to each other that rounding may have taken them apart, by its k-th root, are one:
    their mean."""
    made = []
    for root in roots:
        away = np.abs(roots - root) / (1 + abs(root))
        order = np.argsort(away)
        counts = [k for k in range(1, len(roots) + 1) if away[order[k - 1]] <= (SAME * SAME) ** (1 / k)]
        made.append(roots[order[:counts[-1]]].mean())
    return np.array(made)


def _polished(arm: DHArm, known: Array, x: float) -> float:
    """A root of |known basis|^2 = 1, to rounding, by a few steps of Newton from near to it."""
    for _ in range(4):
        b = known @ _basis(arm, x)
        off = float(b @ b - 1.0)
        slope = float(2 * b @ known @ np.array([0.0, -np.sin(x), np.cos(x)] if arm.turns[2] else [0.0, 1.0, 2 * x]))
        if abs(off) <= _ROUNDING or abs(off) >= 1e-3 * abs(slope):
            break
        x -= off / slope
    return x


def _postures(arm: DHArm, equations: _Equations, c: Array, theta1: Scalar, x: Scalar, special: Special,
              free: tuple[Free, ...], number: int) -> list[Posture]:
    """theta2, and the branch. On axis 2 any theta2 will do."""
    first = arm.row(0, theta1)
    here = first.R.T @ (c - first.p)
    there = arm.row(1, 0.0).then(arm.row(2, x)).then(Pose(np.eye(3), np.array([0.0, 0.0, arm.table.rows[3].d]))).p
    slope = equations.N[0] @ np.array([0.0, -np.sin(x), np.cos(x)] if arm.turns[2] else [0.0, 1.0, 2 * x])
    forward = c[0] * np.cos(theta1) + c[1] * np.sin(theta1)
    branch = (Sign(forward / arm.size, SHOULDER), Sign(slope / float(np.abs(equations.N[0]).max()), ELBOW))
    turn = np.arctan2(here[1], here[0]) - np.arctan2(there[1], there[0])
    angles = [(LAST, turn, _on_one_line(arm, first.then(arm.row(1, turn))) if _STILL in free else free)]
    shoulder: Choice = (("theta1", x) if free and _STILL not in free else "theta1", number)
    if special.near(np.maximum(np.hypot(*here[:2]), np.hypot(*there[:2])), _NEARLY_ALIGNED * arm.size):
        if _STILL in free:  # which it leaves here for another continuum: each is shown
            free, angles, shoulder = (), [], (("theta1", x), 0)
        on_axis = Free(1, "the wrist centre lies on axis 2; the wrist follows", followers=(3, 4, 5))
        angles += [(k, theta2, (*free, on_axis)) for k, theta2 in special.values(1)]
    known: Choice = ("known", LAST if number == LAST else 0)
    return [Posture((theta1, theta2, x), branch, all_free, (known, shoulder, (("theta2", theta1, x), k)))
            for k, theta2, all_free in angles]


def _on_one_line(arm: DHArm, third: Pose) -> tuple[Free, ...]:
    """The free joints where the first three joints move with the wrist centre at rest, and axis 3 is z of `third`."""
    if max(np.abs(third.R[:2, 2]).max(), np.abs(third.p[:2]).max() / arm.size) > _NEARLY_ALIGNED:
        return (_STILL,)
    return (Free(2, "axes 1 and 3 lie on one line", ((2, 1.0), (0, float(np.sign(third.R[2, 2]))))),)


# 6R arms with a spherical wrist (a4 = a5 = d5 = 0): up to eight configurations
decoupled_6r = Family("RRRRRR", check_wrist, decoupled_candidates)
# RRPRRR arms with a spherical wrist: up to eight, half of them with the slide on its other side ("elbow down")
stanford_arm = Family("RRPRRR", check_wrist, decoupled_candidates)
