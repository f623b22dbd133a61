"""`simulate` and `rollout` of mechanisms with constraints: beside SciPy in minimal coordinates and on the equations of
the spanning tree, beside pendulums, and by what no motion may lose: closed loops, energy, the branch."""

from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp

import cayley as cy
from cayley.errors import GeometryError, UnsupportedError
from cayley.model.constraint_kinds import PrescribedMotion
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Limits, Loop
from cayley.simulation import Event, Trajectory
from dynamics.test_closed_mechanisms import specified_slider_crank, stewart, stewart_guess
from kinematics.test_closure import bennett

FIXED_STEPS = ("rk4", "semi-implicit-euler", "lie-midpoint", "gauss", "variational")


def shift(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def rod(name, length, mass=0.5):
    return Body(name, mass, [length / 2, 0, 0], np.diag([0.05, 1.0, 1.0]) * mass * length**2 / 12)


@cache
def four_bar(a=0.2, b=0.5, c=0.3, d=0.45, *, crank=0.5, coupler=0.5):
    joints = [Joint("crank", "base", "a", Revolute()), Joint("coupler", "a", "b", Revolute(), shift(a)),
              Joint("rocker", "base", "c", Revolute(), shift(d))]
    return cy.Mechanism.of("four-bar", [Body("base"), rod("a", a, crank), rod("b", b, coupler), rod("c", c)], joints,
                           gravity=(0, -9.81, 0),
                           frames=[Frame("tip of b", "b", shift(b)), Frame("tip of c", "c", shift(c))],
                           loops=[Loop("ring", "tip of b", "tip of c", Revolute())])


@cache
def slider_crank(r=0.1, length=0.3):
    """The piston slides along x; it has a mass of 0.8 kg."""
    joints = [Joint("crank", "base", "a", Revolute()), Joint("pin", "a", "b", Revolute(), shift(r)),
              Joint("slider", "base", "piston", Prismatic((1.0, 0.0, 0.0)))]
    return cy.Mechanism.of("slider-crank", [Body("base"), rod("a", r), rod("b", length), Body("piston", 0.8)], joints,
                           gravity=(0, -9.81, 0), frames=[Frame("tip of b", "b", shift(length))],
                           loops=[Loop("ring", "tip of b", "piston", Revolute())])


def turning(arm, guess, rate):
    """A closed configuration, and the velocity if the first joint has this rate."""
    q = arm.loops.close(guess).configuration
    return q, arm.loops.consistent_velocity(q, rate * np.eye(arm.nv)[0], keep=[arm.joints[0].name])


def gap(arm, run):
    return np.abs(arm.loops.residual(run.q)).max()


def by_scipy(arm, q, qd, until, tau=0.0):
    """The state at the end, by the equations of the spanning tree in the null space of A, of known rank."""
    free = arm.variants.spanning_tree()
    rank = arm.loops.structure.rank

    def rate(t, y):
        at, v = np.split(y, 2)
        A = arm.loops.jacobian(at)
        N = np.linalg.svd(A)[2][rank:].T
        rows = np.concatenate([N.T @ free.inertia_matrix(at), A])
        right = np.concatenate([N.T @ (tau - free.bias_forces(at, v)), -arm.loops.drift(at, v)])
        return np.concatenate([v, np.linalg.lstsq(rows, right, rcond=None)[0]])

    return solve_ivp(rate, (0.0, until), np.concatenate([q, qd]), method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]


def test_a_slider_crank_moves_as_its_one_angle_does_in_closed_form():
    """I(a) a'' + I'(a) a'^2 / 2 + V'(a) = 0, by hand, from both dead centres to both, several times round."""
    r, length, m, piston = 0.1, 0.3, 0.5, 0.8

    def places(a):
        b = np.arcsin(-r * np.sin(a) / length)  # of the rod, to x
        return b, -r * np.cos(a) / (length * np.cos(b))  # and its rate by a

    def inertia(a):
        b, rate = places(a)
        centre = (-r * np.sin(a) - length / 2 * np.sin(b) * rate, r * np.cos(a) + length / 2 * np.cos(b) * rate)
        slide = -r * np.sin(a) - length * np.sin(b) * rate
        return m * r**2 / 3 + m * np.dot(centre, centre) + m * length**2 / 12 * rate**2 + piston * slide**2

    def potential(a):
        b, _ = places(a)
        return 9.81 * m * (r / 2 * np.sin(a) + r * np.sin(a) + length / 2 * np.sin(b))

    def rate(t, y, e=1e-5):
        a, w = y
        slopes = [(8 * (f(a + e) - f(a - e)) - f(a + 2 * e) + f(a - 2 * e)) / (12 * e) for f in (inertia, potential)]
        return w, -(slopes[0] * w * w / 2 + slopes[1]) / inertia(a)

    arm = slider_crank()
    q, qd = turning(arm, [0.3, -0.4, 0.38], 15.0)
    expected = solve_ivp(rate, (0.0, 2.0), [q[0], 15.0], method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    run = arm.simulate(q, qd, until=2.0, rtol=1e-11, atol=1e-12)
    assert run.q[-1, 0] > 6 * np.pi and run.finished
    np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], expected, rtol=1e-6)
    assert np.abs(run.energy_drift).max() < 1e-8
    rolled = arm.rollout(method="rk4")(q, qd, step=5e-4, steps=4000, every=100)
    np.testing.assert_allclose([rolled.q[-1, 0], rolled.qd[-1, 0]], expected, rtol=1e-5)
    assert max(gap(arm, run), gap(arm, rolled)) < 1e-12


