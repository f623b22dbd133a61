"""Pictures of arms, in the first tutorials."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc

import cayley as cy
from cayley.drawing import draw_ellipsoids, stick_figure, workspace
from cayley.dynamics.accounting.counted_run import GENERAL, generic_arm
from cayley.dynamics.generated_model import elastic_generic_arm
from cayley.dynamics.generated_model import growth as grown
from cayley.simulation import simulate
from drawings.canvas import BLUE, GREEN, GREY, ORANGE, RED, flat_triad


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
    workspace(arm, "tool", samples=100_000).plot(figure=figure)
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


PICTURES = (planar_arm, ellipses, fall, draft, growth)
