"""The motion of a system in time, or a batch of them: what was computed, and why it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.showing import Pictured, Player, brief, maker
from cayley.systems.layout import State
from cayley.systems.output_kernels import energy_kernel, output_kernel
from cayley.systems.system import System
from cayley.tabulated import Tabulated, batch_columns, flattened, plain
from cayley.wording import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Occurrence(NamedTuple):
    """Something that happened on the way: when, what (the name of an event, a transition or a joint), and what was done
    about it.
    """

    t: float
    name: str
    action: str


@dataclass(frozen=True)
class Log:
    """The transitions of a batch of trajectories: how many there were (...), and of the first of them the times and the
    numbers (..., remembered), NaN and -1 where there are no more.
    """

    count: Array
    times: Array
    numbers: Array

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class SystemTrajectory(HoldsFunctions, Pictured, Tabulated):
    """States at the times `t` (samples): `trajectory["current"]`, or `trajectory.current`, is that block, of the shape
    (..., samples, *shape). `outputs` are computed when they are asked for, as is the `energy`; `work` (..., samples) is
    what was put in. `status` is one word, "finished" if all went well, and `message` says it in a sentence.
    """

    system: System
    t: Array
    vectors: Array  # (..., samples, size): blocks and modes
    work: Array
    inputs: Mapping[str, Array] = field(default_factory=dict)  # (..., samples, *shape)
    parameters: Mapping[str, Array] = field(default_factory=dict)
    status: str = "finished"
    message: str = ""
    occurred: tuple[Occurrence, ...] = ()  # of one trajectory
    log: Log | None = None  # of compiled ones
    facts: Mapping[str, Any] = field(default_factory=dict)  # method, step, tolerances, counts: for the record
    dense: Callable[[Array], Array] | None = None  # the solver's own interpolation: times (m) to (m, size)

    @property
    def batch(self) -> tuple[int, ...]:
        return self.vectors.shape[:-2]

    @property
    def finished(self) -> bool:
        return self.status == "finished"

    @cached_property
    def states(self) -> State:
        """All blocks and modes by name, each (..., samples, *shape)."""
        return self.system.layout.state(self.vectors)

    @property
    def end(self) -> State:
        """The last state, by name."""
        return self.system.layout.state(self.vectors[..., -1, :])

    @cached_property
    def good(self) -> Array:
        """How many samples of each trajectory (...) are numbers, from the start."""
        fine = np.isfinite(self.vectors).all(-1)
        return np.where(fine.all(-1), fine.shape[-1], np.argmin(fine, axis=-1))

    @property
    def happened(self) -> tuple[Occurrence, ...]:
        """The occurrences on the way of one trajectory, in order."""
        if self.log is None:
            return self.occurred
        if self.batch:
            raise ConventionError("this is a batch: take a trajectory out of it, or look at `log`")
        transitions = self.system.transitions
        return tuple(Occurrence(float(t), transitions[int(k)].name, "transition")
                     for t, k in zip(self.log.times, self.log.numbers, strict=True) if k >= 0)

    @cached_property
    def outputs(self) -> dict[str, Array]:
        """The outputs (..., samples, *shape) by name."""
        kernel = output_kernel(self.system)
        found = kernel(self.t, self.vectors, *[self.inputs[n] for n in self.system.inputs],
                       *[np.asarray(self._parameter(n)) for n in self.system.parameters])
        return dict(zip(self.system.outputs, found if len(self.system.outputs) > 1 else (found,), strict=True))

    @cached_property
    def energy(self) -> Array:
        """The energy (..., samples) [J] that is stored."""
        if self.system.energy is None:
            raise UnsupportedError(f"{self.system.name} does not say what its energy is")
        return energy_kernel(self.system)(self.t, self.vectors, *[self.inputs[n] for n in self.system.inputs],
                                          *[np.asarray(self._parameter(n)) for n in self.system.parameters])

    @property
    def energy_drift(self) -> Array:
        """Energy less work less the energy at the start (..., samples) [J]: what the integration has lost or made."""
        surplus = self.energy - self.work
        return surplus - surplus[..., :1]

    def _parameter(self, name: str) -> Array:
        """A parameter with an axis for the samples."""
        if name not in self.parameters:
            return np.asarray(self.system.parameters[name])
        value = self.parameters[name]
        return np.expand_dims(value, value.ndim - np.ndim(self.system.parameters[name]))

    def at(self, t: ArrayLike) -> State:
        """The state at other times (m), or at one, by the solver's own interpolation."""
        if self.dense is None:
            raise UnsupportedError("only what `simulate` has found can be asked at other times: keep more samples")
        times = np.asarray(t, dtype=float)
        if not ((times >= self.t[0]) & (times <= self.t[-1])).all():
            raise ConventionError(f"the trajectory is from t = {self.t[0]:.6g} to {self.t[-1]:.6g}")
        found = self.dense(np.atleast_1d(times))
        return self.system.layout.state(found if times.ndim else found[0])

    def plot(self, names: Iterable[str] | None = None) -> Figure:
        """A Matplotlib figure of blocks, modes and outputs, or of those that are named."""
        from cayley.systems.trajectory_plot import plot
        return plot(self, names)

    def draw(self, times: int | ArrayLike = 5, *, frames: str | Sequence[str] = "ends", labels: bool = True,
             ground: bool = True, trail: bool = True, ax: Axes | None = None) -> Axes:
        """A picture of the system's mechanism at several instants [s], or at so many evenly spaced ones: the last in
        full colour, those before it the paler the earlier. Axes of Matplotlib.
        """
        drawn: Axes = maker("draw_states")(self, times, frames=frames, labels=labels, ground=ground, trail=trail,
                                           ax=ax)
        return drawn

    @overload
    def animate(self, path: None = None, *, speed: float = 1.0) -> Player: ...

    @overload
    def animate(self, path: str | os.PathLike[str], *, speed: float = 1.0, frames: str | Sequence[str] = "ends",
                trail: bool = True, ground: bool = True, shapes: str | None = "visual",
                size: tuple[float, float] | None = None) -> Path: ...

    def animate(self, path: str | os.PathLike[str] | None = None, *, speed: float = 1.0,
                frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
                shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path | Player:
        """Show the system's mechanism as it moves: on a page that plays it in 3-D (.html), in a moving picture (.gif,
        or .mp4 where ffmpeg is installed), or without a path in a notebook; see `cayley.studio.animate`.
        """
        shown: Path | Player = maker("animate_states")(self, path, speed=speed, frames=frames, trail=trail,
                                                       ground=ground, shapes=shapes, size=size)
        return shown

    def to_columns(self) -> dict[str, Array]:
        """A row a sample: its time, the blocks of the state, modes in words, inputs, outputs and work; of a batch, the
        number of the trajectory before them.

        >>> lag = System("lag", state={"y": "V"}, inputs={"u": "V"}, derivative=lambda t, x, u, p: u.u - x.y)
        >>> list(lag.simulate({"y": 0.0}, until=1.0, inputs={"u": 1.0}).to_columns())
        ['t [s]', 'y [V]', 'u [V]', 'work [J]']
        """
        rows = self.work.size
        found = {**batch_columns(self.batch, self.work.shape[-1]),
                 "t [s]": np.broadcast_to(self.t, self.work.shape).reshape(rows)}
        parts = {name: (self.states[name], block) for name, block in self.system.blocks.items()} | {
            name: (self.inputs[name], port) for name, port in self.system.ports.items() if name in self.inputs}
        for name, (values, port) in parts.items():
            whole = np.broadcast_to(values, (*self.work.shape, *port.shape)).reshape(rows, *port.shape)
            found |= flattened(name, whole, port.unit, rows)
        for name, words in self.system.layout.modes.items():
            found[name] = np.array(words)[np.asarray(self.states[name], dtype=int).reshape(rows)]
        for name, port in self.system.output_ports.items():
            if name not in parts:
                whole = np.broadcast_to(self.outputs[name], (*self.work.shape, *port.shape)).reshape(rows, *port.shape)
                found |= flattened(name, whole, port.unit, rows)
        return found | {"work [J]": self.work.reshape(rows)}

    def to_dict(self) -> dict[str, Any]:
        """The states, inputs and parameters by name, as lists and words that JSON takes."""
        return plain({"system": self.system.name, "status": self.status, "message": self.message, "t": self.t,
                      "states": {name: self.states[name] for name in (*self.system.blocks, *self.system.layout.modes)},
                      "inputs": self.inputs, "parameters": self.parameters, "work": self.work,
                      "happened": () if self.batch else self.happened, "facts": self.facts})

    def __len__(self) -> int:
        return self.vectors.shape[-2]

    def __getitem__(self, index: Any) -> Scalar:  # noqa: ANN401 (whatever indexes an array)
        """A block or an output by its name; or trajectories of a batch, by the index of its leading axes."""
        if isinstance(index, str):
            if index in self.states:
                return self.states[index]
            if index in self.system.outputs:
                return self.outputs[index]
            names = [*self.states, *self.system.outputs]
            raise SignatureError(f"{self.system.name} has no state or output {index!r}{did_you_mean(index, names)}")
        if not self.batch:
            raise ConventionError("this is one trajectory, not a batch")
        x = self.vectors[index]
        if x.ndim < 2:
            raise ConventionError(f"the batch has {len(self.batch)} axes; the index {index!r} goes beyond them")

        def chosen(a: Array, core: int) -> Array:
            return np.broadcast_to(a, (*self.batch, *a.shape[a.ndim - core:]))[index]

        inputs = {n: chosen(a, len(self.system.ports[n].shape) + 1) for n, a in self.inputs.items()}
        parameters = {n: chosen(a, np.ndim(self.system.parameters[n])) for n, a in self.parameters.items()}
        log = None if self.log is None else Log(self.log.count[index], self.log.times[index], self.log.numbers[index])
        t = self.t if self.t.ndim == 1 else chosen(self.t, 1)
        return replace(self, t=t, vectors=x, work=self.work[index], inputs=inputs, parameters=parameters, log=log)

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or name == "system":  # which a copy in the making has not yet
            raise AttributeError(name)
        if name not in (*self.system.layout.blocks, *self.system.layout.modes):
            raise AttributeError(f"{self.system.name} has no state {name!r}, nor has a trajectory such an attribute")
        return self.states[name]

    def __repr__(self) -> str:
        many = f"{'x'.join(map(str, self.batch))} of " if self.batch else ""
        span = f"t = {self.t.flat[0]:.6g} to {self.t.flat[-1]:.6g}" if self.t.size else "empty"
        return f"<trajectory: {many}{self.system.name}, {self.vectors.shape[-2]} samples, {span}, {self.status}>"
