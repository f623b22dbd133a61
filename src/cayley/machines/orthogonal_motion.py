"""Orthogonal tensors in time, in any number of dimensions: Q' = Phi Q with a skew Phi, orthogonal to the last digit.

Q is written as reference times Cayley's transform of a skew tensor X,

    Q = R (1 - X)^-1 (1 + X),     X' = (1 + X) Phi_b (1 - X) / 2,     Phi_b = Q^T Phi Q
which is polynomial, as the vector-parameter is in space, where X = hat(c). Where X reaches the size of a quarter turn,
the reference is moved to the present Q and X starts at zero again. So Q is orthogonal whatever the error of the
integrator is. Reflections stay reflections. Source: Balafoutis & Patel (4.2.1)-(4.2.7), Theorems 4.1 and 4.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, GeometryError
from cayley.geometry.rates.centred_charts import evaluate, walk_centred
from cayley.geometry.tensors.checks import check_orthogonal, check_skew
from cayley.ordinary_equations import Rate, instants_of, integrate

Frame = Literal["world", "body"]
# of time, Q and whatever moves along: the angular velocity tensor in body axes, and the rate of the rest
Rates = Callable[[float, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class OrthogonalPath:
    """The tensors (k, n, n) at `times` (k), their angular velocity tensors Phi = Q' Q^T (k, n, n) in fixed axes, and
    how often the reference was moved."""

    times: Array
    tensors: Array
    angular_velocity: Array
    recentrings: int


def integrate_orthogonal(angular_velocity: Callable[[float], ArrayLike], start: ArrayLike, times: ArrayLike, *,
                         frame: Frame, rtol: float = 1e-11, atol: float = 1e-13) -> OrthogonalPath:
    """The orthogonal tensor (n, n) that begins as `start` at times[0] and has the angular velocity tensor
    `angular_velocity(t)` (n, n) [rad/s], skew: Phi = Q' Q^T in the fixed axes ("world"), or Q^T Q' in those that turn
    with it ("body").

    >>> spin = np.zeros((4, 4))
    >>> spin[0, 1], spin[1, 0], spin[2, 3], spin[3, 2] = -1.0, 1.0, -2.0, 2.0  # a double rotation
    >>> path = integrate_orthogonal(lambda t: spin, np.eye(4), [0.0, np.pi], frame="world")
    >>> path.tensors[-1].round(9) + 0.0
    array([[-1.,  0.,  0.,  0.],
           [ 0., -1.,  0.,  0.],
           [ 0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  1.]])
    """
    if frame not in ("world", "body"):
        raise ConventionError(f"frame={frame!r}: say whether the angular velocity is given in the 'world' or in the "
                              "'body' frame")
    Q0 = np.asarray(start, dtype=float)
    check_orthogonal(Q0)

    def own(t: float) -> Array:
        return skew_tensor(angular_velocity(t), len(Q0), f"the angular velocity at t = {t:.6g}")

    def rates(t: float, Q: Array, rest: Array) -> tuple[Array, Array]:
        Phi = own(t)
        return (Q.T @ Phi @ Q if frame == "world" else Phi), rest

    instants = instants_of(times)
    Q, _, moved = orthogonal_walk(rates, Q0, np.zeros(0), instants, rtol, atol, "the orthogonal tensor")
    given = np.stack([own(t) for t in instants])
    return OrthogonalPath(instants, Q, given if frame == "world" else Q @ given @ np.swapaxes(Q, -1, -2), moved)


def orthogonal_walk(rates: Rates, Q: Array, rest: Array, instants: Array, rtol: float, atol: float,
                    what: str) -> tuple[Array, Array, int]:
    """Q (k, n, n), what moves along with it (k, m), and how often the reference was moved, from times[0] on."""
    n = len(Q)
    above = np.triu_indices(n, 1)
    one, size = np.eye(n), len(above[0])

    def seen_from(reference: Array, z: Array) -> tuple[Array, Array, Array]:
        """X, Q and the rest: a reference holds Q and the rest, and z is X above its diagonal and what the rest grew."""
        X = skew_from(z[..., :size], n)
        turned = reference[:n * n].reshape(n, n) @ np.linalg.solve(one - X, one + X)
        return X, turned, reference[n * n:] + z[..., size:]

    def rate_from(reference: Array) -> Rate:
        def rate(t: float, z: Array) -> Array:
            X, turned, others = seen_from(reference, z)
            Phi, rest_rate = rates(t, turned, others)
            return np.concatenate([((one + X) @ Phi @ (one - X))[above] / 2, rest_rate])

        return rate

    def carried(reference: Array, z: Array) -> Array:
        _, turned, others = seen_from(reference, z)
        U, _, V = np.linalg.svd(turned)  # without the rounding of the products that made it
        return np.concatenate([(U @ V).reshape(*z.shape[:-1], n * n), others], axis=-1)

    spans = walk_centred(np.concatenate([Q.ravel(), rest]), rate_from, carried, size + len(rest), instants[0],
                         instants[-1], partial(integrate, rtol=rtol, atol=atol), what, turning=size).spans
    found = evaluate(spans, instants, what)
    return found[:, :n * n].reshape(-1, n, n), found[:, n * n:], len(spans) - 1


def skew_tensor(given: ArrayLike, n: int, what: str) -> Array:
    """A skew tensor (n, n), or in space the one of a vector (3)."""
    T = np.asarray(given, dtype=float)
    if n == 3 and T.shape == (3,):
        T = skew_from(np.array([-T[2], T[1], -T[0]]), 3)
    if T.shape != (n, n):
        raise GeometryError(f"{what} has the shape {T.shape}: a skew tensor ({n}, {n}) is needed"
                            f"{', or a vector (3)' if n == 3 else ''}")
    check_skew(T)
    return T


def skew_from(x: Array, n: int) -> Array:
    """The skew tensors (..., n, n) with these entries above their diagonals, row by row."""
    X = np.zeros((*x.shape[:-1], n, n))
    X[(..., *np.triu_indices(n, 1))] = x
    return X - np.swapaxes(X, -1, -2)
