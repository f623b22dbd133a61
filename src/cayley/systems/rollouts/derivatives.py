"""Derivatives of rollouts: forward along directions, and backward from weights, each inside one compiled loop.

A step is one text, all stages of its method; the loops are those of `cayley.compiler.derivatives.iterated_steps`.
These are the derivatives of the steps that are made, not of the motion they approximate: they agree with differences
of rollouts. The way back needs every state of the way there. Those of some steps fit into memory; else states are kept
some steps apart, about the root of their number, and what lies between is computed again.

Everything is by coordinates: the derivative by a quaternion has four entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.array_parts import summed
from cayley.compiler.derivatives.iterated_steps import adjoint_steps, named_kernel, tangent_steps
from cayley.compiler.iterate import Iterated
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnsupportedError, did_you_mean, shown
from cayley.systems.rollouts.runs import RecordedRun, Run, from_to

if TYPE_CHECKING:
    from cayley.systems.rollouts.rollout import Rollout

WORK = "work"


class RolloutDerivatives:
    """The derivatives of one rollout; compiled when first asked for, for each choice of what to differentiate by."""

    def __init__(self, rollout: Rollout, hidden: Sequence[str] = ()) -> None:
        """`hidden` are inputs that no user knows of."""
        self.rollout = rollout
        self._hidden = tuple(hidden)
        self._layout = rollout.system.layout

    @property
    def names(self) -> list[str]:
        """The names of the variables to differentiate by."""
        known = [*self._layout.blocks, *self.rollout.inputs, *self.rollout.parameters]
        return [name for name in known if name not in self._hidden]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes for one trajectory; what changes has an axis of steps besides."""
        blocks = {name: block.shape for name, block in self._layout.blocks.items()}
        return {**blocks, **dict.fromkeys(self._layout.modes, ()), **self.rollout.inputs, **self.rollout.parameters}

    def chosen(self, by: Sequence[str] | str | None) -> tuple[str, ...]:
        """The names that were asked for, or all."""
        if by is None:
            return tuple(self.names)
        if not isinstance(by, (str, Iterable)):
            raise SignatureError(f"`by` is a name, or several, not {shown(by)}")
        for name in [by] if isinstance(by, str) else by:
            if name not in self.names:
                others = f"; there are {', '.join(self.names)}"
                raise SignatureError(f"a rollout of {self.rollout.system.name} has no {name!r} to differentiate by"
                                     f"{did_you_mean(name, self.names, otherwise=others)}")
        return (by,) if isinstance(by, str) else tuple(name for name in self.names if name in by)

    # Backward

    def vjp(self, run: Run, weights: Mapping[str, ArrayLike], by: Sequence[str] | str | None) -> dict[str, Array]:
        """The derivatives of the weighted sum of kept states: each of the shape of what it is by."""
        recorded = RecordedRun(run)
        return self.backward(recorded, self.seeds(recorded, weights), self.chosen(by))

    def backward(self, recorded: RecordedRun, seeds: Array, by: tuple[str, ...]) -> dict[str, Array]:
        """`seeds` (..., samples + 1, size + 2) are the weights of the kept points."""
        run = recorded.run
        rollout = self.rollout
        inner = tuple(name for name in by if name not in self._layout.blocks)
        constants = [name for name in inner if name not in rollout.changing]
        moving = [name for name in inner if name in rollout.changing]
        iterated = self._iterated(adjoint_steps, "backward", inner)
        shapes = self.shapes
        found = {n: run.empty(run.steps, *shapes[n]) for n in moving}
        sums = {n: run.zeros(*shapes[n]) for n in constants}
        adjoint = seeds[..., -1, :]
        for first, last, points in recorded.backward():
            arguments = run.during(first, last) | {
                "x": points[..., :-1, :], "weight": recorded.weights(seeds, first, last)}
            arguments = {n: _backwards(a, self._moves[n]) if n in self._moves else a for n, a in arguments.items()}
            arguments |= {"adjoint": adjoint, **{f"sum.{n}": sums[n] for n in constants}}
            kept = last - first if moving else 1  # of all else only the last is of use
            out = [run.empty(kept, *shape) for shape in (seeds.shape[-1:], *[shapes[n] for n in constants])]
            out += [_backwards(from_to(found[n], slice(first, last), len(shapes[n])), len(shapes[n])) for n in moving]
            iterated(*[arguments[n] for n in iterated.kernel.inputs], steps=last - first, every=(last - first) // kept,
                     out=out, dtype=run.precision, threads=run.threads)
            adjoint = out[0][..., -1, :]
            if first % run.every == 0:
                adjoint = adjoint + seeds[..., first // run.every, :]
            sums = {n: from_to(a, -1, len(shapes[n])) for n, a in zip(constants, out[1:], strict=False)}
        given = run.arguments
        whole = found | sums | {n: self.block(adjoint, n) for n in by if n in self._layout.blocks}
        return {n: summed(whole[n], given[n].shape, (*run.batch, *self.axes(n, run.steps))) for n in by}

    @cached_property
    def _moves(self) -> dict[str, int]:
        """The arguments of the way back that have a value for each step, and their axes besides."""
        return {"x": 1, "weight": 1, **({"t": 0} if self.rollout.timed else {}),
                **{f"u.{n}": len(self.shapes[n]) for n in self.rollout.changing}}

    def axes(self, name: str, steps: int) -> tuple[int, ...]:
        """The core of an argument: of what changes, with its steps."""
        return (*([steps] if name in self.rollout.changing else []), *self.shapes[name])

    def block(self, points: Array, name: str) -> Array:
        return points[..., -2] if name == WORK else self._layout.state(points)[name]

    @cached_property
    def places(self) -> dict[str, slice]:
        """The places of the blocks in a point, and of the work that was put in."""
        return self._layout.places | {WORK: slice(self._layout.size, self._layout.size + 1)}

    def seeds(self, recorded: RecordedRun, weights: Mapping[str, ArrayLike]) -> Array:
        """The weights of the blocks, (..., samples + 1, *shape) each, as weights of points."""
        run = recorded.run
        seeds = run.zeros(run.samples + 1, self.rollout.size)
        for name, given in weights.items():
            if name not in self.places:
                raise SignatureError(f"{self._layout.whose} has no state {name!r} to weigh"
                                     f"{did_you_mean(name, [*self.places])}")
            array: Any = self._real("weight", name, given)
            shape = () if name == WORK else self.shapes[name]
            wanted = (*run.batch, run.samples + 1, *shape)
            if tuple(array.shape) != wanted:
                raise SignatureError(f"the weights of {name!r} have the shape {tuple(array.shape)}: there is one for "
                                     f"each kept number, {wanted}")
            seeds[..., self.places[name]] = array.reshape((*wanted[:len(wanted) - len(shape)], prod(shape)))
        return seeds

    def _real(self, word: str, name: str, given: ArrayLike) -> Array:
        """A given value as an array of the backend, if it is real numbers."""
        array = self.rollout.backend.array(given, name)
        if array.dtype.kind not in "fiub":
            raise SignatureError(f"the {word} of {name!r} must be real numbers, not {array.dtype}")
        return array

    @cached_property
    def step(self) -> Kernel:
        """All stages of one step, as a kernel: (x, h, t, inputs, parameters) -> x."""
        return named_kernel(self._step_text, self.arguments, {"after": (self.rollout.size,)},
                            f"{self.rollout.system.name} step", shared=True)

    @cached_property
    def arguments(self) -> dict[str, tuple[int, ...]]:
        rollout = self.rollout
        return {"x": (rollout.size,), "h": (), **({"t": ()} if rollout.timed else {}),
                **{f"u.{n}": s for n, s in rollout.inputs.items()},
                **{f"p.{n}": s for n, s in rollout.parameters.items()}}

    def _step_text(self, given: dict[str, Any]) -> tuple[Array]:
        rollout = self.rollout
        method = rollout.fixed_step
        stage = rollout._iterated.kernel
        given |= {"carried": method.carried(given["x"], self._layout), "held": np.zeros(rollout.held)}
        fed = [name for name in ("x", "carried", "held") if name in stage.inputs]
        for row in method.table.numbers:
            given["row"] = row
            results = stage(*[given[name] for name in stage.inputs])
            given |= dict(zip(fed, results if len(fed) > 1 else [results], strict=True))
        return (given["x"],)

    def _variables(self, by: Sequence[str]) -> dict[str, str]:
        """The arguments of a step that have these names."""
        return {n: f"p.{n}" if n in self.rollout.parameters else f"u.{n}" for n in by}

    def _iterated(self, loop: Callable[..., Iterated], word: str, by: tuple[str, ...]) -> Iterated:
        """The loop of the derivatives by some inputs and parameters, made once."""
        rollout = self.rollout
        changing = [*(["t"] if rollout.timed else []), *[f"u.{n}" for n in rollout.changing]]
        return kept(self, (loop, by), lambda: loop(
            self.step, self.arguments, self._variables(by), changing,
            f"{rollout.system.name} {rollout.method} {word}").on(rollout._iterated.backend))

    # Forward

    def jvp(self, run: Run, tangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """The tangents (..., samples + 1, *shape) of all blocks, along one direction of the arguments."""
        rollout = self.rollout
        by = self.chosen([*tangents])
        inner = tuple(n for n in by if n not in self._layout.blocks)
        arrays = {name: self._real("tangent", name, tangents[name]) for name in by}
        batch = run.batch
        for name, array in arrays.items():
            core = self.axes(name, run.steps)
            if tuple(array.shape[array.ndim - len(core):]) != core:
                raise SignatureError(f"the tangent of {name!r} has the shape {tuple(array.shape)}: it is (..., "
                                     f"{', '.join(map(str, core))})")
            batch = np.broadcast_shapes(batch, array.shape[:array.ndim - len(core)])
        along = rollout.backend.empty(batch, (run.samples + 1, rollout.size), run.precision)
        rollout.begin(along[..., 0, :], {n: arrays.get(n, np.zeros(self.shapes[n])) for n in self._layout.columns})
        if run.steps:
            start = run.empty(rollout.size)
            rollout.begin(start, run.x)
            iterated = self._iterated(tangent_steps, "forward", inner)
            arguments = run.during(0, run.steps) | {"x": start, "along": along[..., 0, :]}
            arguments |= {f"along.{n}": arrays[n] for n in inner}
            iterated(*[arguments[n] for n in iterated.kernel.inputs], steps=run.steps, every=run.every,
                     out=[along[..., 1:, :]], dtype=run.precision, threads=run.threads)
        return {name: self.block(along, name) for name in self.places}

    def sensitivities(self, run: Run, by: Sequence[str] | str | None) -> dict[str, dict[str, Array]]:
        """The derivatives of each block at the kept times by each of `by`: (..., samples + 1, *block, *by)."""
        by = self.chosen(by)
        moving = [n for n in by if n in self.rollout.changing]
        if moving:
            raise UnsupportedError(f"{moving[0]!r} changes: it has as many sensitivities as there are steps; take "
                                   "`gradient` or `vjp`, or `jvp` along one direction")
        ends = np.cumsum([prod(self.shapes[n]) for n in by]).tolist()
        directions = self._columns(np.eye(ends[-1]), ends, by)
        found = self.jvp(self._with_columns(run), directions)
        return {name: self._columns(np.moveaxis(found[name], len(run.batch), -1), ends, by)
                for name in self._layout.blocks}

    def _columns(self, array: Array, ends: Sequence[int], by: Sequence[str]) -> dict[str, Array]:
        """The columns of an array (..., columns) that belong to each of `by`, (..., *by)."""
        parts = np.split(array, ends[:-1], axis=-1)
        return {n: part.reshape((*part.shape[:-1], *self.shapes[n])) for n, part in zip(by, parts, strict=True)}

    def _with_columns(self, run: Run) -> Run:
        """The same run with an axis at the end of the batch, along which nothing changes."""
        def widened(values: Mapping[str, Array]) -> dict[str, Array]:
            return {n: np.expand_dims(a, a.ndim - len(self.axes(n, run.steps))) for n, a in values.items()}
        step: Any = np.asarray(run.step)
        return replace(run, x=widened(run.x), given=widened(run.given), parameters=widened(run.parameters),
                       step=step[..., None])


def _backwards(array: Array, core: int) -> Array:
    return from_to(array, slice(None, None, -1), core)


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
            wanted = self._derivatives.axes(name, self._steps)
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
