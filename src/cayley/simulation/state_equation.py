"""The state equation of a mechanism: dq/dt = rate(q, v), dv/dt = acceleration(q, v, tau, *more), and the power that
forces put in.

Beyond the joint forces `tau`, the world may push at named frames (`wrenches`), and the inertia of named bodies may be
an input, so that one kernel serves a batch of mechanisms (`inertias`). The texts are scalar-agnostic. Source:
Balafoutis & Patel, section 6.2; Yamamoto (5.2)-(5.4); spec S1-72, S3-37.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.definite import is_definite, only_where
from cayley.compiler.kernel import Kernel, kernel
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.external_loads import ExternalLoads
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links.drives import friction_forces, rotor_inertias, rotor_velocity_forces
from cayley.dynamics.rigid_links.energies import lagrangian
from cayley.dynamics.rigid_links.inertial_parameters import (
    inertia_vector_from_moments,
    tree_with_inertia_vectors,
)
from cayley.dynamics.rigid_links.links import ROOT, Links, links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.moments import Moments
from cayley.errors import ModelError, UnsupportedError
from cayley.geometry.rotations.quaternion import quaternion_product
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.general_jacobian import general_jacobian
from cayley.kinematics.velocity import twist
from cayley.model.configurations import quaternion_places
from cayley.model.constraints import check_independent
from cayley.model.parts import Joint
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class StateEquation:
    """The texts of the state equation, and the names and shapes of what they take after `tau`."""

    tree: Tree
    wrenches: tuple[str, ...] = ()
    axes: str = "body"
    inertias: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_is_tree(self.tree)
        for frame in self.wrenches:
            self.tree.frame(frame)
        for body in self.inertias:
            if self._links.bodies[self.tree.bodies[self.tree.body_number(body)].name][0] == ROOT:
                raise ModelError(f"body {body!r} of {self.tree.name} does not move: its inertia changes nothing")

    @property
    def more(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the inputs after `tau`."""
        return {
            **{f"wrench_{frame}": (6,)
               for frame in self.wrenches}, **{f"inertia_{body}": (10,)
                                               for body in self.inertias}}

    def rate(self, q: Any, v: Any) -> Any:
        """dq/dt (nq)."""
        return self._joined(lambda joint, a, b: joint.motion.rate(q[a], v[b]))

    def moved(self, q: Any, v: Any) -> Any:
        """Where the constant velocity `v` leads in unit time (nq): on the group, so that quaternions stay unit."""
        return self._joined(lambda joint, a, b: joint.motion.step(q[a], v[b]))

    def projected(self, q: Any) -> Any:
        """The nearest configuration (nq): quaternions brought back to length one."""
        parts = []
        last = 0
        for _, turn in quaternion_places(self.tree):
            own = q[turn]
            parts += [q[last:turn.start], own / np.sqrt(own @ own)]
            last = turn.stop
        return np.concatenate([*parts, q[last:]]) if parts else q

    def acceleration(self, q: Any, v: Any, tau: Any, *more: Any) -> Any:
        """dv/dt (nv)."""
        return self.solved(*self.balance(q, v, tau, *more)) if self.inertias else self._plain(q, v, tau, *more)

    def balance(self, q: Any, v: Any, tau: Any, *more: Any) -> tuple[Any, Any]:
        """The inertia matrix (nv, nv) and the forces (nv) of M dv/dt = f."""
        tree = self.tree
        links = self._links_with(more[len(self.wrenches):]) if self.inertias else self._pushed
        acting = ExternalLoads(self.wrenches, self.axes).at_links(links, tree, q, more[:len(self.wrenches)])
        bias = inverse_dynamics(links, q, v, np.zeros(tree.nv), **acting) + rotor_velocity_forces(tree, v)
        return inertia_matrix(links, q) + np.diag(rotor_inertias(tree)), tau - friction_forces(tree, v) - bias

    def power(self, q: Any, v: Any, tau: Any, *more: Any) -> Any:
        """The power [W] of joint forces, friction and wrenches: what changes the energy."""
        power = v @ (tau - friction_forces(self.tree, v))
        for frame, wrench in zip(self.wrenches, more, strict=False):
            power = power + wrench @ twist(self.tree, q, v, frame, axes=self.axes)
        return power

    # For the variational integrator

    def inertia(self, q: Any, *more: Any) -> Any:
        """The inertia matrix (nv, nv)."""
        return inertia_matrix(self._minimal_with(more), q) + np.diag(rotor_inertias(self.tree))

    def solved(self, M: Any, forces: Any) -> Any:
        """M^-1 forces (nv), NaN where the inertia matrix is singular; inertias that are inputs may make it so anywhere.
        """
        found = solve(M, forces)
        return only_where(is_definite(M[::-1, ::-1]),
                          found) if self.inertias or not always_regular(self.tree) else found

    def generalized_forces(self, q: Any, v: Any, tau: Any, *more: Any) -> Any:
        """The joint forces (nv) that do the power of all forces but gravity."""
        forces = tau - friction_forces(self.tree, v)
        for frame, wrench in zip(self.wrenches, more, strict=False):
            forces = forces + general_jacobian(self.tree, q, frame, axes=self.axes).T @ wrench
        return forces

    def slope_of_lagrangian(self, q: Any, v: Any, *more: Any) -> Any:
        """dL/dq (nv) along the joints' own directions, a floating body's origin along the axes of its parent and its
        velocity kept there: by the rotation of the body, whose velocity is (v; w), the velocity v in its axes changes
        with -w x."""
        slopes = self._slope(q, v, *more[len(self.wrenches):])
        found = []
        momentum = self.inertia(q, *more) @ v
        for joint, a, b in self._places():
            attitude = joint.motion.attitude
            own = slopes[a]
            if attitude is None:
                found.append(own)
                continue
            turning = _rotated(own[attitude.q], q[a][attitude.q])
            if attitude.position is not None:
                found.append(own[attitude.position])
                turning = turning + np.cross(momentum[b][attitude.position], v[b][attitude.position])
            found.append(turning)
        return np.concatenate(found)

    @cached_property
    def _slope(self) -> Kernel:
        inertias = ",(10)" * len(self.inertias)

        def text(q: Any, v: Any, *tens: Any) -> Any:
            return lagrangian(self._minimal_with([None] * len(self.wrenches) + list(tens)), q, v)

        names = ["q", "v", *[f"inertia_{body}" for body in self.inertias]]
        made = kernel(sized(self.tree, f"(q),(v){inertias}->()"), name="lagrangian", inputs=names)(text)
        return made.jacobian("q")

    def _minimal_with(self, more: Sequence[Any]) -> Links:
        return self._links_with(more[len(self.wrenches):]) if self.inertias else self._lean

    @cached_property
    def _pushed(self) -> Links:
        return minimal_links(self.tree, loaded=self.wrenches)

    @cached_property
    def _lean(self) -> Links:
        return minimal_links(self.tree)

    # The state as one vector

    def derivative(self, q: Any, v: Any, tau: Any, *more: Any) -> Any:
        """Of the state (q, v, work): (nq + nv + 1). The attitude enters the acceleration by its direction alone."""
        straight = self.projected(q)
        rates = [self.rate(q, v), self.acceleration(straight, v, tau, *more)]
        return np.concatenate([*rates, np.stack([self.power(straight, v, tau, *more)])])

    @cached_property
    def _plain(self) -> Callable[..., Any]:
        kernel = forward_dynamics_kernel(self.tree)
        return kernel.with_inputs(wrenches=self.wrenches, axes=self.axes) if self.wrenches else kernel

    @cached_property
    def _links(self) -> Links:
        return links_of(self.tree)

    def _links_with(self, tens: Sequence[Any]) -> Links:
        loaded = tree_with_inertia_vectors(self.tree, dict(zip(self.inertias, tens, strict=True)))
        return minimal_links(loaded, loaded=self.wrenches)

    def _joined(self, of_joint: Callable[[Joint, slice, slice], Any]) -> Any:
        return np.concatenate([of_joint(*place) for place in self._places()] or [np.zeros(0)])

    def _places(self) -> Iterator[tuple[Joint, slice, slice]]:
        for joint, a, b in zip(self.tree.joints, self.tree.q_slices, self.tree.v_slices, strict=True):
            if joint.motion.nq:
                yield joint, a, b


