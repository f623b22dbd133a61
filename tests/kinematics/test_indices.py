"""Condition numbers, manipulability and ellipsoids, and the refusal of mixed units."""

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.errors import ConventionError, SignatureError
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.singular.indices import (
    condition_number,
    force_ellipsoid,
    indices,
    joint_velocity_ellipsoid,
    made_uniform,
    manipulability,
    uniform_jacobian,
    velocity_ellipsoid,
    velocity_units,
)
from compiler.parity import check_parity
from kinematics.arms import STANFORD_LIKE, modified_arm, planar_arm, standard_arm
from kinematics.motions import close, everything, random_state

POINT = (True, True, False, False, False, False)
Q = np.deg2rad([30.0, 60.0])
WE14 = np.array([[-1.5, -1.0], [np.sqrt(3) / 2, 0.0]])


@pytest.mark.spec("S2-40")
def test_the_worked_example():
    """WE-14: an isotropic arm in every direction of its first joint; singular values, k2 and manipulability of another.
    """
    isotropic = planar_arm(np.sqrt(2), 1.0)
    for th1 in (0.0, 0.7, -2.0):
        J = uniform_jacobian(isotropic.tree, np.array([th1, np.deg2rad(135)]), "tool", task=POINT, axes="world")
        close(J.T @ J, np.eye(2), 1e-14)
        found = indices(J)
        assert found.isotropic and not indices(J @ np.diag([1.0, 1.001])).isotropic
        close([found.condition_number, found.inverse_condition_number], [1, 1], 1e-14)
    J = uniform_jacobian(planar_arm(1.0, 1.0).tree, Q, "tool", task=POINT, axes="world")
    close(J, WE14, 1e-14)
    found = indices(J)
    close(found.decomposition.singular_values, [1.9500706751, 0.4440994959], 1e-9)
    close(found.condition_number, 4.3910670762, 1e-9)
    close(found.inverse_condition_number, 1 / 4.3910670762, 1e-9)
    close(found.manipulability, 0.8660254038, 1e-9)
    U, s, V = found.decomposition.U, found.decomposition.singular_values, found.decomposition.V
    close(U @ np.diag(s) @ V.T, J, 1e-14)
    close(condition_number(J, norm="2"), np.linalg.cond(J), 1e-13)
    close(condition_number(J, norm="frobenius"), np.linalg.cond(J, "fro"), 1e-13)
    stretched = indices(uniform_jacobian(planar_arm(1.0, 1.0).tree, np.array([0.3, 0.0]), "tool", task=POINT,
                                         axes="world"))
    assert stretched.condition_number == np.inf and stretched.inverse_condition_number == 0 and not stretched.isotropic
    assert condition_number(np.zeros(
        (2, 2)), norm="frobenius") == np.inf == condition_number(np.zeros((2, 2)), norm="2")


@pytest.mark.spec("S2-40")
def test_singular_values_do_not_depend_on_the_axes():
    tree = everything()
    q, _, _ = random_state(tree)
    values = [
        indices(uniform_jacobian(tree.tree, q, "frame9", task="pose", axes=axes,
                                 characteristic_length=0.7)).decomposition.singular_values
        for axes in ("world", "body", "frame3")]
    close(values[1], values[0])
    close(values[2], values[0])
    with pytest.raises(ConventionError, match="'inf', not 'nuclear'"):
        condition_number(np.eye(2), norm="nuclear")


def test_batches():
    arm = planar_arm(1.0, 0.8, 0.5)
    q = np.random.default_rng(0).uniform(-3, 3, size=(7, 5, 3))
    J = arm.jacobian(q, "tool", axes="world")[..., :2, :]
    found = indices(J)
    assert found.condition_number.shape == (7, 5)
    close(found.condition_number, np.linalg.cond(J), 1e-10)
    close(found.manipulability, np.sqrt(np.linalg.det(J @ np.swapaxes(J, -2, -1))), 1e-12)
    assert force_ellipsoid(J).lengths.shape == (7, 5, 2) and joint_velocity_ellipsoid(J).lengths.shape == (7, 5, 3)
    compiled = kernel("(3)->()")(lambda q: manipulability(arm.tree, q, "tool", task=POINT, axes="world"))
    close(compiled(q), found.manipulability, 1e-12)


