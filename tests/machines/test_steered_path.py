"""A cart that holds its steering fixed piece by piece: its path beside the integrated motion of a bicycle, and its
program in time."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import cayley.geometry.rotations as rot
from cayley.errors import ModelError, SingularityError
from cayley.machines import SteeredPath

BASE = 0.8
PIECES = [(1.0, 0.0), (0.8, 0.5), (-0.4, -0.3)]


def rolled(pieces, start=(0.0, 0.0, 0.0)):
    """The end of a path by integration of the motion of a bicycle."""
    pose = np.array(start)
    for length, steering in pieces:
        turn = np.tan(steering) / BASE
        pose = solve_ivp(lambda s, x, turn=turn: [np.cos(x[2]), np.sin(x[2]), turn], (0.0, length), pose, rtol=1e-11,
                         atol=1e-12).y[:, -1]
    return pose


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.3, -1.2, 2.5)])
def test_a_path_is_that_of_a_bicycle(start):
    path = SteeredPath(BASE, PIECES, start)
    assert path.length == pytest.approx(2.2)
    np.testing.assert_allclose(path.end, rolled(PIECES, start), atol=1e-9)
    np.testing.assert_allclose(path.pose(1.5), rolled([PIECES[0], (0.5, 0.5)], start), atol=1e-9)
    np.testing.assert_allclose(path.pose([[0.0, 2.0]]),
                               [[rolled([(1e-9, 0.0)], start), rolled([*PIECES[:2], (-0.2, -0.3)], start)]], atol=1e-8)
    np.testing.assert_array_equal(path.steering([0.5, 1.2, 2.2]), [0.0, 0.5, -0.3])
    assert path.pose(np.zeros((0,))).shape == (0, 3)


def test_an_arc_has_the_radius_of_its_steering():
    path = SteeredPath(BASE, [(3.0, -0.4)])
    x, y, _ = path.pose(np.linspace(0.0, 3.0, 50)).T
    radius = BASE / np.tan(-0.4)
    np.testing.assert_allclose(np.hypot(x, y - radius), abs(radius), rtol=1e-14)
    almost = SteeredPath(BASE, [(3.0, 1e-12)])
    np.testing.assert_allclose(almost.end, [3.0, 0.0, 0.0], atol=1e-11)


def test_the_heading_as_a_vector_parameter():
    path = SteeredPath(BASE, PIECES, (0.0, 0.0, 0.4))
    s = np.linspace(0.0, path.length, 7)
    R = rot.matrix_from_vector_parameter(path.vector_parameter(s))
    np.testing.assert_allclose(R, Rotation.from_euler("z", path.pose(s)[:, 2:]).as_matrix(), atol=1e-14)
    with pytest.raises(SingularityError, match="half-turn"):
        SteeredPath(BASE, PIECES, (0.0, 0.0, np.pi)).vector_parameter(0.5)


def test_a_program_keeps_its_limits_and_goes_where_the_path_goes():
    path = SteeredPath(BASE, PIECES)
    program = path.program(speed=0.7, steering_rate=0.9)
    t, step = np.linspace(0.0, program.duration, 20_001, retstep=True)
    told = program(t)
    assert np.abs(told.roll_rate).max() == pytest.approx(0.7, rel=1e-5)
    assert np.abs(told.steering_rate).max() == pytest.approx(0.9, rel=1e-5)
    assert not (told.roll_rate * told.steering_rate).any()  # steers where it stands
    for value, rate in ((told.roll, told.roll_rate), (told.roll_rate, told.roll_acceleration),
                        (told.steering, told.steering_rate), (told.steering_rate, told.steering_acceleration)):
        np.testing.assert_allclose(np.gradient(value, step)[1:-1], rate[1:-1], atol=2e-3)
    np.testing.assert_allclose(program.pose([-1.0, 0.0, program.duration, 99.0]),
                               [[0.0] * 3, [0.0] * 3, path.end, path.end], atol=1e-14)
    heading = np.gradient(program.pose(t)[:, 2], step)
    np.testing.assert_allclose(heading[1:-1], (told.roll_rate * np.tan(told.steering) / BASE)[1:-1], atol=1e-3)
    assert program(99.0).roll == pytest.approx(1.4) and program(99.0).steering == -0.3


@pytest.mark.parametrize(("path", "said"), [
    (lambda: SteeredPath(0.0, PIECES), "wheelbase"),
    (lambda: SteeredPath(np.nan, PIECES), "wheelbase"),
    (lambda: SteeredPath(BASE, []), r"pieces \(length, steering\)"),
    (lambda: SteeredPath(BASE, [1.0, 0.2]), r"pieces \(length, steering\)"),
    (lambda: SteeredPath(BASE, [(1.0, 0.0), (0.0, 0.1)]), "piece 1 .* length"),
    (lambda: SteeredPath(BASE, [(1.0, np.pi / 2)]), "piece 0 .* right angle"),
    (lambda: SteeredPath(BASE, [(1.0, np.nan)]), "piece 0 .* right angle"),
    (lambda: SteeredPath(BASE, PIECES, (0.0, 0.0)), "starts at three"),
    (lambda: SteeredPath(BASE, PIECES).pose(2.3), "from 0 to"),
    (lambda: SteeredPath(BASE, PIECES).pose(np.nan), "from 0 to"),
    (lambda: SteeredPath(BASE, PIECES).program(0.0, 1.0), "speed"),
    (lambda: SteeredPath(BASE, PIECES).program(1.0, -1.0), "steering_rate"),
    (lambda: SteeredPath(BASE, PIECES).program(1.0, 1.0)(np.nan), "NaN")])
def test_what_is_no_path_is_named(path, said):
    with pytest.raises(ModelError, match=said):
        path()


def test_the_piece_at_a_time():
    program = SteeredPath(BASE, PIECES).program(speed=0.7, steering_rate=0.9)
    middle = (program.phase_times[1:] + program.phase_times[:-1]) / 2
    piece, sign, along = program.piece_at(middle)
    np.testing.assert_array_equal(piece, [0, 1, 1, 2, 2])  # rolls, steers for the next, rolls, ...
    np.testing.assert_array_equal(sign, [1, 1, 1, -1, -1])
    np.testing.assert_allclose(along, [0.5, 0.0, 0.4, 0.0, 0.2], atol=1e-14)
    assert program.piece_at(99.0)[2] == pytest.approx(0.4) and program.piece_at(-1.0)[2] == 0.0
