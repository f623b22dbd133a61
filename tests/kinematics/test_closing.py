"""Closing of mechanisms: beside closed forms, SciPy and the careful search; inputs that are held, limits, branches."""

import itertools

import numpy as np
import pytest
from scipy.optimize import least_squares

import cayley as cy
from cayley.errors import ConventionError, GeometryError, ModelError, SignatureError, UnreachableError, UnsupportedError
from cayley.kinematics.constraints.closure import closed_carefully
from cayley.machines.linkages import FourBar
from cayley.machines.parallel import StewartPlatform
from cayley.model.constraint_kinds import Coupling, KnifeEdge, PrescribedMotion
from cayley.model.joint_kinds import Cylindrical, Helical, Planar, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits, Loop, Mimic
from kinematics.machines import SLIDES, four_bar, rings, shift, slider_crank, stewart, stewart_guess


def near(arm, q, count, size, seed=0):
    random = np.random.default_rng(seed)
    return arm.integrate(np.broadcast_to(q, (count, arm.nq)), size * random.normal(size=(count, arm.nv)))


def angles_of(modes, theta):
    """Configurations of the mechanism from angles of coupler and rocker to the ground."""
    return np.stack([np.broadcast_to(theta, modes.shape[:-1]), modes[..., 0] - theta, modes[..., 1]], axis=-1)


def turned_alike(q, other):
    return np.abs(np.exp(1j * q) - np.exp(1j * other)).max(axis=-1)


def test_a_four_bar_with_its_crank_held_has_the_angles_of_the_closed_form_on_both_branches():
    arm = four_bar()
    theta = np.linspace(0.0, 2 * np.pi, 60)
    modes = angles_of(FourBar(0.12, 0.41, 0.29, 0.37).position(theta), theta[:, None])  # (60, 2, 3)
    guesses = modes + np.array([0.0, 0.05, -0.04])
    found = arm.loops.close(guesses, fixed=["crank"])
    assert (found.status == "closed").all() and not found.by_chance.any() and not found.crossed.any()
    assert turned_alike(found.configuration, modes).max() < 1e-10
    np.testing.assert_array_equal(found.configuration[..., 0], guesses[..., 0])
    assert (found.branch == found.branch[:1]).all() and (found.branch[:, 0] == -found.branch[:, 1]).all()
    assert (found.independent == 1).all() and found.residual.max() < 1e-12
    by_value = arm.loops.close(guesses[:, 0] * [0, 1, 1], fixed={"crank": theta})
    np.testing.assert_array_equal(by_value.configuration, found.configuration[:, 0])


def test_a_far_guess_says_that_a_dead_centre_was_passed():
    arm = four_bar()
    theta = np.linspace(0.0, 2 * np.pi, 40)
    found = arm.loops.close([0.0, 0.6, 1.5], fixed={"crank": theta})
    assert (found.status == "closed").all()
    start = np.stack([theta, 0 * theta + 0.6, 0 * theta + 1.5], axis=-1)

    def bend(q):  # the angle between coupler and rocker: zero at the dead centres of the crank
        return np.sin(q[:, 2] - q[:, 0] - q[:, 1])

    np.testing.assert_array_equal(found.crossed, bend(start) * bend(found.configuration) < 0)
    assert found.crossed.any() and not found.crossed.all()


def test_a_batch_of_stewart_platforms_is_closed_near_its_guesses():
    arm = stewart()
    q = arm.loops.close(stewart_guess()).configuration
    guesses = near(arm, q, 300, 0.02)
    found = arm.loops.close(guesses)
    assert (found.status == "closed").all() and not found.by_chance.any() and found.iterations.max() <= 5
    assert np.abs(arm.loops.residual(found.configuration)).max() < 1e-12
    np.testing.assert_allclose(np.linalg.norm(found.configuration[:, 3:7], axis=1), 1.0, atol=1e-13)
    moved = np.linalg.norm(arm.difference(guesses, found.configuration), axis=1)
    for k in range(3):  # SciPy's nearest closed configuration is not much nearer
        nearest = least_squares(
            lambda v, guess=guesses[k]: np.concatenate([1e-4 * v, arm.loops.residual(arm.integrate(guess, v))]),
            np.zeros(arm.nv), xtol=1e-14, ftol=1e-14, gtol=1e-14)
        assert np.linalg.norm(nearest.x) <= moved[k] * 1.001 < 1.3 * np.linalg.norm(nearest.x)
    assert np.unique(found.branch).tolist() == [1] or np.unique(found.branch).tolist() == [-1]
    assert (found.independent[:5] == 6).all()


