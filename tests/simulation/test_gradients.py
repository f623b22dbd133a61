"""Gradients through rollouts: beside differences of rollouts, closed forms, JAX's own through the same method, and the
adjoint identity, which ties both modes together."""

import pickle

import numpy as np
import pytest

import cayley as cy
from cayley.errors import SignatureError, UnsupportedError
from cayley.model.joint_kinds import Floating, Revolute
from cayley.model.parts import Body, Joint
from cayley.systems import System
from cayley.systems.rollouts import runs as recorded_run
from compiler.gpu_stand_in import Array
from programs import needs
from simulation.test_gpu_rollouts import closed, elastic, of_different_arms, rubbing, rubbing_loop
from systems.plants import free_body, rods

METHODS = ("rk4", "semi-implicit-euler", "lie-midpoint", "implicit-midpoint", "gauss", "gauss-energy", "variational")
RUN = {"step": 4e-3, "steps": 12, "every": 4}


@cy.kernel("(),(1),(1),(1),(1),(1)->(1)", outputs=("tau",))
def servo(t, q, qd, target, kp, kd):
    return kp * (target * np.cos(3.0 * t) - q) - kd * qd


@cy.kernel("(),(1),(1),(1)->()")
def effort(t, q, tau, qd):
    return (q[0] - t) ** 2 + 0.1 * tau[0] ** 2 + 0.01 * qd[0] ** 4


@cy.kernel("(1),()->()")
def arrival(q, work):
    return 5.0 * (q[0] - 1.0) ** 2 + 0.1 * work


@pytest.fixture(scope="module")
def rod():
    return rods([0.5], [1.0])


@pytest.fixture(scope="module")
def pushed(rod):
    """One rod, and forces that change."""
    rng = np.random.default_rng(2)
    return rod.rollout(changing=["tau"]), {
        "q": rng.normal(size=(3, 1)), "qd": rng.normal(size=1), "tau": rng.normal(size=(3, 12, 1))}


def with_gains(rod, control="sampled"):
    rng = np.random.default_rng(4)
    return rod.rollout(controller=servo, control=control), {
        "q": rng.normal(size=(3, 1)), "qd": rng.normal(size=(3, 1)), "target": np.array([0.3]),
        "kp": np.array([40.0]), "kd": rng.uniform(3, 12, (3, 1))}


def moved(values, tangents, length):
    return {n: a + length * tangents.get(n, 0.0) for n, a in values.items()}


def agree(roll, given, run=RUN, tangents=None, tolerance=1e-7):
    """Both modes with one another, and with central differences of the rollout."""
    rng = np.random.default_rng(0)
    tangents = tangents or {n: rng.normal(size=np.shape(a)) for n, a in given.items()}

    def kept(values):
        trajectory = roll(**values, **run, progress=False)
        return {n: getattr(trajectory, n) for n in ("q", "qd", "work")}
    weights = {n: rng.normal(size=a.shape) for n, a in kept(given).items()}
    along = roll.jvp(**given, tangents=tangents, **run)
    back = roll.vjp(**given, weights=weights, by=[*given], **run)
    assert {n: a.shape for n, a in back.items()} == {n: np.shape(a) for n, a in given.items()}
    product = sum((weights[n] * along[n]).sum() for n in weights)
    size = sum(np.abs(weights[n] * along[n]).sum() for n in weights)
    assert abs(product - sum((tangents[n] * back[n]).sum() for n in tangents)) < 1e-12 * size
    e = 1e-6
    ahead = kept(moved(given, tangents, e))
    behind = kept(moved(given, tangents, -e))
    for n in weights:
        np.testing.assert_allclose((ahead[n] - behind[n]) / (2 * e), along[n], rtol=0,
                                   atol=tolerance * max(1.0, np.abs(along[n]).max()))


@pytest.mark.parametrize("method", METHODS)
def test_both_modes_of_every_method(rod, method):
    given = {"q": np.array([[0.3], [-1.0]]), "qd": np.array([0.5]), "tau": np.array([0.4])}
    agree(rod.rollout(method=method), given)


