"""Four-bars whose output turns as prescribed with the input: exact for three pairs of angles, by least squares for
more, families for fewer.

    T k = b      one row (1, cos(phi), -cos(psi)) and one entry cos(phi - psi) for each pair
With three pairs k = H / Delta, Delta = det T (corrected as in spec E-17, E-18), or by factors QR, as for more. Fewer
pairs, or pairs that say the same twice, leave a family k = k0 + N z. Source: Ruggiu (4.62)-(4.73).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError, UnreachableError
from cayley.planning.synthesis.design import FourBarDesign
from cayley.planning.synthesis.freudenstein import check_ground, check_pairs, synthesis_equations
from cayley.showing import brief

_RANK = 1e-12  # of the largest singular value
_MET = 1e-9


@kernel("(3),(3)->(3)", inputs=("psi", "phi"))
def exact_parameters(psi: Array, phi: Array) -> Array:
    """k (..., 3) of three pairs in closed form; infinite or NaN where the pairs do not determine it.

    >>> exact_parameters(np.radians([40.0, 60.0, 80.0]), np.radians([70.0, 80.0, 95.0])).round(6)
    array([1.246895, 1.181846, 1.024855])
    """
    cp = np.cos(psi)
    cf = np.cos(phi)
    d = np.cos(phi - psi)
    H2 = (cp[0] - cp[2]) * (d[1] - d[0]) + (cp[1] - cp[0]) * (d[2] - d[0])
    H3 = (cf[0] - cf[2]) * (d[1] - d[0]) + (cf[1] - cf[0]) * (d[2] - d[0])
    delta = (cf[1] - cf[0]) * (cp[0] - cp[2]) + (cp[1] - cp[0]) * (cf[2] - cf[0])
    return np.array([d[0] * delta - cf[0] * H2 + cp[0] * H3, H2, H3]) / delta


def function_generator(psi: ArrayLike, phi: ArrayLike, *, ground: float = 1.0) -> FourBarDesign:
    """The four-bar whose input and output are at the pairs psi, phi (m) [rad], with the `ground` link [m].

    Three pairs are met exactly; more as well as their equations can be, in the sense of least squares: look at
    `structural_error()`, for a small `design_error` promises nothing. Fewer, or pairs that depend on each other, leave
    a choice: see `four_bar_family`.

    >>> found = function_generator(np.radians([40.0, 60.0, 80.0]), np.radians([70.0, 80.0, 95.0]))
    >>> print(found)
    RRRR, double rocker: ground 1 m, input link 0.846134 m, coupler 0.780462 m, output link 0.975748 m
    >>> found.structural_error().largest < 1e-12, str(found.defects())
    (True, 'none')
    """
    inputs, outputs = check_pairs(psi, phi)
    if len(inputs) < 3:
        raise SignatureError(
            f"{len(inputs)} pairs do not determine a four-bar: give three or more, or choose from four_bar_family")
    T, b = synthesis_equations(inputs, outputs)
    s = np.linalg.svd(T, compute_uv=False)
    if s[2] <= _RANK * s[0]:
        raise SingularityError(_dependence(T, b, len(inputs)))
    Q, R = np.linalg.qr(T)
    return FourBarDesign(np.linalg.solve(R, Q.T @ b), check_ground(ground), inputs, outputs, float(s[0] / s[2]))


def _dependence(T: Array, b: Array, count: int) -> str:
    left = b - T @ np.linalg.lstsq(T, b, rcond=_RANK)[0]
    if np.abs(left).max() <= _MET:
        return (f"the {count} pairs depend on each other and leave a family of linkages: choose from four_bar_family, "
                "or change a pair")
    return (f"no four-bar meets the {count} pairs: their synthesis matrix is singular and their equations contradict "
            "each other; change a pair")


@dataclass(frozen=True, eq=False)
class FourBarFamily:
    """All four-bars that meet some pairs: k = `particular` (3) + `directions` (3, f) z, with f free numbers z."""

    particular: Array
    directions: Array
    ground: float
    inputs: Array
    outputs: Array

    __repr__ = brief

    @property
    def freedom(self) -> int:
        return self.directions.shape[1]

    def member(self, z: ArrayLike) -> FourBarDesign:
        """The linkage of free numbers z (f)."""
        chosen = np.atleast_1d(np.asarray(z, dtype=float))
        if chosen.shape != (self.freedom,):
            raise SignatureError(f"the family has {self.freedom} free numbers, not {chosen.shape}")
        return self._made(self.particular + self.directions @ chosen)

    def with_lengths(self, *, input_link: float | None = None, output_link: float | None = None) -> FourBarDesign:
        """The linkage with these lengths [m], as many as there are free numbers; infinite ones are slots."""
        given = [(row, length) for row, length in ((1, input_link), (2, output_link)) if length is not None]
        if len(given) != self.freedom or any(length == 0 or np.isnan(length) for _, length in given):
            raise SignatureError(f"the family has {self.freedom} free numbers: give the length, not zero, of "
                                 f"{'input_link or output_link' if self.freedom == 1 else 'both links'}")
        rows = [row for row, _ in given]
        N = self.directions[rows]
        wanted = np.array([self.ground / length for _, length in given])
        s = np.linalg.svd(N, compute_uv=False)
        if s[-1] <= _RANK * max(1.0, s[0]):
            raise SingularityError("all linkages of the family have the same length there: choose the other link")
        return self._made(self.particular + self.directions @ np.linalg.solve(N, wanted - self.particular[rows]))

    def _made(self, k: Array) -> FourBarDesign:
        T, _ = synthesis_equations(self.inputs, self.outputs)
        return FourBarDesign(k, self.ground, self.inputs, self.outputs, float(np.linalg.cond(T)))


def four_bar_family(psi: ArrayLike, phi: ArrayLike, *, ground: float = 1.0) -> FourBarFamily:
    """All four-bars whose input and output are at the pairs psi, phi (m) [rad]: for one or two pairs, or for more that
    depend on each other.

    >>> family = four_bar_family(np.radians([40.0, 80.0]), np.radians([70.0, 95.0]))
    >>> family.freedom, family.with_lengths(input_link=0.5).structural_error().largest < 1e-12
    (1, True)
    """
    inputs, outputs = check_pairs(psi, phi)
    T, b = synthesis_equations(inputs, outputs)
    particular, _, rank, _ = np.linalg.lstsq(T, b, rcond=_RANK)
    if np.abs(T @ particular - b).max() > _MET:
        raise UnreachableError("no four-bar meets all the pairs; function_generator comes as near as it can")
    if rank == 3:
        raise SignatureError("the pairs determine one four-bar: function_generator gives it")
    return FourBarFamily(particular, null_basis(T, int(rank)), check_ground(ground), inputs, outputs)
