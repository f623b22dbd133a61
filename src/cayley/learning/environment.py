"""A system as many episodes side by side: Gymnasium's vector API over compiled rollouts.

The lanes share nothing: what one does is the same, bit for bit, in whatever company. So are its random numbers, which
are those of its seed and the number of its episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cayley.compiler.backends import backend_named
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.errors import SignatureError, shown
from cayley.learning.draws import uniform
from cayley.learning.trials import Start, Trials, is_whole
from cayley.systems.system import System

try:
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as missing:
    raise ImportError(
        "environments are Gymnasium's, which is not installed: pip install 'cayley[learning]'") from missing

_AUTORESET = {"next step": AutoresetMode.NEXT_STEP, "same step": AutoresetMode.SAME_STEP,
              "disabled": AutoresetMode.DISABLED}


class Environment(VectorEnv[Array, Array, Array]):
    """`lanes` episodes of a `system`, each of at most `horizon` actions.

    `start(u)` returns the first state of an episode, and the parameters of the system that differ between episodes
    (domain randomisation), from `draws` random numbers u in [0, 1). `action` is the input that the policy drives.
    Values outside `low` and `high` are clipped, as a drive saturates. The other inputs are `inputs`. An action acts for
    `step` seconds, in `substeps` steps of `method`. `observe`, `reward` and `failed`, which ends an episode, are
    functions of (t, x, u, p) like all those of a system, evaluated at the end of that time. All of them are compiled. A
    lane whose state is no longer finite ends as well, with the reward 0, its last observation, and True in
    `info["not_finite"]`. `autoreset`: "next step", "same step" or "disabled", as in Gymnasium.

    `device`: a GPU that computes the episodes, `jax.devices("gpu")[0]` or `torch.device("cuda")`, with arrays of that
    library, or "cuda", with CuPy's. Observations and rewards are float32 there, and stay there. Which episodes are over
    is told in arrays of NumPy.

    With `reset(seed=7)` lane k has the seed 7 + k; `reset(options={"reset_mask": mask})` restarts some lanes.

    >>> import cayley as cy
    >>> swing = cy.System(
    ...     "pendulum", state={"angle": cy.systems.Block((), "rad", velocity="speed"), "speed": "rad/s"},
    ...     inputs={"torque": "N m"}, parameters={"mass": 1.0},
    ...     derivative=lambda t, x, u, p: u.torque / p.mass - 9.81 * np.sin(x.angle))
    >>> episodes = Environment(
    ...     swing, lanes=4, action="torque", low=-2.0, high=2.0, step=0.05, horizon=100, draws=2,
    ...     start=lambda u: {"angle": 0.2 * (u[0] - 0.5), "speed": 0.0, "mass": 0.8 + 0.4 * u[1]},
    ...     observe=lambda t, x, u, p: np.stack([np.cos(x.angle), np.sin(x.angle), x.speed]),
    ...     reward=lambda t, x, u, p: -np.cos(x.angle) - 1e-3 * u.torque**2)
    >>> seen, info = episodes.reset(seed=1)
    >>> seen, reward, terminated, truncated, info = episodes.step(np.ones((4, 1)))
    >>> seen.shape, reward.shape, truncated
    ((4, 3), (4,), array([False, False, False, False]))
    """

    def __init__(self, system: System, lanes: int, *, action: str, low: ArrayLike, high: ArrayLike, step: float,
                 horizon: int, start: Start, draws: int, observe: Text, reward: Text, failed: Text | None = None,
                 inputs: Mapping[str, ArrayLike] | None = None, method: str | None = None, substeps: int = 1,
                 autoreset: str = "next step", threads: int = 1, device: object = None) -> None:
        backend = _backend_of(device)
        self.trials = Trials(system, start, draws, action, observe, reward, failed, step, substeps, method, threads,
                             inputs or {}, backend)
        self._device = device
        self._backend = backend_named(backend)
        if not (is_whole(lanes, 1) and is_whole(horizon, 1)):
            raise SignatureError(f"there are one lane and one action or more, not {lanes!r} and {horizon!r}")
        if autoreset not in _AUTORESET:
            raise SignatureError(f"autoreset must be one of {', '.join(map(repr, _AUTORESET))}, not {autoreset!r}")
        shape = system.ports[action].shape
        self._shape = shape
        try:
            self._low, self._high = (np.broadcast_to(np.asarray(bound, float), shape or (1,)) for bound in (low, high))
        except ValueError:
            raise SignatureError(f"the bounds of the action {action!r} must have the shape {shape}, not "
                                 f"{np.shape(low)} and {np.shape(high)}") from None
        if not (self._low < self._high).all():
            raise SignatureError(f"low must be below high for the action {action!r}, not {self._low} and {self._high}")
        self.metadata = {"autoreset_mode": _AUTORESET[autoreset]}
        self.num_envs = lanes
        self.horizon = horizon
        self.single_action_space = Box(self._low.astype(np.float32), self._high.astype(np.float32))
        self.single_observation_space = Box(-np.inf, np.inf, (self.trials.seen_size,))
        self.action_space = batch_space(self.single_action_space, lanes)
        self.observation_space = batch_space(self.single_observation_space, lanes)
        x, own = self.trials.begun(np.full((lanes, draws), 0.5))
        self.x = x
        self.parameters = own
        self._seeds: Array | None = None
        self._episodes = np.zeros(lanes, np.uint64)
        self._age = np.zeros(lanes, int)
        self._over = np.ones(lanes, bool)
        self._seen = self._array(np.zeros((lanes, self.trials.seen_size)))

    def reset(self, *, seed: int | Sequence[int] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin all episodes anew, or those of `options["reset_mask"]`; a seed begins their random numbers anew."""
        unknown = [name for name in options or {} if name != "reset_mask"]
        if unknown:
            raise SignatureError(f"the option of a reset must be 'reset_mask', not {unknown[0]!r}")
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, bool)))
        if mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise SignatureError(f"a reset mask must be {self.num_envs} truth values, not {mask.dtype} of {mask.shape}")
        if seed is not None or self._seeds is None:
            seeds = self._given_seeds(seed)
            self._seeds = seeds if self._seeds is None else np.where(mask, seeds, self._seeds)
            self._episodes[mask] = 0
        self._begin(mask)
        return self._observations(), {}

    def step(self, actions: ArrayLike) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Observations, rewards, which have failed, which have reached the horizon, and what else there is to say."""
        action = self._given_actions(actions)
        mode = self.metadata["autoreset_mode"]
        anew = self._over.copy()
        if anew.any() and (self._seeds is None or mode != AutoresetMode.NEXT_STEP):
            raise SignatureError(f"lane {np.argmax(anew)} is over, or has not begun: call reset, with a reset mask if "
                                 "the others go on")
        after = self.trials.advanced(self.x, action, self.parameters)
        seen, reward, failed = self.trials.judged(after, action, self.parameters)
        whole = np.isfinite(after).all(-1) & np.isfinite(seen).all(-1) & np.isfinite(reward)
        self.x = self._array(np.where(whole[:, None], after, self.x))
        self._seen = self._array(np.where(whole[:, None], seen, self._seen))
        fine, failed = self._backend.here(whole), self._backend.here(failed)
        self._age += 1
        if anew.any():
            self._begin(anew)
        reward = self._rewards(np.where(self._array(fine & ~anew), reward, 0.0))
        terminated = (failed | ~fine) & ~anew
        truncated = (self._age >= self.horizon) & ~terminated & ~anew
        self._over = terminated | truncated
        info: dict[str, Any] = {"not_finite": ~fine & ~anew}
        if mode == AutoresetMode.SAME_STEP and self._over.any():
            over = self._over.copy()
            info |= {"final_obs": self._observations(), "_final_obs": over}
            self._begin(over)
        return self._observations(), reward, terminated, truncated, info

    def _begin(self, mask: Array) -> None:
        assert self._seeds is not None
        x, own = self.trials.begun(uniform(self._seeds[mask], self._episodes[mask], self.trials.draws))
        lanes = self._array(np.flatnonzero(mask))
        self.x[lanes] = x
        for name, values in own.items():
            self.parameters[name][lanes] = values
        self._episodes[mask] += np.uint64(1)
        self._age[mask] = 0
        self._over[mask] = False
        still = np.zeros((len(x), *self._shape))
        seen, _, _ = self.trials.judged(x, still, own)
        self._seen[lanes] = seen

    def _array(self, values: ArrayLike) -> Array:
        """An array where the episodes are computed."""
        return self._backend.array(values, "actions")

    def _observations(self) -> Array:
        return self._backend.as_given(self._seen.astype(np.float32), self._device)

    def _rewards(self, values: Array) -> Array:
        return values if self._device is None else self._backend.as_given(
            self._array(values).astype(np.float32), self._device)

    def _given_actions(self, actions: ArrayLike) -> Array:
        given = self._array(actions)
        if given.dtype.kind not in "fiu":
            raise SignatureError(f"actions must be real numbers, not {given.dtype}")
        given = given.astype(float)
        if given.shape != (self.num_envs, *self._low.shape):
            raise SignatureError(f"actions must have the shape {(self.num_envs, *self._low.shape)}, not {given.shape}")
        if np.isnan(given).any():
            raise SignatureError(f"the action of lane {np.argwhere(np.isnan(given))[0][0]} is not a number")
        bounds = map(self._array, (self._low, self._high))
        return self._array(np.clip(given, *bounds)).reshape(self.num_envs, *self._shape)

    def _given_seeds(self, seed: int | Sequence[int] | None) -> Array:
        if seed is None:
            return np.random.SeedSequence().generate_state(1, np.uint64) + np.arange(self.num_envs, dtype=np.uint64)
        seeds = np.asarray(seed, object)
        wrong = [each for each in seeds.flat if not is_whole(each, 0) or each >= 2**64]
        if wrong:
            raise SignatureError(f"a seed must be a whole number from 0 to 2^64 - 1, not {wrong[0]!r}")
        if seeds.shape == ():
            return np.uint64(seeds.item()) + np.arange(self.num_envs, dtype=np.uint64)
        if seeds.shape != (self.num_envs,):
            raise SignatureError(f"{self.num_envs} lanes have as many seeds, not {seeds.shape}")
        return seeds.astype(np.uint64)


def _backend_of(device: object) -> str:
    """The backend that computes on a device, the names of which differ between libraries."""
    if device is None:
        return "llvm"
    kind = device if isinstance(device, str) else getattr(device, "type", getattr(device, "platform", None))
    if kind not in ("cuda", "gpu"):
        raise SignatureError(f'the device of episodes must be a GPU, "cuda", torch.device("cuda") or '
                             f'jax.devices("gpu")[0], or None, which is this processor, not {shown(device)}')
    return "cuda"
