"""The reduced model of elastic drives, what it drops, its form in vector-parameters; geared drives; the stiff limit."""

import numpy as np
import pinocchio as pin
import pytest
import sympy

import cayley as cy
from cayley.dynamics.elastic_drives import (
    angles_of_vector_parameters,
    vector_parameter_dynamics_kernel,
    vector_parameters_of_angles,
)
from cayley.errors import SingularityError, UnsupportedError
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from dynamics.elastic_arms import inertia_by_columns, pinocchio_arm, planar_arm, spatial_arm, spring_torques


def states(mechanism, size=20, seed=1):
    return np.random.default_rng(seed).normal(size=(3, size, mechanism.nv))


@pytest.fixture(scope="module")
def arm():
    return spatial_arm("RPR")


@pytest.fixture(scope="module")
def reduced(arm):
    return arm.including("reduced elastic drives")


def frozen_rigid_arm(arm):
    """Pinocchio's arm of links, each rotor fixed to the link that carries it."""
    model = pin.Model()
    whole = pinocchio_arm(arm)
    model.gravity = whole.gravity
    n = len(arm.joints)
    for k in range(1, n + 1):
        model.addJoint(whole.parents[k], whole.joints[k], whole.jointPlacements[k], whole.names[k])
        model.appendBodyToJoint(k, whole.inertias[k], pin.SE3.Identity())
    for k in range(n + 1, 2 * n + 1):
        model.appendBodyToJoint(whole.parents[k], whole.inertias[k], whole.jointPlacements[k])
    return model


def spin_inertias(arm):
    rotors = [joint.rotor for joint in arm.joints]
    return np.array([np.array(r.tensor)[2, 2] + r.mass * (r.center[0]**2 + r.center[1]**2) for r in rotors])


@pytest.mark.spec("S0-51")
def test_reduced_model_is_the_rigid_arm_with_spins_behind_springs(arm, reduced):
    """S0-51: H q1'' + h + K(q1 - q2) = 0, Jm q2'' - K(q1 - q2) = u, in the motors' own angles."""
    model = frozen_rigid_arm(arm)
    data = model.createData()
    n = len(arm.joints)
    q, qd, qdd = states(reduced)
    links = np.array([pin.rnea(model, data, a[:n], b[:n], c[:n]) for a, b, c in zip(q, qd, qdd, strict=True)])
    expected = np.concatenate([links, spin_inertias(arm) * qdd[:, n:]], axis=1) + spring_torques(arm, q, qd)
    found = reduced.inverse_dynamics(q, qd, qdd)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(found).max()
    back = reduced.forward_dynamics(q, qd, found)
    assert np.abs(back - qdd).max() < 1e-10


def test_what_is_dropped_is_the_difference_of_the_models(arm, reduced):
    soft = arm.including("elastic drives")
    q, qd, qdd = states(soft)
    found = arm.formulations.reduction_error(q, qd, qdd)
    difference = soft.inverse_dynamics(q, qd, qdd) - reduced.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(found.dropped, difference, atol=1e-11)
    np.testing.assert_allclose(soft.formulations.reduction_error(q, qd, 0 * qdd).inertial, 0.0, atol=0)
    assert "joint3 motor" in str(found) and (found.share < 0.1).all()


def test_the_weight_of_an_unbalanced_rotor_is_no_gyroscopic_moment(arm, reduced):
    """By slopes of the potential energies; what is left is of the second degree in velocities."""
    soft = arm.including("elastic drives")
    q, qd, qdd = states(soft)
    found = arm.formulations.reduction_error(q, qd, qdd)
    steps = 1e-5 * np.eye(soft.nv)
    energies = [soft.potential_energy(p) - reduced.potential_energy(p)
                for p in (q[:, None] + steps, q[:, None] - steps)]
    np.testing.assert_allclose(found.weight, (energies[0] - energies[1]) / 2e-5, atol=1e-7)
    assert np.abs(found.weight).max() > 1e-3 and "weight" in str(found)
    np.testing.assert_allclose(arm.formulations.reduction_error(q, 0 * qd, qdd).gyroscopic, 0.0, atol=1e-12)
    np.testing.assert_allclose(arm.formulations.reduction_error(q, 3 * qd, qdd).gyroscopic, 9 * found.gyroscopic,
                               atol=1e-10)


