"""A verdict on stability: the word, and for every claim behind it whether it was proved or only sampled.

    stable                  what starts near enough to the equilibrium stays near it
    asymptotically stable   it is stable, and what starts near enough comes back to it; globally: whatever starts
    unstable                something that starts as near as you like goes away
    undecided               none of these was shown
Source: Yamamoto Appendix H (H.1)-(H.4), spec S3-49.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from cayley.compiler.typing import Array
from cayley.showing import brief

Nature: TypeAlias = Literal["asymptotically stable", "stable", "unstable", "undecided"]
Outcome: TypeAlias = Literal["proved", "sampled", "refuted", "open"]
Scope: TypeAlias = Literal["globally", "in the region", "locally"]


@dataclass(frozen=True, eq=False)
class Finding:
    """One claim: whether it was `proved`, holds for all that was `sampled`, is `refuted`, or remains `open`, and how
    that is known. What was sampled has a number of samples; what is refuted has, if possible, a state that does so."""

    claim: str
    outcome: Outcome
    how: str
    scope: Scope = "locally"
    samples: int = 0
    counterexample: Mapping[str, Array] | None = None

    __repr__ = brief

    def __str__(self) -> str:
        return f"{self.outcome} {self.scope}: {self.claim}; {self.how}"


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict on an equilibrium; `print` it. `basis` says whether the word itself is proved."""

    name: str
    nature: Nature
    basis: Literal["proved", "sampled", "nothing"]
    scope: Scope
    findings: tuple[Finding, ...]
    poles: Array | None = None
    """Of the linear model [1/s; of discrete dynamics, factors of a step]."""
    region: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """In which displacements were sampled, by their labels."""
    suggested: tuple[Nature, Scope] | None = None
    """What samples say beyond what is proved."""

    __repr__ = brief

    @property
    def is_stable(self) -> bool | None:
        """None if stability is undecided."""
        return None if self.nature == "undecided" else self.nature != "unstable"

    @property
    def proved(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.outcome == "proved")

    @property
    def sampled(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.outcome == "sampled")

    @property
    def counterexamples(self) -> tuple[Mapping[str, Array], ...]:
        """States at which a claim fails."""
        return tuple(f.counterexample for f in self.findings if f.outcome == "refuted" and f.counterexample is not None)

    @property
    def sentence(self) -> str:
        """The verdict in a line."""
        if self.nature == "undecided":
            return f"{self.name}: undecided"
        known = "proved" if self.basis == "proved" else "only sampled"
        more = f"; {' '.join(self.suggested)}, only sampled" if self.suggested else ""
        return f"{self.name}: {self.nature} {'' if self.nature == 'unstable' else self.scope}".rstrip() + (
            f", {known}{more}")

    def __str__(self) -> str:
        return "\n".join([self.sentence, *[f"  {finding}" for finding in self.findings]])
