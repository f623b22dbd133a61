"""ANYmal learns to walk at the velocities it is asked for: PPO in plain PyTorch, on one page.

    python benchmarks/walking.py --device cuda --lanes 16384 --updates 400    # on a GPU
    python benchmarks/walking.py --device cpu --lanes 64 --updates 3          # does it run at all?

A machine without example-robot-data takes the robot from the folder CAYLEY_ROBOTS, which `robots.write` fills."""

from __future__ import annotations

import argparse
import time
from itertools import pairwise

import torch
from torch import nn

from cayley.learning import Episodes
from quadruped import COMMAND, VELOCITY, quadruped
from robots import robot

ACTIONS, PASSES, BATCHES = 24, 5, 4  # between updates; over them; of each
DISCOUNT, DECAY = 0.99, 0.95


def network(*sizes: int) -> nn.Sequential:
    layers = [part for m, n in pairwise(sizes) for part in (nn.Linear(m, n), nn.ELU())]
    return nn.Sequential(*layers[:-1])


class Learner(nn.Module):
    """The mean of normally distributed actions, their spread, and the value of a state."""

    def __init__(self, seen: int, actions: int) -> None:
        super().__init__()
        self.policy, self.value = network(seen, 256, 128, 64, actions), network(seen, 256, 128, 64, 1)
        self.spread = nn.Parameter(torch.full((actions,), -0.5))
        with torch.no_grad():
            self.policy[-1].weight *= 0.01
        self.rule, self.rate = torch.optim.Adam(self.parameters(), 1e-3), 1e-3

    def density(self, mean: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return torch.distributions.Normal(mean, self.spread.exp()).log_prob(action).sum(-1)


@torch.no_grad()
def collected(nets: Learner, robots: Episodes, seen: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The next observation; then of all actions the observations, actions, their means and densities, advantages and
    targets of the values; the mean reward, and how many fall in an action."""
    rows = []
    for _ in range(ACTIONS):
        mean = nets.policy(seen)
        action = mean + nets.spread.exp() * torch.randn_like(mean)
        found = robots.step(action)
        gained = found.reward + DISCOUNT * found.late * nets.value(found.last)[:, 0]  # it would have gone on
        goes_on = 1.0 - (found.failed | found.late).float()
        rows.append((seen, action, mean, nets.density(mean, action), nets.value(seen)[:, 0], gained, goes_on,
                     found.reward, found.failed.float()))
        seen = found.seen.contiguous()
    columns = map(torch.stack, zip(*rows, strict=True))
    seens, actions, means, densities, values, gained, goes_on, rewards, falls = columns
    gains, later, gain = torch.zeros_like(gained), nets.value(seen)[:, 0], torch.zeros_like(gained[0])
    for k in reversed(range(ACTIONS)):
        gain = gained[k] + DISCOUNT * goes_on[k] * (later + DECAY * gain) - values[k]
        gains[k], later = gain, values[k]
    return seen, seens, actions, means, densities, gains, gains + values, rewards.mean(), falls.mean()


def improve(nets: Learner, seens: torch.Tensor, actions: torch.Tensor, means: torch.Tensor, densities: torch.Tensor,
            gains: torch.Tensor, targets: torch.Tensor) -> None:
    """Steps towards better actions, at a rate that keeps the policy about 0.01 from where it was (Kullback-Leibler)."""
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    flat = [part.flatten(0, 1) for part in (seens, actions, means, densities, gains, targets)]
    for _ in range(PASSES):
        for batch in torch.randperm(gains.numel(), device=gains.device).chunk(BATCHES):
            seen, action, before, density, gain, target = (part[batch] for part in flat)
            mean = nets.policy(seen)
            apart = (((mean - before) / nets.spread.exp())**2).sum(-1).mean().item() / 2
            if not 0.005 < apart < 0.02:
                nets.rate = max(1e-5, nets.rate / 1.5) if apart > 0.02 else min(1e-2, nets.rate * 1.5)
            ratio = (nets.density(mean, action) - density).exp()
            better = torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            loss = ((nets.value(seen)[:, 0] - target)**2).mean() - better - 0.005 * nets.spread.sum()
            nets.rule.param_groups[0]["lr"] = nets.rate
            nets.rule.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(nets.parameters(), 1.0)
            nets.rule.step()


def learn(robots: Episodes, updates: int, device: torch.device, seed: int = 0) -> Learner:
    torch.manual_seed(seed)
    seen, began = robots.reset(seed=seed).contiguous(), time.perf_counter()
    nets = Learner(seen.shape[1], robots.low.size).to(device)
    for update in range(updates):
        seen, *met, reward, falls = collected(nets, robots, seen)
        improve(nets, *met)
        if update % 10 == 0 or update == updates - 1:
            error = (met[0][..., COMMAND] - met[0][..., VELOCITY])[..., :2].norm(dim=-1).mean()
            print(f"{update:4d}  {time.perf_counter() - began:6.1f} s  reward {reward / 0.02:6.3f}  falls "
                  f"{50 * falls:6.3f} per s  error {error:.3f} m/s  spread {nets.spread.exp().mean():.2f}", flush=True)
    return nets


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--lanes", type=int, default=16384)
    parser.add_argument("--updates", type=int, default=400)
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--save", default="walking.pt")
    given = parser.parse_args()
    chosen = torch.device(given.device)
    learned = learn(quadruped(robot("anymal"), given.lanes, chosen, given.sweeps), given.updates, chosen)
    torch.save(learned.state_dict(), given.save)
