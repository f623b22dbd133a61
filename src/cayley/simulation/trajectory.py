"""A motion in time, or a batch of them: what was computed, what the columns are, and why it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.constrained_mechanics import projection_kernel
from cayley.dynamics.forward.constrained import constraint_forces_kernel
from cayley.dynamics.open_tree import Configurations
from cayley.errors import ConventionError, UnsupportedError
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.model.configurations import normalized
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.tree import Tree
from cayley.showing import Pictured, Player, maker
from cayley.simulation.balance import Balance, balance_kernel, energy_drift, floats, momentum_drift
from cayley.systems.trajectory import Occurrence
from cayley.tabulated import Tabulated, batch_columns, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Trajectory(HoldsFunctions, Pictured, Tabulated):
    """States at the times `t` (samples): `q` (..., samples, nq), `qd` and `tau` (..., samples, nv), the `work` (...,
    samples) [J] that joint forces, friction, wrenches and impacts have done since the start.

    `status` is one word, "finished" if all went well, and `message` says it in a sentence. What a stopped run had found
    is all here; in a batch, `good` (...) says how many samples of each trajectory are numbers. Energies and momenta are
    computed when they are asked for.
    """

    tree: Tree | None
    t: Array
    q: Array
    qd: Array
    tau: Array | None
    work: Array
    status: str = "finished"
    message: str = ""
    happened: tuple[Occurrence, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # method, step, tolerances, counts: for the record
    coordinates: tuple[tuple[str, str], ...] = ()  # name and unit of each column of q
    velocities: tuple[tuple[str, str], ...] = ()  # of qd and tau; the unit is that of the coordinate
    name: str = ""
    stored: Balance | None = None  # of a trajectory that was loaded
    dense: Callable[[Array], tuple[Array, Array]] | None = None  # the solver's own interpolation

    @classmethod
    def of(cls, tree: Tree, t: Array, q: Array, qd: Array, tau: Array | None, work: Array, **more: Any) -> Trajectory:  # noqa: ANN401 (fields of the result)
        coordinates = kept(tree, "coordinate labels", lambda: tuple(coordinate_labels(tree)))
        velocities = kept(tree, "velocity labels", lambda: tuple(velocity_labels(tree)))
        return cls(tree, t, q, qd, tau, work, coordinates=coordinates, velocities=velocities, name=tree.name, **more)

    @property
    def batch(self) -> tuple[int, ...]:
        return self.q.shape[:-2]

    @property
    def finished(self) -> bool:
        return self.status == "finished"

    @cached_property
    def good(self) -> Array:
        """How many samples of each trajectory (...) are numbers, from the start."""
        fine = np.isfinite(self.q).all(-1) & np.isfinite(self.qd).all(-1)
        return np.where(fine.all(-1), fine.shape[-1], np.argmin(fine, axis=-1))

    # Energy and momentum

    @cached_property
    def balance(self) -> Balance:
        if self.stored is not None:
            return self.stored
        return Balance(*balance_kernel(self._mechanism("the energy"))(self.q, self.qd))

    @property
    def kinetic(self) -> Array:
        """Kinetic energy (..., samples) [J]."""
        return self.balance.kinetic

    @property
    def potential(self) -> Array:
        """Potential energy (..., samples) [J]; its zero is where the mass is at the root's origin."""
        return self.balance.potential

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy (..., samples) [J]."""
        return self.kinetic + self.potential

    @property
    def momentum(self) -> Array:
        """Momentum and angular momentum about the centre of mass (..., samples, 6), in the root's axes [kg m/s, kg
        m^2/s].
        """
        return self.balance.momentum

    @property
    def energy_drift(self) -> Array:
        """Energy less work less the energy at the start (..., samples) [J]: what the integration has lost or made."""
        return energy_drift(self.kinetic, self.potential, self.work)

    @property
    def momentum_drift(self) -> Array | None:
        """Momentum and angular momentum about the root's origin, which does not move, less the impulses of gravity,
        less what they were at the start (..., samples, 6), where nothing but joints inside and gravity acts; None for a
        mechanism that does not float. Wrenches, and forces and armature on the floating joint itself, are not accounted
        for."""
        tree = self._mechanism("the drift of momentum")
        return momentum_drift(tree, self.t, self.q, self.qd) if floats(tree) else None

    @property
    def constraint_forces(self) -> Array:
        """The forces (..., samples, h) of the rows of the constraints [N, N m], as `Mechanism.constraint_forces`."""
        tree = self._mechanism("the forces of constraints")
        acted = self.facts.get("acted")
        if self.tau is None or acted:
            raise UnsupportedError(
                f"the forces of the constraints of {self.name} along a motion are found where joint forces are known "
                f"and nothing else acted, not with {acted or 'a function that was compiled into the steps'}")
        time = [self.t] if tree.is_timed else []
        return np.asarray(constraint_forces_kernel(tree)(self.q, self.qd, self.tau, *time))

    # Parts

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, index: Any) -> Scalar:  # noqa: ANN401 (whatever indexes an array)
        """Trajectories of a batch, by the index of its leading axes; or, by their names, "q" and "qd"."""
        if isinstance(index, str):
            blocks = {"q": self.q, "qd": self.qd}
            if index not in blocks:
                raise ConventionError(f"the state of {self.name} is q and qd; there is no {index!r}")
            return blocks[index]
        if not self.batch:
            raise ConventionError("this is one trajectory, not a batch: `between` cuts a piece of time out of it")
        chosen = self._each(lambda a, _: a[index])
        if chosen.q.ndim < 2:
            raise ConventionError(
                f"the batch has {len(self.batch)} axes; the index {index!r} goes beyond them: `between` cuts in time")
        return chosen._own_time(self, index)

    def _own_time(self, whole: Trajectory, index: Any) -> Trajectory:  # noqa: ANN401 (whatever indexes an array)
        """Where steps differ in the batch: the times of a trajectory that was taken out of it."""
        if "times" not in self.facts:
            return self
        steps = np.broadcast_to(np.asarray(self.facts["step"]), whole.batch)
        chosen = np.asarray(steps[index])
        facts = {**self.facts, "step": chosen.tolist()}
        start = self.facts["start"]
        if (chosen == chosen.ravel()[:1]).all():
            facts["step"] = chosen.ravel()[0].item() if chosen.size else []
            del facts["times"]
        stretch = chosen.ravel()[0] / steps.ravel()[0] if chosen.size else 1.0
        return replace(self, t=start + (self.t - start) * stretch, facts=facts)

    def between(self, start: float, stop: float) -> Trajectory:
        """The samples from one time to another, both included."""
        inside = (self.t >= start) & (self.t <= stop)
        cut = self._each(lambda a, core: np.compress(inside, a, axis=a.ndim - core - 1))
        return replace(cut, t=self.t[inside], happened=tuple(e for e in self.happened if start <= e.t <= stop))

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """(q, qd) at other times (m), each (..., m, n) or, for one time, (..., n).

        By the solver's own interpolation if there is one, otherwise by cubics through the kept states and their rates:
        halve the spacing of the samples, and the error is 16 times smaller.
        """
        times = np.asarray(t, dtype=float)
        if not len(self.t):
            raise ConventionError("the trajectory has no samples")
        if "times" in self.facts:
            raise ConventionError("steps differ in the batch: take one trajectory out, by its index, and ask it")
        low, high = sorted((self.t[0], self.t[-1]))
        if not ((times >= low) & (times <= high)).all():
            raise ConventionError(
                f"the trajectory is from t = {self.t[0]:.6g} to {self.t[-1]:.6g}; {times.ravel()[[0, -1]]} is outside")
        flat = np.atleast_1d(times)
        q, qd = self.dense(flat) if self.dense is not None else self._interpolated(flat)
        if self.tree is not None and self.tree.is_constrained:
            q, qd = projection_kernel(self.tree)(q, qd, *([flat] if self.tree.is_timed else []))
        return (q, qd) if times.ndim else (q[..., 0, :], qd[..., 0, :])

    def _interpolated(self, times: Array) -> tuple[Array, Array]:
        tree = self._mechanism("interpolation")
        rate = sized_kernel(tree, "(q),(v)->(q)", Configurations(tree).rate, "rate")(self.q, self.qd)
        if len(self.t) == 1:
            return self.q + 0 * times[:, None], self.qd + 0 * times[:, None]
        from scipy.interpolate import CubicHermiteSpline, CubicSpline
        onwards = slice(None, None, 1 if self.t[-1] > self.t[0] else -1)
        q = CubicHermiteSpline(self.t[onwards], self.q[..., onwards, :], rate[..., onwards, :], axis=-2)(times)
        qd = CubicSpline(self.t[onwards], self.qd[..., onwards, :], axis=-2)(times)
        return normalized(tree, q), qd

    def _each(self, change: Callable[[Array, int], Array]) -> Trajectory:
        """The same with its arrays changed; the number says how many axes follow that of the samples."""
        tau = None if self.tau is None else change(self.tau, 1)
        stored = Balance(change(self.stored[0], 0), change(self.stored[1], 0), change(self.stored[2],
                                                                                      1)) if self.stored else None
        return replace(self, q=change(self.q, 1), qd=change(self.qd, 1), tau=tau, work=change(self.work, 0),
                       stored=stored, dense=None)

    def _mechanism(self, what: str) -> Tree:
        if self.tree is None:
            raise UnsupportedError(f"{what} needs the mechanism: load the file with `Trajectory.load(path, tree)`")
        return self.tree

    # Elsewhere

    def save(self, path: str | Path) -> Path:
        """Write a self-describing .npz file: arrays, energies, momenta, and names, units and reasons as JSON.

        Nothing is pickled.
        """
        from cayley.simulation.trajectory_file import save
        return save(self, path)

    @staticmethod
    def load(path: str | Path, tree: Tree | None = None) -> Trajectory:
        """Read what `save` wrote. With the mechanism, everything can be asked again that needs it."""
        from cayley.simulation.trajectory_file import load
        return load(path, tree)

    def to_columns(self) -> dict[str, Array]:
        """A row a sample: its time, coordinates, velocities, forces and work; of a batch, the number of the trajectory
        before them.

        >>> import cayley as cy
        >>> fall = cy.load("planar2r").simulate([0.3, 0.0], [0.0, 0.0], until=0.1)
        >>> list(fall.to_columns())[:4]
        ['t [s]', 'q.joint1 [rad]', 'q.joint2 [rad]', 'qd.joint1 [rad/s]']
        """
        rows = self.work.size
        times = self.t
        if "times" in self.facts and self.work.size:  # steps that differ in the batch
            steps = np.broadcast_to(np.asarray(self.facts["step"]), self.batch)
            times = self.facts["start"] + (self.t - self.facts["start"]) * (steps / steps.ravel()[0])[..., None]
        tables = {"q": (self.q, self.coordinates, {}),
                  "qd": (self.qd, self.velocities, {"rad": "rad/s", "m": "m/s", "": "1/s"}),
                  "tau": (self.tau, self.velocities, {"rad": "N m", "m": "N"})}
        found = {**batch_columns(self.batch, self.work.shape[-1]),
                 "t [s]": np.broadcast_to(times, self.work.shape).reshape(rows)}
        for name, (values, labels, units) in tables.items():
            if values is not None:
                whole = np.broadcast_to(values, (*self.work.shape, len(labels))).reshape(rows, len(labels))
                found |= {f"{name}.{label}" + (f" [{units.get(unit, unit)}]" if units.get(unit, unit) else ""): column
                          for (label, unit), column in zip(labels, whole.T, strict=True)}
        return found | {"work [J]": self.work.reshape(rows)}

    def to_dict(self) -> dict[str, Any]:
        """All of it, as lists and words that JSON takes."""
        return plain({"mechanism": self.name, "status": self.status, "message": self.message, "t": self.t, "q": self.q,
                      "qd": self.qd, "tau": self.tau, "work": self.work, "coordinates": self.coordinates,
                      "velocities": self.velocities, "happened": self.happened, "facts": self.facts})

    def plot(self, *, joints: str | Sequence[str] | None = None, figsize: tuple[float, float] | None = None) -> Figure:
        """A Matplotlib figure of coordinates, velocities, forces and energy; `joints`: names, if not all."""
        from cayley.simulation.trajectory_plot import plot
        return plot(self, joints=joints, figsize=figsize)

    def draw(self, times: int | ArrayLike = 5, *, frames: str | Sequence[str] = "ends", labels: bool = True,
             ground: bool = True, trail: bool = True, ax: Axes | None = None) -> Axes:
        """A picture of the mechanism at several instants [s], or at so many evenly spaced ones: the last in full
        colour, those before it the paler the earlier. Axes of Matplotlib.
        """
        drawn: Axes = maker("draw_instants")(self._mechanism("a picture"), self, times, frames=frames, labels=labels,
                                             ground=ground, trail=trail, ax=ax)
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
        """Show the mechanism as it moves: on a page that plays it in 3-D (.html), in a moving picture (.gif, or .mp4
        where ffmpeg is installed), or without a path in a notebook; see `cayley.studio.animate`.
        """
        shown: Path | Player = maker("animate")(self._mechanism("a moving picture"), self, path, speed=speed,
                                                frames=frames, trail=trail, ground=ground, shapes=shapes, size=size)
        return shown

    def __repr__(self) -> str:
        many = f"{'x'.join(map(str, self.batch))} of " if self.batch else ""
        span = f"t = {self.t[0]:.6g} to {self.t[-1]:.6g}" if len(self.t) else "empty"
        return f"<trajectory: {many}{self.name}, {len(self.t)} samples, {span}, {self.status}>"
