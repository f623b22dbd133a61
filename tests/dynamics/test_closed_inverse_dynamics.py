"""Forces of the drives and reactions of joints of closed mechanisms: beside all bodies cut free, Pinocchio, a particle
model of 50 digits, closed forms, and forward dynamics; and which of them do not follow from the motion."""

import pickle
from dataclasses import replace
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cayley as cy
from cayley.errors import ConventionError, SingularityError, UnsupportedError
from cayley.model.constraint_kinds import Coupling, PrescribedMotion, Rod
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Loop, Rotor
from compiler.parity import in_c
from dynamics.closed_free_bodies import cut_free
from dynamics.test_closed_mechanisms import (
    accelerations_of_pinocchio,
    closed_state,
    four_bar,
    shift,
    stewart,
    stewart_guess,
)

X, Y, Z = np.eye(3)
GUESS = [0.7, 0.4, 2.0]


def near(found, wanted, tolerance=1e-10):
    assert np.abs(found - wanted).max() <= tolerance * max(1.0, np.abs(wanted).max())


@cache
def bar(*drives, **kinds):
    return four_bar(**kinds).variants.with_actuated(*drives)


def moved(arm, guess, seed=0):
    """A closed state, and accelerations that the constraints allow."""
    q, qd, _ = closed_state(arm, guess, seed)
    A = arm.loops.jacobian(q)
    qdd = np.random.default_rng(seed + 100).normal(size=arm.nv)
    return q, qd, qdd - np.linalg.pinv(A, 1e-9) @ (A @ qdd + arm.loops.drift(q, qd))


@cache
def five_bar(*drives):
    """Two cranks on the base, joined at the ends of their couplers; two freedoms."""
    def rod(name, length):
        return Body(name, 0.5, [length / 2, 0.01, 0], np.diag([1e-6, 1.0, 1.0]) * 0.5 * length**2 / 12)

    lengths = {"left": 0.25, "left coupler": 0.4, "right": 0.3, "right coupler": 0.35}
    joints = [Joint("left", "base", "left", Revolute()),
              Joint("left coupler", "left", "left coupler", Revolute(), shift(lengths["left"])),
              Joint("right", "base", "right", Revolute(), shift(0.4)),
              Joint("right coupler", "right", "right coupler", Revolute(), shift(lengths["right"]))]
    frames = [Frame(f"end of {name}", name, shift(lengths[name])) for name in ("left coupler", "right coupler")]
    return cy.Mechanism.of("five-bar", [Body("base"), *[rod(*each) for each in lengths.items()]], joints,
                           frames=frames, gravity=(0.0, -9.81, 0.0), actuated=drives or ("left", "right"),
                           loops=[Loop("pin", "end of left coupler", "end of right coupler", Revolute())])


FIVE = [2.0, -1.2, 1.0, 1.4]


@cache
def driven_stewart():
    return stewart().variants.with_actuated(*[f"slide{k}" for k in range(6)])


@cache
def rods_and_gears():
    """A wheel and a pinion in mesh; the pinion carries an arm, held by a rod to a slide."""
    bodies = [Body("base"), *[Body(name, mass, [0.05, 0.02, 0.01], 0.01 * np.eye(3))
                              for name, mass in (("wheel", 1.0), ("pinion", 0.4), ("slide", 0.8))]]
    joints = [Joint("wheel", "base", "wheel", Revolute()), Joint("pinion", "base", "pinion", Revolute(), shift(0.3)),
              Joint("slide", "base", "slide", Prismatic(tuple(X)), shift(0.6, 0.1, 0.05))]
    return cy.Mechanism.of("train", bodies, joints, frames=[Frame("crank pin", "pinion", shift(0.1, 0.0, 0.02))],
                           constraints=[Coupling("teeth", ("wheel", "pinion"), (3.0, 1.0)),
                                        Rod("link", "crank pin", "slide", 0.35)], actuated=["wheel"])


@cache
def floating_four_bar():
    """A four-bar in the air: its base floats, and something holds it by all six directions."""
    bar = four_bar()
    bodies = [Body("world"), Body("base", 2.0, [0.1, 0.05, 0.02], 0.03 * np.eye(3)), *bar.bodies[1:]]
    return cy.Mechanism.of("floating", bodies, [Joint("free", "world", "base", Floating()), *bar.joints],
                           frames=bar.frames, loops=bar.loops, actuated=["free", "crank"])


