"""The studio in a real Chromium that draws with the processor: what hands do on the page moves the robot, and what the
robot does reaches the page."""

import json
import time

import numpy as np
import pytest

import cayley as cy
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.kinematics.forward import body_poses
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from cayley.studio.live import View
from cayley.studio.live.panels import EndEffector, EquationsPanel, Frames, Motions, Plots, Simulation
from studio.browser import WEBGL

# What viser's worker hands to the page: counted, and the last place of every node kept
LISTEN = """window.arrived = []; window.nodes = {};
window.Worker = class extends Worker { constructor(...given) { super(...given);
  this.addEventListener('message', ({data}) => { if (data.type !== 'message_batch') return;
    for (const m of data.messages) { const node = window.nodes[m.name] ??= {};
      if (m.type === 'SetPositionMessage') node.position = [...m.position];
      if (m.type === 'SetOrientationMessage') { node.wxyz = [...m.wxyz]; window.arrived.push(m.name); } } }); } };"""
CONTROL = """(name => { const labels = [...document.querySelectorAll('label[for]')];
  const label = labels.find(l => l.textContent.startsWith(name));
  return label && document.getElementById(label.htmlFor); })"""
CHROMIUM = WEBGL
FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
# Of three.js, of swiftshader, and of viser, which tries again where a busy machine was slow to answer.
IGNORED = ("THREE.Clock", "GPU stall due to ReadPixels", "WebSocket is closed before the connection is established")


@pytest.fixture(scope="module")
def view():
    with View(cy.load("puma560")) as one:
        yield one


@pytest.fixture(scope="module")
def pair():
    """A machine with loops, and an arm beside it."""
    with View(cy.load("four_bar")) as one:
        one.add(cy.load("scara"), at=(0.0, 1.5, 0.0))
        yield one


def opened(browser, view, width=1400, height=700):
    """The page of a view, when it has everything; as it is, if it is open."""
    if getattr(browser, "showing", None) == (view, width):
        browser.problems.clear()
        return view
    browser.showing = view, width
    before = set(view.server.get_clients())
    browser.open(view.url, width=width, height=height, first=LISTEN)
    until(browser, lambda: set(view.server.get_clients()) - before)
    browser.wait("!!document.querySelector('label[for]') && !!document.querySelector('canvas')")
    if width > 600:  # beside the panel
        browser.wait("document.querySelector('canvas').getBoundingClientRect().width < innerWidth - 200")
    return view


def until(browser, condition, patience=25.0):
    """Wait for something on this side, while the page goes on."""
    end = time.monotonic() + patience
    while not condition():
        browser.evaluate("new Promise(done => setTimeout(() => done(0), 20))")
        assert time.monotonic() < end, "it never happened"


def focus(browser, name, part=""):
    """Set the focus on a control by the beginning of its label, or on a part of it."""
    found = f"{CONTROL}({json.dumps(name)})" + (f"?.querySelector({json.dumps(part)})" if part else "")
    browser.wait(f"!!{found}")
    browser.evaluate(f"{found}.focus()")


def shown(browser, name, value):
    """Wait until a slider of the page shows a value: keys that are pressed earlier count from the former one."""
    found = f"{CONTROL}({json.dumps(name)})?.querySelector('[role=slider]')"
    browser.wait(f"Math.abs({found}?.getAttribute('aria-valuenow') - {value}) < 1e-9")


def click(browser, words, kind="button"):
    """Press what has these words on it."""
    found = f"[...document.querySelectorAll({json.dumps(kind)})].find(b => b.textContent === {json.dumps(words)})"
    browser.wait(f"!!{found}")
    browser.evaluate(f"{found}.click()")


def problems(browser):
    return [problem for problem in browser.problems if not any(word in problem for word in IGNORED)]


def panel(view, kind):
    return view.robot.panel(kind)


def poses_on_the_page(browser, robot):
    """Where the page has the bodies (b, 4, 4)."""
    nodes = browser.evaluate("window.nodes")
    found = np.tile(np.eye(4), (len(robot.arm.bodies), 1, 1))
    for body in range(len(found)):
        node = nodes.get(robot.body_node(body), {})
        found[body, :3, :3] = matrix_from_quaternion(node["wxyz"]) if "wxyz" in node else np.eye(3)
        found[body, :3, 3] = node.get("position", np.zeros(3))
    return found


