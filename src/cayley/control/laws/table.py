"""The table of laws: a law is one function in one file, and one line of `ArmControl`.

A law of an arm is a system that gives out forces (or voltages) from what is measured and wanted, and maybe remembers:

    tau = law(t, x, q, qd, target, ...)        dx/dt = derivative(t, x, q, qd, target, ...)
Source: Yamamoto 6.2, spec S3-48."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from types import MethodType
from typing import Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from cayley.errors import SignatureError, did_you_mean, shown
from cayley.explained_calls import explained, unexplained
from cayley.kinematics.mechanism_kernel import mechanism_in_words, units_of
from cayley.model.tree import Tree
from cayley.systems import System

P = ParamSpec("P")
R = TypeVar("R")


class Controlled(Protocol):
    """An object that has laws: the arm of `arm.control`."""

    @property
    def tree(self) -> Tree: ...


@dataclass(frozen=True, eq=False)
class OfArm(Generic[P, R]):
    """A function `make(arm, ...)` of an arm; as an attribute of a class it is a method of the object's arm."""

    make: Callable[Concatenate[Tree, P], R]

    def __set_name__(self, owner: type, name: str) -> None:
        vars(self)["name"] = name

    @cached_property
    def _explained(self) -> Callable[Concatenate[Tree, P], R]:
        """The function, which says how it is called as a method when a call does not fit."""
        arm = next(iter(inspect.signature(self.make).parameters))
        return explained(unexplained(self.make), name=vars(self).get("name", ""), own=(arm,))

    @property
    def _bound(self) -> Callable[Concatenate[Tree, P], R]:
        return self._explained

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: Controlled, owner: type) -> Callable[P, R]: ...

    def __get__(self, instance: Controlled | None, owner: type) -> Self | Callable[P, R]:
        return self if instance is None else MethodType(self._bound, instance.tree)


class Law(OfArm[P, System]):
    """A line of the table: `make(arm, ...)` is the system of the law for an arm."""

    @property
    def about(self) -> str:
        """The law in a sentence: the first paragraph of its docstring."""
        return " ".join((inspect.getdoc(self.make) or "").partition("\n\n")[0].split())

    @property
    def arguments(self) -> dict[str, inspect.Parameter]:
        """The arguments of the law besides the arm: gains, perhaps a frame, options."""
        _, *others = inspect.signature(self.make).parameters.values()
        return {argument.name: argument for argument in others}

    @property
    def is_of_frame(self) -> bool:
        """True if the target is that of a frame, not of the joints."""
        return "frame" in self.arguments

    @cached_property
    def _bound(self) -> Callable[Concatenate[Tree, P], System]:
        """The function that makes the law, with a comment for its exported C: which law, and of which mechanism."""
        @wraps(self.make)
        def made(tree: Tree, *choice: P.args, **named: P.kwargs) -> System:
            system = self._explained(tree, *choice, **named)
            known = units_of(tree)
            units = [f"{name} [{known[name]}]" for name in ("q", "qd", "tau")
                     if name in system.inputs or name in system.outputs]
            return replace(system, acts=True, about=mechanism_in_words(tree, self.about, f"Units: {', '.join(units)}."))

        return made


def laws_of(owner: type) -> dict[str, Law[...]]:
    """The laws of a class, by name."""
    return {name: value for name, value in vars(owner).items() if isinstance(value, Law)}


def law_named(owner: type, name: str) -> Law[...]:
    """The law of a name, in which words may be joined by hyphens or spaces."""
    table = laws_of(owner)
    spelt = name.strip().replace("-", "_").replace(" ", "_") if isinstance(name, str) else name
    if not isinstance(spelt, str) or spelt not in table:
        raise SignatureError(f"there is no law {shown(name)}{did_you_mean(spelt, table)}; there are {', '.join(table)}")
    return table[spelt]
