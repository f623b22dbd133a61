"""A rigid body as a component with ports: its mass centre G and any number of terminals.

    x = (v; w)   across variable of a port: velocity and angular velocity against the inertial reference
    y = (f; m)   through variable: force and moment that act on the body there; x.y is the power that it takes
    K_p = [E 0; r~ E]                r from G to the port p, in inertial axes
    x_p = K_p^T x_G,   y_G = - sum K_p y_p + W_G x_G + u_G                                            (form G)
    W_G = P_G d/dt + Q_G,   P_G = (m E, J_G),   Q_G = (0, w~ J_G),   u_G = (-m g; 0)
The body is an ideal one, a transformer that takes no power, beside an active one-port (W_G, u_G) that holds inertia
and weight and can be moved to any port. All vectors are in inertial axes, in which J_G turns with the body.
Source: Tokad (1)-(7), (49), (50), corrected as in spec E4-01, E4-02, E4-18, E4-19."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FieldArray, Scalar
from cayley.errors import ModelError, did_you_mean, shown
from cayley.geometry.batch import tolerance_of
from cayley.geometry.rotations.matrix import rotation_defect
from cayley.geometry.spatial import force_transform
from cayley.geometry.tensors.cross import skew
from cayley.model.parts import Body, frozen
from cayley.showing import brief

GRAVITY = (0.0, 0.0, -9.81)
_ONES = np.eye(3)
_NONE = np.zeros((3, 3))


def given_array(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """An array of this shape and of finite numbers; symbols of any algebra are as they are."""
    array = np.asarray(values) if np.ndim(values) == len(shape) else None
    if array is not None and array.dtype == object and array.shape == shape and not _has_text(array):
        return array
    return frozen(values, shape, what)


def given_rotation(values: ArrayLike, what: str) -> Array:
    """Axes (3, 3): a rotation."""
    array = given_array(values, (3, 3), what)
    if array.dtype != object:
        defect = float(rotation_defect.reference(array))
        if not defect <= tolerance_of(values):
            raise ModelError(f"{what} are not a rotation: they miss one by {defect:.2g}: {shown(values)}")
    return array


def _has_text(array: Array) -> bool:
    return any(isinstance(entry, str) or entry is None for entry in array.flat)


class Operator(NamedTuple):
    """The operator W = P d/dt + Q of an active component, W x = P x' + Q x, with P (n, n) and Q (n, n). (4), (22)-(24).

    >>> spin = Operator(np.diag([2.0, 1.0]), np.zeros((2, 2)))
    >>> spin(np.array([1.0, 3.0]), np.array([0.5, 0.0]))
    array([1., 0.])
    """

    P: Array
    Q: Array

    def __call__(self, x: Array, xd: Array) -> Array:
        """W x of an across variable (n) and its rate."""
        return self.P @ xd + self.Q @ x

    def through(self, T: Array, Td: Array) -> Operator:
        """T^T W T = (T^T P T) d/dt + T^T (P T' + Q T), for a transformer T (n, k) and its rate."""
        return Operator(T.T @ self.P @ T, T.T @ (self.P @ Td + self.Q @ T))


@dataclass(frozen=True)
class RigidBody:
    """A body of mass [kg] and inertia (3, 3) about its mass centre [kg m^2], with ports at points (3) from that centre
    [m], in the axes of the body. The mass centre is a port by itself, `G`.

    >>> rod = RigidBody("rod", 2.0, np.diag([0.0, 0.02, 0.02]), {"B": [-0.3, 0, 0], "A": [0.3, 0, 0]})
    >>> at_rest = rod.terminal_equations(form="B")
    >>> at_rest.u
    array([ 0.   ,  0.   , 19.62 ,  0.   , -5.886,  0.   ])
    """

    name: str
    mass: Scalar
    inertia: FieldArray
    ports: Mapping[str, ArrayLike] = field(default_factory=dict)

    __repr__ = brief

    def __post_init__(self) -> None:
        if "G" in self.ports:
            raise ModelError(f"body {self.name!r}: the port 'G' is its mass centre; call another port by another name")
        if not self.name or "." in self.name:
            raise ModelError(f"a body is called {self.name!r}: ports are named body.port, a name has no dot")
        inertia = np.asarray(self.inertia)
        if np.asarray(self.mass).dtype != object and inertia.dtype != object:  # symbols of any algebra are as they are
            inertia = Body(self.name, self.mass, np.zeros(3), inertia).inertia
        object.__setattr__(self, "inertia", inertia)
        points = {port: given_array(point, (3,), f"port {port!r} of body {self.name!r}, a point from its centre,")
                  for port, point in self.ports.items()}
        object.__setattr__(self, "ports", points)

    @property
    def terminals(self) -> tuple[str, ...]:
        """All ports, the mass centre last."""
        return (*self.ports, "G")

    def point(self, port: str) -> Array:
        """The place of a port, from the mass centre, in the axes of the body (3)."""
        if port == "G":
            return np.zeros(3)
        if port not in self.ports:
            raise ModelError(f"body {self.name!r} has no port {port!r}{did_you_mean(port, self.terminals)}")
        return np.asarray(self.ports[port])

    def ideal(self) -> RigidBody:
        """The body without mass and inertia: a transformer between its ports, which takes no power. (3)."""
        return replace(self, mass=0.0, inertia=np.zeros((3, 3)))

    def active_part(self, port: str = "G", R: ArrayLike | None = None, w: ArrayLike = (0.0, 0.0, 0.0),
                    gravity: ArrayLike = GRAVITY) -> ActivePart:
        """Inertia and weight as a component of one port, seen from there: y = W x + u. (4)-(7), (49), (50)."""
        return self.terminal_equations(R, w, port, gravity).active

    def terminal_equations(self, R: ArrayLike | None = None, w: ArrayLike = (0.0, 0.0, 0.0), form: str = "G",
                           gravity: ArrayLike = GRAVITY) -> TerminalEquations:
        """The equations of the body whose axes are the columns of R (3, 3) and which turns with w (3) [rad/s], with the
        across variable of the port `form` as the independent one. They are those of a body that turns with this w: they
        take no x of another one."""
        axes = _ONES if R is None else given_rotation(R, f"the axes of body {self.name!r}")
        turning = given_array(w, (3,), f"the angular velocity of body {self.name!r}")
        arms = {port: axes @ self.point(port) for port in self.terminals}
        rates = {port: np.cross(turning, arm) for port, arm in arms.items()}
        J = axes @ self.inertia @ axes.T
        mass = TurningMass(self.mass, J, turning, given_array(gravity, (3,), "gravity"))
        about_centre = TerminalEquations("G", arms, rates, mass.active, mass)
        return about_centre if form == "G" else about_centre.in_form(form)


class ActivePart(NamedTuple):
    """A one-port y = W x + u: its operator, and the driver u (6) of its weight beside it."""

    W: Operator
    u: Array


class TurningMass(NamedTuple):
    """The active part of a body at an instant: its mass, its inertia J (3, 3) about the mass centre and
    its angular velocity w (3), in inertial axes, and gravity (3)."""

    mass: Scalar
    J: Array
    w: Array
    gravity: Array

    @property
    def active(self) -> ActivePart:
        """The active part at the mass centre. (4)."""
        weight = np.concatenate([-self.mass * self.gravity, np.zeros(3)])
        return ActivePart(mass_operator(self.mass, self.J, self.w), weight)


@dataclass(frozen=True)
class TerminalEquations:
    """x_p = K_p^T x_f and y_f = - sum K_p y_p + W x_f + u, for the port f that is the `form` and all others p.

    `arms` and `rates` are the vectors (3) from the form's port to each port and their rates, in inertial axes; `mass`
    is what W and u are made of, for a body that turns with its w."""

    form: str
    arms: Mapping[str, Array]
    rates: Mapping[str, Array]
    active: ActivePart
    mass: TurningMass

    @property
    def W(self) -> Operator:
        return self.active.W

    @property
    def u(self) -> Array:
        return self.active.u

    @property
    def others(self) -> tuple[str, ...]:
        """The ports whose through variables are independent."""
        return tuple(port for port in self.arms if port != self.form)

    def K(self, port: str) -> Array:
        """The transformer (6, 6) of a port."""
        self._check_port(port)
        return port_matrix(self.arms[port])

    def in_form(self, port: str) -> TerminalEquations:
        """The same with the across variable of another port as the independent one: what is active is moved there."""
        self._check_port(port)
        back = -self.arms[port]
        T = port_matrix(back).T  # x of the old form from x of the new one
        moved = ActivePart(self.W.through(T, port_matrix_rate(-self.rates[port]).T), T.T @ self.u)
        return TerminalEquations(port, {p: arm + back for p, arm in self.arms.items()},
                                 {p: rate - self.rates[port] for p, rate in self.rates.items()}, moved, self.mass)

    def _check_port(self, port: str) -> None:
        if port not in self.arms:
            raise ModelError(f"there is no port {port!r}{did_you_mean(port, self.arms)}")

    def _check_turning(self, w: Array) -> None:
        both = np.concatenate([w, self.mass.w])
        if both.dtype == object or not np.any(self.W.P):
            return
        if np.abs(w - self.mass.w).max() > 1e-12 + 1e-9 * np.abs(both).max():
            raise ModelError(f"these equations are those of a body that turns with w = {shown(self.mass.w.tolist())}, "
                             f"and x turns with {shown(w.tolist())}: make them by terminal_equations(w=x[3:])")

    def across(self, port: str, x: Array) -> Array:
        """The across variable (6) of a port, from that of the form's port."""
        return self.K(port).T @ x

    def through(self, x: Array, xd: Array, y: Mapping[str, ArrayLike]) -> Array:
        """The through variable (6) of the form's port, from its across variable, its rate, and what acts at others. An
        x that turns otherwise than the body of these equations is refused: their Q is that of one angular velocity."""
        x = given_array(x, (6,), "the across variable")
        self._check_turning(x[3:])
        found = self.W(x, given_array(xd, (6,), "its rate")) + self.u
        for port, wrench in y.items():
            if port not in self.others:
                raise ModelError(f"the through variable of port {port!r} is no independent one in form {self.form!r}; "
                                 f"those of {', '.join(self.others)} are")
            found = found - self.K(port) @ given_array(wrench, (6,), f"the wrench at port {port!r}")
        return found

    @property
    def hybrid_matrix(self) -> Array:
        """(6k, 6k) of the ideal body: (x_p ...; y_f) from (y_p ...; x_f), of skew structure. (3)."""
        sums = np.concatenate([np.zeros((6, 0)), *[self.K(port) for port in self.others]], axis=1)
        size = sums.shape[1]
        return np.block([[np.zeros((size, size)), sums.T], [-sums, np.zeros((6, 6))]])


def mass_operator(mass: Scalar, J: Array, w: Array) -> Operator:
    """W_G of a mass, its inertia J (3, 3) about the mass centre in inertial axes, and its angular velocity w (3)."""
    P = np.block([[mass * _ONES, _NONE], [_NONE, J]])
    return Operator(P, np.block([[_NONE, _NONE], [_NONE, skew(w) @ J]]))


def port_matrix(arm: Array) -> Array:
    """K (6, 6) of the vector (3) from the mass centre to a port; K(-arm) is its inverse."""
    return force_transform(_ONES, arm)


def port_matrix_rate(rate: Array) -> Array:
    """The rate (6, 6) of K, from that of its vector."""
    return np.block([[_NONE, _NONE], [skew(rate), _NONE]])
