"""Pictures of planned motions."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import cayley as cy
from cayley.drawing import stick_figure
from cayley.geometry.convex_shapes import Capsule, Sphere, distance
from cayley.planning import (
    MotionLimits,
    cubic_spline,
    follow,
    inspect_motion,
    point_to_point,
    rest_to_rest_spline,
    rotation_cubic,
    rotation_forward,
    rotation_spline,
    seam,
    time_optimal,
)
from cayley.planning.profiles.two_points import LAWS
from cayley.planning.timing.efforts import limit_use as limits_used
from drawings.canvas import BLUE, GREEN, GREY, ORANGE, RED, quiet
from drawings.pages import made_by_page


def spline_ends() -> Any:
    """One set of points, five kinds of ends."""
    times, points = [0.0, 1.0, 2.5, 3.0, 4.5], np.array([0.0, 0.5, 2.0, 1.5, 0.0])
    t = np.linspace(0.0, 4.5, 700)
    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 6), sharex=True, layout="constrained")
    kinds = {end: cubic_spline(times, points, end) for end in ("natural", "clamped", "not-a-knot", "periodic")}
    kinds["rest to rest"] = rest_to_rest_spline(times, points)
    for (name, move), color in zip(kinds.items(), (BLUE, RED, GREEN, ORANGE, "#333333"), strict=True):
        above.plot(t, move(t).q[:, 0], color=color, linewidth=1.6, label=name)
        below.plot(t, move(t).qdd[:, 0], color=color, linewidth=1.6)
    above.plot(times, points, "o", color="#333333", markersize=5, zorder=5)
    above.set_ylabel("position")
    below.set_ylabel("acceleration")
    below.set_xlabel("t [s]")
    below.set_ylim(-4.5, 5.0)
    above.legend(frameon=False, ncols=5, loc="lower center", fontsize="small", bbox_to_anchor=(0.5, 1.0))
    return quiet(figure, above, below)


def rotation_curves() -> Any:
    """Knots of steady rotation: knot after knot, and all at once; a half-turn from rest to rest."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    t = np.arange(13.0)
    knots = np.stack([np.cos(0.1 * t), 0 * t, 0 * t, np.sin(0.1 * t)], axis=-1)
    steady = np.array([0.0, 0.0, 0.2])
    forward = rotation_forward(t, knots, velocity=steady)
    at_once = rotation_spline(t, knots, "clamped", velocities=(steady, steady))
    u = np.linspace(0.0, 10.8, 900)
    left.plot(u, forward(u).qd[:, 2], color=RED, label="knot after knot")
    left.plot(u, at_once(u).qd[:, 2], color=BLUE, label="all knots at once")
    left.plot(t[:11], np.full(11, 0.2), "o", color="#333333", markersize=4)
    left.set_ylim(-0.75, 1.15)
    left.set_xlabel("t [s]")
    left.set_ylabel("angular velocity about z [rad/s]")
    left.legend(frameon=False)
    v = np.linspace(0.0, 1.0, 400)
    for degrees, color in ((180, RED), (120, ORANGE), (60, BLUE)):
        half = np.radians(degrees) / 2
        ends = [[1.0, 0.0, 0.0, 0.0], [np.cos(half), 0.0, 0.0, np.sin(half)]]
        q = rotation_spline([0.0, 1.0], ends, "clamped")(v).q
        right.plot(v, 2 * np.degrees(np.arctan2(q[:, 3], q[:, 0])), color=color, label=f"{degrees}°, spline")
        if degrees < 180:
            q = rotation_cubic([0.0, 1.0], ends)(v).q
            right.plot(v, 2 * np.degrees(np.arctan2(q[:, 3], q[:, 0])), color=color, linestyle="--",
                       label=f"{degrees}°, vector-parameter")
    right.set_xlabel("t [s]")
    right.set_ylabel("angle [degrees]")
    right.legend(frameon=False, fontsize="small")
    return quiet(figure, left, right)


def motion() -> Any:
    """The tutorial's motion: joints, velocities, torques as fractions of their limits, and the path of the tool."""
    made = made_by_page("motion_and_control/motion_tutorial.md", "speed")
    arm, quick, most, path = made["arm"], made["quick"], made["most"], made["path"]
    t = np.linspace(0.0, quick.duration, 401)
    q, qd, qdd = quick(t)
    figure = plt.figure(figsize=(12, 6.2), layout="constrained")
    grid = figure.add_gridspec(3, 2, width_ratios=[1.25, 1])
    panels = [figure.add_subplot(grid[k, 0]) for k in range(3)]
    names = [f"joint {k + 1}" for k in range(6)]
    shares = arm.inverse_dynamics(q, qd, qdd)[:, :3] / most
    for ax, values, title in zip(panels, (q, qd, shares), ("angles [rad]", "velocities [rad/s]", "torques / limits"),
                                 strict=True):
        for k in range(values.shape[1]):
            ax.plot(t, values[:, k], color=f"C{k}", linewidth=1.5, label=names[k])
        for instant in quick.breaks:
            ax.axvline(instant, color="#c3cad3", linewidth=0.8, linestyle=":")
        ax.set_title(title, fontsize="small", loc="left")
    panels[0].legend(frameon=False, fontsize="x-small", ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.02))
    panels[2].axhline(1.0, color=RED, linewidth=0.8)
    panels[2].axhline(-1.0, color=RED, linewidth=0.8)
    panels[2].set_xlabel("t [s]")
    side = figure.add_subplot(grid[:, 1], projection="3d")
    side.view_init(elev=24, azim=-60)
    stick_figure(arm.tree, q[[0, 130, 260, 400]], ax=side, frames=(), labels=False)
    side.plot(*path.T, color=RED, linewidth=2.0)
    side.scatter(*arm.pose(made["points"], "tool")[:, :3, 3].T, color="#333333", s=18)
    quiet(figure, *panels)
    return figure


