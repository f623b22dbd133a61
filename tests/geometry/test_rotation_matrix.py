"""Rotation matrices and frames: elementary rotations, refusal of what is no rotation, projection, the two readings,
sequences.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm, polar
from scipy.spatial.transform import Rotation

import cayley.geometry.rotations as rot
from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.geometry.rotations import frames, matrix
from compiler.parity import check_parity
from geometry import formulas_of_rotations as fo
from geometry.exact_rotations import AXES, MP, attitude, attitude_error, encoded, whole_group
from geometry.rotation_samples import kernels_of, sample_arguments
from geometry.strategies import rotation_matrices, signed_angles, vectors

UNIT = np.eye(3)
ELEMENTARY = [rot.rotation_x, rot.rotation_y, rot.rotation_z]


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


# Elementary rotations


@pytest.mark.spec("S2-03", "S3-01")
@given(signed_angles())
def test_elementary_rotations(angle):
    for axis, rotation in zip(UNIT, ELEMENTARY, strict=True):
        R = rotation(angle)
        assert attitude_error("matrix", (R,),
                              [MP.cos(MP.mpf(angle) / 2), *[MP.sin(MP.mpf(angle) / 2) * e for e in axis]]) <= 4e-16
        np.testing.assert_allclose(R, rot.matrix_from_axis_angle(axis, angle), rtol=0, atol=1e-15)
        np.testing.assert_array_equal(R @ axis, axis)


@pytest.mark.spec("S2-03", "S3-01")
def test_elementary_rotations_turn_the_right_way_and_are_exponentials():
    for k, rotation in enumerate(ELEMENTARY):
        np.testing.assert_allclose(rotation(np.pi / 2) @ UNIT[(k + 1) % 3], UNIT[(k + 2) % 3], rtol=0, atol=1e-16)
        np.testing.assert_allclose(rotation(0.7), expm(0.7 * hat(UNIT[k])), rtol=0, atol=1e-15)
        np.testing.assert_allclose(rotation(0.7), Rotation.from_euler("xyz"[k], 0.7).as_matrix(), rtol=0, atol=1e-15)
    c, s = np.cos(0.3), np.sin(0.3)
    np.testing.assert_array_equal(rot.rotation_z(0.3), [[c, -s, 0], [s, c, 0], [0, 0, 1]])
    np.testing.assert_array_equal(rot.rotation_y(0.3), [[c, 0, s], [0, 1, 0], [-s, 0, c]])
    np.testing.assert_array_equal(rot.rotation_x(0.3), [[1, 0, 0], [0, c, -s], [0, s, c]])


# Frames: axes, components, both readings


@pytest.mark.spec("S2-01")
@given(rotation_matrices(), vectors())
def test_components_are_the_scalar_products_with_the_axes(R, point):
    found = fo.components_along_axes(R, point)
    np.testing.assert_allclose(found, [R[:, k] @ point for k in range(3)], rtol=0, atol=1e-14)
    np.testing.assert_allclose(sum(found[k] * R[:, k] for k in range(3)), point, rtol=0, atol=1e-13)


@pytest.mark.spec("S2-02", "S3-01")
@given(rotation_matrices(), rotation_matrices())
def test_direction_cosines(R_oa, R_ob):
    """The nine scalar products of the axes of two frames; the columns are the axes of b in a; the transpose is the
    inverse.
    """
    R_ab = fo.direction_cosines(R_oa, R_ob)
    for i in range(3):
        for j in range(3):
            assert abs(R_ab[i, j] - R_oa[:, i] @ R_ob[:, j]) <= 1e-15
    u, v, w = R_ab.T
    np.testing.assert_allclose(np.cross(u, v), w, rtol=0, atol=4e-15)
    np.testing.assert_array_equal(rot.matrix_from_axes(u, v, w), R_ab)
    np.testing.assert_allclose(fo.inverse_rotation(R_ab), fo.direction_cosines(R_ob, R_oa), rtol=0, atol=1e-15)
    np.testing.assert_allclose(rot.compose_rotations(R_ab, fo.inverse_rotation(R_ab)), UNIT, rtol=0, atol=4e-15)


@pytest.mark.spec("S2-02")
def test_nine_numbers_six_constraints_three_free_parameters():
    """The rank of the constraints R^T R = 1 at a rotation is six."""
    R = rot.matrix_from_axis_angle(np.array([2.0, 3.0, 6.0]) / 7, 1.1)
    step = 1e-6
    changes = [((R + step * E).T @ (R + step * E) - (R - step * E).T @ (R - step * E))[np.triu_indices(3)] / (2 * step)
               for E in np.eye(9).reshape(9, 3, 3)]
    singular = np.linalg.svd(np.array(changes), compute_uv=False)
    assert len(singular) == 6 and singular.min() > 0.5


@pytest.mark.spec("S2-02", "S3-01")
@pytest.mark.parametrize(("axes", "words"), [
    (([1, 0, 0], [0, 1, 0], [0, 0, -1]), "it is a reflection"),
    (([2, 0, 0], [0, 2, 0], [0, 0, 2]), "it is scaled by 2"),
    (([1, 0, 0], [0.1, 1, 0], [0, 0, 1]), "its columns are not orthonormal"),
    (([1, 0, 0], [0, 1, 0], [0, 0, 1.001]), "its columns are not orthonormal"),
])
def test_triads_that_are_no_frames_are_refused_or_projected(axes, words):
    with pytest.raises(GeometryError, match=words):
        rot.matrix_from_axes(*np.array(axes, dtype=float))
    projected = rot.nearest_rotation(np.array(axes, dtype=float).T) if words != "it is a reflection" else UNIT
    rot.check_rotation_matrix(projected, tolerance=1e-15)


@pytest.mark.spec("S2-04", "S3-02")
@given(rotation_matrices(), vectors())
def test_passive_and_active_reading(R, v):
    """The same numbers, two meanings: components in another frame; another vector in the same frame. Lengths stay."""
    passive, active = rot.components_in(R, v), rot.turned(R, v)
    np.testing.assert_array_equal(passive, active)
    assert abs(np.linalg.norm(passive) - np.linalg.norm(v)) <= 1e-14 * np.linalg.norm(v)
    np.testing.assert_allclose(rot.components_in(fo.inverse_rotation(R), passive), v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(fo.components_along_axes(R, passive), v, rtol=0, atol=1e-13)


@pytest.mark.spec("S3-02")
@given(rotation_matrices(), rotation_matrices(), rotation_matrices(), vectors())
def test_chain_of_frames(R_ab, R_bc, R_cd, v):
    R_ad = rot.compose_rotations(rot.compose_rotations(R_ab, R_bc), R_cd)
    np.testing.assert_allclose(R_ad, rot.compose_rotations(R_ab, rot.compose_rotations(R_bc, R_cd)), rtol=0, atol=4e-15)
    np.testing.assert_allclose(rot.components_in(R_ad, v), R_ab @ (R_bc @ (R_cd @ v)), rtol=0, atol=1e-13)
    np.testing.assert_allclose(R_ad.T, R_cd.T @ R_bc.T @ R_ab.T, rtol=0, atol=4e-15)


@pytest.mark.spec("S3-02")
def test_frames_with_names_refuse_the_wrong_order():
    hand = rot.Orientation(rot.rotation_x(0.4), of="hand", in_="base")
    tool = rot.Orientation(rot.rotation_z(np.linspace(0, 1, 5)), of="tool", in_="hand")
    both = hand @ tool
    assert (both.of, both.in_) == ("tool", "base") and both.matrix.shape == (5, 3, 3)
    np.testing.assert_array_equal(both.matrix[2], rot.rotation_x(0.4) @ rot.rotation_z(0.5))
    np.testing.assert_allclose(both.components([1.0, 2.0, 3.0], of="tool"), both.matrix @ [1.0, 2.0, 3.0], rtol=0,
                               atol=1e-15)
    back = both.inverse()
    assert (back.of, back.in_) == ("base", "tool")
    np.testing.assert_allclose((back @ both).matrix, np.broadcast_to(UNIT, (5, 3, 3)), rtol=0, atol=1e-15)
    with pytest.raises(ConventionError, match="'tool in hand' cannot be followed by 'hand in base'"):
        tool @ hand
    with pytest.raises(ConventionError, match="given in 'hand'"):
        both.components([1.0, 2.0, 3.0], of="hand")
    with pytest.raises(GeometryError, match="reflection"):
        rot.Orientation(-UNIT, of="a", in_="b")


# Sequences of turns


@pytest.mark.spec("S2-14")
def test_the_three_cases_of_the_source():
    R1, R2 = rot.rotation_x(0.3), rot.rotation_z(0.7)
    fixed_fixed = rot.sequence_of_turns([(R1, "fixed"), (R2, "fixed")])
    fixed_moving = rot.sequence_of_turns([rot.Turn(R1, "fixed"), rot.Turn(R2, "moving")])
    moving_moving = rot.sequence_of_turns([(R1, "moving"), (R2, "moving")])
    np.testing.assert_array_equal(fixed_fixed, R2 @ R1)
    np.testing.assert_array_equal(fixed_moving, R1 @ R2)
    np.testing.assert_array_equal(moving_moving, fixed_moving)
    assert np.abs(fixed_fixed - fixed_moving).max() > 0.1


@pytest.mark.spec("S2-14")
@given(rotation_matrices(), st.lists(st.tuples(rotation_matrices(), st.sampled_from(["fixed", "moving"])), max_size=5))
def test_mixed_sequences_follow_the_axes_themselves(start, turns):
    """Independent of any rule of sides: a turn about a moving axis is one about the place in space where that axis is
    now.
    """
    axes = start.copy()
    for rotation, about in turns:
        in_space = rotation if about == "fixed" else axes @ rotation @ np.linalg.inv(axes)
        axes = np.column_stack([in_space @ axes[:, k] for k in range(3)])
    np.testing.assert_allclose(rot.sequence_of_turns(turns, start=start), axes, rtol=0, atol=3e-14)


@pytest.mark.spec("S2-14")
def test_sequences_against_scipy_and_in_batches():
    angles = np.random.default_rng(2).normal(size=(4, 3))
    turns = [rotation(angles[:, k]) for k, rotation in enumerate(ELEMENTARY)]
    for about, name in (("fixed", "xyz"), ("moving", "XYZ")):
        found = rot.sequence_of_turns([(turn, about) for turn in turns])
        np.testing.assert_allclose(found, Rotation.from_euler(name, angles).as_matrix(), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(rot.sequence_of_turns([]), UNIT)
    with pytest.raises(ConventionError, match="turn 1 is about 'body'"):
        rot.sequence_of_turns([(turns[0], "fixed"), (turns[1], "body")])
    with pytest.raises(GeometryError, match="not a rotation"):
        rot.sequence_of_turns([(2 * UNIT, "fixed")])


# What is no rotation


BAD = {
    "a reflection": (np.diag([1.0, 1.0, -1.0]), r"it is a reflection .*defect 2e\+00"),
    "scaled": (1.01 * UNIT, r"it is scaled by 1\.01; defect 3e-02"),
    "scaled and reflected": (-2 * UNIT, "it is a reflection .* and it is scaled by 2"),
    "drifted": (UNIT + 1e-6 * np.arange(9).reshape(3, 3), r"its columns are not orthonormal .*defect 2e-05"),
    "NaN": (np.full((3, 3), np.nan), "it has elements that are NaN or infinite"),
    "infinite": (np.diag([1.0, 1.0, np.inf]), "it has elements that are NaN or infinite"),
    "zero": (np.zeros((3, 3)), "its columns are not orthonormal"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_rotation_is_named_with_its_size_and_place(name):
    R, words = BAD[name]
    with pytest.raises(GeometryError, match="matrix is not a rotation: " + words):
        rot.check_rotation_matrix(R)
    batch = np.broadcast_to(UNIT, (2, 4, 3, 3)).copy()
    batch[1, 2] = R
    with pytest.raises(GeometryError, match=r"matrix \(1, 2\) of the batch is not a rotation: " + words):
        rot.quaternion_from_matrix(batch)
    with pytest.raises(GeometryError, match="matrix 2 of the batch"):
        rot.rotation_vector_from_matrix(batch[1])
    rot.quaternion_from_matrix.unchecked(batch)


def test_tolerances_follow_the_type_or_the_argument():
    drifted = rot.rotation_x(0.3) * (1 + 5e-9)
    rot.check_rotation_matrix(drifted * (1 - 4e-9))
    with pytest.raises(GeometryError, match="1e-08 is allowed"):
        rot.check_rotation_matrix(drifted)
    rot.check_rotation_matrix(drifted, tolerance=1e-7)
    with pytest.raises(GeometryError, match="1e-12 is allowed"):
        rot.check_rotation_matrix(drifted, tolerance=1e-12)
    single = (rot.rotation_x(0.3) * (1 + 2e-5)).astype(np.float32)
    rot.check_rotation_matrix(single)
    with pytest.raises(GeometryError, match="1e-04 is allowed"):
        rot.check_rotation_matrix(single * np.float32(1.0001))
    rot.check_rotation_matrix(np.eye(3, dtype=int))


@pytest.mark.parametrize("shape", [(3,), (4, 4), (2, 3), (5, 3, 4), ()])
def test_wrong_shapes_are_refused(shape):
    with pytest.raises(GeometryError, match=r"shape \(\.\.\., 3, 3\)"):
        rot.check_rotation_matrix(np.zeros(shape))
    with pytest.raises((GeometryError, SignatureError)):
        rot.quaternion_from_matrix(np.zeros(shape))
    with pytest.raises(GeometryError, match=r"shape \(\.\.\., 3, 3\)"):
        rot.nearest_rotation(np.zeros(shape))


def test_empty_batches_pass():
    assert rot.quaternion_from_matrix(np.zeros((0, 3, 3))).shape == (0, 4)
    assert rot.nearest_rotation(np.zeros((0, 3, 3))).shape == (0, 3, 3)


@given(rotation_matrices())
def test_the_defect_of_a_rotation_is_rounding(R):
    assert rot.rotation_defect(R) <= 2e-15
    assert rot.rotation_defect(1.5 * R) == pytest.approx(1.5**3 - 1, abs=1e-14)
    assert rot.rotation_defect(-R) == pytest.approx(2, abs=1e-14)


# Nearest rotation


def test_nearest_rotation_is_the_polar_factor_and_nothing_is_nearer():
    random = np.random.default_rng(4)
    M = rot.matrix_from_rotation_vector(random.normal(size=(30, 3))) + 0.1 * random.normal(size=(30, 3, 3))
    found = rot.nearest_rotation(M)
    assert rot.rotation_defect(found).max() <= 2e-15
    for original, R in zip(M, found, strict=True):
        np.testing.assert_allclose(R, polar(original)[0], rtol=0, atol=1e-13)
        others = R @ rot.matrix_from_rotation_vector(1e-3 * random.normal(size=(20, 3)))
        assert np.all(np.linalg.norm(others - original, axis=(1, 2)) > np.linalg.norm(R - original))


def test_nearest_rotation_has_determinant_one_even_from_a_reflection():
    M = np.diag([3.0, 2.0, -1.0])
    np.testing.assert_allclose(rot.nearest_rotation(M), UNIT, rtol=0, atol=1e-15)
    flat = np.outer([1.0, 0, 0], [0, 1.0, 0]) + np.outer([0, 1.0, 0], [0, 0, 1.0])  # rank two: still unique
    np.testing.assert_allclose(rot.nearest_rotation(flat), [[0, 1, 0], [0, 0, 1], [1, 0, 0]], rtol=0, atol=1e-15)


@pytest.mark.parametrize(("M", "words"), [
    (np.zeros((3, 3)), "no unique nearest rotation"),
    (np.outer([1.0, 2, 3], [3.0, 1, 1]), "no unique nearest rotation"),
    (-UNIT, "no unique nearest rotation.*determinant is -1"),
    (np.full((3, 3), np.nan), "NaN or infinite"), ])
def test_where_the_nearest_rotation_is_not_unique_it_is_refused(M, words):
    with pytest.raises(GeometryError, match=words):
        rot.nearest_rotation(M)
    with pytest.raises(GeometryError, match="matrix 1 of the batch"):
        rot.nearest_rotation(np.stack([UNIT, M]))


def test_nearest_rotation_repairs_a_drifted_product():
    step = rot.rotation_z(0.1) @ rot.rotation_x(0.2)
    product = UNIT
    for _ in range(3):
        product = product @ (step * (1 + 1e-5))
    exact = np.linalg.matrix_power(step, 3)
    assert rot.rotation_defect(product) > 1e-5
    np.testing.assert_allclose(rot.nearest_rotation(product), exact, rtol=0, atol=1e-15)


# Angles


def test_angles_are_accurate_at_both_ends():
    for exact in whole_group():
        R, = encoded("matrix", exact)
        assert abs(rot.rotation_angle(R) - float(exact.angle)) <= 1e-15
    assert rot.rotation_angle(UNIT) == 0 and rot.rotation_angle(np.diag([1.0, -1.0, -1.0])) == np.pi


def test_angles_between_attitudes():
    for axis in AXES:
        unit = np.array([float(e) for e in attitude(axis).axis])
        A = rot.matrix_from_axis_angle(unit, 0.4)
        for angle in (0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi):
            B = A @ rot.matrix_from_axis_angle(unit, angle)
            assert abs(rot.angle_between_rotations(A, B) - angle) <= 2e-15
            p, q = rot.quaternion_from_matrix(A), rot.quaternion_from_matrix(B)
            assert abs(rot.angle_between_quaternions(p, q) - angle) <= 2e-15
            assert abs(rot.angle_between_quaternions(p, -q) - angle) <= 2e-15


@pytest.mark.parametrize("kernel", [k for k in kernels_of(matrix, frames) if k is not rot.rotation_defect],
                         ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    # 18 derivatives of nine elements, in 50 digits: one state will do
    two_matrices = kernel.signature.inputs == ((3, 3), (3, 3))
    check_parity(kernel.unchecked, *sample_arguments(kernel, states=1 if two_matrices else 2))


def test_every_back_end_agrees_on_defects():
    check_parity(rot.rotation_defect, np.random.default_rng(1).normal(size=(3, 3, 3)))
