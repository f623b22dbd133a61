"""The vector-parameter: Cayley map, composition law, its homogeneous form through half-turns, and the second chart d.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayley.geometry.rotations as rot
from cayley.errors import GeometryError, SignatureError, SingularityError
from cayley.geometry import inertia, motions, rates
from cayley.geometry.rotations import vector_parameter
from compiler.parity import check_parity
from geometry import formulas_of_motions as fm
from geometry import formulas_of_rates as fr
from geometry import formulas_of_rotations as fo
from geometry.exact_rotations import MP, attitude_error, encoded, half_turns, product
from geometry.rotation_samples import kernels_of, sample_arguments
from geometry.strategies import (
    homogeneous_forms,
    matrix_of,
    parallel_axes,
    signed_angles,
    unit_quaternions,
    vector_parameters,
    vectors,
)

O = rot.matrix_from_vector_parameter
compose = rot.compose_vector_parameters


def close(a, b, atol=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def exact_product(*parameters):
    """The homogeneous form, in 60 digits, of a product of vector-parameters."""
    total = [MP.mpf(1), MP.mpf(0), MP.mpf(0), MP.mpf(0)]
    for c in parameters:
        total = product(total, [MP.mpf(1), *[MP.mpf(float(e)) for e in c]])
    return total


# Every length

LONG = [
    np.array(direction) * size for direction in ([1, 0, 0], [0.6, 0, -0.8], [1e-3, 1, 1e-7], [1, 1, 1])
    for size in (1e15, 1e30, 1e150)]


@pytest.mark.spec("S0-11", "S0-15", "S0-17")
@pytest.mark.parametrize("c", LONG)
def test_the_longest_vector_parameters_in_sixty_digits(c):
    """Every consumer of the c that are taken, to a few roundings of the attitude and of each component of the
    quaternion.
    """
    exact = [MP.mpf(float(x)) for x in c]
    square = 1 + sum(x * x for x in exact)
    norm = MP.sqrt(square)
    cross = [[0, -exact[2], exact[1]], [exact[2], 0, -exact[0]], [-exact[1], exact[0], 0]]
    R = np.array([[
        float((2 * exact[i] * exact[j] + 2 * cross[i][j] + (2 - square) * (i == j)) / square) for j in range(3)]
                  for i in range(3)])
    np.testing.assert_allclose(rot.matrix_from_vector_parameter(c), R, rtol=0, atol=6e-16)
    q = [float(1 / norm), *[float(x / norm) for x in exact]]
    np.testing.assert_allclose(rot.quaternion_from_vector_parameter(c), q, rtol=1e-15)
    np.testing.assert_allclose(rot.half_sine_from_vector_parameter(c), q[1:], rtol=1e-15)
    size = MP.sqrt(square - 1)
    l = [float(2 * MP.atan(size) * x / size) for x in exact]
    np.testing.assert_allclose(rot.rotation_vector_from_vector_parameter(c), l, rtol=1e-15)
    x = np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(rot.rotate_by_vector_parameter(c, x), R @ x, rtol=0, atol=6e-15)
    np.testing.assert_allclose(motions.pose_from_vector_parameter(c, x)[:3, :3], R, rtol=0, atol=6e-16)
    np.testing.assert_allclose(motions.pose_from_dual_vector_parameter([c, x])[:3, :3], R, rtol=0, atol=6e-16)
    assert fm.screw_from_vector_parameter(c, x).angle == pytest.approx(float(2 * MP.atan(size)), rel=1e-15)
    rate = rates.chart("vector_parameter").velocity(c, x)
    across = [exact[1] * 3 + exact[2] * 2, exact[2] - 3 * exact[0], -2 * exact[0] - exact[1]]  # c x (1, -2, 3)
    expected = [float(2 * (MP.mpf(float(a)) + b) / square) for a, b in zip(x, across, strict=True)]
    np.testing.assert_allclose(rate.world, expected, rtol=0, atol=1e-15 * np.abs(expected).max())
    moved = fm.motion_of_point_from_vector_parameter(c, x, 0 * x, x, 0 * x, 0 * x, x)
    np.testing.assert_allclose(moved.position, R @ x + x, rtol=0, atol=6e-15)
    back = rot.compose_vector_parameters(c, -c)
    np.testing.assert_allclose(back, 0, atol=1e-15)
    twice = rot.compose_vector_parameters(c, c)  # 2 c / (1 - c.c)
    np.testing.assert_allclose(twice, [float(2 * x / (2 - square)) for x in exact], rtol=1e-14, atol=4e-16)


@pytest.mark.spec("S0-11", "S0-15", "S0-17")
@pytest.mark.parametrize("size", [1e9, 1e15, 1e18])
def test_the_longest_vector_parameters_in_single_precision(size):
    c = (size * np.array([0.6, 0.0, -0.8])).astype(np.float32)
    R = rot.matrix_from_vector_parameter(c)
    assert R.dtype == np.float32
    np.testing.assert_allclose(R, [[-0.28, 0, -0.96], [0, -1, 0], [-0.96, 0, 0.28]], rtol=0, atol=3e-7)
    np.testing.assert_allclose(rot.quaternion_from_vector_parameter(c), [1 / size, 0.6, 0, -0.8], rtol=3e-7)
    np.testing.assert_allclose(rot.rotation_vector_from_vector_parameter(c), np.pi * np.array([0.6, 0, -0.8]), rtol=0,
                               atol=6e-7)


X = np.array([1.0, -2.0, 3.0])
CONSUMERS = {
    "matrix": rot.matrix_from_vector_parameter,
    "compose, left": lambda c: compose(c, 0 * X),
    "compose, right": lambda c: compose(0 * X, c),
    "conjugate, by": lambda c: fo.conjugate_vector_parameter(c, X),
    "conjugate, of": lambda c: fo.conjugate_vector_parameter(X, c),
    "rotate": lambda c: rot.rotate_by_vector_parameter(c, X),
    "quaternion": rot.quaternion_from_vector_parameter,
    "rotation vector": rot.rotation_vector_from_vector_parameter,
    "half-sine": rot.half_sine_from_vector_parameter,
    "eulerian": rot.eulerian_from_vector_parameter,
    "bryant": rot.bryant_from_vector_parameter,
    "pose": lambda c: motions.pose_from_vector_parameter(c, X),
    "dual": lambda c: motions.pose_from_dual_vector_parameter(np.stack([c, np.zeros_like(c)], axis=-2)),
    "dual, left": lambda c: motions.compose_dual_vector_parameters(np.stack([c, np.zeros_like(c)], axis=-2),
                                                                   np.zeros((2, 3))),
    "dual, right": lambda c: motions.compose_dual_vector_parameters(np.zeros(
        (2, 3)), np.stack([c, np.zeros_like(c)], axis=-2)),
    "point": lambda c: fm.motion_of_point_from_vector_parameter(c, X, X, X, X, X, X),
    "rate": lambda c: rates.chart("vector_parameter").velocity(c, X),
    "rates": lambda c: rates.chart("vector_parameter").acceleration(c, X, X),
    "moving, left": lambda c: fr.compose_moving_vector_parameters(c, X, 0 * X, X),
    "moving, right": lambda c: fr.compose_moving_vector_parameters(0 * X, X, c, X),
    "changing, left": lambda c: fr.compose_changing_vector_parameters(c, X, 0 * X, X),
    "changing, right": lambda c: fr.compose_changing_vector_parameters(0 * X, X, c, X),
    "moving back": lambda c: fr.inverse_of_moving_vector_parameter(c, X),
    "screw": lambda c: fr.instantaneous_screw_from_vector_parameter(c, X, X, X),
    "thrusters": lambda c: inertia.vector_parameter_acceleration(np.eye(3), np.eye(3), c, X, X), }


@pytest.mark.parametrize("use", CONSUMERS.values(), ids=CONSUMERS)
def test_every_consumer_takes_the_same_lengths(use):
    """What is taken and what is refused, in both precisions; NaN and infinities are refused too. In a batch the first
    one is named.
    """
    for dtype, longest in ((np.float64, 1e150), (np.float32, 1e18)):
        along = np.array([1, 0, 0], dtype=dtype)
        use(-dtype(longest) * along)
        for size in (-1.001 * longest, 1e10 * longest, np.inf, np.nan):
            wrong = np.array([size, 0, 0], dtype=dtype)
            why = rf"beyond 1e\+{np.log10(longest):.0f} it cannot be squared.*or a quaternion"
            with pytest.raises(SingularityError, match="NaN is no rotation" if np.isnan(size) else why):
                use(wrong)
            with pytest.raises(SingularityError, match="the vector-parameter 1 of the batch is"):
                use(np.stack([along, wrong]))


def test_the_cayley_transform_takes_the_same_lengths():
    close(rot.cayley_transform(1e150 * hat([0, 0, 1])), np.diag([-1, -1, 1]), 1e-15)
    with pytest.raises(SingularityError, match=r"the vector-parameter 1 of the batch is .*beyond"):
        rot.cayley_transform([hat([0, 0, 1.0]), hat([0, 1e155, 0])])


@pytest.mark.parametrize("size", [1e151, 1.4e154, 1e200, 1.7e308])
def test_what_squares_nothing_takes_every_length(size):
    c = size * np.array([0.6, 0.0, -0.8])
    axis, angle = rot.axis_angle_from_vector_parameter(c)
    close(axis, [0.6, 0, -0.8], 3e-16)
    screw = fm.screw_from_vector_parameter(c, X)
    close(screw.direction, [0.6, 0, -0.8], 3e-16)
    assert angle == screw.angle == np.pi
    close(rot.matrix_from_homogeneous(rot.homogeneous_from_vector_parameter(c)),
          [[-0.28, 0, -0.96], [0, -1, 0], [-0.96, 0, 0.28]], 1e-15)
    close(rot.compose_all_vector_parameters([c, X, -c]), [-0.28 * X[0] - 0.96 * X[2], -X[1], 0.28 * X[2] - 0.96 * X[0]],
          1e-14)


def test_products_of_none():
    assert rot.compose_all_vector_parameters(np.zeros((0, 3))).tolist() == [0.0, 0.0, 0.0]
    assert rot.compose_all_homogeneous(np.zeros((0, 4))).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert np.array_equal(motions.compose_all_poses(np.zeros((0, 4, 4))), np.eye(4))
    assert np.array_equal(motions.pose_of_chain(np.zeros((0, 4))), np.eye(4))
    assert motions.joint_lines(np.zeros((0, 4))).directions.shape == (0, 3)


# Matrix and Cayley transform


@pytest.mark.spec("S0-11", "S2-07")
@given(vector_parameters(100.0))
def test_the_matrix_is_the_cayley_transform(c):
    R, B = O(c), hat(c)
    close(R, np.linalg.solve(np.eye(3) - B, np.eye(3) + B), 1e-11)
    close(R, (np.eye(3) + B) @ np.linalg.inv(np.eye(3) - B), 1e-11)
    close(rot.cayley_transform(B), R, 0)
    D = 1 + c @ c
    b1, b2, b3 = c
    close(R, np.array([[1 + b1**2 - b2**2 - b3**2, 2 * (b1 * b2 - b3), 2 * (b1 * b3 + b2)],
                       [2 * (b2 * b1 + b3), 1 - b1**2 + b2**2 - b3**2, 2 * (b2 * b3 - b1)],
                       [2 * (b3 * b1 - b2), 2 * (b3 * b2 + b1), 1 - b1**2 - b2**2 + b3**2]]) / D, 1e-15)
    close(1 + np.trace(R), 4 / D, 2e-15)
    close(R @ c, c, 1e-13 * max(1, np.abs(c).max()))  # c is the eigenvector of 1


@pytest.mark.spec("S0-11", "S2-07")
@given(vector_parameters())
def test_matrix_round_trip_up_to_the_half_turn(c):
    """Conditioning is that of c itself, 1/(1 + tr O); the attitude is right to the last digits all the same."""
    R = O(c)
    try:
        back = rot.vector_parameter_from_matrix(R)
    except SingularityError:
        assert np.linalg.norm(c) > 1e15
        return
    close(O(back), R, 4e-15)
    close(back, c, 1e-15 * (1 + c @ c))
    close(hat(back), rot.inverse_cayley_transform(R), 0)
    if np.linalg.norm(c) < 10:
        close(rot.inverse_cayley_transform(R), (R - np.eye(3)) @ np.linalg.inv(R + np.eye(3)), 1e-12)


@pytest.mark.spec("S0-11", "S2-07")
def test_half_turns_have_no_finite_parameter():
    """det(Q + 1) = 0 and tr Q = -1 there: the conversions say so, by name, and their kernels give infinities."""
    for exact in half_turns():
        Q, = encoded("matrix", exact)
        assert abs(np.linalg.det(Q + np.eye(3))) <= 1e-15
        for use in (rot.vector_parameter_from_matrix, rot.inverse_cayley_transform):
            with pytest.raises(SingularityError, match="half-turn about"):
                use(Q)
            assert not np.isfinite(use.unchecked(Q)).all()


@pytest.mark.spec("S2-07")
def test_worked_examples_we_01_and_we_02_of_the_second_seed():
    b = np.array([0.1924500897, 0.3849001795, 0.3849001795])
    Q = rot.matrix_from_axis_angle(np.array([1, 2, 2]) / 3, np.pi / 3)
    close(rot.vector_parameter_from_matrix(Q), b, 6e-11)
    close(1 + b @ b, 4 / 3, 1e-9)
    half = np.full((3, 3), 2 / 3) - np.eye(3)
    with pytest.raises(SingularityError, match=r"half-turn about \[0\.57735027 0\.57735027 0\.57735027\]"):
        rot.vector_parameter_from_matrix(half)
    close(rot.axis_angle_from_matrix(half).axis, np.ones(3) / np.sqrt(3), 1e-15)


@pytest.mark.spec("S2-07")
def test_cayley_transform_refuses_what_is_not_skew():
    with pytest.raises(GeometryError, match=r"not skew: T \+ T\^T reaches 2 at element 1 of the batch"):
        rot.cayley_transform([hat([1, 2, 3]), np.eye(3)])
    with pytest.raises(SignatureError, match="has shape"):
        rot.cayley_transform(np.zeros(3))
    np.testing.assert_array_equal(rot.cayley_transform(np.zeros((3, 3))), np.eye(3))


# The group


@pytest.mark.spec("S0-12")
@given(vector_parameters(), vector_parameters())
def test_composition_is_that_of_the_matrices(a, b):
    """c1.c2 below, at and beyond 1, up to the neighbourhood of half-turns, in attitude to the last digits."""
    exact = exact_product(a, b)
    try:
        found = compose(a, b)
    except SingularityError:
        assert abs(exact[0]) <= 1e-15 * MP.sqrt(sum(e * e for e in exact))
    else:
        assert attitude_error("vector_parameter", (found,), exact) <= 4e-15
    form = rot.compose_homogeneous(rot.homogeneous_from_vector_parameter(a), rot.homogeneous_from_vector_parameter(b))
    assert attitude_error("homogeneous", (form,), exact) <= 4e-15
    close(rot.matrix_from_homogeneous(form), O(a) @ O(b), 4e-15)


@pytest.mark.spec("S0-12")
@given(vector_parameters(5.0), vector_parameters(5.0), vector_parameters(5.0))
def test_group_laws(a, b, c):
    close(compose(a, np.zeros(3)), a, 0)
    close(compose(np.zeros(3), a), a, 0)
    close(compose(a, fo.inverse_vector_parameter(a)), np.zeros(3), 1e-16 * (a @ a))
    close(O(fo.inverse_vector_parameter(a)), O(a).T, 0)
    close(fo.conjugate_vector_parameter(a, b), O(a) @ b, 1e-14 * (1 + np.abs(b).max()))
    close(O(fo.conjugate_vector_parameter(a, b)), O(a) @ O(b) @ O(a).T, 1e-14)
    forms = [rot.homogeneous_from_vector_parameter(x) for x in (a, b, c)]
    left = rot.compose_homogeneous(rot.compose_homogeneous(forms[0], forms[1]), forms[2])
    right = rot.compose_homogeneous(forms[0], rot.compose_homogeneous(forms[1], forms[2]))
    close(left, right, 1e-12)
    try:
        together, apart = compose(compose(a, b), c), compose(a, compose(b, c))
    except SingularityError:
        return
    close(O(together), O(apart), 1e-14)
    assert attitude_error("vector_parameter", (rot.compose_all_vector_parameters([a, b, c]), ),
                          exact_product(a, b, c)) <= 4e-15


@pytest.mark.spec("S0-12")
@given(st.lists(vector_parameters(), min_size=1, max_size=6))
def test_products_of_many(parameters):
    cs = np.array(parameters)
    exact = exact_product(*parameters)
    forms = np.array([rot.homogeneous_from_vector_parameter(c) for c in cs])
    assert attitude_error("homogeneous", (rot.compose_all_homogeneous(forms),), exact) <= 4e-15
    try:
        found = rot.compose_all_vector_parameters(cs)
    except SingularityError:
        assert abs(exact[0]) <= 1e-15 * MP.sqrt(sum(e * e for e in exact))
    else:
        assert attitude_error("vector_parameter", (found,), exact) <= 4e-15


@pytest.mark.spec("S0-12")
def test_products_of_many_pass_through_half_turns():
    quarter = np.array([[0.0, 0.0, 1.0]] * 4)
    for n in (1, 2, 3, 4):
        form = rot.compose_all_homogeneous([rot.homogeneous_from_vector_parameter(c) for c in quarter[:n]])
        close(rot.matrix_from_homogeneous(form), rot.rotation_z(n * np.pi / 2), 1e-15)
    close(rot.compose_all_vector_parameters(quarter[:3]), [0, 0, -1], 1e-15)
    close(rot.compose_all_vector_parameters(quarter), np.zeros(3), 1e-15)
    with pytest.raises(SingularityError, match=r"half-turn about \[0\. 0\. 1\.\]"):
        rot.compose_all_vector_parameters(quarter[:2])


@pytest.mark.spec("S0-12")
@given(parallel_axes(), signed_angles(), signed_angles())
def test_parallel_axes_add_their_angles(pair, alpha, beta):
    e, f = pair
    a, b = rot.vector_parameter_from_axis_angle(e, alpha), rot.vector_parameter_from_axis_angle(f, beta)
    form = rot.compose_homogeneous(rot.homogeneous_from_vector_parameter(a), rot.homogeneous_from_vector_parameter(b))
    sense = np.sign(e @ f)
    apart = np.linalg.norm(np.cross(e, f))
    close(rot.matrix_from_homogeneous(form), rot.matrix_from_axis_angle(e, alpha + sense * beta), 4e-15 + 4 * apart)


@pytest.mark.spec("S0-12")
def test_worked_example_we_01():
    c1, c2 = np.array([1 / 2, 1 / 3, -1 / 4]), np.array([-1 / 5, 2 / 3, 1 / 2])
    close(compose(c1, c2), [12 / 19, 288 / 361, 234 / 361], 1e-15)
    close(compose(c2, c1), [-12 / 361, 432 / 361, -54 / 361], 1e-15)
    close(O(c1), [[31 / 41, 24 / 41, 12 / 41], [-24 / 205, 23 / 41, -168 / 205], [-132 / 205, 24 / 41, 101 / 205]],
          1e-15)
    close(O(compose(c1, c2)),
          [[8921 / 64001, -7524 / 64001, 62928 / 64001], [300276 / 320005, 21305 / 64001, -29832 / 320005],
           [-101232 / 320005, 59880 / 64001, 50149 / 320005]], 1e-15)
    close(compose([2.0, 0.0, 0.0], [2.0, 1.0, 0.0]), [-4 / 3, -1 / 3, -2 / 3], 1e-15)
    fractions = [
        np.array([Fraction(1, 2), Fraction(1, 3), Fraction(-1, 4)]),
        np.array([Fraction(-1, 5), Fraction(2, 3), Fraction(1, 2)])]
    exact = compose.__wrapped__(*fractions)  # the same text on rational numbers: exact
    assert list(exact) == [Fraction(12, 19), Fraction(288, 361), Fraction(234, 361)]
    assert O.__wrapped__(exact)[1, 0] == Fraction(300276, 320005)


@pytest.mark.spec("S0-12")
@given(vector_parameters(1e8), vectors())
def test_action_on_vectors(c, x):
    close(rot.rotate_by_vector_parameter(c, x), O(c) @ x, 1e-13)
    close(rot.rotate_by_vector_parameter(-c, rot.rotate_by_vector_parameter(c, x)), x, 1e-13)


COMPOSITIONS = {
    "pair": compose,
    "many": lambda a, b: rot.compose_all_vector_parameters(np.stack(np.broadcast_arrays(a, b), axis=-2)),
    "dual": lambda a, b: motions.compose_dual_vector_parameters(np.stack([a, b], -2), np.stack([b, a], -2)),
    "moving": lambda a, b: fr.compose_moving_vector_parameters(a, b, b, a),
    "changing": lambda a, b: fr.compose_changing_vector_parameters(a, b, b, a),
}


def inverse_pairs(dtype, count=300):
    """Vector-parameters with a.b = 1 to rounding: random ones of all lengths, p and 1/p, and turns of d and 180 - d."""
    rng = np.random.default_rng(12)
    b = rng.normal(size=(count, 3)) * 10.0**rng.uniform(-4, 4, (count, 1))
    a = rng.normal(size=(count, 3))
    a = a / np.sum(a * b, axis=1, keepdims=True)
    p = np.arange(1.0, 60.0)[:, None] * [1.0, 0.0, 0.0]
    d = np.tan(np.radians(np.arange(2.0, 90.0)) / 2)[:, None] * [0.0, 0.0, 1.0]
    inverse = [np.divide(1.0, c, out=np.zeros_like(c), where=c != 0) for c in (p, d)]
    a, b = np.concatenate([a, p, d]).astype(dtype), np.concatenate([b, *inverse]).astype(dtype)
    return (a / np.sum(a * b, axis=1, keepdims=True, dtype=np.float64)).astype(dtype), b


@pytest.mark.spec("S0-12", "S0-21", "S0-34")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions_that_are_half_turns_to_rounding_are_refused(name, dtype):
    """What is returned is finite; what is refused is a half-turn to a few roundings of the terms of 1 - a.b."""
    law, (a, b) = COMPOSITIONS[name], inverse_pairs(dtype)
    eps = np.finfo(dtype).eps
    refused = 0
    for left, right in zip(a, b, strict=True):
        exact = sum(MP.mpf(float(x)) * MP.mpf(float(y)) for x, y in zip(left, right, strict=True))
        sizes = 1 + float(np.abs(left.astype(float) * right.astype(float)).sum())
        try:
            found = law(left, right)
        except SingularityError:
            refused += 1
            assert abs(1 - exact) <= 4 * eps * sizes
        else:
            assert abs(1 - exact) > eps / 4 * sizes
            assert all(np.isfinite(part).all() for part in (found if isinstance(found, tuple) else [found]))
    assert refused > 0.9 * len(a)
    apart = np.concatenate([0 * a[:1], 0.5 * a[:1], a[:1]])
    with pytest.raises(SingularityError, match="rotation 2 of the batch is a half-turn"):
        law(apart, np.broadcast_to(b[:1], (3, 3)))
    exactly = np.array([1.0, 0.0, 0.0], dtype), np.array([1 - 64 * eps, 0.0, 0.0], dtype)
    found = law(*exactly)
    assert all(np.isfinite(part).all() for part in (found if isinstance(found, tuple) else [found]))


@pytest.mark.spec("S0-12")
def test_what_is_computed_in_float32_is_checked_in_float32():
    """1e20 has no square there, and 1 - a.b = 1e-9 is no number."""
    for a, b in (([1e20, 0.0, 0.0], [0.0, 0.0, 0.0]), ([3.0, 0.0, 0.0], [(1 - 1e-9) / 3, 0.0, 0.0])):
        assert np.isfinite(compose(a, b)).all()
        with pytest.raises(SingularityError):
            compose(np.array(a), np.array(b), dtype=np.float32)


# Euler parameters


@pytest.mark.spec("S0-15")
@given(unit_quaternions())
def test_euler_parameters_and_vector_parameter(q):
    if q[0] == 0:
        with pytest.raises(SingularityError, match="half-turn"):
            rot.vector_parameter_from_quaternion(q)
        return
    c = rot.vector_parameter_from_quaternion(q)
    np.testing.assert_allclose(c, q[1:] / q[0], rtol=4e-16, atol=0)
    close(rot.vector_parameter_from_quaternion(-q), c, 0)
    back = rot.quaternion_from_vector_parameter(c)
    close(back, q * np.sign(q[0]), 4e-16)
    close(back[0], 1 / np.sqrt(1 + c @ c), 3e-16)
    close(O(c), rot.matrix_from_quaternion(q), 4e-15)


# Half-turns: the homogeneous form


@pytest.mark.spec("S0-13")
def test_worked_example_we_02():
    a, b = np.array([1.0, 2.0, 0.0]), np.array([1.0, 0.0, 3.0])
    with pytest.raises(SingularityError, match="half-turn about"):
        compose(a, b)
    form = rot.compose_homogeneous([1.0, *a], [1.0, *b])
    np.testing.assert_array_equal(form, [0, 8, -1, 1])
    R = rot.matrix_from_homogeneous(form)
    close(R, np.array([[31, -8, 8], [-8, -32, -1], [8, -1, -32]]) / 33, 1e-15)
    close(O(a) @ O(b), R, 1e-15)
    close(np.trace(R), -1, 1e-15)
    axis, angle = rot.axis_angle_from_matrix(R)
    close(axis, [0.98473193, -0.12309149, 0.12309149], 5e-9)
    close(axis, np.array([8, -1, 1]) / np.sqrt(66), 1e-15)
    column = (R + np.eye(3))[:, 0]
    close(axis, column / np.linalg.norm(column), 1e-15)
    assert angle == np.pi
    close(rot.matrix_from_homogeneous(rot.compose_homogeneous([1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0])),
          np.diag([1, -1, -1]), 0)


@pytest.mark.spec("S0-13")
@given(homogeneous_forms(), homogeneous_forms(), vectors())
def test_the_homogeneous_form_is_a_group_everywhere(g, h, x):
    unit_g, unit_h = rot.normalize_homogeneous(g), rot.normalize_homogeneous(h)
    A, B = matrix_of(g / np.abs(g).max()), matrix_of(h / np.abs(h).max())
    close(rot.matrix_from_homogeneous(g), A, 2e-15)
    close(rot.rotate_by_homogeneous(g, x), A @ x, 1e-13)
    close(rot.matrix_from_homogeneous(rot.compose_homogeneous(unit_g, unit_h)), A @ B, 4e-15)
    close(rot.matrix_from_homogeneous(rot.inverse_homogeneous(g)), A.T, 2e-15)
    close(rot.matrix_from_homogeneous(fo.conjugate_homogeneous(g, unit_h)), A @ B @ A.T, 1e-14)
    close(rot.matrix_from_homogeneous(rot.compose_all_homogeneous([g, h, g, g])), A @ B @ A @ A, 1e-14)
    close(np.linalg.norm(unit_g), 1, 4e-16)
    identity = rot.compose_homogeneous(unit_g, rot.inverse_homogeneous(unit_g))
    close(identity, [1, 0, 0, 0], 1e-15)


@pytest.mark.spec("S0-13")
@pytest.mark.parametrize("use", [
    rot.normalize_homogeneous, rot.matrix_from_homogeneous, rot.quaternion_from_homogeneous,
    rot.axis_angle_from_homogeneous, rot.rotation_vector_from_homogeneous, rot.vector_parameter_from_homogeneous,
    rot.half_sine_from_homogeneous, lambda h: rot.rotate_by_homogeneous(h, np.ones(3)),
    lambda h: fo.conjugate_homogeneous(h, h)])
def test_zero_is_no_rotation(use):
    with pytest.raises(GeometryError, match="no direction"):
        use(np.zeros(4))
    with pytest.raises(GeometryError, match="quaternion 2 of the batch"):
        use(np.array([[1.0, 0, 0, 0], [1.0, 1, 0, 0], [np.inf, 0, 0, 0]]))


@pytest.mark.parametrize("kernel", kernels_of(vector_parameter), ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel))
