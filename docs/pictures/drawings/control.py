"""Pictures of drives and controlled arms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import cayley as cy
from cayley.control import LinearModel, digital, linear_model, region_of_attraction, saturation
from cayley.drawing import stick_figure
from cayley.model.winding import Winding
from drawings.canvas import BLUE, GREEN, GREY, ORANGE, RED, quiet
from drawings.pages import made_by_page


def elastic_drives() -> Any:
    """An arm with its motors beside its joints, and what a pulse of a motor does to it through a soft and a stiff
    spring."""
    figure = plt.figure(figsize=(9.6, 3.9))
    shown = cy.load("puma560")
    for name, place in zip(("joint2", "joint3", "joint4"), ((0.0, 0.12, 0.0), (0.0, 0.0, 0.18), (0.0, -0.1, 0.1)),
                           strict=True):
        moved = np.eye(4)
        moved[:3, 3] = place
        home = np.asarray(shown.joints[shown.tree.joint_number(name)].placement) @ moved
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
    names = made_by_page("motion_and_control/feedback_linearisation.md", "response")
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
    names = made_by_page("motion_and_control/adaptive.md", "lost")
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
    return quiet(figure, left, right)


def learned_motion() -> Any:
    """A motion that is learned by repeating it, by the lines of the page."""
    return made_by_page("motion_and_control/adaptive.md", "learned")["learned"].plot()


def peg() -> Any:
    """A peg on a wall: postures, positions and force against time, by the lines of the page about it."""
    names = made_by_page("motion_and_control/force.md", "run")
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
    return quiet(figure, middle, right)


def servo() -> Any:
    """The arm of the tutorial under its PID, in a step and along a motion."""
    made = made_by_page("motion_and_control/servo_tutorial.md", "followed")
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


def swing_up() -> Any:
    """The swing-up of the tutorial: angles of twenty pendulums, and what each state is worth to them."""
    made = made_by_page("motion_and_control/learning_tutorial.md", "value")
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


def reaching(folder: Path) -> None:
    """The tutorial on PPO: distances from the goals while the policy learns, and the paths of eight tools.

    It is not among the `PICTURES`, which tests draw: it learns for two minutes."""
    made = made_by_page("motion_and_control/reaching.md", "learn")
    nets, misses = made["learn"](made["episodes"](4096), updates=250)
    exam, arm = made["episodes"](8), made["arm"]
    seen, _ = exam.reset(seed=7)
    states = [exam.x[:, :7].copy()]
    goals = exam.parameters["goal"].copy()
    for _ in range(63):
        seen, *_ = exam.step(np.asarray(made["applied"](nets["policy"], seen)))
        states.append(exam.x[:, :7].copy())
    tools = arm.pose(np.stack(states), "tool")[..., :3, 3]
    figure = plt.figure(figsize=(10, 3.8), layout="constrained")
    curve, paths = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d")
    curve.semilogy(np.arange(1, 251), 1e3 * np.array(misses), color=BLUE)
    curve.set(xlabel="updates", ylabel="distance from the goal [mm]", title="4 096 arms learn, with random masses")
    curve.spines[["top", "right"]].set_visible(False)
    for k in range(8):
        paths.plot(*tools[:, k].T, color=BLUE, linewidth=1)
        paths.plot(*tools[:1, k].T, "o", color=BLUE, markersize=3)
    paths.plot(*goals.T, "x", color=GREEN, markersize=7)
    paths.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title="eight tools and their goals (x)")
    paths.set_box_aspect((0.6, 0.9, 0.7))
    figure.savefig(folder / "reaching.png", metadata={"Software": None})
    plt.close(figure)


def hopping(folder: Path) -> None:
    """The tutorial on a hopper: rewards while the policy learns, and one robot every 60 ms.

    It is not among the `PICTURES`, which tests draw: it learns for a minute."""
    made = made_by_page("motion_and_control/hopping.md", "learn")
    nets, rewards = made["learn"](made["episodes"](1024), updates=200)
    exam, robot = made["episodes"](1), made["hopper"]
    seen = exam.reset(seed=9)
    states = []
    for _ in range(100):
        seen = exam.step(np.asarray(made["applied"](nets["policy"], seen))).seen
        states.append(np.array(exam.arrays["x"][0, :5], float))
    shown = np.stack(states[40::3])
    places = np.stack([robot.pose(shown, name)[:, :3, 3] for name in ("hull", "shin", "foot")])
    top = places[0] + 0.18 * robot.pose(shown, "hull")[:, :3, 2]
    figure, (curve, way) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", width_ratios=(1, 2))
    curve.plot(np.arange(1, 201), rewards, color=BLUE)
    curve.set(xlabel="updates", ylabel="mean reward of an action", title="1 024 hoppers learn")
    for k in range(len(shown)):
        way.plot(places[:, k, 0], places[:, k, 2], color=BLUE, linewidth=1.5)
        way.plot(*np.stack([places[0, k], top[k]])[:, [0, 2]].T, color=GREEN, linewidth=4, solid_capstyle="round")
        way.add_patch(plt.Circle(places[2, k, [0, 2]], 0.04, color=BLUE, fill=False))
    way.axhline(0.0, color="#333333", linewidth=1)
    way.set(xlabel="x [m]", ylabel="z [m]", title="one of them, every 60 ms", aspect="equal")
    for axes in (curve, way):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "hopping.png", metadata={"Software": None})
    plt.close(figure)


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
    made = made_by_page("robots/gradients.md", "tuned")
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


def balance() -> Any:
    """The quadruped of the tutorial: the path of its foot, and which limits are active when."""
    made = made_by_page("motion_and_control/balance_tutorial.md", "share")
    dog, path, t = (made[name] for name in ("dog", "path", "t"))
    used = {name: made["where"][name] for name in made["share"]}
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained", width_ratios=[1, 1.8])
    foot = np.asarray(dog.pose(path, made["drawing"]))[:, :3, 3]
    left.plot(*made["point"][:, [0, 2]].T, color=GREY, lw=3, label="asked")
    left.plot(*foot[:, [0, 2]].T, color=BLUE, label="drawn")
    left.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="the foot that draws")
    left.legend(frameon=False, loc="center")
    for row, marks in enumerate(used.values()):
        right.fill_between(t, row + 0.1, row + 0.9, where=marks, color=RED, step="mid", lw=0)
    right.set(yticks=np.arange(len(used)) + 0.5, yticklabels=list(used), xlim=(0.0, t[-1]), ylim=(len(used), 0),
              xlabel="time [s]", title="active limits")
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def moving_balance(folder: Path) -> Path:
    """The quadruped that draws, as a moving picture."""
    made = made_by_page("motion_and_control/balance_tutorial.md", "run")
    return made["dog"].animate(made["run"], folder / "balance.gif", frames=[made["drawing"]])


PICTURES = (balance, elastic_drives, wrong_stiffness, unknown_payload, learned_motion, servo, laws_with_a_load, peg,
            swing_up, bode, root_locus, attraction, tuned_gains)
