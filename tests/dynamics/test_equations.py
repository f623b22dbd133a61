"""Equations of motion as formulas: the textbook's for a planar arm, and the numbers of the recursions and of Pinocchio
for every other.
"""

import math

import numpy as np
import pinocchio as pin
import pytest
import sympy
from matplotlib.mathtext import MathTextParser
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.dynamics.closed_form import coriolis_matrix, gravity_forces
from cayley.dynamics.equations import equations_of_motion
from cayley.dynamics.equations.named_recursion import named_inverse_dynamics, named_recursion
from cayley.dynamics.equations.result import latex_name
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import drive_forces, rotor_inertias
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import ConventionError, ModelError, UnsupportedError
from cayley.model.catalogue import load_robot
from cayley.model.joint_kinds import Floating, Helical, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Friction, Joint, Rotor
from cayley.model.tree import Tree
from dynamics.chains import random_chain
from dynamics.mechanisms import near
from kinematics.pinocchio_trees import PinocchioTree, without_universal_joints
from model.random_trees import random_parts, unit

WRITTEN_OUT = ("planar2r", "planar3r", "puma560", "s1_f3", "s1_f4", "s2_we19")
RECURSIVE = ("panda", "s1_f6")
KINDS_OF_TREES = (["revolute", "prismatic", "revolute", "fixed", "revolute"], ["universal", "helical",
                                                                               "prismatic"], ["planar", "revolute"])


def values(found, q, qd, qdd):
    """M, C, V, G and tau of the formulas, at a state, by their intermediates in order."""
    known = {**found.parameters, **dict(zip(found.q, q, strict=True)), **dict(zip(found.qd, qd, strict=True)),
             **dict(zip(found.qdd, qdd, strict=True))}
    symbols, lines = list(known), list(found.intermediates)
    names = [symbol for symbol, _ in lines]
    text = "\n    ".join(f"{s} = {sympy.pycode(e)}" for s, e in lines)
    parts = [found.M, found.C, found.V, found.G, found.tau]
    results = ", ".join(f"[{', '.join(sympy.pycode(entry) for entry in part)}]" for part in parts)
    space: dict = {}
    exec(f"import math\ndef run({', '.join(map(str, symbols))}):\n    {text or 'pass'}\n    return {results}", space)
    assert len(set(names)) == len(names) and not set(names) & set(symbols)
    shapes = [part.shape if part.shape[1] > 1 or k < 2 else (part.shape[0],) for k, part in enumerate(parts)]
    return [
        np.array(r, dtype=float).reshape(shape) for r, shape in zip(space["run"](*known.values()), shapes, strict=True)]


def state(tree, seed):
    random = np.random.default_rng(seed)
    return random.uniform(-2, 2, tree.nq), random.normal(size=tree.nv), random.normal(size=tree.nv)


def check_numbers(tree, found, seed=0):
    """Against the recursions on floats, which are checked against Pinocchio elsewhere."""
    q, qd, qdd = state(tree, seed)
    links = links_of(tree)
    M, C, V, G, tau = values(found, q, qd, qdd)
    near_to(M, inertia_matrix(links, q) + np.diag(rotor_inertias(tree)))
    near_to(C, coriolis_matrix(links, q, qd))
    near_to(V, C @ qd)
    near_to(G, gravity_forces(links, q))
    near(tau, inverse_dynamics(links, q, qd, qdd) + drive_forces(tree, q, qd, qdd))


def near_to(found, wanted):
    """To 1e-12 of what is wanted, which may be nothing but the rounding of something of size 0.01."""
    assert np.abs(found - wanted).max() <= 1e-12 * max(0.01, np.abs(wanted).max())


# The textbook's planar arm


