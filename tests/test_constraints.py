"""No function of a mechanism with loops or mimic joints treats it as its spanning tree: it honours the constraints, or
refuses by name.
"""

from dataclasses import replace
from operator import attrgetter
from types import SimpleNamespace

import numpy as np
import pytest

import cayley as cy
from cayley.control.linearisation.global_linearisation import OutputLinearisation, ResolvedAcceleration
from cayley.control.tracking import simulate_law
from cayley.dynamics.cartesian.model import operational_space_kernel
from cayley.dynamics.forward import maximal_coordinates
from cayley.errors import ConventionError, ModelError, UnreachableError, UnsupportedError
from cayley.kinematics.loops.closing import close
from cayley.kinematics.singular.redundancy import manipulability_gradient, projected_rates
from cayley.model.constraint_kinds import Rod
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Frame, Joint, Limits, Loop
from cayley.studio import write_report


def shift(x):
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def four_bar(rocker=0.6):
    joints = [Joint("crank", "base", "a", Revolute()), Joint("coupler", "a", "b", Revolute(), shift(0.3)),
              Joint("rocker", "base", "c", Revolute(), shift(0.9))]
    bodies = [Body("base"), *[Body(name, 1.0, [0.2, 0, 0], 0.01 * np.eye(3)) for name in "abc"]]
    return cy.Mechanism.of("four-bar", bodies, joints, gravity=(0.0, -9.81, 0.0),
                           frames=[Frame("tip of b", "b", shift(0.8)), Frame("tip of c", "c", shift(rocker))],
                           loops=[Loop("ring", "tip of b", "tip of c", Revolute())])


def constrained(name):
    if name == "four-bar":
        return SimpleNamespace(arm=four_bar(), frame="tip of b", said="loop 'ring' is closed by a revolute joint")
    return SimpleNamespace(arm=cy.load("panda_hand"), frame="panda_rightfinger",
                           said="joint 'panda_finger_joint2' mimics")


@pytest.fixture(params=["four-bar", "panda_hand"])
def case(request):
    return constrained(request.param)


REFUSED = {
    "forward dynamics by iteration": lambda arm, frame, z: arm.forward_dynamics.by_conjugate_gradients(z.q, z.v, z.v),
    "free bodies": lambda arm, frame, z: maximal_coordinates.forward_dynamics(arm.tree, z.q, z.v, z.v),
    "rates of redundant joints": lambda arm, frame, z: projected_rates(arm.tree, z.q, np.zeros(3), z.v, frame,
                                                                       task="position", axes="world"),
    "gradient of an index": lambda arm, frame, z: manipulability_gradient(arm.tree, z.q, frame, task="position",
                                                                          axes="world"),
    "outputs": lambda arm, frame, z: OutputLinearisation(arm.tree, lambda q: q[:arm.nv] + 0.0).forces(z.q, z.v, z.v),
    "resolved acceleration": lambda arm, frame, z: ResolvedAcceleration(
        arm.tree, frame, np.ones(6), np.ones(6)).forces(z.q, z.v, np.eye(4), np.zeros(6), np.zeros(6)),
    "system with parameters": lambda arm, frame, z: arm.system(parameters=["mass"]),
    "motion under a law": lambda arm, frame, z: simulate_law(arm.tree, lambda t, q, qd: qd, z.q, z.v, [0.0, 0.1]),
    "operational space": lambda arm, frame, z: operational_space_kernel(arm.tree, frame),
    "all_inverse_kinematics": lambda arm, frame, z: arm.all_inverse_kinematics(np.eye(4), frame),
    "singularity": lambda arm, frame, z: arm.dexterity.singularity(z.q, frame, task="position", axes="world"),
    "singular_locus": lambda arm, frame, z: arm.dexterity.singular_locus(frame),
    "dynamics_table": lambda arm, frame, z: arm.formulations.dynamics_table([[0.0, 0.1]] * arm.nq),
    "inverse_dynamics_without_velocities": lambda arm, frame, z: (
        arm.formulations.inverse_dynamics_without_velocities(z.q, z.v)),
    "generated_model": lambda arm, frame, z: arm.formulations.generated_model(),
    "body_screws": lambda arm, frame, z: arm.formulations.body_screws(z.q, z.v, z.v),
    "partial_derivatives": lambda arm, frame, z: arm.formulations.partial_derivatives(z.q, z.v, z.v),
    "decoupled_dynamics": lambda arm, frame, z: arm.formulations.decoupled_dynamics(z.q, z.v, z.v),
    "vector_parameter_model": lambda arm, frame, z: arm.formulations.vector_parameter_model(),
    "fit_linear_model": lambda arm, frame, z: arm.identification.fit_linear_model(np.ones((9, 2 * arm.nv)),
                                                                                  np.ones((9, arm.nv)),
                                                                   np.ones((9, 2 * arm.nv)), 0.01),
    "euler_lagrange": lambda arm, frame, z: arm.formulations.euler_lagrange(z.q, z.v, z.v),
    "kane_equations": lambda arm, frame, z: arm.formulations.kane_equations(),
    "augmented_links": lambda arm, frame, z: arm.formulations.augmented_links,
    "orthogonal_complement": lambda arm, frame, z: arm.formulations.orthogonal_complement(z.q),
    "motor_motion": lambda arm, frame, z: arm.with_drive(arm.joint_names[0], stiffness=1e3, inertia=1e-3).including(
        "elastic drives").formulations.motor_motion,
    "dh_table": lambda arm, frame, z: arm.dh_table(convention="standard", frame=frame), }


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_for_independent_joints_refuses_and_names_the_constraint(case, what):
    zero = SimpleNamespace(q=case.arm.neutral, v=np.zeros(case.arm.nv))
    with pytest.raises(UnsupportedError, match=f"(?s){case.said}.*spanning_tree"):
        REFUSED[what](case.arm, case.frame, zero)


