"""The sensitivity of the forces of a mechanism to each of its numbers, ranked: what to measure well, and what to design
with care.

    dtau/dp        exact derivatives of inverse dynamics along a motion, by masses, lengths, friction, gravity, ...
    forces         root mean square over the samples of dtau/dp times a change of p, at each joint [N m, N]
    influence      the same of all joints together, each beside the forces that it needs
The parameters are those of `cayley.model.parameters`. Source: Balafoutis & Patel 7.1 (sensitivity to fixed kinematic
and dynamic parameters); spec S1-119."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import SignatureError
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.report import TextTable
from cayley.model.tree import Tree
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class ForceSensitivity:
    """The sensitivity of forces to k parameters at samples (...). Prints as a table, the most influential first."""

    names: tuple[str, ...]
    changes: Array  # (k), of each parameter, in its own unit
    derivatives: Array  # dtau/dp (..., nv, k)
    forces: Array  # (nv, k), root mean square change of the force at each joint
    scale: Array  # (nv), the forces beside which they are seen

    __repr__ = brief

    @property
    def influence(self) -> Array:
        """(k): root of the sum of squares over the joints of forces beside their scale."""
        return np.sqrt(np.sum((self.forces / self.scale[:, None]) ** 2, axis=0))

    @property
    def ranked(self) -> tuple[tuple[str, float], ...]:
        """Names and influences, the largest first."""
        order = np.argsort(-self.influence, kind="stable")
        return tuple((self.names[k], float(self.influence[k])) for k in order)

    def __str__(self) -> str:
        changes = dict(zip(self.names, self.changes, strict=True))
        rows = tuple((name, f"{changes[name]:.4g}", f"{100 * size:.3g} %") for name, size in self.ranked)
        return str(TextTable("Forces by parameters", ("", "change", "of the forces"), rows))


def force_sensitivity(tree: Tree, parameters: tuple[str, ...], q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                      changes: ArrayLike | None = None, scale: ArrayLike | None = None) -> ForceSensitivity:
    """The sensitivity of inverse dynamics at states and accelerations (..., nv) to the parameters that are meant by
    words, as in `with_parameters`.

    `changes` (k) of the parameters are by default one per cent of each, and so zero for parameters that are zero.
    `scale` (nv): forces of each joint that are large, such as the limits of its actuators; by default the root mean
    square of the forces that the samples need.

    >>> from cayley.model.catalogue import load_robot
    >>> found = force_sensitivity(load_robot("s1_f1"), ("mass", "gravity"), [0.3], [0.0], [0.0])
    >>> [(name, round(size, 9)) for name, size in found.ranked]
    [('link1.mass', 0.01), ('gravity.y', 0.01)]
    """
    kernel = inverse_dynamics_kernel(tree).with_parameters(*parameters)
    chosen = kernel.parameters
    nominal = np.asarray(chosen.nominal, dtype=float)
    state = [np.asarray(x, dtype=float) for x in (q, qd, qdd)]
    if not all(np.isfinite(x).all() for x in state):
        raise SignatureError("samples must be finite numbers: leave out those that are not")
    by = 0.01 * np.abs(nominal) if changes is None else np.asarray(changes, dtype=float)
    if by.shape not in ((), nominal.shape) or not np.isfinite(by).all():
        raise SignatureError(f"the changes are finite, one for each of the {len(nominal)} parameters, not of shape "
                             f"{by.shape}")
    by = np.broadcast_to(by, nominal.shape)
    derivatives = kernel.jacobian("parameters")(*state, nominal)
    if not derivatives.size:
        raise SignatureError("forces are measured over samples, and there are none")
    return ForceSensitivity(tuple(chosen.names), by, derivatives, _mean(derivatives * by),
                            _scale(tree, scale, kernel(*state, nominal)))


def _mean(values: Array) -> Array:
    """The root mean square over the samples, of values (..., nv, k)."""
    flat = values.reshape(-1, *values.shape[-2:])
    return np.sqrt(np.mean(flat**2, axis=0))


def _scale(tree: Tree, given: ArrayLike | None, tau: Array) -> Array:
    if given is None:
        found = _mean(tau[..., None])[:, 0]
        idle = [velocity_labels(tree)[k][0] for k in np.flatnonzero(found == 0)]
        if idle:
            raise SignatureError(f"{', '.join(idle)} of {tree.name} needs no force in these samples, beside which "
                                 "changes could be seen: give the scale, such as the limits of the actuators")
        return found
    scale = np.asarray(given, dtype=float)
    if scale.shape not in ((), (tree.nv,)) or not (scale > 0).all():
        raise SignatureError(f"the scale must be positive, a number or one for each of the {tree.nv} velocities of "
                             f"{tree.name}, not {given!r}")
    return np.broadcast_to(scale, (tree.nv,))
