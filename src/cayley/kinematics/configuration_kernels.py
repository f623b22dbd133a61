"""Kernels that go from configurations to velocities and back, joint after joint, whatever the group of each is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.model.tree import Tree


def integrate_kernel(tree: Tree) -> Kernel:
    """`integrate(q, qd)`: where the constant velocity qd leads from q in unit time."""
    return sized_kernel(tree, "(q),(v)->(q)", lambda q, qd: _joined(tree, "step", q, tree.v_slices, qd), "integrate",
                        sentence="Where the constant velocity qd leads from the configuration q in unit time.",
                        unit="q")


def difference_kernel(tree: Tree) -> Kernel:
    """`difference(start, end)`: the constant velocity that leads from one configuration to another in unit time."""
    return sized_kernel(tree, "(q),(q)->(v)",
                        lambda start, end: _joined(tree, "difference", start, tree.q_slices, end), "difference",
                        sentence="The constant velocity that leads from one configuration to another in unit time.",
                        unit="qd")


def _joined(tree: Tree, method: str, q: Any, places: Sequence[slice], other: Any) -> Any:
    """What a method of the joints gives of q and another array."""
    parts = [
        getattr(joint.motion, method)(q[own], other[place])
        for joint, own, place in zip(tree.joints, tree.q_slices, places, strict=True) if joint.motion.nq]
    return np.concatenate(parts or [np.zeros(0)])
