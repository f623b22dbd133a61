"""The principal axes of an inertia matrix of any size, and how they turn as it changes.

    O    (n, n) with O^T H O diagonal, a rotation
    s    its rate in its own axes: O' = O s~,  s_ij = (O^T H' O)_ij / (h_j - h_i), h the principal inertias
Of a matrix (3, 3) the axes are found in closed form, by vector-parameters; of others by LAPACK. They are ordered and
signed as those that are given as `near`, so that they follow a motion. Where principal inertias coincide the axes are
not determined, and where they cross O is not continuous. Refused, as the coordinates O^T q need it; or carried: axes of
one inertia are those nearest to `near` in their common plane, and do not turn in it, which leaves H diagonal and O
smooth at that instant, and is all that quasi-velocities need. Sources: Mladenova 5.2-5.5, spec R-41, S0-86.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from cayley.geometry.principal_axes.diagonalization import diagonalizing_rotations

CLOSEST = 1e-9  # principal inertias nearer than this, relative to the largest, are refused
SAME = 1e-12  # and nearer than this, they are the same


@dataclass(frozen=True)
class PrincipalAxes:
    """How the principal axes of an inertia matrix (n, n) stand and move."""

    axes: Array
    """O (n, n), a rotation; its columns are the axes."""
    inertias: Array
    """The diagonal (n) of Hd = O^T H O."""
    spin: Array
    """O^T O' (n, n), skew."""
    spin_rate: Array | None = None
    """Its derivative by time (n, n), skew; if the second derivative of H was given."""

    @property
    def second_rate(self) -> Array:
        """O^T O'' (n, n)."""
        if self.spin_rate is None:
            raise UnsupportedError(
                "the second rate of the principal axes needs the second derivative of the inertia matrix by time")
        return self.spin_rate + self.spin @ self.spin


def principal_axes_of(H: ArrayLike, dH: ArrayLike, ddH: Array | None = None, *, near: Array | None = None,
                      carried: bool = False) -> PrincipalAxes:
    """The principal axes of H (n, n), and how they move when H changes at the rate `dH`, and that at the rate `ddH`.

    `carried`: inertias that coincide share their axes, as above; otherwise `SingularityError`.

    >>> found = principal_axes_of(np.diag([1.0, 2.0, 2.0, 5.0]), np.ones((4, 4)), carried=True)
    >>> found.inertias, found.spin[1]
    (array([1., 2., 2., 5.]), array([-1.        ,  0.        ,  0.        ,  0.33333333]))
    """
    given = np.asarray(H, dtype=float)
    wanted = np.eye(len(given)) if near is None else np.asarray(near, dtype=float)
    if wanted.shape != given.shape or not np.isfinite(wanted).all():
        raise SignatureError(f"axes to follow are finite numbers {given.shape}, such as the axes of the instant "
                             f"before, and near is {wanted}")
    ordered = np.linalg.eigvalsh(given)
    if same_as_before(ordered, CLOSEST).any() and not carried:
        raise SingularityError(
            f"two of the principal inertias {np.array2string(ordered, precision=9)} coincide: their axes are not "
            "defined here, and not continuous along the motion. Pass this state in another way, or use the coupled "
            "equations")
    equal = same_as_before(ordered)
    O = _closed_form(given, wanted) if len(given) == 3 and not equal.any() else _following(given, wanted)
    values = np.diag(O.T @ given @ O)
    gaps = values[None, :] - values[:, None]
    apart = np.abs(gaps) > SAME * np.abs(values).max(initial=0.0)
    gaps = np.where(apart, gaps, 1.0)
    B = O.T @ dH @ O
    spin = np.where(apart, B, 0.0) / gaps
    if ddH is None:
        return PrincipalAxes(O, values, spin)
    if equal.any():
        raise UnsupportedError("the second rate of principal axes is not determined where inertias coincide")
    dB = O.T @ ddH @ O + B @ spin - spin @ B
    dgaps = B.diagonal()[None, :] - B.diagonal()[:, None]
    return PrincipalAxes(O, values, spin, np.where(apart, dB - spin * dgaps, 0.0) / gaps)


def same_as_before(ordered: Array, within: float = SAME) -> Array:
    """Which (n - 1) of ordered inertias (n), from the second on, are those before them."""
    return np.diff(ordered) <= within * np.abs(ordered).max(initial=0.0)


def _closed_form(H: Array, near: Array) -> Array:
    """Of the 24 rotations that diagonalize H (3, 3), the nearest."""
    every = diagonalizing_rotations(H)
    return every.matrix[int(np.argmax(np.einsum("kij,ij->k", every.matrix, near)))]


def _following(H: Array, near: Array) -> Array:
    """Axes (n, n) of H, each in the place and with the sign of the one of `near` that it follows; those of one inertia
    as near as their common plane lets them."""
    from scipy.optimize import linear_sum_assignment  # which nothing else here needs
    values, V = np.linalg.eigh(H)
    planes = np.split(np.arange(len(values)), np.flatnonzero(~same_as_before(values)) + 1)
    share = np.empty_like(V)
    for plane in planes:
        share[plane] = np.sum((V[:, plane].T @ near)**2, axis=0)
    places = linear_sum_assignment(-share)[1]
    O = np.empty_like(V)
    for plane in planes:
        U, _, W = np.linalg.svd(V[:, plane].T @ near[:, places[plane]])
        O[:, places[plane]] = V[:, plane] @ U @ W
    if np.linalg.det(O) < 0:
        O[:, int(np.argmin(np.abs(np.sum(O * near, axis=0))))] *= -1.0
    return O
