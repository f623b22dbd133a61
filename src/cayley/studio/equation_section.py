"""The equations of motion of a page: in letters for small mechanisms, in numbers, and as a recursion where nothing
shorter exists.

What shares so many intermediate values that nobody can read it is folded away.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

import sympy

from cayley.dynamics.equations import EquationsOfMotion
from cayley.dynamics.equations.closed_mechanisms import ClosedEquations
from cayley.errors import UnsupportedError
from cayley.mechanism import Mechanism
from cayley.studio import mathml

_LETTERS = 3  # velocities up to which equations in letters are short
_CLOSED = 14  # velocities up to which M, V and G are asked for
_TYPESET = 2500  # lines
_OPEN = 12  # intermediate lines with which equations can still be read


def equation_section(arm: Mechanism) -> str:
    """M, V = C qd and G, or the recursion of inverse dynamics; of a mechanism with loops its constraints as well."""
    try:
        if arm.nv > _CLOSED:
            raise UnsupportedError(f"M, V and G of {arm.nv} velocities would be too long to read")
        parts = [_motion(arm.equations(parameters=kind), kind) for kind in _kinds(arm)]
    except UnsupportedError as why:
        if arm.tree.is_constrained:
            return f'<p class="note">No equations: {escape(str(why))}.</p>'
        return f'<p class="note">{escape(str(why))}. Here is the recursion of inverse dynamics.</p>{_recursion(arm)}'
    return "".join(parts)


def _kinds(arm: Mechanism) -> tuple[Any, ...]:
    return ("symbols", "numbers") if arm.nv <= _LETTERS else ("numbers",)


def _motion(found: EquationsOfMotion, kind: str) -> str:
    friction = " + F" if any(found.written["F"]) else ""
    closed = isinstance(found, ClosedEquations)
    names = (*(("Psi", "A", "b") if closed else ()), "M", "V", "G", *("F" * bool(friction)))
    entries = {name: list(_entries(found, name)) for name in names}
    lines = _needed(found, [entry for each in entries.values() for entry in each])
    title = "In letters" if kind == "symbols" else "In numbers"
    balance = f"M qdd + V + G{friction} + A' λ = tau" if closed else f"M qdd + V + G{friction} = tau"
    kept = f" and {mathml.formula('A qdd + b = 0')}, {mathml.formula('Ψ = 0')}" if closed else ""
    head = f"<p>{mathml.formula(balance)}{kept} with {mathml.formula('V = C qd')}</p>"
    words = {
        "Psi": "Constraints Ψ", "A": "Constraint Jacobian A", "b": "Its rate times q̇, b",
        "M": "Mass matrix M", "V": "Coriolis and centrifugal forces V = C q̇", "G": "Gravity forces G",
        "F": "Friction F"}
    body = "".join(f"<h4>{words[name]}</h4>{_typeset(rows, found.order)}" for name, rows in entries.items() if rows)
    values = _values(found) if kind == "symbols" else ""
    return f"<h3>{title}</h3>{head}{_folded(lines, body, found.order)}{values}"


def _recursion(arm: Mechanism) -> str:
    found = arm.inverse_dynamics.equations()
    results = [(f"tau_{k + 1}", entry) for k, entry in enumerate(next(iter(found.outputs.values())))]
    return _folded(found.lines, _typeset(results, None), None)


def _entries(found: EquationsOfMotion, name: str) -> Iterable[tuple[str, Any]]:
    """The entries that are not zero, with their names; of a symmetric pair the first."""
    n = len(found.qd)
    apart = "_" if len(found.qd) > 9 else ""
    for place, entry in enumerate(found.written[name]):
        i, j = divmod(place, n) if name in ("M", "A") else (place, None)
        if entry == 0 or (name == "M" and j is not None and i > j):
            continue
        if j is None:
            yield f"{name}_{i + 1}", entry
        elif name == "A":
            yield f"A_{i + 1}{apart}{j + 1}", entry
        else:
            yield " = ".join(f"{name}_{a + 1}{apart}{b + 1}" for a, b in dict.fromkeys([(i, j), (j, i)])), entry


def _needed(found: EquationsOfMotion, entries: Iterable[tuple[str, Any]]) -> list[tuple[Any, Any]]:
    """The intermediate lines on which entries depend."""
    needed = set().union(*[expression.free_symbols for _, expression in entries])
    kept = []
    for symbol, expression in reversed(found.lines):
        if symbol in needed:
            needed |= expression.free_symbols
            kept.append((symbol, expression))
    return kept[::-1]


def _folded(lines: list[tuple[Any, Any]], body: str, order: str | None) -> str:
    """The equations after the intermediate values that they share, all folded away if these are many."""
    if not lines:
        return body
    shared = f"{len(lines)} shared intermediate {'value' if len(lines) == 1 else 'values'}"
    if len(lines) <= _OPEN:
        return f"<details open><summary>{shared}</summary>{_typeset(lines, order)}</details>{body}"
    return (
        f"<p>They share {len(lines)} intermediate values, too many to be read; <code>arm.equations()</code> has them "
        "in Python, and "
        "<code>cayley export</code> as code.</p><details><summary>All equations, with "
        f"{shared}</summary>{_typeset(lines, order)}{body}"
        "</details>")


def _typeset(lines: list[tuple[Any, Any]], order: str | None) -> str:
    if len(lines) > _TYPESET:
        rows = (f"{left if isinstance(left, str) else left.name} = {sympy.sstr(right, full_prec=False)}"
                for left, right in lines)
        return f'<pre class="scroll">{escape(chr(10).join(rows))}</pre>'
    return f'<div class="equations">{mathml.equations(lines, order=order)}</div>'


def _values(found: EquationsOfMotion) -> str:
    rows = [(symbol, sympy.Float(value)) for symbol, value in found.parameters.items()]
    return f"<details><summary>Values of the letters</summary>{_typeset(rows, None)}</details>" if rows else ""
