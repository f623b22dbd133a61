"""The equations of motion of an open tree with all that acts: joint forces `tau`, and more.

The world may push at named frames (`wrenches`), the root may be moved (`base_motion`), and the inertia of named bodies
may be an input, so that one kernel serves a batch of mechanisms (`inertias`). The texts are scalar-agnostic. Source:
Balafoutis & Patel, section 6.2; Yamamoto (5.2)-(5.4); spec S1-72, S1-117, S3-37."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.tracing.nominal_values import is_symbolic, suppose
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.forward.singular_inertia import why_singular
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.external_loads import ExternalLoads, wrench_unit
from cayley.dynamics.inverse.newton_euler import inverse_dynamics
from cayley.dynamics.rigid_links import drives
from cayley.dynamics.rigid_links.energies import kinetic_energy, lagrangian, potential_energy
from cayley.dynamics.rigid_links.links import ROOT, Links, links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.dynamics.rigid_links.moments import LinkMoments, inertia_vector_from_moments, tree_with_inertia_vectors
from cayley.errors import ModelError, UnsupportedError
from cayley.explained_calls import explained
from cayley.geometry.manifolds import Manifold
from cayley.geometry.rotations.quaternion import quaternion_product
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.velocity import twist
from cayley.model.configuration_space import (
    configuration_difference,
    configuration_rate,
    configuration_step,
    moving_joints,
    straight_step,
    velocity_turning,
)
from cayley.model.configurations import check_configuration, normalized, quaternion_places
from cayley.model.constraints import check_independent
from cayley.model.parameters import chosen_parameters
from cayley.model.tree import Tree
from cayley.systems.layout import Record
from cayley.systems.ports import Block, Port
from cayley.systems.system import System


@dataclass(frozen=True, eq=False)
class TreeMechanics:
    """The texts of the equations of motion of a tree, and the names and shapes of what they take after `tau`."""

    tree: Tree
    wrenches: tuple[str, ...] = ()
    axes: str = "body"
    inertias: tuple[str, ...] = ()
    base_motion: bool = False

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
        base = {"base_turning": (3,), "base_acceleration": (6,)} if self.base_motion else {}
        return {**{f"wrench_{frame}": (6,) for frame in self.wrenches}, **base,
                **{f"inertia_{body}": (10,) for body in self.inertias}}

    @property
    def _world(self) -> ExternalLoads:
        """The first of these inputs, which are the world's."""
        return ExternalLoads(self.wrenches, self.axes, self.base_motion)

    def _own(self, more: Sequence[Array]) -> Sequence[Array]:
        """The last of them, which are the inertias."""
        return more[len(self._world.names):]

    project: ClassVar[Text | None] = None  # what brings a state back onto its constraints, of which a tree has none

    @property
    def is_timed(self) -> bool:
        """True if any text depends on the time."""
        return False

    @property
    def constraints(self) -> dict[str, Text]:
        """The residuals of a state, by name."""
        return {}

    def at(self, t: Scalar) -> TreeMechanics:
        """The same at a time."""
        return self

    def acceleration(self, q: Array, qd: Array, tau: Array, *more: Array) -> Array:
        """dqd/dt (nv)."""
        return self.solved(*self.balance(q, qd, tau, *more)) if self.inertias else self._plain(q, qd, tau, *more)

    def balance(self, q: Array, qd: Array, tau: Array, *more: Array) -> tuple[Array, Array]:
        """The inertia matrix (nv, nv) and the forces (nv) of M dqd/dt = f."""
        tree = self.tree
        links = self._links_with(self._own(more)) if self.inertias else self._pushed
        acting = self._world.at_links(links, tree, q, more)
        bias = inverse_dynamics(links, q, qd, np.zeros(tree.nv), **acting) + drives.rotor_velocity_forces(tree, qd)
        M = inertia_matrix(links, q) + np.diag(drives.rotor_inertias(tree))
        return M, tau - drives.passive_forces(tree, q, qd) - bias

    def power(self, q: Array, qd: Array, tau: Array, *more: Array) -> Array:
        """The power [W] of joint forces, friction, dampers, wrenches and what the root's motion does: what changes the
        energy that is seen from the root."""
        power = qd @ (tau - drives.passive_forces(self.tree, q, qd) + drives.stored_spring_forces(self.tree, q)
                      - self._inertial_forces(q, qd, *more))
        for frame, wrench in zip(self.wrenches, more, strict=False):
            power = power + wrench @ twist(self.tree, q, qd, frame, axes=self.axes)
        return power

    def _inertial_forces(self, q: Array, qd: Array, *more: Array) -> Array | float:
        """The joint forces (nv) that the root's motion takes besides."""
        if not self.base_motion:
            return 0.0
        links = self._minimal_with(self._own(more))
        base = ExternalLoads(base_motion=True).at_links(links, self.tree, q, more[len(self.wrenches):])["base"]
        still = np.zeros(self.tree.nv)
        return inverse_dynamics(links, q, qd, still, base=base) - inverse_dynamics(links, q, qd, still)

    def why_singular(self, q: ArrayLike) -> str | None:
        """Why there are no accelerations at a configuration (nq), in words; None if there are."""
        return why_singular(self.tree, q)

    # For the variational integrator

    def inertia(self, q: Array, *more: Array) -> Array:
        """The inertia matrix (nv, nv)."""
        return inertia_matrix(self._minimal_with(self._own(more)), q) + np.diag(drives.rotor_inertias(self.tree))

    def solved(self, M: Array, forces: Array) -> Array:
        """M^-1 forces (nv), NaN where the inertia matrix is singular, as inertias that are inputs may make it."""
        found = solve(M, forces)
        return only_where(is_definite(M[::-1, ::-1]),
                          found) if self.inertias or not always_regular(self.tree) else found

    def generalized_forces(self, q: Array, qd: Array, tau: Array, *more: Array) -> Array:
        """The joint forces (nv) that do the power of all forces but gravity."""
        forces = tau - drives.passive_forces(self.tree, q, qd) - self._inertial_forces(q, qd, *more)
        for frame, wrench in zip(self.wrenches, more, strict=False):
            forces = forces + general_jacobian(self.tree, q, frame, axes=self.axes).T @ wrench
        return forces

    def slope_of_lagrangian(self, q: Array, qd: Array, *more: Array) -> Array:
        """dL/dq (nv) along the joints' own directions, a floating body's origin along the axes of its parent and its
        velocity kept there: by the rotation of the body, whose velocity is (v; w), the velocity v in its axes changes
        with -w x."""
        slopes = self._slope(q, qd, *self._own(more))
        found = []
        momentum = self.inertia(q, *more) @ qd
        for joint, a, b in moving_joints(self.tree):
            attitude = joint.motion.attitude
            own = slopes[a]
            if attitude is None:
                found.append(own)
                continue
            turning = _rotated(own[attitude.q], q[a][attitude.q])
            if attitude.position is not None:
                found.append(own[attitude.position])
                turning = turning + np.cross(momentum[b][attitude.position], qd[b][attitude.position])
            found.append(turning)
        return np.concatenate(found)

    @cached_property
    def _slope(self) -> Kernel:
        inertias = ",(10)" * len(self.inertias)

        def text(q: Array, qd: Array, *tens: Array) -> Array:
            return lagrangian(self._minimal_with(tens), q, qd)

        names = ["q", "qd", *[f"inertia_{body}" for body in self.inertias]]
        made = kernel(sized(self.tree, f"(q),(v){inertias}->()"), name="lagrangian", inputs=names)(text)
        return made.jacobian("q")

    def _minimal_with(self, tens: Sequence[Array]) -> Links:
        return self._links_with(tens) if self.inertias else self._minimal

    @cached_property
    def _pushed(self) -> Links:
        return minimal_links(self.tree, loaded=self.wrenches)

    @cached_property
    def _minimal(self) -> Links:
        return minimal_links(self.tree)

    def energy(self, q: Array, qd: Array, *more: Array) -> Scalar:
        """Kinetic and potential energy [J], with that of included rotors and springs."""
        links = links_of(self._tree_with(self._own(more))) if self.inertias else self._links
        rotors = (drives.rotor_inertias(self.tree) * qd) @ qd / 2
        return kinetic_energy(links, q, qd) + rotors + potential_energy(links, q) + drives.spring_energy(self.tree, q)

    @cached_property
    def _plain(self) -> Callable[..., Array]:
        kernel = forward_dynamics_kernel(self.tree)
        if not self._world.names:
            return kernel
        return kernel.with_inputs(wrenches=self.wrenches, axes=self.axes, base_motion=self.base_motion)

    @cached_property
    def _links(self) -> Links:
        return links_of(self.tree)

    def _links_with(self, tens: Sequence[Array]) -> Links:
        return minimal_links(self._tree_with(tens), loaded=self.wrenches)

    def _tree_with(self, tens: Sequence[Array]) -> Tree:
        return tree_with_inertia_vectors(self.tree, dict(zip(self.inertias, tens, strict=True)))


