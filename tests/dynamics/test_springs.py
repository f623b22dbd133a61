"""Springs of drives: linear, hardening, with backlash, by a law of one's own; their files; MuJoCo's."""

import json
import pickle

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import sympy
from scipy.integrate import solve_ivp
from typer.testing import CliRunner

import cayley as cy
from cayley.cli.app import app
from cayley.drawing.skeleton import skeleton
from cayley.errors import ModelError, UnsupportedError
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.mjcf_text import dump_mjcf
from cayley.model.formats.toml_format import dump_toml, load_toml
from cayley.model.rotor import Friction, Rotor
from cayley.model.spring_kinds import KINDS, BacklashSpring, HardeningSpring, LinearSpring, SpringLaw
from cayley.model.spring_kinds.spring import SpringState
from dynamics.elastic_arms import pinocchio_arm, planar_arm, spatial_arm, spring_torques

SPRINGS = {
    "linear": (LinearSpring(150.0, 2.0, 0.1), lambda d, dd: 150 * d + 2 * dd),
    "hardening": (HardeningSpring(150.0, 2.0, 0.1, cubic=900.0), lambda d, dd: 150 * d + 900 * d**3 + 2 * dd),
    "backlash": (BacklashSpring(150.0, 2.0, 0.1, cubic=900.0, backlash=0.8),
                 lambda d, dd: (lambda e: 150 * e + 900 * e**3 + 2 * dd * (e != 0))(
                     np.sign(d) * np.maximum(np.abs(d) - 0.4, 0.0))),
    "law": (SpringLaw("150*(qm - q + 0.1) + 3*tanh(20*(qmd - qd))", stored="75*(qm - q + 0.1)**2"),
            lambda d, dd: 150 * d + 3 * np.tanh(20 * dd)),
}


def driven(spring, gear=-4.0):
    return planar_arm().with_drive("joint2", spring=spring, gear=gear, mass=0.4, tensor=np.diag([0.0, 0.0, 0.02]))


@pytest.mark.spec("S0-69")
@pytest.mark.parametrize(("kind", "model"), [*[(kind, "elastic drives") for kind in SPRINGS],
                                             ("law", "reduced elastic drives")])
