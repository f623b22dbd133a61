"""Symmetric 3x3 matrices diagonalized by rotations, both levels, and what follows from it (S0-37 to S0-40)."""

from math import prod

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from cayley.compiler.algebras.interpret import SYMPY
from cayley.errors import GeometryError
from cayley.geometry import principal_axes as pa
from cayley.geometry.rotations.homogeneous import compose_homogeneous, matrix_from_homogeneous
from geometry.parity_of_many import check_parity_of_many

RNG = np.random.default_rng(37)
A = np.array([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]])  # WE-08
X = -0.3636200890, 2.4773960024, 2.8862240867
Z = [(1.0398020689, -1.0888798965), (8.8858379606, -0.8032434289), (1.6435153712, -5.6770320753)]
U = {(0, 0): (-0.3304569929, 0.5032428787, -1.9871120733,
              3.0261123879), (0, 1): (-0.1180254116, 0.7888681055, -1.2676390299,
                                      8.4727516423), (1, 0): (-0.7056138043, 0.1725983895, -5.7937968183, 1.4172058341),
     (1, 1): (-0.6447334473, 0.2160025099, -4.6295758348, 1.5510285750),
     (2, 0): (-0.7328720502, 0.1541533028, -6.4870488147, 1.3644946614),
     (2, 1): (-0.6912330672, 0.1825691200, -5.4773775537, 1.4466900493)}
SPECTRA = st.sampled_from([(1, 2, 3), (-1, 0, 1), (1, 1, 3), (1, 3, 3), (2, 2, 2), (0, 0, 0), (0, 0, 5),
                           (1, 1 + 1e-15, 2), (1, 1 + 1e-13, 2), (1, 1 + 1e-10, 2), (1, 1 + 1e-6, 2), (1e-8, 1, 1e8),
                           (-4, -4 + 1e-12, -4 - 1e-12), (1e-200, 2e-200, 3e-200)])
SEEDS = st.integers(0, 2**32 - 1)


def close(found, expected, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0)))


def of_parameter(c):
    c = np.asarray(c)
    hat = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    return ((1 - c @ c) * np.eye(3) + 2 * np.outer(c, c) + 2 * hat) / (1 + c @ c)


def off(M):
    return max(abs(M[0, 1]), abs(M[0, 2]), abs(M[1, 2]))


def with_spectrum(values, seed, zeros=None):
    R = Rotation.random(rng=np.random.default_rng(seed)).as_matrix()
    if zeros is not None:  # turn about one axis only: off-diagonal zeros, eigenvectors without some component
        R = Rotation.from_euler("xyz"[zeros], 0.7).as_matrix()
    M = R @ np.diag(np.array(values, float)) @ R.T
    return (M + M.T) / 2


# First level


@pytest.mark.spec("S0-37")
def test_worked_example_08_first_level():
    close(pa.elimination_cubic(A), [5, -25, 26, 13])
    close(pa.elimination_quartic(A), [40, 40, 44, 0, 13])
    found = pa.first_level(A)
    assert found.pairs.shape == (6, 2) and not found.free and not found.skipped and found.residual < 1e-15
    close(found.pairs[:, 0], np.repeat(X, 2), 1e-9)
    close(found.pairs[:, 1], np.ravel(Z), 1e-9)
    sextic = [25, -100, -1260, 1220, 3111, -1238, -1885]  # eliminating x instead leaves the six z
    for z in found.pairs[:, 1]:
        assert abs(np.polyval(sextic, z)) < 1e-9 * np.polyval(np.abs(sextic), abs(z))