def test_the_slider_crank_of_the_specification_turns_for_a_second():
    """Under constant loads, through some forty dead centres, to 140.277779 rad and 247.20545 rad/s (WE-26)."""
    arm, q, qd, tau = specified_slider_crank()
    run = arm.simulate(q, qd, tau=tau, until=1.0, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], [140.277779, 247.20545], rtol=1e-6)
    rolled = arm.rollout(method="rk4")(q, qd, tau, step=1e-4, steps=10_000, every=100)
    np.testing.assert_allclose([rolled.q[-1, 0], rolled.qd[-1, 0]], [140.277779, 247.20545], rtol=1e-6)
    assert max(gap(arm, run), gap(arm, rolled)) < 1e-12


@pytest.mark.parametrize("method", FIXED_STEPS)
def test_fixed_steps_converge_with_their_order_and_stay_closed(method):
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 8.0)
    expected = by_scipy(arm, q, qd, 0.4)
    roll = arm.rollout(method=method)
    errors = []
    for steps in (200, 400):
        run = roll(q, qd, step=0.4 / steps, steps=steps)
        assert run.finished and gap(arm, run) < 1e-12
        assert np.abs(arm.loops.rates(run.q, run.qd)).max() < 1e-9
        errors.append(np.abs(np.concatenate([run.q[-1], run.qd[-1]]) - expected).max())
    assert roll.order - 0.25 < np.log2(errors[0] / errors[1]) < roll.order + 0.5


@pytest.mark.spec("S2-64")
def test_no_drift_after_100_000_steps():
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 8.0)
    run = arm.rollout(method="semi-implicit-euler")(q, qd, step=1e-3, steps=100_000, every=1000)
    assert run.finished and gap(arm, run) < 1e-12
    kept = arm.rollout(method="variational")(q, qd, step=2e-3, steps=20_000, every=10)
    early, late = np.abs(kept.energy_drift[:500]).max(), np.abs(kept.energy_drift[-500:]).max()
    assert late < 1.1 * early < 2e-2 * np.ptp(kept.kinetic)  # no trend


