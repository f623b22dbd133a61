"""Equations that a person can read, and that are true."""

import time

import numpy as np
import pytest
import sympy

from cayley.compiler.algebras.equations import equations
from compiler.mechanisms import choices, every_operation, inverse_dynamics, moved_points, pendulum_torque, program_of

PENDULUM = program_of(pendulum_torque, "(n),(n)->(n)", n=2)


def evaluated(found, **arguments):
    """The outputs at a point, line by line."""
    known = {symbol: sympy.Float(float(value)) for name, symbols in found.inputs.items()
             for symbol, value in zip(np.ravel(symbols), np.ravel(arguments[name]), strict=True)}
    for symbol, expression in found.lines:
        known[symbol] = expression.xreplace(known).doit()
    flat = {name: [e.xreplace(known).doit() for e in np.ravel(value)] for name, value in found.outputs.items()}
    return {name: np.array(values, dtype=float) for name, values in flat.items()}


def test_short_programs_are_written_out():
    found = equations(PENDULUM)
    q, qdd = sympy.symbols("q_1 q_2"), sympy.symbols("qdd_1 qdd_2")
    assert found.lines == []
    assert found.outputs["out"] == sympy.Matrix([2 * a + 9.81 * sympy.sin(b) for a, b in zip(qdd, q, strict=True)])
    assert str(found) == "out_1 = 2*qdd_1 + 9.81*sin(q_1)\nout_2 = 2*qdd_2 + 9.81*sin(q_2)"
    assert found.outputs["out"].subs({"q_1": 0, "qdd_1": 3})[0] == 6


def test_latex_is_aligned_and_numbered():
    text = equations(PENDULUM).latex()
    assert text.splitlines() == [
        r"\begin{aligned}", r"\mathrm{out}_{1} &= 2 \ddot{q}_{1} + 9.81 \sin{\left(q_{1} \right)} && (1) \\",
        r"\mathrm{out}_{2} &= 2 \ddot{q}_{2} + 9.81 \sin{\left(q_{2} \right)} && (2)", r"\end{aligned}"]
    assert equations(PENDULUM)._repr_latex_() == f"$\\displaystyle {text}$"


def test_inverse_dynamics_by_lines():
    program = program_of(inverse_dynamics, "(n),(n),(n)->(n)", n=7)
    found = equations(program)
    assert 50 < len(found.lines) < len(program.nodes) and [s.name for s, _ in found.lines[:2]] == ["t_1", "t_2"]
    assert max(map(len, str(found).splitlines())) < 400
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, 7))
    right = inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(
        evaluated(found, q=q, qd=qd, qdd=qdd)["out"], right, rtol=0, atol=1e-12 * np.abs(right).max())


@pytest.mark.parametrize("function, signature, dimensions", [
    (every_operation, "(3),(3)->(26)", {}), (choices, "(n),(),()->(n),(n),()", {"n": 3}),
    (moved_points, "(3,3),(3),(k,3)->(k,3),(3,3),()", {"k": 2})])
@pytest.mark.parametrize("shared", [True, False])
def test_values(function, signature, dimensions, shared):
    program = program_of(function, signature, **dimensions)
    random = np.random.default_rng(6)
    point = {v.name: random.uniform(-0.9, 0.9, size=v.shape) for v in program.inputs}
    found = equations(program, shared=shared)
    assert shared or not found.lines
    right = function(*point.values())
    right = right if isinstance(right, dict) else {"out": right}
    for name, values in evaluated(found, **point).items():
        np.testing.assert_allclose(values, np.ravel(right[name]), rtol=1e-12, atol=1e-12)


def test_substituted_is_the_same_as_written_out():
    def f(x):
        square = (x[0] + x[1]) ** 2
        return square * np.sin(square), x * (x[0] + x[1])
    program = program_of(f, "(2)->(),(2)")
    shared, plain = equations(program, shared=True), equations(program, shared=False)
    assert shared.lines and not shared.substituted().lines
    for name in plain.outputs:
        difference = shared.substituted().outputs[name] - plain.outputs[name]
        assert sympy.expand(difference) in (0, sympy.zeros(2, 1))
    assert str(shared.substituted()).count("\n") == 2


