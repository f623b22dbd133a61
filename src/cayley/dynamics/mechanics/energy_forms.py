"""Equations of motion by derivatives of one scalar function, besides Lagrange's.

    Nielsen        dL'/dqd - 2 dL/dq = Q                  L' the rate of L
    Tzenov         (dL''/dqdd - 3 dL/dq) / 2 = Q          L'' the rate of L'; the jerk in it has no share
    Gibbs-Appell   dS/dqdd = Q                            S = 1/2 sum m a.a, half the masses times squared accelerations
The first two hold for every L(q, qd, t), as dL'/dqd = dL/dq + d/dt dL/dqd and dL''/dqdd = dL/dq + 2 d/dt dL/dqd. The
third needs no coordinates whose rates the velocities are: with the motions qd(q, pid), qdd(q, pid, pidd) that
constraints on velocities allow it is dS/dpidd = P, P the forces along the pseudo-velocities, and no reactions appear.
Source: named in Mladenova 3.2, after (125); spec S0-84.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError

Motion = Callable[[Any, Any, Any], tuple[Any, Any]]


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


def gibbs_appell(acceleration_energy: Function, potential: Function | None = None, *, motion: Motion | None = None,
                 name: str = "gibbs_appell") -> Kernel:
    """`(q, qd, qdd)` -> the forces (..., n) that a motion needs, by S(q, qd, qdd) [kg m^2/s^4] and the potential energy
    U(q) [J]: dS/dqdd + dU/dq.

    With `motion(q, pid, pidd) -> (qd, qdd)`, the motions that constraints on velocities allow, it is `(q, pid, pidd)`
    -> the forces (..., m) along the pseudo-velocities.

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
    """Whether a function of `count` arrays takes the time after them."""
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
