"""Named values that texts are given, and the state of a system as one vector: where its blocks are, how they move.

The vector holds the coordinates of all blocks, each flattened, and then the number of each mode; leading axes are
those of batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from typing import Any, TypeAlias

import numpy as np

from cayley.compiler.algebras.foreign_symbols import rollout_numbers
from cayley.compiler.array_parts import as_vector, joined, split
from cayley.compiler.backends.gpu_arrays import is_on_gpu
from cayley.compiler.signature import joined_batch
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError, check_known
from cayley.systems.ports import Block

Blocks: TypeAlias = dict[str, np.ndarray]  # a state by the names of its blocks


class NoSuchValue(SignatureError, AttributeError):
    """A name that is none of a record's, asked for as an attribute: `hasattr` says no."""


class Record:
    """Values by name, as attributes (`x.current`) or by index (`x["motor.current"]`), in the order of their layout.

    >>> u = Record("inputs of motor", {"voltage": 12.0})
    >>> u.voltage, list(u)
    (12.0, ['voltage'])
    >>> u.volts
    Traceback (most recent call last):
    cayley.systems.layout.NoSuchValue: the inputs of motor have no 'volts': did you mean 'voltage'?
    """

    def __init__(self, whose: str, values: Mapping[str, Any]) -> None:
        self._whose = whose
        self._values = dict(values)

    def __getitem__(self, name: str) -> Array:
        if name not in self._values:
            check_known([name], self._values, f"the {self._whose} have no", "there are")
        return self._values[name]

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except SignatureError as missing:
            raise NoSuchValue(*missing.args) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{self._whose}: {', '.join(f'{name} = {value}' for name, value in self._values.items())}>"

    def replaced(self, values: Mapping[str, Any]) -> Record:
        """The same with some values changed."""
        return Record(self._whose, self._values | dict(values))


# Blocks and modes by name, a mode by its word or number; or just the one block
StateLike: TypeAlias = Mapping[str, ArrayLike | str] | Record | ArrayLike


