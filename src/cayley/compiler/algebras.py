"""The algebras of NumPy, JAX, SymPy, CasADi and mpmath. Each package is imported when it is first needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cayley.compiler.algebra_protocol import Algebra, LazyTable, Shape, package, read_nested, write_objects, wrong_shape
from cayley.errors import SignatureError


class _Package(LazyTable):
    """Functions of a package by the names it gives them, or written here in its terms (then they are given the package
    first).
    """

    def __init__(self, module: str, names: Mapping[str, str | Callable]):
        self.module = module
        self.names = names

    def __getitem__(self, op: str) -> Callable:
        name = self.names[op]
        home = package(self.module)
        return getattr(home, name) if isinstance(name, str) else lambda *args: name(home, *args)


_NUMPY_NAMES = {
    op: op
    for op in ("add", "subtract", "multiply", "divide", "negative", "sqrt", "sin", "cos", "tan", "arcsin", "arccos",
               "arctan", "arctan2", "hypot", "exp", "log", "floor", "absolute", "sign", "minimum", "maximum", "less",
               "less_equal", "equal", "where", "remainder", "floor_divide")}
_NUMPY_NAMES |= {"and": "logical_and", "not": "logical_not"}
_SHORT_NAMES = {**{op: op for op in ("sqrt", "sin", "cos", "tan", "exp", "log", "floor", "sign")},
                "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2"}


# NumPy and JAX: arrays whose leading axes are a batch

def _real_array(array_package: Any, argument: Any, shape: Shape) -> Any:
    array = array_package.asarray(argument)
    if array.dtype.kind not in "fciub" and array.dtype.name != "bfloat16":
        raise SignatureError(f"holds {array.dtype}, not numbers")
    if array.shape[len(array.shape) - len(shape):] != shape or len(array.shape) < len(shape):
        raise wrong_shape(array, shape)
    array = array.astype(float) if array.dtype.kind in "iub" else array
    return array.reshape((*array.shape[:len(array.shape) - len(shape)], math.prod(shape)))


def _read_numpy(argument: Any, shape: Shape) -> list:
    array = _real_array(np, argument, shape)
    return [array[..., k] for k in range(array.shape[-1])]


def _write_numpy(scalars: list, shape: Shape, batch: Shape) -> Any:
    dtype = np.result_type(*{s.dtype for s in scalars if hasattr(s, "dtype")}, 0.0)
    array = np.empty((*batch, len(scalars)), dtype=dtype)
    for k, scalar in enumerate(scalars):
        array[..., k] = scalar
    return array.reshape(batch + shape)[()]


NUMPY = Algebra("NumPy", {op: getattr(np, name)
                          for op, name in _NUMPY_NAMES.items()}, read=_read_numpy, write=_write_numpy, batched=True)
"""Float arrays; leading axes are a batch."""


def _read_jax(argument: Any, shape: Shape) -> list:
    jnp = package("jax.numpy")
    return list(jnp.moveaxis(_real_array(jnp, argument, shape), -1, 0))


def _write_jax(scalars: list, shape: Shape, batch: Shape) -> Any:
    jnp = package("jax.numpy")
    if not scalars:
        return jnp.zeros(batch + shape)
    return jnp.stack([jnp.broadcast_to(s, batch) for s in scalars], axis=-1).reshape(batch + shape)


JAX = Algebra("JAX", _Package("jax.numpy", _NUMPY_NAMES), read=_read_jax, write=_write_jax, batched=True)
"""JAX arrays, also under jit, vmap and grad; leading axes are a batch."""


# SymPy

def _sympy_constant(value: float) -> Any:
    """Whole numbers and simple fractions exactly, so that equations look as in a book; other numbers as they are."""
    sympy = package("sympy")
    if not math.isfinite(value):
        return sympy.nan if value != value else sympy.oo * int(math.copysign(1, value))
    numerator, denominator = value.as_integer_ratio()
    simple = abs(numerator) <= 10**6 if denominator == 1 else abs(numerator) < 100 and denominator <= 8
    return sympy.Rational(numerator, denominator) if simple else sympy.Float(value)


def _read_sympy(argument: Any, shape: Shape) -> list:
    sympy = package("sympy")
    if isinstance(argument, sympy.MatrixBase):
        if argument.shape not in (shape, (*shape, 1), (1, *shape)):
            raise wrong_shape(argument, shape)
        return list(argument)
    if isinstance(argument, sympy.NDimArray):
        argument = np.array(argument.tolist(), dtype=object)
    return [sympy.sympify(s) for s in read_nested(argument, shape)]


def _write_sympy(scalars: list, shape: Shape, batch: Shape = ()) -> Any:
    sympy = package("sympy")
    if shape == ():
        return scalars[0]
    if len(shape) > 2:
        return sympy.ImmutableDenseNDimArray(scalars, shape)
    return sympy.ImmutableMatrix(*(shape if len(shape) == 2 else (*shape, 1)), scalars)


SYMPY = Algebra(
    "SymPy",
    _Package(
        "sympy", {
            **_SHORT_NAMES,
            "hypot": lambda sympy, a, b: sympy.sqrt(a**2 + b**2),
            "absolute": "Abs",
            "minimum": "Min",
            "maximum": "Max",
            "less": "StrictLessThan",
            "less_equal": "LessThan",
            "equal": "Equality",
            "and": "And",
            "not": "Not",
            "where": lambda sympy, condition, a, b: sympy.Piecewise((a, condition), (b, True)), }), _sympy_constant,
    _read_sympy, _write_sympy)
"""SymPy expressions. A vector is a column matrix, an array of more than two axes an `ImmutableDenseNDimArray`."""


# CasADi

def _read_casadi(argument: Any, shape: Shape) -> list:
    casadi = package("casadi")
    if not isinstance(argument, (casadi.SX, casadi.MX, casadi.DM)):
        return read_nested(argument, shape)
    if argument.shape not in (shape, (*shape, 1), (1, *shape), (*shape, 1, 1)):
        raise wrong_shape(argument, shape)
    return casadi.vertsplit(casadi.vec(casadi.densify(argument).T)) if math.prod(shape) else []


def _write_casadi(scalars: list, shape: Shape, batch: Shape = ()) -> Any:
    casadi = package("casadi")
    if shape == ():
        return scalars[0]
    if len(shape) > 2:
        return write_objects(scalars, shape)
    rows, columns = shape if len(shape) == 2 else (*shape, 1)
    return casadi.reshape(casadi.vertcat(*scalars), columns, rows).T


def _casadi_remainder(casadi: Any, a: Any, b: Any) -> Any:
    """C's remainder, moved to the side of b."""
    rest = casadi.fmod(a, b)
    return rest + casadi.if_else(rest * b < 0, b, 0)


