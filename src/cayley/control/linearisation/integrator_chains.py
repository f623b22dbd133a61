"""Pole placement for chains of integrators: what the outer loop of a law does that made a system one.

    y^(r) = v,   v = y_d^(r) + k(r-1) (y_d^(r-1) - y^(r-1)) + ... + k0 (y_d - y)
The error then obeys e^(r) + k(r-1) e^(r-1) + ... + k0 e = 0, whose roots are the poles. Source: Mladenova 7.4.2, spec
R-54.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import numbers_of
from cayley.errors import SignatureError
from cayley.wording import shown

_CONJUGATE = 1e-9  # of the largest coefficient


def chain_gains(poles: ArrayLike, length: int, chains: int) -> Array:
    """k0 .. k(r-1) of each chain (r, chains), for `length` poles r for all chains, or (chains, r).

    >>> chain_gains([-5.0, -5.0, -5.0, -5.0], 4, 1)[:, 0]
    array([625., 500., 150., 20.])
    """
    given = numbers_of(poles, "poles", complex)
    if given.ndim not in (1, 2) or given.shape[-1:] != (length,) or given.shape[:-1] not in ((), (chains,)):
        raise SignatureError(f"the poles of {chains} chains of {length} integrators are {length} numbers, or "
                             f"({chains}, {length}), not {shown(poles)}")
    if not np.isfinite(given).all() or not (given.real < 0).all():
        raise SignatureError(f"poles must have negative real parts, or errors would not die out: {shown(poles)}")
    rows = np.broadcast_to(given, (chains, length))
    coefficients = [np.poly(row) for row in rows]
    for row, polynomial in zip(rows, coefficients, strict=True):
        if np.abs(np.imag(polynomial)).max() > _CONJUGATE * np.abs(polynomial).max():
            raise SignatureError(f"complex poles come in conjugate pairs: {shown(row)}")
    return np.stack([np.real(polynomial)[:0:-1] for polynomial in coefficients], axis=1)
