"""Derivatives and linear models of mechanisms with loops: beside Pinocchio, 50 digits, closed forms, and the motion of
the closed mechanism itself."""

import mpmath
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.dynamics.linearised.state_space import LinearisedMechanism
from cayley.errors import ConventionError, SingularityError, UnsupportedError
from cayley.model.constraint_kinds import Coupling, PrescribedMotion, Rod
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Loop
from dynamics.test_closed_mechanisms import closed_state, four_bar, shift

GUESS = [0.7, 0.4, 2.0]


def slopes(f, x, step=1e-6):
    return np.stack([(f(x + e) - f(x - e)) / (2 * step) for e in step * np.eye(len(x))], axis=-1)


def test_derivatives_of_accelerations_and_forces_are_those_of_pinocchio():
    arm = four_bar(motion=Spherical())
    q, qd, tau = closed_state(arm, GUESS)
    model = pin.Model()
    model.gravity.linear = arm.gravity
    number = {"base": 0}
    for joint, body in zip(arm.joints, arm.bodies[1:], strict=True):
        place = np.array(joint.placement)
        number[body.name] = model.addJoint(number[joint.parent], pin.JointModelRZ(),
                                           pin.SE3(place[:3, :3], place[:3, 3]), joint.name)
        own = pin.Inertia(body.mass, np.array(body.center), np.array(body.inertia))
        model.appendBodyToJoint(number[body.name], own, pin.SE3.Identity())
    ends = [pin.SE3(np.eye(3), np.array(arm.tree.frame(name).pose)[:3, 3]) for name in ("tip of b", "tip of c")]
    contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, number["b"], ends[0], number["c"], ends[1],
                                       pin.ReferenceFrame.LOCAL)
    data = model.createData()
    contacts, found = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    contacts.append(contact)
    found.append(contact.createData())
    pin.initConstraintDynamics(model, data, contacts, found)
    settings = pin.ProximalSettings(1e-15, 1e-14, 50)  # the row across the plane is redundant
    pin.constraintDynamics(model, data, q, qd, tau, contacts, found, settings)
    pin.computeConstraintDynamicsDerivatives(model, data, contacts, found, settings)
    ours = arm.forward_derivatives(q, qd, tau)
    for own, theirs in ((ours.qdd, data.ddq), (ours.by_qd, data.ddq_dv), (ours.by_tau, data.ddq_dtau)):
        np.testing.assert_allclose(own, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())

    def accelerations(q):  # whose own derivatives by q are not these slopes where a loop has a moving first body
        return pin.constraintDynamics(model, data, q, qd, tau, contacts, found, settings).copy()

    np.testing.assert_allclose(ours.by_q, slopes(accelerations, q), rtol=1e-6, atol=1e-5)


def test_forces_of_constraints_have_their_derivatives_and_the_undetermined_ones_none():
    arm = four_bar()
    q, qd, tau = closed_state(arm, GUESS)
    ours = arm.forward_derivatives(q, qd, tau)
    np.testing.assert_allclose(ours.forces, arm.loops.forces(q, qd, tau), rtol=1e-12)
    for own, theirs in ((ours.forces_by_q, slopes(lambda x: arm.loops.forces(x, qd, tau), q)),
                        (ours.forces_by_qd, slopes(lambda x: arm.loops.forces(q, x, tau), qd)),
                        (ours.forces_by_tau, slopes(lambda x: arm.loops.forces(q, qd, x), tau))):
        np.testing.assert_allclose(own[:2], theirs[:2], rtol=1e-6, atol=1e-7)
        assert np.isnan(own[2:]).all()
    many = arm.forward_derivatives(np.tile(q, (5, 1)), qd, tau)
    np.testing.assert_allclose(many.by_q[3], ours.by_q, rtol=1e-13, atol=1e-11)
    heavier = arm.forward_derivatives.with_parameters("mass")
    np.testing.assert_allclose(heavier(q, qd, tau, heavier.parameters.nominal).by_q, ours.by_q, rtol=1e-11)


