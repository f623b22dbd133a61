"""Motions that are played: configurations at the times of the pictures, whatever was given; what is in the pictures,
and that nothing but the mechanism moves in them."""

import shutil
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.path import Path as Outline
from PIL import Image
from scipy.spatial.transform import Rotation, Slerp

import cayley as cy
from cayley.drawing.played import chosen, played
from cayley.drawing.skeleton import chassis_plates
from cayley.errors import ConventionError, GeometryError, ModelError, SignatureError, UnsupportedError
from cayley.model.constraint_kinds import Disc
from cayley.model.joint_kinds import Floating
from cayley.model.parts import Body, Joint


@pytest.fixture(autouse=True)
def no_figures_left():
    before = plt.get_fignums()
    yield
    assert plt.get_fignums() == before


ARM = cy.load("planar2r")


class Plan:
    duration = 1.0

    def __call__(self, t):
        return np.stack([np.sin(t), t**2], axis=-1), None, None


def test_all_that_is_a_motion_is_played():
    t = np.linspace(0.0, 1.0, 11)
    expected = np.stack([np.sin(t), t**2], axis=1)
    for motion in (Plan(), (t, expected), SimpleNamespace(t=t, q=expected)):
        found = played(ARM.tree, motion, 0.1)
        np.testing.assert_allclose(found.t, t, atol=1e-15)
        np.testing.assert_allclose(found.q, expected, atol=1e-14)
    run = ARM.simulate([0.3, 0.2], np.zeros(2), times=t)
    rolled = ARM.system().rollout(method="rk4")({"q": [0.3, 0.2], "qd": np.zeros(2)}, step=1e-3, steps=1000, every=100)
    np.testing.assert_allclose(played(ARM.tree, run, 0.1).q, played(ARM.tree, rolled, 0.1).q, atol=1e-6)
    np.testing.assert_allclose(played(ARM.tree, (t - 5, expected), 0.03).t[[0, -1]], [-5, -4])


def test_between_two_attitudes_it_turns_the_shortest_way():
    ball = cy.Mechanism.of("ball", [Body("floor"), Body("ball", 1.0, inertia=np.eye(3))],
                           [Joint("free", "floor", "ball", Floating())])
    ends = Rotation.from_rotvec([[0.0, 0.0, 3.0], [0.0, 0.4, 3.3]])
    turns = np.roll(ends.as_quat(), 1, axis=1) * [[1.0], [-1.0]]  # the second by its other sign
    q = np.concatenate([[[0.0, 1.0, 2.0], [0.0, 3.0, 2.0]], turns], axis=1)
    found = played(ball.tree, ([0.0, 2.0], q), 0.5)
    between = Rotation.from_quat(np.roll(found.q[:, 3:], -1, axis=1))
    wanted = Slerp([0.0, 2.0], ends)(found.t)
    np.testing.assert_allclose(between.as_matrix(), wanted.as_matrix(), atol=1e-12)
    np.testing.assert_allclose(found.q[[0, -1], :3], q[:, :3], atol=1e-12)


@pytest.mark.parametrize(("motion", "error", "said"), [
    (([0.0, 1.0], np.zeros((3, 2))), SignatureError, "2 times"), (([0.0, 1.0], np.zeros((2, 3))), SignatureError, "2,"),
    (([0.0, -1.0], np.zeros((2, 2))), ModelError, "one order"), (([0.0], np.zeros((1, 2))), ModelError, "one order"),
    (([0.0, np.nan], np.zeros((2, 2))), ModelError, "one order"),
    (([0.0, 1.0], [[0.0, 0.0], [0.0, np.inf]]), GeometryError, "not finite"), (np.zeros(2), SignatureError, "a motion"),
    (SimpleNamespace(t=np.arange(2.0)), SignatureError, "a motion"),
    (([0.0, 1e9], np.zeros((2, 2))), ModelError, "most")])
def test_what_is_no_motion_is_named(motion, error, said):
    with pytest.raises(error, match=said):
        played(ARM.tree, motion, 0.05)


def test_a_moving_picture_has_the_pictures_of_its_time_and_only_the_arm_moves_in_them(tmp_path):
    place = ARM.animate(([0.0, 0.4], [[0.0, 0.0], [1.0, 0.5]]), tmp_path / "move.gif", speed=2.0, trail=False)
    with Image.open(place) as film:
        assert film.n_frames == 5 and film.info["duration"] == 50
        pictures = []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("L"), dtype=int))
    moved = np.abs(np.diff(pictures, axis=0)).max(axis=0) > 60
    height, width = moved.shape
    assert moved.any()
    above = moved[: int(0.95 * height)]  # the time, which is written below, changes
    assert not above[: int(0.05 * height)].any() and not above[:, : int(0.08 * width)].any()  # the axes stay
    changed = np.flatnonzero(moved.any(axis=0))
    assert changed[-1] > 0.6 * width  # the tip, which goes up on the right


