"""A system with constraints on velocities, by its energies and a moving frame, and its equations in several forms.

    d/dt dL/dqd - dL/dq = Q + tau + A2^T Lambda,   A2 qd = 0          Routh, with multipliers: Mladenova (217)
Hamel's equations in pseudo-velocities, (224)-(236), the sign of the reactions as in spec E-41a:

    L*(q, pid) = L(q, B pid)                  all n pseudo-velocities in it: those of constraints are put to zero last
    B_k = d/dt dL*/dpid_k - dL*/dpi_k + sum_ij gamma_kij dL*/dpid_i pid_j,      dL*/dpi_k = sum_s b_sk dL*/dq_s
    B_k = P_k   for the pseudo-velocities,    P_k = sum_s (Q_s + tau_s) b_sk
    R_k = B_k - P_k   for the constraints     the reaction, which is Routh's multiplier Lambda_k
The same as matrices, from Lagrange's equations H qdd + h = Q + tau + A2^T Lambda, (237)-(250), spec E-41d:

    A = (A1; A2), B = A^-1 = (B1, B2)                 qd = B1 pid,   qdd = B1 pidd - (B1 A1' + B2 A2') B1 pid
    pidd = (B1^T H B1)^-1 B1^T (H (B1 A1' + B2 A2') B1 pid + Q - h)
    Lambda = B2^T (H qdd + h - Q),  D = A2^T Lambda   multipliers, and the reactions of the constraints
The descriptor form, one implicit system of index one for x = (q, pid, Lambda) (2n), (255), spec E-41c:

    (1  0     0)          (B1 pid                             )
    (0  H B1  0) x'   =   (A2^T Lambda + Q - h - H B1' pid    ),     B1' pid = - (B1 A1' + B2 A2') B1 pid"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array, Result
from cayley.dynamics.mechanics.constrained import augmented
from cayley.dynamics.mechanics.lagrange import Function, LagrangeSystem, Terms, lagrange_system
from cayley.dynamics.nonholonomic.moving_frame import Forms, MovingFrame
from cayley.errors import ConventionError, SignatureError, SingularityError, UnsupportedError, shown

if TYPE_CHECKING:
    from cayley.dynamics.nonholonomic.printed_equations import HamelEquations


class RouthMotion(NamedTuple):
    """Accelerations (n), and multipliers (r): the constraints push with A2^T Lambda."""

    qdd: Array
    Lambda: Array


class HamelForces(NamedTuple):
    """Forces (m) along the pseudo-velocities, and reactions (r) if nothing acts along the constraints."""

    forces: Array
    reactions: Array


class HamelMotion(NamedTuple):
    """Accelerations (m), rates of the pseudo-velocities, and reactions (r)."""

    pidd: Array
    reactions: Array


class MatrixForm(NamedTuple):
    """Rates of the pseudo-velocities (m), accelerations (n), multipliers (r), and reactions (n) as joint forces."""

    pidd: Array
    qdd: Array
    Lambda: Array
    reactions: Array


class Descriptor(NamedTuple):
    """E x' = right for x = (q, pid, Lambda) (2n), and the regular matrix (n, n) that pidd and Lambda follow from:
    pencil (pidd; Lambda) is the lower half of `right` at Lambda = 0."""

    E: Array
    right: Array
    pencil: Array


class _Sides(NamedTuple):
    """B = M* pidd + bias and P, for all n pseudo-velocities."""

    M: Array
    bias: Array
    P: Array


@dataclass(frozen=True, eq=False)
class NonholonomicSystem:
    """Made by `nonholonomic_system`, or of a mechanism by `nonholonomic_model`. Its kernels are of the configuration q
    (n), of velocities qd (n) that the constraints allow or of pseudo-velocities pid (m), and of forces tau (n) besides
    those that it has itself."""

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
        def text(q: Array, pid: Array, pidd: Array) -> HamelForces:
            m = len(pid)
            sides = self._sides(q, pid, np.zeros(len(q)))
            needed = sides.M[:, :m] @ pidd + sides.bias - sides.P
            return HamelForces(needed[:m], needed[m:])

        return self.kernel("(n),(m),(m)->(m),(r)", text, "hamel_forces", ("q", "pid", "pidd"), HamelForces._fields)

    @cached_property
    def hamel(self) -> Kernel[HamelMotion]:
        """`(q, pid, tau)` -> pidd (..., m), and reactions (..., r), by Hamel's equations."""
        def text(q: Array, pid: Array, tau: Array) -> HamelMotion:
            m = len(pid)
            sides = self._sides(q, pid, tau)
            pidd = ldl_solve(sides.M[:m, :m], (sides.P - sides.bias)[:m])
            return HamelMotion(pidd, (sides.M[:, :m] @ pidd + sides.bias - sides.P)[m:])

        return self.kernel("(n),(m),(n)->(m),(r)", text, "hamel", ("q", "pid", "tau"), HamelMotion._fields)

    def _sides(self, q: Array, pid: Array, tau: Array) -> _Sides:
        """At a motion that the constraints allow: their rates are put to zero after all is differentiated."""
        sides = kernel("(n),(n),(n)->(n,n),(n),(n)", name="hamel_sides", inputs=("q", "rates", "tau"))(
            self._sides_of_all)
        return _Sides(*sides(q, np.concatenate([pid, np.zeros(len(q) - len(pid))]), tau))

    def _sides_of_all(self, q: Array, rates: Array, tau: Array) -> _Sides:
        B = self.frame.inverse(q)
        qd = B @ rates
        L = self.mechanics.lagrangian(q, qd, None)
        momenta = jacobian(L, rates)
        around = np.stack([momenta @ (gamma @ rates) for gamma in self.frame.coefficients(q)])
        bias = jacobian(momenta, q) @ qd - B.T @ jacobian(L, q) + around
        applied = tau if self.mechanics.forces is None else tau + np.stack(list(self.mechanics.forces(q, qd, None)))
        return _Sides(jacobian(momenta, rates), bias, B.T @ applied)

    @cached_property
    def matrix_form(self) -> Kernel[MatrixForm]:
        """`(q, pid, tau)` -> pidd (..., m), qdd (..., n), Lambda (..., r), reactions (..., n)."""
        def text(q: Array, pid: Array, tau: Array) -> MatrixForm:
            m = len(pid)
            B = self.frame.inverse(q)
            B1 = B[:, :m]
            qd = B1 @ pid
            H, h = self.terms_at(q, qd)
            drift = self.drifts(q, qd)
            carried = B1 @ drift[:m] + B[:, m:] @ drift[m:]
            inertia = B1.T @ H @ B1
            pidd = only_where(is_definite(inertia), ldl_solve(inertia, B1.T @ (H @ carried + tau - h)))
            qdd = B1 @ pidd - carried
            Lambda = B[:, m:].T @ (H @ qdd - (tau - h))
            return MatrixForm(pidd, qdd, Lambda, self.constraint_rows(q).T @ Lambda)

        return self.kernel("(n),(m),(n)->(m),(n),(r),(n)", text, "matrix_form", ("q", "pid", "tau"),
                           MatrixForm._fields)

    @cached_property
    def descriptor_form(self) -> Kernel[Descriptor]:
        """`(q, pid, Lambda, tau)` -> E (..., 2n, 2n), right (..., 2n): E x' = right, x = (q, pid, Lambda)."""
        def text(q: Array, pid: Array, Lambda: Array, tau: Array) -> Descriptor:
            n, m = len(q), len(pid)
            B = self.frame.inverse(q)
            B1 = B[:, :m]
            qd = B1 @ pid
            H, h = self.terms_at(q, qd)
            A2 = self.constraint_rows(q)
            carried = B @ self.drifts(q, qd)
            E = np.concatenate([np.eye(n, 2 * n),
                                np.concatenate([np.zeros((n, n)), H @ B1, np.zeros((n, n - m))], axis=1)])
            right = np.concatenate([qd, A2.T @ Lambda + tau - h + H @ carried])
            return Descriptor(E, right, np.concatenate([H @ B1, -A2.T], axis=1))

        return self.kernel("(n),(m),(r),(n)->(k,k),(k),(n,n)", text, "descriptor_form", ("q", "pid", "Lambda", "tau"),
                           Descriptor._fields)

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
    are_places = all(isinstance(k, int | np.integer) and -n <= k < n for k in independent)
    if not are_places or len({int(k) % n for k in independent}) < len(independent):
        raise ConventionError(f"independent= must be places of different coordinates of {name}, from 0 to {n - 1}, not "
                              f"{shown(independent)}")
    return np.eye(n)[list(independent)]
