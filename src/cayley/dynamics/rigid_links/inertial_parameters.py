"""The ten numbers of a link in which forces are linear, as a vector, in other frames, and in other words.

    (m, ux, uy, uz, Jxx, Jxy, Jxz, Jyy, Jyz, Jzz)     the moments of `cayley.dynamics.rigid_links.moments` about the link's origin
    (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)  mass, first moment and inertia tensor about the origin, in Pinocchio's order
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.dynamics.rigid_links.moments import Moments

MOMENT_NAMES = ("m", "ux", "uy", "uz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")
_ROWS, _COLUMNS = np.triu_indices(3)
_PINOCCHIO = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))


def vector_from_moments(moments: Moments) -> np.ndarray:
    """The ten numbers (10) of a link."""
    return np.array([moments.mass, *moments.first, *np.asarray(moments.second)[_ROWS, _COLUMNS]])


def moments_from_vector(ten: Any) -> Moments:
    """
    >>> moments_from_vector(np.arange(10.0)).second[0]
    array([4., 5., 6.])
    """
    second = np.empty((3, 3), dtype=np.asarray(ten).dtype)
    second[_ROWS, _COLUMNS] = ten[4:]
    second[_COLUMNS, _ROWS] = ten[4:]
    return Moments(ten[0], ten[1:4], second)


def moved(R: Any, p: Any) -> np.ndarray:
    """The matrix (10, 10) that takes the ten numbers into a frame in which the old one has the axes `R` and the origin
    `p`.

    >>> moved(np.eye(3), np.array([0.5, 0.0, 0.0]))[:, 0]
    array([1.  , 0.5 , 0.  , 0.  , 0.25, 0.  , 0.  , 0.  , 0.  , 0.  ])
    """
    return np.stack(
        [vector_from_moments(moments_from_vector(unit).seen_from(R, p)) for unit in np.eye(10, dtype=R.dtype)], axis=1)


def inertia_vector_from_moments(moments: Moments) -> np.ndarray:
    """(m, mc, I about the origin) (10) in the order of Pinocchio's dynamic parameters."""
    I = moments.inertia
    return np.array([moments.mass, *moments.first, *[I[place] for place in _PINOCCHIO]])


def moments_from_inertia_vector(ten: Any) -> Moments:
    """The moments of a link from (m, mc, I about the origin).

    >>> moments_from_inertia_vector([2.0, 0, 0, 0, 5.0, 0, 4.0, 0, 0, 3.0]).second.diagonal()
    array([1., 2., 3.])
    """
    I = np.zeros((3, 3))
    for value, (row, column) in zip(ten[4:], _PINOCCHIO, strict=True):
        I[row, column] = I[column, row] = value
    return Moments(ten[0], np.asarray(ten[1:4]), np.trace(I) / 2 * np.eye(3) - I)


MOMENTS_FROM_INERTIA = np.stack([vector_from_moments(moments_from_inertia_vector(unit)) for unit in np.eye(10)], axis=1)
"""(10, 10): a block of ten columns of a regressor times this is the block for (m, mc, I)."""
