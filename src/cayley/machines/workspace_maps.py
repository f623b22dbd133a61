"""Maps of the workspace of a parallel machine in a plane, with its singular curves.

In one working mode, and in the plane of a map, a machine stands at one posture for each point P (2) that it reaches.
    margins      (r) smooth functions, negative where a leg does not reach or a limit is exceeded
    Jx, Jq       Jx xd = Jq thetad of the posture, one unit in all columns of Jx
    inverse      curves where a leg is straight or folded, det Jq = 0: they bound the mode
    direct       curves where det Jx = 0: with all actuators held the platform moves
    limits       curves where a limit of the actuators is reached
The colour is the inverse condition number of Jq^-1 Jx: 0 where singular, 1 where isotropic. Curves are found on a grid,
corrected by Newton's method, and continued where they end inside it. A leg that does not reach is taken as straight, so
that all functions have values on both sides of the boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError
from cayley.extras import optional_imports
from cayley.kinematics.continuation import corrected, follow
from cayley.machines.arguments import data
from cayley.machines.parallel.legs import crank_angle, reach_margin
from cayley.showing import Pictured

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cayley.machines.linkages.five_bar import FiveBar
    from cayley.machines.parallel.delta import TranslationalDelta
    from cayley.machines.parallel.planar_3rrr import Planar3RRR
    from cayley.machines.parallel.stewart import StewartPlatform

_EDGE = 1e-12  # of the largest margin: how far outside another leg's reach a curve may be
_ROOM = 0.04  # of the box that the legs' reach leaves, around it
_INK = "#333333"
_LINES = (("inverse", _INK, "inverse singularity: a leg straight or folded"),
          ("limits", "#1b6ca8", "limit of a joint"), ("direct", "#d1495b", "direct singularity: a motion is gained"))


class PointMargins(NamedTuple):
    """The margins of a point of the plane: margins of the legs' reach (r) and of limits (l), Jx (m, m) and the diagonal
    Jq (m)."""

    reach: Array
    limits: Array
    Jx: Array
    Jq: Array


@dataclass(frozen=True, eq=False, repr=False)
class WorkspaceMap(Pictured):
    """The reach of a machine in a plane, and the inverse condition number there."""

    title: str
    names: tuple[str, str]
    horizontal: Array  # places (l) and
    vertical: Array  # (k) of the grid [m]
    values: Array  # (k, l): inverse condition number; NaN where nothing is reached
    inverse: tuple[Array, ...]  # curves (n, 2)
    direct: tuple[Array, ...]
    limits: tuple[Array, ...]
    sketch: tuple[Array, ...] = ()  # lines (n, 2) of the machine itself, in one posture

    @property
    def reachable(self) -> Array:
        """(k, l): whether a place of the grid is reached."""
        return np.isfinite(self.values)

    @property
    def area(self) -> float:
        """An estimate of what is reached, by the cells of the grid [m^2]."""
        cell = (self.horizontal[1] - self.horizontal[0]) * (self.vertical[1] - self.vertical[0])
        return float(self.reachable.sum() * cell)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """The inverse condition number in colours, the singular curves over it, inverse ones dark and direct ones red,
        and the machine in its best posture. Returns the Matplotlib axes."""
        if ax is None:
            with optional_imports():
                import matplotlib.pyplot as plt
            ax = plt.figure(figsize=(6.4, 5.8), layout="compressed").add_subplot()
        mesh = ax.pcolormesh(self.horizontal, self.vertical, np.ma.masked_invalid(self.values), cmap="viridis",
                             vmin=0.0, vmax=max(float(np.nanmax(self.values, initial=0.0)), 1e-3), shading="nearest",
                             rasterized=True, zorder=1)
        for kind, colour, label in _LINES:
            for number, curve in enumerate(getattr(self, kind)):
                ax.plot(*curve.T, color=colour, lw=2.0 if kind == "direct" else 1.4, zorder=3,
                        label=label if number == 0 else None, solid_capstyle="round")
        for line in self.sketch:
            ax.plot(*line.T, color="white", lw=4.0, zorder=4, solid_capstyle="round", solid_joinstyle="round",
                    alpha=0.8)
            ax.plot(*line.T, color=_INK, lw=1.8, marker="o", ms=3.5, zorder=5)
        bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.02)
        bar.set_label("inverse condition number", fontsize=9)
        bar.outline.set_visible(False)
        ax.set_aspect("equal")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set_title(self.title, fontsize=10, color=_INK, loc="left", parse_math=False)
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False, fontsize=8, ncols=1)
        return ax

    def __repr__(self) -> str:
        return (f"<{self.title}: area {self.area:.4g} m^2, {len(self.inverse)} inverse and {len(self.direct)} direct "
                f"singular curves, best inverse condition number {np.nanmax(self.values, initial=0.0):.3g}>")


def five_bar_map(linkage: FiveBar, mode: int, crank_limits: ArrayLike | None, box: ArrayLike | None,
                 resolution: int) -> WorkspaceMap:
    """The map of the point."""
    cranks = _Cranks.of(mode, crank_limits, 2)

    def posture(P: Array, at: Array) -> PointMargins:
        theta, legs = cranks.legs(P, linkage.pivots, linkage.cranks, linkage.rods)
        return PointMargins(legs, cranks.margins(theta), *linkage.jacobians(P, theta))

    def sketch(P: Array) -> list[Array]:
        ends = linkage.crank_ends(linkage.inverse_position(P)[mode])
        return [np.array([linkage.pivots[0], ends[0], P, ends[1], linkage.pivots[1]])]

    return _map(linkage, posture, [0.0], cranks.key, _box(box, linkage.pivots, linkage.cranks + linkage.rods),
                resolution, f"five-bar, working mode {mode}", sketch)


def planar_3rrr_map(machine: Planar3RRR, phi: float, mode: int, crank_limits: ArrayLike | None, box: ArrayLike | None,
                    resolution: int) -> WorkspaceMap:
    """The map of the platform's centre, at one orientation."""
    cranks = _Cranks.of(mode, crank_limits, 3)

    def posture(P: Array, at: Array) -> PointMargins:
        theta, legs = cranks.legs(P, machine.feet(at[0]), machine.cranks, machine.rods)
        Jx, Jq = machine.jacobians(np.concatenate([P, at]), theta)
        return PointMargins(legs, cranks.margins(theta), Jx / np.array([1.0, 1.0, machine.side / np.sqrt(3)]), Jq)

    def sketch(P: Array) -> list[Array]:
        corners = machine.vertices([*P, phi])
        ends = machine.crank_ends(machine.inverse_position([*P, phi])[mode])
        return [*np.stack([machine.pivots, ends, corners], axis=1), corners[[0, 1, 2, 0]]]

    feet = np.asarray(machine.feet(float(phi)), dtype=float)
    return _map(machine, posture, [float(phi)], cranks.key, _box(box, feet, machine.cranks + machine.rods), resolution,
                f"planar 3-RRR at {np.degrees(phi):.4g}°, working mode {mode}", sketch)


