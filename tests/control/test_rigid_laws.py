"""Inverse-dynamics control of arms with rigid drives, in joint coordinates and in vector-parameters: the arm under the
law, by its own forward dynamics, is a set of double integrators."""

import numpy as np
import pytest

import cayley as cy
from cayley.control import computed_torque, vector_parameter_control, vector_parameter_control_kernel
from cayley.dynamics.inverse.vector_parameter_lagrange import vector_parameter_inverse
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.dynamics.vector_parameter_model import vector_parameter_forward
from cayley.errors import SignatureError, SingularityError, UnsupportedError
from dynamics.vector_parameters import joint_space_model


@pytest.fixture(scope="module", params=["planar2r", "stanford", "armature"])  # the second has a sliding joint
def arm(request):
    if request.param != "armature":
        return cy.load(request.param)
    return cy.load("puma560").including("armature")


def states(arm, size, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, size=(3, size, arm.nv))


@pytest.mark.spec("S0-53")
def test_accelerations_are_those_wished_for(arm):
    """Pinned to round-off by forward dynamics, which is another algorithm."""
    q, qd, v = states(arm, 50)
    law = computed_torque(arm, 1.0, 1.0)
    tau = np.stack([law.output(0.0, None, law.input_record({
        "q": a, "qd": b, "target": a, "target_qd": b, "target_qdd": c}), law.parameter_record({}))
        for a, b, c in zip(q, qd, v, strict=True)])
    assert np.allclose(arm.forward_dynamics(q, qd, tau), v, rtol=1e-12, atol=1e-11)
    assert np.allclose(tau, np.einsum("...ij,...j", arm.inertia_matrix(q), v) + arm.bias_forces(q, qd), atol=1e-10)


@pytest.mark.spec("S0-53")
def test_the_loop_is_a_double_integrator():
    """A step with two equal poles, beside its closed form, and in a compiled rollout."""
    arm = cy.load("planar2r")
    loop = cy.connect(arm, computed_torque(arm, kp=25.0, kd=10.0))
    start = {"q": np.zeros(2), "qd": np.zeros(2)}
    times = np.linspace(0.0, 2.0, 11)
    run = loop.simulate(start, times=times, inputs={"target": [0.8, -0.5]}, rtol=1e-12, atol=1e-13)
    known = (1 - np.exp(-5 * times) * (1 + 5 * times))[:, None] * [0.8, -0.5]
    assert np.abs(run["q"] - known).max() < 1e-10
    rolled = loop.rollout()(start, step=1e-3, steps=2000, inputs={"target": [0.8, -0.5]}, every=200)
    assert np.abs(rolled["q"] - known).max() < 1e-9


@pytest.mark.spec("S0-53")
def test_model_errors_leave_an_offset_that_gains_make_small():
    """A payload that the law does not know: at rest kp e = M^-1 of its weight."""
    arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
    loaded = arm.with_payload("tool", 0.5)
    offsets = []
    for kp in (100.0, 400.0):
        loop = cy.connect(loaded, computed_torque(arm, kp=kp, kd=2 * np.sqrt(kp)))
        end = loop.simulate({"q": [0.3, 0.2], "qd": np.zeros(2)}, until=10.0, inputs={"target": [0.3, 0.2]}).end["q"]
        forgotten = loaded.gravity_forces(end) - arm.gravity_forces(end)
        expected = np.linalg.solve(arm.inertia_matrix(end), forgotten) / kp
        assert np.allclose(np.array([0.3, 0.2]) - end, expected, rtol=1e-5)
        offsets.append(np.abs(end - [0.3, 0.2]).max())
    assert offsets[1] < offsets[0] / 3


@pytest.mark.spec("S0-75")
def test_accelerations_of_vector_parameters(arm):
    """c'' = v: by forward dynamics in angles, and the forces along c are those of virtual work."""
    c, cd, v = states(arm, 50, seed=1)
    u = vector_parameter_control_kernel(arm)(c, cd, v)
    turns = np.array([joint.motion.velocity_units[0] == "rad" for joint in arm.joints if joint.motion.nv])
    slope = np.where(turns, 2 / (1 + c**2), 1.0)
    q, qd = np.where(turns, 2 * np.arctan(c), c), slope * cd
    qdd = arm.forward_dynamics(q, qd, u / slope)
    found = np.where(turns, (qdd + 4 * c * cd**2 / (1 + c**2) ** 2) / slope, qdd)
    assert np.allclose(found, v, rtol=1e-11, atol=1e-10)


@pytest.mark.spec("S0-75")
def test_the_law_beside_the_equations_in_vector_parameters():
    """H_V and h_V of Mladenova's own Lagrangian; of spherical joints u_V = H_V v - h_V undoes their dynamics."""
    links = serial_chain(cy.load("s1_f2").tree)
    c, cd, v = np.array([0.2, -0.4]), np.array([0.7, 0.3]), np.array([1.1, -0.6])
    slope = 2 / (1 + c**2)
    H, h = joint_space_model(links, 2 * np.arctan(c), slope * cd)
    expected = slope * (H @ (slope * v - c * (slope * cd) ** 2) - h)
    assert np.allclose(vector_parameter_control_kernel(cy.load("s1_f2"))(c, cd, v), expected, rtol=1e-12)
    c, cd, v = np.random.default_rng(2).normal(size=(3, 2, 3))
    assert np.allclose(vector_parameter_forward(links, c, cd, vector_parameter_inverse(links, c, cd, v)), v, rtol=1e-8)


