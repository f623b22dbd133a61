"""C99 that a person can read, that compiles without a warning, and that computes what it should."""

import ctypes
import math
import re
import shutil
import subprocess
import time

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.c.c_batch import with_batch
from cayley.compiler.c.c_source import c_source
from cayley.compiler.cuda.cuda_source import cuda_source
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.names import FOR_FUNCTIONS
from cayley.compiler.tracing.symbols import where
from cayley.compiler.tracing.trace import trace
from cayley.errors import UnsupportedError
from compiler.mechanisms import (
    choices,
    every_operation,
    inverse_dynamics,
    kinetic_energy,
    moved_points,
    pendulum_torque,
    program_of,
)
from compiler.parity import COMPILER, STRICT, call_c, compiled_c, in_c
from programs import needs

needs_compiler = needs("cc")


def test_it_reads_well():
    program = program_of(pendulum_torque, "(n),(n)->(n)", n=1, units={"q": "rad"},
                         description="The torque of a pendulum.")
    made = c_source(program)
    assert made.name == "pendulum_torque"
    assert "void pendulum_torque(const double q[1], const double qdd[1], double out[1])\n{\n" \
           "    out[0] = 2.0*qdd[0] + 9.81*sin(q[0]);\n}" in made.source
    for text in (made.source, made.header):
        assert text.startswith("/*\n * pendulum_torque: The torque of a pendulum.")
        assert re.search(r"q +vector of 1 +\[rad\]", text) and "2 multiplications" in text
    assert str(made).index("pendulum_torque.h ----") < str(made).index("pendulum_torque.c ----")


def test_float_and_name():
    made = c_source(program_of(pendulum_torque, "(n),(n)->(n)", n=1), name="torque", precision="float")
    assert "out[0] = 2.0f*qdd[0] + 9.81f*sinf(q[0]);" in made.source and "void torque(const float q[1]" in made.header
    with pytest.raises(UnsupportedError, match="not 'half'"):
        c_source(program_of(kinetic_energy, "(),()->()"), precision="half")


def test_what_rounds_to_one_or_zero_in_single_precision_is_not_written():
    """Files round a quarter turn to 1.5708: its cosine is no zero, and its sine is one in single precision only."""
    def turned(x):
        c, s = math.cos(1.5708), math.sin(1.5708)
        return np.stack([c * x[0] - s * x[1], s * x[0] + 1e-60 * x[1]])
    program = program_of(turned, "(2)->(2)")
    double, single = (c_source(program, precision=precision).source for precision in ("double", "float"))
    assert "0.9999999999932537*" in double and "1.0f" not in single and "0.0f" not in single
    assert re.search(r"out\[1\] = t\d+;|out\[1\] = x\[0\];", single), single


SILLY = re.compile(r"""(?<![\w.])-?[01]\.0f?\*            # 1.0*x, 0.0*x
                       |[*/]-?[01]\.0f?(?![\w.])          # x*1.0, x/1.0
                       |(?<![\w.])0\.0f?\ [+-]\ |[+-]\ 0\.0f?(?![\w.])
                       |[+-]\ ?\(?-(?!>)""", re.VERBOSE)  # a + -b, a - (-b), --


@pytest.mark.parametrize("robot", ["puma560", "panda", "five_bar", "biped"])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_nothing_silly_is_written(robot, precision):
    """No factor of one, no added zero, no two signs in a row."""
    arm = cy.load(robot)
    kernels = [arm.forward_dynamics, arm.inertia_matrix, arm.gravity_forces] + (
        [arm.inverse_dynamics.jacobian("q"), arm.rollout(method="rk4")] if robot == "panda" else [])
    for one in kernels:
        text = one.c_source("f", dtype={"double": "float64", "float": "float32"}[precision]).source
        lines = [line for line in re.sub(r"/\*.*?\*/", "", text, flags=re.S).splitlines() if SILLY.search(line)]
        assert not [line for line in lines if "++" not in line], lines[:5]
        if precision == "float":
            assert not re.search(r"\bdouble\b|(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w.])", text.partition("math.h")[2])


def test_signs_in_a_row_are_one():
    def f(x):
        a, b, c = x
        return np.stack([a - (-2.5), a + (-2.5), a - (-b) * c, a - -(b * c) / 3.0, a + (-(b + c))])
    program = trace(f, Signature.parse("(3)->(5)"), {}, name="f", inputs=["x"], strict=True)
    text = c_source(program).source.partition("math.h")[2]
    assert not SILLY.search(text), text
    states = np.random.default_rng(3).normal(size=(20, 3))
    np.testing.assert_array_equal(in_c(program, [states])[0], [f(x) for x in states])


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("function, signature, dimensions", [
    (every_operation, "(3),(3)->(26)", {}), (moved_points, "(3,3),(3),(k,3)->(k,3),(3,3),()", {"k": 2}),
    (choices, "(n),(),()->(n),(n),()", {"n": 2})])
