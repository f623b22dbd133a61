"""The studio without a browser: what its panels compute, beside NumPy, SciPy's integrators and closed forms."""

import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing
from urllib.request import urlopen

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError, ConventionError, GeometryError, ModelError, SignatureError, UnsupportedError
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.kinematics.forward import body_poses
from cayley.studio.live import View
from cayley.studio.live.panels import (
    PANELS,
    CenterOfMass,
    Ellipsoids,
    EndEffector,
    EquationsPanel,
    Joints,
    Motions,
    Plots,
    Reach,
    Simulation,
)
from cayley.studio.live.panels.simulation import STEP, Running, Settings, laws_for
from cayley.studio.live.robot import node_name, shaped, sticks
from cayley.studio.live.server import refusal
from cayley.studio.live.worker import Worker
from cayley.studio.opening_motion import demonstration
from fuzz.abrupt_clients import handshake


@pytest.fixture(scope="module")
def view():
    with View(cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])) as one:
        yield one


def wait_for(condition, patience=60.0):
    end = time.monotonic() + patience
    while not condition():
        time.sleep(0.01)
        assert time.monotonic() < end, "it never happened"


def seen(robot):
    """Where the nodes of the bodies are (b, 4, 4)."""
    found = np.tile(np.eye(4), (len(robot._bodies), 1, 1))
    found[:, :3, :3] = matrix_from_quaternion(np.stack([node.wxyz for node in robot._bodies]))
    found[:, :3, 3] = [node.position for node in robot._bodies]
    return found


@pytest.mark.parametrize("name", ["planar2r", "scara", "delta", "two_wheel_robot"])
def test_every_body_is_where_the_mechanism_has_it(name):
    arm = cy.load(name)
    with View(arm) as view:
        for q in (view.q, demonstration(arm, view.q)[1][25]):
            view.q = q
            expected = np.stack([pose.matrix for pose in body_poses(arm.tree, q)])
            np.testing.assert_allclose(seen(view.robot), expected, atol=1e-7)
        for rod, node in view.robot._rods:
            ends = [expected[body, :3, :3] @ end + expected[body, :3, 3]
                    for body, end in zip(rod.bodies, rod.ends, strict=True)]
            np.testing.assert_allclose(node.position, np.mean(ends, axis=0), atol=1e-7)
            np.testing.assert_allclose(node.scale[2] * matrix_from_quaternion(node.wxyz)[:, 2], ends[1] - ends[0],
                                       atol=1e-6)


def test_only_what_moved_is_sent(view):
    view.q = [0.1, 0.2]
    sent = []
    queue = view.server.scene._websock_interface.queue_message
    view.server.scene._websock_interface.queue_message = lambda message: (sent.append(message), queue(message))
    try:
        view.q = [0.1, 0.5]
        names = {message.name for message in sent if hasattr(message, "name")}
        assert view.robot.body_node(2) in names and view.robot.body_node(1) not in names
        sent.clear()
        view.q = [0.1, 0.5]
        assert not [message for message in sent if getattr(message, "name", "").startswith(view.robot.body_node(1))]
    finally:
        view.server.scene._websock_interface.queue_message = queue


def test_limits_and_units_of_sliders():
    with View(cy.load("scara")) as view:
        joints = view.robot.panel(Joints)
        labels = [control.label for _, control in joints._sliders]
        assert labels == ["joint1 °", "joint2 °", "joint3 [m]", "joint4 °"]
        arm = view.robot.arm
        for slider, control in joints._sliders:
            scale = 180 / np.pi if slider["turns"] else 1.0
            for shown, limit in ((control.min, arm.lower), (control.max, arm.upper)):
                expected = scale * limit[slider["place"]]
                assert abs(shown - (expected if np.isfinite(expected) else np.sign(expected) * 180.0)) <= control.step
        view.q = np.where(np.isfinite(arm.upper), arm.upper, 0.0)
        assert joints.value_of("joint3") == joints._sliders[2][1].max


