"""Generated equations of arms with elastic and rigid joints: the worked example, Lagrangians of SymPy, Pinocchio, and
the text in other languages."""

import numpy as np
import pinocchio as pin
import pytest
import sympy

import cayley as cy
from cayley.compiler.c.c_source import c_source
from cayley.dynamics.generated_model import elastic_generic_arm, generate, growth, recursive_terms
from cayley.dynamics.inverse.trace_lagrange import trace_terms
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.dynamics.rigid_links.transforms import pseudo_inertia
from cayley.errors import ConventionError, SingularityError, UnsupportedError
from cayley.geometry.principal_axes import symbolic_diagonalization, symbolic_point_mass
from cayley.geometry.rotations import matrix_from_vector_parameter
from cayley.model.denavit_hartenberg.table import DHRow, modified_dh_pose
from compiler import fortran
from compiler.parity import call_c, compiled_c
from dynamics.bodies_of_elastic_arms import (
    body_places,
    inward,
    outward_in_base_axes,
    outward_in_own_axes,
    table_vector_parameter,
)
from dynamics.elastic_arms import pinocchio_arm, spatial_arm, spring_torques
from simulation.mechanisms import floating_arm

TWISTS, LENGTHS, OFFSETS = (0.3, -1.1, 0.8), (0.1, 0.5, -0.3), (0.2, 0.0, 0.3)
ACTUATORS = (-0.1, 0.15, 0.05)
MASSES = (0.5, 2.0, 0.4, 1.5, 0.3, 1.0)
CENTERS = ((0, 0, 0.02), (0.1, 0.05, -0.02), (0, 0, 0.03), (-0.04, 0.02, 0.1), (0, 0, 0.01), (0.06, -0.03, 0.05))
TENSORS = (np.diag([0.02, 0.02, 0.03]), np.array([[0.2, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.15]]),
           np.diag([0.01, 0.01, 0.02]), np.array([[0.12, -0.01, 0.02], [-0.01, 0.1, 0.01], [0.02, 0.01, 0.08]]),
           np.diag([0.008, 0.008, 0.012]), np.array([[0.05, 0.004, 0], [0.004, 0.06, -0.006], [0, -0.006, 0.04]]))
STATE = (np.array([0.7, 0.2, -0.4, 0.35, 1.1, -0.6]), np.array([1, -0.5, 0.8, 0.3, -1.2, 0.9]),
         np.array([0.2, 0.4, -0.3, 0.5, 0.1, -0.7]))  # of the bodies 1 to 6 of the book


def elastic_table_arm(twists=TWISTS, stiffness=(100.0, 150.0, 80.0), gears=(7.0, -20.0, 1.0)):
    """The arm of WE-16: link 2 slides, rotors on the axes of their joints."""
    rows = [DHRow(d=OFFSETS[0], a=LENGTHS[0], alpha=twists[0]),
            DHRow(theta=0.4, a=LENGTHS[1], alpha=twists[1], kind="prismatic"),
            DHRow(d=OFFSETS[2], a=LENGTHS[2], alpha=twists[2])]
    arm = cy.Mechanism.from_dh(rows, convention="modified", name="three", masses=MASSES[1::2], centers=CENTERS[1::2],
                               inertias=TENSORS[1::2], gravity=(0, 0, -9.81))
    for i, joint in enumerate(arm.joint_names):
        place = modified_dh_pose(0.0, ACTUATORS[i], LENGTHS[i], twists[i])
        arm = arm.with_drive(joint, stiffness=stiffness[i], gear=gears[i], mass=MASSES[2 * i], center=CENTERS[2 * i],
                             tensor=TENSORS[2 * i], place=place)
    return arm.including("elastic drives")


@pytest.fixture(scope="module")
def three():
    return elastic_table_arm()


@pytest.fixture(scope="module")
def model(three):
    return three.formulations.generated_model()


def in_mechanisms_order(tree, *vectors):
    order = np.argsort(generate(tree).numbering)
    return [vector[order] for vector in vectors]


