"""The motion of a system in time, or a batch of them: what was computed, and why it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, SignatureError, UnsupportedError, did_you_mean
from cayley.explained_calls import with_explained_calls
from cayley.lazy_names import former_names
from cayley.showing import Pictured, Player, maker
from cayley.systems.layout import State
from cayley.systems.system import System
from cayley.systems.text_kernels import energy_kernel, output_kernel
from cayley.systems.trajectory_parts import Balance, JointNames, Log, Occurrence, named_columns
from cayley.tabulated import Tabulated, batch_columns, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@with_explained_calls
@dataclass(frozen=True, eq=False)
class Trajectory(HoldsFunctions, Pictured, Tabulated):
    """States of a system at the times `t` (samples), or of a batch: `trajectory["current"]`, or `trajectory.current`,
    is that block, of the shape (..., samples, *shape). `outputs` are computed when they are asked for, as energies are;
    `work` (..., samples) [J] is what was put in: by joint forces, friction, wrenches and impacts of a mechanism. Where
    steps differ in a batch, `t` is (..., samples).

    Trajectories of a mechanism have `q` (..., samples, nq), `qd` and `tau` (..., samples, nv), and besides the `energy`
    its parts, and momentum.

    `status` is one word, "finished" if all went well, and `message` says it in a sentence. A run that stopped early
    keeps all samples until then; in a batch, `good` (...) says how many samples of each trajectory are numbers."""

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
    mechanism: JointNames | None = None  # of a mechanism's own run, not of a system that has one as its part
    stored: Mapping[str, Array] = field(default_factory=dict)  # outputs and energies (..., samples, *shape) of a file

    @property
    def name(self) -> str:
        """The name of the mechanism or of the system."""
        return self.system.name if self.mechanism is None else self.mechanism.name

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
        """The number of samples of each trajectory (...) that are numbers, from the start."""
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
        if self.stored:
            return {name: self.states[name] if name in self.states else self.stored[f"output {name}"]
                    for name in self.system.outputs}
        found = output_kernel(self.system)(*self._arguments)
        return dict(zip(self.system.outputs, found if len(self.system.outputs) > 1 else (found,), strict=True))

    @property
    def _arguments(self) -> list[Array]:
        """The arguments of a kernel of the system."""
        return [self.t, self.vectors, *[self.inputs[n] for n in self.system.inputs],
                *[np.asarray(self._parameter(n)) for n in self.system.parameters]]

    def _parameter(self, name: str) -> Array:
        """A parameter with an axis for the samples."""
        if name not in self.parameters:
            return np.asarray(self.system.parameters[name])
        value = self.parameters[name]
        return np.expand_dims(value, value.ndim - np.ndim(self.system.parameters[name]))

    # Energy

    @cached_property
    def energy(self) -> Array:
        """The stored energy (..., samples) [J]: of a mechanism, kinetic and potential energy."""
        if self.mechanism is not None:
            return self.kinetic + self.potential
        if "energy" in self.stored:
            return self.stored["energy"]
        if self.system.energy is None:
            raise UnsupportedError(f"{self.system.name} does not say what its energy is")
        return energy_kernel(self.system)(*self._arguments)

    @property
    def energy_drift(self) -> Array:
        """Energy less work less the energy at the start (..., samples) [J]: what the integration has lost or made."""
        surplus = self.energy - self.work
        return surplus - surplus[..., :1]

    # Mechanisms

    @property
    def q(self) -> Array:
        """The coordinates (..., samples, nq) of a mechanism."""
        return self.__getattr__("q")

    @property
    def qd(self) -> Array:
        """The velocities (..., samples, nv) of a mechanism."""
        return self.__getattr__("qd")

    @property
    def tau(self) -> Array | None:
        """The joint forces (..., samples, nv); None where a function gave them that was compiled into the steps."""
        if self.mechanism is None:
            return self.__getattr__("tau")
        if "tau" not in (*self.inputs, *self.system.outputs):
            return None
        return np.broadcast_to(self["tau"], self.qd.shape)

    @property
    def coordinates(self) -> tuple[tuple[str, str], ...]:
        """Name and unit of each column of `q`."""
        return self.joints("coordinates").coordinates

    @property
    def velocities(self) -> tuple[tuple[str, str], ...]:
        """Names of the columns of `qd` and `tau`, with the units of the coordinates."""
        return self.joints("velocities").velocities

    def joints(self, what: str) -> JointNames:
        """The mechanism of the trajectory: its own, or that whose configurations are the block `q` of a system."""
        if self.mechanism is not None:
            return self.mechanism
        tree = getattr(self.system.blocks["q"].manifold, "tree", None) if "q" in self.system.blocks else None
        if tree is None:
            raise UnsupportedError(f"{self.system.name} has no {what} of joints: its state has no block `q` that is "
                                   "the configuration of a mechanism; of a file `Trajectory.load(path, system)` "
                                   "knows it")
        return maker("mechanism_motion")(tree)

    @cached_property
    def balance(self) -> Balance:
        """Energies and momentum of the mechanism."""
        if "kinetic" in self.stored:
            return Balance(*[self.stored[name] for name in Balance._fields])
        return self.joints("energy").balance(self.q, self.qd)

    @property
    def kinetic(self) -> Array:
        """Kinetic energy (..., samples) [J] of the mechanism."""
        return self.balance.kinetic

    @property
    def potential(self) -> Array:
        """Potential energy (..., samples) [J]; its zero is where the mass is at the root's origin."""
        return self.balance.potential

    @property
    def momentum(self) -> Array:
        """Momentum and angular momentum about the centre of mass (..., samples, 6), in the root's axes [kg m/s, kg
        m^2/s]."""
        return self.balance.momentum

    @property
    def momentum_drift(self) -> Array | None:
        """Momentum and angular momentum about the root's origin, which does not move, less the impulses of gravity,
        less what they were at the start (..., samples, 6), where nothing but joints inside and gravity acts; None for a
        mechanism that does not float. Wrenches, and forces and armature on the floating joint itself, are not accounted
        for."""
        return self.joints("drift of momentum").momentum_drift(self.t, self.q, self.qd)

    @property
    def constraint_forces(self) -> Array:
        """The forces (..., samples, h) of the rows of the constraints [N, N m], as `Mechanism.constraint_forces`."""
        acted = self.facts.get("acted")
        if self.tau is None or acted:
            raise UnsupportedError(
                f"the forces of the constraints of {self.name} along a motion are found where joint forces are known "
                f"and nothing else acted, not with {acted or 'a function that was compiled into the steps'}")
        return self.joints("constraint forces").constraint_forces(self.t, self.q, self.qd, self.tau)

    # Parts

    def __len__(self) -> int:
        return self.vectors.shape[-2]

    def __getitem__(self, index: Any) -> Scalar:  # noqa: ANN401 (whatever indexes an array)
        """A block, an input or an output by its name; or trajectories of a batch, by the index of its leading axes."""
        if isinstance(index, str):
            for values in (self.states, self.inputs, self.system.outputs):
                if index in values:
                    return self.outputs[index] if values is self.system.outputs else values[index]
            names = [*self.states, *self.inputs, *self.system.outputs]
            raise SignatureError(f"{self.name} has no state or output {index!r}{did_you_mean(index, names)}")
        if not self.batch:
            raise ConventionError("this is one trajectory, not a batch: `between` cuts a piece of time out of it")
        x = self.vectors[index]
        if x.ndim < 2:
            raise ConventionError(
                f"the batch has {len(self.batch)} axes; the index {index!r} goes beyond them: `between` cuts in time")

        def chosen(a: Array, core: int) -> Array:
            return np.broadcast_to(a, (*self.batch, *a.shape[a.ndim - core:]))[index]

        parameters = {n: chosen(a, np.ndim(self.system.parameters[n])) for n, a in self.parameters.items()}
        log = None if self.log is None else Log(self.log.count[index], self.log.times[index], self.log.numbers[index])
        facts = self.facts
        if np.ndim(facts.get("step", 0.0)):
            facts = {**facts, "step": chosen(np.asarray(facts["step"]), 0).tolist()}
        return replace(self, t=self.t if self.t.ndim == 1 else chosen(self.t, 1), vectors=x, work=self.work[index],
                       inputs={n: a[index] for n, a in self.inputs.items()}, parameters=parameters, log=log,
                       facts=facts, dense=None, stored={n: a[index] for n, a in self.stored.items()})

    def between(self, start: float, stop: float) -> Trajectory:
        """The samples from one time to another, both included."""
        inside = (self._one_time >= start) & (self._one_time <= stop)

        def cut(values: Mapping[str, Array]) -> dict[str, Array]:
            return {n: np.compress(inside, a, len(self.batch)) for n, a in values.items()}

        log = self.log
        if log is not None:
            log = replace(log, numbers=np.where((log.times >= start) & (log.times <= stop), log.numbers, -1))
        return replace(self, t=self.t[inside], vectors=np.compress(inside, self.vectors, -2),
                       work=np.compress(inside, self.work, -1), inputs=cut(self.inputs), stored=cut(self.stored),
                       occurred=tuple(e for e in self.occurred if start <= e.t <= stop), log=log, dense=None)

    @property
    def _one_time(self) -> Array:
        if self.t.ndim > 1:
            raise ConventionError("steps differ in the batch: take one trajectory out, by its index, and ask it")
        return self.t

    def at(self, t: ArrayLike) -> Scalar:
        """The state at other times (m), or at one, by name; of a mechanism (q, qd), each (..., m, n) or (..., n).

        By the solver's own interpolation if there is one. Otherwise, for a mechanism, by cubics through the kept states
        and their rates: halve the spacing of the samples, and the error is 16 times smaller."""
        times = np.asarray(t, dtype=float)
        if not len(self):
            raise ConventionError("the trajectory has no samples")
        low, high = sorted((self._one_time[0], self._one_time[-1]))
        if not ((times >= low) & (times <= high)).all():
            raise ConventionError(
                f"the trajectory is from t = {self.t[0]:.6g} to {self.t[-1]:.6g}; {times.ravel()[[0, -1]]} is outside")
        flat = np.atleast_1d(times)
        found = None if self.dense is None else self.system.layout.state(
            self.dense(flat) if times.ndim or self.mechanism else self.dense(flat)[0])
        if self.mechanism is None:
            if found is None:
                raise UnsupportedError("only what `simulate` has found can be asked at other times: keep more samples")
            return found
        q, qd = self.mechanism.interpolated(self.t, self.q, self.qd, flat) if found is None else (found.q, found.qd)
        q, qd = self.mechanism.closed(flat, q, qd)
        return (q, qd) if times.ndim else (q[..., 0, :], qd[..., 0, :])

    # Elsewhere

    def save(self, path: str | Path) -> Path:
        """Write a self-describing .npz file: arrays, energies, momenta, and names, units and reasons as JSON, nothing
        pickled."""
        return maker("save_trajectory")(self, path)

    @staticmethod
    def load(path: str | Path, tree: object = None) -> Trajectory:
        """Read what `save` wrote. With the tree of the mechanism, or the system, everything can be asked again."""
        return maker("load_trajectory")(path, tree)

    def plot(self, names: Iterable[str] | None = None, *, joints: str | Sequence[str] | None = None,
             figsize: tuple[float, float] | None = None) -> Figure:
        """A Matplotlib figure of all blocks, modes and outputs, or of the given `names`. For a mechanism it shows
        coordinates, velocities, forces and energy, of all or of the given `joints`."""
        return maker("plot_trajectory")(self, names, joints, figsize)

    def draw(self, times: int | ArrayLike = 5, *, frames: str | Sequence[str] = "ends", labels: bool = True,
             ground: bool = True, trail: bool = True, ax: Axes | None = None) -> Axes:
        """A picture of the mechanism at several instants [s], or at a number of evenly spaced ones: the last in full
        colour, earlier ones paler. Axes of Matplotlib."""
        return maker("draw_instants")(*maker("moving_part")(self), times, frames=frames, labels=labels,
                                      ground=ground, trail=trail, ax=ax)

    @overload
    def animate(self, path: None = None, *, speed: float = 1.0) -> Player: ...

    @overload
    def animate(self, path: str | os.PathLike[str], *, speed: float = 1.0, frames: str | Sequence[str] = "ends",
                trail: bool = True, ground: bool = True, shapes: str | None = "visual",
                size: tuple[float, float] | None = None) -> Path: ...

    def animate(self, path: str | os.PathLike[str] | None = None, *, speed: float = 1.0,
                frames: str | Sequence[str] = "ends", trail: bool = True, ground: bool = True,
                shapes: str | None = "visual", size: tuple[float, float] | None = None) -> Path | Player:
        """Show the mechanism as it moves: on a page that plays it in 3-D (.html), in a moving picture (.gif, or .mp4
        where ffmpeg is installed), or without a path in a notebook; see `cayley.studio.animate`."""
        return maker("animate")(*maker("moving_part")(self), path, speed=speed, frames=frames,
                                trail=trail, ground=ground, shapes=shapes, size=size)

    def to_columns(self) -> dict[str, Array]:
        """A row a sample: its time, the blocks of the state, modes in words, inputs, outputs and work; of a batch, the
        number of the trajectory before them. Columns of a mechanism have the names of its joints.

        >>> lag = System("lag", state={"y": "V"}, inputs={"u": "V"}, derivative=lambda t, x, u, p: u.u - x.y)
        >>> list(lag.simulate({"y": 0.0}, until=1.0, inputs={"u": 1.0}).to_columns())
        ['t [s]', 'y [V]', 'u [V]', 'work [J]']
        """
        rows = self.work.size
        found = {**batch_columns(self.batch, self.work.shape[-1]),
                 "t [s]": np.broadcast_to(self.t, self.work.shape).reshape(rows)}
        system = self.system
        parts = {name: (self.states[name], block) for name, block in system.blocks.items()} | {
            name: (self.inputs[name], port) for name, port in system.ports.items() if name in self.inputs}
        others = {name: (self.outputs[name], port) for name, port in system.output_ports.items() if name not in parts}
        columns = partial(named_columns, samples=self.work.shape, mechanism=self.mechanism)
        modes = {name: np.array(words)[np.asarray(self.states[name], dtype=int).reshape(rows)]
                 for name, words in system.layout.modes.items()}
        return found | columns(parts) | modes | columns(others) | {"work [J]": self.work.reshape(rows)}

    def to_dict(self) -> dict[str, Any]:
        """The states, inputs and parameters by name, as lists and words that JSON takes."""
        named = {name: self.states[name] for name in (*self.system.blocks, *self.system.layout.modes)}
        own = {"system": self.system.name, "states": named, "inputs": self.inputs, "parameters": self.parameters} \
            if self.mechanism is None else {
                "mechanism": self.name, **named, "tau": self.tau, "coordinates": self.coordinates,
                "velocities": self.velocities}
        return plain({**own, "status": self.status, "message": self.message, "t": self.t, "work": self.work,
                      "happened": () if self.batch else self.happened, "facts": self.facts})

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or name == "system":  # which a copy in the making has not yet
            raise AttributeError(name)
        if name in self.states:
            return self.states[name]
        if name in ("q", "qd", "tau") and (name in self.inputs or name in self.system.outputs):
            return self[name]
        raise AttributeError(f"{self.system.name} has no state {name!r}, nor has a trajectory such an attribute")

    def __repr__(self) -> str:
        many = f"{'x'.join(map(str, self.batch))} of " if self.batch else ""
        span = f"t = {self.t.flat[0]:.6g} to {self.t.flat[-1]:.6g}" if self.t.size else "empty"
        return f"<trajectory: {many}{self.name}, {self.vectors.shape[-2]} samples, {span}, {self.status}>"


__getattr__ = former_names(__name__, {"SystemTrajectory": "Trajectory"})