def test_a_slider_on_the_page_moves_the_links_there(browser, view):
    opened(browser, view)
    view.q = np.zeros(6)
    before = view.q
    shown(browser, "joint2", 0.0)
    focus(browser, "joint2", " [role=slider]")
    browser.press("ArrowRight", 12)
    until(browser, lambda: abs(view.q[1] - np.radians(1.2)) < 1e-6)
    assert (np.delete(view.q, 1) == np.delete(before, 1)).all()
    expected = np.stack([pose.matrix for pose in body_poses(view.robot.arm.tree, view.q)])
    until(browser, lambda: np.abs(poses_on_the_page(browser, view.robot) - expected).max() < 1e-4)
    browser.press("End")
    until(browser, lambda: view.q[1] == view.robot.arm.upper[1])  # the end of a slider is the limit, to the last digit
    assert problems(browser) == []


def test_the_gizmo_is_dragged_and_the_end_effector_follows(browser, view):
    opened(browser, view)
    view.q = [0.3, -0.6, 0.4, 0.5, 0.8, 0.2]
    gizmo = panel(view, EndEffector)
    client = max(view.server.get_clients().values(), key=lambda one: one.client_id)
    start = gizmo.gizmo
    size = 0.2 * view.robot.size
    tip = start[:3, 3] + 0.9 * size * start[:3, 2]
    far = start[:3, 3] + 1.4 * size * start[:3, 2]
    until(browser, lambda: np.allclose(browser.evaluate("window.nodes")[view.robot.node("gizmo")]["position"],
                                       start[:3, 3], atol=1e-5))
    for _ in range(3):
        browser.evaluate(FRAME)  # until it is drawn there, and there only
    browser.drag(on_screen(browser, client, tip), on_screen(browser, client, far))
    until(browser, lambda: np.linalg.norm(gizmo.gizmo[:3, 3] - start[:3, 3]) > 0.2 * size)
    until(browser, lambda: not gizmo.held)
    pose = view.robot.pose()
    np.testing.assert_allclose(pose, gizmo.gizmo, atol=1e-5)
    assert gizmo.words == "yes" and np.linalg.norm(pose[:3, 3] - start[:3, 3]) > 0.2 * size
    moved = pose[:3, 3] - start[:3, 3]
    assert np.linalg.norm(np.cross(moved, start[:3, 2])) < 0.02 * np.linalg.norm(moved)  # along the arrow
    np.testing.assert_allclose(pose[:3, :3], start[:3, :3], atol=1e-5)
    view.robot.arm.configurations.check(view.q)
    assert problems(browser) == []


def on_screen(browser, client, point):
    """Where a point of the scene is on the page."""
    camera = client.camera
    left, top, width, height = browser.box("canvas")
    x, y, z = matrix_from_quaternion(camera.wxyz).T @ (point - camera.position)  # to the right, down, ahead
    scale = 0.5 * height / np.tan(camera.fov / 2)
    return float(left + 0.5 * width + scale * x / z), float(top + 0.5 * height + scale * y / z)


@pytest.mark.parametrize("of", ["view", "pair"])
def test_on_a_phone_robots_stand_above_the_panel(request, browser, of):
    """The panel of a phone covers the lower 60 % of the page, and hid them."""
    shown = request.getfixturevalue(of)
    opened(browser, shown, width=390, height=844)
    client = list(shown.server.get_clients().values())[-1]
    points = np.concatenate([robot.outline() for robot in shown.robots])

    def visible():
        x, y = np.transpose([on_screen(browser, client, point) for point in points])
        return x.min() > 0 and x.max() < 390 and y.min() > 0 and y.max() < 0.4 * 844

    until(browser, visible)


