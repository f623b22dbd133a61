"""Test vectors: states, what a function must give at them, and how far a right answer may be from it.

The answers are computed in double precision from inputs that the precision of the C can hold. How far rounding takes
them is measured: what single precision is off, in units of its last digit, is what any precision may be off in its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.algebras.interpret import NUMPY, interpret
from cayley.compiler.c.c_source import CSource
from cayley.compiler.kernel import Kernel
from cayley.compiler.precision import dtype_name
from cayley.compiler.tracing.program import Program, Variable
from cayley.compiler.typing import Array, ArrayLike, DTypeLike
from cayley.errors import SignatureError, UnsupportedError, shown
from cayley.kinematics.loops.closing import random_closed_configuration
from cayley.model.tree import Tree
from cayley.systems.system import System

PERIOD = 1e-3  # of laws [s]
_CONFIGURATIONS = ("q", "target")
_TRIES = 8  # times as many states are drawn as are needed
_SAFETY = 16.0


@dataclass(frozen=True)
class PortRows:
    """One input or output: its rows (rows, size), and whether C takes a number in place of an array."""

    name: str
    rows: Array
    scalar: bool


@dataclass(frozen=True)
class Vectors:
    """Inputs, right outputs, and for each output (rows) how far it may be off. Of a law with a memory the rows are
    periods, one after the other, from the state that `start` gives: what its `_init` is to be given."""

    inputs: tuple[PortRows, ...]
    outputs: tuple[PortRows, ...]
    within: tuple[Array, ...]
    start: tuple[PortRows, ...] | None = None


def vectors_of_kernel(kernel: Kernel, rows: int, dtype: DTypeLike, *, tree: Tree | None = None,
                      states: Mapping[str, ArrayLike] | None = None) -> Vectors:
    """Random states of a kernel, or those that are given by the names of its inputs, at which the results are numbers.

    >>> found = vectors_of_kernel(cy.load("planar2r").gravity_forces, 3, "float32")
    >>> found.inputs[0].rows.shape, found.outputs[0].rows.shape, bool((found.within[0] < 1e-4).all())
    ((3, 2), (3, 2), True)
    """
    program = kernel.program()
    tree = getattr(kernel, "tree", tree)
    random = np.random.default_rng(0)
    given = _given(states or {}, program.inputs)
    many = len(next(iter(given.values()))) if given else rows * _TRIES
    nominal = getattr(getattr(kernel, "parameters", None), "nominal", None)
    drawn = [given[v.name] if v.name in given else
             nominal * random.uniform(0.9, 1.1, (many, len(nominal))) if v.name == "parameters" and nominal is not None
             else _drawn(v.name, v.shape, many, random, tree) for v in program.inputs]
    drawn = [_held(values, dtype) for values in drawn]
    exact, single = (_results(program, drawn, precision) for precision in ("float64", "float32"))
    good = np.logical_and.reduce([_answered(part.reshape(many, -1)) for part in (*exact, *single)])
    chosen = np.flatnonzero(good)[:many if given else rows]
    if len(chosen) < (many if given else 1):
        raise UnsupportedError(
            f"{kernel.__name__} has no finite results at {'a state that is given' if given else 'random states'}: give "
            f"states={{{', '.join(f'{v.name!r}: ...' for v in program.inputs)}}}, one row each, at which it has")
    return Vectors(_columns(program.inputs, [values[chosen] for values in drawn]),
                   _columns(program.outputs, [values[chosen] for values in exact]),
                   tuple(_allowed(right[chosen], rounded[chosen], dtype)
                         for right, rounded in zip(exact, single, strict=True)))


def vectors_of_system(system: System, rows: int, dtype: DTypeLike, *, tree: Tree | None = None) -> Vectors:
    """Periods of a system with a memory, with random inputs."""
    step = system.step
    program = step.program()
    random = np.random.default_rng(0)
    start = [np.full(block.shape, 0.0 if block.default is None else block.default) for block in system.blocks.values()]
    start = [block.manifold.nearest(value + (np.arange(value.size).reshape(value.shape) == 0))
             if block.manifold.curved and block.default is None else value
             for block, value in zip(system.blocks.values(), start, strict=True)]
    drawn = {v.name: np.full(rows, PERIOD) if v.name == "h" else PERIOD * np.arange(rows) if v.name == "t" else
             _drawn(v.name, v.shape, rows, random, tree) for v in program.inputs if v.name != "x"}
    drawn = {name: _held(values, dtype) for name, values in drawn.items()}
    beginning = np.concatenate([np.ravel(value) for value in start])
    exact, single = (_run(program, beginning, drawn, rows, precision) for precision in ("float64", "float32"))
    if not all(np.isfinite(part).all() for part in (*exact, *single)):
        raise UnsupportedError(f"{system.name} has no finite results at random inputs: no test vectors can be made")
    arguments = [PortRows(name, np.ravel(value)[None], not block.shape)
                 for (name, block), value in zip(system.blocks.items(), start, strict=True) if block.default is None]
    inputs = [v for v in program.inputs if v.name != "x"]
    return Vectors(_columns(inputs, [drawn[v.name] for v in inputs]), _columns(program.outputs[:-1], exact[:-1]),
                   tuple(_allowed(right, rounded, dtype, whole=True)
                         for right, rounded in zip(exact[:-1], single[:-1], strict=True)), tuple(arguments))


def _run(program: Program, x: Array, drawn: Mapping[str, Array], rows: int, precision: str) -> list[Array]:
    """The outputs of one period after the other, and the states after them."""
    found: list[list[Array]] = []
    for k in range(rows):
        named = {name: values[k] for name, values in drawn.items()} | {"x": x}
        found.append([part[0] for part in _results(program, [named[v.name][None] for v in program.inputs], precision)])
        x = found[-1][-1]
    return [np.stack(column) for column in zip(*found, strict=True)]


def _results(program: Program, inputs: Sequence[Array], precision: str) -> list[Array]:
    """The results of the program by NumPy, for all rows."""
    rows = len(inputs[0])
    with np.errstate(all="ignore"):
        found = interpret(program, NUMPY, *[values.astype(precision) for values in inputs])
    return [np.broadcast_to(np.asarray(part, dtype=float), (rows, *v.shape))
            for part, v in zip(found, program.outputs, strict=True)]


def _drawn(name: str, shape: tuple[int, ...], many: int, random: np.random.Generator, tree: Tree | None) -> Array:
    if tree is not None and name in _CONFIGURATIONS and shape == (tree.nq,):
        return random_closed_configuration(tree, many, seed=random)
    return random.uniform(-1.0, 1.0, (many, *shape))


def _given(states: Mapping[str, ArrayLike], inputs: Sequence[Variable]) -> dict[str, Array]:
    shapes = {v.name: v.shape for v in inputs}
    found = {name: np.array(values, dtype=float) for name, values in states.items() if name in shapes}
    for name, values in found.items():
        if values.ndim != 1 + len(shapes[name]) or values.shape[1:] != shapes[name] or not len(values):
            raise SignatureError(f"the states {name!r} have the shape {values.shape}: give (rows, "
                                 f"{', '.join(map(str, shapes[name]))})")
    if len({len(values) for values in found.values()}) > 1:
        raise SignatureError(f"the states {', '.join(found)} must have as many rows as each other")
    return found


def _answered(values: Array) -> Array:
    """Truth values of rows that are numbers, but for what is none at any state, as forces that redundant constraints
    leave open."""
    open_ones = np.isnan(values).all(axis=0)
    if open_ones.size and open_ones.all():
        return np.zeros(len(values), dtype=bool)
    return np.asarray((np.isfinite(values) | open_ones).all(axis=1))


def _held(values: Array, dtype: DTypeLike) -> Array:
    """The nearest numbers that the precision can hold."""
    return values.astype(dtype_name(dtype)).astype(float)


def _columns(variables: Sequence[Variable], values: Sequence[Array]) -> tuple[PortRows, ...]:
    return tuple(PortRows(v.name, part.reshape(len(part), -1), not v.shape)
                 for v, part in zip(variables, values, strict=True))


def _allowed(right: Array, rounded: Array, dtype: DTypeLike, *, whole: bool = False) -> Array:
    """For each row what rounding may do to it; to a `whole` run, of which later rows remember earlier ones, alike."""
    rows = len(right)
    largest: Callable[[Array], Array] = lambda part: np.nan_to_num(  # noqa: E731
        np.abs(part).reshape(rows, -1)).max(axis=1, initial=0.0)
    digits = np.finfo(dtype_name(dtype)).eps / np.finfo(np.float32).eps
    off = _SAFETY * digits * (largest(rounded - right) + np.finfo(np.float32).eps * (largest(right) + 1e-6))
    return np.full(rows, off.max(initial=0.0)) if whole else off


@dataclass(frozen=True)
class TestedFunction:
    """The C of a function, and numbers to check it with."""

    source: CSource
    vectors: Vectors
    has_batch: bool = False


def made_part(name: str, what: Kernel | System, rows: int, dtype: DTypeLike, *, batch: bool = False,
              tree: Tree | None = None, states: Mapping[str, ArrayLike] | None = None) -> TestedFunction:
    """The part that a kernel or a system becomes."""
    if isinstance(what, System):
        vectors = (vectors_of_system(what, rows, dtype, tree=tree) if what.blocks else
                   vectors_of_kernel(what.step, rows, dtype, tree=tree, states=states))
        return TestedFunction(what.c_source(name, dtype=dtype), vectors)
    if not isinstance(what, Kernel):
        raise SignatureError(f"{name!r} is {shown(what)}: what is exported is a kernel, `arm.gravity_forces` or "
                             "`arm.pose.of(\"tool\")`, or a system, `arm.control.pd(...)`")
    if what.signature.names:
        raise SignatureError(f"the kernel {name!r} is of any {', '.join(what.signature.names)}: C needs numbers in its "
                             f"signature {what.signature}")
    return TestedFunction(what.c_source(name, dtype=dtype, batch=batch),
                vectors_of_kernel(what, rows, dtype, tree=tree, states=states), batch)
