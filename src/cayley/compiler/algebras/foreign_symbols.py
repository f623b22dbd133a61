"""Advice for calls with symbols of another library: tracers of JAX, tensors that torch records, expressions of CasADi
and SymPy."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import UnsupportedError

_INSTEAD = {
    "jax": "inside functions that JAX transforms call {owner}.for_jax(), which is compiled code that XLA calls back, "
           "or {owner}.evaluate(cy.JAX, ...), which is JAX's own operations",
    "torch": "{owner}.for_torch() is a function of tensors that torch differentiates; tensor.detach() has the numbers",
    "casadi": "{owner}.for_casadi() is a function of CasADi, and {owner}.evaluate(cy.CASADI, ...) an expression",
    "sympy": "{owner}.evaluate(cy.SYMPY, ...) computes with expressions of SymPy",
    "mpmath": "{owner}.evaluate(cy.MPMATH, ...) computes with numbers of mpmath"}
_OF_ROLLOUTS = {
    "jax": "inside functions that JAX transforms call {owner}.for_jax(step=..., steps=...)",
    "torch": "{owner}.for_torch(step=..., steps=...) is a function of tensors that torch differentiates"}


def instead_of(value: object, owner: str, *, rollout: bool = False) -> str:
    """The function to call instead, if the value, or the first of a list, belongs to a library that kernels know.

    >>> import sympy
    >>> instead_of(sympy.Symbol("q"), "pose")
    'pose.evaluate(cy.SYMPY, ...) computes with expressions of SymPy'
    """
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    library = type(value).__module__.partition(".")[0].removesuffix("lib")
    return (_OF_ROLLOUTS if rollout else _INSTEAD).get(library, "").format(owner=owner)


def rollout_numbers(value: ArrayLike | str, label: str, owner: str = "rollout") -> Array:
    """An argument of a rollout as an array."""
    try:
        return np.asarray(value)
    except (TypeError, RuntimeError) as error:
        raise UnsupportedError(f"{label!r} is a {type(value).__name__}, which has no numbers: "
                               f"{instead_of(value, owner, rollout=True) or error}") from error
