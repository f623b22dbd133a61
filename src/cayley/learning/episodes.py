"""Many episodes of a system side by side, in arrays that stay where they are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.backends import backend_named
from cayley.compiler.backends.gpu_arrays import as_given
from cayley.compiler.precision import dtype_name
from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Text
from cayley.errors import SignatureError, shown
from cayley.learning.draws import keys
from cayley.learning.trials import SAME_STEP, Start, Trials, is_whole
from cayley.systems.system import System


class ActionResults(NamedTuple):
    """The results of an action: observations (lanes, m), rewards (lanes), which episodes have failed, which have
    reached the horizon, which were not finite, and the observations (lanes, m) before any episode began anew."""

    seen: Array
    reward: Array
    failed: Array
    late: Array
    broken: Array
    last: Array


class Episodes:
    """`lanes` episodes of a `system`, each of at most `horizon` actions; one kernel makes an action of all of them.

    The parts are those of `Environment`. The next episode of a lane begins in the step in which one ends
    (`autoreset="same step"`). Nothing is looked at or waited for: results are arrays of the library of the `device`,
    `torch.device("cuda")` or `torch.device("cpu")`, `jax.devices("gpu")[0]`, "cuda" for CuPy, or of NumPy. `dtype` is
    the precision of all of them. An action that is not a number makes its lane end as one that is not finite.

    >>> import cayley as cy
    >>> mass = cy.System("mass", state={"x": cy.systems.Block((), "m", velocity="v"), "v": "m/s"},
    ...                  inputs={"force": "N"}, derivative=lambda t, x, u, p: u.force)
    >>> episodes = Episodes(mass, 3, action="force", low=-1.0, high=1.0, step=0.1, horizon=2, draws=1,
    ...                     start=lambda u: {"x": u[0], "v": 0.0}, observe=lambda t, x, u, p: np.stack([x.x, x.v]),
    ...                     reward=lambda t, x, u, p: -x.x**2)
    >>> seen = episodes.reset(seed=0)
    >>> episodes.step(np.ones((3, 1))).late, episodes.step(np.ones((3, 1))).late
    (array([False, False, False]), array([ True,  True,  True]))
    """

    def __init__(self, system: System, lanes: int, *, action: str, low: ArrayLike, high: ArrayLike, step: float,
                 horizon: int, start: Start, draws: int, observe: Text, reward: Text, failed: Text | None = None,
                 inputs: Mapping[str, ArrayLike] | None = None, method: str | None = None,
                 iterations: int | None = None, substeps: int = 1, autoreset: str = SAME_STEP, threads: int = 1,
                 device: object = None, dtype: DTypeLike = "float64") -> None:
        backend = _backend_of(device)
        shape = system.ports[action].shape if isinstance(system, System) and action in system.ports else ()
        bounds = _bounds(action, low, high, shape)
        self.trials = Trials(system, start, draws, action, bounds[0].reshape(shape), bounds[1].reshape(shape), observe,
                             reward, failed, step, horizon, autoreset, substeps, method, iterations, threads,
                             inputs or {}, backend)
        if not (is_whole(lanes, 1) and is_whole(horizon, 1)):
            raise SignatureError(f"there are one lane and one action or more, not {lanes!r} and {horizon!r}")
        self.low, self.high = bounds
        self.dtype = dtype_name(dtype)
        self.backend = backend_named(backend)
        self.device = device
        self.is_begun = False
        self._shape = shape
        self._begin, self._act = self.trials.made(self.trials.begin), self.trials.made(self.trials.act)
        self._inputs = [self._array(value) for value in self.trials.inputs.values()]
        self.arrays = {name: self.backend.empty((lanes,), core, self.dtype) for name, core in self.trials.lane.items()}
        for array in self.arrays.values():
            array[...] = 0.0
        self._begin_masked(self._array(np.ones(lanes)))
        self.arrays["over"][...] = 1.0

    def __len__(self) -> int:
        return len(self.arrays["age"])

    @property
    def seen(self) -> Array:
        """The observations (lanes, m) now."""
        return self.given(self.arrays["seen"])

    def reset(self, *, seed: int | Sequence[int] | None = None, mask: ArrayLike | None = None) -> Array:
        """Begin all episodes anew, or those of a mask (lanes); a seed begins their random numbers anew, and lane k has
        the `seed` + k. The observations (lanes, m)."""
        chosen = self._array(np.ones(len(self)) if mask is None else mask)
        if seed is not None or not self.is_begun:
            given = self._array(keys(seeds_of(seed, len(self))))
            if not self.is_begun:
                self.arrays["key"][...] = given
                self.arrays["episode"][...] = 0.0
            mixed = chosen[:, None] * given + (1.0 - chosen[:, None]) * self.arrays["key"]
            self.arrays["key"][...] = mixed
            self.arrays["episode"][...] = self.arrays["episode"] * (1.0 - chosen)
            self.is_begun = True
        self._begin_masked(chosen)
        return self.seen

    def step(self, actions: ArrayLike) -> ActionResults:
        """Let actions (lanes, *shape) act."""
        found = ActionResults._make(map(self.given, self.stepped(self._array(actions))))
        return found._replace(failed=found.failed > 0.5, late=found.late > 0.5, broken=found.broken > 0.5)

    def stepped(self, actions: Array) -> ActionResults:
        """The same, of and with arrays of the backend, where 1 stands for true."""
        trials, arrays = self.trials, self.arrays
        if actions.shape != (len(self), *self.low.shape):
            raise SignatureError(f"actions must have the shape {(len(self), *self.low.shape)}, not {actions.shape}")
        actions = actions.reshape((len(self), *self._shape))
        after = []
        if trials.system.transitions:
            after.append(trials.advanced(arrays["x"], np.clip(actions, trials.low, trials.high),
                                         {n: arrays[f"p.{n}"] for n in trials.own}))
        found = self._act(*arrays.values(), actions, *after, *self._inputs)
        self.arrays = dict(zip(arrays, found, strict=False))
        reward, *verdicts = found[len(arrays):len(arrays) + 4]
        last = found[-1] if trials.autoreset == SAME_STEP else self.arrays["seen"]
        return ActionResults._make([self.arrays["seen"], reward, *verdicts, last])

    def _begin_masked(self, mask: Array) -> None:
        found = self._begin(*self.arrays.values(), mask, *self._inputs)
        self.arrays = dict(zip(self.arrays, found, strict=True))

    def _array(self, values: ArrayLike) -> Array:
        """An array where the episodes are computed, in their precision."""
        return self.backend.array(values, "actions").astype(self.dtype, copy=False)

    def given(self, array: Array) -> Array:
        """An array of the backend as one of the library of the device, on the same memory."""
        return as_given(array, self.device)


def seeds_of(seed: int | Sequence[int] | None, lanes: int) -> Array:
    """The seeds of lanes, from that of the first or from all of them."""
    if seed is None:
        return np.random.SeedSequence().generate_state(1, np.uint64) + np.arange(lanes, dtype=np.uint64)
    seeds = np.asarray(seed, object)
    wrong = [each for each in seeds.flat if not is_whole(each, 0) or each >= 2**64]
    if wrong:
        raise SignatureError(f"a seed must be a whole number from 0 to 2^64 - 1, not {wrong[0]!r}")
    if seeds.shape == ():
        return np.uint64(seeds.item()) + np.arange(lanes, dtype=np.uint64)
    if seeds.shape != (lanes,):
        raise SignatureError(f"{lanes} lanes have as many seeds, not {seeds.shape}")
    return seeds.astype(np.uint64)


def _bounds(action: str, low: ArrayLike, high: ArrayLike, shape: tuple[int, ...]) -> list[Array]:
    try:
        bounds = [np.broadcast_to(np.asarray(bound, float), shape or (1,)) for bound in (low, high)]
    except ValueError:
        raise SignatureError(f"the bounds of the action {action!r} must have the shape {shape}, not "
                             f"{np.shape(low)} and {np.shape(high)}") from None
    if not (bounds[0] < bounds[1]).all():
        raise SignatureError(f"low must be below high for the action {action!r}, not {bounds[0]} and {bounds[1]}")
    return bounds


def _backend_of(device: object) -> str:
    """The backend that computes on a device, the names of which differ between libraries."""
    kind = device if isinstance(device, str) else getattr(device, "type", getattr(device, "platform", None))
    if device is None or (kind == "cpu" and not isinstance(device, str)):
        return "llvm"
    if kind not in ("cuda", "gpu"):
        raise SignatureError(f'the device of episodes must be a GPU, "cuda", torch.device("cuda") or '
                             f'jax.devices("gpu")[0], or None, which is this processor, not {shown(device)}')
    return "cuda"
