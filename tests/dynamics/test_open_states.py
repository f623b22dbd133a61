"""Dynamics of one state that is open is refused by the name of the constraint."""

import re
from operator import attrgetter

import numpy as np
import pytest

import cayley as cy
from cayley.errors import GeometryError
from kinematics.machines import four_bar

FUNCTIONS = ("forward_dynamics", "inverse_dynamics", "loops.forces", "joint_reactions")
SMALL = ("four_bar", "slider_crank", "five_bar", "gripper", "panda_hand")
LARGE = ("three_rrr", "delta", "stewart", "excavator")
CASES = [(name, function) for names, count in ((SMALL, 4), (LARGE, 2)) for name in names
         for function in FUNCTIONS[:count]]
OPEN = re.compile(r"the constraint '(.*)' of \S+ is open by (\S+) (m|rad) \(.*`close\(q\)`")


def closed_state(machine, random):
    near = machine.integrate(machine.neutral, 0.05 * random.normal(size=machine.nv))
    q = machine.loops.close(near).configuration
    return q, machine.loops.consistent_velocity(q, random.normal(size=machine.nv)), random.normal(size=machine.nv)


def check_refused(call, state, words, names, values):
    """The refusal names a constraint, and one of the values of its rows."""
    with pytest.raises(GeometryError) as refused:
        call(*state)
    found = words.match(str(refused.value))
    of_constraint = [abs(value) for name, value in zip(names, values, strict=True) if name == found[1]]
    assert np.isclose(float(found[2]), of_constraint, rtol=6e-3).any(), str(refused.value)


@pytest.mark.parametrize(("name", "function"), CASES)
def test_one_state_that_is_open_is_refused_and_everything_else_is_as_it_was(name, function):
    random = np.random.default_rng(30)
    machine = cy.load(name)
    q, qd, given = closed_state(machine, random)
    kernel = attrgetter(function)(machine)
    names = [row.constraint for row in machine.loops.rows]
    bare = kernel.unchecked(q, qd, given)
    for _ in range(2):  # the first call compiles, the second is machine code
        np.testing.assert_allclose(kernel(q, qd, given), bare, rtol=1e-9, atol=1e-9 * np.nanmax(np.abs(bare)))
    calls = (kernel, lambda *state: kernel(*state, dtype=np.float64), lambda *state: kernel(*map(list, state)),
             lambda *state: kernel(*state, out=np.empty_like(bare)))
    for size in (0.05, 0.1, 0.5):
        away = machine.integrate(q, size * (0.2 + random.random(machine.nv)) * random.choice([-1, 1], machine.nv))
        for call in calls:
            check_refused(call, (away, qd, given), OPEN, names, machine.loops.residual(away))
        batch = np.stack([away, q])
        np.testing.assert_array_equal(kernel(batch, qd, given), kernel.unchecked(batch, qd, given))
        fast = qd + size * given  # quotients by velocities have steps of any size
        np.testing.assert_allclose(kernel(q, fast, given), kernel.unchecked(q, fast, given), rtol=1e-9, atol=1e-6)
    for step in 1e-6 * np.concatenate([np.eye(machine.nv), -np.eye(machine.nv)]):
        for state in ((machine.integrate(q, step), qd, given), (q, qd + step, given)):
            np.testing.assert_array_equal(np.isnan(kernel(*state)), np.isnan(bare))


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_machines_of_every_size_are_open_alike(function, size):
    """The gap between the ends of coupler and rocker, from their angles."""
    a, b, c, d = np.array([0.12, 0.41, 0.29, 0.37]) * size
    bar = four_bar(a, b, c, d)
    kernel = attrgetter(function)(bar)
    q = bar.loops.close([0.7, 0.3, 1.4]).configuration
    rest = np.zeros(3)
    for away in 10.0**np.arange(-8, 0):
        turned = q + np.array([0.0, 0.0, away])
        ends = [a * np.exp(1j * turned[0]) + b * np.exp(1j * (turned[0] + turned[1])), d + c * np.exp(1j * turned[2])]
        gap = abs(ends[1] - ends[0])
        if gap < 1e-4 * size:
            assert np.isfinite(kernel(turned, rest, rest)).any()
        elif gap > 1e-2 * size:
            with pytest.raises(GeometryError, match="the constraint 'ring' of four-bar is open by") as refused:
                kernel(turned, rest, rest)
            assert 0.5 * gap < float(re.search(r"open by (\S+) m ", str(refused.value))[1]) < 1.01 * gap


def test_what_is_not_a_call_for_one_state_does_not_look():
    bar = cy.load("four_bar")
    q, rest = np.full(3, 0.37), np.zeros(3)
    whole = bar.forward_dynamics
    expected = whole(q[None], rest, rest)[0]
    np.testing.assert_array_equal(whole.unchecked(q, rest, rest), expected)
    np.testing.assert_allclose(cy.kernel("(3)->(3)")(lambda q: whole(q, rest, rest))(q), expected, rtol=1e-12)
    assert np.isfinite(whole.jacobian("q")(q, rest, rest)).all()
    assert str(whole.program()) == str(whole.unchecked.program()) and whole.operations() == whole.unchecked.operations()
    assert np.isnan(whole(np.full(3, np.nan), rest, rest)).all()
