"""Lie groups by their laws of composition, Lie algebras by their brackets, and whether they are what they claim to be.

    group:    (a b) c = a (b c),   a e = e a = a,   a a^-1 = a^-1 a = e
    algebra:  [Ei, Ej] = sum_k c_ijk Ek,   c_ijk = -c_jik,   [[a, b], c] + [[b, c], a] + [[c, a], b] = 0
The algebra of a group is that of its left-invariant fields, c_ijk = d2 (a b)_k / da_i db_j - d2 (a b)_k / da_j db_i at
the identity. Source: Mladenova 7.5, appendix, spec S0-56.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Text
from cayley.errors import ModelError, SignatureError

_CLOSED = 1e-9


@dataclass(frozen=True, eq=False)
class LieGroup(HoldsFunctions):
    """A group of coordinates (n) with the law `product(a, b)`, the `identity` (n) and the law `inverse(a)`.

    >>> affine = LieGroup(lambda a, b: [a[0] * b[0], a[0] * b[1] + a[1]], [1.0, 0.0],
    ...                   lambda a: [1 / a[0], -a[1] / a[0]])
    >>> affine.axioms([[2.0, 0.3], [0.5, 1.0], [1.5, -2.0]]).max() < 1e-15
    np.True_
    >>> affine.structure_constants[0, 1]
    array([0., 1.])
    """

    product: Text
    identity: FieldArray
    inverse: Text

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", np.asarray(self.identity, dtype=float))
        if self.identity.ndim != 1:
            raise SignatureError(f"the identity of a group has n coordinates, not the shape {self.identity.shape}")

    @cached_property
    def compose(self) -> Kernel:
        """`compose(a, b)`: the product (..., n)."""
        return kernel("(n),(n)->(n)", inputs=("a", "b"), name="product")(self.product)

    @cached_property
    def invert(self) -> Kernel:
        """`invert(a)`: the inverse (..., n)."""
        return kernel("(n)->(n)", inputs=("a",), name="inverse")(self.inverse)

    def axioms(self, elements: ArrayLike) -> Array:
        """By how much the axioms fail (3) for elements (k, n), in all their orders: associativity, identity, inverse;
        not a number if a product is not there."""
        each = np.asarray(elements, dtype=float).reshape(-1, len(self.identity))
        e = self.identity
        a, b, c = each[:, None, None], each[None, :, None], each[None, None, :]
        product = self.compose
        inverse = self.invert(each)
        return np.array([
            _largest(product(product(a, b), c) - product(a, product(b, c))),
            _largest(product(each, e) - each, product(e, each) - each),
            _largest(product(each, inverse) - e, product(inverse, each) - e)])

    @cached_property
    def structure_constants(self) -> Array:
        """c (n, n, n) of the algebra of the group: [Ei, Ej] = sum_k c_ijk Ek."""
        mixed = self.compose.jacobian("b").jacobian("a")(self.identity, self.identity)  # (k, j, i)
        second = np.transpose(mixed, (2, 1, 0))
        return np.asarray(second - np.transpose(second, (1, 0, 2)))


def structure_constants(basis: ArrayLike) -> Array:
    """c (m, m, m) of matrices (m, k, k) with the commutator as bracket. `ModelError` if they are dependent, or if a
    commutator is no combination of them: they are the basis of no algebra.

    >>> turns = np.cross(np.eye(3)[:, None], np.eye(3)[None]).transpose(0, 2, 1)
    >>> structure_constants(turns)[0, 1]
    array([0., 0., 1.])
    """
    E = np.asarray(basis, dtype=float)
    if E.ndim != 3 or E.shape[1] != E.shape[2] or not np.isfinite(E).all():
        raise SignatureError(f"a basis of matrices has the shape (m, k, k), not {E.shape}")
    columns = E.reshape(len(E), -1).T
    if np.linalg.matrix_rank(columns) < len(E):
        raise ModelError("the matrices are dependent: they are the basis of no algebra")
    brackets = E[:, None] @ E[None] - E[None] @ E[:, None]
    flat = brackets.reshape(len(E) ** 2, -1).T
    found = np.linalg.lstsq(columns, flat, rcond=None)[0]
    left = np.abs(columns @ found - flat).max(axis=0, initial=0.0).reshape(len(E), len(E))
    if (left > _CLOSED * max(1.0, float(np.abs(flat).max(initial=0.0)))).any():
        i, j = np.unravel_index(int(left.argmax()), left.shape)
        raise ModelError(f"the commutator of matrices {i} and {j} is no combination of the basis: it is no algebra")
    return np.round(found.T.reshape(len(E), len(E), len(E)), 15) + 0.0


def algebra_axioms(c: ArrayLike) -> Array:
    """By how much structure constants (n, n, n) fail the axioms (2): antisymmetry, Jacobi's identity.

    >>> algebra_axioms(2 * np.cross(np.eye(3)[:, None], np.eye(3)[None]))
    array([0., 0.])
    """
    given = np.asarray(c, dtype=float)
    nested = np.einsum("ijl,lkm->ijkm", given, given)
    jacobi = nested + np.transpose(nested, (1, 2, 0, 3)) + np.transpose(nested, (2, 0, 1, 3))
    return np.array([_largest(given + np.transpose(given, (1, 0, 2))), _largest(jacobi)])


def _largest(*differences: Array) -> float:
    return max(float(np.abs(difference).max(initial=0.0)) for difference in differences)
