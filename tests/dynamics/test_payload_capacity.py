"""The greatest load that drives hold at rest, against closed forms, Pinocchio and virtual work; and its chart."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics.payload_capacity import payload_capacity
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint, Limits
from kinematics.pinocchio_trees import PinocchioTree


def test_an_arm_of_two_links_is_the_textbook_formula():
    """Held out straight: gravity of the links and of the load about both joints."""
    arm, g = cy.load("planar2r"), 9.81
    q2 = np.linspace(-3.0, 3.0, 25)
    shoulder, elbow = 40.0, 15.0
    G2 = 1.5 * 0.2 * g * np.cos(q2)
    G1 = (2.0 * 0.25 + 1.5 * 0.5) * g + G2
    w2 = 0.4 * g * np.cos(q2)
    w1 = 0.5 * g + w2
    wanted = np.min([(L - np.sign(w) * G) / abs(w) for L, G, w in ((shoulder, G1, w1), (elbow, G2, w2))], axis=0)
    q = np.stack([np.zeros(25), q2], axis=1)
    np.testing.assert_allclose(arm.dexterity.greatest_payload(q, "tool", effort=[shoulder, elbow]), wanted, rtol=1e-12)


def test_the_load_of_panda_uses_up_one_limit_of_pinocchio():
    arm = cy.load("panda")
    for q in arm.random_configuration(20, seed=1):
        mass, first = payload_capacity(arm.tree, q, "tool")
        there = PinocchioTree.of(arm.with_payload("tool", float(mass)).tree)
        there.model.gravity.linear = np.array(arm.gravity)
        tau = np.abs(pin.computeGeneralizedGravity(there.model, there.model.createData(), there.q(q)))
        share = tau / [87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0]
        np.testing.assert_allclose(share.max(), 1.0, rtol=1e-9)
        assert share.argmax() == first


@pytest.mark.parametrize("name", ["delta", "stewart"])
def test_machines_with_loops_hold_what_virtual_work_says(name):
    """Drives hold a load: what they do in small closed motions is what the weight does."""
    arm = cy.load(name)
    start = arm.loops.close(arm.tree.neutral).configuration
    drives = arm.tree.actuated_joints
    places = [arm.tree.q_slices[arm.tree.joint_number(drive)].start for drive in drives]
    rows = [arm.tree.v_slices[arm.tree.joint_number(drive)].start for drive in drives]
    h = 1e-5

    def energy(body, k, side):
        q = start.copy()
        q[places[k]] += side * h
        closed = body.loops.close(q, fixed={drive: float(q[place]) for drive, place in zip(drives, places,
                                                                                           strict=True)})
        return body.potential_energy(closed.configuration)

    mass, first = payload_capacity(arm.tree, start, "tool")
    loaded = arm.with_payload("tool", float(mass))
    forces = np.array([(energy(loaded, k, 1) - energy(loaded, k, -1)) / (2 * h) for k in range(len(drives))])
    limits = np.array([arm.joints[arm.tree.joint_number(drive)].limits.effort[0] for drive in drives])
    np.testing.assert_allclose((np.abs(forces) / limits).max(), 1.0, rtol=1e-4)
    assert first in rows


def lift(effort, mass=2.0):
    """A slide that goes up, and a turn about the vertical on it."""
    return cy.Mechanism.of("lift", [Body("base"), Body("cart", mass), Body("hand", 1.0, (0.1, 0, 0))], [
        Joint("slide", "base", "cart", Prismatic(), limits=Limits((0.0,), (1.0,), effort=(effort,))),
        Joint("turn", "cart", "hand", Revolute(), limits=Limits((-3.0,), (3.0,), effort=(5.0,)))])


def test_a_slide_carries_its_force_less_its_own_weight_and_zero_where_it_falls():
    arm = lift(100.0)
    assert arm.dexterity.greatest_payload([0.3, 0.2], "hand") == pytest.approx(100.0 / 9.81 - 3.0)
    assert lift(20.0).dexterity.greatest_payload([0.3, 0.2], "hand") == 0.0
    assert payload_capacity(lift(20.0).tree, [0.3, 0.2], "hand").first == 0
    assert arm.dexterity.greatest_payload([0.3, 0.2], "hand",
                                          effort=[np.inf, 5.0]) == np.inf  # the turn does not feel it
    assert arm.dexterity.greatest_payload(np.zeros((0, 2)), "hand").shape == (0,)
    arm, q = cy.load("planar2r"), [[0.0, np.nan], [0.0, 0.0]]
    np.testing.assert_allclose(arm.dexterity.greatest_payload(q, "tool", effort=[40.0, 15.0]), [np.nan, 2.80830219],
                               rtol=1e-8)


def test_what_cannot_be_said_is_refused_by_name():
    arm = cy.load("puma560")
    with pytest.raises(UnsupportedError, match=r"no joint of puma560 has a limit of effort.*Give `effort`"):
        arm.dexterity.greatest_payload(np.zeros(6), "tool")
    with pytest.raises(SignatureError, match="one for each of the 6 velocities of puma560"):
        arm.dexterity.greatest_payload(np.zeros(6), "tool", effort=[1.0, 2.0])
    with pytest.raises(ConventionError, match="positive"):
        arm.dexterity.greatest_payload(np.zeros(6), "tool", effort=-1.0)
    with pytest.raises(UnsupportedError, match=r"five_bar.*feels a load at 'tool'"):
        cy.load("five_bar").pictures.payload_map("tool", effort=5.0, samples=200)
    with pytest.raises(UnsupportedError, match="on four_bar do not follow from the load: it is redundantly"):
        bar = cy.load("four_bar").variants.with_actuated("crank", "rocker")
        cy.Mechanism(bar.tree).dexterity.greatest_payload(bar.tree.neutral, "tool", effort=5.0)


def test_the_chart_has_the_best_and_the_worst_of_each_place():
    arm = cy.load("planar2r")
    found = arm.pictures.payload_map("tool", effort=[40.0, 15.0], samples=4000)
    assert found.everywhere == pytest.approx(2.80830219, rel=1e-3)  # straight out
    reached = ~np.isnan(found.best)
    assert (found.best[reached] >= found.always[reached]).all() and 0 < reached.mean() < 1
    x, z = np.meshgrid(found.horizontal, found.vertical)
    outer = reached & (np.hypot(x, z) > 0.88) & (np.abs(z) < 0.05) & (x > 0)
    np.testing.assert_allclose(found.always[outer], 2.85, atol=0.15)
    assert set(found.first) == {"joint1", "joint2"} and sum(found.first.values()) == pytest.approx(1.0)
    figure = found.plot()
    assert [ax.get_title("left") for ax in figure.axes[:2]] == ["in the best posture", "in every posture"]
    assert "kg everywhere" in repr(found) and found._repr_png_()[:4] == b"\x89PNG"