CASES = {
    "four-bar": (lambda: bar("crank"), GUESS),
    "five-bar": (five_bar, FIVE),
    "four-bar closed by a ball": (lambda: bar("rocker", motion=Spherical()), GUESS),
    "Stewart": (driven_stewart, stewart_guess()),
    "rods and gears": (rods_and_gears, [0.1, -0.3, 0.0]),
    "floating base": (floating_four_bar, [0.1, 0.2, 0.3, 0.8, 0.6, 0.0, 0.0, *GUESS]),
    "slider-crank": (lambda: cy.load("slider_crank"), [0.5, 0.0, 0.0]),
    "redundant five-bar": (lambda: five_bar("left", "right", "left coupler"), FIVE),
    "every joint": (lambda: bar("crank", "coupler", "rocker"), GUESS),
}


@pytest.mark.parametrize("name", CASES)
def test_forces_and_reactions_are_those_of_all_bodies_cut_free(name):
    arm, guess = CASES[name][0](), CASES[name][1]
    q, qd, qdd = moved(arm, guess)
    tau = arm.inverse_dynamics(q, qd, qdd)
    passive = [k for k in range(arm.nv) if k not in arm.tree.actuated_velocities]
    assert (tau[passive] == 0).all()
    near(arm.forward_dynamics(q, qd, tau), qdd)
    cut = cut_free(arm, q, qd, qdd, tau=tau)
    assert cut.residual < 1e-10 * max(1.0, np.abs(cut.wrenches).max())  # so these forces do it
    if arm.loops.actuation.kind == "fully actuated":
        alone = cut_free(arm, q, qd, qdd)
        assert alone.tau_known.all()
        near(tau, alone.tau)
    found = arm.joint_reactions(q, qd, qdd)
    assert found.shape == (len(arm.joint_reactions.rows), 6)
    np.testing.assert_array_equal(arm.joint_reactions.determined, cut.known)
    np.testing.assert_array_equal(np.isnan(found), ~cut.known)
    near(found[cut.known], cut.wrenches[cut.known], 1e-9)
    needed = arm.variants.spanning_tree().inverse_dynamics(q, qd, qdd)
    assert abs((needed - tau) @ qd) < 1e-12 * max(1.0, np.abs(needed).max() * np.abs(qd).max())


def test_pinocchio_moves_a_stewart_platform_as_told_by_these_forces():
    arm = driven_stewart()
    q, qd, qdd = moved(arm, stewart_guess(), seed=5)
    found, _ = accelerations_of_pinocchio(arm, q, qd, arm.inverse_dynamics(q, qd, qdd))
    near(found, qdd)


def test_a_truss_that_cannot_move_has_reactions_and_needs_no_drives():
    """A rod of 1 kg each side; half the weight of each is carried at its foot, by statics."""
    rods = [Body(name, 1.0, [0.25, 0, 0], 0.01 * np.eye(3)) for name in "ab"]
    truss = cy.Mechanism.of(
        "truss", [Body("base"), *rods],
        [Joint("a", "base", "a", Revolute()), Joint("b", "base", "b", Revolute(), shift(0.6))],
        frames=[Frame("end of a", "a", shift(0.5)), Frame("end of b", "b", shift(0.5))], actuated=[],
        loops=[Loop("top", "end of a", "end of b", Revolute())], gravity=(0.0, -9.81, 0.0))
    assert (truss.loops.mobility, truss.loops.actuation.kind) == (0, "fully actuated")
    q, rest = truss.loops.close([0.9, 2.2]).configuration, np.zeros(2)
    assert (truss.inverse_dynamics(q, rest, rest) == 0).all()
    found = truss.joint_reactions(q, rest, rest)
    thrust = 9.81 / 2 * 0.3 / 0.4  # of the top, level
    feet = [truss.pose(q, name)[:2, :2] @ wrench[:2] for name, wrench in zip("ab", found, strict=False)]
    near(np.stack(feet), np.array([[thrust, 9.81], [-thrust, 9.81]]))


def test_a_prescribed_motion_drives_by_its_constraint():
    bar = four_bar()
    told = cy.Mechanism.of("told", bar.bodies, bar.joints, frames=bar.frames, loops=bar.loops, gravity=bar.gravity,
                           constraints=[PrescribedMotion("motor", "crank", "0.3 + 2*t")], actuated=[])
    q = told.loops.close(GUESS, 0.0).configuration
    qd = told.loops.consistent_velocity(q, np.zeros(3), 0.0)
    qdd = told.forward_dynamics(q, qd, np.zeros(3), 0.0)
    driven = bar.variants.with_actuated("crank")
    assert (told.inverse_dynamics(q, qd, qdd, 0.0) == 0).all()
    near(np.nan_to_num(told.joint_reactions(q, qd, qdd, 0.0)), np.nan_to_num(driven.joint_reactions(q, qd, qdd)))
    near(told.loops.forces(q, qd, np.zeros(3), 0.0)[-1], driven.inverse_dynamics(q, qd, qdd)[0])


