"""Walls, and the laws that press on them: closed forms of their equations, an independent simulation in MuJoCo, wrong
models, limits, singular postures, NaN."""

import ctypes

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import cayley as cy
from cayley.control import (
    Selection,
    admittance_control,
    force_control,
    hybrid_control,
    impedance_control,
    null_space_control,
    operational_space,
    plane_gap,
    saturation,
    sphere_gap,
    surface,
    wall,
)
from cayley.errors import ConventionError, GeometryError, ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Joint
from cayley.systems.text_kernels import output_kernel
from compiler.parity import compiled_c
from systems.plants import rods

CLOSE = {"rtol": 1e-11, "atol": 1e-12}
PLANE = [True, True, False, False, False, False]
START = {"q": [0.4, -1.2], "qd": [0.0, 0.0]}


def slider(mass=2.0):
    """A mass that slides along x and y, without gravity."""
    return cy.Mechanism.of(
        "slider", [Body("base"), Body("carriage", 0.0), Body("block", mass, [0.0, 0.0, 0.0], 0.01 * np.eye(3))],
        [Joint("x", "base", "carriage", Prismatic((1.0, 0.0, 0.0))),
         Joint("y", "carriage", "block", Prismatic((0.0, 1.0, 0.0)))], gravity=[0.0, 0.0, 0.0])


def in_pinocchio(arm):
    """The same chain, joint by joint."""
    model = pin.Model()
    moved = {arm.bodies[0].name: (0, pin.SE3.Identity())}
    bodies = {body.name: body for body in arm.bodies}
    for joint in arm.joints:
        parent, place = moved[joint.parent]
        place = place * pin.SE3(joint.placement)
        if joint.motion.nv:
            parent = model.addJoint(parent, pin.JointModelRevoluteUnaligned(*joint.motion.axis), place, joint.name)
            place = pin.SE3.Identity()
        body = bodies[joint.child]
        if body.mass:
            model.appendBodyToJoint(parent, pin.Inertia(body.mass, body.center, body.inertia), place)
        moved[joint.child] = parent, place
    return model


def loaded(arm, axes="body"):
    return arm.system(wrenches=["tool"], axes=axes)


def outputs(system, x=None, **u):
    given = {name: np.broadcast_to(u.get(name, port.default), port.shape) for name, port in system.ports.items()}
    state = np.zeros(system.layout.size) if x is None else x
    return output_kernel(system)(0.0, state, *given.values(), *system.parameters.values())


@pytest.fixture(scope="module")
def arm():
    return rods()


@pytest.fixture(scope="module")
def long_arm():
    """Three rods in the plane, of which a point asks for two."""
    return rods((0.5, 0.4, 0.3), (2.0, 1.5, 1.0))


@pytest.fixture(scope="module")
def floor(arm):
    return wall(arm, "tool", [0.0, -0.2, 0.0], [0.0, 1.0, 0.0], 1e4)


@pytest.fixture(scope="module")
def laws(arm):
    return [operational_space(arm, "tool", 50.0, 10.0, 2.0, task=PLANE),
            force_control(arm, "tool", ["y"], 0.1, 5.0, 0.5, wind_up=3.0),
            hybrid_control(arm, "tool", Selection(["x"], ["y"]), 100.0, 20.0, 0.1, 0.5, wind_up=3.0),
            impedance_control(arm, "tool", 300.0, 40.0, 2.0, task=PLANE),
            impedance_control(arm, "tool", 300.0, 40.0, task=PLANE)]


# Walls


def test_a_mass_against_a_wall_is_a_damped_spring_and_leaves_it():
    """In contact the closed form of m x'' + c x' + k x = 0; the force never pulls, and afterwards the mass is free."""
    m, k, c, speed = 2.0, 800.0, 30.0, 1.5
    body = slider(m)
    loop = cy.connect(body.system(wrenches=["block"]), wall(body, "block", [0.0] * 3, [0.0, 1.0, 0.0], k, damping=c))
    start = {"q": [0.0, 0.0], "qd": [0.0, -speed]}
    t = np.linspace(0, 0.3, 31)
    run = loop.simulate(start, times=t, **CLOSE)
    w = np.sqrt(k / m - (c / 2 / m) ** 2)
    depth = speed / w * np.exp(-c / 2 / m * t) * np.sin(w * t)
    slope = speed * np.exp(-c / 2 / m * t) * (np.cos(w * t) - c / 2 / m / w * np.sin(w * t))
    touching = (k * depth + c * slope > 0) & (t > 0) & (t < np.pi / w)
    assert touching.sum() > 8 and np.abs(run["q"][:, 1] + depth)[touching].max() < 1e-9
    assert (run["wrench_block"][:, 1] >= 0).all() and run["depth"][-1] < 0 and (run["wrench_block"][-1] == 0).all()
    assert np.abs(run["wrench_block"][touching, 1] - (k * depth + c * slope)[touching]).max() < 1e-6
    rolled = loop.rollout()(start, step=1e-4, steps=3000, every=100)
    assert np.abs(rolled["q"] - run["q"]).max() < 1e-4


def test_without_damping_and_friction_a_bounce_costs_nothing():
    body = slider()
    loop = cy.connect(body.system(wrenches=["block"], axes="world"),
                      surface(body, "block", sphere_gap([0.0, 0.0, 0.0], 0.3), 1e4, axes="world"))
    run = loop.simulate({"q": [0.1, 0.5], "qd": [0.0, -1.0]}, until=0.6, **CLOSE)
    assert run.end["q"] @ run.end["q"] > 0.3**2 and np.linalg.norm(run.end["qd"]) == pytest.approx(1.0, abs=1e-7)
    turned = np.cross([*run["q"][0], 0.0], [0.0, -1.0, 0.0])[2]  # the momentum about the centre stays too
    assert run.end["q"][0] * run.end["qd"][1] - run.end["q"][1] * run.end["qd"][0] == pytest.approx(turned, abs=1e-8)


