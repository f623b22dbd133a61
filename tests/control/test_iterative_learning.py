"""Iterative learning: the lifted matrix of a linear loop by SciPy, trials as its powers, convergence from both sides,
and errors of real arms that shrink."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.linalg import expm

import cayley as cy
from cayley.control import dry_friction, motion_target
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.planning import point_to_point
from compiler.parity import compiled_c

PERIODS = 20


@pytest.fixture(scope="module")
def linear():
    """One joint without gravity under PD: a linear loop."""
    arm = cy.load("s1_f1").with_gravity([0.0, 0.0, 0.0])
    return arm, point_to_point([0.0], [0.6], duration=1.0)


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


@pytest.fixture(scope="module")
def move():
    return point_to_point([0.0, 0.0], [0.8, -0.6], duration=1.0)


@pytest.fixture(scope="module")
def learned(arm, move):
    """Ten trials with a payload and friction that the model does not have."""
    learning = arm.control.iterative_learning(
        arm.control.pd_with_gravity(60.0, [10.0, 4.0]), move, 40, kp=[40.0, 20.0], kd=[8.0, 1.0], cutoff=8.0)
    return learning.run(rubbing(arm), trials=10)


def rubbing(arm):
    return cy.connect(arm.with_payload("tool", 0.5).system().renamed({"tau": "left_tau"}),
                      dry_friction("tau", [2.0, 1.0], creep=0.05).renamed({"wanted_tau": "tau", "tau": "left_tau"}))


def lifted(arm, kp, kd, gains):
    """1 - L G by NumPy: the exact discrete model of M q'' = -kd qd - kp q + u, pushes held for a period."""
    M = arm.inertia_matrix([0.0])[0, 0]
    joined = np.zeros((3, 3))
    joined[0, 1] = 1.0
    joined[1] = np.array([-kp, -kd, 1.0]) / M
    step = expm(joined / PERIODS)
    answer = [step[:2, 2]]
    for _ in range(PERIODS - 1):
        answer.append(step[:2, :2] @ answer[-1])
    learned_of = [gains[0] * q + gains[1] * qd for q, qd in answer]
    L_G = np.array([[learned_of[i - k] if i >= k else 0.0 for k in range(PERIODS)] for i in range(PERIODS)])
    return np.eye(PERIODS) - L_G


def test_the_correction_of_a_linear_loop_and_its_powers(linear):
    """The matrix from one batch is SciPy's; errors of trials go by its powers; radius and norm are its own."""
    arm, move = linear
    M = arm.inertia_matrix([0.0])[0, 0]
    kp, kd, gains = 30.0 * M, 8.0 * M, (20.0 * M, 8.0 * M)
    learning = arm.control.iterative_learning(arm.control.pd(kp, kd), move, PERIODS, *gains)
    known = lifted(arm, kp, kd, gains)
    assert learning.correction == pytest.approx(known, abs=1e-6)
    assert learning.spectral_radius == pytest.approx(np.abs(np.diag(known)).max(), abs=1e-4)
    assert learning.contraction == pytest.approx(np.linalg.norm(known, 2), abs=1e-6)
    trials = learning.run(trials=3).trials
    change = [after.forces[:, 0] - before.forces[:, 0] for before, after in pairwise(trials)]
    assert change[1] == pytest.approx(known @ change[0], abs=1e-6 * np.abs(change[0]).max())
    assert change[2] == pytest.approx(known @ known @ change[0], abs=1e-6 * np.abs(change[0]).max())