def on_the_ellipsoid(ellipsoid, matrix):
    """Every finite semi-axis x has x.(matrix x) = 1, and the axes are orthonormal."""
    close(ellipsoid.axes.T @ ellipsoid.axes, np.eye(len(ellipsoid.axes)), 1e-14)
    for axis, length in zip(ellipsoid.axes.T, ellipsoid.lengths, strict=True):
        x = axis * (length if np.isfinite(length) else 1e6)
        close(x @ matrix @ x, 1.0 if np.isfinite(length) else 0.0, 1e-3 if np.isinf(length) else 1e-12)


@pytest.mark.spec("S2-41")
def test_the_ellipsoid_of_joint_velocities():
    """WE-14: semi-axes 1/s along V; a cylinder where a joint motion does nothing."""
    found = joint_velocity_ellipsoid(WE14)
    close(np.sort(found.lengths)[::-1], [2.2517476584, 0.5128019270], 1e-9)
    on_the_ellipsoid(found, WE14.T @ WE14)
    close(np.linalg.norm(WE14 @ (found.axes * found.lengths), axis=0), [1, 1], 1e-13)
    singular = general_jacobian(planar_arm(1.0, 1.0).tree, np.array([0.3, 0.0]), "tool", axes="world")[:2]
    cylinder = joint_velocity_ellipsoid(singular)
    assert np.isinf(cylinder.lengths).tolist() == [False, True]
    close(singular @ cylinder.axes[:, 1], [0, 0], 1e-14)
    on_the_ellipsoid(cylinder, singular.T @ singular)
    redundant = general_jacobian(planar_arm(1.0, 0.8, 0.5).tree, np.array([0.3, 0.5, -0.7]), "tool", axes="world")[:2]
    assert np.isinf(joint_velocity_ellipsoid(redundant).lengths).tolist() == [False, False, True]
    on_the_ellipsoid(joint_velocity_ellipsoid(redundant), redundant.T @ redundant)


@pytest.mark.spec("S2-58")
def test_the_ellipsoid_of_forces_and_its_torques():
    """WE-14: semi-axes 1/s along U, the reciprocals of the velocities'; where it is a cylinder a force needs no torque.
    """
    found, speeds = force_ellipsoid(WE14), velocity_ellipsoid(WE14)
    close(np.sort(found.lengths)[::-1], [2.2517476584, 0.5128019270], 1e-9)
    on_the_ellipsoid(found, WE14 @ WE14.T)
    close(found.lengths * speeds.lengths, [1, 1], 1e-14)
    close(np.abs(np.sum(found.axes * speeds.axes, axis=0)), [1, 1], 1e-14)
    close(np.linalg.norm(WE14.T @ (found.axes * found.lengths), axis=0), [1, 1], 1e-13)  # tau = J^T f of length one
    arm, q = planar_arm(1.0, 1.0), np.array([0.3, 0.0])
    singular = general_jacobian(arm.tree, q, "tool", axes="world")[:2]
    cylinder = force_ellipsoid(singular)
    assert np.isinf(cylinder.lengths).tolist() == [False, True]
    close(np.abs(cylinder.axes[:, 1]), [np.cos(0.3), np.sin(0.3)], 1e-14)  # along the stretched arm
    close(singular.T @ cylinder.axes[:, 1] * 1e3, [0, 0], 1e-12)
    close(velocity_ellipsoid(singular).lengths[1], 0.0)
    three = np.vstack([singular, np.zeros(2)])  # out of the plane, the structure carries everything
    assert np.isinf(force_ellipsoid(three).lengths).tolist() == [False, True, True]


