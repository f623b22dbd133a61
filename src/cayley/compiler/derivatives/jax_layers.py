"""Kernels and rollouts as functions of JAX's arrays: inside `jax.jit`, `jax.grad` and `jax.vmap`.

XLA calls compiled code of this processor back, both ways (`jax.pure_callback`, `jax.custom_vjp`). Forward mode
(`jax.jvp`, `jax.jacfwd`) is not there: for it `kernel.evaluate(cy.JAX, ...)` writes a kernel out in JAX's own
operations. Kernels are differentiated as often as you like, rollouts once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.algebras.protocol import package
from cayley.compiler.derivatives.layers import Layer, joint_batch, named
from cayley.errors import SignatureError, UnsupportedError


def jax_layer(layer: Layer) -> Callable[..., Any]:
    """A function of JAX arrays, by position or keyword, whose leading axes broadcast; it returns one array, or a tuple.
    """
    jax = package("jax")
    jnp = package("jax.numpy")

    def computed(*arguments: Any, **by_name: Any) -> Any:  # noqa: ANN401 (arrays, or tracers of them)
        given = {n: jnp.asarray(a) for n, a in named(layer, arguments, by_name).items()}
        kind = _precision(jnp, layer, given)
        batch = joint_batch(layer, given)
        arrays = [jnp.broadcast_to(a.astype(kind), batch + a.shape[a.ndim - layer.cores[n]:])
                  for n, a in given.items()]
        results = _differentiated(jax, layer, tuple(given))(*arrays)
        return results[0] if len(results) == 1 else results

    computed.__name__ = computed.__qualname__ = layer.name
    return computed


def _differentiated(jax: Any, layer: Layer, names: tuple[str, ...]) -> Callable[..., Any]:  # noqa: ANN401
    def called_back(function: Callable[..., Any], shapes: list[tuple[int, ...]], arrays: tuple[Any, ...]) -> Any:  # noqa: ANN401
        kind = arrays[0].dtype
        results = tuple(jax.ShapeDtypeStruct(shape, kind) for shape in shapes)
        return jax.pure_callback(function, results, *arrays, vmap_method="broadcast_all")

    def value(*arrays: Any) -> tuple[Any, ...]:  # noqa: ANN401
        given = {n: np.asarray(a) for n, a in zip(names, arrays, strict=True)}
        return tuple(np.asarray(r, arrays[0].dtype) for r in layer.forward(given)[0])

    def slopes(*arrays: Any) -> tuple[Any, ...]:  # noqa: ANN401
        given = {n: np.asarray(a) for n, a in zip(names, arrays, strict=False)}
        weights = [np.asarray(w) for w in arrays[len(names):]]
        found = layer.backward(layer.forward(given)[1], weights, names)
        return tuple(np.asarray(found[n], arrays[0].dtype) for n in names)

    def computed(*arrays: Any) -> Any:  # noqa: ANN401
        core = {n: a.shape[a.ndim - layer.cores[n]:] for n, a in zip(names, arrays, strict=True)}
        batch = arrays[0].shape[:arrays[0].ndim - layer.cores[names[0]]]
        return called_back(value, [batch + shape for shape in layer.shapes(core)], arrays)

    def back(arrays: tuple[Any, ...], weights: tuple[Any, ...]) -> Any:  # noqa: ANN401
        reverse = layer.reversed(names)
        if reverse is None:
            return _once(jax, layer, lambda *all_: called_back(slopes, [a.shape for a in arrays], all_))(
                *arrays, *weights)
        return _differentiated(jax, reverse, reverse.inputs)(*arrays, *weights)

    through = jax.custom_vjp(computed)
    through.defvjp(lambda *arrays: (through(*arrays), arrays), back)
    return through


def _once(jax: Any, layer: Layer, function: Callable[..., Any]) -> Callable[..., Any]:  # noqa: ANN401
    """A function that raises an error if it is differentiated again."""
    def refused(*_: object) -> None:
        raise UnsupportedError(f"the {layer.name} is differentiated once: take jax.grad of it, not of its gradient")

    made = jax.custom_vjp(function)
    made.defvjp(lambda *arrays: (made(*arrays), None), refused)
    return made


def _precision(jnp: Any, layer: Layer, given: dict[str, Any]) -> Any:  # noqa: ANN401
    """The type in which all is computed: what JAX makes of all arguments together."""
    kind = jnp.result_type(float, *given.values())
    unknown = [n for n, a in given.items() if a.dtype.kind not in "iub" and a.dtype.name not in ("float32", "float64")]
    if unknown:
        raise SignatureError(f"argument {unknown[0]!r} of {layer.name} is {given[unknown[0]].dtype}: it computes in "
                             "float32 and float64")
    return kind
