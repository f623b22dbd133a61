"""What a notebook shows: pictures that are pictures, tables with every word escaped, nothing left open."""

import pickle
import sys
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from io import BytesIO
from types import ModuleType

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import cayley as cy
from cayley.dynamics.inverse.compare import Comparison, MethodRow
from cayley.planning import inspect_motion, point_to_point
from cayley.showing import brief

HOSTILE = "<script>alert(1)</script>\"'& $\\frac$"
ALLOWED = {"p", "img", "div", "table", "caption", "tr", "th", "td", "details", "summary", "pre", "ul", "li", "iframe"}


class Tags(HTMLParser):
    """The tags of a page, in pairs, and its text."""

    def __init__(self, page):
        super().__init__()
        self.open = []
        self.seen = set()
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@dataclass
class Parts:
    part: object

    __repr__ = brief


@pytest.fixture(autouse=True)
def no_figures_of_others():
    """Other tests keep their figures open: here they are counted."""
    plt.close("all")


@pytest.fixture(scope="module")
def arm():
    """An arm whose every name is markup."""
    tree = cy.load("planar2r").tree
    bodies = [replace(body, name=f"{body.name}{HOSTILE}") for body in tree.bodies]
    joints = [replace(joint, name=f"{joint.name}{HOSTILE}", parent=f"{joint.parent}{HOSTILE}",
                      child=f"{joint.child}{HOSTILE}") for joint in tree.joints]
    frames = [replace(frame, name=f"{frame.name}{HOSTILE}", body=f"{frame.body}{HOSTILE}") for frame in tree.frames]
    return cy.Mechanism.of(HOSTILE, bodies, joints, frames=frames, gravity=tree.gravity)


@pytest.fixture(scope="module")
def run(arm):
    return arm.simulate([1.0, 0.5], np.zeros(2), times=np.linspace(0.0, 0.2, 11))


def shown(thing):
    """What is shown of it, checked."""
    found = Tags(thing._repr_html_())
    assert found.seen <= ALLOWED
    return found


def test_names_that_are_markup_are_words_in_all_that_is_shown(arm, run):
    rows = (MethodRow(HOSTILE, HOSTILE, refused=HOSTILE),)
    things = {"mechanism": arm, "report": arm.summary(), "run": run, "player": run.animate(),
              "system": arm.system().simulate({"q": [1.0, 0.5], "qd": np.zeros(2)}, times=run.t),
              "workspace": arm.pictures.workspace(f"tool{HOSTILE}", samples=200), "comparison": Comparison(HOSTILE,
                                                                                                           rows)}
    for name, thing in things.items():
        page = shown(thing)
        assert "alert(1)" in page.text or name == "player"
        assert ("img" in page.seen) == (name in ("mechanism", "run", "system", "workspace"))
    assert plt.get_fignums() == []


def test_pictures_are_pictures_and_figures_are_closed(arm, run):
    move = point_to_point([0.2, 1.0], [1.2, -1.0], duration=2.0)
    for thing in (arm, run, move):
        with Image.open(BytesIO(thing._repr_png_())) as picture:
            assert picture.format == "PNG" and min(picture.size) > 200
            assert np.ptp(np.asarray(picture.convert("L"))) > 100  # something is drawn
    assert plt.get_fignums() == []


def test_what_has_nothing_to_draw_is_shown_by_its_name(run):
    nothing = run.between(5.0, 6.0)
    assert nothing._repr_png_() is None and shown(nothing).text == repr(nothing)
    assert plt.get_fignums() == []


def test_tables_and_programs_are_shown_with_all_that_they_say():
    arm = cy.load("scara")
    table = arm.dh_table(convention="modified", frame="tool")
    text = shown(table).text
    assert all(word in text for row in table.words for word in row)
    arm = cy.load("planar2r")
    source = arm.gravity_forces.c_source("weights")
    assert str(source) in shown(source).text and "<math.h>" in shown(source).text
    counts = arm.gravity_forces.operations()
    assert repr(counts) == f"<{counts}>" and f"multiplications{counts.multiplications}" in shown(counts).text
    assert "Operations" not in repr(counts)


def test_results_are_said_in_one_line_however_large_they_are():
    arm = cy.load("planar2r")
    move = point_to_point([0.2, 1.0], [1.2, -1.0], duration=2.0)
    states = move(np.linspace(0.0, 2.0, 1001))
    things = {"MotionState(q=array of 1001x2, ": states, "Inspection(times=array of 201, ": inspect_motion(arm, move),
              "<joint joint1: revolute, base -> link1>": arm.joints[0],
              "Body(name='link1', mass=2, center=": arm.bodies[1],
              "Frame(name='tool', body='link2', pose=array of 4x4)": arm.frames[-1],
              "Sensitivities(D=array of 50x2x2, ": arm.linearize(*np.zeros((3, 50, 2))),
              "<equations of gravity_forces: ": arm.gravity_forces.equations()}
    for beginning, thing in things.items():
        assert repr(thing).startswith(beginning) and "\n" not in repr(thing) and len(repr(thing)) < 300
    assert repr(move(0.0)) == "MotionState(q=[0.2, 1], qd=[0, 0], qdd=[0, 0])"
    for part in (np.array([np.nan]), np.zeros(0), np.array("x"), np.array([1, 2]), (), {}, None, np.float32(0.5), (1,)):
        assert repr(Parts(part)).startswith("Parts(part=")
    assert repr(Parts((0.1, "a", (1,)))) == "Parts(part=(0.1, 'a', (1,)))"
    assert repr(Parts(tuple(range(100)))) == "Parts(part=100 x int)"


def test_results_say_what_they_are_in_one_line():
    bar = cy.load("four_bar")
    things = [bar.loops.structure, cy.load("stewart").loops.structure, bar.loops.actuation,
              bar.loops.close(np.zeros(3)),
              bar.loops.follow_inputs({"crank": np.linspace(0.0, 1.0, 50)}, start=np.zeros(3)),
              cy.load("panda").forward_derivatives(np.zeros((9, 7)), np.zeros(7), np.zeros(7)),
              cy.load("planar2r").gravity_forces.source("javascript")]
    for thing in things:
        assert "\n" not in repr(thing) and len(repr(thing)) < 320, repr(thing)


FIGURES = {
    "run": lambda arm: arm.simulate(np.zeros(2), np.zeros(2), until=0.01).plot(),
    "run of a system": lambda arm: arm.system().simulate({"q": np.zeros(2), "qd": np.zeros(2)}, until=0.01).plot(),
    "workspace": lambda arm: arm.pictures.workspace("tool", samples=200).plot(),
    "motion": lambda arm: cy.planning.point_to_point([0.0, 0.0], [1.0, 1.0], duration=1.0).plot()}


@pytest.mark.parametrize("name", FIGURES)
def test_a_cell_that_ends_with_a_figure_shows_it_once(name, monkeypatch):
    """Matplotlib's inline backend shows all open figures at the end of a cell; IPython, which asks the value of the
    cell for `_ipython_display_`, is not to show it again. Of a figure that was closed, it does."""
    shown = []
    module = ModuleType("IPython.display")
    module.display, module.Image = shown.append, lambda data: data
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    figure = FIGURES[name](cy.load("planar2r"))
    monkeypatch.setattr("matplotlib.get_backend", lambda: "module://matplotlib_inline.backend_inline")
    figure._ipython_display_()
    assert not shown and plt.fignum_exists(figure.number)
    plt.close(figure)
    figure._ipython_display_()
    assert len(shown) == 1 and shown[0].startswith(b"\x89PNG")
    if name == "run":
        assert pickle.loads(pickle.dumps(figure)).axes