@pytest.mark.spec("S0-37")
def test_quartics_and_polynomials_symbolically():
    a11, a22, a33, a12, a13, a23, x, z = sympy.symbols("a11 a22 a33 a12 a13 a23 x z")
    S = sympy.Matrix([[a11, a12, a13], [a12, a22, a23], [a13, a23, a33]])
    c = sympy.Matrix([x, 0, z])
    numerator = (1 - x**2 - z**2) * sympy.eye(3) + 2 * c * c.T + 2 * sympy.Matrix([[0, -z, 0], [z, 0, -x], [0, x, 0]])
    B = (numerator.T * S * numerator).applyfunc(sympy.expand)
    cells = [[a11, a12, a13], [a12, a22, a23], [a13, a23, a33]]
    b12, b13 = pa.elimination_quartics.evaluate(SYMPY, cells, x)
    P = pa.elimination_cubic.evaluate(SYMPY, cells)
    Q = pa.elimination_quartic.evaluate(SYMPY, cells)
    powers = [z ** (4 - k) for k in range(5)]
    assert sympy.expand(B[0, 1] - sum(q * p for q, p in zip(list(b12), powers, strict=True))) == 0
    assert sympy.expand(B[0, 2] - sum(q * p for q, p in zip(list(b13), powers, strict=True))) == 0
    printed = ((a11 * a12 * a23 - a12**2 * a13 + a13 * a23**2 - a12 * a23 * a33) * x**3 +
               (a11 * a12 * a22 - a12**3 + 2 * a12 * a13**2 + 2 * a13 * a22 * a23 - a11 * a13 * a23 - a12 * a23**2
                - a11 * a12 * a33 - a12 * a22 * a33 - a13 * a23 * a33 + a12 * a33**2) * x**2 +
               (2 * a12**2 * a13 - a13**3 - a11 * a13 * a22 + a13 * a22**2 - a11 * a12 * a23 - a12 * a22 * a23
                - a13 * a23**2 - a13 * a22 * a33 + a11 * a13 * a33 + 2 * a12 * a23 * a33) * x + a11 * a13 * a23
               - a12 * a13**2 - a13 * a22 * a23 + a12 * a23**2)
    assert sympy.expand(printed - sum(p * x ** (3 - k) for k, p in enumerate(list(P)))) == 0
    squares = (a11 * (1 + x**2) - a22 - 2 * a23 * x - a33 * x**2) ** 2 + 4 * (1 + x**2) * (a12 + a13 * x) ** 2
    assert sympy.expand(squares - sum(q * x ** (4 - k) for k, q in enumerate(list(Q)))) == 0


@pytest.mark.spec("S0-37")
@given(SEEDS, st.floats(-3, 3))
def test_determinant_of_the_dialytic_matrix_factors(seed, x):
    M = np.random.default_rng(seed).normal(size=(3, 3))
    M = M + M.T
    U_matrix = pa.dialytic_matrix(M, x)
    expected = 256 * (1 + x * x)**3 * np.polyval(pa.elimination_cubic(M), x)**2 * np.polyval(
        pa.elimination_quartic(M), x)
    size = np.prod(np.linalg.norm(U_matrix, axis=1))  # Hadamard
    assert abs(np.linalg.det(U_matrix) - expected) <= 1e-13 * size


@pytest.mark.spec("S0-37")
def test_rank_drops_by_two_at_a_root():
    for x in pa.first_level(A).pairs[::2, 0]:
        sizes = np.linalg.svd(pa.dialytic_matrix(A, x), compute_uv=False)
        assert sizes[5] > 1e-3 and sizes[6] < 1e-9  # two z for one x, spec E-35
    generic = np.linalg.svd(pa.dialytic_matrix(A, 0.123), compute_uv=False)
    assert generic[-1] > 1e-3


@pytest.mark.spec("S0-37")
@given(SEEDS)
def test_roots_are_quotients_of_the_eigenvectors(seed):
    M = np.random.default_rng(seed).normal(size=(3, 3))
    M = M + M.T
    found = pa.first_level(M)
    vectors = np.linalg.eigh(M)[1]
    assert len(found.pairs) == 6 and found.residual < 4e-15
    np.testing.assert_allclose(found.pairs[::2, 0], np.sort(vectors[2] / vectors[1]), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.pairs[::2, 1] * found.pairs[1::2, 1], -(1 + found.pairs[::2, 0] ** 2), rtol=1e-12)
    for x, z in found.pairs:
        B = of_parameter([x, 0, z]).T @ M @ of_parameter([x, 0, z])
        assert max(abs(B[0, 1]), abs(B[0, 2])) < 2e-14 * np.abs(M).max()
    Q = pa.elimination_quartic(M)
    assert np.abs(np.roots(Q).imag).min() > 0  # a sum of squares has no real root


