"""Feedback linearisation of arms with elastic drives: beside the chain of integrators in closed form, the mechanism's
own forward dynamics, 50-digit differentiation and the worked example of the specification."""

import ctypes
import math
import subprocess

import mpmath
import numpy as np
import pytest
import scipy.linalg

import cayley as cy
from cayley.compiler.derivatives.derivative import slope_along
from cayley.control import (
    FeedbackLinearisation,
    Weights,
    affine_fields,
    computed_torque,
    computed_torque_kernel,
    motion_target,
    motor_motion_along,
    tracking_control,
)
from cayley.errors import ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.geometry.vector_fields import linearisability
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from cayley.model.rotor import Friction
from cayley.model.spring_kinds import BacklashSpring, HardeningSpring, LinearSpring, SpringLaw
from cayley.planning import FunctionOfTime
from compiler.parity import COMPILER
from dynamics.elastic_arms import planar_arm, spatial_arm
from programs import needs

POLES = [-4.0] * 4
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


def step(t, rate):
    """Of a chain of four integrators with equal poles."""
    s = rate * np.asarray(t)
    return 1 - np.exp(-s) * (1 + s + s**2 / 2 + s**3 / 6)


def worked_example():
    """WE-15: the arm of WE-07, rotors without mass, Jm = (0.5, 0.25), K = (200, 150)."""
    arm = planar_arm()
    for joint, stiffness, inertia in (("joint1", 200.0, 0.5), ("joint2", 150.0, 0.25)):
        arm = arm.with_drive(joint, stiffness=stiffness, inertia=inertia)
    return arm.including("elastic drives")


def undamped(arm, stiffness=None):
    """A random arm with rotors anywhere, and springs without dampers."""
    for joint in arm.joints:
        arm = arm.variants.with_joints(joint.__class__(**{
            **{name: getattr(joint, name) for name in joint.__dataclass_fields__},
            "spring": joint.spring and LinearSpring(stiffness or joint.spring.stiffness)}))
    return arm


def variety():
    """Arms of all kinds of drives that the law knows."""
    slides = undamped(spatial_arm("RPRR"))
    bent = cy.load("planar3r").with_drive("joint1", spring=HardeningSpring(80.0, cubic=900.0, rest=0.1), inertia=1e-3,
                                          gear=-20.0, friction=Friction(viscous=1e-3))
    bent = bent.with_drive("joint2", spring=LinearSpring(50.0, rest=-0.2), inertia=0.1).with_drive(
        "joint3", spring=BacklashSpring(60.0, backlash=0.0), inertia=0.05).with_friction("joint2", viscous=0.4)
    mixed = cy.load("planar3r").with_drive("joint1", stiffness=100.0, inertia=0.2).with_drive(
        "joint2", inertia=1e-3, gear=30.0).with_drive("joint3", stiffness=1e4, inertia=1e-4, gear=-50.0)
    return {"sliding, off-axis rotors": slides.including("reduced elastic drives"),
            "bent springs, friction": bent.including("elastic drives", "friction"),
            "mixed": mixed.including("elastic drives", "armature"),
            "soft": undamped(spatial_arm("RR"), 10.0).including("reduced elastic drives"),
            "stiff": undamped(spatial_arm("RRP"), 1e7).including("reduced elastic drives")}


VARIETY = variety()


@pytest.fixture(scope="module", params=list(VARIETY))
def soft(request):
    return VARIETY[request.param]


@pytest.fixture(scope="module")
def laws():
    return {}


@pytest.fixture
def law(soft, laws):
    return laws.setdefault(soft, FeedbackLinearisation(soft, POLES))