def delta_map(machine: TranslationalDelta, height: float, mode: int, crank_limits: ArrayLike | None,
              box: ArrayLike | None, resolution: int) -> WorkspaceMap:
    """The map of the platform at one height."""
    cranks = _Cranks.of(mode, crank_limits, 3)
    outwards = np.stack([np.cos(machine.directions), np.sin(machine.directions)], axis=1)
    out = machine.base - machine.platform

    def posture(P: Array, at: Array) -> PointMargins:
        theta = []
        legs = []
        for (cos, sin), side in zip(outwards, cranks.sides, strict=True):
            x = cos * P[0] + sin * P[1] - out
            leg = x**2 + at[0]**2, machine.crank, machine.rod**2 - (cos * P[1] - sin * P[0])**2
            theta.append(crank_angle(np.arctan2(at[0], x), *leg, side))
            legs.append(reach_margin(*leg))
        angles = np.array(theta)
        return PointMargins(np.array(legs), cranks.margins(angles), *machine.jacobians(np.concatenate([P, at]), angles))

    return _map(machine, posture, [float(height)], cranks.key,
                _box(box, out * outwards, np.full(3, machine.crank + machine.rod)), resolution,
                f"Delta at z = {height:.4g} m, working mode {mode}")


def stewart_map(machine: StewartPlatform, rotation: ArrayLike, height: float, lengths: ArrayLike,
                box: ArrayLike | None, resolution: int) -> WorkspaceMap:
    """The map of the platform's origin at one orientation and height, with legs from the shortest to the longest
    length."""
    R = data("the rotation of a Stewart platform", rotation, (3, 3))
    shortest, longest = data("the shortest and the longest length of legs", lengths, (2,))
    if not 0 <= shortest < longest:
        raise ConventionError(f"legs from {shortest:.6g} m to {longest:.6g} m have no length: the shortest comes first")
    radius = float(np.linalg.norm(machine.platform, axis=1).max()) or 1.0

    def posture(P: Array, at: Array) -> PointMargins:
        place = np.array([[P[0]], [P[1]], [at[0]]])
        pose = np.block([[at[3:].reshape(3, 3), place], [np.zeros((1, 3)), np.ones((1, 1))]])
        squares = [leg @ leg for leg in machine.legs(pose)]
        margins = [margin for square in squares for margin in (square - at[1]**2, at[2]**2 - square)]
        J = machine.jacobian(pose) / np.array([1.0] * 3 + [radius] * 3)
        return PointMargins(np.zeros(0), np.array(margins), J, np.ones(6))

    feet = (machine.base - machine.platform @ R.T)[:, :2]
    return _map(machine, posture, [float(height), shortest, longest, *R.ravel()], (),
                _box(box, feet, np.full(6, longest)), resolution, f"Stewart platform at z = {height:.4g} m")


