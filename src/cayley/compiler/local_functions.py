"""Objects that hold functions: pickled and copied, also where the functions stand inside others.

Pickle carries a function by its name in a module, which a function inside another has not. One of this package's own
is carried by where its text stands and by what it has captured; one of the user's by cloudpickle, where that is
installed. Copies share the functions, which do not change."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from pickle import PicklingError
from types import CellType, CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, TypeVar

from cayley.compiler.made_once import MEMO, made_once
from cayley.errors import UnsupportedError

Result = TypeVar("Result")
Held = TypeVar("Held", bound="HoldsFunctions")
_PACKAGE = __name__.partition(".")[0]


class HoldsFunctions:
    """A part of each class whose objects hold functions."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _object, (type(self), {name: packed(value, f"{name} of {_named(self)}")
                                      for name, value in _data(self).items()})

    def __copy__(self: Held) -> Held:
        return _object(type(self), _data(self))

    def __deepcopy__(self: Held, memo: dict[int, Any]) -> Held:
        made = memo[id(self)] = _object(type(self), deepcopy(_data(self), memo))
        return made


class _As:
    """The call that makes an object, pickled in the object's place."""

    def __init__(self, make: Any, *arguments: object) -> None:  # noqa: ANN401 (a function or a class)
        self.call = make, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.call


def _data(owner: object) -> dict[str, Any]:
    """The attributes of an object without those that are made anew from them."""
    return {name: value for name, value in vars(owner).items()
            if name != MEMO and not isinstance(getattr(type(owner), name, None), (cached_property, made_once))}


def _object(kind: type[Held], data: Mapping[str, object]) -> Held:
    made = object.__new__(kind)
    getattr(made, "__setstate__", vars(made).update)(data)
    return made


def _named(owner: object) -> str:
    return f"the {type(owner).__name__} {getattr(owner, 'name', '')}".rstrip()


def packed(value: Any, where: str) -> Any:  # noqa: ANN401 (anything that can be held)
    """A value in which pickle finds no function that it cannot carry."""
    if isinstance(value, FunctionType):
        return value if _is_at_its_name(value) else _packed_function(value, where)
    if isinstance(value, ModuleType):
        return _As(import_module, value.__name__)
    if isinstance(value, partial):
        return _As(_partial, *(packed(part, where) for part in (value.func, value.args, value.keywords)))
    if isinstance(value, (dict, MappingProxyType)) and type(value) in (dict, MappingProxyType):
        named = {key: packed(part, where) for key, part in value.items()}
        return named if isinstance(value, dict) else _As(MappingProxyType, named)
    if isinstance(value, (tuple, list)):
        parts = [packed(part, where) for part in value]
        if type(value) in (tuple, list):
            return parts if isinstance(value, list) else tuple(parts)
        return _As(type(value), *parts) if hasattr(value, "_fields") else value
    return value


def _is_at_its_name(function: FunctionType) -> bool:
    place: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        place = getattr(place, part, None)
    return place is function


def _packed_function(function: FunctionType, where: str) -> _As:
    module, code = function.__globals__["__name__"], function.__code__
    if module.partition(".")[0] != _PACKAGE or code not in _codes(module):
        return _As(*_by_cloudpickle(function, where))
    captured = [packed(cell.cell_contents, where) for cell in function.__closure__ or ()]
    return _As(_function, module, code.co_qualname, _number(module, code), captured,
               packed(function.__defaults__, where), packed(function.__kwdefaults__, where))


def _by_cloudpickle(function: FunctionType, where: str) -> tuple[Any, bytes]:
    said = f"{function.__qualname__!r}, line {function.__code__.co_firstlineno} of {function.__module__}"
    try:
        import cloudpickle
    except ImportError:
        raise UnsupportedError(f"the {where} is a function that pickle cannot carry ({said}): define it at the top of "
                               "a module, or install cloudpickle") from None
    try:
        return cloudpickle.loads, cloudpickle.dumps(function)
    except (PicklingError, TypeError, AttributeError) as error:
        raise UnsupportedError(f"the {where} is a function ({said}) with something in it that cannot be pickled: "
                               f"{error}") from error


def call(function: Callable[[], Result]) -> Result:
    """The object that a function without arguments makes."""
    return function()


def _partial(function: Any, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> partial[Any]:  # noqa: ANN401
    return partial(function, *arguments, **named)


def _function(module: str, name: str, number: int, captured: list[Any], defaults: tuple[Any, ...] | None,
              named_defaults: dict[str, Any] | None) -> FunctionType:
    found = [code for code in _codes(module) if code.co_qualname == name]
    if number >= len(found) or len(found[number].co_freevars) != len(captured):
        raise UnsupportedError(f"{name} of {module} is another function here: what was pickled by one version of "
                               "Cayley or Python cannot be read by another")
    made = FunctionType(found[number], vars(import_module(module)), None, defaults, tuple(map(CellType, captured)))
    made.__kwdefaults__ = named_defaults
    made.__qualname__ = name
    return made


def _number(module: str, code: CodeType) -> int:
    return [other for other in _codes(module) if other.co_qualname == code.co_qualname].index(code)


@cache
def _codes(module: str) -> tuple[CodeType, ...]:
    """All functions of a module, as its file has them."""
    spec = find_spec(module)
    whole = spec.loader.get_code(module) if spec is not None and hasattr(spec.loader, "get_code") else None  # type: ignore[union-attr]
    return tuple(_inside(whole)) if whole is not None else ()


def _inside(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _inside(part)
