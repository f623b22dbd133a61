"""Equations of motion of mechanisms with constraints: the slider-crank as in the book, the numbers of the kernels."""

import numpy as np
import pytest
import sympy
from matplotlib.mathtext import MathTextParser

import cayley as cy
from cayley.errors import ConventionError, UnsupportedError
from cayley.model.constraint_kinds import Coupling, Rod
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop, Rotor
from dynamics.test_closed_mechanisms import closed_state, four_bar, shift, stewart
from dynamics.test_linearised_closed import engine


def numbers(found, entries, q, qd, tau):
    """Entries of the formulas at a state, by their intermediates in order."""
    space = {**{str(symbol): value for symbol, value in found.parameters.items()},
             **{f"q_{k + 1}": x for k, x in enumerate(q)}, **{f"tau_{k + 1}": x for k, x in enumerate(tau)}}
    lines = dict(found.intermediates)
    space |= {str(symbol): rate for symbol, rate in zip(found.qd, qd, strict=True) if symbol not in lines}
    for symbol, value in found.intermediates:
        space[str(symbol)] = float(eval(sympy.pycode(value), {"math": __import__("math")}, space))
    return np.array([[float(eval(sympy.pycode(entry), {"math": __import__("math")}, space)) for entry in row]
                     for row in entries.tolist()])


