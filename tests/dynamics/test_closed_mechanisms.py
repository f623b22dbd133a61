"""Forward dynamics of mechanisms with loops, couplings and mimic joints: beside Pinocchio, MuJoCo, the slider-crank of
the specification, closed forms, and the equations of the spanning tree solved by NumPy."""

from functools import cache

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics.mechanics.constrained import null_space
from cayley.errors import ConventionError, SingularityError, UnreachableError, UnsupportedError
from cayley.model.constraint_kinds import Coupling
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint, Loop

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
FORMULATIONS = ("multipliers", "augmented", "projection", "null space", "null space by svd")


def shift(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def four_bar(a=0.12, b=0.41, c=0.29, d=0.37, *, base=None, motion=None):
    """Rods of half a kilogram; the loop joins the ends of coupler and rocker."""
    def rod(name, length):
        return Body(name, 0.5, [length / 2, 0, 0], np.diag([1e-6, 1.0, 1.0]) * 0.5 * length**2 / 12)

    base = np.eye(4) if base is None else base
    joints = [Joint("crank", "base", "a", Revolute(), base), Joint("coupler", "a", "b", Revolute(), shift(a)),
              Joint("rocker", "base", "c", Revolute(), base @ shift(d))]
    return cy.Mechanism.of("four-bar", [Body("base"), rod("a", a), rod("b", b), rod("c", c)], joints,
                           gravity=(0.3, -9.81, 0.2),
                           frames=[Frame("tip of b", "b", shift(b)), Frame("tip of c", "c", shift(c))],
                           loops=[Loop("ring", "tip of b", "tip of c", motion or Revolute())])


@cache
def stewart():
    """A plate that floats, on six legs with a universal joint, a slide and a ball."""
    bodies = [Body("base"), Body("plate", 5.0, [0.02, -0.01, 0.03], np.diag([0.1, 0.12, 0.2]))]
    joints, frames, loops = [Joint("plate", "base", "plate", Floating())], [], []
    for k in range(6):
        foot = np.deg2rad(60.0 * k)
        top = foot + np.deg2rad(25 if k % 2 == 0 else -25)
        bodies += [Body(f"cylinder{k}", 1.0, [0, 0, 0.2], np.diag([0.02, 0.02, 0.001])),
                   Body(f"piston{k}", 0.7, [0, 0, -0.2], np.diag([0.01, 0.01, 0.001]))]
        joints += [Joint(f"foot{k}", "base", f"cylinder{k}", Universal(),
                         shift(0.8 * np.cos(foot), 0.8 * np.sin(foot))),
                   Joint(f"slide{k}", f"cylinder{k}", f"piston{k}", Prismatic())]
        frames.append(Frame(f"top{k}", "plate", shift(0.4 * np.cos(top), 0.4 * np.sin(top))))
        loops.append(Loop(f"ball{k}", f"piston{k}", f"top{k}", Spherical()))
    return cy.Mechanism.of("Stewart", bodies, joints, frames=frames, loops=loops)


def closed_state(arm, guess, seed=0):
    """A closed configuration near a guess, a velocity that the constraints allow, and forces."""
    random = np.random.default_rng(seed)
    found = arm.loops.close(guess)
    assert found.status == "closed"
    q = found.configuration
    A = arm.loops.jacobian(q)
    qd = random.normal(size=arm.nv)
    return q, qd - np.linalg.pinv(A, 1e-9) @ A @ qd, random.normal(size=arm.nv)


def by_null_space(arm, q, qd, tau):
    """The accelerations by NumPy, from the equations of the spanning tree."""
    free = arm.variants.spanning_tree()
    return null_space(free.inertia_matrix(q), tau - free.bias_forces(q, qd), arm.loops.jacobian(q),
                      arm.loops.drift(q, qd)).qdd


def stewart_guess():
    q = stewart().neutral.copy()
    q[2] = 0.9
    q[9::3] = 0.9
    return q


def accelerations_of_pinocchio(arm, q, qd, tau):
    """Those of the Stewart platform, and what the constraints found."""
    model = pin.Model()
    model.gravity.linear = arm.gravity

    def body(joint, name):
        own = arm.bodies[arm.tree.body_number(name)]
        model.appendBodyToJoint(joint, pin.Inertia(own.mass, np.array(own.center), np.array(own.inertia)),
                                pin.SE3.Identity())

    plate = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "plate")
    body(plate, "plate")
    contacts = []
    for k in range(6):
        foot = pin.SE3(np.eye(3), np.array(arm.joints[arm.tree.joint_number(f"foot{k}")].placement)[:3, 3])
        first = model.addJoint(0, pin.JointModelRX(), foot, f"x{k}")
        second = model.addJoint(first, pin.JointModelRY(), pin.SE3.Identity(), f"y{k}")
        body(second, f"cylinder{k}")
        slide = model.addJoint(second, pin.JointModelPZ(), pin.SE3.Identity(), f"z{k}")
        body(slide, f"piston{k}")
        top = pin.SE3(np.eye(3), np.array(arm.tree.frame(f"top{k}").pose)[:3, 3])
        contacts.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, slide, pin.SE3.Identity(), plate,
                                                 top, pin.ReferenceFrame.LOCAL))
    data = model.createData()
    models = pin.StdVec_RigidConstraintModel()
    models.extend(contacts)
    found = pin.StdVec_RigidConstraintData()
    found.extend([contact.createData() for contact in contacts])
    pin.initConstraintDynamics(model, data, models, found)
    there = np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])
    settings = pin.ProximalSettings(1e-14, 0.0, 1)
    return pin.constraintDynamics(model, data, there, qd, tau, models, found, settings).copy(), found