def test_slides_that_are_held_give_the_direct_position_and_a_plate_that_is_held_the_inverse_one():
    arm = stewart()
    machine = StewartPlatform(*rings())
    guesses = near(arm, arm.loops.close(stewart_guess()).configuration, 50, 0.03)
    direct = arm.loops.close(guesses, fixed=SLIDES)
    assert (direct.status == "closed").all()
    lengths = guesses[:, 9::3]
    np.testing.assert_array_equal(direct.configuration[:, 9::3], lengths)
    expected = machine.direct_position(lengths, guess=arm.pose(guesses, "plate"))
    np.testing.assert_allclose(arm.pose(direct.configuration, "plate"), expected.pose, atol=1e-10)
    inverse = arm.loops.close(guesses, fixed=["plate"])
    np.testing.assert_array_equal(inverse.configuration[:, :7], guesses[:, :7])
    np.testing.assert_allclose(inverse.configuration[:, 9::3], machine.leg_lengths(arm.pose(guesses, "plate")),
                               atol=1e-12)


def test_hard_guesses_are_those_of_the_careful_search():
    arm = four_bar()
    straight = np.zeros(3)
    found = arm.loops.close([straight, [0.7, -0.2, 1.3]])
    careful = closed_carefully(arm.tree, straight, np.ones(3, dtype=bool))
    np.testing.assert_array_equal(found.configuration[0], careful.configuration)
    assert found.by_chance.tolist() == [True, False] and (found.status == "closed").all()


def test_inputs_that_cannot_be_reached_are_open_by_what_is_missing():
    arm = four_bar(0.3, 0.2, 0.25, 0.6)
    found = arm.loops.close([np.pi, 0.1, 0.2], fixed=["crank"])  # the end of the crank is 0.9 m from the rocker's pivot
    assert found.status == "open" and found.branch == 0 and not found.crossed
    assert found.residual == pytest.approx(0.9 - 0.2 - 0.25, rel=1e-6)
    assert found.openings["ring"] == pytest.approx(0.45, rel=1e-6)
    assert found.configuration[0] == np.pi
    both = arm.loops.close([[np.pi, 0.1, 0.2], [0.2, 0.5, 2.0]], fixed=["crank"])
    assert both.status.tolist() == ["open", "closed"] and (both.branch != 0).tolist() == [False, True]


def test_joints_that_are_all_held_and_a_frame_that_cannot_move():
    arm = four_bar()
    q = arm.loops.close([0.7, -0.2, 1.3]).configuration
    held = arm.loops.close([q, q + 0.1], fixed=["crank", "coupler", "rocker"])
    assert held.status.tolist() == ["closed", "open"]
    np.testing.assert_array_equal(held.configuration, [q, q + 0.1])
    truss = cy.Mechanism.of("truss", [Body("base"), Body("a", 1.0), Body("b", 1.0)], [
        Joint("a", "base", "a", Revolute()), Joint("b", "a", "b", Revolute(), shift(0.3))], frames=[
            Frame("end", "b", shift(0.4)), Frame("wall", "base", shift(0.5))],
        loops=[Loop("pin", "wall", "end", Revolute())])
    found = truss.loops.close([[0.5, 1.0], [-0.5, -1.0]])
    assert (found.status == "closed").all() and (found.independent == 0).all()
    modes = truss.loops.assemblies({})  # a right angle of 3, 4 and 5
    np.testing.assert_allclose(np.sort(modes.configuration[:, 1]), [-np.pi / 2, np.pi / 2], atol=1e-12)


