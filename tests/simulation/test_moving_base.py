"""A root that is moved: forward dynamics by every method, inertia matrix, bias and simulation (S1-117). Pinocchio has
the same mechanism with a floating base, of which the motion is prescribed."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.dynamics.forward.methods import METHODS
from cayley.dynamics.inverse.external_loads import base_inputs
from cayley.dynamics.inverse.methods import METHODS as INVERSE
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.model.floating_base import on_floating_base
from cayley.model.joint_kinds import Prismatic
from cayley.model.parts import Body, Friction, Joint
from cayley.model.tree import Tree
from cayley.planning import pose_spline
from cayley.simulation import simulate
from dynamics.chains import random_chain, random_state
from dynamics.test_inverse_dynamics import random_tree
from kinematics.pinocchio_trees import PinocchioTree
from simulation.mechanisms import GRAVITY, pendulum, slider

TURNED = np.array([[0.0, -1.0, 0.0, 0.4], [0.0, 0.0, -1.0, -0.2], [1.0, 0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0]])


@pytest.fixture(scope="module")
def ride():
    """A root that goes from rest to rest through three poses."""
    middle = np.eye(4)
    middle[:3, 3] = [0.2, 0.1, -0.3]
    return pose_spline([0.0, 0.4, 1.0], [np.eye(4), middle, TURNED], "clamped")


class Floating:
    """A mechanism on a floating base in Pinocchio, whose base moves as it is told."""

    def __init__(self, tree):
        self.there = PinocchioTree.of(on_floating_base(tree))
        self.there.model.gravity.linear[:] = np.asarray(tree.gravity)
        self.data = self.there.model.createData()

    def forces(self, base, q, qd, qdd):
        full = self.there.q(np.concatenate([base[0], q]))
        return pin.rnea(self.there.model, self.data, full, np.concatenate([base[1], qd]),
                        np.concatenate([base[2], qdd]))[6:]

    def accelerations(self, base, q, qd, tau):
        full = self.there.q(np.concatenate([base[0], q]))
        M = pin.crba(self.there.model, self.data, full)
        M = np.triu(M) + np.triu(M, 1).T
        return np.linalg.solve(M[6:, 6:], tau - self.forces(base, q, qd, 0 * qd))


def close(ours, true, tolerance=1e-12):
    np.testing.assert_allclose(ours, true, rtol=0, atol=tolerance * max(1.0, np.abs(true).max(initial=0.0)))


@pytest.mark.spec("S1-117")
@pytest.mark.parametrize("pattern", ["RPR", "PR"])
def test_forward_dynamics_by_every_method(pattern, ride):
    tree = random_chain(pattern, 7)
    arm, (q, qd, qdd), other = cy.Mechanism(tree), random_state(tree, 7), Floating(tree)
    inverse = arm.inverse_dynamics.with_inputs(base_motion=True)
    base = ride(0.6)
    moving = base_inputs(tree, *base)
    tau = other.forces(base, q, qd, qdd)
    close(inverse(q, qd, qdd, *moving), tau)
    for method in METHODS:
        forward = arm.forward_dynamics.with_inputs(base_motion=True, method=method)
        close(forward(q, qd, tau, *moving), qdd, 1e-10)
    close(arm.forward_dynamics.with_inputs(base_motion=True)(q, qd, tau, *moving), qdd, 1e-10)
    for bias in (arm.bias_forces, pickle.loads(pickle.dumps(arm.bias_forces))):
        close(bias.with_inputs(base_motion=True)(q, qd, *moving), other.forces(base, q, qd, 0 * qd))
    close(inverse.jacobian("qdd")(q, qd, qdd, *moving), arm.inertia_matrix(q))  # which knows nothing of the base
    still = [np.zeros(3), np.zeros(6)]
    for method in ("composite-bodies", "operator-factors"):
        forward = arm.forward_dynamics.with_inputs(base_motion=True, method=method)
        close(forward(q, qd, tau, *still), arm.forward_dynamics(q, qd, tau), 1e-10)


@pytest.mark.spec("S1-117", "S1-39")
@pytest.mark.parametrize("pattern", ["RPR", "RR"])
def test_inverse_dynamics_by_every_method(pattern, ride):
    """A base that moves, a wrench on the tip and one before it; those are J^T w in Pinocchio. A mass on the tip, too.
    """
    arm = cy.Mechanism(random_chain(pattern, 8)).with_payload("link2", 0.7)
    tree, base = arm.tree, ride(0.6)
    (q, qd, qdd), other = random_state(tree, 8), Floating(tree)
    frames, moving = (arm.joints[-2].child, "link1"), base_inputs(tree, *base)
    wrenches = np.random.default_rng(8).normal(size=(2, 6))
    pushed = sum(arm.jacobian(q, frame, axes="body").T @ w for frame, w in zip(frames, wrenches, strict=True))
    tau, bias = (other.forces(base, q, qd, acceleration) - pushed for acceleration in (qdd, 0 * qdd))
    more = {"wrenches": frames, "base_motion": True}
    for method in INVERSE:
        if method == "renaud" and "P" in pattern:
            with pytest.raises(UnsupportedError, match="revolute"):
                arm.inverse_dynamics.with_inputs(method=method, **more)(q, qd, qdd, *wrenches, *moving)
            continue
        for by in (arm.inverse_dynamics.with_inputs(method=method, **more),
                   arm.inverse_dynamics.using(method).with_inputs(**more)):
            close(by(q, qd, qdd, *wrenches, *moving), tau)
        close(arm.bias_forces.with_inputs(method=method, **more)(q, qd, *wrenches, *moving), bias)
    close(arm.forward_dynamics.using("operator-factors").with_inputs(**more)(q, qd, tau, *wrenches, *moving), qdd, 1e-9)


def test_functions_without_further_inputs_say_so():
    arm = cy.load("planar2r")
    by = arm.inertia_matrix.using("composite-bodies")
    for function in (arm.gravity_forces, arm.inertia_matrix, by, arm.linearize, arm.kinetic_energy):
        with pytest.raises(UnsupportedError, match="takes no wrenches and no motion of the base: inverse_dynamics"):
            function.with_inputs(base_motion=True)
    for function in (arm.inverse_dynamics, arm.bias_forces, arm.joint_reactions):
        with pytest.raises(ConventionError, match="no method 'lagrnge'"):
            function.with_inputs(method="lagrnge")


@pytest.mark.spec("S1-117")
def test_trees_of_every_joint_kind_rotors_wrenches_and_friction(ride):
    tree = random_tree(3, ("spherical", "helical", "revolute", "prismatic"))
    arm, rng = cy.Mechanism(tree), np.random.default_rng(3)
    q, qd, qdd, wrench = arm.random_configuration(seed=3), *rng.normal(size=(2, arm.nv)), rng.normal(size=6)
    moving = base_inputs(tree, *ride(0.3))
    more = {"wrenches": ["frame2"], "axes": "world", "base_motion": True}
    tau = arm.inverse_dynamics.with_inputs(**more)(q, qd, qdd, wrench, *moving)
    for method in ("composite-bodies", "articulated-bodies", "plain-articulated-bodies", "orthogonal-complement"):
        close(arm.forward_dynamics.with_inputs(method=method, **more)(q, qd, tau, wrench, *moving), qdd, 1e-9)
    rough = cy.Mechanism(random_chain("RP", 4, friction=True)).including("friction")
    q, qd, qdd = random_state(rough.tree, 4)
    for rate in (qd, 0 * qd):  # sliding, and beginning to
        tau = rough.inverse_dynamics.with_inputs(base_motion=True)(q, rate, qdd, *moving)
        for method in ("composite-bodies", "operator-factors", "maximal-coordinates"):
            found = rough.forward_dynamics.with_inputs(base_motion=True, method=method)(q, rate, tau, *moving)
            close(found, qdd, 1e-10)


@pytest.mark.spec("S1-117")
def test_loops_by_every_formulation(ride):
    bar = cy.load("four_bar")
    q = bar.loops.close([0.5, 0.0, 0.0]).configuration
    qd = bar.loops.consistent_velocity(q, [1.0, 0.0, 0.0])
    moving = base_inputs(bar.tree, *ride(0.3))
    tau = np.array([0.3, 0.0, 0.0])
    found = {method: bar.forward_dynamics.with_inputs(base_motion=True, method=method)(q, qd, tau, *moving)
             for method in bar.forward_dynamics.methods}
    for accelerations in found.values():
        close(accelerations, found["multipliers"], 1e-9)
    back = bar.inverse_dynamics.with_inputs(base_motion=True)(q, qd, found["multipliers"], *moving)
    close(back, tau, 1e-9)
    with pytest.raises(ConventionError, match="no method 'multipleirs': did you mean 'multipliers'"):
        bar.forward_dynamics.with_inputs(base_motion=True, method="multipleirs")


@pytest.mark.spec("S1-117")
@pytest.mark.parametrize("pattern", ["RR", "PR"])
def test_simulation_on_a_moving_root(pattern, ride):
    tree = random_chain(pattern, 8)
    arm, other = cy.Mechanism(tree), Floating(tree)
    start, tau = np.array([0.3, -0.2, 0.5, 0.4]), np.array([0.2, -0.1])
    times = np.linspace(0.0, 1.0, 11)
    ours = arm.simulate(start[:2], start[2:], tau=tau, base=ride, times=times, rtol=1e-11, atol=1e-12, progress=False)
    true = solve_ivp(lambda t, x: np.concatenate([x[2:], other.accelerations(ride(t), x[:2], x[2:], tau)]), (0, 1),
                     start, t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853").y.T
    assert ours.finished
    close(np.concatenate([ours.q, ours.qd], axis=1), true, 1e-8)
    assert np.abs(ours.energy_drift).max() < 1e-7 * np.abs(ours.work).max()  # the energy that is seen from the root
    assert "base" in ours.facts
    still = arm.simulate(start[:2], start[2:], tau=tau, times=times, progress=False)
    assert np.abs(still.q - ours.q).max() > 1e-2


@pytest.mark.spec("S1-117")
@pytest.mark.parametrize("method", ["rk4", "gauss", "variational"])
def test_rollouts_on_a_moving_root(method, ride):
    """A pendulum on a lift that is accelerated with g / 2, and on a carousel: with every method of fixed steps."""
    tree = pendulum()
    roll = cy.Mechanism(tree).rollout(method=method, base_motion=True)
    heavier = cy.Mechanism(tree.with_gravity((0.0, 0.0, -1.5 * GRAVITY)))
    lift = {"base_turning": np.zeros(3), "base_acceleration": [0.0, 0.0, GRAVITY / 2, 0.0, 0.0, 0.0]}
    lifted = roll([0.4], [0.1], step=1e-3, steps=400, **lift)
    plain = heavier.rollout(method=method)([0.4], [0.1], step=1e-3, steps=400)
    close(lifted.q, plain.q, 1e-9)
    assert np.abs(lifted.energy_drift).max() < 1e-5
    same = pickle.loads(pickle.dumps(roll))([0.4], [0.1], step=1e-3, steps=400, **lift)
    np.testing.assert_array_equal(same.q, lifted.q)


@pytest.mark.spec("S1-117")
def test_a_pendulum_on_a_carousel_stands_where_its_centrifugal_force_holds_it():
    """cos q = g / (w^2 l) about the axis that turns: at rest there, and only there."""
    length, w = 0.7, 6.0
    tree = pendulum(length)
    q = np.arccos(GRAVITY / (w**2 * length))

    def carousel(t):
        return [0.0, 0.0, 0.0, np.cos(w * t / 2), 0.0, 0.0, np.sin(w * t / 2)], [0, 0, 0, 0, 0, w], np.zeros(6)

    found = simulate(tree, [q], [0.0], base=carousel, until=2.0, rtol=1e-11, atol=1e-12, progress=False)
    close(found.q, np.full(found.q.shape, q), 1e-8)
    off = simulate(tree, [q + 0.01], [0.0], base=carousel, until=2.0, progress=False)
    assert 0.015 < np.ptp(off.q) < 0.025  # it swings about it


@pytest.mark.spec("S1-117")
def test_gravity_keeps_its_direction_in_the_world():
    """A mass on a guide in a root that is tipped over falls to the other side of it."""

    def tipped(t):
        return [0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 0.0], np.zeros(6), np.zeros(6)

    found = simulate(slider(), [0.0], [0.0], base=tipped, until=1.0, progress=False)
    close(found.q[-1], np.array([GRAVITY / 2]), 1e-9)
    batch = base_inputs(slider(), np.broadcast_to(tipped(0)[0], (4, 7)), np.zeros(6), np.zeros(6))
    assert batch[1].shape == (4, 6)


@pytest.mark.spec("S1-117")
def test_dry_friction_holds_on_a_root_that_moves_slowly_and_slips_when_it_shakes():
    guide = Joint("slide", "base", "block", Prismatic((1.0, 0.0, 0.0)), friction=Friction(0.0, 2.0))
    arm = cy.Mechanism(Tree.of("block", [Body("base"), Body("block", 1.0)], [guide])).including("friction")

    def shaken(size):
        def at(t):
            s, c = np.sin(10 * t), np.cos(10 * t)
            return ([size * s, 0, 0, 1, 0, 0, 0], [10 * size * c, 0, 0, 0, 0, 0], [-100 * size * s, 0, 0, 0, 0, 0])

        return at

    held = arm.simulate([0.0], [0.0], base=shaken(0.019), until=1.0, progress=False)  # 1.9 m/s^2 at most, of 2
    assert (held.q == 0).all()
    slipped = arm.simulate([0.0], [0.0], base=shaken(0.03), until=1.0, progress=False)
    assert [event.action for event in slipped.happened][:2] == ["slip", "stick"]
    assert abs(slipped.happened[0].t - np.arcsin(2 / 3) / 10) < 1e-9


@pytest.mark.spec("S1-117")
def test_what_is_wrong_is_named():
    arm = cy.load("planar2r")
    with pytest.raises(SignatureError, match=r"position and quaternion \(..., 7\)"):
        arm.simulate([0.0, 0.0], [0.0, 0.0], base=lambda t: (np.zeros(6), np.zeros(6), np.zeros(6)), until=0.1)
    still = [0, 0, 0, 1.0, 0, 0, 0]
    for base in ((still, np.zeros(6)), still, (still, np.full(6, np.nan), np.zeros(6))):
        with pytest.raises(SignatureError, match="base of planar2r moves by three arrays of finite numbers at t = 0"):
            arm.simulate([0.0, 0.0], [0.0, 0.0], base=lambda t, base=base: base, until=0.1, progress=False)
    with pytest.raises(SignatureError, match="base_turning is missing"):
        arm.rollout(base_motion=True)([0.0, 0.0], [0.0, 0.0], step=1e-3, steps=2)
    with pytest.raises(ConventionError, match="has no method 'filter'"):
        arm.forward_dynamics.with_inputs(base_motion=True, method="filter")
    with pytest.raises(UnsupportedError, match="joint 'joint0' of random is spherical"):
        ball = cy.Mechanism(random_tree(3, ("spherical",)))
        ball.forward_dynamics.with_inputs(base_motion=True, method="operator-factors")
