"""Operation counts, by the rules of the published tables: a change of sign is free, a sine with its cosine is one call.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from cayley.compiler.operations import FREE, OPERATIONS
from cayley.compiler.tracing.program import Program
from cayley.showing import html_table


@dataclass(frozen=True)
class Operations:
    """Operation counts of a program. `trigonometric` counts angles: a sine, a cosine and a tangent of one angle are
    one."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    square_roots: int = 0
    trigonometric: int = 0
    other_functions: int = 0
    selections: int = 0

    def __add__(self, other: Operations) -> Operations:
        return Operations(*[getattr(self, f.name) + getattr(other, f.name) for f in fields(self)])

    def __rmul__(self, times: int) -> Operations:
        return Operations(*[times * getattr(self, f.name) for f in fields(self)])

    @property
    def total(self) -> int:
        return sum(getattr(self, f.name) for f in fields(self))

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        return html_table("Operations", ("what", "how many"), [(words, str(number)) for number, words in self._found])

    @property
    def _found(self) -> list[tuple[int, str]]:
        return [(getattr(self, f.name), f.name.replace("_", " ")) for f in fields(self) if getattr(self, f.name)]

    def __str__(self) -> str:
        found = self._found
        parts = [f"{number} {words[:-1] if number == 1 and words.endswith('s') else words}" for number, words in found]
        return ", ".join(parts) or "no operations"


def count(program: Program) -> Operations:
    """The operations of the program, each node once, and those of the programs that it calls, once for each call,
    of loops for each turn."""
    found = dict.fromkeys((f.name for f in fields(Operations)), 0)
    angles = set()
    called = Operations()
    for node in program.nodes:
        if node.op == "call":
            called += node.value.turns * count(node.value.simplified)
        price = OPERATIONS[node.op].price
        if price == "trigonometric":
            angles.add(node.args[0].index)
        elif price != FREE:
            found[price] += 1
    return called + Operations(**{**found, "trigonometric": len(angles)})
