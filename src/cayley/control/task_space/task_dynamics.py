"""The dynamics of an arm in the rows of a task, and the forces that accelerate these rows as wanted: the common part of
laws in operational space.

    Lambda = (J M^-1 J^T)^-1     tau = h + tau0 + J^T Lambda (a - J' qd - J M^-1 (tau0 + J_w^T w))     then  r'' = a
w is the measured wrench of the environment on the frame; tau0 are further forces of a redundant arm, which the task
does not feel: tau is J^T (Lambda a + mu + p) + N^T (h + tau0), where N^T = 1 - J^T Lambda J M^-1 passes only what
accelerates nothing of the task, h = C qd + g, mu = Lambda (J M^-1 C qd - J' qd) and p = Lambda J M^-1 g.

Near singular postures the frame is all but immovable in some direction, and Lambda grows without bounds. It is found by
J M^-1 J^T = L D L^T, and pivots of D that are less than `near` tr(J J^T) / (m tr M), of the m rows of lengths and of
those of turns apart, are raised to that. Forces stay bounded, and r'' is less than wanted in that direction. Source:
Khatib 1987; Gill and Murray 1974.

A `Selection` says along which axes a law controls the position and along which the force: a contact imposes natural
constraints, and a law only the complementary, artificial ones. Source: Mason 1981; Raibert and Craig 1981."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.solving.linear import ldl, solve_lower, solve_lower_transposed
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.control.arms import finite_or, law_ports, numbers_of
from cayley.control.drive_dynamics import DriveDynamics
from cayley.dynamics.forward.singular_inertia import why_singular
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.external_loads import check_axes, wrench_unit
from cayley.dynamics.state_kernels import bias_forces_kernel
from cayley.errors import GeometryError, SignatureError, SingularityError, UnsupportedError, did_you_mean, shown
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, jacobian_rate
from cayley.kinematics.loops.closing import random_closed_configuration
from cayley.model.configurations import random_configuration
from cayley.model.tree import Tree
from cayley.showing import brief
from cayley.systems import Port, Record

_IMMOVABLE = 1e-12  # [1/kg, 1/(kg m^2)]: what counts as the lightness of rows that no joint moves


@dataclass(frozen=True)
class TaskDynamics:
    """The dynamics of the `rows` of (x, y, z; turn about x, y, z) of a frame, in their order. The wrench at the frame
    is measured in `axes`, its own ("body") or the root's ("world"). `turned` are the task's axes as the columns of a
    matrix (3, 3), if they are not the root's."""

    tree: Tree
    frame: str
    rows: tuple[int, ...]
    near: float
    null_damping: float
    axes: str
    drives: DriveDynamics

    @classmethod
    def of(cls, tree: Tree, frame: str, rows: tuple[int, ...], near: float, null_damping: float, what: str,
           axes: str = "body", turned: Array | None = None) -> TaskDynamics:
        """Checked: rows that no posture can do, joints that move no mass and wrong numbers are named."""
        check_axes(axes)
        if not is_finite_number(near) or not 0 < near < 1 or not is_finite_number(null_damping) or null_damping < 0:
            raise SignatureError(f"near must be between 0 and 1 and null_damping is not negative, not {shown(near)} "
                                 f"and {shown(null_damping)}: near is what bounds forces at singular postures")
        made = cls(tree, frame, rows, near, null_damping, axes, DriveDynamics.of(tree, what))
        places = random_closed_configuration(tree, 3, seed=0) if tree.is_constrained else random_configuration(
            tree, 3, seed=0)
        reached = kernel(sized(tree, f"(q)->({len(rows)},{made.drives.count})"), name="rows")(
            lambda q: made.drives.at(q).rows(made.jacobian(q, turned)))
        rank = max(int(rank_of(np.asarray(reached(q)))) for q in places)
        if rank < len(rows):
            raise UnsupportedError(
                f"a task of {len(rows)} rows ({', '.join(AXES[row] for row in rows)}) of {frame!r} is more than the "
                f"{made.drives.count} velocities of {tree.name} can do: {rank} of them are independent. Ask for fewer")
        if made.drives.is_open and (reason := why_singular(tree, places[0])) is not None:
            raise SingularityError(reason)
        return made

    @property
    def is_redundant(self) -> bool:
        return self.drives.count > len(self.rows)

    @property
    def besides(self) -> dict[str, Port]:
        """The port `null_tau` (nv) of a redundant arm: forces of which the task feels nothing."""
        return law_ports(self.tree, "null_tau") if self.is_redundant else {}

    @property
    def wrench(self) -> str:
        """The name of the port of what is measured."""
        return f"wrench_{self.frame}"

    @property
    def sensed(self) -> dict[str, Port]:
        """The port of what is measured."""
        return {self.wrench: Port((6,), wrench_unit(self.axes))}

    def in_rows(self, six: Array, turned: Array | None = None) -> Array:
        """The rows (m, ...) of six in the root's axes; a text."""
        if turned is not None:
            six = np.concatenate([turned.T @ six[:3], turned.T @ six[3:]])
        return six[list(self.rows)]

    def jacobian(self, q: Array, turned: Array | None = None) -> Array:
        """J (m, nv); a text."""
        return self.in_rows(general_jacobian(self.tree, q, self.frame, axes="world"), turned)

    def in_root_axes(self, q: Array, wrench: Array) -> Array:
        """A wrench (6) as it is measured, in the root's axes; a text."""
        if self.axes == "world":
            return wrench
        R = frame_pose(self.tree, q, self.frame).R
        return np.concatenate([R @ wrench[:3], R @ wrench[3:]])

    def measured(self, u: Record) -> Array:
        """The wrench (6) on the frame in the root's axes, zero where it is not finite; a text."""
        return self.in_root_axes(u.q, finite_or(u[self.wrench], 0.0))

    def forces(self, u: Record, acceleration: Array, *, push: Array | None = None, wrench: Array | None = None,
               turned: Array | None = None) -> Array:
        """tau (nv) for r'' (m) and an additional force `push` (m), under a known `wrench` (6), zero if not finite; a
        text."""
        tree = self.tree
        drives = self.drives
        here = drives.at(u.q, u.qd)
        all_rows = self.jacobian(u.q, turned)
        J = here.rows(all_rows)
        of_joints = inertia_matrix_kernel(tree)(u.q)
        M = here.inertia(of_joints)
        onward = solve(M, J.T)
        besides = np.zeros(drives.count)
        if self.is_redundant:
            besides = drives.picked(u.null_tau) - self.null_damping * (M @ drives.picked(u.qd))
        known = besides
        if wrench is not None:
            known = known + here.forces(general_jacobian(tree, u.q, self.frame, axes="world").T @ wrench)
        rate = self.in_rows(jacobian_rate(tree, u.q, u.qd, self.frame, axes="world") @ u.qd, turned)
        pull = self.heavy(M, J, onward, acceleration - here.drift(all_rows, rate) - onward.T @ known)
        bias = here.bias(of_joints, bias_forces_kernel(tree)(u.q, u.qd))
        return finite_or(drives.spread(bias + besides + J.T @ (pull if push is None else pull + push)), 0.0)

    def heavy(self, M: Array, J: Array, onward: Array, acceleration: Array) -> Array:
        """Lambda a (m), from M, J and M^-1 J^T (nv, m), with no direction all but immovable; a text."""
        linear = sum(row < 3 for row in self.rows)
        least = []
        for rows in (J[:linear], J[linear:]):
            mean = np.sum(rows * rows) / (max(len(rows), 1) * np.trace(M))
            least += [self.near * mean + _IMMOVABLE] * len(rows)
        L, pivots = ldl(J @ onward, least)
        x = [entry / pivot for entry, pivot in zip(solve_lower(L, acceleration), pivots, strict=True)]
        return np.stack(solve_lower_transposed(L, x))


