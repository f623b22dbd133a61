"""Episodes of a mechanism with contacts: beside rollouts, the same bit for bit in whatever company, on every device."""

import numpy as np
import pytest

import cayley as cy
from cayley.geometry.contact_shapes import HeightField
from cayley.learning import Episodes, uniform
from cayley.learning.draws import draws, keys
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint
from learning.test_environment_on_gpu import brought
from programs import needs

MASSES = np.array([3.0, 1.0])


def leg(ground="plane"):
    """A body that slides in a vertical plane and carries a leg with a ball at its end."""
    bodies = [Body("rail", 0.0), Body("hull", 3.0, (0, 0, 0), 0.05 * np.eye(3)),
              Body("shin", 1.0, (0, 0, -0.2), 0.02 * np.eye(3))]
    joints = [Joint("x", "ground", "rail", Prismatic((1, 0, 0))), Joint("z", "rail", "hull", Prismatic((0, 0, 1))),
              Joint("hip", "hull", "shin", Revolute((0, 1, 0)))]
    foot = np.eye(4)
    foot[2, 3] = -0.4
    made = cy.Mechanism.of("leg", [Body("ground"), *bodies], joints, frames=[Frame("foot", "shin", foot)])
    return made.with_contacts(ground, points={"foot": 0.05})


PLANT = leg().system(parameters=["mass"])
OWN = PLANT.parameters["parameters"]
STEP, SUBSTEPS = 0.02, 4


def start(u):
    return {"q": np.stack([0.0 * u[0], 0.44 + 0.1 * u[0], 0.4 * u[1] - 0.2]), "qd": 0.5 * (u[2:5] - 0.5),
            "parameters": OWN * (0.8 + 0.4 * u[5:5 + len(OWN)]), "contact_friction": np.stack([0.3 + 0.7 * u[7]])}


def observe(t, x, u, p):
    return np.concatenate([x.q[1:], x.qd, cy.where(x.contact_forces[:, 2] > 0.0, 1.0, 0.0)])


def reward(t, x, u, p):
    return x.qd[0] - 0.01 * u.tau[2] * u.tau[2] + p.contact_friction[0]


def fallen(t, x, u, p):
    return abs(x.q[2]) > 0.8


def episodes(lanes, plant=PLANT, **more):
    return Episodes(plant, lanes, **{
        "action": "tau", "low": [-0.5, -0.5, -3.0], "high": [0.5, 0.5, 3.0], "step": STEP, "substeps": SUBSTEPS,
        "horizon": 15, "draws": 8, "start": start, "observe": observe, "reward": reward, "failed": fallen, **more})


def actions(lanes, steps, seed=0):
    return np.random.default_rng(seed).uniform(-4, 4, (steps, lanes, 3))


def test_a_step_is_that_of_a_rollout_with_texts_in_plain_python():
    lanes = 7
    env = episodes(lanes)
    seen = env.reset(seed=3)
    roll = PLANT.rollout(parameters=["parameters", "contact_friction"])
    u = uniform(3 + np.arange(lanes), 0, 8)
    begun = [start(each) for each in u]
    state = {"q": np.stack([b["q"] for b in begun]), "qd": np.stack([b["qd"] for b in begun]),
             "contact_forces": np.zeros((lanes, 1, 3))}
    own = {n: np.stack([b[n] for b in begun]) for n in ("parameters", "contact_friction")}
    layout = PLANT.layout
    touched = 0
    for k, action in enumerate(actions(lanes, 12)):
        clipped = np.clip(action, [-0.5, -0.5, -3.0], [0.5, 0.5, 3.0])
        if k == 0:
            wanted = [observe(0, layout.state(layout.vectors(state)[n]), None, None) for n in range(lanes)]
            np.testing.assert_allclose(seen, np.stack(wanted), rtol=1e-13)
        found = env.step(action)
        run = roll(state, step=STEP / SUBSTEPS, steps=SUBSTEPS, every=SUBSTEPS, inputs={"tau": clipped}, parameters=own)
        state = {n: run[n][:, -1] for n in state}
        for n in range(lanes):
            x = layout.state(layout.vectors(state)[n])
            p = PLANT.parameter_record({name: a[n] for name, a in own.items()})
            texts = (0.0, x, PLANT.input_record({"tau": clipped[n]}), p)
            np.testing.assert_allclose(found.last[n], observe(*texts), rtol=1e-8, atol=1e-9)
            assert found.reward[n] == pytest.approx(reward(*texts), rel=1e-8, abs=1e-9)
            assert found.failed[n] == fallen(*texts) and not found.late[n] and not found.broken[n]
            touched += observe(*texts)[-1]
            if found.failed[n]:  # the episode after it
                again = start(uniform(3 + n, 1, 8))
                np.testing.assert_allclose(found.seen[n], observe(0, layout.state(np.concatenate(
                    [again["q"], again["qd"], np.zeros(3)])), None, None), rtol=1e-12)
                env.arrays["x"][n] = layout.vectors(state)[n]
                for name, a in own.items():
                    env.arrays[f"p.{name}"][n] = a[n]
    assert touched > 10


