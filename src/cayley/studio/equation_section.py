"""Equations of motion in a report: symbolic for small mechanisms, numeric, or as a recursion of named values where they
would be too long. Long groups of values are folded away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from cayley.dynamics.equations import EquationsOfMotion
from cayley.dynamics.equations.closed_mechanisms import ClosedEquations
from cayley.dynamics.equations.named_recursion import named_inverse_dynamics
from cayley.dynamics.equations.result import Group, needed_lines
from cayley.errors import UnsupportedError
from cayley.extras import optional_imports
from cayley.mechanism import Mechanism
from cayley.studio import mathml

with optional_imports():
    import sympy

_LETTERS = 3  # velocities up to which equations in letters are short
_FOLDED_LETTERS = 6  # and up to which they are offered
_CLOSED = 14  # velocities up to which M, V and G are asked for
_TYPESET = 2500  # lines
_OPEN = 24  # lines of a group that are shown at once
_WAVE = 5  # operations of a sine or cosine
_FEW = 6  # lines that stand below each other, however short
_SHORT = 8  # operations of lines that stand in columns
_NAMES = ("Values are grouped by kind, in the axes of their links, with components x, y and z. R is the rotation of a "
          "link relative to the previous one, s the position of its origin there, z the axis of its joint, and m, u "
          "and J its mass and moments, as far as they are not regrouped with the previous link.")


def equation_section(arm: Mechanism) -> str:
    """M, V = C qd and G, or the recursion of inverse dynamics, and the constraints of a mechanism with loops."""
    if arm.nv > _CLOSED:
        return _recursion(arm)
    try:
        return "".join(_motion(arm.equations(parameters=kind), kind) for kind in _kinds(arm)) + _folded_letters(arm)
    except UnsupportedError:  # letters, or what constraints say, would be too long, or are of other joints
        return _recursion(arm)


def _kinds(arm: Mechanism) -> tuple[Any, ...]:
    axes = all(joint.motion.nq == joint.motion.nv for joint in arm.joints)
    return ("symbols", "numbers") if arm.nv <= _LETTERS and axes else ("numbers",)


def _folded_letters(arm: Mechanism) -> str:
    """Symbolic equations of a mechanism of middle size, with constants for groups of masses and lengths."""
    if not _LETTERS < arm.nv <= _FOLDED_LETTERS:
        return ""
    try:
        found = arm.equations(parameters="symbols")
    except UnsupportedError:
        return ""
    if any(group.formulas for group in found.groups):
        return ""
    named = "" if not any(group.title == "Constants" for group in found.groups) else (
        ", with constants a for groups of masses and lengths")
    return f'<details><summary>Symbolic{named}</summary>{_motion(found, "symbols")}</details>'


def _motion(found: EquationsOfMotion, kind: str) -> str:
    friction = " + F" if any(found.written["F"]) else ""
    closed = isinstance(found, ClosedEquations)
    names = (*(("Psi", "A", "b") if closed else ()), "M", "V", "G", *("F" * bool(friction)))
    entries = {name: list(_entries(found, name)) for name in names}
    lines = needed_lines(found.lines, [entry for each in entries.values() for entry in each])
    title = "Symbolic" if kind == "symbols" else "Numeric"
    balance = f"M qdd + V + G{friction} + Aᵀ λ = tau" if closed else f"M qdd + V + G{friction} = tau"
    kept = f" and {mathml.formula('A qdd + b = 0')}, {mathml.formula('Ψ = 0')}" if closed else ""
    head = f"<p>{mathml.formula(balance)}{kept} with {mathml.formula('V = C qd')}</p>"
    words = {
        "Psi": "Constraints Ψ", "A": "Constraint Jacobian A", "b": "Its rate times q̇, b",
        "M": "Mass matrix M", "V": "Coriolis and centrifugal forces V = C q̇", "G": "Gravity forces G",
        "F": "Friction F"}
    body = "".join(f"<h4>{words[name]}</h4>{_typeset(rows, found.order)}" for name, rows in entries.items() if rows)
    values = _values(found) if kind == "symbols" else ""
    return f"<h3>{title}</h3>{head}{_recursive(found)}{_shared(found.groups, lines, found.order)}{body}{values}"


def _recursion(arm: Mechanism) -> str:
    """Recursive inverse dynamics (of the spanning tree), for mechanisms whose M would be too long to read."""
    found = named_inverse_dynamics(arm.tree.spanning_tree())
    results = [(f"tau_{k + 1}", entry) for k, entry in enumerate(found.tau)]
    lines = needed_lines([line for group in found.groups for line in group.lines], results)
    words = (f"<p>M, V and G of {arm.nv} velocities would be too long to read. This is the recursive Newton-Euler "
             f"algorithm for the joint forces of any motion.</p>")
    if arm.tree.is_constrained:
        words += (f"<p>{mathml.formula('M qdd + V + G + Aᵀ λ = tau')}: these are M q̈ + V + G of the spanning tree, "
                  "without constraints. A is the Jacobian of the constraints, <code>arm.loops.jacobian</code>, and λ "
                  "their forces.</p>")
    return (f"{words}<p>{_NAMES}</p>{_shared(found.groups, lines, None)}<h4>Joint forces</h4>{_typeset(results, None)}")


def _recursive(found: EquationsOfMotion) -> str:
    """Why the equations are a recursion, if they are one, and how to read it."""
    if not any(group.formulas for group in found.groups):
        return ""
    why = ("Written out, the equations would fill many pages, so they are given as a recursion from link to link."
           if len(found.q) == len(found.qd) else
           "The coordinates contain unit quaternions, and velocities are twists in the axes of the links, so the "
           "equations are given as a recursion from link to link.")
    return f"<p>{why} {_NAMES}</p>"


def _shared(groups: Sequence[Group], lines: list[tuple[Any, Any]], order: str | None) -> str:
    """Values that the entries share, in titled groups; long groups are folded away."""
    if not lines:
        return ""
    if not groups:
        return f"<h4>Shared values</h4>{_typeset(lines, order)}"
    parts = []
    for group in groups:
        own = {symbol for symbol, _ in group.lines}
        kept = [line for line in lines if line[0] in own]
        if kept:
            formulas = "".join(f"<p>{mathml.formula(text)}</p>" for text in group.formulas)
            parts.append(f"<h4>{escape(group.title)}</h4>{formulas}{_folded(kept, order)}")
    return "".join(parts)


def _folded(lines: list[tuple[Any, Any]], order: str | None) -> str:
    if len(lines) <= _OPEN or (_flowing(lines) and len(lines) <= 3 * _OPEN):
        return _typeset(lines, order)
    return f"<details><summary>{len(lines)} values</summary>{_typeset(lines, order)}</details>"


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


def _typeset(lines: list[tuple[Any, Any]], order: str | None) -> str:
    if len(lines) > _TYPESET:
        rows = (f"{left if isinstance(left, str) else left.name} = {sympy.sstr(right, full_prec=False)}"
                for left, right in lines)
        return f'<pre class="scroll">{escape(chr(10).join(rows))}</pre>'
    flowing = _flowing(lines)
    short = len(lines) > _FEW and max(sympy.count_ops(right) for _, right in lines) < _SHORT
    look = " flow" if flowing else " short" if short else ""
    return f'<div class="equations{look}">{mathml.equations(lines, order=order)}</div>'


def _flowing(lines: list[tuple[Any, Any]]) -> bool:
    """True if lines are short enough to stand beside each other: sines and cosines."""
    return len(lines) > _FEW and all(sympy.count_ops(right) <= _WAVE and right.has(sympy.cos, sympy.sin)
                                     for _, right in lines)


def _values(found: EquationsOfMotion) -> str:
    rows = [(symbol, sympy.Float(value)) for symbol, value in found.parameters.items()]
    return f"<details><summary>Values of the symbols</summary>{_typeset(rows, None)}</details>" if rows else ""