class State(Record):
    """The blocks and modes of a state; `x.is_in("contact", "slip")` asks for a mode by its word."""

    def __init__(self, whose: str, values: Mapping[str, Any], modes: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(whose, values)
        self._modes = modes

    def is_in(self, mode: str, word: str) -> Scalar:
        """True where the mode has the value of this name."""
        return self[mode] == mode_number(self._modes, mode, word)

    def is_during(self, modes: Mapping[str, str]) -> Scalar:
        """True where all these modes have the values of these names."""
        return reduce(np.logical_and, [self.is_in(mode, word) for mode, word in modes.items()], np.True_)

    def replaced(self, values: Mapping[str, Any]) -> State:
        return State(self._whose, self._values | dict(values), self._modes)


@dataclass(frozen=True)
class Layout:
    """The blocks of a state, and its modes with the names of their values."""

    whose: str
    blocks: Mapping[str, Block]
    modes: Mapping[str, tuple[str, ...]]

    @cached_property
    def places(self) -> dict[str, slice]:
        """The place of each block."""
        ends = np.cumsum([0, *[block.size for block in self.blocks.values()]]).tolist()
        return {name: slice(a, b) for name, a, b in zip(self.blocks, ends[:-1], ends[1:], strict=True)}

    @cached_property
    def columns(self) -> dict[str, slice]:
        """The place of each block and each mode."""
        return self.places | {name: slice(self.smooth + k, self.smooth + k + 1) for k, name in enumerate(self.modes)}

    @cached_property
    def smooth(self) -> int:
        """The number of numbers in the blocks; those of the modes follow."""
        return sum(block.size for block in self.blocks.values())

    @property
    def size(self) -> int:
        return self.smooth + len(self.modes)

    @property
    def freedoms(self) -> int:
        """The number of numbers in the tangents of all blocks."""
        return sum(prod(block.tangent) for block in self.blocks.values())

    @property
    def moved_by(self) -> dict[str, str]:
        """The blocks that have a velocity, and which it is."""
        return {name: block.velocity for name, block in self.blocks.items() if block.velocity is not None}

    @property
    def unmoved(self) -> list[str]:
        """The blocks that are no positions: those without a velocity."""
        return [name for name, block in self.blocks.items() if block.velocity is None]

    @cached_property
    def _parts(self) -> list[tuple[str, slice, tuple[int, ...]]]:
        return [(name, place, self.blocks[name].shape) for name, place in self.places.items()]

    def parts(self, coordinates: Array) -> Blocks:
        """The blocks by name of one vector (smooth) of numbers."""
        return {name: coordinates[place].reshape(shape) for name, place, shape in self._parts}

    def state(self, x: Array) -> State:
        """The blocks of a vector (..., size), or of its smooth part where there are no modes."""
        values: dict[str, Any] = {}
        for name, place in self.places.items():
            shape = self.blocks[name].shape
            part = x[..., place]
            values[name] = part[..., 0] if shape == () else part if len(shape) == 1 else part.reshape(
                (*part.shape[:-1], *shape))
        for k, name in enumerate(self.modes):
            values[name] = x[..., self.smooth + k]
        return State(f"states of {self.whose}", values, self.modes)

    def state_with(self, smooth: Array, x: State) -> State:
        """A state of other blocks (smooth), in the modes of `x`."""
        return self.state(joined([smooth, *[as_vector(x[name]) for name in self.modes]]))

    def vector(self, x: Record, modes: bool = True) -> Array:
        """The vector of a state."""
        parts = [as_vector(x[name]) for name in self.blocks]
        return joined([*parts, *([as_vector(x[name]) for name in self.modes] if modes else [])])

    def tangents(self, d: Array, names: Sequence[str] | None = None) -> dict[str, Array]:
        """The tangents of the blocks, or of some, in a vector (freedoms)."""
        return split(d, {name: self.blocks[name].tangent for name in (self.blocks if names is None else names)})

    # How the blocks move: tangents by the names of their blocks

    def rate(self, x: Record, d: Mapping[str, Array]) -> Array:
        """The time derivative (smooth) of the coordinates."""
        return joined([as_vector(block.manifold.rate(x[name], d[name])) for name, block in self.blocks.items()])

    def stepped(self, x: Record, d: Mapping[str, Array]) -> dict[str, Array]:
        """The blocks to which constant velocities lead those they are given for."""
        return {name: self.blocks[name].manifold.step(x[name], d[name]) for name in d}

    def turnings(self, x: Record) -> dict[str, Array]:
        """The rates, by block, that velocities would have if only their axes turned, with the opposite sign."""
        return {block.velocity: block.manifold.turning(x[block.velocity]) for block in self.blocks.values()
                if block.velocity is not None and not block.is_flat}

    def straight(self, x: Record, h: Scalar) -> dict[str, Array]:
        """The positions after a step `h` with velocities that do not turn, and these velocities there."""
        found: dict[str, Array] = {}
        for name, velocity in self.moved_by.items():
            found[name], found[velocity] = self.blocks[name].manifold.straight(x[name], x[velocity], h)
        return found

    def middle(self, name: str, start: Record, end: Record) -> Array:
        """Halfway between two values of a block."""
        block = self.blocks[name]
        return (start[name] + end[name]) / 2 if block.is_flat else block.manifold.step(
            start[name], block.manifold.difference(start[name], end[name]) / 2)

    def opposite(self, name: str, start: Record, middle: Record, h: Scalar, slopes: Mapping[str, Array]) -> Array:
        """The block after the step `h` that brought it halfway to its middle."""
        block = self.blocks[name]
        return 2 * middle[name] - start[name] if block.is_flat else block.manifold.step(start[name], h * slopes[name])

    def projected(self, x: State) -> State:
        """Each block brought back onto its manifold."""
        return x.replaced({name: block.manifold.projected(x[name]) for name, block in self.blocks.items()
                           if not block.is_flat})

    def nearest(self, x: Array) -> Array:
        """Vectors (..., smooth) or (..., size) of numbers, with each block at the nearest point of its manifold."""
        x = x.copy()
        for name, place in self._curved.items():
            part = x[..., place]
            shape = (*part.shape[:-1], *self.blocks[name].shape)
            x[..., place] = self.blocks[name].manifold.nearest(part.reshape(shape)).reshape(part.shape)
        return x

    @cached_property
    def _curved(self) -> dict[str, slice]:
        return {name: place for name, place in self.places.items() if not self.blocks[name].is_flat}

    # States that users give

    def given(self, x: StateLike) -> dict[str, Array]:
        """The blocks and modes of a state that was given by names, or, if there is just one, as it is."""
        names = [*self.blocks, *self.modes]
        if not isinstance(x, (Mapping, Record)):
            if len(names) != 1:
                raise SignatureError(f"the state of {self.whose} consists of {', '.join(names) or 'nothing'}: give a "
                                     "dictionary with these names")
            x = {names[0]: x}
        check_known(x, names, f"{self.whose} has no state")
        single = all(getattr(x[name], "dtype", None) == np.float32 for name in x if name in self.blocks)
        x = {name: np.full(block.shape, block.default, np.float32 if single and len(x) else np.float64)
             for name, block in self.blocks.items() if block.default is not None} | {name: x[name] for name in x}
        missing = [name for name in self.blocks if name not in x]
        if missing:
            raise SignatureError(f"the state of {self.whose} is not complete: {missing[0]!r} is missing")
        found = {name: self._block(name, x[name]) for name in self.blocks}
        return found | {name: self._mode(name, x[name] if name in x else words[0])
                        for name, words in self.modes.items()}

    def _block(self, name: str, given: ArrayLike | str) -> Array:
        block = self.blocks[name]
        values: Array = given if is_on_gpu(given) else rollout_numbers(given, name)  # type: ignore[assignment]
        if values.dtype.kind not in "fiu" or values.shape[values.ndim - len(block.shape):] != block.shape:
            raise SignatureError(f"{name!r} of {self.whose} is an array of numbers of the shape ("
                                 f"{', '.join(['...', *map(str, block.shape)])}), not {values.dtype} of {values.shape}")
        if not is_on_gpu(given):  # where nothing is looked at
            block.manifold.check(values, f"{name!r} of {self.whose}")
        return values if values.dtype.kind == "f" else values.astype(float)

    def _mode(self, name: str, given: ArrayLike | str) -> Array:
        if is_on_gpu(given):  # where nothing is looked at
            return given  # type: ignore[return-value]
        words = np.asarray(given)
        if words.dtype.kind in "fiu":
            if not np.isin(words, range(len(self.modes[name]))).all():
                raise SignatureError(f"the mode {name!r} of {self.whose} is one of {', '.join(self.modes[name])}, or "
                                     f"its number, not {words.tolist()}")
            return words.astype(np.float32)
        return np.vectorize(lambda word: float(mode_number(self.modes, name, word)), otypes=[np.float32])(words)

    def vectors(self, given: Mapping[str, Array], batch: tuple[int, ...] | None = None) -> Array:
        """The vectors (..., size) of a batch of states."""
        batch = joined_batch([*self.batch(given).values()], [*given]) if batch is None and given else batch or ()
        parts = [np.broadcast_to(a, (*batch, *self._shape(name))).reshape((*batch, prod(self._shape(name))))
                 for name, a in given.items()]
        return np.concatenate(parts, axis=-1) if parts else np.zeros((*batch, 0))

    def _shape(self, name: str) -> tuple[int, ...]:
        return self.blocks[name].shape if name in self.blocks else ()

    def batch(self, given: Mapping[str, Array]) -> dict[str, tuple[int, ...]]:
        """The leading axes of each part of a state that was given."""
        return {name: a.shape[:a.ndim - len(self._shape(name))] for name, a in given.items()}


def mode_number(modes: Mapping[str, tuple[str, ...]], mode: str, word: str) -> int:
    if mode not in modes:
        raise SignatureError(f"there is no mode {mode!r}; there are {', '.join(modes) or 'none'}")
    if word not in modes[mode]:
        raise SignatureError(f"the mode {mode!r} is one of {', '.join(modes[mode])}, not {word!r}")
    return modes[mode].index(word)
