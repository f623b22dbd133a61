"""Lines in Pluecker coordinates, and dual numbers, angles, vectors and matrices."""

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cayley.errors import GeometryError, SingularityError, UnsupportedError
from cayley.geometry import motions as cm
from cayley.geometry.motions import Dual
from geometry import formulas_of_motions as fm
from geometry.strategies import axes, parallel_axes, rotation_matrices, vectors


def close(found, expected, size=1.0, tolerance=1e-14):
    np.testing.assert_allclose(found, expected, rtol=0,
                               atol=tolerance * max(size, np.max(np.abs(expected), initial=0.0)))


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def poses():
    return st.tuples(rotation_matrices(), vectors()).map(lambda pair: pose(*pair))


@pytest.mark.spec("S0-32")
@given(poses(), vectors(), vectors())
def test_a_line_moves_with_its_points(T, a, b):
    """Move two points and draw the line, or draw the line and move it: the same six numbers.

    Klein's condition stays.
    """
    assume(np.linalg.norm(a - b) > 0.1)
    line = cm.line_through_points(a, b)
    moved = cm.transform_line(T, line)
    R, p = T[:3, :3], T[:3, 3]
    close(moved, cm.line_through_points(R @ a + p, R @ b + p), 1e3)
    close(fm.line_transform(T) @ line, moved, 1e2)
    assert abs(fm.klein_defect(line)) < 1e-13 and abs(fm.klein_defect(moved)) < 1e-13
    close(fm.line_transform(T), np.block([[R, np.zeros((3, 3))], [np.cross(p, R.T).T, R]]), 20)


@pytest.mark.spec("S0-32")
@given(poses(), poses(), vectors(), axes())
def test_group_law_of_line_transforms(A, B, x, e):
    close(fm.line_transform(A) @ fm.line_transform(B), fm.line_transform(cm.compose_poses(A, B)), 1e2)
    close(np.linalg.inv(fm.line_transform(A)), fm.line_transform(cm.inverse_pose(A)), 1e2, tolerance=1e-13)
    line = cm.line_through_point(x, e)
    close(line, [*e, *np.cross(x, e)], 20)
    foot = cm.point_of_line(line)
    close(foot @ e, 0.0, 20)
    close(np.cross(foot, e), line[3:], 20)
    close(cm.point_of_line(-7 * line), foot, 20)


@pytest.mark.spec("S0-32")
@given(vectors(), axes(), axes(), st.floats(-5, 5), st.floats(-3, 3), st.floats(-3, 3))
def test_angle_and_distance_of_skew_lines(x, e1, e2, gap, s, t):
    """Two lines are built from their common normal; angle, distance and normal come back, and the mutual moment is -d
    sin.
    """
    normal = np.cross(e1, e2)
    sine = np.linalg.norm(normal)
    assume(sine > 1e-3)
    one = cm.line_through_point(x + s * e1, e1)
    two = cm.line_through_point(x + gap * normal / sine + t * e2, e2)
    found = cm.between_lines(one, two)
    close(found.angle, np.arctan2(sine, e1 @ e2))
    close(found.distance, gap, 1e2 / sine)
    close(found.normal, normal / sine, 1 / sine)
    close(cm.reciprocal_product(one, two), -gap * sine, 1e2)
    # the dual angle: cos(phi + mu d) is the dual scalar product, its sine the dual vector product
    dual = Dual(one[:3], one[3:]) @ Dual(two[:3], two[3:])
    angle = Dual(found.angle, found.distance)
    close([dual.real, dual.dual], [cm.dual_cos(angle).real, cm.dual_cos(angle).dual], 1e2)
    across = cm.dual_norm(cm.dual_cross(Dual(one[:3], one[3:]), Dual(two[:3], two[3:])))
    close([across.real, across.dual], [cm.dual_sin(angle).real, cm.dual_sin(angle).dual], 1e3 / sine)


@pytest.mark.spec("S0-32")
@given(vectors(), axes(), vectors(), st.sampled_from([1.0, -1.0, 3.0]))
def test_parallel_and_coincident_lines(x, e, aside, factor):
    y = x + aside
    found = cm.between_lines(cm.line_through_point(x, e), factor * cm.line_through_point(y, e))
    across = aside - e * (e @ aside)
    close(found.angle, np.pi if factor < 0 else 0.0)
    close(found.distance, np.linalg.norm(across), 50)
    if np.linalg.norm(across) > 1e-3:
        close(found.normal, across / np.linalg.norm(across), 1e2 / np.linalg.norm(across))


@given(parallel_axes(), vectors(), vectors())
def test_almost_parallel_lines_have_finite_distances(pair, x, y):
    found = cm.between_lines(cm.line_through_point(x, pair[0]), cm.line_through_point(y, pair[1]))
    assert np.isfinite(found.distance) and abs(np.linalg.norm(found.normal) - 1) < 1e-14