def test_a_robot_in_space_is_drawn_where_it_goes(tmp_path):
    robot = cy.load("two_wheel_robot")
    ends = np.zeros((2, robot.nq))
    ends[1, 0] = 1.5
    place = robot.animate(([0.0, 0.1], ends), tmp_path / "drive.gif")
    with Image.open(place) as film:
        pictures = []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("L"), dtype=float) < 160)
    columns = [np.average(np.arange(dark.shape[1]), weights=dark.sum(axis=0)) for dark in pictures]
    assert columns[0] < columns[1] < columns[-1]  # x is to the right


def test_files_and_speeds_that_cannot_be_are_named(tmp_path):
    motion = ([0.0, 0.1], np.zeros((2, 2)))
    with pytest.raises(ConventionError, match=r"\.html, \.gif or \.mp4"):
        ARM.animate(motion, tmp_path / "move.avi")
    with pytest.raises(ConventionError, match="moving pictures"):
        ARM.animate(motion, tmp_path / "move.html", trail=False)
    with pytest.raises(ModelError, match="speed"):
        ARM.animate(motion, tmp_path / "move.gif", speed=0.0)
    with pytest.raises(ModelError, match="folder"):
        ARM.animate(motion, tmp_path / "nowhere" / "move.gif")


def test_an_mp4_is_written_where_ffmpeg_is_and_refused_by_name_where_not(tmp_path, monkeypatch):
    motion = ([0.0, 0.3], [[0.0, 0.0], [1.0, 0.5]])
    if shutil.which("ffmpeg"):
        place = ARM.animate(motion, tmp_path / "move.mp4", size=(3.33, 2.51))
        assert place.read_bytes()[4:8] == b"ftyp"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnsupportedError, match=r"ffmpeg.*install it"):
        ARM.animate(motion, tmp_path / "none.mp4")
    assert not (tmp_path / "none.mp4").exists()


def test_instants_are_those_that_were_chosen():
    motion = (np.array([0.0, 1.0]), np.array([[0.0, 0.0], [1.0, 2.0]]))
    np.testing.assert_allclose(chosen(ARM.tree, motion, [0.25, 1.0]).q, [[0.25, 0.5], [1.0, 2.0]])
    np.testing.assert_allclose(chosen(ARM.tree, Plan(), 3).t, [0.0, 0.5, 1.0])
    for times, said in (([1.5], "from t = 0 to 1"), (1, "two or more"), ([], "from t"), ([np.nan], "from t")):
        with pytest.raises(ModelError, match=said):
            chosen(ARM.tree, motion, times)


def test_a_run_is_drawn_at_several_instants_along_the_way_that_it_went():
    run = ARM.simulate([1.0, 0.5], np.zeros(2), times=np.linspace(0.0, 1.0, 51))
    system = ARM.system().simulate({"q": [1.0, 0.5], "qd": np.zeros(2)}, times=run.t)
    way = ARM.pose(run.q, "tool")[:, :2, 3]
    for drawn in (run.draw([0.0, 0.5, 1.0]), system.draw(3)):
        trail, = (line for line in drawn.lines if line.get_label() == "_trail of tool")
        points = np.column_stack(trail.get_data())
        nearest = np.linalg.norm(way[:, None] - points, axis=2).min(axis=1)
        assert nearest.max() < 0.02 and drawn.get_title() == "t = 0, 0.5, 1 s"
        plt.close(drawn.figure)


def test_what_has_no_mechanism_or_too_many_motions_says_so():
    tank = cy.System("tank", state={"level": "m"}, derivative=lambda t, x, u, p: -x.level)
    with pytest.raises(UnsupportedError, match=r"tank.*no block"):
        tank.simulate({"level": 1.0}, until=0.1).animate()
    rolled = ARM.rollout()(np.zeros((3, 2)), np.zeros(2), step=1e-3, steps=10, every=5)
    with pytest.raises(SignatureError, match="batch"):
        rolled.animate()
    assert "player of a motion of planar2r" in repr(rolled[1].animate())


def test_a_chassis_is_a_plate_that_spans_its_wheels():
    robot = cy.load("two_wheel_robot")
    (body, corners), = chassis_plates(robot.tree).items()
    assert robot.bodies[body].name == "chassis"
    assert np.ptp(corners[:, 2]) < 1e-12
    inside = Outline(corners[:, :2]).contains_points(
        [0.999 * joint.placement[:2, 3] for joint in robot.joints if joint.parent == "chassis"], radius=1e-9)
    assert inside.all()
    coin = cy.Mechanism.of("coin", [Body("floor"), Body("coin", 1.0)], [Joint("free", "floor", "coin", Floating())],
                           constraints=[Disc("edge", "floor", "coin", 0.3)])
    assert not chassis_plates(coin.tree) and not chassis_plates(ARM.tree)
