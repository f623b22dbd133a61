"""The first slip of a wheel: the least coefficient of friction with which all contacts hold what a motion asks of them.

    A^T lambda = f          forces of the contacts, N across the ground and T along it, and of all other constraints
    |T_i| <= mu N_i         of each contact
Where rows are redundant, as the side slip of two wheels on one axle or the loads of four wheels, lambda is not one
vector but a family: of it the member that needs least friction is taken. With less friction something slips, however
the forces are shared; with more, some sharing holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import least_singular, relative_rank
from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.dynamics.forward.constrained import forces_by_method
from cayley.dynamics.forward.dry_friction import contacts_of
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.forward.standing_wheels import standing
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import GeometryError, ModelError, SignatureError, SingularityError, shown
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.mechanism_kernel import MechanismKernel
from cayley.model.tree import Tree
from cayley.showing import brief

_ROUNDING = 1e-12
_AT_LIMIT = 1e-6  # of the least friction: contacts that need as much


@dataclass(frozen=True, eq=False)
class SlipCheck:
    """The forces of contacts along a motion: `loads` (k, contacts) [N] normal to the ground and the `needed` friction
    (k, contacts) of each, NaN where statically indeterminate, the `least` friction (k) with which all contacts hold,
    infinite where one would have to pull, the `limiting` contacts, and whether the coefficient `friction` suffices."""

    contacts: tuple[str, ...]
    t: Array
    loads: Array
    needed: Array
    least: Array
    limiting: tuple[tuple[str, ...], ...]
    friction: float

    __repr__ = brief

    @property
    def slips(self) -> bool:
        return bool((self.least > self.friction).any())

    @property
    def when(self) -> float | None:
        """The first time [s] at which a wheel slips or leaves the ground; None if none does."""
        return float(self.t[self._first]) if self.slips else None

    @property
    def where(self) -> tuple[str, ...]:
        """The contacts that slip, or leave the ground, first."""
        return self.limiting[self._first] if self.slips else ()

    @property
    def _first(self) -> int:
        return int(np.argmax(self.least > self.friction))

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.where))
        if not self.slips:
            return f"rolls: a friction of {self.least.max():.4g} is enough, and there is {self.friction:g}"
        if np.isinf(self.least[self._first]):
            return f"{names} would leave the ground at t = {self.when:.6g} s"
        return (f"{names} would slip at t = {self.when:.6g} s, where a friction of {self.least[self._first]:.4g} is "
                f"needed, and there is {self.friction:g}")


class _State(NamedTuple):
    """The state of the mechanism on its wheels: A (h, nv), what the constraints do (nv), and their forces (h), NaN
    where the motion does not tell."""

    A: Array
    f: Array
    forces: Array


def slip_check(tree: Tree, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, friction: float) -> SlipCheck:
    """Check if wheels, discs and balls can roll along a motion, times (k) and states (k, nq), (k, nv), (k, nv), if
    their coefficient of friction is `friction`.

    >>> import cayley as cy
    >>> robot = cy.load("two_wheel_robot")
    >>> push = np.array([0.0, 0.0, 0.0, 6.0, 6.0, 0.0, 0.0])
    >>> run = robot.simulate(np.zeros(7), np.zeros(7), tau=push, until=0.5)
    >>> print(robot.loops.slip_check(run, friction=0.4))
    'left tyre', 'right tyre' would slip at t = 0 s, where a friction of 0.9553 is needed, and there is 0.4
    """
    times = np.asarray(t, dtype=float)
    states = [np.asarray(each, dtype=float) for each in (q, qd, tau)]
    sizes = (tree.nq, tree.nv, tree.nv)
    if times.ndim != 1 or any(each.shape != (len(times), n) for each, n in zip(states, sizes, strict=True)):
        raise SignatureError(f"a motion of {tree.name} must have times (k), q (k, {tree.nq}), qd and tau (k, "
                             f"{tree.nv}), not {[times.shape, *[each.shape for each in states]]}")
    bad = np.flatnonzero(~np.isfinite(np.concatenate(states, axis=1)).all(axis=1))
    if len(bad):
        raise GeometryError(f"state {bad[0]} of the motion of {tree.name} is not finite")
    if not is_finite_number(friction) or friction <= 0:
        raise ModelError(f"the coefficient of friction must be positive, not {shown(friction)}")
    contacts = contacts_of(tree)
    found = _State(*kept(tree, "contact forces", lambda: _kernel(tree))(*states, *([times] if tree.is_timed else [])))
    lost = np.flatnonzero(~np.isfinite(found.A).all(axis=(1, 2)) | ~np.isfinite(found.f).all(axis=1))
    if len(lost):
        raise SingularityError(f"{tree.name} has no forces at t = {times[lost[0]]:.6g} s, where its constraints lose "
                               "their directions or depend on each other")
    places = list(contacts.values())
    loads = np.stack([found.forces[:, place][:, 0] for place in places], axis=1)
    along = np.stack([np.linalg.norm(found.forces[:, place][:, 1:], axis=1) for place in places], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(loads <= 0, np.inf, along / loads)
    least = [_least(A, f, places) for A, f, _ in zip(*found, strict=True)]
    names = [_limiting(contacts, *one, own) for one, own in zip(least, needed, strict=True)]
    return SlipCheck(tuple(contacts), times, loads, needed, np.array([mu for mu, _ in least]), tuple(names),
                     float(friction))


def _limiting(contacts: dict[str, slice], least: float, at_limit: list[bool], needed: Array) -> tuple[str, ...]:
    """The contacts that limit: those of which it is known that they need as much, or else all that may share it."""
    known = [name for name, own in zip(contacts, needed, strict=True) if own >= least * (1 - _AT_LIMIT)]
    return tuple(known or [name for name, one in zip(contacts, at_limit, strict=True) if one])


def _kernel(tree: Tree) -> Kernel[tuple[Array, ...]]:
    made = standing(tree)
    whole = made.tree
    structure = constraint_structure(whole)
    forward = forward_dynamics_kernel(whole)
    inverse = inverse_dynamics_kernel(whole.spanning_tree())
    forces = forces_by_method(whole, structure, "multipliers", MechanismKernel)

    def text(q: Array, qd: Array, tau: Array, *t: Array) -> tuple[Array, Array, Array]:
        x, v, pushed = made.state(q, qd, tau)
        done = inverse(x, v, forward(x, v, pushed, *t)) - pushed
        return constraints.jacobian(whole, x, *t), done, forces(x, v, pushed, *t)

    rows = len(structure.rows)
    time = ",()" if tree.is_timed else ""
    return kernel(sized(tree, f"(q),(v),(v){time}->({rows},{whole.nv}),({whole.nv}),({rows})"), name="contact_forces",
                  inputs=constraints.timed(tree, ("q", "qd", "tau")))(text)


def _least(A: Array, f: Array, places: list[slice]) -> tuple[float, list[bool]]:
    """The least friction with which contacts can do f, and which of them then need as much; infinite, and those that
    would have to pull, if they cannot."""
    least = least_singular(len(f))
    found = np.linalg.lstsq(A.T, f, rcond=least)[0]
    N = null_basis(A.T, relative_rank(A.T, tolerance=least))
    rows = np.concatenate([np.arange(place.start, place.stop) for place in places])
    spread = np.linalg.svd(N[rows], full_matrices=False)
    N = N @ spread[2].T[:, spread[1] > least]  # those of the family that contacts notice
    scale = float(np.abs(found).max()) or 1.0
    if not N.shape[1]:
        return _friction(found / scale, places)
    return _friction(_shared(found / scale, N, places), places)


def _friction(forces: Array, places: list[slice]) -> tuple[float, list[bool]]:
    across = np.array([forces[place][0] for place in places])
    along = np.array([np.linalg.norm(forces[place][1:]) for place in places])
    lifted = (across < -_ROUNDING) | ((across <= _ROUNDING) & (along > _ROUNDING))
    if lifted.any():
        return np.inf, lifted.tolist()
    ratios = np.where(along <= _ROUNDING, 0.0, along / np.maximum(across, _ROUNDING))
    most = float(ratios.max())
    return most, (ratios >= most * (1 - _AT_LIMIT)).tolist()


def _shared(forces: Array, N: Array, places: list[slice]) -> Array:
    """The member forces + N z of a family that needs the least friction: first the greatest of the smallest loads,
    which is where to start from, then the least mu with |T_i| <= mu N_i."""
    across = [place.start for place in places]
    d = N.shape[1]
    raised = minimize(lambda x: -x[-1], np.append(np.zeros(d), forces[across].min()), method="SLSQP",
                      jac=lambda x: np.append(np.zeros(d), -1.0), bounds=[(-1e3, 1e3)] * (d + 1),
                      constraints=[{"type": "ineq", "fun": lambda x: (forces + N @ x[:-1])[across] - x[-1],
                                    "jac": lambda x: np.column_stack([N[across], -np.ones(len(across))])}],
                      options={"ftol": 1e-14, "maxiter": 200}).x
    start = forces + N @ raised[:-1]
    if start[across].min() <= _ROUNDING:
        return start

    def room(x: Array) -> Array:
        now = forces + N @ x[:-1]
        return np.array([x[-1] * now[place][0] - np.sqrt(now[place][1:] @ now[place][1:] + 1e-24) for place in places])

    def slope(x: Array) -> Array:
        now = forces + N @ x[:-1]
        found = []
        for place in places:
            T = now[place][1:]
            across_slope = x[-1] * N[place.start]
            along_slope = T @ N[place][1:] / np.sqrt(T @ T + 1e-24)
            found.append(np.append(across_slope - along_slope, now[place][0]))
        return np.array(found)

    best = minimize(lambda x: x[-1], np.append(raised[:-1], _friction(start, places)[0]), method="SLSQP",
                    jac=lambda x: np.append(np.zeros(d), 1.0),
                    constraints=[{"type": "ineq", "fun": room, "jac": slope},
                                 {"type": "ineq", "fun": lambda x: (forces + N @ x[:-1])[across],
                                  "jac": lambda x: np.column_stack([N[across], np.zeros(len(across))])}],
                    options={"ftol": 1e-13, "maxiter": 200}).x
    found = forces + N @ best[:-1]
    return found if _friction(found, places)[0] <= _friction(start, places)[0] else start