def test_a_stewart_platform_on_springs_stays_closed_for_100_000_steps():
    arm = stewart()
    q = arm.loops.close(stewart_guess()).configuration
    places = [(a.start, b.start) for joint, a, b in zip(arm.joints, arm.tree.q_slices, arm.tree.v_slices, strict=True)
              if joint.name.startswith("slide")]

    def springs(t, q_now, qd):
        forces = [0.0] * arm.nv
        for a, b in places:
            forces[b] = 20.0 - 4000.0 * (q_now[a] - q[a]) - 2.0 * qd[b]
        return np.array(forces)

    roll = arm.rollout(method="semi-implicit-euler", controller=springs)
    run = roll(q, arm.loops.consistent_velocity(q, np.full(arm.nv, 0.2)), step=1e-3, steps=100_000, every=1000)
    assert run.finished and gap(arm, run) < 1e-12
    assert np.abs(arm.loops.rates(run.q, run.qd)).max() < 1e-9 and np.ptp(run.q[:, 2]) > 1e-3


def test_a_parallelogram_passes_where_it_folds_flat_as_the_pendulum_that_it_is():
    """Its coupler does not turn: (2 m a^2 / 3 + m a^2) w' = -2 m g a cos(angle)."""
    arm, a = four_bar(0.2, 0.5, 0.2, 0.5), 0.2
    expected = solve_ivp(lambda t, y: (y[1], -2 * 9.81 / a * 0.6 * np.cos(y[0])), (0.0, 3.0), [0.5, 10.0],
                         method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    start = 0.5 * np.array([1.0, -1.0, 1.0]), 10.0 * np.array([1.0, -1.0, 1.0])
    run = arm.simulate(*start, until=3.0)
    rolled = arm.rollout(method="rk4")(*start, step=1e-3, steps=3000, every=10)
    for found in (run, rolled):
        assert found.finished and found.q[-1, 0] > 6 * np.pi  # some folds
        np.testing.assert_allclose(found.q[:, 0], -found.q[:, 1], atol=1e-9)  # never crossed
        np.testing.assert_allclose([found.q[-1, 0], found.qd[-1, 0]], expected, rtol=1e-5)
        assert np.abs(found.energy_drift).max() < 1e-5 * np.ptp(found.kinetic)


@pytest.mark.parametrize("lengths", [(0.2, 0.5, 0.3, 0.4), (0.3, 0.3, 0.45, 0.45)])
def test_linkages_pass_their_change_points_on_their_branch(lengths):
    """As SciPy finds them beyond, in the crank's angle alone: what is nearest to a smooth motion."""
    arm = four_bar(*lengths)
    q, qd = turning(arm, [1.0, -0.5, 1.0], 20.0)
    run = arm.simulate(q, qd, until=1.0)
    assert run.finished and abs(run.q[-1, 0] - q[0]) > 2 * np.pi
    assert np.abs(run.energy_drift).max() < 1e-6 * np.ptp(run.kinetic)
    rolled = arm.rollout(method="rk4")(q, qd, step=2.5e-4, steps=4000, every=4)
    assert rolled.finished and gap(arm, rolled) < 1e-12
    np.testing.assert_allclose(rolled.q[-1], run.q[-1], atol=1e-3)
    angles = np.diff(rolled.qd, axis=0)
    assert np.abs(angles).max() < 10.0  # velocities do not jump


def test_many_passages_from_many_starts_lose_neither_branch_nor_numbers():
    arm = four_bar(0.2, 0.5, 0.3, 0.4)
    q, qd = turning(arm, [1.0, -0.5, 1.0], 20.0)
    starts = arm.rollout(method="rk4")(q, qd, step=1e-5, steps=300)
    run = arm.rollout(method="rk4")(starts.q, starts.qd, step=1e-3, steps=2000, every=50)
    assert run.finished and gap(arm, run) < 1e-11
    assert np.abs(run.energy_drift).max() < 1e-2 * np.ptp(run.kinetic)


def test_a_slider_crank_of_equal_lengths_goes_through_the_middle():
    """Crank and rod lie on each other where the piston is at the crank's axis: it could stay there while they turn."""
    arm = slider_crank(0.2, 0.2)
    q, qd = turning(arm, [0.5, -1.0, 0.35], 12.0)
    run = arm.rollout(method="variational", iterations=10)(q, qd, step=1e-3, steps=2000, every=10)
    assert run.finished and gap(arm, run) < 1e-12 and run.q[-1, 0] > 4 * np.pi
    np.testing.assert_allclose(run.q[:, 2], 0.4 * np.cos(run.q[:, 0]), atol=1e-9)  # the branch of moving pistons
    assert np.abs(run.energy_drift).max() < 2e-3 * np.ptp(run.kinetic)
    assert np.abs(arm.simulate(q, qd, until=1.0).energy_drift).max() < 1e-7


def test_a_linkage_whose_redundancy_moves_with_it_runs():
    tree = bennett()
    heavy = [tree.bodies[0], *[Body(b.name, 1.0, [0.3, 0, 0], 0.05 * np.eye(3)) for b in tree.bodies[1:]]]
    arm = cy.Mechanism.of("Bennett", heavy, tree.joints, frames=tree.frames, loops=tree.loops)
    q, qd = turning(arm, np.full(3, 0.7), 5.0)
    run = arm.rollout(method="rk4")(q, qd, step=1e-3, steps=500)
    np.testing.assert_allclose(np.concatenate([run.q[-1], run.qd[-1]]), by_scipy(arm, q, qd, 0.5), atol=1e-8)
    assert gap(arm, run) < 1e-12 and np.abs(run.energy_drift).max() < 1e-8


def test_links_without_mass_go_where_the_others_take_them():
    arm = four_bar(coupler=0.0)
    q, qd = turning(arm, [1.0, -0.5, 1.0], 5.0)
    run = arm.rollout(method="rk4")(q, qd, step=1e-3, steps=300)
    np.testing.assert_allclose(np.concatenate([run.q[-1], run.qd[-1]]), by_scipy(arm, q, qd, 0.3), atol=1e-6)
    assert gap(arm, run) < 1e-12
    bare = four_bar(crank=0.0, coupler=0.0)  # all mass is in the rocker, which stands still at its dead centre
    stuck = bare.simulate(q, qd, until=0.5)
    assert stuck.status == "step too small" and "motion of crank, coupler" in stuck.message


def test_a_prescribed_motion_is_driven_and_its_work_is_known():
    engine = slider_crank()
    arm = cy.Mechanism.of("driven", engine.bodies, engine.joints, frames=engine.frames, gravity=engine.gravity,
                          loops=engine.loops, constraints=[PrescribedMotion("drive", "crank", "20*t")])
    q = arm.loops.close([0.0, 0.0, 0.4], 0.0).configuration
    qd = arm.loops.consistent_velocity(q, np.zeros(3), 0.0)
    with pytest.raises(GeometryError, match="'drive' of driven opens"):
        arm.simulate(q, 0 * qd, until=0.1)
    run = arm.simulate(q, qd, times=np.linspace(0.0, 0.4, 401))
    rolled = arm.rollout(method="variational")(q, qd, step=1e-3, steps=400)
    for found in (run, rolled):
        np.testing.assert_allclose(found.q[:, 0], 20 * found.t, atol=1e-12)
        np.testing.assert_allclose(found.q[:, 2], 0.1 * np.cos(found.q[:, 0]) + np.sqrt(
            0.09 - (0.1 * np.sin(found.q[:, 0])) ** 2), atol=1e-12)
    assert np.ptp(run.work) > 0.5 and np.abs(run.energy_drift).max() < 1e-8
    assert np.abs(rolled.energy_drift).max() < 1e-3
    torque = run.constraint_forces[:, -1]  # of the drive
    np.testing.assert_allclose(simpson(torque * 20.0, x=run.t), run.work[-1], atol=1e-6)


@cache
def swing():
    """A plate that hangs on two ball-jointed links of a frame that floats."""
    bodies = [Body("world"), Body("frame", 2.0, [0.1, 0, 0.05], np.diag([0.1, 0.2, 0.15])), rod("left", 0.4),
              rod("plate", 0.6)]
    down = np.eye(4)
    down[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    joints = [Joint("free", "world", "frame", Floating()), Joint("ball", "frame", "left", Spherical(), down),
              Joint("knee", "left", "plate", Spherical(), shift(0.4))]
    return cy.Mechanism.of("swing", bodies, joints, gravity=(0, 0, 0),
                           frames=[Frame("end", "plate", shift(0.6)), Frame("hook", "frame", shift(0.5, 0.2, -0.3))],
                           loops=[Loop("hinge", "end", "hook", Spherical())])


@pytest.mark.parametrize("method", ["rk4", "variational"])
def test_balls_and_a_floating_frame_inside_a_loop(method):
    arm = swing()
    q = arm.loops.close(arm.neutral).configuration
    qd = arm.loops.consistent_velocity(q, np.random.default_rng(0).normal(size=arm.nv))
    run = arm.rollout(method=method)(q, qd, step=1e-3, steps=1000, every=20)
    assert run.finished and gap(arm, run) < 1e-12
    lengths = [np.linalg.norm(run.q[:, at:at + 4], axis=1) for at in (3, 7, 11)]
    np.testing.assert_allclose(lengths, 1.0, atol=1e-12)
    assert np.abs(run.momentum_drift).max() < (1e-12 if method == "variational" else 1e-9)
    assert np.abs(run.energy_drift).max() < (1e-6 if method == "variational" else 1e-9)


def test_drives_wrenches_controllers_and_their_work():
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 3.0)

    def servo(t, q, qd):
        return np.array([0.4 - 0.05 * qd[0], 0.0, 0.0])

    push = {"tip of c": [0.5, 1.0, 0, 0, 0, 0.1]}
    run = arm.simulate(q, qd, until=1.0, controller=servo, wrenches=push, axes="world")
    assert np.abs(run.work).max() > 0.1 and np.abs(run.energy_drift).max() < 1e-7
    roll = arm.rollout(controller=servo, control="continuous", wrenches=["tip of c"], axes="world")
    rolled = roll(q, qd, step=5e-4, steps=2000, every=100, **{"wrench_tip of c": push["tip of c"]})
    np.testing.assert_allclose(rolled.q[-1], run.q[-1], atol=1e-6)
    steady = arm.rollout(changing=["tau"])(q, qd, np.tile([0.3, 0.0, 0.0], (400, 1)), step=1e-3, steps=400)
    np.testing.assert_allclose(np.concatenate([steady.q[-1], steady.qd[-1]]),
                               by_scipy(arm, q, qd, 0.4, np.array([0.3, 0.0, 0.0])), atol=1e-6)


def test_a_start_that_is_open_is_refused_with_what_is_open():
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 3.0)
    for start in (lambda *x: arm.simulate(*x, until=1.0), lambda *x: arm.rollout()(*x, step=1e-3, steps=1)):
        with pytest.raises(GeometryError, match=r"'ring'.*open by 0\.0.*close\(q\)"):
            start(q + 0.1 * np.eye(3)[0], qd)
        with pytest.raises(GeometryError, match=r"'ring'.*opens at the rate.*consistent_velocity"):
            start(q, qd + 0.1 * np.eye(3)[0])
    with pytest.raises(GeometryError, match="state 1 of the batch"):
        arm.rollout()(np.stack([q, q + 0.01]), 0 * qd, step=1e-3, steps=1)
    frozen = arm.with_friction("crank", coulomb=1.0).including("friction")
    with pytest.raises(UnsupportedError, match=r"dry friction.*simulate.*semi-implicit-euler.*'rk4'"):
        frozen.rollout(method="rk4")


