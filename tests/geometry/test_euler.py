"""Euler angles: 60 digits and SciPy as oracles for all 24 conventions, at and next to every singularity; properties;
known values.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ConventionError, GeometryError
from cayley.geometry.rotations.euler import (
    PROPER,
    SEQUENCES,
    TAIT_BRYAN,
    euler_from_matrix,
    euler_from_quaternion,
    euler_kernels,
    matrix_from_euler,
    matrix_from_roll_pitch_yaw,
    quaternion_from_euler,
    quaternion_from_roll_pitch_yaw,
    roll_pitch_yaw_from_matrix,
    roll_pitch_yaw_from_quaternion,
)
from cayley.geometry.rotations.euler_decomposition import zyz_by_turning_back
from compiler.parity import check_parity
from geometry.exact_euler import (
    CONVENTIONS,
    MP,
    distance,
    exact_matrix,
    exact_quaternion,
    hard_triples,
    is_proper,
    scipy_name,
    singular_middles,
    worst_angle_error,
)

ALLOWED = 4e-15
every_convention = pytest.mark.parametrize(("sequence", "axes"), CONVENTIONS)
MOVING = [(sequence, "moving") for sequence in SEQUENCES]


def wrap(angle):
    return np.angle(np.exp(1j * np.asarray(angle)))


def elementary(axis, angle):
    return Rotation.from_rotvec(angle * np.eye(3)["xyz".index(axis)]).as_matrix()


# 60 digits


@pytest.mark.spec("S3-04", "S2-12", "S2-13", "S3-05")
@every_convention
def test_angles_of_a_matrix_keep_its_attitude_at_and_near_every_singularity(sequence, axes):
    triples = hard_triples(sequence) if axes == "moving" else hard_triples(sequence, seed=1)[::4]
    exact = [exact_quaternion(t, sequence, axes) for t in triples]
    matrices = np.stack([exact_matrix(t, sequence, axes) for t in triples])
    found = euler_from_matrix(matrices, sequence=sequence, axes=axes)
    assert worst_angle_error(found.angles, exact, sequence, axes) <= ALLOWED
    assert worst_angle_error(found.other, exact, sequence, axes) <= ALLOWED


@pytest.mark.spec("S3-04", "S3-05")
@every_convention
def test_angles_of_a_quaternion_keep_its_attitude_at_and_near_every_singularity(sequence, axes):
    triples = hard_triples(sequence, seed=2)[::2] if axes == "moving" else hard_triples(sequence, seed=3)[1::4]
    quaternions = np.array([exact_quaternion(t, sequence, axes) for t in triples], dtype=np.float64)
    exact = [[MP.mpf(x) for x in q] for q in quaternions.tolist()]
    found = euler_from_quaternion(quaternions, sequence=sequence, axes=axes)
    assert worst_angle_error(found.angles, exact, sequence, axes) <= ALLOWED
    assert worst_angle_error(found.other, exact, sequence, axes) <= ALLOWED


@pytest.mark.spec("S3-03")
@every_convention
def test_matrix_and_quaternion_are_the_product_of_the_elementary_turns(sequence, axes):
    angles = np.random.default_rng(4).uniform(-7, 7, (12, 3))
    angles[0], angles[1] = [0.0, 0.0, 0.0], [np.pi, np.pi / 2, -np.pi]
    matrices = matrix_from_euler(angles, sequence=sequence, axes=axes)
    quaternions = quaternion_from_euler(angles, sequence=sequence, axes=axes)
    np.testing.assert_allclose(matrices, [exact_matrix(a, sequence, axes) for a in angles.tolist()], rtol=0, atol=1e-15)
    np.testing.assert_allclose(quaternions,
                               np.array([exact_quaternion(a, sequence, axes) for a in angles.tolist()], dtype=float),
                               rtol=0, atol=1e-15)
    first, middle, third = (elementary(axis, angle) for axis, angle in zip(sequence, angles[2], strict=True))
    product = first @ middle @ third if axes == "moving" else third @ middle @ first
    np.testing.assert_allclose(matrices[2], product, rtol=0, atol=1e-15)


# SciPy


@every_convention
def test_every_convention_is_scipys(sequence, axes):
    name = scipy_name(sequence, axes)
    rotations = Rotation.random(200, rng=5)
    matrices = rotations.as_matrix()
    theirs = rotations.as_euler(name)
    found = euler_from_matrix(matrices, sequence=sequence, axes=axes)
    far = found.margin > 1e-2
    assert far.sum() > 150
    np.testing.assert_allclose(wrap(found.angles - theirs)[far], 0, atol=1e-12)
    from_quaternion = euler_from_quaternion(rotations.as_quat(scalar_first=True), sequence=sequence, axes=axes)
    np.testing.assert_allclose(wrap(from_quaternion.angles - theirs)[far], 0, atol=1e-12)
    np.testing.assert_allclose(matrix_from_euler(theirs, sequence=sequence, axes=axes), matrices, rtol=0, atol=1e-14)


@pytest.mark.filterwarnings("ignore:Gimbal lock")
@pytest.mark.parametrize(("sequence", "axes"), MOVING)
def test_next_to_a_singularity_scipy_loses_the_attitude_and_cayley_does_not(sequence, axes):
    triples = [(MP.mpf("0.3"), middle + MP.mpf("4e-8"), MP.mpf("-1.1")) for middle in singular_middles(sequence)]
    exact = [exact_quaternion(t, sequence, axes) for t in triples]
    matrices = np.stack([exact_matrix(t, sequence, axes) for t in triples])
    theirs = Rotation.from_matrix(matrices).as_euler(scipy_name(sequence, axes))
    ours = euler_from_matrix(matrices, sequence=sequence, axes=axes)
    assert worst_angle_error(ours.angles, exact, sequence, axes) <= ALLOWED
    assert worst_angle_error(theirs, exact, sequence, axes) > 1e-9


# The singular case


def at_singularity(sequence, axes, which, first=0.3, third=-1.1):
    exact = exact_quaternion((first, singular_middles(sequence)[which], third), sequence, axes)
    return exact, exact_matrix((first, singular_middles(sequence)[which], third), sequence, axes)


@pytest.mark.spec("S3-04", "S3-05", "S2-12", "S2-13")
@pytest.mark.parametrize("which", [0, 1])
@every_convention
def test_a_singularity_is_reported_with_what_is_determined(sequence, axes, which):
    exact, matrix = at_singularity(sequence, axes, which)
    for found in (euler_from_matrix(matrix, sequence=sequence, axes=axes),
                  euler_from_quaternion(np.array(exact, dtype=float), sequence=sequence, axes=axes)):
        assert found.singular
        assert found.margin == 0
        assert found.angles[2 if axes == "moving" else 0] == 0
        np.testing.assert_allclose(found.angles[1], float(singular_middles(sequence)[which]), rtol=0, atol=0)
        np.testing.assert_allclose(wrap(found.combined - (0.3 + found.sign * -1.1)), 0, atol=1e-15)
        for triple in (found.angles, found.other, found.family(third=0.25), found.family(first=-2.0)):
            assert distance(exact_quaternion(triple.tolist(), sequence, axes), exact) <= ALLOWED
        assert found.family(third=0.25)[2] == 0.25
        assert found.family(first=-2.0)[0] == -2.0


@every_convention
def test_a_singularity_of_float32_is_one(sequence, axes):
    """Of matrices and quaternions made in float32, and rounded to it; what is some roundings away is none."""
    turns = np.random.default_rng(4).uniform(-3, 3, (50, 3))
    for middle in singular_middles(sequence):
        for off, singular in ((0.0, True), (1e-5, False)):
            turns[:, 1] = float(middle) + off
            for made in (turns.astype(np.float32), turns):
                R, q = (f(made, sequence=sequence, axes=axes).astype(np.float32)
                        for f in (matrix_from_euler, quaternion_from_euler))
                for found in (euler_from_matrix(R, sequence=sequence, axes=axes),
                              euler_from_quaternion(q, sequence=sequence, axes=axes)):
                    assert (found.singular == singular).all()
                    again = matrix_from_euler(found.angles.astype(float), sequence=sequence, axes=axes)
                    np.testing.assert_allclose(again, R, rtol=0, atol=2e-6)
                if sequence == "zyz" and axes == "moving":
                    assert (zyz_by_turning_back(R, np.float32(0.2)).singular == singular).all()


@every_convention
def test_the_sign_of_the_combination_is_the_only_one_that_leaves_the_rotation_alone(sequence, axes):
    for which, middle in enumerate(singular_middles(sequence)):
        _, matrix = at_singularity(sequence, axes, which)
        sign = float(euler_from_matrix(matrix, sequence=sequence, axes=axes).sign)
        moved = [exact_matrix((0.3 + 0.5 * s, middle, -1.1 - 0.5), sequence, axes) for s in (sign, -sign)]
        np.testing.assert_allclose(moved[0], matrix, atol=1e-15)
        assert np.abs(moved[1] - matrix).max() > 0.1


@pytest.mark.parametrize(("sequence", "axes"), [("zyz", "moving"), ("xzx", "fixed"), ("zyx", "moving"),
                                                ("xyz", "fixed")])
def test_near_a_singularity_the_margin_says_how_well_the_outer_angles_are_known(sequence, axes):
    for middle in singular_middles(sequence):
        for offset in (1e-3, 1e-6, 1e-9, 1e-12):
            matrix = exact_matrix((MP.mpf("0.3"), middle - MP.mpf(offset), MP.mpf("-1.1")), sequence, axes)
            found = euler_from_matrix(matrix, sequence=sequence, axes=axes)
            assert not found.singular
            assert abs(found.margin / offset - 1) < 1e-3
            triple = found.angles if abs(wrap(found.angles[0] - 0.3)) < 1 else found.other
            np.testing.assert_allclose(wrap(triple - [0.3, float(middle - MP.mpf(offset)), -1.1]), 0,
                                       atol=4e-16 / offset + 1e-15)
            np.testing.assert_allclose(wrap(found.combined - (0.3 + found.sign * -1.1)), 0, atol=1e-15)


def test_a_batch_with_singular_and_ordinary_rotations():
    angles = np.array([[[0.3, 0.7, -1.1], [0.3, 0.0, -1.1]], [[0.1, np.pi, 0.2], [1.0, 2.0, 3.0]]])
    matrices = matrix_from_euler(angles, sequence="zyz", axes="moving")
    found = euler_from_matrix(matrices, sequence="zyz", axes="moving")
    np.testing.assert_array_equal(found.singular, [[False, True], [True, False]])
    assert found.angles.shape == found.other.shape == (2, 2, 3)
    with pytest.raises(GeometryError, match=r"rotation \(0, 0\) of the batch is not singular"):
        found.family(third=0.0)
    both = euler_from_matrix(matrices[[0, 1], [1, 0]], sequence="zyz", axes="moving")
    rebuilt = matrix_from_euler(both.family(third=[0.5, 0.6]), sequence="zyz", axes="moving")
    np.testing.assert_allclose(rebuilt, matrices[[0, 1], [1, 0]], rtol=0, atol=1e-15)
    with pytest.raises(ConventionError, match="one of the two outer angles"):
        both.family(first=0.0, third=0.0)
    with pytest.raises(ConventionError, match="one of the two outer angles"):
        both.family()


# Properties

special = st.sampled_from([
    0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2, *[s * 10.0**-k for k in (16, 12, 8, 4) for s in (1, -1)],
    *[b + s * 10.0**-k for b in (np.pi / 2, np.pi) for k in (15, 12, 8, 4) for s in (1, -1)]])
an_angle = st.one_of(special, st.floats(-np.pi, np.pi))
triple_of_angles = st.tuples(an_angle, an_angle, an_angle)


@given(st.sampled_from(CONVENTIONS), triple_of_angles)
def test_both_triples_rebuild_the_matrix_and_lie_in_their_ranges(convention, angles):
    sequence, axes = convention
    matrix = matrix_from_euler(angles, sequence=sequence, axes=axes)
    found = euler_from_matrix(matrix, sequence=sequence, axes=axes)
    for triple in (found.angles, found.other):
        np.testing.assert_allclose(matrix_from_euler(triple, sequence=sequence, axes=axes), matrix, rtol=0,
                                   atol=ALLOWED)
        assert np.all(np.abs(triple) <= np.pi)
    low, high = (0, np.pi) if is_proper(sequence) else (-np.pi / 2, np.pi / 2)
    assert low <= found.angles[1] <= high
    np.testing.assert_allclose(np.abs(wrap(found.other - found.angles)[[0, 2]]), np.pi, rtol=0, atol=1e-15)
    np.testing.assert_allclose(wrap(found.other[1] + found.angles[1] - (0 if is_proper(sequence) else np.pi)), 0,
                               rtol=0, atol=5e-16)


@given(st.sampled_from(CONVENTIONS), triple_of_angles)
def test_the_given_angles_are_one_of_the_triples_or_of_the_family(convention, angles):
    sequence, axes = convention
    found = euler_from_matrix(matrix_from_euler(angles, sequence=sequence, axes=axes), sequence=sequence, axes=axes)
    solutions = [found.family(third=angles[2])] if found.singular else [found.angles, found.other]
    allowed = ALLOWED if found.singular else 1e-15 + 1e-15 / found.margin
    assert min(np.abs(wrap(solution - np.array(angles))).max() for solution in solutions) <= allowed


@given(st.sampled_from(SEQUENCES), triple_of_angles)
def test_fixed_axes_are_moving_axes_read_backwards(sequence, angles):
    fixed = matrix_from_euler(angles, sequence=sequence, axes="fixed")
    np.testing.assert_array_equal(fixed, matrix_from_euler(angles[::-1], sequence=sequence[::-1], axes="moving"))
    found, other = (euler_from_matrix(fixed, sequence=s, axes=a)
                    for s, a in ((sequence, "fixed"), (sequence[::-1], "moving")))
    np.testing.assert_array_equal(found.angles, other.angles[::-1])
    assert found.singular == other.singular


@given(st.sampled_from(CONVENTIONS), triple_of_angles)
def test_the_ways_through_matrix_and_quaternion_meet(convention, angles):
    sequence, axes = convention
    by_matrix = euler_from_matrix(matrix_from_euler(angles, sequence=sequence, axes=axes), sequence=sequence, axes=axes)
    by_quaternion = euler_from_quaternion(quaternion_from_euler(angles, sequence=sequence, axes=axes),
                                          sequence=sequence, axes=axes)
    rebuilt = [matrix_from_euler(f.angles, sequence=sequence, axes=axes) for f in (by_matrix, by_quaternion)]
    np.testing.assert_allclose(*rebuilt, rtol=0, atol=ALLOWED)
    if by_matrix.margin < 0.5:
        np.testing.assert_allclose(wrap(by_matrix.combined - by_quaternion.combined), 0, atol=ALLOWED)


# The direct method


@pytest.mark.spec("S3-04")
def test_turning_back_step_by_step_finds_the_angles_of_the_formulas():
    rotations = Rotation.random(100, rng=6).as_matrix()
    steps = zyz_by_turning_back(rotations, 0.0)
    found = euler_from_matrix(rotations, sequence="zyz", axes="moving")
    assert not steps.singular.any()
    np.testing.assert_allclose(wrap(steps.angles[:, 0] - found.angles), 0, atol=1e-13)
    np.testing.assert_allclose(wrap(steps.angles[:, 1] - found.other), 0, atol=1e-13)
    np.testing.assert_allclose(steps.after_psi[..., 2, 1], 0, atol=1e-15)     # y lies in the x-y plane of the base
    # z is z
    np.testing.assert_allclose(steps.after_theta[..., 2], np.broadcast_to([0.0, 0.0, 1.0], (100, 2, 3)), atol=1e-15)
    np.testing.assert_allclose(steps.after_phi, np.broadcast_to(np.eye(3), (100, 2, 3, 3)), atol=2e-15)


@pytest.mark.spec("S3-04")
@pytest.mark.parametrize("theta", [0.0, np.pi, 1e-16, -1e-9, 1e-5, np.pi - 1e-9])
def test_turning_back_works_at_and_near_the_singularity(theta):
    exact = exact_quaternion((0.3, theta, -1.1), "zyz", "moving")
    steps = zyz_by_turning_back(exact_matrix((0.3, theta, -1.1), "zyz", "moving"), 0.25)
    assert steps.singular == (abs(np.sin(theta)) < 1e-15)
    assert worst_angle_error(steps.angles, [exact, exact], "zyz", "moving") <= ALLOWED
    if steps.singular:
        np.testing.assert_array_equal(steps.angles[:, 2], 0.25)
        np.testing.assert_allclose(steps.angles[0, 0], 0.3 - 1.1 - 0.25 if theta < 1 else 0.3 + 1.1 + 0.25, atol=1e-15)


# Known values

DEG = np.pi / 180
Q_WE01 = np.array([[5 / 9, 1 / 9 - 3**0.5 / 3, 1 / 9 + 3**0.5 / 3], [1 / 9 + 3**0.5 / 3, 13 / 18, 2 / 9 - 3**0.5 / 6],
                   [1 / 9 - 3**0.5 / 3, 2 / 9 + 3**0.5 / 6, 13 / 18]])


@pytest.mark.spec("S2-12")
def test_roll_pitch_yaw_of_ruggiu():
    np.testing.assert_allclose(matrix_from_roll_pitch_yaw(np.array([10, 20, 30]) * DEG),
                               [[.8137976813, -.4409696105, .3785223064], [.4698463104, .8825641193, .0180283112],
                                [-.3420201433, .1631759112, .9254165784]], rtol=0, atol=1e-10)  # WE-03
    for found in (roll_pitch_yaw_from_matrix(Q_WE01),
                  roll_pitch_yaw_from_quaternion(Rotation.from_matrix(Q_WE01).as_quat(scalar_first=True))):
        # WE-01
        np.testing.assert_allclose(found.angles / DEG, [35.275448513, 27.7904477487, 51.098122351], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.other / DEG, [-144.724551487, 152.2095522513, -128.901877649], rtol=0,
                                   atol=1e-9)


@pytest.mark.spec("S2-12", "S3-05")
@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_roll_pitch_yaw_at_the_singularity_gives_roll_zero_and_the_yaw_of_the_recipe(pitch):
    matrix = matrix_from_roll_pitch_yaw([0.4, pitch, 1.3])
    found = roll_pitch_yaw_from_matrix(matrix)
    assert found.singular
    assert found.angles[0] == 0
    np.testing.assert_allclose(found.angles[2], np.arctan2(-matrix[0, 1], matrix[1, 1]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.angles[2], 1.3 - np.sign(pitch) * 0.4, rtol=0, atol=1e-15)
    np.testing.assert_allclose(matrix_from_roll_pitch_yaw(found.angles), matrix, rtol=0, atol=1e-15)


@pytest.mark.spec("S3-05")
def test_roll_pitch_yaw_of_yamamoto():
    matrix = matrix_from_roll_pitch_yaw([-1.1, 0.7, 0.3])
    np.testing.assert_allclose(matrix,
                               [[0.7306816499, -0.6825356334, 0.0157935291], [0.2260263212, 0.2636694535, 0.9377582425],
                                [-0.6442176872, -0.6816329866, 0.3469294497]], rtol=0, atol=1e-9)  # W3-02
    found = euler_from_matrix(matrix, sequence="zyx", axes="moving")
    np.testing.assert_allclose(found.angles, [0.3, 0.7, -1.1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.other, [-2.8415926536, 2.4415926536, 2.0415926536], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(quaternion_from_roll_pitch_yaw([-1.1, 0.7, 0.3]),
                                  quaternion_from_euler([0.3, 0.7, -1.1], sequence="zyx", axes="moving"))


@pytest.mark.spec("S3-03", "S3-04", "S2-13")
def test_zyz_of_yamamoto_and_ruggiu():
    matrix = matrix_from_euler([0.3, 0.7, -1.1], sequence="zyz", axes="moving")
    np.testing.assert_allclose(matrix,
                               [[0.5948041456, 0.5171420447, 0.6154446636], [-0.7488782478, 0.6347732472, 0.1903793441],
                                [-0.2922146443, -0.5741315443, 0.7648421873]], rtol=0, atol=1e-9)  # W3-01
    found = euler_from_matrix(matrix, sequence="zyz", axes="moving")
    np.testing.assert_allclose(found.angles, [0.3, 0.7, -1.1], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.other, [-2.8415926536, -0.7, 2.0415926536], rtol=0, atol=1e-9)
    np.testing.assert_allclose(matrix_from_euler(np.array([30, 20, 10]) * DEG, sequence="zyz", axes="moving"),
                               [[.7146101771, -.6337183609, .2961981327], [.6130920224, .7712805764, .1710100717],
                                [-.3368240888, .0593911746, .9396926208]], rtol=0, atol=1e-10)  # WE-03
    found = euler_from_matrix(Q_WE01, sequence="zyz", axes="moving")
    # WE-01
    np.testing.assert_allclose(found.angles / DEG, [-5.5133267417, 43.7617426927, 47.6167756125], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.other / DEG, [174.4866732583, -43.7617426927, -132.3832243875], rtol=0, atol=1e-9)


@pytest.mark.spec("S3-04")
@pytest.mark.parametrize("theta", [0.0, np.pi])
def test_the_singular_block_of_yamamoto(theta):
    matrix = matrix_from_euler([0.3, theta, -1.1], sequence="zyz", axes="moving")
    found = euler_from_matrix(matrix, sequence="zyz", axes="moving")
    phi = np.arctan2(matrix[1, 0], matrix[1,
                                          1]) - 0.25 if theta == 0 else -np.arctan2(matrix[1, 0], matrix[1, 1]) + 0.25
    np.testing.assert_allclose(found.family(third=0.25), [phi, theta, 0.25], rtol=0, atol=1e-15)
    np.testing.assert_allclose(matrix_from_euler(found.family(third=0.25), sequence="zyz", axes="moving"), matrix,
                               rtol=0, atol=1e-15)


@pytest.mark.spec("S3-03")
def test_the_named_orders_zxz_and_yxy_by_hand():
    a, b, c = 0.3, 0.7, -1.1
    (sa, sb, sc), (ca, cb, cc) = np.sin([a, b, c]), np.cos([a, b, c])
    np.testing.assert_allclose(matrix_from_euler([a, b, c], sequence="zxz", axes="moving"),
                               [[ca * cc - sa * cb * sc, -ca * sc - sa * cb * cc, sa * sb],
                                [sa * cc + ca * cb * sc, -sa * sc + ca * cb * cc, -ca * sb], [sb * sc, sb * cc, cb]],
                               rtol=0, atol=1e-15)
    np.testing.assert_allclose(matrix_from_euler([a, b, c], sequence="yxy", axes="moving"),
                               elementary("y", a) @ elementary("x", b) @ elementary("y", c), rtol=0, atol=1e-15)


# Kernels


@pytest.mark.parametrize(("sequence", "axes"), [("zyz", "moving"), ("yxz", "fixed")])
def test_everything_that_the_kernels_become_agrees(sequence, axes):
    kernels = euler_kernels(sequence, axes=axes)
    angles = np.array([[0.3, 0.7, -1.1], [-0.2, 1.2, 0.4]])
    check_parity(kernels.matrix_from_euler, angles)
    check_parity(kernels.quaternion_from_euler, angles)
    check_parity(kernels.euler_from_matrix, Rotation.random(3, rng=7).as_matrix(), single=1e-4)
    check_parity(kernels.euler_from_quaternion, Rotation.random(3, rng=8).as_quat(scalar_first=True), single=1e-4)


def test_the_direct_method_in_every_back_end():
    check_parity(zyz_by_turning_back, Rotation.random(3, rng=9).as_matrix(), np.zeros(3), single=1e-4, jacobians=False)


@pytest.mark.parametrize("sequence", ["zyz", "zyx"])
def test_derivatives_at_a_singularity_are_finite(sequence):
    kernels = euler_kernels(sequence, axes="moving")
    middle = 0.0 if sequence in PROPER else np.pi / 2
    matrix = matrix_from_euler([0.3, middle, 0.2], sequence=sequence, axes="moving")
    quaternion = quaternion_from_euler([0.3, middle, 0.2], sequence=sequence, axes="moving")
    assert np.isfinite(kernels.euler_from_matrix.jacobian("R", of="angles")(matrix)).all()
    assert np.isfinite(kernels.euler_from_quaternion.jacobian("q", of="angles")(quaternion)).all()


def test_the_functions_serve_inside_other_kernels():
    @cy.kernel("(3)->(3)")
    def reordered(zyx):
        return euler_from_matrix(matrix_from_euler(zyx, sequence="zyx", axes="moving"), sequence="xyz",
                                 axes="fixed").angles

    np.testing.assert_allclose(reordered([[0.1, 0.2, 0.3]]), [[0.3, 0.2, 0.1]], rtol=0, atol=1e-15)


def test_single_precision_stays_single():
    angles = np.array([0.3, 0.7, -1.1], dtype=np.float32)
    matrix = matrix_from_euler(angles, sequence="zyx", axes="moving")
    found = euler_from_matrix(matrix, sequence="zyx", axes="moving")
    assert matrix.dtype == found.angles.dtype == np.float32
    np.testing.assert_allclose(found.angles, angles, rtol=0, atol=1e-6)


# Refusals


def test_there_are_twelve_sequences():
    assert sorted(SEQUENCES) == sorted({s for s, _ in CONVENTIONS})
    assert len(PROPER) == len(TAIT_BRYAN) == 6


@pytest.mark.parametrize("sequence", ["zz", "zzy", "ZYX", "abc", "zyxz", ""])
def test_other_sequences_are_refused(sequence):
    with pytest.raises(ConventionError,
                       match="no Euler sequence" if sequence != "ZYX" else "'ZYX' is written 'zyx'.*SciPy"):
        matrix_from_euler([0.0, 0.0, 0.0], sequence=sequence, axes="moving")


def test_the_axes_must_be_named():
    with pytest.raises(ConventionError, match="'moving'"):
        matrix_from_euler([0.0, 0.0, 0.0], sequence="zyx", axes="rotating")
    with pytest.raises(TypeError):
        matrix_from_euler([0.0, 0.0, 0.0], sequence="zyx")


@pytest.mark.parametrize("matrix", [np.diag([1.0, 1.0, -1.0]), 1.01 * np.eye(3), np.full((3, 3), np.nan)])
def test_matrices_that_are_not_rotations_are_refused(matrix):
    with pytest.raises(GeometryError, match="not a rotation"):
        euler_from_matrix(matrix, sequence="zyx", axes="moving")
    with pytest.raises(GeometryError, match="not a rotation"):
        zyz_by_turning_back(matrix, 0.0)


def test_quaternions_that_are_not_units_are_refused():
    with pytest.raises(GeometryError, match="norm"):
        euler_from_quaternion([1.0, 1.0, 0.0, 0.0], sequence="zyx", axes="moving")