def test_a_planar_arm_drops_the_coupling_of_the_worked_example():
    """WE-13: J2 qm2'' in row 1 and J2 q1'' in that of motor 2."""
    found = planar_arm().formulations.reduction_error([0.3, 0.5, 0.35, 0.6], [1.0, -0.5, 2.0, 1.0],
                                                      [0.4, 0.7, -1.0, 3.0])
    np.testing.assert_allclose(found.dropped, [0.06, 0.0, 0.0, 0.008], atol=1e-14)


def test_energy_is_kept_without_dampers_and_lost_through_them():
    arm = planar_arm().with_drive("joint2", stiffness=150.0, inertia=0.02, gear=-3.0)
    soft = arm.including("reduced elastic drives")
    q = np.array([0.3, -0.4, 0.35, 1.0])
    run = soft.simulate(q, np.zeros(4), until=0.5, progress=False)
    energy = soft.kinetic_energy(run.q, run.qd) + soft.potential_energy(run.q)
    assert np.ptp(energy) < 1e-6 * abs(energy[0])
    damped = arm.with_drive("joint1", stiffness=200.0, damping=1.0, inertia=0.01).including("elastic drives")
    run = damped.simulate(q, np.zeros(4), until=0.5, progress=False)
    energy = damped.kinetic_energy(run.q, run.qd) + damped.potential_energy(run.q)
    assert (np.diff(energy) < 1e-9).all() and energy[-1] < energy[0] - 0.01
    lost = np.trapezoid(np.einsum("ki,ki->k", run.qd, damped.bias_forces(run.q, run.qd)
                                  - damped.bias_forces(run.q, 0 * run.qd)
                                  - np.einsum("kij,kj->ki", damped.coriolis_matrix(run.q, run.qd), run.qd)), run.t)
    assert energy[0] - energy[-1] == pytest.approx(lost, rel=0.05)


@pytest.mark.spec("S0-52")
@pytest.mark.parametrize("kinds", ["RPR", "RRRR", "P"])
def test_vector_parameters_give_the_same_accelerations_over_half_turns(kinds):
    """S0-52 with E-49: through c = tan(q/2) and c = tan(qm / (2 gear)), for angles of several turns."""
    reduced = spatial_arm(kinds).including("reduced elastic drives")
    rng = np.random.default_rng(2)
    q = np.concatenate([rng.normal(size=(30, reduced.nv)) * 5, np.full((1, reduced.nv), np.pi)])
    qd, tau = rng.normal(size=(2, len(q), reduced.nv))
    at = vector_parameters_of_angles(reduced.tree, q, qd)
    turning = np.array(["R" in kind for kind in kinds * 2])
    assert (np.abs(at.c[:, turning]) <= 1 + 1e-12).all()
    cdd = vector_parameter_dynamics_kernel(reduced.tree)(*at, tau)
    gear = np.array([1.0] * len(kinds) + [joint.rotor.gear for joint in reduced.joints if joint.spring])
    slope = np.where(turning, 2 / (1 + at.c**2), 1.0)
    qdd = gear * (slope * cdd - np.where(turning, at.c * (slope * at.cd)**2, 0.0))
    expected = reduced.forward_dynamics(q, qd, tau)
    assert np.abs(qdd - expected).max() < 1e-12 * np.abs(expected).max()
    back = angles_of_vector_parameters(reduced.tree, at)
    np.testing.assert_allclose(back[0], q, atol=1e-12)
    np.testing.assert_allclose(back[1], qd, atol=1e-12)
    assert vector_parameter_dynamics_kernel(reduced.tree).operations().trigonometric == 0


