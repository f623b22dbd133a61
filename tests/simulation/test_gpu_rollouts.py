"""Every kind of rollout on a GPU beside the same on this processor: through a stand-in that compiles the CUDA text as
C++, and, where there is one, on the GPU itself. Where NVIDIA's compiler is installed, it takes the same texts.
"""

import subprocess
from functools import cache

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.backends import gpu_code
from cayley.compiler.cuda.cuda_iteration import cuda_iteration
from cayley.compiler.derivatives.iterated_steps import adjoint_steps, tangent_steps
from cayley.errors import GeometryError, SignatureError, UnsupportedError
from cayley.systems import System, Transition
from compiler.gpu_stand_in import Array, Function
from programs import needs
from simulation.mechanisms import floating_arm
from systems.plants import ball, free_body, motor, pendulum, rods
from systems.test_transitions import belt, thermostat

needs_cpp = needs("g++")
needs_nvcc = needs("nvcc")
RUN = {"step": 4e-3, "steps": 12, "every": 4, "progress": False}


@cy.kernel("(),(2),(2),(2)->(2)", outputs=("tau",))
def servo(t, q, qd, target):
    return 40.0 * (target * np.cos(3.0 * t) - q) - 12.0 * qd


def states(arm, batch=3, seed=3):
    rng = np.random.default_rng(seed)
    return {"q": arm.random_configuration(batch, seed=seed), "qd": rng.uniform(-0.8, 0.8, (batch, arm.nv))}


@cache
def of_method(method):
    arm = cy.load("planar2r")
    return arm.rollout(method=method), states(arm)


def with_a_law():
    arm = cy.load("planar2r")
    return arm.rollout(controller=servo), states(arm) | {"target": np.array([0.3, -0.2])}


def of_different_arms():
    """A wrench, a changing force, and an inertia for each trajectory."""
    arm = cy.load("planar2r")
    rng = np.random.default_rng(5)
    own = cy.simulation.inertia_parameters(arm.tree, "link2")
    return arm.rollout(inertias=["link2"], wrenches=["tool"], changing=["tau"], method="semi-implicit-euler"), {
        **states(arm), "tau": rng.normal(size=(3, RUN["steps"], 2)), "inertia_link2": own * rng.uniform(1, 2, (3, 1)),
        "wrench_tool": rng.normal(size=(3, 6))}


@cache
def closed():
    bar = cy.load("four_bar")
    q = np.stack([bar.loops.close([angle, 0.0, 0.0]).configuration for angle in (0.2, 0.4)])
    qd = np.stack([bar.loops.consistent_velocity(at, [2.0, 0.0, 0.0], keep=["crank"]) for at in q])
    return bar.rollout(method="semi-implicit-euler"), {"q": q, "qd": qd}


def elastic():
    arm = cy.load("planar2r")
    for joint in ("joint1", "joint2"):
        arm = arm.with_drive(joint, inertia=1e-3, gear=50.0, stiffness=800.0)
    arm = arm.including("elastic drives")
    return arm.rollout(), states(arm)


@cache
def rolling():
    robot = cy.load("two_wheel_robot")
    q = states(robot)["q"]
    speeds = [[1.0, 2.0], [2.0, 2.0], [-1.0, 1.0]]
    qd = [robot.loops.actuated_motion(at, u) for at, u in zip(q, speeds, strict=True)]
    return robot.rollout(), {"q": q, "qd": np.stack(qd)}


@cache
def rubbing():
    """Joints that stand still, start, and turn round."""
    arm = rods([0.3, 0.2], [1.0, 0.5])
    for joint, coulomb in (("joint1", 2.0), ("joint2", 0.4)):
        arm = arm.with_friction(joint, viscous=0.05, coulomb=coulomb)
    qd = np.array([[0.3, -0.2], [0.0, 0.0], [0.0, 0.5]])
    tau = arm.gravity_forces(np.array([0.4, 0.3])) + np.array([[0.0, 0.1], [3.0, 0.0], [-2.5, 0.1]])
    return arm.including("friction").rollout(), {"q": np.array([0.4, 0.3]), "qd": qd, "tau": tau}


