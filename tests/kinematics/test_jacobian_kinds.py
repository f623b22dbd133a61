"""General Jacobians, their rates, second rates and Hessians: Pinocchio, differences in 50 digits, and the worked
examples.
"""

import numpy as np
import pytest

from cayley.compiler.kernel import kernel
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.general_jacobian import (
    configuration_rate_map,
    general_jacobian,
    hessian,
    jacobian_rate,
    jacobian_second_rate,
    task_jacobian,
)
from cayley.kinematics.jacobians.velocity import acceleration, jacobian, twist
from cayley.kinematics.link_motion import point_position
from compiler.parity import check_parity
from kinematics.arms import ELBOW, SIX, STANFORD_LIKE, modified_arm, standard_arm, translation
from kinematics.exact_motion import derivatives
from kinematics.motions import KINDS_AND_MORE, around, close, everything, frames_of, of_q, random_state, random_tree
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints

TREES = [pytest.param(lambda kind=kind: around(kind), id=kind)
         for kind in KINDS_AND_MORE] + [pytest.param(everything, id="everything")]
POINT = np.array([0.3, -0.7, 0.5])
VIEWS = {
    "world": {"axes": "world"},
    "own": {"axes": "body"},
    "own point": {"axes": "body", "at": POINT},
    "point in other axes": {"axes": "frame2", "at": POINT},
    "root's origin": {"axes": "world", "at": "world"},
    "another frame's place": {"axes": "frame1", "at": "frame3"},
    "seen from a branch": {"axes": "frame2", "relative_to": "frame2"},
    "seen from a branch, there": {"axes": "body", "at": "frame2", "relative_to": "frame3"}, }


@pytest.mark.parametrize("make", TREES)
@pytest.mark.parametrize("axes", ["world", "body"])
def test_jacobians_and_their_rates_are_those_of_pinocchio(make, axes):
    tree = make()
    peer, plain = PinocchioTree.of(tree), PinocchioTree.of(without_universal_joints(tree))
    q, v, _ = random_state(tree)
    for frame in frames_of(tree):
        close(general_jacobian(tree.tree, q, frame, axes=axes), peer.jacobian(q, frame, axes))
        close(general_jacobian(tree.tree, q, frame, axes=axes), jacobian(tree.tree, q, frame, axes=axes))
        rate = plain.jacobian_rate(q, v, frame, axes)
        close(jacobian_rate(tree.tree, q, v, frame, axes=axes), rate)
        close(hessian(tree.tree, q, frame, axes=axes) @ v, rate)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", KINDS_AND_MORE)
def test_rates_and_second_rates_against_fifty_digits(kind, view):
    """The matrix itself is differentiated, along a motion that is written out elsewhere."""
    tree, asked = around(kind), VIEWS[view]
    q, v, vd = random_state(tree)
    whole = of_q(tree, lambda q: general_jacobian(tree.tree, q, "frame4", **asked), (6, tree.nv))
    now, rate, second = derivatives(whole, tree, q, v, vd)
    close(general_jacobian(tree.tree, q, "frame4", **asked), now)
    close(jacobian_rate(tree.tree, q, v, "frame4", **asked), rate)
    close(jacobian_second_rate(tree.tree, q, v, vd, "frame4", **asked), second)
    close(hessian(tree.tree, q, "frame4", **asked) @ v, rate)


def test_a_jacobian_gives_twists_and_its_rate_accelerations():
    tree = everything()
    q, v, vd = random_state(tree)
    for at in (None, POINT, "frame3"):
        for axes in ("world", "body", "frame1"):
            close(
                general_jacobian(tree.tree, q, "frame9", axes=axes, at=at) @ v,
                twist(tree.tree, q, v, "frame9", axes=axes,
                                                                                 at=at))
    for at in (None, POINT):
        J, rate = (f(tree.tree, q, *more, "frame9", axes="world", at=at)
                   for f, more in ((general_jacobian, ()), (jacobian_rate, (v,))))
        close(J @ vd + rate @ v, acceleration(tree.tree, q, v, vd, "frame9", axes="world", at=at))
    own, rate = general_jacobian(tree.tree, q, "frame9", axes="body"), jacobian_rate(tree.tree, q, v, "frame9",
                                                                                     axes="body")
    u, w = np.split(own @ v, 2)
    drift = np.concatenate([np.cross(w, u), np.zeros(3)])
    # the axes turn: not the components' rates
    close(own @ vd + rate @ v + drift, acceleration(tree.tree, q, v, vd, "frame9", axes="body"))


