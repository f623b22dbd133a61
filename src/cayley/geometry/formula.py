"""Kernels of one expression, written as rows of a table."""

from __future__ import annotations

from collections.abc import Callable

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Text


def formula(name: str, signature: str, text: Text, says: str,
            check: Callable[..., None] | None = None) -> Kernel[Array]:
    """The kernel of an expression: its name, its signature as of `kernel`, the expression, what it says, its check.

    >>> twice = formula("twice", "(3)->(3)", lambda v: 2 * v, "The double of a vector.")
    >>> twice([1.0, 2.0, 3.0]), twice.__doc__
    (array([2., 4., 6.]), 'The double of a vector.')
    """
    text.__name__ = name
    text.__doc__ = says
    return kernel(signature, check=check)(text)