def test_too_many_inputs_are_closed_only_if_they_agree():
    arm = four_bar()
    q = arm.loops.close([0.7, -0.2, 1.3]).configuration
    found = arm.loops.close(q + np.array([[0, 0.1, 0], [0, 0.1, 0.1]]), fixed=["crank", "rocker"])
    assert found.status.tolist() == ["closed", "open"] and (found.branch == 0).all()
    np.testing.assert_allclose(found.configuration[0], q, atol=1e-11)


def test_limits_are_reported_and_a_configuration_within_them_is_looked_for():
    free = four_bar()
    theta = 0.7
    low, high = sorted(angles_of(FourBar(0.12, 0.41, 0.29, 0.37).position(theta), theta)[:, 2])
    arm = four_bar(limits=Limits((low - 0.1,), (low + 0.1,)))
    guess = free.loops.close([theta, -0.2, 1.3], fixed=["crank"]).configuration
    assert guess[2] == pytest.approx(high)
    plain = arm.loops.close(guess, fixed=["crank"])
    assert plain.status == "closed" and plain.within_limits is False
    found = arm.loops.close(guess, fixed=["crank"], limits=True)
    assert found.status == "closed" and found.within_limits and found.by_chance and found.crossed
    assert found.configuration[2] == pytest.approx(low, abs=1e-10) and found.residual < 1e-12
    nowhere = four_bar(limits=Limits((low + 0.1,), (high - 0.1,))).loops.close([guess, guess], fixed=["crank"],
                                                                               limits=True)
    assert nowhere.status.tolist() == ["outside limits"] * 2 and not nowhere.within_limits.any()
    far = Limits((high + 2 * np.pi - 0.1,), (high + 2 * np.pi + 0.1,))
    around = four_bar(limits=far).loops.close(guess, fixed=["crank"], limits=True)
    np.testing.assert_allclose(around.configuration, guess + np.array([0, 0, 2 * np.pi]), atol=1e-12)
    assert not around.by_chance and not around.crossed
    lower = FourBar(0.12, 0.41, 0.29, 0.37).position(2.5)[1, 1]  # the crank may move as well
    moving = four_bar(limits=Limits((lower - 0.01,), (lower + 0.01,))).loops.close([0.7, -0.2, 1.3], limits=True)
    assert moving.status == "closed" and moving.configuration[2] == pytest.approx(lower, abs=0.0101)


def test_a_stewart_platform_within_its_strokes():
    arm = stewart((0.95, 1.1))
    found = arm.loops.close(stewart_guess(0.5), limits=True)
    assert found.status == "closed" and found.within_limits
    assert (found.configuration[9::3] >= 0.95 - 1e-9).all() and found.residual < 1e-12


@pytest.mark.parametrize("motion", [Revolute(), Cylindrical(), Prismatic(), Helical(pitch=0.1)],
                         ids=lambda motion: motion.word)
def test_a_loop_is_never_closed_the_wrong_way_round(motion):
    """A body on a ball that a joint ties to the ground: a turn by half a circle about x leaves all rows zero."""
    arm = cy.Mechanism.of("ball", [Body("base"), Body("body", 1.0)], [Joint("ball", "base", "body", Spherical())],
                          loops=[Loop("tie", "base", "body", motion)])
    back = np.array([0.0, 1.0, 0.0, 0.0])
    assert np.abs(arm.loops.residual(back)).max() < 1e-12
    found = arm.loops.close([back, [np.sqrt(1 - 0.19**2), 0.19, 0.0, 0.0]])
    assert found.status[1] == "closed"
    for k in np.flatnonzero(found.status == "closed"):
        R = arm.pose(found.configuration[k], "body")[:3, :3]
        assert R[2, 2] == pytest.approx(1.0, abs=1e-11)


