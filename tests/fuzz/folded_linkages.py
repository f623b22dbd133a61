"""Random linkages of sizes from 1e-6 to 1e3 m where they fold flat, and beside it: mobility, what is singular, and
accelerations, compared with the lines of the joints alone. `check(seed)` makes one."""

import numpy as np
import pytest

from cayley.errors import SingularityError
from kinematics import linkages

METHODS = ("augmented", "projection", "null space", "null space by svd")
NEAR = (1e-9, 1e-12, 0.0)
BESIDE = (1e-2, 1e-4, 2e-6)


def check(seed):
    random = np.random.default_rng(seed)
    size = 10.0**random.uniform(-6.0, 3.0)
    kind = (parallelogram, flat)[seed % 2]
    points, axes, near, beside = kind(random)
    linkage = linkages.ring(points, axes, size=size, random=random)
    masses = [body.mass for body in linkage.bodies]
    assert linkage.loops.mobility == 1
    assert (linkage.loops.singularity(near).kind == "bifurcation").all()
    assert (linkage.loops.singularity(beside).kind == "regular").all()
    assert (linkage.loops.close(near).independent == 2).all() and (linkage.loops.close(beside).independent == 1).all()
    rest = np.zeros(len(points) - 1)
    for kernel in (linkage.forward_dynamics, linkage.forward_dynamics.using(METHODS[seed // 2 % len(METHODS)])):
        found = kernel(np.concatenate([near, beside]), rest, rest)
        assert np.isnan(found[:len(near)]).all()
        for q, qdd in zip(beside, found[len(near):], strict=True):
            known = linkages.falling(*linkages.moved(points, axes, q), masses, size=size)
            np.testing.assert_allclose(qdd, known, rtol=0, atol=1e-3 * np.abs(known).max())
        for q in near:
            with pytest.raises(SingularityError, match="'L'"):
                kernel(q, rest, rest)
    driven = linkage.variants.with_actuated("j0")
    assert np.isnan(driven.inverse_dynamics(near, rest, rest)).all()
    assert np.isfinite(driven.inverse_dynamics(beside, rest, rest)).all()
    assert np.isnan(driven.loops.actuated_motion(near, [1.0])[:, 1:]).all()
    assert np.isfinite(driven.loops.actuated_motion(beside, [1.0])).all()


def parallelogram(random):
    """Assembled anywhere; it folds where its sides are along the base."""
    a, b = random.uniform(0.2, 0.8, size=2)
    angle = random.uniform(0.3, 2.8)
    side = a * np.array([np.cos(angle), np.sin(angle)])
    points, axes = linkages.planar(random, [[0, 0], side, side + np.array([b, 0]), [b, 0]])
    fold = -angle + (np.pi if random.uniform() < 0.5 else 0.0)
    along = np.array([1.0, -1.0, 1.0])
    return points, axes, [(fold + d) * along for d in NEAR], [(fold + d) * along for d in BESIDE]


def flat(random):
    """Four pins in a row, of a change-point linkage, and what its motion leads to from there."""
    places = np.cumsum(random.uniform(0.2, 0.5, size=4))
    while np.abs(np.sign(np.diff(places, append=places[0])).sum()) == 2:  # one as long as all others: it cannot move
        places = random.permutation(places)
    points, axes = linkages.planar(random, np.stack([places, np.zeros(4)], axis=1))
    for number in range(100):
        try:
            beside = linkages.walked(points, axes, steps=2, size=0.3, seed=number)[:, :-1]
        except AssertionError:  # not all ways that are allowed at first lead on
            continue
        if np.abs(beside).max(axis=1).min() > 0.05:
            return points, axes, [np.zeros(3)], beside
    raise AssertionError("no way leads on from where it is flat")