class _Cranks(NamedTuple):
    """The bends of the legs in a working mode, 1 to the right and -1 to the left, the margins of the cranks' limits,
    and both as a key. A crank that may turn from `low` to `high` is within its limits if cos(theta - middle) is at
    least that of half of its range."""

    sides: list[float]
    margins: Callable[[Array], Array]
    key: tuple[object, ...]

    @staticmethod
    def of(mode: int, limits: ArrayLike | None, legs: int) -> _Cranks:
        if not (isinstance(mode, (int, np.integer)) and 0 <= mode < 2**legs):
            raise ConventionError(
                f"the working mode must be a place in `inverse_position`, 0 to {2**legs - 1}, not {mode!r}")
        sides = [-1.0 if (mode >> leg) & 1 else 1.0 for leg in reversed(range(legs))]
        if limits is None:
            return _Cranks(sides, lambda theta: np.zeros(0), (mode, None))
        given = np.asarray(limits, dtype=float)
        if given.shape not in ((2,), (legs, 2)) or not (given[..., 0] < given[..., 1]).all():
            raise ConventionError("limits of cranks are (low, high) in radians, low first, or one such pair for each "
                                  f"of {legs}; not {limits}")
        low, high = np.broadcast_to(given, (legs, 2)).T
        half = np.minimum((high - low) / 2, np.pi)
        return _Cranks(sides, lambda theta: np.cos(theta - (low + high) / 2) - np.cos(half),
                       (mode, tuple(given.ravel().tolist())))

    def legs(self, P: Array, feet: Array, cranks: Array, rods: Array) -> tuple[Array, Array]:
        """Angles and margins of planar legs to a point."""
        theta = []
        margins = []
        for foot, a, b, side in zip(feet, cranks, rods, self.sides, strict=True):
            d = P - foot
            theta.append(crank_angle(np.arctan2(d[1], d[0]), d @ d, a, b**2, side))
            margins.append(reach_margin(d @ d, a, b**2))
        return np.array(theta), np.array(margins)


def _box(box: ArrayLike | None, feet: Array, reach: Array) -> ArrayLike:
    """The box that is given, or that in which all legs may reach."""
    if box is not None:
        return box
    low = (feet - reach[:, None]).max(axis=0)
    high = (feet + reach[:, None]).min(axis=0)
    if not (low < high).all():
        raise ConventionError("the legs of this machine reach no point together")
    return low - _ROOM * (high - low), high + _ROOM * (high - low)


