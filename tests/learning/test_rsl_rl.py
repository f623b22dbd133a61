"""Episodes in the runners of rsl_rl, where it is installed."""

import numpy as np
import pytest

import cayley as cy
from cayley.learning import Episodes, RslRlEnvironment, uniform

MASS = cy.System("mass", state={"x": cy.systems.Block((), "m", velocity="v"), "v": "m/s"}, inputs={"force": "N"},
                 derivative=lambda t, x, u, p: u.force)


def episodes(lanes, **more):
    return Episodes(MASS, lanes, **{
        "action": "force", "low": -1.0, "high": 1.0, "step": 0.1, "horizon": 20, "draws": 2,
        "start": lambda u: {"x": 2.0 * u[0] - 1.0, "v": u[1] - 0.5},
        "observe": lambda t, x, u, p: np.stack([x.x, x.v]), "reward": lambda t, x, u, p: 1.0 - x.x**2 - 0.1 * x.v**2,
        "failed": lambda t, x, u, p: abs(x.x) > 2.0, "dtype": "float32", **more})


def on_torch(lanes, **more):
    torch = pytest.importorskip("torch")
    pytest.importorskip("tensordict")
    return RslRlEnvironment(episodes(lanes, device=torch.device("cpu"), **more)), torch


def test_the_attributes_and_results_are_those_that_runners_read():
    env, torch = on_torch(5)
    assert (env.num_envs, env.num_actions, env.max_episode_length, env.cfg) == (5, 1, 20, {})
    env.episodes.reset(seed=3)
    assert env.get_observations()["policy"].shape == (5, 2)
    assert env.get_observations()["policy"][2, 0] == np.float32(2.0 * uniform(5, 0, 2)[0] - 1.0)
    _, reward, done, extras = env.step(torch.zeros(5, 1))
    assert reward.dtype == torch.float32 and reward.shape == done.shape == extras["time_outs"].shape == (5,)
    assert env.episode_length_buf.tolist() == [1] * 5
    env.episode_length_buf = torch.tensor([0, 5, 18, 19, 3])
    _, _, done, extras = env.step(torch.zeros(5, 1))
    assert done.tolist() == extras["time_outs"].long().tolist() == [0, 0, 0, 1, 0]
    assert env.episode_length_buf.tolist() == [1, 6, 19, 0, 4]
    assert env.reset()[0].batch_size == torch.Size([5])


def test_its_runner_learns():
    runners = pytest.importorskip("rsl_rl.runners")
    env, torch = on_torch(64)
    env.episodes.reset(seed=0)
    torch.manual_seed(0)
    layers = {"class_name": "MLPModel", "hidden_dims": [32], "activation": "elu"}
    spread = {"class_name": "GaussianDistribution", "init_std": 0.7}
    settings = {
        "num_steps_per_env": 24, "save_interval": 1000, "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**layers, "distribution_cfg": spread}, "critic": layers,
        "algorithm": {"class_name": "PPO", "learning_rate": 3e-3, "num_learning_epochs": 4, "num_mini_batches": 4,
                      "rnd_cfg": None}, "logger": "tensorboard"}

    def examined(policy):
        env.episodes.reset(seed=9)
        total = torch.zeros(64)
        with torch.no_grad():
            for _ in range(19):
                _, reward, *_ = env.step(policy(env.get_observations()))
                total += reward
        return total.mean().item()

    runner = runners.OnPolicyRunner(env, settings, log_dir=None, device="cpu")
    before = examined(runner.get_inference_policy())
    env.episodes.reset(seed=1)
    runner.learn(12)
    assert examined(runner.get_inference_policy()) > before + 1.0


@pytest.mark.parametrize(("wrong", "said"), [
    ({}, "float32 tensors of PyTorch"), ({"dtype": "float64"}, "float32 tensors of PyTorch.*float64")])
def test_episodes_in_other_arrays_are_refused(wrong, said):
    with pytest.raises(cy.SignatureError, match=said):
        RslRlEnvironment(episodes(2, **wrong))


def test_episodes_that_begin_later_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(cy.SignatureError, match=r'autoreset="same step".*next step'):
        RslRlEnvironment(episodes(2, device=torch.device("cpu"), autoreset="next step"))
