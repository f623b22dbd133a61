"""A single link driven through an elastic joint, in closed form: its equations in angles and in vector-parameters, the
state in which it is a chain of four integrators, and the law that makes it one.

    I_l q'' + W sin q + K (q - theta) = 0,   I_m theta'' - K (q - theta) = u        x = (q, q', theta, theta')
    y = (q, q', y3, y4),  y3 = -(W sin q + K (q - theta)) / I_l,  y4 = (K theta' - q' (K + W cos q)) / I_l
    u = (I_l I_m / K) (v - a)  gives  y'''' = v
In c = tan(q/2) angles beyond a half-turn are counted apart: a chart about the half-turn takes over before c grows
without bound. Source: Mladenova 7.5 (305)-(308), corrected as in spec E-51, E-52, R-55."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Real

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, SignatureError, shown
from cayley.geometry.vector_fields.output_degrees import Linearisability, linearisability
from cayley.systems import Block, Record, System, Transition

_CHART_ENDS = 2.0  # c at which the chart about the next half-turn takes over, where its own c is -1/2


@dataclass(frozen=True)
class FlexibleLink:
    """A link of inertia `link` about its joint [kg m^2], of weight times distance of the centre `weight` [N m], on a
    motor of inertia `motor` [kg m^2] behind a spring of `stiffness` [N m/rad]; it hangs down at q = 0.

    >>> arm = FlexibleLink(link=1.0, motor=1.0, weight=10.0, stiffness=100.0)
    >>> y = arm.chain([0.5, 0.0, 0.3, 0.0])
    >>> arm.state(y)
    array([0.5, 0. , 0.3, 0. ])
    >>> print(arm.linearisability())
    linear by feedback: chains of 4 integrators
    """

    link: float
    motor: float
    weight: float
    stiffness: float

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            number = float(value) if isinstance(value, Real) else np.nan
            needed = np.isfinite(number) and (number > 0 or entry.name == "weight")
            if not needed:
                raise ModelError(f"the {entry.name} of a flexible link is {shown(value)}: it must be finite"
                                 + ("" if entry.name == "weight" else " and positive"))

    def drift(self, x: Array) -> Array:
        """f(x) (4)."""
        pull = self.stiffness * (x[0] - x[2])
        return np.stack([x[1], -(self.weight * np.sin(x[0]) + pull) / self.link, x[3], pull / self.motor])

    def input(self, x: Array) -> Array:
        """g(x) (4): constant."""
        return np.array([0.0, 0.0, 0.0, 1 / self.motor])

    def linearisability(self, at: ArrayLike = (0.0, 0.0, 0.0, 0.0)) -> Linearisability:
        """The proof that feedback makes it linear, Theorem 7, at states (..., 4) or at SymPy's symbols (4)."""
        return linearisability(self.drift, [self.input], at)

    @cached_property
    def chain(self) -> Kernel:
        """`chain(x)`: position, velocity, acceleration and jerk of the link (..., 4)."""
        def chain(x: Array) -> Array:
            W, K = self.weight, self.stiffness
            return np.stack([x[0], x[1], -(W * np.sin(x[0]) + K * (x[0] - x[2])) / self.link,
                             (K * x[3] - x[1] * (K + W * np.cos(x[0]))) / self.link])

        return kernel("(4)->(4)")(chain)

    @cached_property
    def state(self) -> Kernel:
        """`state(y)`: the state x (..., 4) of a position, velocity, acceleration and jerk of the link."""
        def state(y: Array) -> Array:
            W, K = self.weight, self.stiffness
            return np.stack([y[0], y[1], y[0] + (self.link * y[2] + W * np.sin(y[0])) / K,
                             y[1] + (self.link * y[3] + W * y[1] * np.cos(y[0])) / K])

        return kernel("(4)->(4)")(state)

    @cached_property
    def law(self) -> Kernel:
        """`law(x, v)`: the torque (...) of the motor under which the snap of the link is v."""
        def law(x: Array, v: Scalar) -> Scalar:
            W, K, link = self.weight / self.link, self.stiffness / self.link, self.link
            a = W * np.sin(x[0]) * (x[1] * x[1] + W * np.cos(x[0]) + K) + K * (x[0] - x[2]) * (
                K + self.stiffness / self.motor + W * np.cos(x[0]))
            return link * self.motor / self.stiffness * (v - a)

        return kernel("(4),()->()")(law)

    def system(self, name: str = "flexible link") -> System:
        """The link as a system: the state `x` (4), the input `u` [N m]."""
        return System(name, state={"x": 4}, inputs={"u": "N m"},
                      derivative=lambda t, x, u, p: self.drift(x.x) + self.input(x.x) * u.u,
                      energy=lambda t, x, u, p: self._energy(x.x[0::2], x.x[1::2]),
                      power=lambda t, x, u, p: x.x[3] * u.u)

    def vector_parameter_system(self, name: str = "flexible link") -> System:
        """The same in vector-parameters: `c` (2) of the link and of the motor, their rates `cd` (2), and the
        `half_turns` (2) about which c is taken, whole numbers: q = 2 atan c + pi half_turns. (305), as in spec E-51.

        >>> FlexibleLink(1.0, 1.0, 10.0, 100.0).vector_parameter_system()
        <system flexible link: state c, cd, half_turns; inputs u; outputs c, cd, half_turns>
        """
        return System(
            name, state={"c": Block((2,), velocity="cd"), "cd": 2, "half_turns": 2}, inputs={"u": "N m"},
            derivative=lambda t, x, u, p: {"cd": self._vector_parameter_acceleration(x, u.u),
                                           "half_turns": np.zeros(2)},
            energy=lambda t, x, u, p: self._energy(_angles(x), _angle_rates(x)),
            power=lambda t, x, u, p: _angle_rates(x)[1] * u.u,
            transitions=[_next_chart(place, sign) for place in range(2) for sign in (1, -1)])

    def _energy(self, angles: Array, rates: Array) -> Scalar:
        return (self.link * rates[0] ** 2 + self.motor * rates[1] ** 2 + self.stiffness * (angles[0] - angles[1]) ** 2
                ) / 2 + self.weight * (1 - np.cos(angles[0]))

    def _vector_parameter_acceleration(self, x: Record, u: Scalar) -> Array:
        """2 I / (1 + c^2) (c'' - 2 c c'^2 / (1 + c^2)) = torque."""
        c, cd = x.c, x.cd
        square = 1 + c * c
        side = np.cos(np.pi * x.half_turns[0])  # 1 or -1: on which side of the circle c is taken
        angles = _angles(x)
        pull = self.stiffness * (angles[0] - angles[1])
        torques = np.stack([-self.weight * side * 2 * c[0] / square[0] - pull, u + pull])
        return square * torques / (2 * np.array([self.link, self.motor])) + 2 * c * cd * cd / square


