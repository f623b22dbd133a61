"""The recursive linearised model of open chains: perturbations go from link to link as the nominal motion does, in O(n)
operations.

Every line of Algorithm 5.7 (`inverse.augmented_links`) is differentiated along one perturbation of the motion. It gives
dtau and no matrices; the matrices are its values for unit perturbations. Source: Balafoutis & Patel 7.2.2, in words;
spec R8.6."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.typing import Array
from cayley.dynamics.inverse.augmented_links import inverse_dynamics
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.rigid_links.links import Links
from cayley.kinematics.jacobians.general_jacobian import of_own_variables


def perturbed_forces(links: Links, q: Array, qd: Array, qdd: Array, dq: Array, dqd: Array, dqdd: Array) -> Array:
    """dtau (n) that perturbations of coordinates, velocities and accelerations (n) ask for.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> nominal, perturbation = np.array([[0.3, -0.7], [0.5, 1.2], [-0.4, 0.8]]), np.array([[1.0, 0.0], [0.0, 0.0],
    ...                                                                                     [0.0, 0.0]])
    >>> perturbed_forces(serial_chain(load_robot("s1_g1")), *nominal, *perturbation).round(10)
    array([-4.95551671, 2.29211636])
    """
    return _recursion(links)(np.zeros(1), q, qd, qdd, dq, dqd, dqdd)


def _recursion(links: Links) -> Callable[..., Array]:
    def along(size: Array, *state: Array) -> Array:
        moved = [x + size[0] * change for x, change in zip(state[:3], state[3:], strict=True)]
        return jacobian(inverse_dynamics(links, *moved), size)[:, 0]

    return of_own_variables(along, (links.nv,), [1, *6 * [links.nv]], inside=links.has_symbols)


def sensitivities(links: Links, q: Array, qd: Array, qdd: Array) -> Sensitivities:
    """D, V and P (n, n): the recursion once for each column."""
    n = links.nv
    none = np.zeros(n)
    forces = _recursion(links)
    columns = []
    for place in (2, 1, 0):
        units = [[unit if k == place else none for k in range(3)] for unit in np.eye(n)]
        columns.append(
            np.stack([forces(np.zeros(1), q, qd, qdd, *unit) for unit in units], axis=1) if n else np.zeros((0, 0)))
    return Sensitivities(*columns)
