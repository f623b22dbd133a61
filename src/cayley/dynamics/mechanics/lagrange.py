"""Lagrange's equations of any system: you write its energies, the equations of motion come out as kernels.

    q, qd, qdd   generalised coordinates, their rates and accelerations (n)        t   time, if the system depends on it
    L = K - U    Lagrangian         p = dL/dqd   momenta         Q   applied forces         R   dissipation (Rayleigh)
    phi          holonomic constraints (h), phi(q, t) = 0, with A = dphi/dq and multipliers lam

    Lagrange       d/dt (dL/dqd) - dL/dq + dR/dqd + A^T lam = Q + tau
    Nielsen        dL'/dqd - 2 dL/dq = Q                  L' the rate of L
    Tzenov         (dL''/dqdd - 3 dL/dq) / 2 = Q          L'' the rate of L'; the jerk in it has no share
    Gibbs-Appell   dS/dqdd = Q                            S = 1/2 sum m a.a, half the masses times squared accelerations
A system is rheonomic if one of its functions takes t: then the kernels take t as their last argument. Q are the
coefficients of virtual displacements, at frozen time. Gibbs-Appell holds for pseudo-velocities too: dS/dpidd = P along
the motions that constraints on velocities allow. Sources: Ruggiu (3.40)-(3.50); Yamamoto (3.1), (3.2), (G.1)-(G.12),
corrected as in spec E3-43; Mladenova 3.2, after (125), spec S0-84."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError, SingularityError, UnsupportedError

Moved = Callable[[Any, Any, Any], tuple[Any, Any]]


def nielsen_forces(lagrangian: Function, q: Array, qd: Array, qdd: Array, t: Scalar = None) -> Array:
    """dL'/dqd - 2 dL/dq (n) of L(q, qd, t), inside a trace, in which all of these are variables."""
    L = lagrangian(q, qd, t)
    return jacobian(_rate(L, q, qd, qdd, t), qd) - 2 * jacobian(L, q)


def tzenov_forces(lagrangian: Function, q: Array, qd: Array, qdd: Array, t: Scalar = None) -> Array:
    """(dL''/dqdd - 3 dL/dq) / 2 (n) of L(q, qd, t), inside a trace."""
    L = lagrangian(q, qd, t)
    second = _rate(_rate(L, q, qd, qdd, t), q, qd, qdd, t)
    return (jacobian(second, qdd) - 3 * jacobian(L, q)) / 2


def gibbs_appell_forces(acceleration_energy: Function, q: Array, qd: Array, qdd: Array) -> Array:
    """dS/dqdd (n) of S(q, qd, qdd), inside a trace."""
    return jacobian(acceleration_energy(q, qd, qdd), qdd)


def gibbs_appell(acceleration_energy: Function, potential: Function | None = None, *, motion: Moved | None = None,
                 name: str = "gibbs_appell") -> Kernel:
    """`(q, qd, qdd)` -> the forces (..., n) that a motion needs, by S(q, qd, qdd) [kg m^2/s^4] and the potential energy
    U(q) [J]: dS/dqdd + dU/dq. With `motion(q, pid, pidd) -> (qd, qdd)`, the motions that constraints on velocities
    allow, it is `(q, pid, pidd)` -> the forces (..., m) along the pseudo-velocities.

    >>> pendulum = gibbs_appell(lambda q, qd, qdd: (qdd[0]**2 + qd[0]**4) / 2, lambda q: -9.81 * np.cos(q[0]))
    >>> pendulum([np.pi / 2], [0.0], [1.0])
    array([10.81])
    """
    def of_coordinates(q: Array, qd: Array, qdd: Array) -> Array:
        return gibbs_appell_forces(acceleration_energy, q, qd, qdd) + _slopes(potential, q)

    def of_pseudo_velocities(q: Array, pid: Array, pidd: Array) -> Array:
        assert motion is not None
        qd, qdd = motion(q, pid, pidd)
        along = jacobian(np.stack(list(qd)), pid)
        return jacobian(acceleration_energy(q, qd, qdd), pidd) + along.T @ _slopes(potential, q)

    if motion is None:
        return kernel("(n),(n),(n)->(n)", name=name, inputs=("q", "qd", "qdd"))(of_coordinates)
    return kernel("(n),(m),(m)->(m)", name=name, inputs=("q", "pid", "pidd"))(of_pseudo_velocities)


def _rate(value: Scalar, q: Array, qd: Array, qdd: Array, t: Scalar) -> Scalar:
    """The rate of a function of (q, qd, qdd, t), without what the jerk adds."""
    return jacobian(value, q) @ qd + jacobian(value, qd) @ qdd + by_time(value, t)


def _slopes(potential: Function | None, q: Array) -> Array:
    return np.zeros(len(q)) if potential is None else jacobian(potential(q), q)


Function = Callable[..., Any]


