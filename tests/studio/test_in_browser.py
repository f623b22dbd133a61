"""Reports in a real Chromium, on a wide and a narrow screen: no complaints, nothing overflows, the robot turns,
equations are typeset.
"""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import cayley as cy
from cayley.kinematics.forward import body_poses
from cayley.studio import write_motion
from cayley.studio.report import Page
from model.random_trees import random_configuration
from studio.conftest import NAMES

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
PICTURE = "document.getElementById('view').toDataURL()"
FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"


def picture(browser):
    """What the view shows when all is still."""
    browser.evaluate(FRAME)
    return browser.evaluate(f"(report.view.still(), {PICTURE})")


@pytest.mark.parametrize("width", [2560, 1400, 390])
@pytest.mark.parametrize("name", [*NAMES, "asked"])
def test_the_page_fits_and_nothing_complains(browser, pages, name, width):
    browser.open(pages(name), width=width)
    browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.evaluate("innerWidth") == width
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    beyond = browser.evaluate(
        """[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
        && !e.closest('.scroll, .picture, .equations, #equations p, nav, svg')).map(e => e.outerHTML.slice(0, 120))""")
    assert beyond == [] and browser.problems == []
    assert browser.requests == [pages(name).resolve().as_uri()]


def test_everything_has_a_name_for_those_who_do_not_see_it(browser, pages):
    browser.open(pages("asked"), width=1400)
    nameless = browser.evaluate(
        """[...document.querySelectorAll('input, select, button, canvas, img, svg')].filter(e => !(e.alt
        || e.getAttribute('aria-label') || e.closest('label') || e.textContent.trim())).map(e => e.outerHTML)""")
    assert nameless == []
    levels = browser.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and all(after - before <= 2 for before, after in pairwise(levels))
    assert browser.evaluate("[...document.querySelectorAll('nav a')].every(a => document.querySelector(a.hash))")
    browser.click("#play")
    browser.wait("report.time > 0.05")


@pytest.mark.parametrize("name", NAMES)
def test_no_table_is_cut_on_a_wide_screen(browser, pages, name):
    browser.open(pages(name), width=1400)
    cut = browser.evaluate(
        """[...document.querySelectorAll('figure.table .scroll')].filter(box => box.scrollWidth > box.clientWidth
        && !box.closest('details:not([open])')).map(box => box.parentElement.querySelector('figcaption').textContent)"""
    )
    assert cut == []


def test_long_equations_have_named_values_in_groups_and_long_groups_are_folded_away(browser, pages):
    shown = ("[...document.querySelectorAll('#equations .equations:not(.flow) .equation')].filter(one => one.checkVisibility())"
             ".map(one => one.querySelector('msub').textContent)")
    browser.open(pages("planar2r"), width=1400)
    assert len(browser.evaluate(shown)) >= 10
    browser.open(pages("anymal"), width=1400)
    names = browser.evaluate(shown)
    assert 12 <= len(names) < 100 < browser.evaluate("document.querySelectorAll('#equations .equation').length")
    assert not [name for name in names if name.startswith("t")] and {"M1,1", "M4,5", "G3"} <= set(names)
    assert browser.evaluate("document.querySelectorAll('#equations h4').length") >= 5


def test_a_wide_screen_is_used(browser, pages):
    browser.open(pages("planar2r"), width=1400)
    boxes = "['view', 'sliders'].map(id => document.getElementById(id).getBoundingClientRect().toJSON())"
    robot, sliders = browser.evaluate(boxes)
    assert robot["width"] > 0.6 * 1400 and sliders["left"] > robot["right"]
    browser.open(pages("planar2r"), width=390)
    robot, sliders = browser.evaluate(boxes)
    assert robot["width"] > 0.85 * 390 and sliders["top"] > robot["bottom"]


@pytest.mark.parametrize("name", ["stewart", "excavator"])
def test_every_slider_is_reachable_on_a_telephone(browser, closed_pages, name):
    """None is inside a box of its own that has to be scrolled without a scroll bar, and each can be touched."""
    browser.open(closed_pages(name), width=390, height=844)
    sliders = browser.evaluate("report.scene.sliders.length")
    assert sliders == len(cy.load(name).actuated_joints)
    reached = browser.evaluate("""[...document.querySelectorAll('#sliders input')].filter(input => {
        scrollTo({top: scrollY + input.getBoundingClientRect().top - innerHeight / 2, behavior: 'instant'});
        const box = input.getBoundingClientRect();
        return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === input; }).length""")
    assert reached == sliders
    assert browser.evaluate("(box => box.scrollHeight - box.clientHeight)(document.getElementById('sliders'))") <= 0


@pytest.mark.parametrize("name", NAMES)
def test_the_robot_is_drawn(browser, pages, name):
    browser.open(pages(name), width=1400)
    browser.evaluate("document.getElementById('show-shapes')?.click()")  # in its shapes no joint is seen
    picture(browser)
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
        np.testing.assert_allclose(found, [pose.matrix[:3] for pose in body_poses(robots[name].tree, q)], atol=1e-12)


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