def check(arm, q, qd, tau, rtol=1e-9, **choices):
    """Accelerations of every formulation beside those of the kernel."""
    expected = arm.forward_dynamics(q, qd, tau)
    size = np.abs(expected).max()
    for parameters in ("symbols", "numbers"):
        found = arm.equations(parameters=parameters, **{k: v for k, v in choices.items() if k != "independent"})

        def at(entries, found=found):
            return numbers(found, entries, q, qd, tau)

        M, A = at(found.M), at(found.A)
        b, psi, V, G, F = (at(x)[:, 0] for x in (found.b, found.Psi, found.V, found.G, found.F))
        np.testing.assert_allclose(psi, 0.0, atol=1e-9)
        solved = np.linalg.solve(np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]]),
                                 np.concatenate([tau - V - G - F, -b]))
        np.testing.assert_allclose(solved[:arm.nv], expected, rtol=rtol, atol=rtol * size)
        for formulation in ("projection", "minimal"):
            found = arm.equations(parameters=parameters, formulation=formulation, **choices)
            N, rest = numbers(found, found.N, q, qd, tau), numbers(found, found.n, q, qd, tau)[:, 0]
            M_p, V_p, G_p, F_p, tau_p = (numbers(found, x, q, qd, tau)
                                         for x in (found.M_p, found.V_p, found.G_p, found.F_p, found.tau_p))
            pdd = np.linalg.solve(M_p, tau_p - V_p - G_p - F_p)[:, 0]
            np.testing.assert_allclose(N @ pdd + rest, expected, rtol=rtol, atol=rtol * size)
            np.testing.assert_allclose(tau_p[:, 0], N.T @ tau, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(N @ qd[list(found.independent)], qd, rtol=1e-9, atol=1e-9)
    return found


def geared():
    """Two wheels that mesh, and a cart that nothing ties."""
    bodies = [Body("base"), *[Body(name, 1.0, [0.1, 0, 0], np.eye(3)) for name in ("wheel", "pinion", "cart")]]
    return cy.Mechanism.of("geared", bodies, [
        Joint("wheel", "base", "wheel", Revolute()), Joint("pinion", "base", "pinion", Revolute()),
        Joint("cart", "base", "cart", Prismatic())], constraints=[Coupling("mesh", ("wheel", "pinion"), (3.0, 1.0))])


@pytest.mark.spec("S2-68")
def test_the_slider_crank_is_printed_in_three_formulations_as_in_the_book():
    from dynamics.test_constrained_motion import LOADS, QD, QDD, Q
    arm = engine()
    order = [0, 2, 1]
    np.testing.assert_allclose(arm.forward_dynamics(Q[order], QD[order], LOADS[order]), QDD[order], rtol=1e-10)
    check(arm, Q[order], QD[order], LOADS[order])
    th, x, ga, r, L = sympy.symbols("q_1 q_2 q_3 l_1 l_3")
    found = arm.equations(parameters="symbols")
    assert sympy.simplify(found.Psi + sympy.Matrix([r * sympy.cos(th) - L * sympy.cos(ga) - x,
                                                    r * sympy.sin(th) - L * sympy.sin(ga)])) == sympy.zeros(2, 1)
    m1, m2, m3, l1, l2, I1, I3 = sympy.symbols("m_1 m_3 m_2 r_1 r_3 I_1 I_3")
    s = sympy.sin(ga)
    M = sympy.Matrix([[I1 + m1 * l1**2, 0, 0], [0, m2 + m3, -m2 * l2 * s], [0, -m2 * l2 * s, I3 + m2 * l2**2]])
    assert sympy.simplify(found.M - M) == sympy.zeros(3, 3)
    projected = arm.equations(parameters="symbols", formulation="projection").substituted()
    book = sympy.Matrix([1, r * sympy.sin(ga - th) / sympy.cos(ga), r * sympy.cos(th) / (L * sympy.cos(ga))])
    assert sympy.simplify(projected.N - book) == sympy.zeros(3, 1)
    lines = str(arm.equations(parameters="symbols", formulation="minimal")).splitlines()
    assert lines[:3] == ["M_p pdd + V_p + G_p = tau_p, Psi = 0", "p: q_1", "rows: 1 pin: x, 2 pin: y"]
    assert "N_3 = l_1*cos(q_1)/D" in lines and "tau_p = tau_1 + N_2*tau_2 + N_3*tau_3" in lines
    assert "A qdd + b = 0" in str(found) and "lambda" in str(found)


def test_formulas_have_the_numbers_of_the_kernels_for_loops_rods_and_couplings():
    arm = four_bar().with_friction("rocker", viscous=0.3).including("friction")
    check(arm, *closed_state(arm, [0.7, 0.4, 2.0]))
    found = check(arm, *closed_state(arm, [0.7, 0.4, 2.0]), independent=("rocker",))
    assert str(found).splitlines()[1] == "p: q_3" and "F_p" in str(found)
    wheels = [Body("base"), Body("wheel", 1.0, [0.1, 0.05, 0], np.eye(3)), Body("pinion", 1.0, [0.05, 0, 0], np.eye(3)),
              Body("cart", 2.0)]
    gears = cy.Mechanism.of("gears", wheels, [
        Joint("wheel", "base", "wheel", Revolute(), rotor=Rotor(1e-3, gear=10.0)),
        Joint("pinion", "wheel", "pinion", Revolute(), shift(0.4)),
        Joint("cart", "base", "cart", Prismatic((1.0, 0.0, 0.0)), shift(0.0, -0.5))], gravity=(0, -9.81, 0),
        frames=[Frame("crank", "wheel", shift(0.2, 0.1)), Frame("hook", "cart", shift(0.0, 0.1))],
        constraints=[Coupling("mesh", ("wheel", "pinion"), (3.0, 1.0), 0.2), Rod("rod", "crank", "hook", 0.6)])
    check(gears.including("armature"), *closed_state(gears, [0.3, 0.2, 0.4]))
    check(cy.load("slider_crank"), *closed_state(cy.load("slider_crank"), [0.4, 0.0, 0.0]))
    Y = (0.0, 1.0, 0.0)  # a loop on a body that moves, about axes that are not z
    links = [Body(name, 0.5, [0.1, 0.02, 0.03], 0.01 * np.eye(3)) for name in ("boom", "a", "b", "c")]
    crane = cy.Mechanism.of("crane", [Body("base"), *links], [
        Joint("boom", "base", "boom", Revolute(Y)), Joint("crank", "boom", "a", Revolute(Y), shift(0.1, 0, 0.2)),
        Joint("coupler", "a", "b", Revolute(Y), shift(0.12)), Joint("rocker", "boom", "c", Revolute(Y), shift(0.47))],
        frames=[Frame("end", "b", shift(0.41)), Frame("top", "c", shift(0.29))],
        loops=[Loop("ring", "end", "top", Revolute(Y))])
    check(crane, *closed_state(crane, [0.2, -0.7, -0.4, -2.0]))


@pytest.mark.parametrize(("formulation", "parameters"), [
    ("augmented", "symbols"), ("projection", "numbers"), ("minimal", "symbols")])
def test_every_line_is_tex(formulation, parameters):
    text = cy.load("four_bar").equations(parameters=parameters, formulation=formulation).latex()
    for line in text.splitlines()[1:-1]:
        MathTextParser("agg").parse(f"${line.rstrip(chr(92)).replace('&', '')}$")


def test_long_equations_are_lines_of_a_recursion_with_the_constraints_written_out():
    hand = cy.load("panda_hand")
    found = hand.equations()
    assert found.rows == ("mimic panda_finger_joint2: coordinates",) and len(found.intermediates) > 100
    q, qd, tau = closed_state(hand, np.full(9, 0.02))
    M, A = (numbers(found, x, q, qd, tau) for x in (found.M, found.A))
    np.testing.assert_allclose(M, hand.variants.spanning_tree().inertia_matrix(q), atol=1e-12)
    np.testing.assert_allclose(A, hand.loops.jacobian(q), atol=1e-15)
    assert "Psi_1 = -q_8 + q_9" in str(found)
    with pytest.raises(UnsupportedError, match="too long to be read"):
        hand.equations(formulation="minimal")


def test_what_has_no_such_equations_says_why():
    arm = cy.load("four_bar")
    with pytest.raises(ConventionError, match="no formulation 'lagrange'"):
        arm.equations(formulation="lagrange")
    with pytest.raises(ConventionError, match=r"no coordinate 'rokcer'.*rocker"):
        arm.equations(formulation="minimal", independent=("rokcer",))
    with pytest.raises(ConventionError, match="mobility 1"):
        arm.equations(formulation="minimal", independent=("crank", "rocker"))
    with pytest.raises(ConventionError, match="do not determine the others anywhere"):
        geared().equations(formulation="minimal", independent=("wheel", "pinion"))
    with pytest.raises(ConventionError, match="no constraints"):
        cy.load("planar2r").equations(formulation="minimal")
    with pytest.raises(ConventionError, match="M_p is of the formulations"):
        arm.equations().M_p  # noqa: B018
    with pytest.raises(UnsupportedError, match="'plate' of Stewart is floating"):
        stewart().equations()
