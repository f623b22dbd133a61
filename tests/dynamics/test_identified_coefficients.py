"""From samples of a mechanism near a slow motion, through the discrete model, back to A, B, D, V and P (S1-115)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.dynamics.linearised.identified_discrete_model import RecursiveFit, fit_state_space, identified_coefficients
from cayley.dynamics.linearised.state_space import LinearisedMechanism, StateSpace
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.model.parts import Body
from dynamics.chains import random_chain

DT = 0.01
SIZE = 1e-5  # of perturbations
RNG = np.random.default_rng(115)


def stepped(arm, q, qd, tau):
    """The state after a step under held forces, by SciPy on forward dynamics."""
    n = arm.nv

    def slope(_, x):
        x = np.ascontiguousarray(x.reshape(2 * n, -1).T)
        return np.concatenate([x[:, n:], arm.forward_dynamics(x[:, :n], x[:, n:], tau)], axis=1).T.ravel()

    start = np.concatenate([np.atleast_2d(q), np.atleast_2d(qd)], axis=1).T.ravel()
    return solve_ivp(slope, (0, DT), start, rtol=1e-12, atol=1e-15).y[:, -1].reshape(2 * n, -1).T


def samples(arm, q, qd, qdd, count=60):
    """Perturbed starts and forces about a point of a nominal motion, and what they are a step later."""
    n = arm.nv
    tau = arm.inverse_dynamics(q, qd, qdd)
    x, u = SIZE * RNG.normal(size=(count, 2 * n)), 10 * SIZE * RNG.normal(size=(count, n))
    x, u = np.concatenate([x, -x]), np.concatenate([u, -u])
    start = np.concatenate([q, qd]) + x
    moved = stepped(arm, start[:, :n], start[:, n:], tau + u)
    nominal = stepped(arm, q, qd, tau)
    return x, u, moved - nominal


@pytest.fixture(scope="module", params=["RR", "RP", "PR"])
def arm(request):
    return cy.Mechanism(random_chain(request.param, 5))


def errors(arm, q, qd, qdd):
    found, true = arm.identification.fit_linear_model(*samples(arm, q, qd, qdd), DT), arm.linearize(q, qd, qdd)
    exact = LinearisedMechanism(arm.tree).at(q, qd, qdd)
    assert found.dt is None and np.abs(found.A - exact.A).max() < 1e-1 * max(1.0, np.abs(exact.A).max())
    return [np.abs(ours - theirs).max() / np.abs(true.P).max() for ours, theirs in zip(
        (found.D, found.V, found.P), true, strict=True)], found, exact


@pytest.mark.spec("S1-115")
def test_samples_near_a_slow_motion_give_the_analytic_model(arm):
    """What is left of the difference is the motion of the nominal point during a step: half of it at half the speed."""
    q, qd, qdd = 0.4 + 0.3 * np.arange(2), np.array([0.02, -0.03]), np.array([0.01, 0.02])
    slow, found, exact = errors(arm, q, qd, qdd)
    assert max(slow) < 2e-3
    np.testing.assert_allclose(found.A[:2], exact.A[:2], atol=2e-4)
    np.testing.assert_allclose(found.B[2:], exact.B[2:], rtol=0, atol=1e-3 * np.abs(exact.B).max())
    assert found.asymmetry < 1e-3 and found.kinematic_error < 1e-3
    rest, still, at_rest = errors(arm, q, 0 * qd, 0 * qd)  # nothing moves: only rounding and second order are left
    assert max(rest) < 2e-7 and still.asymmetry < 1e-6
    np.testing.assert_allclose(still.A, at_rest.A, atol=1e-5 * np.abs(at_rest.A).max())
    fast = max(errors(arm, q, 20 * qd, 0 * qdd)[0])
    half = max(errors(arm, q, 10 * qd, 0 * qdd)[0])
    assert 1.5 < fast / half < 3.0


@pytest.mark.spec("S1-115")
@pytest.mark.parametrize("pattern", ["R", "P", "RPR", "PRPR", "RRRR"])
def test_the_way_back_from_the_discrete_model_is_exact(pattern):
    """Analytic models at any speed, discretised exactly and identified, one and a batch; the recursive fit too."""
    tree = random_chain(pattern, 6)
    n = tree.nv
    q, qd, qdd = RNG.normal(size=(3, 4, n))
    models = LinearisedMechanism(tree).at(q, qd, qdd)
    found = identified_coefficients(models.discretised(0.005))
    for ours, true in zip((found.D, found.V, found.P, found.A, found.B),
                          (models.D, models.V, models.P, models.A, models.B), strict=True):
        np.testing.assert_allclose(ours, true, rtol=0, atol=1e-8 * max(1.0, np.abs(true).max()))
    np.testing.assert_array_equal(found.D, np.swapaxes(found.D, -1, -2))
    assert found.asymmetry.shape == (4,) and found.asymmetry.max() < 1e-9 and found.kinematic_error.max() < 1e-9
    np.testing.assert_allclose(identified_coefficients(models).P, models.P, atol=1e-9)  # continuous already
    step = models.discretised(0.005)
    recursive = RecursiveFit(2 * n, n, 0.005)
    x, u = RNG.normal(size=(60, 2 * n)), RNG.normal(size=(60, n))
    for a, b in zip(x, u, strict=True):
        recursive.update(a, b, step.A[0] @ a + step.B[0] @ b)
    one = identified_coefficients(recursive.model)
    np.testing.assert_allclose(one.D, models.D[0], rtol=0, atol=1e-4 * np.abs(models.D[0]).max())


@pytest.mark.spec("S1-115")
def test_friction_of_the_joints_is_in_the_identified_v():
    smooth = cy.Mechanism(random_chain("RP", 5, friction=True))
    arm = smooth.including("friction")
    q, qd = np.array([0.3, 0.4]), np.array([0.5, -0.6])
    exact = LinearisedMechanism(arm.tree).at(q, qd, np.zeros(2))
    found = identified_coefficients(exact.discretised(DT))
    bare = smooth.linearize(q, qd, np.zeros(2))
    viscous = [joint.friction.viscous for joint in arm.joints]
    np.testing.assert_allclose(found.V - bare.V, np.diag(viscous), atol=1e-8)


@pytest.mark.spec("S1-115")
def test_models_that_are_no_mechanisms_are_named():
    good = LinearisedMechanism(cy.load("planar2r").tree).at([0.3, 0.4])
    with pytest.raises(SignatureError, match="4 states and 1 inputs"):
        identified_coefficients(good.driven_by([0]))
    heavy = good.B.copy()
    heavy[2:, 1] = heavy[2:, 0]
    with pytest.raises(SingularityError, match="accelerates nothing"):
        identified_coefficients(StateSpace(good.A, heavy))
    with pytest.raises(SingularityError, match="model 1 of the batch is not positive definite"):
        identified_coefficients(StateSpace(np.stack([good.A] * 2), np.stack([good.B, -good.B])))
    with pytest.raises(SingularityError, match="pole at or below zero"):
        identified_coefficients(StateSpace(-good.discretised(DT).A, good.B, DT))
    arm = cy.load("planar2r")
    x, u = RNG.normal(size=(20, 4)), RNG.normal(size=(20, 2))
    with pytest.raises(SignatureError, match=r"perturbations \(k, 4\) of the state and \(k, 2\) of the forces"):
        arm.identification.fit_linear_model(x, u[:, :1], x, DT)
    with pytest.raises(SingularityError, match="do not determine"):
        arm.identification.fit_linear_model(x[:3], u[:3], x[:3], DT)
    with pytest.raises(SignatureError, match="finite"):
        arm.identification.fit_linear_model(np.nan * x, u, x, DT)
    with pytest.raises(UnsupportedError, match="four_bar"):
        cy.load("four_bar").identification.fit_linear_model(x, u, x, DT)
    for dt in (0.0, -DT, np.nan):
        with pytest.raises(SignatureError, match="a time dt > 0"):
            arm.identification.fit_linear_model(x, u, x, dt)
    with pytest.raises(SignatureError, match="rock has no joint that moves"):
        cy.Mechanism.of("rock", [Body("rock", 1.0)], []).identification.fit_linear_model(x[:, :0], u[:, :0], x[:, :0],
                                                                                         DT)
    assert fit_state_space(x, u, x, DT).model.dt == DT


@pytest.mark.parametrize(("apart", "is_determined"), [(1e-6, True), (2e-8, False)])
def test_samples_determine_a_model_as_far_as_ranks_are_decided(apart, is_determined):
    """A force that nearly repeats a state: coefficients come back while its own part is more than rounding."""
    x, own = RNG.normal(size=(2, 50, 2))
    u = x[:, :1] + apart * own[:, :1]
    A, B = np.array([[0.9, 0.1], [-0.2, 0.8]]), np.array([[0.3], [0.5]])
    y = x @ A.T + u @ B.T
    if not is_determined:
        with pytest.raises(SingularityError, match="50 samples do not determine 3 coefficients"):
            fit_state_space(x, u, y, DT)
        return
    found = fit_state_space(x, u, y, DT)
    assert found.excited
    np.testing.assert_allclose(found.model.A, A, atol=1e-8)
    np.testing.assert_allclose(found.model.B, B, atol=1e-8)
