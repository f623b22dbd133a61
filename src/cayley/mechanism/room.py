"""Rooms of a mechanism, `arm.loops` and so on, methods that forward to functions of the tree, and errors that say how a
method is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NoReturn, ParamSpec, Self, TypeVar, cast, overload

from cayley.errors import SignatureError
from cayley.wording import did_you_mean
from cayley.words import also_called, what_it_is_here, with_other_names

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.model.tree import Tree

Kind = TypeVar("Kind", bound=type)
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class Room:
    """A group of functions of one mechanism, `arm`, under one name: `arm.loops.close(q)`.

    >>> cy.load("planar2r").centroidal
    <centroidal of planar2r: bias, center_of_mass_jacobian, momentum, momentum_matrix>
    """

    def __init_subclass__(cls) -> None:
        with_explained_calls(cls)
        with_other_names(cls, cls.__name__.lower())

    def __init__(self, arm: Mechanism) -> None:
        self.arm = arm

    @property
    def tree(self) -> Tree:
        """The tree of the mechanism."""
        return self.arm.tree

    def __reduce__(self) -> tuple[type[Self], tuple[Mechanism]]:
        return type(self), (self.arm,)  # kernels are made anew where the room arrives

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} of {self.tree.name}: {', '.join(functions_of(type(self)))}>"

    if not TYPE_CHECKING:  # which would then take every name for one of the room

        def __getattr__(self, name: str) -> NoReturn:
            advice = did_you_mean(name, functions_of(type(self))) or what_it_is_here(name)
            raise AttributeError(f"`arm.{type(self).__name__.lower()}` has no {name!r}"
                                 f"{'' if name.startswith('_') else advice}", name=name, obj=self)


class forwarded(Generic[Given, Answer]):
    """A method of a room that is a function of its tree: `close = forwarded(lambda: functions.close)`.

    The function is imported at the first call. The method has its docstring, and its signature without the tree."""

    def __init__(self, target: Callable[[], Callable[Concatenate[Tree, Given], Answer]]) -> None:
        self._target = target

    def __set_name__(self, room: type[Room], name: str) -> None:
        self._room, self._name = room.__name__.lower(), name

    @overload
    def __get__(self, room: None, kind: type) -> Callable[..., Answer]: ...

    @overload
    def __get__(self, room: Room, kind: type) -> Callable[Given, Answer]: ...

    def __get__(self, room: Room | None, kind: type) -> Callable[..., Answer]:
        return self.function if room is None else MethodType(self.function, room)

    @cached_property
    def function(self) -> Callable[..., Answer]:
        """The function, which takes the room first."""
        target = self._target()

        @wraps(target)
        def called(room: Room, *given: Given.args, **named: Given.kwargs) -> Answer:
            try:
                return self._answer(room, target(room.tree, *given, **named))
            except TypeError as error:
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise  # an error within the function
                raise CallError(_explanation(called, (room, *given), named)) from None

        own = inspect.signature(target)
        first, *others = own.parameters.values()
        of_method = own.replace(parameters=[first.replace(name="self", annotation=first.empty), *others])
        words = ", ".join(also_called(f"{self._room}.{self._name}"))
        said = f"{inspect.cleandoc(target.__doc__ or '')}" + (f"\n\nAlso called: {words}." if words else "")
        vars(called)["__signature__"] = of_method
        called.__name__, called.__doc__ = self._name, said
        return called

    def _answer(self, room: Room, found: Any) -> Answer:  # noqa: ANN401 (what the function has returned)
        return cast(Answer, found)


class changed(forwarded[Given, "Mechanism"]):
    """A method of a room that changes the tree: it returns the mechanism of the tree that the function returns."""

    def __init__(self, target: Callable[[], Callable[Concatenate[Tree, Given], Tree]]) -> None:
        super().__init__(cast("Callable[[], Callable[Concatenate[Tree, Given], Mechanism]]", target))

    def _answer(self, room: Room, found: Tree) -> Mechanism:
        return type(room.arm)(found)


def functions_of(room: type[Room]) -> list[str]:
    """The names that a room defines, sorted."""
    return sorted(name for name in vars(room) if not name.startswith("_"))


class CallError(SignatureError, TypeError):
    """Unknown or missing arguments in a call of a method."""


def with_explained_calls(kind: Kind) -> Kind:
    """Make the public methods of a class explain how they are called when a call does not fit. Signatures are read only
    then, so that correct calls cost nothing more."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        if name.startswith("_"):
            continue
        if inspect.isfunction(found) and found.__module__.startswith("cayley."):
            setattr(kind, name, explained(found))
        elif isinstance(found, staticmethod):
            setattr(kind, name, staticmethod(explained(found.__func__)))
    return kind


def explained(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Make a function explain, when a call does not fit, what is wrong and how it is called.

    >>> @explained
    ... def pose(q, frame, *, relative_to=None): ...
    >>> pose([0.0], frme="tool")
    Traceback (most recent call last):
    cayley.mechanism.room.CallError: pose has no argument 'frme': did you mean 'frame'? It is called pose(q, frame,
    relative_to=)
    """
    @wraps(function)
    def called(*given: Given.args, **named: Given.kwargs) -> Answer:
        try:
            return function(*given, **named)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # an error within the function
            raise CallError(_explanation(function, given, named)) from None

    return called


def _explanation(function: Callable[..., object], given: Sequence[object], named: Mapping[str, object]) -> str:
    parameters = {name: p for name, p in inspect.signature(function).parameters.items() if name != "self"}
    by_place = [name for name, p in parameters.items() if p.kind is not p.KEYWORD_ONLY]
    count = len(given) - ("self" in inspect.signature(function).parameters)
    called = [f"{name}=" if p.kind is p.KEYWORD_ONLY and p.default is not p.empty else name
              for name, p in parameters.items()]
    how = f"It is called {function.__name__}({', '.join(called)})"
    unknown = [name for name in named if name not in parameters]
    missing = [name for name, p in parameters.items() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
               and name not in by_place[:count] and name not in named]
    if unknown:
        advice = did_you_mean(unknown[0], parameters) or f"{what_it_is_here(unknown[0])}."
        return f"{function.__name__} has no argument {unknown[0]!r}{advice} {how}"
    if count > len(by_place):
        return (f"{function.__name__} takes {len(by_place)} positional arguments, not {count}: give the others by "
                f"keyword. {how}")
    if missing:
        return f"{function.__name__} needs {' and '.join(f'`{name}`' for name in missing)}. {how}"
    twice = next((name for name in by_place[:count] if name in named), "")
    return f"{function.__name__} is given {twice!r} twice, by position and by keyword. {how}"