def test_a_slide_is_not_closed_a_third_of_a_turn_away():
    """Axes that have changed places: x on y, y on z, z on x, all rows of the slide are zero, and its axis points away.
    """
    arm = cy.Mechanism.of("ball", [Body("base"), Body("body", 1.0)], [Joint("ball", "base", "body", Spherical())],
                          loops=[Loop("tie", "base", "body", Prismatic())])
    turned = [[0.5, x, y, z] for x, y, z in itertools.product((-0.5, 0.5), repeat=3)]
    zero = np.array([q for q in turned if np.abs(arm.loops.residual(q)).max() < 1e-15])
    assert len(zero) == 4
    nudged = zero + 1e-13 * np.random.default_rng(0).normal(size=(50, 4, 4))
    found = arm.loops.close(nudged / np.linalg.norm(nudged, axis=-1, keepdims=True))
    R = arm.pose(found.configuration[found.status == "closed"], "body")[..., :3, :3]
    np.testing.assert_allclose(R, np.broadcast_to(np.eye(3), R.shape), atol=1e-11)


def test_mimic_joints_couplings_and_loops_through_the_base_are_closed_together():
    joints = [Joint("a", "base", "one", Revolute()), Joint("b", "one", "two", Revolute(), shift(0.3)),
              Joint("c", "two", "three", Revolute(), shift(0.3)),
              Joint("d", "base", "four", Revolute(), mimic=Mimic("a", -2.0, 0.1)),
              Joint("e", "base", "five", Revolute())]
    arm = cy.Mechanism.of("ring", [Body("base"), *[Body(n, 1.0) for n in ("one", "two", "three", "four", "five")]],
                          joints, frames=[Frame("end", "three", shift(0.25)), Frame("wall", "base", shift(0.5, 0.1))],
                          loops=[Loop("ring", "wall", "end", Revolute())],
                          constraints=[Coupling("gears", ("b", "e"), (3.0, 1.0))])
    found = arm.loops.close([[0.7, -1.0, -0.6, 0.0, 0.0]], fixed=["a"])
    q = found.configuration[0]
    assert found.status[0] == "closed" and q[0] == 0.7
    np.testing.assert_allclose([q[3], q[4]], [-2 * q[0] + 0.1, -3 * q[1]], atol=1e-12)
    sums = np.cumsum(q[:3])
    np.testing.assert_allclose([0.3, 0.3, 0.25] @ np.stack([np.cos(sums), np.sin(sums)], axis=1), [0.5, 0.1],
                               atol=1e-12)
    assert found.branch[0] != 0


def test_what_cannot_be_closed_is_said_with_the_loop_and_the_gap():
    impossible = four_bar(0.1, 0.1, 0.1, 5.0)
    found = impossible.loops.close([0.1, 0.2, 0.3])
    assert found.status == "open" and found.openings["ring"] == pytest.approx(4.7, abs=1e-6) and found.branch == 0
    with pytest.raises(UnreachableError, match=r"four-bar .*the nearest leaves 4\.7 open \('ring' 4\.7\)"):
        impossible.loops.structure  # noqa: B018


def test_an_open_tree_is_closed_within_limits_by_bringing_it_there():
    arm = cy.load("panda")
    found = arm.loops.close(np.full((2, 7), 0.5), limits=True)
    assert (found.status == "closed").all() and found.within_limits.all() and (found.branch == 0).all()
    np.testing.assert_allclose(found.configuration, [np.clip(np.full(7, 0.5), arm.lower, arm.upper)] * 2)
    outside = arm.loops.close(np.full(7, 0.5), fixed=["panda_joint4"], limits=True)
    assert outside.status == "outside limits" and outside.configuration[3] == 0.5