def test_friction_is_coulombs_above_its_creep_and_creeps_below():
    body = slider()
    mu, k, creep = 0.4, 1e4, 1e-3
    ground = wall(body, "block", [0.0] * 3, [0.0, 2.0, 0.0], k, friction=mu, creep=creep)
    for v in (0.5, -0.02, 1e-4):
        found = outputs(ground, q=np.array([0.0, -0.01]), qd=np.array([v, 0.0]))[0]
        assert found == pytest.approx([-mu * 100 * v / np.hypot(v, creep), 100.0, 0, 0, 0, 0], abs=1e-9)
    loop = cy.connect(body.system(wrenches=["block"]), ground)
    held = loop.simulate({"q": [0.0, -0.01], "qd": [0.0, 0.0]}, until=2.0, inputs={"tau": [30.0, -100.0]}, **CLOSE)
    assert held.end["qd"][0] == pytest.approx(creep * 30 / np.sqrt(40**2 - 30**2), rel=1e-6)
    slides = loop.simulate({"q": [0.0, -0.01], "qd": [0.0, 0.0]}, until=2.0, inputs={"tau": [50.0, -100.0]}, **CLOSE)
    assert slides.end["qd"][0] == pytest.approx((50.0 - 40.0) / 2.0 * 2.0, rel=1e-2)


def test_surfaces_of_any_shape_push_along_their_gradient(arm):
    """A hill by its height, a hollow ball, a corner of two walls; in the root's axes and in the tool's."""
    q, qd = np.array([0.1, -0.9]), np.array([0.4, -0.2])
    p = arm.pose(q, "tool")[:3, 3]
    height = 0.3 * np.sin(2 * p[0]) + 0.1
    steep = np.array([-0.6 * np.cos(2 * p[0]), 1.0, 0.0])
    n = steep / np.linalg.norm(steep)
    depth = (height - p[1]) / np.linalg.norm(steep)
    hill = surface(arm, "tool", lambda p: p[1] - 0.3 * np.sin(2 * p[0]) - 0.1, 2e3, axes="world")
    force, found = outputs(hill, q=q, qd=qd)
    assert depth > 0.1 and found == pytest.approx(depth) and force[:3] == pytest.approx(2e3 * depth * n)
    there, _ = outputs(surface(arm, "tool", lambda p: p[1] - 0.3 * np.sin(2 * p[0]) - 0.1, 2e3), q=q, qd=qd)
    assert arm.pose(q, "tool")[:3, :3] @ there[:3] == pytest.approx(force[:3])
    hollow, deep = outputs(surface(arm, "tool", sphere_gap([0.0] * 3, -0.5), 1e3, axes="world"), q=q, qd=qd)
    assert deep == pytest.approx(np.linalg.norm(p) - 0.5)
    assert hollow[:3] == pytest.approx(-1e3 * deep * p / np.linalg.norm(p))
    one, two = plane_gap([0.0, 0.5, 0.0], [0.0, 1.0, 0.0]), plane_gap([2.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    corner, _ = outputs(surface(arm, "tool", lambda p: np.minimum(one(p), two(p)), 1e3, axes="world"), q=q, qd=qd)
    assert corner[:3] == pytest.approx([1e3 * (2.0 - p[0]), 0.0, 0.0])  # the deeper of both


def test_wrong_walls_are_named(arm):
    for normal, point in (([0.0, 0.0, 0.0], [0.0] * 3), ([0.0, 1.0], [0.0] * 3), ([0.0, 1.0, 0.0], [np.nan] * 3)):
        with pytest.raises(GeometryError, match="wall"):
            wall(arm, "tool", point, normal, 1e4)
    with pytest.raises(GeometryError, match="radius"):
        sphere_gap([0.0] * 3, 0.0)
    for word, values in (("stiffness", {"stiffness": -1.0}), ("friction", {"friction": np.nan}),
                         ("creep", {"creep": 0.0})):
        with pytest.raises(SignatureError, match=word):
            wall(arm, "tool", [0.0] * 3, [0.0, 1.0, 0.0], **{"stiffness": 1.0, **values})
    with pytest.raises(SignatureError, match="one number"):
        surface(arm, "tool", lambda p: p, 1e4)
    with pytest.raises(ModelError, match="no frame"):
        wall(arm, "tol", [0.0] * 3, [0.0, 1.0, 0.0], 1e4)
    with pytest.raises(ConventionError, match="axes"):
        wall(arm, "tool", [0.0] * 3, [0.0, 1.0, 0.0], 1e4, axes="tool")


def test_wrenches_in_different_axes_are_not_joined(arm, floor):
    law = force_control(arm, "tool", "y", 0.1, 60.0, axes="world")
    with pytest.raises(SignatureError, match="which is in N; N m in the root"):
        cy.connect(loaded(arm), floor, law)
    with pytest.raises(SignatureError, match="wrench_tool"):
        cy.connect(loaded(arm, "world"), floor)


# Operational space


def test_operational_space_by_the_quantities_of_pinocchio():
    """Lambda, mu and p of a Panda, the projection and a redundant arm's own forces, all by another library."""
    arm = cy.load("panda")
    model = in_pinocchio(arm)
    data = model.createData()
    law = operational_space(arm, "panda_link8", 100.0, 20.0, null_damping=3.0)
    rng = np.random.default_rng(1)
    tip = arm.pose(np.zeros(7), "panda_link8")
    pin.framesForwardKinematics(model, data, np.zeros(7))
    offset = data.oMi[7].actInv(pin.SE3(tip))
    bent = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
    for _ in range(4):
        q, qd = rng.uniform(-1, 1, 7) + bent, rng.normal(size=7)
        tau0, rate, ahead = rng.normal(size=7), rng.normal(size=6), rng.normal(size=6)
        target = arm.pose(q + 0.1 * rng.normal(size=7), "panda_link8")
        pin.computeAllTerms(model, data, q, qd)
        pin.forwardKinematics(model, data, q, qd, np.zeros(7))
        M = np.triu(data.M) + np.triu(data.M, 1).T
        here = data.oMi[7] * offset
        arm_of = here.translation - data.oMi[7].translation
        J = pin.getJointJacobian(model, data, 7, pin.LOCAL_WORLD_ALIGNED)
        J = np.vstack([J[:3] - pin.skew(arm_of) @ J[3:], J[3:]])
        w = J[3:] @ qd
        R = data.oMi[7].rotation
        a = pin.getClassicalAcceleration(model, data, 7, pin.LOCAL)
        dw = R @ a.angular
        drift = np.concatenate([R @ a.linear + np.cross(dw, arm_of) + np.cross(w, np.cross(w, arm_of)), dw])
        e = np.concatenate([target[:3, 3] - here.translation, pin.log3(target[:3, :3] @ here.rotation.T)])
        wanted = ahead + 20 * (rate - J @ qd) + 100 * e
        h = data.nle
        Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
        inverse = np.linalg.solve(M, J.T) @ Lambda
        g = pin.computeGeneralizedGravity(model, data, q)
        mu = Lambda @ (J @ np.linalg.solve(M, h - g) - drift)
        p = inverse.T @ g
        besides = (np.eye(7) - J.T @ inverse.T) @ (h + tau0 - 3.0 * M @ qd)
        known = J.T @ (Lambda @ wanted + mu + p) + besides
        found = outputs(law, q=q, qd=qd, target=target, target_rate=rate, target_acceleration=ahead, null_tau=tau0)
        assert np.abs(found - known).max() < 1e-9 * np.abs(known).max()


def test_the_error_decays_as_its_equation_says_with_integral_action_too(arm):
    e0 = np.array([0.05, -0.08])
    target = arm.pose([0.1, 1.2], "tool")[:3, 3] + [*e0, 0.0]
    t = np.linspace(0, 0.6, 7)
    for ki in (None, 150.0):
        loop = cy.connect(arm, operational_space(arm, "tool", 100.0, 20.0, ki, task=PLANE))
        run = loop.simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, times=t, inputs={"target": target}, **CLOSE)
        A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-(ki or 0.0), -100.0, -20.0]])
        known = np.array([(expm(A * s) @ [0.0, 1.0, 0.0])[1] for s in t])
        left = target[:2] - arm.pose(run["q"], "tool")[:, :2, 3]
        assert np.abs(left - np.outer(known, e0)).max() < 1e-9