def test_wheels_that_roll_push_the_cart():
    """Two driven wheels on an axle: forces that Lagrange's equations of its two freedoms need, and friction's pushes at
    the ground that accelerate its mass."""
    from dynamics.test_nonholonomic import cart
    arm = cart()
    q = np.array([0.1, -0.2, 0.4, 0.3, 0.5])
    qd = arm.loops.actuated_motion(q, [3.0, -1.0])
    own = arm.loops.minimal_dynamics("left", "right")
    _, qdd = own.motion(q, [3.0, -1.0], [0.7, 2.0])
    tau = arm.inverse_dynamics(q, qd, qdd)
    near(arm.forward_dynamics(q, qd, tau), qdd)
    near(tau[3:], own.inertia_matrix(q) @ [0.7, 2.0] + own.bias_forces(q, [3.0, -1.0]))
    known = arm.joint_reactions.determined
    tyres = slice(3, 5)
    assert known[tyres, 0].all() and not known[tyres, 1].any()  # the two side forces share a line
    ahead = arm.pose(q, "chassis")[:3, 0]
    pushed = sum(ahead @ (arm.pose(q, name)[:3, :3] @ np.nan_to_num(wrench[:3]))
                 for name, wrench in zip(("left", "right"), arm.joint_reactions(q, qd, qdd)[tyres], strict=True))
    masses = sum(arm.bodies[k].mass * (arm.acceleration(q, qd, qdd, arm.bodies[k].name, axes="world",
                                                        at=arm.bodies[k].center)[:3] @ ahead) for k in (1, 2, 3))
    near(pushed, masses)


def test_the_names_of_reactions_are_joints_loops_and_rods():
    assert rods_and_gears().joint_reactions.rows == ("wheel", "pinion", "slide", "link")
    planar = four_bar().joint_reactions
    assert planar.rows == ("crank", "coupler", "rocker", "ring")
    np.testing.assert_array_equal(planar.determined, [[True, True, False, False, False, True]] * 4)
    assert cy.load("planar2r").joint_reactions.determined.all()


def test_forces_of_least_norm_where_drives_are_redundant():
    arm = five_bar("left", "right", "left coupler")
    q, qd, qdd = moved(arm, FIVE)
    A = arm.loops.jacobian(q)
    N = np.linalg.svd(A)[2][2:].T
    needed = N.T @ arm.variants.spanning_tree().inverse_dynamics(q, qd, qdd)
    places = [0, 1, 2]
    near(arm.inverse_dynamics(q, qd, qdd)[places], np.linalg.pinv(N[places].T) @ needed)
    weights = np.array([1.0, 9.0, 4.0])
    weighted = arm.inverse_dynamics.with_weights({"left coupler": 9.0, "right": 4.0})(q, qd, qdd)
    scale = 1 / np.sqrt(weights)
    near(weighted[places], scale * (np.linalg.pinv(N[places].T * scale) @ needed))
    near(arm.forward_dynamics(q, qd, weighted), qdd)
    assert weights @ weighted[places]**2 < weights @ arm.inverse_dynamics(q, qd, qdd)[places]**2
    with pytest.raises(ConventionError, match="joint 'right coupler' of five-bar is not actuated"):
        arm.inverse_dynamics.with_weights({"right coupler": 2.0})
    for weight in (-1.0, 0.0, np.inf):
        with pytest.raises(ConventionError, match=f"the weight of joint 'left' is {weight}: it must be positive"):
            arm.inverse_dynamics.with_weights({"left": weight})
    with pytest.raises(UnsupportedError, match="not redundantly actuated"):
        five_bar().inverse_dynamics.with_weights({"left": 2.0})


def test_a_third_drive_takes_the_five_bar_through_a_dead_centre_of_two():
    """Both couplers in a row: the cranks do not command the pin across them."""
    two = five_bar()
    right = np.arccos(0.05 / 0.39)  # the left crank points away: 0.75 m from its end to that of the right one
    along = np.arctan2(0.3 * np.sin(right), 0.65 + 0.3 * np.cos(right))
    flat = np.array([np.pi, along - np.pi, right, along + np.pi - right])
    near(two.loops.residual(flat), 0.0, 1e-15)
    zero = np.zeros(4)
    with pytest.raises(SingularityError, match=r"drives of five-bar \(left, right\) do not command .*left coupler"):
        two.inverse_dynamics(flat, zero, zero)
    batch = two.inverse_dynamics(np.stack([flat, two.loops.close(FIVE).configuration]), zero, zero)
    assert np.isnan(batch[0]).all() and np.isfinite(batch[1]).all()
    three = five_bar("left", "right", "left coupler")
    tau = three.inverse_dynamics(flat, zero, zero)
    near(three.forward_dynamics(flat, zero, tau), zero, 1e-9)


