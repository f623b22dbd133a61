"""Forces that make a system keep a program: constraints that nothing but its drives holds.

    H qdd + h = Q + U,   A2 qd = 0 asked for
    G U + g = 0,   G = A2 H^-1,   g = A2 H^-1 (Q - h) + A2' qd      U is compatible with the program if and only if
n unknowns and r equations: U = A2^T Lambda is what an ideal constraint would do. With drives S u at some joints alone,
u are those of least norm; where the drives cannot keep the program, there are none. Source: Mladenova (251)-(254), with
the rate of A2 in g as in spec E-41b."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array
from cayley.errors import ModelError, SingularityError


class ProgramControl(NamedTuple):
    """Forces (n) that keep the program, and G (r, n), g (r) of G U + g = 0, which all such forces fulfil."""

    U: Array
    G: Array
    g: Array


def program_control(H: Array, f: Array, A2: Array, drift: Array, *, drives: Sequence[int] | None = None,
                    left: Array | None = None, rate: float = 0.0) -> ProgramControl:
    """The control of f = Q - h (n), all other forces, and drift = A2' qd (r): ideal, or of least norm at the places
    `drives`, which can keep r rows if they are as many. `left` = A2 qd (r), which is not zero after a disturbance, dies
    out with exp(-rate t). Fewer drives than rows raise `ModelError`, and drives that do not keep the program at a state
    `SingularityError` (NaN in a kernel).

    >>> program_control(np.eye(2), np.array([3.0, 4.0]), np.array([[0.0, 1.0]]), np.zeros(1)).U
    array([ 0., -4.])
    """
    if drives is not None:
        _check_drives(drives, len(H), len(A2))
    G = ldl_solve(H, A2.T).T
    back = drift if left is None else drift + rate * left
    g = G @ f + back
    S = np.eye(len(H)) if drives is None else np.eye(len(H))[:, list(drives)]
    W = wrapped(A2.T if drives is None else S @ (G @ S).T)
    square = G @ W
    with np.errstate(all="ignore"):  # of numbers, where there are none
        Lambda = only_where(is_definite(square), -ldl_solve(square, g))
    if Lambda.dtype != object and np.isfinite(square).all() and np.isfinite(g).all() and not np.isfinite(Lambda).all():
        raise SingularityError("the drives do not keep the program at this state: its rows depend on each other, or "
                               "the drives do nothing to one of them")
    return ProgramControl(W @ Lambda, G, g)


def _check_drives(drives: Sequence[int], n: int, rows: int) -> None:
    wrong = [place for place in drives if not 0 <= place < n]
    if wrong:
        raise ModelError(f"there is no place {wrong[0]} for a drive: the {n} forces have 0 to {n - 1}")
    if len(set(drives)) < rows:
        raise ModelError(f"a program of {rows} rows needs as many drives, not {len(set(drives))}: give it more places")
