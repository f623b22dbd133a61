"""Defects of a linkage that meets what was asked of it, but not in one motion of its input.

    branch     some positions are in the other assembly mode: the input cannot bring it there, it must be taken apart
    circuit    some positions are beyond a dead centre of the input, which it cannot pass
    order      the input, turning one way, meets the positions in another order
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.machines.linkages.four_bar import FourBar
from cayley.showing import brief

_SAME = 1e-9  # rad


@dataclass(frozen=True)
class Defects:
    """Which positions, counted from 0, are in another branch or circuit than the first, and whether the order holds."""

    unassembled: tuple[int, ...]
    branch: tuple[int, ...]
    circuit: tuple[int, ...]
    in_order: bool

    __repr__ = brief

    @property
    def none(self) -> bool:
        return not (self.unassembled or self.branch or self.circuit) and self.in_order

    def __str__(self) -> str:
        def positions(numbers: tuple[int, ...]) -> str:
            return f"position{'s' if len(numbers) > 1 else ''} {', '.join(str(k + 1) for k in numbers)}"

        said = [f"{positions(self.unassembled)} cannot be assembled"] if self.unassembled else []
        said += [f"{positions(self.branch)} in the other assembly mode (branch defect)"] if self.branch else []
        if self.circuit:
            said.append(f"{positions(self.circuit)} beyond a dead centre of the input (circuit defect)")
        said += [] if self.in_order else ["the input meets the positions in another order (order defect)"]
        return "; ".join(said) or "none"


def defects_of(linkage: FourBar, theta: ArrayLike, modes: ArrayLike) -> Defects:
    """Defects of positions by the angles (m) of the crank and the assembly modes (m): 0 or 1, -1 where there is none.

    >>> linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    >>> print(defects_of(linkage, [0.0, 1.0, 0.5, 2.0], [0, 0, 1, 0]))
    position 3 in the other assembly mode (branch defect); the input meets the positions in another order (order defect)
    """
    angles = np.asarray(theta, dtype=float)
    mode = np.asarray(modes)
    stands = mode >= 0
    lost = tuple(map(int, np.flatnonzero(~stands)))
    if not stands.any():
        return Defects(lost, (), (), True)
    first = int(np.argmax(stands))
    arcs = crank_arcs(linkage)
    piece = np.array([_arc_of(arcs, angle) for angle in angles])
    return Defects(lost, tuple(map(int, np.flatnonzero(stands & (mode != mode[first])))),
                   tuple(map(int, np.flatnonzero(stands & (piece != piece[first])))),
                   _in_order(angles[stands & (piece == piece[first])], arcs, int(piece[first])))


def crank_arcs(linkage: FourBar) -> Array:
    """The arcs (k, 2) of its angle in which the crank can stand, each from its first to its second end, which is
    greater; none if it turns round."""
    ends = np.sort(linkage.dead_centres().crank)
    if not len(ends):
        return np.empty((0, 2))
    arcs = np.stack([ends, np.roll(ends, -1)], axis=1)
    arcs[-1, 1] += 2 * np.pi
    middle = arcs.mean(axis=1)
    reach = np.hypot(linkage.crank * np.cos(middle) - linkage.ground, linkage.crank * np.sin(middle))
    return arcs[(reach > abs(linkage.coupler - linkage.rocker)) & (reach < linkage.coupler + linkage.rocker)]


def assembly_mode(coupler: ArrayLike, rocker: ArrayLike) -> Array:
    """The assembly mode (...), as `FourBar.position` counts them, of angles (...) of coupler and rocker; -1 for NaN."""
    bend = np.sin(np.asarray(coupler, dtype=float) - np.asarray(rocker, dtype=float))
    return np.where(np.isnan(bend), -1, np.where(bend > 0, 0, 1))


def _arc_of(arcs: Array, angle: float) -> int:
    """Which arc an angle is in; -1 if in none, 0 if there are none and the crank turns round."""
    if not len(arcs):
        return 0
    beyond = np.mod(angle - arcs[:, 0] + _SAME, 2 * np.pi)
    inside = beyond <= arcs[:, 1] - arcs[:, 0] + 2 * _SAME
    return int(np.argmax(inside)) if inside.any() else -1


def _in_order(angles: Array, arcs: Array, piece: int) -> bool:
    if not len(arcs):  # the crank turns round: once at most, one way or the other
        steps = np.mod(np.diff(angles), 2 * np.pi)
        back = np.mod(-np.diff(angles), 2 * np.pi)
        return bool(steps.sum() <= 2 * np.pi + _SAME or back.sum() <= 2 * np.pi + _SAME)
    along = np.diff(np.mod(angles - arcs[piece, 0] + _SAME, 2 * np.pi))
    return bool((along >= -_SAME).all() or (along <= _SAME).all())
