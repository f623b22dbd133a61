"""Which arithmetic a kernel does: what is exact, what follows real algebra, what `strict` leaves as it was written."""

import itertools
import warnings

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.algebras import packages as algebras
from cayley.compiler.algebras.counts import Operations, count
from cayley.compiler.algebras.interpret import NUMPY, interpret
from cayley.compiler.c.c_source import c_source
from cayley.compiler.cuda.cuda_source import cuda_source
from cayley.compiler.derivatives.derivative import jacobian_nodes
from cayley.compiler.elementary import emitter
from cayley.compiler.native import llvm
from cayley.compiler.operations import CALLS, FREE, MARKS, OPERATIONS
from cayley.compiler.tracing.graph import RULES, Graph, rule_of
from cayley.errors import UnsupportedError
from compiler.mechanisms import program_of
from compiler.parity import COMPILER, STRICT, call_c, compiled_c
from fuzz.random_functions import ELEMENTARY, SPECIAL, check, same_bits
from programs import needs

needs_compiler = needs("cc")
PAIRS = [np.array(side) for side in zip(*itertools.product(
    (*SPECIAL, 0.3, 2.5, -2.5, 98 * np.pi, 2 * np.pi, 1e17, -1e300, 7.0, 4.9e-323), repeat=2), strict=True)]


def in_c(program, arguments, precision="double"):
    code = compiled_c(c_source(program, precision=precision), (*STRICT, "-Wno-unknown-pragmas"))
    states = [call_c(code, program, state, precision) for state in zip(*arguments, strict=True)]
    return [np.stack(column) for column in zip(*states, strict=True)]


def assert_same(found, expected, name=""):
    agree = same_bits(np.asarray(found), np.asarray(expected))
    assert agree.all(), (name, np.asarray(found)[~agree][:5], np.asarray(expected)[~agree][:5])


def side_by_side(functions, **options):
    """One kernel of many functions of one number, each with an input of its own, so that no one sees what another
    shares.
    """
    def text(x):
        return np.stack([function(x[k]) for k, function in enumerate(functions)])
    return cy.kernel(f"({len(functions)})->({len(functions)})", name="side_by_side", **options)(text)


# Floors, remainders and other jumps