def test_planar_2r_reads_as_in_the_textbook():
    assert str(equations_of_motion(load_robot("planar2r"), parameters="symbols")).splitlines() == [
        "M qdd + V + G = tau, V = C qd",
        "h = m_2*l_1*r_2*sin(q_2)",
        "M_11 = I_1 + I_2 + m_1*r_1**2 + m_2*(l_1**2 + r_2**2 + 2*l_1*r_2*cos(q_2))",
        "M_12 = M_21 = I_2 + m_2*(r_2**2 + l_1*r_2*cos(q_2))",
        "M_22 = I_2 + m_2*r_2**2",
        "V_1 = -h*(2*qd_1*qd_2 + qd_2**2)",
        "V_2 = h*qd_1**2",
        "G_1 = (m_1*r_1 + m_2*l_1)*g*cos(q_1) + m_2*r_2*g*cos(q_1 + q_2)",
        "G_2 = m_2*r_2*g*cos(q_1 + q_2)"]


def test_planar_2r_is_the_textbook_formula():
    I1, I2, m1, m2, c1, c2, l1, g, q1, q2, v1, v2 = sympy.symbols("I_1 I_2 m_1 m_2 r_1 r_2 l_1 g q_1 q_2 qd_1 qd_2")
    cross, h = l1 * c2 * sympy.cos(q2), m2 * l1 * c2 * sympy.sin(q2)
    M = sympy.Matrix([[m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * cross) + I1 + I2, m2 * (c2**2 + cross) + I2],
                      [m2 * (c2**2 + cross) + I2, m2 * c2**2 + I2]])
    C = sympy.Matrix([[-h * v2, -h * (v1 + v2)], [h * v1, 0]])
    G = sympy.Matrix([(m1 * c1 + m2 * l1) * g * sympy.cos(q1) + m2 * c2 * g * sympy.cos(q1 + q2),
                      m2 * c2 * g * sympy.cos(q1 + q2)])
    found = equations_of_motion(load_robot("planar2r"), parameters="symbols").substituted()
    for ours, textbook in ((found.M, M), (found.C, C), (found.V, C * sympy.Matrix([v1, v2])), (found.G, G)):
        assert sympy.simplify(ours - textbook) == sympy.zeros(*textbook.shape)
    assert {s.name: v for s, v in found.parameters.items()} == {
        "m_1": 2.0, "r_1": 0.25, "I_1": 0.05, "l_1": 0.5, "m_2": 1.5, "r_2": 0.2, "I_2": 0.03, "g": 9.81}


def test_coriolis_matrix_of_planar_2r():
    text = equations_of_motion(load_robot("planar2r"), parameters="symbols").text(velocity="matrix").splitlines()
    assert text[0] == "M qdd + C qd + G = tau"
    assert text[5:9] == ["C_11 = -h*qd_2", "C_12 = -h*(qd_1 + qd_2)", "C_21 = h*qd_1", "C_22 = 0"]


def test_planar_2r_in_numbers():
    assert str(equations_of_motion(load_robot("planar2r"))).splitlines()[1:4] == [
        "h = 0.15*sin(q_2)", "M_11 = 0.64 + 0.3*cos(q_2)", "M_12 = M_21 = 0.09 + 0.15*cos(q_2)"]


def test_planar_3r_adds_up_its_angles():
    lines = str(equations_of_motion(load_robot("planar3r"), parameters="symbols")).splitlines()
    assert lines[-3:] == [
        "G_1 = (m_1*r_1 + (m_2 + m_3)*l_1)*g*cos(q_1) + (m_2*r_2 + m_3*l_2)*g*cos(q_1 + q_2) + m_3*r_3*g*cos(q_1 + q_2 "
        "+ q_3)",
        "G_2 = (m_2*r_2 + m_3*l_2)*g*cos(q_1 + q_2) + m_3*r_3*g*cos(q_1 + q_2 + q_3)",
        "G_3 = m_3*r_3*g*cos(q_1 + q_2 + q_3)"]
    assert lines[4] == (
        "M_11 = I_1 + I_2 + I_3 + m_1*r_1**2 + m_2*(l_1**2 + r_2**2 + 2*l_1*r_2*cos(q_2)) "
        "+ m_3*(l_1**2 + l_2**2 + r_3**2 + 2*l_1*l_2*cos(q_2) + 2*l_2*r_3*cos(q_3) + 2*l_1*r_3*cos(q_2 + q_3))")


