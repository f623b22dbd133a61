"""Derivatives on the graph against mpmath's numerical differentiation in 60 digits."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cayley.compiler.algebras.counts import count
from cayley.compiler.derivatives import derivative
from cayley.compiler.derivatives.derivative import (
    forward,
    independent,
    jacobian,
    jacobian_nodes,
    jacobian_program,
    reverse,
)
from cayley.compiler.operations import CALLS, OPERATIONS
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.graph import RULES, Graph, ancestors, is_constant
from cayley.compiler.tracing.program import Program, Variable, variable
from cayley.compiler.tracing.simplify import simplify
from cayley.compiler.tracing.symbols import Symbols, input_symbols, where
from cayley.compiler.tracing.trace import trace
from cayley.errors import SignatureError, TraceError, UnsupportedError
from compiler.digits import DIGITS, MP, evaluate, in_floats
from compiler.mechanisms import inverse_dynamics, program_of

POINTS = {  # for each operation that has a derivative, operands inside its domain, and not at a corner
    "add": [(0.3, -1.7)], "subtract": [(0.3, -1.7)], "multiply": [(0.3, -1.7), (-2.1, 0.4)],
    "divide": [(0.3, -1.7), (-2.1, 0.4)],
    "negative": [(0.7,)], "independent": [(0.7,)], "sqrt": [(0.7,), (31.0,)], "sin": [(0.7,), (-4.1,)],
    "cos": [(0.7,), (-4.1,)],
    "tan": [(0.7,), (2.1,)], "arcsin": [(0.7,), (-0.96,)], "arccos": [(0.7,), (-0.96,)], "arctan": [(0.7,), (-31.0,)],
    "arctan2": [(0.7, 1.3), (0.7, -1.3), (-0.7, -1.3), (-0.7, 1.3)], "hypot": [(0.7, -1.3), (3.0, 4.0)],
    "exp": [(0.7,), (-3.0,)],
    "log": [(0.7,), (31.0,)], "absolute": [(0.7,), (-1.3,)], "minimum": [(0.7, 1.3), (1.3, 0.7)],
    "maximum": [(0.7, 1.3), (1.3, 0.7)],
    "where": [(1.0, 0.7, 1.3), (0.0, 0.7, 1.3)], "sign": [(0.7,), (-1.3,)], "floor": [(0.7,), (-1.3,)],
    "sinh": [(0.7,), (-2.0,)], "cosh": [(0.7,), (-2.0,)], "tanh": [(0.7,), (-2.0,)], "arcsinh": [(0.7,), (-31.0,)],
    "arccosh": [(1.2,), (31.0,)], "arctanh": [(0.7,), (-0.96,)], "expm1": [(0.7,), (-3.0,)], "exp2": [(0.7,), (-3.0,)],
    "log1p": [(0.7,), (-0.9,)], "log2": [(0.7,), (31.0,)], "log10": [(0.7,), (31.0,)], "cbrt": [(0.7,), (-31.0,)],
    "copysign": [(0.7, 1.3), (0.7, -1.3), (-0.7, -1.3)],
    "rint": [(0.7,), (-1.3,)], "fmod": [(0.7, 0.3), (-0.7, 0.3), (0.7, -0.3)],
    "remainder": [(0.7, 0.3), (-0.7, 0.3), (0.7, -0.3)], "floor_divide": [(0.7, 0.3), (-0.7, 0.3)],
}


def scalars(graph, *names):
    return [graph.input(name) for name in names]


def close(found, expected, tolerance=1e-35):
    return all(abs(f - e) <= tolerance * (1 + abs(e)) for f, e in zip(found, expected, strict=True))


def partial(function, values, k):
    """d function / d values[k], numerically."""
    return MP.diff(lambda x: function(*values[:k], x, *values[k + 1:]), values[k])


# Each operation


def test_every_operation_with_a_derivative_is_tried():
    # see test_roots for implied values, test_shared_programs for calls
    smooth = {name for name, operation in OPERATIONS.items() if not operation.is_flat}
    assert set(POINTS) >= smooth - {"implied"} - CALLS


@pytest.mark.parametrize("op, point", [(op, point) for op, points in POINTS.items() for point in points])
def test_derivative_of_each_operation(op, point):
    graph, values = Graph(), [MP.mpf(v) for v in point]
    operands = scalars(graph, *"abc"[:len(point)])
    node = graph.node(op, *operands)
    given_values = dict(zip("abc", point, strict=False))
    start = 1 if op == "where" else 0
    tolerance = 1e-16 if op in ("exp2", "log2", "log10") else 1e-35  # the logarithm of the base is a float
    for k in range(start, len(point)):
        expected = partial(DIGITS[op], values, k)
        by = [operands[k]]
        for found in (forward([node], by, [1.0]), reverse([node], by, [1.0]), jacobian_nodes([node], by)[0]):
            assert close(evaluate(found, given_values), [expected], tolerance)
    is_flat = all(is_constant(d, 0.0) for d in jacobian_nodes([node], operands).flat)
    assert is_flat == (op in ("sign", "floor", "rint", "floor_divide"))


@pytest.mark.parametrize("op", ["less", "less_equal", "equal", "and", "not", "sign", "floor"])
def test_steps_have_the_derivative_zero(op):
    graph = Graph()
    a, b = scalars(graph, "a", "b")
    condition = RULES[op](a) if op in ("not", "sign", "floor") else RULES[op](a, b)
    result = RULES["where"](condition, b * b, b)
    assert is_constant(jacobian_nodes([result], [a])[0, 0], 0.0)
    assert is_constant(jacobian_nodes([RULES["multiply"](condition, b)], [a])[0, 0], 0.0)
    assert not is_constant(jacobian_nodes([result], [b])[0, 0], 0.0)


def test_results_are_used_again():
    graph = Graph()
    x, y = scalars(graph, "x", "y")
    assert forward([x.exp()], [x], [1.0])[0] is x.exp()
    assert forward([x.sin()], [x], [1.0])[0] is x.cos()
    assert forward([x.sqrt()], [x], [1.0])[0] is 0.5 / x.sqrt()
    assert forward([x.hypot(y)], [x], [1.0])[0] is x / x.hypot(y)
    assert forward([1.0 / x], [x], [1.0])[0] is -((1.0 / x) / x)


def test_an_operation_without_a_derivative_is_refused():
    graph = Graph()
    x = graph.input("x")
    with pytest.raises(UnsupportedError, match="gamma"):
        jacobian_nodes([graph.node("gamma", x)], [x])


# Whole functions

UNARY = {
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
    "arctan": lambda a: a.arctan(),
    "exp": lambda a: a.sin().exp(),
    "root": lambda a: (1.0 + a * a).sqrt(),
    "log": lambda a: (1.5 + a * a).log(),
    "arcsin": lambda a: (0.75 * a.cos()).arcsin(),
    "arccos": lambda a: (0.75 * a.cos()).arccos(),
    "tan": lambda a: a.sin().tan(),
    "negative": lambda a: -a,
    "absolute": abs, }
BINARY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / (2.0 + b.sin()),
    "arctan2": lambda a, b: a.arctan2(2.0 + b.cos()),
    "hypot": lambda a, b: a.hypot(1.0 + b * b),
    "minimum": lambda a, b: RULES["minimum"](a, b),
    "maximum": lambda a, b: RULES["maximum"](a, b),
    "where": lambda a, b: RULES["where"](a < b, a * b, b - a), }
SEEDS = st.integers(0, 2**64)


def random_function(random, length):
    """Three outputs of three variables, made step by step."""
    graph = Graph()
    variables = scalars(graph, "x", "y", "z")
    pool = list(variables)
    for _ in range(length):
        name, a, b = random.choice([*UNARY, *BINARY]), random.choice(pool[-4:]), random.choice(pool)
        made = UNARY[name](a) if name in UNARY else BINARY[name](a, b)
        if made.op != "constant":  # which would be rounded to double
            pool.append(made)
    return pool[-3:], variables


@given(SEEDS, st.integers(3, 25))
def test_forward_reverse_and_jacobian_agree_with_numerical_differentiation(seed, length):
    random = Random(seed)
    outputs, variables = random_function(random, length)
    values, direction, weights = ([random.uniform(0.2, 1.7) for _ in range(3)] for _ in range(3))
    at = dict(zip("xyztuvabc", [*values, *direction, *weights], strict=True))
    tangents, adjoints = scalars(variables[0].graph, *"tuv"), scalars(variables[0].graph, *"abc")
    between = derivative._between(outputs, variables)
    matrices = [MP.matrix(3, 3), MP.matrix(3, 3), MP.matrix(3, 3)]
    for k, nodes in enumerate([jacobian_nodes(outputs, variables), derivative._by_columns(outputs, variables, between),
                               derivative._by_rows(outputs, variables, between)]):
        matrices[k][:, :] = MP.matrix(np.reshape(evaluate(list(nodes.flat), at), (3, 3)).tolist())
    J = matrices[0]
    assert all(close(M, J) for M in matrices[1:])
    pushed, pulled = evaluate(forward(outputs, variables, tangents),
                              at), evaluate(reverse(outputs, variables, adjoints), at)
    assert close(pushed, J * MP.matrix(direction))
    assert close(pulled, J.T * MP.matrix(weights))

    def along(t):
        moved = {name: MP.mpf(v) + t * MP.mpf(d) for name, v, d in zip("xyz", values, direction, strict=True)}
        return MP.fdot(weights, evaluate(outputs, moved))
    assert close([MP.diff(along, 0)], [MP.fdot(weights, pushed)], 1e-25)


def hilly(x, y):
    return (x.sin() * y).exp() / (1.0 + x * x + y * y).sqrt() + x.arctan2(y) * (x / y) + (0.5 * x).arcsin() * y.log()


def hilly_in_digits(x, y):
    return (MP.exp(MP.sin(x) * y) / MP.sqrt(1 + x * x + y * y) + MP.atan2(x, y) * (x / y) + MP.asin(x / 2) * MP.log(y))


def test_second_derivatives():
    graph = Graph()
    x, y = scalars(graph, "x", "y")
    gradient = jacobian_nodes([hilly(x, y)], [x, y])[0]
    hessian = jacobian_nodes(list(gradient), [x, y])
    at = (MP.mpf("0.625"), MP.mpf("1.375"))
    found = evaluate(list(hessian.flat), {"x": at[0], "y": at[1]})
    expected = [MP.diff(hilly_in_digits, at, order) for order in ((2, 0), (1, 1), (1, 1), (0, 2))]
    assert close(found, expected, 1e-30)
    assert abs(found[1] - found[2]) < 1e-50
    third = jacobian_nodes(list(hessian.flat), [x, y])
    expected = [
        MP.diff(hilly_in_digits, at, order)
        for order in ((3, 0), (2, 1), (2, 1), (1, 2), (2, 1), (1, 2), (1, 2), (0, 3))]
    assert close(evaluate(list(third.flat), {"x": at[0], "y": at[1]}), expected, 1e-25)


def test_structural_zeros_are_constants():
    graph = Graph()
    x = input_symbols(graph, "x", (4,))
    outputs = [x[0] * x[1], x[1].sin(), graph.constant(3.0), x[3], x[2] - x[2]]
    expected = [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    between = derivative._between(outputs, list(x))
    both = [mode(outputs, list(x), between) for mode in (derivative._by_columns, derivative._by_rows)]
    for J in (jacobian_nodes(outputs, list(x)), *both):
        assert [[int(not is_constant(d, 0.0)) for d in row] for row in J] == expected
        assert is_constant(J[3, 3], 1.0)


def test_repeated_and_missing_variables():
    graph = Graph()
    x, y = scalars(graph, "x", "y")
    f = x * y
    assert [d is y for d in jacobian_nodes([f, f], [x, x]).flat] == [True] * 4
    assert forward([f], [x, x], [1.0, 2.0])[0] is 3.0 * y
    assert reverse([f, f], [x], [1.0, 2.0])[0] is 3.0 * y
    assert jacobian_nodes([], [x, y]).shape == (0, 2)
    assert jacobian_nodes([f], []).shape == (1, 0)


# Branches

BOTH = pytest.mark.parametrize("mode",
                               [lambda f, x: forward([f], [x], [1.0])[0], lambda f, x: reverse([f], [x], [1.0])[0]],
                               ids=["forward", "reverse"])


def slope(mode, function, at):
    graph = Graph()
    x = graph.input("x")
    return in_floats([mode(function(x), x)], {"x": at})[0]


@BOTH
@pytest.mark.parametrize("function, expected", [
    (lambda x: where(x > 0.0, x.sqrt(), 0.0), {-1.0: 0.0, 0.0: 0.0, 4.0: 0.25}),
    (lambda x: where(x <= 0.0, 0.0, x.log()), {-1.0: 0.0, 0.0: 0.0, 4.0: 0.25}),
    (lambda x: where(x > 0.0, (2.0 * x * x).sqrt(), 3.0 * x), {0.0: 3.0, -2.0: 3.0, 2.0: math.sqrt(2.0)}),
    (lambda x: where(x > 0.0, where(x > 1.0, (x - 1.0).sqrt(), 0.0),
                     (-x).sqrt()), {1.0: 0.0, 0.5: 0.0, 2.0: 0.5, -4.0: -0.25}),
    (lambda x: where(x > 1.0, (x - 1.0).sqrt(), 0.0) + where(x > 2.0, (x - 2.0).log(), 0.0), {
        1.0: 0.0, 2.0: 0.5, 0.0: 0.0, 3.0: 0.5 / math.sqrt(2.0) + 1.0}),
    (lambda x: where(x > 0.0, x, 1.0).sqrt() + where(x > 0.0, x.log(), x), {0.0: 1.0, 4.0: 0.5, -1.0: 1.0}),
    (lambda x: where(x * x > 0.0, (x * x).sqrt().sin() /
                     (x * x).sqrt(), 1.0 - x * x / 6.0), {0.0: 0.0, 0.5: -0.162537030636066557}),
    (lambda x: RULES["maximum"](x, 0.0 * x + 1.0) * 2.0, {0.5: 0.0, 1.5: 2.0}),
    (lambda x: np.clip(x, -1.0, 1.0) * x, {0.5: 1.0, 3.0: 1.0, -3.0: -1.0}), ])
def test_the_branch_not_taken_does_not_leak(mode, function, expected):
    for at, value in expected.items():
        assert slope(mode, function, at) == pytest.approx(value, rel=1e-14, abs=1e-14), at


@BOTH
def test_a_long_chain_of_branches_stays_short(mode):
    """Each branch joins again at the next: the conditions must not pile up."""
    graph = Graph()
    x = y = graph.input("x")
    for k in range(300):
        y = where(y > float(k), y.sqrt() + 1.0, y * 0.5)
    size = len(ancestors([y]))
    assert len(ancestors([mode(y, x)])) < 4 * size
    assert np.isfinite(in_floats([mode(y, x)], {"x": 2.0})).all()


@given(SEEDS, st.integers(4, 14))
def test_reverse_equals_forward_through_random_branches(seed, length):
    graph, random = Graph(), Random(seed)
    variables = scalars(graph, "x", "y", "z")
    pool = list(variables)
    for _ in range(length):
        branch = random.choice([
            lambda a, b, c: where(a < b, c * a, b), lambda a, b, c: where(
                (a < c) & (b < c), a + b, c * c), lambda a, b, c: where(a > b, (a - b).sqrt() * c, 0.0),
            lambda a, b, c: RULES["minimum"](a * b, c), lambda a, b, c: a * b - c])
        pool.append(graph.lift(branch(*[random.choice(pool) for _ in range(3)])))
    outputs, between = pool[-2:], derivative._between(pool[-2:], variables)
    at = {name: random.gauss(0.0, 1.0) for name in "xyz"}
    columns, rows = (in_floats(list(mode(outputs, variables, between).flat), at)
                     for mode in (derivative._by_columns, derivative._by_rows))
    assert np.isfinite(columns).all()
    np.testing.assert_allclose(rows, columns, rtol=1e-9, atol=1e-9 * (1 + np.abs(columns).max()))


# By nodes in the middle


def test_derivative_by_nodes_in_the_middle():
    graph = Graph()
    x, y = scalars(graph, "x", "y")
    u = x.sin() * y
    f = u * u + x * u
    assert jacobian_nodes([f], [u])[0, 0] is jacobian_nodes([f], [u, y])[0, 0]
    at = {"x": 0.7, "y": 1.3}
    by_u, by_x = evaluate(list(jacobian_nodes([f], [u, x])[0]), at)
    [u_value] = evaluate([u], at)
    assert close([by_u, by_x], [2 * u_value + MP.mpf(0.7), u_value])
    assert is_constant(jacobian_nodes([u], [u])[0, 0], 1.0)
    assert is_constant(jacobian_nodes([u], [u, x])[0, 1], 0.0)


def test_a_declared_variable_survives_simplification():
    graph = Graph()
    q = graph.input("q")
    p = independent(np.stack([np.cos(q), np.sin(q), -q]))
    by_p = jacobian(p @ p, p)
    assert close(evaluate(list(by_p), {"q": 0.7}), [2 * MP.cos(MP.mpf(0.7)), 2 * MP.sin(MP.mpf(0.7)), -2 * MP.mpf(0.7)])
    by_q = jacobian(p @ p, q)
    assert close(evaluate([by_q], {"q": 0.7}), [2 * MP.mpf(0.7)])
    assert independent(q) is q and independent(p)[0] is p[0]
    program = Program("f", (variable("q", q, graph),), (variable("out", by_p, graph),))
    assert not any(node.op == "independent" for node in simplify(program).nodes)


# The function for users


@pytest.mark.parametrize("outputs, variables, shape", [((), (), ()), ((2,), (), (2,)), ((), (3,), (3,)),
                                                       ((2, 2), (3,), (2, 2, 3)), ((2,), (2, 3), (2, 2, 3)),
                                                       ((0,), (3,), (0, 3))])
def test_shapes(outputs, variables, shape):
    graph = Graph()
    x = input_symbols(graph, "x", variables)
    total = np.sum(x * x)
    results = np.full(outputs, total, dtype=object).view(Symbols) if outputs else total
    J = jacobian(results, x)
    assert np.shape(J) == shape
    if shape:
        assert isinstance(J, Symbols)
        if J.size:
            assert J.reshape(-1, *variables)[(0,) * (1 + len(variables))] is 2.0 * (x.flat[0] if variables else x)
    else:
        assert J is 2.0 * x


def test_numbers_among_outputs_and_lists():
    graph = Graph()
    x, y = scalars(graph, "x", "y")
    J = jacobian([x * y, 3.0, np.float64(2.0)], [x, y])
    assert J[0, 0] is y and J[0, 1] is x
    assert all(is_constant(d, 0.0) for d in J[1:].flat)
    assert is_constant(jacobian(2.0, x), 0.0)


def test_what_cannot_be_a_variable_is_refused():
    graph = Graph()
    x, y = scalars(graph, "x", "y")
    with pytest.raises(UnsupportedError, match=r"cy\.independent"):
        jacobian(x * x, -x)
    with pytest.raises(UnsupportedError, match=r"is a number"):
        jacobian(x * x, [x, 1.0])
    with pytest.raises(UnsupportedError, match="traced function"):
        jacobian([1.0], [])
    with pytest.raises(UnsupportedError, match="traced function"):
        independent([1.0, 2.0])
    with pytest.raises(TraceError, match="another"):
        jacobian([x, Graph().input("x")], y)


def test_inside_a_traced_function():
    def velocity(q, qd):
        position = np.stack([np.cos(q[0]) + np.cos(q[0] + q[1]), np.sin(q[0]) + np.sin(q[0] + q[1])])
        return jacobian(position, q) @ qd

    program = simplify(trace(velocity, Signature.parse("(2),(2)->(2)"), {}, name="velocity", inputs=["q", "qd"]))
    q, qd = [0.4, -1.1], [0.3, 0.7]
    found = in_floats(program.results,
                      {**{f"q[{i}]": v
                          for i, v in enumerate(q)}, **{f"qd[{i}]": v
                                                        for i, v in enumerate(qd)}})
    first, both = q[0], q[0] + q[1]
    expected = [-math.sin(first) * qd[0] - math.sin(both) * sum(qd), math.cos(first) * qd[0] + math.cos(both) * sum(qd)]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


# Programs


def spring(x, k):
    return {"force": k @ x, "energy": 0.5 * x @ k @ x}


@pytest.fixture
def springs():
    return trace(spring, Signature.parse("(n),(n,n)->(n),()"), {"n": 2}, name="spring", inputs=["x", "k"],
                 units={"x": "m", "k": "N/m", "force": "N", "energy": "J"})


def test_jacobian_program(springs):
    by_k = jacobian_program(springs, "force", "k")
    assert by_k.name == "spring_force_by_k" and by_k.outputs[0].name == "force_by_k" and by_k.outputs[
        0].name.isidentifier()
    assert by_k.outputs[0].shape == (2, 2, 2) and by_k.outputs[0].unit == "N/(N/m)"
    assert [(v.name, v.shape, v.unit) for v in by_k.inputs] == [(v.name, v.shape, v.unit) for v in springs.inputs]
    assert by_k.graph is not springs.graph and len(by_k.outputs) == 1
    at = {"x[0]": 0.3, "x[1]": 0.7, **{f"k[{i}, {j}]": 1.0 + i + 3.0 * j for i in range(2) for j in range(2)}}
    tensor = in_floats(by_k.results, at).reshape(2, 2, 2)
    np.testing.assert_array_equal(tensor, np.einsum("ia,j->iaj", np.eye(2), [0.3, 0.7]))
    by_x = jacobian_program(springs, "energy", "x")
    stiffness = np.array([[1.0, 4.0], [2.0, 5.0]])
    np.testing.assert_allclose(in_floats(by_x.results, at), 0.5 * (stiffness + stiffness.T) @ [0.3, 0.7], rtol=1e-15)
    twice = jacobian_program(by_x, "energy_by_x", "x")
    assert twice.outputs[0].shape == (2, 2)
    np.testing.assert_allclose(in_floats(twice.results, at).reshape(2, 2), 0.5 * (stiffness + stiffness.T), rtol=1e-15)


@pytest.mark.parametrize("unit, by, expected", [("N", "m", "N/m"), ("N m", "rad/s", "N m/(rad/s)"), ("m", "m", ""),
                                                ("", "m", ""), ("N", "", "")])
def test_units(unit, by, expected):
    square = trace(lambda x: x * x, Signature.parse("()->()"), {}, name="square", inputs=["x"],
                   units={"x": by, "out": unit})
    assert jacobian_program(square, "out", "x").outputs[0].unit == expected


def test_jacobian_program_names(springs):
    with pytest.raises(SignatureError, match="no output 'power'; it has force, energy"):
        jacobian_program(springs, "power", "x")
    with pytest.raises(SignatureError, match="no input 'z'; it has x, k"):
        jacobian_program(springs, "force", "z")


# Cost


def operations(nodes):
    return count(Program("", (), (Variable("", (len(nodes),), tuple(nodes)),)))


def test_the_cheaper_mode_is_picked():
    graph = Graph()
    x, *y = scalars(graph, "x", *[f"y{k}" for k in range(30)])
    tall, chain = [], x
    for _ in range(30):
        chain = chain.sin() * x
        tall.append(chain)
    wide = y[0]
    for b in y[1:]:
        wide = (wide * b).sin()
    J = jacobian_nodes(tall, [x])
    assert all(a is b for a, b in zip(J[:, 0], forward(tall, [x], [1.0]), strict=True))
    assert operations(
        J[:, 0]).total < 0.4 * operations(derivative._by_rows(tall, [x], derivative._between(tall, [x])).ravel()).total
    J = jacobian_nodes([wide], y)
    assert all(a is b for a, b in zip(J[0], reverse([wide], y, [1.0]), strict=True))
    assert operations(
        J[0]).total < 0.4 * operations(derivative._by_columns([wide], y, derivative._between([wide], y)).ravel()).total


def test_inverse_dynamics_of_a_seven_joint_arm():
    """A Jacobian of seven columns costs less than five times the function, and is right."""
    program = program_of(inverse_dynamics, "(n),(n),(n)->(n)", n=7)
    own = count(program)
    by = {name: jacobian_program(program, "out", name) for name in ("q", "qd", "qdd")}
    costs = {name: count(simplify(found)) for name, found in by.items()}
    ratio = {
        name: (c.multiplications + c.additions) / (own.multiplications + own.additions)
        for name, c in costs.items()}
    assert ratio["q"] < 5.2 and ratio["qd"] < 4.9 and ratio["qdd"] < 2.1, f"{own}: {costs}"
    assert all(c.trigonometric == own.trigonometric and not c.divisions for c in costs.values())
    state = np.random.default_rng(3).normal(size=(3, 7))
    at = {f"{name}[{i}]": MP.mpf(v) for name, values in zip(by, state, strict=True) for i, v in enumerate(values)}
    for name, found in by.items():
        matrix = np.reshape(evaluate(found.results, at), (7, 7))
        place = f"{name}[4]"
        expected = [
            MP.diff(lambda x, k=k, place=place: evaluate(program.results, {**at, place: x})[k], at[place])
            for k in range(7)]
        assert close(matrix[:, 4], expected, 1e-13)  # constants are folded in double


# Size


def long_chain(steps):
    graph = Graph()
    x, y = scalars(graph, "x", "y")
    value = x
    for k in range(steps):
        value = value * y + (value.sin() if k % 100 == 0 else x)
    return graph, value, [x, y]


@pytest.mark.parametrize("sweep", [lambda f, v: forward([f], v, [1.0, 0.0]), lambda f, v: reverse([f], v, [1.0])],
                         ids=["forward", "reverse"])
def test_long_chains_take_no_recursion_and_grow_in_proportion(sweep):
    made = []
    for steps in (5_000, 10_000):
        graph, value, variables = long_chain(steps)
        size = graph.size
        sweep(value, variables)
        made.append(graph.size - size)
    assert size > 20_000
    assert made[0] > 5_000 and 1.95 < made[1] / made[0] < 2.05


def test_a_large_jacobian_is_built_in_one_mode(monkeypatch):
    built = []
    for name in ("_by_columns", "_by_rows"):
        mode = getattr(derivative, name)
        monkeypatch.setattr(derivative, name, lambda *args, mode=mode, name=name: built.append(name) or mode(*args))
    _, value, (x, y) = long_chain(30)
    jacobian_nodes([value], [x])
    assert sorted(built) == ["_by_columns", "_by_rows"]
    monkeypatch.setattr(derivative, "_MOST_WORK", 50)
    built.clear()
    jacobian_nodes([value], [x, y])
    jacobian_nodes([value, value.sin()], [x])
    assert built == ["_by_rows", "_by_columns"]
