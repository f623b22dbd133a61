"""Four-bars whose output turns as prescribed with the input, exact for three pairs of angles, by least squares for
more, families for fewer; and slider-cranks.

    T k = b      one row (1, cos(phi), -cos(psi)) and one entry cos(phi - psi) for each pair
    k1 x cos(psi) + k2 sin(psi) + k3 = x^2      slider-crank, k = (2 r, 2 r e, L^2 - r^2 - e^2)
With three pairs k = H / Delta, Delta = det T (corrected as in spec E-17, E-18), or by factors QR, as for more. Fewer
pairs, or pairs that say the same twice, leave a family k = k0 + N z. Source: Ruggiu (4.62)-(4.73)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError, UnreachableError
from cayley.machines.arguments import DOWN, Masses
from cayley.machines.linkages.slider_crank import SliderCrank
from cayley.model.tree import Tree
from cayley.planning.synthesis.design import FourBarDesign, StructuralError
from cayley.planning.synthesis.freudenstein import check_ground, check_pairs, synthesis_equations
from cayley.showing import brief

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
    """The four-bar whose input and output are at the pairs psi, phi (m) [rad], with the `ground` link [m]. Three pairs
    are met exactly; more by least squares of their equations: look at `structural_error()`, for a small `design_error`
    promises nothing. Fewer, or pairs that depend on each other, leave a choice: see `four_bar_family`.

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
    if not significant(s, 3, exact=True).all():
        raise SingularityError(_dependence(T, b, len(inputs)))
    Q, R = np.linalg.qr(T)
    return FourBarDesign(np.linalg.solve(R, Q.T @ b), check_ground(ground), inputs, outputs, float(s[0] / s[2]))


def _dependence(T: Array, b: Array, count: int) -> str:
    left = b - T @ np.linalg.lstsq(T, b, rcond=least_singular(3, exact=True))[0]
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
        if s[-1] <= least_singular(len(rows), exact=True) * max(1.0, s[0]):
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
    particular, _, rank, _ = np.linalg.lstsq(T, b, rcond=least_singular(3, exact=True))
    if np.abs(T @ particular - b).max() > _MET:
        raise UnreachableError("no four-bar meets all the pairs; function_generator comes as near as it can")
    if rank == 3:
        raise SignatureError("the pairs determine one four-bar: function_generator gives it")
    return FourBarFamily(particular, null_basis(T, int(rank)), check_ground(ground), inputs, outputs)


_NO_CRANK = 1e-12  # of the largest output


@dataclass(frozen=True, eq=False)
class SliderCrankDesign:
    """A slider-crank by its `parameters` k (3), for the pairs `inputs` (m) [rad] and `outputs` (m) [m]."""

    parameters: Array
    inputs: Array
    outputs: Array
    condition: float

    __repr__ = brief

    @property
    def input_shift(self) -> float:
        """The angle of the crank itself less psi: pi if its length is negative, else 0."""
        return np.pi if self.parameters[0] < 0 else 0.0

    @cached_property
    def linkage(self) -> SliderCrank:
        """The slider-crank with positive lengths, or an error that says why there is none."""
        r = self.parameters[0] / 2
        e = self.parameters[1] / self.parameters[0] if r else np.inf
        square = self.parameters[2] + r * r + e * e
        if not (abs(r) > _NO_CRANK * np.abs(self.outputs).max() and square > 0):
            raise UnreachableError(
                f"the slider-crank cannot be built: its crank would be {r:.6g} m long and the square of its rod "
                f"{square:.6g} m^2; change a pair")
        return SliderCrank(crank=float(abs(r)), rod=float(np.sqrt(square)), offset=float(e))

    @property
    def feasible(self) -> bool:
        try:
            return bool(self.linkage)
        except UnreachableError:
            return False

    def positions(self, psi: ArrayLike) -> Array:
        """Places x (..., 2) of the slider in both assembly modes; NaN where the crank cannot stand."""
        return self.linkage.position.unchecked(np.asarray(psi, dtype=float) + self.input_shift)[..., 1]

    def structural_error(self) -> StructuralError:
        """The distances [m] of the slider from the places of the pairs, in the assembly mode that is nearest at each.
        """
        both = self.positions(self.inputs)
        return StructuralError.nearest(self.inputs, self.outputs, both, both - self.outputs[:, None])

    def tree(self, *, masses: Masses | None = None, gravity: ArrayLike = DOWN) -> Tree:
        """The machine as a tree with a loop, for `cy.Mechanism`."""
        return self.linkage.tree(masses=masses, gravity=gravity)

    def configuration(self, psi: ArrayLike, mode: int = 0) -> Array:
        """The coordinates (..., 3) of `tree` at angles psi (...), in an assembly mode of `positions`."""
        theta = np.asarray(psi, dtype=float) + self.input_shift
        return self.linkage.configuration(theta, self.linkage.position(theta)[..., mode, :])


def slider_crank_generator(psi: ArrayLike, x: ArrayLike) -> SliderCrankDesign:
    """The slider-crank whose slider is at x (m) [m] with the crank at psi (m) [rad]: exact for three pairs, by least
    squares for more.

    >>> known = SliderCrank(crank=0.1, rod=0.35, offset=0.03)
    >>> psi = np.array([0.2, 1.1, 2.4])
    >>> found = slider_crank_generator(psi, known.position(psi)[:, 0, 1]).linkage
    >>> np.round([found.crank, found.rod, found.offset], 9)
    array([0.1 , 0.35, 0.03])
    """
    inputs, outputs = check_pairs(psi, x)
    if len(inputs) < 3:
        raise SignatureError(f"{len(inputs)} pairs do not determine a slider-crank: give three or more")
    T = np.stack([outputs * np.cos(inputs), np.sin(inputs), np.ones_like(inputs)], axis=1)
    scale = np.linalg.norm(T, axis=0)
    s = np.linalg.svd(T / np.where(scale > 0, scale, 1.0), compute_uv=False)
    if not significant(s, 3, exact=True).all():
        raise SingularityError(f"the {len(inputs)} pairs do not determine a slider-crank: their equations depend on "
                               "each other; change a pair")
    Q, R = np.linalg.qr(T / scale)
    return SliderCrankDesign(np.linalg.solve(R, Q.T @ outputs**2) / scale, inputs, outputs, float(s[0] / s[-1]))
