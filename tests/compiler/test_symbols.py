"""What Python and NumPy can do with symbols, and what they answer when they cannot."""

import copy
import itertools
import math
import operator
import pickle

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.graph import Graph, Node, ancestors, apply, is_constant
from cayley.compiler.tracing.symbols import Symbols, input_symbols, symbols, where
from cayley.compiler.tracing.trace import trace
from cayley.errors import TraceError, UnsupportedError
from compiler.digits import in_floats


@pytest.fixture
def graph():
    return Graph()


@pytest.fixture
def x(graph):
    return input_symbols(graph, "x", (3,))


@pytest.fixture
def A(graph):
    return input_symbols(graph, "A", (3, 3))


def test_equal_expressions_are_one_node(graph, x):
    a, b, c = x
    assert a + b is b + a and a * b is b * a and a / b is a / b and b - a is -(a - b)
    assert a.sin() is np.sin(x)[0] and (a + b).cos() is (b + a).cos()
    assert (a * b) * 2.0 is 2.0 * (b * a)
    assert graph.input("x[0]") is a and graph.constant(2) is graph.constant(2.0)
    assert (a < b) is (b > a) and (a <= b) is (b >= a)
    size = graph.size
    assert (a + b) * c is c * (b + a) and graph.size == size + 1
    assert [n.index for n in ancestors([(a + b) * c])] == sorted(n.index for n in (a, b, c, a + b, (a + b) * c))


@pytest.mark.parametrize("use", [
    lambda s: 1 if s > 0 else 2,
    lambda s: s and 1,
    lambda s: not s,
    lambda s: 0 < s < 1,
    lambda s: max(s, 1.0),
    lambda s: s in [2.0],
    lambda s: sorted([s, 1.0]),
    lambda s: [1 for _ in range(2) if s == 1.0],
    lambda s: bool(s == s),
    lambda s: any([s > 1.0]), ])
def test_a_branch_on_a_value_names_the_replacement(x, use):
    with pytest.raises(TraceError, match=r"cy\.where"):
        use(x[0])


@pytest.mark.parametrize("use, message", [
    (float, "NumPy's functions instead of those of math"),
    (math.sin, "NumPy's functions"),
    (lambda s: math.hypot(s, 1.0), "NumPy's functions"),
    (int, r"np\.floor"),
    (range, "shapes must not depend"),
    (lambda s: [1, 2][s], "shapes must not depend"),
    (lambda s: np.zeros(3).__setitem__(0, s), "dtype=object"),
    (lambda s: np.array([s, 1.0], dtype=float), "dtype=object"), ])
def test_a_symbol_is_not_a_number(x, use, message):
    with pytest.raises(TraceError, match=message):
        use(x[0])


def test_a_symbol_is_not_a_sequence_or_a_value_to_copy(x):
    for use in (list, len, lambda s: (lambda *a: a)(*s), copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            use(x[0])


def test_constants_are_numbers(graph):
    two = graph.constant(2.0)
    assert float(two) == 2.0 and int(two) == 2 and [5, 6, 7][two] == 7 and bool(two) and repr(two) == "2.0"
    with pytest.raises(TypeError, match=r"1\.5 is not an integer"):
        [1, 2][graph.constant(1.5)]


def test_numbers_that_nodes_accept(graph, x):
    s = x[0]
    for two in (2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2.0), graph.constant(2)):
        assert s * two is 2.0 * s and two * s is 2.0 * s and two - s is 2.0 - s
    assert s * True is s and s * np.bool_(True) is s
    for other in (1j, "a", None, [1.0]):
        with pytest.raises(TypeError):
            s + other
    assert (s == None) is False and (s != None) is True and (s == "a") is False and (s != "a") is True  # noqa: E711


