"""The configurations of a tree as a manifold: how coordinates follow velocities, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic, suppose
from cayley.compiler.typing import Array
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inverse.external_loads import wrench_unit
from cayley.dynamics.open_tree.mechanics import TreeMechanics
from cayley.model.configuration_space import (
    configuration_difference,
    configuration_rate,
    configuration_step,
    moving_joints,
)
from cayley.model.configurations import check_configuration, normalized, quaternion_places
from cayley.model.parameters import chosen_parameters
from cayley.model.tree import Tree
from cayley.systems.manifolds import Manifold
from cayley.systems.ports import Block, Port
from cayley.systems.record import Record
from cayley.systems.system import System


@dataclass(frozen=True)
class Configurations(Manifold):
    """The configurations of a tree; tangents are velocities of its joints."""

    tree: Tree

    @cached_property
    def curved(self) -> bool:  # type: ignore[override]
        return any(True for _ in quaternion_places(self.tree))

    def tangent(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (self.tree.nv,)

    def rate(self, x: Array, d: Array) -> Array:
        return configuration_rate(self.tree, x, d)

    def step(self, x: Array, d: Array) -> Array:
        return configuration_step(self.tree, x, d)

    def difference(self, start: Array, end: Array) -> Array:
        return configuration_difference(self.tree, start, end)

    def perturbation_rate(self, d: Array) -> Array:
        rows = []
        for joint, _, b in moving_joints(self.tree):
            own = joint.motion.perturbation_rate(d[b])
            rows.append(np.concatenate([np.zeros((len(own), b.start)), own,
                                        np.zeros((len(own), self.tree.nv - b.stop))], axis=1))
        return np.concatenate(rows)

    def projected(self, x: Array) -> Array:
        parts = []
        last = 0
        for _, turn in quaternion_places(self.tree):
            own = x[turn]
            parts += [x[last:turn.start], own / np.sqrt(own @ own)]
            last = turn.stop
        return np.concatenate([*parts, x[last:]]) if parts else x

    def nearest(self, values: Array) -> Array:
        return normalized(self.tree, values)

    def check(self, values: Array, what: str) -> None:
        check_configuration(self.tree, values, limits=False, tolerance=1e-5 if values.dtype == np.float32 else 1e-8)


def tree_system(mechanics: TreeMechanics) -> System:
    """The system of a mechanism: blocks `q` and `qd`, inputs `tau`, `wrench_<frame>` and `inertia_<body>`.

    >>> from cayley.model.catalogue import load_robot
    >>> tree_system(TreeMechanics(load_robot("planar2r")))
    <system planar2r: state q, qd; inputs tau; outputs q, qd>
    """
    tree = mechanics.tree
    units = {f"wrench_{frame}": wrench_unit(mechanics.axes) for frame in mechanics.wrenches}

    def acting(u: Record) -> list[Array]:
        return [u["tau"], *[u[name] for name in mechanics.more]]

    return System(
        tree.name,
        state={"q": Block((tree.nq,), manifold=Configurations(tree), velocity="qd"), "qd": Block((tree.nv,))},
        inputs={"tau": Port((tree.nv,), default=0.0),
                **{name: Port(shape, units.get(name, "")) for name, shape in mechanics.more.items()}},
        derivative=lambda t, x, u, p: mechanics.at(t).acceleration(x.q, x.qd, *acting(u)),
        power=lambda t, x, u, p: mechanics.at(t).power(x.q, x.qd, *acting(u)),
        energy=lambda t, x, u, p: mechanics.energy(x.q, x.qd, *acting(u)[1:]),
        constraints=mechanics.constraints, project=mechanics.project, explain=lambda x: mechanics.why_singular(x.q),
        timed=mechanics.is_timed)


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
