"""Products of Jacobians with vectors, both ways, for loops, wheels, springs, floating bases, friction and parameters:
beside Richardson's differences of the kernels themselves."""

import numpy as np
import pytest

import cayley as cy
from cayley.model.joint_kinds import Floating, Revolute
from cayley.model.parts import Body, Joint

RNG = np.random.default_rng(0)


def loop():
    bar = cy.load("four_bar")
    q = bar.loops.close([0.3, 0.0, 0.0]).configuration
    return bar.forward_dynamics, [q, bar.loops.consistent_velocity(q, [2.0, 0.0, 0.0], keep=["crank"]),
                                  RNG.normal(size=3)]


def wheels():
    robot = cy.load("two_wheel_robot")
    q = robot.random_configuration(seed=2)
    return robot.forward_dynamics, [q, robot.loops.actuated_motion(q, [1.0, 2.0]), RNG.normal(size=robot.nv)]


def springs():
    arm = cy.load("planar2r").with_drive("joint1", inertia=1e-3, gear=50.0, stiffness=800.0).including("elastic drives")
    return arm.forward_dynamics, RNG.normal(size=(3, arm.nv))


def floating():
    bodies = [Body("world"), Body("trunk", 2.0, [0.1, 0.0, 0.05], np.diag([0.2, 0.3, 0.25])),
              Body("leg", 0.7, [0.0, 0.1, -0.2], 0.02 * np.eye(3))]
    robot = cy.Mechanism.of("hopper", bodies, [Joint("free", "world", "trunk", Floating()),
                                               Joint("hip", "trunk", "leg", Revolute((0.0, 1.0, 0.0)))])
    return robot.forward_dynamics, [robot.random_configuration(seed=1), *RNG.normal(size=(2, 7))]


def friction():
    arm = cy.load("planar2r").with_friction("joint1", viscous=0.1, coulomb=0.5).including("friction")
    return arm.forward_dynamics, RNG.normal(size=(3, 2))


def parameters():
    kernel = cy.load("planar3r").inverse_dynamics.with_parameters("mass", "center")
    return kernel, [*RNG.normal(size=(3, 3)), kernel.parameters.nominal]


@pytest.mark.parametrize("made", [loop, wheels, springs, floating, friction, parameters])
def test_beside_differences(made):
    kernel, given = made()
    given = [np.asarray(a, dtype=float) for a in given]
    tangents = [RNG.normal(size=a.shape) for a in given]

    def slope(e):
        ahead, behind = (kernel(*[a + s * t for a, t in zip(given, tangents, strict=True)]) for s in (e, -e))
        return (ahead - behind) / (2 * e)
    right = (4 * slope(5e-4) - slope(1e-3)) / 3
    along = kernel.jvp()(*given, *tangents)
    np.testing.assert_allclose(along, right, rtol=0, atol=1e-8 * np.abs(right).max())
    weights = RNG.normal(size=along.shape)
    back = kernel.vjp()(*given, weights)
    assert (weights * along).sum() == pytest.approx(sum((a * b).sum() for a, b in zip(back, tangents, strict=True)),
                                                    rel=1e-10)
