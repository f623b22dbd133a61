"""Input and output of a mechanism with constraints: the rates of its actuated joints, and the motion of a frame.

    Jx xd = Jq qd_a          xd (k) the rows of a frame's twist that a task asks for, qd_a (m) the actuated velocities
    w = Jx^T s, tau = Jq^T s     wrenches (k) that the frame's body exerts and actuator forces (m) in balance, at rest
With N a basis of the allowed velocities, the rows of (Jx, -Jq) are an orthonormal basis of what is across the range of
(T J N; S N): at every configuration, for any number of actuators and rows. Source: Gosselin & Angeles 1990; Zlatanov,
Fenton & Benhabib 1994."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import CayleyError, ConventionError, SingularityError, UnreachableError
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.scale import check_closed, length_unit, lengths
from cayley.kinematics.constraints.space import allowed_velocities
from cayley.kinematics.frame_kernels import frame_kernel
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.model.tree import Tree
from cayley.showing import brief

_AGREES = 1e-8
ROW_LENGTHS = np.arange(6) < 3  # of a twist, (v; w): which rows are lengths


@dataclass(frozen=True, eq=False)
class InputOutput:
    """Jx (..., r, k) and Jq (..., r, m), and what follows: motions and rates, forces and wrenches, each way. Where
    there is no answer, or more than one, it is NaN in a batch, and an error for one configuration that says which."""

    Jx: Array
    Jq: Array
    task_sizes: Array = field(repr=False)
    """(k): what the rows of the task are measured in where ranks are decided: the size of the machine, or a radian."""
    rate_sizes: Array = field(repr=False)  # (m): the same of the actuated rates

    __repr__ = brief

    @property
    def _scaled(self) -> tuple[Array, Array]:
        return self.Jx * self.task_sizes, self.Jq * self.rate_sizes

    def motion(self, rates: ArrayLike) -> Array:
        """The motion (..., k) of the frame by the rates (..., m) of the actuated joints."""
        Jx, Jq = self._scaled
        return self.task_sizes * _solved(
            Jx, Jq, _columns(rates, self.rate_sizes) / self.rate_sizes,
            "the motion of the frame does not follow from the actuated joints",
            "rates of the actuated joints that the constraints do not allow")

    def rates(self, motion: ArrayLike) -> Array:
        """The rates (..., m) of the actuated joints for a motion (..., k) of the frame."""
        Jx, Jq = self._scaled
        return self.rate_sizes * _solved(
            Jq, Jx, _columns(motion, self.task_sizes) / self.task_sizes,
            "the rates of the actuated joints do not follow from this task",
            "a motion of the frame that the mechanism cannot have")

    def forces(self, wrench: ArrayLike) -> Array:
        """Forces (..., m) of the actuated joints with which the frame's body exerts a wrench (..., k), at rest and
        without gravity; the least of them if there are more actuators than freedoms."""
        Jx, Jq = self._scaled
        return _balanced(Jx, Jq, _columns(wrench, self.task_sizes) * self.task_sizes,
                         "a wrench that no actuator holds") / self.rate_sizes

    def wrench(self, forces: ArrayLike) -> Array:
        """The wrench (..., k) that forces (..., m) of the actuated joints exert with the frame's body, at rest; the
        least of them if the structure carries others by itself."""
        Jx, Jq = self._scaled
        return _balanced(Jq, Jx, _columns(forces, self.rate_sizes) * self.rate_sizes,
                         "forces that no wrench of this task balances") / self.task_sizes


def input_output(tree: Tree, q: ArrayLike, frame: str, *, task: str | Sequence[bool], axes: str) -> InputOutput:
    """Jx and Jq at closed configurations (..., nq), for a task of a frame: "pose", "position", "orientation", or six
    truth values for (x, y, z; x, y, z), linear first, along the axes.

    >>> from cayley.model.catalogue import load_robot
    >>> both = input_output(load_robot("four_bar"), np.zeros(3), "rocker", task=[0, 0, 0, 0, 0, 1], axes="world")
    >>> both.motion([1.6]).round(12)
    array([1.])
    """
    at = closed(tree, q)
    N = allowed_velocities(tree, at)
    places = list(tree.actuated_velocities)
    unit = length_unit(tree)
    asked = Task.of(tree, task, axes).rows
    task_sizes = np.where(ROW_LENGTHS, unit, 1.0)[np.asarray(asked, dtype=bool)]
    rate_sizes = lengths(tree, unit)[places]
    X = task_rows(tree, frame, task, axes)(at) @ N
    Jx, Jq = across(X / task_sizes[:, None], N[..., places, :] / rate_sizes[:, None])
    return InputOutput(Jx / task_sizes, Jq / rate_sizes, task_sizes, rate_sizes)


def closed(tree: Tree, q: ArrayLike) -> Array:
    """Configurations (..., nq) that keep all constraints, or an error that says that one does not."""
    check_untimed(tree)
    at = np.asarray(q, dtype=float)
    if at.shape[-1:] != (tree.nq,):
        raise ConventionError(f"a configuration of {tree.name} is (..., {tree.nq}), not {at.shape}")
    check_closed(tree, at)
    return at


def task_rows(tree: Tree, frame: str, task: str | Sequence[bool], axes: str) -> Callable[[Array], Array]:
    """The rows (..., k, nv) of a frame's Jacobian that a task asks for, by the configuration."""
    tree.frame(frame)
    if axes is None:
        raise ConventionError('say in which axes the task is: axes="world", "body", or the name of a frame')
    chosen = [k for k, asked in enumerate(Task.of(tree, task, axes).rows) if asked]
    made: Kernel = kept(tree, ("task rows", frame, axes),
                        lambda: frame_kernel(tree, general_jacobian, "(q)->(6,v)", frame, axes=axes))
    return lambda q: made(q)[..., chosen, :]