@pytest.mark.parametrize("name", ["puma560", "four_bar"])
def test_a_frame_is_brought_to_a_pose_without_leaving_the_branch(name):
    arm = cy.load(name)
    with View(arm) as view:
        view.q = [0.3, -0.6, 0.4, 0.5, 0.8, 0.2] if name == "puma560" else demonstration(arm, view.q)[1][3]
        goal = view.q + 0.1 if name == "puma560" else demonstration(arm, view.robot.rest)[1][8]
        assert view.reach(arm.pose(goal, "tool"))
        np.testing.assert_allclose(view.robot.pose()[:3, 3], arm.pose(goal, "tool")[:3, 3], atol=2e-6)
        np.testing.assert_allclose(view.q, goal, atol=1e-4)  # near by, so it is this one of its postures
        if arm.tree.is_constrained:
            assert np.abs(arm.loops.residual(view.q)).max() < 1e-6
        np.testing.assert_allclose(view.robot.panel(EndEffector).gizmo, view.robot.pose(), atol=1e-6)


def test_what_is_out_of_reach_is_said_and_approached(view):
    view.q = [0.3, 0.6]
    pose = np.eye(4)
    pose[:3, 3] = 3.0, 0.0, 0.0
    assert not view.reach(pose)
    gizmo = view.robot.panel(EndEffector)
    assert gizmo.words.startswith("no, 2.1e+03 mm")
    np.testing.assert_allclose(view.robot.pose()[:3, 3], [0.9, 0.0, 0.0], atol=1e-3)  # stretched towards it
    with pytest.raises(CayleyError):
        view.reach(2 * np.eye(4))


def test_branches_are_those_of_the_closed_form(view):
    view.q = [0.3, 0.6]
    gizmo = view.robot.panel(EndEffector)
    wait_for(lambda: len(gizmo.branches) == 2)
    elbow = np.array(sorted(q[1] for q in gizmo._branches.values()))
    np.testing.assert_allclose(elbow, [-0.6, 0.6], atol=1e-9)


def test_the_ellipsoid_is_that_of_the_singular_values(view):
    view.q = [0.4, 0.9]
    panel = view.robot.panel(Ellipsoids)
    for control, _ in panel._controls.values():
        control.value = True
    with view.update():
        panel._choose()
    J = view.robot.arm.jacobian([0.4, 0.9], "tool", axes="world")[:2]
    U, s, _ = np.linalg.svd(J)
    for kind, lengths in (("velocity", s), ("force", 1 / s)):
        _, node = panel._controls[kind]
        axes = matrix_from_quaternion(node.wxyz)
        lengths = lengths * panel._scales[kind]
        found = axes @ np.diag(np.square(node.scale)) @ axes.T
        np.testing.assert_allclose(found[:2, :2], U @ np.diag(lengths**2) @ U.T, atol=1e-5)
    assert panel._words.value == f"{abs(np.linalg.det(J)):.4g}"
    for control, _ in panel._controls.values():
        control.value = False
    with view.update():
        panel._choose()


def test_the_centre_of_mass_and_the_workspace(view):
    view.q = [0.4, 0.9]
    center = view.robot.panel(CenterOfMass)
    center._shown.value = True
    with view.update():
        center._choose()
    np.testing.assert_allclose(center._ball.position, view.robot.arm.center_of_mass([0.4, 0.9]), atol=1e-7)
    reach = view.robot.panel(Reach)
    reach._shown.value = True
    with view.update():
        reach._choose()
    wait_for(lambda: reach._clouds)
    distances = np.linalg.norm(np.asarray(reach._clouds["tool"].points), axis=1)
    assert 0.88 < distances.max() <= 0.901 and distances.min() < 0.15


def test_a_motion_is_played_scrubbed_and_plotted(view):
    way = np.array([[0.0, 0.0], [1.0, -0.5], [0.2, 0.4]])
    plots = view.robot.panel(Plots)
    plots.choose("joint positions")
    view.show(([0.0, 0.5, 1.0], way), play=False)
    motions = view.robot.panel(Motions)
    motions.seek(0.25)
    np.testing.assert_allclose(view.q, [0.5, -0.25], atol=0.02)
    wait_for(lambda: len(plots.data[0]) > 10 and abs(plots.data[0][np.argmax(plots.data[-1])] - 0.25) < 0.02)
    t, first, second, line = plots.data
    np.testing.assert_allclose(first, np.degrees(np.interp(t, [0.0, 0.5, 1.0], way[:, 0])), atol=1e-3)
    np.testing.assert_allclose(second, np.degrees(np.interp(t, [0.0, 0.5, 1.0], way[:, 1])), atol=1e-3)
    assert sorted(set(line)) == [0.0, 1.0] and line.sum() == 1 and (np.diff(t) > 0).all()
    motions.play()
    wait_for(lambda: motions.time > 0.4)
    view.q = [0.0, 0.1]  # whoever sets it, stops it
    assert not motions.playing and view.q.tolist() == [0.0, 0.1]
    plots.choose("nothing")
    with pytest.raises(ConventionError, match="speed"):
        view.show(([0.0, 1.0], way[:2]), speed=0.0)
    with pytest.raises(SignatureError):
        view.show(([0.0, 1.0], np.zeros((2, 3))))


