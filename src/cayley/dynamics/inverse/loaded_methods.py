"""The published methods of inverse dynamics with wrenches that act on links, and on a base that moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.external_loads import ExternalLoads
from cayley.dynamics.inverse.methods import METHODS
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.inverse.passes import NONE, STILL, Base, Wrench
from cayley.dynamics.rigid_links.links import ROOT
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.model.tree import Tree


def loaded_text(tree: Tree, external: ExternalLoads, method: str) -> Callable[[Array, Array, Array, Sequence[Any]],
                                                                              Array]:
    """The text (q, qd, qdd, inputs) of a method. A method for chains knows moving bases and the wrench of the tip, or
    neither."""
    if METHODS[method].takes("loads", "inverse_dynamics"):
        return _for_trees(tree, external, method)
    if METHODS[method].takes("tip", "inverse_dynamics"):
        return _for_chains(tree, external, method)
    at_rest = METHODS[method].text(tree.with_gravity((0.0, 0.0, 0.0)), "inverse_dynamics")
    bias = _for_trees(tree, external, "newton-euler")
    none = np.zeros(tree.nv)
    return lambda q, qd, qdd, inputs: at_rest(q, none, qdd) + bias(q, qd, none, inputs)


def _for_trees(tree: Tree, external: ExternalLoads,
               method: str) -> Callable[[Array, Array, Array, Sequence[Any]], Array]:
    own = METHODS[method].links
    links = minimal_links(tree, loaded=external.frames) if own is minimal_links else own(tree)
    return lambda q, qd, qdd, inputs: inverse_dynamics(links, q, qd, qdd, **external.at_links(links, tree, q, inputs))


def _for_chains(tree: Tree, external: ExternalLoads,
                method: str) -> Callable[[Array, Array, Array, Sequence[Any]], Array]:
    links = METHODS[method].links(tree)
    light = replace(links, gravity=np.zeros(3))
    compute = METHODS[method].text(tree, "inverse_dynamics")
    none = np.zeros(tree.nv)

    def text(q: Array, qd: Array, qdd: Array, inputs: Sequence[Any]) -> Array:
        acting = external.at_links(links, tree, q, inputs)
        moved = acting["base"]
        last = len(links.links) - 1
        at_tip = [load for number, load in acting["loads"] if number == last]
        before = [(number, load) for number, load in acting["loads"] if number not in (ROOT, last)]
        tip = Wrench(sum((-load.f for load in at_tip), NONE), sum((-load.n for load in at_tip), NONE))
        tau = compute(q, qd, qdd, base=STILL if moved is None else Base(moved.w, moved.dw, moved.a), tip=tip)
        return tau + inverse_dynamics(light, q, none, none, loads=before) if before else tau

    return text
