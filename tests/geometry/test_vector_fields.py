"""Brackets, distributions and the linearity of control systems, beside SymPy's own derivatives and known systems."""

import numpy as np
import pytest
import sympy

import cayley as cy
from cayley.control import FlexibleLink
from cayley.errors import ModelError, SignatureError, SingularityError, TraceError
from cayley.geometry.rotations import compose_vector_parameters
from cayley.geometry.vector_fields import (
    LieGroup,
    controllability_algebra,
    involutivity,
    iterated_bracket,
    lie_bracket,
    lie_derivative,
    linearisability,
    output_linearising_law,
    rank,
    relative_degrees,
    structure_constants,
    vector_field,
)
from cayley.geometry.vector_fields.brackets import algebra_axioms


def single_link(x, p):
    """R-55: inertias of the link and of the motor, weight times length, stiffness."""
    link, motor, weight, K = p[0], p[1], p[2], p[3]
    pull = K * (x[0] - x[2])
    return np.stack([x[1], -(weight * np.sin(x[0]) + pull) / link, x[3], pull / motor])


def motor_torque(x, p):
    return np.stack([0.0 * x[0], 0.0 * x[0], 0.0 * x[0], 1 / p[1]])


def drive(x):
    return [np.cos(x[2]), np.sin(x[2]), 0.0]


def turn(x):
    return [0.0, 0.0, 1.0]


def sympy_bracket(f, g, x):
    return g.jacobian(x) * f - f.jacobian(x) * g


X = sympy.symbols("x1:5")
P = sympy.symbols("I_l I_m W K", positive=True)
Il, Im, W, K = P


@pytest.fixture(scope="module")
def link_symbols():
    return [iterated_bracket(single_link, motor_torque, k).evaluate(cy.SYMPY, X, P) for k in range(4)]


@pytest.mark.spec("S0-56")
def test_brackets_of_the_single_link(link_symbols):
    """WE-14, R-55: all constant, the determinant K^2 / (I_l^2 I_m^4)."""
    expected = [[0, 0, 0, 1 / Im], [0, 0, -1 / Im, 0], [0, K / (Il * Im), 0, -K / Im**2],
                [-K / (Il * Im), 0, K / Im**2, 0]]
    for found, known in zip(link_symbols, expected, strict=True):
        assert sympy.simplify(found - sympy.Matrix(known)).is_zero_matrix
    determinant = sympy.Matrix.hstack(*link_symbols).det()
    assert sympy.simplify(determinant - K**2 / (Il**2 * Im**4)) == 0
    numbers = np.stack([iterated_bracket(single_link, motor_torque, k)(np.full(4, 0.3), [1.0, 1.0, 10.0, 100.0])
                        for k in range(4)], axis=1)
    assert np.linalg.det(numbers) == pytest.approx(1e4, rel=1e-13)


def test_brackets_are_those_of_sympy():
    x = sympy.Matrix(sympy.symbols("x1:4"))
    f = sympy.Matrix([x[1] * sympy.sin(x[2]), x[0] ** 2 - x[2], sympy.exp(x[1])])
    g = sympy.Matrix([x[2], sympy.cos(x[0]), x[0] * x[1]])
    own_f = lambda x: [x[1] * np.sin(x[2]), x[0] ** 2 - x[2], np.exp(x[1])]  # noqa: E731
    own_g = lambda x: [x[2], np.cos(x[0]), x[0] * x[1]]  # noqa: E731
    at = np.array([0.3, -0.7, 1.2])
    there = dict(zip(x, at, strict=True))
    known = g
    for k in range(4):
        found = iterated_bracket(own_f, own_g, k)(at)
        assert np.allclose(found, np.array(known.subs(there), dtype=float).ravel(), rtol=1e-13, atol=1e-13)
        known = sympy_bracket(f, known, x)
    h = sympy.Matrix([x[0] * x[1]])
    for k in range(4):
        found = lie_derivative(lambda x: [x[0] * x[1]], own_f, k)(at)
        assert found[0] == pytest.approx(float(h[0].subs(there)), rel=1e-12)
        h = h.jacobian(x) * f


