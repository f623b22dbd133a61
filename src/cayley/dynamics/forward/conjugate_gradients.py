"""Forward dynamics of trees with joints of every kind by conjugate gradients: the inertia matrix is never formed.

    D p      one inverse dynamics without velocities and gravity, for the accelerations p
    x, r, p  accelerations so far, what is left of the forces, and the direction of the next step
In exact arithmetic the residual vanishes after n steps, if n is the number of velocities. In floating point the
published recursion, which makes a direction conjugate to the one before it, needs up to 3 n and loses digits where
joints are many; here every direction is made conjugate to all before it, and n steps and a few for what rounding has
left give what a direct solution gives. Source: Walker & Orin 1982, method 4; Balafoutis & Patel, section 6.2; spec
E-35, R4.1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import rounding, where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.state_kernels import bias_forces
from cayley.geometry.scaling import largest_component, scaling
from cayley.showing import brief

_AGAIN = 3  # steps for the residual that is computed anew: it lies where inertias are large


class SearchDirection(NamedTuple):
    """A direction of a step with its image, and the product of both."""

    p: Array
    Dp: Array
    square: Scalar


@dataclass(frozen=True)
class IterativeAccelerations:
    """The result of `solve`."""

    qdd: Array
    converged: bool
    iterations: int
    residual: float
    """The part of the forces tau - b that is left over, relative to them."""
    reason: str

    __repr__ = brief


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0,
                     steps: int | None = None) -> Array:
    """The accelerations (nv) that the forces `tau` give at the state (`q`, `qd`), after nv steps and 3 for the residual
    that is then computed anew; with `steps`, after this number of steps of the published recursion, whatever the
    residual.

    `rotors`: inertia (nv) of the drives beside the links'. Where more than half of the digits of the forces are left
    at the end, as where the inertia matrix is singular, the accelerations are NaN."""
    forces = tau - bias_forces(links, q, qd)
    times = inertia_times(links, q, rotors)
    if steps is not None:
        return _published(times, forces, steps)
    if not links.nv:
        return forces
    scale = scaling(largest_component(forces))
    size = largest_component(scale * forces)
    unit = scale * forces / where(size == 0, 1.0, size)  # so that squares and products with any D are numbers
    x, left = _after(links.nv, times, np.zeros(links.nv), unit)
    x, left = _after(min(links.nv, _AGAIN), times, x, unit - times(x))
    reached = left @ left <= rounding(unit @ unit)
    return where(reached, x * (size / scale), np.nan)


def _published(times: Callable[[Any], Any], forces: Array, steps: int) -> Array:
    """Walker & Orin's recursion: of all directions it keeps the last."""
    x, r, p = np.zeros(len(forces)), forces, forces
    for _ in range(steps):
        Dp = times(p)
        a = _ratio(r @ r, p @ Dp)
        left = r - a * Dp
        x, r, p = x + a * p, left, left + _ratio(left @ left, r @ r) * p
    return x


def solve(links: Links, q: Array, qd: Array, tau: ArrayLike, *, rotors: Array | float = 0.0,
          guess: ArrayLike | None = None, tolerance: float = 1e-12,
          most_iterations: int | None = None) -> IterativeAccelerations:
    """The same for one state of numbers, from a `guess` (such as the accelerations of the time step before) until the
    residual is below `tolerance` times the forces tau - b and the last step as small beside the accelerations, or for
    `most_iterations` (3 nv, if not given). There, and after nv steps, the residual is computed anew, and where it is
    not small the steps begin again."""
    forces = np.asarray(tau - bias_forces(links, q, qd), dtype=float)
    times = inertia_times(links, q, rotors)
    x = np.zeros(links.nv) if guess is None else np.asarray(guess, dtype=float)
    left = forces - times(x)
    size = np.abs(forces).max(initial=0.0) or np.abs(left).max(initial=0.0) or 1.0
    enough = tolerance * float(np.linalg.norm(forces / size))
    left = left / size
    limit = 3 * links.nv if most_iterations is None else most_iterations
    done, begun, known = 0, np.zeros(links.nv), list[SearchDirection]()
    while not np.linalg.norm(left) <= enough and done < limit:
        while done < limit and len(known) < links.nv:
            before = begun
            begun, left = _next(times, before, left, known)
            done += 1
            still = np.linalg.norm(begun - before) <= tolerance * np.linalg.norm(begun + x / size)
            if still and np.linalg.norm(left) <= enough:
                break
        x, begun, known = x + size * begun, np.zeros(links.nv), []
        left = (forces - times(x)) / size
    residual = float(np.linalg.norm(left)) / float(np.linalg.norm(forces / size) or 1.0)
    converged = residual <= 10 * tolerance
    reason = ("the residual is below the tolerance" if converged
              else f"{done} iterations were not enough: the residual is {residual:.2g}")
    return IterativeAccelerations(x, converged, done, residual, reason)


def inertia_times(links: Links, q: Array, rotors: Array | float = 0.0) -> Callable[[Any], Any]:
    """p -> D p, by inverse dynamics."""
    floating = replace(links, gravity=np.zeros(3))
    rest = np.zeros(links.nv)
    return lambda p: inverse_dynamics(floating, q, rest, p) + rotors * p


def _after(steps: int, times: Callable[[Any], Any], x: Array, left: Array) -> tuple[Array, Array]:
    known: list[SearchDirection] = []
    for _ in range(steps):
        x, left = _next(times, x, left, known)
    return x, left


def _next(times: Callable[[Any], Any], x: Array, left: Array, known: list[SearchDirection]) -> tuple[Array, Array]:
    """One step along what is left, made conjugate to every direction that is known, which it joins."""
    p = left
    for each in known:
        p = p - _ratio(left @ each.Dp, each.square) * each.p
    Dp = times(p)
    known.append(SearchDirection(p, Dp, p @ Dp))
    a = _ratio(p @ left, known[-1].square)
    return x + a * p, left - a * Dp


def _ratio(a: Scalar, b: Scalar) -> float:
    """a / b; nothing where nothing is left to do, b being zero."""
    return where(b > 0, a, 0.0) / where(b > 0, b, 1.0)
