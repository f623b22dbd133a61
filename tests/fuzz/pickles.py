"""Mechanisms at random, and what is made of them: pickled and copied, they give the same numbers."""

from __future__ import annotations

import copy
import pickle

import numpy as np

import cayley as cy
from model.random_trees import KINDS, random_parts


def mechanism(random: np.random.Generator) -> cy.Mechanism:
    kinds = [str(kind) for kind in random.choice([kind for kind in KINDS if kind != "floating"], random.integers(1, 4))]
    bodies, joints, frames = random_parts(random, kinds)
    return cy.Mechanism.of("random", bodies, joints, frames=frames)


def check(seed: int) -> None:
    """One mechanism: its kernels, its system, and the run of a rollout."""
    random = np.random.default_rng(seed)
    arm = mechanism(random)
    q, qd = arm.neutral, random.normal(size=arm.nv)
    for again in (pickle.loads(pickle.dumps(arm)), copy.copy(arm), copy.deepcopy(arm)):
        assert repr(again) == repr(arm)
    for made in (arm.inverse_dynamics, arm.inertia_matrix, arm.kinetic_energy):
        given = (q, qd, qd)[:len(made.inputs)]
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(made))(*given), made(*given))
    roll = arm.system().rollout(method=str(random.choice(["rk4", "semi-implicit-euler"])))
    start, forces = {"q": q, "qd": qd}, {"tau": random.normal(size=arm.nv)}
    run = roll(start, step=1e-3, steps=5, inputs=forces)
    for again in (pickle.loads(pickle.dumps(roll))(start, step=1e-3, steps=5, inputs=forces),
                  pickle.loads(pickle.dumps(run)), copy.copy(run), copy.deepcopy(run)):
        np.testing.assert_array_equal(again.vectors, run.vectors)
        np.testing.assert_array_equal(again.energy, run.energy)
