"""Motions as pictures: a GIF or an MP4, drawn from picture to picture on axes that stay, or the mechanism at several
instants in one picture."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.canvas import INK, Canvas, draw_floor, fit, new_axes, on_screen
from cayley.drawing.contact_arrows import draw_contacts, touching_spots
from cayley.drawing.played import MotionLike, chosen, forces_at, played
from cayley.drawing.skeleton import skeleton, stands_on_legs
from cayley.drawing.solids import Skins, skins
from cayley.drawing.stick_figures import draw_figures, draw_trails, shown_frames, stick_figure, triad_ends
from cayley.drawing.views import ViewAxes, view_for, view_of
from cayley.errors import ConventionError, ModelError, UnsupportedError, shown
from cayley.extras import optional_imports
from cayley.model.parts import Frame
from cayley.model.tree import Tree
from cayley.progress import PatientBar

with optional_imports():
    import matplotlib.pyplot as plt
    from PIL import Image

_RATE = 20  # pictures a second; a GIF counts hundredths of a second
_DPI = 100
_TRIANGLES = 5000  # of all shapes: a picture has few points, and there are many pictures
_MARGIN = 24  # pixels around what is drawn
_MOST_WRITTEN = 8  # times in the title
_ON_THE_WAY = 200  # points of a trail


def animate(tree: Tree, motion: MotionLike, path: str | os.PathLike[str], *, speed: float = 1.0,
            frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
            shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path:
    """Write a motion as a .gif, or as an .mp4 where the program ffmpeg is installed: the run of a simulation, a planned
    motion, or a pair (times, configurations).

    speed     how many times as fast as it is, 2 for twice as fast
    frames    frames to draw as triads, as in `stick_figure`; `trail`: the ways of their origins until now
    shapes    "visual" or "collision", or None for sticks, as in `stick_figure`
    size      of the picture [inches of 100 points]

    `arm.animate` writes pages that play it in 3-D, too. Returns the path.

    >>> import tempfile
    >>> from cayley.model.catalogue import load_robot
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate(load_robot("planar2r"), ([0.0, 0.1], [[0.0, 0.0], [0.3, 0.5]]), f"{folder}/move.gif").name
    'move.gif'
    """
    place = Path(path)
    if place.suffix.lower() not in _WRITERS:
        raise ConventionError(f"a moving picture must be a {' or '.join(_WRITERS)}, not {place.name!r}")
    if not (np.isfinite(speed) and speed > 0):
        raise ModelError(f"the speed of a moving picture must be positive, not {shown(speed)}")
    if not place.absolute().parent.is_dir():
        raise ModelError(f"the folder {place.parent} does not exist: create it, or write the picture elsewhere")
    _WRITERS[place.suffix.lower()](place, _pictures(tree, motion, speed, frames, trail, ground, shapes, size))
    return place


def _write_gif(place: Path, pictures: Iterator[Image.Image]) -> None:
    first, *others = [picture.quantize(128) for picture in pictures]
    first.save(place, save_all=True, append_images=others, duration=round(1000 / _RATE), loop=0, disposal=1)


def _write_mp4(place: Path, pictures: Iterator[Image.Image]) -> None:
    """Pictures into the pipe of ffmpeg, which wants even numbers of points."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise UnsupportedError(f"{place.name!r} needs the program ffmpeg, which is not installed: install it, or "
                               f"write a .gif or an .html page")
    first = next(pictures)
    given = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{first.width}x{first.height}", "-r", str(_RATE), "-i", "-"]
    made = ["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white", "-pix_fmt", "yuv420p", str(place.absolute())]
    done = subprocess.run([program, "-y", "-loglevel", "error", *given, *made], capture_output=True, check=False,
                          input=b"".join(picture.tobytes() for picture in (first, *pictures)))
    if done.returncode:
        raise UnsupportedError(f"ffmpeg did not write {place.name!r}: {done.stderr.decode(errors='replace').strip()}")


_WRITERS: dict[str, Callable[[Path, Iterator[Image.Image]], None]] = {".gif": _write_gif, ".mp4": _write_mp4}


