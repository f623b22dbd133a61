"""The forms of the books for systems with constraints on velocities: each beside the others, SymPy's equations of
Lagrange with multipliers, and the worked examples of the specification."""

import numpy as np
import pytest
import sympy
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import cayley as cy
from cayley.dynamics.nonholonomic import (
    MovingFrame,
    accessibility,
    accessibility_of_frame,
    completed_frame,
    nonholonomic_model,
    nonholonomic_system,
    program_control,
)
from cayley.errors import ConventionError, ModelError, SignatureError, SingularityError, UnsupportedError
from cayley.machines import RobotMasses, RollingRobot
from cayley.model.constraint_kinds import Disc, KnifeEdge, Wheel
from cayley.model.joint_kinds import Floating, Planar, Revolute
from cayley.model.parts import Body, Joint

MASS, RADIUS, ROLL, TURN = 3.0, 0.25, 0.1, 0.05
SLOPE = np.array([2.0, -1.0])  # of the plane: forces of gravity along x and y


def rolls(q):
    return [[1.0, 0.0, 0.0, -RADIUS * np.cos(q[2])], [0.0, 1.0, 0.0, -RADIUS * np.sin(q[2])]]


def upright_disc(**pseudo):
    """q = (x, y, heading, roll), on a slope."""
    return nonholonomic_system(
        lambda q, qd: (MASS * (qd[0]**2 + qd[1]**2) + TURN * qd[2]**2 + ROLL * qd[3]**2) / 2,
        lambda q: -(SLOPE[0] * q[0] + SLOPE[1] * q[1]), constraints=rolls, name="disc",
        **(pseudo or {"independent": [2, 3]}))


J, M, AHEAD = 0.5, 2.0, 0.3


def sleigh(**pseudo):
    """q = (x, y, heading) of the blade, WE-12."""
    def kinetic(q, qd):
        u, v = qd[0] - AHEAD * qd[2] * np.sin(q[2]), qd[1] + AHEAD * qd[2] * np.cos(q[2])
        return (M * (u * u + v * v) + J * qd[2]**2) / 2

    along = {"pseudo_velocities": lambda q: [[np.cos(q[2]), np.sin(q[2]), 0.0], [0.0, 0.0, 1.0]]}
    return nonholonomic_system(kinetic, constraints=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0.0]], name="sleigh",
                               **(pseudo or along))


def moving(system, q, pid):
    return system.frame.directions(q)[:, :len(pid)] @ pid


# S0-42


@pytest.mark.spec("S0-42")
def test_the_structure_coefficients_of_the_disc_are_those_of_the_specification():
    frame = upright_disc().frame
    q = np.array([0.1, 0.2, 0.6, 0.3])
    gamma = frame.structure_coefficients(q)
    s, c = RADIUS * np.sin(0.6), RADIUS * np.cos(0.6)
    expected = np.zeros((4, 4, 4))
    expected[0, 2, 1], expected[0, 3, 1], expected[1, 2, 0], expected[1, 3, 0] = -s, c, s, -c
    np.testing.assert_allclose(gamma, expected, atol=1e-15)
    assert not frame.is_holonomic(q)


@pytest.mark.spec("S0-42")
@pytest.mark.parametrize("system, q", [(upright_disc(), [0.1, -0.4, 0.6, 0.3]), (sleigh(), [0.3, 0.1, -0.8])])
def test_brackets_are_combinations_of_the_directions(system, q):
    B, gamma = system.frame.directions(q), system.frame.structure_coefficients(q)
    np.testing.assert_allclose(system.frame.brackets(q), np.einsum("kij,si->kjs", gamma, B), atol=1e-14)
    np.testing.assert_allclose(gamma, -np.swapaxes(gamma, 0, 2), atol=1e-15)


