"""An iteration as the text of one CUDA kernel: one thread a trajectory, its state in registers from end to end.

Each operand is a pointer with its strides, in elements: from trajectory to trajectory, from turn to turn of the loop
that it moves along, and from element to element."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.algebras.counts import count
from cayley.compiler.c.c_expressions import helper_names
from cayley.compiler.c.c_loops import LOOP_NAMES, STEP, MemoryPlace, loop_statements
from cayley.compiler.c.c_source import comment, parameter_names, spoken, table
from cayley.compiler.cuda.cuda_functions import cuda_dialect
from cayley.compiler.cuda.cuda_limbs import NAMES, limb_memory, limb_statements, threads_of
from cayley.compiler.cuda.cuda_source import THIS_THREAD, Operand, Strides, kernel_text, tabled
from cayley.compiler.cuda.cuda_stretches import LimbedProgram
from cayley.compiler.cuda.thread_shares import COARSE, FINE
from cayley.compiler.iteration import CHANGING, CONSTANT, CYCLING, Iteration
from cayley.compiler.native.schedule import most_alive
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.operations import CALLS
from cayley.compiler.tracing.names import FOR_FUNCTIONS, identifier
from cayley.compiler.tracing.program import Program

CROWDED = 600  # words: more than twice what a thread has registers for
CROWDED_BY_LOOPS = 250  # where a loop needs registers for itself
TOGETHER = {"float": 1, "double": 4}
"""Trajectories that a thread takes limb by limb through a program that is crowded and has no loops. On an H200, in
billion steps a second, by one and by four: Talos of 32 joints 0.66 and 0.33, in double precision 0.19 and 0.27; of 44
joints 0.47 and 0.19, in double precision 0.11 and 0.19."""

_TURN = {CHANGING: STEP, CYCLING: "stage"}
_EACH = {CHANGING: "for each step", CYCLING: "for each stage of a step", CONSTANT: ""}


def iteration_name(program: Program) -> str:
    """Name of the kernel of an iterated program in the text."""
    return identifier(f"{program.name}_rollout", FOR_FUNCTIONS)


def limbed_program(iteration: Iteration, precision: str) -> LimbedProgram | None:
    """The program as it is computed limb by limb, if it would have too much at hand."""
    program = in_precision(iteration.program, precision)
    words = 2 if precision == "double" else 1
    crowded = CROWDED_BY_LOOPS if any(node.op in CALLS for node in program.nodes) else CROWDED
    grain = FINE if TOGETHER[precision] == 1 else COARSE
    return LimbedProgram.of(program, iteration.plan, grain) if words * most_alive(program) > crowded else None


def together_in(limbed: LimbedProgram, precision: str) -> int:
    """The trajectories that a thread takes."""
    return 1 if limbed.has_loops else TOGETHER[precision]


def memory_of_block(limbed: LimbedProgram, iteration: Iteration, precision: str) -> int:
    """The memory [bytes] that a block shares."""
    return limb_memory(limbed, iteration.plan, precision) if together_in(limbed, precision) == 1 else 0


def cuda_iteration(iteration: Iteration, precision: str = "double", name: str = "",
                   strides: Sequence[Strides] | None = None, limbed: LimbedProgram | None = None) -> str:
    """The text of the kernel `(count, samples, every, cycle, pointer, strides, ...)`, inputs first, then what is kept.

    Inputs that change or cycle and what is kept have three strides, all others two; `strides` are those that are known.
    Where the program of this precision is computed limb by limb, a thread may take several trajectories."""
    dialect = cuda_dialect(precision)
    program = limbed.whole if limbed else in_precision(iteration.program, precision)
    plan = iteration.plan
    called = identifier(name, FOR_FUNCTIONS) if name else iteration_name(program)
    taken = {*helper_names(called), *LOOP_NAMES, *NAMES, "count", "state", f"{called}_numbers"}
    names = parameter_names(program, taken=sorted(taken))
    taken.update(names.inputs, names.outputs)
    known: Sequence[Strides | None] = strides or [None for _ in (*program.inputs, *plan.kept)]
    inputs = [Operand.named(v, label, taken, each, _TURN.get(moves, "")) for v, label, moves, each
              in zip(program.inputs, names.inputs, plan.moves, known[:len(program.inputs)], strict=True)]
    outputs = [Operand.named(program.outputs[k], names.outputs[k], taken, each, "sample")
               for k, each in zip(plan.kept, known[len(program.inputs):], strict=True)]
    places = [MemoryPlace(o.pointer, o.at, o.unknown) for o in (*inputs, *outputs)]
    bounds: tuple[int, ...] = ()
    numbers = tabled(dialect, f"{called}_numbers")
    if limbed:
        bounds = threads_of(program), 1
        statements = limb_statements(limbed, plan, numbers, places[:len(inputs)], places[len(inputs):],
                                     together=together_in(limbed, precision), taken=taken, helper=called)
    else:
        statements = [*THIS_THREAD, *loop_statements(
            program, plan, dialect, places[:len(inputs)], places[len(inputs):], taken=taken, helper=called,
            index="long long")]
    note = comment(program, called,
                   table([(o.variable, o.pointer, spoken(o.variable, _EACH[moves]))
                          for o, moves in zip(inputs, plan.moves, strict=True)]),
                   table([(o.variable, o.pointer, spoken(o.variable, "for each sample")) for o in outputs]),
                   f"Operations of a stage: {count(program)}.", "Written by Cayley.")
    parameters = [f"const long long {length}" for length in ("count", "samples", "every", "cycle")]
    parameters += [o.declared(f"const {dialect.real}") for o in inputs] + [o.declared(dialect.real) for o in outputs]
    idle = [] if plan.has_stages else ["(void)cycle;"]
    helpers = [*dialect.definitions(program, called), *numbers.declared]
    return kernel_text(called, note, helpers, parameters, [*idle, *statements], bounds)