@pytest.mark.spec("S0-37")
def test_degenerate_first_levels():
    diagonal_row = np.array([[1.0, 0, 0], [0, 2.0, 0.5], [0, 0.5, 3.0]])
    skipped = pa.first_level(diagonal_row)
    assert skipped.skipped and skipped.pairs.tolist() == [[0.0, 0.0]]
    assert pa.first_level(np.zeros((3, 3))).skipped and pa.first_level(5 * np.eye(3)).skipped
    repeated = with_spectrum((1, 1, 3), 5)
    assert np.abs(pa.elimination_cubic(repeated)).max() < 1e-14
    free = pa.first_level(repeated)
    assert free.free and free.pairs.shape == (2, 2) and not free.pairs[:, 0].any() and free.residual < 1e-14
    # an eigenvector without a second component: the degree of P drops and two pairs fall out
    about_y = with_spectrum((1, 2, 3), 0, zeros=1)
    found = pa.first_level(about_y)
    assert len(found.pairs) == 2 and found.residual < 1e-15
    # x is the quotient of two eigenvectors: a13 = a12 x, and P has a double root
    v = np.array([[1.0, 1.0, 0.5], [-1.25, 1.0, 0.5]])
    third = np.cross(*v)
    basis = np.stack([*v, third]) / np.linalg.norm([*v, third], axis=1)[:, None]
    double = sum(value * np.outer(e, e) for value, e in zip((1, 2, 4), basis, strict=True))
    found = pa.first_level(double)
    np.testing.assert_allclose(found.pairs[:, 0], sorted([0.5] * 4 + [-2.0] * 2), atol=1e-12)
    assert found.residual < 1e-15
    with pytest.raises(GeometryError, match="not symmetric"):
        pa.first_level(A + np.eye(3, k=1))
    with pytest.raises(GeometryError):
        pa.first_level(np.full((3, 3), np.nan))


@pytest.mark.spec("S0-37")
def test_a_root_of_the_quartic_is_a_root_of_the_cubic():
    # a11 chosen so that both squares of Q vanish at x0 = -a12/a13
    a12, a13, a22, a33, a23 = 0.7, -1.1, 0.4, 2.0, 0.9
    x0 = -a12 / a13
    a11 = (a22 + 2 * a23 * x0 + a33 * x0**2) / (1 + x0**2)
    M = np.array([[a11, a12, a13], [a12, a22, a23], [a13, a23, a33]])
    assert abs(np.polyval(pa.elimination_quartic(M), x0)) < 1e-14
    assert abs(np.polyval(pa.elimination_cubic(M), x0)) < 1e-14
    assert pa.first_level(M).residual < 1e-14


# Second level and all rotations


@pytest.mark.spec("S0-38")
def test_worked_example_08_second_level():
    for k, (x, z) in enumerate(pa.first_level(A).pairs):
        O = of_parameter([x, 0, z])
        B = O.T @ A @ O
        roots = pa.second_level_roots(B)
        close(roots, U[divmod(k, 2)], 1e-9)
        a = (B[2, 2] - B[1, 1]) / B[1, 2]
        for u in roots:
            assert abs(np.polyval([1, -2 * a, -6, 2 * a, 1],
                                  u)) < 1e-9 * np.polyval([1, abs(2 * a), 6, abs(2 * a), 1], abs(u))
    smallest = pa.diagonalize(A)
    close(smallest.vector_parameter, [-0.1725983895, 0.2982267293, -0.0644177220], 1e-9)
    close(smallest.values, [-0.086505261146, -1.702701264252, 6.789206525398], 1e-9)


@pytest.mark.spec("S0-38")
@given(st.floats(-1e18, 1e18), st.floats(-1, 1), st.sampled_from([1.0, 1e-9, 1e9]))
def test_roots_of_the_quartic_keep_their_digits(difference, b23, size):
    B = np.array([[0, 0, 0], [0, 0, b23 * size], [0, b23 * size, difference * size]])
    roots = pa.second_level_roots(B)
    assert -1 < roots[0] <= 0 < roots[1] <= 1 and roots[2] <= -1 and 1 < roots[3] <= np.inf
    if b23 * size == 0:
        assert roots.round(15).tolist() == [0, 1, -1, np.inf]
        return
    with mpmath.workdps(1500):  # the radicals lose twice the digits of a
        a = mpmath.mpf(difference * size) / mpmath.mpf(b23 * size)
        M = mpmath.sqrt(a * a + 4)
        exact = [(a + M - mpmath.sqrt(2 * (M * M + a * M))) / 2, (a - M + mpmath.sqrt(2 * (M * M - a * M))) / 2,
                 # (185)-(188)
                 (a - M - mpmath.sqrt(2 * (M * M - a * M))) / 2, (a + M + mpmath.sqrt(2 * (M * M + a * M))) / 2]
        if exact[0] < -0.9 and roots[0] == 0:  # it rounds to -1: the four are given from the next one on
            exact = [exact[1], exact[3], exact[0], 1 / abs(exact[1])]
        for found, right in zip(roots[:3], exact[:3], strict=True):
            assert abs(mpmath.atan(found) - mpmath.atan(right)) < 4e-16
        assert abs(1 / mpmath.mpf(float(roots[3]))
                   - 1 / exact[3]) < 4e-16 if np.isfinite(roots[3]) else abs(1 / exact[3]) < 1e-15