@pytest.mark.parametrize("control", ["sampled", "continuous"])
def test_gains_of_a_controller(rod, control):
    agree(*with_gains(rod, control))


def test_wrenches_inertias_and_changing_forces():
    agree(*of_different_arms())


def test_closed_loops_along_their_own_motion():
    """Neighbours are closed mechanisms too; the derivative is that of steps that end on the loop."""
    roll, _ = closed()
    bar = cy.load("four_bar")

    def crank(angle):
        q = bar.loops.close([angle, 0.0, 0.0]).configuration
        return {"q": q, "qd": bar.loops.consistent_velocity(q, [2.0 + angle, 0.0, 0.0], keep=["crank"])}
    e = 1e-5
    ahead = crank(0.2 + e)
    behind = crank(0.2 - e)
    tangents = {n: (ahead[n] - behind[n]) / (2 * e) for n in ahead}
    along = roll.jvp(**crank(0.2), tangents=tangents, **RUN)
    ends = [roll(**given, **RUN) for given in (ahead, behind)]
    np.testing.assert_allclose((ends[0].q - ends[1].q) / (2 * e), along["q"], atol=1e-8)
    weights = {"q": np.ones((4, 3))}
    back = roll.vjp(**crank(0.2), weights=weights, by=["q", "qd"], **RUN)
    assert along["q"].sum() == pytest.approx(sum(tangents[n] @ back[n] for n in tangents), rel=1e-12)


def differences(roll, path, run=RUN, tolerance=1e-8):
    """Both modes along a path of arguments, beside Richardson's differences of rollouts along it."""
    rng = np.random.default_rng(0)
    e = 1e-3
    ahead, behind = path(e), path(-e)
    near_ahead, near_behind = path(e / 2), path(-e / 2)

    def slope(of):
        one, other, near, near_other = map(of, (ahead, behind, near_ahead, near_behind))
        return {n: (8 * (near[n] - near_other[n]) - (one[n] - other[n])) / (6 * e) for n in one}
    given = path(0.0)
    tangents = slope(dict)
    along = roll.jvp(**given, tangents=tangents, **run)
    trajectories = slope(lambda values: {n: getattr(roll(**values, **run, progress=False), n) for n in along})
    for n in along:
        np.testing.assert_allclose(along[n], trajectories[n], rtol=0,
                                   atol=tolerance * max(1.0, np.abs(trajectories[n]).max()))
        assert np.abs(along[n]).max() > 1e-3
    weights = {n: rng.normal(size=a.shape) for n, a in along.items()}
    back = roll.vjp(**given, weights=weights, by=[*given], **run)
    product = sum((weights[n] * along[n]).sum() for n in weights)
    assert product == pytest.approx(sum((tangents[n] * back[n]).sum() for n in given), rel=1e-10)


def line(given, still=()):
    """A straight path through arguments; what is `still` stays at rest where it is."""
    rng = np.random.default_rng(1)
    given = {n: np.asarray(a, dtype=float) for n, a in given.items()}
    away = {n: rng.normal(size=a.shape) * ((a != 0) if n in still else 1.0) for n, a in given.items()}
    return lambda s: {n: a + s * away[n] for n, a in given.items()}


def test_elastic_drives():
    roll, given = elastic()
    differences(roll, line(given | {"tau": np.zeros(4)}), tolerance=1e-7)


def test_dry_friction_of_joints_that_slide_stand_still_and_turn_round():
    roll, given = rubbing()
    differences(roll, line(given, still=["qd"]))


def test_dry_friction_in_a_loop():
    """By the forces: with that which holds, more force moves nothing."""
    roll, given = rubbing_loop()
    by = line({"tau": given["tau"]})
    differences(roll, lambda s: given | by(s))
    weights = {"q": np.ones((3, 4, 3)), "qd": np.ones((3, 4, 3))}
    still = roll.vjp(given["q"], given["qd"], np.zeros((3, 3)) + given["tau"], weights=weights,
                     by=[*given], **RUN)["tau"]
    assert np.abs(still[0]).max() < 1e-15 and np.abs(still[2]).max() > 0.01


