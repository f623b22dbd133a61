"""LaTeX: equations to read."""

from __future__ import annotations

from cayley.compiler.algebras.equations import equations
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.operations import OPERATIONS
from cayley.compiler.tracing.names import FOR_FUNCTIONS, identifier
from cayley.compiler.tracing.program import Program


class Latex(Backend):
    """A document that LaTeX can set as it is; long lists of equations may be broken between pages."""

    title = "LaTeX"

    def spells(self, op: str) -> bool:
        return bool(OPERATIONS[op].spelled("sympy") or OPERATIONS[op].operator) or super().spells(op)

    def files(self, program: Program, precision: str) -> dict[str, str]:
        body = equations(program).latex().replace("{aligned}", "{align*}")
        heading = program.name.replace("_", r"\_")
        lines = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\allowdisplaybreaks", r"\begin{document}",
                 rf"\section*{{{heading}}}", body, r"\end{document}", ""]
        return {f"{identifier(program.name, FOR_FUNCTIONS)}.tex": "\n".join(lines)}


BACKEND = Latex()
