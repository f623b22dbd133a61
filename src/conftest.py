"""What doctests of docstrings take for granted.

The pages of docs/ and the README get nothing: they run as they are pasted.
"""

import numpy as np
import pytest

import cayley


@pytest.fixture(scope="session")
def doctest_namespace() -> dict[str, object]:
    return {"np": np, "cy": cayley}
