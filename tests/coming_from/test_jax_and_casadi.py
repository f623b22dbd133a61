"""Every row of the tables of JAX and CasADi runs in both, and gives the same."""

import casadi as ca
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cayley as cy
from cayley.words import calls
from coming_from.rows import value

A = np.array([[2.0, 0.5], [0.3, 1.0]])


@cy.kernel("(n)->(n)")
def f(q):
    return np.sin(q) * q[::-1]


@cy.kernel("(n)->()")
def kinetic(q):
    return q @ q + q[0] ** 3


@cy.kernel("(n)->(n)")
def absolute(q):
    return cy.where(q > 0, q, -q)


@cy.kernel("(2)->(2)")
def solved(q):
    return np.linalg.solve(A, q)


@cy.kernel("(n)->(n)")
def repeated(q):
    for _ in range(10):
        q = np.cos(q)
    return q


@cy.kernel("(2)->(2)")
def root(q):
    return cy.newton(lambda x: np.cos(x) - x, q).x


@pytest.fixture(scope="module")
def names():
    x = ca.SX.sym("x", 2)
    ours = {"f": f, "kinetic": kinetic, "absolute": absolute, "solved": solved, "repeated": repeated, "root": root}
    given = {"np": np, "cy": cy, "arm": cy.load("planar2r"), "q": np.array([0.3, -0.7]), "A": A,
             "states": np.array([[0.3, -0.7], [1.1, 0.4]]), "u": np.array([1.0, 2.0]), "w": np.array([0.5, -1.0])}
    theirs = {"jax": jax, "jnp": jnp, "ca": ca, "x": x, "f": lambda q: jnp.sin(q) * q[::-1],
              "energy": lambda q: q @ q + q[0] ** 3, "fx": ca.sin(x) * ca.vertcat(x[1], x[0])}
    return given | ours, given | theirs


@pytest.mark.parametrize("row", [*calls("jax"), *calls("casadi")], ids=lambda row: row.theirs)
def test_both_give_the_same(names, row):
    ours, theirs = names
    here = value(row.here, ours)
    with jax.enable_x64(True):
        there = value(row.theirs, theirs)
    if row.result != "no value":
        np.testing.assert_allclose(here, np.asarray(there, dtype=float).reshape(np.shape(here)), rtol=1e-9, atol=1e-10)