def test_turns_decay_without_wrap_around():
    arm = cy.load("puma560")
    q = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4])
    here = arm.pose(q, "tool")
    spin = np.eye(4)
    spin[:2, :2] = [[np.cos(3.0), -np.sin(3.0)], [np.sin(3.0), np.cos(3.0)]]
    loop = cy.connect(arm, operational_space(arm, "tool", 100.0, 20.0))
    run = loop.rollout()({"q": q, "qd": np.zeros(6)}, step=1e-3, steps=500, every=100, inputs={"target": here @ spin})
    R = here[:3, :3].T @ arm.pose(run["q"], "tool")[:, :3, :3]
    left = 3.0 * np.exp(-10 * run.t) * (1 + 10 * run.t)
    assert np.abs(3.0 - np.arctan2(R[:, 1, 0], R[:, 0, 0]) - left).max() < 1e-6
    assert np.abs(arm.pose(run["q"], "tool")[:, :3, 3] - here[:3, 3]).max() < 1e-7


def test_what_a_redundant_arm_does_besides_is_not_felt_by_its_task(long_arm):
    """The path of the tool is the closed form under any forces besides; the posture gets where it can."""
    e0 = np.array([0.1, -0.05])
    q = np.array([0.3, 1.2, -0.9])
    target = long_arm.pose(q, "tool")[:3, 3] + [*e0, 0.0]
    law = operational_space(long_arm, "tool", 100.0, 20.0, task=PLANE)
    start = {"q": q, "qd": np.zeros(3)}
    alone = cy.connect(long_arm, law)
    postures = []
    for pulled in ([0.0, 0.0, 0.0], [6.0, -4.0, 2.0]):
        run = alone.rollout()(start, step=5e-4, steps=1200, every=200, inputs={"target": target, "null_tau": pulled})
        left = target[:2] - long_arm.pose(run["q"], "tool")[:, :2, 3]
        assert np.abs(left - np.outer(np.exp(-10 * run.t) * (1 + 10 * run.t), e0)).max() < 1e-8
        postures.append(run.end["q"])
    assert np.abs(postures[0] - postures[1]).max() > 0.1
    both = cy.connect(long_arm, law.renamed({"tau": "task_tau"}),
                      null_space_control(long_arm, "tool", 200.0, 8.0, task=PLANE))
    wanted = np.array([0.9, -0.3, 0.5])
    run = both.rollout()(start, step=5e-4, steps=6000, every=200, inputs={"target": target, "posture": wanted})
    left = target[:2] - long_arm.pose(run["q"], "tool")[:, :2, 3]
    assert np.abs(left - np.outer(np.exp(-10 * run.t) * (1 + 10 * run.t), e0)).max() < 1e-8
    end = run.end["q"]  # the nearest posture: what is left of the pull is what the task holds
    J = long_arm.jacobian(end, "tool", axes="world")[:2]
    assert np.abs(run.end["qd"]).max() < 1e-4
    assert np.abs(np.cross(*J) @ (wanted - end)) < 1e-3 * np.linalg.norm(np.cross(*J))


def test_the_projection_accelerates_nothing_of_the_task(long_arm):
    law = null_space_control(long_arm, "tool", [40.0, 30.0, 5.0], 2.0, task=PLANE)
    rng = np.random.default_rng(0)
    for _ in range(5):
        q, qd, posture = rng.uniform(-1, 1, size=(3, 3)) + 0.4
        besides = outputs(law, q=q, qd=qd, task_tau=np.zeros(3), posture=posture)
        J = long_arm.jacobian(q, "tool", axes="world")[:2]
        assert np.abs(J @ np.linalg.solve(long_arm.inertia_matrix(q), besides)).max() < 1e-10 * np.abs(besides).max()
        assert np.abs(besides).max() > 0.1


