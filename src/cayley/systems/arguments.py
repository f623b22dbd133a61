"""Inputs and parameters that users give to a system, by name, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from cayley.compiler.algebras.foreign_symbols import rollout_numbers
from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.systems.ports import Port
from cayley.systems.system import System
from cayley.wording import did_you_mean


def given_inputs(system: System, values: Mapping[str, ArrayLike], names: Iterable[str], changing: Sequence[str] = (),
                 steps: int = 0, more: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, Array]:
    """The inputs `names` as arrays (..., *shape); those that are `changing` have an axis of steps before their shape.
    `more`: shapes of names that are no inputs of the system, but parameters of a law that drives one."""
    wanted = list(names)
    check_names(system, values, wanted, "input")
    found = {}
    for name in wanted:
        port = system.ports[name] if name in system.ports else Port((more or {})[name])
        if name not in values and port.default is None:
            raise SignatureError(f"the input {name!r} of {system.name} is not given: {name} is missing, it takes "
                                 f"{', '.join(wanted)}")
        array = _real(values[name] if name in values else np.full(port.shape, port.default, np.float32), name)
        changes = [steps] if name in changing else []
        if name not in values:
            array = np.broadcast_to(array, (*changes, *port.shape))
        _check_shape(array, (*changes, *port.shape), f"{name} of {system.name}" + (
            f", which changes in {steps} steps," if changes else ""))
        found[name] = array
    return found


def given_parameters(system: System, values: Mapping[str, ArrayLike], names: Iterable[str]) -> dict[str, Array]:
    """The parameters `names` as arrays (..., *shape), their own values where none is given."""
    wanted = list(names)
    check_names(system, values, wanted, "parameter")
    found = {}
    for name in wanted:
        array = _real(values.get(name, system.parameters[name]), name)
        _check_shape(array, np.shape(system.parameters[name]), f"the parameter {name!r}")
        found[name] = array
    return found


def check_lists(**names: Sequence[str]) -> None:
    """Raise an error where one name is given in place of a list: its letters would be taken for names."""
    for word, given in names.items():
        if isinstance(given, str):
            raise SignatureError(f"`{word}` is a list of names, as [{given!r}], not {given!r}")


def check_names(system: System, values: Iterable[str], wanted: Iterable[str], kind: str) -> None:
    """Raise an error if a name is none of those that a system takes."""
    unknown = [name for name in values if name not in wanted]
    if unknown:
        others = f"; it takes {', '.join(map(repr, wanted)) or 'none'}"
        advice = did_you_mean(unknown[0], wanted, otherwise=others)
        raise SignatureError(f"{system.name} takes no {kind} {unknown[0]!r}{advice}")


def _real(value: ArrayLike, name: str) -> Array:
    array: Array = value if is_on_gpu(value) else rollout_numbers(value, name)  # type: ignore[assignment]
    if array.dtype.kind not in "fiu":
        raise SignatureError(f"{name!r} must be real numbers, not {array.dtype}")
    return array


def _check_shape(array: Array, core: tuple[int, ...], what: str) -> None:
    if array.ndim < len(core) or array.shape[array.ndim - len(core):] != core:
        raise SignatureError(f"{what} has the shape ({', '.join(['...', *map(str, core)])}), not {array.shape}")