def _rotated(slope: Array, quaternion: Array) -> Array:
    """The slope (4) by the numbers of a quaternion as the slope (3) by turns about the body's axes."""
    return np.stack([
        slope @ (0.5 * quaternion_product.unchecked(quaternion, np.array([0.0, *axis]))) for axis in np.eye(3)])


def check_is_tree(tree: Tree) -> None:
    """Refuse what a tree's equations of motion leave out: loops, joints that follow others, and what cannot move."""
    if not tree.nv:
        raise UnsupportedError(f"{tree.name} has no joint that moves: there is nothing to simulate")
    check_independent(tree, "the simulation")


@explained
def inertia_parameters(tree: Tree, body: str) -> Array:
    """The inertia (10) of a body as the inputs `inertia_<body>` take it: (m, mc, I), mass, first moment and the inertia
    tensor about the body's origin in its axes, (xx, xy, yy, xz, yz, zz), the order of Pinocchio's dynamic parameters.

    >>> from cayley.model.catalogue import load_robot
    >>> inertia_parameters(load_robot("planar2r"), "link1").round(6)
    array([2.   , 0.5  , 0.   , 0.   , 0.01 , 0.   , 0.175, 0.   , 0.   , 0.175])
    """
    return inertia_vector_from_moments(LinkMoments.of(tree.bodies[tree.body_number(body)]))


