"""Dyads, handedness, the second dual, contractions, parts and projections in n dimensions, fixed spaces (S1-118)."""

from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import block_diag, expm
from scipy.stats import special_ortho_group

from cayley.compiler.kernel import Kernel
from cayley.errors import GeometryError
from cayley.geometry import tensors as ct
from geometry import formulas_of_tensors as ft
from geometry import tensor_second_dual as second_dual

RNG = np.random.default_rng(118)
MIRROR = np.diag([1.0, -1.0, 1.0])
SECOND = {name: value for name, value in vars(second_dual).items()
          if isinstance(value, Kernel) and value.__module__ == second_dual.__name__ and not name.endswith("_any_frame")}


def close(ours, true, tolerance=1e-13):
    np.testing.assert_allclose(ours, true, rtol=0, atol=tolerance * max(1.0, np.abs(true).max(initial=0.0)))


def orthogonal(n, sign=1.0):
    """A random orthogonal matrix with the determinant 1 or -1."""
    Q = special_ortho_group.rvs(n, random_state=RNG) if n > 1 else np.eye(1)
    return Q * np.where(np.arange(n) == 0, sign, 1.0)


def of_rank(n, rank):
    return RNG.normal(size=(n, rank)) @ RNG.normal(size=(rank, n))


# Dyads


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("n", range(1, 6))
def test_every_tensor_is_a_sum_of_dyads_with_chosen_first_or_second_vectors(n):
    chosen = RNG.normal(size=(n, n))
    for rank in range(n + 1):
        T = of_rank(n, rank)
        first, second = ct.dyads_with_antecedents(T, chosen), ct.dyads_with_consequents(T, chosen)
        np.testing.assert_array_equal(first.antecedents, chosen)
        np.testing.assert_array_equal(second.consequents, chosen)
        for found in (first, second):
            rebuilt = sum(ct.dyad(a, c) for a, c in zip(*found, strict=True))
            close(rebuilt, T, 1e-11)
            close(found.tensor, rebuilt)
        shortest = ct.minimal_dyads(T)
        assert len(shortest.antecedents) == len(shortest.consequents) == rank == np.linalg.matrix_rank(T)
        close(shortest.tensor, T)
        close(shortest.antecedents @ shortest.antecedents.T, np.eye(rank))
        lengths = np.linalg.norm(shortest.consequents, axis=1)
        close(shortest.consequents @ shortest.consequents.T, np.diag(lengths**2))
        assert (np.diff(lengths) <= 0).all()


@pytest.mark.spec("S1-118")
def test_fewer_dyads_are_enough_for_vectors_that_span_what_the_tensor_does():
    T = of_rank(3, 2)
    plane = T @ RNG.normal(size=(3, 2))
    found = ct.dyads_with_antecedents(T, plane.T)
    assert found.antecedents.shape == (2, 3)
    close(found.tensor, T, 1e-11)
    close(ct.dyads_with_consequents(T, (RNG.normal(size=(2, 3)) @ T)).tensor, T, 1e-11)
    close(ct.dyads_with_antecedents(1e-200 * T, plane.T).tensor * 1e200, T, 1e-10)  # sizes do not matter
    close(ct.dyads_with_antecedents(np.zeros((3, 3)), np.zeros((0, 3))).tensor, np.zeros((3, 3)))
    assert len(ct.minimal_dyads(np.zeros((3, 3))).antecedents) == 0
    close(ct.minimal_dyads(np.float32(T)).tensor, T, 1e-6)
    with pytest.raises(GeometryError, match=r"do not span all that the tensor makes of vectors.*its rank is 2"):
        ct.dyads_with_antecedents(T, plane.T[:1])
    for dependent in ([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]], np.ones((4, 3)), [[0.0, 0.0, 0.0]]):
        with pytest.raises(GeometryError, match="depend on each other"):
            ct.dyads_with_consequents(T, dependent)
    with pytest.raises(GeometryError, match=r"finite vectors, shape \(k, 3\)"):
        ct.dyads_with_antecedents(T, np.eye(2))
    with pytest.raises(GeometryError, match="finite vectors"):
        ct.dyads_with_antecedents(T, np.full((3, 3), np.nan))
    with pytest.raises(GeometryError, match="NaN"):
        ct.minimal_dyads(np.full((3, 3), np.nan))
    with pytest.raises(GeometryError, match="those of one tensor"):
        ct.minimal_dyads(np.zeros((2, 3, 3)))


