"""A Delta and a 3-RRR from their dimensions: workspaces against the reach of each leg, written here, and torques along
a path against the principle of virtual work, with positions from triangles alone."""

import numpy as np
import pytest

import cayley as cy
from cayley import planning
from cayley.machines import Planar3RRR, TranslationalDelta

DELTA = TranslationalDelta(crank=0.2, rod=0.5, base=0.15, platform=0.05)
CRANK, ROD, PLATE = 0.3, 0.12, 0.25  # kg
LEGS = np.radians([0.0, 120.0, 240.0])
PIVOTS = np.array([(0.0, 0.0), (0.9, 0.0), (0.45, 0.7794229)])
TABLE = Planar3RRR(PIVOTS, cranks=[0.25] * 3, rods=[0.3] * 3, side=0.3)
DOWN = np.array([0.0, 0.0, -9.81])


def crank_angles_of_delta(p):
    """Angles (..., 3) with all elbows outwards, of platforms (..., 3) below; NaN where a leg does not reach."""
    found = []
    for phi in LEGS:
        along = np.cos(phi) * p[..., 0] + np.sin(phi) * p[..., 1] - 0.10
        across = np.cos(phi) * p[..., 1] - np.sin(phi) * p[..., 0]
        far = np.hypot(along, p[..., 2])
        with np.errstate(invalid="ignore"):
            elbow = np.arccos((far**2 + 0.2**2 - (0.5**2 - across**2)) / (0.4 * far))
        found.append((np.arctan2(p[..., 2], along) + elbow + np.pi) % (2 * np.pi) - np.pi)
    return np.stack(found, axis=-1)


def test_the_area_and_the_volume_of_a_delta_are_those_of_its_legs():
    x, y = np.meshgrid(*2 * [np.linspace(-0.6, 0.6, 1201)])
    reached = np.isfinite(crank_angles_of_delta(np.stack([x, y, np.full_like(x, -0.42)], axis=-1))).all(axis=-1)
    assert DELTA.workspace(height=-0.42).area == pytest.approx(reached.sum() * 1e-6, rel=0.01)
    corners = np.array([[-0.6, -0.6, -0.8], [0.6, 0.6, 0.0]])
    angles = crank_angles_of_delta(np.random.default_rng(0).uniform(*corners, (400_000, 3)))
    with np.errstate(invalid="ignore"):
        share = (np.abs(angles) <= np.radians(70.0)).all(axis=-1).mean()
    machine = cy.Mechanism(DELTA.tree())
    limits = dict.fromkeys(machine.tree.actuated_joints, np.radians([-70.0, 70.0]))
    start = DELTA.configuration([0.0, 0.0, -0.42], DELTA.inverse_position([0.0, 0.0, -0.42])[0])
    found = machine.pictures.workspace("tool", start=start, limits=limits, samples=100_000)
    assert abs(found.volume - share * np.ptp(corners, axis=0).prod()) < found.uncertainty < 0.15 * found.volume


def differences(function, x, step=1e-4):
    """Derivatives (k, n) of a function of n coordinates with k values, by central differences of the fourth order."""
    columns = []
    for axis in np.eye(len(x)) * step:
        near, far = (function(x + k * axis) - function(x - k * axis) for k in (1, 2))
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=-1)


def bent(function, x, xd, xdd, step=1e-3):
    """The second derivative in time of a function along a path with this velocity and acceleration."""
    values = [function(x + t * xd + t**2 / 2 * xdd) for t in np.arange(-2, 3) * step]
    return (-values[0] + 16 * values[1] - 30 * values[2] + 16 * values[3] - values[4]) / (12 * step**2)