def test_torques_of_every_kind_in_inverse_and_forward_dynamics_and_derivatives(kind, model):
    spring, law = SPRINGS[kind]
    soft, linear = (driven(s).including(model) for s in (spring, LinearSpring(1.0)))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 30, 4))
    d, dd = q[:, 3] / -4.0 - q[:, 1], qd[:, 3] / -4.0 - qd[:, 1]
    P = law(d + 0.1, dd)
    expected = linear.inverse_dynamics(q, qd, qdd)
    expected[:, 1] += d - P
    expected[:, 3] += (P - d) / -4.0
    tau = soft.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-11 * np.abs(tau).max())
    np.testing.assert_allclose(soft.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
    found = soft.linearize(q[0], qd[0], qdd[0])
    h = 1e-6
    for slope, k in ((found.P, 0), (found.V, 1)):
        columns = []
        for unit in np.eye(4):
            ends = [[q[0], qd[0], qdd[0]] for _ in range(2)]
            ends[0][k], ends[1][k] = ends[0][k] + h * unit, ends[1][k] - h * unit
            columns.append((soft.inverse_dynamics(*ends[0]) - soft.inverse_dynamics(*ends[1])) / (2 * h))
        np.testing.assert_allclose(slope, np.transpose(columns), atol=2e-6 * max(1.0, np.abs(slope).max()))


def test_a_linear_law_is_the_linear_spring_of_the_worked_example():
    """WE-13 by a law: the same torques as by springs of 200 and 150 N m/rad."""
    arm = planar_arm().with_drive("joint1", spring=SpringLaw(lambda q, qd, qm, qmd: 200.0 * (qm - q)), mass=0.5,
                                  tensor=np.diag([0.0, 0.0, 0.01])).including("elastic drives")
    state = [0.3, 0.5, 0.35, 0.6], [1.0, -0.5, 2.0, 1.0], [0.4, 0.7, -1.0, 3.0]
    soft = planar_arm().including("elastic drives")
    np.testing.assert_allclose(arm.inverse_dynamics(*state), soft.inverse_dynamics(*state), atol=1e-12)
    springs = spring_torques(planar_arm(), *map(np.array, state[:2]))
    np.testing.assert_allclose(arm.inverse_dynamics(*state) - springs, [33.766749268, 4.973090829, -0.01, 0.068],
                               atol=1e-9)


@pytest.mark.parametrize("spring", [
    HardeningSpring(150.0, cubic=900.0), BacklashSpring(150.0, backlash=0.05),
    SpringLaw("150*sin(qm - q)", stored="-150*cos(qm - q)")], ids=lambda spring: spring.word)
def test_conservative_springs_keep_the_energy(spring):
    soft = driven(spring).including("elastic drives")
    run = soft.simulate([0.3, -0.4, 0.35, 1.0], np.zeros(4), until=0.5, progress=False)
    energy = soft.kinetic_energy(run.q, run.qd) + soft.potential_energy(run.q)
    assert np.ptp(energy) < 1e-6 * np.abs(energy).max()


@pytest.mark.spec("S0-69")
@pytest.mark.parametrize("rest", ["", " - q**3", " + 0.2*sin(qm)", " - 4*q", " - 0.001*qm*q"])
def test_a_stored_energy_that_joint_and_motor_do_not_share_is_refused(rest):
    """A law may be of anything: what is not stored is work from outside, and the balance holds. An energy must be of
    the deflection alone, or joint and motor would be pushed by forces that are not opposite."""
    stored = {"": "0.0", " - q**3": "q**4/4", " + 0.2*sin(qm)": "0.2*cos(qm)", " - 4*q": "2*q**2",
              " - 0.001*qm*q": "0.0005*qm*q**2"}[rest]
    right, x, y = "25*(qm - q)**2", sympy.Symbol("q"), sympy.Symbol("qm")
    energy = sympy.sympify(f"{right} + {stored}")
    fails = sympy.simplify(energy.diff(x) + energy.diff(y)) != 0
    assert fails == bool(rest)
    for given in (f"{right} + {stored}", sympy.lambdify([x, y], energy, "numpy")):
        if fails:
            with pytest.raises(ModelError, match="not a function of the deflection qm - q alone"):
                SpringLaw(f"50*(qm - q){rest}", stored=given)
        else:
            SpringLaw(f"50*(qm - q){rest}", stored=given)
    arm = cy.load("planar2r").with_drive("joint1", inertia=1e-2, gear=2.0,
                                         spring=SpringLaw(f"50*(qm - q){rest}", stored=right))
    run = arm.including("elastic drives").simulate([1.0, 0.1, 2.0], np.zeros(3), until=0.4, rtol=1e-10, atol=1e-12,
                                                   progress=False)
    assert np.abs(run.energy_drift).max() < 1e-7


def test_dry_friction_as_a_law_only_takes_energy():
    soft = driven(SpringLaw("100*(qm - q) + 2*tanh(200*(qmd - qd))", stored="50*(qm - q)**2")).including(
        "reduced elastic drives")
    run = soft.simulate([0.0, 0.0, 0.0, 2.0], np.zeros(4), until=0.5, method="Radau", rtol=1e-7, progress=False)
    energy = soft.kinetic_energy(run.q, run.qd) + soft.potential_energy(run.q)
    assert (np.diff(energy) < 1e-5).all() and energy[-1] < energy[0] - 0.1


def test_backlash_lets_a_joint_swing_freely_within_it():
    """Between the teeth nothing acts: a link swings as it would alone, its motor held by nothing but its inertia."""
    soft = cy.load("s1_f1").with_drive("joint1", spring=BacklashSpring(1e4, 5.0, backlash=1.0), inertia=0.1).including(
        "elastic drives")
    free = cy.load("s1_f1")
    q = -np.pi / 2 + 0.2
    run = soft.simulate([q, q], [0.0, 0.0], times=[0.0, 0.3], progress=False)
    alone = free.simulate([q], [0.0], times=[0.0, 0.3], progress=False)
    np.testing.assert_allclose(run.q[-1], [*alone.q[-1], q], atol=1e-8)


# Files


def test_steps_become_short_where_the_damper_between_teeth_begins_to_act():
    """Its force jumps as they meet, where Newton's method finds no step of the length that was asked for."""
    arm = cy.load("planar2r")
    for joint, gear, spring in (("joint1", 50.0, LinearSpring(1e4, damping=2.0)),
                                ("joint2", -80.0, BacklashSpring(1e4, damping=2.0, backlash=0.01))):
        arm = arm.with_drive(joint, spring=spring, gear=gear, mass=0.4, tensor=np.diag([1e-4, 1e-4, 2e-4]))
    soft = arm.including("elastic drives")
    start = np.array([0.3, -0.5, 0.31 * 50, 0.49 * 80])
    ends = {}
    for method, step in (("gauss", 5e-5), ("Radau", np.inf)):
        run = soft.simulate(start, np.zeros(4), times=[0.0, 0.25], method=method, max_step=step, progress=False)
        assert run.status == "finished", run.message
        ends[method] = run.q[-1]
    np.testing.assert_allclose(ends["gauss"][:2], ends["Radau"][:2], atol=1e-4)


@pytest.mark.parametrize("kind", SPRINGS)
def test_drives_come_back_from_toml(kind):
    arm = driven(SPRINGS[kind][0]).tree.with_drive(
        "joint1", stiffness=3.0, gear=-2.0, mass=0.1, center=(0.0, 0.1, 0.0), tensor=np.diag([0.1, 0.2, 0.15]),
        carrier="link2", place=[[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], friction=Friction(0.1, 0.2))
    back = load_toml(dump_toml(arm))
    for ours, theirs in zip(arm.joints, back.joints, strict=True):
        assert ours.rotor == theirs.rotor and ours.spring == theirs.spring
    assert set(KINDS) == set(SPRINGS)


def test_a_function_in_python_is_kept_by_no_file_but_by_pickles():
    arm = driven(SpringLaw(law_of_this_file))
    with pytest.raises(UnsupportedError, match="joint 'joint2': law of a spring is a function in Python"):
        dump_toml(arm.tree)
    soft = arm.including("elastic drives")
    state = np.random.default_rng(0).normal(size=(3, 4))
    soft.inverse_dynamics(*state)
    again = pickle.loads(pickle.dumps(soft))
    np.testing.assert_array_equal(again.inverse_dynamics(*state), soft.inverse_dynamics(*state))


def law_of_this_file(q, qd, qm, qmd):
    return 100.0 * (qm - q) + 0.5 * (qmd - qd)


def test_a_dh_row_has_a_drive():
    arm = load_toml("""
        name = "arm"
        [dh]
        convention = "modified"
        rows = [{ mass = 1, center = [0.2, 0, 0], rotor = { inertia = 1e-3, gear = 9 }, spring = { stiffness = 10 } }]
        """)
    assert arm.joints[0].spring == LinearSpring(10.0) and arm.including("elastic drives").nv == 2


@pytest.mark.parametrize(("text", "words"), [
    ("rotor = { tensor = 3 }", "unknown key 'tensor'"),
    ("rotor = { inertia = [1, 1, 1] }", "no mass: give it one"),
    ("rotor = { mass = 1, carrier = 'cart', inertia = 1 }", "give its place there"),
    ("rotor = { mass = 1, carrier = 'nothing', position = [0, 0, 0] }", "'slide' is carried by 'nothing', which is no"),
    ("spring = { stiffness = -1 }", "cannot be negative"),
    ("spring = { stiffness = 0 }", "stiffness of a linear spring is 0"),
    ("spring = { kind = 'linear', stiffness = 1, cubic = 3 }", "unknown key 'cubic'"),
    ("spring = { kind = 'soft' }", "kind is one of linear, hardening, backlash, law"),
    ("spring = { kind = 'law', law = '3*x' }", "where x is unknown"),
])
def test_faults_in_files_are_named(text, words):
    with pytest.raises(ModelError, match=words):
        load_toml(f"""
            name = "rail"
            bodies = [{{ name = "ground" }}, {{ name = "cart", mass = 1 }}]
            [[joints]]
            name = "slide"
            kind = "prismatic"
            parent = "ground"
            child = "cart"
            {text}""")


def drive_of_joint1(**data):
    return cy.load("planar2r").with_drive("joint1", **data)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: LinearSpring(np.inf), "finite number"),
    (lambda: LinearSpring("1"), "finite number"),
    (lambda: HardeningSpring(1.0, cubic=-1.0), "cannot be negative"),
    (lambda: Rotor(mass=-1.0), "mass of a rotor is -1.0"),
    (lambda: Rotor(0.3, mass=1.0, tensor=np.eye(3)), "make it 1.0: leave out the first"),
    (lambda: Rotor(0.001, mass=1.0, center=(0.1, 0.0, 0.0)), "less than that of its mass at its centre"),
    (lambda: Rotor(mass=1.0, tensor=np.eye(2)), "shape \\(3, 3\\)"),
    (lambda: Rotor(mass=1.0, tensor=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
    (lambda: cy.load("planar2r").with_drive("joint1", place=2 * np.eye(4), mass=1.0), "not a pose"),
    (lambda: cy.load("planar2r").with_drive("joint1", stiffness=1.0, spring=LinearSpring(1.0)), "give one"),
    (lambda: drive_of_joint1(stiffness=-1.0), "joint 'joint1': the stiffness .* cannot be negative"),
    (lambda: drive_of_joint1(damping=1.0), "joint 'joint1' is given a damping and no stiffness"),
    (lambda: drive_of_joint1(spring=100.0), "spring of joint 'joint1' is 100.0: .*LinearSpring"),
    (lambda: drive_of_joint1(inertia=np.eye(3)), "(?s)joint 'joint1': .*must be a number; a tensor"),
    (lambda: drive_of_joint1(gear="50"), "joint 'joint1': the gear of a rotor is '50': it must be a number"),
    (lambda: drive_of_joint1(mass="1"), "joint 'joint1': the mass of a rotor is '1': it must be a number"),
    (lambda: drive_of_joint1(friction=0.1), "joint 'joint1': the friction of a rotor is 0.1: give Friction"),
    (lambda: drive_of_joint1(winding=0.1), "joint 'joint1': the winding of a rotor is 0.1: give Winding"),
    (lambda: drive_of_joint1(mass=1.0, tensor=np.diag([1.0, 1.0, -1.0])), "joint 'joint1': .* its axis.*negative"),
    (lambda: drive_of_joint1(mass=1.0, carrier="lnk2", place=np.eye(4)), "'joint1' is carried by 'lnk2'.*link2"),
    (lambda: planar_arm().including("elastic drives", "reduced elastic drives"), "not both"),
    (lambda: cy.load("planar2r").including("geared drives"), "rotor with a mass and no spring"),
    (lambda: planar_arm().including("elastic drive"), "dynamics can include"),
])
def test_faults_in_python_are_named(make, words):
    with pytest.raises(ModelError, match=words):
        make()


# MuJoCo

HINGED = """<mujoco><option gravity="0 -9.81 0"/><worldbody><body name="a"><joint name="x" axis="0 0 1"
  stiffness="30" springref="20" armature="0.1" damping="0.3"/>
  <inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.2 0.3"/>
  <body name="b" pos="1 0 0"><joint name="y" type="slide" axis="0 1 0" stiffness="50" armature="0.2"/>
  <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.2 0.3"/></body></body></worldbody></mujoco>"""


def test_springs_of_mujoco_with_their_motors_held():
    arm = cy.Mechanism(load_mjcf(HINGED)).including("springs", "armature", "friction")
    model = mujoco.MjModel.from_xml_string(HINGED)
    data = mujoco.MjData(model)
    q, qd = np.array([0.3, -0.2]), np.array([1.0, 0.5])
    data.qpos, data.qvel = q, qd
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, [0.0, 0.0]), data.qacc, rtol=1e-10)
    again = load_mjcf(dump_mjcf(arm.tree))
    assert [joint.spring for joint in again.joints] == [joint.spring for joint in arm.joints]


