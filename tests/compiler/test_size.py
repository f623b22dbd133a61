"""Large graphs: no recursion, several functions, time in proportion."""

import time

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.native import compile, llvm


def long_chain(steps):
    """A linear recurrence on eight numbers, with a branch and a sine now and then so that truth values and pairs cross
    the cuts.
    """
    def text(x):
        y = list(x)
        early = x[0] < x[1]
        for k in range(steps):
            i = k % 8
            y[i] = y[i] * (0.3 + 0.01 * (k % 13)) + y[(i + 3) % 8] * 0.4
            if k % 1000 == 999:
                y[i] = cy.where(early, np.sin(y[i]), np.cos(y[i]))
        return np.stack(y)
    return text


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-14), (np.float32, 1e-5)])
def test_a_long_program_is_cut_into_functions(dtype, tolerance, monkeypatch):
    monkeypatch.setattr(llvm, "LONGEST_FUNCTION", 300)
    kernel = cy.kernel("(8)->(8)", name="long_chain")(long_chain(3000))
    x = np.random.default_rng(0).normal(size=(37, 8)).astype(dtype)
    values = kernel(x)
    assert len(llvm.Core(kernel.program(), 4, "double", fused=True).parts) > 10
    for k in (0, 20, 36):
        np.testing.assert_allclose(values[k], kernel.reference(x[k]), rtol=tolerance, atol=tolerance)
        assert (kernel(x[k]) == values[k]).all()


def test_time_grows_in_proportion():
    """Thirty times the length must not cost much more than thirty times the time (quadratic growth would be 900)."""
    def seconds(steps):
        start = time.process_time()
        kernel = cy.kernel("(8)->(8)", name=f"chain{steps}")(long_chain(steps))
        kernel(np.ones(8))
        return time.process_time() - start

    seconds(100)
    short, long = seconds(500), seconds(15000)
    assert long < 100 * short


def test_many_inputs_and_outputs():
    kernel = cy.kernel("(n),(n)->(n)", name="wide")(lambda a, b: a * b + 1)
    a, b = np.random.default_rng(1).normal(size=(2, 5, 1000))
    np.testing.assert_allclose(kernel(a, b), a * b + 1, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(kernel(a[:, ::-1], b), a[:, ::-1] * b + 1, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(kernel(a[0], b[0]), a[0] * b[0] + 1, rtol=1e-15, atol=1e-15)


def test_progress_is_shown_when_compiling_takes_long(monkeypatch, capsys):
    monkeypatch.setattr(compile, "_PATIENCE", 0.0)
    monkeypatch.setenv("CAYLEY_CACHE", "off")
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = []
    from rich.progress import Progress
    add = Progress.add_task
    monkeypatch.setattr(Progress, "add_task",
                        lambda self, title, **options: shown.append(title) or add(self, title, **options))
    cy.kernel("(n)->(n)", name="patient")(lambda x: x + 1)(np.zeros(2))
    assert shown == ["compiling patient"]
