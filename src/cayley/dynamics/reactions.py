"""What each joint transmits: the force and the moment that the parent gives to the child, the drive's own share included."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.dynamics.inverse.newton_euler import loads, movements
from cayley.dynamics.links import ROOT, links_of
from cayley.kinematics.frame_kernels import sized
from cayley.model.tree import Tree


def reactions_kernel(tree: Tree) -> Kernel:
    """`joint_reactions(q, qd, qdd)`: wrenches (..., joints, 6), (f; m), that parents give to children through the moving joints, in their
    order, at the origin and in the axes of the child's body. Along the joint's directions they are the forces of inverse dynamics."""
    links = links_of(tree)
    children = [links.bodies[joint.child] for joint in tree.joints if joint.motion.nv]

    def joint_reactions(q: Any, qd: Any, qdd: Any) -> Any:
        found = loads(links, q, movements(links, q, qd, qdd))
        rows = []
        for number, pose in children:
            assert number != ROOT
            R, p = pose[:3, :3], pose[:3, 3]
            f, n = found[number]
            rows.append(np.concatenate([R.T @ f, R.T @ (n - np.cross(p, f))]))
        return np.stack(rows) if rows else np.zeros((0, 6))

    return kernel(sized(tree, f"(q),(v),(v)->({len(children)},6)"), outputs=("wrenches",))(joint_reactions)