def motions(law, size=6, seed=0):
    """Position to snap of the joints (5, size, n)."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size=(5, size, law.arm.n))


def states(law, size=6, seed=0):
    """Any states: springs deflected by about what pulls 20 N m; of rigid joints forces and their rates as well."""
    rng = np.random.default_rng(seed)
    arm = law.arm
    q, qd = rng.uniform(-1.0, 1.0, size=(2, size, arm.n))
    deflection, rate = (rng.uniform(-20.0, 20.0, size=(2, size, arm.m))
                        / arm.pull_slopes(np.zeros(arm.n), np.zeros(arm.m)))
    state = [np.concatenate([q, arm.gears * (q[:, arm.elastic] + deflection)], axis=1),
             np.concatenate([qd, arm.gears * (qd[:, arm.elastic] + rate)], axis=1)]
    return [*state, *rng.uniform(-5.0, 5.0, size=(2, size, len(arm.rigid)))] if arm.rigid else state


@pytest.mark.spec("S0-54")
def test_the_motion_of_motors_obeys_the_equations_of_the_arm(soft, law):
    """Inverse and forward dynamics of the whole mechanism, another text, agree to rounding."""
    found = law.motor_motion(*motions(law))
    tau = soft.inverse_dynamics(found.q, found.qd, found.qdd)
    size = 1 + np.abs(soft.inverse_dynamics(found.q, 0 * found.qd, 0 * found.qdd)).max()
    stiffest = max(joint.spring.stiffness for joint in soft.joints if joint.spring)
    assert np.abs(tau - found.tau).max() < 1e-13 * (size + stiffest)
    again = soft.forward_dynamics(found.q, found.qd, found.tau)
    assert np.abs(again - found.qdd).max() < 1e-12 * np.abs(found.qdd).max() + 1e-13 * stiffest * 50


def test_the_motion_of_motors_by_50_digit_derivatives():
    """q(t) a polynomial of degree four: the angle of the motor, by a 50-digit rigid model, differentiated by mpmath."""
    arm = planar_arm().with_drive("joint1", spring=HardeningSpring(200.0, cubic=3000.0, rest=0.05), inertia=2e-3,
                                  gear=-15.0).with_drive("joint2", stiffness=150.0, inertia=0.25)
    law = FeedbackLinearisation(arm.including("elastic drives"), POLES)
    derivatives = np.random.default_rng(1).normal(size=(5, 2))
    rigid = cy.Mechanism(law.arm.tree.without_motors()).inverse_dynamics

    def joints(t, order=0):
        return [mpmath.diff(lambda s, k=k: mpmath.polyval(
            [derivatives[j, k] / mpmath.factorial(j) for j in (4, 3, 2, 1, 0)], s), t, order) for k in range(2)]

    def motor(t, k):
        P = rigid.evaluate(cy.MPMATH, joints(t), joints(t, 1), joints(t, 2))[k]
        if k == 1:
            return joints(t)[1] + P / 150
        d = mpmath.findroot(lambda d: 200 * d + 3000 * d**3 - P, P / 200)
        return -15 * (joints(t)[0] - mpmath.mpf(0.05) + d)

    with mpmath.workdps(50):
        known = np.array([[float(mpmath.diff(lambda t, k=k: motor(t, k), 0, order)) for k in range(2)]
                          for order in range(3)])
    found = law.motor_motion(*derivatives)
    for mine, exact in zip((found.q, found.qd, found.qdd), known, strict=True):
        assert np.allclose(mine[2:], exact, rtol=1e-12, atol=1e-12)


def test_the_motion_of_motors_by_differences(soft, law):
    x = motions(law, 1, seed=2)[:, 0]
    at = lambda t: [sum(x[j + k] * t**j / math.factorial(j) for j in range(5 - k)) for k in range(5)]  # noqa: E731
    h = 1e-4
    before, here, after = (law.motor_motion(*at(t)) for t in (-h, 0.0, h))
    rate = (after.q - before.q) / (2 * h)
    assert np.allclose(rate, here.qd, rtol=1e-6, atol=1e-6 * np.abs(here.qd).max())
    more = (after.qd - before.qd) / (2 * h)
    assert np.allclose(more, here.qdd, rtol=1e-6, atol=1e-6 * np.abs(here.qdd).max())


@pytest.mark.spec("S0-54")
def test_change_of_state_and_back(law):
    """The motion y1 to y4 that a state begins has that state, and the forces for its snap are those of the law."""
    state = states(law)
    v = motions(law, seed=3)[4]
    y = law.chain(*state)
    back = law.motor_motion(*y, v)
    for mine, given in zip((back.q, back.qd), state, strict=False):
        assert np.abs(mine - given).max() < 1e-10 * np.abs(given).max()
    found = law.law(*state, v)
    tau = found.tau if law.arm.rigid else found
    assert np.abs(tau - back.tau).max() < 1e-10 * np.abs(back.tau).max()
    if law.arm.rigid:
        assert np.abs(tau[:, law.arm.rigid] - state[2]).max() < 1e-10


def chain_changes(law):
    """How y1 to y4 change when the state changes at given rates: a derivative of the kernel."""
    shapes = [str(core[0]) for core in law.chain.signature.inputs]

    def changes(*given):
        here = [cy.independent(x) for x in given[:len(shapes)]]
        return slope_along(np.concatenate(law.chain(*here)), np.concatenate(here), np.concatenate(given[len(shapes):]))

    inputs = [f"x{k}" for k in range(2 * len(shapes))]
    return cy.kernel(f"{','.join(f'({n})' for n in shapes * 2)}->({4 * law.arm.n})", inputs=inputs)(changes)


@pytest.mark.spec("S0-54")
def test_under_the_law_every_joint_is_a_chain_of_four_integrators(soft, law):
    """The rates of y1 to y4 along the mechanism's own accelerations are y2, y3, y4 and v."""
    state = states(law, seed=4)
    v = motions(law, seed=5)[4]
    found = law.law(*state, v)
    tau, *more = (found.tau, state[3], found.force_acceleration) if law.arm.rigid else (found,)
    reduced = cy.Mechanism(law.arm.tree)
    rates = [state[1], reduced.forward_dynamics(state[0], state[1], tau), *more]
    y = law.chain(*state)
    changes = chain_changes(law)
    expected = np.concatenate([*y[1:], v], axis=-1)
    found = changes(*state, *rates)
    alone = [changes(*state, *[rate * (np.arange(rate.shape[-1]) == entry) * (k == place)
                               for k, rate in enumerate(rates)])  # by one coordinate: what cancels is seen
             for place in range(len(rates)) for entry in range(rates[place].shape[-1])]
    size = sum(np.abs(part) for part in alone).reshape(-1, 4, law.arm.n).max(axis=(0, 2)).repeat(law.arm.n)
    assert (np.abs(found - expected) < 1e-13 * size).all()