@pytest.mark.spec("S0-42")
def test_integrable_constraints_are_seen_and_so_are_frames_that_are_none():
    circle = MovingFrame(lambda q: [[-q[1], q[0]]], lambda q: [[q[0], q[1]]])
    assert circle.is_holonomic([[0.6, 0.8], [1.0, 0.1]])
    assert np.isnan(circle.directions([[0.0, 0.0], [1.0, 0.0]])).any(axis=(1, 2)).tolist() == [True, False]
    with pytest.raises(SingularityError, match="depend on each other"):
        circle.structure_coefficients([0.0, 0.0])
    twice = completed_frame(lambda q: [[2 * q[0], 2 * q[1], 0.0], [q[0], q[1], 0.0]], at=[0.6, 0.8, 0.0])
    assert twice.count(np.zeros(3)) == 1 and twice.is_holonomic([0.6, 0.8, 0.1])
    with pytest.raises(ConventionError, match=r"3 forms, of \[2\] velocities, for 2 coordinates"):
        MovingFrame(lambda q: [[1, 0], [0, 1]], lambda q: [[1, 1]]).directions([0.0, 0.0])


@pytest.mark.spec("S0-42", "S0-74")
@pytest.mark.parametrize("free", [[[1, 0, 0], [2, 0, 0]], [[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 0]]])
@pytest.mark.parametrize("scale", [lambda q: 1.0, lambda q: 2.0 + np.cos(q[0])])
def test_forms_that_depend_on_each_other_everywhere_are_no_frame(free, scale):
    """However they are made, by numbers or by symbols: the error of a frame, and not that of a compiler."""
    frame = MovingFrame(lambda q: [[scale(q) * entry for entry in row] for row in free], lambda q: [[0.0, 0.0, 1.0]],
                        "cart")
    for asked in (frame.directions, frame.structure_coefficients, frame.brackets, frame.is_holonomic):
        with pytest.raises(SingularityError, match="the forms of cart depend on each other at every configuration"):
            asked([0.1, 0.2, 0.3])
    arm = cy.load("planar2r")
    with pytest.raises(SingularityError, match="depend on each other"):
        nonholonomic_model(arm.tree, lambda q: [[scale(q), 0.0], [2 * scale(q), 0.0]]).matrix_form(
            [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    for flat in ([0.0, 0.0, 1.0], np.array([0.0, 0.0, 1.0])):
        with pytest.raises(ConventionError, match="one list a row"):
            MovingFrame(lambda q: [[1, 0, 0], [0, 1, 0]], lambda q, flat=flat: flat).directions([0.1, 0.2, 0.3])
        with pytest.raises(ConventionError, match="one list a row"):
            completed_frame(lambda q, flat=flat: flat, at=[0.1, 0.2, 0.3])


@pytest.mark.spec("S0-42")
@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("at", [0.0, 0.6])
def test_special_configurations_are_not_taken_for_integrable_constraints(power, at):
    """dz - y^k dx: at y = 0 the brackets of up to k fields are zero, and that of k + 1 is k! d/dz; x dx + y dy is zero
    itself at the origin, where there is no frame of it."""
    frame = completed_frame(lambda q: [[-(q[1] ** power), 0.0, 1.0]], at=[0.2, at, 0.1])
    found = accessibility_of_frame(frame, [[0.2, at, 0.1]])
    assert found.growth == ((2,) * (power if at == 0 else 1) + (3,)) and found.accessible and not found.integrable
    assert not frame.is_holonomic([0.2, at, 0.1])
    level = completed_frame(lambda q: [[q[1] ** power, power * q[0] * q[1] ** (power - 1), 1.0]], at=[0.2, at, 0.1])
    assert level.is_holonomic([0.2, at, 0.1])  # d(x y^k + z)
    assert accessibility_of_frame(level, [[0.2, at, 0.1]]).integrable == 1
    with pytest.raises(SingularityError, match=r"have the rank 0 at the configuration .*, and 1 beside it"):
        completed_frame(lambda q: [[q[0] ** power, q[1] ** power, 0.0]], at=[0.0, 0.0, 0.3])


def test_brackets_lead_a_unicycle_everywhere_and_a_disc_in_three_steps():
    unicycle = completed_frame(lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]], at=[0.0, 0.0, 0.3])
    assert accessibility_of_frame(unicycle, [0.3, 0.2, 0.5]).growth == (2, 3)
    disc = accessibility_of_frame(upright_disc().frame, [0.3, 0.2, 0.5, 0.1])
    assert disc.growth == (2, 3, 4) and disc.accessible
    circle = accessibility_of_frame(MovingFrame(lambda q: [[-q[1], q[0]]], lambda q: [[q[0], q[1]]]), [[0.6, 0.8]])
    assert (circle.growth, circle.integrable, circle.accessible) == ((1,), 1, False)
    still = accessibility_of_frame(MovingFrame(lambda q: [], lambda q: [[1.0]]), [[0.2]])
    assert (still.growth, still.integrable) == ((0,), 1)


