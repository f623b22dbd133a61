"""An open tree as a system with numbers of the tree as its parameters: a batch of different mechanisms of one
structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cayley.compiler.tracing.nominal_values import is_symbolic, suppose
from cayley.compiler.typing import Array
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.open_tree.mechanics import TreeMechanics
from cayley.dynamics.open_tree.system import tree_system
from cayley.model.parameters import chosen_parameters
from cayley.systems.record import Record
from cayley.systems.system import System


def parametric_system(mechanics: TreeMechanics, words: Sequence[str]) -> System:
    """The system of an open tree, with the array `parameters` (p) of those that the words choose as its parameter; see
    `cayley.model.parameters`.

    >>> from cayley.model.catalogue import load_robot
    >>> pendulum = parametric_system(TreeMechanics(load_robot("s1_f2")), ["mass", "gravity"])
    >>> pendulum.parameters["parameters"]
    array([ 2.  ,  1.5 , -9.81])
    >>> roll = pendulum.rollout(parameters=["parameters"])
    >>> start = {"q": [0.3, 0.0], "qd": [0.0, 0.0]}
    >>> two = [[2.0, 1.5, -9.81], [2.0, 3.0, -1.6]]
    >>> roll(start, step=1e-3, steps=50, parameters={"parameters": two}).end["q"].shape
    (2, 2)
    """
    tree = mechanics.tree
    chosen = chosen_parameters(tree, words)
    forward = forward_dynamics_kernel(tree)
    loaded = forward.with_inputs(wrenches=mechanics.wrenches, axes=mechanics.axes) if mechanics.wrenches else forward
    accelerations = loaded.with_parameters(*words)

    def acting(u: Record) -> list[Array]:
        return [u["tau"], *[u[name] for name in mechanics.more]]

    def at(p: Record) -> TreeMechanics:
        if is_symbolic(p.parameters):
            suppose(p.parameters, chosen.samples())
        return replace(mechanics, tree=chosen.tree_with(p.parameters))

    return replace(tree_system(mechanics), parameters={"parameters": chosen.nominal},
                   derivative=lambda t, x, u, p: accelerations(x.q, x.qd, *acting(u), p.parameters),
                   power=lambda t, x, u, p: at(p).power(x.q, x.qd, *acting(u)),
                   energy=lambda t, x, u, p: at(p).energy(x.q, x.qd, *acting(u)[1:]))