def test_dead_centres_of_a_slider_crank_that_is_driven_by_its_slider():
    engine = cy.load("slider_crank").variants.with_actuated("slider")
    flat = [-np.pi / 2, np.arctan2(0.09, 0.4) + np.pi / 2, 0.1]
    with pytest.raises(SingularityError, match=r"\(slider\) do not command crank, rod"):
        engine.inverse_dynamics(flat, np.zeros(3), np.zeros(3))
    assert np.isnan(engine.inverse_dynamics.unchecked(flat, np.zeros(3), np.zeros(3))).all()
    assert np.isfinite(cy.load("slider_crank").inverse_dynamics(flat, np.zeros(3), np.zeros(3))).all()


def test_where_constraints_depend_on_each_other_no_forces_follow():
    arm = four_bar(0.2, 0.5, 0.2, 0.5).variants.with_actuated("crank")
    with pytest.raises(SingularityError, match="constraints 'ring' of four-bar depend on each other"):
        arm.inverse_dynamics(*np.zeros((3, 3)))
    with pytest.raises(SingularityError, match="constraints 'ring' of four-bar depend on each other"):
        arm.joint_reactions(*np.zeros((3, 3)))
    assert np.isnan(arm.inverse_dynamics(*np.zeros((3, 2, 3)))).all()


def test_an_under_actuated_mechanism_has_forces_for_the_motions_it_can_make():
    free = five_bar("left")
    assert free.loops.actuation.kind == "under-actuated"
    q, qd, _ = moved(free, FIVE)
    tau = np.array([1.3, 0.0, 0.0, 0.0])
    qdd = free.forward_dynamics(q, qd, tau)
    near(free.inverse_dynamics(q, qd, qdd), tau)
    near(free.joint_reactions(q, qd, qdd)[free.joint_reactions.determined],
         cut_free(free, q, qd, qdd, tau=tau).wrenches[free.joint_reactions.determined], 1e-9)
    other = moved(free, FIVE)[2]
    with pytest.raises(SingularityError, match="under-actuated by left: nothing drives left coupler, right"):
        free.inverse_dynamics(q, qd, other)
    both = free.inverse_dynamics(q, qd, np.stack([qdd, other]))
    near(both[0], tau)
    assert np.isnan(both[1]).all()
    swinging = five_bar().variants.with_actuated()
    qdd = swinging.forward_dynamics(q, qd, np.zeros(4))
    assert (swinging.inverse_dynamics(q, qd, qdd) == 0).all()
    assert np.isnan(swinging.inverse_dynamics.unchecked(q, qd, other)).all()


def test_accelerations_that_the_constraints_do_not_allow_become_the_nearest_that_they_do():
    """By Gauss: of all that the constraints allow, those nearest in the metric of the mass matrix."""
    arm = five_bar()
    q, qd, _ = moved(arm, FIVE)
    wanted = np.array([1.0, -2.0, 0.5, 3.0])
    found = arm.forward_dynamics(q, qd, arm.inverse_dynamics(q, qd, wanted))
    M, A = arm.variants.spanning_tree().inertia_matrix(q), arm.loops.jacobian(q)[:2]
    KKT = np.block([[M, A.T], [A, np.zeros((2, 2))]])
    right = np.concatenate([M @ wanted, -arm.loops.drift(q, qd)[:2]])
    near(found, np.linalg.solve(KKT, right)[:4])


def test_the_panda_hand_moves_both_fingers_by_one_drive():
    hand = cy.load("panda_hand")
    q = hand.random_configuration(seed=1)
    p, pd = np.random.default_rng(3).normal(size=(2, 8))
    E = np.eye(9)[:, :8]
    E[8, 7] = 1.0
    needed = hand.variants.spanning_tree().inverse_dynamics(q, E @ p, E @ pd)
    near(hand.inverse_dynamics(q, E @ p, E @ pd), np.append(E.T @ needed, 0.0), 1e-13)
    cut = cut_free(hand, q, E @ p, E @ pd)
    near(hand.joint_reactions(q, E @ p, E @ pd), cut.wrenches, 1e-10)
    assert cut.known.all()


