"""Derivatives across impacts and modes: beside closed forms of a ball and a room, and differences of rollouts."""


import numpy as np
import pytest

import cayley as cy
from cayley.errors import UnsupportedError
from cayley.systems import Block, System, Transition
from compiler.gpu_stand_in import Array
from programs import needs
from systems.plants import G, ball
from systems.test_transitions import belt, thermostat

RUN = {"step": 0.01, "steps": 150, "every": 30}


def bounced(height, speed, e, t):
    """Where a ball is at some times, impact by impact; of complex numbers too. RK4 makes no error in its parabolas."""
    start = 0.0
    found = []
    for now in t:
        while True:
            root = np.sqrt(speed**2 + 2 * G * height)
            falls = (speed + root) / G
            if start.real + falls.real > now:
                break
            start, height, speed = start + falls, 0.0, e * root
        since = now - start
        found.append((height + speed * since - G / 2 * since**2, speed - G * since))
    return np.array(found).T


@pytest.fixture(scope="module")
def bouncing():
    return ball().rollout(parameters=["e"]), {"height": np.array([1.0, 0.2, 9.0]), "speed": np.array([0.5, 0.0, -2.0])}


@pytest.fixture(scope="module")
def exact(bouncing):
    """Complex numbers in the place of each, one after the other."""
    _, x = bouncing
    t = np.arange(6) * 0.3
    tiny = 1e-30
    given = {**x, "e": np.full(3, 0.8)}
    found = {}
    for name in given:
        moved = {n: a + (1j * tiny if n == name else 0.0) for n, a in given.items()}
        found[name] = np.array([bounced(*args, t) for args in zip(*moved.values(), strict=True)]).imag / tiny
    return found


def test_a_ball_in_closed_form(bouncing, exact):
    """After none, one, and several impacts: the instants move, and so does all that follows."""
    roll, x = bouncing
    assert roll(x, **RUN).log.count.tolist() == [2, 8, 1]
    found = roll.sensitivities(x, **RUN)
    for by, right in exact.items():
        for k, name in enumerate(("height", "speed")):
            np.testing.assert_allclose(found[name][by], right[:, k], rtol=0, atol=1e-11)


def test_the_way_back_across_impacts(bouncing, exact):
    roll, x = bouncing
    rng = np.random.default_rng(0)
    weights = {name: rng.normal(size=(3, 6)) for name in ("height", "speed")}
    back = roll.vjp(x, weights, **RUN)
    for by, right in exact.items():
        expected = weights["height"] * right[:, 0] + weights["speed"] * right[:, 1]
        np.testing.assert_allclose(back[by], expected.sum() if by == "e" else expected.sum(-1), rtol=0, atol=1e-10)


