"""Control in decoupled coordinates: each principal direction of the inertia matrix has its own gains.

    tau = h + O Hd v,   v = O^T target'' + kd O^T e' + kp O^T e         e = target - q,  O^T H O = Hd diagonal
Then O^T e'' + kd O^T e' + kp O^T e = 0: along each principal axis the error is a linear oscillator of its own. Gains of
inertias that coincide are put together in their mean, as their axes are not told apart. With equal gains the law is
computed torque; others move with the axes, which must turn slowly. Source: Mladenova 5.5.3, after (213); spec S0-86."""

from __future__ import annotations

import numpy as np

from cayley.compiler.solving.singular_vectors import LARGEST, singular_vectors
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import ArmLike, finite_or, gains_of, law_ports, tree_for
from cayley.control.drive_dynamics import DriveDynamics
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.state_kernels import bias_forces_kernel
from cayley.errors import UnsupportedError
from cayley.model.configuration_space import configuration_difference
from cayley.systems import System

_UNITS = 64.0  # of rounding, for each joint: inertias that are nearer coincide


def decoupled_control(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, *, name: str = "decoupled") -> System:
    """Control along the principal axes of the inertia matrix, with gains for each.

    Inputs: `q`, `qd`, `target` (nq), and its `target_qd` and `target_qdd` (nv), zero if nothing drives them. Output:
    `tau` (nv). The gains, for the principal inertias from the smallest to the largest, or one for all, are parameters
    of the system: nv of an open arm, of a mechanism with constraints as many as it has drives. A force is zero where it
    depends on a measurement or a target that is not finite. Elastic drives and more than nine drives raise an error.

    >>> import cayley as cy
    >>> arm = cy.load("planar3r")
    >>> law = decoupled_control(arm, kp=[400.0, 225.0, 100.0], kd=[40.0, 30.0, 20.0])
    >>> loop = cy.connect(arm, law)
    >>> start = {"q": np.zeros(3), "qd": np.zeros(3)}
    >>> loop.simulate(start, until=2.5, inputs={"target": [0.5, -0.3, 0.2]}).end["q"].round(4)
    array([ 0.5, -0.3,  0.2])
    """
    tree = tree_for(arm, "control in decoupled coordinates")
    drives = DriveDynamics.of(tree, "control in decoupled coordinates")
    n = drives.count
    if n > LARGEST:
        raise UnsupportedError(f"control in decoupled coordinates is for at most {LARGEST} velocities; {tree.name} has "
                               f"{n}")
    inertia_matrix = inertia_matrix_kernel(tree)
    bias_forces = bias_forces_kernel(tree)

    def forces(q: Array, qd: Array, wish: tuple[Array, Array, Array], kp: Array, kd: Array) -> Array:
        error, rate, acceleration = map(drives.picked, wish)
        here = drives.at(q, qd)
        M = inertia_matrix(q)
        axes = singular_vectors(here.inertia(M), n)  # of the largest inertia first
        inertias = [v @ b for v, b in zip(axes.V, axes.B, strict=True)]
        tau = here.bias(M, bias_forces(q, qd))
        for axis, along, p, d in zip(axes.V, axes.B, _shared(inertias, kp[::-1]), _shared(inertias, kd[::-1]),
                                     strict=True):
            tau = tau + along * (axis @ acceleration + d * (axis @ rate) + p * (axis @ error))
        return drives.spread(tau)

    return System(
        name, inputs=law_ports(tree, "q qd target target_qd target_qdd"), outputs={"tau": tree.nv},
        parameters={"kp": gains_of(kp, n, "kp"), "kd": gains_of(kd, n, "kd")},
        output=lambda t, x, u, p: finite_or(forces(
            u.q, u.qd, (configuration_difference(tree, u.q, u.target), u.target_qd - u.qd, u.target_qdd), p.kp, p.kd),
            0.0))


def _shared(inertias: list[Scalar], gains: Array) -> list[Scalar]:
    """The gains of ordered inertias, those of inertias that coincide put together in their mean."""
    found = []
    for own in inertias:
        same = [where(inertias[0] + np.abs(own - other) / (_UNITS * len(inertias)) > inertias[0], 0.0, 1.0)
                for other in inertias]
        found.append(sum(share * gain for share, gain in zip(same, gains, strict=True)) / sum(same))
    return found
