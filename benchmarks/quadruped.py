"""ANYmal as episodes: to walk at the velocities it is asked for, with masses, friction and motors of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

import cayley as cy
from cayley.learning import Episodes

FEET = ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]
STANCE = np.array([0.0, 0.4, -0.8] * 2 + [0.0, -0.4, 0.8] * 2)
HEIGHT = 0.52
TROT = np.array([0.0, np.pi, np.pi, 0.0])  # of the feet in a stride
FASTEST = np.array([1.0, 0.5, 1.0])  # m/s, m/s, rad/s
COMMAND, VELOCITY = slice(9, 12), slice(0, 3)  # in an observation


def down(q: Any) -> Any:
    """The direction of gravity in the base."""
    w, x, y, z = q[3], q[4], q[5], q[6]
    return np.stack([2.0 * (w * y - x * z), -2.0 * (y * z + w * x), 2.0 * (x * x + y * y) - 1.0])


def touches(x: Any) -> Any:
    return cy.where(x.contact_forces[:, 2] > 0.0, 1.0, 0.0)


def observe(t: Any, x: Any, u: Any, p: Any) -> Any:
    clock = np.stack([np.sin(x.stride), np.cos(x.stride)])
    return np.concatenate([x.qd[:3], 0.25 * x.qd[3:6], down(x.q), p.command, x.q[7:] - STANCE, 0.05 * x.qd[6:], x.aim,
                           clock, touches(x)])


def reward(t: Any, x: Any, u: Any, p: Any) -> Any:
    along, turn = p.command[:2] - x.qd[:2], p.command[2] - x.qd[5]
    lean, wish = down(x.q), np.sin(x.stride + TROT)  # > 0: the foot should stand
    stands = 2.0 * touches(x) - 1.0
    good = np.exp(-4.0 * along @ along) + 0.5 * np.exp(-4.0 * turn * turn) + 0.1 * (stands @ wish)
    motion = x.qd[2] * x.qd[2] + 0.05 * (x.qd[3:5] @ x.qd[3:5]) + 4.0 * (lean[:2] @ lean[:2])
    effort = 1e-3 * (x.qd[6:] @ x.qd[6:]) + 0.01 * ((u.action - x.aim) @ (u.action - x.aim))
    return 0.02 * (good - motion - effort + 0.5)


def fallen(t: Any, x: Any, u: Any, p: Any) -> Any:
    return (x.q[2] < 0.3) | (down(x.q)[2] > -0.6)


def quadruped(robot: cy.Mechanism, lanes: int, device: object = None, sweeps: int = 5, horizon: int = 1000,
              threads: int = 1) -> Episodes:
    """Episodes of 20 s, with 50 actions a second of four steps each. Drives follow aims of the joints."""
    robot = robot.with_contacts(points=dict.fromkeys(FEET, 0.03))
    drives = cy.System(
        "drives", state={"aim": (12, "rad"), "stride": "rad"},
        inputs={"action": (12, "rad"), "q": (19, ""), "qd": (18, "")}, outputs={"tau": (18, "N m")},
        parameters={"strength": 1.0, "command": np.zeros(3)},
        derivative=lambda t, x, u, p: {"aim": (u.action - x.aim) / 0.02, "stride": 2.0 * np.pi * 1.8},
        output=lambda t, x, u, p: np.concatenate([np.zeros(6), p.strength * np.clip(
            80.0 * (STANCE + 0.5 * x.aim - u.q[7:]) - 2.0 * u.qd[6:], -80.0, 80.0)]))
    plant = cy.connect(robot.system(parameters=["mass"]), drives)
    masses = plant.parameters["parameters"]

    def start(u: Any) -> dict[str, Any]:
        yaw, joints = 2.0 * np.pi * u[0], STANCE + 0.2 * (u[1:13] - 0.5)
        q = np.concatenate([[0.0, 0.0, HEIGHT, np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)], joints])
        return {"q": q, "qd": 0.4 * (u[13:31] - 0.5), "aim": np.zeros(12), "stride": 2.0 * np.pi * u[31],
                "strength": 0.8 + 0.4 * u[32], "contact_friction": (0.4 + 0.8 * u[33]) * np.ones(4),
                "command": FASTEST * (2.0 * u[34:37] - 1.0), "parameters": masses * (0.9 + 0.2 * u[37:])}

    return Episodes(plant, lanes, action="action", low=-3.0, high=3.0, step=0.02, substeps=4, horizon=horizon,
                    draws=37 + len(masses), start=start, observe=observe, reward=reward, failed=fallen,
                    iterations=sweeps, device=device, dtype="float32", threads=threads)
