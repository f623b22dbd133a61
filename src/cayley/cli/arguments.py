"""Arguments that several commands share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.terminal import note
from cayley.compiler.typing import Array
from cayley.errors import CayleyError, ModelError, ModelWarning
from cayley.extras import optional_imports
from cayley.model.formats import endings, files_in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.mechanism import Mechanism


def option(flag: str, metavar: str, words: str) -> Any:  # noqa: ANN401 (the declaration of an option)
    """An option whose help tells its default, if it has one."""
    return typer.Option(flag, metavar=metavar, show_default=False, help=words)


def completions(incomplete: str) -> list[str]:
    """Robots and files that begin so. The catalogue's folder is listed, not loaded: a shell does not wait."""
    from importlib.resources import files
    names = sorted(entry.name[:-5] for entry in (files("cayley.model") / "catalogue").iterdir()
                   if entry.name.endswith(".toml"))
    return [name for name in names if name.startswith(incomplete)] + list(_files(incomplete))


def _files(incomplete: str) -> Iterator[str]:
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent).expanduser()
    if folder.is_dir():
        for entry in sorted(folder.iterdir()):
            shown = str(entry) + ("/" if entry.is_dir() else "")
            usable = entry.is_dir() or entry.suffix.lower() in endings()
            if usable and shown.startswith(incomplete) and not entry.name.startswith("."):
                yield shown


Robot = Annotated[str, typer.Argument(metavar="ROBOT", autocompletion=completions, show_default=False,
                                      help=f"A name of the catalogue, or a {files_in_words()}.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Frame = Annotated[str, option("--frame", "TEXT", 'The frame (default: "tool" or the only end).')]

_TRUST = ContextVar("trust", default=False)


def said_trust(said: bool) -> bool:
    """Keep whether the command is `cayley --trust ...`, for what it loads."""
    _TRUST.set(said)
    return said


def trusted() -> bool:
    """True for the command `cayley --trust ...`."""
    return _TRUST.get()


def load(name: str) -> Mechanism:
    """Mechanism that an argument names; warnings about its file are printed as notes."""
    import cayley as cy
    with told():
        return cy.load(name, trust=trusted())


@contextmanager
def told() -> Iterator[None]:
    """Print warnings about a mechanism as notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        yield
    for warning in caught:
        note(str(warning.message))


def check_moves(arm: Mechanism) -> None:
    """Raise an error for a mechanism without moving joints."""
    if not arm.nv:
        raise ModelError(
            f"{arm.name} has no moving joint, so there is no motion to compute: `cayley info` lists its joints")


def end_frame(arm: Mechanism, name: str) -> str:
    """The frame of that name, or "tool", or the only end; a mechanism with loops has no end but "tool"."""
    from cayley.model.chains import chain_to
    if name or (arm.tree.is_constrained and "tool" in arm.frame_names):
        return arm.tree.frame(name or "tool").name
    return chain_to(arm.tree, None).tip_name


def numbers(text: str | list[str], count: int, what: str) -> Array:
    """Numbers between commas or spaces; `30deg` is an angle in degrees.

    >>> numbers("0.5, 180deg -1e-3", 3, "q").tolist()
    [0.5, 3.141592653589793, -0.001]
    """
    import numpy as np
    words = (text if isinstance(text, str) else " ".join(text)).replace(",", " ").split()
    if len(words) != count:
        raise typer.BadParameter(
            f"{what} needs {_counted(count)}, separated by commas or spaces, not {_counted(len(words))}")
    return np.array([_number(word, what) for word in words])


def _counted(count: int) -> str:
    return f"{count} number" if count == 1 else f"{count} numbers"


def _number(word: str, what: str) -> float:
    degrees = word.lower().removesuffix("°").removesuffix("deg")
    try:
        value = float(degrees)
    except ValueError:
        raise typer.BadParameter(f"{word!r} in {what} is not a number") from None
    if not math.isfinite(value):
        raise typer.BadParameter(f"{word!r} in {what} is not finite")
    return math.radians(value) if degrees != word.lower() else value


def number_or_each(text: str, count: int, what: str) -> Array:
    """Limits (count), given as one number for all or one by one; `inf` for none."""
    import numpy as np
    words = text.replace(",", " ").split()
    if len(words) not in (1, count):
        raise typer.BadParameter(f"{what} are one number, or {count} of them; {len(words)} found")
    found = [np.inf if word == "inf" else numbers(word, 1, what)[0] for word in words]
    return np.array(found * (count // len(found)))


def pose_of(values: Array) -> Array:
    """The pose (4, 4) of x, y, z, roll, pitch and yaw."""
    import numpy as np

    from cayley.geometry.rotations.euler import matrix_from_roll_pitch_yaw
    pose = np.eye(4)
    pose[:3, 3] = values[:3]
    pose[:3, :3] = matrix_from_roll_pitch_yaw(values[3:])
    return pose


def draw_without_window() -> None:
    """Let Matplotlib draw into files alone."""
    with optional_imports():
        import matplotlib
    matplotlib.use("Agg")


def write_plot_and_data(draw: Callable[[], Figure], plot: Path | None, write: Callable[[Path], Path],
                        save: Path | None) -> list[Path]:
    """The files that were asked for: the picture that `draw` makes, and the data that `write` writes."""
    files = []
    if plot is not None:
        draw_without_window()
        files.append(save_figure(draw(), plot))
    if save is not None:
        save.parent.mkdir(parents=True, exist_ok=True)
        files.append(write(save))
    return files


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a Matplotlib figure in the format of the file's ending."""
    with optional_imports():
        import matplotlib.pyplot as plt
    known = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise CayleyError(f"{path}: pictures are written as {', '.join('.' + kind for kind in sorted(known))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)
    plt.close(figure)
    return path
