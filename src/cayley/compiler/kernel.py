"""`@kernel`: one Python function in; numbers, counts, equations, derivatives and code out."""

from __future__ import annotations

import inspect
import operator
import os
import threading
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np

from cayley.compiler.algebras.counts import Operations, count
from cayley.compiler.algebras.interpret import NUMPY, Algebra, interpret
from cayley.compiler.algebras.lazy_arrays import is_lazy
from cayley.compiler.arguments import as_operand, called, check_batch, core_axes, core_last, placed
from cayley.compiler.derivatives.derivative import jacobian_program
from cayley.compiler.precision import PRECISION, adapts, computed_in, dtype_name
from cayley.compiler.signature import Signature, check_names
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.implied_values import is_marked
from cayley.compiler.tracing.inline import inline
from cayley.compiler.tracing.program import Program, found
from cayley.compiler.tracing.simplify import simplify
from cayley.compiler.tracing.symbols import check_type, into, where
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Result, Scalar, Text
from cayley.errors import SignatureError, UnsupportedError
from cayley.explained_calls import explained, with_explained_calls

if TYPE_CHECKING:
    import casadi

    from cayley.compiler.algebras.equations import Equations
    from cayley.compiler.c.c_source import CSource
    from cayley.compiler.native.compile import Compiled
    from cayley.compiler.native.parallel import Parallel, Prepared
    from cayley.compiler.source import SourceFiles

_MOST_OPERANDS = 64
MakeProgram = Callable[[Mapping[str, int]], Program]

Kind = TypeVar("Kind", bound="Kernel[Any]")


@dataclass(frozen=True, eq=False)
class ExplanationBeside:
    """Explanation of results that are not numbers. The entries `unknown` are NaN at every state and need no
    explanation."""

    explain: Callable[..., None]
    unknown: Array

    def __call__(self, *arguments: Array) -> None:
        self.explain(*arguments)


