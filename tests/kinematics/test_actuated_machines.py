"""From actuated joints to the motion of a frame, and back: beside the closed forms of classical machines, differences
of closed motions, and postures that are built to be singular."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ConventionError, SingularityError, UnreachableError, UnsupportedError
from cayley.machines import FiveBar, FourBar, Planar3RRR, SliderCrank, StewartPlatform, TranslationalDelta
from cayley.model.constraint_kinds import PrescribedMotion
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint

PLANE = (True, True, False, False, False, True)
POINT = (True, True, False, False, False, False)
ANGLES = np.radians([0, 60, 120, 180, 240, 300])


def ring(radius, angles):
    return radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)


FIVE = FiveBar([(0.0, 0.0), (0.5, 0.1)], cranks=[0.3, 0.35], rods=[0.4, 0.45])
THREE = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
DELTA = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
STEWART = StewartPlatform(ring(0.8, ANGLES), ring(0.4, ANGLES + np.radians([25, -25] * 3)))


def some_pose(seed=0):
    rng = np.random.default_rng(seed)
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix()
    pose[:3, 3] = [0, 0, 0.9] + 0.1 * rng.normal(size=3)
    return pose


def five_bar():
    P = np.array([0.25, 0.45])
    theta = FIVE.inverse_position(P)[1]
    Jx, Jq = FIVE.jacobians(P, theta)
    return cy.Mechanism(FIVE.tree()), FIVE.configuration(P, theta), "point", POINT, Jx, np.diag(Jq)


def planar_3rrr():
    pose = np.array([1.25, 0.62, 0.2])
    theta = THREE.inverse_position(pose)[2]
    Jx, Jq = THREE.jacobians(pose, theta)
    return cy.Mechanism(THREE.tree()), THREE.configuration(pose, theta), "tool", PLANE, Jx, np.diag(Jq)


def delta():
    p = np.array([0.05, -0.04, 0.55])
    theta = DELTA.inverse_position(p)[-1]
    Jx, Jq = DELTA.jacobians(p, theta)
    return cy.Mechanism(DELTA.tree()), DELTA.configuration(p, theta), "platform", "position", Jx, np.diag(Jq)


def stewart():
    pose = some_pose()
    return (cy.Mechanism(STEWART.tree()), STEWART.configuration(pose), "platform", "pose", STEWART.jacobian(pose),
            np.eye(6))


@pytest.fixture(scope="module", params=[five_bar, planar_3rrr, delta, stewart], ids=lambda make: make.__name__)
def case(request):
    return request.param()


@pytest.mark.spec("S2-62", "S2-71")
def test_jacobians_rates_and_forces_are_those_of_the_closed_form(case):
    arm, q, frame, task, Jx, Jq = case
    both = arm.loops.input_output(q, frame, task=task, axes="world")
    L = both.Jq @ np.linalg.inv(Jq)  # another basis of the same relation
    np.testing.assert_allclose(both.Jx, L @ Jx, atol=1e-12)
    assert abs(np.linalg.det(L)) > 1e-3
    rng = np.random.default_rng(1)
    rates, wrench = rng.normal(size=(2, len(Jx)))
    motion = np.linalg.solve(Jx, Jq @ rates)
    np.testing.assert_allclose(both.motion(rates), motion, atol=1e-11)
    np.testing.assert_allclose(both.rates(motion), rates, atol=1e-11)
    forces = both.forces(wrench)
    np.testing.assert_allclose(forces @ rates, wrench @ motion, atol=1e-11)  # the power that goes in comes out
    np.testing.assert_allclose(both.wrench(forces), wrench, atol=1e-10)
    G = arm.loops.actuated_jacobian(q, frame, axes="world")
    rows = [k for k, asked in enumerate({"pose": (1,) * 6, "position": (1, 1, 1, 0, 0, 0)}.get(task, task)) if asked]
    np.testing.assert_allclose(G[rows] @ rates, motion, atol=1e-11)


@pytest.mark.parametrize("make", [five_bar, planar_3rrr, delta])
def test_all_velocities_follow_and_are_those_of_a_closed_motion(make):
    arm, q, frame, _, Jx, _ = make()
    rates = np.random.default_rng(2).normal(size=len(Jx))
    qd = arm.loops.actuated_motion(q, rates)
    np.testing.assert_allclose(arm.loops.jacobian(q) @ qd, 0.0, atol=1e-11)
    np.testing.assert_allclose(qd[list(arm.tree.actuated_velocities)], rates, atol=1e-14)
    step = 1e-5
    moved = [arm.loops.close(arm.integrate(q, s * step * qd)).configuration for s in (-1, 1)]
    np.testing.assert_allclose(arm.difference(*moved) / (2 * step), qd, atol=1e-6)
    G = arm.loops.actuated_jacobian(q, frame, axes="world")
    np.testing.assert_allclose(G @ rates, arm.jacobian(q, frame, axes="world") @ qd, atol=1e-11)


def test_batches_have_the_values_of_single_configurations():
    arm = cy.Mechanism(THREE.tree())
    poses = np.array([1.2, 0.7, 0.1]) + 0.1 * np.random.default_rng(3).normal(size=(4, 5, 3))
    q = THREE.configuration(poses, THREE.inverse_position(poses)[..., 0, :])
    together = arm.loops.input_output(q, "tool", task=PLANE, axes="world")
    rates = np.random.default_rng(4).normal(size=(4, 5, 3))
    motions = together.motion(rates)
    G = arm.loops.actuated_jacobian(q, "tool", axes="world")
    for k in np.ndindex(4, 5):
        np.testing.assert_allclose(motions[k], THREE.pose_rate(poses[k], q[k][[0, 3, 5]], rates[k]), atol=1e-10)
        np.testing.assert_allclose(G[k][[0, 1, 5]] @ rates[k], motions[k], atol=1e-10)
    none = arm.loops.input_output(np.zeros((0, 7)), "tool", task=PLANE, axes="world")
    assert none.motion(np.zeros((0, 3))).shape == (0, 3)
    assert arm.loops.actuated_motion(np.zeros((0, 7)), [1, 2, 3]).shape == (0, 7)


def test_more_actuators_than_freedoms_and_fewer():
    linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    arm = cy.Mechanism(linkage.tree()).variants.with_actuated("crank", "rocker")
    angles = linkage.position(0.7)[0]
    q = linkage.configuration(0.7, angles)
    coupler, rocker = linkage.rates(0.7, angles)
    np.testing.assert_allclose(arm.loops.actuated_motion(q, [1.0, rocker]), [1.0, coupler - 1.0, rocker], atol=1e-12)
    both = arm.loops.input_output(q, "coupler", task=[0, 0, 0, 0, 0, 1], axes="world")
    np.testing.assert_allclose(both.motion([1.0, rocker]), [coupler], atol=1e-12)
    with pytest.raises(SingularityError, match="rates of the actuated joints that the constraints do not allow"):
        both.motion([1.0, rocker + 0.1])
    forces = both.forces([2.0])
    np.testing.assert_allclose(forces @ [1.0, rocker], 2.0 * coupler, atol=1e-12)
    np.testing.assert_allclose(forces, arm.loops.actuated_jacobian(q, "coupler", axes="world")[5] * 2.0, atol=1e-12)
    least = 2.0 * coupler * np.array([1.0, rocker]) / (1 + rocker**2)  # of all that have this power
    np.testing.assert_allclose(forces, least, atol=1e-12)
    timed = cy.Mechanism.of("timed", arm.bodies, arm.joints, frames=arm.frames, loops=arm.loops,
                            constraints=[PrescribedMotion("turn", "crank", "2 * t")])
    for ask in (lambda: timed.loops.actuated_motion,
                lambda: timed.loops.input_output(q, "coupler", task="pose", axes="world")):
        with pytest.raises(UnsupportedError, match="'turn' of timed depends on time"):
            ask()
    with pytest.raises(UnsupportedError, match="its actuated joints: it is under-actuated by no joint"):
        arm.variants.with_actuated().loops.actuated_motion(q, [])


def test_what_has_no_answer_is_said_or_is_not_a_number():
    arm, q, *_ = five_bar()
    both = arm.loops.input_output(q, "point", task="position", axes="world")
    np.testing.assert_allclose(both.rates(np.append(both.motion([1.0, 0.5])[:2], 0.0)), [1.0, 0.5], atol=1e-12)
    with pytest.raises(SingularityError, match="a motion of the frame that the mechanism cannot have"):
        both.rates([0.0, 0.0, 1.0])
    np.testing.assert_allclose(both.forces([0.0, 0.0, 1.0]), 0.0, atol=1e-12)  # the structure carries it
    with pytest.raises(UnreachableError, match="forces that no wrench of this task balances"):
        arm.loops.input_output(q, "point", task=[1, 0, 0, 0, 0, 0], axes="world").wrench([1.0, 0.3])
    with pytest.raises(ConventionError, match="constraints of five-bar are open by"):
        arm.loops.input_output(q + 0.1, "point", task="position", axes="world")
    with pytest.raises(ConventionError, match=r"expected numbers \(..., 2\)"):
        both.motion([1.0])
    wide = FiveBar([(0.0, 0.0), (0.6, 0.0)], cranks=[0.2, 0.2], rods=[0.3, 0.3])
    level = wide.configuration([0.3, 0.2], [np.pi / 2, np.pi / 2])
    machine = cy.Mechanism(wide.tree())
    with pytest.raises(SingularityError, match=r"does not follow from crank1, crank2 .* \(a direct singularity\)"):
        machine.loops.actuated_motion(level, [1.0, 0.0])
    assert np.isnan(machine.loops.actuated_jacobian([level], "point", axes="world")[0, [0, 1, 5]]).all()


@pytest.mark.spec("S2-63", "S2-102")
def test_inverse_direct_and_combined_singularities_of_five_bars():
    narrow = FiveBar([(0.0, 0.0), (0.9, 0.0)], cranks=[0.3, 0.3], rods=[0.3, 0.3])
    arm = cy.Mechanism(narrow.tree())
    straight = arm.loops.actuation_singularity(narrow.configuration([0.6, 0.0], [0.0, 2 * np.pi / 3]), "point",
                                               task=POINT,
                                         axes="world")
    assert straight.kind == "inverse" and straight.actuators == ("crank1",) and not len(straight.gained)
    np.testing.assert_allclose(straight.lost, [[1.0, 0.0]], atol=1e-9)
    np.testing.assert_allclose(straight.idle, [[1.0, 0.0]], atol=1e-9)
    wide = FiveBar([(0.0, 0.0), (0.6, 0.0)], cranks=[0.2, 0.2], rods=[0.3, 0.3])
    arm = cy.Mechanism(wide.tree())
    level = arm.loops.actuation_singularity(wide.configuration([0.3, 0.2], [np.pi / 2, np.pi / 2]), "point", task=POINT,
                                      axes="world")
    assert level.kind == "direct" and level.moving == ("rod1", "rod2") and not level.actuators
    np.testing.assert_allclose(level.gained, [[0.0, 1.0]], atol=1e-9)
    np.testing.assert_allclose(level.impossible @ np.array([1.0, 1.0]), 0.0, atol=1e-9)  # together they may turn
    assert level.mobility == 2 and level.configuration.kind != "bifurcation"
    np.testing.assert_allclose(arm.loops.jacobian(
        wide.configuration([0.3, 0.2], [np.pi / 2, np.pi / 2])) @ level.gained_velocities.T, 0.0, atol=1e-9)
    flat = FiveBar([(0.0, 0.0), (1.0, 0.0)], cranks=[0.2, 0.2], rods=[0.3, 0.3])  # all in a row
    both = cy.Mechanism(flat.tree()).loops.actuation_singularity(flat.configuration([0.5, 0.0], [0.0, np.pi]), "point",
                                                           task=POINT, axes="world")
    assert both.kind == "constraint" and both.mobility == 3
    folded = FiveBar([(0.0, 0.0), (0.9, 0.0)], cranks=[0.2, 0.3], rods=[0.5, 0.3])
    q = folded.configuration([0.3, 0.0], [np.pi, np.pi])  # the first leg folded, the second straight, in a row
    found = cy.Mechanism(folded.tree()).loops.actuation_singularity(q, "point", task=POINT, axes="world")
    assert found.kind == "constraint" and len(found.gained) == 1 and len(found.lost) == 1


@pytest.mark.spec("S2-63", "S2-102")
def test_postures_of_the_planar_3rrr_that_lose_and_gain():
    pose = np.array([0.2, 0.1, 0.3])
    probe = Planar3RRR(np.zeros((3, 2)), [1.0] * 3, [1.0] * 3, 0.7)

    def built(rods, theta):
        cranks = np.array([0.8, 0.7, 0.9])
        pivots = probe.vertices(pose) - rods - cranks[:, None] * np.stack([np.cos(theta), np.sin(theta)], axis=1)
        machine = Planar3RRR(pivots, cranks, np.linalg.norm(rods, axis=1), 0.7)
        return machine, cy.Mechanism(machine.tree()).loops.actuation_singularity(
            machine.configuration(pose, theta), "tool", task=PLANE, axes="world",
            characteristic_length=0.7 / np.sqrt(3))

    point = np.array([0.7, -0.4])
    rods = 0.8 * (point - probe.vertices(pose))
    machine, meeting = built(rods, np.radians([-40.0, 60.0, 170.0]))
    assert meeting.kind == "direct" and "platform" in meeting.moving
    vx, vy, w = meeting.gained[0]
    np.testing.assert_allclose([vx - w * (point - pose[:2])[1], vy + w * (point - pose[:2])[0]], 0.0, atol=1e-8)
    by_form = machine.singularity(pose, np.radians([-40.0, 60.0, 170.0]))
    np.testing.assert_allclose(abs(by_form.gained[0] @ meeting.gained[0]), 1.0, atol=1e-9)
    theta = np.array([np.arctan2(*rods[0][::-1]), 1.0, 3.0])
    machine, both = built(rods, theta)
    assert both.kind == "combined" and both.actuators == ("crank1",)
    np.testing.assert_allclose(abs(machine.singularity(pose, theta).lost[0] @ both.lost[0]), 1.0, atol=1e-9)


def test_a_bifurcation_is_told_from_a_direct_singularity():
    square = FourBar(crank=0.2, coupler=0.5, rocker=0.2, ground=0.5)  # a parallelogram: flat, both modes meet
    arm = cy.Mechanism(square.tree())
    flat = arm.loops.actuation_singularity([0.0, 0.0, 0.0], "rocker", task=[0, 0, 0, 0, 0, 1], axes="world")
    assert flat.kind == "constraint" and flat.mobility == 2 and flat.configuration.kind == "bifurcation"
    assert set(flat.moving) == {"coupler", "rocker"}  # with the crank held
    piston = SliderCrank(crank=0.1, rod=0.35)
    engine = cy.Mechanism(piston.tree())
    top = piston.configuration(0.0, piston.position(0.0)[0])
    by_crank = engine.loops.actuation_singularity(top, "slider", task=[1, 0, 0, 0, 0, 0], axes="world")
    reverse = engine.variants.with_actuated("slider")
    by_piston = reverse.loops.actuation_singularity(top, "crank", task=[0, 0, 0, 0, 0, 1], axes="world")
    assert by_crank.kind == "inverse" and by_piston.kind == "direct"
    assert by_crank.configuration.kind == by_piston.configuration.kind == "dead centre"


def test_a_motion_that_neither_actuators_nor_the_frame_see():
    """A stub with a pivot of its own hangs beside a four-bar: it turns by itself."""
    bar = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37).tree()
    arm = cy.Mechanism.of("with stub", [*bar.bodies, Body("stub")],
                          [*bar.joints, Joint("stub", "coupler", "stub", Revolute())], frames=bar.frames,
                          loops=bar.loops, actuated=["crank"])
    linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    q = np.zeros(4)
    for name, value in zip(["crank", "coupler", "rocker"], linkage.configuration(0.7, linkage.position(0.7)[0]),
                           strict=True):
        q[arm.tree.q_slices[arm.tree.joint_number(name)]] = value
    assert arm.loops.actuation_singularity(q, "rocker", task=[0, 0, 0, 0, 0, 1], axes="world").kind == "regular"
    assert arm.loops.actuation.undriven == ("stub",)


def test_a_delta_whose_parallelograms_lie_in_a_plane_gains_the_way_across():
    machine = TranslationalDelta(crank=0.3, rod=0.4, base=0.35, platform=0.1)
    theta = np.full(3, np.radians(60.0))  # spec S2-102: all rods are level
    out = 0.3 * np.cos(theta[0]) + 0.25
    assert abs(out - 0.4) < 1e-12
    p = np.array([0.0, 0.0, 0.3 * np.sin(theta[0])])
    found = cy.Mechanism(machine.tree()).loops.actuation_singularity(machine.configuration(p, theta), "platform",
                                                               task="position", axes="world")
    assert found.kind == "direct"
    np.testing.assert_allclose(found.gained, [[0.0, 0.0, 1.0]], atol=1e-8)


def test_frames_of_loops_in_turned_axes_and_of_open_arms():
    arm = cy.load("planar2r")
    q = np.array([0.3, 0.9])
    np.testing.assert_allclose(arm.loops.actuated_jacobian(q, "tool", axes="body"),
                               arm.jacobian(q, "tool", axes="body"),
                               atol=1e-14)
    assert arm.loops.actuation_singularity([0.3, 0.0], "tool", task=POINT, axes="world").kind == "inverse"
    tool = cy.load("four_bar")
    G = tool.loops.actuated_jacobian(np.zeros(3), "tool", axes="world", at=[0.1, 0.0, 0.0])
    qd = tool.loops.actuated_motion(np.zeros(3), [2.0])
    np.testing.assert_allclose(G @ [2.0], tool.twist(np.zeros(3), qd, "tool", axes="world", at=[0.1, 0.0, 0.0]),
                               atol=1e-13)


def test_indices_and_joint_forces_of_a_closed_machine_are_by_its_actuated_joints():
    arm, q, frame, task, Jx, Jq = planar_3rrr()
    L = 0.4
    G = np.linalg.solve(Jx, Jq) / [[L], [L], [1.0]]
    found = arm.dexterity.indices(q, frame, task=task, axes="world", characteristic_length=L)
    np.testing.assert_allclose(found.condition_number, np.linalg.cond(G), rtol=1e-10)
    np.testing.assert_allclose(arm.dexterity.manipulability(q, frame, task=task, axes="world", characteristic_length=L),
                               abs(np.linalg.det(G)), rtol=1e-10)
    with pytest.raises(ConventionError, match="different units"):
        arm.dexterity.indices(q, frame, task=task, axes="world")
    wrench = np.array([0.3, -2.0, 0.7, 0.1, 0.2, 1.5])
    forces = arm.dexterity.joint_forces_that_exert(q, wrench, frame, axes="world")
    np.testing.assert_allclose(forces[[0, 3, 5]], np.linalg.solve(Jx, Jq).T @ wrench[[0, 1, 5]], atol=1e-12)
    np.testing.assert_allclose(forces[[1, 2, 4, 6]], 0.0)
    np.testing.assert_allclose(arm.dexterity.joint_forces_that_resist(q, wrench, frame, axes="world"), -forces)


def test_bennetts_linkage_whose_redundancy_moves_with_it():
    from kinematics.test_closure import bennett

    arm = cy.Mechanism(bennett())
    arm = arm.variants.with_actuated(arm.joint_names[0])
    start = arm.loops.close(arm.neutral + 0.4)
    assert start.status == "closed" and not arm.loops.structure.by_structure
    q = start.configuration
    null = np.linalg.svd(arm.loops.jacobian(q))[2][-1]
    np.testing.assert_allclose(arm.loops.actuated_motion(q, [1.5]), 1.5 * null / null[0], atol=1e-9)
    frame = arm.frame_names[0]
    both = arm.loops.input_output(q, frame, task="pose", axes="world")
    np.testing.assert_allclose(both.motion([1.5]), arm.twist(q, 1.5 * null / null[0], frame, axes="world"), atol=1e-9)
    assert arm.loops.actuation_singularity(q, frame, task="pose", axes="world").kind == "regular"


def test_batches_with_singular_configurations_among_others():
    wide = FiveBar([(0.0, 0.0), (0.6, 0.0)], cranks=[0.2, 0.2], rods=[0.3, 0.3])
    arm = cy.Mechanism(wide.tree())
    level = wide.configuration([0.3, 0.2], [np.pi / 2, np.pi / 2])
    plain = wide.configuration([0.3, 0.3], wide.inverse_position([0.3, 0.3])[1])
    straight = wide.configuration([0.5, 0.0], [0.0, wide.inverse_position([0.5 - 1e-12, 0.0])[0, 1]])
    q = np.stack([level, plain, straight])
    both = arm.loops.input_output(q, "point", task=POINT, axes="world")
    motions = both.motion([1.0, 0.4])
    assert np.isnan(motions[0]).all() and np.isfinite(motions[1:]).all()
    np.testing.assert_allclose(motions[1], arm.loops.actuated_jacobian(plain, "point", axes="world")[:2] @ [1.0, 0.4],
                               atol=1e-11)
    rates = both.rates([0.0, 0.3])
    assert np.isfinite(rates[1]).all() and np.isnan(rates[2]).all()
    np.testing.assert_allclose((both.Jx @ motions[..., None])[1:], (both.Jq @ [[1.0], [0.4]])[1:], atol=1e-12)
    assert both.forces(np.ones((3, 2))).shape == (3, 2) and np.isnan(both.forces([0.0, 1.0])[0]).all()


def test_one_more_drive_takes_a_direct_singularity_away():
    wide = FiveBar([(0.0, 0.0), (0.6, 0.0)], cranks=[0.2, 0.2], rods=[0.3, 0.3])
    level = wide.configuration([0.3, 0.2], [np.pi / 2, np.pi / 2])
    arm = cy.Mechanism(wide.tree())
    assert arm.loops.actuation_singularity(level, "point", task=POINT, axes="world").kind == "direct"
    driven = arm.variants.with_actuated("crank1", "rod1", "crank2")
    assert driven.loops.actuation_singularity(level, "point", task=POINT, axes="world").kind == "regular"
    qd = driven.loops.actuated_motion(level, [0.5, 0.2, 0.5])  # the cranks together, and the point up
    np.testing.assert_allclose(driven.loops.jacobian(level) @ qd, 0.0, atol=1e-12)
    np.testing.assert_allclose(qd[:3], [0.5, 0.2, 0.5], atol=1e-12)
    loose = arm.variants.with_actuated("crank1")  # a motion is left everywhere: nothing special about that
    plain = wide.configuration([0.3, 0.3], wide.inverse_position([0.3, 0.3])[1])
    assert loose.loops.actuation_singularity(plain, "point", task=POINT, axes="world").kind == "regular"
