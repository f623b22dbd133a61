"""All methods of inverse dynamics give one answer."""

from itertools import product

import numpy as np
import pytest

from cayley.dynamics.inverse.methods import METHODS
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import UnsupportedError
from dynamics.chains import random_chain, random_state

SHORT = ["".join(p) for n in range(1, 5) for p in product("RP", repeat=n)]
LONG = ["RRRRRR", "RRPRRR", "PRRPRR", "RPRPPR", "PPPRRR", "RRRRR", "RRRRRRR", "RRRRRRRR", "RRRRRRRRR"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("pattern", [*SHORT, *LONG])
def test_methods_agree(method, pattern):
    if method == "uicker-kahn" and len(pattern) > 6:
        pattern = pattern[:6]  # the work grows with the fourth power
    tree = random_chain(pattern, len(pattern))
    q, v, a = random_state(tree, 3)
    if method == "renaud" and "P" in pattern:
        with pytest.raises(UnsupportedError, match=r"revolute joints, and joint .* is prismatic"):
            METHODS[method].text(tree, "inverse_dynamics")
        return
    reference = inverse_dynamics(links_of(tree), q, v, a)
    found = METHODS[method].text(tree, "inverse_dynamics")(q, v, a)
    assert np.abs(found - reference).max() <= 1e-12 * max(1.0, np.abs(reference).max())