@pytest.mark.spec("S0-38")
def test_second_level_without_anything_to_do():
    for values in ((1.0, 2.0, 3.0), (1.0, 3.0, 2.0), (1.0, 2.0, 2.0), (0.0, 0.0, 0.0), (3.0, -1.0, -2.0)):
        for zero in (0.0, -0.0):
            B = np.diag(values) + zero * (1 - np.eye(3))
            rotations = pa.second_level_rotations(B)
            close(rotations[0], [1, 0, 0, 0])
            close(np.abs(rotations[3]), [0, 1, 0, 0])  # u = infinity is the half-turn
            assert pa.second_level_roots(B).round(15).tolist() == [0.0, 1.0, -1.0, np.inf]
        for h in pa.second_level_rotations(np.diag(values)):
            O = matrix_from_homogeneous(h)
            assert off(O.T @ np.diag(values) @ O) < 1e-15


def distinct(forms):
    """How many different rotations: [w : v] and its negative are one."""
    gram = np.abs(forms @ forms.T)
    return int(np.sum(np.triu(gram > 1 - 1e-9).sum(axis=0) == 1))


@pytest.mark.spec("S0-38")
@given(SEEDS)
def test_both_levels_together_give_the_24_rotations_of_the_cube(seed):
    M = np.random.default_rng(seed).normal(size=(3, 3))
    M = M + M.T
    forms = pa.rotations_by_elimination(M)
    assert len(forms) == 24 and distinct(forms) == 24
    for h in forms:
        O = matrix_from_homogeneous(h)
        assert off(O.T @ M @ O) < 3e-14 * np.abs(M).max()
    every = pa.diagonalizing_rotations(M)
    assert every.distinct == 3 and distinct(every.homogeneous) == 24
    assert np.all(np.abs(forms @ every.homogeneous.T).max(axis=1) > 1 - 1e-9)  # the same set
    assert np.all(np.diff(every.homogeneous[:, 0]) < 1e-11) and np.all(every.homogeneous[:, 0] >= -1e-15)
    relative = np.round(np.abs(np.swapaxes(every.matrix[:1], 1, 2) @ every.matrix), 12)
    assert set(relative.ravel()) == {0.0, 1.0}  # signed permutations


@pytest.mark.spec("S0-38", "S0-37")
@settings(max_examples=2 * settings.default.max_examples)
@given(SPECTRA, SEEDS, st.sampled_from([None, None, 0, 1, 2]))
def test_diagonalization_with_repeated_and_nearly_repeated_eigenvalues(values, seed, zeros):
    M = with_spectrum(values, seed, zeros)
    found = pa.diagonalizing_rotations(M)
    size = np.abs(M).max()
    assert found.homogeneous.shape == (24, 4) and distinct(found.homogeneous) == 24
    assert found.residual <= 2e-15
    close(np.linalg.norm(found.homogeneous, axis=1), np.ones(24), 1e-15)
    for h, diagonal in zip(found.homogeneous, found.values, strict=True):
        O = matrix_from_homogeneous(h)
        assert np.abs(O.T @ M @ O - np.diag(diagonal)).max() <= 2e-15 * size
        np.testing.assert_allclose(np.sort(diagonal), np.linalg.eigvalsh(M), rtol=0, atol=4e-15 * size)
    gaps = np.diff(np.sort(values)) / (np.abs(values).max() or 1)
    if not np.any((gaps > 1e-14) & (gaps < 1e-11)):  # between them, equal or not is a matter of taste
        assert found.distinct == 1 + np.sum(gaps > 1e-11)