@pytest.mark.spec("S0-54")
def test_worked_example():
    """WE-15, and the closed loop beside the four-fold integrator to 1e-10, in simulations and in rollouts."""
    soft = worked_example()
    law = FeedbackLinearisation(soft, POLES)
    start = law.at_rest(np.zeros(2))
    assert np.allclose(start["q"][2:], [0.152055, 0.03924], atol=1e-12)
    loop = cy.connect(soft, law)
    target = np.array([0.8, -0.5])
    times = np.array([0.0, 0.5, 1.0, 2.0])
    run = loop.simulate(start, times=times, inputs={"target": target}, **TIGHT)
    assert np.abs(run["q"][:, :2] - step(times, 4.0)[:, None] * target).max() < 1e-10
    known = [[0.11430123, -0.07143827], [0.45322390, -0.28326494], [0.76609591, -0.47880994]]
    assert np.abs(run["q"][1:, :2] - known).max() < 1e-8
    rolled = loop.rollout()(start, step=1e-3, steps=2000, every=1000, inputs={"target": target})
    assert np.abs(rolled["q"][1:, :2] - step([1.0, 2.0], 4.0)[:, None] * target).max() < 1e-8


@pytest.mark.spec("S0-54")
def test_loops_of_all_kinds_of_drives(law):
    """A step of all joints in a compiled rollout of 1 ms a step, beside its closed form, from 10 to 1e7 N m/rad: the
    closed loop is not stiff, whatever the springs are."""
    n = law.arm.n
    target = np.linspace(0.3, -0.4, n)
    start = law.at_rest(np.zeros(n))
    loop = cy.connect(cy.Mechanism(law.arm.tree), law)
    end = loop.rollout()(start, step=1e-3, steps=1000, every=1000, inputs={"target": target}).end
    assert np.abs(end["q"][:n] - step(1.0, 4.0) * target).max() < 2e-10


