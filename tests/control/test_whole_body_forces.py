"""Accelerations, torques and contact forces of several tasks: against programs of Pinocchio's matrices, which DAQP
solves, closed forms, and properties."""

import daqp
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.control import (
    DampingTask,
    PatchContact,
    PointContact,
    PoseTask,
    PositionTask,
    PostureTask,
)
from cayley.errors import CayleyError, ModelWarning
from cayley.planning import MotionLimits
from model.tripod import FEET, STANDING, states, tripod

WEIGHT = 1e-5
SPRING, MU, BRAKE = 8.0, 0.6, 20.0


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    robot, model = tripod(tmp_path_factory.mktemp("tripod"))
    limits = MotionLimits.of(robot, velocity=np.inf)
    law = robot.tasks([PoseTask("body", gain=SPRING), PostureTask(gain=5.0, weight=1e-2)], level="acceleration",
                      contacts=[PointContact(foot, friction=MU, weight=WEIGHT, gain=BRAKE) for foot in FEET],
                      limits=limits)
    return robot, model, law


def asked(law, q, qd, **more):
    """The answer for a body and a posture that should be as STANDING."""
    pose = np.eye(4)
    pose[:3, 3] = STANDING[:3]
    many = q.shape[:-1]
    return law.at(q, qd, target_body=np.broadcast_to(pose, (*many, 4, 4)),
                  target_posture=np.broadcast_to(STANDING, (*many, len(STANDING))), **more)


def by_pinocchio(model, q, qd, stands=(1, 1, 1)):
    """Torques, accelerations and forces by a program in all three, with the equations of motion as equations."""
    data = model.createData()
    there = np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])
    M = pin.crba(model, data, there)
    M = np.triu(M) + np.triu(M, 1).T
    b = pin.rnea(model, data, there, qd, np.zeros(model.nv))
    pin.forwardKinematics(model, data, there, qd, np.zeros(model.nv))
    pin.computeJointJacobians(model, data, there)
    pin.updateFramePlacements(model, data)

    def frame(name):
        number = model.getFrameId(name)
        J = pin.getFrameJacobian(model, data, number, pin.LOCAL_WORLD_ALIGNED)
        bias = pin.getFrameClassicalAcceleration(model, data, number, pin.LOCAL_WORLD_ALIGNED).vector
        return J, bias, data.oMf[number]

    nv, n = 15, 15 + 9 + 9
    feet = [frame(foot) for foot in FEET]
    J = np.concatenate([rows[:3] for rows, _, _ in feet])
    drift = np.concatenate([bias[:3] for _, bias, _ in feet])
    motion = np.hstack([M, -np.eye(nv)[:, 6:], -J.T])
    still = np.hstack([J, np.zeros((9, 18))])
    on = np.repeat(stands, 3)
    still = np.where(on[:, None], still, np.hstack([np.zeros((9, 24)), np.eye(9)]))
    equal, value = np.vstack([motion, still]), np.concatenate([-b, np.where(on, -drift - BRAKE * J @ qd, 0.0)])
    Jb, bias, here = frame("body")
    wanted_pose = np.concatenate([STANDING[:3] - here.translation, pin.log3(here.rotation.T)])
    costs = [(Jb, SPRING**2 * wanted_pose - 2 * SPRING * Jb @ qd - bias, 1.0),
             (np.eye(nv)[6:], 25.0 * (STANDING[7:] - q[7:]) - 10.0 * qd[6:], 1e-2)]
    P, c = np.zeros((n, n)), np.zeros(n)
    for A, a, weight in costs:
        P[:nv, :nv] += weight * A.T @ A
        c[:nv] -= weight * A.T @ a
    P[24:, 24:] += WEIGHT * np.eye(9)
    P += 1e-11 * np.eye(n)
    mu = MU / np.sqrt(2)
    sides = np.array([[1, 0, mu], [-1, 0, mu], [0, 1, mu], [0, -1, mu]])
    cones = np.hstack([np.zeros((12, 24)), np.kron(np.eye(3), sides)])
    torques = np.hstack([np.zeros((9, 15)), np.eye(9), np.zeros((9, 9))])
    room = np.full(9, 30.0)
    low_a = -100.0 * (q[7:] + 2.5) - 20.0 * qd[6:]
    high_a = 100.0 * (2.5 - q[7:]) - 20.0 * qd[6:]
    joints = np.hstack([np.eye(nv)[6:], np.zeros((9, 18))])
    rows = np.vstack([cones, torques, joints, equal])
    low = np.concatenate([np.zeros(12), -room, low_a, value])
    high = np.concatenate([np.full(12, 1e30), room, high_a, value])
    sense = np.concatenate([np.zeros(30), np.full(len(value), 5)]).astype(np.int32)
    x, _, flag, _ = daqp.solve(P, c, rows, high, low, sense)
    assert flag == 1
    return x[:15], x[15:24], x[24:], lambda y: y @ (P @ y / 2 + c)




