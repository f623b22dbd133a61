"""Parts of trajectories: what happened on the way, energies and momenta, names of joints, states between samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.showing import brief, shown_briefly
from cayley.systems.layout import Layout
from cayley.systems.ports import Block, Port
from cayley.tabulated import flattened

_PER_SECOND = {"rad": "rad/s", "m": "m/s", "": "1/s"}
_FORCES = {"rad": "N m", "m": "N"}


class Occurrence(NamedTuple):
    """Something that happened on the way: when, what (the name of an event, a transition or a joint), and what was done
    about it."""

    t: float
    name: str
    action: str


@dataclass(frozen=True)
class Log:
    """The transitions of a batch of trajectories: how many there were (...), and of the first of them the times and the
    numbers (..., remembered), NaN and -1 where there are no more."""

    count: Array
    times: Array
    numbers: Array

    __repr__ = brief


@shown_briefly
class Balance(NamedTuple):
    """Along a trajectory: kinetic and potential energy (..., samples) [J], momentum (..., samples, 6) about the centre
    of mass in the root's axes [kg m/s, kg m^2/s]."""

    kinetic: Array
    potential: Array
    momentum: Array


@dataclass(frozen=True)
class JointNames:
    """The name of a mechanism, and names and units of its coordinates and of its velocities, as a file tells them. The
    class `cayley.simulation.mechanism_motion.MechanismMotion` has the mechanism itself."""

    name: str
    coordinates: tuple[tuple[str, str], ...]
    velocities: tuple[tuple[str, str], ...]

    @property
    def units(self) -> dict[str, list[tuple[str, str]]]:
        """Names and units of the columns of `q`, `qd` and `tau`."""
        return {"q": [*self.coordinates], "qd": [(name, _PER_SECOND.get(unit, unit)) for name, unit in self.velocities],
                "tau": [(name, _FORCES.get(unit, unit)) for name, unit in self.velocities]}

    def balance(self, q: Array, qd: Array) -> Balance:
        """Energy and momentum of states."""
        raise self._unknown("the energy")

    def momentum_drift(self, t: Array, q: Array, qd: Array) -> Array | None:
        """Momentum that gravity does not account for; None for a mechanism that does not float."""
        raise self._unknown("the drift of momentum")

    def constraint_forces(self, t: Array, q: Array, qd: Array, tau: Array) -> Array:
        """The forces of the rows of the constraints."""
        raise self._unknown("the forces of constraints")

    def interpolated(self, t: Array, q: Array, qd: Array, times: Array) -> tuple[Array, Array]:
        """States at other times, by cubics through states."""
        raise self._unknown("interpolation")

    def closed(self, t: Array, q: Array, qd: Array) -> tuple[Array, Array]:
        """States that satisfy the constraints, next to given ones."""
        return q, qd

    def outcome(self, t: Array, q: Array, status: str, message: str) -> tuple[str, str]:
        """The word and the sentence for configurations at some times, given those by the numbers alone."""
        return status, message

    def _unknown(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"{what} needs the mechanism: load the file with `Trajectory.load(path, tree)`")


@dataclass(frozen=True)
class Dense:
    """The solvers' own interpolation, piece by piece: times (m) to states (m, size)."""

    layout: Layout
    starts: Array
    pieces: list[tuple[Any, Array]]

    def __call__(self, times: Array) -> Array:
        layout = self.layout
        which = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, None)
        found = [np.concatenate([self.pieces[k][0](t)[:layout.smooth], self.pieces[k][1]])
                 for k, t in zip(which, times, strict=True)]
        return layout.nearest(np.array(found).reshape(len(times), layout.size))


def named_columns(parts: Mapping[str, tuple[Array, Block | Port]], samples: tuple[int, ...],
                  mechanism: JointNames | None) -> dict[str, Array]:
    """Columns of a table, a row a sample, of values (*samples, *shape) by name; those of a mechanism have the names of
    its joints."""
    rows = prod(samples)
    labels = {} if mechanism is None else mechanism.units
    found: dict[str, Array] = {}
    for name, (values, port) in parts.items():
        whole = np.broadcast_to(values, (*samples, *port.shape)).reshape(rows, *port.shape)
        found |= flattened(name, whole, port.unit, rows) if name not in labels else {
            f"{name}.{label}" + (f" [{unit}]" if unit else ""): column
            for (label, unit), column in zip(labels[name], whole.T, strict=True)}
    return found