def test_many_states_as_a_struct_of_arrays(function, signature, dimensions, precision, tmp_path):
    """Element k of all states, then element k + 1; the numbers are those of one state at a time."""
    program = program_of(function, signature, **dimensions)
    made = with_batch(c_source(program, precision=precision), program, precision)
    one = compiled_c(made, (*STRICT, "-Wshadow", "-Wconversion", "-Wunused"))
    many = getattr(ctypes.CDLL(one_library(made, tmp_path)), f"{made.name}_batch")
    dtype = np.float64 if precision == "double" else np.float32
    random = np.random.default_rng(5)
    count = 7
    inputs = [random.uniform(0.2, 0.9, (count, *v.shape)).astype(dtype) for v in program.inputs]
    right = [np.stack(column) for column in zip(*[call_c(one, program, state, precision)
                                                  for state in zip(*inputs, strict=True)], strict=True)]
    arrays = [np.ascontiguousarray(np.moveaxis(a, 0, -1)) for a in inputs]
    outputs = [np.full((*v.shape, count), np.nan, dtype=dtype) for v in program.outputs]
    many(ctypes.c_size_t(count), *[ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *outputs)])
    for found, expected in zip(outputs, right, strict=True):
        np.testing.assert_allclose(np.moveaxis(found, -1, 0), expected, rtol=4 * np.finfo(dtype).eps)
    guarded = [np.full((*v.shape, 1), np.nan, dtype=dtype) for v in program.outputs]
    many(ctypes.c_size_t(0), *[ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *guarded)])
    assert all(np.isnan(a).all() for a in guarded)


def one_library(made, folder):
    """Compiled as C++, which the text is as well."""
    code, _ = made.write(folder)
    library = folder / "library.so"
    subprocess.run(["g++", "-x", "c++", "-std=c++14", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
                    "-O3", "-shared", "-fPIC", str(code), "-o", str(library)], check=True)
    return str(library)


@needs_compiler
def test_names_of_the_batch_are_taken(tmp_path):
    program = program_of(lambda count, i, unused: (count * i, np.zeros(0)), "(2),(),(3)->(2),(k)", name="f",
                         inputs=["count", "i", "unused"])
    compiled_c(with_batch(c_source(program), program, "double"), (*STRICT, "-Wshadow", "-Wconversion"))


def test_scalars_by_value_matrices_flat():
    assert "void kinetic_energy(double m, double v, double *out);" in c_source(program_of(kinetic_energy,
                                                                                          "(),()->()")).header
    made = c_source(program_of(moved_points, "(3,3),(3),(k,3)->(k,3),(3,3),()", k=2))
    assert ("const double rotation[9]" in made.header and "double *volume" in made.header
            and "3 x 3 matrix, row-major" in made.header)


@needs_compiler
def test_files(tmp_path):
    made = c_source(program_of(kinetic_energy, "(),()->()"))
    code, header = made.write(tmp_path / "new" / "folder")
    assert code.read_text() == made.source and header.read_text() == made.header and code.name == "kinetic_energy.c"


@pytest.mark.parametrize("precision", ["double", "float"])
def test_lines_are_short_and_functions_called_once(precision):
    made = c_source(program_of(every_operation, "(3),(3)->(26)"), precision=precision)
    assert max(map(len, str(made).splitlines())) < 120
    made = c_source(program_of(inverse_dynamics, "(n),(n),(n)->(n)", n=7), precision=precision)
    assert max(map(len, made.source.splitlines())) < 120
    calls = re.findall(r"\b(?:sin|cos)f?\([^)]*\)", made.source)
    assert len(calls) == len(set(calls)) >= 12


@needs_compiler
@pytest.mark.parametrize("function, signature, dimensions", [(every_operation, "(3),(3)->(26)", {}),
                                                             (choices, "(n),(),()->(n),(n),()", {"n": 2}),
                                                             (inverse_dynamics, "(n),(n),(n)->(n)", {"n": 7})])