def random_states(n, size=5, seed=3):
    return np.random.default_rng(seed).normal(size=(3, size, n))


@pytest.mark.spec("S0-57")
@pytest.mark.parametrize("twists", [TWISTS, (np.pi, 0.4, -np.pi / 2), (0.0, np.pi, 0.0)])
def test_places_of_links_and_actuators_in_vector_parameters_are_those_of_the_table(twists):
    """Twists and angles of half a turn are turns like any other; the order of composition is outward (E-53, E-54)."""
    arm = elastic_table_arm(twists)
    assert arm.tree.motors == {0: 3, 1: 4, 2: 5} and generate(arm.tree).numbering.tolist() == [3, 0, 4, 1, 5, 2]
    for turn in (0.35, np.pi):
        book = np.array([0.7, turn, -0.4, 0.35, np.pi, -0.6])
        q, = in_mechanisms_order(arm.tree, book)
        places = body_places(links_of(arm.tree), q)
        T = {0: np.eye(4)}
        for i in range(3):
            link = (0.4, book[2 * i + 1]) if i == 1 else (book[2 * i + 1], OFFSETS[i])
            for s, (theta, d) in ((2 * i + 1, (book[2 * i], ACTUATORS[i])), (2 * i + 2, link)):
                T[s] = T[2 * i] @ modified_dh_pose(theta, d, LENGTHS[i], twists[i])
                place = places[generate(arm.tree).numbering[s - 1]]
                np.testing.assert_allclose(place.transform, T[s], atol=1e-14)
                half_turn = abs(abs(twists[i]) - np.pi) < 1e-9 or abs(abs(theta) - np.pi) < 1e-9
                if half_turn:
                    assert abs(place.turn[0]) < 1e-12 * np.abs(place.turn).max() * 1e4
                else:
                    c = place.turn[1:] / place.turn[0]
                    np.testing.assert_allclose(c, table_vector_parameter(twists[i], theta), rtol=1e-12, atol=1e-15)
                    np.testing.assert_allclose(matrix_from_vector_parameter(-c),
                                               modified_dh_pose(theta, d, 0.0, twists[i])[:3, :3].T, atol=1e-14)


@pytest.mark.spec("S0-58")
def test_motions_are_derivatives_of_places_in_either_axes(three):
    links = links_of(three.tree)
    q, qd, _ = in_mechanisms_order(three.tree, *STATE)
    attitudes, in_base = outward_in_base_axes(links, q, qd)
    in_own = outward_in_own_axes(links, q, qd)
    h = 1e-4
    before, here, after = ([place.transform for place in body_places(links, q + t * qd)] for t in (-h, 0.0, h))
    for j, (R, base, own) in enumerate(zip(attitudes, in_base, in_own, strict=True)):
        for ours, theirs in zip(base, own, strict=True):
            np.testing.assert_allclose(ours, R @ theirs, atol=2e-15)
        velocity = np.zeros((4, 4))
        velocity[:3] = np.column_stack([np.cross(np.eye(3), base.w).T * -1, base.u])
        np.testing.assert_allclose(velocity @ here[j], (after[j] - before[j]) / (2 * h), atol=1e-7)
        rate = np.zeros((4, 4))
        w, wd = velocity[:3, :3], -np.cross(np.eye(3), base.w_rate).T
        rate[:3] = np.column_stack([wd + w @ w, base.u_rate + w @ base.u])
        np.testing.assert_allclose(rate @ here[j], (after[j] - 2 * here[j] + before[j]) / h**2, atol=1e-6)
        np.testing.assert_allclose(base.v, (after[j] - before[j])[:3, 3] / (2 * h), atol=1e-7)
    for s in range(6):  # dT/dq of every body by every coordinate, sliding ones as well
        slope = [(a.transform - b.transform) / (2 * h) for a, b in zip(
            *[body_places(links, q + sign * h * np.eye(6)[s]) for sign in (1, -1)], strict=True)]
        moved = np.zeros((4, 4))
        moved[:3] = np.column_stack([-np.cross(np.eye(3), in_base[s].delta).T, in_base[s].lam])
        np.testing.assert_allclose(moved @ here[s], slope[s], atol=1e-8)