def test_symbols_of_two_traces_do_not_mix(x):
    other = Graph().input("y")
    for use in (lambda: x[0] + other, lambda: x * other, lambda: np.where(x > 0.0, other, x),
                lambda: apply("hypot", x[0], other), lambda: np.stack([x[0], other]).sum()):
        with pytest.raises(TraceError, match="another"):
            use()


# What NumPy can do with symbols

POINT = {"x": np.array([0.3, -0.7, 0.6]), "y": np.array([0.5, 0.2, -0.4]),
         "A": np.array([[0.4, 0.1, -0.3], [0.7, -0.2, 0.5], [0.9, 0.8, -0.6]])}
MASK = np.array([True, False, True])

NUMPY_CASES = {
    **{
        f"np.{name}": (lambda x, y, A, name=name: getattr(np, name)(x))
        for name in ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "exp", "absolute", "fabs", "sign", "floor",
                     "ceil", "trunc", "negative", "positive", "square", "reciprocal", "deg2rad", "radians", "rad2deg",
                     "degrees", "conjugate", "sum", "prod", "max", "min", "amax", "amin", "mean", "diag", "cumsum",
                     "diff", "ravel", "flip", "real", "std", "var", "average", "atleast_2d", "zeros_like")},
    **{
        f"np.{name}(x, y)": (lambda x, y, A, name=name: getattr(np, name)(x, y))
        for name in ("add", "subtract", "multiply", "divide", "arctan2", "hypot", "minimum", "maximum", "remainder",
                     "floor_divide", "cross", "outer", "dot", "inner", "vdot", "vecdot", "kron", "append")},
    "np.sqrt": lambda x, y, A: np.sqrt(x * x),
    "np.log": lambda x, y, A: np.log(x * x),
    "np.power": lambda x, y, A: np.power(x, 3),
    "x**[0, 1, 2]": lambda x, y, A: x**np.arange(3),
    "x**-2.0": lambda x, y, A: x**-2.0,
    "np.float_power": lambda x, y, A: np.float_power(x, 2),
    "A @ x": lambda x, y, A: A @ x,
    "x @ A": lambda x, y, A: x @ A,
    "x @ y": lambda x, y, A: x @ y,
    "A @ A": lambda x, y, A: A @ A,
    "floats @ A": lambda x, y, A: np.arange(9.0).reshape(3, 3) @ A,
    "A @ floats": lambda x, y, A: A @ np.array([1.0, 0.0, 2.0]),
    "A.dot(x)": lambda x, y, A: A.dot(x),
    "np.matmul of none": lambda x, y, A: A[:, :0] @ x[:0],
    "np.tensordot": lambda x, y, A: np.tensordot(A, x, 1),
    "np.cross of rows": lambda x, y, A: np.cross(A, x),
    "np.cross of a list": lambda x, y, A: np.cross([1.0, 0.0, 0.0], x),
    "np.trace": lambda x, y, A: np.trace(A),
    "A.trace()": lambda x, y, A: A.trace(),
    "np.diagonal": lambda x, y, A: np.diagonal(A),
    "norm": lambda x, y, A: np.linalg.norm(x),
    "norm of rows": lambda x, y, A: np.linalg.norm(A, axis=1),
    "norm 2": lambda x, y, A: np.linalg.norm(x, 2),
    "norm of a matrix": lambda x, y, A: np.linalg.norm(A),
    "norm fro": lambda x, y, A: np.linalg.norm(A, "fro"),
    "norm keepdims": lambda x, y, A: np.linalg.norm(A, axis=0, keepdims=True),
    "det": lambda x, y, A: np.linalg.det(A),
    "det of two": lambda x, y, A: np.linalg.det(A[:2, 1:]),
    "det of one": lambda x, y, A: np.linalg.det(A[:1, :1]),
    "det of none": lambda x, y, A: np.linalg.det(A[:0, :0]),
    "det of four": lambda x, y, A: np.linalg.det(np.block([[A, x[:, None]], [y, 1.0]])),
    "einsum": lambda x, y, A: np.einsum("ij,jk,k->i", A, A, x),
    "einsum trace": lambda x, y, A: np.einsum("ii", A),
    "np.stack": lambda x, y, A: np.stack([x, y, [1.0, 2.0, 3.0]]),
    "np.stack scalars": lambda x, y, A: np.stack([x[0], 1.0, y[1]]),
    "np.concatenate": lambda x, y, A: np.concatenate([x, [1.0], y]),
    "np.hstack": lambda x, y, A: np.hstack([x, y]),
    "np.vstack": lambda x, y, A: np.vstack([x, A]),
    "np.block": lambda x, y, A: np.block([[A, x[:, None]], [np.zeros((1, 3)), 1.0]]),
    "np.column_stack": lambda x, y, A: np.column_stack([x, y]),
    "np.split": lambda x, y, A: np.sin(np.split(x, 3)[1]),
    "np.where": lambda x, y, A: np.where(x > 0.0, x, y),
    "np.where of a scalar": lambda x, y, A: np.where(x[0] < y[0], A, 0.0),
    "np.where of booleans": lambda x, y, A: np.where(MASK, x, 1.0),
    "cy.where": lambda x, y, A: where(x <= y, np.sin(x), y),
    "np.clip": lambda x, y, A: np.clip(x, -0.5, 0.5),
    "x.clip": lambda x, y, A: x.clip(-0.5, 0.5),
    "np.clip low": lambda x, y, A: np.clip(x, y, None),
    "np.clip high": lambda x, y, A: np.clip(A, None, 0.5),
    "np.max all": lambda x, y, A: np.max(A),
    "A.max()": lambda x, y, A: A.max(),
    "np.max axis": lambda x, y, A: np.max(A, axis=1, keepdims=True),
    "np.min axes": lambda x, y, A: np.min(A, axis=(0, 1)),
    "np.max initial": lambda x, y, A: np.max(x, initial=0.5),
    "np.sum axis": lambda x, y, A: np.sum(A, axis=0),
    "A.sum()": lambda x, y, A: A.sum(),
    "A.mean(axis=1)": lambda x, y, A: A.mean(axis=1),
    "np.prod axis": lambda x, y, A: np.prod(A, axis=1),
    "sum of Python": lambda x, y, A: sum(x),
    "np.sum of a list": lambda x, y, A: np.sum([x[0], y[0], 1.0]),
    "np.add.reduce": lambda x, y, A: np.add.reduce(A, axis=1),
    "np.add.accumulate": lambda x, y, A: np.add.accumulate(x),
    "np.multiply.outer": lambda x, y, A: np.multiply.outer(x, y),
    "<": lambda x, y, A: 1.0 * (x < y),
    "<=": lambda x, y, A: 1.0 * (x <= y),
    ">": lambda x, y, A: 1.0 * (x > y),
    ">=": lambda x, y, A: 1.0 * (x >= y),
    "==": lambda x, y, A: 1.0 * (x == y),
    "!=": lambda x, y, A: 1.0 * (x != y),
    "x[0] != y": lambda x, y, A: 1.0 * (x[0] != y),
    "&": lambda x, y, A: 1.0 * ((x < y) & (x > 0)),
    "|": lambda x, y, A: 1.0 * ((x < y) | (x > 0)),
    "~": lambda x, y, A: 1.0 * ~(x < y),
    "np.logical_and": lambda x, y, A: 1.0 * np.logical_and(x < y, x > 0),
    "np.logical_or": lambda x, y, A: 1.0 * np.logical_or(x < y, x > 0),
    "np.logical_not": lambda x, y, A: 1.0 * np.logical_not(x < y),
    "np.all": lambda x, y, A: 1.0 * np.all(x < 1.0),
    "np.any": lambda x, y, A: 1.0 * np.any(A > 0.85, axis=0),
    ".all()": lambda x, y, A: 1.0 * (A < 0.5).all(axis=1),
    ".any()": lambda x, y, A: 1.0 * (x > 1.0).any(),
    "~ of mixed": lambda x, y, A: np.where(~(np.concatenate([x, [1.0, -1.0]]) > 0), 1.0, 2.0),
    "functions of mixed": lambda x, y, A: np.sin(np.concatenate([x, [1.0, -1.0]])),
    "quotient of mixed": lambda x, y, A: 1.0 / np.concatenate([x, [2.0]]),
    "power of mixed": lambda x, y, A: np.concatenate([x, [2, 3]])**2,
    "x % 0.4": lambda x, y, A: x % 0.4,
    "x // 0.4": lambda x, y, A: x // 0.4,
    "abs": lambda x, y, A: abs(x),
    "slices": lambda x, y, A: A[1:, ::2] - A.T[0, :2, None],
    "index list": lambda x, y, A: x[[2, 0]],
    "mask of booleans": lambda x, y, A: x[MASK],
    "np.take": lambda x, y, A: np.take(x, [0, 2]),
    "np.roll": lambda x, y, A: np.roll(x, 1),
    "np.tile": lambda x, y, A: np.tile(x, 2),
    "np.triu": lambda x, y, A: np.triu(A),
    "np.broadcast_to": lambda x, y, A: np.broadcast_to(x[0], (2, 2)),
    "np.polyval": lambda x, y, A: np.polyval([1.0, 2.0, 3.0], x),
    "reshape": lambda x, y, A: A.reshape(-1)[::2],
    "np.swapaxes": lambda x, y, A: np.swapaxes(A, 0, 1),
    "np.squeeze": lambda x, y, A: np.squeeze(x[:1]),
    "full": lambda x, y, A: x + np.full_like(x, 2.0),
    "eye": lambda x, y, A: np.eye(3) - 2.0 * np.outer(x, x),
    "float array * symbol": lambda x, y, A: np.arange(3.0) * x[0],
    "plain object array": lambda x, y, A: np.array([[x[0], 1.0], [0.0, x[1]]]) @ np.array([x[0], 2.0]),
    "np.sqrt of plain": lambda x, y, A: np.sqrt(np.array([x[0], x[2]])),
    "plain @ symbols": lambda x, y, A: np.array([x[0], 0.0, 1.0]) @ A,
    "np.cross of plain": lambda x, y, A: np.cross(np.array([x[0], 0.0, 1.0]), y), }