# Handedness


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_duals_and_cross_products_in_frames_of_either_handedness(sign):
    Q = np.stack([orthogonal(3, sign) for _ in range(20)])
    u, v = RNG.normal(size=(2, 20, 3))
    for sides in (second_dual.dual_in_any_frame(Q, u), second_dual.second_dual_in_any_frame(Q, u),
                  second_dual.cross_product_in_any_frame(Q, u, v)):
        close(sides.left, sides.right)
    moved = np.einsum("nij,nj->ni", Q, u)
    close(second_dual.dual_in_any_frame(Q, u).left, sign * ct.hat(moved))  # Remark 3.6 has no det(Q)
    for Q_, u_ in zip(Q[:3], u[:3], strict=True):  # the plain texts, too
        close(*second_dual.dual_in_any_frame.reference(Q_, u_))
        close(*second_dual.second_dual_in_any_frame.reference(Q_, u_))
        close(*second_dual.cross_product_in_any_frame.reference(Q_, u_, u_[::-1]))
    with pytest.raises(GeometryError, match="not orthogonal"):
        second_dual.dual_in_any_frame(2 * np.eye(3), np.ones(3))


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("n", range(1, 5))
@pytest.mark.parametrize("order", range(5))
def test_components_of_true_and_of_oriented_tensors_of_any_order(n, order):
    T = RNG.normal(size=(n,) * order)
    for sign in (1.0, -1.0):
        Q = orthogonal(n, sign)
        letters = "abcdefgh"
        summed = ",".join(f"{letters[k]}{letters[4 + k]}" for k in range(order))
        true = np.einsum(f"{summed},{letters[4:4 + order]}->{letters[:order]}", *[Q] * order, T) if order else T
        close(ct.components_in_frame(Q, T, oriented=False), true)
        close(ct.components_in_frame(Q, T, oriented=True), sign * true)
        back = ct.components_in_frame(Q.T, ct.components_in_frame(Q, T, oriented=True), oriented=True)
        close(back, T)


@pytest.mark.spec("S1-118")
def test_which_tensors_are_oriented():
    """The alternating tensor is the same in every frame if it is oriented, and changes its sign in mirrors if not; an
    angular velocity is oriented, and its skew tensor is not."""
    Q = orthogonal(3, -1.0)
    close(ct.components_in_frame(Q, ct.LEVI_CIVITA, oriented=True), ct.LEVI_CIVITA)
    close(ct.components_in_frame(Q, ct.LEVI_CIVITA, oriented=False), -ct.LEVI_CIVITA)
    close(ct.components_in_frame(Q, ct.UNIT, oriented=False), ct.UNIT)
    w = RNG.normal(size=3)
    turning = expm(ct.hat(w))
    mirrored = ct.components_in_frame(Q, turning, oriented=False)  # the same motion, seen in a mirror
    close(mirrored, expm(ct.hat(ct.components_in_frame(Q, w, oriented=True))))
    close(ct.components_in_frame(Q, ct.hat(w), oriented=False), ct.hat(ct.components_in_frame(Q, w, oriented=True)))
    assert abs(mirrored - expm(ct.hat(Q @ w))).max() > 0.1
    with pytest.raises(GeometryError, match="one matrix Q"):
        ct.components_in_frame(Q, np.zeros((3, 2)), oriented=False)
    with pytest.raises(GeometryError, match="not orthogonal"):
        ct.components_in_frame(np.ones((3, 3)), w, oriented=False)


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("n", range(2, 6))
def test_theorems_4_1_and_4_2_hold_for_reflections(n):
    """Q' = Phi Q and Q'' = Psi Q of Q(t) = exp(t S) Q_0, for determinants of 1 and -1."""
    S = ct.skew_part(RNG.normal(size=(n, n)))
    for sign in (1.0, -1.0):
        Q = expm(0.3 * S) @ orthogonal(n, sign)
        assert np.sign(np.linalg.det(Q)) == sign
        close(ct.angular_velocity_tensor(Q, S @ Q), S)
        close(ft.angular_acceleration_tensor(Q, S @ S @ Q), S @ S)
        close(ft.angular_acceleration_from_tensors(S, np.zeros((n, n))), S @ S)


