"""Products of a kernel's Jacobian with vectors, as kernels: J u, forward mode, and w J, reverse mode.

Neither forms the Jacobian. Reverse mode costs a few times the kernel, however many inputs there are: it is what
gradients of a loss are made of, in `cayley.systems.rollouts.derivatives`, in torch and in JAX."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from cayley.compiler.derivatives.derivative import forward, reverse
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.symbols import Symbols
from cayley.compiler.typing import Array
from cayley.errors import SignatureError

_MEANING = {"jvp": "The change of the results along a direction", "vjp": "The derivatives of a weighted sum"}


def jvp(of: Kernel[Any], variables: Sequence[str]) -> Kernel[Any]:
    """See `Kernel.jvp`."""
    places = _places(of, variables)

    def text(*arguments: Array) -> tuple[Array, ...]:
        own = arguments[:len(of.inputs)]
        results = _as_tuple(of(*own))
        tangents = forward(_nodes(results, own), _nodes([own[k] for k in places], own),
                           _nodes(arguments[len(own):], own))
        return tuple(_like(results, tangents))

    cores = of.signature
    return _made(of, "jvp", variables, text, Signature((*cores.inputs, *[cores.inputs[k] for k in places]),
                                                       cores.outputs),
                 [f"{of.inputs[k]}_dot" for k in places])


def vjp(of: Kernel[Any], variables: Sequence[str]) -> Kernel[Any]:
    """See `Kernel.vjp`."""
    places = _places(of, variables)

    def text(*arguments: Array) -> tuple[Array, ...]:
        own = arguments[:len(of.inputs)]
        by = [own[k] for k in places]
        slopes = reverse(_nodes(_as_tuple(of(*own)), own), _nodes(by, own), _nodes(arguments[len(own):], own))
        return tuple(_like(by, slopes))

    cores = of.signature
    outputs = of.outputs or [f"out{k + 1}" for k in range(len(cores.outputs))]
    return _made(of, "vjp", variables, text, Signature((*cores.inputs, *cores.outputs),
                                                       tuple(cores.inputs[k] for k in places)),
                 [f"{name}_weight" for name in outputs])


def slopes_of_sum(outputs: Array, variables: Sequence[Array], weights: Array) -> list[Array]:
    """The derivatives of the weighted sum of outputs, by inputs of the traced function that this is called in."""
    nodes = [node for v in variables for node in np.asarray(v, dtype=object).flat]
    lift = nodes[0].graph.lift
    found = reverse([lift(o) for o in np.asarray(outputs, dtype=object).flat], nodes,
                    [lift(w) for w in np.asarray(weights, dtype=object).flat])
    return _like(variables, found)


def _made(of: Kernel[Any], word: str, variables: Sequence[str], text: Any, signature: Signature,  # noqa: ANN401
          more: Sequence[str]) -> Kernel[Any]:
    def unpacked(*arguments: Array) -> Any:  # noqa: ANN401 (one result or several)
        results = text(*arguments)
        return results[0] if len(results) == 1 else results

    unpacked.__doc__ = f"{_MEANING[word]} of {of.__name__}.\n{of.__doc__ or ''}".strip()
    made = kernel(str(signature), name=f"{of.__name__}_{word}", inputs=[*of.inputs, *more])(unpacked)
    made._rebuild = operator.methodcaller(word, *variables), (of,)
    return made


def _places(of: Kernel[Any], variables: Sequence[str]) -> list[int]:
    unknown = [name for name in variables if name not in of.inputs]
    if unknown:
        raise SignatureError(f"{of.__name__} has no input {unknown[0]!r}; it has {', '.join(of.inputs)}")
    twice = [name for name in variables if variables.count(name) > 1]
    if twice:
        raise SignatureError(f"the input {twice[0]!r} of {of.__name__} is named twice")
    return [of.inputs.index(name) for name in variables or of.inputs]


def _as_tuple(results: Any) -> tuple[Any, ...]:  # noqa: ANN401 (one result or several)
    return tuple(results) if isinstance(results, tuple) else (results,)


def _nodes(arrays: Sequence[Any], among: Sequence[Any]) -> list[Node]:
    """The scalars of arrays as nodes of the graph of `among`."""
    graph = next(x.graph for a in among for x in np.asarray(a, dtype=object).flat if isinstance(x, Node))
    return [graph.lift(x) for a in arrays for x in np.asarray(a, dtype=object).flat]


def _like(arrays: Sequence[Any], nodes: Sequence[Node]) -> list[Array]:
    """Nodes in arrays of the shapes of these."""
    found = []
    start = 0
    for array in arrays:
        size = int(np.size(array))
        own = np.empty(size, dtype=object)
        own[:] = nodes[start:start + size]
        found.append(own.reshape(np.shape(array)).view(Symbols) if np.shape(array) else own[0])
        start += size
    return found