def test_a_trailer_makes_one_bracket_more():
    def rows(q):  # x, y, heading, heading of the trailer, one metre behind
        return [[np.sin(q[2]), -np.cos(q[2]), 0.0, 0.0], [np.sin(q[3]), -np.cos(q[3]), 0.0, 1.0]]

    frame = completed_frame(rows, at=[0.1, 0.2, 0.3, 0.4])
    assert accessibility_of_frame(frame, [[0.1, 0.2, 0.4, 0.9]]).growth == (2, 3, 4)


def test_mechanisms_say_what_their_wheels_leave():
    skate = cy.Mechanism.of("skate", [Body("ice"), Body("skate", 1.0, inertia=np.eye(3))],
                            [Joint("base", "ice", "skate", Planar())], constraints=[KnifeEdge("edge", "ice", "skate")])
    assert skate.formulations.accessibility.growth == (2, 3) and skate.formulations.accessibility.accessible
    coin = cy.Mechanism.of("coin", [Body("floor"), Body("coin", 1.0, inertia=np.eye(3))],
                           [Joint("free", "floor", "coin", Floating())],
                           constraints=[Disc("edge", "floor", "coin", 0.3)])
    found = accessibility(coin.tree)
    assert (found.growth, found.positions, found.reached, found.accessible) == ((3, 4, 5), 1, 5, True)
    rail = cy.Mechanism.of("rail", [Body("floor"), Body("wheel", 1.0, inertia=np.eye(3))], [
        Joint("base", "floor", "wheel", Planar((0.0, 1.0, 0.0)))],
        constraints=[Wheel("tyre", "floor", "wheel", 0.3)])
    assert rail.formulations.accessibility.integrable == 1  # a wheel in its plane: the way is angle times radius
    bar = cy.load("four_bar").formulations.accessibility
    assert (bar.growth, bar.integrable) == ((1,), 0)
    assert "reach 3 of 3" in str(skate.formulations.accessibility)


# S0-43 to S0-45


def by_sympy(q, qd):
    """Accelerations and multipliers of the disc on its slope, from SymPy."""
    names = dynamicsymbols("x y theta phi")
    rates = [sympy.diff(name, dynamicsymbols._t) for name in names]
    x, y, theta, _ = names
    energy = (MASS * (rates[0]**2 + rates[1]**2) + TURN * rates[2]**2 + ROLL * rates[3]**2) / 2
    rows = [rates[0] - RADIUS * sympy.cos(theta) * rates[3], rates[1] - RADIUS * sympy.sin(theta) * rates[3]]
    method = LagrangesMethod(energy + SLOPE[0] * x + SLOPE[1] * y, names, nonhol_coneqs=rows)
    method.form_lagranges_equations()
    numbers = dict(zip([*rates, *names], [*qd, *q], strict=True))
    full = np.array(method.mass_matrix_full.subs(numbers), dtype=float)
    forcing = np.array(method.forcing_full.subs(numbers), dtype=float).ravel()
    found = np.linalg.solve(full, forcing)
    return found[4:8], found[8:]


