"""A kernel whose outputs feed its inputs, iterated inside one compiled loop: x[k + 1] = f(x[k], u[k], p).

`iteration.py` describes the loops, and a backend makes code of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cayley.compiler.backends import backend_named
from cayley.compiler.iteration import CHANGING, CONSTANT, CYCLING, Iteration, Plan, Turns
from cayley.compiler.kernel import Kernel
from cayley.compiler.precision import PRECISION, computed_in, dtype_name
from cayley.compiler.typing import Array, ArrayLike, DTypeLike
from cayley.errors import SignatureError

if TYPE_CHECKING:
    from cayley.compiler.backends.protocol import IteratedFunction
    from cayley.compiler.c.c_source import CSource
    from cayley.compiler.source import SourceFiles

_AXIS = {CHANGING: " and one of steps before them", CYCLING: " and one of stages before them", CONSTANT: ""}


class Iterated:
    """`iterated(*arguments, steps=..., every=1)`; `iterate` makes one."""

    def __init__(self, kernel: Kernel, feeding: Mapping[str, str], changing: Sequence[str], cycling: Sequence[str],
                 keeping: Sequence[str] | None, repeating: tuple[str, int] | None = None,
                 backend: str = "llvm") -> None:
        self.kernel = kernel
        self.backend = backend
        unknown = [name for name in (*feeding, *changing, *cycling) if name not in kernel.inputs]
        if unknown:
            raise SignatureError(f"{kernel.__name__} has no input {unknown[0]!r}; it has {', '.join(kernel.inputs)}")
        self._roles = dict(feeding), tuple(changing), tuple(cycling), keeping, repeating
        self._moves = {**dict.fromkeys(kernel.inputs, CONSTANT), **dict.fromkeys(cycling, CYCLING),
                       **dict.fromkeys(changing, CHANGING)}
        self._iterations: dict[tuple[tuple[str, int], ...], Iteration] = {}
        self._functions: dict[Iteration, IteratedFunction] = {}
        self._elsewhere: dict[str, Iterated] = {}

    def __reduce__(self) -> tuple[type[Iterated], tuple[Any, ...]]:
        """Drop the machine code: the cache has it after unpickling."""
        return Iterated, (self.kernel, *self._roles, self.backend)

    def __repr__(self) -> str:
        return (f"<iterated {self.kernel!r}>" if self.backend == "llvm"
                else f"<iterated {self.kernel!r} on {self.backend}>")

    def on(self, backend: str) -> Iterated:
        """The same iteration made by another backend: `on("cuda")` takes and returns CuPy arrays, a thread a
        trajectory."""
        backend_named(backend)
        if backend not in self._elsewhere:
            self._elsewhere[backend] = Iterated(self.kernel, *self._roles, backend)
        return self._elsewhere[backend]

    def __call__(self, *arguments: ArrayLike, steps: int, every: int = 1, out: Sequence[Array] | None = None,
                 dtype: DTypeLike | None = None, threads: int = 1) -> tuple[Array, ...]:
        """The kept outputs, each (..., steps / every, *core): after `every` steps, after twice as many, and so on.

        Arguments are those of the kernel: states at the start (..., *core), changing ones (..., steps, *core), cycling
        ones (..., cycle, *core). `threads` share the batch; `out` are arrays for the results, of the backend or of
        NumPy."""
        kernel = self.kernel
        if len(arguments) != len(kernel.inputs):
            raise SignatureError(f"{kernel.__name__} takes {len(kernel.inputs)} arguments "
                                 f"({', '.join(kernel.inputs)}), not {len(arguments)}")
        backend = backend_named(self.backend)
        arrays = [backend.array(a, label) for a, label in zip(arguments, kernel.inputs, strict=True)]
        dimensions = self._dimensions(arrays)
        turns = self._turns(arrays, steps, every)
        precision = computed_in(kernel.__name__, kernel.inputs, arguments, arrays, dtype)
        iteration = self.iteration(**dimensions)
        return self._function(iteration)(arrays, turns, precision, out=out, threads=threads)

    def prepared(self, *, steps: int, **dimensions: int) -> Callable[..., tuple[Array, ...]]:
        """The call for a number of steps, all of which are kept, on float64 arrays whose shapes are known to fit:
        nothing is checked, since the checks take longer than one short trajectory."""
        iteration = self.iteration(**dimensions)
        function = self._function(iteration)
        turns = Turns.of(steps, 1, 1)
        return lambda *arrays: function(arrays, turns, "float64", out=None, threads=1)

    def _function(self, iteration: Iteration) -> IteratedFunction:
        if iteration not in self._functions:
            backend = backend_named(self.backend)
            if self.backend != "llvm":  # which spells all, and may find its code without the program
                backend.check(iteration.program)
            self._functions[iteration] = backend.iterated(iteration)
        return self._functions[iteration]

    def iteration(self, **dimensions: int) -> Iteration:
        """The program of a stage and the plan of its loops, for the given dimensions."""
        key = tuple(sorted(dimensions.items()))
        if key not in self._iterations:
            traced = self.kernel.traced(**dimensions)
            feeding, _, _, keeping, repeating = self._roles
            self._iterations[key] = Iteration(traced, Plan.of(traced, self._moves, feeding, keeping, repeating),
                                              lambda: self.kernel.program(**dimensions))
        return self._iterations[key]

    def c_source(self, name: str | None = None, *, dtype: DTypeLike = "float64", **dimensions: int) -> CSource:
        """One C99 function of one trajectory, with its header: the loops and what they compute."""
        from cayley.compiler.c.c_iteration import c_iteration
        return c_iteration(self.iteration(**dimensions), name=name, precision=PRECISION[dtype_name(dtype)])

    def source(self, language: str, name: str | None = None, *, dtype: DTypeLike = "float64",
               **dimensions: int) -> SourceFiles:
        """The function of one trajectory, loops and all, as text in a language: "c", "javascript", "cuda"."""
        from cayley.compiler.source import SourceFiles
        backend = backend_named(language)
        backend.check(self.iteration(**dimensions).program)
        called = name or f"{self.kernel.__name__}_rollout"
        return SourceFiles(backend.title or language, backend.iteration_files(self.iteration(**dimensions), called,
                                                                         PRECISION[dtype_name(dtype)]))

    def _dimensions(self, arrays: Sequence[Array]) -> dict[str, int]:
        kernel = self.kernel
        shapes = []
        for name, array, core in zip(kernel.inputs, arrays, kernel.signature.inputs, strict=True):
            if array.ndim < len(core) + (self._moves[name] != CONSTANT):
                raise SignatureError(f"argument {name!r} has the shape {array.shape}: it needs {len(core)} axes"
                                     f"{_AXIS[self._moves[name]]}")
            shapes.append(array.shape[array.ndim - len(core):])
        return kernel.signature.bind(shapes, kernel.inputs)

    def _turns(self, arrays: Sequence[Array], steps: int, every: int) -> Turns:
        """The turns of each loop; every input that moves along one has as many values."""
        cycle = None
        for name, array, core in zip(self.kernel.inputs, arrays, self.kernel.signature.inputs, strict=True):
            if self._moves[name] == CONSTANT:
                continue
            length = array.shape[array.ndim - len(core) - 1]
            if self._moves[name] == CYCLING and length != (cycle := length if cycle is None else cycle):
                raise SignatureError(f"argument {name!r} has {length} stages, shape {array.shape}; others have {cycle}")
            if self._moves[name] == CHANGING and length != steps:
                raise SignatureError(f"argument {name!r} has {length} steps, shape {array.shape}; there are {steps} "
                                     "steps to make")
        return Turns.of(steps, every, 1 if cycle is None else cycle)


def iterate(kernel: Kernel, feeding: Mapping[str, str], *, changing: Sequence[str] = (), cycling: Sequence[str] = (),
            keeping: Sequence[str] | None = None, repeating: tuple[str, int] | None = None) -> Iterated:
    """The kernel iterated: after each step the output `feeding[x]` becomes the input `x`, for all steps inside one
    compiled loop.

    Inputs that are fed back are states, `changing` inputs have a value for each step, and `cycling` inputs a value for
    each stage of a step. All others are constant. `keeping` are the outputs that are kept (all). `repeating` names an
    output, a number: while it is not zero the stages are repeated, up to a total number of times. Neighbours in a block
    are then computed again too, and the kernel must leave those unchanged that are done. The result runs on this
    processor; `.on("cuda")` runs on a GPU, `.c_source()` is C.

    >>> @cy.kernel("(),(),()->()", outputs=("after",))
    ... def drop(level, inflow, loss):
    ...     return level + inflow - loss * level
    >>> fill = iterate(drop, {"level": "after"}, changing=["inflow"])
    >>> levels, = fill(0.0, np.ones(6), [0.0, 0.5], steps=6, every=2)
    >>> levels
    array([[2.     , 4.     , 6.     ],
           [1.5    , 1.875  , 1.96875]])
    """
    return Iterated(kernel, feeding, changing, cycling, keeping, repeating)
