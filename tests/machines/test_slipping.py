"""How much friction wheels need: loads beside the balance of forces and moments body by body, shared forces beside a
search over all ways to share them, and wheels that would leave the ground."""

from functools import cache

import numpy as np
import pytest

import cayley as cy
from cayley.errors import GeometryError, ModelError, SignatureError, UnsupportedError
from cayley.machines import slip_check
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.constraint_kinds import KnifeEdge
from cayley.model.joint_kinds import Planar
from cayley.model.parts import Body, Joint

G = 9.81


def at(z):
    pose = np.eye(4)
    pose[2, 3] = z
    return pose


@cache
def cart(height=0.1, four=False):
    """Two wheels on an axle, and a castor behind, or two wheels more."""
    wheels = [CarriedWheel("left", "chassis", (0, 0.25, 0), 0.1, 1.5),
              CarriedWheel("right", "chassis", (0, -0.25, 0), 0.1, 1.5)]
    wheels += [CarriedWheel("rear left", "chassis", (-0.5, 0.25, 0), 0.1, 1.5),
               CarriedWheel("rear right", "chassis", (-0.5, -0.25, 0), 0.1, 1.5)] if four else [
                   CarriedWheel("castor", "chassis", (-0.5, 0, 0), 0.1, 0.5, pivot=0.0, bracket=0.0)]
    return cy.Mechanism.of("cart", [Body("floor"), Body("chassis", 20.0, [-0.2, 0.03, 0.15], np.diag([0.5, 0.8, 1.0]))],
                           [Joint("base", "floor", "chassis", Planar(), at(height))], wheels=wheels,
                           actuated=["left", "right"])


def straight(arm, torque):
    """The state of a cart at rest that two wheels push ahead: what it does, and its acceleration."""
    q, qd, tau = np.zeros(arm.nq), np.zeros(arm.nv), np.zeros(arm.nv)
    tau[3:5] = torque
    return q, qd, tau, arm.forward_dynamics(q, qd, tau)[0]


def balanced(bodies, acceleration, spins):
    """Loads on axles at x = 0 and x = -0.5, by moments about y on the ground: masses at (x, z) that are accelerated,
    and what wheels take to spin."""
    weight = sum(mass * G for mass, *_ in bodies)
    pitch = sum(mass * G * x - mass * acceleration * z for mass, x, z in bodies) - sum(spins)
    rear = -pitch / 0.5
    return weight - rear, rear


@pytest.mark.spec("S2-75")
def test_loads_and_friction_of_a_cart_that_speeds_up():
    arm = cart()
    q, qd, tau, a = straight(arm, 1.2)
    spin = a / 0.1
    wheel, small = 1.5 * 0.1**2 / 2, 0.5 * 0.1**2 / 2
    bodies = [(20.0, -0.2, 0.25), (1.5, 0.0, 0.1), (1.5, 0.0, 0.1), (0.5, -0.5, 0.1)]
    front, rear = balanced(bodies, a, [wheel * spin, wheel * spin, small * spin])
    found = slip_check(arm.tree, [0.0], q[None], qd[None], tau[None], friction=0.3)
    np.testing.assert_allclose(found.loads[0, 2], rear, rtol=1e-12)
    np.testing.assert_allclose(found.loads[0, :2].sum(), front, rtol=1e-12)
    moment = 20.0 * G * 0.03  # the chassis' weight is a little to the left
    np.testing.assert_allclose(found.loads[0, 0] - found.loads[0, 1], moment / 0.25, rtol=1e-10)
    aside = 20.0 * a * 0.03 / 0.5  # which would turn it, if the wheel behind did not hold it
    np.testing.assert_allclose(found.needed[0, 2], np.hypot(small * spin / 0.1, aside) / rear, rtol=1e-10)
    assert found.contacts == ("left tyre", "right tyre", "castor tyre") and np.isnan(found.needed[0, :2]).all()
    drive = (1.2 - wheel * spin) / 0.1
    assert found.least[0] >= drive / found.loads[0, 1] * (1 - 1e-9)
    np.testing.assert_allclose(arm.loops.needed_friction(q, qd, tau)[2], found.needed[0, 2], rtol=1e-12)


