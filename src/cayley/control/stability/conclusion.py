"""What follows from the claims about a candidate together: Lyapunov's theorems, and LaSalle's.

A word that is proved needs claims that are proved; what samples say beyond that is told besides, as no more than that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cayley.control.stability.error_dynamics import ErrorDynamics
from cayley.control.stability.linear_stability import of_error_dynamics
from cayley.control.stability.verdict import Finding, Nature, Outcome, Scope, Verdict

ZERO = "V is zero at the equilibrium"
POSITIVE = "V > 0 elsewhere"
UNBOUNDED = "V grows without bound"
STRICT = "V' < 0 elsewhere"
FALLS = "V' <= 0"
ALONE = "nothing but the equilibrium stays where V' = 0"

_SCOPES: dict[Scope, tuple[Scope, ...]] = {  # what also holds in a scope
    "globally": ("globally",), "in the region": ("globally", "in the region"), "locally": ("globally", "locally")}
_ORDER: tuple[tuple[Nature, Scope], ...] = (
    ("asymptotically stable", "globally"), ("asymptotically stable", "in the region"),
    ("asymptotically stable", "locally"), ("stable", "globally"), ("stable", "in the region"), ("stable", "locally"),
    ("undecided", "locally"))


def concluded(about: ErrorDynamics, claims: Sequence[Finding], region: Mapping[str, tuple[float, float]]) -> Verdict:
    """The verdict of claims about a candidate, and of the linear model."""
    linear = of_error_dynamics(about)
    findings = (*claims, *linear.findings)
    if linear.nature == "unstable":
        return Verdict(about.name, "unstable", "proved", "locally", findings, linear.poles, region)
    proved = [_followed(claims, scope, ("proved",)) for scope in ("globally", "locally")]
    proved += [(linear.nature, linear.scope)]
    sure = min(proved, key=_ORDER.index)
    seen = min((_followed(claims, scope, ("proved", "sampled")) for scope in ("globally", "in the region")),
               key=_ORDER.index)
    more = seen if _ORDER.index(seen) < _ORDER.index(sure) else None
    if sure[0] == "undecided":
        nature, scope = more or sure
        return Verdict(about.name, nature, "sampled" if more else "nothing", scope, findings, linear.poles, region)
    return Verdict(about.name, sure[0], "proved", sure[1], findings, linear.poles, region, more)


def _followed(claims: Sequence[Finding], scope: Scope, outcomes: tuple[Outcome, ...]) -> tuple[Nature, Scope]:
    """What follows in a scope from the claims that have one of the outcomes."""
    def holds(claim: str) -> bool:
        return any(f.claim == claim and f.outcome in outcomes and f.scope in _SCOPES[scope] for f in claims)

    if not holds(ZERO) or not holds(POSITIVE) or not (holds(STRICT) or holds(FALLS)):
        return "undecided", "locally"
    comes_back = holds(STRICT) or holds(ALONE)
    if scope == "globally" and not holds(UNBOUNDED):
        scope = "locally"
    return "asymptotically stable" if comes_back else "stable", scope
