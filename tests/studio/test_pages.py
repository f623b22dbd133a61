"""Every kind of page in a real Chromium: players, reports and pages of control laws fit screens of any width, are
operated by keys alone, and say to screen readers what everything is."""

import numpy as np
import pytest

import cayley as cy
from cayley.studio import write_motion
from cli.processes import call

WIDTHS = (390, 1400, 2560)
KINDS = ("player", "machine", "control", "report")
FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
LONG = "a joint with a name that is longer than any slider is wide, and goes on"
URDF = f"""<robot name="arm"><link name="base"><visual><geometry><cylinder radius="0.1" length="0.2"/></geometry>
<material name="m"><color rgba="0.8 0.1 0.1 1"/></material></visual></link>
<link name="rod"><visual><origin xyz="0.25 0 0"/><geometry><box size="0.5 0.1 0.1"/></geometry></visual></link>
<joint name="{LONG}" type="revolute"><origin xyz="0 0 0.3"/><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="module")
def page(pages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    (folder / "arm.urdf").write_text(URDF)

    def made(kind):
        place = folder / f"{kind}.html"
        if kind == "report":
            return pages("planar2r")
        if place.exists():
            return place
        if kind == "player":
            return write_motion(cy.load(folder / "arm.urdf"), ([0.0, 2.0], [[-0.5], [0.9]]), place)
        if kind == "machine":
            bar = cy.load("four_bar")
            way = bar.loops.follow_inputs({"crank": np.linspace(0.0, 1.0, 11)}, start=bar.neutral).configuration
            return write_motion(bar, (np.linspace(0.0, 1.0, 11), way), place)
        call("control", "planar2r", "--law", "computed-torque", "--time", "1", "--report", place)
        return place
    return made


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_overflows_and_nothing_complains(browser, page, kind, width):
    browser.open(page(kind), width=width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    beyond = browser.evaluate(
        """[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1
        && !e.closest('.scroll, .picture, .equations, nav, svg')).map(e => e.outerHTML.slice(0, 120))""")
    covered = browser.evaluate("""(() => { // of what is to be pressed, what lies under something else
        return [...document.querySelectorAll('.tools button, .bar button, .bar input, .bar select')].filter(e => {
            e.scrollIntoView({ block: 'center', behavior: 'instant' });
            const b = e.getBoundingClientRect(), top = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
            return top !== e && !e.contains(top); }).map(e => e.id); })()""")
    assert beyond == [] and covered == [] and browser.problems == [] and len(browser.requests) == 1
    size = browser.evaluate("(v => [v.width, v.height])(document.getElementById('view'))")
    assert size[0] > 0.55 * min(width, 1500) and size[1] >= 240


@pytest.mark.parametrize("kind", KINDS)
def test_keys_alone_reach_and_move_everything(browser, page, kind):
    browser.open(page(kind), width=1400)
    focused = "(e => e.id || e.getAttribute('aria-label') || e.textContent)(document.activeElement)"
    reached = []
    for _ in range(60):
        browser.key("Tab")
        reached.append(browser.evaluate(focused))
        if len(reached) > 2 and reached[-1] == reached[0]:
            break
    sliders = browser.evaluate("report.scene.sliders.map(s => s.name)")
    assert {"view", "home", "closer", "farther", "play", "scrub", "speed", "show-frames", *sliders} <= {*reached}
    browser.evaluate("document.getElementById('view').focus()")
    turned = browser.evaluate("report.view.camera().azimuth")
    browser.key("ArrowLeft")
    assert browser.evaluate("report.view.camera().azimuth") > turned
    browser.key("+", "+")
    assert browser.evaluate("report.view.camera().zoom") > 1
    browser.key("0", "0")
    assert browser.evaluate("report.view.camera().zoom") == 1
    browser.key(" ", " ")
    browser.wait("report.playing && report.time > 0.02")
    browser.key(" ", " ")
    assert browser.evaluate("report.playing") is False
    browser.evaluate("document.getElementById('scrub').focus()")
    before = browser.evaluate("report.time")
    browser.key("ArrowRight")
    assert browser.evaluate("report.time") > before
    browser.evaluate("document.querySelector('#sliders input').focus()")
    before = browser.evaluate("report.view.q")
    browser.key("ArrowRight")
    browser.evaluate(FRAME)
    assert browser.evaluate("report.view.q") != before and browser.problems == []


@pytest.mark.parametrize("kind", KINDS)
def test_screen_readers_are_told_what_everything_is(browser, page, kind):
    browser.open(page(kind), width=1400)
    browser.evaluate("report.show(0.5)")
    browser.order("Accessibility.enable")
    nodes = [node for node in browser.order("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    roles = {}
    for node in nodes:
        roles.setdefault(node["role"]["value"], []).append(node.get("name", {}).get("value", ""))
    operated = ("button", "slider", "combobox", "checkbox", "link", "application", "image")
    nameless = [role for role in operated for name in roles.get(role, []) if not name.strip()]
    assert nameless == [] and len(roles["slider"]) == 1 + len(browser.evaluate("report.scene.sliders"))
    assert {*browser.evaluate("report.scene.sliders.map(s => s.name)")} < {*roles["slider"]}
    assert any("in three dimensions" in name for name in roles["application"])
    assert "Joints" in roles["group"]
    said = dict(browser.evaluate("""[...document.querySelectorAll('input[type=range]')].map(
        s => [s.ariaLabel, s.getAttribute('aria-valuetext')])"""))
    assert said.pop("Time of the motion") == "0.50 s"
    assert said and all(words.endswith(("°", " m")) for words in said.values())
    described = "document.getElementById(document.getElementById('view').getAttribute('aria-describedby')).textContent"
    assert "arrow keys" in browser.evaluate(described) and "space plays" in browser.evaluate(described)
    live = browser.evaluate("[...document.querySelectorAll('output')].map(o => o.ariaLive ?? o.ariaHidden)")
    assert set(live) <= {"off", "true"}  # what moves with every picture is not read out
