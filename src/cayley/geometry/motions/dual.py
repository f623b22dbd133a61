"""Dual numbers a + mu b with mu^2 = 0, dual vectors, dual angles and dual orthogonal matrices: the algebra of lines.

A function of a dual number is f(a + mu b) = f(a) + mu b f'(a). A line (e; m) is the dual vector e + mu m, an angle and
a distance about the same line are one dual angle phi + mu s, and a pose is the dual matrix R + mu hat(p) R, orthogonal
over dual numbers. Parts may be numbers, arrays, or symbols inside a kernel, so `Dual` serves for plain NumPy and for
traced functions. In arrays (of kernels) a dual quantity has an axis of length two in front of its own axes: (real part,
dual part). Source: Mladenova (151)-(152), spec R-33."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from cayley.compiler.tracing.graph import Node
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, SingularityError, UnsupportedError


@dataclass(frozen=True, eq=False)
class Dual:
    """real + mu dual, mu^2 = 0: numbers or arrays, under + - * / ** and @; equal if both parts are, all elements.

    >>> (1 + 2 * MU) * (3 + 4 * MU)
    Dual(real=3.0, dual=10.0)
    >>> 1 / MU
    Traceback (most recent call last):
    cayley.errors.SingularityError: a dual number whose real part is zero has no inverse
    """

    real: Scalar
    dual: Scalar = 0.0

    __array_ufunc__ = None  # so that array + Dual comes here

    def __add__(self, other: Dual | ArrayLike) -> Dual:
        other = as_dual(other)
        return Dual(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: Dual | ArrayLike) -> Dual:
        other = as_dual(other)
        return Dual(self.real - other.real, self.dual - other.dual)

    def __mul__(self, other: Dual | ArrayLike) -> Dual:
        other = as_dual(other)
        return Dual(self.real * other.real, self.real * other.dual + self.dual * other.real)

    def __truediv__(self, other: Dual | ArrayLike) -> Dual:
        other = as_dual(other)
        _refuse(other.real, lambda x: x == 0, SingularityError, "a dual number whose real part is zero has no inverse")
        ratio = self.real / other.real
        return Dual(ratio, (self.dual - ratio * other.dual) / other.real)

    def __matmul__(self, other: Dual | ArrayLike) -> Dual:
        other = as_dual(other)
        return Dual(self.real @ other.real, self.real @ other.dual + self.dual @ other.real)

    def __pow__(self, exponent: float) -> Dual:
        if not isinstance(exponent, Real):
            raise UnsupportedError(
                f"the exponent of a dual number must be a real number, not {exponent!r}: use dual_exp(p * dual_log(x))")
        if exponent == 0:
            return Dual(self.real**0, 0 * self.dual)
        if exponent < 0:
            return 1 / self ** -exponent
        if exponent == int(exponent):
            exponent = int(exponent)
        else:
            _refuse(self.real, lambda a: a < 0, GeometryError, _NEGATIVE.format("a fractional power"))
            _refuse(self.real, lambda a: a == 0, SingularityError, _ZERO.format("fractional power"))
        return Dual(self.real**exponent, exponent * self.real ** (exponent - 1) * self.dual)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Dual, Real, np.ndarray)):
            return NotImplemented
        other = as_dual(other)
        return np.array_equal(self.real, other.real) and np.array_equal(self.dual, other.dual)

    def __hash__(self) -> int:
        return hash(self.real) if np.isscalar(self.dual) and self.dual == 0 else hash((self.real, self.dual))

    def __neg__(self) -> Dual:
        return Dual(-self.real, -self.dual)

    def __radd__(self, other: ArrayLike) -> Dual:
        return as_dual(other) + self

    def __rsub__(self, other: ArrayLike) -> Dual:
        return as_dual(other) - self

    def __rmul__(self, other: ArrayLike) -> Dual:
        return as_dual(other) * self

    def __rtruediv__(self, other: ArrayLike) -> Dual:
        return as_dual(other) / self

    def __rmatmul__(self, other: ArrayLike) -> Dual:
        return as_dual(other) @ self

    def __getitem__(self, index: int | slice | tuple[int | slice, ...]) -> Dual:
        return Dual(self.real[index], self.dual[index])

    @property
    def T(self) -> Dual:
        """The transposed matrix."""
        return Dual(self.real.T, self.dual.T)

    def stacked(self) -> Array:
        """One array, (real, dual) along a new first axis."""
        return np.stack([self.real, self.dual])


MU = Dual(0.0, 1.0)
"""The dual unit."""


def as_dual(value: Dual | Scalar) -> Dual:
    """The value itself if it is dual, otherwise with the dual part zero."""
    return value if isinstance(value, Dual) else Dual(value, 0 * value)


def _refuse(value: Scalar, is_bad: Callable[[Array], Array], error: type[Exception], message: str) -> None:
    """Raise where numbers are bad; symbols have no value to look at."""
    if not isinstance(value, Node) and np.asarray(value).dtype != object and np.any(is_bad(np.asarray(value))):
        raise error(message)


_Refused = tuple[Callable[[Array], Array], type[Exception], str]
_NEGATIVE = "{} of a dual number with a negative real part is not real"
_ZERO = "a dual number whose real part is zero has no {}"


def _lifted(name: str, value: Callable[[Scalar], Scalar], rate: Callable[[Scalar, Scalar], Scalar], says: str,
            *refused: _Refused) -> Callable[[Dual], Dual]:
    """f(a) + mu f'(a) b, with `rate` = f'(a) b; `refused` are the numbers a that have none."""
    def lifted(x: Dual) -> Dual:
        for is_bad, error, message in refused:
            _refuse(x.real, is_bad, error, message)
        return Dual(value(x.real), rate(x.real, x.dual))

    lifted.__name__ = lifted.__qualname__ = name
    lifted.__doc__ = says
    return lifted


def _of_sine(name: str) -> tuple[_Refused, _Refused]:
    return ((lambda a: np.abs(a) > 1, GeometryError, f"no angle has a {name} beyond 1"),
            (lambda a: np.abs(a) == 1, SingularityError,
             f"the dual arc{name} at a real part of 1 is not determined: use dual_arctan2"))


def _of_positive(name: str) -> tuple[_Refused, _Refused]:
    return ((lambda a: a < 0, GeometryError, _NEGATIVE.format(f"the {name}")),
            (lambda a: a == 0, SingularityError, _ZERO.format(name)))


dual_sqrt = _lifted("dual_sqrt", np.sqrt, lambda a, b: b / (2 * np.sqrt(a)),
                    "sqrt(a) + mu b / (2 sqrt(a)). `SingularityError` where a = 0: no dual number has the square mu b.",
                    *_of_positive("square root"))
dual_sin = _lifted("dual_sin", np.sin, lambda a, b: b * np.cos(a), "sin(a) + mu b cos(a).")
dual_cos = _lifted("dual_cos", np.cos, lambda a, b: -b * np.sin(a), "cos(a) - mu b sin(a).")
dual_tan = _lifted("dual_tan", np.tan, lambda a, b: b * (1 + np.tan(a) * np.tan(a)),
                   "tan(a) + mu b (1 + tan(a)^2); very large near a quarter turn.")
dual_arctan = _lifted("dual_arctan", np.arctan, lambda a, b: b / (1 + a * a), "arctan(a) + mu b / (1 + a^2).")
dual_arcsin = _lifted("dual_arcsin", np.arcsin, lambda a, b: b / np.sqrt((1 - a) * (1 + a)),
                      "arcsin(a) + mu b / sqrt(1 - a^2). `SingularityError` where |a| = 1.", *_of_sine("sine"))
dual_arccos = _lifted("dual_arccos", np.arccos, lambda a, b: -b / np.sqrt((1 - a) * (1 + a)),
                      "arccos(a) - mu b / sqrt(1 - a^2). `SingularityError` where |a| = 1.", *_of_sine("cosine"))
dual_exp = _lifted("dual_exp", np.exp, lambda a, b: b * np.exp(a), "exp(a) (1 + mu b).")
dual_log = _lifted("dual_log", np.log, lambda a, b: b / a,
                   "log(a) + mu b / a. `SingularityError` where the real part is zero.", *_of_positive("logarithm"))


def dual_arctan2(y: Dual, x: Dual) -> Dual:
    """The dual angle of the point (x, y): four quadrants. `SingularityError` where both real parts are zero.

    >>> dual_arctan2(Dual(1.0, 0.5), Dual(0.0, 0.0))
    Dual(real=np.float64(1.5707963267948966), dual=0.0)
    """
    square = x.real * x.real + y.real * y.real
    _refuse(square, lambda a: a == 0, SingularityError,
            "the dual angle of a point whose real parts are both zero is not determined")
    return Dual(np.arctan2(y.real, x.real), (x.real * y.dual - y.real * x.dual) / square)


def dual_dot(a: Dual, b: Dual) -> Dual:
    """The scalar product of dual vectors; for two lines with unit directions it is the cosine of their dual angle."""
    return a @ b


def dual_cross(a: Dual, b: Dual) -> Dual:
    """The vector product of dual vectors; of two lines, the common perpendicular times the sine of the dual angle."""
    return Dual(np.cross(a.real, b.real), np.cross(a.real, b.dual) + np.cross(a.dual, b.real))


def dual_norm(a: Dual) -> Dual:
    """The length of a dual vector. `SingularityError` where the real part is zero."""
    return dual_sqrt(dual_dot(a, a))