def test_relative_jacobians():
    tree = everything()
    q, v, _ = random_state(tree)
    here, there = frame_pose(tree.tree, q, "frame9"), frame_pose(tree.tree, q, "frame5")
    both = [twist(tree.tree, q, v, name, axes="world", at="frame9") for name in ("frame9", "frame5")]
    found = general_jacobian(tree.tree, q, "frame9", axes="frame5", relative_to="frame5") @ v
    close(found, np.concatenate([there.R.T @ x for x in np.split(both[0] - both[1], 2)]))
    close(general_jacobian(tree.tree, q, "frame9", axes="world", relative_to="body9"), np.zeros((6, tree.nv)))
    assert not np.allclose(here.p, there.p)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical", "universal", "planar"])
def test_the_linear_hessian_of_coordinates_is_symmetric(kind):
    H = hessian(around(kind).tree, random_state(around(kind))[0], "frame4", axes="world", at=POINT)
    close(H[:3], np.swapaxes(H[:3], 1, 2))


def test_the_hessian_of_turns_is_not():
    """Angular velocities are no rates of coordinates: changing the order changes the column by the product of the
    turns.
    """
    tree = random_tree(3, "spherical")
    H = hessian(tree.tree, random_state(tree)[0], "frame0", axes="world")
    J = jacobian(tree.tree, random_state(tree)[0], "frame0", axes="world")
    close(H[3:, 0, 1] - H[3:, 1, 0], -2 * np.cross(J[3:, 0], J[3:, 1]))
    close(H[3:, 0, 1] - H[3:, 1, 0], -2 * J[3:, 2])


def test_every_back_end_gives_the_same():
    tree = random_tree(4, "helical", "universal")
    states = [np.stack(column) for column in zip(*[random_state(tree, seed) for seed in range(3)], strict=True)]
    check_parity(kernel(f"({tree.nq}),({tree.nv}),({tree.nv})->(6,{tree.nv})")(
        lambda q, v, vd: jacobian_second_rate(tree.tree, q, v, vd, "frame1", axes="frame0", at="world")), *states)
    check_parity(
        kernel(f"({tree.nq})->(6,{tree.nv},{tree.nv})")(lambda q: hessian(tree.tree, q, "frame1", axes="body")),
        states[0])


@pytest.mark.spec("S2-37")
def test_columns_of_turning_and_sliding_joints():
    """(z x p; z) and (z; 0), in both halves, WE-13, and J qd is the velocity of S2-35."""
    arm = standard_arm(STANFORD_LIKE, "RRPRRR")
    q, v = np.array([0.3, -0.5, 0.6, 0.2, 0.7, -0.9]), np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    J = general_jacobian(arm.tree, q, "frame6", axes="world")
    end = frame_pose(arm.tree, q, "frame6").p
    for k, kind in enumerate("RRPRRR"):
        R, p = frame_pose(arm.tree, q, f"frame{k}")
        z = R[:, 2]
        close(J[:, k], np.concatenate([z, np.zeros(3)] if kind == "P" else [np.cross(z, end - p), z]), 1e-14)
    for method in ("sum", "running", "link"):
        close(J @ v, twist(arm.tree, q, v, "frame6", axes="world", method=method), 1e-14)
    close(J @ v, [-0.2961685641, -0.0114547021, 0.2889722821, -0.5394356122, -0.8767324739, 0.6556417905], 1e-9)
    close(np.linalg.det(J), -0.1111875882, 1e-9)
    elbow = modified_arm(ELBOW, tool=translation(0.3, 0, 0))
    linear = general_jacobian(elbow.tree, np.array([0.5, 0.6, -0.9]), "tool", axes="world")[:3]
    close(linear.T, [[-0.3352472991, 0.6136660648, 0], [-0.1699571802, -0.0928480307, 0.6992687542],
                     [0.0778030140, 0.0425039803, 0.2866009467]], 1e-9)
    close(np.linalg.det(linear), 0.0821634048, 1e-9)


