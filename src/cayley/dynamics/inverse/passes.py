"""The two passes of the recursive methods for open chains, and what is given at the ends of the chain.

Motions go outwards, from the base; forces come inwards, from the tip. A method says in a forward cycle how the state of
a link follows from that of the link before it, and in a backward cycle how the load of a joint follows from the wrench
at the outer end of its link."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.newton_euler import JointLoad
from cayley.dynamics.rigid_links.links import Links

Z = np.array([0.0, 0.0, 1.0])  # the axis of a joint in its link's axes
NONE = np.zeros(3)


class Base(NamedTuple):
    """The motion of the base, in its own axes: angular velocity (3) [rad/s] and acceleration (3), and acceleration (3)
    [m/s^2] of its origin.

    The velocity of the origin does not matter. The acceleration is without gravity, which the chain knows, in the
    base's axes too."""

    w: Scalar = NONE
    wd: Scalar = NONE
    a: Scalar = NONE


class EndLoad(NamedTuple):
    """The wrench that a link exerts on whatever comes after it: force (3) [N], moment (3) [N m] and the point (3) [m]
    where, in the link's axes.

    At the tip it is what the last link exerts on its surroundings: the opposite of a wrench that acts on the robot."""

    force: Scalar = NONE
    moment: Scalar = NONE
    at: Scalar = NONE

    @property
    def about_origin(self) -> tuple[Array, Array]:
        """The force, and the moment about the origin of the link."""
        return self.force, self.moment + np.cross(self.at, self.force)


Of = TypeVar("Of")  # of a link, as the method has it
STILL = Base()
FREE = EndLoad()


def forward(links: Links, start: Of, cycle: Callable[..., Of], q: Array, qd: Array, qdd: Array) -> list[Of]:
    """The states of the links: `cycle(link, state of the link before, q, qd, qdd)` for each, beginning with the state
    of the base."""
    states = [start]
    for link in links.links:
        states.append(cycle(link, states[-1], q, qd, qdd))
    return states[1:]


def backward(links: Links, states: Sequence[Any], tip: Array | EndLoad, cycle: Callable[..., Any],
             passed_on: Callable[..., Any], q: Array) -> list[Any]:
    """The loads of the joints: `cycle(link, state, outer)`, where `outer` is the wrench at the outer end of the link.

    That is the tip's for the last link, and `passed_on(link, state, load, q)` of the link after it for the others."""
    loads: list[Any] = []
    after: Any = None
    for link, state in zip(reversed(links.links), reversed(states), strict=True):
        outer = tip if after is None else passed_on(*after, q)
        loads.append(cycle(link, state, outer))
        after = link, state, loads[-1]
    return loads[::-1]


class Recursion(NamedTuple):
    """A recursive method: how the state of the base follows from its motion, and the cycles of `forward` and
    `backward`, whose loads are about the links' origins and in their axes."""

    start: Callable[[Links, Base], Any]
    forward_cycle: Callable[..., Any]
    backward_cycle: Callable[..., JointLoad]
    passed_on: Callable[..., EndLoad]

    def inverse_dynamics(self, links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL,
                         tip: EndLoad = FREE) -> Array:
        """Joint forces (n) [N or N m] that give the accelerations `qdd` (n) at the state (`q`, `qd`)."""
        return along_the_axes(links, self.loads(links, q, qd, qdd, base, tip))

    def reactions(self, links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL,
                  tip: EndLoad = FREE) -> Array:
        """The wrenches (n, 6), force first, that the joints give to their links: about the link's origin, in the link's
        axes."""
        return as_wrenches(self.loads(links, q, qd, qdd, base, tip))

    def loads(self, links: Links, q: Array, qd: Array, qdd: Array, base: Base, tip: EndLoad) -> list[JointLoad]:
        states = forward(links, self.start(links, base), self.forward_cycle, q, qd, qdd)
        return backward(links, states, tip, self.backward_cycle, self.passed_on, q)


def across_z(v: Array) -> Array:
    """v x z."""
    return np.array([v[1], -v[0], 0.0])


def along_the_axes(links: Links, loads: Sequence[JointLoad]) -> Array:
    """The generalised forces (n): of each load the moment about, or the force along, the axis of the joint."""
    return np.array([
        load.n[2] if link.is_revolute else load.f[2] for link, load in zip(links.links, loads, strict=True)])


def as_wrenches(loads: Sequence[JointLoad]) -> Array:
    """The loads as wrenches (n, 6), force first."""
    return np.array([np.concatenate(load) for load in loads])


class LagrangeCoefficients(NamedTuple):
    """Inertia matrix D (n, n), C[i, j, k] (n, n, n), symmetric in its last two indices, and gravity forces G (n)."""

    D: Array
    C: Array
    G: Array

    def forces(self, qd: Array, qdd: Array) -> Array:
        """The joint forces (n) at velocities and accelerations (n)."""
        return self.D @ qdd + (self.C @ qd) @ qd + self.G
