"""One rigid body as a system: batches, connections and conserved quantities; closed forms are in tests/geometry."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ConventionError, GeometryError, SingularityError
from cayley.geometry.inertia import MassProperties
from cayley.machines import gyroscope, half_turns, moving_frame, rigid_body, rotating_body

J = np.diag([1.0, 2.0, 3.0])
START = {"orientation": [1.0, 0.0, 0.0, 0.0], "angular_velocity": [0.4, 1.0, -0.3]}


@pytest.mark.spec("S0-23")
def test_a_batch_of_tumbling_bodies_keeps_energy_and_momentum():
    body = rotating_body(J)
    starts = {"orientation": np.tile([1.0, 0.0, 0.0, 0.0], (5, 1)),
              "angular_velocity": np.random.default_rng(1).normal(size=(5, 3))}
    run = body.rollout()(starts, step=1e-3, steps=2000, every=500, inputs={"torque": np.zeros(3)})
    momentum = run.outputs["angular_momentum"]
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[:, :1], momentum.shape), atol=1e-9)
    np.testing.assert_allclose(run.energy, np.broadcast_to(run.energy[:, :1], run.energy.shape), rtol=1e-9)


@pytest.mark.spec("S0-24")
def test_thrusters_are_connected_to_a_law_and_bring_the_body_to_rest():
    B = np.eye(3)
    body = rotating_body(J, thrusters=B)
    law = cy.System("law", inputs={"angular_velocity": 3}, outputs={"u": 3},
                    output=lambda t, x, u, p: -2.0 * u.angular_velocity)
    plant = cy.System("plant", state=body.state, inputs=body.inputs, outputs={"angular_velocity": 3},
                      derivative=body.derivative, output=lambda t, x, u, p: x.angular_velocity)
    end = cy.connect(plant, law).simulate(START, until=20.0).end
    assert np.abs(end["angular_velocity"]).max() < 1e-3
    with pytest.raises(GeometryError, match="depends on those before it"):
        rotating_body(J, thrusters=[[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]])


def test_a_free_body_falls_and_turns_as_its_parts_do():
    body = MassProperties(2.0, np.zeros(3), J)
    weight = {"force": [0.0, 0.0, -2 * 9.81], "torque": np.zeros(3)}
    run = rigid_body(body).simulate({**START, "velocity": [1.0, 0.0, 0.0]}, until=3.0, inputs=weight, rtol=1e-12,
                                    atol=1e-13)
    np.testing.assert_allclose(run.end["position"], [3.0, 0.0, -9.81 * 4.5], atol=1e-9)
    alone = rotating_body(J).simulate(START, until=3.0, inputs={"torque": np.zeros(3)}, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.end["orientation"], alone.end["orientation"], atol=1e-9)
    np.testing.assert_allclose(half_turns(run), half_turns(alone), atol=1e-8)
    for bad, message in ((MassProperties(0.0, np.zeros(3), np.zeros((3, 3))), "singular"),
                         (MassProperties(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])), "triangle inequality")):
        with pytest.raises((GeometryError, SingularityError), match=message):
            rigid_body(bad)


@pytest.mark.parametrize("axes", ["world", "body"])
def test_a_frame_moves_as_the_exponential_of_a_constant_twist(axes):
    w, v = np.array([0.3, -0.8, 0.5]), np.array([0.2, 0.1, -0.4])
    run = moving_frame(axes=axes).simulate({"orientation": [1.0, 0.0, 0.0, 0.0]}, until=5.0,
                                           inputs={"velocity": v, "angular_velocity": w}, rtol=1e-12, atol=1e-13)
    turned = Rotation.from_rotvec(5.0 * w)
    np.testing.assert_allclose(Rotation.from_quat(run.end["orientation"], scalar_first=True).as_matrix(),
                               turned.as_matrix(), atol=1e-9)
    steps = np.linspace(0.0, 5.0, 20001)
    path = v if axes == "world" else np.trapezoid(Rotation.from_rotvec(np.outer(steps, w)).apply(v), steps, axis=0) / 5
    np.testing.assert_allclose(run.end["position"], 5.0 * path, atol=1e-7)
    with pytest.raises(ConventionError, match="'world' or the 'body'"):
        moving_frame(axes="tool")


def test_a_gyroscope_that_stands_upright_says_why_it_has_no_derivative():
    top = gyroscope(0.02, 0.01, axes="fixed")
    with pytest.raises(SingularityError, match="upright"):
        top.simulate({"angles": np.zeros(3), "rates": [0.0, 0.0, 1.0]}, until=1.0, inputs={"moments": np.zeros(3)})
    with pytest.raises(ConventionError, match="body"):
        gyroscope(0.02, 0.01, axes="body")