@pytest.mark.spec("S0-38")
def test_a_diagonal_matrix_is_left_alone_and_a_half_turn_is_no_trouble():
    still = pa.diagonalize(np.diag([3.0, 1.0, 2.0]))
    close(still.homogeneous, [1, 0, 0, 0])
    assert still.values.tolist() == [3, 1, 2]
    # x u = 1: the composed vector-parameter is infinite, the rotation is a half-turn
    first, second = np.array([1.0, 0.5, 0.0, 0.3]), np.array([1.0, 2.0, 0.0, 0.0])
    O = matrix_from_homogeneous(compose_homogeneous(first, second))
    M = O @ np.diag([1.0, 2.0, 4.0]) @ O.T
    M = (M + M.T) / 2
    assert np.any(np.abs(pa.rotations_by_elimination(M)[:, 0]) < 1e-14)
    found = pa.diagonalizing_rotations(M)
    assert np.any(np.abs(found.homogeneous[:, 0]) < 1e-14) and found.residual < 1e-15
    assert np.isfinite(pa.diagonalize(M).vector_parameter).all()


@pytest.mark.spec("S0-38")
def test_the_smallest_rotation_really_is():
    for _ in range(20):
        M = RNG.normal(size=(3, 3))
        M = M + M.T
        vectors = np.linalg.eigh(M)[1]
        best = 0.0
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            for signs in np.ndindex(2, 2, 2):
                O = vectors[:, order] * (1 - 2 * np.array(signs))
                if np.linalg.det(O) > 0:
                    best = max(best, np.trace(O))
        close(np.trace(pa.diagonalize(M).matrix), best, 1e-12)


# Point mass


def inertia_of_point(m, p):
    return m * ((p @ p) * np.eye(3) - np.outer(p, p))


@pytest.mark.spec("S0-39")
def test_worked_example_09():
    found = pa.point_mass_rotations(1.0, [1.0, 2.0, 2.0])
    root = np.sqrt(5)
    close(found.first[:, 3] / found.first[:, 0], [2 + root, 2 - root], 1e-14)
    plus = np.array([1 / root, (root + 3) / 2, -root, (root - 3) / 2])
    close(found.second[..., 1] / found.second[..., 0], [plus, -plus], 1e-14)
    I = inertia_of_point(1.0, np.array([1.0, 2.0, 2.0]))
    close(I, [[8, -2, -2], [-2, 5, -4], [-2, -4, 5]])
    assert np.abs(pa.elimination_cubic(I)).max() == 0  # x is free
    for k, sign in enumerate((1, -1)):
        z = found.first[k, 3] / found.first[k, 0]
        O = of_parameter([0, 0, z])
        close(O.T @ I @ O, [[9, 0, 0], [0, 4, sign * 2 * root], [0, sign * 2 * root, 5]], 1e-14)  # (193)
        for i in range(4):
            u = found.second[k, i, 1] / found.second[k, i, 0]
            c = found.composed[k, i, 1:] / found.composed[k, i, 0]
            close(c, [u, u * z, z], 1e-13)
            O = of_parameter(c)
            # odd and even for both signs, spec E-38a
            close(O.T @ I @ O, np.diag([9, 9, 0] if i % 2 == 0 else [9, 0, 9]), 1e-13)
            close(found.values[k, i], [9, 9, 0] if i % 2 == 0 else [9, 0, 9], 1e-14)


@pytest.mark.spec("S0-39")
@given(st.floats(0.1, 5),
       st.tuples(*[st.one_of(st.sampled_from([0.0, 1e-8, 1e-16, -1e-12, 1.0]), st.floats(-3, 3))] * 3))
def test_point_mass_anywhere(mass, place):
    p = np.array(place)
    found = pa.point_mass_rotations(mass, p)
    I = inertia_of_point(mass, p)
    for k in range(2):
        for i in range(4):
            O = matrix_from_homogeneous(found.composed[k, i])
            np.testing.assert_allclose(O.T @ I @ O, np.diag(found.values[k, i]), rtol=0, atol=2e-15 *
                                       (np.abs(I).max() + 1e-300))
    close(np.linalg.norm(found.composed, axis=-1), np.ones((2, 4)), 1e-15)
    close(found.values[0, 0], mass * (p @ p) * np.array([1, 1, 0]))


