"""Constraints that tie the joints of a tree together (loops, mimic joints and others), and the check that guards
algorithms for independent joints.

The coordinates q and velocities qd of a constrained mechanism are those of all joints of its tree. Poses, twists,
Jacobians, energies and momenta are functions of them, with or without constraints. Algorithms that move joints one by
one, or balance the forces of each, call `check_independent`, which raises an error that names the constraints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cayley.errors import UnsupportedError
from cayley.model.constraint_kinds import Constraint, Coupling
from cayley.model.tree import Tree


class Tie(NamedTuple):
    """One constraint in words, and the numbers of the joints that it moves or holds."""

    words: str
    joints: frozenset[int]


def constraints_of(tree: Tree) -> tuple[Constraint, ...]:
    """All constraints of a tree: loops, what else ties its joints, and mimic joints, as couplings.

    >>> constraints_of(cy.load("panda_hand").tree)[0].joints
    ('panda_finger_joint2', 'panda_finger_joint1')
    """
    return (*tree.loops, *tree.constraints, *[_mimicking(tree, number) for number in tree.mimic_joints])


def _mimicking(tree: Tree, number: int) -> Coupling:
    leader, multiplier, offset = tree.mimic_joints[number]
    own = tree.joints[number].name
    if multiplier == 0.0:  # held where it is
        return Coupling(f"mimic {own}", (own,), (1.0,), offset)
    return Coupling(f"mimic {own}", (own, tree.joints[leader].name), (1.0, -multiplier), offset)


def tied_joints(tree: Tree, constraint: Constraint) -> frozenset[int]:
    """The numbers of the joints that a constraint ties together: those between its frames, and those that it names."""
    ways = [set(tree.path(tree.body_number(tree.frame(end).body))) for end in constraint.frames]
    between = ways[0] ^ ways[1] if ways else set()
    return frozenset(between | {tree.coordinate(name).joint for name in constraint.coordinates})


def constraints_on(tree: Tree, joints: Iterable[int]) -> tuple[Constraint, ...]:
    """The constraints that tie some joints, or joints that are tied to these by others.

    >>> hand = cy.load("panda_hand").tree
    >>> [constraint.name for constraint in constraints_on(hand, [hand.joint_number("panda_finger_joint1")])]
    ['mimic panda_finger_joint2']
    """
    known = constraints_of(tree)
    tied = [tied_joints(tree, each) for each in known]
    reached = frozenset(joints)
    before: frozenset[int] = frozenset()
    while reached != before:
        before = reached
        reached = reached.union(*[those for those in tied if not reached.isdisjoint(those)])
    return tuple(each for each, those in zip(known, tied, strict=True) if not reached.isdisjoint(those))


def ties(tree: Tree) -> Iterator[Tie]:
    """Loops and other constraints, without mimic joints."""
    for constraint in (*tree.loops, *tree.constraints):
        yield Tie(constraint.sentence, tied_joints(tree, constraint))


def mimic_joints(tree: Tree) -> Iterator[Tie]:
    """Mimic joints; the joint that is mimicked stays free.

    >>> [tie.words for tie in mimic_joints(cy.load("panda_hand").tree)]
    ["joint 'panda_finger_joint2' mimics 'panda_finger_joint1'"]
    """
    for number, follower in tree.mimic_joints.items():
        words = f"joint {tree.joints[number].name!r} mimics {tree.joints[follower.leader].name!r}"
        yield Tie(words, frozenset({number}))


def is_tied(tree: Tree, frame: str, *, mimics: bool = True) -> bool:
    """True if a constraint ties joints on the path to a frame together; mimic joints count unless `mimics=False`.

    >>> is_tied(cy.load("panda_hand").tree, "panda_hand"), is_tied(cy.load("four_bar").tree, "tool")
    (False, True)
    """
    way = set(tree.path(tree.body_number(tree.frame(frame).body)))
    return any(not way.isdisjoint(tie.joints) for tie in (*ties(tree), *(mimic_joints(tree) if mimics else ())))


def check_positions_follow(tree: Tree, what: str) -> None:
    """Raise an error for a tree with constraints on velocities alone, whose dependent coordinates do not follow from
    the independent ones as `what` assumes."""
    found = [constraint.sentence for constraint in constraints_of(tree)
             if constraint.positions < len(constraint.row_names)]
    if found:
        raise UnsupportedError(
            f"{what} assumes that all coordinates of {tree.name} follow from the independent ones, but {found[0]}, "
            "which constrains velocities alone. `forward_derivatives` are in all coordinates")


_OPEN = "`spanning_tree()` is the mechanism without these constraints, if that is what is meant"


def check_independent(tree: Tree, what: str, frame: str | None = None, *, mimics_kept: bool = False,
                      instead: str = _OPEN) -> None:
    """Raise an error if constraints tie the joints of a tree together (those on the path to `frame`, if one is named),
    which `what` would ignore.

    With `mimics_kept` the caller moves mimic joints with those that they mimic, and they raise no error. `instead`
    names the function for mechanisms with constraints.

    >>> check_independent(cy.load("panda_hand").tree, "the dynamics", frame="panda_hand")
    >>> check_independent(cy.load("panda_hand").tree, "the dynamics")
    Traceback (most recent call last):
    cayley.errors.UnsupportedError: the dynamics treats the joints of panda_hand as independent, but joint ...
    """
    way = None if frame is None else set(tree.path(tree.body_number(tree.frame(frame).body)))
    known = [*ties(tree), *(() if mimics_kept else mimic_joints(tree))]
    found = [tie.words for tie in known if way is None or not way.isdisjoint(tie.joints)]
    if found:
        more = f" (and {len(found) - 3} more)" if len(found) > 3 else ""
        raise UnsupportedError(
            f"{what} treats the joints of {tree.name} as independent, but {', '.join(found[:3])}{more}. {instead}")