def test_gains_on_both_sides_of_the_limit(linear):
    """A norm below one: every trial is nearer. A radius above: trials diverge, and are refused."""
    arm, move = linear
    M = arm.inertia_matrix([0.0])[0, 0]
    law = arm.control.pd(30.0 * M, 8.0 * M)
    slow, fast = ((share * M, share * 0.5 * M) for share in (10.0, 110.0))
    stable, unstable = (arm.control.iterative_learning(law, move, PERIODS, *gains) for gains in (slow, fast))
    assert np.linalg.norm(lifted(arm, 30.0 * M, 8.0 * M, slow), 2) < 1 < np.abs(
        np.diag(lifted(arm, 30.0 * M, 8.0 * M, fast))).max()
    assert stable.converges and not unstable.converges and unstable.spectral_radius > 1
    with pytest.raises(SingularityError, match="a trial multiplies the force error by up to"):
        unstable.run(trials=2)
    changes = [np.linalg.norm(np.diff([t.forces for t in learning.run(trials=15, anyway=True).trials], axis=0),
                              axis=(1, 2)) for learning in (stable, unstable)]
    assert (np.diff(changes[0]) < 0).all() and changes[1][-1] > 10 * changes[1][0]


@pytest.mark.spec("S3-53")
def test_the_error_shrinks_by_trials_on_an_arm_that_is_not_the_model(learned):
    errors = learned.errors
    assert len(errors) == 11 and learned.learning.contraction < 1
    assert errors[1] < 0.6 * errors[0] and errors[-1] < 0.1 * errors[0]
    assert (np.diff(errors[:5]) < 0).all()
    assert repr(learned).startswith("<a motion of planar2r after 11 trials: errors from")


def test_what_was_learned_is_a_law(arm, learned):
    """Forces of the best trial as a function of the time, added to the law's; it is C; its figure has its errors."""
    t = (np.arange(40) + 0.5) / 40
    now = learned.law.step(np.append(t, [-1.0, 5.0]), [0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    assert now.feedforward == pytest.approx(learned.forces[[*range(40), 0, 39]], rel=1e-12)
    plain = learned.learning.law.step([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    assert now.tau == pytest.approx(plain + now.feedforward, rel=1e-12)
    assert compiled_c(learned.law.c_source("learned", dtype="float32"))
    figure = learned.plot()
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx(learned.errors)
    plt.close(figure)


def test_limits_filters_and_errors_that_are_no_numbers(arm, move, learned):
    law = arm.control.pd_with_gravity(60.0, 8.0)
    learning = arm.control.iterative_learning(law, move, 40, 20.0, 2.0, cutoff=5.0, limits=[12.0, 3.0])
    assert learning.smoothing.sum(axis=1) == pytest.approx(np.ones(40))
    t = np.arange(40) * learning.period
    wave = np.sin(2 * np.pi * 5.0 * t)
    assert (learning.smoothing @ wave)[12:28] == pytest.approx(wave[12:28] / np.sqrt(2), abs=1e-3)
    bad = learned.trials[0]._replace(error=np.where(np.arange(40)[:, None] == 7, np.nan, learned.trials[0].error))
    assert np.isfinite(learning.corrected(bad)).all()
    step = learning.driven_law.step([0.0, 0.0], [0.0, 0.0], [3.0, 3.0], [100.0, -1000.0])
    assert step.tau.tolist() == [12.0, -3.0]
    assert np.isfinite(learning.driven_law.step([np.nan, 0.0], [0.0, 0.0], [3.0, 3.0], [np.nan, 0.0]).tau).all()


def test_what_cannot_be_learned_is_named(arm, move):
    law = arm.control.pd_with_gravity(60.0, 8.0)
    for given, what in [((law, move, 1), "two periods"), ((law, move, "all"), "two periods"),
                        ((law, point_to_point([0.0], [1.0], duration=1.0), 10), "fit"),
                        ((motion_target(move), move, 10), "gives out")]:
        with pytest.raises(SignatureError, match=what):
            arm.control.iterative_learning(*given, 1.0, 1.0)
    with pytest.raises(SignatureError, match="number of times"):
        arm.control.iterative_learning(law, move, 10, 1.0, 1.0).run(trials=-1, anyway=True)
    with pytest.raises(SignatureError, match="cutoff"):
        arm.control.iterative_learning(law, move, 10, 1.0, 1.0, cutoff=0.0)
    with pytest.raises(UnsupportedError, match="four_bar"):
        cy.load("four_bar").control.iterative_learning(law, move, 10, 1.0, 1.0)