def in_place(x, y, A):
    x = x.copy()
    x += 1.0
    x[1:] *= y[:2]
    x[0] -= A[0, 0]
    return x


def assigned(x, y, A):
    table = np.zeros((2, 3), dtype=np.asarray(x).dtype)
    table[0] = x
    table[1, 1:] = y[:2]
    return table @ A


def written_out(x, y, A):
    out = np.empty(3, dtype=np.asarray(x).dtype)
    np.matmul(A, x, out=out)
    return np.add(out, y, out=out)


@pytest.mark.parametrize("function", [*NUMPY_CASES.values(), in_place, assigned, written_out],
                         ids=[*NUMPY_CASES, "in_place", "assigned", "written_out"])
def test_numpy_gives_the_same_on_symbols_and_on_floats(function):
    graph = Graph()
    arguments = [input_symbols(graph, name, value.shape) for name, value in POINT.items()]
    result = function(*arguments)
    expected = function(*POINT.values())
    array = np.asarray(result, dtype=object)
    assert array.shape == np.shape(expected)
    if array.ndim:
        assert isinstance(result, np.ndarray)
    nodes = [graph.lift(v) for v in array.flat]
    values = {
        f"{name}[{', '.join(map(str, i))}]": value[i]
        for name, value in POINT.items()
        for i in np.ndindex(value.shape)}
    np.testing.assert_allclose(in_floats(nodes, values).reshape(array.shape), expected, rtol=1e-13, atol=1e-15)


