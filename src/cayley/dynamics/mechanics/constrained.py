"""Motion under constraints, in the ways in which books write it down; the accelerations are the same in all of them.

    M qdd + A^T lam = f,   A qdd = -drift        f (n) all forces but those of the constraints,   drift = Ad qd (h)

    augmented         both as one system of n + h equations
    multipliers       lam = S^-1 (A M^-1 f + drift),   S = A M^-1 A^T
    projection        on independent coordinates p:  qd = N pd,  A N = 0,  N^T M (N pdd + c) = N^T f
    null space        any basis N with A N = 0, by QR or by SVD:  (N^T M; A) qdd = (N^T f; -drift)
Multipliers are unique if the constraints are independent. If they are not, there is no answer (NaN), unless
`redundant=True` asks for accelerations that they allow, and for the multipliers of least norm; numbers that contradict
each other, or independent coordinates that determine nothing, raise `SingularityError`. Bases by QR and SVD are not
continuous functions of the state: they are made anew for each, and nothing is differentiated.
Source: Ruggiu (4.15)-(4.31), corrected as in spec E-07."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.definite import is_definite, only_where, rows_are_independent
from cayley.compiler.solving.linear import ldl, ldl_solve, solve_lower, solve_lower_transposed
from cayley.compiler.solving.null_space import null_space as null_space_factors
from cayley.compiler.solving.rounding import Scale, least_singular, rank_of, relative_rank
from cayley.compiler.solving.singular_vectors import singular_vectors
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array
from cayley.errors import ConventionError, SingularityError, did_you_mean
from cayley.showing import shown_briefly

_AGREED = 1e-7  # of the largest term of the rows: what rounding leaves of those that agree, through such values


@shown_briefly
class ConstrainedMotion(NamedTuple):
    """Accelerations (n), and multipliers (h): the constraints push with - A^T lam."""

    qdd: Array
    lam: Array


class BlockInverse(NamedTuple):
    """The inverse of (M A^T; A 0): C11 (n, n), C12 (n, h), C22 (h, h), C21 being C12^T."""

    C11: Array
    C12: Array
    C22: Array

    @property
    def whole(self) -> Array:
        """(n + h, n + h)."""
        return np.block([[self.C11, self.C12], [self.C12.T, self.C22]])


def augmented(M: Array, f: Array, A: Array, drift: Array, *, redundant: bool = False,
              scale: Scale | None = None) -> ConstrainedMotion:
    """The motion by the system of n + h equations. (4.20). The `scale` is what rows and velocities are measured in.

    >>> augmented(np.eye(2), np.array([3.0, 4.0]), np.array([[0.0, 1.0]]), np.zeros(1))
    ConstrainedMotion(qdd=[3, 0], lam=[4])
    """
    n = len(M)
    if redundant:
        h = len(A)
        whole = wrapped(np.block([[M, A.T], [A, np.zeros((h, h))]]))
        found = np.linalg.pinv(whole) @ np.concatenate([f, -drift])
    else:
        found = _augmented(M, f, A, drift, scale)
    motion = ConstrainedMotion(found[:n], found[n:])
    return _agreed(motion, A, drift) if redundant else motion


def _augmented(M: Array, f: Array, A: Array, drift: Array, scale: Scale | None) -> Array:
    """Accelerations and multipliers (n + h) as one system. A multiple of A^T A is added to M, and that of -A^T drift to
    f, which changes nothing of the solution: then the first n pivots are positive and the others negative, from the
    last velocity inwards, and no rows need be exchanged."""
    n = len(M)
    h = len(A)
    weight = sum(M[k][k] for k in range(n)) / sum(entry * entry for row in A for entry in row) if h else 0.0
    H = (M + weight * (A.T @ A))[::-1, ::-1]
    across = A[:, ::-1]
    whole = np.block([[H, across.T], [across, np.zeros((h, h))]])
    right = np.concatenate([(f - weight * (A.T @ drift))[::-1], -drift])
    with np.errstate(all="ignore"):
        there = is_definite(H) & rows_are_independent(A, scale)
        found = only_where(there, ldl_solve(wrapped(whole), right))
    return np.concatenate([found[:n][::-1], found[n:]])


def multipliers(M: Array, f: Array, A: Array, drift: Array, *, redundant: bool = False,
                solve: Callable[[Array, Array], Array] | None = None,
                scale: Scale | None = None) -> ConstrainedMotion:
    """The motion by the multipliers, which are found first, with one half of M = L D L^T: S = (L^-1 A^T)^T D^-1 (L^-1
    A^T). (4.21), (4.22). `solve(S, rest)` may be another way to solve S lam = rest; the `scale` is what rows and
    velocities are measured in."""
    L, pivots = ldl(M)
    yielded = np.stack(solve_lower(L, A.T))
    free = np.stack(solve_lower(L, f))
    scaled = np.stack([row / pivot for row, pivot in zip(yielded, pivots, strict=True)])
    S = scaled.T @ yielded
    rest = scaled.T @ free + drift
    lam = (solve or (_shortest if redundant else partial(_unique, A, scale)))(S, rest)
    moved = [entry / pivot for entry, pivot in zip(free - yielded @ lam, pivots, strict=True)]
    motion = ConstrainedMotion(np.stack(solve_lower_transposed(L, moved)), lam)
    return _agreed(motion, A, drift) if redundant else motion


def _agreed(motion: ConstrainedMotion, A: Array, drift: Array) -> ConstrainedMotion:
    """The same, if its accelerations are what all constraints say; symbols are as they are."""
    if motion.qdd.dtype == object or not np.isfinite(motion.qdd).all():
        return motion
    left = np.abs(A @ motion.qdd + drift)
    terms = np.abs(np.concatenate([(A * motion.qdd).ravel(), drift]))
    if left.max(initial=0.0) > _AGREED * terms.max(initial=0.0):
        raise SingularityError(f"the constraints contradict each other at this state: row {int(left.argmax()) + 1} of "
                               f"A qdd = -drift cannot be met with the others, and is missed by {left.max():.3g}")
    return motion


def _unique(A: Array, scale: Scale | None, S: Array, rest: Array) -> Array:
    return only_where(rows_are_independent(A, scale, S), ldl_solve(S, rest))


def _shortest(S: Array, rest: Array) -> Array:
    return np.linalg.pinv(wrapped(S), least_singular(len(S))) @ rest


def projection(M: Array, f: Array, A: Array, drift: Array, *, independent: Sequence[int],
               scale: Scale | None = None) -> ConstrainedMotion:
    """The motion by independent coordinates, given by their places; (4.23)-(4.29). A bad choice, of coordinates that
    the others do not follow here, gives infinity or NaN, and `SingularityError` for numbers: see `check_independent`.
    """
    N, c = basis_of_coordinates(A, drift, independent)
    pdd = ldl_solve(N.T @ M @ N, N.T @ (f - M @ c))
    qdd = N @ pdd + c
    found = ConstrainedMotion(qdd, ldl_solve(A @ A.T, A @ (f - M @ qdd)))
    if scale is None:
        return found
    others = [k for k in range(len(M)) if k not in set(independent)]
    there = rows_are_independent(A[:, others], Scale(scale.sizes, scale.lengths[others]))
    return ConstrainedMotion(only_where(there, found.qdd), only_where(there, found.lam))


def null_space(M: Array, f: Array, A: Array, drift: Array, *, basis: str = "qr") -> ConstrainedMotion:
    """The motion by a basis of the velocities that the constraints allow, from QR or SVD of A^T; for numbers. (4.30),
    (4.31). Redundant constraints are no trouble if they agree; their multipliers are those of least norm."""
    if basis not in ("qr", "svd"):
        raise ConventionError(f"the basis must be \"qr\" or \"svd\", not {basis!r}")
    scale = Scale(np.full(len(A), np.linalg.norm(A, 2) if A.size else 1.0), np.ones(len(M)))
    found = null_space_of_rank(M, f, A, drift, rank=int(rank_of(scale.of(A))), basis=basis, scale=scale)
    return _agreed(found._replace(lam=np.linalg.pinv(A.T) @ (f - M @ found.qdd)), A, drift)


def null_space_of_rank(M: Array, f: Array, A: Array, drift: Array, *, rank: int, basis: str = "qr",
                       scale: Scale | None = None) -> ConstrainedMotion:
    """The same for numbers and for symbols, of constraints whose rank is known:

        qdd = N y + c,   c the shortest with A c = -drift,   N^T M N y = N^T (f - M c)
    NaN where the rank is less; of rows that depend on others the multipliers are one choice of many, by SVD that of
    least norm. Links without mass that the constraints hold are no trouble. The `scale` is what rows and velocities are
    measured in."""
    if basis != "qr" and scale is not None:
        across = np.outer(scale.lengths, scale.lengths)
        found = null_space_of_rank(across * M, scale.lengths * f, scale.of(A), drift / scale.sizes, rank=rank,
                                   basis=basis)
        return ConstrainedMotion(scale.lengths * found.qdd, found.lam / scale.sizes)
    factors = null_space_factors(A, rank, scale) if basis == "qr" else singular_vectors(A, rank)
    N = factors.basis
    c = factors.shortest(-drift)
    own = N.T @ M @ N
    qdd = c + N @ ldl_solve(own, N.T @ (f - M @ c))
    there = factors.is_full & is_definite(own)
    return ConstrainedMotion(only_where(there, qdd), only_where(there, factors.coefficients(f - M @ qdd)))


def block_inverse(M: Array, A: Array, scale: Scale | None = None) -> BlockInverse:
    """The inverse of the matrix of `augmented`, by blocks. (4.22), with the signs of spec E-07. NaN where the
    constraints depend on each other; M must be regular. It is eliminated from the last velocity inwards."""
    n = len(M)
    found = wrapped(ldl_solve(M[::-1, ::-1], np.concatenate([np.eye(n), A[:, ::-1].T], axis=1)))[::-1]
    inverse = found[:, :n][:, ::-1]
    yielded = found[:, n:]
    S = A @ yielded
    there = rows_are_independent(A, scale, S)
    stiffness = _mirrored(ldl_solve(S, np.eye(len(A))))
    C12 = yielded @ stiffness
    return BlockInverse(only_where(there, _mirrored(inverse - C12 @ yielded.T)), only_where(there, C12),
                        only_where(there, -stiffness))


def _mirrored(full: Array) -> Array:
    n = len(full)
    rows = [[full[max(i, j), min(i, j)] for j in range(n)] for i in range(n)]
    return wrapped(np.array(rows).reshape(n, n))


def unit_accelerations(M: Array, A: Array, *, rank: int, scale: Scale | None = None) -> Array:
    """C11 of the block inverse alone, N (N^T M N)^-1 N^T: what unit forces do to the accelerations."""
    factors = null_space_factors(A, rank, scale)
    N = factors.basis
    own = N.T @ M @ N
    return only_where(factors.is_full & is_definite(own), N @ ldl_solve(own, N.T))


def block_inverse_of_rank(M: Array, A: Array, *, rank: int, scale: Scale | None = None) -> BlockInverse:
    """The same by the null space, of constraints whose rank is known; links without mass that the constraints hold are
    no trouble. Of dependent rows it is an inverse for right-hand sides that they agree on; NaN where the rank is less.
    """
    factors = null_space_factors(A, rank, scale)
    N = factors.basis
    own = N.T @ M @ N
    there = factors.is_full & is_definite(own)
    C11 = N @ ldl_solve(own, N.T)
    across = factors.pseudo_inverse
    C12 = across - C11 @ (M @ across)
    return BlockInverse(only_where(there, C11), only_where(there, C12), only_where(there, -across.T @ (M @ C12)))


def basis_of_coordinates(A: Array, drift: Array, independent: Sequence[int]) -> tuple[Array, Array]:
    """N (n, n - h) and c (n): qd = N pd and qdd = N pdd + c for the coordinates p at the places `independent`."""
    n = A.shape[1]
    others = [k for k in range(n) if k not in set(independent)]
    if len(others) != len(A):
        raise ConventionError(
            f"{n} coordinates and {len(A)} constraints leave {n - len(A)} independent coordinates, not "
            f"{len(list(independent))}; choose as many")
    if A.dtype != object and np.isfinite(A).all():
        check_independent(A, independent)
    followed = np.linalg.solve(wrapped(A[:, others]), np.concatenate([-A[:, list(independent)], -drift[:, None]],
                                                                     axis=1))
    whole = np.concatenate([np.eye(len(independent), len(independent) + 1), followed])
    order = np.argsort([*independent, *others])
    return whole[order, :-1], whole[order, -1]


def check_independent(A: Array, independent: Sequence[int], names: Sequence[str] | None = None) -> None:
    """Refuse coordinates that the others do not follow at a state: their part of A (h, n) is singular there."""
    others = [k for k in range(A.shape[1]) if k not in set(independent)]
    if relative_rank(A[:, others], tolerance=least_singular(A.shape[1])) < len(others):
        chosen = ", ".join(names[k] if names else f"q{k + 1}" for k in independent)
        raise SingularityError(
            f"the coordinates {chosen} do not determine the others at this state (a dead centre): choose "
            "other independent coordinates, or the augmented form")


FORMULATIONS: dict[str, Callable[..., ConstrainedMotion]] = {
    "augmented": augmented, "multipliers": multipliers, "projection": projection, "null space": null_space}


def constrained_motion(M: Array, f: Array, A: Array, drift: Array, *, formulation: str = "multipliers",
                       independent: Sequence[int] | None = None, redundant: bool = False) -> ConstrainedMotion:
    """Accelerations and multipliers by one of `FORMULATIONS`; `independent` for "projection" alone."""
    if formulation not in FORMULATIONS:
        raise ConventionError(f"there is no formulation {formulation!r}{did_you_mean(formulation, FORMULATIONS)}")
    if formulation == "projection":
        if independent is None:
            raise ConventionError("projection needs the places of the independent coordinates: independent=[0]")
        return projection(M, f, A, drift, independent=independent)
    if formulation == "null space":
        return null_space(M, f, A, drift)
    return FORMULATIONS[formulation](M, f, A, drift, redundant=redundant)
