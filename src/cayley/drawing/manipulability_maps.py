"""Manipulability over two joints, or over a section of the workspace, with the singular configurations among them.

In a map over two joints the others are fixed, or follow from these through constraints. Over the section each place
shows the best of the configurations that were found to reach it; that of a free base, afloat or on wheels, is seen from
that base. The velocities of the frame are those by its drives. Singular configurations are found on lines through the
space of the joints: where the smallest singular value has a minimum on a line, golden sections lead to it, and it
counts if it is zero. Singularities that are single points, as redundant arms have, are met by no line and not shown.
Source of the indices: Ruggiu (2.59)-(2.63), (2.76)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.spatial import cKDTree

from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.canvas import INK, RED, Canvas, flat_style
from cayley.drawing.sampling import JointLimits, drives, is_tied_between, ranges
from cayley.drawing.skeleton import configurations
from cayley.drawing.views import drive_units, free_base, task_jacobian_kernel, task_rows
from cayley.drawing.workspaces import Workspace, gridded, workspace
from cayley.errors import ConventionError, ModelError, SignatureError, SingularityError
from cayley.extras import optional_imports
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.loops.closing import close
from cayley.kinematics.loops.closing_search import closed_nearby
from cayley.kinematics.loops.following_inputs import follow_inputs
from cayley.model.configurations import with_mimic_joints
from cayley.model.constraints import constraints_on
from cayley.model.tree import Tree
from cayley.showing import Pictured

with optional_imports():
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, MultipleLocator

if TYPE_CHECKING:
    from matplotlib.axis import Axis



Index = Literal["manipulability", "inverse_condition_number"]

_SAMPLES = 200_000
_GOLDEN = 0.5 * (np.sqrt(5) - 1)
_HALVINGS = 45


@dataclass(frozen=True, eq=False, repr=False)
class ManipulabilityMap(Pictured):
    """Values (k, l) of an index at places `horizontal` (l) and `vertical` (k), NaN where nothing is reached."""

    tree: Tree
    frame: str
    index: Index
    names: tuple[str, str]  # of the two coordinates
    horizontal: Array
    vertical: Array
    values: Array
    singular: Array  # (n, 2): places of singular configurations
    singular_configurations: Array  # (n, nq)
    q: Array  # where the other joints stand, (nq)
    unit: str
    space: Workspace | None  # of which this is a section, or None over joints

    def plot(self, *, ax: Canvas = None) -> Canvas:
        """The map with its level lines, and the singular configurations in red. Returns the Matplotlib axes."""
        return draw_map(self, ax)

    def __repr__(self) -> str:
        return (
            f"<{self.index} of {self.frame!r} over {self.names[0]} and {self.names[1]}: {np.nanmin(self.values):.4g} "
            f"to {np.nanmax(self.values):.4g} {self.unit}, {len(self.singular)} singular places>")


def manipulability_map(tree: Tree, frame: str, *, over: Sequence[str] | Literal["section"], q: ArrayLike | None = None,
                       task: str = "position", characteristic_length: float | None = None,
                       index: Index = "manipulability", resolution: int = 121, limits: JointLimits | None = None,
                       samples: int | None = None, seed: int = 0) -> ManipulabilityMap:
    """A map of the manipulability of a frame, over two coordinates.

    over     the names of two joints, the first to the right; or "section": that of the workspace (see
             `Workspace.section`)
    q        where the other joints stand (nq); by default at zero, or in the middle of their range where zero is
             outside, with loops closed
    task     "position", "orientation" or "pose"; of a planar mechanism what can change in its plane
    index    "manipulability", the product of the singular values, or "inverse_condition_number", from 0 (singular) to 1
             (isotropic)
    limits   by joint, instead of those of the model; turns without limits make one turn, slides without limits are an
             error
    samples  of the workspace that the section is of, 200000 unless it is said, with loops 20000

    A Jacobian that mixes metres and radians is a `ConventionError` unless `characteristic_length` says how many metres
    are worth a radian.

    >>> from cayley.model.catalogue import load_robot
    >>> found = manipulability_map(load_robot("planar2r"), "tool", over=("joint1", "joint2"), resolution=41)
    >>> round(float(found.values.max()), 6), found.unit       # 0.5 x 0.4, at right angles
    (0.2, 'm²')
    """
    if index not in ("manipulability", "inverse_condition_number"):
        raise ConventionError(f'the index must be "manipulability" or "inverse_condition_number", not {index!r}')
    rows = len(task_rows(tree, task)[0])
    columns = len(drive_units(tree, frame))
    if rows > columns:
        raise SingularityError(
            f"the task {task!r} of {frame!r} has {rows} rows, and only {columns} velocities move it: its "
            "manipulability is zero everywhere. Ask for a smaller task")
    jacobian = task_jacobian_kernel(tree, frame, task, characteristic_length)
    start = configurations(tree, q)[-1]
    is_closed = holds_positions(tree, frame)
    if is_closed:
        start = close(tree, start).configuration
    unit = _unit(tree, frame, task, characteristic_length) if index == "manipulability" else ""
    meter = Meter(jacobian, index, tree if is_closed else None)
    if isinstance(over, str):
        if over != "section":
            raise ConventionError(f'a map must be over the names of two joints, or over "section", not {over!r}')
        base = free_base(tree, frame)
        seen_from = None if base is None else tree.joints[base].child
        tied = is_tied_between(tree, frame, seen_from)
        space = workspace(tree, frame, samples=samples or (None if tied else _SAMPLES), seed=seed, limits=limits,
                          relative_to=seen_from, start=start if tied else None)
        return _over_section(tree, frame, meter, start, unit, space, resolution)
    return _over_joints(tree, frame, meter, start, unit, over, limits, resolution)


def holds_positions(tree: Tree, frame: str) -> bool:
    """True if a constraint other than a mimic joint ties positions of joints on the way to a frame together."""
    known = {each.name for each in (*tree.loops, *tree.constraints) if each.positions}
    way = tree.path(tree.body_number(tree.frame(frame).body))
    return any(each.name in known for each in constraints_on(tree, way))


@dataclass(frozen=True)
class Meter:
    """An index of configurations (..., nq), which are closed if there are loops."""

    jacobian: Callable[[Array], Array]
    index: Index
    looped: Tree | None = None

    def value(self, q: Array) -> Array:
        """The index, as `cayley.kinematics.singular.indices.indices`, from the singular values alone."""
        s = self.singular_values(q)
        if self.index == "manipulability":
            return np.prod(s, axis=-1)
        return s[..., -1] / np.where(s[..., 0] > 0, s[..., 0], 1.0)

    def singular_values(self, q: Array) -> Array:
        """The singular values at each configuration; NaN where it is none, or where the drives do not determine the
        motion."""
        J = np.asarray(self.jacobian(q))
        fine = np.isfinite(J).all(axis=(-2, -1))
        s = np.linalg.svd(np.where(fine[..., None, None], J, 0.0), compute_uv=False)
        return np.where(fine[..., None], s, np.nan)

    def closed(self, q: Array) -> Array:
        """The configurations (n, nq) near those that are given in which loops are closed, or NaN."""
        if self.looped is None or not len(q):
            return q
        found = closed_nearby(self.looped, Inputs.of(self.looped, ()), q, np.zeros(len(q)))
        return np.where(found.closed[:, None], found.q, np.nan)


def _over_joints(tree: Tree, frame: str, meter: Meter, start: Array, unit: str, over: Sequence[str],
                 limits: JointLimits | None, resolution: int) -> ManipulabilityMap:
    numbers = [tree.joint_number(name) for name in over]
    if len(numbers) != 2 or numbers[0] == numbers[1]:
        raise SignatureError(f"a map must be over the names of two different joints, not {list(over)}")
    for number in numbers:
        if tree.joints[number].motion.nq != 1:
            raise ModelError(
                f"joint {tree.joints[number].name!r} is {tree.joints[number].motion.word}: a map is over joints of one "
                "coordinate each")
    low, high = ranges(tree, numbers, limits)
    places = [tree.q_slices[number].start for number in numbers]
    across, up = (np.linspace(low[k], high[k], resolution) for k in places)
    if meter.looped is not None:
        grid = _closed_grid(tree, start, over, across, up)
    else:
        grid = np.broadcast_to(start, (resolution, resolution, tree.nq)).copy()
        grid[..., places[0]], grid[..., places[1]] = np.meshgrid(across, up)
        grid = with_mimic_joints(tree, grid)
    singular = np.concatenate([singular_on_lines(meter, lines) for lines in (grid, grid.swapaxes(0, 1))])
    names = [f"{name} [{tree.joints[k].motion.coordinate_units[0]}]" for name, k in zip(over, numbers, strict=True)]
    return ManipulabilityMap(tree, frame, meter.index, (names[0], names[1]), across, up, meter.value(grid),
                             singular[:, places], singular, start, unit, None)


def _closed_grid(tree: Tree, start: Array, over: Sequence[str], across: Array, up: Array) -> Array:
    """Closed configurations (k, l, nq) with two joints at the places of a grid and the other drives as at the start, on
    its branch; NaN where that does not lead along rows and columns."""
    driven = drives(tree)
    if len(driven) < 2:
        raise ModelError(f"{tree.name} has {len(driven)} degree of freedom: a map over two joints needs two")
    names = [*over, *[name for name in driven if name not in over]][:len(driven)]
    places = {name: tree.q_slices[tree.joint_number(name)].start for name in names}

    def swept(begun: Array, name: str, values: Array) -> Array:
        """From configurations (n, nq) on with one joint along its values, (n, values, nq)."""
        found = np.full((len(begun), len(values), tree.nq), np.nan)
        known = np.flatnonzero(np.isfinite(begun).all(axis=-1))
        middle = int(np.abs(values - start[places[name]]).argmin())
        for order in (np.arange(middle, len(values)), np.arange(middle)[::-1]):
            if len(order) and len(known):
                inputs = {each: np.repeat(begun[known, place, None], len(order), axis=1)
                          for each, place in places.items()} | {name: values[order]}
                path = follow_inputs(tree, inputs, begun[known], limits=True)
                found[known[:, None], order] = path.configuration
        return found

    columns = swept(swept(start[None], over[0], across)[0], over[1], up).swapaxes(0, 1)
    return np.where(np.isnan(columns), swept(swept(start[None], over[1], up)[0], over[0], across), columns)


def _over_section(tree: Tree, frame: str, meter: Meter, start: Array, unit: str, space: Workspace,
                  resolution: int) -> ManipulabilityMap:
    places, chosen, names = space.section
    value = np.nan_to_num(meter.value(space.configurations[chosen]), nan=-np.inf)
    cells, across, up = gridded(places, resolution)
    best = np.full((len(up), len(across)), -np.inf)
    np.maximum.at(best, (cells[:, 1], cells[:, 0]), value)
    some = space.configurations[:4000]
    lines = _random_lines(tree, some) if meter.looped is None else _short_lines(meter, some)
    singular = singular_on_lines(meter, lines)
    return ManipulabilityMap(tree, frame, meter.index, names, across, up, np.where(np.isinf(best), np.nan, best),
                             space.section_of(singular), singular, start, unit, space)


def _random_lines(tree: Tree, q: Array) -> Array:
    """Lines (k, 41, nq) between configurations (2 k, nq); turns without limits go over their seam, too."""
    start = q[: len(q) // 2]
    end = q[len(q) // 2: 2 * (len(q) // 2)].copy()
    endless = [
        place.start + k for joint, place in zip(tree.joints, tree.q_slices, strict=True)
        for k, (wraps, *ends) in enumerate(zip(joint.motion.wraps, joint.limits.lower, joint.limits.upper, strict=True))
        if wraps and not np.isfinite(ends).any()]
    end[:, endless] += 2 * np.pi * (np.arange(len(end)) % 3 - 1)[:, None]
    return np.linspace(start, end, 41, axis=1)


def _short_lines(meter: Meter, q: Array) -> Array:
    """Lines (n, 5, nq) of closed configurations between each of some (n, nq) and the one nearest to it."""
    nearest = cKDTree(q).query(q, k=2)[1][:, 1]
    lines = np.linspace(q, q[nearest], 5, axis=1)
    return meter.closed(lines.reshape(-1, q.shape[1])).reshape(lines.shape)


def singular_on_lines(meter: Meter, lines: Array) -> Array:
    """Singular configurations (n, nq) on lines (k, stations, nq), as far as the stations tell minima apart."""
    values = meter.singular_values(lines)
    small = values[..., -1]
    least = least_singular(values.shape[-1]) * float(np.nanmax(values[..., 0], initial=0.0))
    if not (small > least).any():
        raise SingularityError(
            "every configuration of this map is singular: ask for a smaller task, or move the other joints")
    ends = np.pad(np.where(np.isnan(small), np.inf, small), ((0, 0), (1, 1)), constant_values=np.inf)
    line, station = np.nonzero((small <= ends[:, :-2]) & (small <= ends[:, 2:]))
    last = lines.shape[1] - 1
    here = lines[line, station]
    low, high = (np.where(np.isfinite(beside), beside, here)
                 for beside in (lines[line, np.maximum(station - 1, 0)], lines[line, np.minimum(station + 1, last)]))
    best = np.concatenate([_least(meter, low, high), here])
    return best[meter.singular_values(best)[..., -1] <= least] if len(best) else best


def _least(meter: Meter, low: Array, high: Array) -> Array:
    """The places where the smallest singular value is least between configurations (n, nq), by golden sections of all
    at once."""
    for _ in range(_HALVINGS):
        left = meter.closed(high - _GOLDEN * (high - low))
        right = meter.closed(low + _GOLDEN * (high - low))
        lower = meter.singular_values(left)[:, -1:] < meter.singular_values(right)[:, -1:]
        low = np.where(lower, low, left)
        high = np.where(lower, right, high)
    return meter.closed(0.5 * (low + high))


def _unit(tree: Tree, frame: str, task: str, characteristic_length: float | None) -> str:
    """The unit of the product of the singular values."""
    if characteristic_length is not None:
        return ""
    rows = task_rows(tree, task)[1]
    columns = set(drive_units(tree, frame))
    power = len(rows) * ((rows[0] == "m") - (columns == {"m"}))
    return {0: "", 1: "m", 2: "m²", 3: "m³"}.get(power, f"m^{power}")


_WORDS = {"manipulability": "manipulability", "inverse_condition_number": "inverse condition number"}


def draw_map(found: ManipulabilityMap, ax: Canvas = None) -> Canvas:
    """The map of an index as a surface of colours with level lines; singular places as red dots that make up curves."""
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.4), layout="constrained").add_subplot()
    values = np.ma.masked_invalid(found.values)
    mesh = ax.pcolormesh(found.horizontal, found.vertical, values, cmap="viridis", vmin=0.0, shading="nearest",
                         rasterized=True, zorder=1)
    if found.space is None:
        levels = np.linspace(0, values.max(), 10)[1:-1]
        ax.contour(found.horizontal, found.vertical, values, levels=levels, colors="white", linewidths=0.5, alpha=0.7,
                   zorder=2)
        ax.set(xlabel=found.names[0], ylabel=found.names[1], xlim=found.horizontal[[0, -1]],
               ylim=found.vertical[[0, -1]])
        _degrees(ax.xaxis, found.names[0])
        _degrees(ax.yaxis, found.names[1])
    else:
        flat_style(ax, *found.names)
        ax.set_aspect("equal", adjustable="box")
        if not found.space.view.flat and found.space.axis is not None:
            ax.set_xlim(left=0.0)
    ax.plot(*found.singular.T, ".", ms=3.2, mew=0, color=RED, zorder=4, label="singular")
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.85, pad=0.02)
    best = "largest " if found.space is not None else ""
    bar.set_label(best + _WORDS[found.index] + (f" [{found.unit}]" if found.unit else ""))
    bar.outline.set_visible(False)
    if len(found.singular):
        ax.plot([], [], color=RED, lw=2, label="singular configurations")
        ax.legend(handles=ax.lines[-1:], loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize=9,
                  borderaxespad=0.2)
    ax.set_title(f"{found.tree.name}, {found.frame}", fontsize=10, color=INK, loc="left", parse_math=False,
                 pad=20 if len(found.singular) else 6)
    return ax


def _degrees(axis: Axis, name: str) -> None:
    """Angles are read in degrees."""
    if name.endswith("[rad]"):
        low, high = np.degrees(axis.get_view_interval())
        step = next(step for step in (1, 2, 5, 10, 15, 30, 45, 90, 180, 360, 1e9) if (high - low) / step <= 9)
        axis.set_major_locator(MultipleLocator(np.radians(step)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{round(np.degrees(value), 6):g}°"))
        axis.set_label_text(name.removesuffix(" [rad]"))
