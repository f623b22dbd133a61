"""Closed configurations along a path of inputs, on one branch: all samples of all paths by compiled steps, and where
these do not see the branch plainly, in smaller and smaller parts of a sample, to where the branch ends.

    A_f x = -(phi + A_i d)       d the displacement of the inputs in the prediction, none in the corrections
    det A_f                      keeps its sign on a branch
At a dead centre of the inputs two branches meet and end; at a bifurcation branches cross, and the inputs are not held.
Neither is passed; but where A_f has no determinant, a crossing between two steps is not seen. A step is good if the
first correction is much smaller than the prediction, each correction much smaller than the one before, and det A_f has
the same sign at all places. A state whose step failed is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.iterate import Iterated, iterate
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.linear import eliminated, ldl, ldl_solve
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.inputs import Inputs, common_batch
from cayley.kinematics.constraints.rows import (
    check_holonomic,
    jacobian_kernel,
    length_unit,
    lengths,
    machine_size,
    residual_kernel,
    row_sizes,
)
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.continuation import Progress
from cayley.kinematics.frame_kernels import difference_kernel
from cayley.kinematics.inverse.search import integrate
from cayley.kinematics.loops.closing import branch_sign, close, is_within_limits
from cayley.model.tree import Tree

FOLLOWED, DEAD_CENTRE, BIFURCATION, LIMIT, OPEN = range(5)
_STATUS = np.array(["followed", "dead centre", "bifurcation", "limit", "open"])
_SHORTEST = 1e-12  # [rad, sizes of the machine], beside the values of the inputs: smaller parts are not tried
_TAKES_PART = 0.05  # of the largest: a row or velocity with less has no part in what is singular
_HELD = 1e-3  # of the displacement of the inputs: what a singular row sees of it at a dead centre
_CLOSED = 1e-10  # in the size of the machine, and radians: what may be left open after a step
_SINGULAR = 1e-3  # of the largest singular value


@dataclass(frozen=True, eq=False)
class InputPath:
    """Closed configurations (..., m, nq) at m samples of the inputs, all on the branch of the start; NaN beyond the end
    of the branch, if it ends."""

    status: str | Array
    """(...) "followed" to the last sample, or why not: "dead centre" (the inputs cannot go on), "bifurcation" (another
    branch crosses), "limit" (a joint limit), or "open" (the start cannot be closed)."""
    configuration: Array
    reached: int | Array  # (...) how many samples were reached
    end: Array  # (..., nq) the last configuration that was reached, at the last sample or beyond it
    undetermined: int  # how many velocities do not follow from the inputs: those joints take the shortest way
    _code: Array = field(repr=False)
    _ahead: Array = field(repr=False)
    _inputs: Inputs = field(repr=False)

    @cached_property
    def residual(self) -> Array:
        """(..., m) the length of what is left open at each sample [m, rad]."""
        residual = kept(self._inputs.tree, "constraint residual", lambda: residual_kernel(self._inputs.tree))
        return np.linalg.norm(residual(self.configuration), axis=-1)

    @property
    def stopped_at(self) -> dict[str, Array]:
        """The values (...) of the inputs at the end, by name; (..., k) of a joint with k coordinates."""
        tree = self._inputs.tree
        values = {name: self.end[..., tree.q_slices[number]]
                  for name, number in zip(self._inputs.names, self._inputs.numbers, strict=True)}
        return {name: value[..., 0] if value.shape[-1] == 1 else value for name, value in values.items()}

    @cached_property
    def stopped_by(self) -> tuple[str, ...] | Array:
        """(...) the names of the constraints that depend on each other at the end, or of joints at their limits;
        nothing of a path that was followed."""
        ends = self.end.reshape(self._code.size, self._inputs.tree.nq)
        found = np.empty(len(ends), dtype=object)
        for k, (code, end, ahead) in enumerate(zip(self._code.flat, ends, self._ahead, strict=True)):
            found[k] = _stopped_by(self._inputs, int(code), end, ahead)
        return found.reshape(self._code.shape)[()]

    @cached_property
    def branch(self) -> int | Array:
        """(...) the sign of the determinant of the constraint Jacobian by the followers at the end; see `Closure`."""
        return _plain(branch_sign(self._inputs, self.end))

    def __repr__(self) -> str:
        along = f"along {', '.join(self._inputs.names)}"
        if np.ndim(self.status):
            return f"<paths {along}: {np.count_nonzero(self._code == FOLLOWED)} of {self._code.size} followed>"
        by = f" by {', '.join(self.stopped_by)}" if len(self.stopped_by) else ""
        return f"<path {along}: {self.status}{by}, {self.reached} of {self.configuration.shape[-2]} samples>"


def follow_inputs(tree: Tree, inputs: Mapping[str, ArrayLike], start: ArrayLike, *, limits: bool = False) -> InputPath:
    """Closed configurations as inputs go through samples, from a start and on its branch.

    inputs    samples (..., m) of the coordinates of joints by their names, (..., m, k) for a joint with k coordinates;
              turns go on beyond pi, they are not wrapped
    start     configurations (..., nq), closed with the inputs where they are in it; the way from there to the first
              samples is followed, too
    limits    True ends a path where a joint is at its limit

    >>> from cayley.model.catalogue import load_robot
    >>> path = follow_inputs(load_robot("four_bar"), {"crank": np.linspace(0.0, 2 * np.pi, 50)}, [0.0, 0.0, 0.0])
    >>> path.status, bool(abs(path.end[2]) < 1e-9), bool(path.residual.max() < 1e-12)
    ('followed', True, True)
    >>> path = follow_inputs(load_robot("four_bar"), {"rocker": np.linspace(0.0, 2.0, 50)}, [0.0, 0.0, 0.0])
    >>> path.status, path.reached, path.stopped_at["rocker"].round(6), path.stopped_by
    ('dead centre', 22, np.float64(0.896666), ('pin',))
    """
    check_untimed(tree)
    check_holonomic(tree, "following inputs")
    own = Inputs.of(tree, inputs)
    own.check_followed()
    samples = _samples(own, inputs)
    q = np.asarray(start, dtype=float)
    if q.shape[-1:] != (tree.nq,):
        raise ConventionError(f"a start must be a configuration (..., {tree.nq}) of {tree.name}, not {q.shape}")
    batch = common_batch({"starts": q.shape[:-1], "paths of inputs": samples.shape[:-2]})
    begun = close(tree, np.broadcast_to(q, (*batch, tree.nq)), fixed=own.names)
    paths = np.broadcast_to(samples, (*batch, *samples.shape[-2:]))
    count = int(np.prod(batch))
    walk = _Walk(own, begun.configuration.reshape(count, tree.nq), paths.reshape(count, *samples.shape[-2:]), limits)
    walk.open((np.asarray(begun.status) == "open").reshape(count))
    walk.at_once()
    walk.in_parts()
    return InputPath(_plain(_STATUS[walk.code.reshape(batch)]), walk.found.reshape(*batch, samples.shape[-2], tree.nq),
                     _plain(walk.reached.reshape(batch)), walk.q.reshape(*batch, tree.nq),
                     max(0, int(own.following.sum()) - constraint_structure(tree).rank), walk.code.reshape(batch),
                     walk.ahead, own)


class _Walk:
    """Paths (n) on their way: where each is, how many samples it has reached, and which part of the next."""

    def __init__(self, inputs: Inputs, q: Array, samples: Array, limits: bool) -> None:
        tree = inputs.tree
        self.inputs = inputs
        self.samples = samples
        self.limits = limits
        self.q = q.copy()
        self.found = np.full((*samples.shape[:2], tree.nq), np.nan)
        self.reached = np.zeros(len(q), dtype=int)
        self.code = np.full(len(q), FOLLOWED)
        self.ahead = np.zeros((len(q), len(inputs.velocities)))
        self.sign = branch_sign(inputs, q).astype(float) if len(q) else np.zeros(0)
        unit = length_unit(tree)
        self._units = lengths(tree, unit)
        self._measures = np.array([unit if word == "m" else 1.0 for joint in tree.joints
                                   for word in joint.motion.coordinate_units])
        self._step = following_step(inputs, machine_size(tree))
        self._difference = kept(tree, "difference", lambda: difference_kernel(tree)).ufunc()
        self._residual = kept(tree, "constraint residual", lambda: residual_kernel(tree)).ufunc()

    def open(self, which: Array) -> None:
        self.code[which] = OPEN

    def at_once(self) -> None:
        """All samples in one call, as far as every step is a good one."""
        going = np.flatnonzero(self.code == FOLLOWED)
        count = self.samples.shape[1]
        if not going.size or not count:
            return
        steps = self._displacements(self.q[going], self.samples[going])
        stage = self._stages(self.q[going], self.sign[going], steps)
        arrived = is_arrived(stage) & self._is_closed(stage.q)
        fine = np.logical_and.accumulate(arrived & self._is_allowed(stage.q), axis=1)
        self.reached[going] = fine.sum(axis=1)
        self.found[going] = np.where(fine[..., None], self._exact(stage.q, self.samples[going]), np.nan)
        some = self.reached[going] > 0
        rows = going[some]
        self.q[rows] = self.found[rows, self.reached[rows] - 1]

    def in_parts(self) -> None:
        """The rest, each path in parts of its own size."""
        walk = Progress(len(self.q))
        while (rows := np.flatnonzero((self.code == FOLLOWED) & (self.reached < self.samples.shape[1]))).size:
            aim = self.samples[rows, self.reached[rows]]
            whole = self._displacements(self.q[rows], aim[:, None])[:, 0]
            share, last = walk.ahead(rows)
            steps = share[:, None] * whole
            stage = self._stages(self.q[rows], self.sign[rows], steps[:, None])
            q = stage.q[:, 0]
            allowed = self._is_allowed(q)
            fine = is_arrived(stage)[:, 0] & allowed & self._is_closed(q)
            self.q[rows[fine]] = q[fine]
            arrived = rows[fine & last]
            self.q[arrived] = self._exact(self.q[arrived], aim[fine & last])
            self.found[arrived, self.reached[arrived]] = self.q[arrived]
            self.reached[arrived] += 1
            walk.record(rows, fine, last)
            reach = 1.0 + np.abs((self.q[rows] / self._measures)[:, self.inputs.coordinates]).max(axis=1, initial=0.0)
            short = np.abs(steps / self._units[self.inputs.velocities]).max(axis=1, initial=0.0) <= _SHORTEST * reach
            stuck = ~fine & short
            self._stop(rows[stuck], whole[stuck], ~allowed[stuck])

    def _stop(self, rows: Array, ahead: Array, at_limit: Array) -> None:
        for row, way, limited in zip(rows, ahead, at_limit, strict=True):
            self.ahead[row] = way
            self.code[row] = LIMIT if limited else _kind_of_end(self.inputs, self.q[row], way)

    def _displacements(self, q: Array, samples: Array) -> Array:
        there = self.inputs.put(q[:, None], samples)
        before = np.concatenate([q[:, None], there[:, :-1]], axis=1)
        with np.errstate(all="ignore"):
            return self._difference(before, there)[..., self.inputs.velocities]

    def _stages(self, q: Array, sign: Array, steps: Array) -> StageResult:
        ones = np.ones(len(q))
        with np.errstate(all="ignore"):
            return StageResult(*self._step(q, ones, 0 * ones, sign, steps, STAGES, steps=steps.shape[1]))

    def _exact(self, q: Array, samples: Array) -> Array:
        made = q.copy()
        made[..., self.inputs.coordinates] = samples
        return made

    def _is_closed(self, q: Array) -> Array:
        left = np.abs(self._residual(q)) / row_sizes(self.inputs.tree)
        return np.asarray(left.max(axis=-1, initial=0.0) <= _CLOSED)

    def _is_allowed(self, q: Array) -> Array:
        return is_within_limits(self.inputs.tree, q) if self.limits else np.ones(q.shape[:-1], dtype=bool)


def _kind_of_end(inputs: Inputs, q: Array, ahead: Array) -> int:
    """The reason for the end: a dead centre if the singular row depends on the inputs, a bifurcation if not, or open
    inputs that contradict each other if nothing is singular."""
    A, U, values = _singular(inputs, q)
    if values.size and values[-1] > _SINGULAR * values[0]:
        return OPEN
    seen = np.abs(U[:, -1] @ (A[:, inputs.velocities] @ ahead))
    return DEAD_CENTRE if seen > _HELD * np.linalg.norm(A[:, inputs.velocities] * ahead) else BIFURCATION


def _stopped_by(inputs: Inputs, code: int, q: Array, ahead: Array) -> tuple[str, ...]:
    tree = inputs.tree
    if code == LIMIT:
        near = np.minimum(q - tree.lower, tree.upper - q) < 1e-8 * (1 + np.abs(q))
        return tuple(joint.name for joint, place in zip(tree.joints, tree.q_slices, strict=True) if near[place].any())
    if code not in (DEAD_CENTRE, BIFURCATION):
        return ()
    _, U, _ = _singular(inputs, q)
    structure = constraint_structure(tree)
    part = np.abs(U[:, -1]) > _TAKES_PART * np.abs(U[:, -1]).max(initial=0.0)
    return tuple(dict.fromkeys(structure.rows[k].constraint
                               for k, takes in zip(_rows(inputs), part, strict=True) if takes))


def _singular(inputs: Inputs, q: Array) -> tuple[Array, Array, Array]:
    """The rows of A, and the left singular vectors and singular values of those of the followers."""
    A = constraint_structure(inputs.tree).scaled(np.asarray(kept(
        inputs.tree, "constraint Jacobian", lambda: jacobian_kernel(inputs.tree))(q)))[_rows(inputs)]
    U, values, _ = np.linalg.svd(A[:, inputs.following])
    return A, U, values


def _rows(inputs: Inputs) -> list[int]:
    structure = constraint_structure(inputs.tree)
    return list(structure.leading) if structure.by_structure else list(range(len(structure.rows)))


def _samples(inputs: Inputs, given: Mapping[str, ArrayLike]) -> Array:
    if not isinstance(given, Mapping) or not given:
        raise ConventionError(f"inputs are samples by names of joints of {inputs.tree.name}, as {{'crank': angles}}")
    samples = inputs.values(given)
    if samples.ndim < 2 or not np.isfinite(samples).all():
        raise ConventionError(
            f"inputs of {inputs.tree.name} are finite samples (..., m) of each of {', '.join(inputs.names)}")
    return samples


def _plain(values: Array) -> Scalar:
    return values if np.ndim(values) else np.asarray(values).item()


STAGES = np.array([1.0, 0.0, 0.0, 0.0])  # the displacement of the inputs in the prediction and the corrections
_SMALLER = 0.25  # a correction, beside the one before
_TINY = 1e-9  # corrections by less are rounding
_ARRIVED = 1e-7  # the last correction: what is left after it is its square
_LONGEST = 0.5  # [rad, sizes of the machine]: a prediction


class StageResult(NamedTuple):
    """The configuration after a stage (nq), whether the step is a good one so far, the length of the prediction or
    correction, and the sign of det A_f where it was made."""

    q: Array
    good: Scalar
    size: Scalar
    sign: Scalar


def following_step(inputs: Inputs, size: float) -> Iterated:
    """`(q, good, size, sign, d, moving)` -> the `StageResult` after all stages of a step, for d along samples."""
    tree = inputs.tree
    structure = constraint_structure(tree)
    rows = list(structure.leading) if structure.by_structure else list(range(len(structure.rows)))
    followers = np.flatnonzero(inputs.following)
    scale = 1.0 / lengths(tree, size)
    units = lengths(tree, length_unit(tree))
    sizes = row_sizes(tree)[rows]

    def text(q: Array, good: Scalar, size: Scalar, sign: Scalar, d: Array, moving: Scalar) -> Any:  # noqa: ANN401 (a Stage)
        A = constraints.jacobian(tree, q)[rows] / sizes[:, None]
        right = -(constraints.residual(tree, q)[rows] / sizes + A[:, inputs.velocities] @ (moving * d))
        x, here = _solution(A[:, followers] * units[followers], right)
        change = np.zeros(tree.nv, dtype=object)
        change[followers] = units[followers] * x
        change[inputs.velocities] = moving * d
        length = np.sqrt(sum(entry * entry for entry in change * scale))
        predicting = moving > 0
        before = where(predicting, _LONGEST / _SMALLER, size)
        is_short = (length <= _SMALLER * before) | ((moving == 0) & (length <= _TINY))
        arrived = (moving == 0) | (size <= _ARRIVED)  # at the sample before
        fine = (good > 0) & is_short & arrived & (here != 0) & (here == where(sign == 0, here, sign))
        return StageResult(where(fine, integrate(tree, q, change), q), where(fine, 1.0, 0.0), length,
                     where(sign == 0, here, sign))

    signature = f"({tree.nq}),(),(),(),({len(inputs.velocities)}),()->({tree.nq}),(),(),()"
    made: Kernel = kernel(signature, name="following_step", inputs=("q", "good", "size", "sign", "d", "moving"),
                  outputs=("q_after", "good_after", "size_after", "sign_after"))(text)
    feeding = {name: f"{name}_after" for name in StageResult._fields}
    return kept(tree, ("following step", inputs.numbers),
                lambda: iterate(made, feeding, changing=["d"], cycling=["moving"]))


def is_arrived(stage: StageResult) -> Array:
    """True where a step was good to its end."""
    return (np.asarray(stage.good) > 0) & (np.asarray(stage.size) <= _ARRIVED)


def _solution(A: Array, right: Array) -> tuple[Any, Any]:
    """x of A x = right, and the sign of the determinant of A, 0 if A is nearly singular; if A is not square x is the
    shortest, or that of least squares, and the sign is 1."""
    h, n = A.shape
    least = least_singular(n)
    if h == n:
        made = eliminated(A)
        sign = made.sign
        for pivot in made.pivots:
            sign = sign * np.sign(pivot)
        return np.array(made.solve(list(right))), sign * _is_regular(made.pivots, least)
    square = A @ A.T if h < n else A.T @ A
    is_regular = _is_regular(ldl(square)[1], least**2)
    return A.T @ ldl_solve(square, right) if h < n else ldl_solve(square, A.T @ right), is_regular


def _is_regular(pivots: Sequence[Any], least: float) -> Scalar:
    """1, or 0 if one pivot is nearly zero beside the largest."""
    sizes = [abs(pivot) for pivot in pivots]
    return where(reduce(np.minimum, sizes) > least * reduce(np.maximum, sizes), 1.0, 0.0) if sizes else 1.0
