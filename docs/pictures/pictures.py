"""The pictures of the conventions page, of the tutorials and of the front page.

Run `python docs/pictures/pictures.py [folder]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from doctest import DocTestParser
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc, FancyArrowPatch

import cayley as cy
from cayley.control import LinearModel, digital, linear_model, region_of_attraction, saturation
from cayley.drawing import draw_ellipsoids, stick_figure, workspace
from cayley.drawing.linkage_designs import draw_guidance
from cayley.dynamics.accounting.generic_arms import GENERAL, generic_arm
from cayley.dynamics.generation.growth import elastic_generic_arm
from cayley.dynamics.generation.growth import growth as grown
from cayley.geometry.rotations import matrix_from_vector_parameter
from cayley.geometry.shapes import Capsule, Sphere, distance
from cayley.mechanisms.networks import block_diagram, draw_block_diagram
from cayley.mechanisms.networks import planar_arm as planar_rods
from cayley.model.denavit_hartenberg.table import DHRow, modified_dh_pose, standard_dh_pose
from cayley.model.winding import Winding
from cayley.planning import (
    MotionLimits,
    best_generator,
    chebyshev_generator,
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
from cayley.planning.laws import LAWS
from cayley.planning.limits_used import limit_use as limits_used
from cayley.simulation import simulate

plt.rcParams.update({"figure.dpi": 110, "font.size": 10, "axes.edgecolor": "#333333", "mathtext.fontset": "dejavusans"})

RED, GREEN, BLUE, GREY, ORANGE = "#c0392b", "#2e8b57", "#2c5aa0", "#777777", "#d9822b"


# Things in space


def in_space(figure: Any, *place: int, elev: float = 22, azim: float = -58) -> Any:
    ax = figure.add_subplot(*place, projection="3d")
    ax.view_init(elev=elev, azim=azim)
    ax.set_axis_off()
    return ax


def arrow(ax: Any, start: Any, along: Any, color: str, text: str = "", *, width: float = 2.0, push: float = 1.12,
          style: str = "-") -> None:
    start, along = np.asarray(start, dtype=float), np.asarray(along, dtype=float)
    ax.quiver(*start, *along, color=color, linewidth=width, arrow_length_ratio=0.16, linestyle=style)
    if text:
        ax.text(*(start + push * along), text, color=color, ha="center", va="center")


def triad(ax: Any, pose: np.ndarray, name: str = "", length: float = 0.28) -> None:
    for k, (color, letter) in enumerate(zip((RED, GREEN, BLUE), "xyz", strict=True)):
        arrow(ax, pose[:3, 3], length * pose[:3, k], color, f"${letter}_{{{name}}}$" if name else f"${letter}$",
              push=1.3)


def line(ax: Any, points: Any, color: str = GREY, style: str = "-", width: float = 1.2) -> None:
    ax.plot(*np.asarray(points, dtype=float).T, color=color, linestyle=style, linewidth=width)


def dimension(ax: Any, start: Any, end: Any, text: str, away: Any = (0.0, 0.0, 0.0)) -> None:
    """A length with its name beside the middle."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    line(ax, [start, end], ORANGE, width=3.0)
    ax.text(*((start + end) / 2 + np.asarray(away)), text, color=ORANGE, ha="center", va="center", fontsize=12)


def axis_line(ax: Any, point: Any, direction: Any, name: str, reach: float = 0.75) -> None:
    point, direction = np.asarray(point, dtype=float), np.asarray(direction, dtype=float)
    line(ax, [point - 0.45 * reach * direction, point + reach * direction], GREY, (0, (8, 3, 2, 3)))
    ax.text(*(point + 1.12 * reach * direction), name, color="#444444", ha="center")


def around(center: Any, axis: Any, start: Any, angle: float, size: float) -> np.ndarray:
    """Points of an arc."""
    turns = [
        matrix_from_vector_parameter(np.tan(a / 2) * np.asarray(axis)) @ np.asarray(start)
        for a in np.linspace(0.0, angle, 40)]
    return np.asarray(center) + size * np.array(turns)


def equal(ax: Any, low: Any, high: Any) -> None:
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_zlim(low[2], high[2])
    ax.set_box_aspect(np.subtract(high, low), zoom=1.25)


# Conventions


def denavit_hartenberg() -> Any:
    """One row of a table, in the two conventions."""
    figure = plt.figure(figsize=(11, 5.2), layout="constrained")
    _standard(in_space(figure, 1, 2, 1), DHRow(theta=0.9, d=0.62, a=0.75, alpha=0.8))
    _modified(in_space(figure, 1, 2, 2, azim=-75), DHRow(theta=1.0, d=0.75, a=0.7, alpha=-0.7))
    return figure


def _standard(ax: Any, row: DHRow) -> None:
    first, second = np.eye(4), standard_dh_pose(row.theta, row.d, row.a, row.alpha)
    triad(ax, first, "i-1")
    triad(ax, second, "i")
    foot = first[:3, 3] + row.d * first[:3, 2]
    axis_line(ax, first[:3, 3], first[:3, 2], "axis i", 0.9)
    axis_line(ax, second[:3, 3], second[:3, 2], "axis i+1", 0.6)
    dimension(ax, first[:3, 3], foot, "$d_i$", (-0.09, 0.0, 0.12))
    dimension(ax, foot, second[:3, 3], "$a_i$", (0.0, 0.0, 0.1))
    _angle(ax, foot, first[:3, 2], first[:3, 0], row.theta, r"$\theta_i$")
    _angle(ax, second[:3, 3], second[:3, 0], first[:3, 2], row.alpha, r"$\alpha_i$")
    ax.set_title(
        '"standard": $R_z(\\theta)\\,T_z(d)\\,T_x(a)\\,R_x(\\alpha)$\nframe i is at the far end of link i, $z_i$ on '
        'axis i+1'
    )
    equal(ax, (-0.1, -0.1, -0.1), (0.75, 0.75, 1.12))


def _modified(ax: Any, row: DHRow) -> None:
    first, second = np.eye(4), modified_dh_pose(row.theta, row.d, row.a, row.alpha)
    triad(ax, first, "i-1")
    triad(ax, second, "i")
    foot = first[:3, 3] + row.a * first[:3, 0]
    axis_line(ax, first[:3, 3], first[:3, 2], "axis i-1", 0.8)
    axis_line(ax, foot, second[:3, 2], "axis i", 1.05)
    dimension(ax, first[:3, 3], foot, "$a_i$", (0.0, 0.0, -0.1))
    dimension(ax, foot, second[:3, 3], "$d_i$", (0.08, 0.05, -0.02))
    _angle(ax, foot, first[:3, 0], first[:3, 2], row.alpha, r"$\alpha_i$", 0.4)
    _angle(ax, second[:3, 3], second[:3, 2], first[:3, 0], row.theta, r"$\theta_i$")
    ax.set_title(
        '"modified": $T_x(a)\\,R_x(\\alpha)\\,T_z(d)\\,R_z(\\theta)$\nframe i is on axis i, at the near end of link i')
    equal(ax, (-0.1, -0.1, -0.15), (1.0, 0.75, 0.9))