def test_a_stewart_platform_has_the_accelerations_of_pinocchio():
    arm = stewart()
    q, qd, tau = closed_state(arm, stewart_guess())
    expected, found = accelerations_of_pinocchio(arm, q, qd, tau)
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau), expected, atol=1e-10 * np.abs(expected).max())
    forces = arm.loops.forces(q, qd, tau).reshape(6, 3)
    for k in range(6):  # there along the axes of the piston, upon the piston
        R = arm.pose(q, f"piston{k}")[:3, :3]
        np.testing.assert_allclose(np.abs(R.T @ forces[k]), np.abs(found[k].contact_force.linear), rtol=1e-8, atol=1e-9)
    assert arm.loops.structure.mobility == arm.loops.structure.gruebler == 6


def test_the_soft_constraints_of_mujoco_come_to_the_same_accelerations_as_they_get_hard(tmp_path):
    arm = four_bar(motion=Spherical())
    arm.save(tmp_path / "bar.xml", leave_out=True)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "bar.xml"))
    data = mujoco.MjData(model)
    model.opt.tolerance = 1e-16
    q, qd, tau = closed_state(arm, [0.7, 0.4, 2.0])
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
    found, softness = [], []
    for impedance in (0.999, 0.9999):
        model.eq_solimp[:] = [impedance, impedance, 0.001, 0.5, 2.0]
        mujoco.mj_forward(model, data)
        found.append(data.qacc.copy())
        softness.append((1 - impedance) / impedance)
    hard = found[1] - (found[0] - found[1]) * softness[1] / (softness[0] - softness[1])
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau), hard, rtol=1e-6)


def specified_slider_crank():
    """The mechanism, and its state and loads in the order of its joints: theta, x, gamma."""
    from dynamics.test_constrained_motion import I1, I2, L1, L2, LOADS, M1, M2, M3, QD, G, L, Q, r
    bodies = [Body("base"), Body("crank", M1, [L1, 0, 0], np.diag([0, 0, I1])), Body("slider", M3),
              Body("rod", M2, [L2, 0, 0], np.diag([0, 0, I2]))]
    joints = [Joint("theta", "base", "crank", Revolute()), Joint("x", "base", "slider", Prismatic(X)),
              Joint("gamma", "slider", "rod", Revolute())]
    arm = cy.Mechanism.of("slider-crank", bodies, joints, gravity=(0, -G, 0), frames=[
        Frame("pin of crank", "crank", shift(r)), Frame("pin of rod", "rod", shift(L))],
        loops=[Loop("pin", "pin of crank", "pin of rod", Revolute())])
    order = [0, 2, 1]
    return arm, Q[order], QD[order], LOADS[order]


