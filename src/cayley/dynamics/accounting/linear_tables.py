"""The tables of operations of Algorithm 7.1, counted again: beside what is printed stands what the text of this package
costs.

    zeros folded    structural zeros of all cycles used, and what no entry of the matrices depends on left out
    compiled        what the compiler makes of whole texts for one arm, the nominal motion included
Figures are multiplications M and additions A, of Algorithm 7.1 alone: what Algorithm 5.7 gives is there already.
Source: Balafoutis & Patel, Tables 7.1 and 7.2, with the corrections of spec E-28 to E-30."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from cayley.dynamics.accounting.counted_run import GENERAL, generic_arm, generic_state
from cayley.dynamics.accounting.counting_scalar import Cost, Tape
from cayley.dynamics.accounting.formulas import NO_FIGURES, Entry, Figures, Formula, fitted
from cayley.dynamics.accounting.operation_table import (
    OperationTable,
    OperationTables,
    compiled,
    printed_column,
    table_by_equation,
    with_total,
)
from cayley.dynamics.linearised.algorithm_7_1 import sensitivities
from cayley.dynamics.linearised.methods import METHODS
from cayley.dynamics.rigid_links.links import serial_chain

RIGHT_ANGLE = np.pi / 2
Numbers = tuple[float, ...]  # coefficients of 1, n, n^2


def _step(m: int, a: int, m0: int = 0, a0: int = 0) -> Figures:
    """m (n - 1) + m0 multiplications, a (n - 1) + a0 additions."""
    return Figures.linear(m, m0 - m, a, a0 - a)


def _pairs(m: float, a: float) -> Figures:
    return _quadratic((0, -m, m), (0, -a, a))


def _quadratic(m: Numbers, a: Numbers) -> Figures:
    return Figures(*[Formula.of(tuple(Fraction(x) for x in c)) for c in (m, a)])


STEP_1: dict[str, Entry] = {
    "7.3.18a": Entry(_step(8, 7), _step(4, 5)),
    "7.3.18b": Entry(_step(14, 10), _step(10, 8)),
    "7.3.18c": Entry(_step(30, 39, 18, 8), _step(20, 32, 18, 8)),
    "7.3.18d": Entry(_step(69, 74, 18, 14), _step(51, 63, 18, 14)),
    "7.3.18e": Entry(NO_FIGURES, NO_FIGURES),
    "7.3.18f": Entry(_step(4, 1), _step(4, 1)),
    "7.3.18g": Entry(_step(9, 12), _step(9, 12)),
    "7.3.18h": Entry(NO_FIGURES, NO_FIGURES),
    "7.3.18i": Entry(NO_FIGURES, NO_FIGURES),
    "7.3.18j": Entry(_step(6, 6), _step(6, 6)),
    "7.3.18k": Entry(_step(18, 21), _step(18, 21)),
    "7.3.18l": Entry(NO_FIGURES, NO_FIGURES),
    "7.3.18m": Entry(_step(2, 3), _step(2, 3)),
    "7.3.18n": Entry(_step(7, 7), _step(7, 7)),
}
"""Table 7.1 as printed: general twists, twists of 0 or 90 degrees."""

_LATER = Entry(_quadratic((9, -16, 7), (6, -11, 5)), _quadratic((5, -10, 5), (4, -8, 4)))  # 5n^2-10+5: spec E-28
STEP_2: dict[str, Entry] = {
    "7.3.19a": Entry(_pairs(4, 2), _pairs(2, 1)),
    "7.3.19b": Entry(_pairs(4, 2), _pairs(2, 1)),
    "7.3.19c": Entry(_pairs(4, 2), _pairs(2, 1)),
    "7.3.19d": Entry(_pairs(7, 5), _pairs(5, 4)),
    "7.3.19e": _LATER,
    "7.3.19f": _LATER,
    "7.3.19g": _LATER,
    "7.3.19h": Entry(NO_FIGURES, NO_FIGURES),
    "7.3.19i": Entry(NO_FIGURES, NO_FIGURES),
    "7.3.19j": Entry(_pairs(1, 1.5), _pairs(1, 1.5)),
    "7.3.19k": Entry(_pairs(0, 0.5), _pairs(0, 0.5)),
    "7.3.19l": Entry(_pairs(3, 3), _pairs(3, 3)),
    "7.3.19m": Entry(NO_FIGURES, NO_FIGURES), }
"""Table 7.2 as printed, with spec E-28 put right."""

ALGORITHM_71 = (_quadratic((-104, 96, 44), (-140, 131, 31)), _quadratic((-80, 86, 30), (-124, 122, 24)))
"""Both steps together, as printed."""
DIRECT_SIX_JOINTS = (2186, 2040)  # (7.3.2)-(7.3.4); printed without n, presumably for six joints: spec E-30


def linear_tables(n: int = 6) -> OperationTables:
    """Tables 7.1 and 7.2, and whole methods: formulas, and values for one n.

    >>> [table.title.split(":")[0] for table in linear_tables()]
    ['Table 7.1', 'Table 7.2', 'Linearised models']
    """
    return OperationTables((table_71(n), table_72(n), method_table(n)))


def table_71(n: int = 6) -> OperationTable:
    """Step 1 of Algorithm 7.1, equation by equation.

    >>> print(table_71().figures("total", "general, published"))
    167n-131, 180n-158
    """
    notes = (
        "What two equations share is charged to the one that needs it first.",
        "Rows f, g and k do not follow from the stated rules (spec E-29): 4 M 3 A, 10 M 12 A and 19 M 21 A do, for "
        "each link.",
    )
    return _by_equation("Table 7.1: Algorithm 7.1, Step 1", STEP_1, n, notes)


def table_72(n: int = 6) -> OperationTable:
    """Step 2 of Algorithm 7.1, equation by equation.

    >>> print(table_72().figures("total", "general, published"))
    44n^2-71n+27, 31n^2-49n+18
    """
    notes = (
        "Rows a to d and l are charged for n (n - 1) pairs with half of a pair's price each; row l costs 7 M 7 A a "
        "pair (spec E-29).",
        "Counted, Step 2 has n (n - 1) / 2 pairs, and joint 1 needs last components only.")
    return _by_equation("Table 7.2: Algorithm 7.1, Step 2", STEP_2, n, notes)


def _by_equation(title: str, printed: Mapping[str, Entry], n: int, notes: tuple[str, ...]) -> OperationTable:
    general, special = (with_total({e: figures for e, figures in counted_figures(twist).items() if e in printed})
                        for twist in (GENERAL, RIGHT_ANGLE))
    columns = {"general, published": printed_column(printed, "general"), "general, counted": general,
               "0 or 90, published": printed_column(printed, "special"), "90, counted": special}
    return table_by_equation(title, columns, n, notes)


def counted_figures(twist: float) -> dict[str, Figures]:
    """The cost of each equation of Algorithm 7.1, as formulas of n, all twists being equal and all joints revolute."""
    return fitted(lambda n: counted_operations(n, twist))


def counted_operations(n: int, twist: float) -> dict[str, Cost]:
    """Operations by equation for one arm of n revolute joints: those that some entry of D, V or P needs."""
    tape = Tape()
    chain = serial_chain(generic_arm([twist] * n))
    found = sensitivities(chain, *[tape.inputs(x) for x in generic_state(n)])
    wanted = [x for matrix in found for x in np.asarray(matrix, dtype=object).reshape(-1)]
    return {equation: cost for equation, cost in tape.costs(wanted).items() if equation.startswith("7.3")}


def method_table(n: int = 6) -> OperationTable:
    """Whole methods, compiled for an arm with general twists whose joints all turn: nominal motion, D, V and P.

    >>> "algorithm-7.1" in method_table(2).rows
    True
    """
    rows: dict[str, dict[str, Figures]] = {"Algorithm 7.1, without 5.7": {"published": ALGORITHM_71[0]}}
    if n == 6:
        rows["direct, (7.3.2)-(7.3.4)"] = {"published": Figures.constant(*DIRECT_SIX_JOINTS)}
    arm = generic_arm([GENERAL] * n)
    for name, method in METHODS.items():
        text = method.text(arm, "sensitivities")
        rows[name] = {"compiled": compiled(text, f"({n}),({n}),({n})->({n},{n}),({n},{n}),({n},{n})",
                                           ("q", "qd", "qdd"))}
    return OperationTable("Linearised models: general twists, all joints revolute", ("published", "compiled"), rows, n)
