"""Calls that can take more than two seconds show how far they are; here every one is taken for a long one."""

import numpy as np
import pytest

import cayley as cy
from cayley import progress


class Bar:
    """A bar that keeps how far it was told that the work is."""

    made: list["Bar"]

    def __init__(self):
        self.titles, self.amounts, self.stopped = [], [], False
        Bar.made.append(self)

    def add_task(self, title, total, completed=0):
        self.titles.append(title)
        self.total = total
        return len(self.titles)

    def start(self): pass

    def stop(self): self.stopped = True

    def update(self, task, completed=0): self.amounts.append(completed)

    def advance(self, task): self.amounts.append(len(self.amounts) + 1)

    def __enter__(self): return self

    def __exit__(self, *_): self.stop()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    Bar.made = []
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    monkeypatch.setattr(progress, "new_bar", Bar)


def poses(count):
    arm = cy.load("panda")
    return arm, arm.pose(arm.random_configuration(count, seed=0), "tool")


def inverse(folder):
    arm, targets = poses(3000)
    arm.inverse_kinematics(targets, "tool")


def in_closed_form(folder):
    arm = cy.load("ur5")
    arm.all_inverse_kinematics(arm.pose(arm.random_configuration(5000, seed=0), "tool"), "tool")


def closed(folder):
    cy.load("stewart").random_configuration(3000, seed=0)


def payloads(folder):
    cy.load("planar2r").pictures.payload_map("tool", effort=[40.0, 15.0], samples=2000)


def equations(folder):
    cy.load("panda").equations()


def pictures(folder):
    arm = cy.load("planar2r")
    arm.animate(([0.0, 0.3], [[0.0, 0.0], [0.3, 0.5]]), folder / "move.gif")


def methods(folder):
    arm = cy.load("planar2r")
    arm.formulations.compare_inverse_dynamics(*np.ones((3, 2)), methods=["kane", "waters"])


def meshes(folder):
    arm = cy.load("panda")
    arm.draw(arm.configurations["ready"])


def workspace(folder):
    cy.load("three_rrr").pictures.workspace("tool", samples=200)


def simulation(folder):
    arm = cy.load("planar2r")
    arm.simulate([0.1, 0.2], [0.0, 0.0], until=0.5)


@pytest.mark.parametrize(("call", "title"), [
    (inverse, "inverse kinematics"), (in_closed_form, "inverse kinematics in closed form"),
    (closed, "closed configurations of stewart"), (payloads, "reach of planar2r"), (equations, "equations of panda"),
    (pictures, "planar2r, pictures"), (methods, "methods"),
    (meshes, "reading shapes"), (workspace, "workspace of three_rrr"), (simulation, "planar2r")])
def test_it_shows_how_far_it_is(call, title, tmp_path):
    call(tmp_path)
    found = [bar for bar in Bar.made if any(title in each for each in bar.titles)]
    assert found, [bar.titles for bar in Bar.made]
    for bar in found:
        assert bar.stopped and bar.amounts and bar.amounts == sorted(bar.amounts) and 0 <= bar.amounts[-1] <= bar.total