def engine():
    """The slider-crank of the specification, its rod seen from the slider."""
    from dynamics.test_constrained_motion import I1, I2, L1, L2, M1, M2, M3, G, L, r
    bodies = [Body("base"), Body("crank", M1, [L1, 0, 0], np.diag([0, 0, I1])), Body("slider", M3),
              Body("rod", M2, [L2, 0, 0], np.diag([0, 0, I2]))]
    joints = [Joint("theta", "base", "crank", Revolute()), Joint("x", "base", "slider", Prismatic((1.0, 0.0, 0.0))),
              Joint("gamma", "slider", "rod", Revolute())]
    return cy.Mechanism.of("engine", bodies, joints, gravity=(0, -G, 0), frames=[
        Frame("pin of crank", "crank", shift(r)), Frame("pin of rod", "rod", shift(L))],
        loops=[Loop("pin", "pin of crank", "pin of rod", Revolute())])


def test_the_slider_crank_has_the_linear_model_of_its_one_coordinate_in_fifty_digits():
    from dynamics.test_constrained_motion import I1, I2, L1, L2, LOADS, M1, M2, M3, QD, G, L, Q, r

    def acceleration(theta, rate, crank=LOADS[0]):
        """Lagrange's equation of the crank, which the rod and the slider follow; forces on crank and slider."""
        def gamma(th):
            return mpmath.pi - mpmath.asin(r / mpmath.mpf(L) * mpmath.sin(th))

        def x(th):
            return r * mpmath.cos(th) - L * mpmath.cos(gamma(th))

        def inertia(th):
            turn, slide = mpmath.diff(gamma, th), mpmath.diff(x, th)
            vx, vy = slide - L2 * mpmath.sin(gamma(th)) * turn, L2 * mpmath.cos(gamma(th)) * turn
            return I1 + M1 * mpmath.mpf(L1)**2 + I2 * turn**2 + M2 * (vx**2 + vy**2) + M3 * slide**2

        def potential(th):
            return G * (M1 * L1 * mpmath.sin(th) + M2 * L2 * mpmath.sin(gamma(th))) - LOADS[2] * x(th)

        force = crank - mpmath.diff(potential, theta) - mpmath.diff(inertia, theta) * rate**2 / 2
        return force / inertia(theta)

    with mpmath.workdps(50):
        theta, rate = mpmath.mpf(Q[0]), mpmath.mpf(QD[0])
        by_state = [float(mpmath.diff(acceleration, (theta, rate), n)) for n in ((1, 0), (0, 1))]
        by_crank = float(mpmath.diff(lambda tau: acceleration(theta, rate, tau), mpmath.mpf(LOADS[0])))
    order = [0, 2, 1]
    model = LinearisedMechanism(engine().tree).at_forces(Q[order], QD[order], LOADS[order])
    assert model.independent == ("theta",)
    np.testing.assert_allclose(model.A, [[0, 1], by_state], rtol=1e-9)
    np.testing.assert_allclose(model.B[1, 0], by_crank, rtol=1e-12)
    np.testing.assert_allclose(model.D, 1 / by_crank, rtol=1e-12)


def hanging_parallelogram():
    """Two equal cranks that hang, and a coupler that stays level."""
    bodies = [Body("base"), Body("a", 0.7, [0.15, 0, 0], 0.004 * np.eye(3)),
              Body("b", 1.3, [0.2, 0.05, 0], 0.1 * np.eye(3)),
              Body("c", 0.7, [0.15, 0, 0], 0.004 * np.eye(3))]
    joints = [Joint("crank", "base", "a", Revolute()), Joint("coupler", "a", "b", Revolute(), shift(0.3)),
              Joint("rocker", "base", "c", Revolute(), shift(0.4))]
    return cy.Mechanism.of("parallelogram", bodies, joints, gravity=(0, -9.81, 0), frames=[
        Frame("end", "b", shift(0.4)), Frame("top", "c", shift(0.3))], loops=[Loop("ring", "end", "top", Revolute())])


