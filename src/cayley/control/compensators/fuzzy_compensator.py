"""A fuzzy compensator: a table of rules from an error and its rate to a force.

    if e is A_i and e' is B_k then the force is R_ik        compensation = most (sum of w_ik R_ik) / (sum of w_ik)
A_i and B_k are triangles whose peaks divide [-1, 1] evenly, of errors in units of `error` and rates in units of
`rate`; beyond the ends the outermost sets hold. w_ik is the product of both memberships (Sugeno), or the lesser
(Mamdani's inference, with singletons as consequents and heights for their defuzzification). The map is continuous and
bounded by `most`: a spring and a damper that are stiff near the target and give way far from it. Source: Takagi &
Sugeno 1985; Mamdani & Assilian 1975; the table of MacVicar-Whelan 1976; spec S3-48, S3-53."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, finite_or, numbers_of, positive_gains_of, tree_for
from cayley.errors import ConventionError, SignatureError, did_you_mean, shown
from cayley.systems import Port, Record, System

WORDS = {"NB": -1.0, "NM": -0.5, "ZE": 0.0, "PM": 0.5, "PB": 1.0}
"""Negative big, negative medium, zero, positive medium, positive big."""

RULES = (("NB", "NB", "NB", "NM", "ZE"),
         ("NB", "NB", "NM", "ZE", "PM"),
         ("NB", "NM", "ZE", "PM", "PB"),
         ("NM", "ZE", "PM", "PB", "PB"),
         ("ZE", "PM", "PB", "PB", "PB"))
"""Errors from negative to positive down, their rates across: the table of MacVicar-Whelan."""


def fuzzy_rules(arm: ArmLike, most: ArrayLike, error: ArrayLike, rate: ArrayLike, *,
                rules: ArrayLike | Sequence[Sequence[str]] = RULES, inference: str = "product",
                name: str = "rules") -> System:
    """A compensator, for `compensated(law, rules)` or `compensator=`: inputs `q`, `qd`, `target`, `target_qd`. Output:
    `compensation` within `most` (nv) [N m, N].

    `error` [rad, m] and `rate` [rad/s, m/s] (nv) are where the outermost sets begin. `rules`: a table of words NB, NM,
    ZE, PM, PB or of numbers from -1 to 1, errors down and rates across; `inference`: "product" or "minimum". It
    has no memory. For errors that are not finite the compensation is zero.

    >>> import cayley as cy
    >>> law = fuzzy_rules(cy.load("planar2r"), 10.0, 0.1, 1.0)
    >>> law.step([0.0, 0.0], [0.0, 0.0], [0.025, 0.3], [0.0, 0.0])
    array([ 2.5, 10. ])
    """
    n = tree_for(arm, "a table of rules", rigid=False, single=True, driven=False).nv
    table = _table(rules)
    if inference not in ("product", "minimum"):
        raise ConventionError(f'rules must be joined by "product" or "minimum", not {inference!r}')

    def joint(e: Array, ed: Array) -> Array:
        A = _memberships(e, len(table))[:, None]
        B = _memberships(ed, table.shape[1])[None]
        w = A * B if inference == "product" else np.minimum(A, B)
        return np.sum(w * table) / np.sum(w)

    def law(u: Record, p: Record) -> Array:
        e = (u.target - u.q) / p.error
        ed = (u.target_qd - u.qd) / p.rate
        return finite_or(p.most * np.stack([joint(e[k], ed[k]) for k in range(n)]), 0.0)

    return System(
        name, inputs={"q": n, "qd": n, "target": n, "target_qd": Port((n,), default=0.0)}, outputs={"compensation": n},
        parameters={"most": positive_gains_of(most, n, "most"), "error": positive_gains_of(error, n, "error"),
                    "rate": positive_gains_of(rate, n, "rate")},
        output=lambda t, x, u, p: law(u, p))


def _memberships(x: Array, count: int) -> Array:
    """The memberships of a number in the sets (count), which add up to one."""
    peaks = np.linspace(-1.0, 1.0, count)
    inside = np.minimum(np.maximum(x, -1.0), 1.0)
    return np.maximum(1.0 - abs(inside - peaks) * ((count - 1) / 2), 0.0)


def _table(rules: ArrayLike | Sequence[Sequence[str]]) -> Array:
    try:
        given = np.asarray(rules)
    except ValueError as error:
        raise SignatureError(f"the rows of a table of rules must be of one length, not {shown(rules)}") from error
    if given.dtype.kind == "U":
        for word in given.ravel().tolist():
            if word not in WORDS:
                raise SignatureError(f"a rule says one of {', '.join(WORDS)}, not {word!r}{did_you_mean(word, WORDS)}")
        given = np.vectorize(WORDS.get)(given)
    table = numbers_of(given, "rules")
    if table.ndim != 2 or min(table.shape) < 2 or not (np.abs(table) <= 1).all():
        raise SignatureError("rules must be a table of words or of numbers from -1 to 1, two by two at least, not "
                             f"{shown(rules)}")
    return table