def test_a_moving_target_is_followed_exactly():
    soft = worked_example()
    law = FeedbackLinearisation(soft, [-6.0, -7.0, -5 + 3j, -5 - 3j])
    start = law.motor_motion([0.2, 0.0], [0.0, 0.5], [-0.2, 0.0], [0.0, -0.5], [0.2, 0.0])  # (0.2 cos t, 0.5 sin t)
    loop = cy.connect(soft, law)
    at = lambda t, k: np.array([0.2 * np.cos(t + k * np.pi / 2), 0.5 * np.sin(t + k * np.pi / 2)])  # noqa: E731
    names = ("target", "target_qd", "target_qdd", "target_jerk", "target_snap")
    run = loop.simulate({"q": start.q, "qd": start.qd}, until=1.0, **TIGHT,
                        inputs={name: lambda t, *x, k=k: at(t, k) for k, name in enumerate(names)})
    assert np.abs(run.end["q"][:2] - at(1.0, 0)).max() < 1e-9


@pytest.fixture(scope="module")
def move():
    """A motion from rest to rest whose snap is continuous."""
    shape = lambda t: t**5 * (126 - 420 * t + 540 * t**2 - 315 * t**3 + 70 * t**4)  # noqa: E731
    return FunctionOfTime(lambda t: np.array([0.8, -0.5]) * shape(t), 0.0, 1.0)


def test_planned_motions(move):
    """Joined with arm and law, a motion is followed; what its motors do along it is the whole motion, to rounding."""
    soft = worked_example()
    law = FeedbackLinearisation(soft, POLES)
    loop = cy.connect(soft, law, motion_target(move))
    times = np.linspace(0.0, 1.0, 6)
    run = loop.simulate(law.at_rest(np.zeros(2)), times=times, **TIGHT)
    along = motor_motion_along(soft, move)(times)
    assert np.abs(run["q"] - along.q).max() < 1e-8 and np.abs(run["tau"] - along.tau).max() < 1e-6
    again = soft.forward_dynamics(along.q, along.qd, along.tau)
    assert np.abs(again - along.qdd).max() < 1e-11 * np.abs(along.qdd).max()
    with pytest.raises(SignatureError, match="2 coordinates does not fit"):
        motor_motion_along(VARIETY["mixed"], move)


def believing(factor, poles):
    """The law of the worked example for one who takes its springs for so many times as stiff."""
    believed = planar_arm()
    for joint, stiffness, inertia in (("joint1", 200.0, 0.5), ("joint2", 150.0, 0.25)):
        believed = believed.with_drive(joint, stiffness=factor * stiffness, inertia=inertia)
    return FeedbackLinearisation(believed.including("elastic drives"), poles)


def test_a_wrong_stiffness_is_withstood_by_fast_poles():
    """The loop settles, with an offset where gravity pulls; with slow poles it does not."""
    soft = worked_example()
    start = FeedbackLinearisation(soft, POLES).at_rest(np.zeros(2))
    target = np.array([0.8, -0.5])
    offsets = []
    for factor in (0.7, 1.0, 1.3):
        loop = cy.connect(soft, believing(factor, [-16.0] * 4))
        end = loop.rollout()(start, step=1e-3, steps=6000, every=6000, inputs={"target": target}).end
        assert np.abs(end["qd"]).max() < 1e-9
        offsets.append(np.abs(end["q"][:2] - target).max())
    assert offsets[1] < 1e-10 and 0.02 < offsets[0] < 0.05 and 0.02 < offsets[2] < 0.05
    slow = cy.connect(soft, believing(1.3, POLES)).rollout()(start, step=1e-3, steps=3000, every=3000,
                                                             inputs={"target": target})
    assert not np.abs(slow.end["q"]).max() < 1.0


