"""The greatest level of V whose set V < c lies inside a box: on the faces of the box V is nowhere less.

Where V falls along the dynamics, everything that starts in that set stays in it.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array

_ON_A_FACE = 2000
_POLISHED = 3


def level_inside(value: Kernel, box: Array, *, seed: int = 0) -> float:
    """The least value of V(d) on the faces of a box (2, n), as far as samples and descents from the best of them find
    it.

    >>> import cayley as cy
    >>> round(level_inside(cy.kernel("(2)->()")(lambda d: d[0] ** 2 + 4 * d[1] ** 2), np.array([[-3, -1], [3, 2]])), 9)
    4.0
    """
    rng = np.random.default_rng(seed)
    n = box.shape[1]
    best = np.inf
    slope = value.jacobian(value.inputs[0])
    for axis in range(n):
        for side in (0, 1):
            d = rng.uniform(box[0], box[1], size=(_ON_A_FACE if n > 1 else 1, n))
            d[:, axis] = box[side, axis]
            ends = np.array(box, dtype=float)
            ends[:, axis] = box[side, axis]
            values = value(d)
            for start in d[np.argsort(values)[:_POLISHED]]:
                found = minimize(lambda x: float(value(x)), start, jac=slope, bounds=list(zip(*ends, strict=True)),
                                 method="L-BFGS-B")
                best = min(best, float(found.fun), float(np.nanmin(values)))
    return best
