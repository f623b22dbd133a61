"""A chain of revolute and prismatic joints in the pairs (c, t): kinematics and dynamics whose coordinates are vectors.

    x    (n, 3): of each joint that turns its vector-parameter c = tan(q/2) e, of each that slides its translation t = q
         e, in the axes of the joint                                        3n coordinates, and all is rational in them
    J_V  (6, 3n) the twist of a frame by the rates of x           H_V, h_V   H_V x'' = P + h_V, the forces P along x
A joint moves along one direction of its x; the model is that of ball joints and of free slides, which the forces of the
joints restrict to this. c grows without bound at a half-turn of its joint. The texts are those of
`kinematics.jacobians.vector_parameter_chain` and `dynamics.inverse.vector_parameter_lagrange`; recursions in
spatial operators for the same chains are the methods "links-and-rotors" and "vector-parameter-newton-euler" of inverse
dynamics. Source: Mladenova (108)-(140), (256), with mixed pairs as in spec S0-71.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.dynamics.inverse import vector_parameter_lagrange as lagrange
from cayley.dynamics.inverse.vector_parameters import check_finite
from cayley.dynamics.rigid_links.links import Links, serial_chain
from cayley.errors import UnsupportedError
from cayley.geometry.pose import frame_with_z
from cayley.kinematics.elementary import pairs_to
from cayley.kinematics.jacobians import vector_parameter_chain as chain
from cayley.model.elementary_motions import elementary_motions
from cayley.model.masses import with_missing_masses
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class VectorParameterModel:
    """Kernels of an open chain in vector-parameters, made by `arm.formulations.vector_parameter_model()`.

    They broadcast over leading axes. Numbers that are not finite raise an error that names the joint.
    """

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
        def inertia_matrix(x: Array) -> Array:
            turned = self._turned
            return turned @ lagrange.vector_parameter_inertia(self._links, self._along_z(x)) @ turned.T

        return self._kernel(f"->({3 * self._n},{3 * self._n})", 1, inertia_matrix)

    @cached_property
    def bias_forces(self) -> Kernel:
        """`bias_forces(x, xd)`: -h_V (..., 3n), what holds x' as it is: H_V x'' + bias = P. Mladenova (138), (139)."""
        def bias_forces(x: Array, xd: Array) -> Array:
            return -self._turned @ lagrange.vector_parameter_bias(self._links, self._along_z(x), self._along_z(xd))

        return self._kernel(f"->({3 * self._n})", 2, bias_forces)

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        """`inverse_dynamics(x, xd, xdd)`: the forces P (..., n, 3) along x. Mladenova (140)."""
        def inverse_dynamics(x: Array, xd: Array, xdd: Array) -> Array:
            given = [self._along_z(part) for part in (x, xd, xdd)]
            return self._in_joints(lagrange.vector_parameter_inverse(self._links, *given))

        return self._kernel(f"->({self._n},3)", 3, inverse_dynamics)

    @cached_property
    def forward_dynamics(self) -> Kernel:
        """`forward_dynamics(x, xd, P)`: the accelerations x'' (..., n, 3) of ball joints and free slides under P."""
        def forward_dynamics(x: Array, xd: Array, P: Array) -> Array:
            given = [self._along_z(part) for part in (x, xd, P)]
            return self._in_joints(lagrange.vector_parameter_forward(self._links, *given))

        return self._kernel(f"->({self._n},3)", 3, forward_dynamics)

    # Axes of joints, and those of links, which have z along the axes of their joints

    @cached_property
    def _links(self) -> Links:
        return serial_chain(self.tree)

    @property
    def _n(self) -> int:
        return self.tree.nv

    @property
    def _tip(self) -> str:
        return [joint.child for joint in self.tree.joints if joint.motion.nv][-1]

    @cached_property
    def _axes(self) -> list[Array]:
        screws = [moved.motion.screw for moved in elementary_motions(self.tree).motions]
        return [frame_with_z(screw.axis) for screw in screws if screw is not None]

    @cached_property
    def _turned(self) -> Array:
        whole = np.zeros((3 * self._n, 3 * self._n))
        for k, axes in enumerate(self._axes):
            whole[3 * k:3 * k + 3, 3 * k:3 * k + 3] = axes
        return whole

    @cached_property
    def _sliding(self) -> Array:
        return np.array([[not moved.motion.turns] for moved in elementary_motions(self.tree).motions])

    def _along_z(self, x: Array) -> Array:
        return np.stack([axes.T @ row for axes, row in zip(self._axes, x, strict=True)])

    def _in_joints(self, x: Array) -> Array:
        return np.stack([axes @ row for axes, row in zip(self._axes, x, strict=True)])

    def _count(self, frame: str) -> int:
        """How many joints move a frame."""
        return len(pairs_to(self.tree, frame)[0])

    def _check(self, x: Array, *_: Array) -> None:
        names = [moved.joint for moved in elementary_motions(self.tree).motions]
        check_finite(names, np.asarray(x), self._sliding[:, 0].tolist())

    def _kernel(self, out: str, count: int, text: Callable[..., Any]) -> Kernel:
        _ = self._links  # what has no masses is named now
        return kernel(",".join([f"({self._n},3)"] * count) + out, check=self._check)(text)


def vector_parameter_model(tree: Tree) -> VectorParameterModel:
    """The model of an open chain; others are refused by name, and so are drives, which it does not know.

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
