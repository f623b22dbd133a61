"""Every pair of parameterisations, over the whole group, against 60 digits; beside SciPy; with derivatives; in single
precision.
"""

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

import cayley.geometry.rotations as rot
from cayley.errors import SingularityError
from geometry.exact_rotations import (
    AXES,
    MP,
    attitude,
    attitude_error,
    decoded,
    encoded,
    half_turns,
    largest_error,
    matrix_of,
    whole_group,
)
from geometry.strategies import rotation_matrices, rotation_vectors, unit_quaternions

BOUND = 4e-15
NAMES = ["matrix", "quaternion", "axis_angle", "rotation_vector", "vector_parameter", "homogeneous"]
GROUP = whole_group()


def converted(source, target, values):
    result = getattr(rot, f"{target}_from_{source}")(*values)
    return tuple(result) if isinstance(result, tuple) else (result,)


def arguments(name, attitudes):
    return tuple(np.stack(column) for column in zip(*[encoded(name, a) for a in attitudes], strict=True))


def has_finite_parameter(exact):
    return abs(exact.cosine) > 1e-17 * abs(exact.sine)


@pytest.mark.spec("S0-02", "S0-11", "S0-15", "S0-17", "S2-11", "S3-07")
@pytest.mark.parametrize("source", NAMES)
def test_every_conversion_is_exact_over_the_whole_group(source):
    finite = [a for a in GROUP if has_finite_parameter(a)]
    for target in NAMES:
        if target != source:
            attitudes = finite if "vector_parameter" in (source, target) else GROUP
            found = converted(source, target, arguments(source, attitudes))
            assert largest_error(target, found, attitudes) <= BOUND, target


@pytest.mark.parametrize("name", ["quaternion", "homogeneous", "axis_angle"])
def test_what_should_have_length_one_has(name):
    for source in NAMES:
        if source != name:
            found = converted(source, name, arguments(source, [a for a in GROUP if has_finite_parameter(a)]))[0]
            wanted = 1.0 if (source, name) != ("vector_parameter", "homogeneous") else found[:, :1]
            assert np.all(np.abs(np.linalg.norm(found, axis=1) - 1) <= 4e-16) or np.all(found[:,
                                                                                              0] == np.squeeze(wanted))


@pytest.mark.parametrize("source", ["matrix", "quaternion", "homogeneous"])
def test_exact_half_turns_have_every_parameter_but_the_finite_one(source):
    for exact in half_turns():
        values = encoded(source, exact)
        for target in NAMES[:4]:
            if target != source:
                assert attitude_error(target, converted(source, target, values), exact) <= BOUND
        with pytest.raises(SingularityError, match=r"half-turn about .*homogeneous form"):
            converted(source, "vector_parameter", values)


def test_the_finite_parameter_of_a_half_turn_in_a_batch_is_refused_with_its_place():
    forms = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    with pytest.raises(SingularityError, match=r"the rotation 1 of the batch is a half-turn about \[0\. 1\. 0\.\]"):
        rot.vector_parameter_from_homogeneous(forms)
    assert np.isinf(rot.vector_parameter_from_homogeneous.unchecked(forms)[1, 1])


@pytest.mark.spec("S0-17")
@pytest.mark.parametrize("angle", [1e-300, 1e-160, 1e-30, 1e-12, 1e-8, 1e-6, 1e-4, 1e-2])
def test_small_rotations_keep_all_their_digits(angle):
    """Not only small errors: the tiny components themselves are right, through every parameterisation that can hold
    them.
    """
    exact = attitude((0.3, -0.5, 0.7), angle)
    wanted = np.array([float(exact.angle * e) for e in exact.axis])
    for source in NAMES:
        if source != "rotation_vector":
            found = converted(source, "rotation_vector", encoded(source, exact))[0]
            np.testing.assert_allclose(found, wanted, rtol=1e-15, atol=0, err_msg=source)
        axis, size = (source == "axis_angle" and encoded(source, exact)) or converted(
            source, "axis_angle", encoded(source, exact))
        np.testing.assert_allclose(size * axis, wanted, rtol=1e-15, atol=0, err_msg=source)


