"""`cayley trajectory`, run as a process."""

import numpy as np
import pytest

import cayley as cy
from cayley.planning import MotionLimits, load_motion, time_optimal
from cli.processes import call, data, widest

WAY = ("0 -0.5 0 -2 0 1.6 0.8", "1 0.3 0 -1 0 1.6 0", "-1 0.3 0.2 -1 0 1.0 0")


def test_the_fastest_motion_through_waypoints(tmp_path):
    found = data(call("trajectory", "panda", *WAY, "--acceleration", "10", "--samples", "11", "--json",
                     "--plot", tmp_path / "move.png", "--save", tmp_path / "move.npz"))
    arm = cy.load("panda")
    points = [[float(word) for word in text.split()] for text in WAY]
    move = time_optimal(points, MotionLimits.of(arm, acceleration=10.0))
    assert found["duration"] == pytest.approx(move.duration, rel=1e-12)
    np.testing.assert_allclose(found["q"], move(np.linspace(0.0, move.duration, 11)).q, atol=1e-12)
    assert max(found["parts"]["acceleration"]) == pytest.approx(1.0, abs=1e-9)
    assert load_motion(tmp_path / "move.npz").duration == pytest.approx(move.duration, rel=1e-12)
    assert (tmp_path / "move.png").read_bytes().startswith(b"\x89PNG")
    shown = call("trajectory", "panda", *WAY, "--acceleration", "10", "--stops", "1").stdout
    assert "panda_joint7" in shown and "100%" in shown and widest(shown) <= 80


def test_a_machine_with_a_loop_goes_by_its_drives():
    found = data(call("trajectory", "four_bar", "0.2", "2.0", "--velocity", "1", "--acceleration", "5", "--json"))
    machine = cy.load("four_bar")
    q = np.array(found["q"])
    assert q[0, 0] == pytest.approx(0.2) and q[-1, 0] == pytest.approx(2.0)
    assert np.abs(machine.loops.residual(q)).max() < 1e-12
    assert max(map(max, found["parts"].values())) == pytest.approx(1.0, abs=1e-6)
    shown = call("trajectory", "four_bar", "0.2", "1.0", "--law", "3-4-5", "--time", "2", "--effort", "inf").stdout
    assert "rocker" in shown
    assert "is open by" in call("trajectory", "four_bar", "0.2", "1.0 2.0 3.0", "--acceleration", "5", code=1).stderr


def test_laws_poses_and_postures():
    found = data(call("trajectory", "puma560", "0.5 0.2 0.1 180deg 0 0", "0.3 0.5 0.2 180deg 0 0", "--poses",
                      "--posture", "elbow up", "--time", "2", "--json"))
    arm = cy.load("puma560")
    assert found["duration"] == 2.0
    poses = arm.pose(np.array(found["q"])[[0, -1]], "tool")
    np.testing.assert_allclose(poses[:, :3, 3], [[0.5, 0.2, 0.1], [0.3, 0.5, 0.2]], atol=1e-9)
    quick = data(call("trajectory", "scara", "0 0 0 0", "0.5 0.5 0.1 0", "--law", "jerk-limited", "--velocity",
                     "1 1 0.1 1", "--acceleration", "3", "--jerk", "10", "--json"))
    assert quick["duration"] == pytest.approx(1.2)


@pytest.mark.parametrize(("arguments", "words"), [
    (("panda", *WAY[:2], "--velocity", "0", "--acceleration", "1"),
     "joint 'panda_joint1' moves, but its limit of velocity is 0"),
    (("panda", *WAY[:2], "--time", "0.1"), "too short: joint panda_joint1"),
    (("panda", WAY[0], WAY[0], WAY[1], "--acceleration", "1"), "waypoints 0 and 1 are the same"),
    (("panda", *WAY[:2], "--effort", "1"), "at rest"),
    (("panda", WAY[0], "0 1.7 0 -2 0 1.6 0.8", "0 1.75 0 -1 0 1.6 0.8", "0 0 0 -1 0 1 0.8", "--acceleration", "9"),
     "panda_joint2 is at"),
    (("puma560", "0 0 0 0 0 0", "1 0 0 0 0 0"), "no limit of acceleration or effort"),
])
def test_what_cannot_be_names_the_joint(arguments, words):
    assert words in " ".join(call("trajectory", *arguments, code=1).stderr.split())


@pytest.mark.parametrize(("arguments", "words"), [
    ((WAY[0],), "give two configurations or more"), ((*WAY, "--law", "3-4-5"), "a law is for two configurations"),
    ((*WAY[:2], "--acceleration", "1 2"), "one number, or 7 of them"),
    ((*WAY[:2], "--stops", "x"), "'x' are not numbers of waypoints"),
    ((*WAY[:2], "--posture", "elbow up"), "a posture is chosen between poses")])
def test_what_is_not_understood(arguments, words):
    said = call("trajectory", "panda", *arguments, code=2).stderr
    assert words in " ".join(said.replace("│", " ").split())
