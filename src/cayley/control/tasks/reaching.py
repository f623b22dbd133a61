"""Inverse kinematics of several tasks: configurations in which they are done, within the limits of positions.

    q <- q + s dq        dq from the tasks with gain 1: J dq = e as well as limits and priorities let them
                         lower - q <= dq <= upper - q,    A dq = -phi of constraints
These are steps of Levenberg and Marquardt, of which each is a quadratic program; |dq|^2 costs half as much as the error
is large, and s keeps a step shorter than half a radian or metre. Near a solution the error after a step is about the
square of that before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.derivatives.iterated_steps import named_kernel
from cayley.compiler.kernel import Kernel
from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.control.tasks.answer import NO_NUMBER, NOT_CONVERGED, SOLVED
from cayley.control.tasks.task import ControlTask
from cayley.model.configuration_space import configuration_step
from cayley.model.tree import Tree
from cayley.systems import System

DAMPING = "length_of_step"
NOT_REACHED = 1.0
_LONGEST = 0.5
_CAUTION = 0.5
_NEAR = 100.0  # tolerances of the last step that the error may have
_WORDS = np.array(["solved", "not reached", "not converged", "not a number"])
_REASONS = np.array([
    "all tasks of the highest priority are done",
    "no small motion comes nearer: limits, other tasks or the reach of the mechanism are in the way",
    "the steps have not come to rest: more iterations, or another start, may help",
    "an input is not a number, or the constraints of the mechanism are singular here"])


@dataclass(frozen=True, eq=False)
class ReachedConfiguration:
    """The configuration `q` (..., nq) of several tasks, what is missing to each target by the name of its task, and
    the number of `iterations`."""

    q: Array
    missing: dict[str, Array]
    iterations: Array
    _status: Array = field(repr=False)

    @property
    def status(self) -> str | Array:
        """"solved", "not reached", "not converged" or "not a number"."""
        return _said(_WORDS, self._status)

    @property
    def reason(self) -> str | Array:
        """The status in a sentence."""
        return _said(_REASONS, self._status)


def _said(words: Array, status: Array) -> str | Array:
    found = words[np.asarray(status, dtype=int)]
    return str(found) if np.ndim(found) == 0 else found


def reaching_kernel(tree: Tree, tasks: Sequence[ControlTask], steps: System, iterations: int,
                    tolerance: float) -> Kernel:
    """The kernel (start, targets) -> (q, what is missing to each target, iterations, status). `steps` is the
    controller of the same tasks with gain 1, by which a step takes the whole error away, and of a task DAMPING."""
    names = [name for name in steps.ports if name.startswith("target_")]
    aims = [task for task in tasks if task.shape(tree) is not None]
    first = min(task.priority for task in tasks)
    asked = [task for task in aims if task.priority == first]
    still = {name: np.full(port.shape, port.default) for name, port in steps.ports.items() if port.default is not None}

    def text(given: dict[str, Array]) -> tuple[Scalar, ...]:
        def errors(q: Array, tasks: Sequence[ControlTask]) -> list[Array]:
            u = steps.input_record({**still, **given, "q": q})
            return [task.error(tree, q, task.aim(tree, u)) for task in tasks]

        def turn(q: Array, moved: Scalar, count: Scalar, fault: Scalar) -> tuple[Scalar, ...]:
            e = np.concatenate([*errors(q, asked), np.zeros(1)])
            weight = _CAUTION * np.sqrt(e @ e) * np.ones(np.shape(steps.parameters[f"weight_{DAMPING}"]))
            found = steps.values(0.0, steps.layout.state(np.zeros(0)), steps.input_record({**still, **given, "q": q}),
                                 steps.parameter_record({f"weight_{DAMPING}": weight}))
            longest = np.max(np.abs(found["qd"]))
            share = _LONGEST / np.maximum(longest, _LONGEST)
            return configuration_step(tree, q, share * found["qd"]), longest, count + 1.0, found["status"]

        q, moved, count, fault = repeat(lambda now: turn(*now), (given["q"], 1.0, 0.0, 0.0), iterations,
                                        until=lambda now: (now[1] <= tolerance) | (now[3] == NO_NUMBER))
        is_done = np.max(np.abs(np.concatenate(errors(q, asked)))) <= _NEAR * tolerance if asked else True
        status = where(moved <= tolerance, where(is_done, SOLVED, NOT_REACHED), NOT_CONVERGED)
        return (q, *errors(q, aims), count, where(fault == NO_NUMBER, NO_NUMBER, status))

    results = [(tree.nq,), *[(len(task.rows(tree)),) for task in aims], (), ()]
    return named_kernel(text, {"q": (tree.nq,), **{name: steps.ports[name].shape for name in names}}, results,
                        "inverse_kinematics")