def test_the_printed_spring_in_vector_parameters_is_another():
    """E-49: of angles 0.8 and 0.6 the torque is 0.2 K, not K (c1 - c2) = 0.1135 K; and tan(0.12) is not tan(0.6)/5."""
    soft = cy.load("planar2r").with_drive("joint1", stiffness=1.0, gear=5.0, inertia=1.0).including(
        "reduced elastic drives")
    at = vector_parameters_of_angles(soft.tree, [0.0, 0.0, 1.2], np.zeros(3))
    assert at.c[2] == pytest.approx(np.tan(0.12), abs=1e-12) and abs(at.c[2] - np.tan(0.6) / 5) > 0.01
    single = cy.load("s1_f1").with_gravity([0.0, 0.0, 0.0]).with_drive("joint1", stiffness=1.0, inertia=1.0).including(
        "reduced elastic drives")
    at = vector_parameters_of_angles(single.tree, [0.8, 0.6], np.zeros(2))
    cdd = vector_parameter_dynamics_kernel(single.tree)(*at, np.zeros(2))
    assert 2 / (1 + at.c[1]**2) * cdd[1] == pytest.approx(0.2, abs=1e-12)


def test_vector_parameters_are_of_the_reduced_model_alone():
    with pytest.raises(UnsupportedError, match="does not include 'reduced elastic drives'"):
        vector_parameter_dynamics_kernel(planar_arm().including("elastic drives").tree)


# Geared drives


def geared_model(arm):
    """M and bias of Pinocchio's links and rotors with the motors tied to the joints by their gears: G^T M G."""
    model = pinocchio_arm(arm)
    n = len(arm.joints)
    G = np.concatenate([np.eye(n), np.diag([joint.rotor.gear for joint in arm.joints])])
    data = model.createData()

    def equations(q, qd):
        M = inertia_by_columns(model, G @ q)
        bias = pin.rnea(model, data, G @ q, G @ qd, np.zeros(2 * n))
        return G, G.T @ M @ G, G.T @ bias

    return equations


@pytest.mark.spec("S0-70")
def test_geared_drives_of_either_sign_move_as_one_with_their_joints():
    """S0-70: q, qd and motor torques give q''; and the motors' torques for a motion, Tm = E.t / gear + E.tm."""
    arm = spatial_arm("RPR", springs=False)
    geared = arm.including("geared drives")
    equations = geared_model(arm)
    assert geared.actuated_joints == tuple(f"joint{k} motor" for k in (1, 2, 3))
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, qd, tm = rng.normal(size=(3, 3))
        G, M, bias = equations(q, qd)
        gear = np.diag(G[3:])
        qdd = np.linalg.solve(M, gear * tm - bias)
        found = geared.forward_dynamics(G @ q, G @ qd, [0.0, 0.0, 0.0, *tm])
        np.testing.assert_allclose(found, G @ qdd, atol=1e-9 * np.abs(G @ qdd).max())
        needed = geared.inverse_dynamics(G @ q, G @ qd, G @ qdd)
        np.testing.assert_allclose(needed, [0.0, 0.0, 0.0, *tm], atol=1e-10)


def test_arms_that_mix_elastic_and_geared_drives():
    """The same with two joints geared and one elastic: forward and back, against M of Pinocchio."""
    rigid = spatial_arm("RPR", springs=False)
    k = 400.0
    rotor = rigid.joints[1].rotor
    arm = rigid.with_drive("joint2", stiffness=k, gear=rotor.gear, mass=rotor.mass, center=rotor.center,
                           tensor=rotor.tensor, carrier=rotor.carrier, place=rotor.place)
    mixed = arm.including("elastic drives", "geared drives")
    assert mixed.loops.mobility == 4 and mixed.actuated_joints == ("joint1 motor", "joint2 motor", "joint3 motor")
    model = pinocchio_arm(arm)
    data = model.createData()
    gear = [joint.rotor.gear for joint in arm.joints]
    G = np.zeros((6, 4))
    G[:3, :3] = np.eye(3)
    G[3, 0], G[5, 2], G[4, 3] = gear[0], gear[2], 1.0
    rng = np.random.default_rng(6)
    p, pd = rng.normal(size=(2, 4))
    tm = rng.normal(size=3)
    M = inertia_by_columns(model, G @ p)
    P = k * (p[3] / gear[1] - p[1])
    forces = np.array([0.0, P, 0.0, tm[0], tm[1] - P / gear[1], tm[2]])
    pdd = np.linalg.solve(G.T @ M @ G, G.T @ (forces - pin.rnea(model, data, G @ p, G @ pd, np.zeros(6))))
    found = mixed.forward_dynamics(G @ p, G @ pd, [0.0, 0.0, 0.0, *tm])
    np.testing.assert_allclose(found, G @ pdd, atol=1e-9 * np.abs(pdd).max())
    np.testing.assert_allclose(mixed.inverse_dynamics(G @ p, G @ pd, found), [0.0, 0.0, 0.0, *tm], atol=1e-9)