def test_spherical_pendulum_has_squares_of_cosines():
    """A point on a rod that turns about the vertical and then about a horizontal axis."""
    across = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    tree = Tree.of("pendulum", [Body("base"), Body("fork", 0.0), Body("rod", 2.0, (0.5, 0.0, 0.0))],
                   [Joint("turn", "base", "fork", Revolute()), Joint("lift", "fork", "rod", Revolute(), across)])
    assert str(equations_of_motion(tree, parameters="symbols")).splitlines()[1:] == [
        "h = m_2*r_2**2*cos(q_2)*sin(q_2)", "M_11 = m_2*r_2**2*cos(q_2)**2", "M_12 = M_21 = 0", "M_22 = m_2*r_2**2",
        "V_1 = -2*h*qd_1*qd_2", "V_2 = h*qd_1**2", "G_1 = 0", "G_2 = m_2*r_2*g*cos(q_2)"]


# The numbers


@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
@pytest.mark.parametrize("name", WRITTEN_OUT + RECURSIVE)
def test_formulas_give_the_numbers_of_the_recursion(name, parameters):
    tree = load_robot(name)
    found = equations_of_motion(tree, parameters=parameters)
    assert (found.order == "none") == (name in WRITTEN_OUT or (name, parameters) == ("s1_f6", "numbers"))
    check_numbers(tree, found)


@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
@pytest.mark.parametrize("seed", range(3))
def test_trees_with_branches_against_pinocchio(seed, parameters):
    random = np.random.default_rng(seed)
    bodies, joints, _ = random_parts(random, KINDS_OF_TREES[seed])
    tree = Tree.of("branches", bodies, joints, gravity=9.81 * random.normal(size=3))
    q, qd, qdd = state(tree, seed)
    there = PinocchioTree.of(without_universal_joints(tree))
    there.model.gravity.linear = np.array(tree.gravity)
    found = equations_of_motion(tree, parameters=parameters)
    T = there.velocity_map(q)
    state_there = there.q(q), T @ qd, T @ qdd + there.velocity_map_rate(q, qd) @ qd
    near(values(found, q, qd, qdd)[4], T.T @ pin.rnea(there.model, there.model.createData(), *state_there))
    check_numbers(tree, found, seed)


@pytest.mark.parametrize("pattern", ["RP", "PRR", "RRR"])
@pytest.mark.parametrize("twists", ["general", "special"])
def test_chains_with_oblique_and_with_right_angles(pattern, twists):
    tree = random_chain(pattern, 3, twists=twists)
    for parameters in ("numbers", "symbols"):
        found = equations_of_motion(tree, parameters=parameters)
        check_numbers(tree, found)
        assert (parameters == "symbols"
                and twists == "general") == any(s.name.startswith("alpha") for s in found.parameters)


@pytest.mark.parametrize("name", ["planar3r", "s1_f3"])
@pytest.mark.parametrize("shared", [True, False])
def test_intermediate_symbols_as_asked_for(name, shared):
    tree = load_robot(name)
    found = equations_of_motion(tree, shared=shared)
    assert shared or not found.intermediates
    check_numbers(tree, found)
    check_numbers(tree, found.substituted())


def test_simplify_is_applied_to_every_entry():
    tree = load_robot("planar3r")
    found = equations_of_motion(tree, parameters="symbols", simplify=sympy.expand_trig)
    assert not any(isinstance(angle.args[0], sympy.Add) for angle in found.G.atoms(sympy.cos))
    check_numbers(tree, found)


@pytest.mark.parametrize(("name", "parameters"), [("puma560", "numbers"), ("planar3r", "symbols"),
                                                  ("s1_f6", "symbols")])