def test_the_slider_crank_of_the_specification_as_a_mechanism():
    from dynamics.test_constrained_motion import LAM, QDD
    arm, q, qd, tau = specified_slider_crank()
    order = [0, 2, 1]
    np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-15)
    for formulation in FORMULATIONS:
        np.testing.assert_allclose(arm.forward_dynamics.using(formulation)(q, qd, tau), QDD[order], rtol=1e-10)
        forces = arm.loops.forces.using(formulation)(q, qd, tau)
        np.testing.assert_allclose(forces[:2], LAM[::-1], rtol=1e-9)
        assert np.isnan(forces[2:]).all()


def test_redundant_rows_of_a_planar_loop_in_space_are_named_whatever_its_plane():
    plain = four_bar().loops.structure
    assert (plain.mobility, plain.gruebler, plain.rank) == (1, -2, 2)
    assert [row.holds for row in plain.redundant] == ["z", "tilt 1", "tilt 2"] and plain.by_structure
    assert plain.independent == (0,) and "independent: crank" in str(plain)
    random = np.random.default_rng(5)
    turned = np.asarray(cy.geometry.motions.pose_from_twist(random.normal(size=6)))
    arm = four_bar(base=turned)
    tilted = arm.loops.structure
    assert tilted.rank == 2 and tilted.by_structure and not any(tilted.determined[:3])
    q, qd, tau = closed_state(arm, [0.7, 0.4, 2.0])
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau), by_null_space(arm, q, qd, tau), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("motion", [Revolute(), Spherical(), Prismatic(X)], ids=["revolute", "spherical", "prismatic"])
def test_constraints_do_no_work_and_are_kept_by_the_accelerations(motion):
    arm = four_bar(motion=motion)
    guess = [0.7, 0.4, 2.0]
    q, qd, tau = closed_state(arm, guess)
    qdd = arm.forward_dynamics(q, qd, tau)
    A = arm.loops.jacobian(q)
    np.testing.assert_allclose(A @ qdd + arm.loops.drift(q, qd), 0.0, atol=1e-11)
    pushed = arm.variants.spanning_tree().inverse_dynamics(q, qd, qdd) - tau
    assert abs(pushed @ qd) < 1e-12 * (1 + np.abs(pushed).max())
    forces = np.nan_to_num(arm.loops.forces(q, qd, tau))
    np.testing.assert_allclose(A.T @ forces, pushed, atol=1e-10)


def test_bennetts_linkage_whose_redundancy_moves_has_its_accelerations():
    from kinematics.test_closure import bennett
    tree = bennett()
    bodies = [tree.bodies[0], *[Body(b.name, 1.0, [0.3, 0.1, 0.2], 0.05 * np.eye(3)) for b in tree.bodies[1:]]]
    arm = cy.Mechanism.of("Bennett", bodies, tree.joints, frames=tree.frames, loops=tree.loops)
    structure = arm.loops.structure
    assert (structure.mobility, structure.gruebler, structure.by_structure) == (1, -2, False)
    q, qd, tau = closed_state(arm, [0.8, -1.0, 0.5])
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau), by_null_space(arm, q, qd, tau), rtol=1e-8)
    for formulation in ("null space", "null space by svd"):
        np.testing.assert_allclose(arm.forward_dynamics.using(formulation)(q, qd, tau),
                                   by_null_space(arm, q, qd, tau), rtol=1e-10)
    with pytest.raises(UnsupportedError, match="changes with its configuration"):
        arm.forward_dynamics.using("projection")


def test_a_ring_of_many_kinds_of_joints_on_a_floating_base():
    from kinematics.test_constraint_kernels import ring
    arm, q, _ = ring(Universal())
    q, qd, tau = closed_state(arm, q)
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau), by_null_space(arm, q, qd, tau), rtol=1e-8, atol=1e-8)