def test_wheels():
    """States next to one another all roll without slipping."""
    robot = cy.load("two_wheel_robot")
    q = robot.random_configuration(2, seed=3)
    rng = np.random.default_rng(2)
    away, tau = rng.normal(size=(2, 2, robot.nv))
    speeds, faster = rng.normal(size=(2, 2, 2))

    def path(s):
        at = robot.integrate(q, s * away)
        speed = [robot.loops.actuated_motion(*each) for each in zip(at, speeds + s * faster, strict=True)]
        return {"q": at, "qd": np.stack(speed), "tau": s * tau}
    differences(robot.rollout(method="semi-implicit-euler"), path)


def test_a_floating_base_under_a_wrench():
    """Along quaternions."""
    bodies = [Body("world"), Body("trunk", 2.0, [0.1, 0.0, 0.05], np.diag([0.2, 0.3, 0.25])),
              Body("leg", 0.7, [0.0, 0.1, -0.2], 0.02 * np.eye(3))]
    arm = cy.Mechanism.of("hopper", bodies, [Joint("free", "world", "trunk", Floating()),
                                             Joint("hip", "trunk", "leg", Revolute((0.0, 1.0, 0.0)))])
    q = arm.random_configuration(2, seed=1)
    by = line({"qd": np.full((2, 7), 0.3), "tau": np.ones(7), "wrench_leg": np.ones((2, 6)),
               "inertia_leg": cy.simulation.inertia_parameters(arm.tree, "leg")})
    away = np.random.default_rng(3).normal(size=(2, 7))
    roll = arm.rollout(method="semi-implicit-euler", wrenches=["leg"], inertias=["leg"])
    differences(roll, lambda s: {"q": arm.integrate(q, s * away), **by(s)})


def test_quaternions_by_their_coordinates():
    """Along the manifold as neighbours do; the derivative has four entries."""
    roll = free_body([1.0, 2.0, 3.0]).rollout(method="lie-midpoint")
    R = np.array([0.6, 0.0, 0.8, 0.0])
    w = np.array([0.2, 3.0, 0.1])
    t = np.array([0.8, 0.0, -0.6, 0.0])  # along the sphere
    run = RUN | {"inputs": {"moment": np.array([0.1, 0.0, 0.2])}}
    along = roll.jvp({"R": R, "w": w}, {"R": t, "w": w}, **run)
    e = 1e-6
    ahead, behind = ({"R": np.cos(s) * R + np.sin(s) * t, "w": (1 + s) * w} for s in (e, -e))
    for n in ("R", "w"):
        np.testing.assert_allclose((roll(ahead, **run)[n] - roll(behind, **run)[n]) / (2 * e), along[n], atol=1e-8)
    weight = np.random.default_rng(0).normal(size=(4, 4))
    back = roll.vjp({"R": R, "w": w}, {"R": weight}, **run)
    assert back["R"].shape == (4,) and back["moment"].shape == (3,)
    assert (weight * along["R"]).sum() == pytest.approx(t @ back["R"] + w @ back["w"], rel=1e-12)


def oscillator():
    return System("oscillator", state={"x": 2}, inputs={"f": ""}, parameters={"k": 4.0, "c": 0.3},
                  derivative=lambda t, x, u, p: np.stack([x.x[1], u.f - p.k * x.x[0] - p.c * x.x[1]]))


