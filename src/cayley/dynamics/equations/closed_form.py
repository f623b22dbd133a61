"""Equations of motion written out: every entry a sum of parameters times sines and cosines, C by Christoffel's symbols.

c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2; those that occur more than once, up to their signs, are named h."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import gcd
from typing import Any, NamedTuple

from cayley.compiler.typing import Scalar
from cayley.dynamics.closed_form import gravity_forces
from cayley.dynamics.equations.constraint_sums import Rows, Ties
from cayley.dynamics.equations.parameter_symbols import (
    PASSIVE,
    drive_parameters,
    parameter_symbols,
    parameter_values,
    passive,
    writer_of,
)
from cayley.dynamics.equations.readable_sums import Writer, leading_sign, product, total
from cayley.dynamics.equations.result import EquationsOfMotion, Group
from cayley.dynamics.equations.symbolic_links import ModelNumber, parameters_of
from cayley.dynamics.equations.trigonometric_sums import Ring, RingSum, TooLong, exact_links, used_names
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.rigid_links.links import Links
from cayley.extras import optional_imports
from cayley.model.tree import Tree

with optional_imports():
    import sympy

_LONGEST_ENTRY = 250  # sines and cosines
_LONGEST = 1500  # terms of all entries together: some pages
_LONG = 80  # from here on sines and cosines have short names
_SHORT_COEFFICIENT = 2  # terms of a velocity coefficient that is not named if it occurs once


class Exact(NamedTuple):
    """M (n, n), G (n), Christoffel's symbols by (i, j, k) with j <= k, where they are not zero; constraints."""

    M: list[list[RingSum]]
    G: list[RingSum]
    christoffel: dict[tuple[int, int, int], RingSum]
    rows: Rows = Rows([], [], {})


def closed_form(tree: Tree, links: Links, *, with_letters: bool, shared: bool | None,
                ties: Ties | None = None) -> EquationsOfMotion:
    """The equations of a tree, and what constraints say, written out; `TooLong` if they are not for reading."""
    drives = drive_parameters(tree)
    n = tree.nv
    exact, ring = _exact(tree, links, drives, with_letters, ties)
    parameters = parameters_of(links) | drives | (ties.parameters if ties else {})
    length = _length(exact, with_letters=with_letters)
    if length > _LONGEST:
        raise TooLong(f"the equations of {tree.name} have {length} terms when they are written out")
    q, qd, qdd = (tuple(sympy.Symbol(f"{letter}_{k + 1}") for k in range(n)) for letter in ("q", "qd", "qdd"))
    sums = [*[entry for row in exact.M for entry in row], *exact.G, *exact.rows.residual]
    used = used_names(sums) | {name for name, p in parameters.items() if p.kind in PASSIVE} if with_letters else set()
    symbols = parameter_symbols(parameters[name] for name in parameters if name in used)
    writer = writer_of(ring, q, symbols, parameters, decimals=not with_letters,
                       short=length > _LONG if shared is None else shared)
    written = {
        "M": [writer.by_mass(entry) for row in exact.M for entry in row],
        "G": [writer.by_angle(entry) for entry in exact.G]}
    coefficients = _Coefficients(exact.christoffel, writer, qd, named=shared is not False)
    written |= {
        "V": [coefficients.forces(i) for i in range(n)],
        "C": [coefficients.entry(i, j) for i in range(n) for j in range(n)]}
    written |= {"F": passive(tree, drives, symbols, q, qd)}
    if ties:
        written |= _of_constraints(exact.rows, writer, qd)
    groups = [Group("Sines and cosines", (), tuple(writer.waves)), Group("Constants", (), tuple(writer.constants)),
              Group("Coefficients of velocities, by Christoffel", (), tuple(coefficients.lines))]
    return EquationsOfMotion(tree.name, q, qd, qdd, parameter_values(symbols, parameters), written,
                             tuple(line for group in groups for line in group.lines), "none",
                             tuple(group for group in groups if group.lines) if writer.short else ())


def constraint_form(tree: Tree, links: Links, ties: Ties) -> EquationsOfMotion:
    """The constraints alone, in numbers, where the equations of the tree are lines of a recursion."""
    n = tree.nv
    symbolic, q, scalars = exact_links(links, {}, with_letters=False, longest=_LONGEST_ENTRY, outside=ties.coordinates)
    letters, qd, qdd = (tuple(sympy.Symbol(f"{letter}_{k + 1}") for k in range(n)) for letter in ("q", "qd", "qdd"))
    writer = writer_of(scalars.ring, letters, {}, parameters_of(links), decimals=True)
    written = _of_constraints(ties.sums(symbolic, q, scalars, scalars.ring), writer, qd)
    return EquationsOfMotion(tree.name, letters, qd, qdd, {}, written, (), "none")


def _of_constraints(rows: Rows, writer: Writer, qd: tuple[Any, ...]) -> dict[str, list[Any]]:
    """Residuals Psi, A by rows, and b = A' qd."""
    bends = _Coefficients(rows.hessian, writer, qd, named=False)
    found = {"Psi": [writer.by_mass(value) for value in rows.residual],
             "A": [writer.by_mass(value) for row in rows.jacobian for value in row],
             "b": [bends.forces(i) for i in range(len(rows.residual))]}
    if rows.solved is None:
        return found
    determinant, adjugate, numerators = rows.solved
    return found | {"D": [writer.by_mass(determinant)],
                    "adjugate": [writer.by_mass(value) for row in adjugate for value in row],
                    "numerators": [writer.by_mass(value) for row in numerators for value in row]}


