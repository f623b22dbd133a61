"""A planned motion, inspected: closed forms of distances and of singular instants."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import cayley as cy
from cayley.errors import ModelError, SignatureError
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.machines import FourBar
from cayley.planning import FunctionOfTime, inspect_motion, point_to_point

PLANE = (True, True, False, False, False, False)


@pytest.fixture(scope="module")
def two():
    """Two links of 1 and 0.8 m; the frames of its bodies are at their joints, along them."""
    return cy.Mechanism.from_dh([(0, 0, 1.0, 0), (0, 0, 0.8, 0)], convention="standard", name="two")


def links(arm):
    """Capsules along the links, in the frames of the bodies, whatever these are."""
    q = np.zeros(2)
    points = [arm.pose(q, "link1")[:3, 3] * 0, np.array([1.0, 0, 0]), np.array([1.8, 0, 0])]
    found = {}
    for k, body in enumerate(("link1", "link2")):
        frame = np.linalg.inv(arm.pose(q, body))
        ends = [(frame @ [*p, 1.0])[:3] for p in points[k:k + 2]]
        found[body] = Capsule(0.05, *ends)
    return found


def segment_distance(a, b, p):
    along = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    return np.linalg.norm(p - a - along * (b - a))


@pytest.mark.spec("S2-98")
def test_the_smallest_distances_and_when(two):
    move = point_to_point([0.2, 1.1], [1.4, 0.3], duration=2.0)
    post = np.array([1.2, 1.3, 0.0])
    seen = inspect_motion(two, move, shapes=links(two), obstacles={
        "post": Sphere(0.1, post), "beam": Capsule(0.02, [1.2, 1.3, -1.0], [1.2, 1.3, 1.0]),
        "wall": Box([0.2, 10.0, 2.0], [[1, 0, 0, 2.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])})

    def plane(t):
        a, b = move(t).q
        elbow = np.array([np.cos(a), np.sin(a), 0.0])
        return elbow, elbow + 0.8 * np.array([np.cos(a + b), np.sin(a + b), 0.0])

    times = np.linspace(0, 2, 20001)
    second = np.array([segment_distance(*plane(t), post) for t in times[::20]])
    found = {(each.body, each.obstacle): each for each in seen.clearances}
    near = found["link2", "post"]
    around = times[::20][np.argmin(second)] + np.array([-0.01, 0.01])
    at = minimize_scalar(lambda t: segment_distance(*plane(t), post), bounds=around, method="bounded",
                         options={"xatol": 1e-12})
    assert near.distance == pytest.approx(at.fun - 0.15, abs=1e-9) and near.time == pytest.approx(at.x, abs=1e-5)
    assert found["link2", "beam"].distance == pytest.approx(at.fun - 0.07, abs=1e-9)
    first = min(segment_distance(np.zeros(3), plane(t)[0], post) for t in times[::20])
    assert found["link1", "post"].distance == pytest.approx(first - 0.15, abs=1e-6)
    right = max(max(x[0] for x in plane(t)) for t in times)
    assert found["link2", "wall"].distance == pytest.approx(2.4 - right - 0.05, abs=1e-8)
    assert [each.distance for each in seen.clearances] == sorted(each.distance for each in seen.clearances)
    assert seen.collides == (seen.clearances[0].distance <= 0)
    np.testing.assert_allclose(seen.poses["link2"], two.pose(move(seen.times).q, "link2"), atol=1e-14)
    assert set(seen.poses) == {"base", "link1", "link2"} and seen.poses["link1"].shape == (len(seen.times), 4, 4)


@pytest.mark.spec("S2-98")
def test_the_stretched_arm_is_flagged_at_its_instant(two):
    move = point_to_point([0.3, 0.9], [0.8, -0.5], duration=3.0)
    seen = inspect_motion(two, move, frame="tool", task=PLANE, step=0.07)
    share = 0.9 / 1.4
    s = np.roots([6, -15, 10, 0, 0, -share])
    instant = 3.0 * s[(np.abs(s.imag) < 1e-9) & (s.real > 0) & (s.real < 1)].real[0]
    assert seen.singular_instants == pytest.approx((instant,), abs=1e-8)
    assert seen.minima[0].value < 1e-8 and "singular at t = " in seen.complaints[0]
    J = two.jacobian(move(seen.times).q, "tool", axes="world")[:, :2]
    np.testing.assert_allclose(seen.singular_values, np.linalg.svd(J, compute_uv=False)[:, -1], atol=1e-14)
    twice = FunctionOfTime(lambda t: np.stack([0.1 * t, 0.5 * np.cos(t)]), 0.0, 6.0)  # theta2 is zero twice
    found = inspect_motion(two, twice, frame="tool", task=PLANE)
    assert found.singular_instants == pytest.approx((np.pi / 2, 3 * np.pi / 2), abs=1e-7)
    well = inspect_motion(two, point_to_point([0.3, 0.9], [0.8, 0.5], duration=1.0), frame="tool", task=PLANE)
    assert not well.singular_instants and not well.complaints and well.minima


@pytest.mark.spec("S2-98")
def test_collisions_limits_and_animation(tmp_path):
    arm = cy.load("panda")
    start = np.array([0.1, 0.2, 0.3, -1.5, 0.2, 1.6, 0.4])
    last = start.copy()
    last[0] = arm.upper[0] + 0.3
    move = point_to_point(start, last, duration=2.0)
    hand = arm.pose(move(1.0).q, arm.bodies[-1].name)[:3, 3]
    seen = inspect_motion(arm, move, shapes={arm.bodies[-1].name: [Sphere(0.05), Sphere(0.02, [0.0, 0.0, 0.1])]},
                          obstacles={"table": Sphere(0.02, hand)}, frame="tool")
    assert seen.collides and seen.clearances[0].distance == pytest.approx(-0.07, abs=1e-6)
    assert seen.clearances[0].time == pytest.approx(1.0, abs=1e-3)
    assert seen.beyond_limits[0][0] == arm.joint_names[0] and seen.beyond_limits[0][2] == pytest.approx(0.3)
    assert any("touches table at t = " in line for line in seen.complaints)
    picture = arm.animate(move, tmp_path / "move.gif", speed=10.0)
    assert picture.read_bytes().startswith(b"GIF8")


@pytest.mark.spec("S2-98")
def test_a_machine_with_loops_is_inspected_too():
    linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    machine = cy.Mechanism(linkage.tree())
    theta = np.linspace(0, 2 * np.pi, 60)
    q = np.unwrap(linkage.configuration(theta, linkage.position(theta)[:, 0]), axis=0)
    move = cy.planning.cubic_spline(theta, q, "not-a-knot")
    seen = inspect_motion(machine, move, shapes={"coupler": Capsule(0.01, [0, 0, 0], [0.41, 0, 0])},
                          obstacles={"stop": Sphere(0.02, [0.2, -0.5, 0.0])})
    ends = [0.12 * np.stack([np.cos(theta), np.sin(theta)], 1),
            [0.37, 0.0] + 0.29 * np.stack([np.cos(q[:, 2]), np.sin(q[:, 2])], 1)]
    brute = min(segment_distance(a, b, np.array([0.2, -0.5])) for a, b in zip(*ends, strict=True))
    assert seen.clearances[0].distance == pytest.approx(brute - 0.03, abs=2e-3)
    assert seen.clearances[0].distance <= brute - 0.03 + 1e-6
    values = inspect_motion(machine, move, frame="coupler", task="position", step=np.pi / 8).singular_values
    np.testing.assert_allclose(values, 0.12, rtol=1e-3)  # the pin of the crank, by its turn


def test_inspections_that_cannot_be_are_refused(two):
    move = point_to_point([0.2, 1.1], [1.4, 0.3], duration=2.0)
    with pytest.raises(ModelError, match=r"no body 'link3' of two.*'link2'|no body 'link3'"):
        inspect_motion(two, move, shapes={"link3": Sphere(0.1)}, obstacles={"post": Sphere(0.1)})
    with pytest.raises(SignatureError, match="motion has 3 coordinates, two has 2"):
        inspect_motion(two, point_to_point([0, 0, 0], [1, 1, 1], duration=1.0))


def test_a_posture_that_is_singular_for_a_while_is_one_complaint():
    """A planar arm never leaves its plane; a stretched arm turns, and then bends."""
    arm = cy.load("planar2r")
    move = point_to_point([0.2, 1.0], [1.2, 1.6], duration=2.0)
    seen = inspect_motion(arm, move, frame="tool", task=(True, False, True, False, False, False))
    assert seen.complaints == ("the posture is singular from t = 0 to 2 s",) and seen.singular_instants == (0.0,)
    turning = point_to_point([0.0, 0.0], [0.5, 0.0], duration=1.0).then(point_to_point([0.5, 0.0], [0.5, 1.0],
                                                                                     duration=1.0))
    seen = inspect_motion(arm, turning, frame="tool", task=(True, True, False, False, False, False))
    (begin, end), = seen._whiles
    assert begin == 0.0 and abs(end - 1.0) < 0.03
    assert len(seen.complaints) == 1 and seen.complaints[0].startswith("the posture is singular from t = 0 to ")