@cache
def rubbing_loop():
    bar = cy.load("four_bar").with_friction("crank", coulomb=0.6).with_friction("rocker", coulomb=0.2)
    bar = bar.including("friction")
    q = bar.loops.close([0.3, 0.0, 0.0]).configuration
    qd = np.stack([bar.loops.consistent_velocity(q, [speed, 0.0, 0.0], keep=["crank"]) for speed in (0.0, 0.02, -1.0)])
    return bar.rollout(method="semi-implicit-euler"), {"q": q, "qd": qd, "tau": np.array([0.1, 0.0, 0.0])}


@cache
def floating():
    arm = cy.Mechanism(floating_arm(gravity=(0.0, 0.0, -9.81)))
    return arm.rollout(wrenches=["hand"], axes="world", method="lie-midpoint"), {
        **states(arm), "wrench_hand": np.array([1.0, 2.0, -1.0, 0.1, 0.2, 0.3])}


def carried():
    """On a root that is moved, with a law that looks wherever the method does, and steps of different lengths."""
    arm = rods()
    rng = np.random.default_rng(2)
    return arm.rollout(controller=servo, control="continuous", base_motion=True, changing=["base_acceleration"]), {
        **states(arm), "target": np.array([0.2, -0.1]), "base_turning": rng.normal(size=(3, 3)),
        "base_acceleration": rng.normal(size=(RUN["steps"], 6)), "step": np.array([1e-3, 4e-3, 5e-3])}


KINDS = {"semi-implicit": lambda: of_method("semi-implicit-euler"), "rk4": lambda: of_method("rk4"),
         "lie-midpoint": lambda: of_method("lie-midpoint"), "implicit-midpoint": lambda: of_method("implicit-midpoint"),
         "gauss": lambda: of_method("gauss"), "gauss-energy": lambda: of_method("gauss-energy"),
         "variational": lambda: of_method("variational"), "law": with_a_law, "different arms": of_different_arms,
         "closed": closed, "elastic": elastic, "rolling": rolling, "dry friction": rubbing,
         "dry friction in a loop": rubbing_loop, "floating": floating, "moving base": carried}


def controlled():
    """Two systems in a loop, one of them with parameters, and a block on a manifold beside them."""
    drive = cy.connect(pendulum(), motor())
    return drive.rollout(parameters=["R"], method="gauss"), {
        "x": {"angle": np.array([0.1, 0.2]), "speed": 0.0, "current": 1.0}, "inputs": {"voltage": np.array([3.0, 5.0])},
        "parameters": {"R": np.array([1.0, 2.0])}}


def turning():
    R = np.array([[1.0, 0.0, 0.0, 0.0], [0.6, 0.0, 0.8, 0.0]])
    return free_body([1.0, 2.0, 3.0]).rollout(method="lie-midpoint"), {
        "x": {"R": R, "w": np.array([0.2, 3.0, 0.1])}, "inputs": {"moment": np.array([0.1, 0.0, 0.2])}}


def bouncing():
    """Each thread looks for its own instants."""
    return ball().rollout(parameters=["e"]), {
        "x": {"height": np.array([0.02, 0.01, 5.0]), "speed": 0.0}, "parameters": {"e": np.array([0.8, 0.95, 0.5])}}


def switching():
    """Modes, in the plant and in a controller beside it; two transitions that wait for each other."""
    return cy.connect(belt(), thermostat(), name="both").rollout(parameters=["high"], remembered=4), {
        "x": {"x": np.array([0.0, 0.15]), "v": 1.0, "T": np.array([20.9, 19.2]), "heater": ["on", "off"]},
        "parameters": {"high": 21.0}}


def stopped():
    """A joint that jumps back at a stop, twice in a step now and then."""
    arm = rods([0.3], [1.0]).system()
    stops = [Transition(name, lambda t, x, u, p, s=s: 0.05 - s * x.q[0], jump=lambda t, x, u, p: {"qd": -0.9 * x.qd})
             for name, s in (("upper", 1.0), ("lower", -1.0))]
    system = System("stopped", state=arm.state, inputs=arm.inputs, derivative=arm.derivative, power=arm.power,
                    transitions=stops)
    return system.rollout(method="semi-implicit-euler"), {
        "x": {"q": np.zeros((2, 1)), "qd": np.array([[40.0], [3.0]])}, "inputs": {"tau": np.zeros(1)}}


