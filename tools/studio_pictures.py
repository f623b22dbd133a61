"""The pictures of docs/robots/studio.md, by a real browser: `python tools/studio_pictures.py [NAME...]`. They are
looked at, not compared: fonts and graphics differ from machine to machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path

import numpy as np

import cayley as cy
from cayley.studio.live import View
from cayley.studio.live.panels import CenterOfMass, Ellipsoids, Frames, Motions, Plots, Reach
from cayley.studio.live.panels.motions import demonstration

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from studio.browser import WEBGL, Browser  # noqa: E402 (which lies beside the tests)

ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"
TALOS = "talos_data/robots/talos_reduced.urdf"
FOLDED = "[...document.querySelectorAll('p, div, button')].find(b => b.textContent === {!r})?.click()"


def robot_file(ending: str) -> str:
    """A file of example-robot-data."""
    found = files("example-robot-data") or []
    return next(str(file.locate()) for file in found if "/".join(file.parts).endswith(ending))


def ticked(view: View, panel: type, *words: str) -> None:
    """Tick what a panel of the folder "Show" has."""
    found = view.robot.panel(panel)
    controls = [found._shown] if hasattr(found, "_shown") else [found._controls[word][0] for word in words]
    for control in controls:
        control.value = True
    with view.update():
        found._choose()


def panda() -> tuple[View, Callable[[], None], tuple[str, ...]]:
    view = View(cy.load("panda"))
    view.q = [0.3, 0.1, -0.2, -1.9, 0.2, 2.0, 0.6]

    def settle() -> None:
        ticked(view, Ellipsoids, "velocity")
        view.robot.panel(Frames).choose("end effector")

    return view, settle, ("End effector",)


def quadruped() -> tuple[View, Callable[[], None], tuple[str, ...]]:
    view = View(cy.load(robot_file(ANYMAL)))
    with view.update():
        view.robot.lead(dict(enumerate(np.tile([0.1, 0.6, -1.1], 4) * np.repeat([1, 1, 1, 1], 3))))
    return view, lambda: ticked(view, CenterOfMass), ("Joints",)


def humanoid() -> tuple[View, Callable[[], None], tuple[str, ...]]:
    return View(cy.load(robot_file(TALOS))), lambda: None, ("Joints",)


def closed() -> tuple[View, Callable[[], None], tuple[str, ...]]:
    view = View(cy.load("delta"))

    def settle() -> None:
        view.robot.panel(Plots).choose("end effector")
        view.show(demonstration(view.robot.arm, view.robot.rest), play=False)
        view.robot.panel(Motions).seek(1.2)

    return view, settle, ("End effector", "Plots")


def workspace() -> tuple[View, Callable[[], None], tuple[str, ...]]:
    view = View(cy.load("scara"))
    view.q = [0.5, 0.8, -0.05, 0.0]
    return view, lambda: ticked(view, Reach), ()


PICTURES = {"studio": panda, "studio_quadruped": quadruped, "studio_humanoid": humanoid, "studio_closed": closed,
            "studio_workspace": workspace}


def draw(name: str, folder: Path, width: int = 1400, height: int = 900) -> Path:
    """One of them, in a folder."""
    view, settle, folded = PICTURES[name]()
    with view, Browser(*WEBGL) as browser:
        browser.open(view.url, width=width, height=height)
        browser.wait("document.querySelectorAll('label[for]').length > 4")
        settle()
        for word in folded:
            browser.evaluate(FOLDED.format(word))
        browser.evaluate("document.querySelector('[class*=Notification-root] button')?.click()")
        for _ in range(30):
            browser.evaluate("new Promise(done => setTimeout(() => done(0), 100))")
        return browser.screenshot(folder / f"{name}.png")


if __name__ == "__main__":
    for word in sys.argv[1:] or PICTURES:
        print(draw(word, ROOT / "docs" / "pictures"))