@pytest.mark.spec("S0-56")
def test_axioms_of_brackets():
    """Antisymmetry, Jacobi's identity, and the product rule, at a batch of states."""
    f = vector_field(lambda x: [x[1] ** 2, np.sin(x[0]), x[0] * x[2]])
    g = vector_field(lambda x: [np.exp(x[2]), x[0], 1.0])
    h = vector_field(lambda x: [x[2], x[1] * x[0], np.cos(x[1])])
    x = np.random.default_rng(0).normal(size=(20, 3))
    assert np.abs(lie_bracket(f, g)(x) + lie_bracket(g, f)(x)).max() < 1e-14
    nested = [lie_bracket(lie_bracket(a, b), c)(x) for a, b, c in ((f, g, h), (g, h, f), (h, f, g))]
    assert np.abs(sum(nested)).max() < 1e-12 * np.abs(nested).max()
    scaled = vector_field(lambda x: x[0] * x[1] * g(x))
    slope = f(x)[:, 0] * x[:, 1] + f(x)[:, 1] * x[:, 0]
    known = (x[:, 0] * x[:, 1])[:, None] * lie_bracket(f, g)(x) + slope[:, None] * g(x)
    assert np.allclose(lie_bracket(f, scaled)(x), known, rtol=1e-12, atol=1e-12)


def test_brackets_are_kernels_of_any_precision_and_language():
    bracket = lie_bracket(drive, turn)
    assert bracket(np.zeros((0, 3))).shape == (0, 3)
    assert bracket(np.zeros(3, dtype=np.float32)).dtype == np.float32
    assert "sin" in bracket.c_source("sideways", n=3).source
    assert np.isnan(bracket([0.0, 0.0, np.nan])[:2]).all()


@pytest.mark.spec("S0-56")
@pytest.mark.parametrize("at", [np.zeros((2, 3)), sympy.symbols("x y t")], ids=["sampled", "symbolic"])
def test_the_unicycle(at):
    found = involutivity([drive, turn], at)
    assert (found.ranks == 2).all() and (found.with_brackets == 3).all()
    assert found.leaving == ((0, 1),) and not found.is_integrable and found.functions == 0
    algebra = controllability_algebra(lambda x: [0.0, 0.0, 0.0], [drive, turn], at)
    assert algebra.is_accessible and algebra.is_strongly_accessible and len(algebra.growth) == 2


def test_the_algebra_of_the_unicycle_is_that_of_plane_motions():
    """Brackets go on until the algebra is closed, if the rank does not end them: it has the dimension 3."""
    widened = [lambda x: [np.cos(x[2]), np.sin(x[2]), 0.0, 0.0], lambda x: [0.0, 0.0, 1.0, 0.0]]
    found = controllability_algebra(lambda x: np.zeros(4), widened, np.zeros(4))
    assert found.dimension == 3 and found.ranks == 3 and not found.is_accessible
    heisenberg = [lambda x: [1.0, 0.0, -x[1] / 2], lambda x: [0.0, 1.0, x[0] / 2]]
    assert controllability_algebra(lambda x: np.zeros(3), heisenberg, np.zeros(3)).dimension is None  # not asked for
    assert controllability_algebra(lambda x: np.zeros(3), heisenberg, np.zeros(3), depth=5).dimension == 3
    engel = [lambda x: [1.0, 0.0, 0.0, 0.0], lambda x: [0.0, 1.0, x[0], x[0] ** 2 / 2]]
    assert controllability_algebra(lambda x: np.zeros(4), engel, np.zeros(4)).growth.tolist() == [2, 3, 4]