def test_the_linear_oscillator_in_closed_form():
    """A step of RK4 is the polynomial of the matrix: its powers are the sensitivities, and complex numbers in the
    place of the stiffness give the derivative by that."""
    h, steps = 0.05, 40

    def end(k, x):
        A = h * np.array([[0.0, 1.0], [-k, -0.3]])
        step = np.eye(2) + A @ (np.eye(2) + A / 2 @ (np.eye(2) + A / 3 @ (np.eye(2) + A / 4)))
        return np.linalg.matrix_power(step, steps) @ x
    x = np.array([1.0, -0.5])
    roll = oscillator().rollout(parameters=["k"])
    found = roll.sensitivities(x, by=["x", "k"], step=h, steps=steps, every=steps, inputs={"f": 0.0})["x"]
    np.testing.assert_allclose(found["x"][1], end(4.0, np.eye(2)), rtol=0, atol=1e-14)
    np.testing.assert_allclose(found["k"][1], end(4.0 + 1e-30j, x).imag / 1e-30, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(found["x"][0], np.eye(2))
    square = cy.kernel("(2)->()", inputs=["x"])(lambda x: x @ x)
    by = roll.gradient(x, terminal=square, by="k", step=h, steps=steps, inputs={"f": 0.0})
    last = end(4.0 + 1e-30j, x)
    assert by.value == pytest.approx((last @ last).real, rel=1e-13)
    assert by["k"] == pytest.approx((last @ last).imag / 1e-30, rel=1e-13)


def test_a_loss_beside_jax_through_the_same_steps():
    """A planar arm whose equations are written by hand, RK4 in JAX, and JAX's own reverse mode."""
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    l1, m1, m2 = 0.5, 2.0, 1.5
    l2 = 0.4

    def rate(x, tau):
        q, v = x[:2], x[2:]
        c2, s2 = jnp.cos(q[1]), jnp.sin(q[1])
        shared = m2 * l1 * l2 / 2
        M22 = m2 * l2**2 / 3
        M12 = M22 + shared * c2
        M = jnp.array([[m1 * l1**2 / 3 + m2 * l1**2 + M22 + 2 * shared * c2, M12], [M12, M22]])
        bias = shared * s2 * jnp.array([-v[1] * (2 * v[0] + v[1]), v[0] ** 2])
        g2 = m2 * 9.81 * l2 / 2 * jnp.cos(q[0] + q[1])
        weight = jnp.array([(m1 / 2 + m2) * 9.81 * l1 * jnp.cos(q[0]) + g2, g2])
        return jnp.concatenate([v, jnp.linalg.solve(M, tau - bias - weight)])

    def loss(q, qd, tau, h=0.01):
        def step(x, u):
            k1 = rate(x, u)
            k2 = rate(x + h / 2 * k1, u)
            k3 = rate(x + h / 2 * k2, u)
            return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + h * k3, u)), x @ x + 0.1 * u @ u
        last, costs = jax.lax.scan(step, jnp.concatenate([q, qd]), tau)
        return costs.sum() + 10.0 * (last[:2] - 1.0) @ (last[:2] - 1.0)
    running = cy.kernel("(2),(2),(2)->()", inputs=["q", "qd", "tau"])(lambda q, qd, tau: q @ q + qd @ qd
                                                                     + 0.1 * tau @ tau)
    terminal = cy.kernel("(2)->()", inputs=["q"])(lambda q: 10.0 * (q - 1.0) @ (q - 1.0))
    q, qd, tau = np.array([0.3, -0.8]), np.array([0.5, 1.0]), np.random.default_rng(0).normal(size=(30, 2))
    found = rods().rollout(changing=["tau"]).gradient(q, qd, tau, running=running, terminal=terminal, step=0.01,
                                                      steps=30)
    with jax.enable_x64(True):
        value, right = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))(q, qd, tau)
        assert found.value == pytest.approx(float(value), rel=1e-12)
        for n, array in zip(("q", "qd", "tau"), right, strict=True):
            np.testing.assert_allclose(found[n], np.asarray(array), rtol=0, atol=1e-11 * np.abs(array).max())


@pytest.mark.parametrize("every", [1, 4, 12])
def test_losses_of_all_that_is_known(pushed, every):
    """Time, forces and work; a velocity that all trajectories share has the sum as its derivative."""
    roll, given = pushed
    run = RUN | {"every": every, "running": effort, "terminal": arrival, "start": 0.3}
    found = roll.gradient(**given, **run)
    assert found.value.shape == (3,) and found["qd"].shape == (1,) and found["tau"].shape == (3, 12, 1)
    tangents = {n: np.random.default_rng(7).normal(size=np.shape(a)) for n, a in given.items()}
    ahead, behind = (roll.gradient(**moved(given, tangents, s), **run).value.sum() for s in (1e-6, -1e-6))
    slope = sum((tangents[n] * found[n]).sum() for n in given)
    assert (ahead - behind) / 2e-6 == pytest.approx(slope, rel=1e-7)