def test_rotors_and_friction_are_included_on_request(name, parameters):
    tree = load_robot(name)
    joints = tuple(
        Joint(j.name, j.parent, j.child, j.motion, j.placement, friction=Friction(0.1
                                                                                  * k, 0.2), rotor=Rotor(1e-4, 50.0))
        for k, j in enumerate(tree.joints))
    driven = Tree.of(tree.name, tree.bodies, joints, gravity=tree.gravity).including("armature", "friction")
    found = equations_of_motion(driven, parameters=parameters)
    check_numbers(driven, found)
    assert "F_2 = " in str(found) and "+ F = tau" in str(found)


# Reading


def test_puma_is_a_page_or_two():
    for parameters in ("numbers", "symbols"):
        text = str(equations_of_motion(load_robot("puma560"), parameters=parameters))
        assert len(text.splitlines()) < 100 and len(text) < 12_000
        assert "c23 = cos(q_2 + q_3)" in text


def test_constants_read_as_in_books():
    """Masses first, then lengths, then gravity; what all terms share, but for a mass, is outside of the bracket."""
    lines = equations_of_motion(load_robot("puma560"), parameters="symbols").text().splitlines()
    wanted = ("m_2*r_2y*g", "m_6*l_2x*r_6", "(m_4 + m_5 + m_6)*l_3x*g", "m_2*(l_1 + r_2z)*r_2y",
              "(m_2*r_2x + (m_3 + m_4 + m_5 + m_6)*l_2x)*g")
    for text in wanted:
        assert any(line.startswith("a_") and line.endswith(f" = {text}") for line in lines), text


def test_puma_constants_of_the_published_model():
    """Armstrong, Khatib and Burdick 1986, table A3: what multiplies each sine and cosine, to the digits that are
    printed there.
    """
    found = equations_of_motion(load_robot("puma560"))
    c2, s2, s3, c3, c22, s22, c23, s23, c2233, s2233 = sympy.symbols("c2 s2 s3 c3 c22 s22 c23 s23 c2233 s2233")
    published = [(found.M[0, 1], s2, 0.690), (found.M[0, 1], c23, -0.134), (found.M[0, 1], c2, 0.0238),
                 (found.M[1, 1], s3, 2 * 0.372), (found.M[1, 1], c3, -2 * 0.0110), (found.M[0, 0], s22, -0.0142 / 2),
                 (found.M[0, 0], s2233, -0.0213 / 2), (found.M[0, 0], c2233, -0.298 / 2), (found.M[2, 2], 1, 0.333),
                 (found.G[1], c2, -37.2), (found.G[1], s2, 1.02), (found.G[1], s23, -8.44), (found.G[1], c23, 0.249)]
    for entry, wave, wanted in published:
        assert float(entry.as_coefficients_dict()[wave]) == pytest.approx(wanted, rel=5e-3), wave
    assert c22 in found.M[0, 0].free_symbols


@pytest.mark.parametrize(("name", "parameters"), [("planar2r", "numbers"), ("s1_f3", "symbols"), ("puma560", "symbols"),
                                                  ("panda", "numbers")])
def test_latex_is_a_formula(name, parameters):
    found = equations_of_motion(load_robot(name), parameters=parameters)
    assert found._repr_latex_() == f"$\\displaystyle {found.latex()}$"
    first, *rows, last = found.latex().split("\n")
    assert (first, last) == ("\\begin{aligned}", "\\end{aligned}")
    assert all(row.endswith(" \\\\") for row in rows[:-1])
    assert all(row.count("&=") == 1 or row.startswith("&\\quad ") for row in rows)
    assert max(map(len, rows)) < 500
    parser = MathTextParser("path")
    for row in [*rows[:8], *rows[-8:]]:
        # Matplotlib refuses what is not LaTeX
        parser.parse(f"${row.removesuffix(' ' + chr(92) * 2).replace('&', '')}$")


