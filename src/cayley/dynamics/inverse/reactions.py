"""What each joint transmits: the force and the moment that the parent gives to the child, the drive's own share
included.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.dynamics.inverse.external_loads import ExternalLoads
from cayley.dynamics.inverse.newton_euler import joint_loads, movements
from cayley.dynamics.rigid_links.links import ROOT, links_of
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.kernel_words import described, units_of
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, of_a_mechanism
from cayley.model.tree import Tree


class Reactions(MechanismKernel):
    """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), that parents give to children through the
    moving joints, in their order, at the origin and in the axes of the child's body. Along the joint's directions they
    are the forces of inverse dynamics."""

    def with_inputs(self, *, wrenches: Sequence[str] = (), axes: str = "body",
                    base_motion: bool = False) -> MechanismKernel:
        """The kernel with more inputs: those of `inverse_dynamics.with_inputs`."""
        return _kernel(self.tree, ExternalLoads(tuple(wrenches), axes, base_motion), MechanismKernel)


def reactions_kernel(tree: Tree) -> Reactions:
    """The reactions of a mechanism on which nothing acts but gravity; `.with_inputs(...)` has the rest."""
    return _kernel(tree, ExternalLoads(), Reactions)


@of_a_mechanism
def _kernel(tree: Tree, external: ExternalLoads, kind: type[Made]) -> Made:
    links = links_of(tree)
    children = [links.bodies[joint.child] for joint in tree.joints if joint.motion.nv]
    for frame in external.frames:
        tree.frame(frame)  # a wrong name is told now

    def joint_reactions(q: Array, qd: Array, qdd: Array, *more: Array) -> Array:
        acting = external.at_links(links, tree, q, more)
        found = joint_loads(links, q, movements(links, q, qd, qdd, acting["base"]), acting["loads"])
        rows = []
        for number, pose in children:
            assert number != ROOT
            R = pose[:3, :3]
            p = pose[:3, 3]
            f, n = found[number]
            rows.append(np.concatenate([R.T @ f, R.T @ (n - np.cross(p, f))]))
        return np.stack(rows) if rows else np.zeros((0, 6))

    described(
        tree, joint_reactions,
        "Wrenches (f; m) [N; N m] that parents give to children through the moving joints, at the origins and "
        "in the axes of the children.", external.words)
    return kernel(sized(tree, f"(q),(v),(v){external.shapes}->({len(children)},6)"), outputs=("wrenches", ),
                  units=units_of(tree), inputs=("q", "qd", "qdd", *external.names), kind=kind)(joint_reactions)
