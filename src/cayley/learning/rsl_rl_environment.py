"""Episodes as an environment of rsl_rl (Schwarke, Mittal, Rudin, Hoeller and Hutter 2025), in tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cayley.errors import SignatureError, shown
from cayley.learning.episodes import Episodes

if TYPE_CHECKING:
    from tensordict import TensorDict
    from torch import Tensor


class RslRlEnvironment:
    """Episodes as the `VecEnv` in which runners of rsl_rl 5 train: `OnPolicyRunner(RslRlEnvironment(episodes), ...)`.

    The `episodes` are made with a device of PyTorch, `torch.device("cuda")` or `torch.device("cpu")`, and
    `dtype="float32"`. Observations are the group "policy". `cfg` is what the runner writes into its log."""

    def __init__(self, episodes: Episodes, cfg: Mapping[str, object] | None = None) -> None:
        if type(episodes.device).__module__.partition(".")[0] != "torch" or episodes.dtype != "float32":
            raise SignatureError("rsl_rl trains in float32 tensors of PyTorch: make the episodes with device="
                                 f'torch.device("cuda") and dtype="float32", not {shown(episodes.device)} and '
                                 f"{episodes.dtype}")
        if episodes.trials.autoreset != "same step":
            raise SignatureError('rsl_rl expects autoreset="same step", where episodes begin anew in the step that '
                                 f"ends them, not {episodes.trials.autoreset!r}")
        self.episodes = episodes
        self.cfg = dict(cfg or {})
        self.num_envs = len(episodes)
        self.num_actions = episodes.low.size
        self.max_episode_length = episodes.trials.horizon
        self.device = episodes.device
        if not episodes.is_begun:
            episodes.reset()

    @property
    def episode_length_buf(self) -> Tensor:
        """The number of actions of each episode so far. A runner sets it to spread the ends of the first episodes."""
        ages: Tensor = self.episodes.given(self.episodes.arrays["age"])
        return ages.long()

    @episode_length_buf.setter
    def episode_length_buf(self, ages: Tensor) -> None:
        self.episodes.arrays["age"][...] = self.episodes.backend.array(ages.float(), "ages")

    def get_observations(self) -> TensorDict:
        """The observations now."""
        from tensordict import TensorDict  # which rsl_rl needs
        return TensorDict({"policy": self.episodes.seen}, batch_size=[self.num_envs])

    def reset(self) -> tuple[TensorDict, dict[str, object]]:
        """Begin all episodes anew."""
        self.episodes.reset()
        return self.get_observations(), {}

    def step(self, actions: Tensor) -> tuple[TensorDict, Tensor, Tensor, dict[str, object]]:
        """Observations, rewards, which episodes are over, and those that the horizon has ended, as `time_outs`."""
        found = self.episodes.step(actions)
        over: Tensor = found.failed | found.late
        return self.get_observations(), found.reward, over.long(), {"time_outs": found.late}