def test_the_best_torques_and_forces_are_those_of_daqp(standing):
    """Tripods in random states: the same optimum by a program in accelerations, torques and forces."""
    _, model, law = standing
    q, qd = states(25)
    found = asked(law, q, qd)
    assert (found.outputs["status"] == 0).all() and np.abs(found.active).sum() > 0
    for k in range(25):
        qdd, tau, f, cost = by_pinocchio(model, q[k], qd[k])
        forces = np.concatenate([found.outputs[f"force_{foot}"][k] for foot in FEET])
        least, ours = (cost(np.concatenate(x)) for x in ((qdd, tau, f), (found.qdd[k], found.tau[k, 6:], forces)))
        assert abs(ours - least) < 1e-8 * (1.0 + abs(least))
        assert np.abs(found.qdd[k] - qdd).max() < 1e-6 * max(1.0, np.abs(qdd).max())
        assert np.abs(found.tau[k, 6:] - tau).max() < 1e-4 and np.abs(forces - f).max() < 1e-3


def test_what_is_found_obeys_the_equations_of_motion(standing):
    """M qdd + b = tau + J^T f by Pinocchio, feet without acceleration, cones and torques within their limits."""
    robot, model, law = standing
    q, qd = states(500, seed=3)
    found = asked(law, q, qd)
    solved = found.outputs["status"] == 0
    assert solved.mean() > 0.9 and np.isfinite(found.tau).all()
    tau = robot.inverse_dynamics(q, qd, found.qdd)
    for foot in FEET:
        f = found.outputs[f"force_{foot}"]
        J = robot.jacobian(q, foot, axes="world")[:, :3]
        tau = tau - np.einsum("kij,ki->kj", J, f)
        side = MU / np.sqrt(2) * f[:, 2:] - np.abs(f[:, :2])
        assert side[solved].min() > -1e-5
    assert np.abs(tau - found.tau)[solved].max() < 1e-5
    assert np.abs(found.tau).max() <= 30.0 + 1e-5
    data = model.createData()
    there = np.concatenate([q[0, :3], q[0, 4:7], q[0, 3:4], q[0, 7:]])
    by_pin = pin.rnea(model, data, there, qd[0], found.qdd[0])
    assert np.allclose(by_pin, robot.inverse_dynamics(q[0], qd[0], found.qdd[0]), atol=1e-9)


def test_standing_feet_carry_the_weight(standing):
    robot, _, law = standing
    found = asked(law, STANDING, np.zeros(15))
    whole = sum(found.outputs[f"force_{foot}"] for foot in FEET)
    mass = sum(body.mass or 0.0 for body in robot.tree.bodies)
    com = robot.center_of_mass(STANDING)
    falling = mass * (np.asarray(found.qdd)[:3])
    assert np.abs(whole[:2]).max() < 1.0 and abs(whole[2] - 9.81 * mass) < 2.0 and np.abs(falling).max() < 2.0
    places = [np.asarray(robot.pose(STANDING, foot))[:3, 3] for foot in FEET]
    moment = sum(np.cross(p - com, found.outputs[f"force_{foot}"]) for p, foot in zip(places, FEET, strict=True))
    assert np.abs(moment).max() < 0.5 and found.status == "solved"


