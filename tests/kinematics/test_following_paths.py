"""Following in closed loop: damped least squares, matrix gains, both orientation errors, secondary objectives."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ConventionError, SignatureError
from cayley.kinematics import follow_path, gradient_projection
from cayley.model.joint_kinds import Prismatic
from cayley.model.parts import Body, Frame, Joint

PLANE = (True, True, False, False, False, False)


@pytest.fixture(scope="module")
def two():
    return cy.Mechanism.from_dh([(0, 0, 1.0, 0), (0, 0, 0.8, 0)], convention="standard", name="two")


@pytest.fixture(scope="module")
def three():
    return cy.Mechanism.from_dh([(0, 0, 1.0, 0), (0, 0, 0.8, 0), (0, 0, 0.5, 0)], convention="standard",
                                name="three")


@pytest.fixture(scope="module")
def gantry():
    """Three slides along the axes: its tool moves as its joints."""
    bodies = [Body("base"), *[Body(name, 1.0) for name in "xyz"]]
    joints = [Joint(name, parent, name, Prismatic(tuple(np.eye(3)[k])))
              for k, (name, parent) in enumerate(zip("xyz", ("base", "x", "y"), strict=True))]
    return cy.Mechanism.of("gantry", bodies, joints, frames=[Frame("tool", "z", np.eye(4))])


def elbow(x, y, a=1.0, b=0.8):
    bend = np.arccos((x * x + y * y - a * a - b * b) / (2 * a * b))
    return np.array([np.arctan2(y, x) - np.arctan2(b * np.sin(bend), a + b * np.cos(bend)), bend])


def line(points):
    path = np.tile(np.eye(4), (len(points), 1, 1))
    path[:, :2, 3] = points
    return path


@pytest.mark.spec("S2-91")
@pytest.mark.parametrize("damping", [0.05, 0.2])
def test_damped_tracking_of_a_radial_line_to_the_boundary_stays_bounded(two, damping):
    """Straight out of the workspace of radius 1.8, through the stretched arm, and back; in its direction the arm can
    do nothing, beside it the bound of each velocity holds."""
    out = np.linspace(1.6, 1.9, 300)
    points = np.stack([np.concatenate([out, out[::-1]]), np.full(600, 0.02)], axis=1)
    found = follow_path(two.tree, line(points), "tool", elbow(1.6, 0.02), time_step=0.01, gain=20.0, damping=damping,
                        task=PLANE)
    assert found.status == "off the path" and np.isfinite(found.q).all()
    bound = np.linalg.norm(found.command, axis=-1) / (2 * damping)
    assert (np.linalg.norm(found.velocity, axis=-1) <= bound * (1 + 1e-12)).all()
    assert found.smallest_singular_value.min() < 0.2 * found.smallest_singular_value.max()
    assert found.position_error[299] == pytest.approx(0.1, abs=0.01) and found.position_error[-1] < 0.02
    np.testing.assert_allclose(np.linalg.norm(found.error, axis=-1), found.position_error, atol=1e-15)
    # the same, at every step, by the formula of the source
    J = two.jacobian(found.q, "tool", axes="world")[:, :2]
    star = np.linalg.solve(np.swapaxes(J, 1, 2) @ J + damping**2 * np.eye(2), np.swapaxes(J, 1, 2))
    np.testing.assert_allclose(found.velocity, (star @ found.command[..., None])[..., 0], atol=1e-9)


@pytest.mark.spec("S2-91")
def test_exactly_through_a_singular_posture_and_without_damping_away_from_one(two):
    points = np.stack([np.linspace(1.6, 1.8, 200), np.zeros(200)], axis=1)
    damped = follow_path(two.tree, line(points), "tool", [0.0, 0.0], time_step=0.01, gain=10.0, damping=0.1, task=PLANE)
    assert damped.status == "followed" and (damped.velocity == 0).all()  # stretched: no rate leads inwards
    stopped = follow_path(two.tree, line(points), "tool", [0.0, 0.0], time_step=0.01, gain=10.0, task=PLANE)
    assert stopped.status == "singular" and not stopped.followed.any()
    angle = np.linspace(0, 2 * np.pi, 400)
    circle = line(np.stack([1.0 + 0.2 * np.cos(angle), 0.4 + 0.2 * np.sin(angle)], axis=1))
    plain = follow_path(two.tree, circle, "tool", elbow(1.2, 0.4), time_step=0.005, gain=40.0, task=PLANE)
    J = two.jacobian(plain.q, "tool", axes="world")[:, :2]
    np.testing.assert_allclose(plain.velocity, np.linalg.solve(J, plain.command[..., None])[..., 0], atol=1e-10)
    tiny = follow_path(two.tree, circle, "tool", elbow(1.2, 0.4), time_step=0.005, gain=40.0, damping=1e-9, task=PLANE)
    np.testing.assert_allclose(tiny.q, plain.q, atol=1e-9)


@pytest.mark.spec("S2-94")
@pytest.mark.parametrize("gain", [2.0, [1.0, 2.0, 5.0], [[3.0, 1.0, 0.5], [1.0, 2.0, 0.0], [0.5, 0.0, 4.0]]])
def test_the_error_decays_as_the_matrix_of_the_gain_says(gantry, gain):
    path = np.tile(np.eye(4), (2001, 1, 1))
    path[:, :3, 3] = [0.3, -0.2, 0.5]
    found = follow_path(gantry.tree, path, "tool", np.zeros(3), time_step=1e-3, gain=gain, task="position")
    G = np.asarray(gain) if np.ndim(gain) == 2 else np.diag(np.broadcast_to(gain, 3))
    e0 = np.array([0.3, -0.2, 0.5])
    for k in (0, 500, 2000):
        np.testing.assert_allclose(found.error[k], np.linalg.matrix_power(np.eye(3) - 1e-3 * G, k) @ e0, atol=1e-13)
        np.testing.assert_allclose(found.error[k], expm(-G * k * 1e-3) @ e0, atol=3e-3)


@pytest.mark.spec("S2-94")
def test_steps_are_stable_just_if_every_eigenvalue_allows_it_and_bad_gains_are_refused(gantry):
    path = np.tile(np.eye(4), (400, 1, 1))
    path[:, :3, 3] = [0.3, -0.2, 0.5]
    turn = Rotation.from_rotvec([0.3, 0.5, -0.2]).as_matrix()
    for largest, stable in ((1.99, True), (2.01, False)):
        G = turn @ np.diag([1.0, 50.0, largest * 100]) @ turn.T
        found = follow_path(gantry.tree, path, "tool", np.zeros(3), time_step=0.01, gain=(G + G.T) / 2, task="position")
        assert found.stable == stable and (found.residual[-1] < found.residual[0]) == stable
        assert found.status == ("followed" if stable else "unstable")
    for gain, words in ((-1.0, "not negative"), ([1.0, 0.0, 1.0], "not positive definite"),
                        (np.diag([1.0, -2.0, 1.0]), "eigenvalues are -2 to 1"),
                        ([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], "not symmetric"),
                        ([1.0, 2.0], r"diagonal \(3\)"), (np.nan, "finite")):
        with pytest.raises(SignatureError, match=words):
            follow_path(gantry.tree, path, "tool", np.zeros(3), time_step=0.01, gain=gain, task="position")


@pytest.mark.spec("S2-95")
@pytest.mark.parametrize("orientation", ["vect", "zyx moving", "xyz fixed", "zxz moving", "rotation vector"])
def test_a_set_point_60_degrees_and_a_tenth_of_a_metre_away_is_reached(orientation):
    arm = cy.load("puma560")
    start = np.array([0.3, -0.9, 0.8, 0.4, 0.9, -0.3])
    first = arm.pose(start, "tool")
    target = first.copy()
    target[:3, :3] = Rotation.from_rotvec(np.radians(60.0) * np.array([2.0, -1.0, 2.0]) / 3).as_matrix() @ first[:3, :3]
    target[:3, 3] += np.array([0.06, -0.08, 0.0])
    found = follow_path(arm.tree, np.tile(target, (900, 1, 1)), "tool", start, time_step=0.01, gain=8.0,
                        orientation=orientation)
    assert found.status == "followed"
    assert found.position_error[0] == pytest.approx(0.1) and found.angle_error[0] == pytest.approx(np.radians(60.0))
    assert found.residual[-1] < 1e-12
    assert np.abs(arm.pose(found.q[-1], "tool") - target).max() < 1e-12


@pytest.mark.parametrize(("reach", "offset", "gain", "status"), [
    (1.7, 0.0, 10.0, "followed"), (2.2, 0.0, 10.0, "off the path"),  # 1.8 is as far as it goes
    (1.7, 0.04, 0.0, "off the path"), (1.7, 0.04, 10.0, "followed"), (1.7, 0.0, 0.0, "followed")])
def test_a_tool_that_is_off_its_path_has_not_followed_it(two, reach, offset, gain, status):
    """Out of reach and back again, where only the middle is off; a start that is off, with a gain and without."""
    there = np.concatenate([np.linspace(1.2, reach, 300), np.linspace(reach, 1.2, 300)])
    path = line(np.stack([there, np.zeros(600)], axis=1))
    found = follow_path(two.tree, path, "tool", elbow(1.2, offset), time_step=0.01, gain=gain, damping=0.02, task=PLANE)
    assert found.status == status
    assert (found.residual.max() > 0.05) == (reach > 1.8)
    loose = follow_path(two.tree, path, "tool", elbow(1.2, offset), time_step=0.01, gain=gain, damping=0.02, task=PLANE,
                        tolerance=1.0)
    assert loose.status == "followed"
    with pytest.raises(SignatureError, match="tolerance"):
        follow_path(two.tree, path, "tool", elbow(1.2, 0.0), time_step=0.01, task=PLANE, tolerance=0.0)


@pytest.mark.spec("S2-95")
def test_a_moving_pose_is_followed_with_both_errors():
    arm = cy.load("puma560")
    start = np.array([0.3, -0.9, 0.8, 0.4, 0.9, -0.3])
    first = arm.pose(start, "tool")
    t = np.linspace(0.0, 1.0, 501)
    path = np.tile(first, (501, 1, 1))
    path[:, :3, :3] = Rotation.from_rotvec(np.outer(t, [0.5, -0.3, 0.6])).as_matrix() @ first[:3, :3]
    path[:, :3, 3] += np.outer(t, [0.1, 0.05, -0.08])
    twists = np.tile([0.1, 0.05, -0.08, 0.5, -0.3, 0.6], (501, 1))
    for orientation in ("vect", "zyx moving"):
        found = follow_path(arm.tree, path, "tool", start, time_step=0.002, gain=50.0, velocity=twists,
                            orientation=orientation)
        loose = follow_path(arm.tree, path, "tool", start, time_step=0.002, velocity=twists, orientation=orientation)
        assert found.residual.max() < 1e-4 < 1e-3 * 100 and found.residual.max() < 0.2 * loose.residual.max()
        # the rows of the error by an independent library
        mine = arm.pose(found.q[250], "tool")[:3, :3]
        if orientation == "vect":
            E = path[250, :3, :3] @ mine.T
            expected = 0.5 * np.array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
        else:
            expected = (Rotation.from_matrix(path[250, :3, :3]).as_euler("ZYX")
                        - Rotation.from_matrix(mine).as_euler("ZYX"))
        np.testing.assert_allclose(found.error[250, 3:], expected, atol=1e-12)


@pytest.mark.spec("S2-95")
def test_half_turns_of_vect_and_gimbal_lock_are_named():
    arm = cy.load("puma560")
    start = np.array([0.3, -0.9, 0.8, 0.4, 0.9, -0.3])
    first = arm.pose(start, "tool")
    target = first.copy()
    target[:3, :3] = Rotation.from_rotvec(np.pi * np.array([0.6, 0.0, 0.8])).as_matrix() @ first[:3, :3]
    found = follow_path(arm.tree, np.tile(target, (20, 1, 1)), "tool", start, time_step=0.01, gain=5.0,
                        orientation="vect")
    assert found.status == "half-turn" and np.abs(found.error[0, 3:]).max() < 1e-15  # zero, the frame is not there
    assert found.angle_error[0] == pytest.approx(np.pi) and (found.q == start).all()
    locked = first.copy()
    locked[:3, :3] = Rotation.from_euler("ZYX", [0.4, np.pi / 2, 0.0]).as_matrix()
    found = follow_path(arm.tree, np.tile(locked, (20, 1, 1)), "tool", start, time_step=0.01, gain=5.0,
                        orientation="zyx moving")
    assert found.status == "gimbal lock" and np.isnan(found.velocity).all() and np.isfinite(found.q).all()
    other = follow_path(arm.tree, np.tile(locked, (900, 1, 1)), "tool", start, time_step=0.01, gain=8.0,
                        orientation="zxz moving")
    assert other.status == "followed" and other.residual[-1] < 1e-11
    batch = follow_path(arm.tree, np.stack([np.tile(x, (5, 1, 1)) for x in (first, locked)]), "tool", start,
                        time_step=0.01, orientation="zyx moving")
    assert batch.status.tolist() == ["followed", "gimbal lock"]
    for orientation, words in (("quaternion", "an orientation error must be"), ("zzy moving", "no orientation 'zzy")):
        with pytest.raises(ConventionError, match=words):
            follow_path(arm.tree, np.tile(target, (2, 1, 1)), "tool", start, time_step=0.01, orientation=orientation)
    with pytest.raises(ConventionError, match="all three angular rows"):
        follow_path(arm.tree, np.tile(target, (2, 1, 1)), "tool", start, time_step=0.01, orientation="vect",
                    task="position")


def manipulability(arm, q):
    J = arm.jacobian(q, "tool", axes="world")[..., :2, :]
    return np.sqrt(np.linalg.det(J @ np.swapaxes(J, -1, -2)))


def climb(arm, gain):
    """Velocities that make the manipulability grow, by differences: an oracle of its own."""
    def wanted(q):
        steps = 1e-6 * np.eye(arm.nq)
        return gain * (manipulability(arm, q[..., None, :] + steps)
                       - manipulability(arm, q[..., None, :] - steps)) / 2e-6
    return wanted


@pytest.mark.spec("S2-93")
def test_self_motion_improves_the_posture_with_the_tool_fixed(three):
    start = np.radians([20.0, 40.0, 30.0])  # WE-15
    assert manipulability(three, start) == pytest.approx(1.2071041533, abs=1e-9)
    np.testing.assert_allclose(climb(three, 1.0)(start), [0, 0.7339171547, 0.4839359062], atol=1e-7)
    target = three.pose(start, "tool")
    found = follow_path(three.tree, np.tile(target, (800, 1, 1)), "tool", start, time_step=0.02, gain=30.0, task=PLANE,
                        secondary=climb(three, 1.0))
    values = manipulability(three, found.q)
    assert (np.diff(values) > -1e-12).all() and values[-1] > values[0] + 2e-4
    assert found.residual.max() < 1e-3 and found.residual[-1] < 1e-9  # the tool stays
    J = three.jacobian(found.q, "tool", axes="world")[:, :2]
    np.testing.assert_allclose((J @ found.velocity[..., None])[..., 0], found.command, atol=1e-12)
    null = np.linalg.svd(J[-1])[2][-1]
    assert abs(null @ climb(three, 1.0)(found.q[-1])) < 1e-4  # nothing is left to gain


@pytest.mark.spec("S2-93")
def test_tracking_with_a_secondary_objective(three):
    start = np.radians([20.0, 40.0, 30.0])
    points = three.pose(start, "tool")[:2, 3] + np.outer(np.linspace(0, 1, 201), [0.3, -0.2])
    twists = np.tile([0.3, -0.2, 0, 0, 0, 0], (201, 1))
    plain, better = (follow_path(three.tree, line(points), "tool", start, time_step=0.005, gain=50.0, task=PLANE,
                                 velocity=twists, secondary=way) for way in (None, climb(three, 1.0)))
    np.testing.assert_allclose(plain.velocity[0], [-0.126045346, -0.0778449503, -0.0273709273], atol=1e-8)  # WE-15
    np.testing.assert_allclose(better.velocity[0], [-0.1281566342, -0.0707737573, -0.0377592717], atol=1e-7)
    oracle = gradient_projection(three.jacobian(start, "tool", axes="world")[:2], [0.3, -0.2],
                                 -climb(three, 1.0)(start), 1.0)
    np.testing.assert_allclose(better.velocity[0], oracle.velocities, atol=1e-12)
    assert max(plain.residual.max(), better.residual.max()) < 1e-4
    assert manipulability(three, better.q[-1]) > manipulability(three, plain.q[-1])
    # more rows than joints: least squares, nothing is free
    two_joints = cy.Mechanism.from_dh([(0, 0, 1.0, 0), (0, 0, 0.8, 0)], convention="standard")
    tall = follow_path(two_joints.tree, line([[1.2, 0.5]] * 3), "tool", [0.2, 0.7], time_step=0.01, gain=10.0,
                       secondary=lambda q: np.ones(2))
    J = two_joints.jacobian([0.2, 0.7], "tool", axes="world")
    np.testing.assert_allclose(tall.velocity[0], np.linalg.lstsq(J, tall.command[0])[0], atol=1e-12)