@pytest.mark.parametrize("scale", [2.0**-1022, 1e-200, 1e-20, 1e200, 2.0**1022])
def test_homogeneous_forms_of_any_size_are_the_same_rotation(scale):
    attitudes = GROUP[::7]
    forms = scale * arguments("homogeneous", attitudes)[0]
    for target in NAMES[:4]:
        assert largest_error(target, converted("homogeneous", target, (forms,)), attitudes) <= BOUND
    if scale == 1e-200:
        with pytest.raises(ValueError, match="zero norm"):  # SciPy loses these
            Rotation.from_quat(forms[0], scalar_first=True)


SCIPY_FROM = {"matrix": Rotation.from_matrix, "quaternion": lambda q: Rotation.from_quat(q, scalar_first=True),
              "rotation_vector": Rotation.from_rotvec}
SCIPY_AS = {
    "matrix": Rotation.as_matrix, "quaternion": lambda r: r.as_quat(scalar_first=True),
    "rotation_vector": Rotation.as_rotvec}


@pytest.mark.parametrize("source", SCIPY_FROM)
@pytest.mark.parametrize("target", SCIPY_AS)
def test_beside_scipy(source, target):
    """Both serve the same attitudes; ours is as exact, give or take two units in the last place of pi."""
    if source == target:
        return
    attitudes = GROUP[::3]
    values = arguments(source, attitudes)
    peer = largest_error(target, (SCIPY_AS[target](SCIPY_FROM[source](*values)),), attitudes)
    ours = largest_error(target, converted(source, target, values), attitudes)
    assert peer <= BOUND and ours <= peer + 4.5e-16


def test_rotation_vectors_of_any_length_are_exponentiated():
    for size in (3.2, 4.0, 6.0, 2 * np.pi, 9.0):
        for axis in AXES:
            r = np.array([float(e) * size for e in attitude(axis).axis])
            exact = decoded("rotation_vector", r)
            for target in ("matrix", "quaternion", "vector_parameter"):
                assert attitude_error(target, converted("rotation_vector", target, (r,)), exact) <= BOUND


# Derivatives


def numeric_derivative(target, r):
    """Of the exact conversion from the rotation vector, by central differences in 60 digits."""
    def exact(components):
        angle = MP.sqrt(sum(e * e for e in components))
        v = [MP.sin(angle / 2) * e / angle if angle else MP.mpf(0) for e in components]
        q = [MP.cos(angle / 2), *v]
        if target == "vector_parameter":
            return np.array([e / q[0] for e in v])
        return np.array(q if target == "quaternion" else matrix_of(q)).ravel()
    step, columns = MP.mpf(10) ** -25, []
    for k in range(3):
        ends = [[MP.mpf(e) + sign * step * (j == k) for j, e in enumerate(r)] for sign in (1, -1)]
        columns.append((exact(ends[0]) - exact(ends[1])) / (2 * step))
    return np.stack(columns, axis=-1).astype(np.float64)


@pytest.mark.parametrize("target", ["matrix", "quaternion", "vector_parameter"])
def test_derivatives_by_the_rotation_vector_are_right_everywhere(target):
    derivative = getattr(rot, f"{target}_from_rotation_vector").jacobian("r")
    for angle in (0.0, 1e-300, 1e-160, 1e-20, 1e-8, 1e-4, 0.1, 0.999999, 1.000001, 1.9, 2.1, 3.0):
        r = angle * np.array([2.0, -1.0, 2.0]) / 3.0
        wanted = numeric_derivative(target, r)
        np.testing.assert_allclose(
            derivative(r).reshape(wanted.shape), wanted, rtol=0, atol=2e-14 * np.abs(wanted).max())


def test_the_derivative_of_the_exponential_at_zero_is_the_generators():
    generators = np.cross(np.eye(3)[:, None, :], np.eye(3)[None, :, :]).transpose(0, 2, 1)  # hat(e_k)
    np.testing.assert_array_equal(
        rot.matrix_from_rotation_vector.jacobian("r")(np.zeros(3)), np.moveaxis(generators, 0, -1))