def test_the_motion_plays_pauses_and_is_scrubbed(browser, pages):
    browser.open(pages("planar2r"), width=1400)
    before = picture(browser)
    browser.click("#play")
    browser.wait("report.time > 0.05")
    browser.click("#play")
    assert browser.evaluate("report.playing") is False and picture(browser) != before
    browser.evaluate("(s => { s.value = 2; s.dispatchEvent(new Event('input')); })(document.getElementById('scrub'))")
    motion = browser.evaluate("report.motion")
    at = round(2 / motion["step"])
    np.testing.assert_allclose(browser.evaluate("report.view.q"), motion["q"][at], atol=1e-9)
    assert browser.evaluate("[...document.querySelectorAll('.key')].map(e => e.textContent)") == [
        "joint1 [N m]", "joint2 [N m]"]
    outside = browser.evaluate("""(() => { // of the coloured pixels, how many touch the edge of the picture
        const c = document.getElementById('view'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let edge = 0;
        for (let y = 0; y < c.height; y++) for (const x of [0, c.width - 1]) edge += d[4 * (y * c.width + x) + 3] > 250;
        return edge; })()""")
    assert outside == 0
    x = float(browser.evaluate("document.getElementById('cursor').getAttribute('x1')"))
    assert abs(x - (motion["left"] + (motion["right"] - motion["left"]) * 2 / 4)) < 0.1


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


# Closed machines

DRIVE = """(share => { document.querySelectorAll('#sliders input').forEach((s, k) => {
    s.value = +s.min + (k % 2 ? 1 - share : share) * (s.max - s.min); });
    document.querySelector('#sliders input').dispatchEvent(new Event('input')); return report.view.q; })"""


@pytest.fixture(scope="module")
def closed_pages(tmp_path_factory):
    """The page of a closed machine without its fall and figures: the 3-D view is what is looked at."""
    folder = tmp_path_factory.mktemp("closed")

    def page(name):
        place = folder / f"{name}.html"
        if not place.exists():
            place.write_text(Page(cy.load(name)).html(), encoding="utf-8")
        return place

    return page


@pytest.mark.parametrize(("name", "sliders"), [
    ("four_bar", 1), ("delta", 3), ("gripper", 1), ("excavator", 4)])
def test_sliders_keep_a_machine_closed_and_on_its_branch(browser, closed_pages, name, sliders):
    arm = cy.load(name)
    browser.open(closed_pages(name), width=1400)
    assert browser.evaluate("report.scene.sliders.map(s => s.name)") == list(arm.actuated_joints)
    assert len(arm.actuated_joints) == sliders
    places = [arm.tree.q_slices[arm.tree.joint_number(joint)].start for joint in arm.actuated_joints]
    q = arm.neutral
    for share in (0.55, 0.7, 0.4):
        there = np.array(browser.evaluate(f"{DRIVE}({share})"))
        assert np.abs(arm.loops.residual(there)).max() < 1e-8
        for values in np.linspace(q[places], there[places], 21)[1:]:  # the same way in small steps
            q = arm.loops.close(q, fixed=dict(zip(arm.actuated_joints, values, strict=True))).configuration
        np.testing.assert_allclose(arm.pose(there, "tool"), arm.pose(q, "tool"), atol=1e-6)
    assert browser.problems == []


def test_a_machine_goes_no_further_than_its_loops_allow(browser, closed_pages):
    """Two cranks of the 3-RRR pull apart: the machine stops where the actuated joints are at a dead centre."""
    arm = cy.load("three_rrr")
    drive = """((...values) => { const all = document.querySelectorAll('#sliders input');
        values.forEach((x, k) => { all[k].value = x; }); all[0].dispatchEvent(new Event('input'));
        return report.view.q; })"""
    browser.open(closed_pages("three_rrr"), width=1400)
    places = [arm.tree.q_slices[arm.tree.joint_number(joint)].start for joint in arm.actuated_joints]
    q = np.array(browser.evaluate(f"{drive}(2.5, -2.5, 0)"))
    assert np.abs(arm.loops.residual(q)).max() < 1e-8 and 0.3 < q[places[0]] < 2.4
    A = arm.loops.jacobian(q)[list(arm.loops.structure.leading)]
    passive = np.delete(A, places, axis=1)
    assert np.linalg.svd(passive, compute_uv=False)[-1] < 0.05
    shown = browser.evaluate("[...document.querySelectorAll('#sliders input')].map(s => +s.value)")
    np.testing.assert_allclose(shown, q[places], atol=4e-3)  # the sliders stay behind
    back = np.array(browser.evaluate(f"{drive}(0, 0, 0)"))
    assert np.abs(arm.loops.residual(back)).max() < 1e-8 and np.abs(back[places]).max() < 4e-3