def test_random_configurations_are_closed_and_within_limits():
    arm = four_bar()
    q = arm.random_configuration((5, 40), seed=0)
    assert q.shape == (5, 40, 3) and arm.random_configuration(0).shape == (0, 3)
    np.testing.assert_allclose(arm.loops.residual(q), 0.0, atol=1e-11)
    np.testing.assert_array_equal(q, arm.random_configuration((5, 40), seed=0))
    assert np.ptp(q[..., 0]) > 3.0 and len(np.unique(q[..., 0])) == 200
    crank = replace(arm.joints[0], limits=Limits((0.2,), (0.9,)))
    narrow = arm.variants.with_joints(crank).random_configuration(50, seed=1)
    assert ((narrow[:, 0] >= 0.2 - 1e-9) & (narrow[:, 0] <= 0.9 + 1e-9)).all()
    with pytest.raises(UnreachableError, match="0 closed configurations within its limits"):
        four_bar(rocker=9.0).random_configuration(3)
    hand = cy.load("panda_hand")
    q = hand.random_configuration(5, seed=0)
    np.testing.assert_array_equal(q[:, 7], q[:, 8])


def test_help_says_what_does_not_know_of_constraints():
    """Quantities of all coordinates of the tree say so, and of open trees nothing."""
    published = ("bias_parts", "bias_coefficients", "inertia_parts", "generalized_links", "composite_bodies",
                 "unit_acceleration_wrenches")
    for name in ("bias_forces", "gravity_forces", "coriolis_matrix", *[f"formulations.{name}" for name in published]):
        assert "as if nothing tied them together" in attrgetter(name)(cy.load("four_bar")).__doc__
        assert "nothing tied" not in attrgetter(name)(cy.load("planar2r")).__doc__