def test_forces_are_bounded_at_singular_postures(laws):
    given = {"qd": np.array([0.5, -1.0]), "target": np.array([0.4, 0.3, 0.0]), "target_force": 10.0,
             "wrench_tool": np.array([5.0, 3.0, 0.0, 0.0, 0.0, 0.0])}
    for law in laws:
        for q1 in (0.0, 0.3, np.pi / 2):
            for q2 in (0.0, 1e-9, 1e-4, np.pi):
                tau = outputs(law, q=np.array([q1, q2]), **given)
                assert np.isfinite(tau).all() and np.abs(tau).max() < 5e3 and tau.any(), (law.name, q1, q2)


def test_targets_out_of_reach_are_pointed_at(arm):
    """Stretched towards it, under limited forces, of both ways to move a frame."""
    for law in (operational_space(arm, "tool", 100.0, 20.0, task=PLANE),
                impedance_control(arm, "tool", 200.0, 60.0, task=PLANE)):
        loop = cy.connect(arm, law.renamed({"tau": "wanted_tau"}), saturation("tau", [200.0, 100.0]))
        run = loop.rollout()({"q": [0.5, 1.0], "qd": [0.0, 0.0]}, step=5e-4, steps=8000, every=10,
                             inputs={"target": [0.0, 1.5, 0.0]})
        assert np.isfinite(run["q"]).all() and np.abs(run["tau"]).max() <= 200.0
        assert arm.pose(run.end["q"], "tool")[1, 3] > 0.85


# Force


@pytest.fixture(scope="module")
def pressing(arm):
    """Batches of tools that start 1 mm deep in walls: gains and walls each of their own."""
    y = arm.pose(START["q"], "tool")[1, 3]
    ground = wall(arm, "tool", [0.0, y + 1e-3, 0.0], [0.0, 1.0, 0.0], 1e4)
    law = force_control(arm, "tool", "y", 0.1, 60.0, 0.5)
    loop = cy.connect(loaded(arm), ground, law)
    roll = loop.rollout(parameters=["wall_stiffness", "wall_damping", "kd", "ki"])

    def rolled(K, c, kd, ki, force, **steps):
        numbers = {"wall_stiffness": K, "wall_damping": c, "kd": np.reshape(kd, (-1, 1)), "ki": np.reshape(ki, (-1, 1))}
        return roll(START, parameters=numbers, inputs={"target_force": -np.reshape(force, (-1, 1))}, **steps)

    return rolled


def test_the_force_obeys_a_cubic_on_walls_of_any_stiffness(pressing):
    """s^3 + (kd + kf c) s^2 + (kf K + ki c) s + ki K, from a depth of 1 mm, in closed form."""
    kf, kd, ki = 0.1, 60.0, 0.5
    K, c = np.array([1e3, 1e4, 1e5]), np.array([0.0, 20.0, 0.0])
    force = 1.3e-3 * K
    run = pressing(K, c, [kd] * 3, [ki] * 3, force, step=1e-4, steps=4000, every=500)
    for k in range(3):
        A = np.array([[0.0, 1.0, 0.0], [-kf * K[k], -kd - kf * c[k], ki], [-K[k], -c[k], 0.0]])  # depth, its rate, -z
        rest = np.array([1.3e-3, 0.0, 0.0])
        known = np.array([rest + expm(A * t) @ (np.array([1e-3, 0.0, 0.0]) - rest) for t in run[k].t])
        assert np.abs(run["depth"][k] - known[:, 0]).max() < 1e-9
        assert np.abs(run["integral"][k, :, 0] + known[:, 2]).max() < 1e-6


def test_rouths_limit_of_force_control_does_not_know_the_wall(pressing):
    kf, kd = 0.1, 40.0
    K = np.array([2e3, 2e3, 5e4, 5e4])
    factor = np.array([0.9, 1.1, 0.9, 1.1])
    run = pressing(K, [0.0] * 4, [kd] * 4, factor * kd * kf, 0.97e-3 * K, step=2e-4, steps=6000, every=10)
    off = np.abs(run["depth"] - 0.97e-3)
    assert np.array_equal(off[:, -150:].max(axis=1) < off[:, :150].max(axis=1), factor < 1)


@pytest.mark.spec("S3-53")
def test_the_wanted_force_is_reached_exactly_with_a_wrong_model(arm, floor):
    """A payload that the law does not know: an offset d / kf without integral action, none with it."""
    plant = arm.with_payload("tool", 0.5)
    law = force_control(arm, "tool", "y", 0.1, 60.0, 0.5, wind_up=20.0)
    run = cy.connect(loaded(plant), floor, law).rollout(parameters=["ki"])(
        START, step=5e-4, steps=12000, every=12000, inputs={"target_force": [-25.0]}, parameters={"ki": [[0.0], [0.5]]})
    left = 1e4 * run["depth"][:, -1] - 25.0
    q = run.end["q"][0]
    J = arm.jacobian(q, "tool", axes="world")[1]
    d = -J @ np.linalg.solve(arm.inertia_matrix(q), plant.gravity_forces(q) - arm.gravity_forces(q))
    assert left[0] == pytest.approx(-d / 0.1, rel=1e-3) and abs(left[0]) > 5.0  # it pulls the tool down
    assert abs(left[1]) < 1e-6


