"""Pictures of machines with loops, wheels and feet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import cayley as cy
from cayley.drawing import stick_figure
from cayley.drawing.linkage_designs import draw_guidance
from cayley.geometry.convex_shapes import Box
from cayley.machines.networks import block_diagram, draw_block_diagram
from cayley.machines.networks import planar_arm as planar_rods
from cayley.model.joint_kinds import Floating
from cayley.model.parts import Body, Joint
from drawings.canvas import BLUE, GREY, RED
from drawings.pages import made_by_page


def press() -> Any:
    """The knuckle-joint press of the tutorial: in six positions, its stroke, and the torque that a coin asks for."""
    machine = _press()
    q = machine.loops.close([0.0, 2.8, -1.0, -1.1, 0.1], fixed=["crank"]).configuration
    turn = np.radians(np.arange(361.0))
    path = machine.loops.follow_inputs({"crank": turn}, start=q).configuration
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
    qd, qdd = machine.loops.actuated_motion(path, speed), machine.loops.actuated_acceleration(path, speed, 0 * speed)
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


def _press() -> cy.Mechanism:
    return made_by_page("machines/loops_tutorial.md", "press")["press"]


def cart() -> Any:
    """The cart of the tutorial: from above, its way into the bay, and what its drives give."""
    made = made_by_page("machines/cart.md", "needed")
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


def carrier() -> Any:
    """The platform of the tutorial on its way, and its arm at work."""
    made = made_by_page("machines/platform.md", "task")
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
    made = made_by_page("machines/platform.md", "run")
    return made["machine"].animate(made["run"], folder / "carrier.gif", speed=4.0, frames=["tool"])


def walker() -> Any:
    """The walker of the tutorial: two strides, the torques of its joints, and what the ground gives."""
    made = made_by_page("machines/walker_tutorial.md", "power")
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


def block_diagram_of_an_arm() -> Any:
    """Three rods in a plane as a network: motion outwards, wrenches inwards."""
    arm = planar_rods([2.0, 1.5, 0.8], [0.5, 0.4, 0.3])
    return draw_block_diagram(block_diagram(arm.instant(np.zeros(3), np.zeros(3)), "a planar arm of three links"))


def guidance() -> Any:
    """The four-bar of the page that carries a body through five poses."""
    return draw_guidance(made_by_page("machines/synthesis.md", "carried")["carried"][0])


def parallel_machines() -> Any:
    """The Delta and the 3-RRR of the page that makes them from their dimensions."""
    made = made_by_page("machines/parallel_tutorial.md", "shape")
    figure = plt.figure(figsize=(12, 8.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=[1, 1])
    made["machine"].draw(made["start"], labels=False, ax=figure.add_subplot(grid[0, 0], projection="3d"))
    figure.axes[0].set_title("a Delta above its belt")
    torques = figure.add_subplot(grid[0, 1])
    for k, joint in enumerate(made["motors"]):
        torques.plot(made["profile"].t, made["profile"].tau[:, joint], label=f"crank {k + 1}")
    torques.set(xlabel="t [s]", ylabel="torque [N m]", title="its motors along the path")
    torques.legend(frameon=False)
    made["delta"].workspace(height=-0.42).plot(ax=figure.add_subplot(grid[1, 0]))
    made["shape"].workspace(phi=0.0, mode=7).plot(ax=figure.add_subplot(grid[1, 1]))
    return figure


def contacts() -> Any:
    """Five boxes on each other, each of the upper four farther to the side: the forces of contacts in their cones."""
    size = np.array([0.3, 0.25, 0.2])
    names = [f"box {k}" for k in range(1, 6)]
    inertia = np.diag((size**2).sum() - size**2) / 12
    boxes = cy.Mechanism.of("boxes", [Body("ground"), *[Body(name, 1.0, (0, 0, 0), inertia) for name in names]],
                            [Joint(f"joint of {name}", "ground", name, Floating()) for name in names])
    apart = [(one, other) for k, one in enumerate(names) for other in ["ground", *names][k + 3:]]
    boxes = boxes.with_contacts(shapes={name: Box(size) for name in names}, friction=0.5,
                                exclude=[*apart, *[("ground", name) for name in names[1:]]])
    q = boxes.neutral.copy().reshape(5, 7)
    q[:, 0], q[:, 2] = 0.03 * np.arange(5), 0.1 + 0.2 * np.arange(5)
    run = boxes.rollout()(q.ravel(), np.zeros(30), step=1e-3, steps=200, every=100)
    return run.draw([0.2], frames=()).figure


PICTURES = (contacts, press, cart, carrier, walker, block_diagram_of_an_arm, guidance, parallel_machines)