def _rotated(slope: Any, quaternion: Any) -> Any:
    """The slope (4) by the numbers of a quaternion as the slope (3) by turns about the body's axes."""
    return np.stack([
        slope @ (0.5 * quaternion_product.unchecked(quaternion, np.array([0.0, *axis]))) for axis in np.eye(3)])


def check_is_tree(tree: Tree) -> None:
    """Refuse what a tree's equations of motion leave out: loops, joints that follow others, and what cannot move."""
    if not tree.nv:
        raise UnsupportedError(f"{tree.name} has no joint that moves: there is nothing to simulate")
    check_independent(tree, "the simulation")


def inertia_parameters(tree: Tree, body: str) -> np.ndarray:
    """The inertia (10) of a body as the inputs `inertia_<body>` take it: (m, mc, I), mass, first moment and the inertia
    tensor about the body's origin in its axes, (xx, xy, yy, xz, yz, zz), the order of Pinocchio's dynamic parameters.

    >>> from cayley.model.catalogue import load_robot
    >>> inertia_parameters(load_robot("planar2r"), "link1").round(6)
    array([2.   , 0.5  , 0.   , 0.   , 0.01 , 0.   , 0.175, 0.   , 0.   , 0.175])
    """
    return inertia_vector_from_moments(Moments.of(tree.bodies[tree.body_number(body)]))