SYSTEMS = {"connected": controlled, "on a manifold": turning, "events": bouncing, "modes": switching, "stops": stopped}
EVENTFUL = ("events", "modes", "stops")


@needs_cpp
@pytest.mark.parametrize("kind", KINDS)
def test_mechanisms_as_on_this_processor(cupy, kind):
    roll, given = KINDS[kind]()
    here = roll(**RUN | given)
    there = roll.on("cuda")(**RUN | given)
    assert there.status == here.status == "finished" and type(there.q) is np.ndarray
    for name in ("q", "qd", "work"):
        right = getattr(here, name)
        np.testing.assert_allclose(getattr(there, name), right, rtol=0, atol=1e-11 * max(1.0, np.abs(right).max()))


@needs_cpp
@pytest.mark.parametrize("kind", SYSTEMS)
def test_systems_as_on_this_processor(cupy, kind):
    roll, given = SYSTEMS[kind]()
    here = roll(**given, **RUN | {"steps": 60, "every": 20})
    there = roll.on("cuda")(**given, **RUN | {"steps": 60, "every": 20})
    assert there.status == here.status == "finished"
    np.testing.assert_allclose(there.vectors, here.vectors, rtol=0, atol=1e-11)
    if kind in EVENTFUL:
        assert here.log.count.tolist() == there.log.count.tolist() and here.log.count.max() > 1
        assert here.log.numbers.tolist() == there.log.numbers.tolist()
        np.testing.assert_allclose(there.log.times, here.log.times, rtol=0, atol=1e-11)


def on_gpu(given):
    return {name: a.view(Array) if isinstance(a, np.ndarray) else on_gpu(a) if isinstance(a, dict) else a
            for name, a in given.items()}


@needs_cpp
def test_what_lies_on_the_gpu_stays_there(cupy, monkeypatch):
    """States go in and trajectories come out without a copy; `here` brings them."""
    roll, given = of_method("rk4")
    right = roll(**given, **RUN)

    def forbidden(array):
        raise AssertionError("copied from the GPU")
    monkeypatch.setattr(cupy, "asnumpy", forbidden)
    found = roll.on("cuda")(**on_gpu(given), **RUN)
    assert isinstance(found.q, Array) and found.q.base is not None and found.q.strides[0] == found.q.itemsize
    assert np.shares_memory(found.q, found.points) and np.shares_memory(found["qd"], found.points) and len(found) == 4
    monkeypatch.setattr(cupy, "asnumpy", np.array)
    np.testing.assert_allclose(found.qd, right.qd, rtol=0, atol=1e-12)
    brought = found.here()
    assert type(brought.q) is np.ndarray and brought.status == "finished"
    np.testing.assert_allclose(brought.energy, right.energy, rtol=1e-12)
    with pytest.raises(SignatureError, match="no state 'qdd': did you mean 'qd'"):
        found["qdd"]
    assert repr(found) == "<trajectory on a GPU: 3 of planar2r, 4 samples>"


@needs_cpp
def test_systems_and_single_precision_stay_there_too(cupy):
    roll, given = bouncing()
    run = RUN | {"steps": 40, "every": 40}
    right = roll(**given, **run)
    found = roll.on("cuda")(**on_gpu(given), **run)
    np.testing.assert_allclose(found.height, right.height, rtol=0, atol=1e-11)
    assert found.height.shape == (3, 2) and found.here().log.count.tolist() == right.log.count.tolist()
    roll, given = of_method("semi-implicit-euler")
    small = {name: a.astype(np.float32) for name, a in given.items()}
    found = roll.on("cuda")(**on_gpu(small), **RUN)
    assert found.q.dtype == np.float32 and found.work.dtype == np.float32
    np.testing.assert_allclose(found.q, roll(**given, **RUN).q, rtol=0, atol=1e-5)


def test_wrong_shapes_are_named_on_the_gpu_too(cupy):
    roll, given = of_method("rk4")
    with pytest.raises(GeometryError, match=r"qd of planar2r has the shape \(..., 2\), not \(3, 1\)"):
        roll.on("cuda")(given["q"].view(Array), given["qd"][:, :1].copy().view(Array), **RUN)