def test_results_stay_symbols(x, A):
    for result in (x + 1.0, 1.0 * x, np.sin(x), A @ x, np.cross(x, x), np.stack([x[0], 1.0]), np.zeros_like(x), A[0],
                   A.T, x[::-1], np.split(x, 3)[0]):
        assert isinstance(result, Symbols)
    for result in (x[0], np.sum(x), x @ x, np.linalg.norm(x), np.max(A), np.sin(x[0]), np.where(x[0] > 0.0, 1.0, x[1])):
        assert isinstance(result, Node)
    assert all(isinstance(element, Node) for element in x) and [type(row) for row in A] == [Symbols] * 3
    assert isinstance(symbols([x[0], 1.0]), Symbols)


REFUSED = {
    "np.fmin": (lambda x, A: np.fmin(x, 0.0), r"np\.minimum"),
    "np.fmax": (lambda x, A: np.fmax(x, 0.0), r"np\.maximum"),
    "np.nan_to_num": (lambda x, A: np.nan_to_num(x), r"cy\.where"),
    "inv": (lambda x, A: np.linalg.inv(A[:2]), "square matrices"),
    "solve": (lambda x, A: np.linalg.solve(A, x[:2]), "3 equations"),
    "svd": (lambda x, A: np.linalg.svd(A), r"cy\.newton"),
    "eigvalsh": (lambda x, A: np.linalg.eigvalsh(A), r"cy\.newton"),
    "singular values": (lambda x, A: np.linalg.lstsq(A, x)[3][0], "singular values"),
    "rcond": (lambda x, A: np.linalg.pinv(A, rcond=x[0]), "one number"),
    "linalg.cross": (lambda x, A: np.linalg.cross(x, x), r"use np\.cross"),
    "fft": (lambda x, A: np.fft.fft(x), "write it out"),
    "np.sort": (lambda x, A: np.sort(x), r"np\.minimum"),
    "np.argmax": (lambda x, A: np.argmax(x), r"cy\.where"),
    "np.argmin": (lambda x, A: np.argmin(x), r"cy\.where"),
    "np.argsort": (lambda x, A: np.argsort(x), r"cy\.where"),
    "np.nonzero": (lambda x, A: np.nonzero(x), r"cy\.where"),
    "np.where alone": (lambda x, A: np.where(x > 0.0), r"cy\.where"),
    "np.isclose": (lambda x, A: np.isclose(x, x), "tolerance"),
    "np.allclose": (lambda x, A: np.allclose(x, x), "must not ask"),
    "np.array_equal": (lambda x, A: np.array_equal(x, x), "must not ask"),
    "np.unique": (lambda x, A: np.unique(x), "numpy.unique"),
    "np.interp": (lambda x, A: np.interp(x, [0.0, 1.0], [2.0, 3.0]), "numpy.interp"),
    "np.median": (lambda x, A: np.median(x), "numpy.median"),
    "norm 1": (lambda x, A: np.linalg.norm(x, 1), "as a sum"),
    "norm 2 of a matrix": (lambda x, A: np.linalg.norm(A, 2), "Frobenius"),
    "norm 2 of axes": (lambda x, A: np.linalg.norm(A, 2, axis=(0, 1)), "Frobenius"),
    "det of a rectangle": (lambda x, A: np.linalg.det(A[:2]), "square matrices"),
    "into floats": (lambda x, A: np.add(x, 1.0, out=np.zeros(3)), "dtype=object"),
    "np.add where": (lambda x, A: np.add(x, x, out=x.copy(), where=MASK), r"cy\.where"),
    "x**0.3": (lambda x, A: x**0.3, r"np\.exp"),
    "np.vectorize": (lambda x, A: np.vectorize(lambda a: a)(x), "cannot be traced"), }