def test_latex_of_planar_2r():
    rows = equations_of_motion(load_robot("planar2r"), parameters="symbols").latex().split(" \\\\\n")
    assert rows[1] == r"h &= m_{2} l_{1} r_{2} \sin q_{2}"
    assert rows[5] == r"V_{1} &= - h \left(2 \dot{q}_{1} \dot{q}_{2} + \dot{q}_{2}^{2}\right)"
    assert rows[7] == (r"G_{1} &= \left(m_{1} r_{1} + m_{2} l_{1}\right) g \cos q_{1} + m_{2} r_{2} g "
                       r"\cos\left(q_{1} + q_{2}\right)")


@pytest.mark.parametrize(("name", "written"), [("qdd_12", r"\ddot{q}_{12}"), ("r_1x", "r_{1x}"),
                                               ("c23", r"\mathrm{c}_{23}"), ("s2m3", r"\mathrm{s}_{2-3}"), ("h", "h"),
                                               ("c2_m10", r"\mathrm{c}_{2-10}"), ("calpha2", r"\mathrm{c}_{\alpha 2}"),
                                               ("s1_beta2", r"\mathrm{s}_{1,\beta 2}"), ("alpha_3", r"\alpha_{3}"),
                                               ("l_1_3x", "l_{1,3x}"), ("M_1_10", "M_{1,10}"), ("C_11", "C_{11}")])
def test_latex_of_names(name, written):
    assert latex_name(name) == written


def test_many_joints_have_names_of_their_own():
    """With twelve joints c1_2 belongs to q_1 + q_2, and c12 to q_12; with axes that point against each other angles are
    subtracted.
    """
    against = np.diag([1.0, -1.0, -1.0, 1.0])
    against[0, 3] = 1.0
    bodies = [Body("link0"), *[Body(f"link{k}", 1.0 if k > 10 else 0.0, (0.5, 0, 0)) for k in range(1, 13)]]
    joints = [
        Joint(f"joint{k}", f"link{k - 1}", f"link{k}", Revolute(), against if k == 3 else None) for k in range(1, 13)]
    tree = Tree.of("long", bodies, joints, gravity=(0, -9.81, 0))
    found = equations_of_motion(tree, shared=True)
    assert {"c1_2", "c1_2_m3_m4_m5_m6_m7_m8_m9_m10_m11"} <= {symbol.name for symbol, _ in found.intermediates}
    check_numbers(tree, found)


@pytest.mark.parametrize(("hangs", "coupling", "centrifugal", "gravity"), [
    ((0.0, -0.5, 0.0), "0.5*cos(q_2)", "-0.5*qd_2**2*sin(q_2)", "4.905*sin(q_2)"),
    ((0.5, 0.0, 0.0), "-0.5*sin(q_2)", "-0.5*qd_2**2*cos(q_2)", "4.905*cos(q_2)")])
def test_a_crane_reads_as_in_the_textbook(hangs, coupling, centrifugal, gravity):
    """A cart of 2 kg with a load of 1 kg that hangs 0.5 m below, the angle being measured from there, or from a quarter
    turn before.
    """
    bodies = [Body("rail"), Body("cart", 2.0), Body("load", 1.0, hangs)]
    joints = [Joint("slide", "rail", "cart", Prismatic((1.0, 0.0, 0.0))), Joint("swing", "cart", "load", Revolute())]
    assert str(equations_of_motion(Tree.of("crane", bodies, joints, gravity=(0.0, -9.81, 0.0)))).splitlines()[1:] == [
        "M_11 = 3", f"M_12 = M_21 = {coupling}", "M_22 = 0.25", f"V_1 = {centrifugal}", "V_2 = 0", "G_1 = 0",
        f"G_2 = {gravity}"]