@pytest.mark.parametrize("factor", [0.6, 0.9, 1.2, 1.5])
def test_poles_with_a_wrong_stiffness_in_closed_form(factor):
    """One joint without gravity: s^4 + k3 s^3 + (k2 - (f - 1) K (1/M + 1/J)) s^2 + (k1 s + k0) / f."""
    M, J, K, gear = 2.0, 1e-3, 300.0, -30.0
    link = cy.Mechanism.of("link", [Body("base"), Body("link", 1.0, inertia=np.diag([0.0, 0.0, M]))],
                           [Joint("joint", "base", "link", Revolute())])
    soft, believed = (link.with_drive("joint", stiffness=k, inertia=J, gear=gear).including("elastic drives")
                      for k in (K, factor * K))
    law = FeedbackLinearisation(believed, [-9.0, -10.0, -11.0, -12.0])
    found = np.linalg.eigvals(cy.connect(soft, law).linearize({"q": np.zeros(2), "qd": np.zeros(2)},
                                                              {"target": np.zeros(1)}).A)
    k = law.gains[:, 0]
    known = np.roots([1.0, k[3], k[2] - (factor - 1) * K * (1 / M + 1 / (J * gear**2)), k[1] / factor, k[0] / factor])
    assert np.allclose(np.sort_complex(found), np.sort_complex(known), rtol=1e-8, atol=1e-8)


def test_what_the_full_model_loses():
    """Rotors that spin alone have one model; those that are bodies feel their carriers turn, and the chain is left."""
    bare = worked_example()
    assert np.allclose(cy.Mechanism(FeedbackLinearisation(bare, POLES).arm.tree).inertia_matrix(np.zeros(4)),
                       bare.inertia_matrix(np.zeros(4)))
    arm = planar_arm()
    for joint, inertia in (("joint1", 1e-3), ("joint2", 2e-3)):
        arm = arm.with_drive(joint, stiffness=200.0, gear=20.0, mass=0.3, tensor=np.diag([0.0, 0.0, inertia]))
    full = arm.including("elastic drives")
    law = FeedbackLinearisation(full, POLES)
    target = np.array([0.8, -0.5])
    ends = {}
    for name in ("elastic drives", "reduced elastic drives"):
        run = cy.connect(arm.including(name), law).simulate(law.at_rest(np.zeros(2)), until=1.0, **TIGHT,
                                                            inputs={"target": target})
        ends[name] = np.abs(run.end["q"][:2] - step(1.0, 4.0) * target).max()
    assert ends["reduced elastic drives"] < 1e-9
    assert 1e-4 < ends["elastic drives"] < 0.05


def test_the_full_model_is_not_linear_by_feedback():
    """The mechanism as a system, in the Lie toolbox: chains of four for rotors that only spin, at any
    stiffness; brackets lead out of the levels where rotors feel their carriers turn."""
    for stiffness in (200.0, 1e7):
        arm = planar_arm()
        for joint in arm.joint_names:
            arm = arm.with_drive(joint, stiffness=stiffness, gear=20.0, mass=0.3, tensor=np.diag([0.0, 0.0, 1e-3]))
        at = np.concatenate(states(FeedbackLinearisation(arm.including("elastic drives"), POLES), 3), axis=1)
        for word, linear in (("reduced elastic drives", True), ("elastic drives", False)):
            found = linearisability(*affine_fields(arm.including(word), {"tau": [2, 3]}), at)
            assert found.is_controllable.all() and found.holds.all() == linear
            assert not linear or found.chains == (4, 4)


