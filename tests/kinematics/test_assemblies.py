"""All ways to assemble a mechanism, from many starts: as many as the closed forms of the classical machines have, and
the same; Dietmaier's platform with 40 of them."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ConventionError, UnsupportedError
from cayley.machines.linkages import FiveBar, FourBar, SliderCrank
from cayley.machines.parallel import Planar3RRR, StewartPlatform, TranslationalDelta
from cayley.model.parts import Limits
from kinematics.machines import five_bar, four_bar, stewart

SIX = Planar3RRR([(0.0, 0.0), (1.5, 0.0), (1.2, 1.7)], cranks=[1.2, 0.6, 1.3], rods=[1.3, 1.6, 1.8], side=1.2)

# P. Dietmaier, "The Stewart-Gough platform of general geometry can have 40 real postures", 1998
BASE = [(0, 0, 0), (1.107915, 0, 0), (0.549094, 0.756063, 0), (0.735077, -0.223935, 0.525991),
        (0.514188, -0.526063, -0.368418), (0.590473, 0.094733, -0.205018)]
PLATFORM = [(0, 0, 0), (0.542805, 0, 0), (0.956919, -0.528915, 0), (0.665885, -0.353482, 1.402538),
            (0.478359, 1.158742, 0.107672), (-0.137087, -0.235121, 0.353913)]
LENGTHS = [1, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]


def agree(found, expected, turns):
    """Whether two sets of configurations are the same, whole turns of angles left out."""
    off = found[:, None] - expected
    off = np.where(turns, np.abs(np.exp(1j * off) - 1), np.abs(off)).max(axis=-1)
    assert off.shape[0] == off.shape[1], (found, expected)
    assert not off.size or (off.min(axis=1).max() < 1e-8 and off.min(axis=0).max() < 1e-8)


def test_a_four_bar_a_slider_crank_and_a_five_bar_have_their_two_modes():
    machine = FourBar(0.12, 0.41, 0.29, 0.37)
    for theta in (0.3, 2.0, -1.4):
        modes = cy.Mechanism(machine.tree()).loops.assemblies({"crank": theta})
        agree(modes.configuration, machine.configuration(theta, machine.position(theta)), [True] * 3)
        assert modes.status == "assembled" and modes.unseen == 0 and modes.residual.max() < 1e-12
        assert sorted(modes.branch) == [-1, 1] and modes.met.sum() <= modes.starts
    engine = SliderCrank(0.1, 0.35, 0.02)
    modes = cy.Mechanism(engine.tree()).loops.assemblies({"crank": 0.8})
    agree(modes.configuration, engine.configuration(0.8, engine.position(0.8)), [True, True, False])
    linkage = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
    cranks = [1.4, 1.9]
    names = cy.Mechanism(linkage.tree()).actuated_joints
    modes = cy.Mechanism(linkage.tree()).loops.assemblies(dict(zip(names, cranks, strict=True)))
    agree(modes.configuration, linkage.configuration(linkage.direct_position(cranks), cranks), [True] * 4)


@pytest.mark.spec("S2-61")
def test_a_planar_3rrr_has_the_assemblies_of_its_sextic():
    arm = cy.Mechanism(SIX.tree())
    counts = []
    for theta in np.random.default_rng(1).uniform(-np.pi, np.pi, size=(12, 3)):
        poses = SIX.direct_position(theta)
        modes = arm.loops.assemblies({f"crank{k + 1}": theta[k] for k in range(3)})
        counts.append(modes.count)
        agree(modes.configuration, SIX.configuration(poses.poses[:poses.count], theta), [True] * 7)
        assert modes.status == poses.status
    assert 0 in counts and max(counts) >= 4


def test_a_delta_has_two_places_within_limits_maybe_one():
    machine = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
    arm = cy.Mechanism(machine.tree())
    theta = np.array([0.4, 0.6, 0.5])
    cranks = {f"crank{k + 1}": theta[k] for k in range(3)}
    places = machine.direct_position(theta)
    modes = arm.loops.assemblies(cranks)
    agree(modes.configuration, machine.configuration(places, theta), [False] * 3 + [True] * 3)
    height = arm.joints[arm.tree.joint_number("z")]
    upper = arm.variants.with_joints(type(height)(height.name, height.parent, height.child, height.motion,
                                                  height.placement,
                                         limits=Limits((0.0,), (2.0,))))
    above = upper.loops.assemblies(cranks, limits=True)
    assert above.count == 1 and above.configuration[0, 2] == pytest.approx(places[:, 2].max())
    assert upper.loops.assemblies(cranks).count == 2


@pytest.mark.spec("S2-107")
def test_dietmaiers_platform_has_forty_poses():
    machine = StewartPlatform(BASE, PLATFORM)
    found = machine.direct_positions(LENGTHS)
    assert found.shape == (40, 4, 4)
    np.testing.assert_allclose(machine.leg_lengths(found), np.broadcast_to(LENGTHS, (40, 6)), atol=1e-11)
    np.testing.assert_allclose(np.swapaxes(found[:, :3, :3], 1, 2) @ found[:, :3, :3],
                               np.broadcast_to(np.eye(3), (40, 3, 3)), atol=1e-12)
    assert (np.linalg.det(found[:, :3, :3]) > 0).all()
    gaps = np.abs(found[:, None] - found).max(axis=(2, 3)) + np.eye(40)
    assert gaps.min() > 1e-3
    arm = cy.Mechanism(machine.tree())
    assert np.abs(arm.loops.residual(machine.configuration(found))).max() < 1e-11
    legs = {f"leg{k + 1}": LENGTHS[k] for k in range(6)}
    closed = arm.loops.close(machine.configuration(found), fixed=legs)
    assert (closed.status == "closed").all() and set(closed.branch) == {-1, 1}
    modes = arm.loops.assemblies(legs, frame="platform", starts=400)  # each foot has two ways to point its leg
    assert modes.count == 40 and modes.unseen == 0
    poses = arm.pose(modes.configuration, "platform")
    assert np.abs(poses[:, None] - found).max(axis=(2, 3)).min(axis=1).max() < 1e-7


def test_what_cannot_be_assembled_and_what_has_no_end():
    arm = four_bar(0.3, 0.2, 0.25, 0.6)
    modes = arm.loops.assemblies({"crank": np.pi})
    assert modes.status == "cannot be assembled" and modes.count == 0 and modes.configuration.shape == (0, 3)
    assert modes.nearest == pytest.approx(0.45, rel=1e-3) and modes.unseen == 1 and modes.branch.shape == (0,)
    with pytest.raises(UnsupportedError, match=r"1 velocities of five-bar are left free: .* mobility is 2"):
        five_bar().loops.assemblies({"left": 1.2})
    with pytest.raises(UnsupportedError, match="no inputs given, 6 velocities of Stewart"):
        stewart().loops.assemblies({})
    with pytest.raises(ConventionError, match="one set of finite values"):
        arm.loops.assemblies({"crank": [0.1, 0.2]})
    with pytest.raises(ConventionError, match="one set of finite values"):
        arm.loops.assemblies({"crank": np.nan})
    with pytest.raises(ConventionError, match="at least one start"):
        arm.loops.assemblies({"crank": 0.1}, starts=0)
    both = four_bar().loops.assemblies({"crank": 0.7, "rocker": 1.0})
    assert both.status == "cannot be assembled" and (both.branch == 0).all()
