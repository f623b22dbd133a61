"""An iteration as the text of one CUDA kernel: one thread a trajectory, its state in registers from end to end.

Each operand is a pointer with its strides, in elements: from trajectory to trajectory, from turn to turn of the loop
that it moves along, and from element to element.
"""

from __future__ import annotations

from dataclasses import dataclass

from cayley.compiler.c_expressions import helper_names
from cayley.compiler.c_loops import LOOP_NAMES, STEP, Place, loop_statements
from cayley.compiler.c_source import comment, parameter_names, spoken, table
from cayley.compiler.c_words import FOR_FUNCTIONS
from cayley.compiler.counts import count
from cayley.compiler.cuda_source import THIS_THREAD, cuda_dialect, kernel_text
from cayley.compiler.iteration import CHANGING, CONSTANT, CYCLING, Iteration
from cayley.compiler.names import identifier, unique
from cayley.compiler.program import Variable
from cayley.compiler.single_precision import in_precision

_TURN = {CHANGING: STEP, CYCLING: "stage"}
_EACH = {CHANGING: "for each step", CYCLING: "for each stage of a step", CONSTANT: ""}


@dataclass(frozen=True)
class _Operand:
    """An input or a kept output: its pointer, its strides, and the turn of the loop that it moves along."""

    variable: Variable
    pointer: str
    strides: tuple[str, ...]
    turn: str

    def declared(self, kind: str) -> str:
        return ", ".join([f"{kind} *{self.pointer}", *[f"const long long {stride}" for stride in self.strides]])

    @property
    def place(self) -> Place:
        turns = ["state", *([self.turn] if self.turn else [])]
        start = " + ".join(f"{turn}*{stride}" for turn, stride in zip(turns, self.strides, strict=False))
        return Place(self.pointer, lambda k: f"{self.pointer}[{start} + {k}*{self.strides[-1]}]", self.strides)


def iteration_name(iteration: Iteration) -> str:
    """What the kernel is called in the text."""
    return identifier(f"{iteration.program.name}_rollout", FOR_FUNCTIONS)


def cuda_iteration(iteration: Iteration, precision: str = "double", name: str = "") -> str:
    """The text of the kernel `(count, samples, every, cycle, pointer, strides, ...)`, inputs first, then what is kept.

    Inputs that change or cycle and what is kept have three strides, all others two.
    """
    dialect = cuda_dialect(precision)
    program = in_precision(iteration.program, precision)
    plan = iteration.plan
    called = identifier(name, FOR_FUNCTIONS) if name else iteration_name(iteration)
    taken = {*helper_names(called), *LOOP_NAMES, "count", "state"}
    names = parameter_names(program, taken=sorted(taken))
    taken.update(names.inputs, names.outputs)
    inputs = [_operand(v, label, _TURN.get(moves, ""), taken)
              for v, label, moves in zip(program.inputs, names.inputs, plan.moves, strict=True)]
    outputs = [_operand(program.outputs[k], names.outputs[k], "sample", taken) for k in plan.kept]
    statements = loop_statements(program, plan, dialect, [o.place for o in inputs], [o.place for o in outputs],
                                 taken=taken, helper=called, index="long long")
    note = comment(program, called,
                   table([(o.variable, o.pointer, spoken(o.variable, _EACH[moves]))
                          for o, moves in zip(inputs, plan.moves, strict=True)]),
                   table([(o.variable, o.pointer, spoken(o.variable, "for each sample")) for o in outputs]),
                   f"Operations of a stage: {count(program)}.", "Written by Cayley.")
    parameters = [f"const long long {length}" for length in ("count", "samples", "every", "cycle")]
    parameters += [o.declared(f"const {dialect.real}") for o in inputs] + [o.declared(dialect.real) for o in outputs]
    idle = [] if plan.has_stages else ["(void)cycle;"]
    helpers = dialect.definitions(program, called)
    return kernel_text(called, note, helpers, parameters, [*THIS_THREAD, *idle, *statements])


def _operand(variable: Variable, pointer: str, turn: str, taken: set[str]) -> _Operand:
    kinds = ("state", "turn", "element") if turn else ("state", "element")
    strides = tuple(unique(f"{pointer}_{kind}_stride", taken) for kind in kinds)
    taken.update(strides)
    return _Operand(variable, pointer, strides, turn)
