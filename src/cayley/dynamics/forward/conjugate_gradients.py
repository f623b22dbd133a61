"""Forward dynamics of trees with joints of every kind by conjugate gradients: the inertia matrix is never formed.

    D p      one inverse dynamics without velocities and gravity, for the accelerations p
    x, r, p  accelerations so far, what is left of the forces, and the direction of the next step
In exact arithmetic the residual vanishes after n steps, if n is the number of velocities; in floating point up to half
as many again may be needed, and more where masses differ widely. The text takes a fixed number of steps; `solve` looks
at the residual. Source: Walker & Orin 1982, method 4; Balafoutis & Patel, section 6.2; steps above n as in spec E-35;
spec R4.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.forward.bias import bias_forces
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.links import Links
from cayley.showing import brief

_LEFT = 1e-9  # of the forces: more is no solution


class Step(NamedTuple):
    """Where the iteration stands."""

    x: Scalar
    r: Scalar
    p: Scalar


@dataclass(frozen=True)
class Accelerations:
    """What `solve` found."""

    qdd: Array
    converged: bool
    iterations: int
    residual: float
    """What is left of the forces tau - b, relative to them."""
    reason: str

    __repr__ = brief


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
                     steps: int | None = None) -> Array:
    """The accelerations (nv) that the forces `tau` give at the state (`q`, `qd`), after a fixed number of steps: 2 nv,
    if not given.

    `rotors`: inertia (nv) of the drives beside the links'. Where forces are left after 2 nv steps, as where the inertia
    matrix is singular, the accelerations are not finite.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> forward_dynamics(serial_chain(load_robot("s1_g1")), np.array([0.3, -0.7]), np.array([0.5, 1.2]),
    ...                  np.zeros(2)).round(9)
    array([-11.73425172,  11.94176239])
    """
    forces = tau - bias_forces(links, q, qd)
    state = Step(np.zeros(links.nv), forces, forces)
    for _ in range(2 * links.nv if steps is None else steps):
        state = _next(inertia_times(links, q, rotors), state)
    if steps is not None:
        return state.x
    reached = state.r @ state.r <= _LEFT**2 * (forces @ forces)
    return state.x / where(reached, 1.0, 0.0)


def solve(links: Links, q: Array, qd: Array, tau: ArrayLike, *, rotors: Array | float = 0.0,
          guess: ArrayLike | None = None, tolerance: float = 1e-12,
          most_iterations: int | None = None) -> Accelerations:
    """The same for one state of numbers, from a `guess` (such as the accelerations of the time step before) until the
    residual is below `tolerance` times the forces tau - b, or for `most_iterations` (3 nv, if not given)."""
    forces = np.asarray(tau - bias_forces(links, q, qd), dtype=float)
    times = inertia_times(links, q, rotors)
    size = float(np.linalg.norm(forces))
    start = np.zeros(links.nv) if guess is None else np.asarray(guess, dtype=float)
    left = forces - times(start)
    state = Step(start, left, left)
    done = 0
    limit = 3 * links.nv if most_iterations is None else most_iterations
    while not np.linalg.norm(state.r) <= tolerance * size and done < limit:
        state = _next(times, state)
        done = done + 1
    residual = float(np.linalg.norm(forces - times(state.x))) / (size or 1.0)
    converged = residual <= 10 * tolerance
    reason = ("the residual is below the tolerance" if converged
              else f"{done} iterations were not enough: the residual is {residual:.2g}")
    return Accelerations(state.x, converged, done, residual, reason)


def inertia_times(links: Links, q: Array, rotors: Array | float = 0.0) -> Callable[[Any], Any]:
    """p -> D p, by inverse dynamics."""
    floating = replace(links, gravity=np.zeros(3))
    rest = np.zeros(links.nv)
    return lambda p: inverse_dynamics(floating, q, rest, p) + rotors * p


def _next(times: Callable[[Any], Any], state: Step) -> Step:
    x, r, p = state
    Dp = times(p)
    a = _ratio(r @ r, p @ Dp)
    left = r - a * Dp
    return Step(x + a * p, left, left + _ratio(left @ left, r @ r) * p)


def _ratio(a: Scalar, b: Scalar) -> float:
    """a / b; nothing where nothing is left to do, b being zero."""
    return where(b > 0, a, 0.0) / where(b > 0, b, 1.0)