def _angle(ax: Any, center: Any, axis: Any, start: Any, angle: float, name: str, size: float = 0.22) -> None:
    arc = around(center, axis, start, angle, size)
    line(ax, [center, arc[0] + 0.4 * (arc[0] - center)], "#aaaaaa", ":")
    line(ax, arc, "#000000", width=1.6)
    ax.text(*(center + 1.35 * (arc[20] - center)), name, ha="center", va="center", fontsize=12)


def active_rotation() -> Any:
    """R_ab: the axes of b, written in a; it turns components in b into components in a."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.1), layout="constrained")
    angle = 0.6
    c, s = np.cos(angle), np.sin(angle)
    for ax in (left, right):
        flat(ax, (-0.75, 1.35), (-0.15, 1.2))
    flat_triad(left, (0, 0), 0.0, "a", "#999999", "#999999")
    flat_triad(left, (0, 0), angle, "b", RED, GREEN)
    flat_arrow(left, (0, 0), (0.9 * np.cos(1.1), 0.9 * np.sin(1.1)), "black", "$p$")
    left.add_patch(Arc((0, 0), 0.7, 0.7, theta1=0, theta2=np.degrees(angle), color="black"))
    left.text(0.42, 0.13, r"$\varphi$")
    left.set_title("columns of $R_{ab}$: the axes of b, seen from a\n$p_a = R_{ab}\\, p_b$,  $R_{ac} = R_{ab} R_{bc}$")
    flat_triad(right, (0, 0), 0.0, "", "#999999", "#999999")
    x = np.array([0.95, 0.25])
    flat_arrow(right, (0, 0), x, BLUE, "$x$")
    flat_arrow(right, (0, 0), (c * x[0] - s * x[1], s * x[0] + c * x[1]), ORANGE, "$R\\,x$")
    start = np.degrees(np.arctan2(x[1], x[0]))
    right.add_patch(Arc((0, 0), 1.0, 1.0, theta1=start, theta2=start + np.degrees(angle), color="black"))
    right.text(0.5, 0.42, r"$\varphi > 0$")
    right.set_title("active: the vector turns, the axes stay\n$\\varphi$ by the right hand about $e$")
    return figure


def vector_parameter() -> Any:
    """The half-angle tangent, and why half-turns need the homogeneous form."""
    figure = plt.figure(figsize=(10, 4.4), layout="constrained")
    ax = in_space(figure, 1, 2, 1, elev=30, azim=-60)
    e = np.array([0.25, -0.2, 1.0])
    e = e / np.linalg.norm(e)
    x = np.cross(e, [1.0, -0.7, 0.0])
    x = -0.8 * x / np.linalg.norm(x) + 0.1 * e
    angle = 1.3
    line(ax, [-0.25 * e, 1.25 * e], GREY, (0, (8, 3, 2, 3)))
    ax.text(*(1.32 * e), "axis $e$", color=GREY)
    arrow(ax, (0, 0, 0), np.tan(angle / 2) * e, ORANGE, width=3.4)
    ax.text(*(0.62 * e + [0.06, 0.06, 0.0]), r"$c = \tan(\varphi/2)\,e$", color=ORANGE, fontsize=12)
    arrow(ax, (0, 0, 0), x, BLUE, "$x$")
    turned = matrix_from_vector_parameter(np.tan(angle / 2) * e) @ x
    arrow(ax, (0, 0, 0), turned, RED, "$R\\,x$")
    line(ax, around((0, 0, 0), e, x, angle, 1.0), "black", ":")
    ax.text(*(0.62 * (x + turned)), r"$\varphi$", fontsize=13)
    equal(ax, (-0.6, -0.7, -0.2), (0.8, 0.7, 1.0))
    flat_ax = figure.add_subplot(1, 2, 2)
    phi = np.radians(np.linspace(0, 359, 400))
    tangent = np.where(np.abs(np.cos(phi / 2)) < 0.06, np.nan, np.tan(phi / 2))
    flat_ax.plot(np.degrees(phi), tangent, color=ORANGE, label=r"$|c| = \tan(\varphi/2)$")
    flat_ax.plot(np.degrees(phi), np.cos(phi / 2), color=BLUE, label="w of [w : v]")
    flat_ax.plot(np.degrees(phi), np.sin(phi / 2), color=RED, label="|v| of [w : v]")
    flat_ax.axvline(180, color=GREY, linestyle=":")
    flat_ax.text(183, -3.3, "half-turn: w = 0", color=GREY)
    flat_ax.set(ylim=(-4, 4), xticks=range(0, 361, 90), xlabel=r"$\varphi$ [degrees]")
    flat_ax.legend(frameon=False, loc="upper left")
    flat_ax.spines[["top", "right"]].set_visible(False)
    return figure


def twists_and_wrenches() -> Any:
    """(v; w) and (f; m) at a named point."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
    for ax, name in ((left, "twist (v; w): velocity of the body's point at P,\nthen angular velocity"),
                     (right,
                      "wrench (f; m): force, then moment about P;\npower is $f \\cdot v + m \\cdot w$ at any P")):
        flat(ax, (-1.0, 1.6), (-1.0, 1.2))
        outline = np.linspace(0, 2 * np.pi, 200)
        radius = 0.72 + 0.1 * np.cos(2 * outline + 0.5) + 0.05 * np.sin(3 * outline)
        ax.fill(radius * np.cos(outline), radius * np.sin(outline), color="#e8edf5", edgecolor="#9aa9c2")
        ax.plot(0.25, -0.2, "ko", markersize=4)
        ax.text(0.3, -0.33, "P")
        ax.set_title(name)
    flat_arrow(left, (0.25, -0.2), (0.75, 0.45), BLUE, "$v$")
    flat_turn(left, (-0.25, 0.2), 0.3, RED, "$w$")
    flat_arrow(right, (0.25, -0.2), (0.7, 0.55), BLUE, "$f$")
    flat_turn(right, (-0.25, 0.2), 0.3, RED, "$m$")
    return figure