JUMPING = {
    "floor(x / 49)": (lambda x: np.floor(x / 49.0), 49.0),
    "x // 49": (lambda x: x // 49.0, 49.0),
    "x % 49": (lambda x: x % 49.0, 49.0),
    "x % 0.1": (lambda x: x % 0.1, 0.3),
    "x % 2 pi": (lambda x: x % (2 * np.pi), 98 * np.pi),
    "ceil(x / 49)": (lambda x: np.ceil(x / 49.0), 49.0),
    "trunc(x / -49)": (lambda x: np.trunc(x / -49.0), 49.0),
    "x / 49 < 1": (lambda x: cy.where(x / 49.0 < 1.0, 1.0, 2.0), 49.0),
    "sign(x / 49 - 1)": (lambda x: np.sign(x / 49.0 - 1.0), 49.0),
    "x / 49 == 1": (lambda x: cy.where(x / 49.0 == 1.0, 1.0, 2.0), 49.0),
    "floor(10 x + 0.5)": (lambda x: np.floor(10.0 * x + 0.5), 0.35),
    "floor((x + 0.1) + 0.2)": (lambda x: np.floor((x + 0.1) + 0.2), 0.7),
    "floor(3 (0.1 x))": (lambda x: np.floor(3.0 * (0.1 * x)), 10.0),
    "floor(x + 0.9 x)": (lambda x: np.floor(0.3 * x + 0.9 * x), 2.5),
    "floor(0.1 (3 / x))": (lambda x: np.floor(0.1 * (3.0 / x)), 0.3),
    "0.3 // x": (lambda x: 0.3 // x, 0.1),
}


def test_what_jumps_sees_the_last_bit_as_numpy_does():
    functions, scales = zip(*JUMPING.values(), strict=True)
    kernel = side_by_side(functions)
    for dtype in (np.float64, np.float32):
        steps = (np.arange(-400, 400)[:, None] * np.array(scales)).astype(dtype)
        beside = [np.nextafter(steps, dtype(end)) for end in (np.inf, -np.inf)]
        x = np.concatenate([steps, *beside, steps / dtype(10)])
        with np.errstate(all="ignore"):
            expected = np.stack([function(x[:, k]) for k, function in enumerate(functions)], axis=-1).astype(dtype)
        many, alone = kernel(x), np.stack([kernel(state) for state in x[::40]])
        for k, name in enumerate(JUMPING):
            assert_same(many[:, k], expected[:, k], name)
            assert_same(alone[:, k], expected[::40, k], name)
    x = x.astype(np.float64)
    with np.errstate(all="ignore"):
        found = interpret(kernel.program(), NUMPY, x)[0]
        for k, (name, function) in enumerate(zip(JUMPING, functions, strict=True)):
            assert_same(found[:, k], function(x[:, k]), name)


def test_a_shared_reciprocal_is_not_seen_by_a_floor():
    kernel = cy.kernel("()->(2)", name="shared")(lambda x: np.stack([np.floor(x / x), 1.0 / x]))
    x = np.random.default_rng(0).random(1000)
    assert (kernel(x)[:, 0] == 1.0).all() and kernel(0.9587405969335856)[0] == 1.0


def test_a_kernel_called_inside_a_floor_divides_as_written():
    inner = cy.kernel("()->()", name="inner")(lambda x: x / 49.0)
    outer = cy.kernel("()->()", name="outer")(lambda x: np.floor(inner(x)))
    assert outer(49.0) == 1.0 and inner.operations() == Operations(multiplications=1)


def test_what_nothing_sees_keeps_its_few_operations():
    kernel = cy.kernel("()->(4)", name="smooth")(
        lambda x: np.stack([x / 49.0, 3.0 * (0.1 * x), (x + 0.1) + 0.2, 2.0 * x + 0.3 * x]))
    assert kernel.operations() == Operations(multiplications=3, additions=1)


@pytest.mark.parametrize("dtype, precision", [(np.float64, "double"), (np.float32, "float")])
def test_division_with_a_rest_is_numpys_for_every_pair(dtype, precision):
    kernel = cy.kernel("(),()->(),()", name="rest")(lambda a, b: (a % b, a // b))
    with np.errstate(all="ignore"):
        a, b = (side.astype(dtype) for side in PAIRS)
        expected = np.remainder(a, b), np.floor_divide(a, b)
    alone = zip(*[kernel(x, y) for x, y in zip(a, b, strict=True)], strict=True)
    written = in_c(kernel.program(), (a, b), precision) if COMPILER else expected
    for found in (kernel(a, b), alone, written, interpret(kernel.program(), NUMPY, a, b)):
        for got, right in zip(found, expected, strict=True):
            assert_same(np.array(got, dtype), right)


def test_division_with_a_rest_in_cuda_and_other_algebras():
    program = program_of(lambda a, b: (a % b, a // b), "(),()->(),()", name="rest")
    text = cuda_source(program)
    assert "static __device__ double rest_remainder(double a, double b)" in text and "fmod(a, b)" in text
    assert "fmodf(a, b)" in cuda_source(program, "float") and "rest_floor_divide(a_0, b_0)" in text
    for algebra in (algebras.SYMPY, algebras.CASADI, algebras.MPMATH, algebras.JAX):
        for a, b in ((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (6.0, 2.0), (0.5, 2.0)):
            rest, whole = interpret(program, algebra, algebra.constant(a), algebra.constant(b))
            assert (float(rest), float(whole)) == (a % b, a // b), (algebra.name, a, b)


# Constants and powers

EXTREME = (
    (lambda x: (x + 1e308) + 1e308, -1e308, 1e308),
    (lambda x: 1e-160 * (1e-160 * x), 1e300, 1e-20),
    (lambda x: (2.0**-600 * x) * (x * x), 1e120, (2.0**-600 * 1e120) * 1e240),
    (lambda x: 1e308 * x + 1.5e308 * x, 0.5, 1.25e308),
    (lambda x: x / 1e-310, 1e-310, 1.0),
    (lambda x: (1e30 * x) * 1e30, 1e-40, 1e20),
)


def test_constants_do_not_overflow_when_they_are_gathered():
    functions, at, expected = zip(*EXTREME, strict=True)
    np.testing.assert_allclose(side_by_side(functions)(at), expected, rtol=1e-14)


def test_gathered_constants_stay_within_single_precision():
    kernel = cy.kernel("()->()", name="single")(lambda x: (1e30 * x) * 1e30)
    assert kernel(np.float32(1e-40)) == pytest.approx(1e20, rel=1e-4)


EXPONENTS = (0, 1, 2, 3, 5, -1, -2, -3, 0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5)


@pytest.mark.parametrize("strict", [False, True])
def test_powers_of_special_values_are_numpys(strict):
    kernel = side_by_side([lambda x, exponent=exponent: x**exponent for exponent in EXPONENTS], strict=strict)
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -3.0, 0.7, 1e-310, 1e30, -1e30])
    found = kernel(np.repeat(x[:, None], len(EXPONENTS), axis=1))
    for k, exponent in enumerate(EXPONENTS):
        with np.errstate(all="ignore"):
            expected = x**exponent
        special = ~np.isfinite(expected) | (expected == 0)
        assert_same(found[special, k], expected[special], exponent)
        np.testing.assert_allclose(found[~special, k], expected[~special], rtol=1e-15, err_msg=str(exponent))


def test_a_half_power_of_a_square_needs_no_choice():
    assert cy.kernel("()->()", name="cube")(lambda x: (x * x)**1.5).operations().selections == 0


# Strict kernels

def strict_of(function, signature="()->()", inputs=("x",)):
    return cy.kernel(signature, name="strict", inputs=list(inputs), strict=True)(function)


AS_WRITTEN = (
    lambda x: x - x,
    lambda x: 0.0 * x,
    lambda x: (x + 1.0) - 1.0,
    lambda x: (x + 1e308) + 1e308,
    lambda x: 0.0 / x,
    lambda x: x + 0.0,
    lambda x: 0.0 - x,
    lambda x: -(x - 1.0),
    lambda x: 3.0 * (0.1 * x),
    lambda x: x / 49.0,
    lambda x: 2.0 * x + 0.3 * x,
    lambda x: np.sign(-x),
    lambda x: np.minimum(x, 0.0),
    lambda x: np.maximum(-0.0, x),
    lambda x: x * -0.0,
    lambda x: x * x - x * x,
    lambda x: np.trunc(x),
    lambda x: np.ceil(x),
    lambda x: (-x) + (-1.0),
    lambda x: x - (x - 1.0),
    lambda x: x + -0.0,
)


def test_strict_kernels_follow_numpy_bit_for_bit():
    kernel = side_by_side(AS_WRITTEN, strict=True)
    for dtype, precision in ((np.float64, "double"), (np.float32, "float")):
        with np.errstate(all="ignore"):
            x = np.array([*SPECIAL, 0.7, -0.7, 2.5], dtype)
            expected = [np.broadcast_to(function(x), x.shape) for function in AS_WRITTEN]
        states = np.repeat(x[:, None], len(AS_WRITTEN), axis=1)
        ways = {"compiled": kernel(states), "alone": np.stack([kernel(state) for state in states])}
        if COMPILER:
            ways["C"] = in_c(kernel.program(), (states,), precision)[0]
        for way, found in ways.items():
            for k, right in enumerate(expected):
                assert_same(found[:, k], right, f"{way}, {precision}: number {k}")


def test_strict_quotients_by_a_subnormal_number():
    kernel = strict_of(lambda a, b, x: np.stack([a / x, b / x]), "(),(),()->(2)", "abx")
    assert kernel(1e-310, 2e-310, 1e-310).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "minimum", "maximum", "less",
    "less_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_xor", "heaviside", "copysign", ])
def test_strict_kernels_round_constants_before_they_judge_them(name):
    """Of constants that are others in float32: zero, infinite, or 1."""
    ufunc = getattr(np, name)
    x = np.array([-2.5, -1e-30, -0.0, 0.0, 0.3, 1.0, 1.0000001, 3e38, np.inf, -np.inf, np.nan], np.float32)
    constants = (1e-200, -1e-200, 1e-46, -1e-46, 1e300, -1e300, 1 + 1e-12, 1 - 1e-12, 0.1)

    def both_ways(x, one=1.0):
        return np.stack([one * value for c in constants for value in (ufunc(c, x), ufunc(x, c))], axis=-1)

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy says that 1e300 is infinite
        expected = both_ways(x, np.float32(1.0))
        found = strict_of(both_ways, f"()->({2 * len(constants)})")(x)
    assert found.dtype == expected.dtype == np.float32
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found) & (found == found), np.signbit(expected) & (found == found))


def test_strict_kernels_do_not_contract():
    kernel = strict_of(lambda a, b: a * b - b * a, "(),()->()", "ab")
    a, b = np.random.default_rng(0).normal(size=(2, 1000))
    assert (kernel(a, b) == 0.0).all()
    products = strict_of(lambda a, b, c: a * b + c, "(),(),()->()", "abc")
    c = -a * b * (1 + 1e-15)
    assert_same(products(a, b, c), a * b + c)
    assert "fp-contract=off" in products.c_source("f").source
    assert "contract" not in cy.kernel("()->()", name="square")(lambda x: x * x).c_source("f").source


def test_elementary_functions_of_strict_kernels():
    def every(x, y, alone):
        return np.stack([getattr(np, op)(*([x, y] if arity == 2 else [alone])) for op, arity in ELEMENTARY.items()],
                        axis=-1)
    kernel = strict_of(every, f"(),(),()->({len(ELEMENTARY)})", ("x", "y", "alone"))
    arguments = *PAIRS, np.resize([*SPECIAL, 0.3, -0.99, 12.5, 1e17], PAIRS[0].shape)
    with np.errstate(all="ignore"):
        expected, found = every(*arguments), kernel(*arguments)
    for op, right, got in zip(ELEMENTARY, expected.T, found.T, strict=True):
        special = ~np.isfinite(right) | (right == 0)
        assert_same(got[special], right[special], op)
        np.testing.assert_array_max_ulp(got[~special], right[~special], 3)


def test_strict_survives_pickling_jacobians_and_calls():
    import pickle
    kernel = strict_of(lambda x: 0.0 * x)
    assert np.isnan(strict_of(lambda x: np.sin(x)**2 + np.cos(x)**2)([np.nan, np.inf])).all()
    assert np.isnan(pickle.loads(pickle.dumps(kernel))(np.nan))
    assert np.isnan(strict_of(lambda x: x * x * 0.0).jacobian("x")(np.inf))
    assert np.isnan(strict_of(lambda x: kernel(x) + 1.0)(np.inf))
    assert kernel.program().key != cy.kernel("()->()")(lambda x: 0.0 * x).program().key


# What real algebra assumes otherwise

def test_what_the_manual_says_of_real_algebra():
    kernel = cy.kernel("()->(4)", name="algebra")(
        lambda x: np.stack([x - x, 0.0 * x, np.sin(x)**2 + np.cos(x)**2, (x + 1e20) - 1e20]))
    assert kernel(np.nan)[:3].tolist() == [0.0, 0.0, 1.0] and kernel(3.0)[3] == 3.0
    quotients = cy.kernel("(),(),()->(2)", name="quotients")(lambda a, b, x: np.stack([a / x, b / x]))
    assert quotients.operations() == Operations(multiplications=2, divisions=1)
    assert quotients(3.0, 5.0, 2.3e-308).tolist() == [3.0 * (1 / 2.3e-308), 5.0 * (1 / 2.3e-308)]
    assert quotients(1e-310, 2e-310, 1e-310).tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("seed", range(4))
def test_random_functions(seed):
    check(seed)


# Derivatives at corners and at the ends of domains

CORNERS = {
    "abs at 0": (lambda x: np.abs(x), 0.0, 0.0),
    "sign at 0": (lambda x: np.sign(x), 0.0, 0.0),
    "floor at 1": (lambda x: np.floor(x), 1.0, 0.0),
    "maximum with a number": (lambda x: np.maximum(x, 0.0), 0.0, 0.0),
    "minimum with a number": (lambda x: np.minimum(1.0, x), 1.0, 0.0),
    "clip at its end": (lambda x: np.clip(x, 0.0, 1.0), 1.0, 0.0),
    "where, holds": (lambda x: cy.where(x <= 0.0, 2.0 * x, 3.0 * x), 0.0, 2.0),
    "where, fails": (lambda x: cy.where(x < 0.0, 2.0 * x, 3.0 * x), 0.0, 3.0),
    "sqrt at 0": (lambda x: np.sqrt(x), 0.0, np.inf),
    "sqrt(x x) at 0": (lambda x: np.sqrt(x * x), 0.0, np.nan),
    "hypot at 0": (lambda x: np.hypot(x, 0.5 * x), 0.0, np.nan),
    "arctan2 at 0": (lambda x: np.arctan2(x, 2.0 * x), 0.0, np.nan),
    "arccos at 1": (lambda x: np.arccos(x), 1.0, -np.inf),
    "arcsin at 1": (lambda x: np.arcsin(x), 1.0, np.inf),
    "log at 0": (lambda x: np.log(x), 0.0, np.inf),
    "remainder at 2": (lambda x: x % 2.0, 2.0, 1.0),
    "x |x| at 0": (lambda x: x * np.abs(x), 0.0, 0.0),
}


def test_derivatives_at_corners():
    functions, at, expected = zip(*CORNERS.values(), strict=True)
    gradient = side_by_side(functions).jacobian("x")
    for found in (gradient(at), interpret(gradient.program(), NUMPY, np.array(at))[0]):
        for k, name in enumerate(CORNERS):
            np.testing.assert_equal(found[k, k], np.float64(expected[k]), err_msg=name)


def test_derivative_of_an_extremum_at_a_tie_is_that_of_the_older_value():
    kernel = cy.kernel("(2)->()", name="tie")(lambda x: np.maximum(x[1], x[0]) + np.minimum(3.0 * x[1], 3.0 * x[0]))
    assert kernel.jacobian("x")([1.0, 1.0]).tolist() == [1.0, 3.0]  # 3 x[1] was made before 3 x[0]
    distance = cy.kernel("(2)->()", name="distance")(lambda x: np.linalg.norm(x))
    assert np.isnan(distance.jacobian("x")([0.0, 0.0])).all()


# One list of operations

COMPUTED = sorted(set(OPERATIONS) - {"input", "constant"} - MARKS - CALLS)  # before a test adds a table to look up


def test_every_operation_has_a_price_and_is_known_to_every_back_end():
    columns = {f for f in Operations.__dataclass_fields__} | {FREE}
    assert all(operation.price in columns for operation in OPERATIONS.values())
    for op in COMPUTED:
        assert callable(RULES[op]) and callable(emitter(OPERATIONS[op]))
        graph = Graph()
        node = graph.node(op, *[graph.input(name) for name in "abc"[:OPERATIONS[op].arity]])
        assert "f(" in c_source(program_like(graph, node)).source
        assert len(jacobian_nodes([node], node.args[-1:])) == 1
    for name in ("NUMPY", "SYMPY", "CASADI", "JAX", "MPMATH"):
        assert all(callable(getattr(algebras, name).function(op)) for op in COMPUTED)


def test_an_operation_that_is_not_listed_is_refused():
    graph = Graph()
    with pytest.raises(UnsupportedError, match="no operation 'bessel': list it"):
        graph.node("bessel", graph.input("x"))
    with pytest.raises(UnsupportedError, match="no operation 'bessel': list it"):
        rule_of("bessel")(graph.input("x"))


@pytest.mark.parametrize("op", [op for op in COMPUTED if op != "negative"])
def test_every_operation_is_counted(op):
    graph = Graph()
    node = graph.node(op, *[graph.input(name) for name in "abc"[:OPERATIONS[op].arity]])
    assert count(program_like(graph, node)).total == 1


def program_like(graph, node):
    from cayley.compiler.tracing.program import Program, Variable
    return Program("f", tuple(Variable(a.value, (), (a,)) for a in node.args), (Variable("out", (), (node,)),))


# C in single precision

def test_constants_that_single_precision_rounds_to_one_or_zero_vanish():
    program = program_of(lambda x, y: (1.0 + 1e-9) * x + 1e-60 * y + (1.0 - 1e-12) * (x * y), "(),()->()",
                         name="almost")
    double, single = c_source(program), c_source(program, precision="float")
    assert "Operations: 3 multiplications, 2 additions." in double.source
    assert "Operations: 1 multiplication, 1 addition." in single.source and "*out = x*(1.0f + y);" in single.source
    assert "1.0f*" not in cuda_source(program, "float")


@needs_compiler
@pytest.mark.parametrize("precision", ["double", "float"])
def test_infinity_and_nan_in_c_are_of_the_precision(precision):
    program = program_of(
        lambda x: np.stack([np.minimum(x, np.inf),
                            np.maximum(x, -np.inf),
                            cy.where(x < 0, np.nan, x)]), "()->(3)", name="ends")
    assert "-Wdouble-promotion" in STRICT
    found = in_c(program, (np.array([2.0, -3.0]),), precision)[0]
    np.testing.assert_equal(found, [[2.0, 2.0, 2.0], [-3.0, -3.0, np.nan]])


# Long programs of elementary functions

def test_a_thousand_sines_are_calls_of_one_function():
    def text(x):
        for _ in range(500):
            x = np.sin(x) + np.arctan2(x, np.cos(x))
        return x
    kernel = cy.kernel("()->()", name="deep")(text)
    core = llvm.Core(kernel.program(), 4, "double", fused=True)
    part = core.part(0)
    assert core.calls and sum("sincos" in name for name in part.functions) == 1 and len(part.text()) < 400_000
    x = np.linspace(-1.0, 1.0, 9)
    np.testing.assert_allclose(kernel(x), text(x), rtol=1e-9)
    assert_same([kernel(state) for state in x], kernel(x))


@pytest.mark.parametrize("step, called", [
    (np.sin, True), (np.exp, True), (lambda x: np.hypot(x, 0.3), True), (lambda x: 0.7 * x * x + 0.3, False),
    (lambda x: np.sqrt(x * x + 0.1), False), (lambda x: np.sign(x - 0.3) * x - 0.1, False)],
    ids=["sin", "exp", "hypot", "polynomial", "sqrt", "sign"])
def test_functions_are_called_where_they_are_many_and_written_out_where_they_are_few(step, called):
    def text(x):
        for _ in range(200):
            x = step(x)
        return np.arctan(x)
    program = cy.kernel("()->()", name="repeated", inputs=["x"])(text).program()
    assert llvm.Core(program, 4, "double", fused=True).calls is called