def across(X: Array, Q: Array) -> tuple[Array, Array]:
    """Jx (..., r, k) and Jq (..., r, m) with Jx X = Jq Q, of X (..., k, d) and Q (..., m, d); r is the most of all
    configurations, and rows that are too many are zero."""
    both = np.concatenate([X, Q], axis=-2)
    U, values, _ = np.linalg.svd(both)
    rank = np.count_nonzero(values > _least_of(both) * values.max(axis=-1, keepdims=True, initial=0.0), axis=-1)
    first = int(rank.min(initial=both.shape[-2]))
    kept_rows = np.arange(first, both.shape[-2]) >= rank[..., None]
    rows = np.swapaxes(U[..., :, first:] * kept_rows[..., None, :], -1, -2)
    k = X.shape[-2]
    return rows[..., :k], -rows[..., k:]


def _solved(left: Array, right: Array, values: Array, undetermined: str, impossible: str) -> Array:
    """x (..., n) of left x = right given, if there is just one."""
    side = (right @ values[..., None])[..., 0]
    found, rank, _ = _least(left, side)
    off = np.linalg.norm((left @ found[..., None])[..., 0] - side, axis=-1)
    size = np.linalg.norm(values, axis=-1)
    return _answers(found, {undetermined: rank < left.shape[-1], impossible: off > _AGREES * size}, SingularityError)


def _balanced(left: Array, right: Array, values: Array, impossible: str) -> Array:
    """right^T s with left^T s = given, of least length: forces for a wrench, or a wrench for forces."""
    s, _, free = _least(np.swapaxes(left, -1, -2), values)
    found = (s[..., None, :] @ right)[..., 0, :]
    spare = np.swapaxes(free, -1, -2) @ right  # what can be added without a change of the given side
    shorter = found - (np.linalg.pinv(spare, rcond=_least_of(spare)) @ (spare @ found[..., None]))[..., 0]
    off = np.linalg.norm((s[..., None, :] @ left)[..., 0, :] - values, axis=-1)
    return _answers(shorter, {impossible: off > _AGREES * np.linalg.norm(values, axis=-1)}, UnreachableError)


def _least(A: Array, b: Array) -> tuple[Array, Array, Array]:
    """The shortest x (..., n) with the least |A x - b|, the ranks of A (...), and its null vectors as columns (..., n,
    n), those that are none zero."""
    U, s, V = np.linalg.svd(A)
    n = s.shape[-1]
    counts = s > _least_of(A)
    part = np.einsum("...ik,...i->...k", U[..., :n], b) * np.where(counts, 1 / np.where(counts, s, 1.0), 0.0)
    rank = counts.sum(axis=-1)
    null = np.arange(V.shape[-1]) >= rank[..., None]
    return np.einsum("...ki,...k->...i", V[..., :n, :], part), rank, np.swapaxes(V * null[..., None], -1, -2)


def _least_of(A: Array) -> float:
    return least_singular(max(A.shape[-2:]))


def _columns(given: ArrayLike, sizes: Array) -> Array:
    values = np.asarray(given, dtype=float)
    if values.shape[-1:] != sizes.shape:
        raise ConventionError(f"expected numbers (..., {len(sizes)}), not of the shape {values.shape}")
    return values


def _answers(found: Array, faults: dict[str, Array], error: type[CayleyError]) -> Array:
    if found.ndim == 1:
        for words, bad in faults.items():
            if bad:
                raise error(f"{words} at this configuration: see `actuation_singularity`")
    return np.where(np.any([np.asarray(bad) for bad in faults.values()], axis=0)[..., None], np.nan, found)
