"""The identity library of Propositions 3.1 to 3.12 (S1-18)."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cayley.compiler.kernel import Kernel, kernel
from cayley.errors import GeometryError
from cayley.geometry.tensors import hat, symmetric_part
from compiler.parity import check_parity
from geometry import tensor_identities as identities

RNG = np.random.default_rng(18)
KERNELS = {
    name: value
    for name, value in vars(identities).items()
    if isinstance(value, Kernel) and value.__module__ == identities.__name__}
PERPENDICULAR = ("square_around_perpendicular_dual", "perpendicular_dual_vanishes", "perpendicular_squares_commute")
NUMBERS = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e-8, 1e-16, 3.0]), st.floats(-10, 10))
VECTORS = arrays(float, 3, elements=NUMBERS)


def fitting(name, vectors, tensor, number):
    """Arguments for an identity, by the names and shapes of its inputs."""
    chosen = []
    for label, core in zip(KERNELS[name].inputs, KERNELS[name].signature.inputs, strict=True):
        if core == ():
            chosen.append(number)
        elif len(core) == 1:
            chosen.append(vectors[len(chosen) % len(vectors)])
        else:
            chosen.append(hat(vectors[0]) if label == "S" else symmetric_part(tensor))
    return chosen


def agree(sides, arguments):
    size = np.prod([1 + np.abs(a).max() for a in arguments]) ** 2
    np.testing.assert_allclose(sides.left, sides.right, rtol=0, atol=1e-13 * max(size, 1))


def test_the_library_is_complete():
    numbers = "".join(inspect.getdoc(k.__wrapped__) for k in KERNELS.values()) + "".join(
        inspect.getdoc(f) for f in vars(identities).values() if inspect.isfunction(f) and f.__doc__)
    proved = [
        "3.4.1", "3.4.2", "3.4.3", "3.4.4", "3.4.5", "3.4.6", "3.4.7", "3.4.8", "3.4.9", "3.4.10", "3.4.14", "3.4.15",
        "3.4.16", "3.4.17", "3.4.18", "3.4.19a", "3.4.19b", "3.4.20", "3.4.21", "3.4.22", "3.4.23", "3.4.24", "3.4.25",
        "3.4.26a", "3.4.26b", "3.4.26c", "3.4.26d", "3.4.27", "3.4.29", "3.4.30", "3.4.31", "3.4.32", "3.4.33",
        "3.4.34", "3.4.35", "3.4.36", "3.4.38", "3.4.39", "3.3.5", "3.3.6"]
    assert [number for number in proved if f"({number})" not in numbers] == []
    assert all(f"Proposition 3.{k}" in numbers for k in range(1, 13))
    assert len(KERNELS) == 35


@pytest.mark.spec("S1-18")
@pytest.mark.parametrize("name", sorted(set(KERNELS) - set(PERPENDICULAR)))
def test_identities_on_random_vectors(name):
    batch = [RNG.normal(size=(50, 3)) for _ in range(4)]
    arguments = fitting(name, batch, RNG.normal(size=(50, 3, 3)), RNG.normal(size=50))
    agree(KERNELS[name](*arguments), arguments)
    for k in range(3):  # and of the plain text, which the compiler has not simplified
        one = [a[k] for a in arguments]
        agree(KERNELS[name].reference(*one), one)


@pytest.mark.spec("S1-18")
@pytest.mark.parametrize("name", PERPENDICULAR)
def test_identities_of_perpendicular_vectors(name):
    u, other = RNG.normal(size=(2, 50, 3))
    v = np.cross(u, other)
    agree(KERNELS[name](u, v), (u, v))
    for k in range(3):
        agree(KERNELS[name].reference(u[k], v[k]), (u[k], v[k]))
    with pytest.raises(GeometryError, match="not perpendicular at element 0 of the batch: their product is"):
        KERNELS[name](u, u)


@pytest.mark.spec("S1-18")
@given(VECTORS, VECTORS, arrays(float, (3, 3), elements=NUMBERS), NUMBERS,
       st.sampled_from(["free", "parallel", "opposite", "equal"]))
def test_all_identities_at_once_with_parallel_vectors_and_zeros(u, v, tensor, number, kind):
    second = {"free": v, "parallel": 2.5 * u, "opposite": -u, "equal": u}[kind]
    for name in set(KERNELS) - set(PERPENDICULAR):
        arguments = fitting(name, [u, second, v], tensor, number)
        agree(KERNELS[name](*arguments), arguments)


@pytest.mark.spec("S1-18")
def test_the_null_space_of_a_dual_is_only_its_vector():
    u = RNG.normal(size=3)
    assert abs(identities.null_space_is_parallel(u, 3 * u).left) < 1e-14
    off = identities.null_space_is_parallel(u, u + 1e-3 * np.cross(u, [0, 0, 1.0]))
    assert off.left > 1e-7 and off.left == pytest.approx(off.right, rel=1e-6)
    assert np.linalg.matrix_rank(hat(u)) == 2


@pytest.mark.spec("S1-18")
def test_spectral_identity_with_repeated_eigenvalues():
    batch = np.concatenate([
        symmetric_part(RNG.normal(size=(20, 3, 3))), [np.eye(3), np.zeros((3, 3)),
                                                      np.diag([2.0, 2.0, 5.0])]])
    sides = identities.symmetric_by_duals_of_eigenvectors(batch)
    np.testing.assert_allclose(sides.right, sides.left, rtol=0, atol=1e-13)
    with pytest.raises(GeometryError, match="not symmetric"):
        identities.symmetric_by_duals_of_eigenvectors(hat([1.0, 0.0, 0.0]))


@pytest.mark.spec("S1-12", "S1-18")
def test_contractions_of_the_alternating_tensor():
    for sides in (identities.one_contraction_of_alternating_tensors(),
                  identities.two_contractions_of_alternating_tensors(),
                  identities.three_contractions_of_alternating_tensors()):
        np.testing.assert_array_equal(sides.left, sides.right)


@pytest.mark.spec("S1-18")
def test_identities_that_need_symmetry_refuse_the_rest():
    skew, vector = hat([1.0, 2.0, 3.0]), np.ones(3)
    for call in (lambda: identities.dual_of_symmetric_times_vector(skew, vector),
                 lambda: identities.bilinear_form_by_trace(vector, skew, vector),
                 lambda: identities.symmetric_is_orthogonal_to_skew(skew, skew)):
        with pytest.raises(GeometryError, match="not symmetric"):
            call()
    with pytest.raises(GeometryError, match="not skew"):
        identities.symmetric_is_orthogonal_to_skew(np.eye(3), np.eye(3))


def test_an_identity_is_a_choice_of_cost():
    costs = [
        kernel("(3),(3)->(3,3)")(lambda u, v, side=side: identities.dual_between_duals(u, v)[side]).operations()
        for side in (0, 1)]
    assert costs[0].multiplications > costs[1].multiplications


def test_parity_of_the_whole_library():
    @kernel("(3),(3),(3),(3,3),()->(n)")
    def everything(u, v, w, T, k):
        sides = [
            side for name, identity in KERNELS.items() for side in identity.unchecked(*fitting(name, [u, v, w], T, k))]
        return np.stack([x for side in sides for x in np.ravel(side)])

    check_parity(everything, *[RNG.normal(size=(2, 3)) for _ in range(3)], RNG.normal(size=(2, 3, 3)),
                 RNG.normal(size=2), jacobians=False)