TENDONS = """<mujoco><option gravity="0 -9.81 0"/><worldbody>
  <body name="m1"><joint name="j1m" axis="0 0 1"/>
  <inertial pos="0 0 0" mass="0.5" diaginertia="0.004 0.008 0.01"/></body>
  <body name="a"><joint name="j1" axis="0 0 1"/><inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.15 0.2"/>
  <body name="m2" pos="0.2 0.1 0" quat="0.8 0.6 0 0"><joint name="j2m" axis="0 0 1"/>
  <inertial pos="0.02 0 0.01" mass="0.4" diaginertia="0.004 0.018 0.02"/></body>
  <body name="b" pos="1 0 0"><joint name="j2" axis="0 0 1"/>
  <inertial pos="0.4 0 0" mass="1.5" diaginertia="0.1 0.1 0.1"/>
  </body></body></worldbody><tendon>
  <fixed stiffness="200" springlength="0"><joint joint="j1m" coef="1"/><joint joint="j1" coef="-1"/></fixed>
  <fixed stiffness="150" damping="0.7" springlength="0">
  <joint joint="j2m" coef="-0.2"/><joint joint="j2" coef="-1"/></fixed>
  </tendon></mujoco>"""


def test_motors_and_springs_of_mujoco():
    """Rotors as bodies, and springs as tendons between joints and motors, the second behind a gear of -5."""
    model = mujoco.MjModel.from_xml_string(TENDONS)
    data = mujoco.MjData(model)
    place = np.eye(4)
    place[:3, 3] = 0.2, 0.1, 0.0
    place[1:3, 1:3] = [[0.28, -0.96], [0.96, 0.28]]
    soft = planar_arm().variants.with_joints().with_drive(
        "joint1", stiffness=200.0, mass=0.5, tensor=np.diag([0.004, 0.008, 0.01])).with_drive(
        "joint2", stiffness=150.0, damping=0.7, gear=-5.0, mass=0.4, center=(0.02, 0.0, 0.01),
        tensor=np.diag([0.004, 0.018, 0.02]), place=place).including("elastic drives")
    order = [model.joint(name).qposadr[0] for name in ("j1", "j2", "j1m", "j2m")]
    q, qd, tau = np.random.default_rng(4).normal(size=(3, 4))
    data.qpos[order], data.qvel[order], data.qfrc_applied[order] = q, qd, tau
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(soft.forward_dynamics(q, qd, tau), data.qacc[order], rtol=1e-9)
    np.testing.assert_allclose(soft.inverse_dynamics(q, qd, data.qacc[order]), tau, atol=1e-9)