def test_a_tool_that_does_not_touch_goes_to_the_wall_with_limited_windup(arm):
    y = arm.pose(START["q"], "tool")[1, 3]
    far = wall(arm, "tool", [0.0, y - 0.05, 0.0], [0.0, 1.0, 0.0], 1e4, damping=50.0)
    law = force_control(arm, "tool", "y", 0.1, 60.0, 0.5, wind_up=2.0)
    run = cy.connect(loaded(arm), far, law).rollout()(START, step=5e-4, steps=8000, every=20,
                                                      inputs={"target_force": [-25.0]})
    assert (np.abs(0.5 * run["integral"]) < 2.0 + 0.05).all()
    free = run["depth"] < 0
    speed = -np.diff(-run["depth"])[free[:-1]] / np.diff(run.t)[free[:-1]]
    assert free.sum() > 20 and speed.max() < (0.1 * 25.0 + 2.0) / 60.0 + 1e-3
    assert 1e4 * run["depth"][-1] == pytest.approx(25.0, abs=1e-3)


# Force and position


def test_selections_are_complementary():
    assert Selection.in_contact(velocity="z", force=["x", "y"]) == Selection(position=("x", "y"), force=("z",))
    assert Selection(position=["x", "rz"]).rows == (0, 5) and Selection(["x"], ["ry"]).pressed == (1,)
    with pytest.raises(UnsupportedError, match="clash along x, rz"):
        Selection(["x", "y", "rz"], ["x", "rz"])
    with pytest.raises(SignatureError, match="in the order x, y, z"):
        Selection(force=["z", "x"])
    with pytest.raises(UnsupportedError, match="clash along z"):
        Selection.in_contact(velocity=["z"], force=["x", "z"])
    with pytest.raises(SignatureError, match="not 'w'"):
        Selection(["w"])
    with pytest.raises(SignatureError, match="twice"):
        Selection(["x", "x"])
    with pytest.raises(SignatureError, match="at least one axis"):
        Selection()


def test_hybrid_control_along_a_slanting_wall_with_friction(arm):
    """Motion along the wall is that of its equation, the force the one that is wanted, friction or not."""
    tilt = 0.5
    axes = np.array([[np.cos(tilt), -np.sin(tilt), 0.0], [np.sin(tilt), np.cos(tilt), 0.0], [0.0, 0.0, 1.0]])
    q = np.array([0.4, -1.2])
    p = arm.pose(q, "tool")[:3, 3]
    K, kf, kd, ki = 1e4, 0.1, 60.0, 0.5
    slope = wall(arm, "tool", p + 10.0 / K * axes[:, 1], axes[:, 1], K, friction=0.3)
    law = hybrid_control(arm, "tool", Selection.in_contact(velocity=["y"], force=["x"]), 900.0, kd, kf, ki,
                         task_axes=axes)
    t = np.linspace(0, 0.3, 7)
    run = cy.connect(loaded(arm), slope, law).simulate(
        {"q": q, "qd": [0.0, 0.0]}, times=t, inputs={"target": p + 0.04 * axes[:, 0], "target_force": [-20.0]}, **CLOSE)
    moved = (arm.pose(run["q"], "tool")[:, :3, 3] - p) @ axes
    assert np.abs(0.04 - moved[:, 0] - 0.04 * np.exp(-30 * t) * (1 + 30 * t)).max() < 1e-8
    A = np.array([[0.0, 1.0, 0.0], [-kf * K, -kd, ki], [-K, 0.0, 0.0]])
    rest = np.array([20.0 / K, 0.0, 0.0])
    known = np.array([rest + expm(A * s) @ (np.array([10.0 / K, 0.0, 0.0]) - rest) for s in t])
    assert np.abs(run["depth"] - known[:, 0]).max() < 1e-8
    assert np.abs(moved[:, 1] + known[:, 0] - 10.0 / K).max() < 1e-8


def test_the_linear_model_of_a_pressed_peg_has_the_poles_of_both_equations(arm):
    q = np.array(START["q"])
    p = arm.pose(q, "tool")[:3, 3]
    ground = surface(arm, "tool", plane_gap([0.0, p[1] + 2.5e-3, 0.0], [0.0, 1.0, 0.0]), 1e4)
    law = hybrid_control(arm, "tool", Selection(["x"], ["y"]), 100.0, 25.0, 0.1, 0.5)
    model = cy.connect(loaded(arm), ground, law).linearize(
        {"q": q, "qd": [0.0, 0.0], "integral": [0.0]}, {"target": p, "target_force": [-25.0]})
    known = np.concatenate([np.roots([1, 25, 0.1 * 1e4, 0.5 * 1e4]), np.roots([1, 25, 100])])
    assert np.abs(np.sort_complex(np.linalg.eigvals(model.A)) - np.sort_complex(known)).max() < 1e-8


def test_hybrid_control_presses_a_face_flat_and_moves_it():
    """All six axes of a PUMA: it presses along z and turns by moments about x and y, and moves along the others."""
    arm = cy.load("puma560")
    q = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4])
    face = Selection.in_contact(velocity=["z", "rx", "ry"], force=["x", "y", "rz"])
    law = hybrid_control(arm, "tool", face, 100.0, 20.0, [0.1, 1.0, 1.0], axes="world")
    rng = np.random.default_rng(0)
    qd, w, wanted = 0.3 * rng.normal(size=6), rng.normal(size=6), np.array([30.0, 1.0, -2.0])
    target = arm.pose(q + 0.1, "tool")
    tau = outputs(law, q=q, qd=qd, wrench_tool=w, target=target, target_force=wanted)
    J = arm.jacobian(q, "tool", axes="world")
    task = arm.control.task("tool")
    acceleration = task.acceleration(q, qd, arm.forward_dynamics(q, qd, tau + J.T @ w))
    e = task.error(q, target)
    known = 100.0 * e - 20.0 * J @ qd
    known[2:5] = np.array([0.1, 1.0, 1.0]) * (wanted + w[2:5]) - 20.0 * (J @ qd)[2:5]
    assert np.abs(acceleration - known).max() < 1e-8
    with pytest.raises(SignatureError, match="operational_space"):
        hybrid_control(arm, "tool", Selection(position=["x"]), 1.0, 1.0, 1.0)
    with pytest.raises(UnsupportedError, match="2 of them are independent"):
        hybrid_control(rods(), "tool", Selection(["x", "y"], ["z"]), 1.0, 1.0, 1.0)