@with_explained_calls
class Kernel(Generic[Result]):
    """A function of arrays that compiles itself; `kernel` makes one of a Python function.

    Called on arrays, by position or keyword, it is a generalized ufunc: `kernel(*arguments, out=None, dtype=None,
    **options)` broadcasts over leading axes and computes in float32 if every argument is float32 (or `dtype` says so),
    otherwise in float64; the options are `axes`, `axis`, `keepdims`, `casting`, `order` and `subok` of NumPy. Called on
    symbols, inside another traced function, it becomes part of that function's graph."""

    def __init__(self, signature: Signature, make_program: MakeProgram, *, name: str, inputs: Sequence[str],
                 results: Sequence[str] | None = None, function: Text | None = None, doc: str | None = None,
                 module: str | None = None, check: Callable[..., None] | None = None,
                 explain: Callable[..., None] | None = None, alone: Callable[..., Scalar] | None = None,
                 rebuild: tuple[Any, ...] | None = None, shared: bool = False) -> None:
        self.signature = signature
        self.inputs = tuple(inputs)
        self.outputs = None if results is None else tuple(results)
        self.__name__ = name
        self.__doc__ = doc
        self.__module__ = module or __name__
        self.__qualname__ = getattr(function, "__qualname__", name)
        self.__wrapped__ = function
        self._make_program = make_program
        self._check = check
        self._explain = explain
        self._alone = alone
        self._rebuild = rebuild
        self._shared = shared
        self._traces: dict[tuple[int, ...], Program] = {}
        self._programs: dict[tuple[int, ...], Program] = {}
        self._compiled: dict[tuple[int, ...], Compiled] = {}
        self._singles: dict[tuple[int, ...], Compiled] = {}
        self._derived: dict[tuple[Any, ...], Kernel] = {}
        self._elsewhere: dict[tuple[str, tuple[int, ...]], Callable[..., Any]] = {}
        self._bare: Kernel[Result] | None = None
        self._lock = threading.RLock()

    def __new__(cls, *_: object, **__: object) -> Self:
        # Python looks for __call__ in the class of an object. Each kernel has a class of its own, so that
        # `_answers_newly` can put compiled code in that place: a call then reaches it without passing through a Python
        # function.
        return super().__new__(type(cls.__name__, (cls,), {"__module__": cls.__module__, "__doc__": cls.__doc__}))

    def __call__(self, *arguments: ArrayLike, out: Array | tuple[Array, ...] | None = None,
                 dtype: DTypeLike | None = None,
                 **options: Any) -> Result:  # noqa: ANN401 (handed on)
        return self._general(*arguments, out=out, dtype=dtype, **options)

    def _answers_newly(self, function: Callable[..., Any]) -> bool:
        """Let compiled code answer from now on; whether it did not yet."""
        if type(self).__call__ is function:
            return False
        type(self).__call__ = function  # type: ignore[method-assign]
        return True

    def _is_plain(self, operands: Sequence[Any]) -> bool:
        """True if these are the arrays of one state, as compiled code takes them."""
        return all(a.dtype == np.float64 and a.ndim == len(core) and a.flags.c_contiguous
                   for a, core in zip(operands, self.signature.inputs, strict=True))

    def __repr__(self) -> str:
        return f"<kernel {self.__name__} {self.signature}>"

    # What it computes

    def program(self, **dimensions: int) -> Program:
        """The expression graph that is compiled, for the given dimensions."""
        sizes = self._sizes(dimensions)
        with self._lock:
            if sizes not in self._programs:
                self._programs[sizes] = simplify(self._trace(sizes))
        return self._programs[sizes]

    def traced(self, **dimensions: int) -> Program:
        """The expression graph as it was traced, for the given dimensions: `program` before it is simplified."""
        return self._trace(self._sizes(dimensions))

    def _trace(self, sizes: tuple[int, ...]) -> Program:
        """The graph as it was traced: enough to find compiled code in the cache."""
        with self._lock:
            if sizes not in self._traces:
                self._traces[sizes] = self._make_program(dict(zip(self.signature.names, sizes, strict=True)))
        return self._traces[sizes]

    def _differentiable(self, **dimensions: int) -> Program:
        """The program that derivatives are taken of: if it solves equations, the one that still says which."""
        traced = self._trace(self._sizes(dimensions))
        return traced if is_marked(traced) else self.program(**dimensions)

    def operations(self, **dimensions: int) -> Operations:
        """Multiplications, additions and so on, of the graph that is really compiled."""
        return count(self.program(**dimensions))

    def equations(self, *, shared: bool | None = None, **dimensions: int) -> Equations:
        """The outputs as SymPy expressions; with `shared`, or when they would be long, by way of numbered intermediate
        lines."""
        from cayley.compiler.algebras.equations import equations  # what is not used is not imported, here and below
        return equations(self.program(**dimensions), shared=shared)

    def c_source(self, name: str | None = None, *, dtype: DTypeLike = np.float64, batch: bool = False,
                 **dimensions: int) -> CSource:
        """One C99 function with its header; it allocates nothing and needs only math.h. With `batch` there is a second
        one beside it, `<name>_batch`, for many states as a struct of arrays."""
        from cayley.compiler.c.c_batch import with_batch
        from cayley.compiler.c.c_source import c_source
        program = self.program(**dimensions)
        precision = PRECISION[dtype_name(dtype)]
        made = c_source(program, name=name, precision=precision)
        return with_batch(made, program, precision) if batch else made

    def source(self, language: str, name: str | None = None, *, dtype: DTypeLike = np.float64,
               **dimensions: int) -> SourceFiles:
        """The function of one state as text in a language: "c", "javascript", "fortran", "python", "cuda", "llvm",
        "latex", or another backend.

        >>> @cy.kernel("(2)->()")
        ... def length(v):
        ...     return np.sqrt(v @ v)
        >>> print(str(length.source("javascript")).partition("*/")[2])
        <BLANKLINE>
        function length(v)
        {
            return Math.sqrt(v[0]*v[0] + v[1]*v[1]);
        }
        export { length };
        <BLANKLINE>
        """
        from cayley.compiler.backends import backend_named
        from cayley.compiler.source import SourceFiles
        backend = backend_named(language)
        program = self.program(**dimensions)
        backend.check(program)
        called = program if name is None else replace(program, name=name)
        return SourceFiles(backend.title or language, backend.files(called, PRECISION[dtype_name(dtype)]))

    def jacobian(self, variable: str, of: str | int | None = None) -> Kernel:
        """The kernel of the partial derivatives: the axes of the output, then those of the input `variable`."""
        if variable not in self.inputs:
            raise SignatureError(f"{self.__name__} has no input {variable!r}; it has {', '.join(self.inputs)}")
        place = self._output_place(of)
        if (variable, place) not in self._derived:
            self._derived[variable, place] = self._jacobian(variable, place)
        return self._derived[variable, place]

    def jvp(self, *variables: str) -> Kernel:
        """The kernel of the derivative along a direction, J u: it takes the inputs, and after them the direction's
        part in each of `variables` (in all inputs, if none is named), and returns what has the shapes of the outputs.

        >>> @cy.kernel("(n),()->(n)")
        ... def pull(q, k):
        ...     return k * np.sin(q)
        >>> pull.jvp("q")([0.0, 0.0], 2.0, [1.0, 3.0])
        array([2., 6.])
        """
        if ("jvp", variables) not in self._derived:
            from cayley.compiler.derivatives.jacobian_products import jvp
            self._derived["jvp", variables] = jvp(self, variables)
        return self._derived["jvp", variables]

    def vjp(self, *variables: str) -> Kernel:
        """The kernel of the derivatives of a weighted sum of all outputs, w J, by reverse mode: it takes the inputs,
        and after them the weights of each output, and returns what has the shapes of `variables` (of all inputs, if
        none is named).

        >>> @cy.kernel("(n),()->(n)")
        ... def pull(q, k):
        ...     return k * np.sin(q)
        >>> pull.vjp()([0.0, np.pi / 2], 2.0, [1.0, 3.0])
        (array([2.0000000e+00, 3.6739404e-16]), np.float64(3.0))
        """
        if ("vjp", variables) not in self._derived:
            from cayley.compiler.derivatives.jacobian_products import vjp
            self._derived["vjp", variables] = vjp(self, variables)
        return self._derived["vjp", variables]

    def for_torch(self) -> Callable[..., Any]:
        """The kernel as a function of torch's tensors that torch differentiates: a layer of a network."""
        from cayley.compiler.derivatives.layers import KernelLayer
        from cayley.compiler.derivatives.torch_layers import torch_layer
        return torch_layer(KernelLayer(self))

    def for_jax(self) -> Callable[..., Any]:
        """The kernel as a function of JAX's arrays, inside `jax.jit`, `jax.grad` and `jax.vmap`: compiled code that XLA
        calls back."""
        from cayley.compiler.derivatives.jax_layers import jax_layer
        from cayley.compiler.derivatives.layers import KernelLayer
        return jax_layer(KernelLayer(self))

    def for_casadi(self, name: str | None = None, **dimensions: int) -> casadi.Function:
        """The kernel as a `casadi.Function` with named inputs and outputs, that brings its exact Jacobian: for
        `casadi.nlpsol`, `casadi.Opti`, integrators. Vectors are columns; `.map(n)` is a batch.

        >>> import casadi
        >>> @cy.kernel("(n),()->(n)", outputs=("pull",))
        ... def spring(q, k):
        ...     return k * np.sin(q)
        >>> spring.for_casadi(n=2)
        Function(spring:(q[2],k)->(pull[2]) SXFunction)
        >>> spring.for_casadi(n=2).jacobian()([0.0, 0.0], 3.0, [0.0, 0.0])[0]
        DM(
        [[3, 00],
         [00, 3]])
        """
        from cayley.compiler.algebras.casadi_function import casadi_function
        return casadi_function(self, name, dimensions)

    def evaluate(self, algebra: Algebra, *arguments: Scalar, **dimensions: int) -> Scalar:
        """The same graph in another algebra: `cy.NUMPY`, `cy.SYMPY`, `cy.CASADI`, `cy.JAX`, `cy.MPMATH` or your own."""
        if not dimensions and self.signature.names:
            placed(arguments, {}, self.inputs, self.__name__)
            shapes = [_core_shape(a, len(core)) for a, core in zip(arguments, self.signature.inputs, strict=True)]
            dimensions = self.signature.bind(shapes, self.inputs)
        results = interpret(self.program(**dimensions), algebra, *arguments)
        return results[0] if len(results) == 1 else self._pack(self.program(**dimensions), results)

    def reference(self, *arguments: ArrayLike) -> Scalar:
        """The Python text itself on floats, for one state: slow, and what everything else is compared with."""
        arrays = [np.array(a, dtype=np.float64) for a in arguments]  # copies, as the text may write into them
        with np.errstate(all="ignore"):
            return self.evaluate(NUMPY, *arrays) if self.__wrapped__ is None else self.__wrapped__(*arrays)

    # How it is called

    def ufunc(self, dtype: DTypeLike = np.float64, **dimensions: int) -> np.ufunc:
        """The NumPy ufunc for the given dimensions."""
        return self._specialised(self._sizes(dimensions)).ufunc(dtype_name(dtype))

    @property
    def unchecked(self) -> Kernel[Result]:
        """The same kernel without the check of its arguments, for values that are known to be good, as in a control
        loop; and without explanations: what has no answer is NaN for one state as it is in a batch."""
        if (self._check is not None or self._explain is not None) and self._bare is None:
            self._bare = self._without_check()
        return self._bare or self

    def _without_check(self) -> Scalar:
        return self._own_kind(self.signature, self._make_program, name=self.__name__, inputs=self.inputs,
                              results=self.outputs, function=self.__wrapped__, doc=self.__doc__, module=self.__module__,
                              rebuild=(operator.attrgetter("unchecked"), (self,)))

    @property
    def _own_kind(self) -> type[Kernel]:
        """The class of kernels that are made of this one."""
        return Kernel

    def parallel(self, threads: int | None = None) -> Parallel:
        """The same kernel with its batch spread over threads (by default, one for each processor)."""
        threads = (os.cpu_count() or 1) if threads is None else threads
        from cayley.compiler.native.parallel import Parallel
        return Parallel(self, [len(core) for core in self.signature.inputs], self._prepared, threads)

    def on(self, backend: str, **dimensions: int) -> Callable[..., Any]:
        """The kernel made by another backend: `on("cuda")` takes and returns CuPy arrays."""
        from cayley.compiler.backends import backend_named
        key = backend, self._sizes(dimensions)
        if key not in self._elsewhere:
            backend_named(backend).check(self.program(**dimensions))
            self._elsewhere[key] = backend_named(backend).function(self.program(**dimensions))
        return self._elsewhere[key]

    def _general(self, *arguments: Scalar, out: Scalar = None, dtype: DTypeLike | None = None,
                 **options: Any) -> Scalar:  # noqa: ANN401 (handed on)
        """Any call: other containers, batches, other types, keywords, symbols."""
        if options or len(arguments) != len(self.inputs):
            arguments, options = placed(arguments, options, self.inputs, self.__name__)
        operands = [a if type(a) is np.ndarray else as_operand(a, label, self.__name__)
                    for a, label in zip(arguments, self.inputs, strict=True)]
        if any(_is_symbolic(a) for a in operands):
            return self._inlined(operands, out, dtype, options)
        if any(type(a) is not np.ndarray and is_lazy(a) for a in operands):
            return self._lazy(arguments, operands, dtype, options if out is None else options | {"out": out})
        precision = computed_in(self.__name__, self.inputs, arguments, operands, dtype)
        cores = operands
        if options and (axes := core_axes(self.signature, options, self.__name__)) is not None:
            cores = core_last(operands, axes, self.signature, self.inputs)
            options["axes"] = axes
        sizes = self._sizes(self.signature.bind([a.shape for a in cores], self.inputs))
        if self._check is not None:
            check_batch(cores, self.signature, self.inputs)
            self._check(*([np.asarray(a, precision) for a in cores] if precision == "float32" else cores))
        if dtype is not None or (precision == "float32" and any(adapts(a) for a in arguments)):
            options["dtype"] = precision  # an explicit type also allows the cast to it
        if out is not None:
            options["out"] = out
        compiled = self._specialised(sizes)
        if out is None and "axes" not in options and any(0 in v.shape for v in compiled.traced.outputs):
            options["out"] = self._empty(compiled.traced, cores, precision)
        if not options and self._check is None and self._is_plain(operands) and self._answers_newly(
                self._single(sizes).native):
            return self._single(sizes).native(*operands)
        try:
            result = called(compiled.ufunc(precision), operands, options)
        except SignatureError:
            check_batch(cores, self.signature, self.inputs)  # which has better words for the most frequent one
            raise
        if self._explain is not None:
            self._explain_nan(cores, result)
        return self._pack(compiled.traced, result) if isinstance(result, tuple) else result

    def _lazy(self, arguments: Sequence[Any], operands: Sequence[Any], dtype: DTypeLike | None,
              options: Mapping[str, Any]) -> Scalar:
        from cayley.compiler.algebras.lazy_arrays import lazy_results
        results = lazy_results(self, arguments, operands, dtype, options)
        bound = self.signature.bind([a.shape for a in operands], self.inputs)
        return results[0] if len(results) == 1 else self._pack(self._trace(self._sizes(bound)), results)

    def _empty(self, program: Program, operands: Sequence[Any], precision: DTypeLike) -> tuple[Array, ...]:
        """Arrays for the results: NumPy cannot know the length of one that has none."""
        batch = np.broadcast_shapes(*[np.shape(a)[:np.ndim(a) - len(core)]
                                      for a, core in zip(operands, self.signature.inputs, strict=True)])
        return tuple(np.empty((*batch, *v.shape), dtype=precision) for v in program.outputs)

    def _explain_nan(self, operands: Sequence[Any], result: Array) -> None:
        """Let it be said why one state has no answer.

        Batches keep their NaN; so does a state that is not finite itself."""
        alone = all(
            np.ndim(a) == len(core) and np.isfinite(a).all()
            for a, core in zip(operands, self.signature.inputs, strict=True))
        unanswered = [np.isnan(part) for part in (result if isinstance(result, tuple) else (result,))]
        if isinstance(self._explain, ExplanationBeside):
            unanswered = [part & ~self._explain.unknown for part in unanswered]
        if alone and (any(part.any() for part in unanswered) or (self._alone and not self._alone(*operands))):
            self._explain(*operands)  # type: ignore[misc]

    def _inlined(self, operands: Sequence[Any], out: Scalar, dtype: Scalar, options: Mapping[str, Any]) -> Scalar:
        if options:
            raise UnsupportedError(
                f"{self.__name__} with {', '.join(options)} cannot be traced: bring the core axes to the end")
        check_type(self.__name__, dtype)
        bound = self.signature.bind([np.shape(a) for a in operands], self.inputs)
        program = self._trace(self._sizes(bound))  # what may be rounded in another way is for the whole to decide
        results = inline(program, operands, [len(core) for core in self.signature.inputs], shared=self._shared)
        targets = out if isinstance(out, tuple) else (out,) * len(results) if out is None else (out,)
        results = [into(target, result) for target, result in zip(targets, results, strict=True)]
        return results[0] if len(results) == 1 else self._pack(program, results)

    def _specialised(self, sizes: tuple[int, ...]) -> Compiled:
        operands = len(self.signature.inputs) + len(self.signature.outputs)
        if operands > _MOST_OPERANDS:
            raise SignatureError(
                f"{self.__name__} has {operands} arguments and results; NumPy calls functions of at most "
                f"{_MOST_OPERANDS}: put several into one array")
        with self._lock:
            if sizes not in self._compiled:
                traced = self._trace(sizes)
                dimensions = dict(zip(self.signature.names, sizes, strict=True))
                self._compiled[sizes] = self._made(traced, lambda: self.program(**dimensions))
            return self._compiled[sizes]

    def _made(self, traced: Program, simplified: Callable[[], Program]) -> Compiled:
        from cayley.compiler.native.compile import Compiled  # brings LLVM, which only those who compile should wait for
        beside = self._explain.unknown if isinstance(self._explain, ExplanationBeside) else ()
        unknown = tuple(np.flatnonzero(beside).tolist())
        return Compiled(traced, simplified, self._general, _result_maker(traced),
                        explains_nan=self._explain is not None, unknown=unknown)

    def _single(self, sizes: tuple[int, ...]) -> Compiled:
        """The compiled program for one state: NaN where the condition on single states, `alone`, does not hold."""
        if self._alone is None:
            return self._specialised(sizes)
        with self._lock:
            if sizes not in self._singles:
                program = self._trace_alone(self._trace(sizes), dict(zip(self.signature.names, sizes, strict=True)))
                self._singles[sizes] = self._made(program, lambda: simplify(program))
            return self._singles[sizes]

    def _trace_alone(self, program: Program, bound: Mapping[str, int]) -> Program:
        def text(*arguments: Scalar) -> list[Scalar] | Scalar:
            results = inline(program, arguments, [len(core) for core in self.signature.inputs])
            holds = self._alone(*arguments)  # type: ignore[misc]
            results = [where(holds, result, np.nan) for result in results]
            return results if len(results) > 1 else results[0]

        made = trace(text, self.signature, bound, name=program.name, inputs=self.inputs, strict=program.is_strict,
                     outputs=[v.name for v in program.outputs], description=program.description)
        return replace(made, kind=program.kind)

    def _prepared(self, arguments: Sequence[Any], arrays: Sequence[Array], dtype: DTypeLike) -> Prepared:
        """For a batch in pieces."""
        precision = computed_in(self.__name__, self.inputs, arguments, arrays, dtype)
        sizes = self._sizes(self.signature.bind([a.shape for a in arrays], self.inputs))
        if self._check is not None:
            self._check(*arrays)
        compiled = self._specialised(sizes)
        from cayley.compiler.native.parallel import Prepared
        return Prepared(compiled.ufunc(precision), precision, [v.shape for v in compiled.traced.outputs],
                        lambda done: done[0] if len(done) == 1 else self._pack(compiled.traced, done))

    @staticmethod
    def _pack(program: Program, results: Sequence[Any]) -> Scalar:
        make = _result_maker(program)
        return make(results) if make else tuple(results)

    # Dimensions, types, names

    def _sizes(self, dimensions: Mapping[str, int]) -> tuple[int, ...]:
        self.signature.check_bound(dimensions, self.__name__)
        return tuple(dimensions[name] for name in self.signature.names)

    def _output_place(self, of: str | int | None) -> int:
        total = len(self.signature.outputs)
        if of is None and total == 1:
            return 0
        if isinstance(of, int) and 0 <= of < total:
            return of
        names = self.outputs
        if names is None and not self.signature.names:
            names = tuple(v.name for v in self.program().outputs)
        if names and of in names:
            return names.index(of)
        choices = ", ".join(names) if names else f"0 to {total - 1}, or names given to the kernel as outputs=(...)"
        raise SignatureError(f"say which output of {self.__name__} to differentiate with of=...: {choices}")

    def _jacobian(self, variable: str, place: int) -> Kernel:
        core = self.signature.outputs[place] + self.signature.inputs[self.inputs.index(variable)]
        signature = Signature(self.signature.inputs, (core,))
        return self._own_kind(signature, lambda bound: _jacobian_of(self._differentiable(**bound), place, variable),
                              inputs=self.inputs, name=f"{self.__name__}_by_{variable}",
                              doc=f"Derivative of {self.__name__} by {variable}.",
                              rebuild=(operator.methodcaller("jacobian", variable, place), (self,)))

    def __copy__(self) -> Self:
        return self  # as functions are, which do not change

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> Scalar:
        if self._rebuild is not None:
            return self._rebuild
        if found(self.__module__, self.__qualname__) is self:
            return self.__qualname__
        bounds = [
            dict(zip(self.signature.names, sizes, strict=True))
            for sizes in (self._traces if self.signature.names else [()])]
        programs = {self._sizes(bound): self._differentiable(**bound) for bound in bounds}
        if not programs:
            raise TypeError(
                f"kernel {self.__name__} cannot be pickled: it is not at the top of a module, and has not been used, "
                "so its dimensions are not known; call it once, or move it to the top of its module")
        return _from_programs, (str(self.signature), self.__name__, self.inputs, self.outputs, self.__doc__, programs)