# What acts from outside


@pytest.mark.spec("S0-49")
def test_a_wrench_at_the_tip_and_a_base_that_moves():
    """S0-49: t(n+1) and V(0), W(0), against Pinocchio's arm on a free-flyer."""
    arm = spatial_arm("RPR")
    soft = arm.including("elastic drives")
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 6))
    w, wrench = np.random.default_rng(4).normal(size=(2, 3)), np.random.default_rng(5).normal(size=6)
    acceleration = np.random.default_rng(6).normal(size=6)
    w = w[0]
    found = soft.inverse_dynamics.with_inputs(wrenches=["link3"], base_motion=True)(q, qd, qdd, wrench, w, acceleration)
    fixed = pinocchio_arm(arm)
    model = pin.Model()
    model.gravity = fixed.gravity
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    for k in range(1, fixed.njoints):
        model.addJoint(fixed.parents[k] + 1, fixed.joints[k], fixed.jointPlacements[k], fixed.names[k])
        model.appendBodyToJoint(k + 1, fixed.inertias[k], pin.SE3.Identity())
    data = model.createData()
    external = [pin.Force.Zero() for _ in range(model.njoints)]
    external[4] = pin.Force(wrench[:3], wrench[3:])
    expected = pin.rnea(model, data, np.concatenate([[0, 0, 0, 0, 0, 0, 1], q]), np.concatenate([np.zeros(3), w, qd]),
                        np.concatenate([acceleration, qdd]), external)[6:]
    np.testing.assert_allclose(found, expected + spring_torques(arm, q, qd), atol=1e-10)