def test_every_public_function_of_a_mechanism_is_known_to_keep_or_to_refuse_constraints():
    kept = {
        "pose", "point", "coordinates", "twist", "acceleration", "jacobian", "jacobian_rate", "hessian",
        "analytic_jacobian", "kinetic_energy", "potential_energy", "center_of_mass", "momentum", "integrate",
        "difference", "mobility", "report", "summary", "draw", "shapes", "check_configuration", "normalized",
        "with_mimic_joints",
        "random_configuration", "configurations", "neutral_within_limits", "workspace", "friction_forces", "save",
        "export",
        "constraint_residual", "constraint_rates", "constraint_jacobian", "constraint_drift", "close",
        "forward_dynamics", "constraint_forces", "constraint_structure", "configuration_singularity", "actuation",
        "inertia_matrix", "inertia_condition", "bias_forces", "coriolis_matrix", "gravity_forces", "minimal_dynamics",
        "inverse_dynamics", "joint_reactions", "compare_inverse_dynamics", "linear_model", "accessibility",
        "needed_friction", "slip_check", "switched", "level_functions", "animate", "view", "generalized_links",
        "composite_bodies", "unit_acceleration_wrenches", "link_motion", "point_motion", "formed_jacobian",
        "bias_parts", "bias_coefficients", "inertia_parts", "force_sensitivity", "track",
        "inverse_kinematics", "centroidal_momentum", "centroidal_momentum_matrix", "centroidal_bias",
        "center_of_mass_jacobian", "frame_bias", "kinetic_energy_regressor", "potential_energy_regressor",
        "actuated_jacobian", "actuated_motion", "dead_centres", "workspace_map", "greatest_payload", "payload_map",
        "actuated_acceleration", "follow_inputs", "assemblies",
        "input_output", "actuation_singularity", "manipulability",
        "task_jacobian", "indices", "joint_forces_that_exert",
        "system", "linearize", "forward_derivatives", "simulate", "rollout", "sweep", "consistent_velocity",
        "equations", "kinematic_equations", "inverse_inertia_matrix", "inertia_regularity", "reduction_error"}
    data = {name
            for name in dir(cy.Mechanism) if name.startswith(("with_", "from_"))} | {
                "attached", "locked", "freed", "reduced", "subtree", "bodies", "body_names", "body_number",
                "mimic_joints", "frame", "frame_names", "frames", "gravity",
                "included", "including", "joint_names", "joint_number", "joints", "loops", "centroidal", "collision",
                "dexterity",
                "formulations", "identification", "pictures", "variants", "lower", "upper", "name",
                "neutral", "notes", "nq", "nv", "of", "parents", "path", "q_slices", "v_slices", "source",
                "spanning_tree", "constraints", "without_constraints", "without_payload", "constraint_rows",
                "actuated_joints", "motors", "control", "tasks"}  # each law keeps or refuses loops by itself
    public = {name for name in dir(cy.Mechanism) if not name.startswith("_")}
    assert public - kept - data - set(REFUSED) == set()


def test_energies_and_velocities_are_those_of_the_state_whatever_ties_the_joints(case):
    arm, free = case.arm, case.arm.variants.spanning_tree()
    random = np.random.default_rng(1)
    q, qd = free.random_configuration(seed=2), random.normal(size=arm.nv)
    for name in ("kinetic_energy", "momentum"):
        np.testing.assert_array_equal(getattr(arm, name)(q, qd), getattr(free, name)(q, qd))
    np.testing.assert_array_equal(arm.jacobian(q, case.frame, axes="world"), free.jacobian(q, case.frame, axes="world"))
    assert free.inertia_matrix(q).shape == (arm.nv, arm.nv)
    assert not free.loops and not free.tree.mimic_joints and free.gravity is arm.gravity


def test_a_frame_that_no_constraint_reaches_is_free():
    hand = cy.load("panda_hand")
    target = hand.pose(hand.random_configuration(seed=3), "panda_hand")
    assert hand.inverse_kinematics(target, "panda_hand").status == "solved"
    forces = hand.dexterity.joint_forces_that_exert(hand.neutral, np.ones(6), "panda_leftfinger", axes="world")
    assert forces.shape == (9,)


def test_report_info_and_page_state_the_mobility(tmp_path):
    assert four_bar().loops.mobility == 1 and "nv = 3, mobility 1" in four_bar().summary().heading
    assert cy.load("panda").summary().heading.count("mobility") == 0
    page = write_report(four_bar(), tmp_path).read_text(encoding="utf-8")
    assert "<dt>degrees of freedom</dt><dd>1</dd>" in page and "loop &#x27;ring&#x27; couples joints." in page
    broken = four_bar(rocker=9.0)
    assert broken.summary().warnings[0].about == "loops open"
    assert "<dd>none, the loops cannot be closed</dd>" in write_report(broken, tmp_path).read_text(encoding="utf-8")