def gravity_and_wrenches() -> Any:
    """Gravity is the acceleration of free fall; external wrenches act on the robot."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
    arm = cy.load("planar2r")
    q = np.array([0.5, 0.7])
    for ax in (left, right):
        stick_figure(arm.tree, q, frames=(), ax=ax)
        ax.set_axis_off()
        ax.set(xlim=(-0.25, 1.15), ylim=(-0.2, 0.9), adjustable="box")
    tool = arm.pose(q, "tool")[:2, 3]
    flat_arrow(left, (0.85, 0.75), (0.0, -0.35), ORANGE, "gravity $(0, -9.81, 0)$")
    flat_turn(left, (0.0, 0.0), 0.13, RED, r"$\tau_1 > 0$ holds it", away=(0.32, -0.06))
    left.set_title("gravity: the acceleration of free fall;\ngravity_forces are what holds the arm", y=0.96)
    flat_arrow(right, tool, (0.3, -0.12), ORANGE, "f ON the arm")
    flat_arrow(right, tool, (-0.3, 0.12), GREY, "-f of the arm")
    right.set_title("external wrenches: what the world does to the robot\njoint_forces_that_resist: $\\tau = -J^T f$",
                    y=0.96)
    return figure


def jacobian_axes() -> Any:
    """The same twist with components in the world's and in the body's axes."""
    figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    arm = cy.load("planar2r")
    q = np.array([0.35, 0.75])
    stick_figure(arm.tree, q, frames=(), ax=ax)
    pose = arm.pose(q, "tool")
    angle = np.arctan2(pose[1, 0], pose[0, 0])
    flat_triad(ax, (0.0, 0.0), 0.0, "world", RED, GREEN, length=0.2)
    flat_triad(ax, pose[:2, 3], angle, "body", RED, GREEN, length=0.2)
    velocity = 0.6 * arm.twist(q, [0.5, 0.2], "tool", axes="world")[:2]
    flat_arrow(ax, pose[:2, 3], velocity, BLUE, "$v$ of the tool's origin")
    ax.set_axis_off()
    ax.set(xlim=(-0.2, 1.0), ylim=(-0.1, 0.85), adjustable="box")
    ax.set_title('one velocity, two sets of components:\naxes="world" or axes="body"', y=0.97)
    return figure


# Things in a plane


def flat(ax: Any, x: tuple[float, float], y: tuple[float, float]) -> None:
    ax.set(xlim=x, ylim=y, aspect="equal")
    ax.set_axis_off()


def flat_arrow(ax: Any, start: Any, along: Any, color: str, text: str = "", *, above: float = 0.0) -> None:
    end = np.add(start, along)
    ax.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=color, linewidth=2, shrinkA=0, shrinkB=0,
                        zorder=9))
    if text:
        out = np.asarray(along) / np.linalg.norm(along)
        ax.annotate(text, end, xytext=(9 * out[0], 9 * out[1] + 100 * above), textcoords="offset points", color=color,
                    zorder=9, ha="left" if out[0] > 0.3 else "right" if out[0] < -0.3 else "center",
                    va="bottom" if out[1] > 0.3 else "top" if out[1] < -0.3 else "center")


def flat_triad(ax: Any, origin: Any, angle: float, name: str, first: str, second: str, length: float = 1.0) -> None:
    for turn, color, letter in ((0.0, first, "x"), (np.pi / 2, second, "y")):
        a = angle + turn
        flat_arrow(ax, origin, (length * np.cos(a), length * np.sin(a)), color,
                   f"${letter}_{{{name}}}$" if name else f"${letter}$")


def flat_turn(ax: Any, center: Any, size: float, color: str, text: str, away: Any = (0.0, 0.0)) -> None:
    center = np.asarray(center)
    start, end = center + size * np.array([1.0, 0.0]), center + size * np.array([-0.75, 0.66])
    ax.add_patch(
        FancyArrowPatch(start, end, connectionstyle="arc3,rad=0.75", arrowstyle="-|>", mutation_scale=14, color=color,
                        linewidth=2, zorder=9))
    ax.text(*(center + np.asarray(away)), text, color=color, ha="center", va="center", zorder=9)


# Tutorials and front page


def planar_arm() -> Any:
    figure, ax = plt.subplots(figsize=(6.6, 4.4), layout="constrained")
    arm, q = cy.load("planar2r"), np.array([0.3, 0.8])
    stick_figure(arm.tree, q, frames=(), ax=ax)
    elbow, tool = arm.pose(q, "frame2")[:2, 3], arm.pose(q, "tool")[:2, 3]
    flat_triad(ax, (0, 0), 0.0, "0", RED, GREEN, length=0.16)
    flat_triad(ax, elbow, q[0], "1", RED, GREEN, length=0.16)
    flat_triad(ax, tool, q.sum(), "2", RED, GREEN, length=0.16)
    for center, start, turn, name in (((0, 0), 0.0, q[0], "$q_1$"), (elbow, q[0], q[1], "$q_2$")):
        ax.add_patch(Arc(center, 0.5, 0.5, theta1=np.degrees(start), theta2=np.degrees(start + turn), linewidth=1.4))
        middle = start + turn / 2
        ax.text(*(np.asarray(center) + 0.3 * np.array([np.cos(middle), np.sin(middle)])), name, ha="center",
                va="center")
    ax.plot(*np.transpose([elbow, elbow + 0.33 * np.array([np.cos(q[0]), np.sin(q[0])])]), color=GREY, linestyle=":")
    ax.text(*(0.5 * elbow + [-0.03, 0.06]), "$l_1$", color=BLUE, fontsize=12)
    ax.text(*(0.5 * (elbow + tool) + [-0.08, 0.02]), "$l_2$", color=BLUE, fontsize=12)
    ax.set_axis_off()
    ax.set(xlim=(-0.15, 1.0), ylim=(-0.15, 0.75), adjustable="box")
    return figure


def ellipses() -> Any:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    for ax, q, title in zip(axes, ([0.4, 1.5], [0.4, 0.25]), ("bent", "nearly stretched"), strict=True):
        stick_figure(cy.load("planar2r").tree, q, frames=(), ax=ax)
        draw_ellipsoids(cy.load("planar2r").tree, q, "tool", ax=ax)
        ax.set_xlabel(f"x [m]; the arm {title}")
    return figure


def fall() -> Any:
    arm = cy.load("planar2r")
    fallen = simulate(arm.tree, [0.3, 0.8], [0.0, 0.0], times=np.linspace(0.0, 3.0, 601), progress=False)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    stick_figure(arm.tree, fallen.q[:90:11], frames=("tool",), labels=False, ax=left)
    left.set_title("the first half second")
    kinetic, potential = arm.kinetic_energy(fallen.q, fallen.qd), arm.potential_energy(fallen.q)
    for values, color, name in ((kinetic, RED, "kinetic"), (potential, BLUE, "potential"), (kinetic + potential,
                                                                                            "black", "sum")):
        right.plot(fallen.t, values, color=color, label=name)
    right.set(xlabel="t [s]", ylabel="energy [J]")
    right.legend(frameon=False)
    right.spines[["top", "right"]].set_visible(False)
    return figure


def draft() -> Any:
    quarter = np.pi / 2
    rows = [(0, 0, 0, 0), (0, 0, 0, -quarter), (0, 0, 0.45, 0), (0, 0.4, 0, -quarter), (0, 0, 0, quarter),
            (0, 0, 0, -quarter)]
    arm = cy.Mechanism.from_dh(rows, convention="modified", name="draft").tree
    figure = plt.figure(figsize=(10, 4.4))
    workspace(arm, "tool", samples=100_000).draw(figure=figure)
    return figure


def press() -> Any:
    """The knuckle-joint press of the tutorial: in six positions, its stroke, and the torque that a coin asks for."""
    machine = _press()
    q = machine.close([0.0, 2.8, -1.0, -1.1, 0.1], fixed=["crank"]).configuration
    turn = np.radians(np.arange(361.0))
    path = machine.follow_inputs({"crank": turn}, start=q).configuration
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained",
                                                 width_ratios=[1.1, 1, 1])
    stick_figure(machine.tree, path[0:180:35], frames=(), labels=False, trail=False, ax=left)
    for name, x, y in (("crank", 0.36, 0.2), ("rod", 0.15, 0.28), ("upper", -0.11, 0.48), ("lower", -0.11, 0.2),
                       ("ram", 0.1, 0.02)):
        left.text(x, y, name, ha="center")
    left.set_title("from the top to the bottom")
    height = 1e3 * path[:, 4]
    middle.plot(np.degrees(turn), height, color=BLUE)
    middle.set(xlabel="crank [degrees]", ylabel="ram [mm]", title="the stroke")
    speed = np.full((361, 1), 2 * np.pi)
    qd, qdd = machine.actuated_motion(path, speed), machine.actuated_acceleration(path, speed, 0 * speed)
    coin = np.zeros((361, 6))
    coin[(height < height.min() + 3.0) & (qd[:, 4] < 0), 1] = 100e3
    loaded = machine.inverse_dynamics.with_inputs(wrenches=["die"], axes="world")(path, qd, qdd, coin)
    for values, color, name in ((loaded, RED, "with a coin"), (machine.inverse_dynamics(path, qd, qdd), GREY, "empty")):
        right.plot(np.degrees(turn), values[:, 0], color=color, label=name)
    right.set(xlabel="crank [degrees]", ylabel="torque [N m]", title="the torque at a turn a second")
    right.legend(frameon=False)
    for ax in (middle, right):
        ax.set_xticks([0, 90, 180, 270, 360])
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def cart() -> Any:
    """The cart of the tutorial: from above, its way into the bay, and what its drives give."""
    made = _tutorial("cart.md", "needed")
    program, path, t = made["program"], made["path"], made["t"]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained",
                                                 width_ratios=[1, 1.1, 1])
    _cart_from_above(left, (0.0, 0.0, 0.0), np.radians(30), made, BLUE)
    for start, end, words, place in (((0, -0.5), (0.9, -0.5), "wheelbase 0.9 m", (0.45, -0.58)),
                                     ((-0.28, -0.3), (-0.28, 0.3), "track 0.6 m", (-0.36, 0.0))):
        left.annotate("", start, end, arrowprops={"arrowstyle": "<->", "color": GREY})
        left.text(*place, words, ha="center", va="center", color=GREY, rotation=90 if place[1] == 0.0 else 0)
    left.text(1.02, 0.16, "steered\nand driven", ha="center", va="bottom")
    left.set(xlim=(-0.5, 1.3), ylim=(-0.75, 0.75), title="the drawing")
    distance = np.linspace(0.0, path.length, 400)
    middle.plot(*path.pose(distance)[:, :2].T, color=RED)
    for place in np.concatenate([[0.0], np.cumsum([abs(length) for length, _ in path.pieces])]):
        color = BLUE if place == path.length else GREY
        _cart_from_above(middle, path.pose(place), path.steering(place), made, color)
    across, bottom, _ = path.end
    middle.plot(across + 0.45 * np.array([-1, -1, 1, 1]), bottom + np.array([0.55, -0.2, -0.2, 0.55]), color="black")
    middle.text(across, bottom - 0.25, "bay", ha="center", va="top")
    middle.set(title="the way of the axle into the bay")
    for ax in (left, middle):
        ax.set_aspect("equal")
        ax.set_axis_off()
    for column, color, name in ((6, RED, "hub"), (5, BLUE, "steering, times 100")):
        right.plot(t, made["needed"][:, column] * (100 if column == 5 else 1), color=color, label=name)
    right.fill_between(t, 0, 1, where=program(t).steering_rate != 0, transform=right.get_xaxis_transform(), color=GREY,
                       alpha=0.15, lw=0)
    right.set(xlabel="time [s]", ylabel="torque [N m]", title="what the motors give")
    right.legend(frameon=False)
    right.spines[["top", "right"]].set_visible(False)
    return figure


def carrier() -> Any:
    """The platform of the tutorial on its way, and its arm at work."""
    made = _tutorial("platform.md", "task")
    machine, task = made["machine"], made["task"]
    figure = plt.figure(figsize=(11, 3.6))
    moments = {"on its way": np.linspace(0.0, task.hand_over, 5),
               "at work": np.linspace(task.hand_over, task.duration, 4)}
    for k, (title, times) in enumerate(moments.items()):
        ax = figure.add_axes((0.5 * k, -0.35, 0.5, 1.7), projection="3d", computed_zorder=False)
        ax.view_init(elev=28, azim=-70)
        ax.set_proj_type("persp", focal_length=1.6)
        stick_figure(machine.tree, task.motion(times).q, frames=["tool"], labels=False, ax=ax)
        figure.text(0.25 + 0.5 * k, 0.93, title, ha="center", fontsize=12)
    return figure


def moving_carrier(folder: Path) -> Path:
    """The same as a moving picture."""
    made = _tutorial("platform.md", "run")
    return made["machine"].animate(made["run"], folder / "carrier.gif", speed=4.0, frames=["tool"])


def _cart_from_above(ax: Any, pose: Any, steering: float, made: dict[str, Any], color: str) -> None:
    """Chassis and wheels on the floor."""
    base, half, radius = made["wheelbase"], made["track"] / 2, made["radius"]
    x, y, heading = pose
    c, s = np.cos(heading), np.sin(heading)

    def line(points: Any, width: float) -> None:
        ahead, across = np.transpose(points)
        ax.plot(x + c * ahead - s * across, y + s * ahead + c * across, color=color, lw=width,
                solid_capstyle="butt" if width > 2 else "round")

    line([(0, half), (0, -half), (0.15, -0.22), (base, -0.12), (base, 0.12), (0.15, 0.22), (0, half)], 1.2)
    for place, angle in (((0, half), 0.0), ((0, -half), 0.0), ((base, 0), steering)):
        along = radius * np.array([np.cos(angle), np.sin(angle)])
        line([place - along, place + along], 5)


def walker() -> Any:
    """The walker of the tutorial: two strides, the torques of its joints, and what the ground gives."""
    made = _tutorial("walker.md", "power")
    walk, biped, t = made["walk"], made["biped"], made["t"]
    figure = plt.figure(figsize=(12, 6.4), layout="constrained")
    places = figure.subplot_mosaic([["strip", "left"], ["strip", "right"]], width_ratios=[1.05, 1])
    strip, left, right = (places[name] for name in ("strip", "left", "right"))
    for k in range(0, len(t), 21):
        shade = 0.3 + 0.7 * k / len(t)
        x, z, theta, *angles = walk["q"][k]
        strip.plot([x, x + 0.6 * np.sin(theta)], [z, z + 0.6 * np.cos(theta)], color="#555f6b", lw=3, alpha=shade,
                   solid_capstyle="round")
        for leg, color in enumerate((BLUE, RED)):
            points = [np.array([x, z])]
            for half, angle in zip((biped.half_thigh, biped.half_shank), angles[2 * leg:2 * leg + 2], strict=True):
                points.append(points[-1] - 2 * half * np.array([np.sin(angle), np.cos(angle)]))
            strip.plot(*np.transpose(points), color=color, lw=2.2, alpha=shade, solid_capstyle="round")
        strip.plot(x, z, "o", color="#333333", ms=4, alpha=shade)
    for foot, color in enumerate((BLUE, RED)):
        strip.plot(*walk["feet"][:, 2 * foot:2 * foot + 2].T, color=color, lw=0.9, ls=(0, (4, 2)))
    strip.axhline(0.0, color="#333333", lw=1.0)
    strip.set(aspect="equal", title="two strides, every 60 ms: leg 1 blue, leg 2 red")
    strip.margins(0.02)
    strip.set_axis_off()
    for column, (color, style, name) in enumerate(((BLUE, "-", "knee 1"), (RED, "-", "knee 2"), (BLUE, "--", "hip 1"),
                                                   (RED, "--", "hip 2"))):
        left.plot(t, walk["torques"][:, column], color=color, ls=style, label=name)
    left.set(xlabel="time [s]", ylabel="torque [N m]", title="what the drives give")
    for column, (color, style, name) in enumerate(((BLUE, "--", "foot 1 along"), (BLUE, "-", "foot 1 up"),
                                                   (RED, "--", "foot 2 along"), (RED, "-", "foot 2 up"))):
        right.plot(t, walk["reactions"][:, column], color=color, ls=style, label=name)
    right.axhline(biped.mass * biped.gravity, color=GREY, lw=0.8, ls=":")
    right.set(xlabel="time [s]", ylabel="force [N]", title="what the ground gives; dotted: the weight")
    for ax in (left, right):
        for stride in range(2):
            lands = stride * made["period"] + made["swing"]
            ax.axvspan(lands, (stride + 1) * made["period"], color=GREY, alpha=0.15, lw=0)
        ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def _press() -> cy.Mechanism:
    return _tutorial("loops.md", "press")["press"]


def _tutorial(page: str, until: str) -> dict[str, Any]:
    """What a tutorial has made, by its own lines, when it has come to a name."""
    return _page(f"tutorials/{page}", until)


def _page(page: str, until: str) -> dict[str, Any]:
    text = (Path(__file__).parents[1] / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for example in DocTestParser().get_examples(text):
        if until not in names and example.exc_msg is None:
            exec(example.source, names)
    return names


def front() -> Any:
    """A robot in motion, its manipulability and its costs."""
    figure = plt.figure(figsize=(11, 4.2), layout="constrained")
    ax = figure.add_subplot(1, 2, 1, projection="3d")
    ax.view_init(elev=20, azim=-55)
    ax.set_axis_off()
    ax.set_box_aspect(None, zoom=1.35)
    swing = np.linspace([-0.9, -0.2, 0.0, -2.2, 0.0, 2.0, 0.5], [0.9, 0.6, 0.2, -1.5, 0.1, 2.1, 0.5], 6)
    stick_figure(cy.load("panda").tree, swing, ground=False, labels=False, ax=ax)
    bars = figure.add_subplot(1, 2, 2)
    puma = cy.load("puma560")
    names = [
        "uicker-kahn", "waters", "hollerbach-3x3", "kane", "featherstone", "luh-walker-paul",
        "newton-euler-in-model-frames", "newton-euler"]
    counted = [puma.inverse_dynamics.using(name).operations() for name in names]
    total = [cost.multiplications + cost.additions for cost in counted]
    bars.barh(names, total, color=[GREY] * (len(names) - 1) + [BLUE])
    bars.invert_yaxis()
    for place, value in enumerate(total):
        bars.text(value * 1.05, place, str(value), va="center", fontsize=9)
    bars.set(xscale="log", xlim=(100, 9000), xlabel="multiplications + additions")
    bars.set_title("inverse dynamics of the PUMA 560, compiled")
    bars.spines[["top", "right"]].set_visible(False)
    return figure


def elastic_drives() -> Any:
    """An arm with its motors beside its joints, and what a pulse of a motor does to it through a soft and a stiff
    spring."""
    figure = plt.figure(figsize=(9.6, 3.9))
    shown = cy.load("puma560")
    for name, place in zip(("joint2", "joint3", "joint4"), ((0.0, 0.12, 0.0), (0.0, 0.0, 0.18), (0.0, -0.1, 0.1)),
                           strict=True):
        moved = np.eye(4)
        moved[:3, 3] = place
        home = np.asarray(shown.joints[shown.joint_number(name)].placement) @ moved
        shown = shown.with_drive(name, stiffness=1e4, gear=100.0, mass=0.3, inertia=2e-4, place=home)
    soft = shown.including("elastic drives")
    space = figure.add_subplot(1, 2, 1, projection="3d")
    stick_figure(soft.tree, [0.4, -0.6, 0.5, 0.3, 0.8, 0.0, 0.0, 0.0, 0.0], ax=space, labels=False)
    space.set_title("motors beside their joints")
    ax = figure.add_subplot(1, 2, 2)
    t = np.linspace(0.0, 0.5, 800)
    for stiffness, color in ((60.0, ORANGE), (1500.0, BLUE)):
        arm = cy.load("planar2r").with_gravity([0.0, 0.0, 0.0]).with_drive(
            "joint1", stiffness=stiffness, gear=50.0, inertia=2e-4).with_drive("joint2", stiffness=200.0, inertia=0.2)
        run = arm.including("elastic drives").simulate(
            np.zeros(4), np.zeros(4), times=t, controller=lambda t, q, qd: [0.0, 0.0, 0.3 * (t < 0.1), 0.0],
            max_step=2e-3, progress=False)
        ax.plot(run.t, run.q[:, 2] / 50, color=color, lw=1.1, ls="--")
        ax.plot(run.t, run.q[:, 0], color=color, lw=1.8, label=f"{stiffness:g} N m/rad")
    ax.set(xlabel="t [s]", ylabel="joint; motor behind its gear (dashed) [rad]",
           title="a pulse of a motor through its spring")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    return figure


def wrong_stiffness() -> Any:
    """Steps under a law that believes in other springs, by the lines of the page about it."""
    names = _tutorial("../feedback_linearisation.md", "response")
    figure, both = plt.subplots(1, 2, figsize=(9.5, 3.4), layout="constrained", sharey=True)
    for ax, poles, believed in ((both[0], -25.0, (0.7, 0.85, 1.0, 1.15, 1.3)), (both[1], -10.0, (0.85, 1.0, 1.15))):
        for factor in believed:
            run = names["response"](factor, poles)
            color = BLUE if factor == 1 else plt.get_cmap("autumn")((factor - 0.6) / 0.9)
            ax.plot(run.t, run["q"][:, 0], color=color, linewidth=2.2 if factor == 1 else 1.4,
                    label=f"{100 * factor:.0f} %", zorder=3 if factor == 1 else 2)
        ax.axhline(names["target"][0], color=GREY, linewidth=0.8, linestyle=":")
        ax.set(title=f"four poles at {poles:g} 1/s", xlabel="t [s]", ylim=(-0.1, 1.2))
        ax.spines[["top", "right"]].set_visible(False)
    both[0].set_ylabel("angle of joint 1 [rad]")
    figure.legend(*both[0].get_legend_handles_labels(), title="stiffness\nbelieved", frameon=False,
                  loc="outside right center")
    return figure


def unknown_payload() -> Any:
    """An arm with a payload that its law does not know and with one that learns it, by the lines of the page."""
    names = _tutorial("../adaptive.md", "lost")
    lost, found = names["lost"], names["found"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.6), layout="constrained")
    for run, color, words in ((lost, ORANGE, "model without payload"), (found, BLUE, "adaptive")):
        error = np.abs(run["target"] - run["q"]).max(axis=1)
        left.semilogy(run.t[1:], error[1:], color=color, linewidth=1.2, label=words)
    left.set(xlabel="t [s]", ylabel="largest error [rad]", title="tracking", ylim=(1e-6, 1.0))
    true = (0.8, 0.8 * 0.05, 0.8 * 0.02)
    for k, (color, words) in enumerate(((BLUE, "m [kg]"), (GREEN, "ux [kg m]"), (RED, "uy [kg m]"))):
        right.plot(found.t, found["estimate"][:, k], color=color, label=words)
        right.axhline(true[k], color=color, linewidth=0.8, linestyle=":")
    right.set(xlabel="t [s]", ylabel="estimate", title="what the arm carries, and what it is (dotted)")
    left.legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.65))
    right.legend(frameon=False, loc="center right")
    return _quiet(figure, left, right)


def learned_motion() -> Any:
    """A motion that is learned by repeating it, by the lines of the page."""
    return _tutorial("../adaptive.md", "learned")["learned"].plot()


def peg() -> Any:
    """A peg on a wall: postures, positions and force against time, by the lines of the page about it."""
    names = _tutorial("../force.md", "run")
    run, arm = names["run"], names["arm"]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained",
                                                 width_ratios=[1.1, 1, 1])
    place = arm.pose(run["q"], "tool")[:, :2, 3]
    touch = int(np.argmax(run["depth"] > 0))
    stick_figure(arm.tree, run["q"][[0, touch, touch + int(np.argmax(place[touch:, 0]))]], frames=(), labels=False,
                 ground=False, ax=left)
    left.axhspan(-0.5, -0.3, color="#d9d4cc", zorder=0)
    left.axhline(-0.3, color=GREY, linewidth=1.2)
    foot = place[touch:, 0].max()
    left.annotate("30 N", (foot, -0.3), (foot, -0.48), color=RED, ha="center", va="center",
                  arrowprops={"arrowstyle": "-|>", "color": RED, "linewidth": 1.8})
    left.set(title="lowered, and moved along the wall")
    left.set_aspect("equal", adjustable="box")
    left.set(ylim=(-0.5, 0.2), xlim=(-0.08, 0.9))
    middle.plot(run.t, place[:, 0], color=BLUE, label="along the wall")
    middle.plot(run.t, 0.66 + 0.1 * np.cos(3 * run.t), color=GREY, linewidth=0.9, linestyle="--", label="its target")
    middle.plot(run.t, place[:, 1], color=GREEN, label="across it")
    middle.axhline(-0.3, color=GREY, linewidth=0.8, linestyle=":")
    middle.set(xlabel="t [s]", ylabel="peg [m]", title="position")
    middle.legend(frameon=False, loc="center right")
    R = arm.pose(run["q"], "tool")[:, :3, :3]
    force = (R @ run["wrench_tool"][:, :3, None])[..., 0]
    right.plot(run.t, force[:, 1], color=RED, label="across the wall")
    right.plot(run.t, force[:, 0], color=ORANGE, linewidth=1.2, label="friction along it")
    right.axhline(30.0, color=GREY, linewidth=0.8, linestyle=":")
    right.set(xlabel="t [s]", ylabel="force on the peg [N]", title="force")
    right.legend(frameon=False, loc="upper right")
    for ax in (middle, right):
        ax.axvline(run.t[touch], color=GREY, linewidth=0.8)
    return _quiet(figure, middle, right)


def servo() -> Any:
    """The arm of the tutorial under its PID, in a step and along a motion."""
    made = _tutorial("servo.md", "followed")
    figure, axes = plt.subplots(2, 3, figsize=(11.0, 5.0), layout="constrained", sharex=True)
    for row, run, word in zip(axes, (made["jump"], made["followed"]), ("a target that jumps", "a target that moves"),
                              strict=True):
        wanted = made["move"].position(run.t) if run is made["followed"] else np.tile(made["target"], (len(run.t), 1))
        for ax, name, unit in zip(row, ("q", "voltage", "current"), ("angles [rad]", "voltages [V]", "currents [A]"),
                                  strict=True):
            for k, (joint, color) in enumerate((("shoulder", BLUE), ("elbow", ORANGE))):
                ax.plot(run.t, run[name][:, k], color=color, linewidth=1.6, label=joint)
                if name == "q":
                    ax.plot(run.t, wanted[:, k], color=color, linewidth=0.9, linestyle=":")
            if name == "voltage":
                for side in (-24.0, 24.0):
                    ax.axhline(side, color=RED, linewidth=0.9, linestyle="--")
            ax.set_title(f"{word}: {unit}", fontsize=9)
            ax.grid(color="#e3e7ec", linewidth=0.6)
    axes[0, 0].legend(fontsize=8, frameon=False)
    for ax in axes[1]:
        ax.set_xlabel("t [s]")
    return figure


def laws_with_a_load() -> Any:
    """A step of three laws with a load that they do not know, and what a digital law that is late does."""
    arm = cy.load("planar2r")
    loaded = arm.with_payload("tool", 0.5)
    figure, (loads, delays) = plt.subplots(1, 2, figsize=(10.0, 3.6), layout="constrained")
    target = np.array([0.5, -0.3])
    start = {"q": np.zeros(2), "qd": np.zeros(2)}
    for law, color, words in ((arm.control.pd(200.0, 40.0), GREY, "PD"),
                              (arm.control.pd_with_gravity(200.0, 40.0), BLUE, "PD with gravity"),
                              (arm.control.computed_torque(100.0, 20.0), ORANGE, "computed torque"),
                              (arm.control.computed_torque(100.0, 20.0, 200.0), GREEN, "computed torque, ki")):
        run = cy.connect(loaded, law).rollout()(start, step=1e-3, steps=2500, inputs={"target": target})
        loads.plot(run.t, run["q"][:, 0], color=color, label=words)
    loads.axhline(0.5, color=RED, linewidth=0.9, linestyle="--")
    loads.set_title("joint 1 with a load of 0.5 kg that no law knows [rad]", fontsize=9)
    for late, color in ((0, GREY), (3, BLUE), (4, ORANGE)):
        law = digital(arm.control.computed_torque(100.0, 20.0), 10e-3, late=late)
        run = cy.connect(arm, law).rollout()(start, step=1e-3, steps=1500, inputs={"target": target})
        delays.plot(run.t, run["q"][:, 0], color=color, label=f"{late} periods late")
    delays.axhline(0.5, color=RED, linewidth=0.9, linestyle="--")
    delays.set_title("the same joint under computed torque at 100 Hz [rad]", fontsize=9)
    for ax in (loads, delays):
        ax.set_xlabel("t [s]")
        ax.legend(fontsize=8, frameon=False, loc="lower right")
        ax.grid(color="#e3e7ec", linewidth=0.6)
    return figure


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
    return _quiet(figure, above, below)


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
    return _quiet(figure, left, right)


def motion() -> Any:
    """The motion of the tutorial: joints, velocities, torques as shares of their limits, and the way of the tool."""
    made = _tutorial("motion.md", "speed")
    arm, quick, most, way = made["arm"], made["quick"], made["most"], made["way"]
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
    side.plot(*way.T, color=RED, linewidth=2.0)
    side.scatter(*arm.pose(made["points"], "tool")[:, :3, 3].T, color="#333333", s=18)
    _quiet(figure, *panels)
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
    return _quiet(figure, *panels)


def limit_use() -> Any:
    """A motion through four configurations of a Panda, and what it uses of its limits."""
    arm = cy.load("panda")
    limits = MotionLimits.of(arm, acceleration=10.0, jerk=200.0)
    way = [[0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], [0.5, 0.1, 0.0, -1.6, 0.0, 1.6, 0.4],
           [1.0, 0.3, 0.0, -1.0, 0.0, 1.6, 0.0], [1.2, 0.5, 0.2, -0.8, 0.0, 1.5, -0.2]]
    return limits_used(time_optimal(way, limits), limits).plot()


def fastest() -> Any:
    """The fastest motions of the tutorial, without and with limits of jerk."""
    made = _tutorial("motion.md", "smooth")
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
    return _quiet(figure, *panels.flat)


def block_diagram_of_an_arm() -> Any:
    """Three rods in a plane as a network: motion outwards, wrenches inwards."""
    arm = planar_rods([2.0, 1.5, 0.8], [0.5, 0.4, 0.3])
    return draw_block_diagram(block_diagram(arm.instant(np.zeros(3), np.zeros(3)), "a planar arm of three links"))


def logarithm() -> Any:
    """A four-bar for the logarithm, and its errors by the choice of the precision points."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
    dials = {"psi": tuple(np.radians((45.0, 105.0))), "phi": tuple(np.radians((135.0, 225.0)))}
    fits = {"Chebyshev's points": chebyshev_generator(np.log10, (1.0, 2.0), **dials),
            "best points": best_generator(np.log10, (1.0, 2.0), **dials),
            "best points and dials": best_generator(np.log10, (1.0, 2.0), **dials, free_dials=True)}
    best = fits["best points"]
    mode = int(best.design.structural_error().modes[0])
    stick_figure(best.design.tree(), best.design.configuration(np.linspace(*dials["psi"], 5), mode), frames=(), ax=left)
    x = np.linspace(1.0, 2.0, 400)
    for (name, fit), color in zip(fits.items(), (GREY, BLUE, ORANGE), strict=True):
        right.plot(x, np.degrees(fit.error(x)), color=color, label=name)
        right.plot(fit.precision_points, 0 * fit.precision_points, "o", color=color, markersize=4)
    right.set_xlabel("x")
    right.set_ylabel("structural error [degrees]")
    right.legend(frameon=False, fontsize="small")
    return _quiet(figure, right)