@pytest.mark.parametrize("law", ["none: it falls", "computed torque", "PD with gravity compensation", "PD"])
def test_what_is_simulated_is_what_an_integrator_with_error_control_finds(law):
    arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    q = np.array([0.3, 0.6])
    target = np.array([0.5, 0.2])
    settings = Settings(80.0, 15.0, (0.0, -5.0, 0.0), 1.5)
    made = Running(arm, "tool", law, q, settings)
    assert made.advance(0.3, target, settings) and abs(made.time - 0.3 - STEP) < 1e-9
    truth = arm.with_payload("tool", 1.5).with_gravity([0.0, -5.0, 0.0])
    inertia = 1 / np.diag(np.linalg.inv(arm.inertia_matrix(q)))

    def tau(t, x, v):
        e = target - x
        if law == "none: it falls":
            return np.zeros(2)
        if law == "computed torque":
            return arm.inverse_dynamics(x, v, 80.0 * e - 15.0 * v)
        held = arm.gravity_forces(x) if "gravity" in law else 0.0
        return inertia * (80.0 * e - 15.0 * v) + held

    run = truth.simulate(q, np.zeros(2), controller=tau, until=0.3, progress=False)
    np.testing.assert_allclose(made.q, run.q[-1], atol=1e-6)
    np.testing.assert_allclose(made.qd, run.qd[-1], atol=1e-5)


def test_stops_hold_a_falling_arm_within_its_limits():
    arm = cy.load("puma560")
    settings = Settings(0.0, 0.0, (0.0, 0.0, -9.81), 0.0)
    made = Running(arm, "tool", "none: it falls", np.zeros(6), settings)
    for _ in range(40):
        assert made.advance(0.1, np.zeros(6), settings)
    assert (made.q > arm.lower - 0.4).all() and (made.q < arm.upper + 0.4).all()


def test_a_closed_machine_is_simulated_closed_with_its_own_gravity_and_load():
    arm = cy.load("four_bar")
    assert laws_for(arm) == ("PD", "none: it falls")
    settings = Settings(0.0, 0.0, (0.0, -4.0, 0.0), 0.5)
    made = Running(arm, "tool", "none: it falls", np.zeros(3), settings)
    made.advance(0.25, np.zeros(3), settings)
    assert np.abs(arm.loops.residual(made.q)).max() < 1e-9
    truth = arm.with_payload("tool", 0.5).with_gravity([0.0, -4.0, 0.0])
    run = truth.simulate(np.zeros(3), np.zeros(3), until=0.25, progress=False)
    np.testing.assert_allclose(made.q, run.q[-1], atol=1e-5)
    assert made.fits(settings) and not made.fits(settings._replace(payload=1.0))


def test_hands_lead_what_is_simulated_by_its_law(view):
    view.q = [0.3, 0.6]
    simulation = view.robot.panel(Simulation)
    simulation.set(law="computed torque", kp=400.0, kd=40.0)
    simulation.run()
    wait_for(lambda: simulation.running and simulation.state[0] > 0.05)
    with view.update():
        view.robot.lead({0: 0.8})
    assert abs(view.q[0] - 0.3) < 0.1  # not at once
    wait_for(lambda: abs(view.q[0] - 0.8) < 0.01)
    simulation.set(law="none: it falls")
    wait_for(lambda: simulation.running and view.robot.target is None)
    before = view.q
    wait_for(lambda: np.abs(view.q - before).max() > 0.05)
    view.q = [0.0, 0.0]
    assert not simulation.running and view.q.tolist() == [0.0, 0.0]


