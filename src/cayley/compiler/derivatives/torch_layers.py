"""Kernels and rollouts as functions of torch's tensors, with gradients.

A `torch.autograd.Function` calls compiled code both ways. On tensors of this processor nothing is copied; tensors on a
GPU stay there. The way back of a kernel is a kernel, which torch may differentiate again (`create_graph=True`); that of
a rollout is not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cayley.compiler.algebras.protocol import package
from cayley.compiler.derivatives.layers import Layer, joint_batch, named
from cayley.errors import SignatureError, UnsupportedError

_WHY = "a kernel of Cayley is compiled already: torch.compile leaves it as it is, with a graph break before and after"


def torch_layer(layer: Layer) -> Callable[..., Any]:
    """A function of tensors, by position or keyword, whose leading axes broadcast; it returns one tensor, or a tuple.
    """
    torch = package("torch")

    def computed(*arguments: Any, **by_name: Any) -> Any:  # noqa: ANN401 (tensors)
        given = {n: torch.as_tensor(a) for n, a in named(layer, arguments, by_name).items()}
        kind = _precision(torch, layer, given)
        batch = joint_batch(layer, given)
        given = {n: a.to(kind).expand(batch + a.shape[a.ndim - layer.cores[n]:]) for n, a in given.items()}
        results = _function().apply(layer, tuple(given), *given.values())
        return results[0] if len(results) == 1 else results

    computed.__name__ = computed.__qualname__ = layer.name
    return torch.compiler.disable(computed, reason=_WHY)


@cache
def _function() -> Any:  # noqa: ANN401 (a class of torch)
    torch: Any = package("torch")
    base: Any = torch.autograd.Function

    class Computed(base):
        """A layer, there and back."""

        @staticmethod
        def forward(context: Any, layer: Layer, names: tuple[str, ...], *tensors: Any) -> Any:  # noqa: ANN401
            arrays = {n: _array(t) for n, t in zip(names, tensors, strict=True)}
            results, context.memory = layer.forward(arrays)
            context.layer = layer
            context.names = names
            context.save_for_backward(*tensors)  # so that torch sees what is written over before the way back
            return tuple(_tensor(torch, r) for r in results)

        @staticmethod
        def backward(context: Any, *weights: Any) -> Any:  # noqa: ANN401
            tensors = context.saved_tensors
            needed = context.needs_input_grad[2:]
            wanted = [n for n, asked in zip(context.names, needed, strict=True) if asked]
            if torch.is_grad_enabled():
                found = dict(zip(wanted, _again(context.layer, wanted, tensors, weights), strict=True))
            else:
                found = context.layer.backward(context.memory, [_array(w) for w in weights], wanted)
            return None, None, *[_tensor(torch, found[n]).to(t.dtype) if n in found else None
                                 for n, t in zip(context.names, tensors, strict=True)]

    return Computed


def _again(layer: Layer, wanted: list[str], tensors: Any, weights: Any) -> Any:  # noqa: ANN401
    """The way back where torch records it."""
    back = layer.reversed(wanted)
    if back is None:
        raise UnsupportedError(f"the {layer.name} is differentiated once: call backward or grad without create_graph")
    return _function().apply(back, back.inputs, *tensors, *weights)


def _precision(torch: Any, layer: Layer, given: dict[str, Any]) -> Any:  # noqa: ANN401
    """The type in which all is computed; whole numbers are taken as they are needed."""
    real = {a.dtype for a in given.values() if a.dtype.is_floating_point}
    unknown = [n for n, a in given.items() if a.dtype.is_complex or a.dtype in (torch.float16, torch.bfloat16)]
    if unknown:
        raise SignatureError(f"argument {unknown[0]!r} of {layer.name} is {given[unknown[0]].dtype}: it computes in "
                             "float32 and float64")
    return torch.float32 if real == {torch.float32} else torch.float64


def _array(tensor: Any) -> Any:  # noqa: ANN401 (of torch on a GPU, of NumPy here)
    tensor = tensor.detach()
    return tensor if tensor.is_cuda else tensor.numpy()


def _tensor(torch: Any, array: Any) -> Any:  # noqa: ANN401
    if isinstance(array, torch.Tensor):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        return torch.from_dlpack(array)
    return torch.from_numpy(np.asarray(array))