@pytest.mark.spec("S0-59", "S0-61")
@pytest.mark.parametrize("form", [trace_terms, recursive_terms, inward])
def test_the_worked_example(three, form):
    """WE-16, by traces, by the default recursion and by the book's; gravity is to be added (E-61)."""
    order = generate(three.tree).numbering
    q, qd, _ = in_mechanisms_order(three.tree, *STATE)
    B, C, G = form(links_of(three.tree), q, qd)
    B, C, G = B[np.ix_(order, order)], C[order], G[order]
    upper = {(1, 1): 0.03, (2, 2): 1.26910909, (2, 3): 0.00907192, (2, 4): 1.00043340, (2, 5): 0.01085844,
             (2, 6): 0.03896287, (3, 3): 0.02, (4, 4): 2.8, (4, 6): 0.02337208, (5, 5): 0.012, (6, 6): 0.0445}
    expected = np.zeros((6, 6))
    for (s, k), value in upper.items():
        expected[s - 1, k - 1] = expected[k - 1, s - 1] = value
    np.testing.assert_allclose(B, expected, atol=1e-8)
    np.testing.assert_allclose(C, [0, -0.27009114, 0, -0.22707926, 0, 0.00485767], atol=1e-8)
    np.testing.assert_allclose(G, [0, 3.65001135, 0, 18.99293671, 0, -0.12442014], atol=1e-8)
    np.testing.assert_allclose(B @ STATE[2] + C + G,
                               [0.006, 4.3588708, -0.00237123, 20.54967035, 0.00554337, -0.12344128], atol=1e-7)