@pytest.mark.spec("S2-75")
def test_forces_that_wheels_share_are_shared_in_the_best_way():
    arm = cart()
    q = np.array([0.3, 0.1, 0.4, 0.0, 0.0, 0.3, 0.0])
    rng = np.random.default_rng(0)
    for _ in range(4):
        qd = arm.loops.consistent_velocity(q, np.array([1.5, 0.0, 2.0, *rng.normal(size=4)]))
        tau = np.array([0.0, 0.0, 0.0, *rng.normal(size=2), 0.0, 0.0])
        found = slip_check(arm.tree, [0.0], q[None], qd[None], tau[None], friction=0.5)
        A, M = arm.loops.jacobian(q), arm.variants.spanning_tree().inertia_matrix(q)
        done = M @ arm.forward_dynamics(q, qd, tau) + arm.variants.spanning_tree().bias_forces(q, qd) - tau
        own = np.linalg.lstsq(A.T, done, rcond=1e-10)[0]  # slip and side slip of left, right, castor
        free = np.array([0.0, 1.0, 0.0, -1.0, 0.0, 0.0])
        assert np.abs(A.T @ free).max() < 1e-12
        shares = np.linspace(-300, 300, 600_001)[:, None] * free + own
        along = np.hypot(shares[:, ::2], shares[:, 1::2])
        np.testing.assert_allclose(found.least[0], (along / found.loads[0]).max(axis=1).min(), rtol=1e-4)


def test_four_wheels_do_not_tell_their_loads_but_the_least_friction():
    arm = cart(four=True)
    q, qd, tau, a = straight(arm, 1.2)
    found = slip_check(arm.tree, [0.0], q[None], qd[None], tau[None], friction=0.9)
    assert np.isnan(found.loads).all() and np.isnan(found.needed).all()
    wheel = 1.5 * 0.1**2 / 2
    spin = a / 0.1
    bodies = [(20.0, -0.2, 0.25), *[(1.5, x, 0.1) for x in (0.0, 0.0, -0.5, -0.5)]]
    front, _ = balanced(bodies, a, [4 * wheel * spin])
    drive = (1.2 - wheel * spin) / 0.1
    lighter = front / 2 - 20.0 * G * 0.03 / 0.5 / 2  # at best both axles carry the moment of the weight aside
    assert drive / (front / 2) <= found.least[0] <= 1.1 * drive / lighter and not found.slips
    assert "a friction of" in str(found) and found.when is None and found.where == ()


@pytest.mark.spec("S2-75")
def test_a_run_says_when_and_which_wheel_slips_or_leaves_the_ground():
    arm = cart()

    def harder(t, q, qd):
        return np.array([0.0, 0.0, 0.0, 4.0 * t, 4.0 * t, 0.0, 0.0])

    run = arm.simulate(np.zeros(7), np.zeros(7), controller=harder, times=np.linspace(0, 1.0, 41), progress=False)
    found = arm.loops.slip_check(run, friction=0.25)
    assert found.slips and {"right tyre"} <= set(found.where) <= {"left tyre", "right tyre"}
    before = found.t < found.when
    assert (found.least[before] <= 0.25).all() and found.least[~before][0] > 0.25
    assert str(found).startswith("'") and f"would slip at t = {found.when:g} s" in str(found)
    assert not arm.loops.slip_check(run, friction=9.0).slips
    back = straight(arm, -30.0)  # so hard backwards that the wheel behind is lifted
    lifted = slip_check(arm.tree, [0.0], *[each[None] for each in back[:3]], friction=5.0)
    assert np.isinf(lifted.least[0]) and lifted.where == ("castor tyre",) and lifted.loads[0, 2] < 0
    assert str(lifted) == "'castor tyre' would leave the ground at t = 0 s"
    assert np.isinf(arm.loops.needed_friction(*back[:3])[2])


def test_what_does_not_stand_on_its_wheels_is_named():
    state = np.zeros((1, 7))
    with pytest.raises(ModelError, match=r"'left tyre' of cart is 0.12 m above the ground, and its radius 0.1 m"):
        slip_check(cart(0.12).tree, [0.0], state, state, state, 0.5)
    two = cart().variants.without_constraints("castor tyre")
    with pytest.raises(UnsupportedError, match="do not carry it alone"):
        two.loops.needed_friction(np.zeros(7), np.zeros(7), np.zeros(7))
    skate = cy.Mechanism.of("skate", [Body("ice"), Body("skate", 1.0, inertia=np.eye(3))],
                            [Joint("base", "ice", "skate", Planar())], constraints=[KnifeEdge("edge", "ice", "skate")])
    with pytest.raises(UnsupportedError, match="no disc, no ball and no wheel"):
        _ = skate.loops.needed_friction
    with pytest.raises(SignatureError, match="times"):
        slip_check(cart().tree, [0.0, 1.0], state, state, state, 0.5)
    with pytest.raises(GeometryError, match="state 0 of the motion of cart is not finite"):
        slip_check(cart().tree, [0.0], np.full((1, 7), np.nan), state, state, 0.5)
    none = np.zeros((0, 7))
    assert not slip_check(cart().tree, [], none, none, none, 0.5).slips
    with pytest.raises(ModelError, match="coefficient"):
        slip_check(cart().tree, [0.0], state, state, state, 0.0)
