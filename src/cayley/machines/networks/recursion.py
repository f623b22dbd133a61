"""The motion of an open network and the wrenches of its joints, from body to body.

    x_Gj = K_bj^-T (K_a^T x_G(parent) + x_j)                                       outwards     (40)
    y_j = K_bj^-1 (W_Gj x_Gj + sum K_a y_(child) + u_Gj - loads)                   inwards      (41)
Source: Tokad 2.4, corrected as in spec E4-10, E4-21.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.machines.networks.instant import Arm, Instant


class CentreMotion(NamedTuple):
    """Across variables of the mass centres and their rates, m of (6) each."""

    x: list[Array]
    xd: list[Array]

    def at(self, body: int, arm: Arm) -> tuple[Array, Array]:
        """Those of another terminal of a body, (6) each."""
        return _moved(self.x[body], arm.r), _moved_rate(self.x[body], self.xd[body], arm)


def outward(network: Instant, x: Sequence[Array], xd: Sequence[Array]) -> CentreMotion:
    """From the across variables of the joints and their rates, m of (6) each, to those of the mass centres."""
    found = CentreMotion([], [])
    for j, parent in enumerate(network.parents):
        inner = x[j]
        inner_rate = xd[j]
        if parent >= 0:
            carried, carried_rate = found.at(parent, network.carrying[j])
            inner = carried + inner
            inner_rate = carried_rate + inner_rate
        back = Arm(-network.inner[j].r, -network.inner[j].rate)
        found.x.append(_moved(inner, back.r))
        found.xd.append(_moved_rate(inner, inner_rate, back))
    return found


def inward(network: Instant, motion: CentreMotion, loads: Sequence[Array],
           loads_at_centres: Sequence[Array] | None = None) -> list[Array]:
    """The wrenches y_j (6) on each body at its inner terminal, of what acts at open terminals and at the centres."""
    at_centre = [_taken(network, j, motion) for j in range(network.size)]
    for terminal, load in zip(network.open, loads, strict=True):
        at_centre[terminal.body] = at_centre[terminal.body] - _force_moved(load, terminal.arm.r)
    if loads_at_centres is not None:
        at_centre = [own - load for own, load in zip(at_centre, loads_at_centres, strict=True)]
    found: list[Array] = [np.zeros(6)] * network.size
    for j in reversed(range(network.size)):
        found[j] = _force_moved(at_centre[j], -network.inner[j].r)
        parent = network.parents[j]
        if parent >= 0:
            at_centre[parent] = at_centre[parent] + _force_moved(found[j], network.carrying[j].r)
    return found


def _taken(network: Instant, j: int, motion: CentreMotion) -> Array:
    """W_G x_G + u_G (6) of a body: the change of its momentum, less its weight. That of its spin is found in the axes
    of the body, in which its inertia stands still."""
    R = network.axes[j]
    J = network.inertias[j]
    w = R.T @ motion.x[j][3:]
    moment = R @ (J @ (R.T @ motion.xd[j][3:]) + np.cross(w, J @ w))
    return np.concatenate([network.masses[j] * (motion.xd[j][:3] - network.gravity), moment])


def _moved(x: Array, r: Array) -> Array:
    """K(r)^T x."""
    return np.concatenate([x[:3] + np.cross(x[3:], r), x[3:]])


def _moved_rate(x: Array, xd: Array, arm: Arm) -> Array:
    """The rate of K(r)^T x."""
    return np.concatenate([xd[:3] + np.cross(xd[3:], arm.r) + np.cross(x[3:], arm.rate), xd[3:]])


def _force_moved(y: Array, r: Array) -> Array:
    """K(r) y."""
    return np.concatenate([y[:3], y[3:] + np.cross(r, y[:3])])
