"""A system as many episodes side by side: Gymnasium's vector API over compiled episodes.

The lanes share nothing: what one does is the same, bit for bit, in whatever company. So are its random numbers, which
are those of its seed and the number of its episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, DTypeLike, Text
from cayley.errors import SignatureError
from cayley.learning.episodes import Episodes
from cayley.learning.trials import Start
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

    `iterations` are those of a rollout: with contacts, the most sweeps of a step. `dtype` is the precision in which
    episodes are computed.

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
                 inputs: Mapping[str, ArrayLike] | None = None, method: str | None = None,
                 iterations: int | None = None, substeps: int = 1, autoreset: str = "next step", threads: int = 1,
                 device: object = None, dtype: DTypeLike = "float64") -> None:
        if autoreset not in _AUTORESET:
            raise SignatureError(f"autoreset must be one of {', '.join(map(repr, _AUTORESET))}, not {autoreset!r}")
        self.episodes = Episodes(
            system, lanes, action=action, low=low, high=high, step=step, horizon=horizon, start=start, draws=draws,
            observe=observe, reward=reward, failed=failed, inputs=inputs, method=method, iterations=iterations,
            substeps=substeps, autoreset=autoreset, threads=threads, device=device, dtype=dtype)
        self.metadata = {"autoreset_mode": _AUTORESET[autoreset]}
        self.num_envs = lanes
        low, high = (bound.astype(np.float32) for bound in (self.episodes.low, self.episodes.high))
        self.single_action_space = Box(low, high)
        self.single_observation_space = Box(-np.inf, np.inf, (self.episodes.trials.seen_size,))
        self.action_space = batch_space(self.single_action_space, lanes)
        self.observation_space = batch_space(self.single_observation_space, lanes)
        self._over = np.ones(lanes, bool)
        self._begun = False

    @property
    def x(self) -> Array:
        """The states (lanes, size) as vectors."""
        return self.episodes.arrays["x"]

    @property
    def parameters(self) -> dict[str, Array]:
        """The parameters (lanes, *shape) that episodes have for themselves."""
        return {name: self.episodes.arrays[f"p.{name}"] for name in self.episodes.trials.own}

    def reset(self, *, seed: int | Sequence[int] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin all episodes anew, or those of `options["reset_mask"]`; a seed begins their random numbers anew."""
        unknown = [name for name in options or {} if name != "reset_mask"]
        if unknown:
            raise SignatureError(f"the option of a reset must be 'reset_mask', not {unknown[0]!r}")
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, bool)))
        if mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise SignatureError(f"a reset mask must be {self.num_envs} truth values, not {mask.dtype} of {mask.shape}")
        self.episodes.reset(seed=seed, mask=mask)
        self._over &= ~mask
        self._begun = True
        return self._float32(self.episodes.arrays["seen"]), {}

    def step(self, actions: ArrayLike) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Observations, rewards, which have failed, which have reached the horizon, and what else there is to say."""
        episodes, mode = self.episodes, self.metadata["autoreset_mode"]
        if self._over.any() and (not self._begun or mode != AutoresetMode.NEXT_STEP):
            raise SignatureError(f"lane {np.argmax(self._over)} is over, or has not begun: call reset, with a reset "
                                 "mask if the others go on")
        found = episodes.stepped(self._given_actions(actions))
        failed, late, broken = (episodes.backend.here(part > 0.5) for part in (found.failed, found.late, found.broken))
        over = failed | late
        info: dict[str, Any] = {"not_finite": broken}
        if mode == AutoresetMode.SAME_STEP:
            if over.any():
                info |= {"final_obs": self._float32(found.last), "_final_obs": over}
        else:
            self._over = over
        reward = found.reward if episodes.device is None else self._float32(found.reward)
        return self._float32(found.seen), reward, failed, late, info

    def _float32(self, array: Array) -> Array:
        return self.episodes.given(array.astype(np.float32))

    def _given_actions(self, actions: ArrayLike) -> Array:
        given = self.episodes.backend.array(actions, "actions")
        if given.dtype.kind not in "fiu":
            raise SignatureError(f"actions must be real numbers, not {given.dtype}")
        if given.ndim and np.isnan(given).any():
            raise SignatureError(f"the action of lane {np.argwhere(np.isnan(given))[0][0]} is not a number")
        return given.astype(self.episodes.dtype)