def _exact(tree: Tree, links: Links, drives: Mapping[str, ModelNumber], with_letters: bool,
           ties: Ties | None) -> tuple[Exact, Ring]:
    rotors = {name: p for name, p in drives.items() if p.kind == "J"}
    more = rotors | (ties.parameters if ties else {})
    symbolic, q, scalars = exact_links(links, more, with_letters=with_letters, longest=_LONGEST_ENTRY,
                                       outside=ties.coordinates if ties else ())
    ring = scalars.ring
    n = tree.nv
    zero = ring.number(0)
    M = [[zero + entry for entry in row] for row in inertia_matrix(symbolic, q)]
    for rotor in rotors.values():
        k = int(rotor.place) - 1
        M[k][k] = M[k][k] + scalars.number(rotor)
    G = [zero + entry for entry in gravity_forces(symbolic, q)]
    slopes = [[[q[k].rate_of(M[i][j]) for k in range(n)] for j in range(n)] for i in range(n)]
    christoffel = {(i, j, k): (slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) / 2
                   for i in range(n) for j in range(n) for k in range(j, n)}
    rows = ties.sums(symbolic, q, scalars, ring) if ties else Rows([], [], {})
    return Exact(M, G, {place: c for place, c in christoffel.items() if c.terms}, rows), ring


def _length(exact: Exact, *, with_letters: bool) -> int:
    """The sines and cosines in all entries, and the products of parameters that are different, up to numbers."""
    sums = [entry for i, row in enumerate(exact.M) for entry in row[i:]] + exact.G + list(exact.christoffel.values())
    sums += exact.rows.residual + list(exact.rows.hessian.values())
    factors = [factor for one in {_key(s): s for s in sums}.values() for factor in one.terms.values()]
    constants = {factor.monic() for factor in factors} if with_letters else ()
    return len(factors) + sum(map(len, constants))


class _Coefficients:
    """Christoffel's symbols and what is made of them with the velocities."""

    def __init__(self, christoffel: Mapping[tuple[int, int, int], RingSum], writer: Writer, qd: tuple[Any, ...], *,
                 named: bool) -> None:
        self.qd = qd
        self.signs = {place: leading_sign(c) for place, c in christoffel.items()}
        upright = {place: c if self.signs[place] > 0 else -c for place, c in christoffel.items()}
        uses = Counter(map(_key, upright.values()))
        distinct = {_key(c): c for c in upright.values()}
        long = [key for key, c in distinct.items() if named and _is_long(c, uses[key])]
        names = {key: sympy.Symbol("h" if len(long) == 1 else f"h_{number}") for number, key in enumerate(long, 1)}
        self.lines = [(names[key], writer.by_mass(distinct[key])) for key in long]
        self.written = {place: names.get(_key(c)) or writer.by_mass(c) for place, c in upright.items()}

    def forces(self, i: int) -> Scalar:
        """V_i = sum over j, k of c_ijk qd_j qd_k."""
        places = [place for place in self.written if place[0] == i]
        return self._sum((place, *((1, (self.qd[j]**2,)) if j == k else (2, (self.qd[j], self.qd[k]))))
                         for place in places for _, j, k in [place])

    def entry(self, i: int, j: int) -> Scalar:
        """C_ij = sum over k of c_ijk qd_k."""
        places = [(place, k) for k in range(len(self.qd)) if (place := (i, min(j, k), max(j, k))) in self.written]
        return self._sum((place, 1, (self.qd[k],)) for place, k in places)

    def _sum(self, parts: Iterable[tuple[tuple[int, int, int], int, tuple[Any, ...]]]) -> Scalar:
        groups: dict[Any, list[tuple[int, tuple[Any, ...]]]] = {}
        for place, factor, velocities in parts:
            groups.setdefault(self.written[place], []).append((factor * self.signs[place], velocities))
        return total(*[self._group(coefficient, members) for coefficient, members in groups.items()])

    def _group(self, coefficient: Scalar, members: list[tuple[int, tuple[Any, ...]]]) -> Scalar:
        number, velocities = members[0]
        if len(members) > 1:
            number = gcd(*[factor for factor, _ in members]) * (-1 if all(factor < 0 for factor, _ in members) else 1)
            velocities = (total(*[product(factor // number, *each) for factor, each in members]),)
        turns = coefficient.is_Add or coefficient.has(sympy.sin, sympy.cos)
        return product(number, *velocities, coefficient) if turns else product(number, coefficient, *velocities)


def _is_long(coefficient: RingSum, uses: int) -> bool:
    is_constant = coefficient.terms.keys() == {coefficient.ring.still}
    return len(coefficient.terms) > _SHORT_COEFFICIENT or (uses > 1 and not is_constant)


def _key(value: RingSum) -> frozenset[tuple[Any, Any]]:
    return frozenset(value.terms.items())