def takes_time(function: Function, count: int) -> bool:
    """True if a function of `count` arrays takes the time after them."""
    parameters = inspect.signature(function).parameters.values()
    required = [
        p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(required) not in (count, count + 1):
        raise SignatureError(
            f"{getattr(function, '__name__', 'a function')} takes {len(required)} arguments: write it as a function of "
            f"{count} arrays, and of t after them if it depends on time")
    return len(required) == count + 1


def timed(function: Function, count: int) -> Function:
    """The function as one that takes t in any case."""
    return function if takes_time(function, count) else lambda *arguments: function(*arguments[:-1])


def optional(function: Function | None, count: int) -> Function | None:
    return None if function is None else timed(function, count)


def by_time(values: Array, t: Scalar) -> Array:
    """The partial derivatives by time; of a system without time, zero."""
    return np.zeros(np.shape(values)) if t is None else jacobian(values, t)


def timed_kernel(shapes: str, out: str, text: Function, name: str, inputs: Sequence[str], rheonomic: bool,
                 explain: Function | None = None) -> Kernel:
    """The kernel of a text that takes t last: with the time as its last input, or without it."""
    if rheonomic:
        return kernel(f"{shapes},()->{out}", name=name, inputs=[*inputs, "t"], explain=explain)(text)
    return kernel(f"{shapes}->{out}", name=name, inputs=list(inputs),
                  explain=explain)(lambda *arguments: text(*arguments, None))


def lagrange_system(kinetic: Function, potential: Function | None = None, *, forces: Function | None = None,
                    dissipation: Function | None = None, constraints: Function | None = None,
                    name: str = "system") -> LagrangeSystem:
    """A system by its kinetic energy K(q, qd) and its potential energy U(q) [J], or by its whole Lagrangian in place of
    K.

    `forces(q, qd)` (n): generalised forces that act on it; `dissipation(q, qd)`: Rayleigh's function [W];
    `constraints(q)` (h): zero when they hold. Each is written for one state with NumPy's functions, and takes t as one
    more argument if it depends on time.

    >>> pendulum = lagrange_system(lambda q, qd: qd[0] ** 2 / 2, lambda q: -9.81 * np.cos(q[0]))
    >>> pendulum.generalized_forces([np.pi / 2], [0.0], [1.0])
    array([10.81])
    """
    K = timed(kinetic, 2)
    U = optional(potential, 1)
    given = ((kinetic, 2), (potential, 1), (forces, 2), (dissipation, 2), (constraints, 1))
    return LagrangeSystem(lagrangian=lambda q, qd, t: K(q, qd, t) if U is None else K(q, qd, t) - U(q, t),
                          rheonomic=any(takes_time(function, count) for function, count in given if function),
                          forces=optional(forces, 2), dissipation=optional(dissipation,
                                                                           2), constraints=optional(constraints,
                                                                                                    1), name=name)


class Terms(NamedTuple):
    """M qdd + bias = tau."""

    M: Array
    bias: Array


class Accelerations(NamedTuple):
    """Accelerations, and multipliers of the constraints."""

    qdd: Array
    lam: Array


@dataclass(frozen=True, eq=False)
class LagrangeSystem(HoldsFunctions):
    """Made by `lagrange_system`. Its functions all take t last; its kernels take t last if the system is rheonomic.

    >>> bead = lagrange_system(lambda q, qd, t: (qd[0] ** 2 + (3.0 * np.sin(q[0])) ** 2) / 2 + 9.81 * np.cos(q[0]))
    >>> bead.rheonomic, bead.generalized_forces([0.5], [0.0], [1.0], 0.0).round(6)
    (True, array([1.916545]))
    """

    lagrangian: Function
    rheonomic: bool
    forces: Function | None = None
    dissipation: Function | None = None
    constraints: Function | None = None
    name: str = "system"

    @cached_property
    def generalized_forces(self) -> Kernel:
        """`(q, qd, qdd)` -> tau (..., n): the forces besides the applied ones; with those of constraints."""
        def text(q: Array, qd: Array, qdd: Array, t: Scalar) -> Array:
            M, bias = self._terms(q, qd, t)
            return M @ qdd + bias
        return self._kernel("generalized_forces", ("q", "qd", "qdd"), "(n)", text)

    @cached_property
    def nielsen(self) -> Kernel:
        """`(q, qd, qdd)` -> tau (..., n), as `generalized_forces`, by Nielsen's equations: dL'/dqd - 2 dL/dq."""
        return self._by_form("nielsen", nielsen_forces)

    @cached_property
    def tzenov(self) -> Kernel:
        """`(q, qd, qdd)` -> tau (..., n), as `generalized_forces`, by Tzenov's: (dL''/dqdd - 3 dL/dq) / 2."""
        return self._by_form("tzenov", tzenov_forces)

    @cached_property
    def inertia_matrix(self) -> Kernel:
        """`(q, qd)` -> M (..., n, n) = d2L/dqd2."""
        return self._kernel("inertia_matrix", ("q", "qd"), "(n,n)", lambda q, qd, t: self._terms(q, qd, t).M)

    @cached_property
    def bias(self) -> Kernel:
        """`(q, qd)` -> the generalised forces (..., n) at qdd = 0: M qdd + bias = tau."""
        return self._kernel("bias", ("q", "qd"), "(n)", lambda q, qd, t: self._terms(q, qd, t).bias)

    @cached_property
    def momenta(self) -> Kernel:
        """`(q, qd)` -> p (..., n) = dL/dqd."""
        return self._kernel("momenta", ("q", "qd"), "(n)", lambda q, qd, t: jacobian(self.lagrangian(q, qd, t), qd))

    @cached_property
    def energy_function(self) -> Kernel:
        """`(q, qd)` -> p.qd - L [J]: K + U if scleronomic; constant if L has no t and no forces do work."""
        def text(q: Array, qd: Array, t: Scalar) -> Array:
            L = self.lagrangian(q, qd, t)
            return jacobian(L, qd) @ qd - L
        return self._kernel("energy_function", ("q", "qd"), "()", text)

    @cached_property
    def accelerations(self) -> Kernel:
        """`(q, qd, tau)` -> qdd (..., n); NaN, `SingularityError` for one state, where M or A M^-1 A^T is singular."""
        return self._kernel("accelerations", ("q", "qd", "tau"), "(n)",
                            lambda q, qd, tau, t: self._motion(q, qd, tau, t).qdd, self._explain)

    @cached_property
    def multipliers(self) -> Kernel:
        """`(q, qd, tau)` -> lam (..., h): the constraints push with the generalised forces - A^T lam."""
        self._check_constrained()
        return self._kernel("multipliers", ("q", "qd", "tau"), "(h)",
                            lambda q, qd, tau, t: self._motion(q, qd, tau, t).lam, self._explain)

    @cached_property
    def constraint_jacobian(self) -> Kernel:
        """`(q)` -> A (..., h, n)."""
        self._check_constrained()
        return self._kernel("constraint_jacobian", ("q",), "(h,n)", lambda q, t: jacobian(self._phi(q, t), q))

    def degrees_of_freedom(self, q: Sequence[float] | Array, t: float = 0.0) -> int:
        """Coordinates less independent constraints, near a configuration: n - rank A.

        >>> circle = lagrange_system(lambda x, xd: xd @ xd / 2, constraints=lambda x: [x @ x - 1, 2 * (x @ x) - 2])
        >>> circle.degrees_of_freedom([0.6, 0.8])
        1
        """
        if self.constraints is None:
            return len(q)
        # (G.2)
        return len(q) - int(relative_rank(self.constraint_jacobian(q, *([t] if self.rheonomic else []))))

    def _terms(self, q: Array, qd: Array, t: Scalar) -> Terms:
        L = self.lagrangian(q, qd, t)
        p = jacobian(L, qd)                                                             # (3.50)
        bias = jacobian(p, q) @ qd + by_time(p, t) - jacobian(L, q)                     # (3.50)
        return Terms(jacobian(p, qd), self._less_applied(bias, q, qd, t))

    def _less_applied(self, needed: Array, q: Array, qd: Array, t: Scalar) -> Array:
        """The residual of the forces that a motion needs, with those of dissipation, when the applied ones act."""
        if self.dissipation is not None:
            needed = needed + jacobian(self.dissipation(q, qd, t), qd)
        if self.forces is None:
            return needed
        applied = np.stack(list(self.forces(q, qd, t)))
        if applied.shape != needed.shape:
            raise SignatureError(f"the forces of {self.name} have the shape {applied.shape}: there is one for each of "
                                 f"the {len(q)} coordinates")
        return needed - applied

    def _by_form(self, name: str, form: Function) -> Kernel:
        def text(q: Array, qd: Array, qdd: Array, t: Scalar) -> Array:
            return self._less_applied(form(self.lagrangian, q, qd, qdd, t), q, qd, t)

        return self._kernel(name, ("q", "qd", "qdd"), "(n)", text)

    def _motion(self, q: Array, qd: Array, tau: Array, t: Scalar) -> Accelerations:
        M, bias = self._terms(q, qd, t)
        free = only_where(is_definite(M), ldl_solve(M, tau - bias))
        if self.constraints is None:
            return Accelerations(free, np.zeros(0))
        phi = self._phi(q, t)
        A = jacobian(phi, q)
        rate = A @ qd + by_time(phi, t)
        change = jacobian(rate, q) @ qd + by_time(rate, t)
        yielded = ldl_solve(M, A.T)
        lam = only_where(is_definite(A @ yielded), ldl_solve(A @ yielded, A @ free + change))
        return Accelerations(free - yielded @ lam, lam)

    def _phi(self, q: Array, t: Scalar) -> Array:
        return np.stack(list(self.constraints(q, t)))  # type: ignore[misc]

    def _check_constrained(self) -> None:
        if self.constraints is None:
            raise UnsupportedError(
                f"{self.name} has no constraints: give them when you make the system, constraints=lambda q: [...]")

    def _explain(self, *state: Array) -> None:
        raise SingularityError(
            f"{self.name} has no accelerations at this state: its inertia matrix d2L/dqd2 is not positive definite, or "
            "its constraints depend on one another")

    def _kernel(self, name: str, arrays: Sequence[str], out: str, text: Function,
                explain: Function | None = None) -> Kernel:
        return timed_kernel(",".join(["(n)"] * len(arrays)), out, text, name, arrays, self.rheonomic, explain)
