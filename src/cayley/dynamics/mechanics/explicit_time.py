"""Functions that may depend on time, and kernels of them: time is the last argument, or not there at all."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError

Function = Callable[..., Any]


def takes_time(function: Function, count: int) -> bool:
    """Whether a function of `count` arrays takes the time after them."""
    parameters = inspect.signature(function).parameters.values()
    required = [
        p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(required) not in (count, count + 1):
        raise SignatureError(
            f"{getattr(function, '__name__', 'a function')} takes {len(required)} arguments: write it as a function of "
            f"{count} arrays, and of t after them if it depends on time")
    return len(required) == count + 1


def timed(function: Function, count: int) -> Function:
    """The function as one that takes t in any case."""
    return function if takes_time(function, count) else lambda *arguments: function(*arguments[:-1])


def optional(function: Function | None, count: int) -> Function | None:
    return None if function is None else timed(function, count)


def by_time(values: Array, t: Scalar) -> Array:
    """The partial derivatives by time; of a system without time, zero."""
    return np.zeros(np.shape(values)) if t is None else jacobian(values, t)


def timed_kernel(shapes: str, out: str, text: Function, name: str, inputs: Sequence[str], rheonomic: bool,
                 explain: Function | None = None) -> Kernel:
    """The kernel of a text that takes t last: with the time as its last input, or without it."""
    if rheonomic:
        return kernel(f"{shapes},()->{out}", name=name, inputs=[*inputs, "t"], explain=explain)(text)
    return kernel(f"{shapes}->{out}", name=name, inputs=list(inputs),
                  explain=explain)(lambda *arguments: text(*arguments, None))