def test_a_lifted_foot_presses_nothing_and_moves(standing):
    robot, _, law = standing
    q, qd = states(3, seed=5)
    found = asked(law, q, 0 * qd, contact_foot2=np.zeros(3))
    assert (found.force_foot2 == 0.0).all()
    J = robot.jacobian(q, "foot2", axes="world")[:, :3]
    assert np.abs(np.einsum("kij,kj->ki", J, found.qdd)).max() > 1e-3
    for foot in FEET[:2]:
        J = robot.jacobian(q, foot, axes="world")[:, :3]
        assert np.abs(np.einsum("kij,kj->ki", J, found.qdd)).max() < 1e-6


def test_contacts_that_cannot_hold_say_so(standing):
    """A body thrown sideways: no force within the cones keeps the feet where they are."""
    _, _, law = standing
    qd = np.zeros(15)
    qd[0], qd[2] = 3.0, 4.0
    found = asked(law, STANDING, qd)
    assert found.status == "limits contradict" and found.excess > 1e-3 and np.isfinite(found.tau).all()
    assert "contradict" in found.reason and np.abs(found.tau).max() <= 30.0 + 1e-5


def test_a_slide_takes_the_force_of_its_tasks_and_keeps_its_limit():
    """Closed form: m a = tau, a = gain^2 (target - q) - 2 gain qd, unless the limit of the force is less."""
    from cayley.model.joint_kinds import Prismatic
    from cayley.model.parts import Body, Frame, Joint, Limits
    limits = Limits(lower=(-1.0,), upper=(1.0,), velocity=(2.0,), effort=(10.0,))
    rail = cy.Mechanism.of("rail", [Body("ground"), Body("cart", 2.0)],
                           [Joint("slide", "ground", "cart", Prismatic(), limits=limits)],
                           frames=[Frame("tip", "cart")],
                           gravity=(0, 0, 0))
    law = rail.tasks([PostureTask(gain=3.0)], level="acceleration", approach=5.0)
    q, qd = np.array([[0.0], [0.0], [0.9], [0.9]]), np.array([[0.0], [0.5], [0.0], [0.6]])
    found = law.at(q, qd, target_posture=[[0.2], [0.2], [2.0], [2.0]])
    wanted = 9.0 * (np.array([0.2, 0.2, 2.0, 2.0]) - q[:, 0]) - 6.0 * qd[:, 0]
    most = np.minimum(25.0 * (1.0 - q[:, 0]) - 10.0 * qd[:, 0], 5.0 * (2.0 - qd[:, 0]))
    assert np.allclose(found.tau[:, 0], 2.0 * np.clip(np.minimum(wanted, most), -5.0, 5.0), atol=1e-6)


def test_two_links_are_driven_as_resolved_acceleration_says():
    """Closed form of a planar arm: J qdd + J' qd is what the task asks, and tau that of inverse dynamics."""
    arm = cy.load("planar2r")
    law = arm.tasks([PositionTask("tool", axes="xy", gain=4.0)], level="acceleration", limits=MotionLimits())
    q, qd, target = np.array([0.3, 0.9]), np.array([0.4, -0.2]), np.array([0.5, 0.4, 0.0])
    found = law.at(q, qd, target)
    J = arm.jacobian(q, "tool", axes="world")[:2]
    missing = target[:2] - np.asarray(arm.pose(q, "tool"))[:2, 3]
    bias = (arm.jacobian_rate(q, qd, "tool", axes="world") @ qd)[:2]
    qdd = np.linalg.solve(J, 16.0 * missing - 8.0 * J @ qd - bias)
    assert np.abs(found.qdd - qdd).max() < 1e-5
    assert np.abs(found.tau - arm.inverse_dynamics(q, qd, qdd)).max() < 1e-5


