"""Inputs of a system in a simulation: numbers, or functions of time and state written in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError, check_known
from cayley.systems.arguments import given_parameters
from cayley.systems.layout import Blocks
from cayley.systems.system import System

InputLike: TypeAlias = ArrayLike | Callable[..., ArrayLike]  # numbers, or a function of (t, *blocks)


@dataclass(frozen=True)
class DrivingLaw(HoldsFunctions):
    """The input `drives` of a system, which is not given but computed, by `text(t, x, parameters)`, from the state and
    `parameters` of its own; once a step and held if `sampled`, or wherever a method looks; `timed` if it needs the
    time."""

    drives: str
    parameters: Mapping[str, tuple[int, ...]]
    text: Callable[[Scalar, Any, Mapping[str, Array]], Array]
    sampled: bool
    timed: bool


class Held:
    """A function of the time and of the blocks that is evaluated at multiples of a period [s], counted from the start,
    and held between them, as a digital controller does."""

    def __init__(self, function: Callable[..., Array], shape: tuple[int, ...], period: float, start: float) -> None:
        self._function = function
        self._period = period
        self._start = start
        self._looks = [np.full(shape, np.nan)]  # and after it what each look has found

    def __call__(self, t: float, *blocks: Array) -> Array:
        return self._looks[-1]

    def next_tick(self, t: float, x: Blocks) -> float:
        """Look at the state, if it is time, and say until when the value is held."""
        looks = self._until(t)
        if looks == len(self._looks):
            self._looks.append(np.array(self._function(t, *x.values()), dtype=float))
        return self._start + looks * self._period

    def along(self, t: Array) -> Array:
        """The values (samples, *shape) that were held at some times."""
        return np.array(self._looks)[np.minimum(self._until(t), len(self._looks) - 1)]

    def _until(self, t: Array | float) -> Scalar:
        """The number of looks until a time, itself included."""
        return np.floor((t - self._start) / self._period + 1e-9).astype(int) + 1


class Driving:
    """The inputs of a system, each a number, an array, or a function `f(t, *blocks)`, and its parameters."""

    def __init__(self, system: System, given: Mapping[str, InputLike], parameters: Mapping[str, ArrayLike]) -> None:
        self.system = system
        self.parameters = given_parameters(system, parameters, system.parameters)
        check_known(given, system.inputs, f"{system.name} has no input")
        self._given: dict[str, Any] = {}
        for name, port in system.ports.items():
            if name not in given and port.default is None:
                raise SignatureError(f"the input {name!r} of {system.name} is not given: a number, or a function of "
                                     f"(t, {', '.join(system.blocks)})")
            value = given[name] if name in given else np.full(port.shape, port.default, float)
            self._given[name] = value if callable(value) else self._checked(name, value)
        self._constant = not any(callable(value) for value in self._given.values())

    def at(self, t: float, x: Array) -> Mapping[str, Array]:
        """All inputs at a state (smooth), with or without modes after it."""
        if self._constant:
            return self._given
        blocks = self.system.layout.parts(x).values()
        return {name: self._checked(name, given(t, *blocks)) if callable(given) else given
                for name, given in self._given.items()}

    def next_tick(self, t: float, x: Array) -> float:
        """Look at the state with what is held, and say until when it is."""
        blocks = self.system.layout.parts(x)
        return min((given.next_tick(t, blocks) for given in self._given.values() if isinstance(given, Held)),
                   default=np.inf)

    def along(self, t: Array, x: Array) -> dict[str, Array]:
        """The inputs (samples, *shape) along a trajectory."""
        found = [self.at(float(now), state) for now, state in zip(t, x, strict=True)]
        return {name: given.along(t) if isinstance(given, Held) else np.array([values[name] for values in found])
                for name, given in self._given.items()}

    def _checked(self, name: str, value: ArrayLike) -> Array:
        array = np.asarray(value, dtype=float)
        shape = self.system.ports[name].shape
        if array.shape != shape:
            raise SignatureError(f"{name} has the shape {array.shape}; as input of {self.system.name} it has {shape}")
        return array
