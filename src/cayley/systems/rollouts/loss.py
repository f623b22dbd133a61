"""The gradient of a loss along rollouts: a sum over the kept states, and one number more at the last of them.

    L = sum_k running(x[k], u[k], p, t[k]) + terminal(x[N])
The slopes of both by the states are the weights that `RolloutDerivatives.backward` starts from; those by inputs and
parameters that a loss sees itself are added to what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.array_parts import summed
from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array
from cayley.errors import SignatureError, shown
from cayley.systems.rollouts.derivatives import WORK, RolloutDerivatives
from cayley.systems.rollouts.runs import RecordedRun, Run


@dataclass(frozen=True, eq=False)
class Gradient:
    """A loss, of each trajectory, and the derivatives of the sum of all: `gradient["tau"]` has the shape of `tau`."""

    value: Array
    by: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        if name not in self.by:
            raise SignatureError(f"this gradient is by {', '.join(self.by)}, not by {name!r}")
        return self.by[name]

    def __repr__(self) -> str:
        return f"<gradient by {', '.join(self.by)}>"


def gradient(derivatives: RolloutDerivatives, run: Run, running: Kernel | None, terminal: Kernel | None,
             by: Sequence[str] | str | None) -> Gradient:
    """The loss of each trajectory, and the derivatives of their sum."""
    if running is None and terminal is None:
        raise SignatureError("a gradient is that of a loss: give a kernel as `running`, or `terminal`, or both")
    names = derivatives.chosen(by)
    recorded = RecordedRun(run)
    seeds = derivatives.seeds(recorded, {})
    value: Any = np.zeros(run.batch, run.precision) if derivatives.rollout.is_here else 0.0
    direct: dict[str, Array] = {}
    for kernel, kept in ((running, range(run.samples)), (terminal, range(run.samples, run.samples + 1))):
        if kernel is not None and kept:
            loss = _Loss(kernel, derivatives, recorded, kept)
            value = value + loss.value()
            for name, slope in loss.slopes(names).items():
                if name in derivatives.places:
                    part = seeds[..., kept.start:kept.stop, derivatives.places[name]]
                    part += slope.reshape((*slope.shape[:slope.ndim - len(loss.shape(name))], part.shape[-1]))
                else:
                    direct[name] = direct.get(name, 0.0) + loss.by_argument(name, slope)
    found = derivatives.backward(recorded, seeds, names)
    return Gradient(value, {n: found[n] + direct[n] if n in direct else found[n] for n in names})


class _Loss:
    """A kernel of one number at some of the kept states."""

    def __init__(self, kernel: Kernel, derivatives: RolloutDerivatives, recorded: RecordedRun, kept: range) -> None:
        if not isinstance(kernel, Kernel):
            raise SignatureError(f"a loss is a kernel of one number, @cy.kernel(\"(n)->()\"), not {shown(kernel)}")
        known = ["t", *derivatives.names, WORK]
        unknown = [name for name in kernel.inputs if name not in known]
        if unknown:
            raise SignatureError(f"the loss {kernel.__name__} takes {unknown[0]!r}; a rollout of "
                                 f"{derivatives.rollout.system.name} has {', '.join(known)}")
        if kernel.signature.outputs != ((),):
            raise SignatureError(f"the loss {kernel.__name__} {kernel.signature} must return one number")
        self._kernel = kernel
        self._derivatives = derivatives
        self._recorded = recorded
        self._run = recorded.run
        self._kept = kept
        self._steps = np.minimum(np.array(kept) * self._run.every, max(0, self._run.steps - 1))
        self._sizes = kernel.signature.bind([self.shape(n) for n in kernel.inputs], kernel.inputs)
        self._arguments = [self._argument(name) for name in kernel.inputs]

    def shape(self, name: str) -> tuple[int, ...]:
        return () if name in ("t", WORK) else self._derivatives.shapes[name]

    def value(self) -> Array:
        return self._made(self._kernel)(*self._arguments).sum(-1)

    def slopes(self, names: Sequence[str]) -> dict[str, Array]:
        """The derivatives by all states, and by those of the arguments that are asked for, each (..., kept, *shape)."""
        variables = [n for n in self._kernel.inputs if n in self._derivatives.places or n in names]
        if not variables:
            return {}
        found = self._made(self._kernel.vjp(*variables))(*self._arguments, np.ones((), self._run.precision))
        return dict(zip(variables, found if len(variables) > 1 else [found], strict=True))

    def by_argument(self, name: str, slope: Array) -> Array:
        """Slopes at the kept states as what has the shape of the argument itself."""
        run = self._run
        shape = self.shape(name)
        axis = slope.ndim - len(shape) - 1
        if name not in self._derivatives.rollout.changing:
            return summed(slope.sum(axis), run.arguments[name].shape, (*run.batch, *shape))
        backend = self._derivatives.rollout.backend
        whole = backend.empty(slope.shape[:axis], (run.steps, *shape), self._run.precision)
        whole[...] = 0.0
        index: Any = (..., self._steps, *[slice(None)] * len(shape))
        whole[index] = slope  # there is at most one kept state a step
        return summed(whole, run.arguments[name].shape, (*run.batch, run.steps, *shape))

    def _made(self, kernel: Kernel) -> Any:  # noqa: ANN401 (called on arrays of the backend)
        backend = self._derivatives.rollout._iterated.backend
        return kernel if self._derivatives.rollout.is_here else kernel.on(backend, **self._sizes)

    def _argument(self, name: str) -> Array:
        """The inputs at the kept states, with an axis for these."""
        run = self._run
        if name == "t":
            return run.times[..., np.array(self._kept) * run.every].astype(run.precision)
        if name in self._derivatives.places:
            return self._derivatives.block(self._recorded.samples[..., self._kept.start:self._kept.stop, :], name)
        array = run.at(self._steps, name, self.shape(name))
        copies = 1 if name in self._derivatives.rollout.changing else len(self._kept)
        return np.repeat(array, copies, axis=array.ndim - 1 - len(self.shape(name)))