@pytest.mark.parametrize("name", ["four_bar", "three_rrr"])
def test_machines_with_loops_keep_them_closed(name):
    """Accelerations of closed mechanisms keep their constraints, and the drives alone bring them about."""
    arm = cy.load(name)
    law = arm.tasks([PostureTask(gain=3.0)], level="acceleration", limits=MotionLimits())
    q = np.asarray(arm.random_configuration(5, seed=1))
    qd = np.zeros((5, arm.nv))
    found = law.at(q, qd, np.asarray(arm.random_configuration(5, seed=2)))
    assert (found.outputs["status"] == 0).all()
    assert np.abs(np.einsum("kij,kj->ki", arm.loops.jacobian(q), found.qdd)).max() < 1e-6 * np.abs(found.qdd).max()
    assert np.allclose(arm.forward_dynamics(q, qd, found.tau), found.qdd, atol=1e-6 * np.abs(found.qdd).max())
    undriven = [k for k in range(arm.nv) if k not in arm.tree.actuated_velocities]
    assert (found.tau[:, undriven] == 0.0).all()


def test_a_patch_holds_what_four_corners_hold():
    """Random forces at the corners, each within its pyramid, are within the sides of the patch; scaled moments beyond
    are not what any corners can do, by a linear program."""
    from scipy.optimize import linprog
    arm = cy.load("panda")
    X, Y, mu = 0.11, 0.06, 0.7
    patch = PatchContact("tool", friction=mu, half_length=X, half_width=Y)
    sides = patch._own_sides()
    rng = np.random.default_rng(0)
    c = mu / np.sqrt(2)
    corners = np.array([[x, y, 0.0] for x in (-X, X) for y in (-Y, Y)])
    sides_of = np.array([[1, 0, c], [-1, 0, c], [0, 1, c], [0, -1, c]])
    rays = np.array([[a * c, b * c, 1.0] for a in (-1, 1) for b in (-1, 1)])
    wrenches = np.array([np.concatenate([ray, np.cross(p, ray)]) for p in corners for ray in rays])
    assert (wrenches @ sides.T).min() > -1e-12 and (rays @ sides_of.T).min() > -1e-12
    agreed = set()
    for _ in range(200):
        w = rng.dirichlet(np.full(16, 0.2)) @ wrenches * 100.0
        w[3:] *= rng.uniform(0.5, 1.8)
        possible = linprog(np.zeros(16), A_eq=wrenches.T, b_eq=w, bounds=(0, None)).status == 0
        assert (sides @ w).min() > -1e-6 if possible else (sides @ w).min() < 1e-6
        agreed.add(possible)
    assert agreed == {True, False} and len(patch.words) == len(sides) and arm.nv == 7


@pytest.mark.parametrize(("made", "words"), [
    (lambda: PointContact("foot", friction=-1.0), "friction"),
    (lambda: PointContact("foot", normal=(0, 0, 0)), "normal"),
    (lambda: PointContact("foot", sides_of_pyramid=2), "3 sides"),
    (lambda: cy.load("panda").tasks([DampingTask()], contacts=[PointContact("fot")]), "fot"),
    (lambda: cy.load("panda").tasks([DampingTask()], level="force"), "acceleration")])
def test_wrong_contacts_are_named(made, words):
    with pytest.raises(CayleyError, match=words):
        made()


def test_torques_without_limits_are_said():
    arm = cy.load("planar2r")
    with pytest.warns(ModelWarning, match="velocity"), pytest.warns(ModelWarning, match="no limit of torque"):
        arm.tasks([DampingTask()], level="acceleration")