def guidance() -> Any:
    """The four-bar of the page that carries a body through five poses."""
    return draw_guidance(_tutorial("../synthesis.md", "carried")["carried"][0])


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
    return _quiet(figure, right)


def _quiet(figure: Any, *axes: Any) -> Any:
    for ax in axes:
        ax.grid(color="#e3e7ec", linewidth=0.6)
        ax.margins(x=0.01)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure


def growth() -> Any:
    """How generated equations grow with the number of joints, beside what is published."""
    joints = np.arange(1, 9)
    sizes = {name: grown(joints, elastic=name == "elastic") for name in ("elastic", "rigid")}
    figure, (shared, swollen) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for (name, found), color in zip(sizes.items(), (BLUE, GREEN), strict=True):
        counts = [size.inverse_dynamics.multiplications + size.inverse_dynamics.additions for size in found]
        shared.plot(joints, counts, "o-", color=color, label=f"{name} joints, generated: B, C, G, E")
        swollen.semilogy(joints, [size.written_out for size in found], "s--", color=color,
                         label=f"{name}, nothing shared")
        swollen.semilogy(joints, [size.terms.multiplications + size.terms.additions for size in found], "o-",
                         color=color, label=f"{name}, as generated")
    own = {name: [cy.Mechanism(make(n)).inverse_dynamics.operations() for n in joints] for name, make in
           (("elastic", elastic_generic_arm), ("rigid", lambda n: generic_arm([GENERAL] * n)))}
    for (name, found), color in zip(own.items(), (BLUE, GREEN), strict=True):
        shared.plot(joints, [cost.multiplications + cost.additions for cost in found], ":", color=color,
                    label=f"{name} joints, compiled by default")
    for bodies, words, style in ((1, "published, n rigid joints: 281 n - 119", "-"),
                                 (2, "the same with 2n bodies", "--")):
        shared.plot(joints, 281 * bodies * joints - 119, style, color=ORANGE, linewidth=1, label=words)
    shared.set(xlabel="joints", ylabel="multiplications + additions", title="inverse dynamics", ylim=(0, 5200))
    swollen.set(xlabel="joints", ylabel="operations of all terms", title="what sharing saves")
    for ax in (shared, swollen):
        ax.legend(fontsize=8, frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    return figure


def swing_up() -> Any:
    """The swing-up of the tutorial: angles of twenty pendulums, and what each state is worth to them."""
    made = _tutorial("learning.md", "value")
    exam = made["episodes"](20, lambda u: {"angle": 0.4 * (u[0] - 0.5), "speed": 0.0, "mass": 0.9 + 0.2 * u[2]})
    seen, _ = exam.reset(seed=5)
    states = [exam.x.copy()]
    for _ in range(59):
        best = made["value"][made["cell"](seen)].argmax(1)
        seen = exam.step(made["torques"][best][:, None])[0]
        states.append(exam.x.copy())
    angle, speed = np.moveaxis(np.stack(states), -1, 0)
    figure, (time, worth) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    time.plot(0.1 * np.arange(60), np.degrees(angle), color=BLUE, linewidth=0.8, alpha=0.7)
    for upright in (-180, 180):
        time.axhline(upright, color=GREEN, linestyle="--", linewidth=1)
    time.set(xlabel="time [s]", ylabel="angle [°]", title="twenty pendulums that hang at first", yticks=[-180, 0, 180])
    table = made["value"].max(1).reshape(60, 61)
    shown = worth.imshow(table.T, origin="lower", aspect="auto", extent=(-180, 180, -10, 10), cmap="viridis")
    one = np.degrees(angle[:, 0])
    turned = (one + 180) % 360 - 180
    worth.plot(np.where(np.abs(np.diff(turned, append=turned[-1])) > 180, np.nan, turned), speed[:, 0], "o-",
               color="white", markersize=2.5, linewidth=0.8)
    worth.set(xlabel="angle [°]", ylabel="speed [rad/s]", title="what a state is worth, and one way up",
              xticks=[-180, 0, 180])
    figure.colorbar(shown, ax=worth, label="rewards to come")
    time.spines[["top", "right"]].set_visible(False)
    return figure


def driven_rod() -> cy.Mechanism:
    """The joint of the page on stability."""
    rod = cy.Mechanism.from_dh([(0, 0, 0.5, 0)], convention="standard", name="rod", masses=[1.0],
                               centers=[[-0.25, 0, 0]], inertias=[np.diag([0, 1, 1]) / 48])
    return rod.with_drive("joint1", inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05, 5e-3))