AXES = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Selection:
    """Artificial constraints: the axes of the task's frame, "x", "y", "z" and turns about them "rx", "ry", "rz", along
    which a law controls the `position`, and those along which it controls the `force`; each in this order.

    >>> Selection.in_contact(velocity=["z"], force=["x", "y"])
    Selection(position=('x', 'y'), force=('z',))
    >>> Selection(position=["x", "z"], force=["z"])
    Traceback (most recent call last):
    cayley.errors.UnsupportedError: position and force clash along z: what touches gives one of them, ...
    """

    position: Sequence[str] = ()
    force: Sequence[str] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        for word in ("position", "force"):
            object.__setattr__(self, word, _axes(getattr(self, word), word))
        both = [axis for axis in AXES if axis in self.position and axis in self.force]
        if both:
            raise UnsupportedError(f"position and force clash along {', '.join(both)}: what touches gives one of them, "
                                   "and a law can impose the other only")
        if not self.position and not self.force:
            raise SignatureError("a selection has at least one axis of which the position or force is controlled")

    @classmethod
    def in_contact(cls, velocity: Iterable[str] = (), force: Iterable[str] = ()) -> Selection:
        """The selection for a law where a contact gives `velocity` along some axes and `force` along others."""
        natural = Selection(position=tuple(velocity), force=tuple(force))
        return cls(position=natural.force, force=natural.position)

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows of (x, y, z; turn about x, y, z) that are controlled, in their order."""
        return tuple(k for k, axis in enumerate(AXES) if axis in self.position or axis in self.force)

    @property
    def pressed(self) -> tuple[int, ...]:
        """The places among the rows where the force is controlled."""
        return tuple(k for k, row in enumerate(self.rows) if AXES[row] in self.force)

    @property
    def moved(self) -> tuple[int, ...]:
        """The places among the rows where the position is controlled."""
        return tuple(k for k, row in enumerate(self.rows) if AXES[row] in self.position)


def _axes(given: Iterable[str], word: str) -> tuple[str, ...]:
    """The axes, each once and in their order, in which gains and forces are given as well."""
    if not isinstance(given, Iterable):
        raise SignatureError(f"the {word} must be controlled along axes out of {', '.join(AXES)}, not {shown(given)}")
    named = [given] if isinstance(given, str) else list(given)
    for axis in named:
        if axis not in AXES:
            raise SignatureError(f"the {word} must be controlled along {', '.join(AXES)}, not {shown(axis)}"
                                 f"{did_you_mean(axis, AXES)}")
    if len(set(named)) < len(named):
        raise SignatureError(f"an axis is named twice among those of {word}: {', '.join(named)}")
    ordered = tuple(axis for axis in AXES if axis in named)
    if tuple(named) != ordered:
        raise SignatureError(f"axes must be named in the order {', '.join(AXES)}, in which gains and forces are given "
                             f"too: {word}={list(ordered)}, not {shown(named)}")
    return ordered


def axes_of(task_axes: ArrayLike | None) -> Array:
    """The axes of a task (3, 3), the columns of a rotation; those of the root if none are given."""
    if task_axes is None:
        return np.eye(3)
    given = numbers_of(task_axes, "the axes of a task")
    if given.shape != (3, 3) or not np.isfinite(given).all():
        raise GeometryError(f"the axes of a task must be the columns of a rotation (3, 3), not {shown(task_axes)}")
    check_rotation_matrix(given)
    return given
