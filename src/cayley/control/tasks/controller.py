"""The whole-body controller of a mechanism, as a system: `arm.tasks(...)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from cayley.compiler.algebras.counts import Operations
from cayley.compiler.kernel import Kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import ArrayLike, Scalar
from cayley.control.arms import check_rigid_drives
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.tasks.acceleration_level import AccelerationLevel
from cayley.control.tasks.answer import CONTRADICTION, NO_NUMBER, NOT_CONVERGED, SOLVED, TaskAnswer
from cayley.control.tasks.cascade import GIVEN, active, cascade
from cayley.control.tasks.contacts import Contact
from cayley.control.tasks.joint_limits import JointLimits, warn_of_missing
from cayley.control.tasks.kinds.damping import DampingTask
from cayley.control.tasks.programs import Wanted
from cayley.control.tasks.reaching import DAMPING, ReachedConfiguration, reaching_kernel
from cayley.control.tasks.task import ControlTask
from cayley.control.tasks.velocity_level import VelocityLevel
from cayley.errors import SignatureError, UnsupportedError, shown
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.model.tree import Tree
from cayley.planning.timing.limits import MotionLimits
from cayley.systems import Port, Record, State, System

Level = VelocityLevel | AccelerationLevel


@dataclass(frozen=True, eq=False, repr=False)
class TaskController(System):
    """A whole-body controller: a system without a state, so that it connects, is simulated, runs in batches and on the
    GPU, and becomes C, as every system does."""

    limit_names: tuple[str, ...] = ()
    tree: Tree | None = None
    tasks: tuple[ControlTask, ...] = ()
    is_in_contact: bool = False

    def operations(self) -> Operations:
        """The most operations that one period takes."""
        return self.step.operations()

    def at(self, *values: ArrayLike, **inputs: ArrayLike) -> TaskAnswer:
        """The answer for given inputs, in their order or by name, with its status in words; batches lead.

        >>> from cayley.control import PositionTask
        >>> hand = cy.load("planar2r").tasks([PositionTask("tool", axes="xy")])
        >>> hand.at([0.3, 0.7], target_tool=[0.6, 0.3, 0.0]).status
        'solved'
        """
        given = dict(zip(self.inputs, values, strict=False)) | inputs
        missing = [name for name, port in self.ports.items() if name not in given and port.default is None]
        unknown = [name for name in given if name not in self.inputs]
        if missing or unknown:
            raise SignatureError(f"{self.name} takes the inputs {', '.join(self.inputs)}; "
                                 f"{'missing' if missing else 'unknown'} is {(missing or unknown)[0]!r}")
        found = self.step(*[given.get(name, np.full(port.shape, port.default)) for name, port in self.ports.items()])
        return TaskAnswer(dict(zip(self.outputs, found, strict=True)), self.limit_names)

    def inverse_kinematics(self, start: ArrayLike, *targets: ArrayLike, iterations: int = 100,
                           tolerance: float = 1e-9) -> ReachedConfiguration:
        """A configuration (..., nq) in which the tasks are done, within the limits of positions: inverse kinematics of
        several frames at once.

        The steps begin at `start` (..., nq), and end when one is shorter than `tolerance` [rad, m]. The `targets` are
        those that are inputs, in their order. Weights and priorities decide where not all can be met; the gains, the
        level and limits of velocities and torques of the controller do not matter.

        >>> from cayley.control import PositionTask, PostureTask
        >>> arm = cy.load("planar3r")
        >>> tasks = [PositionTask("tool", axes="xy"), PostureTask(priority=1)]
        >>> both = arm.tasks(tasks, limits=cy.planning.MotionLimits())
        >>> found = both.inverse_kinematics([0.3, 0.4, 0.5], [0.6, 0.5, 0.0], np.zeros(3))
        >>> found.status, np.asarray(arm.pose(found.q, "tool"))[:2, 3].round(9).tolist()
        ('solved', [0.6, 0.5])
        """
        assert self.tree is not None
        if self.is_in_contact:
            raise UnsupportedError("contacts say how a mechanism moves, not where it is: give the feet a PoseTask or a "
                                   "PositionTask of priority 0 instead of a contact")
        key = (iterations, tolerance)
        if key not in self._reaching:
            first = min(task.priority for task in self.tasks)
            steps = task_controller(
                self.tree, [*[replace(task, gain=1.0) for task in self.tasks],
                            DampingTask(priority=first, name=DAMPING)], MotionLimits(), approach=1.0, closes=True)
            self._reaching[key] = reaching_kernel(self.tree, self.tasks, steps, iterations, tolerance)
        kernel = self._reaching[key]
        if len(targets) != len(kernel.inputs) - 1:
            raise SignatureError(f"inverse_kinematics of {self.name} takes {', '.join(kernel.inputs)}, "
                                 f"{len(kernel.inputs)} arrays, not {1 + len(targets)}")
        q, *missing, count, status = kernel(start, *targets)
        names = [task.label for task in self.tasks if task.shape(self.tree) is not None]
        return ReachedConfiguration(q, dict(zip(names, missing, strict=True)), count, status)

    @cached_property
    def _reaching(self) -> dict[tuple[int, float], Kernel[Any]]:
        return {}


def task_controller(tree: Tree, tasks: Sequence[ControlTask], limits: MotionLimits, *, contacts: Sequence[Contact] = (),
                    level: str = "velocity", approach: float = 10.0, period: float | None = None,
                    name: str = "tasks", says: bool = False, closes: bool = False) -> TaskController:
    """A controller for several tasks at once; see `Mechanism.tasks`. With `says` a warning tells which actuated joints
    have no limits. Velocities with `closes` take away by how much constraints are open, in one second."""
    found = _level(tree, limits, contacts, level, period, closes=closes)
    if says:
        kinds = {"velocity": "velocity"} if level == "velocity" else {"velocity": "velocity", "effort": "torque"}
        warn_of_missing(tree, found.limits, kinds)
    listed = _checked(tree, tasks, contacts)
    if not (np.isfinite(approach) and approach > 0):
        raise SignatureError(f"limits of position are approached at a rate that is positive [1/s], not {approach}")
    orders = sorted({task.priority for task in listed})
    levels = [[task for task in listed if task.priority == order] for order in orders]
    ports = dict(found.ports)
    parameters: dict[str, ArrayLike] = {"approach": approach}
    residuals = {f"residual_{task.label}": Port((len(task.rows(tree)),)) for task in listed}
    for task in listed:
        task.checked_target(tree)
        ports |= task.ports(tree, accelerates=found.accelerates)
        parameters |= task.parameters(tree)
    ports |= {f"contact_{contact.label}": Port((), default=1.0) for contact in contacts}
    outputs = found.outputs | residuals | {"active": Port((len(found.limit_names),))} | {
        "excess": Port(), "iterations": Port(), "status": Port()}
    if not found.limit_names:
        del outputs["active"]
    return TaskController(name, inputs=ports, outputs=outputs, parameters=parameters, acts=True,
                          output=partial(_answer, found, levels), limit_names=found.limit_names, tree=tree,
                          tasks=tuple(listed), is_in_contact=bool(contacts))


def _answer(found: Level, levels: Sequence[Sequence[ControlTask]], t: Scalar, x: State, u: Record,
            p: Record) -> dict[str, Any]:
    """All outputs; a text."""
    here = found.at(u, p)
    asked = [[Wanted(*found.wanted(task, here, u, p), p[f"weight_{task.label}"]) for task in level] for level in levels]
    best = cascade(here, asked)
    values = {name: by @ best.x + at for name, (by, at) in here.found.items()}
    residuals = {f"residual_{task.label}": rows.value - rows.A @ best.x
                 for level, of_level in zip(levels, asked, strict=True)
                 for task, rows in zip(level, of_level, strict=True)}
    known = np.isfinite(np.sum(best.x) + np.sum(here.motion) + np.sum(here.rest) + sum(
        np.sum(rows.value) for of_level in asked for rows in of_level))
    excess = where(best.slack > GIVEN, CONTRADICTION, SOLVED)
    outputs = values | residuals | ({"active": active(here, best)} if here.limits else {}) | {
        "excess": np.maximum(best.slack, 0.0), "iterations": best.iterations}
    return {name: where(known, value, 0.0) for name, value in outputs.items()} | {
        "status": where(known, where(best.solved != 0.0, excess, NOT_CONVERGED), NO_NUMBER)}


def _level(tree: Tree, limits: MotionLimits, contacts: Sequence[Contact], level: str, period: float | None, *,
           closes: bool) -> Level:
    check_untimed(tree)
    check_rigid_drives(tree, "a controller of tasks")
    leading = constraint_structure(tree).independent if tree.is_constrained else tuple(range(tree.nv))
    drives = DriveDynamics(tree, leading)
    bounds = JointLimits.of(tree, limits)
    for contact in contacts:
        if not isinstance(contact, Contact):
            raise SignatureError(f"contacts are PointContact and PatchContact, not {shown(contact)}")
        tree.frame(contact.frame)
    if level == "acceleration":
        return AccelerationLevel(tree, drives, bounds, tuple(contacts))
    if level != "velocity":
        raise SignatureError(f'the level of tasks is "velocity" or "acceleration", not {shown(level)}')
    made = VelocityLevel(tree, drives, bounds, tuple(contacts), period, closes)
    if made.sees_velocity and not (period is not None and np.isfinite(period) and period > 0):
        raise UnsupportedError("limits of acceleration need the period [s] between velocities: give `period`, or take "
                               'level="acceleration"')
    return made


def _checked(tree: Tree, tasks: Sequence[ControlTask], contacts: Sequence[Contact]) -> list[ControlTask]:
    """The tasks, each checked, with names that differ."""
    listed = list(tasks)
    if not listed:
        raise SignatureError("a controller has a task at least: a DampingTask stands still")
    for task in listed:
        if not isinstance(task, ControlTask):
            raise SignatureError(f"tasks are such as PoseTask(\"tool\") of cayley.control, not {shown(task)}")
        if not task.rows(tree):
            raise SignatureError(f"the task {task.label!r} of {tree.name} has no rows: no joint counts")
    for what, labels in (("tasks", [task.label for task in listed]), ("contacts", [each.label for each in contacts])):
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise SignatureError(f"two {what} are named {twice[0]!r}: give one of them a `name`" if what == "tasks" else
                                 f"two contacts are of the frame {twice[0]!r}")
    return listed
