"""Kernels that are compiled quickly: the same numbers, from other code."""

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.native.machine import host


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quick_code_gives_the_same_numbers_bit_for_bit(monkeypatch, tmp_path, dtype):
    monkeypatch.setenv("CAYLEY_CACHE", str(tmp_path))
    results, sizes = {}, {}
    for mode in ("quick", "optimised"):
        monkeypatch.setenv("CAYLEY_COMPILE", mode)
        arm = cy.load("panda")
        q = arm.random_configuration(37, seed=0).astype(dtype)
        results[mode] = [arm.inverse_dynamics(q, q, 0 * q), arm.inertia_matrix(q), arm.forward_dynamics(q, q, 0 * q),
                         arm.inverse_dynamics(*(3 * [q[0]]))]
        sizes[mode] = len(list(tmp_path.iterdir()))
    for quick, optimised in zip(*results.values(), strict=True):
        np.testing.assert_array_equal(quick, optimised)
    assert sizes["optimised"] >= 2 * sizes["quick"] - 1 > 2  # all but what programs share, which may be loaded already


def test_code_of_both_kinds_is_kept_apart(monkeypatch):
    identities = set()
    for mode in ("quick", "optimised"):
        monkeypatch.setenv("CAYLEY_COMPILE", mode)
        identities.add(host().identity)
    assert len(identities) == 2