def virtual_work(drives, points, turns, x, rates, accelerations):
    """The torques of the drives where the platform is at x, for rates and accelerations of the drives: `points` are a
    function with the places (k, 3) of masses and these masses, `turns` the angles of bodies and their moments."""
    (places, masses), (angles, moments) = points, turns
    J = differences(drives, x)
    xd = np.linalg.solve(J, rates)
    xdd = np.linalg.solve(J, accelerations - bent(drives, x, xd, 0 * xd))
    inertial = bent(places, x, xd, xdd).reshape(-1, 3) - DOWN
    force = (masses[:, None] * inertial).ravel() @ differences(places, x)
    force = force + (moments * bent(angles, x, xd, xdd)) @ differences(angles, x)
    return np.linalg.solve(J.T, force)


def test_the_torques_of_a_delta_are_those_of_virtual_work():
    machine = cy.Mechanism(DELTA.tree(masses={"crank": CRANK, "rod": ROD, "platform": PLATE}))
    begin = np.array([-0.12, 0.0, -0.45])
    start = DELTA.configuration(begin, DELTA.inverse_position(begin)[0])
    np.testing.assert_allclose(start[3:], crank_angles_of_delta(begin), atol=1e-12)
    first = machine.pose(start, "tool")
    last = first.copy()
    last[:3, 3] = [0.12, 0.05, -0.45]
    led = planning.follow(machine, planning.circular_arc(first, [0.0, 0.02, -0.38], last), "tool", start)
    move = led.timed(0.3)
    profile = planning.effort_profile(machine, move, samples=31)

    def places(p):  # of the elbows, of the middles of the cranks, and of the platform
        angles = crank_angles_of_delta(p)
        out = np.stack([np.cos(LEGS), np.sin(LEGS), np.zeros(3)], axis=-1)
        cranks = np.cos(angles)[:, None] * out + np.sin(angles)[:, None] * [0.0, 0.0, 1.0]
        return np.concatenate([0.15 * out + 0.2 * cranks, 0.15 * out + 0.1 * cranks, [p]]).ravel()

    masses = np.array([ROD / 2] * 3 + [CRANK] * 3 + [PLATE + 3 * ROD / 2])
    moments = np.full(3, CRANK * 0.2**2 / 12)
    for k in (5, 12, 15, 22, 26):
        q, qd, qdd = move(profile.t[k])
        wanted = virtual_work(crank_angles_of_delta, (places, masses), (crank_angles_of_delta, moments), q[:3], qd[3:],
                              qdd[3:])
        np.testing.assert_allclose(profile.tau[k, 3:], wanted, rtol=1e-6, atol=1e-6)
    assert not profile.tau[:, :3].any() and np.abs(profile.tau).max() > 2.0


def corners_of_table(pose):
    """Corners (3, 2) of the platform, of x, y and the orientation of its centre."""
    angles = pose[2] + np.radians([210.0, 330.0, 90.0])
    return pose[:2] + 0.3 / np.sqrt(3) * np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def angles_of_table(pose):
    """Angles (6) of cranks and rods to the x axis, all legs bent to the left, from the triangles of the legs."""
    way = corners_of_table(pose) - PIVOTS
    far = np.hypot(*way.T)
    to = np.arctan2(way[:, 1], way[:, 0])
    at_pivot = np.arccos((far**2 + 0.25**2 - 0.3**2) / (0.5 * far))
    at_corner = np.arccos((far**2 + 0.3**2 - 0.25**2) / (0.6 * far))
    return np.concatenate([to - at_pivot, to + at_corner])


def test_the_area_of_a_3_rrr_is_that_of_its_legs():
    x, y = np.meshgrid(np.linspace(0.0, 0.9, 901), np.linspace(-0.1, 0.8, 901))
    feet = PIVOTS - corners_of_table(np.zeros(3))
    far = np.stack([np.hypot(x - foot[0], y - foot[1]) for foot in feet])
    reached = ((far >= 0.05) & (far <= 0.55)).all(axis=0)
    assert TABLE.workspace(phi=0.0, mode=7).area == pytest.approx(reached.sum() * 1e-6, rel=0.01)


