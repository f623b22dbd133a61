"""The contact problems of robots in random postures: residuals that NumPy computes, and Pinocchio's ADMM."""

import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.compiler.solving.contact_law import ContactRows
from cayley.compiler.solving.contact_sweeps import swept_impulses
from simulation.contact_problems import branched, compiled, hand, humanoid, problems, quadruped

MAKERS = {"quadruped": quadruped, "humanoid": humanoid, "hand": hand, "branched": lambda: branched(2)}
SHARE = 0.9999  # that is solved: a velocity that parts all contacts exists in each of these, and so does a solution


def complementarity(W, free, friction, r):
    """The largest violation (...) of the law of Coulomb beside the largest free velocity: signs, gaps times forces, and
    the power that friction takes beside the largest that it can take, as velocities."""
    W, free, friction, r = (np.asarray(x, dtype=float) for x in (W, free, friction, r))
    v = (free + np.einsum("bij,bj->bi", W, r)).reshape(len(W), -1, 3)
    own = np.einsum("bii->bi", W).reshape(v.shape).max(-1)
    push = own[..., None] * r.reshape(v.shape)  # impulses as velocities
    radius, slip, along = friction * push[..., 2], np.linalg.norm(v[..., :2], axis=-1), push[..., :2]
    missed = np.abs((along * v[..., :2]).sum(-1) + radius * slip) / np.maximum(np.maximum(radius, slip), 1e-300)
    found = [-v[..., 2], -push[..., 2], np.linalg.norm(along, axis=-1) - radius,
             np.minimum(np.abs(v[..., 2]), np.abs(push[..., 2])), missed]
    return np.max(found, axis=(0, 2)) / np.maximum(np.abs(free).max(-1), 1e-300)


def distance(W, free, friction, r):
    """How far (...) the impulses are from those to which projection on the cones takes them, beside the largest free
    velocity: the measure of what single precision can tell."""
    W, free, friction, r = (np.asarray(x, dtype=float) for x in (W, free, friction, r))
    v = (free + np.einsum("bij,bj->bi", W, r)).reshape(len(W), -1, 3)
    own = np.einsum("bii->bi", W).reshape(v.shape).max(-1)
    push = own[..., None] * r.reshape(v.shape)
    aim = push - v
    radius = friction * np.maximum(aim[..., 2], 0.0)
    size = np.maximum(np.linalg.norm(aim[..., :2], axis=-1), 1e-300)
    along = aim[..., :2] * np.minimum(1.0, radius / size)[..., None]
    missed = np.maximum(np.linalg.norm(push[..., :2] - along, axis=-1),
                        np.abs(push[..., 2] - np.maximum(aim[..., 2], 0.0)))
    return missed.max(-1) / np.maximum(np.abs(free).max(-1), 1e-300)


@pytest.mark.parametrize("name", MAKERS)
def test_random_postures_are_solved(name):
    mechanism = MAKERS[name]()
    W, free, friction = problems(mechanism, 2500, seed=5)
    assert ((free[:, 2::3] < 0).any(1)).mean() > 0.3
    found = compiled(mechanism)[1](W, free, friction, np.zeros_like(free))
    errors = complementarity(W, free, friction, found.r)
    solved = found.residual <= 1e-11 * np.abs(free).max(1)
    assert errors[solved].max() < 1e-8
    assert solved.mean() >= SHARE


@pytest.mark.parametrize("name", MAKERS)
def test_random_postures_in_float32(name):
    mechanism = MAKERS[name]()
    W, free, friction = (x.astype(np.float32) for x in problems(mechanism, 2500, seed=6))
    found = compiled(mechanism)[1](W, free, friction, np.zeros_like(free))
    assert found.r.dtype == np.float32
    solved = found.residual <= 6.2e-5 * np.abs(free).max(1)
    assert distance(W, free, friction, found.r)[solved].max() < 1e-4
    assert solved.mean() >= SHARE


@pytest.mark.parametrize(("sweeps", "share"), [(5, 0.99), (10, 0.999)])
def test_few_sweeps_solve_nearly_all_postures_of_a_quadruped_and_say_which(sweeps, share):
    """From no forces at all. States that are called solved are, to ten times the change that ends the sweeps."""
    W, free, friction = problems(quadruped(), 2000, 5)
    m, c = free.shape[1], friction.shape[1]

    @cy.kernel(f"({m},{m}),({m}),({c}),({m})->({m}),()", outputs=("r", "left"))
    def swept(W, free, friction, start):
        found = swept_impulses(ContactRows(W, free, friction, np.zeros(0), np.zeros(0)), start, sweeps)
        return found.r, found.residual - found.tolerance

    found = swept(W, free, friction, np.zeros_like(free))
    solved = found.left <= 0
    assert solved.mean() >= share
    assert distance(*(x[solved] for x in (W, free, friction, found.r))).max() < 1e-3


def admm(W, free, friction):
    """Impulses by Pinocchio, or None."""
    model = pin.Model()
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for k, mu in enumerate(friction):
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"joint{k}")
        contact = pin.PointContactConstraintModel(model, k + 1)
        contact.setFriction(mu)
        models.append(pin.ConstraintModel(contact))
        datas.append(pin.ConstraintData(contact.createData()))
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    for contact, own in zip(models, datas, strict=True):
        contact.calc(model, data, own)
    settings, result = pin.ADMMSolverSettings(), pin.ADMMSolverResult()
    for name in ("absolute_complementarity_tol", "absolute_feasibility_tol", "relative_complementarity_tol",
                 "relative_feasibility_tol"):
        setattr(settings, name, 1e-12)
    settings.max_iterations = 20_000
    solver = pin.ADMMConstraintSolver(len(free))
    solved = solver.solve(pin.DelassusOperatorDense(W), free, models, datas, settings, result)
    return result.retrieveConstraintImpulses() if solved else None


@pytest.mark.parametrize("name", MAKERS)
def test_impulses_or_velocities_are_those_of_pinocchio(name):
    mechanism = MAKERS[name]()
    W, free, friction = problems(mechanism, 60, seed=7)
    near = np.minimum(free, np.where(np.arange(free.shape[1]) % 3 == 2, 2.0, np.inf))  # ADMM asks for one scale
    solve = compiled(mechanism)[1]
    found = solve(W, near, friction, np.zeros_like(near))
    compared = 0
    for k in np.flatnonzero(found.residual <= 1e-11 * np.abs(near).max(1)):
        theirs = admm(W[k], near[k], friction[k])
        if theirs is None:
            continue
        compared += 1
        ours = found.r[k]
        if np.abs(W[k] @ (theirs - ours)).max() > 1e-6:  # the law may have two solutions: then both of us keep theirs
            ours = solve(W[k], near[k], friction[k], theirs).r
        exact = {"rtol": 0, "atol": 1e-8 * max(1.0, np.abs(near[k]).max())}
        np.testing.assert_allclose(W[k] @ theirs, W[k] @ ours, **exact)
        pushed = np.repeat(ours[2::3] > 0, 3)
        if pushed.any() and np.linalg.cond(W[k][np.ix_(pushed, pushed)]) < 1e4:
            np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-8 * max(1.0, np.abs(ours).max()))
    assert compared >= 40
