"""The masses of a rolling robot, projected on the rates u of its driven wheels.

    hv_i u, hw_i u     velocities of the bodies: of wheels (1, 2) and chassis (5) in chassis axes, of castor (3) and
                       bracket (4) in the bracket's axes e3, f3, k
    I = sum m hv^T hv + hw^T I hw
    C = sum hv^T m (hv' psid + w x hv) + hw^T (I hw' psid + w x I hw)     w: how the axes turn,  ' by psi
by d'Alembert's principle: Lagrange's equations in u would miss what the constraints do. Source: Ruggiu 4.5.2, corrected
as in spec E-14, E-15.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.geometry.tensors.cross import skew

if TYPE_CHECKING:
    from cayley.machines.rolling.rolling_robot import RollingRobot

_DIFFERENCE = np.array([1.0, -1.0])
_SUM = np.array([1.0, 1.0])


class Moving(NamedTuple):
    """A body: mass, inertia (3, 3), hv and hw (3, 2), their derivatives by psi, and whether it turns with the bracket.
    """

    mass: float
    inertia: Array
    hv: Array
    hw: Array
    hv_slope: Array
    hw_slope: Array
    on_bracket: bool


class CastorMatrix(NamedTuple):
    """N (2, 2), the rates of the castor's wheel and bracket by u, and its derivative by psi."""

    N: Array
    slope: Array


def castor_matrix(robot: RollingRobot, psi: Scalar) -> CastorMatrix:
    """(4.53)."""
    far = (robot.axle + robot.pivot) / robot.track * _DIFFERENCE
    half = _SUM / 2
    c = np.cos(psi)
    s = np.sin(psi)
    rho = robot.radius / robot.trail
    N = np.stack([s * half + c * far, rho * (c * half - s * far - robot.trail / robot.track * _DIFFERENCE)])
    return CastorMatrix(N, np.stack([c * half - s * far, rho * (-s * half - c * far)]))


def bodies(robot: RollingRobot, psi: Scalar) -> Iterator[Moving]:
    """Right wheel, left wheel, castor's wheel, bracket, chassis."""
    r = robot.radius
    m = robot.masses
    turn = r / robot.track * _DIFFERENCE
    none = np.zeros(2)
    still = np.zeros((3, 2))
    rolling = r * r / 4 * np.diag([2.0, 1.0, 1.0])
    for wheel in np.eye(2):
        yield Moving(m.wheel, m.wheel * rolling, np.stack([none, r * wheel, none]), np.stack([-wheel, none, turn]),
                     still, still, on_bracket=False)
    N, slope = castor_matrix(robot, psi)
    swung = turn + N[1]
    yield Moving(m.castor, m.castor * rolling, np.stack([none, -r * N[0], none]), np.stack([N[0], none, swung]),
                 np.stack([none, -r * slope[0], none]), np.stack([slope[0], none, slope[1]]), on_bracket=True)
    half = robot.trail / 2
    yield Moving(m.bracket, np.diag([0.0, 0.0, m.bracket_inertia]), np.stack([half * swung, -r * N[0], none]),
                 np.stack([none, none, swung]), np.stack([half * slope[1], -r * slope[0], none]),
                 np.stack([none, none, slope[1]]), on_bracket=True)
    yield Moving(m.chassis, np.diag([0.0, 0.0, m.chassis_inertia]),
                 np.stack([robot.axle * turn, r / 2 * _SUM, none]), np.stack([none, none, turn]), still, still,
                 on_bracket=False)


def inertia(robot: RollingRobot, psi: Scalar) -> Array:
    """I (2, 2)."""
    found: Any = 0.0
    for b in bodies(robot, psi):
        found = found + b.mass * b.hv.T @ b.hv + b.hw.T @ b.inertia @ b.hw
    return found


def velocity_matrix(robot: RollingRobot, psi: Scalar, u: Array) -> Array:
    """C (2, 2); C u are torques."""
    psid = castor_matrix(robot, psi).N[1] @ u
    omega = robot.radius / robot.track * (_DIFFERENCE @ u)
    found: Any = 0.0
    for b in bodies(robot, psi):
        turning = skew(np.stack([0.0 * omega, 0.0 * omega, omega + psid if b.on_bracket else omega]))
        found = found + b.mass * b.hv.T @ (psid * b.hv_slope + turning @ b.hv) + b.hw.T @ (
            psid * b.inertia @ b.hw_slope + turning @ b.inertia @ b.hw)
    return found