@pytest.mark.parametrize("use, message", REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_traced_names_the_replacement(x, A, use, message):
    with pytest.raises(UnsupportedError, match=message):
        use(x, A)


def test_in_place_addition_to_floats_is_refused(x):
    total = np.zeros(3)
    with pytest.raises(UnsupportedError, match="dtype=object"):
        total += x
    with pytest.raises(TraceError, match="dtype=object"):
        total[:] = x
    with pytest.raises(ValueError, match=r"use \* for scalars"):
        x[0] @ x


# Errors of a trace name the line


def traced(function):
    return trace(function, Signature.parse("(3)->(3)"), {}, name="law", inputs=["x"])


@pytest.mark.parametrize("function, reason, line", [
    (lambda x: np.zeros(3) if x[0] > 0.0 else x, r"cy\.where", "if x[0] > 0.0"),
    (lambda x: np.fmin(x, 0.0), r"np\.minimum", "np.fmin(x, 0.0)"),
    (lambda x: x * math.sin(x[0]), "NumPy's functions", "math.sin"),
    (lambda x: np.sin(np.array([x[0], 1.0, 0.0])), r"np\.stack", "np.sin(np.array("),
    (lambda x: x[x > 0.0], r"cy\.where", "x[x > 0.0]"),
    (lambda x: np.linalg.inv(x), "square matrices", "np.linalg.inv"),
    (lambda x: x.foo, "foo", "x.foo"),
    (lambda x: x + np.zeros(4), "broadcast", "np.zeros(4)"), ])
def test_the_error_names_the_line(function, reason, line):
    with pytest.raises(TraceError, match=reason) as caught:
        traced(function)
    assert "law cannot be traced, line" in str(caught.value) and "test_symbols.py" in str(caught.value) and line in str(
        caught.value)


def test_a_trace_of_everything_at_once():
    made = traced(lambda x: np.array([x[0], 2.0, x[1] < x[2]]))
    assert [node.op for node in made.results] == ["input", "constant", "where"]
    assert is_constant(made.results[1], 2.0) and [v.shape for v in made.inputs + made.outputs] == [(3,), (3,)]


SPECIAL = [0.0, -0.0, 1.0, -2.5, 1e200, -1e200, 5e-324, np.inf, -np.inf, np.nan]
OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    "divmod": lambda a, b: divmod(a, b)[0], }


