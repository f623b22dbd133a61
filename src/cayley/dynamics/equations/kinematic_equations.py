"""Forward kinematics as formulas to read: the pose of a frame and its Jacobian, with c12 for cos(q_1 + q_2).

The pose is made on exact sums of sines and cosines, so that angles of parallel axes are added up. The Jacobian is v =
dp/dq, over the axes of the joints that turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.equations.constraint_sums import ends_of, frame_motion
from cayley.dynamics.equations.parameter_symbols import parameter_symbols, parameter_values, writer_of
from cayley.dynamics.equations.result import Line, latex_of, needed_lines, text_of
from cayley.dynamics.equations.symbolic_links import parameters_of, way_to_root
from cayley.dynamics.equations.trigonometric_sums import Ring, RingSum, TooLong, exact_links, used_names
from cayley.dynamics.rigid_links.links import ROOT, Links, links_of
from cayley.errors import ConventionError, UnsupportedError
from cayley.extras import optional_imports
from cayley.model.masses import with_missing_masses
from cayley.model.tree import Tree

with optional_imports():
    import sympy

_LONGEST = 400  # sines and cosines of an entry
_DIGITS = 6


@dataclass(frozen=True, eq=False, repr=False)
class KinematicEquations:
    """The pose of a frame and its Jacobian in terms of the symbols `q` and the `parameters` (with their values), as
    SymPy matrices, as text and as LaTeX."""

    name: str
    frame: str
    q: tuple[Any, ...]
    parameters: Mapping[Any, float]
    written: Mapping[str, list[Any]] = field(repr=False)  # entries of p, R and J, by rows, in the order of print
    lines: tuple[Line, ...] = field(repr=False, default=())

    @cached_property
    def position(self) -> Scalar:
        """(3, 1), in the root's axes [m]."""
        return self._matrix("p", 3, 1)

    @cached_property
    def rotation(self) -> Scalar:
        """(3, 3)."""
        return self._matrix("R", 3, 3)

    @cached_property
    def pose(self) -> Scalar:
        """(4, 4)."""
        last = sympy.Matrix([[0, 0, 0, 1]])
        return sympy.ImmutableMatrix(sympy.Matrix.hstack(self.rotation, self.position).col_join(last))

    @cached_property
    def jacobian(self) -> Scalar:
        """(6, n): (v; w) of the frame's origin, in the root's axes."""
        return self._matrix("J", 6, len(self.q))

    def text(self, *, jacobian: bool = True, digits: int = _DIGITS) -> str:
        """Lines to read, with numbers rounded to `digits`."""
        return text_of(self._printed(jacobian), digits=digits, order="none")

    def latex(self, *, jacobian: bool = True, digits: int = _DIGITS) -> str:
        """The same as an `aligned` environment."""
        return latex_of(rf"\text{{{_safe(self.frame)} of {_safe(self.name)}}}&", self._printed(jacobian), digits=digits,
                        order="none")

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<forward kinematics of {self.name}, {self.frame}: n = {len(self.q)}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _matrix(self, name: str, rows: int, columns: int) -> Scalar:
        known: dict[Any, Any] = {}
        for symbol, expression in self.lines:
            known[symbol] = expression.doit().xreplace(known)
        return sympy.ImmutableMatrix(rows, columns, [entry.doit().xreplace(known) for entry in self.written[name]])

    def _printed(self, jacobian: bool) -> list[Line]:
        names = {"p": [f"p_{x}" for x in "xyz"], "R": [f"R_{i}{j}" for i in "123" for j in "123"]}
        if jacobian:
            apart = "_" if len(self.q) > 9 else ""
            names["J"] = [f"J_{i}{apart}{j}" for i in range(1, 7) for j in range(1, len(self.q) + 1)]
        kept = [line for key, listed in names.items() for line in zip(listed, self.written[key], strict=True)]
        return [*needed_lines(self.lines, kept), *kept]