@pytest.mark.spec("S2-38")
def test_the_jacobian_of_any_functions():
    """The compiler differentiates what it is given; the position gives the linear half of the geometric Jacobian, also
    with quaternions.
    """
    tree = everything()
    q, v, vd = random_state(tree)

    def position(q):
        return point_position(tree.tree, q, POINT, "frame9", relative_to="world")

    close(task_jacobian(tree.tree, q, position), general_jacobian(tree.tree, q, "frame9", axes="world", at=POINT)[:3])

    def three_functions(q):
        p = position(q)
        return np.stack([p @ p, np.sin(p[0]) * p[2], np.sqrt(1 + q[0] ** 2)])

    close(
        task_jacobian(tree.tree, q, three_functions) @ v,
        derivatives(of_q(tree, three_functions, (3,)), tree, q, v, vd)[1])
    compiled = kernel(f"({tree.nq})->(3,{tree.nv})")(lambda q: task_jacobian(tree.tree, q, three_functions))
    close(compiled(q), task_jacobian(tree.tree, q, three_functions))
    close(task_jacobian(tree.tree, q, lambda q: position(q) @ position(q)),
          2 * position(q) @ task_jacobian(tree.tree, q, position))
    assert np.all(task_jacobian(tree.tree, q, lambda q: np.array([1.0, 2.0])) == 0)
    close(configuration_rate_map(tree.tree, q) @ v, derivatives(of_q(tree, lambda q: q, (tree.nq,)), tree, q, v, vd)[1])


def test_the_six_joint_arm():
    """W3-07: rows of J_omega and the acceleration J qdd + J' qd."""
    arm = modified_arm(SIX)
    q, v = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4]), np.array([0.5, -0.3, 0.8, -1.2, 0.4, 0.7])
    vd = np.array([1, 0.4, -0.6, 0.9, -0.2, 0.3])
    J, rate = general_jacobian(arm.tree, q, "link6", axes="world"), jacobian_rate(arm.tree, q, v, "link6", axes="world")
    close(np.linalg.det(J), -0.0686020610, 1e-9)
    close(J @ v, [-0.3879382114, 0.1685998056, 0.0608416608, -0.5931106272, 1.0426955967, 1.2045884802], 1e-9)
    close(J @ vd + rate @ v, [-0.1966521813, 0.1391282999, -0.0442814014, -1.0966875271, -0.8275815982, 0.0951782492],
          1e-8)
    straight = np.array([0.2, -0.5, 0.3, 0.6, 0.0, -0.4])
    assert abs(np.linalg.det(general_jacobian(arm.tree, straight, "link6", axes="world"))) < 1e-15


def test_what_is_nearer_to_the_frame_costs_less():
    """The own-axes texts against the same matrices in the root's axes, turned."""
    arm = standard_arm([(0.1, 0.3, 0.2, 0.0)] * 6)
    q, _, _ = random_state(arm)
    R = frame_pose(arm.tree, q, "frame6").R
    world = general_jacobian(arm.tree, q, "frame6", axes="world")
    close(general_jacobian(arm.tree, q, "frame6", axes="body"), np.concatenate([R.T @ world[:3], R.T @ world[3:]]))
    costs = [
        kernel("(6)->(6,6)")(lambda q, f=f: f(arm.tree, q, "frame6", axes="body")).operations().total
        for f in (general_jacobian, jacobian)]
    assert costs[0] < 0.7 * costs[1]


def test_a_moving_frame_named_world_is_not_the_root():
    tree = random_tree(3, "revolute", "prismatic", "spherical", "revolute")
    named = tree.with_frame("world", tree.bodies[-1].name, translation(0.3, -0.2, 0.1)).with_frame(
        "other", tree.bodies[-1].name, translation(0.3, -0.2, 0.1))
    q, v, vd = random_state(named)
    for text, inputs in ((general_jacobian, (q,)), (jacobian_rate, (q, v)), (jacobian_second_rate, (q, v, vd)),
                         (hessian, (q,)), (twist, (q, v)), (acceleration, (q, v, vd))):
        found, wanted = (text(named.tree, *inputs, frame, axes="world") for frame in ("world", "other"))
        np.testing.assert_array_equal(found, wanted)
        assert np.abs(np.asarray(found, dtype=float)).max() > 0.1
    np.testing.assert_allclose(general_jacobian(named.tree, q, "world", axes="world"),
                               jacobian(named.tree, q, "world", axes="world"), atol=1e-14)


@pytest.mark.parametrize("axes", ["world", "body"])
def test_a_mechanism_without_coordinates_has_jacobians_without_columns(axes):
    tree = random_tree(3, "fixed", "fixed")
    none = np.zeros(0)
    for found in (general_jacobian(tree.tree, none, "frame1", axes=axes), jacobian_rate(tree.tree, none, none, "frame1",
                                                                                   axes=axes),
                  jacobian_second_rate(tree.tree, none, none, none, "frame1", axes=axes)):
        assert np.shape(found) == (6, 0)
    assert np.shape(hessian(tree.tree, none, "frame1", axes=axes)) == (6, 0, 0)
    assert np.shape(general_jacobian(tree.tree, none, "frame1", axes="frame0", at=POINT, relative_to="frame0")) == (6,
                                                                                                                    0)
