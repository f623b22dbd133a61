"""Checks of tensors and vectors. A failed check names the element of the batch, the size of the defect, and
the way out.

Sizes are relative: a component array is symmetric or skew if it is so within the tolerance (`cayley.geometry.batch`) of
its largest entry."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import CayleyError, GeometryError
from cayley.geometry.batch import tolerance_of


def is_rounding(defect: Array, array: Array, size: Array) -> Array:
    """True if a defect is no more than rounding of numbers of that size, and not NaN."""
    return defect <= tolerance_of(array) * size + np.finfo(np.float64).tiny


def check_symmetric(T: ArrayLike) -> None:
    """Raise if one of the component arrays (..., n, n) is not symmetric."""
    T = check_square(T)
    _refuse(np.abs(T - np.swapaxes(T, -1, -2)).max(axis=(-2, -1)), T, "not symmetric: T - T^T reaches {defect:.3g}",
            "take symmetric_part(T) if that is what you mean")


def check_skew(T: ArrayLike) -> None:
    """Raise if one of the component arrays (..., n, n) is not skew-symmetric."""
    T = check_square(T)
    _refuse(np.abs(T + np.swapaxes(T, -1, -2)).max(axis=(-2, -1)), T, "not skew: T + T^T reaches {defect:.3g}",
            "vee(T) is the vector of the skew part of any tensor")


def check_unit_vector(e: ArrayLike) -> None:
    """Raise if one of the vectors (..., n) does not have length 1."""
    e = np.asarray(e)
    if e.ndim < 1:
        raise GeometryError(f"a direction must have shape (..., n), not {e.shape}")
    defect = np.abs(np.sqrt(np.sum(np.square(e, dtype=np.float64), axis=-1)) - 1)
    refuse_where(
        ~(defect <= tolerance_of(e)), "a direction is not a unit vector{element}: its length is off by {defect:.3g}; "
        "unit_vector(e) normalises it", defect)


def check_orthogonal(Q: ArrayLike) -> None:
    """Raise if one of the matrices (..., n, n) is not orthogonal; reflections are."""
    Q = check_square(Q)
    defect = np.abs(np.swapaxes(Q, -1, -2) @ Q - np.eye(Q.shape[-1])).max(axis=(-2, -1))
    refuse_where(
        ~(defect <= tolerance_of(Q)),
        "a matrix is not orthogonal{element}: Q^T Q - 1 reaches {defect:.3g}; if it drifted away "
        "from a rotation, nearest_rotation brings it back", defect)


def check_change_of_frame(R: ArrayLike, *_: object) -> None:
    """Raise if one of the matrices (..., n, n) is no rotation: `check_rotation_matrix` for any n."""
    check_orthogonal(R)
    R = np.asarray(R)
    determinant = np.asarray(np.linalg.det(R.astype(np.float64)))
    refuse_where(determinant < 0,
                 "a change of frame is a reflection{element}: its determinant is -1, and frames are right-handed",
                 determinant)
    refuse_where(
        np.abs(determinant - 1) > tolerance_of(R),
        "a change of frame is scaled{element}: its determinant is {defect:.9g}", determinant)


def check_square(T: ArrayLike) -> Array:
    """The component arrays (..., n, n), which must be square, of finite numbers."""
    T = np.asarray(T)
    if T.ndim < 2 or T.shape[-1] != T.shape[-2] or T.shape[-1] == 0:
        raise GeometryError(f"a tensor must have shape (..., n, n), not {T.shape}")
    unknown = ~np.isfinite(T).all(axis=(-2, -1))
    refuse_where(unknown, "a tensor has components that are NaN or infinite{element}", unknown)
    return T


def _refuse(defect: Array, array: Array, problem: str, advice: str) -> None:
    size = np.abs(array).max(axis=(-2, -1))
    refuse_where(~is_rounding(defect, array, size), f"a tensor is {problem}{{element}}; {advice}", defect)


def unit_vectors(frame: ArrayLike | None) -> Array:
    """The columns of a frame (n, n), which must be unit vectors at right angles; those of space if none is given."""
    if frame is None:
        return np.eye(3)
    e = check_square(frame).astype(float)
    off = np.abs(e.T @ e - np.eye(len(e))).max(initial=0.0) if e.ndim == 2 else np.inf
    if not off <= tolerance_of(frame):
        raise GeometryError(f"the columns of a frame are unit vectors at right angles; products of these are off by "
                            f"{off:.3g}")
    return e


def refuse_where(wrong: Array, message: str, defect: ArrayLike, error: type[CayleyError] = GeometryError) -> None:
    """Raise for the first element of the batch that is wrong; the message is formatted with `defect` and `element`."""
    if not np.any(wrong):
        return
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    element = f" at element {first if len(first) > 1 else first[0]} of the batch" if first else ""
    raise error(message.format(defect=float(np.asarray(defect)[first]), element=element))
