"""Tasks of a position alone: points and (x, y) as targets, and tasks by their letters."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ConventionError, GeometryError


def test_points_are_targets_of_positions():
    arm = cy.load("ur5")
    point = arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool")[:3, 3]
    found = arm.inverse_kinematics(point, "tool", task="position")
    np.testing.assert_allclose(arm.pose(found.q, "tool")[:3, 3], point, atol=1e-9)
    many = arm.inverse_kinematics(np.stack([point, point + 0.05]), "tool", task="position")
    np.testing.assert_allclose(arm.pose(many.q, "tool")[:, :3, 3], [point, point + 0.05], atol=1e-9)


def test_two_numbers_are_a_target_of_a_planar_arm():
    arm = cy.load("planar2r")
    found = arm.inverse_kinematics([[0.5, 0.3], [-0.2, 0.6]], "tool", task="xy")
    np.testing.assert_allclose(arm.pose(found.q, "tool")[:, :2, 3], [[0.5, 0.3], [-0.2, 0.6]], atol=1e-9)
    assert arm.inverse_kinematics([2.0, 0.0], "tool", task="xy").status != "solved"
    height = cy.load("scara").inverse_kinematics([0.2], "tool", task="z")
    assert cy.load("scara").pose(height.q, "tool")[2, 3] == pytest.approx(0.2, abs=1e-9)


def test_tasks_by_letters_are_those_of_truth_values():
    arm, q = cy.load("planar2r"), [0.3, 0.8]
    rows = (True, True, False, False, False, False)
    np.testing.assert_array_equal(arm.dexterity.task_jacobian(q, "tool", task="xy", axes="world"),
                                  arm.dexterity.task_jacobian(q, "tool", task=rows, axes="world"))
    assert arm.dexterity.manipulability(q, "tool", task="yx", axes="world") == pytest.approx(0.2 * np.sin(0.8))
    assert arm.dexterity.singularity([0.3, 0.0], "tool", task="xy", axes="world").rank == 1
    np.testing.assert_array_equal(arm.dexterity.task_jacobian(q, "tool", task="xyz", axes="world"),
                                  arm.dexterity.task_jacobian(q, "tool", task="position", axes="world"))


@pytest.mark.parametrize("task", ["xx", "xw", "", "posit", "pose position"])
def test_other_words_are_told_what_a_task_is(task):
    with pytest.raises(ConventionError, match='letters of a position'):
        cy.load("planar2r").dexterity.task_jacobian([0.1, 0.2], "tool", task=task, axes="world")


def test_points_where_poses_are_asked_are_refused():
    with pytest.raises(GeometryError, match="a pose must have shape"):
        cy.load("ur5").inverse_kinematics([0.1, 0.2, 0.3], "tool")
    with pytest.raises(GeometryError, match="a pose must have shape"):
        cy.load("planar2r").inverse_kinematics([0.1, 0.2, 0.3, 0.4], "tool", task="position")
    with pytest.raises(ConventionError, match="needs points of three coordinates"):
        cy.load("planar2r").inverse_kinematics([0.5, 0.3], "tool", task="xy", axes="body")