def test_a_crank_that_is_led_in_time_is_closed_at_each_time():
    bar = four_bar()
    driven = cy.Mechanism.of("driven", bar.bodies, bar.joints, frames=bar.frames, loops=bar.loops,
                             constraints=[PrescribedMotion("drive", "crank", "0.5*t")])
    t = np.array([1.0, 1.5, 2.0])
    found = driven.loops.close(np.tile([0.7, -0.2, 1.3], (3, 1)), t)
    np.testing.assert_allclose(found.configuration[:, 0], 0.5 * t, atol=1e-12)
    expected = bar.loops.close(found.configuration + np.array([0, 0.01, 0.01]), fixed=["crank"]).configuration
    np.testing.assert_allclose(found.configuration, expected, atol=1e-11)
    assert found.openings["drive"].max() < 1e-12 and (found.independent == 0).all()
    for refused in (lambda: driven.loops.assemblies({"rocker": 1.0}),
                    lambda: driven.loops.follow_inputs({"rocker": [1.0]}, start=[0.7, -0.2, 1.3]),
                    lambda: driven.inverse_kinematics(np.eye(4), "tip of b", task="position")):
        with pytest.raises(UnsupportedError, match="drive"):
            refused()


def test_wheels_do_not_hold_a_place_and_what_needs_one_refuses_them():
    sled = cy.Mechanism.of("sled", [Body("base"), Body("sled", 1.0)], [Joint("sled", "base", "sled", Planar())],
                           constraints=[KnifeEdge("edge", "base", "sled")])
    found = sled.loops.close([[1.0, 2.0, 0.5]])
    assert found.status[0] == "closed" and found.branch[0] == 0
    np.testing.assert_array_equal(found.configuration, [[1.0, 2.0, 0.5]])
    for refused in (lambda: sled.loops.assemblies({"sled": [0.0, 0.0, 0.0]}),
                    lambda: sled.loops.follow_inputs({"sled": [[0.0, 0.0, 0.0]]}, start=[0.0, 0.0, 0.0])):
        with pytest.raises(UnsupportedError, match="'edge' of sled is on velocities"):
            refused()


def test_empty_batches_and_wrong_arguments():
    arm = four_bar()
    none = arm.loops.close(np.zeros((0, 3)), fixed=["crank"], limits=True)
    assert none.configuration.shape == (0, 3) and none.status.shape == none.branch.shape == none.crossed.shape == (0,)
    assert arm.loops.close(np.zeros((2, 0, 3))).residual.shape == (2, 0)
    with pytest.raises(ConventionError, match="finite numbers"):
        arm.loops.close([0.0, np.nan, 0.0])
    with pytest.raises(ConventionError, match="finite numbers"):
        arm.loops.close([0.0, 0.0, 0.0], fixed={"crank": np.nan})
    with pytest.raises(SignatureError, match=r"\(2,\) configurations, \(5,\) values of inputs"):
        arm.loops.close(np.zeros((2, 3)), fixed={"crank": np.zeros(5)})
    with pytest.raises(SignatureError, match=r"\(3,\) starts, \(2,\) paths of inputs"):
        arm.loops.follow_inputs({"crank": np.zeros((2, 5))}, start=np.zeros((3, 3)))
    with pytest.raises(UnsupportedError, match="planar2r has no loops"):
        cy.load("planar2r").loops.follow_inputs({"joint1": [0.0]}, start=[0.0, 0.0])
    with pytest.raises(UnsupportedError, match="planar2r has no loops"):
        cy.load("planar2r").loops.assemblies({"joint1": 0.0})
    with pytest.raises(ConventionError, match="list of names"):
        arm.loops.close([0.0, 0.0, 0.0], fixed="crank")
    with pytest.raises(ConventionError, match="named twice"):
        arm.loops.close([0.0, 0.0, 0.0], fixed=["crank", "crank"])
    with pytest.raises(ModelError, match="did you mean 'crank'"):
        arm.loops.close([0.0, 0.0, 0.0], fixed=["cranck"])
    with pytest.raises(ConventionError, match=r"7 coordinates: values \(\.\.\., 7\), not \(3,\)"):
        stewart().loops.close(stewart_guess(), fixed={"plate": [0.0, 0.0, 1.0]})
    with pytest.raises(GeometryError, match="quaternion"):
        stewart().loops.close(np.zeros(25))


