"""Episodes on a GPU beside the same on this processor: through a stand-in for CuPy, and on a GPU where there is one."""

import numpy as np
import pytest

import cayley as cy
from compiler.gpu_stand_in import Array
from learning.test_environment import episodes
from programs import needs

ACTIONS = np.random.default_rng(4).uniform(-3.0, 3.0, (40, 5, 1)).astype(np.float32)


def same_as_here(there, moved=lambda actions: actions, autoreset="next step"):
    """Each step gives what it gives here; how many episodes ended."""
    here = episodes(5, autoreset=autoreset)
    np.testing.assert_allclose(brought(there.reset(seed=3)[0]), here.reset(seed=3)[0], rtol=1e-6)
    ended = 0
    for actions in ACTIONS:
        found, right = there.step(moved(actions)), here.step(actions)
        np.testing.assert_allclose(brought(found[0]), right[0], rtol=2e-6, atol=1e-6)
        np.testing.assert_allclose(brought(found[1]), right[1], rtol=2e-6, atol=1e-6)
        for which in (2, 3):
            assert type(found[which]) is np.ndarray
            np.testing.assert_array_equal(found[which], right[which])
        if "final_obs" in right[4]:
            np.testing.assert_allclose(brought(found[4]["final_obs"]), right[4]["final_obs"], rtol=2e-6, atol=1e-6)
        ended += (right[2] | right[3]).sum()
    return ended


def brought(array):
    return np.asarray(array.get() if hasattr(array, "get") else array.cpu() if hasattr(array, "cpu") else array)


@needs("g++")
@pytest.mark.parametrize("autoreset", ["next step", "same step"])
def test_episodes_are_those_of_this_processor(cupy, autoreset):
    there = episodes(5, autoreset=autoreset, device="cuda")
    assert same_as_here(there, autoreset=autoreset) > 10


@needs("g++")
def test_states_observations_and_rewards_stay_there(cupy, monkeypatch):
    def brings_masks_alone(array):
        assert array.dtype == bool
        return np.array(array)

    monkeypatch.setattr(cupy, "asnumpy", brings_masks_alone)
    env = episodes(4, device="cuda", autoreset="same step")
    seen, _ = env.reset(seed=0)
    seen, reward, *_ = env.step(cupy.asarray(np.ones((4, 1), np.float32)))
    assert all(isinstance(each, Array) for each in (env.x, env.parameters["mass"], seen))
    assert seen.dtype == reward.dtype == np.float32 and reward.shape == (4,)
    with pytest.raises(cy.SignatureError, match="lane 2 is not a number"):
        env.step(np.array([[0.0], [0.0], [np.nan], [0.0]]))


@pytest.mark.parametrize("device", ["cpu", "cuda:1", 0])
def test_a_device_is_a_gpu(device):
    with pytest.raises(cy.SignatureError, match=r'must be a GPU.*jax\.devices\("gpu"\)\[0\].*not'):
        episodes(4, device=device)


@pytest.mark.parametrize("library", ["cupy", "torch", "jax"])
def test_on_a_gpu(library):
    pytest.importorskip("cupy")
    module = pytest.importorskip(library)
    if library == "jax" and module.default_backend() != "gpu":
        pytest.skip("JAX finds no GPU")
    device, moved = {"cupy": lambda: ("cuda", module.asarray),
                     "torch": lambda: (module.device("cuda"), lambda a: module.as_tensor(a, device="cuda")),
                     "jax": lambda: (module.devices("gpu")[0], lambda a: module.numpy.asarray(a, "float32"))}[library]()
    there = episodes(5, autoreset="same step", device=device)
    assert isinstance(there.reset(seed=0)[0], {"cupy": lambda: module.ndarray, "torch": lambda: module.Tensor,
                                               "jax": lambda: module.Array}[library]())
    assert same_as_here(there, moved, "same step") > 10
