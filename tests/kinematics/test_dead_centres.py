"""Dead centres of linkages all the way round, against closed forms; batches of singular configurations."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ConventionError, UnsupportedError
from cayley.machines import FiveBar, FourBar, SliderCrank


def wrapped(angles):
    return np.sort(np.arctan2(np.sin(angles), np.cos(angles)))


@pytest.mark.parametrize("lengths", [(0.12, 0.41, 0.29, 0.37), (0.3, 0.2, 0.25, 0.4), (0.3, 0.4, 0.35, 0.2),
                                     (0.29, 0.41, 0.12, 0.37)])
def test_all_dead_centres_of_four_bars(lengths):
    linkage = FourBar(*lengths)
    arm = cy.Mechanism(linkage.tree())
    expected = linkage.dead_centres()
    crank, rocker = [], []
    theta = np.mean(linkage.crank_limits()) + 0.1
    starts = {"rocker-crank": [(theta, 0), (-theta, 0)], "triple rocker": [(theta, 0)]}
    for angle, mode in starts.get(linkage.kind, [(theta, 0), (theta, 1)]):  # one for each curve
        found = arm.loops.dead_centres(linkage.configuration(angle, linkage.position(angle)[mode]))
        assert found.closes and np.abs(arm.loops.residual(found.configurations)).max(initial=0.0) < 1e-12
        crank.append(found.of("crank")[:, 0])
        rocker.append(found.of("rocker")[:, 0])
    np.testing.assert_allclose(wrapped(np.concatenate(crank)), expected.crank, atol=1e-9)
    np.testing.assert_allclose(wrapped(np.concatenate(rocker)), expected.rocker, atol=1e-9)
    at = found.of("crank")
    if len(at):
        assert "crank" in arm.loops.singularity(at[0]).stopped


def test_a_slider_crank_and_what_its_limits_leave():
    engine = SliderCrank(crank=0.1, rod=0.35, offset=0.04)
    arm = cy.Mechanism(engine.tree())
    q = engine.configuration(0.4, engine.position(0.4)[0])
    found = arm.loops.dead_centres(q)
    np.testing.assert_allclose(wrapped(found.of("slider")[:, 0]), wrapped(engine.dead_centres()), atol=1e-10)
    crank = arm.joints[arm.tree.joint_number("crank")]
    half = arm.variants.with_joints(type(crank)("crank", crank.parent, crank.child, crank.motion, crank.placement,
                                       limits=type(crank.limits)((-0.2,), (1.0,))))
    part = half.loops.dead_centres(q)
    assert not part.closes and (part.path[:, 0] >= -0.2).all() and (part.path[:, 0] <= 1.0).all()
    np.testing.assert_allclose(part.of("slider")[:, 0], engine.dead_centres()[:1], atol=1e-10)


def test_one_input_of_a_five_bar_while_the_other_is_held():
    linkage = FiveBar([(0.0, 0.0), (0.5, 0.1)], cranks=[0.3, 0.35], rods=[0.4, 0.45])
    P = np.array([0.25, 0.45])
    theta = linkage.inverse_position(P)[1]
    arm = cy.Mechanism(linkage.tree())
    found = arm.loops.dead_centres(linkage.configuration(P, theta), held=["crank2"])
    end = linkage.crank_ends(theta)[1]
    four = FourBar(crank=0.3, coupler=0.4, rocker=0.45, ground=float(np.linalg.norm(end)))  # what is left
    turn = np.arctan2(end[1], end[0])
    np.testing.assert_allclose(wrapped(found.of("crank1")[:, 0] - turn), wrapped(four.dead_centres().crank), atol=1e-9)
    with pytest.raises(UnsupportedError, match=r"five-bar has 2 of them left\. Name joints that are `held`"):
        arm.loops.dead_centres(linkage.configuration(P, theta))


def test_batches_of_configurations_are_told_apart():
    square = FourBar(crank=0.2, coupler=0.5, rocker=0.2, ground=0.5)
    arm = cy.Mechanism(square.tree())
    angles = square.position(np.array([0.0, 0.6, np.pi / 2]))[:, 1]
    q = np.stack([[0.0, 0.0, 0.0], square.configuration(0.6, angles[1]), square.configuration(np.pi / 2, angles[2])])
    found = arm.loops.singularity(np.stack([q, q[::-1]]))
    assert found.kind.shape == (2, 3) and found.kind[0, 0] == "bifurcation" and found.mobility[0].tolist() == [2, 1, 1]
    assert found.kind[0, 1] == "regular" and found.dependent[0, 0] == ("pin",) and found.stopped[0, 1] == ()
    alone = arm.loops.singularity(q[0])
    assert (alone.kind, alone.mobility, alone.dependent) == ("bifurcation", 2, ("pin",))
    assert arm.loops.singularity(np.zeros((0, 3))).kind.shape == (0,)
    with pytest.raises(ConventionError, match=r"a configuration of four-bar must be \(..., 3\)"):
        arm.loops.singularity([0.0, 0.0])