@overload
def kernel(signature: str, *, outputs: Sequence[str] | None = ..., units: Mapping[str, str] | None = ...,
           name: str | None = ..., check: Callable[..., None] | None = ...,
           explain: Callable[..., None] | None = ..., alone: Callable[..., Scalar] | None = ...,
           inputs: Sequence[str] | None = ..., strict: bool = ...,
           shared: bool = ...) -> Callable[[Callable[..., Result]], Kernel[Result]]: ...


@overload
def kernel(signature: str, *, outputs: Sequence[str] | None = ..., units: Mapping[str, str] | None = ...,
           name: str | None = ..., check: Callable[..., None] | None = ...,
           explain: Callable[..., None] | None = ..., alone: Callable[..., Scalar] | None = ...,
           inputs: Sequence[str] | None = ..., strict: bool = ...,
           shared: bool = ..., kind: type[Kind]) -> Callable[[Text], Kind]: ...


@explained
def kernel(signature: str, *, outputs: Sequence[str] | None = None, units: Mapping[str, str] | None = None,
           name: str | None = None, check: Callable[..., None] | None = None,
           explain: Callable[..., None] | None = None, alone: Callable[..., Scalar] | None = None,
           inputs: Sequence[str] | None = None, strict: bool = False, shared: bool = False,
           kind: type[Kernel[Any]] = Kernel) -> Callable[[Text], Kernel[Any]]:
    """Make a kernel of a pure function over NumPy arrays, written for one state.

    `signature` gives the core shapes of inputs and outputs as NumPy does; free dimensions are bound at the first use.
    Several outputs are returned as a tuple, a dictionary or a named tuple, or named by `outputs`. `units` are shown in
    exported code. `check` is called with the arguments of every numeric call and raises if they are not what the
    function is for; `unchecked` leaves it out. `explain` is called with the arguments of a call for one state, all
    finite, whose answer is not a number, and raises if it knows why. `alone` is a condition of the arguments, written
    as the function is: a call for one state at which it does not hold is explained, too, and only such a call looks at
    it; batches, derivatives and exports do not. `inputs` are the names of the arguments, if the function's own will not
    do. With `strict` every operation is rounded as it is written, and NaN, infinities and signed zeros come out as
    NumPy gives them; otherwise expressions follow real algebra, and cost less. Where other kernels call it, a large
    kernel that is `shared` is compiled once, as a function of its own; otherwise it becomes part of each place that
    calls it, where it is simplified together with what is around it. `kind` is the class of the result, if it is to be
    a kernel with more to it.

    >>> @cy.kernel("(n),(n)->(n)")
    ... def pendulum_torque(q, qdd):
    ...     return 2.0 * qdd + 9.81 * np.sin(q)
    >>> pendulum_torque([[0.0], [np.pi / 2]], [[1.0], [0.0]])
    array([[2.  ],
           [9.81]])
    >>> print(pendulum_torque.operations(n=1))
    2 multiplications, 1 addition, 1 trigonometric
    >>> pendulum_torque.jacobian("q")([0.0], [1.0])
    array([[9.81]])
    """
    parsed = Signature.parse(signature)
    if outputs is not None and len(outputs) != len(parsed.outputs):
        raise SignatureError(
            f"{len(outputs)} output names were given; the signature {signature} has {len(parsed.outputs)} outputs")
    if inputs is not None and len(inputs) != len(parsed.inputs):
        raise SignatureError(
            f"{len(inputs)} input names were given; the signature {signature} has {len(parsed.inputs)} inputs")
    check_names(inputs or (), f"inputs of the signature {signature}", identifiers=False)
    check_names(outputs or (), f"outputs of the signature {signature}")

    def decorate(function: Text) -> Kernel[Any]:
        label = name or str(getattr(function, "__name__", "kernel"))
        names = _parameters(function, len(parsed.inputs), label) if inputs is None else list(inputs)

        def make_program(bound: Mapping[str, int]) -> Program:
            return trace(function, parsed, bound, name=label, inputs=names, outputs=outputs, units=units,
                         description=inspect.getdoc(function) or "", strict=strict)

        return kind(parsed, make_program, name=label, inputs=names, results=outputs, function=function,
                    doc=function.__doc__, module=getattr(function, "__module__", None), check=check, explain=explain,
                    alone=alone, shared=shared)

    return decorate


