"""The algebras of NumPy, JAX, SymPy, CasADi and mpmath. Each package is imported when it is first needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.algebras.protocol import (
    Algebra,
    LazyTable,
    Shape,
    package,
    read_nested,
    write_objects,
    wrong_shape,
)
from cayley.compiler.operations import OPERATIONS
from cayley.compiler.typing import ArrayLike, Scalar
from cayley.errors import SignatureError

if TYPE_CHECKING:
    from types import ModuleType


class _Package(LazyTable):
    """The functions of a package as the table of operations spells them."""

    def __init__(self, module: str, language: str) -> None:
        self.module = module
        self.language = language

    def __getitem__(self, op: str) -> Callable[..., Any]:
        spelling = OPERATIONS[op].spelled(self.language)
        if not spelling:
            raise KeyError(op)
        home = package(self.module)
        return attrgetter(spelling)(home) if isinstance(spelling, str) else partial(spelling, home)


class _NumPy(LazyTable):
    def __getitem__(self, op: str) -> Callable[..., Any]:
        found = OPERATIONS[op].ufunc or OPERATIONS[op].text
        if found is None:
            raise KeyError(op)
        return found


# NumPy and JAX: arrays whose leading axes are a batch

def _real_array(array_package: ModuleType, argument: ArrayLike, shape: Shape) -> Scalar:
    array = array_package.asarray(argument)
    if array.dtype.kind not in "fciub" and array.dtype.name != "bfloat16":
        raise SignatureError(f"holds {array.dtype}, not numbers")
    if array.shape[len(array.shape) - len(shape):] != shape or len(array.shape) < len(shape):
        raise wrong_shape(array, shape)
    array = array.astype(float) if array.dtype.kind in "iub" else array
    return array.reshape((*array.shape[:len(array.shape) - len(shape)], math.prod(shape)))


def _read_numpy(argument: ArrayLike, shape: Shape) -> list[Any]:
    array = _real_array(np, argument, shape)
    return [array[..., k] for k in range(array.shape[-1])]


def _write_numpy(scalars: list[Any], shape: Shape, batch: Shape) -> Scalar:
    dtype = np.result_type(*{s.dtype for s in scalars if hasattr(s, "dtype")}, 0.0)
    array = np.empty((*batch, len(scalars)), dtype=dtype)
    for k, scalar in enumerate(scalars):
        array[..., k] = scalar
    return array.reshape(batch + shape)[()]


NUMPY = Algebra("NumPy", _NumPy(), read=_read_numpy, write=_write_numpy, batched=True)
"""Float arrays; leading axes are a batch."""


def _read_jax(argument: Scalar, shape: Shape) -> list[Any]:
    jnp = package("jax.numpy")
    return list(jnp.moveaxis(_real_array(jnp, argument, shape), -1, 0))


def _write_jax(scalars: list[Any], shape: Shape, batch: Shape) -> Scalar:
    jnp = package("jax.numpy")
    if not scalars:
        return jnp.zeros(batch + shape)
    return jnp.stack([jnp.broadcast_to(s, batch) for s in scalars], axis=-1).reshape(batch + shape)


JAX = Algebra("JAX", _Package("jax.numpy", "jax"), read=_read_jax, write=_write_jax, batched=True)
"""JAX arrays, also under jit, vmap and grad; leading axes are a batch."""


# SymPy

def _sympy_constant(value: float) -> Scalar:
    """Whole numbers and simple fractions exactly, so that equations look as in a book; other numbers as they are."""
    sympy = package("sympy")
    if not math.isfinite(value):
        return sympy.nan if value != value else sympy.oo * int(math.copysign(1, value))
    numerator, denominator = value.as_integer_ratio()
    simple = abs(numerator) <= 10**6 if denominator == 1 else abs(numerator) < 100 and denominator <= 8
    return sympy.Rational(numerator, denominator) if simple else sympy.Float(value)


def _read_sympy(argument: ArrayLike, shape: Shape) -> list[Any]:
    sympy = package("sympy")
    if isinstance(argument, sympy.MatrixBase):
        if argument.shape not in (shape, (*shape, 1), (1, *shape)):
            raise wrong_shape(argument, shape)
        return list(argument)
    if isinstance(argument, sympy.NDimArray):
        argument = np.array(argument.tolist(), dtype=object)
    return [sympy.sympify(s) for s in read_nested(argument, shape)]


def _write_sympy(scalars: list[Any], shape: Shape, batch: Shape = ()) -> Scalar:
    sympy = package("sympy")
    if shape == ():
        return scalars[0]
    if len(shape) > 2:
        return sympy.ImmutableDenseNDimArray(scalars, shape)
    return sympy.ImmutableMatrix(*(shape if len(shape) == 2 else (*shape, 1)), scalars)


SYMPY = Algebra("SymPy", _Package("sympy", "sympy"), _sympy_constant, _read_sympy, _write_sympy)
"""SymPy expressions. A vector is a column matrix, an array of more than two axes an `ImmutableDenseNDimArray`."""


# CasADi

def _read_casadi(argument: Scalar, shape: Shape) -> list[Any]:
    casadi = package("casadi")
    if not isinstance(argument, (casadi.SX, casadi.MX, casadi.DM)):
        return read_nested(argument, shape)
    if argument.shape not in (shape, (*shape, 1), (1, *shape), (*shape, 1, 1)):
        raise wrong_shape(argument, shape)
    return casadi.vertsplit(casadi.vec(casadi.densify(argument).T)) if math.prod(shape) else []


def _write_casadi(scalars: list[Any], shape: Shape, batch: Shape = ()) -> Scalar:
    casadi = package("casadi")
    if shape == ():
        return scalars[0]
    if len(shape) > 2:
        return write_objects(scalars, shape)
    rows, columns = shape if len(shape) == 2 else (*shape, 1)
    return casadi.reshape(casadi.vertcat(*scalars), columns, rows).T


CASADI = Algebra("CasADi", _Package("casadi", "casadi"), lambda value: package("casadi").DM(value), _read_casadi,
                 _write_casadi)
"""CasADi's SX or MX (DM where nothing is symbolic). A vector is a column, an array of more than two axes an object
array of scalars. CasADi's minimum and maximum are C's: of a number and a NaN they give the number."""


# mpmath

def _number_mpmath(value: Scalar) -> Scalar:
    mpmath = package("mpmath")
    return mpmath.mpmathify(value.item() if isinstance(value, np.generic) else value)


def _read_mpmath(argument: Scalar, shape: Shape) -> list[Any]:
    if isinstance(argument, package("mpmath").matrix):
        rows = argument.tolist()
        argument = [row[0] for row in rows] if len(shape) == 1 and argument.cols == 1 else rows
    return [_number_mpmath(s) for s in read_nested(argument, shape)]


MPMATH = Algebra("mpmath", _Package("mpmath", "mpmath"), _number_mpmath, _read_mpmath)
"""mpmath's real numbers in the working precision (`with mpmath.workdps(50): ...`); results are object arrays."""
