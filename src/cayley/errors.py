"""The errors of Cayley, and the words of messages. Each error says what was wrong, where, and what to do about it.
Functions for the words suggest the name that was perhaps meant, and print values so that any terminal can show them."""

from __future__ import annotations

import sys
import unicodedata
import warnings
from collections.abc import Collection, Iterable
from itertools import islice

import numpy as np

# of 1: near enough to be offered, and to be taken for a mistake
SIMILAR = 0.5
MISSPELT = 0.8
# names, and letters of one: more would cost more than it helps
MOST_COMPARED = 2000
LONGEST_COMPARED = 80
LONGEST_SHOWN = 60

_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}  # they turn the direction of writing


class CayleyError(Exception):
    """Base of every error that Cayley raises on purpose.

    Messages quote files: nothing in them reaches a terminal as a command."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ModelError(CayleyError, ValueError):
    """The description of a mechanism is not usable."""


class ConventionError(CayleyError, ValueError):
    """A convention was left unnamed, or two conventions were mixed."""


class GeometryError(CayleyError, ValueError):
    """A value is not the geometric object it is used as: not a rotation, not a unit vector, not a physical inertia."""


class SingularityError(CayleyError, ValueError):
    """The answer does not exist, or is not unique, at this configuration."""


class UnreachableError(CayleyError, ValueError):
    """The asked pose cannot be reached."""


class PlanningError(CayleyError, ValueError):
    """A motion cannot be as it was asked for: times that do not increase, a jump, a time that is not of it."""


class UnsupportedError(CayleyError, TypeError):
    """The request is meaningful, but not something that Cayley does."""


class SignatureError(CayleyError, ValueError):
    """A kernel's signature, arguments or shapes do not fit together."""


def check_known(names: Iterable[str], known: Collection[str], said: str, others: str = "it has") -> None:
    """Raise a SignatureError about the first of some names that is not known: what is `said`, the name, and the one
    that was perhaps meant, or all `others`.

    >>> check_known(["volts"], ["voltage"], "motor has no input")
    Traceback (most recent call last):
    cayley.errors.SignatureError: motor has no input 'volts': did you mean 'voltage'?
    """
    for name in names:
        if name not in known:
            every = f"; {others} {', '.join(map(repr, known)) or 'none'}"
            raise SignatureError(f"{said} {name!r}{did_you_mean(name, known, otherwise=every)}")


class TraceError(CayleyError, TypeError):
    """A function cannot be turned into an expression graph; the message names the line."""


class VersionError(CayleyError, ImportError):
    """A package that Cayley needs is too old; the message names the version needed."""


class MissingPackageError(UnsupportedError, ModuleNotFoundError):
    """An optional package is not installed; the message names the extra that brings it."""


class ModelWarning(UserWarning):
    """A file was read, but something in it is odd, or has no place in the mechanism; or what was made of mechanisms and
    laws lacks something that they were meant for."""


def warn_user(message: str, category: type[Warning] = ModelWarning) -> None:
    """Warn at the line of the program that asked Cayley, however many calls of Cayley are between."""
    level = 1
    try:
        while str(sys._getframe(level).f_globals.get("__name__")).startswith("cayley."):
            level += 1
    except ValueError:  # nobody but Cayley, as in a thread of its own
        level = 1
    warnings.warn(message, category, stacklevel=level + 1)


# The words of messages


def nearest(name: object, names: Iterable[str], *, similar: float = SIMILAR) -> list[str]:
    """Up to three of the names that resemble one, the best first; capitals count as small letters.

    >>> nearest("Puma650", ["panda", "puma560", "ur5"])
    ['puma560']
    """
    if not isinstance(name, str) or len(name) > LONGEST_COMPARED:
        return []
    candidates = {other.lower(): other for other in islice(names, MOST_COMPARED) if len(other) <= LONGEST_COMPARED}
    from difflib import get_close_matches  # which nobody needs who makes no mistake
    return [candidates[found] for found in get_close_matches(name.lower(), candidates, n=3, cutoff=similar)]


def misspelt(name: str, names: Iterable[str]) -> str:
    """The one of the names that another can only be a misspelling of, or nothing."""
    return next(iter(nearest(name, names, similar=MISSPELT)), "")


def did_you_mean(name: object, names: Iterable[str], *, otherwise: str = "", similar: float = SIMILAR) -> str:
    """The end of a sentence about a name that does not exist: an offer of those that resemble it, or `otherwise`.

    >>> did_you_mean("puma650", ["puma560", "ur5"], otherwise="; there are puma560 and ur5")
    ": did you mean 'puma560'?"
    """
    close = [repr(other) for other in nearest(name, names, similar=similar)]
    if not close:
        return otherwise
    return f": did you mean {' or '.join([', '.join(close[:-1]), close[-1]] if close[1:] else close)}?"


def shown(value: object) -> str:
    """A value as Python writes it, or its beginning: deep lists and numbers of a million digits cannot be written.
    Numbers of NumPy are shown as Python's are.

    >>> shown([0.5] * 1000)
    '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0...'
    """
    if isinstance(value, int) and abs(value) >= 10**LONGEST_SHOWN:
        return "an integer of very many digits"
    try:
        with np.printoptions(legacy="1.25"):  # when the repr of a number was the number
            return shortened(repr(value))
    except (RecursionError, ValueError):  # deep lists, and numbers in them
        return f"a {type(value).__name__} that is too large to be shown"


def shortened(text: str) -> str:
    """The text, or its beginning."""
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN - 3] + "..."


def printable(text: str) -> str:
    """The text with characters that would command the terminal, or cannot be written, as escapes; lines and tabs stay.

    >>> print(printable("arm \\x1b]0;title\\x07"))
    arm \\x1b]0;title\\x07
    """
    return "".join(c if c in "\n\t" or not commands_terminal(c) else c.encode("unicode_escape").decode() for c in text)


def commands_terminal(character: str) -> bool:
    """True if it is a control character, half of a character, a line separator, or turns the direction of writing."""
    return ord(character) in _TURNING or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")
