"""The springs of elastic drives with letters for their numbers: k_i, d_i and so on of the spring of joint i, N_i of its
gear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.springs import Tie, ties
from cayley.model.tree import Tree

_SHORT = {"stiffness": "k", "damping": "d"}


def spring_numbers(tree: Tree) -> dict[str, float]:
    """The numbers of all springs and gears that are not zero, by the names of their letters."""
    found: dict[str, float] = {}
    for tie in ties(tree):
        found |= {_name(tie, key): float(value) for key, value in _numbers(tie).items()}
        if tie.qm is not None:
            found[f"N_{tie.qd + 1}"] = float(tie.gear)
    return found


def spring_forces(tree: Tree, given: Mapping[str, Scalar], q: Array, qd: Array) -> Array:
    """What the springs need at a state (nv), with the letters that are given in place of their numbers."""
    found: list[Scalar] = [0.0] * tree.nv
    for tie in ties(tree):
        written = _written(tie, given)
        P = written.spring.torque(written.state(q, qd))
        found[tie.qd] = found[tie.qd] - P
        if tie.qmd is not None:
            found[tie.qmd] = found[tie.qmd] + P / written.gear
    return np.array(found)


def _written(tie: Tie, given: Mapping[str, Scalar]) -> Tie:
    letters = {key: given[_name(tie, key)] for key in _numbers(tie) if _name(tie, key) in given}
    spring = replace(tie.spring, **letters) if letters else tie.spring
    return tie._replace(spring=spring, gear=given.get(f"N_{tie.qd + 1}", tie.gear))


def _numbers(tie: Tie) -> dict[str, float]:
    """The numbers of a spring; a law that is a formula or a function has none."""
    return {entry.name: getattr(tie.spring, entry.name) for entry in fields(tie.spring)
            if "number" in entry.metadata.get("form", "") and getattr(tie.spring, entry.name)}


def _name(tie: Tie, key: str) -> str:
    return f"{_SHORT.get(key, key)}_{tie.qd + 1}"
