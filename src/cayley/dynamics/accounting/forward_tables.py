"""The published operation counts of forward dynamics, Tables 6.1 to 6.3, and beside them what the texts of this package
cost.

    by the rules    of Table 6.1: nothing for i = n, E_33 alone for i = 1, eta_3 alone for j = 1, all else at full price
    zeros folded    structural zeros used, and what the result does not depend on left out
    compiled        what the compiler makes of the same text for one arm: shared and merged terms too
All joints turn, frames are those of Denavit and Hartenberg, a division counts as a multiplication, sines and cosines
are not counted. Source: Balafoutis & Patel, section 6.4, with the remarks of spec E-6, E-7, E-9, E-10, E-15, E-18; spec
section 4."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.dynamics.accounting.counted_run import GENERAL, check_kinds, generic_state, total, with_divisions
from cayley.dynamics.accounting.counting_scalar import Cost, Tape
from cayley.dynamics.accounting.formulas import Entry, Figures, Formula, fitted
from cayley.dynamics.accounting.operation_table import (
    OperationTable,
    compiled,
    printed_column,
    table_by_equation,
    with_total,
)
from cayley.dynamics.accounting.tables import RIGHT_ANGLE
from cayley.dynamics.inertia_matrix.generalized_links import Generalized, enclosing, felt_before, origins
from cayley.dynamics.inverse.augmented_bodies import augmented_links
from cayley.dynamics.rigid_links.links import Links, links_of, serial_chain
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.model.denavit_hartenberg.conversion import tree_from_dh
from cayley.model.denavit_hartenberg.table import DHRow
from cayley.model.tree import Tree


def _figures(m: tuple[Any, ...], a: tuple[Any, ...]) -> Figures:
    """Formulas for n >= 2 from the coefficients of 1, n, n^2 and so on."""
    return Figures(Formula.of(m, 2), Formula.of(a, 2))


_HALF = Fraction(1, 2)
TABLE_61: dict[str, Entry] = {
    "6.3.29a": Entry(_figures((-16, 8), (-10, 7)), _figures((-8, 4), (-10, 5))),  # additions: 7n-14 is meant, spec E-9
    "6.3.29b": Entry(_figures((-2, 2), ()), _figures((-2, 2), ())),
    "6.3.29c": Entry(_figures((-42, 30), (-52, 39)), _figures((-25, 20), (-42, 32))),
    "6.3.29d": Entry(_figures((), ()), _figures((), ())),
    "6.3.29e": Entry(_figures((), ()), _figures((), ())),
    "6.3.29f": Entry(_figures((), ()), _figures((), ())),
    "6.3.30a": Entry(_figures((8, -12, 4), (4, -6, 2)), _figures((4, -6, 2), (2, -3, 1))),
    # E-10
    "6.3.30b": Entry(_figures((10, -17, 7), (4, -15 * _HALF, 7 * _HALF)),
                     _figures((8, -13, 5), (3, -11 * _HALF, 5 * _HALF))),
    "6.3.30c": Entry(_figures((), ()), _figures((), ())), }
TABLE_61_TOTAL = Entry(_figures((-42, 11, 11), (-54, 65 * _HALF, 11 * _HALF)),
                       _figures((-23, 7, 7), (-47, 57 * _HALF, 7 * _HALF)))

TABLE_62: dict[str, Figures] = {
    # printed with 601 additions for n = 6, which needs -53: E-7
    "Walker & Orin, Algorithm 6.1": _figures((-27, 56, 12), (-56, 67, 7)),
    "Angeles & Ma": _figures((8, -15, 17, 1), (5, -16, 14, 1)),
    "Featherstone": _figures((-41, 31, 10), (-46, 40, 6)),
    "Algorithm 6.2": TABLE_61_TOTAL.general,
}
TABLE_62_SIX_JOINTS: dict[str, tuple[int, int]] = {
    "Walker & Orin, Algorithm 6.1": (741, 601), "Angeles & Ma": (746, 629), "Featherstone": (505, 410),
    "Algorithm 6.2": (420, 339)}
WALKER_ORIN_IN_THE_TEXT = Formula.of((27, 26, 12),
                                     2)  # multiplications as printed in section 6.2, which contradict the table: E-6
WALKER_ORIN_ADDITIONS = Formula.of((-53, 67, 7), 2)  # as the printed 601 needs them: E-7

TABLE_63: dict[str, tuple[int, int]] = {
    "Kazerounian & Gupta": (2468, 1879),
    "Walker & Orin": (1627, 1261),
    "Wang & Ravani": (1659, 1252),
    "Featherstone, articulated bodies": (1533, 1415),
    "Featherstone, composite bodies": (1303, 1019),  # its parts give 1025 additions: E-18
    "Angeles & Ma": (1353, 1165),  # its parts give 1129 additions: E-18
    "Algorithms 6.2 and 5.7": (956, 790),
}
"""Multiplications and additions of steps (i) to (iii) for six joints."""
BOOK_PIPELINE = _figures((-150, Fraction(310, 3), 25 * _HALF, Fraction(1, 6)),
                         (-154, Fraction(337, 3), 13 * _HALF, Fraction(1, 6)))
SOLVE = _figures((0, Fraction(-2, 3), 3 * _HALF, Fraction(1, 6)), (0, Fraction(-7, 6), 1, Fraction(1, 6)))  # L D L^T


def dh_arm(n: int, twist: float, kind: str = "R", seed: int = 0) -> Tree:
    """An arm in modified Denavit-Hartenberg frames, all twists equal and all other numbers arbitrary, others for
    another `seed`. `kind`: R or P, of all joints, or a letter for each."""
    random = np.random.default_rng([n, seed] if seed else n)
    kinds = kind * n if len(kind) == 1 else kind
    check_kinds(kinds, n)
    rows = [DHRow(d=d, a=a, alpha=twist, theta=0.0 if letter == "R" else 0.4,
                  kind="revolute" if letter == "R" else "prismatic")
            for letter, (d, a) in zip(kinds, random.uniform(0.2, 0.9, (n, 2)), strict=True)]
    spread = random.uniform(0.1, 0.9, (n, 3, 3))
    return tree_from_dh(rows, convention="modified", name=f"arm of {n} joints",
                        masses=list(random.uniform(1.2, 3.0, n)), centers=random.uniform(0.1, 0.8, (n, 3)),
                        inertias=spread @ np.swapaxes(spread, 1, 2) + np.eye(3))


def count_inertia_matrix(module: str, n: int, twist: float = GENERAL, *,
                         links: Callable[[Tree], Links] = serial_chain, kind: str = "R") -> dict[str, Cost]:
    """The cost of each equation of a method of `cayley.dynamics.inertia_matrix` for `dh_arm`, with zeros folded.
    `kind`: R or P, of all joints, or a letter for each.

    >>> count_inertia_matrix("generalized_links", 6)["6.3.29b"].multiplications
    10
    """
    tape = Tape()
    q = tape.inputs(generic_state(n)[0])
    D = _text("inertia_matrix", module)(links(dh_arm(n, twist, kind)), q)
    return with_divisions(tape.costs(np.asarray(D, dtype=object).reshape(-1)))


def count_forward_dynamics(text: Callable[..., Any], n: int, twist: float = GENERAL, *,
                           links: Callable[[Tree], Links] = serial_chain, kind: str = "R",
                           seed: int = 0) -> dict[str, Cost]:
    """The same for a text `forward_dynamics(links, q, qd, tau)`."""
    tape = Tape()
    qdd = text(links(dh_arm(n, twist, kind, seed)), *[tape.inputs(x) for x in generic_state(n)])
    return with_divisions(tape.costs(np.asarray(qdd, dtype=object)))


def rules_of_table_61(twist: float) -> dict[str, Figures]:
    """Algorithm 6.2, equation by equation, by the rules of Table 6.1, for n >= 2: its own lines on numbers of which
    nothing is known.

    >>> print(with_total(rules_of_table_61(GENERAL))["total"])
    11n^2+14n-43, 7n^2+34n-64
    """
    whole = _step_up(twist, last_only=False)
    first = _step_up(twist, last_only=True)
    row = _step_down(twist, last_only=False)
    last_row = _step_down(twist, last_only=True)
    # n - 2, (n - 1)(n - 2) / 2, n - 1
    cycles = (-2, 1)
    pairs = (1, -3 * _HALF, _HALF)
    rows = (-1, 1)
    return {"6.3.29a": _times(whole["6.3.29a"], cycles),
            "6.3.29b": _times(whole["6.3.29b"], rows),
            "6.3.29c": _times(whole["6.3.29c"], cycles) + _times(first["6.3.29c"], (1,)),
            "6.3.30a": _times(row["6.3.30a"], pairs),
            "6.3.30b": _times(row["6.3.30b"], pairs) + _times(last_row["6.3.30b"], rows)}


def _step_up(twist: float, last_only: bool) -> dict[str, Cost]:
    """One cycle of Step 2, or of it E_33 alone."""
    tape = Tape()
    chain = serial_chain(dh_arm(2, twist))
    q, U, E = (tape.inputs(x) for x in ([0.3, 0.7], [0.2, 0.4, 0.6], np.arange(1.0, 7.0)))
    s = origins(chain, q)[1]
    link, successor = augmented_links(chain, q).links
    found = enclosing(link, successor, s, Generalized(U, E[np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])]), q)
    return tape.costs([found.E[2, 2]] if last_only else [*s, *found.U, *found.E.reshape(-1)])


def _step_down(twist: float, last_only: bool) -> dict[str, Cost]:
    """One cycle of Step 3, or of it eta_3 alone."""
    tape = Tape()
    chain = serial_chain(dh_arm(2, twist))
    q, s, f, eta = (tape.inputs(x) for x in ([0.3, 0.7], [0.5, 0.3, 0.8], [0.2, 0.4, 0.6], [0.1, 0.7, 0.9]))
    found, moment = felt_before(chain.links[1], s, f, eta, q)
    return tape.costs([moment[2]] if last_only else [*found, *moment])


def _times(cost: Cost, number: tuple[Any, ...]) -> Figures:
    return _figures(tuple(cost.multiplications * c for c in number), tuple(cost.additions * c for c in number))


def _text(package: str, module: str) -> Callable[..., Any]:
    function = ("inverse_dynamics" if package == "inverse" else package if package == "inertia_matrix"
                else f"{package}_dynamics")
    return getattr(import_module(f"cayley.dynamics.{package}.{module}"), function)


def table_61(n: int = 6) -> OperationTable:
    """Algorithm 6.2, equation by equation: published, by the same rules, and with zeros folded.

    >>> table_61().figures("total", "general, by the rules")(6)
    (437, 392)
    """
    columns = {
        "general, published": printed_column(TABLE_61, "general", TABLE_61_TOTAL),
        "general, by the rules": with_total(rules_of_table_61(GENERAL)),
        "general, zeros folded": with_total(fitted(lambda k: count_inertia_matrix("generalized_links", k))),
        "0 or 90, published": printed_column(TABLE_61, "special", TABLE_61_TOTAL),
        "90, by the rules": with_total(rules_of_table_61(RIGHT_ANGLE))}
    notes = (
        "Printed additions of (6.3.29a) and (6.3.30b) do not follow from the rules that give all others: spec E-9, "
        "E-10.",
        "The similarity of (6.3.29c) takes 18 M 19 A here, and 10 M 11 A if twists are 0 or 90 degrees; there 21, 18 "
        "and 11, 11.")
    return table_by_equation("Table 6.1: Algorithm 6.2 by equations, n >= 2", columns, n, notes)


def table_62(n: int = 6) -> OperationTable:
    """Methods for the inertia matrix: published, counted with zeros folded, and compiled.

    >>> table_62().figures("Algorithm 6.2", "published")(6)
    (420, 339)
    """
    rows: dict[str, dict[str, Figures]] = {name: {"published": figures} for name, figures in TABLE_62.items()}
    for name, (module, links) in _INERTIA_MATRICES.items():
        text = _text("inertia_matrix", module)
        found = rows.setdefault(name, {})
        found["zeros folded"] = Figures.constant(*total(count_inertia_matrix(module, n, links=links))[:2])
        found["compiled"] = compiled(partial(text, links(dh_arm(n, GENERAL))), f"({n})->({n},{n})", ("q",))
    notes = (
        "Additions of Walker & Orin are printed as 601 for n = 6, which needs -53 in the formula; the text has other "
        "multiplications: spec E-6, E-7.",
        "Spatial vectors are counted here as plain matrices (6, 6), not by the package of arithmetic of the source.")
    return OperationTable("Table 6.2: inertia matrices, general twists", ("published", "zeros folded", "compiled"),
                          rows, n, notes)


def table_63(n: int = 6) -> OperationTable:
    """Forward dynamics, steps (i) to (iii): published for six joints, counted and compiled for any n.

    >>> table_63().figures("Algorithms 6.2 and 5.7", "published, n = 6")(6)
    (956, 790)
    """
    rows = {name: {"published, n = 6": Figures.constant(*printed)} for name, printed in TABLE_63.items()}
    for name, (text, links) in _FORWARD.items():
        found = rows.setdefault(name, {})
        found["zeros folded"] = Figures.constant(*total(count_forward_dynamics(text, n, links=links))[:2])
        found["compiled"] = compiled(partial(text, links(dh_arm(n, GENERAL))), f"({n}),({n}),({n})->({n})",
                                     ("q", "qd", "tau"))
    notes = ("The parts of two published rows do not add up to their additions: spec E-18.",)
    return OperationTable("Table 6.3: forward dynamics, general twists",
                          ("published, n = 6", "zeros folded", "compiled"), rows, n, notes)


def by_parts(inertia: str, inverse: str) -> Callable[..., Any]:
    """Forward dynamics by parts: an inertia matrix, inverse dynamics without accelerations, and L D L^T."""
    matrix = _text("inertia_matrix", inertia)
    forces = _text("inverse", inverse)
    return lambda links, q, qd, tau: ldl_solve(matrix(links, q), tau - forces(links, q, qd, np.zeros(links.nv)))


_INERTIA_MATRICES: dict[str, tuple[str, Callable[[Tree], Links]]] = {
    "Walker & Orin, Algorithm 6.1": ("walker_orin_3", serial_chain),
    "Angeles & Ma": ("orthogonal_complement", serial_chain), "Featherstone": ("spatial_composites", serial_chain),
    "Algorithm 6.2": ("generalized_links", serial_chain), "Walker & Orin, method 1": ("walker_orin", serial_chain),
    "Walker & Orin, method 2": ("walker_orin_symmetric", serial_chain),
    "Cayley's default": ("composite_bodies_for_trees", minimal_links)}
_FORWARD: dict[str, tuple[Callable[..., Any], Callable[[Tree], Links]]] = {
    "Walker & Orin": (by_parts("walker_orin_3", "luh_walker_paul"), serial_chain),
    "Featherstone, articulated bodies": (_text("forward", "articulated_bodies"), links_of),
    "Featherstone, composite bodies": (by_parts("spatial_composites", "featherstone"), serial_chain),
    "Angeles & Ma": (by_parts("orthogonal_complement", "luh_walker_paul"), serial_chain),
    "Algorithms 6.2 and 5.7": (_text("forward", "generalized_links"), serial_chain),
    "Cayley's default": (_text("forward", "composite_bodies"), minimal_links)}
