"""One graph on many kinds of scalars."""

import itertools
import math
import subprocess
import sys
from fractions import Fraction

import casadi
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import sympy

import cayley as cy
from cayley.compiler.algebras.interpret import CASADI, JAX, MPMATH, NUMPY, SYMPY, Algebra, interpret
from cayley.errors import SignatureError, UnsupportedError
from compiler.mechanisms import choices, every_operation, inverse_dynamics, moved_points, pendulum_torque, program_of

PENDULUM = program_of(pendulum_torque, "(n),(n)->(n)", n=2)
POINTS = program_of(moved_points, "(3,3),(3),(k,3)->(k,3),(3,3),()", k=2)
ROOT = program_of(np.sqrt, "()->()", inputs=["x"])


def test_numpy_broadcasts_leading_axes():
    q, qdd = np.random.default_rng(1).normal(size=(4, 1, 2)), np.arange(10).reshape(5, 2)
    (found,) = interpret(PENDULUM, NUMPY, q, qdd)
    np.testing.assert_array_equal(found, pendulum_torque(q, qdd))


def test_numpy_keeps_single_precision():
    (found,) = interpret(PENDULUM, NUMPY, np.float32([0.1, 0.2]), np.float32([1, 2]))
    assert found.dtype == np.float32


@pytest.mark.parametrize("algebra", [NUMPY, JAX], ids=["NumPy", "JAX"])
def test_constant_and_empty_outputs_have_the_batch(algebra):
    program = program_of(lambda x: (np.ones(2), np.zeros(0), 3.0, x), "(n)->(2),(m),(),(n)", name="constants",
                         inputs=["x"], n=0)
    shapes = [np.shape(r) for r in interpret(program, algebra, np.zeros((5, 4, 0)))]
    assert shapes == [(5, 4, 2), (5, 4, 0), (5, 4), (5, 4, 0)]


def test_numpy_scalar_output_is_a_number():
    assert isinstance(interpret(ROOT, NUMPY, 4)[0], np.float64)


