"""Quadratic and cone programs against solvers of other authors, and against the conditions of an optimum by NumPy."""

from __future__ import annotations

import clarabel
import daqp
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

import cayley as cy
from cayley.compiler.solving.optimum import Status
from cayley.errors import SignatureError
from compiler.parity import in_c
from programs import needs


def programs(rng, count, n, p, m, rank=None):
    """Dense programs that have a solution, their data of about one size."""
    M = rng.normal(size=(count, n, rank or n))
    A, G = rng.normal(size=(count, p, n)), rng.normal(size=(count, m, n))
    inside = rng.normal(size=(count, n, 1))
    middle = (G @ inside)[..., 0]
    below, above = rng.uniform(0.0, 1.0, (2, count, m))
    return {"P": M @ M.swapaxes(1, 2), "q": 3.0 * rng.normal(size=(count, n)), "A": A, "b": (A @ inside)[..., 0],
            "G": G, "lower": middle - below, "upper": middle + above}


def semidefinite(rng, count, n, p, m):
    return programs(rng, count, n, p, m, rank=1 + n // 3)


def linear(rng, count, n, p, m):
    d = programs(rng, count, n, p, m)
    d["P"][:] = 0.0
    k = min(m, n)
    d["G"][:, :k, :k] = np.eye(k)
    d["lower"], d["upper"] = np.full((count, m), -2.0), np.full((count, m), 2.0)
    d["b"] = (d["A"] @ rng.uniform(-0.2 / n, 0.2 / n, (count, n, 1)))[..., 0]
    return d


def redundant(rng, count, n, p, m):
    d = programs(rng, count, n, p, m)
    for rows, sides in (("A", ["b"]), ("G", ["lower", "upper"])):
        for name in (rows, *sides):
            d[name][:, -1] = 2.0 * d[name][:, 0]
    return d


def badly_scaled(rng, count, n, p, m):
    d = programs(rng, count, n, p, m)
    x, y, z = (10.0 ** rng.uniform(-3.0, 3.0, (count, k)) for k in (n, p, m))
    return {"P": d["P"] * x[:, None] * x[..., None], "q": d["q"] * x, "A": d["A"] * y[..., None] * x[:, None],
            "b": d["b"] * y, "G": d["G"] * z[..., None] * x[:, None], "lower": d["lower"] * z, "upper": d["upper"] * z}


def degenerate(rng, count, n, p, m):
    """All upper bounds meet at the solution, many without a force."""
    d = programs(rng, count, n, p, m)
    d["G"], d["A"] = np.round(d["G"]), np.round(d["A"])
    x = np.round(rng.normal(size=(count, n, 1)))
    d["b"], d["upper"] = (d["A"] @ x)[..., 0], (d["G"] @ x)[..., 0]
    d["lower"] = d["upper"] - 1.0
    d["q"] = -(d["P"] @ x + d["G"].swapaxes(1, 2) @ np.round(rng.uniform(size=(count, m, 1))))[..., 0]
    return d


def with_infinite_and_equal_bounds(rng, count, n, p, m):
    d = programs(rng, count, n, p, m)
    kind = rng.uniform(size=(count, m))
    d["lower"] = np.where(kind < 0.3, -np.inf, d["lower"])
    d["upper"] = np.where((kind > 0.2) & (kind < 0.5), np.inf, d["upper"])
    if p + 1 < n:  # an equation among the bounds, by its value
        inside = np.linalg.pinv(d["A"]) @ d["b"][..., None]
        d["lower"][:, 0] = d["upper"][:, 0] = (d["G"] @ inside)[:, 0, 0]
        d["lower"][:, 1:], d["upper"][:, 1:] = -9.0 * n, np.where(kind < 0.3, 9.0 * n, np.inf)[:, 1:]
    return d


def contradictory_equations(rng, count, n, p, m):
    d = redundant(rng, count, n, p, m)
    d["b"][:, -1] += rng.uniform(0.01, 1.0, count)
    return d


def contradictory_bounds(rng, count, n, p, m):
    d = redundant(rng, count, n, p, m)
    d["lower"][:, -1] = d["upper"][:, -1] + rng.uniform(0.01, 1.0, count)
    d["upper"][:, -1] = d["lower"][:, -1] + 1.0
    return d


def unbounded(rng, count, n, p, m):
    d = programs(rng, count, n, p, m)
    ray = rng.normal(size=(count, n, 1))
    ray /= np.sqrt((ray * ray).sum(axis=1, keepdims=True))
    across = np.eye(n) - ray @ ray.swapaxes(1, 2)
    d["P"], d["A"] = across @ d["P"] @ across, d["A"] @ across
    d["b"][:] = 0.0
    d["G"] *= -np.sign(d["G"] @ ray)
    d["lower"][:], d["upper"][:] = -np.inf, rng.uniform(0.1, 1.0, (count, m))
    d["q"] = (across @ d["q"][..., None] - ray)[..., 0]
    return d


SOLVABLE = [programs, semidefinite, linear, redundant, badly_scaled, degenerate, with_infinite_and_equal_bounds]
SIZES = [(2, 2, 3), (6, 2, 9), (12, 3, 15), (26, 3, 28)]


def violations(d, found):
    """The conditions of Karush, Kuhn and Tucker, each beside the size of its terms: slope, equations, bounds with the
    signs of multipliers and complementarity."""
    x, y, z = (v[..., None] for v in (found.x, found.equalities, found.inequalities))
    parts = [d["P"] @ x, d["q"][..., None], d["A"].swapaxes(1, 2) @ y, d["G"].swapaxes(1, 2) @ z]
    largest = np.max([np.abs(part).max(axis=(1, 2)) for part in parts], axis=0)
    slope = np.abs(sum(parts)).max(axis=(1, 2)) / (1.0 + largest)
    rows, meets = (d["G"] @ x)[..., 0], (d["A"] @ x)[..., 0] - d["b"]
    apart = np.abs(rows - np.clip(rows + z[..., 0], d["lower"], d["upper"]))
    size = 1.0 + np.abs(rows).max(axis=1)
    return np.stack([slope, np.abs(meets).max(axis=1) / (1.0 + np.abs(d["b"]).max(axis=1)), apart.max(axis=1) / size])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_programs_that_have_a_solution_are_solved(size):
    rng = np.random.default_rng(size[0])
    for kind in SOLVABLE:
        d = kind(rng, 300 if size[0] < 20 else 60, *size)
        found = cy.quadratic_program(**d)
        assert found.solved.all(), (kind.__name__, np.bincount(found.status, minlength=6))
        assert violations(d, found).max() < 1e-8, kind.__name__
        assert found.iterations.max() < 40, kind.__name__


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_programs_without_a_solution_are_recognised_and_their_certificates_prove_it(size):
    rng = np.random.default_rng(size[0])
    for kind in (contradictory_equations, contradictory_bounds):
        d = kind(rng, 100, *size)
        found = cy.quadratic_program(**d)
        assert (found.status == Status.INFEASIBLE).all(), kind.__name__
        assert np.isnan(found.x).all()
        y, z = found.equalities, found.inequalities
        pull = (d["A"].swapaxes(1, 2) @ y[..., None] + d["G"].swapaxes(1, 2) @ z[..., None])[..., 0]
        support = (d["b"] * y).sum(1) + (d["upper"] * np.maximum(z, 0)).sum(1) + (d["lower"] * np.minimum(z, 0)).sum(1)
        assert np.abs(pull).max() < 1e-6
        assert support == pytest.approx(-np.ones(100), abs=1e-6)
    d = unbounded(rng, 100, *size)
    found = cy.quadratic_program(**d)
    assert (found.status == Status.UNBOUNDED).all()
    assert (d["q"] * found.x).sum(1) == pytest.approx(-np.ones(100))
    ray = found.x[..., None]
    assert max(np.abs(d["P"] @ ray).max(), np.abs(d["A"] @ ray).max(), (d["G"] @ ray).max()) < 1e-6


@pytest.mark.parametrize("size", SIZES[:3], ids=str)
def test_small_programs_end_by_active_sets(size):
    """Strictly convex ones in all cases, those without equations also where no x meets the bounds."""
    rng = np.random.default_rng(20 + size[0])
    for kind in (programs, badly_scaled):
        found = cy.quadratic_program(**kind(rng, 300, *size))
        assert found.solved.all() and not found.iterations.any(), kind.__name__
    d = contradictory_bounds(rng, 300, *size)
    del d["A"], d["b"]
    found = cy.quadratic_program(**d)
    assert (found.status == Status.INFEASIBLE).all() and (found.iterations == 0).mean() > 0.9
    z = found.inequalities
    assert np.abs(d["G"].swapaxes(1, 2) @ z[..., None]).max() < 1e-6
    support = (d["upper"] * np.maximum(z, 0)).sum(1) + (d["lower"] * np.minimum(z, 0)).sum(1)
    assert support == pytest.approx(-np.ones(300), abs=1e-6)


def test_multipliers_without_bound_are_no_solution():
    """Equations and bounds that all but contradict each other drive multipliers to 1e15, beside which any residual is
    small."""
    rng = np.random.default_rng(21)
    for kind in (contradictory_bounds, contradictory_equations):
        found = cy.quadratic_program(**kind(rng, 1000, 3, 2, 6))
        assert (found.status == Status.INFEASIBLE).all(), kind.__name__


def test_the_optimum_is_that_of_daqp():
    d = programs(np.random.default_rng(3), 280, 12, 3, 15)
    found = cy.quadratic_program(**d)
    for k in range(280):
        P, q, A, b, G, lower, upper = (v[k] for v in d.values())
        kinds = np.array([0] * 15 + [5] * 3, dtype=np.int32)
        x, _, flag, _ = daqp.solve(P, q, np.vstack([G, A]), np.r_[upper, b], np.r_[lower, b], kinds, primal_tol=1e-12,
                                   dual_tol=1e-12)
        assert flag == 1
        assert found.x[k] == pytest.approx(x, abs=1e-8)


def test_the_optimum_of_a_linear_program_is_that_of_highs():
    d = linear(np.random.default_rng(4), 280, 12, 3, 15)
    found = cy.quadratic_program(**d)
    for k in range(40):
        _, q, A, b, G, lower, upper = (v[k] for v in d.values())
        other = linprog(q, np.vstack([G, -G]), np.r_[upper, -lower], A, b, bounds=(None, None))
        assert other.status == 0
        assert q @ found.x[k] == pytest.approx(other.fun, abs=1e-8)


def test_cone_programs_are_solved_as_by_clarabel():
    """Forces of three contacts within cones of friction, nearest to what is wanted, with a known sum."""
    rng = np.random.default_rng(5)
    F = np.zeros((3, 3, 9))
    for k in range(3):
        F[k, 0, 3 * k + 2], F[k, 1, 3 * k], F[k, 2, 3 * k + 1] = 0.6, 1.0, 1.0
    A = np.tile(np.eye(3), 3)
    M = rng.normal(size=(40, 9, 9))
    P, q = M @ M.swapaxes(1, 2), 5.0 * rng.normal(size=(40, 9))
    b = np.c_[rng.uniform(-1.0, 1.0, (40, 2)), rng.uniform(3.0, 6.0, 40)]
    g = np.zeros(3)
    found = cy.cone_program(P, q, A, b, cones=[(f, g) for f in F])
    assert found.solved.all()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    kinds = [clarabel.ZeroConeT(3), *[clarabel.SecondOrderConeT(3)] * 3]
    for k in range(40):
        solver = clarabel.DefaultSolver(csc_matrix(np.triu(P[k])), q[k], csc_matrix(np.vstack([A, *-F])),
                                        np.r_[b[k], np.zeros(9)], kinds, settings)
        other = np.array(solver.solve().x)
        cost, best = (x @ P[k] @ x / 2 + q[k] @ x for x in (found.x[k], other))
        assert cost == pytest.approx(best, rel=1e-7)
        assert found.x[k] == pytest.approx(other, abs=1e-4)
    slope = (P @ found.x[..., None] + q[..., None] + A.T @ found.equalities[..., None])[..., 0]
    for f, w in zip(F, found.cones, strict=True):
        slope = slope - w @ f
        assert (w[:, 0] > np.hypot(w[:, 1], w[:, 2]) - 1e-7).all()
    assert np.abs(slope).max() < 1e-6


def test_a_former_result_saves_the_steps():
    rng = np.random.default_rng(6)
    d = programs(rng, 280, 12, 3, 15)
    found = cy.quadratic_program(**d)
    again = cy.quadratic_program(**d, start=found)
    assert again.solved.all() and not again.iterations.any()
    assert again.x == pytest.approx(found.x, abs=1e-10)
    d["q"] = d["q"] + 0.01 * rng.normal(size=d["q"].shape)
    near = cy.quadratic_program(**d, start=(found.x, found.equalities, found.inequalities))
    assert near.solved.all() and (near.iterations == 0).mean() > 0.9
    assert near.x == pytest.approx(cy.quadratic_program(**d).x, abs=1e-8)
    with pytest.raises(SignatureError, match=r"starts from a former result.*\(12,\), \(3,\) and \(15,\)"):
        cy.quadratic_program(**d, start=(found.x, found.x, found.x))


def test_derivatives_by_all_data():
    d = {name: v[2] for name, v in programs(np.random.default_rng(7), 3, 3, 1, 3).items()}
    ends = np.cumsum([0, *[v.size for v in d.values()]])
    everything = np.concatenate([v.ravel() for v in d.values()])

    @cy.kernel(f"({len(everything)})->(3)")
    def solution(data):
        parts = [data[a:b].reshape(v.shape) for a, b, v in zip(ends, ends[1:], d.values(), strict=False)]
        return cy.quadratic_program(*parts).x

    found = cy.quadratic_program(**d)
    assert 1 <= (np.abs(found.inequalities) > 1e-3).sum() <= 2  # some bounds are active
    step = 1e-5
    changes = step * np.eye(len(everything))
    differences = (solution(everything + changes) - solution(everything - changes)) / (2 * step)
    assert solution.jacobian("data")(everything) == pytest.approx(differences.T, rel=1e-6, abs=1e-6)


def test_derivatives_of_a_cone_program():
    @cy.kernel("(3)->(3)")
    def within_friction(wanted):
        F = [[0.0, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
        return cy.cone_program(np.eye(3), -wanted, cones=[(F, np.zeros(3))]).x

    def projected(wanted):
        """In closed form."""
        t, length = wanted[:2], np.hypot(*wanted[:2])
        normal = (wanted[2] + 0.5 * length) / 1.25
        return np.r_[0.5 * normal * t / length, normal]

    wanted, step = np.array([3.0, 4.0, 5.0]), 1e-6
    assert within_friction(wanted) == pytest.approx(projected(wanted), abs=1e-6)
    exact = [(projected(wanted + step * e) - projected(wanted - step * e)) / (2 * step) for e in np.eye(3)]
    assert within_friction.jacobian("wanted")(wanted) == pytest.approx(np.transpose(exact), abs=1e-6)


def horizon(stages):
    """Predictive control of two coupled carts: inputs (2) and states (4) of each stage, all of them bounded."""
    n = 6 * stages
    ahead = np.eye(4) + 0.1 * np.array([[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0.3, 0, 0], [0.3, -1, 0, 0]])
    pushed = np.array([[0.005, 0.0], [0.0, 0.005], [0.1, 0.02], [0.01, 0.1]])
    A = np.zeros((4 * stages, n))
    for k in range(stages):
        rows = A[4 * k:4 * k + 4]
        rows[:, 6 * k:6 * k + 2], rows[:, 6 * k + 2:6 * k + 6] = -pushed, np.eye(4)
        if k:
            rows[:, 6 * k - 4:6 * k] = -ahead
    P, most = np.tile([0.1, 0.1, 1.0, 1.0, 0.1, 0.1], stages), np.tile([1.0, 1.0, 2.0, 2.0, 0.4, 0.4], stages)

    @cy.kernel(f"(4)->({n}),(),()", name="horizon", outputs=("x", "iterations", "status"))
    def controlled(state):
        b = np.concatenate([ahead @ state, np.zeros(4 * stages - 4)])
        found = cy.quadratic_program(np.diag(P), np.zeros(n), A, b, lower=-most, upper=most)
        return found.x, found.iterations, found.status

    return controlled, P, A, ahead, most


def test_operations_grow_with_the_number_of_stages_and_no_faster():
    """Twice as many stages take twice the work, as the zeros between stages that are not neighbours are used."""
    counts = [horizon(stages)[0].operations().multiplications for stages in (10, 20)]
    assert counts[1] < 2.1 * counts[0]


def test_a_horizon_of_twenty_stages_is_solved_as_by_daqp():
    controlled, P, A, ahead, most = horizon(20)
    states = np.random.default_rng(12).normal(size=(40, 4)) * [0.4, 0.4, 0.3, 0.3]
    x, iterations, status = controlled(states)
    n = len(P)
    kinds = np.array([0] * n + [5] * len(A), dtype=np.int32)
    for k, state in enumerate(states):
        b = np.concatenate([ahead @ state, np.zeros(len(A) - 4)])
        other, _, flag, _ = daqp.solve(np.diag(P), np.zeros(n), np.vstack([np.eye(n), A]), np.r_[most, b],
                                       np.r_[-most, b], kinds, primal_tol=1e-11, dual_tol=1e-11)
        assert (flag == 1) == (status[k] == Status.SOLVED) and (flag == -1) == (status[k] == Status.INFEASIBLE)
        if flag == 1:
            assert x[k] == pytest.approx(other, abs=1e-7)
    solved = status == Status.SOLVED
    assert solved.sum() > 20 and iterations.max() < 30
    assert (np.abs(np.abs(x[solved]) - most) < 1e-7).any(axis=1).sum() > 10  # bounds matter in many of them


def test_single_precision():
    d = {name: v.astype(np.float32) for name, v in programs(np.random.default_rng(8), 280, 6, 2, 9).items()}
    found = cy.quadratic_program(**d)
    assert found.x.dtype == np.float32
    assert found.solved.all()
    exact = cy.quadratic_program(**{name: v.astype(float) for name, v in d.items()})
    assert found.x == pytest.approx(exact.x, abs=2e-2)
    assert np.median(np.abs(found.x - exact.x)) < 1e-5


def test_batches_and_small_programs():
    d = programs(np.random.default_rng(9), 3, 6, 2, 9)
    assert cy.quadratic_program(**{name: v[:0] for name, v in d.items()}).x.shape == (0, 6)
    one = cy.quadratic_program(**{name: v[:1] for name, v in d.items()})
    assert one.x.shape == (1, 6) and one.status.shape == (1,)
    q = np.zeros((2, 1, 6))
    many = cy.quadratic_program(**{**d, "q": q})
    assert many.x.shape == (2, 3, 6) and many.inequalities.shape == (2, 3, 9) and many.words[0, 0] == "solved"
    alone = cy.quadratic_program([[2.0]], [-6.0])
    assert alone.words == "solved" and alone.x == pytest.approx([3.0])
    assert cy.quadratic_program([[2.0]], [-6.0], upper=[1.0]).x == pytest.approx([1.0])
    free = cy.quadratic_program(np.eye(2), [-1.0, 2.0], lower=[-np.inf, -np.inf], upper=[np.inf, np.inf])
    assert free.x == pytest.approx([1.0, -2.0]) and free.inequalities == pytest.approx([0.0, 0.0])


def test_what_cannot_be_solved_is_said():
    box = {"lower": [-1.0, -1.0], "upper": [1.0, 1.0]}
    assert cy.quadratic_program([[1.0, 2.0], [2.0, 1.0]], [1.0, 1.0], **box).words == "not convex"
    assert cy.quadratic_program([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0], **box).words == "solved"
    lost = cy.quadratic_program(np.eye(2), [np.nan, 1.0], **box)
    assert lost.words == "not a number" and np.isnan(lost.x).all()
    assert cy.quadratic_program(np.eye(2), [1.0, 1.0], lower=[0.0, 2.0], upper=[1.0, 1.0]).words == "infeasible"
    short = cy.cone_program(np.eye(3), [-3.0, -4.0, -5.0], iterations=2,
                            cones=[([[0.0, 0.0, 0.5], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.zeros(3))])
    assert short.words == "not converged" and short.iterations == 2


@pytest.mark.parametrize(("data", "said"), [
    ({"P": np.eye(3)}, r"needs P of shape \(2, 2\).*not of shape \(3, 3\)"),
    ({"A": np.eye(3), "b": np.ones(3)}, r"needs A of shape \(3, 2\), a column for each unknown"),
    ({"A": np.eye(2)}, "has A without b"),
    ({"G": np.eye(2), "lower": np.ones(3)}, r"needs lower of shape \(2\), a number for each row of G"),
    ({"q": 1.0}, r"needs q of shape \(n\)"),
    ({"q": ["a", "b"]}, "needs numbers for q"),
    ({"iterations": 0}, "at least one iteration"),
])
def test_wrong_arguments_are_named(data, said):
    with pytest.raises(SignatureError, match=said):
        cy.quadratic_program(**{"P": np.eye(2), "q": np.ones(2), **data})


@needs("cc")
def test_exported_c_gives_the_same_numbers_and_allocates_nothing():
    @cy.kernel("(3),(2)->(3),()", outputs=("x", "status"))
    def nearest(q, upper):
        found = cy.quadratic_program(np.diag([1.0, 2.0, 4.0]), q, G=[[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], upper=upper,
                                     lower=[-1.0, -1.0])
        return found.x, found.status

    rng = np.random.default_rng(10)
    q, upper = 3.0 * rng.normal(size=(20, 3)), rng.uniform(-1.5, 1.0, (20, 2))
    x, status = nearest(q, upper)
    own, own_status = in_c(nearest.program(), [q, upper])
    assert (own_status == status).all() and set(status) == {0.0, 1.0}
    assert own == pytest.approx(x, abs=1e-12, nan_ok=True)
    assert "malloc" not in str(nearest.c_source())
