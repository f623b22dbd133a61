"""The recursive linearised model of open chains: perturbations go from link to link as the nominal motion does, in O(n)
operations.

Every line of Algorithm 5.7 is differentiated; d.. are perturbations, of components in the link's own axes. For joint j
    d(A^T v) = A^T dv - dq z x A^T v         d(A v) = A (dv + dq z x v)
    (prismatic joints do not turn: dq of the turn is zero)
It gives dtau and no matrices; the matrices are its values for unit perturbations. w, Om, zeta, sdd, u, Kh, Udd, eta as
in `inverse.augmented_links`. Source: Balafoutis & Patel 7.2.2, in words; spec R8.6.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.augmented_bodies import augmented_links
from cayley.dynamics.inverse.augmented_links import LinkState, Sum, backward_cycle, forward_cycle, passed_on
from cayley.dynamics.inverse.newton_euler import acceleration_tensor
from cayley.dynamics.inverse.passes import NONE, Wrench, Z
from cayley.dynamics.inverse.tensor_newton_euler import euler_torque
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.geometry.tensors.cross import skew

_REST = LinkState(NONE, NONE, np.zeros((3, 3)), NONE, NONE, NONE)


class Step(NamedTuple):
    """A perturbation of one joint: of its turn, of its slide, and of its velocity and acceleration."""

    turn: Scalar
    slide: Scalar
    rate: Scalar
    change: Scalar


def perturbed_forces(links: Links, q: Array, qd: Array, qdd: Array, dq: Array, dqd: Array, dqdd: Array) -> Array:
    """dtau (n) that perturbations of coordinates, velocities and accelerations (n) ask for.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> nominal, perturbation = np.array([[0.3, -0.7], [0.5, 1.2], [-0.4, 0.8]]), np.array([[1.0, 0.0], [0.0, 0.0],
    ...                                                                                     [0.0, 0.0]])
    >>> perturbed_forces(serial_chain(load_robot("s1_g1")), *nominal, *perturbation).round(10)
    array([-4.95551671, 2.29211636])
    """
    augmented = augmented_links(links, q)
    steps = [_step(link, dq, dqd, dqdd) for link in augmented.links]
    states, changes = _outwards(augmented, steps, q, qd, qdd)
    return _inwards(augmented, steps, states, changes, q)


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array) -> Sensitivities:
    """D, V and P (n, n): the recursion once for each column."""
    n = links.nv
    none = np.zeros(links.nv)
    columns = []
    for place in (2, 1, 0):
        units = [[unit if k == place else none for k in range(3)] for unit in np.eye(n)]
        columns.append(
            np.stack([perturbed_forces(links, q, qd, qdd, *unit) for unit in units], axis=1) if n else np.zeros((0, 0)))
    return Sensitivities(*columns)


def _step(link: Link, dq: Array, dqd: Array, dqdd: Array) -> Step:
    moved = dq[link.columns][0]
    rate = dqd[link.columns][0]
    change = dqdd[link.columns][0]
    return Step(moved, 0.0, rate, change) if link.is_revolute else Step(0.0, moved, rate, change)


def _outwards(augmented: Links, steps: list[Step], q: Array, qd: Array,
              qdd: Array) -> tuple[list[LinkState], list[LinkState]]:
    state = _REST._replace(sdd=-augmented.gravity)
    d = _REST
    states = []
    changes = []
    for k, (link, step) in enumerate(zip(augmented.links, steps, strict=True)):
        d = _changed_state(link, step, state, d, q, qd)
        state = forward_cycle(link, state, q, qd, qdd)
        d = d._replace(Om=_tensor_change(state, d))
        mu = euler_torque(d.Om, link.moments.second) + euler_torque(state.Om, _second_change(augmented, steps, k, q))
        states.append(state)
        changes.append(d._replace(mu=mu))
    return states, changes


def _changed_state(link: Link, step: Step, before: LinkState, d: LinkState, q: Array, qd: Array) -> LinkState:
    rate = qd[link.columns][0]
    w = link.outwards(before.w, q)
    dw = _seen_outwards(link, step, before.w, d.w, q)
    dwd = _seen_outwards(link, step, before.wd, d.wd, q)
    s = link.offset(q)
    y = before.sdd + before.Om @ s
    dy = d.sdd + d.Om @ s + before.Om @ _offset_change(link, step)
    dsdd = _seen_outwards(link, step, y, dy, q)
    if link.is_revolute:
        turned = dwd + np.cross(dw, Z) * rate + np.cross(w, Z) * step.rate + Z * step.change
        return LinkState(dw + Z * step.rate, turned, d.Om, NONE, dsdd)
    dzeta = np.cross(dw, Z) * (2 * rate) + np.cross(w, Z) * (2 * step.rate) + Z * step.change
    return LinkState(dw, dwd, d.Om, dzeta, dsdd + dzeta)


def _tensor_change(state: LinkState, d: LinkState) -> Array:
    """d(wd~ + w~ w~)."""
    crossed = skew(d.w) @ skew(state.w)
    return acceleration_tensor(NONE, d.wd) + crossed + crossed.T


def _inwards(augmented: Links, steps: list[Step], states: list[LinkState], changes: list[LinkState], q: Array) -> Array:
    outer = d_outer = Wrench(NONE, NONE, NONE)
    forces: list[Any] = []
    for k in reversed(range(len(states))):
        link = augmented.links[k]
        state = states[k]
        d = changes[k]
        step = steps[k]
        own = backward_cycle(link, state, outer)
        u = link.moments.first
        du = _first_change(augmented, steps, k)
        Udd = d.Om @ u + state.Om @ du + d_outer.force
        eta = (d.mu + np.cross(du, state.sdd) + np.cross(u, d.sdd) + np.cross(d_outer.at, outer.force)
               + np.cross(outer.at, d_outer.force) + d_outer.moment)
        forces.append(eta[2] if link.is_revolute else link.moments.mass * d.sdd[2] + Udd[2])
        outer = passed_on(link, state, own, q)
        d_outer = _changed_wrench(link, step, state, own, d, Sum(Udd, eta), q)
    return np.array(forces[::-1])


def _changed_wrench(link: Link, step: Step, state: LinkState, own: Sum, d: LinkState, change: Sum, q: Array) -> Wrench:
    pulled = own.Udd
    dpulled = change.Udd
    if link.is_prismatic:
        pulled = pulled + link.moments.mass * state.zeta
        dpulled = dpulled + link.moments.mass * d.zeta
    return Wrench(_seen_inwards(link, step, pulled, dpulled, q), _seen_inwards(link, step, own.eta, change.eta, q),
                  _offset_change(link, step))


def _seen_outwards(link: Link, step: Step, x: Array, dx: Array, q: Array) -> Array:
    """d(A^T x)."""
    return link.outwards(dx, q) - step.turn * np.cross(Z, link.outwards(x, q))


def _seen_inwards(link: Link, step: Step, x: Array, dx: Array, q: Array) -> Array:
    """d(A x)."""
    return link.inwards(dx + step.turn * np.cross(Z, x), q)


def _offset_change(link: Link, step: Step) -> Array:
    return link.placement[:3, 2] * step.slide


def _first_change(augmented: Links, steps: list[Step], k: int) -> Array:
    """du: of an augmented link before a prismatic joint."""
    if k + 1 == len(steps):
        return NONE
    return augmented.links[k + 1].moments.mass * _offset_change(augmented.links[k + 1], steps[k + 1])


def _second_change(augmented: Links, steps: list[Step], k: int, q: Array) -> Array:
    """dKh."""
    if k + 1 == len(steps):
        return np.zeros((3, 3))
    after = augmented.links[k + 1]
    crossed = np.outer(after.offset(q), _offset_change(after, steps[k + 1]))
    return after.moments.mass * (crossed + crossed.T)
