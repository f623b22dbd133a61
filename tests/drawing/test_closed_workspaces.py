"""Workspaces of mechanisms with loops: closed, within the limits, on one branch; reach against closed forms."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest

import cayley as cy
from cayley.errors import ConventionError, UnreachableError, UnsupportedError
from cayley.machines import FiveBar, FourBar
from cayley.model.constraint_kinds import Coupling, Rod
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Limits

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FIVE = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.2, 0.2], rods=[0.5, 0.5])
FOUR = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)


def pose_at(x):
    return np.block([[np.eye(3), np.array([[x], [0.0], [0.0]])], [np.zeros((1, 3)), np.ones((1, 1))]])


@pytest.fixture(scope="module")
def five():
    return cy.Mechanism(FIVE.tree())


def test_a_five_bar_reaches_what_its_assembly_mode_does(five):
    start = FIVE.configuration([0.25, 0.45], FIVE.inverse_position([0.25, 0.45])[1])
    found = five.pictures.workspace("point", start=start, samples=4000)
    assert found.dimension == 2 and len(found.points) == 4001  # the cranks turn all the way round
    assert np.abs(five.loops.residual(found.configurations)).max() < 1e-9
    theta = found.configurations[:, [0, 2]]
    np.testing.assert_allclose(found.points[:, :2], FIVE.direct_position(theta)[:, 0], atol=1e-9)
    dense = np.stack(np.meshgrid(*[np.linspace(-np.pi, np.pi, 401)] * 2), axis=-1).reshape(-1, 2)
    reach = np.linalg.norm(FIVE.direct_position(dense)[:, 0], axis=-1)
    assert reach.max() - 1e-9 <= found.farthest <= reach.max() + 2e-4
    assert reach.min() - 2e-4 <= found.nearest <= reach.min() + 1e-9
    below = five.pictures.workspace("point", start=FIVE.configuration([0.25, -0.45], FIVE.inverse_position([0.25,
                                                                                                            -0.45])[2]),
                           samples=500)
    np.testing.assert_allclose(below.points[:, :2], FIVE.direct_position(below.configurations[:, [0, 2]])[:, 1],
                               atol=1e-9)


def test_limits_of_driven_and_of_passive_joints_are_kept(five):
    rod = five.joints[five.tree.joint_number("rod1")]
    bounded = five.variants.with_joints(replace(rod, limits=Limits((-2.0,), (-0.5,))))
    start = FIVE.configuration([0.25, 0.45], FIVE.inverse_position([0.25, 0.45])[1])
    found = bounded.pictures.workspace("point", start=start, samples=1500,
                                       limits={"crank1": (0.5, 2.5), "crank2": (0.0, 2.0)})
    q = found.configurations
    assert (q[:, 0] >= 0.5).all() and (q[:, 0] <= 2.5).all() and (q[:, 2] >= 0.0).all() and (q[:, 2] <= 2.0).all()
    assert (q[:, 1] >= -2.0 - 1e-9).all() and (q[:, 1] <= -0.5 + 1e-9).all()
    assert 100 < len(q) < 1500
    with pytest.raises(UnreachableError, match="within its limits was found to start from"):
        bounded.pictures.workspace("point", start=start,
                                   limits={"crank1": (0.5, 0.6), "rod1": (3.0, 3.1), "crank2": (0.0, 0.1)})


def test_a_coupler_curve_is_a_workspace_of_one_dimension():
    arm = cy.Mechanism(FOUR.tree()).with_frame("tracer", "coupler", [[1, 0, 0, 0.25], [0, 1, 0, 0.1], [0, 0, 1, 0],
                                                                     [0, 0, 0, 1]])
    found = arm.pictures.workspace("tracer", start=FOUR.configuration(0.7, FOUR.position(0.7)[1]), samples=300)
    assert found.dimension == 1 and found.area == 0.0
    curve = FOUR.coupler_point(np.linspace(-np.pi, np.pi, 20001), [0.25, 0.1])[:, 1]
    distance = np.linalg.norm(curve, axis=-1)
    np.testing.assert_allclose([found.nearest, found.farthest], [distance.min(), distance.max()], atol=1e-7)
    start = FOUR.configuration(0.7, FOUR.position(0.7)[1])
    stopped = arm.variants.with_actuated("rocker").pictures.workspace("tracer", start=start, samples=300)
    rocker = FOUR.position(FOUR.dead_centres().rocker)
    phi = stopped.configurations[:, 2]  # to the dead centres of the drive, not beyond
    assert phi.min() >= rocker[..., 1].min() - 1e-9 and phi.max() <= rocker[..., 1].max() + 1e-9 and np.ptp(phi) > 0.5
    found.plot()
    plt.close("all")


def test_what_cannot_move_has_no_workspace():
    bodies = [Body("base"), Body("left", 1.0), Body("right", 1.0)]
    joints = [Joint("left", "base", "left", Revolute()), Joint("right", "base", "right", Revolute(), pose_at(1.0))]
    truss = cy.Mechanism.of("truss", bodies, joints, frames=[Frame("end", "left", pose_at(1.0))],
                            constraints=[Rod("rod", "end", "right", 0.5),
                                         Coupling("gears", ("left", "right"), (1.0, 2.0))])
    with pytest.raises(UnsupportedError, match="truss leave it no motion"):
        truss.pictures.workspace("end", samples=100)


def test_what_does_not_follow_is_refused(five):
    with pytest.raises(UnsupportedError, match="its actuated joints: it is under-actuated by crank1"):
        five.variants.with_actuated("crank1").pictures.workspace("point", samples=100)
    with pytest.raises(ConventionError, match=r"starts at one configuration \(4\)"):
        five.pictures.workspace("point", samples=100, start=np.zeros((2, 4)))
    with pytest.raises(ConventionError, match="there is no branch to start on"):
        cy.load("planar2r").pictures.workspace("tool", start=[0.0, 0.0])
    redundant = five.variants.with_actuated("crank1", "rod1", "crank2")
    assert redundant.pictures.workspace("point", samples=200).dimension == 2