@pytest.mark.parametrize("quarter", [0, 1])
@pytest.mark.parametrize("tilt", [0.0, 0.7])
def test_angles_are_added_up_only_about_parallel_axes(tilt, quarter):
    """A turn, a slide along its axis, turned itself by no or one right angle, and a turn whose axis is parallel to the
    first, or tilted in that direction."""
    turned, tilted = np.eye(4), np.eye(4)
    turned[:3, :3] = Rotation.from_euler("z", quarter * np.pi / 2).as_matrix()
    tilted[:3, :3], tilted[:3, 3] = Rotation.from_euler("x", tilt).as_matrix(), (0.3, 0.1, 0.2)
    bodies = [
        Body("base"), *[Body(f"link{k}", 1.0 + k, (0.1, 0.2, 0.3), np.diag([0.3, 0.4, 0.5])) for k in range(1, 4)]]
    joints = [Joint("turn", "base", "link1", Revolute()), Joint("slide", "link1", "link2", Prismatic(), turned),
              Joint("tilt", "link2", "link3", Revolute(), tilted)]
    tree = Tree.of("tilted", bodies, joints, gravity=(1.0, -2.0, -9.0))
    found = equations_of_motion(tree)
    assert ("q_1 + q_3" in str(found)) == (tilt == 0)
    check_numbers(tree, found)


@pytest.mark.parametrize(("slides", "last"), [(9, "M_89 = M_98 "), (10, "M_9_10 = M_10_9 ")])
def test_places_of_entries_are_kept_apart_where_they_have_two_digits(slides, last):
    bodies = [Body("rail"), *[Body(f"link{k}", 1.0) for k in range(1, slides + 1)]]
    joints = [Joint(f"joint{k}", bodies[k - 1].name, f"link{k}", Prismatic()) for k in range(1, slides + 1)]
    assert last in str(equations_of_motion(Tree.of("rail", bodies, joints)))


def test_digits_are_those_asked_for():
    found = equations_of_motion(load_robot("puma560"))
    assert "M_44 = 0.00174 - 0.000101*c55" in found.text(digits=3)
    assert r"M_{66} &= 4 \cdot 10^{-5}" in found.latex(digits=3)


# Recursions of named values


@pytest.mark.parametrize("kinds", [("spherical", "revolute"), ("floating", "helical"), ("universal", "floating"),
                                   ("planar", "prismatic")])
def test_joints_of_every_kind_have_equations_of_named_values(kinds):
    arm = cy.Mechanism.of("tree", *random_parts(np.random.default_rng(4), list(kinds))[:2])
    random = np.random.default_rng(5)
    q = arm.random_configuration(seed=5)
    qd, qdd = random.normal(size=(2, arm.nv))
    M, C, V, G, tau = values(named_recursion(arm.tree, links_of(arm.tree), with_letters=False), q, qd, qdd)
    np.testing.assert_allclose(M, arm.inertia_matrix(q), atol=1e-11)
    np.testing.assert_allclose(G, arm.gravity_forces(q), atol=1e-11)
    np.testing.assert_allclose(C @ qd, V, atol=1e-10)
    np.testing.assert_allclose(tau, arm.inverse_dynamics(q, qd, qdd), atol=1e-10)


def test_a_free_body_reads_as_in_the_textbook():
    body = Tree.of("brick", [Body("base"), Body("brick", 2.0, (0, 0, 0), np.diag([0.1, 0.2, 0.4]))],
                   [Joint("free", "base", "brick", Floating())])
    found = equations_of_motion(body).substituted()
    w = found.qd[3:]
    euler = [0.2 * w[1] * w[2], -0.3 * w[0] * w[2], 0.1 * w[0] * w[1]]  # of moments of inertia 0.1, 0.2, 0.4
    np.testing.assert_allclose(np.array(found.M.diagonal(), dtype=float)[0], [2, 2, 2, 0.1, 0.2, 0.4])
    for force, wanted in zip(found.V[3:], euler, strict=True):
        assert sympy.nsimplify(sympy.expand(force - wanted), rational=True, tolerance=1e-12) == 0