def test_equations_and_counts_are_shown(view):
    panel = view.robot.panel(EquationsPanel)
    panel.work_out("counts")
    wait_for(lambda: "inverse dynamics" in panel.content)
    count = view.robot.arm.inverse_dynamics.operations()
    assert f"<td>{count.multiplications}</td><td>{count.additions}</td>" in panel.content
    panel.work_out("equations")
    wait_for(lambda: "<math" in panel.content)


def test_robots_without_masses_say_what_they_lack():
    with View(cy.load("scara")) as view:
        assert {kind for kind in PANELS if kind.refusal(view.robot)} == {Simulation, CenterOfMass}
        assert "link1" in Simulation.refusal(view.robot)
        with pytest.raises(UnsupportedError, match="mass of link1"):
            view.robot.panel(Simulation)


def test_shapes_are_drawn_and_what_is_missing_is_named(tmp_path):
    place = tmp_path / "arm.urdf"
    place.write_text("""<robot name="arm"><link name="base"><visual><geometry><box size="1 1 0.1"/></geometry>
        </visual></link><link name="rod"><visual><geometry><mesh filename="gone.stl"/></geometry></visual></link>
        <joint name="pivot" type="continuous"><parent link="base"/><child link="rod"/><origin xyz="0 0 1"/>
        <axis xyz="1 0 0"/></joint></robot>""")
    figure = shaped(cy.load(place).tree, "visual")
    assert [len(part.surface.triangles) for part in figure.parts] == [12] and figure.bare == {"rod"}
    with View(cy.load(place)) as view:
        assert "gone.stl" in view.robot.look("visual").missing[0]
        view.robot.look("sticks")
        assert [nodes[0].visible for nodes in view.robot._looks.values()] == [False, True]


def test_every_joint_kind_has_sticks():
    for name in ("stanford", "delta", "two_wheel_robot"):
        arm = cy.load(name)
        with View(arm) as view:
            parts = sticks(view.robot.figure)
        assert all(np.isfinite(part.surface.points).all() for part in parts) and parts


# The handle


def test_a_notebook_shows_the_page_and_a_closed_view_says_so():
    view = cy.load("planar2r").view()
    assert repr(view) == f"<view of planar2r at {view.url}>" and f'src="{view.url}"' in view._repr_html_()
    view.close()
    view.close()
    assert "closed" in view._repr_html_() and repr(view) == "<view, closed>"


def test_ports_in_use_and_impossible_ones_are_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CayleyError, match=f"port {port} of 127.0.0.1 cannot be used"):
            View(cy.load("planar2r"), port=port)
    with pytest.raises(ConventionError, match="from 1 to 65535"):
        View(cy.load("planar2r"), port=70000)
    with View(cy.load("planar2r")) as one, View(cy.load("planar2r")) as two:
        assert one.url != two.url  # the next that is free


def test_what_is_wrong_is_refused_by_name(view):
    with pytest.raises(GeometryError, match=r"\(2,\), not \(3,\)"):
        view.q = [0.0, 0.0, 0.0]
    with pytest.raises(CayleyError):
        view.q = [np.nan, 0.0]
    with pytest.raises(GeometryError, match="a point"):
        view.add(cy.load("planar2r"), at=[1.0, 2.0])
    with pytest.raises(ModelError):
        view.reach(np.eye(4), frame="tol")
    assert len(view.robots) == 1


def test_several_robots_stand_apart_and_move_alone():
    with View(cy.load("planar2r")) as view:
        beside = view.add(cy.load("planar2r"))
        turned = np.diag([-1.0, -1.0, 1.0, 1.0])
        turned[:3, 3] = 0.0, 5.0, 1.0
        other = view.add(cy.load("scara"), at=turned)
        beside.q = [0.5, 0.5]
        assert view.q.tolist() == [0.5, 0.9] and beside.placement[1, 3] > 0.9
        assert len({robot.node() for robot in view.robots}) == 3  # two of one name are two
        assert other.outline()[:, 1].mean() > 4.0


def test_names_are_one_step_of_a_path():
    assert node_name(1, "a/b") == "1 a∕b" and "/" not in node_name(2, "//..//") and node_name(3, "\n") == "3"


# The thread


