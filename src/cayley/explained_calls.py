"""Errors of calls that do not fit: what is wrong, what was perhaps meant, and how the function is called.

Python's own name the class that a method is written in, one missing argument after the other, and no cure."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from cayley.errors import SignatureError, did_you_mean, misspelt
from cayley.words import what_it_is_here

Kind = TypeVar("Kind", bound=type)
Given = ParamSpec("Given")
Answer = TypeVar("Answer")

_OWN = ("self", "cls")
_FIRST = tuple((name,) for name in _OWN)
_OF_THE_CLASS = ("__init__", "__call__")
_ANYTHING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_SIMILAR = 0.6  # of 1: arguments are few, and the nearest of them may be far


class CallError(SignatureError, TypeError):
    """Unknown or missing arguments in a call."""


def explained(function: Callable[Given, Answer], *, name: str = "", own: Sequence[str] = _OWN) -> Callable[
        Given, Answer]:
    """Make a function explain, when a call does not fit, what is wrong and how it is called. Its signature is read only
    then. `name` is the one that users write, `own` are names of a first argument that they do not write.

    >>> @explained
    ... def pose(q, frame, *, relative_to=None): ...
    >>> pose([0.0], frme="tool")
    Traceback (most recent call last):
    cayley.explained_calls.CallError: pose has no argument 'frme': did you mean 'frame'? It is called pose(q, frame,
    relative_to=)
    """
    @wraps(function)
    def called(*given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            return function(*given, **named)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # an error within the function
            said = explanation(function, given, named, name=name, own=own)
            if not said:
                raise
            raise CallError(said) from None

    vars(called)["is_explained"] = True
    return called


def unexplained(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The function itself, for one that explains its calls in words of its own."""
    return inspect.unwrap(function, stop=lambda found: not hasattr(found, "is_explained"))


def with_explained_calls(kind: Kind) -> Kind:
    """Make a class and its public methods, inherited ones too, explain how they are called when a call does not fit."""
    for base in kind.__mro__:
        if base.__module__.startswith("cayley."):
            _explain_methods(base)
    return kind


def _explain_methods(kind: type) -> None:
    for name, found in list(vars(kind).items()):
        function = found.__func__ if isinstance(found, (staticmethod, classmethod)) else found
        if is_called_by_users(name) and may_not_fit(function):
            made = explained(function)
            setattr(kind, name, made if function is found else type(found)(made))


def is_called_by_users(name: str) -> bool:
    """True of the names of methods that users call, and of what makes and calls an object."""
    return not name.startswith("_") or name in _OF_THE_CLASS


def may_not_fit(function: object) -> bool:
    """True of the functions of Cayley for which there are calls that do not fit, and that do not say so yet."""
    if not inspect.isfunction(function) or not function.__module__.startswith("cayley.") or hasattr(
            function, "is_explained"):
        return False
    code = function.__code__
    by_place = code.co_argcount - len(function.__defaults__ or ()) - (code.co_varnames[:1] in _FIRST)
    by_keyword = code.co_kwonlyargcount - len(function.__kwdefaults__ or {})
    return by_place > 0 or by_keyword > 0 or code.co_flags & _ANYTHING != _ANYTHING


def explanation(function: Callable[..., Any], given: Sequence[object], named: Mapping[str, object], *, name: str = "",
                own: Sequence[str] = _OWN) -> str:
    """The sentence about a call that does not fit, or "" if it does."""
    name = name or _as_written(function.__name__, given)
    everything = inspect.signature(function).parameters
    first = next(iter(everything), "")
    parameters = {key: p for key, p in everything.items() if key != first or key not in own}
    known = {key: p for key, p in parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    by_place = [key for key, p in known.items() if p.kind is not p.KEYWORD_ONLY]
    kinds = {p.kind for p in parameters.values()}
    count = len(given) - (len(parameters) < len(everything))
    how = f"It is called {name}({', '.join(_spelled(list(parameters.values())))})"
    unknown = [key for key in named if key not in known and inspect.Parameter.VAR_KEYWORD not in kinds]
    missing = [key for key, p in known.items() if p.default is p.empty and key not in by_place[:count]
               and key not in named]
    twice = [key for key in by_place[:count] if key in named]
    if unknown:
        return f"{name} has no argument {unknown[0]!r}{meant(unknown[0], known)} {how}"
    if count > len(by_place) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        advice = ("" if by_place else what_it_is_here(name)) or ": give the others by keyword"
        return f"{name} takes {len(by_place)} positional arguments, not {count}{advice}. {how}"
    if missing:
        return f"{needs(name, missing)}. {how}"
    return f"{name} is given {twice[0]!r} twice, by position and by keyword. {how}" if twice else ""


def _as_written(name: str, given: Sequence[object]) -> str:
    """The name that users write: that of the class, to make an object of it, and in small letters, to call one."""
    if name not in _OF_THE_CLASS:
        return name
    kind = type(given[0]).__name__
    return kind if name == "__init__" else re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()


def needs(name: str, missing: Sequence[str]) -> str:
    """The beginning of a sentence about arguments that a call lacks.

    >>> needs("twist", ["qd", "frame"])
    'twist needs `qd` and `frame`'
    """
    listed = [f"`{each}`" for each in missing]
    return f"{name} needs {' and '.join([', '.join(listed[:-1]), listed[-1]] if listed[1:] else listed)}"


def meant(unknown: str, known: Mapping[str, object]) -> str:
    """The end of a sentence about an argument that does not exist: a misspelt one, the word of another library, or one
    that resembles it."""
    if misspelt(unknown, known):
        return did_you_mean(unknown, known)
    elsewhere = what_it_is_here(unknown)
    return f"{elsewhere}." if elsewhere else did_you_mean(unknown, known, otherwise=".", similar=_SIMILAR)


def _spelled(parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    """Parameters as they are written in a call; what must be given by keyword comes after a star, as in Python."""
    before = None
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty and before not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL):
            yield "*"
        before = p.kind
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            yield str(p.replace(annotation=p.empty))
        else:
            yield f"{p.name}=" if p.kind is p.KEYWORD_ONLY and p.default is not p.empty else p.name
