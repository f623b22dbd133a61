"""The equations of motion of mechanisms with constraints, in the formulations of the book.

    augmented     M qdd + V + G + A^T lambda = tau,   A qdd + b = 0                     b = A' qd
    projection    N^T M N pdd + N^T (M n + V + G) = N^T tau,   qd = N pd,   qdd = N pdd + n
    minimal       M_p pdd + V_p + G_p = tau_p          the same, multiplied out
with Psi(q) = 0 in all of them; p are the coordinates of independent joints. N and n are found by Cramer's rule, D being
the determinant of the columns of A of the other joints. Redundant rows are left out. Source: Ruggiu (4.15)-(4.29) and
section 4.3.1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from cayley.compiler.typing import Scalar
from cayley.dynamics.equations.closed_form import closed_form, constraint_form
from cayley.dynamics.equations.constraint_sums import Ties
from cayley.dynamics.equations.named_recursion import named_recursion
from cayley.dynamics.equations.readable_sums import product, total
from cayley.dynamics.equations.result import (
    DIGITS,
    Entries,
    EquationsOfMotion,
    Line,
    Velocities,
    latex_name,
    needed_lines,
    text_of,
)
from cayley.dynamics.equations.trigonometric_sums import TooLong
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.errors import ConventionError, UnsupportedError, did_you_mean
from cayley.extras import optional_imports
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure
from cayley.model.tree import Tree

with optional_imports():
    import sympy

Formulation = Literal["augmented", "projection", "minimal"]
FORMULATIONS: tuple[Formulation, ...] = ("augmented", "projection", "minimal")


@dataclass(frozen=True, eq=False, repr=False)
class ClosedEquations(EquationsOfMotion):
    """The equations of a mechanism with constraints. `M`, `C`, `V`, `G` and `F` are those of its spanning tree; `Psi`
    (h), `A` (h, n) and `b` (h) what the constraints say; of the formulations on independent coordinates, `N` (n, m) and
    `n` (n), and `M_p` (m, m), `V_p`, `G_p`, `F_p`, `tau_p` (m)."""

    formulation: Formulation = "augmented"
    rows: tuple[str, ...] = ()
    """Names of the rows of constraints."""
    independent: tuple[int, ...] = ()
    """The places of the independent coordinates p."""

    Psi = Entries("h")
    A = Entries("h", "n")
    b = Entries("h")
    N = Entries("n", "m")
    n = Entries("n")
    M_p = Entries("m", "m")
    V_p = Entries("m")
    G_p = Entries("m")
    F_p = Entries("m")
    tau_p = Entries("m")

    @property
    def sizes(self) -> dict[str, int]:
        return {**super().sizes, "h": len(self.rows), "m": len(self.independent)}

    def text(self, *, velocity: Velocities = "forces", digits: int = DIGITS) -> str:
        """Lines to read, with numbers rounded to `digits`. `velocity`: the "forces" V = C qd, or the "matrix" C, of the
        spanning tree; the minimal form has V_p alone."""
        head = [self._head(velocity)]
        if self.formulation != "augmented":
            head.append(f"p: {', '.join(self.q[k].name for k in self.independent)}")
        head.append("rows: " + ", ".join(f"{k} {row}" for k, row in enumerate(self.rows, start=1)))
        return "\n".join([*head, text_of(self._printed(velocity), digits=digits, order=self.order)])

    def _chosen(self) -> list[str]:
        places = ", ".join(latex_name(self.q[k].name) for k in self.independent)
        return [] if self.formulation == "augmented" else [rf"p = \left({places}\right)"]

    def _head(self, velocity: Velocities) -> str:
        coriolis = "V" if velocity == "forces" else "C qd"
        friction = self._friction
        return {"augmented": f"M qdd + {coriolis} + G{friction} + A^T lambda = tau, A qdd + b = 0, Psi = 0",
                "projection": f"N^T M N pdd + N^T (M n + {coriolis} + G{friction}) = N^T tau, qd = N pd, "
                              "qdd = N pdd + n, Psi = 0",
                "minimal": f"M_p pdd + V_p + G_p{friction and ' + F_p'} = tau_p, Psi = 0"}[self.formulation]

    def _printed(self, velocity: Velocities) -> list[Line]:
        """The intermediates that are needed, and the entries of this formulation."""
        of_tree = self._of_tree(velocity)
        names = {"augmented": ["Psi", "A", "b", *of_tree], "projection": ["Psi", "N", "n", *of_tree],
                 "minimal": ["Psi", "N", "M_p", "V_p", "G_p", *(["F_p"] if self._friction else []), "tau_p"]}
        kept = [entry for name in names[self.formulation] for entry in self._entries(name)]
        named = [("", entry) for name in ("N", "n") if self.formulation == "projection" for entry in self.written[name]]
        return [*needed_lines(self.lines, [*kept, *named]), *kept]

    def _entries(self, name: str) -> Iterator[Line]:
        """The entries without those of N and n that are one or zero, or a line already."""
        columns = len(self.independent) if name == "N" else 1
        for place, line in enumerate(super()._entries(name)):
            follows = place // columns not in self.independent and not isinstance(line[1], sympy.Symbol)
            if follows or name not in ("N", "n"):
                yield line

    def matrix(self, name: str, rows: int, columns: int) -> Scalar:
        if name not in self.written:
            raise ConventionError(
                f"{name} is of the formulations \"projection\" and \"minimal\", not of {self.formulation!r}")
        return super().matrix(name, rows, columns)


def closed_equations(tree: Tree, *, with_letters: bool, shared: bool | None, formulation: Formulation,
                     independent: Sequence[str] | None) -> ClosedEquations:
    """The equations of a mechanism with constraints in one of the `FORMULATIONS`."""
    if formulation not in FORMULATIONS:
        raise ConventionError(
            f"there is no formulation {formulation!r}{did_you_mean(formulation, FORMULATIONS)} They are "
            f"{', '.join(FORMULATIONS)}")
    structure = constraint_structure(tree)
    free = tree.spanning_tree()
    links = links_of(free)
    projected = formulation != "augmented"
    if projected and not structure.by_structure:
        raise UnsupportedError(
            f"the constraints of {tree.name} are redundant in a way that changes with its configuration: no rows of "
            "them can be left out for a projection; read formulation=\"augmented\"")
    rows = structure.leading if structure.by_structure else range(len(structure.rows))
    chosen = _places(tree, structure, independent)
    ties = Ties(tree, links, rows, chosen if projected else None)
    try:
        found = closed_form(free, links, with_letters=with_letters, shared=shared, ties=ties)
    except TooLong as long:
        if projected or with_letters or shared is False:
            raise UnsupportedError(
                f"{long}: the equations of {tree.name} are too long to be read in this form; with multipliers and "
                "numbers (\"augmented\", parameters=\"numbers\") they are lines of intermediate values") from None
        found = _by_recursion(free, links, ties)
    made = ClosedEquations(tree.name, found.q, found.qd, found.qdd, found.parameters, found.written, found.lines,
                           found.order, found.groups, formulation, tuple(str(structure.rows[k]) for k in rows), chosen)
    return _projected(made) if projected else made


def _by_recursion(free: Tree, links: Links, ties: Ties) -> EquationsOfMotion:
    """M, V and G as lines of intermediate values, and what the constraints say written out."""
    found = named_recursion(free, links, with_letters=False)
    said = constraint_form(free, links, ties)
    own = dict(zip((*said.q, *said.qd), (*found.q, *found.qd), strict=True))
    written = {name: [entry.xreplace(own) for entry in entries] for name, entries in said.written.items()}
    return replace(found, written={**found.written, **written})


def _places(tree: Tree, structure: ConstraintStructure, independent: Sequence[str] | None) -> tuple[int, ...]:
    if independent is None:
        return structure.independent
    for name in independent:
        if name not in structure.velocities:
            raise ConventionError(
                f"{tree.name} has no coordinate {name!r}{did_you_mean(name, structure.velocities)}")
    if len(set(independent)) != structure.mobility or len(independent) != structure.mobility:
        raise ConventionError(f"{tree.name} has mobility {structure.mobility}: name as many independent coordinates")
    return tuple(sorted(structure.velocities.index(name) for name in independent))


def _projected(found: ClosedEquations) -> ClosedEquations:
    chosen = found.independent
    size = len(found.qd)
    m = len(chosen)
    others = [k for k in range(size) if k not in chosen]
    lines: list[Line] = list(found.lines)

    def named(name: str, value: Scalar) -> Scalar:
        """A symbol for a value, unless it is as short itself."""
        if value.is_Number or value.is_Symbol:
            return value
        symbol = sympy.Symbol(name)
        lines.append((symbol, value))
        return symbol

    if found.written["D"][0] == 0:
        names = ", ".join(found.q[k].name for k in chosen)
        raise ConventionError(
            f"the coordinates {names} of {found.name} do not determine the others anywhere: name other independent "
            "ones")
    determinant = named("D", found.written["D"][0])
    follow = iter(found.written["numerators"])
    minors = iter(found.written["adjugate"])
    rows = [{j: sympy.Integer(int(j == k)) for j in chosen} for k in range(size)]
    for i in others:
        for j in chosen:
            name = f"N_{i + 1}" if m == 1 else f"N_{i + 1}{j + 1}"
            rows[i][j] = named(name, _over(next(follow), determinant))
    for i in others:  # in V and b the rates of the others stand for what follows from those of p
        rate = total(*[product(rows[i][j], found.qd[j]) for j in chosen if rows[i][j] != 0])
        lines.append((found.qd[i], rate))
    bends = [named(f"b_{k + 1}", entry) for k, entry in enumerate(found.written["b"])]
    rest = [sympy.Integer(0)] * size
    for i in others:
        terms = [product(-1, minor, bend) for bend in bends if (minor := next(minors)) != 0 and bend != 0]
        rest[i] = named(f"n_{i + 1}", _over(total(*terms), determinant))
    N = [rows[k][j] for k in range(size) for j in chosen]
    written = {**found.written, "N": N, "n": rest, **_multiplied_out(found, N, rest, m)}
    return replace(found, written=written, lines=tuple(lines))


def _over(value: Scalar, by: Scalar) -> Scalar:
    return value / by if by.is_Number else product(value, sympy.Pow(by, -1))


def _multiplied_out(found: ClosedEquations, N: list[Any], rest: list[Any], m: int) -> dict[str, list[Any]]:
    size = len(found.qd)
    M = [found.written["M"][size * i:size * (i + 1)] for i in range(size)]

    def along(j: int, values: Sequence[Any]) -> Scalar:
        """N_j . values."""
        return _flat([product(N[m * i + j], values[i]) for i in range(size) if N[m * i + j] != 0 and values[i] != 0])

    inertia = []
    for j in range(m):
        for k in range(m):
            pairs = [(i, l) for i in range(size) for l in range(size)
                     if M[i][l] != 0 and N[m * i + j] != 0 and N[m * l + k] != 0]
            inertia.append(_gathered([(N[m * i + j] * N[m * l + k], M[i][l]) for i, l in pairs]))
    forces = [_flat([found.written["V"][i], *[product(M[i][l], rest[l]) for l in range(size)
                                              if M[i][l] != 0 and rest[l] != 0]]) for i in range(size)]
    tau = [sympy.Symbol(f"tau_{k + 1}") for k in range(size)]
    return {"M_p": inertia, "V_p": [along(j, forces) for j in range(m)],
            "G_p": [along(j, found.written["G"]) for j in range(m)],
            "F_p": [along(j, found.written["F"]) for j in range(m)], "tau_p": [along(j, tau) for j in range(m)]}


def _gathered(terms: list[tuple[Any, Any]]) -> Scalar:
    """A sum of factors times entries, the same ones once."""
    found: dict[tuple[Any, Any], int] = {}
    for factor, entry in terms:
        found[factor, entry] = found.get((factor, entry), 0) + 1
    return _flat([product(number, factor, entry) for (factor, entry), number in found.items()])


def _flat(terms: Sequence[Any]) -> Scalar:
    """A sum, without brackets round sums in it."""
    return total(*[part for term in terms if term != 0 for part in (term.args if term.is_Add else (term,))])