def test_stored_energy_is_the_work_of_a_stretch():
    for spring, law in (SPRINGS[kind] for kind in SPRINGS):
        work = solve_ivp(lambda d, _, law=law: [law(d, 0.0)], (0.0, 0.9), [0.0], rtol=1e-10, atol=1e-12).y[0, -1]
        ends = [spring.energy(SpringState(0.1 - d, 0.0, 0.0, 0.0)) for d in (0.0, 0.9)]
        assert float(ends[1] - ends[0]) == pytest.approx(work, rel=1e-6)


def test_motors_are_drawn_at_their_places_and_reported():
    place = np.eye(4)
    place[:3, 3] = 0.8, 0.1, 0.0
    arm = planar_arm().with_drive("joint2", stiffness=10.0, mass=0.1, gear=5.0, inertia=1e-3, place=place)
    soft = arm.including("elastic drives")
    figure = skeleton(soft.tree, np.zeros(4))
    assert [(line.body, line.points[0].tolist()) for line in figure.lines if not line.carries] == [
        ("link1", [1.0, 0.0, 0.0])]
    marks = {mark.joint: mark.center.tolist() for mark in figure.marks}
    assert marks["joint2 motor"] == [0.8, 0.1, 0.0]
    assert "linear, stiffness 10" in str(arm.summary())
    assert not [warning for warning in soft.summary().warnings if "rotor" in str(warning) and "mass" in str(warning)]


def test_the_shell_includes_terms_of_two_words(tmp_path):
    path = tmp_path / "arm.toml"
    planar_arm().save(path)
    arguments = ["simulate", str(path), "--time", "0.1", "--samples", "2", "--include"]
    for include in ("elastic drives", "elastic drives, friction"):
        found = CliRunner().invoke(app, [*arguments, include, "--json"])
        assert found.exit_code == 0 and len(json.loads(found.stdout)["q"][-1]) == 4, found.output


def test_a_motor_is_changed_by_the_drive_of_its_joint():
    soft = planar_arm().including("elastic drives")
    with pytest.raises(ModelError, match="is made of the drive of joint 'joint1'"):
        soft.with_friction("joint1 motor", viscous=1.0)
