"""Pictures of the 3-D view beside those that were looked at and approved, in `approved/`.

They are compared small and grey, so that letters, the smoothing of edges and versions of what simplifies meshes do not
matter; a joint that stands a little elsewhere does. After a change that is meant to be seen

    APPROVE=1 python -m pytest tests/studio/test_approved.py

renews them: look at each before it is kept.
"""

import base64
import io
import os
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cayley as cy
from cayley.drawing.skeleton import resting
from cayley.studio import write_motion
from studio.browser import Browser, NoBrowser, chromium
from studio.test_pages import URDF

APPROVED = Path(__file__).with_name("approved")
KEPT = 320  # points across, in the files
SEEN = 80  # points across, compared
MEAN, WORST = 1.2, 24.0  # greys of 255: on average, and of all but the hundredth of the points that differ most
MESHES = {"panda": "panda_description/urdf/panda.urdf", "talos": "talos_data/robots/talos_reduced.urdf"}
CASES = {"planar2r": ("planar2r", False), "scara_at_night": ("scara", True), "four_bar": ("four_bar", False),
         "delta": ("delta", False), "boxes_at_night": ("boxes", True), "panda": ("panda", False),
         "talos": ("talos", False)}

pytestmark = pytest.mark.filterwarnings("ignore::cayley.errors.ModelWarning")


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    """A function from a robot, and whether it is dark, to the picture of its view."""
    try:
        chromium()
    except NoBrowser as why:
        pytest.skip(str(why))
    folder = tmp_path_factory.mktemp("approved")
    (folder / "boxes.urdf").write_text(URDF)

    def picture(name, dark, moved=0.0):
        robot = cy.load(folder / "boxes.urdf" if name == "boxes" else _described(name))
        rest = resting(robot.tree)
        place = write_motion(robot, ([0.0, 1.0], [rest, rest]), folder)
        assert place.stat().st_size < 10 * 2**20
        browser.open(place, width=900, height=700, dark=dark)
        browser.evaluate("report.view.trailEnd = 0")
        if moved:
            browser.evaluate(f"report.view.set(report.view.q.with(0, report.view.q[0] + {moved}))")
        data = browser.evaluate("(report.view.still(), document.getElementById('view').toDataURL())")
        assert browser.problems == []
        drawn = Image.open(io.BytesIO(base64.b64decode(data.partition(",")[2]))).convert("RGBA")
        paper = Image.new("RGBA", drawn.size, "#191d22" if dark else "#f3f5f8")
        return Image.alpha_composite(paper, drawn).convert("RGB")

    with Browser() as browser:
        picture.browser = browser
        yield picture


def _described(name):
    if name not in MESHES:
        return name
    every = files("example-robot-data")
    return next(str(file.locate()) for file in every if "/".join(file.parts).endswith(MESHES[name]))


def reduced(picture, width):
    return picture.resize((width, round(width * picture.height / picture.width)), Image.Resampling.BOX)


def difference(picture, other):
    """The mean and nearly the largest difference, of what is left of two pictures from afar."""
    greys = [np.asarray(reduced(each, SEEN).convert("L"), dtype=float) for each in (picture, other)]
    apart = np.abs(greys[0] - greys[1])
    return apart.mean(), np.quantile(apart, 0.99)


@pytest.mark.parametrize("case", CASES)
def test_the_view_is_what_was_approved(view, case):
    picture = reduced(view(*CASES[case]), KEPT)
    place = APPROVED / f"{case}.png"
    if os.environ.get("APPROVE"):
        picture.quantize(64).save(place, optimize=True)
    with Image.open(place) as approved:
        mean, worst = difference(picture, approved.convert("RGB"))
    assert mean < MEAN and worst < WORST, (mean, worst)


def test_an_arm_with_meshes_is_drawn_thirty_times_a_second(view):
    """By one core without a graphics card: the time that pictures take, of which half are slowed by whatever else the
    machine does."""
    view("panda", False)
    costs = view.browser.evaluate("""new Promise(done => {
        const costs = [], drawn = report.view.frames, frame = requestAnimationFrame;
        (function next() {
            if (costs.length === 30) return done([costs, report.view.frames - drawn]);
            report.view.set(report.view.q.with(0, 0.03 * costs.length));
            frame(() => frame(() => { costs.push(report.view.cost); next(); }));
        })(); })""")
    assert costs[1] >= 30 and np.median(costs[0]) < 1000 / 30, np.median(costs[0])


@pytest.mark.parametrize("case", ["planar2r", "boxes_at_night"])
def test_a_joint_that_stands_elsewhere_is_seen(view, case):
    with Image.open(APPROVED / f"{case}.png") as approved:
        mean, worst = difference(reduced(view(*CASES[case], moved=0.1), KEPT), approved.convert("RGB"))
    assert mean > MEAN or worst > WORST, (mean, worst)
