"""Rooms of a mechanism, `arm.loops` and so on, and methods that forward to functions of the tree."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NoReturn, ParamSpec, Self, TypeVar, cast, overload

from cayley.errors import did_you_mean
from cayley.explained_calls import CallError, explanation, unexplained, with_explained_calls
from cayley.words import also_called, what_it_is_here, with_other_names

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.model.tree import Tree

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

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
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
        target = unexplained(self._target())

        @wraps(target)
        def called(room: Room, *given: Given.args, **named: Given.kwargs) -> Answer:
            try:
                return self._answer(room, target(room.tree, *given, **named))
            except TypeError as error:
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise  # an error within the function
                raise CallError(explanation(called, (room, *given), named)) from None

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
