"""Rollouts as functions that torch and JAX differentiate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cayley.compiler.typing import Array
from cayley.errors import SignatureError
from cayley.systems.rollouts.derivatives import RolloutDerivatives
from cayley.systems.rollouts.runs import RecordedRun, Run

Shape = tuple[int, ...]


class RolloutLayer:
    """`make_run` makes a run of arguments by name, with what differentiates it. The results are the blocks,
    (..., samples + 1, *shape) each; on the way back the states of the way there are at hand."""

    def __init__(self, derivatives: RolloutDerivatives,
                 make_run: Callable[[Mapping[str, Any]], tuple[RolloutDerivatives, Run]], steps: int, every: int,
                 required: Sequence[str]) -> None:
        self._derivatives = derivatives
        self._make_run = make_run
        self._steps = steps
        self._every = every
        self.required = tuple(required)
        rollout = derivatives.rollout
        self._blocks = [*rollout.system.layout.blocks]
        self.name = f"rollout of {rollout.system.name}"
        self.inputs = tuple(derivatives.names)
        self.cores = {n: len(shape) + (n in rollout.changing) for n, shape in derivatives.shapes.items()}

    def shapes(self, given: Mapping[str, Shape]) -> list[Shape]:
        for name, shape in given.items():
            changes = name in self._derivatives.rollout.changing
            wanted = (*([self._steps] if changes else []), *self._derivatives.shapes[name])
            if tuple(shape) != wanted:
                raise SignatureError(f"{name!r} of the {self.name} has the shape (..., {', '.join(map(str, wanted))}); "
                                     f"these end in {tuple(shape)}")
        return [(self._steps // self._every + 1, *self._derivatives.shapes[n]) for n in self._blocks]

    def forward(self, given: Mapping[str, Array]) -> tuple[Sequence[Array], Any]:
        derivatives, run = self._make_run(given)
        recorded = RecordedRun(run)
        return [derivatives.block(recorded.samples, n) for n in self._blocks], (derivatives, recorded)

    def backward(self, memory: Any, weights: Sequence[Array],  # noqa: ANN401
                 wanted: Sequence[str]) -> dict[str, Array]:
        derivatives, recorded = memory
        seeds = derivatives.seeds(recorded, dict(zip(self._blocks, weights, strict=True)))
        return derivatives.backward(recorded, seeds, derivatives.chosen(wanted))

    def reversed(self, wanted: Sequence[str]) -> None:
        """The way back of a rollout has no derivative."""
        return