# The second dual


def fitting(name):
    shapes = SECOND[name].signature.inputs
    return [RNG.normal(size=(30, 3)) if len(core) == 1 else ct.symmetric_part(RNG.normal(size=(30, 3, 3)))
            for core in shapes]


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("name", sorted(SECOND))
def test_identities_of_the_second_dual(name):
    arguments = fitting(name)
    close(*SECOND[name](*arguments), 1e-12)
    for k in range(3):
        close(*SECOND[name].reference(*[a[k] for a in arguments]), 1e-12)
    close(*SECOND[name](*[np.zeros_like(a) for a in arguments]))
    if any(len(core) == 2 for core in SECOND[name].signature.inputs):
        with pytest.raises(GeometryError, match="not symmetric"):
            SECOND[name](*[ct.hat(a) if a.ndim == 1 and len(core) == 2 else a for a, core in zip(
                [RNG.normal(size=3) for _ in arguments], SECOND[name].signature.inputs, strict=True)])


@pytest.mark.spec("S1-118")
def test_the_second_dual_is_by_its_definition_the_table_3_3_34():
    u = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(ct.left_dual_tensor(u), [[0, 3, -2], [-3, 0, 1], [2, -1, 0]])
    assert len(SECOND) == 14


# Contractions and parts


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("order", range(2, 6))
def test_any_pair_of_indices_of_any_order_contracts(order):
    T = RNG.normal(size=(3,) * order)
    for first, second in combinations(range(order), 2):
        expected = sum(np.take(np.take(T, k, axis=second), k, axis=first) for k in range(3))
        close(ct.contraction(T, first, second), expected)
        close(ct.contraction(T, second, first), expected)
        batch = ct.contraction(np.stack([T, -2 * T]), first - order, second - order)
        close(batch, np.stack([expected, -2 * expected]))
    with pytest.raises(GeometryError, match="0 and 0 are not"):
        ct.contraction(T, 0, 0)
    with pytest.raises(GeometryError, match=f"{order} are not"):
        ct.contraction(T, 0, order)
    with pytest.raises(GeometryError, match="the same length"):
        ct.contraction(np.zeros((3, 2)), 0, 1)


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("n", range(1, 8))
def test_symmetric_and_skew_parts_in_n_dimensions(n):
    T = RNG.normal(size=(n, n))
    symmetric, skew = ct.symmetric_part(T), ct.skew_part(T)
    close(symmetric + skew, T)
    np.testing.assert_array_equal(symmetric, symmetric.T)
    np.testing.assert_array_equal(skew, -skew.T)
    assert abs(ft.inner_product(symmetric, skew)) < 1e-13
    close(ct.tensor_norm(T) ** 2, ct.tensor_norm(symmetric) ** 2 + ct.tensor_norm(skew) ** 2)
    for basis, part, size in ((ft.symmetric_basis(n), symmetric, n * (n + 1) // 2),
                              (ft.skew_basis(n), skew, n * (n - 1) // 2)):
        assert basis.shape == (size, n, n)
        products = np.einsum("aij,bij->ab", basis, basis)
        close(products, np.diag(np.diag(products)))
        rebuilt = np.einsum("a,aij->ij", np.einsum("aij,ij->a", basis, T) / np.diag(products), basis)
        close(rebuilt, part)


# Projections


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("n", range(1, 6))
def test_oblique_projections(n):
    for k in range(n + 1):
        onto, along = RNG.normal(size=(7, n, k)), RNG.normal(size=(7, n, n - k))
        P = ct.oblique_projection(onto, along)
        close(P @ P, P, 1e-9)
        close(P @ onto, onto, 1e-9)
        close(P @ along, np.zeros_like(along), 1e-9)
        close(np.trace(P, axis1=-2, axis2=-1), np.full(7, float(k)), 1e-9)
        close(P + ct.oblique_projection(along, onto), np.broadcast_to(np.eye(n), P.shape), 1e-9)
        close(ct.oblique_projection(onto[0], 1e-150 * along[0]), P[0], 1e-9)
        assert np.abs(P - np.swapaxes(P, 1, 2)).max() > 1e-3 or k in (0, n)  # oblique, not symmetric
        Q = orthogonal(n)
        right = ct.oblique_projection(Q[:, :k], Q[:, k:])
        close(right, right.T)
        close(right, Q[:, :k] @ Q[:, :k].T)
    e = orthogonal(3)[0]
    across = np.linalg.svd(e[None])[2][1:].T
    close(ct.oblique_projection(across, e[:, None]), ct.plane_projection(e))
    close(ct.oblique_projection(e[:, None], across), ft.axis_projection(e))


@pytest.mark.spec("S1-118")
def test_spaces_that_are_no_complements_are_refused():
    x, y, z = np.eye(3)[:, :, None]
    with pytest.raises(GeometryError, match="do not make up the whole space"):
        ct.oblique_projection(x, np.hstack([x, z]))
    with pytest.raises(GeometryError, match="do not make up the whole space at element 1"):
        ct.oblique_projection(np.stack([x, y]), np.hstack([y, z]))
    with pytest.raises(GeometryError, match="do not make up the whole space"):
        ct.oblique_projection(0 * x, np.hstack([y, z]))
    with pytest.raises(GeometryError, match="k columns to project on and n - k"):
        ct.oblique_projection(x, y)
    with pytest.raises(GeometryError, match="NaN"):
        ct.oblique_projection(np.nan * x, np.hstack([y, z]))


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("n", range(2, 8))
def test_fixed_spaces_of_rotations_and_reflections(n):
    """Turned planes, a mirror and fixed lines in any frame: only what is left over is fixed, and its parity is that of
    the theorem."""
    for planes in range(n // 2 + 1):
        for mirrors in (0, 1):
            if 2 * planes + mirrors > n:
                continue
            angles = RNG.uniform(0.1, np.pi, planes)  # pi: a half-turn, twice the eigenvalue -1
            angles[:1] = np.pi
            blocks = [[[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]] for a in angles]
            rest = n - 2 * planes - mirrors
            frame = orthogonal(n)
            Q = frame @ block_diag(*blocks, -np.eye(mirrors), np.eye(rest)) @ frame.T
            found = ct.fixed_space(Q)
            assert found.multiplicity == rest == np.sum(np.abs(np.linalg.eigvals(Q) - 1) < 1e-6)
            assert (n - found.multiplicity) % 2 == mirrors and np.sign(np.linalg.det(Q)) == (-1) ** mirrors
            close(found.projection, frame[:, n - rest:] @ frame[:, n - rest:].T, 1e-12)
            close(Q @ found.projection, found.projection, 1e-12)


@pytest.mark.spec("S1-118")
@pytest.mark.parametrize("n", range(2, 8))
def test_rotations_of_odd_dimensions_have_an_axis_and_those_of_even_ones_in_general_none(n):
    assert ct.fixed_space(orthogonal(n)).multiplicity == n % 2
    assert ct.fixed_space(orthogonal(n, -1.0)).multiplicity == 1 - n % 2
    assert ct.fixed_space(np.eye(n)).multiplicity == n and ct.fixed_space(-np.eye(n)).multiplicity == 0
    assert ct.fixed_space(np.float32(orthogonal(n))).multiplicity == n % 2
    small = expm(1e-5 * block_diag([[0, -1], [1, 0]], np.zeros((n - 2, n - 2))))
    assert ct.fixed_space(small).multiplicity == n - 2 and ct.fixed_space(small, tolerance=1e-4).multiplicity == n


@pytest.mark.spec("S1-118")
def test_the_fixed_space_in_space_is_the_axis():
    e = ct.unit_vector(RNG.normal(size=3))
    close(ct.fixed_space(expm(0.7 * ct.hat(e))).projection, ft.axis_projection(e))
    close(ct.fixed_space(np.eye(3) - 2 * np.outer(e, e)).projection, ct.plane_projection(e))
    with pytest.raises(GeometryError, match="not orthogonal"):
        ct.fixed_space(np.ones((3, 3)))
    with pytest.raises(GeometryError, match="of one tensor"):
        ct.fixed_space(np.stack([np.eye(3)] * 2))
