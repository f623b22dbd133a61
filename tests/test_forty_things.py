"""The first ten things that each of four newcomers tries, a control engineer, a doctoral student, an undergraduate with
her teacher and a designer, in the words of the pages; where something is refused on purpose, the page that says so.

Each is proved at length elsewhere; here it is typed as a newcomer would type it."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import cayley as cy
from cayley.errors import CayleyError, ModelError, UnsupportedError
from cayley.planning import point_to_point
from programs import needs

DOCS = Path(__file__).parents[1] / "docs"
URDF = """<robot name="swing"><link name="ground"/>
  <joint name="hinge" type="revolute"><parent link="ground"/><child link="arm"/><origin rpy="1.5708 0 0"/>
    <axis xyz="0 0 1"/><limit lower="{lower}" upper="90" velocity="2" effort="10"/></joint>
  <link name="arm"><inertial><origin xyz="0.4 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link></robot>"""
TWO_ROWS = [("q1", 0, 0.5, 0), ("q2", 0, 0.4, 0)]


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "swing.urdf"
    path.write_text(URDF.format(lower="-90"))
    return path


Q, QD = np.array([0.3, -0.7]), np.array([1.1, -0.4])


# The control engineer


def test_a_file_with_degrees_is_seen_by_check(swing):
    notes = str(cy.load(swing).summary())
    assert "degrees" in notes and "hinge" in notes


def test_xacro_and_sdf_are_read_or_named(tmp_path):
    (tmp_path / "arm.sdf").write_text("<sdf version='1.9'><model name='m'></sdf>")
    with pytest.raises(CayleyError, match=r"arm\.sdf"):
        cy.load(tmp_path / "arm.sdf")
    xacro = URDF.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ').format(lower="${-1 - 1}")
    (tmp_path / "swing.urdf.xacro").write_text(xacro)
    assert cy.load(tmp_path / "swing.urdf.xacro").lower[0] == -2.0
    (tmp_path / "arm.step").write_text("ISO-10303-21;")
    with pytest.raises(CayleyError, match=r"urdf"):
        cy.load(tmp_path / "arm.step")


def test_gravity_and_the_names_of_all_parts(swing):
    robot = cy.load(swing)
    assert robot.joint_names == ("hinge",) and "arm" in robot.frame_names
    assert abs(robot.gravity_forces([0.0])[0]) == pytest.approx(2 * 9.81 * 0.4, rel=1e-9)  # 1.5708 is pi/2
    assert robot.with_gravity([0, 0, -1.62]).gravity_forces([0.0])[0] == pytest.approx(
        robot.gravity_forces([0.0])[0] * 1.62 / 9.81)


def test_a_pose_without_its_frame_says_how_it_is_called(arm):
    with pytest.raises(CayleyError, match=r"pose needs `frame`: it is called pose\(q, frame"):
        arm.pose(Q)


@needs("cc")
def test_c_of_gravity_and_of_forward_kinematics_names_joints_units_and_frame(arm, tmp_path):
    source = arm.gravity_forces.c_source("gravity", dtype="float32")
    assert "joint1" in str(source) and "N m" in str(source) and "1.0f*" not in str(source)
    source.write(tmp_path)
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "gravity.c"], cwd=tmp_path, check=True)
    assert "frame 'tool'" in str(arm.pose.c_source(frame="tool"))


def test_a_law_of_ones_own_with_limits_and_equations_to_solve(arm):
    @cy.kernel("(2),(2),(2)->(2)")
    def law(q, qd, target):
        J = arm.jacobian(q, "tool", axes="world")[:2]
        force = np.linalg.solve(J @ arm.inverse_inertia_matrix(q) @ J.T, target - J @ qd)
        return np.clip(J.T @ force + arm.gravity_forces(q), -20.0, 20.0)

    J = arm.jacobian(Q, "tool", axes="world")[:2]
    wanted = J.T @ np.linalg.solve(J @ np.linalg.inv(arm.inertia_matrix(Q)) @ J.T, np.ones(2) - J @ QD)
    np.testing.assert_allclose(law(Q, QD, np.ones(2)), np.clip(wanted + arm.gravity_forces(Q), -20, 20), rtol=1e-10)


def test_a_simulation_at_a_kilohertz_keeps_its_forces(arm):
    run = arm.simulate(Q, 0 * Q, controller=lambda t, q, qd: arm.gravity_forces(q) - qd, until=0.02,
                       control_period=1e-3)
    assert run.tau is not None and run.tau.shape == run.qd.shape
    np.testing.assert_allclose(run.q[-1], Q, atol=1e-8)