def test_the_energy_that_impacts_take(bouncing):
    """`work` books what is lost: of a ball it is what the kinetic energy at impacts says."""
    roll, x = bouncing
    lost = cy.kernel("()->()", inputs=["work"])(lambda work: work)
    found = roll.gradient(x, terminal=lost, **RUN | {"steps": 30})
    root = x["speed"] ** 2 / 2 + G * x["height"]
    once = np.array([False, True, False])  # until then
    assert roll(x, **RUN | {"steps": 30}).log.count.tolist() == [0, 1, 0]
    np.testing.assert_allclose(found.value, np.where(once, (0.64 - 1) * root, 0.0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["height"], np.where(once, -0.36 * G, 0.0), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found["e"], (2 * 0.8 * root[once]).sum(), rtol=1e-12)


def test_a_room_between_its_switches():
    """Modes. An exponential is followed to where it is left: T(t) depends on each of the limits that were met."""
    room = thermostat()
    run = {"step": 2e-3, "steps": 150, "every": 150}
    roll = room.rollout(parameters=["low", "high"])

    def end(T, low, high, t=0.3):
        t1 = np.log((40 - T) / (40 - high))
        t2 = t1 + np.log((high - 10) / (low - 10))
        assert t1.real < t2.real < t
        return 40 - (40 - low) * np.exp(-(t - t2))
    found = roll.sensitivities({"T": 20.0}, **run)["T"]
    assert roll({"T": 20.0}, **run).log.count == 2
    for k, name in enumerate(("T", "low", "high")):
        values = np.array([20.0, 19.0, 21.0], complex)
        values[k] += 1e-30j
        np.testing.assert_allclose(found[name][-1], end(*values).imag / 1e-30, rtol=1e-9)


def crane():
    """A mass on a spring, pushed by a force that changes, thrown back by a wall that moves with the time; a quaternion
    beside it that turns faster after each impact."""
    from cayley.systems import UNIT_QUATERNION
    return System(
        "crane", state={"x": Block((), "m", velocity="v"), "v": "m/s",
                        "R": Block((4,), manifold=UNIT_QUATERNION, velocity="w"), "w": 3},
        inputs={"f": "N", "wall": "m"}, parameters={"k": 30.0, "e": 0.7},
        derivative=lambda t, x, u, p: {"v": u.f - p.k * x.x, "w": -0.5 * x.w},
        transitions=[Transition("wall", lambda t, x, u, p: u.wall + 0.01 * np.sin(5 * t) - x.x,
                                jump=lambda t, x, u, p: {"v": -p.e * x.v - 0.02 * np.cos(5 * t), "w": (1 + p.e) * x.w}),
                     Transition("stop", lambda t, x, u, p: x.x + 0.05, jump=lambda t, x, u, p: {"v": -p.e * x.v})])


def two_walls():
    rng = np.random.default_rng(1)
    return crane().rollout(method="semi-implicit-euler", changing=["f"], parameters=["k", "e"]), {
        "x": np.array([0.0, 0.02]), "v": np.array([12.0, 5.0]), "R": np.array([1.0, 0.0, 0.0, 0.0]),
        "w": np.array([0.2, 1.0, 0.3]), "f": rng.normal(size=(2, 12)), "wall": np.array(0.05),
        "k": np.array(30.0), "e": np.array([0.9, 0.8])}


def parts(values):
    return {"x": {n: values[n] for n in ("x", "v", "R", "w")}, "inputs": {n: values[n] for n in ("f", "wall")},
            "parameters": {n: values[n] for n in ("k", "e")}}


def test_times_inputs_parameters_and_manifolds_beside_differences():
    """Both modes with one another, and with Richardson's differences of rollouts; several instants in a step too."""
    roll, given = two_walls()
    run = {"step": 0.02, "steps": 12, "every": 6}
    rng = np.random.default_rng(2)
    tangents = {n: rng.normal(size=np.shape(a)) for n, a in given.items()}
    tangents["R"][0] = 0.0  # along the sphere

    def kept(s):
        moved = {n: a + s * tangents[n] for n, a in given.items()}
        moved["R"] = moved["R"] / np.linalg.norm(moved["R"])
        found = roll(**parts(moved), **run)
        assert found.finished and found.log.count.min() > 4
        return np.concatenate([found[n].reshape(2, 3, -1) for n in ("x", "v", "R", "w")], axis=-1)
    instants = roll(**parts(given), **run).log.times // run["step"]
    assert (np.diff(instants, axis=-1) == 0).any()  # two in a step
    e = 1e-4
    slope = [(kept(s) - kept(-s)) / (2 * s) for s in (e, e / 2)]
    slope = (4 * slope[1] - slope[0]) / 3
    along = roll.jvp(tangents=tangents, **parts(given), **run)
    found = np.concatenate([along[n].reshape(2, 3, -1) for n in ("x", "v", "R", "w")], axis=-1)
    np.testing.assert_allclose(found, slope, rtol=0, atol=2e-7 * np.abs(slope).max())
    weights = {n: rng.normal(size=along[n].shape) for n in ("x", "v", "R", "w")}
    back = roll.vjp(weights=weights, **parts(given), **run)
    product = sum((weights[n] * along[n]).sum() for n in weights)
    assert product == pytest.approx(sum((back[n] * tangents[n]).sum() for n in tangents), rel=1e-11)


def test_sticking_and_slipping():
    """While it sticks, a mass forgets where it was: the jump of the speed is to that of the belt."""
    roll = belt().rollout()
    run = {"step": 0.01, "steps": 100, "every": 100}
    x = {"x": -0.15, "v": 0.3, "contact": "slip"}
    assert roll(x, **run).log.numbers[:2].tolist() == [1, 0]
    found = roll.sensitivities(x, **run)
    ends = [roll(x | {"v": 0.3 + s}, **run) for s in (1e-5, -1e-5)]
    for name in ("x", "v"):
        slope = (ends[0][name] - ends[1][name]) / 2e-5
        np.testing.assert_allclose(found[name]["v"], slope, rtol=0, atol=1e-7)


def test_none_happen_none_are_asked_for_and_single_precision(bouncing, exact):
    roll, x = bouncing
    high = {"height": np.array([100.0]), "speed": 0.0}
    found = roll.sensitivities(high, by="speed", **RUN)
    np.testing.assert_allclose(found["height"]["speed"][0], np.arange(6) * 0.3, rtol=1e-12)
    assert roll.jvp(x, {"e": 1.0}, step=0.01, steps=0)["height"].shape == (3, 1)
    empty = roll.vjp({"height": np.zeros(0), "speed": 0.0}, {"height": np.zeros((0, 6))}, by="e", **RUN)
    assert empty["e"] == 0.0
    small = {n: a.astype(np.float32) for n, a in x.items()}
    single = roll.sensitivities(small, by="height", parameters={"e": np.float32(0.8)}, **RUN)
    assert single["height"]["height"].dtype == np.float32
    np.testing.assert_allclose(single["height"]["height"][[0, 2]], exact["height"][[0, 2], 0], rtol=0, atol=1e-3)


def test_what_is_said_where_there_is_no_derivative(bouncing):
    roll, _ = bouncing
    stormy = roll.jvp({"height": np.array([1e-4, 1.0]), "speed": 0.0}, {"height": 1.0}, step=0.1, steps=3)
    assert np.isnan(stormy["height"][0]).any() and np.isfinite(stormy["height"][1]).all()
    crowded = System("crowd", state={"x": 3}, derivative=lambda t, x, u, p: -np.ones(3), transitions=[
        Transition(f"jump{k}", lambda t, x, u, p, k=k: x.x[k], jump=lambda t, x, u, p, k=k: {
            "x": x.x + 0.01 * (np.arange(3) == k)}) for k in range(3)])
    with pytest.raises(UnsupportedError, match="6 transitions of crowd happen in one step, and 5 are followed"):
        crowded.rollout(events_in_a_step=2).jvp(np.full(3, 0.05), {"x": np.ones(3)}, step=0.065, steps=1)


def test_several_at_one_instant():
    """The first says when it is. Here each of two clocks is wound up, and a third thing falls by the product."""
    both = System("clocks", state={"a": "", "b": "", "c": ""}, parameters={"period": 0.25},
                  derivative=lambda t, x, u, p: {"a": 1.0, "b": 1.0, "c": x.c},
                  transitions=[Transition("a", lambda t, x, u, p: x.a - p.period, "rising",
                                          jump=lambda t, x, u, p: {"a": 0.0, "c": 2.0 * x.c}),
                               Transition("b", lambda t, x, u, p: x.b - p.period, "rising",
                                          jump=lambda t, x, u, p: {"b": 0.0, "c": x.c - p.period})])
    roll = both.rollout(parameters=["period"])
    run = {"step": 0.1, "steps": 4, "every": 4}
    assert roll({"a": 0.0, "b": 0.0, "c": 1.0}, **run).log.numbers[:2].tolist() == [0, 1]
    found = roll.sensitivities({"a": 0.0, "b": 0.0, "c": 1.0}, **run)
    # c(t) = (2 c0 exp(period) - period) exp(t - period)
    np.testing.assert_allclose(found["c"]["period"][-1], (0.25 - 1) * np.exp(0.15), rtol=1e-5)
    np.testing.assert_allclose(found["c"]["c"][-1], 2 * np.exp(0.4), rtol=1e-5)
    np.testing.assert_allclose([found[n]["period"][-1] for n in "ab"], -1.0, rtol=1e-12)


def test_gains_of_a_digital_law():
    """It looks where steps end: both are what they are, and the gains have the derivatives that differences find."""
    from cayley.control import digital, pid
    mass = System("mass", state={"q": Block((1,), "m", velocity="qd"), "qd": (1, "m/s")}, inputs={"tau": (1, "N")},
                  derivative=lambda t, x, u, p: u.tau)
    loop = cy.connect(mass, digital(pid(kp=[20.0], ki=5.0, kd=[6.0], bandwidth=200.0), period=0.02))
    gains = {"kp": np.array([20.0]), "kd": np.array([6.0])}
    roll = loop.rollout(parameters=[*gains])
    x = {name: np.zeros(block.shape) for name, block in loop.blocks.items()}
    run = {"step": 5e-3, "steps": 60, "every": 60, "inputs": {"target": np.array([1.0])}}
    assert roll(x, **run, parameters=gains).log.count >= 14
    found = roll.sensitivities(x, by=[*gains], **run, parameters=gains)
    for name in gains:
        ends = [roll(x, **run, parameters=gains | {name: gains[name] + s})["q"][-1] for s in (1e-4, -1e-4)]
        np.testing.assert_allclose(found["q"][name][-1, :, 0], (ends[0] - ends[1]) / 2e-4, rtol=1e-6)


@needs("g++")
def test_on_the_gpu_as_here(cupy, bouncing):
    _, x = bouncing
    roll = ball().rollout(parameters=["e"], events_in_a_step=2, remembered=0)
    run = RUN | {"steps": 60}
    weights = {"height": np.ones((3, 3))}
    right = roll.vjp(x, weights, **run)
    found = roll.on("cuda").vjp({n: a.view(Array) for n, a in x.items()}, weights, **run)
    for name, array in right.items():
        assert isinstance(found[name], Array)
        np.testing.assert_allclose(found[name], array, rtol=0, atol=1e-11)


def test_as_a_layer(bouncing, exact):
    """Each call has its own instants, and its own way back."""
    jax = pytest.importorskip("jax")
    roll, x = bouncing
    with jax.enable_x64(True):
        layer = roll.for_jax(**RUN)
        slope = jax.jit(jax.grad(lambda h, e: layer(height=h, speed=x["speed"], e=e)[0].sum(), argnums=(0, 1)))
        for shift in (3.0, 0.0):
            by_height, by_e = slope(x["height"] + shift, 0.8)
    np.testing.assert_allclose(by_height, exact["height"][:, 0].sum(-1), rtol=0, atol=1e-10)
    np.testing.assert_allclose(by_e, exact["e"][:, 0].sum(), rtol=0, atol=1e-10)


def test_on_a_gpu(exact):
    cupy = pytest.importorskip("cupy")
    x = {"height": cupy.asarray([1.0, 0.2, 9.0]), "speed": cupy.asarray([0.5, 0.0, -2.0])}
    roll = ball().rollout(parameters=["e"]).on("cuda")
    found = roll.sensitivities(x, **RUN)
    back = roll.vjp(x, {"height": np.ones((3, 6))}, by=["height", "e"], **RUN)
    for by, right in exact.items():
        np.testing.assert_allclose(cupy.asnumpy(found["height"][by]), right[:, 0], rtol=0, atol=1e-10)
    np.testing.assert_allclose(cupy.asnumpy(back["height"]), exact["height"][:, 0].sum(-1), rtol=0, atol=1e-9)
    np.testing.assert_allclose(cupy.asnumpy(back["e"]), exact["e"][:, 0].sum(), rtol=0, atol=1e-9)


def test_as_a_layer_of_torch(exact):
    torch = pytest.importorskip("torch")
    layer = ball().rollout(parameters=["e"]).for_torch(**RUN)
    height = torch.tensor([1.0, 0.2, 9.0], dtype=torch.float64, requires_grad=True)
    e = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
    layer(height=height, speed=torch.tensor([0.5, 0.0, -2.0], dtype=torch.float64), e=e)[0].sum().backward()
    np.testing.assert_allclose(height.grad, exact["height"][:, 0].sum(-1), rtol=0, atol=1e-10)
    np.testing.assert_allclose(e.grad, exact["e"][:, 0].sum(), rtol=0, atol=1e-10)