@pytest.mark.spec("S0-59")
def test_terms_are_derivatives_of_energies_summed_over_points(three, model):
    """Bodies as points: second moments give products of inertia with a positive sign (E-62), gravity and springs their
    energy's derivative (E-60, E-61)."""
    rng = np.random.default_rng(0)
    r, m = rng.normal(size=(7, 3)), rng.uniform(0.1, 1.0, 7)
    center = m @ r / m.sum()
    tensor = sum(w * (p @ p * np.eye(3) - np.outer(p, p)) for w, p in zip(m, r - center, strict=True))
    homogeneous = np.column_stack([r, np.ones(7)])
    second = np.trace(tensor) / 2 * np.eye(3) - tensor + m.sum() * np.outer(center, center)
    np.testing.assert_allclose(pseudo_inertia(LinkMoments(m.sum(), m @ r, second)),
                               homogeneous.T @ (m[:, None] * homogeneous), atol=1e-13)
    q, qd, _ = in_mechanisms_order(three.tree, *STATE)
    _, _, G, E = model.terms(q, qd)
    h = 1e-6
    slope = [(three.potential_energy(q + h * e) - three.potential_energy(q - h * e)) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(G + E, slope, rtol=1e-7, atol=1e-7)
    deflection = q[:3] - q[3:] / [7.0, -20.0, 1.0]
    np.testing.assert_allclose(E[:3], np.array([100.0, 150.0, 80.0]) * deflection, rtol=1e-13)
    np.testing.assert_allclose(E[3:], -E[:3] / [7.0, -20.0, 1.0], rtol=1e-13)


@pytest.mark.spec("S0-60")
def test_zeros_of_the_inertia_matrix(three, model):
    six = elastic_generic_arm(6)
    generated = cy.Mechanism(six).formulations.generated_model()
    pattern = generated.pattern
    assert pattern.sum() == 72 and (pattern == generated.structural_pattern).all()
    order = generated.actuators_first
    B = pattern[np.ix_(order, order)]
    assert (B[:6, :6] == np.eye(6, dtype=bool)).all() and B[6:, 6:].all()
    assert (B[:6, 6:] == np.tril(np.ones((6, 6), dtype=bool), -1)).all() and (B[6:, :6] == B[:6, 6:].T).all()
    numbers = generated.terms(*random_states(12)[:2]).B
    assert (numbers[:, ~pattern] == 0).all() and (np.abs(numbers[:, pattern]).min() > 0)
    # a rotor that turns about an axis through its centre does not feel that its carrier slides
    assert model.structural_pattern.sum() == 18 and model.pattern.sum() == 16
    assert not model.pattern[1, 5] and model.structural_pattern[1, 5]


@pytest.mark.spec("S0-61")
@pytest.mark.parametrize("kinds", ["RPRR", "PRP", "R", "P"])
def test_recursion_is_the_traces_and_the_tree_of_rotors_in_pinocchio(kinds):
    """Rotors of any shape, beside their joints, carried by other links, behind gears of either sign."""
    arm = spatial_arm(kinds)
    soft = arm.including("elastic drives")
    links = links_of(soft.tree)
    reference = pinocchio_arm(arm)
    data = reference.createData()
    by_recursion, by_traces = (soft.formulations.generated_model(form=form) for form in ("recursion", "traces"))
    q, qd, qdd = random_states(soft.nv)
    for state in zip(q, qd, qdd, strict=True):
        for ours, traces, book in zip(*(form(links, *state[:2]) for form in (recursive_terms, trace_terms, inward)),
                                      strict=True):
            for theirs in (traces, book):
                np.testing.assert_allclose(ours, theirs, atol=1e-12 * max(1.0, np.abs(theirs).max()))
        expected = pin.rnea(reference, data, *state) + spring_torques(arm, *state[:2])
        for made in (by_recursion, by_traces):
            assert np.abs(made.inverse_dynamics(*state) - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
    tau = by_recursion.inverse_dynamics(q, qd, qdd)
    assert np.abs(by_recursion.forward_dynamics(q, qd, tau) - qdd).max() < 1e-10


@pytest.mark.spec("S0-62")
def test_a_small_elastic_arm_has_the_lagrangian_of_sympy():
    """Two links and a rotor on the second joint, in letters: T and V written by hand, differentiated by SymPy."""
    from cayley.model.joint_kinds import Revolute
    from cayley.model.parts import Body, Joint
    place = np.eye(4)
    place[0, 3] = 1.2
    arm = cy.Mechanism.of("two", [Body("base"), Body("link1", 2.0, (0.5, 0, 0), np.diag([0, 0, 0.2])),
                                  Body("link2", 1.5, (0.4, 0, 0), np.diag([0, 0, 0.1]))],
                          [Joint("a", "base", "link1", Revolute()), Joint("b", "link1", "link2", Revolute(), place)],
                          gravity=(0, -9.81, 0))
    soft = arm.with_drive("b", stiffness=90.0, gear=-6.0, mass=0.3, tensor=np.diag([0.0, 0.0, 0.02])).including(
        "elastic drives")
    made = soft.formulations.generated_model(parameters="symbols")
    found = made.equations().substituted()
    q, v = (list(found.inputs[name]) for name in ("q", "qd"))
    letters = {name: sympy.Symbol(name) for name in made.parameters}
    m1, m2, m3, c1, c2, I1, I2, I3, l, g, k, N = (letters[name] for name in (
        "m_1", "m_2", "m_3", "r_1x", "r_2x", "I_1zz", "I_2zz", "I_3zz", "l_1_2x", "g", "k_2", "N_2"))
    assert "l_1_3x" in letters  # the rotor's place on link 1
    place3 = letters["l_1_3x"]
    t = sympy.Symbol("time")
    angle = [sympy.Function(f"angle{i}")(t) for i in range(3)]

    def point(*arms):
        x, y = (sum(length * f(a) for length, a in arms) for f in (sympy.cos, sympy.sin))
        return x, y

    first, second = angle[0], angle[0] + angle[1]
    points = {m1: point((c1, first)), m2: point((l, first), (c2, second)), m3: point((place3, first))}
    T = sum(m * (sympy.diff(x, t)**2 + sympy.diff(y, t)**2) / 2 for m, (x, y) in points.items())
    T += (I1 * angle[0].diff(t)**2 + I2 * (angle[0] + angle[1]).diff(t)**2 + I3 * (angle[0] + angle[2]).diff(t)**2) / 2
    V = sum(m * g * y for m, (_, y) in points.items()) + k * (angle[1] - angle[2] / N)**2 / 2
    acceleration = sympy.symbols("acc1:4")
    B, C, G, E = (found.outputs[name] for name in "BCGE")
    for s in range(3):
        book = (T.diff(angle[s].diff(t))).diff(t) - (T - V).diff(angle[s])
        for i in range(3):
            book = book.subs(angle[i].diff(t, 2), acceleration[i])
        for i in range(3):
            book = book.subs(angle[i].diff(t), v[i])
        for i in range(3):
            book = book.subs(angle[i], q[i])
        ours = sum(B[s, i] * acceleration[i] for i in range(3)) + C[s] + G[s] + E[s]
        names = [*q, *v, *acceleration, *letters.values()]
        values = np.random.default_rng(s).uniform(0.5, 2.0, (4, len(names)))
        for numbers in values:
            found_here, book_here = (sympy.lambdify(names, each, "math")(*numbers) for each in (ours, book))
            assert abs(found_here - book_here) < 1e-12 * max(1.0, abs(book_here))


@pytest.fixture(scope="module")
def lettered(three):
    return three.formulations.generated_model(parameters="symbols")


@pytest.mark.spec("S0-62")
@pytest.mark.parametrize(("kind", "function"), [
    ("numbers", "terms"), ("numbers", "inverse_dynamics"), ("numbers", "forward_dynamics"), ("letters", "terms"),
    ("letters", "forward_dynamics"), ("half angles", "inverse_dynamics")])
def test_text_in_other_languages_computes_what_the_recursion_does(three, model, lettered, function, kind):
    """C is compiled, Python is run, and Fortran is compiled or, where there is no compiler, read line by line."""
    made = {"numbers": model,
            "letters": lettered}.get(kind) or three.formulations.generated_model(coordinates="half-angle tangents")
    states = [state[0] / 2 for state in random_states(6)]
    arguments = states[:2] if function == "terms" else states
    given = list(arguments)
    if kind == "half angles":
        given[0] = np.where(np.isin(np.arange(6), [0, 2]), np.tan(given[0] / 2), given[0])
    expected = getattr(model, function)(*arguments)
    expected = list(expected) if function == "terms" else [expected]
    numbers = list(made.parameters.values())
    own = getattr(made, function)(*given, *([numbers] if numbers else []))
    program = made.program(function)
    text, = made.texts("python", [function]).values()
    room = {}
    exec(text, room)
    python = room[f"three_{function}"](*[np.asarray(a).tolist() for a in (*given, *numbers)])
    text, = made.texts("fortran", [function]).values()
    results = {"kernel": own, "c": call_c(compiled_c(c_source(program)), program, [*given, *numbers]),
               "python": python, "fortran": fortran.run(text, *given, *numbers)}
    for language, found in results.items():
        found = [found] if function != "terms" and language in ("kernel", "python") else found
        for ours, value in zip(found, expected, strict=True):
            assert np.abs(np.asarray(ours) - value).max() < 1e-12 * max(1.0, np.abs(value).max()), language
    if kind == "half angles" and function != "terms":
        assert "sin(" not in text and "cos(" not in text


@pytest.mark.parametrize(("center", "trigonometric"), [((0.0, 0.0, 0.02), 0), ((0.01, 0.0, 0.0), 2)])
@pytest.mark.parametrize("parameters", ["numbers", "symbols"])
def test_motors_make_many_turns_in_half_angle_tangents_too(center, trigonometric, parameters):
    """The springs of geared motors count the turns of these; only a rotor that is out of balance has sines."""
    soft = planar_arm_with_rotors(center)
    made = soft.formulations.generated_model(coordinates="half-angle tangents", parameters=parameters)
    assert made.operations["terms"].trigonometric == trigonometric
    q, qd, qdd = random_states(4)
    joints = 3 * np.tanh(q[:, :2])
    q = np.concatenate([joints, 50 * (joints + 0.01 * q[:, 2:])], axis=1)
    t = np.concatenate([np.tan(q[:, :2] / 2), q[:, 2:]], axis=1)
    numbers = [list(made.parameters.values())] if made.parameters else []
    tau = soft.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(made.inverse_dynamics(t, qd, qdd, *numbers), tau, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(made.forward_dynamics(t, qd, tau, *numbers), qdd, atol=1e-9)


def planar_arm_with_rotors(center):
    arm = cy.load("planar2r")
    for joint in arm.joint_names:
        arm = arm.with_drive(joint, stiffness=2000.0, gear=50.0, mass=0.4, center=center,
                             tensor=np.diag([1e-4, 1e-4, 2e-4]))
    return arm.including("elastic drives")


@pytest.mark.spec("S0-62")
def test_rigid_arms_are_the_same_with_no_actuators(tmp_path):
    puma = cy.load("puma560")
    made = puma.formulations.generated_model()
    q, qd, qdd = random_states(6)
    np.testing.assert_allclose(made.inverse_dynamics(q, qd, qdd), puma.inverse_dynamics(q, qd, qdd), rtol=1e-10,
                               atol=1e-12)
    np.testing.assert_allclose(made.terms(q, qd).B, puma.inertia_matrix(q), atol=1e-13)
    assert made.texts("c", "terms") == made.texts("c", ["terms"])
    paths = made.write(tmp_path / "new", "c", ["terms", "forward_dynamics"])
    assert sorted(path.name for path in paths) == ["puma560_forward_dynamics.c", "puma560_forward_dynamics.h",
                                                   "puma560_terms.c", "puma560_terms.h"]
    friction = puma.including("friction", "armature")
    np.testing.assert_allclose(friction.formulations.generated_model().inverse_dynamics(q, qd, qdd),
                               friction.inverse_dynamics(q, qd, qdd), rtol=1e-10, atol=1e-12)


@pytest.mark.spec("S0-62")
def test_some_joints_elastic_and_some_rigid_and_springs_of_any_kind():
    from cayley.model.spring_kinds import BacklashSpring, SpringLaw
    arm = (cy.load("planar3r").with_drive("joint2", spring=BacklashSpring(300.0, cubic=5000.0, backlash=0.02,
                                                                          damping=2.0), inertia=0.01, gear=-4.0)
           .with_drive("joint3", spring=SpringLaw("20*(qm - q) + tanh(qmd - qd)", stored="10*(qm - q)**2"), gear=2.0,
                       inertia=0.02))
    soft = arm.including("elastic drives")
    assert generate(soft.tree).numbering.tolist() == [0, 3, 1, 4, 2]
    q, qd, qdd = random_states(5)
    for parameters in ("numbers", "symbols"):
        made = soft.formulations.generated_model(parameters=parameters)
        extra = [list(made.parameters.values())] if made.parameters else []
        np.testing.assert_allclose(made.inverse_dynamics(q, qd, qdd, *extra), soft.inverse_dynamics(q, qd, qdd),
                                   rtol=1e-11, atol=1e-11)
    assert {"k_2", "d_2", "cubic_2", "backlash_2", "N_2", "N_3", "J_4", "J_5"} <= set(made.parameters)


@pytest.mark.spec("S0-62")
def test_what_is_special_costs_less_and_nothing_is_written_twice():
    """Joints that slide and axes that are parallel make the text shorter; sharing keeps it from swelling."""
    sizes = growth(range(1, 6))
    operations = np.array([size.terms.multiplications + size.terms.additions for size in sizes])
    swollen = np.array([size.written_out for size in sizes], dtype=float)
    assert (np.diff(operations, 2)[1:] < 100).all() and (swollen[2:] / swollen[1:-1] > 10).all()
    assert [size.not_zero for size in sizes] == [n + n * (n - 1) + n * n for n in range(1, 6)]
    parallel = growth([3], twist=0.0)[0].terms
    assert parallel.multiplications < 0.6 * sizes[2].terms.multiplications
    rigid = growth([3], elastic=False)[0]
    assert rigid.terms.multiplications < sizes[2].terms.multiplications and rigid.bodies == 3
    traces = growth([3], form="traces")[0].terms
    assert traces.multiplications > 1.5 * sizes[2].terms.multiplications
    sliding, turning = (spatial_arm(kinds).including("elastic drives").formulations.generated_model()
                        for kinds in ("RPP", "RRR"))
    assert sliding.operations["terms"].multiplications < turning.operations["terms"].multiplications


@pytest.mark.spec("S0-62")
def test_symbolic_diagonalization():
    """The inertia matrix of three joints in letters, and numbers put in afterwards; a point mass in closed form."""
    a = symbolic_diagonalization()
    entries = [a.A[i, j] for i in range(3) for j in range(i, 3)]
    rotations = sympy.lambdify([*entries, a.x], a.vector_parameters(a.z[0]), "numpy", cse=True)
    q = np.array([0.3, -0.8, 0.5])
    made = cy.load("planar3r").formulations.generated_model(parameters="symbols")
    written = made.simplified()
    steps = symbolic_diagonalization(written.M)
    put = written.parameters | dict(zip(written.q, q, strict=True))
    A = cy.load("planar3r").inertia_matrix(q)
    roots = np.roots([float(c.subs(put)) for c in steps.cubic])
    assert np.abs(roots.imag).max() < 1e-9 and len(roots) == 3
    turned = 0
    for root in roots.real:
        for c in rotations(*A[np.triu_indices(3)], root):
            O = matrix_from_vector_parameter(np.asarray(c, dtype=float).ravel())
            D = O.T @ A @ O
            assert np.abs(D - np.diag(D.diagonal())).max() < 1e-9 * np.abs(A).max()
            turned += 1
    assert turned == 12
    assert sympy.expand(a.cubic[3] - sympy.sympify(
        "a11*a13*a23 - a12*a13**2 - a13*a22*a23 + a12*a23**2")) == 0
    for sign in (1, -1):
        mass = symbolic_point_mass(3, 1, 2, 2, sign)  # WE-09
        for number, c in enumerate(mass.c):
            O = matrix_from_vector_parameter(np.array(c.evalf(), dtype=float).ravel())
            found = O.T @ np.array(mass.inertia, dtype=float) @ O
            np.testing.assert_allclose(found, 27 * np.diag([[1, 1, 0], [1, 0, 1]][number % 2]), atol=1e-12)


def test_what_cannot_be_generated_is_refused_by_name():
    with pytest.raises(UnsupportedError, match=r"is floating: equations are generated for revolute and prismatic"):
        cy.Mechanism(floating_arm()).formulations.generated_model()
    planar = cy.load("planar2r")
    weightless = planar.with_drive("joint1", stiffness=100.0).including("elastic drives")
    with pytest.raises(SingularityError, match="motion of joint 'joint1 motor' moves no mass"):
        weightless.formulations.generated_model().forward_dynamics(np.zeros(3), np.zeros(3), np.ones(3))
    with pytest.raises(ConventionError, match="form 'trace' is none of 'recursion', 'traces'"):
        planar.formulations.generated_model(form="trace")
    with pytest.raises(ConventionError, match="no generated function 'torque'; there are terms, inverse_dynamics"):
        planar.formulations.generated_model().texts("c", ["torque"])
    with pytest.raises(UnsupportedError, match="no backend 'pascal'"):
        planar.formulations.generated_model().texts("pascal")
    with pytest.raises(UnsupportedError, match="four_bar"):
        cy.load("four_bar").formulations.generated_model()