def test_wrong_arguments_are_named():
    with pytest.raises(SignatureError, match=r"pendulum_torque takes 2 arguments \(q, qdd\), not 1"):
        interpret(PENDULUM, NUMPY, [0.0, 0.0])
    with pytest.raises(SignatureError, match=r"'qdd' has shape \(3,\), not \(2,\)"):
        interpret(PENDULUM, NUMPY, np.zeros(2), np.zeros(3))
    with pytest.raises(SignatureError, match=r"'q' has shape \(\), not \(2,\)"):
        interpret(PENDULUM, NUMPY, 1.0, np.zeros(3))
    with pytest.raises(SignatureError, match=r"do not broadcast: q \(3,\), qdd \(4,\)"):
        interpret(PENDULUM, NUMPY, np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(SignatureError, match="'q' holds"):
        interpret(PENDULUM, NUMPY, np.array(["a", "b"]), np.zeros(2))


@pytest.mark.parametrize("algebra, wrong", [
    (SYMPY, sympy.symbols("a b c")),
    (SYMPY, sympy.Matrix(2, 2, sympy.symbols("a:4"))),
    (SYMPY, sympy.Symbol("a")),
    (CASADI, casadi.SX.sym("x", 3)),
    (CASADI, casadi.SX.sym("x", 2, 2)),
    (CASADI, [casadi.SX.sym("x", 2)] * 2),
    (CASADI, 1.0),
    (MPMATH, [1, 2, 3]),
    (MPMATH, mpmath.matrix([[1, 2], [3, 4]])),
    (MPMATH, 1),
    (JAX, jnp.zeros(3)),
    (JAX, 1.0), ])
def test_wrong_shapes_are_named_in_every_algebra(algebra, wrong):
    with pytest.raises(SignatureError, match=r"argument 'q' has shape .*, not \(2,\)"):
        interpret(PENDULUM, algebra, wrong, np.zeros(2))


def test_sympy_writes_numbers_as_in_a_book():
    program = program_of(lambda x: np.stack([0.5 * x, 3.0 * x, 9.81 * x, 0.75 + x, x / 3.0, 1e300 * x]), "()->(6)",
                         name="f", inputs=["x"])
    x = sympy.Symbol("x")
    (found,) = interpret(program, SYMPY, x)
    assert found[0] == x / 2 and found[1] == 3 * x and found[3] == sympy.Rational(3, 4) + x
    assert found[2] == sympy.Float(9.81) * x and float(found[4].subs(x, 3)) == 1.0 and found.shape == (6, 1)


def test_sympy_takes_matrices_and_arrays():
    R = sympy.MatrixSymbol("R", 3, 3).as_explicit()
    points = sympy.Array(sympy.symbols("a:6"), (2, 3))
    moved, gram, volume = interpret(POINTS, SYMPY, R, sympy.Matrix([0, 0, 1]), points)
    assert moved.shape == (2,
                           3) and sympy.expand(gram - R.T * R) == sympy.zeros(3) and sympy.expand(volume - R.det()) == 0


def test_sympy_arrays_of_three_axes():
    program = program_of(lambda x: np.multiply.outer(np.outer(x, x), x), "(n)->(n,n,n)", name="cube", inputs=["x"], n=2)
    (found,) = interpret(program, SYMPY, sympy.symbols("a b"))
    assert found.shape == (2, 2, 2) and found[1, 0, 1] == sympy.Symbol("a") * sympy.Symbol("b") ** 2


def test_sympy_choices():
    x, low, high = sympy.symbols("x low high")
    program = program_of(choices, "(n),(),()->(n),(n),()", n=1)
    clipped, inside, count = interpret(program, SYMPY, [x], low, high)
    point = {x: 5, low: 0, high: 2}
    assert clipped[0].subs(point) == 2 and inside[0].subs(point) == 5 and count.subs(point) == 1


@pytest.mark.parametrize("kind", [casadi.SX, casadi.MX], ids=["SX", "MX"])
def test_casadi(kind):
    R, p, points = kind.sym("R", 3, 3), kind.sym("p", 3), kind.sym("points", 2, 3)
    function = casadi.Function("f", [R, p, points], interpret(POINTS, CASADI, R, p, points))
    values = [np.random.default_rng(2).normal(size=shape) for shape in ((3, 3), (3,), (2, 3))]
    for found, right in zip(function.call(values), moved_points(*values).values(), strict=True):
        np.testing.assert_allclose(np.array(found).reshape(np.shape(right)), right, rtol=1e-13, atol=1e-13)


def test_casadi_takes_rows_lists_and_sparse_matrices():
    x = casadi.SX.sym("x", 2)
    for argument in (x, x.T, [x[0], x[1]], casadi.DM([0.1, 0.2]), np.array([0.1, 0.2])):
        (found,) = interpret(PENDULUM, CASADI, argument, np.zeros(2))
        assert found.shape == (2, 1)
    sparse = casadi.SX(3, 3)
    sparse[0, 1] = x[0]
    assert float(interpret(POINTS, CASADI, sparse, np.zeros(3), np.zeros((2, 3)))[2]) == 0.0


def test_casadi_differentiates_what_it_is_given():
    q = casadi.SX.sym("q", 2)
    (torque,) = interpret(PENDULUM, CASADI, q, [0.0, 0.0])
    jacobian = casadi.Function("J", [q], [casadi.jacobian(torque, q)])
    np.testing.assert_allclose(np.array(jacobian([0.1, 0.2])), np.diag(9.81 * np.cos([0.1, 0.2])))


def test_casadi_arrays_of_three_axes_and_constants():
    program = program_of(lambda x: (np.multiply.outer(np.outer(x, x), x), np.eye(2)), "(n)->(n,n,n),(2,2)", name="cube",
                         inputs=["x"], n=2)
    cube, unit = interpret(program, CASADI, casadi.SX.sym("x", 2))
    assert cube.shape == (2, 2, 2) and all(isinstance(e, casadi.SX) for e in cube.flat)
    np.testing.assert_array_equal(np.array(unit), np.eye(2))


def test_jax_under_jit_vmap_and_grad():
    def torque(q, qdd):
        return interpret(PENDULUM, JAX, q, qdd)[0]

    q, qdd = np.float32(np.random.default_rng(3).normal(size=(2, 5, 2)))
    right = pendulum_torque(q, qdd)
    for found in (torque(q, qdd), jax.jit(torque)(q, qdd), jax.vmap(torque)(q, qdd),
                  jax.jit(jax.vmap(torque, (0, None)))(q, qdd[0])[:1]):
        np.testing.assert_allclose(found, right[:len(found)], rtol=1e-5)
    np.testing.assert_allclose(jax.jacobian(torque)(q[0], qdd[0]), np.diag(9.81 * np.cos(q[0])), rtol=1e-5)
    assert torque(jnp.zeros(2, jnp.bfloat16), jnp.zeros(2, jnp.bfloat16)).dtype == jnp.bfloat16
    assert torque(jnp.zeros(2, int), [1, 2]).dtype == jnp.float32


def test_mpmath_works_in_the_precision_that_is_set():
    program = program_of(lambda x: np.sin(x) / 3.0, "()->()", name="f", inputs=["x"])
    with mpmath.workdps(60):
        found = interpret(program, MPMATH, mpmath.mpf("0.1"))[0]
        right = mpmath.sin(mpmath.mpf("0.1")) * mpmath.mpf(1.0 / 3.0)
        assert abs(found - right) < mpmath.mpf(10) ** -58


def test_mpmath_stays_real_and_total():
    with mpmath.workdps(30):
        assert mpmath.isnan(interpret(ROOT, MPMATH, -1.0)[0])
        inverse = program_of(lambda x: 1.0 / x, "()->()", name="inverse", inputs=["x"])
        assert interpret(inverse, MPMATH, 0.0)[0] == mpmath.inf
        assert interpret(ROOT, MPMATH, mpmath.mpc(-1, 0))[0] == 1j
        smaller = program_of(np.minimum, "(),()->()", inputs=["a", "b"])
        assert mpmath.isnan(interpret(smaller, MPMATH, 1.0, math.nan)[0]) and mpmath.isnan(
            interpret(smaller, MPMATH, math.nan, 1.0)[0])


def test_mpmath_takes_its_own_matrices():
    (found,) = interpret(PENDULUM, MPMATH, mpmath.matrix([0, 0]), mpmath.matrix([1, 2]))
    assert found.shape == (2,) and found.dtype == object and list(found) == [2, 4]


class Dual:
    """A number and its derivative, with functions as methods."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other): return Dual(self.value + other.value, self.slope + other.slope)
    def __mul__(self, other): return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)
    def sin(self): return Dual(math.sin(self.value), math.cos(self.value) * self.slope)


def test_a_type_of_ones_own_with_methods():
    (found,) = interpret(PENDULUM, Algebra.of_operators("dual", constant=Dual),
                          [Dual(0.1, 1.0), Dual(0.2)], [Dual(1.0), Dual(2.0)])
    np.testing.assert_allclose([found[0].value, found[0].slope, found[1].slope],
                               [2 + 9.81 * math.sin(0.1), 9.81 * math.cos(0.1), 0.0])


def test_a_module_of_functions():
    program = program_of(every_operation, "(3),(3)->(26)")
    plain = Algebra.of_operators("floats", math).extended({"sign": np.sign})
    x, y = [0.1, -0.2, 0.3], [0.4, 0.5, -0.6]
    np.testing.assert_allclose(
        interpret(program, plain, x, y)[0].astype(float), every_operation(np.array(x), np.array(y)), rtol=1e-13)


def test_operators_alone_give_numpys_values_for_every_pair():
    def text(a, b):
        chosen = [
            cy.where(condition, 1.0, 2.0)
            for condition in (a < b, a <= b, a == b, a != b, (a < b) & (b < 2.5), (a < b) | (b < a))]
        return np.stack([
            a + b, a - b, a * b, a / b, -a,
            abs(a), np.minimum(a, b),
            np.maximum(a, b), a % b, a // b, *chosen])

    program = program_of(text, "(),()->(16)", inputs=["a", "b"])
    for a, b in itertools.product((-2.5, -1.0, 0.5, 2.0, 3.0, math.nan), repeat=2):
        (found,) = interpret(program, Algebra.of_operators("floats"), a, b)
        np.testing.assert_array_equal(found.astype(float), text(np.float64(a), np.float64(b)), err_msg=f"{a}, {b}")


def test_exact_fractions():
    program = program_of(lambda a, b: (a + b) * (a - b) / (1.0 + b), "(),()->()", name="f", inputs=["a", "b"])
    exact = Algebra.of_operators("fractions", constant=Fraction)
    assert interpret(program, exact, Fraction(1, 3),
                     Fraction(1, 7))[0] == Fraction(10, 21) * Fraction(4, 21) / Fraction(8, 7)


def test_a_missing_operation_is_named():
    for functions in (None, {}, Fraction):
        with pytest.raises(UnsupportedError, match=r"algebra 'fractions' has no 'sqrt'.*extended"):
            interpret(ROOT, Algebra.of_operators("fractions", functions, Fraction), Fraction(1, 4))
    with pytest.raises(UnsupportedError, match="algebra 'bare' has no 'sqrt'"):
        interpret(ROOT, Algebra("bare", {}), 1.0)


@pytest.mark.parametrize("algebra, module", [(SYMPY, "sympy"), (CASADI, "casadi"), (JAX, "jax.numpy"),
                                             (MPMATH, "mpmath")])
def test_a_missing_package_is_named(monkeypatch, algebra, module):
    monkeypatch.setitem(sys.modules, module, None)
    extra = "equations" if algebra in (SYMPY, MPMATH) else "bridges"
    package = module.partition(".")[0]
    with pytest.raises(UnsupportedError, match=rf"needs the package {package}.*pip install 'cayley\[{extra}\]'"):
        interpret(ROOT, algebra, 1.0)


def test_packages_are_imported_only_when_needed():
    check = ("import sys, cayley.compiler.algebras.interpret; print([p for p in ('sympy', 'casadi', 'jax', 'mpmath', "
             "'cupy') if p in sys.modules])")
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_long_chains_need_no_recursion():
    def chain(x):
        for _ in range(5_000):
            x = np.sin(x) + 1.0
        return x
    (found,) = interpret(program_of(chain, "()->()"), NUMPY, 0.5)
    assert found == pytest.approx(chain(np.float64(0.5)), rel=1e-12)


def test_inverse_dynamics_over_a_batch():
    program = program_of(inverse_dynamics, "(n),(n),(n)->(n)", n=7)
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 6, 7))
    (found,) = interpret(program, NUMPY, q, qd, qdd)
    right = np.stack([inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-13 * np.abs(right).max())