def limited(arm, name, lower, upper):
    joints = [replace(joint, limits=Limits([lower], [upper])) if joint.name == name else joint for joint in arm.joints]
    return cy.Mechanism.of(arm.name, arm.bodies, joints, frames=arm.frames, gravity=arm.gravity, loops=arm.loops)


def effective_inertia(arm, q, qd):
    """Of the first joint, at a state in which all moves with it; and the rates of all by its own."""
    ratios = qd / qd[0]
    return ratios @ arm.variants.spanning_tree().inertia_matrix(q) @ ratios, ratios


def test_a_stop_throws_the_whole_linkage_back_and_holds_it_in_the_end():
    arm = four_bar()
    q, rest = turning(arm, [1.0, -0.5, 1.0], 0.0)
    stopped = limited(arm, "rocker", q[2] - 0.5, q[2] + 0.5)
    elastic = stopped.simulate(q, rest, until=2.0, limits="elastic")
    hits = [what for what in elastic.happened if what.action == "impact"]
    assert len(hits) > 2 and np.abs(elastic.energy_drift).max() < 1e-8 and gap(arm, elastic) < 1e-12
    np.testing.assert_allclose(np.diff([what.t for what in hits]), 2 * hits[0].t, rtol=1e-7)  # a period each time
    first = hits[0].t
    half = stopped.simulate(q, rest, until=1.0, limits=0.5)
    before = arm.simulate(q, rest, until=first).qd[-1]
    after = half.between(first, first).qd[-1]
    np.testing.assert_allclose(after, -0.5 * before, rtol=1e-6)  # one freedom: all joints rebound alike
    dead = stopped.simulate(q, rest, until=1.0, limits="inelastic")
    assert np.abs(dead.qd[-1]).max() < 1e-9 and abs(dead.q[-1, 2] - q[2] - 0.5) < 1e-9
    ended = stopped.simulate(q, rest, until=1.0, limits="end")
    assert ended.status == "limit" and abs(ended.t[-1] - first) < 1e-9


