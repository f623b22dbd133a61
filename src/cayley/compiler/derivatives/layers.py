"""Layers: functions of named arrays with their reverse mode, through which other libraries differentiate.

`torch_layers` and `jax_layers` make functions of tensors of one; kernels are such layers, and so are rollouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.errors import SignatureError, did_you_mean

Shape = tuple[int, ...]


class Layer(Protocol):
    """A function of the arrays `inputs`, all with the same leading axes, and its derivative.

    `required` are those without which there is no result. `cores` are how many axes of each follow those of the batch.
    """

    name: str
    inputs: tuple[str, ...]
    required: tuple[str, ...]
    cores: dict[str, int]

    def shapes(self, given: Mapping[str, Shape]) -> list[Shape]:
        """The shapes of the results, for one state; wrong ones of the inputs are named."""
        ...

    def forward(self, given: Mapping[str, Array]) -> tuple[Sequence[Array], Any]:
        """The results, and what the way back needs."""
        ...

    def backward(self, memory: Any, weights: Sequence[Array],  # noqa: ANN401 (the layer's own)
                 wanted: Sequence[str]) -> dict[str, Array]:
        """The derivatives of the weighted sum of all results by the wanted inputs, each of the shape of these."""
        ...

    def reversed(self, wanted: Sequence[str]) -> Layer | None:
        """The way back as a layer of its own, of the inputs and then the weights; none, if it has no derivative."""
        ...


class KernelLayer:
    """A kernel as a layer."""

    def __init__(self, kernel: Kernel[Any]) -> None:
        self._kernel = kernel
        self.name = kernel.__name__
        self.inputs = kernel.inputs
        self.required = kernel.inputs
        self.cores = {n: len(core) for n, core in zip(kernel.inputs, kernel.signature.inputs, strict=True)}

    def shapes(self, given: Mapping[str, Shape]) -> list[Shape]:
        return [v.shape for v in self._kernel.traced(**self._sizes(given)).outputs]

    def forward(self, given: Mapping[str, Array]) -> tuple[Sequence[Array], Any]:
        return _as_list(self._called(self._kernel, given, [given[n] for n in self.inputs])), dict(given)

    def backward(self, memory: Any, weights: Sequence[Array],  # noqa: ANN401
                 wanted: Sequence[str]) -> dict[str, Array]:
        arguments = [*[memory[n] for n in self.inputs], *weights]
        found = self._called(self._kernel.vjp(*wanted), memory, arguments)
        return dict(zip(wanted, _as_list(found), strict=True))

    def reversed(self, wanted: Sequence[str]) -> KernelLayer:
        return KernelLayer(self._kernel.vjp(*wanted))

    def _called(self, kernel: Kernel[Any], given: Mapping[str, Array], arguments: Sequence[Any]) -> Any:  # noqa: ANN401
        if not any(map(is_on_gpu, arguments)):
            return kernel(*arguments)
        return kernel.on("cuda", **self._sizes({n: a.shape for n, a in given.items()}))(*arguments)

    def _sizes(self, given: Mapping[str, Shape]) -> dict[str, int]:
        return self._kernel.signature.bind([tuple(given[n]) for n in self.inputs], self.inputs)


def named(layer: Layer, arguments: Sequence[Any], by_name: Mapping[str, Any]) -> dict[str, Any]:
    """Positional and keyword arguments, in the order of the inputs."""
    if len(arguments) > len(layer.inputs):
        raise SignatureError(f"{layer.name} takes {', '.join(layer.inputs)}, not {len(arguments)} arguments")
    found = dict(zip(layer.inputs, arguments, strict=False))
    for name, value in by_name.items():
        if name in found or name not in layer.inputs:
            others = f"; it takes {', '.join(layer.inputs)}"
            raise SignatureError(f"{layer.name} is given {name!r} twice" if name in found else
                                 f"{layer.name} takes no {name!r}{did_you_mean(name, layer.inputs, otherwise=others)}")
        found[name] = value
    missing = [n for n in layer.required if n not in found]
    if missing:
        raise SignatureError(f"{layer.name} takes {', '.join(layer.inputs)}: {missing[0]} is missing")
    return {n: found[n] for n in layer.inputs if n in found}


def joint_batch(layer: Layer, given: Mapping[str, Any]) -> Shape:
    """The leading axes of all arguments together."""
    leads = {n: tuple(a.shape[:max(0, a.ndim - layer.cores[n])]) for n, a in given.items()}
    try:
        return np.broadcast_shapes(*leads.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in leads.items())
        raise SignatureError(f"the batches of the arguments of {layer.name} do not go together: {listed}") from None


def _as_list(results: Any) -> list[Any]:  # noqa: ANN401 (one result or several)
    return list(results) if isinstance(results, tuple) else [results]
