"""Rodrigues parameters by dialytic elimination: SymPy proves the determinant, SciPy and the closed form give the
values.
"""

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, assume, given, settings
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError, SingularityError
from cayley.geometry.rotations.elimination import diagonal_equations, rodrigues_by_elimination, rodrigues_squares
from cayley.geometry.rotations.vector_parameter import matrix_from_vector_parameter
from compiler.parity import check_parity
from geometry.strategies import rotation_matrices, vector_parameters

E = np.array([1.0, 2.0, 2.0]) / 3


def matrix(axis, angle):
    return Rotation.from_rotvec(angle * np.asarray(axis) / np.linalg.norm(axis)).as_matrix()


@pytest.mark.spec("S2-08")
def test_the_determinant_is_linear_in_the_square_of_the_hidden_parameter():
    q1, q2, q3, x3 = sympy.symbols("q1 q2 q3 x3")
    q = [q1, q2, q3]
    rows = [[(1 - q[i]) if i == j else -(1 + q[i]) for j in range(3)] + [1 - q[i]] for i in range(3)]
    H = sympy.Matrix([[A, B, C * x3 + D] for A, B, C, D in rows])
    assert sympy.expand(H.det() + 4 * ((1 + q1 + q2 + q3) * x3 + q1 + q2 - q3 - 1)) == 0
    values = [0.2, -0.3, 0.7]
    np.testing.assert_allclose(diagonal_equations(values),
                               np.array(sympy.Matrix(rows).subs(zip(q, values, strict=True)), dtype=float), rtol=0,
                               atol=1e-15)


@pytest.mark.spec("S2-08")
def test_the_orientation_of_ruggiu():
    found = rodrigues_by_elimination(matrix(E, np.pi / 3))
    np.testing.assert_allclose(found.determinant, (16 / 9, -12), rtol=0, atol=1e-14)  # WE-01
    np.testing.assert_allclose(found.squares, [1 / 27, 4 / 27, 4 / 27], rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.delta, 4 / 3, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.parameters, [.1924500897, .3849001795, .3849001795], rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.parameters, np.tan(np.pi / 6) * E, rtol=0, atol=1e-15)


@pytest.mark.spec("S2-08")
@pytest.mark.parametrize("axis",
                         [E, (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (-1, 2, -3), (0, 3, -4), (1e-9, 1, 1e-5)])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.5, -1.0, 2.0, 3.0, -3.14])
def test_elimination_finds_the_parameters(axis, angle):
    Q = matrix(axis, angle)
    expected = np.tan(angle / 2) * np.asarray(axis) / np.linalg.norm(axis)
    found = rodrigues_by_elimination(Q)
    size, loss = 1 + np.abs(expected).max(), 4 / (1 + np.trace(Q))
    np.testing.assert_allclose(found.parameters, expected, rtol=0, atol=1e-15 * size * loss)
    np.testing.assert_allclose(found.squares, expected**2, rtol=0, atol=4e-15 * size**2 * loss)
    np.testing.assert_allclose(found.squares, rodrigues_squares(Q), rtol=0, atol=4e-15 * size**2 * loss)
    np.testing.assert_allclose(found.equations @ [*found.squares, 1.0], 0, atol=4e-15 * size**2)
    H = found.constant + found.squares[2] * found.linear
    np.testing.assert_allclose(H @ [found.squares[0], found.squares[1], 1.0], 0, atol=4e-15 * size**2)
    np.testing.assert_allclose(np.linalg.det(H), 0, atol=1e-14 * size**2)


@pytest.mark.spec("S2-08")
@given(vector_parameters(1e3))
def test_all_sign_combinations_but_one_are_extraneous(b):
    found = rodrigues_by_elimination(matrix_from_vector_parameter(b))
    chosen = found.candidates[np.argmin(found.mismatch)]
    large = np.abs(b) > 1e-3 * (1 + np.abs(b).max())
    assert (np.sign(chosen[large]) == np.sign(b[large])).all()
    np.testing.assert_allclose(found.parameters, b, rtol=0, atol=1e-14 * (1 + b @ b) * (1 + np.abs(b).max()))
    assert len(found.candidates) == 2 ** np.count_nonzero(found.squares > 0)
    for candidate, mismatch in zip(found.candidates, found.mismatch, strict=True):
        if np.any(np.sign(candidate[large]) != np.sign(b[large])) and large.any() and np.abs(b).max() > 1e-2:
            assert mismatch > 10 * found.mismatch.min()


@pytest.mark.spec("S2-08")
@settings(suppress_health_check=[HealthCheck.filter_too_much
                                 ])  # the strategy aims at half-turns, where there are no squares
@given(rotation_matrices())
def test_the_closed_form_of_the_squares(Q):
    assume(1 + np.trace(Q) > 1e-3)
    q = np.diagonal(Q)
    expected = np.array([1 + q[0] - q[1] - q[2], 1 - q[0] + q[1] - q[2], 1 - q[0] - q[1] + q[2]]) / (1 + q.sum())
    np.testing.assert_allclose(rodrigues_squares(Q), expected, rtol=0, atol=1e-12)


@pytest.mark.spec("S2-08")
@pytest.mark.parametrize("axis", [(1, 1, 1), (1, 0, 0), (0, 0, 1), (1, 2, 2), (3, -4, 0)])
def test_at_a_half_turn_the_leading_coefficient_vanishes_and_the_elimination_fails(axis):
    e = np.array(axis) / np.linalg.norm(axis)
    Q = 2 * np.outer(e, e) - np.eye(3)  # WE-02
    A, B, C, _ = diagonal_equations(np.diagonal(Q)).T
    np.testing.assert_allclose(np.linalg.det(np.column_stack([A, B, C])), 0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(Q + np.eye(3)), 0, atol=1e-15)
    with pytest.raises(SingularityError, match="half-turn"):
        rodrigues_by_elimination(Q)
    assert np.isfinite(rodrigues_by_elimination(matrix(axis, np.pi - 1e-5)).parameters).all()


def test_what_is_not_a_rotation_is_refused():
    with pytest.raises(GeometryError, match="reflection"):
        rodrigues_by_elimination(-np.eye(3))
    with pytest.raises(GeometryError, match="one matrix"):
        rodrigues_by_elimination(np.stack([np.eye(3)] * 2))


def test_every_back_end_agrees():
    check_parity(rodrigues_squares, np.stack([matrix(E, 0.4), matrix((1, 0, 2), -2.0)]))
