"""Names that doctests of docstrings may use.

The pages of docs/ and the README get nothing: they run as they are pasted."""

import numpy as np
import pytest

import cayley


@pytest.fixture(scope="session")
def doctest_namespace() -> dict[str, object]:
    return {"np": np, "cy": cayley}
