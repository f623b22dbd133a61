"""Quadratic programs against solvers of other authors, and against the conditions of an optimum, computed by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import cayley as cy


def random_programs(rng, count, n, p, m):
    """Programs that have a solution, dense, their data of about one size."""
    M = rng.normal(size=(count, n, n))
    A, G = rng.normal(size=(count, p, n)), rng.normal(size=(count, m, n))
    inside = rng.normal(size=(count, n, 1))
    b, middle = (A @ inside)[..., 0], (G @ inside)[..., 0]
    spread = rng.uniform(0.0, 1.0, (2, count, m))
    return (M @ M.transpose(0, 2, 1), 3.0 * rng.normal(size=(count, n)), A, b, G, middle - spread[0],
            middle + spread[1])


def violations(P, q, A, b, G, lower, upper, found):
    """How far the conditions of Karush, Kuhn and Tucker are from holding: slope, rows, and complementarity."""
    x, y, z = (v[..., None] for v in (found.x, found.equalities, found.inequalities))
    slope = P @ x + q[..., None] + A.swapaxes(-1, -2) @ y + G.swapaxes(-1, -2) @ z
    rows = (G @ x)[..., 0]
    return (np.abs(slope).max(), np.abs((A @ x)[..., 0] - b).max(initial=0.0),
            np.abs(rows - np.clip(rows + z[..., 0], lower, upper)).max(initial=0.0))


def test_the_conditions_of_an_optimum_hold():
    data = random_programs(np.random.default_rng(0), 500, 7, 2, 10)
    found = cy.quadratic_program(*data)
    assert found.solved.all()
    assert max(violations(*data, found)) < 1e-10
    assert found.iterations.max() <= 15


def test_certificates_prove_themselves():
    rows, bounds = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 2.0])
    found = cy.quadratic_program(np.eye(2), [0.0, 0.0], rows, bounds)
    assert found.words == "infeasible"
    assert np.isnan(found.x).all()
    assert found.equalities @ rows == pytest.approx([0.0, 0.0], abs=1e-8)
    assert found.equalities @ bounds == pytest.approx(-1.0)
    found = cy.quadratic_program(np.zeros((2, 2)), [-2.0, -1.0], lower=[-1.0, -1.0])
    assert found.words == "unbounded"
    assert found.x @ [-2.0, -1.0] == pytest.approx(-1.0)
    assert (found.x > -1e-8).all()
    crossed = cy.quadratic_program(np.eye(2), [0.0, 0.0], lower=[0.0, 1.0], upper=[1.0, 0.5])
    assert crossed.words == "infeasible"


def test_the_solution_has_derivatives():
    @cy.kernel("(3),(2)->(3)")
    def nearest(q, upper):
        return cy.quadratic_program(np.diag([1.0, 2.0, 4.0]), q, G=[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], upper=upper).x

    q, upper, step = np.array([-3.0, -1.0, -2.0]), np.array([1.0, 0.2]), 1e-5
    by_q = [(nearest(q + step * e, upper) - nearest(q - step * e, upper)) / (2 * step) for e in np.eye(3)]
    assert nearest.jacobian("q")(q, upper) == pytest.approx(np.transpose(by_q), abs=1e-6)
    by_upper = [(nearest(q, upper + step * e) - nearest(q, upper - step * e)) / (2 * step) for e in np.eye(2)]
    assert nearest.jacobian("upper")(q, upper) == pytest.approx(np.transpose(by_upper), abs=1e-6)
