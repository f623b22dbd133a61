"""Forward kinematics in letters: textbook forms, and numbers that are those of the kernels."""

import math

import numpy as np
import pytest
import sympy

import cayley as cy
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.model.joint_kinds import Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint


def values(found, q):
    return {**found.parameters, **dict(zip(found.q, q, strict=True))}


def test_the_planar_arm_reads_as_in_a_book():
    l1, l2, q1, q2 = sympy.symbols("l_1 l_2 q_1 q_2")
    found = cy.load("planar2r").formulations.kinematic_equations("tool")
    assert found.position[0] == l1 * sympy.cos(q1) + l2 * sympy.cos(q1 + q2)
    assert found.jacobian[1, 1] == l2 * sympy.cos(q1 + q2) and found.jacobian[5, 0] == 1
    assert found.pose[3, 3] == 1 and found.parameters == {l1: 0.5, l2: 0.4}
    assert "p_x = l_1*c1 + l_2*c12" in str(found) and "c12 = cos(q_1 + q_2)" in str(found)
    assert repr(found) == "<forward kinematics of planar2r, tool: n = 2>" and r"\cos" in found._repr_latex_()


@pytest.mark.parametrize("letters", ["symbols", "numbers"])
@pytest.mark.parametrize("name", ["planar3r", "scara", "stanford", "puma560", "ur5e", "abb_irb120", "four_bar",
                                  "panda_hand"])
def test_formulas_have_the_numbers_of_the_kernels(name, letters):
    arm = cy.load(name)
    found = arm.formulations.kinematic_equations("tool", parameters=letters)
    q = np.random.default_rng(2).uniform(-1.5, 1.5, arm.nq)
    pose, jacobian = (np.array(part.subs(values(found, q)), dtype=float) for part in (found.pose, found.jacobian))
    np.testing.assert_allclose(pose, arm.variants.spanning_tree().pose(q, "tool"), atol=1e-12)
    np.testing.assert_allclose(jacobian, arm.variants.spanning_tree().jacobian(q, "tool", axes="world"), atol=1e-12)


def test_oblique_axes_have_letters():
    tilted = np.eye(4)
    tilted[1:3, 1:3] = [[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]]
    tilted[:3, 3] = [0.2, 0.0, 0.1]
    arm = cy.Mechanism.of("tilted", [Body("base"), Body("a"), Body("b")],
                          [Joint("a", "base", "a", Revolute()), Joint("b", "a", "b", Revolute(), tilted)],
                          frames=[Frame("tool", "b", np.eye(4) + np.outer([1, 0, 0, 0], [0, 0, 0, 0.3]))])
    found = arm.formulations.kinematic_equations("tool")
    assert sympy.Symbol("alpha_2") in found.parameters
    q = [0.4, -0.9]
    pose = np.array(found.pose.subs(values(found, q)), dtype=float)
    np.testing.assert_allclose(pose, arm.pose(q, "tool"), atol=1e-14)


def test_masses_are_not_asked_for_and_what_has_no_axis_is_refused():
    assert cy.load("kuka_kr6_r900").formulations.kinematic_equations("tool").rotation.shape == (3, 3)
    ball = cy.Mechanism.of("ball", [Body("base"), Body("a", 1.0)], [Joint("s", "base", "a", Spherical())])
    with pytest.raises(UnsupportedError, match="'s' of ball is spherical"):
        ball.formulations.kinematic_equations("a")
    with pytest.raises(ConventionError, match='"numbers" or "symbols"'):
        cy.load("planar2r").formulations.kinematic_equations("tool", parameters="letters")
    with pytest.raises(ModelError, match="hand"):
        cy.load("planar2r").formulations.kinematic_equations("hand")


def test_dynamics_of_a_table_without_masses_have_letters_for_all():
    rows = [("q1", 0, 1, 0), ("q2", 0, 1, 0)]
    drawn = cy.Mechanism.from_dh(rows, convention="standard", name="two", gravity=[0, -9.81, 0])
    found = drawn.equations(parameters="symbols")
    assert str(found) == str(cy.load("planar2r").equations(parameters="symbols"))
    unknown = {symbol.name for symbol, value in found.parameters.items() if math.isnan(value)}
    assert unknown == {"m_1", "m_2", "r_1", "r_2", "I_1", "I_2"}
    with pytest.raises(ModelError, match="mass"):
        drawn.equations()


