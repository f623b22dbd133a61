"""The front page: an arm with its meshes and a Stewart platform in motion, one line of code, and its time beside the
peers'."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from PIL import Image

import cayley as cy
from cayley.drawing import solids
from cayley.drawing.skeleton import skeleton
from cayley.drawing.solids import skins
from cayley.geometry.rotations import matrix_from_rotation_vector
from cayley.model.catalogue.packaged import PACKAGE
from drawings.canvas import BLUE

sys.path.append(str(Path(__file__).parents[3] / "tools"))
from measured import in_a_batch

WHITE, DARK, INK, PALE = "#f2f4f7", "#4b5563", "#1f2933", "#dfe4ea"
LIGHT = np.array([0.35, -0.55, 0.76])
INSTANTS = 40
CONTESTANTS = ("Cayley", "Pinocchio + CppADCodeGen", "CasADi, generated C", "Pinocchio", "Drake", "MuJoCo")
VIEW = np.array([[0.5, 0.866, 0.0], [-0.3, 0.173, 0.938], [0.812, -0.469, 0.346]])  # right, up and towards us
Scene = list[tuple[np.ndarray, str]]  # triangles (n, 3, 3) and their colour
def front(instant: int = 4) -> Any:
    figure = plt.figure(figsize=(14, 10.2), dpi=100, facecolor="white")
    figure.text(0.5, 0.945, 'cy.load("panda").inverse_dynamics(q, qd, qdd)', family="monospace", fontsize=33,
                color=INK, ha="center", va="center", bbox={"facecolor": "#eef2f7", "edgecolor": "none", "pad": 16})
    arm, stand = figure.add_axes((0.0, 0.41, 0.5, 0.48)), figure.add_axes((0.5, 0.41, 0.5, 0.48))
    q, path = swing()
    show(arm, panda(q[instant]), path)
    arm.set(xlim=(-0.52, 0.93), ylim=(-0.2, 0.82))
    show(stand, platform(ride()[instant]))
    stand.set(xlim=(-1.05, 1.05), ylim=(-0.42, 1.06))
    race(figure.add_axes((0.43, 0.02, 0.47, 0.32)))
    return figure


def race(ax: Any) -> None:
    measured = in_a_batch("Panda", "inverse dynamics")
    times = {name: measured[name] for name in sorted(measured, key=lambda name: measured[name]) if name in CONTESTANTS}
    for place, (name, ns) in enumerate(times.items()):
        color = BLUE if name == "Cayley" else "#a3adb9"
        ax.barh(place, ns, height=0.66, color=color)
        ax.text(-0.02 * max(times.values()), place, name, ha="right", va="center", fontsize=29, color=INK,
                weight="bold" if name == "Cayley" else "normal")
        ax.text(ns + 0.015 * max(times.values()), place, f"{ns:.0f}", va="center", fontsize=29, color=INK,
                weight="bold" if name == "Cayley" else "normal")
    ax.invert_yaxis()
    ax.set(xlim=(0, 1.02 * max(times.values())))
    ax.set_axis_off()
    ax.figure.text(0.5, 0.375, "inverse dynamics of the Panda in a batch: ns per state, one core", fontsize=27,
                   color=INK, ha="center", va="center")


@cache
def swing() -> tuple[np.ndarray, np.ndarray]:
    """A period of motion of the Panda, and the path of its hand."""
    arm = described_panda()
    s = np.linspace(0.0, 2 * np.pi, INSTANTS, endpoint=False)[:, None]
    middle, reach = np.array([0.1, 0.0, 0.0, -1.75, 0.0, 1.9, 0.8]), np.array([0.8, 0.35, 0.25, 0.35, 0.3, 0.4, 0.6])
    q = middle + reach * np.sin(s + np.array([0.0, 1.4, 0.7, 2.2, 0.3, 1.0, 0.0]))
    q = np.hstack([q, np.full((INSTANTS, arm.nq - 7), 0.02)])
    return q, arm.pose(q, "panda_hand_tcp")[:, :3, 3]


@cache
def described_panda() -> cy.Mechanism:
    """The Panda of the package of the extra `robots`, which has meshes."""
    file = next(file for file in distribution(PACKAGE).files or () if file.name == "panda.urdf")
    return cy.load(str(file.locate()))


def panda(q: np.ndarray) -> Scene:
    tree = described_panda().tree
    worn = skins(tree, [skeleton(tree, q)], "visual", 16_000)
    assert worn is not None, f"{PACKAGE} has no meshes of the Panda"
    colors = [DARK if "hand" in shape.body or "finger" in shape.body else WHITE for shape, _ in worn.surfaces.parts]
    return list(zip(worn.corners[0], colors, strict=True))


@cache
def ride() -> np.ndarray:
    """A period of motion of the Stewart platform, closed at every instant."""
    s = np.linspace(0.0, 2 * np.pi, INSTANTS, endpoint=False)
    poses = np.tile(np.eye(4), (INSTANTS, 1, 1))
    poses[:, :3, :3] = matrix_from_rotation_vector(
        np.stack([0.2 * np.sin(s), 0.2 * np.cos(s), 0.15 * np.sin(s + 1)], axis=-1))
    poses[:, :3, 3] = np.stack([0.1 * np.cos(s), 0.1 * np.sin(s), 0.8 + 0.09 * np.sin(2 * s)], axis=-1)
    machine = cy.load("stewart")
    found = machine.inverse_kinematics(poses, "tool", start=machine.neutral)
    assert found.solved.all(), "the Stewart platform does not reach a pose of the front picture"
    return found.q


def platform(q: np.ndarray) -> Scene:
    """Plates, cylinders and rods between the joints of the Stewart platform."""
    machine = cy.load("stewart")
    feet, corners = (np.array([machine.pose(q, f"{name} {k}")[:3, 3] for k in range(1, 7)])
                     for name in ("barrel", "corner"))
    scene: Scene = []
    for joints, down in ((feet, -0.05), (corners, 0.04)):
        up = np.cross(joints[2] - joints[0], joints[4] - joints[0])
        scene.append((triangles(slab(joints, down * up / np.linalg.norm(up))), DARK))
    for foot, corner in zip(feet, corners, strict=True):
        axis = (corner - foot) / np.linalg.norm(corner - foot)
        scene += [(triangles(solids.cylinder(foot + 0.25 * axis, axis, 0.042, 0.23)), BLUE),
                  (triangles(solids.tube(np.array([foot + 0.48 * axis, corner]), 0.022, 0.05)), WHITE)]
        scene += [(triangles(solids.sphere(end, 0.04, 16)), DARK) for end in (foot, corner)]
    return scene


def slab(corners: np.ndarray, thickness: np.ndarray) -> list[np.ndarray]:
    """A plate between corners and the same corners moved."""
    middle, moved, after = corners.mean(axis=0), corners + thickness, np.roll(corners, -1, axis=0)
    walls = np.stack([corners, after, after + thickness, moved], axis=1)
    if thickness @ np.cross(corners[1] - corners[0], corners[2] - corners[0]) < 0:
        walls = walls[:, ::-1]
    lids = [[a, b, center, center] for edge, center in ((corners, middle), (moved, middle + thickness))
            for a, b in zip(edge, np.roll(edge, -1, axis=0), strict=True)]
    return [*walls, *np.array(lids)]


def triangles(quadrangles: list[np.ndarray]) -> np.ndarray:
    corners = np.asarray(quadrangles)
    return np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])


def show(ax: Any, scene: Scene, path: np.ndarray | None = None) -> None:
    """Draw surfaces from afar, the nearest last, with their shadows on the floor and the path of a point."""
    ax.set_axis_off()
    ax.set_aspect("equal")
    corners = np.concatenate([part for part, _ in scene])
    base = np.concatenate([np.tile(to_rgb(color), (len(part), 1)) for part, color in scene])
    floor = corners[..., 2].min()
    fallen = corners - LIGHT * ((corners[..., 2:] - floor) / LIGHT[2])
    ax.add_collection(PolyCollection((fallen @ VIEW.T)[..., :2], facecolors=PALE, edgecolors=PALE, linewidths=0.5))
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    normals *= np.where(normals @ VIEW[2] < 0, -1, 1)[:, None]  # the side that is seen
    colors = np.clip(base * (0.58 + 0.42 * np.clip(normals @ LIGHT, -0.6, 1.0))[:, None], 0, 1)
    seen = corners @ VIEW.T
    order = np.argsort(seen[..., 2].mean(axis=1))
    if path is not None:
        ax.plot(*(np.vstack([path, path[:1]]) @ VIEW.T)[:, :2].T, color=BLUE, linewidth=3.0, linestyle=(0, (3, 2)))
    ax.add_collection(PolyCollection(seen[order, :, :2], facecolors=colors[order], edgecolors=colors[order],
                                     linewidths=0.4))


def moving_front(folder: Path) -> Path:
    """The front picture in motion."""
    pictures = list(_pictures())
    place = folder / "front.webp"
    pictures[0].save(place, save_all=True, append_images=pictures[1:], duration=75, loop=0, quality=60, method=6)
    return place


def _pictures() -> Iterator[Image.Image]:
    for instant in range(INSTANTS):
        figure = front(instant)
        figure.canvas.draw()
        yield Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
        plt.close(figure)


PICTURES = (front,)