@pytest.mark.spec("S0-56")
def test_ranks_at_special_states():
    """The Grushin plane: fields are parallel on a line, where their bracket is not; the exact rank does not see it."""
    fields = [lambda x: [1.0, 0.0], lambda x: [0.0, x[0] ** 2]]
    assert (rank(fields, [[0.0, 1.0], [0.1, 1.0], [1e-12, 0.0]]) == [1, 2, 1]).all()
    assert rank(fields, sympy.symbols("a b")) == 2
    nearly = [lambda x: [1.0, 0.0], lambda x: [1.0, x[0] ** 2]]
    assert rank(nearly, [1e-3, 0.0], tolerance=1e-9) == 2
    assert rank(nearly, [1e-3, 0.0], tolerance=1e-5) == 1
    found = controllability_algebra(fields[0], fields[1:], [[0.0, 1.0], [0.1, 1.0]], depth=4)
    assert found.growth.tolist() == [[1, 2], [1, 2], [2, 2]]
    assert found.strong_ranks.tolist() == [1, 1]  # all but the drift point the same way


@pytest.mark.spec("S0-56")
@pytest.mark.parametrize("power", [1, 2, 3, 4, 5])
def test_singular_states_are_not_taken_for_what_is_never_reached(power):
    """x' = u, y' = x^k v at the origin: the bracket of k + 1 fields is the first that says anything of y, ad^k = k!
    d/dy. Nothing false is said of it at any depth, and what is near is known."""
    fields = [lambda x: [1.0, 0.0], lambda x: [0.0, x[0] ** power]]
    for depth in (*range(1, power + 3), None):
        found = controllability_algebra(lambda x: [0.0, 0.0], fields, np.zeros(2), depth=depth)
        known = depth is None or depth > power
        assert found.is_accessible is found.is_strongly_accessible is (True if known else None)
        assert found.ranks == (2 if known else 1) and found.near == (2, 2)
    far = controllability_algebra(lambda x: [0.0, 0.0], [fields[0], lambda x: [0.0, x[0] ** 9]], np.zeros(2))
    assert far.is_accessible is None and far.dimension is None  # not known, and not no
    never = controllability_algebra(lambda x: [0.0, 0.0], [fields[0], lambda x: [np.exp(x[0]), 0.0]], np.zeros(2))
    assert never.is_accessible is False  # the algebra has no end, but near the state it stays on lines
    here = involutivity(fields, np.zeros(2))
    assert here.is_involutive == (power > 1) and not here.is_integrable and here.near == 2 and here.functions == 0
    assert power == 1 or str(here) == "involutive, but singular: of rank 1 here, and 2 near"
    lifted = [lambda x: [1.0, 0.0, x[1] ** (power + 1)], lambda x: [0.0, 1.0, 0.0]]
    special = involutivity(lifted, np.zeros(3))
    assert special.leaving == ((0, 1),) and not special.is_integrable
    assert str(special) == "not involutive: [X1, X2] are new near this singular state"


@pytest.mark.spec("S0-56")
@pytest.mark.parametrize("at", [np.zeros(2), sympy.symbols("x y")], ids=["sampled", "symbolic"])
def test_a_bracket_that_is_the_drift_counts_without_the_drift(at):
    """x' = 1 + x u, y' = u: [f, g] = f, so that what is reached at one time has an inside."""
    found = controllability_algebra(lambda x: [1.0, 0.0], [lambda x: [x[0], 1.0]], at, depth=4)
    assert found.is_strongly_accessible and found.is_accessible and found.dimension in (None, 2)
    clock = controllability_algebra(lambda x: [1.0, 0.0], [lambda x: [0.0, 1.0 + x[0] ** 2]], at)
    assert clock.is_accessible and clock.is_strongly_accessible is False


def test_exact_ranks_of_decimal_numbers():
    """0.1 * 3 is not 0.3 to the last bit, and 1e-14 is not zero."""
    x = sympy.symbols("a b")
    assert rank([lambda x: [0.3 * x[0], 1.0], lambda x: [(0.1 * 3.0) * x[0], 1.0]], x) == 1
    assert rank([lambda x: [1e-14 * x[0], 1.0], lambda x: [0.0, 1.0]], x) == 2
    assert rank([lambda x: [np.pi * x[0], 1.0], lambda x: [np.pi * x[0] * (1 + 1e-13), 1.0]], x) == 2


