"""Algorithm 7.1 for trees beside 40-digit differences, Pinocchio and the structural facts."""

from itertools import product

import mpmath
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.compiler.algebras.packages import MPMATH
from cayley.compiler.kernel import kernel
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.linearised.closed_form_for_trees import sensitivities
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from dynamics.chains import random_chain, random_state
from dynamics.robots import ACCEPTED, pinocchio_model, places, robot, state_here, state_there

pytestmark = pytest.mark.filterwarnings("ignore::cayley.model.report.ModelWarning")
PATTERNS = ["".join(p) for n in range(1, 5)
            for p in product("RP", repeat=n)] + ["RRRRRR", "RRPRRR", "PRRPRR", "RPRPPR", "PPPRRR"]


def complex_step(links, *state):
    """D, V, P by a step of 1e-30 i: no difference is taken, so no digit is lost."""
    matrices = []
    for place in (2, 1, 0):
        columns = []
        for k in range(links.nv):
            moved = [np.asarray(x, dtype=complex) for x in state]
            moved[place][k] += 1e-30j
            columns.append(inverse_dynamics(links, *moved).imag / 1e-30)
        matrices.append(np.stack(columns, axis=1))
    return matrices


@pytest.mark.parametrize("pattern", PATTERNS)
def test_against_the_complex_step(pattern):
    tree = random_chain(pattern, 2)
    state = random_state(tree, 2)
    exact = complex_step(links_of(tree), *state)
    for links in (links_of(tree), minimal_links(tree)):
        for ours, true in zip(sensitivities(links, *state), exact, strict=True):
            np.testing.assert_allclose(ours, true, rtol=0, atol=1e-12 * max(1.0, np.abs(true).max()))


def test_against_forty_digits():
    """The text on mpmath numbers, differentiated there."""
    tree = random_chain("RPR", 3)
    links, state = links_of(tree), random_state(tree, 3)
    with mpmath.workdps(40):
        exact = [np.array([[mpmath.mpf(float(x)) for x in s]])[0] for s in state]
        h = mpmath.mpf(10) ** -13
        ours = sensitivities(links, *state)
        for place, matrix in zip((2, 1, 0), ours, strict=True):
            for k in range(3):
                values = []
                for sign in (1, -1):
                    moved = [x.copy() for x in exact]
                    moved[place][k] += sign * h
                    values.append(_forty_digits(links, moved))
                column = (values[0] - values[1]) / (2 * h)
                np.testing.assert_allclose(matrix[:, k], column.astype(float), rtol=0,
                                           atol=1e-12 * max(1.0,
                                                            np.abs(matrix).max()))


def _forty_digits(links, state):
    n = links.nv
    text = kernel(f"({n}),({n}),({n})->({n})", name="forces")(lambda q, v, a: inverse_dynamics(links, q, v, a))
    return np.asarray(text.evaluate(MPMATH, *state))


@pytest.mark.parametrize("name", ACCEPTED)
def test_robots_agree_with_pinocchio(name):
    tree, model = robot(name), pinocchio_model(name)
    own = places(tree, model)
    q, v, a = (x[0] for x in state_here(tree, 4))
    data = model.createData()
    P, V, D = pin.computeRNEADerivatives(model, data, *state_there(tree, model, q, v, a))
    D = np.triu(D) + np.triu(D, 1).T
    for ours, theirs in zip(sensitivities(minimal_links(tree), q, v, a), (D, V, P), strict=True):
        theirs = theirs[np.ix_(own, own)]
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * max(1.0, np.abs(theirs).max(initial=0.0)))


def test_structural_facts():
    tree = random_chain("RRPRR", 5)
    links, (q, v, a) = minimal_links(tree), random_state(tree, 5)
    V = sensitivities(links, q, v, a).V
    rest, zero = inverse_dynamics(links, q, 0 * v, 0 * a), 0 * v
    np.testing.assert_allclose(V @ v, 2 * (inverse_dynamics(links, q, v, zero) - rest), atol=1e-12)
    rate = sum(complex_matrix_rate(links, q, k) * v[k] for k in range(5))
    np.testing.assert_allclose(V + V.T, 2 * rate, atol=1e-11)
    assert abs(V[-1, -1]) < 1e-13
    _, V_rest, P_rest = sensitivities(links, q, zero, zero)
    np.testing.assert_allclose(V_rest, 0, atol=1e-13)
    np.testing.assert_allclose(P_rest, P_rest.T, atol=1e-12)


def complex_matrix_rate(links, q, k):
    moved = q.astype(complex)
    moved[k] += 1e-30j
    return inertia_matrix(links, moved).imag / 1e-30


def test_compiled_counts_are_below_the_published():
    for tree, multiplications, additions in ((random_chain("RRRRRR", 5), 2056, 1762),
                                             (cy.load("puma560").tree, 1516, 1472)):
        links = minimal_links(tree)
        compiled = kernel("(6),(6),(6)->(6,6),(6,6),(6,6)")(
            lambda q, v, a, links=links: sensitivities(links, q, v, a)).operations()
        assert compiled.multiplications < multiplications
        assert compiled.additions < additions