def test_a_hanging_four_bar_swings_with_the_frequency_of_its_closed_form():
    arm = hanging_parallelogram()
    hanging = np.array([-np.pi / 2, np.pi / 2, -np.pi / 2])
    np.testing.assert_allclose(arm.loops.residual(hanging), 0.0, atol=1e-15)
    inertia = 2 * (0.004 + 0.7 * 0.15**2) + 1.3 * 0.3**2
    swing = np.sqrt(9.81 * (2 * 0.7 * 0.15 + 1.3 * 0.3) / inertia)
    model = LinearisedMechanism(arm.tree).at(hanging)
    np.testing.assert_allclose(model.tau, 0.0, atol=1e-14)
    np.testing.assert_allclose(sorted(model.poles.imag), [-swing, swing], rtol=1e-12)
    np.testing.assert_allclose(model.poles.real, 0.0, atol=1e-12)
    assert model.driven_by([0]).controllable
    whole = np.sort(np.abs(np.linalg.eigvals(arm.system().linearize({"q": hanging, "qd": np.zeros(3)}).A)))
    np.testing.assert_allclose(whole, [0, 0, 0, 0, swing, swing], atol=1e-5)  # a system's has those that open the loop
    upright = LinearisedMechanism(arm.tree).at(-hanging)
    np.testing.assert_allclose(sorted(upright.poles.real), [-swing, swing], rtol=1e-12)
    D, V, P = arm.linearize(hanging, np.zeros(3), np.zeros(3))
    np.testing.assert_allclose([D, V, P], [[[inertia]], [[0]], [[inertia * swing**2]]], rtol=1e-12, atol=1e-14)
    rubbing = arm.with_friction("rocker", viscous=0.02).including("friction")
    damped = LinearisedMechanism(rubbing.tree).at(hanging)
    np.testing.assert_allclose(-damped.poles.real, 0.02 / (2 * inertia), rtol=1e-10)
    both = LinearisedMechanism(arm.tree, ("rocker",)).at(np.stack([hanging, -hanging]))
    np.testing.assert_allclose(both.A[0], model.A, rtol=1e-11, atol=1e-11)
    assert both.independent == ("rocker",) and both.A.shape == (2, 2, 2)


def on_the_manifold(arm, q, rates, places):
    """The configuration near q in which the constraints are kept, and the velocity with these rates at the places."""
    q = arm.loops.close(q).configuration
    A = arm.loops.jacobian(q)
    rows = np.concatenate([A, np.eye(arm.nv)[list(places)]])
    return q, np.linalg.lstsq(rows, np.concatenate([np.zeros(len(A)), rates]), rcond=None)[0]


def check_along_the_manifold(arm, q, qd, tau, names=None, atol=1e-5):
    """The linear model beside differences between neighbours that are closed mechanisms."""
    model = LinearisedMechanism(arm.tree, names).at_forces(q, qd, tau)
    places, m = list(model.places), len(model.places)
    step = 1e-4
    found = []
    for k in range(2 * m):
        ends = []
        for side in (step, -step):
            dp, dpd = np.split(side * np.eye(2 * m)[k], 2)
            state = on_the_manifold(arm, arm.integrate(q, model.N @ dp), qd[places] + dpd, places)
            ends.append(arm.forward_dynamics(*state, tau)[places])
        found.append((ends[0] - ends[1]) / (2 * step))
    scale = np.abs(model.A).max()
    np.testing.assert_allclose(model.A[m:], np.stack(found, axis=1), rtol=1e-5, atol=atol * scale)
    qdd = arm.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(model.qdd, qdd, rtol=1e-9, atol=1e-9 * np.abs(qdd).max())
    return model