@pytest.mark.spec("S0-75")
def test_the_same_motion_as_computed_torque():
    """Along a motion that both are given, torques and motions agree; a step is exponential in c."""
    arm = cy.load("planar2r")
    start = {"q": np.array([0.3, -0.2]), "qd": np.zeros(2)}
    at = lambda t: np.array([0.3 + 0.5 * t**3, -0.2 - 0.4 * t**3])  # noqa: E731
    rate = lambda t: np.array([1.5, -1.2]) * t**2  # noqa: E731
    more = lambda t: np.array([3.0, -2.4]) * t  # noqa: E731
    c = lambda t: np.tan(at(t) / 2)  # noqa: E731
    cd = lambda t: (1 + c(t) ** 2) / 2 * rate(t)  # noqa: E731
    cdd = lambda t: (1 + c(t) ** 2) / 2 * (more(t) + c(t) * rate(t) ** 2)  # noqa: E731
    tight = {"until": 1.0, "rtol": 1e-11, "atol": 1e-12}
    plain = cy.connect(arm, computed_torque(arm, 25.0, 10.0)).simulate(start, inputs={
        "target": lambda t, *x: at(t), "target_qd": lambda t, *x: rate(t),
        "target_qdd": lambda t, *x: more(t)}, **tight)
    loop = cy.connect(arm, vector_parameter_control(arm, 25.0, 10.0))
    curved = loop.simulate(start, inputs={"target": lambda t, *x: c(t), "target_qd": lambda t, *x: cd(t),
                                          "target_qdd": lambda t, *x: cdd(t)}, **tight)
    assert np.abs(plain.end["q"] - curved.end["q"]).max() < 1e-9
    assert np.abs(plain["tau"][-1] - curved["tau"][-1]).max() < 1e-7
    step = loop.rollout()({"q": np.zeros(2), "qd": np.zeros(2)}, step=1e-3, steps=1000, every=1000,
                          inputs={"target": [0.4, -0.3]}).end["q"]
    assert np.abs(np.tan(step / 2) - (1 - np.exp(-5) * 6) * np.array([0.4, -0.3])).max() < 1e-9


def test_what_has_no_such_law_is_refused():
    with pytest.raises(UnsupportedError, match="one coordinate each"):
        vector_parameter_control(cy.load("panda", floating_base=True), 1.0, 1.0)
    with pytest.raises(UnsupportedError, match="as independent"):
        vector_parameter_control_kernel(cy.load("four_bar"))
    with pytest.raises(SingularityError, match="half-turn"):
        vector_parameter_control_kernel(cy.load("planar2r"))([np.inf, 0.0], [0.0, 0.0], [0.0, 0.0])
    with pytest.raises(SignatureError, match="gains kp"):
        computed_torque(cy.load("planar2r"), [1.0, 2.0, 3.0], 1.0)
    with pytest.raises(SignatureError, match="gains kp must be numbers"):
        computed_torque(cy.load("planar2r"), "high", 1.0)
    soft = cy.load("planar2r").with_drive("joint1", stiffness=1e3, inertia=0.1).including("elastic drives")
    for law in (computed_torque, vector_parameter_control):
        with pytest.raises(UnsupportedError, match="joint 'joint1' is driven through one"):
            law(soft, 1.0, 1.0)


@pytest.mark.spec("S0-53")
def test_the_rigid_limit_of_elastic_drives():
    """u = (H + Jm) v + h: the stiffer the springs, the nearer to the double integrator; with gears and friction."""
    away = []
    target = np.array([0.6, -0.4])
    for stiffness in (1e4, 1e5, 1e6):
        arm = cy.load("planar2r").with_gravity([0.0, -9.81, 0.0])
        for joint, gear in (("joint1", 30.0), ("joint2", -50.0)):
            arm = arm.with_drive(joint, stiffness=stiffness, damping=2e-3 * stiffness, inertia=1e-3, gear=gear)
        arm = arm.with_friction("joint1", viscous=0.5)
        soft = arm.including("elastic drives", "friction")
        held = arm.including("springs").gravity_forces(np.zeros(2)) / stiffness
        start = {"q": np.concatenate([np.zeros(2), [30.0, -50.0] * held]), "qd": np.zeros(4)}
        loop = cy.connect(soft, computed_torque(soft, 25.0, 10.0, rigid_limit=True))
        end = loop.simulate(start, until=1.0, inputs={"target": target}, rtol=1e-9, atol=1e-11, method="Radau").end
        away.append(np.abs(end["q"][:2] - (1 - 6 * np.exp(-5.0)) * target).max())
    assert away[0] < 5e-3 and 8 < away[0] / away[1] < 12 and 8 < away[1] / away[2] < 12
    rigid = arm.including("armature", "friction")
    q, qd = np.array([0.3, -0.2]), np.array([0.5, 0.7])
    law = computed_torque(soft, 0.0, 0.0, rigid_limit=True)
    gears = np.array([30.0, -50.0])
    given = {"q": np.concatenate([q, gears * q]), "qd": np.concatenate([qd, gears * qd]), "target": q, "target_qd": qd,
             "target_qdd": np.array([1.0, -2.0])}
    tau = law.step(*[given[name] for name in law.inputs]).tau
    expected = rigid.inverse_dynamics(q, qd, [1.0, -2.0])
    assert np.allclose(np.asarray(tau, dtype=float), [0.0, 0.0, *expected / gears], rtol=1e-12)
