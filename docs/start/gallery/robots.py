"""The pictures of docs/start/gallery/robots.md. Run `python docs/start/gallery/robots.py [folder]`."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import files
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import cayley as cy
from cayley.drawing import draw_ellipsoids, manipulability_map, stick_figure, workspace
from cayley.model.report import ModelWarning

plt.rcParams.update({"figure.dpi": 110, "font.size": 10, "axes.edgecolor": "#333333"})

READY = np.array([0.3, 0.4, 0.2, -1.8, 0.1, 2.0, 0.5])
"""A posture of the Panda."""


def example_robot(name: str) -> cy.Mechanism:
    """A robot of the package example-robot-data."""
    path = next(file.locate() for file in files("example-robot-data") or () if str(file).endswith(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return cy.load(str(path))


def in_space(figure: plt.Figure, *place: int) -> plt.Axes:
    """Axes in space."""
    ax = figure.add_subplot(*place, projection="3d")
    ax.view_init(elev=20, azim=-55)
    return ax


def stick_figures() -> plt.Figure:
    """An arm with its frames, an arm in motion, a planar arm, a quadruped and a humanoid."""
    figure = plt.figure(figsize=(11, 7.4), layout="constrained")
    stick_figure(cy.load("panda").tree, READY, ax=in_space(figure, 2, 3, 1))
    stick_figure(cy.load("puma560").tree, [0.3, -0.6, 0.4, 0.3, 0.6, 0.5], frames="bodies",
                 ax=in_space(figure, 2, 3, 2))
    stick_figure(cy.load("scara").tree, np.linspace([-0.7, 0.2, 0.02, 0.0], [0.7, 1.1, 0.18, 0.0], 6),
                 ax=in_space(figure, 2, 3, 3))
    stick_figure(cy.load("planar3r").tree, np.linspace([0.1, 0.3, 0.2], [1.3, -0.9, -0.7], 6),
                 ax=figure.add_subplot(2, 3, 4))
    feet = [f"{leg}_FOOT" for leg in ("LF", "RF", "LH", "RH")]
    anymal = example_robot("anymal_b_simple_description/robots/anymal.urdf")
    q = anymal.neutral
    for leg in ("LF", "RF", "LH", "RH"):
        front = 1.0 if leg.endswith("F") else -1.0
        q[anymal.tree.q_slices[anymal.tree.joint_number(f"{leg}_HFE")]] = 0.7 * front
        q[anymal.tree.q_slices[anymal.tree.joint_number(f"{leg}_KFE")]] = -1.2 * front
    stick_figure(anymal.tree, q, frames=["base", *feet], ax=in_space(figure, 2, 3, 5))
    stick_figure(example_robot("talos_data/robots/talos_reduced.urdf").tree, ax=in_space(figure, 2, 3, 6))
    return figure


def reach() -> plt.Figure:
    """Where the flange of the Panda gets to."""
    return workspace(cy.load("panda").tree, "tool").plot()


def maps() -> plt.Figure:
    """The manipulability of PUMA's wrist over its shoulder and elbow, and over a section of the workspace."""
    figure, (joints, section) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    puma = cy.load("puma560").tree
    manipulability_map(puma, "tool", over=("joint2", "joint3")).plot(ax=joints)
    manipulability_map(puma, "tool", over="section").plot(ax=section)
    return figure


def ellipsoids() -> plt.Figure:
    """Velocities and forces of a planar arm, of the same arm stretched, and of the Panda."""
    figure = plt.figure(figsize=(12, 4.4), layout="constrained")
    arm, panda = cy.load("planar2r").tree, cy.load("panda").tree
    for place, q in ((1, [0.4, 0.9]), (2, [0.4, 0.0])):
        plane = figure.add_subplot(1, 3, place)
        stick_figure(arm, q, frames=(), ax=plane)
        draw_ellipsoids(arm, q, "tool", ax=plane)
    space = in_space(figure, 1, 3, 3)
    stick_figure(panda, READY, frames=(), ax=space)
    draw_ellipsoids(panda, READY, "tool", ax=space)
    return figure


def along(machine: cy.Mechanism, ends: dict[str, float], count: int = 4) -> np.ndarray:
    """Closed configurations on the way of some actuated joints from 0 to `ends`, each found from the one before."""
    found = [machine.neutral]
    for share in np.linspace(0.0, 1.0, 4 * count)[1:]:
        held = {joint: share * ends.get(joint, 0.0) for joint in machine.actuated_joints}
        found.append(machine.loops.close(found[-1], fixed=held).configuration)
    return np.stack(found[::4] + found[-1:])


def closed_machines() -> plt.Figure:
    """The machines with loops of the catalogue, those in a plane in motion."""
    figure = plt.figure(figsize=(14, 7.4), layout="constrained")
    moves = {
        "four_bar": {"crank": -1.2}, "slider_crank": {"crank": -1.1},
        "five_bar": {"left crank": 0.5, "right crank": 0.3},
        "three_rrr": {"crank 1": 0.5, "crank 2": 0.4, "crank 3": 0.2}, "gripper": {"left outer knuckle": 0.6}}
    for place, (name, ends) in enumerate(moves.items(), start=1):
        machine = cy.load(name)
        ax = figure.add_subplot(2, 4, place)
        stick_figure(machine.tree, along(machine, ends), frames=[] if name == "gripper" else ["tool"], ax=ax)
        ax.set_title(name)
    for place, name in enumerate(("delta", "stewart", "excavator"), start=6):
        ax = in_space(figure, 2, 4, place)
        stick_figure(cy.load(name).tree, ax=ax)
        ax.set_title(name)
    return figure


PICTURES = {"stick_figures": stick_figures, "closed_machines": closed_machines, "workspace": reach,
            "manipulability": maps, "ellipsoids": ellipsoids}


def main(folder: Path) -> list[Path]:
    """Draw every picture into `folder`."""
    paths = []
    for name, draw in PICTURES.items():
        figure = draw()
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1])
        plt.close(figure)
    return paths


if __name__ == "__main__":
    for drawn in main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(drawn.name)