def test_linear_models_follow_the_closed_motion_of_spherical_joints_and_floating_bodies():
    def link(name):
        return Body(name, 1.0, [0.1, 0.05, -0.02], np.diag([0.02, 0.03, 0.04]))

    stand = cy.Mechanism.of("stand", [Body("base"), link("a"), link("b")], [
        Joint("ball", "base", "a", Spherical()), Joint("hinge", "a", "b", Revolute((0.0, 1.0, 0.0)), shift(0.3))],
        frames=[Frame("tip", "b", shift(0.3)), Frame("post", "base", shift(0.3, 0.2, 0.1))],
        loops=[Loop("cup", "tip", "post", Spherical())])
    q, qd, tau = closed_state(stand, stand.configurations.normalized([1.0, 0.1, 0.2, 0.3, 0.8]))
    model = check_along_the_manifold(stand, q, qd, tau)
    assert model.A.shape == (2 * stand.loops.mobility, 2 * stand.loops.mobility) == (2, 2)
    stone = cy.Mechanism.of("stone", [Body("base"), link("a")], [Joint("free", "base", "a", Floating())], frames=[
        Frame("hook", "a", shift(0.1, 0.2))], constraints=[Rod("wire", "base", "hook", 0.7)])
    q, qd, tau = closed_state(stone, stone.configurations.normalized([0.1, 0.2, -0.6, 1.0, 0.1, 0.2, 0.3]))
    check_along_the_manifold(stone, q, 0.5 * qd, 0.1 * tau)
    tied = cy.Mechanism.of("tied", stone.bodies, stone.joints, frames=stone.frames, loops=[
        Loop("nothing", "base", "hook", Floating())])
    model = LinearisedMechanism(tied.tree).at_forces(q, qd, tau)  # the axes in which perturbations are measured turn
    free = LinearisedMechanism(tied.variants.spanning_tree().tree).at_forces(q, qd, tau)
    for name in ("A", "B", "qdd", "D", "V", "P"):
        np.testing.assert_allclose(getattr(model, name), getattr(free, name), rtol=1e-10, atol=1e-11)


def test_linear_models_of_bennetts_linkage_and_of_mimic_joints():
    from kinematics.test_closure import bennett
    tree = bennett()
    bodies = [tree.bodies[0], *[Body(b.name, 1.0, [0.3, 0.1, 0.2], 0.05 * np.eye(3)) for b in tree.bodies[1:]]]
    arm = cy.Mechanism.of("Bennett", bodies, tree.joints, frames=tree.frames, loops=tree.loops)
    check_along_the_manifold(arm, *closed_state(arm, [0.8, -1.0, 0.5]))
    check_along_the_manifold(arm, *closed_state(arm, [0.8, -1.0, 0.5]), names=(arm.joint_names[2],))
    wheels = [Body("base"), Body("wheel", 1.0, [0.1, 0, 0], np.eye(3)), Body("pinion", 1.0, [0.05, 0, 0], np.eye(3))]
    gears = cy.Mechanism.of("gears", wheels, [Joint("wheel", "base", "wheel", Revolute()),
                                              Joint("pinion", "wheel", "pinion", Revolute(), shift(0.4))],
                            gravity=(0, -9.81, 0), constraints=[Coupling("mesh", ("wheel", "pinion"), (3.0, 1.0))])
    check_along_the_manifold(gears, *closed_state(gears, [0.3, 0.2]))


def test_sensitivities_are_those_of_the_forces_at_the_independent_joint():
    arm = four_bar()
    q, qd, tau = closed_state(arm, GUESS)
    free = arm.variants.spanning_tree()
    qdd = arm.forward_dynamics(q, qd, tau)

    def closed_at(crank):
        """In closed form, on the branch of q."""
        a, b, c, d = 0.12, 0.41, 0.29, 0.37
        way = np.array([d - a * np.cos(crank), -a * np.sin(crank)])
        length = np.hypot(*way)
        bend = np.arccos((b * b + length * length - c * c) / (2 * b * length))
        coupler = np.arctan2(way[1], way[0]) + bend
        end = a * np.array([np.cos(crank), np.sin(crank)]) + b * np.array([np.cos(coupler), np.sin(coupler)])
        return np.array([crank, coupler - crank, np.arctan2(end[1], end[0] - d)])

    def needed(motion):
        """The force at the crank alone, by NumPy from the tree, for a motion of it that the others follow."""
        p, pd, pdd = motion
        at = closed_at(p)
        A = arm.loops.jacobian(at)[:2]
        N = np.array([1.0, *np.linalg.solve(A[:, 1:], -A[:, 0])])
        others = np.linalg.solve(A[:, 1:], -arm.loops.drift(at, N * pd)[:2] - A[:, 0] * pdd)
        return np.array([N @ free.inverse_dynamics(at, N * pd, np.array([pdd, *others]))])

    np.testing.assert_allclose(closed_at(q[0]), q, atol=1e-12)
    by_p, by_pd, by_pdd = slopes(needed, np.array([q[0], qd[0], qdd[0]]))[0]
    D, V, P = arm.linearize(q, qd, qdd)
    np.testing.assert_allclose([D[0, 0], V[0, 0], P[0, 0]], [by_pdd, by_pd, by_p], rtol=1e-6)


