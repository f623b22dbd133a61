"""What the tests of the compiler share."""

import pytest

from compiler.gpu_stand_in import cupy

__all__ = ["cupy"]


@pytest.fixture(autouse=True)
def optimised(monkeypatch):
    """Code as users have it; other tests compile quickly."""
    monkeypatch.setenv("CAYLEY_COMPILE", "optimised")
