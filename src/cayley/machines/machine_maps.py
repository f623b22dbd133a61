"""The postures of classical machines over a plane of their workspace, in one working mode: five-bar, planar 3-RRR,
Delta, Stewart-Gough.

Where a leg does not reach, it is taken as straight, so that all functions have values on both sides of the boundary;
the margins say what is inside. A crank that may turn from `low` to `high` is within its limits if cos(theta - middle)
is at least that of half of its range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError
from cayley.machines.arguments import data
from cayley.machines.parallel.two_bar_leg import crank_angle, reach_margin
from cayley.machines.workspace_maps import FieldKernels, Fields, Posture, WorkspaceMap, workspace_map

if TYPE_CHECKING:
    from cayley.machines.linkages.five_bar import FiveBar
    from cayley.machines.parallel.delta import TranslationalDelta
    from cayley.machines.parallel.planar_3rrr import Planar3RRR
    from cayley.machines.parallel.stewart import StewartPlatform

_XY = ("x [m]", "y [m]")
_ROOM = 0.04  # of the box that the legs' reach leaves, around it


def five_bar_map(linkage: FiveBar, mode: int, crank_limits: ArrayLike | None, box: ArrayLike | None,
                 resolution: int) -> WorkspaceMap:
    """Of the point."""
    sides = _sides(mode, 2)
    within = _crank_margins(crank_limits, 2)

    def posture(P: Array, at: Array) -> Posture:
        theta, legs = _legs(P, linkage.pivots, linkage.cranks, linkage.rods, sides)
        return Posture(legs, within(theta), *linkage.jacobians(P, theta))

    def sketch(P: Array) -> list[Array]:
        ends = linkage.crank_ends(linkage.inverse_position(P)[mode])
        return [np.array([linkage.pivots[0], ends[0], P, ends[1], linkage.pivots[1]])]

    fields = _fields(linkage, posture, [0.0], (mode, _key(crank_limits)))
    return workspace_map(fields, box=_box(box, linkage.pivots, linkage.cranks + linkage.rods), resolution=resolution,
                         title=f"five-bar, working mode {mode}", names=_XY, sketch=sketch)


def planar_3rrr_map(machine: Planar3RRR, phi: float, mode: int, crank_limits: ArrayLike | None, box: ArrayLike | None,
                    resolution: int) -> WorkspaceMap:
    """Of the platform's centre, at one orientation."""
    sides = _sides(mode, 3)
    within = _crank_margins(crank_limits, 3)
    length = machine.side / np.sqrt(3)

    def posture(P: Array, at: Array) -> Posture:
        pose = np.concatenate([P, at])
        theta, legs = _legs(P, machine.feet(at[0]), machine.cranks, machine.rods, sides)
        Jx, Jq = machine.jacobians(pose, theta)
        return Posture(legs, within(theta), Jx / np.array([1.0, 1.0, length]), Jq)

    def sketch(P: Array) -> list[Array]:
        corners = machine.vertices([*P, phi])
        ends = machine.crank_ends(machine.inverse_position([*P, phi])[mode])
        return [*np.stack([machine.pivots, ends, corners], axis=1), corners[[0, 1, 2, 0]]]

    fields = _fields(machine, posture, [float(phi)], (mode, _key(crank_limits)))
    feet = np.asarray(machine.feet(float(phi)), dtype=float)
    return workspace_map(fields, box=_box(box, feet, machine.cranks + machine.rods), resolution=resolution,
                         title=f"planar 3-RRR at {np.degrees(phi):.4g}°, working mode {mode}", names=_XY, sketch=sketch)


def delta_map(machine: TranslationalDelta, height: float, mode: int, crank_limits: ArrayLike | None,
              box: ArrayLike | None, resolution: int) -> WorkspaceMap:
    """Of the platform at one height."""
    sides = _sides(mode, 3)
    within = _crank_margins(crank_limits, 3)
    a = machine.crank
    out = machine.base - machine.platform

    def posture(P: Array, at: Array) -> Posture:
        theta = []
        legs = []
        for phi, side in zip(machine.directions, sides, strict=True):
            x = np.cos(phi) * P[0] + np.sin(phi) * P[1] - out
            rod_square = machine.rod**2 - (np.cos(phi) * P[1] - np.sin(phi) * P[0])**2
            square = x**2 + at[0]**2
            theta.append(crank_angle(square, np.arctan2(at[0], x), a, rod_square, side))
            legs.append(reach_margin(square, a, rod_square))
        angles = np.array(theta)
        return Posture(np.array(legs), within(angles), *machine.jacobians(np.concatenate([P, at]), angles))

    fields = _fields(machine, posture, [float(height)], (mode, _key(crank_limits)))
    feet = out * np.stack([np.cos(machine.directions), np.sin(machine.directions)], axis=1)
    return workspace_map(fields, box=_box(box, feet, np.full(3, a + machine.rod)), resolution=resolution,
                         title=f"Delta at z = {height:.4g} m, working mode {mode}", names=_XY)


