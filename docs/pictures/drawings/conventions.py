"""Pictures of the page on conventions."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc

import cayley as cy
from cayley.drawing import stick_figure
from cayley.geometry.rotations import matrix_from_vector_parameter
from cayley.model.denavit_hartenberg.table import DHRow, modified_dh_pose, standard_dh_pose
from cayley.planning import best_generator, chebyshev_generator
from drawings.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    around,
    arrow,
    axis_line,
    dimension,
    equal,
    flat,
    flat_arrow,
    flat_triad,
    flat_turn,
    in_space,
    line,
    quiet,
    triad,
)


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
    return quiet(figure, right)


PICTURES = (denavit_hartenberg, active_rotation, vector_parameter, twists_and_wrenches, gravity_and_wrenches,
            jacobian_axes, logarithm)