def kinematic_equations(tree: Tree, frame: str, *,
                        parameters: Literal["numbers", "symbols"] = "symbols") -> KinematicEquations:
    """The pose of a frame in the root's frame, and its Jacobian in the root's axes, written out.

    `parameters`: "symbols" for the lengths, l_i where link i carries the next or the frame (x, y, z after the number
    where there are several), oblique angles alpha_i, beta_i, gamma_i; or the "numbers" of the model. Masses are not
    asked for. Of a mechanism with constraints the coordinates are those of all its joints.

    >>> from cayley.model.catalogue import load_robot
    >>> print(kinematic_equations(load_robot("planar2r"), "tool").text(jacobian=False))
    c1 = cos(q_1), s1 = sin(q_1), c12 = cos(q_1 + q_2), s12 = sin(q_1 + q_2)
    p_x = l_1*c1 + l_2*c12
    p_y = l_1*s1 + l_2*s12
    p_z = 0
    R_11 = c12
    R_12 = -s12
    R_13 = 0
    R_21 = s12
    R_22 = c12
    R_23 = 0
    R_31 = 0
    R_32 = 0
    R_33 = 1
    """
    if parameters not in ("numbers", "symbols"):
        raise ConventionError(f'parameters must be "numbers" or "symbols", not {parameters!r}')
    free = with_missing_masses(tree.spanning_tree(), 0.0)
    links = links_of(free)
    for link in links.links:
        if link.motion.nq != link.motion.nv or link.motion.screw is None:
            raise UnsupportedError(
                f"joint {link.name!r} of {tree.name} is {link.motion.word}: kinematics are written out for motions "
                "about and along axes; `pose.of(frame).equations()` has all")
    end = ends_of(free, links, [frame])[frame]
    with_letters = parameters == "symbols"
    more = {p.name: p for p in end.origin if p.value}
    try:
        symbolic, coordinates, scalars = exact_links(links, more, with_letters=with_letters, longest=_LONGEST)
        seen = frame_motion(symbolic, end, ROOT, coordinates, scalars)
        exact = _entries(scalars.ring, seen.R, seen.p, _axes(symbolic, end.link, coordinates), coordinates)
    except TooLong:
        raise UnsupportedError(f"the pose of {frame!r} of {tree.name} has entries of more than {_LONGEST} terms: "
                               "`pose.of(frame).equations()` has them as lines of intermediate values") from None
    known = parameters_of(links) | more
    used = used_names(entry for entries in exact.values() for entry in entries)
    symbols = parameter_symbols(known[name] for name in known if name in used or known[name].kind in _ANGLES)
    q = tuple(sympy.Symbol(f"q_{k + 1}") for k in range(len(links.links)))
    writer = writer_of(scalars.ring, q, symbols, known, decimals=not with_letters, short=True)
    written = {key: [writer.by_mass(entry) for entry in entries] for key, entries in exact.items()}
    lines = (*writer.waves, *writer.constants)
    return KinematicEquations(tree.name, frame, q, parameter_values(symbols, known) if with_letters else {}, written,
                              lines)


_ANGLES = ("alpha", "beta", "gamma")


def _entries(ring: Ring, R: Array, p: Array, w: Array, q: Array) -> dict[str, list[RingSum]]:
    zero = ring.number(0)
    place = [zero + entry for entry in p]
    v = [by.rate_of(entry) for entry in place for by in q]
    return {"p": place, "R": [zero + entry for row in R for entry in row],
            "J": [*v, *[zero + entry for row in w for entry in row]]}


def _axes(links: Links, last: int, q: Array) -> Array:
    """The turns (3, n) that the joints on the way to a link give it, in the root's axes."""
    w = np.zeros((3, len(links.links)), dtype=object)
    for number in way_to_root(links, last)[:-1]:
        screw = links.links[number].motion.screw
        axis: Any = np.array([0.0, 0.0, 0.0 if screw is None else screw.turn])
        for inner in way_to_root(links, number)[:-1]:
            axis = links.links[inner].inwards(axis, q)
        w[:, number] = axis
    return w


def _safe(name: str) -> str:
    """A name inside \\text{}, letters and digits alone."""
    return "".join(x if x.isalnum() else " " for x in name)