def test_bennetts_linkage_whose_redundancy_moves():
    from kinematics.test_closure import bennett
    tree = bennett()
    bodies = [tree.bodies[0], *[Body(b.name, 1.0, [0.3, 0.1, 0.2], 0.05 * np.eye(3)) for b in tree.bodies[1:]]]
    arm = cy.Mechanism.of("Bennett", bodies, tree.joints, frames=tree.frames, loops=tree.loops,
                          actuated=[tree.joints[0].name])
    assert not arm.loops.structure.by_structure
    q, qd, qdd = moved(arm, [0.8, -1.0, 0.5])
    cut = cut_free(arm, q, qd, qdd)
    near(arm.inverse_dynamics(q, qd, qdd), cut.tau, 1e-8)
    np.testing.assert_array_equal(arm.joint_reactions.determined, cut.known)


def test_loads_act_on_the_closed_mechanism_and_its_base_may_move():
    arm = five_bar()
    q, qd, qdd = moved(arm, FIVE)
    loaded = arm.inverse_dynamics.with_inputs(wrenches=["end of left coupler"], axes="world")
    wrench = np.array([3.0, -2.0, 0.0, 0.0, 0.0, 0.7])
    J = arm.jacobian(q, "end of left coupler", axes="world")
    N = np.linalg.svd(arm.loops.jacobian(q))[2][2:].T
    pushed = np.linalg.solve(N[[0, 2]].T, N.T @ J.T @ wrench)
    near((arm.inverse_dynamics(q, qd, qdd) - loaded(q, qd, qdd, wrench))[[0, 2]], pushed)
    lifted = arm.inverse_dynamics.with_inputs(base_motion=True)
    up = np.array([0.0, 9.81, 0.0, 0.0, 0.0, 0.0])
    twice = arm.with_gravity([0.0, -19.62, 0.0])
    near(lifted(q, qd, qdd, np.zeros(3), up), twice.inverse_dynamics(q, qd, qdd))
    reactions = arm.joint_reactions.with_inputs(base_motion=True)
    near(np.nan_to_num(reactions(q, qd, qdd, np.zeros(3), up)), np.nan_to_num(twice.joint_reactions(q, qd, qdd)))


def test_rotors_and_friction_of_all_joints_are_felt_by_the_drives():
    arm = five_bar()
    real = arm.variants.with_joints(replace(arm.joints[1], rotor=Rotor(1e-4, gear=50.0))).with_friction(
        "right coupler", viscous=0.4).including("armature", "friction")
    q, qd, qdd = moved(real, FIVE)
    near(real.forward_dynamics(q, qd, real.inverse_dynamics(q, qd, qdd)), qdd)
    assert np.abs(real.inverse_dynamics(q, qd, qdd) - arm.inverse_dynamics(q, qd, qdd)).max() > 0.01


def test_every_published_method_gives_the_forces_of_the_drives():
    chain = cy.load("planar3r")
    arm = cy.Mechanism.of("ring", chain.bodies, chain.joints, gravity=chain.gravity, actuated=["joint1"],
                          frames=[*chain.frames, Frame("anchor", "base", shift(1.1, 0.2))],
                          loops=[Loop("pin", "anchor", "tool", Revolute())])
    q, qd, qdd = moved(arm, [0.3, 0.8, -2.0])
    for method in ("newton-euler-in-model-frames", "kane", "luh-walker-paul"):
        near(arm.inverse_dynamics.using(method)(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd), 1e-12)
    with pytest.raises(UnsupportedError, match="five-bar branches at joint 'right'"):
        five_bar().inverse_dynamics.using("kane")


# Batches, precision, derivatives, parameters, C


def test_batches_single_precision_and_what_is_empty():
    arm = five_bar()
    states = [moved(arm, FIVE, seed) for seed in range(5)]
    q, qd, qdd = (np.stack(x) for x in zip(*states, strict=True))
    found = arm.inverse_dynamics(q, qd, qdd)
    near(found, np.stack([arm.inverse_dynamics(*state) for state in states]), 1e-14)
    near(arm.inverse_dynamics(q, qd, qdd, dtype=np.float32), found, 1e-4)
    under = five_bar("left")
    accelerations = under.forward_dynamics(q, qd, [1.0, 0, 0, 0])
    near(under.inverse_dynamics(q, qd, accelerations, dtype=np.float32), np.array([[1.0, 0, 0, 0]]), 1e-3)
    assert arm.inverse_dynamics(*np.zeros((3, 0, 4))).shape == (0, 4)
    assert arm.joint_reactions(*np.zeros((3, 0, 4))).shape == (0, 5, 6)
    assert np.isnan(arm.inverse_dynamics(q[0] * np.nan, qd[0], qdd[0])).all()