@pytest.mark.spec("S0-43", "S0-44", "S0-45")
def test_a_disc_on_a_slope_has_the_accelerations_and_multipliers_of_sympy():
    system = upright_disc()
    q, pid = np.array([0.1, 0.4, 0.6, 0.2]), np.array([2.0, 5.0])
    qd = moving(system, q, pid)
    qdd, multipliers = by_sympy(q, qd)
    routh = system.routh(q, qd, np.zeros(4))
    np.testing.assert_allclose(routh.qdd, qdd, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.abs(routh.Lambda), np.abs(multipliers), rtol=1e-12)  # SymPy has the other sign
    hamel = system.hamel(q, pid, np.zeros(4))
    np.testing.assert_allclose(hamel.pidd, qdd[2:], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(hamel.reactions, routh.Lambda, rtol=1e-12)
    matrix = system.matrix_form(q, pid, np.zeros(4))
    np.testing.assert_allclose(matrix.qdd, qdd, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(matrix.Lambda, routh.Lambda, rtol=1e-12)


@pytest.mark.spec("S0-44")
def test_the_reactions_of_the_worked_examples():
    flat = nonholonomic_system(
        lambda q, qd: (MASS * (qd[0]**2 + qd[1]**2) + TURN * qd[2]**2 + ROLL * qd[3]**2) / 2, constraints=rolls,
        independent=[2, 3])
    found = flat.hamel([0.0, 0.0, 0.6, 0.0], [2.0, 5.0], np.zeros(4))
    np.testing.assert_allclose(found.reactions, [-4.234818550463, 6.190017111823], rtol=1e-12)
    needed = flat.hamel_forces([0.0, 0.0, 0.6, 0.0], [2.0, 5.0], [0.3, 0.4])
    np.testing.assert_allclose(needed.forces, [TURN * 0.3, (ROLL + MASS * RADIUS**2) * 0.4], rtol=1e-12)
    slid = sleigh().hamel([0.0, 0.0, 0.0], [0.2, 1.5], np.zeros(3))
    np.testing.assert_allclose([*slid.pidd, *slid.reactions],
                               [AHEAD * 1.5**2, -M * AHEAD * 0.3 / (J + M * AHEAD**2), 0.441176470588], rtol=1e-11)


def test_equations_are_printed_as_in_books():
    found = sleigh().equations(["x", "y", "theta"], ["v", "w"])
    v, w, vd, wd, theta = sympy.symbols("v w v' w' theta", real=True)
    x, y, turn, reaction = sympy.symbols("tau_x tau_y tau_theta R1", real=True)
    c, s = sympy.cos(theta), sympy.sin(theta)
    ahead, about = M * (vd - AHEAD * w**2), (J + M * AHEAD**2) * wd + M * AHEAD * v * w
    across = M * (v * w + AHEAD * wd)
    for each, (left, right) in zip((*found.motion, *found.reactions), [
            (ahead, c * x + s * y), (about, turn), (reaction, across + s * x - c * y)], strict=True):
        difference = sympy.simplify(each.lhs - each.rhs - left + right)
        assert abs(difference.subs({v: 1.1, w: 0.7, vd: 0.3, wd: 1.9, theta: 0.4, x: 2.0, y: 3.0, turn: 0.6,
                                    reaction: 0.5})) < 1e-12
    assert found.latex().count("&=") == 3 and str(found).splitlines()[1] == "0.6*v*w + 0.68*w' = tau_theta"
    with pytest.raises(ConventionError, match="2 pseudo-velocities, and 1 names"):
        sleigh().equations(["x", "y", "theta"], ["v"])


def test_the_equations_of_a_disc_and_of_a_robot_with_a_castor_are_printed():
    lines = str(upright_disc().equations(["x", "y", "theta", "phi"], ["w", "s"])).splitlines()
    assert lines[0] == "0.05*w' = tau_theta"
    assert lines[1] == "0.2875*s' + sin(theta)/4 - cos(theta)/2 = tau_phi + tau_x*cos(theta)/4 + tau_y*sin(theta)/4"
    robot = RollingRobot(0.1, 0.5, 0.12, 0.3, 0.08, RobotMasses(1.5, 0.8, 0.4, 20.0, 0.003, 1.1))
    names = ["x", "y", "theta", "right", "left", "psi", "castor"]
    found = nonholonomic_model(robot.tree()).equations(names, ["u", "v"])
    named = {sympy.Symbol(name, real=True): value for name, value in {
        "u": 8.0, "v": 5.0, "psi": 0.7, "theta": 0.3, "tau_right": 2.0, "tau_left": -1.0}.items()}
    rates = sympy.symbols("u' v'", real=True)
    forces = {symbol: 0 for each in found.motion for symbol in each.free_symbols if str(symbol).startswith("tau_")}
    solved = sympy.solve([each.subs({**forces, **named}) for each in found.motion], rates)
    np.testing.assert_allclose([float(solved[rate]) for rate in rates], [13.1449151947, -6.4608288248], rtol=1e-9)
    assert not any("theta" in str(each.lhs) for each in found.motion)  # wherever it heads, it is the same
    assert len(found.reactions) == 5 and "sin(psi)**2" not in str(found)


def tangled(**pseudo):
    """Four coordinates with an inertia matrix, a potential and two constraints that depend on them all."""
    def kinetic(q, qd):
        turned = [qd[k] * (1.2 + 0.3 * np.sin(q[k - 1])) + 0.2 * np.cos(q[(k + 1) % 4]) * qd[(k + 2) % 4]
                  for k in range(4)]
        return sum(each * each for each in turned) / 2 + 0.1 * qd[0] * qd[3]

    def constraints(q):
        return [[np.cos(q[2]), np.sin(q[1]), 1.0, 0.3 * q[0]], [0.2, q[3], -0.5 * np.sin(q[0]), 1.0]]

    return nonholonomic_system(kinetic, lambda q: np.cos(q[0]) + q[1] * q[2] + 0.5 * q[3]**2, constraints=constraints,
                               forces=lambda q, qd: -0.3 * qd, name="tangled", **pseudo)


FRAMES = {
    "rates": {"independent": [0, 1]},
    "forms": {"pseudo_velocities": lambda q: [[1.0, 0.3 * np.sin(q[1]), q[2], 0.0], [q[3], 1.0, 0.0, np.cos(q[0])]]}}


@pytest.mark.spec("S0-43", "S0-44", "S0-45", "S0-47")
@pytest.mark.parametrize("frame", FRAMES)
def test_all_forms_are_of_one_motion(frame):
    system = tangled(**FRAMES[frame])
    random = np.random.default_rng(5)
    q, pid, tau = random.normal(size=4), random.normal(size=2), random.normal(size=4)
    qd = moving(system, q, pid)
    A, M, bias = system.frame.matrix(q), system.mechanics.inertia_matrix(q, qd), system.mechanics.bias(q, qd)
    A2 = np.asarray(A, dtype=float)[2:]
    step = 1e-6
    drift = (np.asarray(system.frame.matrix(q + step * qd), dtype=float)
             - np.asarray(system.frame.matrix(q - step * qd), dtype=float)) @ qd / (2 * step)
    kkt = np.linalg.solve(np.block([[M, -A2.T], [A2, np.zeros((2, 2))]]), np.concatenate([tau - bias, -drift[2:]]))
    qdd, Lambda = system.routh(q, qd, tau)
    np.testing.assert_allclose(np.concatenate([qdd, Lambda]), kkt, rtol=1e-8)
    pidd = np.asarray(A, dtype=float)[:2] @ qdd + drift[:2]
    hamel = system.hamel(q, pid, tau)
    np.testing.assert_allclose(hamel.pidd, pidd, rtol=1e-8)
    np.testing.assert_allclose(hamel.reactions, Lambda, rtol=1e-11)
    matrix = system.matrix_form(q, pid, tau)
    np.testing.assert_allclose(matrix.pidd, hamel.pidd, rtol=1e-11)
    np.testing.assert_allclose(matrix.qdd, qdd, rtol=1e-11)
    np.testing.assert_allclose(matrix.Lambda, Lambda, rtol=1e-11)
    np.testing.assert_allclose(matrix.reactions, A2.T @ Lambda, rtol=1e-11)
    form = system.descriptor_form(q, pid, Lambda, tau)
    assert form.E.shape == (8, 8) and np.linalg.matrix_rank(form.E) == 6
    np.testing.assert_allclose(form.E @ np.concatenate([qd, hamel.pidd, [7.0, 8.0]]), form.right, rtol=1e-11)
    unloaded = system.descriptor_form(q, pid, np.zeros(2), tau).right[4:]
    np.testing.assert_allclose(np.linalg.solve(form.pencil, unloaded), [*hamel.pidd, *Lambda], rtol=1e-11)


@pytest.mark.spec("S0-43")
def test_rows_that_depend_on_each_other_have_no_multipliers():
    twice = nonholonomic_system(lambda q, qd: qd @ qd / 2, constraints=lambda q: [[q[0], 1.0, 0.0], [1.0, q[1], 0.0]],
                                independent=[2])
    assert np.isfinite(twice.routh([0.5, 0.4, 0.0], [0.0, 0.0, 1.0], np.zeros(3)).qdd).all()
    with pytest.raises(SingularityError, match="depend on each other"):
        twice.routh([1.0, 1.0, 0.0], [0.0, 0.0, 1.0], np.zeros(3))
    with pytest.raises(SingularityError, match="depend on each other"):
        twice.matrix_form([1.0, 1.0, 0.0], [1.0], np.zeros(3))


@pytest.mark.spec("S0-45")
def test_a_motion_without_inertia_has_no_accelerations():
    light = nonholonomic_system(lambda q, qd: qd[0]**2 / 2, constraints=lambda q: [[1.0, 0.0, -1.0]],
                                independent=[0, 1])
    with pytest.raises(SingularityError, match="no inertia"):
        light.matrix_form([0.0, 0.0, 0.0], [1.0, 1.0], np.zeros(3))
    held = nonholonomic_system(lambda q, qd: (qd[0]**2 + qd[1]**2) / 2, constraints=lambda q: [[1.0, 0.0, -1.0]],
                               independent=[0, 1])  # H is singular, and what the constraint allows is not
    found = held.matrix_form([0.0, 0.0, 0.0], [1.0, 1.0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.pidd, [4.0, 2.0], rtol=1e-12)


@pytest.mark.spec("S0-47")
def test_the_descriptor_form_has_index_one_where_its_pencil_is_regular():
    """Also of an H that is singular, if what the constraints allow has inertia; and not if it has none."""
    def pencil(energy):
        system = nonholonomic_system(energy, constraints=lambda q: [[1.0, 0.0, -1.0]], independent=[0, 1])
        return system.descriptor_form(np.zeros(3), [1.0, 1.0], [0.0], [1.0, 2.0, 3.0])

    regular = pencil(lambda q, qd: (qd[0]**2 + qd[1]**2) / 2)
    np.testing.assert_allclose(np.linalg.solve(regular.pencil, regular.right[3:]), [4.0, 2.0, 3.0], rtol=1e-14)
    assert np.linalg.matrix_rank(pencil(lambda q, qd: qd[0]**2 / 2).pencil) == 2


@pytest.mark.parametrize("form", ["hamel", "hamel_forces", "matrix_form"])
def test_pseudo_velocities_are_counted(form):
    """One too few was taken for a system with one constraint more."""
    disc = upright_disc()
    for m in (1, 3):
        third = np.zeros(m if form == "hamel_forces" else 4)
        with pytest.raises(SignatureError, match=f"has 2 pseudo-velocities, and {form} is given {m}"):
            getattr(disc, form)(np.zeros(4), np.ones(m), third)
    with pytest.raises(SignatureError, match="descriptor_form is given 1"):
        disc.descriptor_form(np.zeros(4), np.ones(1), np.zeros(2), np.zeros(4))


@pytest.mark.parametrize("places", [[2, 2], [2, 4], ["x", 2], [-1, 3]])
def test_independent_coordinates_are_places_that_differ(places):
    system = nonholonomic_system(lambda q, qd: qd @ qd / 2, constraints=rolls, independent=places)
    with pytest.raises(ConventionError, match="places of different coordinates of system, from 0 to 3"):
        system.hamel(np.zeros(4), np.ones(2), np.zeros(4))


def test_what_these_forms_do_not_know_is_refused():
    with pytest.raises(ConventionError, match="which pseudo-velocities"):
        nonholonomic_system(lambda q, qd: qd @ qd, constraints=rolls)
    with pytest.raises(UnsupportedError, match="depends on time"):
        nonholonomic_system(lambda q, qd, t: t * qd @ qd, constraints=rolls, independent=[2, 3])
    ball = cy.Mechanism.of("coin", [Body("floor"), Body("coin", 1.0, inertia=np.eye(3))],
                           [Joint("free", "floor", "coin", Floating())],
                           constraints=[Disc("edge", "floor", "coin", 0.3)])
    with pytest.raises(UnsupportedError, match="'free'"):
        nonholonomic_model(ball.tree)


def cart():
    """Two driven wheels on an axle, the mass centre ahead of it."""
    Y = (0.0, 1.0, 0.0)

    def at(x, y, z=0.0):
        pose = np.eye(4)
        pose[:3, 3] = x, y, z
        return pose

    wheels = [Body(name, 1.0, inertia=np.diag([0.01, 0.02, 0.01])) for name in ("left", "right")]
    return cy.Mechanism.of(
        "cart", [Body("floor"), Body("chassis", 10.0, [0.1, 0.02, 0], np.eye(3)), *wheels],
        [Joint("base", "floor", "chassis", Planar(), at(0, 0, 0.1)),
         Joint("left", "chassis", "left", Revolute(Y), at(0, 0.25)),
         Joint("right", "chassis", "right", Revolute(Y), at(0, -0.25))],
        constraints=[Wheel(f"{name} tyre", "floor", name, 0.1) for name in ("left", "right")],
        actuated=["left", "right"])


@pytest.mark.spec("S0-44", "S0-45")
def test_a_cart_has_the_same_motion_in_all_forms_and_as_a_mechanism():
    arm = cart()
    task = [[1.0, 0, 0, 0, 0], [0, 0, 1.0, 0, 0]]
    for model in (nonholonomic_model(arm.tree), nonholonomic_model(arm.tree, lambda q: task)):
        q, tau = np.array([0.1, -0.2, 0.4, 0.3, 0.5]), np.array([0.3, -0.1, 0.2, 0.4, -0.6])
        qd = arm.loops.actuated_motion(q, [3.0, -1.0])
        pid = model.frame.pseudo_velocities(q, qd)[:2]
        expected = arm.forward_dynamics(q, qd, tau)
        np.testing.assert_allclose(model.matrix_form(q, pid, tau).qdd, expected, rtol=1e-11)
        found = model.hamel(q, pid, tau)
        np.testing.assert_allclose(model.routh(q, qd, tau).Lambda, found.reactions, rtol=1e-10)


# S0-46


@pytest.mark.spec("S0-46")
def test_a_program_is_kept_by_forces_that_are_compatible_with_it_and_by_no_others():
    random = np.random.default_rng(0)
    root = random.normal(size=(5, 5))
    H, f = root @ root.T + np.eye(5), random.normal(size=5)
    A2, drift = random.normal(size=(2, 5)), random.normal(size=2)
    for drives in (None, [1, 3], [0, 2, 4]):
        U, G, g = program_control(H, f, A2, drift, drives=drives)
        np.testing.assert_allclose(G @ U + g, 0.0, atol=1e-12)
        np.testing.assert_allclose(A2 @ np.linalg.solve(H, f + U) + drift, 0.0, atol=1e-12)
        others = [k for k in range(5) if drives and k not in drives]
        assert not np.asarray(U)[others].any()
    ideal = program_control(H, f, A2, drift).U
    np.testing.assert_allclose(np.linalg.matrix_rank(np.stack([*A2, ideal])), 2)  # in the span of the rows
    for few in ([1], [3, 3], []):
        with pytest.raises(ModelError, match=f"a program of 2 rows needs as many drives, not {len(set(few))}"):
            program_control(H, f, A2, drift, drives=few)
    with pytest.raises(ModelError, match="no place 5 for a drive"):
        program_control(H, f, A2, drift, drives=[1, 5])
    for rows, drives in ((A2[[0, 0]], None), (A2[[0, 0]], [0, 2, 4]), (np.eye(5)[:2] @ H, [2, 3])):
        with pytest.raises(SingularityError, match="do not keep the program"):
            program_control(H, f, rows, drift, drives=drives)


@pytest.mark.spec("S0-46")
@pytest.mark.parametrize("drives", [None, [1]])
def test_an_arm_keeps_its_tip_on_a_line_while_it_falls(drives):
    arm = cy.load("planar2r")

    def derivative(t, x, u, p):
        H, f = arm.inertia_matrix(x.q), -arm.bias_forces(x.q, x.qd)
        control = program_control(H, f, tip(x.q), tip_rate(x.q, x.qd) @ x.qd, drives=drives)
        return np.linalg.solve(H, f + control.U)

    tip = cy.kernel("(2)->(1,2)")(lambda q: arm.jacobian(q, "tool", axes="world")[1:2])
    tip_rate = cy.kernel("(2),(2)->(1,2)")(lambda q, qd: arm.jacobian_rate(q, qd, "tool", axes="world")[1:2])
    falling = cy.System("falling", state={"q": cy.systems.Block((2,), velocity="qd"), "qd": 2}, derivative=derivative)
    q = np.array([0.4, 0.9])
    qd = np.array([1.0, -tip(q)[0, 0] / tip(q)[0, 1]])
    run = falling.simulate({"q": q, "qd": qd}, until=0.5)
    heights = [arm.pose(q, "tool")[1, 3] for q in run["q"]]
    assert np.ptp(heights) < 1e-8 and np.abs(np.diff(run["q"][:, 0])).max() > 1e-3


# S0-74


@pytest.mark.spec("S0-74")
@pytest.mark.parametrize("name, rows, q, qd", [
    ("planar2r", slice(0, 2), [0.4, 0.9], [0.3, -0.7]), ("four_bar", slice(0, 1), [0.0, 0.0, 0.0], [1.6, -1.6, 1.0])])
def test_task_velocities_as_pseudo_velocities(name, rows, q, qd):
    arm = cy.load(name)
    task = cy.kernel(f"({arm.nq})->({rows.stop},{arm.nv})")(lambda q: arm.jacobian(q, "tool", axes="world")[rows])
    model = nonholonomic_model(arm.tree, task)
    tau = np.arange(1.0, arm.nv + 1)
    qdd = arm.forward_dynamics(q, qd, tau)
    speed = task(q) @ qd
    np.testing.assert_allclose(model.frame.pseudo_velocities(q, qd)[rows], speed, rtol=1e-13)
    expected = task(q) @ qdd + arm.jacobian_rate(q, qd, "tool", axes="world")[rows] @ qd
    np.testing.assert_allclose(model.hamel(q, speed, tau).pidd, expected, rtol=1e-10)
    matrix = model.matrix_form(q, speed, tau)
    np.testing.assert_allclose(matrix.pidd, expected, rtol=1e-10)
    np.testing.assert_allclose(matrix.qdd, qdd, rtol=1e-10)
    np.testing.assert_allclose(model.routh(q, qd, tau).qdd, qdd, rtol=1e-10)


@pytest.mark.spec("S0-74")
def test_a_singular_task_has_no_equations_and_a_constant_one_costs_less():
    arm = cy.load("planar2r")
    model = nonholonomic_model(arm.tree, lambda q: arm.jacobian(q, "tool", axes="world")[:2])
    with pytest.raises(SingularityError, match="depend on each other"):
        model.matrix_form([0.4, 0.0], [0.1, 0.2], [0.0, 0.0])
    plain = nonholonomic_model(arm.tree, lambda q: [[1.0, 0.0], [1.0, 1.0]])
    dear, cheap = (each.matrix_form.operations(n=2, m=2).multiplications for each in (model, plain))
    assert cheap < dear / 2
    found = plain.matrix_form([[0.4, 0.9]] * 3, [0.1, 0.2], [0.3, 0.4])  # a batch, and no constraints
    assert found.Lambda.shape == (3, 0)
    np.testing.assert_allclose(found.qdd[1], arm.forward_dynamics([0.4, 0.9], [0.1, 0.1], [0.3, 0.4]), rtol=1e-11)