@pytest.mark.parametrize("restitution", ["inelastic", 0.5])
def test_compiled_steps_of_a_linkage_meet_its_stop_where_simulate_does(restitution):
    arm = four_bar()
    q, rest = turning(arm, [1.0, -0.5, 1.0], 0.0)
    stop = q[2] + 0.5
    stopped = limited(arm, "rocker", q[2] - 0.5, stop)
    exact = stopped.simulate(q, rest, until=1.0, limits=restitution)
    first = next(what.t for what in exact.happened if what.action == "impact")
    system = stopped.system(limits=restitution)
    roll = system.rollout(method="semi-implicit-euler")
    errors = []
    for steps in (1000, 8000):
        run = roll({"q": q, "qd": rest}, step=1.0 / steps, steps=steps, every=steps // 100)
        assert run.finished and run["q"][:, 2].max() < stop + 20 / steps**2  # loops bend what a step aims at
        early = run.t < first - 0.01
        errors.append(np.abs(run["q"] - exact.at(run.t)[0]).max())
        assert np.abs(run["q"][early] - exact.at(run.t[early])[0]).max() < 20 / steps  # it turns back at the stop alone
    assert errors[1] < 0.25 * errors[0] < 0.01
    if restitution == "inelastic":
        np.testing.assert_allclose(run.end["q"], exact.q[-1], atol=1e-6)


def test_dry_friction_of_joints_that_are_tied_together_adds_up():
    """A linkage at rest slips when the torque on its crank is more than what weight and all frictions take, each with
    the ratio of its joint."""
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 1.0)
    _, ratios = effective_inertia(arm, q, qd)
    rough = arm
    for name, coulomb in (("crank", 0.8), ("coupler", 0.4), ("rocker", 0.9)):
        rough = rough.with_friction(name, coulomb=coulomb)
    rough = rough.including("friction")
    weight = ratios @ arm.variants.spanning_tree().gravity_forces(q)
    most = weight + np.abs(ratios) @ [0.8, 0.4, 0.9]
    run = rough.simulate(q, 0 * qd, until=2.0 * most, controller=lambda t, q, qd: np.array([t, 0.0, 0.0]),
                         events=Event("turned", lambda t, q, qd: q[0] - 1.2))
    slips = [what for what in run.happened if what.action == "slip"]
    np.testing.assert_allclose([what.t for what in slips], most, rtol=1e-6)
    assert np.abs(run.q[run.t < most - 1e-6] - q).max() < 1e-13
    assert np.abs(run.energy_drift).max() < 1e-8 and run.status == "event"
    swung = rough.simulate(q, 10 * qd, until=5.0)  # and comes to rest
    assert [what.action for what in swung.happened][-3:] == ["stick"] * 3 and not swung.qd[-1].any()
    assert swung.work[-1] < -0.1 and np.abs(swung.energy_drift).max() < 1e-8
    roll = rough.rollout(method="semi-implicit-euler")
    pulled = roll(q, 0 * qd, [[most - 0.01, 0.0, 0.0], [most + 0.01, 0.0, 0.0]], step=1e-3, steps=1000, every=100)
    assert np.abs(pulled.q[0] - q).max() < 1e-13 and pulled.q[1, -1, 0] - q[0] > 1e-3
    errors = [np.abs(roll(q, 10 * qd, step=0.5 / n, steps=n).q[-1] - swung.q[-1]).max() for n in (500, 1000)]
    assert errors[1] < 0.01 and 0.9 < np.log2(errors[0] / errors[1]) < 1.1