def test_the_torques_of_a_3_rrr_are_those_of_virtual_work():
    masses = {"crank": 0.5, "rod": 0.4, "platform": 1.0}
    machine = cy.Mechanism(TABLE.tree(masses=masses, gravity=DOWN))
    middle = np.array([0.45, 0.26, 0.0])
    theta = TABLE.inverse_position(middle)[7]
    np.testing.assert_allclose(np.exp(1j * theta), np.exp(1j * angles_of_table(middle)[:3]), atol=1e-12)
    start = TABLE.configuration(middle, theta)
    first = machine.pose(start, "tool")
    last = first.copy()
    last[0, 3] += 0.1
    led = planning.follow(machine, planning.circular_arc(first, first[:3, 3] + [0.05, 0.05, 0.0], last), "tool", start)
    move = led.timed(0.5)
    profile = planning.effort_profile(machine, move, samples=31)

    def places(pose):
        cranks, rods = np.split(angles_of_table(pose), 2)
        unit = [np.stack([np.cos(each), np.sin(each)], axis=-1) for each in (cranks, rods)]
        flat = np.concatenate([PIVOTS + 0.125 * unit[0], PIVOTS + 0.25 * unit[0] + 0.15 * unit[1], [pose[:2]]])
        return np.pad(flat, ((0, 0), (0, 1))).ravel()

    def turns(pose):
        return np.append(np.unwrap([angles_of_table(middle), angles_of_table(pose)], axis=0)[1], pose[2])

    motors = list(machine.tree.actuated_velocities)
    points = places, np.array([0.5] * 3 + [0.4] * 3 + [1.0])
    moments = np.array([0.5 * 0.25**2 / 12] * 3 + [0.4 * 0.3**2 / 12] * 3 + [0.3**2 / 12])
    for k in (5, 12, 15, 22, 26):
        q, qd, qdd = move(profile.t[k])
        pose = machine.pose(q, "tool")
        at = np.array([*pose[:2, 3], np.arctan2(pose[1, 0], pose[0, 0])])
        wanted = virtual_work(lambda x: turns(x)[:3], points, (turns, moments), at, qd[motors], qdd[motors])
        np.testing.assert_allclose(profile.tau[k, motors], wanted, rtol=1e-6, atol=1e-6)


def test_torques_are_drawn_in_newton_metres_with_the_limits_of_the_drives():
    table = cy.load("three_rrr")
    here = table.pose(table.neutral, "tool")
    there = here.copy()
    there[0, 3] += 0.05
    led = planning.follow(table, planning.straight_line(here, there), "tool", table.neutral)
    figure = planning.effort_profile(table, led.timed(1.0), effort=3.0).plot()
    ax, = figure.axes
    assert ax.get_title(loc="left") == "torques of the actuated joints [N m]"
    lines = {line.get_label(): line.get_ydata() for line in ax.lines if not line.get_label().startswith("_")}
    assert list(lines) == ["crank 1", "crank 2", "crank 3"]
    assert {float(line.get_ydata()[0]) for line in ax.lines if line.get_linestyle() == "--"} == {3.0, -3.0}


def test_a_platform_that_slides_along_axes_has_no_slides_to_be_seen():
    ax = cy.Mechanism(DELTA.tree()).draw(DELTA.configuration([0, 0, -0.42], [-0.1] * 3))
    figure = cy.drawing.skeleton.skeleton(DELTA.tree(), np.array([0, 0, -0.42, -0.1, -0.1, -0.1]))
    assert {slide.joint for slide in figure.slides} == {"rod1", "rod2", "rod3"}
    assert {mark.joint for mark in figure.marks} == {"crank1", "crank2", "crank3"}
    assert ax.figure is not None


def test_the_title_of_a_map_is_within_its_figure():
    figure = TABLE.workspace(resolution=40).plot().figure
    figure.canvas.draw()
    box = figure.axes[0]._left_title.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
