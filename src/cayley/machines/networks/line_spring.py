"""Springs and dampers between terminals of a network, as wrenches on the mass centres of bodies.

    F = k (d - d0) + c d',    d = |p_2 - p_1|,    along the line from the one to the other
With d0 = 0 the force is that of a spring without length, k (p_2 - p_1) + c (v_2 - v_1), which has no direction to lose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.machines.networks.instant import Instant
from cayley.machines.networks.network import LineSpring, Network


class Stretched(NamedTuple):
    """A spring at an instant: the numbers of its two bodies and the arms (3) to its ends, and the vector (3) from the
    one to the other with its rate."""

    spring: LineSpring
    bodies: list[int]
    arms: list[Array]
    apart: Array
    rate: Array

    @property
    def force(self) -> Array:
        """The force (3) that pulls the first terminal to the second."""
        spring = self.spring
        if spring.length == 0.0:
            return spring.stiffness * self.apart + spring.damping * self.rate
        along = self.apart / self.distance
        return (spring.stiffness * (self.distance - spring.length) + spring.damping * (along @ self.rate)) * along

    @property
    def distance(self) -> Scalar:
        return np.sqrt(self.apart @ self.apart)

    @property
    def energy(self) -> Scalar:
        """The energy [J] of the spring."""
        if self.spring.length == 0.0:
            return self.spring.stiffness * (self.apart @ self.apart) / 2
        return self.spring.stiffness * (self.distance - self.spring.length)**2 / 2

    @property
    def power(self) -> Scalar:
        """The rate of the stored energy [W]."""
        if self.spring.length == 0.0:
            return self.spring.stiffness * (self.apart @ self.rate)
        stretch = 1.0 - self.spring.length / self.distance
        return self.spring.stiffness * stretch * (self.apart @ self.rate)


def stretched(network: Network, instant: Instant, x_G: Sequence[Array]) -> Iterator[Stretched]:
    """All springs, from the across variables (6) of the mass centres."""
    centres = instant.centres()
    for spring in network.springs:
        ends = [network.terminal(end, spring.name) for end in (spring.first, spring.second)]
        numbers = [network.number(end.body) for end in ends]
        arms = []
        places = []
        speeds = []
        for number, end in zip(numbers, ends, strict=True):
            fixed = network.arm(end)
            arms.append(fixed if number < 0 else instant.axes[number] @ fixed)
            places.append(arms[-1] if number < 0 else centres[number] + arms[-1])
            speeds.append(np.zeros(3) if number < 0 else x_G[number][:3] + np.cross(x_G[number][3:], arms[-1]))
        yield Stretched(spring, numbers, arms, places[1] - places[0], speeds[1] - speeds[0])


def spring_wrenches(network: Network, instant: Instant, x_G: Sequence[Array]) -> list[Array]:
    """The wrenches (6) at the mass centre of every body, of all springs."""
    found = [np.zeros(6)] * instant.size
    for each in stretched(network, instant, x_G):
        for number, arm, sign in zip(each.bodies, each.arms, (1.0, -1.0), strict=True):
            if number >= 0:
                found[number] = found[number] + sign * np.concatenate([each.force, np.cross(arm, each.force)])
    return found
