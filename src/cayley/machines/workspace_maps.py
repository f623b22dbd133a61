"""Maps of the workspace of a parallel machine in a plane, with its singular curves.

In one working mode, and in the plane of a map, a machine stands at one posture for each point P (2) that it reaches.
    margins      (r) smooth functions, negative where a leg does not reach or a limit is exceeded
    Jx, Jq       Jx xd = Jq thetad of the posture, one unit in all columns of Jx
    inverse      curves where a leg is straight or folded, det Jq = 0: they bound the mode
    direct       curves where det Jx = 0: with all actuators held the platform moves
    limits       curves where a limit of the actuators is reached
The colour is the inverse condition number of Jq^-1 Jx: 0 where singular, 1 where isotropic.
Curves are found on a grid and corrected by Newton's method. A curve that ends inside the grid, because the function is
not a number beyond, is continued to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from contourpy import contour_generator

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError
from cayley.kinematics.continuation import corrected, follow
from cayley.showing import Pictured

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_EDGE = 1e-12  # of the largest margin: how far outside another leg's reach a curve may be


class Posture(NamedTuple):
    """Of a point of the plane: margins of the legs' reach (r) and of limits (l), Jx (m, m) and the diagonal Jq (m)."""

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

    def draw(self, *, ax: Axes | None = None) -> Axes:
        """The map in colours with its curves: inverse singularities dark, direct ones red. Returns the Matplotlib
        axes."""
        return draw_workspace_map(self, ax)

    def __repr__(self) -> str:
        return (f"<{self.title}: area {self.area:.4g} m^2, {len(self.inverse)} inverse and {len(self.direct)} direct "
                f"singular curves, best inverse condition number {np.nanmax(self.values, initial=0.0):.3g}>")


def workspace_map(fields: Fields, *, box: ArrayLike, resolution: int, title: str, names: tuple[str, str],
                  sketch: Callable[[Array], Sequence[Array]] | None = None) -> WorkspaceMap:
    """The map of fields over a box ((left, bottom), (right, top)) with so many places along its longer side."""
    horizontal, vertical = grid_of(box, resolution)
    P = np.stack(np.meshgrid(horizontal, vertical), axis=-1)
    values = fields.index(P)
    scale = np.nanmax(np.abs(fields.margins(P)), axis=(0, 1), initial=1e-300)

    def curves(place: int | None) -> list[Array]:
        others = [k for k in range(fields.size) if k != place]

        def inside(points: Array) -> Array:
            return (fields.margins(points)[..., others] >= -_EDGE * scale[others]).all(axis=-1)

        return zero_curves(fields.field(place), horizontal, vertical, inside=inside)

    reach = [curve for k in range(fields.legs) for curve in curves(k)]
    limits = [curve for k in range(fields.legs, fields.size) for curve in curves(k)]
    best = P[np.unravel_index(np.nanargmax(values), values.shape)] if np.isfinite(values).any() else None
    return WorkspaceMap(title, names, horizontal, vertical, values, tuple(reach), tuple(curves(None)), tuple(limits),
                        tuple(sketch(best)) if sketch is not None and best is not None else ())


@dataclass(frozen=True, eq=False)
class Fields:
    """The functions of a posture in one slice of the workspace: margins and the determinant with their gradients, Jx
    and Jq."""

    kernels: FieldKernels
    at: Array

    @property
    def legs(self) -> int:
        return self.kernels.legs

    @property
    def size(self) -> int:
        return self.kernels.size

    def margins(self, P: Array) -> Array:
        """(..., r + l)."""
        return self.kernels.margins(P, self.at)[..., 0]

    def index(self, P: Array) -> Array:
        """The inverse condition number (...), NaN outside."""
        Jx, Jq = self.kernels.jacobians(P, self.at)
        with np.errstate(all="ignore"):
            K = Jx / Jq[..., None]
            fine = np.isfinite(K).all(axis=(-2, -1)) & (self.margins(P) >= 0).all(axis=-1)
        found = np.full(fine.shape, np.nan)
        s = np.linalg.svd(K[fine], compute_uv=False)
        found[fine] = s[..., -1] / s[..., 0]
        return found

    def field(self, place: int | None) -> Callable[[Array], Array]:
        """One of the margins, by its place, or the determinant, with its gradient."""
        if place is None:
            return lambda P: self.kernels.determinant(P, self.at)
        return lambda P: self.kernels.margins(P, self.at)[..., place, :]


