"""One harness for every kernel: NumPy, machine code, C, JavaScript, SymPy, CasADi, JAX, mpmath and CUDA must give the
same values.

`check_parity(kernel, *arguments)` for a kernel, `check_program_parity(program, function, *arguments)` for a bare
program. A back end evaluates a program operation by operation, so it is tried on every operation and on a dozen
kernels, those that are checked `everywhere`; the others as NumPy, mpmath and machine code alone. Arguments have one
leading axis: a few states. The oracle is the Python function itself on floats. Errors are measured against the size
of the whole output, over all states. `ABSENT` says of the back ends that this machine cannot run why it cannot: a
library that is not installed, no compiler, no GPU.
"""

import ctypes
import functools
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy

from cayley.compiler.algebras.interpret import CASADI, JAX, MPMATH, NUMPY, SYMPY, interpret
from cayley.compiler.backends import backend_named
from cayley.compiler.c.c_source import c_source
from cayley.compiler.derivatives.derivative import jacobian_program
from cayley.compiler.tracing.program import Program
from compiler import javascript
from programs import C_COMPILER as COMPILER
from programs import missing

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wfloat-conversion", "-Wdouble-promotion",
          "-Wstrict-prototypes")


def check_parity(kernel, *arguments, tolerance=1e-13, single=1e-5, jacobians=True, everywhere=False,
                 without=()) -> None:
    """Everything that a kernel can become gives the values of `kernel.reference`; `without` names back ends to leave
    out, besides those that are tried only `everywhere`.
    """
    arguments = [np.asarray(a, dtype=np.float64) for a in arguments]
    program = kernel.program(**kernel.signature.bind([a.shape[1:] for a in arguments], kernel.inputs))
    exact = states_of(kernel.reference, arguments)
    agree("compiled float64", _listed(kernel(*arguments)), exact, tolerance)
    rounded = [a.astype(np.float32) for a in arguments]
    agree("compiled float32", _listed(kernel(*rounded)), states_of(kernel.reference, rounded), single)
    agree("compiled dtype=float32", _listed(kernel(*rounded, dtype=np.float32)), states_of(kernel.reference, rounded),
          single)
    check_program_parity(program, kernel.reference, *arguments, tolerance=tolerance, single=single, jacobians=False,
                         everywhere=everywhere, without=without)
    for name in kernel.inputs if jacobians else ():
        found = [kernel.jacobian(name, of=place)(*arguments) for place in range(len(program.outputs))]
        agree(f"jacobian by {name}", found, numeric_jacobians(program, arguments, name), 100 * tolerance)


def check_program_parity(program: Program, function: Callable, *arguments, tolerance=1e-13, single=1e-5, jacobians=True,
                         everywhere=False, without=()) -> None:
    """Every way to evaluate a program gives the values of the function that it was traced from."""
    without = without if everywhere else {*without, *BACK_ENDS} - ALWAYS
    arguments = [np.asarray(a, dtype=np.float64) for a in arguments]
    exact = states_of(function, arguments)
    for name, evaluate in BACK_ENDS.items():
        if name not in without:
            agree(name, evaluate(program, arguments), exact, tolerance)
    rounded = [a.astype(np.float32) for a in arguments]
    for name, evaluate in IN_SINGLE.items():
        if name in BACK_ENDS and name not in without:
            agree(f"{name} float", evaluate(program, rounded, "float"), states_of(function, rounded), single)
    for name in [v.name for v in program.inputs] if jacobians else ():
        found = [interpret(jacobian_program(program, v.name, name), NUMPY, *arguments)[0] for v in program.outputs]
        agree(f"jacobian by {name}", found, numeric_jacobians(program, arguments, name), 100 * tolerance)


def states_of(function: Callable, arguments) -> list[np.ndarray]:
    """The outputs of a function that knows only one state, for all states."""
    results = [
        _listed(function(*state)) for state in zip(*[np.asarray(a, dtype=np.float64) for a in arguments], strict=True)]
    return [np.stack(column).astype(np.float64) for column in zip(*results, strict=True)]


def agree(name: str, found, expected, tolerance: float) -> None:
    """The found outputs are the expected ones, for as many states as both have."""
    assert len(found) == len(expected), f"{name}: {len(found)} outputs, not {len(expected)}"
    for got, right in zip(found, expected, strict=True):
        got = np.asarray(got, dtype=np.float64)
        size = np.max(np.abs(right), initial=0.0, where=np.isfinite(right))
        states = min(len(got), len(right))
        np.testing.assert_allclose(got[:states], right[:states], rtol=0, atol=tolerance * size, err_msg=name)


def _listed(value) -> list:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (tuple, list)) else [value]


def in_numpy(program: Program, arguments) -> list:
    return list(interpret(program, NUMPY, *arguments))


def in_c(program: Program, arguments, precision: str = "double") -> list:
    function = compiled_c(c_source(program, precision=precision))
    return [
        np.stack(column)
        for column in zip(*[call_c(function, program, state, precision)
                            for state in zip(*arguments, strict=True)], strict=True)]


@functools.lru_cache(maxsize=64)
def compiled_c(source, flags: tuple[str, ...] = STRICT, compiler: str | None = None) -> ctypes._CFuncPtr:
    """The function of a `CSource`, compiled with warnings as errors; a test that asks for it needs a C compiler."""
    if why := missing("cc"):
        pytest.skip(why)
    with tempfile.TemporaryDirectory() as folder:
        code, _ = source.write(folder)
        library = Path(folder) / "library.so"
        command = [compiler or COMPILER, *flags, "-O1", "-shared", "-fPIC", str(code), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stderr}\n{source.source}"
        return getattr(ctypes.CDLL(str(library)), source.name)