@pytest.mark.parametrize("precision", ["double", "float"])
def test_strict_compilers_say_nothing(function, signature, dimensions, precision, tmp_path):
    made = c_source(program_of(function, signature, **dimensions), precision=precision)
    compiled_c(made, (*STRICT, "-Wshadow", "-Wconversion", "-Wunused"))
    if shutil.which("g++"):
        made.write(tmp_path)
        (tmp_path
         / "user.cpp").write_text(f'#include "{made.name}.h"\n#include "{made.name}.h"\nint main() {{ return 0; }}\n')
        subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                        str(tmp_path / "user.cpp")], check=True)


@needs_compiler
def test_awkward_names():
    names = [
        "int", "t1", "double", "sin", "I", "u", "M_PI", "NAN", "new", "θ", "_x", "linux", "gamma", "j1", "f",
        "f_minimum", "t_1", "v2"]
    program = program_of(
        lambda *x: np.stack([np.minimum(x[0], x[3]) * np.sin(np.hypot(x[1], x[2])),
                             sum(x), 3.0 * sum(x)]), ",".join(["()"] * len(names)) + "->(3)", name="f", inputs=names,
        outputs=["int"])
    values = [np.array([k + 1.0]) for k in range(len(names))]
    total = sum(range(1, len(names) + 1))
    np.testing.assert_allclose(in_c(program, values)[0][0], [math.sin(math.hypot(2, 3)), total, 3 * total], rtol=1e-14)
    header = c_source(program).header
    assert "double gamma" in header and "double theta" in header and "double int_" in header and "*int_" not in header


@needs_compiler
def test_arrays_with_awkward_names():
    program = program_of(lambda t1, sin: (t1 + np.sin(sin), sin @ sin), "(2),(2)->(2),()", name="cos",
                         outputs=["out", "t2"])
    assert c_source(program).name == "cos_"
    first, second = in_c(program, [np.ones((1, 2)), np.full((1, 2), 0.5)])
    np.testing.assert_allclose([*first[0], second[0]], [1 + math.sin(0.5)] * 2 + [0.5])


@needs_compiler
def test_function_names_that_compilers_know(tmp_path):
    """Every reserved word as the name of a function, in one file."""
    texts = []
    for word in sorted(FOR_FUNCTIONS | {"<lambda>", "2x", "main", "ñandú", "a-b"}):
        made = c_source(program_of(kinetic_energy, "(),()->()", name=word))
        assert made.name not in FOR_FUNCTIONS
        texts.append(
            made.source.replace(f'#include "{made.name}.h"', re.sub(r"^/\*.*?\*/", "", made.header, flags=re.S)))
    (tmp_path / "all.c").write_text("\n".join(texts))
    subprocess.run([COMPILER, *STRICT, "-fsyntax-only", str(tmp_path / "all.c")], check=True)


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
def test_unused_inputs_and_empty_outputs(precision):
    program = program_of(lambda q, unused, m: (q, np.zeros(0), 2.0), "(2),(3),()->(2),(k),()", name="f",
                         inputs=["q", "unused", "m"])
    assert "(void)unused;" in c_source(program).source and "(void)m;" in c_source(program).source
    first, empty, constant = in_c(program, [np.ones((1, 2)), np.ones((1, 3)), np.ones(1)], precision)
    assert first.tolist() == [[1, 1]] and empty.shape == (1, 0) and constant.tolist() == [2]


@needs_compiler
def test_no_elements_at_all():
    program = program_of(pendulum_torque, "(n),(n)->(n)", n=0)
    assert in_c(program, [np.zeros((1, 0))] * 2)[0].shape == (1, 0)


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
def test_output_may_be_an_input(precision):
    program = program_of(lambda x: np.stack([x[1], x[0] + x[2], x[0] * x[1], x[0]]), "(4)->(4)", name="f", inputs=["x"])
    function = compiled_c(c_source(program, precision=precision))
    x = np.array([2, 3, 5, 7], dtype=np.float64 if precision == "double" else np.float32)
    call_c(function, program, [x], precision, outputs=[x])
    assert x.tolist() == [3, 7, 6, 2]


@needs_compiler
def test_single_result_in_place():
    program = program_of(lambda x: x[0] * x[1] - x[2], "(3)->()", name="f", inputs=["x"])
    x = np.array([2.0, 3.0, 5.0])
    call_c(compiled_c(c_source(program)), program, [x], outputs=[x])
    assert x[0] == 1.0


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
def test_constants_are_exact(precision):
    random = np.random.default_rng(8)
    many = random.normal(size=30) * 10.0 ** random.integers(-30, 30, 30)
    numbers = [math.inf, -math.inf, math.nan, 1e-320, 1e308, 0.1, 1 / 3, -9.81, 2.0**60, 5e-324, *many]
    program = trace(lambda x: np.array(numbers), Signature.parse("()->(40)"), {}, name="f", inputs=["x"])
    dtype = np.float64 if precision == "double" else np.float32
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(in_c(program, [np.zeros(1)], precision)[0][0], np.array(numbers).astype(dtype))


