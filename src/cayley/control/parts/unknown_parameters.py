"""Which numbers of an arm a law takes for unknown: base parameters, named ones, or those of a payload.

    the forces of the arm = those of its model + Y theta        theta (k): how far the unknown numbers are from the
                                                                model's own; Y (nv, k): a part of the regressor
A payload of which nothing is known adds its ten moments about a frame, (m, ux, .., Jzz), to those of the link that
carries the frame. Source: Slotine & Li 1987 (4), `cayley.dynamics.identification`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, Text
from cayley.control.parts.reference_forces import reference_regressor
from cayley.dynamics.rigid_links.drives import rotor_inertias
from cayley.dynamics.rigid_links.inertial_parameters import MOMENT_NAMES, moved
from cayley.dynamics.rigid_links.links import ROOT
from cayley.errors import SignatureError
from cayley.geometry.pose import Pose
from cayley.model.tree import Tree
from cayley.wording import did_you_mean

if TYPE_CHECKING:
    from cayley.dynamics.identification import LinearModel


@dataclass(frozen=True, eq=False)
class UnknownParameters:
    """Names (k), the values (k) that the model has of them, and what the parameters (size) of a linear model are by
    each (size, k)."""

    model: LinearModel
    names: tuple[str, ...]
    values: Array
    shares: Array

    @property
    def size(self) -> int:
        return len(self.names)

    def regressor(self) -> Text:
        """The text `(q, qd, v, a)` of Y (nv, k); see `reference_regressor`."""
        whole = reference_regressor(self.model)
        felt = np.flatnonzero(np.abs(self.shares).any(axis=1))
        return lambda q, qd, v, a: whole(q, qd, v, a)[:, felt] @ self.shares[felt]


def unknown_parameters(tree: Tree, parameters: str | Sequence[str] | None, payload: str | None,
                       joint_terms: Sequence[str]) -> UnknownParameters:
    """`parameters`: "base" (the default), "all", or names out of `linear_model(...).names`; with a frame that carries a
    `payload`, names out of m, ux, uy, uz, Jxx .. Jzz, all ten by default."""
    from cayley.dynamics.identification import linear_model, structural_base_parameters
    model = linear_model(tree, joint_terms=joint_terms)
    if payload is not None:
        return _of_payload(model, payload, parameters)
    own = np.where([_is_included(tree, word) for _, word in model.columns], model.values, 0.0)
    if parameters is None or parameters == "base":
        base = structural_base_parameters(model)
        return UnknownParameters(model, base.names, base.values(own), np.eye(model.size)[:, base.kept])
    names = model.names if parameters == "all" else _names(parameters, model.names, tree.name)
    chosen = [model.names.index(name) for name in names]
    return UnknownParameters(model, tuple(names), own[chosen], np.eye(model.size)[:, chosen])


def _is_included(tree: Tree, word: str) -> bool:
    """Whether a parameter is one of the forces of the tree, or of a drive that it does not include."""
    if word in ("viscous", "coulomb"):
        return "friction" in tree.included
    return word != "rotor" or bool(rotor_inertias(tree).any())


def _of_payload(model: LinearModel, frame: str, parameters: str | Sequence[str] | None) -> UnknownParameters:
    number, pose = model.links.place(model.tree, frame)
    if number == ROOT:
        raise SignatureError(f"the frame {frame!r} of {model.tree.name} does not move: no force tells of a load there")
    names = MOMENT_NAMES if parameters in (None, "all") else _names(parameters, MOMENT_NAMES, "a payload")
    shares = np.zeros((model.size, 10))
    shares[[k for k, (link, word) in enumerate(model.columns) if link == number and word in MOMENT_NAMES]] = moved(
        *Pose.of(pose))
    chosen = [MOMENT_NAMES.index(name) for name in names]
    return UnknownParameters(model, tuple(names), np.zeros(len(chosen)), shares[:, chosen])


def _names(given: str | Sequence[str] | None, known: Sequence[str], whose: str) -> list[str]:
    names = [given] if isinstance(given, str) else list(given or ())
    for name in names:
        if name not in known:
            raise SignatureError(f"{whose} has no parameter {name!r}{did_you_mean(name, known)}")
    if not names or len(set(names)) < len(names):
        raise SignatureError(f"the unknown parameters of {whose} are named once each, and there is one at least")
    return names