def test_friction_and_armature_in_one_line_each(arm):
    real = arm.with_friction("joint1", viscous=0.8).variants.with_armature("joint1", 0.05).including("friction",
                                                                                                     "armature")
    np.testing.assert_allclose(real.inverse_dynamics(Q, QD, [1.0, 0.0]) - arm.inverse_dynamics(Q, QD, [1.0, 0.0]),
                               [0.8 * 1.1 + 0.05, 0.0], atol=1e-12)


# The doctoral student


def test_floating_base_batches_and_derivatives(swing, arm):
    assert cy.load(swing, floating_base=True).nq == 8
    states = np.linspace(0, 1, 20).reshape(10, 2)
    assert arm.inverse_dynamics(states, states, states).shape == (10, 2)
    step = 1e-6 * QD
    along = (arm.gravity_forces(Q + step) - arm.gravity_forces(Q - step)) / 2e-6
    np.testing.assert_allclose(arm.gravity_forces.jacobian("q")(Q) @ QD, along, rtol=1e-7)
    np.testing.assert_allclose(arm.gravity_forces.jvp("q")(Q, QD), along, rtol=1e-7)
    assert QD @ arm.gravity_forces.vjp("q")(Q, np.ones(2)) == pytest.approx(along.sum(), rel=1e-7)


def test_a_rollout_has_derivatives(arm):
    roll = arm.rollout()
    assert all(hasattr(roll, name) for name in ("jvp", "vjp", "gradient", "for_jax", "for_torch"))


def test_inside_jax_and_torch(arm):
    import jax
    with jax.enable_x64(True):
        there = jax.jit(lambda q: arm.gravity_forces.evaluate(cy.JAX, q))(Q)
    np.testing.assert_allclose(there, arm.gravity_forces(Q), rtol=1e-12)
    with pytest.raises(CayleyError, match=r"for_jax|JAX"):
        jax.jit(lambda q: arm.gravity_forces(q))(Q)
    assert callable(arm.gravity_forces.for_torch)


def test_centroidal_map_and_constrained_dynamics(arm):
    assert arm.centroidal.momentum_matrix(Q).shape == (6, 2)
    bar = cy.load("four_bar")
    assert bar.loops.mobility == 1 and bar.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3)).shape == (3,)


def test_contacts_are_data_and_planning_around_obstacles_is_named_as_not_done():
    """A robot touches the ground in one line; what is missing is named, with where to go instead."""
    dog = cy.load("planar2r").with_contacts(points={"tool": 0.05})
    assert dog.rollout()([0.0, 0.0], [0.0, 0.0], step=1e-3, steps=3).end["contact_forces"].shape == (1, 3)
    page = (DOCS / "start" / "not_done.md").read_text()
    assert "obstacles" in page and "MuJoCo" in page


def test_joints_are_locked_and_arms_attached_in_one_line(arm):
    assert arm.locked("joint2", Q).nq == 1
    assert cy.load("panda").attached(cy.load("gripper"), at="tool").nq > 7
    assert arm.variants.with_body("link2", mass=3.0).bodies[2].mass == 3.0


# The undergraduate and her teacher


def test_a_table_from_the_book_with_masses(arm):
    book = cy.Mechanism.from_dh(TWO_ROWS, convention="standard", masses=[2.0, 1.5],
                                centers=[[-0.25, 0, 0], [-0.2, 0, 0]],
                                inertias=np.array([np.diag([0.01, 0.05, 0.05]), np.diag([0.01, 0.03, 0.03])]),
                                gravity=(0, -9.81, 0))
    np.testing.assert_allclose(book.inertia_matrix(Q), arm.inertia_matrix(Q), rtol=1e-12)
    np.testing.assert_allclose(book.gravity_forces(Q), arm.gravity_forces(Q), rtol=1e-12)


def test_a_printed_table_has_fractions_of_pi_and_multiplies_out_to_the_pose():
    robot = cy.load("panda")
    table = robot.dh_table(convention="standard", canonical=True)
    assert "pi/2" in str(table) and "base:" in str(table) and "1.5708" not in str(table)
    q = robot.configurations["ready"]
    pose = np.array(table.base)
    for row, angle in zip(table.rows, q, strict=True):
        turn, bend = np.eye(4), np.eye(4)
        c, s = np.cos(row.theta + angle), np.sin(row.theta + angle)
        turn[:2, :2], turn[2, 3] = [[c, -s], [s, c]], row.d
        c, s = np.cos(row.alpha), np.sin(row.alpha)
        bend[1:3, 1:3], bend[0, 3] = [[c, -s], [s, c]], row.a
        pose = pose @ turn @ bend
    np.testing.assert_allclose(pose @ table.tool, robot.pose(q, "tool"), atol=1e-12)


