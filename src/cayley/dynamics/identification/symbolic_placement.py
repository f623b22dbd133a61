"""The placement of a link in its parent as symbols, so that regroupings of parameters can be read as formulas."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import sympy

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.inertial_parameters import moved
from cayley.dynamics.rigid_links.links import Link

_ROUNDING = 1e-12  # entries of a placement this near to 0 or 1 are exact


class SymbolicPlacement:
    """Axes R (3, 3) and origin p (3) of a link, numbered from 1, in its parent; `constants` are the values of the
    symbols in them.
    """

    def __init__(self, link: Link, number: int) -> None:
        self.number = number
        self.constants: dict[sympy.Symbol, float] = {}
        R = link.placement[:3, :3]
        p = link.placement[:3, 3]
        slide = R[1, 2] * p[1] + R[2, 2] * p[2]
        if abs(R[0, 0] - 1) < _ROUNDING and abs(p[1:] - slide * R[1:, 2]).max() < _ROUNDING:
            self.R, self.p = self._denavit_hartenberg(R, p[0], slide)
        else:
            self.R = np.array([[self._symbol(f"R_{self.number}_{'xyz'[i]}{'xyz'[j]}", R[i, j]) for j in range(3)]
                               for i in range(3)])
            self.p = np.array([
                self._symbol(f"{word}_{self.number}", value) for word, value in zip("xyz", p, strict=True)])

    @cached_property
    def moved_in(self) -> Array:
        """(10, 10): the moments of the link as its parent's, at the joint's zero."""
        return moved(self.R, self.p)

    def _denavit_hartenberg(self, R: Array, a: float, d: float) -> tuple[Array, Array]:
        c, s = self._turn(R[2, 2], R[2, 1])
        axes = np.array([[1, 0, 0], [0, c, -s], [0, s, c]], dtype=object)
        return axes, self._symbol(f"a_{self.number}", a) * axes[:, 0] + self._symbol(f"d_{self.number}", d) * axes[:, 2]

    def _turn(self, c: float, s: float) -> tuple[sympy.Expr, sympy.Expr]:
        if min(abs(c), abs(s)) < _ROUNDING:
            return sympy.Integer(round(c)), sympy.Integer(round(s))
        alpha = sympy.Symbol(f"alpha_{self.number}")
        self.constants[alpha] = float(np.arctan2(s, c))
        return sympy.cos(alpha), sympy.sin(alpha)

    def _symbol(self, name: str, value: float) -> sympy.Expr:
        if (name.startswith("R") and abs(abs(value) - 1) < _ROUNDING) or abs(value) < _ROUNDING:
            return sympy.Integer(round(value))
        symbol = sympy.Symbol(name)
        self.constants[symbol] = float(value)
        return symbol


def exact(values: Array) -> Array:
    """Numbers as SymPy numbers: integers where they are such."""
    return np.vectorize(lambda x: sympy.Integer(round(x)) if x == round(x) else sympy.Float(x), otypes=[object])(values)