def stewart_map(machine: StewartPlatform, rotation: ArrayLike, height: float, lengths: ArrayLike,
                box: ArrayLike | None, resolution: int) -> WorkspaceMap:
    """Of the platform's origin at one orientation and height, with legs from the shortest to the longest length."""
    R = data("the rotation of a Stewart platform", rotation, (3, 3))
    shortest, longest = data("the shortest and the longest length of legs", lengths, (2,))
    if not 0 <= shortest < longest:
        raise ConventionError(f"legs from {shortest:.6g} m to {longest:.6g} m have no length: the shortest comes first")
    radius = float(np.linalg.norm(machine.platform, axis=1).max()) or 1.0

    def posture(P: Array, at: Array) -> Posture:
        place = np.array([[P[0]], [P[1]], [at[0]]])
        pose = np.block([[at[3:].reshape(3, 3), place], [np.zeros((1, 3)), np.ones((1, 1))]])
        squares = [leg @ leg for leg in machine.legs(pose)]
        margins = [margin for square in squares for margin in (square - at[1]**2, at[2]**2 - square)]
        J = machine.jacobian(pose) / np.array([1.0] * 3 + [radius] * 3)
        return Posture(np.zeros(0), np.array(margins), J, np.ones(6))

    fields = _fields(machine, posture, [float(height), shortest, longest, *R.ravel()], ())
    feet = (machine.base - machine.platform @ R.T)[:, :2]
    return workspace_map(fields, box=_box(box, feet, np.full(6, longest)), resolution=resolution,
                         title=f"Stewart platform at z = {height:.4g} m", names=_XY)


def _fields(machine: object, posture: Callable[[Array, Array], Posture], at: Sequence[float],
            key: tuple[object, ...]) -> Fields:
    """The fields of a machine in a slice; what is compiled is kept for other slices."""
    kernels = kept(machine, ("workspace", key), lambda: FieldKernels.of(posture, len(at)))
    return Fields(kernels, np.array(at))


def _legs(P: Array, feet: Array, cranks: Array, rods: Array, sides: Sequence[float]) -> tuple[Array, Array]:
    """Angles and margins of planar legs to a point."""
    theta = []
    margins = []
    for foot, a, b, side in zip(feet, cranks, rods, sides, strict=True):
        d = P - foot
        theta.append(crank_angle(d @ d, np.arctan2(d[1], d[0]), a, b**2, side))
        margins.append(reach_margin(d @ d, a, b**2))
    return np.array(theta), np.array(margins)


def _sides(mode: int, legs: int) -> list[float]:
    """How each leg bends in a working mode, the first leg's side the first of the binary digits of its number."""
    if not (isinstance(mode, (int, np.integer)) and 0 <= mode < 2**legs):
        raise ConventionError(
            f"the working mode is a place in `inverse_position`, 0 to {2**legs - 1}, not {mode!r}")
    return [-1.0 if (mode >> leg) & 1 else 1.0 for leg in reversed(range(legs))]


def _key(limits: ArrayLike | None) -> tuple[float, ...] | None:
    return None if limits is None else tuple(np.ravel(np.asarray(limits, dtype=float)).tolist())


def _crank_margins(limits: ArrayLike | None, cranks: int) -> Callable[[Array], Array]:
    if limits is None:
        return lambda theta: np.zeros(0)
    given = np.asarray(limits, dtype=float)
    if given.shape not in ((2,), (cranks, 2)) or not (given[..., 0] < given[..., 1]).all():
        raise ConventionError(
            f"limits of cranks are (low, high) in radians, low first, or one such pair for each of {cranks}; not "
            f"{limits}")
    low, high = np.broadcast_to(given, (cranks, 2)).T
    half = np.minimum((high - low) / 2, np.pi)
    return lambda theta: np.cos(theta - (low + high) / 2) - np.cos(half)


def _box(box: ArrayLike | None, feet: Array, reach: Sequence[float] | Array) -> ArrayLike:
    """The box that is given, or that in which all legs may reach."""
    if box is not None:
        return box
    lengths = np.asarray(reach)[:, None]
    low = (feet - lengths).max(axis=0)
    high = (feet + lengths).min(axis=0)
    if not (low < high).all():
        raise ConventionError("the legs of this machine reach no point together")
    return low - _ROOM * (high - low), high + _ROOM * (high - low)
