"""Velocities of redundant arms: the general solution, the shortest, and the one that improves a criterion."""

from itertools import combinations

import mpmath
import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.errors import SignatureError
from cayley.kinematics.singular.indices import manipulability, uniform_jacobian
from cayley.kinematics.singular.redundancy import (
    general_solution,
    gradient_projection,
    manipulability_gradient,
    minimum_norm,
    projected_rates,
)
from kinematics.arms import planar_arm, standard_arm
from kinematics.motions import close

POINT = (True, True, False, False, False, False)
ARM, Q, V = planar_arm(1.0, 0.8, 0.5), np.deg2rad([20.0, 40.0, 30.0]), np.array([0.3, -0.2])
J = uniform_jacobian(ARM.tree, Q, "tool", task=POINT, axes="world")


def kkt(J, v, gradient):
    """The stationary point of qd.qd/2 + qd.gradient + l.(J qd - v), Ruggiu (2.73), by one linear system."""
    m, n = J.shape
    system = np.block([[np.eye(n), J.T], [J, np.zeros((m, m))]])
    return np.linalg.solve(system, np.concatenate([-gradient, v]))[:n]


@pytest.mark.spec("S2-42")
def test_the_general_solution():
    """Dimensions add up to n, J (1 - J^+ J) = 0, every solution is reached, and a singular J is told apart (E-29)."""
    start = np.array([0.5, -1.0, 2.0])
    found = general_solution(J, V, start)
    assert found.decomposition.rank + found.decomposition.null_space.shape[
        1] == 3 and found.decomposition.redundancy == 1
    close(J @ found.null_projector, np.zeros((2, 3)), 1e-14)
    close(J @ found.velocities, V, 1e-14)
    close(found.velocities, minimum_norm(J, V).velocities + found.null_projector @ start, 1e-14)
    assert found.status == "many" and found.solved and not found.unique
    other = found.velocities + 3 * found.decomposition.null_space[:, 0]
    close(general_solution(J, V, other).velocities, other, 1e-13)  # any solution is the one nearest to itself
    stretched = uniform_jacobian(ARM.tree, np.array([0.3, 0.0, 0.0]), "tool", task=POINT, axes="world")
    along, across = np.array([np.cos(0.3), np.sin(0.3)]), np.array([-np.sin(0.3), np.cos(0.3)])
    good, bad = general_solution(stretched, across, start), general_solution(stretched, along + across)
    assert good.status == "many" and good.decomposition.redundancy == 2
    close(stretched @ good.velocities, across, 1e-13)
    assert bad.status == "none" and not bad.solved
    close(bad.residual, 1.0, 1e-13)  # the best that can be done: all of the part across, none of that along
    close(stretched @ bad.velocities, across, 1e-13)
    regular = general_solution(np.array([[2.0, 0.0], [0.0, 4.0]]), [2.0, 4.0], [9.0, 9.0])
    assert regular.status == "one"
    close(regular.velocities, [1, 1], 1e-14)
    close(regular.null_projector, np.zeros((2, 2)))
    assert general_solution(np.array([[2.0], [0.0]]), [[2.0, 0.0], [2.0, 1.0]]).status.tolist() == ["one", "none"]


@pytest.mark.spec("S2-43")
def test_the_shortest_solution():
    """WE-15, the KKT system, and that every other solution is longer; J J^T singular."""
    found = minimum_norm(J, V)
    close(J, [[-1.5348404664, -1.192820323, -0.5], [1.3396926208, 0.4, 0]], 1e-8)
    close(found.velocities, [-0.126045346, -0.0778449503, -0.0273709273], 1e-8)
    close(np.linalg.norm(found.velocities), 0.1506533544, 1e-8)
    close(found.velocities, kkt(J, V, np.zeros(3)), 1e-15)
    for amount in (-0.1, 1e-3, 2.0):
        assert np.linalg.norm(found.velocities + amount * found.decomposition.null_space[:, 0]) > np.linalg.norm(
            found.velocities)
    singular = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])
    shortest = minimum_norm(singular, [1.0, 2.0])
    assert shortest.status == "many"
    close(shortest.velocities, [0.5, 0.5, 0.0], 1e-14)
    assert minimum_norm(singular, [1.0, -2.0]).status == "none"