@pytest.mark.parametrize("drives", [("left", "right"), ("left", "right", "left coupler")])
def test_derivatives_are_those_of_differences(drives):
    arm = five_bar(*drives)
    q, qd, qdd = moved(arm, FIVE)
    for place, name in enumerate(("q", "qd", "qdd")):
        found = arm.inverse_dynamics.jacobian(name)(q, qd, qdd)
        columns = []
        for k in range(4):
            both = []
            for sign in (1, -1):
                state = [q.copy(), qd.copy(), qdd.copy()]
                state[place][k] += sign * 1e-6
                both.append(arm.inverse_dynamics(*state))
            columns.append((both[0] - both[1]) / 2e-6)
        near(found, np.stack(columns, axis=1), 1e-7)


def test_masses_and_lengths_as_parameters():
    arm = five_bar()
    q, qd, qdd = moved(arm, FIVE)
    torques = arm.inverse_dynamics.with_parameters("mass")
    values = torques.parameters.with_values({"right coupler.mass": 2.0})
    heavier = cy.Mechanism.of("heavier", [replace(b, mass=2.0) if b.name == "right coupler" else b for b in arm.bodies],
                              arm.joints, frames=arm.frames, loops=arm.loops, gravity=arm.gravity,
                              actuated=arm.actuated_joints)
    near(torques(q, qd, qdd, values), heavier.inverse_dynamics(q, qd, qdd))
    near(torques(q, qd, qdd, torques.parameters.nominal), arm.inverse_dynamics(q, qd, qdd))
    lengths = arm.inverse_dynamics.with_parameters("right.length")
    wider = arm.variants.with_joints(replace(arm.joints[2], placement=shift(0.45)))
    q, qd, qdd = moved(wider, FIVE)
    near(lengths(q, qd, qdd, [0.45]), wider.inverse_dynamics(q, qd, qdd))


def test_c_source_gives_the_same_forces():
    arm = five_bar()
    q, qd, qdd = moved(arm, FIVE)
    found = in_c(arm.inverse_dynamics.program(), [q[None], qd[None], qdd[None]])[0][0]
    near(found, arm.inverse_dynamics(q, qd, qdd), 1e-13)


def test_pickled_kernels_keep_their_drives():
    arm = pickle.loads(pickle.dumps(five_bar("left", "right", "left coupler")))
    q, qd, qdd = moved(arm, FIVE)
    again = pickle.loads(pickle.dumps(arm.inverse_dynamics))
    near(again(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd), 1e-15)
    assert "Forces of left, left coupler, right, those of least norm" in again.__doc__
    reactions = pickle.loads(pickle.dumps(arm.joint_reactions))
    assert reactions.rows[-1] == "pin" and "Then those of pin" in reactions.__doc__


# The parts of the equations, in all coordinates and in independent ones


@pytest.mark.parametrize("name", ["five-bar", "slider-crank", "rods and gears"])
def test_the_equations_in_all_coordinates_are_those_of_the_tree_with_forces_of_the_constraints(name):
    arm, guess = CASES[name][0](), CASES[name][1]
    q, qd, tau = closed_state(arm, guess)
    qdd = arm.forward_dynamics(q, qd, tau)
    forces = np.nan_to_num(arm.loops.forces(q, qd, tau))
    left = arm.inertia_matrix(q) @ qdd + arm.bias_forces(q, qd)
    near(left, tau + arm.loops.jacobian(q).T @ forces, 1e-9)
    near(arm.coriolis_matrix(q, qd) @ qd + arm.gravity_forces(q), arm.bias_forces(q, qd))
    near(qd @ arm.inertia_matrix(q) @ qd / 2, arm.kinetic_energy(q, qd))


@pytest.mark.parametrize(("name", "joints"), [("five-bar", ()), ("five-bar", ("left coupler", "right")),
                                              ("slider-crank", ("slider",)), ("floating base", ("crank", "free"))])
def test_the_equations_of_independent_joints(name, joints):
    arm, guess = CASES[name][0](), CASES[name][1]
    q, qd, tau = closed_state(arm, guess)
    own = arm.loops.minimal_dynamics(*joints)
    p = list(own.places)
    qdd = arm.forward_dynamics(q, qd, tau)
    found = own.motion(q, qd[p], qdd[p])
    near(found.qd, qd, 1e-9)
    near(found.qdd, qdd, 1e-9)
    near(own.inertia_matrix(q) @ qdd[p] + own.bias_forces(q, qd[p]), own.forces(q, tau), 1e-9)
    near(qd[p] @ own.inertia_matrix(q) @ qd[p] / 2, arm.kinetic_energy(q, qd))


