"""What the reduced model of elastic drives leaves out, in numbers.

    full      a rotor moves as a body: on its carrier, with its spin
    reduced   its energy is that of its own spin, and of its mass riding on the carrier as if it did not turn
What is dropped: in the inertia matrix, what ties a motor to the joints that turn its carrier, the spin inertia times
the part of their axes along the rotor's; by velocities, the gyroscopic moments of the spinning rotor; and, of a rotor
that is not balanced or not round, how its turning changes all that. Source: spec S0-51, R-51.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.state_kernels import bias_forces_kernel, gravity_forces_kernel
from cayley.model.motors import ELASTIC, REDUCED
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class ReductionError:
    """Forces (..., nv) of joints, then motors, that the full model needs and the reduced one does not: by accelerations
    (`inertial`), by velocities (`gyroscopic`), and by the `weight` of rotors that are not balanced; beside the `forces`
    (..., nv) of the full model.
    """

    names: tuple[str, ...]
    inertial: Array
    gyroscopic: Array
    weight: Array
    forces: Array

    @property
    def dropped(self) -> Array:
        """All that is dropped (..., nv)."""
        return self.inertial + self.gyroscopic + self.weight

    @property
    def share(self) -> Array:
        """Of each coordinate (nv), the largest that is dropped, beside the largest that it needs."""
        largest = _largest(self.forces)
        return np.divide(_largest(self.dropped), largest, out=np.zeros_like(largest), where=largest > 0)

    def __repr__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [f"{'':{width}}  {'inertial':>12}  {'gyroscopic':>12}  {'weight':>12}  {'of all that it needs':>20}"]
        rows = zip(self.names, *map(_largest, (self.inertial, self.gyroscopic, self.weight)), self.share, strict=True)
        lines += [f"{name:{width}}  {a:12.4g}  {b:12.4g}  {c:12.4g}  {share:19.3%}" for name, a, b, c, share in rows]
        return "\n".join(["what the reduced model drops, at most [N m, N]:", *lines])


def reduction_error(tree: Tree, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> ReductionError:
    """What the reduced model of a mechanism with elastic drives drops at states (..., nq), (..., nv) of joints and
    motors, with accelerations (..., nv).

    >>> import cayley as cy
    >>> arm = cy.load("planar2r").with_drive("joint2", stiffness=1e3, gear=50.0, mass=0.4,
    ...                                      tensor=np.diag([1e-4, 1e-4, 2e-4]))
    >>> reduction_error(arm.tree, [0.1, 0.2, 10.0], [1.0, 0.5, 25.0], [2.0, 1.0, 50.0])
    what the reduced model drops, at most [N m, N]:
                      inertial    gyroscopic        weight  of all that it needs
    joint1                0.01             0             0               0.052%
    joint2                   0             0             0               0.000%
    joint2 motor        0.0004             0             0               3.846%
    """
    full = _model(tree, ELASTIC)
    reduced = _model(tree, REDUCED)
    forces = inverse_dynamics_kernel(full)(q, qd, qdd)
    weight = gravity_forces_kernel(full)(q) - gravity_forces_kernel(reduced)(q)
    gyroscopic = bias_forces_kernel(full)(q, qd) - bias_forces_kernel(reduced)(q, qd) - weight
    coupling = inertia_matrix_kernel(full)(q) - inertia_matrix_kernel(reduced)(q)
    inertial = np.einsum("...ij,...j->...i", coupling, np.asarray(qdd, dtype=float))
    return ReductionError(full.joint_names, inertial, gyroscopic, weight, forces)


def _model(tree: Tree, model: str) -> Tree:
    terms = (tree.included - {ELASTIC, REDUCED}) | {model}
    return tree if model in tree.included else kept(tree, model, lambda: tree.including(*terms))


def _largest(forces: Array) -> Array:
    return np.abs(forces).reshape(-1, forces.shape[-1]).max(axis=0, initial=0.0)