def test_names_say_what_values_are_and_come_in_groups():
    found = equations_of_motion(load_robot("panda"))
    text = str(found)
    assert "t_" not in text and not [line for line in text.splitlines() if len(line) > 250]
    assert "M_55 = J_5xx + J_5yy" in text and "G_3 = g_3x*u_3y - g_3y*u_3x" in text
    titles = [line for line in text.splitlines() if line.endswith(":")]
    assert titles == [f"{group.title}:" for group in found.groups] + ["Equations of motion:"]
    assert r"\dot{\omega}_{4y}" in found.latex()


def test_a_long_recursion_of_forces_is_that_of_the_kernel():
    arm = cy.load("panda_hand").variants.spanning_tree()
    random = np.random.default_rng(6)
    q, qd, qdd = random.normal(size=(3, arm.nv))
    made = named_inverse_dynamics(arm.tree)
    known = {f"{letter}_{k + 1}": x for letter, xs in zip(("q", "qd", "qdd"), (q, qd, qdd), strict=True)
             for k, x in enumerate(xs)}
    for symbol, expression in [line for group in made.groups for line in group.lines]:
        known[symbol.name] = eval(sympy.pycode(expression), {"math": math}, known)
    tau = [eval(sympy.pycode(force), {"math": math}, known) for force in made.tau]
    np.testing.assert_allclose(tau, arm.inverse_dynamics(q, qd, qdd), atol=1e-11)


# Refusals and edges


def test_quaternions_are_refused_where_entries_are_to_be_written_out():
    tree = Tree.of("ball", [Body("base"), Body("arm", 1.0, (0.1, 0, 0))],
                   [Joint("shoulder", "base", "arm", Spherical())])
    for options in ({"parameters": "symbols"}, {"shared": False}):
        with pytest.raises(UnsupportedError, match=r"'shoulder' of ball is spherical.*replace it by revolute"):
            equations_of_motion(tree, **options)


def test_other_words_for_parameters_are_refused():
    with pytest.raises(ConventionError, match="'letters'"):
        equations_of_motion(load_robot("planar2r"), parameters="letters")


def test_what_nobody_could_read_is_not_written_out():
    with pytest.raises(UnsupportedError, match="leave `shared` to its default"):
        equations_of_motion(load_robot("panda"), shared=False)


def test_unknown_masses_are_named():
    with pytest.raises(ModelError, match="mass"):
        equations_of_motion(load_robot("scara"))


def test_a_mechanism_that_cannot_move():
    tree = Tree.of("rock", [Body("base"), Body("stone", 1.0)], [Joint("glue", "base", "stone")])
    found = equations_of_motion(tree)
    assert found.M.shape == (0, 0) and found.G.shape == (0, 1) and "tau" in str(found)


def test_one_slide_and_one_screw():
    oblique = tuple(unit(np.random.default_rng(0)))
    along = [Joint("slide", "base", "cart", Prismatic()), Joint("screw", "cart", "nut", Helical(oblique, 0.1))]
    tree = Tree.of(
        "press",
        [Body("base"), Body("cart", 1.0),
         Body("nut", 0.5, (0.1, 0.2, 0.0), np.diag([0.1, 0.2, 0.25]))], along)
    for parameters in ("numbers", "symbols"):
        check_numbers(tree, equations_of_motion(tree, parameters=parameters))


def test_a_universal_and_a_planar_joint_are_several_links():
    bodies = [Body("base"), Body("table", 2.0, (0.1, 0, 0), np.diag([0.1, 0.1, 0.2])), Body("mast", 1.0, (0, 0, 0.3))]
    joints = [
        Joint("floor", "base", "table", Planar()),
        Joint("cardan", "table", "mast", Universal((1.0, 0, 0), (0, 1.0, 0)))]
    tree = Tree.of("table", bodies, joints)
    check_numbers(tree, equations_of_motion(tree, parameters="symbols"))