def test_branches_are_chosen_on_the_page(browser, view):
    view.q = [0.3, -0.6, 0.4, 0.5, 0.8, 0.2]
    opened(browser, view)
    pose = view.robot.pose()
    until(browser, lambda: len(panel(view, EndEffector).branches) > 3)
    names = panel(view, EndEffector).branches
    before = view.q
    focus(browser, "Branch")
    browser.evaluate(f"{CONTROL}('Branch').click()")
    other = next(name for name in names if name != panel(view, EndEffector)._branch.value)
    click(browser, other, "[role=option]")
    until(browser, lambda: np.abs(view.q - before).max() > 0.1)
    np.testing.assert_allclose(view.robot.pose(), pose, atol=1e-6)
    assert problems(browser) == []


def test_a_motion_plays_pauses_and_is_scrubbed(browser, view):
    opened(browser, view)
    there = view.robot.arm.random_configuration(seed=1)
    view.show(([0.0, 60.0], [np.zeros(6), there]))  # so long that it is not played again before it pauses
    motions = panel(view, Motions)
    browser.evaluate("window.arrived = []; window.since = performance.now()")
    until(browser, lambda: motions.time > 2.0)
    arrived, seconds = browser.evaluate("[window.arrived, (performance.now() - window.since) / 1000]")
    click(browser, "Pause")
    until(browser, lambda: not motions.playing)
    stopped = motions.time
    rate = arrived.count(view.robot.body_node(len(view.robot.arm.bodies) - 1)) / seconds
    assert rate > 3  # poses of the last link a second; 40 on an idle machine, and this one may be busy
    focus(browser, "Time", " [role=slider]")
    browser.press("Home")
    until(browser, lambda: motions.time == 0.0)
    np.testing.assert_allclose(view.q, np.zeros(6), atol=1e-9)
    assert stopped > 2.0 and problems(browser) == []


def test_a_closed_machine_stays_closed_under_a_slider(browser, pair):
    opened(browser, pair)
    arm = pair.robot.arm
    focus(browser, "crank", " [role=slider]")
    browser.press("ArrowRight", 30)
    until(browser, lambda: abs(pair.q[0] - np.radians(3.0)) < 1e-6)
    assert np.abs(arm.loops.residual(pair.q)).max() < 1e-9
    browser.press("Home")
    until(browser, lambda: pair.q[0] < -3.1)
    assert np.abs(arm.loops.residual(pair.q)).max() < 1e-9
    expected = np.stack([pose.matrix for pose in body_poses(arm.tree, pair.q)])
    until(browser, lambda: np.abs(poses_on_the_page(browser, pair.robot) - expected).max() < 1e-4)
    assert problems(browser) == []


def test_a_second_robot_stands_in_the_same_scene(browser, pair):
    opened(browser, pair)
    other = pair.robots[1]
    before = pair.q
    browser.wait("document.querySelectorAll('[role=tab]').length === 2")
    tabs = browser.evaluate("[...document.querySelectorAll('[role=tab]')].map(t => t.textContent)")
    assert tabs == ["four_bar", "scara"]
    browser.click("[role=tab]:nth-of-type(2)")
    focus(browser, "joint3", " [role=slider]")
    browser.press("ArrowRight", 5)
    until(browser, lambda: abs(other.q[2] - other.rest[2]) > 1e-4)
    until(browser, lambda: np.abs(poses_on_the_page(browser, other) - np.stack(
        [pose.matrix for pose in body_poses(other.arm.tree, other.q)])).max() < 1e-4)
    root = browser.evaluate(f"window.nodes[{json.dumps(other.node())}]")
    np.testing.assert_allclose(root["position"], [0.0, 1.5, 0.0])
    assert (pair.q == before).all() and problems(browser) == []


def test_a_browser_that_leaves_and_a_server_that_stops_do_no_harm(browser, pair):
    opened(browser, pair)
    times = np.linspace(0.0, 1.0, 20)
    way = pair.robot.arm.loops.follow_inputs({"crank": times}, start=pair.robot.rest).configuration
    pair.show((times, way))
    browser.open("about:blank", width=400)
    browser.showing = None
    until(browser, lambda: not pair.server.get_clients())
    before = pair.q
    until(browser, lambda: np.abs(pair.q - before).max() > 0.01)  # it plays on for whoever comes next
    opened(browser, pair, 390)
    pair.close()
    pair.close()
    pair.q = pair.robot.rest
    assert repr(pair) == "<view, closed>" and (pair.q == pair.robot.rest).all()
    assert not pair._worker._thread.is_alive()