def test_states_that_are_not_closed_and_bad_choices_are_named():
    arm = hanging_parallelogram()
    mechanism = LinearisedMechanism(arm.tree)
    with pytest.raises(ConventionError, match="closed configurations, and this is open by"):
        mechanism.at([0.3, 0.2, 0.1])
    q = arm.loops.close([0.7, -0.7, 0.7]).configuration
    with pytest.raises(ConventionError, match="velocities with A qd = 0"):
        mechanism.at(q, np.ones(3))
    with pytest.raises(ConventionError, match="accelerations with A qdd"):
        mechanism.at(q, np.zeros(3), np.ones(3))
    with pytest.raises(ConventionError, match=r"no velocity 'crnak'.*crank"):
        LinearisedMechanism(arm.tree, ("crnak",)).at(q)
    with pytest.raises(ConventionError, match="mobility 1"):
        LinearisedMechanism(arm.tree, ("crank", "rocker")).at(q)
    with pytest.raises(SingularityError, match="depend on each other"):
        mechanism.at(np.zeros(3))
    top = engine()
    with pytest.raises(SingularityError, match="do not follow from the velocities of x"):
        LinearisedMechanism(top.tree, ("x",)).at([0.0, 0.45, np.pi])


def test_constraints_on_velocities_and_on_time_have_derivatives_and_no_model_of_a_state_alone():
    from dynamics.test_rolling import BLADE, sleigh
    arm = sleigh(BLADE)
    q, tau = np.array([0.3, -0.2, 0.7]), np.array([0.5, 0.2, -0.3])
    qd = np.array([np.cos(0.7), np.sin(0.7), 0.4])
    found = arm.forward_derivatives(q, qd, tau)
    np.testing.assert_allclose(found.by_q, slopes(lambda x: arm.forward_dynamics(x, qd, tau), q), atol=1e-7)
    np.testing.assert_allclose(found.by_qd, slopes(lambda x: arm.forward_dynamics(q, x, tau), qd), atol=1e-7)
    for asked in (lambda: arm.linearize(q, qd, qd), lambda: LinearisedMechanism(arm.tree).at_forces(q, qd, tau)):
        with pytest.raises(UnsupportedError, match=r"knife edge 'blade'.*velocities alone"):
            asked()
    driven = cy.Mechanism.of("driven", four_bar().bodies, four_bar().joints, frames=four_bar().frames, loops=four_bar(
        ).loops, gravity=(0, -9.81, 0), constraints=[PrescribedMotion("motor", "crank", "0.7 + 0.5*sin(2*t)")])
    t = 0.3
    q = driven.loops.close([0.98, 0.4, 2.0], t).configuration
    qd = np.linalg.lstsq(driven.loops.jacobian(q, t), -driven.loops.rates(q, np.zeros(3), t), rcond=None)[0]
    found = driven.forward_derivatives(q, qd, tau, t)
    np.testing.assert_allclose(found.by_qd, slopes(lambda x: driven.forward_dynamics(q, x, tau, t), qd), atol=1e-6)
    np.testing.assert_allclose(found.by_q, slopes(lambda x: driven.forward_dynamics(x, qd, tau, t), q), rtol=1e-6,
                               atol=1e-5)
    with pytest.raises(UnsupportedError, match="depends on time"):
        LinearisedMechanism(driven.tree).at_forces(q, qd, tau)


def test_empty_batches_and_what_is_no_number():
    arm = hanging_parallelogram()
    none = np.zeros((0, 3))
    assert arm.linearize(none, np.zeros(3), np.zeros(3)).P.shape == (0, 1, 1)
    assert arm.forward_derivatives(none, np.zeros(3), np.zeros(3)).forces_by_q.shape == (0, 5, 3)
    assert LinearisedMechanism(arm.tree).at(none).A.shape == (0, 2, 2)
    assert np.isnan(LinearisedMechanism(arm.tree).at(np.full(3, np.nan)).A[1]).all()