def _parameters(function: Callable[..., Any], count_in: int, name: str) -> list[str]:
    parameters = [
        p for p in inspect.signature(function).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in parameters if p.default is p.empty]
    if len(required) > count_in or len(parameters) < count_in:
        raise SignatureError(f"{name} takes {len(parameters)} arguments; its signature has {count_in} inputs")
    return [p.name for p in parameters[:count_in]]


def _from_programs(signature: str, name: str, inputs: Sequence[str], outputs: Sequence[str] | None, doc: str | None,
                   programs: dict[tuple[int, ...], Program]) -> Kernel:
    parsed = Signature.parse(signature)

    def make_program(bound: Mapping[str, int]) -> Program:
        raise UnsupportedError(
            f"kernel {name} was unpickled without its Python text, for the dimensions {sorted(programs)} of "
            f"{parsed.names}; it cannot be made for {dict(bound)}")

    made = Kernel(parsed, make_program, name=name, inputs=inputs, results=outputs, doc=doc)
    made._traces.update(programs)
    made._programs.update((sizes, program) for sizes, program in programs.items() if not is_marked(program))
    return made


def _jacobian_of(program: Program, place: int, variable: str) -> Program:
    return jacobian_program(program, program.outputs[place].name, variable)


def _result_maker(program: Program) -> Callable[[Sequence[Any]], Any] | None:
    """The maker of a named tuple of several results, if they have names of their own."""
    if program.kind is not None and len(program.outputs) > 1:
        return program.kind._make
    return _named_tuple(program.name, tuple(v.name for v in program.outputs))