def _pictures(tree: Tree, motion: MotionLike, speed: float, frames: str | Sequence[str], trail: bool, ground: bool,
              shapes: str | None, size: tuple[float, float] | None) -> Iterator[Image.Image]:
    times, way = played(tree, motion, speed / _RATE)
    view = view_of(tree)
    followed = shown_frames(tree, frames)
    figures = [skeleton(tree, q) for q in way]
    largest = max(figure.size for figure in figures)
    origins = {frame.name: np.stack([figure.frame_pose(frame).p for figure in figures]) for frame in followed}
    tips = [triad_ends(figure.frame_pose(frame), largest) for figure in figures for frame in followed]
    skin = None if view.flat else skins(tree, figures[:1], shapes, _TRIANGLES)
    worn = [None if skin is None else Skins([figure], skin.surfaces) for figure in figures]
    outlines = [each.points for each in worn if each is not None]
    room = np.concatenate([*[figure.points for figure in figures], *outlines, *tips])
    forces = forces_at(motion, times)
    ax = new_axes(view, size)
    try:
        if ground and not view.flat:
            low = min(points[:, 2].min() for points in [*[figure.points for figure in figures], *outlines])
            room = np.concatenate([room, draw_floor(ax, room, float(low) if stands_on_legs(tree) else 0.0)])
        fit(ax, view(room), first=True)
        box = _kept_still(ax, view(room))
        label = ax.figure.text(0.02, 1 - (box[3] - 8) / ax.figure.bbox.height, "", fontsize=9, color=INK)
        fixed = set(ax.get_children())
        with PatientBar(f"{tree.name}, pictures", len(figures)) as bar:
            for k, (time, figure) in enumerate(zip(times, figures, strict=True)):
                draw_figures([figure], worn[k], frames=frames, labels=False, ground=ground and view.flat, trail=False,
                             ax=ax)
                if forces is not None:
                    draw_contacts(ax, view, touching_spots(tree, way[k], forces[k]), largest,
                                  float(np.linalg.norm(forces, axis=-1).max()) or None)
                if trail:
                    _draw_ways(ax, view, tree, followed, origins, k)
                label.set_text(f"{time:.2f} s")
                yield _image(ax, box)
                for artist in set(ax.get_children()) - fixed:
                    artist.remove()
                bar.reached(k + 1)
    finally:
        plt.close(ax.figure)


def _draw_ways(ax: Canvas, view: ViewAxes, tree: Tree, frames: Sequence[Frame], origins: dict[str, Array],
               last: int) -> None:
    for frame in frames:
        if frame.body != tree.bodies[0].name:
            ax.plot(*view(origins[frame.name][:last + 1]).T, color=INK, lw=0.9, ls=(0, (4, 2)), zorder=10)


def _kept_still(ax: Canvas, room: Array) -> tuple[int, int, int, int]:
    """Keep axes as they are from now on; and the part of the picture, in pixels from its left top, that is drawn on."""
    figure = ax.figure
    figure.set_dpi(_DPI)
    figure.canvas.draw()
    figure.set_layout_engine("none")
    width = round(figure.bbox.width)
    height = round(figure.bbox.height)
    if ax.name != "3d":
        ax.set(xlim=ax.get_xlim(), ylim=ax.get_ylim(), adjustable="box")
        return 0, 0, width, height
    seen = on_screen(ax, room)[:, 1]
    bottom = max(0, int(seen.min()) - _MARGIN)
    for text in ax.texts:
        text.set_transform(figure.transFigure)
        text.set_position((0.98, (bottom + 8) / height))
    return 0, max(0, height - int(seen.max()) - _MARGIN), width, height - bottom


def _image(ax: Canvas, box: tuple[int, int, int, int]) -> Image.Image:
    ax.figure.canvas.draw()
    return Image.fromarray(np.asarray(ax.figure.canvas.buffer_rgba())).convert("RGB").crop(box)


def draw_instants(tree: Tree, motion: MotionLike, times: int | ArrayLike = 5, *, frames: str | Sequence[str] = "ends",
                  labels: bool = True, ground: bool = True, trail: bool = True, ax: Canvas = None) -> Canvas:
    """Draw a mechanism at `times` of a motion [s], or at a number of evenly spaced times, as `stick_figure` does, with
    the contact forces at the last of them.

    >>> from cayley.model.catalogue import load_robot
    >>> draw_instants(load_robot("planar2r"), ([0.0, 1.0], [[0.0, 0.0], [1.0, 2.0]]), [0.0, 0.5, 0.8]).get_title()
    't = 0, 0.5, 0.8 s'
    """
    at, q = chosen(tree, motion, times)
    drawn = stick_figure(tree, q, frames=frames, labels=labels, ground=ground, trail=False, ax=ax)
    if (forces := forces_at(motion, at[-1:])) is not None:
        figure = skeleton(tree, q[-1])
        draw_contacts(drawn, view_for(tree, drawn), touching_spots(tree, q[-1], forces[0]), figure.size)
    if trail and len(at) > 1:
        _, way = chosen(tree, motion, np.linspace(at.min(), at.max(), _ON_THE_WAY))
        figures = [skeleton(tree, one) for one in way]
        draw_trails(drawn, view_for(tree, drawn), figures,
                    [frame for frame in shown_frames(tree, frames) if frame.body != tree.bodies[0].name])
    written = [f"{time:.3g}" for time in at]
    if len(written) > _MOST_WRITTEN:
        written = [written[0], written[1], "...", written[-1]]
    words = f"t = {', '.join(written)} s"
    if drawn.name == "3d":  # a title would take room from what is fitted to the axes
        drawn.text2D(0.02, 0.02, words, transform=drawn.transAxes, fontsize=9, color=INK)
    else:
        drawn.set_title(words, fontsize=9, color=INK)
    return drawn