def test_of_what_is_asked_for_again_and_again_only_the_last_is_done():
    done, begin, complaints = [], threading.Event(), []
    worker = Worker(complaints.append)
    worker.post("first", begin.wait)
    for k in range(100):
        worker.post("slider", lambda k=k: done.append(k))
    worker.post("wrong", lambda: 1 / 0)
    begin.set()
    wait_for(lambda: complaints)
    assert done == [99] and isinstance(complaints[0], ZeroDivisionError)
    ticks = []
    worker.start("clock", ticks.append)
    wait_for(lambda: len(ticks) > 5)
    worker.finish("clock")
    worker.post("later", lambda: done.append("late"), 0.05)
    wait_for(lambda: done[-1] == "late")
    worker.stop()
    assert 0.02 < np.mean(ticks) < 0.25 and not worker._thread.is_alive()


# Whom it answers


def answer(url, **headers):
    """The status that a request gets."""
    with closing(handshake(url, **headers)) as client:
        return int(client.recv(400).split()[1])


@pytest.mark.parametrize("upgrade", [True, False])
def test_the_page_of_the_studio_is_answered_and_that_of_others_is_not(view, upgrade):
    port = view.server.get_port()
    answered = 101 if upgrade else 200
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        for own in (f"{name}:{port}", f"{name}:9", name):  # another port, where it is forwarded
            assert answer(view.url, host=own, upgrade=upgrade) == answered
            assert answer(view.url, host=own, origin=f"http://{own}", upgrade=upgrade) == answered
    for foreign in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "192.168.0.7", "127.0.0.1.evil",
                    "[", "%", "evil.example\r\nHost: 127.0.0.1", f"127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}"):
        assert answer(view.url, host=foreign, upgrade=upgrade) == 403
        assert answer(view.url, host=foreign, origin="http://" + foreign.partition("\r")[0], upgrade=upgrade) == 403
    own = f"127.0.0.1:{port}"
    for foreign in ("http://evil.example", f"http://localhost:{port}", "http://127.0.0.1", f"http://127.0.0.1:{port}0",
                    "null", "", "http://[", f"http://{own}\r\nOrigin: http://evil.example"):
        assert answer(view.url, host=own, origin=foreign, upgrade=upgrade) == 403


def test_a_studio_for_other_machines_is_called_by_numbers_and_its_own_names():
    for name in ("0.0.0.0", "192.168.0.7", "robot.lan"):
        for host in (name, "localhost:80", "192.168.0.7:8080", "[fe80::1]:8080", socket.gethostname().upper()):
            assert refusal(name, [host], [f"http://{host}"]) == ""
            assert "other pages" in refusal(name, [host], ["http://evil.example"])
        assert "Unknown host name" in refusal(name, ["evil.example"], ["http://evil.example"])
        assert "Unknown host name" in refusal(name, [], [])


# The command


def as_in_a_terminal():
    """Where the tests run in the background, Ctrl-C is ignored by all that they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_the_command_shows_robots_until_it_is_interrupted(tmp_path):
    start = tmp_path / "move.npz"
    from cayley.planning import point_to_point
    point_to_point([0.0, 0.0], [1.0, 0.5], duration=1.0).save(start)
    command = [sys.executable, "-m", "cayley", "studio", "planar2r", "scara", "--no-browser", "--motion", str(start)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=as_in_a_terminal) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith("planar2r, scara: http://127.0.0.1:")
            with urlopen(line.split()[2], timeout=60) as page:
                assert page.status == 200 and b"<html" in page.read(2000).lower()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_the_command_names_what_is_wrong(tmp_path):
    missing = subprocess.run([sys.executable, "-m", "cayley", "studio", "planar2r", "--motion", "gone.npz"],
                             capture_output=True, text=True, timeout=120, check=False)
    assert missing.returncode == 1 and "there is no file gone.npz" in missing.stderr


def test_forces_of_contacts_are_shown_while_a_run_is_played():
    from simulation.test_contacts import at, block
    mechanism = block(0.3, 0.0)
    run = mechanism.rollout()(at(0.1, mechanism), [1.0, 0, 0, 0, 0, 0], step=1e-3, steps=60, every=20)
    with closing(View(mechanism)) as shown:
        shown.show(run, play=False)
        motions = shown.robot.panel(Motions)
        motions.seek(0.06)
        assert [len(node.points) for node in motions._contacts] == [4, 4 * 16]
        motions.takes(run.q[0])
        assert motions._contacts == []