def joint_model() -> LinearModel:
    rod = driven_rod().including("armature")
    return linear_model(cy.connect(rod, rod.control.motors()), {"q": [0.0], "qd": [0.0], "current": [0.0]},
                        inputs={"voltage": [0.0]})


def bode() -> Any:
    """The frequency response of a joint behind its motor."""
    return joint_model().bode("voltage[0]", "q[0]").plot()


def root_locus() -> Any:
    """Its poles as its gain grows."""
    return joint_model().root_locus("voltage[0]", "q[0]").plot()


def attraction() -> Any:
    """A rod that stands up, by a motor that cannot lift it from everywhere."""
    rod = driven_rod().with_gravity([0.0, -9.81, 0.0])
    loop = cy.connect(rod, rod.control.pd(30.0, 2.0).renamed({"tau": "wanted_tau"}), saturation("tau", [2.0]))
    return region_of_attraction(
        loop, {"q": [np.pi / 2], "qd": [0.0]}, slice={"q[0]": (-4.0, 4.0), "qd[0]": (-12.0, 12.0)},
        inputs={"target": [np.pi / 2]}, shape=(200, 200), until=8.0, step=4e-3).plot()


def tuned_gains() -> Any:
    """The joints of the page on gradients, before and after its damping was tuned."""
    made = _page("gradients.md", "tuned")
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.0), layout="constrained", sharey=True)
    for ax, kd, word in zip(axes, ([2.0, 0.5], made["tuned"].x), ("before", "after"), strict=True):
        run = made["roll"](np.zeros(2), np.zeros(2), kd=kd, step=2e-3, steps=600)
        for k, (joint, color) in enumerate((("shoulder", BLUE), ("elbow", ORANGE))):
            ax.plot(run.t, run.q[:, k], color=color, linewidth=1.6, label=joint)
            ax.axhline(made["goal"][k], color=color, linewidth=0.9, linestyle=":")
        ax.set_title(f"{word}: damping {kd[0]:.1f} and {kd[1]:.1f} N m s, loss {made['loss'](kd)[0]:.1f}", fontsize=9)
        ax.set_xlabel("t [s]")
        ax.grid(color="#e3e7ec", linewidth=0.6)
    axes[0].set_ylabel("angles [rad]")
    axes[1].legend(fontsize=8, frameon=False, loc="lower right")
    return figure


PICTURES: dict[str, Callable[[], Any]] = {
    made.__name__: made
    for made in (denavit_hartenberg, active_rotation, vector_parameter, twists_and_wrenches, gravity_and_wrenches,
                 jacobian_axes, planar_arm, ellipses, fall, draft, press, cart, carrier, walker, elastic_drives,
                 wrong_stiffness, unknown_payload, learned_motion, servo, laws_with_a_load, peg, spline_ends,
                 rotation_curves, laws, limit_use, motion, fastest, block_diagram_of_an_arm, logarithm, guidance, weld,
                 growth, swing_up, bode, root_locus, attraction, tuned_gains, front)}


def main(folder: Path) -> list[Path]:
    """Draw all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, made in PICTURES.items():
        figure = made()
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], metadata={"Software": None})
        plt.close(figure)
    return paths


if __name__ == "__main__":
    place = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    main(place)
    moving_carrier(place)