def test_letters_of_a_table_become_the_arm_when_numbers_are_given():
    rows = [("q1", 0.3, 0, "pi/2"), ("q2", 0, 0.4, 0)]
    found = cy.Mechanism.from_dh(rows, convention="standard").equations(parameters="symbols")
    given = {"I_1": 0.3, "m_2": 2.0, "r_2": 0.15, "I_2xx": 0.02, "I_2yy": 0.05, "I_2zz": 0.06}
    arm = cy.Mechanism.from_dh(rows, convention="standard", masses=[1.0, 2.0], centers=[[0, 0, 0], [-0.25, 0, 0]],
                               inertias=[np.diag([0.1, 0.3, 0.2]), np.diag([0.02, 0.05, 0.06])])
    q, qd = [0.3, -0.7], [0.5, 0.2]
    unknown = {symbol for symbol, value in found.parameters.items() if math.isnan(value)} & (
        found.M.free_symbols | found.G.free_symbols)
    assert {symbol.name for symbol in unknown} == set(given)
    state = {**found.parameters, **{symbol: given[symbol.name] for symbol in unknown},
             **dict(zip(found.q, q, strict=True)), **dict(zip(found.qd, qd, strict=True))}
    np.testing.assert_allclose(np.array(found.M.subs(state), dtype=float), arm.inertia_matrix(q), atol=1e-12)
    np.testing.assert_allclose(np.array(found.G.subs(state), dtype=float)[:, 0], arm.gravity_forces(q), atol=1e-12)


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("seed", range(6))
def test_letters_have_the_signs_of_the_table(convention, seed):
    """Every length of a table of right angles is the value of a letter, with the sign that was written."""
    random = np.random.default_rng(seed)
    d, a = np.round(random.uniform(-1, 1, (2, 4)) * random.integers(0, 2, (2, 4)), 3)
    alpha = np.pi / 2 * random.integers(-1, 3, 4)
    arm = cy.Mechanism.from_dh(np.stack([random.integers(-1, 3, 4) * np.pi / 2, d, a, alpha], axis=1),
                               convention=convention)
    found = arm.formulations.kinematic_equations("frame4")
    assert sorted(found.parameters.values()) == pytest.approx(sorted(x for x in (*d, *a) if x), abs=1e-12)
    q = random.uniform(-3, 3, 4)
    values = {**found.parameters, **dict(zip(found.q, q, strict=True))}
    np.testing.assert_allclose(np.array(found.pose.subs(values), dtype=float), arm.pose(q, "frame4"), atol=1e-12)


@pytest.mark.parametrize("row, kind, numbers", [
    (("q1", 0.3, 0, "pi/2"), "revolute", (0, 0.3, 0, np.pi / 2)),
    (("q1 + pi/2", 0.3, 0, "-90 deg"), "revolute", (np.pi / 2, 0.3, 0, -np.pi / 2)),
    (("pi + q_1", 0, 0, 0), "revolute", (np.pi, 0, 0, 0)),
    (("q - 30 deg", "0.25", "0.5", "0"), "revolute", (-np.pi / 6, 0.25, 0.5, 0)),
    (("pi/2", "q1", 0, 0), "prismatic", (np.pi / 2, 0, 0, 0)),
    ((0, "q1 + 0.1", 0, 0), "prismatic", (0, 0.1, 0, 0)),
    ((0, 0.1, 0, 0, "prismatic"), "prismatic", (0, 0.1, 0, 0)),
    ((0.2, 0.1, 0, 0), "revolute", (0.2, 0.1, 0, 0)),
    (("θ1", 0, 0, 0), "revolute", (0, 0, 0, 0))])
def test_rows_are_read_as_a_book_prints_them(row, kind, numbers):
    arm = cy.Mechanism.from_dh([row], convention="standard")
    read = arm.dh_table(convention="standard").rows[0]
    assert read.kind == kind and arm.joints[0].motion.word == kind
    ours = cy.Mechanism.from_dh([(*numbers, kind)], convention="standard")
    np.testing.assert_allclose(arm.pose([0.37], "tool"), ours.pose([0.37], "tool"), atol=1e-15)


@pytest.mark.parametrize("rows, said", [
    ([("q2", 0, 1, 0)], "row 1 of the table has 'q2'.*its coordinate is q1"),
    ([("q1", "q1", 1, 0)], "theta .revolute. or in d .prismatic., once"),
    ([(0, 0, "q1", 0)], "theta .revolute. or in d .prismatic., once"),
    ([("two", 0, 1, 0)], "theta is 'two', which is not a number, or a text like"),
    ([(0, "half", 1, 0)], "d is 'half', which is not a number"),
    ([(0, "pi/2", 1, 0)], "d is 'pi/2', which is not a number"),
    ([("q1", 0, 1, 0, "prismatic")], "row 1 of the table is prismatic, and its coordinate stands in theta"),
    ([("2*q1", 0, 1, 0)], "theta is '2.q1'; write \"q1\""),
    ([(0, 0, 1, 0, "hinge")], "revolute or prismatic, not 'hinge'"),
    ([(0, 0, 1)], "has 3 entries"),
    (["q1"], "has 1 entries")])
def test_rows_that_are_none_are_told_what_to_write(rows, said):
    with pytest.raises(ModelError, match=said):
        cy.Mechanism.from_dh(rows, convention="standard")