@pytest.mark.spec("S2-40")
def test_mixed_units_are_refused():
    """Positions with orientations, and turning with prismatic joints, unless metres are told from radians."""
    arm = planar_arm(1.0, 0.8, 0.5)
    q = np.array([0.3, 0.5, -0.7])
    with pytest.raises(ConventionError, match=r"rows in m and rad, columns for rad"):
        uniform_jacobian(arm.tree, q, "tool", task="pose", axes="world")
    with pytest.raises(ConventionError, match="characteristic_length="):
        manipulability(arm.tree, q, "tool", task=(True, True, False, False, False, True), axes="world")
    mixed = standard_arm(STANFORD_LIKE, "RRPRRR")
    with pytest.raises(ConventionError, match=r"rows in m, columns for m and rad"):
        uniform_jacobian(mixed.tree, np.zeros(6), "frame6", task="position", axes="world")
    # before the slide: turns only
    assert uniform_jacobian(mixed.tree, np.zeros(6), "frame2", task="position", axes="world").shape == (3, 2)
    sliding = modified_arm([(0, 0, 0, 0), (0, np.pi / 2, 0, 0)], "PP")
    close(
        indices(
            uniform_jacobian(sliding.tree, np.zeros(2), "link2", task=(True, False, True, False, False, False),
                             axes="world")).condition_number, np.inf)  # two slides, along z and -y: x is lost
    for length in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ConventionError, match="positive and finite"):
            uniform_jacobian(arm.tree, q, "tool", task="pose", axes="world", characteristic_length=length)
    with pytest.raises(ConventionError, match="each row"):
        made_uniform(np.eye(2), rows=["m"], columns=["rad", "rad"])
    with pytest.raises(ConventionError, match="each column"):
        made_uniform(np.eye(2), rows=["m", "m"], columns=["rad", "deg"])


def test_a_characteristic_length_takes_the_unit_of_length_out():
    """The same arm in metres and in millimetres has the same indices, with its length in the same unit."""
    q = np.array([0.3, 0.25, 0.6, 0.2, 0.7, -0.9])
    metres = standard_arm(STANFORD_LIKE, "RRPRRR")
    small = standard_arm([(1000 * a, alpha, 1000 * d, theta) for a, alpha, d, theta in STANFORD_LIKE], "RRPRRR")
    scaled = np.array([1, 1, 1000, 1, 1, 1]) * q
    one = uniform_jacobian(metres.tree, q, "frame6", task="pose", axes="world", characteristic_length=0.3)
    other = uniform_jacobian(small.tree, scaled, "frame6", task="pose", axes="world", characteristic_length=300.0)
    close(other, one, 1e-12)
    plain = general_jacobian(metres.tree, q, "frame6", axes="world")
    close(one, np.diag([1 / 0.3] * 3 + [1.0] * 3) @ plain @ np.diag([1, 1, 0.3, 1, 1, 1]))
    assert velocity_units(metres.tree, "frame6") == {0: "rad", 1: "rad", 2: "m", 3: "rad", 4: "rad", 5: "rad"}


def test_units_of_every_kind_of_joint():
    tree = everything().tree
    expected = {
        "body0": "rad", "body2": "m", "body3": "rad", "body4": "rad rad", "body5": "rad rad rad", "body6": "m m rad",
        "body7": "m m m rad rad rad", "body8": "", "body9": "m m rad"}
    for body, units in expected.items():
        joint = tree.joint_number(tree.joints[tree.body_number(body) - 1].name)
        found = velocity_units(tree, body)
        columns = tree.v_slices[joint]
        assert " ".join(found[k] for k in range(columns.start, columns.stop)) == units


def test_manipulability_as_a_text():
    arm = planar_arm(1.0, 1.0)
    close(manipulability(arm.tree, Q, "tool", task=POINT, axes="world"), 0.8660254038, 1e-9)
    # two joints, three rows
    assert manipulability(arm.tree, Q, "tool", task=(True, True, True, False, False, False), axes="world") == 0
    longer = planar_arm(1.0, 0.8, 0.5)
    text = kernel("(3)->()")(lambda q: manipulability(longer.tree, q, "tool", task=POINT, axes="world"))
    check_parity(text, np.random.default_rng(3).uniform(0.3, 1.2, size=(3, 3)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 3, 0)])
def test_a_jacobian_without_rows_or_columns_has_no_indices(shape):
    with pytest.raises(SignatureError, match="has no indices"):
        indices(np.zeros(shape))
