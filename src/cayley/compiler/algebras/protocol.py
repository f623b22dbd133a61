"""Algebras: the scalars on which a graph is evaluated.

An `Algebra` says how each operation of a graph is carried out and how arrays of scalars are taken apart and put
together. Those of NumPy, SymPy, CasADi, JAX and mpmath are in `algebras.py`; `Algebra.of_operators` makes one for
a type of your own."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.operations import OPERATIONS
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError, UnsupportedError
from cayley.extras import optional_imports

if TYPE_CHECKING:
    from types import ModuleType

Shape = tuple[int, ...]

_MORE_SPELLINGS = {"absolute": ("abs",), "minimum": ("min", "fmin"), "maximum": ("max", "fmax"), "log": ("ln",)}

_FALSE_FRIENDS = ("remainder",)
"""What modules after C call so is another function: the remainder of C goes to the nearest multiple."""


def read_nested(argument: Scalar, shape: Shape) -> list[Any]:
    """The scalars, in C order, of nested sequences or of an array."""
    scalars = [argument]
    for size in shape:
        if any(not hasattr(item, "__len__") or len(item) != size for item in scalars):
            raise wrong_shape(argument, shape)
        scalars = [item[k] for item in scalars for k in range(size)]
    if any(_shape_of(s) not in ((), (1, 1)) for s in scalars):
        raise wrong_shape(argument, shape)
    return [s.item() if isinstance(s, np.ndarray) else s for s in scalars]


def write_objects(scalars: list[Any], shape: Shape, batch: Shape = ()) -> Array:
    """An object array; one scalar stays itself."""
    if shape == ():
        return scalars[0]
    array = np.empty(len(scalars), dtype=object)
    for k, scalar in enumerate(scalars):  # assigning the list would let NumPy look inside the scalars
        array[k] = scalar
    return array.reshape(shape)


def wrong_shape(argument: Scalar, shape: Shape) -> SignatureError:
    return SignatureError(f"has shape {_shape_of(argument)}, not {shape}")


def _shape_of(argument: Scalar) -> Shape:
    shape = []
    while not hasattr(argument, "shape") and isinstance(argument, Sequence) and not isinstance(argument, str):
        shape.append(len(argument))
        if not argument:
            break
        argument = argument[0]
    return (*shape, *getattr(argument, "shape", ()))


@dataclass(frozen=True)
class Algebra(HoldsFunctions):
    """An algebra: the operations on one kind of scalar.

    `functions` has a function for each operation, by its NumPy name (`sin`, `arctan2`, `where`, ...); for + - * /,
    comparisons, choices, minimum and maximum, Python's own operators are taken where it has none, and an operation that
    has a text is computed by it. `constant` makes a scalar of a float. `read(argument, shape)` takes an argument apart
    into scalars in C order, `write(scalars, shape, batch)` puts a result together. `batch` is the broadcast shape of
    the leading axes, () unless the algebra is `batched`."""

    name: str
    functions: Mapping[str, Callable[..., Any]]
    constant: Callable[[float], Any] = float
    read: Callable[[Any, Shape], list[Any]] = read_nested
    write: Callable[[list[Any], Shape, Shape], Any] = write_objects
    batched: bool = False

    @staticmethod
    def of_operators(name: str, functions: Scalar = None, constant: Callable[[float], Any] = float) -> Algebra:
        """The algebra of a scalar type that has + - * /.

        Its other functions are looked for in `functions`, a table by operation or a module, and else are methods of the
        scalars.

        >>> from fractions import Fraction
        >>> exact = Algebra.of_operators("fractions", {"floor": lambda x: Fraction(x // 1)}, constant=Fraction)
        >>> exact.function("multiply")(Fraction(1, 3), exact.constant(0.5))
        Fraction(1, 6)
        """
        table = functions if isinstance(functions, Mapping) else {}
        home = None if isinstance(functions, Mapping) else functions
        return Algebra(name, _Found(name, table, home), constant)

    def function(self, op: str) -> Callable[..., Any]:
        """The function that carries out `op`."""
        operation = OPERATIONS.get(op)
        found = self.functions.get(op) or (operation and operation.operator)
        if found is None and operation is not None and operation.text is not None:
            from cayley.compiler.tracing.composed import evaluated  # which traces, and so builds upon this module
            return lambda *operands: evaluated(operation, operands, self.function, self.constant)
        if found is None:
            raise missing(op, self.name)
        return found

    def extended(self, functions: Mapping[str, Callable[..., Any]]) -> Algebra:
        """The same algebra with some operations carried out by other functions."""
        return replace(self, functions=_Extended(functions, self.functions))


def missing(op: str, name: str) -> UnsupportedError:
    return UnsupportedError(
        f"the algebra {name!r} has no {op!r}: give it one with algebra.extended({{{op!r}: function}})")


class LazyTable(Mapping[str, Callable[..., Any]]):
    """A read-only table whose entries are made when they are asked for."""

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class _Extended(LazyTable):
    def __init__(self, first: Mapping[str, Callable[..., Any]], second: Mapping[str, Callable[..., Any]]) -> None:
        self.first = first
        self.second = second

    def __getitem__(self, op: str) -> Callable[..., Any]:
        return self.first[op] if op in self.first else self.second[op]


class _Found(HoldsFunctions, LazyTable):
    """Functions from a table, from a module under their usual spellings, or as methods of their first argument."""

    def __init__(self, name: str, table: Mapping[str, Callable[..., Any]], home: Any) -> None:  # noqa: ANN401 (a module or a class of another library)
        self.name = name
        self.table = table
        self.home = home

    def __getitem__(self, op: str) -> Callable[..., Any]:
        if op in self.table:
            return self.table[op]
        operation = OPERATIONS.get(op)
        named = (op, operation.c_function) if operation and operation.c_function else (op,)
        own = () if op in _FALSE_FRIENDS else named
        spellings = (*own, *_MORE_SPELLINGS.get(op, ()))
        found = next((getattr(self.home, s) for s in spellings if hasattr(self.home, s)), None)
        if found is None and operation and operation.operator:
            raise KeyError(op)
        return found or self._method(op, spellings)

    def _method(self, op: str, spellings: Sequence[str]) -> Callable[..., Any]:
        def call(scalar: Scalar, *others: Scalar) -> Scalar:
            method = next((getattr(scalar, s) for s in spellings if hasattr(scalar, s)), None)
            if method is None:
                raise missing(op, self.name)
            return method(*others)
        return call


def package(module: str) -> ModuleType:
    """An optional module, imported now."""
    with optional_imports():
        return importlib.import_module(module)