def test_hybrid_control_in_mujoco_with_the_law_written_anew(arm):
    """The same law by MuJoCo's mass matrix, bias and Jacobian, J' qd by differences, against a wall of its own
    making, and its accelerations integrated by SciPy: from the air onto the wall the same motion."""
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><compiler angle="radian"/><option gravity="0 -9.81 0"/><worldbody>
      <body><joint axis="0 0 1"/><inertial mass="2" pos="0.25 0 0" diaginertia="1e-12 0.0416666666667 0.0416666666667"/>
        <body pos="0.5 0 0"><joint axis="0 0 1"/>
          <inertial mass="1.5" pos="0.2 0 0" diaginertia="1e-12 0.02 0.02"/></body></body>
    </worldbody></mujoco>""")
    data = mujoco.MjData(model)
    body = model.nbody - 1
    K, kf, kd, kp, ki = 1e4, 0.1, 60.0, 400.0, 0.5
    level, target, force = -0.33, 0.6, 25.0
    q0 = np.array([0.05, -1.1])

    def tip(q, qd):
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ [0.4, 0.0, 0.0]
        J = np.zeros((3, 2))
        mujoco.mj_jac(model, data, J, None, point, body)
        return point[:2], J[:2].copy()

    def rate(q, qd, z):
        point, J = tip(q, qd)
        h = 1e-6
        drift = (tip(q + h * qd, qd)[1] - tip(q - h * qd, qd)[1]) / (2 * h) @ qd
        tip(q, qd)
        M = np.zeros((2, 2))
        for column, unit in zip(M, np.eye(2), strict=True):
            mujoco.mj_mulM(model, data, column, unit)
        v = J @ qd
        pushed = np.array([0.0, max(0.0, K * (level - point[1]))])
        missing = -force + pushed[1]
        wanted = np.array([kp * (target - point[0]) - kd * v[0], kf * missing + ki * z - kd * v[1]])
        Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
        tau = J.T @ (Lambda @ (wanted - drift) - pushed) + data.qfrc_bias
        data.qfrc_applied[:] = tau + J.T @ pushed
        mujoco.mj_forward(model, data)
        found = data.qacc.copy()
        data.qfrc_applied[:] = 0.0
        return found, missing

    def slope(t, x):
        return np.concatenate([x[2:4], *(np.atleast_1d(part) for part in rate(x[:2], x[2:4], x[4]))])

    known = solve_ivp(slope, (0, 0.5), [*q0, 0.0, 0.0, 0.0], method="RK45", rtol=1e-7, atol=1e-9).y[:, -1]
    ground = wall(arm, "tool", [0.0, level, 0.0], [0.0, 1.0, 0.0], K)
    law = hybrid_control(arm, "tool", Selection(["x"], ["y"]), kp, kd, kf, ki)
    run = cy.connect(loaded(arm), ground, law).rollout()(
        {"q": q0, "qd": [0.0, 0.0]}, step=1e-4, steps=5000, every=5000,
        inputs={"target": [target, 0.0, 0.0], "target_force": [-force]})
    assert run["depth"][0] < 0 < run["depth"][-1]
    assert np.abs(np.concatenate([run.end["q"], run.end["qd"]]) - known[:4]).max() < 2e-5
    assert run.end["integral"][0] == pytest.approx(known[4], abs=1e-3)


# Impedance and admittance


MASS, BRAKE, SPRING = np.array([[2.0, 0.3], [0.3, 1.5]]), np.array([[60.0, 5.0], [5.0, 40.0]]), np.diag([500.0, 300.0])


def pushed(t):
    return np.array([8.0 * np.sin(6 * t), -5.0 + 3.0 * np.cos(9 * t)])


def compliance(t, x0):
    """M x'' + D x' + K x = w, by SciPy."""
    def slope(s, y):
        return np.concatenate([y[2:], np.linalg.solve(MASS, pushed(s) - BRAKE @ y[2:] - SPRING @ y[:2])])
    return solve_ivp(slope, (0, t[-1]), [*x0, 0.0, 0.0], t_eval=t, method="DOP853", **CLOSE).y[:2].T


def test_impedance_is_exactly_the_one_that_is_asked_for(arm):
    """M x'' + D x' + K x = w about a target that moves, with matrices that are not diagonal, under a moving push."""
    law = impedance_control(arm, "tool", SPRING, BRAKE, MASS, task=PLANE, axes="world")
    p = arm.pose([0.1, 1.2], "tool")[:3, 3]
    x0 = np.array([0.03, -0.02])
    v = np.array([0.1, -0.05])
    t = np.linspace(0, 0.8, 9)
    from_there = p - [*x0, 0.0]
    given = {"target": lambda t, *x: from_there + np.array([*v, 0.0]) * t**2 / 2, "target_rate": lambda t, *x: v * t,
             "target_acceleration": lambda t, *x: v, "wrench_tool": lambda t, *x: [*pushed(t), 0, 0, 0, 0]}
    run = cy.connect(loaded(arm, "world"), law).simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, times=t, inputs=given,
                                                         **CLOSE)
    x = arm.pose(run["q"], "tool")[:, :2, 3] - (p[:2] - x0) - np.outer(t**2 / 2, v)
    assert np.abs(x - compliance(t, x0)).max() < 1e-9