def ran(lanes, seed, given, **more):
    env = episodes(lanes, **more)
    seen = [env.reset(seed=seed)]
    found = [env.step(action) for action in given]
    return [np.stack(parts) for parts in ([*seen, *[f.seen for f in found]], [f.reward for f in found],
                                          [f.failed for f in found], [f.late for f in found])]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_lane_is_the_same_bit_for_bit_in_whatever_company(dtype):
    given = actions(101, 40)
    many = ran(101, 7, given, dtype=dtype)
    assert many[0].dtype == many[1].dtype == dtype and many[2].any() and many[3].any()
    for again in (ran(101, 7, given, dtype=dtype), ran(101, 7, given, dtype=dtype, threads=2)):
        assert all(map(np.array_equal, many, again))
    for lane in (0, 55, 100):
        alone = ran(1, 7 + lane, given[:, lane:lane + 1], dtype=dtype)
        assert all(np.array_equal(a[:, 0], b[:, lane]) for a, b in zip(alone, many, strict=True))


def test_episodes_begin_anew_in_the_step_that_ends_them():
    env = episodes(4, failed=None, horizon=3)
    env.reset(seed=1)
    for episode in range(1, 4):
        late = [env.step(np.zeros((4, 3))).late for _ in range(3)]
        assert np.stack(late).tolist() == [[False] * 4, [False] * 4, [True] * 4]
        u = uniform(1 + np.arange(4), episode, 8)
        np.testing.assert_allclose(env.seen[:, 0], 0.44 + 0.1 * u[:, 0], rtol=1e-15)
        np.testing.assert_allclose(env.arrays["p.contact_friction"][:, 0], 0.3 + 0.7 * u[:, 7], rtol=1e-15)


def test_a_mask_resets_some_lanes_and_a_seed_begins_their_numbers_anew():
    env = episodes(4)
    first = env.reset(seed=5).copy()
    for action in actions(4, 5):
        env.step(action)
    before = env.seen.copy()
    mask = np.array([False, True, False, True])
    after = env.reset(seed=5, mask=mask)
    np.testing.assert_array_equal(after[mask], first[mask])
    np.testing.assert_array_equal(after[~mask], before[~mask])


def test_an_action_that_is_no_number_ends_its_episode_and_no_other():
    env = episodes(3, failed=None)
    env.reset(seed=0)
    given = np.zeros((3, 3))
    given[1, 2] = np.nan
    found = env.step(given)
    assert found.broken.tolist() == found.failed.tolist() == [False, True, False]
    assert found.reward[1] == 0.0 and np.isfinite(found.seen).all() and np.isfinite(found.last).all()
    assert env.step(np.zeros((3, 3))).broken.tolist() == [False] * 3


def test_random_numbers_are_the_same_in_float32_and_inside_kernels():
    @cy.kernel("(2),()->(5)", inputs=("key", "episode"))
    def drawn(key, episode):
        return np.stack(draws(key[0], key[1], episode, 5))

    seeds, episode = np.arange(300), np.arange(300.0) * 1001
    wanted = uniform(seeds, episode, 5)
    for dtype in (np.float32, np.float64):
        found = drawn(keys(seeds).astype(dtype), episode.astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)


def test_random_numbers_of_neighbouring_episodes_do_not_go_together():
    u = uniform(5, np.arange(200_000), 3)
    for a, b in ((u[:-1, 0], u[1:, 0]), (u[:, 0], u[:, 1]), (u[:, 1], u[:, 2])):
        counts = np.histogram2d(a, b, 64, [[0, 1], [0, 1]])[0]
        expected = len(a) / 64**2
        chi = ((counts - expected)**2 / expected).sum()
        assert abs(chi - (64**2 - 1)) < 5 * np.sqrt(2 * (64**2 - 1))


def test_terrain_is_a_place_on_a_height_field():
    heights = 0.2 * np.random.default_rng(0).random((9, 5))
    field = HeightField(heights, (4.0, 2.0))
    plant = leg(field).system()

    def on_the_ground(u):
        x = 3.0 * (u[0] - 0.5)
        return {"q": np.stack([x, 0.75 + 0.0 * x, 0.0 * x]), "qd": np.zeros(3)}

    env = Episodes(plant, 50, action="tau", low=-1.0, high=1.0, step=STEP, substeps=SUBSTEPS, horizon=100, draws=1,
                   start=on_the_ground, observe=observe, reward=lambda t, x, u, p: x.q[1])
    env.reset(seed=0)
    for _ in range(30):
        found = env.step(np.zeros((50, 3)))
    assert not found.failed.any() and found.seen[:, -1].mean() > 0.5
    assert np.ptp(found.seen[:, 0]) > 0.02


@needs("g++")
@pytest.mark.parametrize("autoreset", ["same step", "disabled"])
def test_the_same_on_a_gpu(cupy, autoreset):
    more = {"autoreset": autoreset, "dtype": "float32", "failed": None}
    here, there = episodes(4, **more), episodes(4, **more, device="cuda")
    np.testing.assert_allclose(brought(there.reset(seed=2)), here.reset(seed=2), rtol=1e-6)
    for action in actions(4, 10).astype(np.float32):
        found, wanted = there.step(cupy.asarray(action)), here.step(action)
        np.testing.assert_allclose(brought(found.seen), wanted.seen, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(brought(found.reward), wanted.reward, rtol=1e-3, atol=1e-4)
        assert found.reward.dtype == np.float32 and (brought(found.late) == wanted.late).all()
