"""Derivatives where a text changes its branch: half-turns, quarter turns, gimbal lock, zero, and scalar parts of either
zero.

A derivative that passes through |w| at w = 0 is finite and wrong. The truth: differences in sixty digits for the
logarithms, and for every kernel the derivatives a little to either side.
"""

import mpmath
import numpy as np
import pytest

import cayley as cy
from cayley.geometry import motions, rates, rotations
from cayley.geometry.rotations import euler_kernels
from cayley.model.joint_kinds import Floating, Spherical
from geometry import formulas_of_motions as fm

HALF = np.sqrt(0.5)
AXES = [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, -0.8), (2 / 3, -1 / 3, 2 / 3)]
HALF_TURNS = [np.array([w, *axis]) for axis in AXES for w in (0.0, -0.0)]


def exact_logarithm(q):
    """Axis times angle of the line through q, on the branch of its sign, in mpmath: smooth through half-turns."""
    w, v = q[0], q[1:]
    size = mpmath.sqrt(sum(x * x for x in v))
    return [2 * mpmath.atan2(size, w) / size * x for x in v]


def exact_derivative(function, x):
    """Central differences in sixty digits."""
    h = mpmath.mpf(10) ** -25
    x = [mpmath.mpf(float(value)) for value in x]
    columns = []
    for k in range(len(x)):
        ahead, behind = list(x), list(x)
        ahead[k] += h
        behind[k] -= h
        columns.append([float((a - b) / (2 * h)) for a, b in zip(function(ahead), function(behind), strict=True)])
    return np.array(columns).T


@pytest.mark.spec("S0-17")
@pytest.mark.parametrize("q", HALF_TURNS)
def test_logarithm_of_a_quaternion_at_half_turns(q):
    slope = rotations.rotation_vector_from_quaternion.unchecked.jacobian("q")
    with mpmath.workdps(60):
        exact = exact_derivative(exact_logarithm, q)
    np.testing.assert_allclose(slope(q), exact, rtol=0, atol=4e-15)
    np.testing.assert_allclose(slope(q), slope([1e-300, *q[1:]]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(slope(q)[:, 0], slope([-1e-300, *q[1:]])[:, 0], rtol=0, atol=1e-15)


@pytest.mark.spec("S0-02")
@pytest.mark.parametrize("axis", AXES)
def test_logarithm_of_a_matrix_at_half_turns(axis):
    """Along the three turns of the body the slopes of log R are the columns of the inverse velocity map: rank three,
    not two.
    """
    R = rotations.matrix_from_quaternion([0.0, *axis])
    slope = rotations.rotation_vector_from_matrix.jacobian("R")(R)
    turns = [rates.chart("matrix").rates_from_world(R, e) for e in np.eye(3)]
    along = np.stack([np.tensordot(slope, turn) for turn in turns], axis=1)
    l = rotations.rotation_vector_from_matrix(R)
    np.testing.assert_allclose(along, rates.world_velocity_map_inverse(l), rtol=0, atol=4e-15)
    assert np.linalg.matrix_rank(along) == 3


@pytest.mark.spec("S0-30")
@pytest.mark.parametrize("axis", AXES)
def test_logarithm_of_a_pose_at_half_turns(axis):
    """The slopes along a small body twist, against differences of an exact logarithm next to the half-turn, on the side
    of its branch.
    """
    T = motions.pose_from_quaternion([0.0, *axis], [1.0, 2.0, 3.0])
    slope = motions.twist_from_pose.jacobian("T")(T)
    assert np.isfinite(slope).all()
    for twist in np.eye(6):
        rate = fm.pose_rate_from_body_twist(T, twist)
        along = np.tensordot(slope, rate)
        away = -1.0 if (rotations.rotation_vector_from_matrix(T[:3, :3]) @ T[:3, :3] @ twist[3:]) > 0 else 1.0
        near = [
            motions.twist_from_pose(T @ motions.pose_from_twist(away * step * twist)) for step in (1e-3, 2e-3, 4e-3)]
        here = motions.twist_from_pose(T)
        differences = [away * (value - here) / step for value, step in zip(near, (1e-3, 2e-3, 4e-3), strict=True)]
        twice = [2 * differences[0] - differences[1], 2 * differences[1] - differences[2]]
        np.testing.assert_allclose(along, (4 * twice[0] - twice[1]) / 3, rtol=0, atol=2e-7)


def test_joints_that_turn_freely_differ_smoothly_through_half_turns():
    @cy.kernel("(4),(4)->(3)")
    def turned(start, end):
        return Spherical().difference(start, end)

    @cy.kernel("(7),(7)->(6)")
    def moved(start, end):
        return Floating().difference(start, end)

    one = np.array([1.0, 0.0, 0.0, 0.0])
    for q in HALF_TURNS:
        beside = np.array([1e-13, *q[1:]])
        np.testing.assert_allclose(
            turned.jacobian("end")(one, q),
            turned.jacobian("end")(one, beside), rtol=0, atol=1e-11)
        place = np.array([1.0, 2.0, 3.0])
        here, there = np.concatenate([np.zeros(3), one]), np.concatenate([place, q])
        # one of them is on the branch that the matrix gives
        sides = [np.concatenate([place, [w], q[1:]]) for w in (1e-13, -1e-13)]
        side = min(sides, key=lambda other: np.abs(moved(here, other) - moved(here, there)).max())
        np.testing.assert_allclose(
            moved.jacobian("end")(here, there),
            moved.jacobian("end")(here, side), rtol=0, atol=1e-10)


def test_the_shortest_way_changes_smoothly_where_the_ends_are_half_a_turn_apart():
    slope = rotations.interpolate_shortest.unchecked.jacobian("b")
    for q in HALF_TURNS:
        found = slope([1.0, 0.0, 0.0, 0.0], q, 0.3)
        with mpmath.workdps(60):
            def way(b):
                size = mpmath.sqrt(sum(x * x for x in b))
                r = exact_logarithm([x / size for x in b])
                angle = mpmath.sqrt(sum(x * x for x in r))
                half = mpmath.mpf(0.3) * angle / 2
                return [mpmath.cos(half), *[mpmath.sin(half) * x / angle for x in r]]
            np.testing.assert_allclose(found, exact_derivative(way, q), rtol=0, atol=4e-15)


# Every kernel that chooses

TURNS = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [-0.0, 0, 1, 0], [HALF, 0.6 * HALF, 0.8 * HALF, 0]])
MATRICES = rotations.matrix_from_quaternion(TURNS[[0, 2, 4]])
POSES = motions.pose_from_matrix(MATRICES, [1.0, 2.0, 3.0])
VECTORS = np.array([[0, 0, 0], [1, 0, 0], [0, 0, np.pi], [0.6, 0, -0.8], [0, np.pi / 2, 0]])
STATES = {(): np.array([0.0,
                        np.pi / 2, np.pi, -np.pi / 2]), (3,): VECTORS, (4,): TURNS, (3, 3): MATRICES, (4, 4): POSES,
          (2, 4): motions.dual_quaternion_from_pose(POSES), (2, 2): rotations.spinor_from_quaternion(TURNS),
          (6,): np.concatenate([VECTORS[[1, 3, 1, 2]], VECTORS[[0, 0, 2, 4]]], axis=1)}
