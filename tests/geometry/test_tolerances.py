"""What one check admits every other accepts; what is no rotation nothing takes: composition, inverse, comparison,
application.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from cayley.errors import CayleyError, GeometryError
from cayley.geometry import motions, rates, rotations, tensors
from cayley.geometry.batch import tolerance_of
from geometry import formulas_of_motions as fm
from geometry import formulas_of_rates as fr
from geometry import formulas_of_rotations as fo

RANDOM = np.random.default_rng(17)
TURNS = Rotation.random(6, rng=RANDOM).as_quat(scalar_first=True)
TURNS = np.concatenate([TURNS, [[0, 0.6, 0, 0.8], [1, 0, 0, 0], [0.6, 0.8, 0, 0]]])
MATRICES = Rotation.from_quat(TURNS, scalar_first=True).as_matrix()
AXES = TURNS[:, 1:] + np.array([0, 0, 1e-3])
AXES = AXES / np.linalg.norm(AXES, axis=1, keepdims=True)
ANGLES = RANDOM.uniform(-4, 4, size=len(AXES))
SIZES = [1 - 0.99e-8, 1 - 5e-9, 1 + 1e-10, 1 + 9e-9, 1 + 0.99e-8]


def matrices_of(size):
    """Rotation matrices from every parameterisation whose length is off by a factor that the check of it admits."""
    e, q = size * AXES, size * TURNS
    yield "axis and angle", rotations.matrix_from_axis_angle(e, ANGLES)
    yield "cayley and hamilton", rotations.matrix_by_cayley_hamilton(e, ANGLES)
    yield "half-sine", rotations.matrix_from_half_sine(size * AXES)
    yield "quaternion", rotations.matrix_from_quaternion(q)
    yield "spinor", rotations.matrix_from_spinor(rotations.spinor_from_quaternion(q))
    yield "unitary", rotations.matrix_from_quaternion(
        rotations.quaternion_from_unitary(rotations.unitary_from_quaternion(q)))
    yield "cayley and klein", rotations.matrix_from_quaternion(
        rotations.quaternion_from_cayley_klein(rotations.cayley_klein_from_quaternion(q)))
    yield "tangent pair", fr.matrix_from_tangent_pair(size * MATRICES[..., 0],
                                                         size * MATRICES[..., 1] + 0.7e-8 * MATRICES[..., 0])
    yield "a line", motions.turn_about_line([1.0, 2.0, 3.0], e, ANGLES)[..., :3, :3]
    yield "a screw", motions.pose_from_screw(e, [1.0, 2.0, 3.0], ANGLES, 2.0)[..., :3, :3]
    yield "composed half-sines", rotations.matrix_from_half_sine(
        rotations.compose_half_sines(size * AXES, size * AXES[::-1]))
    yield "quaternion of an axis", rotations.matrix_from_quaternion(rotations.quaternion_from_axis_angle(e, ANGLES))
    yield "quaternion of a half-sine", rotations.matrix_from_quaternion(rotations.quaternion_from_half_sine(size
                                                                                                            * AXES))


@pytest.mark.spec("S0-02", "S0-13", "S2-06")
@pytest.mark.parametrize("size", SIZES)
def test_what_is_made_of_admitted_parameters_is_a_rotation_to_the_last_digit(size):
    for name, R in matrices_of(size):
        assert rotations.rotation_defect(R).max() < 4e-15, name
        rotations.quaternion_from_matrix(R)


def test_what_is_made_of_admitted_parameters_in_single_precision():
    e = ((1 + 9e-5) * AXES).astype(np.float32)
    d = (MATRICES[..., 0] * (1 + 9e-5)).astype(np.float32)
    for R in (rotations.matrix_from_axis_angle(e, ANGLES.astype(np.float32)), rotations.matrix_from_half_sine(d),
              rotations.matrix_from_spinor(rotations.spinor_from_quaternion(((1 + 9e-5) * TURNS).astype(np.float32)))):
        assert R.dtype == np.float32 and rotations.rotation_defect(R).max() < 2e-6
    for found in (rotations.nearest_rotation(np.float32(1.5) * MATRICES.astype(np.float32)),
                  tensors.spectral_decomposition(np.eye(3, dtype=np.float32)).vectors):
        assert found.dtype == np.float32


def checks_of_a_rotation(R):
    """Every check of a rotation matrix that there is."""
    pose = np.zeros((4, 4))
    pose[:3, :3], pose[3, 3] = R, 1.0
    return {
        "rotation": lambda: rotations.check_rotation_matrix(R),
        "change of frame": lambda: tensors.tensor_in_frame(R, np.eye(3)), "pose": lambda: motions.check_pose(pose),
        "orthogonal": lambda: tensors.check_orthogonal(R),
        "configuration": lambda: rotations.configuration_from_pose(pose, sequence="zyx", axes="moving"),
        "dual matrix": lambda: fm.check_dual_matrix(fm.dual_matrix_from_pose(pose)),
        "skew vector": lambda: fr.homogeneous_from_skew_vector(fr.skew_vector_from_matrix(R), 1.0)}


def test_every_check_of_a_rotation_admits_the_same():
    """Matrices whose R^T R and determinant are off by just less than the tolerance, in every pattern of signs, and by
    just more.
    """
    for signs in np.ndindex(2, 2, 2):
        pattern = 1 - 2 * np.array(signs)
        for beside in (0.0, 0.7e-8):
            worst = 0.99e-8 / max(1.0, abs(pattern.sum()) / 2)  # the determinant is off by half their sum
            gram = np.diag(1 + worst * pattern) + beside * (1 - np.eye(3))
            for R in MATRICES:
                for check in checks_of_a_rotation(R @ np.linalg.cholesky(gram).T).values():
                    check()
        worse = MATRICES[0] @ np.linalg.cholesky(np.diag(1 + 1.1e-8 * pattern)).T
        for name, check in checks_of_a_rotation(worse).items():
            if name != "skew vector":
                with pytest.raises(GeometryError):
                    check()


def test_one_tolerance():
    assert [tolerance_of(np.zeros(1, dtype)) for dtype in ("f8", "f4", "f2", "i8")] == [1e-8, 1e-4, 1e-2, 1e-8]
    for check in (rotations.check_unit_axis, tensors.check_unit_vector):
        check([0.0, 0.6 * (1 + 9e-9), 0.8 * (1 + 9e-9)])
        with pytest.raises(GeometryError, match="unit vector"):
            check([0.0, 0.6 * (1 + 2e-8), 0.8 * (1 + 2e-8)])


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("check, sign", [(tensors.check_skew, -1), (rotations.check_skew, -1),
                                         (tensors.check_symmetric, 1)])
def test_tensors_with_zeros_may_be_off_by_rounding_of_their_largest_component(check, sign, size):
    good, bad = (size * np.array([[0, 1, 0], [sign * (1 + off), 0, 0], [0, 0, 0]]) for off in (0.9e-8, 1.1e-8))
    check(good)
    check([1e3 * good, good])
    with pytest.raises(GeometryError, match="at element 1 of the batch"):
        check([1e3 * good, bad])  # the size of each tensor is its own


# What is no rotation

REFLECTION, SCALED, BENT = np.diag([1.0, 1.0, -1.0]), 2 * np.eye(3), np.array([[1.0, 1e-6, 0], [0, 1, 0], [0, 0, 1]])
UNKNOWN = np.full((3, 3), np.nan)
UNIT, VECTOR = np.eye(3), np.array([1.0, 2.0, 3.0])
APPLIED = {
    "compose, left": lambda R: rotations.compose_rotations(R, UNIT),
    "compose, right": lambda R: rotations.compose_rotations(UNIT, R),
    "invert": fo.inverse_rotation,
    "compare, left": lambda R: rotations.angle_between_rotations(R, UNIT),
    "compare, right": lambda R: rotations.angle_between_rotations(UNIT, R),
    "components": lambda R: rotations.components_in(R, VECTOR),
    "turn": lambda R: rotations.turned(R, VECTOR),
    "project": lambda R: fo.components_along_axes(R, VECTOR),
    "cosines": lambda R: fo.direction_cosines(R, UNIT),
    "sequence": lambda R: rotations.sequence_of_turns([(R, "fixed")]),
    "name": lambda R: rotations.Orientation(R, of="b", in_="a"),
    "turn axes": lambda R: motions.turn_axes(R, np.ones(6)),
    "dual": lambda R: fm.compose_dual_matrices([R, 0 * R], [UNIT, 0 * UNIT]),
    "angle": rotations.rotation_angle,
    "pose": lambda R: motions.pose_from_matrix(R, VECTOR),
    "frame of a tensor": lambda R: tensors.tensor_in_frame(R, UNIT),
    "point": lambda R: fr.velocity_of_moving_point(R, VECTOR, VECTOR, VECTOR, VECTOR), }


@pytest.mark.spec("S1-02", "S2-04", "S3-02")
@pytest.mark.parametrize("name", APPLIED)
@pytest.mark.parametrize("wrong", [REFLECTION, SCALED, BENT, UNKNOWN], ids=["reflection", "scaled", "bent", "NaN"])
def test_matrices_that_are_no_rotations_are_refused(name, wrong):
    with pytest.raises(GeometryError):
        APPLIED[name](wrong)
    if not name.startswith(("sequence", "name", "dual")):
        with pytest.raises(GeometryError, match="1 of the batch"):
            APPLIED[name](np.stack([UNIT, wrong]))


@pytest.mark.parametrize("wrong", [np.zeros(4), 2 * TURNS[0], np.full(4, np.nan)], ids=["zero", "long", "NaN"])
def test_quaternions_that_are_no_rotations_are_refused(wrong):
    for use in (lambda q: rotations.angle_between_quaternions(q, TURNS[0]),
                lambda q: rotations.angle_between_quaternions(TURNS[0], q),
                lambda q: rotations.rotate_by_quaternion(q, VECTOR), rotations.quaternion_angle):
        with pytest.raises(GeometryError, match="not a rotation"):
            use(wrong)
    if not np.all(wrong == 2 * TURNS[0]):
        for use in (lambda h: rotations.compose_homogeneous(h, TURNS[0]),
                    lambda h: rotations.compose_homogeneous(TURNS[0], h), rotations.inverse_homogeneous,
                    rotations.quaternion_inverse, lambda h: rotations.rotate_by_homogeneous(h, VECTOR)):
            with pytest.raises(GeometryError, match="no inverse and no direction"):
                use(wrong)
    with pytest.raises(GeometryError, match="not in SU"):
        rotations.compose_unitaries(rotations.unitary_from_quaternion(2 * TURNS[0]),
                                    rotations.unitary_from_quaternion(TURNS[0]))


@pytest.mark.spec("S2-04")
def test_passive_and_active_readings_are_two_names():
    """A frame turned by R sees a fixed vector turned back: the passive reading of the inverse undoes the active
    reading.
    """
    for R in MATRICES:
        turned = rotations.turned(R, VECTOR)
        np.testing.assert_allclose(np.linalg.norm(turned), np.linalg.norm(VECTOR), rtol=1e-15)
        np.testing.assert_allclose(turned, Rotation.from_matrix(R).apply(VECTOR), rtol=0, atol=4e-15)
        seen = rotations.components_in(fo.inverse_rotation(R), VECTOR)  # the same vector, from the turned frame
        np.testing.assert_allclose(seen, [R[:, k] @ VECTOR for k in range(3)], rtol=0, atol=4e-15)
        np.testing.assert_allclose(fo.components_along_axes(R, VECTOR), seen, rtol=0, atol=4e-15)
        np.testing.assert_allclose(rotations.components_in(R, seen), VECTOR, rtol=0, atol=4e-15)


@pytest.mark.spec("S3-02")
def test_named_orientations_are_values():
    one, same = (rotations.Orientation(MATRICES[0].tolist(), of="b", in_="a") for _ in range(2))
    other = rotations.Orientation(MATRICES[1], of="b", in_="a")
    assert one == same and hash(one) == hash(same) and one != other and one != "b in a"
    assert one != rotations.Orientation(MATRICES[0], of="c", in_="a") and len({one, same, other}) == 2
    with pytest.raises(ValueError, match="read-only"):
        one.matrix[0, 0] = 2.0
    with pytest.raises(CayleyError, match="cannot be followed"):
        one @ other


# Numbers of every size

SCALE = [5e-324, 1e-310, 1e-300, 1e-200, 1e-160, 1e-150, 1e-30]


@pytest.mark.parametrize("size", SCALE)
def test_angles_and_points_next_to_nothing(size):
    q = np.array([1.0, 0.0, size, 0.0])
    for found in (rotations.quaternion_angle(q), rotations.angle_between_quaternions([1.0, 0, 0, 0], q),
                  rotations.rotation_angle(rotations.matrix_from_quaternion(q)),
                  rotations.angle_between_rotations(np.eye(3), rotations.matrix_from_quaternion(q))):
        assert float(found) == pytest.approx(2 * size, rel=1e-15, abs=1e-153)
    found = rates.angular_velocity_from_point([size, 0.0, 0.0], [0.0, size, 0.0])
    np.testing.assert_allclose(found.normal, [0.0, 0.0, 1.0], rtol=0, atol=4e-16)
    np.testing.assert_allclose(rotations.normalize_quaternion(size * np.array([0.0, 0.0, 0.0, 1.0])), [0, 0, 0, 1],
                               rtol=0, atol=4e-16)
    if size < 1e-308:
        with pytest.raises(GeometryError, match="beyond the largest number"):
            rotations.quaternion_inverse([size, 0.0, 0.0, 0.0])
    else:
        np.testing.assert_allclose(rotations.quaternion_inverse([size, 0.0, 0.0, 0.0]), [1 / size, 0, 0, 0], rtol=1e-15)


@pytest.mark.parametrize("size", [1e-44, 1e-30, 1e-22, 1e-18, 1e-10])
def test_small_angles_in_single_precision(size):
    q = np.array([1.0, 0.0, size, 0.0], dtype=np.float32)
    assert float(rotations.quaternion_angle(q)) == pytest.approx(2 * float(np.float32(size)), rel=1e-6, abs=1e-19)


def test_half_turns_in_single_precision_leave_the_sign_free():
    R = rotations.matrix_from_rotation_vector((np.float32(np.pi) * np.array([0.6, 0.0, 0.8])).astype(np.float32))
    assert R.dtype == np.float32 and rotations.natural_invariants(R).sign_is_free == 1
    assert rotations.natural_invariants(rotations.rotation_x(np.float32(3.14))).sign_is_free == 0
    with pytest.raises(CayleyError, match="half-turn"):
        rotations.rodrigues_squares(np.diag([1.0, -1.0, -1.0]))
