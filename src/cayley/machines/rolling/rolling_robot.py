"""A robot on two driven wheels and a castor: rates, dynamics in the rates of its wheels, and its posture in time.

    i, j, k      chassis axes: right, ahead, up;  the point C is behind the driven axle by a, ahead of the pivot by b
    r, l, d      radius of all wheels, track between the driven ones, trail of the castor
    u = (u1, u2) rates of the right and of the left wheel;   omega   turn rate;   psi   angle of the bracket
    omega = (r / l) (u1 - u2),   cd = (a r / l) (u1 - u2) i + (r / 2) (u1 + u2) j
    (theta3d, psid) = N(psi) u                             rates of the castor's wheel and bracket
    I(psi) ud + C(psi, u) u = tau                          torques of the driven wheels
All coordinates of the tree follow the driven wheels, qd = S(psi) u, and so its equations M qdd + C_q qd = Q become
    I = S^T M S,   C = S^T (M S' + C_q S)                  ' by time
by d'Alembert's principle: Lagrange's equations in u would miss what the constraints do. Source: Ruggiu (4.42)-(4.54),
corrected as in spec E-13 to E-15."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.dynamics.closed_form import coriolis_matrix
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.rigid_links.links import Links, links_of
from cayley.errors import ModelError, SingularityError, shown
from cayley.machines.arguments import compiled, place
from cayley.model.constraint_kinds import Wheel
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree
from cayley.systems.layout import Record
from cayley.systems.ports import Block, BlockLike, Port
from cayley.systems.system import System

_DIFFERENCE = np.array([1.0, -1.0])
_SUM = np.array([1.0, 1.0])
_BACK = (-1.0, 0.0, 0.0)  # about which the driven wheels turn where they roll ahead
_AXLE = (0.0, 1.0, 0.0)


class Following(NamedTuple):
    """S (7, 2), the velocities of the tree's coordinates by u at the heading 0, and its rate."""

    S: Array
    rate: Array


@dataclass(frozen=True)
class RobotMasses:
    """Masses [kg] of a driven wheel, the castor's wheel, the bracket and the chassis, and the moments of the last two
    about the vertical [kg m^2]. Wheels are discs; the bracket's centre is in the middle of its arm, the chassis' at C.
    """

    wheel: float
    castor: float
    bracket: float
    chassis: float
    bracket_inertia: float
    chassis_inertia: float

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not is_finite_number(value) or value < 0:
                raise ModelError(f"masses and moments of a robot are finite and not negative: {each.name} is "
                                 f"{shown(value)}")


