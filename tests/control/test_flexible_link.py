"""A single link behind an elastic joint: the worked example of the specification, and its equations in
vector-parameters over the top."""

import numpy as np
import pytest
import sympy

import cayley as cy
from cayley.control.linearisation.feedback_linearisation import chain_gains
from cayley.control.linearisation.flexible_link import (
    FlexibleLink,
    angles_of_vector_parameters,
    vector_parameters_of_angles,
)
from cayley.errors import ModelError, SignatureError

LINK = FlexibleLink(link=1.0, motor=1.0, weight=10.0, stiffness=100.0)
TIGHT = {"rtol": 1e-12, "atol": 1e-13}


@pytest.mark.spec("S0-55")
def test_free_response():
    """WE-14 (ii), in angles and in vector-parameters, with its energy."""
    run = LINK.system().simulate({"x": [0.5, 0.0, 0.3, 0.0]}, until=1.0, inputs={"u": 0.0}, **TIGHT)
    known = [-0.243652924907, -2.274458043196, -0.215876929905, 0.779296161312]
    assert np.abs(run.end["x"] - known).max() < 1e-9
    assert run.energy == pytest.approx(3.224174381096, abs=1e-10)
    other = LINK.vector_parameter_system().simulate(vector_parameters_of_angles([0.5, 0.3], [0.0, 0.0]), until=1.0,
                                                    inputs={"u": 0.0}, **TIGHT)
    assert np.abs(angles_of_vector_parameters(other.end["c"], other.end["half_turns"]) - known[::2]).max() < 1e-9
    assert np.abs(2 * other.end["cd"] / (1 + other.end["c"] ** 2) - known[1::2]).max() < 1e-9


@pytest.mark.spec("S0-55")
@pytest.mark.parametrize("start", [[3.0, 2.0, 3.1, 2.0], [np.pi, 0.0, np.pi, 0.0], [-np.pi, -1.0, -3.0, 0.0]])
def test_vector_parameters_pass_half_turns(start):
    """c is infinite at a half-turn; the chart about it takes over before, in simulations and in compiled batches."""
    plain = LINK.system().simulate({"x": start}, until=2.0, inputs={"u": 5.0}, **TIGHT)
    system = LINK.vector_parameter_system()
    at = vector_parameters_of_angles(start[::2], start[1::2])
    curved = system.simulate(at, until=2.0, inputs={"u": 5.0}, **TIGHT)
    angles = angles_of_vector_parameters(curved["c"], curved["half_turns"])
    assert np.abs(angles[-1] - plain.end["x"][::2]).max() < 1e-8
    assert np.abs(curved["c"]).max() <= 2.0 + 1e-9
    rolled = system.rollout()({name: np.stack([value, value]) for name, value in at.items()}, step=1e-3, steps=2000,
                              inputs={"u": 5.0}, every=2000).end
    assert np.abs(angles_of_vector_parameters(rolled["c"], rolled["half_turns"]) - plain.end["x"][::2]).max() < 1e-7


@pytest.mark.spec("S0-55")
def test_the_linearised_link_takes_a_step():
    """WE-14 (iii): poles (s + 5)^4, a unit step from rest, equal to the chain of integrators."""
    gains = chain_gains([-5.0] * 4, 4, 1)[:, 0]
    law = cy.System("law", inputs={"x": 4, "target": ""}, outputs={"u": "N m"},
                    output=lambda t, x, u, p: LINK.law(u.x, gains[0] * u.target - gains @ LINK.chain(u.x)))
    loop = cy.connect(LINK.system(), law)
    times = np.array([0.0, 0.25, 0.5, 1.0, 2.0])
    run = loop.simulate({"x": np.zeros(4)}, times=times, inputs={"target": 1.0}, **TIGHT)
    s = 5 * times
    assert np.abs(run["x"][:, 0] - (1 - np.exp(-s) * (1 + s + s**2 / 2 + s**3 / 6))).max() < 1e-10
    assert np.abs(run["x"][1:, 0] - [0.038269054290, 0.242423866867, 0.734974084703, 0.989663949324]).max() < 1e-8
    assert run["u"][0] == pytest.approx(6.25, abs=1e-12)
    end = loop.simulate({"x": np.zeros(4)}, until=12.0, inputs={"target": 1.0}, **TIGHT)
    assert end.end["x"][2] == pytest.approx(1.084147098481, abs=1e-8)
    assert end["u"][-1] == pytest.approx(8.414709848079, abs=1e-8)


@pytest.mark.spec("S0-55")
@pytest.mark.parametrize("link", [LINK, FlexibleLink(0.3, 1e-4, 2.0, 1e7), FlexibleLink(2.0, 5.0, 0.0, 10.0)])
def test_the_change_of_state_and_the_law_by_sympy(link):
    """Each entry of the chain is the rate of the one before; along the closed loop the last has the rate v."""
    x = sympy.Matrix(sympy.symbols("x1:5"))
    v = sympy.Symbol("v")
    W, K = sympy.nsimplify(link.weight), sympy.nsimplify(link.stiffness)
    inertia, motor = sympy.nsimplify(link.link), sympy.nsimplify(link.motor)
    u = sympy.Symbol("u")
    f = sympy.Matrix([x[1], -(W * sympy.sin(x[0]) + K * (x[0] - x[2])) / inertia, x[3],
                      (K * (x[0] - x[2]) + u) / motor])
    y = [x[0]]
    for _ in range(4):
        y.append((sympy.Matrix([y[-1]]).jacobian(x) * f)[0])
    at = np.random.default_rng(0).normal(size=(5, 4))
    for state in at:
        there = dict(zip(x, state, strict=True))
        known = [float(entry.subs(there)) for entry in y[:4]]
        assert np.allclose(link.chain(state), known, rtol=1e-12, atol=1e-12 * np.abs(known).max())
        needed = float(sympy.solve(y[4].subs(there) - v, u)[0].subs(v, 3.0))
        assert link.law(state, 3.0) == pytest.approx(needed, rel=1e-11, abs=1e-12 * link.stiffness)
    assert np.allclose(link.state(link.chain(at)), at, rtol=1e-9, atol=1e-9)
    assert link.linearisability(at).is_linearisable


def test_proof_in_symbols():
    found = LINK.linearisability(sympy.symbols("x1:5"))
    assert found.is_linearisable and found.chains == (4,)


def test_what_is_no_flexible_link_is_refused():
    for wrong in ({"stiffness": 0.0}, {"link": -1.0}, {"motor": 0.0}, {"weight": np.nan}, {"link": "1"}):
        with pytest.raises(ModelError, match=next(iter(wrong))):
            FlexibleLink(**({"link": 1.0, "motor": 1.0, "weight": 1.0, "stiffness": 1.0} | wrong))
    with pytest.raises(SignatureError, match="two numbers"):
        vector_parameters_of_angles([1.0], [0.0])


def test_poles_of_chains():
    gains = chain_gains([[-1.0, -2.0], [-1 + 2j, -1 - 2j]], 2, 2)
    assert np.allclose(gains, [[2.0, 5.0], [3.0, 2.0]])
    for wrong, words in (([-1.0], "2 numbers"), ([-1.0, 1.0], "negative real parts"), ([-1 + 1j, -2.0], "conjugate")):
        with pytest.raises(SignatureError, match=words):
            chain_gains(wrong, 2, 1)
