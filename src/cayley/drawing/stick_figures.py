"""The robot as a stick figure: links as rods, revolute joints as short cylinders along their axes, prismatic ones as
sleeves, frames as triads. In space everything opaque is one collection of polygons, sorted by depth; a planar robot is
drawn in its plane."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing import canvas, solids
from cayley.drawing.canvas import Canvas, Labels
from cayley.drawing.skeleton import (
    JointMark,
    LinkLine,
    Skeleton,
    SlideLine,
    configurations,
    floats,
    held_frames,
    largest_mark,
    pivots,
    roams,
    skeleton,
    stands_on_legs,
    without_repetitions,
)
from cayley.drawing.solids import Skins, skins
from cayley.drawing.views import ViewAxes, view_for
from cayley.extras import optional_imports
from cayley.geometry.pose import Pose
from cayley.model.parts import Frame
from cayley.model.tree import Tree

with optional_imports():
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Circle, Polygon

if TYPE_CHECKING:
    from matplotlib.patches import Patch

COLORS = {"turn": canvas.BLUE, "slide": canvas.ORANGE, "screw": canvas.PURPLE, "ball": canvas.GREEN}
SLIDE = "#b9a58f"
PLATE = "#c3ccd6"
_MANY_ENDS = 6  # with more, no end is named unless asked for


def stick_figure(tree: Tree, q: ArrayLike | None = None, *, frames: str | Sequence[str] = "ends", labels: bool = True,
                 ground: bool = True, trail: bool = True, shapes: str | None = "visual",
                 ax: Canvas = None) -> Canvas:
    """Draw a mechanism at a configuration (nq), or at several (k, nq): the last in full colour, those before it the
    paler the earlier.

    frames    names of frames or bodies to draw as triads, x red, y green, z blue; "ends": the root and the ends of the
              chains, unless
              these are more than six; "bodies": every body; () for none
    labels    their names beside them, and for several configurations with `trail` the paths of their origins
    ground    a floor below, or in a plane the hatched ground at the root, or all along below what goes where it likes
    shapes    "visual" or "collision": the shapes of a URDF or MJCF file in place of the sticks, in space, if it has
              any (read now; a `ModelWarning` names what is missing); None for sticks
    ax        Matplotlib axes to draw on; by default new ones, in a plane along its normal if the mechanism is planar.
              On empty axes the
              ground takes the place of the frame with numbers in space (`ax.set_axis_on()` brings it back)

    Without `q` every joint is at its zero, or in the middle of its range where zero is outside. Returns the Matplotlib
    axes.

    >>> from cayley.model.catalogue import load_robot
    >>> stick_figure(load_robot("planar2r"), [0.5, 0.8]).name, stick_figure(load_robot("panda")).name
    ('rectilinear', '3d')
    """
    figures = [skeleton(tree, one) for one in configurations(tree, q)]
    skin = None if view_for(tree, ax).flat else skins(tree, figures, shapes)
    return draw_figures(figures, skin, frames=frames, labels=labels, ground=ground, trail=trail, ax=ax)


def draw_figures(figures: Sequence[Skeleton], skin: Skins | None, *, frames: str | Sequence[str], labels: bool,
                 ground: bool, trail: bool, ax: Canvas) -> Canvas:
    """Draw figures whose shapes have been read."""
    tree = figures[-1].tree
    view = view_for(tree, ax)
    shown = shown_frames(tree, frames)
    first = ax is None or not ax.has_data()
    ax = canvas.new_axes(view) if ax is None else ax
    if ax.name == "3d":
        ax.computed_zorder = False
        if first and ground:
            ax.set_axis_off()
    elif first:
        canvas.flat_style(ax, *view.names)
    points = np.concatenate([*[figure.points for figure in figures], *([] if skin is None else [skin.points])])
    triads = [figures[-1].frame_pose(frame) for frame in shown]
    size = max(figure.size for figure in figures)
    tips = np.concatenate([points, *[triad_ends(pose, size) for pose in triads]])
    if view.flat:
        _draw_flat(ax, view, figures)
    else:
        _draw_solid(ax, figures, skin)
    outlines = [] if skin is None else [skin.points]
    room = _draw_ground(ax, view, figures, tips, outlines) if ground else np.zeros((0, 3))
    tips = np.concatenate([tips, room])
    for pose in triads:
        draw_triad(ax, view, pose, size)
    if trail and len(figures) > 1:
        draw_trails(ax, view, figures, [frame for frame in shown if frame.body != tree.bodies[0].name])
    canvas.fit(ax, view(tips), first=first)
    if labels and shown:
        _draw_labels(ax, view, [frame.name for frame in shown], triads, figures[-1], size,
                     room if view.flat else room[:0])
    return ax


def shown_frames(tree: Tree, frames: str | Sequence[str]) -> list[Frame]:
    """The frames that a word or names stand for."""
    if frames == "bodies":
        return [tree.frame(body.name) for body in tree.bodies]
    if frames == "ends":
        inner = {joint.parent for joint in tree.bare_joints}
        ends = [
            end for joint in tree.bare_joints if (body := tree.bodies[tree.body_number(joint.child)]).name not in inner
            if (end := _end_frame(tree, body.name)) is not None]
        root = [] if floats(tree) else [tree.frame(tree.bodies[0].name)]
        return root + (ends if len(ends) <= _MANY_ENDS else [])
    return [tree.frame(name) for name in ([frames] if isinstance(frames, str) else frames)]


def _end_frame(tree: Tree, body: str) -> Frame | None:
    """The frame "tool" on the last body of a chain, or the last one there, or the body; None if loops end there."""
    held = held_frames(tree)
    there = [frame for frame in tree.frames if frame.body == body]
    free = [frame for frame in there if frame.name == "tool" or frame.name not in held]
    if not free:
        return None if there or body in held else tree.frame(body)
    return next((frame for frame in free if frame.name == "tool"), free[-1])


def _draw_solid(ax: Canvas, figures: Sequence[Skeleton], skin: Skins | None) -> None:
    """Draw all configurations as one collection sorted by depth; bodies with shapes have no sticks."""
    polygons: solids.Polygons = []
    colors = []
    if skin is not None:
        for k, fade in enumerate(fades(len(figures))):
            triangles, shades = skin.polygons(k, fade)
            polygons += triangles
            colors.append(shades)
    for k, (parts, fade) in enumerate(zip(without_repetitions(figures), fades(len(figures)), strict=True)):
        size = largest_mark(figures[-1].tree) * figures[-1].size
        plates = [(PLATE, solids.plate(corners, size)) for body, corners in figures[k].plates.items()
                  if not any(np.allclose(corners, later.plates[body], atol=1e-9) for later in figures[k + 1:])]
        if skin is not None:
            every = set(figures[k].tree.body_names) <= skin.surfaces.bare
            plates = plates if every else []
            parts = parts if every else ([line for line in parts[0] if line.body in skin.surfaces.bare], [], [])
        for color, part in [*plates, *_solids(*parts, size)]:
            polygons += part
            colors.append(solids.shaded(part, color, fade))
    if polygons:
        faces = np.concatenate(colors)
        canvas.add_polygons(ax, polygons, facecolors=faces, edgecolors=faces, linewidths=0.3, zorder=5, label="_robot")


def _solids(lines: Sequence[LinkLine], slides: Sequence[SlideLine], marks: Sequence[JointMark],
            size: float) -> list[tuple[str, solids.Polygons]]:
    rod = 0.3 * size
    piece = size
    found = [(canvas.GREY, solids.tube(line.points, rod if line.carries else 0.45 * rod, piece)) for line in lines]
    found += [(SLIDE, solids.tube(slide.points, 0.75 * rod, piece)) for slide in slides]
    return found + [(COLORS[mark.mark.color], joint_solid(mark)) for mark in marks]


def joint_solid(mark: JointMark) -> solids.Polygons:
    """The solid that stands for a joint: a cylinder along each axis of a turn, a sleeve, a ball or a plate."""
    center = mark.center
    size = mark.size
    if mark.mark.shape == "ball":
        return solids.sphere(center, 1.2 * size)
    if mark.mark.shape == "sleeve":
        return solids.box(center, mark.axes[0], 0.85 * size, 1.7 * size)
    if mark.mark.shape == "plate":
        return solids.box(center, mark.axes[0], 2.2 * size, 0.3 * size)
    return [polygon for axis in mark.axes for polygon in solids.cylinder(center, axis, 0.8 * size, 1.35 * size)]


def _draw_flat(ax: Canvas, view: ViewAxes, figures: Sequence[Skeleton]) -> None:
    for depth, ((lines, slides, marks),
                fade) in enumerate(zip(without_repetitions(figures), fades(len(figures)), strict=True)):
        level = 5 + depth / len(figures)
        ground = figures[-1].tree.bodies[0].name if _on_supports(figures[-1].tree) else None
        for line in lines:
            if line.body == ground:
                continue
            ax.plot(*view(line.points).T, color=_pale(canvas.GREY, fade), lw=5 if line.carries else 2, zorder=level,
                    solid_capstyle="round", solid_joinstyle="round", label=f"_{line.body}")
        for slide in slides:
            ax.plot(*view(slide.points).T, color=_pale(SLIDE, fade), lw=3, solid_capstyle="round", zorder=level,
                    label=f"_{slide.joint}")
        for mark in marks:
            ax.add_patch(_joint_patch(view, mark, fade, level + 0.5 / len(figures)))


def _joint_patch(view: ViewAxes, mark: JointMark, fade: float, level: float) -> Patch:
    style = {
        "facecolor": _pale(COLORS[mark.mark.color], fade), "edgecolor": _pale("#ffffff", fade), "lw": 1.0,
        "zorder": level, "label": f"_{mark.joint}"}
    center = view(mark.center)
    if mark.mark.shape == "sleeve":
        along = view(mark.axes[0])
        across = np.array([-along[1], along[0]])
        corners = [
            a * 2.0 * mark.size * along + b * mark.size * across for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
        return Polygon(center + corners, closed=True, **style)
    return Circle((center[0], center[1]), mark.size, **style)


def _pale(color: str, fade: float) -> Array:
    return (1 - fade) * np.array(to_rgb(color)) + fade


def fades(count: int) -> Array:
    """Fading of each of several configurations; the last is not faded."""
    return np.append(np.linspace(0.82, 0.55, count - 1), 0.0) if count > 1 else np.zeros(1)


def _draw_ground(ax: Canvas, view: ViewAxes, figures: Sequence[Skeleton], points: Array,
                 outlines: Sequence[Array]) -> Array:
    """Draw the floor below a figure in space and below the outlines (k, 3) of its shapes, or in a plane a hatched wedge
    at the root, and return the corners (k, 3) of what was drawn."""
    tree = figures[-1].tree
    if not view.flat:
        lowest = min([solid[:, 2].min() for solid in (*[figure.points for figure in figures], *outlines)])
        return canvas.draw_floor(ax, points, float(lowest) if stands_on_legs(tree) else 0.0)
    if floats(tree):
        return np.zeros((0, 3))
    size = max(figure.size for figure in figures)
    if _walks(tree, view):
        return _draw_level(ax, view, points, size)
    wide = 0.075 * size
    deep = 0.05 * size
    places = pivots(tree) if _on_supports(tree) else np.zeros((1, 3))
    return np.concatenate([_draw_support(ax, view, place, wide / len(places)**0.25, deep) for place in places])


def _walks(tree: Tree, view: ViewAxes) -> bool:
    """True if a planar machine moves freely above the ground, without a pivot there."""
    on_root = [joint for joint in tree.joints if joint.parent == tree.bodies[0].name and joint.motion.nv]
    gravity = np.asarray(tree.gravity)
    upright = np.any(gravity) and abs(gravity @ view.normal) < 1e-6 * np.linalg.norm(gravity)
    return bool(upright) and bool(on_root) and all(roams(joint) for joint in on_root)


def _draw_level(ax: Canvas, view: ViewAxes, points: Array, size: float) -> Array:
    """Draw the hatched ground at the height of the root, and return the corners (4, 3) below the figures."""
    right, up = view.rows
    deep = 0.03 * size
    ax.axhspan(-deep, 0.0, facecolor="white", edgecolor=canvas.GREY, lw=0.0, hatch="/////", zorder=3)
    ax.axhline(0.0, color=canvas.INK, lw=1.0, zorder=4, label="_ground")
    ends = (points @ right).min() - 0.1 * size, (points @ right).max() + 0.1 * size
    return np.stack([x * right + z * up for x in ends for z in (0.0, -deep)])


def _on_supports(tree: Tree) -> bool:
    """True if the ground of a planar machine is drawn as supports of its pivots: where loops go through it."""
    return bool(held_frames(tree)) and len(pivots(tree)) > 1


def _draw_support(ax: Canvas, view: ViewAxes, place: Array, wide: float, deep: float) -> Array:
    """A hatched wedge below a pivot, and its corners (4, 3)."""
    right, up = view.rows
    foot = place + np.stack([np.zeros(3), -0.8 * wide * right - deep * up, 0.8 * wide * right - deep * up])
    slab = place + np.stack([-1.4 * wide * right - deep * up, 1.4 * wide * right - deep * up,
                             1.4 * wide * right - 1.7 * deep * up, -1.4 * wide * right - 1.7 * deep * up])
    ax.add_patch(Polygon(view(foot), closed=True, facecolor="#cfd5dc", edgecolor=canvas.INK, lw=0.8, zorder=4))
    ax.add_patch(Polygon(view(slab), closed=True, fc="white", ec=canvas.GREY, lw=0.0, hatch="/////", zorder=3))
    ax.plot(*view(slab[:2]).T, color=canvas.INK, lw=1.0, zorder=4)
    return slab


def triad_ends(pose: Pose, size: float) -> Array:
    """Ends of the arms of a triad, as rows (3, 3)."""
    return pose.p + 0.11 * size * pose.R.T


def draw_triad(ax: Canvas, view: ViewAxes, pose: Pose, size: float) -> None:
    """The axes of a frame: x red, y green, z blue; in a plane one towards the eye is a dot, one away a cross."""
    for end, color, name in zip(triad_ends(pose, size), canvas.TRIAD, "xyz", strict=True):
        arm = view(np.stack([pose.p, end]))
        if view.flat and np.linalg.norm(arm[1] - arm[0]) < 0.05 * 0.11 * size:
            towards = (end - pose.p) @ view.normal > 0
            ax.plot(*arm[0], "o", ms=6.5, mfc="white", mec=color, mew=1.3, zorder=12)
            ax.plot(*arm[0], "." if towards else "x", ms=4, color=color, zorder=13)
        else:
            ax.plot(*arm.T, color=color, lw=1.9, solid_capstyle="round", zorder=11, label=f"_{name}")


def draw_trails(ax: Canvas, view: ViewAxes, figures: Sequence[Skeleton], frames: Sequence[Frame]) -> None:
    for frame in frames:
        path = np.stack([figure.frame_pose(frame).p for figure in figures])
        ax.plot(*view(path).T, color=canvas.INK, lw=0.9, ls=(0, (4, 2)), zorder=10, label=f"_trail of {frame.name}")


def _draw_labels(ax: Canvas, view: ViewAxes, names: Sequence[str], poses: Sequence[Pose], figure: Skeleton,
                 size: float, supports: Array) -> None:
    """Draw one label for each place beside the figure and its supports (4 k, 3); frames may share an origin."""
    shared: dict[tuple[float, ...], list[str]] = {}
    for name, pose in zip(names, poses, strict=True):
        shared.setdefault(tuple(np.round(view(pose.p) / size, 4) + 0.0), []).append(name)
    arms = [np.linspace(pose.p, end, 6) for pose in poses for end in triad_ends(pose, size)]
    ways = [np.linspace(a, b, 12) for path in figure.paths for a, b in pairwise(path)]
    ways += [np.concatenate(joint_solid(mark)) for mark in figure.marks]
    ways += [np.linspace(mark.center - reach, mark.center + reach, 24) for mark in figure.marks
             if mark.mark.shape == "sleeve" and np.any(reach := 2.0 * mark.size * mark.axes[0])]
    ways += [np.linspace(corners, np.roll(corners, -1, axis=0), 8).reshape(-1, 3)
             for corners in supports.reshape(-1, 4, 3)]
    Labels(ax, np.array(list(shared)) * size, [", ".join(group) for group in shared.values()],
           view(np.concatenate([*arms, *ways, [pose.p for pose in poses]])))
