"""Environments against single ones that are written by hand, lane by lane, in Gymnasium's own vector class."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import cayley as cy
from cayley.learning import Environment, uniform

STEP = 0.05


def rate(angle, speed, torque, mass):
    return torque / mass - 9.81 * np.sin(angle)


PENDULUM = cy.System(
    "pendulum", state={"angle": cy.systems.Block((), "rad", velocity="speed"), "speed": "rad/s"},
    inputs={"torque": "N m"}, parameters={"mass": 1.0},
    derivative=lambda t, x, u, p: rate(x.angle, x.speed, u.torque, p.mass))


def start(u):
    return {"angle": 2.0 * u[0] - 1.0, "speed": 4.0 * u[1] - 2.0, "mass": 0.8 + 0.4 * u[2]}


def episodes(lanes, **others):
    given = {
        "action": "torque", "low": -2.0, "high": 2.0, "step": STEP, "horizon": 12, "start": start, "draws": 3,
        "observe": lambda t, x, u, p: np.stack([np.cos(x.angle), np.sin(x.angle), x.speed]),
        "reward": lambda t, x, u, p: -np.cos(x.angle) - 0.1 * u.torque**2,
        "failed": lambda t, x, u, p: x.angle > 1.2}
    return Environment(PENDULUM, lanes, **given | others)


class ByHand(gymnasium.Env):
    """One lane: RK4 by hand, with the same random numbers."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,))
    action_space = gymnasium.spaces.Box(-2.0, 2.0, (1,))
    count = 0

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.seed = seed
            self.count = 0
        u = uniform(self.seed, self.count, 3)
        self.count += 1
        self.age = 0
        self.x = np.array([2 * u[0] - 1, 4 * u[1] - 2])
        self.mass = 0.8 + 0.4 * u[2]
        return self.seen(), {}

    def seen(self):
        return np.array([np.cos(self.x[0]), np.sin(self.x[0]), self.x[1]], np.float32)

    def step(self, action):
        torque = float(np.clip(action[0], -2, 2))

        def slope(x):
            return np.array([x[1], rate(*x, torque, self.mass)])

        k1 = slope(self.x)
        k2 = slope(self.x + STEP / 2 * k1)
        k3 = slope(self.x + STEP / 2 * k2)
        k4 = slope(self.x + STEP * k3)
        self.x = self.x + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        self.age += 1
        failed = bool(self.x[0] > 1.2)
        return self.seen(), -np.cos(self.x[0]) - 0.1 * torque**2, failed, self.age >= 12 and not failed, {}


@pytest.mark.parametrize(("autoreset", "mode"), [("next step", AutoresetMode.NEXT_STEP),
                                                 ("same step", AutoresetMode.SAME_STEP)])
def test_lanes_are_single_environments_side_by_side(autoreset, mode):
    lanes = 5
    ours = episodes(lanes, autoreset=autoreset)
    theirs = SyncVectorEnv([ByHand] * lanes, autoreset_mode=mode)
    np.testing.assert_allclose(ours.reset(seed=3)[0], theirs.reset(seed=3)[0], rtol=1e-6)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(60):
        actions = rng.uniform(-3, 3, (lanes, 1))
        found = ours.step(actions)
        wanted = theirs.step(np.clip(actions, -2, 2).astype(np.float64))
        np.testing.assert_allclose(found[0], wanted[0], rtol=2e-5, atol=1e-6)
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(found[2], wanted[2])
        np.testing.assert_array_equal(found[3], wanted[3])
        ended += (found[2] | found[3]).sum()
        if mode is AutoresetMode.SAME_STEP and (over := found[2] | found[3]).any():
            np.testing.assert_array_equal(found[4]["_final_obs"], over)
            np.testing.assert_allclose(found[4]["final_obs"][over], np.stack(list(wanted[4]["final_obs"][over])),
                                       rtol=2e-5, atol=1e-6)
    assert ended > 10


def run(lanes, seeds, actions):
    env = episodes(lanes)
    seen = [env.reset(seed=seeds)[0]]
    rewards = []
    for action in actions:
        observed, reward, *_ = env.step(action[:lanes])
        seen.append(observed)
        rewards.append(reward)
    return np.stack(seen), np.stack(rewards), env.x


def test_a_lane_is_the_same_bit_for_bit_in_whatever_company():
    actions = np.random.default_rng(1).uniform(-2, 2, (40, 1003, 1))
    many = run(1003, 7, actions)
    again = run(1003, 7, actions)
    for a, b in zip(many, again, strict=True):
        np.testing.assert_array_equal(a, b)
    for lane in (0, 1, 500, 1002):
        alone = run(1, 7 + lane, actions[:, lane:lane + 1])
        np.testing.assert_array_equal(alone[0][:, 0], many[0][:, lane])
        np.testing.assert_array_equal(alone[1][:, 0], many[1][:, lane])
        np.testing.assert_array_equal(alone[2][0], many[2][lane])