@dataclass(frozen=True)
class RollingRobot:
    """A robot by its lengths [m] and masses.

    >>> robot = RollingRobot(radius=0.1, track=0.5, axle=0.12, pivot=0.3, trail=0.08)
    >>> robot.motion([8.0, 5.0]).round(6)
    array([0.6  , 0.072, 0.65 ])
    """

    radius: float
    track: float
    axle: float
    pivot: float
    trail: float
    masses: RobotMasses = field(default_factory=lambda: RobotMasses(1.0, 0.5, 0.3, 10.0, 0.002, 0.5))

    def __post_init__(self) -> None:
        for word in ("radius", "track", "axle", "pivot", "trail"):
            value = getattr(self, word)
            if not is_finite_number(value) or (word in ("radius", "track") and value <= 0):
                raise ModelError(f"a robot has finite lengths, and a radius and a track that are positive: {word} is "
                                 f"{shown(value)}")
        if not isinstance(self.masses, RobotMasses):
            raise ModelError(f"the masses of a robot must be RobotMasses(...), not {shown(self.masses)}")

    # Rates

    @compiled("(2)->(3)")
    def motion(self, u: Array) -> Array:
        """`motion(u)`: the turn rate and the velocity of C along i and j (..., 3). (4.44), (4.45)."""
        omega = self.radius / self.track * (u[0] - u[1])
        return np.stack([omega, self.axle * omega, self.radius / 2 * (u[0] + u[1])])

    @compiled("(),()->(2)")
    def wheel_rates(self, omega: Scalar, speed: Scalar) -> Array:
        """`wheel_rates(omega, speed)`: u (..., 2) for a turn rate and a speed ahead. (4.47)."""
        across = self.track / (2 * self.radius) * omega
        return np.stack([speed / self.radius + across, speed / self.radius - across])

    @compiled("(2)->(2)", needs="_check_axle")
    def wheel_rates_of_point(self, velocity: Array) -> Array:
        """`wheel_rates_of_point(velocity)`: u (..., 2) for a velocity (..., 2) of C along i and j. `SingularityError`
        if C is on the axle, where it cannot be moved sideways."""
        return self.wheel_rates(velocity[0] / self.axle, velocity[1])

    @compiled("()->(2,2)", needs="_check_trail")
    def castor_matrix(self, psi: Scalar) -> Array:
        """`castor_matrix(psi)`: N (..., 2, 2). (4.53)."""
        return self._castor(psi)[0]

    @compiled("(),(2)->(2)", needs="_check_trail")
    def castor_rates(self, psi: Scalar, u: Array) -> Array:
        """`castor_rates(psi, u)`: theta3d and psid (..., 2)."""
        return self._castor(psi)[0] @ u

    @compiled("(),(2)->(5,3)", needs="_check_trail")
    def angular_velocities(self, psi: Scalar, u: Array) -> Array:
        """`angular_velocities(psi, u)` (..., 5, 3): of right wheel, left wheel, castor, bracket and chassis. (4.48)-
        (4.52)."""
        omega = self.motion(u)[0]
        rolled, turned = self._castor(psi)[0] @ u
        none = 0.0 * omega
        return np.stack([np.stack(row) for row in (
            [-u[0], none, omega], [-u[1], none, omega], [rolled, none, omega + turned], [none, none, omega + turned],
            [none, none, omega])])

    @compiled("(),(),()->(2)")
    def steered(self, speed: Scalar, psi: Scalar, psid: Scalar) -> Array:
        """`steered(speed, psi, psid)`: u (..., 2) of a robot that one motor drives ahead while another turns the
        bracket. Unbounded where the castor's axle would have to be at rest."""
        along = (self.axle + self.pivot) * np.sin(psi) + self.trail
        return self.wheel_rates((speed * np.cos(psi) - self.trail * psid) / along, speed)

    # Dynamics

    @compiled("()->(2,2)", needs="_check_trail")
    def inertia_matrix(self, psi: Scalar) -> Array:
        """`inertia_matrix(psi)`: I (..., 2, 2)."""
        S = self._following(psi, np.zeros(2)).S
        return S.T @ inertia_matrix(self._links, _turned_castor(psi)) @ S

    @compiled("(),(2)->(2,2)", needs="_check_trail")
    def velocity_matrix(self, psi: Scalar, u: Array) -> Array:
        """`velocity_matrix(psi, u)`: C (..., 2, 2)."""
        q = _turned_castor(psi)
        S, rate = self._following(psi, u)
        return S.T @ (inertia_matrix(self._links, q) @ rate + coriolis_matrix(self._links, q, S @ u) @ S)

    @compiled("(),(2),(2)->(2)")
    def inverse_dynamics(self, psi: Scalar, u: Array, ud: Array) -> Array:
        """`inverse_dynamics(psi, u, ud)`: torques (..., 2) of the driven wheels."""
        return self.inertia_matrix(psi) @ ud + self.velocity_matrix(psi, u) @ u

    @compiled("(),(2),(2)->(2)")
    def forward_dynamics(self, psi: Scalar, u: Array, tau: Array) -> Array:
        """`forward_dynamics(psi, u, tau)`: ud (..., 2)."""
        return ldl_solve(self.inertia_matrix(psi), tau - self.velocity_matrix(psi, u) @ u)

    def tree(self) -> Tree:
        """The robot as a tree with wheels that roll, `cy.Mechanism(robot.tree())`: joints "base" (planar, at C, with x
        to the right and y ahead), "right", "left", "pivot" and "castor"; the first two wheels are actuated."""
        self._check_trail()
        r = self.radius
        m = self.masses

        def disc(name: str, mass: float, axis: tuple[float, float, float]) -> Body:
            return Body(name, mass, inertia=mass * r * r / 4 * (np.eye(3) + np.diag(np.abs(axis))))

        bodies = [Body("floor"), Body("chassis", m.chassis, inertia=np.diag([0.0, 0.0, m.chassis_inertia])),
                  disc("right wheel", m.wheel, _BACK), disc("left wheel", m.wheel, _BACK),
                  Body("bracket", m.bracket, [-self.trail / 2, 0.0, 0.0], np.diag([0.0, 0.0, m.bracket_inertia])),
                  disc("castor wheel", m.castor, _AXLE)]
        joints = [Joint("base", "floor", "chassis", Planar(), place(0.0, 0.0, r)),
                  Joint("right", "chassis", "right wheel", Revolute(_BACK), place(self.track / 2, self.axle)),
                  Joint("left", "chassis", "left wheel", Revolute(_BACK), place(-self.track / 2, self.axle)),
                  Joint("pivot", "chassis", "bracket", Revolute(), place(0.0, -self.pivot)),
                  Joint("castor", "bracket", "castor wheel", Revolute(_AXLE), place(-self.trail))]
        rolls = [Wheel(f"{side} tyre", "floor", f"{side} wheel", r, axis)
                 for side, axis in (("right", _BACK), ("left", _BACK), ("castor", _AXLE))]
        return Tree.of("rolling_robot", bodies, joints, constraints=rolls, actuated=["right", "left"])

    # Posture in time

    def system(self, driven_by: str = "tau") -> System:
        """The posture in time: the blocks `c` (2), `heading`, `psi` and `theta3`, and the wheels' rates, which are the
        input `u`, or, driven by "tau", a block, and the torques the input.

        >>> robot = RollingRobot(radius=0.1, track=0.5, axle=0.12, pivot=0.3, trail=0.08)
        >>> start = {"c": [0.0, 0.0], "heading": 0.0, "psi": np.pi / 2, "theta3": 0.0}
        >>> robot.system("u").simulate(start, until=2.0, inputs={"u": [5.0, 5.0]}).end["c"].round(9) + 0.0
        array([0., 1.])
        """
        self._check_trail()
        if driven_by not in ("tau", "u"):
            raise ModelError(f"a rolling robot must be driven by \"tau\" or by \"u\", not {driven_by!r}")
        state: dict[str, BlockLike] = {"c": Block((2,), "m"), "heading": "rad", "psi": "rad", "theta3": "rad"}
        if driven_by == "u":
            return System("rolling robot", state=state, inputs={"u": Port((2,), "rad/s")},
                          derivative=lambda t, x, u, p: self._posture(x, u.u))

        def derivative(t: Scalar, x: Record, u: Record, p: Record) -> dict[str, Any]:
            return {**self._posture(x, x.u), "u": self.forward_dynamics(x.psi, x.u, u.tau)}

        return System("rolling robot", state={**state, "u": Block((2,), "rad/s")},
                      inputs={"tau": Port((2,), "N m", default=0.0)}, derivative=derivative,
                      power=lambda t, x, u, p: u.tau @ x.u,
                      energy=lambda t, x, u, p: x.u @ (self.inertia_matrix(x.psi) @ x.u) / 2)

    def _posture(self, x: Record, u: Array) -> dict[str, Any]:
        omega, right, ahead = self.motion(u)
        c = np.cos(x.heading)
        s = np.sin(x.heading)
        castor = self._castor(x.psi)[0] @ u
        return {"c": np.stack([c * right - s * ahead, s * right + c * ahead]), "heading": omega, "psi": castor[1],
                "theta3": castor[0]}

    # Texts

    def _castor(self, psi: Scalar) -> tuple[Array, Array]:
        """N (2, 2) and its derivative by psi. (4.53)."""
        far = (self.axle + self.pivot) / self.track * _DIFFERENCE
        half = _SUM / 2
        c, s = np.cos(psi), np.sin(psi)
        rho = self.radius / self.trail
        N = np.stack([s * half + c * far, rho * (c * half - s * far - self.trail / self.track * _DIFFERENCE)])
        return N, np.stack([c * half - s * far, rho * (-s * half - c * far)])

    def _following(self, psi: Scalar, u: Array) -> Following:
        turn = self.radius / self.track * _DIFFERENCE
        right, ahead = self.axle * turn, self.radius / 2 * _SUM
        N, slope = self._castor(psi)
        omega, psid = turn @ u, N[1] @ u
        return Following(np.stack([right, ahead, turn, *np.eye(2), N[1], N[0]]),
                         np.stack([-omega * ahead, omega * right, *np.zeros((3, 2)), psid * slope[1], psid * slope[0]]))

    @cached_property
    def _links(self) -> Links:
        return links_of(self.tree().spanning_tree())

    def _check_axle(self) -> None:
        if self.axle == 0.0:
            raise SingularityError("the point C is on the driven axle, and cannot be moved sideways: a = 0")

    def _check_trail(self) -> None:
        if self.trail == 0.0:
            raise SingularityError(
                "a castor without trail does not turn by itself: its rates do not follow from those of the wheels "
                "(d = 0)")


def _turned_castor(psi: Scalar) -> Array:
    """The tree's coordinates (7): C at the origin, heading 0, wheels at 0."""
    return np.stack([0.0 * psi] * 5 + [psi, 0.0 * psi])
