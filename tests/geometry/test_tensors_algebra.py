"""Components, products, decompositions, projections and invariants of second-order tensors (S1-09 to S1-17, S3-08)."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from cayley.errors import CayleyError, GeometryError, SignatureError
from cayley.geometry import tensors as ct
from geometry import formulas_of_tensors as ft

RNG = np.random.default_rng(9)
NUMBERS = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e-8, 1e-16, 3.0]), st.floats(-10, 10, allow_subnormal=False))
VECTORS = arrays(float, 3, elements=NUMBERS)
TENSORS = arrays(float, (3, 3), elements=NUMBERS)
ROTATIONS = st.integers(0, 2**32 - 1).map(lambda seed: Rotation.random(rng=np.random.default_rng(seed)).as_matrix())


def close(found, expected, size=1.0, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(size, 1.0))


# Frames and the linear space


@pytest.mark.spec("S1-09")
@given(ROTATIONS, TENSORS, VECTORS)
def test_components_change_with_the_frame_as_the_map_does_not(R_ab, T_b, v_b):
    T_a = ct.tensor_in_frame(R_ab, T_b)
    close(T_a @ (R_ab @ v_b), R_ab @ (T_b @ v_b), 1 + np.abs(T_b).max() * np.abs(v_b).max())
    close(ct.tensor_in_frame(R_ab.T, T_a), T_b, np.abs(T_b).max())
    assert np.linalg.matrix_rank(T_a, tol=1e-9) == np.linalg.matrix_rank(T_b, tol=1e-9)


@pytest.mark.spec("S1-09")
def test_the_direction_of_the_change_of_frame():
    quarter = Rotation.from_euler("z", 90, degrees=True).as_matrix()  # the axes of b: x_b lies on y_a
    stretch_along_x_b = np.diag([5.0, 1.0, 1.0])
    close(ct.tensor_in_frame(quarter, stretch_along_x_b), np.diag([1.0, 5.0, 1.0]))
    axes = Rotation.random(rng=RNG).as_matrix()
    T = RNG.normal(size=(3, 3))
    # E-02: A^T T A for e' = A e
    close(ct.tensor_in_frame(axes.T, T), [[axes[:, i] @ T @ axes[:, j] for j in range(3)] for i in range(3)])


@pytest.mark.spec("S1-09")
def test_isotropic_tensors_are_the_same_in_every_frame():
    for R in Rotation.random(20, rng=RNG).as_matrix():
        close(ct.tensor_in_frame(R, ct.UNIT), ct.UNIT)
        close(np.einsum("ai,bj,ck,ijk->abc", R, R, R, ct.LEVI_CIVITA), ct.LEVI_CIVITA)
    assert ft.isotropic_defect(-3 * np.eye(3)) == ft.isotropic_defect(2 * ct.LEVI_CIVITA) == 0
    assert ft.isotropic_defect(np.diag([1, 1, 1.5])) == pytest.approx(1 / 3)
    assert ft.isotropic_defect(np.ones((3, 3, 3))) == 1
    with pytest.raises(GeometryError, match="order two or three"):
        ft.isotropic_defect(np.zeros(3))


@pytest.mark.spec("S1-09")
def test_a_change_of_frame_must_be_a_rotation():
    R = Rotation.random(4, rng=RNG).as_matrix()
    R[2] *= -1
    with pytest.raises(GeometryError, match=r"reflection at element 2 of the batch.*right-handed"):
        ct.tensor_in_frame(R, np.eye(3))
    with pytest.raises(GeometryError, match=r"not orthogonal: Q\^T Q - 1 reaches 0.21"):
        ct.tensor_in_frame(1.1 * np.eye(3), np.eye(3))
    with pytest.raises(GeometryError, match="NaN or infinite"):
        ct.tensor_in_frame(np.full((3, 3), np.nan), np.eye(3))
    close(ct.tensor_in_frame.unchecked(1.1 * np.eye(3), np.eye(3)), 1.21 * np.eye(3))


@pytest.mark.spec("S1-09", "S1-10")
def test_components_of_a_linear_map_in_any_frame():
    w, frame = RNG.normal(size=3), Rotation.random(rng=RNG).as_matrix()
    close(ct.tensor_of_map(lambda r: np.cross(w, r)), ct.hat(w))
    close(ct.tensor_of_map(lambda r: np.cross(w, r), frame), ct.tensor_in_frame(frame.T, ct.hat(w)))
    with pytest.raises(GeometryError, match="not linear"):
        ct.tensor_of_map(lambda r: r * r)


@pytest.mark.spec("S1-10")
@given(TENSORS, TENSORS, VECTORS, NUMBERS)
def test_linear_space_of_tensors(T, S, v, k):
    size = (1 + np.abs(T).max() + np.abs(S).max()) * (1 + np.abs(v).max()) * (1 + abs(k))
    close(ft.right_dot(T + S, v), ft.right_dot(T, v) + ft.right_dot(S, v), size)
    close(ft.right_dot(k * T, v), k * ft.right_dot(T, v), size)
    assert not ft.right_dot(np.zeros((3, 3)), v).any()
    np.testing.assert_array_equal(ft.right_dot(ct.UNIT, v), v)
    components = [[np.eye(3)[i] @ ft.right_dot(T, np.eye(3)[j]) for j in range(3)] for i in range(3)]
    np.testing.assert_array_equal(np.einsum("ij,ijkl", components, ft.dyad_basis()), T)


@pytest.mark.spec("S1-10")
def test_dyads_of_a_frame_are_a_basis():
    frame, T = Rotation.random(rng=RNG).as_matrix(), RNG.normal(size=(3, 3))
    basis = ft.dyad_basis(frame)
    close(np.einsum("ij,ijkl", ct.tensor_in_frame(frame.T, T), basis), T)
    close(np.einsum("ijkl,mnkl->ijmn", basis, basis).reshape(9, 9), np.eye(9))


@pytest.mark.spec("S1-10")
def test_rank_counts_directions():
    u, v = RNG.normal(size=(2, 3))
    assert ct.tensor_rank(np.zeros((3, 3))) == 0
    assert ct.tensor_rank(ct.dyad(u, np.zeros(3))) == 0
    assert ct.tensor_rank(ct.dyad(u, v)) == 1
    assert ct.tensor_rank(ct.wedge(u, v)) == 2
    assert ct.tensor_rank(ct.wedge(u, 0 * v)) == 0
    assert ct.tensor_rank(np.stack([ct.hat(u), np.eye(3), 1e-200 * np.eye(3)])).tolist() == [2, 3, 3]


# Products


@pytest.mark.spec("S1-11")
def test_products_by_their_index_sums():
    T, S, v = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)), RNG.normal(size=3)
    r = range(3)
    close(ft.right_dot(T, v), [sum(T[i, j] * v[j] for j in r) for i in r])
    close(ft.left_dot(v, T), [sum(v[j] * T[j, i] for j in r) for i in r])
    close(ft.left_dot(v, T), T.T @ v)
    close(ct.dot(T, S), [[sum(T[i, k] * S[k, j] for k in r) for j in r] for i in r])
    close(ct.double_dot(T, S), sum(T[i, j] * S[j, i] for i in r for j in r))
    close(ft.inner_product(T, S), sum(T[i, j] * S[i, j] for i in r for j in r))
    product = ft.tensor_product(T, S)
    for i, j, k, m in itertools.product(r, repeat=4):
        assert product[i, j, k, m] == T[i, j] * S[k, m]
    close(ct.contraction(product, 1, 2), T @ S)
    close(ct.contraction(ct.contraction(product, 1, 2), 0, 1), ct.double_dot(T, S))
    close(ct.contraction(np.stack([product, 2 * product]), -3, -2), np.stack([T @ S, 2 * T @ S]))


@pytest.mark.spec("S1-11")
def test_double_dot_is_not_the_inner_product():
    T = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert ct.double_dot(T, T) == 0 and ft.inner_product(T, T) == 1
    T = RNG.normal(size=(3, 3))
    close(ct.tensor_norm(T), np.sqrt(ct.double_dot(T, T.T)))
    close(ct.tensor_norm(T), np.linalg.norm(T))


@pytest.mark.spec("S1-11")
@given(VECTORS, VECTORS)
def test_angle_of_skew_tensors_is_that_of_their_vectors(u, v):
    if min(np.abs(u).max(), np.abs(v).max()) < 1e-12:
        return
    with mpmath.workdps(50):
        a, b = ([mpmath.mpf(x) for x in w] for w in (u, v))
        cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        expected = float(mpmath.atan2(mpmath.norm(cross), mpmath.fdot(a, b)))
    close(ct.angle_between_tensors(ct.hat(u), ct.hat(v)), expected, tolerance=4e-15)


@pytest.mark.spec("S1-11")
def test_angles_of_tensors_at_the_ends_and_of_nothing():
    T = RNG.normal(size=(3, 3))
    close(ct.angle_between_tensors(T, 5 * T), 0)
    close(ct.angle_between_tensors(T, -T), np.pi)
    close(ct.angle_between_tensors(ct.symmetric_part(T), ct.skew_part(T)), np.pi / 2)
    with pytest.raises(GeometryError, match=r"second tensor of an angle is zero.*element 1"):
        ct.angle_between_tensors(T, np.stack([T, 0 * T]))
    with pytest.raises(GeometryError, match="first tensor of an angle is zero"):
        ct.angle_between_tensors(np.zeros((3, 3)), T)


@pytest.mark.spec("S1-12")
def test_kronecker_and_levi_civita_over_all_indices():
    parity = {(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1, (2, 1, 0): -1, (1, 0, 2): -1, (0, 2, 1): -1}
    for index in itertools.product(range(3), repeat=3):
        assert ct.LEVI_CIVITA[index] == parity.get(index, 0)
    delta, eps = ct.UNIT, ct.LEVI_CIVITA
    for i, j, r, s in itertools.product(range(3), repeat=4):
        assert delta[i, j] == (i == j)
        assert sum(eps[i, j, k] * eps[r, s, k]
                   for k in range(3)) == delta[i, r] * delta[j, s] - delta[i, s] * delta[j, r]
    for i, r in itertools.product(range(3), repeat=2):
        assert sum(eps[i, j, k] * eps[r, j, k] for j in range(3) for k in range(3)) == 2 * delta[i, r]
    with pytest.raises(ValueError):
        ct.LEVI_CIVITA[0, 0, 0] = 1.0


@pytest.mark.spec("S3-08")
@given(VECTORS, VECTORS, VECTORS)
def test_vector_algebra(a, b, c):
    size = (1 + np.abs(a).max()) * (1 + np.abs(b).max()) * (1 + np.abs(c).max())
    close(ct.hat(a) @ b, np.cross(a, b), size)
    volume = np.linalg.det(np.stack([a, b, c]))
    for first, second, third in ((a, b, c), (b, c, a), (c, a, b)):
        close(ft.scalar_triple_product(first, second, third), volume, size, 1e-14)
    expected = np.cross(a, np.cross(b, c))
    close(ft.vector_triple_product(a, b, c), expected, size, 1e-14)
    close(ct.vector_triple_matrix(a, c) @ b, expected, size, 1e-14)
    close(ct.vector_triple_matrix(a, a) @ b, np.cross(a, np.cross(b, a)), size * (1 + np.abs(a).max()), 1e-14)


@pytest.mark.spec("S3-08")
def test_vector_algebra_of_parallel_vectors():
    a = RNG.normal(size=3)
    close(ct.hat(a) @ (3 * a), 0)
    close(ft.scalar_triple_product(a, -2 * a, RNG.normal(size=3)), 0)
    close(ft.vector_triple_product(a, 2 * a, a), 0)


# Decompositions and projections


@pytest.mark.spec("S1-13")
@given(TENSORS)
def test_cartesian_decomposition(T):
    plus, minus = ct.symmetric_part(T), ct.skew_part(T)
    np.testing.assert_array_equal(plus, plus.T)
    np.testing.assert_array_equal(minus, -minus.T)
    close(plus + minus, T, np.abs(T).max())
    close(ct.double_dot(plus, minus), 0, np.abs(T).max() ** 2)
    np.testing.assert_array_equal(ct.symmetric_part(plus), plus)
    assert not ct.skew_part(plus).any() and not ct.symmetric_part(minus).any()


@pytest.mark.spec("S1-13")
def test_bases_of_the_symmetric_and_the_skew_tensors():
    symmetric, skew = ft.symmetric_basis(), ft.skew_basis()
    assert len(symmetric) == 6 and len(skew) == 3
    together = np.concatenate([symmetric, skew]).reshape(9, 9)
    gram = together @ together.T
    np.testing.assert_array_equal(gram, np.diag(np.diag(gram)))
    assert np.all(np.diag(gram) > 0)
    T = RNG.normal(size=(3, 3))
    for part, basis in ((ct.symmetric_part(T), symmetric), (ct.skew_part(T), skew)):
        coordinates = [ft.inner_product(part, b) / ft.inner_product(b, b) for b in basis]
        close(np.einsum("k,kij", coordinates, basis), part)


@pytest.mark.spec("S1-13")
@given(VECTORS, VECTORS)
def test_wedge_product(u, v):
    size = (1 + np.abs(u).max()) * (1 + np.abs(v).max())
    close(ct.wedge(u, v), np.outer(u, v) - np.outer(v, u), size)
    close(ct.wedge(u, v), -ct.wedge(v, u), size)
    np.testing.assert_array_equal(ct.wedge(u, v), -ct.wedge(u, v).T)
    close(ct.vee(ct.wedge(v, u)), np.cross(u, v), size)
    close(ct.wedge(u, -3 * u), 0, size**2)


def test_wedge_in_four_dimensions_and_wrong_shapes():
    u, v = RNG.normal(size=(2, 4))
    assert ct.tensor_rank(ct.wedge(u, v)) == 2 and ct.wedge(u, v).shape == (4, 4)
    with pytest.raises(SignatureError):
        ct.wedge(u, v[:3])


@pytest.mark.spec("S1-14")
@given(VECTORS, VECTORS)
def test_projections_on_axis_and_plane(direction, v):
    if np.abs(direction).max() < 1e-3:
        return
    e = ct.unit_vector(direction)
    along, across = ft.axis_projection(e), ct.plane_projection(e)
    size = 1 + np.abs(v).max()
    for P in (along, across):
        close(P @ P, P)
        np.testing.assert_array_equal(P, P.T)
    close(along + across, np.eye(3))
    close(ct.double_dot(along, across), 0)
    close(ft.parallel_part(e, v), along @ v, size)
    close(ct.perpendicular_part(e, v), across @ v, size)
    close(e @ ct.perpendicular_part(e, v), 0, size)
    close(np.cross(e, ft.parallel_part(e, v)), 0, size)


@pytest.mark.spec("S1-14")
def test_projections_of_a_frame_are_complete_and_orthogonal():
    frame = Rotation.random(rng=RNG).as_matrix()
    P = ft.axis_projection(frame.T)
    close(P.sum(axis=0), np.eye(3))
    for i, j in itertools.combinations(range(3), 2):
        close(ct.double_dot(P[i], P[j]), 0)


@pytest.mark.spec("S1-14")
def test_a_direction_must_be_a_unit_vector_or_is_made_one_on_request():
    for projection in (ft.axis_projection, ct.plane_projection):
        with pytest.raises(GeometryError, match=r"not a unit vector: its length is off by 1; unit_vector"):
            projection([2.0, 0.0, 0.0])
    for part in (ft.parallel_part, ct.perpendicular_part):
        with pytest.raises(GeometryError, match=r"element 1 of the batch: its length is off by 0.01"):
            part([[0.0, 0.0, 1.0], [0.0, 1.01, 0.0]], [1.0, 2.0, 3.0])
    for size in (1e-300, 1e-8, 1.0, 1e200):
        close(ct.unit_vector(size * np.array([2.0, -1.0, 2.0])), np.array([2, -1, 2]) / 3, tolerance=1e-15)
    assert np.isnan(ct.unit_vector(np.zeros(3))).all()
    close(ft.axis_projection(np.array([0.6, 0.8, 0.0], dtype=np.float32)), np.outer([0.6, 0.8, 0], [0.6, 0.8, 0]),
          tolerance=1e-6)


@pytest.mark.spec("S1-14")
@given(ROTATIONS,
       st.sampled_from([(1, 2, 3), (1, 1, 3), (2, 2, 2), (0, 0, 0), (-1, -1, 0), (1, 1 + 1e-12, 2), (5, -3, 5)]))
def test_spectral_decomposition_with_repeated_eigenvalues(R, values):
    T = ct.symmetric_part(R @ np.diag(np.array(values, float)) @ R.T)
    found = ct.spectral_decomposition(T)
    close(found.values, sorted(values), 5)
    close(np.einsum("k,kij", found.values, found.projections), T, 5)
    close(found.projections.sum(axis=0), np.eye(3))
    close(found.vectors.T @ found.vectors, np.eye(3))
    assert np.linalg.det(found.vectors) > 0
    spaces = ct.eigenspaces(T)
    assert [s.multiplicity for s in spaces] == [len(list(g)) for _, g in itertools.groupby(sorted(np.round(values, 9)))]
    close(sum(s.value * s.projection for s in spaces), T, 5, 1e-12)
    for space in spaces:  # each projection is that on the known space, whatever vectors LAPACK chose in it
        mine = R[:, np.abs(np.array(values) - space.value) < 1e-6]
        close(space.projection, mine @ mine.T, tolerance=1e-12)


@pytest.mark.spec("S1-14")
def test_spectral_decomposition_of_a_batch_and_of_something_not_symmetric():
    T = ct.symmetric_part(RNG.normal(size=(4, 5, 3, 3)))
    found = ct.spectral_decomposition(T)
    assert found.values.shape == (4, 5, 3) and found.projections.shape == (4, 5, 3, 3, 3)
    close(np.einsum("...k,...kij->...ij", found.values, found.projections), T, 5)
    T[1, 2, 0, 1] += 0.5
    with pytest.raises(
            GeometryError,
            match=r"not symmetric: T - T\^T reaches 0.5 at element \(1, 2\) of the batch; take symmetric_part"):
        ct.spectral_decomposition(T)


# Invariants


@pytest.mark.spec("S1-15")
@given(ROTATIONS, TENSORS)
def test_scalar_invariants_do_not_change_with_the_frame(R, T):
    size = (1 + np.abs(T).max()) ** 3
    here, there = ct.scalar_invariants(T), ct.scalar_invariants(ct.tensor_in_frame(R, T))
    close(there, here, size)
    close(here.trace, np.trace(T), size)
    close(here.minors, (np.trace(T) ** 2 - np.trace(T @ T)) / 2, size)
    close(here.determinant, np.linalg.det(T), size)
    close(here.square, np.linalg.norm(T) ** 2, size)
    close(ft.power_traces(ct.tensor_in_frame(R, T)), ft.power_traces(T), 10 * size)


@pytest.mark.spec("S1-15")
@given(TENSORS)
def test_invariants_of_symmetric_tensors_hang_together(T):
    T = ct.symmetric_part(T)
    size = (1 + np.abs(T).max()) ** 3
    found = ct.scalar_invariants(T)
    principal = ft.principal_invariants(T)
    close(principal, found[:3], size)
    close(ft.principal_from_eigenvalues(np.linalg.eigvalsh(T)), found[:3], size)
    powers = ft.power_traces(T)
    close(powers, [np.trace(np.linalg.matrix_power(T, k)) for k in (1, 2, 3)], size)
    close(ft.principal_from_power_traces(*powers), found[:3], size)
    close(ft.symmetric_square(found.trace, found.minors), found.square, size)
    # Cayley and Hamilton: T satisfies its own characteristic equation
    close(T @ T @ T - principal.first * T @ T + principal.second * T - principal.third * np.eye(3), 0, 10 * size)


@pytest.mark.spec("S1-15")
def test_principal_invariants_take_the_tensor():
    assert np.array(ft.principal_invariants(np.diag([1.0, 2.0, 3.0]))).tolist() == [6.0, 11.0, 6.0]
    T = RNG.normal(size=(4, 3, 3))
    np.testing.assert_allclose(
        np.stack(ft.principal_invariants(T)).T, [-1, 1, -1] * np.stack([np.poly(t)[1:] for t in T]), rtol=1e-12)
    with pytest.raises(CayleyError):
        ft.principal_invariants([1.0, 2.0, 3.0])


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-20, 1.0, 1e200, 1e307])
def test_directions_of_tensors_and_vectors_of_every_size(size):
    found = float(ct.angle_between_tensors(size * np.eye(3), np.diag([1.0, 1.0, 0.0])))
    assert found == pytest.approx(np.arccos(np.sqrt(2 / 3)), rel=1e-12)
    np.testing.assert_allclose(ct.unit_vector([0.0, 3 * size, 4 * size]), [0, 0.6, 0.8], rtol=0, atol=1e-12)


@pytest.mark.spec("S1-15")
def test_fourth_invariant_is_independent_only_without_symmetry():
    T = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    found = ct.scalar_invariants(T)
    assert ft.symmetric_square(found.trace, found.minors) == 11 and found.square == 15


@pytest.mark.spec("S1-16")
@given(ROTATIONS, TENSORS, VECTORS)
def test_vector_invariant(R, T, u):
    t = ct.vee(T)
    close(t, np.einsum("ijk,kj->i", ct.LEVI_CIVITA, T) / 2, np.abs(T).max())
    np.testing.assert_array_equal(ct.vee(T.T), -t)
    close(t, ct.vee(ct.skew_part(T)), np.abs(T).max())  # E-03
    close(ct.vee(ct.symmetric_part(T)), 0)
    np.testing.assert_array_equal(ct.vee(ct.hat(u)), u)
    close(ct.vee(ct.tensor_in_frame(R, T)), R @ t, 3 * np.abs(T).max())


@pytest.mark.spec("S1-17")
@given(VECTORS, VECTORS)
def test_dual_in_both_orientations(u, v):
    np.testing.assert_array_equal(ct.hat(u), np.einsum("ijk,i->kj", ct.LEVI_CIVITA, u))
    np.testing.assert_array_equal(ct.dual_vector(ct.hat(u)), u)
    np.testing.assert_array_equal(ct.left_dual_vector(ct.left_dual_tensor(u)), u)
    np.testing.assert_array_equal(ct.left_dual_tensor(u), -ct.hat(u))
    np.testing.assert_array_equal(ct.left_dual_vector(ct.hat(u)), -u)
    close(ct.left_dual_tensor(u) @ v, np.cross(v, u), (1 + np.abs(u).max()) * (1 + np.abs(v).max()))


@pytest.mark.spec("S1-17")
def test_dual_refuses_a_tensor_that_is_not_skew():
    T = ct.hat([1.0, 2.0, 3.0])
    T[0, 0] = 1e-3
    for dual in (ct.dual_vector, ct.left_dual_vector):
        with pytest.raises(GeometryError, match=r"not skew: T \+ T\^T reaches 0.002; vee\(T\)"):
            dual(T)
        with pytest.raises(GeometryError, match="NaN or infinite"):
            dual(np.full((3, 3), np.nan))
        assert not dual(np.zeros((3, 3))).any()
    close(ct.vee(T), [1, 2, 3])