def test_independent_joints_are_as_many_as_the_mobility_and_not_at_their_dead_centre():
    arm = five_bar()
    assert arm.loops.minimal_dynamics().independent == ("left", "right")
    with pytest.raises(ConventionError, match="has mobility 2: name as many independent velocities"):
        arm.loops.minimal_dynamics("left")
    with pytest.raises(ConventionError, match="each once"):
        arm.loops.minimal_dynamics("left", "left")
    engine = cy.load("slider_crank")
    flat = [-np.pi / 2, np.arctan2(0.09, 0.4) + np.pi / 2, 0.1]
    with pytest.raises(SingularityError, match="dead centre"):
        engine.loops.minimal_dynamics("slider").inertia_matrix(flat)
    assert np.isfinite(engine.loops.minimal_dynamics("crank").inertia_matrix(flat)).all()


# Oracles of many digits and many mechanisms


def by_planar_particles(arm, q, qd, qdd):
    """The torque at the crank of a planar four-bar and the forces of its four pins, in 50 digits: three bodies of which
    all equations are written down, each with forces at two pins."""
    mp = mpmath.mp.clone()
    mp.dps = 50
    a, d = (mp.mpf(float(arm.joints[k].placement[0, 3])) for k in (1, 2))
    b, c = (mp.mpf(float(arm.tree.frame(name).pose[0, 3])) for name in ("tip of b", "tip of c"))
    x, v, w = ([mp.mpf(float(e)) for e in each] for each in (q, qd, qdd))
    angles = [(x[0], v[0], w[0]), (x[0] + x[1], v[0] + v[1], w[0] + w[1]), (x[2], v[2], w[2])]

    def arm_of(length, angle):
        """A point at the end of a turning rod, and its acceleration, relative to the beginning."""
        t, td, tdd = angle
        ct, st_ = mp.cos(t), mp.sin(t)
        return mp.matrix([length * ct, length * st_]), mp.matrix(
            [length * (-st_ * tdd - ct * td**2), length * (ct * tdd - st_ * td**2)])

    starts = [(mp.matrix([0, 0]), mp.matrix([0, 0])), arm_of(a, angles[0]), (mp.matrix([d, 0]), mp.matrix([0, 0]))]
    ends = [tuple(s + e for s, e in zip(starts[k], arm_of(length, angles[k]), strict=True))
            for k, length in enumerate((a, b, c))]
    gravity = mp.matrix([mp.mpf(float(g)) for g in arm.gravity[:2]])
    pins = {"crank": (0, None), "coupler": (1, 0), "rocker": (2, None), "ring": (2, 1)}  # on the first, by the second
    points = {"crank": starts[0][0], "coupler": starts[1][0], "rocker": starts[2][0], "ring": ends[1][0]}
    E, r = mp.zeros(9, 9), mp.zeros(9, 1)
    for k, body in enumerate(arm.bodies[1:]):
        m, I = mp.mpf(float(body.mass)), mp.mpf(float(body.inertia[2, 2]))
        offset, acceleration = arm_of(mp.mpf(float(body.center[0])), angles[k])
        center, felt = starts[k][0] + offset, starts[k][1] + acceleration - gravity
        r[3 * k], r[3 * k + 1], r[3 * k + 2] = m * felt[0], m * felt[1], I * angles[k][2]
        for n, (name, bodies) in enumerate(pins.items()):
            for other, sign in zip(bodies, (1, -1), strict=True):
                if other == k:
                    arc = points[name] - center
                    E[3 * k, 2 * n] += sign
                    E[3 * k + 1, 2 * n + 1] += sign
                    E[3 * k + 2, 2 * n] -= sign * arc[1]
                    E[3 * k + 2, 2 * n + 1] += sign * arc[0]
    E[2, 8] = 1
    solution = mp.lu_solve(E, r)
    return float(solution[8]), np.array([[float(solution[2 * n]), float(solution[2 * n + 1])] for n in range(4)])


def test_forces_and_reactions_of_a_four_bar_in_fifty_digits():
    arm = bar("crank")
    for seed in range(3):
        q, qd, qdd = moved(arm, [0.7 + 0.8 * seed, 0.4, 2.0], seed)
        torque, pins = by_planar_particles(arm, q, qd, qdd)
        near(arm.inverse_dynamics(q, qd, qdd)[0], torque, 1e-12)
        found = arm.joint_reactions(q, qd, qdd)
        frames = [arm.pose(q, name)[:2, :2] for name in ("a", "b", "c", "tip of c")]
        near(np.stack([R @ wrench[:2] for R, wrench in zip(frames, found, strict=True)]), pins, 1e-11)