@pytest.mark.spec("S0-32")
def test_what_is_not_a_line_is_refused():
    with pytest.raises(GeometryError, match=r"line 1 of the batch breaks Klein's condition: e\.m = 12"):
        cm.transform_line(np.eye(4), [[0, 0, 1.0, 0, 0, 0], [0, 0, 2.0, 1, 0, 6]])
    with pytest.raises(GeometryError, match="no direction"):
        cm.between_lines([0, 0, 1.0, 0, 0, 0], np.zeros(6))
    with pytest.raises(SingularityError, match="coincide"):
        cm.line_through_points([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    with pytest.raises(GeometryError, match="unit"):
        cm.line_through_point([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])


# Dual numbers

FUNCTIONS = {
    "sin": (cm.dual_sin, mpmath.sin, (-3, 3)),
    "cos": (cm.dual_cos, mpmath.cos, (-3, 3)),
    "tan": (cm.dual_tan, mpmath.tan, (-1.4, 1.4)),
    "exp": (cm.dual_exp, mpmath.exp, (-3, 3)),
    "log": (cm.dual_log, mpmath.log, (0.1, 9)),
    "sqrt": (cm.dual_sqrt, mpmath.sqrt, (0.1, 9)),
    "arcsin": (cm.dual_arcsin, mpmath.asin, (-0.99, 0.99)),
    "arccos": (cm.dual_arccos, mpmath.acos, (-0.99, 0.99)),
    "arctan": (cm.dual_arctan, mpmath.atan, (-9, 9)), }


@pytest.mark.spec("S0-33")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_dual_numbers(name):
    """f(a + mu b) = f(a) + mu b f'(a), with the derivative from mpmath."""
    function, exact, (low, high) = FUNCTIONS[name]
    a = np.linspace(low, high, 7)
    found = function(Dual(a, np.full(7, 1.7)))
    np.testing.assert_allclose(found.real, [float(exact(mpmath.mpf(x))) for x in a], rtol=1e-14, atol=1e-15)
    with mpmath.workdps(40):
        slopes = [float(mpmath.diff(exact, mpmath.mpf(x))) for x in a]
    np.testing.assert_allclose(found.dual, 1.7 * np.array(slopes), rtol=1e-13, atol=1e-15)


@pytest.mark.spec("S0-33")
@pytest.mark.parametrize("power", [0.5, 1 / 3, 1.5, -0.5, 2.0, 3])
def test_powers_of_dual_numbers(power):
    a = np.array([0.3, 1.0, 7.0])
    found = Dual(a, np.full(3, 1.7)) ** power
    np.testing.assert_allclose(found.real, a**power, rtol=1e-15)
    np.testing.assert_allclose(found.dual, 1.7 * power * a ** (power - 1), rtol=1e-14)


@pytest.mark.spec("S0-33")
def test_operators_of_dual_numbers_stay_within_the_typed_errors():
    for bad in (lambda: Dual(-2.0, 1.0)**0.5, lambda: Dual(np.array([1.0, -2.0]), np.ones(2))**-1.5,
                lambda: cm.dual_sqrt(Dual(-1.0))):
        with pytest.raises(GeometryError, match="negative real part"):
            bad()
    for bad in (lambda: cm.MU**0.5, lambda: cm.MU**-1, lambda: cm.MU**-0.5, lambda: 1 / cm.MU,
                lambda: cm.dual_sqrt(cm.MU), lambda: Dual(np.array([1.0, 0.0]), np.ones(2))**0.25):
        with pytest.raises(SingularityError, match="real part is zero"):
            bad()
    with pytest.raises(UnsupportedError, match="dual_exp"):
        Dual(2.0, 1.0) ** Dual(1.0, 1.0)
    assert Dual(0.0, 3.0) ** 1 == Dual(0.0, 3.0) and Dual(0.0, 3.0) ** 2 == 0.0 and cm.MU**0 == 1


@pytest.mark.spec("S0-33")
def test_equality_of_dual_numbers():
    assert Dual(1.0, 2.0) == Dual(1.0, 2.0) == Dual(1, 2) and Dual(1.0, 2.0) != Dual(1.0, 3.0) and Dual(1.0, 2.0) != 1.0
    assert Dual(3.0) == 3 and Dual(3.0) == 3 and hash(Dual(3.0)) == hash(3) and cm.MU * cm.MU == 0
    assert len({Dual(1.0, 2.0), Dual(1, 2), Dual(2.0, 1.0)}) == 2
    rows = Dual(np.arange(3.0), np.ones(3))
    assert rows == Dual(np.arange(3.0), np.ones(3)) and rows != Dual(np.arange(3.0), np.zeros(3))
    assert Dual(np.ones(2), np.zeros(2)) == np.ones(2)
    assert Dual(1.0, 2.0) != "1 + 2 mu"
    with pytest.raises(TypeError, match="unhashable"):
        hash(rows)


def duals(low=-5.0, high=5.0):
    return st.builds(Dual, st.floats(low, high), st.floats(-5, 5))


def equal(a, b, size=1.0):
    close([a.real, a.dual], [b.real, b.dual], size)


@pytest.mark.spec("S0-33")
@given(duals(), duals(), duals(0.5), st.floats(-3, 3))
def test_field_laws_of_dual_numbers(a, b, c, number):
    equal(a + b, b + a)
    equal((a + b) * c, a * c + b * c, 1e2)
    equal((a * b) * c, a * (b * c), 1e3)
    equal(a - a, Dual(0.0, 0.0))
    equal((a / c) * c, a, 1e2)
    equal(c / c, Dual(1.0, 0.0), 1e2)
    equal(c**3, c * c * c, 1e3)
    equal(c**-2, 1 / (c * c), 1e3)
    equal(a**0, Dual(1.0, 0.0))
    equal(number + a - number, a)
    equal(number - a, -(a - number))
    equal(number * a, a * number)
    equal(number / c, Dual(number, 0.0) / c, 1e2)
    root = cm.dual_sqrt(c)
    equal(root * root, c)
    equal(cm.dual_sin(a) ** 2 + cm.dual_cos(a) ** 2, Dual(1.0, 0.0), 10)
    equal(cm.dual_arctan2(3.0 * cm.dual_sin(c), 3.0 * cm.dual_cos(c)),
          Dual(np.arctan2(np.sin(c.real), np.cos(c.real)), c.dual), 10)
    squared = cm.MU * cm.MU
    assert squared.real == 0 and squared.dual == 0
    array = np.array([1.0, 2.0]) * a
    close(array.real, [a.real, 2 * a.real])


@pytest.mark.spec("S0-33")
def test_where_dual_functions_do_not_exist():
    pure = Dual(0.0, 1.0)
    for call, message in ((lambda: 1 / pure, "no inverse"), (lambda: Dual(np.array([1.0, 0.0]), np.ones(2))**-1,
                                                             "no inverse"),
                          (lambda: cm.dual_sqrt(pure), "no square root"), (lambda: cm.dual_log(pure), "no logarithm"),
                          (lambda: cm.dual_arcsin(Dual(1.0, 1.0)),
                           "arctan2"), (lambda: cm.dual_arccos(Dual(-1.0, 1.0)),
                                        "arctan2"), (lambda: cm.dual_arctan2(pure, pure), "not determined"),
                          (lambda: cm.dual_norm(Dual(np.zeros(3), np.ones(3))), "no square root")):
        with pytest.raises(SingularityError, match=message):
            call()
    for call in (lambda: cm.dual_sqrt(Dual(-1.0, 0.0)), lambda: cm.dual_log(Dual(-1.0, 0.0)),
                 lambda: cm.dual_arcsin(Dual(1.5, 0.0)), lambda: cm.dual_arccos(Dual(-1.5, 0.0))):
        with pytest.raises(GeometryError):
            call()


@pytest.mark.spec("S0-33")
@given(poses(), poses(), vectors(), axes())
def test_dual_orthogonal_matrices(A, B, x, e):
    """O O^T = 1 over dual numbers; products are poses; a dual vector moves as a line does."""
    O = fm.dual_matrix_from_pose(A)
    close(O, [A[:3, :3], np.cross(A[:3, 3], A[:3, :3].T).T], 20)
    assert fm.dual_orthogonality_defect(O) < 1e-13
    close(fm.pose_from_dual_matrix(O), A, 20)
    both = fm.compose_dual_matrices(O, fm.dual_matrix_from_pose(B))
    close(fm.pose_from_dual_matrix(both), A @ B, 50)
    line = cm.line_through_point(x, e)
    close(fm.transform_dual_vector(O, line.reshape(2, 3)).ravel(), cm.transform_line(A, line), 1e2)
    product = Dual(O[0], O[1]) @ Dual(O[0], O[1]).T
    close(product.real, np.eye(3))
    close(product.dual, 0.0, 20)


@pytest.mark.spec("S0-33")
def test_dual_matrices_that_are_none():
    with pytest.raises(GeometryError, match="dual matrix 1 of the batch is not orthogonal"):
        fm.pose_from_dual_matrix([[np.eye(3), np.zeros((3, 3))], [np.eye(3), np.eye(3)]])
    with pytest.raises(GeometryError, match="not a rotation"):
        fm.pose_from_dual_matrix([2 * np.eye(3), np.zeros((3, 3))])