def test_mimic_joints_and_gears_move_as_one_joint():
    hand = cy.load("panda_hand")
    random = np.random.default_rng(4)
    q = hand.random_configuration(seed=1)
    p, tau = random.normal(size=8), random.normal(size=9)
    E = np.eye(9)[:, :8]
    E[8, 7] = 1.0
    free = hand.variants.spanning_tree()
    expected = E @ np.linalg.solve(E.T @ free.inertia_matrix(q) @ E, E.T @ (tau - free.bias_forces(q, E @ p)))
    for formulation in ("multipliers", "projection"):
        np.testing.assert_allclose(hand.forward_dynamics.using(formulation)(q, E @ p, tau), expected, rtol=1e-9)
    wheels = [Body("base"), Body("wheel", 1.0, inertia=np.diag([0, 0, 0.9])), Body("pinion", 1.0,
                                                                                inertia=np.diag([0, 0, 0.1]))]
    gears = cy.Mechanism.of("gears", wheels, [Joint("wheel", "base", "wheel", Revolute()),
                                              Joint("pinion", "base", "pinion", Revolute())],
                            constraints=[Coupling("mesh", ("wheel", "pinion"), (3.0, 1.0))])
    # seen from the wheel: 0.9 + 9 * 0.1, and the pinion turns three times as fast the other way
    np.testing.assert_allclose(gears.forward_dynamics([0, 0], [0, 0], [1.8, 0.0]), [1.0, -3.0], rtol=1e-14)
    np.testing.assert_allclose(gears.loops.forces([0, 0], [0, 0], [1.8, 0.0]), [-0.3], rtol=1e-14)


def test_where_a_parallelogram_folds_flat_accelerations_do_not_follow():
    arm = four_bar(0.2, 0.5, 0.2, 0.5)
    flat = np.zeros(3)
    assert arm.loops.close(flat).independent == 2 > arm.loops.mobility == 1
    found = arm.loops.singularity(flat)
    assert (found.kind, found.mobility, found.dependent) == ("bifurcation", 2, ("ring",))
    with pytest.raises(SingularityError, match="'ring' of four-bar depend on each other at this configuration"):
        arm.forward_dynamics(flat, np.zeros(3), np.ones(3))
    both = arm.forward_dynamics(np.stack([flat, arm.loops.close([0.7, -0.7, 0.7]).configuration]), np.zeros(3),
                                np.ones(3))
    assert np.isnan(both[0]).all() and np.isfinite(both[1]).all()
    by_basis = arm.forward_dynamics.using("null space")
    again = by_basis(np.stack([flat, arm.loops.close([0.7, -0.7, 0.7]).configuration]), np.zeros(3), np.ones(3))
    assert np.isnan(again[0]).all()
    np.testing.assert_allclose(again[1], both[1], rtol=1e-9)
    with pytest.raises(SingularityError, match="'ring' of four-bar depend on each other"):
        by_basis(flat, np.zeros(3), np.ones(3))