@dataclass(frozen=True)
class TreeConfigurations(Manifold):
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

    def turning(self, d: Array) -> Array:
        return velocity_turning(self.tree, d)

    def straight(self, x: Array, d: Array, h: Scalar) -> tuple[Array, Array]:
        return straight_step(self.tree, x, d, h)

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
        state={"q": Block((tree.nq,), manifold=TreeConfigurations(tree), velocity="qd"), "qd": Block((tree.nv,))},
        inputs={"tau": Port((tree.nv,), default=0.0),
                **{name: Port(shape, units.get(name, "")) for name, shape in mechanics.more.items()}},
        derivative=lambda t, x, u, p: mechanics.at(t).acceleration(x.q, x.qd, *acting(u)),
        power=lambda t, x, u, p: mechanics.at(t).power(x.q, x.qd, *acting(u)),
        energy=lambda t, x, u, p: mechanics.energy(x.q, x.qd, *acting(u)[1:]),
        constraints=mechanics.constraints, project=mechanics.project, explain=lambda x: mechanics.why_singular(x.q),
        timed=mechanics.is_timed)


def parametric_system(mechanics: TreeMechanics,
                      words: Sequence[str]) -> tuple[System, Callable[[Record], TreeMechanics]]:
    """The system of an open tree with the array `parameters` (p) of those that the words choose as its parameter, and
    the mechanics of the tree with given parameters; see `cayley.model.parameters`.

    >>> from cayley.model.catalogue import load_robot
    >>> pendulum, _ = parametric_system(TreeMechanics(load_robot("s1_f2")), ["mass", "gravity"])
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

    system = replace(tree_system(mechanics), parameters={"parameters": chosen.nominal},
                     derivative=lambda t, x, u, p: accelerations(x.q, x.qd, *acting(u), p.parameters),
                     power=lambda t, x, u, p: at(p).power(x.q, x.qd, *acting(u)),
                     energy=lambda t, x, u, p: at(p).energy(x.q, x.qd, *acting(u)[1:]))
    return system, at