@dataclass(frozen=True, eq=False)
class FieldKernels:
    """Compiled functions of a point P (2) and of where the slice is (s)."""

    jacobians: Kernel[tuple[Array, Array]]
    margins: Kernel
    determinant: Kernel
    legs: int
    size: int

    @staticmethod
    def of(posture: Callable[[Array, Array], Posture], slices: int) -> FieldKernels:
        """The kernels of a text `posture(P, at)`."""
        probe = posture(np.array([0.1234567, 0.2345678]), np.full(slices, 0.3))
        m = len(probe.Jq)
        size = len(probe.reach) + len(probe.limits)

        def margins(P: Array, at: Array) -> Array:
            found = posture(P, at)
            return np.concatenate([found.reach, found.limits])

        def determinant(P: Array, at: Array) -> Scalar:
            return np.linalg.det(wrapped(posture(P, at).Jx))

        def jacobians(P: Array, at: Array) -> tuple[Array, Array]:
            found = posture(P, at)
            return found.Jx, found.Jq

        return FieldKernels(kernel(f"(2),({slices})->({m},{m}),({m})", outputs=("Jx", "Jq"))(jacobians),
                            _with_gradient(margins, slices, (size,)), _with_gradient(determinant, slices, ()),
                            len(probe.reach), size)


def _with_gradient(text: Callable[[Array, Array], Scalar], slices: int, shape: tuple[int, ...]) -> Kernel:
    """A kernel (2), (s) -> (*shape, 3) of values and gradients."""
    core = ",".join(map(str, shape))
    function = kernel(f"(2),({slices})->({core})")(text)
    slope = function.jacobian("P")

    def field(P: Array, at: Array) -> Array:
        return np.concatenate([np.asarray(function(P, at))[..., None], slope(P, at)], axis=-1)

    return kernel(f"(2),({slices})->({','.join(map(str, (*shape, 3)))})")(field)


def grid_of(box: ArrayLike, resolution: int) -> tuple[Array, Array]:
    """The places (l) and (k) of a grid over a box ((left, bottom), (right, top))."""
    corners = np.asarray(box, dtype=float)
    if corners.shape != (2, 2) or not np.isfinite(corners).all() or not (corners[0] < corners[1]).all():
        raise ConventionError(f"a box is ((left, bottom), (right, top)) in metres, not {box!r}")
    if resolution < 8:
        raise ConventionError(f"a map has at least 8 places along a side, not {resolution}")
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


_INK = "#333333"
_RED = "#d1495b"
_BLUE = "#1b6ca8"
_LINES = (("inverse", _INK, "inverse singularity: a leg straight or folded"),
          ("limits", _BLUE, "limit of a joint"), ("direct", _RED, "direct singularity: a motion is gained"))


def draw_workspace_map(found: WorkspaceMap, ax: Axes | None = None) -> Axes:
    """The inverse condition number in colours, the singular curves over it, and the machine in its best posture."""
    if ax is None:
        import matplotlib.pyplot as plt
        ax = plt.figure(figsize=(6.4, 5.8), layout="constrained").add_subplot()
    mesh = ax.pcolormesh(found.horizontal, found.vertical, np.ma.masked_invalid(found.values), cmap="viridis", vmin=0.0,
                         vmax=max(float(np.nanmax(found.values, initial=0.0)), 1e-3), shading="nearest",
                         rasterized=True, zorder=1)
    for kind, colour, label in _LINES:
        for number, curve in enumerate(getattr(found, kind)):
            ax.plot(*curve.T, color=colour, lw=2.0 if kind == "direct" else 1.4, zorder=3,
                    label=label if number == 0 else None, solid_capstyle="round")
    for line in found.sketch:
        ax.plot(*line.T, color="white", lw=4.0, zorder=4, solid_capstyle="round", solid_joinstyle="round", alpha=0.8)
        ax.plot(*line.T, color=_INK, lw=1.8, marker="o", ms=3.5, zorder=5)
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label("inverse condition number", fontsize=9)
    bar.outline.set_visible(False)
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel=found.names[0], ylabel=found.names[1])
    ax.set_title(found.title, fontsize=10, color=_INK, loc="left", parse_math=False)
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False, fontsize=8, ncols=1)
    return ax