def test_numbers_of_the_arm_as_inputs():
    """A law for many stiffnesses, rotors and gears at once is each of theirs."""
    law = FeedbackLinearisation(worked_example(), POLES)
    state = [x[0] for x in states(law)]
    v = np.array([1.0, -2.0])
    for word, drives in (("spring", {"stiffness": (260.0, 120.0), "inertia": (0.5, 0.25)}),
                         ("armature", {"stiffness": (200.0, 150.0), "inertia": (0.7, 0.1)}),
                         ("gear", {"stiffness": (200.0, 150.0), "inertia": (0.5, 0.25), "gear": (2.0, -3.0)})):
        arm = planar_arm()
        for k, joint in enumerate(arm.joint_names):
            arm = arm.with_drive(joint, **{name: values[k] for name, values in drives.items()})
        other = FeedbackLinearisation(arm.including("elastic drives"), POLES)
        given = drives["gear" if word == "gear" else "stiffness" if word == "spring" else "inertia"]
        found = law.law.with_parameters(word)(*state, v, given)
        assert np.allclose(found, other.law(*state, v), rtol=1e-12, atol=1e-10), word
        motion = motions(law)[:, 0]
        found = law.motor_motion.with_parameters(word)(*motion, given)
        assert np.allclose(found.tau, other.motor_motion(*motion).tau, rtol=1e-12, atol=1e-10), word


