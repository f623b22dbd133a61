"""Reports in a real Chromium, on a wide and a narrow screen: no complaints, nothing overflows, the robot turns,
equations are typeset.
"""

import json

import numpy as np
import pytest

from cayley.kinematics.forward import body_poses
from model.random_trees import random_configuration
from studio.browser import Browser, NoBrowser, chromium
from studio.conftest import NAMES

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
PICTURE = "document.getElementById('view').toDataURL()"
FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"


@pytest.fixture(scope="module")
def browser():
    try:
        chromium()
    except NoBrowser as why:
        pytest.skip(str(why))
    with Browser() as one:
        yield one


def picture(browser):
    browser.evaluate(FRAME)
    return browser.evaluate(PICTURE)


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("name", NAMES)
def test_the_page_fits_and_nothing_complains(browser, pages, name, width):
    browser.open(pages(name), width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    beyond = browser.evaluate(
        """[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
        && !e.closest('.scroll, .picture, .equations, nav, svg')).map(e => e.outerHTML.slice(0, 120))""")
    assert beyond == [] and browser.problems == []
    assert browser.requests == [pages(name).resolve().as_uri()]


@pytest.mark.parametrize("name", NAMES)
def test_no_table_is_cut_on_a_wide_screen(browser, pages, name):
    browser.open(pages(name), width=1400)
    cut = browser.evaluate(
        """[...document.querySelectorAll('figure.table .scroll')].filter(box => box.scrollWidth > box.clientWidth
        && !box.closest('details:not([open])')).map(box => box.parentElement.querySelector('figcaption').textContent)"""
    )
    assert cut == []


def test_equations_that_nobody_can_read_are_folded_away(browser, pages):
    shown = "[...document.querySelectorAll('#equations .equation')].filter(one => one.checkVisibility()).length"
    browser.open(pages("planar2r"), width=1400)
    assert browser.evaluate(shown) >= 10
    browser.open(pages("anymal"), width=1400)
    assert browser.evaluate(shown) == 0 and browser.evaluate(
        "document.querySelectorAll('#equations .equation').length") > 100


def test_a_wide_screen_is_used(browser, pages):
    browser.open(pages("planar2r"), width=1400)
    boxes = "['view', 'sliders'].map(id => document.getElementById(id).getBoundingClientRect().toJSON())"
    robot, sliders = browser.evaluate(boxes)
    assert robot["width"] > 0.6 * 1400 and sliders["left"] > robot["right"]
    browser.open(pages("planar2r"), width=390)
    robot, sliders = browser.evaluate(boxes)
    assert robot["width"] > 0.85 * 390 and sliders["top"] > robot["bottom"]


@pytest.mark.parametrize("name", NAMES)
def test_the_robot_is_drawn(browser, pages, name):
    browser.open(pages(name), width=1400)
    kinds = browser.evaluate("""(() => {
        const c = document.getElementById('view'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let solid = 0, blue = 0;
        for (let k = 0; k < d.length; k += 4) if (d[k + 3] > 250) { solid += 1; blue += d[k + 2] > d[k] + 60; }
        return [solid, blue]; })()""")
    assert kinds[0] > 2000 and kinds[1] > 40  # links and joints


def test_mouse_and_wheel_turn_and_zoom(browser, pages):
    browser.open(pages("planar2r"), width=1400)
    before, camera = picture(browser), browser.evaluate("report.view.camera()")
    left, top, width, height = browser.box("#view")
    middle = (left + width / 2, top + height / 2)
    browser.drag(middle, (middle[0] + 120, middle[1] + 40))
    turned, moved = picture(browser), browser.evaluate("report.view.camera()")
    assert turned != before and abs(moved["azimuth"] - camera["azimuth"] + 0.96) < 1e-9
    browser.wheel(middle, -300)
    browser.wait(f"report.view.camera().zoom > {camera['zoom']}")
    assert picture(browser) != turned
    browser.click("#home")
    assert picture(browser) == before and browser.problems == []


def test_a_finger_turns_it_and_the_page_stays(browser, pages):
    browser.open(pages("planar2r"), width=390)
    left, top, *_ = browser.box("#view")
    before, place = browser.evaluate("report.view.camera().azimuth"), browser.evaluate("scrollY")
    browser.touch_drag((left + 100, top + 100), (left + 200, top + 160))
    browser.wait(f"report.view.camera().azimuth !== {before}")
    assert browser.evaluate("scrollY") == place


@pytest.mark.parametrize("name", NAMES)
def test_poses_in_the_page_are_those_of_the_mechanism(browser, pages, robots, name):
    browser.open(pages(name), width=1400)
    random = np.random.default_rng(4)
    for _ in range(3):
        q = random_configuration(random, robots[name])
        found = np.reshape(browser.evaluate(f"report.view.poses({json.dumps(q.tolist())})"), (-1, 3, 4))
        np.testing.assert_allclose(found, [pose.matrix[:3] for pose in body_poses(robots[name], q)], atol=1e-12)


def test_a_slider_moves_the_robot(browser, pages, robots):
    browser.open(pages("scara"), width=1400)
    before = picture(browser)
    browser.evaluate(
        "(s => { s.value = s.max; s.dispatchEvent(new Event('input')); })(document.querySelectorAll('#sliders "
        "input')[1])"
    )
    assert picture(browser) != before
    assert abs(browser.evaluate("report.view.q[1]") - robots["scara"].upper[1]) < 1e-2
    assert "°" in browser.evaluate("document.querySelectorAll('#sliders output')[1].textContent")
    assert " m" in browser.evaluate("document.querySelectorAll('#sliders output')[2].textContent")


def test_the_fall_plays_pauses_and_is_scrubbed(browser, pages):
    browser.open(pages("planar2r"), width=1400)
    before = picture(browser)
    browser.click("#play")
    browser.wait("report.time > 0.05")
    browser.click("#play")
    assert browser.evaluate("report.playing") is False and picture(browser) != before
    browser.evaluate("(s => { s.value = 2; s.dispatchEvent(new Event('input')); })(document.getElementById('scrub'))")
    fall = browser.evaluate("report.fall")
    at = round(2 / fall["step"])
    np.testing.assert_allclose(browser.evaluate("report.view.q"), fall["q"][at], atol=1e-9)
    assert f"{fall['kinetic'][at]:.4g}"[:4] in browser.evaluate("document.getElementById('energies').textContent")
    outside = browser.evaluate("""(() => { // of the coloured pixels, how many touch the edge of the picture
        const c = document.getElementById('view'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let edge = 0;
        for (let y = 0; y < c.height; y++) for (const x of [0, c.width - 1]) edge += d[4 * (y * c.width + x) + 3] > 250;
        return edge; })()""")
    assert outside == 0
    x = float(browser.evaluate("document.getElementById('cursor').getAttribute('x1')"))
    assert abs(x - (fall["left"] + (fall["right"] - fall["left"]) * 2 / 8)) < 0.1


def test_equations_are_typeset(browser, pages):
    browser.open(pages("planar2r"), width=1400)
    count, flat, low, high = browser.evaluate("""(() => {
        const all = [...document.querySelectorAll('math')], box = e => e.getBoundingClientRect();
        const below = [...document.querySelectorAll('msub')].filter(e => box(e).height).map(e => [...e.children].map(box));
        const above = [...document.querySelectorAll('mover')].map(e => [...e.children].map(box));
        return [all.length, all.filter(e => e.closest('details:not([open])') === null && box(e).width < 2).length,
                below.every(([letter, index]) => index.bottom > letter.bottom && index.left >= letter.right - 2),
                above.every(([letter, dots]) => dots.top < letter.top + 8)]; })()""")
    assert count > 20 and flat == 0 and low and high


def test_dark_screens_get_a_dark_page(browser, pages):
    colors = []
    for dark in (False, True):
        browser.open(pages("planar2r"), width=1400, dark=dark)
        colors.append(
            browser.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"))
        assert browser.problems == []
    assert sum(colors[0]) > 600 and sum(colors[1]) < 150