ORDINARY = np.random.default_rng(5).uniform(0.2, 0.6, size=64)
CHOICES = {"absolute", "minimum", "maximum", "where", "hypot", "sign"}


def kernels_that_choose():
    euler = [k for name in ("zyz", "zyx") for k in euler_kernels(name, axes="moving")]
    # a defect is a maximum, with corners everywhere; turning back is by an angle that a gimbal lock leaves free
    every = {k.__name__: k for package in (rotations, motions, rates) for k in map(package.__getattr__, package.__all__)
             if isinstance(k, cy.Kernel) and not k.__name__.endswith("_defect") and k.__name__ != "zyz_by_turning_back"}
    return [
        k.unchecked for k in (*every.values(), *euler)
        if not k.signature.names and k.signature.inputs[0] in STATES and any(n.op in CHOICES
                                                                             for n in k.program().nodes)]


def slopes(kernel, place, states, others):
    by = kernel.jacobian(kernel.inputs[0], place)
    return np.array([by.evaluate(cy.NUMPY, x, *others) for x in states], dtype=float)


def continues(kernel, place, states, others):
    """Whether the value at the first state is near that of one of the others: not so in a gimbal lock, where it is a
    choice.
    """
    values = [kernel.evaluate(cy.NUMPY, x, *others) for x in states]
    here, *near = [np.asarray(v[place] if isinstance(v, tuple) else v, dtype=float) for v in values]
    return any(np.allclose(value, here, rtol=1e-6, atol=1e-6) for value in near)


def test_slopes_are_those_all_around():
    """Where the slopes a little aside agree in all directions, that is the slope; at corners and jumps it is a number
    at least.
    """
    tested = 0
    for kernel in kernels_that_choose():
        others = [ORDINARY[:int(np.prod(core))].reshape(core) for core in kernel.signature.inputs[1:]]
        for place in range(len(kernel.signature.outputs)):
            for x in STATES[kernel.signature.inputs[0]]:
                aside = 1e-9 * np.random.default_rng(3).normal(size=(2, *x.shape))
                states = [x, *(x + aside), *(x - aside)]
                with np.errstate(all="ignore"):
                    here, *near = slopes(kernel, place, states, others)
                    if not continues(kernel, place, states, others):
                        continue
                low, high = np.min(near, axis=0), np.max(near, axis=0)
                room = 1e-6 * (1 + np.maximum(np.abs(low), np.abs(high)))
                tame = np.isfinite(near).all(axis=0) & (room < 1.0)
                wrong = tame & ((high - low < room) & ~(np.abs(here - low) < 2 * room) | ~np.isfinite(here))
                assert not wrong.any(
                ), f"{kernel.__name__}, output {place}, at {x.tolist()}: {here[wrong]}, around it {low[wrong]}"
                tested += 1
    assert tested > 250
