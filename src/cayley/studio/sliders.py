"""The sliders of a mechanism: one for each coordinate that can be moved by itself, three turns for an attitude.

Of a mechanism whose constraints tie positions together they are those of actuated joints, as far as they are
independent; where these are too few, other joints of one coordinate follow. A mechanism that does not close has none.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from cayley.compiler.solving.rounding import least_singular, rank_of
from cayley.compiler.typing import Array
from cayley.drawing.skeleton import skeleton
from cayley.kinematics.constraints.rows import hold_positions, jacobian, residual
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.model.tree import Tree

_CLOSED = 1e-6  # [m, rad]
_TURNS = ("yaw", "pitch", "roll")


class Slider(TypedDict):
    """A coordinate, or one of the turns of an attitude, that begins at a place in q."""

    name: str
    place: int
    attitude: int | None
    lower: float
    upper: float
    value: float
    turns: bool


def keeps_closed(tree: Tree) -> bool:
    """True if loops, rods or other constraints on positions tie the joints, besides mimic joints."""
    return any(each.positions for each in (*tree.loops, *tree.constraints))


def sliders(tree: Tree, rest: Array) -> list[Slider]:
    """Sliders of a mechanism at the configuration `rest` (nq); none if a prescribed motion drives it."""
    led = any(constraint.timed for constraint in tree.constraints)
    size = skeleton(tree, rest).size
    return [] if led else [slider for number in moved_alone(tree, rest) for slider in _of_joint(tree, number, rest,
                                                                                              size)]


def moved_alone(tree: Tree, rest: Array) -> list[int]:
    """The numbers of the joints that have sliders: not those that follow others, nor floating ones."""
    if keeps_closed(tree):
        rows = np.flatnonzero(hold_positions(tree))
        closes = np.abs(residual(tree, rest)[rows]).max(initial=0.0) < _CLOSED
        return _independent(tree, np.asarray(jacobian(tree, rest), dtype=float)[rows]) if closes else []
    return [k for k, joint in enumerate(tree.joints) if joint.mimic is None and not joint.motion.free]


def _of_joint(tree: Tree, number: int, rest: Array, size: float) -> list[Slider]:
    joint = tree.joints[number]
    place = tree.q_slices[number].start
    attitude = joint.motion.attitude
    if attitude is not None:
        return [Slider(name=f"{joint.name}, {word}", place=place + attitude.q.start, attitude=k, lower=-np.pi,
                       upper=np.pi, value=0.0, turns=True) for k, word in enumerate(_TURNS)]
    found = []
    for k in range(joint.motion.nq):
        turns = joint.motion.coordinate_units[k] == "rad"
        span = np.pi if turns else size
        lower = joint.limits.lower[k]
        upper = joint.limits.upper[k]
        lower = float(lower) if np.isfinite(lower) else min(-span, upper - 2 * span)
        upper = float(upper) if np.isfinite(upper) else max(span, lower + 2 * span)
        name = joint.name if joint.motion.nq == 1 else f"{joint.name} {k + 1}"
        found.append(Slider(name=name, place=place + k, attitude=None, lower=lower, upper=upper,
                            value=float(rest[place + k]), turns=turns))
    return found


def _independent(tree: Tree, A: Array) -> list[int]:
    """Joints that can be moved independently: without their columns the constraints keep their rank."""
    single = [k for k, joint in enumerate(tree.joints) if joint.motion.nq == joint.motion.nv == 1]
    wanted = sorted(single, key=lambda k: tree.joints[k].name not in tree.actuated_joints)
    left = np.ones(tree.nv, dtype=bool)
    A = constraint_structure(tree).scaled(A)
    rank = rank_of(A)
    found = []
    for k in wanted:
        left[tree.v_slices[k]] = False
        if rank_of(A[:, left], least_singular(tree.nv)) == rank:
            found.append(k)
        else:
            left[tree.v_slices[k]] = True
    return sorted(found)