@pytest.mark.parametrize("model", ["elastic drives", "reduced elastic drives"])
def test_stiff_springs_make_the_geared_arm(model):
    """Springs that pull as the geared drives would: what is left of the difference is the deflection, of 1/k."""
    rigid = spatial_arm("RPR", springs=False)
    n = 3
    gear = np.array([joint.rotor.gear for joint in rigid.joints])
    q, qd, tm = np.random.default_rng(7).normal(size=(3, n))
    if model == "elastic drives":
        _, M, bias = geared_model(rigid)(q, qd)
        qdd = np.linalg.solve(M, gear * tm - bias)
    else:
        frozen = frozen_rigid_arm(rigid)
        data = frozen.createData()
        M = inertia_by_columns(frozen, q) + np.diag(gear**2 * spin_inertias(rigid))
        qdd = np.linalg.solve(M, gear * tm - pin.rnea(frozen, data, q, qd, np.zeros(n)))
    differences = []
    for k in (1e3, 1e5, 1e7):
        soft = rigid
        for joint in rigid.joints:
            r = joint.rotor
            soft = soft.with_drive(joint.name, stiffness=k, gear=r.gear, mass=r.mass, center=r.center, tensor=r.tensor,
                                   carrier=r.carrier, place=r.place)
        soft = soft.including(model)
        x, xd = np.concatenate([q, gear * q]), np.concatenate([qd, gear * qd])
        needed = soft.inverse_dynamics.reference(x, xd, np.concatenate([qdd, gear * qdd]))
        x[n:] += gear * needed[:n] / k
        found = soft.forward_dynamics.reference(x, xd, np.concatenate([np.zeros(n), tm]))
        differences.append(np.abs(found - [*qdd, *gear * qdd]).max() / np.abs(gear * qdd).max())
    assert differences[-1] < 1e-6
    assert differences[-1] < max(differences[0] * 1e-2, 1e-9)  # of the reduced model, in which no motor's angle is


# Edges


@pytest.mark.parametrize("stiffness", [1e1, 1e4, 1e7])
def test_round_trips_at_every_stiffness(stiffness):
    arm = cy.load("planar2r").with_drive("joint1", stiffness=stiffness, gear=-100.0, inertia=1e-4).with_drive(
        "joint2", stiffness=stiffness, damping=0.01 * stiffness, mass=0.3, tensor=np.diag([1e-4, 1e-4, 2e-4]))
    soft = arm.including("elastic drives")
    q, qd, qdd = states(soft)
    tau = soft.inverse_dynamics(q, qd, qdd)
    M = np.abs(soft.inverse_inertia_matrix(q)).max()
    assert np.abs(soft.forward_dynamics(q, qd, tau) - qdd).max() < 1e-12 * max(1.0, np.abs(tau).max()) * M


