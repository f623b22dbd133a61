"""How the equations of an arm grow with the number of its joints: operations, entries that are not zero, and what they
would be if nothing were shared.

With intermediate values that have names the text grows as the square of the number of joints, as the inertia matrix
does; written out, it grows by a factor with each joint (expression swell).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.algebras.counts import Operations
from cayley.compiler.tracing.program import Program
from cayley.dynamics.accounting.generic_arms import GENERAL, generic_arm
from cayley.dynamics.generation.model import Coordinates, Form, GeneratedModel, generate
from cayley.model.tree import Tree


class Size(NamedTuple):
    """The size of the generated equations of an arm of so many joints."""

    joints: int
    bodies: int
    terms: Operations
    inverse_dynamics: Operations
    not_zero: int  # entries of B
    written_out: int  # operations of all terms if nothing were shared

    @staticmethod
    def of(model: GeneratedModel, joints: int) -> Size:
        operations = model.operations
        return Size(joints, model.bodies, operations["terms"], operations["inverse_dynamics"], int(model.pattern.sum()),
                    written_out(model.program("terms")))


def growth(joints: Sequence[int], *, elastic: bool = True, twist: float = GENERAL, form: Form = "recursion",
           coordinates: Coordinates = "angles") -> list[Size]:
    """The sizes for arms of revolute joints without special numbers, with the given twist [rad] between their axes.

    >>> [(size.bodies, size.not_zero) for size in growth([1, 2, 3])]
    [(2, 2), (4, 8), (6, 18)]
    """
    return [Size.of(generate(elastic_generic_arm(n, twist) if elastic else generic_arm([twist] * n), form=form,
                             coordinates=coordinates), n) for n in joints]


def elastic_generic_arm(joints: int, twist: float = GENERAL) -> Tree:
    """An arm without special numbers whose joints are all elastic: rotors are bodies of revolution on their axes."""
    arm = generic_arm([twist] * joints)
    random = np.random.default_rng(joints)
    for joint in arm.joints:
        across, along = random.uniform(0.01, 0.05, 2)
        arm = arm.with_drive(joint.name, stiffness=random.uniform(100.0, 900.0), gear=random.uniform(20.0, 90.0),
                             mass=random.uniform(0.2, 0.9), center=(0.0, 0.0, random.uniform(0.01, 0.1)),
                             tensor=np.diag([across, across, along]))
    return arm.including("elastic drives")


def written_out(program: Program) -> int:
    """The operations of all outputs together, if every intermediate value were written where it is used."""
    length: dict[int, int] = {}
    for node in program.nodes:
        length[node.index] = len(node.args) and 1 + sum(length[a.index] for a in node.args)
    return sum(length[node.index] for node in program.results)
