"""`EquationsOfMotion`: what `equations_of_motion` finds, as SymPy matrices, as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import sympy

from cayley.compiler.typing import Scalar
from cayley.dynamics.equations.printing import Line, latex_of, text_of

Velocities = Literal["forces", "matrix"]
_EVERY_ENTRY = 3  # joints up to which zeros are printed as well
DIGITS = 6


class Group(NamedTuple):
    """Intermediate values of one kind: what they are, how one follows from another, and the lines."""

    title: str
    formulas: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, eq=False)
class EquationsOfMotion:
    """M qdd + C qd + G (+ F) = tau, in terms of the symbols `q`, `qd`, `qdd`, of the `parameters` (with their values)
    and of the `intermediates`; `substituted()` has none of these.

    SymPy matrices: `M` inertia matrix, `C` matrix of Christoffel's symbols, `V` = C qd, `G` gravity forces, `F`
    friction and springs, if included.
    """

    name: str
    q: tuple[Any, ...]
    qd: tuple[Any, ...]
    qdd: tuple[Any, ...]
    parameters: Mapping[Any, float]
    # entries of M, C (by rows), V, G, F in the order in which they are printed
    written: Mapping[str, list[Any]] = field(repr=False)
    lines: tuple[Line, ...] = field(repr=False, default=())
    order: str | None = field(repr=False,
                              default=None)  # SymPy's name of the order of terms: None is its own, "none" as written
    groups: tuple[Group, ...] = field(repr=False, default=())  # of the lines of a recursion

    @cached_property
    def M(self) -> Scalar:
        return self._matrix("M", len(self.qd))

    @cached_property
    def C(self) -> Scalar:
        return self._matrix("C", len(self.qd))

    @cached_property
    def V(self) -> Scalar:
        return self._matrix("V")

    @cached_property
    def G(self) -> Scalar:
        return self._matrix("G")

    @cached_property
    def F(self) -> Scalar:
        return self._matrix("F")

    @cached_property
    def tau(self) -> Scalar:
        """The generalised forces (nv, 1)."""
        return self.M * sympy.Matrix(self.qdd) + self.V + self.G + self.F if self.qd else self.G

    @cached_property
    def intermediates(self) -> tuple[Line, ...]:
        """Symbols and what they stand for, each in terms of those before it."""
        return tuple((symbol, expression.doit()) for symbol, expression in self.lines)

    def substituted(self) -> EquationsOfMotion:
        """The same without intermediates; very long for a mechanism whose equations are lines of a recursion."""
        known: dict[Any, Any] = {}
        for symbol, expression in self.intermediates:
            known[symbol] = expression.xreplace(known)
        written = {name: [entry.doit().xreplace(known) for entry in entries] for name, entries in self.written.items()}
        return replace(self, written=written, lines=(), order=None)

    def text(self, *, velocity: Velocities = "forces", digits: int = DIGITS) -> str:
        """Lines to read, with numbers rounded to `digits`. `velocity`: the "forces" V = C qd, or the "matrix" C."""
        friction = " + F" if any(self.written["F"]) else ""
        head = (f"M qdd + V + G{friction} = tau, V = C qd" if velocity == "forces"
                else f"M qdd + C qd + G{friction} = tau")
        lines = self._printed(velocity)
        parts = [f"{title}\n{text_of(part, digits=digits, order=self.order)}" for title, part in self.grouped(lines)]
        return "\n".join([head, *parts] if self.groups else
                         [head, text_of(lines, digits=digits, order=self.order)])

    def latex(self, *, velocity: Velocities = "forces", digits: int = DIGITS) -> str:
        """The same as an `aligned` environment, for a displayed formula."""
        friction = " + F" if any(self.written["F"]) else ""
        coriolis = "V" if velocity == "forces" else r"C \dot{q}"
        head = rf"M \ddot{{q}} + {coriolis} + G{friction} &= \tau" + (r", \quad V = C \dot{q}"
                                                                      if velocity == "forces" else "")
        return latex_of(head, self._printed(velocity), digits=digits, order=self.order)

    def grouped(self, lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
        """Lines under the titles of their groups; what belongs to none comes last."""
        rest = list(lines)
        found = []
        for group in self.groups:
            own = {symbol for symbol, _ in group.lines}
            found.append((f"{group.title}:", [line for line in rest if line[0] in own]))
            rest = [line for line in rest if line[0] not in own]
        return [(title, part) for title, part in [*found, ("Equations of motion:", rest)] if part]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<equations of motion of {self.name}: nv = {len(self.qd)}, intermediate symbols: {len(self.lines)}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _matrix(self, name: str, columns: int = 1) -> Scalar:
        return sympy.ImmutableMatrix(len(self.qd), columns, [entry.doit() for entry in self.written[name]])

    def _printed(self, velocity: Velocities) -> list[Line]:
        """The intermediates that are needed, and the entries; those that are zero only of small mechanisms."""
        entries = [*self._entries("M"), *self._entries("V" if velocity == "forces" else "C"), *self._entries("G")]
        entries += self._entries("F") if any(self.written["F"]) else []
        kept = [entry for entry in entries if entry[1] != 0 or len(self.qd) <= _EVERY_ENTRY]
        return [*needed_lines(self.lines, kept), *kept]

    def _entries(self, name: str) -> Iterator[Line]:
        n = len(self.qd)
        apart = "_" if len(self.qd) > 9 else ""
        for place, entry in enumerate(self.written[name]):
            i, j = divmod(place, n) if name in ("M", "C") else (place, None)
            if j is None:
                yield f"{name}_{i + 1}", entry
            elif name == "C" or i == j:
                yield f"{name}_{i + 1}{apart}{j + 1}", entry
            elif i < j:
                yield f"{name}_{i + 1}{apart}{j + 1} = {name}_{j + 1}{apart}{i + 1}", entry


def needed_lines(lines: Sequence[Line], kept: Sequence[Line]) -> list[Line]:
    """The intermediates on which some entries depend, in their order."""
    needed = set().union(*[expression.free_symbols for _, expression in kept])
    found: list[Line] = []
    for symbol, expression in reversed(lines):
        if symbol in needed:
            needed |= expression.free_symbols
            found.append((symbol, expression))
    return found[::-1]
