"""Inputs of a system in a simulation: numbers, or functions of time and state written in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.systems.layout import Blocks
from cayley.systems.system import System
from cayley.wording import did_you_mean

InputLike: TypeAlias = ArrayLike | Callable[..., ArrayLike]  # numbers, or a function of (t, *blocks)


class Driving:
    """The inputs of a system: each a number, an array, or a function `f(t, *blocks)`."""

    derivatives = "derivatives"  # what they are called

    def __init__(self, system: System, given: Mapping[str, InputLike]) -> None:
        self.system = system
        unknown = [name for name in given if name not in system.inputs]
        if unknown:
            others = f"; it has {', '.join(system.inputs) or 'none'}"
            raise SignatureError(f"{system.name} has no input {unknown[0]!r}"
                                 f"{did_you_mean(unknown[0], system.inputs, otherwise=others)}")
        self._given: dict[str, Any] = {}
        for name, port in system.ports.items():
            if name not in given and port.default is None:
                raise SignatureError(f"the input {name!r} of {system.name} is not given: a number, or a function of "
                                     f"(t, {', '.join(system.blocks)})")
            value = given[name] if name in given else np.full(port.shape, port.default, float)
            self._given[name] = value if callable(value) else self._checked(name, value)
        self._constant = not any(callable(value) for value in self._given.values())

    def at(self, t: float, x: Blocks) -> Mapping[str, Array]:
        """All inputs at a state."""
        if self._constant:
            return self._given
        return {name: self.value(name, t, x) for name in self._given}

    def value(self, name: str, t: float, x: Blocks) -> Array:
        """One input at a state."""
        given = self._given[name]
        return self._checked(name, given(t, *x.values())) if callable(given) else given

    def next_tick(self, t: float, x: Blocks) -> float:
        """Until when what was looked at is held: for ever."""
        return np.inf

    def along(self, t: Array, x: Array) -> dict[str, Array]:
        """The inputs (samples, *shape) along a trajectory."""
        found = [self.at(float(now), self._blocks(state)) for now, state in zip(t, x, strict=True)]
        return {name: np.array([values[name] for values in found]) for name in self.system.inputs}

    def called(self, name: str) -> str:
        """An input in a sentence."""
        return f"the input {name!r}"

    def _blocks(self, x: Array) -> Blocks:
        return {name: x[place].reshape(self.system.blocks[name].shape)
                for name, place in self.system.layout.places.items()}

    def _checked(self, name: str, value: ArrayLike) -> Array:
        array = np.asarray(value, dtype=float)
        if array.shape != self.system.ports[name].shape:
            shape = self.system.ports[name].shape
            raise SignatureError(f"the input {name!r} of {self.system.name} has the shape {shape}, not {array.shape}")
        return array