def call_c(function, program: Program, arguments, precision: str = "double", outputs=None) -> list[np.ndarray]:
    """One call of an exported function. `outputs` are the arrays to write into, else new ones."""
    dtype, number = (np.float64, ctypes.c_double) if precision == "double" else (np.float32, ctypes.c_float)
    inputs = [np.asarray(a, dtype=dtype, order="C") if outputs is None else a for a in arguments]
    outputs = [np.full(v.shape, np.nan, dtype=dtype) for v in program.outputs] if outputs is None else outputs
    pointers = [
        ctypes.c_void_p(a.ctypes.data) if v.shape else number(a) for v, a in zip(program.inputs, inputs, strict=True)]
    function.restype = None
    function(*pointers, *[ctypes.c_void_p(a.ctypes.data) for a in outputs])
    return outputs


def in_sympy(program: Program, arguments) -> list:
    """At one point, on SymPy's own numbers."""
    point = [np.vectorize(lambda x: sympy.Float(float(x), 30), otypes=[object])(a[0]) for a in arguments]
    results = interpret(program, SYMPY, *point)
    return [np.array(r.tolist() if v.shape else r, dtype=np.float64).reshape((1, *v.shape))
            for v, r in zip(program.outputs, results, strict=True)]


def in_casadi(program: Program, arguments) -> list:
    import casadi
    flat = [casadi.SX.sym(v.name, len(v.nodes)) for v in program.inputs]
    shaped = [
        x if len(v.shape) < 2 else _nested(casadi.vertsplit(x), v.shape)
        for v, x in zip(program.inputs, flat, strict=True)]
    results = interpret(program, CASADI, *shaped)
    columns = [casadi.vertcat(*r.ravel()) if isinstance(r, np.ndarray) else casadi.vec(r.T) for r in results]
    function = casadi.Function("f", flat, columns)
    runs = [function.call([casadi.DM(a.ravel()) for a in state]) for state in zip(*arguments, strict=True)]
    return [np.stack([np.array(run[k]).reshape(v.shape) for run in runs]) for k, v in enumerate(program.outputs)]


def _nested(scalars: list, shape: tuple[int, ...]):
    """CasADi has matrices of two axes only; nested lists serve for every shape."""
    if len(shape) == 1:
        return scalars
    step = len(scalars) // shape[0] if shape[0] else 0
    return [_nested(scalars[k * step:(k + 1) * step], shape[1:]) for k in range(shape[0])]


def in_jax(program: Program, arguments) -> list:
    import jax
    with _in_double(jax):
        return [np.asarray(r) for r in interpret(program, JAX, *[jax.numpy.asarray(a) for a in arguments])]


def _in_double(jax):
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # before JAX 0.8
    return enable_x64()


def in_mpmath(program: Program, arguments) -> list:
    with mpmath.workdps(30):
        runs = [interpret(program, MPMATH, *state) for state in zip(*[a[:2] for a in arguments], strict=True)]
    return [np.stack([np.asarray(run[k]).astype(np.float64) for run in runs]) for k in range(len(program.outputs))]


def numeric_jacobians(program: Program, arguments, name: str) -> list[np.ndarray]:
    """The derivative of each output by one input, at the first two states, by central differences in 50 digits."""
    with mpmath.workdps(50):
        runs = [_differences(program, state, name) for state in zip(*[a[:2] for a in arguments], strict=True)]
    return [np.stack(column) for column in zip(*runs, strict=True)]


def _differences(program: Program, state, name: str) -> list[np.ndarray]:
    number, step = [v.name for v in program.inputs].index(name), mpmath.mpf(10) ** -15
    exact = [np.array(np.vectorize(mpmath.mpf, otypes=[object])(a)) for a in state]
    columns = []
    for index in np.ndindex(exact[number].shape):
        forward, backward = ([a.copy() for a in exact] for _ in range(2))
        forward[number][index] += step
        backward[number][index] -= step
        ends = [interpret(program, MPMATH, *moved) for moved in (forward, backward)]
        columns.append([np.asarray((a - b) / (2 * step)).astype(np.float64) for a, b in zip(*ends, strict=True)])
    return [np.stack(of_output, axis=-1).reshape(v.shape + exact[number].shape)
            for v, of_output in zip(program.outputs, zip(*columns, strict=True), strict=True)]


def in_cuda(program: Program, arguments, precision: str = "double") -> list:
    """All states in one launch."""
    cuda = backend_named("cuda")
    dtype = np.float64 if precision == "double" else np.float32
    found = _listed(cuda.function(program)(*arguments, dtype=dtype))
    assert all(a.dtype == dtype for a in found)
    return [cuda.here(a) for a in found]


@functools.cache
def why_no_gpu() -> str:
    """Why nothing runs on a GPU here; nothing, if it does."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed"
    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else "there is no GPU"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"there is no GPU: {error}"


EVERY_BACK_END = {"NumPy": in_numpy, "SymPy": in_sympy, "CasADi": in_casadi, "JAX": in_jax, "mpmath": in_mpmath,
                  "C": in_c, "CUDA": in_cuda, "JavaScript": javascript.run}
"""Each evaluates a program for the first states at least."""

ALWAYS = {"NumPy", "mpmath"}
IN_SINGLE = {"C": in_c, "CUDA": in_cuda}
ABSENT = {name: why for name, why in {
    **{name: "" if find_spec(name.lower()) else f"{name} is not installed" for name in ("CasADi", "JAX")},
    "C": missing("cc"), "CUDA": why_no_gpu(),
    "JavaScript": "" if javascript.is_there() else "no Chromium"}.items() if why}
BACK_ENDS = {name: evaluate for name, evaluate in EVERY_BACK_END.items() if name not in ABSENT}
