"""Gibbs-Appell, Nielsen and Tzenov: equal to Lagrange, Pinocchio and closed forms, with constraints and without."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics.inverse.energy_forms import FORMS
from cayley.dynamics.mechanics.lagrange import gibbs_appell, lagrange_system
from cayley.dynamics.nonholonomic import nonholonomic_system
from cayley.errors import ConventionError, UnsupportedError
from cayley.model.joint_kinds import Floating, Helical, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint
from dynamics.chains import random_body
from kinematics.pinocchio_trees import PinocchioTree
from model.random_trees import random_pose

pytestmark = pytest.mark.spec("S0-84")


def close(found, expected, tolerance=1e-11):
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def branched(kinds, seed=0):
    """A body on each joint, the second and third on the first."""
    random = np.random.default_rng(seed)
    bodies = [Body("root"), *[random_body(f"link{k}", random) for k in range(len(kinds))]]
    parents = ["root", "link0", "link0", *[f"link{k}" for k in range(2, len(kinds))]]
    joints = [Joint(f"joint{k}", parent, f"link{k}", kind, random_pose(random))
              for k, (parent, kind) in enumerate(zip(parents, kinds, strict=False))]
    return cy.Mechanism.of("branched", bodies, joints, gravity=(1.0, -2.0, -9.0))


def of_pinocchio(arm, q, qd, qdd):
    here = PinocchioTree.of(arm.tree)
    here.model.gravity.linear = np.array(arm.gravity)
    return pin.rnea(here.model, here.model.createData(), here.q(q), qd, qdd)


# Any system


def test_systems_by_their_energies():
    """Lagrange's, Nielsen's and Tzenov's forces of a system with time, dissipation and forces of its own; the closed
    form of the bead on a turning hoop."""
    system = lagrange_system(
        lambda q, qd, t: (1 + np.sin(q[0]) * q[1]) * qd[0]**2 + qd[1]**2 * (2 + q[0]**2) + qd[0] * qd[1] * np.cos(t),
        lambda q, t: np.cos(q[0]) * q[1]**2 + t * q[0], forces=lambda q, qd: [q[1], qd[0]],
        dissipation=lambda q, qd: 0.3 * qd[0]**2 + 0.1 * qd[1]**4)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 20, 2))
    t = np.linspace(0.0, 3.0, 20)
    wanted = system.generalized_forces(q, qd, qdd, t)
    close(system.nielsen(q, qd, qdd, t), wanted, 1e-13)
    close(system.tzenov(q, qd, qdd, t), wanted, 1e-13)
    bead = lagrange_system(lambda q, qd, t: (qd[0]**2 + (3.0 * np.sin(q[0]))**2) / 2 + 9.81 * np.cos(q[0]))
    closed = qdd[:, :1] - 9 * np.sin(q[:, :1]) * np.cos(q[:, :1]) + 9.81 * np.sin(q[:, :1])
    close(bead.nielsen(q[:, :1], qd[:, :1], qdd[:, :1], t), closed, 1e-13)
    close(bead.tzenov(q[:, :1], qd[:, :1], qdd[:, :1], t), closed, 1e-13)


def points_of_a_sleigh(q, qd, qdd):
    """Velocities and accelerations of two particles, 0.3 and 0.8 ahead of the contact (x, y, angle), the second 0.2 to
    the left."""
    c, s = np.cos(q[2]), np.sin(q[2])
    moved = []
    for ahead, left in ((0.3, 0.0), (0.8, 0.2)):
        rx, ry = ahead * c - left * s, ahead * s + left * c
        v = np.stack([qd[0] - ry * qd[2], qd[1] + rx * qd[2]])
        a = np.stack([qdd[0] - ry * qdd[2] - rx * qd[2]**2, qdd[1] + rx * qdd[2] - ry * qd[2]**2])
        moved.append((v, a))
    return moved


def test_a_sleigh_by_the_accelerations_of_its_particles():
    """A constraint on velocities: dS/dpidd in pseudo-velocities is Hamel's, and Routh's with multipliers, which come
    from the kinetic energy; Nielsen's and Tzenov's forces along the pseudo-velocities are the same."""
    masses = (2.0, 0.7)

    def kinetic(q, qd):
        return sum(m * (v @ v) / 2 for m, (v, _) in zip(masses, points_of_a_sleigh(q, qd, 0 * q), strict=True))

    def frame(q):
        return [[np.cos(q[2]), np.sin(q[2]), 0.0], [0.0, 0.0, 1.0]]

    def motion(q, pid, pidd):
        c, s = np.cos(q[2]), np.sin(q[2])
        qd = np.stack([c * pid[0], s * pid[0], pid[1]])
        turning = pid[0] * pid[1]
        return qd, np.stack([c * pidd[0] - s * turning, s * pidd[0] + c * turning, pidd[1]])

    def slope(q):
        return 3.0 * q[0] - q[1] * q[0]

    sleigh = nonholonomic_system(kinetic, slope, constraints=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0.0]],
                                 pseudo_velocities=frame)
    appell = gibbs_appell(lambda q, qd, qdd: sum(m * (a @ a) / 2 for m, (_, a) in zip(
        masses, points_of_a_sleigh(q, qd, qdd), strict=True)), slope, motion=motion)
    q, pid, pidd = np.array([0.4, -0.3, 0.7]), np.array([0.9, 1.5]), np.array([-0.6, 0.8])
    wanted = sleigh.hamel_forces(q, pid, pidd).forces
    close(appell(q, pid, pidd), wanted, 1e-13)
    qd, qdd = motion(q, pid, pidd)
    forces = np.array(frame(q)).T @ np.linalg.solve(np.array(frame(q)) @ np.array(frame(q)).T, wanted)
    close(sleigh.routh(q, qd, forces).qdd, qdd, 1e-12)
    for form in (sleigh.mechanics.nielsen, sleigh.mechanics.tzenov):
        close(np.array(frame(q)) @ form(q, qd, qdd), wanted, 1e-13)


# Mechanisms


@pytest.mark.parametrize("form", FORMS)
def test_a_tree_of_turns_and_slides(form):
    arm = branched([Revolute((0.0, 0.6, 0.8)), Prismatic((1.0, 0.0, 0.0)), Helical((0.0, 0.0, 1.0), 0.3), Revolute()])
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 4))
    close(arm.inverse_dynamics.by_energy(form).reference(q, qd, qdd), of_pinocchio(arm, q, qd, qdd))
    real = arm.with_friction("joint1", viscous=2.0).with_drive("joint0", inertia=0.4).including("friction", "armature")
    wanted = real.inverse_dynamics.reference(q, qd, qdd)
    close(real.inverse_dynamics.by_energy(form).reference(q, qd, qdd), wanted)
    assert np.abs(wanted - of_pinocchio(arm, q, qd, qdd)).max() > 0.1


def test_gibbs_and_appell_know_every_joint():
    """Velocities that are no rates of coordinates; the other forms refuse them by name."""
    arm = branched([Floating(), Spherical(), Revolute((0.6, 0.0, 0.8))], 3)
    q = arm.random_configuration(seed=4)
    qd, qdd = np.random.default_rng(5).normal(size=(2, arm.nv))
    close(arm.inverse_dynamics.by_energy("gibbs-appell").reference(q, qd, qdd), of_pinocchio(arm, q, qd, qdd))
    for form in ("nielsen", "tzenov"):
        with pytest.raises(UnsupportedError, match="joint 'joint0' of branched, which is floating"):
            arm.inverse_dynamics.by_energy(form)
    with pytest.raises(ConventionError, match="did you mean 'nielsen'"):
        arm.inverse_dynamics.by_energy("nilsen")
    with pytest.raises(ConventionError, match="by_energy"):
        arm.inverse_dynamics.using("tzenov")


@pytest.mark.parametrize(("name", "forms"), [("four_bar", FORMS), ("panda_hand", ["nielsen"]),
                                             ("two_wheel_robot", ["gibbs-appell"])])
def test_closed_mechanisms_mimic_joints_and_wheels(name, forms):
    """Forces of the actuated joints are those of Lagrange's equations with multipliers; dS/dpdd of independent joints
    is what minimal coordinates need; and these forces give the motion back."""
    machine = cy.load(name)
    q, own = machine.random_configuration(seed=6), machine.loops.minimal_dynamics()
    pd, pdd = np.random.default_rng(7).normal(size=(2, len(own.places)))
    qd, qdd = own.motion.reference(q, pd, pdd)
    needed = own.inertia_matrix.reference(q) @ pdd + own.bias_forces.reference(q, pd)
    close(own.appell_forces.reference(q, pd, pdd), needed)
    tau = machine.inverse_dynamics.reference(q, qd, qdd)
    for form in forms:
        close(machine.inverse_dynamics.by_energy(form).reference(q, qd, qdd), tau, 1e-9)
    close(own.forces.reference(q, tau), needed, 1e-9)
    close(machine.forward_dynamics.reference(q, qd, tau), qdd, 1e-8)


def test_numbers_batches_and_parameters():
    arm = cy.load("s1_f2")
    q, qd, qdd = np.random.default_rng(8).normal(size=(3, 5, 2))
    for form in ("gibbs-appell", "tzenov"):
        by = arm.inverse_dynamics.by_energy(form)
        close(by(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd), 1e-13)
        close(by.reference(q[0], qd[0], qdd[0]), by(q[0], qd[0], qdd[0]), 1e-13)  # the text on numbers
    heavy = arm.inverse_dynamics.by_energy("gibbs-appell").with_parameters("mass")
    close(heavy(q, qd, qdd, heavy.parameters.with_values({"link2.mass": 3.0})),
          arm.inverse_dynamics.with_parameters("mass")(q, qd, qdd, heavy.parameters.with_values({"link2.mass": 3.0})))
    bar = cy.load("four_bar")  # compiled, with a constraint
    closed, own = bar.loops.close([0.5, 0.0, 0.0]).configuration, bar.loops.minimal_dynamics("crank")
    close(own.appell_forces(closed, [1.5], [2.0]), own.appell_forces.reference(closed, [1.5], [2.0]), 1e-13)
