"""Systems that the tests share: each in the few lines that a user would write."""

import numpy as np

import cayley as cy
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from cayley.model.winding import Winding
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


def rods(lengths=(0.5, 0.4), masses=(2.0, 1.5)):
    """Uniform rods in a vertical plane, one after the other, gravity along -y."""
    bodies = [Body("base")]
    joints = []
    for number, (length, mass) in enumerate(zip(lengths, masses, strict=True), 1):
        place = np.eye(4)
        place[0, 3] = lengths[number - 2] if number > 1 else 0.0
        central = mass * length**2 / 12 * np.diag([0.0, 1.0, 1.0])
        joints.append(Joint(f"joint{number}", bodies[-1].name, f"rod{number}", Revolute(), place))
        bodies.append(Body(f"rod{number}", mass, [length / 2, 0.0, 0.0], central))
    tip = np.eye(4)
    tip[0, 3] = lengths[-1]
    arm = cy.Mechanism.of("rods", bodies, joints, gravity=[0.0, -9.81, 0.0])
    return arm.with_frame("tool", bodies[-1].name, tip)


def driven_rods(inductance=0.0):
    """Two rods with motors behind gears."""
    arm = rods().with_drive("joint1", inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05, inductance))
    return arm.with_drive("joint2", inertia=8e-6, gear=80.0, winding=Winding(1.2, 0.04, inductance))


def driven_rod(inductance=0.0, viscous=0.1):
    """One rod with a motor and friction, both included."""
    arm = rods([0.5], [1.0]).with_friction("joint1", viscous=viscous)
    arm = arm.with_drive("joint1", inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05, inductance))
    return arm.including("armature", "friction")
