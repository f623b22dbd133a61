"""Maps of machines with loops, on wheels and afloat, against their closed forms and against the same machine on a base
that stands still."""

from __future__ import annotations

import numpy as np
import pytest

import cayley as cy
from cayley.drawing import draw_ellipsoids, manipulability_map
from cayley.drawing.closed_maps import workspace_map_of
from cayley.errors import ModelError
from cayley.machines import FiveBar, RollingRobot
from cayley.model.floating_base import on_floating_base
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree

LINKAGE = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
START = LINKAGE.configuration([0.25, 0.5], LINKAGE.inverse_position([0.25, 0.5])[1])


def closed_form(q):
    """|det Jq / det Jx| of a five-bar, and the sine of the angle between each crank and its rod."""
    cranks = q[..., [0, 2]]
    ends = LINKAGE.crank_ends(cranks)
    point = ends[..., 0, :] + 0.4 * np.stack([np.cos(q[..., :2].sum(-1)), np.sin(q[..., :2].sum(-1))], axis=-1)
    rods = point[..., None, :] - ends
    arms = ends - LINKAGE.pivots
    Jq = rods[..., 1] * arms[..., 0] - rods[..., 0] * arms[..., 1]
    return np.abs(Jq.prod(axis=-1) / np.linalg.det(rods)), Jq / 0.12


def on_chassis():
    """A rolling robot with an arm of two links on it."""
    robot = RollingRobot(0.1, 0.5, 0.12, 0.3, 0.08).tree()
    raised = np.eye(4)
    raised[:3, 3] = 0.05, 0.2, 0.3
    out = np.eye(4)
    out[0, 3] = 0.4
    tree = Tree.of("rover", [*robot.bodies, Body("upper"), Body("fore")],
                   [*robot.joints, Joint("shoulder", "chassis", "upper", Revolute(), raised),
                    Joint("elbow", "upper", "fore", Revolute((0.0, 1.0, 0.0)), out)],
                   constraints=robot.constraints, actuated=["right", "left", "shoulder", "elbow"])
    return tree.with_frame("tool", "fore", out)


def test_manipulability_of_a_five_bar_is_its_closed_form():
    found = manipulability_map(LINKAGE.tree(), "point", over=("crank1", "crank2"), q=START, resolution=15)
    assert found.unit == "m²" and 0.3 < np.isfinite(found.values).mean() < 1.0
    reached = 0
    for j, k in np.argwhere(np.isfinite(found.values)):
        both = [LINKAGE.configuration(point, [found.horizontal[k], found.vertical[j]]) for point in
                LINKAGE.direct_position([found.horizontal[k], found.vertical[j]])]
        values = [closed_form(q)[0] for q in both]
        reached += min(abs(value / found.values[j, k] - 1.0) for value in values) < 1e-6
    assert reached == np.isfinite(found.values).sum()
    sines = closed_form(found.singular_configurations)[1]
    assert len(sines) > 20 and np.abs(sines).min(axis=-1).max() < 1e-5  # a crank and its rod on one line


def test_the_section_of_a_five_bar_is_of_closed_configurations():
    tree = LINKAGE.tree()
    found = manipulability_map(tree, "point", over="section", q=START, samples=1500, resolution=25)
    assert found.space is not None and len(found.singular) == len(found.singular_configurations) > 5
    sines = closed_form(found.singular_configurations)[1]
    assert np.abs(sines).min(axis=-1).max() < 1e-5
    values, _ = closed_form(found.space.configurations)
    assert np.nanmax(found.values) == pytest.approx(values.max(), rel=1e-9)


def test_a_floating_base_is_held():
    spatial = cy.load("panda").tree
    over = ("panda_joint2", "panda_joint4")
    still = manipulability_map(spatial, "tool", over=over, resolution=7)
    afloat = manipulability_map(on_floating_base(spatial), "tool", over=over, resolution=7)
    np.testing.assert_allclose(afloat.values, still.values, rtol=1e-10)
    assert afloat.unit == still.unit == "m³"
    still = manipulability_map(spatial, "tool", over="section", samples=2000, resolution=20)
    afloat = manipulability_map(on_floating_base(spatial), "tool", over="section", samples=2000, resolution=20)
    assert abs(np.nanmax(afloat.values) - np.nanmax(still.values)) < 0.1 * np.nanmax(still.values)


def test_an_arm_on_wheels_moves_by_wheels_and_joints():
    tree = on_chassis()
    rover = cy.Mechanism(tree)
    q = tree.neutral.copy()
    q[:3] = 0.3, -0.2, 0.7
    found = manipulability_map(tree, "tool", over=("shoulder", "elbow"), q=q, resolution=9)
    robot = RollingRobot(0.1, 0.5, 0.12, 0.3, 0.08)
    names = list(tree.joint_names)
    for j, k in [(0, 0), (3, 5), (8, 2)]:
        at = q.copy()
        at[tree.q_slices[names.index("shoulder")]] = found.horizontal[k]
        at[tree.q_slices[names.index("elbow")]] = found.vertical[j]
        R = rover.pose(at, "chassis")[:3, :3]
        p, c = rover.pose(at, "tool")[:3, 3], rover.pose(at, "chassis")[:3, 3]
        columns = []
        for u in np.eye(2):
            omega, across, ahead = robot.motion(u)
            columns.append(R @ [across, ahead, 0.0] + np.cross([0.0, 0.0, omega], p - c))
        for body, axis in (("upper", [0.0, 0.0, 1.0]), ("fore", [0.0, 1.0, 0.0])):
            pose = rover.pose(at, body)
            columns.append(np.cross(pose[:3, :3] @ axis, p - pose[:3, 3]))
        expected = np.prod(np.linalg.svd(np.stack(columns, axis=1), compute_uv=False))
        assert found.values[j, k] == pytest.approx(expected, rel=1e-9)
    section = manipulability_map(tree, "tool", over="section", samples=2000, resolution=15)
    assert section.space.relative_to == "chassis" and section.space.farthest < 1.2
    assert draw_ellipsoids(tree, q, "tool") is not None


def test_a_map_over_two_joints_needs_two_freedoms():
    with pytest.raises(ModelError, match="1 degree of freedom"):
        manipulability_map(cy.load("four_bar").tree, "rocker", over=("crank", "rocker"), task="orientation")


def test_workspace_maps_hold_a_base_that_floats_or_rolls():
    box = ((-0.2, 0.3), (0.7, 0.7))
    tree = LINKAGE.tree()
    still = workspace_map_of(tree, "point", start=START, box=box, resolution=20)
    afloat = on_floating_base(tree)
    found = workspace_map_of(afloat, "point", start=[*afloat.neutral[:7], *START], box=box, resolution=20, plane="xy")
    np.testing.assert_allclose(found.values, still.values, rtol=1e-9)
    rover = on_chassis()
    q = rover.neutral.copy()
    q[-2:] = 0.3, 0.8
    arm = workspace_map_of(rover, "tool", start=q, box=((-0.4, -0.3), (0.5, 0.7)), resolution=20, plane="xy",
                           task="xy")
    assert arm.area > 0.1 and np.nanmax(arm.values) <= 1.0
