"""Slider-cranks whose slider is at prescribed places for angles of the crank: exact for three pairs, by least squares
for more.

    (x - r cos(psi))^2 + (e - r sin(psi))^2 = L^2     is linear in     k = (2 r, 2 r e, L^2 - r^2 - e^2):
    k1 x cos(psi) + k2 sin(psi) + k3 = x^2
A negative crank stands at the angle plus pi; there is no rod if L^2 <= 0. This is the four-bar whose output pivot is at
infinity; its equation is that of Freudenstein for sliders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, SingularityError, UnreachableError
from cayley.machines.arguments import Masses
from cayley.machines.linkages.slider_crank import SliderCrank
from cayley.machines.linkages.trees import DOWN
from cayley.model.tree import Tree
from cayley.planning.synthesis.design import StructuralError
from cayley.planning.synthesis.freudenstein import check_pairs
from cayley.showing import brief

_RANK = 1e-12


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
        """What the crank's own angle is ahead of psi: pi if its length is negative, else 0."""
        return np.pi if self.parameters[0] < 0 else 0.0

    @cached_property
    def linkage(self) -> SliderCrank:
        """The slider-crank with positive lengths, or an error that says why there is none."""
        r = self.parameters[0] / 2
        e = self.parameters[1] / self.parameters[0] if r else np.inf
        square = self.parameters[2] + r * r + e * e
        if not (abs(r) > _RANK * np.abs(self.outputs).max() and square > 0):
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
        """How far [m] the slider is from the places of the pairs, in the assembly mode that is nearest at each."""
        both = self.positions(self.inputs)
        off = both - self.outputs[:, None]
        stands = np.isfinite(off).all(axis=1)
        near = np.argmin(np.where(stands[:, None], np.abs(off), 0.0), axis=1)
        rows = np.arange(len(off))
        return StructuralError(self.inputs, self.outputs, both[rows, near], off[rows, near], np.where(stands, near, -1))

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
    >>> slider_crank_generator(psi, known.position(psi)[:, 0, 1]).linkage
    SliderCrank(crank=0.1..., rod=0.35..., offset=0.03...)
    """
    inputs, outputs = check_pairs(psi, x)
    if len(inputs) < 3:
        raise SignatureError(f"{len(inputs)} pairs do not determine a slider-crank: give three or more")
    T = np.stack([outputs * np.cos(inputs), np.sin(inputs), np.ones_like(inputs)], axis=1)
    scale = np.linalg.norm(T, axis=0)
    s = np.linalg.svd(T / np.where(scale > 0, scale, 1.0), compute_uv=False)
    if s[-1] <= _RANK * s[0]:
        raise SingularityError(f"the {len(inputs)} pairs do not determine a slider-crank: their equations depend on "
                               "each other; change a pair")
    Q, R = np.linalg.qr(T / scale)
    return SliderCrankDesign(np.linalg.solve(R, Q.T @ outputs**2) / scale, inputs, outputs, float(s[0] / s[-1]))
