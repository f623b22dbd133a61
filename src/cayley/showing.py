"""Display of results: as pictures and tables in a notebook, and through the layers that draw, which
are imported when somebody looks."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from cayley.errors import CayleyError, ConventionError, ModelError
from cayley.explained_calls import with_explained_calls
from cayley.extras import optional_imports

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Kind = TypeVar("Kind", bound=type)
PAGES = (".html", ".htm")
_HEIGHT = 640  # of a player in a notebook [points]
_DPI = 96
# in a line about a result: numbers of an array, entries of a tuple, letters of a part
_MOST_NUMBERS = 9
_MOST_PARTS = 6
_LONGEST = 80
_MAKERS = {"animate": "cayley.studio.animation", "moving_part": "cayley.drawing.played",
           "report": "cayley.studio.report", "View": "cayley.studio.live", "draw_instants": "cayley.drawing.animations",
           "plot_trajectory": "cayley.drawing.trajectory_figures",
           "mechanism_motion": "cayley.simulation.mechanism_motion",
           "save_trajectory": "cayley.simulation.trajectory_file",
           "load_trajectory": "cayley.simulation.trajectory_file"}


def escape(text: str) -> str:
    """A text as it is written on a page."""
    from html import escape as escaped  # whose tables nobody needs who shows nothing
    return escaped(text)


def maker(name: str) -> Callable[..., Any]:
    """A function of a layer above that shows what a layer below has found."""
    return getattr(import_module(_MAKERS[name]), name)


class Pictured:
    """Base of results that have a picture, by a method `plot`, and of mechanisms, which `draw`: a notebook shows its
    short name with the picture under it, or the name alone where there is nothing to draw. `draw` was the name for
    some results, too, and warns for one version."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        with_explained_calls(cls)

    def _picture(self) -> Figure:
        drawn: Any = getattr(self, "plot" if hasattr(type(self), "plot") else "draw")()  # a mechanism is drawn
        return getattr(drawn, "figure", None) or drawn

    if not TYPE_CHECKING:  # which would then take every name for one of these

        def __getattr__(self, name: str) -> object:
            if name != "draw" or not hasattr(type(self), "plot"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            import warnings
            warnings.warn(f"the picture of a {type(self).__name__} is `plot()`; `draw` is its former name",
                          DeprecationWarning, stacklevel=2)
            return self.plot

    def _repr_png_(self) -> bytes | None:
        try:
            return png(self._picture())
        except CayleyError:
            return None  # the name says what it is

    def _repr_html_(self) -> str:
        return html_picture(repr(self), self._repr_png_())


@dataclass(frozen=True, repr=False)
class Player:
    """A motion on a page that plays it: shown by a notebook, written by `save`."""

    name: str
    page: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, which needs no network and no other file."""
        place = checked_place(path, "`animate` writes .gif and .mp4")
        place.write_text(self.page, encoding="utf-8")
        return place

    def __repr__(self) -> str:
        return f"<player of a motion of {self.name}: a notebook shows it, save(\"motion.html\") writes it>"

    def _repr_html_(self) -> str:
        return (f'<iframe title="A motion of {escape(self.name)}" sandbox="allow-scripts" '
                f'style="width:100%;height:{_HEIGHT}px;border:0" srcdoc="{escape(self.page)}"></iframe>')


class ReportPage:
    """A mechanism on one page, with the robot in 3-D: shown by a notebook, written by `save`. It is made when it is
    first looked at. As a text it is the `summary` of the model."""

    def __init__(self, name: str, make: Callable[[], str], summary: object) -> None:
        self.name = name
        self.summary = summary
        self._make = make
        self._page: str | None = None

    @property
    def page(self) -> str:
        """The text of the page, HTML."""
        if self._page is None:
            self._page = self._make()
        return self._page

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, which needs no network and no other file: that of `cayley report`."""
        place = checked_place(path, "a report has no other form")
        place.write_text(self.page, encoding="utf-8")
        return place

    def __str__(self) -> str:
        return str(self.summary)

    def __repr__(self) -> str:
        return f"<report of {self.name}: a notebook shows it, save(\"report.html\") writes it>"

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the summary has)
        if name.startswith("_") or name == "summary" or not hasattr(self.summary, name):
            raise AttributeError(f"a report has no {name!r}: it has page, save and summary")
        import warnings
        warnings.warn(f"arm.report() is the page of `cayley report` now: {name!r} is of arm.summary()",
                      DeprecationWarning, stacklevel=2)
        return getattr(self.summary, name)

    def _repr_html_(self) -> str:
        return (f'<iframe title="A report of {escape(self.name)}" sandbox="allow-scripts" '
                f'style="width:100%;height:{_HEIGHT}px;border:0" srcdoc="{escape(self.page)}"></iframe>')


def checked_place(path: str | os.PathLike[str], otherwise: str) -> Path:
    """A path at which a page can be written."""
    place = Path(path)
    if place.suffix.lower() not in PAGES:
        raise ConventionError(f"a page must be an .html file, not {place.name!r}: {otherwise}")
    if not place.absolute().parent.is_dir():
        raise ModelError(f"the folder {place.parent} does not exist: create it, or write the page elsewhere")
    return place