def test_a_drawing_at_rest_shows_the_loops_closed():
    from cayley.drawing.skeleton import resting
    arm = four_bar()
    q = resting(arm.tree)
    np.testing.assert_allclose(arm.pose(q, "tip of b")[:3, 3], arm.pose(q, "tip of c")[:3, 3], atol=1e-12)
    assert close(arm.tree, q).iterations == 0


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_linkages_of_the_catalogue_are_closed_at_zero_and_drawn_with_the_joint_of_the_loop(name):
    from cayley.drawing.skeleton import skeleton
    arm = cy.load(name)
    np.testing.assert_allclose(arm.loops.residual(arm.neutral), 0.0, atol=1e-15)
    assert arm.loops.mobility == 1 and arm.loops.close(arm.neutral).iterations == 0
    q = arm.loops.close([0.9, 0.0, 0.0]).configuration
    pin = next(mark for mark in skeleton(arm.tree, q).marks if mark.joint == "pin")
    np.testing.assert_allclose(pin.center, arm.pose(q, arm.loops[0].second)[:3, 3], atol=1e-12)
    assert arm.draw(q) is not None


def test_a_mechanism_without_constraints_is_closed_everywhere():
    for arm in (cy.load("planar2r"), cy.Mechanism.of("stone", [Body("stone")], [])):
        found = arm.loops.close(arm.neutral)
        assert (found.status, found.independent, found.residual) == ("closed", arm.nv, 0.0)
        assert arm.loops.mobility == arm.loops.structure.mobility == arm.loops.structure.gruebler == arm.nv
        assert arm.loops.residual(arm.neutral).shape == (0,)
        assert arm.loops.jacobian(arm.neutral).shape == (0, arm.nv)


def test_rods_are_drawn_between_their_ends():
    from cayley.drawing.skeleton import skeleton
    from cayley.model.constraint_kinds import Rod
    bars = [Joint("crank", "base", "a", Revolute()), Joint("rocker", "base", "c", Revolute(), shift(0.9))]
    arm = cy.Mechanism.of("rods", [Body("base"), Body("a"), Body("c")], bars, frames=[
        Frame("tip of a", "a", shift(0.3)), Frame("tip of c", "c", shift(0.6))],
        constraints=[Rod("coupler", "tip of a", "tip of c", 0.8)])
    q = arm.loops.close([0.7, 2.0]).configuration
    rod, = (line.points for line in skeleton(arm.tree, q).slides)
    assert np.linalg.norm(rod[1] - rod[0]) == pytest.approx(0.8, abs=1e-12)
    assert arm.draw(q) is not None


@pytest.mark.parametrize("name", ["five_bar", "three_rrr", "delta", "stewart", "excavator"])
def test_independent_velocities_are_those_of_the_actuated_joints(name: str) -> None:
    machine = cy.load(name)
    structure = machine.loops.structure
    assert {structure.velocities[k] for k in structure.independent} == set(machine.actuated_joints)


def test_a_rod_whose_length_is_no_number_is_refused():
    with pytest.raises(ModelError, match=r"the rod 'strut' has the length '0\.1'"):
        Rod("strut", "beside", "coupler", "0.1")


def test_a_constraint_between_frames_of_one_body_is_refused():
    with pytest.raises(ModelError, match=r"loop 'ring' joins 'tip of b' and 'b', which are both on body 'b'"):
        four_bar().tree.with_constraints([Loop("ring", "tip of b", "b", Revolute())])


def test_singularity_names_the_function_for_mechanisms_with_constraints():
    bar = cy.load("four_bar")
    with pytest.raises(UnsupportedError, match="`actuation_singularity` is for mechanisms with constraints"):
        bar.dexterity.singularity(np.zeros(3), "tool", task=(1, 0, 0, 0, 0, 0), axes="world")


def test_what_is_no_event_is_refused():
    bar = cy.load("four_bar")
    for wrong in ({"low": lambda t, q, qd: q[0] + 0.1}, [lambda t, q, qd: q[0] + 0.1]):
        with pytest.raises(ConventionError, match=r"an event is cayley\.simulation\.Event\(name, function\)"):
            bar.simulate(np.zeros(3), np.zeros(3), until=0.1, events=wrong)