def test_a_mask_resets_some_lanes_and_leaves_the_others():
    env = episodes(4, autoreset="disabled", failed=None)
    env.reset(seed=1)
    for _ in range(5):
        env.step(np.zeros((4, 1)))
    before = env.x.copy()
    mask = np.array([False, True, False, True])
    env.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(env.x[~mask], before[~mask])
    np.testing.assert_array_equal(env.x[1], [2 * u[0] - 1 if k == 0 else 4 * u[1] - 2
                                             for u in [uniform(2, 1, 3)] for k in range(2)])
    for _ in range(7):
        _, _, _, truncated, _ = env.step(np.zeros((4, 1)))
    np.testing.assert_array_equal(truncated, ~mask)
    with pytest.raises(cy.SignatureError, match=r"lane 0 is over.*reset mask"):
        env.step(np.zeros((4, 1)))
    env.reset(seed=1, options={"reset_mask": ~mask})
    np.testing.assert_array_equal(env.x[0, 0], 2 * uniform(1, 0, 3)[0] - 1)


def test_a_lane_that_leaves_the_numbers_ends_and_the_others_go_on():
    explosive = cy.System("explosive", state={"x": ""}, inputs={"u": ""}, derivative=lambda t, x, u, p: x.x**3 + u.u)
    env = Environment(explosive, 3, action="u", low=-1, high=1, step=0.5, horizon=50, draws=1, substeps=3,
                      start=lambda u: {"x": u[0] / 10}, observe=lambda t, x, u, p: np.stack([x.x]),
                      reward=lambda t, x, u, p: 1.0 + x.x)
    first, _ = env.reset(seed=0)
    env.x[1] = 1e120
    seen, reward, terminated, truncated, info = env.step(np.zeros((3, 1)))
    assert terminated.tolist() == info["not_finite"].tolist() == [False, True, False] and not truncated.any()
    assert reward[1] == 0.0 and (reward[[0, 2]] > 1.0).all()
    assert seen[1] == first[1] and np.isfinite(seen).all()
    seen, reward, terminated, _, info = env.step(np.zeros((3, 1)))
    assert not terminated.any() and not info["not_finite"].any()
    assert seen[1] == np.float32(uniform(1, 1, 1)[0] / 10) and reward[1] == 0.0


def test_random_numbers_are_spread_evenly_and_do_not_go_together():
    u = uniform(np.arange(20_000), 3, 4)
    assert ((u >= 0) & (u < 1)).all()
    assert np.abs(np.corrcoef(u.T) - np.eye(4)).max() < 0.03
    assert np.abs(np.histogram(u, 16, (0, 1))[0] / 5000 - 1).max() < 0.08
    other = uniform(np.arange(20_000), 4, 4)
    assert abs(np.corrcoef(u[:, 0], other[:, 0])[0, 1]) < 0.03
    assert abs(np.corrcoef(u[1:, 0], u[:-1, 0])[0, 1]) < 0.03


def test_wrappers_of_gymnasium_go_round_it():
    env = RecordEpisodeStatistics(episodes(3, failed=None))
    env.reset(seed=2)
    for _ in range(12):
        *_, info = env.step(env.action_space.sample() * 0)
    assert info["episode"]["l"].tolist() == [12, 12, 12]


def test_an_arm_with_other_masses_in_every_lane():
    arm = cy.load("planar2r")
    system = arm.system(parameters=["mass"])
    own = system.parameters["parameters"]
    env = Environment(system, 6, action="tau", low=[-5, -3], high=[5, 3], step=0.02, substeps=4, horizon=10, draws=1,
                      start=lambda u: {"q": np.zeros(2), "qd": np.zeros(2), "parameters": own * (0.5 + u[0])},
                      observe=lambda t, x, u, p: np.concatenate([x.q, x.qd]), reward=lambda t, x, u, p: -(x.q @ x.q))
    env.reset(seed=4)
    torque = np.tile([1.0, 0.5], (6, 1))
    env.step(torque)
    for lane in range(6):
        alone = system.with_parameters({"parameters": env.parameters["parameters"][lane]})
        run = alone.simulate({"q": np.zeros(2), "qd": np.zeros(2)}, until=0.02, inputs={"tau": [1.0, 0.5]})
        np.testing.assert_allclose(env.x[lane], np.concatenate([run.end["q"], run.end["qd"]]), rtol=1e-6, atol=1e-9)
    assert np.ptp(env.x[:, 0]) > 1e-4


@pytest.mark.parametrize(("wrong", "said"), [
    ({"action": "torqe"}, "no input 'torqe'.*did you mean 'torque'"),
    ({"low": 2.0}, "low must be below high"),
    ({"start": lambda u: {"angle": u[0], "speed": 0.0, "mas": 1.0}},
     "'mas', which is not a state or parameter.*'mass'"),
    ({"start": lambda u: {"angle": u[0]}}, "'speed' is missing"),
    ({"observe": lambda t, x, u, p: x.angle}, "an observation is a vector"),
    ({"autoreset": "never"}, "autoreset must be one of"),
    ({"horizon": 0}, "one lane and one action or more"),
    ({"substeps": 0}, "one step or more"), ({"substeps": 1.5}, "one step or more"), ({"horizon": 2.5}, "not 3 and 2.5"),
    ({"step": 0.0}, "more than 0 s"), ({"step": -0.1}, "more than 0 s"), ({"step": np.nan}, "more than 0 s"),
    ({"draws": -1}, "0 or more"), ({"draws": 2}, "more random numbers than its 2 draws"),
    ({"low": [0.0, 1.0]},
     r"must have the shape \(\), not \(2,\)"), ({"inputs": {"torque": 1.0}}, "what the actions drive"),
    ({"inputs": {"wind": 1.0}}, "takes no input 'wind'")])