class LiveView(Protocol):
    """Robots in a browser, moved by hand and from Python; see `cayley.studio.live.View`."""

    @property
    def q(self) -> np.ndarray[Any, Any]:
        """The configuration (nq) of the first robot; setting it moves the robot there."""

    @q.setter
    def q(self, q: Any) -> None: ...  # noqa: ANN401 (whatever NumPy takes for an array)

    @property
    def url(self) -> str:
        """The address of the page."""

    def show(self, motion: Any, *, speed: float = 1.0, play: bool = True) -> LiveView:  # noqa: ANN401 (see `animate`)
        """Have the robot play a motion."""

    def reach(self, pose: Any, frame: str | None = None) -> bool:  # noqa: ANN401 (whatever NumPy takes for an array)
        """Bring a frame to a pose (4, 4); whether it got there."""

    def add(self, arm: Any, *, at: Any = None) -> Any:  # noqa: ANN401 (a mechanism, which no lower layer knows)
        """One more robot."""

    def open(self) -> LiveView:
        """Show the page in the browser of this machine."""

    def wait(self) -> None:
        """Go on until the view is closed, or Ctrl-C."""

    def close(self) -> None:
        """Stop the server."""


def png(figure: Figure) -> bytes:
    """The bytes of a figure, which is closed."""
    with optional_imports():
        import matplotlib.pyplot as plt
    file = BytesIO()
    try:
        figure.savefig(file, format="png", dpi=_DPI)
    finally:
        plt.close(figure)
    return file.getvalue()


def shown_once(figure: Figure) -> Figure:
    """The same figure, which a notebook does not show a second time as the value of a cell that has drawn it."""
    figure._ipython_display_ = partial(_show_in_notebook, figure)  # type: ignore[attr-defined]  # what IPython asks for
    return figure


def _show_in_notebook(figure: Figure) -> None:
    """Empty for a figure that Matplotlib shows by itself at the end of the cell."""
    with optional_imports():
        import matplotlib
        import matplotlib.pyplot as plt
    if "inline" in matplotlib.get_backend() and plt.fignum_exists(getattr(figure, "number", 0)):
        return
    display: Any = import_module("IPython.display")
    display.display(display.Image(png(figure)))


def plain_words(figure: Figure) -> Figure:
    """The same figure with axes of plain numbers, whose texts are words as they are: names with dollars in them are no
    formulas."""
    with optional_imports():
        from matplotlib.text import Text
    for text in figure.findobj(Text):
        text.set_parse_math(False)
    return figure


def html_picture(words: str, picture: bytes | None) -> str:
    """Words with a picture under them."""
    text = f"<p>{escape(words)}</p>"
    if picture is None:
        return text
    data = base64.b64encode(picture).decode()
    return f'{text}<img alt="{escape(words)}" style="max-width:100%" src="data:image/png;base64,{data}">'


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of words under headings."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(word)}</td>' for word in row)}</tr>" for row in rows)
    table = f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"
    return f'<div style="overflow-x:auto">{table}</div>'


def html_text(summary: str, text: str) -> str:
    """A text as it is, such as a program, which opens under a line about it."""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>"


def brief(self: object) -> str:
    """A result in one line, to be its `__repr__`: small arrays as numbers, larger ones by their shapes, parts by their
    own short names.

    >>> from typing import NamedTuple
    >>> class Fit(NamedTuple):
    ...     coefficients: object
    ...     samples: object
    ...     residual: float
    ...     __repr__ = brief
    >>> Fit(np.array([0.5, 1 / 3]), np.zeros((200, 2)), 1e-9)
    Fit(coefficients=[0.5, 0.333333], samples=array of 200x2, residual=1e-09)
    """
    names = getattr(self, "_fields", None) or [part.name for part in fields(self) if part.repr]  # type: ignore[arg-type]
    return f"{type(self).__name__}({', '.join(f'{name}={_word(getattr(self, name))}' for name in names)})"


def shown_briefly(kind: Kind) -> Kind:
    """A decorator of named tuples, whose class bodies take no `__repr__ = brief`."""
    kind.__repr__ = brief  # type: ignore[assignment]
    return kind


def _word(value: object) -> str:
    """A value in a few letters."""
    if isinstance(value, np.ndarray):
        return _array_word(value)
    if isinstance(value, float):  # NumPy's, too
        return f"{value + 0.0:.6g}"  # no negative zeros
    if isinstance(value, Mapping):
        return _short(f"{{{', '.join(map(str, value))}}}", f"{len(value)} by name")
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        parts = value[:_MOST_PARTS]
        kinds = {type(part).__name__ for part in parts}
        many = f"{len(value)} x {kinds.pop()}" if len(kinds) == 1 else f"{type(value).__name__} of {len(value)}"
        listed = ", ".join(map(_word, parts)) + ("," if len(parts) == 1 else "")
        return many if len(value) > len(parts) else _short(f"({listed})", many)
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return _short(repr(value), f"<{type(value).__name__}>")


def _array_word(value: np.ndarray[Any, Any]) -> str:
    if value.ndim == 0:
        return _word(value.item())
    if value.size > _MOST_NUMBERS or value.ndim > 2 or value.dtype == object:
        return f"array of {'x'.join(map(str, value.shape))}"
    return f"[{', '.join(_word(part) for part in value)}]"


def _short(text: str, otherwise: str) -> str:
    return text if len(text) <= _LONGEST and "\n" not in text else otherwise