def laws() -> Any:
    """The laws of motion from 0 to 1 in one second, and their derivatives."""
    figure, panels = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
    x = np.linspace(0.0, 1.0, 1201)
    titles = ("position", "velocity", "acceleration", "jerk")
    for law, color in zip(LAWS, (BLUE, GREEN, RED, ORANGE, "#333333"), strict=True):
        move = point_to_point([0.0], [1.0], law=law, duration=1.0)
        t = np.unique(np.concatenate([x, move.breaks, np.nextafter(move.breaks[1:], 0.0)]))
        for ax, values, title in zip(panels, move.derivatives(t), titles, strict=True):
            if not (law == "trapezoidal" and title == "jerk"):
                ax.plot(t, values[:, 0], color=color, linewidth=1.6, label=law)
            ax.set_title(title, fontsize="small", loc="left")
            ax.set_xlabel("t / T")
    panels[0].legend(frameon=False, fontsize="small")
    return quiet(figure, *panels)


def limit_use() -> Any:
    """A motion through four configurations of a Panda, and what it uses of its limits."""
    arm = cy.load("panda")
    limits = MotionLimits.of(arm, acceleration=10.0, jerk=200.0)
    way = [[0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], [0.5, 0.1, 0.0, -1.6, 0.0, 1.6, 0.4],
           [1.0, 0.3, 0.0, -1.0, 0.0, 1.6, 0.0], [1.2, 0.5, 0.2, -0.8, 0.0, 1.5, -0.2]]
    return limits_used(time_optimal(way, limits), limits).plot()


def fastest() -> Any:
    """The fastest motions of the tutorial, without and with limits of jerk."""
    made = made_by_page("motion_and_control/motion_tutorial.md", "smooth")
    arm, drives = made["arm"], made["drives"]
    figure, panels = plt.subplots(2, 2, figsize=(11, 5.4), sharex=True, sharey="row", layout="constrained")
    for (above, below), move, title in zip(panels.T, (made["fastest"], made["smooth"]),
                                           ("torque and velocity limits", "and limits of jerk"), strict=True):
        t = np.unique(np.concatenate([np.linspace(0.0, move.end, 1500), np.nextafter(move.breaks[1:], 0.0)]))
        q, qd, qdd = move(t)
        shares = arm.inverse_dynamics(q, qd, qdd) / drives
        for k in range(6):
            above.plot(t, qd[:, k], color=f"C{k}", linewidth=1.4, label=f"joint {k + 1}")
            below.plot(t, shares[:, k], color=f"C{k}", linewidth=1.4)
        above.set_title(f"{title}: {move.duration:.2f} s", fontsize="small", loc="left")
        for side in (-1.0, 1.0):
            below.axhline(side, color=RED, linewidth=0.8)
        below.set_xlabel("t [s]")
    panels[0, 0].set_ylabel("velocities [rad/s]")
    panels[1, 0].set_ylabel("torques / limits")
    panels[0, 1].legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return quiet(figure, *panels.flat)


def weld() -> Any:
    """An arm that welds along a seam, and how far its wrist is from a bracket."""
    arm = cy.load("puma560")
    angle = np.linspace(-1.2, 1.2, 13)
    points = np.stack([0.25 + 0.15 * np.cos(angle), 0.15 * np.sin(angle), 0.0 * angle + 0.1], axis=1)
    path = seam(points, [0.0, 0.0, 1.0], travel_angle=0.2)
    start = arm.inverse_kinematics(path(0.0), "tool", start=[0.3, -0.6, 0.5, 0.0, 1.2, 0.0]).q
    move = follow(arm, path, "tool", start).timed(4.0)
    wrist = Sphere(0.06)
    bracket = Capsule(0.03, [0.52, -0.04, 0.0], [0.52, -0.04, 0.4])
    seen = inspect_motion(arm, move, shapes={"link6": wrist}, obstacles={"bracket": bracket})
    figure = plt.figure(figsize=(11.5, 4.8), layout="constrained")
    space = figure.add_subplot(1, 2, 1, projection="3d")
    space.view_init(elev=24, azim=-50)
    stick_figure(arm.tree, move(np.linspace(0.0, 4.0, 4)).q, ax=space, frames=("tool",), labels=False, trail=False)
    space.plot(*np.stack([bracket.start, bracket.end], axis=1), color=GREY, linewidth=7.0, solid_capstyle="round")
    space.plot(*path(np.linspace(0.0, path.length, 200))[:, :3, 3].T, color=RED, linewidth=2.5)
    right = figure.add_subplot(1, 2, 2)
    right.plot(seen.times, 1e3 * distance(wrist, bracket, seen.poses["link6"]), color=BLUE)
    nearest = seen.clearances[0]
    right.plot(nearest.time, 1e3 * nearest.distance, "o", color=ORANGE)
    right.annotate(f"{1e3 * nearest.distance:.0f} mm", (nearest.time, 1e3 * nearest.distance), (0, -18),
                   textcoords="offset points", ha="center", color=ORANGE)
    right.set_xlabel("t [s]")
    right.set_ylabel("distance of the wrist from the bracket [mm]")
    right.set_ylim(bottom=0.0)
    return quiet(figure, right)


PICTURES = (spline_ends, rotation_curves, laws, limit_use, motion, fastest, weld)