def test_what_is_wrong_is_said(wrong, said):
    with pytest.raises(cy.SignatureError, match=said):
        episodes(3, **wrong)


def test_actions_seeds_and_masks_that_are_wrong_are_said():
    env = episodes(3)
    with pytest.raises(cy.SignatureError, match="call reset"):
        env.step(np.zeros((3, 1)))
    env.reset(seed=0)
    with pytest.raises(cy.SignatureError, match=r"shape \(3, 1\), not \(3,\)"):
        env.step(np.zeros(3))
    with pytest.raises(cy.SignatureError, match="lane 2 is not a number"):
        env.step([[0.0], [0.0], [np.nan]])
    with pytest.raises(cy.SignatureError, match="as many seeds"):
        env.reset(seed=[1, 2])
    with pytest.raises(cy.SignatureError, match="truth values"):
        env.reset(options={"reset_mask": np.ones(3)})
    with pytest.raises(cy.SignatureError, match="'reset_mask', not 'mask'"):
        env.reset(options={"mask": np.ones(3, bool)})
    for seed, said in ((-1, "-1"), (2**64, str(2**64)), (1.5, "1.5"), ([1, 2.5, 3], "2.5"), ([1, None, 3], "None"),
                       ("abc", "'abc'"), (True, "True")):
        with pytest.raises(cy.SignatureError, match=f"a seed must be a whole number from 0 to .*, not {said}"):
            env.reset(seed=seed)
    for actions in (np.full((3, 1), 1j), [["a"], ["b"], ["c"]], np.ones((3, 1), bool)):
        with pytest.raises(cy.SignatureError, match="actions must be real numbers"):
            env.step(actions)
    np.testing.assert_array_equal(env.reset(seed=np.array([3, 4, 5]))[0], env.reset(seed=3)[0])


def test_a_mechanism_is_told_to_give_its_system():
    with pytest.raises(cy.SignatureError, match=r"made of a System.*arm.system\(\)"):
        Environment(cy.load("planar2r"), 2, action="tau", low=-1, high=1, step=0.1, horizon=5, draws=1,
                    start=lambda u: {}, observe=lambda t, x, u, p: x.q, reward=lambda t, x, u, p: 0.0)


def test_modes_begin_by_word_and_change_in_each_lane():
    room = cy.System(
        "room", state={"T": "°C"}, inputs={"heat": "W"}, modes={"window": ("shut", "open")},
        derivative=lambda t, x, u, p: u.heat - cy.where(x.is_in("window", "open"), 3.0, 1.0) * x.T,
        transitions=[cy.systems.Transition("shuts", lambda t, x, u, p: x.T - 15.0, "falling",
                                           during={"window": "open"}, to={"window": "shut"})])

    def lanes(word):
        return Environment(room, 4, action="heat", low=0.0, high=9.0, step=0.1, horizon=9, draws=1,
                           start=lambda u: {"T": 15.0 + 10.0 * u[0], "window": word},
                           observe=lambda t, x, u, p: np.stack([x.T, x.window]), reward=lambda t, x, u, p: -x.T)
    env = lanes("open")
    first, _ = env.reset(seed=0)
    seen, *_ = env.step(np.zeros((4, 1)))
    shut = np.log(first[:, 0] / 15.0) / 3.0  # when it is
    expected = np.where(shut < 0.1, 15.0 * np.exp(shut - 0.1), first[:, 0] * np.exp(-0.3))
    np.testing.assert_allclose(seen, np.stack([expected, shut > 0.1], axis=1), rtol=1e-4)
    assert first[:, 1].tolist() == [1.0] * 4 and set(seen[:, 1]) == {0.0, 1.0}
    with pytest.raises(cy.SignatureError, match="'ajar'"):
        lanes("ajar")


def test_a_system_that_depends_on_the_time_is_refused():
    driven = cy.System("driven", state={"x": ""}, inputs={"u": ""}, derivative=lambda t, x, u, p: np.sin(t) + u.u)
    with pytest.raises(cy.UnsupportedError, match="each lane has a time of its own"):
        Environment(driven, 2, action="u", low=-1, high=1, step=0.1, horizon=5, draws=1, start=lambda u: {"x": u[0]},
                    observe=lambda t, x, u, p: np.stack([x.x]), reward=lambda t, x, u, p: x.x)
    for text in ({"reward": lambda t, x, u, p: x.angle * t}, {"observe": lambda t, x, u, p: np.stack([x.angle, t])},
                 {"failed": lambda t, x, u, p: t + x.angle > 1.0}):
        with pytest.raises(cy.UnsupportedError, match=f"`{next(iter(text))}` depends on the time itself"):
            episodes(2, **text)
