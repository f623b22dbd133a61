"""A chain of revolute and prismatic joints in the pairs (c, t): kinematics and dynamics whose coordinates are vectors.

    x    (n, 3): of each joint that turns its vector-parameter c = tan(q/2) e, of each that slides its translation t = q
         e, in the axes of the joint                                        3n coordinates, and all is rational in them
    J_V  (6, 3n) the twist of a frame by the rates of x           H_V, h_V   H_V x'' = P + h_V, the forces P along x
A joint moves along one direction of its x; the model is that of ball joints and of free slides, which the forces of the
joints restrict to this. c grows without bound at a half-turn of its joint. Source: Mladenova (108)-(140), (256), with
mixed pairs as in spec S0-71."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.inverse.vector_parameter_lagrange import (
    Fixed,
    body_velocities,
    check_finite,
    free_links,
    rate_maps,
    steady_rates,
    vector_parameter_bias,
    vector_parameter_inverse,
)
from cayley.dynamics.rigid_links.links import Links, joint_links, serial_chain
from cayley.errors import UnsupportedError
from cayley.kinematics.elementary import pairs_to
from cayley.kinematics.jacobians import vector_parameter_chain as chain
from cayley.model.elementary_motions import elementary_motions
from cayley.model.masses import with_missing_masses
from cayley.model.tree import Tree


def vector_parameter_inertia(links: Links, c: Array, *, fixed: Fixed = None) -> Array:
    """H_V (3n, 3n). Mladenova (126)-(132). H_V loses rank as a c grows without bound: there the joint is at a
    half-turn."""
    M = inertia_matrix(free_links(links, fixed), np.concatenate(list(c)))
    maps = list(rate_maps(links, c))
    return np.concatenate([np.concatenate([own @ M[3 * i:3 * i + 3, 3 * k:3 * k + 3] @ other.T
                                           for k, other in enumerate(maps)], axis=1) for i, own in enumerate(maps)])


def vector_parameter_forward(links: Links, c: Array, dc: Array, P: Array) -> Array:
    """ddc (n, 3) under the generalised forces P_V (n, 3).

    The condition of H_V grows with the square of c. So the equations are solved for the joints' angular accelerations,
    whose inertia does not know of c, with N^-1 = (1 + c c^T - c~)/2. Not defined where H_V is singular: massless
    spherical links, c infinite."""
    free = free_links(links)
    q = np.concatenate(list(c))
    at_rest = newton_euler.inverse_dynamics(free, q, body_velocities(links, c, dc), np.zeros(len(q)))
    every = list(zip(links.links, c, strict=True))
    forces = [own if link.is_prismatic else (own + (x @ own) * x - np.cross(x, own)) / 2
              for (link, x), own in zip(every, P, strict=True)]
    e = solve(inertia_matrix(free, q), np.concatenate(forces) - at_rest).reshape(-1, 3)
    gained = [own if link.is_prismatic else (own + (x @ own) * x + np.cross(x, own)) / 2
              for (link, x), own in zip(every, e, strict=True)]
    return np.stack([own + steady_rates(link, x, rate) for (link, x), own, rate in zip(every, gained, dc, strict=True)])


@dataclass(frozen=True, eq=False)
class VectorParameterModel:
    """Kernels of an open chain in vector-parameters, made by `arm.formulations.vector_parameter_model()`.

    They broadcast over leading axes. Numbers that are not finite raise an error that names the joint."""

    tree: Tree

    @cached_property
    def coordinates(self) -> Kernel:
        """`coordinates(q)`: x (..., n, 3) of joint coordinates q (..., n)."""
        def coordinates(q: Array) -> Array:
            pairs = chain.joint_pairs(self.tree, q, self._tip)
            return np.where(self._sliding, pairs.t, pairs.c)

        return kernel(f"({self._n})->({self._n},3)")(coordinates)

    @cached_property
    def rates(self) -> Kernel:
        """`rates(q, qd)`: the rates (..., n, 3) of x."""
        def rates(q: Array, qd: Array) -> Array:
            return (chain.pair_rate_map(self.tree, q, self._tip) @ qd).reshape(self._n, 3)

        return kernel(f"({self._n}),({self._n})->({self._n},3)")(rates)

    def pose(self, frame: str) -> Kernel[chain.ChainPose]:
        """The kernel `(x)` -> `position` (..., 3) and `attitude` (..., 4), homogeneous, of a frame. Mladenova (108),
        (256)."""
        on_the_way = self._count(frame)
        return kept(self, ("pose", frame), lambda: kernel(f"({self._n},3)->(3),(4)", name="pose", check=self._check)(
            lambda x: chain.chain_pose(self.tree, x[:on_the_way], x[:on_the_way], frame)))

    def jacobian(self, frame: str) -> Kernel:
        """The kernel `(x)` -> J_V (..., 6, 3n): the twist (v; w) of a frame in the root's axes by the rates of x.
        Mladenova (109), (114)-(121)."""
        on_the_way = self._count(frame)

        def jacobian(x: Array) -> Array:
            before = x[:on_the_way]
            beyond = np.zeros((6, 3 * (self._n - on_the_way)))
            if not on_the_way:
                return beyond
            return np.concatenate([chain.vector_parameter_jacobian(self.tree, before, before, frame), beyond], axis=1)

        return kept(self, ("jacobian", frame),
                    lambda: kernel(f"({self._n},3)->(6,{3 * self._n})", check=self._check)(jacobian))

    @cached_property
    def inertia_matrix(self) -> Kernel:
        """`inertia_matrix(x)`: H_V (..., 3n, 3n). Mladenova (126)-(132)."""
        return self._kernel("inertia_matrix", ("x",), f"({3 * self._n},{3 * self._n})", vector_parameter_inertia)

    @cached_property
    def bias_forces(self) -> Kernel:
        """`bias_forces(x, xd)`: -h_V (..., 3n), what holds x' as it is: H_V x'' + bias = P. Mladenova (138), (139)."""
        return self._kernel("bias_forces", ("x", "xd"), f"({3 * self._n})",
                            lambda *state: -vector_parameter_bias(*state))

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        """`inverse_dynamics(x, xd, xdd)`: the forces P (..., n, 3) along x. Mladenova (140)."""
        return self._kernel("inverse_dynamics", ("x", "xd", "xdd"), f"({self._n},3)", vector_parameter_inverse)

    @cached_property
    def forward_dynamics(self) -> Kernel:
        """`forward_dynamics(x, xd, P)`: the accelerations x'' (..., n, 3) of ball joints and free slides under P."""
        return self._kernel("forward_dynamics", ("x", "xd", "P"), f"({self._n},3)", vector_parameter_forward)

    @property
    def _n(self) -> int:
        return self.tree.nv

    @property
    def _tip(self) -> str:
        return [joint.child for joint in self.tree.joints if joint.motion.nv][-1]

    @cached_property
    def _sliding(self) -> Array:
        return np.array([[not moved.motion.turns] for moved in elementary_motions(self.tree).motions])

    def _count(self, frame: str) -> int:
        """The number of joints that move a frame."""
        return len(pairs_to(self.tree, frame)[0])

    def _check(self, x: Array, *_: Array) -> None:
        names = [moved.joint for moved in elementary_motions(self.tree).motions]
        check_finite(names, np.asarray(x), self._sliding[:, 0].tolist())

    def _kernel(self, name: str, inputs: tuple[str, ...], out: str, text: Callable[..., Array]) -> Kernel:
        links = joint_links(self.tree)  # what has no masses is named now
        signature = ",".join([f"({self._n},3)"] * len(inputs)) + f"->{out}"
        return kernel(signature, name=name, inputs=inputs, check=self._check)(lambda *x: text(links, *x))


def vector_parameter_model(tree: Tree) -> VectorParameterModel:
    """The model of an open chain. Other mechanisms raise an error, and so do drives, which it does not include.

    >>> from cayley.model.catalogue import load_robot
    >>> model = vector_parameter_model(load_robot("s1_f3"))   # a joint that turns, and one that slides
    >>> x = model.coordinates([np.pi / 2, 0.8])
    >>> x.round(12)
    array([[0. , 0. , 1. ],
           [0. , 0. , 0.8]])
    >>> model.jacobian("link2")(x).shape
    (6, 6)
    """
    if tree.included:
        raise UnsupportedError(f"the model in vector-parameters has no {', '.join(sorted(tree.included))}: make it of "
                               f"{tree.name} without them, `including()`")
    if not tree.nv:
        raise UnsupportedError(f"{tree.name} has no joint that moves, and so no vector-parameters")
    serial_chain(with_missing_masses(tree, 0.0))
    return VectorParameterModel(tree)
