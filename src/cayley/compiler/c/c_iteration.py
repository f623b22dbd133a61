"""An iteration as C99: one function of one trajectory, with the loops over samples, steps and stages inside."""

from __future__ import annotations

from dataclasses import dataclass

from cayley.compiler.algebras.counts import count
from cayley.compiler.c.c_expressions import helper_names
from cayley.compiler.c.c_loops import LOOP_NAMES, STEP, MemoryPlace, loop_statements
from cayley.compiler.c.c_source import (
    AS_WRITTEN,
    CNames,
    CSource,
    c_dialect,
    comment,
    declared,
    header_text,
    parameter_names,
    source_text,
    spoken,
    table,
)
from cayley.compiler.iteration import CHANGING, CONSTANT, CYCLING, Iteration
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.tracing.names import FOR_FUNCTIONS, identifier
from cayley.compiler.tracing.program import Program, Variable

_OF = {CHANGING: "for each step", CYCLING: "for each stage of a step", CONSTANT: ""}


def c_iteration(iteration: Iteration, *, name: str | None = None, precision: str = "double") -> CSource:
    """The C99 text of an iteration. States and constants are as in the function of one stage; what changes or cycles is
    an array of one for each step or stage, and what is kept one for each sample, one after the other."""
    dialect = c_dialect(precision)
    program = in_precision(iteration.program, precision)
    called = identifier(name or f"{program.name}_rollout", FOR_FUNCTIONS)
    text = _Text(iteration, program, called)
    prototype = declared(called, text.parameters(precision))
    statements = loop_statements(program, iteration.plan, dialect, text.inputs(), text.outputs(),
                                 taken=text.taken(), helper=called, index="long")
    note = comment(program, called, *text.tables(), f"Operations of a stage: {count(program)}.",
                   "An output must not be the same array as an input. Written by Cayley.")
    helpers = dialect.definitions(program, called)
    source = source_text(called, prototype, note, helpers, statements,
                         AS_WRITTEN if program.is_strict else "")
    return CSource(called, source, header_text(called, prototype, note))


@dataclass(frozen=True)
class _Text:
    iteration: Iteration
    program: Program
    called: str

    @property
    def names(self) -> CNames:
        return parameter_names(self.program, taken=[*helper_names(self.called), *LOOP_NAMES])

    @property
    def kept(self) -> list[tuple[Variable, str]]:
        return [(self.program.outputs[k], self.names.outputs[k]) for k in self.iteration.plan.kept]

    @property
    def given(self) -> list[tuple[Variable, str, tuple[int, ...]]]:
        return list(zip(self.program.inputs, self.names.inputs, self.iteration.plan.moves, strict=True))

    def taken(self) -> set[str]:
        return {*helper_names(self.called), *LOOP_NAMES, *self.names.inputs, *self.names.outputs}

    def parameters(self, real: str) -> list[str]:
        lengths = ["long samples", "long every", *(["long cycle"] if self.iteration.plan.has_stages else [])]
        inputs = [f"const {real} *{name}" if moves != CONSTANT or (v.shape and not v.nodes) else
                  f"const {real} {name}[{len(v.nodes)}]" if v.shape else f"{real} {name}"
                  for v, name, moves in self.given]
        return [*lengths, *inputs, *[f"{real} *{name}" for _, name in self.kept]]

    def inputs(self) -> list[MemoryPlace]:
        return [_read(v, name, moves) for v, name, moves in self.given]

    def outputs(self) -> list[MemoryPlace]:
        return [_along("sample", v, name) for v, name in self.kept]

    def tables(self) -> tuple[list[str], list[str]]:
        inputs = table([(v, name, spoken(v, _OF[moves])) for v, name, moves in self.given])
        lengths = ["  samples, every, cycle: how many states are kept, steps between two, stages of a step"
                   if self.iteration.plan.has_stages
                   else "  samples, every: how many states are kept, steps between two"]
        return lengths + inputs, table([(v, name, spoken(v, "for each sample")) for v, name in self.kept])


def _read(variable: Variable, name: str, moves: tuple[int, ...]) -> MemoryPlace:
    if moves == CONSTANT:
        return MemoryPlace(name, lambda k: f"{name}[{k}]" if variable.shape else name)
    return _along(STEP if moves == CHANGING else "stage", variable, name)


def _along(turn: str, variable: Variable, name: str) -> MemoryPlace:
    size = len(variable.nodes)
    return MemoryPlace(name, lambda k: f"{name}[{turn}*{size} + {k}]" if variable.shape else f"{name}[{turn}]")