def test_a_running_loss_of_gains_alone_counts_at_every_state(rod):
    roll, given = with_gains(rod)
    size = cy.kernel("(1)->()", inputs=["kp"])(lambda kp: kp[0] ** 2)
    found = roll.gradient(**given, running=size, by=["kp", "kd"], **RUN)
    np.testing.assert_allclose(found.value, 3 * 1600.0)
    np.testing.assert_allclose(found["kp"], [3 * 3 * 80.0])  # at three states of three trajectories
    np.testing.assert_array_equal(found["kd"], np.zeros((3, 1)))


@pytest.mark.parametrize("every", [1, 3, 12])
def test_states_that_are_computed_again_change_nothing(pushed, monkeypatch, every):
    roll, given = pushed
    run = RUN | {"every": every, "running": effort, "terminal": arrival}
    right = roll.gradient(**given, **run)
    monkeypatch.setattr(recorded_run, "REMEMBERED", 0)
    monkeypatch.setattr(recorded_run, "NEAR", 20)
    found = roll.gradient(**given, **run)
    np.testing.assert_array_equal(found.value, right.value)
    for n in given:
        np.testing.assert_allclose(found[n], right[n], rtol=0, atol=1e-14)


def test_sensitivities_are_columns(pushed, rod):
    roll, given = with_gains(rod)
    found = roll.sensitivities(**given, by=["kp", "q"], **RUN)
    assert found["qd"]["kp"].shape == (3, 4, 1, 1)
    along = roll.jvp(**given, tangents={"kp": np.ones(1)}, **RUN)
    np.testing.assert_allclose(found["qd"]["kp"][..., 0], along["qd"], rtol=1e-13)
    with pytest.raises(UnsupportedError, match="'tau' changes: it has as many sensitivities as there are steps"):
        pushed[0].sensitivities(**pushed[1], **RUN)


def test_single_precision_no_steps_no_trajectories_and_threads(pushed):
    roll, given = pushed
    right = roll.gradient(**given, terminal=arrival, **RUN)
    small = roll.gradient(**{n: a.astype(np.float32) for n, a in given.items()}, terminal=arrival, **RUN)
    assert small["tau"].dtype == np.float32
    np.testing.assert_allclose(small["tau"], right["tau"], rtol=0, atol=1e-4)
    np.testing.assert_array_equal(roll.gradient(**given, terminal=arrival, threads=2, **RUN)["q"], right["q"])
    none = given | {"tau": np.zeros((3, 0, 1))}
    found = roll.gradient(**none, terminal=arrival, step=0.1, steps=0)
    np.testing.assert_allclose(found["q"], 10.0 * (given["q"] - 1.0))
    empty = roll.gradient(np.zeros((0, 1)), np.zeros(1), np.zeros((12, 1)), terminal=arrival, **RUN)
    assert empty.value.shape == (0,) and empty["q"].shape == (0, 1)
    np.testing.assert_array_equal(empty["tau"], np.zeros((12, 1)))


def test_what_is_not_finite_stays_so(pushed):
    """In its own trajectory."""
    roll, given = pushed
    q = given["q"].copy()
    tau = given["tau"].copy()
    tau[1, 3] = np.nan
    found = roll.gradient(q, np.zeros((3, 1)), tau, terminal=arrival, **RUN)
    assert np.isnan(found.value).tolist() == [False, True, False]
    assert np.isnan(found["q"]).any(-1).tolist() == [False, True, False]