def test_symbolic_kinematics_in_the_letters_of_the_book(arm):
    text = str(arm.formulations.kinematic_equations("tool"))
    assert "l_1" in text and "sin(q_1)*sin(q_2)" not in text.replace(" ", "")


def test_symbolic_dynamics_of_a_bare_table():
    text = str(cy.Mechanism.from_dh(TWO_ROWS, convention="standard").equations(parameters="symbols"))
    assert "m_1" in text and "m_2" in text


def test_a_singular_posture_and_a_solution_in_the_plane(arm):
    found = arm.dexterity.singularity([0.3, 0.0], "tool", task="xy", axes="world")
    assert found.kind == "boundary" and len(repr(found)) < 400
    target = arm.pose(Q, "tool")[:2, 3]
    solved = arm.inverse_kinematics(target, "tool", task="xy")
    np.testing.assert_allclose(arm.pose(solved.q, "tool")[:2, 3], target, atol=1e-9)
    assert arm.all_inverse_kinematics(arm.pose(Q, "tool"), "tool").count == 2


def test_a_moving_picture_and_a_trajectory_between_two_postures(arm, tmp_path):
    move = point_to_point(Q, [0.5, 0.2], duration=0.2)
    assert arm.animate(move, tmp_path / "move.gif", size=(2, 2)).stat().st_size > 1000
    np.testing.assert_allclose(move(0.2).q, [0.5, 0.2], atol=1e-12)


def test_objects_show_themselves_in_a_notebook(arm):
    for shown in (arm, arm.dh_table(convention="standard"), arm.summary(), arm.pictures.workspace("tool", samples=100),
                  arm.gravity_forces.c_source()):
        assert "<" in shown._repr_html_() and len(repr(shown).split("\n")[0]) < 200


# The designer


def test_an_arm_from_numbers_and_what_it_reaches(tmp_path):
    draft = cy.Mechanism.from_dh(TWO_ROWS, convention="standard", name="draft")
    found = draft.pictures.workspace("tool", samples=2000)
    assert found.contains([0.6, 0.3, 0.0]) and not found.contains([2.0, 0.0, 0.0])
    with pytest.raises(ModelError, match="need the mass"):
        draft.gravity_forces(Q)
    loaded = draft.variants.with_missing_masses(0.0).with_payload("tool", 2.0).with_gravity((0, -9.81, 0))
    np.testing.assert_allclose(loaded.gravity_forces([0.0, 0.0]), 2 * 9.81 * np.array([0.9, 0.4]))


def test_a_map_of_manipulability(arm):
    from cayley import drawing
    assert "manipulability_map" in dir(drawing)
    assert drawing.manipulability_map(arm.tree, "tool", over=["joint1", "joint2"], resolution=5) is not None


def test_one_report_takes_a_motion_a_load_and_limits(arm):
    page = arm.report(motion=point_to_point(Q, [0.5, 0.2], duration=0.2), payload=1.5, effort=[40.0, 20.0])
    assert hasattr(page, "save") and "link2" in str(arm.summary())


def test_the_format_of_hand_written_files_has_a_page(tmp_path, arm):
    arm.save(tmp_path / "arm.toml")
    np.testing.assert_allclose(cy.load(tmp_path / "arm.toml").inertia_matrix(Q), arm.inertia_matrix(Q))
    assert "[[joints]]" in (DOCS / "robots" / "toml.md").read_text()


def test_a_four_bar_moves_as_one(tmp_path):
    bar = cy.load("four_bar")
    closed = bar.loops.close([0.4, 0.0, 0.0], fixed=["crank"])
    assert closed.status == "closed" and np.abs(bar.loops.residual(closed.configuration)).max() < 1e-9
    assert bar.loops.mobility == 1 and bar.nv == 3
    with pytest.raises(UnsupportedError, match="loop"):
        bar.dh_table(convention="standard")


def test_shapes_of_a_file_are_drawn(tmp_path):
    path = tmp_path / "box.urdf"
    path.write_text("<robot name='b'><link name='base'/><joint name='j' type='prismatic'><parent link='base'/>"
                    "<child link='box'/><axis xyz='0 0 1'/><limit lower='0' upper='1' velocity='1' effort='1'/></joint>"
                    "<link name='box'><visual><geometry><box size='1 1 1'/></geometry></visual></link></robot>")
    assert "none" not in repr(cy.load(path).shapes) and "none" in repr(cy.load("planar2r").shapes)