@pytest.mark.spec("S2-67")
def test_the_null_space_is_a_formulation_of_whole_batches_in_both_precisions():
    arm = four_bar()
    random = np.random.default_rng(3)
    q = np.stack([arm.loops.close([angle, 0.4, 2.0]).configuration for angle in np.linspace(-3, 3, 25)])
    A = arm.loops.jacobian(q)[:, :2]
    qd = np.stack([np.ones(25), *np.linalg.solve(A[:, :, 1:], -A[:, :, :1])[:, :, 0].T], axis=1)
    tau = random.normal(size=(25, 3))
    by_basis = arm.forward_dynamics.using("null space")
    expected = np.stack([by_null_space(arm, *state) for state in zip(q, qd, tau, strict=True)])
    np.testing.assert_allclose(by_basis(q, qd, tau), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(arm.forward_dynamics.using("null space by svd")(q, qd, tau), expected, rtol=1e-9,
                               atol=1e-9)
    with pytest.raises(UnsupportedError, match="24 velocities"):
        stewart().forward_dynamics.using("null space by svd")
    np.testing.assert_allclose(by_basis(q, qd, tau, dtype=np.float32), expected, rtol=3e-3, atol=3e-2)
    free = arm.variants.spanning_tree()
    pushed = free.inverse_dynamics(q, qd, expected) - tau
    forces = np.stack([np.linalg.lstsq(a.T, f, rcond=None)[0] for a, f in zip(A, pushed, strict=True)])
    for formulation in FORMULATIONS:
        np.testing.assert_allclose(arm.loops.forces.using(formulation)(q, qd, tau)[:, :2], forces, rtol=1e-8,
                                   atol=1e-9)


def test_coordinates_at_their_dead_centre_are_refused_by_projection_alone():
    arm = four_bar(0.3, 0.4, 0.35, 0.6)  # the crank cannot turn round: coupler and rocker in a row stop it
    a, b, c, d = 0.3, 0.4, 0.35, 0.6
    crank = np.arccos((a**2 + d**2 - (b + c)**2) / (2 * a * d))
    tip = a * np.array([np.cos(crank), np.sin(crank)])
    along = np.array([d, 0.0]) - tip
    coupler = np.arctan2(along[1], along[0])
    q = np.array([crank, coupler - crank, coupler + np.pi])
    np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-15)
    qdd = arm.forward_dynamics(q, np.zeros(3), np.ones(3))
    np.testing.assert_allclose(qdd, by_null_space(arm, q, np.zeros(3), np.ones(3)), rtol=1e-9, atol=1e-12)
    found = arm.loops.singularity(q)
    assert (found.kind, found.stopped) == ("dead centre", ("crank",))
    rocker = np.arccos((c**2 + d**2 - (a + b)**2) / (2 * c * d))  # crank and coupler in a row: the rocker turns back
    stretched = np.arctan2(c * np.sin(rocker), d - c * np.cos(rocker))
    found = arm.loops.singularity([stretched, 0.0, np.pi - rocker])
    assert (found.kind, found.stopped, found.mobility) == ("dead centre", ("rocker",), 1)
    assert arm.loops.singularity(arm.loops.close([1.0, 0.3, 2.0]).configuration).kind == "regular"
    with pytest.raises(ConventionError, match="are open by"):
        arm.loops.singularity([0.3, 0.2, 0.1])
    with pytest.raises(SingularityError, match=r"do not follow from the velocities of crank .*dead centre"):
        arm.forward_dynamics.using("projection")(q, np.zeros(3), np.ones(3))


def test_rotors_and_viscous_friction_take_part_and_what_is_no_number_stays_none():
    from dataclasses import replace

    from cayley.model.parts import Rotor
    arm = four_bar()
    driven = arm.variants.with_joints(replace(arm.joints[0], rotor=Rotor(1e-4, gear=50.0))).with_friction("rocker",
                                                                                                          viscous=0.4)
    arm = driven.including("armature", "friction")
    q, qd, tau = closed_state(arm, [0.7, 0.4, 2.0])
    qdd = arm.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(qdd, by_null_space(arm, q, qd, tau), rtol=1e-9)
    assert np.abs(qdd - driven.including().forward_dynamics(q, qd, tau)).max() > 1.0
    for formulation in FORMULATIONS:
        assert np.isnan(arm.forward_dynamics.using(formulation)(q, qd * np.nan, tau)).all()
        assert np.isnan(arm.forward_dynamics.using(formulation)(q * np.nan, qd, tau)).all()


def test_a_link_without_mass_that_the_loop_holds_moves_by_the_augmented_form():
    arm = four_bar()
    q, qd, tau = closed_state(arm, [0.7, 0.4, 2.0])
    light = cy.Mechanism.of("light", [Body("b", 0.0) if body.name == "b" else body for body in arm.bodies], arm.joints,
                            frames=arm.frames, loops=arm.loops, gravity=arm.gravity)
    with pytest.raises(SingularityError, match=r"joint 'coupler' moves no mass.*using\(\"augmented\"\)"):
        light.forward_dynamics(q, qd, tau)
    free = light.variants.spanning_tree()
    N = np.linalg.svd(light.loops.jacobian(q))[2][2:]
    rows = np.concatenate([N @ free.inertia_matrix(q), light.loops.jacobian(q)])
    right = np.concatenate([N @ (tau - free.bias_forces(q, qd)), -light.loops.drift(q, qd)])
    for formulation in ("augmented", "null space"):
        np.testing.assert_allclose(light.forward_dynamics.using(formulation)(q, qd, tau),
                                   np.linalg.lstsq(rows, right, rcond=None)[0], rtol=1e-10)