def test_impedance_without_measurement_has_the_inertia_of_the_frame():
    """Lambda x'' + D x' + K x = w of a Panda, with turns, whatever else it does."""
    rng = np.random.default_rng(3)
    arm, frame = cy.load("panda"), "panda_link8"
    K, D = np.array([300.0, 200.0, 400.0, 20.0, 30.0, 10.0]), np.array([30.0, 20.0, 40.0, 2.0, 3.0, 1.0])
    q = np.array([0.2, -0.5, 0.3, -1.6, 0.9, 1.4, 0.3])
    qd, w, tau0 = 0.3 * rng.normal(size=7), rng.normal(size=6), rng.normal(size=7)
    rate, ahead = rng.normal(size=6), rng.normal(size=6)
    target = arm.pose(q, frame)
    target[:3, 3] += [0.02, -0.03, 0.01]
    target[:3, :3] = pin.exp3(np.array([0.0, 0.0, 0.4])) @ target[:3, :3]
    x = -np.array([0.02, -0.03, 0.01, 0.0, 0.0, 0.4])
    J = arm.jacobian(q, frame, axes="world")
    Lambda = np.linalg.inv(J @ np.linalg.solve(arm.inertia_matrix(q), J.T))
    tau = outputs(impedance_control(arm, frame, K, D), q=q, qd=qd, target=target, target_rate=rate,
                  target_acceleration=ahead, null_tau=tau0)
    qdd = np.linalg.solve(arm.inertia_matrix(q), tau + J.T @ w - arm.bias_forces(q, qd))
    xdd = arm.control.task(frame).acceleration(q, qd, qdd) - ahead
    assert np.abs(Lambda @ xdd - (w - D * (J @ qd - rate) - K * x)).max() < 1e-8


def test_impedance_presses_with_two_springs_in_a_row(arm, floor):
    """The target 4 cm behind the wall: f = (1/k + 1/K)^-1 d, with and without an inertia."""
    for inertia in (None, 3.0):
        law = impedance_control(arm, "tool", 500.0, 80.0, inertia, task=PLANE)
        run = cy.connect(loaded(arm), floor, law).rollout()(START, step=5e-4, steps=12000, every=12000,
                                                           inputs={"target": [0.55, -0.24, 0.0]})
        assert 1e4 * run["depth"][-1] == pytest.approx(0.04 / (1 / 500.0 + 1e-4), rel=1e-6)
        assert arm.pose(run.end["q"], "tool")[0, 3] == pytest.approx(0.55, abs=1e-6)


def test_admittance_gives_way_exactly_around_a_law_of_position(arm):
    """The same equation by the outer loop, about a nominal target that moves; the arm itself is not pushed, so that
    the inner loop tracks exactly."""
    outer = admittance_control(arm, "tool", SPRING, BRAKE, MASS, task=PLANE, axes="world")
    loop = cy.connect(arm, outer, arm.control.resolved_acceleration("tool", 400.0, 40.0, task=PLANE))
    p = arm.pose([0.1, 1.2], "tool")[:3, 3]
    v = np.array([0.1, -0.05])
    t = np.linspace(0, 0.8, 9)
    given = {"nominal": lambda t, *x: p + np.array([*v, 0.0]) * t**2 / 2, "nominal_rate": lambda t, *x: v * t,
             "nominal_acceleration": lambda t, *x: v, "wrench_tool": lambda t, *x: [*pushed(t), 0, 0, 0, 0]}
    run = loop.simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, times=t, inputs=given, **CLOSE)
    known = compliance(t, np.zeros(2))
    assert np.abs(run["offset"] - known).max() < 1e-9
    moved = arm.pose(run["q"], "tool")[:, :2, 3] - p[:2] - np.outer(t**2 / 2, v)
    assert np.abs(moved - known).max() < 1e-8


def test_admittance_of_turns_moves_a_pose_consistently():
    """Rates and accelerations of the target are those of its pose, by differences along the motion."""
    arm = cy.load("puma560")
    outer = admittance_control(arm, "tool", 50.0, 10.0, 2.0, axes="world")
    q = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4])
    nominal = arm.pose(q, "tool")
    given = {"q": q, "nominal": nominal, "wrench_tool": np.array([5.0, -3.0, 2.0, 20.0, -30.0, 40.0])}
    times = 0.4 + np.array([-1e-3, 0.0, 1e-3])
    run = outer.simulate({}, times=[0.0, *times], inputs=given, **CLOSE)
    before, now, after = run["target"][1:]
    w = (after[:3, :3] - before[:3, :3]) / 2e-3 @ now[:3, :3].T
    rate = run["target_rate"][1:]
    assert np.abs([w[2, 1], w[0, 2], w[1, 0]] - rate[1][3:]).max() < 1e-5 * np.abs(rate).max()
    assert np.abs((rate[2] - rate[0]) / 2e-3 - run["target_acceleration"][2]).max() < 1e-4
    assert np.abs(now[:3, 3] - nominal[:3, 3] - run["offset"][2][:3]).max() < 1e-12
    assert np.linalg.norm(run["offset"][2][3:]) > 0.5
    settled = outer.rollout()({}, step=1e-3, steps=10000, every=10000, inputs=given).end["offset"]
    assert settled == pytest.approx(given["wrench_tool"] / 50.0, abs=1e-6)


def test_admittance_against_a_wall_rests_where_the_springs_balance(arm, floor):
    outer = admittance_control(arm, "tool", 500.0, 200.0, 5.0, task=PLANE)
    inner = operational_space(arm, "tool", 2500.0, 100.0, 20000.0, task=PLANE)
    run = cy.connect(loaded(arm), floor, outer, inner).rollout()(
        START, step=5e-4, steps=8000, every=8000, inputs={"nominal": [0.55, -0.24, 0.0]})
    assert 1e4 * run["depth"][-1] == pytest.approx(0.04 / (1 / 500.0 + 1e-4), rel=1e-5)


# What is not ideal


GOOD = {"q": np.array([0.1, 1.2]), "qd": np.array([0.3, -0.2]), "target": np.array([0.5, 0.35, 0.0]),
        "target_force": np.array([-20.0]), "wrench_tool": np.array([4.0, -3.0, 0.0, 0.0, 0.0, 1.0])}


