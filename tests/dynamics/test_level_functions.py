"""What is integrable in constraints on velocities, as functions that every motion keeps."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.dynamics.nonholonomic import completed_frame, level_functions
from cayley.errors import ModelError, UnsupportedError
from cayley.model.constraint_kinds import Disc, KnifeEdge, Pfaffian
from cayley.model.joint_kinds import Floating, Planar, Prismatic
from cayley.model.parts import Body, Joint

pytestmark = pytest.mark.spec("S0-79")
R, TRACK = 0.1, 0.5


def found(rows, at, names=(), degree=2):
    return level_functions(completed_frame(rows, at=at), at, names=names, degree=degree)


def test_an_integrating_factor_is_not_needed():
    levels = found(lambda q: [[q[0] * np.exp(q[2]), q[1] * np.exp(q[2]), 0.0]], [1.0, 0.5, 0.2], "xyz")
    assert [str(h) for h in levels.functions] == ["x*x + y*y"] and levels.complete


@pytest.mark.parametrize(("rows", "at", "degree", "said"), [
    (lambda q: [[1 / q[0], 1 / q[1], 0.0]], [1.0, 2.0, 0.3], 2, "x*y"),
    (lambda q: [[q[0], q[1], 0.0]], [1000.0, 500.0, 0.3], 2, "x*x + y*y"),
    (lambda q: [[3 * q[0]**2, q[2], q[1]]], [0.1, 2.0, 0.3], 3, "y*z + x*x*x"),
    (lambda q: [[np.cos(q[0]), 0.0, -np.sin(q[2])]], [0.1, 2.0, 0.3], 2, "sin(x) + cos(z)"),
    (lambda q: [[1.0, 0.066, -0.003]], [100.0, 2.0, 0.3], 2, "x + 0.066*y - 0.003*z")])
def test_functions_are_those_of_the_book(rows, at, degree, said):
    levels = found(rows, at, "xyz", degree)
    assert [str(h) for h in levels.functions] == [said] and levels.complete


def test_a_disc_has_none():
    levels = found(lambda q: [[1.0, 0.0, 0.0, -0.25 * np.cos(q[2])], [0.0, 1.0, 0.0, -0.25 * np.sin(q[2])]],
                   [0.1, 0.2, 0.4, 0.3])
    assert levels.functions == () and levels.integrable == 0 and levels.complete


def cart(q):
    """Two wheels on one axle: x, y, heading, right, left."""
    c, s = np.cos(q[2]), np.sin(q[2])
    return [[-s, c, 0.0, 0.0, 0.0], [c, s, TRACK / 2, -R, 0.0], [c, s, -TRACK / 2, 0.0, -R]]


def test_mixtures_of_rows_are_found_and_kept_by_a_motion():
    """The heading of a cart is the difference of its wheels, which no row says by itself."""
    at = [0.1, 0.2, 0.4, 0.3, -0.2]
    levels = found(cart, at, ["x", "y", "theta", "right", "left"])
    assert [str(h) for h in levels.functions] == ["theta - 0.2*right + 0.2*left"] and levels.complete

    def motion(t, q):
        right, left = np.cos(t), 0.5 + np.sin(3 * t)
        v = R / 2 * (right + left)
        return [v * np.cos(q[2]), v * np.sin(q[2]), R / TRACK * (right - left), right, left]

    way = solve_ivp(motion, (0.0, 5.0), at, rtol=1e-11, atol=1e-12).y.T
    np.testing.assert_allclose(levels.functions[0](way), levels.functions[0](at), atol=1e-9)


def test_sines_and_several_functions():
    def rows(q):  # of z - sin(x) y and of w + x^2, mixed
        first = np.stack([-np.cos(q[0]) * q[1], -np.sin(q[0]), 1.0 + 0.0 * q[0], 0.0 * q[0]])
        second = np.stack([2 * q[0], 0.0 * q[0], 0.0 * q[0], 1.0 + 0.0 * q[0]])
        return [first + q[3] * second, second - 0.3 * first]

    at = np.array([0.3, 0.7, 0.1, 0.2])
    levels = found(rows, at, "xyzw")
    assert levels.integrable == 2 and levels.complete
    for h in levels.functions:
        steps = 1e-6 * np.eye(4)
        gradient = (h(at + steps) - h(at - steps)) / 2e-6
        A = np.array(rows(at), dtype=float)
        np.testing.assert_allclose(np.linalg.lstsq(A.T, gradient, rcond=None)[0] @ A, gradient, atol=1e-8)


def test_what_is_no_sum_of_products_is_counted():
    levels = found(lambda q: [[np.exp(q[0]), 1.0, 0.0]], [0.1, 0.2, 0.3])
    assert levels.integrable == 1 and not levels.functions and not levels.complete


@pytest.mark.parametrize(("at", "names", "degree", "said"), [
    ([[1.0, 0.5, 0.0]], (), 2, "near a configuration"), ([1.0, 0.5, np.nan], (), 2, "near a configuration"),
    ([1.0, 0.5, 0.0], ("x",), 2, "need 3 names"), ([1.0, 0.5, 0.0], (), 0, "at least one factor")])
def test_wrong_questions_are_named(at, names, degree, said):
    frame = completed_frame(lambda q: [[q[0], q[1], 0.0]], at=[1.0, 0.5, 0.0])
    with pytest.raises(ModelError, match=said):
        level_functions(frame, at, names=names, degree=degree)


def test_a_mechanism_is_asked_by_itself():
    robot = cy.load("two_wheel_robot")
    levels = robot.formulations.level_functions(degree=1)
    assert levels.complete and [str(h) for h in levels.functions] == ["base.angle + 0.25*left - 0.25*right"]
    start = np.zeros(7)
    run = robot.system().rollout(method="rk4")({"q": start, "qd": robot.loops.actuated_motion(start, [6.0, -2.0])},
                                               step=1e-3,
                                               steps=500)
    np.testing.assert_allclose(levels.functions[0](run["q"]), 0.0, atol=1e-9)
    skate = cy.Mechanism.of("skate", [Body("ice"), Body("skate", 1.0, inertia=np.eye(3))],
                            [Joint("base", "ice", "skate", Planar())], constraints=[KnifeEdge("edge", "ice", "skate")])
    assert skate.formulations.level_functions().functions == () and skate.formulations.level_functions().complete
    rail = cy.Mechanism.of("rail", [Body("floor"), Body("beam", 0.5), Body("cart", 2.0)],
                           [Joint("x", "floor", "beam", Prismatic((1.0, 0.0, 0.0))),
                            Joint("y", "beam", "cart", Prismatic((0.0, 1.0, 0.0)))],
                           constraints=[Pfaffian("ring", ("x", "y"), ("x", "y"))])
    assert [str(h) for h in rail.formulations.level_functions().functions] == ["x*x + y*y"]
    coin = cy.Mechanism.of("coin", [Body("floor"), Body("coin", 1.0, inertia=np.eye(3))],
                           [Joint("free", "floor", "coin", Floating())],
                           constraints=[Disc("edge", "floor", "coin", 0.3)])
    with pytest.raises(UnsupportedError, match="'free' of coin"):
        coin.formulations.level_functions()
    with pytest.raises(ModelError, match="at least one factor"):
        robot.formulations.level_functions(degree=0)
