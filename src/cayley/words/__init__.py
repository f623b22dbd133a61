"""Tables of the words of the field and of the calls of other libraries, with their counterparts here. The pages
docs/start/words.md and docs/start/coming_from/ are written from these tables (`python tools/words.py`), and the
errors of names that do not exist and the "Also called" of docstrings are read from them.

    field.tsv                section, words separated by commas, what does it here
    pinocchio.tsv, ...       section, their call, our call, a remark; the rest is for the tests, which run both"""

from __future__ import annotations

import re
from functools import cache
from inspect import cleandoc, getattr_static
from pathlib import Path
from posixpath import normpath
from typing import NamedTuple, TypeVar

LIBRARIES = {
    "pinocchio": "Pinocchio", "mujoco": "MuJoCo", "robotics_toolbox": "the Robotics Toolbox", "drake": "Drake",
    "jax": "JAX", "casadi": "CasADi"}
Kind = TypeVar("Kind", bound=type)

_HERE = Path(__file__).parent
_OURS = re.compile(r"`arm\.((?:\w+\.)?\w+)")
_THEIRS = re.compile(r"(?:^|[;(=\[] *)(?!np\.)(?:[A-Za-z]\w*\.)+(\w{3,})")  # pin.rnea, d.qfrc_bias, robot.qlim
_LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")
_WORD = re.compile(r"[A-Za-z][A-Za-z_' -]{2,}|[A-Z]{2}3?")
_ARGUMENTS = re.compile(r"\([^()]*\)")
_LAST = re.compile(r"\.(\w+)$")  # model.nv


class Word(NamedTuple):
    """Words of the field, as they are written in the table, and what does it here, in Markdown."""

    section: str
    field: str
    here: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words one by one, those in brackets too; formulas are no words."""
        parts = [part.strip() for part in re.split(r"[,;()]", self.field)]
        return tuple(part.removeprefix("and ") for part in parts if _WORD.fullmatch(part))

    @property
    def name(self) -> str:
        """The function of a mechanism that it is, "pose" or "loops.close", if it begins with one."""
        found = _OURS.match(self.here)
        return found[1] if found else ""


class Call(NamedTuple):
    """A call of another library, ours, and what is to be known of it; `result` and `robots` are for the tests."""

    section: str
    theirs: str
    here: str
    remark: str
    result: str
    robots: str


@cache
def words() -> tuple[Word, ...]:
    """The words of the field.

    >>> pose = next(row for row in words() if row.name == "pose")
    >>> pose.words
    ('forward kinematics', 'direct kinematics', 'FK', 'fkine')
    """
    return tuple(Word(*row) for row in _rows("field"))


@cache
def calls(library: str) -> tuple[Call, ...]:
    """The calls of a library, one of `LIBRARIES`."""
    return tuple(Call(*row, *[""] * (6 - len(row))) for row in _rows(library))


def also_called(name: str) -> tuple[str, ...]:
    """The words of the field for a function of a mechanism.

    >>> "mass matrix" in also_called("inertia_matrix")
    True
    """
    return _by_name().get(name, ())


@cache
def _by_name() -> dict[str, tuple[str, ...]]:
    """The words of the field for each function of a mechanism and of its rooms."""
    found: dict[str, tuple[str, ...]] = {}
    for row in words():
        found[row.name] = (*found.get(row.name, ()), *row.words) if row.name else ()
    return found


def with_other_names(kind: Kind, room: str = "") -> Kind:
    """The class, in whose docstrings are the words of the field for its functions, so that `help` is found by them.

    It is the class of mechanisms, or of one of their rooms, `arm.loops`, by its name."""
    prefix = f"{room}." if room else ""
    for name in {name.removeprefix(prefix) for name in _by_name() if name.startswith(prefix)} & set(dir(kind)):
        found = getattr_static(kind, name)
        if found.__doc__ and also_called(prefix + name):
            found.__doc__ = f"{cleandoc(found.__doc__)}\n\nAlso called: {', '.join(also_called(prefix + name))}."
    return kind


def what_it_is_here(name: str) -> str:
    """The end of a sentence about a name that does not exist here, but is one in the field, or in another library; ""
    if it is none.

    >>> what_it_is_here("mass_matrix")
    ': here it is `arm.inertia_matrix(q)`'
    >>> what_it_is_here("computeCoriolisMatrix")
    ': computeCoriolisMatrix of Pinocchio is `arm.coriolis_matrix(q, qd)` here'
    """
    wanted = _plain(name)
    for row in words():
        if any(_plain(word) == wanted for word in row.words):
            return ": here it is " + _LINK.sub(lambda link: normpath(f"docs/start/{link[2]}"), row.here)
    rows = [(spoken, call) for library, spoken in LIBRARIES.items() for call in calls(library)]
    for part in (_without_arguments, str):  # calls themselves before what is said in their arguments
        named = [(len(names), spoken, call) for spoken, call in rows
                 if wanted in map(_plain, names := _THEIRS.findall(part(call.theirs)))]
        if named:  # in a row with few other calls
            _, spoken, call = min(named, key=lambda row: row[0])
            return f": {name} of {spoken} is `{_counterpart(wanted, call)}` here"
    return ""


def _without_arguments(call: str) -> str:
    """The called function of `pin.log6(pin.SE3(X)).vector`, `pin.log6.vector`."""
    bare = _ARGUMENTS.sub("", call)
    return bare if bare == call else _without_arguments(bare)


def _counterpart(wanted: str, call: Call) -> str:
    """Our call, without an attribute that both are compared by and that was not asked for: `.nv`."""
    last = _LAST.search(call.theirs)
    asked = last is None or _plain(last[1]) == wanted or not call.here.endswith(last[0])
    return call.here if asked or last is None else call.here.removesuffix(last[0])


def _plain(word: str) -> str:
    """A word as names are compared: small letters and figures alone, in the singular."""
    letters = re.sub(r"[^a-z0-9]", "", word.lower())
    return letters.removesuffix("s")


def _rows(table: str) -> list[list[str]]:
    _, *lines = (_HERE / f"{table}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line]