@needs("cc")
def test_the_law_in_c(tmp_path):
    soft = worked_example()
    law = FeedbackLinearisation(soft, POLES)
    law.c_source("law").write(tmp_path)
    subprocess.run([COMPILER, "-O2", "-std=c99", "-Wall", "-Werror", "-shared", "-fPIC", tmp_path / "law.c", "-o",
                    tmp_path / "law.so", "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "law.so"))
    rng = np.random.default_rng(0)
    given = [*rng.normal(size=(2, 4)), *rng.normal(size=(5, 2))]
    tau = np.zeros(4)
    as_c = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (*given, tau)]
    library.law(*as_c)
    assert np.allclose(tau, law.control(*given), rtol=1e-12, atol=1e-10)


def test_batches_and_precisions():
    law = FeedbackLinearisation(worked_example(), POLES)
    state = states(law)
    v = np.zeros(2)
    assert law.law(*state, v).shape == (6, 4) and law.law(np.zeros((0, 4)), np.zeros((0, 4)), v).shape == (0, 4)
    single = law.law(*[x.astype(np.float32) for x in (*state, v)])
    assert single.dtype == np.float32 and np.allclose(single, law.law(*state, v), rtol=1e-2, atol=1e-1)
    assert np.isnan(law.law([np.nan, 0.0, 0.0, 0.0], np.zeros(4), v)[2:]).all()


def test_what_has_no_such_law_is_refused():
    arm = planar_arm()
    one = lambda **drive: arm.with_drive("joint2", **drive).including("elastic drives")  # noqa: E731
    for soft, words in (
            (arm, "includes none"),
            (one(stiffness=100.0, damping=1.0, inertia=0.1), "'joint2'.*damper"),
            (one(spring=BacklashSpring(100.0, backlash=0.1), inertia=0.1), "'joint2'.*backlash"),
            (one(spring=SpringLaw("100*(qm - q)"), inertia=0.1), "'joint2'.*law spring"),
            (one(stiffness=100.0), "rotors that have inertia, and that of 'joint2'"),
            (arm.with_friction("joint1", coulomb=1.0).including("elastic drives", "friction"), "'joint1'.*dry"),
            (one(inertia=0.1).variants.with_actuated("joint1 motor"), "'joint2' of planar has no drive"),
            (cy.load("four_bar").with_drive("crank", stiffness=10.0, inertia=1.0).including("elastic drives"),
             "as independent")):
        with pytest.raises(UnsupportedError, match=words):
            FeedbackLinearisation(soft, POLES)
    with pytest.raises(UnsupportedError, match="springs of planar for rigid"):
        computed_torque(worked_example(), 1.0, 1.0)
    with pytest.raises(ModelError, match="stiffness of a linear spring is 0"):
        one(stiffness=0.0, inertia=0.1)
    with pytest.raises(SignatureError, match="4 numbers"):
        FeedbackLinearisation(worked_example(), [-1.0] * 3)
    with pytest.raises(SignatureError, match="poles must be numbers"):
        FeedbackLinearisation(worked_example(), "fast")
    with pytest.raises(SignatureError, match="not for 'planar2r'"):
        FeedbackLinearisation("planar2r", [-1.0] * 4)


def test_links_without_mass_have_no_law():
    """H singular: said for one state, NaN in a batch."""
    bare = cy.Mechanism.of("bare", [Body("base"), Body("a", 1.0, (0.5, 0.0, 0.0)), Body("b", 0.0)],
                           [Joint("one", "base", "a", Revolute()), Joint("two", "a", "b", Revolute())])
    for joint in ("one", "two"):
        bare = bare.with_drive(joint, stiffness=10.0, inertia=0.1)
    law = FeedbackLinearisation(bare.including("elastic drives"), POLES)
    with pytest.raises(SingularityError, match="'two' moves no mass"):
        law.law(np.zeros(4), np.zeros(4), np.zeros(2))
    assert np.isnan(law.law(np.zeros((3, 4)), np.zeros(4), np.zeros(2))).all()


def test_fields_of_systems():
    """f and g of a system are its rates; what is not f(x) + g(x) u is refused by name."""
    soft = worked_example()
    drift, inputs = affine_fields(soft, {"tau": [2, 3]})
    x = np.random.default_rng(0).normal(size=8)
    u = np.array([1.3, -0.7])
    rate = np.concatenate([x[4:], soft.forward_dynamics(x[:4], x[4:], [0.0, 0.0, *u])])
    assert np.allclose(drift(x) + sum(ui * g(x) for ui, g in zip(u, inputs, strict=True)), rate, rtol=1e-12, atol=1e-10)
    tank = cy.System("tank", state={"level": "m"}, inputs={"valve": ""}, derivative=lambda t, x, u, p: 1 - u.valve**2)
    swing = cy.System("swing", state={"x": "m"}, inputs={"u": ""}, derivative=lambda t, x, u, p: u.u + np.sin(t))
    for plant, words in ((cy.load("panda", floating_base=True), "curved manifold"), (tank, "depends on the inputs"),
                         (swing, "depends on the time"), (cy.load("four_bar"), "constraints")):
        with pytest.raises(UnsupportedError, match=words):
            affine_fields(plant)
    with pytest.raises(SignatureError, match="no input 'torque'"):
        affine_fields(soft, {"torque": [0]})
    with pytest.raises(SignatureError, match="has 4 entries"):
        affine_fields(soft, {"tau": [4]})


def test_other_laws_know_that_motors_drive():
    """A regulator about a posture, by the mechanism's linear model, acts on the motors alone, and is SciPy's; laws for
    rigid drives are refused."""
    soft = worked_example()
    start = soft.formulations.motor_motion([0.3, -0.2], *np.zeros((4, 2)))
    law = tracking_control(soft.tree, lambda t: (start.q, start.qd, start.qdd), [0.0], weights=Weights(10.0, 0.1))
    model = soft.system().linearize({"q": start.q, "qd": start.qd}, {"tau": start.tau})
    B = model.B[:, 2:]
    X = scipy.linalg.solve_continuous_are(model.A, B, 10 * np.eye(8), 0.1 * np.eye(2))
    assert not law.gains[0][:2].any() and np.allclose(law.gains[0][2:], 10 * B.T @ X, rtol=1e-6, atol=1e-6)
    assert np.allclose(law(0.0, start.q, start.qd), start.tau, atol=1e-10)
    with pytest.raises(UnsupportedError, match="computed torque would take the springs"):
        computed_torque_kernel(soft.tree)
