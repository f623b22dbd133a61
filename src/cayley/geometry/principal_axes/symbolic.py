"""Diagonalization of a symmetric 3x3 matrix in letters: every step of the two levels as expressions of SymPy.

    x        a root of the cubic P, whose coefficients are of degree three in the entries
    z        -v1 +- sqrt(v1^2 + 1 + x^2), v1 = (a23 x^2 + (a22 - a33) x - a23)/(a13 - a12 x)
    u        a root of u^4 - 2 a u^3 - 6 u^2 + 2 a u + 1, a = (b33 - b22)/b23, in radicals
    c        <(x, 0, z), (u, 0, 0)>: O(c)^T A O(c) is diagonal
The inertia matrix of an arm of three joints may be A, as well as that of a point mass, for which P vanishes, x is zero
and everything is closed. Numbers are better given to `diagonalize`, which keeps their digits. Source: Mladenova 5.2 to
5.5, (168)-(197), corrected as in spec R-37 to R-39, E-34 to E-38a.

The inertia of a point mass: for a mass m at (xi, eta, zeta), with r^2 = xi^2 + eta^2 and rho^2 = r^2 + zeta^2, two
eigenvalues coincide, so x is free and zero: z+- = (eta +- r)/xi, then u1..u4. Written with half angles, nothing divides
by xi, zeta or r. Source: Mladenova 5.5.1, (191)-(197), the order of the diagonal as in spec E-38a."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.algebras.packages import SYMPY
from cayley.compiler.algebras.protocol import package
from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.principal_axes.dialytic import elimination_cubic, elimination_quartic
from cayley.geometry.rotations.homogeneous import compose_homogeneous
from cayley.geometry.tensors.checks import refuse_where

if TYPE_CHECKING:
    from sympy import Expr, Matrix, Symbol


@dataclass(frozen=True)
class SymbolicDiagonalization:
    """The steps for a matrix A (3, 3) of expressions, with x for a root of the cubic."""

    A: Matrix
    x: Symbol

    @cached_property
    def cubic(self) -> tuple[Expr, ...]:
        """P(x), highest power first, (179): its roots are quotients of components of eigenvectors, so they are real."""
        return tuple(elimination_cubic.evaluate(SYMPY, self._array))

    @cached_property
    def quartic(self) -> tuple[Expr, ...]:
        """The coefficients of Q(x), (180), a sum of squares: it adds no solution."""
        return tuple(elimination_quartic.evaluate(SYMPY, self._array))

    @cached_property
    def z(self) -> tuple[Expr, Expr]:
        """The two z that go with x."""
        sympy = package("sympy")
        A = self.A
        v1 = (A[1, 2] * self.x**2 + (A[1, 1] - A[2, 2]) * self.x - A[1, 2]) / (A[0, 2] - A[0, 1] * self.x)
        root = sympy.sqrt(v1**2 + 1 + self.x**2)
        return -v1 + root, -v1 - root

    def rotated(self, z: Expr) -> Matrix:
        """B = O^T A O of the rotation (x, 0, z): b12 and b13 vanish where x and z are roots."""
        O = _rotation(package("sympy").Matrix([self.x, 0, z]))
        return O.T * self.A * O

    def vector_parameters(self, z: Expr) -> list[Matrix]:
        """c of the four rotations that go with x and one z; infinite where they are half-turns."""
        sympy = package("sympy")
        B = self.rotated(z)
        return [_composed(sympy.Matrix([self.x, 0, z]), sympy.Matrix([u, 0, 0]))
                for u in second_level_radicals((B[2, 2] - B[1, 1]) / B[1, 2])]

    @property
    def _array(self) -> np.ndarray:
        return np.array(self.A.tolist(), dtype=object)


def symbolic_diagonalization(A: Matrix | None = None) -> SymbolicDiagonalization:
    """The steps of the diagonalization of a symmetric matrix of expressions; of letters a11, a12, ... if none is given.

    >>> import sympy
    >>> steps = symbolic_diagonalization(sympy.Matrix([[2, 1, 3], [1, -1, 2], [3, 2, 4]]))
    >>> steps.cubic   # WE-08
    (5, -25, 26, 13)
    """
    sympy = package("sympy")
    if A is None:
        A = sympy.Matrix(3, 3, lambda i, j: sympy.Symbol(f"a{min(i, j) + 1}{max(i, j) + 1}"))
    A = sympy.Matrix(A)
    if A.shape != (3, 3) or any(entry != 0 and sympy.simplify(entry) != 0 for entry in A - A.T):
        raise GeometryError(f"the matrix to diagonalize must be symmetric, (3, 3); this one is of the shape {A.shape}"
                            f"{'' if A.shape != (3, 3) else ', and not symmetric'}")
    x = sympy.Symbol("x", real=True)
    while x in A.free_symbols:
        x = sympy.Symbol(f"{x}_", real=True)
    return SymbolicDiagonalization(A, x)


def second_level_radicals(a: Expr) -> list[Expr]:
    """The four roots u of (184), (185)-(188). For numbers beyond 1e6 they lose their digits: take `second_level_roots`.
    """
    sympy = package("sympy")
    M = sympy.sqrt(a**2 + 4)
    return [(a + sign * M + other * sympy.sqrt(2 * (M**2 + sign * a * M))) / 2
            for sign in (1, -1) for other in (-1, 1)]


class PointMassSteps(NamedTuple):
    """Quantities that diagonalize the inertia of a point mass: z of the first level, u1 to u4 of the second, and c."""

    inertia: Matrix
    z: Expr
    u: tuple[Expr, Expr, Expr, Expr]
    c: tuple[Matrix, Matrix, Matrix, Matrix]


def symbolic_point_mass(m: Expr, xi: Expr, eta: Expr, zeta: Expr, sign: int = 1) -> PointMassSteps:
    """The steps for a mass m at (xi, eta, zeta), none of which is zero, with the upper or lower sign: (191)-(197).

    >>> import sympy
    >>> symbolic_point_mass(1, 1, 2, 2).u[0]
    sqrt(5)/5
    """
    sympy = package("sympy")
    if sign not in (1, -1) or any(sympy.sympify(value) == 0 for value in (xi, eta, zeta)):
        raise GeometryError("the signs are 1 and -1, and a mass in a plane of coordinates needs fewer steps: give it "
                            "to `point_mass_rotations`, which takes every place")
    position = sympy.Matrix([xi, eta, zeta])
    inertia = m * (position.dot(position) * sympy.eye(3) - position * position.T)
    r = sympy.sqrt(xi**2 + eta**2)
    rho = sympy.sqrt(xi**2 + eta**2 + zeta**2)
    z = (eta + sign * r) / xi
    u = (-sign * (zeta - rho) / r, sign * (r + rho) / zeta, -sign * (zeta + rho) / r, sign * (r - rho) / zeta)
    u1, u2, u3, u4 = (sympy.expand(each) for each in u)
    return PointMassSteps(inertia, z, (u1, u2, u3, u4),
                          tuple(sympy.Matrix([each, each * z, z]) for each in (u1, u2, u3, u4)))


def _rotation(c: Matrix) -> Matrix:
    sympy = package("sympy")
    hat = sympy.Matrix([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    return ((1 - c.dot(c)) * sympy.eye(3) + 2 * c * c.T + 2 * hat) / (1 + c.dot(c))


def _composed(a: Matrix, b: Matrix) -> Matrix:
    return (a + b + a.cross(b)) / (1 - a.dot(b))


class PointMassRotations(NamedTuple):
    """Unit homogeneous [w : v]; the first axis is the sign of z, + then -."""

    first: Array
    """(2, 4): the rotations (0, 0, z+-), z = first[:, 3] / first[:, 0]."""
    second: Array
    """(2, 4, 4): the rotations (u_i, 0, 0), i = 1..4 along the second axis, u = second[..., 1] / second[..., 0]."""
    composed: Array
    """(2, 4, 4): c = (u, u z, z), the diagonalizing rotations."""
    values: Array
    """(2, 4, 3): the diagonal, m rho^2 times (1, 1, 0) for odd i and (1, 0, 1) for even i."""


def _check_mass(mass: ArrayLike, _: ArrayLike) -> None:
    refuse_where(np.asarray(mass) < 0, "the point mass is {defect:g} kg{element}: no mass is negative", mass)


@kernel("(),(3)->(2,4),(2,4,4),(2,4,4),(2,4,3)", check=_check_mass)
def point_mass_rotations(mass: Scalar, position: Array) -> PointMassRotations:
    """The eight rotations that diagonalize the inertia matrix of a point mass [kg] at a position [m].

    xi = 0, zeta = 0 and a mass on the third axis or in the origin are nothing special: some rotations are then
    half-turns or the identity.

    >>> point_mass_rotations(1.0, [1.0, 2.0, 2.0]).values[0, 0].round(12)   # WE-09
    array([9., 9., 0.])
    """
    xi, eta, zeta = position
    r = np.hypot(xi, eta)
    phi = np.arctan2(xi, eta) / 2
    chi = np.arctan2(r, zeta) / 2
    c, s = np.cos(phi), np.sin(phi)
    zero = 0 * mass
    first = np.array([[s, zero, zero, c], [c, zero, zero, -s]])
    steps = np.array([0.0, 1.0, 2.0, -1.0]) * np.pi / 4
    second = [[np.stack([np.cos(chi + step), sign * np.sin(chi + step), zero, zero]) for step in steps]
              for sign in (1, -1)]
    composed = [[compose_homogeneous(first[k], second[k][i]) for i in range(4)] for k in range(2)]
    large = mass * (r * r + zeta * zeta)
    odd, even = np.stack([large, large, zero]), np.stack([large, zero, large])
    values = [[odd, even, odd, even] for _ in range(2)]
    return PointMassRotations(first, np.stack([np.stack(row) for row in second]),
                              np.stack([np.stack(row) for row in composed]),
                              np.stack([np.stack(row) for row in values]))