@pytest.mark.spec("S0-39")
def test_point_mass_on_planes_and_axes():
    on_plane = pa.point_mass_rotations(1.0, [0.0, 2.0, 1.0])  # xi = 0: the first level is the identity, or a half-turn
    close(np.abs(on_plane.first), [[0, 0, 0, 1], [1, 0, 0, 0]])
    # zeta = 0: I+- is diagonal already, and u = 0 is among the roots
    flat = pa.point_mass_rotations(1.0, [1.0, 2.0, 0.0])
    assert np.any(np.abs(flat.second[0, :, 1]) < 1e-15)
    on_axis = pa.point_mass_rotations(2.0, [0.0, 0.0, 3.0])
    close(on_axis.values[1, 0], [18, 18, 0])
    close(np.abs(on_axis.composed[1, 0]), [1, 0, 0, 0])  # diagonal from the start
    assert not pa.point_mass_rotations(0.0, [1.0, 2.0, 3.0]).values.any()


# Linear systems


@pytest.mark.spec("S0-40")
def test_worked_example_10():
    found = pa.symmetric_exponential(A, 0.5)
    close(found[np.triu_indices(3)],
          [9.7143503527, 4.3305995992, 12.5364499946, 2.6420859933, 6.3844551837, 18.8308983540], 1e-9)
    close(found, found.T)
    X_half = pa.linear_solution(A, [[1, 0, -1], [0, 1, 2]], 0.5).value
    close(X_half, [1.0170370336, 0.4383001477, 0.0767710131], 1e-9)