def test_rods_are_drawn(browser, closed_pages):
    browser.open(closed_pages("delta"), width=1400)
    rods = browser.evaluate("""report.scene.slides.map(s => { const at = report.view.poses(report.view.q);
        const a = report.view.place(at, s.body, s.point), b = report.view.place(at, s.child, s.end);
        return Math.hypot(...a.map((x, k) => x - b[k])); })""")
    np.testing.assert_allclose(rods, np.full(6, 0.85), atol=1e-5)


def test_a_motion_is_played_as_it_was_given(browser, tmp_path):
    robot = cy.load("two_wheel_robot")
    ends = np.zeros((2, robot.nq))
    ends[1, :3] = 1.0, -0.5, 0.8
    browser.open(write_motion(robot, ([0.0, 2.0], ends), tmp_path), width=1000)
    browser.evaluate("report.show(0.5)")
    np.testing.assert_allclose(browser.evaluate("report.view.q"), 0.25 * ends[1], atol=1e-6)
    before = picture(browser)
    browser.evaluate("report.show(2.0)")
    assert picture(browser) != before and browser.problems == []
    np.testing.assert_allclose(browser.evaluate("report.view.q"), ends[1], atol=1e-6)


def test_a_run_of_a_closed_mechanism_with_a_hostile_name_is_played_from_a_file_and_in_a_notebook(browser, tmp_path):
    bar = cy.load("four_bar").tree
    frames = [replace(frame, name="<img src=x onerror=alert(1)>") if frame.name == "tool" else frame
              for frame in bar.frames]
    bar = cy.Mechanism(replace(bar, name="</script><img src=x onerror=alert(1)>\"&", frames=tuple(frames)))
    start = bar.loops.close(np.zeros(3)).configuration
    run = bar.simulate(start, bar.loops.consistent_velocity(start, [3.0, 0.0, 0.0]), times=np.linspace(0.0, 0.5, 51))
    page = run.animate(tmp_path / "bar.html", speed=2.0)
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><body>{run.animate()._repr_html_()}", encoding="utf-8")
    for width in (390, 1400):
        browser.open(page, width=width)
        assert browser.problems == [] and len(browser.requests) == 1
        assert browser.evaluate("document.querySelectorAll('img').length") == 0
        assert browser.evaluate("document.querySelector('h1').textContent") == bar.name
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert browser.evaluate("document.getElementById('speed').value") == "2.0"
        _, top, _, height = browser.box("#play")
        assert top + height < 200  # in sight, also in the small window of a notebook
    browser.evaluate("report.show(0.5)")
    np.testing.assert_allclose(browser.evaluate("report.view.q"), run.q[-1], atol=1e-6)
    browser.open(notebook, width=1000)
    assert browser.problems == [] and browser.evaluate("document.querySelectorAll('iframe').length") == 1
    assert browser.evaluate("document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("name", ["anymal", "asked"])
def test_what_is_wider_than_a_telephone_fades_out_until_it_is_scrolled(browser, pages, name):
    browser.open(pages(name), width=390, height=844)
    wide = "[...document.querySelectorAll('nav, .scroll, .picture')].filter(e => e.scrollWidth > e.clientWidth + 2)"
    browser.evaluate(FRAME)
    assert browser.evaluate(f"{wide}.length") > 2
    assert browser.evaluate(f"{wide}.every(e => getComputedStyle(e).maskImage.includes('gradient'))")
    browser.evaluate(f"{wide}.forEach(e => {{ e.scrollLeft = 1e6; }})")
    browser.evaluate(FRAME)
    assert browser.evaluate(f"{wide}.some(e => e.classList.contains('more'))") is False


@pytest.mark.parametrize("width", [2560, 1400, 390])
@pytest.mark.parametrize("name", ["planar2r", "anymal", "asked"])
def test_no_words_overlap(browser, pages, name, width):
    browser.open(pages(name), width=width)
    overlapping = browser.evaluate("""(() => {
        const seen = [...document.querySelectorAll('h1, h2, dt, dd, nav a, #sliders span, #sliders output, .tools > *, .bar > *, .key, .words')]
            .filter(e => e.checkVisibility()).map(e => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width && r.height);
        return seen.flatMap(([a, r], k) => seen.slice(k + 1).filter(([b, s]) => !a.contains(b) && !b.contains(a)
            && Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 && Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > 1
            && a.closest('nav') === b.closest('nav')).map(([b]) => a.textContent + ' | ' + b.textContent)); })()""")
    assert overlapping == []
    times = browser.evaluate("""[...document.querySelectorAll('.plot text[text-anchor=middle]')].map(
        e => e.getBoundingClientRect()).map(r => [r.left, r.right])""")
    assert all(before[1] < after[0] for before, after in pairwise(times))
