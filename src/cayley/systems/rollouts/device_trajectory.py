"""Trajectories that stay on the GPU on which they were computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array
from cayley.errors import check_known
from cayley.systems.layout import Layout


@dataclass(frozen=True, eq=False)
class DeviceTrajectory(HoldsFunctions):
    """States at the times `t`: `trajectory.q`, or `trajectory["q"]`, is that block, (..., samples, *shape), an array of
    the library that the states were given in; `work` (..., samples) [J] is what was put in. Neighbours in the batch are
    neighbours in memory. Nothing has been waited for: `here()` does, and brings all of it here, as what a rollout on
    this processor returns, with its status and its energies."""

    layout: Layout
    t: Array  # of NumPy
    points: Array  # (..., samples, size + 2) of the backend: blocks, modes, work, and the last correction of a step
    given: Callable[[Array], Array]  # as an array of the library of the states
    here: Callable[[], Any]  # the same with arrays of NumPy, a `Trajectory`

    @cached_property
    def work(self) -> Array:
        return self.given(self.points[..., -2])

    def __getitem__(self, name: str) -> Array:
        check_known([name], self.layout.columns, f"{self.layout.whose} has no state")
        return self.given(self.layout.state(self.points)[name])

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or name == "layout":  # which a copy in the making has not yet
            raise AttributeError(name)
        if name not in self.layout.columns:
            raise AttributeError(f"{self.layout.whose} has no state {name!r}, nor has a trajectory such an attribute")
        return self[name]

    def __len__(self) -> int:
        return self.points.shape[-2]

    def __repr__(self) -> str:
        batch = self.points.shape[:-2]
        many = f"{'x'.join(map(str, batch))} of " if batch else ""
        return f"<trajectory on a GPU: {many}{self.layout.whose}, {len(self)} samples>"
