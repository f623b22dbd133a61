"""Systems that the tests share: each in the few lines that a user would write."""

import numpy as np

from cayley.systems import UNIT_QUATERNION, Block, System, Transition

G = 9.81


def pendulum():
    return System(
        "pendulum", state={"angle": Block((), "rad", velocity="speed"), "speed": "rad/s"}, inputs={"torque": "N m"},
        derivative=lambda t, x, u, p: u.torque - G * np.sin(x.angle),
        power=lambda t, x, u, p: u.torque * x.speed,
        energy=lambda t, x, u, p: x.speed**2 / 2 - G * np.cos(x.angle))


def motor():
    return System(
        "motor", state={"current": "A"}, inputs={"voltage": "V", "speed": "rad/s"}, outputs={"torque": "N m"},
        parameters={"R": 1.2, "L": 2e-2, "k": 0.3},
        derivative=lambda t, x, u, p: (u.voltage - p.R * x.current - p.k * u.speed) / p.L,
        output=lambda t, x, u, p: p.k * x.current)


def linear(name, A, B, C, state="x", inputs="u", outputs="y"):
    """dx/dt = A x + B u, y = C x, with vectors."""
    A, B, C = (np.asarray(M, dtype=float) for M in (A, B, C))
    return System(name, state={state: len(A)}, inputs={inputs: B.shape[1]}, outputs={outputs: len(C)},
                  derivative=lambda t, x, u, p: A @ x[state] + B @ u[inputs], output=lambda t, x, u, p: C @ x[state])


def free_body(J):
    """A rigid body that turns: orientation and angular velocity in its own axes."""
    J = np.asarray(J, dtype=float)
    return System(
        "body", state={"R": Block((4,), manifold=UNIT_QUATERNION, velocity="w"), "w": (3, "rad/s")},
        inputs={"moment": (3, "N m")},
        derivative=lambda t, x, u, p: (u.moment - np.cross(x.w, J * x.w)) / J,
        power=lambda t, x, u, p: u.moment @ x.w, energy=lambda t, x, u, p: x.w @ (J * x.w) / 2)


def ball(restitution=0.8):
    return System(
        "ball", state={"height": Block((), "m", velocity="speed"), "speed": "m/s"}, parameters={"e": restitution},
        derivative=lambda t, x, u, p: -G,
        transitions=[Transition("impact", lambda t, x, u, p: x.height,
                                jump=lambda t, x, u, p: {"speed": -p.e * x.speed})],
        energy=lambda t, x, u, p: x.speed**2 / 2 + G * x.height, power=lambda t, x, u, p: 0.0)
