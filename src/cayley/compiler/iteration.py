"""Iterations x[k + 1] = f(x[k], u[k], p) with their loops, before any code is made of them.

    for sample ...            the states that are kept
        for step ... every        changing inputs are read anew
            while again ... at most   (only if it repeats) for as long as a state asks for it
                for stage ... cycle       cycling inputs are read anew: they are the same in each step
                    compute; outputs feed inputs
        keep

Backends put these loops around the program of one stage, for many trajectories side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from cayley.compiler.tracing.program import Program
from cayley.errors import SignatureError

LOOPS = ("samples", "every", "cycle")
CONSTANT: tuple[int, ...] = ()
CHANGING = (0, 1)
CYCLING = (2,)
KEPT = (0,)


@dataclass(frozen=True)
class Turns:
    """The turns of each loop of a call."""

    samples: int
    every: int
    cycle: int

    @staticmethod
    def of(steps: int, every: int, cycle: int) -> Turns:
        if steps < 0 or every < 1 or steps % every:
            raise SignatureError(
                f"{steps} steps with every {every}th kept: the steps must be a multiple of it, and neither negative")
        return Turns(steps // every, every, cycle)

    @property
    def steps(self) -> int:
        return self.samples * self.every


@dataclass(frozen=True)
class Plan:
    """The roles of the variables of a program in its loops: by place, which loops each input moves along, which output
    feeds it, which outputs are kept, and which one asks for the stages of a step again, at most how often in all."""

    moves: tuple[tuple[int, ...], ...]
    feeds: tuple[tuple[int, int], ...]  # output, input
    kept: tuple[int, ...]
    repeats: tuple[int, int] | None = None

    @staticmethod
    def of(program: Program, moves: Mapping[str, tuple[int, ...]], feeding: Mapping[str, str],
           keeping: Sequence[str] | None, repeating: tuple[str, int] | None) -> Plan:
        """The plan by the names of the program's inputs and outputs."""
        inputs = [v.name for v in program.inputs]
        outputs = [v.name for v in program.outputs]
        asking = [repeating[0]] if repeating else []
        missing = [name for name in (*feeding.values(), *(keeping or ()), *asking) if name not in outputs]
        if missing:
            raise SignatureError(f"{program.name} has no output {missing[0]!r}; it has {', '.join(outputs)}")
        feeds = tuple((outputs.index(after), inputs.index(before)) for before, after in feeding.items())
        for after, before in feeds:
            if program.outputs[after].shape != program.inputs[before].shape:
                raise SignatureError(
                    f"output {outputs[after]!r} of {program.name} has the shape {program.outputs[after].shape}; it "
                    f"cannot feed {inputs[before]!r}, which has {program.inputs[before].shape}")
        return Plan(tuple(moves.get(name, CONSTANT) for name in inputs), feeds,
                    tuple(outputs.index(name) for name in keeping or outputs),
                    (outputs.index(repeating[0]), repeating[1]) if repeating else None)

    @property
    def fed(self) -> dict[int, int]:
        """The output that feeds an input, by the place of the input."""
        return {before: after for after, before in self.feeds}

    @property
    def has_stages(self) -> bool:
        return CYCLING in self.moves


@dataclass(frozen=True, eq=False)
class Iteration:
    """A program of one stage and the plan of its loops. `traced` is the program before it is simplified: enough to
    find compiled code in the cache."""

    traced: Program
    plan: Plan
    simplified: Callable[[], Program]

    @cached_property
    def program(self) -> Program:
        """The program that is computed in each stage."""
        return self.simplified()
