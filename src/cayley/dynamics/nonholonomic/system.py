"""A system with constraints on velocities, by its energies and a moving frame; and Routh's equations of it.

    d/dt dL/dqd - dL/dq = Q + tau + A2^T Lambda,   A2 qd = 0          Routh, with multipliers
The other forms are in modules of their own, and are reached from here by name. Source: Mladenova (217).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Result
from cayley.dynamics.mechanics.constrained import augmented
from cayley.dynamics.mechanics.lagrange import Function, LagrangeSystem, Terms, lagrange_system
from cayley.dynamics.nonholonomic.moving_frame import Forms, MovingFrame
from cayley.errors import ConventionError, SignatureError, SingularityError, UnsupportedError
from cayley.wording import shown

if TYPE_CHECKING:
    from cayley.dynamics.nonholonomic.descriptor_form import Descriptor
    from cayley.dynamics.nonholonomic.hamel import HamelForces, HamelMotion
    from cayley.dynamics.nonholonomic.matrix_form import MatrixForm
    from cayley.dynamics.nonholonomic.printed_equations import HamelEquations


class RouthMotion(NamedTuple):
    """Accelerations (n), and multipliers (r): the constraints push with A2^T Lambda."""

    qdd: Array
    Lambda: Array


@dataclass(frozen=True, eq=False)
class NonholonomicSystem:
    """Made by `nonholonomic_system`, or of a mechanism by `nonholonomic_model`. Its kernels are of the configuration q
    (n), of velocities qd (n) that the constraints allow or of pseudo-velocities pid (m), and of forces tau (n) besides
    those that it has itself.
    """

    mechanics: LagrangeSystem
    frame: MovingFrame

    def __post_init__(self) -> None:
        own = self.mechanics
        if own.rheonomic or own.constraints is not None or own.dissipation is not None:
            raise UnsupportedError(
                f"{own.name} depends on time, or has holonomic constraints or a function of dissipation: give "
                "constraints as rows of the frame and dissipation as forces")

    def terms_at(self, q: Array, qd: Array) -> Terms:
        """M and the bias of M qdd + bias = tau + A2^T Lambda."""
        return Terms(self.mechanics.inertia_matrix(q, qd), self.mechanics.bias(q, qd))

    def constraint_rows(self, q: Array) -> Array:
        """A2 (r, n): the text."""
        return self.frame.matrix(q)[len(q) - self.frame.count(q):]

    def drifts(self, q: Array, qd: Array) -> Array:
        """The rate of A, times qd (n), of pseudo-velocities and constraints: the text."""
        A = self.frame.matrix(q)
        return (jacobian(A, q) @ qd) @ qd

    @cached_property
    def routh(self) -> Kernel[RouthMotion]:
        """`(q, qd, tau)` -> qdd (..., n), Lambda (..., r), by the multipliers."""
        def text(q: Array, qd: Array, tau: Array) -> RouthMotion:
            M, bias = self.terms_at(q, qd)
            A2 = self.constraint_rows(q)
            found = augmented(M, tau - bias, A2, self.drifts(q, qd)[len(q) - len(A2):])
            return RouthMotion(found.qdd, -found.lam)

        return self.kernel("(n),(n),(n)->(n),(r)", text, "routh", ("q", "qd", "tau"), RouthMotion._fields)

    @cached_property
    def hamel_forces(self) -> Kernel[HamelForces]:
        """`(q, pid, pidd)` -> forces (..., m) that the motion needs along the pseudo-velocities, and reactions (...,
        r), by Hamel's equations."""
        from cayley.dynamics.nonholonomic.hamel import hamel_forces
        return hamel_forces(self)

    @cached_property
    def hamel(self) -> Kernel[HamelMotion]:
        """`(q, pid, tau)` -> pidd (..., m), and reactions (..., r), by Hamel's equations."""
        from cayley.dynamics.nonholonomic.hamel import hamel_motion
        return hamel_motion(self)

    @cached_property
    def matrix_form(self) -> Kernel[MatrixForm]:
        """`(q, pid, tau)` -> pidd (..., m), qdd (..., n), Lambda (..., r), reactions (..., n)."""
        from cayley.dynamics.nonholonomic.matrix_form import matrix_form_kernel
        return matrix_form_kernel(self)

    @cached_property
    def descriptor_form(self) -> Kernel[Descriptor]:
        """`(q, pid, Lambda, tau)` -> E (..., 2n, 2n), right (..., 2n): E x' = right, x = (q, pid, Lambda)."""
        from cayley.dynamics.nonholonomic.descriptor_form import descriptor_kernel
        return descriptor_kernel(self)

    def equations(self, coordinates: Sequence[str], rates: Sequence[str]) -> HamelEquations:
        """Hamel's equations by SymPy, with names for the coordinates (n) and the pseudo-velocities (m): those of the
        motion, and of the reactions R1, R2, ... Forces are tau_<coordinate>; a rate has a dash after its name.

        >>> sled = nonholonomic_system(lambda q, qd: (qd @ qd) / 2, independent=[0],
        ...                            constraints=lambda q: [[-q[0], 1.0]])
        >>> print(sled.equations(["x", "y"], ["v"]))
        v**2*x + v'*(x**2 + 1) = tau_x + tau_y*x
        R1 = ...
        """
        from cayley.dynamics.nonholonomic.printed_equations import hamel_equations
        return hamel_equations(self, coordinates, rates)

    def kernel(self, signature: str, text: Callable[..., Result], name: str, inputs: Sequence[str],
               outputs: Sequence[str]) -> Kernel[Result]:
        def checked(q: Array, rates: Array, *others: Array) -> Result:
            m = len(q) - self.frame.count(q)
            if inputs[1] == "pid" and len(rates) != m:
                raise SignatureError(f"{self.mechanics.name} has {m} pseudo-velocities, and {name} is given "
                                     f"{len(rates)}")
            return text(q, rates, *others)

        return kernel(signature, name=name, inputs=inputs, outputs=outputs, explain=self._explain)(checked)

    def _explain(self, *state: Array) -> None:
        raise SingularityError(
            f"{self.mechanics.name} has no accelerations at this state: its constraints or pseudo-velocities depend on "
            "each other there, or a motion that they allow has no inertia")


