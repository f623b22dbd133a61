"""One step of the joints of a mechanism that follow its inputs, as a compiled kernel: a prediction along the tangent,
then corrections by Newton's method with the inputs where they should be.

    A_f x = -(phi + A_i d)       d the displacement of the inputs in the prediction, none in the corrections
    det A_f                      keeps its sign on a branch
A step is a good one if the branch is plain to see on all of its way: the first correction is much smaller than the
prediction, each correction much smaller than the one before, and det A_f has the same sign at all places. Then no other
branch is near enough to be taken for this one. A state whose step was no good stands still.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.iterate import Iterated, iterate
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.linear import eliminated, ldl, ldl_solve
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.scale import length_unit, lengths, row_sizes
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.inverse.step import integrate

STAGES = np.array([1.0, 0.0, 0.0, 0.0])  # the displacement of the inputs in the prediction and the corrections
_SMALLER = 0.25  # a correction, beside the one before
_TINY = 1e-9  # corrections by less are rounding
_ARRIVED = 1e-7  # the last correction: what is left after it is its square
_LONGEST = 0.5  # [rad, sizes of the machine]: a prediction


class Stage(NamedTuple):
    """The configuration after a stage (nq), whether the step is a good one so far, the length of the prediction or
    correction, and the sign of det A_f where it was made."""

    q: Array
    good: Scalar
    size: Scalar
    sign: Scalar


def following_step(inputs: Inputs, size: float) -> Iterated:
    """`(q, good, size, sign, d, moving)` -> the fields of `Stage` after all stages of a step, for d along samples."""
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
        length = _length(change * scale)
        predicting = moving > 0
        before = where(predicting, _LONGEST / _SMALLER, size)
        is_short = (length <= _SMALLER * before) | ((moving == 0) & (length <= _TINY))
        arrived = (moving == 0) | (size <= _ARRIVED)  # at the sample before
        fine = (good > 0) & is_short & arrived & (here != 0) & (here == where(sign == 0, here, sign))
        return Stage(where(fine, integrate(tree, q, change), q), where(fine, 1.0, 0.0), length,
                     where(sign == 0, here, sign))

    signature = f"({tree.nq}),(),(),(),({len(inputs.velocities)}),()->({tree.nq}),(),(),()"
    made: Kernel = kernel(signature, name="following_step", inputs=("q", "good", "size", "sign", "d", "moving"),
                  outputs=("q_after", "good_after", "size_after", "sign_after"))(text)
    feeding = {name: f"{name}_after" for name in Stage._fields}
    return kept(tree, ("following step", inputs.numbers),
                lambda: iterate(made, feeding, changing=["d"], cycling=["moving"]))


def is_arrived(stage: Stage) -> Array:
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


def _length(entries: Array) -> Scalar:
    return np.sqrt(sum(entry * entry for entry in entries))
