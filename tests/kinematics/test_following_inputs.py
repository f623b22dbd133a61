"""Paths of closed configurations along inputs: beside closed forms and dense steps; where branches end, and why."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ConventionError, ModelError
from cayley.machines.linkages import FiveBar, FourBar, SliderCrank
from cayley.machines.parallel import StewartPlatform
from cayley.model.joint_kinds import Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits, Loop
from kinematics.machines import SLIDES, five_bar, four_bar, link, rings, shift, slider_crank, stewart, stewart_guess

LINKAGE = FourBar(0.12, 0.41, 0.29, 0.37)


def modes_of(theta):
    modes = LINKAGE.position(theta)
    return np.stack([np.broadcast_to(np.asarray(theta)[..., None], modes.shape[:-1]),
                     modes[..., 0] - np.asarray(theta)[..., None], modes[..., 1]], axis=-1)


def test_both_modes_of_a_four_bar_are_followed_round_and_round_as_in_the_closed_form():
    arm = four_bar()
    theta = np.linspace(0.3, 0.3 + 4 * np.pi, 120)
    starts = modes_of(0.3)
    path = arm.loops.follow_inputs({"crank": theta}, start=starts)
    assert path.status.tolist() == ["followed"] * 2 and (path.reached == 120).all()
    off = np.abs(np.exp(1j * path.configuration) - np.exp(1j * np.moveaxis(modes_of(theta), 1, 0)))
    assert off.max() < 1e-10 and path.residual.max() < 1e-12
    assert np.abs(np.diff(path.configuration, axis=1)).max() < 0.5  # no turn is jumped
    np.testing.assert_array_equal(path.configuration[:, :, 0], np.stack([theta, theta]))
    assert path.branch.tolist() == [path.branch[0], -path.branch[0]] and path.undetermined == 0
    one = arm.loops.follow_inputs({"crank": theta}, start=starts[0])
    np.testing.assert_allclose(one.configuration, path.configuration[0], atol=1e-13)
    assert one.status == "followed" and one.stopped_by == () and one.stopped_at["crank"] == theta[-1]


def test_few_samples_lead_to_the_same_end_as_many():
    arm = four_bar()
    fine = arm.loops.follow_inputs({"crank": np.linspace(0.3, 9.3, 1000)}, start=modes_of(0.3)[0])
    coarse = arm.loops.follow_inputs({"crank": [3.3, 9.3]}, start=modes_of(0.3)[0])
    assert coarse.status == "followed"
    np.testing.assert_allclose(coarse.end, fine.end, atol=1e-11)


def test_a_rocker_stops_at_the_dead_centre_where_crank_and_coupler_are_in_line():
    arm = four_bar()
    start = modes_of(0.7)[1]
    samples = start[2] + np.linspace(0, 3, 40)
    path = arm.loops.follow_inputs({"rocker": samples}, start=start)
    a, b, c, d = 0.12, 0.41, 0.29, 0.37
    reach = b - a  # the tip of the rocker is nearest to the crank's pivot
    folded = np.pi - np.arccos((c * c + d * d - reach * reach) / (2 * c * d))
    assert path.status == "dead centre" and path.stopped_by == ("ring",)
    assert path.stopped_at["rocker"] == pytest.approx(folded, abs=1e-9)
    assert abs(path.end[1]) == pytest.approx(np.pi, abs=1e-4)  # the coupler goes back along the crank
    assert path.reached == np.count_nonzero(samples <= folded)
    assert np.isnan(path.configuration[path.reached:]).all() and np.isfinite(path.configuration[:path.reached]).all()
    assert np.nanmax(path.residual) < 1e-12
    assert repr(path) == f"<path along rocker: dead centre by ring, {path.reached} of 40 samples>"


def test_a_batch_of_paths_ends_where_the_crank_cannot_stand():
    lengths = (0.3, 0.2, 0.25, 0.6)
    arm = four_bar(*lengths)
    linkage = FourBar(*lengths)
    low, high = linkage.crank_limits()
    start = arm.loops.close([0.2, 0.5, 2.0], fixed=["crank"]).configuration
    ends = np.array([0.5 * high, 2 * high, 0.5 * low, 2 * low])
    path = arm.loops.follow_inputs({"crank": 0.2 + np.linspace(0, 1, 30) * (ends[:, None] - 0.2)}, start=start)
    assert path.status.tolist() == ["followed", "dead centre"] * 2
    np.testing.assert_allclose(path.stopped_at["crank"], [ends[0], high, ends[2], low], atol=1e-9)
    assert path.stopped_by.tolist() == [(), ("ring",), (), ("ring",)]
    assert path.configuration.shape == (4, 30, 3) and (path.reached[[0, 2]] == 30).all()
    assert repr(path) == "<paths along crank: 2 of 4 followed>"


def test_where_branches_cross_the_path_stops_and_says_so():
    arm = four_bar(0.2, 0.5, 0.2, 0.5)
    start = arm.loops.close([1.0, -1.0, 1.0], fixed=["crank"]).configuration
    np.testing.assert_allclose(start, [1.0, -1.0, 1.0], atol=1e-9)
    path = arm.loops.follow_inputs({"crank": np.linspace(1.0, 4.0, 31)}, start=start)  # all links are in line at pi
    assert path.status == "bifurcation" and path.stopped_by == ("ring",)
    assert path.stopped_at["crank"] == pytest.approx(np.pi, abs=1e-6)
    np.testing.assert_allclose(path.configuration[:path.reached, 2], path.configuration[:path.reached, 0], atol=1e-9)


def test_a_slider_crank_and_a_five_bar_follow_their_closed_forms():
    engine = slider_crank()
    theta = np.linspace(0.5, 7.0, 60)
    start = engine.loops.close([0.5, -0.6, 0.4], fixed=["crank"]).configuration
    path = engine.loops.follow_inputs({"crank": theta}, start=start)
    np.testing.assert_allclose(path.configuration[:, 2], SliderCrank(0.1, 0.35, 0.02).position(theta)[:, 0, 1],
                               atol=1e-11)
    linkage = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
    arm = five_bar()
    cranks = np.stack([np.linspace(1.2, 2.1, 25), np.linspace(1.9, 1.2, 25)], axis=-1)
    first = arm.inverse_kinematics(shift(*linkage.direct_position(cranks[0])[0]), "point",
                                   task=(True, True, False, False, False, False), start=[1.2, -0.5, 1.9, 0.5]).q
    path = arm.loops.follow_inputs({"left": cranks[:, 0], "right": cranks[:, 1]}, start=first)
    assert path.status == "followed"
    np.testing.assert_allclose(arm.pose(path.configuration, "point")[:, :2, 3], linkage.direct_position(cranks)[:, 0],
                               atol=1e-10)


def test_a_stewart_platform_follows_its_legs_as_by_small_steps_of_newton():
    arm = stewart()
    machine = StewartPlatform(*rings())
    start = arm.loops.close(stewart_guess()).configuration
    random = np.random.default_rng(5)
    along = np.linspace(0, 1, 20)[:, None]
    legs = start[9::3] + along * (0.15 * random.normal(size=(3, 1, 6)))
    path = arm.loops.follow_inputs({name: legs[..., k] for k, name in enumerate(SLIDES)}, start=start)
    assert path.status.tolist() == ["followed", "followed", "dead centre"] and np.nanmax(path.residual) < 1e-12
    values = np.linalg.svd(machine.jacobian(arm.pose(path.end, "plate")), compute_uv=False)
    assert values[2, -1] < 1e-5 < 0.01 < values[:2, -1].min()  # the legs do not hold the plate there
    for k in range(2):
        pose = arm.pose(start, "plate")
        for part in np.linspace(0, 1, 200):
            pose = machine.direct_position(start[9::3] + part * (legs[k, -1] - start[9::3]), guess=pose).pose
        np.testing.assert_allclose(arm.pose(path.end[k], "plate"), pose, atol=1e-9)


def test_a_plate_that_is_led_takes_its_legs_with_it_until_one_is_at_its_limit():
    arm = stewart((0.9, 1.1))
    start = arm.loops.close(stewart_guess()).configuration
    poses = np.zeros((30, 7))
    poses[:, 2] = np.linspace(start[2], start[2] + 0.3, 30)
    poses[:, 3:] = Rotation.from_rotvec(np.linspace(0, 0.2, 30)[:, None] * [0.0, 0.6, 0.8]).as_quat(scalar_first=True)
    free = arm.loops.follow_inputs({"plate": poses}, start=start)
    assert free.status == "followed" and free.end[9::3].max() > 1.1
    np.testing.assert_allclose(free.configuration[:, 9::3],
                               StewartPlatform(*rings()).leg_lengths(arm.pose(free.configuration, "plate")), atol=1e-11)
    bound = arm.loops.follow_inputs({"plate": poses}, start=start, limits=True)
    assert bound.status == "limit" and len(bound.stopped_by) == 1 and bound.stopped_by[0].startswith("slide")
    assert bound.end[9::3].max() == pytest.approx(1.1, abs=1e-8) and bound.reached < 30
    np.testing.assert_allclose(bound.configuration[:bound.reached], free.configuration[:bound.reached], atol=1e-10)


def test_joints_that_do_not_follow_take_the_shortest_way_and_inputs_that_disagree_are_open():
    arm = five_bar()
    start = arm.loops.close([1.2, -0.5, 1.9, 0.5]).configuration
    path = arm.loops.follow_inputs({"left": start[0] + np.linspace(0, 0.3, 10)}, start=start)
    assert path.status == "followed" and path.undetermined == 1 and path.branch == 0
    bar = four_bar()
    both = bar.loops.follow_inputs({"crank": [0.8, 0.9], "rocker": [1.4, 1.2]}, start=modes_of(0.7)[1])
    assert both.status == "open" and both.reached == 0
    nowhere = four_bar(0.3, 0.2, 0.25, 0.6).loops.follow_inputs({"crank": [np.pi, 3.0]}, start=[np.pi, 0.0, 0.0])
    assert nowhere.status == "open" and nowhere.reached == 0


def test_rates_and_accelerations_of_all_joints_are_those_of_the_path():
    arm = four_bar().variants.with_actuated("crank")
    t = 0.4 + np.arange(-2, 3) * 1e-4
    theta, rate, second = 0.7 + np.sin(t), np.cos(t[2]), -np.sin(t[2])
    q = arm.loops.follow_inputs({"crank": theta}, start=modes_of(0.7)[1]).configuration
    qd = arm.loops.actuated_motion(q[2], [rate])
    np.testing.assert_allclose(qd, (q[3] - q[1]) / 2e-4, atol=1e-6)
    qdd = arm.loops.actuated_acceleration(q[2], [rate], [second])
    np.testing.assert_allclose(qdd, (q[3] - 2 * q[2] + q[1]) / 1e-8, atol=1e-5)
    np.testing.assert_allclose(arm.loops.jacobian(q[2]) @ qdd + arm.loops.drift(q[2], qd), 0.0, atol=1e-12)
    spare = arm.variants.with_actuated("crank", "rocker")
    np.testing.assert_allclose(spare.loops.actuated_acceleration(q[2], qd[[0, 2]], qdd[[0, 2]]), qdd, atol=1e-10)
    machine = stewart().variants.with_actuated(*SLIDES)
    start = stewart().loops.close(stewart_guess()).configuration
    rates, seconds = np.random.default_rng(0).normal(size=(2, 6))
    legs = start[9::3] + (t[:, None] - t[2]) * rates + 0.5 * (t[:, None] - t[2])**2 * seconds
    q = stewart().loops.follow_inputs({name: legs[:, k] for k, name in enumerate(SLIDES)}, start=start).configuration
    qdd = machine.loops.actuated_acceleration(q[2], rates, seconds)
    steps = machine.difference(q[2], q[[1, 3]])
    np.testing.assert_allclose(qdd[6:], (steps.sum(axis=0) / 1e-8)[6:], atol=1e-4)


def test_spherical_joints_in_a_loop_and_a_loop_through_the_base():
    """A spatial four-bar (RSSR): two revolute joints on the base and a rod between balls, whose spin is free."""
    joints = [Joint("crank", "base", "a", Revolute()), Joint("ball", "a", "rod", Spherical(), shift(0.1)),
              Joint("rocker", "base", "c", Revolute((0.0, 1.0, 0.0)), shift(0.4, 0.1))]
    arm = cy.Mechanism.of("RSSR", [Body("base"), *[link(name) for name in ("a", "rod", "c")]], joints,
                          frames=[Frame("end", "rod", shift(0.45)), Frame("top", "c", shift(0, 0, 0.3))],
                          loops=[Loop("tie", "end", "top", Spherical())])
    start = arm.loops.close(arm.neutral, fixed=["crank"]).configuration
    path = arm.loops.follow_inputs({"crank": np.linspace(0, 2 * np.pi, 40)}, start=start)
    assert path.status == "followed" and path.undetermined == 1 and path.residual.max() < 1e-12
    tips = arm.pose(path.configuration, "top")[:, :3, 3] - arm.pose(path.configuration, "rod")[:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(tips, axis=1), 0.45, atol=1e-12)
    assert path.end[5] == pytest.approx(path.configuration[0, 5], abs=1e-9)


def test_limits_of_a_rocker_and_wrong_arguments():
    start = modes_of(0.7)[1]
    arm = four_bar(limits=Limits((start[2] - 0.1,), (start[2] + 0.05,)))
    path = arm.loops.follow_inputs({"crank": np.linspace(0.7, 3.0, 30)}, start=start, limits=True)
    assert path.status == "limit" and path.stopped_by == ("rocker",)
    assert min(abs(path.end[2] - start[2] + 0.1), abs(path.end[2] - start[2] - 0.05)) < 1e-8
    none = arm.loops.follow_inputs({"crank": np.zeros((0, 5))}, start=start)
    assert none.configuration.shape == (0, 5, 3) and none.status.shape == (0,)
    assert arm.loops.follow_inputs({"crank": np.zeros(0)}, start=start).configuration.shape == (0, 3)
    with pytest.raises(ConventionError, match=r"samples \(\.\.\., m\)"):
        arm.loops.follow_inputs({"crank": [0.0, np.nan]}, start=start)
    with pytest.raises(ConventionError, match=r"samples \(\.\.\., m\)"):
        arm.loops.follow_inputs({"crank": 0.7}, start=start)
    with pytest.raises(ConventionError, match="by names of joints"):
        arm.loops.follow_inputs({}, start=start)
    with pytest.raises(ModelError, match="crank"):
        arm.loops.follow_inputs({"crack": [0.0]}, start=start)
    with pytest.raises(ConventionError, match=r"\(\.\.\., 3\)"):
        arm.loops.follow_inputs({"crank": [0.0]}, start=[0.0])