@cache
def _named_tuple(name: str, fields: tuple[str, ...]) -> Callable[[Sequence[Any]], Any] | None:
    if len(fields) == 1 or fields == tuple(f"out{k + 1}" for k in range(len(fields))):
        return None
    title = "".join(c for c in name if c.isalnum() or c == "_") or "kernel"
    plain = namedtuple(f"{title}_results", fields)  # type: ignore[misc]
    reduce = {"__reduce__": lambda self: (_results, (name, fields, tuple(self)))}
    kind: Any = type(plain.__name__, (plain,), {"__slots__": (), "__module__": __name__, **reduce})
    return kind._make


def _results(name: str, fields: tuple[str, ...], values: Sequence[Any]) -> Scalar:
    """Named results that were pickled: their class has no place of its own."""
    make = _named_tuple(name, fields)
    return make(values) if make else tuple(values)


def _is_symbolic(operand: Array) -> bool:
    return isinstance(operand, np.ndarray) and operand.dtype == object and any(
        isinstance(x, Node) for x in operand.flat)


def _core_shape(argument: ArrayLike, axes: int) -> tuple[int, ...]:
    """The shape of one state's argument in any algebra; CasADi's vectors are columns."""
    shape = tuple(argument.shape) if hasattr(argument, "shape") else np.shape(np.asarray(argument, dtype=object))
    return shape[:1] if axes == 1 and len(shape) == 2 and shape[1] == 1 and not isinstance(argument,
                                                                                           np.ndarray) else shape
