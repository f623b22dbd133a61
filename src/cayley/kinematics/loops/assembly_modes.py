"""All ways to assemble a mechanism with its inputs where they are, numerically, by searches from many starts. While
some were met only once, there are probably others: about that share of the starts would lead to new ones (Good 1953).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, UnsupportedError
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import check_holonomic, length_unit
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import frame_kernel, pose_matrix
from cayley.kinematics.inverse.search import SOLVED, first_of_each
from cayley.kinematics.loops.closing import branch_sign
from cayley.kinematics.loops.closing_search import ClosingSearch, closing_search
from cayley.model.tree import Tree

_APART = 1e-6  # [rad, sizes of the machine]
_ROUNDS = 20
_RARE = 3  # rounds go on while something was met less often


@dataclass(frozen=True, eq=False)
class AssemblyModes:
    """Closed configurations (m, nq) that have the same inputs, those that were met most often first."""

    configuration: Array
    residual: Array  # (m) the length of what is left open [m, rad]
    met: Array  # (m) from how many starts each was found
    starts: int  # how many starts there were
    nearest: float  # the length of what is left open where the best search ended [m, rad]
    _inputs: Inputs = field(repr=False)

    @property
    def count(self) -> int:
        """The number of ways that were found."""
        return len(self.configuration)

    @property
    def status(self) -> str:
        """"assembled", or "cannot be assembled" if no start led to a closed configuration."""
        return "assembled" if self.count else "cannot be assembled"

    @property
    def unseen(self) -> float:
        """About what share of the starts would lead to configurations that are not known yet; 1 if none is."""
        return float(np.count_nonzero(self.met == 1) / self.met.sum()) if self.count else 1.0

    @cached_property
    def branch(self) -> Array:
        """(m) the signs of the determinant of the constraint Jacobian by the followers; see `Closure`."""
        return branch_sign(self._inputs, self.configuration)

    def __repr__(self) -> str:
        rows = "".join(f"\n  {np.array2string(q, precision=9)}, met {met} times"
                       for q, met in zip(self.configuration, self.met, strict=True))
        return f"<{self.status}: {self.count} modes from {self.starts} starts>{rows}"


def assemblies(tree: Tree, inputs: Mapping[str, ArrayLike], *, frame: str | None = None, starts: int = 200,
               limits: bool = False, seed: int = 0) -> AssemblyModes:
    """The configurations in which a mechanism is closed with one set of values of its inputs, whole turns apart: by
    rounds of random starts, until a round brings nothing new and nothing is rare. `inputs` are values by the names of
    joints, a number or as many as the joint has coordinates; all others must follow from them. A `frame` tells modes
    apart by its pose alone: what differs elsewhere is the same mode. `starts` are of one round; `limits` keeps to the
    limits of the joints.

    >>> from cayley.model.catalogue import load_robot
    >>> modes = assemblies(load_robot("four_bar"), {"crank": 0.6})
    >>> modes.count, np.sort(modes.configuration[:, 2]).round(4), modes.unseen
    (2, array([0.3711, 2.2703]), 0.0)
    """
    check_untimed(tree)
    check_holonomic(tree, "all ways to assemble it")
    own = Inputs.of(tree, inputs)
    own.check_followed()
    values = own.values(inputs)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ConventionError(f"assemblies take one set of finite values of the inputs, not {values.shape[:-1]} sets")
    if starts < 1:
        raise ConventionError(f"a round must have at least one start, not {starts}")
    _check_determined(own)
    search = closing_search(tree, own, limits=limits)
    units = np.where(search.bounds.lengths, length_unit(tree), 1.0)
    places = _poses(tree, frame) if frame else lambda q: search.bounds.places(q / units)
    q = np.zeros((0, tree.nq))
    met = np.zeros(0, dtype=int)
    nearest = np.inf
    for number in range(1, _ROUNDS + 1):
        found, best = _round(search, own.put(tree.neutral, values), starts, seed + number)
        nearest = min(nearest, best)
        before = len(q)
        q, met = _with_others(q, met, found, places)
        if len(q) == before and met.min(initial=_RARE) >= _RARE:
            break
    order = np.argsort(-met, kind="stable")
    return AssemblyModes(search.bounds.unwound(q[order]), search.opening(q[order], np.zeros(len(q))), met[order],
                         number * starts, nearest, own)


def _with_others(q: Array, met: Array, found: Array, places: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Known configurations and how often they were met, after others were found."""
    first, counts = first_of_each(places(found), _APART)
    same = np.abs(places(found[first])[:, None] - places(q)).max(axis=-1, initial=0.0) <= _APART
    met = met + counts @ same
    fresh = ~same.any(axis=1)
    return np.concatenate([q, found[first[fresh]]]), np.concatenate([met, counts[fresh]])


def _poses(tree: Tree, frame: str) -> Callable[[Array], Array]:
    pose = frame_kernel(tree, pose_matrix, "(q)->(4,4)", frame, relative_to="world").ufunc()
    unit = np.array([1.0, 1.0, 1.0, 1.0 / length_unit(tree)])
    return lambda q: (pose(q)[:, :3] * unit).reshape(len(q), 12)


def _round(search: ClosingSearch, q: Array, starts: int, seed: int) -> tuple[Array, float]:
    """The closed configurations that one search from each of some starts finds, and the least that any leaves open."""
    times = np.zeros(starts)
    begun = np.where(search.bounds.moved, search.table(starts, seed), q)
    found = search.best(begun, times, 1)
    left = search.opening(found.q, times)
    good = (found.state == SOLVED) & search.bounds.contains(found.q)
    return found.q[good], float(np.min(left[np.isfinite(left)], initial=np.inf))


def _check_determined(inputs: Inputs) -> None:
    tree = inputs.tree
    structure = constraint_structure(tree)
    free = int(inputs.following.sum()) - structure.rank
    if free > 0:
        names = ", ".join(structure.velocities[k] for k in structure.independent)
        raise UnsupportedError(
            f"with {', '.join(inputs.names) or 'no inputs'} given, {free} velocities of {tree.name} are left free: "
            f"there is a continuum of ways to assemble it. Its mobility is {structure.mobility}; all joints follow "
            f"from {names}, for instance")
