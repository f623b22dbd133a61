"""Control in decoupled coordinates: each principal direction of the inertia matrix has its own gains.

    tau = h + O Hd v,   v = O^T target'' + kd O^T e' + kp O^T e         e = target - q
Then O^T e'' + kd O^T e' + kp O^T e = 0: along each principal axis the error is a linear oscillator of its own, and the
inertia that it moves is one number. The gains (n) belong to the principal inertias from the smallest to the largest;
those of inertias that coincide are put together in their mean, as their axes are not told apart. With equal gains the
law is computed torque. Other gains move with the axes: that the error vanishes is then sure only where these turn
slowly beside it. Source: Mladenova 5.5.3, after (213); spec S0-86.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import HasTree, check_rigid_drives, gains_of, tree_of
from cayley.control.tracking import Reference
from cayley.dynamics.forward.principal_axes import same_as_before
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.state_kernels import bias_forces_kernel
from cayley.model.configuration_space import configuration_difference
from cayley.model.constraints import check_independent
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class DecoupledControl:
    """`law(t, q, qd)` -> tau (nv), a controller for `arm.simulate`. Made by `decoupled_control`."""

    tree: Tree
    reference: Reference
    kp: Array
    kd: Array

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        target, rate, acceleration = (np.asarray(part, dtype=float) for part in self.reference(t))
        inertias, O = np.linalg.eigh(self._inertia_matrix(q))  # from the smallest to the largest
        kp, kd = self.gains(inertias)
        error = configuration_difference(self.tree, np.asarray(q), target)
        v = O.T @ acceleration + kd * (O.T @ (rate - qd)) + kp * (O.T @ error)
        return self._bias_forces(q, qd) + O @ (inertias * v)

    def gains(self, inertias: Array) -> tuple[Array, Array]:
        """kp and kd (n) of ordered principal inertias (n)."""
        planes = np.split(np.arange(len(inertias)), np.flatnonzero(~same_as_before(inertias)) + 1)
        kp, kd = (np.concatenate([np.full(len(plane), own[plane].mean()) for plane in planes])
                  for own in (self.kp, self.kd))
        return kp, kd

    @cached_property
    def _inertia_matrix(self) -> Kernel:
        return inertia_matrix_kernel(self.tree)

    @cached_property
    def _bias_forces(self) -> Kernel:
        return bias_forces_kernel(self.tree)


def decoupled_control(arm: Tree | HasTree, reference: Reference, kp: ArrayLike, kd: ArrayLike) -> DecoupledControl:
    """The law of an arm along `reference(t) -> (q, qd, qdd)`, with gains for its principal inertias from the smallest
    to the largest, or one for all. Joints that are tied together and elastic drives are refused by name.

    >>> import cayley as cy
    >>> arm = cy.load("planar3r")
    >>> rest = np.zeros(3)
    >>> law = decoupled_control(arm, lambda t: ([0.5, -0.3, 0.2], rest, rest), kp=[400.0, 225.0, 100.0],
    ...                         kd=[40.0, 30.0, 20.0])
    >>> arm.simulate(rest, rest, controller=law, until=2.0, rtol=1e-6, atol=1e-8, progress=False).q[-1].round(4)
    array([ 0.5, -0.3,  0.2])
    """
    tree = tree_of(arm)
    check_independent(tree, "control in decoupled coordinates")
    check_rigid_drives(tree, "control in decoupled coordinates")
    return DecoupledControl(tree, reference, gains_of(kp, tree.nv, "kp"), gains_of(kd, tree.nv, "kd"))