def _map(machine: object, posture: Callable[[Array, Array], PointMargins], slices: Sequence[float],
         key: tuple[object, ...],
         box: ArrayLike, resolution: int, title: str, sketch: Callable[[Array], Sequence[Array]] | None = None
         ) -> WorkspaceMap:
    """The map of postures in a slice over a box ((left, bottom), (right, top)) with a number of places along its longer
    side; compiled kernels are kept for other slices."""
    fields = kept(machine, ("workspace", key), lambda: _Fields.of(posture, len(slices)))
    at = np.array(slices)
    horizontal, vertical = grid_of(box, resolution)
    P = np.stack(np.meshgrid(horizontal, vertical), axis=-1)
    margins = fields.margins(P, at)[..., 0]
    values = fields.condition(P, at, np.asarray((margins >= 0).all(axis=-1)))
    scale = np.nanmax(np.abs(margins), axis=(0, 1), initial=1e-300)

    def curves(place: int | None) -> list[Array]:
        others = [k for k in range(len(scale)) if k != place]

        def field(points: Array) -> Array:
            return fields.determinant(points, at) if place is None else fields.margins(points, at)[..., place, :]

        def inside(points: Array) -> Array:
            return (fields.margins(points, at)[..., others, 0] >= -_EDGE * scale[others]).all(axis=-1)

        return zero_curves(field, horizontal, vertical, inside=inside)

    each = [curves(k) for k in range(len(scale))]
    best = P[np.unravel_index(np.nanargmax(values), values.shape)] if np.isfinite(values).any() else None
    return WorkspaceMap(title, ("x [m]", "y [m]"), horizontal, vertical, values, tuple(chain(*each[:fields.legs])),
                        tuple(curves(None)), tuple(chain(*each[fields.legs:])),
                        tuple(sketch(best)) if sketch is not None and best is not None else ())


class _Fields(NamedTuple):
    """Compiled functions of a point P (2) and of where the slice is (s): Jx and Jq, and with their gradients (..., 3)
    the margins of `legs` and limits, and the determinant of Jx."""

    jacobians: Kernel[tuple[Array, Array]]
    margins: Kernel
    determinant: Kernel
    legs: int

    @staticmethod
    def of(posture: Callable[[Array, Array], PointMargins], slices: int) -> _Fields:
        probe = posture(np.array([0.1234567, 0.2345678]), np.full(slices, 0.3))
        m = len(probe.Jq)
        jacobians = kernel(f"(2),({slices})->({m},{m}),({m})", inputs=("P", "at"), outputs=("Jx", "Jq"))(
            lambda P, at: posture(P, at)[2:])

        def with_gradient(text: Callable[[Array, Array], Scalar], shape: str) -> Kernel:
            function = kernel(f"(2),({slices})->({shape.rstrip(',')})", inputs=("P", "at"))(text)
            slope = function.jacobian("P")
            return kernel(f"(2),({slices})->({shape}3)", inputs=("P", "at"))(
                lambda P, at: np.concatenate([np.asarray(function(P, at))[..., None], slope(P, at)], axis=-1))

        return _Fields(jacobians, with_gradient(lambda P, at: np.concatenate(posture(P, at)[:2]),
                                                f"{len(probe.reach) + len(probe.limits)},"),
                       with_gradient(lambda P, at: np.linalg.det(wrapped(posture(P, at).Jx)), ""), len(probe.reach))

    def condition(self, P: Array, at: Array, inside: Array) -> Array:
        """The inverse condition number (...), NaN outside."""
        Jx, Jq = self.jacobians(P, at)
        with np.errstate(all="ignore"):
            K = Jx / Jq[..., None]
        fine = np.isfinite(K).all(axis=(-2, -1)) & inside
        found = np.full(fine.shape, np.nan)
        s = np.linalg.svd(K[fine], compute_uv=False)
        found[fine] = s[..., -1] / s[..., 0]
        return found


def grid_of(box: ArrayLike, resolution: int) -> tuple[Array, Array]:
    """The places (l) and (k) of a grid over a box ((left, bottom), (right, top))."""
    corners = np.asarray(box, dtype=float)
    if corners.shape != (2, 2) or not np.isfinite(corners).all() or not (corners[0] < corners[1]).all():
        raise ConventionError(f"a box must be ((left, bottom), (right, top)) in metres, not {box!r}")
    if resolution < 8:
        raise ConventionError(f"a map must have at least 8 places along a side, not {resolution}")
    extents = corners[1] - corners[0]
    counts = np.maximum(8, np.round(resolution * extents / extents.max()).astype(int))
    return (np.linspace(corners[0, 0], corners[1, 0], counts[0]), np.linspace(corners[0, 1], corners[1, 1], counts[1]))