@pytest.mark.spec("S0-40")
@given(SPECTRA, SEEDS, st.floats(-3, 3))
def test_exponential_in_fifty_digits(values, seed, t):
    assume(np.abs(values).max() <= 100)
    M = with_spectrum(values, seed)
    with mpmath.workdps(50):
        expected = np.array((mpmath.expm(mpmath.matrix(M.tolist()) * mpmath.mpf(t))).tolist()).astype(float)
    growth = 1 + abs(t) * np.abs(values).max()  # the condition of the problem: an error of A grows so
    np.testing.assert_allclose(pa.symmetric_exponential(M, t), expected, rtol=0,
                               atol=4e-15 * growth * np.abs(expected).max())
    scipys = expm(t * M)
    np.testing.assert_allclose(scipys, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.spec("S0-40")
@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("values", [(1, 2, 3), (-1, 0, 4), (-2, -2, 0), (0, 0, 0), (1e-6, -1e-6, 1e-12), (-9, 7, 1)])
def test_any_order_against_the_companion_matrix(order, values):
    M = with_spectrum(values, 3)
    companion = np.kron(np.eye(order, k=1), np.eye(3))
    companion[-3:, :3] = M
    initial = RNG.normal(size=(order, 3, 2))
    for t in (0.0, 0.3, 1.7, -0.8, 4.0):
        expected = (expm(t * companion) @ initial.reshape(3 * order, 2))[:3]
        found = pa.linear_solution(M, initial, t)
        assert found.scaled.shape == (3, 2) and found.exponent == 0
        np.testing.assert_allclose(found.value, expected, rtol=0, atol=1e-11 * max(1, np.abs(expected).max()))


@pytest.mark.spec("S0-40")
@given(st.floats(-50, 50),
       st.integers(1, 5) | st.sampled_from([6, 8, 10, 16, 20, 40, 100]),
       st.floats(-3, 3) | st.floats(-40, 40))
def test_modes_are_mittag_leffler_functions(mu, order, t):
    """To a few roundings of each of them, however small: times the condition 1 + |mu|^(1/s) |t|."""
    assume(abs(mu) > 1e-200 or mu == 0)
    found = pa.mode_functions(mu, order, t)
    reach = abs(mu) ** (1 / order) * abs(t)
    with mpmath.workdps(60 + int(reach)):
        step = mpmath.mpf(mu) * mpmath.mpf(t) ** order
        for k in {0, 1, order // 2, order - 2, order - 1} & set(range(order)):
            term = exact = mpmath.mpf(t) ** k / mpmath.factorial(k)
            n = 0
            while order * n + k < reach or abs(term) > mpmath.mpf(10) ** -40 * abs(exact):
                term *= step / prod(range(order * n + k + 1, order * (n + 1) + k + 1))
                exact += term
                n += 1
            if abs(exact) > np.finfo(float).max:
                assert found[k] == np.inf * float(mpmath.sign(exact))
            else:
                assert abs(found[k] - exact) <= 4e-16 * (1 + reach) * abs(exact) + 1e-320


@pytest.mark.spec("S0-40")
@pytest.mark.parametrize("mu, order, t", [(23.0, 1, 31.0), (50.0**2, 2, 14.5), (48.0**3, 3, -15.0), (45.0**4, 4, 15.9)])
def test_modes_beyond_the_numbers_are_infinite_and_not_nan(mu, order, t):
    found = pa.mode_functions(mu, order, t)
    assert not np.isnan(found).any()
    with mpmath.workdps(60):
        size = mpmath.exp(mpmath.mpf(mu) ** (mpmath.mpf(1) / order) * t) / order
        assert np.isinf(found[0]) == bool(size > np.finfo(float).max)


@pytest.mark.spec("S0-40")
def test_high_orders():
    initial = np.zeros((20, 3))
    initial[19] = 1
    exact = float(mpmath.fsum(mpmath.mpf(2) ** m / mpmath.factorial(m) for m in (19, 39, 59)))
    np.testing.assert_allclose(pa.linear_solution(np.eye(3), initial, 2.0).value, [exact] * 3, rtol=1e-15)
    assert pa.linear_solution(np.eye(3), np.ones((100, 3)), 1.0).value[0] == pytest.approx(np.e, rel=1e-15)
    with pytest.raises(GeometryError, match="up to the order 100"):
        pa.linear_solution(np.eye(3), np.ones((101, 3)), 1.0)
    for order in (0, 101, 2.5):
        with pytest.raises(GeometryError, match="a whole number from 1 to 100"):
            pa.mode_functions(1.0, order, 1.0)
    far = pa.mode_functions(1.0, 50, 1000.0, exponent=1000.0)  # as many roots as the growth hides
    with mpmath.workdps(500):
        exact = [
            mpmath.fsum(mpmath.mpf(1000)**m / mpmath.factorial(m) for m in range(k, 5000, 50)) / mpmath.exp(1000)
            for k in (0, 49)]
    np.testing.assert_allclose(far[[0, 49]], [float(x) for x in exact], rtol=1e-12)


@pytest.mark.spec("S0-40")
def test_second_order_modes_in_closed_form():
    t = 0.7
    close(pa.mode_functions(4.0, 2, t), [np.cosh(2 * t), np.sinh(2 * t) / 2])
    close(pa.mode_functions(-4.0, 2, t), [np.cos(2 * t), np.sin(2 * t) / 2])
    close(pa.mode_functions(0.0, 2, t), [1, t])


@pytest.mark.spec("S0-40")
def test_growth_beyond_a_double_is_kept_apart():
    M = with_spectrum((1.0, -2.0, 3.0), 4)
    later = pa.linear_solution(M, [np.ones(3)], 1000.0)
    close(later.exponent, 3000.0, 1e-12)
    top = np.linalg.eigh(M)[1][:, 2]
    close(later.scaled, top * (top @ np.ones(3)), 1e-10)
    with pytest.raises(OverflowError, match=r"grows as exp\(3000\).*`scaled` and `exponent`"):
        _ = later.value
    with pytest.raises(OverflowError):
        pa.symmetric_exponential(M, 1e4)
    decayed = pa.symmetric_exponential(with_spectrum((-1.0, -2.0, -3.0), 4), 1e4)
    assert not decayed.any()
    many = pa.linear_solution(M, [np.ones(3)], [[0.0, 0.5], [1.0, 500.0]])
    assert many.scaled.shape == (2, 2, 3) and many.exponent[1, 1] > 0 and not many.exponent[0].any()
    close(many.scaled[0, 1], expm(0.5 * M) @ np.ones(3))


@pytest.mark.spec("S0-40")
def test_bad_initial_values():
    with pytest.raises(GeometryError, match=r"\(s, 3\) or \(s, 3, m\)"):
        pa.linear_solution(A, np.ones(3), 1.0)
    with pytest.raises(GeometryError, match="finite"):
        pa.linear_solution(A, np.ones((1, 3)), np.inf)
    with pytest.raises(GeometryError, match="not symmetric"):
        pa.symmetric_exponential(np.eye(3, k=1))


def test_parity():
    M = RNG.normal(size=(2, 3, 3))
    M = M + np.swapaxes(M, 1, 2)
    check_parity_of_many([(pa.elimination_quartics, [M, [0.3, -0.4]]), (pa.dialytic_matrix, [M, [0.3, -0.4]]),
                          (pa.elimination_cubic, [M]), (pa.elimination_quartic, [M]), (pa.second_level_rotations, [M]),
                          (pa.second_level_roots, [M]),
                          (pa.point_mass_rotations, [[1.0, 2.0], RNG.normal(size=(2, 3))])], tolerance=1e-12,
                         single=1e-4)