def nonholonomic_system(kinetic: Function, potential: Function | None = None, *, constraints: Forms,
                        pseudo_velocities: Forms | None = None, independent: Sequence[int] | None = None,
                        forces: Function | None = None, name: str = "system") -> NonholonomicSystem:
    """A system by its kinetic energy K(q, qd) and its potential energy U(q) [J], and the rows A2(q) (r, n) of its
    constraints A2 qd = 0. The pseudo-velocities are A1(q) qd, or the rates of the coordinates at the places
    `independent`. `forces(q, qd)` (n) act on it.

    >>> sleigh = nonholonomic_system(  # contact x, y and angle; the mass centre is 0.3 ahead
    ...     lambda q, qd: ((qd[0] - 0.3 * qd[2] * np.sin(q[2]))**2 + (qd[1] + 0.3 * qd[2] * np.cos(q[2]))**2
    ...                    + 0.25 * qd[2]**2),
    ...     constraints=lambda q: [[-np.sin(q[2]), np.cos(q[2]), 0.0]],
    ...     pseudo_velocities=lambda q: [[np.cos(q[2]), np.sin(q[2]), 0.0], [0.0, 0.0, 1.0]])
    >>> sleigh.hamel([0.0, 0.0, 0.7], [0.2, 1.5], np.zeros(3)).pidd.round(6)
    array([ 0.675   , -0.264706])
    """
    if (pseudo_velocities is None) == (independent is None):
        raise ConventionError(
            "say which pseudo-velocities there are: pseudo_velocities=lambda q: [[...], ...], or the places of "
            "coordinates whose rates they are, independent=[...]")
    first: Forms = pseudo_velocities or (lambda q: _rates_at(independent or (), len(q), name))
    mechanics = lagrange_system(kinetic, potential, forces=forces, name=name)
    return NonholonomicSystem(mechanics, MovingFrame(first, constraints, name))


def _rates_at(independent: Sequence[int], n: int, name: str) -> Array:
    """Rows (m, n) that are the rates of coordinates."""
    are_places = all(isinstance(k, int | np.integer) and -n <= k < n for k in independent)
    if not are_places or len({int(k) % n for k in independent}) < len(independent):
        raise ConventionError(f"independent= are places of different coordinates of {name}, from 0 to {n - 1}, not "
                              f"{shown(independent)}")
    return np.eye(n)[list(independent)]