def test_products_are_not_multiplied_out():
    program = program_of(lambda x, y: 2.7 * (x + y) - np.sin(x - y) * (x - 2.0 * y), "(),()->()", name="f",
                         inputs=["x", "y"])
    assert "2.7*(x + y)" in str(equations(program)) and "*sin(x - y)" in str(equations(program))
    x, y = sympy.symbols("x y")
    assert 2 * (x + y) == 2 * x + 2 * y  # what SymPy does elsewhere is left as it was


def test_numbers_are_written_as_a_person_would():
    factors = [1 / 12, 0.5, 9.81, 0.1, 1 / 0.3, 0.123456789]
    program = program_of(lambda x: np.array(factors) * x, "()->(6)", name="f", inputs=["x"])
    found = [line.partition(" = ")[2] for line in str(equations(program)).splitlines()]
    assert found == ["x/12", "x/2", "9.81*x", "0.1*x", "10*x/3", "0.123456789*x"]


def test_temporaries_do_not_meet_the_users_names():
    """As SymEngine's do."""
    def f(t, t_1, u, x0):
        s = np.sin(t[0] * t[1] + t_1)
        return np.stack([s * u, s + x0, s * s])
    program = program_of(f, "(2),(),(),()->(3)")
    found = equations(program, shared=True)
    users = {s.name for s in found.inputs["t"]} | {"t_1_", "t_1", "u", "x0"}
    assert {s.name for s, _ in found.lines}.isdisjoint(users) and found.lines[0][0].name == "v_1"
    values = evaluated(found, t=[0.1, 0.2], t_1=0.3, u=0.4, x0=0.5)["out"]
    np.testing.assert_allclose(values, f(np.array([0.1, 0.2]), 0.3, 0.4, 0.5))


def test_entries_that_would_have_one_name_get_two():
    program = program_of(lambda q, q_1: q * q_1, "(2),()->(2)", name="f", inputs=["q", "q_1"])
    found = equations(program)
    assert len({*found.inputs["q"], found.inputs["q_1"]}) == 3 and found.inputs["q_1"].name == "q_1"


def test_an_output_called_like_an_input():
    program = program_of(lambda q: 2.0 * q, "(2)->(2)", name="f", inputs=["q"], outputs=["q"])
    assert str(equations(program)).splitlines()[0] == "q_out_1 = 2*q_1"


def test_matrices_are_numbered_as_in_books():
    program = program_of(lambda R, A: (R @ R, A[0, 9]), "(2,2),(2,12)->(2,2),()", name="f", inputs=["R", "A"])
    found = equations(program)
    assert found.inputs["R"][0, 1].name == "R_12" and found.inputs["A"][
        1, 11].name == "A_2_12" and found.outputs["out1"].shape == (2, 2)
    assert "R_{12}" in found.latex() and "A_{1,10}" in found.latex()


@pytest.mark.parametrize("names, latex", [
    (("q", "qd", "qdd"), (r"q", r"\dot{q}", r"\ddot{q}")), (("theta", "thetad"), (r"\theta", r"\dot{\theta}")),
    (("x_tool", "m1"), (r"x_{\mathrm{tool}}", r"m_{1}")), (("mass", "load"), (r"\mathrm{mass}", r"\mathrm{load}")),
    (("_x", "omega_2"), ("x", r"\omega_{2}")),
])
def test_names_in_latex(names, latex):
    program = program_of(lambda *x: sum(x), ",".join(["()"] * len(names)) + "->()", name="f", inputs=list(names))
    found = equations(program)
    assert [found._written[found.inputs[name]] for name in names] == list(latex)


def test_conditions():
    program = program_of(choices, "(n),(),()->(n),(n),()", n=1)
    assert "Min" in str(equations(program)) and r"\begin{cases}" in equations(program).latex()


def test_large_programs_take_time_in_proportion():
    """Twelve times the size must not cost much more than twelve times the time (quadratic growth would be 144)."""
    def long_sum(x):
        for k in range(6):
            x = np.stack([np.sin(x[i]) * x[j] + x[j - 1] / (k + 2.0) for i in range(len(x))
                          for j in range(8)][::len(x)])
        return x

    def seconds(sums):
        def text(x):
            return np.concatenate([long_sum(x * scale) for scale in range(1, sums + 1)])
        program = program_of(text, f"(8)->({8 * sums})", name="f", inputs=["x"])
        assert len(program.nodes) > 125 * sums
        begin = time.process_time()
        assert len(str(equations(program))) > 80 * sums
        return time.process_time() - begin

    seconds(1)
    short, long = seconds(1), seconds(12)
    assert long < 40 * short