@pytest.fixture(scope="module")
def outside(arm, long_arm):
    return (null_space_control(long_arm, "tool", 5.0, 1.0, task=PLANE),
            admittance_control(arm, "tool", 50.0, 8.0, 2.0, task=PLANE, axes="world"))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_force_is_ever_not_a_number(arm, laws, outside, bad):
    """Measurements and targets spoiled one by one; a force sensor that fails leaves the arm held."""
    for law in laws:
        assert np.isfinite(outputs(law, **GOOD)).all() and outputs(law, **GOOD).any()
        for name in set(law.ports) & set(GOOD):
            for k in range(2 if name != "target_force" else 1):
                spoiled = np.array(GOOD[name])
                spoiled[k] = bad
                given = {**GOOD, name: spoiled}
                assert np.isfinite(outputs(law, **given)).all(), (law.name, name, k)
                if law.derivative is not None:
                    u = law.input_record({n: np.broadcast_to(given.get(n, port.default), port.shape)
                                          for n, port in law.ports.items()})
                    x = law.layout.state(np.zeros(law.layout.size))
                    with np.errstate(all="ignore"):
                        moved = law.derivative(0.0, x, u, law.parameter_record({}))
                    assert np.isfinite(np.asarray(moved, dtype=float)).all()
    still = {**GOOD, "qd": np.zeros(2), "wrench_tool": np.full(6, bad)}
    for given in (still, {**still, "wrench_tool": np.zeros(6), "target_force": np.array([bad])}):
        assert outputs(laws[1], **given) == pytest.approx(arm.gravity_forces(GOOD["q"]), abs=1e-9)
    drawn, outer = outside
    found = outputs(drawn, q=np.array([0.1, 0.2, bad]), qd=np.zeros(3), task_tau=np.array([1.0, bad, 3.0]),
                    posture=np.ones(3))
    assert np.array_equal(found, [1.0, 0.0, 3.0])
    rate = outer.step(np.zeros(4), GOOD["q"], np.full(6, bad), GOOD["target"], np.zeros(2), np.zeros(2), 1e-3)
    assert np.array_equal(rate.x, np.zeros(4)) and np.array_equal(rate.target, GOOD["target"])


@pytest.mark.parametrize(("dtype", "number", "tolerance"), [("float64", ctypes.c_double, 1e-11),
                                                            ("float32", ctypes.c_float, 2e-4)])
def test_laws_of_force_run_in_c(laws, dtype, number, tolerance):
    law = laws[2]
    function = compiled_c(law.c_source("law", dtype=dtype))
    x = np.array([-2.0])
    arrays = [x, *(np.broadcast_to(GOOD.get(name, port.default), port.shape) for name, port in law.ports.items())]
    given = [np.ascontiguousarray(value, dtype=dtype) for value in arrays]
    tau, after = np.zeros(2, dtype=dtype), np.zeros(1, dtype=dtype)
    pointers = [v.ctypes.data_as(ctypes.POINTER(number)) for v in (*given, tau, after)]
    function(*pointers[:-2], number(1e-3), *pointers[-2:])
    known = outputs(law, x, **GOOD)
    assert np.allclose(tau, known, rtol=tolerance, atol=tolerance * np.abs(known).max())
    assert after[0] == pytest.approx(law.step(*arrays, 1e-3).x[0], rel=1e-5)


def test_saturated_drives_still_reach_the_force(arm, floor):
    law = force_control(arm, "tool", "y", 0.1, 60.0, 0.5, wind_up=5.0).renamed({"tau": "wanted_tau"})
    held = np.abs(arm.gravity_forces(START["q"])) + np.abs(arm.jacobian(START["q"], "tool", axes="world")[1] * 25.0)
    loop = cy.connect(loaded(arm), floor, law, saturation("tau", 1.3 * held))
    run = loop.rollout()(START, step=5e-4, steps=16000, every=100, inputs={"target_force": [-25.0]})
    assert (np.abs(run["tau"]) <= 1.3 * held + 1e-12).all()
    assert 1e4 * run["depth"][-1] == pytest.approx(25.0, abs=1e-3)


def test_what_cannot_be_is_named(arm, long_arm):
    with pytest.raises(UnsupportedError, match="more than the 2 velocities"):
        operational_space(arm, "tool", 1.0, 1.0)
    with pytest.raises(UnsupportedError, match="all of an orientation"):
        operational_space(arm, "tool", 1.0, 1.0, task=[True, False, False, False, False, True])
    with pytest.raises(UnsupportedError, match="not redundant"):
        null_space_control(arm, "tool", 1.0, 1.0, task=PLANE)
    with pytest.raises(SignatureError, match="near"):
        operational_space(arm, "tool", 1.0, 1.0, task=PLANE, near=0.0)
    with pytest.raises(GeometryError, match="not a rotation"):
        force_control(arm, "tool", "y", 1.0, 1.0, task_axes=2 * np.eye(3))
    for values, word in ((np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric"), ([1.0, -1.0], "every direction"),
                         ([1.0, 2.0, 3.0], "one for all"), (0.0, "every direction")):
        with pytest.raises(SignatureError, match=word):
            impedance_control(arm, "tool", 1.0, 1.0, values, task=PLANE)
    with pytest.raises(ConventionError, match="axes"):
        admittance_control(arm, "tool", 1.0, 1.0, 1.0, task=PLANE, axes="tool")
    massless = cy.Mechanism.of("ghost", [Body("base"), Body("link", 0.0)], [Joint("j", "base", "link", Revolute())])
    with pytest.raises(SingularityError):
        force_control(massless.with_frame("tool", "link", np.array(
            [[1.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])), "tool", "y", 1.0, 1.0)
    for make in (lambda m: operational_space(m, "coupler", 1.0, 1.0, task=PLANE),
                 lambda m: force_control(m, "coupler", "y", 1.0, 1.0)):
        with pytest.raises(UnsupportedError):
            make(cy.load("four_bar").variants.with_actuated())
