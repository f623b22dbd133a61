"""Motions of mechanisms with constraints, as systems: beside SciPy on the equations of the spanning tree."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.dynamics.mechanics.constrained import null_space
from cayley.errors import GeometryError
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint, Loop


@pytest.fixture(scope="module")
def bar():
    return cy.load("four_bar")


def driven(bar, crank_rate):
    """The closed configuration at zero, and the velocity of a crank that turns."""
    A = bar.loops.jacobian(bar.neutral)[:2]
    return {"q": bar.neutral, "qd": np.array([crank_rate, *np.linalg.solve(A[:, 1:], -crank_rate * A[:, 0])])}


def test_a_turning_four_bar_stays_closed_and_keeps_its_energy(bar):
    start = driven(bar, 12.0)
    run = bar.system().rollout(method="rk4")(start, step=5e-4, steps=2000, every=100)
    assert np.abs(bar.loops.residual(run.states["q"])).max() < 1e-12
    rates = bar.loops.jacobian(run.states["q"]) @ run.states["qd"][..., None]
    assert np.abs(rates).max() < 1e-11
    assert run.states["q"][-1, 0] > 2 * np.pi  # round, through both dead centres of the rocker
    assert np.abs(run.energy_drift).max() < 1e-6 * bar.kinetic_energy(start["q"], start["qd"])


def test_a_four_bar_goes_where_scipy_takes_the_equations_of_its_spanning_tree(bar):
    start = driven(bar, 12.0)
    run = bar.system().rollout(method="rk4")(start, step=1e-4, steps=3000, every=3000)
    free = bar.variants.spanning_tree()

    def rate(t, y):
        q, qd = np.split(y, 2)
        found = null_space(free.inertia_matrix(q), -free.bias_forces(q, qd), bar.loops.jacobian(q),
                           bar.loops.drift(q, qd))
        return np.concatenate([qd, found.qdd])

    begin = np.concatenate([start["q"], start["qd"]])
    expected = solve_ivp(rate, (0.0, 0.3), begin, method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
    np.testing.assert_allclose(np.concatenate([run.end["q"], run.end["qd"]]), expected, atol=1e-8)


def test_error_control_and_batches_keep_the_loops_closed(bar):
    run = bar.system().simulate(driven(bar, 12.0), until=0.5)
    assert run.finished and np.abs(bar.loops.residual(run.end["q"])).max() < 1e-9
    many = bar.system().rollout(method="rk4")({"q": np.zeros((4, 3)), "qd": np.zeros(3)}, step=1e-3, steps=100,
                                              inputs={"tau": np.linspace(0, 3, 4)[:, None] * np.array([1.0, 0, 0])})
    assert np.abs(bar.loops.residual(many.end["q"])).max() < 1e-12
    assert len(set(many.end["q"][:, 0].round(9))) == 4


def test_a_mimic_joint_stays_where_it_belongs():
    hand = cy.load("panda_hand")
    q = hand.random_configuration(seed=2)
    run = hand.system().rollout(method="rk4")({"q": q, "qd": np.zeros(9)}, step=1e-3, steps=50,
                                              inputs={"tau": np.array([0, 0, 0, 0, 0, 0, 0, 0.5, 0.0])})
    assert abs(run.end["q"][7] - run.end["q"][8]) < 1e-15 and run.end["q"][7] > q[7]


def test_a_four_bar_with_a_motor_is_a_connected_system(bar):
    motor = cy.System("motor", state={"current": "A"}, inputs={"voltage": "V", "qd": 3}, outputs={"tau": 3},
                      derivative=lambda t, x, u, p: (u.voltage - 2.0 * x.current - 0.1 * u.qd[0]) / 0.05,
                      output=lambda t, x, u, p: {"tau": np.array([0.1 * x.current, 0.0, 0.0])})
    both = cy.connect(bar.system(), motor)
    run = both.rollout(method="rk4")({"q": np.zeros(3), "qd": np.zeros(3), "current": 0.0}, step=1e-3, steps=100,
                                     inputs={"voltage": 60.0})
    assert np.abs(bar.loops.residual(run.end["q"])).max() < 1e-12 and run.end["current"] > 1.0


def test_a_system_starts_on_its_constraints_under_any_name(bar):
    system = bar.system().renamed({"q": "angles", "qd": "rates"}, "linkage")
    start = driven(bar, 3.0)
    run = system.rollout()({"angles": start["q"], "rates": start["qd"]}, step=1e-3, steps=50)
    assert np.abs(bar.loops.residual(run.end["angles"])).max() < 1e-12
    with pytest.raises(GeometryError, match="of linkage that it starts from is not on its constraints: 'pin' is 0"):
        system.rollout()({"angles": start["q"] + 0.1, "rates": start["qd"]}, step=1e-3, steps=1)
    with pytest.raises(GeometryError, match="'the rate of pin' is"):
        bar.system().simulate({"q": start["q"], "qd": [1.0, 0.0, 0.0]}, until=0.1)


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1e4])
def test_a_slider_crank_of_any_size_moves_as_that_of_a_metre_does(size):
    def ended(size):
        inertia = 1e3 * size**5 * 0.01 * np.eye(3)
        bodies = [Body("base"), *[Body(name, 1e3 * size**3, [0.1 * size, 0.02 * size, 0.0], inertia) for name in "abc"]]
        places = np.broadcast_to(np.eye(4), (3, 4, 4)).copy()
        places[:, :2, 3] = np.array([[0.1, 0.0], [0.0, 0.02], [0.35, 0.0]]) * size
        joints = [Joint("crank", "base", "a", Revolute()), Joint("rod", "a", "b", Revolute(), places[0]),
                  Joint("slider", "base", "c", Prismatic((1.0, 0.0, 0.0)), places[1])]
        engine = cy.Mechanism.of("engine", bodies, joints, frames=[Frame("end", "b", places[2])],
                                 gravity=(1.0, -9.0, 0.0), loops=[Loop("pin", "end", "c", Revolute())])
        q = engine.loops.close([0.7, -0.9, 0.4 * size], fixed=["crank"]).configuration
        speed = np.sqrt(10 / size)
        qd = engine.loops.consistent_velocity(q, [speed, 0.0, 0.0], keep=["crank"])
        run = engine.rollout()(q, qd, step=5e-3 / speed, steps=1000, every=1000)
        assert run.status == "finished"
        return run.q[-1] / [1.0, 1.0, size]

    np.testing.assert_allclose(ended(size), ended(1.0), rtol=1e-6)
