"""Kernels that go from configurations to velocities and back, joint after joint, whatever the group of each is."""

from __future__ import annotations

from cayley.compiler.kernel import Kernel
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.model.configuration_space import configuration_difference, configuration_rate, configuration_step
from cayley.model.tree import Tree


def rate_kernel(tree: Tree) -> Kernel:
    """`rate(q, qd)`: dq/dt, how the coordinates change at a velocity."""
    return sized_kernel(tree, "(q),(v)->(q)", lambda q, qd: configuration_rate(tree, q, qd), "rate",
                        sentence="How fast the coordinates q change at the velocity qd.")


def integrate_kernel(tree: Tree) -> Kernel:
    """`integrate(q, qd)`: where the constant velocity qd leads from q in unit time."""
    return sized_kernel(tree, "(q),(v)->(q)", lambda q, qd: configuration_step(tree, q, qd), "integrate",
                        sentence="Where the constant velocity qd leads from the configuration q in unit time.",
                        unit="q")


def difference_kernel(tree: Tree) -> Kernel:
    """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
    return sized_kernel(tree, "(q),(q)->(v)", lambda start, end: configuration_difference(tree, start, end),
                        "difference",
                        sentence="The constant velocity that leads from one configuration to another in unit time.",
                        unit="qd")