def test_the_slider_crank_in_closed_form():
    """Its one coordinate, by Lagrange: the energies by the angle of the crank, differentiated by mpmath."""
    engine = cy.load("slider_crank")
    mp = mpmath.mp.clone()
    mp.dps = 40
    r, length = mp.mpf("0.09"), mp.sqrt(mp.mpf("0.4")**2 + mp.mpf("0.09")**2)
    slope = mp.atan2(mp.mpf("-0.09"), mp.mpf("0.4"))
    I_rod = mp.mpf("0.011226667")

    def places(t):
        """Of the crank's pin, the rod's angle, and the slider, for a crank that stands upright at 0."""
        pin = (-r * mp.sin(t), r * mp.cos(t))
        angle = mp.asin(-pin[1] / length)
        return pin, angle, pin[0] + length * mp.cos(angle)

    def energy(t, td):
        pin_rate = (-r * mp.cos(t) * td, -r * mp.sin(t) * td)
        angle_rate = mp.diff(lambda s: places(s)[1], t) * td
        slider_rate = mp.diff(lambda s: places(s)[2], t) * td
        angle = places(t)[1]
        half = length / 2 * angle_rate
        center = (pin_rate[0] - half * mp.sin(angle), pin_rate[1] + half * mp.cos(angle))
        crank = (mp.mpf("0.00029") + mp.mpf("0.4") * mp.mpf("0.045")**2) * td**2
        rod = mp.mpf("0.8") * (center[0]**2 + center[1]**2) + I_rod * angle_rate**2
        return (crank + rod + mp.mpf("0.6") * slider_rate**2) / 2

    def height(t):
        pin, angle, _ = places(t)
        return mp.mpf("0.4") * pin[1] / 2 + mp.mpf("0.8") * (pin[1] + length / 2 * mp.sin(angle))

    t, td, tdd = mp.mpf("0.7"), mp.mpf("2.0"), mp.mpf("-3.0")
    mass = 2 * energy(t, mp.mpf(1))
    rate = mp.diff(lambda s: 2 * energy(s, mp.mpf(1)), t)
    torque = mass * tdd + rate * td**2 / 2 + mp.mpf("9.81") * mp.diff(height, t)
    _, angle, slider = places(t)
    q = np.array([float(t), float(angle - slope - t), float(slider - mp.mpf("0.4"))])
    near(engine.loops.residual(q), 0.0, 1e-12)
    own = engine.loops.minimal_dynamics("crank")
    qd, qdd = own.motion(q, [2.0], [-3.0])
    near(engine.inverse_dynamics(q, qd, qdd)[0], float(torque), 1e-10)
    near(own.inertia_matrix(q)[0, 0], float(mass), 1e-12)


@settings(max_examples=2, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_rings_of_joints_in_space(seed):
    """Six or seven revolute joints with skew axes, closed upon the base: one or two freedoms, all forces by the bodies
    cut free."""
    random = np.random.default_rng(seed)
    joints, bodies = [], [Body("base")]
    size = 6 + seed % 2
    for k in range(size):
        place = np.asarray(cy.geometry.motions.pose_from_twist(random.normal(size=6) * 0.7))
        axis = random.normal(size=3)
        root = random.normal(size=(3, 3))
        bodies.append(Body(f"b{k}", 0.5 + random.random(), 0.2 * random.normal(size=3), root @ root.T * 0.02))
        joints.append(Joint(f"j{k}", bodies[k].name, f"b{k}", Revolute(tuple(axis / np.linalg.norm(axis))), place))
    start = random.normal(size=size) * 0.5
    chain = cy.Mechanism.of("chain", bodies, joints)
    closing = chain.pose.of(f"b{size - 1}").reference(start)
    drives = [f"j{k}" for k in random.permutation(size)[:size - 5]]
    arm = cy.Mechanism.of("ring", bodies, joints, frames=[Frame("anchor", "base", closing)], actuated=drives,
                          loops=[Loop("pin", "anchor", f"b{size - 1}", Revolute())])
    N, J = np.linalg.svd(arm.loops.jacobian.reference(start))[2][5:].T, arm.loops.jacobian.reference(start)
    assume(arm.loops.actuation.kind == "fully actuated" and np.linalg.cond(N[list(arm.tree.actuated_velocities)]) < 1e3)
    qd, qdd = N @ random.normal(size=size - 5), N @ random.normal(size=size - 5)
    qdd -= np.linalg.pinv(J) @ arm.loops.drift.reference(start, qd)
    tau = arm.inverse_dynamics(start, qd, qdd)
    cut = cut_free(arm, start, qd, qdd)
    near(tau, cut.tau, 1e-9)
    near(arm.joint_reactions.reference(start, qd, qdd), cut.wrenches, 1e-8)
    near(arm.forward_dynamics.reference(start, qd, tau), qdd, 1e-8)