@pytest.mark.spec("S2-44")
def test_the_gradient_in_the_null_space():
    """WE-15: manipulability, its gradient, and that it enters with a minus sign to grow."""
    gradient = manipulability_gradient(ARM.tree, Q, "tool", task=POINT, axes="world")
    close(manipulability(ARM.tree, Q, "tool", task=POINT, axes="world"), 1.2071041533, 1e-9)
    close(gradient, [0, 0.7339171547, 0.4839359062], 1e-9)
    found = gradient_projection(J, V, -gradient, 1.0)
    close(found.velocities, [-0.1281566342, -0.0707737573, -0.0377592717], 1e-9)
    close(J @ found.velocities, V, 1e-14)
    close(found.velocities, kkt(J, V, -gradient), 1e-14)
    close(gradient_projection(J, V, gradient, 0.0).velocities, minimum_norm(J, V).velocities)
    rest = np.zeros(2)
    for sign, grows in ((-1, True), (1, False)):  # w is made smaller: minus manipulability makes manipulability grow
        motion = gradient_projection(J, rest, sign * gradient, 0.5).velocities
        close(J @ motion, rest, 1e-15)
        ahead = manipulability(ARM.tree, Q + 1e-4 * motion, "tool", task=POINT, axes="world")
        assert (ahead > 1.2071041533055) == grows
    gains = gradient_projection(J, np.stack([V, V]), gradient, np.array([0.0, 2.0]))
    close(gains.velocities[1] - gains.velocities[0], -2 * found.null_projector @ gradient, 1e-14)


def test_the_gradient_of_any_arm_by_differences():
    arm = standard_arm([(0.1, 0.3 + 0.2 * k, 0.2, 0.0) for k in range(7)], "RRRPRRR")
    q = np.random.default_rng(4).uniform(-1, 1, size=7)
    asked = {"task": "pose", "axes": "world", "characteristic_length": 0.4}
    compiled = kernel("(7)->()")(lambda q: manipulability(arm.tree, q, "frame7", **asked))
    gradient = kernel("(7)->(7)")(lambda q: manipulability_gradient(arm.tree, q, "frame7", **asked))(q)
    steps = 1e-4 * np.eye(7)
    numeric = (8 * (compiled(q + steps) - compiled(q - steps)) -
               (compiled(q + 2 * steps) - compiled(q - 2 * steps))) / (12 * 1e-4)
    close(gradient, numeric, 1e-9)


@pytest.mark.spec("S2-43", "S2-44")
@pytest.mark.parametrize("off", [1e-3, 1e-6, 1e-9, 0.0])
def test_at_and_next_to_singular_configurations(off):
    """A stretched arm: manipulability keeps its digits next to it, and rates and gradient are no numbers at it."""
    rates = kernel("(3),(2),(3)->(3)")(
        lambda q, v, start: projected_rates(ARM.tree, q, v, start, "tool", task=POINT, axes="world"))
    index, slope = (kernel(f"(3)->{out}")(lambda q, of=of: of(ARM.tree, q, "tool", task=POINT, axes="world"))
                    for of, out in ((manipulability, "()"), (manipulability_gradient, "(3)")))
    q, start = np.array([0.2, off, 0.0]), np.array([0.1, -0.3, 0.2])
    l1, l2, l3 = mpmath.mpf(1.0), mpmath.mpf(0.8), mpmath.mpf(0.5)
    # the minors of the Jacobian in axes of the first link, whose second and third links are in line
    s, c, tail = mpmath.sin(mpmath.mpf(off)), mpmath.cos(mpmath.mpf(off)), l2 + l3
    columns = [(-tail * s, l1 + tail * c), (-tail * s, tail * c), (-l3 * s, l3 * c)]
    minors = [a[0] * b[1] - a[1] * b[0] for a, b in combinations(columns, 2)]
    true = float(mpmath.sqrt(sum(minor**2 for minor in minors)))
    close(index(q), true, 1e-15 + 1e-6 * true)
    if off:
        found = rates(q, V, start)
        J = uniform_jacobian(ARM.tree, q, "tool", task=POINT, axes="world")
        close(J @ found, V, 1e-13 / off)
        close(found - start, J.T @ np.linalg.lstsq(J.T, found - start)[0], 1e-6 * np.abs(found).max())  # nearest to it
        close(slope(q)[1], true / off, 1e-5)
    else:
        assert np.isnan(rates(q, V, start)).all() and np.isnan(slope(q)).all()
        regular = np.stack([q, Q])
        assert np.isnan(rates(regular, V, start)).any(axis=1).tolist() == [True, False]
    for gain in (-1.0, [1.0, -1e-3], np.nan):
        with pytest.raises(SignatureError, match="must not be negative"):
            gradient_projection(np.eye(2), V, [1.0, 2.0], gain)


def test_rates_as_a_kernel():
    """The compiled text by J J^T against the singular values, for a batch."""
    arm = standard_arm([(0.1, 0.3 + 0.2 * k, 0.2, 0.0) for k in range(7)])
    random = np.random.default_rng(5)
    q, v, start = random.uniform(-1, 1, size=(20, 7)), random.normal(size=(20, 3)), random.normal(size=(20, 7))
    text = kernel("(7),(3),(7)->(7)")(
        lambda q, v, start: projected_rates(arm.tree, q, v, start, "frame7", task="position", axes="body"))
    whole = arm.jacobian(q, "frame7", axes="body")[:, :3]
    close(text(q, v, start), general_solution(whole, v, start).velocities, 1e-9)
