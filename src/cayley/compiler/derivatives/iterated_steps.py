"""Derivatives of a kernel that is iterated: forward along directions, and backward from weights, each a loop itself.

A step is one text, x[k + 1] = f(x[k], u[k], p). Forward, a tangent goes with the state:

    dx[k + 1] = f_x dx[k] + f_u du[k] + f_p dp
Backward, an adjoint comes from the last state to the first, and collects on its way what the rest is to blame for:

    a[k] = f_x' a[k + 1] + w[k]        du[k] = f_u' a[k + 1]        dp = sum f_p' a[k + 1]
where w[k] are the weights of the state x[k] (Griewank & Walther, Evaluating Derivatives, sections 3.1, 3.2 and 12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cayley.compiler.derivatives.jacobian_products import slopes_of_sum
from cayley.compiler.iterate import Iterated, iterate
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.signature import spell
from cayley.compiler.typing import Array, Scalar

Shapes = Mapping[str, tuple[int, ...]]


def named_kernel(text: Callable[[dict[str, Any]], tuple[Any, ...]], shapes: Shapes,
                 results: Shapes | Sequence[tuple[int, ...]], name: str, *, shared: bool = False,
                 units: Mapping[str, str] | None = None) -> Kernel[Any]:
    """The kernel of a text that takes its arguments by name, in one dictionary, and gives a tuple of results, whose
    shapes are given by name, or in their order.

    >>> named_kernel(lambda given: (given["a"] @ given["b"],), {"a": (2,), "b": (2,)}, {"c": ()}, "product")
    <kernel product (2),(2)->()>
    """
    def flat(*arguments: Array) -> Scalar:
        found = text(dict(zip(shapes, arguments, strict=True)))
        return found if len(found) > 1 else found[0]

    flat.__doc__ = text.__doc__
    named = results if isinstance(results, Mapping) else None
    every = results if named is None else named.values()
    signature = f"{','.join(map(spell, shapes.values()))}->{','.join(map(spell, every))}"
    return kernel(signature, name=name, inputs=list(shapes), outputs=None if named is None else list(named),
                  shared=shared, units=units)(flat)


def tangent_steps(step: Kernel, shapes: Shapes, by: Mapping[str, str], changing: Sequence[str], name: str) -> Iterated:
    """The loop of the state "x" and of its tangent "along", for a step with arguments of some shapes. `by` gives a word
    for each other argument that changes along a direction, "along.<word>"; `changing` are arguments that have a value
    for each step."""
    product = step.jvp("x", *by.values())
    size = shapes["x"]
    every = {"along": size, **{f"along.{word}": shapes[n] for word, n in by.items()}, **shapes}

    def text(given: dict[str, Any]) -> tuple[Scalar, ...]:
        own = [given[n] for n in shapes]
        return step(*own), product(*own, given["along"], *[given[f"along.{word}"] for word in by])

    made = named_kernel(text, every, {"after": size, "along_after": size}, name)
    directions = [f"along.{word}" for word, n in by.items() if n in changing]
    return iterate(made, {"x": "after", "along": "along_after"}, changing=[*changing, *directions],
                   keeping=["along_after"])


def adjoint_steps(step: Kernel, shapes: Shapes, by: Mapping[str, str], changing: Sequence[str], name: str) -> Iterated:
    """The loop of the adjoint of the state "x" from the last step to the first, with a "weight" of each state. `by`
    gives a word for each other argument to differentiate by. Results are the adjoint, then the sums "sum.<word>" of
    those that are constant, then the slopes by those that are `changing`."""
    constants = {word: n for word, n in by.items() if n not in changing}
    moving = {word: n for word, n in by.items() if n in changing}
    size = shapes["x"]
    every = {"adjoint": size, "weight": size, **{f"sum.{word}": shapes[n] for word, n in constants.items()}, **shapes}

    def text(given: dict[str, Any]) -> tuple[Scalar, ...]:
        after = step(*[given[n] for n in shapes])
        variables = [given[n] for n in ("x", *constants.values(), *moving.values())]
        slopes = slopes_of_sum(after, variables, given["adjoint"])
        totals = [given[f"sum.{word}"] + slope for word, slope in zip(constants, slopes[1:], strict=False)]
        return slopes[0] + given["weight"], *totals, *slopes[1 + len(constants):]

    results = {"before": size, **{f"total{k}": shapes[n] for k, n in enumerate(constants.values())},
               **{f"slope{k}": shapes[n] for k, n in enumerate(moving.values())}}
    made = named_kernel(text, every, results, name)
    feeding = {"adjoint": "before", **{f"sum.{word}": f"total{k}" for k, word in enumerate(constants)}}
    return iterate(made, feeding, changing=["weight", "x", *changing])