@pytest.mark.spec("S0-50")
def test_a_rotor_without_inertia_has_forces_but_no_acceleration():
    soft = cy.load("planar2r").with_drive("joint1", stiffness=100.0).including("elastic drives")
    tau = soft.inverse_dynamics([0.1, 0.2, 0.3], np.zeros(3), np.zeros(3))
    assert tau[2] == pytest.approx(20.0)
    with pytest.raises(SingularityError, match=r"joint1 motor.*its rotor an inertia, `with_drive\('joint1', inertia"):
        soft.forward_dynamics([0.1, 0.2, 0.3], np.zeros(3), tau)
    assert np.isnan(soft.forward_dynamics(np.zeros((2, 3)), np.zeros(3), tau)).all()


def test_the_single_link_of_the_worked_example():
    """WE-14: from (0.5, 0.3) at rest, after a second; the energy is 3.224174381096 less what it is at the bottom."""
    arm = cy.Mechanism.of("single", [Body("base"), Body("link", 1.0, (1.0, 0.0, 0.0))],
                          [Joint("joint1", "base", "link", Revolute())], gravity=(10.0, 0.0, 0.0))
    soft = arm.with_drive("joint1", stiffness=100.0, inertia=1.0).including("elastic drives")
    run = soft.simulate([0.5, 0.3], [0.0, 0.0], times=[0.0, 1.0], rtol=1e-11, atol=1e-12, progress=False)
    np.testing.assert_allclose(run.q[-1], [-0.243652924907, -0.215876929905], atol=1e-8)
    np.testing.assert_allclose(run.qd[-1], [-2.274458043196, 0.779296161312], atol=1e-8)
    energy = soft.kinetic_energy(run.q, run.qd) + soft.potential_energy(run.q)
    np.testing.assert_allclose(energy + 10.0, 3.224174381096, atol=1e-8)


def test_lagrangian_of_a_planar_arm_with_a_rotor_beside_its_joint():
    """Equations of motion by SymPy from T and U of points written down by hand: an off-centre rotor on the first link,
    beside the second joint, whose gear turns backwards."""
    t = sympy.Symbol("t")
    a, b, m = (sympy.Function(name)(t) for name in "abm")
    spot = sympy.Matrix([0.3 * sympy.cos(a) - 0.2 * sympy.sin(a), 0.3 * sympy.sin(a) + 0.2 * sympy.cos(a)])
    rotor = spot + 0.05 * sympy.Matrix([sympy.cos(a + m), sympy.sin(a + m)])
    first = 0.25 * sympy.Matrix([sympy.cos(a), sympy.sin(a)])
    second = 0.5 * sympy.Matrix([sympy.cos(a), sympy.sin(a)]) + 0.2 * sympy.Matrix([sympy.cos(a + b), sympy.sin(a + b)])
    mass, inertia = (2.0, 1.5, 0.4), (0.05, 0.03, 0.002)
    T = sum(M * (p.diff(t).dot(p.diff(t))) / 2 for M, p in zip(mass, (first, second, rotor), strict=True))
    T += sum(J * w.diff(t)**2 / 2 for J, w in zip(inertia, (a, a + b, a + m), strict=True))
    U = sum(9.81 * M * p[1] for M, p in zip(mass, (first, second, rotor), strict=True)) + 300.0 * (m / -7.0 - b)**2 / 2
    forces = [(T - U).diff(x.diff(t)).diff(t) - (T - U).diff(x) for x in (a, b, m)]
    place = np.eye(4)
    place[:2, 3] = 0.3, 0.2
    soft = cy.load("planar2r").with_drive("joint2", stiffness=300.0, gear=-7.0, mass=0.4, center=(0.05, 0.0, 0.0),
                                          tensor=np.diag([0.0, 0.0, 0.002]), place=place).including("elastic drives")
    q, qd, qdd = (state[0] for state in states(soft))
    values = {}
    for x, at, rate, second_rate in zip((a, b, m), q, qd, qdd, strict=True):
        values |= {x.diff(t, 2): second_rate, x.diff(t): rate, x: at}
    expected = [float(force.doit().subs(values)) for force in forces]
    np.testing.assert_allclose(soft.inverse_dynamics.reference(q, qd, qdd), expected, rtol=1e-10)
