"""An operation is one entry of one table: everything that can be done with a kernel works for it."""

import math
import pickle

import mpmath
import numpy as np
import pytest
from scipy.special import erf as scipy_erf

import cayley as cy
from cayley.compiler.algebras.interpret import MPMATH, NUMPY, SYMPY, interpret
from cayley.compiler.cuda.cuda_source import cuda_source
from cayley.compiler.derivatives.derivative import jacobian_program
from cayley.compiler.operations import OPERATIONS, Operation
from compiler.mechanisms import program_of
from compiler.parity import check_parity

INSIDE = ("sinh", "cosh", "tanh", "arcsinh", "arctanh", "expm1", "exp2", "log1p", "cbrt")
BEYOND = ("log2", "log10", "arccosh")
POINTS = np.random.default_rng(2).uniform(-0.9, 0.9, size=(4, 3))


@pytest.fixture
def softplus(monkeypatch):
    """Only a text is given: all else follows from it."""
    made = Operation("softplus", text=lambda x: np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x))))
    monkeypatch.setitem(OPERATIONS, "softplus", made)
    return made


@pytest.fixture
def erf(monkeypatch):
    """Everything is given: NumPy's ufunc is one of SciPy, every language has a name for it."""
    made = Operation("erf", text=_error_function, value=math.erf, is_odd=True, called="erf", numpy="scipy.special.erf",
                     jax=lambda jnp, x: __import__("jax").scipy.special.erf(x),
                     slopes=(lambda n, x: (2.0 / math.sqrt(math.pi)) * (-(x * x)).exp(),))
    monkeypatch.setitem(OPERATIONS, "erf", made)
    return made


def _error_function(x):
    """Its series, for |x| <= 1."""
    total, power = 0.0, x
    for k in range(20):
        total = total + power / (2 * k + 1)
        power = -power * x * x / (k + 1)
    return 2.0 / math.sqrt(math.pi) * total


def test_an_operation_that_is_only_a_text_works_in_every_way(softplus):
    made = cy.kernel("(2)->(2),()", name="layer")(lambda x: (softplus(2.0 * x), softplus(x[0]) * x[1]))
    x = POINTS[:, :2]
    check_parity(made, x, everywhere=True)
    exact = np.log1p(np.exp(2.0 * x))
    np.testing.assert_allclose(made(x)[0], exact, rtol=1e-15)
    np.testing.assert_allclose(made.jacobian("x", of=0)(x[0]), np.diag(2.0 / (1.0 + np.exp(-2.0 * x[0]))), rtol=1e-14)
    np.testing.assert_allclose(softplus(2.0 * x), exact, rtol=1e-15)
    assert str(made.operations()) == "3 multiplications, 3 other functions"
    assert "static double layer_softplus(double a)" in made.c_source().source
    assert "static __device__ double layer_softplus(double a)" in cuda_source(made.program())
    assert np.array_equal(pickle.loads(pickle.dumps(made))(x)[0], made(x)[0])


def test_an_operation_with_a_name_in_every_language_is_called_by_it(erf):
    made = cy.kernel("(3)->(3)", name="bell")(lambda x: scipy_erf(x) + scipy_erf(-0.5 * x))
    check_parity(made, POINTS, everywhere=True)
    np.testing.assert_allclose(made(POINTS), scipy_erf(POINTS) - scipy_erf(0.5 * POINTS), atol=1e-15)
    assert " - erf(" in made.c_source().source and "bell_erf" not in made.c_source().source
    assert "erff(" in cuda_source(made.program(), "float")
    sympy = pytest.importorskip("sympy")
    assert interpret(program_of(scipy_erf, "()->()", inputs=["x"], name="f"), SYMPY, sympy.Symbol("x"))[0] == sympy.erf(
        sympy.Symbol("x"))


def test_constants_are_folded_and_signs_leave(erf, softplus):
    folded = program_of(lambda x: x * scipy_erf(np.float64(0.5)) + erf(0.0 * x + 0.25), "()->()", inputs=["x"],
                        name="f")
    assert "erf" not in {node.op for node in folded.nodes}
    assert interpret(folded, NUMPY, 2.0)[0] == pytest.approx(2.0 * math.erf(0.5) + math.erf(0.25), rel=1e-15)
    assert program_of(lambda x: erf(x) + erf(-x), "()->()", inputs=["x"], name="f").results[0].value == 0.0
    assert program_of(lambda x: softplus(0.0 * x), "()->()", inputs=["x"], name="f").results[0].value == math.log(2.0)


def test_code_of_another_operation_of_the_same_name_is_not_taken(monkeypatch):
    def made(factor):
        monkeypatch.setitem(OPERATIONS, "scaled", Operation("scaled", text=lambda x: factor * x))
        return cy.kernel("()->()", name="f")(lambda x: OPERATIONS["scaled"](x))
    assert made(2.0)(1.5) == 3.0
    assert made(4.0)(1.5) == 6.0
    def written(factor):
        monkeypatch.setitem(OPERATIONS, "scaled",
                            Operation("scaled", text=lambda x: x, llvm=lambda lanes, x: factor * x))
        return cy.kernel("()->()", name="f")(lambda x: OPERATIONS["scaled"](x))
    assert written(2.0)(1.5) == 3.0
    assert written(4.0)(1.5) == 6.0


def test_functions_of_numpy():
    made = cy.kernel("()->(9),(3)", name="f")(lambda x: (np.stack([getattr(np, name)(x) for name in INSIDE]),
                                                         np.stack([getattr(np, name)(x + 2.0) for name in BEYOND])))
    check_parity(made, POINTS[0], jacobians=False, everywhere=True)  # test_derivative has those


def test_the_sign_of_another_number():
    made = cy.kernel("(),()->()", name="f")(lambda x, y: np.copysign(x, y))
    check_parity(made, POINTS[0], POINTS[1], everywhere=True)
    by_x = jacobian_program(made.program(), "out", "x")
    np.testing.assert_array_equal(interpret(by_x, NUMPY, POINTS[0], -POINTS[0])[0], -np.ones(3))


def test_rounding_and_what_is_not_a_number():
    made = cy.kernel("()->(7)", name="f")(lambda x: np.stack([
        np.rint(4.0 * x), np.round(x, 1), np.fmod(5.0 * x, 0.7), np.heaviside(x, 0.5), 1.0 * np.isnan(x),
        1.0 * np.isfinite(x / (x - x)), 1.0 * np.logical_xor(x > 0.0, x > 0.5)]))
    check_parity(made, POINTS[0], jacobians=False, everywhere=True)
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5])
    np.testing.assert_array_equal(cy.kernel("()->()", name="f")(lambda x: np.rint(x))(halves), np.rint(halves))


@pytest.mark.parametrize("x", [1e-9, 1e-300, 0.3, 30.0, 300.0])
def test_small_and_large_arguments_keep_their_digits(x):
    """Where (exp x - exp -x) / 2 and log(1 + x) have none left; beside 50 digits of the same graph."""
    function = program_of(lambda x: np.stack([np.sinh(x), np.tanh(x), np.expm1(x), np.log1p(x), np.arcsinh(x)]),
                          "()->(5)", inputs=["x"], name="f")
    compiled = cy.kernel("()->(5)", name="f")(
        lambda x: np.stack([np.sinh(x), np.tanh(x), np.expm1(x), np.log1p(x), np.arcsinh(x)]))
    with mpmath.workdps(50):
        exact = [float(value) for value in interpret(function, MPMATH, mpmath.mpf(x))[0]]
    np.testing.assert_allclose(compiled(x), exact, rtol=5e-16)