@needs_cpp
def test_a_kernel_that_does_not_fit_is_refused(cupy, monkeypatch):
    """In words, with the largest that did."""
    monkeypatch.setattr(gpu_code, "_largest", {})
    roll, given = of_method.__wrapped__("semi-implicit-euler")
    roll.on("cuda")(**given, **RUN)
    monkeypatch.setattr(Function, "local_size_bytes", 2**20)
    other = cy.load("planar3r").rollout(method="semi-implicit-euler").on("cuda")
    with pytest.raises(UnsupportedError) as refusal:
        other(np.zeros(3), np.zeros(3), **RUN)
    assert str(refusal.value).startswith(
        "planar3r_semi_implicit_euler_rollout, 40 registers and 1048576 bytes of local memory a thread does not fit on "
        "the GPU: 2048 threads would take 2.0 GiB of the 1.0 GiB that are free; "
        "the largest that has fitted so far is planar2r_")


@needs_nvcc
def test_nvidias_compiler_takes_every_text(tmp_path):
    """All kinds and ways back in one file, in both precisions, without a warning."""
    iterations = [roll._iterated.iteration()
                  for roll, _ in (made() for made in (KINDS | SYSTEMS).values())]
    for derivatives in (with_a_law()[0].derivatives, bouncing()[0]._across._cut(1)):
        by = tuple(name for name in derivatives.names if name in ("target", "e"))
        iterations += [derivatives._iterated(loop, loop.__name__, by).iteration()
                       for loop in (tangent_steps, adjoint_steps)]
    texts = [cuda_iteration(iteration, precision, f"{precision}_{number}")
             for number, iteration in enumerate(iterations) for precision in ("float", "double")]
    file = tmp_path / "all.cu"
    file.write_text("\n".join(texts))
    done = subprocess.run(["nvcc", "-arch=sm_90", "-Werror", "all-warnings", "-diag-suppress=177", "-ptx", "-o",
                           str(tmp_path / "all.ptx"), str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "all.ptx").read_text().count(".entry") == len(texts)


@pytest.fixture
def gpu():
    """CuPy itself, and rollouts that have not met the stand-in."""
    cupy = pytest.importorskip("cupy")
    forget()
    yield cupy
    forget()


def forget():
    for made in (of_method, closed, rolling, rubbing, rubbing_loop, floating):
        made.cache_clear()


@pytest.mark.parametrize("kind", [*KINDS, *SYSTEMS])
def test_on_a_gpu(gpu, kind):
    cupy = gpu
    roll, given = (KINDS | SYSTEMS)[kind]()

    def moved(values):
        return {n: cupy.asarray(a) if isinstance(a, np.ndarray) else moved(a) if isinstance(a, dict) else a
                for n, a in values.items()}
    here = roll(**RUN | given)
    there = roll.on("cuda")(**RUN | moved(given) | {"step": given.get("step", RUN["step"])}).here()
    for name in ("q", "qd") if kind in KINDS else ("vectors",):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=0, atol=1e-10)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_arrays_of_other_libraries_on_a_gpu(gpu, library):
    """In and out without a copy, in turn on whatever stream they are."""
    module = pytest.importorskip(library)
    roll, given = of_method("semi-implicit-euler")
    right = roll(**given, **RUN)
    if library == "torch":
        with module.cuda.stream(module.cuda.Stream()):
            big = module.zeros(1 << 26, device="cuda", dtype=module.float64)
            moved = {n: module.as_tensor(a, device="cuda") + big[:1] for n, a in given.items()}
            found = roll.on("cuda")(**moved, **RUN)
            doubled = 2.0 * found.q
        assert isinstance(found.q, module.Tensor) and doubled.is_cuda
        np.testing.assert_allclose(doubled.cpu().numpy(), 2.0 * right.q, rtol=0, atol=1e-12)
        return
    module.config.update("jax_enable_x64", True)
    found = roll.on("cuda")(**{n: module.numpy.asarray(a) for n, a in given.items()}, **RUN)
    assert isinstance(found.q, module.Array)
    np.testing.assert_allclose(np.asarray(2.0 * found.q), 2.0 * right.q, rtol=0, atol=1e-12)