def test_a_truss_stands_still_and_a_loop_that_holds_nothing_changes_nothing():
    def bar(name):
        return Body(name, 1.0, [0.1, 0, 0], 0.01 * np.eye(3))

    truss = cy.Mechanism.of("truss", [Body("base"), bar("a"), bar("b")], [
        Joint("a", "base", "a", Revolute()), Joint("b", "base", "b", Revolute(), shift(0.5))], frames=[
            Frame("end of a", "a", shift(0.3)), Frame("end of b", "b", shift(0.4))],
        loops=[Loop("knot", "end of a", "end of b", Revolute())])
    q = truss.loops.close([0.6, 2.2]).configuration
    assert truss.loops.mobility == 0 and truss.loops.structure.independent == ()
    for formulation in FORMULATIONS:
        np.testing.assert_allclose(truss.forward_dynamics.using(formulation)(q, np.zeros(2), np.ones(2)), 0, atol=1e-12)
    tied = four_bar(motion=Floating())
    state = np.array([[0.1, 0.2, 0.3], [1.0, -0.4, 0.6], [1.0, 2.0, 3.0]])
    np.testing.assert_allclose(tied.forward_dynamics(*state), tied.variants.spanning_tree().forward_dynamics(*state),
                               rtol=1e-12)
    assert tied.loops.forces(*state).shape == (0,)


def test_several_loops_that_share_links_are_closed_together():
    """A parallelogram with a third rocker moves, though a count says that it cannot; crossed it is stiff."""
    arm = four_bar(0.2, 0.5, 0.2, 0.5)
    rocker = Body("d", 0.5, [0.1, 0, 0], 0.002 * np.eye(3))
    double = cy.Mechanism.of("double", [*arm.bodies, rocker], [
        *arm.joints, Joint("rocker 2", "base", "d", Revolute(), shift(0.25))], gravity=arm.gravity, frames=[
            *arm.frames, Frame("middle of b", "b", shift(0.25)), Frame("tip of d", "d", shift(0.2))],
        loops=[*arm.loops, Loop("ring 2", "middle of b", "tip of d", Revolute())])
    q, qd, tau = closed_state(double, [0.7, -0.7, 0.7, 0.7])
    structure = double.loops.structure
    assert structure.mobility == double.loops.mobility == 1 and not structure.by_structure
    assert double.loops.singularity(q).kind == "regular"
    np.testing.assert_allclose(double.forward_dynamics(q, qd, tau), by_null_space(double, q, qd, tau), rtol=1e-7,
                               atol=1e-9)


def test_what_cannot_be_assembled_says_so():
    with pytest.raises(UnreachableError, match="constraints \\(ring\\)"):
        four_bar(c=5.0).forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))


def test_closed_dynamics_are_kernels_with_derivatives_batches_and_c():
    arm = four_bar()
    q, qd, tau = closed_state(arm, [0.7, 0.4, 2.0])
    derivative = arm.forward_dynamics.jacobian("q")(q, qd, tau)
    for k in range(3):
        step = 1e-6 * np.eye(3)[k]
        slope = (arm.forward_dynamics(q + step, qd, tau) - arm.forward_dynamics(q - step, qd, tau)) / 2e-6
        np.testing.assert_allclose(derivative[:, k], slope, rtol=1e-6, atol=1e-5)
    many = arm.forward_dynamics(np.tile(q, (7, 1)), qd, tau)
    np.testing.assert_array_equal(many, np.tile(many[0], (7, 1)))
    assert "forward_dynamics" in arm.forward_dynamics.c_source().source
    heavier = arm.forward_dynamics.with_parameters("mass")
    np.testing.assert_allclose(heavier(q, qd, tau, heavier.parameters.nominal), arm.forward_dynamics(q, qd, tau),
                               rtol=1e-12)


def test_external_wrenches_and_a_moving_base_act_on_a_closed_mechanism():
    arm = four_bar()
    q, qd, tau = closed_state(arm, [0.7, 0.4, 2.0])
    wrench = np.array([3.0, -2.0, 0.5, 0.1, 0.2, 0.7])
    pushed = tau + arm.jacobian(q, "tip of b", axes="body").T @ wrench
    found = arm.forward_dynamics.with_inputs(wrenches=["tip of b"])(q, qd, tau, wrench)
    np.testing.assert_allclose(found, arm.forward_dynamics(q, qd, pushed), rtol=1e-11, atol=1e-11)
    moving = arm.forward_dynamics.with_inputs(base_motion=True)
    fall = arm.with_gravity(arm.gravity - [0.4, 0.7, 0.0])  # a base that is accelerated is a change of gravity
    np.testing.assert_allclose(moving(q, qd, tau, np.zeros(3), [0.4, 0.7, 0, 0, 0, 0]),
                               fall.forward_dynamics(q, qd, tau), rtol=1e-11, atol=1e-11)