def test_simulation_is_run_from_the_page(browser, view):
    opened(browser, view)
    view.q = [0.2, -0.4, 0.6, 0.1, 0.4, 0.0]
    simulation = panel(view, Simulation)
    click(browser, "Simulation", "p, div, button")
    click(browser, "Run")
    until(browser, lambda: simulation.running and simulation.state[0] > 0.3)
    np.testing.assert_allclose(view.q, [0.2, -0.4, 0.6, 0.1, 0.4, 0.0], atol=1e-6)  # held by its law
    focus(browser, "joint1", " [role=slider]")
    browser.press("ArrowRight", 20)
    until(browser, lambda: abs(view.q[0] - 0.2) > 0.02)  # led to where the slider is
    click(browser, "Stop")
    until(browser, lambda: not simulation.running)
    assert problems(browser) == []


@pytest.mark.parametrize("width", [390, 1400, 2560])
def test_nothing_overflows_and_nothing_is_asked_of_other_hosts(browser, view, width):
    opened(browser, view, width)
    panel(view, EquationsPanel).work_out("counts")
    until(browser, lambda: "inverse dynamics" in panel(view, EquationsPanel).content)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    beyond = browser.evaluate("""[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() &&
        e.getBoundingClientRect().width && e.getBoundingClientRect().right > innerWidth + 1)
        .map(e => e.outerHTML.slice(0, 100))""")
    assert beyond == [] and problems(browser) == []
    assert all(url.startswith((view.url, f"blob:{view.url}", "data:")) for url in browser.requests)


def test_every_control_has_a_name_that_can_be_spoken(browser, view):
    opened(browser, view)
    browser.wait("!!document.querySelector('[role=slider][aria-label]:not([aria-label=\"\"])')")
    nameless = browser.evaluate("""[...document.querySelectorAll('[role=slider], input:not([type=hidden])')].filter(e =>
        e.checkVisibility() && !e.getAttribute('aria-label') && !e.labels?.length && !e.closest('[aria-hidden]'))
        .map(e => e.outerHTML.slice(0, 200))""")
    assert nameless == []
    spoken = browser.evaluate("[...document.querySelectorAll('[role=slider]')].map(e => e.getAttribute('aria-label'))")
    assert {"joint1 °", "joint6 °", "Time [s]"} <= set(spoken)
    assert browser.evaluate("document.documentElement.lang") == "en" and browser.evaluate("document.title")


HOSTILE = ["a/b", "</script><b id=bad>x</b>", "<img src=x onerror='window.bad=1'>", "..", "", "a/b/c", "日本 &amp; $x$"]


def test_hostile_names_do_no_harm(browser):
    bodies = [Body("base"), *[Body(f"{name} {k}", 1.0, [0.1, 0.0, 0.0], 0.01 * np.eye(3))
                              for k, name in enumerate(HOSTILE)]]
    placement = np.eye(4)
    placement[0, 3] = 0.2
    joints = [Joint(f"{name} joint {k}", bodies[k].name, bodies[k + 1].name, Revolute(), placement)
              for k, name in enumerate(HOSTILE)]
    arm = cy.Mechanism.of("</title><i id=bad>/evil/", bodies, joints)
    with View(arm) as view:
        opened(browser, view)
        view.q = np.full(arm.nq, 0.3)
        panel(view, Frames).choose("all")
        panel(view, Plots).choose("joint positions")
        panel(view, EquationsPanel).work_out("counts")
        until(browser, lambda: "inverse dynamics" in panel(view, EquationsPanel).content)
        expected = np.stack([pose.matrix for pose in body_poses(arm.tree, view.q)])
        until(browser, lambda: np.abs(poses_on_the_page(browser, view.robot) - expected).max() < 1e-4)
        assert browser.evaluate("document.getElementById('bad') === null && window.bad === undefined")
        assert problems(browser) == []