def vector_parameters_of_angles(angles: ArrayLike, rates: ArrayLike) -> dict[str, Array]:
    """`c`, `cd` and `half_turns` (2) of the angles (2) of link and motor and their rates (2): the state of
    `vector_parameter_system`, with each |c| at most 1.

    >>> vector_parameters_of_angles([np.pi, 0.0], [1.0, 0.0])["half_turns"]
    array([1., 0.])
    """
    at = np.asarray(angles, dtype=float)
    if at.shape != (2,) or np.shape(rates) != (2,) or not np.isfinite(at).all():
        raise SignatureError(f"angles of a link and its motor, and their rates, are two numbers each: {shown(angles)}")
    half_turns = np.round(at / np.pi)
    c = np.tan((at - np.pi * half_turns) / 2)
    return {"c": c, "cd": (1 + c * c) / 2 * np.asarray(rates, dtype=float), "half_turns": half_turns}


def angles_of_vector_parameters(c: ArrayLike, half_turns: ArrayLike) -> Array:
    """The angles (..., 2) of link and motor.

    >>> angles_of_vector_parameters([0.0, 1.0], [1.0, 0.0])
    array([3.14159265, 1.57079633])
    """
    return 2 * np.arctan(np.asarray(c)) + np.pi * np.asarray(half_turns)


def _angles(x: Record) -> Array:
    return 2 * np.arctan(x.c) + np.pi * x.half_turns


def _angle_rates(x: Record) -> Array:
    return 2 * x.cd / (1 + x.c * x.c)


def _next_chart(place: int, sign: int) -> Transition:
    """From the chart about one half-turn to that about the next: tan((q - pi)/2) = -1/c."""
    unit = np.eye(2)[place]

    def jump(t: Scalar, x: Record, u: Record, p: Record) -> dict[str, Array]:
        c = x.c[place]
        return {"c": x.c + unit * (-1 / c - c), "cd": x.cd + unit * (x.cd[place] / (c * c) - x.cd[place]),
                "half_turns": x.half_turns + sign * unit}

    return Transition(f"{('link', 'motor')[place]} past {'+' if sign > 0 else '-'}127 degrees",
                      lambda t, x, u, p: sign * x.c[place] - _CHART_ENDS, "rising", jump=jump)