@pytest.mark.parametrize("operation", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("taken", [
    lambda pair: pair[0],
    lambda pair: next(iter(pair)),
    lambda pair: np.prod(pair[:1]),
    lambda pair: np.reshape(pair, (2, 1))[0, 0], ], ids=["index", "iteration", "product", "two indices"])
def test_a_number_among_symbols_computes_as_one_of_numpy(x, operation, taken):
    with np.errstate(all="ignore"):
        for a, b in itertools.product(SPECIAL, SPECIAL):
            among_symbols = taken(np.stack([a, x[0]]))
            expected = taken(np.stack([a, 2.0]))
            np.testing.assert_array_equal(operation(among_symbols, b), operation(expected, b), f"{a} and {b}")
            np.testing.assert_array_equal(operation(b, among_symbols), operation(b, expected), f"{b} and {a}")


def test_whole_numbers_among_symbols_are_floats(x):
    with np.errstate(all="ignore"):
        for number in (np.stack([1, x[0]])[0], np.ones_like(x)[0]):
            assert number / 0 == np.inf and 2**-number == 0.5 and np.isnan(number % 0) and number // 0 == np.inf


@pytest.mark.parametrize("text", [
    lambda x: np.stack([1.0, x])[0] / 0.0,
    lambda x: np.stack([1e200, x])[0]**2,
    lambda x: np.stack([0.0, x])[0]**-1,
    lambda x: sum(number // 0.0 for number in np.stack([1.0, x])) + x, ], ids=["/", "overflow", "**-1", "//"])
def test_kernels_divide_numbers_among_symbols_by_zero(text):
    assert kernel("()->()")(text)(1.0) == np.inf