@given(unit_quaternions())
def test_derivatives_of_logarithm_and_exponential_are_inverse(q):
    """log(exp(r)) is r; beyond the cut at the half-turn, where rounding may put r, it is r - 2 pi r/|r|.

    Both have their derivatives.
    """
    r = rot.rotation_vector_from_quaternion(q)
    there = rot.quaternion_from_rotation_vector(r)
    chain = rot.rotation_vector_from_quaternion.jacobian("q")(there) @ rot.quaternion_from_rotation_vector.jacobian(
        "r")(r)
    across = np.eye(3) - np.outer(r, r) / (r @ r) if there[0] < 0 else np.zeros((3, 3))
    np.testing.assert_allclose(chain, np.eye(3) - 2 * across, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kernel", [rot.rotation_angle, rot.axis_angle_from_matrix, rot.vector_parameter_from_matrix,
                                    rot.rotation_vector_from_matrix, rot.quaternion_from_matrix])
def test_derivatives_at_the_identity_are_finite(kernel):
    for place in range(len(kernel.signature.outputs)):
        assert np.isfinite(kernel.jacobian("R", of=place)(np.eye(3))).all()


def test_the_logarithm_of_a_matrix_at_the_identity_has_half_the_skew_part_as_derivative():
    found = rot.rotation_vector_from_matrix.jacobian("R")(np.eye(3))
    change = np.array([[0.1, 0.2, -0.3], [0.4, -0.5, 0.6], [0.7, 0.8, 0.9]])
    wanted = 0.5 * np.array([change[2, 1] - change[1, 2], change[0, 2] - change[2, 0], change[1, 0] - change[0, 1]])
    np.testing.assert_allclose(np.einsum("ijk,jk->i", found, change), wanted, rtol=0, atol=1e-16)


# Properties


@given(rotation_matrices())
def test_round_trips_of_a_matrix(R):
    for name in ("quaternion", "axis_angle", "rotation_vector", "homogeneous"):
        there = converted("matrix", name, (R,))
        np.testing.assert_allclose(converted(name, "matrix", there)[0], R, rtol=0, atol=4e-15)


@given(unit_quaternions())
def test_both_quaternions_of_a_rotation_give_the_same_result(q):
    for target in ("matrix", "axis_angle", "rotation_vector"):
        for one, other in zip(converted("quaternion", target, (q,)), converted("quaternion", target, (-q,)),
                              strict=True):
            half_turn = q[0] == 0 and target != "matrix" and np.ndim(one)
            np.testing.assert_array_equal(one, -other if half_turn else other)


@given(rotation_vectors())
def test_the_logarithm_undoes_the_exponential(r):
    back = rot.rotation_vector_from_matrix(rot.matrix_from_rotation_vector(r))
    if np.linalg.norm(r) < 3.1415926:
        np.testing.assert_allclose(back, r, rtol=0, atol=4e-15)
    else:
        assert min(np.abs(back - r).max(), np.abs(back + r).max()) <= 1e-6


@given(unit_quaternions())
def test_modified_rodrigues_parameters_agree_with_scipy_and_never_grow(q):
    p = rot.modified_rodrigues_from_quaternion(q)
    assert np.linalg.norm(p) <= 1 + 1e-15
    assert attitude_error("matrix", (rot.matrix_from_modified_rodrigues(p),), [MP.mpf(e) for e in q]) <= BOUND
    R = rot.matrix_from_quaternion(q)
    np.testing.assert_allclose(rot.matrix_from_modified_rodrigues(rot.modified_rodrigues_from_matrix(R)), R, rtol=0,
                               atol=4e-15)
    peer = Rotation.from_mrp(p).as_matrix()
    np.testing.assert_allclose(rot.matrix_from_quaternion(rot.quaternion_from_modified_rodrigues(p)), peer, rtol=0,
                               atol=4e-15)


# Single precision


@pytest.mark.parametrize("source", NAMES)
def test_single_precision(source):
    attitudes = [a for a in GROUP[::5] if abs(a.cosine) > 1e-8]
    values = tuple(v.astype(np.float32) for v in arguments(source, attitudes))
    for target in NAMES:
        if target != source:
            found = converted(source, target, values)
            assert all(f.dtype == np.float32 for f in found)
            assert largest_error(target, tuple(f.astype(np.float64) for f in found),
                                 attitudes) <= 18 * np.finfo(np.float32).eps, target
