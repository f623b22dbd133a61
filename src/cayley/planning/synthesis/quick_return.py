"""Quick-return machines: an output that swings between two dead centres and takes longer one way than the other while
the crank turns evenly.

    u1 = B1 - A,  u2 = B2 - A,   u1 x u2 = +- tan(alpha) u1 . u2,    a, b = (|u2| -+ |u1|)/2
At a dead centre crank and coupler are in line. The crank turns pi + alpha one way and pi - alpha the other, time ratio
Q = (pi + alpha)/(pi - alpha): its pivot A sees the two ends B of the output's way at the angle alpha. For an output
link that is a quadratic in the distance of the pivots; for a slider, in the place of the crank's pivot along its line.
With a slot in the output link, k1 = k3 = 0, alpha is the whole swing. Source: Ruggiu 4.6, the case m = 2."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from cayley.compiler.typing import Array
from cayley.errors import ModelError, UnreachableError
from cayley.machines.linkages.four_bar import FourBar
from cayley.machines.linkages.slider_crank import SliderCrank
from cayley.planning.synthesis.design import FourBarDesign, Linkage
from cayley.planning.synthesis.freudenstein import check_ground, freudenstein_parameters, synthesis_equations

_SAME = 1e-12
_STEPS = 721  # of the angle of the first dead centre, in the search


def crank_advance(time_ratio: float) -> float:
    """alpha [rad] of a time ratio: the crank turns pi + alpha the slow way, pi - alpha the other.

    >>> float(np.degrees(crank_advance(1.25)).round(9))
    20.0
    """
    if not (np.isfinite(time_ratio) and time_ratio >= 1):
        raise ModelError(f"a time ratio must be slow over fast, 1 or more, not {time_ratio}; take its inverse")
    return float(np.pi * (time_ratio - 1) / (time_ratio + 1))


def time_ratio_of(linkage: Linkage) -> float:
    """The ratio of the times that the rocker of a crank-rocker takes one way and the other, while its crank turns
    evenly.

    >>> float(round(time_ratio_of(FourBar(crank=0.1, coupler=0.25, rocker=0.3, ground=0.3)), 6))
    1.267114
    """
    if not isinstance(linkage, FourBar) or linkage.kind != "crank-rocker":
        kind = linkage.kind if isinstance(linkage, FourBar) else "slotted lever"
        raise UnreachableError(f"a {kind} has no time ratio here: only the rocker of a crank-rocker swings between "
                               "dead centres while the crank turns round")
    one, other = _dead_centre_cranks(linkage)
    way = np.mod(other - one, 2 * np.pi)
    return float(max(way, 2 * np.pi - way) / min(way, 2 * np.pi - way))


def _dead_centre_cranks(linkage: FourBar) -> tuple[float, float]:
    """Angles of the crank, stretched and folded, in the first assembly mode."""
    a, b, c, d = (linkage.crank, linkage.coupler, linkage.rocker, linkage.ground)
    found = [float(np.arccos((d * d + r * r - c * c) / (2 * d * r))) for r in (b + a, b - a)]
    return found[0], found[1] + np.pi


def quick_return(first: float, second: float, time_ratio: float, *, ground: float = 1.0) -> tuple[FourBarDesign, ...]:
    """The crank-rockers whose output link is at the angles `first` and `second` [rad] to the ground in its dead
    centres; one or two, or an error that says why there is none. Their pairs are the dead centres, at which crank and
    coupler are in line. The rocker takes `time_ratio` times as long one way as the other while the crank turns evenly.

    >>> machine, = quick_return(np.radians(60.0), np.radians(100.0), 1.2, ground=0.5)
    >>> print(machine)
    RRRR, crank-rocker: ground 0.5 m, input link 0.099558 m, coupler 0.686155 m, output link 0.405625 m
    >>> round(time_ratio_of(machine.linkage), 12)
    1.2
    """
    size = check_ground(ground)
    alpha = crank_advance(time_ratio)
    if not (np.isfinite(first) and np.isfinite(second)) or abs(np.sin((second - first) / 2)) < _SAME:
        raise ModelError(f"the dead centres at {first} and {second} rad leave no swing: they must be two angles")
    ends = np.array([[np.cos(first), np.sin(first)], [np.cos(second), np.sin(second)]])
    found = []
    faults = []
    for distance in _pivot_distances(ends, alpha):
        design, fault = _crank_rocker(ends, distance, size)
        if fault:
            faults.append(fault)
        elif design is not None and abs(time_ratio_of(design.linkage) - time_ratio) < 1e-6 * time_ratio:
            found.append(design)
    if not found:
        why = faults[0] if faults else "no place of the crank's pivot on the ground line sees them at that angle"
        raise UnreachableError(
            f"no crank-rocker has dead centres at {first:.6g} and {second:.6g} rad and the time ratio "
            f"{time_ratio:.6g}: {why}; turn both angles alike (best_quick_return finds how far)")
    return tuple(found)


def _pivot_distances(ends: Array, alpha: float) -> list[float]:
    """Distances from the crank's pivot to the output's, in lengths of the output link, that see the ends at alpha."""
    (c1, s1), (c2, s2) = ends
    found: list[float] = []
    for sign in (1.0, -1.0) if alpha > 0 else (1.0,):
        square = np.sin(alpha)
        linear = np.sin(alpha) * (c1 + c2) - sign * np.cos(alpha) * (s2 - s1)
        last = np.sin(alpha) * (c1 * c2 + s1 * s2) - sign * np.cos(alpha) * (c1 * s2 - c2 * s1)
        roots = np.roots([square, linear, last] if square > _SAME else [linear, last])
        found += [float(root.real) for root in roots if abs(root.imag) < _SAME and root.real > _SAME]
    return sorted(found)


def _crank_rocker(ends: Array, distance: float, ground: float) -> tuple[FourBarDesign | None, str]:
    """The design with the rocker of length 1 at a distance of the pivots, or why it is none."""
    seen = ends + np.array([distance, 0.0])
    reach = np.linalg.norm(seen, axis=1)
    sides = seen[:, 0] * ends[:, 1] - seen[:, 1] * ends[:, 0]  # coupler x rocker
    crank = abs(reach[1] - reach[0]) / 2
    if crank < _SAME * reach.max():
        return None, "its crank would have no length"
    if not sides[0] * sides[1] > 0:
        return None, "the dead centres would be in different assembly modes"
    linkage = FourBar(crank=crank, coupler=float(reach.sum() / 2), rocker=1.0, ground=distance)
    if linkage.kind != "crank-rocker":
        return None, f"it would be a {linkage.kind}, whose crank does not turn round"
    folded = np.where(reach < reach.max(), np.pi, 0.0)  # the crank points back
    psi = np.arctan2(seen[:, 1], seen[:, 0]) + folded
    phi = np.arctan2(ends[:, 1], ends[:, 0])
    k = freudenstein_parameters([distance, crank, reach.sum() / 2, 1.0])
    return FourBarDesign(k, ground, psi, phi, float(np.linalg.cond(synthesis_equations(psi, phi).matrix))), ""


def best_quick_return(swing: float, time_ratio: float, *, longest: float = 5.0, ground: float = 1.0) -> FourBarDesign:
    """The crank-rocker whose transmission angle stays nearest to a right angle, of all with a swing [rad] of the output
    link and a time ratio whose ground link and coupler are at most `longest` times as long as the output link.

    >>> machine = best_quick_return(np.radians(50.0), 1.15)
    >>> float(np.degrees(worst_transmission(machine.linkage)).round(2))
    46.27
    """
    if not 0 < swing < np.pi:
        raise ModelError(f"a rocker swings by more than 0 and less than pi, not by {swing} rad")

    def machines(first: float) -> list[FourBarDesign]:
        try:
            found = quick_return(first, first + swing, time_ratio, ground=ground)
        except UnreachableError:
            return []
        return [each for each in found if each.signed_lengths[[0, 2]].max() <= longest * each.signed_lengths[3]]

    def quality(first: float) -> float:
        return max((worst_transmission(each.linkage) for each in machines(first)), default=-1.0)

    starts = np.linspace(-np.pi, np.pi, _STEPS)
    values = [quality(first) for first in starts]
    near = int(np.argmax(values))
    if values[near] < 0:
        raise UnreachableError(
            f"no crank-rocker swings by {np.degrees(swing):.6g} degrees with the time ratio {time_ratio:.6g}: ask for "
            "a smaller one")
    step = starts[1] - starts[0]
    found = minimize_scalar(lambda first: -quality(first), bounds=(starts[near] - step, starts[near] + step),
                            method="bounded", options={"xatol": 1e-10})
    first = float(found.x) if -found.fun > values[near] else float(starts[near])
    return max(machines(first), key=lambda each: worst_transmission(each.linkage))


def worst_transmission(linkage: Linkage) -> float:
    """The smallest angle [rad] between the lines of coupler and rocker over a turn of the crank: in line with the
    ground, one way or the other."""
    if not isinstance(linkage, FourBar):
        raise UnreachableError("the smallest transmission angle over a turn is that of a four-bar")
    a, b, c, d = (linkage.crank, linkage.coupler, linkage.rocker, linkage.ground)
    cosines = [(b * b + c * c - e * e) / (2 * b * c) for e in (d - a, d + a)]
    return float(min(np.arccos(min(abs(x), 1.0)) for x in cosines))


def quick_return_slider(stroke: float, time_ratio: float, offset: float) -> SliderCrank:
    """The slider-crank with a stroke [m] of the slider, a time ratio, and the slider's line at `offset` [m] from the
    crank's pivot.

    >>> machine = quick_return_slider(0.2, 1.2, 0.06)
    >>> far, near = machine.dead_centres()
    >>> float(round((near - far) / (2 * np.pi - (near - far)), 9))
    1.2
    """
    alpha = crank_advance(time_ratio)
    if not (np.isfinite(stroke) and stroke > 0 and np.isfinite(offset)):
        raise ModelError(f"the stroke must be positive and the offset finite, not {stroke} and {offset} m")
    if alpha == 0 and offset == 0:
        raise UnreachableError("with the time ratio 1 and no offset every rod does: SliderCrank(stroke / 2, rod)")
    # the ends of the stroke are at (x, e) and (x + H, e) from the pivot:  H |e| = tan(alpha) (x^2 + x H + e^2), x > 0
    height = abs(offset)
    room = stroke * np.cos(alpha) - height * np.sin(alpha)
    if not (alpha > 0 and offset != 0 and room > 0):
        bound = f"between 0 and {stroke / np.tan(alpha):.6g} m" if 0 < alpha < np.pi / 2 else "of no length"
        raise UnreachableError(f"no slider-crank has the time ratio {time_ratio:.6g}, the stroke {stroke:.6g} m and "
                               f"the offset {height:.6g} m: for the two first it would be {bound}")
    x = (np.sqrt(stroke**2 + 4 * height * room / np.sin(alpha)) - stroke) / 2
    near = float(np.hypot(x, height))
    far = float(np.hypot(x + stroke, height))
    return SliderCrank(crank=(far - near) / 2, rod=(far + near) / 2, offset=float(offset))


def slotted_quick_return(time_ratio: float, *, ground: float = 1.0) -> FourBarDesign:
    """The crank and slotted lever with a time ratio: the limit k1 = k3 = 0, in which the swing of the lever is alpha.

    >>> machine = slotted_quick_return(2.0, ground=0.3)
    >>> machine.kind, float(round(machine.linkage.crank, 9)), np.degrees(np.diff(machine.outputs)).round(9)
    ('RRRP', 0.15, array([60.]))
    """
    alpha = crank_advance(time_ratio)
    if alpha == 0:
        raise UnreachableError("a slotted lever has the time ratio 1 only without a swing: ask for more than 1")
    half = alpha / 2
    psi = np.array([np.pi / 2 - half, half - np.pi / 2])
    phi = np.array([np.pi / 2 - half, np.pi / 2 + half])
    return FourBarDesign(np.array([0.0, 1 / np.sin(half), 0.0]), check_ground(ground), psi, phi,
                         float(np.linalg.cond(synthesis_equations(psi, phi).matrix)))