@needs_compiler
def test_signs_and_order_of_operations():
    """Bit for bit, so that parentheses are where the graph says."""
    def f(x):
        a, b, c, d = x
        return np.stack([
            a - (b - c), a - (b + c), a + (b + c), a * (b * c), a / (b / c), a / (b * c), -(a + b) * c, a - -b * c,
            -(a * b) / c, (a - b) - (c - d), a * (b - 2.0), a + -3.5,
            where(a < b, c, d) * a,
            where(where(a < b, a, b) < c, 1.0, -d), -np.abs(-a), a * -2.0 - 1.0, (a < b) * c])
    program = trace(f, Signature.parse("(4)->(17)"), {}, name="f", inputs=["x"])
    states = np.random.default_rng(9).normal(size=(20, 4))
    right = np.stack([f(x) for x in states])
    np.testing.assert_allclose(in_c(program, [states])[0], right, rtol=3e-16, atol=0)


@needs_compiler
def test_nan_prevails_in_extrema_and_truth_values_combine():
    def f(a, b):
        return np.stack([
            np.minimum(a, b),
            np.maximum(a, b),
            np.sign(a),
            where(~(a < b) & ((a == b) | (b <= 1.0)), 1.0, 0.0)])
    program = program_of(f, "(),()->(4)")
    cases = np.array([
        (x, y) for x in (math.nan, 0.0, -1.0, 2.0, math.inf) for y in (math.nan, 0.0, -1.0, 2.0, -math.inf)])
    np.testing.assert_array_equal(in_c(program, list(cases.T))[0], [f(*case) for case in cases])


@needs_compiler
def test_comments_stay_comments():
    description = "a */ b /* c ??/ d // e \\\nthe second line " + "long " * 60
    program = program_of(kinetic_energy, "(),()->()", description=description, units={"m": "*/"})
    compiled_c(c_source(program))
    assert max(map(len, c_source(program).source.splitlines())) < 120


@needs_compiler
def test_comments_stay_comments_whatever_is_in_them(tmp_path):
    """Several exports in one file each: the words are in a description, a unit, the name of a function and that of an
    input.
    """
    words = [
        "*/ int x; /*", "/*/", "??/", "???/", "C:\\", "a*\\\n/ b", "a\r/ b", "\0", "\x1b[31m", "θ 関節", "\u202eturned",
        "\u2066", "\ud800", "\u2028/", "*" * 98 + "/", "a " * 49 + "*/", '"quoted"', "// \\"]
    for made in (c_source, cuda_source):
        texts = []
        for k, word in enumerate(words):
            described = program_of(kinetic_energy, "(),()->()", name=f"described{k}", description=f"It is {word}",
                                   units={"m": word})
            named = program_of(lambda x: 2.0 * x, "()->()", name=f"named{k}{word}", inputs=[f"x{word}"])
            texts += [str(made(described)), str(made(named))]
        together = "#define __global__\nstruct { int x; } blockIdx, blockDim, threadIdx;\n" * (
            made is cuda_source) + "\n".join(texts)
        file = tmp_path / ("all.c" if made is c_source else "all.cpp")
        file.write_text(re.sub('#include "[^"]*"', "", together), encoding="utf-8")
        compiler = [COMPILER, *STRICT] if made is c_source else [
            "g++", "-std=c++14", "-Wall", "-Wextra", "-Werror", "-pedantic"]
        subprocess.run([*compiler, "-c", str(file), "-o", str(tmp_path / "all.o")], check=True)


def test_large_programs_take_linear_time():
    """Twenty times the length must not cost much more than twenty times the time (quadratic growth would be 400)."""
    def made_in(steps):
        def chain(x):
            for k in range(steps):
                x = np.stack([x[0] * 1.0001 + x[1], x[1] - 0.5 * x[0] + k])
            return x
        program = trace(chain, Signature.parse("(2)->(2)"), {}, name="chain", inputs=["x"])
        assert len(program.nodes) > 4 * steps
        begin = time.process_time()
        return c_source(program), time.process_time() - begin

    made_in(100)
    _, short = made_in(1250)
    made, long = made_in(25_000)
    assert long < 80 * short
    assert max(map(len, made.source.splitlines())) < 120