def test_friction_of_a_velocity_that_constraints_hold_takes_nothing():
    """Wheels that roll straight on: the base cannot go sideways, where friction has nothing to stop."""
    robot = cy.load("two_wheel_robot")
    rough = robot.with_friction("base", coulomb=0.5).with_friction("left", coulomb=0.02)
    rough = rough.with_friction("right", coulomb=0.02).including("friction")
    tau = 0.2 * np.isin(np.arange(robot.nv), robot.tree.actuated_velocities)
    still = np.zeros(robot.nv)
    rolled = rough.rollout()(robot.neutral, still, tau, step=1e-3, steps=1000)
    assert rolled.status == "finished"
    free = robot.forward_dynamics(robot.neutral, still, tau)  # along x, at constant acceleration
    at = list(robot.tree.actuated_velocities)
    radius = free[0] / free[at[0]]
    share = (tau[at].sum() - 2 * 0.02 - 0.5 * radius) / tau[at].sum()
    np.testing.assert_allclose(rolled.qd[-1], share * free, rtol=1e-9, atol=1e-12)


def test_events_and_what_a_trajectory_knows_of_a_closed_motion(tmp_path):
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 8.0)
    level = Event("level", lambda t, q, qd: q[2] - 1.2, action="record")
    run = arm.simulate(q, qd, until=1.0, events=[level], tau=[0.1, 0.0, 0.0])
    assert len(run.happened) > 2
    found, velocity = run.at([what.t for what in run.happened])
    np.testing.assert_allclose(found[:, 2], 1.2, atol=1e-9)
    assert np.abs(arm.loops.residual(found)).max() < 1e-13
    assert np.abs(arm.loops.rates(found, velocity)).max() < 1e-11
    back = Event("back", lambda t, q, qd: q[2] - 1.2, effect=lambda t, q, qd: (q, -qd), action="record")
    returned = arm.simulate(q, qd, until=1.0, events=[back])
    assert np.ptp(returned.q[:, 2]) < np.ptp(run.q[:, 2]) and np.abs(returned.energy_drift).max() < 1e-7
    odd = replace(back, effect=lambda t, q, qd: (q, qd * [-1.0, 1.0, 1.0]))
    with pytest.raises(GeometryError, match=r"effect of event 'back' returned is not on.*'the rate of ring'"):
        arm.simulate(q, qd, until=1.0, events=[odd])
    forces = run.constraint_forces
    np.testing.assert_array_equal(forces, arm.loops.forces(run.q, run.qd, run.tau))
    assert run.plot().axes and (Trajectory.load(run.save(tmp_path / "run.npz"), arm.tree).q == run.q).all()
    with pytest.raises(UnsupportedError, match="wrench_tip of c"):
        _ = arm.simulate(q, qd, until=0.01, wrenches={"tip of c": np.zeros(6)}).constraint_forces
    coarse = arm.rollout(method="semi-implicit-euler")(q, 10 * qd, step=0.05, steps=40)
    assert coarse.status in ("open", "not finite")
    assert "too large" in coarse.message


