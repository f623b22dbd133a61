"""The contact problem, by residuals that NumPy computes, and beside Pinocchio's ADMM."""

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.solving import contact_impulses as solver_of_contacts
from cayley.compiler.solving.contact_impulses import contact_impulses
from cayley.compiler.solving.contact_law import ContactRows
from cayley.compiler.solving.contact_sweeps import swept_impulses

NONE = np.zeros(0)


def violation(W, free, friction, r):
    """The largest violation (...) of the exact law of Coulomb, as a velocity beside the largest free one: signs,
    products and directions are looked at one by one, not by the projection that the solver uses."""
    v = free + np.einsum("...ij,...j->...i", W, r)
    c = len(friction)
    rt, rn = r.reshape(*r.shape[:-1], c, 3)[..., :2], r.reshape(*r.shape[:-1], c, 3)[..., 2]
    vt, vn = v.reshape(*v.shape[:-1], c, 3)[..., :2], v.reshape(*v.shape[:-1], c, 3)[..., 2]
    own = np.einsum("...ii->...i", W).reshape(*W.shape[:-2], c, 3).max(-1)
    radius = friction * rn
    slip = np.linalg.norm(vt, axis=-1)
    against = np.linalg.norm(rt * slip[..., None] + radius[..., None] * vt, axis=-1)  # opposite directions
    size = np.maximum(np.abs(free).max(-1), 1e-300)[..., None]
    found = [np.maximum(-vn, 0), own * np.maximum(-rn, 0), own * np.maximum(np.linalg.norm(rt, axis=-1) - radius, 0),
             np.minimum(np.abs(vn), own * np.abs(rn)), own * against / (slip + own * np.abs(radius) + 1e-30)]
    return (np.max(found, axis=0) / size).max(-1)


def random_problems(count, contacts, freedoms, seed, redundant=False):
    """W = J M^-1 J^T of random rows and masses of two decades."""
    r = np.random.default_rng(seed)
    J = r.normal(size=(count, 3 * contacts, freedoms))
    if redundant:  # the corners of a plate
        arms = r.uniform(-0.5, 0.5, size=(count, contacts, 2))
        J = np.zeros((count, 3 * contacts, 6))
        for k in range(contacts):
            x, y, z = arms[:, k, 0], arms[:, k, 1], -0.2
            J[:, 3 * k:3 * k + 3, :3] = np.eye(3)
            J[:, 3 * k, 4], J[:, 3 * k, 5] = z, -y
            J[:, 3 * k + 1, 3], J[:, 3 * k + 1, 5] = -z, x
            J[:, 3 * k + 2, 3], J[:, 3 * k + 2, 4] = y, -x
    masses = 10.0 ** r.uniform(-1, 1, size=(count, J.shape[-1]))
    W = np.einsum("bik,bk,bjk->bij", J, 1 / masses, J)
    return W, np.einsum("bik,bk->bi", J, r.normal(size=(count, J.shape[-1]))) - 0.1 * (np.arange(3 * contacts) % 3 == 2)


def compiled(contacts, friction, solver=contact_impulses, *options):
    m = 3 * contacts

    @cy.kernel(f"({m},{m}),({m}),({m})->({m}),(),()", outputs=("r", "residual", "allowed"))
    def solved(W, free, start):
        found = solver(ContactRows(W, free, friction, NONE, NONE), start, *options)
        return found.r, found.residual, found.tolerance

    return solved


@pytest.mark.parametrize("contacts, freedoms, redundant", [(1, 6, False), (2, 8, False), (4, 18, False), (4, 6, True)])
@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
def test_random_problems_are_solved_to_rounding(contacts, freedoms, redundant, mu):
    W, free = random_problems(1000, contacts, freedoms, seed=contacts, redundant=redundant)
    friction = np.full(contacts, mu)
    found = compiled(contacts, friction)(W, free, np.zeros((1000, 3 * contacts)))
    solved = found.residual <= found.allowed
    assert solved.all()
    assert violation(W[solved], free[solved], friction, found.r[solved]).max() < 1e-8


def test_a_warm_start_near_the_solution_changes_nothing_else():
    W, free = random_problems(500, 4, 18, seed=7)
    friction = np.full(4, 0.6)
    solve = compiled(4, friction)
    cold = solve(W, free, np.zeros((500, 12)))
    warm = solve(W, free, cold.r * 1.001)
    fine = (cold.residual <= cold.allowed) & (warm.residual <= warm.allowed)
    assert np.abs(warm.r - cold.r)[fine].max() < 1e-6


