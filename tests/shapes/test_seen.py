"""Shapes in pictures and pages: in place of sticks, with what is missing named, and no harm from hostile names."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

import cayley as cy
from cayley.drawing.animations import draw_instants
from cayley.errors import ConventionError, ModelWarning, UnsupportedError
from cayley.studio import write_motion
from cayley.studio.scene import scene
from studio.browser import Browser, NoBrowser, chromium

BAD = "</script><b>x"
URDF = """<robot name="arm"><link name="base"><visual><origin xyz="0 0 0.1"/><geometry><cylinder radius="0.1" length="0.2"/>
</geometry><material name="m"><color rgba="0.8 0.1 0.1 1"/></material></visual></link>
<link name="{name}"><visual><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.1 0.1"/></geometry></visual>{more}</link>
<link name="hand"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="pivot" type="revolute"><origin xyz="0 0 0.3"/><parent link="base"/><child link="{name}"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="wrist" type="revolute"><origin xyz="0.5 0 0"/><parent link="{name}"/><child link="hand"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
GONE = '<visual><geometry><mesh filename="&lt;img src=x onerror=alert(1)&gt;.stl"/></geometry></visual>'


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def loaded(folder, name="rod", more=""):
    place = folder / "arm.urdf"
    place.write_text(URDF.format(name=name.replace("<", "&lt;"), more=more))
    return cy.load(place)


def robot_in(ax):
    return next(each for each in ax.collections if each.get_label() == "_robot")


def count(ax):
    return len(robot_in(ax).get_facecolor())


def test_a_drawing_shows_the_shapes_where_the_bodies_are(tmp_path):
    arm = loaded(tmp_path)
    ax = arm.draw([0.5, 0.2])
    ax.figure.canvas.draw()
    assert count(ax) == 80 + 12
    solid = robot_in(ax)
    corners = np.reshape(solid._faces, (-1, 3)) if hasattr(solid, "_faces") else solid._vec[:3].T
    turned = np.array([[np.cos(0.5), -np.sin(0.5), 0], [np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]])
    expected = [turned @ (np.array([0.25, 0, 0]) + 0.5 * np.array([0.5, 0.1, 0.1]) * s) + [0, 0, 0.3]
                for s in ([1, 1, 1], [-1, 1, -1])]
    for point in [*expected, np.array([0.1, 0.0, 0.0]), np.array([0.1, 0.0, 0.2])]:
        assert np.abs(corners - point).max(axis=1).min() < 1e-9
    assert count(arm.draw([[0.0, 0.0], [0.5, 0.2]])) == 2 * 92
    sticks = count(arm.draw(shapes=None))
    assert sticks != 92 and count(arm.draw(shapes="collision")) == count(cy.load(arm.tree.source).draw(shapes="collision"))
    with pytest.raises(UnsupportedError, match="did you mean 'visual'"):
        arm.draw(shapes="visul")


def test_missing_meshes_are_named_and_their_bodies_stay_sticks(tmp_path):
    arm = loaded(tmp_path, more=GONE)
    with pytest.warns(ModelWarning, match=r"without some of its shapes: arm.urdf, line 3.*onerror.*is not there"):
        ax = arm.draw()
    assert count(ax) > 92


def red(picture):
    """The share of red points."""
    points = np.asarray(picture.convert("RGB"), dtype=float)
    return np.mean((points[..., 0] > 2.5 * points[..., 1]) & (points[..., 0] > 2.5 * points[..., 2]))


def test_moving_pictures_and_instants_show_the_shapes(tmp_path):
    arm = loaded(tmp_path, more=GONE)
    motion = ([0.0, 0.05], [[0.0, 0.0], [0.3, 0.4]])
    with pytest.warns(ModelWarning, match="without some of its shapes") as told:
        clothed = arm.animate(motion, tmp_path / "shapes.gif", frames=())
    assert len(told) == 1  # not for every picture
    bare = arm.animate(motion, tmp_path / "sticks.gif", frames=(), shapes=None)
    with Image.open(clothed) as first, Image.open(bare) as second:
        assert first.n_frames == second.n_frames == 2
        assert red(first) > 0.005 and red(second) == 0.0
    with pytest.warns(ModelWarning, match="without some of its shapes"):
        instants = draw_instants(arm.tree, motion, [0.0, 0.05])
    assert count(instants) > 2 * 92
    with pytest.raises(ConventionError, match="shapes and size are options of moving pictures"):
        arm.animate(motion, tmp_path / "page.html", shapes=None)


def test_a_page_has_the_shapes_and_shares_their_points(tmp_path):
    arm = loaded(tmp_path)
    found = scene(arm.tree)
    assert [len(each["triangles"]) for each in found["shapes"]] == [3 * 80, 3 * 12]
    assert [len(each["points"]) for each in found["shapes"]] == [3 * 42, 3 * 8]
    assert [each["color"] for each in found["shapes"]] == [[204, 26, 26], None]
    assert found["bare"] == [] and found["missing"] == [] and found["floor"]["height"] == 0.0
    assert scene(cy.load("scara").tree)["shapes"] == []


def test_hostile_names_stay_text_and_shapes_can_be_hidden(tmp_path):
    try:
        chromium()
    except NoBrowser as why:
        pytest.skip(str(why))
    arm = loaded(tmp_path, BAD, GONE)
    page = write_motion(arm, ([0.0, 1.0], np.zeros((2, 2))), tmp_path)
    data = json.loads(re.search(r'id="scene">(.*?)</script>', page.read_text(), re.S)[1])
    assert "onerror" in data["missing"][0] and data["bare"] == [1]
    with Browser() as browser:
        for width in (1400, 390):
            browser.open(page, width=width)
            note = browser.evaluate("document.getElementById('missing-shapes').textContent")
            assert BAD in note and "<img src=x" in note and note.startswith("Not shown: arm.urdf, line 3")
            assert browser.evaluate("document.querySelectorAll('img, main b').length") == 0
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
        picture = "(report.view.still(), document.getElementById('view').toDataURL())"
        red = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => { const v =
            document.getElementById('view'), d = v.getContext('2d').getImageData(0, 0, v.width, v.height).data; let n = 0;
            for (let k = 0; k < d.length; k += 4) n += d[k] > 2.5 * d[k + 1] && d[k] > 2.5 * d[k + 2] && d[k + 3] > 200;
            done(n / (v.width * v.height)); })))"""
        seen = browser.evaluate(picture)
        shown = browser.evaluate(red)
        browser.click("#show-shapes")
        assert browser.evaluate(picture) != seen and browser.evaluate(red) < shown / 4 and shown > 0.002
        browser.click("#show-shapes")
        assert browser.evaluate(picture) == seen and len(browser.requests) == 1
        assert [told for told in browser.problems if "willReadFrequently" not in told] == []  # which is this test's own