def test_the_power_of_drives_is_the_rate_of_the_energy():
    arm = four_bar().with_friction("rocker", viscous=0.02).including("friction")
    system = arm.system(wrenches=["tip of c"], axes="world")
    random = np.random.default_rng(0)
    q, qd = turning(arm, [1.0, -0.5, 1.0], 5.0)
    tau, wrench = random.normal(size=3), random.normal(size=6)
    u = system.input_record({"tau": tau, "wrench_tip of c": wrench})
    x = system.layout.state(np.concatenate([q, qd]))
    qdd = system.tangents(0.0, x, u, None)["qd"]
    free = arm.variants.spanning_tree()
    moving = np.asarray(free.inertia_matrix(q) @ qdd + free.bias_forces(q, qd)) @ qd
    expected = tau @ qd + wrench @ free.twist(q, qd, "tip of c", axes="world")  # friction is in the bias
    assert abs(moving - expected) < 1e-12
    assert abs(system.power(0.0, x, u, None) - (expected - 0.02 * qd[2] ** 2)) < 1e-12


def test_mujoco_with_tight_equalities_goes_the_same_way():
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 8.0)

    def body(length, inner=""):
        size = 0.5 * length**2 / 12
        return (f'<inertial pos="{length / 2} 0 0" mass="0.5" diaginertia="{0.05 * size} {size} {size}"/>'
                f'<joint type="hinge" axis="0 0 1"/>{inner}')

    coupler = f'<body name="b" pos="0.2 0 0">{body(0.5)}<site name="b" pos="0.5 0 0"/></body>'
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option gravity="0 -9.81 0" timestep="1e-5" solver="Newton" tolerance="1e-14"/><worldbody>'
        f'<body name="a">{body(0.2, coupler)}</body>'
        f'<body name="c" pos="0.45 0 0">{body(0.3)}<site name="c" pos="0.3 0 0"/></body>'
        '</worldbody><equality><connect site1="b" site2="c" solref="2e-5 1" solimp="0.9999 0.9999 1e-6"/></equality>'
        '</mujoco>')
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, qd
    mujoco.mj_step(model, data, nstep=20_000)
    run = arm.rollout(method="rk4")(q, qd, step=1e-3, steps=200)
    np.testing.assert_allclose(run.q[-1], data.qpos, atol=3e-3)
    assert abs(run.q[-1, 0] - q[0]) > 1.0


def test_batches_alone_and_together_in_single_precision_and_in_c():
    arm = four_bar()
    q, qd = turning(arm, [1.0, -0.5, 1.0], 8.0)
    roll = arm.rollout(method="semi-implicit-euler")
    speeds = np.array([0.5, 1.0, -1.0])[:, None] * qd
    many = roll(q, speeds, step=1e-3, steps=50)
    np.testing.assert_array_equal(many.q[1], roll(q, qd, step=1e-3, steps=50).q)
    single = roll(q.astype(np.float32), speeds.astype(np.float32), step=1e-3, steps=50)
    assert single.finished and single.q.dtype == np.float32 and gap(arm, single) < 1e-5
    np.testing.assert_allclose(single.q, many.q, atol=1e-3)
    assert roll(np.zeros((0, 3)), np.zeros((0, 3)), step=1e-3, steps=5).q.shape == (0, 6, 3)
    assert "for (long step" in roll.c_source("four_bar").source