def test_what_is_no_value_of_an_input_is_refused_by_its_name():
    bar = cy.load("four_bar")
    for wrong in ("x", [[1.0, 2.0], [3.0]], None):
        with pytest.raises(ConventionError, match=r"the input 'crank' of four_bar|finite"):
            bar.loops.close([0.5, 0.0, 0.0], fixed={"crank": wrong})
    with pytest.raises(ConventionError, match=r"values by names of joints, as \{'crank': 0.5\}, not \['crank'\]"):
        bar.loops.assemblies(["crank"])


def test_joints_whose_velocities_are_kept_are_named_as_inputs_are():
    bar = cy.load("four_bar")
    with pytest.raises(ModelError, match="four_bar has no joint 'crnk': did you mean 'crank'"):
        bar.loops.consistent_velocity(np.zeros(3), np.zeros(3), keep=["crnk"])
    with pytest.raises(ConventionError, match=r"list of names of joints: \['crank'\], not 'crank'"):
        bar.loops.consistent_velocity(np.zeros(3), np.zeros(3), keep="crank")


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1e3, 1e4])
def test_machines_of_micrometres_and_of_kilometres_are_closed_as_those_of_metres_are(size):
    engine = slider_crank(0.1 * size, 0.35 * size, 0.02 * size)
    q = engine.loops.close([0.7, -0.9, 0.0]).configuration
    slide = 0.1 * np.cos(0.7) + np.sqrt(0.35**2 - (0.1 * np.sin(0.7) - 0.02)**2)
    held = engine.loops.close(q, fixed={"crank": 0.7})
    assert engine.loops.mobility == 1 and held.status == "closed"
    np.testing.assert_allclose(abs(held.configuration[2]), slide * size, rtol=1e-6)
    joints = [Joint("crank", "base", "a", Revolute()), Joint("ball", "a", "b", Spherical(), shift(0.3 * size)),
              Joint("rocker", "base", "c", Revolute((1.0, 0.0, 0.0)), shift(0.9 * size, 0.2 * size))]
    frames = [Frame("end", "b", shift(0.9 * size)), Frame("top", "c", shift(0.0, 0.6 * size))]
    spatial = cy.Mechanism.of("RSSR", [Body("base"), *[Body(name) for name in "abc"]], joints, frames=frames,
                              loops=[Loop("second ball", "end", "top", Spherical())])
    assert spatial.loops.mobility == 2  # the rod turns about itself


def test_a_guess_that_is_no_number_does_not_refuse_the_others_and_what_is_open_is_said():
    bar = cy.load("four_bar")
    guesses = np.tile([0.2, 0.1, -0.1], (2, 3, 1))
    whole = bar.loops.close(guesses, fixed=["crank"])
    guesses[0, 1, 2] = guesses[1, 2, 0] = np.nan
    found = bar.loops.close(guesses, fixed=["crank"])
    lost = np.isnan(guesses).any(-1)
    assert (found.status[lost] == "open").all() and (found.status[~lost] == "closed").all()
    assert np.isnan(found.configuration[lost]).all() and np.isnan(found.residual[lost]).all()
    np.testing.assert_array_equal(found.configuration[~lost], whole.configuration[~lost])
    assert (found.independent == np.where(lost, 0, 1)).all() and (found.branch[lost] == 0).all()
    assert not found.crossed.any() and (found.within_limits == ~lost).all()
    assert found.message == "the guess (0, 1) of the batch is not a number" and whole.message == ""
    assert (bar.loops.close(np.full((2, 3), np.nan)).status == "open").all()
    with pytest.raises(ConventionError, match="finite numbers"):
        bar.loops.close([0.2, np.nan, 0.1])
    rod = cy.Mechanism(FourBar(crank=0.5, coupler=0.2, rocker=0.3, ground=0.6).tree())
    far = rod.loops.close(np.zeros(3), fixed={rod.joint_names[0]: 2.5})  # no such position
    assert far.status == "open" and repr(rod.tree.loops[0].name) in far.message and "`assemblies`" in far.message
    both = rod.loops.close(np.zeros((2, 3)), fixed={rod.joint_names[0]: [0.2, 2.5]})
    assert " in configuration 1 of the batch" in both.message