def test_refusals(pushed, rod):
    roll, given = pushed
    with pytest.raises(SignatureError, match=r"has no 'taus' to differentiate by: did you mean 'tau'"):
        roll.gradient(**given, terminal=arrival, by=["taus"], **RUN)
    with pytest.raises(SignatureError, match="give a kernel as `running`, or `terminal`"):
        roll.gradient(**given, **RUN)
    for loss in (lambda q: q @ q, [arrival], 3):
        with pytest.raises(SignatureError, match="a loss is a kernel of one number"):
            roll.gradient(**given, terminal=loss, **RUN)
    with pytest.raises(SignatureError, match="`by` is a name, or several, not 3"):
        roll.gradient(**given, terminal=arrival, by=3, **RUN)
    with pytest.raises(SignatureError, match="`weights` are arrays by name"):
        roll.vjp(**given, weights=np.ones(3), **RUN)
    with pytest.raises(SignatureError, match="`tangents` are arrays by name"):
        roll.jvp(**given, tangents=None, **RUN)
    with pytest.raises(SignatureError, match="the tangent of 'qd' must be real numbers, not complex128"):
        roll.jvp(**given, tangents={"qd": np.ones(1, complex)}, **RUN)
    with pytest.raises(SignatureError, match="the weight of 'q' must be real numbers, not complex128"):
        roll.vjp(**given, weights={"q": np.ones((3, 4, 1), complex)}, **RUN)
    with pytest.raises(SignatureError, match="must return one number"):
        roll.gradient(**given, terminal=cy.kernel("(1)->(1)", inputs=["q"])(lambda q: q), **RUN)
    with pytest.raises(SignatureError, match="takes 'target'"):
        roll.gradient(**given, terminal=servo, **RUN)
    with pytest.raises(SignatureError, match=r"weights of 'q' have the shape \(3, 1\)"):
        roll.vjp(**given, weights={"q": np.ones((3, 1))}, **RUN)
    with pytest.raises(SignatureError, match="no state 'qdd' to weigh"):
        roll.vjp(**given, weights={"qdd": np.ones((3, 1))}, **RUN)
    with pytest.raises(SignatureError, match=r"tangent of 'tau' has the shape \(3, 1\)"):
        roll.jvp(**given, tangents={"tau": np.ones((3, 1))}, **RUN)
    again = pickle.loads(pickle.dumps(roll))
    np.testing.assert_array_equal(again.gradient(**given, terminal=arrival, **RUN)["q"],
                                  roll.gradient(**given, terminal=arrival, **RUN)["q"])


@needs("g++")
def test_on_the_gpu_as_here(cupy, pushed):
    """The same text, there and back; arrays that lie there stay there."""
    roll, given = pushed
    run = RUN | {"running": effort, "terminal": arrival}
    right = roll.gradient(**given, **run)
    found = roll.on("cuda").gradient(**{n: a.view(Array) for n, a in given.items()}, **run)
    np.testing.assert_allclose(found.value, right.value, rtol=1e-12)
    for n in given:
        assert isinstance(found[n], Array)
        np.testing.assert_allclose(found[n], right[n], rtol=0, atol=1e-11)
    tangents = {"q": np.ones((3, 1))}
    along = roll.on("cuda").jvp(**given, tangents=tangents, **RUN)
    np.testing.assert_allclose(along["qd"], roll.jvp(**given, tangents=tangents, **RUN)["qd"], rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", ["wrenches and inertias", "dry friction", "elastic drives", "loop"])
def test_on_a_gpu(kind):
    cupy = pytest.importorskip("cupy")
    made = {"wrenches and inertias": of_different_arms, "dry friction": rubbing.__wrapped__, "elastic drives": elastic,
            "loop": closed.__wrapped__}[kind]
    roll, given = made()
    rng = np.random.default_rng(0)
    weights = {n: rng.normal(size=getattr(roll(**given, **RUN, progress=False), n).shape) for n in ("q", "qd")}
    right = roll.vjp(**given, weights=weights, by=["q", "tau"], **RUN)
    there = {n: cupy.asarray(a) for n, a in given.items()}
    found = roll.on("cuda").vjp(**there, weights=weights, by=["q", "tau"], **RUN)
    along = roll.on("cuda").jvp(**there, tangents={"q": np.ones(roll.tree.nq)}, **RUN)["qd"]
    expected = roll.jvp(**given, tangents={"q": np.ones(roll.tree.nq)}, **RUN)["qd"]
    np.testing.assert_allclose(cupy.asnumpy(along), expected, rtol=0, atol=1e-10 * max(1.0, np.abs(expected).max()))
    for n in ("q", "tau"):
        size = max(1.0, np.abs(right[n]).max())
        np.testing.assert_allclose(cupy.asnumpy(found[n]), right[n], rtol=0, atol=1e-10 * size)
