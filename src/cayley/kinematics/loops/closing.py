"""Closed configurations near guesses: compiled steps for the many that are near, a careful search for the others, and,
where limits are to be kept, a search between them; and random closed configurations.

A *branch*, of a mechanism whose other joints follow from its inputs, is a piece of its closed configurations between
dead centres of the inputs: on it the determinant of the constraint Jacobian by the followers, det A_f, keeps its sign.
Configurations of different signs are never on one branch; two of the same sign may be on different ones, if there are
more than two assembly modes. Random configurations are uniform in no measure, and may be of any assembly mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, UnreachableError, shown
from cayley.geometry.batch import place
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.closure import closed_carefully, openings
from cayley.kinematics.constraints.inputs import Inputs, common_batch
from cayley.kinematics.constraints.rows import hold_positions, jacobian_kernel, scaled
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import difference_kernel, integrate_kernel
from cayley.kinematics.loops.closing_search import closed_nearby, closed_within_limits, closing_search
from cayley.model.configurations import check_configuration, random_configuration, with_mimic_joints
from cayley.model.named_configurations import near_zero
from cayley.model.tree import Tree
from cayley.progress import PatientBar
from cayley.showing import brief

_TOUCHING = 1e-9  # [rad, m]: beyond a limit by less is at it
_STATUS = np.array(["open", "outside limits", "closed"])


@dataclass(frozen=True, eq=False)
class Closure:
    """Configurations (..., nq) near guesses in which all constraints are kept, or the nearest that were found."""

    status: str | Array
    """(...) "closed", "outside limits" (only closed configurations outside the limits were found), or "open" (no closed
    configuration was found near the guess, or the guess is NaN)."""
    configuration: Array
    residual: float | Array  # (...) the length of what is left open [m, rad]
    iterations: int | Array
    by_chance: bool | Array
    """(...) whether no small steps led there from the guess, but chance ones, maybe to another assembly mode."""
    _guess: Array = field(repr=False)
    _inputs: Inputs = field(repr=False)
    _time: tuple[Array, ...] = field(repr=False)

    __repr__ = brief

    @property
    def message(self) -> str:
        """The first constraint that is left open and the cure, in words; nothing if all are closed."""
        wrong = np.argwhere(np.asarray(self.status) != "closed")
        if not len(wrong):
            return ""
        first = tuple(wrong[0].tolist())
        where = f" in configuration{place(first)}" if first else ""
        if np.asarray(self.status)[first] == "outside limits":
            return f"only configurations beyond limits of joints were found{where}"
        name, opening = max(((name, float(np.asarray(each)[first])) for name, each in self.openings.items()),
                            key=lambda each: each[1])
        if np.isnan(opening):
            return f"the guess{place(first)} is not a number"
        return (f"{name!r} is left open by {opening:.3g}{where}: the inputs cannot have these values, or all closed "
                "configurations are far from the guess; `assemblies` looks for them from many starts")

    @cached_property
    def independent(self) -> int | Array:
        """(...) how many velocities the constraints leave there: more than the mobility where the mechanism is
        singular; 0 where the guess is NaN."""
        tree = self._inputs.tree
        if not tree.is_constrained:
            return _plain(np.full(np.shape(self.status), tree.nv))
        there = np.asarray(np.isfinite(self.configuration).all(-1))
        A = np.where(there[..., None, None], _jacobian(tree, self.configuration, *self._time), 0.0)
        is_known = (np.asarray(self.status) != "open").any()
        A = constraint_structure(tree).scaled(A) if is_known else scaled(tree, A)
        return _plain(np.where(there, tree.nv - rank_of(A), 0))

    @cached_property
    def branch(self) -> int | Array:
        """(...) the sign, 1 or -1, of the determinant of the constraint Jacobian by the joints that follow from the
        inputs, or without inputs from the `independent` velocities: between different signs there is a dead centre. 0
        where it is open, and where the others do not follow, or rows are redundant in a way that changes."""
        return _plain(np.where(np.asarray(self.status) == "open", 0, self._sign(self.configuration)))

    @cached_property
    def crossed(self) -> bool | Array:
        """(...) whether the determinant of `branch` had another sign at the guess: then a dead centre was passed, and
        this is not the branch that the guess is near."""
        return _plain((np.asarray(self.branch) * self._sign(self._guess)) < 0)

    @cached_property
    def within_limits(self) -> bool | Array:
        """(...) whether no coordinate is beyond its limits, by more than 1e-9."""
        return _plain(is_within_limits(self._inputs.tree, self.configuration))

    @cached_property
    def openings(self) -> dict[str, Array]:
        """The openings (...) of loops and other constraints, by name [m, rad]."""
        return openings(self._inputs.tree, self.configuration, *self._time)

    def _sign(self, q: Array) -> Array:
        is_known = (np.asarray(self.status) != "open").any()
        return branch_sign(self._inputs, q, *self._time) if is_known else np.zeros(q.shape[:-1])


def close(tree: Tree, q: ArrayLike, t: ArrayLike | None = None, *,
          fixed: Sequence[str] | Mapping[str, ArrayLike] = (), limits: bool = False) -> Closure:
    """The configurations (..., nq) near guesses in which loops are closed and all other constraints are kept, at times
    `t` (...) [s] if one of them depends on it.

        fixed     names of joints that stay where they are in the guess, the inputs; or their values (...) by names
        limits    True looks for configurations within the limits of the joints, further away if there are none near
    A guess from which no small step closes anything (links in a row) is left by chance steps, the same each time:
    `by_chance`. `branch` and `crossed` say on which side of dead centres the result is. NaN guesses stay NaN, and
    "open".

    >>> from cayley.model.catalogue import load_robot
    >>> found = close(load_robot("four_bar"), [0.0, 0.0, 0.0], fixed={"crank": [0.3, 0.6]})
    >>> found.status.tolist(), found.configuration[:, 2].round(4).tolist()
    (['closed', 'closed'], [0.1882, 0.3711])
    """
    inputs = Inputs.of(tree, fixed)
    guesses = _guesses(tree, inputs, q, fixed)
    times = _times(tree, t, guesses)
    guesses = np.broadcast_to(guesses, (*times.shape, tree.nq))
    batch = times.shape
    rows = guesses.reshape(int(np.prod(batch)), tree.nq)
    known = np.isfinite(rows).all(-1)
    found = [np.zeros(len(rows), dtype=int), np.full(rows.shape, np.nan), np.full(len(rows), np.nan),
             np.zeros(len(rows), dtype=int), np.zeros(len(rows), dtype=bool)]
    for whole, own in zip(found, _closed(tree, inputs, rows[known], times.reshape(-1)[known], limits), strict=True):
        whole[known] = own
    shaped = [values.reshape(batch + values.shape[1:]) for values in found]
    status, closed, residual, iterations, by_chance = shaped
    return Closure(_plain(_STATUS[status]), closed, _plain(residual), _plain(iterations), _plain(by_chance), guesses,
                   inputs, (times,) if tree.is_timed else ())


def _closed(tree: Tree, inputs: Inputs, guesses: Array, times: Array, limits: bool) -> list[Array]:
    if not hold_positions(tree).any():
        q = guesses.copy()
        closed = np.ones(len(q), dtype=bool)
        residual, iterations, by_chance = np.zeros(len(q)), np.zeros(len(q), dtype=int), np.zeros(len(q), dtype=bool)
    else:
        q, closed, residual, iterations = closed_nearby(tree, inputs, guesses, times)
        by_chance = np.zeros(len(q), dtype=bool)
        for k in np.flatnonzero(~closed):
            careful = closed_carefully(tree, guesses[k], inputs.following, times[k] if tree.is_timed else None)
            closed[k], q[k], residual[k], iterations[k], _, by_chance[k] = careful
        _settle(tree, inputs, q, times, residual, np.flatnonzero(~closed))
    status = np.where(closed, 2, 0)
    if limits:
        beyond = np.flatnonzero(~is_within_limits(tree, q))
        if beyond.size:
            inside, q_inside, residual_inside, iterations_inside = closed_within_limits(tree, inputs, q[beyond],
                                                                                        times[beyond])
            status[beyond] = np.where(inside, 2, np.minimum(status[beyond], 1))
            there = beyond[inside]
            q[there] = q_inside[inside]
            residual[there] = residual_inside[inside]
            iterations[there] += iterations_inside[inside]
            by_chance[there] |= iterations_inside[inside] > 0  # not if whole turns were enough
    return [status, q, residual, iterations, by_chance]


def _settle(tree: Tree, inputs: Inputs, q: Array, times: Array, residual: Array, rows: Array) -> None:
    """Bring what stays open as near to being closed as it comes."""
    if rows.size:
        searching = closing_search(tree, inputs, limits=False)
        nearer = searching.settled(q[rows], times[rows])
        moved = (nearer != q[rows]).any(axis=-1)
        q[rows] = nearer
        residual[rows[moved]] = searching.opening(nearer[moved], times[rows[moved]])


def _guesses(tree: Tree, inputs: Inputs, guess: ArrayLike, fixed: Sequence[str] | Mapping[str, ArrayLike]) -> Array:
    guesses = np.asarray(guess, dtype=float)
    if isinstance(fixed, Mapping):
        values = inputs.values(fixed)
        guesses = inputs.put(guesses, values) if guesses.shape[-1:] == (tree.nq,) else guesses
    single = guesses.ndim < 2
    if guesses.shape[-1:] != (tree.nq,) or np.isinf(guesses).any() or (single and np.isnan(guesses).any()):
        raise ConventionError(
            f"a guess must be a configuration of finite numbers (..., {tree.nq}) of {tree.name}, not {shown(guess)}")
    check_configuration(tree, guesses[~np.isnan(guesses).any(-1)], limits=False)
    return guesses


def _times(tree: Tree, t: ArrayLike | None, guesses: Array) -> Array:
    """The time of each guess (...), or 0."""
    times = np.zeros(()) if t is None else np.asarray(t, dtype=float)
    if (t is None) == tree.is_timed or not np.isfinite(times).all():
        raise ConventionError(f"a constraint of {tree.name} depends on time: say at which t [s] it is to be closed"
                              if tree.is_timed else f"no constraint of {tree.name} depends on the time t = {times}")
    return np.broadcast_to(times, common_batch({"guesses": guesses.shape[:-1], "times": times.shape}))


def is_within_limits(tree: Tree, q: Array) -> Array:
    """A mask (...) of the configurations that have no coordinate beyond its limits by more than rounding."""
    return np.asarray(((q >= tree.lower - _TOUCHING) & (q <= tree.upper + _TOUCHING)).all(axis=-1))


def branch_sign(inputs: Inputs, q: Array, *time: Array) -> Array:
    """The signs (...) of det A_f at configurations (..., nq), and at times if they matter; 0 where there is no such
    determinant."""
    tree = inputs.tree
    followers = followers_of(inputs) if tree.is_constrained else None
    if followers is None:
        return np.zeros(q.shape[:-1], dtype=int)
    rows = np.array(constraint_structure(tree).leading)
    A = _jacobian(tree, q, *time)[..., rows[:, None], followers]
    return np.sign(np.linalg.slogdet(np.nan_to_num(A)).sign).astype(int)


def followers_of(inputs: Inputs) -> Array | None:
    """The places of the velocities that follow from those of the inputs, or, if there are none, from the independent
    ones of the structure; None if they do not follow."""
    if not hold_positions(inputs.tree).all():
        return None
    structure = constraint_structure(inputs.tree)
    others = np.flatnonzero(inputs.following) if inputs.numbers else np.array(
        [k for k in range(inputs.tree.nv) if k not in structure.independent])
    return others if structure.by_structure and len(others) == structure.rank else None


def _jacobian(tree: Tree, q: Array, *time: Array) -> Array:
    return np.asarray(kept(tree, "constraint Jacobian", lambda: jacobian_kernel(tree))(q, *time))


def _plain(values: Array) -> Scalar:
    return values if np.ndim(values) else np.asarray(values).item()


_ROUNDS = 50
_FAR_AND_WIDE = 5  # rounds before guesses are drawn near
_LEAST = 64  # guesses of a round: more are as cheap
_PIECE = 1000  # guesses between two looks at the clock


def random_closed_configuration(tree: Tree, size: int | tuple[int, ...] = (), *,
                                seed: int | np.random.Generator | None = None) -> Array:
    """Random closed configurations (*size, nq) within the limits; `UnreachableError` if too few were found.

    >>> from cayley.model.catalogue import load_robot
    >>> random_closed_configuration(load_robot("four_bar"), 4, seed=0).shape
    (4, 3)
    """
    check_untimed(tree)
    random = np.random.default_rng(seed)
    free = tree.spanning_tree()
    wanted = random_configuration(free, size, seed=random)
    if not hold_positions(tree).any():
        return wanted
    count = int(np.prod(wanted.shape[:-1]))
    found = np.zeros((0, tree.nq))
    with PatientBar(f"closed configurations of {tree.name}", count) as bar:
        for k in range(_ROUNDS):
            if len(found) >= count:
                return found[:count].reshape(wanted.shape)
            guesses = random_configuration(free, max(2 * (count - len(found)), _LEAST), seed=random)
            if k >= _FAR_AND_WIDE:
                guesses = _drawn_near(tree, guesses, random)
            for piece in np.split(guesses, range(_PIECE, len(guesses), _PIECE)):
                nearby = closed_nearby(tree, Inputs.of(tree, ()), piece, np.zeros(len(piece)))
                good = nearby.closed & is_within_limits(tree, nearby.q)
                found = np.concatenate([found, nearby.q[good]])
                bar.reached(min(len(found), count))
    raise UnreachableError(
        f"of {tree.name} {len(found)} closed configurations within its limits were found, and {count} were asked for: "
        "`close(q, limits=True)` looks for one near a guess")


def _drawn_near(tree: Tree, guesses: Array, random: np.random.Generator) -> Array:
    """Somewhere on the ways from a configuration that is closed to the guesses (n, nq)."""
    anchor = kept(tree, "closed anchor", lambda: close(tree, tree.neutral, limits=True))
    if anchor.status != "closed":
        return guesses
    away = kept(tree, "difference", lambda: difference_kernel(tree))(anchor.configuration, guesses)
    return kept(tree, "integrate", lambda: integrate_kernel(tree))(anchor.configuration,
                                                                    away * random.uniform(size=(len(guesses), 1)))


def neutral_within_limits(tree: Tree) -> Array:
    """The configuration (nq) with every joint at its zero, or in the middle of its range where zero is outside; of a
    mechanism with loops and other constraints a closed one near that, at the time 0 if motions are prescribed. Raises
    `UnreachableError` if there is none within the limits.

    >>> from cayley.model.catalogue import load_robot
    >>> neutral_within_limits(load_robot("panda")).round(4)
    array([ 0.    ,  0.    ,  0.    , -1.5708,  0.    ,  0.    ,  0.    ])
    """
    rest = near_zero(tree)
    if not (tree.loops or tree.constraints):
        q = with_mimic_joints(tree, rest)
        check_configuration(tree, q)
        return q
    found = close(tree, rest, 0.0 if tree.is_timed else None, limits=True)
    if found.status != "closed":
        raise UnreachableError(f"no configuration within the limits of {tree.name} was found that keeps its "
                               f"constraints: {found.status}")
    return found.configuration