def test_what_unit_forces_do_takes_the_place_of_the_inverse_of_the_mass_matrix():
    for arm, guess in ((four_bar(), [0.7, 0.4, 2.0]), (cy.load("panda_hand"), np.full(9, 0.02))):
        q, qd, tau = closed_state(arm, guess)
        found = arm.inverse_inertia_matrix(q)
        M = arm.variants.spanning_tree().inertia_matrix(q)
        N = np.linalg.svd(arm.loops.jacobian(q))[2][arm.nv - arm.loops.mobility:].T
        np.testing.assert_allclose(found, N @ np.linalg.solve(N.T @ M @ N, N.T), rtol=1e-8, atol=1e-9)
        changed = arm.forward_dynamics(q, qd, tau + 1.0) - arm.forward_dynamics(q, qd, tau)
        np.testing.assert_allclose(found.sum(axis=1), changed, rtol=1e-7, atol=1e-8)
    flat = four_bar(0.2, 0.5, 0.2, 0.5)
    looked = flat.formulations.inertia_regularity([[0.0, 0.0, 0.0], flat.loops.close([0.7, -0.7, 0.7]).configuration,
                                                   [np.nan, 0, 0]])
    assert looked.regular.tolist() == [False, True, False]
    assert "'ring' of four-bar depend on each other" in looked.reasons[0]
    assert looked.reasons[1:].tolist() == ["", "the configuration is not finite"]
    with pytest.raises(SingularityError, match="depend on each other"):
        flat.inverse_inertia_matrix(np.zeros(3))


def test_dry_friction_holds_a_closed_mechanism_of_one_freedom_as_long_as_all_its_joints_can():
    arm = four_bar()
    rubbing = arm.with_friction("crank", coulomb=0.2).with_friction("rocker", coulomb=0.4).with_friction(
        "coupler", coulomb=0.1).including("friction")
    q, qd, _ = closed_state(arm, [0.7, 0.4, 2.0])
    sliding = rubbing.forward_dynamics(q, qd, np.zeros(3))
    np.testing.assert_allclose(sliding, arm.forward_dynamics(q, qd, -np.array([0.2, 0.1, 0.4]) * np.sign(qd)),
                               rtol=1e-11)
    n = qd / qd[0]
    gravity = n @ arm.variants.spanning_tree().gravity_forces(q)
    most = np.abs(n) @ [0.2, 0.1, 0.4]
    free = 1 / (n @ arm.variants.spanning_tree().inertia_matrix(q) @ n)
    for push in (-3 * most, -0.9 * most, 0.0, 0.9 * most, 3 * most):
        tau = np.array([gravity + push, 0.0, 0.0])
        expected = n * free * np.sign(push) * max(abs(push) - most, 0.0)
        for formulation in FORMULATIONS:
            np.testing.assert_allclose(rubbing.forward_dynamics.using(formulation)(q, np.zeros(3), tau), expected,
                                       rtol=1e-9, atol=1e-9)
    with pytest.raises(UnsupportedError, match=r"dry friction.*simulate"):
        cy.load("five_bar").with_friction("left crank", coulomb=1.0).including("friction").forward_dynamics(
            np.zeros(4), np.zeros(4), np.zeros(4))


def test_a_state_whose_numbers_are_beyond_the_precision_is_said_so_and_nan_in_a_batch():
    bar = cy.load("four_bar")
    q, tau = np.zeros(3), np.zeros(3)
    qd = bar.loops.consistent_velocity(q, [1e200, 0.0, 0.0])
    with pytest.raises(SingularityError, match=r"the equations of four_bar have no answer in this precision"):
        bar.forward_dynamics(q, qd, tau)
    assert np.isnan(bar.forward_dynamics(np.stack([q, q]), qd, tau)).all()