def test_an_equilibrium_at_which_only_brackets_with_the_drift_help():
    """A pendulum with torque at rest: f is zero there, the input and [f, g] span all."""
    found = controllability_algebra(lambda x: [x[1], -np.sin(x[0])], [lambda x: [0.0, 1.0]], [0.0, 0.0])
    assert found.is_accessible and found.is_strongly_accessible


@pytest.mark.spec("S0-56")
def test_frobenius():
    """Rotations about two axes are tangent to spheres; where one is zero the rank falls."""
    fields = [lambda x: [-x[1], x[0], 0.0], lambda x: [0.0, -x[2], x[1]]]
    at = np.random.default_rng(1).normal(size=(5, 3))
    found = involutivity(fields, at)
    assert found.is_integrable and found.functions == 1
    radius = lambda x: [x @ x]  # noqa: E731
    assert max(np.abs(lie_derivative(radius, field)(at)).max() for field in fields) < 1e-14
    symbolic = involutivity(fields, sympy.symbols("x y z"))
    assert symbolic.is_integrable and symbolic.ranks == 2
    special = involutivity(fields, [[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])
    assert special.ranks.tolist() == [2, 1] and not special.is_integrable


@pytest.mark.spec("S0-56")
@pytest.mark.parametrize("numbers", [[1.0, 1.0, 10.0, 100.0], [2.0, 1e-4, 0.0, 1e7], [0.3, 0.1, 9.81, 1e1]])
def test_theorem_7_for_the_single_link(numbers):
    at = np.random.default_rng(2).normal(size=(6, 4))
    found = linearisability(single_link, [motor_torque], at, parameters=numbers)
    assert found.is_linearisable and found.chains == (4,) and found.ranks[:, 0].tolist() == [1, 2, 3, 4]
    loose = linearisability(single_link, [motor_torque], at, parameters=[*numbers[:3], 0.0])
    assert not loose.is_linearisable and not loose.is_controllable.any()


@pytest.mark.spec("S0-56")
def test_theorem_7_in_symbols():
    found = linearisability(single_link, [motor_torque], X, parameters=P)
    assert found.is_linearisable and found.chains == (4,) and found.rests
    moved = linearisability(single_link, [motor_torque], X, parameters=P, equilibrium=[sympy.pi / 2, 0, 0, 0])
    assert moved.holds and not moved.rests and "f is not zero" in str(moved)


def test_systems_that_feedback_does_not_make_linear():
    """Hunt's conditions fail each in turn: not involutive (a ball on a beam), not controllable."""
    beam = lambda x: [x[1], x[0] * x[3] ** 2 - 9.81 * np.sin(x[2]), x[3], 0.0]  # noqa: E731
    found = linearisability(beam, [lambda x: [0.0, 0.0, 0.0, 1.0]], [0.2, 0.1, 0.3, 0.4])
    assert found.is_controllable and not found.holds and "not involutive" in str(found)
    apart = linearisability(lambda x: [x[0], x[1]], [lambda x: [1.0, 1.0]], [0.3, 0.2])
    assert not apart.is_controllable and "reach 1 of 2" in str(apart)


def test_several_inputs():
    """A planar arm with two elastic joints has two chains of four; a chained form has none."""
    def arm(x):
        q, qd, theta = x[:2], x[2:4], x[4:6]
        c = np.cos(q[1])
        s = 0.3 * np.sin(q[1])
        M = np.array([[1.4 + 0.6 * c, 0.4 + 0.3 * c], [0.4 + 0.3 * c, 0.4]])
        h = np.array([-s * qd[1] * (2 * qd[0] + qd[1]), s * qd[0] ** 2])
        spring = np.array([200.0, 150.0]) * (theta - q)
        return np.concatenate([qd, np.linalg.solve(M, spring - h), x[6:], -spring / np.array([0.5, 0.25])])

    inputs = [lambda x, k=k: np.eye(8)[6 + k] for k in range(2)]
    found = linearisability(arm, inputs, np.random.default_rng(3).normal(size=(3, 8)))
    assert found.chains == (4, 4) and found.is_linearisable
    chained = [lambda x: [1.0, 0.0, x[1]], lambda x: [0.0, 1.0, 0.0]]
    assert not linearisability(lambda x: np.zeros(3), chained, [0.1, 0.2, 0.3]).holds


def test_relative_degrees():
    """The link's angle sees the motor after four derivatives, its velocity after three; the beam's ball has none."""
    numbers = [1.0, 1.0, 10.0, 100.0]
    at = np.random.default_rng(5).normal(size=(3, 4))
    found = relative_degrees(lambda x: x[:2], single_link, [motor_torque], at, parameters=numbers)
    assert found.degrees == (4, 3) and np.allclose(found.decoupling[..., 0], 100.0)
    exact = relative_degrees(lambda x: x[:1], single_link, [motor_torque], X, parameters=P)
    assert exact.is_complete and sympy.simplify(exact.decoupling[0] - K / (Il * Im)) == 0
    beam = lambda x: [x[1], x[0] * x[3] ** 2 - 9.81 * np.sin(x[2]), x[3], 0.0]  # noqa: E731
    torque = [lambda x: [0.0, 0.0, 0.0, 1.0]]
    assert relative_degrees(lambda x: x[:1], beam, torque, [0.2, 0.1, 0.3, 0.4]).degrees == (3,)
    with pytest.raises(SingularityError, match="at 1 of 2"):
        relative_degrees(lambda x: x[:1], beam, torque, [[0.2, 0.1, 0.3, 0.4], [0.2, 0.1, 0.3, 0.0]])
    never = relative_degrees(lambda x: x[1:], lambda x: [x[1], -x[1]], [lambda x: [1.0, 0.0]], [0.1, 0.2])
    assert never.degrees == (0,) and not never.is_complete


def test_laws_for_outputs():
    """Of the single link, that of the specification; of a car, its middle in front is driven anywhere."""
    numbers = np.array([1.0, 2.0, 10.0, 100.0])
    law = output_linearising_law(lambda x: x[:1], single_link, [motor_torque], [4])
    at = np.random.default_rng(6).normal(size=(5, 4))
    known = FlexibleLink(1.0, 2.0, 10.0, 100.0).law(at, 3.0)
    assert np.allclose(law(at, numbers, [3.0])[:, 0], known, rtol=1e-12, atol=1e-10)
    front = lambda x: [x[0] + 0.3 * np.cos(x[2]), x[1] + 0.3 * np.sin(x[2])]  # noqa: E731
    car = output_linearising_law(front, lambda x: np.zeros(3), [drive, turn], [1, 1])
    u = car([0.0, 0.0, 0.7], [0.4, -0.2])
    assert np.allclose([u[0] * np.cos(0.7) - 0.3 * u[1] * np.sin(0.7), u[0] * np.sin(0.7) + 0.3 * u[1] * np.cos(0.7)],
                       [0.4, -0.2], atol=1e-14)
    middle = output_linearising_law(lambda x: x[:2], lambda x: np.zeros(3), [drive, turn], [1, 1])
    with pytest.raises(TraceError, match="singular whatever"):
        middle([0.0, 0.0, 0.7], [0.4, -0.2])
    bent = output_linearising_law(lambda x: [x[0] * x[1], x[1]], lambda x: np.zeros(2),
                                  [lambda x: [1.0, 0.0], lambda x: [1.0, 1.0]], [1, 1])
    assert np.allclose(bent([0.5, 2.0], [0.4, -0.2]), [(0.4 + 0.2 * 2.5) / 2.0, -0.2])
    with pytest.raises(SingularityError, match="independently"):
        bent([0.5, 0.0], [0.4, -0.2])


@pytest.mark.spec("S0-56")
def test_lie_groups():
    """Vector-parameters are a group, twice the cross product its algebra; a product without associativity is none."""
    rotations = LieGroup(lambda a, b: compose_vector_parameters(a, b), np.zeros(3), lambda a: -a)
    elements = np.random.default_rng(4).normal(size=(5, 3))
    assert rotations.axioms(elements).max() < 1e-10
    epsilon = np.cross(np.eye(3)[:, None], np.eye(3)[None])
    assert np.allclose(np.abs(rotations.structure_constants), 2 * np.abs(epsilon))
    assert algebra_axioms(rotations.structure_constants).max() == 0
    crossed = LieGroup(lambda a, b: a + b + np.cross(a, b), np.zeros(3), lambda a: -a)
    assert crossed.axioms(elements)[0] > 0.1 and crossed.axioms(elements)[1:].max() < 1e-15


def test_algebras_of_matrices():
    turns = np.cross(np.eye(3)[:, None], np.eye(3)[None]).transpose(0, 2, 1)
    c = structure_constants(turns)
    assert algebra_axioms(c).max() < 1e-15
    with pytest.raises(ModelError, match="commutator of matrices 0 and 1"):
        structure_constants(turns[:2])
    with pytest.raises(ModelError, match="dependent"):
        structure_constants([np.eye(2), 2 * np.eye(2)])
    assert algebra_axioms(np.ones((2, 2, 2)))[0] == 2


def test_what_is_no_field_is_refused():
    with pytest.raises(SignatureError, match="3 arguments"):
        vector_field(lambda x, y, z: x)
    with pytest.raises(SignatureError, match="3 arguments"):
        lie_derivative(lambda x, y, z: x, drive)
    assert rank([], np.zeros(3)) == 0
    assert lie_derivative(lambda x: x[0] * x[2], drive)([2.0, 0.0, 0.5]) == pytest.approx(0.5 * np.cos(0.5))
    with pytest.raises(SignatureError, match="give parameters"):
        rank([single_link], np.zeros(4))
    with pytest.raises(SignatureError, match="finite numbers"):
        rank([drive], [np.nan, 0.0, 0.0])
    with pytest.raises(TraceError, match="signature says"):
        rank([lambda x: x[:2]], np.zeros(3))
    for times in (-1, 1.5):
        with pytest.raises(SignatureError, match=f"not {times} times"):
            iterated_bracket(drive, turn, times)
    with pytest.raises(SignatureError, match="function of the state, not 'drive'"):
        lie_bracket("drive", turn)
    for asked in (linearisability, controllability_algebra):
        with pytest.raises(SignatureError, match="given as a list"):
            asked(drive, turn, np.zeros(3))
    for asked in (lambda: relative_degrees(lambda x: x[:1], drive, turn, np.zeros(3)),
                  lambda: output_linearising_law(lambda x: x[:1], drive, turn, [1])):
        with pytest.raises(SignatureError, match="given as a list"):
            asked()
    for tolerance in (-1.0, 1.0, np.nan):
        with pytest.raises(SignatureError, match="tolerance of a rank"):
            rank([drive], np.zeros(3), tolerance=tolerance)


@pytest.mark.parametrize(("angle", "expected"), [(1e-6, 2), (2e-8, 1), (0.0, 1)])
def test_fields_that_nearly_agree_are_one_where_all_functions_say_so(angle, expected):
    """Near a singular state the rank changes where ranks of constraints do, at about 1.5e-7."""
    fields = [lambda x: [1e3, 0.0], lambda x: [np.cos(x[0]), np.sin(x[0])]]
    assert rank(fields, [[angle, 0.0], [angle + np.pi, 0.0]]).tolist() == [expected, expected]
