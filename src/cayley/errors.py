"""The errors of Cayley. Each says what was wrong, where, and what to do about it."""

import sys
import warnings
from collections.abc import Collection, Iterable

from cayley.wording import did_you_mean, printable


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