def test_rows_within_bounds_and_contacts_are_one_problem():
    W = np.array([[2.0, 0.0, 0.3, 0.4], [0.0, 2.0, 0.1, 0.2], [0.3, 0.1, 1.5, -0.2], [0.4, 0.2, -0.2, 1.0]])
    free = np.array([0.5, -0.2, -1.0, 0.7])
    found = contact_impulses(ContactRows(W, free, np.array([0.5]), np.array([-0.1]), np.array([0.1])), np.zeros(4))
    r, v = np.asarray(found.r, float), np.asarray(found.v, float)
    assert abs(r[3] + 0.1) < 1e-12
    assert v[3] > 0
    others = free[:3] + W[:3, 3] * r[3]
    assert violation(W[:3, :3], others, np.array([0.5]), r[:3]) < 1e-9
    inside = contact_impulses(ContactRows(W, free, np.array([0.5]), np.array([-9.0]), np.array([9.0])), np.zeros(4))
    assert abs(inside.v[3]) < 1e-9
    assert -9.0 < inside.r[3] < 9.0


def outside(free, W, lower, upper, r):
    """The largest violation (...) of the law of rows within bounds, beside the largest free velocity."""
    v = free + np.einsum("...ij,...j->...i", W, r)
    k, own = len(lower), np.einsum("...ii->...i", W)
    v, r, own = v[..., -k:], r[..., -k:], own[..., -k:]
    found = [own * (lower - r), own * (r - upper), np.minimum(v, own * (r - lower)), np.minimum(-v, own * (upper - r))]
    return (np.max(found, axis=0) / np.abs(free).max(-1)[..., None]).max(-1)


@pytest.mark.parametrize("rounds", [(1e-7, 1e-3), ()])
@pytest.mark.parametrize("dtype, near", [(np.float64, 1e-8), (np.float32, 1e-4)])
def test_contacts_and_dry_friction_are_solved_by_rounds_and_by_paths_alone(rounds, dtype, near, monkeypatch):
    monkeypatch.setattr(solver_of_contacts, "_DAMPINGS", rounds)
    W, free = random_problems(1000, 3, 14, seed=5)
    friction, lower, upper = np.array([0.4, 0.7]), np.array([-0.02, 0.0, -1e30]), np.array([0.02, 1e30, 1e30])

    @cy.kernel("(9,9),(9)->(9),(),()", outputs=("r", "residual", "allowed"))
    def solved(W, free):
        found = contact_impulses(ContactRows(W, free, friction, lower, upper), np.zeros(9))
        return found.r, found.residual, found.tolerance

    W, free = W.astype(dtype), free.astype(dtype)
    found = solved(W, free)
    assert found.r.dtype == dtype
    W, free, r = (x.astype(float) for x in (W, free, found.r))
    assert (found.residual <= found.allowed).all()
    assert outside(free, W, lower, upper, r).max() < near
    others = free[:, :6] + np.einsum("bij,bj->bi", W[:, :6, 6:], r[:, 6:])
    if dtype == np.float64:
        assert violation(W[:, :6, :6], others, friction, r[:, :6]).max() < near


def test_sweeps_come_to_the_same_solution():
    W, free = random_problems(200, 2, 12, seed=3)
    friction = np.full(2, 0.4)
    exact = compiled(2, friction)(W, free, np.zeros((200, 6)))
    swept = compiled(2, friction, swept_impulses, 2000, 1e-12)(W, free, np.zeros((200, 6)))
    came = swept.residual < 1e-10 * np.abs(free).max(-1)
    assert came.mean() > 0.9
    assert np.abs(swept.r - exact.r)[came].max() < 1e-7


@pytest.mark.parametrize("mu", [0.3, 0.8])
def test_contacts_of_planar_mechanisms_are_held_across_their_plane(mu):
    r = np.random.default_rng(11)
    J = r.normal(size=(1000, 6, 5))
    J[:, 1::3] = 0.0
    W, free = np.einsum("bik,bjk->bij", J, J), np.einsum("bik,bk->bi", J, r.normal(size=(1000, 5)))
    found = compiled(2, np.full(2, mu))(W, free, 3.0 * r.normal(size=(1000, 6)) * (np.arange(6) % 3 != 1))
    assert np.isfinite(found.r).all()
    assert (found.r[:, 1::3] == 0.0).all()
    solved = found.residual <= found.allowed
    assert solved.all()
    assert violation(W[solved], free[solved], np.full(2, mu), found.r[solved]).max() < 1e-8
