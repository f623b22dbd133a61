"""`Mechanism`: the one object that a user has of a robot. The data are the tree's; the algorithms come from the layers
below.

What is computed for a named frame is a family of kernels: `arm.jacobian(q, "tool", axes="world")` broadcasts over
leading axes of its arrays, and `arm.jacobian.of("tool", axes="world")` is the kernel itself, with its counts,
equations, derivatives and C.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.kernel_family import family
from cayley.dynamics.dynamic_tree import DynamicTree
from cayley.errors import UnreachableError, UnsupportedError
from cayley.kinematics import analytic, general_jacobian, statics, velocity
from cayley.kinematics.attitude import attitude as attitude_named
from cayley.kinematics.body_points import point_position
from cayley.kinematics.closure import mobility
from cayley.kinematics.frame_kernels import frame_kernel, pose_matrix, sized_kernel
from cayley.kinematics.indices import Indices, indices, manipulability
from cayley.kinematics.inverse import InverseKinematicsResult, inverse_kinematics
from cayley.kinematics.inverse.analytic import AllSolutions, all_solutions
from cayley.kinematics.singularities import Singularity, singularity_at
from cayley.kinematics.uniform_units import uniform_jacobian
from cayley.model import configurations
from cayley.model.catalogue import catalogue_names, load_robot
from cayley.model.denavit_hartenberg.conversion import dh_from_tree, tree_from_dh
from cayley.model.denavit_hartenberg.table import DHRow, DHTable, rows_from_numbers
from cayley.model.floating_base import on_floating_base
from cayley.model.formats.endings import ending_of
from cayley.model.formats.mjcf import load_mjcf
from cayley.model.formats.mjcf_text import dump_mjcf
from cayley.model.formats.toml_format import load_toml
from cayley.model.formats.toml_text import dump_toml
from cayley.model.formats.urdf import load_urdf
from cayley.model.formats.urdf_text import dump_urdf
from cayley.model.report import Report, report, unknown_masses

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cayley.drawing.workspaces import Workspace
    from cayley.simulation import Rollout, Trajectory

TaskRows = str | Sequence[bool]


def load(name_or_path: str | os.PathLike[str], *, floating_base: bool = False) -> Mechanism:
    """A robot of the catalogue by its name, or a mechanism from a .urdf, .xml (MJCF) or .toml file.

    With `floating_base` its root moves freely in a body `world`: q begins with position and quaternion (w, x, y, z), qd
    with the twist (v; w) in the root's axes. MJCF says itself what floats, with `<freejoint/>`.

    >>> arm = load("puma560")
    >>> arm.nq
    6
    >>> load("puma560", floating_base=True).nq
    13
    """
    ending = ending_of(name_or_path)
    if ending in (".xml", ".mjcf"):
        if floating_base:
            raise UnsupportedError(
                f"{os.fspath(name_or_path)}: MJCF says itself what floats; leave floating_base out, and give the body "
                "a <freejoint/>")
        return load_mjcf(name_or_path, make=Mechanism.of)
    if ending == ".urdf":
        return load_urdf(name_or_path, floating_base=floating_base, make=Mechanism.of)
    made = load_toml(name_or_path, make=Mechanism.of) if ending == ".toml" else load_robot(
        str(name_or_path), make=Mechanism.of)
    return on_floating_base(made) if floating_base else made


def catalogue() -> tuple[str, ...]:
    """The names of the robot models that `load` knows.

    >>> "panda" in catalogue()
    True
    """
    return tuple(catalogue_names())


class Mechanism(DynamicTree):
    """An immutable tree of bodies and joints, with its kinematics and dynamics as compiled kernels.

    It is made by `load`, `Mechanism.from_dh` or `Mechanism.of`. Its data are `name`, `bodies`, `joints`, `frames`,
    `gravity`, `loops`, `source`; its sizes `nq` and `nv`. Every body is a frame by its own name; the end effector of
    the robots here is the frame "tool".

    What is computed for a frame is asked with its name, `arm.pose(q, "tool")`; the kernel behind it, with its counts,
    equations, derivatives and C, is `arm.pose.of("tool")`. What is not of a frame is a kernel itself:
    `arm.gravity_forces.c_source()`.

    `q` (..., nq) is the configuration, `qd` (..., nv) the velocity, `qdd` (..., nv) the acceleration. Twists are (v; w),
    wrenches (f; m). `axes` are always named: "world" (the root's), "body" (the frame's own), or a frame. The reference
    point is the frame's origin, or `at` a point: coordinates (..., 3) in the frame, or the name of a frame, for the
    point of the body that is there now.

    >>> arm = load("planar2r")
    >>> arm.pose([0.0, 0.0], "tool").shape, arm.jacobian(np.zeros((10, 2)), "tool", axes="world").shape
    ((4, 4), (10, 6, 2))
    """

    @staticmethod
    def from_dh(rows: Any, *, convention: Literal["standard", "modified"], **options: Any) -> Mechanism:
        """A serial chain from a Denavit-Hartenberg table; the convention, "standard" or "modified", must be named.

        Rows are `DHRow`, or numbers (theta, d, a, alpha) [rad, m, m, rad] of revolute joints. The options are those of
        `model.denavit_hartenberg.conversion.tree_from_dh`: `name`, `base` and `tool` (4, 4), `masses` (n) [kg],
        `centers` (n, 3) [m] and `inertias` (n, 3, 3) [kg m^2] of the links in their frames, `gravity`, `frames`,
        `source`.

        >>> Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard", name="two links")
        <two links: 3 bodies, 2 joints, nq = 2, nv = 2>
        """
        listed = list(rows)
        table = listed if all(isinstance(row, DHRow) for row in listed) else rows_from_numbers(listed)
        return tree_from_dh(table, convention=convention, make=Mechanism.of, **options)

    def dh_table(self, *, convention: Literal["standard", "modified"], frame: str | None = None) -> DHTable:
        """The Denavit-Hartenberg table of the chain to a frame ("tool", or the only end); see
        `model.denavit_hartenberg.dh_from_tree`.

        >>> print(load("planar2r").dh_table(convention="standard"))
          i joint         theta [rad]        d [m]        a [m]    alpha [rad]   standard
          1 revolute               q1            0          0.5              0
          2 revolute               q2            0          0.4              0
        """
        return dh_from_tree(self, convention=convention, frame=frame).table

    def save(self, path: str | os.PathLike[str], *, leave_out: bool = False) -> None:
        """Write a .toml, .urdf or .xml (MJCF) file. What URDF or MJCF cannot hold is an error, or, with `leave_out`, a
        comment in the file.

        >>> load("planar2r").save("arm.stl")
        Traceback (most recent call last):
        cayley.errors.UnsupportedError: a mechanism is written as .toml, .urdf, .xml or .mjcf, not as '.stl'
        """
        ending = Path(path).suffix.lower()
        if ending not in (".toml", ".urdf", ".xml", ".mjcf"):
            raise UnsupportedError(f"a mechanism is written as .toml, .urdf, .xml or .mjcf, not as {ending!r}")
        write = dump_urdf if ending == ".urdf" else dump_mjcf
        Path(path).write_text(
            dump_toml(self) if ending == ".toml" else write(self, leave_out=leave_out), encoding="utf-8")

    def report(self) -> Report:
        """Bodies, joints, limits, masses, the mobility if there are constraints, and warnings about them.

        It prints as text; `cayley.studio.write_report` makes a page of HTML, with the robot in 3-D.
        """
        if not self.loops and not self.followers:
            return report(self)
        try:
            return report(self, self.mobility)
        except UnreachableError as why:
            return report(self, str(why))

    @cached_property
    def mobility(self) -> int:
        """The degrees of freedom that loops and mimic joints leave, at configurations that have nothing special about
        them.

        >>> load("panda_hand").nv, load("panda_hand").mobility
        (9, 8)
        """
        return mobility(self)

    def with_missing_masses(self, mass: float) -> Mechanism:
        """The same mechanism with this mass [kg], at their origins, for the bodies that move and whose mass is unknown:
        0 for dummy links.

        Dynamics refuse such bodies by name rather than guess. A joint that then moves no mass at all has no
        acceleration.

        >>> from cayley.model.joint_kinds import Revolute
        >>> from cayley.model.parts import Body, Joint
        >>> arm = Mechanism.of("arm", [Body("base"), Body("dummy"), Body("link", 2.0, (0.5, 0, 0))],
        ...                    [Joint("a", "base", "dummy", Revolute()), Joint("b", "dummy", "link", Revolute((0.0, 1.0, 0.0)))])
        >>> arm.with_missing_masses(0.0).inertia_matrix([0.0, 0.0])
        array([[0.5, 0. ],
               [0. , 0.5]])
        """
        unknown = set(unknown_masses(self))
        bodies = [replace(body, mass=mass) if number in unknown else body for number, body in enumerate(self.bodies)]
        return self._of_parts(bodies, self.joints)

    # Configurations

    def random_configuration(self, size: int | tuple[int, ...] = (), *,
                             seed: int | np.random.Generator | None = None) -> np.ndarray:
        """Configurations (*size, nq) within the limits; see `cayley.model.configurations`.

        >>> load("ur5").random_configuration((2, 3), seed=0).shape
        (2, 3, 6)
        """
        return configurations.random_configuration(self, size, seed=seed)

    def normalized(self, q: Any) -> np.ndarray:
        """The configurations with their quaternions brought to length one."""
        return configurations.normalized(self, q)

    def with_followers(self, q: Any) -> np.ndarray:
        """The configurations with every joint that follows another (`mimic`) where that one takes it; in q they are
        independent.
        """
        return configurations.with_followers(self, q)

    def check_configuration(self, q: Any, *, limits: bool = True) -> None:
        """Raise if `q` (..., nq) is no configuration of this mechanism, or, with `limits`, outside them."""
        configurations.check_configuration(self, q, limits=limits)

    @cached_property
    def integrate(self) -> Kernel:
        """`integrate(q, qd)`: where the constant velocity qd leads from q in unit time."""
        return sized_kernel(self, "(q),(v)->(q)", lambda q, qd: self._joined("step", self.q_slices, q, self.v_slices, qd),
                            "integrate",
                            sentence="Where the constant velocity qd leads from the configuration q in unit time.",
                            unit="q")

    @cached_property
    def difference(self) -> Kernel:
        """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
        return sized_kernel(self, "(q),(q)->(v)",
                            lambda start, end: self._joined("difference", self.q_slices, start, self.q_slices, end),
                            "difference",
                            sentence="The constant velocity that leads from one configuration to another in unit time.",
                            unit="qd")

    # Positions

    @family("q")
    def pose(self, frame: str, *, relative_to: str = "world") -> Kernel:
        """`pose(q, frame, relative_to="world")`: forward kinematics, the pose (..., 4, 4) of a frame in the root's
        frame, or in another.

        >>> load("planar2r").pose([0.0, np.pi / 2], "tool")[:3, 3].round(12)
        array([0.5, 0.4, 0. ])
        """
        return frame_kernel(self, pose_matrix, "(q)->(4,4)", frame, relative_to=relative_to)

    @family("q", "point")
    def point(self, frame: str, *, relative_to: str = "world") -> Kernel:
        """`point(q, point, frame, relative_to="world")`: where a point (..., 3) of a frame is, seen from another [m].

        >>> load("planar2r").point([0.0, np.pi / 2], [0.1, 0.0, 0.0], "tool").round(12)
        array([0.5, 0.5, 0. ])
        """
        return frame_kernel(self, point_position, "(q),(3)->(3)", frame, relative_to=relative_to)

    @family("q")
    def coordinates(self, frame: str, *, attitude: str, relative_to: str = "world") -> Kernel:
        """`coordinates(q, frame, attitude="zyx moving")`: position and orientation (..., 6 or 7) of a frame; see
        `kinematics.attitude`.

        `SingularityError` where a vector-parameter is infinite, at half-turns; the kernel's `unchecked` does not look.

        >>> load("planar2r").coordinates([0.0, np.pi / 2], "tool", attitude="rotation vector").round(6)
        array([0.5 , 0.4 , 0. , 0. , 0. , 1.570796])
        """
        size = 3 + attitude_named(attitude).size
        infinite = attitude == "vector-parameter"  # the others have values everywhere
        check = analytic.check_attitude(self, frame, attitude=attitude, relative_to=relative_to) if infinite else None
        return frame_kernel(self, analytic.coordinates, f"(q)->({size})", frame, check=check, attitude=attitude,
                            relative_to=relative_to)

    # Velocities and accelerations

    @family("q", "qd", given=["at"])
    def twist(self, frame: str, *, axes: str | None = None, at: Any = None) -> Kernel:
        """`twist(q, qd, frame, axes=..., at=None)`: velocity of a point of the frame's body and its angular velocity,
        (..., 6).

        >>> load("planar2r").twist([0.0, 0.0], [1.0, 0.0], "tool", axes="world") + 0.0
        array([0. , 0.9, 0. , 0. , 0. , 1. ])
        """
        return frame_kernel(self, velocity.twist, "(q),(v)->(6)", frame, axes=axes, at=at)

    @family("q", "qd", "qdd", given=["at"])
    def acceleration(self, frame: str, *, axes: str | None = None, at: Any = None) -> Kernel:
        """`acceleration(q, qd, qdd, frame, axes=..., at=None)`: true acceleration of a point and angular acceleration,
        (..., 6), no gravity.

        >>> load("planar2r").acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "tool", axes="world") + 0.0
        array([-0.9, 0. , 0. , 0. , 0. , 0. ])
        """
        return frame_kernel(self, velocity.acceleration, "(q),(v),(v)->(6)", frame, axes=axes, at=at)

    # Jacobians

    @family("q", given=["at"])
    def jacobian(self, frame: str, *, axes: str | None = None, at: Any = None, relative_to: str = "world") -> Kernel:
        """`jacobian(q, frame, axes=..., at=None, relative_to="world")`: the geometric Jacobian, the twist by the
        velocities, (..., 6, nv).

        >>> load("planar2r").jacobian([0.0, 0.0], "tool", axes="world")[1]
        array([0.9, 0.4])
        """
        return frame_kernel(self, general_jacobian.general_jacobian, "(q)->(6,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q", "qd", given=["at"])
    def jacobian_rate(self, frame: str, *, axes: str | None = None, at: Any = None,
                      relative_to: str = "world") -> Kernel:
        """`jacobian_rate(q, qd, frame, axes=..., at=None, relative_to="world")`: the time derivative of `jacobian`,
        (..., 6, nv).

        >>> load("planar2r").jacobian_rate([0.0, 0.0], [1.0, 0.0], "tool", axes="world")[0]
        array([-0.9, -0.4])
        """
        return frame_kernel(self, general_jacobian.jacobian_rate, "(q),(v)->(6,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q", given=["at"])
    def hessian(self, frame: str, *, axes: str | None = None, at: Any = None, relative_to: str = "world") -> Kernel:
        """`hessian(q, frame, axes=..., at=None, relative_to="world")`: changes of `jacobian` by unit velocities, (...,
        6, nv, nv).

        >>> load("planar2r").hessian([0.0, 0.0], "tool", axes="world")[0]
        array([[-0.9, -0.4],
               [-0.4, -0.4]])
        """
        return frame_kernel(self, general_jacobian.hessian, "(q)->(6,v,v)", frame, axes=axes, at=at,
                            relative_to=relative_to)

    @family("q")
    def analytic_jacobian(self, frame: str, *, attitude: str, relative_to: str = "world") -> Kernel:
        """`analytic_jacobian(q, frame, attitude="zyx moving")`: the rates of `coordinates` by the velocities, (..., 6
        or 7, nv).

        `SingularityError` where the parameters of the attitude are singular; the kernel's `unchecked` does not look.

        >>> load("planar2r").analytic_jacobian([0.0, 0.0], "tool", attitude="quaternion")[6]
        array([0.5, 0.5])
        """
        check = analytic.check_attitude(self, frame, attitude=attitude, relative_to=relative_to)
        return frame_kernel(self, analytic.analytic_jacobian, f"(q)->({3 + attitude_named(attitude).size},v)", frame,
                            check=check, attitude=attitude, relative_to=relative_to)

    # Statics

    @family("q", "wrench", given=["at"])
    def joint_forces_that_exert(self, frame: str, *, axes: str | None = None, at: Any = None) -> Kernel:
        """`joint_forces_that_exert(q, wrench, frame, axes=..., at=None)`: the torques J^T wrench (..., nv), at rest and
        without gravity.

        The wrench (..., 6) is what the frame's body exerts on its surroundings; of one that acts ON it, the sign is the
        other.

        >>> load("planar2r").joint_forces_that_exert([0.0, 0.0], [0.0, 10.0, 0.0, 0.0, 0.0, 0.0], "tool", axes="world")
        array([9., 4.])
        """
        return frame_kernel(self, statics.joint_forces_that_exert, "(q),(6)->(v)", frame, axes=axes, at=at)

    @family("q", "wrench", given=["at"])
    def joint_forces_that_resist(self, frame: str, *, axes: str | None = None, at: Any = None) -> Kernel:
        """`joint_forces_that_resist(q, wrench, frame, axes=..., at=None)`: -J^T wrench (..., nv), against a wrench ON
        the frame's body.

        >>> load("planar2r").joint_forces_that_resist([0.0, 0.0], [0.0, -10.0, 0.0, 0.0, 0.0, 0.0], "tool", axes="world")
        array([9., 4.])
        """
        return frame_kernel(self, statics.joint_forces_that_resist, "(q),(6)->(v)", frame, axes=axes, at=at)

    # How good a configuration is. Tasks are "pose", "position", "orientation", or six truth values (x, y, z; x, y, z)
    # along the axes

    @family("q")
    def manipulability(self, frame: str, *, task: TaskRows, axes: str | None = None,
                       characteristic_length: float | None = None) -> Kernel:
        """`manipulability(q, frame, task=..., axes=...)`: sqrt(det(J J^T)) (...) of the task's Jacobian; see
        `kinematics.indices`.

        >>> plane = (True, True, False, False, False, False)
        >>> load("planar2r").manipulability([0.3, np.pi / 2], "tool", task=plane, axes="world").round(12)
        np.float64(0.2)
        """
        self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self, manipulability, "(q)->()", frame, task=task, axes=axes,
                            characteristic_length=characteristic_length)

    @family("q")
    def task_jacobian(self, frame: str, *, task: TaskRows, axes: str | None = None,
                      characteristic_length: float | None = None) -> Kernel:
        """`task_jacobian(q, frame, task=..., axes=...)`: the rows (..., m, n) of a task, by the joints on the way, in
        one unit.

        Mixed units are refused, unless a characteristic length [m] says how many metres are worth a radian; see
        `kinematics.uniform_units`.

        >>> load("planar2r").task_jacobian([0.0, 0.0], "tool", task="position", axes="world").shape
        (3, 2)
        """
        rows, columns = self._task_shape(frame, task, characteristic_length)
        return frame_kernel(self, uniform_jacobian, f"(q)->({rows},{columns})", frame, task=task, axes=axes,
                            characteristic_length=characteristic_length)

    def indices(self, q: Any, frame: str, *, task: TaskRows, axes: str,
                characteristic_length: float | None = None) -> Indices:
        """Condition number, manipulability, isotropy and the four subspaces (null space, lost directions) of the task's
        Jacobian.

        >>> plane = (True, True, False, False, False, False)
        >>> round(float(load("planar2r").indices([0.3, np.pi / 2], "tool", task=plane, axes="world").condition_number), 6)
        2.440197
        """
        return indices(self.task_jacobian(q, frame, task=task, axes=axes, characteristic_length=characteristic_length))

    def singularity(self, q: Any, frame: str, *, task: TaskRows, axes: str, **options: Any) -> Singularity:
        """Whether one configuration (nq) is singular for a task, what is lost, and the class; options as
        `singularity_at`.

        >>> plane = (True, True, False, False, False, False)
        >>> load("planar2r").singularity([0.3, 0.0], "tool", task=plane, axes="world").kind
        'boundary'
        """
        return singularity_at(self, q, frame, task=task, axes=axes, **options)

    # Inverse kinematics

    def inverse_kinematics(self, target: Any, frame: str, **options: Any) -> InverseKinematicsResult:
        """Configurations (..., nq) that bring a frame to poses (..., 4, 4), by search; options as
        `kinematics.inverse.inverse_kinematics`.

        >>> arm = load("ur5")
        >>> found = arm.inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, bool(found.residual < 1e-10)
        ('solved', True)
        """
        return inverse_kinematics(self, target, frame, **options)

    def all_inverse_kinematics(self, target: Any, frame: str, *, reference: Any = None) -> AllSolutions:
        """All configurations (..., m, nq) that bring a frame to poses (..., 4, 4), in closed form; see `AllSolutions`.

        For planar arms of two and three joints, SCARA and Stanford arms, arms with a spherical wrist, and the UR
        family; `UnsupportedError` says why an arm is none of these. `reference` chooses among whole turns, and values
        for free joints.

        >>> arm = load("ur5")
        >>> found = arm.all_inverse_kinematics(arm.pose([0.1, -1.2, 1.0, 0.2, 0.7, 0.0], "tool"), "tool")
        >>> found.status, int(found.count), found.branches[0]
        ('solved', 8, 'shoulder left, wrist up, elbow up')
        """
        return all_solutions(self, target, frame, reference=reference)

    # Motion in time

    def simulate(self, q: Any, qd: Any, **options: Any) -> Trajectory:
        """The motion from a state, by an integrator with error control; options as `cayley.simulation.simulate`.

        >>> load("planar2r").simulate([0.0, 0.0], [0.0, 0.0], until=0.5, progress=False).status
        'finished'
        """
        from cayley.simulation import simulate
        return simulate(self, q, qd, **options)

    def rollout(self, **options: Any) -> Rollout:
        """Compiled rollouts of fixed steps, for batches of states, made once for each choice; options as
        `cayley.simulation.rollout`.

        >>> load("planar2r").rollout(method="rk4")(np.zeros((3, 2)), np.zeros(2), step=1e-3, steps=100, every=50).q.shape
        (3, 3, 2)
        """
        from cayley.simulation import rollout
        key = tuple(
            sorted((name, tuple(choice) if isinstance(choice, list) else choice) for name, choice in options.items()))
        if key not in self._rollouts:
            self._rollouts[key] = rollout(self, **options)
        return self._rollouts[key]

    @cached_property
    def _rollouts(self) -> dict[tuple, Rollout]:
        return {}

    # Pictures

    def draw(self, q: Any = None, **options: Any) -> Axes:
        """The mechanism as a stick figure with frames, at one configuration or several; options as
        `cayley.drawing.stick_figure`.

        >>> load("planar2r").draw([0.3, 0.6]).name
        'rectilinear'
        """
        from cayley.drawing import stick_figure
        return stick_figure(self, q, **options)

    def workspace(self, frame: str, **options: Any) -> Workspace:
        """What a frame can reach within the limits; draws itself. Options as `cayley.drawing.workspace`.

        >>> round(load("planar2r").workspace("tool", samples=2000).farthest, 6)
        0.9
        """
        from cayley.drawing import workspace
        return workspace(self, frame, **options)

    def _joined(self, method: str, first: Sequence[slice], x: Any, second: Sequence[slice], y: Any) -> Any:
        """What a method of the joints gives, joint after joint."""
        parts = [
            getattr(j.motion, method)(x[a], y[b]) for j, a, b in zip(self.joints, first, second, strict=True)
            if j.motion.nq]
        return np.concatenate(parts or [np.zeros(0)])

    def _task_shape(self, frame: str, task: TaskRows, characteristic_length: float | None) -> tuple[int, ...]:
        """Rows and columns of a task's Jacobian; an error if their units are mixed."""
        return np.shape(
            uniform_jacobian(self, self.neutral, frame, task=task, axes="world",
                             characteristic_length=characteristic_length))

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the data. Kernels are made anew where it arrives, and their code comes from the cache."""
        return {field.name: getattr(self, field.name) for field in fields(self)}