Field = Callable[[Array], Array]
"""Values (...) and gradients (..., 2) at points (..., 2), as (..., 3)."""

_NEWTON = 12
_SHORTEST = 1e-7  # of a cell
_STILL = 1e-12
_ARRIVED = 1e-11  # of the largest value on the grid
_STEPS = 40


def zero_curves(field: Field, horizontal: Array, vertical: Array, *, inside: Callable[[Array], Array] | None = None
                ) -> list[Array]:
    """The curves (n, 2) on which a field is zero, on the grid of places `horizontal` (l) and `vertical` (k); of each
    only the parts where `inside` holds, to their ends."""
    with optional_imports():
        from contourpy import contour_generator
    grid = np.stack(np.meshgrid(horizontal, vertical), axis=-1)
    values = np.ma.masked_invalid(field(grid)[..., 0])
    lines = contour_generator(horizontal, vertical, values).lines(0.0)
    scale = max(float(np.abs(values).max()), 1e-300) if values.count() else 1.0
    cell = float(min(horizontal[1] - horizontal[0], vertical[1] - vertical[0]))

    def measured(points: Array) -> Array:
        return field(points) / scale

    found = []
    for line in lines:
        for part in _parts(_onto(measured, np.asarray(line), cell), inside):
            ends = [_followed(measured, part[::-1], cell, inside)[::-1], part, _followed(measured, part, cell, inside)]
            whole = np.concatenate(ends) if np.any(part[0] != part[-1]) else part
            if len(whole) > 1:
                found.append(whole)
    return found


def _onto(field: Field, points: Array, farthest: float) -> Array:
    """Points (n, 2) moved onto the curve; those that Newton's method takes farther than that, or nowhere, are left
    out."""
    def equations(at: Array) -> tuple[Array, Array]:
        values = field(at)
        return values[:, None, 1:], -values[:, :1]

    found = corrected(equations, np.add, points, iterations=_NEWTON, tolerance=_STILL * farthest)
    near = np.linalg.norm(found.points - points, axis=-1) <= farthest
    return found.points[near & found.is_known & (found.missing <= _ARRIVED)]


def _parts(line: Array, inside: Callable[[Array], Array] | None) -> list[Array]:
    """The pieces of a line that are inside."""
    if not len(line):
        return []
    if inside is None:
        return [line]
    held = inside(line)
    if held.all():
        return [line]
    if np.all(line[0] == line[-1]):  # begins where it is outside
        first = int(np.argmin(held))
        line = np.concatenate([line[first:-1], line[:first + 1]])
        held = inside(line)
    changes = np.flatnonzero(np.diff(held.astype(int))) + 1
    return [piece for piece, on in zip(np.split(line, changes), np.split(held, changes), strict=True)
            if on.all() and len(piece) > 1]


def _followed(field: Field, line: Array, cell: float, inside: Callable[[Array], Array] | None) -> Array:
    """The points after the last one of a line, to where the field or the inside ends."""
    def advance(at: Array, along: Array, h: float) -> tuple[Array, Array] | None:
        trial = _onto(field, (at + h * along)[None], h)
        if not len(trial) or not (trial[0] - at) @ along > 0 or (inside is not None and not inside(trial)[0]):
            return None
        return trial[0], _tangent(field, trial[0], trial[0] - at)

    found = follow(line[-1], _tangent(field, line[-1], line[-1] - line[-2]), advance, longest=cell / 2,
                   shortest=_SHORTEST * cell, growth=1.0, most=_STEPS)
    return found.points[1:].reshape(-1, 2)


def _tangent(field: Field, at: Array, ahead: Array) -> Array:
    slope = field(at)[1:]
    along = np.array([-slope[1], slope[0]]) / np.linalg.norm(slope)
    return along * np.sign(along @ ahead)