CASADI = Algebra(
    "CasADi",
    _Package(
        "casadi", {
            **_SHORT_NAMES,
            "hypot": "hypot",
            "absolute": "fabs",
            "minimum": "fmin",
            "maximum": "fmax",
            "less": "lt",
            "less_equal": "le",
            "equal": "eq",
            "and": "logic_and",
            "not": "logic_not",
            "where": "if_else",
            "remainder": lambda casadi, a, b: _casadi_remainder(casadi, a, b),
            "floor_divide": lambda casadi, a, b: casadi.floor((a - _casadi_remainder(casadi, a, b)) / b + 0.5), }),
    lambda value: package("casadi").DM(value), _read_casadi, _write_casadi)
"""CasADi's SX or MX (DM where nothing is symbolic). A vector is a column, an array of more than two axes an object array of scalars.
CasADi's minimum and maximum are C's: of a number and a NaN they give the number."""


# mpmath

def _real(name: str) -> Callable:
    """NaN where a function of real numbers has no real value."""
    def call(mpmath, *args):
        value = getattr(mpmath, name)(*args)
        return mpmath.nan if isinstance(value, mpmath.mpc) and not any(isinstance(a, mpmath.mpc)
                                                                       for a in args) else value
    return call


def _divide_mpmath(mpmath: Any, a: Any, b: Any) -> Any:
    if b == 0:
        return a * mpmath.inf  # which is NaN for 0 / 0
    return a / b


def _number_mpmath(value: Any) -> Any:
    mpmath = package("mpmath")
    return mpmath.mpmathify(value.item() if isinstance(value, np.generic) else value)


def _read_mpmath(argument: Any, shape: Shape) -> list:
    if isinstance(argument, package("mpmath").matrix):
        rows = argument.tolist()
        argument = [row[0] for row in rows] if len(shape) == 1 and argument.cols == 1 else rows
    return [_number_mpmath(s) for s in read_nested(argument, shape)]


MPMATH = Algebra("mpmath", _Package("mpmath", {
    **_SHORT_NAMES, **{op: _real(_SHORT_NAMES[op]) for op in ("sqrt", "arcsin", "arccos", "log")},
    "divide": _divide_mpmath, "hypot": "hypot", "absolute": "fabs",
    "remainder": lambda mpmath, a, b: a % b if b else mpmath.nan,
    "floor_divide": lambda mpmath, a, b: mpmath.floor(a / b) if b else _divide_mpmath(mpmath, a, b),
}), _number_mpmath, _read_mpmath)
"""mpmath's real numbers in the working precision (`with mpmath.workdps(50): ...`); results are object arrays."""
